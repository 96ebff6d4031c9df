//! Decides which entries of a repository's configuration are harmless.
//!
//! Git has hundreds of keys, other programs keep theirs in the same file, and many keys name a program, a folder of
//! programs or another configuration: `core.fsmonitor`, `core.hooksPath`, `*.*.cmd`, `filter.*.clean`, `include.path`,
//! `gitflow.path.hooks`, ... A list of risky keys would be outdated by the next release of any of these programs. So this
//! is a list of keys known to be harmless. Everything else is a risk, and so is a file that Git cannot parse.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::syntax::{Entry, entries};
use super::words;

/// Sections in which every key is harmless, with and without a subsection: they concern only appearance, and no key names a
/// file.
const HARMLESS_SECTIONS: &[&str] = &["advice", "color", "column", "i18n", "stash", "status", "versionsort"];

/// Harmless keys of sections without a subsection.
const HARMLESS: &[(&str, &[&str])] = &[
    ("apply", &["ignorewhitespace", "whitespace"]),
    ("author", &["email", "name"]),
    (
        "blame",
        &[
            "blankboundary",
            "coloring",
            "date",
            "ignorerevsfile",
            "markignoredlines",
            "markunblamablelines",
            "showemail",
            "showroot",
        ],
    ),
    ("branch", &["autosetupmerge", "autosetuprebase", "sort"]),
    ("commit", &["cleanup", "gpgsign", "status", "verbose"]),
    ("committer", &["email", "name"]),
    (
        "core",
        &[
            "abbrev",
            "autocrlf",
            "bare",
            "bigfilethreshold",
            "checkstat",
            "commentchar",
            "commitgraph",
            "compression",
            "deltabasecachelimit",
            "eol",
            "filemode",
            "fscache",
            "fsync",
            "fsyncmethod",
            "fsyncobjectfiles",
            "hidedotfiles",
            "ignorecase",
            "logallrefupdates",
            "longpaths",
            "loosecompression",
            "multipackindex",
            "packedgitlimit",
            "packedgitwindowsize",
            "precomposeunicode",
            "preloadindex",
            "protecthfs",
            "protectntfs",
            "quotepath",
            "repositoryformatversion",
            "safecrlf",
            "sharedrepository",
            "sparsecheckout",
            "sparsecheckoutcone",
            "splitindex",
            "symlinks",
            "trustctime",
            "untrackedcache",
            "warnambiguousrefs",
            "whitespace",
        ],
    ),
    (
        "diff",
        &[
            "algorithm",
            "autorefreshindex",
            "colormoved",
            "context",
            "dirstat",
            "ignoresubmodules",
            "indentheuristic",
            "interhunkcontext",
            "mnemonicprefix",
            "noprefix",
            "relative",
            "renamelimit",
            "renames",
            "submodule",
            "suppressblankempty",
            "wserrorhighlight",
        ],
    ),
    (
        "extensions",
        &[
            "compatobjectformat",
            "objectformat",
            "partialclone",
            "preciousobjects",
            "refstorage",
            "relativeworktrees",
            "worktreeconfig",
        ],
    ),
    ("feature", &["experimental", "manyfiles"]),
    (
        "fetch",
        &[
            "fsckobjects",
            "negotiationalgorithm",
            "output",
            "parallel",
            "prune",
            "prunetags",
            "recursesubmodules",
            "showforcedupdates",
            "unpacklimit",
            "writecommitgraph",
        ],
    ),
    ("format", &["numbered", "pretty", "signoff", "subjectprefix"]),
    (
        "gc",
        &[
            "aggressivedepth",
            "aggressivewindow",
            "auto",
            "autodetach",
            "autopacklimit",
            "bigpackthreshold",
            "cruftpacks",
            "logexpiry",
            "maxcruftsize",
            "packrefs",
            "pruneexpire",
            "reflogexpire",
            "reflogexpireunreachable",
            "repackfilter",
            "rerereresolved",
            "rerereunresolved",
            "worktreepruneexpire",
            "writecommitgraph",
        ],
    ),
    ("gui", &["geometry", "wmstate"]),
    ("http", &["lowspeedlimit", "lowspeedtime", "postbuffer", "version"]),
    ("index", &["recordendofindexentries", "recordoffsettable", "skiphash", "sparse", "threads", "version"]),
    ("init", &["defaultbranch"]),
    ("lfs", &["repositoryformatversion"]),
    (
        "log",
        &[
            "abbrevcommit",
            "date",
            "decorate",
            "diffmerges",
            "excludedecoration",
            "follow",
            "graphcolors",
            "initialdecorationset",
            "mailmap",
            "showroot",
            "showsignature",
        ],
    ),
    ("maintenance", &["auto", "autodetach", "strategy"]),
    (
        "merge",
        &[
            "autostash",
            "conflictstyle",
            "directoryrenames",
            "ff",
            "log",
            "renamelimit",
            "renames",
            "renormalize",
            "stat",
        ],
    ),
    (
        "pack",
        &[
            "allowpackreuse",
            "compression",
            "deltacachelimit",
            "deltacachesize",
            "depth",
            "indexversion",
            "island",
            "islandcore",
            "packsizelimit",
            "preferbitmaptips",
            "readreverseindex",
            "threads",
            "usebitmapboundarytraversal",
            "usebitmaps",
            "usepathwalk",
            "usesparse",
            "window",
            "windowmemory",
            "writebitmaphashcache",
            "writebitmaplookuptable",
            "writebitmaps",
            "writereverseindex",
        ],
    ),
    ("pull", &["ff", "rebase"]),
    (
        "push",
        &[
            "autosetupremote",
            "default",
            "followtags",
            "gpgsign",
            "negotiate",
            "recursesubmodules",
            "useforceifincludes",
        ],
    ),
    ("rebase", &["abbreviatecommands", "autosquash", "autostash", "missingcommitscheck", "stat", "updaterefs"]),
    (
        "receive",
        &[
            "advertisepushoptions",
            "autogc",
            "denycurrentbranch",
            "denydeletes",
            "denynonfastforwards",
            "fsckobjects",
            "shallowupdate",
        ],
    ),
    ("remote", &["pushdefault"]),
    ("rerere", &["autoupdate", "enabled"]),
    (
        "submodule",
        &["active", "alternateerrorstrategy", "alternatelocation", "fetchjobs", "propagatebranches", "recurse"],
    ),
    ("tag", &["forcesignannotated", "gpgsign", "sort"]),
    ("transfer", &["credentialsinurl", "fsckobjects", "unpacklimit"]),
    ("uploadpack", &["allowanysha1inwant", "allowfilter", "allowreachablesha1inwant", "allowtipsha1inwant"]),
    ("user", &["email", "name", "signingkey", "useconfigonly"]),
    ("worktree", &["guessremote", "userelativepaths"]),
];

/// Harmless keys of sections with a subsection of any name.
const HARMLESS_BELOW: &[(&str, &[&str])] = &[
    ("gc", &["reflogexpire", "reflogexpireunreachable"]),
    ("lfs", &["access", "locksverify"]),
    ("maintenance", &["auto", "enabled", "schedule"]),
    (
        "remote",
        &[
            "fetch",
            "followremotehead",
            "gh-resolved",
            "mirror",
            "partialclonefilter",
            "promisor",
            "prune",
            "prunetags",
            "push",
            "pushurl",
            "skipdefaultupdate",
            "skipfetchall",
            "url",
        ],
    ),
    ("submodule", &["active", "branch", "fetchrecursesubmodules", "ignore", "url"]),
];

/// The only key of a branch that is passed to another program. The others are notes of Git, editors and clients of forges:
/// `merge`, `remote`, `description`, `gh-merge-base`, `vscode-merge-base`, ...
const RISKY_OF_BRANCH: &str = "mergeoptions";

/// The subsections of git-flow that contain names. Others name folders of programs.
const NAMES_OF_GIT_FLOW: [&str; 2] = ["branch", "prefix"];

/// Harmless values of `submodule.NAME.update`. Git runs any other value.
const HARMLESS_UPDATES: [&str; 4] = ["checkout", "merge", "none", "rebase"];

/// An entry that may run a program or make Git use another place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Risky {
    /// Identifies the entry independently of its formatting.
    pub(super) id: String,
    /// Description for users.
    pub(super) told: String,
    pub(super) entry: Entry,
}

/// Findings in a configuration.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Findings {
    /// The risky entries.
    pub(super) risky: Vec<Risky>,
    /// Whether the file has a syntax error.
    pub(super) is_malformed: bool,
}

/// Longest value that is part of an id. A longer value is replaced by its hash.
const MAX_ID_BYTES: usize = 256;

/// Judges all entries of a configuration. `is_own` tells whether a work tree belongs to the repository.
pub(super) fn look_through(text: &[u8], is_own: impl Fn(&str) -> bool) -> Findings {
    let Ok(entries) = entries(text) else { return Findings { is_malformed: true, ..Findings::default() } };
    let risky = entries.into_iter().filter(|entry| !is_harmless(entry, &is_own));
    let risky = risky.map(|entry| {
        let Entry { section, subsection, key, value, .. } = &entry;
        let below = if subsection.is_some() { ".*" } else { "" };
        Risky {
            id: short(format!("{section}.{subsection:?}.{key}={value:?}")),
            // The value is left out because it may be a secret.
            told: format!("its configuration sets `{}{below}.{}`", shown(section), shown(key)),
            entry,
        }
    });
    Findings { risky: risky.collect(), is_malformed: false }
}

/// Returns the SHA-256 of `bytes` in hexadecimal.
pub(super) fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn short(id: String) -> String {
    if id.len() <= MAX_ID_BYTES { id } else { hash(id.as_bytes()) }
}

fn is_harmless(entry: &Entry, is_own: impl Fn(&str) -> bool) -> bool {
    let Entry { section, subsection, key, value, .. } = entry;
    let (section, key) = (section.as_str(), key.as_str());
    let value = value.as_deref().unwrap_or("true");
    match (section, subsection.is_some(), key) {
        // The description is text for people and may have several lines.
        ("branch", true, "description") => return true,
        ("remote", true, "tagopt") => return matches!(value, "--tags" | "--no-tags"),
        _ => {}
    }
    if !is_plain(value) {
        return false;
    }
    if HARMLESS_SECTIONS.contains(&section) {
        return true;
    }
    let is_listed =
        |list: &[(&str, &[&str])]| list.iter().any(|(known, keys)| *known == section && keys.contains(&key));
    match (section, subsection.as_deref(), key) {
        ("core", None, "worktree") => is_own(value),
        ("core", None, "fsmonitor") => matches!(value, "true" | "false"),
        // Git looks for a file of this name among its own tools.
        ("merge" | "diff", None, "tool") => value.bytes().all(|byte| byte.is_ascii_alphanumeric()),
        ("branch", Some(_), key) => key != RISKY_OF_BRANCH,
        ("gitflow", Some(below), _) => below.split('.').next().is_some_and(|name| NAMES_OF_GIT_FLOW.contains(&name)),
        ("submodule", Some(_), "update") => HARMLESS_UPDATES.contains(&value),
        (_, None, _) => is_listed(HARMLESS),
        (_, Some(_), _) => is_listed(HARMLESS_BELOW),
    }
}

/// Returns whether a value is not a command, an option, or the name of a remote helper.
fn is_plain(value: &str) -> bool {
    !value.contains("::") && !value.starts_with(['!', '-']) && !value.chars().any(char::is_control)
}

fn shown(word: &str) -> String {
    word.chars().filter(|char| char.is_ascii_alphanumeric() || *char == '-').take(40).collect()
}

/// A path in a configuration that Git reads or runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ConfiguredPath {
    /// Another configuration, relative to the folder of this one.
    Configuration(String),
    /// A folder of hooks, relative to the work tree.
    Hooks(String),
    /// A program, relative to the work tree.
    Program(String),
    /// A word of a command that may be a file. Its mode does not matter, because interpreters run it too.
    Word(String),
    /// A word of a value that is not a command. If it is a program, it may be run.
    Argument(String),
    /// The template folder of new repositories, relative to the folder in which Git creates one.
    Template(String),
    /// A work tree, relative to the repository.
    WorkTree(String),
}

/// Returns the paths that a configuration names, as written. Returns none if the file has a syntax error.
pub(super) fn named(text: &[u8]) -> Vec<ConfiguredPath> {
    let mut named = Vec::new();
    let risky = entries(text).unwrap_or_default().into_iter().filter(|entry| !is_harmless(entry, |_| false));
    for Entry { section, subsection, key, value, .. } in risky {
        let Some(value) = value.filter(|value| !value.is_empty()) else { continue };
        match (section.as_str(), subsection.is_some(), key.as_str()) {
            ("include", false, "path") | ("includeif", true, "path") => {
                named.push(ConfiguredPath::Configuration(value));
            }
            ("core", false, "hookspath") => named.push(ConfiguredPath::Hooks(value)),
            ("core", false, "worktree") => named.push(ConfiguredPath::WorkTree(value)),
            ("init", false, "templatedir") => named.push(ConfiguredPath::Template(value)),
            ("core", false, "fsmonitor") if !matches!(value.as_str(), "true" | "false") => {
                named.push(ConfiguredPath::Program(value));
            }
            _ => {
                let is_command = match (section.as_str(), key.as_str()) {
                    ("alias", _) => value.starts_with('!'),
                    ("commit", "template") | ("core", "excludesfile") => false,
                    _ => true,
                };
                let words = words::of_command(value.trim_start_matches('!')).into_iter();
                if is_command {
                    named.extend(words.map(ConfiguredPath::Word));
                } else {
                    named.extend(words.filter(|word| word.contains('/')).map(ConfiguredPath::Argument));
                }
            }
        }
    }
    named
}

/// Resolves a path of a configuration against `folder` without normalizing it, because `..` after a symlink leads
/// elsewhere. `~` stands for the user's home.
pub(super) fn named_at_home(folder: &Path, named: &str, home: Option<&Path>) -> PathBuf {
    match (named.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => folder.join(named),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<String> {
        let found = look_through(text.as_bytes(), |value| value == "../sub");
        let malformed = found.is_malformed.then(|| "malformed".to_owned());
        found.risky.into_iter().map(|risky| risky.told.replace("its configuration ", "")).chain(malformed).collect()
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
        assert_eq!(told("[core]\n\tworktree = ../sub # ours\n\tfsmonitor = true\n"), [""; 0]);
    }

    #[test]
    fn what_common_clients_write_is_harmless() {
        let text = "[branch \"main\"]\n\tgh-merge-base = main\n\tvscode-merge-base = origin/main\n\tdescription = \"a # b\\n\"\n\
                    [remote \"origin\"]\n\tgh-resolved = base\n\tprune = true\n\ttagOpt = --no-tags\n[commit]\n\tgpgsign = false\n\
                    [maintenance]\n\tauto = false\n\tstrategy = incremental\n[maintenance \"gc\"]\n\tenabled = true\n\
                    [gitflow \"branch\"]\n\tmaster = main\n[gitflow \"prefix\"]\n\tfeature = feature/\n[gc]\n\tauto = 0\n\
                    [lfs]\n\trepositoryformatversion = 0\n[lfs \"https://example.org/a.git/info/lfs\"]\n\taccess = basic\n\
                    [gc \"refs/stash\"]\n\treflogExpire = never\n[maintenance \"gc\"]\n\tschedule = daily\n\
                    [submodule]\n\talternateLocation = superproject\n\talternateErrorStrategy = info\n\
                    [submodule \"a\"]\n\tupdate = rebase\n[pull]\n\trebase = true\n[merge]\n\ttool = vimdiff\n";
        assert_eq!(told(text), [""; 0]);
    }

    #[test]
    fn everything_else_is_a_risk() {
        for (text, expected) in [
            ("[core]\n\tfsmonitor = ./x.sh\n", "sets `core.fsmonitor`"),
            ("[CORE]\nFsMonitor=\"./x.sh\"\n", "sets `core.fsmonitor`"),
            ("[core] fsmonitor = ./x.sh\n", "sets `core.fsmonitor`"),
            ("[core]\n bare = \\\n false\n[alias]x=!y", "sets `alias.x`"),
            ("[core \"x\"]\n bare = false\n", "sets `core.*.bare`"),
            ("[core]\n hooksPath = h\n", "sets `core.hookspath`"),
            ("[core]\n hooksPath = false\n", "sets `core.hookspath`"),
            ("[core]\n pager = x\n", "sets `core.pager`"),
            ("[core]\n worktree = /home/user\n", "sets `core.worktree`"),
            ("[include]\n path = x\n", "sets `include.path`"),
            ("[includeIf \"gitdir:/\"]\n path = x\n", "sets `includeif.*.path`"),
            ("[alias]\n st = !x\n", "sets `alias.st`"),
            ("[diff \"x\"]\n textconv = x\n", "sets `diff.*.textconv`"),
            ("[filter \"x\"]\n clean = x\n", "sets `filter.*.clean`"),
            ("[merge \"x\"]\n driver = x\n", "sets `merge.*.driver`"),
            ("[merge]\n tool = ../../x\n", "sets `merge.tool`"),
            ("[mergetool \"x\"]\n cmd = x\n", "sets `mergetool.*.cmd`"),
            ("[trailer \"x\"]\n cmd = x\n", "sets `trailer.*.cmd`"),
            ("[credential]\n helper = !x\n", "sets `credential.helper`"),
            ("[gpg]\n program = x\n", "sets `gpg.program`"),
            ("[gc]\n recentObjectsHook = x\n", "sets `gc.recentobjectshook`"),
            ("[gc]\n repackFilterTo = /x\n", "sets `gc.repackfilterto`"),
            ("[maintenance]\n unknown = x\n", "sets `maintenance.unknown`"),
            ("[gc \"x\"]\n recentObjectsHook = x\n", "sets `gc.*.recentobjectshook`"),
            ("[gpg \"ssh\"]\n defaultKeyCommand = x\n", "sets `gpg.*.defaultkeycommand`"),
            ("[sequence]\n editor = x\n", "sets `sequence.editor`"),
            ("[ssh]\n variant = simple\n", "sets `ssh.variant`"),
            ("[http]\n proxy = x\n", "sets `http.proxy`"),
            ("[sendemail]\n smtpServer = /x\n", "sets `sendemail.smtpserver`"),
            ("[uploadpack]\n packObjectsHook = x\n", "sets `uploadpack.packobjectshook`"),
            ("[url \"ext::x\"]\n insteadOf = https://\n", "sets `url.*.insteadof`"),
            ("[protocol \"ext\"]\n allow = always\n", "sets `protocol.*.allow`"),
            ("[remote \"origin\"]\n url = ext::sh -c x\n", "sets `remote.*.url`"),
            ("[remote \"origin\"]\n url = \"ext\\\n::sh -c x\"\n", "sets `remote.*.url`"),
            ("[remote \"origin\"]\n uploadpack = x\n", "sets `remote.*.uploadpack`"),
            ("[remote \"origin\"]\n tagOpt = --upload-pack=x\n", "sets `remote.*.tagopt`"),
            ("[remote \"a\\\"]\"]\n vcs = x\n", "sets `remote.*.vcs`"),
            ("[submodule \"a\"]\n update = !x\n", "sets `submodule.*.update`"),
            ("[submodule \"a\"]\n url = --upload-pack=x\n", "sets `submodule.*.url`"),
            ("[branch \"a\"]\n mergeOptions = --strategy=x\n", "sets `branch.*.mergeoptions`"),
            ("[gitflow \"path\"]\n hooks = x\n", "sets `gitflow.*.hooks`"),
            ("[unknown]\n harmless = 1\n", "sets `unknown.harmless`"),
            ("fsmonitor = x\n", "malformed"),
            ("[core]\n editor = \"x\n", "malformed"),
        ] {
            assert_eq!(told(text), [expected], "{text:?}");
        }
    }

    #[test]
    fn an_entry_is_the_same_however_it_is_written() {
        let id = |text: &str| look_through(text.as_bytes(), |_| true).risky[0].id.clone();
        let usual = id("[core]\n\thooksPath = .husky\n");
        assert_eq!(id("[CORE] hookspath=\".husky\" # ours\n"), usual);
        assert_ne!(id("[core]\n\thooksPath = .husky2\n"), usual);
    }

    #[test]
    fn what_is_named_is_found() {
        let text = "[include]\n path = ../a\n[includeIf \"x\"]\n path = ~/b\n[core]\n hooksPath = \"c d\" # x\n fsmonitor = d\n\
                    [diff \"x\"]\n textconv = sh ./tools/text --x='x/y'\n[alias]\n s = log a/b c\n[remote \"o\"]\n url = https://example.org/x\n";
        let expected = [
            ConfiguredPath::Configuration("../a".to_owned()),
            ConfiguredPath::Configuration("~/b".to_owned()),
            ConfiguredPath::Hooks("c d".to_owned()),
            ConfiguredPath::Program("d".to_owned()),
            ConfiguredPath::Word("sh".to_owned()),
            ConfiguredPath::Word("./tools/text".to_owned()),
            ConfiguredPath::Word("--x".to_owned()),
            ConfiguredPath::Word("x/y".to_owned()),
            ConfiguredPath::Argument("a/b".to_owned()),
        ];
        assert_eq!(named(text.as_bytes()), expected);
        assert_eq!(named_at_home(Path::new("/w"), "~/b", Some(Path::new("/home/u"))), Path::new("/home/u/b"));
        assert_eq!(named_at_home(Path::new("/w"), "~/b", None), Path::new("/w/~/b"));
    }
}
