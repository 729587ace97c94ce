"""Mistakes that are easily made are answered with an error, never with numbers."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bagwise
from bagwise import (
    AutoClassifier,
    Bags,
    BagSummary,
    Dataset,
    Explanations,
    MIKernelClassifier,
    MIKernelRegressor,
    PerInstance,
    SimpleMIClassifier,
)


def frame_of(data: Dataset, names: tuple[Any, ...] = ("a", "b", "c")) -> pd.DataFrame:
    frame = pd.DataFrame(data.bags.instances, columns=list(names))
    return frame.assign(bag=np.repeat([f"b{i}" for i in range(len(data.bags))], data.bags.sizes()))


def test_frames_with_numbered_columns_go_by_the_numbers(small: Dataset) -> None:
    frames = [pd.DataFrame(bag) for bag in small.bags]
    model = MIKernelClassifier(c=10).fit(frames, small.y)
    turned = [frame[[2, 0, 1]] for frame in frames]
    mixed = [frames[0], *turned[1:]]
    again = MIKernelClassifier(c=10).fit(mixed, small.y)
    assert np.array_equal(again.decision_function(mixed), model.decision_function(frames))
    with pytest.raises(ValueError, match="bag 1 .* has the columns"):
        Bags([frames[0], frames[1].rename(columns={2: 3})])
    # On their own the numbers say in which order the columns are.
    assert np.array_equal(model.decision_function(turned), model.decision_function(frames))


@pytest.mark.parametrize("name", ["target", "y", "Class", "TARGET", "outcome"])
def test_the_label_under_another_name_is_no_feature(name: str, small: Dataset) -> None:
    per_row = np.repeat(small.y, small.bags.sizes())
    for values in (per_row, 1 - per_row, per_row.astype(bool)):
        with pytest.raises(ValueError, match=f"column '{name}' is a copy of the label.*label='{name}'"):
            MIKernelClassifier().fit(frame_of(small).assign(**{name: values}), small.y)
    words = pd.Categorical(np.where(per_row == 1, "yes", "no"))
    with pytest.raises(ValueError, match=f"column '{name}' is a copy of the label"):
        bagwise.fit(frame_of(small).assign(**{name: words}), small.y, method="simple-mi")
    sizes = small.bags.sizes() / 10
    with pytest.raises(ValueError, match=f"column '{name}' is a copy of the target"):
        MIKernelRegressor().fit(frame_of(small).assign(**{name: np.repeat(sizes, small.bags.sizes())}), sizes)
    # A measurement may be called so.
    rng = np.random.default_rng(0)
    MIKernelClassifier(probability=False).fit(frame_of(small).assign(**{name: rng.normal(size=len(per_row))}), small.y)
    MIKernelClassifier(probability=False).fit(frame_of(small, ("x", name, "z")), small.y)


def test_a_search_for_the_label_keeps_one_bag_at_a_time(small: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    alive: list[Any] = []

    def copies(bags: Bags) -> Any:
        for at in range(len(bags)):
            bag = bags[at].copy()
            alive.append(weakref.ref(bag))
            assert sum(one() is not None for one in alive) <= 2
            yield bag

    monkeypatch.setattr(Bags, "__iter__", copies)
    frame = frame_of(small).assign(target=np.repeat(small.y, small.bags.sizes()))
    with pytest.raises(ValueError, match="column 'target' is "):
        MIKernelClassifier().fit(frame, small.y)
    assert len(alive) == 40
    # The first bag that is not constant is enough.
    alive.clear()
    MIKernelClassifier(probability=False).fit(frame.assign(target=np.arange(len(frame)) % 7), small.y)
    assert len(alive) < 40


def test_the_label_among_sparse_features_is_found_without_dense_bags(
    small: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dense(bags: Bags) -> Any:
        raise AssertionError("dense copies of sparse bags")

    per_row = np.repeat(small.y, small.bags.sizes())
    ids = np.repeat(np.arange(40), small.bags.sizes())

    def bags_with(column: Any) -> Bags:
        matrix = sparse.csr_array(np.column_stack([small.bags.instances, column]))
        return Bags(matrix, ids, feature_names=["a", "b", "c", "y"])

    monkeypatch.setattr(Bags, "__iter__", dense)
    for values in (per_row, 1 - per_row):
        with pytest.raises(ValueError, match="column 'y' is "):
            SimpleMIClassifier().fit(bags_with(values), small.y)
    with pytest.raises(ValueError, match="column 'y' is "):
        MIKernelRegressor().fit(bags_with(per_row), small.y)
    SimpleMIClassifier(probability=False).fit(bags_with(np.arange(len(per_row)) % 3), small.y)


@pytest.mark.parametrize("name", ["Label", "GROUP", "Instance_Label"])
def test_roles_are_known_in_any_letters(name: str, small: Dataset) -> None:
    with pytest.raises(ValueError, match=f"column '{name}' would be learned from as a feature.*{name}"):
        Bags(frame_of(small).assign(**{name: 1.0}))


@pytest.mark.parametrize("name", ["bag_id", "Bag", "bagid", "BAG ID", "bag_ids", "bags"])
def test_bags_under_another_name_are_not_taken_for_features(name: str, small: Dataset) -> None:
    frame = frame_of(small).rename(columns={"bag": name})
    for given in (frame, frame.assign(**{name: pd.factorize(frame[name])[0]})):
        with pytest.raises(ValueError, match=f"no column 'bag', but '{name}'; give Bags.frame, bag='{name}'"):
            Bags(given)
        assert len(Bags(given, bag=name)) == len(small.bags)


def test_columns_of_several_levels_are_refused(small: Dataset) -> None:
    frame = frame_of(small)
    frame.columns = pd.MultiIndex.from_tuples([("top", name) for name in frame.columns])
    with pytest.raises(ValueError, match="columns of 2 levels"):
        Bags(frame)


def test_text_and_numbers_are_no_labels_together(small: Dataset) -> None:
    with pytest.raises(ValueError, match="y contains text and numbers, such as 'a' and 1"):
        MIKernelClassifier().fit(small.bags, ["a" if label else 1 for label in small.y])


def test_a_parameter_is_one_value(small: Dataset) -> None:
    for several in ([1, 10], (1, 10), np.array([1, 10])):
        with pytest.raises(ValueError, match="c is .*; an estimator takes one value.*GridSearchCV or bagwise.fit"):
            MIKernelClassifier(c=several).fit(small.bags, small.y)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="(?s)class_weight is .*; give None, 'balanced' or a dictionary"):
        MIKernelClassifier(class_weight=pd.Series({0: 1, 1: 2})).fit(small.bags, small.y)  # type: ignore[arg-type]


def test_bags_with_other_groups_are_other_bags(small: Dataset) -> None:
    rows = list(small.bags)
    plain, grouped = Bags(rows), Bags(rows, groups=np.arange(40) % 4)
    assert grouped == Bags(rows, groups=np.arange(40) % 4) == grouped[:20] + grouped[20:]
    assert plain == Bags(rows) and plain != grouped and grouped != Bags(rows, groups=np.arange(40) % 5)
    frame = frame_of(small).assign(place=1.0)
    a, b = (bagwise.from_frame(frame.assign(place=value), keep=["place"]).bags for value in (1.0, 2.0))
    assert a != b and a == a[:40]


def test_some_explanations_are_explanations(small: Dataset) -> None:
    why = SimpleMIClassifier(probability=False, kernel="linear").fit(small.bags, small.y).explain(small.bags)
    some = why[:2]
    assert isinstance(some, Explanations) and len(some.to_frame()) == small.bags.sizes()[:2].sum()
    assert some[0] is why[0]


def test_vectors_of_bags_are_frames_where_frames_are_wanted(small: Dataset) -> None:
    frame, plain = frame_of(small), BagSummary(["mean"]).fit_transform(frame_of(small))
    found = BagSummary(["mean"]).set_output(transform="pandas").fit_transform(frame)
    assert found.index.tolist() == [f"b{i}" for i in range(40)] and found.columns.tolist() == [
        "mean_a",
        "mean_b",
        "mean_c",
    ]
    assert np.array_equal(found.to_numpy(), plain)
    with sklearn.config_context(transform_output="pandas"):
        line = make_pipeline(PerInstance(StandardScaler()), BagSummary(), LogisticRegression()).fit(frame, small.y)
        assert line.score(frame, small.y) > 0.8


def test_what_is_not_fitted_says_so() -> None:
    for ask in (
        lambda: AutoClassifier().members(),
        lambda: AutoClassifier().machines(),
        lambda: AutoClassifier().class_support([np.ones((1, 1))]),
    ):
        with pytest.raises(NotFittedError):
            ask()


def test_a_path_that_does_not_exist_is_an_oserror(tmp_path: Any) -> None:
    for path in (tmp_path / "none.csv", tmp_path / "folder", str(tmp_path / "folder" / "slides")):
        with pytest.raises(FileNotFoundError):
            bagwise.read(path)


def test_a_list_of_tables_of_arrow_goes_by_the_names_of_columns() -> None:
    pa = pytest.importorskip("pyarrow")
    tables = [pa.table({"x": [1.0, 2.0], "y": [3.0, 4.0]}), pa.table({"y": [6.0], "x": [5.0]})]
    bags = Bags(tables)
    assert bags.feature_names == ["x", "y"]
    assert bags.instances.tolist() == [[1.0, 3.0], [2.0, 4.0], [5.0, 6.0]]
    with pytest.raises(ValueError, match=r"bag 1 \(counted from 0\) has the columns \['x'\], bag 0 \['x', 'y'\]"):
        Bags([tables[0], tables[1].select(["x"])])


def test_a_seed_beyond_64_bits_is_refused_by_name(small: Dataset) -> None:
    assert MIKernelClassifier(c=10, random_state=2**64 - 1).fit(small.bags, small.y).random_state == 2**64 - 1
    with pytest.raises(ValueError, match=f"random_state is {2**64}; give a whole number from 0 to {2**64 - 1}"):
        MIKernelClassifier(random_state=2**64).fit(small.bags, small.y)
