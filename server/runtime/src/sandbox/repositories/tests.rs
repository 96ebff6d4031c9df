use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;

use trace_needs::{Need, skip};

use super::*;
use crate::settings::Network;

/// A folder with a repository of the user in it.
pub(super) struct Place(tempfile::TempDir);

impl Place {
    pub(super) fn new() -> Self {
        let place = Self(tempfile::tempdir().expect("a folder"));
        place.repository("work/lib/.git", "[core]\n\tbare = false\n");
        place
    }

    pub(super) fn at(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().expect("a path").join(name)
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        let path = self.at(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("writes");
    }

    pub(super) fn repository(&self, name: &str, config: &str) {
        for part in ["objects", "refs"] {
            fs::create_dir_all(self.at(name).join(part)).expect("a folder");
        }
        self.write(&format!("{name}/HEAD"), "ref: refs/heads/main\n");
        self.write(&format!("{name}/config"), config);
    }

    pub(super) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.at(name)).unwrap_or_default()
    }

    pub(super) fn confinement(&self, roots: &[&str]) -> Confinement {
        Confinement::new(roots.iter().map(|root| self.at(root)).collect(), Network::Closed)
    }

    /// Starts a watch for the folder `work`, and returns it with the read-only places.
    pub(super) fn watch(
        &self,
        repositories: &Arc<Repositories>,
        enforcement: ReadOnlyEnforcement,
    ) -> (Watch, Confinement) {
        let mut confinement = self.confinement(&["work"]);
        let watch = repositories.watch(&mut confinement, enforcement).expect("something is open");
        (watch, confinement)
    }
}

pub(super) fn bounded(before: usize, after: usize) -> Arc<Repositories> {
    let bounds = |folders| Bounds { folders, time: MAX_SEARCH };
    let bounds = SearchBounds { before: bounds(before), after: bounds(after) };
    Arc::new(Repositories { bounds, ..Repositories::default() })
}

pub(super) fn unbounded() -> Arc<Repositories> {
    bounded(MAX_FOLDERS, MAX_FOLDERS_AFTER)
}

pub(super) const EVIL: &str = "[core]\n\tbare = false\n\tfsmonitor = x\n";

#[test]
fn what_was_not_searched_is_closed() {
    let place = Place::new();
    for number in 0..4 {
        fs::create_dir_all(place.at(&format!("work/large/{number}/x/y"))).expect("a folder");
    }
    // The folder itself, two in it, and one level more.
    let repositories = bounded(8, 64);
    let (mut watch, confinement) = place.watch(&repositories, ReadOnlyEnforcement::Mounts);
    assert!(confinement.closed.contains(&place.at("work/large")), "{confinement:?}");
    assert_eq!(confinement.writable, [place.at("work")]);
    assert!(!confinement.allows_writing_at(&place.at("work/large/x")));
    // The content was read-only, and a later search with higher limits does not treat it as new.
    place.repository("work/large/0/.git", EVIL);
    assert_eq!(watch.check(), Report::default());
    watch.end();
    // Where parts cannot be made read-only, the whole folder is, and so is the writable folder around it.
    let (watch, confinement) = place.watch(&repositories, ReadOnlyEnforcement::Nothing);
    assert!(confinement.writable.is_empty() && watch.shut().contains(&place.at("work")));
    let mut confinement = place.confinement(&["", "work", "other"]);
    let _watch = repositories.watch(&mut confinement, ReadOnlyEnforcement::Nothing).expect("something is open");
    assert_eq!(confinement.writable, [place.at("other")]);
}

#[test]
fn very_many_folders_close_the_whole() {
    let place = Place::new();
    for number in 0..=MAX_CLOSED {
        fs::create_dir_all(place.at(&format!("work/many/{number}/x"))).expect("a folder");
        fs::create_dir_all(place.at(&format!("work/{number}/x"))).expect("a folder");
    }
    fs::create_dir(place.at("other")).expect("a folder");
    let repositories = bounded(100, MAX_FOLDERS_AFTER);
    let mut confinement = place.confinement(&["work", "other"]);
    let watch = repositories.watch(&mut confinement, ReadOnlyEnforcement::Mounts).expect("something is open");
    // Each writable folder is searched separately.
    assert_eq!(confinement.writable, [place.at("other")]);
    assert_eq!(watch.unsearched(), &BTreeMap::from([(place.at("work"), Unsearched::TooMany)]));
    // A folder with many unsearched folders counts once.
    let mut confinement = place.confinement(&["work/many", "other"]);
    let repositories = bounded(MAX_CLOSED + 2, MAX_FOLDERS_AFTER);
    let watch = repositories.watch(&mut confinement, ReadOnlyEnforcement::Mounts).expect("something is open");
    assert_eq!(watch.unsearched().keys().collect::<Vec<_>>(), [&place.at("work/many")]);
}

#[test]
fn a_search_that_did_not_get_through_is_made_up_for() {
    let place = Place::new();
    let repositories = bounded(16, 16);
    let (mut watch, _) = place.watch(&repositories, ReadOnlyEnforcement::Mounts);
    for number in 0..32 {
        fs::create_dir_all(place.at(&format!("work/{number}"))).expect("a folder");
    }
    place.repository("work/31/z/.git", EVIL);
    let words = watch.check().in_words();
    assert!(words.contains("Not all folders could be searched") && !words.contains("put aside"), "{words}");
    assert_eq!(words.lines().count(), 2, "{words}");
    // It is reported once.
    assert_eq!(watch.check(), Report::default());
    watch.end();
    // The next command cannot write there.
    let (mut watch, confinement) = place.watch(&repositories, ReadOnlyEnforcement::Mounts);
    assert!(!confinement.allows_writing_at(&place.at("work/31/x")) || confinement.writable.is_empty());
    assert_eq!(watch.check(), Report::default());
    watch.end();
    // The user deletes folders, and the search is complete.
    (0..31).for_each(|number| fs::remove_dir(place.at(&format!("work/{number}"))).expect("removes"));
    let (mut watch, _) = place.watch(&repositories, ReadOnlyEnforcement::Mounts);
    assert_eq!(place.read("work/31/z/.git/config"), "[core]\n\tbare = false\n");
    let words = watch.check().in_words();
    assert!(words.contains("31/z/.git: its configuration sets `core.fsmonitor`; `config` is now"), "{words}");
    watch.end();
    assert!(repositories.memory().pending.is_empty());
}

#[test]
fn a_server_that_was_killed_is_made_up_for() {
    let place = Place::new();
    place.write("work/lib/.git/config", "[core]\n\tbare = false\n[alias]\n\tst = !x\n");
    // Everything that a record can contain.
    place.repository("work/hooked/.git", "[core]\n\thooksPath = .hooks\n[include]\n\tpath = ../inc\n");
    place.write("work/hooked/.hooks/pre-commit", "#!/bin/sh\n");
    place.write("work/hooked/inc", "");
    place.write("work/hooked/.git/hooks/pre-push", "#!/bin/sh\n");
    place.write("work/sub/.git", "gitdir: ../lib/.git\n");
    // A name that is not UTF-8.
    let odd = place.at("work").join(std::ffi::OsString::from_vec(b"odd \xff".to_vec()));
    for name in [".git/objects", ".git/refs", ".hooks"] {
        fs::create_dir_all(odd.join(name)).expect("a folder");
    }
    fs::write(odd.join(".git/config"), "[core]\n\thooksPath = .hooks\n").expect("writes");
    fs::write(odd.join(".hooks/pre-commit"), "#!/bin/sh\n").expect("writes");
    let server = || Arc::new(Repositories::new(UserGit::default(), &place.at("home/watched")));
    let count = || fs::read_dir(place.at("home/watched")).expect("a folder").count();
    let killed = server();
    let (watch, _) = place.watch(&killed, ReadOnlyEnforcement::Nothing);
    place.repository("work/new/.git", EVIL);
    place.write("work/hooked/.hooks/pre-commit", "#!/bin/sh\nx\n");
    place.write("work/lib/.git/config", "[core]\n\tbare = false\n\tpager = y\n[alias]\n\tst = !x\n");
    // The server still runs and checks it itself.
    assert!(server().recover().is_empty());
    drop((watch, killed));
    let words = server().recover().in_words();
    assert_eq!(words.lines().count(), 4, "{words}");
    assert!(odd.join(".hooks/pre-commit").exists());
    assert!(!place.at("work/hooked/.hooks/pre-commit").exists() && place.at("work/hooked/inc").exists());
    assert!(place.at("work/sub/.git").exists() && place.at("work/hooked/.git/hooks/pre-push").exists());
    assert_eq!(place.read("work/new/.git/config"), "[core]\n\tbare = false\n");
    assert_eq!(place.read("work/lib/.git/config"), "[core]\n\tbare = false\n[alias]\n\tst = !x\n");
    assert_eq!(count(), 0);
    let killed = server();
    // A command that ended normally leaves no record, and neither does one that never started.
    let (mut watch, _) = place.watch(&killed, ReadOnlyEnforcement::Nothing);
    assert_eq!(count(), 1);
    watch.check();
    watch.end();
    place.watch(&killed, ReadOnlyEnforcement::Nothing).0.end();
    assert_eq!(count(), 0);
}

#[test]
fn a_configuration_keeps_what_is_harmless_in_it() {
    let place = Place::new();
    let was = "[core]\n\tbare = false\n\tpager = less\n";
    place.write("work/lib/.git/config", was);
    let repositories = unbounded();
    for (now, then) in [
        // One harmless entry and one risky entry.
        (
            format!("{was}[branch \"x\"]\n\tremote = origin\n\tgh-merge-base = main\n[alias]\n\tst = !y\n"),
            format!("{was}[branch \"x\"]\n\tremote = origin\n\tgh-merge-base = main\n[alias]\n"),
        ),
        (format!("{was}\tpager = evil # x\n"), was.to_owned()),
        (format!("{was}[alias \"x\n"), was.to_owned()),
        // The same entry with another layout is not new.
        ("[core] pager = \"less\"\n".to_owned(), "[core] pager = \"less\"\n".to_owned()),
    ] {
        place.write("work/lib/.git/config", was);
        let (mut watch, _) = place.watch(&repositories, ReadOnlyEnforcement::Nothing);
        place.write("work/lib/.git/config", &now);
        let report = watch.check();
        assert_eq!(place.read("work/lib/.git/config"), then, "{now}");
        assert_eq!(report.is_empty(), now == then, "{report:?}");
        watch.end();
    }
}

#[test]
fn folders_of_sources_are_no_risk() {
    let place = Place::new();
    let repositories = unbounded();
    let (mut watch, _) = place.watch(&repositories, ReadOnlyEnforcement::Nothing);
    for name in ["objects/x", "refs/x", "config/x", "hooks/useThings.ts", "hooks/shared/x", "commondir/x"] {
        place.write(&format!("work/src/{name}"), "x");
    }
    assert_eq!(watch.check(), Report::default());
}

#[test]
fn what_cannot_be_put_aside_is_told_until_it_can() {
    let place = Place::new();
    let repositories = unbounded();
    let (mut watch, _) = place.watch(&repositories, ReadOnlyEnforcement::Nothing);
    place.repository("work/new/.git", EVIL);
    let new = place.at("work/new/.git");
    // Not even the owner can rename entries of the folder.
    let chattr = |flag: &str| {
        let mut command = std::process::Command::new("chattr");
        let output = command.arg(flag).arg(&new).output();
        output.is_ok_and(|output| output.status.success())
    };
    if !chattr("+i") {
        return skip(
            Need::Programs,
            "repositories that cannot be put aside: `chattr +i` takes root and a file system with attributes",
        );
    }
    for _ in 0..2 {
        let words = watch.check().in_words();
        assert!(words.contains("could not be put aside: do not use Git there"), "{words}");
        assert!(!words.contains("was put aside"), "{words}");
    }
    watch.end();
    let (mut watch, _) = place.watch(&repositories, ReadOnlyEnforcement::Nothing);
    assert!(!watch.check().is_empty());
    assert!(chattr("-i"));
    let words = watch.check().in_words();
    assert!(words.contains("was put aside") && !words.contains("could not"), "{words}");
    assert_eq!(watch.check(), Report::default());
}

#[test]
fn a_git_file_leads_to_no_repository_that_nobody_looks_at() {
    let place = Place::new();
    place.repository("elsewhere/.git", "");
    place.write("work/mine/.git", "gitdir: ../../elsewhere/.git\n");
    place.write("work/inner/.git", "gitdir: ../lib/.git\n");
    let repositories = unbounded();
    let (mut watch, _) = place.watch(&repositories, ReadOnlyEnforcement::Nothing);
    place.write("work/new/.git", "gitdir: ../../elsewhere/.git\n");
    place.write("work/inner/.git", "gitdir: ../../elsewhere/.git\n");
    fs::create_dir(place.at("work/link")).expect("a folder");
    std::os::unix::fs::symlink(place.at("elsewhere/.git"), place.at("work/link/.git")).expect("a link");
    let words = watch.check().in_words();
    assert_eq!(words.matches("it leads to a repository outside of the open folders").count(), 3, "{words}");
    for (name, is_there) in [("mine", true), ("new", false), ("inner", false), ("link", false)] {
        assert_eq!(place.at(&format!("work/{name}/.git")).symlink_metadata().is_ok(), is_there, "{name}");
    }
}

#[test]
fn a_git_file_that_leads_nowhere_is_put_aside() {
    let place = Place::new();
    place.repository("elsewhere/.git", "");
    place.write("work/mine/.git", "gitdir: ../missing\n");
    place.write("work/sub/x", "");
    place.repository("work/sub/ l/.git", "");
    let repositories = unbounded();
    for text in [
        &b"gitdir: l\0"[..],
        b"gitdir: l\0 x\n",
        b"gitdir: l\xff\n",
        b"gitdir:  l/.git \n",
        b"gitdir:  l/.git\t\n",
        b"gitdir: missing\n",
        b"nothing",
        // Git accepts such a long path without the components that lead nowhere.
        &[b"gitdir: ".as_slice(), b"./".repeat(1500).as_slice(), b"l\n"].concat(),
    ] {
        for name in ["l", "l\u{ff}"] {
            link(&place, &format!("work/sub/{name}"), "../../elsewhere/.git");
        }
        let (mut watch, _) = place.watch(&repositories, ReadOnlyEnforcement::Nothing);
        fs::write(place.at("work/sub/.git"), text).expect("writes");
        let words = watch.check().in_words();
        assert!(words.contains("sub/.git: it leads to "), "{text:?}: {words}");
        assert!(!place.at("work/sub/.git").exists() && place.at("work/mine/.git").exists(), "{text:?}");
        watch.end();
    }
    // Spaces are part of the name.
    let (mut watch, _) = place.watch(&repositories, ReadOnlyEnforcement::Nothing);
    place.write("work/sub/.git", "gitdir:  l/.git\n");
    assert_eq!(watch.check(), Report::default());
    // A file behind a symlink is resolved relative to the folder of the symlink.
    place.write("work/files/lib/x", "gitdir: ../lib/.git\n");
    place.write("work/lib2/x", "");
    link(&place, "work/lib2/.git", "../files/lib/x");
    assert_eq!(watch.check(), Report::default());
}

#[test]
fn a_repository_around_an_open_folder_names_files_in_it() {
    let place = Place::new();
    place.repository(".git", "[core]\n\thooksPath = work/hooks # ours\n");
    place.write("home/.gitconfig", "[core]\n\thooksPath = .githooks\n");
    place.write("work/hooks/pre-commit", "#!/bin/sh\n");
    let repositories = Arc::new(Repositories::new(UserGit::usual(Some(place.at("home"))), &place.at("home/watched")));
    let (watch, confinement) = place.watch(&repositories, ReadOnlyEnforcement::Mounts);
    assert!(confinement.closed.contains(&place.at("work/hooks")), "{confinement:?}");
    watch.end();
    let (mut watch, _) = place.watch(&repositories, ReadOnlyEnforcement::Nothing);
    place.write("work/hooks/pre-commit", "#!/bin/sh\nevil\n");
    place.write("work/hooks/README.md", "x");
    // The user's own configuration names a folder in each work tree.
    place.write("work/lib/.githooks/pre-commit", "evil");
    let words = watch.check().in_words();
    assert_eq!(words.lines().count(), 3, "{words}");
    assert!(
        words.contains("hooks/pre-commit: Git runs or reads it, and it was changed; `pre-commit` is now"),
        "{words}"
    );
    assert!(words.contains("lib/.githooks: Git runs or reads it, and it was missing"), "{words}");
    assert_eq!(watch.check(), Report::default());
}

#[test]
fn so_many_repositories_are_closed() {
    let place = Place::new();
    (0..MAX_CLOSED).for_each(|number| place.repository(&format!("work/deep/{number}/.git"), ""));
    let (mut watch, confinement) = place.watch(&unbounded(), ReadOnlyEnforcement::Mounts);
    assert_eq!(confinement.closed.len(), MAX_CLOSED);
    assert!(confinement.closed.contains(&place.at("work/lib/.git")));
    // Includes at the depth limit are compared.
    let open = (0..MAX_CLOSED).map(|number| format!("work/deep/{number}/.git"));
    let open = open.filter(|name| !confinement.closed.contains(&place.at(name))).collect::<Vec<_>>();
    assert_eq!(open.len(), 1);
    place.write(&format!("{}/config", open[0]), EVIL);
    assert!(watch.check().in_words().contains("`core.fsmonitor`"));
}

#[test]
fn so_many_repositories_of_commands_are_known_for_as_long_as_they_are_there() {
    let place = Place::new();
    let repositories = unbounded();
    let (mut watch, _) = place.watch(&repositories, ReadOnlyEnforcement::Mounts);
    place.repository("work/made/.git", "");
    place.write("work/tree/.git", "gitdir: ../made/.git\n");
    watch.check();
    watch.end();
    assert_eq!(repositories.memory().made.len(), 2);
    let (mut watch, confinement) = place.watch(&repositories, ReadOnlyEnforcement::Mounts);
    assert_eq!(confinement.closed, [place.at("work/lib/.git")]);
    fs::remove_dir_all(place.at("work/made")).expect("removes");
    watch.check();
    assert_eq!(repositories.memory().made.len(), 1);
    watch.end();
    let made = (0..MAX_MADE as u64).map(|number| (Identity::from(number), PathBuf::from("/elsewhere")));
    repositories.memory().made = made.collect();
    let (mut watch, _) = place.watch(&repositories, ReadOnlyEnforcement::Mounts);
    place.repository("work/more/.git", "");
    watch.check();
    watch.end();
    assert_eq!(repositories.memory().made.len(), MAX_MADE);
    let (_, confinement) = place.watch(&repositories, ReadOnlyEnforcement::Mounts);
    assert!(confinement.closed.contains(&place.at("work/more/.git")));
}

#[test]
fn what_cannot_be_listed_is_no_crowd() {
    let place = Place::new();
    place.repository("work/new/.git", "");
    walk::without_roots_rights();
    fs::set_permissions(place.at("work/new"), PermissionsExt::from_mode(0o311)).expect("a mode");
    let repositories = unbounded();
    let (mut watch, confinement) = place.watch(&repositories, ReadOnlyEnforcement::Mounts);
    assert_eq!(watch.unsearched(), &BTreeMap::from([(place.at("work/new"), Unsearched::Unlistable)]));
    assert!(confinement.closed.contains(&place.at("work/new")));
    place.repository("work/lib/.git/modules/evil", EVIL);
    fs::set_permissions(place.at("work/lib/.git/modules"), PermissionsExt::from_mode(0o311)).expect("a mode");
    let words = watch.check().in_words();
    assert!(
        words.contains("modules/evil: its configuration sets `core.fsmonitor`") && !words.contains("listed"),
        "{words}"
    );
    // A folder that could not be listed before stays so.
    assert_eq!(fs::metadata(place.at("work/new")).expect("is there").permissions().mode() & 0o777, 0o311);
    fs::set_permissions(place.at("work/new"), PermissionsExt::from_mode(0o755)).expect("a mode");
}

/// Creates a symlink and its parent folders.
pub(super) fn link(place: &Place, name: &str, to: &str) {
    let path = place.at(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    // It may replace another symlink.
    let _gone = fs::remove_file(&path);
    std::os::unix::fs::symlink(to, path).expect("a link");
}

#[test]
fn only_paths_without_links_are_closed() {
    let place = Place::new();
    place.write("work/lib/.git/config", "[core]\n\thooksPath = tools/hooks\n");
    place.write("work/lib/real/hooks/pre-push", "#!/bin/sh\n");
    place.write("work/lib/real/pc", "#!/bin/sh\n");
    link(&place, "work/lib/tools", "real");
    link(&place, "work/lib/scripts", "real");
    link(&place, "work/lib/.git/hooks/pre-commit", "../../scripts/pc");
    let (watch, confinement) = place.watch(&unbounded(), ReadOnlyEnforcement::Mounts);
    for path in ["work/lib/real/hooks", "work/lib/real/pc", "work/lib/.git"] {
        assert!(confinement.closed.contains(&place.at(path)), "{path}: {confinement:?}");
    }
    assert!(confinement.closed.iter().all(|path| path.canonicalize().ok().as_ref() == Some(path)), "{confinement:?}");
    crate::sandbox::bubblewrap::mounts(&confinement).expect("all can be mounted");
    watch.end();
}

#[test]
fn links_on_the_way_to_what_git_runs_are_compared() {
    for (name, config, then) in [
        // The named path itself is a symlink.
        (".githooks", "[core]\n\thooksPath = .githooks\n", "evil"),
        ("inc", "[include]\n\tpath = ../inc\n", "evil/file"),
        ("diff", "[diff]\n\texternal = ./diff\n", "evil/file"),
        // A symlink lies on the way, also before `..`.
        ("tools", "[core]\n\thooksPath = tools/hooks\n", "evil"),
        ("tools", "[include]\n\tpath = ../tools/../inner/file\n", "evil"),
        ("second", "[core]\n\thooksPath = first/hooks\n", "evil"),
        ("tools", "[core]\n\tfsmonitor = tools/file\n", "evil"),
    ] {
        for enforcement in [ReadOnlyEnforcement::Mounts, ReadOnlyEnforcement::Nothing] {
            let place = Place::new();
            place.write("work/lib/.git/config", config);
            for folder in ["v1", "evil"] {
                for file in ["file", "pre-commit", "hooks/pre-commit", "inner/file"] {
                    place.write(&format!("work/lib/{folder}/{file}"), "#!/bin/sh\n");
                }
            }
            let led = if then == "evil" { "v1" } else { "v1/file" };
            link(&place, &format!("work/lib/{name}"), led);
            if name == "second" {
                link(&place, "work/lib/first", "second");
            }
            let repositories = unbounded();
            let (mut watch, _) = place.watch(&repositories, enforcement);
            assert_eq!(watch.check(), Report::default(), "{config}");
            link(&place, &format!("work/lib/{name}"), then);
            let words = watch.check().in_words();
            assert!(
                words.contains(&format!("lib/{name}: Git runs or reads it, and it was changed")),
                "{config}: {words}"
            );
            assert!(place.at(&format!("work/lib/{name}")).symlink_metadata().is_err(), "{config}");
            watch.end();
            // A folder replaces the symlink.
            link(&place, &format!("work/lib/{name}"), led);
            let (mut watch, _) = place.watch(&repositories, enforcement);
            fs::remove_file(place.at(&format!("work/lib/{name}"))).expect("removes");
            place.write(&format!("work/lib/{name}/hooks/pre-commit"), "evil");
            assert!(watch.check().in_words().contains("it was changed"), "{config}");
            watch.end();
        }
    }
}

#[test]
fn a_folder_on_the_way_to_what_git_runs_becomes_no_link() {
    let place = Place::new();
    place.write("work/lib/.git/config", "[core]\n\thooksPath = tools/new/hooks\n");
    place.write("work/lib/tools/x", "");
    let repositories = unbounded();
    let (mut watch, _) = place.watch(&repositories, ReadOnlyEnforcement::Nothing);
    // A new folder is harmless.
    place.write("work/lib/tools/new/x", "");
    assert_eq!(watch.check(), Report::default());
    place.write("work/lib/evil/new/hooks/pre-commit", "evil");
    fs::remove_dir_all(place.at("work/lib/tools")).expect("removes");
    link(&place, "work/lib/tools", "evil");
    let words = watch.check().in_words();
    assert!(words.contains("lib/tools: Git runs or reads it") && words.contains("`tools.untrusted`"), "{words}");
    assert!(!words.contains("could not be put aside"), "{words}");
}

#[test]
fn what_links_in_a_repository_lead_to_is_closed_and_compared() {
    let place = Place::new();
    place.write("work/lib/hooks/pre-commit", "#!/bin/sh\n");
    place.write("work/lib/settings", "[core]\n\tbare = false\n");
    link(&place, "work/lib/.git/hooks", "../hooks");
    link(&place, "work/lib/.git/config", "../settings");
    let repositories = unbounded();
    let (watch, confinement) = place.watch(&repositories, ReadOnlyEnforcement::Mounts);
    for path in ["work/lib/hooks", "work/lib/settings"] {
        assert!(confinement.closed.contains(&place.at(path)), "{path}: {confinement:?}");
    }
    watch.end();
    let (mut watch, _) = place.watch(&repositories, ReadOnlyEnforcement::Nothing);
    place.write("work/lib/hooks/pre-commit", "evil");
    place.write("work/lib/hooks/pre-push", "evil");
    place.write("work/lib/settings", EVIL);
    let words = watch.check().in_words();
    assert_eq!(words.matches("Git runs or reads it").count(), 3, "{words}");
    for path in ["hooks/pre-commit", "hooks/pre-push", "settings"] {
        assert!(!place.at(&format!("work/lib/{path}")).exists(), "{path}");
    }
}

#[test]
fn words_of_configured_commands_are_files_whatever_their_mode() {
    let place = Place::new();
    let config = "[filter \"x\"]\n\tclean = python3 tools/clean.py --rules=tools/rules new/missing.py build/\n\
                  [diff \"x\"]\n\ttextconv = sh text\n[commit]\n\ttemplate = docs/message\n[alias]\n\tl = log docs/log\n";
    place.write("work/lib/.git/config", config);
    for name in ["tools/clean.py", "tools/rules", "text", "docs/message", "docs/log"] {
        place.write(&format!("work/lib/{name}"), "x\n");
    }
    let repositories = unbounded();
    let (watch, confinement) = place.watch(&repositories, ReadOnlyEnforcement::Mounts);
    for (name, is_closed) in
        [("tools/clean.py", true), ("tools/rules", true), ("text", true), ("docs/message", false), ("docs/log", false)]
    {
        let path = place.at(&format!("work/lib/{name}"));
        assert_eq!(confinement.closed.contains(&path), is_closed, "{name}: {confinement:?}");
    }
    watch.end();
    let (mut watch, _) = place.watch(&repositories, ReadOnlyEnforcement::Nothing);
    // A folder is not a program, and neither is a word without a slash that was not a file.
    for name in ["build/x", "python3", "docs/message", "docs/log"] {
        place.write(&format!("work/lib/{name}"), "y\n");
    }
    assert_eq!(watch.check(), Report::default());
    for name in ["tools/clean.py", "text", "new/missing.py"] {
        place.write(&format!("work/lib/{name}"), "evil\n");
    }
    let words = watch.check().in_words();
    assert_eq!(words.matches("Git runs or reads it").count(), 3, "{words}");
    for name in ["tools/clean.py", "text", "new/missing.py"] {
        assert!(!place.at(&format!("work/lib/{name}")).exists(), "{name}: {words}");
    }
}

#[test]
fn a_repository_that_a_command_made_at_the_top_stays_open_to_the_next_one() {
    let place = Place::new();
    let repositories = unbounded();
    let (mut watch, confinement) = place.watch(&repositories, ReadOnlyEnforcement::Mounts);
    assert!(confinement.made.is_empty());
    place.repository("work/.git", "[core]\n\tbare = false\n");
    watch.check();
    watch.end();
    let (watch, confinement) = place.watch(&repositories, ReadOnlyEnforcement::Mounts);
    assert_eq!(confinement.made, [place.at("work/.git")]);
    assert!(confinement.protected().is_empty(), "{confinement:?}");
    watch.end();
    // A repository that takes its path counts as made by the user.
    fs::remove_dir_all(place.at("work/.git")).expect("removes");
    fs::create_dir(place.at("work/another")).expect("a folder");
    place.repository("work/.git", "[core]\n\tbare = false\n");
    let (_watch, confinement) = place.watch(&repositories, ReadOnlyEnforcement::Mounts);
    assert_eq!(confinement.protected(), [place.at("work/.git")]);
}

#[test]
fn hooks_that_are_written_anew_with_the_same_content_stay() {
    let place = Place::new();
    place.write("work/lib/.git/config", "[core]\n\thooksPath = .husky/_\n");
    let hook = |text: &str| {
        place.write("work/lib/.husky/_/pre-commit", text);
        place.write("work/lib/.git/hooks/post-commit", text);
    };
    hook("echo mine");
    let (mut watch, _) = place.watch(&unbounded(), ReadOnlyEnforcement::Nothing);
    for folder in ["work/lib/.husky", "work/lib/.git/hooks"] {
        fs::remove_dir_all(place.at(folder)).expect("removes");
    }
    hook("echo mine");
    assert_eq!(watch.check(), Report::default());
    hook("echo evil");
    let words = watch.check().in_words();
    assert!(words.contains("pre-commit") && words.contains("post-commit"), "{words}");
    assert_eq!(place.read("work/lib/.husky/_/pre-commit.untrusted"), "echo evil");
}

#[test]
fn a_hook_that_becomes_executable_was_changed() {
    let place = Place::new();
    place.write("work/lib/.git/hooks/post-commit", "echo");
    let (mut watch, _) = place.watch(&unbounded(), ReadOnlyEnforcement::Nothing);
    let hook = place.at("work/lib/.git/hooks/post-commit");
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).expect("sets");
    assert!(watch.check().in_words().contains("post-commit"));
    assert!(!hook.exists());
}
