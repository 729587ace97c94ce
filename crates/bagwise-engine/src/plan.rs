//! What one pass over the pairs must produce: which exponentials, which squarings, which weighted sums.
//!
//! exp(-2 gamma s) is the square of exp(-gamma s), so gammas whose ratios are powers of two form a chain that
//! needs one exponential. Squaring doubles the relative error: after five squarings an error of one unit in the
//! last place is 32 units, 7e-15. A chain is therefore cut after five, and starts again with an exponential.
//! What several outputs ask for in common (the same gamma and weight vector) is computed once.

use std::collections::BTreeMap;

use super::kernels::MAX_STEPS;

/// One Gram to compute.
#[derive(Clone, Debug, PartialEq)]
pub struct GramOutput {
    /// Width of the instance kernel, exp(-gamma * squared distance).
    pub gamma: f64,
    /// The weight vectors whose sums are added.
    pub terms: Vec<usize>,
}

/// Squarings after an exponential; see above.
const MAX_SQUARINGS: u32 = 5;

/// One weighted sum at one gamma.
#[derive(Debug, PartialEq)]
pub(crate) struct SumSlot {
    /// Which weight vector.
    pub weight: usize,
    /// The Grams it is added to; an output that names a term twice stands here twice.
    pub outputs: Vec<usize>,
}

/// One exponential and the powers made of it.
#[derive(Debug, PartialEq)]
pub(crate) struct Pass {
    /// -gamma log2(e) of the first power: exp(-gamma s) = 2^(scale s).
    pub scale: f64,
    /// For each power, the squarings that lead to it from the one before.
    pub squarings: Vec<u32>,
    /// For each power, its slots: at `starts[i]..starts[i + 1]`.
    pub starts: Vec<usize>,
    /// Every power has exactly one slot: the powers can stay in registers.
    pub lean: bool,
}

/// Everything a tile is turned into.
#[derive(Debug, PartialEq)]
pub(crate) struct TilePlan {
    pub passes: Vec<Pass>,
    pub slots: Vec<SumSlot>,
}

impl TilePlan {
    pub(crate) fn new(outputs: &[GramOutput]) -> TilePlan {
        // By mantissa, then exponent: chains lie side by side, smallest gamma first. What has no full mantissa
        // (0 among them) is its own chain, which the bits above the exponent tell apart.
        let mut chains: BTreeMap<u64, BTreeMap<i64, (f64, BTreeMap<usize, Vec<usize>>)>> = BTreeMap::new();
        for (o, output) in outputs.iter().enumerate() {
            // Adding 0 turns -0 into 0.
            let bits = (output.gamma + 0.0).to_bits();
            let (mantissa, exponent) = if output.gamma.is_normal() {
                (bits & ((1 << 52) - 1), (bits >> 52) as i64)
            } else {
                (bits | 1 << 63, 0)
            };
            let (_, weights) = chains
                .entry(mantissa)
                .or_default()
                .entry(exponent)
                .or_insert_with(|| (output.gamma, BTreeMap::new()));
            for &term in &output.terms {
                weights.entry(term).or_default().push(o);
            }
        }
        let mut plan = TilePlan { passes: Vec::new(), slots: Vec::new() };
        for chain in chains.into_values() {
            // The running pass: its squarings so far and the exponent of its last power.
            let mut run: Option<(u32, i64)> = None;
            for (exponent, (gamma, weights)) in chain {
                if weights.is_empty() {
                    continue;
                }
                let step = run.and_then(|(sum, at)| {
                    let squarings = u32::try_from(exponent - at).ok()?;
                    let room = plan.passes.last()?.squarings.len() < MAX_STEPS;
                    (room && sum + squarings <= MAX_SQUARINGS).then_some((sum + squarings, squarings))
                });
                match step {
                    Some((sum, squarings)) => {
                        plan.passes.last_mut().expect("a running pass").squarings.push(squarings);
                        run = Some((sum, exponent));
                    }
                    None => {
                        plan.passes.push(Pass {
                            // Finite, so that distance 0 times it is 0.
                            scale: (-gamma * std::f64::consts::LOG2_E).max(-f64::MAX),
                            squarings: vec![0],
                            starts: vec![plan.slots.len()],
                            lean: true,
                        });
                        run = Some((0, exponent));
                    }
                }
                let pass = plan.passes.last_mut().expect("just pushed or running");
                pass.lean &= weights.len() == 1;
                plan.slots.extend(weights.into_iter().map(|(weight, outputs)| SumSlot { weight, outputs }));
                pass.starts.push(plan.slots.len());
            }
        }
        plan
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outputs(gammas: &[f64]) -> Vec<GramOutput> {
        gammas.iter().map(|&gamma| GramOutput { gamma, terms: vec![0] }).collect()
    }

    #[test]
    fn a_doubling_grid_of_eleven_takes_two_exponentials() {
        let grid: Vec<f64> = (-5..=5).map(|e| 2f64.powi(e)).collect();
        let plan = TilePlan::new(&outputs(&grid));
        let lengths: Vec<usize> = plan.passes.iter().map(|p| p.squarings.len()).collect();
        assert_eq!(lengths, [6, 5]);
        assert!(plan.passes.iter().all(|p| p.lean));
        assert_eq!(plan.slots.iter().map(|s| s.outputs[0]).collect::<Vec<_>>(), (0..11).collect::<Vec<_>>());
    }

    #[test]
    fn other_ratios_are_other_chains_and_nothing_is_computed_twice() {
        let plan = TilePlan::new(&outputs(&[1.0, 1.5, 4.0, 1.0, 0.0]));
        let shape: Vec<_> = plan
            .passes
            .iter()
            .map(|p| ((p.scale / -std::f64::consts::LOG2_E * 10.0).round(), p.squarings.clone()))
            .collect();
        assert_eq!(shape, [(10.0, vec![0, 2]), (15.0, vec![0]), (0.0, vec![0])]);
        assert_eq!(plan.slots[0].outputs, [0, 3]);
    }

    #[test]
    fn slots_follow_their_power() {
        let outputs = [
            GramOutput { gamma: 2.0, terms: vec![1, 0] },
            GramOutput { gamma: 1.0, terms: vec![1] },
            GramOutput { gamma: 2.0, terms: vec![1, 1] },
        ];
        let plan = TilePlan::new(&outputs);
        assert_eq!(plan.passes.len(), 1);
        assert_eq!(plan.passes[0].starts, [0, 1, 3]);
        assert!(!plan.passes[0].lean);
        let slots: Vec<_> = plan.slots.iter().map(|s| (s.weight, s.outputs.clone())).collect();
        assert_eq!(slots, [(1, vec![1]), (0, vec![0]), (1, vec![0, 2, 2])]);
    }
}
