"""Writes sklearn.json: what scikit-learn's SVC and SVR say of a few fixed problems.

    pip install numpy scikit-learn==1.9.1
    python sklearn.py

scikit-learn keeps kernel rows in single precision.
"""

import json
import os
import sys

sys.path.pop(0)  # this file has the name of the package it imports

import numpy as np
import sklearn
from sklearn.calibration import _SigmoidCalibration
from sklearn.isotonic import IsotonicRegression
from sklearn.svm import SVC, SVR

rng = np.random.default_rng(20)
problems = []
for n, d, gamma in [(25, 2, 0.5), (60, 5, 0.2), (90, 3, None)]:
    x = np.round(rng.normal(size=(n, d)), 6)
    z = np.round(np.sin(2 * x[:, 0]) + x[:, -1] + 0.4 * rng.normal(size=n) + 0.2, 6)
    y = np.where(z > 0, 1.0, -1.0)
    gram = x @ x.T if gamma is None else np.exp(-gamma * ((x[:, None] - x[None]) ** 2).sum(-1))
    weights = np.round(0.5 + rng.random(n), 3)
    for cost in [0.1, 1.0, 10.0]:
        fits = {
            "svc": SVC(kernel="precomputed", C=cost, tol=1e-9).fit(gram, y),
            "svc_weighted": SVC(kernel="precomputed", C=cost, tol=1e-9).fit(gram, y, sample_weight=weights),
            "svc_balanced": SVC(kernel="precomputed", C=cost, tol=1e-9, class_weight="balanced").fit(gram, y),
            "svr": SVR(kernel="precomputed", C=cost, epsilon=0.1, tol=1e-9).fit(gram, z),
        }
        record = {"x": x.tolist(), "y": y.tolist(), "z": z.tolist(), "gamma": gamma, "C": cost, "weights": weights.tolist()}
        for name, machine in fits.items():
            outputs = machine.predict(gram) if name == "svr" else machine.decision_function(gram)
            b = np.zeros(n)
            b[machine.support_] = machine.dual_coef_.ravel()
            target, tube = (z, 0.1) if name == "svr" else (y, 0.0)
            objective = 0.5 * b @ gram @ b - target @ b + tube * np.abs(b).sum()
            record[name] = {"outputs": outputs.tolist(), "objective": float(objective)}
        problems.append(record)

scores = np.round(rng.normal(size=80), 4)
labels = np.where(scores + rng.normal(size=80) > 0.3, 1.0, -1.0)
sigmoid = _SigmoidCalibration().fit(scores, labels)
isotonic = IsotonicRegression(out_of_bounds="clip").fit(scores, labels > 0)
probe = np.linspace(-3, 3, 25)
calibration = {
    "scores": scores.tolist(),
    "labels": labels.tolist(),
    "probe": probe.tolist(),
    "sigmoid": sigmoid.predict(probe).tolist(),
    "isotonic": isotonic.predict(probe).tolist(),
}
out = {"scikit_learn": sklearn.__version__, "numpy": np.__version__, "problems": problems, "calibration": calibration}
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "sklearn.json"), "w") as file:
    json.dump(out, file)
    file.write("\n")
