"""Labels, weights and groups of bags: matched with their bags, checked, and encoded for the native side."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from bagwise._bags import Bags
from bagwise._inputs import array_of, decoded, gaps, id_names, is_array, names_of


def aligned(values: Any, bags: Bags, what: str) -> Any:
    """Values in the order of the bags: a pandas Series that is indexed by their ids is matched by these.

    The index that pandas makes itself counts positions, as does one that knows none of the bags. Bags without names are
    called "1", "2" and so on; numbers are no sign that these are meant, but text is.
    """
    values = decoded(values)
    if np.ma.is_masked(values):
        raise ValueError(
            f"{what} is masked for some bags, but what lies under a mask is no value; leave these bags out"
        )
    index = getattr(values, "index", None)
    if index is None or callable(index) or not hasattr(values, "iloc"):
        return values
    counted = type(index).__name__ == "RangeIndex" and index.name is None
    if counted and not bags._has_ids:
        return values
    ids, labels = bags.ids, id_names(np.asarray(index))
    if counted:
        # pandas makes this index itself, of positions; but these may as well be the names of the bags.
        if labels != ids and len(labels) == len(ids) and set(labels) == set(ids):
            raise ValueError(
                f"{what} has the index {labels[0]} to {labels[-1]}, which are the names of the bags in another order; give "
                f"{in_order(what, values)} if its index names them, or {what}.to_numpy() if it is in the order of the bags"
            )
        return values
    if not set(labels) & set(ids):
        # Text like "1.0" names bags, too.
        labels = [str(label) for label in index]
    if not bags._has_ids and not (all(isinstance(label, str) for label in index) and set(ids) <= set(labels)):
        return values
    # Bags that were drawn twice have a number behind their names.
    if labels in (ids, [re.sub(r" \(\d+\)$", "", name) for name in ids]):
        return values
    known = {label: at for at, label in enumerate(labels)}
    absent = [name for name in ids if name not in known]
    if len(absent) == len(ids):
        return values
    if absent:
        raise ValueError(
            f"{what} is indexed by bag and has no entry for bag '{absent[0]}'; add it, or, if {what} was split by position (as "
            f"cross_val_score does), bring it into the order of all bags first: {in_order(what, values)}"
        )
    wanted = set(ids)
    seen: set[str] = set()
    for label in labels:
        if label in wanted and label in seen:
            raise ValueError(f"{what} has two entries for bag '{label}'; give one per bag")
        seen.add(label)
    return values.iloc[[known[name] for name in ids]]


def in_order(what: str, values: Any) -> str:
    """The expression that brings a Series with an index of bags into their order; ids of bags are text."""
    index = np.asarray(values.index)
    if index.dtype.kind == "f":
        return f"{what}.rename(index='{{:.0f}}'.format).reindex(bags.ids)"
    text = all(isinstance(label, str) for label in index.tolist())
    return f"{what}.reindex(bags.ids)" if text else f"{what}.rename(index=str).reindex(bags.ids)"


#: What people call the column of labels, besides "label", which is refused whatever it contains.
_CALLED_SO = ("y", "target", "targets", "labels", "class", "classes", "outcome", "response")


def refuse_answer(bags: Bags, y: NDArray[np.float64], classes: Any) -> None:
    """Refuses a feature that is called like a label and is the label; `y` are codes of `classes`, or values."""
    for at, name in enumerate(bags.feature_names or ()):
        if name.lower() not in _CALLED_SO or len(y) != len(bags):
            continue
        firsts = _one_per_bag(bags, at)
        if firsts is None:
            continue
        if classes is None:
            same = bool((firsts == y).all())
        else:
            pairs = len(np.unique(np.stack([firsts, y]), axis=1).T)
            same = pairs == len(np.unique(firsts)) == len(np.unique(y)) > 1
        if same:
            what = "target" if classes is None else "label"
            raise ValueError(
                f"the column '{name}' is a copy of the {what}; take it out with "
                f"bagwise.from_frame(frame, label={name!r}), or drop it"
            )


def _one_per_bag(bags: Bags, at: int) -> NDArray[Any] | None:
    """The value that a feature has in each bag; None if it varies inside one. Never are all instances held dense."""
    first = bags._native.select(np.zeros(1, dtype=np.int64))
    if isinstance(first.instances, tuple):
        column = bags.instances[:, [at]].toarray()[:, 0]
        firsts: NDArray[Any] = column[bags.offsets[:-1]]
        return firsts if (column == np.repeat(firsts, bags.sizes())).all() else None
    found = []
    for bag in bags:
        # A number of its own: a view would keep the bag, which may be a copy.
        value = float(bag[0, at])
        if not (bag[:, at] == value).all():
            return None
        found.append(value)
    return np.asarray(found)


def refuse_gaps(y: Any) -> None:
    """Refuses labels that are missing among text, before NumPy makes text of NaN or cannot sort None."""
    if isinstance(y, (list, tuple)) and any(isinstance(v, str) for v in y):
        given = np.fromiter(y, dtype=object, count=len(y))
    elif is_array(y):
        given = array_of(y)
    else:
        return
    if given.ndim == 1 and given.dtype.kind == "O" and gaps(given).any():
        raise ValueError("Input y contains NaN or None; give every bag a label")


def encoded(y: ArrayLike, who: str, least: int = 2) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Codes and classes of labels, at `least` so many classes."""
    if y is None:
        raise ValueError(f"{who} requires y to be passed, but the target y is None")
    refuse_gaps(y)
    if isinstance(y, (list, tuple)) and any(isinstance(v, str) for v in y):
        other = next((v for v in y if isinstance(v, (bool, int, float, np.number))), None)
        if other is not None:
            text = next(v for v in y if isinstance(v, str))
            # NumPy would make text of the numbers.
            raise ValueError(f"y contains text and numbers, such as {text!r} and {other!r}; give labels of one type")
    # scikit-learn would make floats of pandas' whole numbers and truth values that can be missing.
    given = column_or_1d(array_of(y) if is_array(y) else y, warn=True)
    if given.dtype.kind in "Of" and gaps(given).any():
        raise ValueError("Input y contains NaN or None; give every bag a label")
    check_classification_targets(given)
    if given.dtype.kind == "f" and not np.isfinite(given).all():
        raise ValueError("Input y contains NaN or infinity; give every bag a label")
    classes, codes = np.unique(given, return_inverse=True)
    if len(classes) < least:
        raise ValueError(f"{who} needs at least two classes; all bags are of one class, {classes.tolist()}")
    return codes.reshape(-1).astype(np.float64), classes


def weighed(
    class_weight: Mapping[Any, float],
    classes: NDArray[Any],
    codes: NDArray[np.float64],
    sample_weight: ArrayLike | None,
) -> NDArray[np.float64]:
    """Weights of bags times those of their classes, 1 for a class that is not named."""
    here = classes.tolist()
    strangers = [key for key in class_weight if key not in here]
    # A fold may lack a class that is named, but then all that are there are named.
    if strangers and any(c not in class_weight for c in here):
        names, known = ", ".join(map(repr, strangers)), ", ".join(map(repr, here))
        raise ValueError(f"class_weight names {names}, no class; the classes are {known}")
    own = np.asarray([float(class_weight.get(c, 1.0)) for c in here])
    if not np.isfinite(own).all() or (own < 0).any():
        raise ValueError(f"class_weight is {dict(class_weight)!r}; weights must be finite and not below 0")
    weights = own[codes.astype(np.int64)]
    if sample_weight is None:
        return weights
    given = np.asarray(sample_weight, dtype=np.float64)
    # Another shape is refused where weights are checked.
    return weights * given if given.shape in ((), weights.shape) else given


def class_names(classes: NDArray[Any]) -> list[str]:
    """Classes as text, as a file would have them."""
    whole = classes.dtype.kind == "f" and bool((classes == np.floor(classes)).all())
    return [str(int(c)) if whole else str(c) for c in classes.tolist()]


def numbers_of(y: ArrayLike, who: str) -> NDArray[np.float64]:
    """Real values of bags."""
    if y is None:
        raise ValueError(f"{who} requires y to be passed, but the target y is None")
    given = column_or_1d(np.asarray(y), warn=True)
    if given.dtype.kind in "Mm":
        raise ValueError("y holds dates or times; give numbers, such as days since some date")
    values: NDArray[np.float64] = given.astype(np.float64)
    if not np.isfinite(values).all():
        raise ValueError("Input y contains NaN or infinity; give every bag a finite number")
    if len(values) < 2:
        raise ValueError(f"{who} cannot learn from one sample: n_samples = {len(values)}; give at least two bags")
    return values


def problem_parts(
    bags: Bags, y: NDArray[np.float64], sample_weight: ArrayLike | None, groups: ArrayLike | None
) -> tuple[NDArray[np.float64] | None, list[str] | None]:
    """Weights and groups that fit bags and labels; the groups that bags bring along if none are given."""
    if len(y) != len(bags):
        hint = ""
        if len(y) == bags.n_instances:
            hint = "; y has one entry per bag, not per instance: bagwise.from_frame and Bags make bags of rows, to be split"
        raise ValueError(f"{len(y)} labels for {len(bags)} bags{hint}")
    weights = None
    if sample_weight is not None:
        weights = np.require(sample_weight, np.float64, "A")
        if weights.ndim == 0:
            weights = np.full(len(bags), float(weights))
        if weights.ndim != 1:
            raise ValueError(f"Sample weights must be 1D array or scalar, got {weights.ndim}D array")
        if len(weights) != len(bags):
            raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(len(bags),)}!")
        if not np.isfinite(weights).all() or (weights < 0).any() or not (weights > 0).any():
            raise ValueError("sample_weight must be finite, nowhere below 0, and not zero for all: a weight above zero")
    owners = None
    groups = bags.groups if groups is None else groups
    if groups is not None:
        given = names_of(groups)
        if given.ndim != 1:
            raise ValueError(f"groups of shape {given.shape} for {len(bags)} bags; give one per bag")
        owners = [str(g) for g in given.tolist()]
        if len(owners) != len(bags):
            raise ValueError(f"{len(owners)} groups for {len(bags)} bags")
        if gaps(given).any():
            # Taken for a group, all bags without one would go to the same fold.
            name = bags._called(int(np.flatnonzero(gaps(given))[0]))
            raise ValueError(f"{name} has no group; give every bag one, its own if it stands alone")
    return weights, owners


def inner_folds(wanted: Any, bags: int, groups: list[str] | None) -> int:
    """As many inner folds as wanted, or as there are bags or groups to deal out."""
    if not isinstance(wanted, (int, np.integer)) or wanted < 2:
        raise ValueError(f"inner is {wanted!r}; give a whole number of at least 2")
    units = bags if groups is None else len(set(groups))
    return max(2, min(int(wanted), units))
