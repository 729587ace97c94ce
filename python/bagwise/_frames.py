"""Bags from data frames (pandas, polars, Arrow) and AnnData."""

from __future__ import annotations

import datetime
import decimal
import json
import numbers
import re
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from bagwise._bags import Bags
from bagwise._data import Dataset, fitted
from bagwise._inputs import Rows, array_of, blocks, cut, decoded, gaps, id_name, is_arrow, refuse_roles, rows_of
from bagwise._options import hinting, outside


@hinting
def from_frame(
    frame: Any,
    *,
    bag: str | int = "bag",
    label: str | int | None = None,
    group: str | int | None = None,
    keep: Iterable[str | int] = (),
    ignore: Iterable[str | int] = (),
    missing: bool = False,
    model: Any = None,
) -> Dataset:
    """Bags, labels and groups from a data frame with one row per instance.

    Parameters
    ----------
    frame : pandas.DataFrame, polars.DataFrame, pyarrow.Table or anndata.AnnData
        One row per instance. For AnnData, columns come from ``obs``, and the features are ``X``.
    bag : str, default="bag"
        Column with the bag of each row.
    label : str, optional
        Column with labels, the same in all rows of a bag.
    group : str, optional
        Column with groups that must not be split (patients, scaffolds), the same in all rows of a bag.
    keep : iterable of str
        Columns to copy to :attr:`Dataset.kept`; not used for training.
    ignore : iterable of str
        Columns to ignore. All others are features: numbers, lists of numbers (one feature per entry), or categories.
        Text becomes categories with a warning; use a categorical type to avoid it.
    missing : bool, default=False
        Accept NaN as a missing value instead of raising an error.
    model : estimator, str or path, optional
        A fitted model, or the file of one. Only its features are used; not for AnnData.

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
    table = _Table(frame.obs if is_anndata(frame) else frame)
    bag, label, group = str(bag), None if label is None else str(label), None if group is None else str(group)
    carried, left_out = _names(keep), _names(ignore)
    for name in [bag, *(c for c in (label, group) if c is not None), *carried, *left_out]:
        table.require(name)
    roles = {bag, label, group, *carried, *left_out}
    ids = table.values(bag)
    if is_anndata(frame):
        bags = Bags(frame, bag=bag, missing=missing)
    else:
        features = [name for name in table.names if name not in roles]
        if model is not None:
            features = _known(table, features, [f["name"] for f in json.loads(fitted(model).header())["features"]])
        rows, names, categories = _rows(table, features, ids)
        bags = Bags.__new__(Bags)
        bags._set(rows, None, names, categories, missing)
    order = cut(len(ids), ids)[0]

    def in_order(column: str) -> NDArray[Any]:
        values = table.values(column)
        return values if order is None else values[order]

    def per_bag(column: str | None) -> NDArray[Any] | None:
        if column is None:
            return None
        values = in_order(column)
        empty = gaps(values)
        if empty.any():
            name = _bag_of(bags, int(np.flatnonzero(empty)[0]))
            raise ValueError(f"bag '{name}' has a row without a value in column '{column}'; every row needs one")
        firsts = values[bags.offsets[:-1]]
        differs = values != np.repeat(firsts, bags.sizes())
        if differs.any():
            name = _bag_of(bags, int(np.flatnonzero(differs)[0]))
            raise ValueError(f"bag '{name}' has several values in column '{column}'; all its rows must have the same")
        return firsts

    groups, kept = per_bag(group), {c: in_order(c) for c in carried}
    y = per_bag(label)
    if y is not None and y.dtype == object and all(isinstance(v, str) for v in y):
        y = np.asarray(y, dtype=np.str_)
    return Dataset("the frame", bags._with(groups, kept), y, groups, kept)


def is_frame(given: Any) -> bool:
    """True for frames of pandas and polars, and tables of Arrow."""
    kind = type(given)
    module = kind.__module__.partition(".")[0]
    # Of the type: a LazyFrame warns when it is asked for its columns.
    return (module in ("pandas", "polars") and hasattr(kind, "columns")) or (
        is_arrow(given) and hasattr(given, "column_names")
    )


def is_anndata(given: Any) -> bool:
    """True for AnnData: a matrix with a frame that describes its rows."""
    return all(hasattr(given, name) for name in ("X", "obs", "var_names"))


def chosen(frame: Any, features: Iterable[str], bags_known: bool) -> Any:
    """A frame without the columns that a model does not know; its bags and what it expects stay.

    `bags_known` says that the bags of the rows are given beside the frame.
    """
    table = _Table(frame)
    names = _known(table, table.names, ["bag", *features])
    left_out = [name for name in table.names if name not in names]
    if left_out and "bag" not in names and not bags_known:
        warnings.warn(
            f"the frame has no column 'bag', so every row is a bag of its own, and {', '.join(left_out)} "
            f"{'are' if len(left_out) > 1 else 'is'} left out; give Bags(frame, bag=COLUMN) if a column names the bags",
            stacklevel=outside(),
        )
    return table.select(names)


def _known(table: _Table, names: list[str], features: Iterable[str]) -> list[str]:
    """Of these columns the ones that a model knows."""
    known = set(features)
    # Columns of lists are known by their parts, see `_rows`.
    stems = {name.rpartition("_")[0] for name in known}
    return [n for n in names if n in known or (n in stems and _holds_lists(table.values(n)))]


def rows_of_frame(
    frame: Any, bag_ids: ArrayLike | None, bag: str | int, lengths: Any, mask: Any
) -> tuple[Rows, list[str], dict[str, list[str]]]:
    """Rows of a frame or of AnnData, the names of features, and the meaning of codes."""
    bag = str(bag)
    if lengths is not None or mask is not None:
        raise ValueError("lengths and mask belong to a 3-D array of bags that were padded to one size")
    if is_anndata(frame):
        if bag_ids is None:
            table = _Table(frame.obs)
            table.require(bag, "obs has")
            bag_ids = table.values(bag)
        matrix = frame.X if sparse.issparse(frame.X) else array_of(frame.X)
        return rows_of(matrix, bag_ids, None, None), [str(v) for v in frame.var_names], {}
    table = _Table(frame)
    _refuse_other_order(frame, bag_ids)
    if bag_ids is None and bag in table.names:
        bag_ids = table.values(bag)
    elif bag_ids is None and bag in getattr(getattr(frame, "index", None), "names", ()):
        raise ValueError(
            f"the index of the frame is called '{bag}', and no column is; give frame.reset_index({bag!r}), or every row would "
            "be a bag of its own"
        )
    elif bag_ids is None and bag != "bag":
        table.require(bag)
    elif bag_ids is None:
        for name in table.names:
            if re.sub(r"[\W_]", "", name.lower()) in ("bag", "bags", "bagid", "bagids"):
                raise ValueError(
                    f"the frame has no column 'bag', but '{name}'; give Bags(frame, bag={name!r}), or rename it if it is a feature"
                )
    features = [name for name in table.names if name != bag]

    def remedy(role: str, name: str) -> str:
        taken = f"keep={[name]!r}" if role == "instance_label" else f"{role}={name!r}"
        return f"take it out with bagwise.from_frame(frame, {taken}), drop it"

    refuse_roles(features, remedy)
    return _rows(table, features, bag_ids)


def _refuse_other_order(frame: Any, bag_ids: Any) -> None:
    """Two indexes of pandas with the same entries in another order: taken by position, rows would go to wrong bags."""
    mine: Any = getattr(frame, "index", None)
    theirs: Any = getattr(bag_ids, "index", None)
    if not all(hasattr(index, "equals") for index in (mine, theirs)) or mine.equals(theirs):
        return
    if len(mine) == len(theirs) and mine.sort_values().equals(theirs.sort_values()):
        raise ValueError(
            "bag_ids have the index of the frame in another order; give bag_ids.loc[frame.index], or bag_ids.to_numpy() if "
            "they are in the order of the rows"
        )


class _Table:
    """A frame of any library: names of columns as text, and their values as arrays."""

    def __init__(self, frame: Any) -> None:
        if type(frame).__name__ == "LazyFrame":
            raise TypeError("a LazyFrame has no rows yet; give frame.collect()")
        self._frame = frame
        self._arrow = is_arrow(frame)
        self._columns = list(frame.column_names if self._arrow else frame.columns)
        self.names = [str(c) for c in self._columns]
        levels = getattr(getattr(frame, "columns", None), "nlevels", 1)
        if levels > 1:
            raise ValueError(
                f"the frame has columns of {levels} levels; give each one name, as in "
                "frame.set_axis(['_'.join(map(str, c)) for c in frame.columns], axis=1)"
            )
        if len(set(self.names)) < len(self.names):
            twice = next(n for i, n in enumerate(self.names) if n in self.names[:i])
            raise ValueError(
                f"two columns are called '{twice}', the same name; give every column of the frame a name of its own"
            )

    def require(self, name: str, has: str = "it has") -> None:
        if name not in self.names:
            raise ValueError(f"the frame has no column '{name}'; {has} {', '.join(self.names)}")

    def _column(self, name: str) -> Any:
        return self._frame[self._columns[self.names.index(name)]]

    def select(self, names: list[str]) -> Any:
        columns = [self._columns[self.names.index(name)] for name in names]
        return self._frame.select(columns) if self._arrow else self._frame[columns]

    def values(self, name: str) -> NDArray[Any]:
        column = self._column(name)
        if self._arrow:
            return np.asarray(decoded(column).to_numpy(zero_copy_only=False))
        return np.asarray(column)

    def categories(self, name: str) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """The categories of a column and the position of each row's, -1 if it has none.

        The rows as values are no substitute: with a gap among them, whole numbers become 1.0, 2.0 and so on.
        """
        column = self._column(name)
        if self._arrow:
            # Each chunk has a dictionary of its own, and Arrow does not unify those with gaps.
            chunks = getattr(column, "chunks", [column]) or [column.combine_chunks()]
            found = [chunk.dictionary.to_numpy(zero_copy_only=False) for chunk in chunks]
            codes = [chunk.indices.cast("int64").fill_null(-1).to_numpy() for chunk in chunks]
            first = np.cumsum([0, *(len(part) for part in found)])
            at = [np.where(own < 0, -1, own + start) for own, start in zip(codes, first, strict=False)]
            return np.concatenate(found), np.concatenate(at)
        if hasattr(column, "cat") and hasattr(column.cat, "codes"):
            return np.asarray(column.cat.categories), np.asarray(column.cat.codes, dtype=np.int64)
        values = np.asarray(column)
        return values, np.arange(len(values))

    def is_categorical(self, name: str) -> bool:
        """Whether the type of the column says that it holds categories."""
        return self.kind(name).startswith(("category", "categorical", "enum", "dictionary"))

    def kind(self, name: str) -> str:
        """The type of a column, as its library writes it."""
        column = self._column(name)
        return str(column.type if self._arrow else column.dtype).lower()


def _names(given: Iterable[str | int]) -> list[str]:
    # A single name is a name, not its letters.
    return [given] if isinstance(given, str) else [str(c) for c in given]


def _bag_of(bags: Bags, row: int) -> str:
    return bags.ids[int(np.searchsorted(bags.offsets, row, side="right")) - 1]


def _rows(
    table: _Table, features: list[str], bag_ids: ArrayLike | None
) -> tuple[Rows, list[str], dict[str, list[str]]]:
    columns: list[NDArray[Any]] = []
    names: list[str] = []
    categories: dict[str, list[str]] = {}
    for name in features:
        if table.kind(name).startswith("struct"):
            raise ValueError(
                f"column '{name}' contains structs, which cannot be features; make a column of each field, or leave it out"
            )
        values = table.values(name)
        found = _embedding(values, name)
        if found is not None:
            columns.append(found)
            # As in Parquet files, so that a model knows the columns of both.
            names += [f"{name}_{i}" for i in range(1, found.shape[1] + 1)]
            continue
        if table.is_categorical(name):
            values, categories[name] = _coded(*table.categories(name))
        elif values.dtype.kind not in "fiub":
            values, meaning = _understood(values, name)
            if meaning is not None:
                categories[name] = meaning
        columns.append(values)
        names.append(name)
    if not columns:
        raise ValueError("0 feature(s): the frame has no feature columns; a minimum of 1 is required")
    single = all(c.dtype in (np.float32, np.float16) for c in columns)
    count = len(columns[0])
    order, offsets, ids = cut(count, bag_ids)
    rows = Rows(blocks(columns, order, count, single), offsets, ids, order, single)
    if single and all(c.dtype == np.float32 for c in columns):
        rows.arrays, rows.below = _side_by_side(columns), False
    return rows, names, categories


def _side_by_side(columns: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """Columns as matrices: as one if they are those of one matrix, which is read faster."""
    first = columns[0]
    if len(columns) > 1 and all(c.ndim == 1 and c.base is first.base is not None for c in columns):
        at = np.array([c.__array_interface__["data"][0] for c in columns])
        step, within = int(at[1] - at[0]), first.strides
        if (np.diff(at) == step).all() and all(c.strides == within for c in columns):
            shape = (len(first), len(columns))
            return [np.lib.stride_tricks.as_strided(first, shape, (within[0], step), writeable=False)]
    return [c.reshape(-1, 1) if c.ndim == 1 else c for c in columns]


def _holds_lists(values: NDArray[Any]) -> bool:
    """Whether a column has several numbers in each cell, judged by the first."""
    if values.ndim == 2:
        return True
    return values.dtype == object and len(values) > 0 and isinstance(values[0], (list, tuple, np.ndarray))


def _embedding(values: NDArray[Any], name: str) -> NDArray[Any] | None:
    """A column of lists of numbers as a matrix; None if it is no such column."""
    if values.ndim == 2:
        return values
    if not _holds_lists(values):
        return None
    width = len(values[0])
    for row, cell in enumerate(values):
        size = len(cell) if isinstance(cell, (list, tuple, np.ndarray)) else 0
        if size != width:
            raise ValueError(
                f"column '{name}': row {row} (counted from 0) has {size} numbers, row 0 has {width}; a column of lists "
                "becomes a feature for each entry, so that all need the same number"
            )
    try:
        matrix = np.stack([array_of(cell) for cell in values])
        if matrix.ndim == 2 and matrix.dtype.kind in "fiub":
            return matrix
        return matrix.astype(np.float64).reshape(len(values), width)
    except (TypeError, ValueError) as error:
        raise ValueError(f"column '{name}' contains lists that are not only numbers: {error}") from error


def _coded(values: NDArray[Any], at: NDArray[np.int64]) -> tuple[NDArray[np.float64], list[str]]:
    """Codes of the rows whose categories are `values[at]`, NaN for what is missing (`at` is -1, too), and their meaning."""
    part = np.full(len(at), np.nan)
    there = at >= 0
    there[there] = ~gaps(values)[at[there]]
    used, own = np.unique(at[there], return_inverse=True)
    names, codes = np.unique([id_name(v) for v in values[used]], return_inverse=True)
    part[there] = codes.reshape(-1)[own.reshape(-1)]
    return part, [str(n) for n in names]


def _understood(values: NDArray[Any], name: str) -> tuple[NDArray[np.float64], list[str] | None]:
    """Numbers, or codes and their meaning, of a column whose type does not say what it holds."""
    if values.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: column '{name}' must contain real numbers")
    empty = gaps(values)
    there = values[~empty]
    if values.dtype.kind in "Mm" or any(isinstance(v, (datetime.date, datetime.timedelta)) for v in there):
        raise ValueError(
            f"column '{name}' contains dates or times, which cannot be features; convert them to numbers, such as days "
            "since some date, or leave the column out"
        )
    if all(isinstance(v, (numbers.Real, decimal.Decimal, np.bool_)) for v in there):
        # Whole numbers with gaps, as pandas has them.
        part = np.full(len(values), np.nan)
        part[~empty] = there.astype(np.float64)
        return part, None
    odd = next((v for v in there if not isinstance(v, str)), None)
    if odd is not None:
        raise ValueError(
            f"column '{name}' contains values of type {type(odd).__name__}, which cannot be features; use numbers, text "
            "or a categorical type, or leave it out"
        )
    warnings.warn(
        f"column '{name}' contains text and is treated as categories; use a categorical type to silence this warning, or "
        "bagwise.from_frame(..., keep=[COLUMN] or ignore=[COLUMN]) to leave it out",
        stacklevel=outside(),
    )
    return _coded(values, np.arange(len(values)))
