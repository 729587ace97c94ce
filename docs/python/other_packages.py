"""Migrate from misvm, sawmil or mil.

All three take a list of 2-D arrays; bagwise accepts the same list. The pages `from_misvm.md`, `from_sawmil.md`,
`from_mil.md` and `from_weka.md` beside this one map class names and say what differs.
"""

import numpy as np
from sklearn.model_selection import GridSearchCV

import bagwise
from bagwise import MIKernelClassifier, SimpleMIClassifier
from bagwise._estimators import ESTIMATORS
from bagwise.datasets import load_musk1

bags, y = load_musk1()
several = [np.asarray(bag) for bag in bags]

# misvm.NSK(kernel="rbf", gamma=0.5, C=1.0): labels must be -1 and 1, and predict returns decision values. misvm does
# not scale features. bagwise estimators do; use scale="none" if your features are already scaled.
signs = np.where(y == 1, 1, -1)
nsk = MIKernelClassifier(gamma=0.5, norm="mean", c=10.0, scale="minmax").fit(several, signs)
values, classes = nsk.decision_function(several), nsk.predict(several)
assert set(classes) == {-1, 1}
assert np.array_equal(values > 0, classes == 1)

# sawmil.NSK(C=1.0, kernel=RBF(0.5), normalizer="average"): use the same estimator.
assert nsk.predict_proba(several).shape == (92, 2)

# mil.models.SVC on a bag representation: an SVM on bag means, or on minima and maxima.
means = SimpleMIClassifier().fit(several, y)
assert means.score(several, y) > 0.6

# Loops over parameters: use scikit-learn's tools, or `bagwise.evaluate`, which shares Gram matrices over the grid.
search = GridSearchCV(MIKernelClassifier(), {"gamma": ["1/median", "4/median"], "c": [1, 100]}, cv=3)
search.fit(several, y)
print("GridSearchCV chose", search.best_params_)
params = {"gamma": ["1/median", "4/median"], "c": [1, 100]}
found = bagwise.evaluate(bags, y, "mi-kernel", folds=5, params=params)
print(f"nested estimate: {found[0]['accuracy']:.2f}")

print("estimators:", ", ".join(sorted(cls.__name__ for cls in ESTIMATORS.values())))
