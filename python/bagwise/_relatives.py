"""Bags of one group on both sides of a split: a fitted step remembers its groups, and warns when it is judged by their other bags.

scikit-learn knows nothing of the groups inside :class:`bagwise.Bags`. It keeps them together only if it is told to; otherwise a model
is judged by bags whose relatives it was trained on. Bags that were taken from others remember which these were. So an estimator can
tell bags that a split left out of its training bags from new bags of known groups, about which there is nothing to say.
"""

from __future__ import annotations

import threading
import uuid
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bagwise._options import outside

if TYPE_CHECKING:
    from bagwise._bags import Bags


_naming = threading.Lock()


def origin_of(bags: Bags) -> tuple[str, NDArray[np.int64]]:
    """The bags that these were taken from, by a name that no others have, and the positions of these among them."""
    # Two threads that slice the same bags at once must not give them two names.
    with _naming:
        if bags._origin is None:
            bags._origin = (uuid.uuid4().hex, np.arange(len(bags), dtype=np.int64))
        return bags._origin


def remember(step: Any, bags: Bags, groups: ArrayLike | None = None) -> None:
    """Keeps in a fitted step which bags of a larger whole it was fitted on, and of which groups.

    Of the bags that a split left out, only the groups inside them are known. So there is nothing to compare if it was fitted with
    other `groups`.
    """
    own = None if bags.groups is None else _names(bags.groups)
    if own is None or bags._origin is None or (groups is not None and _names(groups) != own):
        step.__dict__.pop("_fitted_on", None)
        return
    whole, positions = bags._origin
    step._fitted_on = (whole, positions.tolist(), sorted(set(own)))


def _names(groups: ArrayLike) -> list[str]:
    return [str(g) for g in np.asarray(groups).tolist()]


def forgetful(state: dict[str, Any]) -> dict[str, Any]:
    """The state of a step for a pickle: what it was fitted on are bags in the memory of this process, and names of groups."""
    return {name: value for name, value in state.items() if name != "_fitted_on"}


def warn_of_relatives(step: Any, bags: Bags) -> None:
    """Warns if bags of the same whole have relatives among those that a step was fitted on, and are none of these themselves."""
    known = getattr(step, "_fitted_on", None)
    if known is None or bags.groups is None or bags._origin is None or bags._origin[0] != known[0]:
        return
    new = ~np.isin(bags._origin[1], known[1])
    groups = np.asarray(_names(bags.groups))
    if (new & np.isin(groups, known[2])).any():
        # The same words for every fold, so that Python shows them once.
        warnings.warn(
            f"some of these bags belong to groups that {type(step).__name__} was trained on, so scores may be too optimistic; keep "
            "groups together: cv=bagwise.BagKFold(5), or cv=GroupKFold(5) with groups=bags.groups",
            stacklevel=outside(),
        )
