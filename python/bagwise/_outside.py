"""Estimators from elsewhere in a comparison: trained on the folds of the comparison, and judged like every method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from bagwise._bags import Bags

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
                rows += _of_fold(name, model, bags[np.asarray(test)], test, repeat, fold, names, labels)
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
    said = np.asarray(model.predict(bags))
    if len(said) != len(test):
        raise ValueError(f"estimators: {name!r} gives {len(said)} predictions for {len(test)} bags")
    if names is None or labels is None:
        return [(bag, repeat, fold, None, [float(v)], []) for bag, v in zip(test, said.tolist(), strict=True)]
    known = dict(zip(labels.tolist(), names, strict=True))
    unknown = [v for v in said.tolist() if v not in known]
    if unknown:
        raise ValueError(f"estimators: {name!r} predicts {unknown[0]!r}, which is not one of the classes")
    probabilities = _by_class(model, "predict_proba", bags, labels, 0.0)
    scores = _by_class(model, "decision_function", bags, labels, None)
    return [
        (bag, repeat, fold, known[label], scores[i], probabilities[i])
        for i, (bag, label) in enumerate(zip(test, said.tolist(), strict=True))
    ]


def _by_class(model: Any, method: str, bags: Bags, labels: NDArray[Any], absent: float | None) -> list[list[float]]:
    """A row per bag: one number for the second of two classes, or one for each class; empty if the estimator has none.

    A class that was not trained on gets `absent`, or less than all others.
    """
    function = getattr(model, method, None)
    if function is None:
        return [[] for _ in range(len(bags))]
    found = np.asarray(function(bags), dtype=np.float64)
    if found.ndim == 1:
        return [[float(v)] for v in found]
    own = list(getattr(model, "classes_", labels).tolist())
    if found.shape[1] != len(own):
        # Pairs of classes, which say nothing of a single one.
        return [[] for _ in range(len(bags))]
    lowest = found.min(axis=1) - 1.0 if absent is None else np.full(len(found), absent)
    columns = [found[:, own.index(label)] if label in own else lowest for label in labels.tolist()]
    if len(columns) == 2:
        columns = columns[1:]
    return [[float(v) for v in row] for row in np.stack(columns, axis=1)]
