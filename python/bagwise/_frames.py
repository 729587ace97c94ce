"""Data frames, of pandas or polars, as bags."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bagwise._bags import Bags, gaps
from bagwise._data import Dataset, labels_of


def from_frame(
    frame: Any,
    *,
    bag: str | int = "bag",
    label: str | int | None = None,
    group: str | int | None = None,
    keep: Iterable[str | int] = (),
    ignore: Iterable[str | int] = (),
    missing: bool = False,
) -> Dataset:
    """Bags, labels and groups from a data frame with a row per instance.

    Parameters
    ----------
    frame : pandas.DataFrame or polars.DataFrame
        A row per instance.
    bag : str, default="bag"
        Column that says which bag a row belongs to.
    label : str, optional
        Column of labels, the same in all rows of a bag.
    group : str, optional
        Column of groups that are never to be split (patients, scaffolds), the same in all rows of a bag.
    keep : iterable of str
        Columns carried along in :attr:`Dataset.kept`, never learned from.
    ignore : iterable of str
        Columns left out. All others are features; columns of text or of a categorical type become categories.
    missing : bool, default=False
        Let NaN stand for a missing value instead of refusing it.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import pandas as pd
    >>> from bagwise import from_frame
    >>> frame = pd.DataFrame({"mol": ["a", "a", "b"], "active": [1, 1, 0], "x": [0.5, 1.5, 2.5]})
    >>> data = from_frame(frame, bag="mol", label="active")
    >>> data.bags.ids, data.y.tolist()
    (['a', 'b'], [1, 0])
    """
    actual = {str(c): c for c in frame.columns}
    if len(actual) < len(frame.columns):
        raise ValueError(f"two columns of the frame have the same name, among {', '.join(map(str, frame.columns))}")
    bag, label, group = str(bag), None if label is None else str(label), None if group is None else str(group)
    carried, left_out = [str(c) for c in keep], [str(c) for c in ignore]
    for name in [bag, *(c for c in (label, group) if c is not None), *carried, *left_out]:
        if name not in actual:
            raise ValueError(f"the frame has no column '{name}'; it has {', '.join(actual)}")
    roles = {bag, label, group, *carried, *left_out}
    ids = np.asarray(frame[actual[bag]])
    matrix, features, categories = matrix_of(frame, [c for name, c in actual.items() if name not in roles])
    bags = Bags(matrix, ids, feature_names=features, missing=missing)
    if categories:
        bags = Bags._of(bags._native.named(features, categories))
    # Rows are brought together as those of the bags are.
    position = {name: b for b, name in enumerate(bags.ids)}
    of_row = np.asarray([position[str(i)] for i in ids])
    order = np.argsort(of_row, kind="stable")

    def per_bag(column: str | None) -> NDArray[Any] | None:
        if column is None:
            return None
        values = np.asarray(frame[actual[column]])[order]
        empty = gaps(values)
        if empty.any():
            name = bags.ids[int(of_row[order][np.flatnonzero(empty)[0]])]
            raise ValueError(f"bag '{name}' has a row without a value in column '{column}'; every row needs one")
        firsts = values[bags.offsets[:-1]]
        differs = values != np.repeat(firsts, bags.sizes())
        if differs.any():
            name = bags.ids[int(of_row[order][np.flatnonzero(differs)[0]])]
            raise ValueError(f"bag '{name}' has several values in column '{column}'; it must have one")
        return firsts

    y = per_bag(label)
    kept = {c: np.asarray(frame[actual[c]])[order] for c in carried}
    return Dataset("the frame", bags, None if y is None else labels_of(y), per_bag(group), kept)


def matrix_of(frame: Any, columns: list[Any]) -> tuple[NDArray[Any], list[str], dict[str, list[str]]]:
    """Columns of a frame as one matrix; text and categories become codes, and what is missing NaN."""
    parts: list[NDArray[Any]] = []
    categories: dict[str, list[str]] = {}
    for column in columns:
        values = np.asarray(frame[column])
        if values.dtype.kind in "fiub":
            single = values.dtype in (np.float32, np.float16)
            parts.append(values.astype(np.float32 if single else np.float64))
            continue
        if values.dtype.kind == "c":
            raise ValueError(f"Complex data not supported: column '{column}' must hold real numbers")
        empty = gaps(values)
        part = np.full(len(values), np.nan)
        if all(isinstance(v, numbers.Real) for v in values[~empty]):
            # Whole numbers with gaps, as pandas has them.
            part[~empty] = values[~empty].astype(np.float64)
        else:
            names, codes = np.unique([str(v) for v in values[~empty]], return_inverse=True)
            categories[str(column)] = [str(n) for n in names]
            part[~empty] = codes.reshape(-1)
        parts.append(part)
    if not parts:
        raise ValueError("0 feature(s): the frame has no feature columns; a minimum of 1 is required")
    kind = np.float32 if all(p.dtype == np.float32 for p in parts) else np.float64
    return np.stack([p.astype(kind) for p in parts], axis=1), [str(c) for c in columns], categories
