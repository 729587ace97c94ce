"""How estimators explain predictions by instances, and the numbers that explanations add up to."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from bagwise import _native
from bagwise._answers import Explanation, Explanations
from bagwise._bags import Bags, BagsLike


class Explaining:
    """The methods of every estimator that explain its predictions."""

    model_: _native.Model

    def _around(self) -> dict[str, Any]:
        raise NotImplementedError

    def _ready(self, bags: BagsLike, *, predicted: bool = True) -> Bags:
        raise NotImplementedError

    def explain(self, bags: BagsLike, *, machines: bool = False) -> Explanations:
        """Show which instances drove each prediction.

        Parameters
        ----------
        bags : list of 2-D arrays, Bags, (X, bag_ids) or data frame
            Bags to explain.
        machines : bool, default=False
            With several classes, explain every binary model separately, instead of the predicted class.

        Returns
        -------
        Explanations
            A list with one :class:`Explanation` per bag; with ``machines=True``, one per bag and binary model, bag by bag.
            With two classes each adds up to :meth:`decision_function`. With several it adds up to the support for the
            predicted class, its column of ``class_support``; with ``machines=True`` to :meth:`decision_function_machines`.
            ``to_frame()`` returns a table with one row per instance; ``plot()`` draws a figure.
        """
        new = self._ready(bags, predicted=False)
        labels: list[Any] = list(getattr(self, "classes_", ()))
        if not machines:
            found = self.model_.explain_predicted(new._native, self._around())
            return Explanations(
                Explanation(bag, machine, bias, parts, chosen, intercept, labels[code] if labels else None)
                for bag, (machine, code, (bias, parts, chosen), intercept) in zip(new.ids, found, strict=True)
            )
        names = self.model_.machines()
        favoured = [labels[plus] if labels else None for plus, _ in self._sides()]
        reasons = self.model_.explain(new._native, self._around())
        return Explanations(
            Explanation(bag, machine, bias, parts, chosen, None, label)
            for bag, own in zip(new.ids, reasons, strict=True)
            for machine, label, (bias, parts, chosen) in zip(names, favoured, own, strict=True)
        )

    def _sides(self) -> list[tuple[int, int | None]]:
        """For each binary model the class that it says yes to, and the other one; None for all others."""
        header = json.loads(self.model_.header())
        if len(header["classes"]) == 2:
            # Above 0 is the second class, whatever the command line was told.
            return [(1, 0)]
        return [(task["plus"], task["minus"]) for task in header["tasks"]]

    def machines(self) -> list[str]:
        """The binary models of the estimator: their two sides, such as ``"cat vs dog"`` or ``"cat vs rest"``.

        Returns
        -------
        list of str
            The columns of :meth:`decision_function_machines`; one empty name for a regression.
        """
        check_is_fitted(self)
        return self.model_.machines()

    def decision_function_machines(self, bags: BagsLike) -> NDArray[np.float64]:
        """The output of every binary model: the values that ``explain(bags, machines=True)`` explains.

        Parameters
        ----------
        bags : list of 2-D arrays, Bags, (X, bag_ids) or data frame
            Bags to predict.

        Returns
        -------
        ndarray of shape (n_bags, n_machines)
            Columns in the order of :meth:`machines`. A value above 0 means the first side.
        """
        new = self._ready(bags)
        return self.model_.outputs(new._native, self._around())

    def decision_function_instances(self, bags: BagsLike) -> NDArray[np.float64]:
        """The values of :meth:`explain` as one array, in the order of ``Bags(bags).instances``.

        If one instance decides, these are decision values. If contributions add up, these are the contributions,
        without the bias of the bag.

        Parameters
        ----------
        bags : list of 2-D arrays, Bags, (X, bag_ids) or data frame
            Bags whose instances are evaluated.

        Returns
        -------
        ndarray of shape (n_instances,) or (n_instances, n_machines)
            One value per instance for two classes and for regression, otherwise one per binary model.
        """
        new = self._ready(bags, predicted=False)
        reasons = self.model_.explain(new._native, self._around())
        values = np.concatenate([np.stack([parts for _, parts, _ in own], axis=1) for own in reasons])
        return values[:, 0] if values.shape[1] == 1 else values
