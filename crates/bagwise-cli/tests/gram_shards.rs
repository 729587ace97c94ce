//! `gram --shard`: the rows of all shards together are the Gram, byte for byte, also if a shard was killed.

mod common;

use std::path::{Path, PathBuf};

use common::{bagwise, done, folder, text};

/// The files of shards in a folder.
fn shards(home: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(home).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> = files.filter(|path| path.to_string_lossy().contains("-shard-")).collect();
    found.sort();
    found
}

#[test]
fn shards_together_are_the_whole() {
    let home = folder();
    for command in [
        "musk1 --method mi-kernel -p gamma=0.5",
        "musk1 --method mi-kernel -p gamma=0.5 -p norm=sqrt --precision f32",
        "musk1 --method mi-kernel -p kernel=poly",
        "musk1 --method mi-kernel -p kernel=linear",
        "musk1 --method wmksvm",
        "musk1 --method migraph",
        "musk1 --method migraph-explicit",
        "musk1 --method isk -p psi=16 -p t=20 -p epsilon=11/20",
        "musk1 --method isk -p psi=16 -p t=20 -p solver=map",
        "musk1 --method simple-mi",
        "musk1 --method mind",
        "musk1 --method emd",
        "synthetic:gauss?bags=60&min=1&max=400&features=3 --method mi-kernel",
        "musk1 --against musk1 --method mi-kernel",
    ] {
        done(home.path(), &format!("gram {command} -o whole.npy"));
        for shard in 1..=7 {
            done(home.path(), &format!("gram {command} -o k.npy --shard {shard}/7"));
        }
        let files = shards(home.path());
        assert_eq!(files.len(), 7, "{command}");
        // One was killed twice: its file is not there, because files appear when they are complete.
        std::fs::remove_file(&files[3]).unwrap();
        let said = done(home.path(), &format!("gram {command} -o k.npy"));
        assert!(text(&said.stderr).contains("took 6 of 7 shards"), "{command}\n{}", text(&said.stderr));
        let read = |name: &str| std::fs::read(home.path().join(name)).unwrap();
        assert!(read("k.npy") == read("whole.npy"), "{command}");
        let again = done(home.path(), &format!("gram {command} -o k.npy --shard 1/7"));
        assert!(text(&again.stderr).contains("is there already"), "{command}\n{}", text(&again.stderr));
        shards(home.path()).into_iter().for_each(|file| std::fs::remove_file(file).unwrap());
    }
}

#[test]
fn shards_of_something_else_are_not_taken() {
    let home = folder();
    done(home.path(), "gram musk1 --method mi-kernel -p gamma=1 -o k.npy --shard 1/1");
    let said = done(home.path(), "gram musk1 --method mi-kernel -p gamma=2 -o k.npy");
    assert!(!text(&said.stderr).contains("shards"), "{}", text(&said.stderr));
    let said = done(home.path(), "gram musk1 --method mi-kernel -p gamma=1 -o k.npy");
    assert!(text(&said.stderr).contains("took 1 of 1 shards"), "{}", text(&said.stderr));
    // A file that is cut short is not a shard; one that is no Gram of ours is not overwritten.
    let file = shards(home.path()).remove(0);
    std::fs::write(&file, b"mine").unwrap();
    let output = bagwise(
        home.path(),
        &["gram", "musk1", "--method", "mi-kernel", "-p", "gamma=1", "-o", "k.npy", "--shard", "1/1"],
    );
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert_eq!(std::fs::read(&file).unwrap(), b"mine");
    let script = done(home.path(), "slurm --shards 9 gram musk1 --method mi-kernel -o k.npy");
    assert!(
        text(&script.stdout)
            .contains("exec bagwise gram musk1 --method mi-kernel -o k.npy --threads 1 --shard")
    );
}

#[test]
fn a_damaged_shard_is_computed_again_and_named() {
    let home = folder();
    let command = "gram musk1 --method mi-kernel -p gamma=0.5";
    done(home.path(), &format!("{command} -o whole.npy"));
    for shard in 1..=3 {
        done(home.path(), &format!("{command} -o k.npy --shard {shard}/3"));
    }
    let file = shards(home.path()).remove(1);
    let name = file.file_name().unwrap().to_string_lossy().into_owned();
    let good = std::fs::read(&file).unwrap();
    let flip = |at: &[usize], bit: u8| {
        let mut bytes = good.clone();
        at.iter().for_each(|&at| bytes[at] ^= bit);
        bytes
    };
    let end = good.len();
    for (what, bytes) in [
        ("a digit", flip(&[end / 2], 1)),
        ("two signs", flip(&[192 + 8 * 100 + 7, 192 + 8 * 101 + 7], 0x80)),
        ("the last byte", flip(&[end - 1], 1)),
        ("the header", flip(&[20], 1)),
        ("its shape", flip(&[good.windows(6).position(|w| w == b"shape'").unwrap() + 9], 1)),
        ("the end", good[..end - 8].to_vec()),
        ("all but the beginning", good[..100].to_vec()),
    ] {
        std::fs::write(&file, &bytes).unwrap();
        let said = done(home.path(), &format!("{command} -o k.npy"));
        let said = text(&said.stderr);
        assert!(said.contains(&format!("{name}: the file is damaged or incomplete")), "{what}: {said}");
        assert!(said.contains("took 2 of 3 shards"), "{what}: {said}");
        let read = |name: &str| std::fs::read(home.path().join(name)).unwrap();
        assert!(read("k.npy") == read("whole.npy"), "{what}");
    }
    // The shard itself is not taken for done either.
    std::fs::write(&file, flip(&[end / 2], 1)).unwrap();
    let said = done(home.path(), &format!("{command} -o k.npy --shard 2/3"));
    assert!(text(&said.stderr).contains("computed again"), "{}", text(&said.stderr));
    assert!(std::fs::read(&file).unwrap() == good);
}
