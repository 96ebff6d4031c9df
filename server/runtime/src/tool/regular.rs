//! Opens files that models name, without waiting for anybody.

use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Opens a file for reading; `None` if it is no regular one. A pipe that takes the place of a file between two looks would
/// be waited for until somebody writes into it, so what is looked at is what was opened.
pub(super) fn open(path: &Path) -> io::Result<Option<File>> {
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)?;
    Ok(file.metadata()?.is_file().then_some(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_files_is_opened() {
        let folder = tempfile::tempdir().expect("a folder");
        let (pipe, file) = (folder.path().join("pipe"), folder.path().join("file"));
        std::fs::write(&file, "x").expect("writes");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).expect("a pipe");
        assert!(open(&file).expect("opens").is_some());
        assert!(open(&pipe).expect("opens").is_none());
        assert!(open(folder.path()).expect("opens").is_none());
        assert!(open(Path::new("/dev/null")).expect("opens").is_none());
        assert!(open(&folder.path().join("none")).is_err());
    }
}
