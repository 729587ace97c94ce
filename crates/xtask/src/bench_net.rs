//! `cargo xtask bench net`: an epoch of `mil-net` on 500 bags of 1,000 instances x 384 in single precision, beside PyTorch with the same
//! arithmetic on the same number of threads, in one run, in CPU seconds (bar: twice as long). Without PyTorch the peer is NumPy.
//! An epoch is one gradient over all bags and one step of Adam. Ours is measured in both precisions; the peer computes in f32.
#![expect(clippy::print_stdout, reason = "a bench exists to print")]

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use bagwise::unstable::engine::network::{Activation, Adam, NetworkShape, Pooling, gradient};
use bagwise::{Bags, Ctx, Instances, Mat, Precision, Rng};

use crate::bench_pairs::{cpu_seconds, one_thread, peak_bytes, released, verdict};
use crate::run::{program, root};
use crate::venv;

const BAGS: usize = 500;
const INSTANCES: usize = 1000;
const WIDTH: usize = 384;

pub(crate) fn run() -> Result<()> {
    if released("net")? {
        return Ok(());
    }
    compare()
}

/// The measurement, for whoever has a release build already.
pub(crate) fn compare() -> Result<()> {
    // Two uniform values of variance 1 from each word: what they are does not matter, but none may be 0.
    let mut rng = Rng::new(1, "net", &[]);
    let uniform = |bits: u32| (f64::from(bits) / f64::from(u32::MAX) - 0.5) as f32 * 12f32.sqrt();
    let words = (0..BAGS * INSTANCES * WIDTH / 2).map(|_| rng.bits());
    let values: Vec<f32> = words.flat_map(|w| [uniform(w as u32), uniform((w >> 32) as u32)]).collect();
    let instances = Instances::F32(Mat::new(BAGS * INSTANCES, WIDTH, values));
    let bags = Bags::new(instances, (0..=BAGS).map(|b| b * INSTANCES).collect())?;
    println!("an epoch of mil-net, attention, {BAGS} bags x {INSTANCES} x {WIDTH} f32, 64 units, 1 thread");
    let single = one_thread(|| epoch(&bags, Precision::F32))?;
    let double = one_thread(|| epoch(&bags, Precision::F64))?;
    drop(bags);
    if let Some(peak) = peak_bytes() {
        println!("  peak memory {:.2} GB, of which the instances are 0.77", peak / 1e9);
    }
    println!("  ours in f32   {single:>8.2} CPU s");
    println!("  ours in f64   {double:>8.2} CPU s");
    let python = venv::python(&["numpy", "torch"]).or_else(|_| venv::python(&["numpy"]))?;
    let (name, theirs) = peer(&python)?;
    println!("  {name:<12}  {theirs:>8.2} CPU s");
    let ratio = single / theirs;
    println!("  ratio {ratio:.2} (bar 2): {}", verdict(ratio <= 2.0));
    Ok(())
}

/// CPU seconds of the second of two epochs.
fn epoch(bags: &Bags, precision: Precision) -> Result<f64> {
    let shape = NetworkShape {
        inputs: WIDTH,
        widths: vec![64],
        attention: 32,
        pooling: Pooling::Attention,
        activation: Activation::Relu,
    };
    let mut ctx = Ctx::default();
    ctx.precision = precision;
    let list: Vec<usize> = (0..BAGS).collect();
    let mut network = shape.start(0, 0);
    let mut adam = Adam::new(network.len(), 0.001, 0.01, shape.decaying());
    let logistic = |at: usize, f: f64| {
        let y = if at.is_multiple_of(2) { 1.0 } else { -1.0 };
        ((-y * f).exp().ln_1p() / BAGS as f64, -y / (1.0 + (y * f).exp()) / BAGS as f64)
    };
    let mut seconds = 0.0;
    for _ in 0..2 {
        let started = cpu_seconds();
        let found = gradient(&shape, &network, bags, &list, &logistic, &ctx)?;
        adam.step(&mut network, found.gradient);
        seconds = cpu_seconds() - started;
    }
    Ok(seconds)
}

/// Name and CPU seconds of the peer.
fn peer(python: &Path) -> Result<(String, f64)> {
    let script = root().join("crates/xtask/peers/net.py");
    let mut command = program(python, &[script.as_os_str()]);
    command.args([BAGS, INSTANCES, WIDTH].map(|n| n.to_string()));
    command.env("OMP_NUM_THREADS", "1").env("OPENBLAS_NUM_THREADS", "1").env("MKL_NUM_THREADS", "1");
    let output = command.output()?;
    ensure!(output.status.success(), "the peer failed: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout)?;
    let (name, seconds) = text.trim().rsplit_once(' ').context("the peer prints a name and a number")?;
    Ok((name.to_string(), seconds.parse()?))
}
