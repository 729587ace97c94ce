//! `bagwise methods`: lists all methods, or describes one with its parameters, from the registry.

use anyhow::Result;
use bagwise::method::{Explains, Method};
use bagwise::methods::{self, by_complexity, describe};

use crate::output::{BOLD, Output, Rows, Style};
use crate::session::{Outcome, Session};

/// List all methods, or describe one with its parameters
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Args {
    /// Name of a method
    #[arg(value_name = "METHOD")]
    method: Option<String>,
}

const HELP: &str = "\
Examples:
  bagwise methods             all methods, simple ones first
  bagwise methods migraph     one method: its idea, formula, parameters and reference";

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    match &args.method {
        None => session.print(&All)?,
        Some(name) => session.print(&MethodDetails(methods::find(name)?))?,
    }
    Ok(Outcome::Done)
}

struct All;

impl Output for All {
    fn json(&self) -> Result<String> {
        Ok(serde_json::to_string_pretty(&by_complexity().into_iter().map(describe).collect::<Vec<_>>())?)
    }

    /// Programs find the names that JSON has.
    fn csv(&self) -> Rows {
        all(["name", "family", "regression", "explains", "title"], ["true", "false"])
    }

    fn text(&self, _: Style) -> String {
        all(["method", "family", "regression", "explains", "description"], ["yes", "no"]).to_string()
    }
}

/// A row per method; `[yes, no]` are the words for whether it predicts numbers, and for whether it explains predictions by
/// instance (`some`: with some of its parameters or members).
fn all(head: [&str; 5], [yes, no]: [&str; 2]) -> Rows {
    let mut rows = Rows::new(head);
    for method in by_complexity() {
        let info = method.info();
        let numbers = if info.regression { yes } else { no };
        let explains = match info.explains {
            Explains::No(_) | Explains::Bias => no,
            Explains::AdditiveFor(_) | Explains::ByMembers(_) => "some",
            _ => yes,
        };
        rows.push(vec![
            info.name.into(),
            info.family.into(),
            numbers.into(),
            explains.into(),
            info.title.into(),
        ]);
    }
    rows
}

struct MethodDetails(&'static dyn Method);

impl Output for MethodDetails {
    fn json(&self) -> Result<String> {
        Ok(serde_json::to_string_pretty(&describe(self.0))?)
    }

    fn csv(&self) -> Rows {
        let mut rows = Rows::new(["name", "default", "grid", "takes", "help"]);
        for p in self.0.params() {
            rows.push(vec![p.name.into(), p.default.into(), p.grid.into(), p.kind.expects(), p.help.into()]);
        }
        rows
    }

    fn text(&self, paint: Style) -> String {
        let info = self.0.info();
        let mut page = format!("{}: {}\n\n{}\n\n", paint.paint(info.name, BOLD), info.title, info.about);
        if !info.aliases.is_empty() {
            page += &format!("also called    {}\n", info.aliases.join(", "));
        }
        page += &format!("family         {}\n", info.family);
        page +=
            &format!("predicts       {}\n", if info.regression { "classes and numbers" } else { "classes" });
        page += &format!("scaling        {} by default (--scale)\n", info.scale.name());
        page += &format!("explanations   {}\n", info.explains);
        page += &format!("reference      {}\n", info.reference);
        for p in self.0.params() {
            page += &format!("\n  -p {}={}\n     {}\n", paint.paint(p.name, BOLD), p.default, p.help);
            page += &format!("     takes {}; tuned over {}\n", p.kind.expects(), p.grid);
        }
        page
    }
}
