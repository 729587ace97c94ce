//! Short names for contents: 16 hexadecimal digits that change when a data set or a run's configuration does,
//! so that results are never resumed with other data or other settings. They guard against mistakes, not against
//! forgery.

use serde::Serialize;

use bagwise_core::{Dataset, FeatureKind, Instances, Result, Target, absorb};

struct FingerprintHasher(u64);

impl FingerprintHasher {
    fn new(what: &str) -> FingerprintHasher {
        let mut print = FingerprintHasher(0);
        print.text(what);
        print
    }

    fn word(&mut self, word: u64) {
        self.0 = absorb(self.0, word);
    }

    /// The length goes first, so that "ab", "c" and "a", "bc" differ.
    fn text(&mut self, text: &str) {
        self.word(text.len() as u64);
        for chunk in text.as_bytes().chunks(8) {
            let mut bytes = [0; 8];
            bytes[..chunk.len()].copy_from_slice(chunk);
            self.word(u64::from_le_bytes(bytes));
        }
    }

    fn texts(&mut self, texts: &[String]) {
        self.word(texts.len() as u64);
        texts.iter().for_each(|t| self.text(t));
    }

    fn words(&mut self, words: impl ExactSizeIterator<Item = u64>) {
        self.word(words.len() as u64);
        words.for_each(|w| self.word(w));
    }

    fn finish(self) -> String {
        format!("{:016x}", self.0)
    }
}

/// The fingerprint of anything that can be written as JSON: a configuration, a plan of folds.
///
/// # Panics
/// If the value cannot be written as JSON (a map whose keys are not text).
pub fn fingerprint(value: &impl Serialize) -> String {
    let mut print = FingerprintHasher::new("json");
    print.text(&serde_json::to_string(value).expect("a configuration is plain data"));
    print.finish()
}

/// The fingerprint of bags, labels and values alone, however bags, features and classes are called and values are stored: by
/// it a copy of a data set is known again.
pub fn content_digest(data: &Dataset) -> Result<String> {
    let mut print = FingerprintHasher::new("content");
    print.words(data.bags.offsets().iter().map(|&o| o as u64));
    print.word(data.bags.width() as u64);
    // Adding nothing makes a negative zero a zero.
    let bits = |v: f64| (v + 0.0).to_bits();
    let rows = data.bags.instance_count();
    data.bags.instances().each_row(0..rows, |_, row| row.iter().for_each(|v| print.word(bits(*v))))?;
    match &data.target {
        None => print.word(0),
        Some(Target::Classes { codes, .. }) => {
            // Classes by first appearance.
            let mut seen: Vec<u32> = Vec::new();
            for code in codes {
                let at = seen.iter().position(|c| c == code).unwrap_or_else(|| {
                    seen.push(*code);
                    seen.len() - 1
                });
                print.word(at as u64);
            }
        }
        Some(Target::Values(values)) => print.words(values.iter().map(|v| bits(*v))),
    }
    Ok(print.finish())
}

/// The fingerprint of everything in a data set that a result can depend on: numbers, bags, names, target, groups;
/// not the name of the data set, nor columns that are only carried along.
pub fn data_fingerprint(data: &Dataset) -> Result<String> {
    let mut print = FingerprintHasher::new("data");
    let bags = &data.bags;
    print.words(bags.offsets().iter().map(|&o| o as u64));
    print.texts(bags.ids());
    for feature in bags.features().iter() {
        print.text(&feature.name);
        if let FeatureKind::Categorical { values } = &feature.kind {
            print.texts(values);
        }
    }
    print.text(bags.instances().kind());
    match bags.instances() {
        Instances::F64(m) => print.words(m.data().iter().map(|v| v.to_bits())),
        Instances::F32(m) => print.words(m.data().iter().map(|v| u64::from(v.to_bits()))),
        Instances::Sparse(m) => {
            print.words(m.indptr().iter().map(|&i| i as u64));
            print.words(m.indices().iter().map(|&i| u64::from(i)));
            print.words(m.values().iter().map(|v| v.to_bits()));
        }
        stored @ Instances::Stored(_) => stored.each_row(0..stored.rows(), |_, row| {
            row.iter().for_each(|v| print.word(v.to_bits()));
        })?,
    }
    match &data.target {
        None => print.word(0),
        Some(Target::Classes { codes, names }) => {
            print.word(1);
            print.words(codes.iter().map(|&c| u64::from(c)));
            print.texts(names);
        }
        Some(Target::Values(values)) => {
            print.word(2);
            print.words(values.iter().map(|v| v.to_bits()));
        }
    }
    match &data.groups {
        None => print.word(0),
        Some(groups) => {
            print.word(1);
            print.words(groups.codes.iter().map(|&c| u64::from(c)));
            print.texts(&groups.names);
        }
    }
    Ok(print.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bagwise_core::{Bags, Groups, Mat};

    #[test]
    fn every_part_of_a_data_set_that_matters_changes_its_fingerprint() {
        let data = |values: Vec<f64>, offsets: Vec<usize>| {
            Dataset::new("t", Bags::new(Instances::F64(Mat::new(3, 1, values)), offsets).unwrap())
        };
        let plain = || data(vec![1.0, 2.0, 3.0], vec![0, 2, 3]);
        let mut named = plain();
        named.name = "other".into();
        let print = |data: &Dataset| data_fingerprint(data).unwrap();
        assert_eq!(print(&plain()), print(&named));
        let others = [
            plain(),
            data(vec![1.0, 2.0, 3.5], vec![0, 2, 3]),
            data(vec![1.0, 2.0, 3.0], vec![0, 1, 3]),
            plain().with_target(Target::Values(vec![0.0, 1.0])).unwrap(),
            plain().with_target(Target::Values(vec![0.0, 2.0])).unwrap(),
            plain().with_target(Target::from_labels(&["a", "b"])).unwrap(),
            plain().with_target(Target::from_labels(&["a", "c"])).unwrap(),
            plain().with_groups(Groups::from_names(&["a", "a"])).unwrap(),
            plain().with_groups(Groups::from_names(&["a", "b"])).unwrap(),
        ];
        let prints: std::collections::BTreeSet<String> = others.iter().map(print).collect();
        assert_eq!(prints.len(), others.len());
    }
}
