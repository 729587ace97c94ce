"""Writes the small files *.parquet beside it, with pandas and pyarrow."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

here = Path(__file__).parent
X = np.array([[1.5, -2.0], [0.25, 3.0], [0.0, 1.0], [4.0, 0.0], [5.0, -6.5], [0.5, 0.125]])
frame = pd.DataFrame({"bag": list("aabbbc"), "label": [1, 1, 0, 0, 0, 1], "group": list("gggggh"), "f1": X[:, 0], "f2": X[:, 1]})
frame.to_parquet(here / "pandas_wide.parquet")
frame.set_index(np.array([3, 1, 4, 15, 9, 2])).to_parquet(here / "pandas_zstd.parquet", compression="zstd", row_group_size=4, write_page_checksum=True)
mixed = frame.drop(columns="group").assign(
    f1=[1.5, None, 0.0, 4.0, 5.0, 0.5], colour=["red", "blue", None, "red", "red", "green"], small=np.array([1, 2, 3, 4, 5, 250], "u1"), flag=[True, False] * 3
)
mixed.to_parquet(here / "pandas_mixed.parquet", compression="gzip")

table = pa.table({"bag": pa.array(frame.bag), "label": pa.array(frame.label), "group": pa.array(frame.group), "f": pa.array(list(X.astype("f4")), pa.list_(pa.float32()))})
pq.write_table(table, here / "pyarrow_lists.parquet", row_group_size=4, data_page_version="2.0",
               write_page_checksum=True)
halves = table.set_column(3, "f", pa.FixedSizeListArray.from_arrays(pa.array(X.astype("f2").ravel()), 2))
pq.write_table(halves, here / "pyarrow_fixed.parquet", use_dictionary=False, compression="none")
split = table.drop(["f"]).append_column("f1", pa.array(X[:, 0])).append_column("f2", pa.array(X[:, 1]))
pq.write_table(split, here / "pyarrow_split.parquet", use_dictionary=["bag"], use_byte_stream_split=["f1", "f2"])
pq.write_table(split, here / "pyarrow_delta.parquet", use_dictionary=False, column_encoding={"label": "DELTA_BINARY_PACKED"})

# What is refused.
bag, label = pa.array(frame.bag), pa.array(frame.label)


def bad(name, column, kind="bad", **how):
    pq.write_table(pa.table({"bag": bag, "label": label, "x": column}), here / f"{kind}_{name}.parquet", **how)


bad("date", pa.array(pd.date_range("2020-01-01", periods=6)))
bad("decimal", pa.array([1] * 6, pa.decimal128(9, 2)), kind="pyarrow")
bad("struct", pa.array([{"a": 1, "b": 2}] * 6))
bad("nested", pa.array([[[1.0]]] * 6))
bad("ragged", pa.array([[1.0, 2.0]] * 4 + [[1.0]] * 2))
bad("empty_list", pa.array([[1.0], [], [1.0], None, [1.0], [1.0]]))
bad("list_of_texts", pa.array([["a", "b"]] * 6))
bad("lz4", pa.array(X[:, 0]), kind="pyarrow", compression="lz4")
bad("brotli", pa.array(X[:, 0]), kind="pyarrow", compression="brotli")
bad("infinite", pa.array([1, 2, float("inf"), 4, 5, 6]))
bad("binary", pa.array([b"\xff\xfe"] * 6))
none = pa.table({"bag": bag, "label": label, "x": label}).slice(0, 0)
pq.write_table(none, here / "bad_no_rows.parquet")
pq.write_table(pa.table({"bag": pa.array(["a", None] * 3), "label": label, "x": label}), here / "bad_bag.parquet")
pq.write_table(pa.table({"bag": bag, "label": pa.array([1, 0] * 3), "x": label}), here / "bad_label.parquet")
group = pa.array([1, 1, None, None, None, None], pa.int64())
pq.write_table(pa.table({"bag": bag, "label": label, "group": group, "x": label}), here / "bad_group.parquet")
# Every page is small enough by itself; together they become 90 MB.
bad("bomb", pa.array(["a" * 15_000_000] * 6), compression="zstd", use_dictionary=False, write_statistics=False,
    data_page_size=1, write_batch_size=1)
bad("struct_of_one", pa.array([{"a": 1}] * 6))
bad("list_of_structs", pa.array([[{"a": 1}]] * 6))
# One bit of a page that has a checksum.
bad("checksum", pa.array(X[:, 0]), compression="none", use_dictionary=False, write_page_checksum=True)
whole = (here / "bad_checksum.parquet").read_bytes()
at = whole.index(b"\x01\x00\x00\x00a\x01\x00\x00\x00a") + 4
(here / "bad_checksum.parquet").write_bytes(whole[:at] + b"c" + whole[at + 1 :])
