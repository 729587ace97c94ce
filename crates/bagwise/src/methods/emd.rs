//! EMD: bags are compared by the earth mover's distance, and a support vector machine learns from the similarities.
//!
//! `EMD(A, B)` is the least mean cost of moving the uniform distribution on the instances of A to that on those of B, where a unit
//! from x to z costs `|x - z|` (`metric=euclid`) or its square. The kernel is `exp(-gamma EMD(A, B))`, with gamma relative to the
//! median over pairs of training bags. Distances are exact (`bagwise_engine::transport`); with `transport=auto` those of very large
//! bags are within one percent (`bagwise_engine::entropic`). One set of them serves all widths.
//!
//! The kernel is not always positive semi-definite. `psd=none` takes it as it is: the solver then ends at a stationary point.
//! `psd=shift` adds to the diagonal of the training Gram what its least eigenvalue lacks of 0.
//!
//! A model keeps the training bags. The output is no sum over instances, so there are no parts.
//!
//! Zhang, Marszalek, Lazebnik, Schmid: Local features and kernels for classification of texture and object categories, IJCV 73,
//! 2007; as a multi-instance method in Carbonneau et al.: Multiple instance learning: a survey, Pattern Recognition 77, 2018.

use std::sync::Arc;

use crate::families::kernel_svm::{BagKernel, CrossKernel, Grams, InstanceKernel, KernelSvm, ReferenceBags};
use crate::families::svm;
use crate::families::width::{WIDTH, Width, usual};
use crate::method::{Capability, Explains, Info, MemoryEstimate, Scope, State};
use crate::params::{Kind, ParamSpec, Point};
use crate::preprocess::Scale;
use crate::state::refuse;
use bagwise_core::{Bags, Ctx, Error, Mat, Result};
use bagwise_engine::entropic::ENTROPIC_ERROR;
use bagwise_engine::least_eigenvalue;
use bagwise_engine::transport::{LARGE_PAIR, TransportSolver, earth_movers, earth_movers_to};

/// The method, for the registry.
pub(crate) static METHOD: KernelSvm<Emd> = KernelSvm { info: &INFO, kernel: Emd };

pub(crate) struct Emd;

const WHY_NO_PARTS: &str = "the instances of two bags are matched as a whole";

static INFO: Info = Info {
    name: "emd",
    title: "earth mover's distances of bags and an SVM",
    about: "The distance between two bags is the least cost of moving the instances of one onto those of the other. Each bag has \
            mass 1, shared equally by its instances. An SVM is trained with the kernel exp(-gamma EMD). The distances are exact, \
            except between very large bags (see transport). The kernel is not always positive semi-definite; psd=shift corrects the \
            training Gram matrix.",
    reference: "Zhang, Marszalek, Lazebnik, Schmid: Local features and kernels for classification of texture and object \
                categories, IJCV 73, 2007",
    family: "bag kernel + SVM",
    scale: Scale::ZScore,
    complexity: 35,
    explains: Explains::No(WHY_NO_PARTS),
    capabilities: &[Capability::Kernel],
    params: PARAMS,
    ..Info::USUAL
};

static PARAMS: &[ParamSpec] = &[
    ParamSpec::new(
        "metric",
        Kind::Word(&["euclid", "squared"]),
        "euclid",
        "Cost of moving a unit of mass from one instance to another: their distance, or its square.",
    ),
    ParamSpec::new(
        "psd",
        Kind::Word(&["none", "shift"]),
        "none",
        "What to do if the training Gram matrix has negative eigenvalues: nothing (none), or enlarge \
         its diagonal until the least is 0 (shift).",
    ),
    ParamSpec::new(
        "transport",
        Kind::Word(&["auto", "exact", "entropic"]),
        "auto",
        "How distances are computed: exactly (exact), or approximately by entropic transport with an error of at most 1 % \
         (entropic). auto is exact unless the numbers of instances of two bags multiply to more than 4,000,000.",
    ),
    ParamSpec {
        grid: "2^-2..2^2/median",
        help: "Gamma of the kernel exp(-gamma EMD); the median is taken over the distances of all pairs of training bags.",
        ..WIDTH
    },
    svm::COST,
    svm::TUBE,
];

const SOLVERS: [(&str, TransportSolver); 3] = [
    ("auto", TransportSolver::Auto),
    ("exact", TransportSolver::Exact),
    ("entropic", TransportSolver::Entropic),
];

#[derive(Clone, Copy, Debug, PartialEq)]
struct EmdParams {
    euclid: bool,
    shift: bool,
    solver: TransportSolver,
    width: Width,
}

impl EmdParams {
    fn read(point: &Point) -> Result<EmdParams> {
        Ok(EmdParams {
            euclid: point.choice("metric", &[("euclid", true), ("squared", false)])?,
            shift: point.choice("psd", &[("none", false), ("shift", true)])?,
            solver: point.choice("transport", &SOLVERS)?,
            width: Width::read(point)?,
        })
    }
}

/// Operations of the transport between shares of the bags, and of the distances of their instances.
fn transport_work(bags: &Bags, known: f64, new: f64) -> f64 {
    /// Pivots and the arcs that each looks at, per (m + n) times the root of m n; and what every pair takes.
    const SEARCH: f64 = 500.0;
    const PAIR: f64 = 50_000.0;
    /// Entropic transport, per pair of instances.
    const ENTROPIC: f64 = 1_500.0;
    let mut large: Vec<f64> = (0..bags.len()).map(|b| bags.rows(b).len() as f64).collect();
    let largest = large.iter().copied().fold(0.0, f64::max);
    large.retain(|size| size * largest > LARGE_PAIR as f64);
    let entropic =
        |a: f64| large.iter().map(|b| a * b).filter(|pairs| *pairs > LARGE_PAIR as f64).sum::<f64>();
    let entropic = ENTROPIC * large.iter().map(|a| entropic(*a)).sum::<f64>();
    let sizes = |power: f64| (0..bags.len()).map(|b| (bags.rows(b).len() as f64).powf(power)).sum::<f64>();
    let (n, b) = (bags.instance_count() as f64, bags.len() as f64);
    let distances = n * n * (1.5 * bags.values_per_instance() + 20.0);
    known * new * (distances + entropic + 2.0 * SEARCH * sizes(1.5) * sizes(0.5) + PAIR * b * b)
}

impl BagKernel for Emd {
    fn approximation(&self, bags: &Bags, points: &[Point]) -> Option<String> {
        let mut sizes: Vec<usize> = (0..bags.len()).map(|b| bags.rows(b).len()).collect();
        sizes.sort_unstable();
        let [.., second, largest] = sizes[..] else { return None };
        let solvers = points.iter().filter_map(|p| EmdParams::read(p).ok()).map(|p| p.solver);
        let solver = solvers.into_iter().find(|s| s.approximates(second, largest))?;
        let which = match solver {
            TransportSolver::Auto => {
                format!("between bags whose numbers of instances multiply to more than {LARGE_PAIR}")
            }
            _ => "between bags of several instances".to_string(),
        };
        let error = 100.0 * ENTROPIC_ERROR;
        Some(format!(
            "emd: distances {which} are approximate, with an error of at most {error} %; transport=exact computes them exactly"
        ))
    }

    fn work(&self, bags: &Bags, _: usize) -> f64 {
        0.5 * transport_work(bags, 1.0, 1.0)
    }

    fn answer_work(&self, bags: &Bags, known: f64, new: f64) -> f64 {
        transport_work(bags, known, new)
    }

    fn needs_besides(&self, bags: &Bags) -> MemoryEstimate {
        // The bags as they are kept and packed, and the distances of the instances of the largest bag to all others.
        let largest = (0..bags.len()).map(|b| bags.rows(b).len()).max().unwrap_or(0);
        let values = bags.instance_count() * (2 * bags.width() + largest * rayon::current_num_threads());
        MemoryEstimate { fixed: 8 * values as u64, each: 8 * (bags.len() as u64).pow(2) }
    }

    fn grams(
        &self,
        bags: Arc<Bags>,
        points: &[&Point],
        scope: &Scope<'_>,
        ctx: &Ctx,
    ) -> Result<Box<dyn Grams>> {
        let bags = bags.in_memory(ctx)?;
        let params = points.iter().map(|p| EmdParams::read(p)).collect::<Result<Vec<_>>>()?;
        let mut kernels: Vec<Option<EmdKernel>> = vec![None; points.len()];
        let kinds = SOLVERS.iter().flat_map(|(_, solver)| [(true, *solver), (false, *solver)]);
        for (euclid, solver) in kinds {
            let is_here = |p: &EmdParams| p.euclid == euclid && p.solver == solver;
            let here: Vec<usize> = (0..points.len()).filter(|&i| is_here(&params[i])).collect();
            if here.is_empty() {
                continue;
            }
            let distances = earth_movers(&bags, euclid, solver, ctx)?;
            let pairs = scope.train.iter().enumerate().flat_map(|(i, &a)| {
                let distances = &distances;
                scope.train[..i].iter().map(move |&b| distances.get(a, b))
            });
            let median = usual(pairs.collect());
            for i in here {
                let gamma = params[i].width.number(median, bags.width());
                let values = distances.data().iter().map(|d| (-gamma * d).exp()).collect();
                let mut gram = Mat::new(bags.len(), bags.len(), values);
                if params[i].shift {
                    let least = least_eigenvalue(&gram, ctx)?.min(0.0);
                    (0..bags.len()).for_each(|b| gram.set(b, b, 1.0 - least));
                }
                kernels[i] = Some(EmdKernel { gamma, euclid, solver, gram });
            }
        }
        Ok(Box::new(TransportGrams { bags, kernels: kernels.into_iter().flatten().collect() }))
    }

    fn load(&self, point: &Point, state: &State) -> Result<Box<dyn ReferenceBags>> {
        let EmdParams { euclid, solver, .. } = EmdParams::read(point)?;
        let bags = state.nested("kept").bags()?;
        Ok(Box::new(TransportBags { bags, gamma: state.positive("gamma")?, euclid, solver }))
    }
}

/// The kernel of one point.
#[derive(Clone)]
struct EmdKernel {
    gamma: f64,
    euclid: bool,
    solver: TransportSolver,
    gram: Mat,
}

struct TransportGrams {
    bags: Arc<Bags>,
    kernels: Vec<EmdKernel>,
}

impl Grams for TransportGrams {
    fn gram(&self, representation: usize) -> &Mat {
        &self.kernels[representation].gram
    }

    fn bank(&self, representation: usize, train: &[usize], _: &Ctx) -> Result<Box<dyn ReferenceBags>> {
        let EmdKernel { gamma, euclid, solver, .. } = self.kernels[representation];
        Ok(Box::new(TransportBags { bags: self.bags.select(train), gamma, euclid, solver }))
    }
}

/// Training bags that others are moved onto.
struct TransportBags {
    bags: Bags,
    gamma: f64,
    euclid: bool,
    solver: TransportSolver,
}

impl ReferenceBags for TransportBags {
    fn len(&self) -> usize {
        self.bags.len()
    }

    fn width(&self) -> usize {
        self.bags.width()
    }

    fn compare(&self, bags: &Bags, ctx: &Ctx) -> Result<CrossKernel> {
        let (kept, new) = (self.bags.width(), bags.width());
        if kept != new {
            return Err(refuse(format!("it keeps bags of {kept} columns, these have {new}")));
        }
        let distances = earth_movers_to(bags, &self.bags, self.euclid, self.solver, ctx)?;
        let values = distances.data().iter().map(|d| (-self.gamma * d).exp()).collect();
        let kernel = Mat::new(bags.len(), self.bags.len(), values);
        Ok(CrossKernel { kernel, own: vec![1.0; bags.len()], kept: vec![1.0; self.bags.len()] })
    }

    fn parts(&self, _: &Bags, _: &Ctx) -> Result<InstanceKernel> {
        Err(Error::Invalid(format!("emd cannot explain by instance: {WHY_NO_PARTS}; use mind or mi-kernel")))
    }

    fn save(&self) -> Result<State> {
        let mut state = State::default();
        let mut kept = State::default();
        kept.put_bags(&self.bags)?;
        state.nest("kept", kept);
        state.put("gamma", &[self.gamma]);
        Ok(state)
    }
}
