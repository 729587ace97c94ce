//! Grids, points and their values, on small tables of parameters.

use super::*;

const TABLE: &[ParamSpec] = &[
    ParamSpec::new("gamma", Kind::Width, "1/median", "width").grid("2^-1..2^1/median"),
    ParamSpec::new("delta", Kind::WordOrNumber(&["mean"]), "mean", "threshold"),
    ParamSpec::new("c", Kind::Number { above: 0.0 }, "100", "cost").grid("1,10").solver(),
];

fn grid(given: &[(&str, &str)], fill: WhenUnset) -> Result<Grid> {
    let given: Vec<(String, String)> = given.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect();
    Grid::new("toy", TABLE, &given, fill, false)
}

#[test]
fn parameters_that_have_no_meaning_beside_the_others_are_not_shown() {
    let table = [
        ParamSpec::new("kernel", Kind::Word(&["rbf", "poly"]), "rbf", ""),
        ParamSpec::new("degree", Kind::Whole { least: 1, most: 9, words: &[] }, "2", "")
            .only_with("kernel", &["poly"]),
    ];
    let shown = |given: &[(String, String)]| {
        let grid = Grid::new("toy", &table, given, WhenUnset::Default, false).unwrap();
        grid.points[0].relevant(&table).to_string()
    };
    assert_eq!(shown(&[]), "kernel=rbf");
    assert_eq!(shown(&[("kernel".into(), "poly".into())]), "kernel=poly degree=2");
}

#[test]
fn the_first_parameter_is_the_outer_loop_and_numbers_ascend() {
    let g = grid(&[("gamma", "4,2^-1"), ("c", "10,1")], WhenUnset::Grid).unwrap();
    let texts: Vec<String> = g.points.iter().map(Point::to_string).collect();
    assert_eq!(
        texts,
        [
            "gamma=0.5 delta=mean c=1",
            "gamma=0.5 delta=mean c=10",
            "gamma=4 delta=mean c=1",
            "gamma=4 delta=mean c=10"
        ]
    );
    assert_eq!(g.groups, [vec![0, 1], vec![2, 3]]);
}

#[test]
fn defaults_give_one_point_and_grids_are_relative() {
    assert_eq!(
        grid(&[], WhenUnset::Default).unwrap().points[0].to_string(),
        "gamma=1/median delta=mean c=100"
    );
    let g = grid(&[], WhenUnset::Grid).unwrap();
    assert_eq!((g.points.len(), g.groups.len()), (6, 3));
    assert!(matches!(g.points[0].get("gamma"), Ok(Value::OverMedian(_))));
    let g = grid(&[("gamma", "2^-1..2^1/d,8/d")], WhenUnset::Default).unwrap();
    let widths: Vec<String> = g.points.iter().map(|p| p.get("gamma").unwrap().to_string()).collect();
    assert_eq!(widths, ["0.5/d", "1/d", "2/d", "8/d"]);
}

#[test]
fn a_thinned_grid_keeps_the_default_and_what_was_given() {
    let points = |given: &[(&str, &str)], level| grid(given, WhenUnset::Thinned(level)).unwrap().points;
    assert_eq!(points(&[("c", "1")], 0).len(), 3);
    let [one] = &points(&[("c", "1")], 1)[..] else { panic!("one of three is left") };
    assert_eq!(one.find("gamma").unwrap().to_string(), "1/median");
    assert_eq!(points(&[("c", "1"), ("gamma", "1/median,2/median,4/median")], 3).len(), 3);
    assert_eq!(points(&[], 1).len(), 2, "two values are too few to leave one out");
    assert_eq!(points(&[], 9).len(), 2);
}

#[test]
fn every_level_of_thinning_halves_the_longest_list() {
    const LISTS: &[ParamSpec] = &[
        ParamSpec::new("a", Kind::Number { above: 0.0 }, "1", "one").grid("0.1,1,10,100"),
        ParamSpec::new("b", Kind::Number { above: 0.0 }, "4", "other").grid("1,2,4,8,16,32,64,128,256"),
        ParamSpec::new("c", Kind::Word(&["x", "y", "z"]), "x", "words").grid("x,y,z"),
    ];
    let values = |level: u32, name: &str| {
        let grid = Grid::new("toy", LISTS, &[], WhenUnset::Thinned(level), false).unwrap();
        let mut texts: Vec<String> = Vec::new();
        grid.points.iter().for_each(|p| texts.push(p.get(name).unwrap().to_string()));
        texts.sort_by(|a, b| a.len().cmp(&b.len()).then(a.cmp(b)));
        texts.dedup();
        texts.join(" ")
    };
    let at = |level: u32| [values(level, "a"), values(level, "b")];
    assert_eq!(at(1), ["1 10 0.1 100", "1 4 16 64 256"]);
    assert_eq!(
        at(2),
        ["1 100", "1 4 16 64 256"],
        "half of nine is no longer than four, and the first is taken"
    );
    assert_eq!(at(3), ["1 100", "4 64"]);
    assert_eq!(at(4), ["1", "4 64"]);
    assert_eq!(at(9), at(4));
    assert_eq!(values(9, "c"), "x y z");
}

#[test]
fn values_outside_the_table_say_what_would_do() {
    let message = |given: &[(&str, &str)]| grid(given, WhenUnset::Default).unwrap_err().to_string();
    assert_eq!(message(&[("c", "-1")]), "parameter c of toy: -1 is not allowed; expected a number above 0");
    assert!(message(&[("gama", "1")]).contains("did you mean 'gamma'?"));
    assert!(message(&[("gamma", "2^5..2^-5")]).contains("ascending"));
    assert!(message(&[("delta", "-1")]).contains("mean | a number of at least 0"));
    assert!(message(&[("gamma", "NaN")]).contains("N/median"));
    assert!(message(&[("c", "1/median")]).contains("a number above 0"));
}

#[test]
fn a_winner_at_the_end_of_a_list_is_noticed() {
    let g = grid(&[("gamma", "1,2,4"), ("c", "1,10")], WhenUnset::Grid).unwrap();
    assert_eq!(g.edges(&g.points[0]), ["gamma"]);
    assert!(g.edges(&g.points[2]).is_empty());
}

#[test]
fn lengths_and_whole_numbers_are_told_from_other_numbers() {
    const LENGTH: &[ParamSpec] =
        &[ParamSpec::new("sigma", Kind::Length, "1*median", "width").grid("2^-1..2^1*median")];
    let grid = Grid::new("toy", LENGTH, &[], WhenUnset::Grid, false).unwrap();
    let texts: Vec<String> = grid.points.iter().map(Point::to_string).collect();
    assert_eq!(texts, ["sigma=0.5*median", "sigma=1*median", "sigma=2*median"]);
    let back: Point = serde_json::from_str(&serde_json::to_string(&grid.points[0]).unwrap()).unwrap();
    assert_eq!(back, grid.points[0]);
    let count = ParamSpec {
        name: "count",
        kind: Kind::Whole { least: 1, most: 9, words: &[] },
        default: "1",
        grid: "1",
        ..LENGTH[0]
    };
    for bad in ["0", "10", "1.5", "one"] {
        assert!(parse_values(&count, "toy", bad).is_err(), "{bad}");
    }
    assert!(parse_values(LENGTH.first().unwrap(), "toy", "1/median").is_err());
}

#[test]
fn fractions_are_exact_descend_and_survive_json() {
    const EPSILON: &[ParamSpec] =
        &[ParamSpec::new("epsilon", Kind::Fraction, "1", "similar above").grid("17/20..20/20")];
    let texts = |text: &str| {
        let given = [("epsilon".to_string(), text.to_string())];
        let grid = Grid::new("toy", EPSILON, &given, WhenUnset::Default, false)?;
        Ok::<_, Error>(grid.points.iter().map(Point::to_string).collect::<Vec<_>>())
    };
    assert_eq!(
        texts("17/20..20/20").unwrap(),
        ["epsilon=1/1", "epsilon=19/20", "epsilon=9/10", "epsilon=17/20"]
    );
    assert_eq!(texts("0.55,11/20,1").unwrap(), ["epsilon=1/1", "epsilon=11/20"]);
    for bad in ["21/20", "1/0", "-1", "0.1e1", "word", "1/2..1/3"] {
        assert!(texts(bad).is_err(), "{bad}");
    }
    let point = &Grid::new("toy", EPSILON, &[], WhenUnset::Default, false).unwrap().points[0];
    let back: Point = serde_json::from_str(&serde_json::to_string(point).unwrap()).unwrap();
    back.check("toy", EPSILON).unwrap();
    assert_eq!((&back, back.fraction("epsilon").unwrap()), (point, (1, 1)));
}

#[test]
fn a_name_may_mean_one_thing_for_classes_and_another_for_values() {
    const LABELS: &[ParamSpec] = &[
        ParamSpec::new("label-kernel", Kind::Word(&["equal", "both"]), "equal", "of classes").for_classes(),
        ParamSpec::new("label-kernel", Kind::Word(&["linear"]), "linear", "of values").for_values(),
        ParamSpec::new("sides", Kind::Word(&["one", "two"]), "one", "classes alone").for_classes(),
    ];
    let text = |given: &[(&str, &str)], regression: bool| {
        let given: Vec<(String, String)> =
            given.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect();
        let grid = Grid::new("toy", LABELS, &given, WhenUnset::Default, regression)?;
        grid.points[0].check("toy", LABELS)?;
        Ok::<_, Error>(grid.points[0].to_string())
    };
    assert_eq!(text(&[], false).unwrap(), "label-kernel=equal sides=one");
    assert_eq!(text(&[], true).unwrap(), "label-kernel=linear");
    assert_eq!(text(&[("label-kernel", "both")], false).unwrap(), "label-kernel=both sides=one");
    let refused = text(&[("label-kernel", "both")], true).unwrap_err().to_string();
    assert!(refused.contains("expected linear"), "{refused}");
    let refused = text(&[("sides", "two")], true).unwrap_err().to_string();
    assert!(refused.contains("is for classes"), "{refused}");
}

#[test]
fn a_point_survives_json() {
    for gamma in ["0.1", "0.1/median", "0.1/d"] {
        let point = &grid(&[("gamma", gamma), ("delta", "0.3")], WhenUnset::Default).unwrap().points[0];
        let back: Point = serde_json::from_str(&serde_json::to_string(point).unwrap()).unwrap();
        back.check("toy", TABLE).unwrap();
        assert_eq!(&back.ordered(TABLE), point);
    }
}

#[test]
fn lists_go_on_as_they_are_and_stay_within_limits() {
    let next = |kind: Kind, list: &'static str, best: usize| -> Vec<String> {
        let table = [ParamSpec::new("p", kind, "1", "any").grid(list)];
        let table: &'static [ParamSpec] = Box::leak(Box::new(table));
        let grid = Grid::new("made", table, &[], WhenUnset::Grid, false).unwrap();
        let lines = grid.beyond("made", table, best, |_| true);
        lines.iter().flat_map(|(_, line)| line.iter().map(|p| p.get("p").unwrap().to_string())).collect()
    };
    let whole = Kind::Whole { least: 1, most: 30, words: &[] };
    assert_eq!(next(Kind::Number { above: 0.0 }, "1,10,100", 2), ["1000", "10000", "100000"]);
    assert_eq!(next(Kind::Number { above: 0.0 }, "1,10,100", 0), ["0.1", "0.01", "0.001"]);
    assert_eq!(next(Kind::Number { above: 0.0 }, "1,10,100", 1), [""; 0]);
    assert_eq!(next(Kind::Width, "2^-2..2^2/median", 4), ["8/median", "16/median", "32/median"]);
    assert_eq!(next(Kind::Width, "2^-8..2^-6", 0), ["0.001953125", "0.0009765625", "0.00048828125"]);
    // Uneven lists go on by their last ratio.
    assert_eq!(next(Kind::Number { above: 0.0 }, "0.3,0.6,1", 2), ["1.67", "2.78", "4.63"]);
    // Limits hold: a share is at most 1, and whole numbers are what the table says.
    assert_eq!(next(Kind::Share, "0.1,0.2,0.4,0.8", 3), [""; 0]);
    assert_eq!(next(Kind::Share, "0.1,0.2,0.4,0.8", 0), ["0.05", "0.025", "0.0125"]);
    assert_eq!(next(whole, "2,4,8", 2), ["16"]);
    assert_eq!(next(whole, "1,2,3,5", 3), ["8", "14", "23"]);
    assert_eq!(next(whole, "1,2,3,4", 0), [""; 0]);
    assert_eq!(next(whole, "1,2,3,4", 3), ["5", "6", "7"]);
    assert_eq!(next(Kind::Fraction, "1,9/10,8/10", 2), ["7/10", "3/5", "1/2"]);
    assert_eq!(next(Kind::Fraction, "1,9/10,8/10", 0), [""; 0]);
    // Two values have no direction, and words have none at all.
    assert_eq!(next(Kind::Number { above: 0.0 }, "1,10", 1), [""; 0]);
    assert_eq!(next(Kind::Word(&["a", "b", "c"]), "a,b,c", 2), [""; 0]);
}
