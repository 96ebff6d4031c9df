//! Reads the state of a folder's repository from its files, because asking `git` would start a process for every
//! thread.

use std::fs;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use trace_protocol::thread::GitInfo;

/// Most bytes of a repository's file that are read.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// Returns the commit, the branch and the origin of the repository that contains a folder.
pub(crate) async fn info(cwd: &Path) -> Option<GitInfo> {
    let cwd = cwd.to_owned();
    tokio::task::spawn_blocking(move || read(&cwd)).await.ok()?
}

fn read(cwd: &Path) -> Option<GitInfo> {
    let git = cwd.ancestors().find_map(directory)?;
    // A linked work tree shares everything with the main one, except its `HEAD`.
    let common = text(&git.join("commondir")).map_or_else(|| git.clone(), |common| git.join(common.trim()));
    let head = text(&git.join("HEAD"))?;
    let head = head.trim();
    let (branch, sha) = match head.strip_prefix("ref: ") {
        Some(reference) => {
            let branch = reference.strip_prefix("refs/heads/").map(str::to_owned);
            (branch, resolve(&git, &common, reference))
        }
        None => (None, Some(head.to_owned())),
    };
    let sha = sha.filter(|sha| sha.len() >= 40 && sha.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let origin_url = text(&common.join("config")).as_deref().and_then(origin);
    Some(GitInfo { branch, origin_url, sha })
}

/// Returns the Git directory of a folder, if the folder is the top of a work tree.
fn directory(folder: &Path) -> Option<PathBuf> {
    let git = folder.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    let pointer = text(&git)?;
    Some(folder.join(pointer.trim().strip_prefix("gitdir: ")?))
}

fn resolve(git: &Path, common: &Path, reference: &str) -> Option<String> {
    if !reference.starts_with("refs/") || reference.split('/').any(|part| part == "..") {
        return None;
    }
    let loose = text(&git.join(reference)).or_else(|| text(&common.join(reference)));
    if let Some(sha) = loose {
        return Some(sha.trim().to_owned());
    }
    let packed = text(&common.join("packed-refs"))?;
    packed.lines().find_map(|line| Some(line.split_once(' ').filter(|(_, name)| *name == reference)?.0.to_owned()))
}

/// Returns the URL of the remote `origin`.
fn origin(config: &str) -> Option<String> {
    let mut is_origin = false;
    for line in config.lines().map(str::trim) {
        if line.starts_with('[') {
            is_origin = line == "[remote \"origin\"]";
        } else if let (true, Some((name, value))) = (is_origin, line.split_once('='))
            && name.trim() == "url"
        {
            return Some(without_secrets(value.trim()));
        }
    }
    None
}

/// Removes the user name and the password from a URL, because it is sent to clients and stored in rollouts.
fn without_secrets(url: &str) -> String {
    match url.split_once("://") {
        Some((scheme, rest)) => {
            let (host, path) = rest.split_once('/').map_or((rest, None), |(host, path)| (host, Some(path)));
            let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
            path.map_or_else(|| format!("{scheme}://{host}"), |path| format!("{scheme}://{host}/{path}"))
        }
        None => url.to_owned(),
    }
}

fn text(path: &Path) -> Option<String> {
    // Open the file without blocking, and check its type afterwards. A command may replace a file by a named pipe at
    // any time, and opening a pipe would block until another process writes to it.
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = fs::File::options().read(true).custom_flags(flags.bits().cast_signed()).open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    file.take(MAX_FILE_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    const SHA: &str = "0123456789abcdef0123456789abcdef01234567";

    fn write(root: &Path, name: &str, text: &str) {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn a_branch_is_found_loose_and_packed() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        write(root, ".git/HEAD", "ref: refs/heads/topic/one\n");
        write(
            root,
            ".git/config",
            "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://me:secret@example.org/a.git\n",
        );
        write(root, ".git/packed-refs", &format!("# pack-refs\n{SHA} refs/heads/topic/one\n"));
        fs::create_dir_all(root.join("src/deep")).unwrap();
        let info = read(&root.join("src/deep")).unwrap();
        assert_eq!(info.branch.as_deref(), Some("topic/one"));
        assert_eq!(info.sha.as_deref(), Some(SHA));
        assert_eq!(info.origin_url.as_deref(), Some("https://example.org/a.git"));
        let other = SHA.replace('0', "f");
        write(root, ".git/refs/heads/topic/one", &format!("{other}\n"));
        assert_eq!(read(root).unwrap().sha, Some(other));
    }

    #[test]
    fn a_work_tree_beside_the_main_one_is_followed() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        write(root, "main/.git/worktrees/side/HEAD", &format!("{SHA}\n"));
        write(root, "main/.git/worktrees/side/commondir", "../..\n");
        write(root, "main/.git/config", "");
        write(root, "side/.git", &format!("gitdir: {}\n", root.join("main/.git/worktrees/side").display()));
        let info = read(&root.join("side")).unwrap();
        assert_eq!((info.branch, info.sha.as_deref(), info.origin_url), (None, Some(SHA), None));
    }

    #[test]
    fn a_reference_does_not_lead_out_of_the_repository() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        write(root, "secret", SHA);
        write(root, "work/.git/HEAD", "ref: refs/heads/../../../../secret\n");
        assert_eq!(read(&root.join("work")).unwrap().sha, None);
    }
}
