//! The format of experiments, and what the published ones hold.

use bagwise::params::{Grid, WhenUnset};

use super::*;

const GOOD: &str = r#"
title = "t"
source = "s"
metric = "accuracy"
[protocol]
repeats = 5
[quick]
repeats = 1
data = ["musk1"]
params = { A = { gamma = "1" } }
[[data]]
name = "musk1"
[[data]]
name = "images"
read = "image1000"
protocol = { name = "half", inner = 2 }
[[method]]
name = "A"
method = "mi-kernel"
scale = "minmax"
params = { gamma = "2^-5..2^5", c = "100" }
printed = { musk1 = 88.0 }
[method.on.images]
params = { gamma = "2^0..2^6" }
[[method]]
name = "B"
printed = { images = 82.6 }
"#;

#[test]
fn settings_of_a_data_set_win_over_common_ones() {
    let e = Experiment::parse("e.toml", GOOD, false).unwrap();
    let (musk, images) = (e.judged(&e.data[0]).unwrap(), e.judged(&e.data[1]).unwrap());
    assert_eq!((musk.protocol, musk.folds, musk.inner, musk.repeats), (ProtocolName::Nested, 10, 5, 5));
    assert_eq!((images.protocol, images.folds, images.inner, images.repeats), (ProtocolName::Half, 5, 2, 5));
    let on = |data: &str| e.method[0].learning(data).unwrap().seeing.params;
    assert_eq!(on("musk1"), [("c".into(), "100".into()), ("gamma".into(), "2^-5..2^5".into())]);
    assert_eq!(on("images")[1].1, "2^0..2^6");
    assert!(e.method[1].method().is_none() && e.method[1].unknown_method().is_none());
}

#[test]
fn what_is_expected_is_given_or_the_reference_within_the_tolerance() {
    let with = |line: &str, of_method: &str| {
        let text = GOOD.replace("[protocol]", &format!("{line}\n[protocol]"));
        let text = text.replace("printed = { musk1 = 88.0 }", of_method);
        let e = Experiment::parse("e.toml", &text, false)?;
        e.expected(&e.method[0], "musk1")
    };
    let reference = "reference = { musk1 = 50.0 }";
    assert_eq!(with("", reference).unwrap(), None);
    assert_eq!(with("tolerance = 2.5", reference).unwrap(), Some([47.5, 52.5]));
    assert_eq!(with("tolerance = '20 %'", reference).unwrap(), Some([40.0, 60.0]));
    let both = format!("{reference}\nexpected = {{ musk1 = [1, 2] }}");
    assert_eq!(with("tolerance = 2.5", &both).unwrap(), Some([1.0, 2.0]));
    let refused = |line: &str, of_method: &str| format!("{:#}", with(line, of_method).unwrap_err());
    assert!(refused("tolerance = 'some'", reference).contains("'20%'"));
    for bad in ["nan", "inf", "-inf", "-1.0", "'nan %'", "'inf%'", "'-20 %'"] {
        let line = format!("tolerance = {bad}");
        // Also where nothing is compared with it.
        for of_method in [reference, "printed = { musk1 = 88.0 }"] {
            assert!(refused(&line, of_method).contains("is not a number from 0 on"), "{bad}");
        }
    }
    assert!(refused("", "expected = { musk1 = [2, 1] }").contains("has its low end above its high end"));
    assert!(refused("", "expected = { musk3 = [1, 2] }").contains("unknown data set 'musk3'"));
}

#[test]
fn in_a_hurry_there_is_less_of_everything() {
    let e = Experiment::parse("e.toml", GOOD, true).unwrap();
    assert_eq!((e.data.len(), e.judged(&e.data[0]).unwrap().repeats), (1, 1));
    assert_eq!(e.method[0].learning("musk1").unwrap().seeing.params[1].1, "1");
}

#[test]
fn the_published_experiments_name_methods_and_parameters_that_exist() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "toml") {
            continue;
        }
        for quick in [false, true] {
            let experiment = Experiment::read(&path, quick).unwrap();
            for (entry, data) in
                experiment.method.iter().flat_map(|m| experiment.data.iter().map(move |d| (m, d)))
            {
                let Some(name) = entry.method() else { continue };
                let method = methods::find(name).unwrap();
                let learning = entry.learning(&data.name).unwrap();
                let regression = data.options().unwrap().task == Task::Regression;
                let grid =
                    Grid::new(name, method.params(), &learning.seeing.params, WhenUnset::Grid, regression);
                let grid = grid.unwrap_or_else(|e| panic!("{}, {}: {e}", path.display(), entry.name));
                assert!(!grid.points.is_empty());
            }
        }
        files += 1;
    }
    assert!(files >= 20, "{files} experiments");
}

#[test]
fn slips_are_named() {
    let refused = |from: &str, to: &str| {
        let error = Experiment::parse("e.toml", &GOOD.replace(from, to), false).err().unwrap();
        format!("{error:#}")
    };
    assert!(refused("metric = \"accuracy\"", "metric = \"acuracy\"").contains("accuracy"));
    // A method that does not exist is a line that says so, and a warning.
    let e = Experiment::parse("e.toml", &GOOD.replace("mi-kernel", "mi-kernal"), false).unwrap();
    assert!(e.method[0].method().is_none());
    assert!(e.method[0].unknown_method().unwrap().to_string().contains("did you mean 'mi-kernel'?"));
    assert!(refused("printed = { musk1", "printed = { musk3").contains("unknown data set 'musk3'"));
    assert!(refused("data = [\"musk1\"]", "data = [\"musk2\"]").contains("unknown data set 'musk2'"));
    assert!(refused("\"minmax\"", "\"mimax\"").contains("unknown scaling 'mimax'"));
    assert!(refused("name = \"B\"", "name = \"A\"").contains("occurs twice"));
    let sauce = refused("source", "sauce");
    assert!(sauce.starts_with("e.toml, line 3: unknown field `sauce`, expected one of `title`, "), "{sauce}");
    for (from, to) in [("\n[protocol]", "\n[protocol"), ("repeats = 5", "repeats = five")] {
        let broken = refused(from, to);
        assert!(broken.starts_with("e.toml, line "), "{broken}");
        assert!(!broken.contains(char::is_control), "{broken:?}");
    }
    assert!(refused("inner = 2", "seeds = 0").contains("images: seeds = 0 is not between 1 and 10000"));
    assert!(refused("name = \"half\"", "name = \"third\"").contains("unknown protocol 'third'"));
}

#[test]
fn a_quick_version_counts_the_data_sets_of_figures() {
    let text = "title = 'a'\nsource = 'b'\nmetric = 'accuracy'\n[quick]\ndata = ['musk1']\n\
                [[figure]]\ntitle = 'Figure 1'\nshows = 'convergence'\ndata = ['musk1', 'musk2', 'fox']\n\
                [[figure.method]]\nname = 'm'\nmethod = 'mirsvm'\n";
    let experiment = Experiment::parse("a.toml", text, true).unwrap();
    assert_eq!(experiment.shortened.as_deref(), Some("1 of 3 data sets"));
}

#[test]
fn printed_numbers_of_another_metric_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let lines =
        "set,method,metric,value,spread,remark\nmusk1,m,accuracy_percent,88,,\nfox,m,accuracy_percent,60,,\n";
    std::fs::write(folder.path().join("printed.csv"), lines).unwrap();
    let text = "title = 'a'\nsource = 'b'\nmetric = 'accuracy'\nprinted = 'printed.csv'\n\
                [[data]]\nname = 'musk1'\n[[method]]\nname = 'm'\nmethod = 'majority'\n";
    let read = |more: &str| {
        let path = folder.path().join("a.toml");
        std::fs::write(&path, text.replace("printed =", &format!("{more}printed ="))).unwrap();
        Experiment::read(&path, false).unwrap().tables()
    };
    let error = read("").err().expect("no line has this metric").to_string();
    assert!(
        error.contains("no line has the metric 'accuracy'; its first line has 'accuracy_percent'"),
        "{error}"
    );
    // The bar of printed ranks is over all data sets of the paper, not those of the experiment.
    assert_eq!(read("percent = true\n").unwrap()[0].numbers.sets(), 2);
}
