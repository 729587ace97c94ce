"""Named data sets."""

from __future__ import annotations

import os
from typing import Any

from numpy.typing import NDArray

from bagwise import _native
from bagwise._bags import Bags
from bagwise._data import read

__all__ = ["fetch", "load", "load_musk1", "names"]


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
    or set the environment variable ``BAGWISE_DATA`` to that folder. :func:`fetch` adds more.

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


def fetch(
    name: str,
    *,
    file: str | os.PathLike[str] | None = None,
    folder: str | os.PathLike[str] | None = None,
) -> str:
    """Download a data set of the published experiments, and make it known to :func:`load` and :func:`bagwise.read`.

    The source is a public repository at a fixed commit. The file is converted, and its bags, labels and values are
    checked against a digest. ``bagwise data`` lists the names with their sources and licences. Downloads use curl.

    Parameters
    ----------
    name : str
        The data set, such as ``"fox"``.
    file : path, optional
        The source file, downloaded by other means.
    folder : path, optional
        Where to write. Default: ``$BAGWISE_DATA``, or the folder ``data`` here or above.

    Returns
    -------
    str
        The path of the file that was written.

    Examples
    --------
    >>> from bagwise import datasets
    >>> datasets.fetch("musk3")
    Traceback (most recent call last):
    ...
    ValueError: unknown data set 'musk3'; did you mean 'musk1'?
    """
    path = None if file is None else os.fspath(file)
    return os.fspath(_native.fetch(name, path, None if folder is None else os.fspath(folder)))


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
