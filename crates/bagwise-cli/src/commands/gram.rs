//! `bagwise gram`: the kernel matrix of a method, as a file for any other program.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use bagwise::io::{OutputKind, checksum, files, npy_size, read_npy, write_npy};
use bagwise::judge::data_fingerprint;
use bagwise::{Dataset, Mat, Shard};

use crate::args::Data;
use crate::learning::RepresentationArgs;
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
    /// Compute part I of N of the rows, such as 3/7, and write it next to the output file; the same command without --shard joins
    /// the parts
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    #[command(flatten)]
    seeing: RepresentationArgs,
    #[command(flatten)]
    read: Data,
}

const HELP: &str = "\
Rows and columns are bags in the order of the file. Numbers are doubles. With --against, scaling and \
widths relative to the median are learned from the bags of the columns, so a test x train matrix is consistent with the \
train x train matrix.

With --shard, each part can be computed on another machine that shares the folder. The same command without --shard reads the \
finished parts, computes the missing ones, and writes the whole matrix. The file is identical to one computed without --shard.

Examples:
  bagwise gram musk1 --method mi-kernel -p gamma=0.5 -p norm=sqrt --scale minmax --output k.npy
  bagwise gram musk1 --against musk1 --method wmksvm --output test-train.npy
  bagwise gram musk1 --method mi-kernel --shard 1/2 --output half.npy";

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    let inputs = args.read.inputs([&args.data].into_iter().chain(&args.against).map(OsStr::new));
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
    if let Some(what) = setup.method.approximation(&data.bags, &setup.grid.points) {
        session.say(&what);
    }
    let ctx = args.seeing.ctx(&session.ctx);
    let columns = against.as_ref().map(|a| &a.bags);
    let part = |shard: Option<Shard>| {
        bagwise::gram_part(
            setup.method,
            &point,
            setup.scale,
            setup.impute,
            &data.bags,
            columns,
            reference.target.as_ref(),
            shard,
            &ctx,
        )
        .map_err(|e| e.of_data(&data.name))
    };
    let name = setup.method.info().name;
    let how = format!("{name} {point}, scaling {}", setup.scale.name());
    let said = format!("{how} {} {:?} {}", setup.impute, ctx.precision, ctx.seed);
    let files = ShardFiles::new(&args.output, &said, &data, against.as_ref())?;
    if let Some(shard) = args.shard {
        let path = files.path(shard);
        session.check_output(&path, OutputKind::Gram, &inputs)?;
        if files.read(shard, session)?.is_some() {
            session.say(&format!("shard {shard} is there already: {}", path.display()));
            return Ok(Outcome::Done);
        }
        let rows = part(Some(shard))?;
        check_finite(&rows, name)?;
        let size = format!("{} x {}", rows.rows(), rows.cols());
        write_npy(&path, &bagwise::seal_part(rows))?;
        session.say(&format!(
            "wrote {}: rows of shard {shard}, {size}, {how}; when all shards are done, run the same command without --shard",
            path.display()
        ));
        return Ok(Outcome::Done);
    }
    let gram = match files.most_complete() {
        None => part(None)?,
        Some(of) => {
            let mut parts = Vec::with_capacity(of);
            let mut there = 0;
            for shard in (1..=of).map(|i| Shard::new(i, of)) {
                let shard = shard?;
                let known = files.read(shard, session)?;
                there += usize::from(known.is_some());
                parts.push(match known {
                    Some(known) => known,
                    None => part(Some(shard))?,
                });
            }
            session.say(&format!("took {there} of {of} shards from {}", files.folder.display()));
            bagwise::join_grams(&parts, columns.is_none())?
        }
    };
    check_finite(&gram, name)?;
    write_npy(&args.output, &gram)?;
    session.say(&format!("wrote {}: {} x {}, {how}", args.output.display(), gram.rows(), gram.cols()));
    Ok(Outcome::Done)
}

/// Refuses kernel values that no program could use.
fn check_finite(gram: &Mat, method: &str) -> Result<()> {
    if gram.data().iter().all(|value| value.is_finite()) {
        return Ok(());
    }
    bail!(
        "some kernel values of {method} are not finite: the values of the data are too large for it; use --scale zscore or minmax"
    )
}

/// The files of the shards of a Gram matrix: next to the output, with names that identify the matrix.
struct ShardFiles<'d> {
    folder: PathBuf,
    /// What stands before the number of the shard.
    front: String,
    data: &'d Dataset,
    against: Option<&'d Dataset>,
}

impl<'d> ShardFiles<'d> {
    fn new(
        output: &Path,
        said: &str,
        data: &'d Dataset,
        against: Option<&'d Dataset>,
    ) -> Result<ShardFiles<'d>> {
        let mut what = format!("{} {said} {}", env!("CARGO_PKG_VERSION"), data_fingerprint(data)?);
        if let Some(against) = against {
            what += &format!(" {}", data_fingerprint(against)?);
        }
        let digest = checksum::of_bytes(what.as_bytes());
        let stem = output.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        let folder = files::folder_of(output).to_path_buf();
        Ok(ShardFiles { folder, front: format!("{stem}-{digest:016x}-shard-"), data, against })
    }

    fn path(&self, shard: Shard) -> PathBuf {
        self.folder.join(format!("{}{}-of-{}.npy", self.front, shard.index(), shard.of()))
    }

    /// Whether the file of a shard has the size that it must have: files appear when they are complete.
    fn is_there(&self, shard: Shard) -> bool {
        let bags = &self.data.bags;
        let rows = bagwise::shard_rows(bags, self.against.is_none(), shard).len();
        let cols = self.against.unwrap_or(self.data).bags.len();
        std::fs::metadata(self.path(shard)).is_ok_and(|file| file.len() == npy_size(rows + 1, cols))
    }

    /// The rows of a shard, if they are there. Rows that were damaged since are not taken.
    fn read(&self, shard: Shard, session: &Session) -> Result<Option<Mat>> {
        let path = self.path(shard);
        if !path.exists() {
            return Ok(None);
        }
        let stored = match self.is_there(shard).then(|| read_npy(&path)) {
            Some(Ok(stored)) => Some(stored),
            // The disk or the memory, not the file.
            Some(Err(e @ bagwise::Error::Io { .. })) => return Err(e.into()),
            Some(Err(_)) | None => None,
        };
        let rows = stored.and_then(bagwise::open_part);
        let expected = bagwise::shard_rows(&self.data.bags, self.against.is_none(), shard).len();
        let rows = rows.filter(|rows| rows.rows() == expected);
        if rows.is_none() {
            session.warn(&format!(
                "{}: the file is damaged or incomplete; its rows are computed again",
                path.display()
            ));
        }
        Ok(rows)
    }

    /// The number of shards of the division of which most is there.
    fn most_complete(&self) -> Option<usize> {
        let mut found: BTreeMap<usize, usize> = BTreeMap::new();
        for entry in std::fs::read_dir(&self.folder).ok()?.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let numbers = name.strip_prefix(&self.front).and_then(|rest| rest.strip_suffix(".npy"));
            let Some((index, of)) = numbers.and_then(|numbers| numbers.split_once("-of-")) else { continue };
            let shard = index.parse().ok().zip(of.parse().ok()).and_then(|(i, n)| Shard::new(i, n).ok());
            if shard.is_some_and(|shard| self.is_there(shard)) {
                *found.entry(of.parse().unwrap_or(1)).or_default() += 1;
            }
        }
        // Which share of the division, in thousandths.
        found.into_iter().max_by_key(|&(of, there)| 1000 * there / of.max(1)).map(|(of, _)| of)
    }
}
