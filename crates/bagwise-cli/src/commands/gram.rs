//! `bagwise gram`: the kernel matrix of a method, as a file for any other program.

use std::path::PathBuf;

use anyhow::Result;
use bagwise::io::{OutputKind, write_npy};

use crate::args::Data;
use crate::learning::Seeing;
use crate::session::{Outcome, Session};

/// Write the kernel (Gram) matrix of a set of bags
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Args {
    /// The bags of the rows: a file, a built-in data set or a generator
    #[arg(value_name = "DATA")]
    data: String,
    /// The method whose kernel to use
    #[arg(long, value_name = "METHOD")]
    method: String,
    /// The bags of the columns, such as the training set [default: DATA]
    #[arg(long, value_name = "DATA")]
    against: Option<String>,
    /// Output file
    #[arg(short, long, value_name = "FILE.npy")]
    output: PathBuf,
    #[command(flatten)]
    seeing: Seeing,
    #[command(flatten)]
    read: Data,
}

const HELP: &str = "\
Rows and columns are bags in the order of the file. Numbers are doubles. With --against, scaling and \
widths relative to the median are learned from the bags of the columns, so a test x train matrix is consistent with the \
train x train matrix.

Examples:
  bagwise gram musk1 --method mi-kernel -p gamma=0.5 -p norm=sqrt --scale minmax --output k.npy
  bagwise gram musk1 --against musk1 --method wmksvm --output test-train.npy";

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    let inputs: Vec<&str> = [&args.data].into_iter().chain(&args.against).map(String::as_str).collect();
    session.check_output(&args.output, OutputKind::Gram, &inputs)?;
    let mut options = args.read.read_options();
    options.unlabelled = true;
    let against = args.against.as_ref().map(|name| session.read(name, &options)).transpose()?;
    if let Some(against) = &against {
        options.features = against.bags.features().iter().map(|f| f.name.clone()).collect();
    }
    let data = session.read(&args.data, &options)?;
    let reference = against.as_ref().unwrap_or(&data);
    let (setup, point) = args.seeing.single(&args.method, reference, &args.read)?;
    let ctx = args.seeing.ctx(&session.ctx);
    let columns = against.as_ref().map(|a| &a.bags);
    let gram = bagwise::gram(
        setup.method,
        &point,
        setup.scale,
        setup.impute,
        &data.bags,
        columns,
        reference.target.as_ref(),
        &ctx,
    )
    .map_err(|e| e.of_data(&data.name))?;
    write_npy(&args.output, &gram)?;
    session.say(&format!(
        "wrote {}: {} x {}, {} {point}, scaling {}",
        args.output.display(),
        gram.rows(),
        gram.cols(),
        setup.method.info().name,
        setup.scale.name()
    ));
    Ok(Outcome::Done)
}
