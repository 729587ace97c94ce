//! MissSVM: negative instances have labels, each positive bag has a witness, and the other instances of positive bags are
//! unlabelled: whichever side they are on, they should not lie in the margin.
//!
//! ```text
//! min |w|^2 / 2 + c sum over negative instances of hinge(-f(x)) + c_b sum over positive bags of hinge(max f(x))
//!               + c_u sum over instances of positive bags of min(hinge(f(x)), hinge(-f(x)))
//! ```
//!
//! with `c_b = c L / X` and `c_u = c L / U` for L negative instances, X positive bags and U instances of these. Solved by
//! the concave-convex procedure: with the witnesses and the sides of the unlabelled instances held fixed the problem is an
//! SVM with a bound for every row; its outputs choose new witnesses and sides, and the objective never rises. At the start a
//! bag's witness is the mean of its instances in the space of the kernel (above 15,800 rows, where there is no Gram, the mean
//! instance), and every unlabelled instance stands on both sides with half its bound. The search ends when nothing changes,
//! or when the objective falls by less than 1e-9 of itself.
//!
//! Zhou, Xu: On the relation between multi-instance learning and semi-supervised learning, ICML 2007. The constants are
//! those of the package misvm. Of instances that reach the largest output together the first is the witness.

use crate::families::alternating::kernel::{COST, KERNEL, WIDTH};
use crate::families::alternating::{
    Alternating, Alternation, Problem, ROUNDS, TrainedRound, TrainingRow, USUAL, bad_start,
};
use crate::method::Info;
use crate::params::ParamSpec;
use bagwise_core::{Bags, Result};

/// The method, for the registry.
pub(crate) static METHOD: Alternation<MissSvm> = Alternation { info: &INFO, method: MissSvm };

#[derive(Clone)]
pub(crate) struct MissSvm;

static INFO: Info = Info {
    name: "misssvm",
    aliases: &["miss-svm"],
    title: "semi-supervised SVM: one witness per positive bag, its other instances unlabelled",
    about: "An SVM is trained on all instances of negative bags and one witness of each positive bag. The other \
            instances of positive bags are unlabelled; each gets the class that the SVM predicts for it. Witnesses and \
            these classes are updated until nothing changes. The output of a bag is the largest output of its instances.",
    reference: "Zhou, Xu: On the relation between multi-instance learning and semi-supervised learning, ICML 2007",
    complexity: 34,
    params: PARAMS,
    ..USUAL
};

static PARAMS: &[ParamSpec] = &[KERNEL, WIDTH, COST, ParamSpec { default: "50", grid: "50", ..ROUNDS }];

/// The mean of a bag instead of one of its instances.
const MEAN: u32 = u32::MAX;

/// The side of an unlabelled instance.
const BOTH: u32 = 0;
const PLUS: u32 = 1;
const MINUS: u32 = 2;

/// Outputs this close to 0 are on neither side.
const UNDECIDED: f64 = 1e-9;

/// How a training problem is made up, and what follows for the bounds.
struct Bounds {
    /// Of a witness, in units of c.
    witness: f64,
    /// Of an unlabelled instance.
    unlabelled: f64,
}

fn bounds(problem: &Problem<'_>) -> Bounds {
    let (mut negative, mut positive, mut unlabelled) = (0, 0, 0);
    for (&b, &y) in problem.train.iter().zip(problem.y) {
        let size = problem.bags.rows(b).len();
        if y > 0.0 {
            positive += 1;
            unlabelled += size;
        } else {
            negative += size;
        }
    }
    // Without negative bags everything is one class, and any bound will do.
    let negative = f64::from(negative.max(1) as u32);
    Bounds {
        witness: negative / f64::from(positive.max(1)),
        unlabelled: negative / (unlabelled.max(1)) as f64,
    }
}

/// Positions of the positive training bags.
fn positive<'p>(problem: &'p Problem<'_>) -> impl Iterator<Item = usize> + 'p {
    (0..problem.train.len()).filter(|&k| problem.y[k] > 0.0)
}

/// A belief is the witness of each positive bag, then the side of each of their instances.
impl Alternating for MissSvm {
    fn wants_means(&self) -> bool {
        true
    }

    fn averages_kernel(&self) -> bool {
        true
    }

    /// All instances, those of positive bags on both sides.
    fn rounds_work(&self, instances: f64, _: f64) -> f64 {
        650.0 * instances * instances
    }

    fn start(&self, problem: &Problem<'_>, _: u64) -> Vec<u32> {
        let witnesses = positive(problem).map(|_| MEAN);
        let sides = positive(problem).flat_map(|k| problem.bags.rows(problem.train[k]).map(|_| BOTH));
        witnesses.chain(sides).collect()
    }

    fn check_start(&self, bags: &Bags, y: &[f64], start: &[u32]) -> Result<()> {
        let sizes: Vec<usize> = (0..bags.len()).filter(|&b| y[b] > 0.0).map(|b| bags.rows(b).len()).collect();
        let whole = start.len() == sizes.len() + sizes.iter().sum::<usize>();
        let inside = |(&w, &size): (&u32, &usize)| w == MEAN || (w as usize) < size;
        if whole
            && start.iter().zip(&sizes).all(inside)
            && start[sizes.len()..].iter().all(|&side| side <= MINUS)
        {
            return Ok(());
        }
        Err(bad_start(
            "an instance of each positive bag, or 4294967295 for its mean; then for each instance of these bags 1 for \
             plus, 2 for minus, 0 for both",
        ))
    }

    fn rows(&self, problem: &Problem<'_>, belief: &[u32]) -> Vec<TrainingRow> {
        let (means, bags) = (problem.bags.instance_count(), problem.bags.len());
        let Bounds { witness, unlabelled } = bounds(problem);
        let mut rows = Vec::new();
        let (mut bag_at, mut side_at) = (0, positive(problem).count());
        for (bag, (&b, &y)) in problem.train.iter().zip(problem.y).enumerate() {
            let own = problem.bags.rows(b);
            if y < 0.0 {
                rows.extend(own.map(|at| TrainingRow { at, y, bag, place: at, factor: 1.0 }));
                continue;
            }
            let at = if belief[bag_at] == MEAN { means + b } else { own.start + belief[bag_at] as usize };
            rows.push(TrainingRow { at, y, bag, place: means + b, factor: witness });
            bag_at += 1;
            for at in own {
                let side = belief[side_at];
                side_at += 1;
                let factor = if side == BOTH { 0.5 * unlabelled } else { unlabelled };
                if side != MINUS {
                    rows.push(TrainingRow { at, y: 1.0, bag, place: at, factor });
                }
                if side != PLUS {
                    // A place of its own where it stands beside the other side.
                    let place = if side == BOTH { means + bags + at } else { at };
                    rows.push(TrainingRow { at, y: -1.0, bag, place, factor });
                }
            }
        }
        rows
    }

    fn revise(&self, problem: &Problem<'_>, _: &[u32], outputs: &[f64]) -> Vec<u32> {
        let witness = |k: usize| problem.largest(problem.train[k], |i| outputs[i]);
        let side = |i: usize| match outputs[i] {
            f if f > UNDECIDED => PLUS,
            f if f < -UNDECIDED => MINUS,
            _ => BOTH,
        };
        let sides = positive(problem).flat_map(|k| problem.bags.rows(problem.train[k]).map(side));
        positive(problem).map(witness).chain(sides).collect()
    }

    fn chosen(&self, problem: &Problem<'_>, belief: &[u32]) -> Vec<Option<u32>> {
        let mut chosen = vec![None; problem.train.len()];
        positive(problem).zip(belief).for_each(|(k, &w)| chosen[k] = (w != MEAN).then_some(w));
        chosen
    }

    fn objective(
        &self,
        problem: &Problem<'_>,
        trained: &TrainedRound<'_>,
        costs: &[f64],
        outputs: &[f64],
    ) -> Option<f64> {
        let Bounds { witness, unlabelled } = bounds(problem);
        let solved = trained.solved;
        let length: f64 = solved.coefficients.iter().zip(&solved.outputs).map(|(b, o)| b * o).sum();
        let mut sum = 0.5 * length;
        for (bag, (&b, &y)) in problem.train.iter().zip(problem.y).enumerate() {
            let own = problem.bags.rows(b).map(|i| outputs[i]);
            sum += costs[bag]
                * if y < 0.0 {
                    own.map(|f| (1.0 + f).max(0.0)).sum::<f64>()
                } else {
                    let most = own.clone().fold(f64::NEG_INFINITY, f64::max);
                    let free: f64 = own.map(|f| (1.0 - f.abs()).max(0.0)).sum();
                    witness * (1.0 - most).max(0.0) + unlabelled * free
                };
        }
        Some(sum)
    }
}
