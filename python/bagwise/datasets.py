"""Named data sets."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from bagwise import _native
from bagwise._bags import Bags
from bagwise._data import read

__all__ = ["load", "load_musk1", "names"]


def names() -> list[str]:
    """The names that :func:`load` accepts.

    Examples
    --------
    >>> from bagwise import datasets
    >>> "musk1" in datasets.names()
    True
    """
    return _native.builtin_names()


def load(name: str) -> tuple[Bags, NDArray[Any]]:
    """Bags and labels of a named data set.

    ``musk1`` is part of the package. The others are files in the ``data`` folder of the repository: run in a checkout,
    or set the environment variable ``BAGWISE_DATA`` to that folder.

    Examples
    --------
    >>> from bagwise import datasets
    >>> bags, y = datasets.load("musk1")
    >>> len(bags) == len(y)
    True
    """
    data = read(name)
    if data.y is None:
        raise ValueError(f"{name} has no labels")
    return data.bags, data.y


def load_musk1() -> tuple[Bags, NDArray[Any]]:
    """Musk1: 92 molecules (bags) in 476 conformations (instances) with 166 features; label 1 means that it smells of
    musk.

    D. Chapman and A. Jain: Musk (Version 1), UCI Machine Learning Repository, 1994, https://doi.org/10.24432/C5ZK5B,
    CC BY 4.0.

    Examples
    --------
    >>> from bagwise.datasets import load_musk1
    >>> bags, y = load_musk1()
    >>> bags, int(y.sum())
    (Bags(92 bags, 476 instances, 166 features), 47)
    """
    return load("musk1")
