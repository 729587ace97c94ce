//! How bags that a model answers differ from its training bags, in words: `predict` and `evaluate --model` warn of it.

use std::collections::BTreeMap;

use bagwise::model::{Model, Prediction};
use bagwise::{Dataset, count};

/// What was seen of some bags, perhaps in pieces.
#[derive(Default)]
pub(crate) struct Novelty {
    bags: usize,
    /// Bags that are not familiar.
    strange: usize,
    /// In which columns, in how many of these bags, and a category that training had not.
    outside: BTreeMap<String, (usize, Option<String>)>,
    /// Columns that vary this many times more than in training.
    rescaled: BTreeMap<String, f64>,
    /// Missing values that are filled in, of each column, and the instances they are among.
    filled: BTreeMap<String, usize>,
    instances: usize,
    /// Bags with more instances than were drawn of each in training, and how many these were.
    larger: usize,
    drawn: usize,
}

impl Novelty {
    /// Adds the bags of a data set, or of a piece of one.
    pub(crate) fn add(
        &mut self,
        model: &Model,
        data: &Dataset,
        predictions: &[Prediction],
        is_piece: bool,
    ) -> bagwise::Result<()> {
        let unlike: Vec<usize> = (0..predictions.len()).filter(|&b| !predictions[b].familiar).collect();
        self.bags += predictions.len();
        self.strange += unlike.len();
        for (name, (count, category)) in model.unfamiliar_columns(&data.bags, &unlike)? {
            self.outside.entry(name).or_insert((0, category)).0 += count;
        }
        // Part of a sorted file may well vary less.
        let found = model.rescaled_columns(&data.bags)?;
        self.rescaled.extend(found.into_iter().filter(|(_, times)| !is_piece || *times > 1.0));
        for (name, missing) in model.filled_columns(&data.bags)? {
            *self.filled.entry(name).or_default() += missing;
        }
        self.instances += data.bags.instance_count();
        if let Some(drawn) = model.header.reading.as_ref().and_then(|reading| reading.max_instances) {
            self.drawn = drawn;
            self.larger += (0..data.bags.len()).filter(|&b| data.bags.rows(b).len() > drawn).count();
        }
        Ok(())
    }

    /// What to warn of.
    pub(crate) fn warnings(&self) -> Vec<String> {
        [self.sizes(), self.units(), self.gaps(), self.strangers()].concat()
    }

    fn sizes(&self) -> Vec<String> {
        match self.larger {
            0 => Vec::new(),
            larger => vec![format!(
                "{larger} of {} bags have more instances than the {} that were drawn of each bag in training, so predictions may differ \
                 for that reason alone; use --max-instances {} here, too, without --stream",
                self.bags, self.drawn, self.drawn
            )],
        }
    }

    fn units(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        for (more, word) in [(false, "less"), (true, "more")] {
            let own: Vec<(&String, &f64)> =
                self.rescaled.iter().filter(|(_, times)| (**times > 1.0) == more).collect();
            let Some((name, times)) = own.first() else { continue };
            let others = match own.len() - 1 {
                0 => String::new(),
                n => format!(" (and {})", count(n, "more column")),
            };
            let times = times.max(1.0 / **times);
            let digit = 10_f64.powf(times.log10().floor());
            warnings.push(format!(
                "'{name}'{others} varies about {} times {word} than in training; check that it has the same unit",
                (times / digit).round() * digit
            ));
        }
        warnings
    }

    /// Columns that are missing for the most part: the median of training says nothing of these bags.
    fn gaps(&self) -> Vec<String> {
        let mut columns: Vec<(&String, usize)> =
            self.filled.iter().map(|(name, &n)| (name, n)).filter(|(_, n)| 2 * n > self.instances).collect();
        columns.sort_by_key(|(_, missing)| std::cmp::Reverse(*missing)); // stable
        let Some((name, missing)) = columns.first() else { return Vec::new() };
        let others = match columns.len() - 1 {
            0 => String::new(),
            n => format!(" (and most values of {})", count(n, "more column")),
        };
        vec![format!(
            "{missing} of {} of '{name}'{others} are missing and were filled in with the median of training",
            count(self.instances, "value")
        )]
    }

    fn strangers(&self) -> Vec<String> {
        let (strange, bags) = (self.strange, self.bags);
        match strange {
            0 => Vec::new(),
            _ => vec![format!(
                "{strange} of {bags} bags are unfamiliar: they are less similar to the training bags than those are to each other, or have many \
                 values outside their range. Do not rely on these predictions{}",
                self.most_outside()
            )],
        }
    }

    /// The columns in which most unfamiliar bags are outside the range of training.
    fn most_outside(&self) -> String {
        const SHOWN: usize = 3;
        let mut columns: Vec<_> = self.outside.iter().collect();
        columns.sort_by_key(|(_, (bags, _))| std::cmp::Reverse(*bags)); // stable
        let each = |(name, (bags, category)): &(&String, &(usize, Option<String>))| match category {
            Some(category) => format!("'{name}' (unknown category '{category}', {})", count(*bags, "bag")),
            None => format!("'{name}' ({})", count(*bags, "bag")),
        };
        let mut list: Vec<String> = columns.iter().take(SHOWN).map(each).collect();
        if columns.len() > SHOWN {
            list.push(format!("and {}", count(columns.len() - SHOWN, "more column")));
        }
        match list.is_empty() {
            true => String::new(),
            false => format!(". Outside the training range: {}", list.join(", ")),
        }
    }
}
