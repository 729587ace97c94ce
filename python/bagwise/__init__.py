"""Multi-instance learning.

A *bag* is a set of instances (the conformers of a molecule, the patches of a slide, the posts of a forum), and each
label belongs to a bag. Estimators follow scikit-learn's conventions; the computations run in Rust.

>>> from bagwise import MIKernelClassifier
>>> from bagwise.datasets import load_musk1
>>> bags, y = load_musk1()
>>> model = MIKernelClassifier(c=10).fit(bags[:70], y[:70])
>>> round(float(model.score(bags[70:], y[70:])), 1) >= 0.5
True
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from bagwise._native import __version__

if TYPE_CHECKING:
    from bagwise import arrow, datasets
    from bagwise._answers import Explanation, Explanations, Predictions
    from bagwise._auto import AutoClassifier, AutoRegressor
    from bagwise._bags import Bags, BagsLike
    from bagwise._base import BagClassifier, BagEstimator, BagRegressor
    from bagwise._comparison import Comparison
    from bagwise._convert import convert
    from bagwise._data import Dataset, read
    from bagwise._estimators import (
        # Written by `cargo xtask python`: estimators.
        BagMISVMClassifier,
        BagOfWordsClassifier,
        BagOfWordsRegressor,
        BaggingClassifier,
        BaggingRegressor,
        CCEClassifier,
        CitationKNNClassifier,
        CitationKNNRegressor,
        DDClassifier,
        DDRegressor,
        DDSVMClassifier,
        EMDClassifier,
        EMDDClassifier,
        EMDDRegressor,
        EMDRegressor,
        ExplicitMIGraphClassifier,
        ExplicitMIGraphRegressor,
        ISKClassifier,
        ISKRegressor,
        InstanceMISVMClassifier,
        MGACCClassifier,
        MGACCRegressor,
        MGDDVClassifier,
        MGDDVRegressor,
        MIBoostClassifier,
        MIFVClassifier,
        MIFVRegressor,
        MIKernelClassifier,
        MIKernelRegressor,
        MILESClassifier,
        MILESRegressor,
        MILNetClassifier,
        MILNetRegressor,
        MIRSVMClassifier,
        MIVLADClassifier,
        MIVLADRegressor,
        MIWrapperClassifier,
        MajorityClassifier,
        MajorityRegressor,
        MiGraphClassifier,
        MiGraphRegressor,
        MindClassifier,
        MindRegressor,
        MissSVMClassifier,
        OptimalBallClassifier,
        RBFMIPClassifier,
        RBFMIPRegressor,
        SILClassifier,
        SimpleMIClassifier,
        SimpleMIRegressor,
        StackingClassifier,
        StackingRegressor,
        TLCClassifier,
        WMKSVMClassifier,
        WMKSVMRegressor,
        # End of estimators.
    )
    from bagwise._folds import BagKFold
    from bagwise._frames import from_frame
    from bagwise._judge import compare, evaluate, fit, gram, load, methods
    from bagwise._transform import BagMap, BagSummary, PerInstance, permutation_importance

#: Where names live. They are loaded when they are first asked for, so that the command starts without scikit-learn.
_WHERE = {
    "AutoClassifier": "_auto",
    "AutoRegressor": "_auto",
    "BagClassifier": "_base",
    "BagEstimator": "_base",
    "BagKFold": "_folds",
    "BagMap": "_transform",
    "BagRegressor": "_base",
    "BagSummary": "_transform",
    "Bags": "_bags",
    "BagsLike": "_bags",
    "Comparison": "_comparison",
    "Dataset": "_data",
    "Explanation": "_answers",
    "Explanations": "_answers",
    "PerInstance": "_transform",
    "Predictions": "_answers",
    "permutation_importance": "_transform",
    "compare": "_judge",
    "convert": "_convert",
    "evaluate": "_judge",
    "fit": "_judge",
    "from_frame": "_frames",
    "gram": "_judge",
    "load": "_judge",
    "methods": "_judge",
    "read": "_data",
}

__all__ = [
    "AutoClassifier",
    "AutoRegressor",
    "BagClassifier",
    "BagEstimator",
    "BagKFold",
    "BagMap",
    "BagRegressor",
    "BagSummary",
    "Bags",
    "BagsLike",
    "Comparison",
    "Dataset",
    "Explanation",
    "Explanations",
    "PerInstance",
    "Predictions",
    "__version__",
    "arrow",
    "compare",
    "convert",
    "datasets",
    "evaluate",
    "fit",
    "from_frame",
    "gram",
    "load",
    "methods",
    "permutation_importance",
    "read",
    # Written by `cargo xtask python`: estimators.
    "BagMISVMClassifier",
    "BagOfWordsClassifier",
    "BagOfWordsRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "CCEClassifier",
    "CitationKNNClassifier",
    "CitationKNNRegressor",
    "DDClassifier",
    "DDRegressor",
    "DDSVMClassifier",
    "EMDClassifier",
    "EMDDClassifier",
    "EMDDRegressor",
    "EMDRegressor",
    "ExplicitMIGraphClassifier",
    "ExplicitMIGraphRegressor",
    "ISKClassifier",
    "ISKRegressor",
    "InstanceMISVMClassifier",
    "MGACCClassifier",
    "MGACCRegressor",
    "MGDDVClassifier",
    "MGDDVRegressor",
    "MIBoostClassifier",
    "MIFVClassifier",
    "MIFVRegressor",
    "MIKernelClassifier",
    "MIKernelRegressor",
    "MILESClassifier",
    "MILESRegressor",
    "MILNetClassifier",
    "MILNetRegressor",
    "MIRSVMClassifier",
    "MIVLADClassifier",
    "MIVLADRegressor",
    "MIWrapperClassifier",
    "MajorityClassifier",
    "MajorityRegressor",
    "MiGraphClassifier",
    "MiGraphRegressor",
    "MindClassifier",
    "MindRegressor",
    "MissSVMClassifier",
    "OptimalBallClassifier",
    "RBFMIPClassifier",
    "RBFMIPRegressor",
    "SILClassifier",
    "SimpleMIClassifier",
    "SimpleMIRegressor",
    "StackingClassifier",
    "StackingRegressor",
    "TLCClassifier",
    "WMKSVMClassifier",
    "WMKSVMRegressor",
    # End of estimators.
]


def __getattr__(name: str) -> Any:
    if name in ("arrow", "datasets"):
        return importlib.import_module(f"bagwise.{name}")
    if name in __all__:
        # Estimators are all in one place.
        found = getattr(importlib.import_module(f"bagwise.{_WHERE.get(name, '_estimators')}"), name)
        globals()[name] = found
        return found
    raise AttributeError(f"module 'bagwise' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
