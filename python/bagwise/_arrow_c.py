"""The Arrow C data interface, as far as tables of numbers, texts and lists of numbers need it: what other libraries hand
over in PyCapsules is read, and batches are handed over the same way. Only public interfaces are used: the structures of the
Arrow specification, and the capsules of Python's C API.
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

_ADDRESS = ctypes.c_void_p
_RELEASE = ctypes.CFUNCTYPE(None, _ADDRESS)


class _Schema(ctypes.Structure):
    _fields_ = (
        ("format", ctypes.c_char_p),
        ("name", ctypes.c_char_p),
        ("metadata", _ADDRESS),
        ("flags", ctypes.c_int64),
        ("n_children", ctypes.c_int64),
        ("children", ctypes.POINTER(_ADDRESS)),
        ("dictionary", _ADDRESS),
        ("release", _ADDRESS),
        ("private_data", _ADDRESS),
    )


class _Array(ctypes.Structure):
    _fields_ = (
        ("length", ctypes.c_int64),
        ("null_count", ctypes.c_int64),
        ("offset", ctypes.c_int64),
        ("n_buffers", ctypes.c_int64),
        ("n_children", ctypes.c_int64),
        ("buffers", ctypes.POINTER(_ADDRESS)),
        ("children", ctypes.POINTER(_ADDRESS)),
        ("dictionary", _ADDRESS),
        ("release", _ADDRESS),
        ("private_data", _ADDRESS),
    )


class _Stream(ctypes.Structure):
    _fields_ = (
        ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, _ADDRESS, _ADDRESS)),
        ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, _ADDRESS, _ADDRESS)),
        ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, _ADDRESS)),
        ("release", _ADDRESS),
        ("private_data", _ADDRESS),
    )


#: Nullable, as all columns are that we hand over.
_NULLABLE = 2

#: Numbers by their letter.
_NUMBERS = {
    "c": np.int8,
    "C": np.uint8,
    "s": np.int16,
    "S": np.uint16,
    "i": np.int32,
    "I": np.uint32,
    "l": np.int64,
    "L": np.uint64,
    "e": np.float16,
    "f": np.float32,
    "g": np.float64,
}

_pointer_of = ctypes.PYFUNCTYPE(_ADDRESS, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
# In a destructor the capsule is no object any more that could be counted.
_pointer_of_dying = ctypes.PYFUNCTYPE(_ADDRESS, _ADDRESS, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
_DESTRUCTOR = ctypes.PYFUNCTYPE(None, _ADDRESS)
_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, _ADDRESS, ctypes.c_char_p, _DESTRUCTOR)(
    ("PyCapsule_New", ctypes.pythonapi)
)


class Unread:
    """A column of a type that is not read, such as a date."""

    def __init__(self, kind: str) -> None:
        self.kind = kind


def is_batch(given: Any) -> bool:
    """True for a batch of columns."""
    return hasattr(given, "__arrow_c_array__")


def is_stream(given: Any) -> bool:
    """True for an object that gives batches one after the other."""
    return hasattr(given, "__arrow_c_stream__") and not is_batch(given)


def decoded(batch: Any) -> dict[str, Any]:
    """The columns of a batch, copied."""
    schema, array = batch.__arrow_c_array__()
    # The capsules own what they point to, and are alive until this returns.
    return _columns(
        _Schema.from_address(_pointer_of(schema, b"arrow_schema")),
        _Array.from_address(_pointer_of(array, b"arrow_array")),
    )


def streamed(given: Any) -> Iterator[dict[str, Any]]:
    """The columns of every batch of a stream, copied."""
    capsule = given.__arrow_c_stream__()
    stream = _Stream.from_address(_pointer_of(capsule, b"arrow_array_stream"))
    address = ctypes.addressof(stream)

    def check(code: int) -> None:
        if code:
            said = stream.get_last_error(address)
            raise ValueError(f"the Arrow stream failed: {said.decode(errors='replace') if said else f'error {code}'}")

    schema = _Schema()
    check(stream.get_schema(address, ctypes.addressof(schema)))
    try:
        while True:
            array = _Array()
            check(stream.get_next(address, ctypes.addressof(array)))
            if not array.release:
                return
            try:
                columns = _columns(schema, array)
            finally:
                _release(array)
            yield columns
    finally:
        _release(schema)
        # Kept until here: its destructor ends the stream.
        del capsule


def _release(owned: Any) -> None:
    if owned.release:
        _RELEASE(owned.release)(ctypes.addressof(owned))


def _columns(schema: _Schema, array: _Array) -> dict[str, Any]:
    if schema.format != b"+s":
        raise ValueError("the Arrow data are no table; give batches with columns")
    columns: dict[str, Any] = {}
    for at in range(array.n_children):
        own = _Schema.from_address(schema.children[at])
        name = own.name.decode()
        if name in columns:
            raise ValueError(f"two columns are called {name!r}; rename one of them")
        child = _Array.from_address(array.children[at])
        values = _values(own, child, array.offset + child.offset, array.length)
        # Columns of other types may stand beside, as long as nobody asks for them.
        columns[name] = Unread(own.format.decode()) if values is None else values
    return columns


def _buffer(array: _Array, at: int, kind: Any, start: int, count: int) -> NDArray[Any]:
    """Entries of a buffer, not copied."""
    size = np.dtype(kind).itemsize
    if count == 0 or not array.buffers[at]:
        return np.empty(0, kind)
    memory = (ctypes.c_char * (count * size)).from_address(array.buffers[at] + start * size)
    return np.frombuffer(memory, kind, count)


def _bits(array: _Array, at: int, start: int, count: int) -> NDArray[np.bool_]:
    first = start // 8
    packed = _buffer(array, at, np.uint8, first, (start + count + 7) // 8 - first)
    return np.unpackbits(packed, bitorder="little")[start - 8 * first :][:count].astype(bool)


def _there(array: _Array, start: int, count: int) -> NDArray[np.bool_] | None:
    """Which entries have a value; none if all have."""
    if array.null_count == 0 or array.n_buffers == 0 or not array.buffers[0]:
        return None
    there = _bits(array, 0, start, count)
    return None if there.all() else there


def _values(schema: _Schema, array: _Array, start: int, count: int) -> NDArray[Any] | None:
    """Numbers (missing ones as NaN), texts (as objects, missing ones as None), or a matrix of lists of numbers; none if the
    column is something else."""
    kind = schema.format.decode()
    there = _there(array, start, count)
    if schema.dictionary:
        codes = _buffer(array, 1, _NUMBERS[kind], start, count)
        own = _Array.from_address(array.dictionary)
        texts = _values(_Schema.from_address(schema.dictionary), own, own.offset, own.length)
        if texts is None:
            return None
        if there is None:
            found: NDArray[Any] = texts[codes]
        else:
            precise = np.float32 if texts.dtype in (np.float16, np.float32) else np.float64
            found = np.full(count, None, object) if texts.dtype == object else np.full(count, np.nan, precise)
            found[there] = texts[codes[there]]
        return found
    if kind in _NUMBERS:
        numbers: NDArray[Any] = _buffer(array, 1, _NUMBERS[kind], start, count)
        if there is None:
            return np.array(numbers)
        present = numbers.astype(np.float32 if kind in "ef" else np.float64)
        present[~there] = np.nan
        return present
    if kind == "b":
        flags = _bits(array, 1, start, count).astype(np.float64)
        return flags if there is None else np.where(there, flags, np.nan)
    if kind in ("u", "U", "vu"):
        texts = _views(array, start, count) if kind == "vu" else _texts(array, kind, start, count)
        if there is not None:
            texts[~there] = None
        return texts
    if kind.startswith("+w:") or kind in ("+l", "+L"):
        return _matrix(schema, array, kind, start, count, there)
    return None


def _texts(array: _Array, kind: str, start: int, count: int) -> NDArray[Any]:
    ends = _buffer(array, 1, np.int32 if kind == "u" else np.int64, start, count + 1)
    texts = np.empty(count, object)
    if count == 0:
        return texts
    first = int(ends[0])
    letters = bytes(_buffer(array, 2, np.uint8, first, int(ends[-1]) - first))
    bounds = (ends - ends[0]).tolist()
    texts[:] = [letters[a:b].decode() for a, b in itertools.pairwise(bounds)]
    return texts


def _views(array: _Array, start: int, count: int) -> NDArray[Any]:
    """Texts of up to 12 bytes stand in the view itself, others in one of the further buffers."""
    texts = np.empty(count, object)
    views = _buffer(array, 1, np.dtype("V16"), start, count).tobytes()
    for i in range(count):
        view = views[16 * i : 16 * i + 16]
        length = int.from_bytes(view[:4], "little")
        if length <= 12:
            texts[i] = view[4 : 4 + length].decode()
        else:
            buffer, at = int.from_bytes(view[8:12], "little"), int.from_bytes(view[12:], "little")
            texts[i] = bytes(_buffer(array, 2 + buffer, np.uint8, at, length)).decode()
    return texts


def _matrix(
    schema: _Schema, array: _Array, kind: str, start: int, count: int, there: NDArray[np.bool_] | None
) -> NDArray[Any] | None:
    """Lists of numbers, all of one length."""
    name = schema.name.decode()
    if there is not None:
        raise ValueError(f"a list in the column {name!r} is missing; fill it in")
    own, values = _Schema.from_address(schema.children[0]), _Array.from_address(array.children[0])
    if kind.startswith("+w:"):
        width = int(kind[3:])
        first, end = start * width, (start + count) * width
    else:
        ends = _buffer(array, 1, np.int32 if kind == "+l" else np.int64, start, count + 1)
        if count == 0:
            return np.empty((0, 0))
        lengths = np.diff(ends)
        width, first, end = int(lengths[0]), int(ends[0]), int(ends[-1])
        if (lengths != width).any():
            raise ValueError(f"the lists in the column {name!r} have different lengths; give all the same")
    numbers = _values(own, values, values.offset + first, end - first)
    if numbers is None or numbers.dtype == object or numbers.ndim > 1:
        return None
    return numbers.reshape(count, width)


class Column:
    """A column to hand over: its name, its format, its buffers and, of lists, the column inside."""

    def __init__(
        self, name: str, kind: str, length: int, nulls: int, buffers: list[Any], inside: Column | None = None
    ) -> None:
        self.name, self.kind, self.length, self.nulls = name, kind, length, nulls
        self.buffers, self.inside = buffers, inside

    @staticmethod
    def texts(name: str, texts: list[Any]) -> Column:
        """Texts; None is missing."""
        letters = [b"" if text is None else text.encode() for text in texts]
        ends = np.zeros(len(texts) + 1, np.int64)
        np.cumsum([len(text) for text in letters], out=ends[1:])
        there = np.array([text is not None for text in texts], bool)
        short = bool(ends[-1] < 2**31)
        joined = np.frombuffer(b"".join(letters) or b"\0", np.uint8)
        buffers = [_mask(there), ends.astype(np.int32) if short else ends, joined]
        return Column(name, "u" if short else "U", len(texts), int((~there).sum()), buffers)

    @staticmethod
    def numbers(name: str, values: NDArray[np.float64]) -> Column:
        """Numbers; NaN is missing."""
        values = np.ascontiguousarray(values, np.float64)
        there = ~np.isnan(values)
        return Column(name, "g", len(values), int((~there).sum()), [_mask(there), values])

    @staticmethod
    def flags(name: str, values: NDArray[np.bool_]) -> Column:
        """True or false."""
        return Column(name, "b", len(values), 0, [None, np.packbits(values, bitorder="little")])

    @staticmethod
    def lists(name: str, indptr: NDArray[np.int64], values: NDArray[Any]) -> Column:
        """Lists of numbers, whose ends are given."""
        kind = "i" if values.dtype == np.int32 else "g"
        inside = Column("item", kind, len(values), 0, [None, np.ascontiguousarray(values)])
        if indptr[-1] < 2**31:
            return Column(name, "+l", len(indptr) - 1, 0, [None, indptr.astype(np.int32)], inside)
        return Column(name, "+L", len(indptr) - 1, 0, [None, indptr], inside)


def _mask(there: NDArray[np.bool_]) -> NDArray[np.uint8] | None:
    return None if there.all() else np.packbits(there, bitorder="little")


class Batch:
    """A batch of columns that any library takes which knows the Arrow PyCapsule interface: ``pyarrow.record_batch(batch)``,
    ``polars.DataFrame(batch)``."""

    def __init__(self, columns: list[Column]) -> None:
        self._columns = columns

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return self._columns[0].length

    @property
    def column_names(self) -> list[str]:
        """Names of the columns."""
        return [column.name for column in self._columns]

    def __arrow_c_schema__(self) -> Any:
        """What the columns are."""
        return _capsule(_schema_of("+s", "", [_column_schema(column) for column in self._columns]), b"arrow_schema")

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]:
        """The columns. Other types than ours, if they are asked for, are left to whoever asks, as the interface allows."""
        children = [_column_array(column) for column in self._columns]
        array = _array_of(self.num_rows, 0, [None], children)
        return self.__arrow_c_schema__(), _capsule(array, b"arrow_array")

    def to_pydict(self) -> dict[str, list[Any]]:
        """The columns as lists."""
        return {name: values.tolist() for name, values in decoded(self).items()}


#: What was handed over and is not released yet, by the number in its private data: structures may be moved.
_ALIVE: dict[int, Any] = {}
_COUNTER = itertools.count(1)


def _column_schema(column: Column) -> _Schema:
    return _schema_of(column.kind, column.name, [_column_schema(column.inside)] if column.inside else [])


def _column_array(column: Column) -> _Array:
    children = [_column_array(column.inside)] if column.inside else []
    return _array_of(column.length, column.nulls, column.buffers, children)


def _children(of: list[Any]) -> Any:
    return (_ADDRESS * max(1, len(of)))(*[ctypes.addressof(child) for child in of])


def _schema_of(kind: str, name: str, children: list[_Schema]) -> _Schema:
    pointers, number = _children(children), next(_COUNTER)
    schema = _Schema(
        format=kind.encode(),
        name=name.encode(),
        flags=_NULLABLE if kind != "+s" else 0,
        n_children=len(children),
        children=ctypes.cast(pointers, ctypes.POINTER(_ADDRESS)),
        release=ctypes.cast(_release_schema, _ADDRESS).value,
        private_data=number,
    )
    _ALIVE[number] = (schema, children, pointers, kind.encode(), name.encode(), schema._objects)
    return schema


def _array_of(length: int, nulls: int, buffers: list[Any], children: list[_Array]) -> _Array:
    pointers, number = _children(children), next(_COUNTER)
    places = (_ADDRESS * len(buffers))(*[None if buffer is None else buffer.ctypes.data for buffer in buffers])
    array = _Array(
        length=length,
        null_count=nulls,
        n_buffers=len(buffers),
        n_children=len(children),
        buffers=ctypes.cast(places, ctypes.POINTER(_ADDRESS)),
        children=ctypes.cast(pointers, ctypes.POINTER(_ADDRESS)),
        release=ctypes.cast(_release_array, _ADDRESS).value,
        private_data=number,
    )
    _ALIVE[number] = (array, children, pointers, places, buffers)
    return array


def _releaser(kind: Any) -> Any:
    """The function that releases a structure and those inside that nobody has taken over. It holds all it needs: other
    libraries may release what they took when the interpreter ends, and the names of this module are gone already."""

    def release(
        address: int, at: Any = kind.from_address, of: Any = ctypes.addressof, call: Any = _RELEASE, alive: Any = _ALIVE
    ) -> None:
        owned = at(address)
        for k in range(owned.n_children):
            child = at(owned.children[k])
            if child.release:
                call(child.release)(of(child))
        number, owned.release = owned.private_data, None
        alive.pop(number, None)

    function = _RELEASE(release)
    # Never let go, for the same reason.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(function))
    return function


_release_schema, _release_array = _releaser(_Schema), _releaser(_Array)


def _capsule(structure: Any, name: bytes) -> Any:
    """A capsule around a structure, which it releases if nobody took it over."""
    address = ctypes.addressof(structure)
    _IN_CAPSULES[address] = (structure, name)
    return _new_capsule(address, name, _end_of_schema if name == b"arrow_schema" else _end_of_array)


_IN_CAPSULES: dict[int, Any] = {}


def _end(capsule: int, name: bytes) -> None:
    address = _pointer_of_dying(capsule, name)
    structure, _ = _IN_CAPSULES[address]
    _release(structure)
    del _IN_CAPSULES[address]


_end_of_schema = _DESTRUCTOR(lambda capsule: _end(capsule, b"arrow_schema"))
_end_of_array = _DESTRUCTOR(lambda capsule: _end(capsule, b"arrow_array"))
