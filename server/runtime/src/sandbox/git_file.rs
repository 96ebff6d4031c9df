//! Parses `.git` files, which name the folder of a repository, as Git does.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Size of the largest `.git` file that Git reads.
pub(super) const MAX_GIT_FILE_BYTES: u64 = 1 << 20;

/// Prefix of the file. Git accepts no variation, not even in white space.
const START: &[u8] = b"gitdir: ";

/// Returns the folder that the text of a `.git` file in `folder` names. `None` if Git rejects the text. A file that is
/// reached through a symlink is resolved relative to the folder of the symlink.
pub(super) fn named_folder(text: &[u8], folder: &Path) -> Option<PathBuf> {
    let named = path_in(text.strip_prefix(START)?);
    (!named.as_os_str().is_empty()).then(|| folder.join(named))
}

/// Returns the folder that the text of a `commondir` file in a repository names.
pub(super) fn common_folder(text: &[u8], repository: &Path) -> PathBuf {
    repository.join(path_in(text))
}

/// Strips line ends at the end, as Git does, and cuts the path at the first zero byte.
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
            // Spaces are part of the name.
            (b"gitdir:  x \n", b"/w/ x "),
            (b"gitdir: x\t", b"/w/x\t"),
            // A line end in the middle, bytes that are not UTF-8, and text after a zero byte.
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
