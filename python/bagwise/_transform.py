"""scikit-learn pipeline steps for bags: transformers of instances, vectors of bags, feature importance."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.metrics import check_scoring
from sklearn.utils import Bunch, check_random_state
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted

from bagwise._bags import Bags, BagsLike, _shortly, as_bags
from bagwise._cautions import refuse_other_order, warn_of_rows_in
from bagwise._inputs import Rows, rows_of
from bagwise._options import MEMORY, outside
from bagwise._relatives import forgetful, remember, warn_of_relatives
from bagwise._targets import aligned

_PerInstance = TypeVar("_PerInstance", bound="PerInstance")
_BagSummary = TypeVar("_BagSummary", bound="BagSummary")
_BagMap = TypeVar("_BagMap", bound="BagMap")

#: What a bag's instances can be summed up by, and how over a matrix of one bag.
_STATISTICS: dict[str, Callable[[NDArray[Any]], Any]] = {
    "mean": lambda bag: bag.mean(axis=0),
    "min": lambda bag: bag.min(axis=0),
    "max": lambda bag: bag.max(axis=0),
    "std": lambda bag: bag.std(axis=0),
    "sum": lambda bag: bag.sum(axis=0),
    "median": lambda bag: np.median(bag, axis=0),
}


class PerInstance(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[misc,call-arg]
    """Applies a scikit-learn transformer to the instances of bags.

    It is fitted on the instances of the training bags only, all with the same weight. Names, groups and kept columns
    of the bags do not change. Columns of frames are matched by name. Categories are passed on as text, for
    ``OneHotEncoder`` and the like; this needs pandas.

    Parameters
    ----------
    transformer : transformer
        The transformer, such as ``StandardScaler()`` or ``PCA(50)``. It is cloned, not changed.

    Attributes
    ----------
    transformer_ : transformer
        The fitted transformer.

    Examples
    --------
    >>> from sklearn.decomposition import PCA
    >>> from sklearn.pipeline import make_pipeline
    >>> import bagwise
    >>> from bagwise.datasets import load_musk1
    >>> bags, y = load_musk1()
    >>> bagwise.PerInstance(PCA(5)).fit_transform(bags)
    Bags(92 bags, 476 instances, 5 features)
    >>> model = make_pipeline(bagwise.PerInstance(PCA(5)), bagwise.MIKernelClassifier(scale="none")).fit(bags, y)
    """

    def __init__(self, transformer: Any) -> None:
        self.transformer = transformer

    def fit(self: _PerInstance, bags: BagsLike, y: Any = None) -> _PerInstance:
        """Fit the transformer on all instances, without labels."""
        ready = as_bags(bags, missing=True)
        warn_of_rows_in(ready, y)
        transformer = clone(self.transformer).fit(_named(ready))
        self.transformer_ = transformer
        _keep_features(self, ready)
        return self

    def transform(self, bags: BagsLike) -> Bags:
        """The same bags with transformed instances."""
        check_is_fitted(self)
        ready = as_bags(bags, missing=True, features=getattr(self, "feature_names_in_", None))
        columns = _columns(self, ready)
        given = _named(ready)
        if columns is not None:
            given = given.iloc[:, columns] if hasattr(given, "iloc") else given[:, columns]
        return replaced(ready, self.transformer_.transform(given), self._names())

    def _names(self) -> list[str] | None:
        if not hasattr(self.transformer_, "get_feature_names_out"):
            return None
        names = [str(name) for name in self.transformer_.get_feature_names_out()]
        # What scikit-learn calls features that have no names.
        unnamed = not hasattr(self, "feature_names_in_") and names == [f"x{i}" for i in range(len(names))]
        return None if unnamed else names

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the features of transformed instances."""
        check_is_fitted(self)
        return np.asarray(self.transformer_.get_feature_names_out(input_features), dtype=object)

    def set_output(self: _PerInstance, *, transform: Any = None) -> _PerInstance:
        """Does nothing: bags stay bags, whatever container a pipeline asks for."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "transformer_")


class BagSummary(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """One vector per bag, made of statistics of its instances, for any scikit-learn estimator.

    Parameters
    ----------
    statistics : str or iterable of str, default=("mean", "max")
        Any of mean, min, max, std, sum, median, and size (the number of instances, one column).

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from bagwise import BagSummary
    >>> from bagwise.datasets import load_musk1
    >>> bags, y = load_musk1()
    >>> BagSummary(["mean", "size"]).fit_transform(bags).shape
    (92, 167)
    >>> model = make_pipeline(BagSummary(), StandardScaler(), LogisticRegression()).fit(bags, y)
    """

    def __init__(self, statistics: str | Iterable[str] = ("mean", "max")) -> None:
        self.statistics = statistics

    def __getstate__(self) -> dict[str, Any]:
        return forgetful(super().__getstate__())

    def _wanted(self) -> list[str]:
        wanted = [self.statistics] if isinstance(self.statistics, str) else list(self.statistics)
        unknown = [name for name in wanted if name not in _STATISTICS and name != "size"]
        if unknown or not wanted:
            known = ", ".join([*_STATISTICS, "size"])
            raise ValueError(f"statistics are {self.statistics!r}; give some of {known}")
        return wanted

    def fit(self: _BagSummary, bags: BagsLike, y: Any = None) -> _BagSummary:
        """Remember the features; nothing is learned."""
        self._wanted()
        ready = _measured(as_bags(bags))
        refuse_other_order(ready, y)
        warn_of_rows_in(ready, y)
        _keep_features(self, ready)
        remember(self, ready)
        self._features = ready._native.features
        return self

    def transform(self, bags: BagsLike) -> Any:
        """One row per bag, statistic by statistic: an array, or what ``set_output`` asks for."""
        check_is_fitted(self, "n_features_in_")
        ready = _measured(as_bags(bags, features=getattr(self, "feature_names_in_", None)))
        warn_of_relatives(self, ready)
        order = _columns(self, ready)
        columns = []
        for name in self._wanted():
            if name == "size":
                columns.append(ready.sizes().astype(np.float64)[:, None])
            else:
                found = np.stack([_STATISTICS[name](bag.astype(np.float64, copy=False)) for bag in ready])
                columns.append(found if order is None else found[:, order])
        vectors = np.concatenate(columns, axis=1)
        if _get_output_config("transform", self)["dense"] == "pandas":
            import pandas as pd

            # scikit-learn would give it the index of a frame of instances. Bags without names are counted, as rows are elsewhere.
            index = ready.ids if ready._has_ids else None
            return pd.DataFrame(vectors, index=index, columns=self.get_feature_names_out())
        return vectors

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names such as ``mean_x``."""
        check_is_fitted(self, "n_features_in_")
        names: list[str] = []
        for statistic in self._wanted():
            names += ["size"] if statistic == "size" else [f"{statistic}_{feature}" for feature in self._features]
        return np.asarray(names, dtype=object)


class BagMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The feature map of a kernel, learned without labels: one sparse row per bag.

    Parameters
    ----------
    method : str, default="isk"
        The method whose feature map to use.
    params : dict, optional
        Parameters of the method; the defaults are used for the others.
    scale, missing, precision, memory, random_state, n_jobs
        As in the estimators.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.svm import LinearSVC
    >>> from bagwise import BagMap
    >>> from bagwise.datasets import load_musk1
    >>> bags, y = load_musk1()
    >>> vectors = BagMap(params={"t": 50}).fit_transform(bags)
    >>> model = make_pipeline(BagMap(params={"t": 50}), LinearSVC()).fit(bags, y)
    """

    def __init__(
        self,
        method: str = "isk",
        *,
        params: dict[str, Any] | None = None,
        scale: str | None = None,
        missing: str = "refuse",
        precision: str = "f64",
        memory: float = MEMORY,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.method = method
        self.params = params
        self.scale = scale
        self.missing = missing
        self.precision = precision
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __getstate__(self) -> dict[str, Any]:
        return forgetful(super().__getstate__())

    def fit(self: _BagMap, bags: BagsLike, y: Any = None) -> _BagMap:
        """Learn the map from the bags alone, without labels."""
        from bagwise._base import FeatureMap
        from bagwise._estimators import ESTIMATORS

        maps = sorted(name for (name, numbers), c in ESTIMATORS.items() if numbers and issubclass(c, FeatureMap))
        if self.method not in maps:
            raise ValueError(f"method is {self.method!r}; {', '.join(maps)} has a feature map")
        around = {n: getattr(self, n) for n in ("scale", "missing", "precision", "memory", "random_state", "n_jobs")}
        # The machine on top of the map is not used; with a small cost it is found at once.
        model = ESTIMATORS[self.method, True](**{"c": 1e-6, **(self.params or {}), **around})
        ready = model._bags(bags)
        refuse_other_order(ready, y)
        warn_of_rows_in(ready, y)
        self.model_ = model.fit(ready, np.arange(len(ready)) % 2)
        remember(self, ready)
        self.n_features_in_ = ready.n_features
        self._n_features_out = self.model_._n_features_out
        return self

    def transform(self, bags: BagsLike) -> Any:
        """The vector of each bag, of length 1; inner products of the vectors are the kernel."""
        check_is_fitted(self)
        # Before the last step of a pipeline, nothing else knows the groups.
        ready = self.model_._bags(bags, getattr(self.model_, "feature_names_in_", None))
        warn_of_relatives(self, ready)
        return self.model_.transform(ready)


def replaced(bags: Bags, matrix: Any, names: list[str] | None) -> Bags:
    """The same bags with other instances."""
    if hasattr(matrix, "columns"):
        names = [str(c) for c in matrix.columns]
    matrix = matrix if sparse.issparse(matrix) else np.asarray(matrix)
    if matrix.ndim != 2 or matrix.shape[0] != bags.n_instances:
        raise ValueError(f"instances of shape {matrix.shape} for {bags.n_instances} instances; give a row for each")
    rows: Rows = rows_of(matrix, None, None, None)
    rows.offsets = bags.offsets
    new = Bags.__new__(Bags)
    new._set(rows, bags.ids if bags._has_ids else None, names, {}, True)
    new._origin = bags._origin
    return new._with(bags.groups, bags.kept)


def _named(bags: Bags) -> Any:
    """Instances for a transformer, with the names of features where there are some and pandas is there.

    Categories are text again: their codes number the values of one frame, and mean something else in the next.
    """
    if bags.feature_names is None or not isinstance(bags.instances, np.ndarray):
        return bags.instances
    try:
        import pandas as pd
    except ImportError:
        if bags.categories:
            raise
        return bags.instances
    frame = pd.DataFrame(bags.instances, columns=bags.feature_names)
    for name, meanings in bags.categories.items():
        values = frame[name].to_numpy()
        codes = np.where(np.isnan(values), -1, values).astype(np.int64)
        frame[name] = pd.Categorical.from_codes(codes, meanings)
    return frame


def _measured(bags: Bags) -> Bags:
    """Bags whose features are all numbers."""
    for name in bags.categories:
        raise ValueError(
            f"column '{name}' contains categories, which have no statistics; encode them first, as in "
            "PerInstance(ColumnTransformer([...])), or leave the column out"
        )
    return bags


def _keep_features(step: Any, bags: Bags) -> None:
    """The attributes that scikit-learn's steps have for what they were fitted on."""
    step.n_features_in_ = bags.n_features
    if bags.feature_names is not None:
        step.feature_names_in_ = np.asarray(bags.feature_names, dtype=object)
    elif hasattr(step, "feature_names_in_"):
        del step.feature_names_in_


def _columns(step: Any, bags: Bags) -> NDArray[np.int64] | None:
    """Where the features that a step was fitted on are in these bags; None if they are as they were."""
    fitted, given, who = getattr(step, "feature_names_in_", None), bags.feature_names, type(step).__name__
    if fitted is not None and given is not None:
        at = {name: i for i, name in enumerate(given)}
        absent = [name for name in fitted if name not in at]
        if absent:
            raise ValueError(
                f"{who} was fitted with a feature '{absent[0]}', which X does not have; it has {_shortly(given)}"
            )
        found = np.asarray([at[name] for name in fitted], dtype=np.int64)
        return None if len(given) == len(fitted) and bool((np.diff(found) == 1).all()) else found
    if bags.n_features != step.n_features_in_:
        raise ValueError(
            f"X has {bags.n_features} features, but {who} is expecting {step.n_features_in_} features as input"
        )
    if fitted is not None:
        warnings.warn(
            f"X does not have valid feature names, but {who} was fitted with feature names", stacklevel=outside()
        )
    return None


def permutation_importance(
    model: Any,
    bags: BagsLike,
    y: ArrayLike,
    *,
    scoring: Any = None,
    n_repeats: int = 5,
    random_state: Any = 0,
) -> Bunch:
    """How much worse a fitted model gets when a feature is shuffled among the instances of all bags.

    scikit-learn's function of this name shuffles the rows of a table, which does not work for bags.

    Parameters
    ----------
    model : estimator
        A fitted estimator, or a pipeline that begins with bags.
    bags : list of 2-D arrays, Bags, (X, bag_ids) or data frame
        Bags to evaluate on, preferably bags that the model was not trained on.
    y : array-like of shape (n_bags,)
        Their labels or values.
    scoring : str or callable, optional
        As in scikit-learn; the estimator's own score if not given.
    n_repeats : int, default=5
        How often each feature is shuffled.
    random_state : int, RandomState instance or None, default=0
        The seed.

    Returns
    -------
    Bunch
        ``importances`` of shape (n_features, n_repeats), ``importances_mean``, ``importances_std`` and
        ``feature_names``.

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=40&features=3&distance=5")
    >>> model = bagwise.MIKernelClassifier().fit(data.bags, data.y)
    >>> bagwise.permutation_importance(model, data.bags, data.y, n_repeats=2).importances.shape
    (3, 2)
    """
    ready = as_bags(bags, missing=True)
    y = aligned(y, ready, "y")
    score = check_scoring(model, scoring=scoring)
    dense = isinstance(ready.instances, np.ndarray)
    matrix = np.array(ready.instances) if dense else ready.instances.toarray()
    random = check_random_state(0 if random_state is None else random_state)
    before = float(score(model, ready, y))
    worse = np.empty((ready.n_features, n_repeats))
    for feature in range(ready.n_features):
        own = matrix[:, feature].copy()
        for turn in range(n_repeats):
            matrix[:, feature] = own[random.permutation(len(own))]
            shuffled = replaced(ready, matrix, ready.feature_names)
            if ready.categories:
                shuffled = shuffled._like(shuffled._native.named(ready._native.features, ready.categories))
            worse[feature, turn] = before - float(score(model, shuffled, y))
        matrix[:, feature] = own
    return Bunch(
        importances=worse,
        importances_mean=worse.mean(axis=1),
        importances_std=worse.std(axis=1),
        feature_names=ready._native.features,
    )
