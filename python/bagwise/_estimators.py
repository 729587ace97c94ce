"""Estimators, one per method and task. Written by `cargo xtask python` from the registry of methods: do not edit."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from bagwise._base import BagClassifier, BagEstimator, BagRegressor
from bagwise._options import MEMORY

__all__ = [
    "ExplicitMIGraphClassifier",
    "ExplicitMIGraphRegressor",
    "MIKernelClassifier",
    "MIKernelRegressor",
    "MajorityClassifier",
    "MajorityRegressor",
    "MiGraphClassifier",
    "MiGraphRegressor",
    "SimpleMIClassifier",
    "SimpleMIRegressor",
    "WMKSVMClassifier",
    "WMKSVMRegressor",
]


class MajorityClassifier(BagClassifier):
    """Baseline: always the most frequent class, or the mean.

    Answers every bag with the most frequent class of the training bags (or the mean of their values). What does not
    beat it has learned nothing.

    On the command line this is ``majority``. Explanations: additive: all bias.

    Parameters
    ----------
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        How several classes become machines; what suits the method (one-vs-one) if not given.
    class_weight : {"balanced"} or dict, optional
        Give every class the same total cost, however rare; or what an error costs, class by class.
    threshold : float or str, optional
        Where the second of two classes begins, chosen on inner folds: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"``, or a number; 0 if not given.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags; what suits the method (none) if not given.
    missing : {"refuse", "median"}, default="refuse"
        What happens to values that are NaN: an error, or the median of the training bags.
    inner : int, default=5
        Folds of the training bags by which probabilities and thresholds are learned.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Bytes that Grams, caches and copies may occupy together.
    random_state : int, RandomState instance or None, default=0
        The seed of everything random: the same seed gives the same numbers on any number of threads.
    n_jobs : int, optional
        Threads; all cores if not given.

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

    References
    ----------
    baseline

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.MajorityClassifier().fit(data.bags, data.y)
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "majority"
    _parameters: ClassVar[dict[str, str]] = {}

    def __init__(
        self,
        *,
        multiclass: Literal["one-vs-one", "one-vs-rest"] | None = None,
        class_weight: Literal["balanced"] | dict[Any, float] | None = None,
        threshold: float | str | None = None,
        scale: str | None = None,
        missing: Literal["refuse", "median"] = "refuse",
        inner: int = 5,
        precision: Literal["f64", "f32"] = "f64",
        memory: float = MEMORY,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.multiclass = multiclass
        self.class_weight = class_weight
        self.threshold = threshold
        self.scale = scale
        self.missing = missing
        self.inner = inner
        self.precision = precision
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs


class MajorityRegressor(BagRegressor):
    """Baseline: always the most frequent class, or the mean.

    Answers every bag with the most frequent class of the training bags (or the mean of their values). What does not
    beat it has learned nothing.

    On the command line this is ``majority``. Explanations: additive: all bias.

    Parameters
    ----------
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags; what suits the method (none) if not given.
    missing : {"refuse", "median"}, default="refuse"
        What happens to values that are NaN: an error, or the median of the training bags.
    inner : int, default=5
        Folds of the training bags by which probabilities and thresholds are learned.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Bytes that Grams, caches and copies may occupy together.
    random_state : int, RandomState instance or None, default=0
        The seed of everything random: the same seed gives the same numbers on any number of threads.
    n_jobs : int, optional
        Threads; all cores if not given.

    Attributes
    ----------
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        What was learned.

    References
    ----------
    baseline

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.MajorityRegressor().fit(data.bags, data.bags.sizes())
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "majority"
    _parameters: ClassVar[dict[str, str]] = {}

    def __init__(
        self,
        *,
        scale: str | None = None,
        missing: Literal["refuse", "median"] = "refuse",
        inner: int = 5,
        precision: Literal["f64", "f32"] = "f64",
        memory: float = MEMORY,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.scale = scale
        self.missing = missing
        self.inner = inner
        self.precision = precision
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs


class SimpleMIClassifier(BagClassifier):
    """Bag means (or minima and maxima) and an ordinary SVM.

    A bag becomes the mean of its instances, their geometric centre (min + max) / 2, or their minima and maxima side
    by side; a support vector machine with a Gaussian or linear kernel learns on these vectors.

    On the command line this is ``simple-mi``. Explanations: additive for embed=mean kernel=linear, else not at all.

    Parameters
    ----------
    embed : {"mean", "geometric", "minmax"}, default="mean"
        The vector of a bag: mean, geometric (the centre of minima and maxima), or minmax (both side by side). It
        takes mean | geometric | minmax.
    kernel : {"rbf", "linear"}, default="rbf"
        Kernel of the vectors. It takes rbf | linear.
    gamma : float or str, default="1/median"
        Width of the instance kernel exp(-gamma |x - z|^2). It takes a number above 0, or N/median (N over the
        median squared distance of training instances).
    c : float, default=100
        Cost of an error; larger follows the training bags more closely. It takes a number above 0.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        How several classes become machines; what suits the method (one-vs-one) if not given.
    class_weight : {"balanced"} or dict, optional
        Give every class the same total cost, however rare; or what an error costs, class by class.
    threshold : float or str, optional
        Where the second of two classes begins, chosen on inner folds: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"``, or a number; 0 if not given.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags; what suits the method (minmax) if not given.
    missing : {"refuse", "median"}, default="refuse"
        What happens to values that are NaN: an error, or the median of the training bags.
    inner : int, default=5
        Folds of the training bags by which probabilities and thresholds are learned.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Bytes that Grams, caches and copies may occupy together.
    random_state : int, RandomState instance or None, default=0
        The seed of everything random: the same seed gives the same numbers on any number of threads.
    n_jobs : int, optional
        Threads; all cores if not given.

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

    References
    ----------
    Dong: A comparison of multi-instance learning algorithms, thesis, University of Waikato, 2006

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.SimpleMIClassifier().fit(data.bags, data.y)
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "simple-mi"
    _parameters: ClassVar[dict[str, str]] = {"embed": "embed", "kernel": "kernel", "gamma": "gamma", "c": "c"}

    def __init__(
        self,
        *,
        embed: Literal["mean", "geometric", "minmax"] = "mean",
        kernel: Literal["rbf", "linear"] = "rbf",
        gamma: float | str = "1/median",
        c: float = 100,
        multiclass: Literal["one-vs-one", "one-vs-rest"] | None = None,
        class_weight: Literal["balanced"] | dict[Any, float] | None = None,
        threshold: float | str | None = None,
        scale: str | None = None,
        missing: Literal["refuse", "median"] = "refuse",
        inner: int = 5,
        precision: Literal["f64", "f32"] = "f64",
        memory: float = MEMORY,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.embed = embed
        self.kernel = kernel
        self.gamma = gamma
        self.c = c
        self.multiclass = multiclass
        self.class_weight = class_weight
        self.threshold = threshold
        self.scale = scale
        self.missing = missing
        self.inner = inner
        self.precision = precision
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs


class SimpleMIRegressor(BagRegressor):
    """Bag means (or minima and maxima) and an ordinary SVM.

    A bag becomes the mean of its instances, their geometric centre (min + max) / 2, or their minima and maxima side
    by side; a support vector machine with a Gaussian or linear kernel learns on these vectors.

    On the command line this is ``simple-mi``. Explanations: additive for embed=mean kernel=linear, else not at all.

    Parameters
    ----------
    embed : {"mean", "geometric", "minmax"}, default="mean"
        The vector of a bag: mean, geometric (the centre of minima and maxima), or minmax (both side by side). It
        takes mean | geometric | minmax.
    kernel : {"rbf", "linear"}, default="rbf"
        Kernel of the vectors. It takes rbf | linear.
    gamma : float or str, default="1/median"
        Width of the instance kernel exp(-gamma |x - z|^2). It takes a number above 0, or N/median (N over the
        median squared distance of training instances).
    c : float, default=100
        Cost of an error; larger follows the training bags more closely. It takes a number above 0.
    tube : float, default=0.01
        Errors up to this size cost nothing, in units of the target. It takes a number above 0.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags; what suits the method (minmax) if not given.
    missing : {"refuse", "median"}, default="refuse"
        What happens to values that are NaN: an error, or the median of the training bags.
    inner : int, default=5
        Folds of the training bags by which probabilities and thresholds are learned.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Bytes that Grams, caches and copies may occupy together.
    random_state : int, RandomState instance or None, default=0
        The seed of everything random: the same seed gives the same numbers on any number of threads.
    n_jobs : int, optional
        Threads; all cores if not given.

    Attributes
    ----------
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        What was learned.

    References
    ----------
    Dong: A comparison of multi-instance learning algorithms, thesis, University of Waikato, 2006

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.SimpleMIRegressor().fit(data.bags, data.bags.sizes())
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "simple-mi"
    _parameters: ClassVar[dict[str, str]] = {
        "embed": "embed",
        "kernel": "kernel",
        "gamma": "gamma",
        "c": "c",
        "tube": "tube",
    }

    def __init__(
        self,
        *,
        embed: Literal["mean", "geometric", "minmax"] = "mean",
        kernel: Literal["rbf", "linear"] = "rbf",
        gamma: float | str = "1/median",
        c: float = 100,
        tube: float = 0.01,
        scale: str | None = None,
        missing: Literal["refuse", "median"] = "refuse",
        inner: int = 5,
        precision: Literal["f64", "f32"] = "f64",
        memory: float = MEMORY,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.embed = embed
        self.kernel = kernel
        self.gamma = gamma
        self.c = c
        self.tube = tube
        self.scale = scale
        self.missing = missing
        self.inner = inner
        self.precision = precision
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs


class MIKernelClassifier(BagClassifier):
    """Sum of the similarities of all instance pairs.

    K(X, Y) = sum over x in X, z in Y of exp(-gamma |x - z|^2), divided by the numbers of instances (norm=mean) or
    by the self-similarities (norm=sqrt); a support vector machine learns on the bags.

    On the command line this is ``mi-kernel``. Explanations: additive.

    Parameters
    ----------
    gamma : float or str, default="1/median"
        Width of the instance kernel exp(-gamma |x - z|^2). It takes a number above 0, or N/median (N over the
        median squared distance of training instances).
    norm : {"none", "mean", "sqrt"}, default="sqrt"
        Normalisation: none, by the numbers of instances (mean), or by the self-similarities (sqrt). It takes none |
        mean | sqrt.
    c : float, default=100
        Cost of an error; larger follows the training bags more closely. It takes a number above 0.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        How several classes become machines; what suits the method (one-vs-one) if not given.
    class_weight : {"balanced"} or dict, optional
        Give every class the same total cost, however rare; or what an error costs, class by class.
    threshold : float or str, optional
        Where the second of two classes begins, chosen on inner folds: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"``, or a number; 0 if not given.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags; what suits the method (minmax) if not given.
    missing : {"refuse", "median"}, default="refuse"
        What happens to values that are NaN: an error, or the median of the training bags.
    inner : int, default=5
        Folds of the training bags by which probabilities and thresholds are learned.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Bytes that Grams, caches and copies may occupy together.
    random_state : int, RandomState instance or None, default=0
        The seed of everything random: the same seed gives the same numbers on any number of threads.
    n_jobs : int, optional
        Threads; all cores if not given.

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

    References
    ----------
    Gaertner, Flach, Kowalczyk, Smola: Multi-instance kernels, ICML 2002

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.MIKernelClassifier().fit(data.bags, data.y)
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "mi-kernel"
    _parameters: ClassVar[dict[str, str]] = {"gamma": "gamma", "norm": "norm", "c": "c"}

    def __init__(
        self,
        *,
        gamma: float | str = "1/median",
        norm: Literal["none", "mean", "sqrt"] = "sqrt",
        c: float = 100,
        multiclass: Literal["one-vs-one", "one-vs-rest"] | None = None,
        class_weight: Literal["balanced"] | dict[Any, float] | None = None,
        threshold: float | str | None = None,
        scale: str | None = None,
        missing: Literal["refuse", "median"] = "refuse",
        inner: int = 5,
        precision: Literal["f64", "f32"] = "f64",
        memory: float = MEMORY,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.gamma = gamma
        self.norm = norm
        self.c = c
        self.multiclass = multiclass
        self.class_weight = class_weight
        self.threshold = threshold
        self.scale = scale
        self.missing = missing
        self.inner = inner
        self.precision = precision
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs


class MIKernelRegressor(BagRegressor):
    """Sum of the similarities of all instance pairs.

    K(X, Y) = sum over x in X, z in Y of exp(-gamma |x - z|^2), divided by the numbers of instances (norm=mean) or
    by the self-similarities (norm=sqrt); a support vector machine learns on the bags.

    On the command line this is ``mi-kernel``. Explanations: additive.

    Parameters
    ----------
    gamma : float or str, default="1/median"
        Width of the instance kernel exp(-gamma |x - z|^2). It takes a number above 0, or N/median (N over the
        median squared distance of training instances).
    norm : {"none", "mean", "sqrt"}, default="sqrt"
        Normalisation: none, by the numbers of instances (mean), or by the self-similarities (sqrt). It takes none |
        mean | sqrt.
    c : float, default=100
        Cost of an error; larger follows the training bags more closely. It takes a number above 0.
    tube : float, default=0.01
        Errors up to this size cost nothing, in units of the target. It takes a number above 0.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags; what suits the method (minmax) if not given.
    missing : {"refuse", "median"}, default="refuse"
        What happens to values that are NaN: an error, or the median of the training bags.
    inner : int, default=5
        Folds of the training bags by which probabilities and thresholds are learned.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Bytes that Grams, caches and copies may occupy together.
    random_state : int, RandomState instance or None, default=0
        The seed of everything random: the same seed gives the same numbers on any number of threads.
    n_jobs : int, optional
        Threads; all cores if not given.

    Attributes
    ----------
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        What was learned.

    References
    ----------
    Gaertner, Flach, Kowalczyk, Smola: Multi-instance kernels, ICML 2002

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.MIKernelRegressor().fit(data.bags, data.bags.sizes())
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "mi-kernel"
    _parameters: ClassVar[dict[str, str]] = {"gamma": "gamma", "norm": "norm", "c": "c", "tube": "tube"}

    def __init__(
        self,
        *,
        gamma: float | str = "1/median",
        norm: Literal["none", "mean", "sqrt"] = "sqrt",
        c: float = 100,
        tube: float = 0.01,
        scale: str | None = None,
        missing: Literal["refuse", "median"] = "refuse",
        inner: int = 5,
        precision: Literal["f64", "f32"] = "f64",
        memory: float = MEMORY,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.gamma = gamma
        self.norm = norm
        self.c = c
        self.tube = tube
        self.scale = scale
        self.missing = missing
        self.inner = inner
        self.precision = precision
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs


class WMKSVMClassifier(BagClassifier):
    """Weighted mean kernel: instances in the middle of their bag count more.

    K(X, Y) = sum over x in X, z in Y of w(x) w(z) exp(-gamma |x - z|^2), with w proportional to the inverse of the
    sum of squared distances to the other instances of the bag; a support vector machine learns on the bags.

    On the command line this is ``wmksvm``. Explanations: additive.

    Parameters
    ----------
    gamma : float or str, default="1/median"
        Width of the instance kernel exp(-gamma |x - z|^2). It takes a number above 0, or N/median (N over the
        median squared distance of training instances).
    norm : {"none", "sqrt"}, default="none"
        Normalisation: none, as printed, or by the self-similarities (sqrt). It takes none | sqrt.
    c : float, default=100
        Cost of an error; larger follows the training bags more closely. It takes a number above 0.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        How several classes become machines; what suits the method (one-vs-one) if not given.
    class_weight : {"balanced"} or dict, optional
        Give every class the same total cost, however rare; or what an error costs, class by class.
    threshold : float or str, optional
        Where the second of two classes begins, chosen on inner folds: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"``, or a number; 0 if not given.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags; what suits the method (minmax) if not given.
    missing : {"refuse", "median"}, default="refuse"
        What happens to values that are NaN: an error, or the median of the training bags.
    inner : int, default=5
        Folds of the training bags by which probabilities and thresholds are learned.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Bytes that Grams, caches and copies may occupy together.
    random_state : int, RandomState instance or None, default=0
        The seed of everything random: the same seed gives the same numbers on any number of threads.
    n_jobs : int, optional
        Threads; all cores if not given.

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

    References
    ----------
    Weighted multi-instance kernel SVM (WMKSVM)

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.WMKSVMClassifier().fit(data.bags, data.y)
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "wmksvm"
    _parameters: ClassVar[dict[str, str]] = {"gamma": "gamma", "norm": "norm", "c": "c"}

    def __init__(
        self,
        *,
        gamma: float | str = "1/median",
        norm: Literal["none", "sqrt"] = "none",
        c: float = 100,
        multiclass: Literal["one-vs-one", "one-vs-rest"] | None = None,
        class_weight: Literal["balanced"] | dict[Any, float] | None = None,
        threshold: float | str | None = None,
        scale: str | None = None,
        missing: Literal["refuse", "median"] = "refuse",
        inner: int = 5,
        precision: Literal["f64", "f32"] = "f64",
        memory: float = MEMORY,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.gamma = gamma
        self.norm = norm
        self.c = c
        self.multiclass = multiclass
        self.class_weight = class_weight
        self.threshold = threshold
        self.scale = scale
        self.missing = missing
        self.inner = inner
        self.precision = precision
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs


class WMKSVMRegressor(BagRegressor):
    """Weighted mean kernel: instances in the middle of their bag count more.

    K(X, Y) = sum over x in X, z in Y of w(x) w(z) exp(-gamma |x - z|^2), with w proportional to the inverse of the
    sum of squared distances to the other instances of the bag; a support vector machine learns on the bags.

    On the command line this is ``wmksvm``. Explanations: additive.

    Parameters
    ----------
    gamma : float or str, default="1/median"
        Width of the instance kernel exp(-gamma |x - z|^2). It takes a number above 0, or N/median (N over the
        median squared distance of training instances).
    norm : {"none", "sqrt"}, default="none"
        Normalisation: none, as printed, or by the self-similarities (sqrt). It takes none | sqrt.
    c : float, default=100
        Cost of an error; larger follows the training bags more closely. It takes a number above 0.
    tube : float, default=0.01
        Errors up to this size cost nothing, in units of the target. It takes a number above 0.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags; what suits the method (minmax) if not given.
    missing : {"refuse", "median"}, default="refuse"
        What happens to values that are NaN: an error, or the median of the training bags.
    inner : int, default=5
        Folds of the training bags by which probabilities and thresholds are learned.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Bytes that Grams, caches and copies may occupy together.
    random_state : int, RandomState instance or None, default=0
        The seed of everything random: the same seed gives the same numbers on any number of threads.
    n_jobs : int, optional
        Threads; all cores if not given.

    Attributes
    ----------
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        What was learned.

    References
    ----------
    Weighted multi-instance kernel SVM (WMKSVM)

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.WMKSVMRegressor().fit(data.bags, data.bags.sizes())
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "wmksvm"
    _parameters: ClassVar[dict[str, str]] = {"gamma": "gamma", "norm": "norm", "c": "c", "tube": "tube"}

    def __init__(
        self,
        *,
        gamma: float | str = "1/median",
        norm: Literal["none", "sqrt"] = "none",
        c: float = 100,
        tube: float = 0.01,
        scale: str | None = None,
        missing: Literal["refuse", "median"] = "refuse",
        inner: int = 5,
        precision: Literal["f64", "f32"] = "f64",
        memory: float = MEMORY,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.gamma = gamma
        self.norm = norm
        self.c = c
        self.tube = tube
        self.scale = scale
        self.missing = missing
        self.inner = inner
        self.precision = precision
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs


class MiGraphClassifier(BagClassifier):
    """MiGraph: instances that resemble others of their bag share one vote.

    K(X, Y) = sum over a in X, b in Y of W(a) W(b) exp(-gamma |a - b|^2) / (sum of W in X * sum of W in Y), where
    W(a) is one over the number of instances of the bag closer to a than delta; a support vector machine learns on
    the bags.

    On the command line this is ``migraph``. Explanations: additive.

    Parameters
    ----------
    gamma : float or str, default="1/median"
        Width of the instance kernel exp(-gamma |x - z|^2). It takes a number above 0, or N/median (N over the
        median squared distance of training instances).
    dist : {"gauss", "rkhs", "euclid", "sq"}, default="gauss"
        Dissimilarity inside a bag: gauss 1 - k, rkhs sqrt(2 - 2 k), euclid, or sq (squared Euclidean). It takes
        gauss | rkhs | euclid | sq.
    delta : float or str, default="mean"
        Instances closer than this are neighbours: the bag's mean over pairs, over all ordered pairs (mean_all), or
        a number. It takes mean | mean_all | a number not below 0.
    norm : {"eq5", "sqrt", "sqrtsum", "none"}, default="eq5"
        Normalisation: by the sums of the weights (eq5), by the self-similarities (sqrt), by the roots of the sums
        (sqrtsum), or none. It takes eq5 | sqrt | sqrtsum | none.
    c : float, default=100
        Cost of an error; larger follows the training bags more closely. It takes a number above 0.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        How several classes become machines; what suits the method (one-vs-one) if not given.
    class_weight : {"balanced"} or dict, optional
        Give every class the same total cost, however rare; or what an error costs, class by class.
    threshold : float or str, optional
        Where the second of two classes begins, chosen on inner folds: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"``, or a number; 0 if not given.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags; what suits the method (minmax) if not given.
    missing : {"refuse", "median"}, default="refuse"
        What happens to values that are NaN: an error, or the median of the training bags.
    inner : int, default=5
        Folds of the training bags by which probabilities and thresholds are learned.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Bytes that Grams, caches and copies may occupy together.
    random_state : int, RandomState instance or None, default=0
        The seed of everything random: the same seed gives the same numbers on any number of threads.
    n_jobs : int, optional
        Threads; all cores if not given.

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

    References
    ----------
    Zhou, Sun, Li: Multi-instance learning by treating instances as non-i.i.d. samples, ICML 2009

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.MiGraphClassifier().fit(data.bags, data.y)
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "migraph"
    _parameters: ClassVar[dict[str, str]] = {
        "gamma": "gamma",
        "dist": "dist",
        "delta": "delta",
        "norm": "norm",
        "c": "c",
    }

    def __init__(
        self,
        *,
        gamma: float | str = "1/median",
        dist: Literal["gauss", "rkhs", "euclid", "sq"] = "gauss",
        delta: float | str = "mean",
        norm: Literal["eq5", "sqrt", "sqrtsum", "none"] = "eq5",
        c: float = 100,
        multiclass: Literal["one-vs-one", "one-vs-rest"] | None = None,
        class_weight: Literal["balanced"] | dict[Any, float] | None = None,
        threshold: float | str | None = None,
        scale: str | None = None,
        missing: Literal["refuse", "median"] = "refuse",
        inner: int = 5,
        precision: Literal["f64", "f32"] = "f64",
        memory: float = MEMORY,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.gamma = gamma
        self.dist = dist
        self.delta = delta
        self.norm = norm
        self.c = c
        self.multiclass = multiclass
        self.class_weight = class_weight
        self.threshold = threshold
        self.scale = scale
        self.missing = missing
        self.inner = inner
        self.precision = precision
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs


class MiGraphRegressor(BagRegressor):
    """MiGraph: instances that resemble others of their bag share one vote.

    K(X, Y) = sum over a in X, b in Y of W(a) W(b) exp(-gamma |a - b|^2) / (sum of W in X * sum of W in Y), where
    W(a) is one over the number of instances of the bag closer to a than delta; a support vector machine learns on
    the bags.

    On the command line this is ``migraph``. Explanations: additive.

    Parameters
    ----------
    gamma : float or str, default="1/median"
        Width of the instance kernel exp(-gamma |x - z|^2). It takes a number above 0, or N/median (N over the
        median squared distance of training instances).
    dist : {"gauss", "rkhs", "euclid", "sq"}, default="gauss"
        Dissimilarity inside a bag: gauss 1 - k, rkhs sqrt(2 - 2 k), euclid, or sq (squared Euclidean). It takes
        gauss | rkhs | euclid | sq.
    delta : float or str, default="mean"
        Instances closer than this are neighbours: the bag's mean over pairs, over all ordered pairs (mean_all), or
        a number. It takes mean | mean_all | a number not below 0.
    norm : {"eq5", "sqrt", "sqrtsum", "none"}, default="eq5"
        Normalisation: by the sums of the weights (eq5), by the self-similarities (sqrt), by the roots of the sums
        (sqrtsum), or none. It takes eq5 | sqrt | sqrtsum | none.
    c : float, default=100
        Cost of an error; larger follows the training bags more closely. It takes a number above 0.
    tube : float, default=0.01
        Errors up to this size cost nothing, in units of the target. It takes a number above 0.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags; what suits the method (minmax) if not given.
    missing : {"refuse", "median"}, default="refuse"
        What happens to values that are NaN: an error, or the median of the training bags.
    inner : int, default=5
        Folds of the training bags by which probabilities and thresholds are learned.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Bytes that Grams, caches and copies may occupy together.
    random_state : int, RandomState instance or None, default=0
        The seed of everything random: the same seed gives the same numbers on any number of threads.
    n_jobs : int, optional
        Threads; all cores if not given.

    Attributes
    ----------
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        What was learned.

    References
    ----------
    Zhou, Sun, Li: Multi-instance learning by treating instances as non-i.i.d. samples, ICML 2009

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.MiGraphRegressor().fit(data.bags, data.bags.sizes())
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "migraph"
    _parameters: ClassVar[dict[str, str]] = {
        "gamma": "gamma",
        "dist": "dist",
        "delta": "delta",
        "norm": "norm",
        "c": "c",
        "tube": "tube",
    }

    def __init__(
        self,
        *,
        gamma: float | str = "1/median",
        dist: Literal["gauss", "rkhs", "euclid", "sq"] = "gauss",
        delta: float | str = "mean",
        norm: Literal["eq5", "sqrt", "sqrtsum", "none"] = "eq5",
        c: float = 100,
        tube: float = 0.01,
        scale: str | None = None,
        missing: Literal["refuse", "median"] = "refuse",
        inner: int = 5,
        precision: Literal["f64", "f32"] = "f64",
        memory: float = MEMORY,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.gamma = gamma
        self.dist = dist
        self.delta = delta
        self.norm = norm
        self.c = c
        self.tube = tube
        self.scale = scale
        self.missing = missing
        self.inner = inner
        self.precision = precision
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs


class ExplicitMIGraphClassifier(BagClassifier):
    """MIGraph: compares the instances of two bags and the edges of their graphs.

    K(X, Y) = sum over instances of exp(-gamma |x - z|^2) + sum over edges of exp(-gamma_edge |e - f|^2), divided by
    sqrt(K(X, X) K(Y, Y)). Instances of a bag closer than eps are joined by an edge, described by the degrees and
    affinities at its ends. The edge sum is made in time proportional to the edges; a support vector machine learns
    on the bags.

    On the command line this is ``migraph-explicit``. Explanations: additive.

    Parameters
    ----------
    gamma : float or str, default="1/median"
        Width of the instance kernel exp(-gamma |x - z|^2). It takes a number above 0, or N/median (N over the
        median squared distance of training instances).
    gamma_edge : float or str, default="gamma"
        Width of the edge kernel: that of the instances (gamma), or a number. It takes gamma | a number not below 0.
    eps : float or str, default="mean"
        Instances closer than this are joined by an edge: the bag's mean distance over pairs, or a number. It takes
        mean | a number not below 0.
    orient : {"both", "canonical", "index"}, default="both"
        Direction of an edge: both at half weight, the larger end first (canonical), or the earlier instance first
        (index). It takes both | canonical | index.
    zero : {"limit", "drop"}, default="limit"
        Equal instances: an edge with the affinity of the limit of small distances, or none (drop). It takes limit |
        drop.
    norm : {"sqrt", "none"}, default="sqrt"
        Normalisation: by the self-similarities (sqrt), or none. It takes sqrt | none.
    tol : float, default=1e-8
        Absolute error that the edge sums may cause in the normalised kernel; 0 sums over all pairs of edges. It
        takes a number not below 0.
    c : float, default=100
        Cost of an error; larger follows the training bags more closely. It takes a number above 0.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        How several classes become machines; what suits the method (one-vs-one) if not given.
    class_weight : {"balanced"} or dict, optional
        Give every class the same total cost, however rare; or what an error costs, class by class.
    threshold : float or str, optional
        Where the second of two classes begins, chosen on inner folds: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"``, or a number; 0 if not given.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags; what suits the method (minmax) if not given.
    missing : {"refuse", "median"}, default="refuse"
        What happens to values that are NaN: an error, or the median of the training bags.
    inner : int, default=5
        Folds of the training bags by which probabilities and thresholds are learned.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Bytes that Grams, caches and copies may occupy together.
    random_state : int, RandomState instance or None, default=0
        The seed of everything random: the same seed gives the same numbers on any number of threads.
    n_jobs : int, optional
        Threads; all cores if not given.

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

    References
    ----------
    Zhou, Sun, Li: Multi-instance learning by treating instances as non-i.i.d. samples, ICML 2009

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.ExplicitMIGraphClassifier().fit(data.bags, data.y)
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "migraph-explicit"
    _parameters: ClassVar[dict[str, str]] = {
        "gamma": "gamma",
        "gamma_edge": "gamma_edge",
        "eps": "eps",
        "orient": "orient",
        "zero": "zero",
        "norm": "norm",
        "tol": "tol",
        "c": "c",
    }

    def __init__(
        self,
        *,
        gamma: float | str = "1/median",
        gamma_edge: float | str = "gamma",
        eps: float | str = "mean",
        orient: Literal["both", "canonical", "index"] = "both",
        zero: Literal["limit", "drop"] = "limit",
        norm: Literal["sqrt", "none"] = "sqrt",
        tol: float = 1e-8,
        c: float = 100,
        multiclass: Literal["one-vs-one", "one-vs-rest"] | None = None,
        class_weight: Literal["balanced"] | dict[Any, float] | None = None,
        threshold: float | str | None = None,
        scale: str | None = None,
        missing: Literal["refuse", "median"] = "refuse",
        inner: int = 5,
        precision: Literal["f64", "f32"] = "f64",
        memory: float = MEMORY,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.gamma = gamma
        self.gamma_edge = gamma_edge
        self.eps = eps
        self.orient = orient
        self.zero = zero
        self.norm = norm
        self.tol = tol
        self.c = c
        self.multiclass = multiclass
        self.class_weight = class_weight
        self.threshold = threshold
        self.scale = scale
        self.missing = missing
        self.inner = inner
        self.precision = precision
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs


class ExplicitMIGraphRegressor(BagRegressor):
    """MIGraph: compares the instances of two bags and the edges of their graphs.

    K(X, Y) = sum over instances of exp(-gamma |x - z|^2) + sum over edges of exp(-gamma_edge |e - f|^2), divided by
    sqrt(K(X, X) K(Y, Y)). Instances of a bag closer than eps are joined by an edge, described by the degrees and
    affinities at its ends. The edge sum is made in time proportional to the edges; a support vector machine learns
    on the bags.

    On the command line this is ``migraph-explicit``. Explanations: additive.

    Parameters
    ----------
    gamma : float or str, default="1/median"
        Width of the instance kernel exp(-gamma |x - z|^2). It takes a number above 0, or N/median (N over the
        median squared distance of training instances).
    gamma_edge : float or str, default="gamma"
        Width of the edge kernel: that of the instances (gamma), or a number. It takes gamma | a number not below 0.
    eps : float or str, default="mean"
        Instances closer than this are joined by an edge: the bag's mean distance over pairs, or a number. It takes
        mean | a number not below 0.
    orient : {"both", "canonical", "index"}, default="both"
        Direction of an edge: both at half weight, the larger end first (canonical), or the earlier instance first
        (index). It takes both | canonical | index.
    zero : {"limit", "drop"}, default="limit"
        Equal instances: an edge with the affinity of the limit of small distances, or none (drop). It takes limit |
        drop.
    norm : {"sqrt", "none"}, default="sqrt"
        Normalisation: by the self-similarities (sqrt), or none. It takes sqrt | none.
    tol : float, default=1e-8
        Absolute error that the edge sums may cause in the normalised kernel; 0 sums over all pairs of edges. It
        takes a number not below 0.
    c : float, default=100
        Cost of an error; larger follows the training bags more closely. It takes a number above 0.
    tube : float, default=0.01
        Errors up to this size cost nothing, in units of the target. It takes a number above 0.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags; what suits the method (minmax) if not given.
    missing : {"refuse", "median"}, default="refuse"
        What happens to values that are NaN: an error, or the median of the training bags.
    inner : int, default=5
        Folds of the training bags by which probabilities and thresholds are learned.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Bytes that Grams, caches and copies may occupy together.
    random_state : int, RandomState instance or None, default=0
        The seed of everything random: the same seed gives the same numbers on any number of threads.
    n_jobs : int, optional
        Threads; all cores if not given.

    Attributes
    ----------
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        What was learned.

    References
    ----------
    Zhou, Sun, Li: Multi-instance learning by treating instances as non-i.i.d. samples, ICML 2009

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.ExplicitMIGraphRegressor().fit(data.bags, data.bags.sizes())
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "migraph-explicit"
    _parameters: ClassVar[dict[str, str]] = {
        "gamma": "gamma",
        "gamma_edge": "gamma_edge",
        "eps": "eps",
        "orient": "orient",
        "zero": "zero",
        "norm": "norm",
        "tol": "tol",
        "c": "c",
        "tube": "tube",
    }

    def __init__(
        self,
        *,
        gamma: float | str = "1/median",
        gamma_edge: float | str = "gamma",
        eps: float | str = "mean",
        orient: Literal["both", "canonical", "index"] = "both",
        zero: Literal["limit", "drop"] = "limit",
        norm: Literal["sqrt", "none"] = "sqrt",
        tol: float = 1e-8,
        c: float = 100,
        tube: float = 0.01,
        scale: str | None = None,
        missing: Literal["refuse", "median"] = "refuse",
        inner: int = 5,
        precision: Literal["f64", "f32"] = "f64",
        memory: float = MEMORY,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.gamma = gamma
        self.gamma_edge = gamma_edge
        self.eps = eps
        self.orient = orient
        self.zero = zero
        self.norm = norm
        self.tol = tol
        self.c = c
        self.tube = tube
        self.scale = scale
        self.missing = missing
        self.inner = inner
        self.precision = precision
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs


#: Classes by method and by whether they predict numbers.
ESTIMATORS: dict[tuple[str, bool], type[BagEstimator]] = {
    ("majority", False): MajorityClassifier,
    ("majority", True): MajorityRegressor,
    ("simple-mi", False): SimpleMIClassifier,
    ("simple-mi", True): SimpleMIRegressor,
    ("mi-kernel", False): MIKernelClassifier,
    ("mi-kernel", True): MIKernelRegressor,
    ("wmksvm", False): WMKSVMClassifier,
    ("wmksvm", True): WMKSVMRegressor,
    ("migraph", False): MiGraphClassifier,
    ("migraph", True): MiGraphRegressor,
    ("migraph-explicit", False): ExplicitMIGraphClassifier,
    ("migraph-explicit", True): ExplicitMIGraphRegressor,
}
