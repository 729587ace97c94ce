//! Options of the commands that train, and their conversion to the configuration types of the library.

use anyhow::Result;
use clap::Args;

use bagwise::fold::ResolvedConfig;
use bagwise::judge::{Metric, Threshold};
use bagwise::methods;
use bagwise::multiclass::Scheme;
use bagwise::params::Point;
use bagwise::preprocess::Scale;
use bagwise::{AUTO, Ctx, Dataset, MethodConfig, Precision};

use crate::args::Data;
use crate::output::quoted;

/// How a method sees bags: all that a Gram or a map is made of.
#[derive(Args, Default)]
#[command(next_help_heading = "Learning")]
pub(crate) struct RepresentationArgs {
    /// Parameter of the method; given several values (0.1,1,10 or 2^-5..2^5), the best one is chosen by inner folds
    #[arg(short = 'p', long = "param", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) params: Vec<(String, String)>,
    /// Feature scaling, fitted on training bags: none, minmax, zscore, maxabs [default: depends on the method]
    #[arg(long, value_name = "SCALING")]
    pub(crate) scale: Option<Scale>,
    /// Precision of kernel sums: f64, or f32 (faster, accurate to about 1e-5)
    #[arg(long, value_name = "PRECISION", default_value = "f64")]
    pub(crate) precision: Option<Precision>,
}

/// How a method learns.
#[derive(Args, Default)]
#[command(next_help_heading = "Learning")]
pub(crate) struct Learning {
    #[command(flatten)]
    pub(crate) seeing: RepresentationArgs,
    /// Scheme for more than two classes: one-vs-one or one-vs-rest [default: one-vs-one for most methods]
    #[arg(long, value_name = "SCHEME")]
    pub(crate) multiclass: Option<Scheme>,
    /// Weight classes equally, however rare they are
    #[arg(long)]
    pub(crate) balanced: bool,
}

/// What a method is chosen and used by.
#[derive(Args, Default)]
#[command(next_help_heading = "Learning")]
pub(crate) struct Choosing {
    /// The positive class, if there are two classes [default: the last in sort order]
    #[arg(long, value_name = "CLASS")]
    pub(crate) positive: Option<String>,
    /// Metric for choosing parameters and methods [default: accuracy; rmse for regression]
    #[arg(long, value_name = "METRIC")]
    pub(crate) optimize: Option<Metric>,
    /// With method auto: use the best method, even if a simpler one is within one standard error
    #[arg(long)]
    pub(crate) best: bool,
    /// Decision threshold, chosen on training bags: recall=0.95, precision=0.9, balanced, or a number
    #[arg(long, value_name = "RULE", allow_hyphen_values = true)]
    pub(crate) threshold: Option<Threshold>,
}

impl Choosing {
    /// The options that were given, as they would be typed again.
    pub(crate) fn words(&self, method: &str) -> String {
        let mut words = String::new();
        if let Some(positive) = &self.positive {
            words += &format!(" --positive {}", quoted(positive));
        }
        if let Some(metric) = self.optimize {
            words += &format!(" --optimize {}", metric.name());
        }
        if let Some(rule) = self.threshold {
            words += &format!(" --threshold {rule}");
        }
        // Of one method there is no best.
        if self.best && method == AUTO {
            words += " --best";
        }
        words
    }
}

impl Learning {
    /// The options that were given, as they would be typed again for one method. Where setups are `fixed`, all of their
    /// parameters. Parameters without the name of a method are those of the only one that was `named`.
    pub(crate) fn words(&self, method: &str, named: &[String], fixed: &[ResolvedConfig]) -> String {
        let mut words = String::new();
        for setup in fixed {
            let of = if method == AUTO { format!("{}.", setup.method.info().name) } else { String::new() };
            for (key, value) in setup.grid.points.iter().flat_map(|point| point.iter()) {
                words += &format!(" -p {}", quoted(&format!("{of}{key}={value}")));
            }
        }
        let is_named =
            |name: &String| name == method || methods::find(name).is_ok_and(|m| m.info().name == method);
        for (key, value) in self.seeing.params.iter().filter(|_| fixed.is_empty()) {
            match key.split_once('.') {
                // Meant for another method that took part.
                None if !named.iter().any(is_named) => {}
                None => words += &format!(" -p {}", quoted(&format!("{key}={value}"))),
                Some(_) if method == AUTO => words += &format!(" -p {}", quoted(&format!("{key}={value}"))),
                Some((of, key)) if methods::find(of).is_ok_and(|m| m.info().name == method) => {
                    words += &format!(" -p {}", quoted(&format!("{key}={value}")));
                }
                Some(_) => {}
            }
        }
        if let Some(scale) = self.seeing.scale {
            words += &format!(" --scale {}", scale.name());
        }
        if let Some(scheme) = self.multiclass {
            words += &format!(" --multiclass {}", scheme.name());
        }
        if self.balanced {
            words += " --balanced";
        }
        if self.seeing.precision() == Precision::F32 {
            words += " --precision f32";
        }
        words
    }

    /// The options given for a method.
    pub(crate) fn config(&self, method: &str, read: &Data) -> MethodConfig {
        let config = self.seeing.config(method, read).balanced(self.balanced);
        match self.multiclass {
            Some(scheme) => config.multiclass(scheme),
            None => config,
        }
    }
}

impl RepresentationArgs {
    /// The precision of these options.
    pub(crate) fn precision(&self) -> Precision {
        self.precision.unwrap_or_default()
    }

    /// The library's context, with the precision of these options.
    pub(crate) fn ctx(&self, ctx: &Ctx) -> Ctx {
        let mut ctx = ctx.clone();
        ctx.precision = self.precision();
        ctx
    }

    /// What was said of a method: all but parameters, which [`RepresentationArgs::params`] holds.
    fn config(&self, method: &str, read: &Data) -> MethodConfig {
        let config = MethodConfig::new(method).fill_missing(read.fills_gaps());
        match self.scale {
            Some(scale) => config.scale(scale),
            None => config,
        }
    }

    /// One method at one point.
    pub(crate) fn single(
        &self,
        method: &str,
        data: &Dataset,
        read: &Data,
    ) -> Result<(ResolvedConfig, Point)> {
        let config = self.config(method, read).params(&self.params);
        let setup = config.single(data.target.as_ref())?;
        let point = setup.grid.points[0].clone();
        Ok((setup, point))
    }
}

fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() && !value.trim().is_empty() => {
            Ok((key.trim().to_string(), value.trim().to_string()))
        }
        _ => Err("expected KEY=VALUE, such as gamma=0.5 or c=1,10,100".into()),
    }
}
