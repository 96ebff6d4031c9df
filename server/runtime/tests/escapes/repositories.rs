//! Attempts to leave something in a repository that runs when the user uses Git there.
//!
//! Each line is run by an agent, first without a sandbox: then the user's Git command has to run what was left. Then it is
//! run confined, with and without bubblewrap: the user's command must run nothing. `docs/security.md` has the same rows.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use trace_runtime::settings::{Network, SandboxPolicy};

use crate::{bubblewrap, run, until_ended, workspace, wrapped_world};

/// What a command leaves, and what the user does afterwards. Both run in the folder around `work`. `$E` is a program that
/// creates a file, `$EVIL` is a repository that runs it.
struct Plant {
    name: &'static str,
    what: &'static str,
    line: &'static str,
    user: &'static str,
}

const fn plant(name: &'static str, what: &'static str, line: &'static str, user: &'static str) -> Plant {
    Plant { name, what, line, user }
}

/// Creates a repository that runs a program on almost any use of Git.
const MAKE_EVIL: &str = "evil() { git init -q \"$1\" && git -C \"$1\" config core.fsmonitor \"$E\"; }; ";

const PLANTS: &[Plant] = &[
    plant(
        "git-nested-config",
        "set `core.fsmonitor` in a nested repository of the user",
        "git -C lib config core.fsmonitor $E",
        "git -C lib status",
    ),
    plant(
        "git-nested-hook",
        "leave a hook in a nested repository of the user",
        "cp $E lib/.git/hooks/post-checkout",
        "git -C lib checkout -q -b made",
    ),
    plant(
        "git-deep",
        "the same below `node_modules`",
        "cp $E node_modules/x/y/.git/hooks/post-checkout",
        "git -C node_modules/x/y checkout -q -b made",
    ),
    plant(
        "git-top-config",
        "set `core.fsmonitor` in the repository of the workspace",
        "git config core.fsmonitor $E",
        "git status",
    ),
    plant(
        "git-top-hook",
        "leave a hook there, as a link to a program",
        "ln -s $E .git/hooks/post-checkout",
        "git checkout -q -b made",
    ),
    plant(
        "git-module",
        "set `core.fsmonitor` in the folder of a submodule below `.git/modules`",
        "echo \"[core] fsmonitor = $E\" >> .git/modules/sub/config",
        "git status",
    ),
    plant(
        "git-pointer",
        "let the `.git` file of a submodule name another repository",
        "evil e; rm -f sub/.git; echo \"gitdir: ../e/.git\" > sub/.git",
        "git -C sub status",
    ),
    plant(
        "git-pointer-link",
        "put a link in the place of the `.git` of a nested repository",
        "evil e; mv lib/.git lib/was && ln -s ../e/.git lib/.git",
        "git -C lib status",
    ),
    plant(
        "git-work-tree",
        "leave a hook for a work tree of another open folder",
        "cp $E .git/hooks/post-checkout",
        "git -C tree checkout -q -b made",
    ),
    plant("git-anew", "make a repository where none was", "evil new", "git -C new status"),
    plant(
        "git-common-without-head",
        "make the common folder of a work tree, which needs no `HEAD`",
        "mkdir -p ev/worktrees/x ev/objects ev/refs made && echo 'ref: refs/heads/main' > ev/worktrees/x/HEAD && echo ../.. > ev/worktrees/x/commondir && printf '[core]\\nrepositoryformatversion = 0\\nfsmonitor = %s\\n' $E > ev/config && echo 'gitdir: ../ev/worktrees/x' > made/.git",
        "git -C made status",
    ),
    plant(
        "git-unfinished",
        "leave the configuration of a repository that the user will make",
        "mkdir -p made/.git && printf '[core]\\nfsmonitor = %s\\n' $E > made/.git/config",
        "git init -q made && git -C made status",
    ),
    plant(
        "git-anew-deep",
        "make one where nobody looks",
        "mkdir -p a/b/.c/d && evil a/b/.c/d",
        "git -C a/b/.c/d status",
    ),
    plant(
        "git-anew-hook",
        "make one with a hook",
        "git init -q new && cp $E new/.git/hooks/pre-commit",
        "git -C new commit -q --allow-empty -m x",
    ),
    plant(
        "git-anew-hooks",
        "make one whose hooks are a link to a folder",
        "git init -q new && mkdir h && cp $E h/pre-commit && rm -rf new/.git/hooks && ln -s ../../h new/.git/hooks",
        "git -C new commit -q --allow-empty -m x",
    ),
    plant(
        "git-bare",
        "make a folder of sources a bare repository",
        "git init -q e && mv e/.git/HEAD e/.git/objects e/.git/refs src/ && printf '[core]\\nrepositoryformatversion = 0\\nbare = false\\nworktree = ..\\nfsmonitor = %s\\n' $E > src/config",
        "cd src && git status",
    ),
    plant(
        "git-include",
        "make one that includes another file",
        "git init -q new && git -C new config include.path ../../inc && git config -f inc core.fsmonitor $E",
        "git -C new status",
    ),
    plant(
        "git-hooks-path",
        "make the folder that `core.hooksPath` of a user's repository names",
        "mkdir -p husky/.husky && cp $E husky/.husky/post-checkout",
        "git -C husky checkout -q -b made",
    ),
    plant(
        "git-common-folder",
        "make a repository that takes its configuration from another folder",
        "evil e; mkdir g t; mv e/.git/HEAD g/; echo ../e/.git > g/commondir; echo 'gitdir: ../g' > t/.git",
        "git -C t status",
    ),
    plant(
        "git-renamed",
        "rename a nested repository and put another in its place",
        "mv lib was && evil lib",
        "git -C lib status",
    ),
    plant(
        "git-external-diff",
        "set a program for differences",
        "git -C lib config diff.external $E",
        "git -C lib diff",
    ),
    plant(
        "git-layout",
        "write the configuration in another layout",
        "git init -q new && printf '[CORE]FsMoNiToR=\"%s\"\\n' $E >> new/.git/config",
        "git -C new status",
    ),
    plant(
        "git-aside-before",
        "take the names first under which things are put aside",
        "evil new; for n in '' -1 -2; do touch new/.git/config.untrusted$n; done",
        "git -C new status",
    ),
    plant(
        "git-no-rights",
        "take the right to change the repository away",
        "evil new; chmod 500 new/.git new",
        "git -C new status",
    ),
    plant(
        "git-in-git",
        "hide a repository in another one's `.git`",
        "git init -q new && evil e && mv e/.git new/.git/objects/e && mkdir t && echo 'gitdir: ../new/.git/objects/e' > t/.git",
        "git -C t status",
    ),
    plant(
        "git-hook-link",
        "change the program in the work tree that a hook is a link to",
        "cp $E linked/scripts/hook",
        "git -C linked commit -q --allow-empty -m x",
    ),
    plant(
        "git-hooks-path-noted",
        "change a hook in the folder that `core.hooksPath` names, with a comment behind it",
        "cp $E noted/.hooks/pre-commit",
        "git -C noted commit -q --allow-empty -m x",
    ),
    plant(
        "git-include-chain",
        "change a hook in the folder that an included configuration names",
        "cp $E chain/.hooks/pre-commit",
        "git -C chain commit -q --allow-empty -m x",
    ),
    plant(
        "git-included",
        "change a configuration that another one includes",
        "git config -f chain/.shared core.fsmonitor $E",
        "git -C chain status",
    ),
    plant(
        "git-tool",
        "change a program of the work tree that a configuration names",
        "cp $E tools/bin/diff",
        "git -C tools diff",
    ),
    plant(
        "git-work-tree-hooks-path",
        "make the folder that `core.hooksPath` of a repository elsewhere means in a work tree of it",
        "mkdir -p away/.hooks && cp $E away/.hooks/pre-commit",
        "git -C away commit -q --allow-empty -m x",
    ),
    plant(
        "git-continued",
        "write the configuration on continued lines",
        "git init -q new && printf '[core]\\n\\teditor = \\\\\\n\\ttrue\\n\\tfsmonitor = \\\\\\n%s # x\\n' $E >> new/.git/config",
        "git -C new status",
    ),
    plant(
        "git-unlistable",
        "take the right to list the repository away",
        "evil new; chmod 311 new/.git new",
        "git -C new status",
    ),
    plant(
        "git-background",
        "leave it by a process that outlives the command",
        "(sleep 1.{pid}; evil new) &",
        "git -C new status",
    ),
    plant(
        "git-symlink",
        "let a file to which Git appends be a symlink to a script",
        "git init -q new && cd new && git commit -q --allow-empty -m a && git checkout -q -b side && echo x > x && git add x && git commit -q -m \"x; $E; :\" && git checkout -q - && : > ../start && ln -sf $PWD/../start .git/logs/HEAD",
        "git -C new cherry-pick side; sh start",
    ),
    plant(
        "git-hard-link",
        "give a hook of the user a second name that Git writes to",
        "echo '#!/bin/sh' > .git/hooks/post-checkout; chmod +x .git/hooks/post-checkout; git init -q new && cd new && git commit -q --allow-empty -m a && git checkout -q -b side && echo x > x && git add x && git commit -q -m \"x; $E; :\" && git checkout -q - && ln -f ../.git/hooks/post-checkout .git/logs/HEAD",
        "git -C new cherry-pick side; git checkout -q -b made",
    ),
    plant(
        "git-new-meaning",
        "let a relative path of a user's configuration lead into a folder of its own",
        "mkdir -p husky/lib/.husky && echo 'gitdir: ../.git' > husky/lib/.git && cp $E husky/lib/.husky/post-checkout",
        "git -C husky/lib checkout -q -b made",
    ),
    plant(
        "git-work-tree-hooks",
        "let the work tree of a repository be the hooks of another one",
        "git init -q new && cd new && cp $E post-checkout && git add . && git commit -qm x && rm post-checkout && git config core.worktree ../../lib/.git/hooks",
        "git -C new stash -q; git -C lib checkout -q -b made",
    ),
];

/// Runs all attempts.
pub(crate) async fn run_nothing_of_a_command() {
    the_document_lists_them();
    let wrapper = bubblewrap();
    let mut ways: Vec<Option<Option<PathBuf>>> = vec![None, Some(None)];
    if wrapper.is_some() {
        ways.push(Some(wrapper));
    }
    let mut failures = Vec::new();
    let scene = Scene::new();
    for plant in PLANTS {
        for way in &ways {
            scene.reset();
            let policy = match way {
                None => SandboxPolicy::FullAccess,
                Some(_) => workspace(Network::Closed, &[]),
            };
            let world = wrapped_world(&scene.work(), policy, way.clone().flatten());
            let marker = scene.root().join("marker");
            let word = format!("1.{}", std::process::id());
            let line = plant.line.replace("1.{pid}", &word);
            let line = format!("{}E='{}'; {MAKE_EVIL}{line}", exports(), scene.root().join("evil").display());
            let (_, said) = run(&world, &line).await;
            until_ended(&word).await;
            let ended = async {
                while !world.agent.terminals().list().is_empty() {
                    tokio::task::yield_now().await;
                }
            };
            tokio::time::timeout(std::time::Duration::from_secs(60), ended).await.expect("it ends");
            // Runs of the program by the command itself do not count.
            let _ = fs::remove_file(&marker);
            scene.user(plant.user);
            if marker.exists() != way.is_none() {
                failures.push(format!("`{}` {way:?}: {} {said}", plant.name, marker.exists()));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The usual work of agents is not affected.
pub(crate) async fn leave_plain_repositories_alone() {
    let wrapper = bubblewrap();
    for wrapper in [None, wrapper] {
        let scene = Scene::new();
        scene.user("git -C lib config alias.st '!true'; cp .git/hooks/pre-commit.sample lib/.git/hooks/pre-push");
        let before = scene.tree("lib/.git");
        let world = wrapped_world(&scene.work(), workspace(Network::Closed, &[]), wrapper.clone());
        for line in [
            "git init -q made && cd made && echo x > x && git add x && git commit -qm one",
            "cd made && echo y > x && git commit -qam two && git checkout -q -b other",
            "git clone -q made copy && cd copy && git checkout -q -b more && git commit -q --allow-empty -m three",
            "cd copy && git push -q -u origin more && git worktree add -q ../tree-of-copy && git -C ../tree-of-copy status",
            "git init -q --bare bare.git && git -C copy push -q ../bare.git more",
            "git -C bare.git log -1 --format=%s more | grep three && rm -rf made copy bare.git tree-of-copy",
        ] {
            let (is_done, said) = run(&world, &format!("{}{line}", exports())).await;
            assert!(is_done && !said.contains("put aside"), "{line}: {said}");
        }
        // A repository of the user is not changed.
        assert_eq!(scene.tree("lib/.git"), before);
        let (is_done, said) = run(&world, &format!("{}git -C lib commit -q --allow-empty -m x", exports())).await;
        assert_eq!(is_done, wrapper.is_none(), "{said}");
        let (_, said) =
            run(&world, "git init -q e; git -C e config core.fsmonitor 'secret value'; mkfifo e/.git/config.worktree")
                .await;
        let work = scene.work();
        let expected = format!(
            "{}/e/.git: its configuration sets `core.fsmonitor`; `config` is now `config.untrusted`",
            work.display()
        );
        assert!(said.contains(&expected) && !said.contains("secret"), "{said}");
        assert!(said.contains("its configuration is not a plain file"), "{said}");
    }
}

struct Scene(tempfile::TempDir);

impl Scene {
    fn new() -> Self {
        let scene = Self(tempfile::tempdir().expect("a folder"));
        let marker = scene.root().join("marker");
        fs::create_dir_all(scene.work().join("src")).expect("a folder");
        fs::write(scene.root().join("evil"), format!("#!/bin/sh\ntouch '{}'\n", marker.display())).expect("writes");
        scene.user(
            "chmod +x ../evil; git init -q . && for r in lib node_modules/x/y husky other; do git init -q $r;\
             (cd $r; echo x > x; git add x; git commit -qm x; echo y > x); done;\
             git -c protocol.file.allow=always submodule add -q ./other sub && git commit -qm sub;\
             git worktree add -q tree; git -C husky config core.hooksPath .husky; echo s > src/s",
        );
        scene.user(
            "hook() { mkdir -p ${1%/*}; echo '#!/bin/sh' > $1; chmod +x $1; };\
             git init -q linked; hook linked/scripts/hook; ln -s ../../scripts/hook linked/.git/hooks/pre-commit;\
             git init -q noted; hook noted/.hooks/pre-commit;\
             printf '[core]\\n\\thooksPath = .hooks # ours\\n' >> noted/.git/config;\
             git init -q chain; hook chain/.hooks/pre-commit; git -C chain config include.path ../.shared;\
             printf '[core]\\n\\thooksPath = .hooks\\n' > chain/.shared;\
             git init -q tools; hook tools/bin/diff; (cd tools; echo x > x; git add x; git commit -qm x; echo y > x);\
             git -C tools config diff.external ./bin/diff;\
             git init -q ../main; git -C ../main config core.hooksPath .hooks; git -C ../main commit -q --allow-empty -m x;\
             git -C ../main worktree add -q ../work/away; cp -a . ../as-it-was",
        );
        assert!(scene.work().join("sub/.git").is_file() && scene.work().join("tree/.git").is_file());
        scene
    }

    /// Restores the initial state at the same path, because work trees contain their paths.
    fn reset(&self) {
        self.user("cd ..; chmod -R u+rwx work; rm -rf work; cp -a as-it-was work");
    }

    fn root(&self) -> PathBuf {
        self.0.path().canonicalize().expect("a path")
    }

    fn work(&self) -> PathBuf {
        self.root().join("work")
    }

    /// Runs a line as the user, without a sandbox.
    fn user(&self, line: &str) {
        let mut command = Command::new("/bin/bash");
        command.args(["-c", line]).current_dir(self.work()).stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        for (name, value) in GIT {
            command.env(name, value);
        }
        command.status().expect("starts");
    }

    fn tree(&self, name: &str) -> String {
        let mut command = Command::new("find");
        let output = command.arg(name).args(["-printf", "%p %s %m %C@\n"]).current_dir(self.work()).output();
        String::from_utf8(output.expect("starts").stdout).expect("a text")
    }
}

/// Environment that ignores the Git configuration of the machine.
pub(crate) const GIT: [(&str, &str); 8] = [
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_AUTHOR_NAME", "A"),
    ("GIT_AUTHOR_EMAIL", "a@example.org"),
    ("GIT_COMMITTER_NAME", "A"),
    ("GIT_COMMITTER_EMAIL", "a@example.org"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ALLOW_PROTOCOL", "file"),
];

fn exports() -> String {
    GIT.iter().map(|(name, value)| format!("export {name}={value}; ")).collect()
}

/// Compares `docs/security.md` with the table.
fn the_document_lists_them() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/security.md");
    let document = fs::read_to_string(path).expect("it is there");
    let expected: Vec<String> = PLANTS.iter().map(|plant| format!("| `{}` | {} |", plant.name, plant.what)).collect();
    let (_, rows) = document.split_once("| attempt | what it leaves |\n").expect("the table");
    let rows: Vec<&str> = rows.lines().skip(1).take_while(|line| line.starts_with('|')).collect();
    assert_eq!(rows, expected, "docs/security.md should have these rows:\n{}\n", expected.join("\n"));
}
