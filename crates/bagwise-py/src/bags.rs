//! Bags on the way in (arrays are checked and copied once, or borrowed; single precision stays single) and out (views without a
//! copy where they are dense and in memory).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use bagwise::{Bags, Csr, Error, Feature, FeatureKind, Instances, Mat, RowSource, Stored};
use numpy::ndarray::ArrayView2;
use numpy::{Element, PyArray1, PyArray2, PyArrayMethods as _, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::borrowed::BorrowedRows;
use crate::runtime::exception;

/// Bags that have been checked. `python/bagwise/_bags.py` wraps them for users.
#[pyclass(name = "Bags", module = "bagwise._native", frozen)]
pub(crate) struct NativeBags {
    pub(crate) bags: Arc<Bags>,
    /// The arrays of the caller, if the instances are still there.
    pub(crate) borrowed: Option<Arc<BorrowedRows>>,
}

impl NativeBags {
    pub(crate) fn new(bags: Bags) -> NativeBags {
        NativeBags { bags: Arc::new(bags), borrowed: None }
    }

    /// How many refer to the arrays of the caller, directly or as bags; 0 if there are none.
    pub(crate) fn holders(&self) -> usize {
        self.borrowed.as_ref().map_or(0, |source| Arc::strong_count(source) + self.bags.holders())
    }

    /// Other bags or names, of the same arrays.
    fn like(&self, bags: Bags) -> NativeBags {
        NativeBags { bags: Arc::new(bags), borrowed: self.borrowed.clone() }
    }
}

#[pymethods]
impl NativeBags {
    /// `instances` is a matrix in C order, whose rows are taken in `order`; (columns, indptr, indices, values) of sparse
    /// rows; or, with `single`, whatever gives the matrices of the bags one by one, to be kept in single or double
    /// precision; or, with `borrowed`, matrices in single precision that stay where they are, below each other (true) or side by
    /// side. Columns named in `categories` hold codes.
    #[new]
    #[pyo3(signature = (instances, offsets, ids, features, categories, missing, order=None, single=None, borrowed=None))]
    fn from_arrays(
        py: Python<'_>,
        instances: &Bound<'_, PyAny>,
        offsets: PyReadonlyArray1<'_, i64>,
        ids: Option<Vec<String>>,
        features: Option<Vec<String>>,
        categories: HashMap<String, Vec<String>>,
        missing: bool,
        order: Option<PyReadonlyArray1<'_, i64>>,
        single: Option<bool>,
        borrowed: Option<bool>,
    ) -> PyResult<NativeBags> {
        let rows = offsets.as_array().last().map_or(0, |&o| usize::try_from(o).unwrap_or(0));
        let source = match borrowed {
            None => None,
            Some(below) => {
                let order = order.as_ref().map(|o| o.as_array().iter().map(|&r| row_number(r)).collect());
                Some(BorrowedRows::new(instances.extract()?, below, order)?)
            }
        };
        let instances = match (&source, single) {
            (Some(source), _) => Instances::Stored(Stored::new(Arc::clone(source) as Arc<dyn RowSource>)),
            (None, Some(true)) => Instances::F32(joined(instances, rows, |v| v as f32, |v| v)?),
            (None, Some(false)) => Instances::F64(joined(instances, rows, |v| v, f64::from)?),
            (None, None) => instances_from(instances, order)?,
        };
        let offsets: Vec<usize> = offsets.as_array().iter().map(|&o| row_number(o)).collect();
        let made = py.detach(move || {
            let features = features.map(|names| described(names, &categories));
            if let Some(bag) = offsets.windows(2).position(|w| w[1] <= w[0]) {
                let which = called(ids.as_deref(), bag);
                return Err(Error::Invalid(format!("{which} is empty; a bag needs at least one instance")));
            }
            if !missing {
                let named = ids.is_some();
                return Bags::named_or(instances, offsets, ids, features, |bags, bag, instance, column| {
                    let place = match named {
                        true => format!("bag '{}', instance {instance} (counted from 0),", bags.ids()[bag]),
                        false => format!("bag {bag}, instance {instance} (both counted from 0),"),
                    };
                    bags.not_finite(&place, column)
                });
            }
            let mut bags = Bags::with_missing(instances, offsets)?;
            if let Some(features) = features {
                bags = bags.with_features(features)?;
            }
            match ids {
                Some(ids) => bags.with_ids(ids),
                None => Ok(bags),
            }
        });
        made.map(|bags| NativeBags { bags: Arc::new(bags), borrowed: source }).map_err(exception)
    }

    fn __len__(&self) -> usize {
        self.bags.len()
    }

    /// Number of attributes.
    #[getter]
    fn width(&self) -> usize {
        self.bags.width()
    }

    /// Number of instances of all bags.
    #[getter]
    fn instance_count(&self) -> usize {
        self.bags.instance_count()
    }

    /// Where each bag starts, and the end.
    #[getter]
    fn offsets<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        PyArray1::from_vec(py, self.bags.offsets().iter().map(|&o| o as i64).collect())
    }

    #[getter]
    fn ids(&self) -> Vec<String> {
        self.bags.ids().to_vec()
    }

    #[getter]
    fn features(&self) -> Vec<String> {
        self.bags.features().iter().map(|f| f.name.clone()).collect()
    }

    #[getter]
    fn categories(&self) -> HashMap<String, Vec<String>> {
        let categories = |f: &Feature| match &f.kind {
            FeatureKind::Categorical { values } => Some((f.name.clone(), values.clone())),
            FeatureKind::Numeric => None,
        };
        self.bags.features().iter().filter_map(categories).collect()
    }

    /// True if some values are missing.
    #[getter]
    fn missing(&self) -> bool {
        self.bags.has_missing()
    }

    /// True if the instances are still in arrays of the caller.
    #[getter]
    fn borrowed(&self) -> bool {
        self.borrowed.is_some()
    }

    /// All instances: a view where they are a matrix in memory, (columns, indptr, indices, values) where they are
    /// sparse, a copy where they are outside memory.
    #[getter]
    fn instances<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let bags = &slf.get().bags;
        let py = slf.py();
        match bags.instances() {
            Instances::F64(mat) => Ok(view(slf, mat, 0, mat.rows())),
            Instances::F32(mat) => Ok(view(slf, mat, 0, mat.rows())),
            Instances::Sparse(rows) => Ok(sparse(py, rows)?.into_any()),
            Instances::Stored(_) => copy(py, bags, 0..bags.instance_count()),
        }
    }

    /// The instances of one bag: a view where they are a matrix in memory, else a dense copy.
    fn bag<'py>(slf: &Bound<'py, Self>, bag: usize) -> PyResult<Bound<'py, PyAny>> {
        let bags = &slf.get().bags;
        if bag >= bags.len() {
            return Err(PyIndexError::new_err(format!("bag {bag} of {}", bags.len())));
        }
        let rows = bags.rows(bag);
        match bags.instances() {
            Instances::F64(mat) => Ok(view(slf, mat, rows.start, rows.len())),
            Instances::F32(mat) => Ok(view(slf, mat, rows.start, rows.len())),
            _ => copy(slf.py(), bags, rows),
        }
    }

    /// The same bags with other names of features.
    fn named(
        &self,
        py: Python<'_>,
        features: Vec<String>,
        categories: HashMap<String, Vec<String>>,
    ) -> PyResult<NativeBags> {
        let bags = Arc::clone(&self.bags);
        let made = py.detach(move || bags.as_ref().clone().with_features(described(features, &categories)));
        made.map(|bags| self.like(bags)).map_err(exception)
    }

    /// Some bags, in that order. A bag that is taken twice gets " (2)" behind its name, or the next number that is free.
    fn select(&self, py: Python<'_>, bags: PyReadonlyArray1<'_, i64>) -> PyResult<NativeBags> {
        let count = self.bags.len();
        let mut chosen = Vec::with_capacity(bags.len()?);
        for &bag in bags.as_array() {
            match usize::try_from(bag) {
                Ok(bag) if bag < count => chosen.push(bag),
                _ => return Err(PyIndexError::new_err(format!("bag {bag} of {count}"))),
            }
        }
        if chosen.is_empty() {
            let none = Error::Invalid("no bag is selected; select at least one".into());
            return Err(exception(none));
        }
        let all = Arc::clone(&self.bags);
        let made = py.detach(move || {
            let some = all.select(&chosen);
            let mut times = vec![0_usize; count];
            let mut taken: HashSet<String> = chosen.iter().map(|&bag| all.ids()[bag].clone()).collect();
            let mut name = |&bag: &usize| {
                let own = &all.ids()[bag];
                times[bag] += 1;
                if times[bag] == 1 {
                    return own.clone();
                }
                // What was chosen from before may have such names already.
                let free =
                    (times[bag]..).map(|n| format!("{own} ({n})")).find(|name| taken.insert(name.clone()));
                free.expect("some number is free")
            };
            let names: Vec<String> = chosen.iter().map(&mut name).collect();
            if times.iter().any(|&n| n > 1) { some.with_ids(names) } else { Ok(some) }
        });
        made.map(|bags| self.like(bags)).map_err(exception)
    }
}

/// A bag in a message: its name, or its position as Python counts. Nobody knows the names that bags without any have.
fn called(ids: Option<&[String]>, bag: usize) -> String {
    match ids {
        Some(ids) if bag < ids.len() => format!("bag '{}'", ids[bag]),
        _ => format!("bag {bag} (counted from 0)"),
    }
}

/// A number of a row; what is none is beyond all rows.
fn row_number(given: i64) -> usize {
    usize::try_from(given).unwrap_or(usize::MAX)
}

/// Features from their names; those that have categories hold codes.
fn described(names: Vec<String>, categories: &HashMap<String, Vec<String>>) -> Arc<[Feature]> {
    let feature = |name: String| match categories.get(&name) {
        Some(values) => Feature { kind: FeatureKind::Categorical { values: values.clone() }, name },
        None => Feature::numeric(name),
    };
    names.into_iter().map(feature).collect()
}

/// Rows of a matrix that Python may read as long as it likes: the array keeps the bags alive, and nobody changes them.
fn view<'py, T: Element + Copy + Default>(
    owner: &Bound<'py, NativeBags>,
    mat: &Mat<T>,
    start: usize,
    rows: usize,
) -> Bound<'py, PyAny> {
    let data = &mat.data()[start * mat.cols()..(start + rows) * mat.cols()];
    let shaped = ArrayView2::from_shape((rows, mat.cols()), data).expect("rows times columns values");
    // SAFETY: the values belong to bags behind an `Arc` that `owner` holds and never replaces (`frozen`); the array
    // holds `owner`, and is made read-only before anybody sees it.
    let array = unsafe { PyArray2::borrow_from_array(&shaped, owner.clone().into_any()) };
    array.readwrite().make_nonwriteable();
    array.into_any()
}

fn copy<'py>(py: Python<'py>, bags: &Bags, rows: std::ops::Range<usize>) -> PyResult<Bound<'py, PyAny>> {
    let (start, instances) = (rows.start, bags.instances());
    if matches!(instances, Instances::Stored(stored) if stored.is_single()) {
        let mut out = Vec::with_capacity(rows.len() * bags.width());
        let shape = [rows.len(), bags.width()];
        instances
            .each_row(rows, |_, values| out.extend(values.iter().map(|&v| v as f32)))
            .map_err(exception)?;
        return Ok(PyArray1::from_vec(py, out).reshape(shape)?.into_any());
    }
    let mut out = Mat::zeros(rows.len(), bags.width());
    instances
        .each_row(rows, |row, values| out.row_mut(row - start).copy_from_slice(values))
        .map_err(exception)?;
    Ok(matrix(py, &out)?.into_any())
}

/// A matrix as an array of its own.
pub(crate) fn matrix<'py>(py: Python<'py>, mat: &Mat) -> PyResult<Bound<'py, PyArray2<f64>>> {
    PyArray1::from_slice(py, mat.data()).reshape([mat.rows(), mat.cols()])
}

/// Sparse rows as (columns, indptr, indices, values).
pub(crate) fn sparse<'py>(py: Python<'py>, rows: &Csr) -> PyResult<Bound<'py, PyTuple>> {
    let indptr = PyArray1::from_vec(py, rows.indptr().iter().map(|&v| v as i64).collect());
    let indices = PyArray1::from_vec(py, rows.indices().iter().map(|&v| i64::from(v)).collect());
    let values = PyArray1::from_slice(py, rows.values());
    (rows.cols(), indptr, indices, values).into_pyobject(py)
}

/// The matrices of bags below each other: each is copied once, and let go before the next is asked for.
fn joined<T: Copy + Default>(
    parts: &Bound<'_, PyAny>,
    rows: usize,
    double: impl Fn(f64) -> T,
    single: impl Fn(f32) -> T,
) -> PyResult<Mat<T>> {
    let bad = |what: &str| PyTypeError::new_err(format!("bags are matrices of float64 or float32: {what}"));
    let mut cols = 0;
    let mut all: Vec<T> = Vec::new();
    for part in parts.try_iter()? {
        let part = part?;
        if let Ok(array) = part.extract::<PyReadonlyArray2<'_, f64>>() {
            cols = array.as_array().ncols();
            all.reserve_exact((rows * cols).saturating_sub(all.len()));
            all.extend(array.as_array().iter().map(|&v| double(v)));
        } else if let Ok(array) = part.extract::<PyReadonlyArray2<'_, f32>>() {
            cols = array.as_array().ncols();
            all.reserve_exact((rows * cols).saturating_sub(all.len()));
            all.extend(array.as_array().iter().map(|&v| single(v)));
        } else {
            return Err(bad(&part.get_type().to_string()));
        }
    }
    if all.len() != rows * cols {
        return Err(bad("their sizes do not agree with the offsets"));
    }
    Ok(Mat::new(rows, cols, all))
}

fn instances_from(given: &Bound<'_, PyAny>, order: Option<PyReadonlyArray1<'_, i64>>) -> PyResult<Instances> {
    if let Ok(array) = given.extract::<PyReadonlyArray2<'_, f64>>() {
        return Ok(Instances::F64(mat_from(&array, order)?));
    }
    if let Ok(array) = given.extract::<PyReadonlyArray2<'_, f32>>() {
        return Ok(Instances::F32(mat_from(&array, order)?));
    }
    type Sparse<'py> =
        (usize, PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, f64>);
    let (cols, indptr, indices, values): Sparse<'_> = given.extract().map_err(|_| {
        PyTypeError::new_err("instances are a matrix of float64 or float32, or the parts of a sparse matrix")
    })?;
    let (indptr, indices, values) = (indptr.as_slice()?, indices.as_slice()?, values.as_slice()?);
    let bad = |what: &str| exception(Error::Invalid(format!("the sparse matrix is damaged: {what}")));
    let mut rows = Csr::empty(cols);
    for ends in indptr.windows(2) {
        let range = match (usize::try_from(ends[0]), usize::try_from(ends[1])) {
            (Ok(a), Ok(b)) if a <= b && b <= indices.len() && b <= values.len() => a..b,
            _ => return Err(bad("its row pointers do not ascend within its values")),
        };
        let columns = &indices[range.clone()];
        if columns.windows(2).any(|w| w[0] >= w[1])
            || columns.iter().any(|&c| c < 0 || c as usize >= cols || u32::try_from(c).is_err())
        {
            return Err(bad("columns must ascend within a row and lie inside the matrix"));
        }
        rows.push_row(columns.iter().map(|&c| c as u32).zip(values[range].iter().copied()));
    }
    Ok(Instances::Sparse(rows))
}

fn mat_from<T: Element + Copy + Default>(
    array: &PyReadonlyArray2<'_, T>,
    order: Option<PyReadonlyArray1<'_, i64>>,
) -> PyResult<Mat<T>> {
    let (rows, cols) = array.as_array().dim();
    let values = array.as_slice()?;
    let Some(order) = order else { return Ok(Mat::new(rows, cols, values.to_vec())) };
    let mut all = Vec::with_capacity(values.len());
    for &row in order.as_array() {
        let row = usize::try_from(row).ok().filter(|&r| r < rows);
        let row =
            row.ok_or_else(|| PyIndexError::new_err("the order contains row numbers that do not exist"))?;
        all.extend_from_slice(&values[row * cols..(row + 1) * cols]);
    }
    Ok(Mat::new(order.len()?, cols, all))
}
