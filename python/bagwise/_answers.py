"""Predictions for bags (labels, values, probabilities) and explanations by instance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, repr=False)
class Predictions:
    """The predictions of a model for some bags.

    Attributes
    ----------
    bags : list of str
        The bags.
    label : ndarray of shape (n_bags,)
        The class of each bag, or its value.
    score : ndarray of shape (n_bags,) or (n_bags, n_classes)
        Decision values. Of two classes, a value above 0 means the second; of several classes, there is one per class.
        The predicted value for regression.
    probability : ndarray of shape (n_bags, n_classes) or None
        The probability of each class, in the order of `classes`; None for regression and with ``probability=False``.
    familiar : ndarray of shape (n_bags,)
        False for bags that resemble no training bag; their predictions are guesses.
    classes : ndarray of shape (n_classes,) or None
        The classes; None for regression.
    """

    bags: list[str]
    label: NDArray[Any]
    score: NDArray[np.float64]
    probability: NDArray[np.float64] | None
    familiar: NDArray[np.bool_]
    classes: NDArray[Any] | None

    def __len__(self) -> int:
        return len(self.bags)

    def to_frame(self) -> Any:
        """A pandas frame with one row per bag."""
        import pandas as pd

        columns: dict[str, Any] = {"label": self.label} if self.classes is not None else {"value": self.label}
        if self.classes is not None and self.score.ndim == 1:
            columns["score"] = self.score
        elif self.classes is not None:
            columns |= {f"score of {c}": self.score[:, i] for i, c in enumerate(self.classes.tolist())}
        if self.probability is not None and self.classes is not None:
            columns |= {f"probability of {c}": self.probability[:, i] for i, c in enumerate(self.classes.tolist())}
        columns["familiar"] = self.familiar
        return pd.DataFrame(columns, index=pd.Index(self.bags, name="bag"))

    def __repr__(self) -> str:
        strange = int((~self.familiar).sum())
        return f"Predictions({len(self)} bags, {strange} of them unfamiliar)"


@dataclass(frozen=True)
class Explanation:
    """The explanation of one prediction.

    Attributes
    ----------
    bag : str
        The bag.
    machine : str
        The classes that the value separates: the two classes of a binary model, such as ``"1 vs 0"``, or the predicted one
        of several classes, such as ``"cat vs rest"``; empty for regression.
    label : class or None
        The class that positive values speak for, one of `classes_`: the second of two, the predicted one of several, or the first
        of a binary model of several; None for regression.
    bias : float or None
        The constant term; None if a single instance decides.
    parts : ndarray of shape (n_instances,)
        With a bias, the contribution of each instance: bias and parts add up to `value`. Without, the decision value of each
        instance.
    chosen : int or None
        The instance that decides, if a single one does.
    intercept : float or None
        The intercept of the model, if the parts contain it: it is shared among the instances of a bag by weight, and the bias is 0.
    """

    bag: str
    machine: str
    bias: float | None
    parts: NDArray[np.float64]
    chosen: int | None
    intercept: float | None = None
    label: Any = None

    @property
    def value(self) -> float:
        """The number that is explained: the value of ``decision_function`` with two classes, the predicted number in a
        regression, that of `label` in ``class_support`` with several classes, and with ``machines=True`` the value of
        ``decision_function_machines``."""
        if self.chosen is not None:
            return float(self.parts[self.chosen])
        return float((self.bias or 0.0) + self.parts.sum())

    def top(self, count: int = 3) -> list[int]:
        """The instances that contribute most to the first class of `machine`, largest first."""
        return [int(i) for i in np.argsort(-self.parts, kind="stable")[:count]]

    def to_frame(self) -> Any:
        """A pandas frame with one row per instance."""
        return Explanations([self]).to_frame()

    def plot(self, ax: Any = None) -> Any:
        """Plot the contribution of every instance with matplotlib.

        Draws on the matplotlib axes `ax`, or on a new figure, and returns the axes.
        """
        ax = axes(ax)
        places = np.arange(len(self.parts))
        decides = places == self.chosen
        ax.bar(places, self.parts, color=np.where(decides, "tab:orange", "tab:blue").tolist())
        ax.axhline(0.0, color="black", linewidth=0.8)
        ax.set_xlabel("instance, counted from 0")
        ax.set_ylabel("decision value" if self.bias is None else "contribution to the decision value")
        told = f", {self.machine}" if self.machine else ""
        ends = "" if self.bias is None else f", bias {self.bias:.3g}"
        ax.set_title(f"{self.bag}{told}: {self.value:.3g}{ends}")
        return ax


class Explanations(list[Explanation]):
    """A list of explanations, bag by bag, with a table view."""

    @overload
    def __getitem__(self, key: SupportsIndex) -> Explanation: ...
    @overload
    def __getitem__(self, key: slice) -> Explanations: ...
    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        return Explanations(found) if isinstance(key, slice) else found

    def to_frame(self) -> Any:
        """A pandas frame with one row per bag, machine and instance: its contribution, and whether it decides."""
        import pandas as pd

        counts = [len(e.parts) for e in self]
        return pd.DataFrame(
            {
                "bag": np.repeat(np.asarray([e.bag for e in self], dtype=object), counts),
                "machine": np.repeat(np.asarray([e.machine for e in self], dtype=object), counts),
                "instance": np.concatenate([np.arange(n) for n in counts]) if counts else [],
                "part": np.concatenate([e.parts for e in self]) if counts else [],
                "bias": np.repeat([np.nan if e.bias is None else e.bias for e in self], counts),
                "decides": np.concatenate([np.arange(len(e.parts)) == e.chosen for e in self]) if counts else [],
            }
        )

    def plot(self, ax: Any = None) -> Any:
        """Plot the contributions of all instances with matplotlib: one column per bag, one point per instance.

        Draws on the matplotlib axes `ax`, or on a new figure, and returns the axes.
        """
        if len(self) == 1:
            return self[0].plot(ax)
        ax = axes(ax)
        for at, one in enumerate(self):
            ax.plot(np.full(len(one.parts), at), one.parts, "o", color="tab:blue", alpha=0.5)
            if one.chosen is not None:
                ax.plot([at], [one.parts[one.chosen]], "o", color="tab:orange")
        ax.axhline(0.0, color="black", linewidth=0.8)
        several = len({e.machine for e in self}) > 1
        names = [f"{e.bag}: {e.machine}" if several else e.bag for e in self]
        ax.set_xticks(range(len(self)), names, rotation=90)
        ax.set_ylabel("contribution of each instance")
        return ax


def axes(given: Any) -> Any:
    """Matplotlib axes to draw on; new ones if none are given."""
    if given is not None:
        return given
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plotting needs matplotlib: pip install matplotlib") from error
    # Names of methods and instances are longer than the margin that is there by default.
    return plt.subplots(layout="constrained")[1]
