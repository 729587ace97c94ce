"""Warnings before training: rows that were taken for bags."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bagwise._bags import Bags
from bagwise._inputs import names_of
from bagwise._options import warn_once

#: Fewer values than this are grades and counts, not names of bags.
FEW = 5

#: Rows that are looked at first.
GLANCE = 1000

#: A column may tell the labels of its rows by chance in one of this many data sets, as for the native side.
CHANCE = 1e-4


def warn_of_rows(bags: Bags, y: NDArray[Any]) -> bool:
    """Warns if every row is a bag of its own, but a column seems to name the bags; says whether it did.

    The values of such a column repeat, and rows with one value have one label. That chance cannot have it so depends on the rows
    that repeat a value, which are few in small data. Numbers with fractions are measurements.
    """
    count = len(bags)
    if bags._has_ids or bags.feature_names is None or bags.n_instances != count or len(y) != count:
        return False
    # Rows that are borrowed or sparse hold measurements only.
    if bags._native.borrowed or not isinstance(matrix := bags.instances, np.ndarray):
        return False
    codes = np.unique(y, return_inverse=True)[1].reshape(-1)
    shares = np.bincount(codes) / count
    if len(shares) < 2:
        return False
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
        if different >= max(FEW, most + 1) and 4 * repeats >= count and repeats * agree <= limit:
            found, most = name, different
    if found is None:
        return False
    warn_once(
        f"nothing names the bags, so every row is a bag of its own, but the values of '{found}' repeat, and rows with one value always "
        f"have one label; if '{found}' names the bags, give Bags(frame, bag={found!r}) and one label per bag: otherwise rows of one "
        "bag are in training and in test, and every estimate is too optimistic"
    )
    return True


def _values_of_one_label(values: NDArray[Any], codes: NDArray[np.int64]) -> int:
    """How many values a column has, if they are whole numbers (as codes of text are) and each has one label; else 0."""
    # NaN is not equal to anything.
    if not (values == np.floor(values)).all():
        return 0
    different, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    return len(different) if (codes[first][inverse.reshape(-1)] == codes).all() else 0


def warn_of_rows_in(bags: Bags, y: Any) -> None:
    """:func:`warn_of_rows` for labels that are not encoded, if there are any."""
    given = None if y is None else names_of(y)
    if given is not None and given.ndim == 1 and len(given) == len(bags) == bags.n_instances:
        warn_of_rows(bags, np.asarray([str(label) for label in given.tolist()]))
