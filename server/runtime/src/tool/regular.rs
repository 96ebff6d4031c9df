//! Opens files that models name, without blocking.

use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::sandbox::Confinement;

/// Opens a file for reading. Returns `None` if it is not a regular file, or if it is a file of `/proc` about processes:
/// through it the server would reveal its own secrets, such as keys in its environment. Fails for files that commands must
/// not read, even if a symlink leads there, because a command can make one. The check is made on the opened file: a pipe
/// could replace the file between a check and the opening, and opening it would block until data is written.
pub(crate) fn open(path: &Path, confinement: Option<&Confinement>) -> io::Result<Option<File>> {
    let file = match confinement {
        Some(_) => open_without_magic(path)?,
        None => open_plainly(path)?,
    };
    checked(file, path, confinement)
}

/// Returns an opened file if a model may read it. `None` if it is not a regular file, or if it is a file of `/proc` about
/// processes.
pub(crate) fn checked(file: File, path: &Path, confinement: Option<&Confinement>) -> io::Result<Option<File>> {
    if confinement.is_some_and(|confinement| is_hidden(&file, path, confinement)) {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "commands must not read it"));
    }
    Ok((file.metadata()?.is_file() && !is_about_processes(&file)?).then_some(file))
}

fn open_plainly(path: &Path) -> io::Result<File> {
    File::options().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)
}

/// Opens a file unless a magic link of `/proc` leads there, such as `/proc/PID/root`. Behind it, paths have the meaning
/// that they have for another process.
#[cfg(target_os = "linux")]
fn open_without_magic(path: &Path) -> io::Result<File> {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
    use rustix::io::Errno;

    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_MAGICLINKS) {
        // Linux before 5.6 lacks the call, and seccomp filters around the server may refuse it.
        Err(Errno::NOSYS | Errno::PERM) if !path.starts_with("/proc") => open_plainly(path),
        opened => opened.map(File::from).map_err(io::Error::from),
    }
}

#[cfg(not(target_os = "linux"))]
fn open_without_magic(path: &Path) -> io::Result<File> {
    open_plainly(path)
}

/// Returns whether commands must not read the opened file. The check uses the real path of the file, not where its path
/// leads now.
#[cfg(target_os = "linux")]
fn is_hidden(file: &File, _path: &Path, confinement: &Confinement) -> bool {
    use std::os::fd::AsRawFd;

    let real = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()));
    real.map_or(true, |real| confinement.hides(&real))
}

#[cfg(not(target_os = "linux"))]
fn is_hidden(_file: &File, path: &Path, confinement: &Confinement) -> bool {
    path.canonicalize().map_or(true, |real| confinement.hides(&real))
}

#[cfg(target_os = "linux")]
fn is_about_processes(file: &File) -> io::Result<bool> {
    Ok(rustix::fs::fstatfs(file)?.f_type == rustix::fs::PROC_SUPER_MAGIC)
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "same signature as on Linux")]
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
        assert!(open(&file, None).expect("opens").is_some());
        assert!(open(&pipe, None).expect("opens").is_none());
        assert!(open(folder.path(), None).expect("opens").is_none());
        assert!(open(Path::new("/dev/null"), None).expect("opens").is_none());
        assert!(open(&folder.path().join("none"), None).is_err());
        #[cfg(target_os = "linux")]
        assert!(open(Path::new("/proc/self/environ"), None).expect("opens").is_none());
    }

    #[test]
    fn no_link_leads_to_what_is_hidden() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().canonicalize().expect("a path").join(name);
        for name in ["home", "work"] {
            std::fs::create_dir(at(name)).expect("a folder");
            std::fs::write(at(name).join("file"), "x").expect("writes");
        }
        std::os::unix::fs::symlink(at("home"), at("work/link")).expect("a link");
        std::os::unix::fs::symlink("../home/file", at("work/AGENTS.md")).expect("a link");
        let mut confinement = Confinement::new(vec![at("work")], crate::settings::Network::Closed);
        confinement.hidden = vec![crate::sandbox::HiddenPlace::new(&at("home"))];
        for name in ["home/file", "work/link/file", "work/AGENTS.md", "work/../home/file"] {
            let error = open(&at(name), Some(&confinement)).expect_err(name);
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{name}");
            assert!(open(&at(name), None).expect("opens").is_some(), "{name}");
        }
        assert!(open(&at("work/file"), Some(&confinement)).expect("opens").is_some());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_another_process_sees_is_not_opened_for_a_model() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().canonicalize().expect("a path").join("file");
        std::fs::write(&file, "x").expect("writes");
        let confinement = Confinement::new(vec![], crate::settings::Network::Closed);
        let child = format!("/proc/{}/root{}", std::process::id(), file.display());
        std::os::unix::fs::symlink(&child, folder.path().join("link")).expect("a link");
        let by_link = folder.path().join("link").to_str().expect("text").to_owned();
        for path in
            [child, format!("/proc/self/root{}", file.display()), "/proc/self/cwd/Cargo.toml".to_owned(), by_link]
        {
            assert!(open(Path::new(&path), Some(&confinement)).is_err(), "{path}");
            assert!(open(Path::new(&path), None).expect(&path).is_some(), "who is not confined may");
        }
        assert!(open(&file, Some(&confinement)).expect("opens").is_some());
    }
}
