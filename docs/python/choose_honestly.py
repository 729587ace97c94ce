"""Select a method and its parameters by inner folds, and evaluate the result on outer folds.

`compare` estimates how well each method predicts unseen bags, and which differences are clear. `fit` then trains
on all bags and selects parameters in the same way. Groups are never split; here they are synthetic, in practice they
are patients or scaffolds.
"""

import bagwise

data = bagwise.read("synthetic:gauss?bags=60&features=5&groups=15&witness=0.4&distance=2")
assert data.y is not None

table = bagwise.compare(data.bags, data.y, groups=data.groups, methods=["mi-kernel", "migraph"], folds=5)
print(table)

for row in table.differences:
    print(row["method"], "against", row["against"], row["verdict"], row["difference"], row["p"])

model = bagwise.fit(data.bags, data.y, groups=data.groups, method=table.recommended)
print("chosen:", model)

assert table[0]["accuracy"] > 0.6
