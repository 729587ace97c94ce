"""The scikit-learn side of `cargo xtask bench embeddings`: k-means and Gaussian mixtures from the same start.

    embeddings.py FOLDER ROWS WIDTH ROUNDS REPEATS CENTRES…

FOLDER has the rows (`points`) and the centres to start from (`start16` for 16 of them), as doubles. Prints
"version scikit-learn …" and, for each number of centres, "kmeans K SECONDS INERTIA" and "mixture K SECONDS LIKELIHOOD": the
least CPU seconds of some repeats, of exactly ROUNDS rounds.
"""

import pathlib
import sys
import time
import warnings

import numpy as np
import sklearn
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture

warnings.filterwarnings("ignore")
folder = pathlib.Path(sys.argv[1])
rows, width, rounds, repeats = (int(v) for v in sys.argv[2:6])
points = np.fromfile(folder / "points").reshape(rows, width)
print("version scikit-learn", sklearn.__version__, "numpy", np.__version__)


def least(work):
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        found = work()
        best = min(best, time.process_time() - start)
    return best, found


for k in (int(v) for v in sys.argv[6:]):
    start = np.fromfile(folder / f"start{k}").reshape(k, width)
    kmeans = KMeans(k, init=start, n_init=1, tol=0.0, max_iter=rounds, algorithm="lloyd")
    seconds, fit = least(lambda: kmeans.fit(points))
    print("kmeans", k, seconds, fit.inertia_)
    variances = np.tile(points.var(axis=0), (k, 1))
    mixture = GaussianMixture(
        k,
        covariance_type="diag",
        tol=0.0,
        reg_covar=1e-6 * points.var(axis=0).mean(),
        max_iter=rounds,
        weights_init=np.full(k, 1.0 / k),
        means_init=start,
        precisions_init=1.0 / variances,
    )
    seconds, fit = least(lambda: mixture.fit(points))
    print("mixture", k, seconds, fit.lower_bound_)
