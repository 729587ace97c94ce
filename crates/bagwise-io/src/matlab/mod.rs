//! MATLAB's `.mat`, version 5 (what MATLAB's `save -v7` and `-v6`, Octave and SciPy's `savemat` write), in two forms:
//!
//! - a cell array of matrices, one per bag with a row per instance (called `X`, `bags` or `data`, or the only one that
//!   there is), and vectors with an entry per bag; or two columns of cells, matrices and labels;
//! - one matrix `X` with a row per instance, `bag` with the bag of each, and vectors with an entry per bag or instance.
//!
//! Labels are `label`, `labels`, `class`, `target` or `y`, groups `group` or `groups`, names `features`; texts are cells or
//! rows of characters. Full and sparse real numbers of every class are read; structures and objects are passed over.
//! Version 7.3 is HDF5 and is refused with advice. Read by hand: the part of the format that is needed is small, and
//! every size is held against the bytes that are there before anything is allocated.

mod element;

use std::io::Read;
use std::path::Path;

use super::arrays::{self, Arrays, Values};
use super::cells::MAX_COLUMNS;
use super::columns::Role;
use super::compress;
use super::npz::rows_first;
use super::text::{ParseProblem, Parsed, damaged, shown, wrong};
use super::{Column, ReadOptions, Reader};
use bagwise_core::sizes::{OutOfMemory, filled, product, room};
use bagwise_core::{Csr, Dataset, Error, Instances, Mat, Place, Result, files};
use element::{Var, variables};

/// Reads `.mat` files.
pub(super) struct Matlab;

impl Reader for Matlab {
    fn name(&self) -> &'static str {
        "matlab"
    }

    fn recognises(&self, path: &Path, head: &[u8]) -> bool {
        !path.is_dir()
            && (super::plain_extension(path).is_some_and(|e| e == "mat") || head.starts_with(b"MATLAB "))
    }

    fn read(&self, path: &Path, options: &ReadOptions) -> Result<Dataset> {
        read(path, options)
    }
}

/// The whole file is held in memory, and no variable of this version of the format is larger than 2 GB.
const MOST: u64 = 4_000_000_000;
const WHAT: &str = "a .mat file that is read";

fn read(path: &Path, options: &ReadOptions) -> Result<Dataset> {
    let source = path.display().to_string();
    let refuse = |(found, remedy): ParseProblem| Error::data(Place::of(&source), found, remedy);
    let mut bytes = Vec::new();
    files::require_regular(path)?;
    if let Ok(found) = path.metadata() {
        files::check_bound(path, WHAT, found.len(), MOST)?;
    }
    let read = compress::open(path)?.take(MOST + 1).read_to_end(&mut bytes);
    read.map_err(|e| compress::explain(Place::of(&source), e))?;
    files::check_bound(path, WHAT, bytes.len() as u64, MOST)?;
    let variables = variables(&bytes).map_err(refuse)?;
    // Claimed rows cost memory even where nothing is in them.
    let most = bytes.len().max(1 << 20);
    drop(bytes);
    gather(&source, variables, most, options).map_err(refuse)?.finish(options)
}
/// The names of the instances, in the order in which they are looked for.
const MATRICES: [&str; 6] = ["X", "bags", "bag", "data", "instances", "x"];

fn gather<'s>(
    source: &'s str,
    mut variables: Vec<(String, Var)>,
    most: usize,
    options: &ReadOptions,
) -> Parsed<Arrays<'s>> {
    let mut seen = std::collections::HashSet::new();
    if let Some((twice, _)) = variables.iter().find(|(name, _)| !seen.insert(name)) {
        return wrong(
            format!("two variables are called '{}'", shown(twice.as_bytes())),
            "remove one of them from the file",
        );
    }
    let is_bags = |v: &Var| match v {
        Var::Cell { cells, .. } => cells.iter().any(|c| c.size().is_some_and(|(r, c)| r * c > 1)),
        Var::Full { .. } | Var::Sparse { .. } => !v.is_vector(),
        _ => false,
    };
    let candidates: Vec<usize> = (0..variables.len()).filter(|&i| is_bags(&variables[i].1)).collect();
    let named = MATRICES.iter().find_map(|n| candidates.iter().find(|&&i| variables[i].0 == *n));
    let chosen = match (named, &candidates[..]) {
        (Some(&one), _) | (None, &[one]) => one,
        (None, list) => {
            let all = list.is_empty().then_some(0..variables.len()).into_iter().flatten();
            let names: Vec<String> =
                all.chain(list.iter().copied()).take(12).map(|i| shown(variables[i].0.as_bytes())).collect();
            return wrong(
                format!("it is unclear which variable contains the instances: {}", names.join(", ")),
                "name it X: a cell array with one matrix per bag, or a matrix with one row per instance",
            );
        }
    };
    let (name, matrix) = variables.swap_remove(chosen);
    let mut beside = Vec::new();
    let (instances, offsets) = match matrix {
        Var::Cell { rows, mut cells } => {
            // Two columns: matrices, and what belongs to each.
            let mut pairs = cells.len() == 2 * rows && rows > 0 && cells[rows..].iter().all(|c| !is_bags(c));
            // A number is a bag too, of one instance, where bags have one column.
            let narrow = |c: &Var| c.size().is_some_and(|(_, cols)| cols == 1);
            let single = |c: &Var| c.size() == Some((1, 1));
            let is_label = |name: &str| match &options.label {
                Some(Column::Name(label)) => name == label,
                _ => arrays::is_usual_for(name, Role::Label),
            };
            let label = variables.iter().find(|(name, _)| is_label(name));
            if pairs && cells[..rows].iter().all(narrow) && cells[rows..].iter().all(single) {
                if label.is_none() {
                    return wrong(
                        format!(
                            "the second column of cells in '{}' could be labels or bags of one instance",
                            shown(name.as_bytes())
                        ),
                        "put the labels in a vector called label, and the bags in one column of cells",
                    );
                }
                pairs = false;
            }
            if let (true, Some((other, _))) = (pairs, label) {
                return wrong(
                    format!(
                        "the second column of cells in '{}' and the variable '{}' could both be the labels",
                        shown(name.as_bytes()),
                        shown(other.as_bytes())
                    ),
                    "remove one of them from the file",
                );
            }
            if pairs {
                let labels = Var::Cell { rows, cells: cells.split_off(rows) };
                match list(labels) {
                    Some(values) => beside.push(("label".to_string(), values)),
                    None => {
                        return wrong(
                            "the second column of cells has no labels",
                            "put a number or string in each",
                        );
                    }
                }
            }
            let (instances, offsets) = stack(&name, cells, most)?;
            (instances, Some(offsets))
        }
        other => {
            let (rows, cols) = other.size().unwrap_or((0, 0));
            if rows == 0 || cols == 0 || rows > most || cols > MAX_COLUMNS {
                return wrong(
                    format!("'{name}' is {rows} x {cols}"),
                    "use one row per instance and one column per feature",
                );
            }
            (instances(other)?, None)
        }
    };
    let mut features = None;
    for (name, variable) in variables {
        if ["features", "feature_names"].contains(&name.as_str()) {
            features = match list(variable) {
                Some(Values::Texts { texts, .. }) => Some(texts),
                _ => return wrong(format!("'{name}' contains no strings"), "give a cell array of names"),
            };
        } else if Arrays::uses(&name, options) {
            let Some(values) = list(variable) else {
                return wrong(
                    format!("'{}' is not a list of numbers or strings", shown(name.as_bytes())),
                    "use a vector, or a cell array of strings, with one entry per bag or instance",
                );
            };
            beside.push((name, values));
        }
    }
    Ok(Arrays { source, instances, features, offsets, beside, unused: Vec::new() })
}

/// A vector, or texts.
fn list(variable: Var) -> Option<Values> {
    Some(match variable {
        Var::Full { rows, cols, values, .. } if rows == 1 || cols == 1 => Values::Numbers(values),
        Var::Texts(texts) => Values::texts(texts),
        Var::Cell { cells, .. } => {
            let single = |cell: &Var| match cell {
                Var::Full { values, .. } if values.len() == 1 => Some(values[0]),
                _ => None,
            };
            let numbers: Option<Vec<f64>> = cells.iter().map(single).collect();
            if let Some(numbers) = numbers.filter(|n| !n.is_empty()) {
                return Some(Values::Numbers(numbers));
            }
            let text = |cell: Var| match cell {
                Var::Texts(mut texts) if texts.len() == 1 => texts.pop(),
                Var::Full { values, .. } if values.is_empty() => Some(String::new()),
                _ => None,
            };
            Values::texts(cells.into_iter().map(text).collect::<Option<_>>()?)
        }
        _ => return None,
    })
}

fn instances(matrix: Var) -> Parsed<Instances> {
    Ok(match matrix {
        Var::Full { rows, cols, values, single } => {
            let values = rows_first(values, rows, cols, true);
            if single {
                Instances::F32(Mat::new(rows, cols, values.into_iter().map(|v| v as f32).collect()))
            } else {
                Instances::F64(Mat::new(rows, cols, values))
            }
        }
        Var::Sparse { rows, cols, starts, row_of, values } => {
            // Columns to rows: count, then place, which leaves columns ascending within a row.
            let mut indptr = filled(rows + 1, 0).map_err(OutOfMemory::parts)?;
            row_of.iter().for_each(|&r| indptr[r + 1] += 1);
            (0..rows).for_each(|r| indptr[r + 1] += indptr[r]);
            let mut next = indptr.clone();
            let (mut indices, mut data) = (vec![0; values.len()], vec![0.0; values.len()]);
            for c in 0..cols {
                for i in starts[c]..starts[c + 1] {
                    let at = &mut next[row_of[i]];
                    (indices[*at], data[*at]) = (c as u32, values[i]);
                    *at += 1;
                }
            }
            Instances::Sparse(Csr::new(cols, indptr, indices, data))
        }
        _ => unreachable!("only matrices are chosen"),
    })
}

/// Matrices of bags, one below the other.
fn stack(name: &str, cells: Vec<Var>, most: usize) -> Parsed<(Instances, Vec<usize>)> {
    let mut offsets = vec![0usize];
    let width = cells.first().and_then(Var::size).map_or(0, |(_, cols)| cols);
    for (bag, cell) in cells.iter().enumerate() {
        let what = format!("cell {} of '{}'", bag + 1, shown(name.as_bytes()));
        let Some((rows, cols)) = cell.size() else {
            return wrong(
                format!("{what} is not a matrix"),
                "put a matrix with one row per instance in each cell",
            );
        };
        if rows == 0 || cols == 0 {
            return wrong(format!("{what} is empty"), "leave empty bags out");
        }
        if cols != width || cols > MAX_COLUMNS {
            let tall = cells.first().and_then(Var::size).is_some_and(|(first, _)| first == rows);
            let hint = if tall { " (if instances are columns, transpose each matrix)" } else { "" };
            return wrong(
                format!("{what} has {cols} columns, but the first has {width}{hint}"),
                "use one row per instance and the same columns in each bag",
            );
        }
        offsets.push(offsets[bag].saturating_add(rows));
        if offsets[bag + 1] > most {
            return damaged("its sparse matrices have more rows than the file has bytes");
        }
    }
    let total = offsets[cells.len()];
    if cells.iter().any(|c| matches!(c, Var::Sparse { .. })) {
        let mut all = Csr::empty(width);
        for cell in cells {
            match instances(cell)? {
                Instances::Sparse(m) => (0..m.rows()).for_each(|r| {
                    let (columns, values) = m.row(r);
                    all.push_row(columns.iter().copied().zip(values.iter().copied()));
                }),
                full => {
                    let m = doubles(full);
                    (0..m.rows()).for_each(|r| all.push_row((0u32..).zip(m.row(r).iter().copied())));
                }
            }
        }
        return Ok((Instances::Sparse(all), offsets));
    }
    if cells.iter().all(|c| matches!(c, Var::Full { single: true, .. })) {
        let mut all: Vec<f32> = Vec::new();
        for cell in cells {
            if let Instances::F32(m) = instances(cell)? {
                all.extend(m.data());
            }
        }
        return Ok((Instances::F32(Mat::new(total, width, all)), offsets));
    }
    let count = product(&[total, width]).map_err(OutOfMemory::parts)?;
    let mut all: Vec<f64> = room(count).map_err(OutOfMemory::parts)?;
    for cell in cells {
        all.extend(doubles(instances(cell)?).data());
    }
    Ok((Instances::F64(Mat::new(total, width, all)), offsets))
}

/// The numbers of a full matrix in double precision.
fn doubles(full: Instances) -> Mat {
    match full {
        Instances::F64(m) => m,
        Instances::F32(m) => Mat::new(m.rows(), m.cols(), m.data().iter().map(|&v| f64::from(v)).collect()),
        _ => unreachable!("a full matrix is dense and in memory"),
    }
}
