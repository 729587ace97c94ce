//! The front door: what a few lines of Rust do, what they refuse before any work, and runs that go on where they stopped.

use std::sync::atomic::{AtomicUsize, Ordering};

use bagwise::prelude::*;
use bagwise::{Ctx, Error, Event, RecordLocation};

fn data() -> Dataset {
    read("synthetic:gauss?bags=40&features=3").unwrap()
}

fn said<T>(result: bagwise::Result<T>) -> String {
    result.err().expect("refused").to_string()
}

#[test]
fn a_comparison_has_its_baselines_and_prints_a_verdict() {
    let data = data();
    let found = compare(&data).methods(["mi-kernel"]).folds(3).param("mi-kernel.c", [1., 10.]).run().unwrap();
    let mut names: Vec<&str> = found.verdict.table.iter().map(|line| line.method.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["majority", "mi-kernel", "simple-mi"]);
    assert_eq!(found.records.len(), 9);
    let page = found.to_string();
    assert!(page.contains("against best") && page.contains(&found.verdict.sentence()), "{page}");
}

/// One method was asked for: a parameter without a name is its own, and not that of a baseline.
#[test]
fn a_parameter_belongs_to_the_one_method_that_was_named() {
    let data = data();
    for methods in [["mi-kernel"], ["simple-mi"]] {
        let found = compare(&data).methods(methods).folds(3).param("c", 3).run().unwrap();
        let costs = |name: &str| -> Vec<Option<f64>> {
            let own = found.records.iter().filter(|r| r.key.method == name);
            own.map(|r| r.parameters.get("c").and_then(|c| c.as_f64())).collect()
        };
        assert_eq!(costs(methods[0]), [Some(3.0); 3]);
        assert_eq!(costs("majority"), [None; 3]);
        if methods[0] == "mi-kernel" {
            assert!(costs("simple-mi").iter().all(|c| *c != Some(3.0)));
        }
    }
}

/// Andrews' and Zhou's names differ by capitals alone.
#[test]
fn methods_answer_to_the_names_of_their_papers() {
    for (name, own) in [
        ("mi-SVM", "mi-svm"),
        ("MI-SVM", "mi-svm-bag"),
        ("miGraph", "migraph"),
        ("MIGraph", "migraph-explicit"),
    ] {
        assert_eq!(bagwise::methods::find(name).unwrap().info().name, own);
    }
}

/// Methods without a solver that stops at a tolerance, and without numbers that copies of bags change, such as medians.
#[test]
fn a_weight_is_so_many_copies_of_a_bag() {
    let data = data();
    let weights: Vec<usize> = (0..40).map(|b| 1 + b % 3).collect();
    let copies: Vec<usize> = (0..40).flat_map(|b| std::iter::repeat_n(b, weights[b])).collect();
    let repeated = data.select(&copies);
    for name in ["majority", "citation-knn", "rbf-mip", "mi-boost", "mi-wrapper", "optimal-ball", "dd"] {
        let outputs = |from: bagwise::Fit<'_>| {
            let method = method(name).unwrap().tuned(false);
            let model = from.method(method).probabilities(false).run().unwrap();
            let said = model.predict(&data.bags).unwrap();
            said.into_iter().map(|p| p.outputs[0]).collect::<Vec<f64>>()
        };
        let weighted = outputs(fit(&data).bag_weights(weights.iter().map(|&w| w as f64).collect()));
        let plain = outputs(fit(&data));
        let apart = |other: &[f64]| {
            weighted
                .iter()
                .zip(other)
                .fold(0.0, |most: f64, (a, b)| most.max((a - b).abs() / b.abs().max(1.0)))
        };
        assert!(apart(&outputs(fit(&repeated))) < 1e-9, "{name}");
        // These weights leave the majority and the best ball as they are.
        let same = ["majority", "optimal-ball"].contains(&name);
        assert!(same || apart(&plain) > 1e-6, "{name}: weights count");
    }
}

#[test]
fn a_method_is_configured_fitted_and_saved() {
    let data = data();
    let model = method("nsk").unwrap().param("gamma", "1/median").param("c", 10).fit(&data).unwrap();
    let predicted = model.predict(&data.bags).unwrap();
    assert_eq!(predicted.len(), 40);
    assert_eq!(predicted[0].score(), predicted[0].outputs[0]);
    let file = std::env::temp_dir().join(format!("bagwise-front-door-{}.bagwise", std::process::id()));
    model.save(&file).unwrap();
    assert_eq!(Model::load(&file).unwrap().predict(&data.bags).unwrap(), predicted);
    std::fs::remove_file(file).unwrap();
}

#[test]
fn mistakes_are_named_before_any_work() {
    let data = data();
    let watched = AtomicUsize::new(0);
    let run = |e: bagwise::Evaluate<'_>| {
        said(
            e.watch(|_| {
                watched.fetch_add(1, Ordering::Relaxed);
                Ok(())
            })
            .run(),
        )
    };
    assert!(said(method("mi-kernle")).contains("did you mean 'mi-kernel'?"));
    assert!(run(evaluate(&data, "all")).contains("evaluate takes one method"));
    assert!(run(evaluate(&data, "mi-kernel").level(95.0)).contains("level 95"));
    assert!(run(evaluate(&data, "mi-kernel").best(true)).contains("best applies only to"));
    assert!(
        run(evaluate(&data, "mi-kernel").protocol(ProtocolName::Given))
            .contains("needs the fold of each bag")
    );
    assert!(
        run(compare(&data).methods(["mi-kernel", "isk"]).param("c", 1))
            .contains("must name its method if there are several")
    );
    assert!(run(compare(&data).methods(["mi-kernel"]).param("dd.rho", 1)).contains("dd is not among"));
    let two = [0.5, 2.0].map(|gamma| method("mi-kernel").unwrap().param("gamma", gamma));
    assert!(run(compare(&data).methods(two)).contains("two settings are called mi-kernel"));
    assert!(
        said(method("mi-kernel").unwrap().param("dd.rho", 1).fit(&data)).contains("the method is mi-kernel")
    );
    assert_eq!(watched.load(Ordering::Relaxed), 0, "nothing began");
}

#[test]
fn two_settings_of_a_method_have_two_names() {
    let data = data();
    let named =
        |gamma: f64| method("mi-kernel").unwrap().param("gamma", gamma).called(format!("gamma {gamma}"));
    let found = compare(&data).methods([named(0.5), named(2.0)]).folds(2).baselines(false).run().unwrap();
    assert_eq!(found.verdict.table.len(), 2);
}

#[test]
fn a_run_that_was_stopped_goes_on_in_its_folder() {
    let data = data();
    let home = std::env::temp_dir().join(format!("bagwise-front-door-runs-{}", std::process::id()));
    let folder = home.join("run");
    let ctx = Ctx::default();
    let run = || compare(&data).methods(["wmksvm"]).folds(4).folder(&folder);
    let cancel = ctx.canceller();
    let stop = |event: &Event<'_>| {
        if matches!(event, Event::Fitted { done: 5, .. }) {
            cancel.store(true, Ordering::Relaxed);
        }
        Ok(())
    };
    assert!(matches!(run().ctx(&ctx).watch(stop).run(), Err(Error::Cancelled)));
    let rest = run().run().unwrap();
    assert!(rest.resumed);
    let whole = compare(&data).methods(["wmksvm"]).folds(4).run().unwrap();
    let scores = |e: &bagwise::Evaluation| e.records.iter().map(|r| r.scored.clone()).collect::<Vec<_>>();
    assert_eq!(scores(&rest), scores(&whole));
    // Another run is refused there, and gets a folder of its own where it may choose.
    let other = || compare(&data).methods(["wmksvm"]).folds(4).seed(1);
    assert!(said(other().folder(&folder).run()).contains("another run"));
    let named = other().keep(RecordLocation::FolderNamed(folder.clone())).run().unwrap();
    assert_eq!(named.folder, Some(home.join("run-2")));
    // A folder with files of others is left alone.
    let foreign = home.join("foreign");
    std::fs::create_dir_all(&foreign).unwrap();
    std::fs::write(foreign.join("predictions.csv"), "mine").unwrap();
    assert!(said(other().folder(&foreign).run()).contains("does not contain a run"));
    assert_eq!(std::fs::read_to_string(foreign.join("predictions.csv")).unwrap(), "mine");
    std::fs::remove_dir_all(home).unwrap();
}
