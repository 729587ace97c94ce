"""The Python side of `cargo xtask bench python`: ten-fold cross-validation of the set kernel on the same folds, by
bagwise, by ten lines of scikit-learn, by sawmil's NSK and by Weka's MISMO.

    python.py SETS REPEATS [weka.jar]     SETS: names of data sets, separated by commas

One setting: gamma 0.5, cosine, C 10, features scaled to 0..1 on the training bags of each fold. Tuned: eleven gammas
and three costs, chosen by five inner folds of each training part. Times are wall-clock, best of REPEATS, each with
the processor time of that run behind it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

import bagwise

GAMMA, COST = 0.5, 10.0
GAMMAS = [2.0**e for e in range(-5, 6)]
COSTS = [1.0, 10.0, 100.0]


def best(repeats, work):
    """The shortest time of some runs with its processor time, and the result."""
    times = []
    for _ in range(repeats):
        start, busy = time.perf_counter(), time.process_time()
        found = work()
        times.append((time.perf_counter() - start, time.process_time() - busy))
    return *min(times), found


# Ten lines of scikit-learn: the Gram of one fold, scaled on its training bags.
def scaled(train, test):
    scaler = MinMaxScaler().fit(np.concatenate(train))
    return [scaler.transform(b) for b in train], [scaler.transform(b) for b in test]


def sums(rows, columns, gamma):
    kernel = np.exp(-gamma * euclidean_distances(np.concatenate(rows), np.concatenate(columns), squared=True))
    starts = [np.cumsum([0] + [len(b) for b in bags[:-1]]) for bags in (rows, columns)]
    return np.add.reduceat(np.add.reduceat(kernel, starts[0], axis=0), starts[1], axis=1)


def own(bags, gamma):
    """The self-similarity of each bag."""
    return np.sqrt([np.exp(-gamma * euclidean_distances(b, squared=True)).sum() for b in bags])


def gram(rows, columns, gamma):
    norms = own(columns, gamma)
    return sums(rows, columns, gamma) / np.outer(norms if rows is columns else own(rows, gamma), norms)


def by_sklearn(bags, y, folds):
    right = 0
    for train, test in folds:
        a, b = scaled([bags[i] for i in train], [bags[i] for i in test])
        model = SVC(kernel="precomputed", C=COST).fit(gram(a, a, GAMMA), y[train])
        right += (model.predict(gram(b, a, GAMMA)) == y[test]).sum()
    return right / len(y)


def by_sklearn_tuned(bags, y, folds):
    right = 0
    inner = StratifiedKFold(5, shuffle=True, random_state=0)
    for train, test in folds:
        a, b = scaled([bags[i] for i in train], [bags[i] for i in test])
        searches = []
        for gamma in GAMMAS:
            search = GridSearchCV(SVC(kernel="precomputed"), {"C": COSTS}, cv=inner)
            searches.append((search.fit(gram(a, a, gamma), y[train]), gamma))
        chosen, gamma = max(searches, key=lambda s: s[0].best_score_)
        right += (chosen.predict(gram(b, a, gamma)) == y[test]).sum()
    return right / len(y)


def by_sawmil(bags, y, folds):
    from sawmil import NSK, RBF, Bag

    right = 0
    for train, test in folds:
        a, b = scaled([bags[i] for i in train], [bags[i] for i in test])
        model = NSK(C=COST, kernel=RBF(gamma=GAMMA), solver="osqp", normalizer="featurespace", scale_C=False)
        model.fit([Bag(x, y=int(v)) for x, v in zip(a, y[train], strict=True)])
        said = model.predict([Bag(x, y=0) for x in b])
        right += (np.asarray(said) == y[test]).sum()
    return right / len(y)


def arff(path, bags, y):
    """Multi-instance data as Weka reads it. Names of bags must be the same list in training and test files."""
    with open(path, "w") as file:
        names = ",".join(str(i) for i in range(1000))
        file.write(f"@relation bags\n@attribute id {{{names}}}\n@attribute bag relational\n")
        file.writelines(f"@attribute f{i} numeric\n" for i in range(bags[0].shape[1]))
        file.write("@end bag\n@attribute class {0,1}\n@data\n")
        for i, (bag, label) in enumerate(zip(bags, y, strict=True)):
            rows = "\\n".join(",".join(repr(float(v)) for v in row) for row in bag)
            file.write(f"{i},'{rows}',{label}\n")


def by_weka(jar, bags, y, folds):
    """The times that Weka itself reports for building models: without testing, starting Java and reading files."""
    seconds, right = 0.0, 0
    with tempfile.TemporaryDirectory() as folder:
        for train, test in folds:
            a, b = scaled([bags[i] for i in train], [bags[i] for i in test])
            arff(f"{folder}/a.arff", a, y[train])
            arff(f"{folder}/b.arff", b, y[test])
            kernel = f"weka.classifiers.mi.supportVector.MIRBFKernel -C 250007 -G {GAMMA}"
            words = ["-t", f"{folder}/a.arff", "-T", f"{folder}/b.arff", "-c", "last"]
            words += ["-C", str(COST), "-N", "2", "-K", kernel]
            command = ["java", "-Xmx3g", "-cp", jar, "weka.classifiers.mi.MISMO", *words]
            said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            seconds += float(re.search(r"Time taken to build model: ([\d.]+) sec", said).group(1))
            # Those of the training bags come first.
            right += int(re.findall(r"Correctly Classified Instances\s+(\d+)", said)[-1])
    return seconds, None, right / len(y)


def by_command(name, fold, folder, words):
    """The command line on the same folds: the seconds it reports, and the accuracy."""
    data = bagwise.read(name)
    with open(folder / "folds.csv", "w") as file:
        file.write("bag,fold\n")
        file.writelines(f"{bag},{f}\n" for bag, f in zip(data.bags.ids, fold, strict=True))
    program = Path(sys.executable).with_name("bagwise")
    line = [program, "evaluate", name, "--method", "mi-kernel", "--fold-file", folder / "folds.csv", "--format", "json"]
    said = subprocess.run([*line, "--scale", "minmax", "--quiet", *words], capture_output=True, text=True, check=True)
    found = json.loads(said.stdout)
    return found["seconds"], None, found["accuracy"]["mean"]


def row(label, seconds, busy, accuracy, ours):
    busy = "      -  " if busy is None else f"{busy:>7.3f} s"
    line = f"  {label:<34} {seconds:>9.3f} s  {busy} busy  {seconds / ours:>7.1f}x  accuracy {accuracy:.4f}"
    print(line, flush=True)


def main():
    names, repeats, jar = sys.argv[1].split(","), int(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else None
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as scratch:
        for name in names:
            bags, y = bagwise.datasets.load(name)
            several = [np.asarray(b) for b in bags]
            folds = list(StratifiedKFold(10, shuffle=True, random_state=0).split(y, y))
            fold = np.empty(len(y), dtype=int)
            for f, (_, test) in enumerate(folds):
                fold[test] = f
            print(f"{name}: {len(bags)} bags, {bags.n_instances} instances, {os.cpu_count()} cores")
            one(name, bags, several, y, folds, fold, repeats, jar, Path(scratch))
            tuned(name, bags, several, y, folds, fold, repeats, Path(scratch))


def one(name, bags, several, y, folds, fold, repeats, jar, scratch):
    point = {"gamma": GAMMA, "norm": "sqrt", "c": COST}
    ours, found = best(
        repeats, lambda: bagwise.evaluate(bags, y, "mi-kernel", params=point, folds=fold, scale="minmax")
    )
    print(" one setting")
    row("bagwise.evaluate", ours, found[0]["accuracy"], ours)

    def estimator():
        right = 0
        for train, test in folds:
            model = bagwise.MIKernelClassifier(scale="minmax", **point).fit(bags[train], y[train])
            right += (model.predict(bags[test]) == y[test]).sum()
        return right / len(y)

    row("MIKernelClassifier, fold by fold", *best(repeats, estimator), ours)
    given = [w for k, v in point.items() for w in ("-p", f"{k}={v}")]
    row("command line", *min(by_command(name, fold, scratch, given) for _ in range(repeats)), ours)
    row("scikit-learn, ten lines", *best(repeats, lambda: by_sklearn(several, y, folds)), ours)
    try:
        row("sawmil NSK (osqp)", *best(1, lambda: by_sawmil(several, y, folds)), ours)
    except Exception as error:
        print(f"  sawmil NSK: {type(error).__name__}: {error}")
    if jar:
        row("Weka MISMO (sum kernel), building", *by_weka(jar, several, y, folds), ours)


def tuned(name, bags, several, y, folds, fold, repeats, scratch):
    grid = {"gamma": GAMMAS, "norm": "sqrt", "c": COSTS}
    ours, busy, found = best(
        repeats, lambda: bagwise.evaluate(bags, y, "mi-kernel", params=grid, folds=fold, scale="minmax")
    )
    print(" tuned, nested")
    row("bagwise.evaluate", ours, busy, found[0]["accuracy"], ours)
    words = ["-p", "gamma=2^-5..2^5", "-p", "norm=sqrt", "-p", "c=1,10,100"]
    theirs, busy, accuracy = min(by_command(name, fold, scratch, words) for _ in range(repeats))
    row("command line", theirs, busy, accuracy, ours)
    print(f"  overhead over the command line: {100 * (ours / theirs - 1):+.1f} %")
    row("scikit-learn", *best(1, lambda: by_sklearn_tuned(several, y, folds)), ours)


main()
