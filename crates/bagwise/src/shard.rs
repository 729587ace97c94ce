//! A part of a run, `3/7`: fits are dealt out to shards by number, so that shards can run on different machines. A record does
//! not depend on its shard, so the union of all shards is the run without shards.
//!
//! A shard keeps its records in a folder of its own inside the folder of the run (`shard-3-of-7`). The same run without a
//! shard takes over the records that it finds there, and fits what is missing.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use bagwise_core::{Error, Result};

/// Which part of a run: `index` of `of`, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shard {
    index: usize,
    of: usize,
}

impl Shard {
    /// Shards that a run may have: more than any cluster runs at a time.
    pub const MOST: usize = 1_000_000;

    /// Part `index` of `of`, counted from 1.
    pub fn new(index: usize, of: usize) -> Result<Shard> {
        if index == 0 || index > of || of > Shard::MOST {
            return Err(Error::Invalid(format!(
                "{index}/{of} is not a shard; use I/N with I from 1 to N, such as 3/7"
            )));
        }
        Ok(Shard { index, of })
    }

    /// The number of this part, from 1.
    pub fn index(self) -> usize {
        self.index
    }

    /// The number of all parts.
    pub fn of(self) -> usize {
        self.of
    }

    /// Its folder inside the folder of the run.
    pub fn folder(self, run: &Path) -> PathBuf {
        run.join(format!("shard-{}-of-{}", self.index, self.of))
    }

    /// The shard whose folder this is, by its name.
    pub fn of_folder(folder: &Path) -> Option<Shard> {
        let name = folder.file_name()?.to_str()?.strip_prefix("shard-")?;
        let (index, of) = name.split_once("-of-")?;
        Shard::new(index.parse().ok()?, of.parse().ok()?).ok()
    }

    /// The part of `count` consecutive things that belongs to this shard; the parts differ by one at most.
    pub fn part(self, count: usize) -> std::ops::Range<usize> {
        let bound = |i: usize| (i as u128 * count as u128 / self.of as u128) as usize;
        bound(self.index - 1)..bound(self.index)
    }

    /// The number of fits of this shard of a run with this fingerprint: so many methods, in repeats of so many folds each. Folds of a
    /// repeat that are chosen on `together` are in one shard.
    pub fn fits(self, fingerprint: &str, methods: usize, folds: &[usize], together: bool) -> usize {
        let of_method: Vec<usize> =
            folds.iter().flat_map(|&count| if together { vec![count] } else { vec![1; count] }).collect();
        let units = (0..methods).flat_map(|_| &of_method).enumerate();
        units.filter(|(number, _)| self.owns(*number, fingerprint)).map(|(_, fits)| fits).sum()
    }

    /// Whether unit `number` of the run with this fingerprint belongs to this shard. Units are dealt out in turn, so that
    /// every shard gets about the same number of fits of every method. The fingerprint decides who comes first: of many
    /// small runs, the first shard would get more otherwise.
    pub(super) fn owns(self, number: usize, fingerprint: &str) -> bool {
        let first = fingerprint.bytes().fold(0usize, |sum, byte| (sum * 31 + usize::from(byte)) % 1_000_003);
        (number + first) % self.of == self.index - 1
    }
}

impl FromStr for Shard {
    type Err = Error;

    fn from_str(text: &str) -> Result<Shard> {
        let parts =
            text.split_once('/').and_then(|(i, n)| Some((i.trim().parse().ok()?, n.trim().parse().ok()?)));
        let Some((index, of)) = parts else {
            return Err(Error::Invalid(format!("'{text}' is not a shard; use I/N, such as 3/7")));
        };
        Shard::new(index, of)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

/// The folders of shards inside the folder of a run, in order.
pub fn shard_folders(run: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(run) else { return Vec::new() };
    let mut found: Vec<(Shard, PathBuf)> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .filter_map(|path| Some((Shard::of_folder(&path)?, path)))
        .collect();
    found.sort_by_key(|(shard, _)| (shard.of, shard.index));
    found.into_iter().map(|(_, path)| path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_belongs_to_one_shard() {
        for of in [1, 2, 7, 100] {
            let shards: Vec<Shard> = (1..=of).map(|i| Shard::new(i, of).unwrap()).collect();
            for unit in 0..250 {
                assert_eq!(shards.iter().filter(|s| s.owns(unit, "a fingerprint")).count(), 1);
            }
            for together in [false, true] {
                let fits = |s: &Shard| s.fits("a fingerprint", 3, &[5, 4], together);
                assert_eq!(shards.iter().map(fits).sum::<usize>(), 27);
            }
            let covered: Vec<usize> = shards.iter().flat_map(|s| s.part(53)).collect();
            assert_eq!(covered, (0..53).collect::<Vec<_>>());
        }
    }

    #[test]
    fn shards_are_read_and_slips_are_refused() {
        assert_eq!("3/7".parse::<Shard>().unwrap(), Shard { index: 3, of: 7 });
        let folder = Shard::new(3, 7).unwrap().folder(Path::new("run"));
        assert_eq!(Shard::of_folder(&folder), Shard::new(3, 7).ok());
        for bad in ["", "3", "0/7", "8/7", "a/b", "3/7/9", "-1/7", "1/2000000"] {
            assert!(bad.parse::<Shard>().is_err(), "{bad}");
        }
    }
}
