//! The nearest instance of every bag to each of many places: all squared distances by the definition, and the least of each
//! bag. N P d subtractions and multiply-adds; a place that is an instance has distance exactly 0.

use std::ops::Range;

use rayon::prelude::*;

use crate::cells::Distance;
use crate::cells::lanes::Lanes;
use bagwise_core::{Bags, Ctx, Error, Instances, Mat, Result};

/// Places whose distances are taken together: their rows stay in the second cache.
const TOGETHER: usize = 256;

/// Places laid out for the search.
pub struct Places {
    lanes: Lanes,
    count: usize,
}

impl Places {
    /// A place in each row.
    pub fn new(places: &Mat) -> Result<Places> {
        let lanes = Lanes::new(&Instances::F64(places.clone()), Distance::Euclidean)?;
        Ok(Places { lanes, count: places.rows() })
    }

    /// The least squared distance of each bag's instances to each place, bags x places.
    pub fn minima(&self, bags: &Bags, ctx: &Ctx) -> Result<Mat> {
        let mut all = Mat::zeros(bags.len(), self.count);
        all.data_mut().par_chunks_mut(self.count).enumerate().try_for_each(|(b, least)| {
            least.fill(f64::INFINITY);
            self.each_distance(bags, bags.rows(b), ctx, |_, from, distances| {
                let here = &mut least[from..from + distances.len()];
                here.iter_mut().zip(distances).for_each(|(l, d)| *l = l.min(*d));
            })
        })?;
        Ok(all)
    }

    fn check(&self, bags: &Bags) -> Result<()> {
        match bags.width() == self.lanes.width() {
            true => Ok(()),
            false => Err(Error::Invalid(format!(
                "these instances have {} attributes, the places {}",
                bags.width(),
                self.lanes.width()
            ))),
        }
    }

    /// Calls `each(row, first place, distances)` with the squared distances of every row to some places after the other.
    pub fn each_distance(
        &self,
        bags: &Bags,
        rows: Range<usize>,
        ctx: &Ctx,
        mut each: impl FnMut(usize, usize, &[f64]),
    ) -> Result<()> {
        self.check(bags)?;
        let (width, points) = (bags.width(), self.lanes.points());
        let places: Vec<u32> = (0..self.count as u32).collect();
        let mut distances = vec![0.0; points * TOGETHER];
        let mut block = Vec::with_capacity(points * width);
        for first in rows.clone().step_by(points) {
            ctx.check()?;
            let here = first..(first + points).min(rows.end);
            block.clear();
            bags.instances().each_row(here.clone(), |_, row| block.extend_from_slice(row))?;
            let panel = self.lanes.panel(&block);
            for (c, some) in places.chunks(TOGETHER).enumerate() {
                self.lanes.to_rows(&panel, some, TOGETHER, &mut distances);
                for (row, own) in here.clone().zip(distances.chunks_exact(TOGETHER)) {
                    each(row, c * TOGETHER, &own[..some.len()]);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bagwise_core::Rng;

    #[test]
    fn minima_are_those_of_the_definition() {
        let mut rng = Rng::new(3, "minima", &[]);
        let rows: Vec<Vec<f64>> = (0..61).map(|_| (0..5).map(|_| rng.normal()).collect()).collect();
        let bags = Bags::new(Instances::F64(Mat::from_rows(&rows)), vec![0, 1, 20, 61]).unwrap();
        let places = Mat::from_rows(&(0..300).map(|i| rows[i % 61].clone()).collect::<Vec<_>>());
        let ctx = Ctx::default();
        let found = Places::new(&places).unwrap();
        let minima = found.minima(&bags, &ctx).unwrap();
        for b in 0..3 {
            let first = bags.rows(b).start;
            let mut distances = vec![0.0; 300];
            let keep =
                |_, from: usize, some: &[f64]| distances[from..from + some.len()].copy_from_slice(some);
            found.each_distance(&bags, first..first + 1, &ctx, keep).unwrap();
            for p in 0..300 {
                let of = |i: usize| Distance::Euclidean.squared(&rows[i], places.row(p));
                let least = bags.rows(b).map(of).fold(f64::INFINITY, f64::min);
                assert_eq!(minima.get(b, p), least);
                assert_eq!(distances[p], of(first));
            }
        }
        assert_eq!(minima.get(0, 0), 0.0);
    }
}
