//! Generates the ids and other arbitrary values of a session from one seed.

/// A pseudorandom number generator (SplitMix64).
///
/// It is implemented here because equal seeds must give equal bundles with every version of every dependency.
#[derive(Debug, Clone)]
pub(crate) struct Ids {
    state: u64,
}

impl Ids {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `bound`. `bound` is so small that the slight bias does not matter.
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        u32::try_from(self.next() % u64::from(bound)).expect("a remainder is below its divisor")
    }

    /// Returns `digits` hexadecimal digits, at most 16.
    pub(crate) fn hex(&mut self, digits: usize) -> String {
        let mut text = format!("{:016x}", self.next());
        text.truncate(digits);
        text
    }

    /// Returns a UUID of version 4, which traces and inference calls have.
    pub(crate) fn uuid_v4(&mut self) -> String {
        let (high, low) = (self.next(), self.next());
        Self::uuid(high, low, 4)
    }

    /// Returns a UUID of version 7, which threads, turns and items have.
    pub(crate) fn uuid_v7(&mut self, unix_ms: i64) -> String {
        let (high, low) = (self.next(), self.next());
        Self::uuid((unix_ms.cast_unsigned() << 16) | (high & 0xffff), low, 7)
    }

    fn uuid(high: u64, low: u64, version: u64) -> String {
        let (high, low) = ((high & !0xf000) | (version << 12), (low & !(0b11 << 62)) | (0b10 << 62));
        format!(
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xffff,
            low >> 48,
            low & 0xffff_ffff_ffff
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_decides_every_id() {
        let mut ids = Ids::new(7);
        assert_eq!(ids.hex(6), "63cbe1");
        assert_eq!(ids.uuid_v4(), Ids { ..Ids::new(7) }.skip(1).uuid_v4());
        let uuid = ids.uuid_v7(0x0123_4567_89ab);
        assert_eq!(uuid.len(), 36);
        assert!(uuid.starts_with("01234567-89ab-7"), "{uuid}");
        assert!(uuid[19..].starts_with(['8', '9', 'a', 'b']), "{uuid}");
    }

    impl Ids {
        fn skip(mut self, count: usize) -> Self {
            for _ in 0..count {
                self.next();
            }
            self
        }
    }
}
