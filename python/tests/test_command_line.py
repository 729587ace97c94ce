"""The command that comes with the wheel, and the same numbers from both."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import bagwise
from bagwise import Bags, MIKernelClassifier


def command(*words: str | Path, folder: Path, code: int = 0) -> str:
    """Runs the installed script, which stands beside the interpreter."""
    name = "bagwise.exe" if os.name == "nt" else "bagwise"
    program = Path(sys.executable).with_name(name)
    done = subprocess.run([program, *words], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done.stdout if code == 0 else done.stderr


def test_the_command_is_the_program(tmp_path: Path) -> None:
    assert command("--version", folder=tmp_path).split() == ["bagwise", bagwise.__version__]
    assert "mi-kernel" in command("methods", folder=tmp_path)
    assert "unknown method" in command("fit", "musk1", "--method", "x", "-o", "m.bagwise", folder=tmp_path, code=2)
    assert "unexpected argument" in command("fit", "--nonsense", folder=tmp_path, code=2)
    module = [sys.executable, "-m", "bagwise", "--version"]
    assert subprocess.run(module, capture_output=True, text=True, check=True).stdout.split()[0] == "bagwise"


def test_a_fit_has_the_same_numbers(musk1: tuple[Bags, np.ndarray], tmp_path: Path) -> None:
    bags, y = musk1
    point = ["-p", "gamma=2/median", "-p", "norm=mean", "-p", "c=10"]
    command("fit", "musk1", "--method", "mi-kernel", *point, "--seed", "3", "-o", "m.bagwise", folder=tmp_path)
    there = bagwise.load(tmp_path / "m.bagwise")
    here = MIKernelClassifier(gamma="2/median", norm="mean", c=10, random_state=3).fit(bags, y)
    assert there.get_params()["gamma"] == "2/median"
    assert np.array_equal(there.classes_, here.classes_)
    assert np.array_equal(there.decision_function(bags), here.decision_function(bags))
    assert np.array_equal(there.predict_proba(bags), here.predict_proba(bags))
    here.save(tmp_path / "python.bagwise")
    told = [command("predict", m, "musk1", "--format", "csv", folder=tmp_path) for m in ("m.bagwise", "python.bagwise")]
    assert told[0] == told[1]


# Of the second method one instance decides.
@pytest.mark.parametrize(("method", "point"), [("mi-kernel", ["-p", "norm=mean"]), ("mi-svm-bag", [])])
def test_above_zero_is_the_second_class_whatever_the_command_was_told(
    method: str, point: list[str], musk1: tuple[Bags, np.ndarray], tmp_path: Path
) -> None:
    words = ["fit", "musk1", "--method", method, "-p", "gamma=0.5", "-p", "c=10", *point]
    command(*words, "--positive", "0", "-o", "m.bagwise", folder=tmp_path)
    model = bagwise.load(tmp_path / "m.bagwise")
    values = model.decision_function(musk1[0])
    assert np.array_equal(model.predict(musk1[0]), (values > 0).astype(int))
    why = model.explain(musk1[0])
    assert {e.machine for e in why} == {"1 vs 0"}
    assert all((e.chosen is None) == (method == "mi-kernel") for e in why)
    # The same sums in another order: rounding of a few thousand terms below 10 each.
    assert np.allclose([e.value for e in why], values, rtol=0, atol=1e-9)


def test_auto_chooses_the_same_model(tmp_path: Path) -> None:
    name = "synthetic:gauss?bags=30&features=3"
    data = bagwise.read(name)
    command("fit", name, "-o", "m.bagwise", folder=tmp_path)
    there, here = bagwise.load(tmp_path / "m.bagwise"), bagwise.fit(data.bags, data.y)
    assert type(there) is type(here)
    own = [p for p in here._parameters]
    assert {p: getattr(there, p) for p in own} == {p: getattr(here, p) for p in own}
    assert np.array_equal(there.decision_function(data.bags), here.decision_function(data.bags))


def test_an_evaluation_has_the_same_numbers(musk1: tuple[Bags, np.ndarray], tmp_path: Path) -> None:
    bags, y = musk1
    words = ["evaluate", "musk1", "--method", "mi-kernel", "-p", "c=1,10", "--folds", "5", "--repeats", "2"]
    there = json.loads(command(*words, "--seed", "1", "--format", "json", folder=tmp_path))
    here = bagwise.evaluate(bags, y, "mi-kernel", params={"c": [1, 10]}, folds=5, repeats=2, random_state=1)[0]
    for metric in ("accuracy", "roc_auc", "log_loss", "brier"):
        assert here[metric] == there[metric]["mean"]
    assert (here["low"], here["high"]) == tuple(there["accuracy"]["interval"][end] for end in ("low", "high"))


def test_a_comparison_has_the_same_numbers(tmp_path: Path) -> None:
    name = "synthetic:gauss?bags=40&features=3&groups=10"
    data = bagwise.read(name)
    words = ["compare", name, "--methods", "mi-kernel", "-p", "mi-kernel.c=1,10", "--folds", "4", "-o", "out"]
    there = json.loads(command(*words, "--format", "json", folder=tmp_path))
    params = {"mi-kernel": {"c": [1, 10]}}
    here = bagwise.compare(data.bags, data.y, groups=data.groups, methods=["mi-kernel"], params=params, folds=4)
    found = {row["method"]: row["accuracy"] for row in here}
    assert found == {m["method"]: m["accuracy"]["mean"] for m in there["methods"]}
    assert here.recommended == there["recommended"]
    for row in here.differences:
        line = next(m for m in there["methods"] if m["method"] == row["method"])
        kind = {"constant": "constant", here.best: "best"}.get(row["against"], "recommended")
        found = line[f"against_{kind}"]
        assert {k: row[k] for k in found} == {k: v for k, v in found.items() if v is not None}
    frame = here.to_frame()
    assert list(frame.index) == [row["method"] for row in here] and frame.loc[here.best, "against_best"] == "best"
    assert "mi-kernel" in repr(here) and here.sentence.endswith(".")
    page = here.report(tmp_path / "report.html", title="A title")
    assert page == (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "A title" in page and here.best in page
    assert "bagwise.compare in Python" in page
    again = pickle.loads(pickle.dumps(here))
    assert again.report(title="A title") == page
    # What the command's run leaves for a report, reasons included.
    shown = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    own = json.loads(here._text)["context"]
    for part in ("gram", "setups", "protocol", "notes", "metric", "threshold"):
        assert own[part] == shown[part]
    lines = (tmp_path / "out" / "records.jsonl").read_text(encoding="utf-8").splitlines()
    reasons = {(r["key"]["method"], r["key"]["fold"]): r.get("reasons") for r in map(json.loads, lines)}
    assert reasons == {(r["key"]["method"], r["key"]["fold"]): r.get("reasons") for r in here.records}
    assert "The instances that decided" in page
    alone = bagwise.evaluate(data.bags, data.y, "mi-kernel", params={"c": 10}, folds=3, decision_threshold="recall=0.9")
    page = alone.report()
    assert "bagwise.evaluate in Python" in page and "recall=0.9" in page
    assert "The instances that decided" in page and all(r["reasons"] for r in alone.records)
    assert here._repr_html_().startswith("<iframe")


def test_a_gram_has_the_same_numbers(musk1: tuple[Bags, np.ndarray], tmp_path: Path) -> None:
    words = ["gram", "musk1", "--method", "migraph", "-p", "gamma=0.5", "--output", "k.npy"]
    command(*words, folder=tmp_path)
    assert np.array_equal(np.load(tmp_path / "k.npy"), bagwise.gram(musk1[0], method="migraph", gamma=0.5))


@pytest.mark.parametrize("single", [0, 1])
def test_a_file_reads_as_its_source(single: int, tmp_path: Path) -> None:
    name = f"synthetic:gauss?bags=12&features=2&groups=4&f32={single}"
    command("convert", name, "x.csv", folder=tmp_path)
    table, source = bagwise.read(tmp_path / "x.csv"), bagwise.read(name)
    assert np.array_equal(table.y, source.y) and np.array_equal(table.groups, source.groups)
    assert np.array_equal(np.asarray(table.bags.instances), np.asarray(source.bags.instances, dtype=float))


def test_a_single_column_is_named_without_a_list(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("bag,label,shape,x\na,0,1,2\nb,1,3,4\n")
    assert bagwise.read(tmp_path / "x.csv", ignore="shape").bags.n_features == 1
    assert bagwise.read(tmp_path / "x.csv", keep="shape").bags.n_features == 1
