//! `cargo xtask bench isk`: cells, weights, maps and Grams of the isolation set-kernel.
//!
//! Cells are held against numpy (augmented product and argmin in chunks; bar: 2.4 times less CPU), against ikpykit, and
//! against the machine's peak of multiply-adds in single precision, in which data in double precision are sifted as well,
//! measured in the same run (bar: 70 % from psi = 64 on). One thread and CPU seconds
//! on both sides, on a fiftieth of the rows of the Speaker benchmark (11,672 x 20, t = 200); costs are linear in rows and are shown
//! for all of them. Beside them the cells of trees (bar at psi = 256: a quarter of the CPU of Voronoi cells) and spheres. Then weights inside bags at full size, all psi of Musk2 in one pass, the grid of its Grams, and, each
//! in a process of its own, peak memory at the size of Speaker and for a million instances x 1024 that are never in memory.
#![expect(clippy::print_stdout, reason = "a bench exists to print")]

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use bagwise::fold::{ResolvedConfig, TrainingTask};
use bagwise::fold::{TrainOptions, train};
use bagwise::io::read;
use bagwise::judge::{Metric, Splits};
use bagwise::method::Scope;
use bagwise::params::{Grid, WhenUnset};
use bagwise::preprocess::{Scale, Transform};
use bagwise::unstable::engine::cells::{
    CentreLists, Distance, Ids, Mapper, Partition, Partitions, Share, Strategy,
};
use bagwise::unstable::engine::instruction_set;
use bagwise::{Bags, Ctx, Instances, Mat, methods};

use crate::bench_pairs::{cpu_seconds, multiply_add_peak, one_thread, peak_bytes, released, verdict};
use crate::run::{cargo, program, root, run as call};
use crate::venv;

const T: usize = 200;
const PSIS: [usize; 3] = [16, 64, 256];
const SPEAKER: f64 = 583_600.0;
const ROWS: usize = 11_672;
const REPEATS: usize = 3;

pub(crate) fn run() -> Result<()> {
    if released("isk")? {
        return Ok(());
    }
    one_thread(cells)?;
    run_partitions()?;
    weights()?;
    run_musk2()?;
    // Peak memory is that of a process.
    for name in ["isk-speaker", "isk-million"] {
        call(cargo(&["run", "--release", "--quiet", "--package", "xtask", "--", "bench", name]))?;
    }
    Ok(())
}

fn speaker(single: bool) -> Result<Bags> {
    Ok(read(&format!("synthetic:speaker?f32={}", u8::from(single)), &Default::default())?.bags)
}

fn least(mut work: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..REPEATS {
        let start = cpu_seconds();
        work()?;
        best = best.min(cpu_seconds() - start);
    }
    Ok(best)
}

fn cells() -> Result<()> {
    let ctx = Ctx::default();
    let bags = speaker(false)?;
    let train: Vec<usize> = (0..240).collect();
    let Instances::F64(all) = bags.instances() else { bail!("the generator's numbers are doubles") };
    let width = all.cols();
    let rows: Vec<usize> = (0..ROWS).map(|i| i * 50).collect();
    let double = all.gather(&rows);
    let single = Mat::new(ROWS, width, double.data().iter().map(|&v| v as f32).collect());
    let folder = std::env::temp_dir().join(format!("bagwise-bench-isk-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let bytes = |values: &[f64]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    std::fs::write(folder.join("points"), bytes(double.data()))?;
    let mut partitions = Vec::new();
    for psi in PSIS {
        let drawn = CentreLists::draw(&bags, &train, T, psi, Distance::Euclidean, &ctx)?;
        let Instances::F64(centres) = drawn.centres() else { bail!("centres are rows of the data") };
        let listed: Vec<usize> = drawn.lists().iter().map(|&c| c as usize).collect();
        std::fs::write(folder.join(format!("centres{psi}")), bytes(centres.gather(&listed).data()))?;
        partitions.push(drawn);
    }
    let python = venv::python(&["numpy", "ikpykit"])?;
    let mut peer = program(&python, &[root().join("crates/xtask/peers/isk.py")]);
    peer.arg(&folder).arg(T.to_string()).args(PSIS.map(|p| p.to_string()));
    peer.arg(ROWS.to_string()).arg(REPEATS.to_string());
    let output = peer.output().context("running the peer")?;
    if !output.status.success() {
        bail!("the peer: {}", String::from_utf8_lossy(&output.stderr));
    }
    let text = String::from_utf8(output.stdout)?;
    let theirs = |key: &str| -> Option<f64> {
        text.lines().find_map(|l| l.strip_prefix(key))?.trim().parse::<f64>().ok()
    };
    let peak = multiply_add_peak();
    let scale = SPEAKER / ROWS as f64;
    println!(
        "cells of {SPEAKER} x {width}, t = {T}: CPU s on one thread, from {ROWS} rows; {}",
        instruction_set()
    );
    for line in text.lines().filter(|l| l.starts_with("version")) {
        println!("  {line}");
    }
    println!("  multiply-adds {:.1} GF/s in f32, which sifts data in f64 as well", 2.0 * peak);
    println!(
        "  {:>4} {:>4} {:>8} {:>8} {:>7} {:>9} {:>9}",
        "psi", "", "ours", "numpy", "ratio", "% of peak", "ikpykit"
    );
    for (psi, drawn) in PSIS.into_iter().zip(&partitions) {
        let kinds = [
            ("f64", "float64", Instances::F64(double.clone())),
            ("f32", "float32", Instances::F32(single.clone())),
        ];
        for (kind, theirs_kind, points) in kinds {
            let centres = match (drawn.centres(), kind) {
                (Instances::F64(m), "f32") => {
                    Instances::F32(Mat::new(m.rows(), m.cols(), m.data().iter().map(|&v| v as f32).collect()))
                }
                (other, _) => other.clone(),
            };
            let drawn = Partitions::new(centres, drawn.lists().to_vec(), T, Distance::Euclidean)?;
            let mapper = Mapper::by(&drawn, &[psi], Strategy::Fused, &ctx)?;
            let mut last: Option<Ids> = None;
            let ours = scale
                * least(|| {
                    last = Some(mapper.ids(&points, 0..ROWS, &ctx)?.remove(0));
                    Ok(())
                })?;
            let numpy = theirs(&format!("numpy {psi} {theirs_kind} ")).context("numpy's time")? * scale;
            let work = 2.0 * SPEAKER * (T * psi * width) as f64 / 1e9;
            let of_peak = 100.0 * work / ours / (2.0 * peak);
            let other = theirs(&format!("ikpykit {psi} float64 ")).filter(|_| kind == "f64");
            println!(
                "  {psi:>4} {kind:>4} {ours:>8.2} {numpy:>8.2} {:>7.1} {of_peak:>9.0} {:>9}  ratio {}, peak {}",
                numpy / ours,
                other.map_or(String::new(), |s| format!("{:.0}", s * scale)),
                verdict(numpy / ours >= 2.4),
                if psi >= 64 { verdict(of_peak >= 70.0) } else { "without a bar" }
            );
            if kind == "f64" {
                let bytes = std::fs::read(folder.join(format!("ids{psi}")))?;
                let ids = last.context("cells")?;
                let theirs = bytes.as_chunks::<2>().0.iter().map(|b| usize::from(u16::from_le_bytes(*b)));
                let other = theirs.enumerate().filter(|(k, c)| ids.get(k / T, k % T) != Some(*c)).count();
                println!("       {other} of {} cells differ from numpy's", ROWS * T);
            }
        }
    }
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

/// What cells of every kind cost at the size of Speaker.
pub(crate) fn run_partitions() -> Result<()> {
    if released("isk-partitions")? {
        return Ok(());
    }
    one_thread(partitions)
}

fn partitions() -> Result<()> {
    let ctx = Ctx::default();
    let train: Vec<usize> = (0..240).collect();
    println!("\ncells of every kind of {SPEAKER} rows, t = {T}: CPU s on one thread, from {ROWS} rows");
    println!(
        "  {:>4} {:>4} {:>8} {:>8} {:>7} {:>8} {:>9}",
        "psi", "", "voronoi", "forest", "ratio", "sphere", "growing"
    );
    for single in [false, true] {
        let bags = speaker(single)?;
        let rows = bags.instances().gather(&(0..ROWS).map(|i| i * 50).collect::<Vec<_>>());
        for psi in PSIS {
            let euclidean = Distance::Euclidean;
            let cost = |partition: Partition| -> Result<(f64, f64)> {
                let start = cpu_seconds();
                let drawn = Partitions::draw(&bags, &train, T, &[psi], partition, &ctx)?;
                let drawing = cpu_seconds() - start;
                let mapper = Mapper::new(&drawn, &[psi], &ctx)?;
                let cells = least(|| mapper.ids(&rows, 0..ROWS, &ctx).map(drop).map_err(Into::into))?;
                Ok((cells * SPEAKER / ROWS as f64, drawing))
            };
            let (voronoi, _) = cost(Partition::Voronoi(euclidean))?;
            let (forest, growing) = cost(Partition::Forest)?;
            let (sphere, _) = cost(Partition::Sphere(euclidean))?;
            println!(
                "  {psi:>4} {:>4} {voronoi:>8.2} {forest:>8.2} {:>7.1} {sphere:>8.2} {growing:>9.2}  {}",
                if single { "f32" } else { "f64" },
                voronoi / forest,
                if psi == 256 {
                    format!("ratio {}", verdict(voronoi / forest >= 4.0))
                } else {
                    String::new()
                }
            );
        }
    }
    Ok(())
}

/// All weights inside bags at the size of Speaker.
fn weights() -> Result<()> {
    let ctx = Ctx::default();
    let bags = speaker(true)?;
    let all: Vec<usize> = (0..bags.len()).collect();
    let drawn = Partitions::draw(&bags, &all, T, &[64], Partition::Voronoi(Distance::Euclidean), &ctx)?;
    let (cpu, wall) = (cpu_seconds(), Instant::now());
    let ids =
        Mapper::new(&drawn, &[64], &ctx)?.ids(bags.instances(), 0..bags.instance_count(), &ctx)?.remove(0);
    let threads = rayon::current_num_threads();
    println!(
        "\nSpeaker in f32, psi = 64, {threads} threads: cells {:.1} CPU s, {:.1} s",
        cpu_seconds() - cpu,
        wall.elapsed().as_secs_f64()
    );
    let shares: Vec<Share> = (11..=20).map(|numerator| Share { numerator, denominator: 20 }).collect();
    let (cpu, wall) = (cpu_seconds(), Instant::now());
    use rayon::prelude::*;
    let sum: f64 = (0..bags.len()).into_par_iter().map(|b| ids.weights(bags.rows(b), &shares)[0][0]).sum();
    let (cpu, wall) = (cpu_seconds() - cpu, wall.elapsed().as_secs_f64());
    let compared = bags.pairs_within() * T as f64;
    println!(
        "  weights for ten epsilons: {compared:.1e} comparisons, {cpu:.1} CPU s, {wall:.1} s; CPU s over threads (bar 10): {} ({sum:.3})",
        verdict(cpu / (threads as f64) < 10.0)
    );
    Ok(())
}

/// All psi of Musk2 in one pass, and the grid of its Grams.
pub(crate) fn run_musk2() -> Result<()> {
    if released("isk-musk2")? {
        return Ok(());
    }
    let data = read("musk2", &Default::default())?;
    let all: Vec<usize> = (0..data.bags.len()).collect();
    let ctx = Ctx::default();
    let transform = Transform::fit(Scale::ZScore, false, &data.bags, None, &all)?;
    let bags = Arc::new(transform.apply(&data.bags, &ctx)?);
    let psis: Vec<usize> = (4..=12).map(|e| 1 << e).collect();
    let drawn = Partitions::draw(&bags, &all, T, &[4096], Partition::Voronoi(Distance::Euclidean), &ctx)?;
    let cpu = one_thread(|| {
        least(|| {
            let mapper = Mapper::new(&drawn, &psis, &ctx)?;
            mapper.ids(bags.instances(), 0..bags.instance_count(), &ctx).map(drop).map_err(Into::into)
        })
    })?;
    println!("\nMusk2, nine psi in one pass: {cpu:.2} CPU s (bar 1.2): {}", verdict(cpu <= 1.2));
    let method = methods::find("isk")?;
    let grid = Grid::new("isk", method.params(), &[("c".into(), "1".into())], WhenUnset::Grid, false)?;
    let (cpu, wall) = (cpu_seconds(), Instant::now());
    let prepared = method.prepare(Arc::clone(&bags), &grid.points, &Scope::of(&all), &ctx)?;
    let (cpu, wall) = (cpu_seconds() - cpu, wall.elapsed().as_secs_f64());
    let threads = rayon::current_num_threads();
    let entry = prepared.gram(0, &ctx)?.map_or(0.0, |g| g.get(0, 1));
    println!(
        "  {} Grams (psi x epsilon): {cpu:.1} CPU s, {wall:.1} s on {threads} threads; CPU s over threads (bar 10): {} ({entry:.4})",
        grid.points.len(),
        verdict(cpu / (threads as f64) < 10.0)
    );
    Ok(())
}

fn trained(name: &str, given: &[(&str, &str)]) -> Result<(f64, f64, usize)> {
    let data = read(name, &Default::default())?;
    let method = methods::find("isk")?;
    let given: Vec<(String, String)> = given.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let setup =
        ResolvedConfig::new(method, Grid::new("isk", method.params(), &given, WhenUnset::Default, false)?);
    let learners = [TrainingTask::new(&data, &setup, None)?];
    let all: Vec<usize> = (0..data.bags.len()).collect();
    let (cpu, wall) = (cpu_seconds(), Instant::now());
    let model =
        train(&learners, &all, Splits::KFold(3), &TrainOptions::by(Metric::Accuracy), &Ctx::default())?;
    println!(
        "  {name}: {} bags, {} instances; inner accuracy {:.3}",
        data.bags.len(),
        data.bags.instance_count(),
        model.header.training.inner_value.unwrap_or(f64::NAN)
    );
    Ok((cpu_seconds() - cpu, wall.elapsed().as_secs_f64(), data.bags.instance_count()))
}

/// Training at the size of Speaker, and the memory it takes.
pub(crate) fn run_speaker() -> Result<()> {
    if released("isk-speaker")? {
        return Ok(());
    }
    println!("\ntraining at the size of Speaker, psi = 64, epsilon = 11/20");
    let (cpu, wall, _) = trained("synthetic:speaker?f32=1", &[("psi", "64"), ("epsilon", "11/20")])?;
    let peak = peak_bytes().context("this system does not say what memory was used")?;
    println!(
        "  {cpu:.1} CPU s, {wall:.1} s, peak memory {:.2} GB (bar 1.5): {}",
        peak / 1e9,
        verdict(peak < 1.5e9)
    );
    Ok(())
}

/// A million instances x 1024 in 1,000 bags, and a quarter and half of them: map and linear machine, end to end.
pub(crate) fn run_million() -> Result<()> {
    if released("isk-million")? {
        return Ok(());
    }
    println!("\n1,000 bags of instances x 1024 that are never in memory, psi = 16: map and linear machine");
    let mut costs = Vec::new();
    for each in [250, 500, 1000] {
        let name = format!("synthetic:embeddings?bags=1000&instances={each}");
        let (cpu, wall, n) = trained(&name, &[("psi", "16"), ("solver", "map")])?;
        println!("    {cpu:.1} CPU s, {wall:.1} s, {:.1} CPU us per instance", cpu / n as f64 * 1e6);
        costs.push(cpu / n as f64);
    }
    let spread =
        costs.iter().copied().fold(0.0, f64::max) / costs.iter().copied().fold(f64::INFINITY, f64::min);
    let peak = peak_bytes().context("this system does not say what memory was used")?;
    println!("  cost per instance varies by {spread:.2} (linear: below 1.5): {}", verdict(spread < 1.5));
    println!("  peak memory {:.2} GB (bar 5): {}", peak / 1e9, verdict(peak < 5e9));
    Ok(())
}
