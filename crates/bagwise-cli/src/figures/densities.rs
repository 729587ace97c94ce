//! How dense the data are around bags that one of two methods misclassified, or both: the printed numbers beside ours.
//!
//! The paper uses a Gaussian kernel density of width `sd (4 / ((d + 2) n))^(1 / (d + 4))` for d attributes and n
//! instances, but does not say of what. Over all attributes jointly, it would be 0 except at the instances themselves.
//! Here, the density of an instance is the mean over attributes of the density of its value, relative to the height of
//! one kernel. For a bag, we show the largest and the smallest density of its instances, and their ratio. Counts can be
//! compared with the paper; densities only qualitatively.

use anyhow::{Context as _, Result};
use bagwise::judge::{Record, Truth};
use bagwise::{Bags, Evaluation};
use bagwise_report::paper::PaperSummary;

use crate::experiment::printed::PrintedRow;

/// A line for each printed number about a data set; `methods` are the two whose mistakes are counted, in the first repeat.
pub(crate) fn summaries(
    printed: &[PrintedRow],
    set: &str,
    methods: &[String; 2],
    bags: &Bags,
    results: &Evaluation,
) -> Result<Vec<PaperSummary>> {
    let mistakes = [mistakes(results, &methods[0])?, mistakes(results, &methods[1])?];
    let rows = printed.iter().filter(|row| row.set == set);
    let mut found: Vec<(String, Vec<Densities>)> = Vec::new();
    let mut lines = Vec::new();
    for row in rows {
        if found.iter().all(|(group, _)| *group != row.method) {
            let wrong = |b: usize| (mistakes[0][b], mistakes[1][b]) == group(&row.method, methods);
            let of: Vec<usize> = (0..bags.len()).filter(|&b| wrong(b)).collect();
            found.push((row.method.clone(), densities(bags, &of)?));
        }
        let own = found.iter().find(|(group, _)| *group == row.method).context("just computed")?;
        let mean = |of: fn(&Densities) -> f64| match own.1.len() {
            0 => String::new(),
            n => format!("{:.4}", own.1.iter().map(of).sum::<f64>() / n as f64),
        };
        let (ours, remark) = match row.metric.as_str() {
            "misclassified_test_bags" => (own.1.len().to_string(), ""),
            "density_maximum" => (mean(|d| d.most), "not comparable"),
            "density_minimum" => (mean(|d| d.least), "not comparable"),
            "density_ratio" => (mean(|d| d.most / d.least), "not comparable"),
            _ => (String::new(), ""),
        };
        lines.push(PaperSummary {
            of: format!("{set}, misclassified by {}", row.method),
            what: row.metric.replace('_', " "),
            printed: row.value.clone(),
            ours,
            remark: remark.into(),
        });
    }
    Ok(lines)
}

/// Which of the two methods err in a group called "A only", "B only" or "A and B".
fn group(name: &str, methods: &[String; 2]) -> (bool, bool) {
    let named = |method: &String| name.split(" only").any(|part| part == method) || name.contains(" and ");
    (named(&methods[0]), named(&methods[1]))
}

/// Whether the method erred on each bag, in the first repeat.
fn mistakes(results: &Evaluation, method: &str) -> Result<Vec<bool>> {
    let Truth::Classes { codes, .. } = &results.roster.truth else {
        anyhow::bail!("densities are about misclassified bags, so labels must be classes");
    };
    let mut wrong = vec![false; codes.len()];
    let own = |r: &&Record| r.key.method == method && r.key.inner.is_none() && r.key.repeat == 0;
    for record in results.records.iter().filter(own) {
        let labels = record.scored.labels.as_deref().unwrap_or_default();
        for (&bag, &label) in record.scored.bags.iter().zip(labels) {
            wrong[bag] = codes[bag] != label;
        }
    }
    Ok(wrong)
}

struct Densities {
    most: f64,
    least: f64,
}

/// The densities of some bags among all instances.
fn densities(bags: &Bags, of: &[usize]) -> Result<Vec<Densities>> {
    let (n, d) = (bags.instance_count(), bags.width());
    let mut columns = vec![Vec::with_capacity(n); d];
    bags.instances().each_row(0..n, |_, row| {
        row.iter().zip(&mut columns).for_each(|(&v, column)| column.push(v));
    })?;
    let share = (4.0 / ((d as f64 + 2.0) * n as f64)).powf(1.0 / (d as f64 + 4.0));
    // A column that does not vary says nothing.
    let widths: Vec<f64> = columns.iter().map(|column| share * deviation(column)).collect();
    let varying: Vec<usize> = (0..d).filter(|&k| widths[k] > 0.0).collect();
    let density = |row: usize| {
        let of_column = |&k: &usize| {
            let (column, factor) = (&columns[k], 0.5 / (widths[k] * widths[k]));
            let sum: f64 = column.iter().map(|v| (-(v - column[row]).powi(2) * factor).exp()).sum();
            sum / n as f64
        };
        varying.iter().map(of_column).sum::<f64>() / varying.len().max(1) as f64
    };
    let of_bag = |&bag: &usize| {
        let (mut most, mut least) = (f64::NEG_INFINITY, f64::INFINITY);
        for value in bags.rows(bag).map(density) {
            (most, least) = (most.max(value), least.min(value));
        }
        Densities { most, least }
    };
    Ok(of.iter().map(of_bag).collect())
}

fn deviation(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bagwise::{Instances, Mat};

    #[test]
    fn groups_are_told_by_their_names() {
        let methods = ["ISK".to_string(), "MI-Kernel".to_string()];
        assert_eq!(group("ISK only", &methods), (true, false));
        assert_eq!(group("MI-Kernel only", &methods), (false, true));
        assert_eq!(group("ISK and MI-Kernel", &methods), (true, true));
    }

    #[test]
    fn an_instance_among_many_is_denser_than_one_alone() {
        let values: Vec<[f64; 1]> =
            (0..20).map(|i| [if i == 19 { 50.0 } else { f64::from(i) * 0.1 }]).collect();
        let bags = Bags::new(Instances::F64(Mat::from_rows(&values)), vec![0, 18, 20]).unwrap();
        let found = densities(&bags, &[0, 1]).unwrap();
        // The last instance is alone: its density is that of its own kernel, a twentieth of the height.
        assert!((found[1].least - 0.05).abs() < 1e-3, "{}", found[1].least);
        assert!(found[0].least > 0.5 && found[0].most <= 1.0, "{} {}", found[0].least, found[0].most);
    }
}
