//! Attempts to leave something that the user's next use of Git runs, with one test for each way.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::tests::{EVIL, Place, link, unbounded};
use super::*;

const HOOK: &str = "#!/bin/sh\n";

#[test]
fn hooks_of_a_new_repository_are_its_own() {
    let place = Place::new();
    place.write("home/.gitconfig", "[core]\n\thooksPath = hooks\n");
    let words = command(&place, &of_user(&place), || {
        place.repository("work/new/.git", "");
        place.write("work/new/.git/hooks/pre-commit.sample", HOOK);
    });
    assert!(words.is_empty() && is_there(&place, "work/new/.git/hooks/pre-commit.sample"), "{words}");
}

/// Returns the repositories of a user whose home directory is `home`.
fn of_user(place: &Place) -> Arc<Repositories> {
    Arc::new(Repositories::new(UserGit::usual(Some(place.at("home"))), &place.at("watched")))
}

/// Runs a command that does something, and returns the report.
fn command(place: &Place, repositories: &Arc<Repositories>, does: impl FnOnce()) -> String {
    let (mut watch, _) = place.watch(repositories, ReadOnlyEnforcement::Mounts);
    does();
    let words = watch.check().in_words();
    assert_eq!(watch.check(), Report::default(), "it is told once");
    watch.end();
    words
}

fn is_there(place: &Place, name: &str) -> bool {
    place.at(name).symlink_metadata().is_ok()
}

#[test]
fn symlinks_through_which_git_would_write_are_put_aside() {
    let place = Place::new();
    let repositories = unbounded();
    link(&place, "work/lib/.git/info/exclude", "../../mine");
    for (name, led) in [
        ("work/lib/.git/logs/HEAD", "/home/user/.bashrc"),
        ("work/lib/.git/FETCH_HEAD", "hooks/pre-commit"),
        ("work/lib/.git/packed-refs", "/home/user/.bash_profile"),
        ("work/lib/.git/refs/heads/objects/x", "../../../config"),
        ("work/lib/.git/MERGE_MSG", "config"),
        ("work/lib/.git/modules/deep/x", "/x"),
        ("work/new/.git/logs", "/x"),
        ("work/new/.git/HEAD", "refs/../config"),
        ("work/bare/logs/HEAD", "/x"),
        ("work/bare/COMMIT_EDITMSG", "config"),
        ("work/later.git/logs", "/x"),
    ] {
        let words = command(&place, &repositories, || {
            place.repository("work/new/.git", "");
            place.repository("work/bare", "");
            place.write("work/later.git/config", "");
            link(&place, name, led);
        });
        assert!(words.contains("is a symlink; `"), "{name}: {words}");
        assert!(!is_there(&place, name) && is_there(&place, &format!("{name}.untrusted")), "{name}");
        fs::remove_dir_all(place.at("work/new")).expect("removes");
    }
    for (name, led) in [
        ("work/lib/.git/HEAD", "refs/heads/main"),
        ("work/lib/.git/objects/x", "/x"),
        ("work/lib/.git/lfs/objects/x", "/x"),
        // A work tree in a bare repository, and a source tree.
        ("work/bare/main/node_modules/.bin/x", "../x"),
        ("work/src/link", "../x"),
    ] {
        let words = command(&place, &repositories, || {
            place.write("work/src/objects/x", "");
            place.write("work/src/refs/x", "");
            let _gone = fs::remove_dir_all(place.at(name));
            link(&place, name, led);
        });
        assert!(words.is_empty() && is_there(&place, name), "{name}: {words}");
    }
    assert!(is_there(&place, "work/lib/.git/info/exclude"));
}

#[test]
fn a_file_with_a_second_name_becomes_the_repositorys_own() {
    let place = Place::new();
    place.write("work/lib/.git/hooks/pre-commit", HOOK);
    let repositories = unbounded();
    let words = command(&place, &repositories, || {
        place.repository("work/new/.git", "");
        fs::hard_link(place.at("work/lib/.git/hooks/pre-commit"), place.at("work/new/.git/FETCH_HEAD"))
            .expect("a link");
        fs::hard_link(place.at("work/new/.git/config"), place.at("work/x")).expect("a link");
    });
    assert!(
        words.contains("`FETCH_HEAD` has a second name") && words.contains("`config` has a second name"),
        "{words}"
    );
    place.write("work/new/.git/FETCH_HEAD", "evil");
    place.write("work/x", EVIL);
    assert_eq!(place.read("work/lib/.git/hooks/pre-commit"), "");
    assert_eq!(place.read("work/lib/.git/hooks/pre-commit.untrusted"), HOOK);
    assert_eq!(place.read("work/new/.git/config"), "");
}

#[test]
fn a_hook_that_becomes_a_hard_link_was_changed() {
    let place = Place::new();
    place.write("work/lib/.git/hooks/pre-commit", HOOK);
    let words = command(&place, &unbounded(), || {
        fs::rename(place.at("work/lib/.git/hooks/pre-commit"), place.at("elsewhere")).expect("renames");
        fs::hard_link(place.at("elsewhere"), place.at("work/lib/.git/hooks/pre-commit")).expect("a link");
    });
    assert!(words.contains("the hook `pre-commit`"), "{words}");
}

#[test]
fn relative_paths_of_the_user_get_no_new_meaning() {
    let place = Place::new();
    place.repository("work/.git", "[core]\n\thooksPath = .hooks/_\n[filter \"x\"]\n\tclean = python3 tools/clean.py\n");
    place.write("work/.hooks/_/pre-commit", HOOK);
    place.write("work/tools/clean.py", "x");
    place.write("home/.gitconfig", "[core]\n\thooksPath = .githooks\n[filter \"y\"]\n\tclean = python3 clean.py\n");
    place.write("work/plain/.githooks/x", "a folder of the user's");
    let repositories = of_user(&place);
    // A `.git` file that leads to the user's repository, with hooks of its own.
    let words = command(&place, &repositories, || {
        place.write("work/other/.git", "gitdir: ../.git\n");
        place.write("work/other/.hooks/_/post-checkout", "evil");
        place.write("work/other/tools/clean.py", "evil");
    });
    assert!(words.contains("other/.hooks/_/post-checkout") && words.contains("other/tools/clean.py"), "{words}");
    assert!(!is_there(&place, "work/other/.hooks/_/post-checkout") && !is_there(&place, "work/other/tools/clean.py"));
    // A work tree that Git itself made has the same files.
    let words = command(&place, &repositories, || {
        place.write("work/.git/worktrees/tree/HEAD", "ref: refs/heads/x\n");
        place.write("work/.git/worktrees/tree/commondir", "../..\n");
        place.write("work/tree/.git", "gitdir: ../.git/worktrees/tree\n");
        place.write("work/tree/.hooks/_/pre-commit", HOOK);
        place.write("work/tree/tools/clean.py", "x");
    });
    assert!(words.is_empty() && is_there(&place, "work/tree/.hooks/_/pre-commit"), "{words}");
    // New repositories, with files that the user's own configuration names.
    let words = command(&place, &repositories, || {
        for name in ["new", "plain"] {
            place.repository(&format!("work/{name}/.git"), "");
        }
        place.write("work/new/.githooks/post-index-change", "evil");
        place.write("work/new/clean.py", "evil");
        place.write("work/new/python3", "a word without a slash");
    });
    for name in ["new/.githooks", "new/clean.py", "plain/.githooks"] {
        assert!(words.contains(&format!("work/{name}: Git runs or reads it, and it was missing")), "{words}");
        assert!(!is_there(&place, &format!("work/{name}")), "{words}");
    }
    assert!(is_there(&place, "work/new/python3"));
}

#[test]
fn a_repository_that_moves_keeps_what_was_in_its_work_tree_only() {
    let place = Place::new();
    place.write("work/lib/.git/config", "[core]\n\thooksPath = .hooks\n[filter \"x\"]\n\tclean = info/clean hooks/x\n");
    place.write("work/lib/.hooks/pre-commit", HOOK);
    place.write("work/lib/.git/info/clean", "x");
    place.write("work/lib/.git/hooks/x", "x");
    let repositories = unbounded();
    let words = command(&place, &repositories, || {
        fs::rename(place.at("work/lib"), place.at("work/moved")).expect("renames");
    });
    assert!(words.is_empty() && is_there(&place, "work/moved/.hooks/pre-commit"), "{words}");
    let words = command(&place, &repositories, || {
        place.write("work/sub/.hooks/pre-commit", "evil");
        fs::rename(place.at("work/moved/.git"), place.at("work/sub/.git")).expect("renames");
    });
    assert!(words.contains("sub/.hooks/pre-commit") && !is_there(&place, "work/sub/.hooks/pre-commit"), "{words}");
}

#[test]
fn a_work_tree_is_the_repositorys_own() {
    for (value, is_harmless) in [
        ("..", true),
        ("../../tree", true),
        ("../../missing", true),
        ("../sub", false),
        ("../../lib/.git/hooks", false),
        ("../../lib/.git/new", false),
        ("../../.trace", false),
        ("../../out", false),
        ("../../dangling", false),
        ("../../../elsewhere", false),
        ("../../../nowhere", false),
        ("../../bare/hooks", false),
    ] {
        let place = Place::new();
        for name in ["work/.trace", "work/new/sub", "work/lib/.git/hooks", "elsewhere", "work/bare/hooks"] {
            fs::create_dir_all(place.at(name)).expect("a folder");
        }
        place.repository("work/bare", "");
        place.write("work/tree/.git", "gitdir: ../new/.git\n");
        link(&place, "work/out", "../elsewhere");
        link(&place, "work/dangling", "lib/.git/new");
        let config = format!("[core]\n\tworktree = {value}\n");
        let words = command(&place, &unbounded(), || place.repository("work/new/.git", &config));
        assert_eq!(!words.contains("`core.worktree`"), is_harmless, "{value}: {words}");
        assert_eq!(place.read("work/new/.git/config") == config, is_harmless, "{value}");
    }
}

#[test]
fn a_work_tree_that_a_configuration_names_is_searched() {
    let place = Place::new();
    place.repository("work/dot", "[core]\n\tworktree = ../src\n\thooksPath = .hooks\n");
    place.write("work/src/.hooks/pre-commit", HOOK);
    let words = command(&place, &unbounded(), || place.write("work/src/.hooks/pre-commit", "evil"));
    assert!(words.contains("src/.hooks/pre-commit"), "{words}");
}

#[test]
fn what_is_mounted_is_compared() {
    let place = Place::new();
    place.write("work/lib/.git/config", "[core]\n\thooksPath = .hooks\n");
    place.write("work/lib/.hooks/pre-commit", HOOK);
    fs::create_dir(place.at("work/build")).expect("a folder");
    fs::hard_link(place.at("work/lib/.hooks/pre-commit"), place.at("work/build/x")).expect("a link");
    let words = command(&place, &unbounded(), || place.write("work/build/x", "evil"));
    assert!(words.contains("lib/.hooks/pre-commit"), "{words}");
}

#[test]
fn a_command_that_starts_meanwhile_knows_nothing_of_what_another_one_left() {
    let place = Place::new();
    place.write("work/lib/.git/config", "[core]\n\thooksPath = .hooks/_\n");
    place.write("work/lib/.git/hooks/mine", HOOK);
    place.write("work/old/.git", "gitdir: ../lib/.git\n");
    let plant = || {
        place.write("work/lib/.git/hooks/pre-commit", "evil");
        place.write("work/lib/.hooks/_/pre-commit", "evil");
        place.repository("work/new/.git", EVIL);
        place.write("work/old/.git", "gitdir: missing\n");
    };
    let repositories = unbounded();
    let (mut first, _) = place.watch(&repositories, ReadOnlyEnforcement::Nothing);
    plant();
    let (mut second, _) = place.watch(&repositories, ReadOnlyEnforcement::Nothing);
    assert!(!first.check().is_empty());
    first.end();
    plant();
    let words = second.check().in_words();
    for name in ["hooks/pre-commit", ".hooks/_", "new/.git/config", "old/.git"] {
        assert!(!is_there(&place, &format!("work/lib/{name}")) || name.starts_with("new"), "{name}: {words}");
    }
    assert!(!place.read("work/new/.git/config").contains("fsmonitor") && !is_there(&place, "work/old/.git"), "{words}");
    assert!(is_there(&place, "work/lib/.git/hooks/mine"));
    second.end();
    assert!(repositories.memory().live.is_empty());
    // A command in another folder is not affected.
    let mut confinement = place.confinement(&["elsewhere"]);
    fs::create_dir(place.at("elsewhere")).expect("a folder");
    let other = repositories.watch(&mut confinement, ReadOnlyEnforcement::Nothing).expect("something is open");
    place.write("work/lib/.git/hooks/users", HOOK);
    assert_eq!(command(&place, &repositories, || ()), "");
    drop(other);
}

#[test]
fn what_a_panic_kept_from_being_looked_at_is_made_up_for() {
    let place = Place::new();
    let repositories = unbounded();
    let (watch, _) = place.watch(&repositories, ReadOnlyEnforcement::Nothing);
    place.repository("work/new/.git", EVIL);
    drop(watch);
    let words = command(&place, &repositories, || ());
    assert!(words.contains("`core.fsmonitor`"), "{words}");
    assert!(repositories.memory().live.is_empty() && repositories.memory().pending.is_empty());
}

#[test]
fn a_git_file_is_held_against_its_text_and_each_step() {
    let place = Place::new();
    let repositories = unbounded();
    place.write("work/gone/.git", "gitdir: /nowhere/one\n");
    link(&place, "outside/link", "../work/lib");
    link(&place, "work/inside", "lib");
    let words = command(&place, &repositories, || {
        place.write("work/gone/.git", "gitdir: /nowhere/two\n");
        place.write("work/a/.git", &format!("gitdir: {}\n", place.at("outside/link/.git").display()));
        place.write("work/b/.git", "gitdir: ../inside/.git\n");
    });
    assert!(words.contains("gone/.git: it leads to no repository"), "{words}");
    assert!(words.contains("a/.git: it leads to its repository by a symlink outside of the open folders"), "{words}");
    assert!(!is_there(&place, "work/gone/.git") && !is_there(&place, "work/a/.git") && is_there(&place, "work/b/.git"));
}

#[test]
fn the_users_own_configuration_and_its_templates_are_closed_and_compared() {
    let place = Place::new();
    fs::remove_dir_all(place.at("work/lib")).expect("removes");
    place.write("work/dotfiles/gitconfig", "[init]\n\ttemplateDir = ~/template\n");
    place.write("work/template/hooks/post-checkout", HOOK);
    link(&place, "home/.gitconfig", "../work/dotfiles/gitconfig");
    link(&place, "home/template", "../work/template");
    let repositories = of_user(&place);
    let (watch, confinement) = place.watch(&repositories, ReadOnlyEnforcement::Mounts);
    for name in ["work/dotfiles/gitconfig", "work/template/hooks"] {
        assert!(confinement.closed.contains(&place.at(name)), "{name}: {confinement:?}");
    }
    watch.end();
    let words = command(&place, &repositories, || {
        place.write("work/template/hooks/post-checkout", "evil");
        place.write("work/template/config", EVIL);
        place.write("work/dotfiles/gitconfig", EVIL);
    });
    assert_eq!(words.matches("Git runs or reads it").count(), 3, "{words}");
}

#[test]
fn other_places_of_the_users_configuration_count() {
    let place = Place::new();
    place.write("xdg/git/config", "[core]\n\thooksPath = .hooks\n");
    let user = UserGit::usual(Some(place.at("home"))).with([place.at("xdg/git/config")]);
    let repositories = Arc::new(Repositories::new(user, &place.at("watched")));
    let words = command(&place, &repositories, || place.write("work/lib/.hooks/pre-commit", "evil"));
    assert!(words.contains("lib/.hooks"), "{words}");
}

#[test]
fn where_a_configuration_cannot_be_read_nothing_can_be_written() {
    let place = Place::new();
    place.write("home/.gitconfig", "[core]\n\thooksPath = .hooks\n");
    let repositories = of_user(&place);
    walk::without_roots_rights();
    let configuration = place.at("home/.gitconfig");
    let set = |mode| fs::set_permissions(&configuration, PermissionsExt::from_mode(mode)).expect("a mode");
    set(0);
    // The configuration may name any path.
    for enforcement in [ReadOnlyEnforcement::Mounts, ReadOnlyEnforcement::Nothing] {
        let (watch, confinement) = place.watch(&repositories, enforcement);
        assert!(confinement.writable.is_empty() && watch.shut().contains(&place.at("work")));
        assert_eq!(watch.unsearched().get(&place.at("work")), Some(&Unsearched::Unreadable));
        watch.end();
    }
    set(0o644);
    // The configuration of a repository names files in its own work tree.
    fs::set_permissions(place.at("work/lib/.git/config"), PermissionsExt::from_mode(0o000)).expect("a mode");
    let (mut watch, confinement) = place.watch(&repositories, ReadOnlyEnforcement::Mounts);
    assert!(!confinement.allows_writing_at(&place.at("work/lib/x")), "{confinement:?}");
    assert!(confinement.allows_writing_at(&place.at("work/x")), "{confinement:?}");
    assert_eq!(watch.unsearched().get(&place.at("work/lib")), Some(&Unsearched::Unreadable));
    assert_eq!(watch.check(), Report::default());
    watch.end();
    fs::set_permissions(place.at("work/lib/.git/config"), PermissionsExt::from_mode(0o644)).expect("a mode");
    let words = command(&place, &repositories, || set(0));
    assert!(words.contains(".gitconfig: it cannot be read"), "{words}");
    set(0o644);
}

#[test]
fn a_repository_that_its_user_goes_on_with_is_the_users() {
    let place = Place::new();
    let repositories = unbounded();
    command(&place, &repositories, || place.repository("work/.git", "[core]\n\tbare = false\n"));
    let made = || {
        let (watch, confinement) = place.watch(&repositories, ReadOnlyEnforcement::Mounts);
        watch.end();
        confinement.made
    };
    place.write("work/.git/config", "[core]\n\tbare = false\n[user]\n\tname = x\n");
    assert_eq!(made(), [place.at("work/.git")]);
    place.write("work/.git/config", "[core]\n\tbare = false\n\thooksPath = hooks\n");
    assert!(made().is_empty());
    // A repository that became the user's stays the user's.
    place.write("work/.git/config", "[core]\n\tbare = false\n");
    assert!(made().is_empty());
}

#[test]
fn a_repository_of_a_command_stays_its_own_at_another_place() {
    let place = Place::new();
    let repositories = unbounded();
    command(&place, &repositories, || place.repository("work/new/.git", ""));
    command(&place, &repositories, || {
        fs::rename(place.at("work/new"), place.at("work/moved")).expect("renames");
    });
    let (_watch, confinement) = place.watch(&repositories, ReadOnlyEnforcement::Mounts);
    assert!(!confinement.closed.contains(&place.at("work/moved/.git")), "{confinement:?}");
}

#[test]
fn folders_of_hooks_are_compared_entry_by_entry() {
    let place = Place::new();
    place.write("work/lib/.git/config", "[core]\n\thooksPath = .hooks\n");
    place.write("work/lib/.hooks/pre-commit", HOOK);
    place.write("work/lib/.hooks/lib/x", "x");
    let hook = place.at("work/lib/.hooks/pre-commit");
    fs::set_permissions(&hook, PermissionsExt::from_mode(0o755)).expect("a mode");
    let repositories = unbounded();
    // Files in a nested folder, a new folder, and another umask.
    let words = command(&place, &repositories, || {
        place.write("work/lib/.hooks/lib/y", "y");
        place.write("work/lib/.hooks/more/y", "y");
        fs::set_permissions(&hook, PermissionsExt::from_mode(0o775)).expect("a mode");
    });
    assert_eq!(words, "");
    let words = command(&place, &repositories, || {
        (0..1100).for_each(|number| place.write(&format!("work/lib/.hooks/{number}.txt"), ""));
        place.write("work/lib/.hooks/post-commit", "evil");
    });
    assert!(words.contains("lib/.hooks: Git runs or reads it, and it has too many entries"), "{words}");
    assert!(!is_there(&place, "work/lib/.hooks"));
}

#[test]
fn addresses_in_files_of_their_own_are_put_aside() {
    let place = Place::new();
    let words = command(&place, &unbounded(), || {
        place.write("work/lib/.git/remotes/origin", "URL: ext::sh -c x\n");
        place.write("work/lib/.git/branches/origin", "ext::sh -c x\n");
    });
    assert_eq!(words.matches("it has an address of another repository").count(), 2, "{words}");
    assert!(!is_there(&place, "work/lib/.git/remotes/origin"));
}

#[test]
fn large_configurations_are_not_kept() {
    let place = Place::new();
    let large = format!("[core]\n\tbare = false\n#{}\n", "\u{1}".repeat(1_000_000));
    (0..8).for_each(|number| place.repository(&format!("work/{number}/.git"), &large));
    let repositories = of_user(&place);
    let (mut watch, _) = place.watch(&repositories, ReadOnlyEnforcement::Nothing);
    let records = fs::read_dir(place.at("watched")).expect("a folder").flatten();
    let bytes: u64 = records.map(|record| record.metadata().expect("is there").len()).sum();
    assert!(bytes < 16 * 1024, "{bytes}");
    // The harmless entries stay nevertheless.
    place.write("work/0/.git/config", &format!("{large}[alias]\n\tx = !y\n"));
    assert!(watch.check().in_words().contains("`alias.*.x`") || is_there(&place, "work/0/.git/config.untrusted"));
    assert_eq!(place.read("work/0/.git/config"), format!("{large}[alias]\n"));
}

#[test]
fn what_a_record_does_not_say_is_told_aloud() {
    let place = Place::new();
    place.write("watched/x.json", r#"{"roots":[{"Unix":[47,119]}]}"#);
    let report = of_user(&place).recover();
    assert!(report.in_words().contains("is not known") && report.in_words().ends_with("\n/w"), "{report:?}");
    assert!(of_user(&place).recover().is_empty());
}
