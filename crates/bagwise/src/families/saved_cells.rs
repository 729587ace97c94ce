//! Partitionings as arrays of a model: lists of centres with their spheres, or trees. What is read back is checked.

use crate::method::State;
use crate::state::{Tensor, refuse};
use bagwise_core::{Bags, Result};
use bagwise_engine::cells::{CentreLists, Distance, Forest, Partition, Partitions, Split};

/// Stores the partitionings of one psi.
pub(crate) fn save_partitions(partitions: &Partitions, state: &mut State) -> Result<()> {
    match partitions {
        Partitions::Centres(lists) => save_centres(lists, state)?,
        Partitions::Forests(forests) => {
            forests.iter().for_each(|forest| state.nest("trees", saved_forest(forest)))
        }
    }
    Ok(())
}

/// The partitionings that [`save_partitions`] stored.
pub(crate) fn load_partitions(t: usize, partition: Partition, state: &State) -> Result<Partitions> {
    match partition {
        Partition::Forest => load_forest(t, &state.nested("trees")),
        Partition::Voronoi(distance) | Partition::Sphere(distance) => {
            load_centres(t, distance, matches!(partition, Partition::Sphere(_)), state)
        }
    }
}

fn save_centres(lists: &CentreLists, state: &mut State) -> Result<()> {
    let centres = lists.centres();
    let mut own = State::default();
    let bags = Bags::new(centres.clone(), vec![0, centres.rows()]).expect("they were instances of bags");
    own.put_bags(&bags)?;
    state.nest("centres", own);
    state.put_counts("lists", lists.lists().iter().map(|&c| c as usize));
    if let Some(radii) = lists.squared_radii(lists.psi()) {
        state.put("squared_radii", radii);
    }
    Ok(())
}

fn load_centres(t: usize, distance: Distance, spheres: bool, state: &State) -> Result<Partitions> {
    let centres = state.nested("centres").bags()?.instances().clone();
    let lists: Option<Vec<u32>> = state.counts("lists")?.into_iter().map(|c| u32::try_from(c).ok()).collect();
    let lists = lists.ok_or_else(|| refuse("a centre's number is too large"))?;
    let mut lists = CentreLists::new(centres, lists, t, distance).map_err(|e| refuse(e.to_string()))?;
    if spheres {
        // Not `vector`: a centre without another has an infinite sphere.
        let Some(Tensor::F64(_, radii)) = state.tensors.get("squared_radii") else {
            return Err(refuse("the radii of its spheres are missing"));
        };
        lists = lists.with_radii(radii.clone()).map_err(|e| refuse(e.to_string()))?;
    }
    Ok(Partitions::Centres(lists))
}

/// Trees node after node in preorder: 0 for a leaf, else the number of the attribute counted from 1, with its split.
fn saved_forest(forest: &Forest) -> State {
    let mut state = State::default();
    let nodes = forest.preorder();
    state.put_counts("width", [forest.width()]);
    state.put_counts("psi", [forest.psi()]);
    state.put_counts("nodes", nodes.iter().map(|node| node.map_or(0, |s| s.attribute as usize + 1)));
    state.put("splits", &nodes.iter().flatten().map(|s| s.at).collect::<Vec<_>>());
    state
}

fn load_forest(t: usize, state: &State) -> Result<Partitions> {
    let (width, psi) = (state.count("width")?, state.count("psi")?);
    let nodes = state.counts("nodes")?;
    let inner = nodes.iter().filter(|&&node| node > 0).count();
    let mut splits = state.vector("splits", inner)?.into_iter();
    let split = |&node: &usize| -> Result<Option<Split>> {
        if node == 0 {
            return Ok(None);
        }
        let attribute = u32::try_from(node - 1).map_err(|_| refuse("an attribute's number is too large"))?;
        Ok(splits.next().map(|at| Split { attribute, at }))
    };
    let nodes = nodes.iter().map(split).collect::<Result<Vec<_>>>()?;
    let forest = Forest::new(width, t, psi, &nodes).map_err(|e| refuse(e.to_string()))?;
    Ok(Partitions::Forests(vec![forest]))
}
