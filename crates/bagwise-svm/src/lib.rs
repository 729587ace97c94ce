//! Support vector machines on kernel matrices and on explicit features.
//!
//! The crate knows examples, kernels and costs, nothing else. It holds three separate things: the *problem*
//! ([`Dual`], and [`KernelRows`] to read its matrix), the *solver* ([`smo`]), and the *forms* that turn
//! classification and regression into that problem and back ([`fit`], [`fit_path`]). [`fit_linear`] solves the
//! same problem on explicit features, [`fit_with_faces`] on Grams of few dimensions, [`fit_chunks`] where the matrix is too large to keep. [`outputs_of_block`] is for many small machines. [`Platt`] and [`Isotonic`] turn scores into probabilities.
//!
//! ```
//! use bagwise_svm::{Form, Gram, SmoParams, StopReason, bounds, fit, fit_path};
//!
//! // Four points on a line, and the Gram matrix of k(x, z) = x z.
//! let x = [-2.0, -1.0, 1.0, 3.0];
//! let gram: Vec<f64> = x.iter().flat_map(|a| x.iter().map(move |b| a * b)).collect();
//! let labels = [-1.0, -1.0, 1.0, 1.0];
//!
//! let everything = [0, 1, 2, 3];
//! let kernel = Gram::new(&gram, 4, &everything);
//! let machine = fit(&kernel, Form::Classify { labels: &labels }, &bounds(10.0, 4), None, &SmoParams::default());
//! assert_eq!(machine.outcome.status, StopReason::Converged);
//! // The margin runs between -1 and 1: f(x) = x.
//! assert!((machine.output(|i| x[i] * 0.5) - 0.5).abs() < 1e-3);
//!
//! // A fold is a list of indices; several costs cost little more than one.
//! let fold = [0, 2, 3];
//! let kernel = Gram::new(&gram, 4, &fold);
//! let labels = [-1.0, 1.0, 1.0];
//! let path = fit_path(&kernel, Form::Classify { labels: &labels }, &[1.0; 3], &[0.1, 1.0, 10.0], &SmoParams::default());
//! assert_eq!(path.len(), 3);
//! ```

mod cholesky;
mod chunks;
mod expansion;
mod faces;
mod features;
mod forms;
mod interior;
mod isotonic;
mod linear;
mod platt;
mod problem;
mod rows;
mod scan;
mod smo;

pub use chunks::{ChunkKernel, ChunkStart, fit_chunks};
pub use expansion::{LANES, outputs_of_block};
pub use faces::fit_with_faces;
pub use features::{FeatureRows, Features};
pub use forms::{Form, Machine, balanced_weights, bounds, fit, fit_path};
pub use isotonic::Isotonic;
pub use linear::{LinearMachine, LinearParams, fit_linear, fit_linear_path, linear_bytes};
pub use platt::Platt;
pub use problem::{Dual, Gram, KernelRows, RowFn};
pub use smo::{SmoParams, Solution, SolveOutcome, StopReason, smo};
