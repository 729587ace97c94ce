"""Models inside engines: every engine must give the answers that the package gives, bit for bit, also after one of its
processes was killed; and a model trained on feature maps from Spark must be the one trained on maps of the command line.
Prints a line per engine; an engine that is not there is said to be missing, and one that disagrees ends the program with an
error.

    engines.py [bags=N] [kills=N] [ENGINE…]

There are 2,000 bags unless told, and 40,000 have 1,999,955 instances of 64 features. `kills` is how often engines that lose a
process are run so, once unless told.
"""

from __future__ import annotations

import csv
import importlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import bagwise
import scale
from bagwise import arrow

Answers = dict[str, tuple[Any, ...]]


class Missing(Exception):
    """An engine is not there."""


def needs(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise Missing(str(error)) from error


def made(folder: Path, bags: int) -> tuple[str, str]:
    """A table of rows that are not in order, and a model."""
    rng = np.random.default_rng(5)
    sample, sizes = np.arange(400) % 2, np.full(400, 20)
    columns = [f"f{i + 1}" for i in range(scale.WIDTH)]
    frame = bagwise.Bags(scale.instances(rng, sample, sizes), np.repeat(np.arange(400), sizes), feature_names=columns)
    bagwise.ISKClassifier(t=100, psi=64).fit(frame, sample).save(folder / "m.bagwise")
    table = pq.read_table(scale.whole_set(folder, bags))
    print(f"{bags:,} bags, {len(table):,} x {scale.WIDTH}; isk, t=100, psi=64", flush=True)
    pq.write_table(table.take(rng.permutation(len(table))), folder / "t.parquet", row_group_size=1 << 16)
    return str(folder / "t.parquet"), str(folder / "m.bagwise")


def answers(batches: Any) -> Answers:
    """What was said of each bag; an error if one was answered twice."""
    found: Answers = {}
    for batch in batches:
        columns = batch.to_pydict()
        for values in zip(*(columns[name] for name in ("bag", "label", "score", "probability")), strict=True):
            if values[0] in found:
                raise SystemExit(f"bag {values[0]} was answered twice")
            found[values[0]] = values[1:]
    return found


def predicted(table: str, model: str, folder: Path) -> Answers:
    """What the command line says of the same bags, whose rows it needs together."""
    whole = pq.read_table(table).sort_by([("bag", "ascending"), ("row", "ascending")])
    pq.write_table(whole, folder / "sorted.parquet")
    del whole
    return answers_in(bagwise_command("predict", model, *reading(folder), "-o", folder / "p.csv"))


def reading(folder: Path) -> list[str]:
    """The sorted table, and how the command line reads it."""
    return [str(folder / "sorted.parquet"), "--bag", "bag", "--ignore", "row"]


def bagwise_command(*words: object) -> Path:
    """Runs the command line; returns its last word, the file that it wrote."""
    subprocess.run([sys.executable, "-m", "bagwise", *map(str, words)], check=True, stdout=subprocess.DEVNULL)
    return Path(str(words[-1]))


def answers_in(file: Path) -> Answers:
    """The predictions of the command line."""
    with file.open(newline="") as text:
        rows = list(csv.DictReader(text))
    last = [name for name in rows[0] if name.startswith("probability ")][-1]
    return {row["bag"]: (row["label"], float(row["score"]), float(row[last])) for row in rows}


class Victim:
    """A process that is killed in the midst of its work: the first worker that has answered something says so in a file,
    and waits to be killed."""

    def __init__(self, folder: Path, wanted: bool) -> None:
        self._file = tempfile.mktemp(dir=folder) if wanted else None
        self._killed: list[int] = []

    def here(self) -> None:
        """Called in workers."""
        if self._file is None:
            return
        try:
            with open(self._file, "x") as file:
                file.write(f"{os.getpid()}\n")
        except FileExistsError:
            return
        time.sleep(20.0)

    def watch(self, words: str = "") -> threading.Thread | None:
        """Kills the worker, or the process above it that has these words in its command line."""
        if self._file is None:
            return None

        def go(path: Path = Path(self._file)) -> None:
            while not (path.exists() and path.read_text().endswith("\n")):
                time.sleep(0.05)
            process = int(path.read_text())
            while words not in command_line(process):
                process = parent(process)
            os.kill(process, signal.SIGKILL)
            self._killed.append(process)

        thread = threading.Thread(target=go, daemon=True)
        thread.start()
        return thread

    def check(self) -> None:
        if self._file is not None and len(self._killed) != 1:
            raise SystemExit("no process was killed")

    def __getstate__(self) -> Any:
        return {"_file": self._file, "_killed": []}


def command_line(process: int) -> str:
    return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")


def parent(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def spark_session() -> Any:
    """Spark with two executors, each in a process of its own."""
    pyspark = needs("pyspark")
    if shutil.which("java") is None:
        raise Missing("there is no Java")
    home = str(Path(pyspark.__file__).parent)
    os.environ.update(SPARK_HOME=home, PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    session = (
        pyspark.sql.SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.sql.shuffle.partitions", "12")
        .config("spark.sql.adaptive.coalescePartitions.enabled", "false")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    return session


def spark(table: str, model: str, victim: Victim) -> Answers:
    session = spark_session()
    score = arrow.scorer(model, bag="bag", order="row")

    def scored(batches: Any) -> Any:
        for answer in score(batches):
            yield answer
            victim.here()

    victim.watch("CoarseGrainedExecutorBackend")
    frame = session.read.parquet(table).repartition("bag").sortWithinPartitions("bag", "row")
    rows = frame.mapInArrow(scored, arrow.DDL).collect()
    session.stop()
    found = {row.bag: (row.label, row.score, row.probability) for row in rows}
    if len(found) != len(rows):
        raise SystemExit("a bag was answered twice")
    return found


def spark_maps(table: str, model: str, folder: Path) -> int:
    """How many predictions agree of two models trained on the feature maps of all bags: one on maps that Spark wrote, one on
    maps that the command line wrote."""
    session = spark_session()
    frame = session.read.parquet(table).repartition("bag").sortWithinPartitions("bag", "row")
    frame.mapInArrow(arrow.mapper(model), arrow.MAP_DDL).write.parquet(str(folder / "maps-spark"))
    session.stop()
    (folder / "maps-embed").mkdir()
    bagwise_command("embed", *reading(folder), "--model", model, "-o", folder / "maps-embed" / "maps.npz")
    names = pq.read_table(table, columns=["bag"])["bag"].unique().to_pylist()
    with (folder / "labels.csv").open("w", newline="") as file:
        # What the labels mean does not matter: both models see the same.
        csv.writer(file).writerows([("bag", "label"), *((bag, sum(bag.encode()) % 2) for bag in sorted(names))])
    found = []
    for maps in ("maps-spark", "maps-embed"):
        trained = bagwise_command(
            *("fit", "--maps", folder / maps, "--model", model, "--labels", folder / "labels.csv"),
            *("-p", "c=1", "-o", folder / f"{maps}.bagwise"),
        )
        found.append(answers_in(bagwise_command("predict", trained, *reading(folder), "-o", folder / f"{maps}.csv")))
    ours, theirs = found
    return sum(ours.get(bag) == values for bag, values in theirs.items()) if len(ours) == len(theirs) else 0


def part(table: str, model: str, number: int, parts: int, victim: Victim) -> Any:
    """The answers to a part of the bags, in a worker."""
    names = pq.read_table(table, columns=["bag"])["bag"].unique().to_pylist()
    own = [name for name in names if sum(name.encode()) % parts == number]
    rows = pq.read_table(table, filters=[("bag", "in", own)])
    batches = rows.sort_by([("bag", "ascending"), ("row", "ascending")]).to_batches(max_chunksize=5000)
    found = pa.Table.from_batches(list(arrow.scorer(model, order="row")(batches)))
    victim.here()
    return found


def dask(table: str, model: str, victim: Victim) -> Answers:
    distributed = needs("dask.distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        victim.watch()
        futures = [client.submit(part, table, model, i, 8, victim, pure=False) for i in range(8)]
        return answers(batch for result in client.gather(futures) for batch in result.to_batches())


def datafusion(table: str, model: str, victim: Victim) -> Answers:
    context = needs("datafusion").SessionContext()
    context.register_parquet("t", table)
    return answers(arrow.scorer(model, order="row")(context.sql('select * from t order by bag, "row"')))


def polars(table: str, model: str, victim: Victim) -> Answers:
    frame = needs("polars").read_parquet(table).sort("bag", "row")
    return answers(arrow.scorer(model, order="row")(frame))


def duckdb(table: str, model: str, victim: Victim) -> Answers:
    relation = needs("duckdb").sql(f"select * from '{table}' order by bag, \"row\"")
    reader = (
        relation.to_arrow_reader(5000) if hasattr(relation, "to_arrow_reader") else relation.fetch_record_batch(5000)
    )
    return answers(arrow.scorer(model, order="row")(reader))


#: Every engine, and whether it may lose a process.
ENGINES = (
    ("datafusion", datafusion, False),
    ("polars", polars, False),
    ("duckdb", duckdb, False),
    ("dask", dask, True),
    ("spark", spark, True),
)


def main() -> None:
    options = {"bags": 2000, "kills": 1}
    chosen = []
    for word in sys.argv[1:]:
        name, _, number = word.partition("=")
        if name in options and number.isdigit():
            options[name] = int(number)
        elif word in {engine for engine, _, _ in ENGINES}:
            chosen.append(word)
        else:
            raise SystemExit(f"'{word}' is neither bags=N nor kills=N nor one of {', '.join(e[0] for e in ENGINES)}")
    with tempfile.TemporaryDirectory() as name:
        table, model = made(Path(name), options["bags"])
        expected = predicted(table, model, Path(name))
        summary = []
        for engine, function, may_lose in ENGINES:
            if chosen and engine not in chosen:
                continue
            for kill in [False, *([True] * options["kills"] if may_lose else [])]:
                what = f"{engine}{', a process killed' if kill else ''}"
                try:
                    started = time.monotonic()
                    victim = Victim(Path(name), kill)
                    found = function(table, model, victim)
                    victim.check()
                except Missing as missing:
                    print(f"{what}: missing: {missing}", flush=True)
                    summary.append(f"{engine} is missing ({missing})")
                    break
                equal = sum(found.get(bag) == values for bag, values in expected.items())
                seconds = time.monotonic() - started
                print(f"{what}: {equal} of {len(expected)} bags equal, {seconds:.1f} s", flush=True)
                if equal != len(expected) or len(found) != len(expected):
                    raise SystemExit(f"{what} disagrees")
            else:
                summary.append(f"{engine} agrees")
        if (not chosen or "spark" in chosen) and "spark agrees" in summary:
            equal = spark_maps(table, model, Path(name))
            print(f"models on maps from spark and from the command line: {equal} of {len(expected)} bags equal", flush=True)
            if equal != len(expected):
                raise SystemExit("a model on maps from spark disagrees")
        print("; ".join(summary))


if __name__ == "__main__":
    main()
