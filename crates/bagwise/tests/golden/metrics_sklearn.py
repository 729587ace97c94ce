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
from sklearn.calibration import calibration_curve
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


def calibration_error(p, hit, bins=15):
    """Bins of equal counts by ascending probability; equal probabilities share their hits."""
    n = len(p)
    values, inverse, counts = np.unique(p, return_inverse=True, return_counts=True)
    shared = (np.bincount(inverse, weights=hit) / counts)[inverse]
    order = np.argsort(p, kind="stable")
    bins = min(bins, n)
    edges = [b * n // bins for b in range(bins + 1)]
    total = 0.0
    for low, high in zip(edges, edges[1:]):
        own = order[low:high]
        total += len(own) / n * abs(p[own].mean() - shared[own].mean())
    if len(values) == n and n % bins == 0:
        # Without ties, and with bins of one size, scikit-learn has the same bins.
        share, mean = calibration_curve(hit, p, n_bins=bins, strategy="quantile")
        if len(share) == bins:
            assert abs(np.abs(share - mean).mean() - total) < 1e-12
    return number(total)


def spearman(truth, predicted):
    """SciPy has no value where predictions do not vary; there it is 0, as the order then says nothing."""
    if len(set(truth)) < 2:
        return None
    return 0.0 if len(set(predicted)) < 2 else number(stats.spearmanr(truth, predicted).statistic)


def concordance(truth, predicted):
    """Pairs of different truth, and their share in the same order: Somers' D counts 1 for agreement and -1 against."""
    t = np.asarray(truth)
    pairs = int(np.sum(t[:, None] < t[None, :]))
    if pairs == 0:
        return 0, None
    # Every pair, by the definition. SciPy has no value where all predictions tie, and every pair counts one half.
    p = np.asarray(predicted)
    won = np.sum((t[:, None] < t[None, :]) * (1.0 * (p[:, None] < p[None, :]) + 0.5 * (p[:, None] == p[None, :])))
    if len(set(predicted)) > 1:
        assert abs(won / pairs - (1 + stats.somersd(truth, predicted).statistic) / 2) < 1e-12
    return pairs, number(won / pairs)


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
        "pr_auc": number(m.average_precision_score(y, scores)) if both else None,
        "log_loss": number(m.log_loss(y, np.c_[1 - probabilities, probabilities], labels=[0, 1])),
        "brier": number(m.brier_score_loss(y, probabilities, labels=[0, 1], pos_label=1)),
        "mcc": number(m.matthews_corrcoef(y, labels)),
        "calibration_error": calibration_error(probabilities, y == 1),
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
        "mcc": number(m.matthews_corrcoef(y, labels)),
        "calibration_error": calibration_error(probabilities[np.arange(len(y)), labels], y == labels),
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


def of_values(truth, predicted):
    return {
        "mse": number(m.mean_squared_error(truth, predicted)),
        "rmse": number(m.root_mean_squared_error(truth, predicted)),
        "spearman": spearman(truth, predicted),
        "concordance": concordance(truth, predicted)[1],
        "mae": number(m.mean_absolute_error(truth, predicted)),
        "r2": number(m.r2_score(truth, predicted)) if len(set(truth)) > 1 else None,
        "err_percent": number(100 * m.zero_one_loss(truth >= 0.5, predicted >= 0.5)),
    }


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
        cases.append({"truth": truth.tolist(), "predicted": predicted.tolist(), "metrics": of_values(truth, predicted)})
    return cases


def weighted(parts):
    """The mean of values that exist, by their weights."""
    parts = [(value, weight) for value, weight in parts if value is not None and weight > 0]
    return number(np.average([v for v, _ in parts], weights=[w for _, w in parts])) if parts else None


def auc_over_folds(positive, scores, folds):
    parts = []
    for f in set(folds):
        p, s = positive[folds == f], scores[folds == f]
        pairs = int(p.sum() * (~p).sum())
        parts.append((m.roc_auc_score(p, s) if pairs else None, pairs))
    return weighted(parts)


def ap_over_folds(y, scores, folds):
    """Of folds with both classes, whose bags are weighted so that classes have the shares of the whole."""
    parts = []
    for f in set(folds):
        own, s = y[folds == f], scores[folds == f]
        if len(set(own)) < 2:
            continue
        share = np.where(own == 1, np.mean(y == 1) / np.mean(own == 1), np.mean(y == 0) / np.mean(own == 0))
        parts.append((m.average_precision_score(own, s, sample_weight=share), int(own.sum())))
    return weighted(parts)


def printed(y, labels):
    """Kappa and AUC as printed in the MIRSVM paper, (18d) and (18e)."""
    (tn, fp), (fn, tp) = m.confusion_matrix(y, labels, labels=[0, 1])
    n = len(y)
    e = (tp + fn) * (tp + fp) / n
    both = len(set(y)) == 2
    return {
        "kappa_printed": number((n - e) / (1 - e)) if e != 1 else None,
        "auc_printed": number((tp / (tp + fn) + tn / (tn + fp)) / 2) if both else None,
    }


def fold_cases():
    """All metrics over folds. Scores have an offset of their own in each fold; there are folds of one class and of one bag, ties,
    and in every third case few positive bags (3 % of some hundred). Counts, losses and errors are of all bags; bags are compared
    within folds."""
    cases = []
    for i in range(24):
        rare = i % 3 == 2
        n, k = int(rng.integers(100, 160) if rare else rng.integers(6, 60)), int(rng.integers(1, 8))
        folds = rng.integers(0, k, n)
        if i == 0:
            folds = np.arange(n)  # one bag each: nothing to compare
        offset = np.round(3 * rng.normal(size=n + 1), 3)[folds]
        decimals = int(rng.choice([0, 1, 6]))
        y = (rng.random(n) < 0.03).astype(int) if rare else rng.integers(0, 2, n)
        if rare:
            y[rng.integers(n)] = 1
        if i % 3 == 0:
            y[folds == folds[0]] = 1  # a fold of one class
        scores = np.round(y + rng.normal(size=n), decimals) + offset
        if i % 7 == 3:
            scores = offset.copy()  # a constant of each fold
        probabilities = np.round(1 / (1 + np.exp(-scores)), decimals)
        labels = (scores > 0.5).astype(int)
        two = binary(y, scores, probabilities, labels) | printed(y, labels)
        two |= {"roc_auc": auc_over_folds(y == 1, scores, folds), "pr_auc": ap_over_folds(y, scores, folds)}
        classes = 4
        z = rng.choice(classes, n, p=[0.5, 0.44, 0.03, 0.03]) if rare else rng.integers(0, classes, n)
        table = np.round(rng.normal(size=(n, classes)) + np.eye(classes)[z], decimals) + offset[:, None]
        shares = np.exp(table - offset[:, None])
        shares /= shares.sum(axis=1, keepdims=True)
        of_classes = table.argmax(axis=1)
        each = [auc_over_folds(z == c, table[:, c], folds) for c in sorted(set(z.tolist()))]
        each = [value for value in each if value is not None]
        several = multi(z, classes, table, shares, of_classes)
        several["roc_auc"] = number(np.mean(each)) if len(each) >= 2 else None
        truth = np.round(rng.normal(size=n), 1)
        if i % 4 == 0:
            truth[folds == folds[0]] = 0.5  # a fold in which it does not vary
        predicted = np.round(truth + rng.normal(size=n), decimals) + offset
        if i % 5 == 0:
            predicted[folds == folds[-1]] = 1.0
        of = [(truth[folds == f], predicted[folds == f]) for f in set(folds)]
        numbers = of_values(truth, predicted) | {
            "spearman": weighted([(spearman(t, p), len(t)) for t, p in of]),
            "concordance": weighted([concordance(t, p)[::-1] for t, p in of]),
        }
        cases.append({
            "folds": folds.tolist(),
            "binary": {
                "truth": y.tolist(), "labels": labels.tolist(), "scores": scores.tolist(),
                "probabilities": probabilities.tolist(), "metrics": two,
            },
            "multi": {
                "classes": classes, "truth": z.tolist(), "labels": of_classes.tolist(), "scores": table.ravel().tolist(),
                "probabilities": shares.ravel().tolist(), "metrics": several,
            },
            "values": {"truth": truth.tolist(), "predicted": predicted.tolist(), "metrics": numbers},
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
    "folds": fold_cases(),
}
path = pathlib.Path(__file__).with_suffix(".json")
path.write_text(json.dumps(out, allow_nan=False) + "\n")
