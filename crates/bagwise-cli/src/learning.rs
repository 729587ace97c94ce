//! Options of the verbs that learn, and how they become setups: method, grid, scaling, multi-class scheme, weights.

use anyhow::{Result, bail};
use clap::Args;

use bagwise::Precision;
use bagwise::fold::Setup;
use bagwise::judge::{Metric, Threshold};
use bagwise::method::Method;
use bagwise::methods;
use bagwise::multiclass::Scheme;
use bagwise::params::{Fill, Grid};
use bagwise::preprocess::Scale;
use bagwise::{Ctx, Dataset, Target};

use crate::output::quoted;

/// The method that chooses among all methods.
pub(crate) const AUTO: &str = "auto";

/// How a method sees bags: all that a Gram or a map is made of.
#[derive(Args, Default)]
#[command(next_help_heading = "Learning")]
pub(crate) struct Seeing {
    /// Parameter of the method; several values (0.1,1,10 or 2^-5..2^5) are tried and chosen from
    #[arg(short = 'p', long = "param", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) params: Vec<(String, String)>,
    /// Scaling of columns, fitted on training bags: none, minmax, zscore, maxabs [default: what suits the method]
    #[arg(long, value_name = "SCALING")]
    pub(crate) scale: Option<Scale>,
    /// Precision of kernel sums: f64, or f32, faster and good to about 1e-5
    #[arg(long, value_name = "PRECISION", default_value = "f64")]
    pub(crate) precision: Option<Precision>,
}

/// How a method learns.
#[derive(Args, Default)]
#[command(next_help_heading = "Learning")]
pub(crate) struct Learning {
    #[command(flatten)]
    pub(crate) seeing: Seeing,
    /// More than two classes: one-vs-one or one-vs-rest [default: what suits the method, for most one-vs-one]
    #[arg(long, value_name = "SCHEME")]
    pub(crate) multiclass: Option<Scheme>,
    /// Give every class the same total cost, however rare
    #[arg(long)]
    pub(crate) balanced: bool,
}

/// What a method is chosen and used by.
#[derive(Args, Default)]
#[command(next_help_heading = "Learning")]
pub(crate) struct Choosing {
    /// The class that counts as positive, of two [default: the last]
    #[arg(long, value_name = "CLASS")]
    pub(crate) positive: Option<String>,
    /// What parameters (and methods) are chosen by [default: accuracy, or mse for numbers]
    #[arg(long, value_name = "METRIC")]
    pub(crate) optimize: Option<Metric>,
    /// Of all methods (auto) take the best, even if a simpler one is within a standard error of it
    #[arg(long)]
    pub(crate) best: bool,
    /// Where the positive class begins, chosen on training bags: recall=0.95, precision=0.9, balanced, or a number
    #[arg(long, value_name = "RULE", allow_hyphen_values = true)]
    pub(crate) threshold: Option<Threshold>,
}

impl Choosing {
    /// The options that were given, as they would be typed again.
    pub(crate) fn words(&self) -> String {
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
        if self.best {
            words += " --best";
        }
        words
    }

    /// Refuses `--best` where one method is given and there is nothing to choose among.
    pub(crate) fn check_best(&self, auto: bool) -> Result<()> {
        if self.best && !auto {
            bail!("--best is about the choice among all methods; leave it out, or name the method {AUTO}");
        }
        Ok(())
    }

    /// The metric that inner folds select by.
    pub(crate) fn metric(&self, data: &Dataset) -> Metric {
        let numbers = matches!(data.target, Some(Target::Values(_)));
        self.optimize.unwrap_or(Metric::default_for(numbers))
    }
}

impl Learning {
    /// The options that were given, as they would be typed again for one method. Where setups are `fixed`, all of their
    /// parameters.
    pub(crate) fn words(&self, method: &str, fixed: &[Setup]) -> String {
        let mut words = String::new();
        for setup in fixed {
            let of = if method == AUTO { format!("{}.", setup.method.info().name) } else { String::new() };
            for (key, value) in setup.grid.points.iter().flat_map(|point| point.iter()) {
                words += &format!(" -p {}", quoted(&format!("{of}{key}={value}")));
            }
        }
        for (key, value) in self.seeing.params.iter().filter(|_| fixed.is_empty()) {
            match key.split_once('.') {
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

    /// The setups that a method's name stands for: its own, or those of every method for `auto`.
    pub(crate) fn setups(&self, name: &str, data: &Dataset, impute: bool, fill: Fill) -> Result<Vec<Setup>> {
        if name != AUTO {
            return Ok(vec![self.setup(methods::find(name)?, data, impute, fill)?]);
        }
        if let Some((key, _)) = self.seeing.params.iter().find(|(key, _)| !key.contains('.')) {
            bail!("-p {key}=… needs a method; name it with --method, or write METHOD.{key}=…");
        }
        let able = methods::METHODS.iter().filter(|m| can_learn(**m, data));
        able.map(|&m| self.setup(m, data, impute, fill)).collect()
    }

    /// One method with its grid.
    pub(crate) fn setup(
        &self,
        method: &'static dyn Method,
        data: &Dataset,
        impute: bool,
        fill: Fill,
    ) -> Result<Setup> {
        if self.balanced && matches!(data.target, Some(Target::Values(_))) {
            bail!("--balanced is about classes, and {} has numbers to predict; leave it out", data.name);
        }
        let setup = self.seeing.setup(method, data, impute, fill)?;
        let scheme = self.multiclass.unwrap_or(setup.scheme);
        Ok(Setup { scheme, balanced: self.balanced, ..setup })
    }
}

impl Seeing {
    /// The precision asked for.
    pub(crate) fn precision(&self) -> Precision {
        self.precision.unwrap_or_default()
    }

    /// The library's surroundings with the precision asked for.
    pub(crate) fn ctx(&self, ctx: &Ctx) -> Ctx {
        let mut ctx = ctx.clone();
        ctx.precision = self.precision();
        ctx
    }

    /// One method with its grid. `METHOD.KEY` names the parameter of one method among several.
    pub(crate) fn setup(
        &self,
        method: &'static dyn Method,
        data: &Dataset,
        impute: bool,
        fill: Fill,
    ) -> Result<Setup> {
        let info = method.info();
        let mut given = Vec::new();
        for (key, value) in &self.params {
            match key.split_once('.') {
                None => given.push((key.clone(), value.clone())),
                Some((of, key)) if methods::find(of)?.info().name == info.name => {
                    given.push((key.into(), value.clone()))
                }
                Some(_) => {}
            }
        }
        let regression = matches!(data.target, Some(Target::Values(_)));
        let grid = Grid::new(info.name, method.params(), &given, fill, regression)?;
        let scale = self.scale.unwrap_or_else(|| method.scale(&grid.points));
        if let Some(why) = method.refuses(&grid.points, scale) {
            return Err(why.into());
        }
        Ok(Setup { method, grid, scale, scheme: method.scheme(), balanced: false, impute })
    }
}

/// Whether a method can learn what is to be predicted: some tell classes apart and no more.
pub(crate) fn can_learn(method: &dyn Method, data: &Dataset) -> bool {
    method.info().regression || !matches!(data.target, Some(Target::Values(_)))
}

fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() && !value.trim().is_empty() => {
            Ok((key.trim().to_string(), value.trim().to_string()))
        }
        _ => Err("write KEY=VALUE, such as gamma=0.5 or c=1,10,100".into()),
    }
}
