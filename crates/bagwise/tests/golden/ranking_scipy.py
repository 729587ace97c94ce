"""Writes ranking_scipy.json: ranks, Friedman's test, Wilcoxon's signed-rank test, the studentized range and normal
quantiles by SciPy, on random tables; Nemenyi's and Holm's tests by scikit-posthocs and statsmodels, on tables of counts of several
repeats with ties. Run: python ranking_scipy.py (numpy, scipy, scikit-posthocs).

Half of the tables hold few distinct values, so that ties are common. Iman and Davenport's F is written out from its
formula; its probability and all others are SciPy's.
"""

import json
import pathlib

import numpy as np
import scikit_posthocs as posthocs
import scipy
from scipy import stats
from statsmodels.stats.multitest import multipletests

rng = np.random.default_rng(20260201)


def table(n, k, tied):
    values = rng.random((n, k)) + 0.15 * rng.random(k)
    values = np.round(values, 1 if tied else 6)
    larger = bool(rng.random() < 0.5)
    ranks = np.apply_along_axis(stats.rankdata, 1, -values if larger else values)
    average = ranks.mean(axis=0)
    plain = 12 * n / (k * (k + 1)) * (np.sum(average**2) - k * (k + 1) ** 2 / 4)
    f = (n - 1) * plain / (n * (k - 1) - plain)
    # SciPy corrects for ties always, and wants three methods.
    corrected = stats.friedmanchisquare(*values.T)
    f_ties = (n - 1) * corrected.statistic / (n * (k - 1) - corrected.statistic)
    signed = -values if larger else values
    best = int(np.argmin(average))
    return {
        "values": values.tolist(),
        "larger": larger,
        "ranks": ranks.tolist(),
        "average": average.tolist(),
        "chi2": plain,
        "chi2_p": stats.chi2.sf(plain, k - 1),
        "f": f,
        "f_p": stats.f.sf(f, k - 1, (k - 1) * (n - 1)),
        "chi2_ties": corrected.statistic,
        "f_ties": f_ties,
        "f_ties_p": stats.f.sf(f_ties, k - 1, (k - 1) * (n - 1)),
        "best": best,
        # Of every pair: Nemenyi's p; Holm's against the best, from the plain p of all pairs.
        "nemenyi": posthocs.posthoc_nemenyi_friedman(signed).to_numpy().tolist(),
        "holm": against(posthocs.posthoc_siegel_friedman(signed).to_numpy(), best),
    }


def against(pairs, best):
    """Holm's procedure for every other method against the best, at 0.05."""
    raw = np.delete(pairs[best], best)
    reject, adjusted, _, _ = multipletests(raw, 0.05, "holm")
    return {"p": raw.tolist(), "adjusted": adjusted.tolist(), "reject": reject.tolist()}


def pair(n, tied):
    d = np.round(rng.normal(0.2, 1, n), 1 if tied else 6)
    # SciPy's zsplit ranks every zero; where their number is even so do we.
    if np.sum(d == 0) % 2:
        d[np.argmax(d == 0)] = 0.3
    ranks = stats.rankdata(np.abs(d))
    zeros = ranks[d == 0].sum() / 2
    case = {
        "differences": d.tolist(),
        "plus": ranks[d > 0].sum() + zeros,
        "minus": ranks[d < 0].sum() + zeros,
    }
    if not tied:
        case["p"] = stats.wilcoxon(d, zero_method="zsplit", method="exact").pvalue
    return case


def counted(n, k, repeats, bags):
    """Right answers of each method on each data set in each repeat. Ranks are those of the sums, which are exact."""
    right = rng.integers(int(0.6 * bags), int(0.7 * bags), (n, k, repeats)) + rng.integers(0, 6, k)[None, :, None]
    # The same sum spread differently over repeats: a tie that shares added up one by one would break.
    for row in range(0, n, 2):
        total = right[row, 0].sum()
        right[row, 1] = right[row, 0][::-1]
        right[row, 1, 0] += 1
        right[row, 1, 1] -= 1
        assert right[row, 1].sum() == total
    sums = right.sum(axis=2)
    ranks = np.apply_along_axis(stats.rankdata, 1, -sums)
    average = ranks.mean(axis=0)
    # scikit-posthocs ranks ascending; the negated sums are whole numbers, so that ties are exact.
    nemenyi = posthocs.posthoc_nemenyi_friedman(-sums).to_numpy()
    pairs = posthocs.posthoc_siegel_friedman(-sums).to_numpy()
    best = int(np.argmin(average))
    return {
        "bags": bags, "right": right.tolist(), "ranks": ranks.tolist(), "average": average.tolist(),
        "chi2_ties": stats.friedmanchisquare(*sums.T).statistic,
        "best": best, "nemenyi": nemenyi.tolist(), "holm": against(pairs, best),
    }


result = {
    "scipy": scipy.__version__,
    "scikit_posthocs": posthocs.__version__,
    "tables": [table(n, k, tied) for tied in (False, True) for n, k in [(4, 3), (5, 4), (8, 3), (15, 12), (40, 6), (60, 15)]],
    "wilcoxon": [pair(n, tied) for tied in (False, True) for n in (3, 4, 6, 9, 15, 24, 40, 50)],
    "studentized_range": [
        {"k": k, "alpha": alpha, "q": stats.studentized_range.ppf(1 - alpha, k, np.inf)}
        for k in (2, 3, 5, 10, 12, 20, 50)
        for alpha in (0.01, 0.05, 0.1)
    ],
    "studentized_range_p": [
        {"k": k, "q": q, "p": stats.studentized_range.cdf(q, k, np.inf)}
        for k in (2, 4, 12, 30)
        for q in (0.1, 1.0, 3.0, 5.0)
    ],
    "counted": [counted(n, k, repeats, bags) for n, k, repeats, bags in [(5, 3, 3, 92), (8, 4, 4, 100), (12, 6, 10, 57), (30, 5, 3, 1003)]],
}
path = pathlib.Path(__file__).with_suffix(".json")
path.write_text(json.dumps(result, separators=(",", ":")) + "\n")
