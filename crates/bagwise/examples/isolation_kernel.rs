//! Draws how the isolation kernel adapts to density, after figures 1 and 2 of Xu, Ting, Zhou (KDD 2019), as an SVG:
//!
//! ```sh
//! cargo run --release --example isolation_kernel figures.svg
//! ```
//!
//! Above: the kernel of a bag of four points around the middle with the same bag shifted to anywhere in the square, where data
//! are even, and where 10,000 points lie on the left and 100 on the right. Below: two bags in the sparse and in the dense
//! half, at a distance of 0.3 against psi, and at psi = 12 against their distance. In the dense half the kernel falls faster.

use std::error::Error;
use std::fmt::Write as _;

use bagwise::Rng;
use bagwise::unstable::engine::cells::{Distance, Mapper, Partition, Partitions, map_rows, products};
use bagwise::{Bags, Ctx, Instances, Mat, Result};

const T: usize = 400;
/// Shifts along each side of the square.
const STEPS: usize = 41;

/// Points in [-1, 1]^2, evenly, or a hundred on the right and ten thousand on the left.
fn square(even: bool) -> Result<Bags> {
    let mut rng = Rng::new(0, "square", &[]);
    let rows: Vec<[f64; 2]> = (0..10_100)
        .map(|i| {
            let (x, y) = (2.0 * rng.uniform() - 1.0, 2.0 * rng.uniform() - 1.0);
            if even { [x, y] } else { [if i < 100 { x.abs() } else { -x.abs() }, y] }
        })
        .collect();
    Bags::new(Instances::F64(Mat::from_rows(&rows)), vec![0, 10_100])
}

/// The unnormalised kernels of the bag at the first place with the bags at all places.
fn kernels(pool: &Bags, psi: usize, places: &[[f64; 2]]) -> Result<Vec<f64>> {
    let ctx = Ctx::default();
    let shape = [[0.0, 0.1], [0.0, -0.1], [0.1, 0.0], [-0.1, 0.0]];
    let rows: Vec<[f64; 2]> = places.iter().flat_map(|p| shape.map(|s| [p[0] + s[0], p[1] + s[1]])).collect();
    let partitions = Partitions::draw(pool, &[0], T, &[psi], Partition::Voronoi(Distance::Euclidean), &ctx)?;
    let rows = Instances::F64(Mat::from_rows(&rows));
    let ids = Mapper::new(&partitions, &[psi], &ctx)?.ids(&rows, 0..rows.rows(), &ctx)?.remove(0);
    let bags: Vec<_> = (0..places.len()).map(|b| 4 * b..4 * b + 4).collect();
    let maps = map_rows(&ids, &bags, None);
    let against = products(&maps.gather(&[0]), &maps, false, &ctx)?;
    Ok(against.data().iter().map(|k| k / T as f64).collect())
}

/// A map of the kernel over all shifts.
fn heat(svg: &mut String, left: f64, title: &str, pool: &Bags) -> Result<()> {
    let at = |i: usize| 2.0 * i as f64 / (STEPS - 1) as f64 - 1.0;
    let mut places = vec![[0.0, 0.0]];
    places.extend((0..STEPS * STEPS).map(|k| [at(k % STEPS), at(k / STEPS)]));
    let values = kernels(pool, 16, &places)?;
    let side = 280.0 / STEPS as f64;
    text(svg, left, 32.0, title);
    for (k, value) in values[1..].iter().enumerate() {
        let (x, y) = (left + side * (k % STEPS) as f64, 320.0 - side * (k / STEPS + 1) as f64);
        // Dark is similar.
        let grey = 255.0 * (1.0 - value.clamp(0.0, 1.0));
        let _ = writeln!(
            svg,
            "<rect x='{x:.1}' y='{y:.1}' width='{:.1}' height='{:.1}' fill='rgb({:.0},{grey:.0},255)'/>",
            side + 0.3,
            side + 0.3,
            grey * 0.8
        );
    }
    Ok(())
}

fn text(svg: &mut String, x: f64, y: f64, words: &str) {
    let _ = writeln!(svg, "<text x='{x}' y='{y}' font-size='13' font-family='sans-serif'>{words}</text>");
}

/// Two curves over the same positions in [0, 1].
fn curves(svg: &mut String, left: f64, title: &str, along: &[f64], ends: [&str; 2], curves: [Vec<f64>; 2]) {
    text(svg, left, 372.0, title);
    text(svg, left, 662.0, ends[0]);
    text(svg, left + 250.0, 662.0, ends[1]);
    let _ = writeln!(
        svg,
        "<rect x='{left}' y='380' width='280' height='260' fill='none' stroke='#888'/>\
         <text x='{}' y='392' font-size='11' font-family='sans-serif'>1</text>",
        left - 12.0
    );
    for (curve, (colour, name)) in curves.iter().zip([("#2060c0", "sparse half"), ("#c03020", "dense half")])
    {
        let points: Vec<String> = along
            .iter()
            .zip(curve)
            .map(|(x, k)| format!("{:.1},{:.1}", left + 280.0 * x, 640.0 - 260.0 * k))
            .collect();
        let _ = writeln!(
            svg,
            "<polyline points='{}' fill='none' stroke='{colour}' stroke-width='2'/>",
            points.join(" ")
        );
        let y = if name == "sparse half" { 400.0 } else { 416.0 };
        let _ = writeln!(
            svg,
            "<text x='{}' y='{y}' font-size='12' fill='{colour}' font-family='sans-serif'>{name}</text>",
            left + 190.0
        );
    }
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let path = std::env::args()
        .nth(1)
        .unwrap_or_else(|| std::env::temp_dir().join("isolation-kernel.svg").display().to_string());
    let (even, two) = (square(true)?, square(false)?);
    let mut svg = String::from(
        "<svg xmlns='http://www.w3.org/2000/svg' width='660' height='680'>\
         <rect width='660' height='680' fill='white'/>\n",
    );
    heat(&mut svg, 30.0, "even density, psi = 16", &even)?;
    heat(&mut svg, 350.0, "10,000 points left, 100 right, psi = 16", &two)?;
    // Around (0.5, 0) data are sparse, around (-0.5, 0) dense.
    let pair = |centre: f64, distance: f64| [[centre - distance / 2.0, 0.0], [centre + distance / 2.0, 0.0]];
    let psis: Vec<usize> = (1..=10).map(|e| 1 << e).collect();
    let against_psi = |centre: f64| -> Result<Vec<f64>> {
        psis.iter().map(|&psi| Ok(kernels(&two, psi, &pair(centre, 0.3))?[1])).collect()
    };
    let along: Vec<f64> = (0..psis.len()).map(|k| k as f64 / (psis.len() - 1) as f64).collect();
    let both = [against_psi(0.5)?, against_psi(-0.5)?];
    curves(&mut svg, 30.0, "two bags 0.3 apart, against psi", &along, ["2", "1024"], both);
    let distances: Vec<f64> = (0..=16).map(|k| 0.05 * f64::from(k)).collect();
    let against_distance = |centre: f64| -> Result<Vec<f64>> {
        distances.iter().map(|&d| Ok(kernels(&two, 12, &pair(centre, d))?[1])).collect()
    };
    let along: Vec<f64> = distances.iter().map(|d| d / 0.8).collect();
    let both = [against_distance(0.5)?, against_distance(-0.5)?];
    curves(&mut svg, 350.0, "psi = 12, against the distance of the bags", &along, ["0", "0.8"], both);
    svg += "</svg>\n";
    std::fs::write(&path, svg)?;
    Ok(())
}
