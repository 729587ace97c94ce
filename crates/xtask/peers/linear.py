"""The scikit-learn side of `cargo xtask bench linear`: misvm's loops with SVC(kernel="linear") as their machine.

    linear.py FILE METHOD C FOLDS    prints "cpu SECONDS", "machines N" and "accuracy SHARE" for the first FOLDS of ten folds

METHOD is sil (instances have the labels of their bags), mi-svm (instances of positive bags are labelled again by every
machine, one of a bag positive at least) or mi-svm-bag (a positive bag is its mean, then the instance with the largest
output). Columns are standardised by the training bags.
"""

import csv
import gzip
import sys
import time

import numpy as np
import sklearn
from sklearn.svm import SVC

LIMIT = 50


def read(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as file:
        rows = list(csv.reader(file))[1:]
    bags = {}
    for row in rows:
        bags.setdefault(row[0], (1 if float(row[1]) > 0 else -1, []))[1].append([float(v) for v in row[2:]])
    return [np.array(b) for _, b in bags.values()], np.array([y for y, _ in bags.values()])


def machine(x, y, c):
    return SVC(C=c, kernel="linear", tol=1e-3).fit(x, y)


def sil(bags, y, c):
    return machine(np.vstack(bags), np.repeat(y, [len(b) for b in bags]), c), 1


def mi_svm(bags, y, c):
    x = np.vstack(bags)
    starts = np.cumsum([0] + [len(b) for b in bags])
    labels = np.repeat(y, np.diff(starts))
    past = set()
    for trained in range(1, LIMIT + 1):
        last = machine(x, labels, c)
        f = last.decision_function(x)
        after = labels.copy()
        for a, b, positive in zip(starts[:-1], starts[1:], y > 0):
            if positive:
                after[a:b] = np.where(f[a:b] > 0, 1, -1)
                after[a + np.argmax(f[a:b])] = 1
        if np.array_equal(after, labels) or after.tobytes() in past:
            break
        past.add(labels.tobytes())
        labels = after
    return last, trained


def mi_svm_bag(bags, y, c):
    negative = np.vstack([b for b, label in zip(bags, y) if label < 0])
    positive = [b for b, label in zip(bags, y) if label > 0]
    labels = np.r_[np.ones(len(positive)), -np.ones(len(negative))]
    witness, past = None, set()
    for trained in range(1, LIMIT + 1):
        own = [b.mean(0) if witness is None else b[w] for b, w in zip(positive, witness or positive)]
        last = machine(np.vstack([*own, negative]), labels, c)
        after = [int(np.argmax(last.decision_function(b))) for b in positive]
        if after == witness or tuple(after) in past:
            break
        past.add(tuple(witness or []))
        witness = after
    return last, trained


def main(path, method, c, folds):
    bags, y = read(path)
    fold = np.empty(len(y), dtype=int)
    rng = np.random.default_rng(0)
    order = np.concatenate([rng.permutation(np.flatnonzero(y == label)) for label in (1, -1)])
    fold[order] = np.arange(len(y)) % 10
    learn = {"sil": sil, "mi-svm": mi_svm, "mi-svm-bag": mi_svm_bag}[method]
    right = machines = tested = 0
    started = time.process_time()
    for k in range(folds):
        train, test = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
        stacked = np.vstack([bags[i] for i in train])
        mean, spread = stacked.mean(0), stacked.std(0)
        spread[spread == 0] = 1
        scaled = [(b - mean) / spread for b in bags]
        last, trained = learn([scaled[t] for t in train], y[train], c)
        machines += trained
        tested += len(test)
        right += sum((last.decision_function(scaled[t]).max() > 0) == (y[t] > 0) for t in test)
    print("cpu", time.process_time() - started)
    print("machines", machines)
    print("accuracy", right / tested)
    print("version", sklearn.__version__)


main(sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4]))
