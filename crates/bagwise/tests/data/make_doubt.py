"""Writes the small files doubt_*.parquet beside it, whose columns must not be taken for measurements, with pandas, polars,
pyarrow and fastparquet."""

from pathlib import Path

import fastparquet
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

here = Path(__file__).parent
frame = pd.DataFrame({"bag": list("aabbbc"), "label": [1, 1, 0, 0, 0, 1], "f1": [1.5, 0.25, 0.0, 4.0, 5.0, 0.5]})

# Whole numbers that double precision rounds to one, with a gap, in two row groups of which the first has none.
ids = pd.array([9007199254740993, 9007199254740992, 9007199254740994, 1, None, 7], dtype="Int64")
frame.assign(id=ids).to_parquet(here / "doubt_large_ids.parquet", row_group_size=3)

# Durations, which only the descriptions of the writers tell from whole numbers.
spent = pd.to_timedelta([1, 2, 3, 4, 5, 6], unit="h")
frame.assign(spent=spent).to_parquet(here / "doubt_duration_pandas.parquet")
pl.from_pandas(frame.assign(spent=spent)).write_parquet(here / "doubt_duration_polars.parquet")
table = pa.table({"bag": pa.array(frame.bag), "label": pa.array(frame.label), "f1": pa.array(frame.f1)})
pq.write_table(table.append_column("spent", pa.array(spent)), here / "doubt_duration_pyarrow.parquet")
fastparquet.write(here / "doubt_duration_fastparquet.parquet", frame.assign(spent=spent))

# An index, which fastparquet writes as a column.
fastparquet.write(here / "doubt_index.parquet", frame.set_index(np.arange(10, 16)), write_index=True)
# One that is the bag.
frame.set_index("bag").to_parquet(here / "doubt_index_is_bag.parquet")

# Texts that are said to have no gaps, with levels for gaps before them all the same.
fastparquet.write(here / "doubt_levels.parquet", frame, has_nulls="infer")
