//! Draws MIRSVM beside MI-SVM on the toy problem of the MIRSVM paper (figure 4): which side of the boundary every point
//! is on, the instances of positive and negative bags, and the instances that stand for bags.
//!
//! `cargo run --release --example decision_boundary > boundary.svg`
#![expect(clippy::print_stdout, reason = "the figure goes to stdout")]

use std::fmt::Write as _;

use bagwise::preprocess::Scale;
use bagwise::{Bags, Dataset, Instances, Mat, Model, Result};

/// Pixels of a panel's side, and the part of the plane that it shows: SPAN to the right of and above CORNER.
const SIDE: f64 = 420.0;
const CORNER: [f64; 2] = [1.0, 0.5];
const SPAN: f64 = 8.0;
/// Squares of the background in a row.
const CELLS: usize = 70;

fn main() -> Result<()> {
    let data = bagwise::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/mirsvm-figure-4.csv"))?;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" font-family=\"sans-serif\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        2.0 * SIDE + 60.0,
        SIDE + 90.0
    );
    for (panel, (method, width)) in [("mirsvm", "sigma"), ("mi-svm-bag", "gamma")].into_iter().enumerate() {
        let at = 20.0 + panel as f64 * (SIDE + 20.0);
        let sigma: f64 = 1.5;
        let value = if width == "sigma" { sigma } else { 0.5 / (sigma * sigma) };
        let config = bagwise::method(method)?.param("c", 1000).param(width, value);
        // Two bags are positive: no more than two folds, which learn probabilities.
        let model = bagwise::fit(&data).method(config.scale(Scale::None).tuned(false)).inner(2).run()?;
        writeln!(svg, "<g transform=\"translate({at} 40)\">").expect("a string grows");
        writeln!(svg, "<text x=\"0\" y=\"-12\" font-size=\"16\">{method}</text>").expect("a string grows");
        draw(&mut svg, &data, &model)?;
        svg += "</g>\n";
    }
    let legend = SIDE + 70.0;
    writeln!(
        svg,
        "<text x=\"20\" y=\"{legend}\" font-size=\"13\">filled: instances of positive bags; hollow: of negative bags; \
         ringed: the instances that stand for their bags; shaded: output above 0</text>\n</svg>"
    )
    .expect("a string grows");
    println!("{svg}");
    Ok(())
}

/// Where a point of the plane lies in a panel.
fn place(x: f64, y: f64) -> (f64, f64) {
    ((x - CORNER[0]) / SPAN * SIDE, (1.0 - (y - CORNER[1]) / SPAN) * SIDE)
}

fn draw(svg: &mut String, data: &Dataset, model: &Model) -> Result<()> {
    // Every square of the background is a bag of one instance, its centre.
    let cell = SPAN / CELLS as f64;
    let centre = |axis: usize, k: usize| CORNER[axis] + (k as f64 + 0.5) * cell;
    let centres: Vec<[f64; 2]> =
        (0..CELLS * CELLS).map(|k| [centre(0, k % CELLS), centre(1, k / CELLS)]).collect();
    let plane = Bags::new(Instances::F64(Mat::from_rows(&centres)), (0..=centres.len()).collect())?
        .with_features(data.bags.features().clone())?;
    let size = SIDE / CELLS as f64;
    for (point, said) in centres.iter().zip(model.predict(&plane)?) {
        if said.outputs[0] > 0.0 {
            let (x, y) = place(point[0], point[1]);
            let shade = 0.15 + 0.35 * said.outputs[0].min(1.0);
            let (left, top) = (x - size / 2.0, y - size / 2.0);
            writeln!(
                svg,
                "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{size:.2}\" height=\"{size:.2}\" fill=\"#4477aa\" \
                 fill-opacity=\"{shade:.2}\"/>"
            )
            .expect("a string grows");
        }
    }
    writeln!(svg, "<rect width=\"{SIDE}\" height=\"{SIDE}\" fill=\"none\" stroke=\"black\"/>")
        .expect("a string grows");
    let Some(bagwise::Target::Classes { codes, .. }) = &data.target else {
        unreachable!("the labels are classes")
    };
    for b in 0..data.bags.len() {
        let bag = data.bags.bag(b).to_dense()?;
        for i in 0..bag.rows() {
            let (x, y) = place(bag.get(i, 0), bag.get(i, 1));
            let fill = if codes[b] == 1 { "#222222" } else { "white" };
            writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{fill}\" stroke=\"#222222\"/>")
                .expect("a string grows");
        }
    }
    for chosen in model.representatives() {
        let b = data.bags.ids().iter().position(|id| *id == chosen.bag).expect("a training bag");
        let bag = data.bags.bag(b).to_dense()?;
        let (x, y) = place(bag.get(chosen.instance, 0), bag.get(chosen.instance, 1));
        writeln!(
            svg,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"6\" fill=\"none\" stroke=\"#cc3311\" stroke-width=\"1.6\"/>"
        )
        .expect("a string grows");
    }
    Ok(())
}
