"""Data that would mislead an estimator are warned of, and honest data are not."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import bagwise
from bagwise import (
    AutoClassifier,
    Bags,
    BagSummary,
    MIKernelClassifier,
    SimpleMIClassifier,
    SimpleMIRegressor,
)


def told(call: Callable[[], Any]) -> list[str]:
    """What a call warns of."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    return [str(warning.message) for warning in found]


def of_rows(call: Callable[[], Any]) -> list[str]:
    return [text for text in told(call) if "every row is a bag of its own" in text]


def conformers(name: str = "mol", *, kind: Any = str, shuffled: bool = False) -> tuple[pd.DataFrame, pd.Series]:
    """Noise: three rows for each of 40 molecules, and the label of the molecule for each row."""
    rng = np.random.default_rng(0)
    mol = np.repeat(np.arange(40), 3)
    frame = pd.DataFrame({name: [f"M{m}" for m in mol] if kind is str else mol.astype(kind), "x": rng.normal(size=120)})
    frame["z"] = rng.normal(size=120)
    y = pd.Series(rng.integers(0, 2, 40)[mol])
    order = rng.permutation(120) if shuffled else np.arange(120)
    return frame.iloc[order].reset_index(drop=True), y.iloc[order].reset_index(drop=True)


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("kind", [str, int])
@pytest.mark.parametrize("name", ["mol", "MolID", "slide", "patient_id"])
def test_a_column_that_names_the_bags_is_no_feature_of_rows(name: str, kind: Any, shuffled: bool) -> None:
    frame, y = conformers(name, kind=kind, shuffled=shuffled)
    model = SimpleMIClassifier(probability=False)
    for call in (lambda: model.fit(frame, y), lambda: model.fit(Bags(frame), y)):
        found = of_rows(call)
        assert len(found) == 1 and f"the values of '{name}' repeat" in found[0]
        assert f"give Bags(frame, bag='{name}') and one label per bag" in found[0]


def test_every_way_of_training_tells_of_rows_that_are_no_bags() -> None:
    frame, y = conformers(kind=int)
    numbers = y + np.repeat(np.random.default_rng(1).normal(size=40), 3)
    fast: dict[str, Any] = {"method": "simple-mi", "params": {"c": 1, "gamma": 1}}
    calls: dict[str, Callable[[], Any]] = {
        "regression": lambda: SimpleMIRegressor().fit(frame, numbers),
        "auto": lambda: AutoClassifier(inner=2).fit(frame, y),
        "fit": lambda: bagwise.fit(frame, y, **fast),
        "evaluate": lambda: bagwise.evaluate(frame, y, folds=2, **fast),
        "compare": lambda: bagwise.compare(frame, y, methods=["majority"], folds=2),
        "vectors": lambda: make_pipeline(BagSummary(), LogisticRegression()).fit(frame, y),
        "text": lambda: MIKernelClassifier(probability=False).fit(frame, np.where(y == 1, "active", "not")),
        "split": lambda: cross_val_score(SimpleMIClassifier(probability=False), frame, y, cv=3),
    }
    for way, call in calls.items():
        assert of_rows(call), way
    pl = pytest.importorskip("polars")
    assert of_rows(lambda: SimpleMIClassifier(probability=False).fit(pl.from_pandas(frame), y))
    # Rows of one bag never are on both sides of a split then.
    bags, own = Bags(frame, bag="mol"), y.groupby(frame["mol"]).first()
    assert not told(lambda: SimpleMIClassifier(probability=False).fit(bags, own))


def test_vectors_are_not_taken_for_rows_of_bags() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    measured = pd.DataFrame(rng.normal(size=(300, 4)), columns=list("abcd"))
    quiet = [
        measured,
        measured.assign(grade=2 * y + rng.integers(0, 2, 300)),  # 0 to 3, which tells the label
        measured.assign(count=rng.poisson(20, 300)),
        measured.assign(count=rng.integers(0, 1_000_000, 300)),
        measured.assign(half=np.repeat(rng.normal(size=100), 3)),
        measured.assign(same=7),
    ]
    for frame in quiet:
        assert not of_rows(lambda frame=frame: SimpleMIClassifier(probability=False).fit(frame, y))  # type: ignore[misc]
    # Chance does this to a few rows.
    few = pd.DataFrame({"n": [1, 1, 2, 2, 3, 3, 4, 4, 5, 5], "x": rng.normal(size=10)})
    assert not of_rows(lambda: SimpleMIClassifier(probability=False).fit(few, [0, 0, 1, 1, 0, 0, 1, 1, 0, 0]))
    # Whoever says that rows are bags is believed, and arrays have no columns to name.
    frame, labels = conformers(kind=int)
    assert not of_rows(lambda: SimpleMIClassifier(probability=False).fit(Bags(frame, np.arange(120)), labels))
    assert not of_rows(lambda: SimpleMIClassifier(probability=False).fit(frame.to_numpy(), labels))
