//! The feature map of bags: column `i psi + j` holds the weight of the bag's instances in cell j of partitioning i, so
//! that `K(S, T) = <v(S), v(T)> / t`. Weights of a bag sum to 1, and so does every block of psi columns, unless instances lie
//! in no cell. A row costs t times the size of the bag.

use std::ops::Range;

use rayon::prelude::*;

use super::ids::Ids;
use bagwise_core::Csr;

/// Maps of bags, a row for each range of instances, with one weight for each instance (all equal if there are none).
/// Weights and ranges count from the first row of `ids`.
pub fn map_rows(ids: &Ids, bags: &[Range<usize>], weights: Option<&[f64]>) -> Csr {
    let rows: Vec<Vec<(u32, f64)>> = bags
        .par_iter()
        .map_init(
            || vec![0.0; ids.t() * ids.psi()],
            |sums, bag| {
                let mut touched: Vec<u32> = Vec::new();
                let equal = 1.0 / bag.len() as f64;
                for row in bag.clone() {
                    let weight = weights.map_or(equal, |w| w[row]);
                    ids.row(row, |i, cell| {
                        let column = i * ids.psi() + cell;
                        // Weights are positive, so that 0 means untouched.
                        if sums[column] == 0.0 {
                            touched.push(column as u32);
                        }
                        sums[column] += weight;
                    });
                }
                touched.sort_unstable();
                touched.iter().map(|&c| (c, std::mem::take(&mut sums[c as usize]))).collect()
            },
        )
        .collect();
    let mut map = Csr::empty(ids.t() * ids.psi());
    rows.into_iter().for_each(|row| map.push_row(row));
    map
}
