"""Arrow batches in, Arrow batches out: models inside Spark, Dask, DataFusion, Polars, DuckDB or anything else that speaks
Arrow.

Batches are taken and given through the Arrow PyCapsule interface (``__arrow_c_array__``, ``__arrow_c_stream__``), so that
no Arrow library is needed. Memory does not grow with the data: what is held is a piece, the largest bag, and the names of the
bags that went by.

>>> from bagwise import arrow
>>> arrow.DDL
'bag string, label string, score double, probability double, familiar boolean'

In Spark, where `frame` has a row per instance with its bag and its number in the bag::

    score = arrow.scorer("m.bagwise", bag="bag", order="row")
    frame.repartition("bag").sortWithinPartitions("bag", "row").mapInArrow(score, arrow.DDL)
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bagwise import _native
from bagwise._arrow_c import Batch, Column, Unread, decoded, is_batch, is_stream, streamed
from bagwise._base import BagEstimator, model_from
from bagwise._options import MEMORY, around

__all__ = ["DDL", "MAP_DDL", "Batch", "mapper", "scorer"]

#: The columns of :func:`scorer` as Spark declares them.
DDL = "bag string, label string, score double, probability double, familiar boolean"

#: The columns of :func:`mapper` as Spark declares them.
MAP_DDL = "bag string, columns array<int>, values array<double>, map string"

#: Instances that are answered at a time, at least, if there are as many.
PIECE = 16_384


def scorer(
    model: BagEstimator | str | os.PathLike[str],
    *,
    bag: str = "bag",
    order: str | None = None,
    rows: int = PIECE,
    n_jobs: int | None = 1,
    memory: float = MEMORY,
) -> _Stage:
    """A function from Arrow batches of instances to Arrow batches of predictions, one row per bag.

    Parameters
    ----------
    model : estimator, str or path
        A fitted estimator, or the file of a model.
    bag : str, default="bag"
        The column that names the bag of each row, texts or whole numbers. The rows of a bag must be adjacent.
    order : str, optional
        A column of numbers that ascends within each bag. It is checked, because some engines do not keep the order of rows.
    rows : int, default=16384
        Instances that are answered at a time.
    n_jobs : int, default=1
        Threads. Engines run several of these functions at a time.
    memory : float, default=4e9
        Bytes that kernel matrices and copies may occupy together.

    Returns
    -------
    callable
        Takes an iterable of batches, or one object that gives a stream, and yields batches with the columns of
        :data:`DDL`: the bag, its label, the decision value (or the predicted number), the probability, and whether the bag
        resembles training bags, as ``bagwise predict`` says them. Of two classes, score and probability are those of the
        second one; of several, the score is the largest probability and the probability that of the predicted class. Batches of pyarrow are answered with batches of pyarrow. It can be pickled, and called many times.

    Raises
    ------
    ValueError
        If a bag comes back after others have begun, if rows are not in order, or if a column is missing.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from bagwise import MIKernelClassifier, arrow
    >>> model = MIKernelClassifier().fit([[[0.0]], [[1.0]], [[0.1]], [[0.9]]] * 5, [0, 1, 0, 1] * 5)
    >>> table = pa.table({"bag": ["a", "a", "b"], "f1": [0.0, 0.1, 1.0]})
    >>> [batch.column("label").to_pylist() for batch in arrow.scorer(model)(table.to_batches())]
    [['0', '1']]
    """
    return _Stage(_native_of(model), bag, order, rows, n_jobs, memory, maps=False)


def mapper(
    model: BagEstimator | str | os.PathLike[str],
    *,
    bag: str = "bag",
    order: str | None = None,
    rows: int = PIECE,
    n_jobs: int | None = 1,
    memory: float = MEMORY,
) -> _Stage:
    """A function from Arrow batches of instances to Arrow batches of feature maps, for models that have one (isk).

    Parameters
    ----------
    model, bag, order, rows, n_jobs, memory
        As in :func:`scorer`.

    Returns
    -------
    callable
        As that of :func:`scorer`, with the columns of :data:`MAP_DDL`: the bag, the columns and values of its map that are
        not zero, and a digest of what determines maps, by which ``bagwise fit --maps`` recognises those of another model.
        Inner products of maps are the kernel.

    Raises
    ------
    ValueError
        If the model has no feature map, and as in :func:`scorer`.
    """
    return _Stage(_native_of(model), bag, order, rows, n_jobs, memory, maps=True)


def _native_of(model: Any) -> _native.Model:
    if isinstance(model, BagEstimator):
        return model.model_
    if isinstance(model, _native.Model):
        return model
    return model_from(model)


class _Stage:
    """What :func:`scorer` and :func:`mapper` give."""

    def __init__(
        self,
        model: _native.Model,
        bag: str,
        order: str | None,
        rows: int,
        n_jobs: int | None,
        memory: float,
        *,
        maps: bool,
    ) -> None:
        self._model, self._bag, self._order = model, bag, order
        self._digest = model.map_digest() if maps else None
        self._rows = max(1, int(rows))
        self._around = around(0, n_jobs, memory, "f64")
        header = json.loads(model.header())
        self._classes = [str(name) for name in header["classes"]]
        self._features = [str(feature["name"]) for feature in header["features"]]
        if len(set(self._features)) != len(self._features):
            raise ValueError("two columns of the model have the same name; train it with different ones")

    @property
    def DDL(self) -> str:
        """The columns of the batches, as Spark declares them."""
        return DDL if self._digest is None else MAP_DDL

    def __call__(self, batches: Any) -> Iterator[Any]:
        """Answers batches as they come."""
        held = _Held(self)
        theirs: Any = None
        for batch, kept in _each(batches):
            theirs = theirs or _library(kept)
            for piece in _slices(batch, self._rows):
                for answer in held.add(piece):
                    yield _given(answer, theirs)
        for answer in held.end():
            yield _given(answer, theirs)

    def answer(
        self, ids: list[str], offsets: list[int], parts: list[NDArray[Any]], coded: dict[str, list[str]]
    ) -> Batch:
        """The answers to bags whose rows these are."""
        matrix = np.ascontiguousarray(parts[0] if len(parts) == 1 else np.concatenate(parts))
        gaps = bool(np.isnan(matrix).any())
        bags = _native.Bags(matrix, np.array(offsets, np.int64), ids, self._features, coded, gaps)
        if self._digest is not None:
            _, indptr, indices, values = self._model.map(bags, self._around)
            return Batch(
                [
                    Column.texts("bag", ids),
                    Column.lists("columns", indptr, indices.astype(np.int32)),
                    Column.lists("values", indptr, values),
                    Column.texts("map", [self._digest] * len(ids)),
                ]
            )
        scores, codes, probabilities, familiar = self._model.answer(bags, self._around)
        every = np.arange(len(ids))
        if not self._classes:
            labels: list[str | None] = [None] * len(ids)
            probability = np.full(len(ids), np.nan)
            score = scores[:, 0]
        else:
            labels = [self._classes[code] for code in codes]
            two = len(self._classes) == 2
            score = scores[:, 0] if scores.shape[1] == 1 else probabilities.max(axis=1)
            probability = probabilities[:, 1] if two else probabilities[every, codes]
        return Batch(
            [
                Column.texts("bag", ids),
                Column.texts("label", labels),
                Column.numbers("score", score),
                Column.numbers("probability", probability),
                Column.flags("familiar", familiar),
            ]
        )


class _Held:
    """Rows that came and are not yet answered: the last bag may go on in the next batch."""

    def __init__(self, stage: _Stage) -> None:
        self._stage = stage
        self._parts: list[NDArray[Any]] = []
        self._ids: list[str] = []
        #: Where the bags start among the rows that are held.
        self._starts: list[int] = []
        self._rows = 0
        self._seen: set[str] = set()
        self._last: Any = None
        self._categories: dict[str, dict[str, int]] = {}
        self._single: bool | None = None

    def add(self, batch: dict[str, Any]) -> Iterator[Batch]:
        """Takes a batch, and answers the bags that are complete if there are enough."""
        stage = self._stage
        ids = self._column(batch, stage._bag)
        if ids.ndim > 1:
            raise ValueError(f"the column {stage._bag!r} contains lists; it must name the bag of each row")
        changes = [0, *(np.flatnonzero(ids[1:] != ids[:-1]) + 1).tolist()]
        names = [_name(ids[at]) for at in changes]
        if self._ids and names[0] == self._ids[-1]:
            fresh = list(zip(changes, names, strict=True))[1:]
        else:
            fresh = list(zip(changes, names, strict=True))
        for at, name in fresh:
            if name in self._seen:
                raise ValueError(f"bag {name!r} comes back after other bags; sort the rows by {stage._bag!r}")
            self._seen.add(name)
            self._ids.append(name)
            self._starts.append(self._rows + at)
        self._check_order(batch, [at for at, _ in fresh], len(ids))
        self._parts.append(self._matrix(batch, len(ids)))
        self._rows += len(ids)
        if self._starts[-1] >= stage._rows:
            yield self._take(len(self._ids) - 1)

    def end(self) -> Iterator[Batch]:
        """Answers what is left."""
        if self._ids:
            yield self._take(len(self._ids))

    def _take(self, bags: int) -> Batch:
        end = self._starts[bags] if bags < len(self._starts) else self._rows
        offsets = [*self._starts[:bags], end]
        matrix = self._parts[0] if len(self._parts) == 1 else np.concatenate(self._parts)
        coded = {name: list(codes) for name, codes in self._categories.items()}
        answer = self._stage.answer(self._ids[:bags], offsets, [matrix[:end]], coded)
        self._parts = [matrix[end:].copy()] if end < self._rows else []
        self._ids, self._starts = self._ids[bags:], [start - end for start in self._starts[bags:]]
        self._rows -= end
        return answer

    def _column(self, batch: dict[str, Any], name: str) -> Any:
        if name not in batch:
            raise ValueError(f"the batch has no column {name!r}; it has {', '.join(map(repr, batch)) or 'none'}")
        if isinstance(batch[name], Unread):
            raise ValueError(
                f"the column {name!r} has a type that is not read (Arrow calls it {batch[name].kind!r}); cast it"
            )
        return batch[name]

    def _check_order(self, batch: dict[str, Any], fresh: list[int], rows: int) -> None:
        """Rows of a bag must ascend in the column of the order."""
        if self._stage._order is None:
            return
        values = self._column(batch, self._stage._order)
        if values.dtype == object or values.ndim > 1:
            raise ValueError(f"the column {self._stage._order!r} must hold numbers")
        begins = np.zeros(rows, bool)
        begins[fresh] = True
        before = np.concatenate([[values[0] if self._last is None else self._last], values[:-1]])
        begins[0] |= self._last is None
        wrong = np.flatnonzero(~begins & ~(values > before))
        if len(wrong):
            at = int(wrong[0])
            ids = self._column(batch, self._stage._bag)
            raise ValueError(
                f"the rows of bag {_name(ids[at])!r} are not in order: {self._stage._order!r} is {values[at]} after "
                f"{before[at]}; sort the rows by {self._stage._bag!r} and {self._stage._order!r}"
            )
        self._last = values[-1]

    def _matrix(self, batch: dict[str, Any], rows: int) -> NDArray[Any]:
        """The features of the model, in its order."""
        spread: dict[str, Any] = {}
        for name, values in batch.items():
            if not isinstance(values, Unread) and values.ndim == 2:
                spread.update({f"{name}_{i + 1}": values[:, i] for i in range(values.shape[1])})
            else:
                spread[name] = values
        columns = [self._column(spread, name) for name in self._stage._features]
        single = all(column.dtype in (np.float32, np.float16) for column in columns)
        # Half of a bag in single and half in double precision would have another answer than the bag.
        if self._single is not None and single != self._single:
            raise ValueError(
                "some batches have features in single precision and others do not; give all the same types"
            )
        self._single = single
        matrix = np.empty((rows, len(columns)), np.float32 if single else np.float64)
        for at, (name, column) in enumerate(zip(self._stage._features, columns, strict=True)):
            matrix[:, at] = self._codes(name, column) if column.dtype == object else column
        return matrix

    def _codes(self, name: str, column: NDArray[Any]) -> NDArray[np.float64]:
        """Texts as codes of categories, which count as they come."""
        known = self._categories.setdefault(name, {})
        codes = [np.nan if text is None else known.setdefault(str(text), len(known)) for text in column]
        return np.array(codes, np.float64)


def _name(value: Any) -> str:
    """The name of a bag as a table has it."""
    if value is None or value != value:
        raise ValueError("a row has no bag; fill it in")
    return str(int(value)) if isinstance(value, np.floating) and value.is_integer() else str(value)


def _each(batches: Any) -> Iterator[tuple[dict[str, Any], Any]]:
    """The columns of every batch, and the object it came in."""
    if is_stream(batches):
        for columns in streamed(batches):
            yield columns, batches
        return
    if is_batch(batches):
        yield decoded(batches), batches
        return
    if not isinstance(batches, Iterable):
        raise TypeError(f"give Arrow batches, or an object with __arrow_c_stream__; this is a {type(batches).__name__}")
    for batch in batches:
        if is_batch(batch):
            yield decoded(batch), batch
        elif is_stream(batch):
            for columns in streamed(batch):
                yield columns, batch
        else:
            raise TypeError(f"a {type(batch).__name__} is not an Arrow batch: it has no __arrow_c_array__")


def _slices(batch: dict[str, Any], rows: int) -> Iterator[dict[str, Any]]:
    """A batch in parts of so many rows, so that a table in one batch is not copied as a whole."""
    count = max((len(values) for values in batch.values() if not isinstance(values, Unread)), default=0)
    for at in range(0, count, rows):
        yield {k: v if isinstance(v, Unread) else v[at : at + rows] for k, v in batch.items()}


def _library(batch: Any) -> Any:
    """The library whose batches are given back, if it is pyarrow."""
    if type(batch).__module__.partition(".")[0] != "pyarrow":
        return False
    import pyarrow

    return pyarrow


def _given(answer: Batch, library: Any) -> Any:
    return library.record_batch(answer) if library else answer
