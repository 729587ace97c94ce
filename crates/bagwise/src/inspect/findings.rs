//! What is suspicious about a data set, in sentences with a remedy. Thresholds are chosen so that honest data
//! sets stay silent: a finding nobody acts on hides the next one.

use bagwise_core::{Duplicates, Groups, Message, Setting, count, undecided_target};
use serde::Serialize;

use super::relatives::SharedColumn;
use super::{ColumnSummary, GroupSummary, Inspection, LooksLike, Reveals, Spread};

/// Attributes with missing values that are listed.
const SHOWN_MISSING: usize = 8;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Results would be wrong or impossible.
    Warning,
    /// Worth knowing.
    Note,
}

/// Something suspicious.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How bad it is.
    pub level: Severity,
    /// A fixed word for programs.
    pub kind: &'static str,
    /// What was found.
    pub message: String,
    /// What to do about it.
    pub remedy: Message,
}

/// Everything that is suspicious, worst first.
pub(super) fn findings(
    found: &Inspection,
    labelled: bool,
    undecided: Option<usize>,
    groups_of: Option<&Groups>,
    shared: &[SharedColumn],
) -> Vec<Finding> {
    let mut list = Vec::new();
    let mut add = |level, kind, message: String, remedy: Message| {
        list.push(Finding { level, kind, message, remedy });
    };
    match undecided {
        Some(distinct) => {
            let (message, remedy) = undecided_target(distinct, found.bags);
            add(Severity::Warning, "undecided", message, remedy);
        }
        None => labels(found, labelled, &mut add),
    }
    if let Some(units) = found.target.as_ref().and_then(target_units) {
        add(units.level, units.kind, units.message, units.remedy);
    }
    revealing(&found.columns, found.target.is_some(), &mut add);
    given_numbers(&found.columns, &mut add);
    columns(found, &mut add);
    sizes(found, &mut add);
    groups(found, &mut add);
    copies(&found.duplicates, groups_of, &mut add);
    for column in shared {
        let found = related(column, found.bags);
        add(found.level, found.kind, found.message, found.remedy);
    }
    // Sharing background instances is what multi-instance data do; only a flood of them is news.
    let again = found.duplicates.instances;
    if again * 20 > found.instances {
        let share = 100.0 * again as f64 / found.instances as f64;
        let message = format!("{again} instances ({share:.0}%) are copies of an earlier one");
        add(Severity::Note, "duplicate_instances", message, "check that rows were not exported twice".into());
    }
    list.sort_by_key(|f| f.level); // stable
    list
}

/// What would make a model or an estimate wrong: what gives the label away, numbers that are no measurements, and bags that
/// are there twice.
pub(super) fn leaks(
    columns: &[ColumnSummary],
    numbers: bool,
    twice: &Duplicates,
    groups: Option<&Groups>,
) -> Vec<Finding> {
    let mut list = Vec::new();
    let mut add = |level, kind, message: String, remedy: Message| {
        list.push(Finding { level, kind, message, remedy });
    };
    revealing(columns, numbers, &mut add);
    given_numbers(columns, &mut add);
    copies(twice, groups, &mut add);
    list
}

type Add<'a> = &'a mut dyn FnMut(Severity, &'static str, String, Message);

fn labels(found: &Inspection, labelled: bool, add: Add<'_>) {
    if !labelled {
        add(
            Severity::Note,
            "no_labels",
            "the bags have no labels".into(),
            Message::from("fine for prediction; for training, name the label column").with([Setting::Label]),
        );
        return;
    }
    if let Some(target) = &found.target {
        if target.min == target.max {
            let message = format!("every bag has the target {}", target.min);
            add(
                Severity::Warning,
                "one_value",
                message,
                "there is nothing to learn; check the label column".into(),
            );
        }
        return;
    }
    let used: Vec<&(String, usize)> = found.classes.iter().filter(|c| c.1 > 0).collect();
    if let [(only, _)] = used[..] {
        let message = format!("every bag is of class {only}");
        add(
            Severity::Warning,
            "one_class",
            message,
            "there is nothing to learn; check the label column".into(),
        );
        return;
    }
    if used.len() > 20 && used.len() * 2 > found.bags {
        let message = format!("{} classes for {} bags", used.len(), found.bags);
        let remedy = Message::from("if the label is a measurement, use regression")
            .with([Setting::Task("regression")])
            .and("; if it is an id, name the right column")
            .with([Setting::Label]);
        add(Severity::Warning, "many_classes", message, remedy);
        return;
    }
    let small: Vec<&str> = used.iter().filter(|c| c.1 < 5).map(|c| c.0.as_str()).collect();
    if !small.is_empty() {
        let message = format!("fewer than 5 bags of {}", list("class", "classes", &small));
        let mut remedy = Message::from("collect more bags, or merge or drop the class");
        // Counts and grades look like this.
        if used.len() > 4 && used.iter().all(|c| c.0.parse::<i64>().is_ok()) {
            remedy = remedy
                .or("use regression if the label is a count or a measurement")
                .with([Setting::Task("regression")]);
        }
        add(Severity::Warning, "small_class", message, remedy);
    }
    let counts: Vec<usize> = used.iter().map(|c| c.1).collect();
    if let Some(found) = imbalance(&counts) {
        add(found.level, found.kind, found.message, found.remedy);
    }
}

/// The share of the larger of two classes with this many bags, if it has nine in ten or more.
pub fn imbalanced_share(counts: &[usize]) -> Option<f64> {
    let (largest, bags) = (*counts.iter().max()?, counts.iter().sum::<usize>());
    (counts.len() == 2 && largest * 10 >= bags * 9).then_some(largest as f64 / bags as f64)
}

/// What is said of such classes.
pub(super) fn imbalance(counts: &[usize]) -> Option<Finding> {
    let share = imbalanced_share(counts)?;
    Some(Finding {
        level: Severity::Note,
        kind: "imbalance",
        message: format!(
            "{:.0}% of the bags are of one class, so a constant prediction has an accuracy of {share:.3}",
            100.0 * share
        ),
        remedy: Message::from("compare methods by balanced accuracy or ROC AUC")
            .with([Setting::Optimize("balanced_accuracy"), Setting::Optimize("roc_auc")]),
    })
}

/// A target in units that parameters are not made for: `tube` is 0.01 of them by default, and costs are at most some hundred.
/// With values of a thousandth all errors lie inside the tube, and every prediction is the same.
pub(super) fn target_units(target: &Spread) -> Option<Finding> {
    let range = target.max - target.min;
    if range <= 0.0 || (0.1..=1000.0).contains(&range) {
        return None;
    }
    Some(Finding {
        level: Severity::Warning,
        kind: "target_units",
        message: format!(
            "the target ranges from {:.3e} to {:.3e}, and parameters of a regression (c, tube) are in its units, made for values \
             around 1; methods may look no better than a constant",
            target.min, target.max
        ),
        remedy: "multiply the target so that it ranges over about 1 to 10, or take its logarithm".into(),
    })
}

fn revealing(columns: &[ColumnSummary], numbers: bool, add: Add<'_>) {
    let by = |of: &str| match numbers {
        true => format!("orders the bags exactly as the target does, by its {of}"),
        false => format!("separates the classes perfectly by its {of}"),
    };
    let (equals, determines) = match numbers {
        true => {
            ("is the target under another name", "follows from the target: it is in exactly the same order")
        }
        false => (
            "is the label under another name",
            "determines the label: each of its values belongs to one class",
        ),
    };
    for (reveals, what) in [
        (Reveals::Equals, equals.to_string()),
        (Reveals::Determines, determines.to_string()),
        (Reveals::Largest, by("largest value in the bag")),
        (Reveals::Smallest, by("smallest value in the bag")),
        (Reveals::Mean, by("mean in the bag")),
    ] {
        let names = names_where(columns, |c| c.reveals_label == Some(reveals));
        if !names.is_empty() {
            let message = format!("{} {what}", list("attribute", "attributes", &names));
            // Without the column, bags of one patient would still be in training and in test.
            let group = match reveals {
                Reveals::Determines if !numbers => Message::from(
                    "if it names what several bags share, such as a patient, name it as the group",
                )
                .with([Setting::Group])
                .and("; "),
                _ => Message::from(""),
            };
            let remedy = group
                .and("if it would not be known for new bags, leave it out")
                .with([Setting::Ignore(None)]);
            add(Severity::Warning, "reveals_label", message, remedy);
        }
    }
    let names = names_where(columns, |c| c.predicts_label.is_some());
    if !names.is_empty() {
        let share = columns.iter().filter_map(|c| c.predicts_label).fold(1.0, f64::min);
        let or_more = if names.len() > 1 { " or more" } else { "" };
        let what = match numbers {
            true => format!("alone explains {}% of the variance of the target{or_more}", tenths(share)),
            false => {
                format!("alone predicts the label of {:.0}% of the bags{or_more}", (100.0 * share).floor())
            }
        };
        let message = format!("{} {what}", list("attribute", "attributes", &names));
        let remedy =
            Message::from("is it derived from the label, or known only afterwards? Then leave it out")
                .with([Setting::Ignore(None)]);
        add(Severity::Warning, "predicts_label", message, remedy);
    }
}

/// A share in percent with one digit, rounded down: 100 would be said of what is exact.
fn tenths(share: f64) -> f64 {
    (1000.0 * share).floor() / 10.0
}

/// Numbers that were given and not measured: ids, and codes for values that are missing.
fn given_numbers(columns: &[ColumnSummary], add: Add<'_>) {
    for (looks, what) in [
        (LooksLike::RowNumber, "counts the rows of the file"),
        (LooksLike::InstanceNumber, "counts the instances of each bag"),
        (LooksLike::BagId, "is a different whole number for every bag, the same within each: an id?"),
        (LooksLike::InstanceId, "is a different whole number for every instance: an id?"),
    ] {
        let names = names_where(columns, |c| c.looks_like == Some(looks));
        if !names.is_empty() {
            let message = format!("{} {what}", list("attribute", "attributes", &names));
            let remedy = Message::from("ids are not measurements; leave it out")
                .with([Setting::Ignore(None)])
                .or("copy it to the results")
                .with([Setting::Keep]);
            add(Severity::Warning, "looks_like_id", message, remedy);
        }
    }
    let mut codes: Vec<f64> = columns.iter().filter_map(|c| c.code).collect();
    codes.sort_by(f64::total_cmp);
    codes.dedup();
    for code in codes {
        let names = names_where(columns, |c| c.code == Some(code));
        let message = format!(
            "{} is {code} in several instances, far from all its other values, perhaps a code for a missing one",
            list("attribute", "attributes", &names)
        );
        let remedy =
            Message::from("if so, mark it as one").with([Setting::MissingValues(Some(code.to_string()))]);
        add(Severity::Warning, "missing_code", message, remedy);
    }
}

fn columns(found: &Inspection, add: Add<'_>) {
    let many = |c: &ColumnSummary| c.categories.is_some_and(|n| n > 20 && n * 2 > found.bags);
    let names = names_where(&found.columns, many);
    if !names.is_empty() {
        let message = format!(
            "{} has nearly as many categories as there are bags",
            list("attribute", "attributes", &names)
        );
        add(
            Severity::Warning,
            "many_categories",
            message,
            Message::from("names and ids are useless as features; leave it out, or copy it to the results")
                .with([Setting::Ignore(None), Setting::Keep]),
        );
    }
    if !found.constant.is_empty() {
        let names: Vec<&str> = found.constant.iter().map(String::as_str).collect();
        let message = format!("{} is constant", list("attribute", "attributes", &names));
        let remedy =
            Message::from("harmless; leave it out").with([Setting::Ignore(None)]).and(" to save time");
        add(Severity::Note, "constant", message, remedy);
    }
    if found.missing > 0 {
        let mut columns: Vec<&ColumnSummary> = found.columns.iter().filter(|c| c.missing > 0).collect();
        columns.sort_by_key(|c| std::cmp::Reverse(c.missing)); // stable
        let share = |c: &ColumnSummary| 100.0 * c.missing as f64 / found.instances as f64;
        let each = |c: &&ColumnSummary| format!("{} {} ({:.0}%)", c.name, c.missing, share(c));
        let mut each: Vec<String> = columns.iter().take(SHOWN_MISSING).map(each).collect();
        if columns.len() > SHOWN_MISSING {
            each.push(format!("and {} more attributes", columns.len() - SHOWN_MISSING));
        }
        let message = format!("{} values are missing: {}", found.missing, each.join(", "));
        let mut remedy = Message::from("training does not accept them; fill in medians of the training bags")
            .with([Setting::FillMissing]);
        if 2 * columns[0].missing > found.instances {
            let mostly = Setting::Ignore(Some(columns[0].name.clone()));
            remedy = remedy.or("leave out attributes that are mostly missing").with([mostly]);
        }
        add(Severity::Warning, "missing", message, remedy);
    }
    if found.attributes > found.bags {
        let message = format!("more attributes ({}) than bags ({})", found.attributes, found.bags);
        let remedy =
            "chance patterns are likely; rely on nested cross-validation, not on the fit to these bags";
        add(Severity::Note, "wide", message, remedy.into());
    }
}

fn sizes(found: &Inspection, add: Add<'_>) {
    let spread = &found.bag_sizes.spread;
    if spread.max == 1.0 && found.bags > 1 {
        let remedy = Message::from("an ordinary classifier would do; check the bag column, or name another")
            .with([Setting::Bag]);
        add(Severity::Warning, "single_instances", "every bag has one instance".into(), remedy);
    } else if found.bags > 10 && spread.max * 2.0 > found.instances as f64 {
        let message = format!("one bag has {} of the {} instances", spread.max, found.instances);
        add(Severity::Note, "giant_bag", message, "check that it is really one bag".into());
    }
    // Three standard errors are rare by chance; an area under 0.65 is of little use to a method all the same.
    if let Some(p) = &found.bag_sizes.predicts
        && p.z.abs() > 3.0
        && (p.auc - 0.5).abs() > 0.15
    {
        let more = if p.auc > 0.5 { "larger" } else { "smaller" };
        let area = p.auc.max(1.0 - p.auc);
        let message =
            format!("bags of class {} are {more}: the number of instances alone has AUC {area:.2}", p.class);
        let remedy = "if bag size depends on how the data were collected, a model can learn the size instead of the instances";
        add(Severity::Warning, "size_predicts", message, remedy.into());
    }
}

fn groups(found: &Inspection, add: Add<'_>) {
    let Some(groups) = &found.groups else { return };
    if groups.count == 1 {
        let message = "all bags are in one group".into();
        add(
            Severity::Warning,
            "one_group",
            message,
            Message::from("groups are never split, so nothing can be tested; name another group column")
                .with([Setting::Group]),
        );
    } else if groups.count == found.bags {
        let message = "every bag is its own group".into();
        let remedy = Message::from("the group column has no effect; leave it out, or name another")
            .with([Setting::Group]);
        add(Severity::Note, "groups_are_bags", message, remedy);
    }
    if let Some(found) = pure_groups(groups, found.bags) {
        add(found.level, found.kind, found.message, found.remedy);
    }
    if groups.mixed > 0 && groups.count > 1 {
        let message = format!("{} of {} groups have bags of more than one class", groups.mixed, groups.count);
        add(
            Severity::Note,
            "mixed_groups",
            message,
            "expected for patients or scaffolds; an error if all bags of a group should have the same label"
                .into(),
        );
    }
}

/// Of groups that have bags of one class each. Few of them are a warning: what they differ in besides the label is learned instead.
pub(super) fn pure_groups(groups: &GroupSummary, bags: usize) -> Option<Finding> {
    const FEW: usize = 5;
    let of_class = &groups.of_class;
    let used = of_class.iter().filter(|&&n| n > 0);
    let fewest = *used.clone().min()?;
    if groups.mixed > 0 || used.count() < 2 || groups.count == bags {
        return None;
    }
    let (level, remedy) = match fewest < FEW {
        true => (
            Severity::Warning,
            "a method may learn to tell these groups apart instead of the classes; add bags of more groups of each class",
        ),
        false => (Severity::Note, "expected if the label is a property of the group, such as a patient"),
    };
    Some(Finding {
        level,
        kind: "pure_groups",
        message: format!(
            "all bags of a group have the same label, so there are {} independent examples and not {bags}; the rarest class \
             has {fewest}",
            groups.count
        ),
        remedy: remedy.into(),
    })
}

/// Of a column by which bags may be related.
pub(super) fn related(column: &SharedColumn, bags: usize) -> Finding {
    let SharedColumn { level, name, values } = column;
    Finding {
        level: *level,
        kind: "related_bags",
        message: format!("bags with the same '{name}' ({values} values in {bags} bags) may be related"),
        remedy: Message::from(
            "related bags in training and test make every estimate too optimistic; keep them together",
        )
        .with([Setting::GroupColumn(name.clone())]),
    }
}

fn copies(twice: &Duplicates, groups: Option<&Groups>, add: Add<'_>) {
    if let Some((again, original)) = twice.clashing_bags.first() {
        let more = match twice.clashing_bags.len() {
            1 => String::new(),
            n => format!(", and {}", count(n - 1, "more pair")),
        };
        let message =
            format!("bags {again} and {original} have the same instances but different labels{more}");
        add(
            Severity::Warning,
            "clashing_bags",
            message,
            "one of the labels is wrong, or the attributes cannot distinguish these bags".into(),
        );
    }
    // A group is never split, so that a copy in the group of its original is on the same side.
    let apart = |&(bag, original): &(usize, usize)| groups.is_none_or(|g| g.codes[bag] != g.codes[original]);
    let split = twice.copies.iter().filter(|pair| apart(pair)).count();
    if split > 0 {
        let message = match split {
            1 => "1 bag is a copy of an earlier one".to_string(),
            _ => format!("{split} bags are copies of an earlier one"),
        };
        add(
            Severity::Warning,
            "duplicate_bags",
            message,
            Message::from(
                "copies in training and test make every estimate too optimistic; drop them, or put copies \
                in one group",
            )
            .with([Setting::Group]),
        );
    }
}

fn names_where(columns: &[ColumnSummary], holds: impl Fn(&ColumnSummary) -> bool) -> Vec<&str> {
    columns.iter().filter(|c| holds(c)).map(|c| c.name.as_str()).collect()
}

/// "attribute a", "attributes a, b", "each of 40 attributes (a, b, c, …)": the verb after it is singular in all.
fn list(one: &str, many: &str, names: &[&str]) -> String {
    match names {
        [only] => format!("{one} {only}"),
        _ if names.len() <= 4 => format!("each of the {many} {}", names.join(", ")),
        _ => format!("each of {} {many} ({}, …)", names.len(), names[..3].join(", ")),
    }
}
