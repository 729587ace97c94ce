//! Commands of every verb on small data, in folders that are made once and copied: what fault injection, power cuts and the
//! soak have in common.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::run::{cargo, print, run, say, target};

/// The files of a folder.
pub(crate) type Files = BTreeMap<PathBuf, Vec<u8>>;

/// A command of a verb.
pub(crate) struct Scene {
    pub(crate) verb: &'static str,
    pub(crate) line: &'static str,
    /// Files and folders that it writes.
    pub(crate) outputs: &'static [&'static str],
    /// Whether the whole command takes so long that it is only watched while it starts.
    pub(crate) long: bool,
}

const fn scene(verb: &'static str, line: &'static str, outputs: &'static [&'static str]) -> Scene {
    Scene { verb, line, outputs, long: false }
}

/// Every verb, with everything that it can write.
pub(crate) const SCENES: &[Scene] = &[
    scene(
        "compare",
        "compare d.csv --methods majority,simple-mi --folds 3 --inner 2 -p simple-mi.gamma=0.5 -p simple-mi.c=1 -o out",
        &["out"],
    ),
    scene("evaluate", "evaluate d.csv --method sil --folds 3 --inner 2 -p c=1 -o out", &["out"]),
    scene(
        "fit",
        "fit d.csv --method mi-kernel -p gamma=0.5 -p norm=mean -p c=1 --inner 2 -o old.bagwise",
        &["old.bagwise"],
    ),
    scene("fit", "fit d.csv --method majority --inner 2 -o packed.bagwise.gz", &["packed.bagwise.gz"]),
    scene("predict", "predict m.bagwise d.csv --format csv", &[]),
    scene("predict", "predict m.bagwise d.csv -o p.csv --force", &["p.csv"]),
    scene("show", "show m.bagwise", &[]),
    scene("show", "show g.bagwise --format json", &[]),
    scene("explain", "explain g.bagwise d.csv --format json", &[]),
    scene("explain", "explain g.bagwise d.csv --graph g.dot", &["g.dot"]),
    scene("inspect", "inspect d.csv", &[]),
    scene("inspect", "inspect d.npz --format json", &[]),
    scene("run", "run e.toml -o paper", &["paper"]),
    scene("data", "data --format csv", &[]),
    scene("data", "data", &[]),
    scene("data", "data check musk1", &[]),
    scene("report", "report run -o page.html", &["page.html"]),
    scene("methods", "methods --format json", &[]),
    scene("methods", "methods isk", &[]),
    scene("convert", "convert d.csv d.npz", &["d.npz"]),
    scene("convert", "convert d.csv d.parquet", &["d.parquet"]),
    scene("convert", "convert d.csv d2.csv.gz --force", &["d2.csv.gz"]),
    scene("gram", "gram d.csv --method mi-kernel -p gamma=0.5 -p norm=mean --output k.npy", &["k.npy"]),
    scene("embed", "embed d.csv --method isk -p psi=4 -p epsilon=1 --output v.npz", &["v.npz"]),
    scene("slurm", "slurm --shards 3 compare d.csv -o out", &[]),
    scene("slurm", "slurm --shards 2 --time 1:00:00 run e.toml -o paper", &[]),
    scene("completions", "completions bash", &[]),
    scene("completions", "completions zsh", &[]),
    Scene { verb: "demo", line: "demo -o first", outputs: &["first"], long: true },
];

/// A small experiment.
const EXPERIMENT: &str = "title = \"Means\"\nsource = \"nobody\"\nmetric = \"accuracy\"\n\
    [protocol]\nname = \"nested\"\nfolds = 3\ninner = 2\n\
    [[data]]\nname = \"d\"\nread = \"d.csv\"\n\
    [[method]]\nname = \"means\"\nmethod = \"simple-mi\"\nparams = { gamma = \"0.5\", c = \"1\" }\n";

/// Sixteen bags of two classes.
pub(crate) fn table() -> String {
    let mut rows = String::from("bag,label,x,z\n");
    for bag in 0..16 {
        for row in 0..=bag % 3 {
            let x = f64::from(bag % 2) + 0.1 * f64::from(row) + 0.01 * f64::from(bag);
            rows += &format!("b{bag},{},{x},{}\n", bag % 2, bag * row % 5);
        }
    }
    rows
}

/// The program under test: the one that is named, else a build with debug assertions.
pub(crate) fn binary(named: Option<&str>) -> Result<PathBuf> {
    if let Some(named) = named {
        return Path::new(named).canonicalize().with_context(|| named.to_string());
    }
    run(cargo(&["build", "--quiet", "--package", "bagwise-cli"]))?;
    Ok(target().join("debug/bagwise"))
}

/// The program with the words of a line, away from settings of the user.
pub(crate) fn command(binary: &Path, folder: &Path, line: &str) -> Command {
    let mut command = Command::new(binary);
    // First: what follows slurm belongs to the command that it splits.
    command.args(["--threads", "1"]).args(line.split_whitespace()).current_dir(folder);
    for name in ["COLUMNS", "NO_COLOR", "BAGWISE_DATA", "RUST_BACKTRACE"] {
        command.env_remove(name);
    }
    command.env("BAGWISE_CACHE", "cache").env("BAGWISE_SIMD", "avx2");
    command
}

/// Makes the folder that every command starts from.
pub(crate) fn prepare(binary: &Path, folder: &Path) -> Result<()> {
    std::fs::write(folder.join("d.csv"), table())?;
    std::fs::write(folder.join("e.toml"), EXPERIMENT)?;
    for line in [
        "fit d.csv --method simple-mi -p gamma=0.5 -p c=1 --inner 2 -o m.bagwise",
        "fit d.csv --method migraph-explicit -p c=1 --inner 2 -o g.bagwise",
        "fit d.csv --method majority --inner 2 -o old.bagwise",
        "compare d.csv --methods majority --folds 3 -o run",
        "convert d.csv d.npz",
        "convert d.csv d.parquet",
        "report run -o page.html",
    ] {
        let output = command(binary, folder, line).output()?;
        if !output.status.success() {
            bail!("bagwise {line}: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
    say(&format!("{} commands of {} verbs", SCENES.len(), verbs()));
    Ok(())
}

/// A copy of the folder that commands start from.
pub(crate) fn fresh(start: &Files) -> Result<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    write_files(folder.path(), start)?;
    Ok(folder)
}

/// Plays the scenes that are `wanted`, or those of one verb, for a command with the arguments `[VERB] [--binary FILE]`. `one` says
/// of a scene how often it was disturbed, and what went wrong.
pub(crate) fn play(
    args: &[String],
    disturbances: &str,
    wanted: impl Fn(&Scene) -> bool,
    one: impl Fn(&Path, &Scene, &Files) -> Result<(usize, Vec<String>)>,
) -> Result<()> {
    let (mut verb, mut named) = (None, None);
    let mut words = args.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--binary" => named = Some(words.next().context("--binary needs a file")?.as_str()),
            word if SCENES.iter().any(|s| s.verb == word) => verb = Some(word),
            other => bail!("'{other}' is neither a verb nor --binary FILE"),
        }
    }
    let binary = binary(named)?;
    let start = tempfile::tempdir()?;
    prepare(&binary, start.path())?;
    let start = files(start.path())?;
    let (mut count, mut broken) = (0, Vec::new());
    for scene in SCENES.iter().filter(|s| verb.is_none_or(|verb| verb == s.verb) && wanted(s)) {
        let (done, found) = one(&binary, scene, &start).with_context(|| scene.line.to_string())?;
        print(&format!(
            "{:<12} {done:>4} {disturbances}, {} faults  ({})\n",
            scene.verb,
            found.len(),
            scene.line
        ));
        count += done;
        broken.extend(found);
    }
    print(&format!("{count} {disturbances}, {} faults\n", broken.len()));
    if !broken.is_empty() {
        bail!("{}", broken.join("\n"));
    }
    Ok(())
}

/// How many verbs there are in [`SCENES`].
pub(crate) fn verbs() -> usize {
    SCENES.iter().map(|s| s.verb).collect::<std::collections::BTreeSet<_>>().len()
}

/// All files of a folder by their paths in it.
pub(crate) fn files(folder: &Path) -> Result<Files> {
    fn walk(root: &Path, folder: &Path, all: &mut Files) -> Result<()> {
        for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
            let path = entry?.path();
            if path.is_dir() {
                walk(root, &path, all)?;
            } else {
                all.insert(path.strip_prefix(root)?.to_path_buf(), std::fs::read(&path)?);
            }
        }
        Ok(())
    }
    let mut all = BTreeMap::new();
    walk(folder, folder, &mut all)?;
    Ok(all)
}

/// Writes files into an empty folder.
pub(crate) fn write_files(folder: &Path, files: &Files) -> Result<()> {
    for (name, bytes) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().context("a file in a folder")?)?;
        std::fs::write(&path, bytes)?;
    }
    Ok(())
}

/// True if a path is one of the outputs or in one.
pub(crate) fn is_output(scene: &Scene, path: &Path) -> bool {
    scene.outputs.iter().any(|output| path.starts_with(output))
}

/// True of what belongs to no one: temporary files and the cache.
pub(crate) fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with(".bagwise-") || path.starts_with("cache")
}

/// A file without the times that differ from run to run.
pub(crate) fn timeless(path: &Path, bytes: &[u8]) -> Vec<u8> {
    fn forget(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.retain(|key, _| {
                    !["seconds", "time", "speed", "command", "finished", "threads"].contains(&key.as_str())
                });
                fields.values_mut().for_each(forget);
            }
            Value::Array(items) => items.iter_mut().for_each(forget),
            _ => {}
        }
    }
    let ending = path.extension().unwrap_or_default().to_string_lossy().into_owned();
    let parsed = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).ok();
    match ending.as_str() {
        "json" => parsed(bytes).map_or(bytes.to_vec(), |mut value| {
            forget(&mut value);
            value.to_string().into_bytes()
        }),
        "jsonl" => {
            let mut lines: Vec<String> = Vec::new();
            // Lines with zeros were lost in a power cut, and are passed over when the file is read. The run that goes on makes them
            // blank.
            let read = |line: &&[u8]| !line.trim_ascii().is_empty() && !line.contains(&0);
            for line in bytes.split(|&b| b == b'\n').filter(read) {
                let Some(mut value) = parsed(line) else { return bytes.to_vec() };
                forget(&mut value);
                lines.push(value.to_string());
            }
            lines.sort();
            lines.join("\n").into_bytes()
        }
        // Pages show times in many places; that they are whole is what counts.
        "html" | "md" | "tex" => bytes.get(bytes.len().saturating_sub(8)..).unwrap_or_default().to_vec(),
        _ => bytes.to_vec(),
    }
}

/// The outputs of a command, without times.
pub(crate) fn results(scene: &Scene, files: &Files) -> Files {
    files
        .iter()
        .filter(|(path, _)| is_output(scene, path) && !is_temporary(path))
        .map(|(path, bytes)| (path.clone(), timeless(path, bytes)))
        .collect()
}
