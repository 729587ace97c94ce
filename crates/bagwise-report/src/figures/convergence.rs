//! How fits ended: a table of all methods that have a solver.

use bagwise::evaluate::Status;

use crate::markup::Markup;
use crate::table::{Cell, Look, numbers, table, words};
use crate::view::View;

pub(crate) fn write(page: &mut Markup, view: &View<'_>) {
    let mut rows = Vec::new();
    for l in &view.verdict.table {
        let ended = |status: Status| view.records(&l.method).filter(|r| r.outcome.status == status).count();
        let mut steps: Vec<u64> = view.records(&l.method).filter_map(|r| r.outcome.iterations).collect();
        let gap = view
            .records(&l.method)
            .filter_map(|r| r.outcome.gap)
            .fold(None, |m: Option<f64>, g| Some(m.map_or(g, |m| m.max(g))));
        if steps.is_empty() && ended(Status::Failed) == 0 {
            continue;
        }
        steps.sort_unstable();
        let step = |at: usize| {
            steps.get(at).map_or(Cell::text("\u{2013}"), |s| Cell::shown(*s as f64, &s.to_string()))
        };
        let mut cells = vec![Cell::text(&l.method)];
        cells.extend([Status::Converged, Status::IterationLimit, Status::Cycle, Status::Failed].map(|s| {
            let n = ended(s);
            let cell = Cell::shown(n as f64, &n.to_string());
            if n > 0 && s != Status::Converged { cell.class("alert") } else { cell }
        }));
        cells.push(step(steps.len() / 2));
        cells.push(step(steps.len().saturating_sub(1)));
        cells.push(gap.map_or(Cell::text("\u{2013}"), |g| Cell::shown(g, &format!("{g:.1e}"))));
        rows.push((String::new(), cells));
    }
    if rows.is_empty() {
        return;
    }
    page.leaf("h3", &[("class", "part")], "How fits ended");
    page.leaf("p", &[("class", "lead")], "One fit per outer fold, with the chosen parameters.");
    let columns = [
        words("method"),
        numbers("converged"),
        numbers("at the limit").hint("the solver stopped before its tolerance"),
        numbers("in a cycle").hint("alternation came back to an earlier state"),
        numbers("failed"),
        numbers("steps, median"),
        numbers("steps, most"),
        numbers("largest gap").hint("violation of the optimality conditions"),
    ];
    table(page, Look { caption: "How fits ended", sortable: true, ..Look::default() }, &columns, rows);
}
