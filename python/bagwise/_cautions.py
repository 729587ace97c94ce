"""Warnings before training: rows that were taken for bags, and features that give the label away or are ids."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bagwise import _native
from bagwise._bags import Bags
from bagwise._inputs import names_of
from bagwise._options import warn_once
from bagwise._targets import aligned, in_order

#: Fewer values than this are grades and counts, not names of bags.
FEW = 5

#: More different labels than this are numbers.
CLASSES = 20

#: Rows that are looked at first.
GLANCE = 1000

#: A column may tell the labels of its rows by chance in one of this many data sets, as for the native side.
CHANCE = 1e-4

#: Cells of a sparse matrix that are looked at, as many as take about a fifth of a second.
CELLS = 20_000_000

#: What the native side says of features that are the label, or are ids.
_TOLD = (" under another name;", "; ids are not measurements;")

#: What it says of features that are the same in each bag, and follow from the label.
_TOLD_OF_BAGS = (" determines the label:", " follows from the target:")


def warn_of_rows(bags: Bags, y: NDArray[Any]) -> None:
    """Warns if every row is a bag of its own, but a column seems to name the bags.

    The values of such a column repeat, and rows with one value have one label. That chance cannot have it so depends on the rows
    that repeat a value, which are few in small data. Numbers with fractions are measurements.
    """
    count = len(bags)
    if bags._has_ids or bags.feature_names is None or bags.n_instances != count or len(y) != count:
        return
    # Rows that are borrowed or sparse hold measurements only.
    if bags._native.borrowed or not isinstance(matrix := bags.instances, np.ndarray):
        return
    codes = np.unique(y, return_inverse=True)[1].reshape(-1)
    shares = np.bincount(codes) / count
    if len(shares) < 2:
        return
    agree, limit = math.log(float((shares**2).sum())), math.log(CHANCE / bags.n_features)
    found, most = None, 0
    for at, name in enumerate(bags.feature_names):
        values = matrix[:, at]
        # The first rows are enough to rule out most columns.
        if not (
            _values_of_one_label(values[:GLANCE], codes[:GLANCE]) and (different := _values_of_one_label(values, codes))
        ):
            continue
        repeats = count - different
        # Of two conformers per molecule, a training fold often has one.
        # As many values as classes are the classes themselves.
        least = max(FEW, most + 1, len(shares) + 1 if len(shares) <= CLASSES else 0)
        if different >= least and 4 * repeats >= count and repeats * agree <= limit:
            found, most = name, different
    if found is None:
        return
    warn_once(
        f"nothing names the bags, so every row is a bag of its own, but the values of '{found}' repeat, and rows with one value always "
        f"have one label; if '{found}' names the bags, give Bags(frame, bag={found!r}) and one label per bag: otherwise rows of one "
        "bag are in training and in test, and every estimate is too optimistic"
    )


def _values_of_one_label(values: NDArray[Any], codes: NDArray[np.int64]) -> int:
    """How many values a column has, if they are whole numbers (as codes of text are) and each has one label; else 0."""
    # NaN is not equal to anything.
    if not (values == np.floor(values)).all():
        return 0
    different, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    return len(different) if (codes[first][inverse.reshape(-1)] == codes).all() else 0


def warn_of_features(bags: Bags, y: NDArray[np.float64], classes: list[str] | None, around: dict[str, Any]) -> None:
    """Warns of features that are the label under another name, or ids, in the words of :func:`bagwise.fit`.

    An estimator is fitted many times in a search, on parts of the bags, so it does not repeat what may be in order (a feature that tells
    the classes apart) or concerns an estimate (copies of bags, groups, rare classes).
    """
    native = bags._native
    first = native.select(np.zeros(1, dtype=np.int64)).instances
    if isinstance(first, tuple):
        if bags.n_instances * bags.n_features > CELLS:
            native = _fullest(bags)
    elif first.flags.writeable:
        # A copy: these bags stay in their files, whose columns are not looked at.
        return
    # With one instance per bag every feature is the same in each bag, and rows that were drawn twice have their label.
    told = _TOLD if bags.n_instances == len(bags) else _TOLD + _TOLD_OF_BAGS
    for caution in _native.cautions(native, True, y, classes, None, None, around):
        if any(words in caution for words in told):
            warn_once(caution)


def _fullest(bags: Bags) -> _native.Bags:
    """Sparse bags with only the columns that have most entries, among which a label or an id would be."""
    native = bags._native
    matrix, features, categories = bags.instances, native.features, native.categories
    entries = np.bincount(matrix.indices, minlength=matrix.shape[1])
    wanted = np.sort(np.argsort(-entries, kind="stable")[: max(100, CELLS // matrix.shape[0])])
    part = matrix[:, wanted]
    part.sort_indices()
    names = [features[at] for at in wanted]
    return _native.Bags(
        (len(names), part.indptr.astype(np.int64), part.indices.astype(np.int64), part.data),
        native.offsets,
        native.ids,
        names,
        {name: categories[name] for name in names if name in categories},
        native.missing,
    )


def warn_of_rows_in(bags: Bags, y: Any) -> None:
    """:func:`warn_of_rows` for labels that are not encoded, if there are any."""
    given = None if y is None else names_of(y)
    if given is not None and given.ndim == 1 and len(given) == len(bags) == bags.n_instances:
        warn_of_rows(bags, np.asarray([str(label) for label in given.tolist()]))


def refuse_other_order(bags: Bags, y: Any) -> None:
    """Refuses labels in another order than bags that become vectors: estimators of scikit-learn match them by position."""
    if hasattr(y, "iloc") and aligned(y, bags, "y") is not y:
        raise ValueError(
            "y is indexed by bag, in another order than the bags, but the steps after this one match labels by position; give "
            f"{in_order('y', y)}"
        )
