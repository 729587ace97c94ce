"""What surrounds a computation, in the words of the native door."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

#: Bytes that Grams, caches and copies may occupy together, unless told otherwise.
MEMORY = 4_000_000_000


def seed_of(random_state: Any) -> int:
    """The run's seed: a whole number, 0 for None, or drawn from a generator."""
    if random_state is None:
        return 0
    if isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool):
        if random_state < 0:
            raise ValueError(f"random_state is {random_state}; give a whole number not below 0")
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def threads_of(n_jobs: Any) -> int | None:
    """Threads to use: all for None and -1."""
    if n_jobs is None or n_jobs == -1:
        return None
    if not isinstance(n_jobs, numbers.Integral) or n_jobs < 1:
        raise ValueError(f"n_jobs is {n_jobs!r}; give a whole number above 0, or -1 or None for all cores")
    return int(n_jobs)


def around(
    random_state: Any = None, n_jobs: Any = None, memory: Any = MEMORY, precision: str = "f64"
) -> dict[str, Any]:
    """The surroundings of a computation."""
    if not isinstance(memory, (int, float, np.number)) or memory < 1e6:
        raise ValueError(f"memory is {memory!r}; give bytes, at least 1e6")
    return {
        "seed": seed_of(random_state),
        "memory": int(memory),
        "precision": str(precision),
        "threads": threads_of(n_jobs),
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
) -> dict[str, Any]:
    """How methods learn. Costs of single classes are no part of it: they go into the weights of bags."""
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
    }


def _balanced(class_weight: Any) -> bool:
    """Whether every class has the same total cost."""
    if class_weight is None or isinstance(class_weight, Mapping):
        return False
    if class_weight == "balanced":
        return True
    raise ValueError(f"class_weight is {class_weight!r}; give None, 'balanced' or a dictionary from class to cost")


def impute_of(missing: Any) -> bool:
    """Whether missing values are filled."""
    if missing == "refuse":
        return False
    if missing == "median":
        return True
    raise ValueError(f"missing is {missing!r}; give 'refuse' or 'median'")
