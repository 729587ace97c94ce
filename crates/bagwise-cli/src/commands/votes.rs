//! The training bags that vote for new bags as a table: what `bagwise explain --votes` prints.

use anyhow::Result;
use bagwise::method::VotingBag;
use bagwise::model::Model;
use bagwise::{Ctx, Dataset};

use crate::output::{Digits, Object, Output, Rows, Style};

/// A vote for a bag by a machine.
struct Line {
    bag: String,
    machine: String,
    /// Counted from 1.
    instance: usize,
    vote: VotingBag,
}

/// All votes for some bags.
pub(crate) struct VoteTable(Vec<Line>);

impl VoteTable {
    /// The `top` votes of every bag and machine that count most.
    pub(crate) fn of(model: &Model, data: &Dataset, top: Option<u32>, ctx: &Ctx) -> Result<VoteTable> {
        let mut lines = Vec::new();
        for (bag, machines) in model.votes(&data.bags, ctx)?.into_iter().enumerate() {
            for (machine, mut votes) in machines.into_iter().enumerate() {
                if let Some(top) = top {
                    votes.sort_by(|a, b| b.part.abs().total_cmp(&a.part.abs()));
                    votes.truncate(top as usize);
                }
                lines.extend(votes.into_iter().map(|vote| Line {
                    bag: data.bags.ids()[bag].clone(),
                    machine: model.machine_name(machine),
                    instance: data.instance_number(bag, vote.instance),
                    vote,
                }));
            }
        }
        Ok(VoteTable(lines))
    }

    fn table(&self, digits: Digits) -> Rows {
        let mut rows =
            Rows::new(["bag", "machine", "instance", "training_bag", "its_instance", "votes", "value"]);
        for Line { bag, machine, instance, vote } in &self.0 {
            rows.push(vec![
                bag.clone(),
                machine.clone(),
                instance.to_string(),
                vote.bag.clone(),
                (vote.its_instance + 1).to_string(),
                vote.votes.to_string(),
                digits.show(Some(vote.part)),
            ]);
        }
        rows
    }
}

impl Output for VoteTable {
    fn json(&self) -> Result<String> {
        let object = |Line { bag, machine, instance, vote }: &Line| {
            let mut object = Object::default();
            object.put("bag", bag).put("machine", machine).put("instance", *instance);
            object.put("training_bag", &vote.bag).put("its_instance", vote.its_instance + 1);
            object.put("votes", vote.votes).put("value", vote.part);
            object
        };
        Ok(serde_json::to_string_pretty(&self.0.iter().map(object).collect::<Vec<_>>())?)
    }

    fn csv(&self) -> Rows {
        self.table(Digits::All)
    }

    fn text(&self, _: Style) -> String {
        self.table(Digits::Few(6)).to_string()
    }
}
