"""What the cells of the isolation kernel are measured against.

    isk.py FOLDER T PSI… ROWS REPEATS     CPU seconds per partitioning and row, one thread

numpy: points with a 1 appended times (-c, |c|^2 / 2) for all centres of a few partitionings at once, then argmin over each
partitioning's columns, rows in chunks; the best of several chunk sizes. ikpykit: IsoKernel.transform, rows in chunks.
"""

import os
import sys

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import pathlib
import time

import numpy as np


def best(work, repeats):
    least = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        work()
        least = min(least, time.process_time() - start)
    return least


def cells(x, augmented, t, psi, chunk):
    ids = np.empty((len(x), t), np.uint8 if psi <= 256 else np.uint16)
    for start in range(0, len(x), chunk):
        values = x[start : start + chunk] @ augmented
        ids[start : start + chunk] = values.reshape(-1, t, psi).argmin(2)
    return ids


def main():
    folder, t, rows, repeats = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[-2]), int(sys.argv[-1])
    points = np.fromfile(folder / "points", "<f8").reshape(rows, -1)
    for psi in map(int, sys.argv[3:-2]):
        centres = np.fromfile(folder / f"centres{psi}", "<f8").reshape(t * psi, -1)
        for kind in (np.float64, np.float32):
            x = np.hstack([points, np.ones((rows, 1))]).astype(kind)
            c = np.ascontiguousarray(np.vstack([-centres.T, 0.5 * (centres**2).sum(1)]).astype(kind))
            seconds = min(best(lambda: cells(x, c, t, psi, chunk), repeats) for chunk in (32, 128, 512))
            print(f"numpy {psi} {np.dtype(kind).name} {seconds}", flush=True)
            if kind == np.float64:
                cells(x, c, t, psi, 128).astype("<u2").tofile(folder / f"ids{psi}")
    print("version numpy", np.__version__, flush=True)
    try:
        import ikpykit
        from ikpykit.kernel import IsoKernel
    except ImportError as error:
        print("version ikpykit missing", error)
        return
    few = 2000
    for psi in map(int, sys.argv[3:-2]):
        kernel = IsoKernel(method="anne", n_estimators=t, max_samples=psi, random_state=0).fit(points)

        def chunked():
            for start in range(0, few, 500):
                kernel.transform(points[start : start + 500])

        print(f"ikpykit {psi} float64 {best(chunked, 1) * rows / few}", flush=True)
    print("version ikpykit", getattr(ikpykit, "__version__", "?"), flush=True)


main()
