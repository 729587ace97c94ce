"""Writes the small files numpy_*.npz and scipy_*.mat beside it, with NumPy and SciPy themselves."""

import zipfile
from pathlib import Path

import numpy as np
from scipy.io import savemat
from scipy.sparse import csc_matrix

here = Path(__file__).parent
X = np.array([[1.5, -2.0], [0.25, 3.0], [0.0, 1.0], [4.0, 0.0], [5.0, -6.5], [0.5, 0.125]])
bag = np.array(["a", "a", "b", "b", "b", "c"])
y = np.array([1, 0, 1])
groups = np.array(["g", "g", "h"])
where = [slice(0, 2), slice(2, 5), slice(5, 6)]

np.savez(here / "numpy_ids.npz", X=X.astype("f4"), bag=bag, y=y, groups=groups)
np.savez_compressed(
    here / "numpy_offsets.npz",
    X=np.asfortranarray(X),
    offsets=np.array([0, 2, 5, 6]),
    bag=bag[[0, 2, 5]].astype("S"),
    y=np.array(["yes", "no", "yes"]),
    groups=groups,
    features=np.array(["size", "log P"]),
    embedding=np.zeros((2, 2)),
)
np.savez(here / "numpy_half_big.npz", X=X.astype(">f2"), bag=np.array([7, 7, 8, 8, 8, 9], ">u8"), y=y[[0, 0, 1, 1, 1, 2]] == 1)

# An archive in the form for more than 4 GB, which numbers of any size may have.
zipfile.ZIP64_LIMIT = 100
np.savez(here / "numpy_zip64.npz", X=X.astype("f4"), bag=bag, y=y, groups=groups)

cells = np.empty((3, 1), object)
for b, rows in enumerate(where):
    cells[b, 0] = X[rows]
savemat(here / "scipy_cells.mat", {"bags": cells, "labels": y}, do_compression=True)
savemat(here / "scipy_matrix.mat", {"X": X, "bag": np.array([7, 7, 8, 8, 8, 9]), "y": y, "unused": {"a": 1}})
pairs = np.empty((3, 2), object)
for b, rows in enumerate(where):
    pairs[b, 0] = csc_matrix(X[rows])
    pairs[b, 1] = ["yes", "no", "yes"][b]
savemat(here / "scipy_sparse_pairs.mat", {"data": pairs}, do_compression=True)
texts = {"X": X.astype("f4"), "bag": bag.astype(object), "label": np.array(["yes", "no ", "yes"]), "features": np.array(["size", "log P"], object)}
savemat(here / "scipy_texts.mat", texts)
