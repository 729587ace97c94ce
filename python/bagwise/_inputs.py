"""What users have, as rows for the native bags: arrays of every kind, tensors, sparse matrices, several of them.

Numbers are copied once, by the native constructor. What has to be converted first goes there in blocks, so that no second
copy of all rows exists at any time. Large arrays in single precision can also be borrowed: estimators read them where they are.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from bagwise._options import outside

#: Columns, row pointers, column numbers and values of a sparse matrix.
Sparse = tuple[int, NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]

#: Rows that are converted together: large enough for the speed of arrays, small beside what deserves the name of data.
BLOCK = 4096

#: Bytes from which on arrays are borrowed: below, a copy costs little, and the fastest loops want one.
BORROWED = 1 << 28


@dataclass
class Rows:
    """Instances and the bags that they belong to."""

    #: A matrix, the parts of a sparse one, or (with `single`) matrices one after the other.
    instances: Any
    offsets: NDArray[np.int64]
    #: Names of the bags, where they have any.
    ids: list[str] | None = None
    #: The order of rows that brings bags together; as they are if None.
    order: NDArray[np.int64] | None = None
    #: For several matrices, whether they are kept in single precision.
    single: bool | None = None
    #: Names of the features, where each bag is a frame.
    names: list[str] | None = None
    #: The arrays of single precision that hold all rows, and whether they lie below each other or side by side.
    arrays: list[NDArray[Any]] | None = None
    below: bool = True

    def can_be_borrowed(self) -> bool:
        """Whether the rows are worth leaving where they are, and can be read there."""
        arrays = self.arrays
        if not arrays or sum(array.nbytes for array in arrays) < BORROWED:
            return False
        return all(a.dtype == np.float32 and a.ndim == 2 and a.size > 0 and a.flags.aligned for a in arrays)


def rows_of(bags: Any, bag_ids: ArrayLike | None, lengths: ArrayLike | None, mask: ArrayLike | None) -> Rows:
    """The rows of whatever holds bags, frames excepted."""
    # One kind of sparse matrix is a dictionary too.
    if sparse.issparse(bags):
        _refuse_padding(lengths, mask)
        return _sparse_rows(bags, bag_ids)
    if isinstance(bags, Mapping):
        if bag_ids is not None:
            raise ValueError("bag_ids belong to one matrix of all instances; a dictionary names its bags itself")
        found = _joined(list(bags.values()), None)
        found.ids = [str(name) for name in bags]
        return found
    if is_array(bags):
        array = array_of(bags)
        if array.ndim == 1 and array.dtype == object:
            found = _joined(list(array), bag_ids)
            index: Any = getattr(bags, "index", None)
            if hasattr(bags, "iloc") and type(index).__name__ != "RangeIndex" and index.is_unique:
                # A pandas Series of matrices names its bags.
                found.ids = [str(label) for label in index]
            return found
        if array.ndim == 3:
            return _padded(array, bag_ids, lengths, mask)
        _refuse_padding(lengths, mask)
        if array.ndim == 2:
            if array.shape[1] == 0:
                raise ValueError(f"0 feature(s) (shape={array.shape}) while a minimum of 1 is required.")
            order, offsets, names = cut(len(array), bag_ids)
            return _matrix_rows(array, order, offsets, names)
        raise ValueError(
            f"an array of {array.ndim} dimensions does not describe bags. Reshape your data: pass a list with one 2-D "
            "array per bag, or one 2-D array and the bag of each row"
        )
    if isinstance(bags, (str, bytes)) or not isinstance(bags, Iterable):
        raise TypeError(f"a {type(bags).__name__} cannot be bags; pass a list of 2-D arrays, (X, bag_ids) or a frame")
    _refuse_padding(lengths, mask)
    several = list(bags)
    if several and all(isinstance(row, (list, tuple)) and row and np.isscalar(row[0]) for row in several):
        # Rows of plain numbers are one matrix, as everywhere in scikit-learn.
        return rows_of(np.asarray(several), bag_ids, None, None)
    return _joined(several, bag_ids)


def is_array(given: Any) -> bool:
    """True for arrays and tensors, false for lists and sparse matrices."""
    return isinstance(given, np.ndarray) or (
        not isinstance(given, (list, tuple)) and (hasattr(given, "__array__") or hasattr(given, "detach"))
    )


def is_arrow(given: Any) -> bool:
    """True for arrays and tables of pyarrow."""
    return type(given).__module__.partition(".")[0] == "pyarrow"


def array_of(given: Any) -> NDArray[Any]:
    """An array from what is one: tensors are fetched, masked values become NaN."""
    given = decoded(given)
    if hasattr(given, "detach"):
        given = given.detach().cpu()
        # NumPy has no number of this kind.
        return np.asarray((given.float() if str(given.dtype) == "torch.bfloat16" else given).numpy())
    if isinstance(given, (list, tuple)) and any(isinstance(row, np.ma.MaskedArray) for row in given):
        given = np.ma.stack(given)
    if isinstance(given, np.ma.MaskedArray):
        if not np.ma.is_masked(given):
            return np.asarray(given.data)
        kind = given.dtype if given.dtype.kind == "f" else np.float64
        return np.asarray(np.ma.filled(given.astype(kind), np.nan))
    return np.asarray(given)


def names_of(given: Any) -> NDArray[Any]:
    """Ids, groups or folds as an array. Lists keep their items: NumPy makes the text 'nan' of NaN beside text."""
    array = array_of(given)
    if isinstance(given, (list, tuple)) and array.ndim == 1 and array.dtype.kind in "US":
        return array if all(isinstance(v, str) for v in given) else np.fromiter(given, dtype=object, count=len(given))
    return array


def decoded(given: Any) -> Any:
    """An Arrow array of a dictionary type as its values; pyarrow itself makes the last of them of what is missing."""
    kind: Any = getattr(given, "type", None)
    if is_arrow(given) and hasattr(kind, "index_type"):
        return given.cast(kind.value_type)
    return given


def cut(rows: int, bag_ids: ArrayLike | None) -> tuple[NDArray[np.int64] | None, NDArray[np.int64], list[str] | None]:
    """The order of rows that brings bags together (None: as they are), offsets, names."""
    if bag_ids is None:
        return None, np.arange(rows + 1, dtype=np.int64), None
    if np.ma.is_masked(bag_ids):
        raise ValueError("some rows have no bag: bag_ids are masked there; give every row the id of its bag")
    given = names_of(bag_ids)
    if given.shape != (rows,):
        raise ValueError(f"bag_ids of shape {given.shape} for {rows} instances; give one id per row")
    if given.dtype.kind in "OfMm" and gaps(given).any():
        row = int(np.flatnonzero(gaps(given))[0])
        raise ValueError(f"row {row} (counted from 0) has no bag; give every row the id of its bag")
    ids = _plain_ids(given)
    if given.dtype == object:
        _refuse_one_name_for_two(given, ids)
    given = ids
    values, first, codes = np.unique(given, return_index=True, return_inverse=True)
    rank = np.empty(len(values), dtype=np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(len(values))
    codes = rank[codes.reshape(-1)]
    offsets = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=len(values)))]).astype(np.int64)
    names = [str(v) for v in values[np.argsort(first, kind="stable")]]
    if bool(np.all(codes[1:] >= codes[:-1])):
        return None, offsets, names
    return np.argsort(codes, kind="stable").astype(np.int64), offsets, names


def id_names(given: NDArray[Any]) -> list[str]:
    """Ids of bags as their names, the same text wherever an id comes from: a column, an index, a list."""
    return [str(name) for name in _plain_ids(given)]


def _plain_ids(given: NDArray[Any]) -> NDArray[Any]:
    """Ids that are equal if they mean the same bag: 1.0 is what pandas makes of 1 beside gaps."""
    if given.dtype.kind == "f" and bool((given == np.floor(given)).all() and (np.abs(given) < 2.0**63).all()):
        return given.astype(np.int64)
    if given.dtype == object:
        return np.asarray([id_name(value) for value in given], dtype=np.str_)
    return given


def id_name(value: Any) -> str:
    """An id or a category as text: 1.0 is what 1 becomes beside gaps."""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def _refuse_one_name_for_two(given: NDArray[Any], names: NDArray[Any]) -> None:
    """Refuses ids such as 1 and "1": pandas keeps them apart, and as one bag they would mix the rows of two."""
    meant: dict[str, Any] = {}
    for value, name in zip(given, names.tolist(), strict=True):
        known = meant.setdefault(name, value)
        if known is not value and bool(known != value):
            raise ValueError(f"the bag ids {known!r} and {value!r} have the same text; give all ids one type")


def gaps(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Which values are missing: None, NaN, and what pandas has for them."""
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values))
    if values.dtype.kind in "Mm":
        return np.asarray(np.isnat(values))
    if values.dtype.kind != "O":
        return np.zeros(len(values), dtype=np.bool_)
    words = ("NAType", "NaTType")
    found = [v is None or type(v).__name__ in words or (isinstance(v, (float, np.floating)) and v != v) for v in values]
    return np.asarray(found, dtype=np.bool_)


def blocks(
    columns: list[NDArray[Any]], order: NDArray[np.int64] | None, rows: int, single: bool
) -> Iterator[NDArray[Any]]:
    """Columns side by side, some rows at a time."""
    kind = np.float32 if single else np.float64
    for start in range(0, rows, BLOCK):
        some: Any = slice(start, start + BLOCK) if order is None else order[start : start + BLOCK]
        parts = [part if part.ndim == 2 else part[:, None] for part in (column[some] for column in columns)]
        yield np.concatenate(parts, axis=1, dtype=kind, casting="unsafe")


def numbers(array: NDArray[Any], what: str) -> NDArray[Any]:
    """A matrix of single or double precision, aligned in memory."""
    if array.dtype in (np.float32, np.float64):
        return np.require(array, requirements="A")
    if np.iscomplexobj(array):
        raise ValueError(f"Complex data not supported: {what} must hold real numbers")
    if array.dtype.kind in "Mm":
        raise ValueError(f"{what} must hold numbers, not dates; give the days since some date")
    try:
        return array.astype(np.float32 if array.dtype == np.float16 else np.float64)
    except TypeError as error:
        raise TypeError(f"{what} must hold numbers: {error}") from error
    except ValueError as error:
        raise ValueError(f"{what} must hold numbers: {error}") from error


def sparse_of(parts: Sparse) -> Any:
    """A sparse matrix from its parts."""
    columns, indptr, indices, values = parts
    if max(columns, len(values)) <= np.iinfo(np.int32).max:
        # Many estimators of scikit-learn take no longer ones.
        indptr, indices = indptr.astype(np.int32), indices.astype(np.int32)
    return sparse.csr_array((values, indices, indptr), shape=(len(indptr) - 1, columns))


def _is_single(array: NDArray[Any]) -> bool:
    return array.dtype in (np.float32, np.float16)


def _refuse_padding(lengths: Any, mask: Any) -> None:
    if lengths is not None or mask is not None:
        raise ValueError("lengths and mask belong to a 3-D array of bags that were padded to one size")


def _sparse_rows(given: Any, bag_ids: ArrayLike | None) -> Rows:
    matrix: Any = sparse.csr_array(given)
    if matrix.ndim != 2:
        raise ValueError("a sparse array of instances has two dimensions")
    if np.iscomplexobj(matrix.data):
        raise ValueError("Complex data not supported")
    order, offsets, names = cut(matrix.shape[0], bag_ids)
    if order is not None:
        matrix = matrix[order]
    if not matrix.has_canonical_format:
        # The sum is taken in place, and what was given is not ours.
        matrix = matrix.copy() if given.format == "csr" else matrix
        matrix.sum_duplicates()
    parts: Sparse = (
        int(matrix.shape[1]),
        np.require(matrix.indptr, np.int64, "A"),
        np.require(matrix.indices, np.int64, "A"),
        np.require(matrix.data, np.float64, "A"),
    )
    return Rows(parts, offsets, names)


def _matrix_rows(
    array: NDArray[Any], order: NDArray[np.int64] | None, offsets: NDArray[np.int64], names: list[str] | None
) -> Rows:
    if array.dtype in (np.float32, np.float64) and array.flags.c_contiguous and array.flags.aligned:
        return Rows(array, offsets, names, order, arrays=[array])

    def parts() -> Iterator[NDArray[Any]]:
        for start in range(0, len(array), BLOCK):
            some: Any = slice(start, start + BLOCK) if order is None else order[start : start + BLOCK]
            yield numbers(array[some], "the instances")

    if array.dtype == np.float32:
        # Borrowed rows have an order of their own; copied ones are in order already.
        return Rows(parts(), offsets, names, order, True, arrays=[array])
    return Rows(parts(), offsets, names, None, _is_single(array))


def _padded(array: NDArray[Any], bag_ids: ArrayLike | None, lengths: ArrayLike | None, mask: ArrayLike | None) -> Rows:
    """Bags that were filled up to one size; `lengths` or `mask` tell which rows are theirs."""
    count, most = array.shape[:2]
    if lengths is None and mask is None:
        _refuse_empty_ends(array)
        ends = array[:, -1, :]
        empty = (ends == 0).all(axis=1) if ends.dtype.kind in "fiu" else np.zeros(count, np.bool_)
        if most > 1 and empty.any() and not empty.all():
            warnings.warn(
                f"{int(empty.sum())} of {count} bags end in a row without values, which looks like padding but counts as "
                "an instance; pass lengths= or mask= if it is padding",
                stacklevel=outside(),
            )
        return _joined(list(array), bag_ids)
    if lengths is not None and mask is not None:
        raise ValueError("give lengths or mask, not both")
    if lengths is not None:
        sizes = array_of(lengths)
        if sizes.shape != (count,) or sizes.dtype.kind not in "iu" or (sizes < 1).any() or (sizes > most).any():
            raise ValueError(f"lengths must be {count} whole numbers from 1 to {most}, one per bag")
        return _joined([bag[: int(size)] for bag, size in zip(array, sizes, strict=True)], bag_ids)
    there = array_of(mask)
    if there.shape != (count, most) or not np.isin(there, (0, 1)).all():
        raise ValueError(f"mask must be {count} x {most} truth values, true where there is an instance")
    there = there.astype(np.bool_)
    if not there.any(axis=1).all():
        bag = int(np.flatnonzero(~there.any(axis=1))[0])
        raise ValueError(f"bag {bag} (counted from 0) has no instance in mask; true is where there is an instance")
    return _joined([bag[own] for bag, own in zip(array, there, strict=True)], bag_ids)


def _refuse_empty_ends(array: NDArray[Any]) -> None:
    """Refuses bags that end in rows of nothing but NaN: filled in with medians, padding would be learned from."""
    if array.dtype.kind != "f" or 0 in array.shape:
        return
    ends = np.flatnonzero(np.isnan(array[:, -1, :]).all(axis=1))
    if len(ends) == 0:
        return
    first = array[ends[0]]
    there = np.flatnonzero(~np.isnan(first).all(axis=1))
    which = f"bag {ends[0]} (counted from 0)"
    if len(there) == 0:
        raise ValueError(f"{which} has no value at all, only NaN; leave it out")
    length = int(there[-1]) + 1
    count = len(first) - length
    rows = "1 row" if count == 1 else f"{count} rows"
    more = f", as do {len(ends) - 1} more" if len(ends) > 1 else ""
    raise ValueError(
        f"{which} ends in {rows} of nothing but NaN{more}, which looks like padding; pass lengths= (here "
        f"{length}) or mask=, as Bags(X, lengths=...), or leave these rows out"
    )


def _joined(bags: list[Any], bag_ids: ArrayLike | None) -> Rows:
    if bag_ids is not None:
        raise ValueError("bag_ids belong to one matrix of all instances; these are several")
    if not bags:
        raise ValueError("there are no bags; give at least one (0 sample(s))")
    if all(sparse.issparse(b) for b in bags):
        offsets = np.cumsum([0] + [b.shape[0] for b in bags]).astype(np.int64)
        return Rows(_sparse_rows(sparse.vstack(bags, format="csr"), None).instances, offsets)
    bags, names = _by_name(bags)
    # Where arrays are arrays these are no copies.
    arrays = [array_of(b.toarray() if sparse.issparse(b) else b) for b in bags]
    for i, array in enumerate(arrays):
        if array.ndim != 2:
            raise ValueError(
                f"bag {i} (counted from 0) has {array.ndim} dimensions; a bag is a 2-D array, rows are instances "
                "(one instance: bag.reshape(1, -1))"
            )
        if array.shape[1] != arrays[0].shape[1]:
            raise ValueError(
                f"bag {i} (counted from 0) has {array.shape[1]} features, bag 0 has {arrays[0].shape[1]}; they must agree"
            )
    ends = sum(a.dtype.kind == "f" and len(a) > 1 and bool(np.isnan(a[-1]).all()) for a in arrays)
    if ends:
        warnings.warn(
            f"{ends} of {len(arrays)} bags end in a row of nothing but NaN, which looks like padding but counts as an instance; leave "
            "such rows out if they are padding",
            stacklevel=outside(),
        )
    single = all(_is_single(a) for a in arrays)
    offsets = np.cumsum([0] + [len(a) for a in arrays]).astype(np.int64)
    rows = (numbers(a, f"bag {i} (counted from 0)") for i, a in enumerate(arrays))
    return Rows(rows, offsets, None, None, single, names, arrays if single else None)


def refuse_roles(features: list[Any], remedy: Callable[[str, str], str]) -> None:
    """Columns whose names say that they are no features: they would give the answer away. `remedy` gets the role and the name."""
    for name in features:
        role = str(name).lower()
        if role in ("label", "group", "instance_label"):
            raise ValueError(
                f"the column '{name}' would be learned from as a feature; {remedy(role, str(name))}, or rename it"
            )


def _by_name(bags: list[Any]) -> tuple[list[Any], list[str] | None]:
    """Frames with their columns in the order of the first, and the names of these; other bags as they are."""
    if not all(hasattr(bag, "columns") and hasattr(bag, "__array__") for bag in bags):
        return bags, None
    columns = [list(bag.column_names if is_arrow(bag) else bag.columns) for bag in bags]
    first: list[Any] = columns[0]
    names: list[str] | None
    for i, own in enumerate(columns):
        if sorted(map(str, own)) != sorted(map(str, first)) or len(set(own)) < len(own):
            raise ValueError(
                f"bag {i} (counted from 0) has the columns {own}, bag 0 {first}; give all bags the same ones, each once"
            )
    names = [str(name) for name in first]
    if not any(isinstance(name, str) for name in first) and set(first) == set(range(len(first))):
        # Positions, which pandas makes itself: no names, but an order.
        first, names = list(range(len(first))), None
    else:
        refuse_roles(names, lambda _, __: "drop it from every bag")
        if "bag" in names:
            raise ValueError(
                "a list holds one frame per bag, so its column 'bag' would be learned from as a feature; give one frame or table of all "
                "rows, or drop the column from every bag"
            )

    def ordered(bag: Any, own: list[Any]) -> Any:
        if own == first:
            return bag
        return bag.select(first) if is_arrow(bag) else bag[first]

    return [ordered(bag, own) for bag, own in zip(bags, columns, strict=True)], names
