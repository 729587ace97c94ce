//! Tables of a paper, each printed number beside ours: what `bagwise run` is for. The command line fills these in from an
//! experiment and its runs; here they become a page (`write.rs`, `axis.rs`), Markdown and LaTeX (`text.rs`).

mod axis;
mod figure;
mod text;
mod write;

use serde::Serialize;

use bagwise::count;

use crate::markup::listed;

/// What a paper printed, beside what came out here.
#[derive(Clone, Debug, Default)]
pub struct Paper {
    /// Authors, title, place.
    pub source: String,
    /// How ours were judged.
    pub protocol: String,
    /// What a quick version changes; empty if everything was run.
    pub quick: String,
    /// What is known to differ.
    pub notes: Vec<String>,
    /// The tables, in the order of the paper.
    pub tables: Vec<PaperTable>,
    /// Ranks over several tables.
    pub ranks_of_ranks: Vec<PaperSummary>,
    /// These on an axis, as printed and as they came out.
    pub axes: Vec<RankAxis>,
    /// What the paper says of the data.
    pub facts: Vec<PaperSummary>,
    /// How dense the data are around misclassified bags.
    pub densities: Vec<PaperSummary>,
    /// Its figures, drawn again.
    pub figures: Vec<PaperFigure>,
}

/// A figure, drawn again.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PaperFigure {
    /// Its name in the paper.
    pub title: String,
    /// What to see in it, and what is known to differ.
    pub note: String,
    /// Its panels.
    pub panels: Vec<FigurePanel>,
    /// Numbers that go with it.
    pub numbers: Vec<PaperSummary>,
}

/// One panel of a figure.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FigurePanel {
    /// Its name.
    pub title: String,
    /// What to see in it.
    pub note: String,
    /// The names of the axes, across and upwards.
    pub axes: (String, String),
    /// What the axis across shows, from and to.
    pub x: (f64, f64),
    /// What the axis upwards shows.
    pub y: (f64, f64),
    /// Lines and points.
    pub series: Vec<PanelSeries>,
    /// Values all over the panel.
    pub map: Option<PanelMap>,
}

/// Lines or points of one kind.
#[derive(Clone, Debug, Serialize)]
pub struct PanelSeries {
    /// What they are.
    pub name: String,
    /// How they look.
    pub look: SeriesLook,
    /// Lines that are not joined, or groups of points.
    pub pieces: Vec<Vec<(f64, f64)>>,
}

/// How a series looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SeriesLook {
    /// A line.
    Line,
    /// A dashed line.
    Dashed,
    /// Small points.
    Dots,
    /// Large marks.
    Marks,
}

/// Values all over a panel, dark to light.
#[derive(Clone, Debug, Serialize)]
pub struct PanelMap {
    /// Values in a row.
    pub columns: usize,
    /// Row after row, from below.
    pub values: Vec<f64>,
}

/// One table.
#[derive(Clone, Debug, Default)]
pub struct PaperTable {
    /// Its name in the paper.
    pub title: String,
    /// What its numbers are, with their unit.
    pub quantity: String,
    /// Whether a lower number is the better one, as of errors and times.
    pub lower_is_better: bool,
    /// Digits behind the point.
    pub digits: usize,
    /// The data sets.
    pub data: Vec<String>,
    /// The methods.
    pub methods: Vec<String>,
    /// A cell for each method on the first data set, then on the second, and so on.
    pub cells: Vec<PaperCell>,
    /// Averages, ranks, tests over data sets.
    pub summaries: Vec<PaperSummary>,
    /// Average ranks on an axis, as printed and as they came out.
    pub axes: Vec<RankAxis>,
}

/// One method on one data set.
#[derive(Clone, Debug, Default)]
pub struct PaperCell {
    /// What the paper printed.
    pub printed: Option<f64>,
    /// What the paper printed behind it: a deviation, an error or an interval.
    pub spread: String,
    /// Ours.
    pub ours: Option<f64>,
    /// Its deviation over repeats or seeds.
    pub sd: Option<f64>,
    /// Its interval.
    pub interval: Option<(f64, f64)>,
    /// What an independent implementation reached.
    pub reference: Option<f64>,
    /// What the comparison says.
    pub agreement: Agreement,
    /// What is to be known of the cell.
    pub remark: String,
}

impl PaperCell {
    /// Ours minus the printed value, with an interval.
    pub fn difference(&self) -> Option<(f64, Option<(f64, f64)>)> {
        let printed = self.printed?;
        Some((self.ours? - printed, self.interval.map(|(low, high)| (low - printed, high - printed))))
    }
}

/// A number that stands for several cells, as printed and as it came out.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PaperSummary {
    /// Whose it is: a method, or a data set.
    pub of: String,
    /// What it is.
    pub what: String,
    /// As printed.
    pub printed: String,
    /// As it came out; empty if it did not.
    pub ours: String,
    /// What is to be known of it.
    pub remark: String,
}

/// Average ranks on an axis, with the length by which a rank must differ from the control's (Bonferroni-Dunn).
#[derive(Clone, Debug)]
pub struct RankAxis {
    /// Whose ranks they are.
    pub title: String,
    /// Methods and their average ranks.
    pub ranks: Vec<(String, f64)>,
    /// The method that the others are compared with.
    pub control: String,
    /// The length of the bar to either side.
    pub length: f64,
    /// The level of the test.
    pub level: f64,
}

/// What comparing a printed value with ours says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Agreement {
    /// The printed value lies in our interval, which is narrow.
    Reproduced,
    /// Ours is higher: the printed value lies below our interval.
    Above,
    /// Ours is lower: the printed value lies above our interval.
    Below,
    /// The printed value lies in our interval, which is so wide that this says little.
    TooImprecise,
    /// The two numbers do not measure the same.
    NotComparable,
    /// There is no value of ours: the metric has none for what was predicted.
    Undefined,
    /// There is no value of ours: fits failed.
    Failed,
    /// There is no value of ours: nothing was run.
    NotRun,
    /// The paper has no value.
    #[default]
    NotPrinted,
}

impl Agreement {
    /// Every verdict on a printed value, in the order in which they are counted.
    pub const ALL: [Agreement; 8] = [
        Agreement::Reproduced,
        Agreement::Above,
        Agreement::Below,
        Agreement::TooImprecise,
        Agreement::NotComparable,
        Agreement::Undefined,
        Agreement::Failed,
        Agreement::NotRun,
    ];

    /// Compares a printed value with an interval of ours; `most` is half the width beyond which it says little.
    pub fn of(printed: f64, interval: Option<(f64, f64)>, most: f64) -> Agreement {
        match interval {
            Some((low, _)) if printed < low => Agreement::Above,
            Some((_, high)) if printed > high => Agreement::Below,
            Some((low, high)) if (high - low) / 2.0 <= most => Agreement::Reproduced,
            _ => Agreement::TooImprecise,
        }
    }

    /// The verdict in words; nothing if the paper has no value. Of errors and times, "below" alone would read like a fault.
    pub fn words(self, lower_is_better: bool) -> &'static str {
        match self {
            Agreement::Reproduced => "reproduced",
            Agreement::Above if lower_is_better => "above (worse)",
            Agreement::Above => "above",
            Agreement::Below if lower_is_better => "below (better)",
            Agreement::Below => "below",
            Agreement::TooImprecise => "too imprecise",
            Agreement::NotComparable => "not comparable",
            Agreement::Undefined => "undefined",
            Agreement::Failed => "failed",
            Agreement::NotRun => "not run",
            Agreement::NotPrinted => "",
        }
    }
}

impl Paper {
    /// Where printed numbers come from, and ours.
    fn origin(&self) -> String {
        let ours =
            if self.protocol.is_empty() { String::new() } else { format!(" Ours: {}.", self.protocol) };
        format!("{}.{ours}{}", self.source, self.quick_sentence())
    }

    /// That a quick version was run, behind another sentence; nothing if everything was.
    fn quick_sentence(&self) -> String {
        if self.quick.is_empty() { String::new() } else { format!(" Quick version: {}.", self.quick) }
    }

    /// How many printed values there are of each verdict, as a sentence.
    pub fn sentence(&self) -> String {
        let cells = || self.tables.iter().flat_map(|t| &t.cells);
        let printed = cells().filter(|c| c.printed.is_some()).count();
        if printed == 0 && !self.figures.is_empty() {
            return format!("{} of the paper, redrawn.", count(self.figures.len(), "figure"));
        }
        if printed == 0 && !self.densities.is_empty() {
            return format!(
                "{} about the data around misclassified bags, beside ours.",
                count(self.densities.len(), "printed number")
            );
        }
        if printed == 0 {
            return self.referred().unwrap_or_else(|| "The paper has no numbers for these runs.".into());
        }
        let verdicts: Vec<&str> =
            self.tables.iter().flat_map(|t| t.cells.iter().map(|c| t.verdict(c))).collect();
        let all = Agreement::ALL.iter().flat_map(|a| [a.words(false), a.words(true)]);
        let mut counts: Vec<String> = all
            .map(|what| (verdicts.iter().filter(|v| **v == what).count(), what))
            .filter(|(n, _)| *n > 0)
            .map(|(n, what)| format!("{n} {what}"))
            .collect();
        // Most verdicts have the same words either way.
        counts.dedup();
        format!("Of {printed} printed values: {}.", listed(&counts))
    }

    /// How many references lie in our intervals, where nothing was printed; nothing without references.
    fn referred(&self) -> Option<String> {
        let cells = self.tables.iter().flat_map(|t| &t.cells);
        let pairs: Vec<(f64, (f64, f64))> = cells.filter_map(|c| c.reference.zip(c.interval)).collect();
        let inside = pairs.iter().filter(|(value, (low, high))| low <= value && value <= high).count();
        (!pairs.is_empty()).then(|| {
            format!(
                "Our interval holds the value of an independent implementation in {inside} of {}.",
                count(pairs.len(), "case")
            )
        })
    }
}

impl PaperTable {
    /// The data set and the method of each cell, with the cell.
    pub fn lines(&self) -> impl Iterator<Item = (&str, &str, &PaperCell)> {
        let pairs = self.data.iter().flat_map(|d| self.methods.iter().map(move |m| (d, m)));
        pairs.zip(&self.cells).map(|((d, m), cell)| (d.as_str(), m.as_str(), cell))
    }

    /// Whether ours is worse than the printed value beyond doubt.
    fn is_worse(&self, cell: &PaperCell) -> bool {
        let bad = if self.lower_is_better { Agreement::Above } else { Agreement::Below };
        cell.agreement == bad
    }

    /// The verdict on a cell in words.
    fn verdict(&self, cell: &PaperCell) -> &'static str {
        cell.agreement.words(self.lower_is_better)
    }

    fn cell(&self, data: usize, method: usize) -> &PaperCell {
        &self.cells[data * self.methods.len() + method]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lower_error_is_called_better() {
        let of = |lower_is_better, agreement| {
            let table = PaperTable { lower_is_better, ..PaperTable::default() };
            let cell = PaperCell { agreement, ..PaperCell::default() };
            (table.verdict(&cell), table.is_worse(&cell))
        };
        assert_eq!(of(true, Agreement::Below), ("below (better)", false));
        assert_eq!(of(true, Agreement::Above), ("above (worse)", true));
        assert_eq!(of(false, Agreement::Below), ("below", true));
        assert_eq!(of(false, Agreement::Above), ("above", false));
        assert_eq!(of(true, Agreement::TooImprecise), ("too imprecise", false));
    }

    #[test]
    fn a_printed_value_is_held_against_our_interval() {
        let of = |printed, interval| Agreement::of(printed, interval, 3.0);
        assert_eq!(of(87.0, Some((85.0, 89.0))), Agreement::Reproduced);
        assert_eq!(of(85.0, Some((85.0, 91.0))), Agreement::Reproduced);
        assert_eq!(of(84.9, Some((85.0, 91.0))), Agreement::Above);
        assert_eq!(of(99.0, Some((80.0, 95.0))), Agreement::Below);
        assert_eq!(of(87.0, Some((80.0, 95.0))), Agreement::TooImprecise);
        assert_eq!(of(87.0, None), Agreement::TooImprecise);
    }

    #[test]
    fn verdicts_are_counted() {
        let cell = |agreement, printed| PaperCell { agreement, printed, ..PaperCell::default() };
        let cells = vec![
            cell(Agreement::Reproduced, Some(1.0)),
            cell(Agreement::NotRun, Some(1.0)),
            cell(Agreement::NotPrinted, None),
            cell(Agreement::Reproduced, Some(1.0)),
        ];
        let paper = Paper { tables: vec![PaperTable { cells, ..PaperTable::default() }], ..Paper::default() };
        assert_eq!(paper.sentence(), "Of 3 printed values: 2 reproduced and 1 not run.");
        let errors = PaperTable {
            lower_is_better: true,
            cells: vec![cell(Agreement::Below, Some(1.0)), cell(Agreement::Undefined, Some(1.0))],
            ..PaperTable::default()
        };
        let paper = Paper { tables: [paper.tables, vec![errors]].concat(), ..Paper::default() };
        let said = "Of 5 printed values: 2 reproduced, 1 below (better), 1 undefined and 1 not run.";
        assert_eq!(paper.sentence(), said);
        assert_eq!(Paper::default().sentence(), "The paper has no numbers for these runs.");
        let cell = |reference| PaperCell { reference, interval: Some((80.0, 90.0)), ..PaperCell::default() };
        let cells = vec![cell(Some(85.0)), cell(Some(91.0)), cell(None)];
        let paper = Paper { tables: vec![PaperTable { cells, ..PaperTable::default() }], ..Paper::default() };
        assert_eq!(
            paper.sentence(),
            "Our interval holds the value of an independent implementation in 1 of 2 cases."
        );
    }
}
