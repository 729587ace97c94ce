"""Writes metrics_sklearn.json: metrics by scikit-learn, quantiles and intervals by SciPy, and the corrected
resampled t-test written out from its formula. Run: python metrics_sklearn.py (numpy, scipy, scikit-learn).

NaN (a value that does not exist) becomes null. Scores are rounded to few digits in half of the cases, so that
ties are common.
"""

import json
import math
import pathlib
import warnings

import numpy as np
import scipy
import sklearn
from scipy import stats
from sklearn import metrics as m

warnings.filterwarnings("ignore")
rng = np.random.default_rng(20260101)


def number(x):
    x = float(x)
    return x if math.isfinite(x) else None


def attempt(f):
    try:
        return number(f())
    except ValueError:
        return None


def binary(y, scores, probabilities, labels):
    both = len(set(y)) == 2
    p, n = labels == 1, labels == 0
    kappa = m.cohen_kappa_score(y, labels, labels=[0, 1])
    return {
        "accuracy": number(m.accuracy_score(y, labels)),
        "balanced_accuracy": number(m.balanced_accuracy_score(y, labels)) if both else None,
        "precision": number(m.precision_score(y, labels, zero_division=np.nan)),
        "recall": number(m.recall_score(y, labels, zero_division=np.nan)),
        "specificity": number(m.recall_score(y, labels, pos_label=0, zero_division=np.nan)),
        "f1": number(m.f1_score(y, labels, zero_division=np.nan)),
        # scikit-learn has no value where chance agreement is complete; the specification says 0.
        "kappa": number(kappa) if math.isfinite(kappa) else 0.0,
        "roc_auc": number(m.roc_auc_score(y, scores)) if both else None,
        "pr_auc": number(m.average_precision_score(y, scores)) if y.any() else None,
        "log_loss": number(m.log_loss(y, np.c_[1 - probabilities, probabilities], labels=[0, 1])),
        "brier": number(m.brier_score_loss(y, probabilities, labels=[0, 1], pos_label=1)),
    }


def multi(y, k, scores, probabilities, labels):
    present = sorted(set(y.tolist()))
    several = len(present) >= 2
    average = {"labels": present, "average": "macro", "zero_division": np.nan}
    precisions = m.precision_score(y, labels, labels=present, average=None, zero_division=np.nan)
    kappa = m.cohen_kappa_score(y, labels, labels=list(range(k)))
    onehot = np.eye(k)[y]
    return {
        "accuracy": number(m.accuracy_score(y, labels)),
        "balanced_accuracy": number(m.balanced_accuracy_score(y, labels)) if several else None,
        "precision": number(np.mean(precisions)) if several else None,
        "recall": number(m.recall_score(y, labels, **average)) if several else None,
        "f1": number(m.f1_score(y, labels, **average)) if several else None,
        "kappa": number(kappa) if math.isfinite(kappa) else 0.0,
        "roc_auc": number(np.mean([m.roc_auc_score(y == c, scores[:, c]) for c in present])) if several else None,
        "log_loss": number(m.log_loss(y, probabilities, labels=list(range(k)))),
        "brier": number(np.mean(((probabilities - onehot) ** 2).sum(axis=1))),
        "specificity": None,
        "pr_auc": None,
    }


def binary_cases():
    cases = []
    for i in range(30):
        n = int(rng.integers(2, 40))
        y = rng.integers(0, 2, n)
        if i == 0:
            y[:] = 1
        if i == 1:
            y[:] = 0
        scores = y * rng.uniform(0, 2) + rng.normal(size=n)
        if i % 2:
            scores = np.round(scores, 0)
        if i == 4:
            scores[:] = 0.5
        probabilities = 1 / (1 + np.exp(-scores))
        if i % 5 == 0:
            probabilities = np.round(probabilities)  # certainties, some of them wrong
        labels = (scores >= (99 if i == 2 else -99 if i == 3 else 0.5)).astype(int)
        cases.append({
            "truth": y.tolist(), "labels": labels.tolist(), "scores": scores.tolist(),
            "probabilities": probabilities.tolist(), "metrics": binary(y, scores, probabilities, labels),
        })
    return cases


def multi_cases():
    cases = []
    for i in range(20):
        k, n = int(rng.integers(3, 6)), int(rng.integers(4, 50))
        y = rng.integers(0, k, n)
        if i == 0:
            y[:] = 1
        if i == 1:
            y = rng.integers(0, 2, n)  # some classes absent
            y[:2] = [0, 1]
        scores = rng.normal(size=(n, k)) + 1.5 * np.eye(k)[y]
        if i % 2:
            scores = np.round(scores, 0)
        e = np.exp(scores)
        probabilities = e / e.sum(axis=1, keepdims=True)
        labels = scores.argmax(axis=1)
        if i == 2:
            labels[:] = 0
        cases.append({
            "classes": k, "truth": y.tolist(), "labels": labels.tolist(), "scores": scores.ravel().tolist(),
            "probabilities": probabilities.ravel().tolist(), "metrics": multi(y, k, scores, probabilities, labels),
        })
    return cases


def value_cases():
    cases = []
    for i in range(10):
        n = int(rng.integers(1, 30))
        truth = rng.uniform(size=n)
        if i == 0:
            truth[:] = 0.7
        if i == 1:
            truth = np.round(2 * truth) / 2
        predicted = truth + rng.normal(size=n) * 0.3
        if i == 1:
            predicted = np.round(2 * predicted) / 2
        varies = len(set(truth)) > 1
        cases.append({
            "truth": truth.tolist(), "predicted": predicted.tolist(),
            "metrics": {
                "mse": number(m.mean_squared_error(truth, predicted)),
                "mae": number(m.mean_absolute_error(truth, predicted)),
                "r2": number(m.r2_score(truth, predicted)) if varies else None,
                "err_percent": number(100 * m.zero_one_loss(truth >= 0.5, predicted >= 0.5)),
            },
        })
    return cases


def t_cases():
    rows = []
    for df in [1, 2, 3, 4, 9, 19, 49, 99, 999]:
        for p in [0.001, 0.025, 0.1, 0.5, 0.75, 0.95, 0.975, 0.995, 0.9999]:
            rows.append({"df": df, "p": p, "quantile": number(stats.t.ppf(p, df))})
        for t in [-40.0, -12.0, -5.0, -2.0, -0.3, 0.0, 1.0, 3.0]:
            rows.append({"df": df, "t": t, "cdf": number(stats.t.cdf(t, df))})
    return rows


def corrected(values, ratio, level):
    """Mean, standard error, t, p and interval with variance (1/J + n_test/n_train) s^2."""
    values = np.asarray(values)
    j = len(values)
    mean = values.sum() / j
    s2 = ((values - mean) ** 2).sum() / (j - 1)
    error = math.sqrt((1 / j + ratio) * s2)
    reach = stats.t.ppf(0.5 + level / 2, j - 1) * error
    return {
        "mean": number(mean), "low": number(mean - reach), "high": number(mean + reach),
        "t": number(mean / error), "p": number(2 * stats.t.sf(abs(mean / error), j - 1)),
    }


def corrected_cases():
    cases = []
    for i in range(12):
        folds = int(rng.choice([2, 5, 10]))
        repeats = int(rng.choice([1, 3, 10]))
        ratio = 1 / (folds - 1)
        a = np.clip(0.8 + 0.1 * rng.normal(size=folds * repeats), 0, 1)
        b = np.clip(a - rng.uniform(0, 0.15) + 0.05 * rng.normal(size=folds * repeats), 0, 1)
        level = float(rng.choice([0.9, 0.95, 0.99]))
        cases.append({
            "first": a.tolist(), "second": b.tolist(), "test_to_train": ratio, "level": level,
            "interval": corrected(a, ratio, level), "test": corrected(a - b, ratio, level),
            "plain": corrected(a, 0.0, level),
            "scipy_plain_p": number(stats.ttest_rel(a, b).pvalue),
            "plain_test": corrected(a - b, 0.0, level),
        })
    return cases


def wilson_cases():
    rows = []
    for n in [1, 5, 20, 92, 1000]:
        for hits in sorted({0, 1, n // 3, n - 1, n}):
            for level in [0.9, 0.95]:
                ci = stats.binomtest(hits, n).proportion_ci(level, method="wilson")
                rows.append({"hits": hits, "n": n, "level": level, "low": number(ci.low), "high": number(ci.high)})
    return rows


def bootstrap_cases():
    """Intervals from given draws: SciPy resamples, we take over its draws."""
    cases = []
    for i in range(6):
        data = np.round(rng.exponential(size=int(rng.integers(5, 25))), 3 if i % 2 else 1)
        level = float(rng.choice([0.9, 0.95]))
        case = {"level": level, "estimate": number(data.mean())}
        case["left_out"] = [number(np.delete(data, j).mean()) for j in range(len(data))]
        for method in ["percentile", "BCa"]:
            result = stats.bootstrap((data,), np.mean, n_resamples=199, confidence_level=level, method=method,
                                     rng=np.random.default_rng(i))
            case["draws"] = result.bootstrap_distribution.tolist()
            case[method] = [number(result.confidence_interval.low), number(result.confidence_interval.high)]
        cases.append(case)
    return cases


out = {
    "made_by": f"metrics_sklearn.py, numpy {np.__version__}, scipy {scipy.__version__}, scikit-learn {sklearn.__version__}",
    "binary": binary_cases(),
    "multi": multi_cases(),
    "values": value_cases(),
    "t": t_cases(),
    "corrected": corrected_cases(),
    "wilson": wilson_cases(),
    "bootstrap": bootstrap_cases(),
}
path = pathlib.Path(__file__).with_suffix(".json")
path.write_text(json.dumps(out, allow_nan=False) + "\n")
