"""Conversion between formats, and reading of HDF5 and torch files, which need a Python library.

Such a file is taken apart bag by bag into ``.npy`` files (or, where it holds one matrix of all instances, into an
``.npz``), which the reader of the command line then reads: labels, groups, coordinates and every check are its own.
"""

from __future__ import annotations

import csv
import os
import tempfile
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bagwise import _native
from bagwise._bags import Bags
from bagwise._data import Dataset, Raw, raw_of
from bagwise._inputs import array_of

_HDF5 = (".h5", ".hdf5")
_TORCH = (".pt", ".pth")
#: What the instances of a single bag are called, what its label is, and what all bags of a file are.
_FEATURES = ("features", "feats", "embeddings")
_LABEL = ("label", "y", "class", "target")
_LABELS = ("y", "labels", "label", "targets")
_GROUPS = ("groups", "group")
_TABLE = {
    "X": ("X", "x"),
    "bag": ("bag", "bag_ids", "bags", "bag_id"),
    "offsets": ("offsets",),
    "y": _LABELS,
    "groups": _GROUPS,
    "features": ("features", "feature_names"),
    "instance_label": ("instance_label", "instance_labels"),
}


def convert(
    source: str | os.PathLike[str] | Dataset,
    target: str | os.PathLike[str],
    *,
    output_format: str | None = None,
    coords: bool | str | os.PathLike[str] = True,
    **reading: Any,
) -> None:
    """Convert data to another format, like ``bagwise convert``; also reads HDF5 and torch files.

    Parameters
    ----------
    source : str, path or Dataset
        Anything that :func:`read` accepts or returns; an ``.h5`` or ``.hdf5`` file
        (needs h5py), a ``.pt`` or ``.pth`` file
        (needs torch), or a folder of these. A file holds one bag (a matrix, or ``features`` and perhaps ``coords`` and
        ``label``; it is called like the file), a matrix for each bag (by name, in a list, or in ``bags``; with attributes
        ``label`` and ``group``, or ``y`` and ``groups`` beside them), or ``X`` with all instances, ``bag`` or
        ``offsets``, and ``y``. Of a folder with ``h5_files`` or ``pt_files`` in it, as CLAM leaves it, those are taken.
        Nothing in a torch file is executed.
    target : str or path
        The file to write. Its extension determines the format:
        .csv, .tsv, .sparse, .arff (with .gz to compress), .npz, .parquet.
        A name without an extension is a new folder with one .npy file per bag, ``labels.csv`` and perhaps ``coords``:
        bags of HDF5 and torch files go there one after the other and need not fit into memory together.
    output_format : str, optional
        The output format, if the file name does not imply it; ``"npy-folder"`` for a folder.
    coords : bool, str or path, default=True
        Whether to include coordinates stored next to the features; for a folder of .npy files, the folder with the
        coordinates.
    **reading
        As in :func:`read`: `labels` (a table with the bags' names, labels and groups), `bag`, `label`, `group`,
        `max_instances` and so on.

    Examples
    --------
    >>> import bagwise, os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bagwise.convert("musk1", os.path.join(folder, "musk1.parquet"))
    ...     bagwise.read(os.path.join(folder, "musk1.parquet")).bags
    Bags(92 bags, 476 instances, 166 features)
    """
    out = Path(target)
    if _is_folder(out, output_format) and out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ValueError(f"{out}: it already exists; choose a new folder")
    if _is_folder(out, output_format) and reading.get("keep"):
        raise ValueError(f"{out}: a folder of .npy files cannot store kept columns; write .parquet")
    if isinstance(source, Dataset):
        if reading:
            raise TypeError(f"{next(iter(reading))} applies to reading, but this data set has already been read")
        _write(_raw_of_dataset(source), out, output_format, None)
        return
    path = Path(source)
    if path.exists() and out.exists() and path.samefile(out):
        raise ValueError(f"{out}: input and output are the same; choose another name")
    files = _files(path)
    if files is None:
        if not isinstance(coords, bool):
            reading["coords"] = coords
        _write(raw_of(source, **reading), out, output_format, None)
        return
    # Beside the target, so that finished files need only be renamed.
    with tempfile.TemporaryDirectory(prefix=".bagwise-", dir=_folder_for(out)) as name:
        scratch = Path(name)
        table = _table(files[0]) if len(files) == 1 else None
        if table is not None:
            np.savez(scratch / "all.npz", **table)
            _write(_named(raw_of(scratch / "all.npz", **reading), path), out, output_format, None)
            return
        labelled = reading.get("labels") is not None
        poured = _pour((bag for file in files for bag in _bags(file, labelled)), scratch)
        if not labelled:
            _write_labels(scratch / "labels.csv", poured.ids, poured.labels, poured.groups)
            reading["labels"] = scratch / "labels.csv"
        if coords and poured.coords:
            reading["coords"] = scratch / "coords"
        raw = _named(raw_of(scratch, **reading), path)
        whole = reading.get("max_instances") is None
        _write(raw, out, output_format, scratch if whole else None)


@dataclass
class _Bag:
    """One bag of a file, with what stands beside it."""

    place: str
    name: str
    rows: NDArray[Any]
    coords: NDArray[Any] | None = None
    label: str | None = None
    group: str | None = None


@dataclass
class _Poured:
    ids: list[str]
    labels: list[str | None]
    groups: list[str | None]
    coords: bool


def _files(path: Path) -> list[Path] | None:
    """The files that Python has to read; None if the command line's reader can."""
    if path.is_file():
        return [path] if path.suffix.lower() in _HDF5 + _TORCH else None
    if not path.is_dir():
        return None
    # As CLAM leaves it; its HDF5 files have coordinates, its torch files the same features without.
    for folder in (path, path / "h5_files", path / "pt_files"):
        for endings in (_HDF5, _TORCH):
            found = sorted(p for p in folder.glob("*") if p.suffix.lower() in endings and not p.name.startswith("."))
            if found:
                return found
    return None


class _Opened:
    """A file as a tree: mappings by name, lists, and arrays that are loaded when they are taken."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: Any = None

    def __enter__(self) -> Any:
        if self.path.suffix.lower() in _HDF5:
            try:
                import h5py
            except ImportError as error:
                raise ImportError(f"{self.path}: reading HDF5 needs h5py: pip install h5py") from error
            try:
                self._file = h5py.File(self.path, "r")
            except OSError as error:
                raise ValueError(f"{self.path}: not a usable HDF5 file: {error}") from error
            return self._file
        try:
            import torch
        except ImportError as error:
            raise ImportError(f"{self.path}: reading a torch file needs torch: pip install torch") from error
        try:
            return torch.load(self.path, map_location="cpu", weights_only=True)
        except Exception as error:
            raise ValueError(
                f"{self.path}: the torch file contains more than tensors, which is not loaded because it could execute "
                f"code; save tensors in lists or dictionaries with torch.save ({error})"
            ) from error

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()


def _is_tree(found: Any) -> bool:
    return hasattr(found, "keys")


def _is_array(found: Any) -> bool:
    return hasattr(found, "shape") and hasattr(found, "dtype")


def _is_matrix(found: Any) -> bool:
    return _is_array(found) and (len(found.shape) == 2 or (len(found.shape) == 3 and found.shape[0] == 1))


def _array(found: Any) -> NDArray[Any]:
    """A data set of HDF5, a tensor or a list as an array; bytes become text."""
    if hasattr(found, "detach"):
        found = array_of(found)
    elif _is_array(found) and not isinstance(found, np.ndarray):
        found = found[()]
    array = np.asarray(found)
    if array.dtype.kind in "OS":
        texts = [v.decode() if isinstance(v, bytes) else str(v) for v in array.reshape(-1).tolist()]
        return np.asarray(texts).reshape(array.shape)
    return array


def _first(tree: Any, names: Iterable[str]) -> Any:
    return next((tree[name] for name in names if name in tree), None)


def _text(found: Any, place: str) -> str | None:
    """A label or group of one bag."""
    if found is None:
        return None
    array = _array(found)
    if array.size != 1:
        raise ValueError(f"{place}: a label or group of shape {array.shape}; a bag has one")
    value = array.reshape(-1)[0]
    whole = array.dtype.kind == "f" and float(value).is_integer()
    return str(int(value)) if whole else str(value)


def _matrix(found: Any, place: str) -> NDArray[Any]:
    array = _array(found)
    if array.ndim == 3 and array.shape[0] == 1:
        array = array[0]
    if array.ndim != 2 or array.dtype.kind not in "fiub":
        raise ValueError(
            f"{place}: {array.ndim} dimensions of {array.dtype}; a bag is a matrix of numbers, an instance per row"
        )
    return array if array.dtype.kind == "f" else array.astype(np.float64)


def _table(path: Path) -> dict[str, Any] | None:
    """The arrays of a file that has one matrix of all instances, under the names that ``.npz`` has for them."""
    with _Opened(path) as tree:
        if not _is_tree(tree) or not any(name in tree for name in _TABLE["X"]):
            return None
        found = {name: _first(tree, others) for name, others in _TABLE.items()}
        arrays = {name: _array(value) for name, value in found.items() if value is not None}
    if "bag" not in arrays and "offsets" not in arrays:
        raise ValueError(f"{path}: X is there, but neither bag (the bag of each row) nor offsets; add one of them")
    return arrays


def _bags(path: Path, labelled: bool) -> Iterator[_Bag]:
    """The bags of a file, one after the other; without labels and groups if a table has them."""
    with _Opened(path) as tree:
        named = _is_tree(tree)
        if _is_matrix(tree) or (named and any(_is_array(tree[n]) for n in _FEATURES if n in tree)):
            yield _one(tree, path.stem, str(path), labelled)
            return
        beside = {n: tree[n] for n in (*_LABELS, *_GROUPS) if n in tree} if named else {}
        inside = tree["bags"] if named and "bags" in tree else tree
        if _is_tree(inside):
            parts = [(str(key), inside[key]) for key in inside if inside is not tree or key not in beside]
        elif isinstance(inside, (list, tuple)) or _is_array(inside):
            parts = [(str(i + 1), part) for i, part in enumerate(inside)]
        else:
            raise ValueError(f"{path}: a {type(inside).__name__} contains no bags; use one matrix per bag")
        if not parts:
            raise ValueError(f"{path}: it contains no bags")
        # HDF5 lists bags by name, in whatever order they were written.
        ordered = not _is_tree(inside) or path.suffix.lower() not in _HDF5
        labels = groups = None
        if not labelled:
            labels, groups = (_beside(beside, names, parts, ordered, path) for names in (_LABELS, _GROUPS))
        for at, (name, part) in enumerate(parts):
            bag = _one(part, name, f"{path}, '{name}'", labelled)
            bag.label = bag.label if labels is None else labels[at]
            bag.group = bag.group if groups is None else groups[at]
            yield bag


def _beside(
    tree: Any, names: tuple[str, ...], parts: list[tuple[str, Any]], ordered: bool, path: Path
) -> list[str | None] | None:
    """One label or group for each bag: by name, or in the order of the bags."""
    name = next((n for n in names if n in tree), None)
    if name is None:
        return None
    found = tree[name]
    if _is_tree(found):
        return [_text(found[bag], f"{path}, '{bag}'") if bag in found else None for bag, _ in parts]
    if not ordered:
        raise ValueError(
            f"{path}: it is unclear which entry of '{name}' belongs to which bag; store it as an attribute of each bag, "
            "or pass a table with labels="
        )
    array = _array(found)
    if array.shape != (len(parts),):
        raise ValueError(f"{path}: '{name}' of shape {array.shape} for {len(parts)} bags; give one entry per bag")
    return [_text(value, str(path)) for value in array]


def _own(tree: Any, place: str, labelled: bool) -> tuple[str | None, str | None]:
    """The label and the group that a bag has itself, unless a table has them."""
    if labelled:
        return None, None
    return _text(_first(tree, _LABEL), place), _text(_first(tree, _GROUPS), place)


def _one(found: Any, name: str, place: str, labelled: bool) -> _Bag:
    """A bag: a matrix, one with its label, or features with what stands beside them."""
    if isinstance(found, (list, tuple)) and len(found) == 2 and _is_array(found[0]):
        label, group = _own({"label": found[1]}, place, labelled)
        return _Bag(place, name, _matrix(found[0], place), None, label, group)
    if _is_tree(found):
        features = _first(found, _FEATURES)
        if features is None:
            raise ValueError(f"{place}: it has {', '.join(map(str, found))}, but none of {', '.join(_FEATURES)}")
        # HDF5 may have small things as attributes.
        own = {**getattr(found, "attrs", {}), **{k: found[k] for k in found}}
        where = _first(found, ("coords",))
        coords = None if where is None else _matrix(where, f"{place}, coords").astype(np.float64)
        label, group = _own(own, place, labelled)
        return _Bag(place, name, _matrix(features, place), coords, label, group)
    if not _is_array(found):
        raise ValueError(f"{place}: a {type(found).__name__} is not a bag; use a matrix with one row per instance")
    label, group = _own(dict(getattr(found, "attrs", {})), place, labelled)
    return _Bag(place, name, _matrix(found, place), None, label, group)


def _check_name(bag: str, place: str) -> None:
    """Refuses what is no file of its folder on every system: ``../x`` would be written elsewhere."""
    if not bag or bag.startswith(".") or set(bag) & set('/\\:*?"<>|\0'):
        raise ValueError(f"{place}: '{bag}' cannot be a file name; rename the bag")


def _pour(bags: Iterable[_Bag], folder: Path) -> _Poured:
    """Writes each bag as it comes."""
    done = _Poured([], [], [], True)
    (folder / "coords").mkdir()
    seen: set[str] = set()
    for bag in bags:
        if bag.name in seen:
            raise ValueError(f"{bag.place}: there is already a bag '{bag.name}'; rename one of them")
        _check_name(bag.name, bag.place)
        seen.add(bag.name)
        np.save(folder / f"{bag.name}.npy", np.ascontiguousarray(bag.rows))
        if bag.coords is not None:
            if len(bag.coords) != len(bag.rows):
                raise ValueError(f"{bag.place}: {len(bag.coords)} coordinates for {len(bag.rows)} instances")
            np.save(folder / "coords" / f"{bag.name}.npy", bag.coords)
        done.coords = done.coords and bag.coords is not None
        done.ids.append(bag.name)
        done.labels.append(bag.label)
        done.groups.append(bag.group)
    if not done.coords and any((folder / "coords").iterdir()):
        warnings.warn("some bags have no coordinates, so coordinates are left out for all bags", stacklevel=3)
    return done


def _write_labels(path: Path, ids: list[str], labels: Iterable[Any] | None, groups: Iterable[Any] | None) -> None:
    columns: dict[str, list[Any]] = {"bag": ids}
    for name, values in (("label", labels), ("group", groups)):
        given = [] if values is None else list(values)
        missing = [i for i, v in zip(ids, given, strict=False) if v is None]
        if given and not missing:
            columns[name] = given
        elif len(missing) < len(given):
            raise ValueError(f"bag '{missing[0]}' has no {name}, but others have; add it, or use a table")
    with open(path, "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(columns)
        rows.writerows(zip(*columns.values(), strict=True))


def _write(raw: Raw, out: Path, output_format: str | None, poured: Path | None) -> None:
    """Writes data; bags that were poured into .npy files already are moved into a folder that is wanted of them."""
    name, bags, labels, values, groups, kept, truth, said = raw
    for sentence in said:
        warnings.warn(sentence, stacklevel=3)
    if not _is_folder(out, output_format):
        written = _native.write(name, bags, labels, values, groups, kept, truth, out, output_format)
        if kept and written != "npz":
            columns = [column for column, _ in kept]
            warnings.warn(f"{out}: kept columns are read as features, unless with keep={columns}", stacklevel=3)
        return
    coordinates = poured is not None and bool(kept)
    for there, what in (
        (bool(kept) and not coordinates, "kept columns"),
        (truth is not None, "instance labels"),
        (bool(bags.categories), "categories"),
        (Bags._of(bags).feature_names is not None, "feature names"),
    ):
        if there:
            raise ValueError(f"{out}: a folder of .npy files cannot store {what}; write .parquet")
    for bag in bags.ids:
        _check_name(bag, name)
    with tempfile.TemporaryDirectory(prefix=".bagwise-", dir=_folder_for(out)) as scratch:
        made = Path(scratch) / "made"
        made.mkdir()
        for at, bag in enumerate(bags.ids):
            file = f"{bag}.npy"
            if poured is None:
                np.save(made / file, bags.bag(at))
            else:
                os.replace(poured / file, made / file)
        if coordinates and poured is not None:
            os.replace(poured / "coords", made / "coords")
        _write_labels(made / "labels.csv", bags.ids, values if labels is None else labels, groups)
        if out.exists():
            out.rmdir()
        os.replace(made, out)


def _is_folder(out: Path, output_format: str | None) -> bool:
    return output_format == "npy-folder" or (output_format is None and not out.suffix)


def _folder_for(out: Path) -> Path:
    if not out.parent.is_dir():
        raise ValueError(f"{out}: the folder does not exist; create it, or write somewhere else")
    return out.parent


def _named(raw: Raw, path: Path) -> Raw:
    return (str(path), *raw[1:])


def _raw_of_dataset(data: Dataset) -> Raw:
    labels = values = None
    if data.y is not None:
        if data.y.dtype.kind == "f":
            values = data.y.tolist()
        else:
            labels = [str(v) for v in data.y.tolist()]
    groups = None if data.groups is None else [str(g) for g in data.groups.tolist()]
    kept = [(name, [str(v) for v in column.tolist()]) for name, column in data.kept.items()]
    truth = None if data.instance_labels is None else [str(v) for v in data.instance_labels.tolist()]
    return data.name, data.bags._native, labels, values, groups, kept, truth, []
