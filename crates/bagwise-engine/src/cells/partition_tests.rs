//! Spheres and trees against their definitions, on data full of ties, for every storage and any number of threads.

use proptest::prelude::{ProptestConfig, any, prop, proptest};

use super::tests::Case;
use super::*;
use bagwise_core::Rng;

/// The squared distance, from nothing but the rows.
fn squared(distance: Distance, x: &[f64], z: &[f64]) -> f64 {
    let sum = x.iter().zip(z).fold(0.0, |sum, (x, z)| sum + (x - z) * (x - z));
    let present = x.iter().zip(z).filter(|(x, z)| **x != 0.0 || **z != 0.0).count();
    match distance {
        Distance::Euclidean => sum,
        Distance::Text if present == 0 => 0.0,
        Distance::Text => sum / present as f64,
    }
}

/// The sphere a row lies in, by the definition.
fn sphere_of(case: &Case, distance: Distance, x: &[f64], i: usize, psi: usize) -> Option<usize> {
    let length = case.lists.len() / case.t;
    let centres: Vec<&Vec<f64>> =
        case.lists[i * length..][..psi].iter().map(|&c| &case.rows[c as usize]).collect();
    let to = |j: usize| squared(distance, x, centres[j]);
    let nearest = (0..psi).fold(0, |best, j| if to(j) < to(best) { j } else { best });
    let others = centres.iter().map(|z| squared(distance, centres[nearest], z));
    let radius = others.filter(|&d| d > 0.0).fold(f64::INFINITY, f64::min);
    (to(nearest) <= radius).then_some(nearest)
}

/// A tree by the definition.
enum Tree {
    Leaf(usize),
    Node(usize, f64, Box<Tree>, Box<Tree>),
}

impl Tree {
    fn grow(rows: Vec<&Vec<f64>>, key: [u64; 3], nodes: &mut u64, leaves: &mut usize) -> Tree {
        let number = *nodes;
        *nodes += 1;
        let range = |a: usize| {
            let values = || rows.iter().map(|r| r[a]);
            (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max))
        };
        let varying: Vec<usize> = (0..rows[0].len()).filter(|&a| range(a).0 < range(a).1).collect();
        if varying.is_empty() {
            *leaves += 1;
            return Tree::Leaf(*leaves - 1);
        }
        let mut rng = Rng::new(key[0], "forest", &[key[1], key[2], number]);
        let attribute = varying[rng.below(varying.len())];
        let (low, high) = range(attribute);
        let drawn = low + rng.uniform() * (high - low);
        let split = if drawn == low { (low + high) / 2.0 } else { drawn };
        let (left, right): (Vec<_>, Vec<_>) = rows.into_iter().partition(|r| r[attribute] < split);
        let left = Tree::grow(left, key, nodes, leaves);
        let right = Tree::grow(right, key, nodes, leaves);
        Tree::Node(attribute, split, Box::new(left), Box::new(right))
    }

    fn cell(&self, x: &[f64]) -> usize {
        match self {
            Tree::Leaf(cell) => *cell,
            Tree::Node(attribute, split, left, _) if x[*attribute] < *split => left.cell(x),
            Tree::Node(_, _, _, right) => right.cell(x),
        }
    }
}

fn found(
    partitions: &Partitions,
    psis: &[usize],
    rows: &Instances,
    what: &str,
) -> Vec<Vec<Vec<Option<usize>>>> {
    let ctx = Ctx::default();
    let mapper = Mapper::new(partitions, psis, &ctx).unwrap();
    let whole = mapper.ids(rows, 0..rows.rows(), &ctx).unwrap();
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| assert!(mapper.ids(rows, 0..rows.rows(), &ctx).unwrap() == whole, "{what}"));
    }
    let cells =
        |ids: &Ids| (0..ids.rows()).map(|row| (0..ids.t()).map(|i| ids.get(row, i)).collect()).collect();
    whole.iter().map(cells).collect()
}

fn check_spheres(case: &Case) {
    let ctx = Ctx::default();
    for distance in [Distance::Euclidean, Distance::Text] {
        let of_row = |x: &Vec<f64>, psi| (0..case.t).map(|i| sphere_of(case, distance, x, i, psi)).collect();
        let expected: Vec<Vec<Vec<Option<usize>>>> =
            case.psis.iter().map(|&psi| case.rows.iter().map(|x| of_row(x, psi)).collect()).collect();
        for centres in case.storages() {
            let lists = CentreLists::new(centres.clone(), case.lists.clone(), case.t, distance).unwrap();
            let radii = [false, true]
                .map(|to_all| sphere::squared_radii_by(&lists, &case.psis, to_all, &ctx).unwrap());
            assert_eq!(radii[0], radii[1], "{distance:?}, {}", centres.kind());
            let partitions = Partitions::Centres(lists.with_spheres(&case.psis, &ctx).unwrap());
            for rows in case.storages() {
                let what = format!("{distance:?}, {} to {}", rows.kind(), centres.kind());
                assert_eq!(found(&partitions, &case.psis, &rows, &what), expected, "{what}");
            }
        }
    }
}

fn check_trees(case: &Case, seed: u64) {
    let length = case.lists.len() / case.t;
    let tree = |psi: usize, i: usize| {
        let rows = case.lists[i * length..][..psi].iter().map(|&c| &case.rows[c as usize]).collect();
        Tree::grow(rows, [seed, psi as u64, i as u64], &mut 0, &mut 0)
    };
    let cells = |psi: usize| -> Vec<Vec<Option<usize>>> {
        let trees: Vec<Tree> = (0..case.t).map(|i| tree(psi, i)).collect();
        case.rows.iter().map(|x| trees.iter().map(|tree| Some(tree.cell(x))).collect()).collect()
    };
    let expected: Vec<_> = case.psis.iter().map(|&psi| cells(psi)).collect();
    let ctx = Ctx::seeded(seed);
    for sample in case.storages() {
        let lists =
            CentreLists::new(sample.clone(), case.lists.clone(), case.t, Distance::Euclidean).unwrap();
        let forests: Vec<Forest> =
            case.psis.iter().map(|&psi| Forest::grow(&lists, psi, &ctx).unwrap()).collect();
        for forest in &forests {
            let again = Forest::new(forest.width(), forest.t(), forest.psi(), &forest.preorder()).unwrap();
            assert_eq!(forest.preorder(), again.preorder());
        }
        let partitions = Partitions::Forests(forests);
        for rows in case.storages() {
            let what = format!("{} in trees over {}", rows.kind(), sample.kind());
            assert_eq!(found(&partitions, &case.psis, &rows, &what), expected, "{what}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn spheres_and_trees_are_those_of_the_definition(
        seed in any::<u64>(), n in 1usize..60, width in 1usize..12, t in 1usize..20, thirds in any::<bool>(),
        levels in 2usize..7, psis in prop::collection::vec(1usize..60, 1..4),
    ) {
        let case = Case::new(seed, n, width, t, psis, levels, thirds);
        check_spheres(&case);
        check_trees(&case, seed);
    }
}

#[test]
fn cells_at_the_edge_of_a_byte_and_rows_beyond_a_block() {
    // Without a cell there are 256 answers to 255 spheres.
    let case = Case::new(5, 700, 3, 3, vec![16, 255, 256, 600], 9, false);
    check_spheres(&case);
    check_trees(&case, 7);
}

#[test]
fn wide_rows_pass_in_parts() {
    // 512 rows of 300 numbers do not fit a cache.
    check_trees(&Case::new(8, 600, 300, 3, vec![5, 64], 4, true), 1);
}

#[test]
fn a_tree_may_be_as_deep_as_it_has_points() {
    // Of powers of two nearly every split parts only the largest from the others.
    let rows: Vec<Vec<f64>> = (0..1900).map(|e| vec![2f64.powi(e - 950)]).collect();
    let lists =
        CentreLists::new(Instances::F64(Mat::from_rows(&rows)), (0..1900).collect(), 1, Distance::Euclidean);
    let forest = Forest::grow(&lists.unwrap(), 1900, &Ctx::default()).unwrap();
    let partitions = Partitions::Forests(vec![forest]);
    let cells = found(&partitions, &[1900], &Instances::F64(Mat::from_rows(&rows)), "powers");
    // Every point alone, in ascending order.
    assert_eq!(cells[0], (0..1900).map(|cell| vec![Some(cell)]).collect::<Vec<_>>());
}

#[test]
fn a_split_lies_above_the_lower_value_and_not_above_the_higher() {
    let next = f64::from_bits(1f64.to_bits() + 1);
    for (low, high) in
        [(1.0, next), (-f64::MAX, f64::MAX), (0.0, f64::from_bits(1)), (-1.0, 2.0), (1e300, f64::MAX)]
    {
        for uniform in [0.0, 1e-300, 0.5, 1.0 - f64::EPSILON / 2.0] {
            let at = forest::split_between(low, high, uniform);
            assert!(at > low && at <= high, "{low:e} {high:e} {uniform}: {at:e}");
        }
    }
    assert_eq!(forest::split_between(-1.0, 2.0, 0.0), 0.5);
    assert_eq!(forest::split_between(-1.0, 2.0, 0.25), -0.25);
}

#[test]
fn nobody_shares_the_lack_of_a_cell() {
    // Far away from all centres, twice the same place.
    let mut case = Case::new(2, 60, 3, 40, vec![8, 300], 6, false);
    case.rows.extend([vec![1e3; 3], vec![1e3; 3]]);
    let rows = case.storages().remove(0);
    let lists = CentreLists::new(rows.clone(), case.lists.clone(), 40, Distance::Euclidean).unwrap();
    let ctx = Ctx::default();
    let partitions = Partitions::Centres(lists.with_spheres(&case.psis, &ctx).unwrap());
    let mapper = Mapper::new(&partitions, &case.psis, &ctx).unwrap();
    let half = Share { numerator: 1, denominator: 2 };
    for ids in mapper.ids(&rows, 0..62, &ctx).unwrap() {
        let mut counts = vec![0.0; 62];
        for x in 0..62 {
            ids::agreements(&ids, x, 0..62, &mut counts);
            let count =
                |y| (0..40).filter(|&i| ids.get(x, i).is_some() && ids.get(x, i) == ids.get(y, i)).count();
            assert_eq!(counts, (0..62).map(|y| count(y) as f64).collect::<Vec<_>>());
            let similar = 1 + (0..62).filter(|&y| y != x && 2 * count(y) > 40).count();
            assert_eq!(ids.similar(0..62, &[half])[0][x] as usize, similar);
        }
        // The outsiders' map is empty, and alone they are similar to none but themselves.
        let bags = [0..5, 60..61, 61..62];
        let map = map_rows(&ids, &bags, None);
        assert_eq!([map.row(1).0.len(), map.row(2).0.len()], [0, 0]);
        let mut gram =
            gram_of_ids(&ids, &[0, 60, 61, 62], 0..3, &[&[1.0 / 60.0; 62]], &ctx).unwrap().remove(0);
        cosine(&mut gram);
        assert_eq!(gram.row(1), [0.0, 1.0, 0.0]);
        assert_eq!(gram.row(2), [0.0, 0.0, 1.0]);
    }
}

#[test]
fn spheres_and_trees_exist_for_the_psi_they_were_drawn_for() {
    let case = Case::new(3, 30, 2, 4, vec![4, 16], 5, false);
    let bags = Bags::new(case.storages().remove(0), vec![0, 30]).unwrap();
    let ctx = Ctx::default();
    for partition in [Partition::Sphere(Distance::Euclidean), Partition::Forest] {
        let drawn = Partitions::draw(&bags, &[0], 4, &[4, 16], partition, &ctx).unwrap();
        assert!(Mapper::new(&drawn, &[8], &ctx).is_err());
        assert!(Mapper::new(&drawn, &[4, 16], &ctx).is_ok());
        let short = drawn.shortened(4);
        assert_eq!((short.psi(), short.t(), short.width()), (4, 4, 2));
        let ids =
            |p: &Partitions| Mapper::new(p, &[4], &ctx).unwrap().ids(bags.instances(), 0..30, &ctx).unwrap();
        assert!(ids(&drawn) == ids(&short), "{partition:?}");
    }
}

#[test]
fn trees_that_do_not_hold_together_are_refused() {
    let split = |attribute, at| Some(Split { attribute, at });
    let whole = [split(1, 0.5), None, None];
    assert!(Forest::new(2, 1, 2, &whole).is_ok());
    let refused = |width, t, psi, nodes: &[Option<Split>], expected: &str| {
        let error = Forest::new(width, t, psi, nodes).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    refused(2, 1, 2, &whole[..2], "ends before its leaves");
    refused(2, 2, 2, &whole, "ends before its leaves");
    refused(2, 1, 2, &[&whole[..], &[None]].concat(), "beyond the 1 trees");
    refused(1, 1, 2, &whole, "attribute 1 of 1");
    refused(2, 1, 1, &whole, "more than 1 leaves");
    refused(2, 1, 2, &[split(0, f64::NAN), None, None], "at NaN");
    refused(2, 0, 2, &[], "0 trees");
    refused(2, 1, 70_000, &whole, "70000 leaves");
    refused(0, 1, 2, &[None], "over 0 attributes");
}
