"""Evaluation and comparison of methods, and the automatic choice among them."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import type_of_target

from bagwise import _native
from bagwise._auto import ENSEMBLE, AutoClassifier, AutoRegressor
from bagwise._bags import Bags, BagsLike, as_bags
from bagwise._base import BagClassifier, BagEstimator, BagRegressor, model_from
from bagwise._cautions import warn_of_rows
from bagwise._comparison import Comparison
from bagwise._estimators import ESTIMATORS
from bagwise._inputs import gaps, names_of
from bagwise._notes import is_auto, note_of
from bagwise._options import MEMORY, around, folds_to_keep, hinting, impute_of, learning, outside
from bagwise._outside import outside_rows
from bagwise._relatives import remember
from bagwise._targets import (
    aligned,
    class_names,
    encoded,
    inner_folds,
    numbers_of,
    problem_parts,
    refuse_answer,
    refuse_gaps,
    weighed,
)


def methods() -> list[dict[str, Any]]:
    """Every method: name, title, formula, reference, and the table of its parameters.

    Examples
    --------
    >>> import bagwise
    >>> "mi-kernel" in [m["name"] for m in bagwise.methods()]
    True
    """
    found: list[dict[str, Any]] = json.loads(_native.methods())
    return found


def _target(y: ArrayLike, task: str, who: str) -> tuple[NDArray[np.float64], list[str] | None, Any]:
    """Values or codes, names of classes, and the classes as given."""
    if task not in ("auto", "classification", "regression"):
        raise ValueError(f"task is {task!r}; give 'auto', 'classification' or 'regression'")
    if task == "auto":
        refuse_gaps(y)
        task = "regression" if type_of_target(y) == "continuous" else "classification"
        given = np.asarray(y)
        if task == "classification" and given.dtype.kind in "fiu":
            question = _native.undecided(len(np.unique(given)), len(given))
            if question is not None:
                raise ValueError(f"y: {question}")
    if task == "regression":
        return numbers_of(y, who), None, None
    codes, classes = encoded(y, who)
    return codes, class_names(classes), classes


def _several(params: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Parameters of several methods, each named METHOD.KEY."""
    for method, own in params.items():
        if not isinstance(own, Mapping):
            raise TypeError(
                f"params: {method!r} has the value {own!r}; give a dictionary for each method, such as "
                "{'mi-kernel': {'c': 10}}"
            )
    return {f"{method}.{key}": value for method, own in params.items() for key, value in own.items()}


def _judge(
    bags: BagsLike,
    y: ArrayLike,
    methods_wanted: list[str],
    params: Mapping[str, Any],
    *,
    baselines: bool,
    groups: ArrayLike | None,
    folds: Any,
    inner: int,
    repeats: int,
    protocol: str | None,
    optimize: str | None,
    decision_threshold: float | str | None,
    scale: str | None,
    multiclass: str | None,
    class_weight: str | None,
    missing: str,
    task: str,
    level: float,
    best: bool,
    random_state: Any,
    n_jobs: int | None,
    memory: float,
    precision: str,
    folder: str | os.PathLike[str] | None,
    probabilities: bool,
    budget: float | None,
    plan: str | os.PathLike[str] | None,
    verbose: Any,
    command: str,
    estimators: Mapping[str, Any] | None = None,
) -> Comparison:
    if isinstance(class_weight, Mapping):
        raise ValueError(
            "class_weight is a dictionary, but an evaluation takes only 'balanced'; bagwise.fit and the estimators take "
            "costs of single classes"
        )
    for method in methods_wanted:
        if not isinstance(method, str):
            raise TypeError(
                f"a method is a name such as 'mi-kernel', not {method!r}; give estimators to "
                "bagwise.compare(..., estimators={'mine': estimator})"
            )
    if estimators is not None and not isinstance(estimators, Mapping):
        raise TypeError("estimators has no names; give a dictionary such as {'mine': estimator}")
    impute = impute_of(missing)
    ready = as_bags(bags, missing=impute)
    target, classes, labels = _target(aligned(y, ready, "y"), task, "an evaluation")
    refuse_answer(ready, target, classes)
    _check_weight(class_weight, classes)
    _, owners = problem_parts(ready, target, None, aligned(groups, ready, "groups"))
    count = given = None
    if isinstance(folds, (int, np.integer)):
        count = int(folds)
    elif folds is not None:
        given = _given_folds(folds, ready, target, owners)
    learn = learning(
        methods_wanted,
        params,
        scale=scale,
        multiclass=multiclass,
        class_weight=class_weight,
        impute=impute,
        optimize=optimize,
        decision_threshold=decision_threshold,
        best=best,
    )
    judging: dict[str, Any] = {
        "protocol": protocol,
        "folds": count,
        "inner": inner,
        "repeats": repeats,
        "given": given,
        "level": level,
        "baselines": baselines,
        "folder": None if folder is None else os.fspath(folder),
        "probabilities": probabilities,
        "budget": None if budget is None else float(budget),
        "plan": None if plan is None else os.fspath(plan),
        "outside": [],
    }
    surroundings = around(random_state, n_jobs, memory, precision, verbose)
    warn_of_rows(ready, target)
    for caution in _native.cautions(ready._native, ready._has_ids, target, classes, owners, optimize, surroundings):
        warnings.warn(caution, stacklevel=outside())
    if estimators:
        drawn = _native.folds(ready._native, target, classes, owners, learn, judging, surroundings)
        # They see the groups that the folds were made with.
        grouped = ready if owners is None else ready._with(np.asarray(owners), ready.kept)
        judging["outside"] = outside_rows(estimators, grouped, target, classes, labels, drawn)
    found = Comparison(
        _native.evaluate(ready._native, target, classes, owners, learn, judging, surroundings, command),
        labels,
    )
    if found.saw_test_bags:
        saw = " and ".join(found.saw_test_bags)
        used = f"{saw} used the features of test bags (pool='all'), so the estimate is optimistic"
        warnings.warn(used, stacklevel=outside())
    for sentence in found.warnings:
        warnings.warn(sentence, stacklevel=outside())
    return found


def _given_folds(folds: Any, bags: Bags, target: NDArray[np.float64], owners: list[str] | None) -> list[str]:
    """The fold of each bag, from one name per bag, a splitter of scikit-learn, or its pairs of training and test bags."""
    pairs = None
    if hasattr(folds, "split") and hasattr(folds, "get_n_splits"):
        pairs = list(folds.split(np.empty((len(bags), 0)), target, owners))
    elif isinstance(folds, (list, tuple)) and folds and isinstance(folds[0], tuple):
        pairs = list(folds)
    if pairs is None:
        own = names_of(aligned(folds, bags, "folds"))
        if own.shape == (len(bags),) and gaps(own).any():
            raise ValueError(f"{bags._called(int(np.flatnonzero(gaps(own))[0]))} has no fold; give every bag one")
        return [str(f) for f in own.tolist()]
    fold = np.full(len(bags), -1)
    for k, (train, test) in enumerate(pairs):
        if len(np.union1d(train, test)) != len(bags) or len(np.intersect1d(train, test)):
            raise ValueError(
                f"fold {k} does not split all bags into training and test bags; use, for example, KFold(5)"
            )
        if (fold[test] >= 0).any():
            raise ValueError(
                "some bags are tested twice; use a splitter that tests each bag once, and repeats=N to repeat it"
            )
        fold[test] = k
    if (fold < 0).any():
        raise ValueError(
            f"{int((fold < 0).sum())} bags are never tested; use a splitter that tests each bag once, such as KFold(5)"
        )
    return [str(k) for k in fold]


def _check_weight(class_weight: Any, classes: list[str] | None) -> None:
    if class_weight is not None and classes is None:
        raise ValueError("class_weight applies only to classes, but y is numeric; leave it out")


@hinting
def compare(
    bags: BagsLike,
    y: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    methods: str | Iterable[str] | None = None,
    params: Mapping[str, Mapping[str, Any]] | None = None,
    folds: Any = None,
    inner: int = 5,
    repeats: int = 1,
    protocol: str | None = None,
    optimize: str | None = None,
    decision_threshold: float | str | None = None,
    scale: str | None = None,
    multiclass: str | None = None,
    class_weight: str | None = None,
    missing: str = "refuse",
    task: str = "auto",
    level: float = 0.95,
    random_state: Any = 0,
    n_jobs: int | None = None,
    memory: float = MEMORY,
    precision: str = "f64",
    folder: str | os.PathLike[str] | None = None,
    probabilities: bool = False,
    budget: float | None = None,
    plan: str | os.PathLike[str] | None = None,
    estimators: Mapping[str, Any] | None = None,
    verbose: bool | int | Callable[[str, int, int], object] = False,
) -> Comparison:
    """Compare methods by cross-validation on the same folds, like ``bagwise compare``.

    Parameters are chosen by inner folds of the training bags, so test bags do not influence them. Every method is
    compared with the best and with ``"majority"``: see :attr:`Comparison.differences`.

    Parameters
    ----------
    bags : list of 2-D arrays, Bags, (X, bag_ids) or data frame
        The bags.
    y : array-like of shape (n_bags,)
        Classes, or numbers to predict.
    groups : array-like of shape (n_bags,), optional
        Groups (patients, scaffolds) that are never split between training and test; those of the bags if not given.
    methods : "all" or list of str, optional
        Methods to compare; the baselines majority and simple-mi are always included. By default, those that finish within
        ten minutes on two ordinary cores, by the size of the data; a warning says what is left out.
    params : dict of dict, optional
        For each method, values of its parameters: one value, or a list to choose from. Others are tuned over their
        default grids.
    folds : int or array-like of shape (n_bags,), optional
        Number of outer folds (default 10, or the number of groups if smaller), the fold of each bag, or a
        scikit-learn splitter that tests every bag once, such as ``StratifiedKFold(5)``.
    inner : int, default=5
        Number of inner folds, used to choose parameters.
    repeats : int, default=1
        Number of repeats, each with new random folds.
    protocol : str, optional
        nested, kfold (fixed parameters), loo, half, learning-curve, given, train-test or best-on-cv
        (optimistic).
    optimize : str, optional
        Metric for choosing parameters; accuracy, or rmse for regression, by default.
    decision_threshold : float or str, optional
        Decision threshold of the second of two classes: ``"recall=0.95"``, ``"precision=0.9"``, ``"balanced"`` or a number.
    scale : {"none", "minmax", "zscore", "maxabs"}, optional
        Feature scaling, fitted on training bags; the default depends on the method.
    multiclass : {"one-vs-one", "one-vs-rest"}, optional
        Scheme for more than two classes; the default depends on the method.
    class_weight : {"balanced"}, optional
        Weight classes equally, however rare they are.
    missing : {"refuse", "median"}, default="refuse"
        How to treat NaN: raise an error, or fill in the median of the training bags.
    task : {"auto", "classification", "regression"}, default="auto"
        Type of `y`; auto means classes, unless some label has a fractional part.
    level : float, default=0.95
        Confidence level of intervals and tests.
    random_state : int, RandomState instance or None, default=0
        Random seed; the same seed gives the same results. None means 0.
    n_jobs : int, optional
        Number of threads: -1 for all cores, -2 for all but one; by default, all that joblib leaves to this process.
    memory : float, default=4e9
        Memory limit in bytes for kernel matrices, caches and copies.
    precision : {"f64", "f32"}, default="f64"
        Precision of kernel sums.
    folder : str or path, optional
        Output folder for records, folds and predictions, which ``bagwise report`` can read. With or without it, an
        interrupted call resumes if you make the same call again.
    probabilities : bool, default=False
        Give bags probabilities also where all parameters of all methods are fixed; inner folds are then trained for them
        alone. Where parameters are tuned there are always probabilities.
    budget : float, optional
        Seconds. A plan is made for this time at the speed of this machine, and the run stops when it is up. Methods that
        were not judged on all folds are not ranked; the same call goes on with them.
    plan : path, optional
        Repeat the plan of another run: the ``plan.json`` of its folder.
    estimators : dict of str to estimator, optional
        More contenders under names of their own: any estimator with ``fit(bags, y)`` and ``predict(bags)``, such as a scikit-learn
        pipeline that starts with ``BagSummary``. Each is cloned and trained on the same folds; probabilities and decision values
        are used if it has them.
    verbose : bool or callable, default=False
        Print progress to stderr, at most once a second; or a function that is called with the current task, the
        number of finished steps and the total.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=40&features=3")
    >>> table = bagwise.compare(data.bags, data.y, methods=["mi-kernel"], folds=3, params={"mi-kernel": {"c": 10}})
    >>> sorted(row["method"] for row in table)
    ['majority', 'mi-kernel', 'simple-mi']
    """
    # None leaves the choice to the plan; no methods are the baselines alone.
    wanted = [] if methods is None else [methods] if isinstance(methods, str) else list(methods) or ["majority"]
    return _judge(
        bags,
        y,
        wanted,
        _several(params or {}),
        baselines=True,
        command="bagwise.compare in Python",
        groups=groups,
        folds=folds,
        inner=inner,
        repeats=repeats,
        protocol=protocol,
        optimize=optimize,
        decision_threshold=decision_threshold,
        scale=scale,
        multiclass=multiclass,
        class_weight=class_weight,
        missing=missing,
        task=task,
        level=level,
        best=False,
        random_state=random_state,
        n_jobs=n_jobs,
        memory=memory,
        precision=precision,
        folder=folder,
        probabilities=probabilities,
        budget=budget,
        plan=plan,
        estimators=estimators,
        verbose=verbose,
    )


@hinting
def evaluate(
    bags: BagsLike,
    y: ArrayLike,
    method: str,
    *,
    groups: ArrayLike | None = None,
    params: Mapping[str, Any] | None = None,
    folds: Any = None,
    inner: int = 5,
    repeats: int = 1,
    protocol: str | None = None,
    optimize: str | None = None,
    decision_threshold: float | str | None = None,
    scale: str | None = None,
    multiclass: str | None = None,
    class_weight: str | None = None,
    missing: str = "refuse",
    task: str = "auto",
    level: float = 0.95,
    best: bool = False,
    random_state: Any = 0,
    n_jobs: int | None = None,
    memory: float = MEMORY,
    precision: str = "f64",
    folder: str | os.PathLike[str] | None = None,
    probabilities: bool = False,
    verbose: bool | int | Callable[[str, int, int], object] = False,
) -> Comparison:
    """Estimate how well one method predicts new bags, like ``bagwise evaluate``.

    Kernel matrices and distances are shared by the whole grid and all inner folds, so this is much faster than
    ``cross_val_score`` around ``GridSearchCV``.

    Parameters
    ----------
    bags, y, groups, folds, inner, repeats, protocol, optimize, decision_threshold, scale, multiclass, class_weight, missing, \
task, level, random_state, n_jobs, memory, precision, folder, probabilities, verbose
        As in :func:`compare`.
    method : str
        The method; ``"auto"`` evaluates the automatic choice of ``bagwise.fit``, among the methods that finish in time.
    params : dict, optional
        Values of its parameters: one value, or a list to choose from. Others are tuned over their default grids.
    best : bool, default=False
        With ``"auto"``, use the best method, even if a simpler one is within one standard error.

    Returns
    -------
    Comparison
        With one row.

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=40&features=3")
    >>> found = bagwise.evaluate(data.bags, data.y, "mi-kernel", folds=3, params={"c": [1, 10]})
    >>> 0.5 <= found[0]["accuracy"] <= 1.0
    True
    """
    own = params or {}
    return _judge(
        bags,
        y,
        [method],
        _several(own) if method == "auto" else own,
        baselines=False,
        command="bagwise.evaluate in Python",
        groups=groups,
        folds=folds,
        inner=inner,
        repeats=repeats,
        protocol=protocol,
        optimize=optimize,
        decision_threshold=decision_threshold,
        scale=scale,
        multiclass=multiclass,
        class_weight=class_weight,
        missing=missing,
        task=task,
        level=level,
        best=best,
        random_state=random_state,
        n_jobs=n_jobs,
        memory=memory,
        precision=precision,
        folder=folder,
        probabilities=probabilities,
        budget=None,
        plan=None,
        verbose=verbose,
    )


@overload
def fit(
    bags: BagsLike,
    y: ArrayLike,
    *,
    method: str = "auto",
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    params: Mapping[str, Any] | None = None,
    inner: int = 5,
    optimize: str | None = None,
    decision_threshold: float | str | None = None,
    scale: str | None = None,
    multiclass: str | None = None,
    class_weight: str | Mapping[Any, float] | None = None,
    missing: str = "refuse",
    task: Literal["classification"],
    best: bool = False,
    conformal: bool | int = False,
    random_state: Any = 0,
    n_jobs: int | None = None,
    memory: float = MEMORY,
    precision: str = "f64",
) -> BagClassifier: ...
@overload
def fit(
    bags: BagsLike,
    y: ArrayLike,
    *,
    method: str = "auto",
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    params: Mapping[str, Any] | None = None,
    inner: int = 5,
    optimize: str | None = None,
    decision_threshold: float | str | None = None,
    scale: str | None = None,
    multiclass: str | None = None,
    class_weight: str | Mapping[Any, float] | None = None,
    missing: str = "refuse",
    task: Literal["regression"],
    best: bool = False,
    conformal: bool | int = False,
    random_state: Any = 0,
    n_jobs: int | None = None,
    memory: float = MEMORY,
    precision: str = "f64",
) -> BagRegressor: ...
@overload
def fit(
    bags: BagsLike,
    y: ArrayLike,
    *,
    method: str = "auto",
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    params: Mapping[str, Any] | None = None,
    inner: int = 5,
    optimize: str | None = None,
    decision_threshold: float | str | None = None,
    scale: str | None = None,
    multiclass: str | None = None,
    class_weight: str | Mapping[Any, float] | None = None,
    missing: str = "refuse",
    task: str = "auto",
    best: bool = False,
    conformal: bool | int = False,
    random_state: Any = 0,
    n_jobs: int | None = None,
    memory: float = MEMORY,
    precision: str = "f64",
) -> BagEstimator: ...
@hinting
def fit(
    bags: BagsLike,
    y: ArrayLike,
    *,
    method: str = "auto",
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    params: Mapping[str, Any] | None = None,
    inner: int = 5,
    optimize: str | None = None,
    decision_threshold: float | str | None = None,
    scale: str | None = None,
    multiclass: str | None = None,
    class_weight: str | Mapping[Any, float] | None = None,
    missing: str = "refuse",
    task: str = "auto",
    best: bool = False,
    conformal: bool | int = False,
    random_state: Any = 0,
    n_jobs: int | None = None,
    memory: float = MEMORY,
    precision: str = "f64",
) -> BagEstimator:
    """Train a model, with parameters chosen by inner folds, like ``bagwise fit``.

    Parameters
    ----------
    bags : list of 2-D arrays, Bags, (X, bag_ids) or data frame
        The bags.
    y : array-like of shape (n_bags,)
        Classes, or numbers to predict.
    method : str, default="auto"
        The method; ``"auto"`` takes a weighted mean of methods, or the simplest one within one standard error of the best if that
        is better, among those that finish within ten minutes on two ordinary cores; ``"all"`` chooses among all methods.
    groups : array-like of shape (n_bags,), optional
        Groups that are not split between inner folds; those of the bags if not given.
    sample_weight : array-like of shape (n_bags,), optional
        The cost of an error on each bag, above 0.
    params : dict, optional
        Values of the method's parameters: one value, or a list to choose from; with ``"auto"``, one dictionary per
        method. Others are tuned over their default grids.
    class_weight : {"balanced"} or dict, optional
        Weight classes equally, however rare they are; or a dictionary with the cost of an error for each class.
    inner, optimize, decision_threshold, scale, multiclass, missing, task, random_state, n_jobs, memory, precision
        As in :func:`compare`.
    best : bool, default=False
        With ``"auto"``, use the best method, even if a simpler one is within one standard error.
    conformal : bool or int, default=False
        Also keep the models of ten folds (or of this many), each tuned without its fold, for ``predict_set`` and
        ``predict_interval``; training takes that many times longer.

    Returns
    -------
    estimator
        A fitted estimator of the class of the chosen method, with the chosen parameters.

    Examples
    --------
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=40&features=3")
    >>> model = bagwise.fit(data.bags, data.y, method="mi-kernel", params={"norm": "mean"})
    >>> model.norm, len(model.predict(data.bags))
    ('mean', 40)
    """
    impute = impute_of(missing)
    ready = as_bags(bags, missing=impute)
    target, classes, given = _target(aligned(y, ready, "y"), task, "bagwise.fit")
    refuse_answer(ready, target, classes)
    _check_weight(class_weight, classes)
    sample_weight = aligned(sample_weight, ready, "sample_weight")
    if isinstance(class_weight, Mapping):
        sample_weight = weighed(class_weight, given, target, sample_weight)
    weights, owners = problem_parts(ready, target, sample_weight, aligned(groups, ready, "groups"))
    own = params or {}
    learn = learning(
        [method],
        _several(own) if method in ("auto", "all") else own,
        scale=scale,
        multiclass=multiclass,
        class_weight=class_weight,
        impute=impute,
        optimize=optimize,
        decision_threshold=decision_threshold,
        best=best,
        conformal=folds_to_keep(conformal),
    )
    surroundings = around(random_state, n_jobs, memory, precision)
    folds = inner_folds(inner, len(ready), owners)
    warn_of_rows(ready, target)
    for caution in _native.cautions(ready._native, ready._has_ids, target, classes, owners, optimize, surroundings):
        warnings.warn(caution, stacklevel=outside())
    kept: dict[str, Any] = {
        "scale": scale,
        "missing": missing,
        "inner": inner,
        "precision": precision,
        "memory": memory,
        "random_state": random_state,
    }
    if classes is not None:
        kept |= {"multiclass": multiclass, "class_weight": class_weight, "decision_threshold": decision_threshold}
    note = json.dumps(note_of(kept, given, ready.feature_names is not None, surroundings["seed"]))
    model = _native.fit(ready._native, target, classes, owners, weights, folds, learn, surroundings, note)
    new = _class_of(model)._of(model)
    new.set_params(n_jobs=n_jobs)
    remember(new, ready, owners)
    new._warn()
    return new


def load(path: str | os.PathLike[str]) -> BagEstimator:
    """Load a model saved by an estimator or by ``bagwise fit``.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    estimator
        A fitted estimator of the class of the model's method, or an ``AutoClassifier`` or ``AutoRegressor`` if one of these
        wrote the file.

    Examples
    --------
    >>> import bagwise, os, tempfile
    >>> from bagwise.datasets import load_musk1
    >>> bags, y = load_musk1()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "m.bagwise")
    ...     bagwise.MIKernelClassifier(c=10).fit(bags, y).save(path)
    ...     float(bagwise.load(path).c)
    10.0
    """
    model = model_from(path)
    return _class_of(model)._of(model)


def _class_of(model: _native.Model) -> type[BagEstimator]:
    header = json.loads(model.header())
    if header["method"] == ENSEMBLE or is_auto(header):
        return AutoClassifier if header["classes"] else AutoRegressor
    return ESTIMATORS[header["method"], not header["classes"]]


def gram(
    bags: BagsLike,
    against: BagsLike | None = None,
    *,
    method: str = "mi-kernel",
    scale: str | None = None,
    missing: str = "refuse",
    random_state: Any = 0,
    n_jobs: int | None = None,
    memory: float = MEMORY,
    precision: str = "f64",
    **params: Any,
) -> NDArray[np.float64]:
    """The kernel matrix of a method, for ``SVC(kernel="precomputed")`` or any other learner.

    Parameters
    ----------
    bags : list of 2-D arrays, Bags, (X, bag_ids) or data frame
        The bags of the rows.
    against : bags, optional
        The bags of the columns, such as training bags. Scaling and relative widths are learned from them.
    method : str, default="mi-kernel"
        The method whose kernel to use.
    scale, missing, random_state, n_jobs, memory, precision
        As in :func:`compare`.
    **params
        Parameters of the method; the defaults are used for the others.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> import bagwise
    >>> from bagwise.datasets import load_musk1
    >>> bags, y = load_musk1()
    >>> train, test = bags[:70], bags[70:]
    >>> svc = SVC(kernel="precomputed", C=10).fit(bagwise.gram(train, gamma=0.5), y[:70])
    >>> svc.predict(bagwise.gram(test, train, gamma=0.5)).shape
    (22,)
    """
    impute = impute_of(missing)
    rows = as_bags(bags, missing=impute)
    columns = None if against is None else as_bags(against, missing=impute)
    learn = learning([method], params, fixed=True, scale=scale, impute=impute)
    surroundings = around(random_state, n_jobs, memory, precision)
    return _native.gram(rows._native, None if columns is None else columns._native, learn, surroundings)
