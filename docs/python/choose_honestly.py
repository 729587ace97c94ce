"""Which method, which parameters, and how good: chosen by inner folds, judged by outer ones.

`compare` says how good methods are on bags they have not seen, and which differences could be luck. `fit` then learns
from all bags, choosing in the same way. Groups (here made up; patients or scaffolds in life) are never split.
"""

import bagwise

data = bagwise.read("synthetic:gauss?bags=60&features=5&groups=15&witness=0.4")
assert data.y is not None

table = bagwise.compare(data.bags, data.y, groups=data.groups, methods=["mi-kernel", "migraph"], folds=5)
print(table)

model = bagwise.fit(data.bags, data.y, groups=data.groups, method=table.best)
print("chosen:", model)

assert table[0]["accuracy"] > 0.6
