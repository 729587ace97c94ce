//! Which method of a comparison a parameter belongs to.

use bagwise_core::{Error, Result};

use super::Evaluate;
use crate::config::{ALL, MethodConfig};
use crate::methods;

impl Evaluate<'_> {
    /// Gives each method its parameters. If one method was requested, it comes first, and a parameter without a method name belongs
    /// to it, not to the baselines.
    pub(super) fn hand_out_params(&self, names: &[String], configs: &mut [MethodConfig]) -> Result<()> {
        let alone = configs.len() == 1 || matches!(&self.methods[..], [one] if one.name != ALL);
        for (key, value) in &self.params {
            match key.split_once('.') {
                None if alone && !configs[0].is_auto() => {
                    configs[0].params.push((key.clone(), value.clone()));
                }
                None => {
                    return Err(Error::Invalid(format!(
                        "parameter {key} must name its method if there are several; write METHOD.{key}"
                    )));
                }
                Some((of, own)) => {
                    let of = methods::find(of)?.info().name;
                    let own = (own.to_string(), value.clone());
                    let auto = (key.clone(), value.clone());
                    let mut taken = false;
                    for (name, config) in names.iter().zip(configs.iter_mut()) {
                        if name == of {
                            config.params.push(own.clone());
                            taken = true;
                        } else if config.is_auto() {
                            config.params.push(auto.clone());
                            taken = true;
                        }
                    }
                    if !taken {
                        return Err(Error::Invalid(format!(
                            "parameter {key}: {of} is not among the methods compared"
                        )));
                    }
                }
            }
        }
        Ok(())
    }
}
