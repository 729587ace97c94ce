//! `bagwise` alone: a first look at what it does, on the data set that is built in.

use anyhow::Result;

use super::inspect;
use crate::session::{Outcome, Session};

pub(crate) fn run(session: &Session) -> Result<Outcome> {
    session.say(
        "No command given, so here is `bagwise inspect musk1`: molecules (bags) in all their shapes (instances),\n\
         some of which smell of musk. `bagwise --help` lists the commands.\n",
    );
    inspect::show("musk1", &Default::default(), session)
}
