"""Trees and counts of tlc by scikit-learn: make_tree.py FILE writes what tree.json has."""

import json
import sys

import numpy as np
import sklearn
from sklearn.tree import DecisionTreeClassifier

rng = np.random.default_rng(11)
bags, y = [], []
for b in range(24):
    label = 1 if b % 2 else -1
    x = np.round(rng.normal(size=(int(rng.integers(2, 7)), 4)), 6)
    if label == 1:
        x[0, 1] += 2.0
        x[-1, 3] -= 1.5
    bags.append(np.round(x, 6).tolist())
    y.append(label)
size = [len(bag) for bag in bags]
rows = np.vstack([np.array(bag) for bag in bags])
weights = np.repeat([1.0 / s for s in size], size)
labels = np.repeat(y, size)
ends = np.cumsum([0] + size)
cases = []
for depth, leaf in [(1, 1), (3, 2), (6, 1), (4, 5)]:
    model = DecisionTreeClassifier(criterion="gini", max_depth=depth, min_samples_leaf=leaf, random_state=0)
    model.fit(rows, labels, sample_weight=weights)
    tree = model.tree_
    # Nodes level by level; the list grows while it is read. A pure node is a leaf: by rounding, scikit-learn divides some.
    order, nodes = [0], []
    for n in order:
        if tree.children_left[n] >= 0 and tree.impurity[n] > 1e-12:
            nodes.append([int(tree.feature[n]), float(tree.threshold[n])])
            order += [int(tree.children_left[n]), int(tree.children_right[n])]
        else:
            nodes.append(None)
    path = model.decision_path(rows).toarray()[:, order]
    counts = [path[a:b].sum(0).astype(int).tolist() for a, b in zip(ends, ends[1:], strict=False)]
    cases.append({"depth": depth, "leaf": leaf, "nodes": nodes, "counts": counts})
with open(sys.argv[1], "w") as file:
    json.dump({"program": f"scikit-learn {sklearn.__version__}", "bags": bags, "y": y, "cases": cases}, file)
