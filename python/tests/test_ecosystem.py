"""The tools around estimators: pipelines, splitters, threads, persistence, tables and figures."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, RepeatedKFold, ShuffleSplit, StratifiedKFold, cross_val_score
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import LinearSVC

import bagwise
from bagwise import (
    BagMap,
    Bags,
    BagSummary,
    Dataset,
    InstanceMISVMClassifier,
    ISKClassifier,
    MIKernelClassifier,
    MIKernelRegressor,
    PerInstance,
    SimpleMIClassifier,
    permutation_importance,
)
from bagwise._options import threads_of


def test_the_package_is_loaded_quickly() -> None:
    line = "import sys, bagwise; print('numpy' in sys.modules, 'sklearn' in sys.modules, len(dir(bagwise)) > 30)"
    said = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["False", "False", "True"]


TYPED = """
from bagwise import Bags, MIKernelClassifier, MIKernelRegressor, fit, load
import bagwise

bags = Bags([[[1.0]]])
reveal_type(MIKernelClassifier(c=1).fit(bags, [1]))
reveal_type(MIKernelClassifier().predict_proba(bags))
reveal_type(bagwise.MIKernelRegressor.load("x"))
reveal_type(bags[0])
reveal_type(bags[:2])
reveal_type(load("x"))
reveal_type(fit(bags, [1], task="classification"))
reveal_type(fit(bags, [1]))
MIKernelClassifier(gama=1)
"""


def test_type_checkers_see_classes(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    (tmp_path / "typed.py").write_text(TYPED)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "typed.py"]
    said = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path).stdout
    types = [line.partition('Revealed type is "')[2].rstrip('"') for line in said.splitlines() if "Revealed" in line]
    assert [t.rpartition(".")[2] for t in types] == [
        "MIKernelClassifier",
        "float64]]",
        "MIKernelRegressor",
        "dtype[Any]]",
        "Bags",
        "BagEstimator",
        "BagClassifier",
        "BagEstimator",
    ], said
    assert 'Unexpected keyword argument "gama"' in said


def test_names_of_others_are_answered(small: Dataset) -> None:
    for given, answer in (
        ({"C": 1}, "it is called 'c' here"),
        ({"normalizer": "mean"}, "it is called 'norm' here"),
        ({"seed": 3}, "it is called 'random_state' here"),
        ({"gama": 3}, "did you mean 'gamma'"),
        ({"sample_weight": 1}, "give sample_weight to fit"),
    ):
        with pytest.raises(TypeError, match=f"MIKernelClassifier got an unexpected keyword argument .*{answer}"):
            MIKernelClassifier(**given)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="params has 'C'; the cost of an error is called 'c'"):
        bagwise.evaluate(small.bags, small.y, "mi-kernel", params={"C": 1})
    with pytest.raises(ValueError, match="parameter max_iter of mi-svm: 0 is not allowed"):
        InstanceMISVMClassifier(max_iter=0).fit(small.bags, small.y)
    # Where a method has such a parameter, it is taken.
    assert SimpleMIClassifier(kernel="linear").fit(small.bags, small.y).score(small.bags, small.y) > 0.5


def test_paths_that_fail_are_os_errors(small: Dataset, tmp_path: Path) -> None:
    model = MIKernelClassifier().fit(small.bags, small.y)
    for wrong, kind in ((tmp_path / "no" / "m.bagwise", FileNotFoundError), (tmp_path, IsADirectoryError)):
        with pytest.raises(kind):
            model.save(wrong)
        with pytest.raises(kind):
            bagwise.load(wrong)
        with pytest.raises(OSError):
            MIKernelClassifier.load(wrong)
    with pytest.raises(OSError):
        bagwise.read(tmp_path / "none.csv")


def test_skops_keeps_models(small: Dataset, tmp_path: Path) -> None:
    sio = pytest.importorskip("skops.io")
    line = make_pipeline(PerInstance(StandardScaler()), MIKernelClassifier(c=10)).fit(small.bags, small.y)
    for model in (line, line[-1]):
        sio.dump(model, tmp_path / "m.skops")
        unknown = sio.get_untrusted_types(file=tmp_path / "m.skops")
        assert all(name.startswith("bagwise.") for name in unknown)
        again = sio.load(tmp_path / "m.skops", trusted=unknown)
        assert np.array_equal(again.predict_proba(small.bags), model.predict_proba(small.bags))


def _threads(_: int) -> int:
    return threads_of(None)


def test_threads_are_those_that_joblib_leaves(monkeypatch: pytest.MonkeyPatch, small: Dataset) -> None:
    cores = joblib.cpu_count()
    assert threads_of(None) == threads_of(-1) == cores
    assert threads_of(-cores) == 1 and threads_of(-1000) == 1 and threads_of(3) == 3
    for wrong in (0, 1.5, True, "2"):
        with pytest.raises(ValueError, match="n_jobs is"):
            threads_of(wrong)
    with joblib.parallel_config(n_jobs=1):
        assert threads_of(None) == 1
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")
    assert threads_of(None) == 1
    monkeypatch.delenv("LOKY_MAX_CPU_COUNT")
    for backend, share in (("threading", 1), ("loky", max(1, cores // 2))):
        assert set(joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(_threads)(i) for i in range(2))) == {share}
    with joblib.parallel_config("loky", n_jobs=2, inner_max_num_threads=1):
        assert set(joblib.Parallel()(joblib.delayed(_threads)(i) for i in range(2))) == {1}
    # A grid search over threads trains with one thread each, and comes to the same.
    one = GridSearchCV(MIKernelClassifier(), {"c": [1, 10]}, cv=bagwise.BagKFold(3)).fit(small.bags, small.y)
    with joblib.parallel_config("threading", n_jobs=2):
        two = GridSearchCV(MIKernelClassifier(), {"c": [1, 10]}, cv=bagwise.BagKFold(3)).fit(small.bags, small.y)
    assert np.array_equal(one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"])


def test_without_probabilities_there_are_none(small: Dataset, tmp_path: Path) -> None:
    with_them = MIKernelClassifier(c=10).fit(small.bags, small.y)
    model = MIKernelClassifier(c=10, probability=False).fit(small.bags, small.y)
    assert np.array_equal(model.decision_function(small.bags), with_them.decision_function(small.bags))
    assert hasattr(with_them, "predict_proba") and not hasattr(model, "predict_proba")
    assert model.predictions(small.bags).probability is None
    model.save(tmp_path / "m.bagwise")
    again = bagwise.load(tmp_path / "m.bagwise")
    assert again.probability is False and not hasattr(again, "predict_proba")
    # It never had any, whatever is said afterwards.
    with pytest.raises(AttributeError, match="trained without probabilities"):
        model.set_params(probability=True).predict_proba(small.bags)
    # A threshold is learned on inner folds all the same.
    strict = MIKernelClassifier(probability=False, decision_threshold="recall=0.9").fit(small.bags, small.y)
    same = MIKernelClassifier(decision_threshold="recall=0.9").fit(small.bags, small.y)
    assert np.array_equal(strict.predict(small.bags), same.predict(small.bags))


def test_regressors_are_trained_once(small: Dataset) -> None:
    y = small.bags.sizes() + 0.5
    model = MIKernelRegressor(c=10, gamma=1).fit(small.bags, y)
    assert "inner" not in model.get_params()
    point = {name: value for name, value in model.get_params().items() if name in model._parameters}
    chosen = bagwise.fit(small.bags, y, method="mi-kernel", params=point, task="regression")
    assert np.array_equal(model.predict(small.bags), chosen.predict(small.bags))


def test_rounds_are_counted(small: Dataset) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert InstanceMISVMClassifier(max_iter=1).fit(small.bags, small.y).n_iter_ == 1
    assert 1 <= InstanceMISVMClassifier().fit(small.bags, small.y).n_iter_ <= InstanceMISVMClassifier().max_iter
    assert not hasattr(MIKernelClassifier().fit(small.bags, small.y), "n_iter_")


def test_transformers_of_instances(small: Dataset) -> None:
    scaled = PerInstance(StandardScaler()).fit_transform(small.bags)
    assert np.allclose(scaled.instances.mean(axis=0), 0) and scaled.ids == small.bags.ids
    assert scaled.groups is not None and np.array_equal(scaled.groups, small.groups)
    frame = pd.DataFrame(small.bags.instances, columns=["x", "y", "z"])
    frame["bag"] = np.repeat(np.asarray(small.bags.ids), small.bags.sizes())
    step = PerInstance(StandardScaler()).fit(frame)
    assert step.get_feature_names_out().tolist() == ["x", "y", "z"]
    assert step.transform(frame).feature_names == ["x", "y", "z"]
    assert PerInstance(PCA(2)).fit(frame).get_feature_names_out().tolist() == ["pca0", "pca1"]
    line = make_pipeline(PerInstance(PCA()), MIKernelClassifier(c=10, scale="none"))
    search = GridSearchCV(line, {"perinstance__transformer__n_components": [1, 3]}, cv=bagwise.BagKFold(3)).fit(
        small.bags, small.y
    )
    assert search.score(small.bags, small.y) > 0.9
    assert isinstance(clone(line), type(line))
    line.set_output(transform="pandas")
    assert isinstance(line[0].fit_transform(small.bags), Bags)
    with sklearn.config_context(transform_output="pandas"):
        assert line.fit(small.bags, small.y).score(small.bags, small.y) > 0.9
    # Only training bags are looked at.
    half = PerInstance(StandardScaler()).fit(small.bags[:20])
    assert np.allclose(half.transformer_.mean_, small.bags[:20].instances.mean(axis=0))
    sparse_bags = Bags([sparse.csr_array(bag) for bag in small.bags])
    assert sparse.issparse(PerInstance(StandardScaler(with_mean=False)).fit_transform(sparse_bags).instances)


def test_vectors_of_bags_without_names_are_counted_as_other_frames_are(small: Dataset) -> None:
    unnamed = Bags(list(small.bags))
    sizes = FunctionTransformer(lambda bags: pd.DataFrame({"n": bags.sizes()}))
    both = FeatureUnion([("mean", BagSummary("mean")), ("sizes", sizes)]).set_output(transform="pandas")
    found = both.fit_transform(unnamed)
    assert found.shape == (40, 4) and not found.isna().any().any()
    names = [f"b{i}" for i in range(40)]
    named = Bags(list(small.bags), ids=names)
    assert BagSummary("mean").set_output(transform="pandas").fit_transform(named).index.tolist() == names


def test_vectors_of_bags(small: Dataset) -> None:
    summary = BagSummary(["mean", "size"]).fit(small.bags)
    vectors = summary.transform(small.bags)
    assert np.allclose(vectors[3, :3], small.bags[3].mean(axis=0)) and vectors[3, 3] == len(small.bags[3])
    assert summary.get_feature_names_out().tolist() == ["mean_f1", "mean_f2", "mean_f3", "size"]
    every = BagSummary(["mean", "min", "max", "std", "sum", "median", "size"]).fit_transform(small.bags)
    assert every.shape == (40, 19) and np.isfinite(every).all()
    with pytest.raises(ValueError, match="give some of mean, min"):
        BagSummary("mode").fit(small.bags)
    line = make_pipeline(BagSummary(), StandardScaler(), LogisticRegression())
    assert cross_val_score(line, small.bags, small.y, cv=bagwise.BagKFold(3)).mean() > 0.6
    line.set_output(transform="pandas")
    names = line[:-1].fit(small.bags).get_feature_names_out()
    assert names.tolist()[:2] == ["mean_f1", "mean_f2"]


def test_maps_need_no_labels(small: Dataset) -> None:
    params: dict[str, Any] = {"psi": 8, "t": 20}
    mapper = BagMap(params=params, random_state=5).fit(small.bags)
    vectors = mapper.transform(small.bags)
    own = ISKClassifier(random_state=5, **params).fit(small.bags, small.y)
    assert (vectors != own.transform(small.bags)).nnz == 0
    assert len(mapper.get_feature_names_out()) == vectors.shape[1] and mapper.get_feature_names_out()[0] == "bagmap0"
    assert len(own.get_feature_names_out()) == vectors.shape[1]
    assert make_pipeline(BagMap(params=params), LinearSVC()).fit(small.bags, small.y).score(small.bags, small.y) > 0.9
    with pytest.raises(ValueError, match="isk has a feature map"):
        BagMap("mi-kernel").fit(small.bags)


def test_importance_of_features() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    shift = np.array([3.0, 0.0, 0.0])
    bags = Bags([rng.normal(size=(4, 3)) + label * shift for label in y], feature_names=["a", "b", "c"])
    model = MIKernelClassifier(c=10).fit(bags[:40], y[:40])
    found = permutation_importance(model, bags[40:], y[40:], n_repeats=3)
    assert found.importances.shape == (3, 3) and found.feature_names == ["a", "b", "c"]
    assert found.importances_mean.argmax() == 0 and found.importances_mean[0] > 0.2
    assert abs(found.importances_mean[1:]).max() < 0.1
    line = make_pipeline(PerInstance(StandardScaler()), MIKernelClassifier(c=10)).fit(bags[:40], y[:40])
    assert permutation_importance(line, bags[40:], y[40:], scoring="roc_auc").importances_mean.argmax() == 0


def test_splitters_of_scikit_learn_are_folds(small: Dataset) -> None:
    bags = list(small.bags)
    given: dict[str, Any] = {"params": {"c": 10, "gamma": 1}}
    splitter = StratifiedKFold(4, shuffle=True, random_state=0)
    pairs = list(splitter.split(np.empty((40, 0)), small.y))
    for folds in (splitter, pairs):
        found = bagwise.evaluate(bags, small.y, "simple-mi", folds=folds, **given)
        assert {tuple(r["scored"]["bags"]) for r in found.records} == {tuple(test.tolist()) for _, test in pairs}
    for wrong, message in (
        (ShuffleSplit(2, test_size=0.5, random_state=0), "tested twice|never tested"),
        (RepeatedKFold(n_splits=3, n_repeats=2), "tested twice"),
        (pairs[:2], "20 bags are never tested"),
        ([(np.arange(3), np.arange(3, 6))], "fold 0 does not split all bags"),
    ):
        with pytest.raises(ValueError, match=message):
            bagwise.evaluate(bags, small.y, "simple-mi", folds=wrong, **given)
    # Rows of a frame are no bags: who splits them is told what to split.
    frame = small.bags.to_frame().drop(columns="group")
    with pytest.raises(ValueError, match="y has one entry per bag, not per instance.*to be split"):
        MIKernelClassifier().fit(frame, np.repeat(small.y, small.bags.sizes()))
    scores = cross_val_score(MIKernelClassifier(c=10), bagwise.Bags(frame), small.y, cv=KFold(4))
    assert len(scores) == 4


def test_everything_in_one_call(small: Dataset, three: Dataset) -> None:
    y = np.where(small.y == 1, "yes", "no")
    model = MIKernelClassifier(c=10).fit(small.bags, y)
    found = model.predictions(small.bags)
    assert np.array_equal(found.label, model.predict(small.bags)) and len(found) == 40
    assert np.array_equal(found.score, model.decision_function(small.bags))
    assert np.array_equal(found.probability, model.predict_proba(small.bags))
    assert np.array_equal(found.familiar, model.familiar(small.bags))
    table = found.to_frame()
    assert table.index.tolist() == small.bags.ids
    assert list(table.columns) == ["label", "score", "probability of no", "probability of yes", "familiar"]
    several = MIKernelClassifier(c=10).fit(three.bags, three.y).predictions(three.bags).to_frame()
    assert list(several.columns)[:4] == ["label", "score of 0", "score of 1", "score of 2"]
    numbers = MIKernelRegressor().fit(small.bags, small.bags.sizes()).predictions(small.bags)
    assert list(numbers.to_frame().columns) == ["value", "familiar"] and numbers.probability is None


def test_instances_have_values(small: Dataset, three: Dataset) -> None:
    model = MIKernelClassifier(c=10).fit(small.bags, small.y)
    values = model.decision_function_instances(small.bags)
    assert values.shape == (small.bags.n_instances,)
    explained = model.explain(small.bags)
    # Sums of a few dozen numbers, in another order.
    sums = np.add.reduceat(values, small.bags.offsets[:-1]) + [e.bias for e in explained]
    assert np.allclose(sums, model.decision_function(small.bags), rtol=1e-9, atol=1e-9)
    assert MIKernelClassifier().fit(three.bags, three.y).decision_function_instances(three.bags[:2]).shape[1] == 3
    witness = InstanceMISVMClassifier().fit(small.bags, small.y)
    values = witness.decision_function_instances(small.bags)
    assert np.allclose(np.maximum.reduceat(values, small.bags.offsets[:-1]), witness.decision_function(small.bags))
    table = explained.to_frame()
    assert list(table.columns) == ["bag", "machine", "instance", "part", "bias", "decides"]
    assert len(table) == small.bags.n_instances and np.array_equal(
        table["part"], model.decision_function_instances(small.bags)
    )
    assert witness.explain(small.bags[:1]).to_frame()["decides"].sum() == 1
    with pytest.raises(ValueError, match=";"):
        SimpleMIClassifier().fit(small.bags, small.y).decision_function_instances(small.bags)


def test_figures(small: Dataset) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    explained = InstanceMISVMClassifier().fit(small.bags, small.y).explain(small.bags[:3])
    assert len(explained[0].plot().patches) == len(explained[0].parts)
    assert len(explained.plot().get_xticklabels()) == 3
    name = "bag summaries and a logistic regression"
    line = make_pipeline(BagSummary(), LogisticRegression())
    table = bagwise.compare(small.bags, small.y, methods=["majority"], folds=3, estimators={name: line})
    ax = table.plot()
    figure = ax.get_figure()
    figure.canvas.draw()
    assert all(label.get_window_extent().x0 >= 0 for label in ax.get_yticklabels())
    assert [t.get_text() for t in ax.get_yticklabels()] == [row["method"] for row in reversed(table)]
    assert table.plot(ax) is ax
    plt.close("all")


def test_folds_and_predictions_as_frames(small: Dataset, three: Dataset) -> None:
    y = np.where(small.y == 1, "yes", "no")
    found = bagwise.evaluate(small.bags, y, "simple-mi", folds=4, repeats=2, params={"c": [10, 100]})
    scores = found.fold_scores()
    assert len(scores) == 8 and scores["accuracy"].mean() == pytest.approx(found[0]["accuracy"])
    assert {"param_c", "repeat", "fold", "status"} <= set(scores.columns)
    told = found.predictions()
    assert len(told) == 80 and set(told["actual"]) == set(told["predicted"]) == {"yes", "no"}
    assert ((told["predicted"] == "yes") == (told["score"] > 0)).all()
    first = told[told["repeat"] == 0].set_index("bag").loc[small.bags.ids]
    assert first["actual"].tolist() == y.tolist()
    several = bagwise.evaluate(three.bags, three.y, "simple-mi", folds=3, params={"c": 10, "gamma": 1}).predictions()
    assert {"score of 0", "probability of 2"} <= set(several.columns) and several["actual"].dtype.kind == "i"
    numbers = bagwise.evaluate(small.bags, small.bags.sizes() + 0.5, "simple-mi", folds=3, params={"c": 10, "gamma": 1})
    table = numbers.predictions()
    assert np.array_equal(np.sort(table["actual"]), np.sort(small.bags.sizes() + 0.5)) and "score" not in table


def test_an_evaluation_says_what_was_wrong(small: Dataset, capsys: pytest.CaptureFixture[str]) -> None:
    # A wider grid is not advised where every bag is predicted correctly, but an attribute that does so alone is doubtful.
    with pytest.warns(UserWarning, match="separates the classes perfectly") as said:
        bagwise.evaluate(small.bags, small.y, "simple-mi", folds=3, params={"gamma": [1e-9, 1e-8, 1e-7]})
    assert said[0].filename == __file__
    heard: list[tuple[str, int, int]] = []
    quiet: dict[str, Any] = {"folds": 3, "params": {"c": 10, "gamma": 1}}
    bagwise.evaluate(small.bags, small.y, "migraph", verbose=lambda *step: heard.append(step), **quiet)
    assert heard and all(0 <= done <= total for _, done, total in heard)
    assert capsys.readouterr().err == ""
    bagwise.evaluate(small.bags, small.y, "migraph", verbose=True, **quiet)
    assert capsys.readouterr().err.startswith("bagwise: ")


def test_random_state_none_is_zero(small: Dataset) -> None:
    some = [ISKClassifier(t=20, random_state=seed).fit(small.bags, small.y) for seed in (None, 0, 1)]
    none, zero, one = (model.decision_function(small.bags) for model in some)
    assert np.array_equal(none, zero) and not np.array_equal(none, one)
    drawn = ISKClassifier(t=20, random_state=np.random.default_rng(0)).fit(small.bags, small.y)
    assert np.isfinite(drawn.decision_function(small.bags)).all()


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="only Linux binds processes to cores")
def test_a_process_on_one_core_has_one_thread() -> None:
    line = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); "
    line += "from bagwise._options import threads_of; print(threads_of(None))"
    said = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "1"
