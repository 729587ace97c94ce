"""What labels are, and what gives them away: asked about and warned of as on the command line."""

import numpy as np
import pytest

import bagwise


def _bags(n: int = 40) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.normal(size=(3, 2)) for _ in range(n)]


def test_many_whole_numbers_are_asked_about() -> None:
    bagwise.evaluate(_bags(), np.arange(40) % 8, method="majority", folds=3)
    with pytest.raises(ValueError, match=r'40 different whole numbers .* task="classification" or task="regression"'):
        bagwise.evaluate(_bags(), np.arange(40), method="majority", folds=3)
    found = bagwise.evaluate(_bags(), np.arange(40), method="majority", folds=3, task="regression")
    assert found.metric == "rmse"


def test_what_gives_the_target_away_is_warned_of() -> None:
    y = np.sin(1.7 * np.arange(40))
    bags = _bags()
    for bag, value in zip(bags, y, strict=True):
        bag[:, 1] = value > 0.2
    with pytest.warns(UserWarning, match="follows from the target"):
        bagwise.evaluate(bags, y, method="majority", folds=3)
    with pytest.warns(UserWarning, match="follows from the target"):
        bagwise.fit(bags, y, method="simple-mi", params={"c": 1})


@pytest.mark.parametrize("gap", [float("nan"), np.float32("nan"), np.float64("nan"), None])
def test_a_gap_among_words_is_no_class(gap: object) -> None:
    for y in (["a", "b"] * 5 + [gap], ("a", "b", gap)):
        with pytest.raises(ValueError, match="y contains NaN"):
            bagwise.SimpleMIClassifier().fit(_bags(len(y)), y)
        with pytest.raises(ValueError, match="y contains NaN"):
            bagwise.fit(_bags(len(y)), y, method="simple-mi")
