//! Encodes and decodes the numbers of the index: unsigned, seven bits in each byte, the lowest first (LEB128).

/// Appends a number.
pub(super) fn push(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Decodes an index. Holds the bytes that were not read yet.
#[derive(Debug)]
pub(super) struct Cursor<'a>(pub(super) &'a [u8]);

/// Error message for an index that ends too early.
const CUT: &str = "it is incomplete";

impl<'a> Cursor<'a> {
    pub(super) fn number(&mut self) -> Result<u64, &'static str> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.0.split_first().ok_or(CUT)?;
            self.0 = rest;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err("a number is too long")
    }

    /// Reads a number of entries. Each entry takes at least one byte, so a greater number than there are bytes left is an
    /// error. This keeps the caller from allocating memory for entries that cannot exist.
    pub(super) fn count(&mut self, max: usize) -> Result<usize, &'static str> {
        let count = self.number()?;
        if count > max as u64 {
            return Err("it has more entries than it may have");
        }
        if count > self.0.len() as u64 {
            return Err(CUT);
        }
        Ok(count as usize)
    }

    pub(super) fn bytes(&mut self, count: usize) -> Result<&'a [u8], &'static str> {
        let (bytes, rest) = self.0.split_at_checked(count).ok_or(CUT)?;
        self.0 = rest;
        Ok(bytes)
    }

    pub(super) fn fixed<const N: usize>(&mut self) -> Result<[u8; N], &'static str> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or(CUT)?;
        self.0 = rest;
        Ok(*bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_back() {
        let numbers = [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX - 1, u64::MAX];
        let mut bytes = Vec::new();
        for number in numbers {
            push(&mut bytes, number);
        }
        let mut cursor = Cursor(&bytes);
        for number in numbers {
            assert_eq!(cursor.number(), Ok(number));
        }
        assert!(cursor.number().is_err());
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for bytes in [&[0x80][..], &[0xff; 10], &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]] {
            assert!(Cursor(bytes).number().is_err(), "{bytes:?}");
        }
        assert!(Cursor(&[5, 0, 0]).count(10).is_err(), "five things do not fit into two bytes");
        assert!(Cursor(&[2, 0, 0]).count(1).is_err());
    }
}
