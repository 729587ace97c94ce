"""The POT side of `cargo xtask bench transport`: exact transport between pairs of bags.

    transport.py FOLDER REPEATS NAME…

For each NAME, FOLDER has the instances (`NAME.values`, doubles, row by row) and the numbers of instances of the bags
(`NAME.sizes`, 64-bit integers, the number of columns first), and `NAME.pairs` if not all pairs are asked for. Prints
"version POT …" and, for each NAME, "NAME SECONDS": the least CPU seconds of some repeats, cost matrices included, and writes
the distances to `NAME.emd`.
"""

import pathlib
import sys
import time
import warnings

import numpy as np
import ot
from scipy.spatial.distance import cdist

warnings.filterwarnings("ignore")
folder, repeats = pathlib.Path(sys.argv[1]), int(sys.argv[2])
print("version POT", ot.__version__, "numpy", np.__version__)
for name in sys.argv[3:]:
    width, *sizes = np.fromfile(folder / f"{name}.sizes", dtype=np.int64)
    rows = np.fromfile(folder / f"{name}.values").reshape(-1, width)
    bags = np.split(rows, np.cumsum(sizes)[:-1])
    file = folder / f"{name}.pairs"
    if file.exists():
        pairs = np.fromfile(file, dtype=np.int64).reshape(-1, 2)
    else:
        pairs = [(i, j) for i in range(len(bags)) for j in range(i + 1, len(bags))]
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        found = [ot.emd2([], [], cdist(bags[i], bags[j]), numItermax=10_000_000) for i, j in pairs]
        best = min(best, time.process_time() - start)
    np.asarray(found, dtype=np.float64).tofile(folder / f"{name}.emd")
    print(name, best)
