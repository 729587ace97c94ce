//! `bagwise slurm`: prints the script of a SLURM array job that runs a command in shards.

use anyhow::{Result, bail};
use clap::Parser as _;

use crate::args::General;
use crate::output::{self, quoted};
use crate::session::Outcome;
use crate::{Cli, Verb};

/// Print a SLURM script that runs compare, evaluate, run or gram in shards
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Args {
    /// Number of shards, which is the number of tasks in the array
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    shards: u32,
    /// Cores per task
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    cpus: u16,
    /// Memory per task in SLURM's format, such as 8G [default: that of the cluster]
    #[arg(long, value_name = "SIZE", value_parser = word)]
    task_memory: Option<String>,
    /// Time limit per task in SLURM's format, such as 4:00:00 [default: that of the cluster]
    #[arg(long, value_name = "TIME", value_parser = word)]
    time: Option<String>,
    /// Partition of the cluster
    #[arg(long, value_name = "NAME", value_parser = word)]
    partition: Option<String>,
    /// The command to split, without --shard: compare, evaluate, run or gram with its options; write it last
    #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<String>,
}

const HELP: &str = "\
Options of the array come first, then the command. Every task runs one shard with `--shard`, in its own folder inside the \
output folder. A task that is killed or requeued resumes where it stopped. When all tasks are done, run the command without \
--shard: it joins their records and writes the tables and the report, without training. All tasks need access to the data and \
the folder.

Examples:
  bagwise slurm --shards 100 compare musk1 --repeats 10 -o musk1-cluster > musk1.sbatch
  bagwise slurm --shards 40 --cpus 4 --task-memory 8G --time 4:00:00 run experiment.toml -o cluster";

pub(crate) fn run(args: &Args, general: &General) -> Result<Outcome> {
    // They would be for the command, which does not have them.
    let usual = Cli::try_parse_from(["bagwise"])?.general;
    if *general != (General { quiet: general.quiet, ..usual }) {
        bail!("options of the command come after it, such as `slurm --shards 2 compare musk1 --seed 5`");
    }
    let words = match args.command.split_first() {
        Some((first, rest)) if first == "bagwise" => rest,
        _ => &args.command,
    };
    let verb = check(words)?;
    let command: Vec<String> =
        std::iter::once("bagwise".into()).chain(words.iter().map(|word| quoted(word))).collect();
    let command = command.join(" ");
    let shards = args.shards;
    let mut script = format!("#!/bin/sh\n#SBATCH --job-name=bagwise-{verb}\n#SBATCH --array=1-{shards}\n");
    script += &format!("#SBATCH --cpus-per-task={}\n", args.cpus);
    for (name, value) in [("mem", &args.task_memory), ("time", &args.time), ("partition", &args.partition)] {
        if let Some(value) = value {
            script += &format!("#SBATCH --{name}={value}\n");
        }
    }
    script += "#SBATCH --requeue\n#SBATCH --open-mode=append\n#SBATCH --output=slurm-%A-%a.log\n\n";
    script += "# Results of different processors differ in the last bits. If the cluster has several kinds, this makes results identical:\n";
    script += "#   export BAGWISE_SIMD=avx2\n\n";
    script += "# When all tasks are done, this joins their records and writes the results:\n";
    // A name may have several lines, and each must stay a comment.
    script += &format!("#   {}\n\n", command.replace(['\n', '\r'], "\n#   "));
    script += &format!(
        "exec {command} --threads {} --shard \"${{SLURM_ARRAY_TASK_ID:?submit this script with sbatch}}/{shards}\"\n",
        args.cpus
    );
    output::to_stdout(script.as_bytes())?;
    Ok(Outcome::Done)
}

/// The verb of a command that can be cut into shards. A slip is found here, not in every task.
fn check(words: &[String]) -> Result<&'static str> {
    let words = std::iter::once("bagwise").chain(words.iter().map(String::as_str));
    let cli = match Cli::try_parse_from(words.chain(["--shard", "1/1"])) {
        Ok(cli) => cli,
        Err(slip) => {
            let text = slip.to_string();
            let line = text.lines().next().unwrap_or_default();
            bail!("this is not a command that takes --shard once: {}", line.trim_start_matches("error: "));
        }
    };
    if cli.general.threads.is_some() {
        bail!("the threads of a task are set with --cpus; leave --threads out of the command");
    }
    match cli.verb {
        Some(Verb::Compare(_)) => Ok("compare"),
        Some(Verb::Evaluate(args)) => {
            super::evaluate::check_shards(&args)?;
            Ok("evaluate")
        }
        Some(Verb::Run(_)) => Ok("run"),
        Some(Verb::Gram(_)) => Ok("gram"),
        _ => bail!("only compare, evaluate, run and gram can be split into shards"),
    }
}

/// A word of a script's header: what SLURM reads there is not quoted.
fn word(text: &str) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:,+%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return Ok(text.into());
    }
    Err("use letters, digits and - _ . : , +".into())
}
