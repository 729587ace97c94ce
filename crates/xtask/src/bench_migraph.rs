//! `cargo xtask bench migraph`: MIGraph with explicit graphs on data whose edges made it impossible.
//!
//! For Musk2 and, where they are present, two text sets, the Grams of the grid 2^-5..2^5 are prepared one width at a
//! time and all at once (bar: a minute). What the direct sum over pairs of edges would take is projected from bags
//! with some thousand edges, by the square of the number of edges. Where that is bearable the two are compared.
#![expect(clippy::print_stdout, reason = "a bench exists to print")]

use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use bagwise::graph::{Epsilon, Graph, Zero, feature_count};
use bagwise::io::{ReadOptions, read};
use bagwise::method::{Prepared, Scope};
use bagwise::params::{Grid, WhenUnset};
use bagwise::preprocess::{Scale, Transform};
use bagwise::{Bags, Ctx, methods};

use crate::bench_pairs::{cpu_seconds, released, verdict};
use crate::run::data_file;

const GRID: &str = "2^-5..2^5";
const TOL: f64 = 1e-8;

/// Edges in the bags that the direct sum is timed on: some seconds.
const SAMPLE: usize = 20_000;

/// Edges up to which the direct sum is also taken in full.
const BEARABLE: usize = 50_000;

/// Two minutes, and as much again where the text sets are present.
pub(crate) fn run() -> Result<()> {
    if released("migraph")? {
        return Ok(());
    }
    println!("{} threads", rayon::current_num_threads());
    for name in ["musk2", "text_alt_atheism", "text_comp_graphics"] {
        match data_file(name) {
            Ok(path) => measure(name, &path.display().to_string())?,
            Err(why) => println!("\n{why}"),
        }
    }
    Ok(())
}

fn measure(name: &str, path: &str) -> Result<()> {
    let data = read(path, &ReadOptions::default())?;
    let all: Vec<usize> = (0..data.bags.len()).collect();
    let ctx = Ctx::default();
    let bags = Transform::fit(Scale::MinMax, false, &data.bags, data.target.as_ref(), &all)?
        .apply(&data.bags, &ctx)?;
    let count = |&b: &usize| Ok(Graph::of(bags.bag(b), Epsilon::Mean, Zero::Limit)?.edges.len());
    let edges: Vec<usize> = all.iter().map(count).collect::<Result<_>>()?;
    let total: usize = edges.iter().sum();
    println!("\n{name}: {} bags, {} instances, {total} edges", bags.len(), bags.instance_count());
    println!("   gamma  terms   CPU s       s");
    let bags = Arc::new(bags);
    for exponent in -5..=5 {
        let gamma = format!("2^{exponent}");
        let terms = feature_count(2f64.powi(exponent), TOL);
        let (_, cpu, wall) = prepare(&bags, &gamma, TOL)?;
        let terms = terms.map_or("none".into(), |t| t.to_string());
        println!("  {gamma:>6} {terms:>6} {cpu:>7.2} {wall:>7.2}");
    }
    let (grams, cpu, wall) = prepare(&bags, GRID, TOL)?;
    println!("  {GRID}: {cpu:.2} CPU s, {wall:.2} s (bar 60): {}", verdict(wall < 60.0));

    let mut some = Vec::new();
    let mut edges_of_some = 0;
    for &b in &all {
        if edges_of_some + edges[b] <= SAMPLE {
            some.push(b);
            edges_of_some += edges[b];
        }
    }
    let (_, cpu, _) = prepare(&Arc::new(bags.select(&some)), GRID, 0.0)?;
    let times = (total as f64 / edges_of_some as f64).powi(2);
    println!(
        "  direct sum: {cpu:.2} CPU s for {edges_of_some} edges, hence {:.0} CPU s for all of them",
        cpu * times
    );
    if total <= BEARABLE {
        let (direct, cpu, _) = prepare(&bags, GRID, 0.0)?;
        let errors: Vec<String> = (0..11)
            .map(|point| {
                let ctx = Ctx::default();
                let gram =
                    |of: &dyn Prepared| of.gram(point, &ctx).expect("it was made").expect("a kernel").clone();
                let (a, b) = (gram(&*grams), gram(&*direct));
                let error = a.data().iter().zip(b.data()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                format!("{:.2}", error / TOL)
            })
            .collect();
        println!("  direct sum in full: {cpu:.2} CPU s; difference in units of tol: {}", errors.join(" "));
    }
    Ok(())
}

/// The Grams, CPU seconds, and seconds on the wall.
fn prepare(bags: &Arc<Bags>, gamma: &str, tol: f64) -> Result<(Box<dyn Prepared>, f64, f64)> {
    let method = methods::find("migraph-explicit")?;
    let given = [("gamma", gamma.to_string()), ("tol", tol.to_string())].map(|(n, v)| (n.to_string(), v));
    let grid = Grid::new(method.info().name, method.params(), &given, WhenUnset::Default, false)?;
    let all: Vec<usize> = (0..bags.len()).collect();
    let (cpu, wall) = (cpu_seconds(), Instant::now());
    let prepared = method.prepare(Arc::clone(bags), &grid.points, &Scope::of(&all), &Ctx::default())?;
    Ok((prepared, cpu_seconds() - cpu, wall.elapsed().as_secs_f64()))
}
