"""Estimators that choose the method themselves: several of a portfolio together, or the simplest within one standard error of the best."""

from __future__ import annotations

import json
import os
from typing import Any, ClassVar, Literal, TypeVar

from sklearn.utils.validation import check_is_fitted

from bagwise import _native
from bagwise._base import BagClassifier, BagEstimator, BagRegressor, model_from
from bagwise._notes import classes_of, noted
from bagwise._options import MEMORY, impute_of, learning

__all__ = ["ENSEMBLE", "AutoClassifier", "AutoRegressor"]

#: The name of models that several methods make together.
ENSEMBLE = "ensemble"

_Auto = TypeVar("_Auto", bound="_AutoEstimator")


class _AutoEstimator(BagEstimator):
    _method: ClassVar[str] = "auto"
    _parameters: ClassVar[dict[str, str]] = {}

    optimize: str | None
    best: bool

    def _learning(self, **further: Any) -> dict[str, Any]:
        impute = impute_of(self.missing)
        return learning(
            [self._method], {}, optimize=self.optimize, best=self.best, scale=self.scale, impute=impute, **further
        )

    @classmethod
    def load(cls: type[_Auto], path: str | os.PathLike[str]) -> _Auto:
        """Load a model of any method.

        Parameters
        ----------
        path : str or path
            The file.

        Returns
        -------
        estimator
            Fitted, with the parameters stored in the file if this class has written it.
        """
        model = model_from(path)
        regression = not json.loads(model.header())["classes"]
        if regression != issubclass(cls, BagRegressor):
            kind = "numbers" if regression else "classes"
            raise ValueError(f"{os.fspath(path)} predicts {kind}; bagwise.load finds the right class")
        return cls._of(model)

    @classmethod
    def _of(cls: type[_Auto], model: _native.Model) -> _Auto:
        header = json.loads(model.header())
        known = set(cls._get_param_names())
        new = cls(**{name: value for name, value in noted(header).items() if name in known})
        new._keep(model)
        if header["classes"]:
            new.classes_ = classes_of(header)
        return new

    def members(self) -> list[tuple[str, float]]:
        """The methods that decide, and the share of each; one method has the share 1.

        Returns
        -------
        list of (name, share)
            The largest share first.
        """
        check_is_fitted(self)
        header = json.loads(self.model_.header())
        found = header.get("members") or [{"method": header["method"], "share": 1.0}]
        return [(member["method"], float(member["share"])) for member in found]


class AutoClassifier(BagClassifier, _AutoEstimator):
    """Choose a method for the data, with its scaling and parameters, or several that are better together.

    Inner folds compare a portfolio of methods, each with several scalings. The better half goes on with its whole grids. The choice is
    a weighted mean of methods, or the simplest method within one standard error of the best if that is better than the mean by more
    than a standard error on folds that had no part in choosing them. On the command line this is ``auto``.

    Parameters
    ----------
    optimize : str, optional
        The metric that parameters and methods are chosen by, such as ``"roc_auc"``; accuracy if not given.
    best : bool, default=False
        Use the best method, even if a simpler one is within one standard error.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        How several classes become machines; what suits each method if not given.
    class_weight : {"balanced"} or dict, optional
        Give every class the same total cost, however rare; or what an error costs, class by class.
    decision_threshold : float or str, optional
        Where the second of two classes begins, chosen on inner folds: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"``, or a number; 0 if not given.
    inner : int, default=5
        Folds of the training bags by which everything is chosen.
    probability : bool, default=True
        Whether the model has probabilities.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features for all methods; part of the choice if not given.
    missing : {"refuse", "median"}, default="refuse"
        What happens to values that are NaN: an error, or the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Bytes that Grams, caches and copies may occupy together.
    random_state : int, RandomState instance or None, default=0
        The seed of everything random: the same seed gives the same numbers on any number of threads.
    n_jobs : int, optional
        Threads: -1 for all cores, -2 for all but one. If not given, all that joblib leaves to this process.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, ascending.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        What was learned.

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.AutoClassifier().fit(data.bags, data.y)
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    def __init__(
        self,
        *,
        optimize: str | None = None,
        best: bool = False,
        multiclass: Literal["one-vs-one", "one-vs-rest"] | None = None,
        class_weight: Literal["balanced"] | dict[Any, float] | None = None,
        decision_threshold: float | str | None = None,
        inner: int = 5,
        probability: bool = True,
        scale: str | None = None,
        missing: Literal["refuse", "median"] = "refuse",
        precision: Literal["f64", "f32"] = "f64",
        memory: float = MEMORY,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.optimize = optimize
        self.best = best
        self.multiclass = multiclass
        self.class_weight = class_weight
        self.decision_threshold = decision_threshold
        self.inner = inner
        self.probability = probability
        self.scale = scale
        self.missing = missing
        self.precision = precision
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs


class AutoRegressor(BagRegressor, _AutoEstimator):
    """Choose a method that predicts numbers, with its scaling and parameters, or several that are better together.

    Inner folds compare a portfolio of methods, each with several scalings. The better half goes on with its whole grids. The choice is
    a weighted mean of methods, or the simplest method within one standard error of the best if that is better than the mean by more
    than a standard error on folds that had no part in choosing them. On the command line this is ``auto``.

    Parameters
    ----------
    optimize : str, optional
        The metric that parameters and methods are chosen by; the root mean squared error if not given.
    best : bool, default=False
        Use the best method, even if a simpler one is within one standard error.
    inner : int, default=5
        Folds of the training bags by which everything is chosen.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features for all methods; part of the choice if not given.
    missing : {"refuse", "median"}, default="refuse"
        What happens to values that are NaN: an error, or the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Bytes that Grams, caches and copies may occupy together.
    random_state : int, RandomState instance or None, default=0
        The seed of everything random: the same seed gives the same numbers on any number of threads.
    n_jobs : int, optional
        Threads: -1 for all cores, -2 for all but one. If not given, all that joblib leaves to this process.

    Attributes
    ----------
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        What was learned.

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.AutoRegressor().fit(data.bags, data.bags.sizes())
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    def __init__(
        self,
        *,
        optimize: str | None = None,
        best: bool = False,
        inner: int = 5,
        scale: str | None = None,
        missing: Literal["refuse", "median"] = "refuse",
        precision: Literal["f64", "f32"] = "f64",
        memory: float = MEMORY,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.optimize = optimize
        self.best = best
        self.inner = inner
        self.scale = scale
        self.missing = missing
        self.precision = precision
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs
