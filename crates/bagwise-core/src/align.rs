//! New bags laid out as a model was trained: columns are matched by name, in any order, extra ones are dropped,
//! and categories get the codes they had in training. Tables without headings call their columns f1, f2, …, so
//! that two of them are matched by position. In sparse rows, attributes that are not named are zeros.

use std::collections::{HashMap, HashSet};

use crate::bags::{Bags, Feature, FeatureKind, Instances};
use crate::error::{Error, Place, Result};
use crate::mat::{Csr, Mat};
use crate::message::{Message, Setting};

/// How a column of the new bags becomes one of the trained bags.
enum Recode {
    /// As it is.
    Copy,
    /// Code by code; the last entry is for what training never saw.
    Codes(Vec<f64>),
    /// Numbers that were categories in training: by value.
    Numbers(Vec<(f64, f64)>, f64),
}

impl Recode {
    fn apply(&self, value: f64) -> f64 {
        match self {
            _ if value.is_nan() => value,
            Recode::Copy => value,
            // A code beyond the list is one that an earlier alignment did not know.
            Recode::Codes(codes) => codes[(value as usize).min(codes.len() - 1)],
            Recode::Numbers(pairs, unseen) => {
                pairs.iter().find(|(number, _)| *number == value).map_or(*unseen, |(_, code)| *code)
            }
        }
    }
}

impl Bags {
    /// The same bags with the columns that `features` asks for, in that order. Columns are matched by name;
    /// those not asked for are dropped; categories are coded as in `features`, and a category that is not
    /// there as the number of those that are. An error names the columns that are missing or of another kind.
    pub fn align(&self, features: &[Feature]) -> Result<Bags> {
        if self.features()[..] == *features {
            return Ok(self.clone());
        }
        if numbered(self.features()) && numbered(features) {
            if let Instances::Sparse(rows) = self.instances() {
                return self.by_number(rows, features);
            }
            if self.width() != features.len() {
                return Err(self.other_width(features));
            }
        }
        let position: HashMap<&str, usize> =
            self.features().iter().enumerate().map(|(i, f)| (f.name.as_str(), i)).collect();
        let missing: Vec<&str> =
            features.iter().map(|f| f.name.as_str()).filter(|name| !position.contains_key(name)).collect();
        if !missing.is_empty() {
            return Err(self.missing(&missing, features));
        }
        let from: Vec<usize> = features.iter().map(|f| position[f.name.as_str()]).collect();
        let recodes: Vec<Recode> = features
            .iter()
            .zip(&from)
            .map(|(f, &i)| recode(&self.features()[i], f))
            .collect::<Result<_>>()?;
        self.laid_out(gather(self.instances(), &from, &recodes)?, features)
    }

    /// Sparse rows name only what is not zero, so that a column they lack is one of zeros.
    fn by_number(&self, rows: &Csr, features: &[Feature]) -> Result<Bags> {
        let position: HashMap<Option<u32>, usize> =
            self.features().iter().enumerate().map(|(i, f)| (f.number(), i)).collect();
        // One column more, where every row has a zero.
        let mut wide = rows.clone();
        wide.set_cols(rows.cols() + 1);
        let zeros = Feature::numeric("zeros");
        let from: Vec<usize> =
            features.iter().map(|f| position.get(&f.number()).copied().unwrap_or(rows.cols())).collect();
        let recodes: Vec<Recode> = features
            .iter()
            .zip(&from)
            .map(|(f, &i)| recode(self.features().get(i).unwrap_or(&zeros), f))
            .collect::<Result<_>>()?;
        self.laid_out(gather(&Instances::Sparse(wide), &from, &recodes)?, features)
    }

    /// Dense tables without headings that differ in width are different tables. To match the first columns by their
    /// made-up names would be a guess.
    fn other_width(&self, features: &[Feature]) -> Error {
        if matches!(self.instances(), Instances::Stored(_)) {
            return Error::data(
                Place::default(),
                format!("the instances have {} features", self.width()),
                format!("the training data had {}; compute the features as for training", features.len()),
            );
        }
        Error::data(
            Place::default(),
            format!("found {} feature columns", self.width()),
            Message::from(format!(
                "the training data had {}, and columns without names are matched by position: if there is a label \
                 column, name it",
                features.len()
            ))
            .with([Setting::Label])
            .and(", and leave out columns that are not features")
            .with([Setting::Ignore(None)]),
        )
    }

    fn laid_out(&self, instances: Instances, features: &[Feature]) -> Result<Bags> {
        let offsets = self.offsets().to_vec();
        let bags = if self.has_missing() {
            Bags::with_missing(instances, offsets)
        } else {
            Bags::new(instances, offsets)
        };
        bags?.with_ids(self.ids().to_vec())?.with_features(features.into())
    }

    fn missing(&self, missing: &[&str], features: &[Feature]) -> Error {
        const SHOWN: usize = 8;
        let mut list: Vec<String> = missing.iter().take(SHOWN).map(|name| format!("'{name}'")).collect();
        if missing.len() > SHOWN {
            list.push(format!("and {} more", missing.len() - SHOWN));
        }
        let remedy = if missing.len() == features.len() && self.features()[0].name == "f1" {
            "the training data had column names; give the table the same ones".to_string()
        } else {
            // Those that training had as well are where they should be.
            let there: HashSet<&str> = features.iter().map(|f| f.name.as_str()).collect();
            let known = self.features().iter().map(|f| f.name.as_str()).filter(|name| !there.contains(name));
            match Error::unknown("column", missing[0], known) {
                Error::Unknown { suggestion: Some(s), .. } if s.starts_with("did you mean") => {
                    format!("include every column of the training data under the same name ({s})")
                }
                _ => "include every column of the training data under the same name".to_string(),
            }
        };
        Error::data(Place::default(), format!("columns are missing: {}", list.join(", ")), remedy)
    }
}

/// Sparse rows keep only the attributes that occur if these are at most one in this many of those up to the largest index.
/// A table of named columns that lacks so many of them is hardly a mistake.
const RARE: usize = 8;
/// Narrower rows keep all attributes: they cost next to nothing.
const WIDE: usize = 10_000;

/// True if `occurring` attributes out of `width` are so few that sparse rows do without the others.
pub fn mostly_absent(occurring: usize, width: usize) -> bool {
    width > WIDE && occurring <= width / RARE
}

/// True for the names that attributes without headings get: f1, f2, … without a gap, or those few that occur in sparse rows.
pub fn numbered(features: &[Feature]) -> bool {
    let mut last = 0;
    let ascend = features.iter().all(|f| match f.number() {
        Some(number) if number > last => {
            last = number;
            true
        }
        _ => false,
    });
    ascend && (last as usize == features.len() || mostly_absent(features.len(), last as usize))
}

fn recode(found: &Feature, wanted: &Feature) -> Result<Recode> {
    match (&found.kind, &wanted.kind) {
        (FeatureKind::Numeric, FeatureKind::Numeric) => Ok(Recode::Copy),
        (FeatureKind::Categorical { values: found }, FeatureKind::Categorical { values: wanted }) => {
            if found == wanted {
                return Ok(Recode::Copy);
            }
            let codes: HashMap<&str, usize> =
                wanted.iter().enumerate().map(|(c, v)| (v.as_str(), c)).collect();
            let unseen = wanted.len();
            let code = |v: &String| codes.get(v.as_str()).copied().unwrap_or(unseen) as f64;
            Ok(Recode::Codes(found.iter().map(code).chain([unseen as f64]).collect()))
        }
        (FeatureKind::Categorical { values }, FeatureKind::Numeric) => Err(Error::data(
            Place::default(),
            format!(
                "column '{}' contains text ('{}')",
                found.name,
                values.first().map_or("", String::as_str)
            ),
            "it contained numbers in training",
        )),
        (FeatureKind::Numeric, FeatureKind::Categorical { values }) => {
            let numbers: Option<Vec<(f64, f64)>> =
                values.iter().enumerate().map(|(c, v)| Some((v.parse().ok()?, c as f64))).collect();
            match numbers {
                Some(pairs) => Ok(Recode::Numbers(pairs, values.len() as f64)),
                None => Err(Error::data(
                    Place::default(),
                    format!("column '{}' contains numbers", found.name),
                    format!(
                        "it contained categories in training ('{}', …)",
                        values.first().map_or("", String::as_str)
                    ),
                )),
            }
        }
    }
}

/// Some columns as they are, in this order. Sparse rows stay sparse, single precision stays single.
pub fn columns_of(instances: &Instances, from: &[usize]) -> Result<Instances> {
    let as_they_are: Vec<Recode> = from.iter().map(|_| Recode::Copy).collect();
    gather(instances, from, &as_they_are)
}

/// The columns `from`, recoded. Sparse rows stay sparse.
fn gather(instances: &Instances, from: &[usize], recodes: &[Recode]) -> Result<Instances> {
    let rows = instances.rows();
    Ok(match instances {
        Instances::F64(m) => {
            let mut out = Mat::zeros(rows, from.len());
            for r in 0..rows {
                for (o, (&i, recode)) in out.row_mut(r).iter_mut().zip(from.iter().zip(recodes)) {
                    *o = recode.apply(m.get(r, i));
                }
            }
            Instances::F64(out)
        }
        Instances::F32(m) => {
            let mut out = Mat::zeros(rows, from.len());
            for r in 0..rows {
                for (o, (&i, recode)) in out.row_mut(r).iter_mut().zip(from.iter().zip(recodes)) {
                    *o = recode.apply(f64::from(m.get(r, i))) as f32;
                }
            }
            Instances::F32(out)
        }
        Instances::Sparse(m) => {
            // Columns whose zero becomes something else (category 0 moved) are written in every row.
            let always: Vec<(u32, f64)> = recodes
                .iter()
                .zip(0..)
                .map(|(recode, c)| (c, recode.apply(0.0)))
                .filter(|&(_, value)| value != 0.0)
                .collect();
            let mut to = vec![u32::MAX; m.cols()];
            for (&i, c) in from.iter().zip(0..) {
                to[i] = c;
            }
            let mut out = Csr::empty(from.len());
            let mut row = std::collections::BTreeMap::new();
            for r in 0..rows {
                row.clear();
                row.extend(always.iter().copied());
                let (columns, values) = m.row(r);
                for (&column, &value) in columns.iter().zip(values) {
                    let c = to[column as usize];
                    if c != u32::MAX {
                        row.insert(c, recodes[c as usize].apply(value));
                    }
                }
                out.push_row(row.iter().map(|(&c, &v)| (c, v)));
            }
            Instances::Sparse(out)
        }
        // Rows outside memory with other columns than the model's are an odd case: brought into memory.
        Instances::Stored(_) => gather(&instances.clone().in_memory()?, from, recodes)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn categorical(name: &str, values: &[&str]) -> Feature {
        let values = values.iter().map(|v| v.to_string()).collect();
        Feature { name: name.into(), kind: FeatureKind::Categorical { values } }
    }

    /// One bag of the given rows.
    fn bag(features: Vec<Feature>, rows: &[&[f64]]) -> Bags {
        let instances = Instances::F64(Mat::from_rows(rows));
        Bags::with_missing(instances, vec![0, rows.len()]).unwrap().with_features(features.into()).unwrap()
    }

    fn sparse(bags: &Bags) -> Bags {
        let mut rows = Csr::empty(bags.width());
        let dense = bags.bag(0).to_dense().unwrap();
        for r in 0..dense.rows() {
            rows.push_row(dense.row(r).iter().zip(0..).map(|(&v, c)| (c, v)));
        }
        Bags::with_missing(Instances::Sparse(rows), bags.offsets().to_vec())
            .unwrap()
            .with_features(bags.features().clone())
            .unwrap()
    }

    #[test]
    fn columns_are_found_by_name_and_categories_by_value() {
        let found = bag(
            vec![
                Feature::numeric("extra"),
                categorical("c", &["blue", "green", "red"]),
                Feature::numeric("a"),
            ],
            &[&[9.0, 0.0, 1.5], &[9.0, 1.0, 2.5], &[0.0, 2.0, f64::NAN]],
        );
        // Training knew red and blue in another order, and no green.
        let wanted = [Feature::numeric("a"), categorical("c", &["red", "blue"])];
        for found in [found.clone(), sparse(&found)] {
            let aligned = found.align(&wanted).unwrap();
            let rows = aligned.bag(0).to_dense().unwrap();
            assert_eq!((rows.row(0), rows.row(1)), (&[1.5, 1.0][..], &[2.5, 2.0][..]));
            assert!(rows.get(2, 0).is_nan() && rows.get(2, 1) == 0.0);
            assert_eq!(aligned.features()[..], wanted);
            assert!(aligned.has_missing());
            assert_eq!(aligned.instances().kind(), found.instances().kind());
        }
    }

    #[test]
    fn what_one_alignment_did_not_know_the_next_does_not_either() {
        let found = bag(vec![categorical("c", &["red"])], &[&[1.0], &[0.0]]);
        let aligned = found.align(&[categorical("c", &["red", "blue"])]).unwrap();
        assert_eq!(aligned.bag(0).to_dense().unwrap().data(), [2.0, 0.0]);
    }

    #[test]
    fn numbers_match_categories_that_are_numbers() {
        let found = bag(vec![Feature::numeric("c")], &[&[2.0], &[1.0], &[7.0]]);
        let aligned = found.align(&[categorical("c", &["1.0", "2"])]).unwrap();
        assert_eq!(aligned.bag(0).to_dense().unwrap().data(), [1.0, 0.0, 2.0]);
        let error = found.align(&[categorical("c", &["x"])]).unwrap_err().to_string();
        assert!(
            error.contains("column 'c' contains numbers; it contained categories in training ('x', …)"),
            "{error}"
        );
        let text = bag(vec![categorical("c", &["x"])], &[&[0.0]]);
        let error = text.align(&[Feature::numeric("c")]).unwrap_err().to_string();
        assert!(
            error.contains("column 'c' contains text ('x'); it contained numbers in training"),
            "{error}"
        );
    }

    #[test]
    fn missing_columns_are_named() {
        let found = bag(vec![Feature::numeric("weight"), Feature::numeric("b")], &[&[1.0, 2.0]]);
        let wanted = [Feature::numeric("weigth"), Feature::numeric("b")];
        let error = found.align(&wanted).unwrap_err().to_string();
        assert!(error.contains("columns are missing: 'weigth'"), "{error}");
        assert!(error.contains("did you mean 'weight'?"), "{error}");
        let bare = bag(vec![Feature::numeric("f1")], &[&[1.0]]);
        let error = bare.align(&wanted).unwrap_err().to_string();
        assert!(error.contains("the training data had column names"), "{error}");
    }

    #[test]
    fn without_headings_position_decides_and_the_width_must_fit() {
        let numbered = |n: usize| (1..=n).map(|i| Feature::numeric(format!("f{i}"))).collect::<Vec<_>>();
        let found = bag(numbered(2), &[&[1.0, 2.0]]);
        assert_eq!(found.align(&numbered(2)).unwrap(), found);
        for width in [1, 3] {
            let error = found.align(&numbered(width)).unwrap_err().to_string();
            assert!(error.contains("found 2 feature columns; the training data had"), "{error}");
            let aligned = sparse(&found).align(&numbered(width)).unwrap();
            assert_eq!(aligned.bag(0).to_dense().unwrap().data(), &[1.0, 2.0, 0.0][..width]);
        }
    }

    #[test]
    fn sparse_rows_match_by_number_where_few_attributes_occur() {
        let called = |numbers: &[u32]| -> Vec<Feature> {
            numbers.iter().map(|i| Feature::numeric(format!("f{i}"))).collect()
        };
        let found = sparse(&bag(called(&[2, 7, 90_000]), &[&[1.0, 2.0, 3.0]]));
        let aligned = found.align(&called(&[1, 7, 80_000, 90_000])).unwrap();
        assert_eq!(aligned.bag(0).to_dense().unwrap().data(), [0.0, 2.0, 0.0, 3.0]);
        let aligned = found.align(&called(&[1, 2, 3])).unwrap();
        assert_eq!(aligned.bag(0).to_dense().unwrap().data(), [0.0, 1.0, 0.0]);
        // Columns that a table lacks are not zeros: most of it is there.
        let lacking = sparse(&bag(called(&[1, 3]), &[&[1.0, 2.0]]));
        let error = lacking.align(&called(&[1, 2, 3])).unwrap_err().to_string();
        assert!(error.contains("columns are missing: 'f2'"), "{error}");
    }
}
