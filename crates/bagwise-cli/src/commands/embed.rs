//! `bagwise embed`: a sparse vector for every bag, as a file for any other learner.

use std::path::PathBuf;

use anyhow::{Result, bail};
use bagwise::io::{MapSpool, OutputKind, write_npz};
use bagwise::model::Model;

use crate::args::Data;
use crate::learning::RepresentationArgs;
use crate::session::{Outcome, Session};
use crate::streaming::{Streaming, each_piece};

/// Write a sparse feature vector for every bag
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Args {
    /// A file, a built-in data set or a generator
    #[arg(value_name = "DATA")]
    data: String,
    /// The method whose feature map to use
    #[arg(long, value_name = "METHOD", required_unless_present = "model", conflicts_with = "model")]
    method: Option<String>,
    /// Use the feature map of this model (from bagwise fit), for example for test bags
    #[arg(long, value_name = "FILE.bagwise", conflicts_with_all = ["params", "scale", "precision"])]
    model: Option<PathBuf>,
    /// Output file
    #[arg(short, long, value_name = "FILE.npz")]
    output: PathBuf,
    #[command(flatten)]
    streaming: Streaming,
    #[command(flatten)]
    seeing: RepresentationArgs,
    #[command(flatten)]
    read: Data,
}

const HELP: &str = "\
The output is a sparse matrix with one row per bag, in the order of the data. scipy.sparse.load_npz(FILE) reads it; \
numpy.load(FILE)['bags'] contains the bag names, and ['map'] a digest by which fit --maps recognises maps from another model. \
Rows have length 1, and their inner products are the kernel matrix. Scaling and partitionings are learned from the bags of DATA. \
To map test bags in the same way as training bags, fit a model first and pass it with --model; with --stream, they are then read \
in pieces, and memory does not grow with the data.

Examples:
  bagwise embed musk1 --method isk -p psi=64 -p epsilon=11/20 --output e.npz
  bagwise embed musk1 --model isk.bagwise --output new.npz";

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    let model = args.model.as_ref().map(|path| path.as_os_str());
    let inputs = args.read.inputs([args.data.as_ref()].into_iter().chain(model));
    session.check_output(&args.output, OutputKind::FeatureMap, &inputs)?;
    let mut options = args.read.read_options();
    let ((rows, cols, entries), how) = match (&args.model, &args.method) {
        (Some(path), _) => {
            let model = Model::load(path)?;
            let in_pieces = args.streaming.is_on(&args.data, &options)?;
            let mut spool = MapSpool::new(&args.output, model.map_digest()?)?;
            each_piece(&model, &args.data, options, in_pieces, session, |data| {
                let map = model.map(&data.bags, &session.ctx).map_err(|e| e.of_data(&data.name))?;
                Ok(spool.push(&map, data.bags.ids())?)
            })?;
            let size = spool.size();
            spool.finish()?;
            (size, format!("as {} does", path.display()))
        }
        (None, Some(method)) => {
            if args.streaming.is_asked_for() {
                bail!(
                    "--stream needs a --model: partitionings that are learned from the data need all of them"
                );
            }
            options.unlabelled = true;
            let data = session.read(&args.data, &options)?;
            let (setup, point) = args.seeing.single(method, &data, &args.read)?;
            let ctx = args.seeing.ctx(&session.ctx);
            let (map, digest) = bagwise::feature_map(
                setup.method,
                &point,
                setup.scale,
                setup.impute,
                &data.bags,
                data.target.as_ref(),
                &ctx,
            )
            .map_err(|e| e.of_data(&data.name))?;
            let how = format!("{} {point}, scaling {}", setup.method.info().name, setup.scale.name());
            write_npz(&args.output, &map, data.bags.ids(), &digest)?;
            ((map.rows(), map.cols(), map.nnz()), how)
        }
        (None, None) => bail!("give a method or a model"),
    };
    session.say(&format!("wrote {}: {rows} x {cols}, {entries} entries, {how}", args.output.display()));
    Ok(Outcome::Done)
}
