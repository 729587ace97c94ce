//! Opening files, compressed or not. Gzip, zstd and bzip2 are recognised by their first bytes, whatever the file is
//! called, and are undone while reading. A small file that unfolds into a huge one (a decompression bomb) is
//! stopped by two limits, [`MAX_RATIO`] and [`MAX_TOTAL`]; a file that was cut short or damaged is named.
//!
//! xz is recognised and refused with the command that undoes it. No program that writes tables uses it unless it is told to, a
//! file chooses how much memory its decoder needs (up to 4 GB of dictionary, before the limits above see a byte), and
//! it would take one more decoder in the trusted part of the program.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::rc::Rc;

use bzip2::bufread::BzDecoder;
use flate2::bufread::GzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use bagwise_core::sizes::OutOfMemory;
use bagwise_core::{Error, Place, Result, human_bytes};

/// Bytes out per byte in beyond which a file is taken for a bomb. Tables of counts that are nearly all zero
/// reach 200 with gzip; good rows repeated without end reach 300 to 700.
pub const MAX_RATIO: u64 = 250;

/// The ratio is not looked at before this many bytes have come out: a few thousand equal rows are no danger.
pub const RATIO_FROM: u64 = 64_000_000;

/// Bytes that may come out of one compressed file at all.
pub const MAX_TOTAL: u64 = 16_000_000_000;

const BUFFER: usize = 1 << 16;

/// Bytes that may still come out of a file whose pieces are compressed one by one: what the limits allow for its length,
/// for all pieces together.
pub struct DecompressBudget(u64);

impl DecompressBudget {
    /// For a file of this many bytes.
    pub fn of(length: u64) -> DecompressBudget {
        // A large file may well hold a little more than its own length.
        let most = MAX_TOTAL.max(length.saturating_mul(2));
        DecompressBudget(length.saturating_mul(MAX_RATIO).clamp(RATIO_FROM, most))
    }

    /// Bytes left.
    pub fn left(&self) -> u64 {
        self.0
    }

    /// Takes some; false if there are not as many.
    pub fn take(&mut self, bytes: u64) -> bool {
        let enough = bytes <= self.0;
        self.0 = self.0.saturating_sub(bytes);
        enough
    }
}

/// Why reading stopped, in the two parts that an [`Error::Data`] wants; travels inside an [`io::Error`].
#[derive(Debug)]
pub struct Refusal {
    found: String,
    remedy: String,
}

impl Refusal {
    /// An error that decompression reports: what was found and what would do.
    pub fn error(found: impl Into<String>, remedy: impl Into<String>) -> io::Error {
        io::Error::other(Refusal { found: found.into(), remedy: remedy.into() })
    }
}

/// Memory that cannot be had, as an error of reading.
pub(crate) fn no_room(room: OutOfMemory) -> io::Error {
    let (found, remedy) = room.parts();
    Refusal::error(found, remedy.to_string())
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}; {}", self.found, self.remedy)
    }
}

impl std::error::Error for Refusal {}

/// What a failed read means, with a remedy where one is known.
pub fn explain(place: Place, error: io::Error) -> Error {
    if let Some(refusal) = error.get_ref().and_then(|e| e.downcast_ref::<Refusal>()) {
        return Error::data(place, &refusal.found, refusal.remedy.as_str());
    }
    match error.kind() {
        // The last is what a name with a zero byte gives.
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidInput => {
            Error::data(Place::of(place.source), "no such file", "check the file name and the folder")
        }
        io::ErrorKind::PermissionDenied => Error::data(
            Place::of(place.source),
            "permission denied",
            "change its permissions, or copy it to another folder",
        ),
        io::ErrorKind::IsADirectory => Error::data(
            Place::of(place.source),
            "this is a folder, not a table",
            "give the file with the rows inside it",
        ),
        _ => Error::io(place.source, error),
    }
}

/// Opens a file and undoes its compression.
pub fn open(path: &Path) -> Result<Box<dyn Read>> {
    let source = path.display().to_string();
    let file = File::open(path).map_err(|e| explain(Place::of(&source), e))?;
    // Opening a folder succeeds on Unix, and only the first read would say what is wrong.
    if file.metadata().is_ok_and(|m| m.is_dir()) {
        return Err(explain(Place::of(&source), io::ErrorKind::IsADirectory.into()));
    }
    decode(file).map_err(|e| explain(Place::of(&source), e))
}

/// Undoes the compression of a stream, if it has one.
pub fn decode(input: impl Read + 'static) -> io::Result<Box<dyn Read>> {
    let consumed = Rc::new(Cell::new(0));
    let mut input = BufReader::with_capacity(BUFFER, Counted { inner: input, bytes: Rc::clone(&consumed) });
    Ok(match form(input.fill_buf()?) {
        Some(gzip @ "gzip") => Box::new(Limited::new(gzip, Members::<GzDecoder<_>>::new(input), consumed)),
        Some(bzip2 @ "bzip2") => Box::new(Limited::new(bzip2, Members::<BzDecoder<_>>::new(input), consumed)),
        Some("xz") => {
            return Err(Refusal::error(
                "the file is compressed with xz, which is not supported",
                "decompress it with xz -d, or use gzip or zstd",
            ));
        }
        Some(zstd) => Box::new(Limited::new(zstd, Zstd::new(input), consumed)),
        None => Box::new(input),
    })
}

/// What a file that begins like this is compressed by, if it is.
pub fn form(head: &[u8]) -> Option<&'static str> {
    if head.starts_with(&[0x1f, 0x8b]) {
        return Some("gzip");
    }
    // The magic number of a block, or of the end of an empty stream, follows the level.
    let block = [&[0x31, 0x41, 0x59, 0x26][..], &[0x17, 0x72, 0x45, 0x38]];
    if head.starts_with(b"BZh") && head.get(4..8).is_some_and(|b| block.contains(&b)) {
        return Some("bzip2");
    }
    if head.starts_with(b"\xfd7zXZ\0") {
        return Some("xz");
    }
    // Skippable frames (0x184D2A5?) may stand before the first zstd frame.
    let zstd = head.len() >= 4 && (head[..4] == [0x28, 0xb5, 0x2f, 0xfd] || is_skippable(head));
    zstd.then_some("zstd")
}

fn is_skippable(magic: &[u8]) -> bool {
    magic[0] & 0xf0 == 0x50 && magic[1..4] == [0x2a, 0x4d, 0x18]
}

/// Counts what the decompressor has taken in.
struct Counted<R> {
    inner: R,
    bytes: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buf)?;
        self.bytes.set(self.bytes.get() + n as u64);
        Ok(n)
    }
}

/// A decompressor under the limits, whose failures say what they mean.
struct Limited<R> {
    form: &'static str,
    inner: R,
    taken: Rc<Cell<u64>>,
    given: u64,
}

impl<R: Read> Limited<R> {
    fn new(form: &'static str, inner: R, taken: Rc<Cell<u64>>) -> Limited<R> {
        Limited { form, inner, taken, given: 0 }
    }
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let form = self.form;
        let n = self.inner.read(buf).map_err(|e| match e.kind() {
            _ if e.raw_os_error().is_some() || e.kind() == io::ErrorKind::Interrupted => e,
            _ if e.get_ref().is_some_and(|inner| inner.is::<Refusal>()) => e,
            io::ErrorKind::UnexpectedEof => {
                Refusal::error(format!("the {form} data is truncated"), "copy or download the file again")
            }
            _ => {
                Refusal::error(format!("the {form} data is damaged ({e})"), "copy or download the file again")
            }
        })?;
        self.given += n as u64;
        let ratio = self.given / self.taken.get().max(1);
        if self.given > MAX_TOTAL || (self.given > RATIO_FROM && ratio > MAX_RATIO) {
            return Err(Refusal::error(
                format!(
                    "{} of {form} data decompress to more than {}: a decompression bomb?",
                    human_bytes(self.taken.get()),
                    human_bytes(self.given)
                ),
                "if you trust the file, decompress it first and read the result",
            ));
        }
        Ok(n)
    }
}

/// True if bytes begin like this, as far as there are any: a buffer may end within a magic number.
fn may_begin(bytes: &[u8], magic: &[u8]) -> bool {
    bytes.iter().zip(magic).all(|(a, b)| a == b)
}

/// Whole data with something behind it, which is neither more of it nor a cut.
fn followed(form: &str) -> io::Error {
    Refusal::error(
        format!("the {form} data is complete, but other bytes follow it"),
        "decompress it first, or copy or download the file again",
    )
}

/// The decoder of one member of a stream that may have several, as gzip and bzip2 write them.
trait MemberDecoder: Read {
    type Source: BufRead;
    const FORM: &'static str;
    /// What a member begins with.
    const MAGIC: &'static [u8];

    fn begin(source: Self::Source) -> Self;
    fn source(&mut self) -> &mut Self::Source;
    fn end(self) -> Self::Source;
}

impl<R: BufRead> MemberDecoder for GzDecoder<R> {
    type Source = R;
    const FORM: &'static str = "gzip";
    const MAGIC: &'static [u8] = &[0x1f, 0x8b];

    fn begin(source: R) -> Self {
        GzDecoder::new(source)
    }

    fn source(&mut self) -> &mut R {
        self.get_mut()
    }

    fn end(self) -> R {
        self.into_inner()
    }
}

impl<R: BufRead> MemberDecoder for BzDecoder<R> {
    type Source = R;
    const FORM: &'static str = "bzip2";
    const MAGIC: &'static [u8] = b"BZh";

    fn begin(source: R) -> Self {
        BzDecoder::new(source)
    }

    fn source(&mut self) -> &mut R {
        self.get_mut()
    }

    fn end(self) -> R {
        self.into_inner()
    }
}

/// All members of a stream, one after the other, checksums verified. The decoders of several members that the libraries have call it
/// damage if something else follows the last.
struct Members<D> {
    member: Option<D>,
}

impl<D: MemberDecoder> Members<D> {
    fn new(source: D::Source) -> Members<D> {
        Members { member: Some(D::begin(source)) }
    }
}

impl<D: MemberDecoder> Read for Members<D> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            let Some(member) = &mut self.member else { return Ok(0) };
            let n = member.read(buf)?;
            if n > 0 || buf.is_empty() {
                return Ok(n);
            }
            match member.source().fill_buf()? {
                [] => return Ok(0),
                more if !may_begin(more, D::MAGIC) => return Err(followed(D::FORM)),
                _ => self.member = self.member.take().map(|ended| D::begin(ended.end())),
            }
        }
    }
}

/// All frames of a zstd stream, one after the other, checksums verified.
struct Zstd<R> {
    source: R,
    decoder: FrameDecoder,
    inside: bool,
    /// Whether a frame has gone by.
    begun: bool,
}

impl<R: BufRead> Zstd<R> {
    fn new(source: R) -> Zstd<R> {
        Zstd { source, decoder: FrameDecoder::new(), inside: false, begun: false }
    }

    /// Starts the next frame; false at the end of the stream.
    fn next_frame(&mut self) -> io::Result<bool> {
        loop {
            let more = self.source.fill_buf()?;
            let skippable =
                more.first().is_some_and(|b| b & 0xf0 == 0x50) && may_begin(&more[1..], &[0x2a, 0x4d, 0x18]);
            match more {
                [] => return Ok(false),
                _ if self.begun && !skippable && !may_begin(more, &[0x28, 0xb5, 0x2f, 0xfd]) => {
                    return Err(followed("zstd"));
                }
                _ => self.begun = true,
            }
            match self.decoder.reset(&mut self.source) {
                Ok(()) => {
                    self.inside = true;
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let skipped = io::copy(&mut (&mut self.source).take(length.into()), &mut io::sink())?;
                    if skipped < length.into() {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(e) => return Err(self.failure(e)),
            }
        }
    }

    /// The decoder buries the end of the file under layers of its own; whether there is more says it plainly.
    fn failure(&mut self, error: FrameDecoderError) -> io::Error {
        match self.source.fill_buf() {
            Ok([]) => io::ErrorKind::UnexpectedEof.into(),
            _ => io::Error::other(error),
        }
    }
}

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.inside && !self.next_frame()? {
                return Ok(0);
            }
            if self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let step = BlockDecodingStrategy::UptoBlocks(1);
                if let Err(e) = self.decoder.decode_blocks(&mut self.source, step) {
                    return Err(self.failure(e));
                }
            }
            let n = self.decoder.read(buf)?;
            if n > 0 || buf.is_empty() {
                return Ok(n);
            }
            if self.decoder.is_finished() && self.decoder.can_collect() == 0 {
                let stored = self.decoder.get_checksum_from_data();
                if stored.is_some() && stored != self.decoder.get_calculated_checksum() {
                    return Err(io::Error::other("its checksum is wrong"));
                }
                self.inside = false;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};
    use std::io::Write;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        compress_to_vec(bytes, CompressionLevel::Fastest)
    }

    fn bzip2(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn undo(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        decode(io::Cursor::new(bytes))?.read_to_end(&mut out)?;
        Ok(out)
    }

    #[test]
    fn all_forms_are_undone_and_plain_text_is_left_alone() {
        let text: Vec<u8> = (0..50_000).flat_map(|i| format!("{i},").into_bytes()).collect();
        for bytes in [text.clone(), gzip(&text), zstd(&text), bzip2(&text)] {
            assert!(undo(bytes).unwrap() == text);
        }
    }

    #[test]
    fn members_and_frames_follow_each_other() {
        let parts: [&[u8]; 2] = [b"one ", b"two"];
        assert_eq!(undo(parts.iter().flat_map(|p| gzip(p)).collect()).unwrap(), b"one two");
        assert_eq!(undo(parts.iter().flat_map(|p| bzip2(p)).collect()).unwrap(), b"one two");
        let mut frames = zstd(parts[0]);
        frames.extend([0x53, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9]); // a skippable frame of two bytes
        frames.extend(zstd(parts[1]));
        assert_eq!(undo(frames).unwrap(), b"one two");
    }

    #[test]
    fn every_cut_is_noticed() {
        let text: Vec<u8> = (0..400).flat_map(|i| format!("{i},").into_bytes()).collect();
        // From here on, the magic number says what the file was meant to be.
        for (whole, from) in [(gzip(&text), 5), (zstd(&text), 5), (bzip2(&text), 8)] {
            for cut in from..whole.len() {
                let error = undo(whole[..cut].to_vec()).unwrap_err().to_string();
                assert!(error.contains("is truncated"), "cut at {cut}: {error}");
            }
        }
    }

    #[test]
    fn what_follows_whole_data_is_not_called_a_cut() {
        let table = b"bag,label,f1\na,1,2\n";
        for whole in [gzip(table), zstd(table), bzip2(table)] {
            for junk in [&b"\n"[..], b"\0\0\0\0", b"junk", b"junk that is longer than a header"] {
                let error = undo([&whole[..], junk].concat()).unwrap_err().to_string();
                assert!(error.contains("data is complete, but other bytes follow it"), "{junk:?}: {error}");
            }
        }
    }

    #[test]
    fn a_wrong_checksum_is_noticed() {
        let text = b"bag,label,f1\na,1,2\n";
        // Zstd ends with its checksum, gzip with the checksum and the length.
        for (mut bytes, from_end) in [(zstd(text), 1), (gzip(text), 5)] {
            let at = bytes.len() - from_end;
            bytes[at] ^= 0x10;
            let error = undo(bytes).unwrap_err().to_string();
            assert!(error.contains("data is damaged"), "{error}");
        }
    }

    #[test]
    fn a_bomb_is_stopped_early() {
        let mut bomb = GzEncoder::new(Vec::new(), Compression::best());
        let zeros = vec![0u8; 1 << 20];
        for _ in 0..100 {
            bomb.write_all(&zeros).unwrap();
        }
        let bomb = bomb.finish().unwrap();
        let mut reader = decode(io::Cursor::new(bomb)).unwrap();
        let mut total = 0;
        let mut buf = vec![0; 1 << 16];
        let error = loop {
            match reader.read(&mut buf) {
                Ok(0) => panic!("the bomb went off"),
                Ok(n) => total += n as u64,
                Err(e) => break e.to_string(),
            }
        };
        assert!(error.contains("decompression bomb"), "{error}");
        assert!(total < RATIO_FROM + (1 << 17), "{total} bytes came out");
    }
}
