"""What all estimators share. The classes themselves are written from the registry of methods: ``_estimators.py``."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from bagwise import _native
from bagwise._bags import Bags, BagsLike, as_bags, sparse_of
from bagwise._data import labels_of
from bagwise._options import around, impute_of, learning, text_of

_Self = TypeVar("_Self", bound="BagEstimator")


@dataclass(frozen=True)
class Explanation:
    """Why a machine says what it says of one bag.

    Attributes
    ----------
    bag : str
        The bag.
    machine : str
        What the machine tells apart, such as ``"1 vs 0"``; empty for real values.
    bias : float or None
        What belongs to no instance; None where a single instance decides.
    parts : ndarray of shape (n_instances,)
        With a bias, what each instance adds: bias and parts add up to the decision value exactly. Without, the
        decision value of each instance.
    chosen : int or None
        The instance that decides, where a single one does.
    """

    bag: str
    machine: str
    bias: float | None
    parts: NDArray[np.float64]
    chosen: int | None

    @property
    def value(self) -> float:
        """The decision value that is explained."""
        if self.chosen is not None:
            return float(self.parts[self.chosen])
        return float((self.bias or 0.0) + self.parts.sum())

    def top(self, count: int = 3) -> list[int]:
        """The instances that speak most for the first class of `machine`, in that order."""
        return [int(i) for i in np.argsort(-self.parts, kind="stable")[:count]]


class BagEstimator(BaseEstimator):  # type: ignore[misc]
    """A method of the registry as a scikit-learn estimator; use its subclasses."""

    #: The method's name in the registry.
    _method: ClassVar[str]
    #: Its parameters: the name here, and in the registry's table.
    _parameters: ClassVar[dict[str, str]]

    # Parameters that every estimator has; each class sets them.
    scale: str | None
    missing: str
    inner: int
    precision: str
    memory: float
    random_state: Any
    n_jobs: int | None

    model_: _native.Model
    n_features_in_: int

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "median"
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

    def _around(self) -> dict[str, Any]:
        return around(self.random_state, self.n_jobs, self.memory, self.precision)

    def _point(self) -> dict[str, str]:
        return {own: text_of(getattr(self, name)) for name, own in self._parameters.items()}

    def _learning(self, **further: Any) -> dict[str, Any]:
        impute = impute_of(self.missing)
        return learning([self._method], self._point(), fixed=True, scale=self.scale, impute=impute, **further)

    def _bags(self, bags: BagsLike) -> Bags:
        return as_bags(bags, missing=impute_of(self.missing))

    def _fit(
        self: _Self,
        bags: Bags,
        y: NDArray[np.float64],
        classes: list[str] | None,
        sample_weight: ArrayLike | None,
        groups: ArrayLike | None,
    ) -> _Self:
        weights, owners = problem_parts(bags, y, sample_weight, groups)
        if weights is not None and (weights == 0).any():
            # A bag that counts for nothing is no part of the problem.
            some = np.flatnonzero(weights)
            bags, y, weights = bags[some], y[some], weights[some]
            owners = None if owners is None else [owners[i] for i in some]
        inner = inner_folds(self.inner, len(bags), owners)
        self._keep(_native.fit(bags._native, y, classes, owners, weights, inner, self._learning(), self._around()))
        self._warn(stacklevel=4)
        return self

    def _keep(self, model: _native.Model) -> None:
        header = json.loads(model.header())
        self.model_ = model
        self.n_features_in_ = len(header["features"])
        names = [f["name"] for f in header["features"]]
        if names != [f"f{i}" for i in range(1, len(names) + 1)]:
            self.feature_names_in_ = np.asarray(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _warn(self, stacklevel: int) -> None:
        """Says what was not as it should be when the model was learned; `stacklevel` reaches the caller's caller."""
        header = json.loads(self.model_.header())
        training, machines = header["training"], len(header["tasks"])
        who = f"machines of {type(self).__name__}"
        if training["not_converged"] > 0:
            steps = "iterations" in header["parameters"]
            advice = "more steps are iterations=N" if steps else "try another scaling or a smaller c"
            found = f"{training['not_converged']} of {machines} {who} reached the iteration limit; {advice}"
            warnings.warn(found, ConvergenceWarning, stacklevel=stacklevel)
        if training["unsettled"] > 0:
            found = (
                f"the choices of {training['unsettled']} of {machines} {who} did not settle: "
                "they came back in a circle or changed to the end"
            )
            warnings.warn(found, ConvergenceWarning, stacklevel=stacklevel)
        if not training["threshold_met"]:
            found = "the threshold's rule could not be met on the training bags; the nearest one was taken"
            warnings.warn(found, UserWarning, stacklevel=stacklevel)

    def _ready(self, bags: BagsLike) -> Bags:
        """Bags laid out as those that were learned from."""
        check_is_fitted(self)
        new = self._bags(bags)
        fitted = getattr(self, "feature_names_in_", None)
        name = type(self).__name__
        if fitted is not None and new.feature_names is not None:
            # Columns are matched by name, in any order, and further ones are left out.
            return new
        if new.n_features != self.n_features_in_:
            raise ValueError(
                f"X has {new.n_features} features, but {name} is expecting {self.n_features_in_} features as input"
            )
        if (fitted is None) == (new.feature_names is None):
            return new
        if fitted is not None:
            warnings.warn(
                f"X does not have valid feature names, but {name} was fitted with feature names", stacklevel=3
            )
        else:
            warnings.warn(f"X has feature names, but {name} was fitted without feature names", stacklevel=3)
        features = json.loads(self.model_.header())["features"]
        kinds = {f["name"]: f["kind"] for f in features}
        categories = {n: k["categorical"]["values"] for n, k in kinds.items() if isinstance(k, dict)}
        return Bags._of(new._native.named(list(kinds), categories))

    def _answer(self, bags: BagsLike) -> Any:
        new = self._ready(bags)
        return self.model_.answer(new._native, self._around())

    def explain(self, bags: BagsLike) -> list[Explanation]:
        """Say which instances decided, exactly.

        Parameters
        ----------
        bags : list of 2-D arrays, Bags, (X, bag_ids) or data frame
            Bags to explain.

        Returns
        -------
        list of Explanation
            One per bag and machine, bag after bag; of two classes (and for real values) there is one machine.
        """
        new = self._ready(bags)
        machines = self.model_.machines()
        reasons = self.model_.explain(new._native, self._around())
        return [
            Explanation(bag, machine, bias, parts, chosen)
            for bag, own in zip(new.ids, reasons, strict=True)
            for machine, (bias, parts, chosen) in zip(machines, own, strict=True)
        ]

    def familiar(self, bags: BagsLike) -> NDArray[np.bool_]:
        """For each bag, whether the model is within its depth.

        A bag is unfamiliar if no training bag resembles it, or if many of its values lie outside the range of the
        training bags; what is predicted for it is a guess.

        Parameters
        ----------
        bags : list of 2-D arrays, Bags, (X, bag_ids) or data frame
            Bags to look at.

        Returns
        -------
        ndarray of shape (n_bags,)
        """
        found: NDArray[np.bool_] = self._answer(bags)[3]
        return found

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, which the command line reads too.

        Parameters
        ----------
        path : str or path
            The file, ``NAME.bagwise`` by custom. It holds numbers only, nothing that could be executed.
        """
        check_is_fitted(self)
        self.model_.save(path)

    @classmethod
    def load(cls: type[_Self], path: str | os.PathLike[str]) -> _Self:
        """Read a model that :meth:`save` or ``bagwise fit`` wrote.

        Parameters
        ----------
        path : str or path
            The file.

        Returns
        -------
        estimator
            Fitted, with the parameters that the file tells.
        """
        model = _native.Model.load(path)
        header = json.loads(model.header())
        regression = not header["classes"]
        if header["method"] != cls._method or regression != issubclass(cls, BagRegressor):
            kind = "numbers" if regression else "classes"
            raise ValueError(
                f"{os.fspath(path)} is a model of {header['method']} that predicts {kind}; "
                "bagwise.load finds the right class"
            )
        return cls._of(model)

    @classmethod
    def _of(cls: type[_Self], model: _native.Model, **params: Any) -> _Self:
        header = json.loads(model.header())
        own = {table: name for name, table in cls._parameters.items()}
        point = {own[table]: value for table, value in header["parameters"].items()}
        # A model that fills gaps goes on doing so.
        params.setdefault("missing", "median" if header["transform"]["medians"] else "refuse")
        new = cls(**point, **params)
        new._keep(model)
        if header["classes"]:
            new.classes_ = labels_of(header["classes"])
        return new


class FeatureMap(TransformerMixin, BagEstimator):  # type: ignore[misc]
    """A method whose kernel is the inner product of sparse vectors, one per bag; use its subclasses."""

    def transform(self, bags: BagsLike) -> Any:
        """The vector of each bag, of length 1: inner products of these are the kernel.

        Parameters
        ----------
        bags : list of 2-D arrays, Bags, (X, bag_ids) or data frame
            Bags to map.

        Returns
        -------
        scipy.sparse.csr_array of shape (n_bags, n_columns)
        """
        new = self._ready(bags)
        return sparse_of(self.model_.map(new._native, self._around()))


class BagClassifier(ClassifierMixin, BagEstimator):  # type: ignore[misc]
    """A method that tells classes apart; use its subclasses."""

    multiclass: str | None
    class_weight: Any
    decision_threshold: float | str | None

    classes_: NDArray[Any]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = self._method == "majority"
        return tags

    def _learning(self, **further: Any) -> dict[str, Any]:
        return super()._learning(
            multiclass=self.multiclass,
            class_weight=self.class_weight,
            decision_threshold=self.decision_threshold,
            **further,
        )

    def fit(
        self: _Self,
        bags: BagsLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> _Self:
        """Learn from labelled bags.

        Parameters
        ----------
        bags : list of 2-D arrays, Bags, (X, bag_ids) or data frame
            Bags to learn from; see :class:`bagwise.Bags`.
        y : array-like of shape (n_bags,)
            The class of each bag.
        sample_weight : array-like of shape (n_bags,), optional
            What an error on each bag costs, relative to the others.
        groups : array-like of shape (n_bags,), optional
            Groups that are kept whole in the folds that probabilities and thresholds are learned from.

        Returns
        -------
        self
        """
        ready = self._bags(bags)
        codes, classes = encoded(y, type(self).__name__)
        self.classes_ = classes
        if isinstance(self.class_weight, Mapping):
            sample_weight = weighed(self.class_weight, classes, codes, sample_weight)
        return self._fit(ready, codes, class_names(classes), sample_weight, groups)

    def predict(self, bags: BagsLike) -> NDArray[Any]:
        """The class of each bag.

        Parameters
        ----------
        bags : list of 2-D arrays, Bags, (X, bag_ids) or data frame
            Bags to answer for.

        Returns
        -------
        ndarray of shape (n_bags,)
        """
        codes = self._answer(bags)[1]
        found: NDArray[Any] = self.classes_[codes]
        return found

    def predict_proba(self, bags: BagsLike) -> NDArray[np.float64]:
        """The probability of each class, calibrated on inner folds of the training bags.

        Parameters
        ----------
        bags : list of 2-D arrays, Bags, (X, bag_ids) or data frame
            Bags to answer for.

        Returns
        -------
        ndarray of shape (n_bags, n_classes)
            Columns in the order of `classes_`.
        """
        found: NDArray[np.float64] = self._answer(bags)[2]
        return found

    def decision_function(self, bags: BagsLike) -> NDArray[np.float64]:
        """Decision values: above 0 the second of two classes; the larger the likelier.

        Parameters
        ----------
        bags : list of 2-D arrays, Bags, (X, bag_ids) or data frame
            Bags to answer for.

        Returns
        -------
        ndarray of shape (n_bags,) or (n_bags, n_classes)
            One value per bag for two classes, else one per class.
        """
        scores: NDArray[np.float64] = self._answer(bags)[0]
        return scores[:, 0] if scores.shape[1] == 1 else scores


class BagRegressor(RegressorMixin, BagEstimator):  # type: ignore[misc]
    """A method that predicts numbers; use its subclasses."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = self._method == "majority"
        return tags

    def fit(
        self: _Self,
        bags: BagsLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> _Self:
        """Learn from bags with values.

        Parameters
        ----------
        bags : list of 2-D arrays, Bags, (X, bag_ids) or data frame
            Bags to learn from; see :class:`bagwise.Bags`.
        y : array-like of shape (n_bags,)
            The value of each bag.
        sample_weight : array-like of shape (n_bags,), optional
            What an error on each bag costs, relative to the others.
        groups : array-like of shape (n_bags,), optional
            Groups that are kept whole in inner folds.

        Returns
        -------
        self
        """
        ready = self._bags(bags)
        return self._fit(ready, numbers_of(y, type(self).__name__), None, sample_weight, groups)

    def predict(self, bags: BagsLike) -> NDArray[np.float64]:
        """The value of each bag.

        Parameters
        ----------
        bags : list of 2-D arrays, Bags, (X, bag_ids) or data frame
            Bags to answer for.

        Returns
        -------
        ndarray of shape (n_bags,)
        """
        found: NDArray[np.float64] = self._answer(bags)[0][:, 0]
        return found


def encoded(y: ArrayLike, who: str) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Codes and classes of labels."""
    if y is None:
        raise ValueError(f"{who} requires y to be passed, but the target y is None")
    given = column_or_1d(y, warn=True)
    check_classification_targets(given)
    if given.dtype.kind == "f" and not np.isfinite(given).all():
        raise ValueError("Input y contains NaN or infinity; give every bag a label")
    classes, codes = np.unique(given, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"{who} needs at least two classes; all bags are of one class, {classes.tolist()}")
    return codes.reshape(-1).astype(np.float64), classes


def weighed(
    class_weight: Mapping[Any, float],
    classes: NDArray[Any],
    codes: NDArray[np.float64],
    sample_weight: ArrayLike | None,
) -> NDArray[np.float64]:
    """Weights of bags times those of their classes, 1 for a class that is not named."""
    own = np.asarray([float(class_weight.get(c, 1.0)) for c in classes.tolist()])
    weights = own[codes.astype(np.int64)]
    return weights if sample_weight is None else weights * np.asarray(sample_weight, dtype=np.float64)


def class_names(classes: NDArray[Any]) -> list[str]:
    """Classes as text, as a file would have them."""
    whole = classes.dtype.kind == "f" and bool((classes == np.floor(classes)).all())
    return [str(int(c)) if whole else str(c) for c in classes.tolist()]


def numbers_of(y: ArrayLike, who: str) -> NDArray[np.float64]:
    """Real values of bags."""
    if y is None:
        raise ValueError(f"{who} requires y to be passed, but the target y is None")
    values: NDArray[np.float64] = column_or_1d(np.asarray(y), warn=True).astype(np.float64)
    if not np.isfinite(values).all():
        raise ValueError("Input y contains NaN or infinity; give every bag a finite number")
    if len(values) < 2:
        raise ValueError(f"{who} cannot learn from one sample: n_samples = {len(values)}; give at least two bags")
    return values


def problem_parts(
    bags: Bags, y: NDArray[np.float64], sample_weight: ArrayLike | None, groups: ArrayLike | None
) -> tuple[NDArray[np.float64] | None, list[str] | None]:
    """Weights and groups that fit bags and labels."""
    if len(y) != len(bags):
        hint = "; y has one entry per bag, not per instance" if len(y) == bags.n_instances else ""
        raise ValueError(f"{len(y)} labels for {len(bags)} bags{hint}")
    weights = None
    if sample_weight is not None:
        weights = np.asarray(sample_weight, dtype=np.float64)
        if weights.ndim == 0:
            weights = np.full(len(bags), float(weights))
        if weights.ndim != 1:
            raise ValueError(f"Sample weights must be 1D array or scalar, got {weights.ndim}D array")
        if len(weights) != len(bags):
            raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(len(bags),)}!")
        if not np.isfinite(weights).all() or (weights < 0).any() or not (weights > 0).any():
            raise ValueError("sample_weight must be finite, nowhere below 0, and not zero for all: a weight above zero")
    owners = None
    if groups is not None:
        owners = [str(g) for g in np.asarray(groups).tolist()]
        if len(owners) != len(bags):
            raise ValueError(f"{len(owners)} groups for {len(bags)} bags")
    return weights, owners


def inner_folds(wanted: Any, bags: int, groups: list[str] | None) -> int:
    """As many inner folds as wanted, or as there are bags or groups to deal out."""
    if not isinstance(wanted, (int, np.integer)) or wanted < 2:
        raise ValueError(f"inner is {wanted!r}; give a whole number of at least 2")
    units = bags if groups is None else len(set(groups))
    return max(2, min(int(wanted), units))
