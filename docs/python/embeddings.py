"""Embeddings in a pipeline: bags become vectors, and any estimator of scikit-learn goes on from there.

Three ways: a kernel matrix for learners that take one, your own summary of a bag in a pipeline, and our classifiers'
outputs stacked with others.
"""

import numpy as np
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

import bagwise
from bagwise import Bags, MIKernelClassifier
from bagwise.datasets import load_musk1

bags, y = load_musk1()

# A kernel matrix, for SVC, GaussianProcess, KernelPCA, spectral clustering.
train, test = bags[::2], bags[1::2]
kernel = bagwise.gram(train, method="migraph", gamma="4/median")
across = bagwise.gram(test, train, method="migraph", gamma="4/median")
svc = SVC(kernel="precomputed", C=10).fit(kernel, y[::2])
print(f"SVC on miGraph's kernel: {svc.score(across, y[1::2]):.2f}")


# A summary of a bag as a step of a pipeline: a function from bags to a matrix.
def summary(bags: Bags) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    return np.stack([np.concatenate([bag.mean(axis=0), bag.max(axis=0)]) for bag in bags])


line = make_pipeline(FunctionTransformer(summary), StandardScaler(), RidgeClassifier(alpha=10))
alone = line.fit(train, y[::2]).score(test, y[1::2])
print(f"mean and maximum, ridge: {alone:.2f}")

# Both together.
stack = StackingClassifier([("kernel", MIKernelClassifier(c=10)), ("summary", line)], LogisticRegression(), cv=3)
both = stack.fit(train, y[::2]).score(test, y[1::2])
print(f"stacked: {both:.2f}")

assert min(alone, both) > 0.6
