//! Results of an experiment beside what a paper printed: a [`Paper`] for the page, from printed tables and our cells.

use bagwise::judge::ProtocolName;
use bagwise::judge::ranking::{RankTable, bonferroni_dunn, holm, meta_rank, wilcoxon};
use bagwise::{Dataset, Target};
use bagwise_report::paper::{Agreement, Paper, PaperCell, PaperSummary, PaperTable, RankAxis};

use crate::experiment::printed::PrintedRow;
use crate::experiment::{Data, Entry, Experiment, Measure, PrintedTable};

/// The level of the tests that papers print, and of the bars of their axes of ranks.
const TESTS: f64 = 0.05;
const BARS: f64 = 0.10;

/// What came out for a method on a data set.
pub(crate) enum Cell {
    /// A result.
    OurResult(OurResult),
    /// The data set is not there, and why or what would help.
    Missing(String),
    /// The user left out the data set or the method.
    LeftOut,
    /// bagwise does not have the method.
    NoMethod,
}

/// A result.
#[derive(Default)]
pub(crate) struct OurResult {
    /// Of each repeat, or of each seed if there are several.
    pub(crate) values: Vec<Option<f64>>,
    pub(crate) mean: Option<f64>,
    pub(crate) sd: Option<f64>,
    pub(crate) interval: Option<(f64, f64)>,
    /// Of all seeds together, as everything below.
    pub(crate) repeats: usize,
    pub(crate) limited: usize,
    /// Of the limited, those that came back to an earlier state.
    pub(crate) cycled: usize,
    /// Rounds of alternations.
    pub(crate) rounds: usize,
    pub(crate) fits: usize,
    pub(crate) failed: usize,
    pub(crate) seconds: f64,
    pub(crate) saw_test_bags: bool,
}

impl OurResult {
    /// Whether every fit was judged, and the metric has no value all the same.
    fn is_undefined(&self) -> bool {
        self.mean.is_none() && self.failed == 0
    }

    fn remark(&self, measure: Measure) -> String {
        let mut remarks = Vec::new();
        let undefined = measure == Measure::Metric && self.is_undefined();
        if undefined {
            remarks.push("the metric has no value for what was predicted".to_string());
        }
        if self.failed > 0 {
            remarks.push(format!("{} of {} fits failed", self.failed, self.fits));
        }
        if self.limited > 0 && !undefined {
            let OurResult { limited, cycled, fits, .. } = self;
            let mut remark = format!(
                "{limited} of {fits} fits ended at a limit ({}) or in a cycle ({cycled})",
                limited - cycled
            );
            if self.rounds > 0 {
                remark += &format!(", {:.0} rounds on average", self.rounds as f64 / *fits as f64);
            }
            remarks.push(remark);
        }
        if self.saw_test_bags {
            remarks.push("saw test bags".into());
        }
        remarks.join("; ")
    }
}

impl Cell {
    /// Mean, deviation and interval in the unit of the printed numbers.
    pub(crate) fn shown(&self, table: &PrintedTable) -> (Option<f64>, Option<f64>, Option<(f64, f64)>) {
        let unit = if table.percent { 100.0 } else { 1.0 };
        match (self, table.measure) {
            (Cell::OurResult(ours), Measure::Metric) => (
                ours.mean.map(|m| m * unit),
                ours.sd.map(|s| s * unit),
                ours.interval.map(|(low, high)| (low * unit, high * unit)),
            ),
            (Cell::OurResult(ours), Measure::Seconds) => {
                (Some(ours.seconds / ours.repeats as f64), None, None)
            }
            _ => (None, None, None),
        }
    }
}

/// What can be counted of a data set, by the names that papers give it.
pub(crate) fn counts(data: &Dataset) -> bagwise::Result<Vec<(&'static str, f64)>> {
    let (bags, instances, width) = (data.bags.len(), data.bags.instance_count(), data.bags.width());
    let mut counts = vec![
        ("bags", bags as f64),
        ("instances", instances as f64),
        ("attributes", width as f64),
        ("average_bag_size", instances as f64 / bags as f64),
    ];
    if let Some(Target::Classes { codes, names }) = &data.target
        && names.len() == 2
    {
        let positive = codes.iter().filter(|&&c| c == 1).count();
        counts.extend([("positive_bags", positive as f64), ("negative_bags", (bags - positive) as f64)]);
    }
    let mut filled = 0usize;
    data.bags.instances().each_row(0..instances, |_, row| {
        filled += row.iter().filter(|v| **v != 0.0).count();
    })?;
    // Papers on text call the share of values that are not zero the zero ratio.
    counts.push(("zero_ratio", filled as f64 / (instances * width) as f64));
    Ok(counts)
}

/// Everything that came out, beside everything that was printed.
pub(crate) struct Results<'a> {
    /// The experiment.
    pub(crate) experiment: &'a Experiment,
    /// Its tables.
    pub(crate) tables: Vec<PrintedTable>,
    /// `cells[data set][table][method]`.
    pub(crate) cells: Vec<Vec<Vec<Cell>>>,
    /// What can be counted of each data set that is here.
    pub(crate) counted: Vec<Vec<(&'static str, f64)>>,
}

impl Results<'_> {
    /// A cell whose remark says whether the result lies where the experiment expects it.
    fn judged_cell(&self, line: &Line<'_>) -> PaperCell {
        let mut cell = line.cell();
        let expected = self.experiment.expected(line.method, &line.data.name).ok().flatten();
        if let (Some([low, high]), Some(ours)) = (expected, cell.ours) {
            let digits = digits(line.table);
            let within = if (low..=high).contains(&ours) { "within" } else { "outside" };
            let remark = format!("{within} the expected {low:.digits$} to {high:.digits$}");
            cell.remark = [cell.remark, remark].join("; ").trim_start_matches("; ").into();
        }
        cell
    }
}

/// Whether the larger of two values of a table is the better one.
fn larger_is_better(table: &PrintedTable) -> bool {
    table.measure == Measure::Metric && table.metric.info().larger
}

/// A line of a table.
pub(crate) struct Line<'r> {
    pub(crate) table: &'r PrintedTable,
    pub(crate) data: &'r Data,
    pub(crate) method: &'r Entry,
    pub(crate) cell: &'r Cell,
}

impl Results<'_> {
    /// Every cell of every table.
    pub(crate) fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        (0..self.tables.len()).flat_map(|t| self.lines_of(t))
    }

    fn lines_of(&self, t: usize) -> impl Iterator<Item = Line<'_>> {
        let table = &self.tables[t];
        let sets = self.experiment.data.iter().zip(&self.cells).filter(move |(d, _)| table.has(d));
        sets.flat_map(move |(data, cells)| {
            let pairs = self.experiment.method.iter().zip(&cells[t]);
            pairs.map(move |(method, cell)| Line { table, data, method, cell })
        })
    }

    /// The page.
    pub(crate) fn paper(&self, protocol: String) -> anyhow::Result<Paper> {
        let ranks: Vec<Option<RankTable>> = (0..self.tables.len()).map(|t| self.ranks(t)).collect();
        // A quick version may leave nothing of a table.
        let tables = (0..self.tables.len())
            .map(|t| self.table(t, ranks[t].as_ref()))
            .filter(|table| !table.data.is_empty())
            .collect();
        let ranks_of_ranks = self.ranks_of_ranks(&ranks)?;
        Ok(Paper {
            source: self.experiment.source.clone(),
            protocol,
            quick: self.experiment.shortened.clone().unwrap_or_default(),
            notes: self.experiment.notes.clone(),
            tables,
            axes: self.axes_of_ranks(&ranks_of_ranks),
            ranks_of_ranks,
            facts: self.facts()?,
            ..Paper::default()
        })
    }

    fn table(&self, t: usize, ranks: Option<&RankTable>) -> PaperTable {
        let table = &self.tables[t];
        let data = self.experiment.data.iter().filter(|d| table.has(d)).map(|d| d.name.clone()).collect();
        let scope = ranks.map_or(String::new(), |r| {
            format!("ours over {} data sets and {} methods", r.data.len(), r.methods.len())
        });
        let part = self.part_of_sets(t);
        let scope_of = |row: &PrintedRow| match &part {
            _ if !table.numbers.takes(row) => "",
            Some(part) if table.numbers.averages(row) => part,
            _ => &scope,
        };
        let summary = |row: &PrintedRow| PaperSummary {
            of: if row.set.starts_with('(') {
                row.method.clone()
            } else {
                format!("{}, {}", row.method, row.set)
            },
            what: row.metric.clone(),
            printed: row.value.clone(),
            ours: self.summary(t, row, ranks).unwrap_or_default(),
            remark: [row.remark.as_str(), scope_of(row)].join("; ").trim_matches([';', ' ']).to_string(),
        };
        let numbers = || self.tables.iter().map(|t| &t.numbers);
        let summaries = table.numbers.summaries.iter().filter(|row| table.numbers.shows(row, numbers()));
        PaperTable {
            title: table.title.clone(),
            quantity: match (table.measure, table.percent) {
                (Measure::Seconds, _) => "wall-clock seconds of a repeat".into(),
                (_, percent) => {
                    let unit = if percent { " in percent" } else { "" };
                    let mean =
                        if self.is_curve() { ", mean over all shares of the training bags" } else { "" };
                    format!("{}{unit}{mean}", table.metric.info().title)
                }
            },
            lower_is_better: !larger_is_better(table),
            digits: digits(table),
            data,
            methods: self.experiment.method.iter().map(|m| m.shown().to_string()).collect(),
            cells: self.lines_of(t).map(|line| self.judged_cell(&line)).collect(),
            summaries: summaries.chain(&table.tests).map(summary).collect(),
            axes: self.axes(table, ranks),
        }
    }

    /// Whether the runs follow a curve: a value per share of the training bags.
    fn is_curve(&self) -> bool {
        let follows = |data: &Data| {
            self.experiment.judged(data).is_ok_and(|j| j.protocol == ProtocolName::LearningCurve)
        };
        self.experiment.data.iter().any(follows)
    }

    /// Ranks of the methods that the paper ranks, as far as they have a value on every data set that ran: with a baseline of ours
    /// among them, they could not be compared with the printed ranks.
    fn ranks(&self, t: usize) -> Option<RankTable> {
        let table = &self.tables[t];
        let methods: Vec<&Entry> = self.experiment.method.iter().collect();
        let rows = self.values(t);
        let ranked = table.numbers.ranked();
        let takes_part = |&m: &usize| {
            (ranked.is_empty() || ranked.contains(methods[m].name.as_str()))
                && rows.iter().all(|(_, row)| row[m].is_some())
        };
        let all: Vec<usize> = (0..methods.len()).filter(takes_part).collect();
        let values = rows.iter().map(|(_, row)| all.iter().filter_map(|&m| row[m]).collect()).collect();
        let larger = larger_is_better(table);
        let names = all.iter().map(|&m| methods[m].name.clone()).collect();
        RankTable::new(names, rows.into_iter().map(|(d, _)| d).collect(), values, larger).ok()
    }

    /// Our values on the data sets of a table that ran, a column for each method.
    fn values(&self, t: usize) -> Vec<(String, Vec<Option<f64>>)> {
        let table = &self.tables[t];
        (self.experiment.data.iter().zip(&self.cells))
            .filter(|(d, _)| table.has(d))
            .map(|(d, cells)| (d.name.clone(), cells[t].iter().map(|c| c.shown(table).0).collect()))
            .filter(|(_, row): &(String, Vec<Option<f64>>)| row.iter().any(Option::is_some))
            .collect()
    }

    /// A method's mean over the data sets that ran, if it has a value on each.
    fn average(&self, t: usize, method: &str) -> Option<f64> {
        let m = self.experiment.method.iter().position(|entry| entry.name == method)?;
        let values: Vec<f64> = self.values(t).iter().map(|(_, row)| row[m]).collect::<Option<_>>()?;
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }

    /// Over how many data sets our averages are, if the paper's are over more.
    fn part_of_sets(&self, t: usize) -> Option<String> {
        let table = &self.tables[t];
        let here = self.experiment.data.iter().filter(|d| table.has(d)).count();
        // A table that lists its data sets shares its numbers with others.
        let all = if table.lists_data() { here } else { table.numbers.sets().max(here) };
        let ran = self.values(t).len();
        (0 < ran && ran < all).then(|| format!("ours over {ran} of {all} data sets"))
    }

    /// Our value of a number that stands for several cells; none if it is not about what the table shows.
    fn summary(&self, t: usize, row: &PrintedRow, ranks: Option<&RankTable>) -> Option<String> {
        if !self.tables[t].numbers.takes(row) {
            return None;
        }
        let few = digits(&self.tables[t]);
        // A paper may average methods that it does not rank.
        if self.tables[t].numbers.averages(row) {
            return self.average(t, &row.method).map(|mean| format!("{mean:.few$}"));
        }
        let ranks = ranks?;
        let at = |name: &str| ranks.methods.iter().position(|m| m == name);
        if let Some((control, other)) = row.method.split_once(" vs. ") {
            let (control, other) = (at(control)?, at(other)?);
            let signed = || wilcoxon(&ranks.differences(control, other));
            return Some(match row.metric.as_str() {
                "holm_threshold" => {
                    let steps = holm(ranks, control, TESTS).steps;
                    format!("{:.4}", steps.iter().find(|s| s.method == other)?.threshold)
                }
                "wilcoxon_p" => format!("{:.4}", signed()?.p),
                "wilcoxon_r_plus" => format!("{:.1}", signed()?.plus),
                "wilcoxon_r_minus" => format!("{:.1}", signed()?.minus),
                _ => return None,
            });
        }
        if let Some(rest) = row.metric.strip_prefix("win/tie/loss against ") {
            let other = rest.split(" over ").next()?;
            return if row.set.starts_with('(') {
                let differences = ranks.differences(at(&row.method)?, at(other)?);
                Some(won(differences.into_iter()))
            } else {
                let of = |name: &str| {
                    let line = self
                        .lines_of(t)
                        .find(|l| l.data.printed_name() == row.set && l.method.name == name)?;
                    match line.cell {
                        Cell::OurResult(ours) => Some(&ours.values),
                        _ => None,
                    }
                };
                let pairs = of(&row.method)?.iter().zip(of(other)?);
                Some(won(pairs.filter_map(|(a, b)| Some((*a)? - (*b)?))))
            };
        }
        let m = at(&row.method)?;
        row.is_rank().then(|| format!("{:.2}", ranks.average[m]))
    }

    /// Average ranks on axes, as printed and as they came out.
    fn axes(&self, table: &PrintedTable, ranks: Option<&RankTable>) -> Vec<RankAxis> {
        let Some(control) = &table.control else { return Vec::new() };
        let rank = |r: &PrintedRow| Some((r.method.clone(), r.number()?));
        let printed: Vec<(String, f64)> = table.numbers.ranks().filter_map(rank).collect();
        let mut axes = Vec::new();
        if printed.len() > 1 {
            axes.push(RankAxis {
                title: format!("{}: ranks as printed", table.title),
                // Over all data sets of the paper, however many are run here.
                length: bonferroni_dunn(printed.len(), table.numbers.sets(), BARS),
                level: BARS,
                ranks: printed,
                control: control.clone(),
            });
        }
        let shown = |name: &String| {
            let entry = self.experiment.method.iter().find(|m| m.name == *name);
            entry.map_or(name.clone(), |m| m.shown().to_string())
        };
        if let Some(ranks) = ranks {
            axes.push(RankAxis {
                title: format!("{}: our ranks over {} data sets", table.title, ranks.data.len()),
                ranks: ranks.methods.iter().map(shown).zip(ranks.average.iter().copied()).collect(),
                control: control.clone(),
                length: bonferroni_dunn(ranks.methods.len(), ranks.data.len(), BARS),
                level: BARS,
            });
        }
        axes
    }

    /// Ranks of the average ranks of all tables, of the methods that all of them have.
    fn ranks_of_ranks(&self, ranks: &[Option<RankTable>]) -> anyhow::Result<Vec<PaperSummary>> {
        let printed = self.experiment.ranks_of_ranks()?;
        let all: Option<Vec<&RankTable>> = ranks.iter().map(Option::as_ref).collect();
        let average = |table: &RankTable, method: &str| {
            table.methods.iter().position(|m| m == method).map(|m| table.average[m])
        };
        let methods: Vec<&str> = match &all {
            Some(all) => {
                let names = self.experiment.method.iter().map(|m| m.name.as_str());
                names.filter(|m| all.iter().all(|table| average(table, m).is_some())).collect()
            }
            None => Vec::new(),
        };
        let rows: Vec<Vec<f64>> = (all.iter().flatten())
            .map(|table| methods.iter().filter_map(|m| average(table, m)).collect())
            .collect();
        let meta = meta_rank(&rows);
        let ours = |row: &PrintedRow| -> Option<f64> {
            let at = methods.iter().position(|m| *m == row.method)?;
            if row.metric == "meta-rank" {
                return meta.get(at).copied();
            }
            if row.metric.starts_with("mean of") {
                return Some(rows.iter().map(|r| r[at]).sum::<f64>() / rows.len() as f64);
            }
            let of = row.metric.strip_prefix("rank by ")?;
            let is = |t: &PrintedTable| match t.measure {
                Measure::Seconds => of == "time",
                Measure::Metric => t.metric.name().split('_').next() == Some(of),
            };
            let table = self.tables.iter().position(is)?;
            average(ranks[table].as_ref()?, &row.method)
        };
        let summary = |row: &PrintedRow| PaperSummary {
            of: row.method.clone(),
            what: row.metric.clone(),
            printed: row.value.clone(),
            ours: ours(row).map_or(String::new(), |v| format!("{v:.2}")),
            remark: row.remark.clone(),
        };
        Ok(printed.iter().map(summary).collect())
    }

    /// Ranks of ranks on axes: of six measures, not of the data sets.
    fn axes_of_ranks(&self, found: &[PaperSummary]) -> Vec<RankAxis> {
        let Some(control) = self.tables.iter().find_map(|t| t.control.clone()) else { return Vec::new() };
        let axis = |title: &str, text: fn(&PaperSummary) -> &str| {
            let meta = found.iter().filter(|s| s.what == "meta-rank");
            let ranks: Vec<(String, f64)> =
                meta.filter_map(|s| Some((s.of.clone(), text(s).parse().ok()?))).collect();
            let length = bonferroni_dunn(ranks.len().max(2), self.tables.len(), BARS);
            (ranks.len() > 1).then(|| RankAxis {
                title: title.into(),
                ranks,
                control: control.clone(),
                length,
                level: BARS,
            })
        };
        [axis("Ranks of ranks as printed", |s| &s.printed), axis("Our ranks of ranks", |s| &s.ours)]
            .into_iter()
            .flatten()
            .collect()
    }

    /// What the paper says of its data, beside what is here.
    fn facts(&self) -> anyhow::Result<Vec<PaperSummary>> {
        let rows = self.experiment.facts()?;
        // What a table of the experiment shows is not shown again.
        let in_table = |row: &PrintedRow| {
            let shown =
                |t: &PrintedTable| t.numbers.of(&row.set, &row.method).map(|r| r.metric == row.metric);
            self.tables.iter().any(|t| shown(t) == Some(true))
        };
        let is_fact = |row: &&PrintedRow| !row.is_summary() && !in_table(row);
        let fact = |row: &PrintedRow| {
            let set = self.experiment.data.iter().position(|d| d.printed_name() == row.set);
            let counted = set.filter(|_| row.method.is_empty());
            let ours = counted.and_then(|d| self.counted[d].iter().find(|(what, _)| *what == row.metric));
            let digits = row.value.split_once('.').map_or(0, |(_, behind)| behind.len());
            let of = [row.set.as_str(), &row.method];
            PaperSummary {
                of: of.into_iter().filter(|name| !name.is_empty()).collect::<Vec<_>>().join(", "),
                what: row.metric.replace('_', " "),
                printed: row.value.clone(),
                ours: ours.map_or(String::new(), |(_, v)| format!("{v:.digits$}")),
                remark: row.remark.clone(),
            }
        };
        Ok(rows.iter().filter(is_fact).map(fact).collect())
    }
}

/// Wins, ties and losses, as papers write them.
fn won(differences: impl Iterator<Item = f64>) -> String {
    let mut counts = [0; 3];
    differences.for_each(|d| {
        counts[if d > 0.0 {
            0
        } else if d == 0.0 {
            1
        } else {
            2
        }] += 1
    });
    counts.map(|n: usize| n.to_string()).join("/")
}

/// Digits behind the point that printed numbers of this size have.
pub(crate) fn digits(table: &PrintedTable) -> usize {
    if table.percent || table.measure == Measure::Seconds { 1 } else { 4 }
}

impl Line<'_> {
    /// The verdict in words.
    pub(crate) fn verdict(&self, cell: &PaperCell) -> &'static str {
        cell.agreement.words(!larger_is_better(self.table))
    }

    /// Printed, ours and the verdict.
    pub(crate) fn cell(&self) -> PaperCell {
        let printed = self.table.cell(self.data, self.method);
        let (ours, sd, interval) = self.cell.shown(self.table);
        let of_cell = match self.cell {
            Cell::OurResult(ours) => ours.remark(self.table.measure),
            Cell::Missing(why) => why.clone(),
            Cell::LeftOut => "left out of this run".into(),
            Cell::NoMethod => "not implemented".into(),
        };
        let saw = matches!(self.cell, Cell::OurResult(ours) if ours.saw_test_bags);
        // Three points of a share; errors have any size, and a tenth of the value is as much.
        let most = |printed: f64| match self.table.metric.range() {
            (0.0 | -1.0, 1.0) => {
                if self.table.percent {
                    3.0
                } else {
                    0.03
                }
            }
            _ => printed.abs() / 10.0,
        };
        let incomparable = printed.incomparable.is_some() || self.table.measure == Measure::Seconds || saw;
        let agreement = match (printed.value, ours) {
            (None, _) => Agreement::NotPrinted,
            (_, None) => match self.cell {
                Cell::OurResult(ours) if ours.is_undefined() => Agreement::Undefined,
                Cell::OurResult(_) => Agreement::Failed,
                _ => Agreement::NotRun,
            },
            _ if incomparable => Agreement::NotComparable,
            (Some(value), _) => Agreement::of(value, interval, most(value)),
        };
        let mut remarks: Vec<String> = vec![of_cell, printed.remark.clone()];
        remarks.extend(printed.incomparable);
        remarks.retain(|r| !r.is_empty());
        remarks.dedup();
        PaperCell {
            printed: printed.value,
            spread: printed.spread,
            ours,
            sd,
            interval,
            reference: printed.reference,
            agreement,
            remark: remarks.join("; "),
        }
    }
}
