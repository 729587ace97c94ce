//! Saved models: plain numbers by name. What is read back is checked, never trusted.

use std::collections::BTreeMap;

use bagwise_core::{Bags, Csr, Error, Instances, Mat, Place, Result};

/// A saved model: plain numbers by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Arrays by name.
    pub tensors: BTreeMap<String, Tensor>,
}

/// An array of a saved model.
#[derive(Clone, Debug, PartialEq)]
pub enum Tensor {
    /// Double precision, with its shape.
    F64(Vec<usize>, Vec<f64>),
    /// Single precision.
    F32(Vec<usize>, Vec<f32>),
    /// Whole numbers.
    U64(Vec<usize>, Vec<u64>),
}

impl Tensor {
    /// The shape.
    pub fn shape(&self) -> &[usize] {
        match self {
            Tensor::F64(shape, _) | Tensor::F32(shape, _) | Tensor::U64(shape, _) => shape,
        }
    }
}

impl State {
    /// Adds a matrix.
    pub fn put_mat(&mut self, name: &str, mat: &Mat) {
        let tensor = Tensor::F64(vec![mat.rows(), mat.cols()], mat.data().to_vec());
        self.tensors.insert(name.into(), tensor);
    }

    /// Adds a vector.
    pub fn put(&mut self, name: &str, values: &[f64]) {
        self.tensors.insert(name.into(), Tensor::F64(vec![values.len()], values.to_vec()));
    }

    /// Adds a list of whole numbers.
    pub fn put_counts(&mut self, name: &str, values: impl IntoIterator<Item = usize>) {
        let values: Vec<u64> = values.into_iter().map(|v| v as u64).collect();
        self.tensors.insert(name.into(), Tensor::U64(vec![values.len()], values));
    }

    /// An error if a width is claimed that is more than there can be: columns cost memory before anything is compared.
    pub(crate) fn check_widths(&self, most: usize) -> Result<()> {
        for (name, tensor) in &self.tensors {
            if let Tensor::U64(_, values) = tensor
                && name.rsplit('.').next() == Some("width")
                && let Some(width) = values.iter().find(|&&width| width > most as u64)
            {
                return Err(refuse(format!("'{name}' is {width}, and its scaling gives {most} columns")));
            }
        }
        Ok(())
    }

    /// An error if a number is infinite or none: no method writes such, and one would answer with them.
    pub(crate) fn check_finite(&self) -> Result<()> {
        let finite = |tensor: &Tensor| match tensor {
            Tensor::F64(_, values) => values.iter().all(|v| v.is_finite()),
            Tensor::F32(_, values) => values.iter().all(|v| v.is_finite()),
            Tensor::U64(..) => true,
        };
        match self.tensors.iter().find(|(_, tensor)| !finite(tensor)) {
            Some((name, _)) => {
                Err(refuse(format!("the array '{name}' contains a number that is not finite")))
            }
            None => Ok(()),
        }
    }

    fn tensor(&self, name: &str) -> Result<&Tensor> {
        self.tensors.get(name).ok_or_else(|| refuse(format!("the array '{name}' is missing")))
    }

    /// A matrix of finite numbers.
    pub fn mat(&self, name: &str) -> Result<Mat> {
        match self.tensor(name)? {
            Tensor::F64(shape, data) if shape.len() == 2 && data.iter().all(|v| v.is_finite()) => {
                Ok(Mat::new(shape[0], shape[1], data.clone()))
            }
            other => Err(refuse(format!(
                "the array '{name}' of shape {:?} is not a matrix of finite numbers",
                other.shape()
            ))),
        }
    }

    /// A vector of finite numbers of a known length.
    pub fn vector(&self, name: &str, length: usize) -> Result<Vec<f64>> {
        match self.tensor(name)? {
            Tensor::F64(shape, data) if *shape == [length] && data.iter().all(|v| v.is_finite()) => {
                Ok(data.clone())
            }
            other => Err(refuse(format!(
                "the array '{name}' of shape {:?} is not a vector of {length} finite numbers",
                other.shape()
            ))),
        }
    }

    /// A list of whole numbers.
    pub fn counts(&self, name: &str) -> Result<Vec<usize>> {
        match self.tensor(name)? {
            Tensor::U64(shape, data) if shape.len() == 1 => data
                .iter()
                .map(|&v| {
                    usize::try_from(v)
                        .map_err(|_| refuse(format!("the array '{name}' contains {v}, which is too large")))
                })
                .collect(),
            other => Err(refuse(format!(
                "the array '{name}' of shape {:?} is not a list of whole numbers",
                other.shape()
            ))),
        }
    }

    /// Adds texts, letter by letter: whoever reads numbers reads them too.
    pub(crate) fn put_names<'n>(&mut self, names: impl Iterator<Item = &'n str> + Clone) {
        self.put_counts("length", names.clone().map(str::len));
        self.put_counts("letters", names.flat_map(|name| name.bytes().map(usize::from)));
    }

    /// What [`put_names`](State::put_names) wrote.
    pub(crate) fn names(&self) -> Result<Vec<String>> {
        let (lengths, letters) = (self.counts("length")?, self.counts("letters")?);
        let whole = lengths.iter().try_fold(0usize, |sum, &l| sum.checked_add(l)) == Some(letters.len());
        if !whole {
            return Err(refuse("its names are longer or shorter than their letters"));
        }
        let mut rest = &letters[..];
        let mut next = |length: usize| {
            let (own, others) = rest.split_at(length);
            rest = others;
            let bytes: Option<Vec<u8>> = own.iter().map(|&b| u8::try_from(b).ok()).collect();
            bytes
                .and_then(|b| String::from_utf8(b).ok())
                .ok_or_else(|| refuse("the name of a bag is not text"))
        };
        lengths.into_iter().map(&mut next).collect()
    }

    /// Adds instances and offsets, in their own precision.
    pub(crate) fn put_bags(&mut self, bags: &Bags) -> Result<()> {
        self.put_counts("offsets", bags.offsets().iter().copied());
        let shape = vec![bags.instance_count(), bags.width()];
        let held;
        let instances = match bags.instances() {
            Instances::Stored(_) => {
                held = bags.instances().clone().in_memory()?;
                &held
            }
            other => other,
        };
        let tensor = match instances {
            Instances::F64(m) => Tensor::F64(shape, m.data().to_vec()),
            Instances::F32(m) => Tensor::F32(shape, m.data().to_vec()),
            Instances::Sparse(m) => {
                self.put_sparse(m);
                self.put_counts("width", [m.cols()]);
                return Ok(());
            }
            Instances::Stored(_) => unreachable!("rows brought into memory are dense"),
        };
        self.tensors.insert("instances".into(), tensor);
        Ok(())
    }

    /// Adds sparse rows without their width.
    pub(crate) fn put_sparse(&mut self, rows: &Csr) {
        self.put_counts("indptr", rows.indptr().iter().copied());
        self.put_counts("indices", rows.indices().iter().map(|&i| i as usize));
        self.put("values", rows.values());
    }

    /// Sparse rows of a known width, with everything checked that [`Csr`] promises.
    pub(crate) fn sparse(&self, width: usize) -> Result<Csr> {
        let (indptr, indices) = (self.counts("indptr")?, self.counts("indices")?);
        let values = self.vector("values", indices.len())?;
        let ordered = indptr.first() == Some(&0)
            && indptr.last() == Some(&indices.len())
            && indptr.windows(2).all(|w| w[0] <= w[1]);
        let fits = ordered
            && u32::try_from(width).is_ok()
            && indptr.windows(2).all(|w| {
                let row = &indices[w[0]..w[1]];
                row.windows(2).all(|c| c[0] < c[1]) && row.last().is_none_or(|&c| c < width)
            });
        if !fits {
            return Err(refuse("its sparse rows are inconsistent"));
        }
        Ok(Csr::new(width, indptr, indices.into_iter().map(|c| c as u32).collect(), values))
    }

    /// Bags, with everything checked that [`Bags`] and [`Csr`] promise.
    pub(crate) fn bags(&self) -> Result<Bags> {
        let offsets = self.counts("offsets")?;
        let instances = match self.tensors.get("instances") {
            Some(Tensor::F64(shape, data)) if shape.len() == 2 => {
                Instances::F64(Mat::new(shape[0], shape[1], data.clone()))
            }
            Some(Tensor::F32(shape, data)) if shape.len() == 2 => {
                Instances::F32(Mat::new(shape[0], shape[1], data.clone()))
            }
            Some(other) => return Err(refuse(format!("'instances' has shape {:?}", other.shape()))),
            None => Instances::Sparse(self.sparse(self.count("width")?)?),
        };
        if offsets.windows(2).any(|w| w[0] >= w[1]) {
            return Err(refuse("its bags overlap or are empty"));
        }
        Bags::new(instances, offsets).map_err(|e| refuse(e.to_string()))
    }

    /// A single whole number.
    pub(crate) fn count(&self, name: &str) -> Result<usize> {
        self.counts(name)?.first().copied().ok_or_else(|| refuse(format!("'{name}' is empty")))
    }

    /// A single number above 0.
    pub(crate) fn positive(&self, name: &str) -> Result<f64> {
        let value = self.vector(name, 1)?[0];
        if value > 0.0 { Ok(value) } else { Err(refuse(format!("'{name}' is not above 0"))) }
    }

    /// Moves another state in under a prefix.
    pub fn nest(&mut self, prefix: &str, other: State) {
        self.tensors
            .extend(other.tensors.into_iter().map(|(name, tensor)| (format!("{prefix}.{name}"), tensor)));
    }

    /// The state that was moved in under a prefix.
    pub fn nested(&self, prefix: &str) -> State {
        let dotted = format!("{prefix}.");
        let inside = |(name, tensor): (&String, &Tensor)| {
            Some((name.strip_prefix(&dotted)?.to_string(), tensor.clone()))
        };
        State { tensors: self.tensors.iter().filter_map(inside).collect() }
    }
}

/// A model that does not fit together.
pub(crate) fn refuse(problem: impl Into<String>) -> Error {
    Error::Model { place: Place::of("model file"), problem: problem.into() }
}
