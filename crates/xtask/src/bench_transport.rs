//! `cargo xtask bench transport`: earth mover's distances beside POT.
//!
//! All pairs of bags of Musk1, Elephant and Musk2, z-scored, on one thread on both sides: CPU seconds, the least of some runs,
//! cost matrices included (bar: no more than POT's, and half on one set). Then a thousand random pairs, of one instance with
//! 500, of equal points and of 600 with 600 among them: every distance must agree.
#![expect(clippy::print_stdout, reason = "a bench exists to print")]

use anyhow::{Context as _, Result, bail};
use bagwise::preprocess::{Scale, Transform};
use bagwise::unstable::engine::instruction_set;
use bagwise::unstable::engine::transport::{TransportSolver, earth_movers, earth_movers_to};
use bagwise::{Bags, Ctx, Instances, Mat, Rng};

use crate::bench_pairs::{cpu_seconds, one_thread, released, verdict};
use crate::run::{program, root};
use crate::venv;

const REPEATS: usize = 3;
const SETS: [&str; 3] = ["musk1", "elephant", "musk2"];

pub(crate) fn run() -> Result<()> {
    if released("transport")? {
        return Ok(());
    }
    one_thread(beside_pot)
}

fn beside_pot() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    let mut sets = Vec::new();
    for name in SETS {
        let data = bagwise::read(root().join(format!("data/{name}.csv.gz")))?;
        let all: Vec<usize> = (0..data.bags.len()).collect();
        let scaling = Transform::fit(Scale::ZScore, false, &data.bags, None, &all)?;
        let bags = scaling.apply(&data.bags, &Ctx::default())?;
        write(folder, name, &bags)?;
        sets.push(bags);
    }
    let (random, pairs) = random_pairs()?;
    write(folder, "random", &random)?;
    let numbers = pairs.iter().flat_map(|&(i, j)| [i as i64, j as i64]);
    std::fs::write(folder.join("random.pairs"), numbers.flat_map(i64::to_le_bytes).collect::<Vec<u8>>())?;

    let python = venv::python(&["numpy", "scipy", "POT"])?;
    let mut peer = program(&python, &[root().join("crates/xtask/peers/transport.py")]);
    peer.arg(folder).arg(REPEATS.to_string()).args(SETS).arg("random");
    for threads in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"] {
        peer.env(threads, "1");
    }
    let output = peer.output().context("running the peer")?;
    if !output.status.success() {
        bail!("the peer: {}", String::from_utf8_lossy(&output.stderr));
    }
    let text = String::from_utf8(output.stdout)?;
    println!(
        "earth mover's distances: CPU s on one thread, least of {REPEATS}, costs included; {}",
        instruction_set()
    );
    text.lines().filter(|l| l.starts_with("version")).for_each(|line| println!("  {line}"));
    println!("  {:>9} {:>8} {:>8} {:>6} {:>12}", "", "ours", "POT", "ratio", "difference");
    let ctx = Ctx::default();
    let row = |name: &str, ours: f64, found: &[f64]| -> Result<()> {
        let key = format!("{name} ");
        let theirs: f64 = text.lines().find_map(|l| l.strip_prefix(&key)).context(key.clone())?.parse()?;
        let known = doubles(&folder.join(format!("{name}.emd")))?;
        let off = |(a, b): (&f64, &f64)| (a - b).abs() / b.abs().max(1.0);
        let most = found.iter().zip(&known).map(off).fold(0.0, f64::max);
        println!(
            "  {name:>9} {ours:>8.3} {theirs:>8.3} {:>6.1} {most:>12.1e}  no slower {}, same {}",
            theirs / ours,
            verdict(ours <= theirs),
            verdict(found.len() == known.len() && most < 1e-9)
        );
        Ok(())
    };
    for (name, bags) in SETS.into_iter().zip(&sets) {
        let (seconds, found) = least(|| Ok(earth_movers(bags, true, TransportSolver::Exact, &ctx)?))?;
        let upper = (0..bags.len()).flat_map(|i| (i + 1..bags.len()).map(move |j| (i, j)));
        row(name, seconds, &upper.map(|(i, j)| found.get(i, j)).collect::<Vec<f64>>())?;
    }
    let (seconds, found) = least(|| {
        let one = |&(i, j): &(usize, usize)| {
            Ok(earth_movers_to(
                &random.select(&[i]),
                &random.select(&[j]),
                true,
                TransportSolver::Exact,
                &ctx,
            )?
            .get(0, 0))
        };
        pairs.iter().map(one).collect::<Result<Vec<f64>>>()
    })?;
    row("random", seconds, &found)
}

fn least<R>(mut work: impl FnMut() -> Result<R>) -> Result<(f64, R)> {
    let mut best: Option<(f64, R)> = None;
    for _ in 0..REPEATS {
        let start = cpu_seconds();
        let found = work()?;
        let seconds = cpu_seconds() - start;
        if best.as_ref().is_none_or(|(least, _)| seconds < *least) {
            best = Some((seconds, found));
        }
    }
    best.context("at least one run")
}

/// A thousand pairs of bags: one instance with 500, equal points, 600 with 600, and any up to 30.
fn random_pairs() -> Result<(Bags, Vec<(usize, usize)>)> {
    let mut rng = Rng::new(1, "transport", &[]);
    let (mut values, mut offsets, mut pairs) = (Vec::new(), vec![0], Vec::new());
    for pair in 0..1000 {
        let (m, n) = match pair {
            0..10 => (1, 500),
            10 => (600, 600),
            _ => (1 + rng.below(30), 1 + rng.below(30)),
        };
        for size in [m, n] {
            // Every fifth pair has whole numbers: many ties, and equal points.
            let mut value = || if pair % 5 == 1 { rng.below(2) as f64 } else { rng.normal() };
            values.extend((0..4 * size).map(|_| value()));
            offsets.push(offsets[offsets.len() - 1] + size);
        }
        pairs.push((2 * pair, 2 * pair + 1));
    }
    let rows = values.len() / 4;
    Ok((Bags::new(Instances::F64(Mat::new(rows, 4, values)), offsets)?, pairs))
}

/// Bags as the peer reads them.
fn write(folder: &std::path::Path, name: &str, bags: &Bags) -> Result<()> {
    let mut values = Vec::new();
    bags.instances().each_row(0..bags.instance_count(), |_, row| {
        values.extend(row.iter().flat_map(|v| v.to_le_bytes()));
    })?;
    std::fs::write(folder.join(format!("{name}.values")), values)?;
    let sizes = (0..bags.len()).map(|b| bags.rows(b).len());
    let numbers = std::iter::once(bags.width()).chain(sizes).map(|v| v as i64);
    std::fs::write(
        folder.join(format!("{name}.sizes")),
        numbers.flat_map(i64::to_le_bytes).collect::<Vec<u8>>(),
    )?;
    Ok(())
}

fn doubles(path: &std::path::Path) -> Result<Vec<f64>> {
    let bytes = std::fs::read(path)?;
    let (eights, _) = bytes.as_chunks::<8>();
    Ok(eights.iter().map(|c| f64::from_le_bytes(*c)).collect())
}
