//! Statistics over several data sets, against the MIRSVM specification's golden numbers and against SciPy.

use bagwise::judge::ranking::{
    RankTable, bonferroni_dunn, cliques, holm, meta_rank, nemenyi, nemenyi_p, range_cdf, range_quantile,
    ranks, wilcoxon, wilcoxon_p,
};
use bagwise::judge::{Metric, summarise};
use serde_json::Value;

use super::golden::{cases, load, numbers};
use super::pooling::{repeats, two_classes};

pub(crate) fn rows(value: &Value) -> Vec<Vec<f64>> {
    value.as_array().unwrap().iter().map(numbers).collect()
}

pub(crate) fn texts(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|v| v.as_str().unwrap().to_string()).collect()
}

/// Within 1e-10 of the larger of 1 and the value; probabilities also relative to themselves.
#[track_caller]
fn close(got: f64, want: &Value, what: &str) {
    let want = want.as_f64().unwrap_or_else(|| panic!("{what}: nothing to compare with"));
    assert!((got - want).abs() <= 1e-10 * want.abs().max(1.0), "{what}: {got}, expected {want}");
}

#[track_caller]
fn close_p(got: f64, want: &Value, what: &str) {
    close(got, want, what);
    let want = want.as_f64().unwrap();
    // Tails of 1e-20 are computed by series and continued fractions, whose logarithms keep some ten digits.
    assert!((got - want).abs() <= 1e-9 * want, "{what}: {got}, expected {want}");
}

/// The six tables of the paper.
pub(crate) const MEASURES: [&str; 6] = ["accuracy", "precision", "recall", "kappa", "auc", "time"];

/// A table of the paper as it is printed.
pub(crate) fn printed(file: &Value, measure: &str) -> RankTable {
    let values = rows(&file["tables"][measure]["values"]);
    RankTable::new(texts(&file["methods"]), texts(&file["datasets"]), values, measure != "time").unwrap()
}

#[test]
fn statistics_of_the_specification() {
    let tables = load("mirsvm/paper_tables.json");
    let golden = load("mirsvm/statistics_from_paper_tables.json");
    for measure in MEASURES {
        let table = printed(&tables, measure);
        let want = &golden["results"][measure];
        let f = table.friedman();
        for (m, rank) in table.average.iter().enumerate() {
            close(*rank, &want["friedman"]["ranks"][m], &format!("{measure}, rank {m}"));
        }
        let plain = f.iman_davenport.unwrap();
        let ties = f.iman_davenport_ties.unwrap();
        close(f.chi2, &want["friedman"]["chi2"], measure);
        close_p(f.p, &want["friedman"]["chi2_p"], measure);
        close(plain.f, &want["friedman"]["F"], measure);
        assert_eq!(numbers(&want["friedman"]["F_df"]), [plain.df.0, plain.df.1]);
        close_p(plain.p, &want["friedman"]["F_p"], measure);
        close(f.chi2_ties.unwrap(), &want["friedman"]["chi2_tie_corrected"], measure);
        close(ties.f, &want["friedman"]["F_tie_corrected"], measure);
        close_p(ties.p, &want["friedman"]["F_tie_corrected_p"], measure);

        let steps = holm(&table, 0, 0.05).steps;
        assert_eq!(steps.len(), 11);
        for (i, step) in steps.iter().enumerate() {
            let what = format!("{measure}, {}", table.methods[step.method]);
            close(step.z, &want["holm"]["z"][i], &what);
            close_p(step.p, &want["holm"]["p"][i], &what);
            close(step.threshold, &want["holm"]["threshold"][i], &what);
            close(step.adjusted, &want["holm"]["adjusted_p"][i], &what);
            assert_eq!(step.rejected, want["holm"]["reject"][i].as_bool().unwrap(), "{what}");
            let w = wilcoxon(&table.differences(0, step.method)).unwrap();
            let golden = &want["wilcoxon"][&table.methods[step.method]];
            assert_eq!(w.n as u64, golden["n"].as_u64().unwrap(), "{what}");
            assert_eq!(w.zeros as u64, golden["zeros"].as_u64().unwrap(), "{what}");
            close(w.plus, &golden["R_plus"], &what);
            close(w.minus, &golden["R_minus"], &what);
            close_p(w.p, &golden["p_exact_interp"], &what);
        }
    }
    // The paper's order of rows is that of its Table 14, whose numbers are printed.
    let rows: Vec<Vec<f64>> = ["Accuracy", "Precision", "Recall", "Kappa", "AUC", "Time"]
        .map(|row| numbers(&tables["table14"][row]))
        .to_vec();
    for (m, rank) in meta_rank(&rows).into_iter().enumerate() {
        close(rank, &golden["results"]["meta"]["meta_rank"][m], "meta-rank");
    }
    for (name, n, alpha) in [
        ("k12_N15_a0.05", 15, 0.05),
        ("k12_N6_a0.05", 6, 0.05),
        ("k12_N15_a0.1", 15, 0.1),
        ("k12_N6_a0.1", 6, 0.1),
    ] {
        let want = &golden["results"]["bonferroni_dunn"][name]["CD"];
        close(bonferroni_dunn(12, n, alpha), want, name);
    }
}

#[test]
fn wilcoxon_is_exact() {
    let golden = load("mirsvm/wilcoxon_exact.json");
    let by_n = golden["p"].as_object().unwrap();
    assert!(by_n.len() >= 17);
    for (n, list) in by_n {
        for (t, p) in numbers(list).into_iter().enumerate() {
            // Sums of powers of two: nothing is rounded.
            assert_eq!(wilcoxon_p(n.parse().unwrap(), t as f64), p, "n {n}, T {t}");
        }
    }
    // A half is the mean of its neighbours.
    assert_eq!(wilcoxon_p(15, 21.5), 0.5 * (wilcoxon_p(15, 21.0) + wilcoxon_p(15, 22.0)));
    // Far beyond where counts of subsets fit a number.
    assert_eq!(wilcoxon_p(1100, 1100.0 * 1101.0 / 4.0), 1.0);
    assert!(wilcoxon(&[]).is_none());
    let nothing = wilcoxon(&[0.0]).unwrap();
    assert_eq!((nothing.n, nothing.zeros, nothing.p), (0, 1, 1.0));
}

#[test]
fn random_tables_agree_with_scipy() {
    let file = load("ranking_scipy.json");
    for (i, case) in cases(&file, "tables").iter().enumerate() {
        let values = rows(&case["values"]);
        let names = |n: usize| (0..n).map(|i| i.to_string()).collect();
        let larger = case["larger"].as_bool().unwrap();
        let table = RankTable::new(names(values[0].len()), names(values.len()), values, larger).unwrap();
        assert_eq!(table.ranks, rows(&case["ranks"]), "table {i}");
        let f = table.friedman();
        let what = format!("table {i}");
        close(f.chi2, &case["chi2"], &what);
        close_p(f.p, &case["chi2_p"], &what);
        close(f.iman_davenport.unwrap().f, &case["f"], &what);
        close_p(f.iman_davenport.unwrap().p, &case["f_p"], &what);
        close(f.chi2_ties.unwrap(), &case["chi2_ties"], &what);
        let corrected = f.iman_davenport_ties.unwrap();
        close(corrected.f, &case["f_ties"], &what);
        close_p(corrected.p, &case["f_ties_p"], &what);
        check_pairs(&table, case, &what);
    }
    for (i, case) in cases(&file, "wilcoxon").iter().enumerate() {
        let w = wilcoxon(&numbers(&case["differences"])).unwrap();
        close(w.plus, &case["plus"], &format!("pair {i}"));
        close(w.minus, &case["minus"], &format!("pair {i}"));
        if case.get("p").is_some() {
            close_p(w.p, &case["p"], &format!("pair {i}"));
        }
    }
    for case in cases(&file, "studentized_range") {
        let (k, alpha) = (case["k"].as_u64().unwrap() as usize, case["alpha"].as_f64().unwrap());
        let (got, want) = (range_quantile(1.0 - alpha, k), case["q"].as_f64().unwrap());
        // SciPy integrates and searches numerically, to some 1e-11 in probability where the density is near 0.02.
        assert!((got - want).abs() < 1e-9, "range of {k} at {alpha}: {got}, expected {want}");
    }
    for case in cases(&file, "studentized_range_p") {
        let (k, q) = (case["k"].as_u64().unwrap() as usize, case["q"].as_f64().unwrap());
        close(range_cdf(q, k), &case["p"], &format!("range of {k} up to {q}"));
    }
}

/// Nemenyi's test of every pair, and Holm's procedure against the best.
fn check_pairs(table: &RankTable, case: &Value, what: &str) {
    let (k, n) = (table.methods.len(), table.data.len());
    for a in 0..k {
        for b in 0..k {
            let p = nemenyi_p(table.average[a] - table.average[b], k, n);
            close(p, &case["nemenyi"][a][b], &format!("{what}, methods {a} and {b}"));
        }
    }
    let best = table.best();
    assert_eq!(best as u64, case["best"].as_u64().unwrap(), "{what}");
    let (steps, expected) = (holm(table, best, 0.05).steps, &case["holm"]);
    assert_eq!(steps.len(), k - 1);
    for (j, step) in steps.iter().enumerate() {
        let what = format!("{what}, method {}", step.method);
        close_p(step.p, &expected["p"][j], &what);
        close_p(step.adjusted, &expected["adjusted"][j], &what);
        assert_eq!(step.rejected, expected["reject"][j].as_bool().unwrap(), "{what}");
    }
}

#[test]
fn ranks_of_repeats_with_ties_agree_with_scikit_posthocs() {
    let file = load("ranking_scipy.json");
    for (i, case) in cases(&file, "counted").iter().enumerate() {
        let bags = case["bags"].as_u64().unwrap() as usize;
        // From records to ranks, as a report goes.
        let of_data = |data: &Value| -> Vec<f64> {
            let methods = data.as_array().unwrap().iter().enumerate();
            let records: Vec<_> = methods
                .flat_map(|(m, right)| {
                    let right: Vec<usize> = numbers(right).into_iter().map(|r| r as usize).collect();
                    repeats(&format!("m{m:02}"), bags, &right)
                })
                .collect();
            let table = summarise(&records, &two_classes(bags), &[Metric::Accuracy], 0.95).unwrap();
            table.iter().map(|line| line.metrics[0].mean.unwrap()).collect()
        };
        let values: Vec<Vec<f64>> = case["right"].as_array().unwrap().iter().map(of_data).collect();
        let names = |n: usize| (0..n).map(|i| i.to_string()).collect();
        let (k, n) = (values[0].len(), values.len());
        let table = RankTable::new(names(k), names(n), values, true).unwrap();
        assert_eq!(table.ranks, rows(&case["ranks"]), "table {i}");
        close(table.friedman().chi2_ties.unwrap(), &case["chi2_ties"], &format!("table {i}"));
        check_pairs(&table, case, &format!("table {i}"));
    }
    // What is no count ties within the rounding of sums.
    assert_eq!(ranks(&[0.1 + 0.2, 0.3, 0.25], true), [1.5, 1.5, 3.0]);
}

#[test]
fn published_constants_come_out() {
    // Demšar 2006, Table 5a: q / sqrt(2) for 2 to 10 methods, to three decimals, of which the last is cut, not rounded.
    let table = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164];
    for (i, want) in table.into_iter().enumerate() {
        let k = i + 2;
        let got = nemenyi(k, 1, 0.05) / ((k * (k + 1)) as f64 / 6.0).sqrt();
        assert!((got - want).abs() < 0.001, "{k} methods: {got}");
    }
    // His example: four methods on 14 data sets.
    assert!((nemenyi(4, 14, 0.05) - 1.25).abs() < 0.01 && (nemenyi(4, 14, 0.10) - 1.12).abs() < 0.01);
    // The critical difference is where the probability reaches the level.
    assert!((nemenyi_p(nemenyi(7, 9, 0.05), 7, 9) - 0.05).abs() < 1e-12);
}

#[test]
fn ties_share_ranks_and_agreement_is_certain() {
    assert_eq!(ranks(&[0.5, 0.9, 0.5, 0.1], true), [2.5, 1.0, 2.5, 4.0]);
    assert_eq!(ranks(&[3.0, 1.0, 2.0], false), [3.0, 1.0, 2.0]);
    assert_eq!(ranks(&[0.0, -0.0], true), [1.5, 1.5]);
    let names = |n: usize| (0..n).map(|i| i.to_string()).collect::<Vec<_>>();
    let agreed = RankTable::new(names(3), names(4), vec![vec![3.0, 2.0, 1.0]; 4], true).unwrap();
    let f = agreed.friedman();
    assert_eq!((f.chi2, f.iman_davenport.unwrap().p, agreed.best()), (8.0, 0.0, 0));
    let tied = RankTable::new(names(3), names(4), vec![vec![1.0; 3]; 4], true).unwrap().friedman();
    assert_eq!((tied.chi2, tied.p, tied.chi2_ties), (0.0, 1.0, None));
    for bad in [vec![vec![1.0, f64::NAN]], vec![vec![1.0]], vec![]] {
        assert!(RankTable::new(names(2), names(1), bad, true).is_err());
    }
    assert!(RankTable::new(names(1), names(1), vec![vec![1.0]], true).is_err());
}

#[test]
fn bars_join_what_is_not_told_apart() {
    let average = [3.0, 1.0, 1.5, 2.9, 5.0];
    assert_eq!(cliques(&average, 1.5), [vec![1, 2], vec![2, 3, 0]]);
    assert_eq!(cliques(&average, 9.0), [vec![1, 2, 3, 0, 4]]);
    assert!(cliques(&average, 0.05).is_empty());
}
