"""Estimators, one per method and task. Written by `cargo xtask python` from the registry of methods: do not edit."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from bagwise._base import BagClassifier, BagEstimator, BagRegressor, FeatureMap
from bagwise._options import MEMORY

__all__ = [
    "BagMISVMClassifier",
    "DDClassifier",
    "DDRegressor",
    "DDSVMClassifier",
    "EMDDClassifier",
    "EMDDRegressor",
    "ExplicitMIGraphClassifier",
    "ExplicitMIGraphRegressor",
    "ISKClassifier",
    "ISKRegressor",
    "InstanceMISVMClassifier",
    "MGACCClassifier",
    "MGACCRegressor",
    "MGDDVClassifier",
    "MGDDVRegressor",
    "MIKernelClassifier",
    "MIKernelRegressor",
    "MIRSVMClassifier",
    "MajorityClassifier",
    "MajorityRegressor",
    "MiGraphClassifier",
    "MiGraphRegressor",
    "SILClassifier",
    "SimpleMIClassifier",
    "SimpleMIRegressor",
    "WMKSVMClassifier",
    "WMKSVMRegressor",
]


class MajorityClassifier(BagClassifier):
    """Baseline: the most frequent class, or the mean.

    Predicts the most frequent class of the training bags for every bag, or the mean of their values. A method that
    does not beat it has learned nothing.

    On the command line this is ``majority``. Explanations: additive: all bias.

    Parameters
    ----------
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        How several classes become machines; what suits the method (one-vs-one) if not given.
    class_weight : {"balanced"} or dict, optional
        Give every class the same total cost, however rare; or what an error costs, class by class.
    decision_threshold : float or str, optional
        Where the second of two classes begins, chosen on inner folds: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"``, or a number; 0 if not given.
    inner : int, default=5
        Folds of the training bags by which probabilities and thresholds are learned.
    probability : bool, default=True
        Whether the model learns probabilities. Without, it is trained once instead of once more
        for every inner fold, and has no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags; what suits the method (none) if not given.
    missing : {"refuse", "median"}, default="refuse"
        What happens to values that are NaN: an error, or the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Bytes that Grams, caches and copies may occupy together.
    random_state : int, RandomState instance or None, default=0
        The seed of everything random: the same seed gives the same numbers on any number of threads.
        None is 0, so that a program that says nothing can be repeated; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Threads: -1 for all cores, -2 for all but one. If not given, all that joblib leaves to this process
        (``parallel_config``, its workers, containers).

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


class MajorityRegressor(BagRegressor):
    """Baseline: the most frequent class, or the mean.

    Predicts the most frequent class of the training bags for every bag, or the mean of their values. A method that
    does not beat it has learned nothing.

    On the command line this is ``majority``. Explanations: additive: all bias.

    Parameters
    ----------
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags; what suits the method (none) if not given.
    missing : {"refuse", "median"}, default="refuse"
        What happens to values that are NaN: an error, or the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Bytes that Grams, caches and copies may occupy together.
    random_state : int, RandomState instance or None, default=0
        The seed of everything random: the same seed gives the same numbers on any number of threads.
        None is 0, so that a program that says nothing can be repeated; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Threads: -1 for all cores, -2 for all but one. If not given, all that joblib leaves to this process
        (``parallel_config``, its workers, containers).

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
        precision: Literal["f64", "f32"] = "f64",
        memory: float = MEMORY,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.scale = scale
        self.missing = missing
        self.precision = precision
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs


class SimpleMIClassifier(BagClassifier):
    """Bag means (or minima and maxima) and an SVM.

    A bag becomes the mean of its instances, the centre of their range (min + max) / 2, or their minima and maxima
    side by side. An SVM with a Gaussian or linear kernel is trained on these vectors.

    On the command line this is ``simple-mi``. Explanations: additive for embed=mean kernel=linear, else not at all.

    Parameters
    ----------
    embed : {"mean", "geometric", "minmax"}, default="mean"
        The vector of a bag: mean, geometric (the centre of the range), or minmax (minima and maxima side by side).
    kernel : {"rbf", "linear"}, default="rbf"
        Kernel between the vectors of bags.
    gamma : float or str, default="1/median"
        Width of the instance kernel exp(-gamma |x - z|^2). It takes a number above 0, N/median (N over the median
        squared distance of training instances), or N/d (over the number of attributes).
    c : float, default=100
        Cost of an error; larger follows the training bags more closely. It takes a number above 0.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        How several classes become machines; what suits the method (one-vs-one) if not given.
    class_weight : {"balanced"} or dict, optional
        Give every class the same total cost, however rare; or what an error costs, class by class.
    decision_threshold : float or str, optional
        Where the second of two classes begins, chosen on inner folds: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"``, or a number; 0 if not given.
    inner : int, default=5
        Folds of the training bags by which probabilities and thresholds are learned.
    probability : bool, default=True
        Whether the model learns probabilities. Without, it is trained once instead of once more
        for every inner fold, and has no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags; what suits the method (minmax) if not given.
    missing : {"refuse", "median"}, default="refuse"
        What happens to values that are NaN: an error, or the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Bytes that Grams, caches and copies may occupy together.
    random_state : int, RandomState instance or None, default=0
        The seed of everything random: the same seed gives the same numbers on any number of threads.
        None is 0, so that a program that says nothing can be repeated; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Threads: -1 for all cores, -2 for all but one. If not given, all that joblib leaves to this process
        (``parallel_config``, its workers, containers).

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
        self.embed = embed
        self.kernel = kernel
        self.gamma = gamma
        self.c = c
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


class SimpleMIRegressor(BagRegressor):
    """Bag means (or minima and maxima) and an SVM.

    A bag becomes the mean of its instances, the centre of their range (min + max) / 2, or their minima and maxima
    side by side. An SVM with a Gaussian or linear kernel is trained on these vectors.

    On the command line this is ``simple-mi``. Explanations: additive for embed=mean kernel=linear, else not at all.

    Parameters
    ----------
    embed : {"mean", "geometric", "minmax"}, default="mean"
        The vector of a bag: mean, geometric (the centre of the range), or minmax (minima and maxima side by side).
    kernel : {"rbf", "linear"}, default="rbf"
        Kernel between the vectors of bags.
    gamma : float or str, default="1/median"
        Width of the instance kernel exp(-gamma |x - z|^2). It takes a number above 0, N/median (N over the median
        squared distance of training instances), or N/d (over the number of attributes).
    c : float, default=100
        Cost of an error; larger follows the training bags more closely. It takes a number above 0.
    tube : float, default=0.01
        Half-width of the tube of support vector regression (SVR's epsilon): errors up to this size cost nothing, in
        units of the target. It takes a number above 0.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags; what suits the method (minmax) if not given.
    missing : {"refuse", "median"}, default="refuse"
        What happens to values that are NaN: an error, or the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Bytes that Grams, caches and copies may occupy together.
    random_state : int, RandomState instance or None, default=0
        The seed of everything random: the same seed gives the same numbers on any number of threads.
        None is 0, so that a program that says nothing can be repeated; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Threads: -1 for all cores, -2 for all but one. If not given, all that joblib leaves to this process
        (``parallel_config``, its workers, containers).

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
        self.precision = precision
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs


class SILClassifier(BagClassifier):
    """SVM on all instances with the labels of their bags.

    Every instance gets the label of its bag, and an SVM is trained on all instances. The output of a bag is the
    largest output of its instances.

    On the command line this is ``sil``. Explanations: witness: the output of every instance, and the one that decides.

    Parameters
    ----------
    kernel : {"rbf", "linear"}, default="rbf"
        Kernel of two instances: exp(-gamma |x - z|^2) or the inner product.
    gamma : float or str, default="1/median"
        Width of the instance kernel exp(-gamma |x - z|^2). It takes a number above 0, N/median (N over the median
        squared distance of training instances), or N/d (over the number of attributes).
    c : float, default=1
        Cost of an error; larger follows the training rows more closely. It takes a number above 0.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        How several classes become machines; what suits the method (one-vs-rest) if not given.
    class_weight : {"balanced"} or dict, optional
        Give every class the same total cost, however rare; or what an error costs, class by class.
    decision_threshold : float or str, optional
        Where the second of two classes begins, chosen on inner folds: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"``, or a number; 0 if not given.
    inner : int, default=5
        Folds of the training bags by which probabilities and thresholds are learned.
    probability : bool, default=True
        Whether the model learns probabilities. Without, it is trained once instead of once more
        for every inner fold, and has no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags; what suits the method (zscore) if not given.
    missing : {"refuse", "median"}, default="refuse"
        What happens to values that are NaN: an error, or the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Bytes that Grams, caches and copies may occupy together.
    random_state : int, RandomState instance or None, default=0
        The seed of everything random: the same seed gives the same numbers on any number of threads.
        None is 0, so that a program that says nothing can be repeated; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Threads: -1 for all cores, -2 for all but one. If not given, all that joblib leaves to this process
        (``parallel_config``, its workers, containers).

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
    Ray, Craven: Supervised versus multiple instance learning: an empirical comparison, ICML 2005

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.SILClassifier().fit(data.bags, data.y)
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "sil"
    _parameters: ClassVar[dict[str, str]] = {"kernel": "kernel", "gamma": "gamma", "c": "c"}

    def __init__(
        self,
        *,
        kernel: Literal["rbf", "linear"] = "rbf",
        gamma: float | str = "1/median",
        c: float = 1,
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
        self.kernel = kernel
        self.gamma = gamma
        self.c = c
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


class MIKernelClassifier(BagClassifier):
    """Sum of the similarities of all instance pairs.

    K(X, Y) = sum over x in X, z in Y of exp(-gamma |x - z|^2), divided by the numbers of instances (norm=mean) or
    by the self-similarities (norm=sqrt). Other kernels of two instances can take the place of the Gaussian. A
    support vector machine is trained on the bags.

    On the command line this is ``mi-kernel``. Explanations: additive.

    Parameters
    ----------
    gamma : float or str, default="1/median"
        Width of the instance kernel exp(-gamma |x - z|^2). It takes a number above 0, N/median (N over the median
        squared distance of training instances), or N/d (over the number of attributes).
    kernel : {"rbf", "linear", "poly"}, default="rbf"
        Kernel of two instances: rbf, the Gaussian of width gamma; linear, x . z; or poly, (x . z + 1)^degree.
    degree : int, default=2
        Degree of the kernel poly; the others ignore it. It takes a whole number from 1 to 10.
    distance : {"euclidean", "text"}, default="euclidean"
        Distance of two instances: euclidean, or text, the mean squared difference over the attributes that at least
        one of the two has (is not zero). text needs kernel rbf and a scaling of none or maxabs.
    norm : {"none", "mean", "sqrt"}, default="sqrt"
        Normalisation: none, by the numbers of instances (mean), or by the self-similarities (sqrt).
    c : float, default=100
        Cost of an error; larger follows the training bags more closely. It takes a number above 0.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        How several classes become machines; what suits the method (one-vs-one) if not given.
    class_weight : {"balanced"} or dict, optional
        Give every class the same total cost, however rare; or what an error costs, class by class.
    decision_threshold : float or str, optional
        Where the second of two classes begins, chosen on inner folds: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"``, or a number; 0 if not given.
    inner : int, default=5
        Folds of the training bags by which probabilities and thresholds are learned.
    probability : bool, default=True
        Whether the model learns probabilities. Without, it is trained once instead of once more
        for every inner fold, and has no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags; what suits the method (minmax) if not given.
    missing : {"refuse", "median"}, default="refuse"
        What happens to values that are NaN: an error, or the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Bytes that Grams, caches and copies may occupy together.
    random_state : int, RandomState instance or None, default=0
        The seed of everything random: the same seed gives the same numbers on any number of threads.
        None is 0, so that a program that says nothing can be repeated; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Threads: -1 for all cores, -2 for all but one. If not given, all that joblib leaves to this process
        (``parallel_config``, its workers, containers).

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
    _parameters: ClassVar[dict[str, str]] = {
        "gamma": "gamma",
        "kernel": "kernel",
        "degree": "degree",
        "distance": "distance",
        "norm": "norm",
        "c": "c",
    }

    def __init__(
        self,
        *,
        gamma: float | str = "1/median",
        kernel: Literal["rbf", "linear", "poly"] = "rbf",
        degree: int = 2,
        distance: Literal["euclidean", "text"] = "euclidean",
        norm: Literal["none", "mean", "sqrt"] = "sqrt",
        c: float = 100,
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
        self.gamma = gamma
        self.kernel = kernel
        self.degree = degree
        self.distance = distance
        self.norm = norm
        self.c = c
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


class MIKernelRegressor(BagRegressor):
    """Sum of the similarities of all instance pairs.

    K(X, Y) = sum over x in X, z in Y of exp(-gamma |x - z|^2), divided by the numbers of instances (norm=mean) or
    by the self-similarities (norm=sqrt). Other kernels of two instances can take the place of the Gaussian. A
    support vector machine is trained on the bags.

    On the command line this is ``mi-kernel``. Explanations: additive.

    Parameters
    ----------
    gamma : float or str, default="1/median"
        Width of the instance kernel exp(-gamma |x - z|^2). It takes a number above 0, N/median (N over the median
        squared distance of training instances), or N/d (over the number of attributes).
    kernel : {"rbf", "linear", "poly"}, default="rbf"
        Kernel of two instances: rbf, the Gaussian of width gamma; linear, x . z; or poly, (x . z + 1)^degree.
    degree : int, default=2
        Degree of the kernel poly; the others ignore it. It takes a whole number from 1 to 10.
    distance : {"euclidean", "text"}, default="euclidean"
        Distance of two instances: euclidean, or text, the mean squared difference over the attributes that at least
        one of the two has (is not zero). text needs kernel rbf and a scaling of none or maxabs.
    norm : {"none", "mean", "sqrt"}, default="sqrt"
        Normalisation: none, by the numbers of instances (mean), or by the self-similarities (sqrt).
    c : float, default=100
        Cost of an error; larger follows the training bags more closely. It takes a number above 0.
    tube : float, default=0.01
        Half-width of the tube of support vector regression (SVR's epsilon): errors up to this size cost nothing, in
        units of the target. It takes a number above 0.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags; what suits the method (minmax) if not given.
    missing : {"refuse", "median"}, default="refuse"
        What happens to values that are NaN: an error, or the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Bytes that Grams, caches and copies may occupy together.
    random_state : int, RandomState instance or None, default=0
        The seed of everything random: the same seed gives the same numbers on any number of threads.
        None is 0, so that a program that says nothing can be repeated; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Threads: -1 for all cores, -2 for all but one. If not given, all that joblib leaves to this process
        (``parallel_config``, its workers, containers).

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
    _parameters: ClassVar[dict[str, str]] = {
        "gamma": "gamma",
        "kernel": "kernel",
        "degree": "degree",
        "distance": "distance",
        "norm": "norm",
        "c": "c",
        "tube": "tube",
    }

    def __init__(
        self,
        *,
        gamma: float | str = "1/median",
        kernel: Literal["rbf", "linear", "poly"] = "rbf",
        degree: int = 2,
        distance: Literal["euclidean", "text"] = "euclidean",
        norm: Literal["none", "mean", "sqrt"] = "sqrt",
        c: float = 100,
        tube: float = 0.01,
        scale: str | None = None,
        missing: Literal["refuse", "median"] = "refuse",
        precision: Literal["f64", "f32"] = "f64",
        memory: float = MEMORY,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.gamma = gamma
        self.kernel = kernel
        self.degree = degree
        self.distance = distance
        self.norm = norm
        self.c = c
        self.tube = tube
        self.scale = scale
        self.missing = missing
        self.precision = precision
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs


class DDClassifier(BagClassifier):
    """A point in instance space that positive bags come close to and negative bags avoid.

    A concept is a point h with a weight w for every attribute. With D(x) = sum of w^2 (h - x)^2, the closeness of a
    bag is the largest exp(-D(x)) of its instances. Gradient ascent from every instance of every positive bag finds
    the concept that makes the training labels most probable (noisy-or). A bag is positive if its closeness reaches
    a threshold; for regression the closeness is the prediction.

    On the command line this is ``dd``. Explanations: witness: the instance nearest to the concept.

    Parameters
    ----------
    distance : {"weighted", "unweighted"}, default="weighted"
        Weighted: every attribute has a weight of its own, found together with the point; unweighted: one weight for
        all.
    rho : float, default=1
        Squared weight of an attribute at the start of the search, times the number of attributes; with
        distance=unweighted it stays fixed. It takes a number above 0.
    starts : float or str, default="all"
        Start from all instances of positive bags, or from this many, drawn at random. It takes all | a whole number
        from 1 to 1000000.
    iterations : int, default=30
        Maximum number of steps per start; more rarely changes the result. It takes a whole number from 1 to 10000.
    concept : {"positive", "either"}, default="either"
        For classes: bags close to the concept are positive, or belong to whichever class fits the training bags
        better.
    threshold : float or str, default="train"
        For classes: the closeness exp(-D) from which on a bag has the concept; train chooses the most accurate one
        on the training bags. It takes train | a number not below 0.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        How several classes become machines; what suits the method (one-vs-one) if not given.
    class_weight : {"balanced"} or dict, optional
        Give every class the same total cost, however rare; or what an error costs, class by class.
    decision_threshold : float or str, optional
        Where the second of two classes begins, chosen on inner folds: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"``, or a number; 0 if not given.
    inner : int, default=5
        Folds of the training bags by which probabilities and thresholds are learned.
    probability : bool, default=True
        Whether the model learns probabilities. Without, it is trained once instead of once more
        for every inner fold, and has no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags; what suits the method (zscore) if not given.
    missing : {"refuse", "median"}, default="refuse"
        What happens to values that are NaN: an error, or the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Bytes that Grams, caches and copies may occupy together.
    random_state : int, RandomState instance or None, default=0
        The seed of everything random: the same seed gives the same numbers on any number of threads.
        None is 0, so that a program that says nothing can be repeated; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Threads: -1 for all cores, -2 for all but one. If not given, all that joblib leaves to this process
        (``parallel_config``, its workers, containers).

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
    Maron, Lozano-Perez: A framework for multiple-instance learning, NIPS 1998

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.DDClassifier().fit(data.bags, data.y)
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "dd"
    _parameters: ClassVar[dict[str, str]] = {
        "distance": "distance",
        "rho": "rho",
        "starts": "starts",
        "iterations": "iterations",
        "concept": "concept",
        "threshold": "threshold",
    }

    def __init__(
        self,
        *,
        distance: Literal["weighted", "unweighted"] = "weighted",
        rho: float = 1,
        starts: float | str = "all",
        iterations: int = 30,
        concept: Literal["positive", "either"] = "either",
        threshold: float | str = "train",
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
        self.distance = distance
        self.rho = rho
        self.starts = starts
        self.iterations = iterations
        self.concept = concept
        self.threshold = threshold
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


class DDRegressor(BagRegressor):
    """A point in instance space that positive bags come close to and negative bags avoid.

    A concept is a point h with a weight w for every attribute. With D(x) = sum of w^2 (h - x)^2, the closeness of a
    bag is the largest exp(-D(x)) of its instances. Gradient ascent from every instance of every positive bag finds
    the concept that makes the training labels most probable (noisy-or). A bag is positive if its closeness reaches
    a threshold; for regression the closeness is the prediction.

    On the command line this is ``dd``. Explanations: witness: the instance nearest to the concept.

    Parameters
    ----------
    distance : {"weighted", "unweighted"}, default="weighted"
        Weighted: every attribute has a weight of its own, found together with the point; unweighted: one weight for
        all.
    rho : float, default=1
        Squared weight of an attribute at the start of the search, times the number of attributes; with
        distance=unweighted it stays fixed. It takes a number above 0.
    starts : float or str, default="all"
        Start from all instances of positive bags, or from this many, drawn at random. It takes all | a whole number
        from 1 to 1000000.
    iterations : int, default=30
        Maximum number of steps per start; more rarely changes the result. It takes a whole number from 1 to 10000.
    concept : {"positive", "either"}, default="either"
        For classes: bags close to the concept are positive, or belong to whichever class fits the training bags
        better.
    threshold : float or str, default="train"
        For classes: the closeness exp(-D) from which on a bag has the concept; train chooses the most accurate one
        on the training bags. It takes train | a number not below 0.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags; what suits the method (zscore) if not given.
    missing : {"refuse", "median"}, default="refuse"
        What happens to values that are NaN: an error, or the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Bytes that Grams, caches and copies may occupy together.
    random_state : int, RandomState instance or None, default=0
        The seed of everything random: the same seed gives the same numbers on any number of threads.
        None is 0, so that a program that says nothing can be repeated; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Threads: -1 for all cores, -2 for all but one. If not given, all that joblib leaves to this process
        (``parallel_config``, its workers, containers).

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
    Maron, Lozano-Perez: A framework for multiple-instance learning, NIPS 1998

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.DDRegressor().fit(data.bags, data.bags.sizes())
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "dd"
    _parameters: ClassVar[dict[str, str]] = {
        "distance": "distance",
        "rho": "rho",
        "starts": "starts",
        "iterations": "iterations",
        "concept": "concept",
        "threshold": "threshold",
    }

    def __init__(
        self,
        *,
        distance: Literal["weighted", "unweighted"] = "weighted",
        rho: float = 1,
        starts: float | str = "all",
        iterations: int = 30,
        concept: Literal["positive", "either"] = "either",
        threshold: float | str = "train",
        scale: str | None = None,
        missing: Literal["refuse", "median"] = "refuse",
        precision: Literal["f64", "f32"] = "f64",
        memory: float = MEMORY,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.distance = distance
        self.rho = rho
        self.starts = starts
        self.iterations = iterations
        self.concept = concept
        self.threshold = threshold
        self.scale = scale
        self.missing = missing
        self.precision = precision
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs


class EMDDClassifier(BagClassifier):
    """Diverse density with one instance per bag at a time.

    The concept of dd, found by alternation: choose the instance of every bag that is closest to the concept, then
    improve the concept on the chosen instances, until nothing is gained. The search starts from ten instances of
    positive bags, and the best result predicts as in dd.

    On the command line this is ``em-dd``. Explanations: witness: the instance nearest to the concept.

    Parameters
    ----------
    distance : {"weighted", "unweighted"}, default="weighted"
        Weighted: every attribute has a weight of its own, found together with the point; unweighted: one weight for
        all.
    rho : float, default=1
        Squared weight of an attribute at the start of the search, times the number of attributes; with
        distance=unweighted it stays fixed. It takes a number above 0.
    starts : float or str, default=10
        Start from all instances of positive bags, or from this many, drawn at random. It takes all | a whole number
        from 1 to 1000000.
    iterations : int, default=30
        Maximum number of steps per start; more rarely changes the result. It takes a whole number from 1 to 10000.
    concept : {"positive", "either"}, default="either"
        For classes: bags close to the concept are positive, or belong to whichever class fits the training bags
        better.
    threshold : float or str, default="train"
        For classes: the closeness exp(-D) from which on a bag has the concept; train chooses the most accurate one
        on the training bags. It takes train | a number not below 0.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        How several classes become machines; what suits the method (one-vs-one) if not given.
    class_weight : {"balanced"} or dict, optional
        Give every class the same total cost, however rare; or what an error costs, class by class.
    decision_threshold : float or str, optional
        Where the second of two classes begins, chosen on inner folds: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"``, or a number; 0 if not given.
    inner : int, default=5
        Folds of the training bags by which probabilities and thresholds are learned.
    probability : bool, default=True
        Whether the model learns probabilities. Without, it is trained once instead of once more
        for every inner fold, and has no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags; what suits the method (zscore) if not given.
    missing : {"refuse", "median"}, default="refuse"
        What happens to values that are NaN: an error, or the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Bytes that Grams, caches and copies may occupy together.
    random_state : int, RandomState instance or None, default=0
        The seed of everything random: the same seed gives the same numbers on any number of threads.
        None is 0, so that a program that says nothing can be repeated; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Threads: -1 for all cores, -2 for all but one. If not given, all that joblib leaves to this process
        (``parallel_config``, its workers, containers).

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
    Zhang, Goldman: EM-DD: an improved multiple-instance learning technique, NIPS 2001

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.EMDDClassifier().fit(data.bags, data.y)
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "em-dd"
    _parameters: ClassVar[dict[str, str]] = {
        "distance": "distance",
        "rho": "rho",
        "starts": "starts",
        "iterations": "iterations",
        "concept": "concept",
        "threshold": "threshold",
    }

    def __init__(
        self,
        *,
        distance: Literal["weighted", "unweighted"] = "weighted",
        rho: float = 1,
        starts: float | str = 10,
        iterations: int = 30,
        concept: Literal["positive", "either"] = "either",
        threshold: float | str = "train",
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
        self.distance = distance
        self.rho = rho
        self.starts = starts
        self.iterations = iterations
        self.concept = concept
        self.threshold = threshold
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


class EMDDRegressor(BagRegressor):
    """Diverse density with one instance per bag at a time.

    The concept of dd, found by alternation: choose the instance of every bag that is closest to the concept, then
    improve the concept on the chosen instances, until nothing is gained. The search starts from ten instances of
    positive bags, and the best result predicts as in dd.

    On the command line this is ``em-dd``. Explanations: witness: the instance nearest to the concept.

    Parameters
    ----------
    distance : {"weighted", "unweighted"}, default="weighted"
        Weighted: every attribute has a weight of its own, found together with the point; unweighted: one weight for
        all.
    rho : float, default=1
        Squared weight of an attribute at the start of the search, times the number of attributes; with
        distance=unweighted it stays fixed. It takes a number above 0.
    starts : float or str, default=10
        Start from all instances of positive bags, or from this many, drawn at random. It takes all | a whole number
        from 1 to 1000000.
    iterations : int, default=30
        Maximum number of steps per start; more rarely changes the result. It takes a whole number from 1 to 10000.
    concept : {"positive", "either"}, default="either"
        For classes: bags close to the concept are positive, or belong to whichever class fits the training bags
        better.
    threshold : float or str, default="train"
        For classes: the closeness exp(-D) from which on a bag has the concept; train chooses the most accurate one
        on the training bags. It takes train | a number not below 0.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags; what suits the method (zscore) if not given.
    missing : {"refuse", "median"}, default="refuse"
        What happens to values that are NaN: an error, or the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Bytes that Grams, caches and copies may occupy together.
    random_state : int, RandomState instance or None, default=0
        The seed of everything random: the same seed gives the same numbers on any number of threads.
        None is 0, so that a program that says nothing can be repeated; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Threads: -1 for all cores, -2 for all but one. If not given, all that joblib leaves to this process
        (``parallel_config``, its workers, containers).

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
    Zhang, Goldman: EM-DD: an improved multiple-instance learning technique, NIPS 2001

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.EMDDRegressor().fit(data.bags, data.bags.sizes())
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "em-dd"
    _parameters: ClassVar[dict[str, str]] = {
        "distance": "distance",
        "rho": "rho",
        "starts": "starts",
        "iterations": "iterations",
        "concept": "concept",
        "threshold": "threshold",
    }

    def __init__(
        self,
        *,
        distance: Literal["weighted", "unweighted"] = "weighted",
        rho: float = 1,
        starts: float | str = 10,
        iterations: int = 30,
        concept: Literal["positive", "either"] = "either",
        threshold: float | str = "train",
        scale: str | None = None,
        missing: Literal["refuse", "median"] = "refuse",
        precision: Literal["f64", "f32"] = "f64",
        memory: float = MEMORY,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.distance = distance
        self.rho = rho
        self.starts = starts
        self.iterations = iterations
        self.concept = concept
        self.threshold = threshold
        self.scale = scale
        self.missing = missing
        self.precision = precision
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs


class DDSVMClassifier(BagClassifier):
    """Distances to concepts of both classes and an SVM.

    Diverse density is maximised from every instance of every positive bag, and again with the labels swapped.
    Distinct concepts in the upper half of the range of log densities are kept. A bag becomes the vector of
    distances from each concept to its nearest instance, and an SVM with a Gaussian kernel is trained on these
    vectors.

    On the command line this is ``dd-svm``. Explanations: not at all: nearest instances of many concepts decide together.

    Parameters
    ----------
    gamma : float or str, default="1/median"
        Width of the instance kernel exp(-gamma |x - z|^2). It takes a number above 0, N/median (N over the median
        squared distance of training instances), or N/d (over the number of attributes).
    distance : {"weighted", "unweighted"}, default="weighted"
        Weighted: every attribute has a weight of its own, found together with the point; unweighted: one weight for
        all.
    rho : float, default=1
        Squared weight of an attribute at the start of the search, times the number of attributes; with
        distance=unweighted it stays fixed. It takes a number above 0.
    starts : float or str, default="all"
        Start from all instances of positive bags, or from this many, drawn at random. It takes all | a whole number
        from 1 to 1000000.
    iterations : int, default=30
        Maximum number of steps per start; more rarely changes the result. It takes a whole number from 1 to 10000.
    c : float, default=100
        Cost of an error; larger follows the training bags more closely. It takes a number above 0.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        How several classes become machines; what suits the method (one-vs-one) if not given.
    class_weight : {"balanced"} or dict, optional
        Give every class the same total cost, however rare; or what an error costs, class by class.
    decision_threshold : float or str, optional
        Where the second of two classes begins, chosen on inner folds: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"``, or a number; 0 if not given.
    inner : int, default=5
        Folds of the training bags by which probabilities and thresholds are learned.
    probability : bool, default=True
        Whether the model learns probabilities. Without, it is trained once instead of once more
        for every inner fold, and has no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags; what suits the method (zscore) if not given.
    missing : {"refuse", "median"}, default="refuse"
        What happens to values that are NaN: an error, or the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Bytes that Grams, caches and copies may occupy together.
    random_state : int, RandomState instance or None, default=0
        The seed of everything random: the same seed gives the same numbers on any number of threads.
        None is 0, so that a program that says nothing can be repeated; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Threads: -1 for all cores, -2 for all but one. If not given, all that joblib leaves to this process
        (``parallel_config``, its workers, containers).

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
    Chen, Wang: Image categorization by learning and reasoning with regions, JMLR 5, 2004

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.DDSVMClassifier().fit(data.bags, data.y)
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "dd-svm"
    _parameters: ClassVar[dict[str, str]] = {
        "gamma": "gamma",
        "distance": "distance",
        "rho": "rho",
        "starts": "starts",
        "iterations": "iterations",
        "c": "c",
    }

    def __init__(
        self,
        *,
        gamma: float | str = "1/median",
        distance: Literal["weighted", "unweighted"] = "weighted",
        rho: float = 1,
        starts: float | str = "all",
        iterations: int = 30,
        c: float = 100,
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
        self.gamma = gamma
        self.distance = distance
        self.rho = rho
        self.starts = starts
        self.iterations = iterations
        self.c = c
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


class WMKSVMClassifier(BagClassifier):
    """Weighted matrix kernel SVM: instances in the middle of their bag count more.

    K(X, Y) = sum over x in X, z in Y of w(x) w(z) exp(-gamma |x - z|^2), with w proportional to the inverse of the
    sum of squared distances to the other instances of the bag. Other kernels of two instances can take the place of
    the Gaussian. A support vector machine is trained on the bags.

    On the command line this is ``wmksvm``. Explanations: additive.

    Parameters
    ----------
    gamma : float or str, default="1/median"
        Width of the instance kernel exp(-gamma |x - z|^2). It takes a number above 0, N/median (N over the median
        squared distance of training instances), or N/d (over the number of attributes).
    kernel : {"rbf", "linear", "poly"}, default="rbf"
        Kernel of two instances: rbf, the Gaussian of width gamma; linear, x . z; or poly, (x . z + 1)^degree.
    degree : int, default=2
        Degree of the kernel poly; the others ignore it. It takes a whole number from 1 to 10.
    norm : {"none", "sqrt"}, default="none"
        Normalisation: none, as printed, or by the self-similarities (sqrt).
    c : float, default=100
        Cost of an error; larger follows the training bags more closely. It takes a number above 0.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        How several classes become machines; what suits the method (one-vs-one) if not given.
    class_weight : {"balanced"} or dict, optional
        Give every class the same total cost, however rare; or what an error costs, class by class.
    decision_threshold : float or str, optional
        Where the second of two classes begins, chosen on inner folds: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"``, or a number; 0 if not given.
    inner : int, default=5
        Folds of the training bags by which probabilities and thresholds are learned.
    probability : bool, default=True
        Whether the model learns probabilities. Without, it is trained once instead of once more
        for every inner fold, and has no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags; what suits the method (minmax) if not given.
    missing : {"refuse", "median"}, default="refuse"
        What happens to values that are NaN: an error, or the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Bytes that Grams, caches and copies may occupy together.
    random_state : int, RandomState instance or None, default=0
        The seed of everything random: the same seed gives the same numbers on any number of threads.
        None is 0, so that a program that says nothing can be repeated; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Threads: -1 for all cores, -2 for all but one. If not given, all that joblib leaves to this process
        (``parallel_config``, its workers, containers).

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
    Xu, Fan, Zheng: Multi-instance learning on inner structure of bags via weighted matrix kernel

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.WMKSVMClassifier().fit(data.bags, data.y)
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "wmksvm"
    _parameters: ClassVar[dict[str, str]] = {
        "gamma": "gamma",
        "kernel": "kernel",
        "degree": "degree",
        "norm": "norm",
        "c": "c",
    }

    def __init__(
        self,
        *,
        gamma: float | str = "1/median",
        kernel: Literal["rbf", "linear", "poly"] = "rbf",
        degree: int = 2,
        norm: Literal["none", "sqrt"] = "none",
        c: float = 100,
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
        self.gamma = gamma
        self.kernel = kernel
        self.degree = degree
        self.norm = norm
        self.c = c
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


class WMKSVMRegressor(BagRegressor):
    """Weighted matrix kernel SVM: instances in the middle of their bag count more.

    K(X, Y) = sum over x in X, z in Y of w(x) w(z) exp(-gamma |x - z|^2), with w proportional to the inverse of the
    sum of squared distances to the other instances of the bag. Other kernels of two instances can take the place of
    the Gaussian. A support vector machine is trained on the bags.

    On the command line this is ``wmksvm``. Explanations: additive.

    Parameters
    ----------
    gamma : float or str, default="1/median"
        Width of the instance kernel exp(-gamma |x - z|^2). It takes a number above 0, N/median (N over the median
        squared distance of training instances), or N/d (over the number of attributes).
    kernel : {"rbf", "linear", "poly"}, default="rbf"
        Kernel of two instances: rbf, the Gaussian of width gamma; linear, x . z; or poly, (x . z + 1)^degree.
    degree : int, default=2
        Degree of the kernel poly; the others ignore it. It takes a whole number from 1 to 10.
    norm : {"none", "sqrt"}, default="none"
        Normalisation: none, as printed, or by the self-similarities (sqrt).
    c : float, default=100
        Cost of an error; larger follows the training bags more closely. It takes a number above 0.
    tube : float, default=0.01
        Half-width of the tube of support vector regression (SVR's epsilon): errors up to this size cost nothing, in
        units of the target. It takes a number above 0.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags; what suits the method (minmax) if not given.
    missing : {"refuse", "median"}, default="refuse"
        What happens to values that are NaN: an error, or the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Bytes that Grams, caches and copies may occupy together.
    random_state : int, RandomState instance or None, default=0
        The seed of everything random: the same seed gives the same numbers on any number of threads.
        None is 0, so that a program that says nothing can be repeated; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Threads: -1 for all cores, -2 for all but one. If not given, all that joblib leaves to this process
        (``parallel_config``, its workers, containers).

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
    Xu, Fan, Zheng: Multi-instance learning on inner structure of bags via weighted matrix kernel

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.WMKSVMRegressor().fit(data.bags, data.bags.sizes())
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "wmksvm"
    _parameters: ClassVar[dict[str, str]] = {
        "gamma": "gamma",
        "kernel": "kernel",
        "degree": "degree",
        "norm": "norm",
        "c": "c",
        "tube": "tube",
    }

    def __init__(
        self,
        *,
        gamma: float | str = "1/median",
        kernel: Literal["rbf", "linear", "poly"] = "rbf",
        degree: int = 2,
        norm: Literal["none", "sqrt"] = "none",
        c: float = 100,
        tube: float = 0.01,
        scale: str | None = None,
        missing: Literal["refuse", "median"] = "refuse",
        precision: Literal["f64", "f32"] = "f64",
        memory: float = MEMORY,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.gamma = gamma
        self.kernel = kernel
        self.degree = degree
        self.norm = norm
        self.c = c
        self.tube = tube
        self.scale = scale
        self.missing = missing
        self.precision = precision
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs


class InstanceMISVMClassifier(BagClassifier):
    """SVM on all instances that revises their labels.

    Instances start with the label of their bag, and an SVM is trained on all of them. In positive bags, instances
    with an output above 0 (and always the largest) then become positive and the others negative. This repeats until
    no label changes. The output of a bag is the largest output of its instances.

    On the command line this is ``mi-svm``. Explanations: witness: the output of every instance, and the one that decides.

    Parameters
    ----------
    kernel : {"rbf", "linear"}, default="rbf"
        Kernel of two instances: exp(-gamma |x - z|^2) or the inner product.
    gamma : float or str, default="1/median"
        Width of the instance kernel exp(-gamma |x - z|^2). It takes a number above 0, N/median (N over the median
        squared distance of training instances), or N/d (over the number of attributes).
    c : float, default=1
        Cost of an error; larger follows the training rows more closely. It takes a number above 0.
    max_iter : int, default=50
        Maximum number of rounds if the search neither converges nor cycles. It takes a whole number from 1 to
        100000.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        How several classes become machines; what suits the method (one-vs-rest) if not given.
    class_weight : {"balanced"} or dict, optional
        Give every class the same total cost, however rare; or what an error costs, class by class.
    decision_threshold : float or str, optional
        Where the second of two classes begins, chosen on inner folds: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"``, or a number; 0 if not given.
    inner : int, default=5
        Folds of the training bags by which probabilities and thresholds are learned.
    probability : bool, default=True
        Whether the model learns probabilities. Without, it is trained once instead of once more
        for every inner fold, and has no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags; what suits the method (zscore) if not given.
    missing : {"refuse", "median"}, default="refuse"
        What happens to values that are NaN: an error, or the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Bytes that Grams, caches and copies may occupy together.
    random_state : int, RandomState instance or None, default=0
        The seed of everything random: the same seed gives the same numbers on any number of threads.
        None is 0, so that a program that says nothing can be repeated; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Threads: -1 for all cores, -2 for all but one. If not given, all that joblib leaves to this process
        (``parallel_config``, its workers, containers).

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
    n_iter_ : int
        Rounds until the choice of instances settled, of the machine that took longest.

    References
    ----------
    Andrews, Tsochantaridis, Hofmann: Support vector machines for multiple-instance learning, NIPS 2002

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.InstanceMISVMClassifier().fit(data.bags, data.y)
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "mi-svm"
    _parameters: ClassVar[dict[str, str]] = {"kernel": "kernel", "gamma": "gamma", "c": "c", "max_iter": "max-iter"}

    def __init__(
        self,
        *,
        kernel: Literal["rbf", "linear"] = "rbf",
        gamma: float | str = "1/median",
        c: float = 1,
        max_iter: int = 50,
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
        self.kernel = kernel
        self.gamma = gamma
        self.c = c
        self.max_iter = max_iter
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


class BagMISVMClassifier(BagClassifier):
    """SVM on one witness per positive bag and all negative instances.

    An SVM is trained on one witness of each positive bag (at first the mean of its instances) and on all instances
    of negative bags. The instance with the largest output becomes the new witness. This repeats until no witness
    changes. The output of a bag is the largest output of its instances.

    On the command line this is ``mi-svm-bag``. Explanations: witness: the output of every instance, and the one that decides.

    Parameters
    ----------
    kernel : {"rbf", "linear"}, default="rbf"
        Kernel of two instances: exp(-gamma |x - z|^2) or the inner product.
    gamma : float or str, default="1/median"
        Width of the instance kernel exp(-gamma |x - z|^2). It takes a number above 0, N/median (N over the median
        squared distance of training instances), or N/d (over the number of attributes).
    c : float, default=1
        Cost of an error; larger follows the training rows more closely. It takes a number above 0.
    max_iter : int, default=50
        Maximum number of rounds if the search neither converges nor cycles. It takes a whole number from 1 to
        100000.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        How several classes become machines; what suits the method (one-vs-rest) if not given.
    class_weight : {"balanced"} or dict, optional
        Give every class the same total cost, however rare; or what an error costs, class by class.
    decision_threshold : float or str, optional
        Where the second of two classes begins, chosen on inner folds: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"``, or a number; 0 if not given.
    inner : int, default=5
        Folds of the training bags by which probabilities and thresholds are learned.
    probability : bool, default=True
        Whether the model learns probabilities. Without, it is trained once instead of once more
        for every inner fold, and has no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags; what suits the method (zscore) if not given.
    missing : {"refuse", "median"}, default="refuse"
        What happens to values that are NaN: an error, or the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Bytes that Grams, caches and copies may occupy together.
    random_state : int, RandomState instance or None, default=0
        The seed of everything random: the same seed gives the same numbers on any number of threads.
        None is 0, so that a program that says nothing can be repeated; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Threads: -1 for all cores, -2 for all but one. If not given, all that joblib leaves to this process
        (``parallel_config``, its workers, containers).

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
    n_iter_ : int
        Rounds until the choice of instances settled, of the machine that took longest.

    References
    ----------
    Andrews, Tsochantaridis, Hofmann: Support vector machines for multiple-instance learning, NIPS 2002

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.BagMISVMClassifier().fit(data.bags, data.y)
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "mi-svm-bag"
    _parameters: ClassVar[dict[str, str]] = {"kernel": "kernel", "gamma": "gamma", "c": "c", "max_iter": "max-iter"}

    def __init__(
        self,
        *,
        kernel: Literal["rbf", "linear"] = "rbf",
        gamma: float | str = "1/median",
        c: float = 1,
        max_iter: int = 50,
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
        self.kernel = kernel
        self.gamma = gamma
        self.c = c
        self.max_iter = max_iter
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


class MIRSVMClassifier(BagClassifier):
    """SVM on one representative instance per bag, chosen again by the machine.

    Every bag is represented by one instance, at first a random one. A support vector machine learns from the
    representatives, and each bag is then represented by its instance with the largest output; and so on until the
    representatives stay the same, return to an earlier choice, or max-iter is reached. The output of a bag is the
    largest output of its instances.

    On the command line this is ``mirsvm``. Explanations: witness: the output of every instance, and the one that decides.

    Parameters
    ----------
    c : float, default=1
        Cost of an error; larger follows the training rows more closely. It takes a number above 0.
    kernel : {"rbf", "linear"}, default="rbf"
        Kernel of two instances: exp(-gamma |x - z|^2) or the inner product.
    sigma : float or str, default="1*median"
        Width of the instance kernel exp(-|x - z|^2 / (2 sigma^2)). It takes a number above 0, or N*median (N times
        the root of the median squared distance of training instances).
    bound : {"c", "c/n"}, default="c"
        Bound of a coefficient: the cost, or the cost over the number of bags.
    select : {"max", "printed"}, default="max"
        A bag's representative: the instance with the largest output, or (printed) with the largest output times the
        bag's label.
    bias : {"free", "all", "printed"}, default="free"
        The bias from coefficients inside their bounds, from all that are not 0, or as the algorithm prints it.
    max_iter : int, default=100
        Maximum number of rounds if the search neither converges nor cycles. It takes a whole number from 1 to
        100000.
    restarts : int, default=1
        Number of random starts; the best search is kept. It takes a whole number from 1 to 10000.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        How several classes become machines; what suits the method (one-vs-rest) if not given.
    class_weight : {"balanced"} or dict, optional
        Give every class the same total cost, however rare; or what an error costs, class by class.
    decision_threshold : float or str, optional
        Where the second of two classes begins, chosen on inner folds: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"``, or a number; 0 if not given.
    inner : int, default=5
        Folds of the training bags by which probabilities and thresholds are learned.
    probability : bool, default=True
        Whether the model learns probabilities. Without, it is trained once instead of once more
        for every inner fold, and has no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags; what suits the method (zscore) if not given.
    missing : {"refuse", "median"}, default="refuse"
        What happens to values that are NaN: an error, or the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Bytes that Grams, caches and copies may occupy together.
    random_state : int, RandomState instance or None, default=0
        The seed of everything random: the same seed gives the same numbers on any number of threads.
        None is 0, so that a program that says nothing can be repeated; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Threads: -1 for all cores, -2 for all but one. If not given, all that joblib leaves to this process
        (``parallel_config``, its workers, containers).

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
    n_iter_ : int
        Rounds until the choice of instances settled, of the machine that took longest.

    References
    ----------
    Melki, Cano, Ventura: MIRSVM: multi-instance support vector machine with bag representatives, Pattern
    Recognition 79, 2018

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.MIRSVMClassifier().fit(data.bags, data.y)
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "mirsvm"
    _parameters: ClassVar[dict[str, str]] = {
        "c": "c",
        "kernel": "kernel",
        "sigma": "sigma",
        "bound": "bound",
        "select": "select",
        "bias": "bias",
        "max_iter": "max-iter",
        "restarts": "restarts",
    }

    def __init__(
        self,
        *,
        c: float = 1,
        kernel: Literal["rbf", "linear"] = "rbf",
        sigma: float | str = "1*median",
        bound: Literal["c", "c/n"] = "c",
        select: Literal["max", "printed"] = "max",
        bias: Literal["free", "all", "printed"] = "free",
        max_iter: int = 100,
        restarts: int = 1,
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
        self.c = c
        self.kernel = kernel
        self.sigma = sigma
        self.bound = bound
        self.select = select
        self.bias = bias
        self.max_iter = max_iter
        self.restarts = restarts
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


class MiGraphClassifier(BagClassifier):
    """MiGraph: instances that resemble others of their bag share one vote.

    K(X, Y) = sum over a in X, b in Y of W(a) W(b) exp(-gamma |a - b|^2) / (sum of W in X * sum of W in Y), where
    W(a) is one over the number of instances of the bag closer to a than delta. Other kernels of two instances can
    take the place of the Gaussian. A support vector machine is trained on the bags.

    On the command line this is ``migraph``. Explanations: additive.

    Parameters
    ----------
    gamma : float or str, default="1/median"
        Width of the instance kernel exp(-gamma |x - z|^2). It takes a number above 0, N/median (N over the median
        squared distance of training instances), or N/d (over the number of attributes).
    kernel : {"rbf", "linear", "poly"}, default="rbf"
        Kernel of two instances: rbf, the Gaussian of width gamma; linear, x . z; or poly, (x . z + 1)^degree.
    degree : int, default=2
        Degree of the kernel poly; the others ignore it. It takes a whole number from 1 to 10.
    distance : {"euclidean", "text"}, default="euclidean"
        Distance of two instances: euclidean, or text, the mean squared difference over the attributes that at least
        one of the two has (is not zero). text needs kernel rbf and a scaling of none or maxabs.
    dist : {"gauss", "rkhs", "euclid", "sq"}, default="gauss"
        Dissimilarity inside a bag: gauss, one minus the Gaussian of width gamma; rkhs, the distance in the feature
        space of the kernel; euclid; or sq, the squared distance.
    delta : float or str, default="mean"
        Instances closer than this are neighbours: the bag's mean over pairs, over all ordered pairs (mean_all), or
        a number. It takes mean | mean_all | a number not below 0.
    norm : {"eq5", "sqrt", "sqrtsum", "none"}, default="eq5"
        Normalisation: by the sums of the weights (eq5), by the self-similarities (sqrt), by the roots of the sums
        (sqrtsum), or none.
    c : float, default=100
        Cost of an error; larger follows the training bags more closely. It takes a number above 0.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        How several classes become machines; what suits the method (one-vs-one) if not given.
    class_weight : {"balanced"} or dict, optional
        Give every class the same total cost, however rare; or what an error costs, class by class.
    decision_threshold : float or str, optional
        Where the second of two classes begins, chosen on inner folds: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"``, or a number; 0 if not given.
    inner : int, default=5
        Folds of the training bags by which probabilities and thresholds are learned.
    probability : bool, default=True
        Whether the model learns probabilities. Without, it is trained once instead of once more
        for every inner fold, and has no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags; what suits the method (minmax) if not given.
    missing : {"refuse", "median"}, default="refuse"
        What happens to values that are NaN: an error, or the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Bytes that Grams, caches and copies may occupy together.
    random_state : int, RandomState instance or None, default=0
        The seed of everything random: the same seed gives the same numbers on any number of threads.
        None is 0, so that a program that says nothing can be repeated; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Threads: -1 for all cores, -2 for all but one. If not given, all that joblib leaves to this process
        (``parallel_config``, its workers, containers).

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
        "kernel": "kernel",
        "degree": "degree",
        "distance": "distance",
        "dist": "dist",
        "delta": "delta",
        "norm": "norm",
        "c": "c",
    }

    def __init__(
        self,
        *,
        gamma: float | str = "1/median",
        kernel: Literal["rbf", "linear", "poly"] = "rbf",
        degree: int = 2,
        distance: Literal["euclidean", "text"] = "euclidean",
        dist: Literal["gauss", "rkhs", "euclid", "sq"] = "gauss",
        delta: float | str = "mean",
        norm: Literal["eq5", "sqrt", "sqrtsum", "none"] = "eq5",
        c: float = 100,
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
        self.gamma = gamma
        self.kernel = kernel
        self.degree = degree
        self.distance = distance
        self.dist = dist
        self.delta = delta
        self.norm = norm
        self.c = c
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


class MiGraphRegressor(BagRegressor):
    """MiGraph: instances that resemble others of their bag share one vote.

    K(X, Y) = sum over a in X, b in Y of W(a) W(b) exp(-gamma |a - b|^2) / (sum of W in X * sum of W in Y), where
    W(a) is one over the number of instances of the bag closer to a than delta. Other kernels of two instances can
    take the place of the Gaussian. A support vector machine is trained on the bags.

    On the command line this is ``migraph``. Explanations: additive.

    Parameters
    ----------
    gamma : float or str, default="1/median"
        Width of the instance kernel exp(-gamma |x - z|^2). It takes a number above 0, N/median (N over the median
        squared distance of training instances), or N/d (over the number of attributes).
    kernel : {"rbf", "linear", "poly"}, default="rbf"
        Kernel of two instances: rbf, the Gaussian of width gamma; linear, x . z; or poly, (x . z + 1)^degree.
    degree : int, default=2
        Degree of the kernel poly; the others ignore it. It takes a whole number from 1 to 10.
    distance : {"euclidean", "text"}, default="euclidean"
        Distance of two instances: euclidean, or text, the mean squared difference over the attributes that at least
        one of the two has (is not zero). text needs kernel rbf and a scaling of none or maxabs.
    dist : {"gauss", "rkhs", "euclid", "sq"}, default="gauss"
        Dissimilarity inside a bag: gauss, one minus the Gaussian of width gamma; rkhs, the distance in the feature
        space of the kernel; euclid; or sq, the squared distance.
    delta : float or str, default="mean"
        Instances closer than this are neighbours: the bag's mean over pairs, over all ordered pairs (mean_all), or
        a number. It takes mean | mean_all | a number not below 0.
    norm : {"eq5", "sqrt", "sqrtsum", "none"}, default="eq5"
        Normalisation: by the sums of the weights (eq5), by the self-similarities (sqrt), by the roots of the sums
        (sqrtsum), or none.
    c : float, default=100
        Cost of an error; larger follows the training bags more closely. It takes a number above 0.
    tube : float, default=0.01
        Half-width of the tube of support vector regression (SVR's epsilon): errors up to this size cost nothing, in
        units of the target. It takes a number above 0.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags; what suits the method (minmax) if not given.
    missing : {"refuse", "median"}, default="refuse"
        What happens to values that are NaN: an error, or the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Bytes that Grams, caches and copies may occupy together.
    random_state : int, RandomState instance or None, default=0
        The seed of everything random: the same seed gives the same numbers on any number of threads.
        None is 0, so that a program that says nothing can be repeated; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Threads: -1 for all cores, -2 for all but one. If not given, all that joblib leaves to this process
        (``parallel_config``, its workers, containers).

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
        "kernel": "kernel",
        "degree": "degree",
        "distance": "distance",
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
        kernel: Literal["rbf", "linear", "poly"] = "rbf",
        degree: int = 2,
        distance: Literal["euclidean", "text"] = "euclidean",
        dist: Literal["gauss", "rkhs", "euclid", "sq"] = "gauss",
        delta: float | str = "mean",
        norm: Literal["eq5", "sqrt", "sqrtsum", "none"] = "eq5",
        c: float = 100,
        tube: float = 0.01,
        scale: str | None = None,
        missing: Literal["refuse", "median"] = "refuse",
        precision: Literal["f64", "f32"] = "f64",
        memory: float = MEMORY,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.gamma = gamma
        self.kernel = kernel
        self.degree = degree
        self.distance = distance
        self.dist = dist
        self.delta = delta
        self.norm = norm
        self.c = c
        self.tube = tube
        self.scale = scale
        self.missing = missing
        self.precision = precision
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs


class ISKClassifier(FeatureMap, BagClassifier):
    """Isolation set-kernel: instances are similar if random partitions seldom part them.

    K(S, T) = sum over x in S, y in T of W(x) W(y) K(x, y), divided by sqrt(K(S, S) K(T, T)). K(x, y) is the share
    of t random partitionings in which x and y lie in the same cell. A cell is all that is nearest to one of psi
    training instances, or a leaf of a random tree over them (partition), so that the kernel adapts to the density
    of the data. W(x) is one over the number of instances of the bag with K > epsilon to x. A support vector machine
    learns on the bags.

    On the command line this is ``isk``. Explanations: additive.

    Parameters
    ----------
    psi : float or str, default="auto"
        Instances that a partitioning is made from: more make smaller cells. Values above the number of training
        instances are left out of a list; auto is 64, or a quarter of the training instances if that is less. It
        takes auto | a whole number from 1 to 65535.
    epsilon : float or str, default=1
        Instances of a bag are similar if they share a cell in more than this part of the partitionings; 1 weighs
        all instances alike. It takes a fraction from 0 to 1, such as 11/20.
    t : int, default=200
        Number of partitionings. It takes a whole number from 1 to 10000.
    partition : {"voronoi", "forest", "sphere"}, default="voronoi"
        What a cell is: voronoi, all that is nearest to one of the psi instances; forest, a leaf of a random tree
        that isolates them, without distances and so the fastest on many instances; sphere, as voronoi, but only as
        far as the nearest other of the psi: what is farther away lies in no cell.
    distance : {"euclidean", "text"}, default="euclidean"
        How near an instance is to a centre: euclidean, or text, the mean squared difference over the attributes
        that one of the two has (not zero); text takes scaling none or maxabs, and partition voronoi or sphere:
        trees have no distance.
    solver : {"auto", "gram", "map"}, default="auto"
        Whether the machine learns on a Gram of all bags or on their sparse maps: the same machine to the solver's
        tolerance; auto takes maps from 1000 bags on.
    pool : {"train", "all"}, default="train"
        Where centres are drawn: from training bags, or from all bags, those to be judged included (without labels),
        which is no honest estimate and exists to repeat published results.
    c : float, default=8
        Cost of an error; larger follows the training bags more closely. It takes a number above 0.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        How several classes become machines; what suits the method (one-vs-one) if not given.
    class_weight : {"balanced"} or dict, optional
        Give every class the same total cost, however rare; or what an error costs, class by class.
    decision_threshold : float or str, optional
        Where the second of two classes begins, chosen on inner folds: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"``, or a number; 0 if not given.
    inner : int, default=5
        Folds of the training bags by which probabilities and thresholds are learned.
    probability : bool, default=True
        Whether the model learns probabilities. Without, it is trained once instead of once more
        for every inner fold, and has no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags; what suits the method (zscore) if not given.
    missing : {"refuse", "median"}, default="refuse"
        What happens to values that are NaN: an error, or the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Bytes that Grams, caches and copies may occupy together.
    random_state : int, RandomState instance or None, default=0
        The seed of everything random: the same seed gives the same numbers on any number of threads.
        None is 0, so that a program that says nothing can be repeated; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Threads: -1 for all cores, -2 for all but one. If not given, all that joblib leaves to this process
        (``parallel_config``, its workers, containers).

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
    Xu, Ting, Zhou: Isolation set-kernel and its application to multi-instance learning, KDD 2019

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.ISKClassifier().fit(data.bags, data.y)
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "isk"
    _parameters: ClassVar[dict[str, str]] = {
        "psi": "psi",
        "epsilon": "epsilon",
        "t": "t",
        "partition": "partition",
        "distance": "distance",
        "solver": "solver",
        "pool": "pool",
        "c": "c",
    }

    def __init__(
        self,
        *,
        psi: float | str = "auto",
        epsilon: float | str = 1,
        t: int = 200,
        partition: Literal["voronoi", "forest", "sphere"] = "voronoi",
        distance: Literal["euclidean", "text"] = "euclidean",
        solver: Literal["auto", "gram", "map"] = "auto",
        pool: Literal["train", "all"] = "train",
        c: float = 8,
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
        self.psi = psi
        self.epsilon = epsilon
        self.t = t
        self.partition = partition
        self.distance = distance
        self.solver = solver
        self.pool = pool
        self.c = c
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


class ISKRegressor(FeatureMap, BagRegressor):
    """Isolation set-kernel: instances are similar if random partitions seldom part them.

    K(S, T) = sum over x in S, y in T of W(x) W(y) K(x, y), divided by sqrt(K(S, S) K(T, T)). K(x, y) is the share
    of t random partitionings in which x and y lie in the same cell. A cell is all that is nearest to one of psi
    training instances, or a leaf of a random tree over them (partition), so that the kernel adapts to the density
    of the data. W(x) is one over the number of instances of the bag with K > epsilon to x. A support vector machine
    learns on the bags.

    On the command line this is ``isk``. Explanations: additive.

    Parameters
    ----------
    psi : float or str, default="auto"
        Instances that a partitioning is made from: more make smaller cells. Values above the number of training
        instances are left out of a list; auto is 64, or a quarter of the training instances if that is less. It
        takes auto | a whole number from 1 to 65535.
    epsilon : float or str, default=1
        Instances of a bag are similar if they share a cell in more than this part of the partitionings; 1 weighs
        all instances alike. It takes a fraction from 0 to 1, such as 11/20.
    t : int, default=200
        Number of partitionings. It takes a whole number from 1 to 10000.
    partition : {"voronoi", "forest", "sphere"}, default="voronoi"
        What a cell is: voronoi, all that is nearest to one of the psi instances; forest, a leaf of a random tree
        that isolates them, without distances and so the fastest on many instances; sphere, as voronoi, but only as
        far as the nearest other of the psi: what is farther away lies in no cell.
    distance : {"euclidean", "text"}, default="euclidean"
        How near an instance is to a centre: euclidean, or text, the mean squared difference over the attributes
        that one of the two has (not zero); text takes scaling none or maxabs, and partition voronoi or sphere:
        trees have no distance.
    solver : {"auto", "gram", "map"}, default="auto"
        Whether the machine learns on a Gram of all bags or on their sparse maps: the same machine to the solver's
        tolerance; auto takes maps from 1000 bags on.
    pool : {"train", "all"}, default="train"
        Where centres are drawn: from training bags, or from all bags, those to be judged included (without labels),
        which is no honest estimate and exists to repeat published results.
    c : float, default=8
        Cost of an error; larger follows the training bags more closely. It takes a number above 0.
    tube : float, default=0.01
        Half-width of the tube of support vector regression (SVR's epsilon): errors up to this size cost nothing, in
        units of the target. It takes a number above 0.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags; what suits the method (zscore) if not given.
    missing : {"refuse", "median"}, default="refuse"
        What happens to values that are NaN: an error, or the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Bytes that Grams, caches and copies may occupy together.
    random_state : int, RandomState instance or None, default=0
        The seed of everything random: the same seed gives the same numbers on any number of threads.
        None is 0, so that a program that says nothing can be repeated; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Threads: -1 for all cores, -2 for all but one. If not given, all that joblib leaves to this process
        (``parallel_config``, its workers, containers).

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
    Xu, Ting, Zhou: Isolation set-kernel and its application to multi-instance learning, KDD 2019

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.ISKRegressor().fit(data.bags, data.bags.sizes())
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "isk"
    _parameters: ClassVar[dict[str, str]] = {
        "psi": "psi",
        "epsilon": "epsilon",
        "t": "t",
        "partition": "partition",
        "distance": "distance",
        "solver": "solver",
        "pool": "pool",
        "c": "c",
        "tube": "tube",
    }

    def __init__(
        self,
        *,
        psi: float | str = "auto",
        epsilon: float | str = 1,
        t: int = 200,
        partition: Literal["voronoi", "forest", "sphere"] = "voronoi",
        distance: Literal["euclidean", "text"] = "euclidean",
        solver: Literal["auto", "gram", "map"] = "auto",
        pool: Literal["train", "all"] = "train",
        c: float = 8,
        tube: float = 0.01,
        scale: str | None = None,
        missing: Literal["refuse", "median"] = "refuse",
        precision: Literal["f64", "f32"] = "f64",
        memory: float = MEMORY,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.psi = psi
        self.epsilon = epsilon
        self.t = t
        self.partition = partition
        self.distance = distance
        self.solver = solver
        self.pool = pool
        self.c = c
        self.tube = tube
        self.scale = scale
        self.missing = missing
        self.precision = precision
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs


class ExplicitMIGraphClassifier(BagClassifier):
    """MIGraph: compares the instances of two bags and the edges of their graphs.

    K(X, Y) = sum over instances of exp(-gamma |x - z|^2) + sum over edges of exp(-gamma_edge |e - f|^2), divided by
    sqrt(K(X, X) K(Y, Y)). Instances of a bag closer than eps are joined by an edge, described by the degrees and
    affinities at its ends. The edge sum is computed in time proportional to the number of edges. Other kernels of
    two instances can take the place of the first Gaussian. A support vector machine is trained on the bags.

    On the command line this is ``migraph-explicit``. Explanations: additive.

    Parameters
    ----------
    gamma : float or str, default="1/median"
        Width of the instance kernel exp(-gamma |x - z|^2). It takes a number above 0, N/median (N over the median
        squared distance of training instances), or N/d (over the number of attributes).
    kernel : {"rbf", "linear", "poly"}, default="rbf"
        Kernel of two instances: rbf, the Gaussian of width gamma; linear, x . z; or poly, (x . z + 1)^degree.
    degree : int, default=2
        Degree of the kernel poly; the others ignore it. It takes a whole number from 1 to 10.
    gamma_edge : float or str, default="gamma"
        Width of the edge kernel: that of the instances (gamma), or a number. It takes gamma | a number not below 0.
    eps : float or str, default="mean"
        Instances closer than this are joined by an edge: the bag's mean distance over pairs, or a number. It takes
        mean | a number not below 0.
    orient : {"both", "canonical", "index"}, default="both"
        Direction of an edge: both at half weight, the larger end first (canonical), or the earlier instance first
        (index).
    zero : {"limit", "drop"}, default="limit"
        Equal instances: an edge with the affinity of the limit of small distances, or none (drop).
    norm : {"sqrt", "none"}, default="sqrt"
        Normalisation: by the self-similarities (sqrt), or none.
    tol : float, default=1e-8
        Absolute error that the edge sums may cause in the normalised kernel; 0 sums over all pairs of edges. It
        takes a number not below 0.
    c : float, default=100
        Cost of an error; larger follows the training bags more closely. It takes a number above 0.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        How several classes become machines; what suits the method (one-vs-one) if not given.
    class_weight : {"balanced"} or dict, optional
        Give every class the same total cost, however rare; or what an error costs, class by class.
    decision_threshold : float or str, optional
        Where the second of two classes begins, chosen on inner folds: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"``, or a number; 0 if not given.
    inner : int, default=5
        Folds of the training bags by which probabilities and thresholds are learned.
    probability : bool, default=True
        Whether the model learns probabilities. Without, it is trained once instead of once more
        for every inner fold, and has no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags; what suits the method (minmax) if not given.
    missing : {"refuse", "median"}, default="refuse"
        What happens to values that are NaN: an error, or the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Bytes that Grams, caches and copies may occupy together.
    random_state : int, RandomState instance or None, default=0
        The seed of everything random: the same seed gives the same numbers on any number of threads.
        None is 0, so that a program that says nothing can be repeated; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Threads: -1 for all cores, -2 for all but one. If not given, all that joblib leaves to this process
        (``parallel_config``, its workers, containers).

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
        "kernel": "kernel",
        "degree": "degree",
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
        kernel: Literal["rbf", "linear", "poly"] = "rbf",
        degree: int = 2,
        gamma_edge: float | str = "gamma",
        eps: float | str = "mean",
        orient: Literal["both", "canonical", "index"] = "both",
        zero: Literal["limit", "drop"] = "limit",
        norm: Literal["sqrt", "none"] = "sqrt",
        tol: float = 1e-8,
        c: float = 100,
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
        self.gamma = gamma
        self.kernel = kernel
        self.degree = degree
        self.gamma_edge = gamma_edge
        self.eps = eps
        self.orient = orient
        self.zero = zero
        self.norm = norm
        self.tol = tol
        self.c = c
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


class ExplicitMIGraphRegressor(BagRegressor):
    """MIGraph: compares the instances of two bags and the edges of their graphs.

    K(X, Y) = sum over instances of exp(-gamma |x - z|^2) + sum over edges of exp(-gamma_edge |e - f|^2), divided by
    sqrt(K(X, X) K(Y, Y)). Instances of a bag closer than eps are joined by an edge, described by the degrees and
    affinities at its ends. The edge sum is computed in time proportional to the number of edges. Other kernels of
    two instances can take the place of the first Gaussian. A support vector machine is trained on the bags.

    On the command line this is ``migraph-explicit``. Explanations: additive.

    Parameters
    ----------
    gamma : float or str, default="1/median"
        Width of the instance kernel exp(-gamma |x - z|^2). It takes a number above 0, N/median (N over the median
        squared distance of training instances), or N/d (over the number of attributes).
    kernel : {"rbf", "linear", "poly"}, default="rbf"
        Kernel of two instances: rbf, the Gaussian of width gamma; linear, x . z; or poly, (x . z + 1)^degree.
    degree : int, default=2
        Degree of the kernel poly; the others ignore it. It takes a whole number from 1 to 10.
    gamma_edge : float or str, default="gamma"
        Width of the edge kernel: that of the instances (gamma), or a number. It takes gamma | a number not below 0.
    eps : float or str, default="mean"
        Instances closer than this are joined by an edge: the bag's mean distance over pairs, or a number. It takes
        mean | a number not below 0.
    orient : {"both", "canonical", "index"}, default="both"
        Direction of an edge: both at half weight, the larger end first (canonical), or the earlier instance first
        (index).
    zero : {"limit", "drop"}, default="limit"
        Equal instances: an edge with the affinity of the limit of small distances, or none (drop).
    norm : {"sqrt", "none"}, default="sqrt"
        Normalisation: by the self-similarities (sqrt), or none.
    tol : float, default=1e-8
        Absolute error that the edge sums may cause in the normalised kernel; 0 sums over all pairs of edges. It
        takes a number not below 0.
    c : float, default=100
        Cost of an error; larger follows the training bags more closely. It takes a number above 0.
    tube : float, default=0.01
        Half-width of the tube of support vector regression (SVR's epsilon): errors up to this size cost nothing, in
        units of the target. It takes a number above 0.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags; what suits the method (minmax) if not given.
    missing : {"refuse", "median"}, default="refuse"
        What happens to values that are NaN: an error, or the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Bytes that Grams, caches and copies may occupy together.
    random_state : int, RandomState instance or None, default=0
        The seed of everything random: the same seed gives the same numbers on any number of threads.
        None is 0, so that a program that says nothing can be repeated; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Threads: -1 for all cores, -2 for all but one. If not given, all that joblib leaves to this process
        (``parallel_config``, its workers, containers).

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
        "kernel": "kernel",
        "degree": "degree",
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
        kernel: Literal["rbf", "linear", "poly"] = "rbf",
        degree: int = 2,
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
        precision: Literal["f64", "f32"] = "f64",
        memory: float = MEMORY,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.gamma = gamma
        self.kernel = kernel
        self.degree = degree
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
        self.precision = precision
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs


class MGDDVClassifier(BagClassifier):
    """Instance pairs weighted by how alike their labels probably are, concepts by density.

    K(X, Y) = sum over x in X, z in Y of exp(-gamma |x - z|^2) [p(x) p(z) + (1 - p(x)) (1 - p(z))], divided by the
    self-similarities; p is the probability that an instance is positive, averaged over concepts found by diverse
    density, each weighted by its density. For numbers the bracket is the expected similarity of two labels.
    Concepts are learned again in every fold and for every class.

    On the command line this is ``mg-ddv``. Explanations: additive.

    Parameters
    ----------
    gamma : float or str, default="1/d"
        Width of the instance kernel exp(-gamma |x - z|^2). It takes a number above 0, N/median (N over the median
        squared distance of training instances), or N/d (over the number of attributes).
    label_kernel : {"equal", "both"}, default="equal"
        For classes: the labels of two instances are similar if they are equal, or only if both are positive (both).
    search : {"dd", "em-dd"}, default="dd"
        How concepts are found: by maximising diverse density (dd), or by EM-DD.
    distance : {"weighted", "unweighted"}, default="weighted"
        Weighted: every attribute has a weight of its own, found together with the point; unweighted: one weight for
        all.
    rho : float, default=1
        Squared weight of an attribute at the start of the search, times the number of attributes; with
        distance=unweighted it stays fixed. It takes a number above 0.
    starts : float or str, default="all"
        Start from all instances of positive bags, or from this many, drawn at random. It takes all | a whole number
        from 1 to 1000000.
    iterations : int, default=30
        Maximum number of steps per start; more rarely changes the result. It takes a whole number from 1 to 10000.
    hypotheses : {"all", "best"}, default="all"
        Average over all concepts found, each with its weight, or take the one with the highest density alone
        (best).
    reuse : {"none", "outer"}, default="none"
        Inner folds search for concepts of their own (none), or reuse those of the whole training part (outer).
        outer is faster, but gamma, c, threshold and probabilities are then chosen on bags whose labels the concepts
        have seen.
    c : float, default=100
        Cost of an error; larger follows the training bags more closely. It takes a number above 0.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        How several classes become machines; what suits the method (one-vs-rest) if not given.
    class_weight : {"balanced"} or dict, optional
        Give every class the same total cost, however rare; or what an error costs, class by class.
    decision_threshold : float or str, optional
        Where the second of two classes begins, chosen on inner folds: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"``, or a number; 0 if not given.
    inner : int, default=5
        Folds of the training bags by which probabilities and thresholds are learned.
    probability : bool, default=True
        Whether the model learns probabilities. Without, it is trained once instead of once more
        for every inner fold, and has no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags; what suits the method (zscore) if not given.
    missing : {"refuse", "median"}, default="refuse"
        What happens to values that are NaN: an error, or the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Bytes that Grams, caches and copies may occupy together.
    random_state : int, RandomState instance or None, default=0
        The seed of everything random: the same seed gives the same numbers on any number of threads.
        None is 0, so that a program that says nothing can be repeated; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Threads: -1 for all cores, -2 for all but one. If not given, all that joblib leaves to this process
        (``parallel_config``, its workers, containers).

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
    Kwok, Cheung: Marginalized multi-instance kernels, IJCAI 2007

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.MGDDVClassifier().fit(data.bags, data.y)
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "mg-ddv"
    _parameters: ClassVar[dict[str, str]] = {
        "gamma": "gamma",
        "label_kernel": "label-kernel",
        "search": "search",
        "distance": "distance",
        "rho": "rho",
        "starts": "starts",
        "iterations": "iterations",
        "hypotheses": "hypotheses",
        "reuse": "reuse",
        "c": "c",
    }

    def __init__(
        self,
        *,
        gamma: float | str = "1/d",
        label_kernel: Literal["equal", "both"] = "equal",
        search: Literal["dd", "em-dd"] = "dd",
        distance: Literal["weighted", "unweighted"] = "weighted",
        rho: float = 1,
        starts: float | str = "all",
        iterations: int = 30,
        hypotheses: Literal["all", "best"] = "all",
        reuse: Literal["none", "outer"] = "none",
        c: float = 100,
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
        self.gamma = gamma
        self.label_kernel = label_kernel
        self.search = search
        self.distance = distance
        self.rho = rho
        self.starts = starts
        self.iterations = iterations
        self.hypotheses = hypotheses
        self.reuse = reuse
        self.c = c
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


class MGDDVRegressor(BagRegressor):
    """Instance pairs weighted by how alike their labels probably are, concepts by density.

    K(X, Y) = sum over x in X, z in Y of exp(-gamma |x - z|^2) [p(x) p(z) + (1 - p(x)) (1 - p(z))], divided by the
    self-similarities; p is the probability that an instance is positive, averaged over concepts found by diverse
    density, each weighted by its density. For numbers the bracket is the expected similarity of two labels.
    Concepts are learned again in every fold and for every class.

    On the command line this is ``mg-ddv``. Explanations: additive.

    Parameters
    ----------
    gamma : float or str, default="1/d"
        Width of the instance kernel exp(-gamma |x - z|^2). It takes a number above 0, N/median (N over the median
        squared distance of training instances), or N/d (over the number of attributes).
    label_kernel : {"linear", "gaussian"}, default="gaussian"
        For numbers: similarity of two labels in [0, 1]: linear, 1 - |a - b|, or gaussian, 10^(-4 (a - b)^2).
    search : {"dd", "em-dd"}, default="dd"
        How concepts are found: by maximising diverse density (dd), or by EM-DD.
    distance : {"weighted", "unweighted"}, default="weighted"
        Weighted: every attribute has a weight of its own, found together with the point; unweighted: one weight for
        all.
    rho : float, default=1
        Squared weight of an attribute at the start of the search, times the number of attributes; with
        distance=unweighted it stays fixed. It takes a number above 0.
    starts : float or str, default="all"
        Start from all instances of positive bags, or from this many, drawn at random. It takes all | a whole number
        from 1 to 1000000.
    iterations : int, default=30
        Maximum number of steps per start; more rarely changes the result. It takes a whole number from 1 to 10000.
    hypotheses : {"all", "best"}, default="all"
        Average over all concepts found, each with its weight, or take the one with the highest density alone
        (best).
    reuse : {"none", "outer"}, default="none"
        Inner folds search for concepts of their own (none), or reuse those of the whole training part (outer).
        outer is faster, but gamma, c, threshold and probabilities are then chosen on bags whose labels the concepts
        have seen.
    c : float, default=100
        Cost of an error; larger follows the training bags more closely. It takes a number above 0.
    tube : float, default=0.01
        Half-width of the tube of support vector regression (SVR's epsilon): errors up to this size cost nothing, in
        units of the target. It takes a number above 0.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags; what suits the method (zscore) if not given.
    missing : {"refuse", "median"}, default="refuse"
        What happens to values that are NaN: an error, or the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Bytes that Grams, caches and copies may occupy together.
    random_state : int, RandomState instance or None, default=0
        The seed of everything random: the same seed gives the same numbers on any number of threads.
        None is 0, so that a program that says nothing can be repeated; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Threads: -1 for all cores, -2 for all but one. If not given, all that joblib leaves to this process
        (``parallel_config``, its workers, containers).

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
    Kwok, Cheung: Marginalized multi-instance kernels, IJCAI 2007

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.MGDDVRegressor().fit(data.bags, data.bags.sizes())
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "mg-ddv"
    _parameters: ClassVar[dict[str, str]] = {
        "gamma": "gamma",
        "label_kernel": "label-kernel",
        "search": "search",
        "distance": "distance",
        "rho": "rho",
        "starts": "starts",
        "iterations": "iterations",
        "hypotheses": "hypotheses",
        "reuse": "reuse",
        "c": "c",
        "tube": "tube",
    }

    def __init__(
        self,
        *,
        gamma: float | str = "1/d",
        label_kernel: Literal["linear", "gaussian"] = "gaussian",
        search: Literal["dd", "em-dd"] = "dd",
        distance: Literal["weighted", "unweighted"] = "weighted",
        rho: float = 1,
        starts: float | str = "all",
        iterations: int = 30,
        hypotheses: Literal["all", "best"] = "all",
        reuse: Literal["none", "outer"] = "none",
        c: float = 100,
        tube: float = 0.01,
        scale: str | None = None,
        missing: Literal["refuse", "median"] = "refuse",
        precision: Literal["f64", "f32"] = "f64",
        memory: float = MEMORY,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.gamma = gamma
        self.label_kernel = label_kernel
        self.search = search
        self.distance = distance
        self.rho = rho
        self.starts = starts
        self.iterations = iterations
        self.hypotheses = hypotheses
        self.reuse = reuse
        self.c = c
        self.tube = tube
        self.scale = scale
        self.missing = missing
        self.precision = precision
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs


class MGACCClassifier(BagClassifier):
    """Instance pairs weighted by how alike their labels probably are, concepts by accuracy.

    The kernel of mg-ddv with concepts weighted by the number of training bags they classify correctly (a bag counts
    as positive if exp(-D) is at least 1/2 for one of its instances), or, for numbers, by how far their squared
    error lies below the largest. One dense concept cannot dominate, as it can in mg-ddv.

    On the command line this is ``mg-acc``. Explanations: additive.

    Parameters
    ----------
    gamma : float or str, default="1/d"
        Width of the instance kernel exp(-gamma |x - z|^2). It takes a number above 0, N/median (N over the median
        squared distance of training instances), or N/d (over the number of attributes).
    label_kernel : {"equal", "both"}, default="equal"
        For classes: the labels of two instances are similar if they are equal, or only if both are positive (both).
    search : {"dd", "em-dd"}, default="dd"
        How concepts are found: by maximising diverse density (dd), or by EM-DD.
    distance : {"weighted", "unweighted"}, default="weighted"
        Weighted: every attribute has a weight of its own, found together with the point; unweighted: one weight for
        all.
    rho : float, default=1
        Squared weight of an attribute at the start of the search, times the number of attributes; with
        distance=unweighted it stays fixed. It takes a number above 0.
    starts : float or str, default="all"
        Start from all instances of positive bags, or from this many, drawn at random. It takes all | a whole number
        from 1 to 1000000.
    iterations : int, default=30
        Maximum number of steps per start; more rarely changes the result. It takes a whole number from 1 to 10000.
    hypotheses : {"all", "best"}, default="all"
        Average over all concepts found, each with its weight, or take the one with the highest density alone
        (best).
    reuse : {"none", "outer"}, default="none"
        Inner folds search for concepts of their own (none), or reuse those of the whole training part (outer).
        outer is faster, but gamma, c, threshold and probabilities are then chosen on bags whose labels the concepts
        have seen.
    c : float, default=100
        Cost of an error; larger follows the training bags more closely. It takes a number above 0.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        How several classes become machines; what suits the method (one-vs-rest) if not given.
    class_weight : {"balanced"} or dict, optional
        Give every class the same total cost, however rare; or what an error costs, class by class.
    decision_threshold : float or str, optional
        Where the second of two classes begins, chosen on inner folds: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"``, or a number; 0 if not given.
    inner : int, default=5
        Folds of the training bags by which probabilities and thresholds are learned.
    probability : bool, default=True
        Whether the model learns probabilities. Without, it is trained once instead of once more
        for every inner fold, and has no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags; what suits the method (zscore) if not given.
    missing : {"refuse", "median"}, default="refuse"
        What happens to values that are NaN: an error, or the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Bytes that Grams, caches and copies may occupy together.
    random_state : int, RandomState instance or None, default=0
        The seed of everything random: the same seed gives the same numbers on any number of threads.
        None is 0, so that a program that says nothing can be repeated; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Threads: -1 for all cores, -2 for all but one. If not given, all that joblib leaves to this process
        (``parallel_config``, its workers, containers).

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
    Kwok, Cheung: Marginalized multi-instance kernels, IJCAI 2007

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.MGACCClassifier().fit(data.bags, data.y)
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "mg-acc"
    _parameters: ClassVar[dict[str, str]] = {
        "gamma": "gamma",
        "label_kernel": "label-kernel",
        "search": "search",
        "distance": "distance",
        "rho": "rho",
        "starts": "starts",
        "iterations": "iterations",
        "hypotheses": "hypotheses",
        "reuse": "reuse",
        "c": "c",
    }

    def __init__(
        self,
        *,
        gamma: float | str = "1/d",
        label_kernel: Literal["equal", "both"] = "equal",
        search: Literal["dd", "em-dd"] = "dd",
        distance: Literal["weighted", "unweighted"] = "weighted",
        rho: float = 1,
        starts: float | str = "all",
        iterations: int = 30,
        hypotheses: Literal["all", "best"] = "all",
        reuse: Literal["none", "outer"] = "none",
        c: float = 100,
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
        self.gamma = gamma
        self.label_kernel = label_kernel
        self.search = search
        self.distance = distance
        self.rho = rho
        self.starts = starts
        self.iterations = iterations
        self.hypotheses = hypotheses
        self.reuse = reuse
        self.c = c
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


class MGACCRegressor(BagRegressor):
    """Instance pairs weighted by how alike their labels probably are, concepts by accuracy.

    The kernel of mg-ddv with concepts weighted by the number of training bags they classify correctly (a bag counts
    as positive if exp(-D) is at least 1/2 for one of its instances), or, for numbers, by how far their squared
    error lies below the largest. One dense concept cannot dominate, as it can in mg-ddv.

    On the command line this is ``mg-acc``. Explanations: additive.

    Parameters
    ----------
    gamma : float or str, default="1/d"
        Width of the instance kernel exp(-gamma |x - z|^2). It takes a number above 0, N/median (N over the median
        squared distance of training instances), or N/d (over the number of attributes).
    label_kernel : {"linear", "gaussian"}, default="gaussian"
        For numbers: similarity of two labels in [0, 1]: linear, 1 - |a - b|, or gaussian, 10^(-4 (a - b)^2).
    search : {"dd", "em-dd"}, default="dd"
        How concepts are found: by maximising diverse density (dd), or by EM-DD.
    distance : {"weighted", "unweighted"}, default="weighted"
        Weighted: every attribute has a weight of its own, found together with the point; unweighted: one weight for
        all.
    rho : float, default=1
        Squared weight of an attribute at the start of the search, times the number of attributes; with
        distance=unweighted it stays fixed. It takes a number above 0.
    starts : float or str, default="all"
        Start from all instances of positive bags, or from this many, drawn at random. It takes all | a whole number
        from 1 to 1000000.
    iterations : int, default=30
        Maximum number of steps per start; more rarely changes the result. It takes a whole number from 1 to 10000.
    hypotheses : {"all", "best"}, default="all"
        Average over all concepts found, each with its weight, or take the one with the highest density alone
        (best).
    reuse : {"none", "outer"}, default="none"
        Inner folds search for concepts of their own (none), or reuse those of the whole training part (outer).
        outer is faster, but gamma, c, threshold and probabilities are then chosen on bags whose labels the concepts
        have seen.
    c : float, default=100
        Cost of an error; larger follows the training bags more closely. It takes a number above 0.
    tube : float, default=0.01
        Half-width of the tube of support vector regression (SVR's epsilon): errors up to this size cost nothing, in
        units of the target. It takes a number above 0.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags; what suits the method (zscore) if not given.
    missing : {"refuse", "median"}, default="refuse"
        What happens to values that are NaN: an error, or the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Bytes that Grams, caches and copies may occupy together.
    random_state : int, RandomState instance or None, default=0
        The seed of everything random: the same seed gives the same numbers on any number of threads.
        None is 0, so that a program that says nothing can be repeated; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Threads: -1 for all cores, -2 for all but one. If not given, all that joblib leaves to this process
        (``parallel_config``, its workers, containers).

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
    Kwok, Cheung: Marginalized multi-instance kernels, IJCAI 2007

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.MGACCRegressor().fit(data.bags, data.bags.sizes())
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "mg-acc"
    _parameters: ClassVar[dict[str, str]] = {
        "gamma": "gamma",
        "label_kernel": "label-kernel",
        "search": "search",
        "distance": "distance",
        "rho": "rho",
        "starts": "starts",
        "iterations": "iterations",
        "hypotheses": "hypotheses",
        "reuse": "reuse",
        "c": "c",
        "tube": "tube",
    }

    def __init__(
        self,
        *,
        gamma: float | str = "1/d",
        label_kernel: Literal["linear", "gaussian"] = "gaussian",
        search: Literal["dd", "em-dd"] = "dd",
        distance: Literal["weighted", "unweighted"] = "weighted",
        rho: float = 1,
        starts: float | str = "all",
        iterations: int = 30,
        hypotheses: Literal["all", "best"] = "all",
        reuse: Literal["none", "outer"] = "none",
        c: float = 100,
        tube: float = 0.01,
        scale: str | None = None,
        missing: Literal["refuse", "median"] = "refuse",
        precision: Literal["f64", "f32"] = "f64",
        memory: float = MEMORY,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.gamma = gamma
        self.label_kernel = label_kernel
        self.search = search
        self.distance = distance
        self.rho = rho
        self.starts = starts
        self.iterations = iterations
        self.hypotheses = hypotheses
        self.reuse = reuse
        self.c = c
        self.tube = tube
        self.scale = scale
        self.missing = missing
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
    ("sil", False): SILClassifier,
    ("mi-kernel", False): MIKernelClassifier,
    ("mi-kernel", True): MIKernelRegressor,
    ("dd", False): DDClassifier,
    ("dd", True): DDRegressor,
    ("em-dd", False): EMDDClassifier,
    ("em-dd", True): EMDDRegressor,
    ("dd-svm", False): DDSVMClassifier,
    ("wmksvm", False): WMKSVMClassifier,
    ("wmksvm", True): WMKSVMRegressor,
    ("mi-svm", False): InstanceMISVMClassifier,
    ("mi-svm-bag", False): BagMISVMClassifier,
    ("mirsvm", False): MIRSVMClassifier,
    ("migraph", False): MiGraphClassifier,
    ("migraph", True): MiGraphRegressor,
    ("isk", False): ISKClassifier,
    ("isk", True): ISKRegressor,
    ("migraph-explicit", False): ExplicitMIGraphClassifier,
    ("migraph-explicit", True): ExplicitMIGraphRegressor,
    ("mg-ddv", False): MGDDVClassifier,
    ("mg-ddv", True): MGDDVRegressor,
    ("mg-acc", False): MGACCClassifier,
    ("mg-acc", True): MGACCRegressor,
}
