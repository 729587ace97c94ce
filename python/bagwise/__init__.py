"""Multi-instance learning, fast and honest.

A *bag* is a set of instances (the shapes of a molecule, the patches of a slide, the posts of a forum); labels belong to
bags. Estimators are those of scikit-learn in manner, and the work is done in Rust.

>>> from bagwise import MIKernelClassifier
>>> from bagwise.datasets import load_musk1
>>> bags, y = load_musk1()
>>> model = MIKernelClassifier(c=10).fit(bags[:70], y[:70])
>>> round(float(model.score(bags[70:], y[70:])), 1) >= 0.5
True
"""

from bagwise import datasets
from bagwise._bags import Bags, BagsLike
from bagwise._base import BagClassifier, BagEstimator, BagRegressor, Explanation
from bagwise._data import Dataset, read
from bagwise._estimators import *  # noqa: F403
from bagwise._estimators import __all__ as _classes
from bagwise._frames import from_frame
from bagwise._judge import Comparison, compare, evaluate, fit, gram, load, methods
from bagwise._native import __version__

__all__ = [  # noqa: PLE0604
    "BagClassifier",
    "BagEstimator",
    "BagRegressor",
    "Bags",
    "BagsLike",
    "Comparison",
    "Dataset",
    "Explanation",
    "__version__",
    "compare",
    "datasets",
    "evaluate",
    "fit",
    "from_frame",
    "gram",
    "load",
    "methods",
    "read",
]
__all__ += _classes
