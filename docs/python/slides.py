"""Read slides from a folder of .npy files: one array of patch embeddings per slide, labels and patients in a table.

`bagwise.read` leaves the data in the files and reads rows when needed, so the folder may be larger than memory. If the
data fit in memory, you can use `numpy.load` instead and pass a list of 2-D arrays.
"""

import csv
import tempfile
from pathlib import Path

import numpy as np
from sklearn.model_selection import GroupKFold, cross_val_score

import bagwise
from bagwise import Bags, MIKernelClassifier

with tempfile.TemporaryDirectory() as name:
    # Simulate the output of an embedding network: 40 slides of 20 patients, each with 30 to 60 patches of 32 numbers.
    folder = Path(name)
    rng = np.random.default_rng(0)
    (folder / "slides").mkdir()
    with open(folder / "labels.csv", "w", newline="") as table:
        rows = csv.writer(table)
        rows.writerow(["slide", "msi", "patient"])
        for i in range(40):
            patches = rng.normal(size=(rng.integers(30, 60), 32)).astype(np.float32)
            if i % 4 >= 2:
                patches[:8] += 1.5
            np.save(folder / "slides" / f"s{i:02}.npy", patches)
            rows.writerow([f"s{i:02}", int(i % 4 >= 2), f"p{i // 2}"])

    # Leave the rows in the files.
    data = bagwise.read(folder / "slides", labels=folder / "labels.csv", bag="slide", label="msi", group="patient")
    assert data.y is not None
    print(data.bags)
    found = bagwise.evaluate(data.bags, data.y, "simple-mi", groups=data.groups, folds=5)
    print(f"simple-mi: accuracy {found[0]['accuracy']:.2f}")

    # In memory, single precision is preserved.
    paths = sorted((folder / "slides").glob("*.npy"))
    bags = Bags([np.load(path) for path in paths], ids=[path.stem for path in paths])
    model = MIKernelClassifier(c=10, precision="f32")
    scores = cross_val_score(model, bags, data.y, groups=data.groups, cv=GroupKFold(5))
    print(f"mi-kernel: accuracy {scores.mean():.2f}")

    assert bags.ids == data.bags.ids
    assert scores.mean() > 0.6
