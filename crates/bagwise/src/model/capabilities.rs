//! What some models provide besides predictions: attention, graphs, representatives, maps, concepts, votes, rules.

use super::Model;
use crate::graph::Graph;
use crate::method::{Capability, CutRule, Representative, TracedRound, VotingBag, WeightedConcept};
use crate::methods;
use bagwise_core::{Bags, Csr, Ctx, Error, Result};

impl Model {
    /// For each bag and machine how much each instance is attended to, in shares of 1; an error if its method, or its way of
    /// pooling, has no attention.
    pub fn attention(&self, bags: &Bags, ctx: &Ctx) -> Result<Vec<Vec<Vec<f64>>>> {
        let mut all = Vec::with_capacity(bags.len());
        for (_, ready) in self.ready(bags, ctx)? {
            let ready = ready?;
            let mut chunk: Vec<Vec<Vec<f64>>> = vec![Vec::new(); ready.len()];
            for model in &self.models {
                let found = model.attention(&ready, ctx)?.ok_or_else(|| self.lacks(Capability::Attention))?;
                chunk.iter_mut().zip(found).for_each(|(bag, own)| bag.extend(own));
            }
            all.extend(chunk);
        }
        Ok(all)
    }

    /// For each machine what training bags say that parts of it had not seen: the share of them on the right side, or the mean
    /// squared error. Empty if the method leaves out none.
    pub fn out_of_bag(&self) -> Vec<f64> {
        self.models.iter().flat_map(|model| model.out_of_bag().to_vec()).collect()
    }

    /// The graph of each bag as the model sees it, scaled; an error if its method draws none.
    pub fn graphs(&self, bags: &Bags, ctx: &Ctx) -> Result<Vec<Graph>> {
        let mut all = Vec::with_capacity(bags.len());
        for (_, ready) in self.ready(bags, ctx)? {
            let ready = ready?;
            // All machines see the same bags.
            let graphs = self.models.first().map(|model| model.graphs(&ready, ctx)).transpose()?.flatten();
            all.extend(graphs.ok_or_else(|| self.lacks(Capability::Graphs))?);
        }
        Ok(all)
    }

    /// The instances that stand for training bags, machine after machine; empty if the method chooses none.
    pub fn representatives(&self) -> Vec<Representative> {
        let mut first = 0;
        let mut all = Vec::new();
        for model in &self.models {
            all.extend(
                model
                    .representatives()
                    .iter()
                    .map(|r| Representative { output: first + r.output, ..r.clone() }),
            );
            first += model.outputs();
        }
        all
    }

    /// The search for the instances that decide, machine after machine and round by round; empty if the method trains
    /// once.
    pub fn trace(&self) -> Vec<TracedRound> {
        let mut first = 0;
        let mut all = Vec::new();
        for model in &self.models {
            all.extend(model.trace().iter().map(|r| TracedRound { output: first + r.output, ..r.clone() }));
            first += model.outputs();
        }
        all
    }

    /// The feature map of each bag; an error if its method has none.
    pub fn map(&self, bags: &Bags, ctx: &Ctx) -> Result<Csr> {
        let mut all: Option<Csr> = None;
        for (_, ready) in self.ready(bags, ctx)? {
            ctx.check()?;
            // All machines see the same map.
            let map = self.models.first().map(|model| model.map(&ready?, ctx)).transpose()?.flatten();
            let map = map.ok_or_else(|| self.lacks(Capability::FeatureMap))?;
            let all = all.get_or_insert_with(|| Csr::empty(map.cols()));
            (0..map.rows()).for_each(|b| {
                all.push_row(std::iter::zip(map.row(b).0, map.row(b).1).map(|(&c, &v)| (c, v)))
            });
        }
        all.ok_or_else(|| self.lacks(Capability::FeatureMap))
    }

    /// For each machine the concepts it is made of; an error if its method has none.
    pub fn concepts(&self) -> Result<Vec<Vec<WeightedConcept>>> {
        let mut all = Vec::new();
        for model in &self.models {
            all.extend(model.concepts().ok_or_else(|| self.lacks(Capability::Concepts))?);
        }
        Ok(all)
    }

    /// For each bag and machine the training bags that vote, and by which instances; an error if its method lets none
    /// vote.
    pub fn votes(&self, bags: &Bags, ctx: &Ctx) -> Result<Vec<Vec<Vec<VotingBag>>>> {
        let mut all = Vec::with_capacity(bags.len());
        for (_, ready) in self.ready(bags, ctx)? {
            let ready = ready?;
            // Nothing is learned from labels before bags vote, so that one model has all machines.
            let votes = self.models.first().map(|model| model.votes(&ready, ctx)).transpose()?.flatten();
            all.extend(votes.ok_or_else(|| self.lacks(Capability::Votes))?);
        }
        Ok(all)
    }

    /// For each machine the rules it adds up; an error if its method has none.
    pub fn rules(&self) -> Result<Vec<Vec<CutRule>>> {
        let mut all = Vec::new();
        for model in &self.models {
            all.extend(model.rules().ok_or_else(|| self.lacks(Capability::Rules))?);
        }
        Ok(all)
    }

    fn lacks(&self, capability: Capability) -> Error {
        methods::lacks(&self.header.method, capability)
    }
}
