//! Which entries of a repository's configuration are harmless.
//!
//! Git has hundreds of keys, and many of them name a program or another file. So this is a list of what is known to be
//! harmless, in the plain layout that Git itself writes; everything else counts as a risk, and so does a file in a layout that
//! is not understood.

use std::path::{Component, Path, PathBuf};

/// Harmless keys of sections without a subsection, as `section.key` in lower case.
const HARMLESS: &[&str] = &[
    "advice.detachedhead",
    "branch.autosetuprebase",
    "core.abbrev",
    "core.autocrlf",
    "core.bare",
    "core.bigfilethreshold",
    "core.checkstat",
    "core.commitgraph",
    "core.compression",
    "core.eol",
    "core.filemode",
    "core.ignorecase",
    "core.logallrefupdates",
    "core.longpaths",
    "core.multipackindex",
    "core.precomposeunicode",
    "core.preloadindex",
    "core.quotepath",
    "core.repositoryformatversion",
    "core.safecrlf",
    "core.sharedrepository",
    "core.sparsecheckout",
    "core.sparsecheckoutcone",
    "core.symlinks",
    "core.trustctime",
    "core.untrackedcache",
    "extensions.compatobjectformat",
    "extensions.objectformat",
    "extensions.partialclone",
    "extensions.preciousobjects",
    "extensions.refstorage",
    "extensions.relativeworktrees",
    "extensions.worktreeconfig",
    "fetch.prune",
    "fetch.prunetags",
    "gc.auto",
    "gc.autodetach",
    "gc.pruneexpire",
    "index.sparse",
    "index.threads",
    "index.version",
    "init.defaultbranch",
    "lfs.repositoryformatversion",
    "merge.conflictstyle",
    "merge.ff",
    "pack.threads",
    "pull.ff",
    "pull.rebase",
    "push.autosetupremote",
    "push.default",
    "push.followtags",
    "rebase.autosquash",
    "rebase.autostash",
    "receive.advertisepushoptions",
    "receive.denycurrentbranch",
    "receive.denydeletes",
    "receive.denynonfastforwards",
    "rerere.enabled",
    "status.showuntrackedfiles",
    "submodule.active",
    "submodule.recurse",
    "uploadpack.allowanysha1inwant",
    "uploadpack.allowfilter",
    "user.email",
    "user.name",
];

/// Harmless keys of sections with a subsection of any name.
const HARMLESS_BELOW: &[(&str, &[&str])] = &[
    ("branch", &["merge", "rebase", "remote", "pushremote"]),
    (
        "remote",
        &[
            "fetch",
            "followremotehead",
            "mirror",
            "partialclonefilter",
            "promisor",
            "prune",
            "push",
            "pushurl",
            "skipdefaultupdate",
            "skipfetchall",
            "tagopt",
            "url",
        ],
    ),
    ("submodule", &["active", "branch", "fetchrecursesubmodules", "ignore", "url"]),
];

/// What is remarkable in one configuration.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Findings {
    /// The entries that may run something or lead elsewhere: what identifies the entry, and what people are told of it.
    pub(super) risks: Vec<(String, String)>,
    /// Files and folders that the configuration names and that Git reads or runs, as they are written.
    pub(super) named: Vec<String>,
}

/// Looks through a configuration. `is_inside` tells whether a work tree lies where commands may write.
pub(super) fn look_through(text: &str, git_folder: &Path, is_inside: impl Fn(&Path) -> bool) -> Findings {
    let mut findings = Findings::default();
    let mut section = String::new();
    let mut subsection: Option<String> = None;
    for line in text.lines() {
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if line.starts_with('[') {
            match header(line) {
                Some((name, below)) => (section, subsection) = (name, below),
                None => {
                    let told = "its configuration has a section that is not understood".to_owned();
                    findings.risks.push((line.to_owned(), told));
                    (section, subsection) = (String::new(), None);
                }
            }
            continue;
        }
        let (key, value) = match line.split_once('=') {
            Some((key, value)) => (key.trim().to_ascii_lowercase(), value.trim()),
            None => (line.to_ascii_lowercase(), "true"),
        };
        let value = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value);
        let name = format!("{section}.{key}");
        let names_a_file = matches!(name.as_str(), "core.hookspath" | "core.fsmonitor" | "include.path")
            || section == "includeif" && key == "path";
        if names_a_file {
            findings.named.push(value.to_owned());
        }
        let is_harmless = is_plain(value)
            && match (&subsection, name.as_str()) {
                (None, "core.worktree") => is_inside(&joined(git_folder, value)),
                (None, "core.fsmonitor") => matches!(value, "true" | "false"),
                (None, name) => HARMLESS.contains(&name),
                (Some(_), _) => {
                    HARMLESS_BELOW.iter().any(|(known, keys)| *known == section && keys.contains(&key.as_str()))
                }
            };
        if !is_harmless {
            let below = if subsection.is_some() { ".*" } else { "" };
            // Values may be secrets, and a key may be anything.
            let told = format!("its configuration sets `{}{below}.{}`", shown(&section), shown(&key));
            findings.risks.push((format!("{section}.{subsection:?}.{line}"), told));
        }
    }
    findings
}

/// Returns name and subsection of a header that stands alone on its line.
fn header(line: &str) -> Option<(String, Option<String>)> {
    let inner = line.strip_prefix('[')?.strip_suffix(']')?;
    let is_name =
        |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if let Some((name, below)) = inner.split_once(' ') {
        let below = below.trim().strip_prefix('"')?.strip_suffix('"')?;
        let is_simple = !below.contains(['"', '\\', ']', '[']);
        return (is_name(name) && is_simple).then(|| (name.to_ascii_lowercase(), Some(below.to_owned())));
    }
    is_name(inner).then(|| (inner.to_ascii_lowercase(), None))
}

/// Tells whether a value means what it looks like, and is no command, option or name of a helper.
fn is_plain(value: &str) -> bool {
    !value.contains(['"', '\\', '#', ';', '\0', '\r']) && !value.contains("::") && !value.starts_with(['!', '-'])
}

fn shown(word: &str) -> String {
    word.chars().filter(|char| char.is_ascii_alphanumeric() || *char == '-').take(40).collect()
}

/// Returns a path of a configuration without `.` and `..`, as it is written.
pub(super) fn joined(folder: &Path, named: &str) -> PathBuf {
    let mut path = PathBuf::new();
    for part in folder.join(named).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                path.pop();
            }
            other => path.push(other),
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<String> {
        let found = look_through(text, Path::new("/w/.git"), |path| path.starts_with("/w"));
        found.risks.into_iter().map(|(_, told)| told.replace("its configuration ", "")).collect()
    }

    #[test]
    fn what_git_writes_by_itself_is_harmless() {
        let text = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n\
                    [remote \"origin\"]\n\turl = https://example.org/a.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\
                    [branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n[user]\n\tname = A B\n\temail = a@b\n\
                    [submodule \"a/b\"]\n\turl = git@example.org:x/y.git\n\tactive = true\n[submodule]\n\tactive = .\n\
                    # a comment\n; another\n";
        assert_eq!(told(text), [""; 0]);
        assert_eq!(told("[core]\n\tworktree = ../../sub\n"), ["sets `core.worktree`"]);
        assert_eq!(told("[core]\n\tworktree = ../sub\n\tfsmonitor = true\n"), [""; 0]);
    }

    #[test]
    fn everything_else_is_a_risk() {
        for (text, expected) in [
            ("[core]\n\tfsmonitor = ./x.sh\n", "sets `core.fsmonitor`"),
            ("[CORE]\nFsMonitor=\"./x.sh\"\n", "sets `core.fsmonitor`"),
            ("[core] fsmonitor = ./x.sh\n", "has a section that is not understood"),
            ("[core \"x\"]\n bare = false\n", "sets `core.*.bare`"),
            ("[core]\n hooksPath = h\n", "sets `core.hookspath`"),
            ("[core]\n bare = \\\n x\n", "sets `core.bare`"),
            ("[core]\n pager = x\n", "sets `core.pager`"),
            ("[core]\n worktree = /home/user\n", "sets `core.worktree`"),
            ("[include]\n path = x\n", "sets `include.path`"),
            ("[includeIf \"gitdir:/\"]\n path = x\n", "sets `includeif.*.path`"),
            ("[alias]\n st = !x\n", "sets `alias.st`"),
            ("[diff \"x\"]\n textconv = x\n", "sets `diff.*.textconv`"),
            ("[filter \"x\"]\n clean = x\n", "sets `filter.*.clean`"),
            ("[credential]\n helper = !x\n", "sets `credential.helper`"),
            ("[gpg]\n program = x\n", "sets `gpg.program`"),
            ("[url \"ext::x\"]\n insteadOf = https://\n", "sets `url.*.insteadof`"),
            ("[protocol \"ext\"]\n allow = always\n", "sets `protocol.*.allow`"),
            ("[remote \"origin\"]\n url = ext::sh -c x\n", "sets `remote.*.url`"),
            ("[remote \"origin\"]\n uploadpack = x\n", "sets `remote.*.uploadpack`"),
            ("[submodule \"a\"]\n update = !x\n", "sets `submodule.*.update`"),
            ("[submodule \"a\"]\n url = --upload-pack=x\n", "sets `submodule.*.url`"),
            ("[remote \"a\\\"]\"]\n url = x\n", "has a section that is not understood"),
            ("fsmonitor = x\n", "sets `.fsmonitor`"),
            ("\u{feff}[core]\n", "sets `.core`"),
        ] {
            assert!(told(text).contains(&expected.to_owned()), "{text:?}: {:?}", told(text));
        }
    }

    #[test]
    fn files_that_are_named_are_told() {
        let text = "[include]\n path = ../a\n[includeIf \"x\"]\n path = b\n[core]\n hooksPath = c\n fsmonitor = d\n";
        assert_eq!(look_through(text, Path::new("/w/.git"), |_| true).named, ["../a", "b", "c", "d"]);
        assert_eq!(joined(Path::new("/w/.git"), "../a/./b"), Path::new("/w/a/b"));
    }
}
