"""Whatever holds bags: frames, tensors, padded arrays, dictionaries; and what bags can do themselves."""

from __future__ import annotations

import pickle
import tracemalloc
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.typing import NDArray
from scipy import sparse

import bagwise
from bagwise import Bags, Dataset, MIKernelClassifier, MIKernelRegressor
from bagwise._estimators import ESTIMATORS
from bagwise.datasets import load_musk1


def test_padded_arrays_have_lengths_or_a_mask() -> None:
    padded = np.zeros((3, 4, 2))
    lengths = [4, 1, 2]
    for bag, size in enumerate(lengths):
        padded[bag, :size] = bag + 1.0
    mask = np.arange(4) < np.asarray(lengths)[:, None]
    expected = Bags([padded[b, :n] for b, n in enumerate(lengths)])
    for found in (
        Bags(padded, lengths=lengths),
        Bags(padded, mask=mask),
        Bags(padded, mask=mask.astype(float)),
        bagwise._bags.as_bags((padded, np.asarray(lengths))),
        bagwise._bags.as_bags((padded, mask)),
    ):
        assert found == expected and found.sizes().tolist() == lengths
    with pytest.warns(UserWarning, match="2 of 3 bags end in a row without values, which looks like padding") as said:
        Bags(padded)
    assert said[0].filename == __file__
    bad: list[tuple[dict[str, Any], str]] = [
        ({"lengths": [4, 0, 2]}, "lengths must be 3 whole numbers from 1 to 4"),
        ({"lengths": [4, 1]}, "lengths must be 3"),
        ({"mask": mask[:, :2]}, "mask must be 3 x 4"),
        ({"mask": np.zeros((3, 4), bool)}, "bag 0 .* has no instance in mask"),
        ({"mask": mask, "lengths": lengths}, "not both"),
    ]
    for given, message in bad:
        with pytest.raises(ValueError, match=message):
            Bags(padded, **given)
    with pytest.raises(ValueError, match="belong to a 3-D array"):
        Bags(np.ones((3, 2)), lengths=[1, 1, 1])


class Tensor:
    """What a tensor of torch looks like from here."""

    def __init__(self, values: np.ndarray, dtype: str = "torch.float32") -> None:
        self.values, self.dtype = values, dtype

    def detach(self) -> Tensor:
        return self

    def cpu(self) -> Tensor:
        return self

    def float(self) -> Tensor:
        return Tensor(self.values)

    def numpy(self) -> np.ndarray:
        if self.dtype == "torch.bfloat16":
            raise TypeError("Got unsupported ScalarType BFloat16")
        return self.values


def test_tensors_are_arrays() -> None:
    rows = np.arange(6, dtype=np.float32).reshape(3, 2)
    for kind in ("torch.float32", "torch.bfloat16"):
        assert Bags([Tensor(rows, kind), Tensor(rows[:1], kind)]) == Bags([rows, rows[:1]])
        assert Bags(Tensor(rows, kind), Tensor(np.array([1, 1, 2]))) == Bags(rows, [1, 1, 2])
    assert Bags([Tensor(rows)]).instances.dtype == np.float32


def test_a_dictionary_names_its_bags(small: Dataset) -> None:
    bags = Bags({f"m{i}": bag for i, bag in enumerate(small.bags)})
    assert bags.ids[:2] == ["m0", "m1"] and np.array_equal(bags.instances, small.bags.instances)
    with pytest.raises(ValueError, match="a dictionary names its bags itself"):
        Bags({"a": np.ones((1, 2))}, [1])


def test_anndata_has_its_bags_in_obs() -> None:
    obs = pd.DataFrame({"patient": ["p", "q", "p"], "sick": [1, 0, 1], "site": ["u", "v", "u"]})
    rows = np.arange(6.0).reshape(3, 2)
    for matrix in (rows, sparse.csr_matrix(rows)):
        cells = SimpleNamespace(X=matrix, obs=obs, var_names=pd.Index(["g1", "g2"]))
        bags = Bags(cells, bag="patient")
        assert bags.ids == ["p", "q"] and bags.feature_names == ["g1", "g2"]
        assert np.array_equal(bags[0], rows[[0, 2]])
        data = bagwise.from_frame(cells, bag="patient", label="sick", group="site")
        assert data.bags._with(None, {}) == bags and data.y is not None and data.y.tolist() == [1, 0]
        assert data.groups is not None and data.groups.tolist() == ["u", "v"]
    with pytest.raises(ValueError, match="the frame has no column 'bag'; obs has patient, sick, site"):
        Bags(cells)


def test_sparse_matrices_of_every_kind_stay_as_they_are() -> None:
    rows = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])
    for kind in ("csr", "csc", "coo", "dok", "lil", "bsr", "dia"):
        given = sparse.coo_array(rows).asformat(kind)
        assert np.array_equal(Bags(given, ["a", "a"])[0], rows)
    # Entries that stand twice are added, and not in the caller's matrix.
    double = sparse.csr_array((np.array([1.0, 2.0]), np.array([1, 1]), np.array([0, 2])), shape=(1, 2))
    assert Bags(double)[0].tolist() == [[0.0, 3.0]] and double.nnz == 2


def test_frames_of_every_library_are_the_same() -> None:
    columns = {"mol": ["b", "a", "b"], "x": [1.0, 2.0, 3.0], "k": [1, 2, 3], "flag": [True, False, True]}
    pandas = Bags(pd.DataFrame(columns), bag="mol")
    assert pandas.ids == ["b", "a"] and pandas.feature_names == ["x", "k", "flag"]
    assert Bags(pl.DataFrame(columns), bag="mol") == pandas
    pa = pytest.importorskip("pyarrow")
    assert Bags(pa.table(columns), bag="mol") == pandas
    single = pd.DataFrame({"bag": ["a", "b"], "x": np.float32([1, 2])})
    assert Bags(single).instances.dtype == np.float32
    lists = pl.DataFrame({"bag": ["a", "b"], "e": [[1.0, 2.0], [3.0, 4.0]]})
    for frame in (lists, lists.with_columns(pl.col("e").cast(pl.Array(pl.Float64, 2)))):
        assert Bags(frame).feature_names == ["e_1", "e_2"] and Bags(frame).instances.tolist() == [[1, 2], [3, 4]]
    # A type that says categories is believed, numbers or not.
    kinds = pd.DataFrame({"bag": ["a", "b"], "k": pd.Categorical([3, 7])})
    assert Bags(kinds).categories == {"k": ["3", "7"]}
    with pytest.raises(ValueError, match="the frame has no column 'slide'"):
        Bags(single, bag="slide")


def test_a_model_takes_frames_with_lists_again() -> None:
    rng = np.random.default_rng(0)
    cells = list(rng.normal(size=(40, 3)))
    frame = pd.DataFrame({"bag": np.repeat(np.arange(20), 2), "e": cells, "note": 1.0})
    y = np.arange(20) % 2
    model = MIKernelClassifier().fit(frame.drop(columns="note"), y)
    assert model.feature_names_in_.tolist() == ["e_1", "e_2", "e_3"]
    assert np.array_equal(model.predict(frame), model.predict(frame.drop(columns="note")))


def test_groups_ids_and_columns_travel(small: Dataset) -> None:
    frame = small.bags.to_frame().assign(x=np.arange(small.bags.n_instances), site="s")
    data = bagwise.from_frame(frame, group="group", keep=["x"], ignore=["site"])
    some = data.bags[[5, 2]]
    assert data.groups is not None and some.groups is not None
    assert some.groups.tolist() == data.groups[[5, 2]].tolist() and some.ids == [data.bags.ids[5], data.bags.ids[2]]
    rows = np.concatenate([np.arange(*data.bags.offsets[b : b + 2]) for b in (5, 2)])
    assert some.kept["x"].tolist() == rows.tolist()
    again = pickle.loads(pickle.dumps(some))
    assert again == some and again.groups.tolist() == some.groups.tolist() and again.kept["x"].tolist() == rows.tolist()
    both = data.bags[:2] + data.bags[2:5]
    assert both == data.bags[:5] and both.groups is not None and data.bags.groups is not None
    assert both.groups.tolist() == data.bags.groups[:5].tolist()
    assert both.kept["x"].tolist() == data.bags[:5].kept["x"].tolist()
    # Groups of the bags are those of an evaluation, unless it is told others.
    own = bagwise.evaluate(data.bags, small.y, "majority", folds=5)
    told = bagwise.evaluate(list(small.bags), small.y, "majority", folds=5, groups=data.groups)
    assert [r["scored"]["bags"] for r in own.records] == [r["scored"]["bags"] for r in told.records]


def test_bags_are_added_compared_and_shown(small: Dataset) -> None:
    a, b = Bags([np.ones((2, 2))]), Bags([np.zeros((1, 2)), np.ones((1, 2))])
    assert (a + b).ids == ["1", "2", "3"] and (a + b).sizes().tolist() == [2, 1, 1]
    assert a != b and a == Bags([np.ones((2, 2))]) and a != 3
    assert Bags([sparse.csr_array(np.eye(2))]) == Bags([sparse.csr_array(np.eye(2))])
    assert Bags.concat([Bags([sparse.csr_array(np.eye(2))])] * 2).sizes().tolist() == [2, 2]
    gaps = Bags([np.array([[np.nan, 1.0]])], missing=True)
    assert gaps == Bags([np.array([[np.nan, 1.0]])], missing=True) and (gaps + a).sizes().tolist() == [1, 2]
    with pytest.raises(ValueError, match="the features differ: f1, f2 and x, y"):
        _ = a + Bags([np.ones((1, 2))], feature_names=["x", "y"])
    with pytest.raises(ValueError, match="two bags are called 'a'"):
        _ = Bags({"a": np.ones((1, 1))}) + Bags({"a": np.ones((1, 1))})
    with pytest.raises(TypeError, match="bags.instances is the matrix of all instances"):
        np.asarray(a)
    with pytest.raises(TypeError, match="these are Bags already"):
        Bags(a)
    page = small.bags._repr_html_()
    assert "<th>groups</th><td>10</td>" in page and page.count("<tr>") == 4
    assert "&lt;" in Bags({"<b>": np.ones((1, 1))})._repr_html_()


def test_a_frame_comes_back(small: Dataset) -> None:
    frame = pd.DataFrame({"bag": ["a", "a", "b"], "kind": pd.Categorical(["u", "v", "u"]), "x": [1.0, 2.0, 3.0]})
    pd.testing.assert_frame_equal(Bags(frame).to_frame(), frame, check_dtype=False)
    table = small.bags.to_frame()
    assert list(table.columns) == ["bag", "group", "f1", "f2", "f3"] and len(table) == small.bags.n_instances


def test_a_data_set_says_what_it_is() -> None:
    assert repr(bagwise.read("musk1")) == (
        "Dataset('musk1': 92 bags, 476 instances, 166 features, 2 classes (45 of 0, 47 of 1))"
    )
    data = Dataset("d", Bags([np.ones((1, 1))] * 2), np.array([0.5, 1.5]), np.array([1, 1]))
    assert repr(data) == "Dataset('d': 2 bags, 2 instances, 1 features, values from 0.5 to 1.5, 1 groups)"


def test_rows_are_copied_once() -> None:
    rows, columns = 60_000, 20
    size = rows * columns * 8
    whole = np.random.default_rng(0).normal(size=(rows, columns))
    ids = np.arange(rows) % 500
    frame = pd.DataFrame(whole, columns=[f"x{i}" for i in range(columns)])
    given: dict[str, Any] = {
        "a matrix": lambda: Bags(whole, np.sort(ids)),
        "rows in any order": lambda: Bags(whole, ids),
        "columns first": lambda: Bags(np.asfortranarray(whole), ids),
        "whole numbers": lambda: Bags(whole.astype(np.int64), ids),
        "a list": lambda: Bags(np.split(whole, 600)),
        "a list of mixed kinds": lambda: Bags([*np.split(whole, 2)[:1], np.split(whole, 2)[1].astype(np.int64)]),
        "a frame": lambda: Bags(frame, ids),
    }
    for name, make in given.items():
        tracemalloc.start()
        make()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        # The native copy is not Python's; what is left are ids, orders and blocks, and what the lambda itself converts.
        own = size if name in ("columns first", "whole numbers") else size // 2 if "mixed" in name else 0
        assert peak < own + 0.6 * size, f"{name}: {peak / size:.2f} copies"


def test_musk1_by_every_way(small: Dataset) -> None:
    bags, _ = load_musk1()
    ids = np.repeat(np.asarray(bags.ids), bags.sizes())
    order = np.random.default_rng(0).permutation(len(ids))
    matrix = np.asarray(bags.instances)
    shuffled = Bags(matrix[order], ids[order])
    for name, bag in zip(shuffled.ids, shuffled, strict=True):
        own = bags[bags.ids.index(name)]
        assert sorted(map(tuple, own.tolist())) == sorted(map(tuple, bag.tolist()))


def _forms(bags: Bags) -> dict[str, Any]:
    """The same bags in single precision, in all forms that are read where they are."""
    matrices = [np.array(bag, np.float32) for bag in bags]
    together = np.concatenate(matrices)
    ids = np.repeat(np.arange(len(matrices)), [len(m) for m in matrices])
    # Bags keep the order of their first rows, and rows theirs.
    mixed = np.argsort(np.arange(len(ids)) % 3 + 0.001 * np.arange(len(ids)), kind="stable")
    names = [f"f{i + 1}" for i in range(together.shape[1])]
    frame = pd.DataFrame(together, columns=names)
    apart = pd.DataFrame({name: together[:, i].copy() for i, name in enumerate(names)})
    return {
        "list": matrices,
        "turned": [np.asfortranarray(m) for m in matrices],
        "backwards": [np.ascontiguousarray(m[::-1])[::-1] for m in matrices],
        "arrays": (together, ids),
        "columns first": (np.asfortranarray(together), ids),
        "mixed": (together[mixed], ids[mixed]),
        "frame": frame.assign(bag=ids),
        "other frame": apart.assign(bag=ids),
        "polars": pl.from_pandas(apart.assign(bag=ids)),
    }


def test_large_arrays_are_read_where_they_are(small: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, form in _forms(small.bags).items():
        bags = bagwise._bags.as_bags(form)
        y = bags.sizes() % 2
        copied = MIKernelClassifier(probability=False).fit(form, y).decision_function(form)
        with monkeypatch.context() as patch:
            patch.setattr(bagwise._inputs, "BORROWED", 1)
            borrowed = bagwise._bags.as_bags(form, borrow=True)
            assert borrowed._native.borrowed and not bags._native.borrowed, name
            assert borrowed.ids == bags.ids and borrowed.feature_names == bags.feature_names
            assert np.array_equal(np.concatenate(list(borrowed)), np.concatenate(list(bags))), name
            model = MIKernelClassifier(probability=False).fit(form, y)
            assert np.array_equal(model.decision_function(form), copied), name
    # What is not a number is named as it is in a copy.
    broken = [np.array(bag, np.float32) for bag in small.bags]
    broken[3][0, 1] = np.nan
    with pytest.raises(ValueError) as expected:
        MIKernelClassifier().fit(broken, small.y)
    monkeypatch.setattr(bagwise._inputs, "BORROWED", 1)
    with pytest.raises(ValueError) as found:
        MIKernelClassifier().fit(broken, small.y)
    assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("key", ESTIMATORS)
def test_a_model_does_not_change_with_arrays_that_it_was_trained_on(
    key: tuple[str, bool], small: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    y = small.bags.sizes().astype(float) if key[1] else small.y
    for scale in ("none", "minmax"):
        given = [np.array(bag, np.float32) for bag in small.bags]
        new = [bag.copy() for bag in given]
        settings: dict[str, Any] = {"scale": scale} if key[1] else {"scale": scale, "probability": False}
        copied = ESTIMATORS[key](**settings).fit(given, y).predict(new)
        with monkeypatch.context() as patch:
            patch.setattr(bagwise._inputs, "BORROWED", 1)
            model = ESTIMATORS[key](**settings).fit(given, y)
        for bag in given:
            bag[:] = 7.0
        assert np.array_equal(model.predict(new), copied), scale


def test_arrays_that_are_not_aligned_are_copied(small: Dataset) -> None:
    def shifted(array: NDArray[Any]) -> NDArray[Any]:
        held = np.empty(array.nbytes + 1, dtype=np.uint8)
        found = held[1:].view(array.dtype).reshape(array.shape)
        found[...] = array
        assert not found.flags.aligned
        return found

    ids = np.repeat(np.arange(len(small.bags)), small.bags.sizes())
    for kind in (np.float64, np.float32):
        rows = np.asarray(small.bags.instances, dtype=kind)
        plain, odd = Bags(rows, ids), shifted(rows)
        assert Bags(odd, ids) == plain == Bags(odd, ids.tolist()) and Bags(odd[:, ::-1], ids) == Bags(
            rows[:, ::-1], ids
        )
        assert np.array_equal(Bags([odd[:3], odd[3:]]).instances, rows)
        turned = np.argsort(ids % 7, kind="stable")
        assert Bags(shifted(rows[turned]), ids[turned]) == Bags(rows[turned], ids[turned])
        one, other = sparse.csr_array(rows), sparse.csr_array(rows)
        other.data = shifted(other.data)
        assert Bags(other, ids) == Bags(one, ids)
    y, weights = shifted(small.y.astype(np.float64)), shifted(1.0 + small.y)
    for model in (MIKernelClassifier(c=10), MIKernelRegressor(c=10)):
        wanted = model.fit(small.bags, small.y.astype(np.float64), sample_weight=1.0 + small.y).predict(small.bags)
        assert np.array_equal(model.fit(small.bags, y, sample_weight=weights).predict(small.bags), wanted)
