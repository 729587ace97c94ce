"""Names of the estimators. Written by `cargo xtask python` from the registry of methods: do not edit."""

__all__ = [
    "ExplicitMIGraphClassifier",
    "ExplicitMIGraphRegressor",
    "MIKernelClassifier",
    "MIKernelRegressor",
    "MajorityClassifier",
    "MajorityRegressor",
    "MiGraphClassifier",
    "MiGraphRegressor",
    "SimpleMIClassifier",
    "SimpleMIRegressor",
    "WMKSVMClassifier",
    "WMKSVMRegressor",
]
