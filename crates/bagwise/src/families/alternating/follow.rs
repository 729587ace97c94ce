//! One search, step by step: for figures and for tests.

use super::stock::{distinct, with_means};
use super::{Alternating, Alternation, Effort, Problem, Round, Search, SearchParams, kernel};
use crate::method::{AlternationStep, Follow, Scope, Trajectory};
use crate::params::Point;
use bagwise_core::{Bags, Ctx, Result};

impl<A: Alternating> Follow for Alternation<A> {
    fn follow(
        &self,
        point: &Point,
        bags: &Bags,
        y: &[f64],
        start: Option<&[u32]>,
        tolerance: f64,
        ctx: &Ctx,
    ) -> Result<Trajectory> {
        if let Some(start) = start {
            self.method.check_start(bags, y, start)?;
        }
        let (method, params) = (self.method.at(point)?, SearchParams::read(point)?);
        let train: Vec<usize> = (0..bags.len()).collect();
        let means = method.wants_means().then(|| with_means(bags)).transpose()?;
        let stock = means.as_ref().unwrap_or(bags.instances());
        let scope = Scope::of(&train);
        let mut kernels = kernel::prepare(&[params.width], stock, method.wants_few(), bags, &scope, ctx)?;
        if method.averages_kernel() {
            kernels[0].average_means(bags);
        }
        let distinct = distinct(bags)?;
        let problem = Problem { bags, distinct: &distinct, train: &train, y, seed: ctx.seed };
        let start = start.map_or_else(|| method.start(&problem, 0), <[u32]>::to_vec);
        let search = Search {
            method: &method,
            params,
            stock,
            kernel: &kernels[0],
            problem,
            weights: &vec![1.0; bags.len()],
            effort: Effort { tolerance },
        };
        let mut steps = Vec::new();
        let mut watch = |round: &Round<'_>| {
            steps.push(AlternationStep {
                choice: round.belief.to_vec(),
                next: round.next.to_vec(),
                coefficients: round.solved.coefficients.clone(),
                bias: round.bias,
                objective: round.objective(),
                outputs: round.outputs.to_vec(),
            });
        };
        let rounds = search.run(start, &mut watch, ctx)?.rounds;
        Ok(Trajectory { steps, rounds })
    }
}
