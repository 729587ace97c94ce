//! Damaged files of the formats that are not tables of text, and ARFF: each is refused with the file, the line, row,
//! array or column where there is one, what was found and what would do.

mod made;

use std::io::Write;

use bagwise::io::{Column, ReadOptions, read};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use made::{doubles, element, mat, matrix, npy, variable, zip};

/// A file, how it is read, and what the message must say: first behind the file's name, then anywhere.
struct Case {
    file: String,
    bytes: Vec<u8>,
    options: ReadOptions,
    expected: Vec<&'static str>,
}

fn case(file: &str, bytes: impl Into<Vec<u8>>, expected: &[&'static str]) -> Case {
    Case {
        file: file.into(),
        bytes: bytes.into(),
        options: ReadOptions::default(),
        expected: expected.to_vec(),
    }
}

impl Case {
    fn with(mut self, change: impl FnOnce(&mut ReadOptions)) -> Case {
        change(&mut self.options);
        self
    }
}

fn fixture(file: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/data/{file}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// A text with its first occurrence of something replaced, which must be there.
fn mend(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from}");
    text.replacen(from, to, 1)
}

// --- ARFF and C4.5

const ARFF: &str = "@relation r\n@attribute bag_id {a,b}\n@attribute bag relational\n@attribute x numeric\n\
    @attribute c {u,v}\n@end bag\n@attribute class {0,1}\n@data\na,\"1,u\\n2,v\",0\nb,\"3,u\",1\n";

const C45: &str = "m1,m1_1,1,2,0.\nm1,m1_2,3,4,0.\nm2,m2_1,5,6,1.\n";

fn arff_cases() -> Vec<Case> {
    let arff =
        |from: &str, to: &str, expected: &[&'static str]| case("a.arff", mend(ARFF, from, to), expected);
    let c45 = |from: &str, to: &str, expected: &[&'static str]| case("a.data", mend(C45, from, to), expected);
    let width = 40_000;
    let mut unfolds = String::from("@relation r\n@attribute bag numeric\n");
    (0..width).for_each(|i| unfolds += &format!("@attribute x{i} numeric\n"));
    unfolds += "@data\n";
    unfolds += &"{0 1}\n".repeat(100_000);
    let mut inside = String::from("@relation r\n@attribute id {a,b}\n@attribute bag relational\n");
    (0..width).for_each(|i| inside += &format!("@attribute x{i} numeric\n"));
    inside += "@end bag\n@attribute class {0,1}\n@data\na,\"";
    inside += &"{}\\n".repeat(100_000);
    inside += "\",1\n";
    vec![
        case("a.arff", inside, &[", line ", "sparse rows expand to", "bomb"]),
        arff("@data\n", "", &[", line 8: ", "'a,\"1,u\\n2,v\",0' is not valid in a header", "@data"]),
        case(
            "a.arff",
            &ARFF[..ARFF.find("@data").unwrap()],
            &[": there is no @data line", "is the file truncated"],
        ),
        case("a.arff", &ARFF[..ARFF.len() - 6], &[", line 10: ", "is not closed", "is the line truncated"]),
        case("a.arff", "", &[": the file is empty"]),
        case("a.arff", &b"@relation\0"[..], &[": the file is not a text table"]),
        case(
            "a.arff",
            &b"@relation r\n@attribute caf\xe9 numeric\n"[..],
            &[", line 2: ", "is not UTF-8 text"],
        ),
        arff("a,\"1,u\\n2,v\",0\nb,\"3,u\",1\n", "", &[": the table has no rows"]),
        arff(
            "x numeric",
            "x nmeric",
            &[", line 4: ", "'x' has the unknown type 'nmeric'", "expected numeric"],
        ),
        arff("x numeric", "x", &[", line 4: ", "attribute 'x' has no type"]),
        arff("@attribute x numeric", "@attribute", &[", line 4: ", "an attribute has no name"]),
        arff(
            "x numeric",
            "x date 'yyyy'",
            &[", line 4: ", "attribute 'x' is a date", "convert it to a number"],
        ),
        arff("{u,v}", "{u,v", &[", line 5: ", "the values of attribute 'c' are not closed"]),
        arff("x numeric", "x relational", &[", line 4: ", "is nested inside another", "flatten"]),
        arff("@end bag\n", "", &[", line 7: ", "relational attribute 'bag' is not closed", "@end bag"]),
        arff("@attribute class", "@end bag\n@attribute class", &[", line 7: ", "@end without attributes"]),
        arff("\"3,u\"", "\"3,w\"", &[", line 10: ", "'w' is not among the values of attribute 'c'"]),
        arff("\"3,u\"", "\"three,u\"", &[", line 10: ", "'three' is not a number", "write ?"]),
        arff("\"3,u\"", "\"3\"", &[", line 10: ", "instance 1 of the bag has 1 values", "2 attributes"]),
        arff("2,v", "2,v,7", &[", line 9: ", "instance 2 of the bag has 3 values"]),
        arff("\"3,u\",1", "\"3,u\"", &[", line 10: ", "the row has 2 values", "3 attributes are declared"]),
        arff("\"3,u\"", "\"?,u\"", &[", line 10: ", "bag 'b' has no value for 'x'", "with AllowMissing"]),
        arff("\"3,u\"", "\"1e999,u\"", &[", line 10: ", "out of range"]),
        arff("\"3,u\"", "\"\"", &[", line 10: ", "the bag has no instances"]),
        arff("\"3,u\"", "?", &[", line 10: ", "the bag has no instances"]),
        arff("\"3,u\",1", "\"3,u\",?", &[", line 10: ", "bag 'b' has no label"]),
        arff("\"3,u\",1", "\"3,u\",2", &[", line 10: ", "'2' is not among the values of attribute 'class'"]),
        arff("\nb,", "\na,", &[", line 10: ", "a second row for bag 'a'", "one row"]),
        arff("\"3,u\"", "\"{0 3, 9 u}\"", &[", line 10: ", "'9' is not a valid index", "0 to 1"]),
        arff("\"3,u\"", "\"{1 u, 0 3}\"", &[", line 10: ", "index 0 is out of order"]),
        arff("\"3,u\"", "\"{u 3}\"", &[", line 10: ", "'u' is not a valid index"]),
        arff("\"3,u\"", "\"{0 3\"", &[", line 10: ", "a sparse row has no index"]),
        arff("\"3,u\"", "\"3 u v\"", &[", line 10: ", "instance 1 of the bag has 3 values", "quote"]),
        arff("\"3,u\"", "\"3,,u\"", &[", line 10: ", "a value is missing between commas", "write ?"]),
        arff("\"3,u\",1", "\"3,u\",1,{heavy}", &[", line 10: ", "do not contain a weight"]),
        arff(
            "class {0,1}",
            "class {0,1}\n@attribute more numeric",
            &[", line 9: ", "'more' is outside the bag"],
        ),
        arff("class {0,1}", "class {0,1}\n@attribute more numeric", &[", line 10: ", "the row has 3 values"])
            .with(|o| o.group = Some(Column::Name("more".into()))),
        arff("x numeric", "class numeric", &[", line 8: ", "are both called 'class'"]),
        arff(
            "@attribute c {u,v}",
            "@attribute c {u,v}\n@end bag\n@attribute two relational\n@attribute d numeric",
            &[", line 11: ", "2 relational attributes"],
        ),
        case("a.arff", unfolds, &[", line ", "sparse rows expand to", "bomb", "sparse form"]),
        c45(
            ",0.\nm2",
            ",0\nm2",
            &[", line 2: ", "the row ends with '0' instead of a full stop", "is the line truncated"],
        ),
        c45("m2,m2_1,5", "m2,m2_1,5,5", &[", line 3: ", "the row has 6 values", "the first row has 5"]),
        c45("m2,m2_1,5", "m2,m2_1,x", &[", line 3: ", "'x' in column 'f1' is not a number"]),
        c45("m1_2,3,4,0", "m1_2,3,4,1", &[", line 2: ", "bag 'm1' has label '1', but '0' in line 1"]),
        c45("m2,m2_1,5", "m2,m2_1,?", &[", line 3: ", "bag 'm2' has no value for 'f1'"]),
        c45("m2,m2_1", ",m2_1", &[", line 3: ", "the row has no bag id"]),
        case("a.data", "| nothing\n\n", &[": the table has no rows"])
            .with(|o| o.format = Some("uci-musk".into())),
        case("a.data", "a,b,1.\n", &[", line 1: ", "the row has 3 values", "at least one feature"])
            .with(|o| o.format = Some("uci-musk".into())),
    ]
}

// --- .npz

/// The arrays of a good archive: three bags of one, two and one instances.
fn arrays() -> Vec<(&'static str, Vec<u8>)> {
    let words: Vec<u8> = "abbc".chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
    vec![
        ("X.npy", npy("'<f8'", "(4, 2)", &doubles(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]))),
        ("bag.npy", npy("'<U1'", "(4,)", &words)),
        ("y.npy", npy("'|i1'", "(3,)", &[1, 0, 1])),
    ]
}

fn npz_cases() -> Vec<Case> {
    let with = |name: &'static str, content: Vec<u8>| {
        let mut all = arrays();
        all.retain(|(n, _)| *n != name);
        all.push((name, content));
        zip(&all)
    };
    let good = zip(&arrays());
    let patched = |from: &[u8], to: &[u8], which: usize| {
        let mut bytes = good.clone();
        let places: Vec<usize> =
            (0..bytes.len() - from.len()).filter(|&i| bytes[i..].starts_with(from)).collect();
        bytes[places[which]..places[which] + to.len()].copy_from_slice(to);
        bytes
    };
    let end = good.len() - 22;
    let at_end = |offset: usize, to: &[u8]| {
        let mut bytes = good.clone();
        bytes[end + offset..end + offset + to.len()].copy_from_slice(to);
        bytes
    };
    let central = u32::from_le_bytes(good[end + 16..end + 20].try_into().unwrap()) as usize;
    let in_directory = |offset: usize, to: &[u8]| {
        let mut bytes = good.clone();
        bytes[central + offset..central + offset + to.len()].copy_from_slice(to);
        bytes
    };
    let nothing = npy("'|u1'", "(7000, 10000)", &vec![0; 70_000_000]);
    let twice = zip(&[&arrays()[..], &arrays()[..1]].concat());
    let no_matrix = zip(&arrays()[1..]);
    // Each is small enough by itself.
    let half = npy("'<f8'", "(4000000,)", &vec![0; 32_000_000]);
    let mut several = arrays();
    several.extend([("-label.npy", half.clone()), ("-Y.npy", half)]);
    let several = zip(&several);
    let mut gzipped = flate2::write::GzEncoder::new(Vec::new(), Compression::fast());
    gzipped.write_all(&good).unwrap();
    let gzipped = gzipped.finish().unwrap();
    let ids = |text: &str| text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect::<Vec<u8>>();
    let whole = |v: &[i64]| v.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let offsets = |v: &[i64]| {
        zip(&[arrays()[0].clone(), ("offsets.npy", npy("'<i8'", &format!("({},)", v.len()), &whole(v)))])
    };
    vec![
        case(
            "a.npz",
            &good[..good.len() - 30],
            &[": the zip archive is damaged: it has no directory", "again"],
        ),
        case("a.npz", &good[..40], &[": the zip archive is damaged"]),
        case("a.npz", "", &[": the zip archive is damaged"]),
        case("a.npz", at_end(10, &[9, 0]), &[": the zip archive is damaged: its directory"]),
        case("a.npz", at_end(10, &[0xff, 0x7f]), &[": the zip archive has 32767 members"]),
        case(
            "a.npz",
            at_end(16, &[0xff, 0xff, 0xff, 0x7f]),
            &[": the zip archive is damaged: its directory lies outside"],
        ),
        case("a.npz", at_end(4, &[1]), &[": the zip archive is one of several parts", "join"]),
        case("a.npz", in_directory(8, &[1]), &[": 'X.npy' is encrypted", "without a password"]),
        case("a.npz", in_directory(10, &[12]), &[": 'X.npy' is compressed with method 12", "numpy.savez"]),
        case(
            "a.npz",
            in_directory(16, &[0, 0, 0, 0]),
            &[", array 'X': ", "the checksum of 'X.npy' is wrong"],
        ),
        case(
            "a.npz",
            in_directory(24, &[1, 0]),
            &[", array 'X': ", "the sizes of 'X.npy' contradict each other"],
        ),
        case("a.npz", in_directory(42, &[7]), &[", array 'X': ", "'X.npy' is not where the directory says"]),
        case(
            "a.npz",
            in_directory(42, &[0xff, 0xff, 0xff, 0x3f]),
            &[", array 'X': ", "points beyond its end"],
        ),
        case("a.npz", twice, &[": the zip archive is damaged: it contains 'X.npy' twice"]),
        case("a.npz", patched(b"NUMPY", b"NUMPX", 0), &[", array 'X': ", "this is not a .npy file"]),
        case("a.npz", no_matrix, &[": there is no array 'X'; the file has: bag, y", "numpy.savez"]),
        case(
            "a.npz",
            zip(&[("-X.npy", nothing)]),
            &[", array 'X': ", "a decompression bomb?", "uncompressed"],
        ),
        case(
            "a.npz",
            several,
            &[", array 'Y': ", "the archive would expand to more", "a decompression bomb?"],
        ),
        case("a.npz", gzipped, &[": the whole file is compressed with gzip", "decompress it first"]),
        case(
            "a.npz",
            with("X.npy", npy("'<f8'", "(4, 3)", &[0; 64])),
            &[", array 'X': ", "does not match its"],
        ),
        case(
            "a.npz",
            with("X.npy", npy("'<f8'", "(4611686018427387904, 8)", &[0; 64])),
            &[", array 'X': ", "does not match"],
        ),
        case(
            "a.npz",
            with("X.npy", npy("'|O'", "(4, 2)", &[0; 64])),
            &[", array 'X': ", "it contains Python objects", "astype"],
        ),
        case(
            "a.npz",
            with("X.npy", npy("'<c16'", "(4, 1)", &[0; 64])),
            &[", array 'X': ", "its values have type '<c16'"],
        ),
        case(
            "a.npz",
            with("X.npy", npy("[('a', '<f8')]", "(8,)", &[0; 64])),
            &[", array 'X': ", "have type"],
        ),
        case(
            "a.npz",
            with("X.npy", npy("'<f8'", "(2, 2, 2)", &[0; 64])),
            &[", array 'X': ", "it has 3 dimensions"],
        ),
        case("a.npz", with("X.npy", npy("'<f8'", "(0, 2)", &[])), &[", array 'X': ", "it is empty: 0 x 2"]),
        case(
            "a.npz",
            with("X.npy", npy("'<U1'", "(4, 2)", &[0; 32])),
            &[", array 'X': ", "it contains strings"],
        ),
        case(
            "a.npz",
            with("X.npy", npy("'<f8'", "(4, 2)", &doubles(&[1.0, 2.0, f64::NAN, 4.0, 5.0, 6.0, 7.0, 8.0]))),
            &[", row 2: ", "bag 'b' has no value for 'f1'", "with AllowMissing"],
        ),
        case(
            "a.npz",
            with(
                "X.npy",
                npy("'<f8'", "(4, 2)", &doubles(&[1.0, f64::INFINITY, 0.0, 4.0, 5.0, 6.0, 7.0, 8.0])),
            ),
            &[", row 1: ", "the value of 'f2' in bag 'a' is infinite"],
        )
        .with(|o| o.allow_missing = true),
        case(
            "a.npz",
            with("y.npy", npy("'|i1'", "(2,)", &[1, 0])),
            &[": 'y' has 2 entries for 3 bags and 4 instances"],
        ),
        case(
            "a.npz",
            with("y.npy", npy("'|i1'", "(4,)", &[1, 0, 1, 1])),
            &[", row 3: ", "bag 'b' has label '1', but '0' in row 2"],
        ),
        case(
            "a.npz",
            with("y.npy", npy("'|i1'", "(2, 2)", &[1, 0, 1, 1])),
            &[", array 'y': ", "it has the shape [2, 2]"],
        ),
        case(
            "a.npz",
            with("y.npy", npy("'<f8'", "(3,)", &doubles(&[1.0, f64::NAN, 0.0]))),
            &[", row 2: ", "bag 'b' has no label"],
        ),
        case(
            "a.npz",
            with("bag.npy", npy("'<U1'", "(4,)", &ids("bbac"))),
            &[": 'y' has one entry per bag, but the ids in 'bag' are not in ascending order", "per instance"],
        ),
        case(
            "a.npz",
            with("bag.npy", npy("'<U1'", "(4,)", &ids("a\0bc"))),
            &[": 'y' has 3 entries for 4 bags and 4 instances"],
        ),
        case(
            "a.npz",
            with("bag.npy", npy("'<U1'", "(4,)", &[0xff; 16])),
            &[", array 'bag': ", "invalid character"],
        ),
        case(
            "a.npz",
            with("bag.npy", npy("'|S1'", "(4,)", &[0xff; 4])),
            &[", array 'bag': ", "is not UTF-8 text"],
        ),
        case("a.npz", zip(&arrays()[..1]), &[": there is no column called bag", "with Bag"]),
        case(
            "a.npz",
            offsets(&[0, 2, 2, 4]),
            &[": bag 2 (counted from 1) has no instances", "leave empty bags out"],
        ),
        case(
            "a.npz",
            offsets(&[0, 2, 5]),
            &[": the offsets must start at 0 and end at the number of instances, 4"],
        ),
        case("a.npz", offsets(&[0, -1, 4]), &[": bag 2 (counted from 1) has no instances"]),
        case("a.npz", with("features.npy", npy("'<U1'", "(1,)", &ids("a"))), &[": 1 names for 2 features"]),
        case(
            "a.npz",
            with("features.npy", npy("'<U1'", "(2,)", &ids("aa"))),
            &[": columns 1 and 2 are both called 'a'"],
        ),
        case("a.npz", good.clone(), &[": there is no column 'z'"])
            .with(|o| o.label = Some(Column::Name("z".into()))),
    ]
}

// --- .mat

fn mat_cases() -> Vec<Case> {
    let x = matrix("X", 3, 2, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let bag = matrix("bag", 3, 1, &[1.0, 1.0, 2.0]);
    let y = matrix("y", 2, 1, &[0.0, 1.0]);
    let good = mat(&[x.clone(), bag.clone(), y.clone()]);
    let cells =
        |cells: &[Vec<u8>]| mat(&[variable(1, &[cells.len() as i32, 1], "bags", &cells.concat()), y.clone()]);
    let cell = |rows, cols| matrix("", rows, cols, &vec![1.0; (rows * cols) as usize]);
    let packed = |content: &[u8]| {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(content).unwrap();
        let packed = encoder.finish().unwrap();
        [&15u32.to_le_bytes()[..], &(packed.len() as u32).to_le_bytes(), &packed].concat()
    };
    let mut damaged = packed(&x);
    damaged[20] ^= 0x55;
    let sparse = |rows: i32, ir: &[i32], jc: &[i32]| {
        let ints = |v: &[i32]| element(5, &v.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>());
        let content = [ints(ir), ints(jc), element(9, &doubles(&vec![1.0; ir.len()]))].concat();
        variable(5, &[rows, jc.len() as i32 - 1], "X", &content)
    };
    let mut hdf = b"MATLAB 7.3 MAT-file".to_vec();
    hdf.resize(600, 0);
    let complex = {
        let mut v = x.clone();
        v[17] = 8;
        v
    };
    vec![
        case("a.mat", hdf, &[": this is version 7.3", "save(file, '-v7')"]),
        case("a.mat", &b"\x89HDF\r\n\x1a\n"[..], &[": this is version 7.3"]),
        case(
            "a.h5",
            [&b"\x89HDF\r\n\x1a\n"[..], &[0; 100]].concat(),
            &[": this is an HDF5 file", "bagwise.convert"],
        ),
        case("a.pt", b"PK\x03\x04\0\0".to_vec(), &[": this is a torch file", "bagwise.convert"]),
        case("a.mat", "", &[": the file is damaged: it is shorter than its header"]),
        case("a.mat", &good[..100], &[": the file is damaged: it is shorter than its header"]),
        case("a.mat", vec![7; 400], &[": this is not version 5", "savemat"]),
        case("a.mat", &good[..300], &[": the file is damaged: it is truncated"]),
        case("a.mat", &good[..good.len() - 20], &[": the file is damaged"]),
        case("a.mat", mat(&[]), &[": it is unclear which variable contains the instances", "name it X"]),
        case(
            "a.mat",
            mat(&[matrix("A", 2, 2, &[0.0; 4]), matrix("B", 2, 2, &[0.0; 4])]),
            &[": it is unclear", "A, B"],
        ),
        case(
            "a.mat",
            mat(&[matrix("X", 3, 3, &[1.0; 6])]),
            &[": the file is damaged: the size of a matrix does not match"],
        ),
        case("a.mat", mat(&[matrix("X", -1, 2, &[1.0; 6])]), &[": the file is damaged"]),
        case("a.mat", mat(&[complex]), &[": 'X' has complex numbers", "real part"]),
        case("a.mat", mat(&[damaged]), &[": the file is damaged: a compressed variable cannot"]),
        case(
            "a.mat",
            mat(&[packed(&matrix("a", 2000, 2000, &vec![0.0; 4_000_000])), packed(&vec![0; 35_000_000])]),
            &[": its compressed variables expand to more", "bomb", "-v6"],
        ),
        case("a.mat", mat(&[x.clone(), y.clone()]), &[": 'y' has 2 entries for 3 instances", "bag ids"]),
        case("a.mat", mat(&[x.clone(), bag.clone(), matrix("y", 2, 2, &[0.0; 4])]), &[": 'y' is not a list"]),
        case(
            "a.mat",
            mat(&[x.clone(), matrix("bag", 3, 1, &[1.0, f64::NAN, 2.0])]),
            &[", row 2: ", "no bag id"],
        ),
        case(
            "a.mat",
            mat(&[matrix("X", 2, 2, &[1.0, f64::NAN, 1.0, 1.0]), matrix("bag", 2, 1, &[1.0, 2.0])]),
            &[", row 2: ", "bag '2' has no value for 'f1'"],
        ),
        case(
            "a.mat",
            cells(&[cell(2, 2), cell(1, 3)]),
            &[": cell 2 of 'bags' has 3 columns, but the first has 2"],
        ),
        case("a.mat", cells(&[cell(2, 2), cell(2, 3)]), &[": cell 2 of 'bags'", "transpose each matrix"]),
        case("a.mat", cells(&[cell(2, 2), cell(0, 0)]), &[": cell 2 of 'bags' is empty"]),
        case(
            "a.mat",
            cells(&[cell(2, 2), variable(2, &[1, 1], "", &[])]),
            &[": cell 2 of 'bags' is not a matrix"],
        ),
        case("a.mat", cells(&[cell(2, 2), cell(1, 2), cell(1, 2)]), &[": 'y' has 2 entries for 3 bags"]),
        case(
            "a.mat",
            mat(&[variable(1, &[1_000_000, 1000], "bags", &cell(2, 2))]),
            &[": the file is damaged: it is truncated"],
        ),
        case(
            "a.mat",
            mat(&[sparse(3, &[0, 9], &[0, 1, 2]), bag.clone()]),
            &[": the file is damaged: the rows of a sparse"],
        ),
        case(
            "a.mat",
            mat(&[sparse(3, &[0, 1], &[0, 2, 1]), bag.clone()]),
            &[": the file is damaged: the columns of a sparse"],
        ),
        case("a.mat", mat(&[sparse(2_000_000_000, &[0, 1], &[0, 1, 2]), bag]), &[": 'X' is 2000000000 x 2"]),
    ]
}

// --- Parquet

fn parquet_cases() -> Vec<Case> {
    let good = fixture("pandas_wide.parquet");
    let length = good.len();
    let end = |offset: usize, to: &[u8]| {
        let mut bytes = good.clone();
        bytes[length - offset..length - offset + to.len()].copy_from_slice(to);
        bytes
    };
    let mut page = good.clone();
    page[4..40].fill(0xff);
    let mut no_magic = good.clone();
    no_magic.truncate(length - 4);
    let mut cases = vec![
        case("a.parquet", &good[..length - 100], &[": the file is damaged: it does not end like a Parquet"]),
        case("a.parquet", no_magic, &[": the file is damaged: it does not end"]),
        case("a.parquet", "PAR1", &[": the file is damaged: it is too short"]),
        case("a.parquet", end(4, b"PARE"), &[": the file is encrypted"]),
        case("a.parquet", end(8, &[0xff, 0xff, 0xff]), &[": the file is damaged: its metadata lies outside"]),
        case("a.parquet", end(8, &[1, 0, 0, 0]), &[": the file is damaged: it has no columns"]),
        case("a.parquet", page, &[", column 'bag': ", "the file is damaged"]),
        case("a.parquet", good.clone(), &[": there is no column 'mol'"])
            .with(|o| o.bag = Some(Column::Name("mol".into()))),
    ];
    for (file, expected) in [
        (
            "bad_date",
            &[": no column of the table contains measurements", "'x' (dates or times)", "with Keep"][..],
        ),
        ("bad_struct", &[", column 'x': ", "it is a struct"]),
        ("bad_struct_of_one", &[", column 'x': ", "it is a struct"]),
        ("bad_list_of_structs", &[", column 'x': ", "it is a struct"]),
        ("bad_checksum", &[", column 'bag': ", "the checksum of a page is wrong"]),
        ("bad_nested", &[", column 'x': ", "it has lists of lists"]),
        ("bad_ragged", &[", column 'x': ", "row 5 has 1 values, but the first has 2"]),
        ("bad_empty_list", &[", column 'x': ", "row 2 has 0 values"]),
        ("bad_list_of_texts", &[", column 'x': ", "lists of strings"]),
        ("bad_infinite", &[", row 3: ", "the value of 'x' in bag 'b' is infinite"]),
        ("bad_binary", &[", column 'x': ", "not UTF-8"]),
        ("bad_bomb", &[", column 'x': ", "a decompression bomb?", "uncompressed"]),
        ("bad_group", &[", row 3: ", "bag 'b' has no group"]),
        ("bad_no_rows", &[": the table has no rows"]),
        ("bad_bag", &[", row 2: ", "no bag id"]),
        ("bad_label", &[", row 2: ", "bag 'a' has label '0', but '1' in row 1"]),
    ] {
        cases.push(case("a.parquet", fixture(&format!("{file}.parquet")), expected));
    }
    cases
}

#[test]
fn every_damaged_file_is_refused_with_place_finding_and_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let cases: Vec<Case> =
        [arff_cases(), npz_cases(), mat_cases(), parquet_cases()].into_iter().flatten().collect();
    assert!(cases.len() >= 100, "{}", cases.len());
    let mut wrong = Vec::new();
    for case in &cases {
        let path = folder.path().join(&case.file);
        std::fs::write(&path, &case.bytes).unwrap();
        let typed = path.to_str().unwrap();
        let message = match read(typed, &case.options) {
            Ok(_) => "it was read".to_string(),
            // Settings by their names in the library.
            Err(error) => error.worded(&|setting| format!("{setting:?}")),
        };
        let after = message.strip_prefix(typed).unwrap_or_default();
        let says =
            case.expected.iter().all(|part| after.contains(part)) && after.starts_with(case.expected[0]);
        let has_remedy = after.split_once("; ").is_some_and(|(_, remedy)| remedy.len() > 8);
        if !says || !has_remedy || message.len() > typed.len() + 400 {
            wrong.push(format!("{message}\n    expected {:?}", case.expected));
        }
    }
    assert!(wrong.is_empty(), "{} of {} messages:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

/// A file cut at any byte is refused with its name; only ARFF, which has no end of its own, may also be read.
#[test]
fn a_file_cut_anywhere_is_read_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let options = ReadOptions { allow_missing: true, ..ReadOptions::default() };
    for file in [
        "numpy_offsets.npz",
        "scipy_texts.mat",
        "scipy_sparse_pairs.mat",
        "pandas_mixed.parquet",
        "pyarrow_lists.parquet",
        "weka_bags.arff",
        "weka_sparse.arff",
    ] {
        let whole = fixture(file);
        let path = folder.path().join(file);
        let typed = path.to_str().unwrap();
        for cut in 0..whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            match read(typed, &options) {
                Ok(_) => assert!(file.ends_with("arff") || file.ends_with("mat"), "{file} cut at {cut}"),
                Err(error) => assert!(error.to_string().starts_with(typed), "{error}"),
            }
        }
    }
}
