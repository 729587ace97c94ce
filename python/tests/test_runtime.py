"""Computations in Rust: other threads run, Ctrl-C stops them, errors and warnings have their types."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import bagwise
from bagwise import (
    Dataset,
    DDRegressor,
    InstanceMISVMClassifier,
    MIKernelClassifier,
    MIKernelRegressor,
    SimpleMIClassifier,
)

LONG = """
import time, bagwise
data = bagwise.read("synthetic:gauss?bags=400&min=100&max=200&features=20")
print("go", flush=True)
try:
    bagwise.evaluate(data.bags, data.y, "migraph")
    print("done", flush=True)
except KeyboardInterrupt:
    print("stopped", flush=True)
bagwise.MIKernelClassifier().fit(data.bags[:20], data.y[:20])
print("usable", flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for single processes")
def test_ctrl_c_returns_at_once() -> None:
    with subprocess.Popen([sys.executable, "-c", LONG], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "go\n"
        # Long enough to be in the midst of it; the whole takes minutes.
        time.sleep(1.0)
        child.send_signal(signal.SIGINT)
        sent = time.monotonic()
        assert child.stdout.readline() == "stopped\n"
        # A second is promised; the rest is for a busy machine.
        assert time.monotonic() - sent < 10.0
        assert child.stdout.readline() == "usable\n"
        assert child.wait() == 0


MANY = """
import bagwise
data = bagwise.read("musk1")
found = bagwise.evaluate(data.bags, data.y, "migraph", folds=5, inner=3, repeats=20)
print(found[0]["accuracy"])
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for single processes")
def test_the_same_call_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    def start(cache: Path) -> subprocess.Popen[str]:
        around = {**os.environ, "BAGWISE_CACHE": str(cache)}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        return subprocess.Popen([sys.executable, "-c", MANY], env=around, text=True, **pipes)

    whole = start(tmp_path / "whole").communicate()[0]
    cache = tmp_path / "stopped"
    runs = cache / "runs"
    with start(cache) as child:
        deadline = time.monotonic() + 60
        while not (kept := [f for f in runs.glob("*.jsonl") if f.read_bytes().count(b"\n") > 3]):
            assert time.monotonic() < deadline and child.poll() is None
            time.sleep(0.005)
        child.send_signal(signal.SIGINT)
        child.wait()
    assert child.returncode != 0
    before = kept[0].read_bytes()
    assert 3 < before.count(b"\n") < 100
    assert start(cache).communicate()[0] == whole
    assert list(runs.iterdir()) == [], "a finished run is not kept"


def test_a_folder_keeps_the_run(small: Dataset, tmp_path: Path) -> None:
    def run() -> list[str]:
        # As text, because an interval that does not exist is not equal to itself.
        found = bagwise.compare(small.bags, small.y, methods=["simple-mi"], folds=3, folder=tmp_path / "run")
        return [repr({k: v for k, v in row.items() if k != "seconds"}) for row in found]

    first = run()
    records = tmp_path / "run" / "records.jsonl"
    lines = records.read_text().splitlines(keepends=True)
    assert len(lines) == 6
    records.write_text("".join(lines[:4]))
    assert run() == first
    assert records.read_text().startswith("".join(lines[:4])), "what was there is not done again"
    assert (tmp_path / "run" / "predictions.csv").exists() and (tmp_path / "run" / "report.json").exists()


def test_two_threads_fit_at_once(small: Dataset) -> None:
    data = bagwise.read("synthetic:gauss?bags=150&min=20&max=40&features=10")
    alone = MIKernelClassifier().fit(data.bags, data.y).decision_function(data.bags)
    spans: list[tuple[float, float]] = []
    answers: list[np.ndarray] = []

    together = threading.Barrier(2)

    def work() -> None:
        together.wait()
        start = time.monotonic()
        for _ in range(3):
            answers.append(MIKernelClassifier().fit(data.bags, data.y).decision_function(data.bags))
        spans.append((start, time.monotonic()))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    counted = 0
    while any(thread.is_alive() for thread in threads):
        counted += 1
        time.sleep(0.001)
    # A thread that held the interpreter would let neither the other start nor this one count.
    assert max(s for s, _ in spans) < min(e for _, e in spans)
    assert counted > 10
    assert all(np.array_equal(a, alone) for a in answers)


def _in_child(data: Dataset, queue: Any) -> None:
    queue.put(MIKernelClassifier().fit(data.bags, data.y).score(data.bags, data.y))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks by custom")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own(small: Dataset) -> None:
    here = MIKernelClassifier().fit(small.bags, small.y).score(small.bags, small.y)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_in_child, args=(small, queue))
    child.start()
    assert queue.get(timeout=60) == here
    child.join()


def test_any_number_of_threads_gives_the_same(small: Dataset) -> None:
    one, two = (MIKernelClassifier(n_jobs=n).fit(small.bags, small.y) for n in (1, 3))
    assert np.array_equal(one.predict_proba(small.bags), two.predict_proba(small.bags))


def test_bad_parameters_say_what_would_do(small: Dataset) -> None:
    bad: list[tuple[dict[str, Any], str]] = [
        ({"c": -1}, "parameter c of mi-kernel: -1 is not allowed; expected a number above 0"),
        ({"gamma": "wide"}, "parameter gamma of mi-kernel: wide is not allowed"),
        ({"norm": "x"}, "parameter norm of mi-kernel: x is not allowed"),
        ({"c": "1,10"}, "give every parameter a single value"),
        ({"scale": "log"}, "scale is 'log'; give 'none'"),
        ({"multiclass": "ovx"}, "multiclass is 'ovx'"),
        ({"decision_threshold": "recall=2"}, "recall"),
        ({"precision": "f16"}, "precision is 'f16'"),
        ({"missing": "drop"}, "missing is 'drop'"),
        ({"class_weight": "even"}, "class_weight is 'even'"),
        ({"inner": 1}, "inner is 1"),
        ({"n_jobs": 0}, "n_jobs is 0"),
        ({"random_state": -1}, "random_state is -1"),
        ({"memory": 10}, "memory is 10"),
    ]
    for params, message in bad:
        with pytest.raises(ValueError, match=message):
            MIKernelClassifier(**params).fit(small.bags, small.y)
    with pytest.raises(ValueError, match="unknown method 'mi-kernle'; did you mean 'mi-kernel'"):
        bagwise.fit(small.bags, small.y, method="mi-kernle")
    with pytest.raises(ValueError, match="unknown metric"):
        bagwise.fit(small.bags, small.y, method="mi-kernel", optimize="acuracy")
    with pytest.raises(ValueError, match="no such parameter"):
        bagwise.evaluate(small.bags, small.y, "mi-kernel", params={"gama": 1})


def test_bad_data_says_where(small: Dataset) -> None:
    with pytest.raises(ValueError, match="39 labels for 40 bags"):
        MIKernelClassifier().fit(small.bags, small.y[:39])
    with pytest.raises(ValueError, match="one entry per bag, not per instance"):
        MIKernelClassifier().fit(small.bags, np.repeat(small.y, small.bags.sizes()))
    with pytest.raises(ValueError, match="3 groups for 40 bags"):
        MIKernelClassifier().fit(small.bags, small.y, groups=[1, 2, 3])
    for none in (np.nan, None):
        with pytest.raises(ValueError, match=r"bag 2 \(counted from 0\) has no group"):
            MIKernelClassifier().fit(small.bags, small.y, groups=[1, 2, none, *range(37)])
    gaps = [b.copy() for b in small.bags]
    gaps[4][0, 1] = np.nan
    with pytest.raises(
        ValueError, match=r"bag 4, instance 0 \(both counted from 0\), has no finite value for 'f2'; it is NaN or inf"
    ) as said:
        MIKernelClassifier().fit(gaps, small.y)
    assert 'missing="median" (estimators)' in str(said.value)
    filled = MIKernelClassifier(missing="median", c=10).fit(gaps, small.y)
    assert filled.score(gaps, small.y) > 0.9
    with pytest.raises(ValueError, match='some values are missing.*medians with missing="median"$'):
        MIKernelClassifier().fit(small.bags, small.y).predict(bagwise.Bags(gaps, missing=True))
    with pytest.raises(ValueError, match="X has 2 features, but MIKernelClassifier is expecting 3"):
        MIKernelClassifier().fit(small.bags, small.y).predict([b[:, :2] for b in small.bags])
    with pytest.raises(NotFittedError):
        MIKernelClassifier().predict(small.bags)


def test_files_that_fail(small: Dataset, tmp_path: Any) -> None:
    with pytest.raises(FileNotFoundError):
        bagwise.load(tmp_path / "none.bagwise")
    (tmp_path / "bad.bagwise").write_bytes(b"not a model")
    with pytest.raises(ValueError, match="not a usable model"):
        bagwise.load(tmp_path / "bad.bagwise")
    MIKernelClassifier().fit(small.bags, small.y).save(tmp_path / "m.bagwise")
    with pytest.raises(ValueError, match="a model of mi-kernel that predicts classes; bagwise.load"):
        MIKernelRegressor.load(tmp_path / "m.bagwise")
    with pytest.raises(FileNotFoundError, match="the folder does not exist"):
        MIKernelClassifier().fit(small.bags, small.y).save(tmp_path / "no" / "folder.bagwise")
    with pytest.raises(MemoryError, match="allow more memory with memory=BYTES, or use fewer bags"):
        bagwise.gram(bagwise.read("synthetic:gauss?bags=2000&min=1&max=1&features=2").bags, memory=2e6)


def test_arguments_of_functions_are_named_as_those_of_estimators(small: Dataset) -> None:
    told: list[tuple[Any, str, str]] = [
        (bagwise.compare, "metric", "it is called 'optimize' here"),
        (bagwise.compare, "cv", "it is called 'folds' here"),
        (bagwise.compare, "positive", "positive class is the second of two .*y == 'CLASS'"),
        (bagwise.evaluate, "scoring", "it is called 'optimize' here"),
        (bagwise.fit, "balanced", "it is called 'class_weight' here"),
        (bagwise.fit, "cv", "it is called 'inner' here"),
        (bagwise.fit, "optimise", "did you mean 'optimize'"),
        (MIKernelClassifier, "pos_label", "positive class is the second of two"),
    ]
    for function, name, hint in told:
        with pytest.raises(
            TypeError, match=f"{function.__name__} got an unexpected keyword argument '{name}'; .*{hint}"
        ):
            function(small.bags, small.y, **{name: 1}) if function is not MIKernelClassifier else function(**{name: 1})
    for function in (bagwise.read, bagwise.from_frame):
        with pytest.raises(TypeError, match="unexpected keyword argument 'target'; it is called 'label' here"):
            function("table.csv", target="active")
    # What is missing is told of by Python itself.
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'y'"):
        bagwise.fit(small.bags)  # type: ignore[call-overload]


def test_reading_names_what_it_takes(small: Dataset, tmp_path: Any) -> None:
    frame = small.bags.to_frame()
    frame.to_csv(tmp_path / "new.csv", index=False)
    model = MIKernelClassifier(probability=False).fit(small.bags, small.y)
    model.save(tmp_path / "m.bagwise")
    for given in (model, tmp_path / "m.bagwise", str(tmp_path / "m.bagwise")):
        assert bagwise.read(tmp_path / "new.csv", model=given).bags.n_features == 3
    with pytest.raises(FileNotFoundError):
        bagwise.read(tmp_path / "new.csv", model=tmp_path / "none.bagwise")
    for wrong in (MIKernelClassifier(), frame, 3):
        with pytest.raises(
            TypeError, match=f"model is a {type(wrong).__name__} without a trained model; give a fitted"
        ):
            bagwise.read(tmp_path / "new.csv", model=wrong)
    # Of a frame, too, a model takes what it knows, and there is nothing to warn of.
    for given in (model, tmp_path / "m.bagwise"):
        new = bagwise.from_frame(frame.assign(smiles="CCO", more=[[1.0, 2.0]] * len(frame)), model=given)
        assert new.bags.feature_names == ["f1", "f2", "f3"]
        assert np.array_equal(model.predict(new.bags), model.predict(small.bags))
    np.save(tmp_path / "a.npy", np.ones((2, 3)))
    with pytest.raises(TypeError, match=r"labels is a DataFrame; give the path of a table .*, as after frame.to_csv\("):
        bagwise.read(tmp_path, labels=frame)
    with pytest.raises(TypeError, match=r"coords is a list; give the path of a folder of .npy files$"):
        bagwise.read(tmp_path, coords=[1.0])  # type: ignore[arg-type]


def test_the_positive_class_is_the_second(small: Dataset) -> None:
    named = np.where(small.y == 1, "MSI", "MSS")
    for y, positive in ((named, "MSS"), (named == "MSI", True)):
        model = MIKernelClassifier(c=10, probability=False).fit(small.bags, y)
        assert model.classes_.tolist()[1] == positive
        assert ((model.decision_function(small.bags) > 0) == (model.predict(small.bags) == positive)).all()
        found = bagwise.compare(small.bags, y, methods=["majority"], folds=2)
        assert found.positive == positive and ("The positive class is MSS." in repr(found)) == (positive == "MSS")
    assert bagwise.compare(small.bags, small.bags.sizes() / 10, methods=["majority"], folds=2).positive is None


def test_a_model_replaces_models_and_nothing_else(small: Dataset, tmp_path: Any) -> None:
    model = MIKernelClassifier(c=10, probability=False).fit(small.bags, small.y)
    path = tmp_path / "notes.txt"
    path.write_text("eight letters and more: " + "x" * 100)
    with pytest.raises(
        FileExistsError, match="exists, and it is not a model; .* overwrite it with overwrite=True"
    ) as said:
        model.save(path)
    assert path.read_text().startswith("eight") and said.value.filename == str(path)
    model.save(path, overwrite=True)
    assert bagwise.load(path).c == 10
    # The command line knows it as a model, too, and its models are known here.
    MIKernelClassifier(c=1, probability=False).fit(small.bags, small.y).save(path)
    assert bagwise.load(path).c == 1
    written = tmp_path / "written.bagwise"
    assert bagwise._native.main(["bagwise", "fit", "musk1", "--method", "majority", "-o", str(written), "--quiet"]) == 0
    model.save(written)
    (tmp_path / "empty").touch()
    model.save(str(tmp_path / "empty"))


def test_settings_are_named_as_arguments(tmp_path: Any) -> None:
    table = tmp_path / "table.csv"
    table.write_text("bag,label,,f1\na,1,2,3\nb,0,2,x\n")
    with pytest.raises(ValueError, match=r'column 3 has no name; .* leave it out with ignore=\["3"\]$'):
        bagwise.read(table)
    with pytest.raises(ValueError, match=r'treat the column as categories with categorical=\["f1"\]$'):
        bagwise.read(table, ignore=[3])
    with pytest.warns(UserWarning, match=r"those that are not features with keep=\[COLUMN\] or ignore=\[COLUMN\]$"):
        table.write_text("bag,label,f1\na,1,x\nb,0,y\n")
        bagwise.read(table)


def test_what_did_not_converge_is_warned_of(small: Dataset) -> None:
    # Sizes of bags have nothing to do with a concept, so that the density rises without end.
    y = bagwise.read("synthetic:gauss?bags=30&features=3").bags.sizes()
    with pytest.warns(ConvergenceWarning, match="1 of 1 machines of DDRegressor reached the iteration limit"):
        DDRegressor().fit(bagwise.read("synthetic:gauss?bags=30&features=3").bags, y)
        DDRegressor(iterations=2).fit(small.bags, small.bags.sizes())
    with pytest.warns(ConvergenceWarning, match="reached the iteration limit; increase it with iterations=N") as said:
        bagwise.fit(small.bags, small.bags.sizes() + 0.5, method="dd", params={"iterations": 2, "starts": 2})
    assert said[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MIKernelClassifier().fit(small.bags, small.y)


def test_choices_that_did_not_settle_are_warned_of(small: Dataset, tmp_path: Any) -> None:
    message = "the chosen instances of 1 of 1 machines of InstanceMISVMClassifier did not settle"
    data = bagwise.read("synthetic:gauss?bags=40&features=3")
    with pytest.warns(ConvergenceWarning, match=message) as said:
        InstanceMISVMClassifier(max_iter=1).fit(data.bags, data.y).save(tmp_path / "m.bagwise")
    assert said[0].filename == __file__
    with pytest.warns(ConvergenceWarning, match=message):
        bagwise.fit(data.bags, data.y, method="mi-svm", params={"max_iter": 1, "c": 10})
    with warnings.catch_warnings():
        # What was said when it was learned is not said again.
        warnings.simplefilter("error")
        bagwise.load(tmp_path / "m.bagwise")


def test_a_rule_that_cannot_be_met_is_warned_of() -> None:
    bags = bagwise.read("synthetic:gauss?bags=40&features=3").bags
    chance = np.random.default_rng(0).integers(0, 2, 40)
    with pytest.warns(UserWarning, match="no threshold satisfies the rule"):
        SimpleMIClassifier(decision_threshold="precision=1").fit(bags, chance)


def test_a_model_of_data_with_gaps_fills_them_when_it_is_loaded(small: Dataset, tmp_path: Any) -> None:
    gaps = [b.copy() for b in small.bags]
    gaps[4][0, 1] = np.nan
    model = MIKernelClassifier(missing="median").fit(gaps, small.y)
    model.save(tmp_path / "m.bagwise")
    again = bagwise.load(tmp_path / "m.bagwise")
    assert again.missing == "median" and np.array_equal(again.predict(gaps), model.predict(gaps))
    MIKernelClassifier().fit(small.bags, small.y).save(tmp_path / "m.bagwise")
    assert bagwise.load(tmp_path / "m.bagwise").missing == "refuse"


def test_what_an_evaluation_would_not_heed_is_refused(small: Dataset) -> None:
    own = np.arange(40) % 4
    refused: list[tuple[dict[str, Any], str]] = [
        ({"protocol": "nested", "folds": own}, "protocol nested draws its own folds"),
        ({"protocol": "kfold", "folds": own}, "protocol kfold draws its own folds"),
        ({"protocol": "given"}, "protocol given needs the fold of each bag"),
        ({"protocol": "given", "folds": 4}, "protocol given needs the fold of each bag"),
        ({"protocol": "loo", "folds": 4}, "loo does not take a number of folds"),
        ({"protocol": "loo", "repeats": 2}, "protocol loo uses the same folds in every repeat"),
        (
            {"protocol": "best-on-cv", "decision_threshold": "recall=0.9"},
            "protocol best-on-cv does not choose a threshold",
        ),
        ({"class_weight": {0: 1, 1: 5}}, "class_weight is a dictionary"),
        ({"best": True}, "best applies only to method auto"),
    ]
    for options, message in refused:
        with pytest.raises(ValueError, match=message):
            bagwise.evaluate(small.bags, small.y, "simple-mi", **options)
    with pytest.raises(ValueError, match="put each group in one fold"):
        # The groups that the bags bring along.
        bagwise.evaluate(small.bags, small.y, "simple-mi", folds=own)
    plain = list(small.bags)
    found = bagwise.evaluate(plain, small.y, "simple-mi", folds=own, params={"c": 10, "gamma": 1})
    tested = {tuple(r["scored"]["bags"]) for r in found.records}
    assert tested == {tuple(np.flatnonzero(own == fold).tolist()) for fold in range(4)}


def test_an_estimate_that_saw_test_bags_says_so(small: Dataset) -> None:
    point: dict[str, Any] = {"psi": 8, "t": 20, "epsilon": "11/20", "c": 10}
    with pytest.warns(UserWarning, match="isk used the features of test bags") as said:
        found = bagwise.evaluate(small.bags, small.y, "isk", folds=3, params={**point, "pool": "all"})
    assert said[0].filename == __file__
    assert found.optimistic and found.saw_test_bags == ["isk"]
    found = bagwise.evaluate(small.bags, small.y, "isk", folds=3, params=point)
    assert not found.optimistic and not found.saw_test_bags


def test_folds_and_words_are_those_of_the_library(small: Dataset) -> None:
    given: dict[str, Any] = {"params": {"c": 10, "gamma": 1}}
    groups = np.arange(len(small.bags)) % 8
    for protocol, owners, folds in (("kfold", None, 10), ("kfold", groups, 8), ("half", None, 5)):
        found = bagwise.evaluate(small.bags, small.y, "simple-mi", protocol=protocol, groups=owners, **given)
        assert found[0]["fits"] == folds
    with pytest.raises(ValueError, match="precision is 'half'; give 'f64', 'f32'"):
        bagwise.evaluate(small.bags, small.y, "simple-mi", precision="half", **given)
    with pytest.raises(ValueError, match="task 'ranking'.*auto, classification, regression"):
        bagwise.read("synthetic:gauss?bags=12&features=2", task="ranking")


def test_a_generator_is_asked_for_one_seed(small: Dataset) -> None:
    options: dict[str, Any] = {"folds": 3, "params": {"c": 10, "gamma": 1}}
    state = np.random.RandomState(7)
    drawn = bagwise.evaluate(small.bags, small.y, "simple-mi", random_state=state, **options)
    seed = int(np.random.RandomState(7).randint(np.iinfo(np.int32).max))
    given = bagwise.evaluate(small.bags, small.y, "simple-mi", random_state=seed, **options)
    assert [r["scored"] for r in drawn.records] == [r["scored"] for r in given.records]
    again = np.random.RandomState(7)
    again.randint(np.iinfo(np.int32).max)
    assert state.randint(1000) == again.randint(1000)


def test_a_threshold_is_met(small: Dataset) -> None:
    y = small.y.copy()
    low = MIKernelClassifier(decision_threshold="recall=1").fit(small.bags, y).predict(small.bags)
    assert (low[y == 1] == 1).mean() >= (
        MIKernelClassifier().fit(small.bags, y).predict(small.bags)[y == 1] == 1
    ).mean()


def test_strange_bags_are_not_familiar(small: Dataset) -> None:
    model = MIKernelClassifier().fit(small.bags, small.y)
    assert model.familiar(small.bags).mean() > 0.8
    assert not model.familiar([np.full((2, 3), 1e3)])[0]


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, np.float64(np.inf)])
def test_numbers_that_are_not_finite_are_refused_by_name(value: Any, small: Dataset) -> None:
    for name, message in (
        ("c", "parameter c of mi-kernel: -?(inf|nan) is not allowed"),
        ("gamma", "parameter gamma of mi-kernel: -?(inf|nan) is not allowed"),
        ("decision_threshold", "threshold '-?(inf|nan)': not a finite number"),
    ):
        with pytest.raises(ValueError, match=message):
            MIKernelClassifier(**{name: value}).fit(small.bags, small.y)
    with pytest.raises(ValueError, match="threshold '-?(inf|nan)': not a finite number"):
        bagwise.fit(small.bags, small.y, method="mi-kernel", params={"c": 1}, decision_threshold=value)


def test_memory_without_limit(small: Dataset, tmp_path: Path) -> None:
    wanted = MIKernelClassifier(c=10).fit(small.bags, small.y).predict(small.bags)
    for memory in (np.inf, np.float64(np.inf), 1e30, 2**70):
        model = MIKernelClassifier(c=10, memory=memory).fit(small.bags, small.y)
        model.save(tmp_path / "m.bagwise")
        assert bagwise.load(tmp_path / "m.bagwise").memory == memory
        assert np.array_equal(model.predict(small.bags), wanted)
    for memory in (np.nan, -np.inf):
        with pytest.raises(ValueError, match="memory is .*give bytes, at least 1e6, or inf for no limit"):
            MIKernelClassifier(memory=memory).fit(small.bags, small.y)
