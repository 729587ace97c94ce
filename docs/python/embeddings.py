"""Turn bags into vectors or kernels and use them with any scikit-learn estimator.

Four ways: a precomputed kernel matrix, the sparse feature map of the isolation set-kernel as a pipeline step, your own
summary of a bag as a pipeline step, and bagwise classifiers stacked with others.
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

# A kernel matrix for SVC, Gaussian processes, KernelPCA or spectral clustering.
train, test = bags[::2], bags[1::2]
kernel = bagwise.gram(train, method="migraph", gamma="4/median")
across = bagwise.gram(test, train, method="migraph", gamma="4/median")
svc = SVC(kernel="precomputed", C=10).fit(kernel, y[::2])
print(f"SVC on miGraph's kernel: {svc.score(across, y[1::2]):.2f}")


# The isolation set-kernel has a finite feature map: one sparse vector per bag, whose inner products are the kernel.
isk = ISKClassifier(t=100)
vectors = isk.fit_transform(train, y[::2])
print("vectors:", vectors.shape, "with", vectors.nnz, "entries")
mapped = make_pipeline(isk, LinearSVC(C=10)).fit(train, y[::2]).score(test, y[1::2])
print(f"linear SVM on the map: {mapped:.2f}")


# A bag summary as a pipeline step: a function from bags to a matrix.
def summary(bags: Bags) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    return np.stack([np.concatenate([bag.mean(axis=0), bag.max(axis=0)]) for bag in bags])


line = make_pipeline(FunctionTransformer(summary), StandardScaler(), RidgeClassifier(alpha=10))
alone = line.fit(train, y[::2]).score(test, y[1::2])
print(f"mean and maximum, ridge: {alone:.2f}")

# Stack both classifiers.
stack = StackingClassifier([("kernel", MIKernelClassifier(c=10)), ("summary", line)], LogisticRegression(), cv=3)
both = stack.fit(train, y[::2]).score(test, y[1::2])
print(f"stacked: {both:.2f}")

assert min(mapped, alone, both) > 0.6
