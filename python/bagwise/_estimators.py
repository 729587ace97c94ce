"""Estimators, one per method and task. Written by `cargo xtask python` from the registry of methods: do not edit."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from bagwise._base import BagClassifier, BagEstimator, BagRegressor, FeatureMap
from bagwise._options import MEMORY

__all__ = [
    "BagMISVMClassifier",
    "BagOfWordsClassifier",
    "BagOfWordsRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "CCEClassifier",
    "CitationKNNClassifier",
    "CitationKNNRegressor",
    "DDClassifier",
    "DDRegressor",
    "DDSVMClassifier",
    "EMDClassifier",
    "EMDDClassifier",
    "EMDDRegressor",
    "EMDRegressor",
    "ExplicitMIGraphClassifier",
    "ExplicitMIGraphRegressor",
    "ISKClassifier",
    "ISKRegressor",
    "InstanceMISVMClassifier",
    "MGACCClassifier",
    "MGACCRegressor",
    "MGDDVClassifier",
    "MGDDVRegressor",
    "MIBoostClassifier",
    "MIFVClassifier",
    "MIFVRegressor",
    "MIKernelClassifier",
    "MIKernelRegressor",
    "MILESClassifier",
    "MILESRegressor",
    "MILNetClassifier",
    "MILNetRegressor",
    "MIRSVMClassifier",
    "MIVLADClassifier",
    "MIVLADRegressor",
    "MIWrapperClassifier",
    "MajorityClassifier",
    "MajorityRegressor",
    "MiGraphClassifier",
    "MiGraphRegressor",
    "MindClassifier",
    "MindRegressor",
    "MissSVMClassifier",
    "OptimalBallClassifier",
    "RBFMIPClassifier",
    "RBFMIPRegressor",
    "SILClassifier",
    "SimpleMIClassifier",
    "SimpleMIRegressor",
    "StackingClassifier",
    "StackingRegressor",
    "TLCClassifier",
    "WMKSVMClassifier",
    "WMKSVMRegressor",
]


class MajorityClassifier(BagClassifier):
    """Baseline: the most frequent class, or the mean.

    Predicts the most frequent class of the training bags for every bag, or the mean of their values. A method that
    does not beat it has learned nothing.

    On the command line this is ``majority``. Explanations: additive: only a bias.

    Parameters
    ----------
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        Scheme for more than two classes. The default of this method is one-vs-one.
    class_weight : {"balanced"} or dict, optional
        ``"balanced"`` gives every class the same total weight. A dictionary gives the cost of an error in each class.
    decision_threshold : float or str, optional
        Threshold of the decision value for the second of two classes: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"`` (chosen on inner folds), or a number; 0 if not given.
    inner : int, default=5
        Number of inner folds, on which probabilities are calibrated and thresholds chosen.
    probability : bool, default=True
        Whether to calibrate probabilities. This trains another model for every inner fold. If False, there
        is no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is none.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in ascending order.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

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

    On the command line this is ``majority``. Explanations: additive: only a bias.

    Parameters
    ----------
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is none.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

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
    """SVM on bag means (or minima and maxima).

    A bag becomes the mean of its instances, the centre of their range (min + max) / 2, or their minima and maxima
    side by side. An SVM with a Gaussian or linear kernel is trained on these vectors.

    On the command line this is ``simple-mi``. Explanations: additive for embed=mean kernel=linear, otherwise none.

    Parameters
    ----------
    embed : {"mean", "geometric", "minmax"}, default="mean"
        The vector of a bag: mean, geometric (the centre of the range), or minmax (minima and maxima side by side).
    kernel : {"rbf", "linear"}, default="rbf"
        Kernel between the vectors of bags.
    gamma : float or str, default="1/median"
        Gamma of the Gaussian kernel exp(-gamma |x - z|^2); a larger gamma means a narrower kernel. It takes a
        number above 0, N/median (N divided by the median squared distance between training instances), or N/d (N
        divided by the number of attributes).
    c : float, default=100
        Cost of an error; a larger value fits the training bags more closely. It takes a number above 0.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        Scheme for more than two classes. The default of this method is one-vs-one.
    class_weight : {"balanced"} or dict, optional
        ``"balanced"`` gives every class the same total weight. A dictionary gives the cost of an error in each class.
    decision_threshold : float or str, optional
        Threshold of the decision value for the second of two classes: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"`` (chosen on inner folds), or a number; 0 if not given.
    inner : int, default=5
        Number of inner folds, on which probabilities are calibrated and thresholds chosen.
    probability : bool, default=True
        Whether to calibrate probabilities. This trains another model for every inner fold. If False, there
        is no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is minmax.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in ascending order.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

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
    """SVM on bag means (or minima and maxima).

    A bag becomes the mean of its instances, the centre of their range (min + max) / 2, or their minima and maxima
    side by side. An SVM with a Gaussian or linear kernel is trained on these vectors.

    On the command line this is ``simple-mi``. Explanations: additive for embed=mean kernel=linear, otherwise none.

    Parameters
    ----------
    embed : {"mean", "geometric", "minmax"}, default="mean"
        The vector of a bag: mean, geometric (the centre of the range), or minmax (minima and maxima side by side).
    kernel : {"rbf", "linear"}, default="rbf"
        Kernel between the vectors of bags.
    gamma : float or str, default="1/median"
        Gamma of the Gaussian kernel exp(-gamma |x - z|^2); a larger gamma means a narrower kernel. It takes a
        number above 0, N/median (N divided by the median squared distance between training instances), or N/d (N
        divided by the number of attributes).
    c : float, default=100
        Cost of an error; a larger value fits the training bags more closely. It takes a number above 0.
    tube : float, default=0.01
        Epsilon of support vector regression: errors up to this size, in units of the target, cost nothing. It takes
        a number above 0.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is minmax.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

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


class MIWrapperClassifier(BagClassifier):
    """Logistic regression on instances, probabilities averaged over a bag.

    Every instance gets the label of its bag and an equal share of its weight. A ridge logistic regression is
    trained on all instances, and the probabilities of a bag's instances are combined: by default the output is
    their mean minus 1/2.

    On the command line this is ``mi-wrapper``. Explanations: additive; witness for combine=max.

    Parameters
    ----------
    c : float, default=1
        Cost of an error; a larger value fits the training bags more closely. It takes a number above 0.
    combine : {"mean", "geometric", "max"}, default="mean"
        How the probabilities of instances become that of their bag: their mean, the mean of their log odds, or the
        largest.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        Scheme for more than two classes. The default of this method is one-vs-rest.
    class_weight : {"balanced"} or dict, optional
        ``"balanced"`` gives every class the same total weight. A dictionary gives the cost of an error in each class.
    decision_threshold : float or str, optional
        Threshold of the decision value for the second of two classes: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"`` (chosen on inner folds), or a number; 0 if not given.
    inner : int, default=5
        Number of inner folds, on which probabilities are calibrated and thresholds chosen.
    probability : bool, default=True
        Whether to calibrate probabilities. This trains another model for every inner fold. If False, there
        is no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is minmax.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in ascending order.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

    References
    ----------
    Frank, Xu: Applying propositional learning algorithms to multi-instance data, University of Waikato 2003

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.MIWrapperClassifier().fit(data.bags, data.y)
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "mi-wrapper"
    _parameters: ClassVar[dict[str, str]] = {"c": "c", "combine": "combine"}

    def __init__(
        self,
        *,
        c: float = 1,
        combine: Literal["mean", "geometric", "max"] = "mean",
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
        self.combine = combine
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


class OptimalBallClassifier(BagClassifier):
    """The ball around an instance that separates the training bags best.

    A bag is positive if one of its instances lies inside a ball. Every instance of a positive training bag is tried
    as the centre, with every radius that makes a difference. The ball that classifies most training bags correctly
    is kept; among ties, the largest. The output of a bag is the radius minus the distance of its nearest instance.

    On the command line this is ``optimal-ball``. Explanations: witness: the instance nearest to the centre.

    Parameters
    ----------
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        Scheme for more than two classes. The default of this method is one-vs-rest.
    class_weight : {"balanced"} or dict, optional
        ``"balanced"`` gives every class the same total weight. A dictionary gives the cost of an error in each class.
    decision_threshold : float or str, optional
        Threshold of the decision value for the second of two classes: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"`` (chosen on inner folds), or a number; 0 if not given.
    inner : int, default=5
        Number of inner folds, on which probabilities are calibrated and thresholds chosen.
    probability : bool, default=True
        Whether to calibrate probabilities. This trains another model for every inner fold. If False, there
        is no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is minmax.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in ascending order.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

    References
    ----------
    Auer, Ortner: A boosting approach to multiple instance learning, ECML 2004

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.OptimalBallClassifier().fit(data.bags, data.y)
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "optimal-ball"
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


class CitationKNNClassifier(BagClassifier):
    """Nearest training bags vote, and so do bags that would have the new bag as a near neighbour.

    The distance between two bags is that of their nearest pair of instances, or one of a higher rank. The nearest
    training bags vote, and so do the training bags that would count the new bag among their own nearest. The output
    is the mean of the votes, weighted by the weights of the bags. Nothing is trained, and each vote can be traced
    to a pair of instances.

    On the command line this is ``citation-knn``. Explanations: additive.

    Parameters
    ----------
    references : int, default=2
        Number of nearest training bags that vote; bags at the same distance all vote. It takes a whole number from
        1 to 1000.
    citers : int, default=4
        A training bag also votes if the new bag is among this many bags nearest to it. It takes a whole number from
        0 to 1000.
    rank : float or str, default=1
        Which instance decides the distance of two bags: 1 is the nearest pair, max the ordinary Hausdorff distance.
        Bags that share a background need a higher rank. It takes max | a whole number from 1 to 1000.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        Scheme for more than two classes. The default of this method is one-vs-rest.
    class_weight : {"balanced"} or dict, optional
        ``"balanced"`` gives every class the same total weight. A dictionary gives the cost of an error in each class.
    decision_threshold : float or str, optional
        Threshold of the decision value for the second of two classes: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"`` (chosen on inner folds), or a number; 0 if not given.
    inner : int, default=5
        Number of inner folds, on which probabilities are calibrated and thresholds chosen.
    probability : bool, default=True
        Whether to calibrate probabilities. This trains another model for every inner fold. If False, there
        is no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is minmax.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in ascending order.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

    References
    ----------
    Wang, Zucker: Solving the multiple-instance problem: a lazy learning approach, ICML 2000

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.CitationKNNClassifier().fit(data.bags, data.y)
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "citation-knn"
    _parameters: ClassVar[dict[str, str]] = {"references": "references", "citers": "citers", "rank": "rank"}

    def __init__(
        self,
        *,
        references: int = 2,
        citers: int = 4,
        rank: float | str = 1,
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
        self.references = references
        self.citers = citers
        self.rank = rank
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


class CitationKNNRegressor(BagRegressor):
    """Nearest training bags vote, and so do bags that would have the new bag as a near neighbour.

    The distance between two bags is that of their nearest pair of instances, or one of a higher rank. The nearest
    training bags vote, and so do the training bags that would count the new bag among their own nearest. The output
    is the mean of the votes, weighted by the weights of the bags. Nothing is trained, and each vote can be traced
    to a pair of instances.

    On the command line this is ``citation-knn``. Explanations: additive.

    Parameters
    ----------
    references : int, default=2
        Number of nearest training bags that vote; bags at the same distance all vote. It takes a whole number from
        1 to 1000.
    citers : int, default=4
        A training bag also votes if the new bag is among this many bags nearest to it. It takes a whole number from
        0 to 1000.
    rank : float or str, default=1
        Which instance decides the distance of two bags: 1 is the nearest pair, max the ordinary Hausdorff distance.
        Bags that share a background need a higher rank. It takes max | a whole number from 1 to 1000.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is minmax.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

    References
    ----------
    Wang, Zucker: Solving the multiple-instance problem: a lazy learning approach, ICML 2000

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.CitationKNNRegressor().fit(data.bags, data.bags.sizes())
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "citation-knn"
    _parameters: ClassVar[dict[str, str]] = {"references": "references", "citers": "citers", "rank": "rank"}

    def __init__(
        self,
        *,
        references: int = 2,
        citers: int = 4,
        rank: float | str = 1,
        scale: str | None = None,
        missing: Literal["refuse", "median"] = "refuse",
        precision: Literal["f64", "f32"] = "f64",
        memory: float = MEMORY,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.references = references
        self.citers = citers
        self.rank = rank
        self.scale = scale
        self.missing = missing
        self.precision = precision
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs


class MIBoostClassifier(BagClassifier):
    """Boosted decision stumps, averaged over the instances of a bag.

    Each round adds a rule that compares one attribute with a threshold, and gives it the factor that lowers the
    exponential loss of the bags most. The output of a bag is the sum over the rules of the mean over its instances.
    The rules of a model can be printed.

    On the command line this is ``mi-boost``. Explanations: additive.

    Parameters
    ----------
    rounds : int, default=50
        Maximum number of rules. It takes a whole number from 1 to 10000.
    criterion : {"error", "entropy"}, default="error"
        How a threshold is chosen: by the weight of the instances it misclassifies, or by the entropy of the labels
        on its two sides.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        Scheme for more than two classes. The default of this method is one-vs-rest.
    class_weight : {"balanced"} or dict, optional
        ``"balanced"`` gives every class the same total weight. A dictionary gives the cost of an error in each class.
    decision_threshold : float or str, optional
        Threshold of the decision value for the second of two classes: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"`` (chosen on inner folds), or a number; 0 if not given.
    inner : int, default=5
        Number of inner folds, on which probabilities are calibrated and thresholds chosen.
    probability : bool, default=True
        Whether to calibrate probabilities. This trains another model for every inner fold. If False, there
        is no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is none.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in ascending order.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

    References
    ----------
    Xu, Frank: Logistic regression and boosting for labeled bags of instances, PAKDD 2004

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.MIBoostClassifier().fit(data.bags, data.y)
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "mi-boost"
    _parameters: ClassVar[dict[str, str]] = {"rounds": "rounds", "criterion": "criterion"}

    def __init__(
        self,
        *,
        rounds: int = 50,
        criterion: Literal["error", "entropy"] = "error",
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
        self.rounds = rounds
        self.criterion = criterion
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


class SILClassifier(BagClassifier):
    """SVM on all instances with the labels of their bags.

    Every instance gets the label of its bag, and an SVM is trained on all instances. The output of a bag is the
    largest output of its instances.

    On the command line this is ``sil``. Explanations: witness: the output of every instance, and the one that decides.

    Parameters
    ----------
    kernel : {"rbf", "linear"}, default="rbf"
        Instance kernel: rbf, exp(-gamma |x - z|^2), or linear, the inner product.
    gamma : float or str, default="1/median"
        Gamma of the Gaussian kernel exp(-gamma |x - z|^2); a larger gamma means a narrower kernel. It takes a
        number above 0, N/median (N divided by the median squared distance between training instances), or N/d (N
        divided by the number of attributes).
    c : float, default=1
        Cost of an error; a larger value fits the training instances more closely. It takes a number above 0.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        Scheme for more than two classes. The default of this method is one-vs-rest.
    class_weight : {"balanced"} or dict, optional
        ``"balanced"`` gives every class the same total weight. A dictionary gives the cost of an error in each class.
    decision_threshold : float or str, optional
        Threshold of the decision value for the second of two classes: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"`` (chosen on inner folds), or a number; 0 if not given.
    inner : int, default=5
        Number of inner folds, on which probabilities are calibrated and thresholds chosen.
    probability : bool, default=True
        Whether to calibrate probabilities. This trains another model for every inner fold. If False, there
        is no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is zscore.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in ascending order.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

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


class BagOfWordsClassifier(BagClassifier):
    """Histograms of instances over k-means clusters and a linear SVM.

    k-means clusters the training instances. A bag becomes the histogram of its instances over the clusters (or,
    with assign=soft, their mean posteriors under a Gaussian mixture), each share raised to a power, scaled to
    length 1. A linear SVM is trained on these vectors. Time is linear in the number of instances.

    On the command line this is ``bow``. Explanations: additive.

    Parameters
    ----------
    centres : int, default=64
        Number of clusters of training instances; fewer if there are fewer distinct instances. Values above the
        number of training instances are dropped from a list. It takes a whole number from 1 to 65535.
    assign : {"hard", "soft"}, default="hard"
        Hard counts an instance in the cluster of its nearest centre; soft in all components of a Gaussian mixture,
        by their posteriors.
    power : float or str, default=1
        Exponent of the shares: 1 leaves them unchanged, 1/2 takes square roots, 0 keeps only whether a cluster is
        present. It takes a fraction from 0 to 1, such as 11/20.
    c : float, default=10
        Cost of an error; a larger value fits the training bags more closely. It takes a number above 0.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        Scheme for more than two classes. The default of this method is one-vs-one.
    class_weight : {"balanced"} or dict, optional
        ``"balanced"`` gives every class the same total weight. A dictionary gives the cost of an error in each class.
    decision_threshold : float or str, optional
        Threshold of the decision value for the second of two classes: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"`` (chosen on inner folds), or a number; 0 if not given.
    inner : int, default=5
        Number of inner folds, on which probabilities are calibrated and thresholds chosen.
    probability : bool, default=True
        Whether to calibrate probabilities. This trains another model for every inner fold. If False, there
        is no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is minmax.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in ascending order.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

    References
    ----------
    Csurka, Dance, Fan, Willamowski, Bray: Visual categorization with bags of keypoints, 2004

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.BagOfWordsClassifier().fit(data.bags, data.y)
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "bow"
    _parameters: ClassVar[dict[str, str]] = {"centres": "centres", "assign": "assign", "power": "power", "c": "c"}

    def __init__(
        self,
        *,
        centres: int = 64,
        assign: Literal["hard", "soft"] = "hard",
        power: float | str = 1,
        c: float = 10,
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
        self.centres = centres
        self.assign = assign
        self.power = power
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


class BagOfWordsRegressor(BagRegressor):
    """Histograms of instances over k-means clusters and a linear SVM.

    k-means clusters the training instances. A bag becomes the histogram of its instances over the clusters (or,
    with assign=soft, their mean posteriors under a Gaussian mixture), each share raised to a power, scaled to
    length 1. A linear SVM is trained on these vectors. Time is linear in the number of instances.

    On the command line this is ``bow``. Explanations: additive.

    Parameters
    ----------
    centres : int, default=64
        Number of clusters of training instances; fewer if there are fewer distinct instances. Values above the
        number of training instances are dropped from a list. It takes a whole number from 1 to 65535.
    assign : {"hard", "soft"}, default="hard"
        Hard counts an instance in the cluster of its nearest centre; soft in all components of a Gaussian mixture,
        by their posteriors.
    power : float or str, default=1
        Exponent of the shares: 1 leaves them unchanged, 1/2 takes square roots, 0 keeps only whether a cluster is
        present. It takes a fraction from 0 to 1, such as 11/20.
    c : float, default=10
        Cost of an error; a larger value fits the training bags more closely. It takes a number above 0.
    tube : float, default=0.01
        Epsilon of support vector regression: errors up to this size, in units of the target, cost nothing. It takes
        a number above 0.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is minmax.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

    References
    ----------
    Csurka, Dance, Fan, Willamowski, Bray: Visual categorization with bags of keypoints, 2004

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.BagOfWordsRegressor().fit(data.bags, data.bags.sizes())
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "bow"
    _parameters: ClassVar[dict[str, str]] = {
        "centres": "centres",
        "assign": "assign",
        "power": "power",
        "c": "c",
        "tube": "tube",
    }

    def __init__(
        self,
        *,
        centres: int = 64,
        assign: Literal["hard", "soft"] = "hard",
        power: float | str = 1,
        c: float = 10,
        tube: float = 0.01,
        scale: str | None = None,
        missing: Literal["refuse", "median"] = "refuse",
        precision: Literal["f64", "f32"] = "f64",
        memory: float = MEMORY,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.centres = centres
        self.assign = assign
        self.power = power
        self.c = c
        self.tube = tube
        self.scale = scale
        self.missing = missing
        self.precision = precision
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs


class CCEClassifier(BagClassifier):
    """A vote of linear SVMs on which clusters of several codebooks occur in a bag.

    k-means clusters the training instances into step, 2 step, ... clusters, once for each member of the ensemble.
    For each member a bag becomes one bit per cluster: whether any of its instances belongs to it. A linear SVM is
    trained on the bits of each member, and the members vote.

    On the command line this is ``cce``. Explanations: additive for combine=mean, otherwise none.

    Parameters
    ----------
    members : int, default=5
        Number of codebooks, each with an SVM that votes. It takes a whole number from 1 to 100.
    step : int, default=10
        Clusters of the first codebook; the others have two, three, ... times as many, but no more than there are
        distinct training instances. It takes a whole number from 1 to 600.
    combine : {"vote", "mean"}, default="vote"
        How members are combined: vote counts their signs and breaks ties by the mean; mean averages their outputs,
        which can be explained.
    c : float, default=1
        Cost of an error; a larger value fits the training bags more closely. It takes a number above 0.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        Scheme for more than two classes. The default of this method is one-vs-one.
    class_weight : {"balanced"} or dict, optional
        ``"balanced"`` gives every class the same total weight. A dictionary gives the cost of an error in each class.
    decision_threshold : float or str, optional
        Threshold of the decision value for the second of two classes: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"`` (chosen on inner folds), or a number; 0 if not given.
    inner : int, default=5
        Number of inner folds, on which probabilities are calibrated and thresholds chosen.
    probability : bool, default=True
        Whether to calibrate probabilities. This trains another model for every inner fold. If False, there
        is no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is minmax.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in ascending order.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

    References
    ----------
    Zhou, Zhang: Solving multi-instance problems with classifier ensemble based on constructive clustering, KAIS 11,
    2007

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.CCEClassifier().fit(data.bags, data.y)
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "cce"
    _parameters: ClassVar[dict[str, str]] = {"members": "members", "step": "step", "combine": "combine", "c": "c"}

    def __init__(
        self,
        *,
        members: int = 5,
        step: int = 10,
        combine: Literal["vote", "mean"] = "vote",
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
        self.members = members
        self.step = step
        self.combine = combine
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


class TLCClassifier(BagClassifier):
    """Counts of instances in the nodes of a tree and a linear SVM.

    A decision tree is grown on all instances, each with the label of its bag and an equal share of its weight. A
    bag becomes the numbers of its instances that pass each node, standardised, and a linear SVM is trained on these
    vectors. The original has a pruned C4.5 tree and boosted stumps on the counts (LogitBoost). Here, the tree is
    that of CART (Gini impurity), limited in depth instead of pruned, and the second level is an SVM, so that the
    contributions of instances add up.

    On the command line this is ``tlc``. Explanations: additive.

    Parameters
    ----------
    depth : int, default=4
        Maximum depth of the tree: the number of comparisons from the root to a leaf. It takes a whole number from 1
        to 30.
    leaf : int, default=2
        Minimum number of instances in a leaf. It takes a whole number from 1 to 1000000.
    c : float, default=1
        Cost of an error; a larger value fits the training bags more closely. It takes a number above 0.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        Scheme for more than two classes. The default of this method is one-vs-one.
    class_weight : {"balanced"} or dict, optional
        ``"balanced"`` gives every class the same total weight. A dictionary gives the cost of an error in each class.
    decision_threshold : float or str, optional
        Threshold of the decision value for the second of two classes: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"`` (chosen on inner folds), or a number; 0 if not given.
    inner : int, default=5
        Number of inner folds, on which probabilities are calibrated and thresholds chosen.
    probability : bool, default=True
        Whether to calibrate probabilities. This trains another model for every inner fold. If False, there
        is no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is none.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in ascending order.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

    References
    ----------
    Weidmann, Frank, Pfahringer: A two-level learning method for generalized multi-instance problems, ECML 2003

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.TLCClassifier().fit(data.bags, data.y)
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "tlc"
    _parameters: ClassVar[dict[str, str]] = {"depth": "depth", "leaf": "leaf", "c": "c"}

    def __init__(
        self,
        *,
        depth: int = 4,
        leaf: int = 2,
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
        self.depth = depth
        self.leaf = leaf
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


class MIVLADClassifier(BagClassifier):
    """Sums of differences from nearest centres and a linear SVM.

    k-means clusters the principal components of the training instances. A bag becomes, for each centre, the sum of
    the differences between the instances nearest to it and the centre. The sums are transformed by signed square
    roots and scaled to length 1, and a linear SVM is trained on these vectors. Time is linear in the number of
    instances.

    On the command line this is ``mi-vlad``. Explanations: additive.

    Parameters
    ----------
    centres : int, default=2
        Number of clusters of training instances; fewer if there are fewer distinct instances. It takes a whole
        number from 1 to 65535.
    energy : float or str, default="9/10"
        Share of the variance of training instances that the kept principal components explain; 1 keeps all of them.
        It takes a fraction from 0 to 1, such as 11/20.
    norm : {"power", "none"}, default="power"
        Normalisation of the bag vector: power takes signed square roots and scales to length 1, so that the size of
        a bag does not matter; none changes nothing.
    iterations : int, default=100
        Maximum number of iterations of k-means, and of expectation maximisation. It takes a whole number from 1 to
        10000.
    c : float, default=1
        Cost of an error; a larger value fits the training bags more closely. It takes a number above 0.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        Scheme for more than two classes. The default of this method is one-vs-one.
    class_weight : {"balanced"} or dict, optional
        ``"balanced"`` gives every class the same total weight. A dictionary gives the cost of an error in each class.
    decision_threshold : float or str, optional
        Threshold of the decision value for the second of two classes: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"`` (chosen on inner folds), or a number; 0 if not given.
    inner : int, default=5
        Number of inner folds, on which probabilities are calibrated and thresholds chosen.
    probability : bool, default=True
        Whether to calibrate probabilities. This trains another model for every inner fold. If False, there
        is no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is minmax.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in ascending order.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

    References
    ----------
    Wei, Wu, Zhou: Scalable algorithms for multi-instance learning, IEEE TNNLS 28, 2017

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.MIVLADClassifier().fit(data.bags, data.y)
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "mi-vlad"
    _parameters: ClassVar[dict[str, str]] = {
        "centres": "centres",
        "energy": "energy",
        "norm": "norm",
        "iterations": "iterations",
        "c": "c",
    }

    def __init__(
        self,
        *,
        centres: int = 2,
        energy: float | str = "9/10",
        norm: Literal["power", "none"] = "power",
        iterations: int = 100,
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
        self.centres = centres
        self.energy = energy
        self.norm = norm
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


class MIVLADRegressor(BagRegressor):
    """Sums of differences from nearest centres and a linear SVM.

    k-means clusters the principal components of the training instances. A bag becomes, for each centre, the sum of
    the differences between the instances nearest to it and the centre. The sums are transformed by signed square
    roots and scaled to length 1, and a linear SVM is trained on these vectors. Time is linear in the number of
    instances.

    On the command line this is ``mi-vlad``. Explanations: additive.

    Parameters
    ----------
    centres : int, default=2
        Number of clusters of training instances; fewer if there are fewer distinct instances. It takes a whole
        number from 1 to 65535.
    energy : float or str, default="9/10"
        Share of the variance of training instances that the kept principal components explain; 1 keeps all of them.
        It takes a fraction from 0 to 1, such as 11/20.
    norm : {"power", "none"}, default="power"
        Normalisation of the bag vector: power takes signed square roots and scales to length 1, so that the size of
        a bag does not matter; none changes nothing.
    iterations : int, default=100
        Maximum number of iterations of k-means, and of expectation maximisation. It takes a whole number from 1 to
        10000.
    c : float, default=1
        Cost of an error; a larger value fits the training bags more closely. It takes a number above 0.
    tube : float, default=0.01
        Epsilon of support vector regression: errors up to this size, in units of the target, cost nothing. It takes
        a number above 0.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is minmax.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

    References
    ----------
    Wei, Wu, Zhou: Scalable algorithms for multi-instance learning, IEEE TNNLS 28, 2017

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.MIVLADRegressor().fit(data.bags, data.bags.sizes())
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "mi-vlad"
    _parameters: ClassVar[dict[str, str]] = {
        "centres": "centres",
        "energy": "energy",
        "norm": "norm",
        "iterations": "iterations",
        "c": "c",
        "tube": "tube",
    }

    def __init__(
        self,
        *,
        centres: int = 2,
        energy: float | str = "9/10",
        norm: Literal["power", "none"] = "power",
        iterations: int = 100,
        c: float = 1,
        tube: float = 0.01,
        scale: str | None = None,
        missing: Literal["refuse", "median"] = "refuse",
        precision: Literal["f64", "f32"] = "f64",
        memory: float = MEMORY,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.centres = centres
        self.energy = energy
        self.norm = norm
        self.iterations = iterations
        self.c = c
        self.tube = tube
        self.scale = scale
        self.missing = missing
        self.precision = precision
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs


class MIFVClassifier(BagClassifier):
    """Fisher vectors of bags and a linear SVM.

    A Gaussian mixture is fitted to the principal components of the training instances. A bag becomes the gradient
    of its log likelihood with respect to the means and deviations of the mixture. The gradient is transformed by
    signed square roots and scaled to length 1, and a linear SVM is trained on these vectors. Time is linear in the
    number of instances.

    On the command line this is ``mi-fv``. Explanations: additive.

    Parameters
    ----------
    centres : int, default=2
        Number of clusters of training instances; fewer if there are fewer distinct instances. It takes a whole
        number from 1 to 65535.
    energy : float or str, default="9/10"
        Share of the variance of training instances that the kept principal components explain; 1 keeps all of them.
        It takes a fraction from 0 to 1, such as 11/20.
    norm : {"power", "none"}, default="power"
        Normalisation of the bag vector: power takes signed square roots and scales to length 1, so that the size of
        a bag does not matter; none changes nothing.
    iterations : int, default=100
        Maximum number of iterations of k-means, and of expectation maximisation. It takes a whole number from 1 to
        10000.
    c : float, default=1
        Cost of an error; a larger value fits the training bags more closely. It takes a number above 0.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        Scheme for more than two classes. The default of this method is one-vs-one.
    class_weight : {"balanced"} or dict, optional
        ``"balanced"`` gives every class the same total weight. A dictionary gives the cost of an error in each class.
    decision_threshold : float or str, optional
        Threshold of the decision value for the second of two classes: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"`` (chosen on inner folds), or a number; 0 if not given.
    inner : int, default=5
        Number of inner folds, on which probabilities are calibrated and thresholds chosen.
    probability : bool, default=True
        Whether to calibrate probabilities. This trains another model for every inner fold. If False, there
        is no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is minmax.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in ascending order.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

    References
    ----------
    Wei, Wu, Zhou: Scalable algorithms for multi-instance learning, IEEE TNNLS 28, 2017

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.MIFVClassifier().fit(data.bags, data.y)
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "mi-fv"
    _parameters: ClassVar[dict[str, str]] = {
        "centres": "centres",
        "energy": "energy",
        "norm": "norm",
        "iterations": "iterations",
        "c": "c",
    }

    def __init__(
        self,
        *,
        centres: int = 2,
        energy: float | str = "9/10",
        norm: Literal["power", "none"] = "power",
        iterations: int = 100,
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
        self.centres = centres
        self.energy = energy
        self.norm = norm
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


class MIFVRegressor(BagRegressor):
    """Fisher vectors of bags and a linear SVM.

    A Gaussian mixture is fitted to the principal components of the training instances. A bag becomes the gradient
    of its log likelihood with respect to the means and deviations of the mixture. The gradient is transformed by
    signed square roots and scaled to length 1, and a linear SVM is trained on these vectors. Time is linear in the
    number of instances.

    On the command line this is ``mi-fv``. Explanations: additive.

    Parameters
    ----------
    centres : int, default=2
        Number of clusters of training instances; fewer if there are fewer distinct instances. It takes a whole
        number from 1 to 65535.
    energy : float or str, default="9/10"
        Share of the variance of training instances that the kept principal components explain; 1 keeps all of them.
        It takes a fraction from 0 to 1, such as 11/20.
    norm : {"power", "none"}, default="power"
        Normalisation of the bag vector: power takes signed square roots and scales to length 1, so that the size of
        a bag does not matter; none changes nothing.
    iterations : int, default=100
        Maximum number of iterations of k-means, and of expectation maximisation. It takes a whole number from 1 to
        10000.
    c : float, default=1
        Cost of an error; a larger value fits the training bags more closely. It takes a number above 0.
    tube : float, default=0.01
        Epsilon of support vector regression: errors up to this size, in units of the target, cost nothing. It takes
        a number above 0.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is minmax.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

    References
    ----------
    Wei, Wu, Zhou: Scalable algorithms for multi-instance learning, IEEE TNNLS 28, 2017

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.MIFVRegressor().fit(data.bags, data.bags.sizes())
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "mi-fv"
    _parameters: ClassVar[dict[str, str]] = {
        "centres": "centres",
        "energy": "energy",
        "norm": "norm",
        "iterations": "iterations",
        "c": "c",
        "tube": "tube",
    }

    def __init__(
        self,
        *,
        centres: int = 2,
        energy: float | str = "9/10",
        norm: Literal["power", "none"] = "power",
        iterations: int = 100,
        c: float = 1,
        tube: float = 0.01,
        scale: str | None = None,
        missing: Literal["refuse", "median"] = "refuse",
        precision: Literal["f64", "f32"] = "f64",
        memory: float = MEMORY,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.centres = centres
        self.energy = energy
        self.norm = norm
        self.iterations = iterations
        self.c = c
        self.tube = tube
        self.scale = scale
        self.missing = missing
        self.precision = precision
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs


class MILESClassifier(BagClassifier):
    """Similarities to training instances and a linear SVM.

    A bag becomes the vector of its similarities max over x of exp(-gamma |x - c|^2) to the training instances c,
    and a linear SVM is trained on these vectors. In effect, the SVM weights training instances as prototypes of the
    two classes. The original SVM has an L1 penalty and keeps few prototypes. It was 4 points worse on musk1 and is
    not available.

    On the command line this is ``miles``. Explanations: additive.

    Parameters
    ----------
    gamma : float or str, default="4/median"
        Width of the similarity exp(-gamma |x - c|^2) of instances x and prototypes c. It takes a number above 0,
        N/median (N divided by the median squared distance between training instances), or N/d (N divided by the
        number of attributes).
    prototypes : float or str, default="auto"
        Number of training instances that bags are compared with, sampled by the seed if there are more; auto uses
        all, up to 10,000. It takes auto | a whole number from 1 to 1000000.
    c : float, default=100
        Cost of an error; a larger value fits the training bags more closely. It takes a number above 0.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        Scheme for more than two classes. The default of this method is one-vs-one.
    class_weight : {"balanced"} or dict, optional
        ``"balanced"`` gives every class the same total weight. A dictionary gives the cost of an error in each class.
    decision_threshold : float or str, optional
        Threshold of the decision value for the second of two classes: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"`` (chosen on inner folds), or a number; 0 if not given.
    inner : int, default=5
        Number of inner folds, on which probabilities are calibrated and thresholds chosen.
    probability : bool, default=True
        Whether to calibrate probabilities. This trains another model for every inner fold. If False, there
        is no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is minmax.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in ascending order.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

    References
    ----------
    Chen, Bi, Wang: MILES: Multiple-instance learning via embedded instance selection, IEEE PAMI 28, 2006

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.MILESClassifier().fit(data.bags, data.y)
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "miles"
    _parameters: ClassVar[dict[str, str]] = {"gamma": "gamma", "prototypes": "prototypes", "c": "c"}

    def __init__(
        self,
        *,
        gamma: float | str = "4/median",
        prototypes: float | str = "auto",
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
        self.prototypes = prototypes
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


class MILESRegressor(BagRegressor):
    """Similarities to training instances and a linear SVM.

    A bag becomes the vector of its similarities max over x of exp(-gamma |x - c|^2) to the training instances c,
    and a linear SVM is trained on these vectors. In effect, the SVM weights training instances as prototypes of the
    two classes. The original SVM has an L1 penalty and keeps few prototypes. It was 4 points worse on musk1 and is
    not available.

    On the command line this is ``miles``. Explanations: additive.

    Parameters
    ----------
    gamma : float or str, default="4/median"
        Width of the similarity exp(-gamma |x - c|^2) of instances x and prototypes c. It takes a number above 0,
        N/median (N divided by the median squared distance between training instances), or N/d (N divided by the
        number of attributes).
    prototypes : float or str, default="auto"
        Number of training instances that bags are compared with, sampled by the seed if there are more; auto uses
        all, up to 10,000. It takes auto | a whole number from 1 to 1000000.
    c : float, default=100
        Cost of an error; a larger value fits the training bags more closely. It takes a number above 0.
    tube : float, default=0.01
        Epsilon of support vector regression: errors up to this size, in units of the target, cost nothing. It takes
        a number above 0.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is minmax.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

    References
    ----------
    Chen, Bi, Wang: MILES: Multiple-instance learning via embedded instance selection, IEEE PAMI 28, 2006

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.MILESRegressor().fit(data.bags, data.bags.sizes())
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "miles"
    _parameters: ClassVar[dict[str, str]] = {"gamma": "gamma", "prototypes": "prototypes", "c": "c", "tube": "tube"}

    def __init__(
        self,
        *,
        gamma: float | str = "4/median",
        prototypes: float | str = "auto",
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
        self.prototypes = prototypes
        self.c = c
        self.tube = tube
        self.scale = scale
        self.missing = missing
        self.precision = precision
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs


class MindClassifier(BagClassifier):
    """Distances to training bags and an SVM.

    A bag becomes the vector of its distances to the training bags, by default the mean over its instances of the
    squared distance to the nearest instance of the other bag. An SVM with a Gaussian or linear kernel is trained on
    these vectors.

    On the command line this is ``mind``. Explanations: additive for summary=meanmin direction=to kernel=linear, otherwise none.

    Parameters
    ----------
    summary : {"minmin", "meanmin", "maxmin", "meanmean"}, default="meanmin"
        The distance between two bags: the least (minmin), mean (meanmin) or largest (maxmin) distance from an
        instance to its nearest neighbour in the other bag, or the mean over all pairs (meanmean).
    direction : {"to", "from", "both"}, default="to"
        Over which instances meanmin and maxmin are taken: those of the bag (to), those of the training bag (from),
        or the mean of the two (both).
    metric : {"squared", "euclid"}, default="squared"
        Distance between two instances: squared or plain Euclidean.
    kernel : {"rbf", "linear"}, default="rbf"
        Kernel between the vectors of bags.
    gamma : float or str, default="1/median"
        Gamma of the Gaussian kernel exp(-gamma |u - v|^2) of the vectors of bags; the median is taken over the
        distances between these vectors. It takes a number above 0, N/median (N divided by the median squared
        distance between training instances), or N/d (N divided by the number of attributes).
    c : float, default=10
        Cost of an error; a larger value fits the training bags more closely. It takes a number above 0.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        Scheme for more than two classes. The default of this method is one-vs-one.
    class_weight : {"balanced"} or dict, optional
        ``"balanced"`` gives every class the same total weight. A dictionary gives the cost of an error in each class.
    decision_threshold : float or str, optional
        Threshold of the decision value for the second of two classes: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"`` (chosen on inner folds), or a number; 0 if not given.
    inner : int, default=5
        Number of inner folds, on which probabilities are calibrated and thresholds chosen.
    probability : bool, default=True
        Whether to calibrate probabilities. This trains another model for every inner fold. If False, there
        is no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is zscore.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in ascending order.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

    References
    ----------
    Cheplygina, Tax, Loog: Multiple instance learning with bag dissimilarities, Pattern Recognition 48, 2015

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.MindClassifier().fit(data.bags, data.y)
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "mind"
    _parameters: ClassVar[dict[str, str]] = {
        "summary": "summary",
        "direction": "direction",
        "metric": "metric",
        "kernel": "kernel",
        "gamma": "gamma",
        "c": "c",
    }

    def __init__(
        self,
        *,
        summary: Literal["minmin", "meanmin", "maxmin", "meanmean"] = "meanmin",
        direction: Literal["to", "from", "both"] = "to",
        metric: Literal["squared", "euclid"] = "squared",
        kernel: Literal["rbf", "linear"] = "rbf",
        gamma: float | str = "1/median",
        c: float = 10,
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
        self.summary = summary
        self.direction = direction
        self.metric = metric
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


class MindRegressor(BagRegressor):
    """Distances to training bags and an SVM.

    A bag becomes the vector of its distances to the training bags, by default the mean over its instances of the
    squared distance to the nearest instance of the other bag. An SVM with a Gaussian or linear kernel is trained on
    these vectors.

    On the command line this is ``mind``. Explanations: additive for summary=meanmin direction=to kernel=linear, otherwise none.

    Parameters
    ----------
    summary : {"minmin", "meanmin", "maxmin", "meanmean"}, default="meanmin"
        The distance between two bags: the least (minmin), mean (meanmin) or largest (maxmin) distance from an
        instance to its nearest neighbour in the other bag, or the mean over all pairs (meanmean).
    direction : {"to", "from", "both"}, default="to"
        Over which instances meanmin and maxmin are taken: those of the bag (to), those of the training bag (from),
        or the mean of the two (both).
    metric : {"squared", "euclid"}, default="squared"
        Distance between two instances: squared or plain Euclidean.
    kernel : {"rbf", "linear"}, default="rbf"
        Kernel between the vectors of bags.
    gamma : float or str, default="1/median"
        Gamma of the Gaussian kernel exp(-gamma |u - v|^2) of the vectors of bags; the median is taken over the
        distances between these vectors. It takes a number above 0, N/median (N divided by the median squared
        distance between training instances), or N/d (N divided by the number of attributes).
    c : float, default=10
        Cost of an error; a larger value fits the training bags more closely. It takes a number above 0.
    tube : float, default=0.01
        Epsilon of support vector regression: errors up to this size, in units of the target, cost nothing. It takes
        a number above 0.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is zscore.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

    References
    ----------
    Cheplygina, Tax, Loog: Multiple instance learning with bag dissimilarities, Pattern Recognition 48, 2015

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.MindRegressor().fit(data.bags, data.bags.sizes())
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "mind"
    _parameters: ClassVar[dict[str, str]] = {
        "summary": "summary",
        "direction": "direction",
        "metric": "metric",
        "kernel": "kernel",
        "gamma": "gamma",
        "c": "c",
        "tube": "tube",
    }

    def __init__(
        self,
        *,
        summary: Literal["minmin", "meanmin", "maxmin", "meanmean"] = "meanmin",
        direction: Literal["to", "from", "both"] = "to",
        metric: Literal["squared", "euclid"] = "squared",
        kernel: Literal["rbf", "linear"] = "rbf",
        gamma: float | str = "1/median",
        c: float = 10,
        tube: float = 0.01,
        scale: str | None = None,
        missing: Literal["refuse", "median"] = "refuse",
        precision: Literal["f64", "f32"] = "f64",
        memory: float = MEMORY,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.summary = summary
        self.direction = direction
        self.metric = metric
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


class MIKernelClassifier(BagClassifier):
    """Set kernel: the sum of the similarities of all pairs of instances.

    K(X, Y) = sum over x in X, z in Y of exp(-gamma |x - z|^2), divided by the numbers of instances (norm=mean) or
    by the self-similarities (norm=sqrt). Other instance kernels can replace the Gaussian. An SVM is trained on the
    bags.

    On the command line this is ``mi-kernel``. Explanations: additive.

    Parameters
    ----------
    gamma : float or str, default="1/median"
        Gamma of the Gaussian kernel exp(-gamma |x - z|^2); a larger gamma means a narrower kernel. It takes a
        number above 0, N/median (N divided by the median squared distance between training instances), or N/d (N
        divided by the number of attributes).
    kernel : {"rbf", "linear", "poly"}, default="rbf"
        Instance kernel: rbf, the Gaussian exp(-gamma |x - z|^2); linear, x . z; or poly, (x . z + 1)^degree.
    degree : int, default=2
        Degree of the poly kernel; other kernels ignore it. It takes a whole number from 1 to 10.
    distance : {"euclidean", "text"}, default="euclidean"
        Distance between two instances: euclidean, or text, the mean squared difference over the attributes that are
        nonzero in at least one of the two. text requires kernel rbf and scaling none or maxabs.
    norm : {"none", "mean", "sqrt"}, default="sqrt"
        Normalisation: none, by the numbers of instances (mean), or by the self-similarities (sqrt).
    c : float, default=100
        Cost of an error; a larger value fits the training bags more closely. It takes a number above 0.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        Scheme for more than two classes. The default of this method is one-vs-one.
    class_weight : {"balanced"} or dict, optional
        ``"balanced"`` gives every class the same total weight. A dictionary gives the cost of an error in each class.
    decision_threshold : float or str, optional
        Threshold of the decision value for the second of two classes: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"`` (chosen on inner folds), or a number; 0 if not given.
    inner : int, default=5
        Number of inner folds, on which probabilities are calibrated and thresholds chosen.
    probability : bool, default=True
        Whether to calibrate probabilities. This trains another model for every inner fold. If False, there
        is no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is minmax.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in ascending order.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

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
    """Set kernel: the sum of the similarities of all pairs of instances.

    K(X, Y) = sum over x in X, z in Y of exp(-gamma |x - z|^2), divided by the numbers of instances (norm=mean) or
    by the self-similarities (norm=sqrt). Other instance kernels can replace the Gaussian. An SVM is trained on the
    bags.

    On the command line this is ``mi-kernel``. Explanations: additive.

    Parameters
    ----------
    gamma : float or str, default="1/median"
        Gamma of the Gaussian kernel exp(-gamma |x - z|^2); a larger gamma means a narrower kernel. It takes a
        number above 0, N/median (N divided by the median squared distance between training instances), or N/d (N
        divided by the number of attributes).
    kernel : {"rbf", "linear", "poly"}, default="rbf"
        Instance kernel: rbf, the Gaussian exp(-gamma |x - z|^2); linear, x . z; or poly, (x . z + 1)^degree.
    degree : int, default=2
        Degree of the poly kernel; other kernels ignore it. It takes a whole number from 1 to 10.
    distance : {"euclidean", "text"}, default="euclidean"
        Distance between two instances: euclidean, or text, the mean squared difference over the attributes that are
        nonzero in at least one of the two. text requires kernel rbf and scaling none or maxabs.
    norm : {"none", "mean", "sqrt"}, default="sqrt"
        Normalisation: none, by the numbers of instances (mean), or by the self-similarities (sqrt).
    c : float, default=100
        Cost of an error; a larger value fits the training bags more closely. It takes a number above 0.
    tube : float, default=0.01
        Epsilon of support vector regression: errors up to this size, in units of the target, cost nothing. It takes
        a number above 0.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is minmax.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

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
    """Diverse density: finds a point that is close to every positive bag and far from negative bags.

    A concept is a point h with a weight w for every attribute. With D(x) = sum of w^2 (h - x)^2, the closeness of a
    bag is the largest exp(-D(x)) of its instances. Gradient ascent from instances of positive bags finds the
    concept that makes the training labels most probable (noisy-or). A bag is positive if its closeness reaches a
    threshold; for regression the closeness is the prediction.

    On the command line this is ``dd``. Explanations: witness: the instance nearest to the concept.

    Parameters
    ----------
    distance : {"weighted", "unweighted"}, default="weighted"
        Weighted: every attribute has its own weight, learned together with the point; unweighted: one weight for
        all attributes.
    rho : float, default=1
        Squared weight of an attribute at the start of the search, times the number of attributes; with
        distance=unweighted it stays fixed. It takes a number above 0.
    starts : float or str, default="auto"
        Auto: start from the instances of positive bags (from some of them if there are very many), and continue
        only the most promising climbs; all: climb from every instance to the end; a number: from this number of
        random instances. It takes auto | all | a whole number from 1 to 1000000.
    iterations : int, default=30
        Maximum number of steps per start; more steps rarely change the result. It takes a whole number from 1 to
        10000.
    concept : {"positive", "either"}, default="either"
        For classes: bags close to the concept are positive (positive), or belong to whichever class fits the
        training bags better (either).
    threshold : float or str, default="train"
        For classes: the smallest closeness exp(-D) at which a bag has the concept; train chooses the most accurate
        value on the training bags. It takes train | a number of at least 0.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        Scheme for more than two classes. The default of this method is one-vs-one.
    class_weight : {"balanced"} or dict, optional
        ``"balanced"`` gives every class the same total weight. A dictionary gives the cost of an error in each class.
    decision_threshold : float or str, optional
        Threshold of the decision value for the second of two classes: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"`` (chosen on inner folds), or a number; 0 if not given.
    inner : int, default=5
        Number of inner folds, on which probabilities are calibrated and thresholds chosen.
    probability : bool, default=True
        Whether to calibrate probabilities. This trains another model for every inner fold. If False, there
        is no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is zscore.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in ascending order.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

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
        starts: float | str = "auto",
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
    """Diverse density: finds a point that is close to every positive bag and far from negative bags.

    A concept is a point h with a weight w for every attribute. With D(x) = sum of w^2 (h - x)^2, the closeness of a
    bag is the largest exp(-D(x)) of its instances. Gradient ascent from instances of positive bags finds the
    concept that makes the training labels most probable (noisy-or). A bag is positive if its closeness reaches a
    threshold; for regression the closeness is the prediction.

    On the command line this is ``dd``. Explanations: witness: the instance nearest to the concept.

    Parameters
    ----------
    distance : {"weighted", "unweighted"}, default="weighted"
        Weighted: every attribute has its own weight, learned together with the point; unweighted: one weight for
        all attributes.
    rho : float, default=1
        Squared weight of an attribute at the start of the search, times the number of attributes; with
        distance=unweighted it stays fixed. It takes a number above 0.
    starts : float or str, default="auto"
        Auto: start from the instances of positive bags (from some of them if there are very many), and continue
        only the most promising climbs; all: climb from every instance to the end; a number: from this number of
        random instances. It takes auto | all | a whole number from 1 to 1000000.
    iterations : int, default=30
        Maximum number of steps per start; more steps rarely change the result. It takes a whole number from 1 to
        10000.
    concept : {"positive", "either"}, default="either"
        For classes: bags close to the concept are positive (positive), or belong to whichever class fits the
        training bags better (either).
    threshold : float or str, default="train"
        For classes: the smallest closeness exp(-D) at which a bag has the concept; train chooses the most accurate
        value on the training bags. It takes train | a number of at least 0.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is zscore.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

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
        starts: float | str = "auto",
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
    """Diverse density, searched with one instance per bag at a time.

    The concept of dd, found by alternation: choose the instance of every bag that is closest to the concept, then
    improve the concept on the chosen instances, until the density stops increasing. The search starts from ten
    instances of positive bags, and the best result predicts as in dd.

    On the command line this is ``em-dd``. Explanations: witness: the instance nearest to the concept.

    Parameters
    ----------
    distance : {"weighted", "unweighted"}, default="weighted"
        Weighted: every attribute has its own weight, learned together with the point; unweighted: one weight for
        all attributes.
    rho : float, default=1
        Squared weight of an attribute at the start of the search, times the number of attributes; with
        distance=unweighted it stays fixed. It takes a number above 0.
    starts : float or str, default=10
        Auto: start from the instances of positive bags (from some of them if there are very many), and continue
        only the most promising climbs; all: climb from every instance to the end; a number: from this number of
        random instances. It takes auto | all | a whole number from 1 to 1000000.
    iterations : int, default=30
        Maximum number of steps per start; more steps rarely change the result. It takes a whole number from 1 to
        10000.
    concept : {"positive", "either"}, default="either"
        For classes: bags close to the concept are positive (positive), or belong to whichever class fits the
        training bags better (either).
    threshold : float or str, default="train"
        For classes: the smallest closeness exp(-D) at which a bag has the concept; train chooses the most accurate
        value on the training bags. It takes train | a number of at least 0.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        Scheme for more than two classes. The default of this method is one-vs-one.
    class_weight : {"balanced"} or dict, optional
        ``"balanced"`` gives every class the same total weight. A dictionary gives the cost of an error in each class.
    decision_threshold : float or str, optional
        Threshold of the decision value for the second of two classes: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"`` (chosen on inner folds), or a number; 0 if not given.
    inner : int, default=5
        Number of inner folds, on which probabilities are calibrated and thresholds chosen.
    probability : bool, default=True
        Whether to calibrate probabilities. This trains another model for every inner fold. If False, there
        is no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is zscore.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in ascending order.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

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
    """Diverse density, searched with one instance per bag at a time.

    The concept of dd, found by alternation: choose the instance of every bag that is closest to the concept, then
    improve the concept on the chosen instances, until the density stops increasing. The search starts from ten
    instances of positive bags, and the best result predicts as in dd.

    On the command line this is ``em-dd``. Explanations: witness: the instance nearest to the concept.

    Parameters
    ----------
    distance : {"weighted", "unweighted"}, default="weighted"
        Weighted: every attribute has its own weight, learned together with the point; unweighted: one weight for
        all attributes.
    rho : float, default=1
        Squared weight of an attribute at the start of the search, times the number of attributes; with
        distance=unweighted it stays fixed. It takes a number above 0.
    starts : float or str, default=10
        Auto: start from the instances of positive bags (from some of them if there are very many), and continue
        only the most promising climbs; all: climb from every instance to the end; a number: from this number of
        random instances. It takes auto | all | a whole number from 1 to 1000000.
    iterations : int, default=30
        Maximum number of steps per start; more steps rarely change the result. It takes a whole number from 1 to
        10000.
    concept : {"positive", "either"}, default="either"
        For classes: bags close to the concept are positive (positive), or belong to whichever class fits the
        training bags better (either).
    threshold : float or str, default="train"
        For classes: the smallest closeness exp(-D) at which a bag has the concept; train chooses the most accurate
        value on the training bags. It takes train | a number of at least 0.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is zscore.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

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

    On the command line this is ``dd-svm``. Explanations: none: the output depends on the nearest instances to many concepts.

    Parameters
    ----------
    gamma : float or str, default="1/median"
        Gamma of the Gaussian kernel exp(-gamma |x - z|^2); a larger gamma means a narrower kernel. It takes a
        number above 0, N/median (N divided by the median squared distance between training instances), or N/d (N
        divided by the number of attributes).
    distance : {"weighted", "unweighted"}, default="weighted"
        Weighted: every attribute has its own weight, learned together with the point; unweighted: one weight for
        all attributes.
    rho : float, default=1
        Squared weight of an attribute at the start of the search, times the number of attributes; with
        distance=unweighted it stays fixed. It takes a number above 0.
    starts : float or str, default="auto"
        Auto: start from the instances of positive bags (from some of them if there are very many), and continue
        only the most promising climbs; all: climb from every instance to the end; a number: from this number of
        random instances. It takes auto | all | a whole number from 1 to 1000000.
    iterations : int, default=30
        Maximum number of steps per start; more steps rarely change the result. It takes a whole number from 1 to
        10000.
    c : float, default=100
        Cost of an error; a larger value fits the training bags more closely. It takes a number above 0.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        Scheme for more than two classes. The default of this method is one-vs-one.
    class_weight : {"balanced"} or dict, optional
        ``"balanced"`` gives every class the same total weight. A dictionary gives the cost of an error in each class.
    decision_threshold : float or str, optional
        Threshold of the decision value for the second of two classes: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"`` (chosen on inner folds), or a number; 0 if not given.
    inner : int, default=5
        Number of inner folds, on which probabilities are calibrated and thresholds chosen.
    probability : bool, default=True
        Whether to calibrate probabilities. This trains another model for every inner fold. If False, there
        is no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is zscore.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in ascending order.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

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
        starts: float | str = "auto",
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


class EMDClassifier(BagClassifier):
    """Earth mover's distances of bags and an SVM.

    The distance between two bags is the least cost of moving the instances of one onto those of the other. Each bag
    has mass 1, shared equally by its instances. An SVM is trained with the kernel exp(-gamma EMD). The distances
    are exact, except between very large bags (see transport). The kernel is not always positive semi-definite;
    psd=shift corrects the training Gram matrix.

    On the command line this is ``emd``. Explanations: none: the instances of two bags are matched as a whole.

    Parameters
    ----------
    metric : {"euclid", "squared"}, default="euclid"
        Cost of moving a unit of mass from one instance to another: their distance, or its square.
    psd : {"none", "shift"}, default="none"
        What to do if the training Gram matrix has negative eigenvalues: nothing (none), or enlarge its diagonal
        until the least is 0 (shift).
    transport : {"auto", "exact", "entropic"}, default="auto"
        How distances are computed: exactly (exact), or approximately by entropic transport with an error of at most
        1 % (entropic). auto is exact unless the numbers of instances of two bags multiply to more than 4,000,000.
    gamma : float or str, default="1/median"
        Gamma of the kernel exp(-gamma EMD); the median is taken over the distances of all pairs of training bags.
        It takes a number above 0, N/median (N divided by the median squared distance between training instances),
        or N/d (N divided by the number of attributes).
    c : float, default=100
        Cost of an error; a larger value fits the training bags more closely. It takes a number above 0.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        Scheme for more than two classes. The default of this method is one-vs-one.
    class_weight : {"balanced"} or dict, optional
        ``"balanced"`` gives every class the same total weight. A dictionary gives the cost of an error in each class.
    decision_threshold : float or str, optional
        Threshold of the decision value for the second of two classes: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"`` (chosen on inner folds), or a number; 0 if not given.
    inner : int, default=5
        Number of inner folds, on which probabilities are calibrated and thresholds chosen.
    probability : bool, default=True
        Whether to calibrate probabilities. This trains another model for every inner fold. If False, there
        is no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is zscore.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in ascending order.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

    References
    ----------
    Zhang, Marszalek, Lazebnik, Schmid: Local features and kernels for classification of texture and object
    categories, IJCV 73, 2007

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.EMDClassifier().fit(data.bags, data.y)
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "emd"
    _parameters: ClassVar[dict[str, str]] = {
        "metric": "metric",
        "psd": "psd",
        "transport": "transport",
        "gamma": "gamma",
        "c": "c",
    }

    def __init__(
        self,
        *,
        metric: Literal["euclid", "squared"] = "euclid",
        psd: Literal["none", "shift"] = "none",
        transport: Literal["auto", "exact", "entropic"] = "auto",
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
        self.metric = metric
        self.psd = psd
        self.transport = transport
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


class EMDRegressor(BagRegressor):
    """Earth mover's distances of bags and an SVM.

    The distance between two bags is the least cost of moving the instances of one onto those of the other. Each bag
    has mass 1, shared equally by its instances. An SVM is trained with the kernel exp(-gamma EMD). The distances
    are exact, except between very large bags (see transport). The kernel is not always positive semi-definite;
    psd=shift corrects the training Gram matrix.

    On the command line this is ``emd``. Explanations: none: the instances of two bags are matched as a whole.

    Parameters
    ----------
    metric : {"euclid", "squared"}, default="euclid"
        Cost of moving a unit of mass from one instance to another: their distance, or its square.
    psd : {"none", "shift"}, default="none"
        What to do if the training Gram matrix has negative eigenvalues: nothing (none), or enlarge its diagonal
        until the least is 0 (shift).
    transport : {"auto", "exact", "entropic"}, default="auto"
        How distances are computed: exactly (exact), or approximately by entropic transport with an error of at most
        1 % (entropic). auto is exact unless the numbers of instances of two bags multiply to more than 4,000,000.
    gamma : float or str, default="1/median"
        Gamma of the kernel exp(-gamma EMD); the median is taken over the distances of all pairs of training bags.
        It takes a number above 0, N/median (N divided by the median squared distance between training instances),
        or N/d (N divided by the number of attributes).
    c : float, default=100
        Cost of an error; a larger value fits the training bags more closely. It takes a number above 0.
    tube : float, default=0.01
        Epsilon of support vector regression: errors up to this size, in units of the target, cost nothing. It takes
        a number above 0.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is zscore.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

    References
    ----------
    Zhang, Marszalek, Lazebnik, Schmid: Local features and kernels for classification of texture and object
    categories, IJCV 73, 2007

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.EMDRegressor().fit(data.bags, data.bags.sizes())
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "emd"
    _parameters: ClassVar[dict[str, str]] = {
        "metric": "metric",
        "psd": "psd",
        "transport": "transport",
        "gamma": "gamma",
        "c": "c",
        "tube": "tube",
    }

    def __init__(
        self,
        *,
        metric: Literal["euclid", "squared"] = "euclid",
        psd: Literal["none", "shift"] = "none",
        transport: Literal["auto", "exact", "entropic"] = "auto",
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
        self.metric = metric
        self.psd = psd
        self.transport = transport
        self.gamma = gamma
        self.c = c
        self.tube = tube
        self.scale = scale
        self.missing = missing
        self.precision = precision
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs


class WMKSVMClassifier(BagClassifier):
    """Weighted matrix kernel SVM: a set kernel in which instances near the centre of their bag count more.

    K(X, Y) = sum over x in X, z in Y of w(x) w(z) exp(-gamma |x - z|^2), with w proportional to the inverse of the
    sum of squared distances to the other instances of the bag. Other instance kernels can replace the Gaussian. An
    SVM is trained on the bags.

    On the command line this is ``wmksvm``. Explanations: additive.

    Parameters
    ----------
    gamma : float or str, default="1/median"
        Gamma of the Gaussian kernel exp(-gamma |x - z|^2); a larger gamma means a narrower kernel. It takes a
        number above 0, N/median (N divided by the median squared distance between training instances), or N/d (N
        divided by the number of attributes).
    kernel : {"rbf", "linear", "poly"}, default="rbf"
        Instance kernel: rbf, the Gaussian exp(-gamma |x - z|^2); linear, x . z; or poly, (x . z + 1)^degree.
    degree : int, default=2
        Degree of the poly kernel; other kernels ignore it. It takes a whole number from 1 to 10.
    norm : {"none", "sqrt"}, default="none"
        Normalisation: none, as in the paper, or by the self-similarities (sqrt).
    c : float, default=100
        Cost of an error; a larger value fits the training bags more closely. It takes a number above 0.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        Scheme for more than two classes. The default of this method is one-vs-one.
    class_weight : {"balanced"} or dict, optional
        ``"balanced"`` gives every class the same total weight. A dictionary gives the cost of an error in each class.
    decision_threshold : float or str, optional
        Threshold of the decision value for the second of two classes: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"`` (chosen on inner folds), or a number; 0 if not given.
    inner : int, default=5
        Number of inner folds, on which probabilities are calibrated and thresholds chosen.
    probability : bool, default=True
        Whether to calibrate probabilities. This trains another model for every inner fold. If False, there
        is no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is minmax.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in ascending order.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

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
    """Weighted matrix kernel SVM: a set kernel in which instances near the centre of their bag count more.

    K(X, Y) = sum over x in X, z in Y of w(x) w(z) exp(-gamma |x - z|^2), with w proportional to the inverse of the
    sum of squared distances to the other instances of the bag. Other instance kernels can replace the Gaussian. An
    SVM is trained on the bags.

    On the command line this is ``wmksvm``. Explanations: additive.

    Parameters
    ----------
    gamma : float or str, default="1/median"
        Gamma of the Gaussian kernel exp(-gamma |x - z|^2); a larger gamma means a narrower kernel. It takes a
        number above 0, N/median (N divided by the median squared distance between training instances), or N/d (N
        divided by the number of attributes).
    kernel : {"rbf", "linear", "poly"}, default="rbf"
        Instance kernel: rbf, the Gaussian exp(-gamma |x - z|^2); linear, x . z; or poly, (x . z + 1)^degree.
    degree : int, default=2
        Degree of the poly kernel; other kernels ignore it. It takes a whole number from 1 to 10.
    norm : {"none", "sqrt"}, default="none"
        Normalisation: none, as in the paper, or by the self-similarities (sqrt).
    c : float, default=100
        Cost of an error; a larger value fits the training bags more closely. It takes a number above 0.
    tube : float, default=0.01
        Epsilon of support vector regression: errors up to this size, in units of the target, cost nothing. It takes
        a number above 0.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is minmax.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

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
        Instance kernel: rbf, exp(-gamma |x - z|^2), or linear, the inner product.
    gamma : float or str, default="1/median"
        Gamma of the Gaussian kernel exp(-gamma |x - z|^2); a larger gamma means a narrower kernel. It takes a
        number above 0, N/median (N divided by the median squared distance between training instances), or N/d (N
        divided by the number of attributes).
    c : float, default=1
        Cost of an error; a larger value fits the training instances more closely. It takes a number above 0.
    max_iter : int, default=50
        Maximum number of rounds if the search neither converges nor cycles. It takes a whole number from 1 to
        100000.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        Scheme for more than two classes. The default of this method is one-vs-rest.
    class_weight : {"balanced"} or dict, optional
        ``"balanced"`` gives every class the same total weight. A dictionary gives the cost of an error in each class.
    decision_threshold : float or str, optional
        Threshold of the decision value for the second of two classes: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"`` (chosen on inner folds), or a number; 0 if not given.
    inner : int, default=5
        Number of inner folds, on which probabilities are calibrated and thresholds chosen.
    probability : bool, default=True
        Whether to calibrate probabilities. This trains another model for every inner fold. If False, there
        is no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is zscore.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in ascending order.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.
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
        Instance kernel: rbf, exp(-gamma |x - z|^2), or linear, the inner product.
    gamma : float or str, default="1/median"
        Gamma of the Gaussian kernel exp(-gamma |x - z|^2); a larger gamma means a narrower kernel. It takes a
        number above 0, N/median (N divided by the median squared distance between training instances), or N/d (N
        divided by the number of attributes).
    c : float, default=1
        Cost of an error; a larger value fits the training instances more closely. It takes a number above 0.
    max_iter : int, default=50
        Maximum number of rounds if the search neither converges nor cycles. It takes a whole number from 1 to
        100000.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        Scheme for more than two classes. The default of this method is one-vs-rest.
    class_weight : {"balanced"} or dict, optional
        ``"balanced"`` gives every class the same total weight. A dictionary gives the cost of an error in each class.
    decision_threshold : float or str, optional
        Threshold of the decision value for the second of two classes: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"`` (chosen on inner folds), or a number; 0 if not given.
    inner : int, default=5
        Number of inner folds, on which probabilities are calibrated and thresholds chosen.
    probability : bool, default=True
        Whether to calibrate probabilities. This trains another model for every inner fold. If False, there
        is no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is zscore.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in ascending order.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.
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


class MissSVMClassifier(BagClassifier):
    """Semi-supervised SVM: one witness per positive bag, its other instances unlabelled.

    An SVM is trained on all instances of negative bags and one witness of each positive bag. The other instances of
    positive bags are unlabelled; each gets the class that the SVM predicts for it. Witnesses and these classes are
    updated until nothing changes. The output of a bag is the largest output of its instances.

    On the command line this is ``misssvm``. Explanations: witness: the output of every instance, and the one that decides.

    Parameters
    ----------
    kernel : {"rbf", "linear"}, default="rbf"
        Instance kernel: rbf, exp(-gamma |x - z|^2), or linear, the inner product.
    gamma : float or str, default="1/median"
        Gamma of the Gaussian kernel exp(-gamma |x - z|^2); a larger gamma means a narrower kernel. It takes a
        number above 0, N/median (N divided by the median squared distance between training instances), or N/d (N
        divided by the number of attributes).
    c : float, default=1
        Cost of an error; a larger value fits the training instances more closely. It takes a number above 0.
    max_iter : int, default=50
        Maximum number of rounds if the search neither converges nor cycles. It takes a whole number from 1 to
        100000.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        Scheme for more than two classes. The default of this method is one-vs-rest.
    class_weight : {"balanced"} or dict, optional
        ``"balanced"`` gives every class the same total weight. A dictionary gives the cost of an error in each class.
    decision_threshold : float or str, optional
        Threshold of the decision value for the second of two classes: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"`` (chosen on inner folds), or a number; 0 if not given.
    inner : int, default=5
        Number of inner folds, on which probabilities are calibrated and thresholds chosen.
    probability : bool, default=True
        Whether to calibrate probabilities. This trains another model for every inner fold. If False, there
        is no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is zscore.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in ascending order.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.
    n_iter_ : int
        Rounds until the choice of instances settled, of the machine that took longest.

    References
    ----------
    Zhou, Xu: On the relation between multi-instance learning and semi-supervised learning, ICML 2007

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.MissSVMClassifier().fit(data.bags, data.y)
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "misssvm"
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
    """SVM on one representative instance per bag, chosen by the SVM itself.

    Every bag is represented by one instance, at first a random one. An SVM is trained on the representatives. Each
    bag is then represented by its instance with the largest output, and the SVM is trained again. This repeats
    until the representatives stay the same, return to an earlier choice, or max-iter is reached. The output of a
    bag is the largest output of its instances.

    On the command line this is ``mirsvm``. Explanations: witness: the output of every instance, and the one that decides.

    Parameters
    ----------
    c : float, default=1
        Cost of an error; a larger value fits the training instances more closely. It takes a number above 0.
    kernel : {"rbf", "linear"}, default="rbf"
        Instance kernel: rbf, exp(-gamma |x - z|^2), or linear, the inner product.
    sigma : float or str, default="1*median"
        Width of the Gaussian kernel exp(-|x - z|^2 / (2 sigma^2)). It takes a number above 0, or N*median (N times
        the square root of the median squared distance between training instances).
    bound : {"c", "c/n"}, default="c"
        Upper bound of a coefficient: c, or c divided by the number of bags.
    select : {"max", "printed"}, default="max"
        The representative of a bag: the instance with the largest output (max), or with the largest output times
        the label of the bag, as printed in the paper (printed).
    bias : {"free", "all", "printed"}, default="free"
        The bias from coefficients inside their bounds, from all that are not 0, or as the algorithm prints it.
    max_iter : int, default=100
        Maximum number of rounds if the search neither converges nor cycles. It takes a whole number from 1 to
        100000.
    restarts : int, default=1
        Number of random starts; the best search is kept. It takes a whole number from 1 to 10000.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        Scheme for more than two classes. The default of this method is one-vs-rest.
    class_weight : {"balanced"} or dict, optional
        ``"balanced"`` gives every class the same total weight. A dictionary gives the cost of an error in each class.
    decision_threshold : float or str, optional
        Threshold of the decision value for the second of two classes: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"`` (chosen on inner folds), or a number; 0 if not given.
    inner : int, default=5
        Number of inner folds, on which probabilities are calibrated and thresholds chosen.
    probability : bool, default=True
        Whether to calibrate probabilities. This trains another model for every inner fold. If False, there
        is no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is zscore.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in ascending order.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.
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
    """MiGraph: a set kernel in which similar instances of a bag share one vote.

    K(X, Y) = sum over a in X, b in Y of W(a) W(b) exp(-gamma |a - b|^2) / (sum of W in X * sum of W in Y), where
    W(a) is 1 divided by the number of instances of the bag closer to a than delta. Other instance kernels can
    replace the Gaussian. An SVM is trained on the bags.

    On the command line this is ``migraph``. Explanations: additive.

    Parameters
    ----------
    gamma : float or str, default="1/median"
        Gamma of the Gaussian kernel exp(-gamma |x - z|^2); a larger gamma means a narrower kernel. It takes a
        number above 0, N/median (N divided by the median squared distance between training instances), or N/d (N
        divided by the number of attributes).
    kernel : {"rbf", "linear", "poly"}, default="rbf"
        Instance kernel: rbf, the Gaussian exp(-gamma |x - z|^2); linear, x . z; or poly, (x . z + 1)^degree.
    degree : int, default=2
        Degree of the poly kernel; other kernels ignore it. It takes a whole number from 1 to 10.
    distance : {"euclidean", "text"}, default="euclidean"
        Distance between two instances: euclidean, or text, the mean squared difference over the attributes that are
        nonzero in at least one of the two. text requires kernel rbf and scaling none or maxabs.
    dist : {"gauss", "rkhs", "euclid", "sq"}, default="gauss"
        Dissimilarity inside a bag: gauss, one minus the Gaussian of width gamma; rkhs, the distance in the feature
        space of the kernel; euclid; or sq, the squared distance.
    delta : float or str, default="mean"
        Instances closer than this are neighbours: the bag's mean over pairs, over all ordered pairs (mean_all), or
        a number. It takes mean | mean_all | a number of at least 0.
    norm : {"eq5", "sqrt", "sqrtsum", "none"}, default="eq5"
        Normalisation: by the sums of the weights (eq5), by the self-similarities (sqrt), by the roots of the sums
        (sqrtsum), or none.
    c : float, default=100
        Cost of an error; a larger value fits the training bags more closely. It takes a number above 0.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        Scheme for more than two classes. The default of this method is one-vs-one.
    class_weight : {"balanced"} or dict, optional
        ``"balanced"`` gives every class the same total weight. A dictionary gives the cost of an error in each class.
    decision_threshold : float or str, optional
        Threshold of the decision value for the second of two classes: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"`` (chosen on inner folds), or a number; 0 if not given.
    inner : int, default=5
        Number of inner folds, on which probabilities are calibrated and thresholds chosen.
    probability : bool, default=True
        Whether to calibrate probabilities. This trains another model for every inner fold. If False, there
        is no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is minmax.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in ascending order.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

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
    """MiGraph: a set kernel in which similar instances of a bag share one vote.

    K(X, Y) = sum over a in X, b in Y of W(a) W(b) exp(-gamma |a - b|^2) / (sum of W in X * sum of W in Y), where
    W(a) is 1 divided by the number of instances of the bag closer to a than delta. Other instance kernels can
    replace the Gaussian. An SVM is trained on the bags.

    On the command line this is ``migraph``. Explanations: additive.

    Parameters
    ----------
    gamma : float or str, default="1/median"
        Gamma of the Gaussian kernel exp(-gamma |x - z|^2); a larger gamma means a narrower kernel. It takes a
        number above 0, N/median (N divided by the median squared distance between training instances), or N/d (N
        divided by the number of attributes).
    kernel : {"rbf", "linear", "poly"}, default="rbf"
        Instance kernel: rbf, the Gaussian exp(-gamma |x - z|^2); linear, x . z; or poly, (x . z + 1)^degree.
    degree : int, default=2
        Degree of the poly kernel; other kernels ignore it. It takes a whole number from 1 to 10.
    distance : {"euclidean", "text"}, default="euclidean"
        Distance between two instances: euclidean, or text, the mean squared difference over the attributes that are
        nonzero in at least one of the two. text requires kernel rbf and scaling none or maxabs.
    dist : {"gauss", "rkhs", "euclid", "sq"}, default="gauss"
        Dissimilarity inside a bag: gauss, one minus the Gaussian of width gamma; rkhs, the distance in the feature
        space of the kernel; euclid; or sq, the squared distance.
    delta : float or str, default="mean"
        Instances closer than this are neighbours: the bag's mean over pairs, over all ordered pairs (mean_all), or
        a number. It takes mean | mean_all | a number of at least 0.
    norm : {"eq5", "sqrt", "sqrtsum", "none"}, default="eq5"
        Normalisation: by the sums of the weights (eq5), by the self-similarities (sqrt), by the roots of the sums
        (sqrtsum), or none.
    c : float, default=100
        Cost of an error; a larger value fits the training bags more closely. It takes a number above 0.
    tube : float, default=0.01
        Epsilon of support vector regression: errors up to this size, in units of the target, cost nothing. It takes
        a number above 0.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is minmax.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

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
    """Isolation set-kernel: instances are similar if random partitions rarely separate them.

    K(S, T) = sum over x in S, y in T of W(x) W(y) K(x, y), divided by sqrt(K(S, S) K(T, T)). K(x, y) is the share
    of t random partitionings in which x and y lie in the same cell. A cell is the region nearest to one of psi
    random training instances, or a leaf of a random tree over them (partition), so the kernel adapts to the density
    of the data. W(x) is 1 divided by the number of instances y of the bag with K(x, y) > epsilon. An SVM is trained
    on the bags.

    On the command line this is ``isk``. Explanations: additive.

    Parameters
    ----------
    psi : float or str, default="auto"
        Number of instances that define a partitioning; more instances give smaller cells. Values in a list that
        exceed the number of training instances are skipped. auto is 64, or a quarter of the training instances if
        that is less. It takes auto | a whole number from 1 to 65535.
    epsilon : float or str, default=1
        Instances of a bag are similar if they share a cell in more than this fraction of the partitionings; 1 gives
        all instances the same weight. It takes a fraction from 0 to 1, such as 11/20.
    t : int, default=200
        Number of partitionings. It takes a whole number from 1 to 10000.
    partition : {"voronoi", "forest", "sphere"}, default="voronoi"
        Type of cell: voronoi, the region nearest to one of the psi instances; forest, a leaf of a random tree that
        isolates them (no distances, the fastest for many instances); sphere, as voronoi, but only up to the
        distance of the nearest other of the psi instances; points farther away are in no cell.
    distance : {"euclidean", "text"}, default="euclidean"
        Distance between an instance and a centre: euclidean, or text, the mean squared difference over the
        attributes that are nonzero in at least one of the two. text requires scaling none or maxabs, and partition
        voronoi or sphere.
    solver : {"auto", "gram", "map"}, default="auto"
        Train on the kernel matrix of all bags or on their sparse feature maps. Both give the same model up to the
        solver's tolerance. auto uses maps from 4000 bags, or from 1000 bags with 50,000 instances together.
    pool : {"train", "all"}, default="train"
        Bags from which centres are drawn: training bags (train), or all bags including test bags, without labels
        (all). all gives optimistic estimates; it exists to reproduce published results.
    c : float, default=8
        Cost of an error; a larger value fits the training bags more closely. It takes a number above 0.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        Scheme for more than two classes. The default of this method is one-vs-one.
    class_weight : {"balanced"} or dict, optional
        ``"balanced"`` gives every class the same total weight. A dictionary gives the cost of an error in each class.
    decision_threshold : float or str, optional
        Threshold of the decision value for the second of two classes: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"`` (chosen on inner folds), or a number; 0 if not given.
    inner : int, default=5
        Number of inner folds, on which probabilities are calibrated and thresholds chosen.
    probability : bool, default=True
        Whether to calibrate probabilities. This trains another model for every inner fold. If False, there
        is no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is zscore.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in ascending order.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

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
    """Isolation set-kernel: instances are similar if random partitions rarely separate them.

    K(S, T) = sum over x in S, y in T of W(x) W(y) K(x, y), divided by sqrt(K(S, S) K(T, T)). K(x, y) is the share
    of t random partitionings in which x and y lie in the same cell. A cell is the region nearest to one of psi
    random training instances, or a leaf of a random tree over them (partition), so the kernel adapts to the density
    of the data. W(x) is 1 divided by the number of instances y of the bag with K(x, y) > epsilon. An SVM is trained
    on the bags.

    On the command line this is ``isk``. Explanations: additive.

    Parameters
    ----------
    psi : float or str, default="auto"
        Number of instances that define a partitioning; more instances give smaller cells. Values in a list that
        exceed the number of training instances are skipped. auto is 64, or a quarter of the training instances if
        that is less. It takes auto | a whole number from 1 to 65535.
    epsilon : float or str, default=1
        Instances of a bag are similar if they share a cell in more than this fraction of the partitionings; 1 gives
        all instances the same weight. It takes a fraction from 0 to 1, such as 11/20.
    t : int, default=200
        Number of partitionings. It takes a whole number from 1 to 10000.
    partition : {"voronoi", "forest", "sphere"}, default="voronoi"
        Type of cell: voronoi, the region nearest to one of the psi instances; forest, a leaf of a random tree that
        isolates them (no distances, the fastest for many instances); sphere, as voronoi, but only up to the
        distance of the nearest other of the psi instances; points farther away are in no cell.
    distance : {"euclidean", "text"}, default="euclidean"
        Distance between an instance and a centre: euclidean, or text, the mean squared difference over the
        attributes that are nonzero in at least one of the two. text requires scaling none or maxabs, and partition
        voronoi or sphere.
    solver : {"auto", "gram", "map"}, default="auto"
        Train on the kernel matrix of all bags or on their sparse feature maps. Both give the same model up to the
        solver's tolerance. auto uses maps from 4000 bags, or from 1000 bags with 50,000 instances together.
    pool : {"train", "all"}, default="train"
        Bags from which centres are drawn: training bags (train), or all bags including test bags, without labels
        (all). all gives optimistic estimates; it exists to reproduce published results.
    c : float, default=8
        Cost of an error; a larger value fits the training bags more closely. It takes a number above 0.
    tube : float, default=0.01
        Epsilon of support vector regression: errors up to this size, in units of the target, cost nothing. It takes
        a number above 0.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is zscore.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

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
    """MIGraph: compares the instances of two bags and the edges of their neighbour graphs.

    K(X, Y) = sum over instances of exp(-gamma |x - z|^2) + sum over edges of exp(-gamma_edge |e - f|^2), divided by
    sqrt(K(X, X) K(Y, Y)). Instances of a bag closer than eps are joined by an edge, described by the degrees and
    affinities at its ends. The edge sum is computed in time proportional to the number of edges. Other instance
    kernels can replace the first Gaussian. An SVM is trained on the bags.

    On the command line this is ``migraph-explicit``. Explanations: additive.

    Parameters
    ----------
    gamma : float or str, default="1/median"
        Gamma of the Gaussian kernel exp(-gamma |x - z|^2); a larger gamma means a narrower kernel. It takes a
        number above 0, N/median (N divided by the median squared distance between training instances), or N/d (N
        divided by the number of attributes).
    kernel : {"rbf", "linear", "poly"}, default="rbf"
        Instance kernel: rbf, the Gaussian exp(-gamma |x - z|^2); linear, x . z; or poly, (x . z + 1)^degree.
    degree : int, default=2
        Degree of the poly kernel; other kernels ignore it. It takes a whole number from 1 to 10.
    gamma_edge : float or str, default="gamma"
        Gamma of the edge kernel: the same as for instances (gamma), or a number. It takes gamma | a number of at
        least 0.
    eps : float or str, default="mean"
        Instances closer than this are joined by an edge: the bag's mean distance over pairs, or a number. It takes
        mean | a number of at least 0.
    orient : {"both", "canonical", "index"}, default="both"
        Direction of an edge: both at half weight, the larger end first (canonical), or the earlier instance first
        (index).
    zero : {"limit", "drop"}, default="limit"
        Identical instances: joined by an edge with the limit of the affinity for small distances, or not joined
        (drop).
    norm : {"sqrt", "none"}, default="sqrt"
        Normalisation: by the self-similarities (sqrt), or none.
    tol : float, default=1e-8
        Maximum absolute error of the normalised kernel due to the approximation of edge sums; 0 sums over all pairs
        of edges. It takes a number of at least 0.
    c : float, default=100
        Cost of an error; a larger value fits the training bags more closely. It takes a number above 0.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        Scheme for more than two classes. The default of this method is one-vs-one.
    class_weight : {"balanced"} or dict, optional
        ``"balanced"`` gives every class the same total weight. A dictionary gives the cost of an error in each class.
    decision_threshold : float or str, optional
        Threshold of the decision value for the second of two classes: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"`` (chosen on inner folds), or a number; 0 if not given.
    inner : int, default=5
        Number of inner folds, on which probabilities are calibrated and thresholds chosen.
    probability : bool, default=True
        Whether to calibrate probabilities. This trains another model for every inner fold. If False, there
        is no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is minmax.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in ascending order.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

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
    """MIGraph: compares the instances of two bags and the edges of their neighbour graphs.

    K(X, Y) = sum over instances of exp(-gamma |x - z|^2) + sum over edges of exp(-gamma_edge |e - f|^2), divided by
    sqrt(K(X, X) K(Y, Y)). Instances of a bag closer than eps are joined by an edge, described by the degrees and
    affinities at its ends. The edge sum is computed in time proportional to the number of edges. Other instance
    kernels can replace the first Gaussian. An SVM is trained on the bags.

    On the command line this is ``migraph-explicit``. Explanations: additive.

    Parameters
    ----------
    gamma : float or str, default="1/median"
        Gamma of the Gaussian kernel exp(-gamma |x - z|^2); a larger gamma means a narrower kernel. It takes a
        number above 0, N/median (N divided by the median squared distance between training instances), or N/d (N
        divided by the number of attributes).
    kernel : {"rbf", "linear", "poly"}, default="rbf"
        Instance kernel: rbf, the Gaussian exp(-gamma |x - z|^2); linear, x . z; or poly, (x . z + 1)^degree.
    degree : int, default=2
        Degree of the poly kernel; other kernels ignore it. It takes a whole number from 1 to 10.
    gamma_edge : float or str, default="gamma"
        Gamma of the edge kernel: the same as for instances (gamma), or a number. It takes gamma | a number of at
        least 0.
    eps : float or str, default="mean"
        Instances closer than this are joined by an edge: the bag's mean distance over pairs, or a number. It takes
        mean | a number of at least 0.
    orient : {"both", "canonical", "index"}, default="both"
        Direction of an edge: both at half weight, the larger end first (canonical), or the earlier instance first
        (index).
    zero : {"limit", "drop"}, default="limit"
        Identical instances: joined by an edge with the limit of the affinity for small distances, or not joined
        (drop).
    norm : {"sqrt", "none"}, default="sqrt"
        Normalisation: by the self-similarities (sqrt), or none.
    tol : float, default=1e-8
        Maximum absolute error of the normalised kernel due to the approximation of edge sums; 0 sums over all pairs
        of edges. It takes a number of at least 0.
    c : float, default=100
        Cost of an error; a larger value fits the training bags more closely. It takes a number above 0.
    tube : float, default=0.01
        Epsilon of support vector regression: errors up to this size, in units of the target, cost nothing. It takes
        a number above 0.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is minmax.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

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


class RBFMIPClassifier(BagClassifier):
    """A radial basis function network on clusters of bags.

    Training bags are clustered by the distance of their nearest instances. Each feature of a bag is a Gaussian of
    its distance to one cluster, and the output is linear in these features, fitted by least squares.

    On the command line this is ``rbf-mip``. Explanations: none: the output depends on the distances to many groups of bags.

    Parameters
    ----------
    groups : float, default=0.5
        Number of groups as a share of the training bags. It takes a number above 0, at most 1.
    mu : float, default=0.6
        Width of the Gaussians in units of the mean distance between groups. It takes a number above 0.
    rank : float or str, default=1
        Which instance decides the distance of two bags: 1 is the nearest pair, max the ordinary Hausdorff distance.
        Bags that share a background need a higher rank. It takes max | a whole number from 1 to 1000.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        Scheme for more than two classes. The default of this method is one-vs-one.
    class_weight : {"balanced"} or dict, optional
        ``"balanced"`` gives every class the same total weight. A dictionary gives the cost of an error in each class.
    decision_threshold : float or str, optional
        Threshold of the decision value for the second of two classes: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"`` (chosen on inner folds), or a number; 0 if not given.
    inner : int, default=5
        Number of inner folds, on which probabilities are calibrated and thresholds chosen.
    probability : bool, default=True
        Whether to calibrate probabilities. This trains another model for every inner fold. If False, there
        is no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is minmax.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in ascending order.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

    References
    ----------
    Zhang, Zhou: Adapting RBF neural networks to multi-instance learning, Neural Processing Letters 23, 2006

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.RBFMIPClassifier().fit(data.bags, data.y)
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "rbf-mip"
    _parameters: ClassVar[dict[str, str]] = {"groups": "groups", "mu": "mu", "rank": "rank"}

    def __init__(
        self,
        *,
        groups: float = 0.5,
        mu: float = 0.6,
        rank: float | str = 1,
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
        self.groups = groups
        self.mu = mu
        self.rank = rank
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


class RBFMIPRegressor(BagRegressor):
    """A radial basis function network on clusters of bags.

    Training bags are clustered by the distance of their nearest instances. Each feature of a bag is a Gaussian of
    its distance to one cluster, and the output is linear in these features, fitted by least squares.

    On the command line this is ``rbf-mip``. Explanations: none: the output depends on the distances to many groups of bags.

    Parameters
    ----------
    groups : float, default=0.5
        Number of groups as a share of the training bags. It takes a number above 0, at most 1.
    mu : float, default=0.6
        Width of the Gaussians in units of the mean distance between groups. It takes a number above 0.
    rank : float or str, default=1
        Which instance decides the distance of two bags: 1 is the nearest pair, max the ordinary Hausdorff distance.
        Bags that share a background need a higher rank. It takes max | a whole number from 1 to 1000.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is minmax.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

    References
    ----------
    Zhang, Zhou: Adapting RBF neural networks to multi-instance learning, Neural Processing Letters 23, 2006

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.RBFMIPRegressor().fit(data.bags, data.bags.sizes())
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "rbf-mip"
    _parameters: ClassVar[dict[str, str]] = {"groups": "groups", "mu": "mu", "rank": "rank"}

    def __init__(
        self,
        *,
        groups: float = 0.5,
        mu: float = 0.6,
        rank: float | str = 1,
        scale: str | None = None,
        missing: Literal["refuse", "median"] = "refuse",
        precision: Literal["f64", "f32"] = "f64",
        memory: float = MEMORY,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.groups = groups
        self.mu = mu
        self.rank = rank
        self.scale = scale
        self.missing = missing
        self.precision = precision
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs


class MILNetClassifier(BagClassifier):
    """Neural network over bags: attention, MI-Net, mi-Net, BP-MIP.

    A layer of units processes one instance at a time. The instances of a bag are then pooled by attention (ABMIL: z
    = sum p h with p a softmax over the bag), by the mean or the maximum of each unit (MI-Net), or by the instance
    with the largest output (mi-Net). f = w'z + b is trained by Adam for a fixed number of steps. With attention,
    the part of an instance is p w'h. The attention p alone shows where the network looks, not which class it
    favours.

    On the command line this is ``mil-net``. Explanations: additive for pool=attention, gated, mean and max; witness for instance; none for lse.

    Parameters
    ----------
    pool : {"attention", "gated", "mean", "max", "lse", "instance"}, default="attention"
        How the instances of a bag are pooled: weighted by attention, plain or gated; by the mean, maximum or
        log-mean-exp of each unit; or by the instance with the largest output.
    loss : {"log", "bp"}, default="log"
        Logistic loss (squared error for regression), or that of BP-MIP with its sigmoid units, which requires
        pool=instance.
    hidden : int, default=64
        Units per instance layer. It takes a whole number from 1 to 4096.
    layers : int, default=1
        Number of instance layers. It takes a whole number from 1 to 3.
    attention : int, default=32
        Number of attention units. It takes a whole number from 1 to 1024.
    steps : int, default=200
        Number of Adam steps; each uses one batch. It takes a whole number from 1 to 100000.
    batch : float or str, default="all"
        Number of bags per step. all is the most stable; smaller batches train on large data in minutes, if you
        raise steps so that every bag is used several times. It takes all | a whole number from 1 to 1000000.
    rate : float, default=0.001
        Step size of Adam. It takes a number above 0.
    decay : float, default=0.01
        Weight decay; a larger value keeps the network simpler. It takes a number of at least 0.
    restarts : int, default=1
        Number of networks with different starts, whose outputs are averaged. It takes a whole number from 1 to 100.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        Scheme for more than two classes. The default of this method is one-vs-rest.
    class_weight : {"balanced"} or dict, optional
        ``"balanced"`` gives every class the same total weight. A dictionary gives the cost of an error in each class.
    decision_threshold : float or str, optional
        Threshold of the decision value for the second of two classes: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"`` (chosen on inner folds), or a number; 0 if not given.
    inner : int, default=5
        Number of inner folds, on which probabilities are calibrated and thresholds chosen.
    probability : bool, default=True
        Whether to calibrate probabilities. This trains another model for every inner fold. If False, there
        is no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is zscore.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in ascending order.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

    References
    ----------
    Wang, Yan, Tang, Bai, Liu: Revisiting multiple instance neural networks, Pattern Recognition 74, 2018; Ilse,
    Tomczak, Welling: Attention-based deep multiple instance learning, ICML 2018; Zhou, Zhang: Neural networks for
    multi-instance learning, 2002

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.MILNetClassifier().fit(data.bags, data.y)
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "mil-net"
    _parameters: ClassVar[dict[str, str]] = {
        "pool": "pool",
        "loss": "loss",
        "hidden": "hidden",
        "layers": "layers",
        "attention": "attention",
        "steps": "steps",
        "batch": "batch",
        "rate": "rate",
        "decay": "decay",
        "restarts": "restarts",
    }

    def __init__(
        self,
        *,
        pool: Literal["attention", "gated", "mean", "max", "lse", "instance"] = "attention",
        loss: Literal["log", "bp"] = "log",
        hidden: int = 64,
        layers: int = 1,
        attention: int = 32,
        steps: int = 200,
        batch: float | str = "all",
        rate: float = 0.001,
        decay: float = 0.01,
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
        self.pool = pool
        self.loss = loss
        self.hidden = hidden
        self.layers = layers
        self.attention = attention
        self.steps = steps
        self.batch = batch
        self.rate = rate
        self.decay = decay
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


class MILNetRegressor(BagRegressor):
    """Neural network over bags: attention, MI-Net, mi-Net, BP-MIP.

    A layer of units processes one instance at a time. The instances of a bag are then pooled by attention (ABMIL: z
    = sum p h with p a softmax over the bag), by the mean or the maximum of each unit (MI-Net), or by the instance
    with the largest output (mi-Net). f = w'z + b is trained by Adam for a fixed number of steps. With attention,
    the part of an instance is p w'h. The attention p alone shows where the network looks, not which class it
    favours.

    On the command line this is ``mil-net``. Explanations: additive for pool=attention, gated, mean and max; witness for instance; none for lse.

    Parameters
    ----------
    pool : {"attention", "gated", "mean", "max", "lse", "instance"}, default="attention"
        How the instances of a bag are pooled: weighted by attention, plain or gated; by the mean, maximum or
        log-mean-exp of each unit; or by the instance with the largest output.
    loss : {"log", "bp"}, default="log"
        Logistic loss (squared error for regression), or that of BP-MIP with its sigmoid units, which requires
        pool=instance.
    hidden : int, default=64
        Units per instance layer. It takes a whole number from 1 to 4096.
    layers : int, default=1
        Number of instance layers. It takes a whole number from 1 to 3.
    attention : int, default=32
        Number of attention units. It takes a whole number from 1 to 1024.
    steps : int, default=200
        Number of Adam steps; each uses one batch. It takes a whole number from 1 to 100000.
    batch : float or str, default="all"
        Number of bags per step. all is the most stable; smaller batches train on large data in minutes, if you
        raise steps so that every bag is used several times. It takes all | a whole number from 1 to 1000000.
    rate : float, default=0.001
        Step size of Adam. It takes a number above 0.
    decay : float, default=0.01
        Weight decay; a larger value keeps the network simpler. It takes a number of at least 0.
    restarts : int, default=1
        Number of networks with different starts, whose outputs are averaged. It takes a whole number from 1 to 100.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is zscore.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

    References
    ----------
    Wang, Yan, Tang, Bai, Liu: Revisiting multiple instance neural networks, Pattern Recognition 74, 2018; Ilse,
    Tomczak, Welling: Attention-based deep multiple instance learning, ICML 2018; Zhou, Zhang: Neural networks for
    multi-instance learning, 2002

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.MILNetRegressor().fit(data.bags, data.bags.sizes())
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "mil-net"
    _parameters: ClassVar[dict[str, str]] = {
        "pool": "pool",
        "loss": "loss",
        "hidden": "hidden",
        "layers": "layers",
        "attention": "attention",
        "steps": "steps",
        "batch": "batch",
        "rate": "rate",
        "decay": "decay",
        "restarts": "restarts",
    }

    def __init__(
        self,
        *,
        pool: Literal["attention", "gated", "mean", "max", "lse", "instance"] = "attention",
        loss: Literal["log", "bp"] = "log",
        hidden: int = 64,
        layers: int = 1,
        attention: int = 32,
        steps: int = 200,
        batch: float | str = "all",
        rate: float = 0.001,
        decay: float = 0.01,
        restarts: int = 1,
        scale: str | None = None,
        missing: Literal["refuse", "median"] = "refuse",
        precision: Literal["f64", "f32"] = "f64",
        memory: float = MEMORY,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.pool = pool
        self.loss = loss
        self.hidden = hidden
        self.layers = layers
        self.attention = attention
        self.steps = steps
        self.batch = batch
        self.rate = rate
        self.decay = decay
        self.restarts = restarts
        self.scale = scale
        self.missing = missing
        self.precision = precision
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs


class MGDDVClassifier(BagClassifier):
    """Set kernel in which pairs of instances with similar predicted labels count more; concepts weighted by density.

    K(X, Y) = sum over x in X, z in Y of exp(-gamma |x - z|^2) [p(x) p(z) + (1 - p(x)) (1 - p(z))], divided by the
    self-similarities; p is the probability that an instance is positive, averaged over concepts found by diverse
    density, each weighted by its density. For regression, the bracket is the expected similarity of two labels.
    Concepts are learned separately in every fold and for every class.

    On the command line this is ``mg-ddv``. Explanations: additive.

    Parameters
    ----------
    gamma : float or str, default="1/d"
        Gamma of the Gaussian kernel exp(-gamma |x - z|^2); a larger gamma means a narrower kernel. It takes a
        number above 0, N/median (N divided by the median squared distance between training instances), or N/d (N
        divided by the number of attributes).
    label_kernel : {"equal", "both"}, default="equal"
        For classes: the labels of two instances are similar if they are equal, or only if both are positive (both).
    search : {"dd", "em-dd"}, default="dd"
        How concepts are found: by maximising diverse density (dd), or by EM-DD.
    distance : {"weighted", "unweighted"}, default="weighted"
        Weighted: every attribute has its own weight, learned together with the point; unweighted: one weight for
        all attributes.
    rho : float, default=1
        Squared weight of an attribute at the start of the search, times the number of attributes; with
        distance=unweighted it stays fixed. It takes a number above 0.
    starts : float or str, default="auto"
        Auto: start from the instances of positive bags (from some of them if there are very many), and continue
        only the most promising climbs; all: climb from every instance to the end; a number: from this number of
        random instances. It takes auto | all | a whole number from 1 to 1000000.
    iterations : int, default=30
        Maximum number of steps per start; more steps rarely change the result. It takes a whole number from 1 to
        10000.
    hypotheses : {"all", "best"}, default="all"
        Weighted average over all concepts found, or only the concept with the highest density (best).
    reuse : {"none", "outer"}, default="none"
        Inner folds search for their own concepts (none), or reuse those of the whole training set (outer). outer is
        faster, but gamma, c, threshold and probabilities are then chosen on bags whose labels the concepts have
        seen.
    c : float, default=100
        Cost of an error; a larger value fits the training bags more closely. It takes a number above 0.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        Scheme for more than two classes. The default of this method is one-vs-rest.
    class_weight : {"balanced"} or dict, optional
        ``"balanced"`` gives every class the same total weight. A dictionary gives the cost of an error in each class.
    decision_threshold : float or str, optional
        Threshold of the decision value for the second of two classes: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"`` (chosen on inner folds), or a number; 0 if not given.
    inner : int, default=5
        Number of inner folds, on which probabilities are calibrated and thresholds chosen.
    probability : bool, default=True
        Whether to calibrate probabilities. This trains another model for every inner fold. If False, there
        is no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is zscore.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in ascending order.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

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
        starts: float | str = "auto",
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
    """Set kernel in which pairs of instances with similar predicted labels count more; concepts weighted by density.

    K(X, Y) = sum over x in X, z in Y of exp(-gamma |x - z|^2) [p(x) p(z) + (1 - p(x)) (1 - p(z))], divided by the
    self-similarities; p is the probability that an instance is positive, averaged over concepts found by diverse
    density, each weighted by its density. For regression, the bracket is the expected similarity of two labels.
    Concepts are learned separately in every fold and for every class.

    On the command line this is ``mg-ddv``. Explanations: additive.

    Parameters
    ----------
    gamma : float or str, default="1/d"
        Gamma of the Gaussian kernel exp(-gamma |x - z|^2); a larger gamma means a narrower kernel. It takes a
        number above 0, N/median (N divided by the median squared distance between training instances), or N/d (N
        divided by the number of attributes).
    label_kernel : {"linear", "gaussian"}, default="gaussian"
        For regression: similarity of two labels in [0, 1]: linear, 1 - |a - b|, or gaussian, 10^(-4 (a - b)^2).
    search : {"dd", "em-dd"}, default="dd"
        How concepts are found: by maximising diverse density (dd), or by EM-DD.
    distance : {"weighted", "unweighted"}, default="weighted"
        Weighted: every attribute has its own weight, learned together with the point; unweighted: one weight for
        all attributes.
    rho : float, default=1
        Squared weight of an attribute at the start of the search, times the number of attributes; with
        distance=unweighted it stays fixed. It takes a number above 0.
    starts : float or str, default="auto"
        Auto: start from the instances of positive bags (from some of them if there are very many), and continue
        only the most promising climbs; all: climb from every instance to the end; a number: from this number of
        random instances. It takes auto | all | a whole number from 1 to 1000000.
    iterations : int, default=30
        Maximum number of steps per start; more steps rarely change the result. It takes a whole number from 1 to
        10000.
    hypotheses : {"all", "best"}, default="all"
        Weighted average over all concepts found, or only the concept with the highest density (best).
    reuse : {"none", "outer"}, default="none"
        Inner folds search for their own concepts (none), or reuse those of the whole training set (outer). outer is
        faster, but gamma, c, threshold and probabilities are then chosen on bags whose labels the concepts have
        seen.
    c : float, default=100
        Cost of an error; a larger value fits the training bags more closely. It takes a number above 0.
    tube : float, default=0.01
        Epsilon of support vector regression: errors up to this size, in units of the target, cost nothing. It takes
        a number above 0.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is zscore.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

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
        starts: float | str = "auto",
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
    """Set kernel in which pairs of instances with similar predicted labels count more; concepts weighted by accuracy.

    The kernel of mg-ddv with concepts weighted by the number of training bags they classify correctly (a bag counts
    as positive if exp(-D) is at least 1/2 for one of its instances), or, for regression, by how much smaller their
    squared error is than the largest. Unlike in mg-ddv, a single concept of high density cannot dominate.

    On the command line this is ``mg-acc``. Explanations: additive.

    Parameters
    ----------
    gamma : float or str, default="1/d"
        Gamma of the Gaussian kernel exp(-gamma |x - z|^2); a larger gamma means a narrower kernel. It takes a
        number above 0, N/median (N divided by the median squared distance between training instances), or N/d (N
        divided by the number of attributes).
    label_kernel : {"equal", "both"}, default="equal"
        For classes: the labels of two instances are similar if they are equal, or only if both are positive (both).
    search : {"dd", "em-dd"}, default="dd"
        How concepts are found: by maximising diverse density (dd), or by EM-DD.
    distance : {"weighted", "unweighted"}, default="weighted"
        Weighted: every attribute has its own weight, learned together with the point; unweighted: one weight for
        all attributes.
    rho : float, default=1
        Squared weight of an attribute at the start of the search, times the number of attributes; with
        distance=unweighted it stays fixed. It takes a number above 0.
    starts : float or str, default="auto"
        Auto: start from the instances of positive bags (from some of them if there are very many), and continue
        only the most promising climbs; all: climb from every instance to the end; a number: from this number of
        random instances. It takes auto | all | a whole number from 1 to 1000000.
    iterations : int, default=30
        Maximum number of steps per start; more steps rarely change the result. It takes a whole number from 1 to
        10000.
    hypotheses : {"all", "best"}, default="all"
        Weighted average over all concepts found, or only the concept with the highest density (best).
    reuse : {"none", "outer"}, default="none"
        Inner folds search for their own concepts (none), or reuse those of the whole training set (outer). outer is
        faster, but gamma, c, threshold and probabilities are then chosen on bags whose labels the concepts have
        seen.
    c : float, default=100
        Cost of an error; a larger value fits the training bags more closely. It takes a number above 0.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        Scheme for more than two classes. The default of this method is one-vs-rest.
    class_weight : {"balanced"} or dict, optional
        ``"balanced"`` gives every class the same total weight. A dictionary gives the cost of an error in each class.
    decision_threshold : float or str, optional
        Threshold of the decision value for the second of two classes: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"`` (chosen on inner folds), or a number; 0 if not given.
    inner : int, default=5
        Number of inner folds, on which probabilities are calibrated and thresholds chosen.
    probability : bool, default=True
        Whether to calibrate probabilities. This trains another model for every inner fold. If False, there
        is no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is zscore.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in ascending order.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

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
        starts: float | str = "auto",
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
    """Set kernel in which pairs of instances with similar predicted labels count more; concepts weighted by accuracy.

    The kernel of mg-ddv with concepts weighted by the number of training bags they classify correctly (a bag counts
    as positive if exp(-D) is at least 1/2 for one of its instances), or, for regression, by how much smaller their
    squared error is than the largest. Unlike in mg-ddv, a single concept of high density cannot dominate.

    On the command line this is ``mg-acc``. Explanations: additive.

    Parameters
    ----------
    gamma : float or str, default="1/d"
        Gamma of the Gaussian kernel exp(-gamma |x - z|^2); a larger gamma means a narrower kernel. It takes a
        number above 0, N/median (N divided by the median squared distance between training instances), or N/d (N
        divided by the number of attributes).
    label_kernel : {"linear", "gaussian"}, default="gaussian"
        For regression: similarity of two labels in [0, 1]: linear, 1 - |a - b|, or gaussian, 10^(-4 (a - b)^2).
    search : {"dd", "em-dd"}, default="dd"
        How concepts are found: by maximising diverse density (dd), or by EM-DD.
    distance : {"weighted", "unweighted"}, default="weighted"
        Weighted: every attribute has its own weight, learned together with the point; unweighted: one weight for
        all attributes.
    rho : float, default=1
        Squared weight of an attribute at the start of the search, times the number of attributes; with
        distance=unweighted it stays fixed. It takes a number above 0.
    starts : float or str, default="auto"
        Auto: start from the instances of positive bags (from some of them if there are very many), and continue
        only the most promising climbs; all: climb from every instance to the end; a number: from this number of
        random instances. It takes auto | all | a whole number from 1 to 1000000.
    iterations : int, default=30
        Maximum number of steps per start; more steps rarely change the result. It takes a whole number from 1 to
        10000.
    hypotheses : {"all", "best"}, default="all"
        Weighted average over all concepts found, or only the concept with the highest density (best).
    reuse : {"none", "outer"}, default="none"
        Inner folds search for their own concepts (none), or reuse those of the whole training set (outer). outer is
        faster, but gamma, c, threshold and probabilities are then chosen on bags whose labels the concepts have
        seen.
    c : float, default=100
        Cost of an error; a larger value fits the training bags more closely. It takes a number above 0.
    tube : float, default=0.01
        Epsilon of support vector regression: errors up to this size, in units of the target, cost nothing. It takes
        a number above 0.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is zscore.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

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
        starts: float | str = "auto",
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


class BaggingClassifier(BagClassifier):
    """The mean of a method over bootstrap samples of the bags.

    Trains a method several times, each time on a bootstrap sample of the bags (of whole groups, if there are
    groups), and averages the outputs. The bags left out of each sample give an out-of-bag estimate, which fit
    reports. The member uses its default parameters and its own scaling.

    On the command line this is ``bagging``. Explanations: additive, if the member can explain its predictions.

    Parameters
    ----------
    member : str, default="simple-mi"
        The method whose outputs are averaged, at its default parameters. It takes a name.
    draws : int, default=10
        Number of bootstrap samples; a model is trained on each. It takes a whole number from 1 to 1000.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        Scheme for more than two classes. The default of this method is one-vs-rest.
    class_weight : {"balanced"} or dict, optional
        ``"balanced"`` gives every class the same total weight. A dictionary gives the cost of an error in each class.
    decision_threshold : float or str, optional
        Threshold of the decision value for the second of two classes: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"`` (chosen on inner folds), or a number; 0 if not given.
    inner : int, default=5
        Number of inner folds, on which probabilities are calibrated and thresholds chosen.
    probability : bool, default=True
        Whether to calibrate probabilities. This trains another model for every inner fold. If False, there
        is no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is minmax.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in ascending order.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

    References
    ----------
    Breiman: Bagging predictors, Machine Learning 24, 1996

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.BaggingClassifier().fit(data.bags, data.y)
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "bagging"
    _parameters: ClassVar[dict[str, str]] = {"member": "member", "draws": "draws"}

    def __init__(
        self,
        *,
        member: str = "simple-mi",
        draws: int = 10,
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
        self.member = member
        self.draws = draws
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


class BaggingRegressor(BagRegressor):
    """The mean of a method over bootstrap samples of the bags.

    Trains a method several times, each time on a bootstrap sample of the bags (of whole groups, if there are
    groups), and averages the outputs. The bags left out of each sample give an out-of-bag estimate, which fit
    reports. The member uses its default parameters and its own scaling.

    On the command line this is ``bagging``. Explanations: additive, if the member can explain its predictions.

    Parameters
    ----------
    member : str, default="simple-mi"
        The method whose outputs are averaged, at its default parameters. It takes a name.
    draws : int, default=10
        Number of bootstrap samples; a model is trained on each. It takes a whole number from 1 to 1000.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is minmax.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

    References
    ----------
    Breiman: Bagging predictors, Machine Learning 24, 1996

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.BaggingRegressor().fit(data.bags, data.bags.sizes())
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "bagging"
    _parameters: ClassVar[dict[str, str]] = {"member": "member", "draws": "draws"}

    def __init__(
        self,
        *,
        member: str = "simple-mi",
        draws: int = 10,
        scale: str | None = None,
        missing: Literal["refuse", "median"] = "refuse",
        precision: Literal["f64", "f32"] = "f64",
        memory: float = MEMORY,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.member = member
        self.draws = draws
        self.scale = scale
        self.missing = missing
        self.precision = precision
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs


class StackingClassifier(BagClassifier):
    """A linear SVM on the outputs of several methods.

    A linear SVM is trained on the outputs of several methods, its members. The outputs for training bags come from
    members that were trained on other folds. Members use their default parameters and the scaling of the first
    member that needs one.

    On the command line this is ``stacking``. Explanations: additive, if all members can explain their predictions.

    Parameters
    ----------
    members : str, default="simple-mi,mi-kernel"
        The methods, separated by commas, each at its default parameters. It takes names, separated by commas.
    folds : int, default=5
        Number of folds of the training bags; members predict each fold after training on the others. It takes a
        whole number from 2 to 100.
    c : float, default=1
        Cost of an error of the SVM; a smaller value weights the members more equally. It takes a number above 0.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        Scheme for more than two classes. The default of this method is one-vs-rest.
    class_weight : {"balanced"} or dict, optional
        ``"balanced"`` gives every class the same total weight. A dictionary gives the cost of an error in each class.
    decision_threshold : float or str, optional
        Threshold of the decision value for the second of two classes: ``"recall=0.95"``,
        ``"precision=0.9"``, ``"balanced"`` (chosen on inner folds), or a number; 0 if not given.
    inner : int, default=5
        Number of inner folds, on which probabilities are calibrated and thresholds chosen.
    probability : bool, default=True
        Whether to calibrate probabilities. This trains another model for every inner fold. If False, there
        is no `predict_proba`.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is minmax.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in ascending order.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

    References
    ----------
    Wolpert: Stacked generalization, Neural Networks 5, 1992

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.StackingClassifier().fit(data.bags, data.y)
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "stacking"
    _parameters: ClassVar[dict[str, str]] = {"members": "members", "folds": "folds", "c": "c"}

    def __init__(
        self,
        *,
        members: str = "simple-mi,mi-kernel",
        folds: int = 5,
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
        self.members = members
        self.folds = folds
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


class StackingRegressor(BagRegressor):
    """A linear SVM on the outputs of several methods.

    A linear SVM is trained on the outputs of several methods, its members. The outputs for training bags come from
    members that were trained on other folds. Members use their default parameters and the scaling of the first
    member that needs one.

    On the command line this is ``stacking``. Explanations: additive, if all members can explain their predictions.

    Parameters
    ----------
    members : str, default="simple-mi,mi-kernel"
        The methods, separated by commas, each at its default parameters. It takes names, separated by commas.
    folds : int, default=5
        Number of folds of the training bags; members predict each fold after training on the others. It takes a
        whole number from 2 to 100.
    c : float, default=1
        Cost of an error of the SVM; a smaller value weights the members more equally. It takes a number above 0.
    tube : float, default=0.01
        Epsilon of support vector regression: errors up to this size, in units of the target, cost nothing. It takes
        a number above 0.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Scaling of features, fitted on training bags. The default of this method is minmax.
    missing : {"refuse", "median"}, default="refuse"
        What to do with NaN: raise an error, or fill in the median of the training bags.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    memory : float, default=4e9
        Memory limit in bytes for Gram matrices, caches and copies.
    random_state : int, RandomState instance or None, default=0
        The random seed. The same seed gives the same numbers on any number of threads.
        None means 0, so that results are reproducible by default; a RandomState gives other numbers each time.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one. By default, the cores that joblib assigns to
        this process (``parallel_config``, its workers, containers).

    Attributes
    ----------
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, if the bags had any.
    model_ : object
        The trained model.

    References
    ----------
    Wolpert: Stacked generalization, Neural Networks 5, 1992

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=30&features=3")
    >>> model = bagwise.StackingRegressor().fit(data.bags, data.bags.sizes())
    >>> model.predict(data.bags[:2]).shape
    (2,)
    """

    _method: ClassVar[str] = "stacking"
    _parameters: ClassVar[dict[str, str]] = {"members": "members", "folds": "folds", "c": "c", "tube": "tube"}

    def __init__(
        self,
        *,
        members: str = "simple-mi,mi-kernel",
        folds: int = 5,
        c: float = 1,
        tube: float = 0.01,
        scale: str | None = None,
        missing: Literal["refuse", "median"] = "refuse",
        precision: Literal["f64", "f32"] = "f64",
        memory: float = MEMORY,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.members = members
        self.folds = folds
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
    ("mi-wrapper", False): MIWrapperClassifier,
    ("optimal-ball", False): OptimalBallClassifier,
    ("citation-knn", False): CitationKNNClassifier,
    ("citation-knn", True): CitationKNNRegressor,
    ("mi-boost", False): MIBoostClassifier,
    ("sil", False): SILClassifier,
    ("bow", False): BagOfWordsClassifier,
    ("bow", True): BagOfWordsRegressor,
    ("cce", False): CCEClassifier,
    ("tlc", False): TLCClassifier,
    ("mi-vlad", False): MIVLADClassifier,
    ("mi-vlad", True): MIVLADRegressor,
    ("mi-fv", False): MIFVClassifier,
    ("mi-fv", True): MIFVRegressor,
    ("miles", False): MILESClassifier,
    ("miles", True): MILESRegressor,
    ("mind", False): MindClassifier,
    ("mind", True): MindRegressor,
    ("mi-kernel", False): MIKernelClassifier,
    ("mi-kernel", True): MIKernelRegressor,
    ("dd", False): DDClassifier,
    ("dd", True): DDRegressor,
    ("em-dd", False): EMDDClassifier,
    ("em-dd", True): EMDDRegressor,
    ("dd-svm", False): DDSVMClassifier,
    ("emd", False): EMDClassifier,
    ("emd", True): EMDRegressor,
    ("wmksvm", False): WMKSVMClassifier,
    ("wmksvm", True): WMKSVMRegressor,
    ("mi-svm", False): InstanceMISVMClassifier,
    ("mi-svm-bag", False): BagMISVMClassifier,
    ("misssvm", False): MissSVMClassifier,
    ("mirsvm", False): MIRSVMClassifier,
    ("migraph", False): MiGraphClassifier,
    ("migraph", True): MiGraphRegressor,
    ("isk", False): ISKClassifier,
    ("isk", True): ISKRegressor,
    ("migraph-explicit", False): ExplicitMIGraphClassifier,
    ("migraph-explicit", True): ExplicitMIGraphRegressor,
    ("rbf-mip", False): RBFMIPClassifier,
    ("rbf-mip", True): RBFMIPRegressor,
    ("mil-net", False): MILNetClassifier,
    ("mil-net", True): MILNetRegressor,
    ("mg-ddv", False): MGDDVClassifier,
    ("mg-ddv", True): MGDDVRegressor,
    ("mg-acc", False): MGACCClassifier,
    ("mg-acc", True): MGACCRegressor,
    ("bagging", False): BaggingClassifier,
    ("bagging", True): BaggingRegressor,
    ("stacking", False): StackingClassifier,
    ("stacking", True): StackingRegressor,
}
