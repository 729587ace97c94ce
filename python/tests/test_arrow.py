"""Arrow batches in and out, through capsules alone and with pyarrow and polars."""

from __future__ import annotations

import gc
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bagwise
from bagwise import Dataset, ISKClassifier, MIKernelClassifier, MIKernelRegressor, _arrow_c, arrow


def table_of(bags: bagwise.Bags, names: Any = None, kind: Any = None) -> pa.Table:
    """A row per instance, with its bag and its number in the bag."""
    offsets = np.asarray(bags._native.offsets)
    sizes = np.diff(offsets)
    ids = np.repeat(np.array(list(bags.ids) if names is None else names, object), sizes)
    row = np.concatenate([np.arange(size) for size in sizes])
    values = np.asarray(bags._native.instances)
    columns = {name: values[:, i] for i, name in enumerate(bags._native.features)}
    return pa.table({"bag": pa.array(list(ids), kind), "row": row, **columns})


class Bare:
    """A batch that has nothing but its capsules."""

    def __init__(self, batch: Any) -> None:
        self._batch = batch

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        return self._batch.__arrow_c_array__(requested_schema)


@pytest.mark.parametrize("estimator", [MIKernelClassifier(), ISKClassifier(t=20, psi=8)])
def test_answers_are_those_of_the_whole(small: Dataset, estimator: Any) -> None:
    model = estimator.fit(small.bags, small.y)
    expected = model.predictions(small.bags)
    table = table_of(small.bags)
    for size, rows in [(1, 1), (7, 50), (100, 16_384), (10_000, 1), (10_000, 13)]:
        found = pa.Table.from_batches(list(arrow.scorer(model, order="row", rows=rows)(table.to_batches(size))))
        assert found["bag"].to_pylist() == list(small.bags.ids)
        assert np.array_equal(found["score"].to_numpy(), model.decision_function(small.bags))
        assert np.array_equal(found["probability"].to_numpy(), model.predict_proba(small.bags)[:, 1])
        assert found["label"].to_pylist() == [str(label) for label in model.predict(small.bags)]
        assert found["familiar"].to_pylist() == list(expected.familiar)


def test_every_kind_of_name_and_library(small: Dataset) -> None:
    model = MIKernelClassifier().fit(small.bags, small.y)
    expected = model.decision_function(small.bags)
    long = [f"a name of more than twelve letters, {i}" for i in range(len(small.bags))]
    for names, kind in [
        (long, pa.string()),
        (long, pa.large_string()),
        (long, pa.string_view()),
        (list(range(len(long))), pa.int32()),
        (long, pa.dictionary(pa.int32(), pa.string())),
    ]:
        table = table_of(small.bags, names, kind)
        for given in (table, table.to_batches(9), table.to_batches(9)[0:], [Bare(b) for b in table.to_batches()]):
            batches = list(arrow.scorer(model)(given))
            found = [name for batch in batches for name in batch.to_pydict()["bag"]]
            scores = [score for batch in batches for score in batch.to_pydict()["score"]]
            assert found == [str(name) for name in names]
            assert np.array_equal(scores, expected)
    frame = pl.DataFrame(table_of(small.bags))
    (answer,) = arrow.scorer(model, order="row")(frame)
    assert isinstance(answer, arrow.Batch)
    assert np.array_equal(pl.DataFrame(answer)["score"].to_numpy(), expected)


def test_several_classes_values_and_lists(three: Dataset, small: Dataset) -> None:
    model = MIKernelClassifier().fit(three.bags, three.y)
    (answer,) = arrow.scorer(model)([Bare(table_of(three.bags).to_batches()[0])])
    found = answer.to_pydict()
    assert found["label"] == [str(label) for label in model.predict(three.bags)]
    assert np.array_equal(found["probability"], model.predict_proba(three.bags).max(axis=1))
    assert found["score"] == found["probability"]
    values = np.arange(float(len(small.bags))) + 0.5
    regressor = MIKernelRegressor().fit(small.bags, values)
    (answer,) = arrow.scorer(regressor)(table_of(small.bags).to_batches())
    assert np.array_equal(answer["score"].to_numpy(), regressor.predict(small.bags))
    assert answer["label"].null_count == answer["probability"].null_count == len(small.bags)
    # Features in one column of lists are called NAME_1, NAME_2, …
    plain = table_of(small.bags)
    wide = np.column_stack([plain[f"f{i}"] for i in (1, 2, 3)])
    names = ["e_1", "e_2", "e_3"]
    listed = MIKernelClassifier().fit(bagwise.Bags(wide, plain["bag"].to_pylist(), feature_names=names), small.y)
    for column in (pa.array(list(wide)), pa.FixedSizeListArray.from_arrays(wide.ravel(), 3)):
        (answer,) = arrow.scorer(listed)(pa.table({"bag": plain["bag"], "e": column}).to_batches())
        assert len(answer) == len(small.bags)


def test_maps_are_those_of_the_model(small: Dataset) -> None:
    model = ISKClassifier(t=20, psi=8).fit(small.bags, small.y)
    expected = model.transform(small.bags).tocsr()
    mapper = arrow.mapper(model, rows=50)
    assert mapper.DDL == arrow.MAP_DDL
    rows = [row for batch in mapper(table_of(small.bags).to_batches(20)) for row in batch.to_pylist()]
    assert [row["bag"] for row in rows] == list(small.bags.ids)
    for i, row in enumerate(rows):
        own = expected[[i]]
        assert row["columns"] == own.indices.tolist()
        assert row["values"] == own.data.tolist()
    # All say by which map: the same if the model was saved, another one of another model.
    assert all(set(row) == {"bag", "columns", "values", "map"} for row in rows)
    (digest,) = {row["map"] for row in rows}

    def digest_of(model: Any) -> str:
        (batch,) = arrow.mapper(model)(table_of(small.bags))
        return str(batch.column("map")[0])

    assert digest_of(pickle.loads(pickle.dumps(model))) == digest
    assert digest_of(ISKClassifier(t=20, psi=8, c=2).fit(small.bags, small.y)) == digest
    assert digest_of(ISKClassifier(t=20, psi=8, random_state=1).fit(small.bags, small.y)) != digest
    with pytest.raises(ValueError, match="has no feature map"):
        arrow.mapper(MIKernelClassifier().fit(small.bags, small.y))


def test_what_would_be_answered_wrongly_is_refused(small: Dataset) -> None:
    model = MIKernelClassifier().fit(small.bags, small.y)
    table = table_of(small.bags)

    def refused(what: str, given: Any, **options: Any) -> None:
        with pytest.raises(ValueError, match=what):
            list(arrow.scorer(model, **options)(given))

    back = pa.concat_tables([table, table.slice(0, 2)])
    for size in (1, 5, 10_000):
        refused("comes back after other bags", back.to_batches(size))
        refused("not in order", table.take(np.r_[1, 0, 2 : len(table)]).to_batches(size), order="row")
    refused("not in order", pa.concat_tables([table.slice(0, 1), table]).to_batches(1), order="row")
    refused("no column 'f2'", table.drop_columns(["f2"]).to_batches())
    refused("no column 'molecule'", table.to_batches(), bag="molecule")
    refused("has no bag", table.set_column(0, "bag", pa.nulls(len(table), pa.string())).to_batches())
    refused("missing", table.set_column(2, "f1", pa.nulls(len(table), pa.float64())).to_batches())
    dates = table.set_column(2, "f1", pa.array(np.arange(len(table)), pa.int32()).cast(pa.date32()))
    refused("'f1' has a type that is not read", dates.to_batches())
    # Columns that nobody asks for may be anything.
    beside = table.append_column("day", dates["f1"])
    assert sum(len(batch) for batch in arrow.scorer(model)(beside.to_batches())) == len(small.bags)
    single = table.cast(pa.schema([f.with_type(pa.float32()) if f.name.startswith("f") else f for f in table.schema]))
    half = len(table) // 2
    refused("single precision", [*table.slice(0, half).to_batches(), *single.slice(half).to_batches()])
    refused("contains lists", table.set_column(0, "bag", pa.array([[1, 2]] * len(table))).to_batches())
    with pytest.raises(TypeError, match="not an Arrow batch"):
        list(arrow.scorer(model)([1]))
    assert list(arrow.scorer(model)([])) == []


def test_a_scorer_travels_and_nothing_is_left_behind(small: Dataset, tmp_path: Path) -> None:
    model = MIKernelClassifier().fit(small.bags, small.y)
    model.save(tmp_path / "m.bagwise")
    table = table_of(small.bags)
    score = pickle.loads(pickle.dumps(arrow.scorer(tmp_path / "m.bagwise", order="row")))
    for _ in range(2):
        (answer,) = score(table.to_batches())
        assert np.array_equal(answer["score"].to_numpy(), model.decision_function(small.bags))
    (batch,) = score([Bare(table.to_batches()[0])])
    taken = pa.record_batch(batch)
    del batch, answer
    gc.collect()
    assert taken.num_rows == len(small.bags)
    del taken
    gc.collect()
    assert not _arrow_c._ALIVE
    assert not _arrow_c._IN_CAPSULES


def test_single_precision_and_missing_values() -> None:
    rng = np.random.default_rng(3)
    bag = np.repeat(np.arange(40), 5)
    values = rng.standard_normal((200, 2)).astype(np.float32)
    values[:, 0] += bag % 2
    table = pa.table({"bag": bag, "f1": values[:, 0], "f2": values[:, 1]})
    model = ISKClassifier(t=20, psi=8).fit(bagwise.Bags(values, bag, feature_names=["f1", "f2"]), np.arange(40) % 2)
    expected = model.decision_function(bagwise.Bags(values, bag, feature_names=["f1", "f2"]))
    for given in (table, table.set_column(1, "f1", table["f1"].dictionary_encode())):
        scores = [s for batch in arrow.scorer(model)(given) for s in batch.to_pydict()["score"]]
        assert np.array_equal(scores, expected)
    gaps = values.copy()
    gaps[::7, 1] = np.nan
    filled = MIKernelClassifier(missing="median").fit(
        bagwise.Bags(gaps, bag, feature_names=["f1", "f2"], missing=True), np.arange(40) % 2
    )
    holes = table.set_column(2, "f2", pa.array(gaps[:, 1], from_pandas=True))
    assert holes["f2"].null_count > 0
    scores = [s for batch in arrow.scorer(filled)(holes) for s in batch.to_pydict()["score"]]
    assert np.array_equal(
        scores, filled.decision_function(bagwise.Bags(gaps, bag, feature_names=["f1", "f2"], missing=True))
    )


def test_batches_may_outlive_everything(small: Dataset, tmp_path: Path) -> None:
    model = MIKernelClassifier().fit(small.bags, small.y)
    model.save(tmp_path / "m.bagwise")
    pq.write_table(table_of(small.bags), tmp_path / "t.parquet")
    script = f"""
import sys
import pyarrow.parquet as pq
from bagwise import arrow
kept = list(arrow.scorer({str(tmp_path / "m.bagwise")!r})(pq.read_table({str(tmp_path / "t.parquet")!r}).to_batches()))
sys.kept = kept
print(kept[0].num_rows)
"""
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (said.returncode, said.stdout, said.stderr) == (0, f"{len(small.bags)}\n", "")


def test_maps_written_by_engines_are_learned_from(tmp_path: Path) -> None:
    data = bagwise.read("synthetic:gauss?bags=300&features=3&min=2&max=9")
    pq.write_table(table_of(data.bags), tmp_path / "t.parquet")
    names = list(data.bags.ids)
    (tmp_path / "labels.csv").write_text(
        "".join(["bag,label\n", *(f"{name},{label}\n" for name, label in zip(names, data.y, strict=True))])
    )
    model = ISKClassifier(t=20, psi=8, c=2, solver="map").fit(data.bags, data.y)
    model.save(tmp_path / "whole.bagwise")
    (tmp_path / "maps").mkdir()
    table = table_of(data.bags)
    (tmp_path / "maps" / "_SUCCESS").write_text("")
    offsets = [0, *(int(np.asarray(data.bags.offsets)[b]) for b in (100, 170)), len(table)]
    # Parts in any order and of any kind of list, as engines write them.
    for part, (a, b) in enumerate([(offsets[i], offsets[i + 1]) for i in (2, 0, 1)]):
        maps = pa.Table.from_batches(list(arrow.mapper(model)(table.slice(a, b - a))))
        if part == 1:
            lists = [pa.large_list(pa.int64()), pa.large_list(pa.float64())]
            maps = pa.table(
                {
                    "bag": maps["bag"],
                    "columns": maps["columns"].cast(lists[0]),
                    "values": maps["values"].cast(lists[1]),
                    "map": maps["map"].cast(pa.large_string()),
                }
            )
        pq.write_table(maps, tmp_path / "maps" / f"part-{part}.parquet", row_group_size=17, compression="zstd")

    def fit(output: str, *words: str) -> subprocess.CompletedProcess[str]:
        line = ["fit", "--maps", "maps", "--model", "whole.bagwise", "--labels", "labels.csv", "-o", output, *words]
        return subprocess.run([sys.executable, "-m", "bagwise", *line], cwd=tmp_path, capture_output=True, text=True)

    for output, words in (("memory.bagwise", []), ("disk.bagwise", ["--memory", "1MB"])):
        said = fit(output, *words)
        assert said.returncode == 0, said.stderr
        assert "do not say" not in said.stderr
        found = bagwise.load(tmp_path / output)
        assert np.allclose(found.decision_function(data.bags), model.decision_function(data.bags), atol=2e-3)
    pq.write_table(maps.slice(0, 1), tmp_path / "maps" / "part-9.parquet")
    said = fit("no.bagwise")
    assert said.returncode == 2
    assert "has a second map" in said.stderr
    # A bag that another model mapped, among the others of its file.
    others = ISKClassifier(t=20, psi=8, random_state=1).fit(data.bags, data.y)
    mixed = pa.concat_tables([maps, pa.Table.from_batches(list(arrow.mapper(others)(table.slice(0, offsets[1]))))])
    pq.write_table(mixed, tmp_path / "maps" / "part-2.parquet")
    for part in (0, 1, 9):
        (tmp_path / "maps" / f"part-{part}.parquet").unlink()
    said = fit("no.bagwise")
    assert said.returncode == 2
    assert f"part-2.parquet: the map of bag '{names[0]}' was made by another model" in said.stderr
    assert not (tmp_path / "no.bagwise").exists()
    # Files without the column, or without a value, are read with one warning.
    silent = [maps.drop_columns(["map"]), maps.set_column(3, "map", pa.nulls(len(maps), pa.string()))]
    for table in silent:
        pq.write_table(table, tmp_path / "maps" / "part-2.parquet")
        said = fit("silent.bagwise", "--force")
        assert said.returncode == 0, said.stderr
        assert said.stderr.count("1 of 1 files do not record the model that made their maps") == 1
