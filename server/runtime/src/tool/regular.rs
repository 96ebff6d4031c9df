//! Opens files that models name, without waiting for anybody.

use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Opens a file for reading; `None` if it is no regular one, or one of the kernel's about processes: the server would tell of
/// itself there, such as the keys in its environment, which it keeps from others. A pipe that takes the place of a file between two looks would
/// be waited for until somebody writes into it, so what is looked at is what was opened.
pub(crate) fn open(path: &Path) -> io::Result<Option<File>> {
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)?;
    Ok((file.metadata()?.is_file() && !is_about_processes(&file)?).then_some(file))
}

#[cfg(target_os = "linux")]
fn is_about_processes(file: &File) -> io::Result<bool> {
    Ok(rustix::fs::fstatfs(file)?.f_type == rustix::fs::PROC_SUPER_MAGIC)
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "the form that Linux needs")]
fn is_about_processes(_file: &File) -> io::Result<bool> {
    Ok(false)
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
        #[cfg(target_os = "linux")]
        assert!(open(Path::new("/proc/self/environ")).expect("opens").is_none());
    }
}
