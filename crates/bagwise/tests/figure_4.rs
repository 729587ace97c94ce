//! Figure 4 of the MIRSVM paper: six bags in the plane (`docs/mirsvm-figure-4.csv`), the machine with C = 1000 and
//! sigma = 1.5 on the representatives that are drawn there, and the boundary and margins drawn round them
//! (`golden/mirsvm/figure_4_curves.csv`). Points and curves were measured in the drawing, to three digits.

use bagwise::methods;
use bagwise::params::{Grid, Point, WhenUnset};
use bagwise::unstable::follow;
use bagwise::{Bags, Ctx, Dataset, Instances, Mat, Target};

/// The crosses of the left panel, one per bag.
const DRAWN: [(&str, [f64; 2]); 6] = [
    ("p1", [4.320, 3.786]),
    ("p2", [5.257, 4.007]),
    ("n1", [3.592, 4.340]),
    ("n2", [4.850, 4.484]),
    ("n3", [5.184, 3.289]),
    ("n4", [7.128, 4.753]),
];

const SIGMA: f64 = 1.5;

fn data() -> Dataset {
    bagwise::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/mirsvm-figure-4.csv")).unwrap()
}

fn instance(bags: &Bags, row: usize) -> [f64; 2] {
    let mut out = [0.0; 2];
    bags.instances().row_into(row, &mut out).unwrap();
    out
}

fn point(given: &[(&str, &str)]) -> Point {
    let method = methods::find("mirsvm").unwrap();
    let given: Vec<(String, String)> = given.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
    Grid::new("mirsvm", method.params(), &given, WhenUnset::Default, false).unwrap().points.remove(0)
}

fn labels(data: &Dataset) -> Vec<f64> {
    let Some(Target::Classes { codes, .. }) = &data.target else { unreachable!() };
    codes.iter().map(|&c| if c == 1 { 1.0 } else { -1.0 }).collect()
}

#[test]
fn the_machine_on_the_drawn_representatives_has_the_drawn_boundary_and_margins() {
    let data = data();
    let bags = &data.bags;
    assert_eq!((bags.len(), bags.instance_count()), (6, 125));
    let start: Vec<u32> = bags
        .ids()
        .iter()
        .enumerate()
        .map(|(b, id)| {
            let at = DRAWN.iter().find(|(name, _)| name == id).unwrap().1;
            bags.rows(b).position(|row| instance(bags, row) == at).unwrap() as u32
        })
        .collect();
    let wanted = point(&[("c", "1000"), ("sigma", "1.5"), ("max-iter", "1")]);
    let found = follow("mirsvm", &wanted, bags, &labels(&data), Some(&start), 1e-9, &Ctx::default()).unwrap();
    let machine = &found.steps[0];
    assert_eq!(
        machine.coefficients.iter().filter(|b| **b != 0.0).count(),
        5,
        "five of six are support vectors"
    );
    let output = |x: [f64; 2]| {
        let one = |(b, coefficient): (usize, &f64)| {
            let z = instance(bags, bags.rows(b).start + start[b] as usize);
            let squared = (x[0] - z[0]).powi(2) + (x[1] - z[1]).powi(2);
            coefficient * (-squared / (2.0 * SIGMA * SIGMA)).exp()
        };
        machine.bias + machine.coefficients.iter().enumerate().map(one).sum::<f64>()
    };
    let curves = include_str!("golden/mirsvm/figure_4_curves.csv");
    for (curve, expected) in [("boundary", 0.0), ("positive margin", 1.0), ("negative margin", -1.0)] {
        let mut outputs = Vec::new();
        for line in curves.lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            if cells[0] == curve {
                outputs.push(output([cells[1].parse().unwrap(), cells[2].parse().unwrap()]));
            }
        }
        assert!(outputs.len() > 90, "{curve}");
        let mean = outputs.iter().sum::<f64>() / outputs.len() as f64;
        // A thousandth of a unit in the plane is up to 0.005 of the output.
        assert!((mean - expected).abs() < 0.01, "{curve}: {mean}");
        let off = outputs.iter().map(|o| (o - expected).abs()).fold(0.0, f64::max);
        assert!(off < 0.05, "{curve}: off by {off}");
    }
}

#[test]
fn a_model_tells_how_its_representatives_were_found() {
    let data = data();
    let config = bagwise::method("mirsvm").unwrap().param("c", 1000).param("sigma", SIGMA);
    let model =
        bagwise::fit(&data).method(config.scale(bagwise::preprocess::Scale::None)).inner(2).run().unwrap();
    let wanted = point(&[("c", "1000"), ("sigma", "1.5")]);
    let found = follow("mirsvm", &wanted, &data.bags, &labels(&data), None, 1e-3, &Ctx::default()).unwrap();
    let trace = model.trace();
    assert_eq!(trace.len(), found.steps.len());
    for (round, step) in trace.iter().zip(&found.steps) {
        assert_eq!(round.objective, step.objective);
        assert_eq!(round.support, step.coefficients.iter().filter(|b| **b != 0.0).count());
    }
    assert_eq!(trace.iter().map(|r| r.changed).collect::<Vec<_>>(), found.rounds.changed);
    assert_eq!(trace.last().unwrap().ended, Some(found.rounds.ended));
    assert!(trace.iter().rev().skip(1).all(|r| r.ended.is_none()));
    let loaded = bagwise::Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(loaded.trace(), trace);
    let single = Bags::new(Instances::F64(Mat::from_rows(&[[4.3, 3.8]])), vec![0, 1]).unwrap();
    let single = single.with_features(data.bags.features().clone()).unwrap();
    assert!(model.predict(&single).unwrap()[0].outputs[0] > 0.0, "in the middle of the first positive bag");
}
