"""The base classes of all estimators, which are generated from the method registry (``_estimators.py``)."""

from __future__ import annotations

import errno
import json
import os
import warnings
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    RegressorMixin,
    TransformerMixin,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from bagwise import _native
from bagwise._answers import Explanations, Predictions
from bagwise._bags import Bags, BagsLike, as_bags
from bagwise._cautions import warn_of_features, warn_of_rows
from bagwise._explaining import Explaining
from bagwise._inputs import sparse_of
from bagwise._notes import classes_of, named_of, note_of, params_of
from bagwise._options import around, check_names, folds_to_keep, impute_of, learning, outside, text_of
from bagwise._relatives import forgetful, remember, warn_of_relatives
from bagwise._targets import (
    aligned,
    class_names,
    encoded,
    inner_folds,
    numbers_of,
    problem_parts,
    refuse_answer,
    weighed,
)

_Self = TypeVar("_Self", bound="BagEstimator")
_Classifier = TypeVar("_Classifier", bound="BagClassifier")
_Function = TypeVar("_Function", bound=Callable[..., Any])

#: Makes a method that is there only where probabilities are.
_with_probabilities: Callable[[_Function], _Function] = available_if(lambda self: self._gives_probabilities())


def model_from(path: str | os.PathLike[str]) -> _native.Model:
    """The model in a file; an OSError if the file is none."""
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, "it is a folder; name a file", os.fspath(path))
    return _native.Model.load(path)


def _may_be_replaced(path: str | os.PathLike[str]) -> bool:
    """Whether there is nothing to lose at a path but a model, by the rule of the command line (`replace.rs`)."""
    # There is nothing to lose in a pipe, a device or an empty file.
    if not os.path.isfile(path) or os.path.getsize(path) == 0:
        return True
    with open(path, "rb") as file:
        # Eight bytes of length stand before.
        return file.read(64)[8:].startswith(b'{"__metadata__":{"bagwise":')


def _decisions(scores: NDArray[np.float64], codes: NDArray[np.int64]) -> NDArray[np.float64]:
    """One decision value per bag, or one per class with that of the predicted class the largest.

    Where pairs of classes vote, several may have as many votes; the first of them is predicted, whatever the values say.
    """
    if scores.shape[1] == 1:
        return scores[:, 0]
    tied = np.flatnonzero(scores.argmax(axis=1) != codes)
    largest = scores[tied].argmax(axis=1)
    scores[tied, largest], scores[tied, codes[tied]] = scores[tied, codes[tied]], scores[tied, largest]
    return scores


class BagEstimator(Explaining, BaseEstimator):  # type: ignore[misc]
    """A method of the registry as a scikit-learn estimator; use its subclasses."""

    #: The method's name in the registry.
    _method: ClassVar[str]
    #: Its parameters: the name here, and in the registry's table.
    _parameters: ClassVar[dict[str, str]]

    # Parameters that every estimator has; each class sets them.
    scale: str | None
    missing: str
    precision: str
    memory: float
    random_state: Any
    n_jobs: int | None

    model_: _native.Model
    n_features_in_: int

    def __new__(cls: type[_Self], *args: Any, **params: Any) -> _Self:
        check_names(cls.__name__, params, cls._get_param_names())
        found: _Self = super().__new__(cls)
        return found

    def __getstate__(self) -> dict[str, Any]:
        """The state with the model as bytes, which every way of saving understands (pickle, joblib, skops)."""
        state = forgetful(super().__getstate__())
        if "model_" in state:
            state["model_"] = state["model_"].to_bytes()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if isinstance(state.get("model_"), bytes):
            state = {**state, "model_": _native.Model.from_bytes(state["model_"])}
        super().__setstate__(state)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "median"
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

    def _around(self) -> dict[str, Any]:
        return around(self.random_state, self.n_jobs, self.memory, self.precision)

    def _point(self) -> dict[str, str]:
        for name in self._parameters:
            value = getattr(self, name)
            if isinstance(value, (list, tuple, np.ndarray)):
                raise ValueError(
                    f"{name} is {value!r}; an estimator takes one value: choose among several with GridSearchCV or bagwise.fit"
                )
        return {own: text_of(getattr(self, name)) for name, own in self._parameters.items()}

    def _learning(self, **further: Any) -> dict[str, Any]:
        impute = impute_of(self.missing)
        return learning([self._method], self._point(), fixed=True, scale=self.scale, impute=impute, **further)

    def _bags(self, bags: BagsLike, features: NDArray[Any] | None = None) -> Bags:
        return as_bags(bags, missing=impute_of(self.missing), features=features, borrow=True)

    def _learn(
        self,
        bags: Bags,
        y: NDArray[np.float64],
        classes: NDArray[Any] | None,
        sample_weight: ArrayLike | None,
        groups: ArrayLike | None,
        conformal: Any = False,
    ) -> _native.Model:
        """A model; nothing of `self` changes, so that a failure leaves it as it was."""
        weights, owners = problem_parts(bags, y, sample_weight, groups)
        if weights is not None and (weights == 0).any():
            # A bag that counts for nothing is no part of the problem.
            some = np.flatnonzero(weights)
            bags, y, weights = bags[some], y[some], weights[some]
            owners = None if owners is None else [owners[i] for i in some]
        inner = inner_folds(getattr(self, "inner", 2), len(bags), owners)
        surroundings = self._around()
        params, named = self.get_params(deep=False), bags.feature_names is not None
        note = note_of(params, classes, named, surroundings["seed"], auto=self._method == "auto")
        names = None if classes is None else class_names(classes)
        warn_of_rows(bags, y)
        warn_of_features(bags, y, names, surroundings)
        return _native.fit(
            bags._native,
            y,
            names,
            owners,
            weights,
            inner,
            self._learning(conformal=folds_to_keep(conformal)),
            surroundings,
            json.dumps(note),
        )

    def _keep(self, model: _native.Model) -> None:
        header = json.loads(model.header())
        self.model_ = model
        self.n_features_in_ = len(header["features"])
        for name, value in {
            "feature_names_in_": np.asarray([f["name"] for f in header["features"]], dtype=object)
            if named_of(header)
            else None,
            "n_iter_": header["training"].get("rounds"),
        }.items():
            if value is not None:
                setattr(self, name, value)
            elif hasattr(self, name):
                delattr(self, name)

    def _warn(self) -> None:
        """Warns about problems in training."""
        header = json.loads(self.model_.header())
        training, machines = header["training"], len(header["tasks"])
        who = f"machines of {type(self).__name__}"
        if training["not_converged"] > 0:
            steps = "iterations" in header["parameters"]
            advice = "increase it with iterations=N" if steps else "try another scaling or a smaller c"
            found = f"{training['not_converged']} of {machines} {who} reached the iteration limit; {advice}"
            warnings.warn(found, ConvergenceWarning, stacklevel=outside())
        if training["unsettled"] > 0:
            found = (
                f"the chosen instances of {training['unsettled']} of {machines} {who} did not settle: "
                "they cycle, or still changed in the last round"
            )
            warnings.warn(found, ConvergenceWarning, stacklevel=outside())
        if not training["threshold_met"]:
            found = "no threshold satisfies the rule on the training bags; using the closest one"
            warnings.warn(found, UserWarning, stacklevel=outside())

    def _ready(self, bags: BagsLike, *, predicted: bool = True) -> Bags:
        """Bags laid out as those that were learned from; of relatives it warns only if these are `predicted`."""
        check_is_fitted(self)
        fitted = getattr(self, "feature_names_in_", None)
        new = self._bags(bags, fitted)
        if predicted:
            warn_of_relatives(self, new)
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
        features = json.loads(self.model_.header())["features"]
        kinds = {f["name"]: f["kind"] for f in features}
        if fitted is not None:
            found = f"X does not have valid feature names, but {name} was fitted with feature names"
        elif new.feature_names is not None and set(new.feature_names) == set(kinds):
            # A file that calls its columns f1, f2, …, perhaps in another order.
            return new
        else:
            found = f"X has feature names, but {name} was fitted without feature names"
        warnings.warn(found, stacklevel=outside())
        categories = {n: k["categorical"]["values"] for n, k in kinds.items() if isinstance(k, dict)}
        return new._like(new._native.named(list(kinds), categories))

    def _answer(self, bags: BagsLike, *, predicted: bool = True) -> Any:
        new = self._ready(bags, predicted=predicted)
        return self.model_.answer(new._native, self._around())

    def predict(self, bags: BagsLike) -> NDArray[Any]:
        """The class or the value of each bag."""
        raise NotImplementedError

    def predictions(self, bags: BagsLike) -> Predictions:
        """Labels, decision values, probabilities and familiarity of each bag in one call.

        Parameters
        ----------
        bags : list of 2-D arrays, Bags, (X, bag_ids) or data frame
            Bags to predict.

        Returns
        -------
        Predictions
            Labels (or values), decision values, probabilities, and whether bags are familiar; ``to_frame()`` returns
            a table with one row per bag.
        """
        new = self._ready(bags)
        scores, codes, probabilities, familiar = self.model_.answer(new._native, self._around())
        classes = getattr(self, "classes_", None)
        told = classes is not None and not np.isnan(probabilities).any()
        return Predictions(
            new.ids,
            scores[:, 0] if classes is None else classes[codes],
            _decisions(scores, codes),
            probabilities if told else None,
            familiar,
            classes,
        )

    def card(self) -> dict[str, Any]:
        """The model card, like ``bagwise show``: data, method, parameters, estimate, threshold, columns, versions.

        Returns
        -------
        dict
        """
        check_is_fitted(self)
        header = json.loads(self.model_.header())
        training = header["training"]
        return {
            "method": header["method"],
            "parameters": header["parameters"],
            "scaling": header["transform"]["scale"],
            "classes": header["classes"],
            "data": {
                name: training.get(name) for name in ("data", "bags", "instances", "groups", "class_bags", "range")
            },
            "estimate": {
                "metric": training["chosen_by"],
                "value": training["inner_value"],
                "optimistic": training.get("points", 0) > 1,
                "nested_value": training.get("nested_value"),
            },
            "threshold": header["threshold"],
            "columns": [feature["name"] for feature in header["features"]],
            "reading": header.get("reading"),
            "conformal_folds": len((header.get("conformal") or {}).get("folds", [])),
            "seed": training["seed"],
            "version": header["version"],
            "format": header["format"],
        }

    def familiar(self, bags: BagsLike) -> NDArray[np.bool_]:
        """Whether each bag resembles the training bags.

        A bag is unfamiliar if no training bag resembles it, or if many of its values lie outside the range of the
        training bags. Its prediction is a guess.

        Parameters
        ----------
        bags : list of 2-D arrays, Bags, (X, bag_ids) or data frame
            Bags to check.

        Returns
        -------
        ndarray of shape (n_bags,)
        """
        found: NDArray[np.bool_] = self._answer(bags, predicted=False)[3]
        return found

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the model to a file that the command line can also read.

        Parameters
        ----------
        path : str or path
            The file, usually ``NAME.bagwise``. It contains numbers and no executable code. A model that is there is replaced.
        overwrite : bool, default=False
            Also replace a file that is not a model.
        """
        check_is_fitted(self)
        header = json.loads(self.model_.header())
        if header["classes"] and (header.get("note") or {}).get("classes", True) is None:
            kind = type(self.classes_.tolist()[0]).__name__
            raise TypeError(f"labels of type {kind} cannot be kept in a model file; learn from text or numbers")
        folder = os.path.dirname(os.fspath(path)) or "."
        if not os.path.isdir(folder):
            raise FileNotFoundError(errno.ENOENT, "the folder does not exist", folder)
        if os.path.isdir(path):
            raise IsADirectoryError(errno.EISDIR, "it is a folder; name a file", os.fspath(path))
        if not overwrite and not _may_be_replaced(path):
            found = "a file of this name exists, and it is not a model; choose another name, or overwrite it with overwrite=True"
            raise FileExistsError(errno.EEXIST, found, os.fspath(path))
        self.model_.save(path)

    @classmethod
    def load(cls: type[_Self], path: str | os.PathLike[str]) -> _Self:
        """Load a model written by :meth:`save` or ``bagwise fit``.

        Parameters
        ----------
        path : str or path
            The file.

        Returns
        -------
        estimator
            Fitted, with the parameters stored in the file.
        """
        model = model_from(path)
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
    def _of(cls: type[_Self], model: _native.Model) -> _Self:
        header = json.loads(model.header())
        own = {table: name for name, table in cls._parameters.items()}
        known = set(cls._get_param_names())
        params = params_of(header, own, not header["classes"])
        new = cls(**{name: value for name, value in params.items() if name in known})
        new._keep(model)
        if header["classes"]:
            new.classes_ = classes_of(header)
        return new


class FeatureMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BagEstimator):  # type: ignore[misc]
    """A method whose kernel is the inner product of sparse vectors, one per bag; use its subclasses."""

    @property
    def _n_features_out(self) -> int:
        features = json.loads(self.model_.header())["features"]
        zeros = Bags(np.zeros((1, len(features))), feature_names=[f["name"] for f in features])
        return self.model_.map(zeros._native, self._around())[0]

    def transform(self, bags: BagsLike) -> Any:
        """The vector of each bag, of length 1; inner products of the vectors are the kernel.

        Parameters
        ----------
        bags : list of 2-D arrays, Bags, (X, bag_ids) or data frame
            Bags to map.

        Returns
        -------
        scipy.sparse.csr_array of shape (n_bags, n_columns)
        """
        new = self._ready(bags, predicted=False)
        return sparse_of(self.model_.map(new._native, self._around()))


def _scored(score: Any, bags: Bags, y: ArrayLike, sample_weight: ArrayLike | None) -> float:
    """A score of scikit-learn's, with labels and weights in the order of the bags."""
    y, sample_weight = aligned(y, bags, "y"), aligned(sample_weight, bags, "sample_weight")
    # `_ready` warned of bags in a split already.
    bags = bags._like(bags._native)
    bags._origin = None
    return float(score(bags, y, sample_weight))


class BagClassifier(ClassifierMixin, BagEstimator):  # type: ignore[misc]
    """A method that predicts classes; use its subclasses."""

    multiclass: str | None
    class_weight: Any
    decision_threshold: float | str | None
    inner: int
    probability: bool

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
            probability=self.probability,
            **further,
        )

    def fit(
        self: _Classifier,
        bags: BagsLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        *,
        conformal: bool | int = False,
    ) -> _Classifier:
        """Train on labelled bags.

        Parameters
        ----------
        bags : list of 2-D arrays, Bags, (X, bag_ids) or data frame
            Training bags; see :class:`bagwise.Bags`.
        y : array-like of shape (n_bags,)
            The class of each bag.
        sample_weight : array-like of shape (n_bags,), optional
            The relative cost of an error on each bag.
        groups : array-like of shape (n_bags,), optional
            Groups that are not split between the folds used for probabilities and thresholds.
        conformal : bool or int, default=False
            Also keep the models of ten folds (or of this many) for :meth:`predict_set`; training takes that many times longer.

        Returns
        -------
        self
        """
        ready = self._bags(bags)
        codes, classes = encoded(aligned(y, ready, "y"), type(self).__name__)
        refuse_answer(ready, codes, classes)
        sample_weight = aligned(sample_weight, ready, "sample_weight")
        if isinstance(self.class_weight, Mapping):
            sample_weight = weighed(self.class_weight, classes, codes, sample_weight)
        owners = aligned(groups, ready, "groups")
        self._keep(self._learn(ready, codes, classes, sample_weight, owners, conformal))
        self.classes_ = classes
        remember(self, ready, owners)
        self._warn()
        return self

    def predict(self, bags: BagsLike) -> NDArray[Any]:
        """The class of each bag.

        Parameters
        ----------
        bags : list of 2-D arrays, Bags, (X, bag_ids) or data frame
            Bags to predict.

        Returns
        -------
        ndarray of shape (n_bags,)
        """
        codes = self._answer(bags)[1]
        found: NDArray[Any] = self.classes_[codes]
        return found

    def score(self, bags: BagsLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """The (weighted) accuracy of the predictions.

        Parameters
        ----------
        bags : list of 2-D arrays, Bags, (X, bag_ids) or data frame
            Bags to predict.
        y : array-like of shape (n_bags,)
            Their classes.
        sample_weight : array-like of shape (n_bags,), optional
            The weight of each bag.
        """
        return _scored(super().score, self._ready(bags), y, sample_weight)

    @_with_probabilities
    def predict_proba(self, bags: BagsLike) -> NDArray[np.float64]:
        """The probability of each class, calibrated on inner folds of the training bags.

        Parameters
        ----------
        bags : list of 2-D arrays, Bags, (X, bag_ids) or data frame
            Bags to predict.

        Returns
        -------
        ndarray of shape (n_bags, n_classes)
            Columns in the order of `classes_`.
        """
        found: NDArray[np.float64] = self._answer(bags)[2]
        if np.isnan(found).any():
            raise AttributeError("the model was trained without probabilities; train it with probability=True")
        return found

    def predict_set(self, bags: BagsLike, coverage: float = 0.9, *, per_class: bool = False) -> NDArray[np.bool_]:
        """The plausible classes of each bag, with a chosen coverage (conformal prediction by CV+).

        On average over data sets, the set contains the class of about this fraction of new bags. The proven fraction is
        1 - 2 alpha, where alpha is one minus the coverage. If the training bags had groups, the coverage refers to bags of new
        groups. An empty set means that no class fits.

        Parameters
        ----------
        bags : list of 2-D arrays, Bags, (X, bag_ids) or data frame
            Bags to predict.
        coverage : float, default=0.9
            The fraction of new bags whose class should be in the set.
        per_class : bool, default=False
            Hold the coverage in each class, however rare.

        Returns
        -------
        ndarray of bool of shape (n_bags, n_classes)
            Columns in the order of `classes_`.
        """
        new = self._ready(bags)
        return self.model_.sets(new._native, float(coverage), bool(per_class), self._around())

    def _gives_probabilities(self) -> bool:
        if not self.probability:
            raise AttributeError("there are no probabilities with probability=False")
        return True

    def decision_function(self, bags: BagsLike) -> NDArray[np.float64]:
        """Decision values: with two classes, values above 0 mean the second class.

        Parameters
        ----------
        bags : list of 2-D arrays, Bags, (X, bag_ids) or data frame
            Bags to predict.

        Returns
        -------
        ndarray of shape (n_bags,) or (n_bags, n_classes)
            One value per bag for two classes, otherwise one per class.
        """
        scores, codes = self._answer(bags)[:2]
        return _decisions(scores, codes)

    def class_support(self, bags: BagsLike) -> NDArray[np.float64]:
        """The sum of the outputs of all binary models in favour of each class: what :meth:`explain` explains.

        With two classes the columns are ``-f`` and ``f``, where ``f`` is the :meth:`decision_function`. If one binary model stands for
        each of several classes, this is the decision function. If pairs of classes vote, the decision function counts votes, to which
        it adds less than half a vote that grows with the support.

        Parameters
        ----------
        bags : list of 2-D arrays, Bags, (X, bag_ids) or data frame
            Bags to predict.

        Returns
        -------
        ndarray of shape (n_bags, n_classes)
            Columns in the order of `classes_`.
        """
        outputs = self.decision_function_machines(bags)
        support = np.zeros((len(outputs), len(self.classes_)))
        for output, (plus, minus) in zip(outputs.T, self._sides(), strict=True):
            support[:, plus] += output
            if minus is not None:
                support[:, minus] -= output
        return support


class BagRegressor(RegressorMixin, BagEstimator):  # type: ignore[misc]
    """A method that predicts numbers; use its subclasses."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = self._method == "majority"
        return tags

    def _learning(self, **further: Any) -> dict[str, Any]:
        # Inner folds would have nothing to tell: there are no probabilities and no threshold.
        return super()._learning(probability=False, **further)

    def fit(
        self: _Self,
        bags: BagsLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        *,
        conformal: bool | int = False,
    ) -> _Self:
        """Train on bags with numeric targets.

        Parameters
        ----------
        bags : list of 2-D arrays, Bags, (X, bag_ids) or data frame
            Training bags; see :class:`bagwise.Bags`.
        y : array-like of shape (n_bags,)
            The value of each bag.
        sample_weight : array-like of shape (n_bags,), optional
            The relative cost of an error on each bag.
        groups : array-like of shape (n_bags,), optional
            Not split between the folds of `conformal`; otherwise ignored, because nothing is chosen by folds here.
            :func:`bagwise.fit` uses groups.
        conformal : bool or int, default=False
            Also keep the models of ten folds (or of this many) for :meth:`predict_interval`; training takes that many times longer.

        Returns
        -------
        self
        """
        ready = self._bags(bags)
        values = numbers_of(aligned(y, ready, "y"), type(self).__name__)
        refuse_answer(ready, values, None)
        weights, owners = aligned(sample_weight, ready, "sample_weight"), aligned(groups, ready, "groups")
        self._keep(self._learn(ready, values, None, weights, owners, conformal))
        remember(self, ready, owners)
        self._warn()
        return self

    def explain(self, bags: BagsLike, *, machines: bool = False) -> Explanations:
        """Show which instances drove each predicted value.

        Parameters
        ----------
        bags : list of 2-D arrays, Bags, (X, bag_ids) or data frame
            Bags to explain.
        machines : bool, default=False
            Makes no difference to the numbers here: a regression has one model.

        Returns
        -------
        Explanations
            A list with one :class:`Explanation` per bag, which adds up to its value from :meth:`predict`. ``to_frame()`` returns a
            table with one row per instance; ``plot()`` draws a figure.
        """
        return super().explain(bags, machines=machines)

    def predict_interval(self, bags: BagsLike, coverage: float = 0.9) -> NDArray[np.float64]:
        """An interval for the value of each bag, with a chosen coverage (conformal prediction by CV+).

        On average over data sets, the interval contains the value of about this fraction of new bags. The proven fraction is
        1 - 2 alpha, where alpha is one minus the coverage. If the training bags had groups, the coverage refers to bags of new
        groups.

        Parameters
        ----------
        bags : list of 2-D arrays, Bags, (X, bag_ids) or data frame
            Bags to predict.
        coverage : float, default=0.9
            The fraction of new bags whose value should be in the interval.

        Returns
        -------
        ndarray of shape (n_bags, 2)
            The lower and the upper end.
        """
        new = self._ready(bags)
        return self.model_.intervals(new._native, float(coverage), self._around())

    def score(self, bags: BagsLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """The coefficient of determination of the predicted values.

        Parameters
        ----------
        bags : list of 2-D arrays, Bags, (X, bag_ids) or data frame
            Bags to predict.
        y : array-like of shape (n_bags,)
            Their values.
        sample_weight : array-like of shape (n_bags,), optional
            The weight of each bag.
        """
        return _scored(super().score, self._ready(bags), y, sample_weight)

    def predict(self, bags: BagsLike) -> NDArray[np.float64]:
        """The value of each bag.

        Parameters
        ----------
        bags : list of 2-D arrays, Bags, (X, bag_ids) or data frame
            Bags to predict.

        Returns
        -------
        ndarray of shape (n_bags,)
        """
        found: NDArray[np.float64] = self._answer(bags)[0][:, 0]
        return found
