//! What a `.git` file says: the folder of the repository, as Git reads it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Largest `.git` file that Git reads.
pub(super) const MAX_GIT_FILE_BYTES: u64 = 1 << 20;

/// What the file starts with. Git takes nothing else, not even other spaces.
const START: &[u8] = b"gitdir: ";

/// Returns the folder that the text of a `.git` file in a folder names, or nothing if Git refuses the text. A file that is reached
/// by a link counts for the folder of the link.
pub(super) fn named_folder(text: &[u8], folder: &Path) -> Option<PathBuf> {
    let named = path_in(text.strip_prefix(START)?);
    (!named.as_os_str().is_empty()).then(|| folder.join(named))
}

/// Returns the folder that the text of a `commondir` file in a repository names.
pub(super) fn common_folder(text: &[u8], repository: &Path) -> PathBuf {
    repository.join(path_in(text))
}

/// Git takes away line ends at the end and nothing else, and a path ends at the first zero byte.
fn path_in(text: &[u8]) -> &Path {
    let end = text.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r')).map_or(0, |last| last + 1);
    let path = text[..end].split(|byte| *byte == 0).next().unwrap_or_default();
    Path::new(OsStr::from_bytes(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_git_file_is_read_as_git_reads_it() {
        let named = |text: &[u8]| named_folder(text, Path::new("/w"));
        for (text, folder) in [
            (&b"gitdir: ../x"[..], &b"/w/../x"[..]),
            (b"gitdir: x\r\n\n", b"/w/x"),
            // Spaces belong to the name.
            (b"gitdir:  x \n", b"/w/ x "),
            (b"gitdir: x\t", b"/w/x\t"),
            // A line end within it, bytes that are no text, and what lies behind a zero byte.
            (b"gitdir: x\ny\n", b"/w/x\ny"),
            (b"gitdir: \xff\n", b"/w/\xff"),
            (b"gitdir: x\0y\n", b"/w/x"),
            (b"gitdir: x\n\0", b"/w/x\n"),
            (b"gitdir: /x\n", b"/x"),
        ] {
            assert_eq!(named(text), Some(PathBuf::from(OsStr::from_bytes(folder))), "{text:?}");
        }
        for text in [&b"gitdir:x"[..], b" gitdir: x", b"gitdir: \n", b"gitdir: \0x", b"GITDIR: x", b""] {
            assert_eq!(named(text), None, "{text:?}");
        }
        assert_eq!(common_folder(b"../.. \n", Path::new("/w")), Path::new("/w/../.. "));
    }
}
