//! Data sets made on the spot, the same for the same options and seed on every machine and for any number of
//! threads: each bag draws from a random stream of its own.
//!
//! `synthetic:gauss?option=value&option=value…`: noise around the origin, and among the instances of a positive
//! bag some that come from a concept at a known distance. True instance labels are known (`1` for an instance
//! of the concept), so that explanations can be judged. With `classes=k`, class 0 has noise only and each other
//! class a concept in a direction of its own.
//!
//! `synthetic:speaker?…`: the size of the Speaker benchmark (430 bags, 583,600 x 20), two classes of speakers
//! whose recordings are mixtures of the same sounds in different shares; every speaker also shifts all sounds
//! a little.
//!
//! `synthetic:embeddings?…`: of any size and never in memory: a row is generated when it is read. Half of
//! the bags have some instances near one of a few concepts, the others near other ones.
//!
//! `synthetic:scaffolds?…`: groups of unequal size and mixed classes (`scaffolds.rs`).
//!
//! The options are in [`GENERATORS`], from where help texts print them.

mod scaffolds;

use std::ops::Range;
use std::sync::Arc;

use bagwise_core::{
    Bags, Dataset, Error, Feature, Groups, Instances, Mat, Place, Result, Rng, RowSource, Stored, Target,
    noise,
};

/// A generator of data sets, `synthetic:NAME?option=value&…`.
pub struct Generator {
    /// Its name.
    pub name: &'static str,
    /// What it makes, in a sentence.
    pub about: &'static str,
    /// What can be set.
    pub options: &'static [GeneratorOption],
    make: fn(&str, &GeneratorValues) -> Result<Dataset>,
}

/// One option of a generator: always a number.
pub struct GeneratorOption {
    /// Its name.
    pub name: &'static str,
    /// The value if none is given.
    pub default: f64,
    /// Smallest and largest value.
    pub range: (f64, f64),
    /// True if only whole numbers make sense.
    pub whole: bool,
    /// What it does.
    pub about: &'static str,
}

const fn whole(name: &'static str, default: f64, range: (f64, f64), about: &'static str) -> GeneratorOption {
    GeneratorOption { name, default, range, whole: true, about }
}

const fn real(name: &'static str, default: f64, range: (f64, f64), about: &'static str) -> GeneratorOption {
    GeneratorOption { name, default, range, whole: false, about }
}

/// Seeds are whole numbers that a double holds exactly.
const SEED: GeneratorOption = whole("seed", 0.0, (0.0, 9e15), "random seed");

/// Numbers that one synthetic set may have: 8 GB.
const MAX_NUMBERS: f64 = 1e9;

/// The same for data that are never in memory: reading so many takes a day.
const MAX_READ: f64 = 1e13;

/// Every generator.
pub static GENERATORS: &[Generator] = &[
    Generator {
        name: "gauss",
        about: "a Gaussian concept among Gaussian noise, instance labels known",
        options: &[
            whole("bags", 200.0, (1.0, 1e7), "number of bags"),
            whole("min", 5.0, (1.0, 1e6), "instances of the smallest bags"),
            whole("max", 15.0, (1.0, 1e6), "instances of the largest bags"),
            whole("features", 10.0, (1.0, 1e6), "features that the concept shifts"),
            whole("irrelevant", 0.0, (0.0, 1e6), "further features that are noise only"),
            real("positive", 0.5, (0.0, 1.0), "fraction of bags that are not of class 0"),
            real(
                "witness",
                0.2,
                (0.0, 1.0),
                "fraction of instances in a positive bag that come from the concept; at least one",
            ),
            real(
                "distance",
                4.0,
                (0.0, 1e6),
                "distance of the concept from the noise, in standard deviations",
            ),
            whole("classes", 2.0, (2.0, 1000.0), "number of classes"),
            whole("groups", 0.0, (0.0, 1e7), "number of groups; 0 for none"),
            real(
                "shift",
                0.0,
                (0.0, 1e6),
                "standard deviation of the shift common to the instances of a group",
            ),
            real("noise", 0.0, (0.0, 1.0), "fraction of bags whose label is changed to another class"),
            whole("f32", 0.0, (0.0, 1.0), "1 stores single precision"),
            SEED,
        ],
        make: gauss,
    },
    Generator {
        name: "speaker",
        about: "two kinds of speakers, with the size of the Speaker benchmark",
        options: &[
            whole("bags", 430.0, (1.0, 1e7), "number of recordings, each a bag"),
            whole("instances", 583_600.0, (1.0, 1e9), "total number of instances"),
            whole("features", 20.0, (1.0, 1e6), "features of an instance"),
            whole("sounds", 16.0, (1.0, 1000.0), "number of sounds mixed in a recording"),
            whole("f32", 0.0, (0.0, 1.0), "1 stores single precision"),
            SEED,
        ],
        make: speaker,
    },
    Generator {
        name: "scaffolds",
        about: "groups of unequal size and mixed classes; blocks of features that are equally informative",
        options: &[
            whole("bags", 200.0, (2.0, 1e7), "number of bags"),
            whole("min", 2.0, (1.0, 1e6), "instances of the smallest bags"),
            whole("max", 4.0, (1.0, 1e6), "instances of the largest bags"),
            whole("groups", 40.0, (0.0, 1e7), "number of groups, at most the number of bags; 0 for none"),
            real("positive", 0.4, (0.0, 1.0), "fraction of bags of class 1"),
            whole("blocks", 1.0, (1.0, 1000.0), "blocks of features"),
            whole("features", 10.0, (1.0, 1e6), "features of a block"),
            real("signal", 1.5, (0.0, 1e6), "distance of the classes from the origin, in each block"),
            real("extra", 0.0, (0.0, 1e6), "added to the signal of the first block"),
            real(
                "shared",
                1.0,
                (0.0, 1e6),
                "standard deviation of the difficulty of a bag, common to all blocks",
            ),
            real("shift", 0.5, (0.0, 1e6), "standard deviation of the shift common to the bags of a group"),
            whole("f32", 0.0, (0.0, 1.0), "1 stores single precision"),
            SEED,
        ],
        make: scaffolds::scaffolds,
    },
    Generator {
        name: "embeddings",
        about: "large bags of many features, generated as they are read and never all in memory",
        options: &[
            whole("bags", 1000.0, (1.0, 1e7), "number of bags"),
            whole("instances", 1000.0, (1.0, 1e6), "instances of every bag"),
            whole("features", 1024.0, (1.0, 1e6), "features of an instance"),
            real("witness", 0.1, (0.0, 1.0), "fraction of instances in a bag that are near a concept"),
            real(
                "distance",
                16.0,
                (0.0, 1e6),
                "distance of a concept from the noise, in standard deviations",
            ),
            SEED,
        ],
        make: embeddings,
    },
];

/// Makes the data set of a name such as `gauss?bags=50`; `full` is what the user typed.
pub(super) fn generate(full: &str, name: &str) -> Result<Dataset> {
    let (name, query) = name.split_once('?').unwrap_or((name, ""));
    let generator = GENERATORS
        .iter()
        .find(|g| g.name == name)
        .ok_or_else(|| Error::unknown("generator", name, GENERATORS.iter().map(|g| g.name)))?;
    let given = GeneratorValues::parse(full, generator, query)?;
    (generator.make)(full, &given)
}

/// The value of every option.
struct GeneratorValues<'q> {
    full: &'q str,
    options: &'static [GeneratorOption],
    values: Vec<f64>,
}

impl<'q> GeneratorValues<'q> {
    fn parse(full: &'q str, generator: &Generator, query: &str) -> Result<GeneratorValues<'q>> {
        let options = generator.options;
        let mut values: Vec<f64> = options.iter().map(|o| o.default).collect();
        let mut set = vec![false; options.len()];
        for part in query.split('&').filter(|p| !p.is_empty()) {
            let refuse = |found: String, remedy: String| Err(Error::data(Place::of(full), found, remedy));
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            // `d` is short for the number of features.
            let name = if name == "d" { "features" } else { name };
            let Some(i) = options.iter().position(|o| o.name == name) else {
                let list: Vec<&str> = options.iter().map(|o| o.name).collect();
                return refuse(
                    format!("{} has no option '{name}'", generator.name),
                    format!("its options are {}", list.join(", ")),
                );
            };
            let (low, high) = options[i].range;
            let kind = if options[i].whole { "a whole number" } else { "a number" };
            let value = value.parse::<f64>().ok().filter(|v| {
                v.is_finite() && (low..=high).contains(v) && !(options[i].whole && v.fract() != 0.0)
            });
            let Some(value) = value else {
                return refuse(
                    format!("'{part}' is not allowed"),
                    format!("{name} is {kind} from {low} to {high}"),
                );
            };
            if std::mem::replace(&mut set[i], true) {
                return refuse(format!("{name} is given twice"), "give each option once".into());
            }
            values[i] = value;
        }
        Ok(GeneratorValues { full, options, values })
    }

    fn real(&self, name: &str) -> f64 {
        let i = self.options.iter().position(|o| o.name == name).expect("an option of the generator's table");
        self.values[i]
    }

    fn whole(&self, name: &str) -> usize {
        self.real(name) as usize
    }

    fn refuse(&self, found: impl Into<String>, remedy: &str) -> Error {
        Error::data(Place::of(self.full), found, remedy)
    }

    fn check_size(&self, rows: usize, width: usize) -> Result<()> {
        self.check_numbers(rows, width, MAX_NUMBERS)
    }

    fn check_numbers(&self, rows: usize, width: usize, most: f64) -> Result<()> {
        if rows as f64 * width as f64 > most {
            return Err(self.refuse(
                format!("{rows} x {width} is too large to generate"),
                &format!("use at most 10^{} numbers", most.log10()),
            ));
        }
        Ok(())
    }

    /// Bags from the rows of all bags, one after the other, in the precision asked for.
    fn bags(&self, rows: Vec<f64>, width: usize, offsets: Vec<usize>) -> Result<Bags> {
        let count = rows.len() / width;
        let instances = if self.whole("f32") == 1 {
            Instances::F32(Mat::new(count, width, rows.into_iter().map(|v| v as f32).collect()))
        } else {
            Instances::F64(Mat::new(count, width, rows))
        };
        let features = (1..=width).map(|f| Feature::numeric(format!("f{f}"))).collect();
        Bags::new(instances, offsets)?.with_features(features)
    }
}

fn gauss(full: &str, given: &GeneratorValues) -> Result<Dataset> {
    let (bags, low, high) = (given.whole("bags"), given.whole("min"), given.whole("max"));
    if low > high {
        return Err(given.refuse(format!("min={low} is above max={high}"), "min must not exceed max"));
    }
    let (informative, width) = (given.whole("features"), given.whole("features") + given.whole("irrelevant"));
    let (classes, seed) = (given.whole("classes"), given.whole("seed") as u64);
    given.check_size(bags.saturating_mul(high), width)?;

    // Bags of each class in exact proportion, then shuffled, so that the imbalance is exactly the requested one.
    let positive = (given.real("positive") * bags as f64).round() as usize;
    let mut class: Vec<usize> =
        (0..bags).map(|b| if b < positive { 1 + b % (classes - 1) } else { 0 }).collect();
    Rng::new(seed, "gauss classes", &[]).shuffle(&mut class);
    let centres: Vec<Vec<f64>> = (0..classes)
        .map(|c| {
            let length = if c == 0 { 0.0 } else { given.real("distance") };
            direction(&mut Rng::new(seed, "gauss concept", &[c as u64]), informative, length)
        })
        .collect();
    let groups = given.whole("groups");
    let shifts: Vec<Vec<f64>> = (0..groups)
        .map(|g| {
            let mut rng = Rng::new(seed, "gauss group", &[g as u64]);
            (0..width).map(|_| given.real("shift") * rng.normal()).collect()
        })
        .collect();

    let (mut rows, mut offsets) = (Vec::new(), vec![0]);
    let mut truth = Vec::new();
    let mut labels = Vec::with_capacity(bags);
    for bag in 0..bags {
        let mut rng = Rng::new(seed, "gauss bag", &[bag as u64]);
        let size = low + rng.below(high - low + 1);
        let witnesses = match class[bag] {
            0 => 0,
            _ => ((given.real("witness") * size as f64).round() as usize).clamp(1, size),
        };
        let mut is_witness: Vec<bool> = (0..size).map(|i| i < witnesses).collect();
        rng.shuffle(&mut is_witness);
        for witness in is_witness {
            let centre = &centres[if witness { class[bag] } else { 0 }];
            let start = rows.len();
            rows.extend((0..width).map(|_| rng.normal()));
            add(&mut rows[start..], centre);
            if groups > 0 {
                add(&mut rows[start..], &shifts[bag % groups]);
            }
            truth.push(if witness { class[bag].to_string() } else { "0".into() });
        }
        offsets.push(offsets[bag] + size);
        // A wrong label is another class, each as likely.
        let wrong = rng.uniform() < given.real("noise");
        let label = if wrong { (class[bag] + 1 + rng.below(classes - 1)) % classes } else { class[bag] };
        labels.push(label.to_string());
    }
    let mut data =
        Dataset::new(full, given.bags(rows, width, offsets)?).with_target(Target::from_labels(&labels))?;
    data.instance_labels = Some(truth);
    if groups > 0 {
        let names: Vec<String> = (0..bags).map(|b| format!("g{}", b % groups + 1)).collect();
        data = data.with_groups(Groups::from_names(&names))?;
    }
    Ok(data)
}

fn speaker(full: &str, given: &GeneratorValues) -> Result<Dataset> {
    let (bags, instances, width) = (given.whole("bags"), given.whole("instances"), given.whole("features"));
    let (sounds, seed) = (given.whole("sounds"), given.whole("seed") as u64);
    if instances < bags {
        return Err(given.refuse(
            format!("{instances} instances are too few for {bags} bags"),
            "use at least one instance per bag",
        ));
    }
    given.check_size(instances, width)?;
    // Sounds lie 6 standard deviations from the middle: apart, with some overlap.
    let centres: Vec<Vec<f64>> = (0..sounds)
        .map(|s| direction(&mut Rng::new(seed, "speaker sound", &[s as u64]), width, 6.0))
        .collect();
    let mut rows = Vec::with_capacity(instances * width);
    let mut offsets = vec![0];
    let mut labels = Vec::with_capacity(bags);
    for bag in 0..bags {
        let mut rng = Rng::new(seed, "speaker bag", &[bag as u64]);
        let class = bag % 2;
        labels.push(class.to_string());
        // The first half of the sounds is half as frequent with one kind of speaker as with the other.
        let shares: Vec<f64> = (0..sounds)
            .map(|s| {
                (if (s < sounds.div_ceil(2)) == (class == 0) { 1.0 } else { 0.5 }) * (0.5 + rng.uniform())
            })
            .collect();
        let total: f64 = shares.iter().sum();
        let voice: Vec<f64> = (0..width).map(|_| 0.5 * rng.normal()).collect();
        let end = (instances as u128 * (bag as u128 + 1) / bags as u128) as usize;
        for _ in offsets[bag]..end {
            let mut at = rng.uniform() * total;
            let sound = shares.iter().position(|share| {
                at -= share;
                at < 0.0
            });
            let start = rows.len();
            rows.extend((0..width).map(|_| rng.normal()));
            add(&mut rows[start..], &centres[sound.unwrap_or(sounds - 1)]);
            add(&mut rows[start..], &voice);
        }
        offsets.push(end);
    }
    Dataset::new(full, given.bags(rows, width, offsets)?).with_target(Target::from_labels(&labels))
}

/// Concepts of each class.
const CONCEPTS: usize = 4;

fn embeddings(full: &str, given: &GeneratorValues) -> Result<Dataset> {
    let (bags, instances, width) = (given.whole("bags"), given.whole("instances"), given.whole("features"));
    given.check_numbers(bags * instances, width, MAX_READ)?;
    let seed = given.whole("seed") as u64;
    let concepts = (0..2 * CONCEPTS as u64)
        .map(|c| {
            let mut rng = Rng::new(seed, "embeddings concept", &[c]);
            direction(&mut rng, width, given.real("distance")).into_iter().map(|v| v as f32).collect()
        })
        .collect();
    let witnesses = (given.real("witness") * instances as f64).round() as usize;
    let key = Rng::new(seed, "embeddings noise", &[]).bits();
    let source = Embeddings { rows: bags * instances, instances, width, witnesses, concepts, key };
    let offsets = (0..=bags).map(|b| b * instances).collect();
    let labels: Vec<String> = (0..bags).map(|b| (b % 2).to_string()).collect();
    let bags = Bags::new(Instances::Stored(Stored::new(Arc::new(source))), offsets)?;
    Dataset::new(full, bags).with_target(Target::from_labels(&labels))
}

/// Rows made as they are read. The first `witnesses` instances of bag b lie near a concept of class b % 2.
struct Embeddings {
    rows: usize,
    instances: usize,
    width: usize,
    witnesses: usize,
    concepts: Vec<Vec<f32>>,
    key: u64,
}

impl RowSource for Embeddings {
    fn kind(&self) -> &'static str {
        "generated f32"
    }

    fn rows(&self) -> usize {
        self.rows
    }

    fn cols(&self) -> usize {
        self.width
    }

    fn bytes(&self) -> u64 {
        4 * (self.rows * self.width) as u64
    }

    fn is_single(&self) -> bool {
        true
    }

    fn is_finite(&self) -> bool {
        true
    }

    fn read_f32(&self, rows: Range<usize>, out: &mut [f32]) -> Result<()> {
        for (row, out) in rows.zip(out.chunks_exact_mut(self.width)) {
            let (bag, instance) = (row / self.instances, row % self.instances);
            let first = (row * self.width) as u64;
            out.iter_mut().zip(first..).for_each(|(x, at)| *x = noise(self.key, at));
            if instance < self.witnesses {
                let concept = &self.concepts[CONCEPTS * (bag % 2) + instance % CONCEPTS];
                out.iter_mut().zip(concept).for_each(|(x, c)| *x += c);
            }
        }
        Ok(())
    }

    fn read_f64(&self, rows: Range<usize>, out: &mut [f64]) -> Result<()> {
        let mut single = vec![0.0; out.len()];
        self.read_f32(rows, &mut single)?;
        out.iter_mut().zip(single).for_each(|(x, v)| *x = f64::from(v));
        Ok(())
    }
}

/// Adds `b` to the first entries of `a`.
fn add(a: &mut [f64], b: &[f64]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a += b;
    }
}

/// A vector of the given length in a random direction.
fn direction(rng: &mut Rng, width: usize, length: f64) -> Vec<f64> {
    let draws: Vec<f64> = (0..width).map(|_| rng.normal()).collect();
    let norm = draws.iter().map(|v| v * v).sum::<f64>().sqrt();
    draws.into_iter().map(|v| v * length / norm).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make(name: &str) -> Dataset {
        generate(&format!("synthetic:{name}"), name).unwrap()
    }

    fn refuse(name: &str) -> String {
        generate(&format!("synthetic:{name}"), name).unwrap_err().to_string()
    }

    #[test]
    fn the_same_name_gives_the_same_data_and_another_seed_other_data() {
        assert_eq!(make("gauss?bags=20"), make("gauss?bags=20"));
        assert_ne!(make("gauss?bags=20").bags, make("gauss?bags=20&seed=1").bags);
        assert_eq!(make("gauss?d=3").bags.width(), 3);
        assert_eq!(make("gauss?f32=1").bags.instances().kind(), "f32");
    }

    #[test]
    fn gauss_is_what_was_asked_for() {
        let data = make(
            "gauss?bags=100&min=4&max=8&features=3&irrelevant=2&positive=0.2&witness=0.5&distance=20&groups=7",
        );
        assert_eq!((data.bags.len(), data.bags.width()), (100, 5));
        assert_eq!(data.groups.as_ref().unwrap().names.len(), 7);
        let Some(Target::Classes { codes, names }) = &data.target else { panic!() };
        assert_eq!(names, &["0", "1"]);
        assert_eq!(codes.iter().filter(|&&c| c == 1).count(), 20);
        let truth = data.instance_labels.as_ref().unwrap();
        let (mut near, mut far) = (0, 0);
        for (bag, &code) in codes.iter().enumerate() {
            let rows = data.bags.rows(bag);
            assert!((4..=8).contains(&rows.len()));
            let witnesses = rows.clone().filter(|&r| truth[r] == "1").count();
            assert_eq!(witnesses, if code == 1 { (rows.len() as f64 * 0.5).round() as usize } else { 0 });
            for (i, r) in rows.enumerate() {
                let m = data.bags.bag(bag).to_dense().unwrap();
                let concept = m.row(i)[..3].iter().map(|v| v * v).sum::<f64>().sqrt();
                assert_eq!(concept > 10.0, truth[r] == "1", "the concept is 20 standard deviations away");
                // Irrelevant features stay noise.
                assert!(m.row(i)[3..].iter().all(|v| v.abs() < 6.0));
                if truth[r] == "1" { far += 1 } else { near += 1 }
            }
        }
        let first_is_noise = |b: &usize| codes[*b] == 1 && truth[data.bags.rows(*b).start] == "0";
        assert!((0..100).filter(first_is_noise).count() > 2, "the concept stands anywhere in a bag");
        assert!(near > 300 && far > 30, "{near} {far}");
    }

    #[test]
    fn label_noise_and_classes_are_as_asked() {
        let data = make("gauss?bags=400&classes=4&noise=0.25&witness=1");
        let Some(Target::Classes { codes, names }) = &data.target else { panic!() };
        assert_eq!(names.len(), 4);
        let truth = data.instance_labels.as_ref().unwrap();
        let wrong = (0..400).filter(|&b| truth[data.bags.rows(b).start] != names[codes[b] as usize]).count();
        // 5 standard deviations of a binomial(400, 1/4): 43.
        assert!(wrong.abs_diff(100) < 43, "{wrong}");
    }

    #[test]
    fn speaker_has_the_size_of_the_benchmark() {
        let data = make("speaker");
        assert_eq!((data.bags.len(), data.bags.instance_count(), data.bags.width()), (430, 583_600, 20));
        let small = make("speaker?bags=10&instances=95&d=3");
        assert_eq!((small.bags.len(), small.bags.instance_count(), small.bags.width()), (10, 95, 3));
    }

    #[test]
    fn embeddings_are_the_same_however_they_are_read() {
        let data = make("embeddings?bags=20&instances=50&d=30&witness=0.2&distance=40");
        let bags = &data.bags;
        assert_eq!((bags.len(), bags.instance_count(), bags.width()), (20, 1000, 30));
        assert_eq!(bags.instances().kind(), "generated f32");
        let chosen = bags.select(&[7, 3, 8]);
        assert_eq!(chosen.bag(1).to_dense().unwrap(), bags.bag(3).to_dense().unwrap());
        let (mut sum, mut squares, mut far) = (0.0, 0.0, 0);
        let walk = bags.instances().each_row(0..1000, |_, row| {
            let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
            // Noise of 30 dimensions is about 5.5 long, a concept 40 away.
            if length > 20.0 {
                far += 1;
                return;
            }
            sum += row.iter().sum::<f64>();
            squares += length * length;
        });
        walk.unwrap();
        assert_eq!(far, 200);
        // 24,000 values: five standard errors of mean and variance.
        assert!((sum / 24_000.0).abs() < 0.033, "{sum}");
        assert!((squares / 24_000.0 - 1.0).abs() < 0.046, "{squares}");
    }

    #[test]
    fn what_cannot_be_made_is_refused_with_the_options() {
        assert!(refuse("gaus").contains("did you mean 'gauss'?"));
        let unknown = refuse("gauss?bag=3");
        assert!(unknown.contains("gauss has no option 'bag'; its options are bags, min, max"), "{unknown}");
        assert!(refuse("gauss?bags=0").contains("bags is a whole number from 1 to"));
        assert!(refuse("gauss?bags=2.5").contains("'bags=2.5' is not allowed"));
        assert!(refuse("gauss?bags").contains("is not allowed"));
        assert!(refuse("gauss?witness=1.5").contains("witness is a number from 0 to 1"));
        assert!(refuse("gauss?min=9&max=8").contains("min=9 is above max=8"));
        assert!(refuse("gauss?bags=3&bags=3").contains("given twice"));
        assert!(refuse("gauss?bags=10000000&max=1000000&d=1000000").contains("too large"));
        assert!(refuse("speaker?instances=3").contains("are too few"));
    }
}
