//! Support vector solvers.
