"""The numpy side of `cargo xtask bench dd`: value and gradient of the log diverse density of many concepts at once.

    dd.py FOLDER REPEATS

reads instances, offsets, positive, points and weights (raw f64 and u64) and `shape` (instances, attributes, concepts) from
FOLDER, writes values and gradients there, and prints the least CPU seconds of one evaluation and the numpy version.
Distances by two matrix products, x^2 w^2 - 2 x (w^2 h) + sum w^2 h^2, gradients by two more.
"""

import os
import sys
import time

import numpy as np


def read(folder, name, kind="<f8"):
    return np.fromfile(os.path.join(folder, name), dtype=kind)


def evaluate(x, x2, offsets, positive, h, w):
    w2 = w * w
    d = x2 @ w2.T
    d -= 2 * (x @ (w2 * h).T)
    d += (w2 * h * h).sum(1)
    np.maximum(d, 1e-12, out=d)
    u = np.exp(-d)
    with np.errstate(divide="ignore"):
        log_none = np.where(d < 1e-3, np.log(-np.expm1(-d)), np.log1p(-u))
    none = np.add.reduceat(log_none, offsets[:-1], axis=0)  # bags x concepts
    # Far from everything log(1 - exp(none)) has no digits: -none is the sum of the u.
    with np.errstate(divide="ignore"):
        some = np.where(none > -1e-8, np.log(np.maximum(-none, 1e-300)), np.log(-np.expm1(none)))
    value = np.where(positive[:, None], some, none).sum(0)
    sizes = np.diff(offsets)
    of_row = np.repeat(positive, sizes)[:, None]
    rest = np.repeat(none - some, sizes, axis=0)
    c = np.where(of_row, -np.exp(rest - d - log_none), np.exp(-d - log_none))
    total = c.sum(0)[:, None]
    first, second = c.T @ x, c.T @ x2
    by_point = 2 * w2 * (h * total - first)
    by_weight = 2 * w * (h * h * total - 2 * h * first + second)
    return value, np.hstack([by_point, by_weight])


def main(folder, repeats):
    n, d, s = (int(v) for v in read(folder, "shape", "<u8"))
    x = read(folder, "instances").reshape(n, d)
    h, w = read(folder, "points").reshape(s, d), read(folder, "weights").reshape(s, d)
    offsets = read(folder, "offsets", "<u8").astype(np.int64)
    positive = read(folder, "positive", "<u8") > 0
    x2 = x * x
    least = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        value, gradient = evaluate(x, x2, offsets, positive, h, w)
        least = min(least, time.process_time() - start)
    value.tofile(os.path.join(folder, "values"))
    np.ascontiguousarray(gradient).tofile(os.path.join(folder, "gradients"))
    print("seconds", least)
    print("version", np.__version__)


main(sys.argv[1], int(sys.argv[2]))
