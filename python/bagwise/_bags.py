"""Bags: sets of instances with the same features, from many kinds of input."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, cast, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bagwise._inputs import Rows, array_of, is_array, names_of, rows_of, sparse_of
from bagwise._native import Bags as NativeBags
from bagwise._relatives import origin_of

#: What can be given where bags are wanted; see :class:`Bags`.
BagsLike: TypeAlias = Any


class Bags:
    """Bags with the same features, validated once.

    A sequence: ``bags[3]`` is the matrix of one bag (a view, read-only), ``bags[:10]``, ``bags[[5, 2]]`` and
    ``bags[mask]`` are bags again, so that ``train_test_split``, ``GridSearchCV`` and the like divide them as they
    divide arrays. ``bags + more`` are all bags, one after the other.

    Parameters
    ----------
    bags : list or dict of 2-D arrays, 2-D or 3-D array, sparse matrix, data frame or AnnData
        One matrix per bag, rows are instances; a dictionary names its bags. A 2-D array (or sparse matrix) with
        `bag_ids` is split by them; without, every row is a bag of one instance. A 3-D array contains bags of equal
        size, or padded ones with `lengths` or `mask`. Torch tensors count as arrays, masked values as missing.
        In a frame (pandas, polars or Arrow, one row per instance) the column `bag` names the bag, and all other
        columns are features; use :func:`bagwise.from_frame` for frames with labels or groups.
        A column of lists becomes one feature per entry. Single precision stays single precision; everything else
        becomes double precision.
    bag_ids : array-like of shape (n_instances,), optional
        The bag of each row. Rows of a bag need not be adjacent; bags are in the order of their first row.
    bag : str, default="bag"
        For a frame or AnnData, the column with the bag of each row.
    lengths : array-like of shape (n_bags,), optional
        For a padded 3-D array, how many rows of each bag are instances.
    mask : array-like of shape (n_bags, n_rows), optional
        For a padded 3-D array, which rows are instances.
    ids : sequence of str, optional
        Names of the bags, for messages and tables.
    feature_names : sequence of str, optional
        Names of the features.
    groups : array-like of shape (n_bags,), optional
        Groups that must not be split (patients, scaffolds). They stay with the bags: estimators and evaluations use
        them unless other groups are given.
    missing : bool, default=False
        Accept NaN as a missing value instead of raising an error.

    Attributes
    ----------
    ids : list of str
        Names of the bags.
    groups : ndarray of shape (n_bags,) or None
        The group of each bag.
    kept : dict of str to ndarray of shape (n_instances,)
        Extra columns, not used for training.
    offsets : ndarray of shape (n_bags + 1,)
        Bag `b` has the rows ``offsets[b]:offsets[b + 1]`` of `instances`.
    instances : ndarray or sparse matrix
        All instances; a view without a copy if they are dense.

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
    #: Whether somebody named the bags, and the features: "1", "2" and "f1", "f2" are names that they have otherwise.
    _has_ids: bool
    _has_names: bool
    groups: NDArray[Any] | None
    kept: dict[str, NDArray[Any]]
    #: Bags that these were taken from, and their positions there; None if they were not, see `_relatives.py`.
    _origin: tuple[str, NDArray[np.int64]] | None = None

    def __init__(
        self,
        bags: BagsLike,
        bag_ids: ArrayLike | None = None,
        *,
        bag: str | int = "bag",
        lengths: ArrayLike | None = None,
        mask: ArrayLike | None = None,
        ids: Iterable[str] | None = None,
        feature_names: Iterable[str] | None = None,
        groups: ArrayLike | None = None,
        missing: bool = False,
    ) -> None:
        names = None if feature_names is None else [str(f) for f in feature_names]
        rows, found, categories = _rows_and_names(bags, bag_ids, bag, lengths, mask)
        self._set(rows, ids, names or found, categories, missing)
        if groups is not None:
            from bagwise._targets import aligned

            given = names_of(aligned(groups, self, "groups"))
            if given.shape != (len(self),):
                raise ValueError(f"groups of shape {given.shape} for {len(self)} bags; give one per bag")
            # What was given may change.
            self.groups = given.copy()

    def _set(
        self,
        rows: Rows,
        ids: Iterable[str] | None,
        names: list[str] | None,
        categories: dict[str, list[str]],
        missing: bool,
        borrow: bool = False,
    ) -> None:
        if names is not None and len(set(names)) < len(names):
            twice = next(n for i, n in enumerate(names) if n in names[:i])
            raise ValueError(f"two features are called '{twice}'; give every feature a unique name")
        called = rows.ids if ids is None else [str(i) for i in ids]
        # Missing values are filled in a copy.
        if borrow and not missing and not categories and rows.can_be_borrowed():
            instances: Any = rows.arrays
            how: tuple[Any, bool | None, Any] = (rows.order, None, rows.below)
        else:
            # What is given in parts is in order already.
            instances = rows.instances
            how = (rows.order if rows.single is None else None, rows.single, None)
        self._native = NativeBags(instances, rows.offsets, called, names, categories, missing, *how)
        self._has_ids, self._has_names = called is not None, names is not None
        self.groups, self.kept = None, {}

    @classmethod
    def _of(cls, native: NativeBags) -> Bags:
        """Bags that the native side made, of a file or a generator."""
        new = cls.__new__(cls)
        new._native = native
        new._has_ids = native.ids != [str(b) for b in range(1, len(native) + 1)]
        new._has_names = native.features != [f"f{i}" for i in range(1, native.width + 1)]
        new.groups, new.kept = None, {}
        return new

    def _like(self, native: NativeBags) -> Bags:
        """The same bags in another form."""
        new = Bags._of(native)
        new._has_ids, new._has_names, new.groups, new.kept = self._has_ids, self._has_names, self.groups, self.kept
        new._origin = self._origin
        return new

    def _with(self, groups: NDArray[Any] | None, kept: Mapping[str, NDArray[Any]]) -> Bags:
        new = self._like(self._native)
        new.groups, new.kept = groups, dict(kept)
        return new

    def __len__(self) -> int:
        return len(self._native)

    @property
    def shape(self) -> tuple[int]:
        """The number of bags, as a shape: scikit-learn asks for it."""
        return (len(self),)

    def _called(self, at: int) -> str:
        """A bag in a message: by its name if somebody named it, else by its position."""
        return f"bag '{self.ids[at]}'" if self._has_ids else f"bag {at} (counted from 0)"

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
        """Names of the features, if they have names."""
        return self._native.features if self._has_names else None

    @property
    def categories(self) -> dict[str, list[str]]:
        """For categorical features, the meaning of their codes."""
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
    def __getitem__(self, key: slice | Sequence[int] | Sequence[bool] | NDArray[Any] | tuple[Any, Any]) -> Bags: ...
    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            # scikit-learn indexes what has a shape in this way.
            key = key[0]
        if isinstance(key, (int, np.integer)) and not isinstance(key, (bool, np.bool_)):
            at = int(key) + len(self) if key < 0 else int(key)
            if not 0 <= at < len(self):
                raise IndexError(f"bag {key} of {len(self)}")
            return self._native.bag(at)
        some = _positions(key, len(self))
        new = self._like(self._native.select(some))
        if self.groups is not None:
            new.groups = self.groups[some]
            whole, positions = origin_of(self)
            new._origin = (whole, positions[some])
        if self.kept:
            offsets = self.offsets
            rows = np.concatenate([np.arange(offsets[b], offsets[b + 1]) for b in some])
            new.kept = {name: values[rows] for name, values in self.kept.items()}
        return new

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return (self._native.bag(b) for b in range(len(self)))

    def __add__(self, more: Bags) -> Bags:
        return Bags.concat([self, more]) if isinstance(more, Bags) else NotImplemented

    @classmethod
    def concat(cls, several: Iterable[Bags]) -> Bags:
        """Concatenate bags.

        Parameters
        ----------
        several : iterable of Bags
            Bags over the same features, in the same order. Names of bags must differ, unless they are just numbers;
            kept columns are preserved if all have them. Either all have groups, or none.

        Examples
        --------
        >>> from bagwise import Bags
        >>> a, b = Bags([[[1.0, 2.0]]], ids=["a"]), Bags([[[3.0, 4.0]]], ids=["b"])
        >>> (a + b).ids
        ['a', 'b']
        """
        parts = list(several)
        if not parts:
            raise ValueError("there are no bags; give at least one")
        first = parts[0]
        for part in parts[1:]:
            if part._native.features != first._native.features or part._has_names != first._has_names:
                raise ValueError(
                    f"the features differ: {_shortly(first._native.features)} and {_shortly(part._native.features)}; "
                    "give all bags the same features in the same order"
                )
            if part.categories != first.categories:
                raise ValueError("the categories differ; make one frame of all rows, and bags of that")
            if (part.groups is None) != (first.groups is None):
                raise ValueError(
                    "some of these bags have groups and others have none, so folds could split the groups; give groups to all of them"
                )
        named = any(part._has_ids for part in parts)
        ids = [name for part in parts for name in part.ids] if named else None
        sizes = np.concatenate([part.sizes() for part in parts])
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        matrices = [part.instances for part in parts]
        if all(isinstance(part._native.instances, tuple) for part in parts):
            rows = rows_of([m.tocsr() for m in matrices], None, None, None)
        else:
            dense = [m if isinstance(m, np.ndarray) else m.toarray() for m in matrices]
            rows = Rows(iter(dense), offsets, None, None, all(d.dtype == np.float32 for d in dense))
        rows.offsets = offsets
        new = cls.__new__(cls)
        missing = any(part._native.missing for part in parts)
        new._set(rows, ids, first._native.features if first._has_names else None, first.categories, missing)
        if all(part.groups is not None for part in parts):
            new.groups = np.concatenate([part.groups for part in parts if part.groups is not None])
        shared = [name for name in first.kept if all(name in part.kept for part in parts)]
        new.kept = {name: np.concatenate([part.kept[name] for part in parts]) for name in shared}
        return new

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Bags):
            return NotImplemented
        mine, yours = self._native, other._native
        if (mine.ids, mine.features, mine.categories) != (yours.ids, yours.features, yours.categories):
            return False
        if not np.array_equal(mine.offsets, yours.offsets):
            return False
        if not _same(self.groups, other.groups) or self.kept.keys() != other.kept.keys():
            return False
        if not all(_same(values, other.kept[name]) for name, values in self.kept.items()):
            return False
        a, b = self.instances, other.instances
        if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
            return np.array_equal(a, b, equal_nan=True)
        return type(a) is type(b) and (a != b).nnz == 0

    # Equal bags may differ in type of storage, and nobody looks them up.
    __hash__ = None  # type: ignore[assignment]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        raise TypeError(
            "bags have several rows each, and are no array with a row per sample; bags.instances is the matrix of all "
            "instances, bagwise.BagSummary makes a vector of each bag, list(bags) is a list of arrays"
        )

    def to_frame(self) -> Any:
        """A pandas frame with one row per instance: its bag, its group, the features, and the kept columns.

        A kept column whose name is taken gets "given " before its name, as in tables of the command line.

        Examples
        --------
        >>> from bagwise import Bags
        >>> Bags([[[1.0], [2.0]]], ids=["a"], feature_names=["x"]).to_frame().to_dict("list")
        {'bag': ['a', 'a'], 'x': [1.0, 2.0]}
        """
        import pandas as pd

        columns: dict[str, Any] = {"bag": np.repeat(np.asarray(self.ids, dtype=object), self.sizes())}
        if self.groups is not None:
            columns["group"] = np.repeat(self.groups, self.sizes())
        matrix, categories = self.instances, self.categories
        matrix = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
        for i, name in enumerate(self._native.features):
            if name in columns:
                raise ValueError(
                    f"a feature is called '{name}', as is the column with the {name} of each row; rename the feature before "
                    "Bags are made of it, as in frame.rename(columns=...) or Bags(X, feature_names=[...])"
                )
            values = matrix[:, i]
            if name in categories:
                codes = np.where(np.isnan(values), -1, values).astype(np.int64)
                columns[name] = pd.Categorical.from_codes(codes, categories[name])
            else:
                columns[name] = values
        own = set(columns)
        for name, values in self.kept.items():
            shown = name
            while shown in own or (shown != name and shown in self.kept):
                shown = f"given {shown}"
            columns[shown] = values
        return pd.DataFrame(columns)

    def __repr__(self) -> str:
        return f"Bags({len(self)} bags, {self.n_instances} instances, {self.n_features} features)"

    def _repr_html_(self) -> str:
        sizes = self.sizes()
        lines = {
            "bags": f"{len(self)}: {_shortly(self.ids)}",
            "instances": f"{self.n_instances}, {sizes.min()} to {sizes.max()} per bag (median {np.median(sizes):g})",
            "features": f"{self.n_features}: {_shortly(self._native.features)}",
        }
        if self.categories:
            lines["categories"] = _shortly(list(self.categories))
        if self.groups is not None:
            lines["groups"] = str(len(np.unique(self.groups)))
        if self.kept:
            lines["carried along"] = _shortly(list(self.kept))
        rows = "".join(f"<tr><th>{name}</th><td>{html.escape(text)}</td></tr>" for name, text in lines.items())
        return f"<table>{rows}</table>"

    def __reduce__(self) -> tuple[Any, ...]:
        native = self._native
        parts = (native.instances, native.offsets, native.ids, native.features, native.categories, native.missing)
        return _rebuild, parts, (self._has_ids, self._has_names, self.groups, self.kept, self._origin)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self._has_ids, self._has_names, self.groups, self.kept = state[:4]
        # Pickles of earlier versions end here.
        self._origin = state[4] if len(state) > 4 else None


def _same(a: NDArray[Any] | None, b: NDArray[Any] | None) -> bool:
    """Whether columns are equal, or both not there."""
    if a is None or b is None:
        return a is b
    numbers = a.dtype.kind == b.dtype.kind == "f"
    return bool(np.array_equal(a, b, equal_nan=numbers))


def _rebuild(*parts: Any) -> Bags:
    return Bags._of(NativeBags(*parts))


def _shortly(names: list[str], most: int = 4) -> str:
    return ", ".join(names) if len(names) <= most else ", ".join([*names[: most - 1], "…", names[-1]])


def _rows_and_names(
    bags: BagsLike,
    bag_ids: ArrayLike | None,
    bag: str | int = "bag",
    lengths: ArrayLike | None = None,
    mask: ArrayLike | None = None,
) -> tuple[Rows, list[str] | None, dict[str, list[str]]]:
    """The rows of whatever holds bags, the names of features and the meanings of categories."""
    from bagwise import _frames

    if isinstance(bags, Bags):
        raise TypeError("these are Bags already; choose some with bags[...], and read others with bagwise.read")
    if _frames.is_frame(bags) or _frames.is_anndata(bags):
        return _frames.rows_of_frame(bags, bag_ids, bag, lengths, mask)
    rows = rows_of(bags, bag_ids, lengths, mask)
    return rows, rows.names, {}


def as_bags(
    given: BagsLike, *, missing: bool = False, features: Iterable[str] | None = None, borrow: bool = False
) -> Bags:
    """Bags from anything that :class:`Bags` takes, or a pair ``(X, bag_ids)``; of a frame these `features`.

    With `borrow`, large arrays are not copied; such bags must not outlive the call that they are made for.
    """
    if isinstance(given, Bags):
        return given
    from bagwise import _frames

    which = None
    beside: dict[str, Any] = {}
    if isinstance(given, tuple) and len(given) == 2 and np.ndim(given[1]) in (1, 2):
        if is_array(given[0]) and array_of(given[0]).ndim == 3:
            # Padded bags, and which of their rows are instances.
            beside = {"lengths": given[1]} if np.ndim(given[1]) == 1 else {"mask": given[1]}
            given = given[0]
        elif np.ndim(given[1]) == 1:
            given, which = given
    if features is not None and _frames.is_frame(given):
        given = _frames.chosen(given, features, which is not None)
    rows, names, categories = _rows_and_names(given, which, **beside)
    new = Bags.__new__(Bags)
    new._set(rows, None, names, categories, missing, borrow)
    return new


def _positions(key: Any, count: int) -> NDArray[np.int64]:
    if isinstance(key, slice):
        return np.arange(count, dtype=np.int64)[key]
    at = np.asarray(key)
    if at.dtype == bool:
        if at.shape != (count,):
            raise IndexError(f"a mask of shape {at.shape} for {count} bags")
        return np.flatnonzero(at).astype(np.int64)
    if at.ndim != 1 or (at.size > 0 and not np.issubdtype(at.dtype, np.integer)):
        raise TypeError(f"bags are indexed by integers, slices or masks, not by {key!r}")
    at = at.astype(np.int64)
    return np.where(at < 0, at + count, at)
