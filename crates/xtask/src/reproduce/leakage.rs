//! Nested accuracy on labels that mean nothing: random for every bag, or random for every group. Every method and scaling,
//! more features than bags, a wide grid; `best-on-cv` beside it shows that the grid is wide enough to flatter.

use anyhow::Result;
use bagwise::Rng;
use bagwise::fold::Setup;
use bagwise::judge::{ProtocolName, corrected_interval};
use bagwise::method::Method;
use bagwise::methods::METHODS;
use bagwise::preprocess::Scale;
use bagwise::{Dataset, Target};

use super::section::{Section, Table};
use super::{LEVEL, accuracy, find, judge, percent, plan, setup};

/// Data sets that an accuracy is the mean of, where every bag has a label of its own.
const DRAWS: u64 = 20;

/// The same where groups have: twenty groups are far fewer than bags, so one data set tells less.
const GROUP_DRAWS: u64 = 100;

/// What is tried of parameters that have these names; the others have their own grids.
const WIDE: [(&str, &str); 2] = [("gamma", "2^-6..2^6/median"), ("c", "0.1,1,10,100,1000")];

pub(super) fn run() -> Result<Section> {
    let mut section = Section::default();
    section.add(
        format!(
            "Random labels, half of each: 40 bags of 3 to 6 instances with 200 features of noise, a grid of 65 to 130 \
             points, nested 10-fold with inner 5-fold, mean over {DRAWS} data sets with its 95 % interval (chance is 50). \
             One interval in twenty may miss by chance. Best-on-cv chooses on the reported folds."
        ),
        bags()?,
    );
    section.add(
        format!(
            "Random labels, constant in each of 20 groups of 6 bags that resemble each other; mean over {GROUP_DRAWS} data sets \
             with its 95 % interval, each method with its own scaling and grid."
        ),
        groups()?,
    );
    Ok(section)
}

fn bags() -> Result<Table> {
    let mut table = Table::new(&["method", "scaling", "nested", "interval", "holds 50", "best-on-cv"]);
    let sets =
        draws(DRAWS, "bags=40&min=3&max=6&features=200&distance=0", |data, rng| halves(data.bags.len(), rng));
    for &method in METHODS {
        for (name, scale) in Scale::ALL {
            let nested = over(&sets, || wide(method, scale), ProtocolName::Nested)?;
            let best = over(&sets, || wide(method, scale), ProtocolName::BestOnCv)?;
            let mut row = vec![method.info().name.into(), name.into()];
            row.extend(cells(&nested)?);
            row.push(percent(super::mean(&best)));
            table.row(row);
        }
    }
    Ok(table)
}

fn groups() -> Result<Table> {
    let headings =
        ["method", "with groups", "interval", "holds 50", "groups ignored", "interval", "holds 50"];
    let mut table = Table::new(&headings);
    let mut sets =
        draws(GROUP_DRAWS, "bags=120&min=3&max=6&features=20&distance=0&groups=20&shift=1", |data, rng| {
            let of_group = halves(20, rng);
            let codes = data.groups.as_ref().map_or(&[][..], |g| &g.codes);
            codes.iter().map(|&g| of_group[g as usize]).collect()
        });
    let with: Vec<Vec<f64>> = METHODS
        .iter()
        .map(|&m| over(&sets, || setup(m.info().name, &[], None), ProtocolName::Nested))
        .collect::<Result<_>>()?;
    sets.iter_mut().for_each(|data| data.groups = None);
    for (&method, with) in METHODS.iter().zip(with) {
        let without = over(&sets, || setup(method.info().name, &[], None), ProtocolName::Nested)?;
        let mut row = vec![method.info().name.into()];
        row.extend(cells(&with)?);
        row.extend(cells(&without)?);
        table.row(row);
    }
    Ok(table)
}

/// Data sets whose labels are drawn by `label`.
fn draws(count: u64, options: &str, label: impl Fn(&Dataset, &mut Rng) -> Vec<u32>) -> Vec<Dataset> {
    let one = |seed: u64| {
        let mut data = find(&format!("synthetic:gauss?{options}&seed={seed}"))?;
        let codes = label(&data, &mut Rng::new(seed, "labels", &[]));
        data.target = Some(Target::Classes { codes, names: vec!["0".into(), "1".into()] });
        Some(data)
    };
    (0..count).filter_map(one).collect()
}

/// As many 0 as 1, in random order.
fn halves(count: usize, rng: &mut Rng) -> Vec<u32> {
    let mut codes: Vec<u32> = (0..count as u32).map(|i| i % 2).collect();
    rng.shuffle(&mut codes);
    codes
}

fn wide(method: &dyn Method, scale: Scale) -> Result<Setup> {
    let given: Vec<(&str, &str)> =
        WIDE.into_iter().filter(|(name, _)| method.params().iter().any(|p| p.name == *name)).collect();
    setup(method.info().name, &given, Some(scale))
}

/// The accuracy on each data set.
fn over(sets: &[Dataset], setup: impl Fn() -> Result<Setup>, protocol: ProtocolName) -> Result<Vec<f64>> {
    let one = |(seed, data): (usize, &Dataset)| {
        Ok(accuracy(&judge(data, setup()?, &plan(protocol, seed as u64, 1))?))
    };
    sets.iter().enumerate().map(one).collect()
}

/// Mean, interval, and whether that holds one half. The data sets are independent, so the interval is the plain one.
fn cells(values: &[f64]) -> Result<[String; 3]> {
    let Some(interval) = corrected_interval(values, 0.0, LEVEL)? else { return Ok(Default::default()) };
    let holds = (interval.low..=interval.high).contains(&0.5);
    Ok([
        percent(interval.estimate),
        format!("{} to {}", percent(interval.low), percent(interval.high)),
        if holds { "yes" } else { "no" }.into(),
    ])
}
