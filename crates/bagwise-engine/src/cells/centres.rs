//! Lists of centres: what Voronoi cells and spheres are made of, and what trees are grown from.

use super::{Distance, MOST_CENTRES, sphere};
use bagwise_core::{Bags, Ctx, Error, Instances, Message, Result, Rng};

/// t ordered lists of centres.
#[derive(Clone, Debug)]
pub struct CentreLists {
    pub(super) centres: Instances,
    lists: Vec<u32>,
    pub(super) t: usize,
    pub(super) distance: Distance,
    /// For each psi that has spheres the squared radii of all centres, list after list; none for Voronoi cells.
    radii: Vec<(usize, Vec<f64>)>,
}

impl CentreLists {
    /// Lists of rows of `centres`, one after the other, all of the same length. Centres are brought into memory.
    pub fn new(centres: Instances, lists: Vec<u32>, t: usize, distance: Distance) -> Result<CentreLists> {
        let whole = t > 0 && !lists.is_empty() && lists.len().is_multiple_of(t);
        if !whole || lists.len() / t > MOST_CENTRES {
            return Err(Error::Invalid(format!(
                "{} centres do not make {t} lists of equal length up to {MOST_CENTRES}",
                lists.len()
            )));
        }
        if lists.iter().any(|&row| row as usize >= centres.rows()) {
            return Err(Error::Invalid("a list names a centre that is not there".into()));
        }
        Ok(CentreLists { centres: centres.in_memory()?, lists, t, distance, radii: Vec::new() })
    }

    /// Draws t lists of `psi` instances of the bags `train`, each without replacement. A shorter list is the
    /// beginning of a longer one drawn with the same seed.
    pub fn draw(
        bags: &Bags,
        train: &[usize],
        t: usize,
        psi: usize,
        distance: Distance,
        ctx: &Ctx,
    ) -> Result<CentreLists> {
        let pool: Vec<usize> = train.iter().flat_map(|&b| bags.rows(b)).collect();
        if psi == 0 || psi > pool.len() {
            return Err(Error::Invalid(format!(
                "psi={psi} centres cannot be drawn from the {} instances of the training bags; choose a smaller psi",
                pool.len()
            )));
        }
        let mut order: Vec<u32> = (0..pool.len() as u32).collect();
        let mut name = vec![u32::MAX; pool.len()];
        let mut rows: Vec<usize> = Vec::new();
        let mut lists = Vec::with_capacity(t * psi);
        for i in 0..t {
            ctx.check()?;
            let mut rng = Rng::new(ctx.seed, "cells", &[i as u64]);
            let mut swaps = Vec::with_capacity(psi);
            for k in 0..psi {
                let other = k + rng.below(pool.len() - k);
                order.swap(k, other);
                swaps.push(other);
                let drawn = order[k] as usize;
                if name[drawn] == u32::MAX {
                    name[drawn] = rows.len() as u32;
                    rows.push(pool[drawn]);
                }
                lists.push(name[drawn]);
            }
            // Undone, so that a list depends on its own stream alone.
            for (k, other) in swaps.into_iter().enumerate().rev() {
                order.swap(k, other);
            }
        }
        // In the order of the pool: rows that are not in memory are read in runs.
        let mut sorted: Vec<u32> = (0..rows.len() as u32).collect();
        sorted.sort_unstable_by_key(|&r| rows[r as usize]);
        let mut place = vec![0; rows.len()];
        sorted.iter().enumerate().for_each(|(at, &r)| place[r as usize] = at as u32);
        lists.iter_mut().for_each(|centre| *centre = place[*centre as usize]);
        let rows: Vec<usize> = sorted.iter().map(|&r| rows[r as usize]).collect();
        let number = if bags.instances().is_single() { 4 } else { 8 };
        ctx.reserve(
            "the centres of all partitionings",
            (number * rows.len()) as u64 * bags.values_per_instance().ceil() as u64,
            Message::more_memory().or("choose a smaller psi or t"),
        )?;
        CentreLists::new(bags.instances().gather(&rows), lists, t, distance)
    }

    /// Number of partitionings.
    pub fn t(&self) -> usize {
        self.t
    }

    /// Centres of a list.
    pub fn psi(&self) -> usize {
        self.lists.len() / self.t
    }

    /// Number of attributes.
    pub fn width(&self) -> usize {
        self.centres.cols()
    }

    /// The distance cells are made by.
    pub fn distance(&self) -> Distance {
        self.distance
    }

    /// The different centres.
    pub fn centres(&self) -> &Instances {
        &self.centres
    }

    /// For each partitioning its centres, as rows of [`centres`](CentreLists::centres).
    pub fn lists(&self) -> &[u32] {
        &self.lists
    }

    pub(super) fn list(&self, i: usize) -> &[u32] {
        let psi = self.psi();
        &self.lists[i * psi..(i + 1) * psi]
    }

    /// The first `psi` of every list, and only the centres they name.
    pub fn shortened(&self, psi: usize) -> CentreLists {
        let mut name = vec![u32::MAX; self.centres.rows()];
        let mut rows = Vec::new();
        let mut lists = Vec::with_capacity(self.t * psi);
        for i in 0..self.t {
            for &centre in &self.list(i)[..psi] {
                let name = &mut name[centre as usize];
                if *name == u32::MAX {
                    *name = rows.len() as u32;
                    rows.push(centre as usize);
                }
                lists.push(*name);
            }
        }
        let radii = self.radii.iter().filter(|(of, _)| *of == psi).cloned().collect();
        CentreLists { centres: self.centres.gather(&rows), lists, radii, ..*self }
    }

    /// The same lists with a sphere around every centre, for lists of these lengths (ascending).
    pub fn with_spheres(self, psis: &[usize], ctx: &Ctx) -> Result<CentreLists> {
        let radii = sphere::squared_radii(&self, psis, ctx)?;
        Ok(CentreLists { radii: psis.iter().copied().zip(radii).collect(), ..self })
    }

    /// The same lists with spheres of these squared radii, one for each centre of each list.
    pub fn with_radii(self, squared: Vec<f64>) -> Result<CentreLists> {
        if squared.len() != self.lists.len() || !squared.iter().all(|&r| r > 0.0) {
            return Err(Error::Invalid(format!(
                "{} radii for {} centres: each needs one above 0",
                squared.len(),
                self.lists.len()
            )));
        }
        Ok(CentreLists { radii: vec![(self.psi(), squared)], ..self })
    }

    /// The squared radii for lists of this length, list after list; none for Voronoi cells.
    pub fn squared_radii(&self, psi: usize) -> Option<&[f64]> {
        self.radii.iter().find(|(of, _)| *of == psi).map(|(_, radii)| radii.as_slice())
    }

    /// Whether an instance may lie in no cell.
    pub(super) fn has_spheres(&self) -> bool {
        !self.radii.is_empty()
    }
}
