//! Halves of surrogate pairs in JSON texts.

/// Replaces escapes of half a surrogate pair by U+FFFD, which takes as many bytes. Programs in JavaScript write them when they cut a
/// text within a character; they are no valid JSON for others. Returns whether there was one.
pub(crate) fn mend_surrogates(json: &mut [u8]) -> bool {
    let mut has_mended = false;
    let mut at = 0;
    while let Some(found) = json.get(at..).and_then(|rest| memchr::memmem::find(rest, b"\\u")) {
        let start = at + found;
        at = start + 2;
        // An even number of backslashes in front of it are characters of their own.
        let slashes = json[..start].iter().rev().take_while(|byte| **byte == b'\\').count();
        if slashes % 2 == 1 {
            continue;
        }
        match escaped_unit(&json[start..]) {
            Some(0xd800..=0xdbff) if matches!(escaped_unit(&json[start + 6..]), Some(0xdc00..=0xdfff)) => {
                at = start + 12;
            }
            Some(0xd800..=0xdfff) => {
                json[start + 2..start + 6].copy_from_slice(b"fffd");
                has_mended = true;
            }
            _ => {}
        }
    }
    has_mended
}

/// Returns the UTF-16 code unit that a text begins with as an escape.
fn escaped_unit(json: &[u8]) -> Option<u16> {
    let digits = json.strip_prefix(b"\\u")?.get(..4)?;
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_surrogate_pairs_are_replaced() {
        let mended = |json: &str| {
            let mut bytes = json.as_bytes().to_vec();
            let has_mended = mend_surrogates(&mut bytes);
            (has_mended, String::from_utf8(bytes).expect("UTF-8"))
        };
        assert_eq!(mended(r#""a\ud83d b""#), (true, r#""a\ufffd b""#.to_owned()));
        assert_eq!(
            mended(r#""\uDE00\ud83d\ud83d\ude00\u001b""#),
            (true, r#""\ufffd\ufffd\ud83d\ude00\u001b""#.to_owned())
        );
        assert_eq!(mended(r#""\\ud83d \\\ud83d""#), (true, r#""\\ud83d \\\ufffd""#.to_owned()));
        for json in [r#""\ud83d\ude00""#, r#""\\ud83d""#, r#""\u00e9\ud8""#, r#""\ud83""#, "", "\\u", "\\"] {
            assert_eq!(mended(json), (false, json.to_owned()));
        }
    }
}
