//! `cargo xtask bench dd`: the search for concepts beside batched numpy and Weka's MIDD, in one run.
//!
//! One training fold of Musk1 and of Musk2 (if it is there), z-scored, every instance of every positive bag a start. One
//! thread and CPU seconds on both sides. An evaluation is value and gradient of all starts; its bound is `4 d`
//! multiply-adds per start and instance at the peak that is measured here. Bars: 70 % of the bound, and half of
//! numpy's time. Weka runs its own search (fewer starts, other stopping rule) on the same fold, where it is installed.
#![expect(clippy::print_stdout, reason = "a bench exists to print")]

use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use bagwise::preprocess::{Scale, Transform};
use bagwise::unstable::engine::density::{
    BagTarget, Batch, Concept, ConceptMetric, End, Evidence, SearchOptions, Starts, Stop, search,
};
use bagwise::unstable::engine::instruction_set;
use bagwise::{Ctx, Dataset};

use crate::bench_pairs::{best, cpu_seconds, multiply_add_peak, one_thread, released, verdict};
use crate::run::{program, root};
use crate::{venv, weka};

/// Steps of every climb.
const ITERATIONS: usize = 50;

pub(crate) fn run() -> Result<()> {
    if released("dd")? {
        return Ok(());
    }
    let python = venv::python(&["numpy"])?;
    let folder = std::env::temp_dir().join(format!("bagwise-bench-dd-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    println!("one thread, {}, multiply-adds at most {:.1} GF/s", instruction_set(), multiply_add_peak());
    for name in ["musk1", "musk2"] {
        match bagwise::io::read(name, &Default::default()) {
            Ok(data) => one_thread(|| fold(&data, &python, &folder))?,
            Err(error) => println!("{name} is left out: {error}"),
        }
    }
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

/// Nine tenths of the bags, every tenth left out.
fn training(data: &Dataset) -> Vec<usize> {
    (0..data.bags.len()).filter(|b| b % 10 != 0).collect()
}

fn evidence(data: &Dataset) -> Result<Evidence> {
    let ctx = Ctx::default();
    let train = training(data);
    let own = data.bags.select(&train);
    let all: Vec<usize> = (0..own.len()).collect();
    let bags = Transform::fit(Scale::ZScore, false, &own, None, &all)?.apply(&own, &ctx)?;
    let Some(bagwise::Target::Classes { codes, .. }) = &data.target else { unreachable!("Musk has classes") };
    let target = |&b: &usize| if codes[b] == 1 { BagTarget::Positive } else { BagTarget::Negative };
    Ok(Evidence::new(&bags, &all, train.iter().map(target).collect(), &ctx)?)
}

fn fold(data: &Dataset, python: &Path, folder: &Path) -> Result<()> {
    let evidence = evidence(data)?;
    let (n, d) = (evidence.instances().rows(), evidence.width());
    let ctx = Ctx::default();
    let options = |iterations| SearchOptions {
        distance: ConceptMetric::Weighted,
        rho: 1.0,
        starts: Starts::All,
        stop: Stop::after(iterations),
    };
    let (cpu, wall) = (cpu_seconds(), Instant::now());
    let found = search(&evidence, &options(ITERATIONS), &ctx)?;
    let (cpu, wall) = (cpu_seconds() - cpu, wall.elapsed().as_secs_f64());
    let evaluations: usize = found.iter().map(|f| f.evaluations).sum();
    let ended = |end| found.iter().filter(|f| f.end == end).count();
    println!(
        "\n{}, one fold: {} bags, {n} instances x {d}, {} starts",
        data.name,
        evidence.targets().len(),
        found.len()
    );
    println!(
        "  search, at most {ITERATIONS} steps: {cpu:.2} CPU s ({wall:.2} s), {evaluations} evaluations; {} converged, {} at the limit, {} stuck",
        ended(End::Converged),
        ended(End::Limit),
        ended(End::Stuck)
    );
    // Where climbs are after ten steps: neither at an instance, as at the start, nor at rest.
    let concepts: Vec<Concept> =
        search(&evidence, &options(10), &ctx)?.into_iter().map(|f| f.concept).collect();
    let batch = Batch::new(&evidence, true, &ctx)?;
    let ours = best(|| batch.densities(&concepts, &ctx).expect("the data are in order"));
    // Measured again beside the evaluation: the clock of a shared machine does not stand still.
    let bound = concepts.len() as f64 * n as f64 * 8.0 * d as f64 / 1e9 / multiply_add_peak();
    let share = bound / ours;
    println!(
        "  evaluation of all starts: {ours:.4} CPU s, bound {bound:.4} s, {:.0} % of it (bar 70): {}",
        100.0 * share,
        verdict(share >= 0.7)
    );
    let numpy = numpy(&evidence, &concepts, python, folder)?;
    println!(
        "  numpy {}: {:.4} CPU s, {:.1} times ours (bar 2): {}; the search's evaluations would take it {:.1} s",
        numpy.version,
        numpy.seconds,
        numpy.seconds / ours,
        verdict(numpy.seconds / ours >= 2.0),
        numpy.seconds * evaluations as f64 / concepts.len() as f64
    );
    let densities = batch.densities(&concepts, &ctx)?;
    let off = densities.iter().zip(&numpy.values).map(|((v, _), t)| (v / t - 1.0).abs()).fold(0.0, f64::max);
    let gradients = densities.iter().zip(numpy.gradients.chunks_exact(2 * d)).map(|((_, ours), theirs)| {
        let size = theirs.iter().fold(0.0, |m: f64, g| m.max(g.abs()));
        ours.iter().zip(theirs).map(|(a, b)| (a - b).abs() / size).fold(0.0, f64::max)
    });
    let gradients = gradients.fold(0.0, f64::max);
    println!("  largest relative difference to it: values {off:.1e}, gradients {gradients:.1e}");
    beside_weka(data, folder)
}

/// What the peer said and wrote.
struct Peer {
    seconds: f64,
    version: String,
    values: Vec<f64>,
    gradients: Vec<f64>,
}

fn numpy(evidence: &Evidence, concepts: &[Concept], python: &Path, folder: &Path) -> Result<Peer> {
    let floats = |name: &str, values: &mut dyn Iterator<Item = f64>| {
        let bytes: Vec<u8> = values.flat_map(f64::to_le_bytes).collect();
        std::fs::write(folder.join(name), bytes)
    };
    let counts = |name: &str, values: &mut dyn Iterator<Item = usize>| {
        let bytes: Vec<u8> = values.flat_map(|v| (v as u64).to_le_bytes()).collect();
        std::fs::write(folder.join(name), bytes)
    };
    let shape = [evidence.instances().rows(), evidence.width(), concepts.len()];
    counts("shape", &mut shape.into_iter())?;
    counts("offsets", &mut evidence.offsets().iter().copied())?;
    counts("positive", &mut evidence.targets().iter().map(|t| usize::from(*t == BagTarget::Positive)))?;
    floats("instances", &mut evidence.instances().data().iter().copied())?;
    floats("points", &mut concepts.iter().flat_map(|c| c.point.iter().copied()))?;
    floats("weights", &mut concepts.iter().flat_map(|c| c.weights.iter().copied()))?;
    let peer = root().join("crates/xtask/peers/dd.py");
    let mut time = program(python, &[peer.as_os_str(), folder.as_os_str(), "3".as_ref()]);
    time.env("OPENBLAS_NUM_THREADS", "1").env("OMP_NUM_THREADS", "1").env("MKL_NUM_THREADS", "1");
    let output = time.output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout)?;
    let word = |key: &str| {
        text.lines()
            .find_map(|l| l.strip_prefix(key))
            .map(str::trim)
            .with_context(|| format!("the peer did not print {key}"))
    };
    let read = |name: &str| -> Result<Vec<f64>> {
        let bytes = std::fs::read(folder.join(name))?;
        Ok(bytes.as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect())
    };
    Ok(Peer {
        seconds: word("seconds")?.parse()?,
        version: word("version")?.into(),
        values: read("values")?,
        gradients: read("gradients")?,
    })
}

/// Weka's MIDD on the same bags, with its own standardisation; its search from the largest positive bags can take hours
/// on Musk2, so only on Musk1.
fn beside_weka(data: &Dataset, folder: &Path) -> Result<()> {
    let jar = match weka::jar() {
        Ok(jar) => jar,
        Err(why) => {
            println!("  Weka is left out: {why}");
            return Ok(());
        }
    };
    if data.bags.instance_count() > 1000 {
        println!("  Weka is left out: it would take hours here");
        return Ok(());
    }
    let file = weka::write(&data.select(&training(data)), folder)?;
    let mut java = program("java", &["-cp"]);
    java.arg(&jar).args(["weka.classifiers.mi.MIDD", "-N", "1", "-no-cv", "-t"]).arg(&file);
    let start = (weka::children_seconds(), Instant::now());
    let output = java.output()?;
    let (cpu, wall) = (weka::children_seconds() - start.0, start.1.elapsed().as_secs_f64());
    if output.status.success() {
        println!(
            "  Weka's MIDD, the whole fold (its own starts and stopping rule): {cpu:.2} CPU s, {wall:.2} s"
        );
    } else {
        println!(
            "  Weka did not run: {}",
            String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or("")
        );
    }
    Ok(())
}
