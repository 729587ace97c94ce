"""Data that would mislead an estimator are warned of, and honest data are not."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

import bagwise
from bagwise import (
    AutoClassifier,
    Bags,
    BagSummary,
    Dataset,
    MIKernelClassifier,
    SimpleMIClassifier,
    SimpleMIRegressor,
)


def told(call: Callable[[], Any]) -> list[str]:
    """What a call warns of."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    return [str(warning.message) for warning in found]


def of_rows(call: Callable[[], Any]) -> list[str]:
    return [text for text in told(call) if "every row is a bag of its own" in text]


def conformers(name: str = "mol", *, kind: Any = str, shuffled: bool = False) -> tuple[pd.DataFrame, pd.Series]:
    """Noise: three rows for each of 40 molecules, and the label of the molecule for each row."""
    rng = np.random.default_rng(0)
    mol = np.repeat(np.arange(40), 3)
    frame = pd.DataFrame({name: [f"M{m}" for m in mol] if kind is str else mol.astype(kind), "x": rng.normal(size=120)})
    frame["z"] = rng.normal(size=120)
    y = pd.Series(rng.integers(0, 2, 40)[mol])
    order = rng.permutation(120) if shuffled else np.arange(120)
    return frame.iloc[order].reset_index(drop=True), y.iloc[order].reset_index(drop=True)


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("kind", [str, int])
@pytest.mark.parametrize("name", ["mol", "MolID", "slide", "patient_id"])
def test_a_column_that_names_the_bags_is_no_feature_of_rows(name: str, kind: Any, shuffled: bool) -> None:
    frame, y = conformers(name, kind=kind, shuffled=shuffled)
    model = SimpleMIClassifier(probability=False)
    for call in (lambda: model.fit(frame, y), lambda: model.fit(Bags(frame), y)):
        found = of_rows(call)
        assert len(found) == 1 and f"the values of '{name}' repeat" in found[0]
        assert f"give Bags(frame, bag='{name}') and one label per bag" in found[0]


def test_every_way_of_training_tells_of_rows_that_are_no_bags() -> None:
    frame, y = conformers(kind=int)
    numbers = y + np.repeat(np.random.default_rng(1).normal(size=40), 3)
    fast: dict[str, Any] = {"method": "simple-mi", "params": {"c": 1, "gamma": 1}}
    calls: dict[str, Callable[[], Any]] = {
        "regression": lambda: SimpleMIRegressor().fit(frame, numbers),
        "auto": lambda: AutoClassifier(inner=2).fit(frame, y),
        "fit": lambda: bagwise.fit(frame, y, **fast),
        "evaluate": lambda: bagwise.evaluate(frame, y, folds=2, **fast),
        "compare": lambda: bagwise.compare(frame, y, methods=["majority"], folds=2),
        "vectors": lambda: make_pipeline(BagSummary(), LogisticRegression()).fit(frame, y),
        "text": lambda: MIKernelClassifier(probability=False).fit(frame, np.where(y == 1, "active", "not")),
        "split": lambda: cross_val_score(SimpleMIClassifier(probability=False), frame, y, cv=3),
    }
    for way, call in calls.items():
        assert of_rows(call), way
    pl = pytest.importorskip("polars")
    assert of_rows(lambda: SimpleMIClassifier(probability=False).fit(pl.from_pandas(frame), y))
    # Rows of one bag never are on both sides of a split then.
    bags, own = Bags(frame, bag="mol"), y.groupby(frame["mol"]).first()
    assert not told(lambda: SimpleMIClassifier(probability=False).fit(bags, own))


def test_vectors_are_not_taken_for_rows_of_bags() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    measured = pd.DataFrame(rng.normal(size=(300, 4)), columns=list("abcd"))
    quiet = [
        measured,
        measured.assign(grade=2 * y + rng.integers(0, 2, 300)),  # 0 to 3, which tells the label
        measured.assign(count=rng.poisson(20, 300)),
        measured.assign(count=rng.integers(0, 1_000_000, 300)),
        measured.assign(half=np.repeat(rng.normal(size=100), 3)),
        measured.assign(same=7),
    ]
    for frame in quiet:
        assert not of_rows(lambda frame=frame: SimpleMIClassifier(probability=False).fit(frame, y))  # type: ignore[misc]
    # Chance does this to a few rows.
    few = pd.DataFrame({"n": [1, 1, 2, 2, 3, 3, 4, 4, 5, 5], "x": rng.normal(size=10)})
    assert not of_rows(lambda: SimpleMIClassifier(probability=False).fit(few, [0, 0, 1, 1, 0, 0, 1, 1, 0, 0]))
    # Whoever says that rows are bags is believed, and arrays have no columns to name.
    frame, labels = conformers(kind=int)
    assert not of_rows(lambda: SimpleMIClassifier(probability=False).fit(Bags(frame, np.arange(120)), labels))
    assert not of_rows(lambda: SimpleMIClassifier(probability=False).fit(frame.to_numpy(), labels))


def with_column(data: Dataset, **columns: Any) -> pd.DataFrame:
    frame = pd.DataFrame(data.bags.instances, columns=["a", "b", "c"])
    return frame.assign(mol=np.repeat([f"b{i}" for i in range(len(data.bags))], data.bags.sizes()), **columns)


def test_estimators_tell_of_features_that_are_the_label_or_ids(small: Dataset) -> None:
    sizes = small.bags.sizes()
    rows, label, numbers = int(sizes.sum()), np.repeat(small.y, sizes), sizes / 10
    shuffled = np.random.default_rng(0).permutation(rows)
    for column, y, words in (
        (label, small.y, "is the label under another name"),
        (np.repeat(np.arange(40) // 4 * 2 + small.y, sizes), small.y, "determines the label"),
        (np.repeat(3 * numbers, sizes), numbers, "is the target under another name"),
        (np.arange(rows), small.y, "counts the rows"),
        (shuffled, small.y, "different whole number for every instance"),
        (np.repeat(np.arange(40)[::-1], sizes), small.y, "different whole number for every bag"),
    ):
        bags = Bags(with_column(small, code=column), bag="mol")
        model: Any = SimpleMIRegressor() if y is numbers else SimpleMIClassifier(probability=False)
        found = told(lambda: model.fit(bags, y))  # noqa: B023
        assert [text for text in found if "attribute code" in text and words in text], (words, found)
        same = told(lambda: bagwise.fit(bags, y, method="simple-mi", params={"c": 1, "gamma": 1}))  # noqa: B023
        assert set(found) <= set(same)
    # Vectors that were drawn several times tell their labels by every feature.
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, 30, 200)
    vectors = rng.normal(size=(30, 3))[drawn]
    assert not told(lambda: SimpleMIClassifier(probability=False).fit(vectors, drawn % 2))
    # A feature that is merely good needs no word.
    assert not told(lambda: SimpleMIClassifier(probability=False).fit(small.bags, small.y))


def test_a_search_tells_of_a_leak_once(small: Dataset) -> None:
    bags = Bags(with_column(small, risk=np.repeat(small.y, small.bags.sizes())), bag="mol")
    search = GridSearchCV(SimpleMIClassifier(probability=False), {"c": [0.1, 1, 10, 100]}, cv=4)
    for _ in range(2):
        found = told(lambda: search.fit(bags, small.y))
        assert len([text for text in found if "attribute risk is the label under another name" in text]) == 1


def test_the_label_among_many_sparse_features_is_found_in_little_memory() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(100) % 2
    words = sparse.random(2000, 30_000, density=0.001, format="csc", random_state=0)
    label = sparse.csc_array(np.repeat(y, 20)[:, None].astype(float))
    matrix = sparse.hstack([words, label, words[:, :50]], format="csr")
    bags = Bags(matrix, np.repeat(rng.permutation(100), 20))
    found = told(lambda: SimpleMIClassifier(probability=False, kernel="linear").fit(bags, y))
    assert len(found) == 1 and "attribute f30001 is the label under another name" in found[0]


def test_bags_that_stay_in_their_files_are_not_read_for_this(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for i in range(6):
        np.save(tmp_path / f"b{i}.npy", np.random.default_rng(i).normal(size=(3, 2)))
    bags = bagwise.read(tmp_path).bags
    asked: list[int] = []

    def cautions(native: Any, *_: Any) -> list[str]:
        asked.append(len(native))
        return []

    monkeypatch.setattr("bagwise._native.cautions", cautions)
    y = np.arange(6) % 2
    for given, count in ((bags, 0), (bags[:4], 0), (list(bags), 1), ([sparse.csr_array(bag) for bag in bags], 1)):
        asked.clear()
        SimpleMIClassifier(probability=False).fit(given, y[: len(given)])
        assert len(asked) == count


def test_labels_of_vectors_are_in_the_order_of_the_bags() -> None:
    frame, per_row = conformers(kind=int, shuffled=True)
    for ids in (frame["mol"], "M" + frame["mol"].astype(str), frame["mol"].astype(float)):
        bags = Bags(frame.assign(mol=ids), bag="mol")
        y = per_row.groupby(ids).first()
        line = make_pipeline(BagSummary(), LogisticRegression())
        with pytest.raises(
            ValueError, match=r"another order.*match labels by position; give y\..*reindex\(bags.ids\)"
        ) as said:
            line.fit(bags, y)
        recipe = str(said.value).rpartition("give ")[2]
        with pytest.raises(ValueError, match="no entry for bag") as said:
            MIKernelClassifier().fit(bags, y.iloc[5:])
        assert recipe in str(said.value) and "to_numpy" not in str(said.value)
        # The recipe works as printed, also where labels are split by position.
        ordered = eval(recipe, {"y": y, "bags": bags})
        assert not ordered.isna().any()
        line.fit(bags, ordered)
        model = MIKernelClassifier(c=10, probability=False)
        assert np.array_equal(model.fit(bags, y).predict(bags), model.fit(bags, ordered).predict(bags))
        cross_val_score(model, bags, ordered, cv=2, error_score="raise")
