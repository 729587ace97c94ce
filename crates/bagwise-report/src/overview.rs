//! Several data sets: the table of methods by data sets, average ranks, and from five data sets on the tests over them and
//! the critical-difference diagram, or for two methods Wilcoxon's test alone (Demšar 2006).
//!
//! All of these take data sets for independent, and the same data twice are not. Runs of the same data, told by their
//! fingerprint, therefore count once: by the run that was named first, with its values as they are. A mean over them would mix
//! what may differ in protocol or parameters. The others are shown by themselves, and the page names them.

use bagwise::judge::Metric;
use bagwise::judge::ranking::{RankTable, cliques, holm, nemenyi, wilcoxon, wilcoxon_p};
use bagwise::run::Verdict;
use bagwise::{Result, count};

use crate::load::LoadedRun;
use crate::markup::{Markup, chance, fixed, listed};
use crate::plot::{Figure, figure, label, line};
use crate::results::{digits, heading};
use crate::table::{TableCell, TableOptions, numbers, table, table_with_foot, words};
use crate::view::View;

/// Tests over fewer data sets cannot find anything.
const ENOUGH: usize = 5;

/// What several data sets say together.
pub(crate) struct Overview {
    pub(crate) metric: Metric,
    pub(crate) level: f64,
    pub(crate) ranks: RankTable,
    /// Methods that some data set has no value for.
    pub(crate) left_out: Vec<String>,
    /// The runs that count: the first of each data set.
    counted: Vec<usize>,
    /// Names of runs that do not count, and of the run of the same data that does.
    again: Vec<(String, String)>,
}

/// What several runs come to.
pub(crate) enum OverviewOutcome {
    /// Several data sets are judged by the same metric and share two methods.
    Ranked(Overview),
    /// They are not or do not: why, as a sentence.
    Apart(String),
}

/// Which runs do not count, as a sentence behind another; nothing if all do.
fn same_data(again: &[(String, String)]) -> String {
    if again.is_empty() {
        return String::new();
    }
    let pairs: Vec<String> =
        again.iter().map(|(run, first)| format!("{run} uses the same data as {first}")).collect();
    format!(" The same data count only once, using the run named first: {}.", listed(&pairs))
}

impl Overview {
    /// The ranks, or why there are none.
    pub(crate) fn of(runs: &[LoadedRun], verdicts: &[Verdict]) -> Result<OverviewOutcome> {
        let first_of = |i: usize| {
            let same = |r: &LoadedRun| !r.is_external() && r.roster.fingerprint == runs[i].roster.fingerprint;
            runs.iter().position(same).unwrap_or(i)
        };
        // Nothing was trained on external cohorts, so that there is nothing to rank.
        let own = (0..verdicts.len()).filter(|&i| !runs[i].is_external());
        let (counted, others): (Vec<usize>, Vec<usize>) = own.partition(|&i| first_of(i) == i);
        let name = |i: usize| verdicts[i].data.clone();
        let again: Vec<(String, String)> = others.into_iter().map(|i| (name(i), name(first_of(i)))).collect();
        let verdicts: Vec<&Verdict> = counted.iter().map(|&i| &verdicts[i]).collect();
        let [first, _, ..] = verdicts.as_slice() else {
            let why = "All runs use the same data, so there are no average ranks. Use compare to compare methods on \
                       the same folds.";
            return Ok(OverviewOutcome::Apart(why.into()));
        };
        let metric = first.metric;
        if let Some(other) = verdicts.iter().find(|v| v.metric != metric) {
            return Ok(OverviewOutcome::Apart(format!(
                "There are no average ranks: {} uses the metric {}, {} uses {}.{}",
                first.data,
                heading(metric),
                other.data,
                heading(other.metric),
                same_data(&again)
            )));
        }
        let value = |verdict: &Verdict, method: &str| {
            verdict.table.iter().find(|l| l.method == method).and_then(|l| l.metrics[0].mean)
        };
        let mut all: Vec<String> = Vec::new();
        for line in verdicts.iter().flat_map(|v| &v.table) {
            if !all.contains(&line.method) {
                all.push(line.method.clone());
            }
        }
        let (methods, left_out): (Vec<String>, Vec<String>) =
            all.into_iter().partition(|m| verdicts.iter().all(|v| value(v, m).is_some()));
        if methods.len() < 2 {
            return Ok(OverviewOutcome::Apart(format!(
                "There are no average ranks: fewer than two methods have a value on every data set.{}",
                same_data(&again)
            )));
        }
        let rows = verdicts.iter().map(|v| methods.iter().filter_map(|m| value(v, m)).collect()).collect();
        let names = verdicts.iter().map(|v| v.data.clone()).collect();
        let ranks = RankTable::new(methods, names, rows, metric.info().larger)?;
        let level = first.level;
        Ok(OverviewOutcome::Ranked(Overview { metric, level, ranks, left_out, counted, again }))
    }

    pub(crate) fn enough(&self) -> bool {
        self.ranks.data.len() >= ENOUGH
    }

    /// The test of the only two methods there are.
    fn pair(&self) -> Option<(usize, usize)> {
        let best = self.ranks.best();
        (self.ranks.methods.len() == 2).then(|| (best, 1 - best))
    }

    pub(crate) fn alpha(&self) -> f64 {
        1.0 - self.level
    }

    /// Methods by average rank.
    pub(crate) fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.ranks.methods.len()).collect();
        order.sort_by(|&a, &b| self.ranks.average[a].total_cmp(&self.ranks.average[b]));
        order
    }

    /// The methods in that order.
    pub(crate) fn methods(&self) -> Vec<String> {
        self.order().into_iter().map(|m| self.ranks.methods[m].clone()).collect()
    }

    /// What came out, in a sentence or two, and what does not count.
    pub(crate) fn sentence(&self) -> String {
        self.outcome() + &same_data(&self.again)
    }

    fn outcome(&self) -> String {
        let (n, k) = (self.ranks.data.len(), self.ranks.methods.len());
        let best = self.ranks.best();
        let name = &self.ranks.methods[best];
        let equal = |&m: &usize| self.ranks.average[m] == self.ranks.average[best];
        let ties: Vec<&str> =
            self.order().iter().filter(|m| equal(m)).map(|&m| self.ranks.methods[m].as_str()).collect();
        let (who, verb) = match ties.len() {
            1 => (name.clone(), "has"),
            _ => (listed(&ties), "share"),
        };
        let mut text = format!(
            "Over {n} data sets {who} {verb} the best average rank by {}: {} of {k}",
            heading(self.metric),
            fixed(self.ranks.average[best], 2)
        );
        if !self.enough() {
            text += ". There are too few data sets for a test; see the data sets below.";
            return text;
        }
        if let Some((first, second)) = self.pair() {
            return text + &self.told_apart(first, second);
        }
        let friedman = self.ranks.friedman();
        let p = friedman.iman_davenport.map_or(friedman.p, |f| f.p);
        if p > self.alpha() {
            text += &format!(". Friedman's test finds no difference between the methods (p {}).", chance(p));
            return text;
        }
        let cd = nemenyi(k, n, self.alpha());
        let near: Vec<&str> = self
            .order()
            .into_iter()
            .filter(|&m| m != best && self.ranks.average[m] - self.ranks.average[best] <= cd)
            .map(|m| self.ranks.methods[m].as_str())
            .collect();
        text += &format!(". The methods differ (Friedman, p {})", chance(p));
        if near.is_empty() {
            text += ", and it is better than every other (Nemenyi).";
        } else {
            text += &format!("; not significantly different from it (Nemenyi): {}.", listed(&near));
        }
        text
    }

    /// What Wilcoxon's test says of two methods: Friedman's asks about more, and knows only who was better.
    fn told_apart(&self, first: usize, second: usize) -> String {
        let other = &self.ranks.methods[second];
        let Some(w) = wilcoxon(&self.ranks.differences(first, second)) else {
            return format!(". {other} has the same value on every data set.");
        };
        let p = chance(w.p);
        if w.p <= self.alpha() && w.plus < w.minus {
            // More often a little better, but seldom and much worse.
            return format!(
                ", but Wilcoxon's signed-rank test, which takes the size of differences into account, favours \
                 {other} (p {p})."
            );
        }
        if w.p <= self.alpha() {
            return format!(". It is better than {other} (Wilcoxon's signed-rank test, p {p}).");
        }
        let hopeless = if wilcoxon_p(w.n, 0.0) > self.alpha() {
            format!("; no result could be significant with {}", count(w.n, "difference"))
        } else {
            String::new()
        };
        format!(". Wilcoxon's signed-rank test finds no difference from {other} (p {p}){hopeless}.")
    }

    /// The table and the tests.
    pub(crate) fn write(&self, page: &mut Markup, views: &[View<'_>]) {
        page.tag("section", &[("id", "overview")], |page| {
            page.leaf("h2", &[], "All data sets");
            self.values(page, views);
            if !self.left_out.is_empty() {
                page.leaf(
                    "p",
                    &[("class", "muted")],
                    &format!(
                        "Not ranked, because they lack a value on some data set: {}.",
                        listed(&self.left_out)
                    ),
                );
            }
            if !self.enough() {
                return;
            }
            match self.pair() {
                Some((first, second)) => self.one_test(page, first, second),
                None => {
                    self.diagram(page);
                    self.tests(page);
                }
            }
        });
    }

    /// Data sets against methods, the longer of the two downwards.
    fn values(&self, page: &mut Markup, views: &[View<'_>]) {
        let (order, digits) = (self.order(), digits(self.metric));
        let sets: Vec<&View<'_>> = self.counted.iter().map(|&i| &views[i]).collect();
        let best = |d: usize| {
            let row = self.ranks.values[d].iter().copied();
            row.reduce(|a, b| if self.metric.better(b, a) { b } else { a })
        };
        let value = |d: usize, m: usize| {
            let value = Some(self.ranks.values[d][m]);
            let cell = TableCell::number(value, digits);
            if value == best(d) { cell.class("main") } else { cell }
        };
        let rank = |m: usize| TableCell::number(Some(self.ranks.average[m]), 2);
        let caption = format!("{} of methods on data sets, methods by average rank", heading(self.metric));
        let look =
            TableOptions { caption: &caption, sortable: true, class: "wide", ..TableOptions::default() };
        if order.len() > sets.len() {
            let mut columns = vec![words("method"), numbers("average rank")];
            columns.extend(sets.iter().map(|view| numbers(&view.verdict.data)));
            let rows = order.iter().map(|&m| {
                let mut cells = vec![TableCell::name(&self.ranks.methods[m]), rank(m)];
                cells.extend((0..sets.len()).map(|d| value(d, m)));
                (String::new(), cells)
            });
            table(page, look, &columns, rows.collect());
            return;
        }
        let mut columns = vec![words("data set"), numbers("bags")];
        columns.extend(order.iter().map(|&m| numbers(&self.ranks.methods[m])));
        let rows = sets.iter().enumerate().map(|(d, view)| {
            let bags = view.roster().bags.len();
            let mut cells = vec![
                TableCell::of(|m| {
                    m.tag("a", &[("href", &format!("#{}", view.id))], |m| {
                        m.leaf("bdi", &[], &view.verdict.data)
                    })
                }),
                TableCell::shown(bags as f64, &bags.to_string()),
            ];
            cells.extend(order.iter().map(|&m| value(d, m)));
            (String::new(), cells)
        });
        let mut foot = vec![TableCell::text("average rank"), TableCell::text("")];
        foot.extend(order.iter().map(|&m| rank(m)));
        table_with_foot(page, look, &columns, rows.collect(), vec![foot]);
    }

    fn one_test(&self, page: &mut Markup, first: usize, second: usize) {
        if let Some(w) = wilcoxon(&self.ranks.differences(first, second)) {
            let text = format!(
                "Exact Wilcoxon signed-rank test of {} against {}: R+ {}, R\u{2212} {} over {} that differ, p {}.",
                self.ranks.methods[first],
                self.ranks.methods[second],
                fixed(w.plus, 1),
                fixed(w.minus, 1),
                count(w.n, "data set"),
                chance(w.p)
            );
            page.leaf("p", &[("class", "lead tests")], &text);
        }
    }

    fn tests(&self, page: &mut Markup) {
        let friedman = self.ranks.friedman();
        let mut text = format!(
            "Friedman's chi-squared {} with {} degrees of freedom, p {}",
            fixed(friedman.chi2, 2),
            friedman.df,
            chance(friedman.p)
        );
        if let Some(f) = friedman.iman_davenport.filter(|f| f.f.is_finite()) {
            text += &format!(
                "; Iman and Davenport's F {} with {} and {}, p {}",
                fixed(f.f, 2),
                f.df.0,
                f.df.1,
                chance(f.p)
            );
        }
        if let Some(ties) = friedman.chi2_ties {
            text += &format!("; corrected for ties chi-squared {}", fixed(ties, 2));
        }
        page.leaf("p", &[("class", "lead tests")], &format!("{text}."));
        let best = self.ranks.best();
        let control = &self.ranks.methods[best];
        let steps = holm(&self.ranks, best, self.alpha());
        let columns = [
            words("method"),
            numbers("average rank"),
            numbers("Holm p").hint(
                "adjusted p-value: the smallest significance level at which it differs from the \
                first",
            ),
            words("differs from the first"),
            numbers("Wilcoxon p").hint("exact signed-rank test, not adjusted for the number of methods"),
            numbers("R+"),
            numbers("R\u{2212}"),
        ];
        let mut sorted: Vec<_> = steps.steps.iter().collect();
        sorted.sort_by(|a, b| self.ranks.average[a.method].total_cmp(&self.ranks.average[b.method]));
        let rows = sorted.into_iter().map(|s| {
            let w = wilcoxon(&self.ranks.differences(best, s.method));
            let cells = vec![
                TableCell::text(&self.ranks.methods[s.method]),
                TableCell::number(Some(self.ranks.average[s.method]), 2),
                TableCell::shown(s.adjusted, &chance(s.adjusted)),
                TableCell::text(if s.rejected { "yes" } else { "no" }),
                w.map_or(TableCell::text("\u{2013}"), |w| TableCell::shown(w.p, &chance(w.p))),
                TableCell::number(w.map(|w| w.plus), 1),
                TableCell::number(w.map(|w| w.minus), 1),
            ];
            (String::new(), cells)
        });
        let caption = format!("Every method against {control}");
        page.leaf("h3", &[("class", "part")], &caption);
        table(
            page,
            TableOptions { caption: &caption, sortable: true, ..TableOptions::default() },
            &columns,
            rows.collect(),
        );
    }

    /// Average ranks on a line, methods that Nemenyi's test does not tell apart joined by bars.
    fn diagram(&self, page: &mut Markup) {
        let (n, k) = (self.ranks.data.len(), self.ranks.methods.len());
        let cd = nemenyi(k, n, self.alpha());
        let order = self.order();
        let bars = cliques(&self.ranks.average, cd);
        // Names need some seven units for a letter, with the rank behind them.
        let longest = self.ranks.methods.iter().map(|m| m.chars().count()).max().unwrap_or(0);
        let left = 30.0 + 7.2 * (longest + 5) as f64;
        let right = left + 400.0;
        let x = |rank: f64| left + (rank - 1.0) / (k as f64 - 1.0) * (right - left);
        let axis = 52.0;
        let first_row = axis + 22.0 + 9.0 * bars.len() as f64;
        let half = k.div_ceil(2);
        let size = (right + left, first_row + 20.0 * half as f64 + 4.0);
        let listing: Vec<String> = order
            .iter()
            .map(|&m| format!("{} {}", self.ranks.methods[m], fixed(self.ranks.average[m], 2)))
            .collect();
        let joined: Vec<String> = bars
            .iter()
            .map(|b| listed(&b.iter().map(|&m| self.ranks.methods[m].as_str()).collect::<Vec<_>>()))
            .collect();
        let description = format!(
            "Average ranks over {n} data sets: {}. Critical difference {}. Not significantly different: {}.",
            listing.join(", "),
            fixed(cd, 2),
            if joined.is_empty() { "none".into() } else { joined.join("; ") }
        );
        let note = format!(
            "Average rank over {}, best on the left. Methods under one bar are not significantly different by \
             Nemenyi's test at {:.2}: their ranks differ by less than {}.",
            count(n, "data set"),
            self.alpha(),
            fixed(cd, 2)
        );
        let about =
            Figure { id: "cd", title: "Critical differences", note: &note, description: &description, size };
        figure(
            page,
            about,
            |svg| {
                line(svg, "i m0", (x(1.0), 20.0), (x(1.0) + cd * (right - left) / (k as f64 - 1.0), 20.0));
                label(svg, "t", "start", (x(1.0), 14.0), &format!("critical difference {}", fixed(cd, 2)));
                line(svg, "a", (left, axis), (right, axis));
                for rank in 1..=k {
                    line(svg, "a", (x(rank as f64), axis - 4.0), (x(rank as f64), axis));
                    label(svg, "t", "middle", (x(rank as f64), axis - 9.0), &rank.to_string());
                }
                for (i, bar) in bars.iter().enumerate() {
                    let y = axis + 12.0 + 9.0 * i as f64;
                    let ends = (self.ranks.average[bar[0]], self.ranks.average[bar[bar.len() - 1]]);
                    line(svg, "bar-line", (x(ends.0) - 4.0, y), (x(ends.1) + 4.0, y));
                }
                for (i, &m) in order.iter().enumerate() {
                    let rank = self.ranks.average[m];
                    let on_left = i < half;
                    let row = if on_left { i } else { k - 1 - i };
                    let y = first_row + 12.0 + 20.0 * row as f64;
                    let end = if on_left { left - 8.0 } else { right + 8.0 };
                    line(svg, "g strong", (x(rank), axis), (x(rank), y));
                    line(svg, "g strong", (x(rank), y), (end, y));
                    let text = format!("{} {}", self.ranks.methods[m], fixed(rank, 2));
                    label(
                        svg,
                        "",
                        if on_left { "end" } else { "start" },
                        (end + if on_left { -5.0 } else { 5.0 }, y + 4.0),
                        &text,
                    );
                }
            },
            None,
        );
    }
}
