//! Records that nobody computed, for pages of any size; and a checker of markup.

use std::collections::BTreeMap;

use bagwise::Rng;
use bagwise::judge::{
    FitOutcome, FitStatus, GroundTruth, Key, Metric, RECORD_FORMAT, Reason, Record, ScoredBags, Truth,
};
use bagwise_report::{Context, DataSummary, GramPicture, LoadedRun, SetupSummary, Suspicion};

/// How a made-up run looks.
pub(crate) struct Made<'a> {
    pub(crate) data: &'a str,
    pub(crate) bags: usize,
    pub(crate) methods: &'a [&'a str],
    pub(crate) repeats: usize,
    pub(crate) folds: usize,
    pub(crate) classes: usize,
}

impl Default for Made<'_> {
    fn default() -> Self {
        Made {
            data: "made",
            bags: 60,
            methods: &["mi-kernel", "simple-mi", "majority"],
            repeats: 1,
            folds: 5,
            classes: 2,
        }
    }
}

/// Fifteen bags of every fold are judged as chance and the method's place in the list say. `classes` 0 means real values.
pub(crate) fn made(m: &Made<'_>) -> LoadedRun {
    let truth = match m.classes {
        0 => Truth::Values((0..m.bags).map(|b| (b % 17) as f64 / 4.0).collect()),
        k => Truth::Classes {
            codes: (0..m.bags).map(|b| (b % k) as u32).collect(),
            names: (0..k).map(|c| format!("class {c}")).collect(),
        },
    };
    let roster = GroundTruth {
        data: m.data.into(),
        fingerprint: format!("{:016x}", of_name(m.data)),
        bags: (0..m.bags).map(|b| format!("bag-{b:04}")).collect(),
        truth,
        positive: (m.classes == 2).then_some(1),
        groups: None,
    };
    let mut records = Vec::new();
    for (at, method) in m.methods.iter().enumerate() {
        for repeat in 0..m.repeats {
            for fold in 0..m.folds {
                records.push(record(m, &roster, (at, method), repeat, fold));
            }
        }
    }
    LoadedRun::new(records, roster, context(m)).unwrap()
}

/// A number for a name: other data, other chances and another fingerprint.
fn of_name(name: &str) -> u64 {
    name.bytes().fold(7u64, |h, b| h.wrapping_mul(31).wrapping_add(u64::from(b)))
}

fn record(
    m: &Made<'_>,
    roster: &GroundTruth,
    (at, method): (usize, &str),
    repeat: usize,
    fold: usize,
) -> Record {
    let mut rng = Rng::new(of_name(m.data), "made", &[at as u64, repeat as u64, fold as u64]);
    let bags: Vec<usize> = (0..m.bags).filter(|b| (b * 7 + repeat) % m.folds == fold).collect();
    let noise = 0.6 + 0.12 * at as f64;
    let mut scored = ScoredBags { bags: bags.clone(), ..ScoredBags::default() };
    let (mut labels, mut probabilities) = (Vec::new(), Vec::new());
    for &bag in &bags {
        let chance = noise * (rng.uniform() + rng.uniform() - 1.0);
        match &roster.truth {
            Truth::Values(values) => scored.scores.push(values[bag] + chance),
            Truth::Classes { codes, names } if names.len() == 2 => {
                let score = f64::from(codes[bag]) - 0.5 + 1.4 * chance;
                labels.push(u32::from(score > 0.0));
                scored.scores.push(score);
                probabilities.push(1.0 / (1.0 + (-3.0 * score).exp()));
            }
            Truth::Classes { codes, names } => {
                let said = if chance > 0.35 { (codes[bag] + 1) % names.len() as u32 } else { codes[bag] };
                labels.push(said);
                for class in 0..names.len() as u32 {
                    scored.scores.push(if class == said { 2.0 } else { 0.0 });
                    probabilities.push(if class == said { 0.7 } else { 0.3 / (names.len() - 1) as f64 });
                }
            }
        }
    }
    if m.classes > 0 {
        scored.labels = Some(labels);
        scored.probabilities = Some(probabilities);
    }
    let predictions = roster.predictions(&scored).unwrap();
    let metrics = Metric::for_task(&predictions)
        .into_iter()
        .map(|k| (k.name().to_string(), k.value(&predictions)))
        .collect();
    let c = [0.1, 1.0, 10.0, 100.0][rng.below(4)];
    let gamma = ["0.5/median", "1/median", "2/median"][rng.below(3)];
    Record {
        format: RECORD_FORMAT,
        key: Key {
            data: m.data.into(),
            method: method.into(),
            repeat,
            fold,
            inner: None,
            point: String::new(),
        },
        run: "fedcba9876543210".into(),
        data: roster.fingerprint.clone(),
        protocol: "nested".into(),
        seed: 0,
        parameters: BTreeMap::from([("c".to_string(), c.into()), ("gamma".to_string(), gamma.into())]),
        trained: m.bags - bags.len(),
        scored,
        reasons: vec![
            Reason {
                machine: (m.classes > 2).then_some((1, Some(0))),
                bias: Some(0.1),
                parts: vec![(0, 0.9), (2, -0.3)],
                rest: (3, 0.0),
            };
            bags.len()
        ],
        metrics,
        inner: Some(0.9),
        gain: None,
        threshold: None,
        on_edge: if c == 100.0 { vec!["c".into()] } else { Vec::new() },
        outcome: FitOutcome {
            status: FitStatus::Converged,
            iterations: Some(100 + fold as u64),
            objective: Some(-1.0),
            gap: Some(1e-4),
            message: None,
            changed: if at == 1 { vec![9, 4, 1, 0] } else { Vec::new() },
        },
        seconds: 0.01 * (at + 1) as f64,
    }
}

fn context(m: &Made<'_>) -> Context {
    let grid = vec![
        ("c".to_string(), ["0.1", "1.0", "10.0", "100.0"].map(String::from).to_vec()),
        ("gamma".to_string(), ["0.5/median", "1/median", "2/median"].map(String::from).to_vec()),
    ];
    let setup = SetupSummary { scale: "minmax".into(), points: 12, grid };
    let side = 40.min(m.bags);
    Context {
        command: format!("bagwise compare {}", m.data),
        fit_command: format!("bagwise fit {} --method mi-kernel -o m.bagwise", m.data),
        version: "0.1.0".into(),
        system: "linux x86_64".into(),
        threads: 2,
        finished: Some(1_795_000_000),
        seconds: Some(12.0),
        protocol: "nested cross-validation".into(),
        precision: "f64".into(),
        data: Some(DataSummary {
            source: m.data.into(),
            instances: 4 * m.bags,
            attributes: 12,
            sizes: (1.0, 4.0, 9.0),
            findings: vec![Suspicion {
                warning: true,
                kind: "duplicate_bags".into(),
                message: "3 bags are copies of an earlier one".into(),
                remedy: "drop them".into(),
            }],
            warnings: Vec::new(),
        }),
        setups: m.methods.iter().map(|name| (name.to_string(), setup.clone())).collect(),
        gram: Some(GramPicture {
            of: "mi-kernel".into(),
            // Ordered by class.
            bags: (0..m.classes.max(1))
                .flat_map(|c| (0..side).filter(move |b| b % m.classes.max(1) == c))
                .collect(),
            levels: (0..side * side).map(|i| (i * 37 % 256) as u8).collect(),
            range: (0.0, 1.0),
        }),
        ..Context::default()
    }
}

/// Tags that have no end.
const VOID: [&str; 4] = ["meta", "link", "input", "br"];

/// Every tag is closed in the right place, attributes are quoted, and no ampersand or bracket stands alone.
pub(crate) fn well_formed(page: &str) -> Result<usize, String> {
    let mut open: Vec<&str> = Vec::new();
    let mut count = 0;
    let mut rest = page.strip_prefix("<!doctype html>").ok_or("no doctype")?;
    while let Some(at) = rest.find(['<', '&', '>']) {
        let here = &rest[at..];
        if here.starts_with('&') {
            let end = here.find(';').filter(|e| *e < 8).ok_or(format!("a lone &: {:.40}", here))?;
            rest = &here[end + 1..];
            continue;
        }
        if here.starts_with('>') {
            return Err(format!("a lone >: {:.40}", here));
        }
        let end = tag_end(here).ok_or(format!("an endless tag: {:.60}", here))?;
        let inside = &here[1..end];
        rest = &here[end + 1..];
        if let Some(name) = inside.strip_prefix('/') {
            if open.pop() != Some(name) {
                return Err(format!("</{name}> closes something else, {open:?}"));
            }
            continue;
        }
        count += 1;
        let name = inside.split([' ', '/']).next().unwrap_or_default();
        if inside.ends_with('/') || VOID.contains(&name) {
            continue;
        }
        open.push(name);
        // What stands in these is no markup.
        if name == "script" || name == "style" {
            let close = format!("</{name}>");
            rest = &rest[rest.find(&close).ok_or(format!("<{name}> is not closed"))?..];
        }
    }
    if open.is_empty() { Ok(count) } else { Err(format!("not closed: {open:?}")) }
}

/// Where a tag ends, outside of quotes.
fn tag_end(tag: &str) -> Option<usize> {
    let mut quoted = false;
    for (i, c) in tag.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '>' if !quoted => return Some(i),
            _ => {}
        }
    }
    None
}
