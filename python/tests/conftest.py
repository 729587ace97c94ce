"""Data that tests share."""

from __future__ import annotations

import os

import numpy as np
import pytest

import bagwise
from bagwise import Bags, Dataset


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Interrupted runs of tests stay out of the user's cache, and those of the user out of tests."""
    os.environ["BAGWISE_CACHE"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def musk1() -> tuple[Bags, np.ndarray]:
    return bagwise.datasets.load_musk1()


@pytest.fixture(scope="session")
def small() -> Dataset:
    """Forty bags in ten groups, easy to tell apart."""
    return bagwise.read("synthetic:gauss?bags=40&features=3&groups=10&distance=5&witness=0.5")


@pytest.fixture(scope="session")
def three() -> Dataset:
    """Three classes."""
    return bagwise.read("synthetic:gauss?bags=60&features=3&classes=3&distance=5&witness=0.5&positive=0.67")
