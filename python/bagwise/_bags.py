"""Bags: many sets of instances over the same features, from whatever holds them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias, cast, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from bagwise._native import Bags as NativeBags

#: What can be given where bags are wanted; see :class:`Bags`.
BagsLike: TypeAlias = Any

_Sparse = tuple[int, NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]


class Bags:
    """Many bags over the same features, checked once.

    A sequence: ``bags[3]`` is the matrix of one bag (a view, read-only), ``bags[:10]``, ``bags[[5, 2]]`` and
    ``bags[mask]`` are bags again, so that ``train_test_split``, ``GridSearchCV`` and the like divide them as they
    divide arrays.

    Parameters
    ----------
    bags : list of 2-D arrays, 2-D array, 3-D array, sparse matrix or data frame
        One matrix per bag, rows are instances. A 2-D array (or sparse matrix) with `bag_ids` is cut by them; without,
        every row is a bag of one instance. A 3-D array holds bags of equal size. In a data frame the column ``bag``
        tells bags apart. Numbers of single precision stay so; all else becomes double precision.
    bag_ids : array-like of shape (n_instances,), optional
        The bag of each row. Rows of a bag need not stand together; bags come in the order of their first row.
    ids : sequence of str, optional
        Names of the bags, for messages and tables.
    feature_names : sequence of str, optional
        Names of the features.
    missing : bool, default=False
        Let NaN stand for a missing value instead of refusing it.

    Attributes
    ----------
    ids : list of str
        Names of the bags.
    offsets : ndarray of shape (n_bags + 1,)
        Bag `b` owns the rows ``offsets[b]:offsets[b + 1]`` of `instances`.
    instances : ndarray or sparse matrix
        All instances; a view without a copy where they are dense.

    Examples
    --------
    >>> import numpy as np
    >>> from bagwise import Bags
    >>> bags = Bags([np.zeros((3, 2)), np.ones((1, 2))])
    >>> len(bags), bags.n_instances, bags.n_features
    (2, 4, 2)
    >>> bags[1]
    array([[1., 1.]])
    >>> Bags(np.arange(6.0).reshape(3, 2), bag_ids=["b", "a", "b"]).ids
    ['b', 'a']
    """

    _native: NativeBags

    def __init__(
        self,
        bags: BagsLike,
        bag_ids: ArrayLike | None = None,
        *,
        ids: Iterable[str] | None = None,
        feature_names: Iterable[str] | None = None,
        missing: bool = False,
    ) -> None:
        names = None if ids is None else [str(i) for i in ids]
        features = None if feature_names is None else [str(f) for f in feature_names]
        categories: dict[str, list[str]] = {}
        if is_frame(bags):
            from bagwise._frames import matrix_of

            if bag_ids is None and "bag" in bags.columns:
                bag_ids = np.asarray(bags["bag"])
            left = [c for c in bags.columns if c != "bag"]
            bags, features, categories = matrix_of(bags, left)
        instances, offsets, found = _rows(bags, bag_ids)
        self._native = NativeBags(instances, offsets, names or found, features, categories, missing)

    @classmethod
    def _of(cls, native: NativeBags) -> Bags:
        new = cls.__new__(cls)
        new._native = native
        return new

    def __len__(self) -> int:
        return len(self._native)

    @property
    def shape(self) -> tuple[int]:
        """The number of bags, as a shape: scikit-learn asks for it."""
        return (len(self),)

    @property
    def n_instances(self) -> int:
        """Number of instances of all bags."""
        return self._native.instance_count

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self._native.width

    @property
    def ids(self) -> list[str]:
        """Names of the bags."""
        return self._native.ids

    @property
    def feature_names(self) -> list[str] | None:
        """Names of the features, if they were given any."""
        names = self._native.features
        return None if names == [f"f{i}" for i in range(1, len(names) + 1)] else names

    @property
    def categories(self) -> dict[str, list[str]]:
        """For features that are categories, the meaning of their codes."""
        return self._native.categories

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where each bag starts, and the end."""
        return self._native.offsets

    @property
    def instances(self) -> Any:
        """All instances: an array, or a sparse matrix."""
        found = self._native.instances
        return sparse_of(found) if isinstance(found, tuple) else found

    def sizes(self) -> NDArray[np.int64]:
        """Number of instances of each bag."""
        return cast("NDArray[np.int64]", np.diff(self.offsets))

    @overload
    def __getitem__(self, key: int) -> NDArray[Any]: ...
    @overload
    def __getitem__(self, key: Any) -> Any: ...
    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            # scikit-learn indexes what has a shape in this way.
            key = key[0]
        if isinstance(key, (int, np.integer)) and not isinstance(key, (bool, np.bool_)):
            at = int(key) + len(self) if key < 0 else int(key)
            if not 0 <= at < len(self):
                raise IndexError(f"bag {key} of {len(self)}")
            return self._native.bag(at)
        return Bags._of(self._native.select(_positions(key, len(self))))

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return (self._native.bag(b) for b in range(len(self)))

    def __repr__(self) -> str:
        return f"Bags({len(self)} bags, {self.n_instances} instances, {self.n_features} features)"

    def __reduce__(self) -> tuple[Any, ...]:
        native = self._native
        parts = (native.instances, native.offsets, native.ids, native.features, native.categories, native.missing)
        return _rebuild, parts


def _rebuild(*parts: Any) -> Bags:
    return Bags._of(NativeBags(*parts))


def sparse_of(parts: _Sparse) -> Any:
    """A sparse matrix from its parts."""
    columns, indptr, indices, values = parts
    if max(columns, len(values)) <= np.iinfo(np.int32).max:
        # Many estimators of scikit-learn take no longer ones.
        indptr, indices = indptr.astype(np.int32), indices.astype(np.int32)
    return sparse.csr_array((values, indices, indptr), shape=(len(indptr) - 1, columns))


def gaps(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Which values are missing: None, NaN, and what pandas has for them."""
    if values.dtype.kind == "f":
        return cast("NDArray[np.bool_]", np.isnan(values))
    if values.dtype.kind != "O":
        return np.zeros(len(values), dtype=np.bool_)
    words = ("NAType", "NaTType")
    found = [v is None or type(v).__name__ in words or (isinstance(v, float) and v != v) for v in values]
    return np.asarray(found, dtype=np.bool_)


def is_frame(given: Any) -> bool:
    """True for pandas and polars frames."""
    module = type(given).__module__.partition(".")[0]
    return module in ("pandas", "polars") and hasattr(given, "columns")


def as_bags(given: BagsLike, *, missing: bool = False) -> Bags:
    """Bags from anything that :class:`Bags` takes, or a pair ``(X, bag_ids)``."""
    if isinstance(given, Bags):
        return given
    if isinstance(given, tuple) and len(given) == 2 and np.ndim(given[1]) == 1:
        return Bags(given[0], given[1], missing=missing)
    return Bags(given, missing=missing)


def _positions(key: Any, count: int) -> NDArray[np.int64]:
    if isinstance(key, slice):
        return np.arange(count, dtype=np.int64)[key]
    at = np.asarray(key)
    if at.dtype == bool:
        if at.shape != (count,):
            raise IndexError(f"a mask of shape {at.shape} for {count} bags")
        return np.flatnonzero(at).astype(np.int64)
    if at.ndim != 1 or (at.size > 0 and not np.issubdtype(at.dtype, np.integer)):
        raise TypeError(f"bags are chosen by whole numbers, slices or masks, not by {key!r}")
    at = at.astype(np.int64)
    return np.where(at < 0, at + count, at)


def _rows(bags: Any, bag_ids: ArrayLike | None) -> tuple[Any, NDArray[np.int64], list[str] | None]:
    """Instances, offsets and names."""
    if sparse.issparse(bags):
        matrix: Any = sparse.csr_array(bags)
        if matrix.ndim != 2:
            raise ValueError("a sparse array of instances has two dimensions")
        if np.iscomplexobj(matrix.data):
            raise ValueError("Complex data not supported")
        order, offsets, names = _cut(matrix.shape[0], bag_ids)
        if order is not None:
            matrix = matrix[order]
        matrix.sum_duplicates()
        parts: _Sparse = (
            int(matrix.shape[1]),
            matrix.indptr.astype(np.int64),
            matrix.indices.astype(np.int64),
            matrix.data.astype(np.float64),
        )
        return parts, offsets, names
    if isinstance(bags, np.ndarray) or (hasattr(bags, "__array__") and not isinstance(bags, (list, tuple))):
        array = np.asarray(bags)
        if array.ndim == 1 and array.dtype == object:
            return _joined(list(array), bag_ids)
        if array.ndim == 2:
            if array.shape[1] == 0:
                raise ValueError(f"0 feature(s) (shape={array.shape}) while a minimum of 1 is required.")
            matrix = _numbers(array, "the instances")
            order, offsets, names = _cut(len(matrix), bag_ids)
            return (matrix if order is None else matrix[order]), offsets, names
        if array.ndim == 3:
            return _joined(list(array), bag_ids)
        raise ValueError(
            f"an array of {array.ndim} dimensions holds no bags. Reshape your data: give a list with a 2-D array per "
            "bag, or one 2-D array and the bag of each row"
        )
    if isinstance(bags, (str, bytes)) or not isinstance(bags, Iterable):
        raise TypeError(f"a {type(bags).__name__} holds no bags; give a list of 2-D arrays, (X, bag_ids) or a frame")
    several = list(bags)
    if several and all(isinstance(row, (list, tuple)) and row and np.isscalar(row[0]) for row in several):
        # Rows of plain numbers are one matrix, as everywhere in scikit-learn.
        return _rows(np.asarray(several), bag_ids)
    return _joined(several, bag_ids)


def _joined(bags: list[Any], bag_ids: ArrayLike | None) -> tuple[Any, NDArray[np.int64], None]:
    if bag_ids is not None:
        raise ValueError("bag_ids belong to one matrix of all instances; these are several")
    if not bags:
        raise ValueError("there are no bags; give at least one (0 sample(s))")
    if all(sparse.issparse(b) for b in bags):
        offsets = np.cumsum([0] + [b.shape[0] for b in bags]).astype(np.int64)
        parts, _, _ = _rows(sparse.vstack(bags, format="csr"), None)
        return parts, offsets, None
    matrices = []
    for i, bag in enumerate(bags):
        array = np.asarray(bag.toarray() if sparse.issparse(bag) else bag)
        if array.ndim != 2:
            raise ValueError(
                f"bag {i} has {array.ndim} dimensions; a bag is a 2-D array, rows are instances "
                "(one instance: bag.reshape(1, -1))"
            )
        if array.shape[1] != np.shape(bags[0])[1]:
            raise ValueError(
                f"bag {i} has {array.shape[1]} features, bag 0 has {np.shape(bags[0])[1]}; they must agree"
            )
        matrices.append(_numbers(array, f"bag {i}"))
    single = all(m.dtype == np.float32 for m in matrices)
    offsets = np.cumsum([0] + [len(m) for m in matrices]).astype(np.int64)
    kind = np.float32 if single else np.float64
    return np.ascontiguousarray(np.concatenate(matrices, axis=0, dtype=kind)), offsets, None


def _numbers(array: NDArray[Any], what: str) -> NDArray[Any]:
    """A matrix in C order, of single or double precision."""
    if np.iscomplexobj(array):
        raise ValueError(f"Complex data not supported: {what} must hold real numbers")
    if array.dtype in (np.float32, np.float64):
        return np.ascontiguousarray(array)
    if array.dtype == np.float16:
        return np.ascontiguousarray(array, dtype=np.float32)
    try:
        return np.ascontiguousarray(array, dtype=np.float64)
    except TypeError as error:
        raise TypeError(f"{what} must hold numbers: {error}") from error
    except ValueError as error:
        raise ValueError(f"{what} must hold numbers: {error}") from error


def _cut(rows: int, bag_ids: ArrayLike | None) -> tuple[NDArray[np.int64] | None, NDArray[np.int64], list[str] | None]:
    """The order of rows that brings bags together (None: as they are), offsets, names."""
    if bag_ids is None:
        return None, np.arange(rows + 1, dtype=np.int64), None
    given = np.asarray(bag_ids)
    if given.shape != (rows,):
        raise ValueError(f"bag_ids of shape {given.shape} for {rows} instances; give one id per row")
    if given.dtype.kind in "Of" and gaps(given).any():
        row = int(np.flatnonzero(gaps(given))[0])
        raise ValueError(f"row {row} (counted from 0) has no bag; give every row the id of its bag")
    if given.dtype == object:
        given = np.asarray([str(g) for g in given])
    values, first, codes = np.unique(given, return_index=True, return_inverse=True)
    rank = np.empty(len(values), dtype=np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(len(values))
    codes = rank[codes.reshape(-1)]
    offsets = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=len(values)))]).astype(np.int64)
    names = [str(v) for v in values[np.argsort(first, kind="stable")]]
    if bool(np.all(codes[1:] >= codes[:-1])):
        return None, offsets, names
    return np.argsort(codes, kind="stable").astype(np.int64), offsets, names
