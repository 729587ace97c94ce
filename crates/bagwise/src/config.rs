//! What a user sets for a method: its name, parameters, scaling and related options. Only [`MethodConfig`] turns this
//! into grids of points that fit the data; `auto` and the baselines of a comparison are defined here too.

use bagwise_core::{Dataset, Error, Instances, Result, Target};

use crate::fold::ResolvedConfig;
use crate::method::Method;
use crate::methods::{self, METHODS};
use crate::model::ModelHeader;
use crate::multiclass::Scheme;
use crate::params::{Grid, WhenUnset};
use crate::preprocess::Scale;

/// The name of the automatic choice among methods that fit the time ([`TimePlan`](crate::TimePlan)).
pub const AUTO: &str = "auto";

/// The name that stands for all methods that can handle the data, without a time limit.
pub const ALL: &str = "all";

/// The default number of inner folds: enough to compare points, and five fits instead of ten.
pub const INNER_FOLDS: usize = 5;

/// The method that uses only labels; a method that is not better has learned nothing.
pub const BASELINE: &str = "majority";

/// The baselines of every comparison: one that uses only the labels, and the simplest that uses instances.
pub const BASELINES: [&str; 2] = [BASELINE, "simple-mi"];

/// What a comparison that cannot try every method tries after the baselines and before the others: methods that do well on
/// most data, of three kinds.
pub(crate) const FIRST: [&str; 3] = ["mi-kernel", "migraph", "isk"];

/// What `auto` tries: methods that do well on some kind of data and cost little, each with the scalings that suit some data. On counts
/// and frequencies scaling does harm; columns of different units need it.
const PORTFOLIO: [(&str, &[Scale]); 11] = [
    (BASELINE, &[Scale::None]),
    ("simple-mi", &[Scale::MinMax, Scale::None]),
    ("citation-knn", &[Scale::ZScore, Scale::None]),
    ("mi-boost", &[Scale::None]),
    ("mi-kernel", &[Scale::MinMax, Scale::None]),
    ("mind", &[Scale::ZScore, Scale::None]),
    ("mi-fv", &[Scale::MinMax, Scale::ZScore]),
    ("miles", &[Scale::MinMax, Scale::None]),
    ("emd", &[Scale::ZScore, Scale::None]),
    ("migraph", &[Scale::MinMax]),
    ("isk", &[Scale::ZScore, Scale::None]),
];

/// A value of a parameter, or several to choose from: numbers, text such as `2^-5..2^5`, or lists of them.
pub trait ParamText {
    /// As the command line would write it.
    fn text(&self) -> String;
}

macro_rules! param_text {
    ($($type:ty),*) => {
        $(impl ParamText for $type {
            fn text(&self) -> String {
                self.to_string()
            }
        })*
    };
}
param_text!(f64, f32, i32, i64, u32, u64, usize, str, String);

impl<T: ParamText + ?Sized> ParamText for &T {
    fn text(&self) -> String {
        (**self).text()
    }
}

impl<T: ParamText> ParamText for [T] {
    fn text(&self) -> String {
        self.iter().map(ParamText::text).collect::<Vec<_>>().join(",")
    }
}

impl<T: ParamText, const N: usize> ParamText for [T; N] {
    fn text(&self) -> String {
        self.as_slice().text()
    }
}

impl<T: ParamText> ParamText for Vec<T> {
    fn text(&self) -> String {
        self.as_slice().text()
    }
}

/// A method and its settings. They are checked when they are used with data.
///
/// ```
/// # fn main() -> bagwise::Result<()> {
/// let data = bagwise::read("musk1")?;
/// let model = bagwise::method("mi-kernel")?.param("gamma", "1/median").param("c", [1.0, 10.0]).fit(&data)?;
/// assert_eq!(model.predict(&data.bags)?.len(), 92);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MethodConfig {
    pub(crate) name: String,
    pub(crate) title: Option<String>,
    pub(crate) params: Vec<(String, String)>,
    scale: Option<Scale>,
    multiclass: Option<Scheme>,
    balanced: bool,
    impute: bool,
    tuned: Option<bool>,
    /// How much of its grid a plan leaves out: [`WhenUnset::Thinned`].
    thinned: u32,
}

impl MethodConfig {
    /// A method by name or alias, or `auto`.
    pub fn new(name: impl Into<String>) -> MethodConfig {
        MethodConfig { name: name.into(), ..MethodConfig::default() }
    }

    /// The same settings for another method.
    pub(crate) fn of(mut self, name: &str) -> MethodConfig {
        (self.name, self.title) = (name.into(), None);
        self
    }

    /// The name in tables; the method's own if none is given.
    pub fn called(mut self, title: impl Into<String>) -> MethodConfig {
        self.title = Some(title.into());
        self
    }

    /// One value of a parameter, or several to choose from. For `auto` the key is `METHOD.KEY`.
    pub fn param(mut self, key: impl Into<String>, value: impl ParamText) -> MethodConfig {
        self.params.push((key.into(), value.text()));
        self
    }

    /// Several parameters, each as [`MethodConfig::param`] takes it.
    pub fn params<K: AsRef<str>, V: ParamText>(self, all: &[(K, V)]) -> MethodConfig {
        all.iter().fold(self, |config, (key, value)| config.param(key.as_ref(), value))
    }

    /// The scaling of columns; by default that of the method.
    pub fn scale(mut self, scale: Scale) -> MethodConfig {
        self.scale = Some(scale);
        self
    }

    /// The scheme for several classes; by default that of the method.
    pub fn multiclass(mut self, scheme: Scheme) -> MethodConfig {
        self.multiclass = Some(scheme);
        self
    }

    /// Gives every class the same total weight.
    pub fn balanced(mut self, balanced: bool) -> MethodConfig {
        self.balanced = balanced;
        self
    }

    /// Fills missing values with the medians of the training bags; by default they are an error.
    pub fn fill_missing(mut self, fill: bool) -> MethodConfig {
        self.impute = fill;
        self
    }

    /// Whether parameters that are not given are chosen from their grids (the default where anything is chosen) or have
    /// their defaults.
    pub fn tuned(mut self, tuned: bool) -> MethodConfig {
        self.tuned = Some(tuned);
        self
    }

    /// The same with part of the grid.
    pub(crate) fn thinned(mut self, level: u32) -> MethodConfig {
        self.thinned = level;
        self
    }

    /// The method of a model on maps that it made: what describes the maps is as in the model, and so is what is not given of
    /// the machine.
    pub(crate) fn on_maps_of(mut self, header: &ModelHeader, regression: bool) -> Result<MethodConfig> {
        let method = methods::find(&header.method)?;
        let own = method.info().name;
        if !self.is_auto() && methods::find(&self.name)?.info().name != own {
            return Err(Error::Invalid(format!(
                "the maps were made by {own}, not by {}; leave the method out",
                self.name
            )));
        }
        self.name = own.into();
        self.check_keys()?;
        self.scale = Some(Scale::None);
        for spec in method.params().iter().filter(|spec| spec.applies(regression)) {
            let given = self
                .params
                .iter()
                .any(|(key, _)| table_name(method, key.rsplit('.').next().unwrap_or(key)) == spec.name);
            if given && !spec.solver_only {
                return Err(Error::param(
                    own,
                    spec.name,
                    "describes the maps, which are made already; leave it out",
                ));
            }
            if !given {
                let value =
                    header.parameters.get(spec.name).map_or(spec.default.to_string(), ToString::to_string);
                self.params.push((spec.name.into(), value));
            }
        }
        Ok(self)
    }

    /// How much of the grid is left out.
    pub(crate) fn thinning(&self) -> u32 {
        self.thinned
    }

    /// True for a choice among methods: `auto`, or `all`.
    pub fn is_auto(&self) -> bool {
        self.name == AUTO || self.name == ALL
    }

    /// True if only the name is set.
    pub(crate) fn is_plain(&self) -> bool {
        let MethodConfig { title, params, scale, multiclass, balanced, impute, tuned, thinned: _, name: _ } =
            self;
        title.is_none()
            && params.is_empty()
            && scale.is_none()
            && multiclass.is_none()
            && tuned.is_none()
            && !balanced
            && !impute
    }

    /// The name in tables: an alias becomes the method's own name.
    pub(crate) fn shown(&self) -> Result<String> {
        Ok(match (&self.title, self.is_auto()) {
            (Some(title), _) => title.clone(),
            (None, true) => AUTO.into(),
            (None, false) => methods::find(&self.name)?.info().name.into(),
        })
    }

    /// What is chosen from: the method's own grid, or, for `auto`, those of a portfolio of methods that can learn these data, each with
    /// several scalings.
    pub fn resolve(&self, data: &Dataset, tuned: bool) -> Result<Vec<ResolvedConfig>> {
        if self.balanced && matches!(data.target, Some(Target::Values(_))) {
            return Err(Error::Invalid(format!(
                "balanced applies only to classes, but the label of {} is a number; leave it out",
                data.name
            )));
        }
        if !self.is_auto() {
            self.check_keys()?;
            return Ok(vec![self.setup(methods::find(&self.name)?, data.target.as_ref(), tuned)?]);
        }
        for (key, _) in &self.params {
            let Some((of, _)) = key.split_once('.') else {
                return Err(Error::Invalid(format!(
                    "parameter {key} must name its method if several are tried; choose one method, or write METHOD.{key}"
                )));
            };
            methods::find(of)?;
        }
        let mut all = Vec::new();
        for method in self.candidates(data) {
            all.extend(self.setups(method, data, tuned)?);
        }
        Ok(all)
    }

    /// The methods that a choice is among: for `auto` the portfolio, and those whose parameters are given; for `all` every one.
    pub(crate) fn candidates(&self, data: &Dataset) -> Vec<&'static dyn Method> {
        let given = |name: &str| {
            let of = |key: &str| key.split_once('.').and_then(|(of, _)| methods::find(of).ok());
            self.params.iter().any(|(key, _)| of(key).is_some_and(|m| m.info().name == name))
        };
        let listed = |name: &str| self.name == ALL || PORTFOLIO.iter().any(|(own, _)| *own == name);
        able(data).filter(|m| listed(m.info().name) || given(m.info().name)).collect()
    }

    /// One method of a choice with each of its scalings: that which was asked for, or those of the portfolio.
    pub(crate) fn setups(
        &self,
        method: &'static dyn Method,
        data: &Dataset,
        tuned: bool,
    ) -> Result<Vec<ResolvedConfig>> {
        let target = data.target.as_ref();
        let usual = self.setup(method, target, tuned)?;
        let listed = PORTFOLIO.iter().find(|(name, _)| *name == method.info().name);
        let (None, Some((_, scalings)), true) = (self.scale, listed, self.name != ALL) else {
            return Ok(vec![usual]);
        };
        // Sparse rows stay sparse: most of their values are 0, and must be.
        let sparse = matches!(data.bags.instances(), Instances::Sparse(_));
        let suits = |scale: Scale| {
            (!sparse || scale == Scale::None) && method.refuses(&usual.grid.points, scale).is_none()
        };
        let mut all: Vec<ResolvedConfig> = (scalings.iter().filter(|s| suits(**s)))
            .map(|&scale| ResolvedConfig { scale, ..usual.clone() })
            .collect();
        if all.is_empty() {
            all.push(usual);
        }
        Ok(all)
    }

    /// The method at a single point, for what is made of one: a Gram, a map. Parameters that are not given have their
    /// defaults.
    pub fn single(&self, target: Option<&Target>) -> Result<ResolvedConfig> {
        self.check_keys()?;
        let setup = self.setup(methods::find(&self.name)?, target, false)?;
        match setup.grid.points.len() {
            1 => Ok(setup),
            points => Err(Error::Invalid(format!(
                "{points} parameter combinations are given, but only one is possible here; give every parameter a \
                 single value"
            ))),
        }
    }

    /// Refuses a parameter of another method than this one.
    fn check_keys(&self) -> Result<()> {
        let own = methods::find(&self.name)?.info().name;
        for (key, _) in &self.params {
            if let Some((of, _)) = key.split_once('.')
                && methods::find(of)?.info().name != own
            {
                return Err(Error::Invalid(format!(
                    "parameter {key} belongs to {of}, but the method is {own}"
                )));
            }
        }
        Ok(())
    }

    /// One method with its grid.
    pub(crate) fn setup(
        &self,
        method: &'static dyn Method,
        target: Option<&Target>,
        tuned: bool,
    ) -> Result<ResolvedConfig> {
        let info = method.info();
        let own = |(key, value): &(String, String)| match key.split_once('.') {
            None => Some((table_name(method, key), value.clone())),
            Some((of, key)) => {
                let this = methods::find(of).is_ok_and(|m| m.info().name == info.name);
                this.then(|| (table_name(method, key), value.clone()))
            }
        };
        let given: Vec<(String, String)> = self.params.iter().filter_map(own).collect();
        let regression = matches!(target, Some(Target::Values(_)));
        let tuned = self.tuned.unwrap_or(tuned);
        let fill = match WhenUnset::when_tuned(tuned) {
            WhenUnset::Grid if self.thinned > 0 => WhenUnset::Thinned(self.thinned),
            fill => fill,
        };
        let grid = Grid::new(info.name, method.params(), &given, fill, regression)?;
        if self.tuned == Some(false) && grid.points.len() > 1 {
            return Err(Error::Invalid(format!(
                "{} takes fixed parameters, but {} combinations are given; give every parameter a single value",
                info.name,
                grid.points.len()
            )));
        }
        let scale = self.scale.unwrap_or_else(|| method.scale(&grid.points));
        if let Some(why) = method.refuses(&grid.points, scale) {
            return Err(why);
        }
        let scheme = self.multiclass.unwrap_or_else(|| method.scheme());
        Ok(ResolvedConfig { method, grid, scale, scheme, balanced: self.balanced, impute: self.impute })
    }
}

impl From<&str> for MethodConfig {
    fn from(name: &str) -> MethodConfig {
        MethodConfig::new(name)
    }
}

impl From<String> for MethodConfig {
    fn from(name: String) -> MethodConfig {
        MethodConfig::new(name)
    }
}

/// A parameter's name in the method's table. Programs in which names cannot have hyphens write underscores, one at the end of
/// a word that is theirs (`lambda_`).
fn table_name(method: &dyn Method, key: &str) -> String {
    let same = |name: &&str| name.replace('-', "_") == key.trim_end_matches('_');
    method.params().iter().map(|p| p.name).find(same).unwrap_or(key).to_string()
}

/// The methods that can learn what is to be predicted: some tell classes apart and no more. Those that are made of methods must
/// be named.
pub(crate) fn able(data: &Dataset) -> impl Iterator<Item = &'static dyn Method> {
    let numbers = matches!(data.target, Some(Target::Values(_)));
    METHODS.iter().copied().filter(move |m| !m.info().over_methods && (m.info().regression || !numbers))
}
