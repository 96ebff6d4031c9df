//! Length of the common prefix of two byte strings, at memory speed.

/// Bytes that are compared at once. The block is large enough for a comparison at memory speed, and small enough that
/// the last block, which is compared byte by byte, takes no noticeable time.
const BLOCK: usize = 4096;

/// Returns the length of the common prefix of two byte strings.
pub(crate) fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let len = a.len().min(b.len());
    let (a, b) = (&a[..len], &b[..len]);
    let equal_blocks = a.chunks(BLOCK).zip(b.chunks(BLOCK)).take_while(|(a, b)| a == b).count();
    let start = (equal_blocks * BLOCK).min(len);
    start + a[start..].iter().zip(&b[start..]).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_plain_comparison() {
        for len in [0, 1, 5, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 7] {
            let a = vec![7; len];
            assert_eq!(common_prefix(&a, &a), len);
            assert_eq!(common_prefix(&a, &[a.clone(), vec![1]].concat()), len);
            for at in [0, len / 2, len.saturating_sub(1)] {
                let mut b = a.clone();
                if let Some(byte) = b.get_mut(at) {
                    *byte = 8;
                    assert_eq!(common_prefix(&a, &b), at);
                }
            }
        }
    }
}
