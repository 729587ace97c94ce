//! `bagwise run`: figures of papers, drawn from small files (what their lines and maps show, and that the page has them), and the
//! folder of an experiment.

mod common;

use common::{bagwise, done, folder, root, text};
use serde_json::Value;

/// Runs an experiment and returns what `table.json` says of it.
fn drawn(at: &std::path::Path, experiment: &str) -> Value {
    std::fs::write(at.join("figure.toml"), experiment).unwrap();
    let output = bagwise(at, &["run", "figure.toml", "-o", "out"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let page = std::fs::read_to_string(at.join("out/report.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("redrawn"), "{page}");
    serde_json::from_str(&std::fs::read_to_string(at.join("out/table.json")).unwrap()).unwrap()
}

/// The points of a series of the first panel.
fn points(panel: &Value, series: usize) -> Vec<(f64, f64)> {
    let pieces = panel["series"][series]["pieces"].as_array().unwrap();
    let all = pieces.iter().flat_map(|piece| piece.as_array().unwrap());
    all.map(|p| (p[0].as_f64().unwrap(), p[1].as_f64().unwrap())).collect()
}

const HEAD: &str = "title = 't'\nsource = 's'\nmetric = 'accuracy'\n[[figure]]\ntitle = 'Figure'\n";

#[test]
fn kernels_of_cells_adapt_to_density_and_gaussians_do_not() {
    let folder = folder();
    let experiment = format!(
        "{HEAD}shows = 'kernel-map'\n\
         [[figure.method]]\nname = 'ISK'\nmethod = 'isk'\nparams = {{ psi = '16', t = '400' }}\nbackground = [10000, 100]\n\
         [[figure.method]]\nname = 'MI-Kernel'\nmethod = 'mi-kernel'\nparams = {{ gamma = '4' }}\n"
    );
    let found = drawn(folder.path(), &experiment);
    let panels = &found["figures"][0]["panels"];
    let at = |panel: usize, column: usize| panels[panel]["map"]["values"][20 * 41 + column].as_f64().unwrap();
    // Shifted by half a unit to the sparse side, and to the dense side: means and deviations over data sets of an
    // independent implementation.
    assert!((at(0, 30) - 0.615).abs() < 0.06, "{}", at(0, 30));
    assert!((at(0, 10) - 0.092).abs() < 0.016, "{}", at(0, 10));
    // The mean over pairs of points, by the definition.
    let cross = [[0.0, 0.1], [0.0, -0.1], [0.1, 0.0], [-0.1, 0.0]];
    let value =
        |a: &[f64; 2], b: &[f64; 2]| (-4.0 * ((b[0] + 0.5 - a[0]).powi(2) + (b[1] - a[1]).powi(2))).exp();
    let mean = cross.iter().flat_map(|a| cross.iter().map(move |b| value(a, b))).sum::<f64>() / 16.0;
    assert!((at(1, 30) - mean).abs() < 1e-9 && (at(1, 10) - mean).abs() < 1e-9, "{} {mean}", at(1, 30));
}

#[test]
fn two_points_share_a_cell_more_often_where_data_are_sparse() {
    let folder = folder();
    let method = "[[figure.method]]\nname = 'ISK'\nmethod = 'isk'\nbackground = [10000, 100]\n";
    let experiment = format!(
        "{HEAD}shows = 'shared-cells'\nalong = 'psi'\nvalues = [4, 64]\n{method}params = {{ t = '400' }}\n\
         [[figure]]\ntitle = 'F'\nshows = 'shared-cells'\nalong = 'distance'\nvalues = [0.1, 0.5]\n\
         {method}params = {{ t = '400', psi = '12' }}\n"
    );
    let found = drawn(folder.path(), &experiment);
    let panel = |figure: usize| &found["figures"][figure]["panels"][0];
    // Means of an independent implementation; deviations over its data sets are at most 0.014.
    let expected = [
        (0, 0, [(4.0, 0.889), (64.0, 0.632)]),
        (0, 1, [(4.0, 0.584), (64.0, 0.035)]),
        (1, 0, [(0.1, 0.858), (0.5, 0.748)]),
        (1, 1, [(0.1, 0.570), (0.5, 0.081)]),
    ];
    for (figure, series, values) in expected {
        let ours = points(panel(figure), series);
        assert_eq!(ours.len(), 2);
        for (point, value) in ours.iter().zip(values) {
            assert_eq!(point.0, value.0);
            assert!(
                (point.1 - value.1).abs() < 0.06,
                "figure {figure}, series {series}: {point:?}, {value:?}"
            );
        }
    }
}

#[test]
fn the_boundary_of_a_model_is_where_its_output_is_zero() {
    let folder = folder();
    let experiment = format!(
        "{HEAD}shows = 'boundary'\ndata = ['mirsvm-figure-4.csv']\n\
         [[figure.method]]\nname = 'MIRSVM'\nmethod = 'mirsvm'\nparams = {{ c = '1000', sigma = '1.5' }}\n"
    );
    let found = drawn(folder.path(), &experiment);
    let panel = &found["figures"][0]["panels"][0];
    assert_eq!((points(panel, 0).len(), points(panel, 1).len()), (65, 60));
    assert_eq!(points(panel, 2).len(), 6, "an instance stands for each bag");
    let boundary = points(panel, 3);
    assert!(boundary.len() > 20);
    // The same model says so of a point on the boundary.
    let fit =
        "fit mirsvm-figure-4.csv --method mirsvm -p c=1000 -p sigma=1.5 --scale none --inner 2 -o m.bagwise";
    assert!(bagwise(folder.path(), &fit.split(' ').collect::<Vec<_>>()).status.success());
    let (x, y) = boundary[boundary.len() / 2];
    std::fs::write(folder.path().join("one.csv"), format!("bag,f1,f2\na,{x},{y}\n")).unwrap();
    let predict = ["predict", "m.bagwise", "one.csv", "--format", "json"];
    let said: Value = serde_json::from_slice(&bagwise(folder.path(), &predict).stdout).unwrap();
    let line = said.as_array().map_or(&said["predictions"][0], |list| &list[0]);
    let score = line["score"].as_f64().unwrap_or_else(|| panic!("{said}"));
    assert!(score.abs() < 0.05, "{score}");
}

#[test]
fn rounds_and_beliefs_are_drawn_for_the_data_that_are_here() {
    let folder = folder();
    let experiment = format!(
        "{HEAD}shows = 'convergence'\ndata = ['synthetic:gauss?bags=30&features=4', 'nowhere']\n\
         [[figure.method]]\nname = 'eq 12'\nmethod = 'mirsvm'\nscale = 'zscore'\nparams = {{ c = '1', sigma = '0.1' }}\n\
         [[figure]]\ntitle = 'F'\nshows = 'concept-weights'\ndata = ['synthetic:gauss?bags=30&features=4']\nfolds = 5\n\
         [[figure.method]]\nname = 'A'\nmethod = 'mg-ddv'\nscale = 'zscore'\nparams = {{ starts = '5' }}\n\
         [[figure.method]]\nname = 'B'\nmethod = 'mg-acc'\nscale = 'zscore'\nparams = {{ starts = '5' }}\n"
    );
    let found = drawn(folder.path(), &experiment);
    let panels = found["figures"][0]["panels"].as_array().unwrap();
    assert_eq!(panels.len(), 1, "there is nothing to draw of data that are not here");
    assert_eq!(points(&panels[0], 0)[0], (1.0, 0.0));
    for series in 0..2 {
        let beliefs = points(&found["figures"][1]["panels"][0], series);
        let sum: f64 = beliefs.iter().map(|p| p.1).sum();
        assert!((sum - 1.0).abs() < 1e-9 && beliefs.len() >= 5, "{sum}, {}", beliefs.len());
    }
}

#[test]
fn a_figure_that_lacks_something_is_refused_before_anything_is_drawn() {
    let folder = folder();
    let refused = |lines: &str| {
        std::fs::write(folder.path().join("bad.toml"), format!("{HEAD}{lines}")).unwrap();
        let output = bagwise(folder.path(), &["run", "bad.toml"]);
        assert_eq!(output.status.code(), Some(2));
        text(&output.stderr).to_string()
    };
    let method = "[[figure.method]]\nname = 'A'\nmethod = 'isk'\n";
    assert!(refused(&format!("shows = 'boundary'\n{method}")).contains("the figure needs `data`"));
    assert!(refused(&format!("shows = 'shared-cells'\n{method}")).contains("`along` (psi or distance)"));
    assert!(refused("shows = 'kernel-map'\nmethod = []\n").contains("[[figure.method]]"));
    assert!(refused(&format!("shows = 'kernel-map'\n{method}params = {{ psy = '4' }}\n")).contains("psi"));
    assert!(refused(&format!("shows = 'kernel-map'\n{}", method.replace("isk", "iskk"))).contains("isk"));
}

#[test]
fn parts_of_an_experiment_say_what_was_left_out() {
    let folder = folder();
    let words = ["run", "experiment.toml", "--quick", "--methods", "means", "--no-report", "-o", "part"];
    let output = bagwise(folder.path(), &words);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let table = std::fs::read_to_string(folder.path().join("part/table.md")).unwrap();
    assert!(table.lines().any(|l| l.contains("| pairs |") && l.contains("left out of this run")), "{table}");
    let unknown = bagwise(folder.path(), &["run", "experiment.toml", "--methods", "mean", "-o", "other"]);
    assert!(text(&unknown.stderr).contains("means"), "{}", text(&unknown.stderr));
    assert!(!folder.path().join("other").exists());
}

#[test]
fn the_figures_of_the_papers_are_files() {
    let experiments = root().join("experiments");
    for name in ["isk-figure-1", "isk-figure-2", "mg-figure-2", "mirsvm-figure-3", "mirsvm-figure-4"] {
        let text = std::fs::read_to_string(experiments.join(format!("{name}.toml"))).unwrap();
        assert!(text.contains("[[figure]]"), "{name}");
    }
}

#[test]
fn an_experiment_does_not_replace_what_another_run_wrote() {
    let folder = folder();
    let path = folder.path();
    let run = "run experiment.toml --quick --methods means --no-report -o out";
    let said = done(path, run);
    assert!(text(&said.stdout).contains("quick version: other folds or repeats; other grids for pairs"));
    assert!(std::fs::read_to_string(path.join("out/table.md")).unwrap().contains("quick version"));
    // A process that was killed while it wrote the first file has left no more than this.
    std::fs::create_dir(path.join("begun")).unwrap();
    let prefix = bagwise::io::save::temporary_prefix(std::path::Path::new("experiment.json"));
    std::fs::write(path.join("begun").join(format!("{prefix}a1B2c3")), "").unwrap();
    done(path, &run.replace("-o out", "-o begun"));
    // The same goes on; the full version, another experiment and a comparison are something else.
    done(path, run);
    let refuses = |line: &str, why: &str| {
        let output = bagwise(path, &line.split(' ').collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(text(&output.stderr).contains(why), "{line}: {}", text(&output.stderr));
    };
    refuses("run experiment.toml --no-report -o out", "the other version of this experiment");
    let other = std::fs::read_to_string(path.join("experiment.toml")).unwrap();
    std::fs::write(path.join("other.toml"), other.replace("Bag means", "Bag medians")).unwrap();
    refuses(
        "run other.toml --quick -o out",
        "the folder contains the experiment \"Bag means or all pairs?\"",
    );
    done(path, "compare musk1 --methods simple-mi -p simple-mi.c=1 --no-report -o compared");
    refuses(
        "run experiment.toml --quick -o compared",
        "the folder is not empty, and does not contain an experiment",
    );
}
