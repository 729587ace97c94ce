//! `bagwise fit`: learns from all bags and writes a model.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use bagwise::evaluate::{Pool, Splits};
use bagwise::io::check_writable;
use bagwise::learn::Learner;
use bagwise::model::Trained;
use bagwise::params::Fill;
use bagwise::train::{Wanted, train};

use crate::args::Data;
use crate::learning::{AUTO, Choosing, Learning};
use crate::output::quoted;
use crate::session::{Outcome, Session};

/// Learn from labelled bags and write a model
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Args {
    /// A file, a built-in name or a generator
    #[arg(value_name = "DATA")]
    data: String,
    /// The method; auto takes the simplest that is as good as the best
    #[arg(long, value_name = "METHOD", default_value = AUTO)]
    method: String,
    /// The file to write
    #[arg(short, long, value_name = "FILE.bagwise")]
    output: PathBuf,
    /// Folds by which parameters are chosen and probabilities calibrated
    #[arg(long, value_name = "N", default_value_t = 5)]
    inner: usize,
    #[command(flatten)]
    learning: Learning,
    #[command(flatten)]
    choosing: Choosing,
    #[command(flatten)]
    read: Data,
}

const HELP: &str = "\
Parameters that are not given are chosen by cross-validation on the training bags, whole groups together. \
How good the model will be on new bags is another question: bagwise evaluate answers it.

Examples:
  bagwise fit musk1 -o musk1.bagwise                                 method and parameters chosen
  bagwise fit molecules.csv --bag mol --label active --group scaffold --keep conformer -o m.bagwise
  bagwise fit musk1 --method mi-kernel -p gamma=2/median --threshold recall=0.95 -o mi.bagwise
  bagwise fit musk1 --method isk -p psi=64 -p epsilon=1 -p c=8 -o isk.bagwise";

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    let data = session.read(&args.data, &args.read.read_options())?;
    check_writable(&args.output)?;
    if args.output.is_file() && Trained::load(&args.output).is_err() {
        bail!(
            "{}: there is a file of this name that is not a model; choose another name",
            args.output.display()
        );
    }
    let setups = args.learning.setups(&args.method, &data, args.read.fills_gaps(), Fill::Grid)?;
    let learners: Vec<Learner<'_>> = setups
        .iter()
        .map(|setup| Learner::new(&data, setup, args.choosing.positive.as_deref()))
        .collect::<Result<_, _>>()?;
    let wanted = Wanted {
        metric: args.choosing.metric(&data),
        threshold: args.choosing.threshold,
        best: args.choosing.best,
    };
    let all: Vec<usize> = (0..data.bags.len()).collect();
    wanted.check(learners[0].target)?;
    // Found out here, because a message about folds would not say which option they are.
    let pool = Pool { target: learners[0].target, groups: data.groups.as_ref(), given: None };
    let splits = Splits::KFold(args.inner);
    splits.inner(pool, &all, session.ctx.seed, 0, 0).with_context(|| format!("--inner {}", args.inner))?;
    let ctx = args.learning.ctx(&session.ctx);
    let model = train(&learners, &all, splits, &wanted, &ctx)?;
    model.save(&args.output)?;
    let header = &model.header;
    let inner = header.training.inner_value.map_or("undefined".into(), |v| format!("{v:.3}"));
    let chosen = setups.len() > 1 || setups[0].grid.points.len() > 1;
    let remark = if chosen {
        " (optimistic: parameters were chosen by it; bagwise evaluate gives an honest estimate)"
    } else {
        ""
    };
    session.say(&format!(
        "{} {}\n{} over {} inner folds: {inner}{remark}",
        header.method, header.parameters, header.training.chosen_by, args.inner
    ));
    if let Some(threshold) = header.threshold {
        session.say(&format!("threshold: scores from {threshold:.4} on are {}", model.positive_name()));
    }
    if !header.training.threshold_met {
        session.warn("the threshold's rule could not be met on the training bags; the nearest one was taken");
    }
    if header.training.not_converged > 0 {
        let steps = header.parameters.has("iterations");
        session.warn(&format!(
            "{} of {} machines reached the iteration limit; {}",
            header.training.not_converged,
            header.duels.len(),
            if steps { "more steps are -p iterations=N" } else { "try another scaling or a smaller c" }
        ));
    }
    if header.training.unsettled > 0 {
        session.warn(&format!(
            "the choices of {} of {} machines did not settle: they came back in a circle or changed to the end",
            header.training.unsettled,
            header.duels.len()
        ));
    }
    let file = quoted(&args.output.to_string_lossy());
    session.say(&format!("wrote {file}; next: bagwise predict {file} NEW_DATA"));
    if let Err(why) = model.explain(&data.bags.select(&[0]), &ctx) {
        session.say(&format!("bagwise explain cannot take this model apart: {why}"));
    }
    Ok(Outcome::Done)
}
