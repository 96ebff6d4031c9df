//! Dumps of bytes, as `xxd`, `hexdump -C` and `od -t x1z` print them.

use super::view::View;

/// Fewest lines of a dump.
const MIN_LINES: usize = 2;

/// Most bytes in a line of a dump.
const MAX_LINE_BYTES: usize = 32;

/// A line of a dump: its bytes, where each is written, and where its characters are shown.
struct DumpLine {
    bytes: Vec<u8>,
    pairs: Vec<usize>,
    pairs_end: usize,
    shown: usize,
}

/// Decodes the dumps of a text: once with the place of each byte among the pairs of digits, once among the characters that
/// are shown beside them.
pub(crate) fn decode(text: &str) -> Option<(View, View)> {
    let mut lines = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if let Some(mut read) = read(line.trim_end_matches(['\n', '\r'])) {
            read.pairs.iter_mut().for_each(|at| *at += start);
            read.pairs_end += start;
            read.shown += start;
            lines.push(read);
        }
        start += line.len();
    }
    if lines.len() < MIN_LINES {
        return None;
    }
    let (mut pairs, mut shown) = (View::default(), View::default());
    for line in lines {
        for (at, byte) in line.bytes.iter().enumerate() {
            let is_text = byte.is_ascii_graphic() || matches!(byte, b' ' | b'\n' | b'\t');
            let decoded = if is_text { char::from(*byte) } else { '\u{fffd}' };
            let end = line.pairs.get(at + 1).copied().unwrap_or(line.pairs_end);
            pairs.put(decoded, line.pairs[at]..end);
            shown.put(decoded, line.shown + at..line.shown + at + 1);
        }
    }
    Some((pairs, shown))
}

/// Reads a line of a dump: an offset, pairs of digits, and the characters that they stand for.
fn read(line: &str) -> Option<DumpLine> {
    let bytes = line.as_bytes();
    let indent = bytes.iter().take_while(|byte| **byte == b' ').count();
    let offset = bytes[indent..].iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    if !(4..=16).contains(&offset) {
        return None;
    }
    let mut at = indent + offset;
    at += usize::from(bytes.get(at) == Some(&b':'));
    if bytes.get(at) != Some(&b' ') {
        return None;
    }
    let mut read = DumpLine { bytes: Vec::new(), pairs: Vec::new(), pairs_end: 0, shown: 0 };
    while read.bytes.len() < MAX_LINE_BYTES {
        let gap = bytes[at..].iter().take(3).take_while(|byte| **byte == b' ').count();
        let Some(pair) = bytes.get(at + gap..at + gap + 2).filter(|pair| pair.iter().all(u8::is_ascii_hexdigit)) else {
            break;
        };
        // The characters begin after a wider gap than pairs have.
        if gap > 2 {
            break;
        }
        let byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
        read.bytes.push(byte);
        read.pairs.push(at + gap);
        at += gap + 2;
        read.pairs_end = at;
        if read.shown_at(bytes, at).is_some() {
            break;
        }
    }
    read.shown = read.shown_at(bytes, at)?;
    Some(read)
}

impl DumpLine {
    /// Returns where the characters of all bytes are shown, if they are shown after a place.
    fn shown_at(&self, line: &[u8], at: usize) -> Option<usize> {
        let gap = line[at..].iter().take_while(|byte| **byte == b' ').count();
        let start = at
            + gap
            + usize::from(matches!(line.get(at + gap), Some(b'|' | b'>')) && line.len() > at + gap + self.bytes.len());
        let shown = line.get(start..start + self.bytes.len())?;
        let fits = |(shown, byte): (&u8, &u8)| {
            if byte.is_ascii_graphic() || *byte == b' ' { shown == byte } else { *shown == b'.' }
        };
        let is_end = line.len() - start - self.bytes.len() <= 1;
        (gap > 0 && is_end && self.bytes.len() > 1 && shown.iter().zip(&self.bytes).all(fits)).then_some(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dumps_are_decoded_in_both_columns() {
        for text in [
            "00000000: 4b45 593d 7661 6c75 6531 3233 3435 3637  KEY=value1234567\n00000010: 380a                                     8.\n",
            "00000000  4b 45 59 3d 76 61 6c 75  65 31 32 33 34 35 36 37  |KEY=value1234567|\n00000010  38 0a                                             |8.|\n",
            "0000000 4b 45 59 3d 76 61 6c 75 65 31 32 33 34 35 36 37  >KEY=value1234567<\n0000020 38 0a                                            >8.<\n",
        ] {
            let (pairs, shown) = decode(text).expect("a dump");
            assert_eq!(pairs.text(), "KEY=value12345678\n");
            assert_eq!(shown.text(), pairs.text());
            let spans = shown.raw(&(4..17));
            assert_eq!(spans.iter().map(|span| &text[span.clone()]).collect::<String>(), "value12345678");
            assert_eq!(pairs.raw(&(0..16)).len(), 1);
        }
        assert!(decode("0000: no dump\n0001: at all\n").is_none());
    }
}
