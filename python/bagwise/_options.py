"""The settings of a computation, in the form that the native module expects."""

from __future__ import annotations

import difflib
import functools
import inspect
import numbers
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from multiprocessing import current_process
from typing import Any, ParamSpec, TypeVar

import numpy as np
from sklearn.utils import check_random_state

_P = ParamSpec("_P")
_R = TypeVar("_R")

#: Bytes that Grams, caches and copies may occupy together, unless told otherwise.
MEMORY = 4_000_000_000

#: The largest whole number of the native side: of seeds, and of bytes if memory has no limit.
LARGEST = 2**64 - 1


def outside() -> int:
    """The `stacklevel` of a warning that is to name the first caller outside this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).startswith("bagwise."):
        frame = frame.f_back
        level += 1
    return level


#: The call of scikit-learn that was warned in last, by its caller's code and place, and what was said in it.
_in_call: tuple[Any, set[str]] = (None, set())


def warn_once(message: str) -> None:
    """Warns, but within a search or cross-validation of scikit-learn only once in the same words.

    Python's own record of what it has shown is lost there: scikit-learn sets filters anew for every fit.
    """
    global _in_call
    frame: Any = sys._getframe(1)
    while frame.f_back is not None and _package(frame) == "bagwise":
        frame = frame.f_back
    if _package(frame) not in ("sklearn", "joblib"):
        warnings.warn(message, stacklevel=outside())
        return
    while frame.f_back is not None and _package(frame) in ("sklearn", "joblib"):
        frame = frame.f_back
    # The code itself and not its id, which another cell of a notebook might get.
    call = (frame.f_code, frame.f_lasti, id(frame))
    if _in_call[0] != call:
        _in_call = (call, set())
    if message not in _in_call[1]:
        warnings.warn(message, stacklevel=outside())
        # Not if the warning is an error, which every fit must raise then.
        _in_call[1].add(message)


def _package(frame: Any) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def seed_of(random_state: Any) -> int:
    """The run's seed: a whole number, 0 for None, or drawn from a generator."""
    if random_state is None:
        return 0
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(np.iinfo(np.int32).max))
    if isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool):
        if not 0 <= int(random_state) <= LARGEST:
            raise ValueError(f"random_state is {random_state}; give a whole number from 0 to {LARGEST}")
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def threads_of(n_jobs: Any) -> int:
    """Threads to use: as scikit-learn counts them, and for None all that nobody else was given.

    joblib knows how many cores this process may use (affinity, cgroups, ``LOKY_MAX_CPU_COUNT``), what
    ``parallel_config(n_jobs=…)`` says, and whether this is one of its workers: those of its processes have their share in
    environment variables, and one of several threads has one core.
    """
    import joblib

    cores = joblib.cpu_count()
    if n_jobs is None:
        backend, wanted = joblib.parallel.get_active_backend()
        if (backend.nesting_level or 0) > 0:
            share = os.environ.get("OMP_NUM_THREADS", "") if current_process().name.startswith("Loky") else ""
            return min(cores, int(share)) if share.isdigit() and int(share) > 0 else 1
        return cores if wanted is None else threads_of(int(wanted))
    if not isinstance(n_jobs, numbers.Integral) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise ValueError(
            f"n_jobs is {n_jobs!r}; give a whole number above 0, -1 for all cores, -2 for all but one, or None"
        )
    count = int(n_jobs)
    return count if count > 0 else max(1, cores + 1 + count)


def one_of(name: str, value: Any, words: tuple[str, ...], *, optional: bool = False) -> None:
    """Refuses a word that an argument does not know."""
    if not (value is None and optional) and value not in words:
        known = ", ".join(map(repr, words))
        raise ValueError(f"{name} is {value!r}; give {known}" + (" or None" if optional else ""))


#: What other packages call parameters, and what they are called here; of several names the first that there is.
_MEANT: dict[str, str | tuple[str, ...]] = {
    "C": "c",
    "balanced": "class_weight",
    "bag_column": "bag",
    "bag_id": "bag",
    "cost": "c",
    "cv": ("folds", "inner"),
    "epsilon": "tube",
    "estimator": "method",
    "folds": "inner",
    "max_iterations": "max_iter",
    "metric": "optimize",
    "models": "methods",
    "na_values": "missing_values",
    "n_splits": "folds",
    "n_threads": "n_jobs",
    "normalize": "scale",
    "normalizer": "norm",
    "scaler": "scale",
    "scoring": "optimize",
    "seed": "random_state",
    "sep": "delimiter",
    "sigma": "gamma",
    "standardize": "scale",
    "target": "label",
    "threshold": "decision_threshold",
    "weights": "class_weight",
}


def check_names(who: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Refuses an argument that does not exist, with the one that was meant."""
    there = list(known)
    for name in given:
        if name in there:
            continue
        meant = _MEANT.get(name, ())
        right = next((other for other in ((meant,) if isinstance(meant, str) else meant) if other in there), None)
        if name in ("positive", "positive_class", "pos_label") and not {"class_weight", "label"}.isdisjoint(there):
            hint = (
                "the positive class is the second of two in sorted order; to choose it, give the labels y == 'CLASS', where True "
                "comes second"
            )
        elif name == "kernel":
            hint = "it has no choice of kernels; SimpleMIClassifier(kernel='linear') is a linear machine"
        elif name in ("sample_weight", "groups"):
            hint = f"give {name} to fit"
        elif right is not None:
            hint = f"it is called {right!r} here"
        else:
            near = difflib.get_close_matches(name, there, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(there)}"
        raise TypeError(f"{who} got an unexpected keyword argument {name!r}; {hint}")


def hinting(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """The function, with the answer of :func:`check_names` to an argument that does not exist."""
    known = list(inspect.signature(function).parameters)

    @functools.wraps(function)
    def checked(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        check_names(f"bagwise.{function.__name__}", kwargs, known)
        return function(*args, **kwargs)

    return checked


class _Lines:
    """Progress as lines on stderr, one a second at most."""

    def __init__(self) -> None:
        self._last = 0.0

    def __call__(self, what: str, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._last >= 1.0 or done == total:
            self._last = now
            print(f"bagwise: {what}, {done} of {total}", file=sys.stderr, flush=True)


def around(
    random_state: Any = None,
    n_jobs: Any = None,
    memory: Any = MEMORY,
    precision: str = "f64",
    verbose: bool | int | Callable[[str, int, int], object] = False,
) -> dict[str, Any]:
    """The surroundings of a computation."""
    # NaN is not at least anything.
    if not isinstance(memory, (int, float, np.number)) or not memory >= 1e6:
        raise ValueError(f"memory is {memory!r}; give bytes, at least 1e6, or inf for no limit")
    one_of("precision", precision, ("f64", "f32"))
    return {
        "seed": seed_of(random_state),
        "memory": int(min(memory, LARGEST)),
        "precision": str(precision),
        "threads": threads_of(n_jobs),
        "progress": verbose if callable(verbose) else _Lines() if verbose else None,
    }


def text_of(value: Any) -> str:
    """A parameter as the command line writes it. Numbers keep every digit."""
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value)).lower()
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value))
    return str(value)


def several(value: Any) -> str:
    """A parameter that may be given as a list of values to choose from."""
    if isinstance(value, (list, tuple, np.ndarray)):
        return ",".join(text_of(v) for v in value)
    return text_of(value)


def learning(
    methods: list[str],
    params: Mapping[str, Any],
    *,
    fixed: bool = False,
    scale: str | None = None,
    multiclass: str | None = None,
    class_weight: Any = None,
    impute: bool = False,
    optimize: str | None = None,
    decision_threshold: float | str | None = None,
    best: bool = False,
    probability: bool = True,
    conformal: int | None = None,
) -> dict[str, Any]:
    """How methods learn. Costs of single classes are no part of it: they go into the weights of bags."""
    for key in params:
        if key.rpartition(".")[2] in ("C", "cost"):
            raise ValueError(f"params has {key!r}; the cost of an error is called 'c'")
    one_of("scale", scale, ("none", "minmax", "zscore", "maxabs"), optional=True)
    one_of("multiclass", multiclass, ("one-vs-one", "one-vs-rest"), optional=True)
    return {
        "methods": methods,
        "params": [(key, several(value)) for key, value in params.items()],
        "fixed": fixed,
        "scale": scale,
        "multiclass": multiclass,
        "balanced": _balanced(class_weight),
        "impute": impute,
        "optimize": optimize,
        "threshold": None if decision_threshold is None else text_of(decision_threshold),
        "best": best,
        "probabilities": bool(probability),
        "conformal": conformal,
    }


def folds_to_keep(conformal: Any) -> int | None:
    """The folds whose models are kept: ten for True, none for False."""
    if conformal is None or isinstance(conformal, (bool, np.bool_)):
        return 10 if conformal else None
    if not isinstance(conformal, numbers.Integral) or conformal < 2:
        raise ValueError(f"conformal is {conformal!r}; give True, False or a number of folds of at least 2")
    return int(conformal)


def _balanced(class_weight: Any) -> bool:
    """Whether every class has the same total cost."""
    if class_weight is None or isinstance(class_weight, Mapping):
        return False
    if isinstance(class_weight, str) and class_weight == "balanced":
        return True
    raise ValueError(f"class_weight is {class_weight!r}; give None, 'balanced' or a dictionary from class to cost")


def impute_of(missing: Any) -> bool:
    """Whether missing values are filled."""
    if missing == "refuse":
        return False
    if missing == "median":
        return True
    raise ValueError(f"missing is {missing!r}; give 'refuse' or 'median'")
