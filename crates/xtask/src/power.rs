//! `cargo xtask power`: what is left of a command's files if the power fails.
//!
//! A real run is recorded: every creation, write, sync and rename in its folder. Then the disk is played: a write that no sync
//! of its file has followed may be lost, sector by sector, in any combination; creations, renames and removals that no sync of
//! their folder has followed may be lost from any point on. Two things must hold. After a command has ended with exit code 0,
//! every file that it wrote is there as it was. After a power cut in its middle, a file that was there before is the old one or the
//! whole new one, and the same command again ends well, with the result of an undisturbed run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use bagwise::Rng;

use crate::faults::difference;
use crate::run::say;
use crate::scenes::{self, Files, Scene, fresh};
use crate::trace::{Change, run};

/// What a disk writes as a whole.
const SECTOR: usize = 512;

/// Power cuts after the end of a command, which cost nothing to look at.
const AFTER: usize = 400;

/// Power cuts in the middle of a command, each followed by the same command again.
const WITHIN: usize = 12;

/// A change of a file's content.
#[derive(Clone, Debug)]
enum Content {
    Write(usize, Vec<u8>),
    Truncate(usize),
}

#[derive(Clone, Debug, Default)]
struct DiskFile {
    durable: Vec<u8>,
    pending: Vec<Content>,
}

/// A change of a folder.
#[derive(Clone, Debug)]
enum Entry {
    Add(PathBuf, usize),
    Rename(PathBuf, PathBuf),
    Remove(PathBuf),
    Folder(PathBuf),
}

/// A disk and its cache: files by number, and names that lead to them.
#[derive(Clone, Debug, Default)]
struct Disk {
    files: Vec<DiskFile>,
    /// Names as programs see them.
    names: BTreeMap<PathBuf, usize>,
    /// Names and folders that survive.
    durable: BTreeMap<PathBuf, usize>,
    folders: BTreeSet<PathBuf>,
    pending: Vec<Entry>,
}

fn apply(content: &mut Vec<u8>, change: &Content) {
    match change {
        Content::Write(at, bytes) => {
            content.resize(content.len().max(at + bytes.len()), 0);
            content[*at..at + bytes.len()].copy_from_slice(bytes);
        }
        Content::Truncate(length) => content.resize(*length, 0),
    }
}

impl Disk {
    /// A disk on which everything is safe.
    fn new(files: &Files) -> Disk {
        let mut disk = Disk::default();
        disk.folders.insert(PathBuf::new());
        for (path, bytes) in files {
            disk.names.insert(path.clone(), disk.files.len());
            disk.files.push(DiskFile { durable: bytes.clone(), pending: Vec::new() });
            disk.folders.extend(path.ancestors().skip(1).map(Path::to_path_buf));
        }
        disk.durable = disk.names.clone();
        disk
    }

    /// Takes a change whose paths are relative to the watched folder.
    fn change(&mut self, change: &Change) -> Result<()> {
        let known = |disk: &Disk, path: &Path| {
            disk.names.get(path).copied().with_context(|| format!("no file {}", path.display()))
        };
        match change {
            Change::Create(path) => {
                self.names.insert(path.clone(), self.files.len());
                self.pending.push(Entry::Add(path.clone(), self.files.len()));
                self.files.push(DiskFile::default());
            }
            Change::Write { path, at, bytes } => {
                let file = known(self, path)?;
                // Sectors are lost one by one.
                let mut at = usize::try_from(*at)?;
                let mut rest = &bytes[..];
                while !rest.is_empty() {
                    let (piece, more) = rest.split_at((SECTOR - at % SECTOR).min(rest.len()));
                    self.files[file].pending.push(Content::Write(at, piece.to_vec()));
                    (at, rest) = (at + piece.len(), more);
                }
            }
            Change::Truncate { path, length } => {
                let file = known(self, path)?;
                self.files[file].pending.push(Content::Truncate(usize::try_from(*length)?));
            }
            Change::Sync(path) => match self.names.get(path) {
                Some(&file) => {
                    let DiskFile { durable, pending } = &mut self.files[file];
                    pending.drain(..).for_each(|change| apply(durable, &change));
                }
                None => self.sync_folder(path),
            },
            Change::Rename { from, to } => {
                let file = known(self, from)?;
                self.names.remove(from);
                self.names.insert(to.clone(), file);
                self.pending.push(Entry::Rename(from.clone(), to.clone()));
            }
            Change::Remove(path) => {
                self.names.remove(path);
                self.pending.push(Entry::Remove(path.clone()));
            }
            Change::MakeFolder(path) => self.pending.push(Entry::Folder(path.clone())),
        }
        Ok(())
    }

    /// Makes the changes of a folder safe.
    fn sync_folder(&mut self, folder: &Path) {
        let (own, other): (Vec<Entry>, Vec<Entry>) =
            std::mem::take(&mut self.pending).into_iter().partition(|entry| entry.folder() == folder);
        self.pending = other;
        let (durable, folders) = (&mut self.durable, &mut self.folders);
        own.iter().for_each(|entry| entry.take_effect(durable, folders));
    }

    /// What is found after a power cut. A random number decides what of the cache had reached the disk.
    fn cut(&self, rng: &mut Rng) -> Files {
        // Sometimes all of it, or none.
        let share = [0.0, 0.25, 0.5, 0.75, 1.0][rng.below(5)];
        let mut keep = |share: f64| rng.uniform() < share;
        let (mut names, mut folders) = (self.durable.clone(), self.folders.clone());
        // A journal keeps the order of the changes of a folder.
        let mut ended: BTreeSet<&Path> = BTreeSet::new();
        for entry in &self.pending {
            if ended.contains(entry.folder()) || !keep(share) {
                ended.insert(entry.folder());
            } else {
                entry.take_effect(&mut names, &mut folders);
            }
        }
        let reachable = |path: &Path| path.ancestors().skip(1).all(|folder| folders.contains(folder));
        let mut found = Files::new();
        for (path, &file) in names.iter().filter(|(path, _)| reachable(path)) {
            let file = &self.files[file];
            let mut content = file.durable.clone();
            for change in file.pending.iter().filter(|_| keep(share)) {
                apply(&mut content, change);
            }
            found.insert(path.clone(), content);
        }
        found
    }
}

impl Entry {
    /// The folder whose sync makes it safe.
    fn folder(&self) -> &Path {
        let (Entry::Add(path, _) | Entry::Rename(_, path) | Entry::Remove(path) | Entry::Folder(path)) = self;
        path.parent().unwrap_or(Path::new(""))
    }

    fn take_effect(&self, names: &mut BTreeMap<PathBuf, usize>, folders: &mut BTreeSet<PathBuf>) {
        match self {
            Entry::Add(path, file) => {
                names.insert(path.clone(), *file);
            }
            Entry::Rename(from, to) => {
                if let Some(file) = names.remove(from) {
                    names.insert(to.clone(), file);
                }
            }
            Entry::Remove(path) => {
                names.remove(path);
            }
            Entry::Folder(path) => {
                folders.insert(path.clone());
            }
        }
    }
}

/// A change with paths relative to the watched folder.
fn relative(change: &Change, folder: &Path) -> Result<Change> {
    let cut = |path: &PathBuf| Ok::<_, anyhow::Error>(path.strip_prefix(folder)?.to_path_buf());
    Ok(match change {
        Change::Create(path) => Change::Create(cut(path)?),
        Change::Write { path, at, bytes } => {
            Change::Write { path: cut(path)?, at: *at, bytes: bytes.clone() }
        }
        Change::Truncate { path, length } => Change::Truncate { path: cut(path)?, length: *length },
        Change::Sync(path) => Change::Sync(cut(path)?),
        Change::Rename { from, to } => Change::Rename { from: cut(from)?, to: cut(to)? },
        Change::Remove(path) => Change::Remove(cut(path)?),
        Change::MakeFolder(path) => Change::MakeFolder(cut(path)?),
    })
}

/// `cargo xtask power [VERB] [--binary FILE]`.
pub(crate) fn command(args: &[String]) -> Result<()> {
    let writes = |s: &Scene| !s.outputs.is_empty() && !s.long;
    scenes::play(args, "power cuts", writes, |binary, scene, start| {
        Ok((AFTER + WITHIN, play(binary, scene, start)?))
    })
}

/// Records a command and cuts the power; what was wrong.
fn play(binary: &Path, scene: &Scene, start: &Files) -> Result<Vec<String>> {
    let folder = fresh(start)?;
    let place = folder.path().canonicalize()?;
    let traced = run(&mut scenes::command(binary, &place, scene.line), &place, None, None)?;
    if traced.code != Some(0) {
        bail!("it ends with {:?}: {}", traced.code, traced.stderr);
    }
    let changes = traced.changes.iter().map(|c| relative(c, &place)).collect::<Result<Vec<_>>>()?;
    let end = scenes::files(&place)?;
    let mut disks = vec![Disk::new(start)];
    for change in &changes {
        let mut disk = disks[disks.len() - 1].clone();
        disk.change(change).with_context(|| format!("{change:?}"))?;
        disks.push(disk);
    }
    let last = &disks[disks.len() - 1];
    // What was recorded is what happened.
    let seen: Files = last
        .names
        .iter()
        .map(|(path, &file)| {
            let mut content = last.files[file].durable.clone();
            last.files[file].pending.iter().for_each(|change| apply(&mut content, change));
            (path.clone(), content)
        })
        .collect();
    if let Some(other) = difference(&seen, &end, "the recording") {
        bail!("{other}");
    }
    let mut wrong = BTreeSet::new();
    let mut rng = Rng::new(1, "power", &[]);
    let written = |files: &Files| -> Files {
        let own =
            files.iter().filter(|(path, _)| scenes::is_output(scene, path) && !scenes::is_temporary(path));
        own.map(|(path, bytes)| (path.clone(), bytes.clone())).collect()
    };
    for _ in 0..AFTER {
        if let Some(other) = difference(&written(&last.cut(&mut rng)), &written(&end), "after exit code 0") {
            wrong.insert(other);
        }
    }
    let right = scenes::results(scene, &end);
    for i in 0..WITHIN {
        let at = 1 + i * (disks.len() - 2).max(1) / WITHIN;
        let found = disks[at.min(disks.len() - 1)].cut(&mut rng);
        for (path, old) in start {
            let now = found.get(path);
            let new = scenes::is_output(scene, path).then(|| end.get(path)).flatten();
            if now != Some(old) && (new.is_none() || now != new) {
                wrong.insert(format!("{} is neither old nor new", path.display()));
            }
        }
        let folder = fresh(&found)?;
        let again = scenes::command(binary, folder.path(), scene.line).output()?;
        let said = String::from_utf8_lossy(&again.stderr).into_owned();
        if again.status.code() != Some(0) {
            wrong.insert(format!("the same again ends with {:?}: {said}", again.status.code()));
        } else if let Some(other) =
            difference(&scenes::results(scene, &scenes::files(folder.path())?), &right, "the same again")
        {
            wrong.insert(other);
        }
    }
    let wrong: Vec<String> = wrong.into_iter().map(|w| format!("{}: {w}", scene.line)).collect();
    wrong.iter().for_each(|w| say(w));
    Ok(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(name: &str) -> PathBuf {
        PathBuf::from(name)
    }

    /// A model is replaced: by a temporary file that is written, perhaps synced, and renamed.
    fn replaced(sync_file: bool, sync_folder: bool) -> Disk {
        let mut disk = Disk::new(&Files::from([(at("m"), b"old".to_vec())]));
        let mut changes =
            vec![Change::Create(at("t")), Change::Write { path: at("t"), at: 0, bytes: vec![7; 2000] }];
        changes.extend(sync_file.then(|| Change::Sync(at("t"))));
        changes.push(Change::Rename { from: at("t"), to: at("m") });
        changes.extend(sync_folder.then(|| Change::Sync(at(""))));
        changes.iter().for_each(|change| disk.change(change).unwrap());
        disk
    }

    fn contents(disk: &Disk) -> BTreeSet<Vec<u8>> {
        let mut rng = Rng::new(0, "test", &[]);
        (0..500).filter_map(|_| disk.cut(&mut rng).remove(Path::new("m"))).collect()
    }

    #[test]
    fn a_file_that_was_not_synced_may_be_torn() {
        assert!(contents(&replaced(false, true)).len() > 2);
        let (old, new) = (b"old".to_vec(), vec![7; 2000]);
        assert_eq!(contents(&replaced(true, false)), BTreeSet::from([old, new.clone()]));
        assert_eq!(contents(&replaced(true, true)), BTreeSet::from([new]));
    }

    #[test]
    fn a_folder_that_was_not_synced_may_be_gone() {
        let mut disk = Disk::new(&Files::new());
        disk.change(&Change::MakeFolder(at("run"))).unwrap();
        disk.change(&Change::Create(at("run/a"))).unwrap();
        disk.change(&Change::Sync(at("run/a"))).unwrap();
        disk.change(&Change::Sync(at("run"))).unwrap();
        let mut rng = Rng::new(0, "test", &[]);
        assert!((0..100).any(|_| disk.cut(&mut rng).is_empty()));
        disk.change(&Change::Sync(at(""))).unwrap();
        assert!((0..100).all(|_| !disk.cut(&mut rng).is_empty()));
    }
}
