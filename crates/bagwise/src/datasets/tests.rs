//! Downloads from a server on this machine: good, cut, altered and missing files; and files that a user has.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use super::sources::SourceLayout;
use super::*;

/// Two bags in the text of the affinity sets.
const MOLECULES: &str = "# Number of Dimensions\n2\n# Number of Examples\n2\n# Number of Instances of molecule (0)\n1\n1.5\n2.5\n\
                         # Label of molecule (0)\n1.000000\n# Number of Instances of molecule (1)\n2\n3\n4\n5\n6\n# Label\n0.5\n";

/// The same as the sources of MIRSVM write it: rows end in a comma, and the second class comes first.
const WEKA: &str = "@relation r\n@attribute id {a,b}\n@attribute bag relational\n@attribute f1 numeric\n@attribute f2 numeric\n\
                    @end bag\n@attribute class {0,1}\n@data\na,\"1.5,2.5,\",1\nb,\"3.0,4.0,\\n5.0,6.0,\",0\n";

fn example(layout: SourceLayout, digest: &'static str) -> KnownDataset {
    let origin = Origin::GitHub { repository: "o/r", commit: "c", path: "f.txt", layout };
    let name = if layout == SourceLayout::Molecules { "lj-example" } else { "example" };
    KnownDataset { name, bags: 2, instances: 3, attributes: 2, first_label: "1", digest, origin }
}

/// A server that gives one answer, and its address.
fn server(status: &'static str, length: usize, body: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = [0; 4096];
            let read = stream.read(&mut request).unwrap();
            assert!(request[..read].starts_with(b"GET /o/r/c/f.txt HTTP/1.1\r\n"));
            write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n")
                .unwrap();
            stream.write_all(body).unwrap();
        }
    });
    format!("http://{address}")
}

fn digest_of(layout: SourceLayout, text: &str) -> &'static str {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("f.txt");
    std::fs::write(&file, text).unwrap();
    let data = convert::convert(&example(layout, ""), layout, &file, "here").unwrap();
    Box::leak(content_digest(&data).unwrap().into_boxed_str())
}

#[test]
fn a_good_file_is_converted_and_written_where_it_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let set = example(SourceLayout::Molecules, digest_of(SourceLayout::Molecules, MOLECULES));
    let at = server("200 OK", MOLECULES.len(), MOLECULES.as_bytes());
    let path = fetch_from(&at, &set, None, folder.path()).unwrap();
    assert_eq!(path, folder.path().join("lj-example.csv.gz"));
    let data = read(&path.display().to_string(), &set.options()).unwrap();
    assert_eq!(content_digest(&data).unwrap(), set.digest);
    assert_eq!(data.target, Some(bagwise_core::Target::Values(vec![1.0, 0.5])));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "the download is gone");
}

/// Answers with half of the file and then nothing, so that the download is not over; returns what stands in the folder meanwhile.
#[cfg(unix)]
fn names_during_a_download(set: KnownDataset, folder: &Path) -> Vec<PathBuf> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = format!("http://{}", listener.local_addr().unwrap());
    let to = folder.to_path_buf();
    let fetching = std::thread::spawn(move || fetch_from(&at, &set, None, &to));
    // A downloader that does not start, or writes nothing, is a failure and not a test without end.
    let within_a_minute = |mut step: Box<dyn FnMut() -> bool + '_>| {
        let begun = std::time::Instant::now();
        while !step() {
            assert!(begun.elapsed().as_secs() < 60, "the download has not begun");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    };
    listener.set_nonblocking(true).unwrap();
    let mut accepted = None;
    within_a_minute(Box::new(|| {
        assert!(!fetching.is_finished(), "the download ended before it began");
        accepted = listener.accept().ok();
        accepted.is_some()
    }));
    let (mut stream, _) = accepted.unwrap();
    stream.set_nonblocking(false).unwrap();
    stream.set_read_timeout(Some(std::time::Duration::from_secs(60))).unwrap();
    let _ = stream.read(&mut [0; 4096]).unwrap();
    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n# Number").unwrap();
    let mut names = Vec::new();
    within_a_minute(Box::new(|| {
        names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        !names.is_empty()
    }));
    drop(stream);
    fetching.join().unwrap().unwrap_err();
    names
}

#[cfg(unix)]
#[test]
fn what_a_killed_download_left_is_removed_by_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let set = || example(SourceLayout::Molecules, digest_of(SourceLayout::Molecules, MOLECULES));
    let [left] = &names_during_a_download(set(), folder.path())[..] else { panic!("one file") };
    // As a killed process leaves it, long ago.
    let file = File::create(left).unwrap();
    file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(7200)).unwrap();
    // Another process has other letters at the end.
    let name = left.file_name().unwrap().to_str().unwrap();
    let other = left.with_file_name(format!("{}00000a", &name[..name.len() - 6]));
    std::fs::rename(left, &other).unwrap();
    let at = server("200 OK", MOLECULES.len(), MOLECULES.as_bytes());
    let path = fetch_from(&at, &set(), None, folder.path()).unwrap();
    let names: Vec<PathBuf> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(names, [path], "{}", other.display());
}

#[test]
fn a_cut_an_altered_and_a_missing_file_are_refused_and_nothing_is_left() {
    let set = example(SourceLayout::Molecules, digest_of(SourceLayout::Molecules, MOLECULES));
    let cut = &MOLECULES.as_bytes()[..MOLECULES.len() - 12];
    let altered: &'static [u8] = MOLECULES.replace("2.5", "2.6").leak().as_bytes();
    for (status, length, body, why) in [
        // The connection ends before everything came.
        ("200 OK", MOLECULES.len(), cut, "cannot be downloaded"),
        // The file itself is cut.
        ("200 OK", cut.len(), cut, "the file ends where a label should stand"),
        ("200 OK", altered.len(), altered, "not those of lj-example"),
        ("404 Not Found", 0, b"".as_slice(), "404"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let error =
            fetch_from(&server(status, length, body), &set, None, folder.path()).unwrap_err().to_string();
        assert!(error.contains(why), "{why}: {error}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{why}");
    }
}

#[test]
fn a_file_without_end_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    // It does not say how long the file is, and ends when nobody listens any more.
    let serving = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 4096]).unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
        (0..2000).take_while(|_| stream.write_all(&[b'7'; 100_000]).is_ok()).count()
    });
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("f");
    let error =
        download("example", &format!("http://{address}/f"), &file, 1_000_000).unwrap_err().to_string();
    assert!(error.contains("cannot be downloaded (it is larger than 1.0 MB)"), "{error}");
    assert!(file.metadata().unwrap().len() <= 1_000_001);
    assert!(serving.join().unwrap() < 2000, "curl went on");
}

#[test]
fn a_download_that_cannot_be_read_is_called_by_its_address() {
    let folder = tempfile::tempdir().unwrap();
    let set = example(SourceLayout::Arff, "");
    let at = server("200 OK", 4, b"junk");
    let error = fetch_from(&at, &set, None, folder.path()).unwrap_err().to_string();
    assert!(error.starts_with(&format!("{at}/o/r/c/f.txt, line 1: ")), "{error}");
}

#[test]
fn without_a_network_it_is_said_what_to_download() {
    let folder = tempfile::tempdir().unwrap();
    // Nobody listens on a port that was just given back.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let set = example(SourceLayout::Molecules, "");
    let error =
        fetch_from(&format!("http://127.0.0.1:{port}"), &set, None, folder.path()).unwrap_err().to_string();
    assert!(error.contains(&format!("http://127.0.0.1:{port}/o/r/c/f.txt cannot be downloaded")), "{error}");
    assert!(error.contains("download that file by other means and give it"), "{error}");
}

#[test]
fn a_file_of_weka_that_the_user_has_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.arff");
    std::fs::write(&file, WEKA).unwrap();
    let set = example(SourceLayout::Arff, digest_of(SourceLayout::Arff, WEKA));
    let path = fetch_from("nowhere", &set, Some(&file), folder.path()).unwrap();
    let data = read(&path.display().to_string(), &set.options()).unwrap();
    assert_eq!((data.bags.len(), data.bags.instance_count(), data.bags.width()), (2, 3, 2));
    assert_eq!(data.target, Some(bagwise_core::Target::from_labels(&["1", "0"])));
    assert!(file.exists(), "what the user gave stays");
}

#[test]
fn a_file_that_is_another_is_not_overwritten_and_the_same_is_not_fetched_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.arff");
    std::fs::write(&file, WEKA).unwrap();
    let set = example(SourceLayout::Arff, digest_of(SourceLayout::Arff, WEKA));
    let target = folder.path().join("example.csv.gz");
    for mine in ["my own notes\n", "bag,label,x\na,0,1\nb,1,2\n"] {
        std::fs::write(&target, mine).unwrap();
        let error = fetch_from("nowhere", &set, Some(&file), folder.path()).unwrap_err().to_string();
        assert!(
            error.contains("example.csv.gz: a file of this name exists, and it is not example"),
            "{error}"
        );
        assert_eq!(std::fs::read_to_string(&target).unwrap(), mine);
    }
    std::fs::remove_file(&target).unwrap();
    assert_eq!(fetch_from("nowhere", &set, Some(&file), folder.path()).unwrap(), target);
    // Without a network, and without the file.
    assert_eq!(fetch_from("nowhere", &set, None, folder.path()).unwrap(), target);
}

#[cfg(unix)]
#[test]
fn a_device_is_not_read_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let set = example(SourceLayout::Molecules, "");
    let error =
        fetch_from("nowhere", &set, Some(Path::new("/dev/zero")), folder.path()).unwrap_err().to_string();
    assert!(error.contains("/dev/zero: this is not a regular file"), "{error}");
}

#[test]
fn the_data_that_come_along_have_the_digests_of_the_list() {
    for name in ["musk1", "musk2", "elephant", "image1000", "image2000"] {
        assert_eq!(known(name).unwrap().digest_here().unwrap(), known(name).unwrap().digest, "{name}");
    }
    assert!(known("musk3").unwrap_err().to_string().contains("musk"));
    for set in all() {
        assert_eq!(set.digest.len(), 16, "{}", set.name);
    }
}
