//! `cargo xtask bench estimates [METHOD@SET …]`: what runs are said to take beside what they take.
#![expect(clippy::print_stdout, reason = "a bench exists to print")]

use anyhow::Result;
use bagwise::fold::{TrainOptions, TrainingTask, learn};
use bagwise::io::{ReadOptions, read};
use bagwise::judge::{FoldPlan, Metric, Pool, Splits};
use bagwise::{Ctx, MethodConfig};

use crate::bench_pairs::cpu_seconds;
use crate::run::data_file;

pub(crate) fn run(words: &[String]) -> Result<()> {
    for pair in words {
        let (method, set) = pair.split_once('@').unwrap();
        let path = if set.contains(':') { set.to_string() } else { data_file(set)?.display().to_string() };
        let data = read(&path, &ReadOptions::default())?;
        let mut config = MethodConfig::new(method.split('+').next().unwrap());
        for p in method.split('+').skip(1) {
            let (k, v) = p.split_once('=').unwrap();
            config = config.param(k, v);
        }
        let setup = config.resolve(&data, true)?.remove(0);
        let learner = TrainingTask::new(&data, &setup, None)?;
        let target = data.require_target()?;
        let pool = Pool { target, groups: None, given: None };
        let folds = FoldPlan::new(Splits::KFold(10), pool, 0, 1)?;
        let fold = &folds.repeats[0][0];
        let ctx = Ctx::seeded(0);
        let start = cpu_seconds();
        let frame = learner.frame(&fold.train, &setup.grid.points, &ctx)?;
        let prepared = cpu_seconds() - start;
        drop(frame);
        let inner = Splits::KFold(5).inner(pool, &fold.train, 0, 0, 0)?;
        let metric = Metric::default_for(matches!(target, bagwise::Target::Values(_)));
        let start = cpu_seconds();
        let learned = learn(std::slice::from_ref(&learner), &fold.train, &inner, &TrainOptions::by(metric), &ctx)?;
        let total = cpu_seconds() - start;
        let start = cpu_seconds();
        learner.answers(&learned.refit.frame, &learned.refit.machines, &fold.train, &fold.test, &ctx)?;
        let answered = cpu_seconds() - start;
        println!(
            "{method} {set} bags {} n {} d {} v {:.1} pw {:.0} classes {} points {} groups {} machines {} prepare {prepared:.3} learn {total:.3} answer {answered:.3}",
            data.bags.len(), data.bags.instance_count(), data.bags.width(), data.bags.values_per_instance(), data.bags.pairs_within(),
            learner.classes(), setup.grid.points.len(), setup.grid.groups.len(), learner.tasks.len(),
        );
    }
    Ok(())
}
