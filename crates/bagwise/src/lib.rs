//! Multi-instance learning.
