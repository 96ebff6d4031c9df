//! Shows paths such that different paths look different.

use std::fmt::Write;
use std::path::Path;

use crate::line::line;
use crate::scan::Usage;

/// Returns a path as one line that shows every byte of it. It is shown like a command, with `\x..` for invalid UTF-8,
/// and in quotes if it begins or ends with a space or is empty.
pub fn path(path: &Path) -> String {
    let mut shown = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        shown.push_str(&line(chunk.valid(), Usage::Command));
        for byte in chunk.invalid() {
            write!(shown, "\\x{byte:02x}").expect("writing to a string cannot fail");
        }
    }
    if shown.starts_with(' ') || shown.ends_with(' ') || shown.is_empty() { format!("\"{shown}\"") } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn every_byte_of_a_path_is_seen() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;

        let shown = |bytes: &[u8]| path(Path::new(OsStr::from_bytes(bytes)));
        assert_eq!(shown(b"/a\xff/b\nc"), "/a\\xff/b\u{23ce}c");
        assert_eq!(shown("/h\u{43e}me/x\u{200b}".as_bytes()), "/h\\u{43e}me/x\\u{200b}");
        assert_eq!(shown("/ünï/漢字 ok".as_bytes()), "/ünï/漢字 ok");
        assert_eq!((shown(b"a "), shown(b"")), ("\"a \"".into(), "\"\"".into()));
    }
}
