//! Data in pieces of whole bags, so that memory does not grow with the length of a table. Memory holds one piece, the
//! largest bag, and sixteen bytes for every bag so far.
//!
//! The rows of a bag must be adjacent. A bag that reappears after other bags is an error that names it: its first rows
//! are gone by then, and a prediction from the rest alone would be wrong.

use std::cell::RefCell;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;
use std::rc::Rc;

use super::{ReadOptions, Reader, reader_of};
use bagwise_core::{Dataset, Error, Message, Place, Result, Setting};

/// Instances that a piece has, about: enough to keep threads busy.
pub const PIECE: usize = 16_384;

/// Takes the pieces of a data set one after the other.
pub type TakePiece<'a> = &'a mut dyn FnMut(Dataset) -> Result<()>;

/// Takes the name of a bag, the digest of the map that it was mapped by (empty if the file does not say), and the columns and values of
/// its map.
pub(crate) type TakeMap<'t> = &'t mut dyn FnMut(&str, &str, &[u32], &[f64]) -> Result<()>;

/// Whether what a user typed can be read in pieces with these options.
pub fn can_stream(name: &str, options: &ReadOptions) -> Result<bool> {
    Ok(streaming(name, options)?.is_some())
}

/// Reads a data set in pieces of whole bags, in the order of the file: about `rows` instances each, or one longer bag. Name
/// the features, because what a column holds cannot be seen from a piece. The pieces together are what [`read`](super::read) reads, if rows of a bag are adjacent.
pub fn read_pieces(name: &str, options: &ReadOptions, rows: usize, take: TakePiece<'_>) -> Result<()> {
    let Some(reader) = streaming(name, options)? else {
        return Err(Error::data(
            Place::of(name),
            "these data cannot be read in pieces",
            Message::from(
                "give a CSV or Parquet file or a folder of .npy files, without sampling instances; or read everything",
            )
            .with([Setting::ReadWhole]),
        ));
    };
    reader.read_pieces(Path::new(name), options, rows.max(1), take)
}

fn streaming(name: &str, options: &ReadOptions) -> Result<Option<&'static dyn Reader>> {
    let path = Path::new(name);
    // Which instances of a bag are drawn follows from its number among all bags.
    if options.max_instances.is_some() || name.starts_with("synthetic:") || !path.exists() {
        return Ok(None);
    }
    Ok(Some(reader_of(path, options)?).filter(|reader| reader.streams()))
}

/// The bags that went by, by a hash of 128 bits of their ids: among a billion bags, two share one with a chance below
/// 10^-20.
#[derive(Clone, Debug, Default)]
pub(crate) struct SeenBags(Rc<RefCell<HashSet<u128>>>);

impl SeenBags {
    /// Notes that a bag begins; false if it went by before.
    pub(crate) fn begin(&self, id: &str) -> bool {
        let half = |salt: u8| {
            let mut hasher = DefaultHasher::new();
            (salt, id).hash(&mut hasher);
            u128::from(hasher.finish())
        };
        self.0.borrow_mut().insert(half(0) << 64 | half(1))
    }
}

/// What to do about a bag that comes back.
pub(crate) fn comes_back(id: &str) -> (String, Message) {
    (
        format!("bag '{id}' reappears after other bags"),
        Message::from("sort the rows by bag, or read everything into memory").with([Setting::ReadWhole]),
    )
}
