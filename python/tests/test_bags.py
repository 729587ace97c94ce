"""Bags from whatever holds them, and what can be done with them."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import bagwise
from bagwise import Bags, MIKernelClassifier

LIST = [np.arange(6.0).reshape(3, 2), np.array([[9.0, 8.0]]), np.ones((2, 2))]


def same(a: Bags, b: Bags) -> bool:
    pairs = zip(a, b, strict=True)
    return all(np.array_equal(x, y) for x, y in pairs)


def test_every_way_in_gives_the_same_bags() -> None:
    wanted = Bags(LIST)
    rows = np.concatenate(LIST)
    ids = ["a", "a", "a", "b", "c", "c"]
    assert same(Bags(rows, ids), wanted)
    assert Bags(rows, ids).ids == ["a", "b", "c"]
    mixed = [0, 3, 1, 4, 2, 5]
    assert same(Bags(rows[mixed], [ids[i] for i in mixed]), wanted)
    assert same(Bags(np.asfortranarray(rows), ids), wanted)
    assert same(Bags(rows.astype(np.int32), ids), wanted)
    assert same(Bags(sparse.csr_matrix(rows), ids), wanted)
    assert same(Bags([sparse.csr_array(b) for b in LIST]), wanted)
    table = {"bag": ids, "x": rows[:, 0], "y": rows[:, 1]}
    for frame in (pd.DataFrame(table), pl.DataFrame(table)):
        found = Bags(frame)
        assert same(found, wanted)
        assert found.feature_names == ["x", "y"]
    assert same(Bags(np.ones((4, 2, 3))), Bags([np.ones((2, 3))] * 4))
    assert same(Bags(rows), Bags([r.reshape(1, -1) for r in rows]))


def test_single_precision_stays_and_nothing_is_copied_on_the_way_out() -> None:
    bags = Bags([b.astype(np.float32) for b in LIST])
    assert bags.instances.dtype == np.float32
    assert bags[0].base is not None and not bags[0].flags.writeable
    assert np.shares_memory(bags.instances, bags[2])
    view = bags[0]
    del bags
    assert view[2, 1] == 5.0
    with pytest.raises(ValueError, match="read-only"):
        view[0, 0] = 1.0


def test_a_sequence_of_bags() -> None:
    bags = Bags(LIST, ids=["x", "y", "z"])
    assert len(bags) == 3 and bags.shape == (3,)
    assert np.array_equal(bags[-1], LIST[2])
    assert bags[1:].ids == ["y", "z"]
    assert bags[[2, 0]].ids == ["z", "x"]
    assert bags[np.array([True, False, True])].ids == ["x", "z"]
    assert bags[[0, 0, 1]].ids == ["x", "x (2)", "y"]
    # Drawn again, as scikit-learn's tools do: "x (2)" is taken.
    assert bags[[0, 0, 1]][[0, 1, 0, 0]].ids == ["x", "x (2)", "x (3)", "x (4)"]
    assert bags.sizes().tolist() == [3, 1, 2]
    assert [len(b) for b in bags] == [3, 1, 2]
    with pytest.raises(IndexError):
        bags[3]
    with pytest.raises(IndexError):
        bags[[0, 7]]
    with pytest.raises(TypeError, match="integers"):
        bags[[0.5]]


@pytest.mark.parametrize(
    "bags", [Bags(LIST, ids=["x", "y", "z"], feature_names=["u", "v"]), Bags(sparse.csr_array(np.concatenate(LIST)))]
)
def test_a_pickle_is_the_same(bags: Bags) -> None:
    again = pickle.loads(pickle.dumps(bags))
    assert same(again, bags)
    assert (again.ids, again.feature_names) == (bags.ids, bags.feature_names)


def test_text_columns_are_categories() -> None:
    frame = pd.DataFrame({"bag": ["a", "a", "b", "b"], "kind": ["u", "v", "u", "w"], "x": [1.0, 2.0, 3.0, 4.0]})
    frame = frame.astype({"kind": "category"})
    bags = Bags(frame)
    assert bags.categories == {"kind": ["u", "v", "w"]}
    data = bagwise.from_frame(frame.assign(active=[1, 1, 0, 0]), label="active")
    assert data.bags.categories == {"kind": ["u", "v", "w"]} and data.y.tolist() == [1, 0]


@pytest.mark.parametrize("gap", [None, np.nan, pd.NA])
@pytest.mark.filterwarnings("ignore:column 'kind' contains text")
def test_missing_text_is_missing(gap: object) -> None:
    texts = pd.Series(["u", gap, "u", "w"], dtype=object)
    frame = pd.DataFrame({"bag": ["a", "a", "b", "b"], "kind": texts, "x": [1.0, 2.0, 3.0, 4.0]})
    with pytest.raises(ValueError, match=r"bag 'a', instance 1 \(counted from 0\), has no finite value for 'kind'"):
        Bags(frame)
    for bags in (Bags(frame, missing=True), bagwise.from_frame(frame, missing=True).bags):
        assert bags.categories == {"kind": ["u", "w"]}
        assert np.array_equal(bags.instances[:, 0], [0, np.nan, 0, 1], equal_nan=True)
    numbers = frame.assign(kind=pd.array([1, None, 3, 4], dtype="Int64"))
    found = Bags(numbers, missing=True)
    assert found.categories == {} and np.array_equal(found.instances[:, 0], [1, np.nan, 3, 4], equal_nan=True)
    with pytest.raises(ValueError, match="row 1 .* has no bag"):
        Bags(frame.assign(bag=texts), missing=True)
    with pytest.raises(ValueError, match="bag 'a' has a row without a value in column 'kind'"):
        bagwise.from_frame(frame, label="kind")


def test_columns_may_have_numbers_for_names() -> None:
    frame = pd.DataFrame([[7, 1, 0.5], [7, 1, 1.5], [8, 0, 2.5]])
    for names in ({"bag": 0, "label": 1}, {"bag": "0", "label": "1"}):
        data = bagwise.from_frame(frame.convert_dtypes(), **names)
        assert data.bags.ids == ["7", "8"] and data.bags.feature_names == ["2"] and data.y.tolist() == [1, 0]
    with pytest.raises(ValueError, match="two columns are called 'x'"):
        bagwise.from_frame(pd.DataFrame([[1, 2, 3]], columns=["bag", "x", "x"]))


def test_columns_are_matched_by_name() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(40, 3)), columns=["x", "y", "z"]).assign(bag=np.repeat(np.arange(20), 2))
    y = (frame.groupby("bag")["x"].max() > 0.5).astype(int).to_numpy()
    model = MIKernelClassifier().fit(frame, y)
    assert model.feature_names_in_.tolist() == ["x", "y", "z"]
    turned = frame[["z", "bag", "x", "y"]].assign(further=1.0)
    assert np.array_equal(model.decision_function(frame), model.decision_function(turned))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        plain = model.decision_function((frame[["x", "y", "z"]].to_numpy(), frame["bag"].to_numpy()))
    assert np.array_equal(plain, model.decision_function(frame))
    with pytest.raises(ValueError, match="columns are missing: 'z'"):
        model.predict(frame.drop(columns="z"))


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        ([], ValueError, "no bags"),
        ([np.zeros((0, 2)), np.ones((1, 2))], ValueError, r"bag 0 \(counted from 0\) is empty"),
        ([np.ones((1, 2)), np.ones((1, 3))], ValueError, r"bag 1 \(counted from 0\) has 3 features, bag 0 has 2"),
        ([np.ones(3)], ValueError, r"bag 0 \(counted from 0\) has 1 dimensions"),
        (
            [np.array([[np.nan, 1.0]])],
            ValueError,
            r"bag 0, instance 0 \(both counted from 0\), has no finite value for 'f1'",
        ),
        ([np.array([["a", "b"]])], ValueError, "must hold numbers"),
        ("musk1", TypeError, "a str cannot be bags"),
        (7, TypeError, "a int cannot be bags"),
        (np.ones(3), ValueError, "Reshape your data"),
    ],
)
def test_what_is_not_bags_is_refused_by_name(given: object, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        Bags(given)


def test_ids_and_names_must_fit() -> None:
    with pytest.raises(ValueError, match="two bags are called 'a'"):
        Bags(LIST, ids=["a", "a", "b"])
    with pytest.raises(ValueError, match="1 feature names for 2 columns"):
        Bags(LIST, feature_names=["x"])
    with pytest.raises(ValueError, match="one id per row"):
        Bags(np.ones((3, 2)), ["a", "b"])
    frame = pd.DataFrame({"bag": ["a", "a"], "active": [1, 0], "x": [1.0, 2.0]})
    with pytest.raises(ValueError, match="bag 'a' has several values in column 'active'"):
        bagwise.from_frame(frame, label="active")
    with pytest.raises(ValueError, match="no column 'mol'"):
        bagwise.from_frame(frame, bag="mol")


def test_files_in_single_precision_stay_so(tmp_path: Path) -> None:
    for i in range(4):
        np.save(tmp_path / f"b{i}.npy", np.full((2, 3), i + 0.1, np.float32))
    (tmp_path / "labels.csv").write_text("bag,label\n" + "".join(f"b{i},{i % 2}\n" for i in range(4)))
    bags = bagwise.read(tmp_path, labels=tmp_path / "labels.csv").bags
    copied = pickle.loads(pickle.dumps(bags))
    assert bags[0].dtype == bags.instances.dtype == copied.instances.dtype == np.float32
    assert np.array_equal(copied[3], np.full((2, 3), 3.1, np.float32))
