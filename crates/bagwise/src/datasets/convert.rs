//! From the file of a public source to a data set: what its makers added is taken off, labels are 1 and 0.

use std::path::Path;

use bagwise_core::files::read_bounded;
use bagwise_core::{Bags, Dataset, Error, Instances, Mat, Place, Result, Target};
use bagwise_io::{ReadOptions, Task, read};

use super::KnownDataset;
use super::sources::SourceLayout;

/// Reads the file of a source; `place` is what it is called in errors.
pub(super) fn convert(set: &KnownDataset, layout: SourceLayout, file: &Path, place: &str) -> Result<Dataset> {
    let mut data = match layout {
        SourceLayout::Molecules => molecules(file, place)?,
        SourceLayout::Arff | SourceLayout::Cells { .. } => {
            let format = if layout == SourceLayout::Arff { "arff" } else { "matlab" };
            let options = ReadOptions {
                format: Some(format.into()),
                task: Task::Classification,
                ..ReadOptions::default()
            };
            read(&file.display().to_string(), &options)?
        }
    };
    if let SourceLayout::Cells { instance_labels, positive, counts } = layout {
        data = cells(data, set.attributes, instance_labels, positive, counts)?;
    }
    data.warnings.clear();
    data.name = set.name.into();
    if let (Some(Target::Classes { codes, .. }), false) = (&data.target, set.is_regression()) {
        // Sources call classes as they like; the class of the first bag is known.
        let other = if set.first_label == "1" { "0" } else { "1" };
        let first = codes.first().copied();
        let labels: Vec<&str> =
            codes.iter().map(|&c| if Some(c) == first { set.first_label } else { other }).collect();
        data.target = Some(Target::from_labels(&labels));
    }
    let mut plain = Dataset::new(set.name, data.bags);
    plain.instance_labels = data.instance_labels;
    match data.target {
        Some(target) => plain.with_target(target),
        None => Err(Error::data(Place::of(place), "it has no labels", "take another copy")),
    }
}

/// Bags in cells: perhaps one column more than there are attributes, a label; bags that are positive although their label says otherwise, and counts
/// that were divided by the largest one.
fn cells(
    data: Dataset,
    attributes: usize,
    instance_labels: bool,
    positive: &[usize],
    counts: Option<(usize, f64, f64)>,
) -> Result<Dataset> {
    let rows = data.bags.instance_count();
    let more = data.bags.width() == attributes + 1;
    let width = data.bags.width() - usize::from(more);
    let mut values = Vec::with_capacity(rows * width);
    let mut extra = Vec::with_capacity(rows);
    let first_test = counts.map_or(rows, |(bags, ..)| data.bags.offsets()[bags.min(data.bags.len())]);
    data.bags.instances().each_row(0..rows, |i, row| {
        let whole = |v: &f64| match counts {
            Some((_, train, test)) => (v * if i < first_test { train } else { test }).round(),
            None => *v,
        };
        values.extend(row[..width].iter().map(whole));
        extra.push(row[row.len() - 1]);
    })?;
    let bags = Bags::new(Instances::F64(Mat::new(rows, width, values)), data.bags.offsets().to_vec())?;
    let mut plain = Dataset::new(data.name.clone(), bags);
    if instance_labels && more {
        plain.instance_labels = Some(extra.iter().map(|v| u8::from(*v > 0.0).to_string()).collect());
    }
    let Some(Target::Classes { codes, names }) = &data.target else { return Ok(plain) };
    let is_positive = |bag: usize| {
        let label = names[codes[bag] as usize].parse::<f64>().is_ok_and(|v| v > 0.0);
        if label || positive.contains(&(bag + 1)) { "1" } else { "0" }
    };
    let labels: Vec<&str> = (0..codes.len()).map(is_positive).collect();
    plain.with_target(Target::from_labels(&labels))
}

/// The text of the affinity sets: lines that begin with # say what comes next, then one number in a line.
fn molecules(file: &Path, place: &str) -> Result<Dataset> {
    // The largest of these sets has less than a megabyte.
    const MOST: u64 = 100_000_000;
    let bytes = read_bounded(file, "a file of molecules", MOST)?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Error::data(Place::of(place), "this is not text", "take another copy"))?;
    let mut numbers = text.lines().enumerate().filter(|(_, line)| !line.starts_with('#'));
    let mut next = |what: &str| -> Result<f64> {
        let refuse = |place: Place, found: &str| {
            Err(Error::data(place, format!("{found} where {what} should stand"), "take another copy"))
        };
        let Some((line, text)) = numbers.next() else { return refuse(Place::of(place), "the file ends") };
        match text.trim().parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => refuse(Place::line(place, line as u64 + 1), &format!("'{text}' stands")),
        }
    };
    // No set of this form is larger; what is no size is refused before memory is taken.
    let size = |number: f64| match number {
        n if (1.0..=100_000.0).contains(&n) && n.fract() == 0.0 => Ok(n as usize),
        n => {
            Err(Error::data(Place::of(place), format!("{n} where a size should stand"), "take another copy"))
        }
    };
    let (width, bags) = (size(next("the number of dimensions")?)?, size(next("the number of bags")?)?);
    let (mut values, mut offsets, mut labels) = (Vec::new(), vec![0], Vec::new());
    for _ in 0..bags {
        let instances = size(next("the number of instances")?)?;
        for _ in 0..instances * width {
            values.push(next("a value")?);
        }
        offsets.push(offsets[offsets.len() - 1] + instances);
        labels.push(next("a label")?);
    }
    let rows = offsets[offsets.len() - 1];
    let bags = Bags::new(Instances::F64(Mat::new(rows, width, values)), offsets)?;
    Dataset::new("molecules", bags).with_target(Target::Values(labels))
}
