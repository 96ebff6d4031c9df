//! Where the folders lie that a person names: links are resolved once, when they are named.
//!
//! What commands may write to is opened by its path for each of them, and by then a command may have put a link into the path.
//! So links are followed only when a person names a folder, and even then none that a command could have made. Whatever leads
//! through a link later is closed.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use super::confinement::slash_tmp;
use crate::settings::{SandboxPolicy, Settings, SettingsChange};

/// Links on the way to one folder. The system gives up after as many.
const MAX_LINKS: usize = 40;

/// Returns settings whose folders are named by paths without links. Those that `before` has as well stay as they are: they were
/// resolved when they were first named.
#[must_use]
pub fn resolved(mut settings: Settings, before: Option<&Settings>, tmpdir: Option<&Path>) -> Settings {
    let resolver = Resolver::new(&[before, Some(&settings)], tmpdir);
    let known = before.map(folders_of).unwrap_or_default();
    settings.cwd = resolver.resolve(&settings.cwd, &known);
    resolver.resolve_policy(&mut settings.sandbox, &known);
    settings
}

/// Does the same for changes of settings.
#[must_use]
pub fn resolved_change(mut change: SettingsChange, before: &Settings, tmpdir: Option<&Path>) -> SettingsChange {
    if change.cwd.is_none() && change.sandbox.is_none() {
        return change;
    }
    let after = resolved(before.changed(&change), Some(before), tmpdir);
    change.cwd = change.cwd.map(|_| after.cwd);
    change.sandbox = change.sandbox.map(|_| after.sandbox);
    change
}

/// Does the same for what one command is started with.
#[must_use]
pub fn resolved_policy(cwd: &Path, policy: &SandboxPolicy, tmpdir: Option<&Path>) -> (PathBuf, SandboxPolicy) {
    let mut policy = policy.clone();
    let resolver = Resolver { open: open_to_commands(folders(cwd, &policy), tmpdir) };
    let cwd = resolver.resolve(cwd, &[]);
    resolver.resolve_policy(&mut policy, &[]);
    (cwd, policy)
}

fn folders_of(settings: &Settings) -> Vec<PathBuf> {
    folders(&settings.cwd, &settings.sandbox)
}

fn folders(cwd: &Path, policy: &SandboxPolicy) -> Vec<PathBuf> {
    let mut folders = vec![cwd.to_owned()];
    if let SandboxPolicy::WorkspaceWrite { writable_roots, .. } = policy {
        folders.extend(writable_roots.iter().cloned());
    }
    folders
}

/// Returns where commands may have put links: by the names of the folders, and by where they lead now.
fn open_to_commands(mut folders: Vec<PathBuf>, tmpdir: Option<&Path>) -> Vec<PathBuf> {
    // Other threads may have these open.
    folders.extend([slash_tmp().to_owned(), PathBuf::from("/tmp")]);
    folders.extend(tmpdir.map(Path::to_owned));
    let real: Vec<PathBuf> = folders.iter().filter_map(|folder| folder.canonicalize().ok()).collect();
    folders.extend(real);
    folders
}

struct Resolver {
    open: Vec<PathBuf>,
}

impl Resolver {
    fn new(settings: &[Option<&Settings>], tmpdir: Option<&Path>) -> Self {
        let folders = settings.iter().flatten().flat_map(|settings| folders_of(settings)).collect();
        Self { open: open_to_commands(folders, tmpdir) }
    }

    fn resolve_policy(&self, policy: &mut SandboxPolicy, known: &[PathBuf]) {
        if let SandboxPolicy::WorkspaceWrite { writable_roots, .. } = policy {
            for root in writable_roots {
                *root = self.resolve(root, known);
            }
        }
    }

    /// Returns the path without links, or the path as it is if a link is one that a command may have made.
    fn resolve(&self, path: &Path, known: &[PathBuf]) -> PathBuf {
        if known.iter().any(|known| known == path) || !path.is_absolute() {
            return path.to_owned();
        }
        self.follow(path).unwrap_or_else(|| path.to_owned())
    }

    fn follow(&self, path: &Path) -> Option<PathBuf> {
        let mut real = PathBuf::from("/");
        let mut parts: VecDeque<OsString> = names(path).collect();
        let mut links = 0;
        while let Some(part) = parts.pop_front() {
            if part == ".." {
                real.pop();
                continue;
            }
            let Ok(target) = std::fs::read_link(real.join(&part)) else {
                // No link, or nothing is there yet.
                real.push(part);
                continue;
            };
            links += 1;
            if links > MAX_LINKS || self.open.iter().any(|open| real.starts_with(open)) {
                return None;
            }
            if target.is_absolute() {
                real = PathBuf::from("/");
            }
            for name in names(&target).rev() {
                parts.push_front(name);
            }
        }
        Some(real)
    }
}

fn names(path: &Path) -> impl DoubleEndedIterator<Item = OsString> + '_ {
    path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// A resolver for a place where some folders are open to commands, and only those.
    fn resolver(open: &[PathBuf]) -> Resolver {
        Resolver { open: open.to_vec() }
    }

    #[test]
    fn links_are_followed_unless_a_command_may_have_made_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().canonicalize().expect("a path").join(name);
        fs::create_dir_all(at("data/project")).expect("a folder");
        fs::create_dir_all(at("shared/mine")).expect("a folder");
        fs::create_dir(at("home")).expect("a folder");
        symlink("../data", at("home/link")).expect("a link");
        symlink(at("home/link/project"), at("home/twice")).expect("a link");
        symlink(at("home"), at("shared/exchanged")).expect("a link");
        symlink(at("shared"), at("home/to-shared")).expect("a link");
        symlink("round", at("home/round")).expect("a link");
        let resolver = resolver(&[at("shared")]);
        for (named, real) in [
            ("data/project", "data/project"),
            ("home/link/project", "data/project"),
            ("home/twice", "data/project"),
            ("home/twice/new/er", "data/project/new/er"),
            ("home/twice/../project", "data/project"),
            ("home/to-shared/mine", "shared/mine"),
            // What cannot be resolved stays, and is closed when it is to be opened.
            ("shared/exchanged", "shared/exchanged"),
            ("shared/exchanged/link", "shared/exchanged/link"),
            ("home/to-shared/exchanged", "home/to-shared/exchanged"),
            ("home/round", "home/round"),
        ] {
            assert_eq!(resolver.resolve(&at(named), &[]), at(real), "{named}");
        }
        // What was resolved before is not looked at again.
        assert_eq!(resolver.resolve(&at("home/twice"), &[at("home/twice")]), at("home/twice"));
    }

    #[test]
    fn what_was_named_before_stays_and_the_rest_is_resolved() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().canonicalize().expect("a path").join(name);
        fs::create_dir(at("real")).expect("a folder");
        symlink("real", at("link")).expect("a link");
        symlink("real", at("stored")).expect("a link");
        let policy = |roots: &[&str]| SandboxPolicy::WorkspaceWrite {
            writable_roots: roots.iter().map(|root| at(root)).collect(),
            network: crate::settings::Network::Closed,
            closed: crate::settings::ClosedTemporary::default(),
        };
        let mut changed = policy(&["link", "stored", "new"]);
        resolver(&[]).resolve_policy(&mut changed, &[at("stored")]);
        assert_eq!(changed, policy(&["real", "stored", "new"]));
        // Temporary folders are open to commands, whatever the policy of this thread.
        assert_eq!(resolved_policy(&at("link"), &policy(&[]), Some(&at(""))).0, at("link"));
        let open = open_to_commands(vec![at("link")], None);
        assert!(open.contains(&at("real")) && open.contains(&PathBuf::from("/tmp")));
    }
}
