"""Writes clusters_sklearn.json: principal axes, k-means and Gaussian mixtures by scikit-learn, from starts that are written
down. Run: python clusters_sklearn.py (numpy, scikit-learn).
"""

import json
import pathlib
import warnings

import numpy as np
import sklearn
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture

warnings.filterwarnings("ignore")
rng = np.random.default_rng(20260102)


def case(rows, width, centres):
    mix = rng.normal(size=(width, width))
    points = rng.normal(size=(rows, width)) @ mix + 2.0 * rng.integers(0, centres, size=(rows, 1))
    points = np.round(points, 3)
    pca = PCA(0.9, svd_solver="full").fit(points)
    start = points[rng.choice(rows, centres, replace=False)]
    kmeans = KMeans(centres, init=start, n_init=1, tol=0.0, max_iter=300, algorithm="lloyd").fit(points)
    regulariser = 1e-6 * points.var(axis=0).mean()
    weights = np.full(centres, 1.0 / centres)
    variances = np.tile(points.var(axis=0), (centres, 1))
    mixture = GaussianMixture(
        centres,
        covariance_type="diag",
        tol=0.0,
        reg_covar=regulariser,
        max_iter=6,
        weights_init=weights,
        means_init=kmeans.cluster_centers_,
        precisions_init=1.0 / variances,
    ).fit(points)
    return {
        "points": points.tolist(),
        "axes": pca.components_.tolist(),
        # Over the number of rows, where scikit-learn divides by one less.
        "variances": (pca.explained_variance_ * (rows - 1) / rows).tolist(),
        "start": start.tolist(),
        "centres": kmeans.cluster_centers_.tolist(),
        "labels": kmeans.labels_.tolist(),
        "inertia": float(kmeans.inertia_),
        "mixture_start": {"weights": weights.tolist(), "variances": variances.tolist()},
        "mixture": {
            "steps": 6,
            "weights": mixture.weights_.tolist(),
            "means": mixture.means_.tolist(),
            "variances": mixture.covariances_.tolist(),
            "posteriors": mixture.predict_proba(points[:5]).tolist(),
        },
    }


found = {
    "scikit-learn": sklearn.__version__,
    "cases": [case(60, 4, 3), case(41, 7, 5), case(30, 2, 1)],
}
path = pathlib.Path(__file__).with_suffix(".json")
path.write_text(json.dumps(found) + "\n")
