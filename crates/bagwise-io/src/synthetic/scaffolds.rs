//! Molecules of chemical series (scaffolds) of very different sizes, each with its own share of active ones and its own
//! place in the features. Features come in blocks that all tell the class equally well, each by itself: a learner on one
//! block is as good as on another, so that tests of equal methods can be tested.

use bagwise_core::{Dataset, Groups, Result, Rng, Target};

use super::{GeneratorValues, add};

pub(super) fn scaffolds(full: &str, given: &GeneratorValues) -> Result<Dataset> {
    let (bags, groups, low, high) =
        (given.whole("bags"), given.whole("groups"), given.whole("min"), given.whole("max"));
    if low > high {
        return Err(given.refuse(format!("min={low} is above max={high}"), "min must not exceed max"));
    }
    if groups > bags {
        return Err(given.refuse(format!("{groups} groups for {bags} bags"), "give at most one per bag"));
    }
    let (blocks, features, seed) =
        (given.whole("blocks"), given.whole("features"), given.whole("seed") as u64);
    let width = blocks.saturating_mul(features);
    given.check_size(bags.saturating_mul(high), width)?;

    // Every group has a bag; the others go to few large groups and many small ones.
    let mut rng = Rng::new(seed, "scaffolds groups", &[]);
    let weights: Vec<f64> = (0..groups).map(|g| 1.0 / (g as f64 + 2.0)).collect();
    let total: f64 = weights.iter().sum();
    let mut group_of: Vec<usize> = (0..groups).collect();
    while groups > 0 && group_of.len() < bags {
        let mut at = rng.uniform() * total;
        let drawn = weights.iter().position(|weight| {
            at -= weight;
            at < 0.0
        });
        group_of.push(drawn.unwrap_or(groups - 1));
    }
    // Half of what makes a bag active is its group's. Exactly the share requested is active.
    let leaning: Vec<f64> = (0..groups).map(|_| rng.normal()).collect();
    let activity: Vec<f64> =
        (0..bags).map(|bag| rng.normal() + group_of.get(bag).map_or(0.0, |&group| leaning[group])).collect();
    let mut order: Vec<usize> = (0..bags).collect();
    order.sort_by(|&a, &b| activity[b].total_cmp(&activity[a]));
    let mut active = vec![false; bags];
    let count = (given.real("positive") * bags as f64).round() as usize;
    order[..count].iter().for_each(|&bag| active[bag] = true);
    let shifts: Vec<Vec<f64>> = (0..groups)
        .map(|g| {
            let mut rng = Rng::new(seed, "scaffolds group", &[g as u64]);
            (0..width).map(|_| given.real("shift") * rng.normal()).collect()
        })
        .collect();

    let (mut rows, mut offsets) = (Vec::new(), vec![0]);
    for bag in 0..bags {
        let mut rng = Rng::new(seed, "scaffolds bag", &[bag as u64]);
        let size = low + rng.below(high - low + 1);
        let side = if active[bag] { 1.0 } else { -1.0 };
        let hard = given.real("shared") * rng.normal();
        let mut centre = Vec::with_capacity(width);
        for block in 0..blocks {
            let signal = given.real("signal") + if block == 0 { given.real("extra") } else { 0.0 };
            let along = (side * signal + hard) / (features as f64).sqrt();
            centre.extend((0..features).map(|_| along + rng.normal()));
        }
        if let Some(&group) = group_of.get(bag) {
            add(&mut centre, &shifts[group]);
        }
        for _ in 0..size {
            rows.extend(centre.iter().map(|c| c + rng.normal()));
        }
        offsets.push(offsets[bag] + size);
    }
    let labels: Vec<&str> = active.iter().map(|&a| if a { "1" } else { "0" }).collect();
    let data =
        Dataset::new(full, given.bags(rows, width, offsets)?).with_target(Target::from_labels(&labels))?;
    if groups == 0 {
        return Ok(data);
    }
    let names: Vec<String> = group_of.iter().map(|g| format!("g{}", g + 1)).collect();
    data.with_groups(Groups::from_names(&names))
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use bagwise_core::{Dataset, Instances, Target};

    fn make(name: &str) -> Dataset {
        super::super::generate(name, name.trim_start_matches("synthetic:")).unwrap()
    }

    #[test]
    fn scaffolds_are_unequal_and_mixed_and_blocks_alike() {
        let data = make("synthetic:scaffolds?bags=300&groups=30&positive=0.1&blocks=2&signal=6&shared=0");
        assert_eq!((data.bags.len(), data.bags.width()), (300, 20));
        let Some(Target::Classes { codes, .. }) = &data.target else { panic!() };
        assert_eq!(codes.iter().filter(|&&c| c == 1).count(), 30);
        let groups = data.groups.as_ref().unwrap();
        let mut sizes = [0; 30];
        groups.codes.iter().for_each(|&g| sizes[g as usize] += 1);
        assert!(sizes.iter().all(|&s| s > 0) && sizes.iter().max() > Some(&30), "{sizes:?}");
        // A class lies 6 / sqrt(10) to its side in every feature of both blocks.
        let mean = |class: u32, columns: Range<usize>| {
            let own: Vec<usize> = (0..300).filter(|&b| codes[b] == class).collect();
            let rows = own.iter().flat_map(|&b| data.bags.rows(b)).collect::<Vec<_>>();
            let Instances::F64(all) = data.bags.instances() else { panic!() };
            let sum: f64 = rows.iter().map(|&r| all.row(r)[columns.clone()].iter().sum::<f64>()).sum();
            sum / (rows.len() * columns.len()) as f64
        };
        for columns in [0..10, 10..20] {
            let apart = mean(1, columns.clone()) - mean(0, columns);
            // Thirty active bags and the shifts of their groups: five standard errors are about 0.5.
            assert!((apart - 12.0 / 10f64.sqrt()).abs() < 0.5, "{apart}");
        }
        assert!(make("synthetic:scaffolds?groups=0&positive=0.5").groups.is_none());
        assert!(
            super::super::generate("x", "scaffolds?bags=5&groups=6")
                .unwrap_err()
                .to_string()
                .contains("6 groups for 5 bags")
        );
    }
}
