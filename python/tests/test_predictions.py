"""Predictions with a chosen coverage, explanations of the predicted class, cards, and estimators from elsewhere in comparisons."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline

import bagwise
from bagwise import BagSummary, Dataset, MajorityClassifier, SimpleMIClassifier, SimpleMIRegressor


@pytest.fixture(scope="module")
def drawn() -> Any:
    return bagwise.read("synthetic:gauss?bags=60&features=3&distance=2&seed=1")


def test_sets_of_classes(drawn: Any) -> None:
    model = SimpleMIClassifier(embed="mean", c=1.0).fit(drawn.bags, drawn.y, conformal=5)
    assert model.card()["conformal_folds"] == 5
    narrow, wide = (model.predict_set(drawn.bags, coverage=c) for c in (0.6, 0.95))
    assert narrow.shape == (60, 2) and narrow.dtype == bool
    assert narrow.sum() < wide.sum()
    codes = np.searchsorted(model.classes_, drawn.y)
    assert wide[np.arange(60), codes].mean() > 0.85
    assert model.predict_set(drawn.bags, per_class=True).shape == (60, 2)
    with pytest.raises(ValueError, match="needs at least 99 bags"):
        model.predict_set(drawn.bags, coverage=0.99)
    plain = SimpleMIClassifier(embed="mean", c=1.0).fit(drawn.bags, drawn.y)
    with pytest.raises(ValueError, match="conformal=True"):
        plain.predict_set(drawn.bags)
    assert np.array_equal(plain.decision_function(drawn.bags), model.decision_function(drawn.bags))
    with pytest.raises(ValueError, match="conformal is 1"):
        SimpleMIClassifier().fit(drawn.bags, drawn.y, conformal=1)


def test_intervals_of_numbers(drawn: Any) -> None:
    y = np.asarray([bag.mean() for bag in drawn.bags])
    model = bagwise.fit(
        drawn.bags, y, method="simple-mi", params={"embed": "mean", "c": 1.0}, inner=2, task="regression", conformal=4
    )
    assert isinstance(model, SimpleMIRegressor)
    ends = model.predict_interval(drawn.bags, coverage=0.9)
    assert ends.shape == (60, 2) and (ends[:, 0] < ends[:, 1]).all()
    assert ((ends[:, 0] <= y) & (y <= ends[:, 1])).mean() > 0.8
    assert model.card()["estimate"]["nested_value"] > 0


def test_explanations_of_the_predicted_class(three: Any) -> None:
    model = bagwise.MIKernelClassifier(c=10.0).fit(three.bags, three.y)
    explained = model.explain(three.bags[:5])
    assert [e.machine for e in explained] == [f"{label} vs rest" for label in model.predict(three.bags[:5])]
    assert all(e.intercept is not None and e.bias == 0.0 for e in explained)
    assert len(model.explain(three.bags[:5], machines=True)) == 15


def test_a_model_of_the_command_line_tells_how_to_read(tmp_path: Path) -> None:
    docs = Path(__file__).parents[2] / "docs"
    model = tmp_path / "m.bagwise"
    line = [
        "fit",
        str(docs / "molecules.csv"),
        "--bag",
        "mol",
        "--label",
        "active",
        "--group",
        "scaffold",
        "--keep",
        "conformer",
    ]
    from bagwise import _native

    assert (
        _native.main(
            ["bagwise", *line, "--method", "mi-kernel", "-p", "c=10", "-p", "gamma=1/median", "-q", "-o", str(model)]
        )
        == 0
    )
    loaded = bagwise.load(model)
    new = bagwise.read(docs / "new.csv", model=loaded)
    assert len(loaded.predict(new.bags)) == 4 and "conformer" in new.kept
    assert loaded.card()["reading"]["bag"] == "mol"


class Plain:
    """Predicts the most frequent class, and nothing besides."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {}

    def fit(self, bags: Any, y: Any) -> Plain:
        labels, counts = np.unique(y, return_counts=True)
        self.label_ = labels[counts.argmax()]
        return self

    def predict(self, bags: Any) -> Any:
        return np.full(len(bags), self.label_)


def test_estimators_from_elsewhere(drawn: Any, tmp_path: Path) -> None:
    forest = make_pipeline(BagSummary(), RandomForestClassifier(20, random_state=0))
    found = bagwise.compare(
        drawn.bags,
        drawn.y,
        methods=["majority"],
        folds=3,
        params={"simple-mi": {"embed": "mean", "c": 1.0}},
        estimators={"forest": forest, "steady": MajorityClassifier()},
        folder=tmp_path / "run",
    )
    rows = {row["method"]: row for row in found}
    assert set(rows) == {"majority", "simple-mi", "forest", "steady"}
    # The same predictions give the same row.
    assert rows["steady"]["accuracy"] == rows["majority"]["accuracy"]
    assert rows["forest"]["accuracy"] > rows["majority"]["accuracy"]
    assert os.path.isfile(tmp_path / "run" / "predictions.csv")
    # Classes alone put bags in no order.
    alone = bagwise.compare(drawn.bags, drawn.y, methods=["majority"], folds=3, estimators={"plain": Plain()})
    rows = {row["method"]: row for row in alone}
    assert np.isnan(rows["plain"]["roc_auc"]) and rows["plain"]["accuracy"] == rows["majority"]["accuracy"]
    frame = alone.predictions()
    assert frame[frame.method == "plain"]["score"].isna().all()
    with pytest.raises(TypeError, match="has no method fit"):
        bagwise.compare(drawn.bags, drawn.y, methods=["majority"], folds=3, estimators={"x": object()})
    with pytest.raises(ValueError, match="cannot be the name"):
        bagwise.compare(drawn.bags, drawn.y, methods=["majority"], folds=3, estimators={"isk": forest})


class Answers(BaseEstimator):  # type: ignore[misc]
    """Gives what it is told to give."""

    def __init__(self, predict: Any, decide: Any = None) -> None:
        self.predict, self.decide = predict, decide
        if decide is not None:
            self.decision_function = decide

    def fit(self, _: Any, y: Any) -> Answers:
        self.classes_ = np.unique(y)
        return self


def _first(values: Any, value: float) -> Any:
    values = np.array(values, dtype=float)
    values[0] = value
    return values


def test_answers_of_estimators_from_elsewhere_fit_the_bags(small: Dataset) -> None:
    def judged(y: Any, *answers: Any) -> Any:
        mine = {"mine": Answers(*answers)}
        given = {"folds": [0, 1] * 20, "params": {"simple-mi": {"c": 1.0}}}
        return bagwise.compare(small.bags, y, methods=["majority"], estimators=mine, **given)

    numbers = small.y + np.arange(40) / 64
    for y, kind in ((numbers, float), (small.y, int)):
        column = judged(y, lambda X, kind=kind: np.ones((len(X), 1), kind))
        flat = judged(y, lambda X, kind=kind: np.ones(len(X), kind))
        key = next(k for k in flat[0] if k in ("rmse", "accuracy"))
        assert [row[key] for row in column] == [row[key] for row in flat]
        times = {row["method"]: row["seconds"] for row in flat}
        assert np.isnan(times["mine"]) and times["majority"] >= 0.0
        folds = flat.fold_scores()
        assert folds[folds["method"] == "mine"]["seconds"].isna().all()
        for answer, message in (
            (lambda X: np.zeros(len(X) + 1), "predict of 'mine' gives 21 entries for 20 bags in fold 0 of repeat 0"),
            (
                lambda X: np.zeros((len(X), 2)),
                r"predict of 'mine' gives an array of shape \(20, 2\) for 20 bags in fold 0",
            ),
            (lambda X: 1.0, r"predict of 'mine' gives an array of shape \(\) for 20 bags in fold 0"),
            (
                lambda X: _first(np.zeros(len(X)), np.nan),
                r"predict of 'mine' gives NaN for bag 0 \(counted from 0\) in fold 0",
            ),
        ):
            with pytest.raises(ValueError, match=message) as said:
                judged(y, answer)
            assert "scal" not in str(said.value)
    for decide, message in (
        (lambda X: np.zeros(len(X) + 2), "decision_function of 'mine' gives 22 entries for 20 bags in fold 0"),
        (lambda X: np.zeros(2), "decision_function of 'mine' gives 2 entries for 20 bags"),
        (
            lambda X: _first(np.zeros(len(X)), np.inf),
            r"decision_function of 'mine' gives inf for bag 0 \(counted from 0\) in fold 0",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            judged(small.y, lambda X: np.zeros(len(X), int), decide)
    column = judged(small.y, lambda X: np.zeros(len(X), int), lambda X: np.arange(len(X)).reshape(-1, 1))
    flat = judged(small.y, lambda X: np.zeros(len(X), int), lambda X: np.arange(len(X)))
    assert [row["roc_auc"] for row in column] == [row["roc_auc"] for row in flat]


def test_probabilities_of_estimators_add_up_and_classes_may_be_absent(small: Dataset) -> None:
    class Sure(Answers):
        def predict_proba(self, X: Any) -> Any:
            return np.full((len(X), 2), 0.9)

    given = {"methods": ["majority"], "folds": [0, 1] * 20}
    with pytest.raises(ValueError, match=r"predict_proba of 'mine' gives probabilities with the sum 1.8"):
        bagwise.compare(list(small.bags), small.y, estimators={"mine": Sure(lambda X: np.zeros(len(X), int))}, **given)
    y = np.array(["a", "b"] * 19 + ["c", "c"])
    folds = [i % 3 for i in range(38)] + [2, 2]
    mine = bagwise.SimpleMIClassifier(c=1.0, n_jobs=1, probability=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = bagwise.compare(list(small.bags), y, methods=[], estimators={"mine": mine}, folds=folds)
    assert sorted(row["method"] for row in table) == ["majority", "mine", "simple-mi"]
