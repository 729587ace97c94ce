//! `cargo xtask bench pairs`: the pairs engine beside what a Python user would write, in one run.
//!
//! One thread on both sides and CPU seconds (other work on the machine then hardly matters), best of several.
//! Musk2's eleven Grams are held against a loop over bag pairs (bar: 15 times less CPU) and against scikit-learn's
//! rbf_kernel (25 times), and against the machine: peak multiply-adds are measured here, the cost of exponentials,
//! powers and sums by the engine itself on data with a single attribute. `pairs-large` is 120,000 instances.
#![expect(clippy::print_stdout, reason = "a bench exists to print")]

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use bagwise::Precision;
use bagwise::unstable::engine::{GramOutput, Side, instruction_set, rectangular, symmetric};
use bagwise::{Ctx, Instances, Mat};

use crate::run::{data_file, program, root, run as call};
use crate::venv;

const REPEATS: usize = 7;

/// Musk2 and smaller things: a minute or two.
pub(crate) fn run() -> Result<()> {
    if released("pairs")? {
        return Ok(());
    }
    let musk2 = data_file("musk2")?;
    let python = venv::python(&["numpy", "scikit-learn"])?;
    let folder = std::env::temp_dir().join(format!("bagwise-bench-pairs-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let peer = root().join("crates/xtask/peers/pairs.py");
    let mut data = program(&python, &[peer.as_os_str(), "data".as_ref(), musk2.as_os_str()]);
    data.arg(&folder);
    call(data)?;
    let set = Set::read(&folder)?;
    one_thread(|| beside_python(&set, &python, &peer, &folder))?;
    one_thread(|| shapes(&set))?;
    threads(&set)?;
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

/// An MI-Kernel Gram of 120,000 instances in 1,200 bags, on all threads.
pub(crate) fn run_large() -> Result<()> {
    if released("pairs-large")? {
        return Ok(());
    }
    let set = Set::random(120_000, 100, 100);
    let (cpu, wall) = (cpu_seconds(), Instant::now());
    let gram = symmetric(&set.side(), &grid(&[1.0 / 16.0], 1), Precision::F64, &Ctx::default())?;
    let (cpu, wall) = (cpu_seconds() - cpu, wall.elapsed().as_secs_f64());
    let work = pairs(&set) * 200.0 / 1e9;
    println!("120,000 x 100 in {} bags, one gamma, {} threads", gram[0].rows(), rayon::current_num_threads());
    println!("  {cpu:.1} CPU s, {wall:.1} s; {:.1} GF/s of CPU time", work / cpu);
    let peak = peak_bytes().context("this system does not say what memory was used")?;
    println!("  peak memory {:.2} GB (bar 4): {}", peak / 1e9, verdict(peak < 4e9));
    Ok(())
}

/// Users run release builds, so that is what is measured: starts itself again if this is not one.
pub(crate) fn released(name: &str) -> Result<bool> {
    crate::run::released(&["bench", name])
}

/// Bags and one weight vector of ones.
struct Set {
    instances: Instances,
    offsets: Vec<usize>,
    weights: Vec<Vec<f64>>,
}

impl Set {
    fn new(width: usize, values: Vec<f64>, offsets: Vec<usize>) -> Set {
        let n = values.len() / width;
        Set { instances: Instances::F64(Mat::new(n, width, values)), offsets, weights: vec![vec![1.0; n]] }
    }

    fn read(folder: &Path) -> Result<Set> {
        let eights = |name: &str| -> Result<Vec<[u8; 8]>> {
            let bytes = std::fs::read(folder.join(name))?;
            Ok(bytes.as_chunks::<8>().0.to_vec())
        };
        let offsets: Vec<usize> =
            eights("offsets")?.into_iter().map(|b| u64::from_le_bytes(b) as usize).collect();
        let values: Vec<f64> = eights("instances")?.into_iter().map(f64::from_le_bytes).collect();
        let n = *offsets.last().context("no offsets")?;
        Ok(Set::new(values.len() / n, values, offsets))
    }

    /// Uniform numbers in bags of equal size.
    fn random(n: usize, width: usize, bag: usize) -> Set {
        let mut state = 7u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let values = (0..n * width).map(|_| next()).collect();
        Set::new(width, values, (0..=n).step_by(bag).collect())
    }

    fn side(&self) -> Side<'_> {
        Side { instances: &self.instances, offsets: &self.offsets, weights: &self.weights }
    }
}

fn grid(gammas: &[f64], vectors: usize) -> Vec<GramOutput> {
    let vector = |gamma: f64| (0..vectors).map(move |term| GramOutput { gamma, terms: vec![term] });
    gammas.iter().flat_map(|&gamma| vector(gamma)).collect()
}

fn eleven() -> Vec<f64> {
    (-5..=5).map(|e| 2f64.powi(e)).collect()
}

/// Pairs of instances that a symmetric Gram must look at.
fn pairs(set: &Set) -> f64 {
    let n = set.instances.rows() as f64;
    n * n / 2.0
}

fn beside_python(set: &Set, python: &Path, peer: &Path, folder: &Path) -> Result<()> {
    let mut time = program(python, &[peer.as_os_str(), "time".as_ref(), folder.as_os_str(), "2".as_ref()]);
    time.env("OPENBLAS_NUM_THREADS", "1").env("OMP_NUM_THREADS", "1").env("MKL_NUM_THREADS", "1");
    let output = time.output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout)?;
    let words = |key: &str| {
        text.lines()
            .find_map(|l| l.strip_prefix(key))
            .with_context(|| format!("the peer did not print {key}"))
    };
    let (a, b): (f64, f64) = (words("a ")?.trim().parse()?, words("b ")?.trim().parse()?);
    let (n, d) = (set.instances.rows(), set.instances.cols());
    let ctx = Ctx::default();
    let go = |outputs: &[GramOutput], precision| {
        best(|| symmetric(&set.side(), outputs, precision, &ctx).expect("Musk2 is in order"))
    };
    let grams = symmetric(&set.side(), &grid(&eleven(), 1), Precision::F64, &ctx)?;
    let ours = go(&grid(&eleven(), 1), Precision::F64);
    println!(
        "Musk2: {n} instances x {d}, {} bags, eleven gammas 2^-5..2^5, one thread",
        set.offsets.len() - 1
    );
    println!("ours ({}) and numpy, scikit-learn {}", instruction_set(), words("versions ")?);
    println!("  {:<44} {:>8} {:>7}", "", "CPU s", "ratio");
    println!("  {:<44} {ours:>8.3}", "ours, f64");
    println!("  {:<44} {:>8.3}", "ours, f32", go(&grid(&eleven(), 1), Precision::F32));
    println!(
        "  {:<44} {:>8.3}",
        "ours, f64, smallest gamma only",
        go(&grid(&eleven()[..1], 1), Precision::F64)
    );
    for (name, seconds, bar) in
        [("(a) loop over pairs of bags", a, 15.0), ("(b) rbf_kernel and sums of blocks", b, 25.0)]
    {
        let ratio = seconds / ours;
        println!("  {name:<44} {seconds:>8.3} {ratio:>7.1} (bar {bar}): {}", verdict(ratio >= bar));
    }
    let bytes = std::fs::read(folder.join("grams_a"))?;
    let theirs = bytes.as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b));
    let ours_all = grams.iter().flat_map(|g| g.data());
    // Below 1e-290 an entry is a sum of numbers that have lost their digits, or of zeros.
    let differences = ours_all.zip(theirs).filter(|(_, t)| *t > 1e-290).map(|(o, t)| (o / t - 1.0).abs());
    println!("  largest relative difference to (a): {:.1e}", differences.fold(0.0, f64::max));

    let peak = multiply_add_peak();
    let flops = pairs(set) * 2.0 * d as f64 / 1e9;
    let thin = Set::random(8192, 1, 64);
    let epilogue = |gammas: &[f64]| {
        best(|| symmetric(&thin.side(), &grid(gammas, 1), Precision::F64, &ctx).expect("in order"))
            / pairs(&thin)
    };
    let (one, all) = (epilogue(&eleven()[..1]), epilogue(&eleven()));
    let bound = flops / peak + pairs(set) * all;
    println!("\nbound: multiply-adds {peak:.1} GF/s; exponentials, powers and sums of a pair (with d = 1)");
    println!(
        "  one gamma {:.2} ns, eleven {:.2} ns; {:.1} GF/s over all",
        one * 1e9,
        all * 1e9,
        flops / ours
    );
    println!("  bound {bound:.3} s, of which we reach {:.0} %", 100.0 * bound / ours);

    let mut many =
        Set { weights: Vec::new(), instances: set.instances.clone(), offsets: set.offsets.clone() };
    many.weights =
        (0..16).map(|v| (0..n).map(|i| 1.0 / (1 + (i * 7 + v * 13) % 11) as f64).collect()).collect();
    let sixteen = best(|| {
        symmetric(&many.side(), &grid(&eleven(), 16), Precision::F64, &ctx).expect("Musk2 is in order")
    });
    println!(
        "\nsixteen weight vectors x eleven gammas: {sixteen:.3} CPU s, {:.2} times one (bar 2.5): {}",
        sixteen / ours,
        verdict(sixteen / ours <= 2.5)
    );
    Ok(())
}

fn shapes(musk2: &Set) -> Result<()> {
    let ctx = Ctx::default();
    let one = grid(&[1.0 / 32.0], 1);
    println!("\ncost grows with n^2 d: one gamma, bags of 50");
    println!("  {:>7} {:>5} {:>8} {:>14} {:>8}", "n", "d", "CPU s", "ps / (n^2 d/2)", "GF/s");
    for (n, d) in [(2000, 100), (4000, 100), (8000, 100), (4000, 50), (4000, 200), (4000, 1000)] {
        let set = Set::random(n, d, 50);
        let seconds = best(|| symmetric(&set.side(), &one, Precision::F64, &ctx).expect("in order"));
        let work = pairs(&set) * d as f64;
        println!(
            "  {n:>7} {d:>5} {seconds:>8.3} {:>14.1} {:>8.1}",
            seconds / work * 1e12,
            2.0 * work / seconds / 1e9
        );
    }
    let n = musk2.instances.rows();
    let d = musk2.instances.cols() as f64;
    let alone = |size: usize| Set {
        instances: musk2.instances.clone(),
        offsets: (0..n).step_by(size).chain([n]).collect(),
        weights: musk2.weights.clone(),
    };
    println!("\nMusk2's instances in other bags, one gamma");
    let singles = alone(1);
    let explain = best(|| {
        rectangular(&singles.side(), &musk2.side(), &one, Precision::F64, &ctx).expect("Musk2 is in order")
    });
    println!(
        "  every instance against every bag (explain): {explain:.3} CPU s, {:.1} GF/s, {:.1} M pairs/s",
        4.0 * pairs(musk2) * d / explain / 1e9,
        2.0 * pairs(musk2) / explain / 1e6
    );
    for size in [1, 2, 5] {
        let set = alone(size);
        let seconds = best(|| symmetric(&set.side(), &one, Precision::F64, &ctx).expect("Musk2 is in order"));
        println!(
            "  bags of {size}: {seconds:.3} CPU s, {:.1} GF/s ({} bags, Gram of {:.0} MB)",
            2.0 * pairs(musk2) * d / seconds / 1e9,
            set.offsets.len() - 1,
            ((set.offsets.len() - 1) as f64).powi(2) * 8e-6
        );
    }
    Ok(())
}

fn threads(set: &Set) -> Result<()> {
    println!("\nthreads (wall clock, eleven gammas)");
    let mut first = None;
    for count in [1, 2, 4] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build()?;
        let (grams, seconds) = pool.install(|| {
            let go = || symmetric(&set.side(), &grid(&eleven(), 1), Precision::F64, &Ctx::default());
            let mut least = f64::INFINITY;
            let mut grams = go();
            for _ in 0..REPEATS {
                let start = Instant::now();
                grams = go();
                least = least.min(start.elapsed().as_secs_f64());
            }
            (grams, least)
        });
        let grams = grams?;
        let same = *first.get_or_insert_with(|| grams.clone()) == grams;
        println!("  {count}: {seconds:.3} s, {}", if same { "the same bits" } else { "OTHER BITS" });
        ensure!(same, "the Gram depends on the number of threads");
    }
    Ok(())
}

pub(crate) fn verdict(good: bool) -> &'static str {
    if good { "met" } else { "NOT MET" }
}

pub(crate) fn one_thread<R: Send>(work: impl FnOnce() -> Result<R> + Send) -> Result<R> {
    rayon::ThreadPoolBuilder::new().num_threads(1).build()?.install(work)
}

/// The least CPU time of several runs.
pub(crate) fn best<R>(mut work: impl FnMut() -> R) -> f64 {
    (0..REPEATS).fold(f64::INFINITY, |least, _| {
        let start = cpu_seconds();
        black_box(work());
        least.min(cpu_seconds() - start)
    })
}

/// CPU time of this process.
#[cfg(unix)]
pub(crate) fn cpu_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec of ours, which the call fills in.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    assert_eq!(failed, 0, "the clock of the process");
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Where there is no such clock, the one on the wall.
#[cfg(not(unix))]
pub(crate) fn cpu_seconds() -> f64 {
    use std::sync::OnceLock;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}

/// Most memory this process has held, where the system says.
pub(crate) fn peak_bytes() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.trim().parse::<f64>().ok()? * 1024.0)
}

/// Multiply-adds in registers only, in GF/s (two operations each): what no kernel can exceed.
pub(crate) fn multiply_add_peak() -> f64 {
    const ROUNDS: usize = 4_000_000;
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::*;
        macro_rules! peak {
            ($feature:literal, $chains:expr, $splat:ident, $fma:ident) => {{
                #[target_feature(enable = $feature)]
                fn chains(x: f64, y: f64) {
                    let (x, y) = ($splat(x), $splat(y));
                    let mut sums = [x; $chains];
                    for _ in 0..ROUNDS {
                        for sum in &mut sums {
                            *sum = $fma(x, y, *sum);
                        }
                    }
                    black_box(sums);
                }
                // SAFETY: the caller below has asked the processor.
                best(|| unsafe { chains(black_box(1.0), black_box(1e-9)) })
            }};
        }
        // As many chains as registers allow: each addition waits for the one before.
        if is_x86_feature_detected!("avx512f") {
            return ROUNDS as f64 * 24.0 * 16.0 / peak!("avx512f", 24, _mm512_set1_pd, _mm512_fmadd_pd) / 1e9;
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            return ROUNDS as f64 * 12.0 * 8.0 / peak!("avx2,fma", 12, _mm256_set1_pd, _mm256_fmadd_pd) / 1e9;
        }
    }
    // Elsewhere arrays, and the compiler's goodwill.
    let seconds = best(|| {
        let mut sums = [black_box(1.0f64); 16];
        let (x, y) = (black_box(1.0), black_box(1e-9));
        for _ in 0..ROUNDS {
            for sum in &mut sums {
                *sum += x * y;
            }
        }
        sums
    });
    ROUNDS as f64 * 16.0 * 2.0 / seconds / 1e9
}
