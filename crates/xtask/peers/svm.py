"""The scikit-learn side of `cargo xtask bench svm`.

    svm.py grams DIR DATA   writes NAME.gram and NAME.y (raw f64) for Musk1, Elephant and 2,000 random points
    svm.py time DIR REPEATS prints one line for each fit: id seconds objective

Musk1 and Elephant: bags as means of their instances, standardised, RBF with gamma 1 / features.
Random points: standard normal in 10 dimensions, RBF with gamma 0.1, a noisy nonlinear rule.
"""

import csv
import gzip
import os
import sys
import time
import warnings

import numpy as np
import sklearn
from sklearn.svm import SVC, SVR

COSTS = [1.0, 100.0]
TUBE = 0.1
PATH = [0.125 * 2.0**k for k in range(10)]
FOLDS = 10


def rbf(x, gamma):
    sq = (x * x).sum(1)
    return np.exp(-gamma * np.maximum(sq[:, None] + sq[None, :] - 2 * x @ x.T, 0))


def bag_means(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as file:
        rows = list(csv.reader(file))[1:]
    bags = {}
    for row in rows:
        bags.setdefault(row[0], (float(row[1]), []))[1].append([float(v) for v in row[2:]])
    x = np.array([np.mean(instances, axis=0) for _, instances in bags.values()])
    y = np.array([1.0 if label > 0 else -1.0 for label, _ in bags.values()])
    spread = x.std(0)
    return (x - x.mean(0)) / np.where(spread > 0, spread, 1.0), y


def grams(folder, data):
    rng = np.random.default_rng(0)
    for name, file in [("musk1", "musk1.csv"), ("elephant", "elephant.csv.gz")]:
        path = os.path.join(data, file)
        if not os.path.exists(path):
            print(f"no {file} in the data folder: {name} left out", file=sys.stderr)
            continue
        x, y = bag_means(path)
        order = rng.permutation(len(y))  # the files list one class after the other; folds need both
        save(folder, name, rbf(x[order], 1 / x.shape[1]), y[order])
    x = rng.normal(size=(2000, 10))
    margin = np.sin(x[:, 0]) + 0.5 * x[:, 1] * x[:, 2] + rng.normal(scale=0.5, size=2000)
    save(folder, "random2000", rbf(x, 0.1), np.where(margin > 0, 1.0, -1.0))


def save(folder, name, gram, y):
    np.ascontiguousarray(gram).tofile(os.path.join(folder, name + ".gram"))
    y.tofile(os.path.join(folder, name + ".y"))


def objective(gram, y, tube, machine):
    b = np.zeros(len(y))
    b[machine.support_] = machine.dual_coef_.ravel()
    return float(0.5 * b @ gram @ b - y @ b + tube * np.abs(b).sum())


def best(repeats, run):
    """The fastest of `repeats` runs, or of as many more as half a second holds."""
    seconds = []
    while len(seconds) < repeats or (repeats > 1 and sum(seconds) < 0.5):
        start = time.perf_counter()
        result = run()
        seconds.append(time.perf_counter() - start)
    return min(seconds), result


def paths(gram, y):
    """Ten costs in ten folds; the scores of the held-out part are part of the work."""
    n = len(y)
    right = 0
    for fold in range(FOLDS):
        test = np.arange(fold, n, FOLDS)
        train = np.setdiff1d(np.arange(n), test)
        inner, cross = gram[np.ix_(train, train)], gram[np.ix_(test, train)]
        for cost in PATH:
            machine = SVC(kernel="precomputed", C=cost).fit(inner, y[train])
            right += int((machine.decision_function(cross) * y[test] > 0).sum())
    return right


def timings(folder, repeats):
    print("version", sklearn.__version__, np.__version__)
    for name in ["musk1", "elephant", "random2000"]:
        if not os.path.exists(os.path.join(folder, name + ".gram")):
            continue
        y = np.fromfile(os.path.join(folder, name + ".y"))
        gram = np.fromfile(os.path.join(folder, name + ".gram")).reshape(len(y), len(y))
        for tolerance, times in [("1e-3", repeats), ("1e-6", 1)]:
            for cost in COSTS:
                options = dict(kernel="precomputed", C=cost, tol=float(tolerance), cache_size=500)
                seconds, svc = best(times, lambda: SVC(**options).fit(gram, y))
                print(f"{name}/svc/C={cost:g}/tol={tolerance}", seconds, objective(gram, y, 0.0, svc))
                seconds, svr = best(times, lambda: SVR(epsilon=TUBE, **options).fit(gram, y))
                print(f"{name}/svr/C={cost:g}/tol={tolerance}", seconds, objective(gram, y, TUBE, svr))
        seconds, right = best(max(1, repeats // 3), lambda: paths(gram, y))
        print(f"{name}/paths", seconds, right)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if sys.argv[1] == "grams":
        grams(sys.argv[2], sys.argv[3])
    else:
        timings(sys.argv[2], int(sys.argv[3]))
