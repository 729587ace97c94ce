//! The rows that machines are trained on: the instances, perhaps followed by the means of bags; and which instances are
//! repeated within their bag.

use bagwise_core::{Bags, Instances, Mat, Result};

/// The instances, followed by the mean of each bag.
pub(super) fn with_means(bags: &Bags) -> Result<Instances> {
    let (n, width) = (bags.instance_count(), bags.width());
    let mean = |b: usize| {
        let dense = bags.bag(b).to_dense()?;
        let mut sum = vec![0.0; width];
        for i in 0..dense.rows() {
            sum.iter_mut().zip(dense.row(i)).for_each(|(s, x)| *s += x);
        }
        sum.iter_mut().for_each(|s| *s /= dense.rows() as f64);
        Ok(sum)
    };
    let means: Vec<Vec<f64>> = (0..bags.len()).map(mean).collect::<Result<_>>()?;
    Ok(match bags.instances() {
        Instances::F64(m) => {
            let data = m.data().iter().chain(means.iter().flatten()).copied().collect();
            Instances::F64(Mat::new(n + bags.len(), width, data))
        }
        Instances::F32(m) => {
            let data = m.data().iter().copied().chain(means.iter().flatten().map(|&v| v as f32)).collect();
            Instances::F32(Mat::new(n + bags.len(), width, data))
        }
        Instances::Sparse(m) => {
            let mut all = m.clone();
            for row in &means {
                all.push_row(row.iter().enumerate().filter(|(_, v)| **v != 0.0).map(|(c, &v)| (c as u32, v)));
            }
            Instances::Sparse(all)
        }
        Instances::Stored(_) => unreachable!("`prepare` brings instances into memory"),
    })
}

/// For each instance, whether no earlier one of its bag equals it.
pub(super) fn distinct(bags: &Bags) -> Result<Vec<bool>> {
    let mut row = vec![0.0; bags.width()];
    let mut out = Vec::with_capacity(bags.instance_count());
    for b in 0..bags.len() {
        let mut seen: std::collections::HashSet<Vec<u64>> = Default::default();
        for i in bags.rows(b) {
            bags.instances().row_into(i, &mut row)?;
            // Adding 0 turns -0 into 0.
            out.push(seen.insert(row.iter().map(|v| (v + 0.0).to_bits()).collect()));
        }
    }
    Ok(out)
}
