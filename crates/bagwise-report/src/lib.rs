//! Turns evaluation records into a page people can read.
