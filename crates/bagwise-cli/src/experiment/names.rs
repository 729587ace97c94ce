//! Names of an experiment's data sets and methods as users give them: one by one, or several with commas between them, although a
//! name may have commas itself ("mi-boost, 50 by error").

use anyhow::bail;
use bagwise::{Error, Result, datasets};

use super::{Data, Experiment};
use crate::wording::how_to_get;

/// The names in a file.
#[derive(Default)]
pub(crate) struct NamedInFile {
    sets: Vec<String>,
    /// As files of printed numbers call them.
    pub(crate) printed_sets: Vec<String>,
    pub(crate) methods: Vec<String>,
}

impl NamedInFile {
    pub(super) fn of(experiment: &Experiment) -> NamedInFile {
        NamedInFile {
            sets: experiment.data.iter().map(|d| d.name.clone()).collect(),
            printed_sets: experiment.data.iter().map(|d| d.printed_name().to_string()).collect(),
            methods: experiment.method.iter().map(|m| m.name.clone()).collect(),
        }
    }
}

impl Experiment {
    /// Leaves out all data sets and methods but these; an empty list names all.
    pub(crate) fn only(&mut self, data: &[String], methods: &[String]) -> anyhow::Result<()> {
        let data = named(data, &self.named.sets, "data set")?;
        let methods = named(methods, &self.named.methods, "method of this experiment")?;
        let here = |names: &[String], all: Vec<&str>, what: &str| match names
            .iter()
            .find(|n| !all.contains(&n.as_str()))
        {
            None => Ok(()),
            Some(name) => bail!(
                "{}: the quick version has no {what} '{name}'; use one of {}, or run the full version",
                self.place,
                all.join(", ")
            ),
        };
        here(&data, self.data.iter().map(|d| d.name.as_str()).collect(), "data set")?;
        here(&methods, self.method.iter().map(|m| m.name.as_str()).collect(), "method")?;
        for set in self.data.iter_mut().filter(|_| !data.is_empty()) {
            set.left_out = !data.contains(&set.name);
        }
        for entry in self.method.iter_mut().filter(|_| !methods.is_empty()) {
            entry.left_out = !methods.contains(&entry.name);
        }
        Ok(())
    }

    /// What to say of a data set that is not here.
    pub(crate) fn missing(&self, data: &Data) -> String {
        let (place, name, read) = (&self.place, &data.name, data.read());
        if let Some(set) = datasets::find(read) {
            return format!("{name}: no data set {read} in $BAGWISE_DATA or data/; {}", how_to_get(set));
        }
        let beside = self.folder.join(read);
        let beside = beside.display();
        match read.contains(['/', '\\', '.']) {
            true => format!("{place}: {name}: there is no file {beside}; correct `read`"),
            false => format!(
                "{place}: {name}: there is no data set {read} in $BAGWISE_DATA or data/, and no file {beside}; correct `read`"
            ),
        }
    }
}

/// Those of `known` that are given; an error for any other, which calls it a `what`.
fn named(given: &[String], known: &[String], what: &'static str) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for text in given {
        let parts: Vec<&str> = text.split(',').collect();
        let mut from = 0;
        while from < parts.len() {
            // The longest name that begins here.
            let name = (from + 1..=parts.len()).rev().find_map(|to| {
                let name = parts[from..to].join(",");
                known.iter().find(|k| k.trim() == name.trim()).map(|k| (k, to))
            });
            let Some((name, to)) = name else {
                return Err(Error::unknown(what, parts[from].trim(), known.iter().map(String::as_str)));
            };
            found.push(name.clone());
            from = to;
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn commas_part_names_and_may_be_in_them() {
        let known = ["mi-boost", "mi-boost, 50 by error", "isk", "isk(psi=2,t=10)"].map(String::from);
        let of = |given: &str| named(&[given.into()], &known, "method");
        assert_eq!(of("isk").unwrap(), ["isk"]);
        assert_eq!(of("mi-boost, 50 by error").unwrap(), ["mi-boost, 50 by error"]);
        assert_eq!(of("isk(psi=2,t=10),mi-boost").unwrap(), ["isk(psi=2,t=10)", "mi-boost"]);
        assert_eq!(
            of("mi-boost,mi-boost, 50 by error,isk").unwrap(),
            ["mi-boost", "mi-boost, 50 by error", "isk"]
        );
        let said = of("isk,mi-bost").unwrap_err().to_string();
        assert!(said.contains("mi-bost") && said.contains("mi-boost"), "{said}");
        assert!(of("mi-boost, 60 by error").is_err());
        assert_eq!(named(&[], &known, "method").unwrap(), Vec::<String>::new());
    }
}
