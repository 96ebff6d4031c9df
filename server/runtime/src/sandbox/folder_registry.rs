//! Resolves the folders that users name. Symlinks are resolved once, when a folder is named.
//!
//! Each command opens its writable folders by path, and by then an earlier command may have put a symlink into the path. So
//! symlinks are followed only when a user names a folder, and never if a command could have made them. A path that leads
//! through a symlink later is not writable.

use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::confinement::Confinement;
use super::paths::slash_tmp;
use super::writable_folders::{WritableFolders, names};
use crate::settings::{SandboxPolicy, Settings, SettingsChange};

/// Most symlinks on the way to one folder. It is the limit of the kernel.
const MAX_LINKS: usize = 40;

/// Most folders that a server remembers as writable. Once there are more, it follows no symlinks at all.
pub const MAX_WRITABLE_FOLDERS: usize = 16 * 1024;

/// The folders that commands of one server were ever allowed to write to, in all threads, including threads that have
/// ended: symlinks in them may have been made by commands.
#[derive(Debug)]
pub struct WritableFolderRegistry {
    /// Folders for temporary files. They count as writable all the time.
    temporary: Vec<PathBuf>,
    /// The folder for temporary files, if the system names one.
    tmpdir: Option<PathBuf>,
    ever: Mutex<BTreeSet<PathBuf>>,
    /// Temporary folders that a policy made writable. Symlinks in them are never followed; the set is used to judge files
    /// in them.
    ever_temporary: Mutex<BTreeSet<PathBuf>>,
}

impl Default for WritableFolderRegistry {
    fn default() -> Self {
        Self::new(None)
    }
}

impl WritableFolderRegistry {
    /// Returns the set of a starting server. `tmpdir` is the folder for temporary files, if the system names one.
    #[must_use]
    pub fn new(tmpdir: Option<PathBuf>) -> Self {
        Self { temporary: temporary(tmpdir.clone()), tmpdir, ever: Mutex::default(), ever_temporary: Mutex::default() }
    }

    /// Returns the settings with symlinks in their folders resolved, and remembers the writable ones. A folder that is also
    /// in `before` stays as it is, because it was resolved when it was first named, unless it is `named_again`, which means
    /// that a user named it again.
    #[must_use]
    pub fn resolved(&self, mut settings: Settings, before: Option<&Settings>, named_again: Option<&Path>) -> Settings {
        let mut known = before.map(folders_of).unwrap_or_default();
        known.retain(|folder| Some(folder.as_path()) != named_again);
        if let Some(before) = before {
            self.open(&before.cwd, &before.sandbox);
        }
        let around = [before, Some(&settings)].into_iter().flatten().flat_map(folders_of).collect();
        let resolver = self.resolver(around);
        settings.cwd = resolver.resolve(&settings.cwd, &known);
        resolver.resolve_policy(&mut settings.sandbox, &known);
        self.open(&settings.cwd, &settings.sandbox);
        settings
    }

    /// Does the same as [`Self::resolved`] for changed settings.
    #[must_use]
    pub fn resolved_change(&self, mut change: SettingsChange, before: &Settings) -> SettingsChange {
        if change.cwd.is_none() && change.sandbox.is_none() {
            return change;
        }
        let after = self.resolved(before.changed(&change), Some(before), None);
        change.cwd = change.cwd.map(|_| after.cwd);
        change.sandbox = change.sandbox.map(|_| after.sandbox);
        change
    }

    /// Does the same as [`Self::resolved`] for the folder and policy of a single command.
    #[must_use]
    pub fn resolved_policy(&self, cwd: &Path, policy: &SandboxPolicy) -> (PathBuf, SandboxPolicy) {
        let mut policy = policy.clone();
        let resolver = self.resolver(folders(cwd, &policy));
        let cwd = resolver.resolve(cwd, &[]);
        resolver.resolve_policy(&mut policy, &[]);
        self.open(&cwd, &policy);
        (cwd, policy)
    }

    /// Returns the folders in which commands may have left files that a thread with this policy must not start without a
    /// sandbox: those that the policy makes writable, and those that were writable before. A policy without a sandbox adds
    /// none, but confined commands of other threads may have left files in theirs.
    #[must_use]
    pub fn writable(&self, cwd: &Path, policy: &SandboxPolicy) -> WritableFolders {
        let confinement = Confinement::for_policy(policy, cwd, self.tmpdir.as_deref());
        let ever = self.ever.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let everything = (ever.len() > MAX_WRITABLE_FOLDERS).then(|| PathBuf::from("/"));
        let temporary = self.ever_temporary.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let opened = confinement.into_iter().flat_map(|confinement| confinement.writable);
        WritableFolders::new(opened.chain(ever).chain(temporary).chain(everything))
    }

    /// Remembers the folders that a policy makes writable, by the paths in the policy and by their real paths.
    fn open(&self, cwd: &Path, policy: &SandboxPolicy) {
        if !matches!(policy, SandboxPolicy::WorkspaceWrite { .. }) {
            return;
        }
        let named = folders(cwd, policy);
        if let Some(confinement) = Confinement::for_policy(policy, cwd, self.tmpdir.as_deref()) {
            let mut temporary = self.ever_temporary.lock().unwrap_or_else(PoisonError::into_inner);
            temporary.extend(confinement.writable.into_iter().filter(|folder| !named.contains(folder)));
        }
        let mut ever = self.ever.lock().unwrap_or_else(PoisonError::into_inner);
        for folder in with_real_ones(named) {
            if ever.len() <= MAX_WRITABLE_FOLDERS {
                ever.insert(folder);
            }
        }
    }

    /// Returns a resolver that follows no symlinks in `around` and in the folders that are or were writable.
    fn resolver(&self, around: Vec<PathBuf>) -> Resolver {
        let mut open = with_real_ones(around);
        open.extend(self.temporary.iter().cloned());
        let ever = self.ever.lock().unwrap_or_else(PoisonError::into_inner);
        open.extend(ever.iter().cloned());
        if ever.len() > MAX_WRITABLE_FOLDERS {
            open.push(PathBuf::from("/"));
        }
        Resolver { open }
    }
}

/// Returns the folder for temporary files by a path without symlinks. `None` if a symlink on the way may have been made by
/// a command, possibly a command of an earlier server.
#[must_use]
pub fn resolved_tmpdir(named: &Path) -> Option<PathBuf> {
    let named = std::path::absolute(named).ok()?;
    let followed = Resolver { open: temporary(None) }.follow(&named);
    if followed.is_none() {
        let why = "its path has a symlink in a folder that all users may write to";
        tracing::warn!(folder = %named.display(), "commands may not write to the folder for temporary files: {why}");
    }
    followed
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

/// Returns the folders for temporary files. Other threads may write to them even if the policy of this one does not allow
/// it.
fn temporary(tmpdir: Option<PathBuf>) -> Vec<PathBuf> {
    let mut folders = vec![slash_tmp().to_owned(), PathBuf::from("/tmp")];
    folders.extend(tmpdir);
    with_real_ones(folders)
}

/// Returns the folders and their real paths.
fn with_real_ones(mut folders: Vec<PathBuf>) -> Vec<PathBuf> {
    let real: Vec<PathBuf> = folders.iter().filter_map(|folder| folder.canonicalize().ok()).collect();
    folders.extend(real);
    folders
}

struct Resolver {
    open: Vec<PathBuf>,
}

impl Resolver {
    fn resolve_policy(&self, policy: &mut SandboxPolicy, known: &[PathBuf]) {
        if let SandboxPolicy::WorkspaceWrite { writable_roots, .. } = policy {
            for root in writable_roots {
                *root = self.resolve(root, known);
            }
        }
    }

    /// Returns the path with symlinks resolved. Returns it unchanged if a command may have made one of the symlinks.
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
                // Not a symlink, or missing.
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// Returns a resolver for which only `open` is writable.
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
            // A path that cannot be resolved stays unchanged and is refused when it is opened.
            ("shared/exchanged", "shared/exchanged"),
            ("shared/exchanged/link", "shared/exchanged/link"),
            ("home/to-shared/exchanged", "home/to-shared/exchanged"),
            ("home/round", "home/round"),
        ] {
            assert_eq!(resolver.resolve(&at(named), &[]), at(real), "{named}");
        }
        // A path that was resolved before is not resolved again.
        assert_eq!(resolver.resolve(&at("home/twice"), &[at("home/twice")]), at("home/twice"));
    }

    #[test]
    fn what_was_named_before_stays_and_the_rest_is_resolved() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().canonicalize().expect("a path").join(name);
        fs::create_dir(at("real")).expect("a folder");
        symlink("real", at("link")).expect("a link");
        symlink("real", at("stored")).expect("a link");
        let policy = |roots: &[&str]| workspace(roots.iter().map(|root| at(root)).collect());
        let mut changed = policy(&["link", "stored", "new"]);
        resolver(&[]).resolve_policy(&mut changed, &[at("stored")]);
        assert_eq!(changed, policy(&["real", "stored", "new"]));
        // Temporary folders count as writable, whatever the policy of this thread.
        let folders = WritableFolderRegistry::new(Some(at("")));
        assert_eq!(folders.resolved_policy(&at("link"), &policy(&[])).0, at("link"));
        assert!(with_real_ones(vec![at("link")]).contains(&at("real")));
        assert!(temporary(None).contains(&PathBuf::from("/tmp")));
    }
    /// Returns a set without temporary folders, because the tests work in one.
    fn without_temporary() -> WritableFolderRegistry {
        WritableFolderRegistry { temporary: Vec::new(), ..WritableFolderRegistry::default() }
    }

    fn workspace(writable_roots: Vec<PathBuf>) -> SandboxPolicy {
        let network = crate::settings::Network::Closed;
        SandboxPolicy::WorkspaceWrite { writable_roots, network, closed: crate::settings::ClosedTemporary::default() }
    }

    #[test]
    fn what_was_open_once_stays_under_suspicion() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().canonicalize().expect("a path").join(name);
        for name in ["a", "b", "c", "secret"] {
            fs::create_dir(at(name)).expect("a folder");
        }
        let policy = |roots: &[&str]| workspace(roots.iter().map(|root| at(root)).collect());
        let roots = policy(&["a/cache"]);
        let folders = without_temporary();
        assert_eq!(folders.resolved_policy(&at("a"), &roots), (at("a"), roots.clone()));
        // A command in the first folder makes a symlink, and another thread elsewhere is given the same folder.
        symlink(at("secret"), at("a/cache")).expect("a link");
        assert_eq!(folders.resolved_policy(&at("b"), &roots), (at("b"), roots.clone()));
        assert_eq!(folders.resolved_policy(&at("a/cache"), &policy(&[])).0, at("a/cache"));
        // On another server the folder was never writable, and read-only policies do not count.
        let others = without_temporary();
        let reading = SandboxPolicy::ReadOnly { network: crate::settings::Network::Closed };
        assert_eq!(others.resolved_policy(&at("a"), &reading).0, at("a"));
        assert_eq!(others.resolved_policy(&at("b"), &roots), (at("b"), policy(&["secret"])));
        // With too many folders no symlink is followed.
        symlink(at("b"), at("link")).expect("a link");
        assert_eq!(others.resolved_policy(&at("link"), &reading).0, at("b"));
        others.ever.lock().expect("whole").extend((0..MAX_WRITABLE_FOLDERS).map(|number| at(&format!("c/{number}"))));
        assert_eq!(others.resolved_policy(&at("link"), &reading).0, at("link"));
    }

    #[test]
    fn what_a_policy_opens_or_opened_is_writable() {
        let folder = tempfile::tempdir_in("/tmp").expect("a folder");
        let at = |name: &str| folder.path().canonicalize().expect("a path").join(name);
        for name in ["a", "b", "tmp"] {
            fs::create_dir(at(name)).expect("a folder");
        }
        let workspace = |slash_tmp, tmpdir| SandboxPolicy::WorkspaceWrite {
            writable_roots: Vec::new(),
            network: crate::settings::Network::Closed,
            closed: crate::settings::ClosedTemporary { slash_tmp, tmpdir },
        };
        let reading = SandboxPolicy::ReadOnly { network: crate::settings::Network::Closed };
        let is_writable = |folders: &WritableFolderRegistry, policy: &SandboxPolicy, name: &str| {
            folders.writable(&at("a"), policy).on_the_way(&at(name), &[]).is_some()
        };
        let folders = WritableFolderRegistry::new(Some(at("tmp")));
        let closed = workspace(true, true);
        assert!(is_writable(&folders, &closed, "a/x") && !is_writable(&folders, &closed, "b/x"));
        assert!(!is_writable(&folders, &reading, "a/x") && !is_writable(&folders, &SandboxPolicy::FullAccess, "a/x"));
        assert!(is_writable(&folders, &workspace(true, false), "tmp/x") && !is_writable(&folders, &closed, "tmp/x"));
        // Another thread makes more folders writable, and later calls include them.
        let _ = folders.resolved_policy(&at("b"), &workspace(true, false));
        assert!(is_writable(&folders, &reading, "b/x") && is_writable(&folders, &closed, "tmp/x"));
        assert!(!is_writable(&folders, &closed, "x"));
        // A thread without a sandbox must not start files that a confined command left.
        assert!(is_writable(&folders, &SandboxPolicy::FullAccess, "b/x"));
        assert!(!is_writable(&folders, &SandboxPolicy::FullAccess, "a/x"));
        let _ = folders.resolved_policy(&at("b"), &workspace(false, true));
        assert!(is_writable(&folders, &reading, "x"));
    }

    #[test]
    fn a_temporary_folder_is_behind_no_link_of_a_command() {
        let folder = tempfile::tempdir_in("/tmp").expect("a folder");
        let at = |name: &str| folder.path().canonicalize().expect("a path").join(name);
        fs::create_dir(at("mine")).expect("a folder");
        symlink(at("mine"), at("link")).expect("a link");
        assert_eq!(resolved_tmpdir(&at("mine")), Some(at("mine")));
        assert_eq!(resolved_tmpdir(Path::new("/tmp")).as_deref(), Some(slash_tmp()));
        assert_eq!(resolved_tmpdir(&at("link")), None);
    }

    #[test]
    fn a_person_can_name_a_stored_folder_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().canonicalize().expect("a path").join(name);
        fs::create_dir(at("real")).expect("a folder");
        symlink("real", at("stored")).expect("a link");
        let stored = Settings {
            model: "m".to_owned(),
            provider: "p".to_owned(),
            effort: None,
            summary: None,
            service_tier: None,
            cwd: at("stored"),
            approval: crate::settings::ApprovalPolicy::Never,
            approvals_reviewer: None,
            sandbox: workspace(Vec::new()),
            base_instructions: None,
            developer_instructions: None,
            personality: None,
            mode: crate::settings::Mode::Default,
            mode_instructions: None,
        };
        let folders = without_temporary();
        let again = at("stored");
        let resolved = |named_again| folders.resolved(stored.clone(), Some(&stored), named_again).cwd;
        assert_eq!(resolved(None), at("stored"));
        assert_eq!(resolved(Some(again.as_path())), at("real"));
        // A symlink that a command may have made is not followed.
        assert_eq!(folders.resolved_policy(&at(""), &workspace(Vec::new())).0, at(""));
        assert_eq!(resolved(Some(again.as_path())), at("stored"));
    }
}
