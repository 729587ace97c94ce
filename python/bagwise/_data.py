"""Data sets: bags with labels, groups and other columns, from files or by name."""

from __future__ import annotations

import errno
import json
import os
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from bagwise import _native
from bagwise._bags import Bags
from bagwise._options import around, hinting, outside

#: Name, bags, classes as text or values, groups, kept columns, labels of instances, warnings.
Raw: TypeAlias = tuple[
    str,
    _native.Bags,
    list[str] | None,
    list[float] | None,
    list[str] | None,
    list[tuple[str, list[str]]],
    list[str] | None,
    list[str],
]


@dataclass(frozen=True, repr=False)
class Dataset:
    """Bags with their labels, groups and other columns.

    Attributes
    ----------
    name : str
        The file or name it was read from.
    bags : Bags
        The bags.
    y : ndarray of shape (n_bags,) or None
        Labels: integers or text for classes, floating-point numbers for regression.
    groups : ndarray of shape (n_bags,) or None
        Groups that must never be split between training and test.
    kept : dict of str to ndarray of shape (n_instances,)
        Extra columns, not used for training.
    instance_labels : ndarray of shape (n_instances,) or None
        True labels of instances, if the source has them; useful to check explanations.
    """

    name: str
    bags: Bags
    y: NDArray[Any] | None = None
    groups: NDArray[Any] | None = None
    kept: dict[str, NDArray[Any]] = field(default_factory=dict)
    instance_labels: NDArray[Any] | None = None

    def __repr__(self) -> str:
        bags = self.bags
        parts = [f"{len(bags)} bags", f"{bags.n_instances} instances", f"{bags.n_features} features"]
        if self.y is None:
            parts.append("no labels")
        elif self.y.dtype.kind == "f":
            parts.append(f"values from {self.y.min():g} to {self.y.max():g}")
        else:
            classes, counts = np.unique(self.y, return_counts=True)
            shown = [f"{n} of {c}" for c, n in zip(classes.tolist()[:5], counts[:5], strict=True)]
            parts.append(f"{len(classes)} classes ({', '.join(shown)}{', …' if len(classes) > 5 else ''})")
        if self.groups is not None:
            parts.append(f"{len(np.unique(self.groups))} groups")
        if self.kept:
            parts.append(f"kept {', '.join(self.kept)}")
        if self.instance_labels is not None:
            parts.append("labels of instances")
        return f"Dataset({self.name!r}: {', '.join(parts)})"


def labels_of(texts: Iterable[str]) -> NDArray[Any]:
    """Labels of a file as whole numbers, if all are written as such; 01 and 1 are two labels."""
    given = [str(t) for t in texts]
    try:
        whole = [int(t) for t in given]
    except ValueError:
        return np.asarray(given)
    same = all(str(n) == t and abs(n) < 2**63 for n, t in zip(whole, given, strict=True))
    return np.asarray(whole, dtype=np.int64) if same else np.asarray(given)


@hinting
def read(
    path: str | os.PathLike[str],
    *,
    bag: str | int | None = None,
    label: str | int | None = None,
    group: str | int | None = None,
    instance_label: str | int | None = None,
    keep: Iterable[str | int] = (),
    ignore: Iterable[str | int] = (),
    categorical: Iterable[str | int] = (),
    header: bool | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    encoding: str | None = None,
    missing_values: Iterable[str | float] = (),
    task: str = "auto",
    missing: bool = False,
    format: str | None = None,
    labels: str | os.PathLike[str] | None = None,
    coords: str | os.PathLike[str] | None = None,
    max_instances: int | None = None,
    random_state: Any = 0,
    model: Any = None,
) -> Dataset:
    """Read a data set, like the command line.

    Parameters
    ----------
    path : str or path
        A file, a folder with one .npy file per bag, a built-in data set such as ``"musk1"``, or a generator such as
        ``"synthetic:gauss?bags=40"``.
    bag, label, group, instance_label : str or int, optional
        Columns by name, or by number from 1. The default is the column of that name.
    keep : iterable of str or int
        Extra columns, not used for training.
    ignore : iterable of str or int
        Columns to ignore.
    categorical : iterable of str or int
        Columns of numbers to treat as categories.
    header : bool, optional
        Whether the first row contains column names; detected by default.
    delimiter : str, optional
        Column separator of a table: a character, "tab" or "space"; detected by default.
    decimal : {".", ","}, optional
        Decimal separator of a table; detected by default.
    thousands : {",", ".", " ", "'"}, optional
        Thousands separator of a table; detected by default.
    encoding : {"utf-8", "utf-16", "cp1252"}, optional
        Encoding of a table; detected by default.
    missing_values : iterable of str or float
        More text or numbers that mean a missing value, in addition to NA, NaN and the like.
    task : {"auto", "classification", "regression"}, default="auto"
        Type of label; auto means classes, unless some label has a fractional part.
    missing : bool, default=False
        Accept empty cells as NaN instead of raising an error.
    format : str, optional
        Format of the file; detected from content and name by default.
    labels : str or path, optional
        For a folder: a table with the name, label and group of each bag.
    coords : str or path, optional
        For a folder: another folder with the coordinates of the instances of each bag; they are added to `kept`.
    max_instances : int, optional
        Sample at most this many instances per bag.
    random_state : int, default=0
        The seed for sampling.
    model : estimator, str or path, optional
        A fitted model, or the file of one. Columns and the dialect that it was trained with on the command
        line are used where nothing else is given, and only its features are read.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("musk1")
    >>> data.bags
    Bags(92 bags, 476 instances, 166 features)
    >>> data.y[:3].tolist()
    [1, 1, 1]
    """
    raw = raw_of(
        path,
        bag=bag,
        label=label,
        group=group,
        instance_label=instance_label,
        keep=keep,
        ignore=ignore,
        categorical=categorical,
        header=header,
        delimiter=delimiter,
        decimal=decimal,
        thousands=thousands,
        encoding=encoding,
        missing_values=missing_values,
        task=task,
        missing=missing,
        format=format,
        labels=labels,
        coords=coords,
        max_instances=max_instances,
        random_state=random_state,
        model=model,
    )
    name, bags, classes, values, groups, kept, truth, said = raw
    for sentence in said:
        warnings.warn(sentence, stacklevel=outside())
    y = np.asarray(values) if values is not None else None if classes is None else labels_of(classes)
    owners = None if groups is None else np.asarray(groups)
    carried = {column: np.asarray(texts) for column, texts in kept}
    return Dataset(
        name,
        Bags._of(bags)._with(owners, carried),
        y,
        owners,
        carried,
        None if truth is None else labels_of(truth),
    )


def raw_of(
    path: str | os.PathLike[str],
    *,
    bag: str | int | None = None,
    label: str | int | None = None,
    group: str | int | None = None,
    instance_label: str | int | None = None,
    keep: Iterable[str | int] = (),
    ignore: Iterable[str | int] = (),
    categorical: Iterable[str | int] = (),
    header: bool | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    encoding: str | None = None,
    missing_values: Iterable[str | float] = (),
    task: str = "auto",
    missing: bool = False,
    format: str | None = None,
    labels: str | os.PathLike[str] | None = None,
    coords: str | os.PathLike[str] | None = None,
    max_instances: int | None = None,
    random_state: Any = 0,
    model: Any = None,
) -> Raw:
    """What the native module reads: labels and similar columns as text, unchanged from the file."""

    def column(name: str | int | None) -> str | None:
        return None if name is None else str(name)

    def columns(names: Iterable[str | int]) -> list[str]:
        # A single name is a name, not its letters.
        return [names] if isinstance(names, str) else [str(name) for name in names]

    known: dict[str, Any] = {} if model is None else json.loads(fitted(model).header())
    for what, table in (("labels", labels), ("coords", coords)):
        if table is not None and not isinstance(table, (str, os.PathLike)):
            kind = (
                "a table with the name, label and group of each bag" if what == "labels" else "a folder of .npy files"
            )
            raise TypeError(f"{what} is a {type(table).__name__}; give the path of {kind}{_written(table)}")
    reading = {
        "remembered": json.dumps(known["reading"]) if known.get("reading") else None,
        "features": [feature["name"] for feature in known.get("features", [])],
        "bag": column(bag),
        "label": column(label),
        "group": column(group),
        "instance_label": column(instance_label),
        "keep": columns(keep),
        "ignore": columns(ignore),
        "categorical": columns(categorical),
        "header": header,
        "delimiter": delimiter,
        "decimal": decimal,
        "thousands": thousands,
        "encoding": encoding,
        "missing_values": [missing_values] if isinstance(missing_values, str) else [str(v) for v in missing_values],
        "task": task,
        "missing": missing,
        "format": format,
        "labels": labels,
        "coords": coords,
        "max_instances": max_instances,
    }
    name = os.fspath(path)
    is_name = isinstance(path, str) and (":" in name or not (os.path.splitext(name)[1] or os.path.dirname(name)))
    if not is_name and not os.path.exists(name):
        # A name may be that of a data set, for which the native side has an answer; this can only be a file.
        raise FileNotFoundError(errno.ENOENT, "no such file; check the file name and the folder", name)
    return _native.read(name, reading, around(random_state))


def fitted(model: Any) -> _native.Model:
    """The trained model of an estimator or a file."""
    if isinstance(model, (str, os.PathLike)):
        from bagwise._base import model_from

        return model_from(model)
    if not isinstance(getattr(model, "model_", None), _native.Model):
        raise TypeError(
            f"model is a {type(model).__name__} without a trained model; give a fitted estimator of bagwise, or the path of a model"
        )
    return cast("_native.Model", model.model_)


def _written(table: Any) -> str:
    """How a frame becomes such a file."""
    return (
        ", as after frame.to_csv('labels.csv', index=False)"
        if hasattr(table, "to_csv") and hasattr(table, "columns")
        else ""
    )
