"""Estimators from elsewhere in a comparison: trained on the folds of the comparison, and judged like every method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from bagwise._bags import Bags
from bagwise._inputs import gaps

#: Bag, repeat and fold as positions, the predicted class, scores and probabilities (of the positive class or of each).
Row = tuple[int, int, int, "str | None", list[float], list[float]]


def outside_rows(
    estimators: Mapping[str, Any],
    bags: Bags,
    y: NDArray[np.float64],
    names: list[str] | None,
    labels: NDArray[Any] | None,
    plan: list[list[tuple[list[int], list[int]]]],
) -> list[tuple[str, list[Row]]]:
    """What each estimator says of the bags of each fold, trained without them.

    `y` are values, or codes of the classes `labels`, which the native side calls `names`.
    """
    found = []
    for name, estimator in estimators.items():
        for wanted in ("fit", "predict"):
            if not hasattr(estimator, wanted):
                raise TypeError(
                    f"estimators: {name!r} has no method {wanted}; give an estimator like those of scikit-learn"
                )
        rows: list[Row] = []
        for repeat, folds in enumerate(plan):
            for fold, (train, test) in enumerate(folds):
                target = y[train] if labels is None else labels[y[train].astype(int)]
                model = clone(estimator).fit(bags[np.asarray(train)], target)
                rows += _of_fold(str(name), model, bags, test, repeat, fold, names, labels)
        found.append((str(name), rows))
    return found


def _of_fold(
    name: str,
    model: Any,
    bags: Bags,
    test: list[int],
    repeat: int,
    fold: int,
    names: list[str] | None,
    labels: NDArray[Any] | None,
) -> list[Row]:
    some, where = bags[np.asarray(test)], f"in fold {fold} of repeat {repeat}"

    def checked(method: str, given: Any, dtype: Any, ndim: tuple[int, ...]) -> NDArray[Any]:
        """What a method gave, if it has an entry for each bag."""
        found = np.asarray(given, dtype)
        if found.ndim not in ndim or len(found) != len(test):
            what = f"an array of shape {found.shape}" if found.ndim not in ndim else f"{len(found)} entries"
            raise ValueError(
                f"estimators: {method} of {name!r} gives {what} for {len(test)} bags {where}; give one entry per bag"
            )
        strange = (
            ~np.isfinite(found) if found.dtype.kind == "f" else gaps(found) if found.ndim == 1 else np.zeros(0, bool)
        )
        if strange.any():
            at = tuple(np.argwhere(strange)[0])
            value = "NaN" if str(found[at]) == "nan" else found[at]
            raise ValueError(
                f"estimators: {method} of {name!r} gives {value} for {bags._called(test[at[0]])} {where}; every bag needs a class "
                "or a finite number"
            )
        return found

    said = np.asarray(model.predict(some))
    if said.ndim == 2 and said.shape[1] == 1:
        # As some regressions give it.
        said = said[:, 0]
    said = checked("predict", said, None, (1,))
    if names is None or labels is None:
        return [(bag, repeat, fold, None, [float(v)], []) for bag, v in zip(test, said.tolist(), strict=True)]
    known = dict(zip(labels.tolist(), names, strict=True))
    unknown = [v for v in said.tolist() if v not in known]
    if unknown:
        raise ValueError(f"estimators: {name!r} predicts {unknown[0]!r}, which is not one of the classes")

    def by_class(method: str, absent: float | None) -> list[list[float]]:
        function = getattr(model, method, None)
        if function is None:
            return [[] for _ in test]
        given = checked(method, function(some), np.float64, (1, 2))
        if (
            absent is not None
            and given.ndim == 2
            and given.shape[1] > 1
            and np.abs(given.sum(axis=1) - 1.0).max() > 1e-3
        ):
            at = int(np.abs(given.sum(axis=1) - 1.0).argmax())
            raise ValueError(
                f"estimators: {method} of {name!r} gives probabilities with the sum {given[at].sum():.4g} for "
                f"{bags._called(test[at])} {where}; they must add up to 1"
            )
        return _by_class(given, list(getattr(model, "classes_", labels).tolist()), labels, absent)

    probabilities, scores = by_class("predict_proba", 0.0), by_class("decision_function", None)
    return [
        (bag, repeat, fold, known[label], scores[i], probabilities[i])
        for i, (bag, label) in enumerate(zip(test, said.tolist(), strict=True))
    ]


def _by_class(
    found: NDArray[np.float64], own: list[Any], labels: NDArray[Any], absent: float | None
) -> list[list[float]]:
    """A row per bag: one number for the second of two classes, or one for each class; empty if classes have none.

    `own` are the classes that were trained on. Others get `absent`, or less than all of these.
    """
    if found.ndim == 2 and found.shape[1] == 1 < len(own) == 2:
        found = found[:, 0]
    if found.ndim == 1 and len(own) == 2 < len(labels):
        # Of several classes, two were trained on.
        found = np.stack([-found if absent is None else 1.0 - found, found], axis=1)
    if found.ndim == 1:
        return [[float(v)] for v in found]
    if found.shape[1] != len(own):
        # Pairs of classes, which say nothing of a single one.
        return [[] for _ in found]
    lowest = found.min(axis=1) - 1.0 if absent is None else np.full(len(found), absent)
    columns = [found[:, own.index(label)] if label in own else lowest for label in labels.tolist()]
    if len(columns) == 2:
        columns = columns[1:]
    return [[float(v) for v in row] for row in np.stack(columns, axis=1)]
