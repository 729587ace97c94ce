"""The scikit-learn side of `cargo xtask bench comparators`.

    comparators.py FILE SOLVER    prints "cpu SECONDS" and "accuracy SHARE" for ten folds

MIWrapper as written down: instances have the labels of their bags and weights that sum to 1 over a bag, a logistic regression
learns from all of them, and a bag is as probable as its instances on average. Columns go to 0..1 by the training bags.
"""

import csv
import gzip
import sys
import time

import numpy as np
from sklearn.linear_model import LogisticRegression


def read(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as file:
        rows = list(csv.reader(file))[1:]
    bags = {}
    for row in rows:
        bags.setdefault(row[0], (1 if float(row[1]) > 0 else -1, []))[1].append([float(v) for v in row[2:]])
    return [np.array(b) for _, b in bags.values()], np.array([y for y, _ in bags.values()])


def main(path, solver):
    bags, y = read(path)
    fold = np.empty(len(y), dtype=int)
    rng = np.random.default_rng(0)
    order = np.concatenate([rng.permutation(np.flatnonzero(y == label)) for label in (1, -1)])
    fold[order] = np.arange(len(y)) % 10
    right = 0
    started = time.process_time()
    for k in range(10):
        train, test = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
        x = np.vstack([bags[i] for i in train])
        low, span = x.min(0), np.ptp(x, axis=0)
        span[span == 0] = 1
        size = np.array([len(bags[i]) for i in train])
        # Our tolerance: slopes of 1e-11 are beyond lbfgs, which ends where it sees no progress.
        tight = 1e-10 if solver == "newton-cholesky" else 1e-6
        model = LogisticRegression(C=1.0, solver=solver, tol=tight, max_iter=10000)
        model.fit((x - low) / span, np.repeat(y[train], size), np.repeat(1.0 / size, size))
        for t in test:
            right += (model.predict_proba((bags[t] - low) / span)[:, 1].mean() > 0.5) == (y[t] > 0)
    print("cpu", time.process_time() - started)
    print("accuracy", right / len(y))


main(sys.argv[1], sys.argv[2])
