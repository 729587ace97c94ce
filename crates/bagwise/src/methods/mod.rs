//! The registry: one line per method. Help, parameter flags, Python classes and reference pages are made from it.

use serde::Serialize;

use crate::families::map_svm::CellMap;
use crate::method::{Capability, Method, State};
use crate::params::{ParamSpec, Point};
use bagwise_core::{Error, Result};

mod bagging;
mod bow;
mod cce;
mod citation_knn;
mod dd;
mod dd_svm;
mod em_dd;
mod emd;
pub(crate) mod ensemble;
mod isk;
mod majority;
mod members;
mod mg_acc;
mod mg_ddv;
mod mi_boost;
mod mi_fv;
mod mi_kernel;
mod mi_svm;
mod mi_svm_bag;
mod mi_vlad;
mod mi_wrapper;
mod migraph;
mod migraph_explicit;
mod mil_net;
mod miles;
mod mind;
mod mirsvm;
mod misssvm;
mod optimal_ball;
mod rbf_mip;
mod sil;
mod simple_mi;
mod stacking;
mod tlc;
mod wmksvm;

/// Every method. Lists for people are ordered by [`by_complexity`].
pub static METHODS: &[&dyn Method] = &[
    &majority::METHOD,
    &simple_mi::METHOD,
    &mi_wrapper::METHOD,
    &optimal_ball::METHOD,
    &citation_knn::METHOD,
    &mi_boost::METHOD,
    &sil::METHOD,
    &bow::METHOD,
    &cce::METHOD,
    &tlc::METHOD,
    &mi_vlad::METHOD,
    &mi_fv::METHOD,
    &miles::METHOD,
    &mind::METHOD,
    &mi_kernel::METHOD,
    &dd::METHOD,
    &em_dd::METHOD,
    &dd_svm::METHOD,
    &emd::METHOD,
    &wmksvm::METHOD,
    &mi_svm::METHOD,
    &mi_svm_bag::METHOD,
    &misssvm::METHOD,
    &mirsvm::METHOD,
    &migraph::METHOD,
    &isk::METHOD,
    &migraph_explicit::METHOD,
    &rbf_mip::METHOD,
    &mil_net::METHOD,
    &mg_ddv::METHOD,
    &mg_acc::METHOD,
    &bagging::METHOD,
    &stacking::METHOD,
];

/// Every method, simple ones first: the order in which one is preferred to another within one standard error.
pub fn by_complexity() -> Vec<&'static dyn Method> {
    let mut all = METHODS.to_vec();
    all.sort_by_key(|method| method.info().complexity);
    all
}

/// A method by name or alias.
pub fn find(name: &str) -> Result<&'static dyn Method> {
    let answers = |m: &&&dyn Method| m.info().name == name || m.info().aliases.contains(&name);
    // What auto made of several methods has a name, but cannot be asked for.
    let hidden: &[&dyn Method] = &[&ensemble::METHOD];
    METHODS
        .iter()
        .chain(hidden)
        .find(answers)
        .copied()
        .ok_or_else(|| Error::unknown("method", name, METHODS.iter().map(|m| m.info().name)))
}

/// How the saved model of a method maps bags, if it has a feature map whose columns are cells.
pub(crate) fn cell_map(method: &str, point: &Point, state: &State) -> Result<CellMap> {
    match find(method)?.info().name {
        name if name == isk::METHOD.info().name => isk::cell_map(point, state),
        other => Err(lacks(other, Capability::FeatureMap)),
    }
}

/// The error where a method has not what others have, with the names of those.
pub(crate) fn lacks(method: &str, capability: Capability) -> Error {
    let able: Vec<&str> =
        METHODS.iter().map(|m| m.info()).filter(|i| i.has(capability)).map(|i| i.name).collect();
    let one = if matches!(capability, Capability::Kernel | Capability::FeatureMap) { " one" } else { "" };
    let names = match able.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} and {last} have", before.join(", ")),
        _ => format!("{} has", able.concat()),
    };
    Error::Invalid(format!("{method} has no {capability}; {names}{one}"))
}

/// A method as other programs see it: command line and Python give it as JSON.
#[derive(Clone, Debug, Serialize)]
struct Description {
    name: &'static str,
    aliases: &'static [&'static str],
    title: &'static str,
    about: &'static str,
    family: &'static str,
    regression: bool,
    scale: &'static str,
    explains: String,
    reference: &'static str,
    parameters: Vec<DescribedParameter>,
}

/// One row of the method's table.
#[derive(Clone, Debug, Serialize)]
struct DescribedParameter {
    name: &'static str,
    help: &'static str,
    takes: String,
    default: &'static str,
    grid: &'static str,
    regression_only: bool,
    classes_only: bool,
}

/// Describes a method.
pub fn describe(method: &dyn Method) -> impl Serialize + use<> {
    let info = method.info();
    let parameter = |p: &ParamSpec| DescribedParameter {
        name: p.name,
        help: p.help,
        takes: p.kind.expects(),
        default: p.default,
        grid: p.grid,
        regression_only: p.regression_only,
        classes_only: p.classes_only,
    };
    Description {
        name: info.name,
        aliases: info.aliases,
        title: info.title,
        about: info.about,
        family: info.family,
        regression: info.regression,
        scale: info.scale.name(),
        explains: info.explains.to_string(),
        reference: info.reference,
        parameters: method.params().iter().map(parameter).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_method_is_told_all_there_are() {
        let said = find("zzz").err().unwrap().to_string();
        for method in METHODS {
            assert!(said.contains(&format!(" {}", method.info().name)), "{}: {said}", method.info().name);
        }
        assert!(!said.contains(" more"), "{said}");
    }
}
