//! The registry: one line per method. Help, parameter flags, Python classes and reference pages are made from it.

use crate::error::{Error, Result};
use crate::method::Method;

mod dd;
mod dd_svm;
mod em_dd;
mod isk;
mod majority;
mod mg_acc;
mod mg_ddv;
mod mi_kernel;
pub(crate) mod mi_svm;
pub(crate) mod mi_svm_bag;
mod migraph;
mod migraph_explicit;
pub(crate) mod mirsvm;
pub(crate) mod sil;
mod simple_mi;
mod wmksvm;

/// Every method, simple ones first.
pub static METHODS: &[&dyn Method] = &[
    &majority::METHOD,
    &simple_mi::METHOD,
    &sil::METHOD,
    &mi_kernel::METHOD,
    &dd::METHOD,
    &em_dd::METHOD,
    &dd_svm::METHOD,
    &wmksvm::METHOD,
    &mi_svm::METHOD,
    &mi_svm_bag::METHOD,
    &mirsvm::METHOD,
    &migraph::METHOD,
    &isk::METHOD,
    &migraph_explicit::METHOD,
    &mg_ddv::METHOD,
    &mg_acc::METHOD,
];

/// A method by name or alias.
pub fn find(name: &str) -> Result<&'static dyn Method> {
    let answers = |m: &&&dyn Method| m.info().name == name || m.info().aliases.contains(&name);
    METHODS
        .iter()
        .find(answers)
        .copied()
        .ok_or_else(|| Error::unknown("method", name, METHODS.iter().map(|m| m.info().name)))
}
