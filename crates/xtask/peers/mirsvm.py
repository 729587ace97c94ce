"""The scikit-learn side of `cargo xtask bench mirsvm`: the loop of MIRSVM with SVC as its machine.

    mirsvm.py FILE FOLDS    prints "cpu SECONDS", "rounds N", "fits N" and "best ACCURACY" for FOLDS of ten folds

Columns are standardised by the training bags; every cell of the grid is fitted once per fold, from the first instance of
every bag, until the representatives stay, return, or a hundred machines are trained.
"""

import csv
import gzip
import sys
import time

import numpy as np
import sklearn
from sklearn.svm import SVC

COSTS = [0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0]
SIGMAS = [0.1, 0.5, 1.0, 2.0, 5.0, 10.0]
LIMIT = 100


def read(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as file:
        rows = list(csv.reader(file))[1:]
    bags = {}
    for row in rows:
        bags.setdefault(row[0], (1 if float(row[1]) > 0 else -1, []))[1].append([float(v) for v in row[2:]])
    return [np.array(b) for _, b in bags.values()], np.array([y for y, _ in bags.values()])


def search(bags, y, c, sigma):
    x = np.vstack(bags)
    starts = np.cumsum([0] + [len(b) for b in bags])
    chosen = starts[:-1].copy()
    past = set()
    rounds = 0
    while True:
        machine = SVC(C=c, gamma=1 / (2 * sigma * sigma), tol=1e-3).fit(x[chosen], y)
        rounds += 1
        f = machine.decision_function(x)
        after = np.array([a + np.argmax(f[a:b]) for a, b in zip(starts[:-1], starts[1:])])
        if np.array_equal(after, chosen) or after.tobytes() in past or rounds == LIMIT:
            return machine, rounds
        past.add(chosen.tobytes())
        chosen = after


def main(path, folds):
    bags, y = read(path)
    fold = np.empty(len(y), dtype=int)
    rng = np.random.default_rng(0)
    order = np.concatenate([rng.permutation(np.flatnonzero(y == label)) for label in (1, -1)])
    fold[order] = np.arange(len(y)) % 10
    right = np.zeros((len(COSTS), len(SIGMAS)))
    tested = rounds = fits = 0
    started = time.process_time()
    for k in range(folds):
        train, test = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
        stacked = np.vstack([bags[i] for i in train])
        mean, spread = stacked.mean(0), stacked.std(0)
        spread[spread == 0] = 1
        scaled = [(b - mean) / spread for b in bags]
        for i, c in enumerate(COSTS):
            for j, sigma in enumerate(SIGMAS):
                machine, took = search([scaled[t] for t in train], y[train], c, sigma)
                rounds += took
                fits += 1
                said = [1 if machine.decision_function(scaled[t]).max() >= 0 else -1 for t in test]
                right[i, j] += np.sum(said == y[test])
        tested += len(test)
    print("cpu", time.process_time() - started)
    print("rounds", rounds)
    print("fits", fits)
    print("best", right.max() / tested)
    print("version", sklearn.__version__)


main(sys.argv[1], int(sys.argv[2]))
