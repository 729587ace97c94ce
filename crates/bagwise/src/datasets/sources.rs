//! The list of data sets. Sizes and digests were made from checked copies (`bagwise data check` prints the digest of what is
//! here); the remarks of `positive` and `counts` are what had to be undone in the copies at the source.

/// A data set that is known by name.
#[derive(Clone, Copy, Debug)]
pub struct KnownDataset {
    /// Its name.
    pub name: &'static str,
    /// Bags.
    pub bags: usize,
    /// Instances.
    pub instances: usize,
    /// Attributes.
    pub attributes: usize,
    /// The label of the first bag; empty if labels are numbers, or classes of several.
    pub(super) first_label: &'static str,
    /// The digest of bags, labels and values.
    pub digest: &'static str,
    /// Where it comes from.
    pub origin: Origin,
}

/// Where a data set comes from.
#[derive(Clone, Copy, Debug)]
pub enum Origin {
    /// The folder `data` of the repository, or the program itself.
    Shipped,
    /// A public repository at a fixed commit.
    GitHub {
        /// Owner and name.
        repository: &'static str,
        /// The commit.
        commit: &'static str,
        /// The file.
        path: &'static str,
        /// What is in the file.
        #[doc(hidden)]
        layout: SourceLayout,
    },
}

/// What is in the file of a source.
#[derive(Clone, Copy, Debug, PartialEq)]
#[doc(hidden)]
pub enum SourceLayout {
    /// A table of Weka with a relational attribute.
    Arff,
    /// MATLAB cells, a matrix and a label for each bag.
    Cells {
        /// Whether one column more than there are attributes holds labels of instances; it is dropped otherwise.
        instance_labels: bool,
        /// Bags, counted from 1, that are positive although their label says otherwise.
        positive: &'static [usize],
        /// Counts were divided by their maximum: in this many first bags by one number, in the others by another.
        counts: Option<(usize, f64, f64)>,
    },
    /// The text of the affinity sets.
    Molecules,
}

impl KnownDataset {
    /// Whether labels are measurements.
    pub fn is_regression(&self) -> bool {
        self.name.starts_with("lj")
    }

    /// The licence, as far as it is known.
    pub fn licence(&self) -> &'static str {
        match self.name {
            "musk1" | "musk2" => "CC BY 4.0",
            _ => "not stated",
        }
    }
}

const fn set(
    name: &'static str,
    bags: usize,
    instances: usize,
    attributes: usize,
    first_label: &'static str,
    digest: &'static str,
    origin: Origin,
) -> KnownDataset {
    KnownDataset { name, bags, instances, attributes, first_label, digest, origin }
}

/// The benchmark files of RGMIL, which its owner later deleted from the head.
const fn rgmil(path: &'static str, layout: SourceLayout) -> Origin {
    let commit = "61ee3bbafc4a6f72206ea75a29cff58399fe74b7";
    Origin::GitHub { repository: "LMBDA-design/RGMIL", commit, path, layout }
}

/// The files of the authors of MIRSVM.
const fn melkiga(path: &'static str) -> Origin {
    let commit = "62c0ceeaf55c14050f69777fe21955bbb7631a54";
    Origin::GitHub { repository: "melkiga/MultiInstanceLearning", commit, path, layout: SourceLayout::Arff }
}

/// Artificial affinities.
const fn pylemmings(path: &'static str) -> Origin {
    let commit = "74f99857cd8b12ec2845df62948cd3a1d1b55701";
    Origin::GitHub { repository: "foxtrotmike/pylemmings", commit, path, layout: SourceLayout::Molecules }
}

/// A newsgroup of RGMIL; bags that are positive by the original label but have no positive instance were counted as negative.
const fn news(path: &'static str, positive: &'static [usize]) -> Origin {
    rgmil(path, SourceLayout::Cells { instance_labels: true, positive, counts: None })
}

/// A set of RGMIL with the label as one more column.
const fn labelled(path: &'static str) -> Origin {
    rgmil(path, SourceLayout::Cells { instance_labels: false, positive: &[], counts: None })
}

/// Pages of RGMIL: 75 training and 38 test bags, each part divided by its largest count.
const fn pages(path: &'static str, train: f64, test: f64) -> Origin {
    rgmil(
        path,
        SourceLayout::Cells { instance_labels: false, positive: &[], counts: Some((75, train, test)) },
    )
}

#[rustfmt::skip]
pub(super) static SETS: &[KnownDataset] = &[
    set("musk1", 92, 476, 166, "1", "52a15d4a9e49fdfb", Origin::Shipped),
    set("musk2", 102, 6598, 166, "1", "acd22cb7106437dd", Origin::Shipped),
    set("elephant", 200, 1391, 230, "1", "c06585f6ca0223c9", Origin::Shipped),
    set("fox", 200, 1320, 230, "1", "9de0ff6d6b248ef7", labelled("datasets/Benchmark/fox.mat")),
    set("tiger", 200, 1220, 230, "1", "3c2d6bbaf4b7b003", labelled("datasets/Benchmark/tiger.mat")),
    set("image1000", 1000, 4306, 9, "0", "05a0667c419a0d7c", Origin::Shipped),
    set("image2000", 2000, 7947, 9, "0", "eca762cd3aff7a36", Origin::Shipped),
    set("text_alt_atheism", 100, 5443, 200, "1", "d42a966905b2fb8a", news("datasets/Benchmark/alt_atheism.mat", &[])),
    set("text_comp_graphics", 100, 3094, 200, "1", "4f5cc990d344a9a3", news("datasets/Benchmark/comp_graphics.mat", &[43])),
    set("text_comp_os_ms_windows_misc", 100, 5175, 200, "1", "12cfba6bb7bc245d", news("datasets/Benchmark/comp_os_ms-windows_misc.mat", &[])),
    set("text_comp_sys_ibm_pc_hardware", 100, 4827, 200, "1", "3f64a3ac74b9e329", news("datasets/Benchmark/comp_sys_ibm_pc_hardware.mat", &[11])),
    set("text_comp_sys_mac_hardware", 100, 4473, 200, "1", "fb98b4458d02976a", news("datasets/Benchmark/comp_sys_mac_hardware.mat", &[])),
    set("text_comp_windows_x", 100, 3110, 200, "1", "5a7b109312009954", news("datasets/Benchmark/comp_windows_x.mat", &[24])),
    set("text_misc_forsale", 100, 5306, 200, "1", "d597e8561cb70376", news("datasets/Benchmark/misc_forsale.mat", &[])),
    set("text_rec_autos", 100, 3458, 200, "1", "80b62e4a289a7cf6", news("datasets/Benchmark/rec_autos.mat", &[])),
    set("text_rec_motorcycles", 100, 4730, 200, "1", "819193843de45d9d", news("datasets/Benchmark/rec_motorcycles.mat", &[])),
    set("text_rec_sport_baseball", 100, 3358, 200, "1", "3660817320a98194", news("datasets/Benchmark/rec_sport_baseball.mat", &[])),
    set("text_rec_sport_hockey", 100, 1982, 200, "1", "3d1e1b8f33c12920", news("datasets/Benchmark/rec_sport_hockey.mat", &[])),
    set("text_sci_crypt", 100, 4284, 200, "1", "da9ed0e95772fdec", news("datasets/Benchmark/sci_crypt.mat", &[])),
    set("text_sci_electronics", 100, 3192, 200, "1", "0c897e23ee711b93", news("datasets/Benchmark/sci_electronics.mat", &[8, 19, 42])),
    set("text_sci_med", 100, 3045, 200, "1", "e0544d2539c06e05", news("datasets/Benchmark/sci_med.mat", &[])),
    set("text_sci_space", 100, 3655, 200, "1", "c45076542cf61f14", news("datasets/Benchmark/sci_space.mat", &[])),
    set("text_soc_religion_christian", 100, 4677, 200, "1", "58540cd39946c2b6", news("datasets/Benchmark/sci_religion_christian.mat", &[])),
    set("text_talk_politics_guns", 100, 3558, 200, "1", "d4759ed72547db3e", news("datasets/Benchmark/talk_politics_guns.mat", &[])),
    set("text_talk_politics_mideast", 100, 3376, 200, "1", "825d850945628eeb", news("datasets/Benchmark/talk_politics_mideast.mat", &[])),
    set("text_talk_politics_misc", 100, 4788, 200, "1", "b6cecbf9adae1840", news("datasets/Benchmark/talk_politics_misc.mat", &[])),
    set("text_talk_religion_misc", 100, 4606, 200, "1", "098a4861f58ae787", news("datasets/Benchmark/talk_religion_misc.mat", &[22])),
    set("lj16_30_2", 60, 245, 30, "", "9848e20a9c4564a6", pylemmings("LJ-16.30.2")),
    set("lj80_166_1", 92, 359, 166, "", "fea0e530bdf74964", pylemmings("LJ-80.166.1")),
    set("lj160_166_1", 92, 359, 166, "", "3713496ae8c382d3", pylemmings("LJ-160.166.1")),
    set("lj16_30_2_test", 60, 232, 30, "", "37cf2583f2f9b0a7", pylemmings("LJ-16.30.2.test")),
    set("lj80_166_1_test", 92, 378, 166, "", "b8c5941dbbc003a3", pylemmings("LJ-80.166.1.test")),
    set("lj160_166_1_test", 92, 364, 166, "", "5ea6dbe80939b120", pylemmings("LJ-160.166.1.test")),
    set("suramin", 13, 2898, 20, "0", "50d7982a7ef841ab", melkiga("WekaTesting/data/suramin.arff")),
    set("eastWest", 20, 213, 24, "1", "4cca123215fb10c1", melkiga("WekaTesting/data/eastWest.arff")),
    set("westEast", 20, 213, 24, "1", "2e8cd09a46972e4f", melkiga("WekaTesting/data/westEast.arff")),
    set("webmining1", 113, 3423, 5863, "1", "59ff5eee7ceca06a", pages("datasets/Benchmark/web1.mat", 250.0, 178.0)),
    set("webmining4", 113, 3423, 6059, "1", "72d14715a130f74b", pages("datasets/Benchmark/web4.mat", 123.0, 250.0)),
    set("webmining7", 113, 3423, 6450, "0", "a93a47942ae5be4a", pages("datasets/Benchmark/web7.mat", 250.0, 118.0)),
    set("mutagenesis_atoms", 188, 1618, 10, "1", "94bb62869f38c0cc", melkiga("WekaTesting/data/mutagenesis-atoms.arff")),
    set("mutagenesis_bonds", 188, 4081, 16, "1", "8c23f93a7664bd9f", melkiga("WekaTesting/data/mutagenesis-bonds.arff")),
    set("mutagenesis_chains", 188, 5424, 24, "1", "2424f98a39db4b77", melkiga("WekaTesting/data/mutagenesis-chains.arff")),
    set("trx", 193, 26611, 8, "1", "8002f8b0db1d0918", melkiga("WekaTesting/data/trx.arff")),
    set("protein", 193, 26611, 9, "1", "58306c72702da7e5", Origin::Shipped),
    set("component", 3130, 36894, 200, "0", "cea4759fbfc8bc59", labelled("datasets/Benchmark/component.mat")),
    set("function", 5242, 55536, 200, "1", "b4496afc41387673", labelled("datasets/Benchmark/function.mat")),
    set("tiger_mirsvm", 200, 1188, 230, "1", "426df2cd6690c697", melkiga("WekaTesting/data/tiger.arff")),
];
