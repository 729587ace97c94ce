"""Embeddings in a pipeline: bags become vectors, and any estimator of scikit-learn goes on from there.

Four ways: a kernel matrix for learners that take one, the sparse map of the isolation set-kernel and your own summary of
a bag as steps of a pipeline, and our classifiers' outputs stacked with others.
"""

import numpy as np
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC, LinearSVC

import bagwise
from bagwise import Bags, ISKClassifier, MIKernelClassifier
from bagwise.datasets import load_musk1

bags, y = load_musk1()

# A kernel matrix, for SVC, GaussianProcess, KernelPCA, spectral clustering.
train, test = bags[::2], bags[1::2]
kernel = bagwise.gram(train, method="migraph", gamma="4/median")
across = bagwise.gram(test, train, method="migraph", gamma="4/median")
svc = SVC(kernel="precomputed", C=10).fit(kernel, y[::2])
print(f"SVC on miGraph's kernel: {svc.score(across, y[1::2]):.2f}")


# The isolation set-kernel has a finite map: a sparse vector per bag whose inner products are the kernel.
isk = ISKClassifier(t=100)
vectors = isk.fit_transform(train, y[::2])
print("vectors:", vectors.shape, "with", vectors.nnz, "entries")
mapped = make_pipeline(isk, LinearSVC(C=10)).fit(train, y[::2]).score(test, y[1::2])
print(f"linear SVM on the map: {mapped:.2f}")


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

assert min(mapped, alone, both) > 0.6
