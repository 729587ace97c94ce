//! Equal instances and equal bags. Rows are hashed and sorted, and only rows with equal hashes are compared,
//! so that the cost is one pass over the data and a sort of one number per row.

use std::collections::HashMap;
use std::hash::Hash;

use rayon::prelude::*;
use serde::Serialize;

use crate::bags::{Bags, Instances};
use crate::error::Result;
use crate::target::Target;

/// How often the data repeat themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Duplicates {
    /// Instances that equal an earlier one.
    pub instances: usize,
    /// Of these, instances that equal an earlier one of their own bag.
    pub within_bags: usize,
    /// Different instances that occur in bags with different labels.
    pub across_labels: usize,
    /// Bags that hold the same instances as an earlier bag, in any order.
    pub bags: usize,
    /// These bags by position, each with the first of its kind.
    #[serde(skip)]
    pub copies: Vec<(usize, usize)>,
    /// Pairs of bags (the repetition and the first of its kind) with the same instances and different labels.
    pub clashing_bags: Vec<(String, String)>,
}

/// Finds equal instances and equal bags.
pub fn duplicates(bags: &Bags, target: Option<&Target>) -> Result<Duplicates> {
    let first = first_equal_row(bags.instances())?;
    let label = label_of(target);
    let mut found = Duplicates::default();

    // By first equal row: the last bag it was seen in, the label it was first seen with, whether labels differ.
    let mut seen: HashMap<usize, (usize, u64, bool)> = HashMap::new();
    for bag in 0..bags.len() {
        for row in bags.rows(bag) {
            let entry = seen.entry(first[row]).or_insert((bag, label(bag), false));
            if first[row] != row {
                found.instances += 1;
                found.within_bags += usize::from(entry.0 == bag);
            }
            entry.0 = bag;
            if entry.1 != label(bag) && !entry.2 {
                entry.2 = true;
                found.across_labels += 1;
            }
        }
    }

    let content = |bag: usize| {
        let mut content: Vec<usize> = bags.rows(bag).map(|row| first[row]).collect();
        content.sort_unstable();
        content
    };
    found.copies_by(bags, &label, content);
    Ok(found)
}

/// Finds equal bags only, by their digests: one look at every row, which suits rows outside memory.
pub fn copied_bags(bags: &Bags, target: Option<&Target>) -> Result<Duplicates> {
    let digests = bag_digests(bags)?;
    let mut found = Duplicates::default();
    found.copies_by(bags, &label_of(target), |bag| digests[bag]);
    Ok(found)
}

/// The label of a bag as a number that only equal labels share.
fn label_of(target: Option<&Target>) -> impl Fn(usize) -> u64 {
    move |bag| match target {
        None => 0,
        Some(Target::Classes { codes, .. }) => u64::from(codes[bag]),
        Some(Target::Values(values)) => (values[bag] + 0.0).to_bits(),
    }
}

impl Duplicates {
    /// Adds the bags of equal content.
    fn copies_by<K: Eq + Hash>(
        &mut self,
        bags: &Bags,
        label: &impl Fn(usize) -> u64,
        content: impl Fn(usize) -> K,
    ) {
        let mut whole: HashMap<K, usize> = HashMap::new();
        for bag in 0..bags.len() {
            let original = *whole.entry(content(bag)).or_insert(bag);
            if original != bag {
                self.bags += 1;
                self.copies.push((bag, original));
                if label(original) != label(bag) {
                    self.clashing_bags.push((bags.ids()[bag].clone(), bags.ids()[original].clone()));
                }
            }
        }
    }
}

/// The bags from position `from` on that hold the same instances as one before it, in any order.
pub fn repeats_of_earlier(bags: &Bags, from: usize) -> Result<Vec<usize>> {
    let first = first_equal_row(bags.instances())?;
    let content = |bag: usize| {
        let mut rows: Vec<usize> = bags.rows(bag).map(|row| first[row]).collect();
        rows.sort_unstable();
        rows
    };
    let known: std::collections::HashSet<Vec<usize>> = (0..from).map(content).collect();
    Ok((from..bags.len()).filter(|&bag| known.contains(&content(bag))).collect())
}

/// A digest of each bag, which depends on its instances but not on their order or storage. Models keep these
/// numbers, so they must stay as they are.
pub fn bag_digests(bags: &Bags) -> Result<Vec<u64>> {
    let digest = |bag: usize| {
        let rows = bags.rows(bag);
        // A sum does not depend on the order; mixed once more, so that rows do not cancel.
        let count = rows.len() as u64;
        rows.map(|row| Ok(mix(hash(bags.instances(), row)?, count)))
            .try_fold(count, |sum: u64, one: Result<u64>| Ok(sum.wrapping_add(one?)))
    };
    (0..bags.len()).into_par_iter().with_min_len(16).map(digest).collect()
}

/// For every row the first row that equals it.
fn first_equal_row(instances: &Instances) -> Result<Vec<usize>> {
    let hashed = |r: usize| Ok((hash(instances, r)?, r));
    let mut hashes =
        (0..instances.rows()).into_par_iter().with_min_len(64).map(hashed).collect::<Result<Vec<_>>>()?;
    hashes.sort_unstable();
    let mut first: Vec<usize> = (0..instances.rows()).collect();
    for same_hash in hashes.chunk_by(|a, b| a.0 == b.0) {
        // Different rows with equal hashes are very unlikely, but would be recognised here.
        let mut originals: Vec<usize> = Vec::with_capacity(1);
        for &(_, row) in same_hash {
            let mut original = None;
            for &r in &originals {
                if equal(instances, r, row)? {
                    original = Some(r);
                    break;
                }
            }
            match original {
                Some(original) => first[row] = original,
                None => originals.push(row),
            }
        }
    }
    Ok(first)
}

/// -0 and 0 are one value, and so are all NaN (missing).
fn bits(value: f64) -> u64 {
    if value.is_nan() { f64::NAN.to_bits() } else { (value + 0.0).to_bits() }
}

fn mix(state: u64, word: u64) -> u64 {
    let z = (state ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z ^ (z >> 29)
}

/// Of the values that are not 0, by column, so that dense and sparse storage give the same.
fn hash(instances: &Instances, row: usize) -> Result<u64> {
    let add = |h: u64, column: usize, value: f64| match value == 0.0 {
        true => h,
        false => mix(mix(h, column as u64), bits(value)),
    };
    let dense = |values: &[f64]| values.iter().enumerate().fold(1, |h, (c, &v)| add(h, c, v));
    Ok(match instances {
        Instances::F64(m) => dense(m.row(row)),
        Instances::F32(m) => m.row(row).iter().enumerate().fold(1, |h, (c, &v)| add(h, c, f64::from(v))),
        Instances::Sparse(m) => {
            let (columns, values) = m.row(row);
            columns.iter().zip(values).fold(1, |h, (&c, &v)| add(h, c as usize, v))
        }
        Instances::Stored(_) => dense(&whole_row(instances, row)?),
    })
}

fn whole_row(instances: &Instances, row: usize) -> Result<Vec<f64>> {
    let mut out = vec![0.0; instances.cols()];
    instances.row_into(row, &mut out)?;
    Ok(out)
}

fn equal(instances: &Instances, a: usize, b: usize) -> Result<bool> {
    Ok(match instances {
        Instances::F64(m) => m.row(a).iter().zip(m.row(b)).all(|(&x, &y)| bits(x) == bits(y)),
        Instances::F32(m) => {
            m.row(a).iter().zip(m.row(b)).all(|(&x, &y)| bits(f64::from(x)) == bits(f64::from(y)))
        }
        Instances::Sparse(m) => {
            let stored = |row| {
                let (columns, values) = m.row(row);
                columns.iter().zip(values).filter(|(_, v)| **v != 0.0).map(|(&c, &v)| (c, bits(v)))
            };
            stored(a).eq(stored(b))
        }
        Instances::Stored(_) => {
            let (a, b) = (whole_row(instances, a)?, whole_row(instances, b)?);
            a.iter().zip(&b).all(|(&x, &y)| bits(x) == bits(y))
        }
    })
}
