//! Memory for what a file claims to contain: sizes are multiplied with a check, and a failed allocation is an error,
//! not the end of the process. Every allocation whose size is read from input goes through [`room`] or [`filled`].

use crate::error::human_bytes;
use crate::message::Message;

/// What would help if memory runs out.
const REMEDY: &str = "close other programs, or use a smaller file";

/// Memory that could not be allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory {
    bytes: u64,
}

impl OutOfMemory {
    /// What was requested, and what would help.
    pub fn parts(self) -> (String, Message) {
        let asked = match self.bytes {
            u64::MAX => "more memory than any computer has".into(),
            bytes => format!("{} of memory", human_bytes(bytes)),
        };
        (format!("reading it takes {asked}, which the system could not allocate"), REMEDY.into())
    }
}

/// The product of sizes, if it does not overflow.
pub fn product(sizes: &[usize]) -> Result<usize, OutOfMemory> {
    let all = sizes.iter().try_fold(1usize, |product, &size| product.checked_mul(size));
    all.ok_or(OutOfMemory { bytes: u64::MAX })
}

/// An empty list with room for `count` items.
pub fn room<T>(count: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut list = Vec::new();
    more_room(&mut list, count)?;
    Ok(list)
}

/// Room for `count` more items in a list.
pub fn more_room<T>(list: &mut Vec<T>, count: usize) -> Result<(), OutOfMemory> {
    let bytes = count.checked_mul(size_of::<T>()).map_or(u64::MAX, |bytes| bytes as u64);
    list.try_reserve_exact(count).map_err(|_| OutOfMemory { bytes })
}

/// A list of `count` equal items.
pub fn filled<T: Clone>(count: usize, item: T) -> Result<Vec<T>, OutOfMemory> {
    let mut list = room(count)?;
    list.resize(count, item);
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_had_is_an_error() {
        assert_eq!(filled(3, 7u8), Ok(vec![7, 7, 7]));
        assert_eq!(product(&[3, 4]), Ok(12));
        assert!(product(&[usize::MAX, 2]).is_err());
        for count in [usize::MAX, usize::MAX / 8, isize::MAX as usize] {
            let (found, remedy) = room::<f64>(count).unwrap_err().parts();
            assert!(found.ends_with("which the system could not allocate"), "{found}");
            assert_eq!(remedy.to_string(), REMEDY);
        }
    }
}
