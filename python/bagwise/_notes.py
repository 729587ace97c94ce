"""What a model file keeps for Python: the parameters as they were given, the type of labels, whether columns had names.

The library keeps this note unread (`note` in the header of a model). A model of the command line has none; then its
header tells as much as it knows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bagwise._data import labels_of

#: Parameters that belong to the machine, not to the model.
_OF_THE_MACHINE = ("n_jobs",)


def note_of(
    params: Mapping[str, Any], classes: NDArray[Any] | None, named: bool, seed: int, auto: bool = False
) -> dict[str, Any]:
    """The note of a model, as JSON has it; `auto` says that the parameters are those of an estimator that chose the method."""
    kept = {name: _packed(value, seed) for name, value in params.items() if name not in _OF_THE_MACHINE}
    packed = None if classes is None else _packed_classes(classes)
    return {"params": kept, "classes": packed, "named": named, "auto": auto}


def params_of(header: Mapping[str, Any], own: Mapping[str, str], regression: bool) -> dict[str, Any]:
    """Parameters of an estimator from the header of its model; `own` are those of the method, by name in the table."""
    point = {own[table]: _whole(value) for table, value in header["parameters"].items()}
    if header.get("note") is not None:
        return {**point, **noted(header)}
    # What the command line wrote.
    found = {
        **point,
        "scale": header["transform"]["scale"],
        # A model that fills gaps goes on doing so.
        "missing": "median" if header["transform"]["medians"] else "refuse",
        "random_state": header["training"]["seed"],
    }
    if not regression:
        found["decision_threshold"] = header["threshold"]
    return found


def noted(header: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that the note of a model keeps; none if it has no note."""
    return {name: _unpacked(value) for name, value in (header.get("note") or {}).get("params", {}).items()}


def is_auto(header: Mapping[str, Any]) -> bool:
    """Whether an estimator that chose the method wrote the model."""
    return bool((header.get("note") or {}).get("auto"))


def classes_of(header: Mapping[str, Any]) -> NDArray[Any]:
    """The classes of a model, of the type that they had."""
    packed = (header.get("note") or {}).get("classes")
    if packed is None:
        return labels_of(header["classes"])
    kind = np.dtypes.StringDType() if packed["dtype"] == "T" else np.dtype(packed["dtype"])
    return np.asarray(packed["values"], dtype=kind)


def named_of(header: Mapping[str, Any]) -> bool:
    """Whether features had names of their own."""
    note = header.get("note")
    if note is not None:
        return bool(note["named"])
    names = [f["name"] for f in header["features"]]
    return names != [f"f{i}" for i in range(1, len(names) + 1)]


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _packed(value: Any, seed: int) -> Any:
    value = _plain(value)
    if isinstance(value, float) and not math.isfinite(value):
        # JSON has no such number.
        return {"float": repr(value)}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return {"dict": [[_plain(k), _plain(v)] for k, v in value.items()]}
    if isinstance(value, (np.random.RandomState, np.random.Generator)):
        return seed
    return str(value)


def _unpacked(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return float(value["float"]) if "float" in value else {k: v for k, v in value["dict"]}


def _whole(value: Any) -> Any:
    """A number without a fraction as it is usually written."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _packed_classes(classes: NDArray[Any]) -> dict[str, Any] | None:
    values = [_plain(v) for v in classes.tolist()]
    if not all(isinstance(v, (bool, int, float, str)) for v in values):
        return None
    return {"dtype": "T" if classes.dtype.kind == "T" else classes.dtype.str, "values": values}
