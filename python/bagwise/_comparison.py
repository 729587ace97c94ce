"""Results of an evaluation: a table, a summary sentence, a report."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from bagwise import _native
from bagwise._answers import axes


class Comparison(Sequence[dict[str, Any]]):
    """Results of an evaluation: one row per method, best first.

    A sequence of dictionaries. :meth:`to_frame` returns a pandas frame, and notebooks show the report. The ``seconds`` of
    estimators from elsewhere are NaN: they are not measured.

    Attributes
    ----------
    metric : str
        The metric that the rows are sorted by; ``low`` and ``high`` are the ends of its interval.
    protocol : str
        The evaluation protocol.
    sentence : str
        Summary: the best method, its interval, whether it beats the baseline, methods that may be as good, and the
        recommended method.
    differences : list of dict
        Every method against the best, then against ``"majority"`` if it was included, then against `recommended` if it
        is neither of these:
        ``method``, ``against``,
        ``difference`` (the method's value minus the other's), the ends ``low`` and ``high`` of its interval, ``p`` (adjusted for
        the number of methods) and ``verdict`` ("clearly better", "no clear difference", "clearly worse", ...). Undefined
        numbers are NaN.
    recommended : str
        The simplest method within one standard error of the best; ``"majority"`` if none is better than a constant.
    positive : object
        Of two classes the positive one, which recall, precision, scores and probabilities are about; None for several classes or numbers.
    optimistic : bool
        Whether the estimates are optimistic: parameters were chosen on the reported folds, or a method used test
        bags.
    saw_test_bags : list of str
        The methods that used test bags, without their labels.
    warnings : list of str
        Which fits failed and why, parameters that were chosen at the end of their grid, and what there was no time for.
    plan : dict
        Which methods took part, with how many points of their grids and an estimate of their ``seconds``, and under
        ``left_out`` the methods that there was no time for. Written as JSON it can be repeated by ``plan=``.
    records : list of dict
        Every fit: parameters, metrics, the scores of its test bags.
    roster : dict
        The bags of the data set and their labels, to which `records` refer.
    """

    def __init__(self, text: str, classes: NDArray[Any] | None = None) -> None:
        found = json.loads(text)
        self._text = text
        self._classes = classes
        self.positive: Any = None if classes is None or len(classes) != 2 else classes.tolist()[1]
        self.sentence: str = found["sentence"]
        self.metric: str = found["metric"]
        self.protocol: str = found["protocol"]
        self.optimistic: bool = found["optimistic"]
        self.saw_test_bags: list[str] = found["saw_test_bags"]
        self.recommended: str = found["recommended"]
        numbers = ("difference", "low", "high", "p")
        self.differences: list[dict[str, Any]] = [
            {key: _float(value) if key in numbers else value for key, value in row.items()}
            for row in found["differences"]
        ]
        self.warnings: list[str] = found.get("warnings", [])
        self.plan: dict[str, Any] = found["plan"]
        self.records: list[dict[str, Any]] = found["records"]
        self.roster: dict[str, Any] = found["roster"]
        self._rows = [_row(line, standing) for line, standing in zip(found["table"], found["standing"], strict=True)]

    @property
    def best(self) -> str:
        """The method of the first row."""
        return str(self._rows[0]["method"])

    @overload
    def __getitem__(self, key: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, key: slice) -> list[dict[str, Any]]: ...
    def __getitem__(self, key: int | slice) -> Any:
        return self._rows[key]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._rows)

    def to_frame(self) -> Any:
        """The table as a pandas frame with one row per method."""
        import pandas as pd

        return pd.DataFrame(self._rows).set_index("method")

    def fold_scores(self) -> Any:
        """A pandas frame with one row per fit: method, repeat, fold, metrics, and the chosen parameters."""
        import pandas as pd

        rows = []
        for record in self.records:
            key = record["key"]
            rows.append(
                {
                    "method": key["method"],
                    "repeat": key["repeat"],
                    "fold": key["fold"],
                    "status": record["outcome"]["status"],
                    **(record["metrics"] or {}),
                    **{f"param_{name}": value for name, value in (record["parameters"] or {}).items()},
                    # A record says 0 of predictions that come from elsewhere.
                    "seconds": _float(record["seconds"] or None),
                }
            )
        return pd.DataFrame(rows)

    def predictions(self) -> Any:
        """Out-of-fold predictions as a pandas frame with one row per method, repeat and bag, next to the actual
        labels.

        The score is the decision value for two classes, or the predicted value for regression. With several classes,
        there is one score per class. Estimators that predict classes alone have none.
        """
        import pandas as pd

        names, truth = self.roster["bags"], self.roster["truth"]
        regression = "values" in truth
        labels = None if regression else truth["classes"]["names"] if self._classes is None else self._classes.tolist()
        rows: list[dict[str, Any]] = []
        for record in self.records:
            key, scored = record["key"], record["scored"]
            if not scored or not scored["bags"]:
                continue
            bags = scored["bags"]
            scores = np.asarray(scored["scores"], dtype=np.float64).reshape(len(bags), -1)
            chances = scored["probabilities"]
            shares = None if chances is None else np.asarray(chances, dtype=np.float64).reshape(len(bags), -1)
            for at, bag in enumerate(bags):
                row = {"method": key["method"], "repeat": key["repeat"], "fold": key["fold"], "bag": names[bag]}
                if labels is None:
                    row |= {"actual": truth["values"][bag], "predicted": float(scores[at, 0])}
                else:
                    row |= {
                        "actual": labels[truth["classes"]["codes"][bag]],
                        "predicted": labels[scored["labels"][at]],
                        **_by_class("score", scores[at], labels),
                    }
                    if shares is not None:
                        row |= _by_class("probability", shares[at], labels)
                rows.append(row)
        return pd.DataFrame(rows)

    def plot(self, ax: Any = None) -> Any:
        """Plot the metric of every method with its interval, using matplotlib.

        Draws on the matplotlib axes `ax`, or on a new figure, and returns the axes.
        """
        ax = axes(ax)
        for at, row in enumerate(reversed(self._rows)):
            value, low, high = row[self.metric], row["low"], row["high"]
            if not np.isnan(low):
                ax.plot([low, high], [at, at], color="tab:blue")
            ax.plot([value], [at], "o", color="tab:blue")
        ax.set_yticks(range(len(self)), [row["method"] for row in reversed(self._rows)])
        ax.set_xlabel(self.metric)
        ax.set_title(self.protocol)
        return ax

    def report(
        self, path: str | os.PathLike[str] | None = None, *, title: str | None = None, hide_ids: bool = False
    ) -> str:
        """The report as a self-contained HTML page.

        It is written from the results of the evaluation; no models are trained.

        Parameters
        ----------
        path : str or path, optional
            A file to write it to.
        title : str, optional
            Its title.
        hide_ids : bool, default=False
            Show bag numbers instead of names, and hide groups.

        Returns
        -------
        str
            The page.
        """
        page = _native.report(self._text, title, hide_ids)
        if path is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(page)
        return page

    def _shown(self) -> list[list[str]]:
        # The metric that decides with its interval, the next three, and what the test says.
        columns = [*list(self._rows[0])[:7], "against_best", "seconds"]
        columns = list(dict.fromkeys(columns))
        rows = [[_cell(row[c]) for c in columns] for row in self._rows]
        return [columns, *rows]

    def __repr__(self) -> str:
        table = self._shown()
        widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
        lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in table]
        # Numbers and truth values are in the order that everybody expects.
        about = [f"The positive class is {self.positive}."] if isinstance(self.positive, str) else []
        return "\n".join([*lines, self.sentence, *about])

    def _repr_html_(self) -> str:
        page = html.escape(self.report(), quote=True)
        return f'<iframe srcdoc="{page}" style="width:100%;height:40em;border:0" title="comparison"></iframe>'


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.3f}"
    return str(value)


def _row(line: dict[str, Any], standing: str) -> dict[str, Any]:
    row: dict[str, Any] = {"method": line["method"]}
    for i, metric in enumerate(line["metrics"]):
        row[metric["metric"]] = _float(metric["mean"])
        if i == 0:
            interval = metric["interval"] or {"low": None, "high": None}
            row["low"], row["high"] = _float(interval["low"]), _float(interval["high"])
    return {
        **row,
        "against_best": standing,
        "fits": line["fits"],
        "failed": line["failed"],
        "seconds": _float(line["seconds"]),
    }


def _by_class(what: str, values: NDArray[np.float64], labels: list[Any]) -> dict[str, float]:
    """One number (of two classes), or one for each class by name; nothing if only classes were predicted."""
    if len(values) == 0:
        return {}
    if len(values) == 1:
        return {what: float(values[0])}
    return {f"{what} of {label}": float(value) for label, value in zip(labels, values, strict=True)}


def _float(value: float | None) -> float:
    return float("nan") if value is None else float(value)
