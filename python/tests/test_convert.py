"""Data in another format, HDF5 and torch files among them."""

from __future__ import annotations

import csv
import re
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bagwise

h5py = pytest.importorskip("h5py", reason="reading HDF5 needs h5py")

RNG = np.random.default_rng(0)
#: Ten bags come after the second by name, not by number.
NAMES = [f"b{i}" for i in range(12)]
BAGS = {name: RNG.normal(size=(2 + i % 3, 3)).astype(np.float32) for i, name in enumerate(NAMES)}


def same(data: bagwise.Dataset, labels: dict[str, int] | None) -> None:
    """The bags above, whatever their order."""
    assert sorted(data.bags.ids) == sorted(NAMES)
    assert data.bags.instances.dtype == np.float32
    assert all(np.array_equal(bag, BAGS[name]) for name, bag in zip(data.bags.ids, data.bags, strict=True))
    if labels is None:
        assert data.y is None
    else:
        assert data.y is not None
        assert dict(zip(data.bags.ids, data.y.tolist(), strict=True)) == labels


LABELS = {name: int(i >= 6) for i, name in enumerate(NAMES)}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "labels.csv"
    with open(path, "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["slide_id", "label", "case_id"])
        rows.writerows([name, LABELS[name], f"p{i // 2}"] for i, name in enumerate(NAMES))
    return path


def test_a_file_of_one_data_set_per_bag(tmp_path: Path, table: Path) -> None:
    for group in ("/", "bags"):
        path = tmp_path / f"{len(group)}.h5"
        with h5py.File(path, "w") as file:
            for name, rows in BAGS.items():
                file.require_group(group).create_dataset(name, data=rows).attrs["label"] = LABELS[name]
        bagwise.convert(path, tmp_path / "x.npz")
        same(bagwise.read(tmp_path / "x.npz"), LABELS)
        # A table has the last word, and groups besides.
        bagwise.convert(path, tmp_path / "y.npz", labels=table, bag="slide_id", group="case_id")
        data = bagwise.read(tmp_path / "y.npz")
        same(data, LABELS)
        assert data.bags.ids == NAMES and data.groups is not None and data.groups[:3].tolist() == ["p0", "p0", "p1"]
    with h5py.File(path, "a") as file:
        file["y"] = list(LABELS.values())
    with pytest.raises(ValueError, match="it is unclear which entry of 'y' belongs to which bag"):
        bagwise.convert(path, tmp_path / "z.npz")
    # With a table nobody asks which is whose, nor what the bags say themselves.
    with h5py.File(path, "a") as file:
        file["bags/b0"].attrs["label"] = [0, 1]
    bagwise.convert(path, tmp_path / "z.npz", labels=table, bag="slide_id", group="case_id")
    same(bagwise.read(tmp_path / "z.npz"), LABELS)
    # Bags of equal size in one data set have an order.
    with h5py.File(tmp_path / "equal.h5", "w") as file:
        file["bags"] = RNG.normal(size=(4, 2, 3))
        file["y"] = [0, 1, 1, 0]
    bagwise.convert(tmp_path / "equal.h5", tmp_path / "equal.csv")
    equal = bagwise.read(tmp_path / "equal.csv")
    assert equal.y is not None and equal.y.tolist() == [0, 1, 1, 0] and equal.bags.sizes().tolist() == [2] * 4


def test_a_folder_as_clam_leaves_it(tmp_path: Path, table: Path) -> None:
    slides = tmp_path / "features" / "h5_files"
    slides.mkdir(parents=True)
    for name, rows in BAGS.items():
        with h5py.File(slides / f"{name}.h5", "w") as file:
            file["features"] = rows[None]
            file["coords"] = np.arange(2 * len(rows)).reshape(-1, 2)
    columns: dict[str, Any] = {"labels": table, "bag": "slide_id", "group": "case_id"}
    out = tmp_path / "npy"
    bagwise.convert(tmp_path / "features", out, **columns)
    assert sorted(p.name for p in out.iterdir()) == sorted(["coords", "labels.csv", *(f"{n}.npy" for n in NAMES)])
    data = bagwise.read(out, labels=out / "labels.csv", coords=out / "coords")
    assert data.y is not None and dict(zip(data.bags.ids, data.y.tolist(), strict=True)) == LABELS
    assert all(np.array_equal(np.load(out / f"{n}.npy"), rows) for n, rows in BAGS.items())
    assert data.kept["x"][:3].tolist() == ["0", "2", "0"] and data.groups is not None
    # Coordinates come along into tables, unless they are not wanted.
    with pytest.warns(UserWarning, match=r"kept columns are read as features, unless with keep=\['x', 'y'\]"):
        bagwise.convert(tmp_path / "features", tmp_path / "x.parquet", **columns)
    kept = bagwise.read(tmp_path / "x.parquet", label="label", keep=["x", "y"])
    same(kept, LABELS)
    assert kept.kept["y"][:2].tolist() == ["1", "3"]
    bagwise.convert(tmp_path / "features", tmp_path / "x.sparse", labels=table, bag="slide_id", coords=False)
    assert len(bagwise.read(tmp_path / "x.sparse").bags) == 12
    # Fewer instances of each bag: what is written has been drawn.
    with pytest.warns(UserWarning, match="8 of 12 bags have more than 2 instances"):
        bagwise.convert(tmp_path / "features", tmp_path / "few", max_instances=2, coords=False, **columns)
    few = bagwise.read(tmp_path / "few", labels=tmp_path / "few" / "labels.csv")
    assert few.bags.sizes().tolist() == [2] * 12
    assert not [p for p in tmp_path.iterdir() if p.name.startswith(".")]


def test_one_matrix_of_all_instances(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "all.hdf5", "w") as file:
        file["X"] = np.concatenate(list(BAGS.values()))
        file["bag"] = [name for name, rows in BAGS.items() for _ in rows]
        file["y"] = [str(LABELS[name]) for name, rows in BAGS.items() for _ in rows]
        file["features"] = ["u", "v", "w"]
    bagwise.convert(tmp_path / "all.hdf5", tmp_path / "all.parquet")
    data = bagwise.read(tmp_path / "all.parquet")
    same(data, LABELS)
    assert data.bags.feature_names == ["u", "v", "w"]
    with pytest.raises(ValueError, match="cannot store feature names; write .parquet"):
        bagwise.convert(tmp_path / "all.hdf5", tmp_path / "folder")
    with h5py.File(tmp_path / "all.hdf5", "a") as file:
        del file["bag"]
    with pytest.raises(ValueError, match="neither bag .* nor offsets"):
        bagwise.convert(tmp_path / "all.hdf5", tmp_path / "all.csv")


class _Tensor(np.ndarray):
    """What of a tensor is used."""

    def detach(self) -> Any:
        return self

    def cpu(self) -> Any:
        return self

    def numpy(self) -> Any:
        return np.asarray(self)


def _tensor(values: Any) -> Any:
    return np.asarray(values).view(_Tensor)


@pytest.mark.parametrize(
    ("kind", "labelled"), [("dict", False), ("list", False), ("pairs", True), ("bags", True), ("single", False)]
)
def test_torch_files(kind: str, labelled: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        import torch

        tensor: Any = lambda v: torch.from_numpy(np.asarray(v))  # noqa: E731
        save: Any = torch.save
    except ImportError:
        # torch is large; this stands in for the two of its functions that matter.
        held: dict[str, Any] = {}
        fake: Any = types.ModuleType("torch")
        fake.load = lambda path, map_location, weights_only: held[str(path)]
        monkeypatch.setitem(sys.modules, "torch", fake)
        tensor = _tensor

        def save(content: Any, path: Path) -> None:
            path.touch()
            held[str(path)] = content

    bags = [tensor(rows) for rows in BAGS.values()]
    labels = tensor([LABELS[name] for name in NAMES])
    folder = tmp_path / "pt"
    folder.mkdir()
    if kind == "single":
        for name, rows in zip(NAMES, bags, strict=True):
            save(rows, folder / f"{name}.pt")
    else:
        content = {
            "dict": dict(zip(NAMES, bags, strict=True)),
            "list": bags,
            "pairs": list(zip(bags, [int(v) for v in labels], strict=True)),
            "bags": {"bags": dict(zip(NAMES, bags, strict=True)), "y": labels},
        }
        save(content[kind], folder / "all.pt")
    source = folder if kind == "single" else folder / "all.pt"
    bagwise.convert(source, tmp_path / "x.npz")
    data = bagwise.read(tmp_path / "x.npz")
    if kind in ("list", "pairs"):
        assert data.bags.ids == [str(i) for i in range(1, 13)]
        assert all(np.array_equal(a, b) for a, b in zip(data.bags, BAGS.values(), strict=True))
        assert (data.y is None) is not labelled and (data.y is None or data.y.tolist() == list(LABELS.values()))
    else:
        same(data, LABELS if labelled else None)


def test_what_others_read_and_what_is_in_memory(tmp_path: Path) -> None:
    bagwise.convert("synthetic:gauss?bags=12&features=2&groups=4&f32=1", tmp_path / "x.parquet")
    data = bagwise.read(tmp_path / "x.parquet")
    bagwise.convert(data, tmp_path / "again.csv")
    again = bagwise.read(tmp_path / "again.csv")
    assert np.array_equal(again.y, data.y) and np.array_equal(again.groups, data.groups)
    assert again.instance_labels is not None and np.array_equal(again.instance_labels, data.instance_labels)
    plain = bagwise.Dataset("mine", data.bags, data.y, data.groups)
    bagwise.convert(plain, tmp_path / "folder")
    stored = bagwise.read(tmp_path / "folder", labels=tmp_path / "folder" / "labels.csv")
    assert np.array_equal(stored.y, data.y) and np.array_equal(np.asarray(stored.bags.instances), data.bags.instances)


@pytest.mark.parametrize("name", ["a/b", "../../outside", "..", ".hidden", "c:d"])
def test_a_bag_is_never_written_outside_its_folder(name: str, tmp_path: Path) -> None:
    deep = tmp_path / "deep"
    deep.mkdir()
    ids = ["first", name]
    data = bagwise.Dataset("mine", bagwise.Bags([np.ones((2, 3)), np.zeros((1, 3))], ids=ids), np.array([0, 1]))
    with pytest.raises(ValueError, match=f"mine: '{re.escape(name)}' cannot be a file name"):
        bagwise.convert(data, deep / "folder")
    # A table has a place for any name.
    bagwise.convert(data, deep / "x.csv")
    assert bagwise.read(deep / "x.csv").bags.ids == ids
    with pytest.raises(ValueError, match="cannot be a file name"):
        bagwise.convert(deep / "x.csv", deep / "folder")
    assert [p.name for p in tmp_path.rglob("*")] == ["deep", "x.csv"]


def test_what_cannot_be_converted_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bad.h5").write_bytes(b"nothing of the kind")
    with pytest.raises(ValueError, match="bad.h5: not a usable HDF5 file"):
        bagwise.convert(tmp_path / "bad.h5", tmp_path / "x.csv")
    with h5py.File(tmp_path / "odd.h5", "w") as file:
        file["a"] = np.ones((2, 3))
        file["b"] = np.ones(3)
    with pytest.raises(ValueError, match="odd.h5, 'b': 1 dimensions"):
        bagwise.convert(tmp_path / "odd.h5", tmp_path / "x.csv")
    with h5py.File(tmp_path / "odd.h5", "w") as file:
        file["features"] = np.ones((2, 3))
        file["label"] = [0, 1]
    with pytest.raises(ValueError, match=r"a label or group of shape \(2,\); a bag has one"):
        bagwise.convert(tmp_path / "odd.h5", tmp_path / "x.csv")
    with pytest.raises(ValueError, match="not a known output format"):
        bagwise.convert("musk1", tmp_path / "x.xls")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").touch()
    with pytest.raises(ValueError, match="it already exists"):
        bagwise.convert("synthetic:gauss?bags=12&features=2", tmp_path / "full", output_format="npy-folder")
    with pytest.raises(ValueError, match="input and output are the same"):
        bagwise.convert(tmp_path / "odd.h5", tmp_path / "odd.h5")
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(ImportError, match="pip install h5py"):
        bagwise.convert(tmp_path / "odd.h5", tmp_path / "x.csv")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.h5", "full", "odd.h5"]
