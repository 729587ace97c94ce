"""Files that other programs write, in every form they offer, read by bagwise and compared value by value.

    python foreign.py BAGWISE

The expected values are those that the writer was given; a form that its own library cannot read back is not a case.
A form that its writer damages must be refused. Prints how many cases of each writer came out right, and every other."""

import itertools
import subprocess
import sys
import tempfile
from collections import Counter
from decimal import Decimal
from pathlib import Path

import duckdb
import fastparquet
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.io import loadmat, savemat
from scipy.sparse import csc_matrix

bagwise = sys.argv[1]
done, wrong = Counter(), []
rng = np.random.default_rng(0)
rows = 60
bag = np.array([f"bag {chr(97 + i // 3)}" for i in range(rows)])
label = np.array([i // 3 % 2 for i in range(rows)])
ids = np.array([9007199254740900 + 3 * i for i in range(rows)])
f1 = np.round(rng.normal(size=rows) * 10.0 ** rng.integers(-4, 7, rows), 6)
f2 = rng.integers(-2000, 2000, rows)
note = [None if i % 7 == 0 else f"note é {i}" for i in range(rows)]


def check(writer, form, path, columns, *options, kept=None, of=label):
    """Reads a file and compares features, labels, bags and kept columns with what was written."""
    done[writer, "cases"] += 1
    out = path.with_name("out.npz")
    out.unlink(missing_ok=True)
    run = subprocess.run([bagwise, "convert", str(path), str(out), "--quiet", *options], capture_output=True, text=True)
    if run.returncode:
        wrong.append(f"{writer} {form}: {run.stderr.strip()}")
        return
    got = np.load(out)
    want = np.column_stack([np.asarray(c, float) for c in columns.values()])
    offsets = got["offsets"]
    found = {
        "features": list(got["features"]) == list(columns),
        "X": np.array_equal(got["X"].astype(float), want, equal_nan=True),
        "bag": list(got["bag"]) == list(dict.fromkeys(bag)) and list(np.diff(offsets)) == [3] * (rows // 3),
        "y": np.array_equal(got["y"].astype(float), np.asarray(of)[offsets[:-1]].astype(float)),
    }
    for name, values in (kept or {}).items():
        found[name] = list(got[name]) == ["" if v is None else str(v) for v in values]
    bad = [name for name, equal in found.items() if not equal]
    if bad:
        wrong.append(f"{writer} {form}: {', '.join(bad)} differ")
    else:
        done[writer, "equal"] += 1


here = Path(tempfile.mkdtemp())
parquet = here / "t.parquet"
frame = pd.DataFrame({"bag": bag, "label": label, "id": ids, "f1": f1, "f2": f2})
arrow = pa.table({"bag": bag, "label": label, "id": ids, "note": pa.array(note, pa.string()), "f1": f1, "f2": f2})
features = {"f1": f1, "f2": f2}

# --- pyarrow: compressions, pages, encodings, types
encodings = {
    "dictionary": {},
    "plain": {"use_dictionary": False},
    "delta": {
        "use_dictionary": False,
        "column_encoding": {
            "bag": "DELTA_BYTE_ARRAY", "note": "DELTA_LENGTH_BYTE_ARRAY", "label": "DELTA_BINARY_PACKED",
            "id": "DELTA_BINARY_PACKED", "f1": "BYTE_STREAM_SPLIT", "f2": "DELTA_BINARY_PACKED",
        },
    },
    "swapped delta": {
        "use_dictionary": False,
        "column_encoding": {"bag": "DELTA_LENGTH_BYTE_ARRAY", "note": "DELTA_BYTE_ARRAY", "f2": "BYTE_STREAM_SPLIT"},
    },
}
for packed, version, (name, how), size in itertools.product(
    ["none", "snappy", "gzip", "brotli", "zstd", "lz4"], ["1.0", "2.0"], encodings.items(), [None, 17]
):
    pq.write_table(arrow, parquet, compression=packed, data_page_version=version, row_group_size=size, **how)
    form = f"{packed}, pages {version}, {name}, groups {size}"
    check("pyarrow", form, parquet, features, "--keep", "id,note", kept={"id": ids, "note": note})
types = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(), pa.float16(), pa.float32(), pa.bool_()]
for kind, (name, how), gaps in itertools.product(types, list(encodings.items())[:2], [False, True]):
    values = [None if gaps and i % 5 == 0 else bool(i % 3) if kind == pa.bool_() else i % 100 for i in range(rows)]
    column = pa.array([np.float16(v) if v is not None and kind == pa.float16() else v for v in values], kind)
    pq.write_table(arrow.select(["bag", "label", "f1"]).append_column("v", column), parquet, **how)
    want = {"f1": f1, "v": [np.nan if v is None else float(v) for v in values]}
    check("pyarrow", f"{kind}, {name}, gaps {gaps}", parquet, want, *(["--missing", "median"] if gaps else []))
for digits, scale in [(4, 1), (9, 2), (18, 4), (38, 10)]:
    values = [Decimal(int(v * 100)) / 100 for v in np.linspace(-9, 9, rows)]
    column = pa.array([v.quantize(Decimal(1).scaleb(-scale)) for v in values], pa.decimal128(digits, scale))
    for integers in [False, True]:
        pq.write_table(
            arrow.select(["bag", "label", "f1"]).append_column("v", column), parquet, store_decimal_as_integer=integers
        )
        check("pyarrow", f"decimal {digits},{scale}, {integers}", parquet, {"f1": f1, "v": [float(v) for v in column.to_pylist()]})

# --- pandas: indices and nullable types
for packed, index in itertools.product(["snappy", "gzip", "brotli", "zstd", "lz4"], ["none", "range", "other", "bag"]):
    indexed = {"none": frame, "range": frame, "other": frame.set_index(np.arange(rows) * 2 + 5), "bag": frame.set_index("bag")}
    indexed[index].to_parquet(parquet, compression=packed, index=None if index != "none" else False)
    check("pandas", f"{packed}, index {index}", parquet, features, "--keep", "id", kept={"id": ids})
for packed in ["snappy", "zstd"]:
    holes = pd.array([None if i % 6 == 0 else int(v) for i, v in enumerate(ids)], "Int64")
    reals = np.where(np.arange(rows) % 4 == 0, np.nan, f1)
    frame.assign(id=holes, f1=reals, f2=pd.array(f2, "Int32")).to_parquet(parquet, compression=packed)
    kept = {"id": [None if i % 6 == 0 else v for i, v in enumerate(ids)]}
    check("pandas", f"gaps, {packed}", parquet, {"f1": reals, "f2": f2}, "--keep", "id", "--missing", "median", kept=kept)

# --- polars
for packed, size, statistics in itertools.product(["uncompressed", "snappy", "gzip", "brotli", "zstd", "lz4"], [None, 25], [True, False]):
    pl.from_pandas(frame).write_parquet(parquet, compression=packed, row_group_size=size, statistics=statistics)
    check("polars", f"{packed}, groups {size}", parquet, features, "--keep", "id", kept={"id": ids})

# --- DuckDB
con = duckdb.connect()
con.register("t", arrow)
for version, packed in itertools.product(["V1", "V2"], ["uncompressed", "snappy", "gzip", "zstd", "brotli", "lz4", "lz4_raw"]):
    how = f"(FORMAT parquet, PARQUET_VERSION {version}, COMPRESSION {packed})"
    con.sql(f"COPY t TO '{parquet}' {how}")
    check("duckdb", f"{version}, {packed}", parquet, features, "--keep", "id,note", kept={"id": ids, "note": note})
    con.sql(f"COPY (SELECT bag, label, f1, f2::DECIMAL(9,2)/7 AS q, f2::DECIMAL(4,0) AS w, (f2/8)::DECIMAL(30,3) AS z, f2 > 0 AS b, f1::FLOAT AS s FROM t) TO '{parquet}' {how}")
    back = con.sql(f"SELECT * FROM '{parquet}'").df()
    want = {c: back[c].astype(float) for c in ["f1", "q", "w", "z", "b", "s"]}
    check("duckdb", f"types, {version}, {packed}", parquet, want)

# --- fastparquet
for packed, nulls, index in itertools.product([None, "SNAPPY", "GZIP", "ZSTD", "BROTLI", "LZ4", "LZ4_RAW"], [True, False, "infer"], [False, True]):
    try:
        fastparquet.write(parquet, frame, compression=packed, has_nulls=nulls, write_index=index)
        fastparquet.ParquetFile(parquet).to_pandas()
    except Exception:  # its own library does not read it
        continue
    if pq.read_table(parquet)["bag"].to_pylist() != list(bag):
        # Texts without gaps get levels that their description denies, and pyarrow reads them wrongly.
        done["fastparquet", "cases"] += 1
        run = subprocess.run([bagwise, "convert", str(parquet), str(here / "out.npz"), "--keep", "id"], capture_output=True, text=True)
        if run.returncode and "column 'bag': the file is damaged" in run.stderr:
            done["fastparquet", "equal"] += 1
        else:
            wrong.append(f"fastparquet {packed}, nulls {nulls}: a damaged file was read: {run.stderr}")
        continue
    check("fastparquet", f"{packed}, nulls {nulls}, index {index}", parquet, features, "--keep", "id", kept={"id": ids})

# --- spreadsheets: locales, encodings, quotes, line ends, what stands for no value
locales = {"en": (",", ".", ","), "de": (";", ",", "."), "fr": (";", ",", "\u202f"), "ch": (";", ".", "'")}
amounts = np.round(rng.uniform(-1e6, 1e6, rows), 2)


def written(value, decimal, group):
    if np.isnan(value):
        return None
    return f"{value:,.2f}".replace(",", "\0").replace(".", decimal).replace("\0", group)


for (locale, (mark, decimal, group)), encoding, quoted, end, hole in itertools.product(
    locales.items(), ["utf-8", "utf-8-sig", "cp1252", "utf-16"], [False, True], ["\n", "\r\n"], [None, "", "n/a", "#N/A", "-", "null"]
):
    if encoding == "cp1252" and locale == "fr":
        group = "\xa0"
    values = amounts if hole is None else np.where(np.arange(rows) % 9 == 0, np.nan, amounts)
    cells = [["bag", "label", "größe", "f2"]]
    for i in range(rows):
        cells.append([bag[i], str(label[i]), written(values[i], decimal, group) or hole or "", str(f2[i])])
    quote = lambda text: f'"{text}"' if quoted or mark in text else text
    text = end.join(mark.join(map(quote, row)) for row in cells) + end
    path = here / "t.csv"
    path.write_bytes(text.encode(encoding))
    check("spreadsheet", f"{locale}, {encoding}, {quoted}, {end!r}, {hole!r}", path, {"größe": values, "f2": f2}, *([] if hole is None else ["--missing", "median"]))

# --- pandas and polars as CSV
for mark, decimal, packed in itertools.product([",", ";", "\t", "|"], [".", ","], [None, "gzip", "bz2", "zstd"]):
    path = here / ("t.csv" + {None: "", "gzip": ".gz", "bz2": ".bz2", "zstd": ".zst"}[packed])
    try:
        frame.drop(columns="id").to_csv(path, sep=mark, decimal=decimal, index=False, compression=packed)
    except ImportError:
        continue
    check("pandas csv", f"{mark!r}, {decimal!r}, {packed}", path, features)
for mark in [",", ";", "\t"]:
    path = here / "t.csv"
    pl.from_pandas(frame.drop(columns="id")).write_csv(path, separator=mark)
    check("polars csv", repr(mark), path, features)

# --- NumPy
codes = np.unique(bag, return_inverse=True)[1]
for kind, order, save, y in itertools.product(
    ["<f2", "<f4", "<f8", ">f8", ">f4", "|i1", "<i2", ">i4", "<i8", "<u4", "|u1"], "CF", [np.savez, np.savez_compressed], ["per bag", "per row"]
):
    X = np.asarray(np.column_stack([f2 % 100, f2 % 7]), kind, order=order)
    path = here / "t.npz"
    save(path, X=X, bag=bag, y=label if y == "per row" else label[::3], features=np.array(["a", "b"]))
    check("numpy", f"{kind} {order} {save.__name__} {y}", path, {"a": X[:, 0], "b": X[:, 1]})

# --- SciPy
X = np.column_stack([f1, f2])
for packed, oned, kind, form in itertools.product([False, True], ["row", "column"], ["f4", "f8", "i4"], ["matrix", "cells", "sparse", "pairs"]):
    values = X.astype(kind)
    cells = np.empty((rows // 3, 2 if form == "pairs" else 1), object)
    for b in range(rows // 3):
        piece = values[3 * b : 3 * b + 3]
        cells[b, 0] = csc_matrix(piece.astype(float)) if form == "sparse" else piece
        if form == "pairs":
            cells[b, 1] = float(label[3 * b])
    path = here / "t.mat"
    given = {"X": values, "bag": bag.astype(object), "y": label} if form == "matrix" else {"bags": cells}
    if form in ("cells", "sparse"):
        given["label"] = label[::3]
    savemat(path, given, do_compression=packed, oned_as=oned)
    loadmat(path)
    expected = {"f1": values[:, 0], "f2": values[:, 1]}
    if form != "matrix":  # cells have no names of bags: they are numbered
        names, bag = bag, np.repeat(np.arange(1, rows // 3 + 1).astype(str), 3)
        check("scipy", f"{form} {kind} {packed} {oned}", path, expected)
        bag = names
    else:
        check("scipy", f"{form} {kind} {packed} {oned}", path, expected)

for writer in dict.fromkeys(name for name, _ in done):
    print(f"{writer:<12} {done[writer, 'equal']:4} of {done[writer, 'cases']:4} right")
print(f"{sum(n for (_, what), n in done.items() if what == 'cases')} cases, {len(wrong)} wrong")
print("\n".join(wrong[:60]))
sys.exit(bool(wrong))
