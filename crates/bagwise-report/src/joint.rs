//! What several runs say together, for programs: values, ranks and tests as JSON, and a row per method for spreadsheets. The
//! numbers are those of the page.

use bagwise::judge::Metric;
use bagwise::judge::ranking::{Friedman, RankTable, Wilcoxon, holm, nemenyi, nemenyi_p, wilcoxon};
use bagwise::run::Verdict;
use bagwise::{Error, Result};
use serde::Serialize;

use crate::load::LoadedRun;
use crate::overview::{Overview, OverviewOutcome};
use crate::page::verdicts;

/// Several runs, side by side and together.
#[derive(Clone, Debug, Serialize)]
pub struct Joint {
    /// The runs by themselves, in their order.
    pub runs: Vec<JointRun>,
    /// What they say together; none if they cannot be ranked together.
    pub together: Option<JointRanks>,
    /// What came out, or why they cannot be ranked together.
    pub sentence: String,
}

/// One run.
#[derive(Clone, Debug, Serialize)]
pub struct JointRun {
    /// The data set.
    pub data: String,
    /// Its number of bags.
    pub bags: usize,
    /// Whether a saved model was judged, which is not ranked.
    pub external: bool,
    /// The metric that decides.
    pub metric: Metric,
    /// The level of intervals.
    pub level: f64,
    /// What came out.
    pub sentence: String,
    /// The methods, best first.
    pub methods: Vec<JointLine>,
}

/// One method of a run.
#[derive(Clone, Debug, Serialize)]
pub struct JointLine {
    /// The method.
    pub method: String,
    /// Its value.
    pub mean: Option<f64>,
    /// Lower end of its interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// How it stands to the best.
    pub against_best: &'static str,
}

/// Ranks over data sets, and tests.
#[derive(Clone, Debug, Serialize)]
pub struct JointRanks {
    /// The metric that decides.
    pub metric: Metric,
    /// The level of the tests.
    pub level: f64,
    /// Values and ranks, a row per data set and a column per method; average ranks.
    pub ranks: RankTable,
    /// Methods without a value on every data set.
    pub left_out: Vec<String>,
    /// Friedman's test; none for two methods, or for too few data sets.
    pub friedman: Option<Friedman>,
    /// Nemenyi's critical difference of average ranks, where Friedman's test is.
    pub nemenyi_difference: Option<f64>,
    /// Every method, by average rank.
    pub methods: Vec<JointMethod>,
}

/// One method over all data sets, beside the one with the best average rank.
#[derive(Clone, Debug, Serialize)]
pub struct JointMethod {
    /// The method.
    pub method: String,
    /// Its average rank.
    pub average_rank: f64,
    /// Nemenyi's probability of so large a difference from the best.
    pub nemenyi_p: Option<f64>,
    /// Holm's statistic: the difference from the best in standard errors.
    pub holm_z: Option<f64>,
    /// Its two-sided probability.
    pub holm_p: Option<f64>,
    /// The same, adjusted for the number of methods.
    pub holm_adjusted: Option<f64>,
    /// Whether it differs from the best by Holm's procedure.
    pub told_from_best: Option<bool>,
    /// Wilcoxon's test against the best.
    pub wilcoxon: Option<Wilcoxon>,
}

/// What several runs say together.
pub fn joint(runs: &[LoadedRun]) -> Result<Joint> {
    if runs.is_empty() {
        return Err(Error::Invalid("there is no run to report on; give the output folder of a run".into()));
    }
    let verdicts = verdicts(runs)?;
    let each = runs.iter().zip(&verdicts).map(|(run, verdict)| one(run, verdict)).collect();
    if let [only] = verdicts.as_slice() {
        return Ok(Joint { runs: each, together: None, sentence: only.sentence() });
    }
    Ok(match Overview::of(runs, &verdicts)? {
        OverviewOutcome::Apart(why) => Joint { runs: each, together: None, sentence: why },
        OverviewOutcome::Ranked(overview) => {
            Joint { runs: each, together: Some(ranked(&overview)), sentence: overview.sentence() }
        }
    })
}

fn one(run: &LoadedRun, verdict: &Verdict) -> JointRun {
    let line = |(line, standing): (&bagwise::judge::MethodSummary, &bagwise::judge::Standing)| {
        let m = &line.metrics[0];
        JointLine {
            method: line.method.clone(),
            mean: m.mean,
            low: m.interval.map(|i| i.low),
            high: m.interval.map(|i| i.high),
            against_best: standing.as_str(),
        }
    };
    JointRun {
        data: verdict.data.clone(),
        bags: run.roster.bags.len(),
        external: run.is_external(),
        metric: verdict.metric,
        level: verdict.level,
        sentence: verdict.sentence(),
        methods: verdict.table.iter().zip(&verdict.standing).map(line).collect(),
    }
}

fn ranked(overview: &Overview) -> JointRanks {
    let ranks = &overview.ranks;
    let (k, n, best) = (ranks.methods.len(), ranks.data.len(), ranks.best());
    let tested = overview.enough();
    let several = tested && k > 2;
    let steps = holm(ranks, best, overview.alpha()).steps;
    let method = |m: usize| {
        let step = steps.iter().find(|s| s.method == m && several);
        let other = tested && m != best;
        JointMethod {
            method: ranks.methods[m].clone(),
            average_rank: ranks.average[m],
            nemenyi_p: step.map(|_| nemenyi_p(ranks.average[m] - ranks.average[best], k, n)),
            holm_z: step.map(|s| s.z),
            holm_p: step.map(|s| s.p),
            holm_adjusted: step.map(|s| s.adjusted),
            told_from_best: step.map(|s| s.rejected),
            wilcoxon: other.then(|| wilcoxon(&ranks.differences(best, m))).flatten(),
        }
    };
    JointRanks {
        metric: overview.metric,
        level: overview.level,
        left_out: overview.left_out.clone(),
        friedman: several.then(|| ranks.friedman()),
        nemenyi_difference: several.then(|| nemenyi(k, n, overview.alpha())),
        methods: overview.order().into_iter().map(method).collect(),
        ranks: ranks.clone(),
    }
}
