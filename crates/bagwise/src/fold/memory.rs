//! The memory that machines and their outputs take. Of few classes it is nothing beside a Gram; pairs of 2,000 classes are two
//! million machines, whose outputs for as many bags fill 32 GB.

use super::TrainingTask;
use bagwise_core::{Ctx, Message, Result};

/// So many bytes are never refused: the program itself takes as much.
const ALWAYS: u64 = 16_000_000;
/// Bytes of a machine besides its examples: the lists it holds, its outcome, what the allocator adds.
const MACHINE: u64 = 300;
/// Bytes of a machine for each of its examples: coefficient, output, position.
const EXAMPLE: u64 = 24;

impl TrainingTask<'_> {
    /// Bytes of the machines of some points, trained on so many bags.
    pub(super) fn machine_bytes(&self, train: usize, points: usize) -> u64 {
        let machines = self.tasks.len() as u64;
        // A bag is in every pair that its class has, or in every machine.
        let of_bag = match self.tasks.first().and_then(|task| task.minus) {
            Some(_) => self.classes().saturating_sub(1) as u64,
            None => machines,
        };
        let each = (MACHINE * machines).saturating_add(EXAMPLE * train as u64 * of_bag);
        each.saturating_mul(points as u64)
    }

    /// Bytes of the outputs of all machines for so many bags.
    pub(super) fn output_bytes(&self, bags: usize) -> u64 {
        8 * (bags as u64).saturating_mul(self.tasks.len() as u64)
    }

    /// An error if the machines of so many points, trained together on so many bags, do not fit the memory with their outputs for
    /// `tested` bags. Few machines always do.
    pub(super) fn reserve_machines(
        &self,
        train: usize,
        points: usize,
        tested: usize,
        ctx: &Ctx,
    ) -> Result<()> {
        let machines = self.tasks.len();
        let needed = self.machine_bytes(train, points).saturating_add(self.output_bytes(tested));
        if !self.has_many_machines() || needed <= ALWAYS {
            return Ok(());
        }
        let pairs = self.tasks[0].minus.is_some();
        let remedy = match pairs {
            true => Message::from(
                "train each class against the rest, which takes fewer machines, or join rare classes",
            ),
            false => Message::from("join rare classes"),
        };
        ctx.reserve(
            &format!("{machines} machines for {} classes, with their outputs", self.classes()),
            needed,
            Message::more_memory().or(remedy),
        )
    }
}
