//! CCE, constructive clustering ensemble: several codebooks of different sizes, a machine on each, and a vote.
//!
//! Codebook m divides the training instances into `m step` groups by k-means. A bag becomes one bit for each group: whether
//! any of its instances lies there. A linear support vector machine learns on the bits of each codebook. `combine=vote`: the
//! score is `(sum_m sign f_m + tanh(mean f) / 2) / members`, whose sign is the majority's; ties go to the mean. `combine=mean`: the
//! mean of f_m, in which the weight of a bit is shared by the instances that set it.
//!
//! Zhou, Zhang: Solving multi-instance problems with classifier ensemble based on constructive clustering, KAIS 11, 2007. The
//! rule for ties is ours.

use std::sync::Arc;

use bagwise_svm::{Machine, SolveOutcome};

use crate::families::codebook::{
    Codebook, CodebookParams, Summariser, Summary, USUAL_ITERATIONS, VectorNorm, learn_codebooks,
    learning_memory, learning_work, parts, summarise,
};
use crate::families::kernel_svm::with_shared_bias;
use crate::families::svm::{self, SvmParams};
use crate::method::{
    Explains, Explanation, Info, MemoryEstimate, Method, Outputs, Predictor, Prepared, Scope, SolvedFit,
    State, Training, converged,
};
use crate::params::{Kind, ParamSpec, Point, representations};
use crate::state::refuse;
use bagwise_core::{Bags, Ctx, Error, Mat, Message, Result};
use bagwise_engine::{dot, row_products};

/// The method, for the registry.
pub(crate) static METHOD: Cce = Cce;

pub(crate) struct Cce;

static INFO: Info = Info {
    name: "cce",
    title: "a vote of linear SVMs on which clusters of several codebooks occur in a bag",
    about: "k-means clusters the training instances into step, 2 step, ... clusters, once for each member of the ensemble. For \
            each member a bag becomes one bit per cluster: whether any of its instances belongs to it. A linear SVM is \
            trained on the bits of each member, and the members vote.",
    reference: "Zhou, Zhang: Solving multi-instance problems with classifier ensemble based on constructive clustering, KAIS 11, \
                2007",
    family: "ensemble of embeddings + SVM",
    regression: false,
    complexity: 22,
    explains: Explains::AdditiveFor(&[("combine", "mean")]),
    params: PARAMS,
    ..Info::USUAL
};

static PARAMS: &[ParamSpec] = &[
    ParamSpec::new("members", Kind::Whole { least: 1, most: 100, words: &[] }, "5", "Number of codebooks, each with an SVM that votes."),
    ParamSpec::new(
        "step",
        Kind::Whole { least: 1, most: 600, words: &[] },
        "10",
        "Clusters of the first codebook; the others have two, three, ... times as many, but no more than there are distinct \
         training instances.",
    )
    .grid("5,10,20"),
    ParamSpec::new(
        "combine",
        Kind::Word(&["vote", "mean"]),
        "vote",
        "How members are combined: vote counts their signs and breaks ties by the mean; mean averages their outputs, which can \
         be explained.",
    )
    .solver(),
    ParamSpec { default: "1", grid: "1", ..svm::COST },
];

/// An output of this size is rounding, and must not decide a vote: bits make exact zeros likely.
const NOTHING: f64 = 1e-9;

/// How members make a score.
#[derive(Clone, Copy, Debug, PartialEq)]
enum VoteRule {
    Vote,
    Mean,
}

impl VoteRule {
    fn read(point: &Point) -> Result<VoteRule> {
        point.choice("combine", &[("vote", VoteRule::Vote), ("mean", VoteRule::Mean)])
    }

    fn score(self, outputs: &[f64]) -> f64 {
        let members = outputs.len() as f64;
        let mean = outputs.iter().sum::<f64>() / members;
        match self {
            VoteRule::Mean => mean,
            VoteRule::Vote => {
                let votes: f64 = outputs.iter().map(|f| if *f < -NOTHING { -1.0 } else { 1.0 }).sum();
                (votes + mean.tanh() / 2.0) / members
            }
        }
    }
}

/// How the codebooks of a point are learned.
fn wanted(point: &Point) -> Result<Vec<CodebookParams>> {
    let (members, step) = (point.number("members")? as usize, point.number("step")? as usize);
    let of = |m: usize| CodebookParams {
        centres: m * step,
        energy: None,
        mixture: false,
        iterations: USUAL_ITERATIONS,
    };
    Ok((1..=members).map(of).collect())
}

/// Members, and cells of one, as costs are estimated.
const USUAL_MEMBERS: usize = 5;
const USUAL_CELLS: usize = 35;

/// Bits of bags: groups that are touched.
fn bits(bags: &Bags, codebooks: &[Arc<Codebook>], ctx: &Ctx) -> Result<Vec<Mat>> {
    let ready = |codebook| Summariser::new(codebook, Summary::Shares, VectorNorm::Bits, ctx);
    summarise(bags, &codebooks.iter().map(|c| ready(c)).collect::<Result<Vec<_>>>()?, ctx)
}

impl Method for Cce {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn work(&self, bags: &Bags, representations: usize) -> f64 {
        let n = bags.len() as f64;
        let codebooks = representations * USUAL_MEMBERS;
        let products = n * n * (USUAL_CELLS * codebooks) as f64;
        learning_work(bags, codebooks, USUAL_CELLS as f64, false) + products
    }

    fn needs(&self, bags: &Bags) -> MemoryEstimate {
        let n = bags.len();
        let each = 8 * USUAL_MEMBERS * n * (n + 2 * USUAL_CELLS);
        MemoryEstimate { fixed: learning_memory(bags, false), each: each as u64 }
    }

    fn prepare(
        &self,
        bags: Arc<Bags>,
        points: &[Point],
        scope: &Scope<'_>,
        ctx: &Ctx,
    ) -> Result<Box<dyn Prepared>> {
        let (distinct, representation) = representations(PARAMS, points);
        let wanted = distinct.into_iter().map(wanted).collect::<Result<Vec<_>>>()?;
        // Codebooks of one size are the same for all points.
        let mut sizes: Vec<CodebookParams> = Vec::new();
        for one in wanted.iter().flatten() {
            if !sizes.contains(one) {
                sizes.push(*one);
            }
        }
        ctx.reserve(
            "Grams of all members",
            8 * (sizes.len() * bags.len() * bags.len()) as u64,
            Message::more_memory().or("choose fewer members"),
        )?;
        let learned = learn_codebooks(&sizes, &bags, scope, ctx)?;
        let bits = bits(&bags, &learned, ctx)?;
        let grams = bits.iter().map(|bits| row_products(bits, None, ctx)).collect::<Result<_>>()?;
        let place =
            |one: &CodebookParams| sizes.iter().position(|size| size == one).expect("it was collected");
        Ok(Box::new(CcePrepared {
            members: wanted.iter().map(|own| own.iter().map(place).collect()).collect(),
            codebooks: learned,
            bits,
            grams,
            machines: points.iter().map(SvmParams::read).collect::<Result<_>>()?,
            combine: points.iter().map(VoteRule::read).collect::<Result<_>>()?,
            representation,
        }))
    }

    fn load(&self, point: &Point, state: &State) -> Result<Box<dyn Predictor>> {
        let (combine, wanted) = (VoteRule::read(point)?, wanted(point)?);
        let mut members = Vec::with_capacity(wanted.len());
        for (m, params) in wanted.iter().enumerate() {
            let own = state.nested(&format!("member{m}"));
            let codebook = Arc::new(Codebook::load(params, &own.nested("codebook"))?);
            let weights = own.mat("weights")?;
            if weights.cols() != codebook.count() {
                return Err(refuse(format!("{} weights for {} cells", weights.cols(), codebook.count())));
            }
            let biases = own.vector("biases", weights.rows())?;
            members.push(CodebookMember { codebook, weights, biases });
        }
        let fits = |m: &CodebookMember| {
            m.biases.len() == members[0].biases.len() && m.codebook.width() == members[0].codebook.width()
        };
        if !members.iter().all(fits) {
            return Err(refuse("its members differ in their outputs or columns"));
        }
        Ok(Box::new(CceModel { members, combine }))
    }
}

struct CcePrepared {
    /// Which codebooks are the members of each representation.
    members: Vec<Vec<usize>>,
    codebooks: Vec<Arc<Codebook>>,
    /// For each codebook: the bits of all bags, and their inner products.
    bits: Vec<Mat>,
    grams: Vec<Mat>,
    machines: Vec<SvmParams>,
    combine: Vec<VoteRule>,
    representation: Vec<usize>,
}

/// A machine for each member, and the bags they were trained on.
struct CceFit {
    machines: Vec<Machine>,
    bags: Vec<usize>,
}

impl CcePrepared {
    fn members(&self, point: usize) -> &[usize] {
        &self.members[self.representation[point]]
    }

    /// The weights of bits.
    fn weights(&self, fit: &CceFit, m: usize, codebook: usize) -> Vec<f64> {
        let bits = &self.bits[codebook];
        let mut weights = vec![0.0; bits.cols()];
        for (i, coefficient) in fit.machines[m].support() {
            let row = bits.row(fit.bags[i]);
            weights.iter_mut().zip(row).for_each(|(w, bit)| *w += coefficient * bit);
        }
        weights
    }
}

impl Prepared for CcePrepared {
    fn fit(&self, points: &[usize], training: &Training<'_>, ctx: &Ctx) -> Result<Vec<SolvedFit>> {
        let here: Vec<SvmParams> = points.iter().map(|&p| self.machines[p]).collect();
        let mut machines: Vec<Vec<Machine>> = points.iter().map(|_| Vec::new()).collect();
        for &codebook in self.members(points[0]) {
            let solved = svm::solve(&self.grams[codebook], &here, training, ctx)?;
            machines.iter_mut().zip(solved).for_each(|(own, machine)| own.push(machine));
        }
        let fits = points.iter().zip(machines).map(|(&point, machines)| SolvedFit {
            point,
            outcome: worst(&machines),
            rounds: None,
            solution: Box::new(CceFit { machines, bags: training.bags.to_vec() }),
        });
        Ok(fits.collect())
    }

    fn scores(&self, fit: &SolvedFit, bags: &[usize], _: &Ctx) -> Result<Vec<f64>> {
        let own = fit.of::<CceFit>();
        let members = self.members(fit.point);
        let output = |m: usize, b: usize| {
            let gram = &self.grams[members[m]];
            own.machines[m].output(|i| gram.get(b, own.bags[i]))
        };
        let combine = self.combine[fit.point];
        let score =
            |&b: &usize| combine.score(&(0..members.len()).map(|m| output(m, b)).collect::<Vec<f64>>());
        Ok(bags.iter().map(score).collect())
    }

    fn model(&self, fits: &[&SolvedFit], _: &[usize], _: &Ctx) -> Result<Box<dyn Predictor>> {
        let member = |(m, &codebook): (usize, &usize)| {
            let solutions: Vec<&CceFit> = fits.iter().map(|fit| fit.of()).collect();
            let weights: Vec<Vec<f64>> = solutions.iter().map(|fit| self.weights(fit, m, codebook)).collect();
            CodebookMember {
                codebook: Arc::clone(&self.codebooks[codebook]),
                weights: Mat::from_rows(&weights),
                biases: solutions.iter().map(|fit| fit.machines[m].bias).collect(),
            }
        };
        let members = self.members(fits[0].point).iter().enumerate().map(member).collect();
        Ok(Box::new(CceModel { members, combine: self.combine[fits[0].point] }))
    }
}

/// The outcome of the members together: steps of all, and how the one ended that ended worst.
fn worst(machines: &[Machine]) -> Option<SolveOutcome> {
    let outcomes = machines.iter().map(|m| m.outcome);
    outcomes.reduce(|all, next| {
        let worse = if converged(&all) { next } else { all };
        SolveOutcome {
            status: worse.status,
            iterations: all.iterations + next.iterations,
            objective: all.objective + next.objective,
            kkt_gap: all.kkt_gap.max(next.kkt_gap),
            duality_gap: all.duality_gap + next.duality_gap,
        }
    })
}

/// One codebook and its machines.
struct CodebookMember {
    codebook: Arc<Codebook>,
    /// Outputs x cells.
    weights: Mat,
    biases: Vec<f64>,
}

struct CceModel {
    members: Vec<CodebookMember>,
    combine: VoteRule,
}

impl CceModel {
    fn codebooks(&self) -> Vec<Arc<Codebook>> {
        self.members.iter().map(|m| Arc::clone(&m.codebook)).collect()
    }
}

impl Predictor for CceModel {
    fn outputs(&self) -> usize {
        self.members[0].biases.len()
    }

    fn width(&self) -> Option<usize> {
        Some(self.members[0].codebook.width())
    }

    fn predict(&self, bags: &Bags, ctx: &Ctx) -> Result<Outputs> {
        let bits = bits(bags, &self.codebooks(), ctx)?;
        let mut scores = Mat::zeros(bags.len(), self.outputs());
        for b in 0..scores.rows() {
            for k in 0..self.outputs() {
                let output = |(member, bits): (&CodebookMember, &Mat)| {
                    member.biases[k] + dot(member.weights.row(k), bits.row(b))
                };
                let outputs: Vec<f64> = self.members.iter().zip(&bits).map(output).collect();
                scores.set(b, k, self.combine.score(&outputs));
            }
        }
        let nearest = vec![None; scores.rows()];
        Ok(Outputs { scores, nearest })
    }

    fn explain(&self, bags: &Bags, ctx: &Ctx) -> Result<Vec<Vec<Explanation>>> {
        if self.combine == VoteRule::Vote {
            return Err(Error::Invalid(
                "cce cannot explain a vote of its members by instance; fit it with combine=mean, whose outputs are \
                 sums over instances"
                    .into(),
            ));
        }
        let (count, outputs) = (self.members.len() as f64, self.outputs());
        let mut sums = Mat::zeros(bags.instance_count(), outputs);
        let mut biases = vec![0.0; outputs];
        for member in &self.members {
            let summariser = Summariser::new(&member.codebook, Summary::Shares, VectorNorm::Bits, ctx)?;
            let own = parts(bags, &summariser, &member.weights, ctx)?;
            sums.data_mut().iter_mut().zip(own.data()).for_each(|(sum, part)| *sum += part / count);
            biases.iter_mut().zip(&member.biases).for_each(|(sum, bias)| *sum += bias / count);
        }
        Ok(with_shared_bias(&sums, &biases, bags))
    }

    fn shared_intercepts(&self) -> Option<Vec<f64>> {
        let mean =
            |k: usize| self.members.iter().map(|m| m.biases[k]).sum::<f64>() / self.members.len() as f64;
        Some((0..self.outputs()).map(mean).collect())
    }

    fn save(&self) -> Result<State> {
        let mut state = State::default();
        for (m, member) in self.members.iter().enumerate() {
            let (mut own, mut codebook) = (State::default(), State::default());
            member.codebook.save(&mut codebook);
            own.nest("codebook", codebook);
            own.put_mat("weights", &member.weights);
            own.put("biases", &member.biases);
            state.nest(&format!("member{m}"), own);
        }
        Ok(state)
    }
}
