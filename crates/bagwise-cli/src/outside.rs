//! Reads predictions that were computed elsewhere, for `compare --with`: a table such as the `predictions.csv` of a run.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use bagwise::run::OutsidePrediction;

/// The rows of a method in a table; `classes` are those of the data, none for numbers.
pub(crate) fn read(name: &str, path: &Path, classes: &[String]) -> Result<Vec<OutsidePrediction>> {
    let file = path.display();
    // Else the line of a row would be wrong where \r\n ends it. The \r is trimmed, and a line may have nothing else.
    let mut reader = csv::ReaderBuilder::new()
        .terminator(csv::Terminator::Any(b'\n'))
        .trim(csv::Trim::All)
        .flexible(true)
        .from_path(path)
        .with_context(|| format!("{file}: cannot be read"))?;
    let header = reader.headers().with_context(|| format!("{file}: cannot be read"))?.clone();
    let column = |wanted: &str| header.iter().position(|h| h == wanted);
    let (Some(bag), Some(fold)) = (column("bag"), column("fold")) else {
        bail!(
            "{file}: the columns bag and fold are required; found {}",
            header.iter().collect::<Vec<_>>().join(", ")
        );
    };
    let of_classes = |what: &str| -> Option<Vec<usize>> {
        let found: Vec<usize> = classes.iter().filter_map(|c| column(&format!("{what} {c}"))).collect();
        (!found.is_empty() && found.len() == classes.len()).then_some(found)
    };
    // Of several classes one column is that of the predicted class, which does not tell of the others.
    let single = |what: &str| column(what).filter(|_| classes.len() <= 2).map(|c| vec![c]);
    let scores = of_classes("score").or_else(|| single("score")).unwrap_or_default();
    let probabilities = of_classes("probability").or_else(|| single("probability")).unwrap_or_default();
    let (repeat, actual, predicted, method) =
        (column("repeat"), column("actual"), column("predicted"), column("method"));
    if scores.is_empty() && probabilities.is_empty() && predicted.is_none() {
        bail!("{file}: there is no column predicted, score or probability");
    }
    let mut rows = Vec::new();
    let mut methods = BTreeSet::new();
    for record in reader.records() {
        let record = record.with_context(|| format!("{file}: cannot be read"))?;
        let line = record.position().map_or(0, csv::Position::line);
        if record.iter().all(str::is_empty) {
            continue;
        }
        if record.len() != header.len() {
            bail!("{file}, line {line}: {} cells; the first row has {}", record.len(), header.len());
        }
        let whole = |at: usize, what: &str| {
            let text = record[at].trim();
            text.parse::<usize>().ok().with_context(|| {
                format!("{file}, line {line}: {what} '{text}' is not a whole number; count from 0, as in folds.json")
            })
        };
        let numbers = |columns: &[usize]| -> Result<Vec<f64>> {
            // A method without probabilities has an empty column.
            if columns.iter().all(|&c| record[c].trim().is_empty()) {
                return Ok(Vec::new());
            }
            let number = |&c: &usize| {
                let text = record[c].trim();
                text.parse::<f64>().ok().filter(|v| v.is_finite()).with_context(|| {
                    format!("{file}, line {line}: {} '{text}' is not a finite number", &header[c])
                })
            };
            columns.iter().map(number).collect()
        };
        let text = |at: Option<usize>| at.map(|c| record[c].trim().to_string()).filter(|t| !t.is_empty());
        let of = text(method);
        let row = OutsidePrediction {
            bag: record[bag].trim().to_string(),
            fold: whole(fold, "fold")?,
            repeat: repeat.map_or(Ok(0), |c| whole(c, "repeat"))?,
            actual: text(actual),
            predicted: text(predicted),
            scores: numbers(&scores)?,
            probabilities: numbers(&probabilities)?,
        };
        if let Some(p) = row.probabilities.iter().find(|p| !(0.0..=1.0).contains(*p)) {
            bail!(
                "{file}, line {line}: the probability {p} is not between 0 and 1; name the column score if it is a score"
            );
        }
        let sum: f64 = row.probabilities.iter().sum();
        // Tables are rounded.
        if row.probabilities.len() > 1 && (sum - 1.0).abs() > 0.02 {
            bail!("{file}, line {line}: the probabilities add up to {sum}, not to 1");
        }
        methods.extend(of.clone());
        rows.push((of, row));
    }
    if methods.len() > 1 {
        if !methods.contains(name) {
            let known: Vec<&str> = methods.iter().map(String::as_str).collect();
            bail!(
                "{file}: the table has several methods, and none is called '{name}': {}; keep one of them, or use its name",
                known.join(", ")
            );
        }
        rows.retain(|(of, _)| of.as_deref() == Some(name));
    }
    if rows.is_empty() {
        bail!("{file}: the table has no rows");
    }
    Ok(rows.into_iter().map(|(_, row)| row).collect())
}

/// A warning if the scores say the opposite of the predicted classes: a table with the score of the other class, or of a distance,
/// is read without an error and gives a ROC AUC below one half.
pub(crate) fn contradiction(name: &str, rows: &[OutsidePrediction], positive: &str) -> Option<String> {
    let value = |row: &OutsidePrediction| match (row.scores.as_slice(), row.probabilities.as_slice()) {
        ([score], _) => Some(*score),
        ([], [probability]) => Some(*probability),
        _ => None,
    };
    let scored = |is_positive: bool| -> Vec<f64> {
        let rows =
            rows.iter().filter(|row| row.predicted.as_ref().is_some_and(|p| (p == positive) == is_positive));
        let mut values: Vec<f64> = rows.filter_map(value).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let (others, ours) = (scored(false), scored(true));
    // Pairs of a positive and another bag in which the positive one has the larger score, and the smaller.
    let above =
        |of: &[f64], than: &[f64]| -> usize { of.iter().map(|v| than.partition_point(|o| o < v)).sum() };
    (above(&others, &ours) > above(&ours, &others)).then(|| {
        format!(
            "{name}: bags that are predicted as {positive} have lower scores than others; a higher score must mean {positive}: change \
             the sign of the scores, or give those of {positive}"
        )
    })
}
