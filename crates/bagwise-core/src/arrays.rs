//! ndarray in and out (feature `ndarray`). An owned array in row order becomes a matrix, and a matrix an array, without a
//! copy; matrices and dense bags are seen as views of their own memory.

use ndarray::{Array2, ArrayView2};

use crate::bags::{BagRef, Bags, Instances};
use crate::error::Result;
use crate::mat::Mat;

/// Moves an array in row order; one in another order is copied into row order.
impl<T: Copy + Default> From<Array2<T>> for Mat<T> {
    fn from(array: Array2<T>) -> Mat<T> {
        let (rows, cols) = array.dim();
        let data = match array.is_standard_layout() {
            true => match array.into_raw_vec_and_offset() {
                (data, None | Some(0)) if data.len() == rows * cols => data,
                (data, offset) => data[offset.unwrap_or(0)..][..rows * cols].to_vec(),
            },
            false => array.iter().copied().collect(),
        };
        Mat::new(rows, cols, data)
    }
}

/// Moves a matrix.
impl<T: Copy + Default> From<Mat<T>> for Array2<T> {
    fn from(mat: Mat<T>) -> Array2<T> {
        let shape = (mat.rows(), mat.cols());
        Array2::from_shape_vec(shape, mat.into_data()).expect("a matrix has rows x columns values")
    }
}

impl<T: Copy + Default> Mat<T> {
    /// The matrix as a view of its memory.
    pub fn view(&self) -> ArrayView2<'_, T> {
        ArrayView2::from_shape((self.rows(), self.cols()), self.data()).expect("rows x columns values")
    }
}

/// A matrix of instances in double precision.
impl From<Array2<f64>> for Instances {
    fn from(array: Array2<f64>) -> Instances {
        Instances::F64(array.into())
    }
}

/// A matrix of instances in single precision.
impl From<Array2<f32>> for Instances {
    fn from(array: Array2<f32>) -> Instances {
        Instances::F32(array.into())
    }
}

impl Bags {
    /// Bags from the instances of all of them, one after another, and the number of instances of each.
    pub fn from_array(instances: impl Into<Instances>, sizes: &[usize]) -> Result<Bags> {
        let mut offsets = vec![0];
        sizes.iter().for_each(|size| offsets.push(offsets[offsets.len() - 1] + size));
        Bags::new(instances.into(), offsets)
    }
}

impl<'a> BagRef<'a> {
    /// The instances of a dense bag in double precision as a view of their memory; nothing for other storage.
    pub fn view(&self) -> Option<ArrayView2<'a, f64>> {
        let (instances, rows) = self.parts();
        let Instances::F64(mat) = instances else { return None };
        let values = &mat.data()[rows.start * mat.cols()..rows.end * mat.cols()];
        ArrayView2::from_shape((rows.len(), mat.cols()), values).ok()
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Axis, array};

    use super::*;

    #[test]
    fn arrays_go_in_and_come_out_without_a_copy() {
        let array = array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
        let memory = array.as_ptr();
        let bags = Bags::from_array(array, &[1, 2]).unwrap();
        let bag = bags.bag(1);
        let view = bag.view().unwrap();
        assert_eq!(view, array![[3.0, 4.0], [5.0, 6.0]]);
        // Two numbers after the first: the same memory.
        assert_eq!(view.as_ptr(), memory.wrapping_add(2));
        let mat = Mat::from_rows(&[[1.0, 2.0]]);
        let memory = mat.data().as_ptr();
        assert_eq!(mat.view().as_ptr(), memory);
        assert_eq!(Array2::from(mat).as_ptr(), memory);
    }

    #[test]
    fn another_order_and_a_part_of_an_array_are_read_right() {
        let array = array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
        assert_eq!(Mat::from(array.t().to_owned()), Mat::from_rows(&[[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]]));
        assert_eq!(Mat::from(array.clone().reversed_axes()), Mat::from(array.t().to_owned()));
        let mut tail = array.clone();
        tail.slice_axis_inplace(Axis(0), ndarray::Slice::from(1..));
        assert_eq!(Mat::from(tail), Mat::from_rows(&[[3.0, 4.0], [5.0, 6.0]]));
        assert!(Bags::from_array(array, &[1, 1]).unwrap_err().to_string().contains("offsets"));
    }
}
