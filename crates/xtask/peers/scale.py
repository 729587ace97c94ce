"""What large data cost on the command line: CPU seconds and peak memory of every stage, each in a process of its own.

    scale.py BAGWISE [FOLDER] [STAGE…]

Stages are `stream` (1,999,955 x 64 in 40,000 bags, in pieces and as a whole) and `maps` (feature maps of bags of 20 x 64 and
the linear machine on them, at three sizes, in memory and on disk). Ends with an error if a bar is missed: at most 300 MB, at most
1.1 times the CPU, the same bytes, and costs that are linear in the number of bags.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

BAGS, ROWS, WIDTH = 40_000, 1_999_955, 64
#: Bags of 20 instances whose maps a machine is trained on.
MAPS = (100_000, 300_000, 1_000_000)
#: What training may take in memory, and, for each bag, what is not enough for that.
MEMORY, ON_DISK = 2_000_000_000, 1000
#: Bags whose instances are in one file at a time.
PART = 50_000

missed: list[str] = []


#: Runs a program and prints what it took. A process between us and the program: the peak of a program counts that of the process
#: that started it, and we may have made large data before.
RUN = """
import os, sys
child = os.fork()
if child == 0:
    os.execv(sys.argv[1], sys.argv[1:])
_, status, used = os.wait4(child, 0)
unit = 1 if sys.platform == "darwin" else 1024
print("\\n", status, used.ru_utime + used.ru_stime, used.ru_maxrss * unit)
"""


@dataclass
class Cost:
    seconds: float
    peak: float

    def __str__(self) -> str:
        return f"{self.seconds:8.1f} CPU s {self.peak / 1e6:8.0f} MB"


def cost(command: list[str]) -> Cost:
    """Runs a program and says what it took."""
    said = subprocess.run([sys.executable, "-c", RUN, *command], stdout=subprocess.PIPE, text=True, check=True)
    status, seconds, peak = map(float, said.stdout.splitlines()[-1].split())
    if status != 0:
        raise SystemExit(f"{' '.join(command)} failed")
    return Cost(seconds, peak)


def check(what: str, holds: bool) -> None:
    print(f"  {what}: {'ok' if holds else 'MISSED'}", flush=True)
    if not holds:
        missed.append(what)


def instances(rng: np.random.Generator, labels: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Rows of bags; the first instance of a positive bag is somewhat elsewhere."""
    values = rng.standard_normal((int(sizes.sum()), WIDTH), dtype=np.float32)
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    values[first[labels == 1], :8] += np.float32(1.5)
    return values


def table(names: np.ndarray, sizes: np.ndarray, values: np.ndarray, **more: np.ndarray) -> pa.Table:
    columns = {f"f{i + 1}": np.ascontiguousarray(values[:, i]) for i in range(WIDTH)}
    return pa.table({"bag": np.repeat(names, sizes), **{k: np.repeat(v, sizes) for k, v in more.items()}, **columns})


def sample(folder: Path, bagwise: str, t: int) -> str:
    """A model of isk from 400 bags, whose map serves all others."""
    rng = np.random.default_rng(1)
    labels, sizes = np.arange(400) % 2, np.full(400, 20)
    file, model = folder / "sample.parquet", folder / f"map{t}.bagwise"
    pq.write_table(
        table(np.array([f"s{b}" for b in range(400)]), sizes, instances(rng, labels, sizes), label=labels), file
    )
    point = ["-p", f"t={t}", "-p", "psi=64", "-p", "epsilon=1", "-p", "c=8", "-p", "solver=map"]
    cost([bagwise, "fit", str(file), "--method", "isk", *point, "--quiet", "-o", str(model)])
    return str(model)


def whole_set(folder: Path, bags: int = BAGS) -> Path:
    """The table of all bags, made once."""
    file = folder / "instances.parquet"
    if file.exists():
        return file
    rng = np.random.default_rng(7)
    sizes = rng.integers(1, 100, bags)
    rows = ROWS * bags // BAGS
    while sizes.sum() != rows:
        far = int(sizes.sum()) - rows
        some = rng.choice(np.flatnonzero(sizes > 1 if far > 0 else sizes < 99), min(abs(far), bags // 40), replace=False)
        sizes[some] -= int(np.sign(far))
    labels = np.arange(bags) % 2
    whole = table(np.array([f"bag {b}" for b in range(bags)]), sizes, instances(rng, labels, sizes))
    row = np.concatenate([np.arange(size) for size in sizes])
    pq.write_table(whole.add_column(1, "row", pa.array(row)), file, row_group_size=1 << 17)
    return file


def stream(folder: Path, bagwise: str) -> None:
    file, model = whole_set(folder), sample(folder, bagwise, 100)
    print(f"{ROWS:,} x {WIDTH} in {BAGS:,} bags, {file.stat().st_size / 1e6:.0f} MB of Parquet; isk, t=100, psi=64")
    common = [str(file), "--bag", "bag", "--ignore", "row", "--quiet"]
    for verb, ending in (("predict", "csv"), ("explain", "csv"), ("embed", "npz")):
        outputs = [folder / f"{verb}-{how}.{ending}" for how in ("pieces", "whole")]
        words = ["embed", "--model", model] if verb == "embed" else [verb, model]
        costs = []
        for how, output in zip(("--stream", "--stream=never"), outputs, strict=True):
            costs.append(cost([bagwise, *words, *common, how, "-o", str(output)]))
            print(f"  {verb + ' ' + how:24}{costs[-1]}", flush=True)
        pieces, whole = costs
        check(f"{verb}: the same bytes", outputs[0].read_bytes() == outputs[1].read_bytes())
        if verb == "predict":
            check(f"{verb}: at most 300 MB", pieces.peak <= 300e6)
            check(
                f"{verb}: {pieces.seconds / whole.seconds:.2f} times the CPU, at most 1.1",
                pieces.seconds <= 1.1 * whole.seconds,
            )
        for output in outputs:
            output.unlink()


def maps(folder: Path, bagwise: str, sizes: tuple[int, ...] = MAPS) -> None:
    model, made, embedding = sample(folder, bagwise, 20), folder / "maps", Cost(0.0, 0.0)
    made.mkdir(exist_ok=True)
    print("bags of 20 x 64: maps (isk, t=20, psi=64) and the linear machine on them (--inner 2), in memory and on disk")
    found = []
    done = 0
    for count in sizes:
        while done < count:
            part = min(PART, count - done)
            bags = np.arange(done, done + part)
            rng, each = np.random.default_rng(1000 + done), np.full(part, 20)
            part_of = table(bags.astype(str), each, instances(rng, bags % 2, each))
            pq.write_table(part_of, folder / "part.parquet", use_dictionary=["bag"])
            words = ["embed", str(folder / "part.parquet"), "--bag", "bag", "--model", model, "--stream", "--quiet"]
            own = cost([bagwise, *words, "-o", str(made / f"{done}.npz")])
            embedding = Cost(embedding.seconds + own.seconds, max(embedding.peak, own.peak))
            done += part
        with (folder / "bags.csv").open("w") as file:
            file.write("bag,label\n")
            file.writelines(f"{b},{b % 2}\n" for b in range(count))
        bytes_of = sum(path.stat().st_size for path in made.iterdir())
        words = ["fit", "--maps", str(made), "--model", model, "--labels", str(folder / "bags.csv"), "-p", "c=1"]
        words += ["--inner", "2", "--quiet", "-o", str(folder / "all.bagwise"), "--memory"]
        trained = cost([bagwise, *words, str(MEMORY)])
        found.append((count, embedding.seconds, trained.seconds))
        print(
            f"  {count:>9,} bags  embed {embedding}   fit --maps {trained}   {bytes_of / 1e9:.2f} GB of maps",
            flush=True,
        )
        check(f"at most {MEMORY / 1e9:.0f} GB", trained.peak <= MEMORY)
        from_disk = cost([bagwise, *words, str(ON_DISK * count)])
        print(f"{'':>16}  with --memory {ON_DISK * count / 1e6:.0f}MB  fit --maps {from_disk}", flush=True)
        check("on disk: at most --memory and 32 MB", from_disk.peak <= ON_DISK * count + 32e6)
        check("on disk: at most 1.5 times the CPU", from_disk.seconds <= 1.5 * trained.seconds)
    for name, at in (("embed", 1), ("fit --maps", 2)):
        each = [1e6 * row[at] / row[0] for row in found]
        said = "/".join(f"{us:.0f}" for us in each)
        check(f"{name}: {said} CPU us a bag, within 1.3 of each other", max(each) <= 1.3 * min(each))


def main() -> None:
    bagwise, rest = sys.argv[1], sys.argv[2:]
    folder = Path(rest.pop(0)) if rest and "/" in rest[0] else None
    wanted = rest or ["stream", "maps"]
    with tempfile.TemporaryDirectory() as name:
        for stage in wanted:
            stage, _, sizes = stage.partition("=")
            if stage == "stream":
                stream(folder or Path(name), bagwise)
            else:
                maps(folder or Path(name), bagwise, tuple(map(int, sizes.split(","))) if sizes else MAPS)
    if missed:
        raise SystemExit("missed: " + "; ".join(missed))


if __name__ == "__main__":
    main()
