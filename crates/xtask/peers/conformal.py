"""The mean size of MAPIE's sets (CV+, lac scores) or intervals (plus) over draws, from predictions of given models of folds."""

import json
import sys

import numpy as np
from mapie.classification import CrossConformalClassifier
from mapie.regression import CrossConformalRegressor
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.model_selection import PredefinedSplit


class Known(BaseEstimator):
    """Looks predictions up. It is trained without one fold, which says whose predictions to give."""

    def __init__(self, table=None, folds=None):
        self.table = table
        self.folds = folds

    def fit(self, X, y):
        seen = np.zeros(len(self.folds), dtype=bool)
        seen[X[:, 0].astype(int)] = True
        left = np.unique(self.folds[~seen])
        # MAPIE also fits on all bags; those predictions play no part in what is measured.
        self.fold_ = int(left[0]) if len(left) == 1 else 0
        return self

    def _look(self, X):
        return self.table[self.fold_][X[:, 0].astype(int)]


class KnownClassifier(ClassifierMixin, Known):
    def fit(self, X, y):
        self.classes_ = np.arange(self.table.shape[2])
        return super().fit(X, y)

    def predict_proba(self, X):
        return self._look(X)

    def predict(self, X):
        return self.classes_[self._look(X).argmax(axis=1)]


class KnownRegressor(RegressorMixin, Known):
    def predict(self, X):
        return self._look(X)


def mean_size(given):
    """Of one draw."""
    folds, y = np.asarray(given["folds"]), np.asarray(given["y"])
    # What the model of a fold says of training bags (rows below n) and new ones (from n on).
    table = np.concatenate([np.asarray(given["own"]), np.asarray(given["new"])], axis=1)
    X = np.arange(len(y), dtype=float).reshape(-1, 1)
    tests = np.arange(len(y), table.shape[1], dtype=float).reshape(-1, 1)
    cv, level = PredefinedSplit(folds), given["coverage"]
    if table.ndim == 3:
        known = KnownClassifier(table, folds)
        mapie = CrossConformalClassifier(known, confidence_level=level, conformity_score="lac", cv=cv)
        mapie.fit_conformalize(X, y)
        _, sets = mapie.predict_set(tests, agg_scores="crossval")
        return float(sets[:, :, 0].sum(axis=1).mean())
    mapie = CrossConformalRegressor(KnownRegressor(table, folds), confidence_level=level, method="plus", cv=cv)
    mapie.fit_conformalize(X, y)
    _, ends = mapie.predict_interval(tests)
    return float((ends[:, 1, 0] - ends[:, 0, 0]).mean())


with open(sys.argv[1]) as file:
    print(np.mean([mean_size(given) for given in json.load(file)]))
