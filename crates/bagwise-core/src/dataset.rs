//! A data set: bags, what is to be predicted (if known), groups that must never be split between training
//! and test, and columns that are carried along but never learned from.

use std::collections::HashMap;

use crate::bags::Bags;
use crate::checksum;
use crate::error::{Error, Result};
use crate::message::{Message, Setting};
use crate::rng::Rng;
use crate::target::{Target, coded_like, one_spelling, undecided_target};

/// Groups of bags that belong together: molecules of a scaffold, slides of a patient.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Groups {
    /// The group of each bag, as a position in `names`.
    pub codes: Vec<u32>,
    /// The groups in order of first appearance.
    pub names: Vec<String>,
}

impl Groups {
    /// Groups from one name per bag.
    pub fn from_names<S: AsRef<str>>(per_bag: &[S]) -> Groups {
        let mut seen = HashMap::new();
        let mut names: Vec<String> = Vec::new();
        let codes = per_bag
            .iter()
            .map(|name| {
                *seen.entry(name.as_ref()).or_insert_with(|| {
                    names.push(name.as_ref().to_string());
                    names.len() as u32 - 1
                })
            })
            .collect();
        Groups { codes, names }
    }

    /// Those of `bags`, in that order. Groups that are left without a bag keep their names.
    fn select(&self, bags: &[usize]) -> Groups {
        Groups { codes: bags.iter().map(|&b| self.codes[b]).collect(), names: self.names.clone() }
    }
}

/// A column carried along with the instances and never learned from: coordinates, conformer ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CarriedColumn {
    /// The column's name.
    pub name: String,
    /// One text per instance, as it stood in the file.
    pub values: Vec<String>,
}

/// A column that says something of whole bags and is neither learned from nor kept: the patients of a table of labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusedColumn {
    /// The column's name.
    pub name: String,
    /// Its value for each bag.
    pub values: Groups,
}

/// Bags with everything that is known about them.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    /// What the user called it: a path or a built-in name.
    pub name: String,
    /// The bags.
    pub bags: Bags,
    /// What is to be predicted; prediction data has none.
    pub target: Option<Target>,
    /// How many different integers the labels have, if the user has not said whether they are classes or measurements and
    /// `may_be_measurements` doubts it. The target then has classes to look at, and none to learn from.
    pub undecided: Option<usize>,
    /// Groups that are never split.
    pub groups: Option<Groups>,
    /// Columns carried along.
    pub kept: Vec<CarriedColumn>,
    /// Columns that have no role and could name groups.
    pub unused: Vec<UnusedColumn>,
    /// Where each instance stood in its bag, counted from 0, if only some of a bag were drawn.
    pub drawn: Option<Vec<usize>>,
    /// True instance labels where the source knows them: for judging explanations, never for learning.
    pub instance_labels: Option<Vec<String>>,
    /// What the reader wants the user to know: rows regrouped, columns taken as categories.
    pub warnings: Vec<Message>,
}

impl Dataset {
    /// Bags alone.
    pub fn new(name: impl Into<String>, bags: Bags) -> Dataset {
        Dataset {
            name: name.into(),
            bags,
            target: None,
            undecided: None,
            groups: None,
            kept: Vec::new(),
            unused: Vec::new(),
            drawn: None,
            instance_labels: None,
            warnings: Vec::new(),
        }
    }

    /// The number of an instance in its bag as the file has it, counted from 1.
    pub fn instance_number(&self, bag: usize, instance: usize) -> usize {
        1 + self.drawn.as_ref().map_or(instance, |drawn| drawn[self.bags.rows(bag).start + instance])
    }

    /// Says what is to be predicted.
    pub fn with_target(mut self, target: Target) -> Result<Dataset> {
        if target.len() != self.bags.len() {
            return Err(Error::Invalid(format!("{} labels for {} bags", target.len(), self.bags.len())));
        }
        if let Target::Values(values) = &target
            && let Some(bag) = values.iter().position(|v| !v.is_finite())
        {
            return Err(Error::Invalid(format!(
                "the target of bag '{}' is not a finite number",
                self.bags.ids()[bag]
            )));
        }
        self.target = Some(target);
        Ok(self)
    }

    /// Says which bags belong together.
    pub fn with_groups(mut self, groups: Groups) -> Result<Dataset> {
        if groups.codes.len() != self.bags.len() {
            return Err(Error::Invalid(format!(
                "{} groups for {} bags",
                groups.codes.len(),
                self.bags.len()
            )));
        }
        self.groups = Some(groups);
        Ok(self)
    }

    /// The same with at most `most` instances (at least one) of each bag, drawn with the seed and left in their
    /// order; a warning says of how many bags.
    pub fn with_at_most(self, most: usize, seed: u64) -> Dataset {
        let most = most.max(1);
        let (mut rows, mut offsets, mut thinned) = (Vec::new(), vec![0], 0);
        for bag in 0..self.bags.len() {
            let own = self.bags.rows(bag);
            if own.len() > most {
                thinned += 1;
                // By the name of the bag, so that what is drawn does not depend on the bags around it.
                let name = checksum::of_bytes(self.bags.ids()[bag].as_bytes());
                let mut drawn = Rng::new(seed, "max instances", &[name]).sample(own.len(), most);
                drawn.sort_unstable();
                rows.extend(drawn.into_iter().map(|i| own.start + i));
            } else {
                rows.extend(own);
            }
            offsets.push(rows.len());
        }
        if thinned == 0 {
            return self;
        }
        let place = |&row: &usize| {
            let bag = self.bags.bag_of_row(row);
            self.instance_number(bag, row - self.bags.rows(bag).start) - 1
        };
        let drawn = Some(rows.iter().map(place).collect());
        let pick = |values: &Vec<String>| rows.iter().map(|&r| values[r].clone()).collect();
        let mut warnings = self.warnings;
        warnings.push(format!(
            "{thinned} of {} bags have more than {most} instances; {most} of each were sampled (seed {seed})",
            self.bags.len()
        ).into());
        Dataset {
            kept: self
                .kept
                .iter()
                .map(|k| CarriedColumn { name: k.name.clone(), values: pick(&k.values) })
                .collect(),
            instance_labels: self.instance_labels.as_ref().map(pick),
            bags: self.bags.with_rows(&rows, offsets),
            drawn,
            warnings,
            ..self
        }
    }

    /// The target, or an error that says it is needed, or that it is not known what it is.
    pub fn require_target(&self) -> Result<&Target> {
        if let Some(distinct) = self.undecided {
            let (found, remedy) = undecided_target(distinct, self.bags.len());
            return Err(Error::refused(format!("{}: {found}", self.name), remedy));
        }
        self.target.as_ref().ok_or_else(|| {
            let remedy = Message::from("name it").with([Setting::Label]);
            Error::refused(format!("{} has no label column", self.name), remedy)
        })
    }

    /// These bags followed by those of `test`, whose columns and categories are matched by name. Classes are too, or as
    /// one number in two spellings (1 and 1.0). A bag of `test` whose id is taken gets " (test)" behind it, and bags that
    /// training has already are warned of. Kept columns and instance labels are dropped.
    pub fn with_test(self, test: &Dataset) -> Result<Dataset> {
        let aligned = test.bags.align(self.bags.features()).map_err(|e| e.of_data(&test.name))?;
        let taken: std::collections::HashSet<&String> = self.bags.ids().iter().collect();
        let renamed = |id: &String| if taken.contains(id) { format!("{id} (test)") } else { id.clone() };
        let ids: Vec<String> =
            self.bags.ids().iter().cloned().chain(aligned.ids().iter().map(renamed)).collect();
        let bags = self.bags.chain(&aligned)?.with_ids(ids)?;
        let target = match (self.require_target()?, test.require_target()?) {
            (Target::Values(a), Target::Values(b)) => Target::Values([a.as_slice(), b].concat()),
            (Target::Classes { codes, names }, Target::Classes { codes: more, names: others }) => {
                let more = coded_like(more, others, names).map_err(|name| {
                    Error::Invalid(format!(
                        "{} has the class '{name}', but {} does not",
                        test.name, self.name
                    ))
                })?;
                Target::Classes { codes: [codes.as_slice(), &more].concat(), names: names.clone() }
            }
            _ => {
                return Err(Error::Invalid(format!(
                    "{} and {} have different kinds of labels",
                    self.name, test.name
                )));
            }
        };
        // Bags of a side without groups are groups of their own, so that those of the other stay whole.
        let named = |data: &Dataset, side: &str| -> Vec<String> {
            match &data.groups {
                Some(g) => g.codes.iter().map(|&c| g.names[c as usize].clone()).collect(),
                None => data.bags.ids().iter().map(|id| format!("{side} bag {id}")).collect(),
            }
        };
        let some = self.groups.is_some() || test.groups.is_some();
        let groups = some.then(|| {
            let (own, mut theirs) = (named(&self, "training"), named(test, "test"));
            // 1 and 1.0 are one group, in two files as in one.
            let spelled: HashMap<String, &String> =
                own.iter().filter_map(|name| Some((one_spelling(name)?, name))).collect();
            for name in &mut theirs {
                if let Some(&same) = one_spelling(name).and_then(|number| spelled.get(&number)) {
                    name.clone_from(same);
                }
            }
            Groups::from_names(&[own, theirs].concat())
        });
        let repeats = crate::duplicates::repeats_of_earlier(&bags, self.bags.len())?;
        let mut warnings = self.warnings;
        if let Some(&first) = repeats.first() {
            warnings.push(
                format!(
                    "{} of {} test bags (the first is '{}') have the same instances as a training bag, so the \
                 estimate is optimistic for new bags",
                    repeats.len(),
                    test.bags.len(),
                    bags.ids()[first]
                )
                .into(),
            );
        }
        let named_alike = |id: &&String| taken.contains(id) && id.parse::<f64>().is_err();
        let alike: Vec<&String> = test.bags.ids().iter().filter(named_alike).collect();
        if alike.len() > repeats.len() {
            warnings.push(
                format!(
                    "{} of {} test bags have the name of a training bag, such as '{}'; if they are the same, the estimate is optimistic",
                    alike.len(),
                    test.bags.len(),
                    alike[0]
                )
                .into(),
            );
        }
        Ok(Dataset {
            bags,
            target: Some(target),
            groups,
            warnings,
            kept: Vec::new(),
            unused: Vec::new(),
            drawn: None,
            instance_labels: None,
            ..self
        })
    }

    /// The data set reduced to `bags`, in that order.
    pub fn select(&self, bags: &[usize]) -> Dataset {
        let rows: Vec<usize> = bags.iter().flat_map(|&b| self.bags.rows(b)).collect();
        let pick = |values: &[String]| rows.iter().map(|&r| values[r].clone()).collect::<Vec<_>>();
        Dataset {
            name: self.name.clone(),
            bags: self.bags.select(bags),
            target: self.target.as_ref().map(|t| t.select(bags)),
            undecided: self.undecided,
            groups: self.groups.as_ref().map(|g| g.select(bags)),
            kept: self
                .kept
                .iter()
                .map(|k| CarriedColumn { name: k.name.clone(), values: pick(&k.values) })
                .collect(),
            unused: self
                .unused
                .iter()
                .map(|u| UnusedColumn { name: u.name.clone(), values: u.values.select(bags) })
                .collect(),
            drawn: self.drawn.as_ref().map(|drawn| rows.iter().map(|&r| drawn[r]).collect()),
            instance_labels: self.instance_labels.as_deref().map(pick),
            warnings: self.warnings.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numeric_class_names_sort_by_value_and_others_as_text() {
        let Target::Classes { codes, names } = Target::from_labels(&["10", "9", "-1", "10"]) else {
            panic!()
        };
        assert_eq!((names, codes), (vec!["-1".into(), "9".into(), "10".into()], vec![2, 1, 0, 2]));
        let Target::Classes { names, .. } = Target::from_labels(&["b", "10", "9"]) else { panic!() };
        assert_eq!(names, ["10", "9", "b"]);
    }

    #[test]
    fn select_takes_everything_along() {
        let bags = Bags::new(crate::bags::Instances::F64(crate::Mat::zeros(3, 1)), vec![0, 2, 3]).unwrap();
        let mut data = Dataset::new("t", bags).with_target(Target::Values(vec![0.5, 1.5])).unwrap();
        data.kept.push(CarriedColumn { name: "x".into(), values: vec!["p".into(), "q".into(), "r".into()] });
        let data = data.with_groups(Groups::from_names(&["g", "h"])).unwrap();
        let one = data.select(&[1]);
        assert_eq!(one.target, Some(Target::Values(vec![1.5])));
        assert_eq!(one.kept[0].values, ["r"]);
        assert_eq!(one.groups.unwrap().codes, [1]);
    }
}
