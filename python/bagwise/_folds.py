"""Folds for scikit-learn that read the groups of bags."""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _num_samples

from bagwise import _native
from bagwise._bags import Bags
from bagwise._options import around, learning
from bagwise._targets import aligned, class_names, encoded, numbers_of, problem_parts, refuse_gaps


class BagKFold(BaseCrossValidator):  # type: ignore[misc]
    """Folds for scikit-learn that keep the bags of a group together, drawn like those of :func:`bagwise.evaluate`.

    The groups are those that are passed on by scikit-learn, or those that are stored in the bags. Classes are spread evenly. Whole
    numbers are taken for classes, so targets of a regression that are whole numbers are spread evenly, too; ``evaluate`` with
    ``task="regression"`` draws other folds for them.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds.
    random_state : int, RandomState instance or None, default=0
        The seed of the folds. None means 0.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> import bagwise
    >>> data = bagwise.read("synthetic:gauss?bags=40&features=3&groups=10")
    >>> cross_val_score(bagwise.SimpleMIClassifier(), data.bags, data.y, cv=bagwise.BagKFold(4)).shape
    (4,)
    """

    # That groups are wanted, where scikit-learn routes them.
    __metadata_request__split: ClassVar[dict[str, bool]] = {"groups": True}

    def __init__(self, n_splits: int = 5, *, random_state: Any = 0) -> None:
        self.n_splits = n_splits
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """The number of folds."""
        count = self.n_splits
        if not isinstance(count, numbers.Integral) or isinstance(count, bool) or count < 2:
            raise ValueError(f"n_splits is {count!r}; give a whole number of at least 2")
        return int(count)

    def _iter_test_masks(
        self, X: Any = None, y: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Iterator[NDArray[np.bool_]]:
        # One kind of sparse matrix is a dictionary too.
        if isinstance(X, Mapping) and not sparse.issparse(X):
            raise TypeError(
                f"X is a {type(X).__name__}, which scikit-learn indexes by key, not by position; give Bags(X), whose bags have "
                "the keys as names"
            )
        bags = X if isinstance(X, Bags) else Bags(np.zeros((_num_samples(X), 1)))
        target, names = np.zeros(len(bags)), None
        if y is not None:
            y = aligned(y, bags, "y")
            refuse_gaps(y)
            if type_of_target(y) in ("binary", "multiclass"):
                target, classes = encoded(y, "BagKFold", least=1)
                # One class cannot be spread; its bags are dealt out as they are.
                names = class_names(classes) if len(classes) > 1 else None
            else:
                target = numbers_of(y, "BagKFold")
        _, owners = problem_parts(bags, target, None, aligned(groups, bags, "groups"))
        count = self.get_n_splits()
        units, what = (len(bags), "bags") if owners is None else (len(set(owners)), "groups")
        if count > units:
            raise ValueError(f"n_splits is {count}, but there are {units} {what}; give at most {units}")
        judging: dict[str, Any] = {
            "protocol": "kfold",
            "folds": count,
            "inner": 2,
            "repeats": 1,
            "given": None,
            "level": 0.95,
            "baselines": False,
            "folder": None,
            "probabilities": False,
            "budget": None,
            "plan": None,
            "outside": [],
        }
        learn = learning(["majority"], {})
        drawn = _native.folds(bags._native, target, names, owners, learn, judging, around(self.random_state))
        for _, test in drawn[0]:
            mask = np.zeros(len(bags), dtype=np.bool_)
            mask[test] = True
            yield mask
