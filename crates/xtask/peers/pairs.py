"""What the pairs engine is measured against: the two ways a Python user computes a set kernel's Gram.

    pairs.py data MUSK2.csv.gz FOLDER     scaled instances and offsets, as raw little-endian numbers
    pairs.py time FOLDER REPEATS          CPU seconds of eleven Grams, one gamma after the other

(a) a loop over pairs of bags, upper triangle, squared distances by one matrix product each;
(b) scikit-learn's rbf_kernel on all instances, then sums of blocks.
"""

import csv
import gzip
import pathlib
import sys
import time

import numpy as np

GAMMAS = [2.0**e for e in range(-5, 6)]


def data(source, folder):
    with (gzip.open if source.endswith(".gz") else open)(source, "rt") as file:
        rows = list(csv.reader(file))[1:]
    bags = [row[0] for row in rows]
    x = np.array([[float(v) for v in row[2:]] for row in rows])
    low, range_ = x.min(0), x.max(0) - x.min(0)
    x = np.where(range_ > 0, (x - low) / np.where(range_ > 0, range_, 1), 0)
    offsets = [0] + [i for i in range(1, len(bags)) if bags[i] != bags[i - 1]] + [len(bags)]
    x.astype("<f8").tofile(folder / "instances")
    np.array(offsets, "<u8").tofile(folder / "offsets")


def by_pairs_of_bags(x, offsets, gamma):
    n = len(offsets) - 1
    squares = (x * x).sum(1)
    gram = np.empty((n, n))
    for i in range(n):
        rows = slice(offsets[i], offsets[i + 1])
        for j in range(i, n):
            cols = slice(offsets[j], offsets[j + 1])
            distances = squares[rows, None] + squares[None, cols] - 2 * (x[rows] @ x[cols].T)
            gram[i, j] = gram[j, i] = np.exp(-gamma * np.maximum(distances, 0)).sum()
    return gram


def by_rbf_kernel(x, offsets, gamma):
    from sklearn.metrics.pairwise import rbf_kernel

    k = rbf_kernel(x, gamma=gamma)
    return np.add.reduceat(np.add.reduceat(k, offsets[:-1], axis=0), offsets[:-1], axis=1)


def measure(folder, repeats):
    import sklearn

    offsets = np.fromfile(folder / "offsets", "<u8").astype(int)
    x = np.fromfile(folder / "instances", "<f8").reshape(offsets[-1], -1)
    print("versions", np.__version__, sklearn.__version__)
    for name, function in (("a", by_pairs_of_bags), ("b", by_rbf_kernel)):
        seconds = []
        for _ in range(repeats):
            start = time.process_time()
            grams = [function(x, offsets, gamma) for gamma in GAMMAS]
            seconds.append(time.process_time() - start)
        print(name, min(seconds))
        np.array(grams, "<f8").tofile(folder / f"grams_{name}")


if __name__ == "__main__":
    word, *rest = sys.argv[1:]
    if word == "data":
        data(rest[0], pathlib.Path(rest[1]))
    else:
        measure(pathlib.Path(rest[0]), int(rest[1]))
