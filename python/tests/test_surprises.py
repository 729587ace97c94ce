"""Nothing is guessed in silence: labels, order, columns and parameters are what the user gave, or there is an error."""

from __future__ import annotations

import datetime
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import bagwise
from bagwise import (
    Bags,
    BagSummary,
    Dataset,
    MIKernelClassifier,
    MIKernelRegressor,
    PerInstance,
    SimpleMIClassifier,
)


def frame_of(data: Dataset) -> pd.DataFrame:
    """The rows of a data set, named and with the bag of each."""
    names = [f"x{i}" for i in range(data.bags.n_features)]
    frame = pd.DataFrame(data.bags.instances, columns=names)
    return frame.assign(bag=np.repeat([f"b{i}" for i in range(len(data.bags))], data.bags.sizes()))


@pytest.mark.parametrize(
    "labels",
    [["01", "1"], ["10", "2"], [False, True], [0, 1], [0.0, 1.0], [0.5, 1.5], ["1_0", "10"], ["nan", "x"]],
    ids=str,
)
def test_labels_come_back_as_they_were(labels: list[Any], small: Dataset, tmp_path: Path) -> None:
    y = np.asarray(labels)[small.y]
    model = MIKernelClassifier(c=10).fit(small.bags, y) if y.dtype.kind != "f" or labels[0] != 0.5 else None
    if model is None:
        # Fractions are numbers to predict, not classes: scikit-learn says so.
        with pytest.raises(ValueError, match="Unknown label type"):
            MIKernelClassifier(c=10).fit(small.bags, y)
        return
    model.save(tmp_path / "m.bagwise")
    for again in (bagwise.load(tmp_path / "m.bagwise"), MIKernelClassifier.load(tmp_path / "m.bagwise")):
        assert again.classes_.dtype == model.classes_.dtype
        assert again.classes_.tolist() == model.classes_.tolist()
        assert np.array_equal(again.predict(small.bags), model.predict(small.bags))
        assert again.predict(small.bags).dtype == y.dtype


def test_labels_of_files_are_numbers_only_where_nothing_is_lost(tmp_path: Path) -> None:
    for texts, found in ((("01", "02"), ["01", "02"]), (("2", "10"), [2, 10]), (("1_0", "3"), ["1_0", "3"])):
        (tmp_path / "t.csv").write_text(f"bag,label,x\na,{texts[0]},1\nb,{texts[1]},2\n")
        y = bagwise.read(tmp_path / "t.csv").y
        assert y is not None and y.tolist() == found
    # A frame has types of its own, which are kept.
    frame = pd.DataFrame({"bag": ["a", "b"], "label": ["10", "2"], "x": [1.0, 2.0]})
    y = bagwise.from_frame(frame, label="label").y
    assert y is not None and y.tolist() == ["10", "2"]


def test_a_series_is_matched_by_the_ids_of_bags(small: Dataset) -> None:
    frame = frame_of(small)
    y = pd.Series(small.y, index=[f"b{i}" for i in range(40)], name="label")
    turned = y.sample(frac=1.0, random_state=0)
    assert (turned.to_numpy() != y.to_numpy()).any()
    model = MIKernelClassifier(c=10).fit(frame, y)
    again = MIKernelClassifier(c=10).fit(frame, turned)
    assert np.array_equal(model.decision_function(frame), again.decision_function(frame))
    assert model.score(frame, turned) == model.score(frame, y) > 0.9
    # More bags than there are here are no trouble; fewer are.
    assert MIKernelClassifier(c=10).fit(frame[frame["bag"] != "b3"], turned).score(frame, turned) > 0.9
    with pytest.raises(ValueError, match="y is indexed by bag and has no entry for bag 'b3'"):
        MIKernelClassifier().fit(frame, turned.drop("b3"))
    with pytest.raises(ValueError, match="y has two entries for bag 'b3'"):
        MIKernelClassifier().fit(frame, pd.concat([turned, turned.loc[["b3"]]]))
    weights = pd.Series(np.where(turned == 1, 5.0, 1.0), index=turned.index)
    by_id = MIKernelClassifier(c=1).fit(frame, y, sample_weight=weights)
    by_hand = MIKernelClassifier(c=1).fit(frame, y, sample_weight=np.where(small.y == 1, 5.0, 1.0))
    assert np.array_equal(by_id.decision_function(frame), by_hand.decision_function(frame))
    found = bagwise.evaluate(frame, turned, "simple-mi", folds=3, params={"c": 10, "gamma": 1})
    same = bagwise.evaluate(frame, small.y, "simple-mi", folds=3, params={"c": 10, "gamma": 1})
    assert found[0]["accuracy"] == same[0]["accuracy"]
    groups = pd.Series(np.arange(40) % 8, index=y.index)
    found = bagwise.evaluate(frame, y, "simple-mi", groups=groups.sample(frac=1.0, random_state=1), folds=4)
    same = bagwise.evaluate(frame, y, "simple-mi", groups=np.arange(40) % 8, folds=4)
    assert found[0]["accuracy"] == same[0]["accuracy"]
    assert bagwise.fit(frame, turned, method="simple-mi").score(frame, y) > 0.8


def test_a_series_of_positions_stays_one(small: Dataset) -> None:
    # Bags without names of their own: whatever index the series has, as everywhere in scikit-learn.
    model = MIKernelClassifier(c=10).fit(list(small.bags), pd.Series(small.y, index=np.arange(40)[::-1]))
    assert model.score(small.bags, small.y) > 0.9
    # The index that pandas makes itself counts positions, even where bags are called by other numbers.
    turned = np.arange(40)[::-1]
    bags = Bags(list(small.bags), ids=[str(i + 1) for i in turned])
    assert MIKernelClassifier(c=10).fit(bags, pd.Series(small.y)).score(bags, small.y) > 0.9
    bags = Bags(list(small.bags), ids=[str(i) for i in turned])
    by_id = pd.Series(small.y[::-1], index=pd.Index(np.arange(40), name="bag"))
    assert MIKernelClassifier(c=10).fit(bags, by_id).score(bags, small.y) > 0.9


def test_text_that_numbers_the_bags_names_them(small: Dataset) -> None:
    # Bags of a file may be called 1, 2, 3, … by it; nobody else would call rows "1", "2", "3".
    y = pd.Series(small.y, index=[str(i) for i in range(1, 41)]).sample(frac=1.0, random_state=0)
    assert (y.to_numpy() != small.y).any()
    for bags in (Bags(list(small.bags)), list(small.bags)):
        assert MIKernelClassifier(c=10).fit(bags, y).score(bags, small.y) > 0.9


def test_a_series_of_bags_names_them(small: Dataset) -> None:
    names = [f"b{i}" for i in range(40)]
    bags = pd.Series(list(small.bags), index=names)
    y = pd.Series(small.y, index=names).sample(frac=1.0, random_state=0)
    assert MIKernelClassifier(c=10).fit(bags, y).score(list(small.bags), small.y) > 0.9
    # Bags that were drawn twice have no names, and positions count.
    twice = [*range(40), 0]
    assert Bags(bags.iloc[twice]).ids[-1] == "41"


def test_a_list_of_frames_goes_by_the_names_of_columns(small: Dataset) -> None:
    frames = [pd.DataFrame(bag, columns=["a", "b", "c"]) for bag in small.bags]
    turned = [frame[["c", "a", "b"]] for frame in frames]
    model = MIKernelClassifier(c=10).fit(frames, small.y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    for other in (turned, [frames[0], *turned[1:]], dict(enumerate(turned))):
        assert np.array_equal(model.decision_function(other), model.decision_function(frames))
    with pytest.raises(ValueError, match=r"bag 1 \(counted from 0\) has the columns"):
        Bags([frames[0], frames[1].rename(columns={"a": "z"})])


def test_ids_of_rows_in_another_order_are_refused(small: Dataset) -> None:
    frame = frame_of(small)
    rows = frame.drop(columns="bag").sample(frac=1.0, random_state=0)
    with pytest.raises(ValueError, match="the index of the frame in another order"):
        Bags(rows, frame["bag"])
    assert len(Bags(rows, frame["bag"].loc[rows.index])) == len(Bags(rows, frame["bag"].to_numpy())) == 40


def test_what_is_no_label_is_refused(small: Dataset) -> None:
    bags, y = small.bags, small.y
    third = np.arange(40) == 2
    with pytest.raises(ValueError, match="y is masked"):
        MIKernelClassifier().fit(bags, np.ma.masked_array(y, third))
    with pytest.raises(ValueError, match="y is masked"):
        MIKernelRegressor().fit(bags, np.ma.masked_array(y * 1.0, third))
    with pytest.raises(ValueError, match="sample_weight is masked"):
        MIKernelClassifier().fit(bags, y, sample_weight=np.ma.masked_array(np.ones(40), third))
    with pytest.raises(ValueError, match="groups is masked"):
        MIKernelClassifier().fit(bags, y, groups=np.ma.masked_array(np.arange(40) % 5, third))
    for none in (None, np.nan):
        with pytest.raises(ValueError, match="y contains NaN or None"):
            MIKernelClassifier().fit(bags, np.where(third, none, np.where(y == 1, "yes", "no").astype(object)))
    with pytest.raises(ValueError, match="y holds dates"):
        MIKernelRegressor().fit(bags, np.where(y == 1, np.datetime64("2020-01-01"), np.datetime64("2021-01-01")))
    with pytest.raises(ValueError, match=r"groups of shape \(40, 2\)"):
        MIKernelClassifier().fit(bags, y, groups=np.stack([y, y], axis=1))
    for weight in ([2.0], np.ones(5)):
        with pytest.raises(ValueError, match=r"sample_weight.shape == \(\d,\)"):
            MIKernelClassifier(class_weight={0: 1.0, 1: 2.0}).fit(bags, y, sample_weight=weight)
    with pytest.raises(ValueError, match="class_weight is .* not below 0"):
        MIKernelClassifier(class_weight={0: -1.0, 1: 2.0}).fit(bags, y)


def test_a_column_of_labels_is_no_feature(small: Dataset) -> None:
    frame = frame_of(small)
    for name in ("label", "group", "instance_label"):
        told = frame.assign(**{name: np.repeat(small.y, small.bags.sizes())})
        with pytest.raises(ValueError, match=f"column '{name}' .* bagwise.from_frame"):
            Bags(told)
        with pytest.raises(ValueError, match=f"column '{name}'"):
            MIKernelClassifier().fit(told, small.y)
    # What a model was not trained on is left out.
    model = MIKernelClassifier(c=10).fit(frame, small.y)
    told = frame.assign(label=np.repeat(small.y, small.bags.sizes()), note="text")
    assert np.array_equal(model.predict(told), model.predict(frame))


def test_text_becomes_categories_with_a_word_and_dates_do_not() -> None:
    frame = pd.DataFrame({"bag": ["a", "b", "b"], "kind": ["u", "v", "u"], "x": [1.0, 2.0, 3.0]})
    for take in (Bags, bagwise.from_frame):
        with pytest.warns(UserWarning, match="column 'kind' contains text and is treated as categories") as said:
            take(frame)
        assert said[0].filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            take(frame.astype({"kind": "category"}))
    days = pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-03"])
    for dates in (days, days.to_pydatetime().astype(object), [datetime.date(2024, 1, d) for d in (1, 2, 3)]):
        with pytest.raises(ValueError, match="column 'when' contains dates"):
            Bags(frame[["bag", "x"]].assign(when=dates))
    with pytest.raises(ValueError, match="column 'what' contains values of type"):
        Bags(frame[["bag", "x"]].assign(what=[{"a": 1}, {"b": 2}, {}]))


def test_names_f1_to_fn_are_names_too(small: Dataset, tmp_path: Path) -> None:
    frame = frame_of(small).rename(columns={"x0": "f1", "x1": "f2", "x2": "f3"})
    model = MIKernelClassifier(c=10).fit(frame, small.y)
    assert model.feature_names_in_.tolist() == ["f1", "f2", "f3"]
    turned = frame[["f3", "bag", "f1", "f2"]]
    model.save(tmp_path / "m.bagwise")
    for one in (model, pickle.loads(pickle.dumps(model)), bagwise.load(tmp_path / "m.bagwise")):
        assert np.array_equal(one.decision_function(turned), model.decision_function(frame))
    assert Bags(frame).feature_names == ["f1", "f2", "f3"]
    assert pickle.loads(pickle.dumps(Bags(frame)))[:3].feature_names == ["f1", "f2", "f3"]
    plain = MIKernelClassifier(c=10).fit(list(small.bags), small.y)
    assert not hasattr(plain, "feature_names_in_") and Bags(list(small.bags)).feature_names is None
    plain.save(tmp_path / "m.bagwise")
    assert not hasattr(bagwise.load(tmp_path / "m.bagwise"), "feature_names_in_")


def test_two_features_of_one_name_are_refused() -> None:
    two = pd.DataFrame([["a", 1.0, 2.0]], columns=["bag", "x", "x"])
    with pytest.raises(ValueError, match="two columns are called 'x'"):
        Bags(two)
    with pytest.raises(ValueError, match="two features are called 'x'"):
        Bags([np.ones((1, 2))], feature_names=["x", "x"])


def test_what_hides_in_cells_is_unfolded_or_refused() -> None:
    rows = [np.array([1.0, 2.0]), np.array([3.0, 4.0]), np.array([5.0, 6.0])]
    for cells in (rows, [r.tolist() for r in rows]):
        bags = Bags(pd.DataFrame({"bag": ["a", "a", "b"], "e": cells, "x": [7.0, 8.0, 9.0]}))
        assert bags.feature_names == ["e_1", "e_2", "x"]
        assert bags.instances.tolist() == [[1, 2, 7], [3, 4, 8], [5, 6, 9]]
    with pytest.raises(ValueError, match="column 'e': row 1 .* has 3 numbers, row 0 has 2"):
        Bags(pd.DataFrame({"bag": ["a", "a"], "e": [[1, 2], [1, 2, 3]]}))


def test_a_model_of_lists_in_cells_knows_them_in_files(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"bag": np.repeat(np.arange(20), 2).astype(str), "e": list(rng.normal(size=(40, 3)))})
    model = MIKernelClassifier().fit(frame, np.arange(20) % 2)
    frame.to_parquet(tmp_path / "t.parquet")
    read = bagwise.read(tmp_path / "t.parquet").bags
    assert read.feature_names == Bags(frame).feature_names
    assert np.array_equal(model.decision_function(read), model.decision_function(frame))


def test_a_frame_that_names_its_bags_otherwise_is_not_taken_by_rows(small: Dataset) -> None:
    frame = frame_of(small).rename(columns={"bag": "mol"})
    model = MIKernelClassifier(c=10).fit(Bags(frame, bag="mol"), small.y)
    with pytest.warns(UserWarning, match="no column 'bag', so every row is a bag of its own, and mol is left out"):
        assert len(model.predict(frame)) == len(frame)
    assert len(model.predict(Bags(frame, bag="mol"))) == 40


def test_arrow_tables_are_frames() -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"bag": ["a", "b", "a"], "x": [1.0, 2.0, None], "e": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]})
    bags = Bags(table, missing=True)
    assert bags.ids == ["a", "b"] and bags.feature_names == ["x", "e_1", "e_2"]
    assert np.array_equal(bags[0], [[1, 1, 2], [np.nan, 5, 6]], equal_nan=True)
    data = bagwise.from_frame(table.append_column("y", pa.array([1, 0, 1])), label="y", missing=True)
    assert data.y is not None and data.y.tolist() == [1, 0]


def test_nothing_in_a_dictionary_of_arrow_is_missing_not_the_last_word() -> None:
    pa = pytest.importorskip("pyarrow")
    words = pa.array(["u", None, "w"]).dictionary_encode()
    for column in (words, pa.chunked_array([words])):
        bags = Bags(pa.table({"bag": ["a", "a", "b"], "k": column}), missing=True)
        assert np.array_equal(bags.instances[:, 0], [0, np.nan, 1], equal_nan=True)
        assert bags.categories == {"k": ["u", "w"]}
        with pytest.raises(ValueError, match="row 1 .* has no bag"):
            Bags(pa.table({"bag": column, "x": [1.0, 2.0, 3.0]}))
        with pytest.raises(ValueError, match="row 1 .* has no bag"):
            Bags(np.ones((3, 2)), column)
        with pytest.raises(ValueError, match="y contains NaN or None"):
            MIKernelClassifier().fit(np.arange(6.0).reshape(3, 2), column)
        with pytest.raises(ValueError, match=r"bag 1 \(counted from 0\) has no group"):
            MIKernelClassifier().fit(np.arange(6.0).reshape(3, 2), ["a", "b", "a"], groups=column)


def test_structs_and_lazy_frames_are_refused() -> None:
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"bag": ["a", "b"], "s": [{"u": 1, "v": 2}, {"u": 3, "v": 4}]})
    for given in (frame, frame.to_arrow()):
        with pytest.raises(ValueError, match="column 's' contains structs"):
            Bags(given)
    with pytest.raises(TypeError, match="a LazyFrame has no rows yet"):
        Bags(frame.lazy())


def test_labels_of_pandas_types_keep_theirs(small: Dataset) -> None:
    for y, kind in ((pd.Series(small.y, dtype="Int64"), "i"), (pd.Series(small.y == 1, dtype="boolean"), "b")):
        model = SimpleMIClassifier(probability=False).fit(small.bags, y)
        assert model.classes_.dtype.kind == model.predict(small.bags).dtype.kind == kind
        y.iloc[0] = pd.NA
        with pytest.raises(ValueError, match="y contains NaN or None"):
            SimpleMIClassifier().fit(small.bags, y)


def test_masked_values_are_missing() -> None:
    masked = np.ma.masked_array([[1.0, 99.0], [3.0, 4.0]], mask=[[False, True], [False, False]])
    for given in (masked, [masked]):
        with pytest.raises(ValueError, match="no finite value for 'f2'"):
            Bags(given)
        assert np.isnan(Bags(given, missing=True).instances[0, 1])
    whole = np.ma.masked_array([[1, 99]], mask=[[False, True]])
    assert np.isnan(Bags([whole], missing=True).instances[0, 1])
    # Rows may be masked one by one, in lists and in the cells of a frame.
    rows = [masked[0], masked[1]]
    assert np.isnan(Bags([rows], missing=True).instances[0, 1])
    assert np.isnan(Bags(pd.DataFrame({"bag": ["a", "a"], "e": rows}), missing=True).instances[0, 1])


def test_class_weights_of_unknown_classes_are_refused(small: Dataset) -> None:
    for weight in ({"1": 5}, {True: 5, 2: 1}):
        if weight == {True: 5, 2: 1}:
            weight = {2: 1}
        with pytest.raises(ValueError, match="class_weight names .*, no class; the classes are 0, 1"):
            MIKernelClassifier(class_weight=weight).fit(small.bags, small.y)
        with pytest.raises(ValueError, match="class_weight names"):
            bagwise.fit(small.bags, small.y, method="simple-mi", class_weight=weight)
    # A fold may lack a class that is named.
    two = small.y.astype(int)
    MIKernelClassifier(class_weight={0: 1, 1: 5, 2: 7}).fit(small.bags, two)


def test_a_loaded_model_has_its_parameters(small: Dataset, tmp_path: Path) -> None:
    given: dict[str, Any] = {
        "c": 10,
        "gamma": "2/median",
        "scale": "zscore",
        "class_weight": {0: 1, 1: 3},
        "decision_threshold": "recall=0.9",
        "inner": 3,
        "precision": "f32",
        "random_state": 7,
        "memory": 3e9,
        "multiclass": "one-vs-rest",
    }
    model = MIKernelClassifier(**given).fit(small.bags, small.y)
    model.save(tmp_path / "m.bagwise")
    again = bagwise.load(tmp_path / "m.bagwise")
    assert again.get_params() == model.get_params()
    assert type(again.c) is int and type(again.class_weight) is dict
    assert repr(again) == repr(model)
    # Trained again, it is the same model.
    assert np.array_equal(
        clone(again).fit(small.bags, small.y).decision_function(small.bags), model.decision_function(small.bags)
    )
    chosen = bagwise.fit(small.bags, small.y, method="simple-mi", params={"c": [1, 10]}, scale="minmax", inner=4)
    chosen.save(tmp_path / "m.bagwise")
    again = bagwise.load(tmp_path / "m.bagwise")
    assert again.get_params() == chosen.get_params() and (again.scale, again.inner) == ("minmax", 4)
    # Of a generator, its state is not kept: what was drawn from it is.
    model = MIKernelClassifier(random_state=np.random.RandomState(3)).fit(small.bags, small.y)
    model.save(tmp_path / "m.bagwise")
    assert isinstance(bagwise.load(tmp_path / "m.bagwise").random_state, int)


def test_a_model_of_the_command_line_tells_what_it_can(tmp_path: Path) -> None:
    from bagwise import _native

    path = str(tmp_path / "m.bagwise")
    line = ["bagwise", "fit", "musk1", "--method", "mi-kernel", "-p", "c=10", "-p", "gamma=0.5", "-p", "norm=mean"]
    assert _native.main([*line, "--scale", "zscore", "--seed", "3", "-o", path, "--quiet"]) == 0
    model = bagwise.load(path)
    assert (model.scale, model.random_state, model.c, model.gamma) == ("zscore", 3, 10, 0.5)
    assert model.classes_.tolist() == [0, 1]


def test_a_failed_refit_leaves_the_old_model_whole(small: Dataset) -> None:
    model = MIKernelClassifier(c=10).fit(small.bags, small.y)
    before = model.predict(small.bags)
    y = np.where(small.y == 1, "yes", "no")
    for spoil in ({"gamma": "wide"}, {"class_weight": {"maybe": 2}}, {"inner": 1}):
        with pytest.raises(ValueError):
            model.set_params(**spoil).fit(small.bags, y)
        model.set_params(gamma="1/median", class_weight=None, inner=5)
        assert model.classes_.tolist() == [0, 1] and np.array_equal(model.predict(small.bags), before)
    with pytest.raises(ValueError):
        model.fit(small.bags, y[:5])
    assert np.array_equal(model.predict(small.bags), before)


def test_regression_has_no_surprises_either(small: Dataset, tmp_path: Path) -> None:
    frame = frame_of(small)
    y = pd.Series(small.bags.sizes() + 0.5, index=[f"b{i}" for i in range(40)])
    model = MIKernelRegressor(c=100, norm="none").fit(frame, y.sample(frac=1.0, random_state=0))
    assert model.score(frame, y) > 0.5
    model.save(tmp_path / "m.bagwise")
    assert bagwise.load(tmp_path / "m.bagwise").get_params() == model.get_params()
    assert SimpleMIClassifier().fit(frame, small.y).score(frame, small.y) > 0.5


def test_the_advice_about_a_column_of_labels_works_as_printed(small: Dataset) -> None:
    frame = small.bags.to_frame()
    bag = next(name for name in frame.columns if name in ("bag", "bag_id"))
    for role, advice in (
        ("label", "bagwise.from_frame(frame, label='label')"),
        ("group", "bagwise.from_frame(frame, group='group')"),
        ("instance_label", "bagwise.from_frame(frame, keep=['instance_label'])"),
    ):
        plain = frame[[bag, *(name for name in frame.columns if name.startswith("f"))]].assign(**{role: 1.0})
        with pytest.raises(ValueError) as said:
            Bags(plain)
        assert advice in str(said.value)
        assert len(eval(advice, {"bagwise": bagwise, "frame": plain}).bags) == len(small.bags)


def test_ids_of_every_type_are_matched(small: Dataset) -> None:
    turn = np.random.default_rng(0).permutation(40)
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(turn, "D")
    mixed = np.array([int(i) if i % 2 else float(i) for i in turn], dtype=object)
    for ids in (turn.astype(float), days, mixed, pd.Index(turn, dtype="Int64")):
        frame = frame_of(small).assign(bag=np.repeat(np.asarray(ids), small.bags.sizes()))
        y = frame.assign(label=np.repeat(small.y, small.bags.sizes())).groupby("bag")["label"].first()
        assert (y.to_numpy() != small.y).any()
        assert SimpleMIClassifier(c=10).fit(frame, y).score(frame, small.y) > 0.9
        groups = pd.Series(np.arange(40), index=ids)
        assert np.array_equal(Bags(frame, groups=groups.sort_index()).groups, np.arange(40))


def test_ids_that_look_alike_are_not_mixed_up() -> None:
    rows = np.arange(6.0).reshape(3, 2)
    with pytest.raises(ValueError, match="the bag ids 1 and '1' have the same text"):
        Bags(rows, np.array([1, "1", 2], dtype=object))
    assert Bags(rows, np.array([1, 1.0, 2], dtype=object)).ids == ["1", "2"]
    assert len(Bags(rows, [1e300, 2e300, np.inf])) == 3


def test_an_index_that_names_the_bags_is_not_ignored(small: Dataset) -> None:
    frame = frame_of(small).set_index("bag")
    with pytest.raises(ValueError, match="the index of the frame is called 'bag', and no column is"):
        Bags(frame)
    assert len(Bags(frame.reset_index("bag"))) == len(Bags(frame, frame.index)) == 40


def test_steps_of_pipelines_match_columns_by_name(small: Dataset) -> None:
    frame = frame_of(small)
    turned = frame[["x2", "bag", "x0", "x1"]].assign(more=1.0)
    identity = FunctionTransformer(feature_names_out="one-to-one")
    for step in (BagSummary(["mean", "max"]), PerInstance(StandardScaler()), PerInstance(identity)):
        step.fit(frame)
        for given in (turned, Bags(turned)):
            found, same = step.transform(given), step.transform(frame)
            if isinstance(found, Bags):
                assert found.feature_names == same.feature_names == ["x0", "x1", "x2"]
                found, same = found.instances, same.instances
            assert np.array_equal(found, same)
        with pytest.raises(ValueError, match="was fitted with a feature 'x1', which X does not have"):
            step.transform(frame.drop(columns="x1"))
        with pytest.warns(UserWarning, match="X does not have valid feature names"):
            step.transform(small.bags)
    a = bagwise.gram(frame, frame, gamma=0.5)
    assert np.array_equal(bagwise.gram(frame[["x2", "bag", "x0", "x1"]], frame, gamma=0.5), a)


def test_steps_of_pipelines_do_not_take_codes_for_numbers(small: Dataset) -> None:
    colours = np.where(np.arange(small.bags.n_instances) % 2 == 1, "blue", "red")
    frame = frame_of(small).assign(colour=pd.Categorical(colours))
    red = frame[frame["colour"] == "red"].assign(colour=lambda f: f["colour"].cat.remove_unused_categories())
    encode = PerInstance(ColumnTransformer([("c", OneHotEncoder(sparse_output=False), ["colour"])], remainder="drop"))
    assert encode.fit(frame).transform(frame).feature_names == ["c__colour_blue", "c__colour_red"]
    assert (encode.transform(red).instances == [0.0, 1.0]).all()
    with pytest.raises(ValueError, match="could not convert string to float"):
        PerInstance(StandardScaler()).fit(frame)
    with pytest.raises(ValueError, match="column 'colour' contains categories, which have no statistics"):
        BagSummary().fit(frame)


def test_folds_that_lack_a_class_are_explained() -> None:
    rng = np.random.default_rng(0)
    bags = [rng.normal(size=(3, 2)) for _ in range(60)]
    groups = np.arange(60) % 12
    y = ((groups < 3) & (np.arange(60) % 24 < 12)).astype(int)
    with pytest.warns(UserWarning, match=r"class 1 is in 3 of 12 groups.*use at most 3 folds with folds="):
        bagwise.evaluate(bags, y, "simple-mi", groups=groups, folds=6, params={"c": 1.0, "gamma": 1.0}, inner=3)


def test_a_column_that_is_named_and_not_there_is_an_error(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    rows = "".join(f"b{i},{i % 2},{i},p{i // 3}\n" for i in range(30))
    table.write_text("bag,label,x,patient\n" + rows)
    assert bagwise.read(table, group="patient").groups is not None
    for wrong in ({"group": "patinet"}, {"label": "lable"}, {"instance_label": "truth"}):
        with pytest.raises(ValueError, match="there is no column"):
            bagwise.read(table, **wrong)
    folder = tmp_path / "slides"
    folder.mkdir()
    for i in range(4):
        np.save(folder / f"s{i}.npy", np.ones((2, 3)))
    labels = tmp_path / "labels.csv"
    labels.write_text("slide,msi,patient\n" + "".join(f"s{i},{i % 2},p{i}\n" for i in range(4)))
    with pytest.raises(ValueError, match="there is no column 'patient_id'"):
        bagwise.read(folder, labels=labels, bag="slide", label="msi", group="patient_id")


def test_labels_in_a_list_of_frames_are_no_features() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(20) % 2
    frames = [pd.DataFrame(rng.normal(size=(4, 2)), columns=["a", "b"]).assign(label=label) for label in y]
    with pytest.raises(ValueError, match="'label' would be learned from as a feature; drop it from every bag"):
        MIKernelClassifier().fit(frames, y)


def test_what_is_no_name_of_a_method_is_answered_with_what_would_do(small: Dataset) -> None:
    data: Any = (small.bags, small.y)
    with pytest.raises(TypeError, match="give estimators to bagwise.compare"):
        bagwise.compare(*data, methods=[MIKernelClassifier()])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="give estimators to bagwise.compare"):
        bagwise.evaluate(*data, MIKernelClassifier())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="give a dictionary such as"):
        bagwise.compare(*data, estimators=[MIKernelClassifier()])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="give a dictionary for each method"):
        bagwise.compare(*data, params={"c": 1})  # type: ignore[dict-item]


def _categorical(kind: str, values: list[Any]) -> Any:
    """A column of categories `x` and one of bags, in a frame of some library."""
    ids = [f"b{i}" for i in range(len(values))]
    if kind == "pandas":
        return pd.DataFrame({"bag": ids, "x": pd.Categorical(values)})
    if kind == "nullable":
        return pd.DataFrame({"bag": ids, "x": pd.Series(pd.array(values)).astype("category")})
    if kind == "arrow":
        pa = pytest.importorskip("pyarrow")
        return pa.table({"bag": ids, "x": pa.array(values).dictionary_encode()})
    pl = pytest.importorskip("polars")
    text = [None if v is None else str(v) for v in values]
    return pl.DataFrame(
        {"bag": ids, "x": pl.Series(text, dtype=pl.Enum(["3", "2", "1"]) if kind == "enum" else pl.Categorical)}
    )


@pytest.mark.parametrize("kind", ["pandas", "nullable", "arrow", "polars", "enum"])
def test_a_gap_does_not_rename_the_other_categories(kind: str) -> None:
    gap, whole = _categorical(kind, [1, 2, None, 3] * 5), _categorical(kind, [1, 2, 1, 3] * 5)
    bags = Bags(gap, missing=True)
    assert bags.categories == Bags(whole).categories == {"x": ["1", "2", "3"]}
    assert np.array_equal(bags.instances[:4, 0], [0, 1, np.nan, 2], equal_nan=True)
    y = [0, 1, 0, 1] * 5
    for train, new in ((gap, whole), (whole, gap)):
        model = MIKernelClassifier(c=10, missing="median").fit(train, y)
        # Bag 2 has the gap; what is known of the others is the same.
        there = np.arange(20) % 4 != 2
        assert np.array_equal(model.decision_function(new)[there], model.decision_function(train)[there])


def test_categories_of_every_type_have_one_name() -> None:
    for kind in ("pandas", "arrow"):
        for values, names in (
            ([True, False, None], ["False", "True"]),
            ([1.0, 2.0, None], ["1", "2"]),
            ([2**53 + 1, 2**53, None], [str(2**53), str(2**53 + 1)]),
            ([0.5, 2.0, None], ["0.5", "2"]),
            (["a", None, "b"], ["a", "b"]),
        ):
            if kind == "pandas" and values[0] == 2**53 + 1:
                # pandas loses the digits itself, unless the type has missing values.
                continue
            assert Bags(_categorical(kind, values), missing=True).categories == {"x": names}
    pa = pytest.importorskip("pyarrow")
    parts = [
        pa.DictionaryArray.from_arrays(pa.array([2, None, 0, 1], pa.int8()), pa.array(d))
        for d in ([5, None, 7], [7, 5, 8])
    ]
    chunks = Bags(pa.table({"bag": list("abcdefgh"), "x": pa.chunked_array(parts)}), missing=True)
    assert chunks.categories == {"x": ["5", "7", "8"]}
    assert np.array_equal(chunks.instances[:, 0], [1, np.nan, 0, np.nan, 2, np.nan, 1, 0], equal_nan=True)
    wide = pd.DataFrame({"bag": ["a", "b"], "x": pd.Categorical.from_codes([1, -1], [2**53, 2**53 + 1])})
    assert Bags(wide, missing=True).categories == {"x": [str(2**53 + 1)]}


def test_nothing_in_a_list_of_text_is_no_name(small: Dataset) -> None:
    rows = np.arange(6.0).reshape(3, 2)
    for gap in (np.nan, None, float("nan")):
        for ids in (["a", gap, "b"], ("a", gap, "b"), np.array(["a", gap, "b"], dtype=object)):
            with pytest.raises(ValueError, match=r"row 1 \(counted from 0\) has no bag"):
                Bags(rows, ids)
        some = ["x", gap] * 20
        for groups in (some, np.array(some, dtype=object)):
            with pytest.raises(ValueError, match="has no group; give every bag one"):
                MIKernelClassifier(c=10).fit(small.bags, small.y, groups=groups)
            with pytest.raises(ValueError, match="has no group; give every bag one"):
                MIKernelClassifier(c=10).fit(Bags(list(small.bags), groups=groups), small.y)
            with pytest.raises(ValueError, match=r"has no fold; give every bag one"):
                bagwise.compare(small.bags, small.y, methods=["majority"], folds=groups, protocol="given")
    with pytest.raises(ValueError, match="the bag ids 1 and '1' have the same text"):
        Bags(rows, [1, "1", "2"])
    # Text alone stays what it was, and so do numbers.
    assert Bags(rows, ["b", "a", "b"]).ids == ["b", "a"] and Bags(rows, [2, 1.0, 2]).ids == ["2", "1"]
    groups = Bags([rows, rows], groups=["b", "a"]).groups
    assert groups is not None and groups.dtype.kind == "U"


def test_no_column_of_a_frame_replaces_another() -> None:
    rows = np.arange(4.0).reshape(2, 2)
    for name, groups in (("bag", None), ("bag", ["g"]), ("group", ["g"])):
        bags = Bags([rows], feature_names=["x", name], groups=groups)
        with pytest.raises(ValueError, match=f"a feature is called '{name}'.*rename the feature.*feature_names="):
            bags.to_frame()
    # Without groups there is no such column.
    assert list(Bags([rows], feature_names=["x", "group"]).to_frame().columns) == ["bag", "x", "group"]
    frame = pd.DataFrame({"m": ["a", "a"], "bag": [1, 2], "given bag": [3, 4], "x": [0.0, 1.0]})
    kept = bagwise.from_frame(frame, bag="m", keep=["bag", "given bag"]).bags.to_frame()
    assert kept.to_dict("list") == {"bag": ["a", "a"], "x": [0.0, 1.0], "given given bag": [1, 2], "given bag": [3, 4]}


def test_a_column_is_not_known_by_the_beginning_of_its_name(small: Dataset) -> None:
    frame = frame_of(small).rename(columns={"x0": "visit_days", "x1": "e_1", "x2": "e_2"})
    model = MIKernelClassifier(c=10).fit(frame, small.y)
    wanted = model.predict(frame)
    more = frame.assign(visit=1.0, e="text")
    assert np.array_equal(model.predict(more), wanted)
    lists = frame.drop(columns=["e_1", "e_2"]).assign(e=frame[["e_1", "e_2"]].to_numpy().tolist())
    assert np.array_equal(model.predict(lists), wanted)


def test_a_frame_with_ids_beside_it_may_have_more_columns(small: Dataset) -> None:
    frame = frame_of(small)
    rows, ids = frame.drop(columns="bag"), frame["bag"]
    model = MIKernelClassifier(c=10).fit(frame, small.y)
    wanted = model.predict(frame)
    more = rows.assign(note="text", day=pd.Timestamp("2026-01-01"))[["day", "x2", "note", "x0", "x1"]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(model.predict((more, ids)), wanted)
        assert np.array_equal(model.predict((more.assign(bag="other"), ids)), wanted)


def test_a_column_of_bag_names_in_every_bag_is_no_feature() -> None:
    frame = pd.DataFrame({"bag": ["a", "a", "b", "b"], "x": [1.0, 2.0, 3.0, 4.0]})
    pieces = [piece for _, piece in frame.groupby("bag")]
    for given in (pieces, dict(zip("ab", pieces, strict=True))):
        with pytest.raises(ValueError, match="its column 'bag' would be learned from as a feature; give one frame"):
            Bags(given)
    pa = pytest.importorskip("pyarrow")
    reader = pa.Table.from_pandas(frame, preserve_index=False).to_reader(max_chunksize=2)
    with pytest.raises((ValueError, TypeError)):
        Bags(reader)


def test_bags_with_and_without_groups_are_not_added() -> None:
    rows = [[[1.0]], [[2.0]]]
    one, other = Bags(rows, ids=["a", "b"], groups=[1, 1]), Bags(rows, ids=["c", "d"])
    for pair in ((one, other), (other, one)):
        with pytest.raises(ValueError, match="some of these bags have groups and others have none"):
            pair[0] + pair[1]
