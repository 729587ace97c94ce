//! Bytes of the fuzzer as decisions: each is used once, and when they are used up every decision is the first one. Small
//! changes of the bytes are then small changes of what is made of them.

/// What is left of the bytes.
pub(crate) struct Choices<'b> {
    bytes: &'b [u8],
}

impl<'b> Choices<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Choices<'b> {
        Choices { bytes }
    }

    /// The next byte.
    pub(crate) fn byte(&mut self) -> u8 {
        match self.bytes.split_first() {
            Some((&first, rest)) => {
                self.bytes = rest;
                first
            }
            None => 0,
        }
    }

    /// A number below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        usize::from(self.byte()) % n
    }

    /// One of several.
    pub(crate) fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// True once in `n` times: for what should be rare.
    pub(crate) fn rarely(&mut self, n: u8) -> bool {
        self.byte() % n == n - 1
    }

    /// A whole number: mostly small, sometimes one that tempts to overflow.
    pub(crate) fn number(&mut self) -> u64 {
        const EDGES: [u64; 8] =
            [0x7f, 0xffff, 0x7fff_ffff, 0xffff_ffff, 1 << 40, i64::MAX as u64, 1 << 63, u64::MAX];
        if self.rarely(32) { self.of(&EDGES) } else { u64::from(self.byte() % 9) }
    }

    /// A number for a cell.
    pub(crate) fn value(&mut self) -> f64 {
        const EDGES: [f64; 10] = [0.0, -0.0, 1.0, -1.0, 1e-300, 1e300, -1e300, f64::MIN_POSITIVE, 1e16, 0.1];
        match self.byte() {
            b @ 0..=9 => EDGES[usize::from(b)],
            b => f64::from(b) / 16.0 - 8.0,
        }
    }

    /// Bytes, as many as there are up to `most`.
    pub(crate) fn some(&mut self, most: usize) -> &'b [u8] {
        let (piece, rest) = self.bytes.split_at(most.min(self.bytes.len()));
        self.bytes = rest;
        piece
    }

    /// Whether all bytes are used.
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}
