"""The compiled part: conversions and one door to the Rust library. Use the package, not this."""

from collections.abc import Iterable
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

__version__: str

_Floats = NDArray[np.float64]
_Longs = NDArray[np.int64]
_Reason = tuple[float | None, _Floats, int | None]

class Bags:
    def __init__(
        self,
        instances: NDArray[Any] | tuple[int, _Longs, _Longs, _Floats] | Iterable[NDArray[Any]],
        offsets: _Longs,
        ids: list[str] | None,
        features: list[str] | None,
        categories: dict[str, list[str]],
        missing: bool,
        order: _Longs | None = None,
        single: bool | None = None,
        borrowed: bool | None = None,
    ) -> None: ...
    def __len__(self) -> int: ...
    @property
    def borrowed(self) -> bool: ...
    @property
    def width(self) -> int: ...
    @property
    def instance_count(self) -> int: ...
    @property
    def offsets(self) -> _Longs: ...
    @property
    def ids(self) -> list[str]: ...
    @property
    def features(self) -> list[str]: ...
    @property
    def categories(self) -> dict[str, list[str]]: ...
    @property
    def missing(self) -> bool: ...
    @property
    def instances(self) -> NDArray[Any] | tuple[int, _Longs, _Longs, _Floats]: ...
    def bag(self, bag: int) -> NDArray[Any]: ...
    def select(self, bags: _Longs) -> Bags: ...
    def named(self, features: list[str], categories: dict[str, list[str]]) -> Bags: ...

class Model:
    @staticmethod
    def from_bytes(bytes: bytes) -> Model: ...
    @staticmethod
    def load(path: str | PathLike[str]) -> Model: ...
    def to_bytes(self) -> bytes: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    def header(self) -> str: ...
    def machines(self) -> list[str]: ...
    def answer(self, bags: Bags, around: dict[str, Any]) -> tuple[_Floats, _Longs, _Floats, NDArray[np.bool_]]: ...
    def map(self, bags: Bags, around: dict[str, Any]) -> tuple[int, _Longs, _Longs, _Floats]: ...
    def explain(self, bags: Bags, around: dict[str, Any]) -> list[list[_Reason]]: ...
    def explain_predicted(self, bags: Bags, around: dict[str, Any]) -> list[tuple[str, int, _Reason, float | None]]: ...
    def outputs(self, bags: Bags, around: dict[str, Any]) -> _Floats: ...
    def sets(self, bags: Bags, coverage: float, per_class: bool, around: dict[str, Any]) -> NDArray[np.bool_]: ...
    def intervals(self, bags: Bags, coverage: float, around: dict[str, Any]) -> _Floats: ...
    def promise(self, coverage: float, per_class: bool) -> str: ...

def fit(
    bags: Bags,
    y: _Floats,
    classes: list[str] | None,
    groups: list[str] | None,
    weights: _Floats | None,
    inner: int,
    learning: dict[str, Any],
    around: dict[str, Any],
    note: str,
) -> Model: ...
def evaluate(
    bags: Bags,
    y: _Floats,
    classes: list[str] | None,
    groups: list[str] | None,
    learning: dict[str, Any],
    judging: dict[str, Any],
    around: dict[str, Any],
    command: str,
) -> str: ...
def folds(
    bags: Bags,
    y: _Floats,
    classes: list[str] | None,
    groups: list[str] | None,
    learning: dict[str, Any],
    judging: dict[str, Any],
    around: dict[str, Any],
) -> list[list[tuple[list[int], list[int]]]]: ...
def report(judged: str, title: str | None, hide_ids: bool) -> str: ...
def gram(bags: Bags, against: Bags | None, learning: dict[str, Any], around: dict[str, Any]) -> _Floats: ...
def cautions(
    bags: Bags,
    named: bool,
    y: _Floats,
    classes: list[str] | None,
    groups: list[str] | None,
    optimize: str | None,
    around: dict[str, Any],
) -> list[str]: ...
def undecided(distinct: int, bags: int) -> str | None: ...
def read(
    name: str, reading: dict[str, Any], around: dict[str, Any]
) -> tuple[
    str,
    Bags,
    list[str] | None,
    list[float] | None,
    list[str] | None,
    list[tuple[str, list[str]]],
    list[str] | None,
    list[str],
]: ...
def write(
    name: str,
    bags: Bags,
    labels: list[str] | None,
    values: list[float] | None,
    groups: list[str] | None,
    kept: list[tuple[str, list[str]]],
    instance_labels: list[str] | None,
    path: str | PathLike[str],
    format: str | None,
) -> None: ...
def methods() -> str: ...
def builtin_names() -> list[str]: ...
def fetch(name: str, file: str | None, folder: str | None) -> str: ...
def main(args: list[str]) -> int: ...
