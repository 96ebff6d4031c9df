//! Folders and files that confined commands must not read: the server's home with its keys and threads, recordings, files
//! with tokens.
//!
//! A place is resolved once, when the server starts. From then on its folder is identified by device and inode as well as
//! by path: if another folder lies at the path later, no command starts, because the original may be anywhere. The same
//! folder reached by another mount is hidden too.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::SandboxError;
use super::paths::real_path;
use super::place::Mount;

/// A folder or file that confined commands must not read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HiddenPlace {
    path: PathBuf,
    /// The folder that existed when the place was named. `None` for a file, which may be replaced at any time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    folder: Option<Mount>,
}

impl HiddenPlace {
    /// Returns the place at `path`, following symlinks. A folder should exist already. A folder that is created later is
    /// hidden as well, but not recognised after it was moved.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        let path = real_path(path).unwrap_or_else(|| path.to_owned());
        let folder = path.is_dir().then(|| Mount::of(&path)).flatten();
        Self { path, folder }
    }

    /// Returns the path without symlinks.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Returns all paths by which hidden places can be reached now: their own paths and those of other mounts. Missing places
/// are skipped.
///
/// # Errors
///
/// Returns an error if a hidden folder was replaced by another one.
pub(super) fn within_reach(hidden: &[HiddenPlace]) -> Result<Vec<PathBuf>, SandboxError> {
    let mut paths = Vec::new();
    for place in hidden {
        if place.folder.is_some() && Mount::of(&place.path) != place.folder {
            return Err(SandboxError::Moved { path: place.path.clone() });
        }
        if place.path.symlink_metadata().is_ok() {
            paths.push(place.path.clone());
        }
    }
    if !paths.is_empty() {
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let others: Vec<PathBuf> = paths.iter().flat_map(|path| by_other_mounts(path, &mounts)).collect();
        paths.extend(others.into_iter().filter(|path| path.symlink_metadata().is_ok()));
    }
    paths.sort();
    paths.dedup();
    Ok(paths)
}

/// One line of `mountinfo`: which file system is mounted, which folder of it, and where.
struct Mounted {
    device: String,
    root: PathBuf,
    point: PathBuf,
}

fn by_other_mounts(path: &Path, mountinfo: &str) -> Vec<PathBuf> {
    let mounts: Vec<Mounted> = mountinfo.lines().filter_map(mounted).collect();
    // Of several mounts at the deepest mount point, the last one is visible.
    let own = mounts.iter().filter(|mount| path.starts_with(&mount.point));
    let Some(own) = own.max_by_key(|mount| mount.point.components().count()) else { return Vec::new() };
    let Ok(below) = path.strip_prefix(&own.point) else { return Vec::new() };
    let in_device = own.root.join(below);
    let others = mounts.iter().filter(|mount| mount.device == own.device && mount.point != own.point);
    let reached = others.filter_map(|mount| match in_device.strip_prefix(&mount.root) {
        Ok(below) => Some(mount.point.join(below)),
        // The other mount shows only a part of the folder.
        Err(_) => mount.root.starts_with(&in_device).then(|| mount.point.clone()),
    });
    reached.filter(|other| !other.starts_with(path)).map(|other| without_trailing_slash(&other)).collect()
}

fn without_trailing_slash(path: &Path) -> PathBuf {
    path.components().collect()
}

fn mounted(line: &str) -> Option<Mounted> {
    let mut words = line.split(' ').skip(2);
    let [device, root, point] = [words.next()?, words.next()?, words.next()?];
    Some(Mounted { device: device.to_owned(), root: unescaped(root), point: unescaped(point) })
}

/// Decodes octal escapes such as `\040` in a path of `mountinfo`.
fn unescaped(word: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = (*first == b'\\').then(|| tail.get(..3)).flatten();
        let code =
            code.and_then(|code| std::str::from_utf8(code).ok()).and_then(|code| u8::from_str_radix(code, 8).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &tail[3..] } else { tail };
    }
    PathBuf::from(<std::ffi::OsString as std::os::unix::ffi::OsStringExt>::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_same_folder_is_found_by_other_mounts() {
        let mounts = "1 0 8:1 / / rw - ext4 /dev/a rw\n2 1 8:2 / /data rw - ext4 /dev/b rw\n\
                      3 1 8:1 /root /mnt/bind rw - ext4 /dev/a rw\n4 1 8:1 /root/.trace/traces /srv/my\\040traces rw - ext4 x rw\n\
                      5 1 8:2 /root /mnt/other rw - ext4 /dev/b rw\n";
        let others = |path: &str| by_other_mounts(Path::new(path), mounts);
        assert_eq!(others("/root/.trace"), [Path::new("/mnt/bind/.trace"), Path::new("/srv/my traces")]);
        assert_eq!(others("/mnt/bind/.trace"), [Path::new("/root/.trace"), Path::new("/srv/my traces")]);
        assert_eq!(others("/data/root"), [Path::new("/mnt/other")]);
        assert!(others("/data/x").is_empty());
    }

    #[test]
    fn another_folder_in_its_place_is_no_match() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().canonicalize().expect("a path").join(name);
        fs::create_dir(at("home")).expect("a folder");
        fs::write(at("token"), "x").expect("writes");
        std::os::unix::fs::symlink("home", at("link")).expect("a link");
        let hidden = ["link", "token", "missing"].map(|name| HiddenPlace::new(&at(name)));
        assert_eq!(within_reach(&hidden).expect("is there"), [at("home"), at("token")]);
        fs::remove_file(at("token")).expect("removes");
        fs::write(at("token"), "another").expect("writes");
        assert_eq!(within_reach(&hidden).expect("is there"), [at("home"), at("token")]);
        fs::rename(at("home"), at("was")).expect("renames");
        fs::create_dir(at("home")).expect("a folder");
        assert!(matches!(within_reach(&hidden), Err(SandboxError::Moved { .. })));
    }
}
