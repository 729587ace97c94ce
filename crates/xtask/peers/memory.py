"""What training and predicting take in memory beside the data: every case in a process of its own.

    memory.py BAGWISE [GB] [BUDGET_GB] [WORDS…]

Bags of 130 x 1024 in single precision (for mi-kernel, whose time is quadratic in instances, of 2 x 131072), GB gigabytes of them, as a list, as (X, ids) and as a pandas frame in Python, and as a
Parquet file and a folder of `.npy` files on the command line; 2 GB and the usual budget of 4 GB if nothing is said. Bars: in Python 1.1 times the data and the memory budget, on
the command line the data, the budget and 0.2 GB. Words choose methods and forms. Ends with an error if a bar is missed.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

#: Instances and features of a bag.
Shape = tuple[int, int]
USUAL: Shape = (130, 1024)
#: Methods with one setting each, for `fit` and for the command line, and the shape of their bags.
METHODS: dict[str, tuple[str, dict[str, Any], Shape]] = {
    "simple-mi": ("SimpleMIClassifier", {}, USUAL),
    "isk": ("ISKClassifier", {"psi": 16, "t": 20}, USUAL),
    "mi-kernel": ("MIKernelClassifier", {"gamma": 1e-4}, (2, 131_072)),
}
FORMS = ("list", "arrays", "frame")


def bytes_of(shape: Shape) -> int:
    return 4 * shape[0] * shape[1]


def bag(number: int, shape: Shape) -> np.ndarray:
    values = np.random.default_rng(number).standard_normal(shape, dtype=np.float32)
    values[0, :64] += np.float32(number % 2)
    return values


def made(form: str, bags: int, shape: Shape) -> tuple[Any, np.ndarray, np.ndarray | None]:
    """The data in one form, without a second copy of them."""
    y = np.arange(bags) % 2
    if form == "list":
        return [bag(b, shape) for b in range(bags)], y, None
    each, width = shape
    values = np.empty((bags * each, width), np.float32)
    for b in range(bags):
        values[b * each : (b + 1) * each] = bag(b, shape)
    ids = np.repeat(np.arange(bags), each)
    if form == "arrays":
        return values, y, ids
    import pandas as pd

    frame = pd.DataFrame(values, columns=[f"f{i}" for i in range(width)], copy=False)
    frame.insert(0, "bag", ids)
    return frame, y, None


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1.0 if sys.platform == "darwin" else 1024.0)


def child(method: str, form: str, size: float, budget: float) -> None:
    """One case: prints the peaks before, after training and after predicting."""
    import bagwise

    name, params, shape = METHODS[method]
    data, y, ids = made(form, round(size / bytes_of(shape)), shape)
    before = peak()
    model = getattr(bagwise, name)(memory=budget, probability=False, n_jobs=2, **params)
    given = data if ids is None else (data, ids)
    model.fit(given, y)
    trained = peak()
    model.predict(given)
    print(before, trained, peak())


def in_python(method: str, form: str, size: float, budget: float) -> bool:
    words = [sys.executable, __file__, "--child", method, form, str(size), str(budget)]
    said = subprocess.run(words, capture_output=True, text=True)
    if said.returncode != 0:
        print(f"  {method:10} {form:10} failed: {said.stderr.strip().splitlines()[-1]}", flush=True)
        return False
    before, trained, after = map(float, said.stdout.split())
    bar = 1.1 * size + budget
    verdict = "ok" if after <= bar else "MISSED"
    peaks = f"data {before / 1e9:5.2f}  fit {trained / 1e9:5.2f}  predict {after / 1e9:5.2f}"
    print(f"  {method:10} {form:10} {peaks}  bar {bar / 1e9:5.2f} GB: {verdict}", flush=True)
    return after <= bar


#: Runs a program and prints what it took. A process between us and the program: the peak of a program counts that of the process
#: that started it, and we may have made large data before.
RUN = """
import os, sys
child = os.fork()
if child == 0:
    os.execv(sys.argv[1], sys.argv[1:])
_, status, used = os.wait4(child, 0)
unit = 1 if sys.platform == "darwin" else 1024
print("\\n", status, used.ru_utime + used.ru_stime, used.ru_maxrss * unit)
"""


def cost(command: list[str]) -> float:
    """Runs a program; its peak."""
    said = subprocess.run([sys.executable, "-c", RUN, *command], stdout=subprocess.PIPE, text=True, check=True)
    status, _, peak = map(float, said.stdout.splitlines()[-1].split())
    if status != 0:
        raise SystemExit(f"{' '.join(command)} failed")
    return peak


def written(folder: Path, bags: int, shape: Shape) -> list[list[str]]:
    """The data as a Parquet file and as a folder of `.npy` files, as words of the command line."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    each, width = shape
    files = folder / "bags"
    files.mkdir()
    names = pa.schema([("bag", pa.int32()), ("label", pa.int32()), *((f"f{i}", pa.float32()) for i in range(width))])
    table = pq.ParquetWriter(folder / "bags.parquet", names, use_dictionary=False)
    with (folder / "labels.csv").open("w") as labels, table:
        labels.write("bag,label\n")
        for start in range(0, bags, 64):
            some = range(start, min(start + 64, bags))
            values = [bag(b, shape) for b in some]
            for b, own in zip(some, values, strict=True):
                np.save(files / f"{b}.npy", own)
                labels.write(f"{b},{b % 2}\n")
            of_rows = np.repeat(np.array(some, np.int32), each)
            columns = [of_rows, of_rows % 2, *np.ascontiguousarray(np.concatenate(values).T)]
            table.write_table(pa.table([pa.array(c) for c in columns], names))
    return [[str(folder / "bags.parquet")], [str(files), "--labels", str(folder / "labels.csv")]]


def on_command_line(bagwise: str, method: str, size: float, budget: float) -> bool:
    _, params, shape = METHODS[method]
    bar = size + budget + 0.2e9
    held = True
    given = [f"{key}={value}" for key, value in params.items()]
    given += {"simple-mi": [], "isk": ["epsilon=1", "c=8"], "mi-kernel": ["norm=mean"]}[method]
    given += {"simple-mi": ["c=1", "gamma=1/median"], "isk": [], "mi-kernel": ["c=1"]}[method]
    point = [word for pair in given for word in ("-p", pair)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for source in written(folder, round(size / bytes_of(shape)), shape):
            model, output = str(folder / "m.bagwise"), str(folder / "p.csv")
            words = [*source, "--memory", f"{budget / 1e9:g}GB", "--threads", "2", "--quiet"]
            trained = cost([bagwise, "fit", *words, "--method", method, *point, "--inner", "2", "-o", model])
            answered = cost([bagwise, "predict", model, *words, "--stream=never", "-o", output, "--force"])
            most = max(trained, answered)
            held &= most <= bar
            form = "Parquet" if source[0].endswith("parquet") else "npy files"
            peaks = f"            fit {trained / 1e9:5.2f}  predict {answered / 1e9:5.2f}"
            verdict = "ok" if most <= bar else "MISSED"
            print(f"  {method:10} {form:10} {peaks}  bar {bar / 1e9:5.2f} GB: {verdict}", flush=True)
    return held


def main() -> None:
    if sys.argv[1] == "--child":
        child(sys.argv[2], sys.argv[3], float(sys.argv[4]), float(sys.argv[5]))
        return
    bagwise, rest = sys.argv[1], sys.argv[2:]
    size = 1e9 * (float(rest.pop(0)) if rest else 2.0)
    budget = 1e9 * (float(rest.pop(0)) if rest else 4.0)
    methods = [name for name in METHODS if name in rest] or list(METHODS)
    forms = [form for form in (*FORMS, "cli") if form in rest] or [*FORMS, "cli"]
    print(f"{size / 1e9:g} GB of bags in single precision; memory {budget / 1e9:g} GB", flush=True)
    held = [in_python(method, form, size, budget) for form in forms if form != "cli" for method in methods]
    if "cli" in forms:
        held += [on_command_line(bagwise, method, size, budget) for method in methods]
    if not all(held):
        raise SystemExit("a bar is missed")


if __name__ == "__main__":
    main()
