//! Zip archives, as far as `.npz` needs them: members stored or deflated, found through the directory at the end, sizes
//! of any length. No encryption, no parts, no other compression.
//!
//! Written by hand: some 430 lines without tests, a third of them for writing. The `zip` crate brings a dozen others. `rawzip`
//! brings none, and would replace `Archive::read` and `entry`, which find and read the directory in 110 lines. What
//! makes the rest long would stay: every length that a file claims is held against what is there before anything is allocated,
//! members that overlap are counted together, and every error says what to do. A second reading of the same directory is not worth
//! a dependency. That changes if encrypted archives, archives in parts or other compressions are needed.
//!
//! A member that claims to unfold beyond the limits of `compress`, alone or with those before it, is refused unread; one that unfolds to another size or
//! another checksum than the directory says is refused when its end is reached.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Take, Write};
use std::path::Path;

use flate2::Crc;
use flate2::bufread::DeflateDecoder;

use super::compress::{self, DecompressBudget, MAX_RATIO, MAX_TOTAL, RATIO_FROM, Refusal};
use super::text::shown;
use bagwise_core::files::require_regular;
use bagwise_core::{Place, Result, human_bytes};

const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
const END_64: u32 = 0x0606_4b50;
const LOCATOR_64: u32 = 0x0706_4b50;

/// Directories of more members than this are not read: an archive of arrays has ten.
const MAX_MEMBERS: u64 = 10_000;

/// Bytes of a member's name.
const MAX_NAME: usize = 300;

/// A file in the archive.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) name: String,
    deflated: bool,
    crc: u32,
    compressed: u64,
    pub(crate) size: u64,
    at: u64,
}

/// An archive that is being read.
pub(crate) struct Archive {
    file: File,
    pub(crate) members: Vec<Member>,
    /// Members may lie over each other, so that the length of the file does not bound them.
    room: DecompressBudget,
}

fn damaged(what: impl Into<String>) -> io::Error {
    Refusal::error(format!("the zip archive is damaged: {}", what.into()), "copy or download the file again")
}

fn u16_at(bytes: &[u8], at: usize) -> io::Result<u16> {
    let piece = bytes.get(at..at + 2).ok_or_else(|| damaged("its directory is truncated"))?;
    Ok(u16::from_le_bytes([piece[0], piece[1]]))
}

fn u32_at(bytes: &[u8], at: usize) -> io::Result<u32> {
    Ok(u32::from(u16_at(bytes, at)?) | u32::from(u16_at(bytes, at + 2)?) << 16)
}

fn u64_at(bytes: &[u8], at: usize) -> io::Result<u64> {
    Ok(u64::from(u32_at(bytes, at)?) | u64::from(u32_at(bytes, at + 4)?) << 32)
}

impl Archive {
    /// Opens an archive and reads its directory.
    pub(crate) fn open(path: &Path) -> Result<Archive> {
        let explain = |e| compress::explain(Place::of(path.display().to_string()), e);
        require_regular(path)?;
        let mut file = File::open(path).map_err(explain)?;
        super::refuse_packed(path, &mut file)?;
        Archive::read(file).map_err(explain)
    }

    fn read(mut file: File) -> io::Result<Archive> {
        let length = file.seek(SeekFrom::End(0))?;
        // The end record stands last, with a comment of at most 65,535 bytes behind it.
        let tail_at = length.saturating_sub(22 + 65_535);
        let tail = read_at(&mut file, tail_at, length - tail_at)?;
        let is_end = |&at: &usize| tail[at..at + 4] == END.to_le_bytes();
        let end = (0..(tail.len() + 1).saturating_sub(22))
            .rev()
            .find(is_end)
            .ok_or_else(|| damaged("it has no directory at its end"))?;
        let mut count = u64::from(u16_at(&tail, end + 10)?);
        let mut size = u64::from(u32_at(&tail, end + 12)?);
        let mut at = u64::from(u32_at(&tail, end + 16)?);
        if u16_at(&tail, end + 4)? != u16_at(&tail, end + 6)? {
            return Err(Refusal::error("the zip archive is one of several parts", "join the parts first"));
        }
        if count == 0xffff || size == 0xffff_ffff || at == 0xffff_ffff {
            // The large form: a locator stands right before, and says where the large record is.
            let locator = end.checked_sub(20).filter(|&l| tail[l..l + 4] == LOCATOR_64.to_le_bytes());
            if let Some(locator) = locator {
                let record_at = u64_at(&tail, locator + 8)?;
                let record = read_at(&mut file, record_at, 56)?;
                if u32_at(&record, 0)? != END_64 {
                    return Err(damaged("its zip64 directory is not where it should be"));
                }
                count = u64_at(&record, 32)?;
                size = u64_at(&record, 40)?;
                at = u64_at(&record, 48)?;
            }
        }
        if count > MAX_MEMBERS {
            return Err(Refusal::error(
                format!("the zip archive has {count} members; at most {MAX_MEMBERS} are read"),
                "write only the arrays, with numpy.savez",
            ));
        }
        if at.checked_add(size).is_none_or(|end| end > length) {
            return Err(damaged("its directory lies outside the file"));
        }
        let directory = read_at(&mut file, at, size)?;
        let mut members: Vec<Member> = Vec::new();
        let mut next = 0;
        for _ in 0..count {
            let (member, after) = entry(&directory, next)?;
            if members.iter().any(|m| m.name == member.name) {
                return Err(damaged(format!("it contains '{}' twice", shown(member.name.as_bytes()))));
            }
            next = after;
            members.push(member);
        }
        Ok(Archive { file, members, room: DecompressBudget::of(length) })
    }

    /// The bytes of a member, decompressed as they are read; the end is only reached if they are whole.
    pub(crate) fn member(&mut self, member: &Member) -> io::Result<Content<'_>> {
        let name = shown(member.name.as_bytes());
        let ratio = member.size / member.compressed.max(1);
        if member.size > MAX_TOTAL || (member.size > RATIO_FROM && ratio > MAX_RATIO) {
            return Err(Refusal::error(
                format!(
                    "{} of '{name}' would expand to {}: a decompression bomb?",
                    human_bytes(member.compressed),
                    human_bytes(member.size)
                ),
                "if you trust the file, write it uncompressed with numpy.savez",
            ));
        }
        if !self.room.take(member.size) {
            return Err(Refusal::error(
                format!(
                    "with '{name}', the archive would expand to more than 250 times its size: a decompression bomb?"
                ),
                "if you trust the file, write it uncompressed with numpy.savez",
            ));
        }
        if !member.deflated && member.size != member.compressed {
            return Err(damaged(format!("the sizes of '{name}' contradict each other")));
        }
        let header = read_at(&mut self.file, member.at, 30)?;
        if u32_at(&header, 0)? != LOCAL {
            return Err(damaged(format!("'{name}' is not where the directory says")));
        }
        let skip = u64::from(u16_at(&header, 26)?) + u64::from(u16_at(&header, 28)?);
        let start = member.at + 30 + skip;
        let length = self.file.seek(SeekFrom::End(0))?;
        if start.checked_add(member.compressed).is_none_or(|end| end > length) {
            return Err(damaged(format!("'{name}' is truncated")));
        }
        self.file.seek(SeekFrom::Start(start))?;
        let raw = BufReader::with_capacity(1 << 16, &self.file).take(member.compressed);
        let inner =
            if member.deflated { Inner::Deflated(DeflateDecoder::new(raw)) } else { Inner::Stored(raw) };
        Ok(Content { inner, name, left: member.size, crc: Crc::new(), wanted: member.crc })
    }
}

/// Reads a piece of the file, which must be there.
fn read_at(file: &mut File, at: u64, length: u64) -> io::Result<Vec<u8>> {
    let there = file.seek(SeekFrom::End(0))?;
    if at.checked_add(length).is_none_or(|end| end > there) {
        return Err(damaged("it points beyond its end"));
    }
    file.seek(SeekFrom::Start(at))?;
    let mut bytes = vec![0; length as usize];
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// An entry of the directory, and where the next one starts.
fn entry(directory: &[u8], at: usize) -> io::Result<(Member, usize)> {
    if u32_at(directory, at)? != CENTRAL {
        return Err(damaged("its directory cannot be read"));
    }
    let flags = u16_at(directory, at + 8)?;
    let method = u16_at(directory, at + 10)?;
    let crc = u32_at(directory, at + 16)?;
    let (mut compressed, mut size) =
        (u64::from(u32_at(directory, at + 20)?), u64::from(u32_at(directory, at + 24)?));
    let lengths = [28, 30, 32].map(|field| u16_at(directory, at + field).map(usize::from));
    let [name_length, extra_length, comment_length] = lengths;
    let (name_length, extra_length, comment_length) = (name_length?, extra_length?, comment_length?);
    let mut local = u64::from(u32_at(directory, at + 42)?);
    let piece = |from: usize, length: usize| {
        directory.get(from..from + length).ok_or_else(|| damaged("its directory is truncated"))
    };
    let name = String::from_utf8_lossy(piece(at + 46, name_length)?).into_owned();
    if name.len() > MAX_NAME {
        return Err(damaged("a member's name is too long"));
    }
    // Sizes that do not fit stand in an extra field, in this order, each only if it does not fit.
    let mut extra = piece(at + 46 + name_length, extra_length)?;
    while extra.len() >= 4 {
        let (id, length) = (u16_at(extra, 0)?, usize::from(u16_at(extra, 2)?));
        let body = extra.get(4..4 + length).ok_or_else(|| damaged("its directory is truncated"))?;
        if id == 1 {
            let mut field = 0;
            for value in [&mut size, &mut compressed, &mut local] {
                if *value == 0xffff_ffff {
                    *value = u64_at(body, field)?;
                    field += 8;
                }
            }
        }
        extra = &extra[4 + length..];
    }
    if flags & 1 != 0 {
        return Err(Refusal::error(
            format!("'{}' is encrypted", shown(name.as_bytes())),
            "write the archive without a password",
        ));
    }
    let deflated = match method {
        0 => false,
        8 => true,
        _ => {
            return Err(Refusal::error(
                format!("'{}' is compressed with method {method}", shown(name.as_bytes())),
                "store or deflate it, as numpy.savez and numpy.savez_compressed do",
            ));
        }
    };
    let member = Member { name, deflated, crc, compressed, size, at: local };
    Ok((member, at + 46 + name_length + extra_length + comment_length))
}

enum Inner<R> {
    Stored(Take<R>),
    Deflated(DeflateDecoder<Take<R>>),
}

/// The bytes of a member.
pub(crate) struct Content<'a> {
    inner: Inner<BufReader<&'a File>>,
    name: String,
    left: u64,
    crc: Crc,
    wanted: u32,
}

impl Read for Content<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let most = buf.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        if most == 0 {
            return Ok(0);
        }
        let read = match &mut self.inner {
            Inner::Stored(inner) => inner.read(&mut buf[..most]),
            Inner::Deflated(inner) => inner.read(&mut buf[..most]),
        };
        let n = read.map_err(|e| match e.raw_os_error() {
            Some(_) => e,
            None => damaged(format!("'{}' cannot be decompressed", self.name)),
        })?;
        if n == 0 {
            return Err(damaged(format!("'{}' is shorter than the directory says", self.name)));
        }
        self.crc.update(&buf[..n]);
        self.left -= n as u64;
        if self.left == 0 && self.crc.sum() != self.wanted {
            return Err(damaged(format!("the checksum of '{}' is wrong", self.name)));
        }
        Ok(n)
    }
}

/// An archive that is being written, its members stored as they are, dated 1 January 1980: equal contents make equal files.
pub(crate) struct Pack<'w> {
    out: &'w mut dyn Write,
    at: u64,
    directory: Vec<u8>,
    count: u64,
    /// From this number on sizes and places take the long form.
    large: u64,
}

impl<'w> Pack<'w> {
    pub(crate) fn new(out: &'w mut dyn Write) -> Pack<'w> {
        Pack { out, at: 0, directory: Vec::new(), count: 0, large: 0xffff_ffff }
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    /// Adds a member of `size` bytes, which `fill` writes: once for the checksum that stands before, once for good.
    pub(crate) fn member(
        &mut self,
        name: &str,
        size: u64,
        fill: impl Fn(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut summed = Summed { out: &mut io::sink(), crc: Crc::new(), written: 0 };
        fill(&mut summed)?;
        let (crc, written) = (summed.crc.sum(), summed.written);
        if written != size {
            return Err(io::Error::other(format!("a member of {size} bytes came out as {written}")));
        }
        let large = size >= self.large;
        let start = self.at;
        let short = |value: u64| u32::try_from(value).unwrap_or(u32::MAX).to_le_bytes();
        let too_long = |_| io::Error::other("a member's name is too long for a zip archive");
        let name_length = u16::try_from(name.len()).map_err(too_long)?.to_le_bytes();
        let version: u16 = if large { 45 } else { 20 };
        // The name is UTF-8 (bit 11); stored; 1 January 1980; the checksum.
        let mut common = version.to_le_bytes().to_vec();
        common.extend([0, 0x08, 0, 0, 0, 0, 0x21, 0]);
        common.extend(crc.to_le_bytes());
        let shown_size = if large { u32::MAX.to_le_bytes() } else { short(size) };

        let mut header = LOCAL.to_le_bytes().to_vec();
        header.extend(&common);
        header.extend(shown_size);
        header.extend(shown_size);
        header.extend(name_length);
        let mut extra = Vec::new();
        if large {
            extra.extend([1, 0, 16, 0]);
            extra.extend(size.to_le_bytes());
            extra.extend(size.to_le_bytes());
        }
        header.extend((extra.len() as u16).to_le_bytes());
        header.extend(name.as_bytes());
        header.extend(&extra);
        self.put(&header)?;

        let mut summed = Summed { out: &mut *self.out, crc: Crc::new(), written: 0 };
        fill(&mut summed)?;
        if (summed.crc.sum(), summed.written) != (crc, size) {
            return Err(io::Error::other("what is written changed while it was written"));
        }
        self.at += size;

        let mut extra = Vec::new();
        let far = start >= self.large;
        if large || far {
            let sizes = if large { 16u16 } else { 0 };
            extra.extend([1, 0]);
            extra.extend((sizes + if far { 8 } else { 0 }).to_le_bytes());
            for _ in 0..sizes / 8 {
                extra.extend(size.to_le_bytes());
            }
            if far {
                extra.extend(start.to_le_bytes());
            }
        }
        let entry = &mut self.directory;
        entry.extend(CENTRAL.to_le_bytes());
        entry.extend(if large || far { [45, 0] } else { [20, 0] });
        entry.extend(&common);
        entry.extend(shown_size);
        entry.extend(shown_size);
        entry.extend(name_length);
        entry.extend((extra.len() as u16).to_le_bytes());
        entry.extend([0; 10]); // no comment, part 0, no attributes
        entry.extend(if far { u32::MAX.to_le_bytes() } else { short(start) });
        entry.extend(name.as_bytes());
        entry.extend(&extra);
        self.count += 1;
        Ok(())
    }

    /// Writes the directory, and a remark at the end.
    pub(crate) fn finish(mut self, remark: &str) -> io::Result<()> {
        let (start, size, count) = (self.at, self.directory.len() as u64, self.count);
        let directory = std::mem::take(&mut self.directory);
        self.put(&directory)?;
        let large = start >= self.large || size >= self.large || count >= 0xffff;
        let mut end = Vec::new();
        if large {
            let record = self.at;
            end.extend(END_64.to_le_bytes());
            end.extend(44u64.to_le_bytes());
            end.extend([45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
            for value in [count, count, size, start] {
                end.extend(value.to_le_bytes());
            }
            end.extend(LOCATOR_64.to_le_bytes());
            end.extend([0; 4]);
            end.extend(record.to_le_bytes());
            end.extend([1, 0, 0, 0]);
        }
        let few = if large { u16::MAX } else { count as u16 }.to_le_bytes();
        let short = |value: u64| if large { u32::MAX } else { value as u32 }.to_le_bytes();
        end.extend(END.to_le_bytes());
        end.extend([0; 4]);
        end.extend(few);
        end.extend(few);
        end.extend(short(size));
        end.extend(short(start));
        end.extend((remark.len() as u16).to_le_bytes());
        end.extend(remark.as_bytes());
        self.put(&end)
    }
}

/// Counts and sums what goes through.
struct Summed<'w> {
    out: &'w mut dyn Write,
    crc: Crc,
    written: u64,
}

impl Write for Summed<'_> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let n = self.out.write(buf)?;
        self.crc.update(&buf[..n]);
        self.written += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pack(large: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut pack = Pack { large, ..Pack::new(&mut bytes) };
        for (name, text) in [("a", "some text"), ("bé", ""), ("c", "more of the text")] {
            pack.member(name, text.len() as u64, |out| out.write_all(text.as_bytes())).unwrap();
        }
        pack.finish("").unwrap();
        bytes
    }

    fn unpack(bytes: &[u8]) -> io::Result<Vec<(String, String)>> {
        let mut file = tempfile::tempfile()?;
        file.write_all(bytes)?;
        let mut archive = Archive::read(file)?;
        let members = archive.members.clone();
        let read = |member: Member| {
            let mut text = String::new();
            archive.member(&member)?.read_to_string(&mut text)?;
            Ok((member.name, text))
        };
        members.into_iter().map(read).collect()
    }

    /// Sizes of more than 32 bits have a form of their own, here taken for small ones.
    #[test]
    fn both_forms_come_back() {
        let expected = [("a", "some text"), ("bé", ""), ("c", "more of the text")];
        let expected = expected.map(|(n, t)| (n.to_string(), t.to_string()));
        let lengths = [u64::from(u32::MAX), 50, 10, 0].map(|large| {
            let bytes = pack(large);
            assert_eq!(unpack(&bytes).unwrap(), expected, "{large}");
            bytes.len()
        });
        assert!(lengths.is_sorted_by(|a, b| a < b), "{lengths:?}");
    }

    #[test]
    fn no_cut_and_no_flip_goes_unnoticed_or_breaks_the_reader() {
        for large in [u64::from(u32::MAX), 0] {
            let whole = pack(large);
            let good = unpack(&whole).unwrap();
            for cut in 0..whole.len() {
                assert!(unpack(&whole[..cut]).is_err(), "cut at {cut}");
            }
            for at in 0..whole.len() {
                let mut flipped = whole.clone();
                flipped[at] ^= 0xff;
                // Dates and attributes mean nothing here; what is in the members must be right.
                if let Ok(found) = unpack(&flipped) {
                    let texts =
                        |all: &[(String, String)]| all.iter().map(|m| m.1.clone()).collect::<Vec<_>>();
                    assert!(texts(&found) == texts(&good) || found.len() < good.len(), "byte {at}");
                }
            }
        }
    }
}
