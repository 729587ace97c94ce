//! Machines on a Gram that are too many to be kept: those for all pairs of hundreds of classes. Each is solved, asked for its
//! outputs together with some hundred others, and forgotten.

use std::ops::Range;

use bagwise_svm::{LANES, Machine, outputs_of_block};

use crate::families::svm::{self, SvmParams};
use crate::method::Training;
use bagwise_core::{Ctx, Mat, Result};

/// Machines that are asked together: their coefficients fit the second cache, and a block of kernel values is read from the
/// third once for all of them.
const TOGETHER: usize = 1024;

/// Bags of a problem that is solved on a copy of its part of the Gram. A class against hundreds of others has all of them.
const SMALL: usize = 64;

/// The coefficients of machines one after the other: machines themselves lie all over the memory.
#[derive(Default)]
pub(crate) struct MachineList {
    /// Prepared bags and their coefficients.
    support: Vec<(u32, f64)>,
    machines: Vec<Listed>,
}

struct Listed {
    point: usize,
    machine: usize,
    /// Where its coefficients are.
    support: Range<usize>,
    bias: f64,
}

impl MachineList {
    /// Adds a machine that was trained on these bags.
    pub(crate) fn push(&mut self, point: usize, number: usize, machine: &Machine, bags: &[usize]) {
        let start = self.support.len();
        self.support.extend(machine.support().map(|(i, coefficient)| (bags[i] as u32, coefficient)));
        let (mut support, bias) = (start..self.support.len(), machine.bias);
        // A machine that no cost holds back comes again for larger costs.
        if let Some(last) = self.machines.last()
            && last.bias == bias
            && self.support[last.support.clone()] == self.support[start..]
        {
            self.support.truncate(start);
            support = last.support.clone();
        }
        self.machines.push(Listed { point, machine: number, support, bias });
    }

    /// The outputs of all machines for a [block](kernel_block) of `count` bags.
    pub(crate) fn each_output(
        &self,
        kernel: &[[f64; LANES]],
        first: usize,
        count: usize,
        each: &mut dyn FnMut(usize, usize, usize, &[f64]),
    ) {
        let mut values = [0.0; LANES];
        let mut before = None;
        for Listed { point, machine, support, bias } in &self.machines {
            if before != Some((support, bias)) {
                values = outputs_of_block(&self.support[support.clone()], *bias, kernel);
                before = Some((support, bias));
            }
            each(*point, *machine, first, &values[..count]);
        }
    }

    fn clear(&mut self) {
        self.support.clear();
        self.machines.clear();
    }
}

/// The kernel values of a few bags with all prepared ones, those of a prepared bag side by side.
pub(crate) fn kernel_block(gram: &Mat, bags: &[usize]) -> Vec<[f64; LANES]> {
    let mut kernel = vec![[0.0; LANES]; gram.cols()];
    for (lane, &bag) in bags.iter().enumerate() {
        kernel.iter_mut().zip(gram.row(bag)).for_each(|(values, value)| values[lane] = *value);
    }
    kernel
}

/// The part of a Gram that a problem is about. Entries between the two classes are read from the rows of the first: the next
/// problem has the same first class, so that these rows stay in the cache, while every entry of another row is a line of memory.
/// A Gram is exactly symmetric.
fn gather(gram: &Mat, problem: &Training<'_>, own: &mut Mat) {
    let n = problem.bags.len();
    if own.rows() != n {
        *own = Mat::zeros(n, n);
    }
    for (i, &bag) in problem.bags.iter().enumerate() {
        let (row, first) = (gram.row(bag), problem.y[i] > 0.0);
        for (j, &other) in problem.bags.iter().enumerate() {
            let both_alike = (problem.y[j] > 0.0) == first;
            let here = if both_alike { j <= i } else { first };
            if here {
                own.set(i, j, row[other]);
                own.set(j, i, row[other]);
            }
        }
    }
}

/// [`Prepared::each_output`](crate::method::Prepared::each_output) on a Gram.
pub(crate) fn stream_outputs(
    gram: &Mat,
    points: &[SvmParams],
    problems: &[(usize, Training<'_>)],
    bags: &[usize],
    each: &mut dyn FnMut(usize, usize, usize, &[f64]),
    ctx: &Ctx,
) -> Result<()> {
    let blocks: Vec<Vec<[f64; LANES]>> = bags.chunks(LANES).map(|some| kernel_block(gram, some)).collect();
    let mut ask = |list: &mut MachineList| {
        for (b, kernel) in blocks.iter().enumerate() {
            list.each_output(kernel, b * LANES, LANES.min(bags.len() - b * LANES), each);
        }
        list.clear();
    };
    let mut list = MachineList::default();
    let mut own = Mat::zeros(0, 0);
    for (number, problem) in problems {
        let n = problem.bags.len();
        let machines = match n <= SMALL {
            true => {
                gather(gram, problem, &mut own);
                let places: Vec<usize> = (0..n).collect();
                svm::solve(&own, points, &Training { bags: &places, ..*problem }, ctx)?
            }
            false => svm::solve(gram, points, problem, ctx)?,
        };
        for (point, machine) in machines.iter().enumerate() {
            list.push(point, *number, machine, problem.bags);
        }
        if list.machines.len() >= TOGETHER {
            ask(&mut list);
        }
    }
    ask(&mut list);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_those_of_machines_that_are_kept() {
        // Two blocks of bags, more machines than are asked together, costs at which bounds hold and do not.
        let (bags, problems) = (90, TOGETHER / 2 + 50);
        let mut rng = bagwise_core::Rng::new(1, "many machines", &[]);
        let place: Vec<f64> = (0..bags).map(|_| rng.uniform()).collect();
        let values = place.iter().flat_map(|a| place.iter().map(move |b| (-30.0 * (a - b) * (a - b)).exp()));
        let gram = Mat::new(bags, bags, values.collect());
        let weights = [1.0; 12];
        let parts: Vec<(Vec<usize>, Vec<f64>)> = (0..problems)
            .map(|machine| {
                let own = (0..12).map(|i| (machine * 7 + i * 5) % 50).collect();
                (own, (0..12).map(|i| if (i + machine) % 3 == 0 { 1.0 } else { -1.0 }).collect())
            })
            .collect();
        let problems: Vec<(usize, Training<'_>)> = (parts.iter().enumerate())
            .map(|(k, (bags, y))| (k, Training { bags, y, weights: &weights, regression: false }))
            .collect();
        let points = [SvmParams { cost: 1.0, tube: 0.0 }, SvmParams { cost: 100.0, tube: 0.0 }];
        let tested: Vec<usize> = (45..bags).collect();
        let ctx = Ctx::default();
        let mut found = vec![Mat::zeros(tested.len(), problems.len()); 2];
        let each = &mut |point: usize, machine: usize, first: usize, values: &[f64]| {
            values.iter().enumerate().for_each(|(i, &v)| found[point].set(first + i, machine, v));
        };
        stream_outputs(&gram, &points, &problems, &tested, each, &ctx).unwrap();
        for (k, problem) in &problems {
            let machines = svm::solve(&gram, &points, problem, &ctx).unwrap();
            for (machine, found) in machines.iter().zip(&found) {
                for (row, &bag) in tested.iter().enumerate() {
                    let output = machine.output(|i| gram.get(bag, problem.bags[i]));
                    assert_eq!(output.to_bits(), found.get(row, *k).to_bits(), "machine {k}, bag {bag}");
                }
            }
        }
    }
}
