//! FNV-1a: a checksum that is the same on every machine and in every version. It tells whether something changed by accident; it is no
//! protection against someone who wants to deceive.

/// What the checksum of nothing is.
pub const BEGIN: u64 = 0xcbf2_9ce4_8422_2325;

/// The checksum so far, and the next word. Each step is one to one, so that no single flipped bit goes unseen.
pub fn step(sum: u64, word: u64) -> u64 {
    (sum ^ word).wrapping_mul(0x0000_0100_0000_01b3)
}

/// The checksum of some bytes.
pub fn of_bytes(bytes: &[u8]) -> u64 {
    bytes.iter().fold(BEGIN, |sum, &byte| step(sum, u64::from(byte)))
}

#[cfg(test)]
mod tests {
    #[test]
    fn published_values() {
        // From the test vectors of the authors, Fowler, Noll and Vo.
        assert_eq!(super::of_bytes(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(super::of_bytes(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(super::of_bytes(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
