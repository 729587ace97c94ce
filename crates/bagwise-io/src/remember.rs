//! What a model stores about how its data were read, so that new data of the same kind need no options: the roles of
//! columns and the dialect. A column is stored by name, even if it was given by number, because new data often lack the
//! label, which shifts the numbers. Paths, samples and formats belong to one data set and are not stored.

use std::path::Path;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Column, Encoding, ReadOptions, csv, parquet, reader_of};

impl Serialize for Column {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Column {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Column, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|never: std::convert::Infallible| match never {})
    }
}

impl Serialize for Encoding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Encoding {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Encoding, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl ReadOptions {
    /// What is worth remembering of these options, with which the data `name` were read.
    pub fn remembered(&self, name: &str) -> ReadOptions {
        let headings = self.headings(Path::new(name));
        let named = |column: &Column| match (column, &headings) {
            (Column::Number(n), Some(names)) if !names.contains(&n.to_string()) => names
                .get(n - 1)
                .filter(|name| !name.is_empty())
                .map_or(column.clone(), |name| Column::Name(name.clone())),
            _ => column.clone(),
        };
        let all = |columns: &[Column]| columns.iter().map(named).collect();
        ReadOptions {
            bag: self.bag.as_ref().map(named),
            label: self.label.as_ref().map(named),
            group: self.group.as_ref().map(named),
            instance_label: self.instance_label.as_ref().map(named),
            keep: all(&self.keep),
            ignore: all(&self.ignore),
            categorical: all(&self.categorical),
            header: self.header,
            delimiter: self.delimiter,
            decimal: self.decimal,
            thousands: self.thousands,
            encoding: self.encoding,
            missing_values: self.missing_values.clone(),
            max_instances: self.max_instances,
            ..ReadOptions::default()
        }
    }

    /// These options, with what they do not say taken from those that a model remembers. Remembered columns may be absent.
    pub fn recall(mut self, remembered: &ReadOptions) -> ReadOptions {
        let mut taken: Vec<Column> = [&self.bag, &self.label, &self.group, &self.instance_label]
            .into_iter()
            .flatten()
            .chain(self.keep.iter().chain(&self.ignore))
            .cloned()
            .collect();
        // A column that now has another role has lost the one it had.
        let mut free = |column: &Option<Column>, optional: &mut Vec<Column>| {
            let column = column.clone().filter(|c| !taken.contains(c))?;
            taken.push(column.clone());
            optional.push(column.clone());
            Some(column)
        };
        let optional = &mut self.optional;
        for (own, old) in [
            (&mut self.bag, &remembered.bag),
            (&mut self.label, &remembered.label),
            (&mut self.group, &remembered.group),
            (&mut self.instance_label, &remembered.instance_label),
        ] {
            if own.is_none() {
                *own = free(old, optional);
            }
        }
        for (own, old) in [(&mut self.keep, &remembered.keep), (&mut self.ignore, &remembered.ignore)] {
            if own.is_empty() {
                own.extend(old.iter().filter_map(|column| free(&Some(column.clone()), optional)));
            }
        }
        if self.categorical.is_empty() {
            self.categorical.clone_from(&remembered.categorical);
            optional.extend(remembered.categorical.iter().cloned());
        }
        self.header = self.header.or(remembered.header);
        self.delimiter = self.delimiter.or(remembered.delimiter);
        self.decimal = self.decimal.or(remembered.decimal);
        self.thousands = self.thousands.or(remembered.thousands);
        self.encoding = self.encoding.or(remembered.encoding);
        if self.missing_values.is_empty() {
            self.missing_values.clone_from(&remembered.missing_values);
        }
        self
    }

    /// The headings of a table, where columns are given by number.
    fn headings(&self, path: &Path) -> Option<Vec<String>> {
        let single = [&self.bag, &self.label, &self.group, &self.instance_label].into_iter().flatten();
        let all = single.chain(&self.keep).chain(&self.ignore).chain(&self.categorical);
        // A pipe gives its bytes only once.
        if !path.is_file() || !all.into_iter().any(|c| matches!(c, Column::Number(_))) {
            return None;
        }
        let table = match reader_of(path, self).ok()?.name() {
            "csv" => csv::first_rows(path, self, 1).ok()??,
            "parquet" => parquet::first_rows(path, 1).ok()??,
            _ => return None,
        };
        Some(table.into_iter().map(|(name, _)| name).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(text: &str) -> Option<Column> {
        Some(text.parse().unwrap())
    }

    #[test]
    fn numbers_are_remembered_as_headings() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        std::fs::write(&path, "mol,active,x,z\na,1,2,3\na,1,4,5\nb,0,6,7\n").unwrap();
        let given = ReadOptions { bag: column("1"), label: column("2"), seed: 7, ..ReadOptions::default() };
        let kept = given.remembered(path.to_str().unwrap());
        assert_eq!((&kept.bag, &kept.label, kept.seed), (&column("mol"), &column("active"), 0));
        // Through JSON and back.
        let text = serde_json::to_string(&kept).unwrap();
        assert_eq!(text, r#"{"bag":"mol","label":"active"}"#);
        let back: ReadOptions = serde_json::from_str(&text).unwrap();
        assert_eq!((back.bag, back.label), (kept.bag, kept.label));
        // Without headings there is nothing but numbers.
        std::fs::write(&path, "a,1,2,3\na,1,4,5\nb,0,6,7\n").unwrap();
        assert_eq!(given.remembered(path.to_str().unwrap()).label, column("2"));
    }

    #[test]
    fn what_is_said_now_wins_over_what_is_remembered() {
        let old = ReadOptions {
            bag: column("mol"),
            label: column("active"),
            keep: vec![Column::Name("site".into())],
            decimal: Some(','),
            ..ReadOptions::default()
        };
        let now = ReadOptions { bag: column("molecule"), group: column("active"), ..ReadOptions::default() };
        let both = now.recall(&old);
        assert_eq!((both.bag, both.group, both.decimal), (column("molecule"), column("active"), Some(',')));
        // The old label is a group now, so there is none.
        assert_eq!(both.label, None);
        assert_eq!((both.keep.clone(), both.optional), (both.keep, vec![Column::Name("site".into())]));
    }
}
