"""What one function says agrees with what another says: loaded models, explanations, padding, names and positions of bags."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bagwise
from bagwise import (
    AutoClassifier,
    AutoRegressor,
    Bags,
    Dataset,
    InstanceMISVMClassifier,
    ISKClassifier,
    MIKernelClassifier,
    MIKernelRegressor,
    SimpleMIClassifier,
)

# --- loaded models


@pytest.mark.parametrize("best", [False, True])
def test_an_automatic_choice_loads_as_one(best: bool, small: Dataset, tmp_path: Path) -> None:
    path = tmp_path / "m.bagwise"
    given: dict[str, Any] = {
        "best": best,
        "inner": 3,
        "optimize": "roc_auc",
        "class_weight": {0: 1.0, 1: 2.0},
        "decision_threshold": 0.1,
        "random_state": 5,
        "memory": 3e9,
    }
    model = AutoClassifier(**given).fit(small.bags, small.y)
    model.save(path)
    for again in (bagwise.load(path), AutoClassifier.load(path)):
        assert type(again) is AutoClassifier
        assert again.get_params() == model.get_params()
        assert again.members() == model.members()
        assert np.array_equal(again.decision_function(small.bags), model.decision_function(small.bags))
    # What was chosen by a function is of the class of its method, as the function says.
    chosen = bagwise.fit(small.bags, small.y, method="simple-mi")
    chosen.save(path)
    assert type(bagwise.load(path)) is SimpleMIClassifier


def test_an_automatic_regression_loads_as_one(small: Dataset, tmp_path: Path) -> None:
    model = AutoRegressor(best=True, inner=2, scale="zscore").fit(small.bags, small.bags.sizes() / 10)
    model.save(tmp_path / "m.bagwise")
    again = bagwise.load(tmp_path / "m.bagwise")
    assert type(again) is AutoRegressor and again.get_params() == model.get_params()
    assert np.array_equal(again.predict(small.bags), model.predict(small.bags))


# --- explanations


@pytest.mark.parametrize(
    "model",
    [
        MIKernelClassifier(probability=False),
        MIKernelClassifier(probability=False, multiclass="one-vs-rest"),
        SimpleMIClassifier(probability=False, kernel="linear"),
        ISKClassifier(probability=False, t=20),
        InstanceMISVMClassifier(probability=False),
        InstanceMISVMClassifier(probability=False, multiclass="one-vs-one"),
    ],
    ids=repr,
)
def test_explanations_add_up_with_three_classes(model: Any, three: Dataset) -> None:
    model.fit(three.bags, np.asarray(["a", "b", "c"])[three.y])
    some = three.bags[::3]
    predicted, support = model.predict(some), model.class_support(some)
    assert support.shape == (len(some), 3)
    for bag, why in enumerate(model.explain(some)):
        assert why.label == predicted[bag] and why.machine == f"{predicted[bag]} vs rest"
        column = model.classes_.tolist().index(why.label)
        total = why.parts[why.chosen] if why.chosen is not None else why.parts.sum() + why.bias
        assert total == pytest.approx(support[bag, column], abs=1e-9)
        assert why.value == pytest.approx(support[bag, column], abs=1e-9)
    outputs, names = model.decision_function_machines(some), model.machines()
    every = model.explain(some, machines=True)
    assert len(every) == len(some) * len(names) and outputs.shape == (len(some), len(names))
    for at, why in enumerate(every):
        bag, machine = divmod(at, len(names))
        assert why.machine == names[machine] and why.machine.startswith(f"{why.label} vs ")
        assert why.value == pytest.approx(outputs[bag, machine], abs=1e-9)
    if all(name.endswith(" vs rest") for name in names):
        assert np.allclose(support, model.decision_function(some))
    else:
        # Votes decide, and the support orders classes of equally many votes; the predicted one has the largest value.
        votes = np.zeros_like(support)
        for output, name in zip(outputs.T, names, strict=True):
            plus, minus = (model.classes_.tolist().index(side) for side in name.split(" vs "))
            votes[np.arange(len(some)), np.where(output > 0, plus, minus)] += 1
        expected = votes + support / (3 * (np.abs(support) + 1))
        assert np.allclose(np.sort(expected), np.sort(model.decision_function(some)))


def test_explanations_add_up_with_two_classes_and_numbers(small: Dataset) -> None:
    model = MIKernelClassifier(probability=False).fit(small.bags, np.where(small.y == 1, "yes", "no"))
    values = model.decision_function(small.bags)
    assert model.machines() == ["yes vs no"]
    assert np.array_equal(model.decision_function_machines(small.bags)[:, 0], values)
    assert np.array_equal(model.class_support(small.bags), np.stack([-values, values], axis=1))
    for value, why in zip(values, model.explain(small.bags), strict=True):
        assert why.label == "yes" and why.value == pytest.approx(value, abs=1e-9)
    regression = MIKernelRegressor().fit(small.bags, small.bags.sizes() / 10)
    for value, why in zip(regression.predict(small.bags), regression.explain(small.bags), strict=True):
        assert why.label is None and why.value == pytest.approx(value, abs=1e-9)
    assert regression.explain(small.bags, machines=True)[0].value == pytest.approx(regression.predict(small.bags)[0])
    # A regression has no such methods to refer to.
    for word in ("decision_function", "class_support"):
        assert not hasattr(regression, word) and word not in str(type(regression).explain.__doc__)


# --- padding


def test_padding_is_not_filled_with_medians(small: Dataset) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(20) % 2
    X = rng.normal(size=(20, 4, 3)) + y[:, None, None]
    lengths = rng.integers(2, 4, size=20)
    lengths[0] = 4
    for bag, size in enumerate(lengths):
        X[bag, size:] = np.nan
    mask = ~np.isnan(X).all(axis=2)
    rows = {1: "1 row", 2: "2 rows"}[4 - int(lengths[1])]
    remedy = rf"bag 1 \(counted from 0\) ends in {rows} of.* looks like padding; pass lengths= .*or mask="
    for give in (
        lambda: SimpleMIClassifier(missing="median").fit(X, y),
        lambda: SimpleMIClassifier(missing="median").fit(np.ma.masked_invalid(X), y),
        lambda: Bags(X, missing=True),
        lambda: Bags(X),
        lambda: bagwise.evaluate(X, y, "simple-mi", missing="median"),
    ):
        with pytest.raises(ValueError, match=remedy):
            give()
    one = np.ones((2, 3, 1))
    one[0, 2:] = np.nan
    with pytest.raises(ValueError, match="ends in 1 row of nothing but NaN, which"):
        Bags(one)
    assert Bags(X, lengths=lengths).n_instances == Bags(X, mask=mask).n_instances == lengths.sum()
    # A gap is none, even in the last row; and a row without values in the middle is the user's.
    gap = rng.normal(size=(20, 4, 3))
    gap[3, -1, 0] = gap[4, 1] = np.nan
    assert Bags(gap, missing=True).n_instances == 80
    gap[5] = np.nan
    with pytest.raises(ValueError, match=r"bag 5 \(counted from 0\) has no value at all"):
        Bags(gap, missing=True)


def test_bags_of_a_list_that_end_in_nothing_are_told(small: Dataset) -> None:
    X = np.random.default_rng(0).normal(size=(6, 3, 2))
    X[2, 2:] = np.nan
    with pytest.warns(UserWarning, match="1 of 6 bags end in a row of nothing but NaN, which looks like padding"):
        Bags(list(X), missing=True)


# --- names of bags


def test_an_index_of_positions_that_could_be_names_is_refused(small: Dataset) -> None:
    turned = np.arange(40)[::-1]
    bags = Bags(list(small.bags), ids=[str(i) for i in turned])
    y = pd.Series(small.y)
    for give in (
        lambda: MIKernelClassifier().fit(bags, y),
        lambda: MIKernelClassifier().fit(bags, y.to_frame("label")),
        lambda: MIKernelClassifier().fit(bags, small.y, sample_weight=pd.Series(np.ones(40))),
        lambda: Bags(list(small.bags), ids=bags.ids, groups=pd.Series(np.arange(40))),
        lambda: bagwise.evaluate(bags, y, "simple-mi"),
    ):
        with pytest.raises(
            ValueError, match=r"names of the bags in another order; give .*reindex\(bags.ids\).*to_numpy\(\)"
        ):
            give()
    by_position = MIKernelClassifier(c=10).fit(bags, y.to_numpy())
    assert by_position.score(bags, small.y) > 0.9
    by_name = MIKernelClassifier(c=10).fit(bags, pd.Series(small.y[::-1]).rename_axis("bag"))
    assert np.array_equal(by_name.decision_function(bags), by_position.decision_function(bags))
    # The same order, other names, and bags without names: positions.
    ordered = Bags(list(small.bags), ids=[str(i) for i in range(40)])
    for given in (ordered, Bags(list(small.bags), ids=[f"b{i}" for i in turned]), list(small.bags), small.bags[::-1]):
        MIKernelClassifier(probability=False).fit(given, y)


def test_bags_without_names_are_counted_from_zero() -> None:
    rows = [np.ones((2, 2)) for _ in range(4)]
    place = r"bag 2 \(counted from 0\)"
    with pytest.raises(ValueError, match=f"{place} is empty"):
        Bags([*rows[:2], np.ones((0, 2)), rows[3]])
    with pytest.raises(ValueError, match=f"{place} has 1 dimensions"):
        Bags([*rows[:2], np.ones(2), rows[3]])
    with pytest.raises(ValueError, match=f"{place} has 3 features, bag 0 has 2"):
        Bags([*rows[:2], np.ones((1, 3)), rows[3]])
    bad = np.array([[1.0, 2.0], [3.0, np.nan]])
    with pytest.raises(ValueError, match=r"bag 2, instance 1 \(both counted from 0\), has no finite value for 'f2'"):
        Bags([*rows[:2], bad, rows[3]])
    with pytest.raises(ValueError, match=r"bag 'c', instance 1 \(counted from 0\), has no finite value for 'f2'"):
        Bags([*rows[:2], bad, rows[3]], ids=list("abcd"))
    with pytest.raises(ValueError, match=f"{place} has no group"):
        SimpleMIClassifier().fit(rows, [0, 1, 0, 1], groups=["p", "p", None, "q"])
    with pytest.raises(ValueError, match="bag 'c' has no group"):
        SimpleMIClassifier().fit(Bags(rows, ids=list("abcd")), [0, 1, 0, 1], groups=["p", "p", None, "q"])


# --- warnings of evaluations


def test_an_evaluation_names_arguments_that_exist() -> None:
    rng = np.random.default_rng(0)
    bags = [rng.normal(size=(3, 2)) for _ in range(30)]
    y = np.arange(30) % 2
    told = [np.column_stack([bag, np.full(3, label)]) for bag, label in zip(bags, y, strict=True)]
    quick: dict[str, Any] = {"folds": 3, "inner": 2, "params": {"c": 1.0, "gamma": 1.0}}
    with pytest.warns(UserWarning, match=r"leave it out with ignore=\[COLUMN\] in bagwise.read or bagwise.from_frame"):
        bagwise.evaluate(told, y, "simple-mi", **quick)
    clash = [*bags[:29], bags[1]]
    with pytest.warns(UserWarning) as said:
        bagwise.evaluate(clash, np.append(y[:29], 0), "simple-mi", **quick)
    texts = [str(one.message) for one in said]
    assert any("bags 29 (counted from 0) and 1 (counted from 0) have the same instances" in text for text in texts)
    assert any(text.endswith("put copies in one group with groups=[…], one entry per bag") for text in texts)


# --- files


def test_labels_that_are_read_as_one_are_named(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    from bagwise import _native

    table = tmp_path / "t.csv"
    table.write_text("bag,label,x\na,01,1\nb,1,2\nc,2,3\n")
    with pytest.warns(UserWarning, match="labels '01' and '1' are treated as one"):
        assert bagwise.read(table).y.tolist() == ["01", "01", "2"]
    assert _native.main(["bagwise", "inspect", str(table)]) == 0
    assert "labels '01' and '1' are treated as one" in capfd.readouterr().err
