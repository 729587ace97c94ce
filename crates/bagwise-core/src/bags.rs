//! Bags: one row-major store of instances and the offsets that cut it into bags. Bag `b` owns the rows
//! `offsets[b]..offsets[b + 1]`. What is promised here (no empty bag, equal width, only finite numbers)
//! is checked once, at construction, and relied on everywhere else.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use crate::ctx::Ctx;
use crate::error::{Error, Place, Result};
use crate::mat::{Csr, Mat};
use crate::message::{Message, Setting};
use crate::stored::Stored;

/// Instances in the precision and layout the data came in.
#[derive(Clone, Debug, PartialEq)]
pub enum Instances {
    /// Dense double precision.
    F64(Mat<f64>),
    /// Dense single precision: embeddings.
    F32(Mat<f32>),
    /// Mostly zeros: counts of words, fingerprints.
    Sparse(Csr),
    /// Not in memory: rows of files, read when they are needed.
    Stored(Stored),
}

impl Instances {
    /// Number of instances.
    pub fn rows(&self) -> usize {
        match self {
            Instances::F64(m) => m.rows(),
            Instances::F32(m) => m.rows(),
            Instances::Sparse(m) => m.rows(),
            Instances::Stored(m) => m.rows(),
        }
    }

    /// Number of attributes.
    pub fn cols(&self) -> usize {
        match self {
            Instances::F64(m) => m.cols(),
            Instances::F32(m) => m.cols(),
            Instances::Sparse(m) => m.cols(),
            Instances::Stored(m) => m.cols(),
        }
    }

    /// Writes one row, in double precision, zeros included. An error is a row outside memory that cannot be read.
    pub fn row_into(&self, row: usize, out: &mut [f64]) -> Result<()> {
        match self {
            Instances::F64(m) => out.copy_from_slice(m.row(row)),
            Instances::F32(m) => {
                for (o, &v) in out.iter_mut().zip(m.row(row)) {
                    *o = f64::from(v);
                }
            }
            Instances::Sparse(m) => {
                out.fill(0.0);
                let (columns, values) = m.row(row);
                for (&c, &v) in columns.iter().zip(values) {
                    out[c as usize] = v;
                }
            }
            Instances::Stored(m) => m.read_f64(row..row + 1, out)?,
        }
        Ok(())
    }

    /// Calls `f` with every one of some rows in turn, in double precision, zeros included. Rows that are not in memory
    /// are read in blocks, so that this is the way to walk over many; it ends at the first that cannot be read.
    pub fn each_row(&self, rows: Range<usize>, mut f: impl FnMut(usize, &[f64])) -> Result<()> {
        let width = self.cols();
        match self {
            Instances::F64(m) => rows.for_each(|row| f(row, m.row(row))),
            Instances::Stored(m) => {
                let step = m.block_rows();
                let mut block = vec![0.0; step.min(rows.len()) * width];
                for first in rows.clone().step_by(step) {
                    let count = step.min(rows.end - first);
                    m.read_f64(first..first + count, &mut block[..count * width])?;
                    block.chunks_exact(width).take(count).zip(first..).for_each(|(row, i)| f(i, row));
                }
            }
            _ => {
                let mut row = vec![0.0; width];
                for i in rows {
                    self.row_into(i, &mut row)?;
                    f(i, &row);
                }
            }
        }
        Ok(())
    }

    /// The same rows in memory, if they are not there yet.
    pub fn in_memory(self) -> Result<Instances> {
        let Instances::Stored(m) = self else { return Ok(self) };
        let (rows, cols) = (m.rows(), m.cols());
        if m.is_single() {
            let mut out = Mat::zeros(rows, cols);
            m.read_f32(0..rows, out.data_mut())?;
            Ok(Instances::F32(out))
        } else {
            let mut out = Mat::zeros(rows, cols);
            m.read_f64(0..rows, out.data_mut())?;
            Ok(Instances::F64(out))
        }
    }

    /// The rows named by `rows`, in that order.
    pub fn gather(&self, rows: &[usize]) -> Instances {
        match self {
            Instances::F64(m) => Instances::F64(m.gather(rows)),
            Instances::F32(m) => Instances::F32(m.gather(rows)),
            Instances::Sparse(m) => Instances::Sparse(m.gather(rows)),
            Instances::Stored(m) => Instances::Stored(m.gather(rows)),
        }
    }

    /// Bytes the numbers occupy, in memory or where they are stored.
    pub fn bytes(&self) -> u64 {
        (match self {
            Instances::F64(m) => m.data().len() * 8,
            Instances::F32(m) => m.data().len() * 4,
            Instances::Sparse(m) => m.nnz() * 12 + m.indptr().len() * 8,
            Instances::Stored(m) => return m.bytes(),
        }) as u64
    }

    /// True if every number fits in single precision as it is stored.
    pub fn is_single(&self) -> bool {
        match self {
            Instances::F32(_) => true,
            Instances::Stored(m) => m.is_single(),
            Instances::F64(_) | Instances::Sparse(_) => false,
        }
    }

    /// "f64", "f32", "sparse", or what the rows are that are not in memory.
    pub fn kind(&self) -> &'static str {
        match self {
            Instances::F64(_) => "f64",
            Instances::F32(_) => "f32",
            Instances::Sparse(_) => "sparse",
            Instances::Stored(m) => m.kind(),
        }
    }

    /// The first (row, column) that is not a finite number.
    fn first_not_finite(&self) -> Result<Option<(usize, usize)>> {
        Ok(match self {
            Instances::F64(m) => {
                m.data().iter().position(|v| !v.is_finite()).map(|i| (i / m.cols(), i % m.cols()))
            }
            Instances::F32(m) => {
                m.data().iter().position(|v| !v.is_finite()).map(|i| (i / m.cols(), i % m.cols()))
            }
            Instances::Sparse(m) => m.values().iter().position(|v| !v.is_finite()).map(|i| {
                let row = m.indptr().partition_point(|&start| start <= i) - 1;
                (row, m.indices()[i] as usize)
            }),
            Instances::Stored(m) if m.is_finite() => None,
            Instances::Stored(m) => {
                let starts: Vec<usize> = (0..m.rows()).step_by(m.block_rows()).collect();
                let look = |&start: &usize| {
                    let mut found = None;
                    let read = self.each_row(start..(start + m.block_rows()).min(m.rows()), |row, values| {
                        found = found.or_else(|| Some((row, values.iter().position(|v| !v.is_finite())?)));
                    });
                    read.map(|()| found).transpose()
                };
                starts.par_iter().find_map_first(look).transpose()?
            }
        })
    }

    fn has_infinity(&self) -> Result<bool> {
        Ok(match self {
            Instances::F64(m) => m.data().iter().any(|v| v.is_infinite()),
            Instances::F32(m) => m.data().iter().any(|v| v.is_infinite()),
            Instances::Sparse(m) => m.values().iter().any(|v| v.is_infinite()),
            // Values outside memory cannot be filled in, so that none may be missing.
            Instances::Stored(_) => self.first_not_finite()?.is_some(),
        })
    }
}

/// An attribute: its name, and its values if they are categories.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Feature {
    /// The column's name.
    pub name: String,
    /// Numbers, or codes into a list of categories.
    pub kind: FeatureKind,
}

/// What the numbers of a column mean.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FeatureKind {
    /// Themselves.
    Numeric,
    /// The position in `values`; an unseen value at prediction is coded `values.len()`.
    Categorical {
        /// The categories, by code.
        values: Vec<String>,
    },
}

impl Feature {
    /// A numeric attribute.
    pub fn numeric(name: impl Into<String>) -> Feature {
        Feature { name: name.into(), kind: FeatureKind::Numeric }
    }

    /// True for categories.
    pub fn is_categorical(&self) -> bool {
        matches!(self.kind, FeatureKind::Categorical { .. })
    }

    /// The number of an attribute that has no name of its own and is called `f1`, `f2`, … after its position.
    pub fn number(&self) -> Option<u32> {
        let digits = self.name.strip_prefix('f')?;
        let plain = digits.starts_with(|c: char| ('1'..='9').contains(&c));
        digits.parse().ok().filter(|_| plain)
    }
}

/// Many bags over the same attributes.
#[derive(Clone, Debug, PartialEq)]
pub struct Bags {
    /// Shared, so that a clone of bags copies no numbers.
    instances: Arc<Instances>,
    offsets: Vec<usize>,
    ids: Vec<String>,
    features: Arc<[Feature]>,
    missing: bool,
}

impl Bags {
    /// Bags from instances and offsets, checked. Bags are called "1", "2", … and attributes "f1", "f2", …
    /// until [`with_ids`](Bags::with_ids) and [`with_features`](Bags::with_features) name them.
    pub fn new(instances: Instances, offsets: Vec<usize>) -> Result<Bags> {
        Bags::named(instances, offsets, None, None)
    }

    /// Like [`new`](Bags::new), with names of bags and features where they have any, so that what is refused is
    /// refused by name.
    pub fn named(
        instances: Instances,
        offsets: Vec<usize>,
        ids: Option<Vec<String>>,
        features: Option<Arc<[Feature]>>,
    ) -> Result<Bags> {
        Bags::named_or(instances, offsets, ids, features, Bags::bad_value)
    }

    /// Like [`named`](Bags::named). What is said of a value that is not finite is up to the caller, who knows whether users count
    /// from 0: `refuse` gets the bags, a bag, an instance of it and a column, all from 0.
    pub fn named_or(
        instances: Instances,
        offsets: Vec<usize>,
        ids: Option<Vec<String>>,
        features: Option<Arc<[Feature]>>,
        refuse: impl FnOnce(&Bags, usize, usize, usize) -> Error,
    ) -> Result<Bags> {
        let mut bags = Bags::shape_checked(instances, offsets)?;
        if let Some(ids) = ids {
            bags = bags.with_ids(ids)?;
        }
        if let Some(features) = features {
            bags = bags.with_features(features)?;
        }
        if let Some((row, column)) = bags.instances.first_not_finite()? {
            let bag = bags.bag_of_row(row);
            return Err(refuse(&bags, bag, row - bags.offsets[bag], column));
        }
        Ok(bags)
    }

    /// Like [`new`](Bags::new), but NaN stands for a missing value, to be filled by an imputer that has seen
    /// the training bags. Infinity is still refused.
    pub fn with_missing(instances: Instances, offsets: Vec<usize>) -> Result<Bags> {
        let mut bags = Bags::shape_checked(instances, offsets)?;
        if bags.instances.has_infinity()? {
            return Err(Error::data(
                Place::default(),
                "a value is infinite",
                "give finite numbers, or leave the cell empty if it is missing",
            ));
        }
        bags.missing = bags.instances.first_not_finite()?.is_some();
        Ok(bags)
    }

    fn shape_checked(instances: Instances, offsets: Vec<usize>) -> Result<Bags> {
        let refuse = |found: String, remedy: &str| Err(Error::data(Place::default(), found, remedy));
        if offsets.first() != Some(&0) || offsets.last() != Some(&instances.rows()) {
            return refuse(
                format!("offsets must start at 0 and end at the number of instances, {}", instances.rows()),
                "bag b has rows offsets[b]..offsets[b + 1]",
            );
        }
        if instances.rows() == 0 {
            return refuse("there are no instances".into(), "give at least one bag with one instance");
        }
        if instances.cols() == 0 {
            return refuse("there are no attributes".into(), "give at least one feature column");
        }
        if let Some(bag) = offsets.windows(2).position(|w| w[1] <= w[0]) {
            return refuse(
                format!("bag {} (counted from 1) is empty", bag + 1),
                "a bag needs at least one instance",
            );
        }
        let ids = (1..offsets.len()).map(|b| b.to_string()).collect();
        let features = (1..=instances.cols()).map(|f| Feature::numeric(format!("f{f}"))).collect();
        Ok(Bags { instances: Arc::new(instances), offsets, ids, features, missing: false })
    }

    fn bad_value(&self, bag: usize, instance: usize, column: usize) -> Error {
        let place = format!("instance {} of bag '{}'", instance + 1, self.ids[bag]);
        self.not_finite(&place, column)
    }

    /// The error of a value that is NaN or infinite, at a place in words.
    pub fn not_finite(&self, place: &str, column: usize) -> Error {
        Error::data(
            Place::default(),
            format!("{place} has no finite value for '{}'", self.features[column].name),
            Message::from("it is NaN or inf: fill it in, drop the instance, or allow missing values")
                .with([Setting::AllowMissing]),
        )
    }

    /// Names the bags.
    pub fn with_ids(mut self, ids: Vec<String>) -> Result<Bags> {
        if ids.len() != self.len() {
            return Err(Error::Invalid(format!("{} ids for {} bags", ids.len(), self.len())));
        }
        let mut sorted: Vec<&String> = ids.iter().collect();
        sorted.sort_unstable();
        if let Some(twice) = sorted.windows(2).find(|w| w[0] == w[1]) {
            return Err(Error::Invalid(format!(
                "two bags are called '{}'; bag ids must be unique",
                twice[0]
            )));
        }
        self.ids = ids;
        Ok(self)
    }

    /// Names the attributes and says which are categories.
    pub fn with_features(mut self, features: Arc<[Feature]>) -> Result<Bags> {
        if features.len() != self.width() {
            return Err(Error::Invalid(format!(
                "{} feature names for {} columns",
                features.len(),
                self.width()
            )));
        }
        self.features = features;
        Ok(self)
    }

    /// Number of bags.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Never true: a set of bags has at least one.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Number of instances.
    pub fn instance_count(&self) -> usize {
        self.instances.rows()
    }

    /// Number of attributes.
    pub fn width(&self) -> usize {
        self.instances.cols()
    }

    /// Stored numbers per instance, on average: the width, or less where rows are sparse.
    pub fn values_per_instance(&self) -> f64 {
        match &*self.instances {
            Instances::Sparse(rows) => rows.nnz() as f64 / rows.rows() as f64,
            dense => dense.cols() as f64,
        }
    }

    /// Pairs of instances that share a bag, each once.
    pub fn pairs_within(&self) -> f64 {
        self.offsets.windows(2).map(|w| ((w[1] - w[0]) * (w[1] - w[0])) as f64 / 2.0).sum()
    }

    /// The instances of all bags.
    pub fn instances(&self) -> &Instances {
        &self.instances
    }

    /// Where each bag starts, and the end.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The rows of a bag.
    pub fn rows(&self, bag: usize) -> Range<usize> {
        self.offsets[bag]..self.offsets[bag + 1]
    }

    /// The bag that owns a row.
    pub fn bag_of_row(&self, row: usize) -> usize {
        self.offsets.partition_point(|&start| start <= row) - 1
    }

    /// The names of the bags.
    pub fn ids(&self) -> &[String] {
        &self.ids
    }

    /// The attributes.
    pub fn features(&self) -> &Arc<[Feature]> {
        &self.features
    }

    /// True if some values are missing (NaN).
    pub fn has_missing(&self) -> bool {
        self.missing
    }

    /// A view of one bag.
    pub fn bag(&self, bag: usize) -> BagRef<'_> {
        let rows = self.rows(bag);
        BagRef { instances: &self.instances, start: rows.start, len: rows.len() }
    }

    /// The bags named by `bags`, in that order, again contiguous: copied, unless they are all of them as they are.
    pub fn select(&self, bags: &[usize]) -> Bags {
        if bags.len() == self.len() && bags.iter().enumerate().all(|(at, &b)| at == b) {
            return self.clone();
        }
        let rows: Vec<usize> = bags.iter().flat_map(|&b| self.rows(b)).collect();
        let mut offsets = Vec::with_capacity(bags.len() + 1);
        offsets.push(0);
        for &bag in bags {
            offsets.push(offsets[offsets.len() - 1] + self.rows(bag).len());
        }
        Bags {
            instances: Arc::new(self.instances.gather(&rows)),
            offsets,
            ids: bags.iter().map(|&b| self.ids[b].clone()).collect(),
            features: Arc::clone(&self.features),
            missing: self.missing,
        }
    }

    /// The same bags with some of their rows; `offsets` cuts the chosen rows into bags, none of them empty.
    pub fn with_rows(&self, rows: &[usize], offsets: Vec<usize>) -> Bags {
        Bags { instances: Arc::new(self.instances.gather(rows)), offsets, ..self.clone() }
    }

    /// These bags followed by `more` over the same attributes. Unequal storages meet in dense double precision.
    pub fn chain(&self, more: &Bags) -> Result<Bags> {
        let end = self.instance_count();
        let offsets: Vec<usize> =
            self.offsets.iter().copied().chain(more.offsets[1..].iter().map(|o| end + o)).collect();
        let instances = match (&*self.instances, &*more.instances) {
            (Instances::F32(a), Instances::F32(b)) => {
                Instances::F32(Mat::new(a.rows() + b.rows(), a.cols(), [a.data(), b.data()].concat()))
            }
            (Instances::Sparse(a), Instances::Sparse(b)) => {
                let mut all = a.clone();
                for i in 0..b.rows() {
                    let (columns, values) = b.row(i);
                    all.push_row(columns.iter().copied().zip(values.iter().copied()));
                }
                Instances::Sparse(all)
            }
            (a, b) => {
                let mut all = Mat::zeros(a.rows() + b.rows(), self.width());
                a.each_row(0..a.rows(), |i, row| all.row_mut(i).copy_from_slice(row))?;
                b.each_row(0..b.rows(), |i, row| all.row_mut(end + i).copy_from_slice(row))?;
                Instances::F64(all)
            }
        };
        Bags::with_missing(instances, offsets)?.with_features(Arc::clone(&self.features))
    }

    /// The instances, held together with these bags.
    pub(crate) fn shared_instances(&self) -> Arc<Instances> {
        Arc::clone(&self.instances)
    }

    /// How many bags share these instances.
    pub fn holders(&self) -> usize {
        Arc::strong_count(&self.instances)
    }

    /// The same bags with their instances in memory, which methods that go over them again and again want.
    pub fn in_memory(self: Arc<Bags>, ctx: &Ctx) -> Result<Arc<Bags>> {
        if !matches!(&*self.instances, Instances::Stored(_)) {
            return Ok(self);
        }
        self.reserve_in_memory("all instances in memory", ctx)?;
        let instances = Arc::new(Instances::clone(&self.instances).in_memory()?);
        Ok(Arc::new(Bags { instances, ..Bags::clone(&self) }))
    }

    /// An error if [`in_memory`](Bags::in_memory) would have no room for them; `what` they are.
    pub fn reserve_in_memory(&self, what: &str, ctx: &Ctx) -> Result<()> {
        let Instances::Stored(rows) = &*self.instances else { return Ok(()) };
        let each = if rows.is_single() { 4 } else { 8 };
        ctx.reserve(
            what,
            (each * rows.rows() * rows.cols()) as u64,
            Message::more_memory()
                .and(", sample fewer instances")
                .with([Setting::MaxInstances])
                .or("choose isk or simple-mi, which read one bag at a time"),
        )
    }

    /// The same bags with other instances: what a scaler or encoder returns. `features` names the new columns.
    pub fn with_instances(&self, instances: Instances, features: Arc<[Feature]>) -> Result<Bags> {
        // Rows that are scaled as they are read stay finite.
        let bags = match instances {
            Instances::Stored(_) => Bags::shape_checked(instances, self.offsets.clone())?,
            _ => Bags::new(instances, self.offsets.clone())?,
        };
        Ok(Bags { ids: self.ids.clone(), ..bags.with_features(features)? })
    }
}

/// A view of one bag in any storage.
#[derive(Clone, Copy, Debug)]
pub struct BagRef<'a> {
    instances: &'a Instances,
    start: usize,
    len: usize,
}

impl<'a> BagRef<'a> {
    /// Number of instances, at least 1.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Never true: a bag has at least one instance.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Number of attributes.
    pub fn width(&self) -> usize {
        self.instances.cols()
    }

    /// Writes one instance in double precision.
    pub fn row_into(&self, i: usize, out: &mut [f64]) -> Result<()> {
        debug_assert!(i < self.len);
        self.instances.row_into(self.start + i, out)
    }

    /// The store the bag lives in and its rows there, for engines that read it without copying.
    pub fn parts(&self) -> (&'a Instances, Range<usize>) {
        (self.instances, self.start..self.start + self.len)
    }

    /// A dense copy in double precision.
    pub fn to_dense(&self) -> Result<Mat> {
        let mut out = Mat::zeros(self.len, self.width());
        let (instances, rows) = self.parts();
        instances.each_row(rows, |row, values| out.row_mut(row - self.start).copy_from_slice(values))?;
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three() -> Bags {
        let rows = Mat::from_rows(&[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]);
        Bags::new(Instances::F64(rows), vec![0, 1, 3, 4]).unwrap()
    }

    #[test]
    fn a_bag_is_a_view_of_its_rows() {
        let bags = three();
        assert_eq!((bags.len(), bags.instance_count(), bags.width()), (3, 4, 2));
        assert_eq!(bags.bag(1).to_dense().unwrap(), Mat::from_rows(&[[3.0, 4.0], [5.0, 6.0]]));
        assert_eq!((0..4).map(|r| bags.bag_of_row(r)).collect::<Vec<_>>(), [0, 1, 1, 2]);
    }

    #[test]
    fn select_keeps_the_order_asked_for() {
        let picked = three().select(&[2, 1]);
        assert_eq!(picked.ids(), ["3", "2"]);
        assert_eq!(picked.offsets(), [0, 1, 3]);
        assert_eq!(picked.bag(0).to_dense().unwrap(), Mat::from_rows(&[[7.0, 8.0]]));
    }

    #[test]
    fn every_storage_gives_the_same_rows() {
        let dense = three();
        let single = Instances::F32(Mat::new(4, 2, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]));
        let mut csr = Csr::empty(2);
        for r in 0..4 {
            csr.push_row([(0, 2.0 * r as f64 + 1.0), (1, 2.0 * r as f64 + 2.0)]);
        }
        for other in [single, Instances::Sparse(csr)] {
            let other = Bags::new(other, vec![0, 1, 3, 4]).unwrap();
            for b in 0..3 {
                assert_eq!(other.bag(b).to_dense().unwrap(), dense.bag(b).to_dense().unwrap());
            }
        }
    }

    #[test]
    fn what_is_not_a_bag_is_refused_by_name() {
        let rows = || Instances::F64(Mat::from_rows(&[[1.0], [f64::NAN]]));
        let message = |r: Result<Bags>| r.unwrap_err().to_string();
        assert!(message(Bags::new(rows(), vec![0, 0, 2])).contains("bag 1 (counted from 1) is empty"));
        assert!(message(Bags::new(rows(), vec![0, 1])).contains("offsets"));
        assert!(
            message(Bags::new(rows(), vec![0, 2]))
                .contains("instance 2 of bag '1' has no finite value for 'f1'")
        );
        let names = (vec!["a".into(), "b".into()], [Feature::numeric("x")].into());
        assert!(
            message(Bags::named(rows(), vec![0, 1, 2], Some(names.0), Some(names.1)))
                .contains("instance 1 of bag 'b' has no finite value for 'x'")
        );
        assert!(Bags::with_missing(rows(), vec![0, 2]).unwrap().has_missing());
        let infinite = Instances::F64(Mat::from_rows(&[[f64::INFINITY]]));
        assert!(message(Bags::with_missing(infinite, vec![0, 1])).contains("infinite"));
        let bags = Bags::new(Instances::F64(Mat::zeros(2, 1)), vec![0, 1, 2]).unwrap();
        assert!(message(bags.with_ids(vec!["a".into(), "a".into()])).contains("two bags are called 'a'"));
    }
}
