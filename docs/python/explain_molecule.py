"""Explain a prediction: how much does each shape of a molecule contribute?

The decision value of a set kernel is a bias plus one part per instance. The sum is exact; nothing is sampled or
approximated.
"""

import numpy as np

from bagwise import MIKernelClassifier
from bagwise.datasets import load_musk1

bags, y = load_musk1()
model = MIKernelClassifier(gamma="4/median", c=10).fit(bags, y)

molecule = int(np.argmax(model.decision_function(bags)))
(why,) = model.explain(bags[[molecule]])
print(f"molecule {why.bag}: decision value {why.value:.3f} ({why.machine}), bias {why.bias:.3f}")
for shape in why.top(3):
    print(f"  shape {shape + 1} of {len(why.parts)} adds {why.parts[shape]:+.3f}")

assert why.bias is not None
assert np.isclose(why.bias + why.parts.sum(), model.decision_function(bags[[molecule]])[0])

# `familiar` is False for bags that resemble no training bag.
strange = [bags[molecule] * 10]
print("a molecule ten times as large is familiar:", bool(model.familiar(strange)[0]))
assert not model.familiar(strange)[0]
