//! Reports what a test skips, and fails if it may not be skipped.

use std::collections::BTreeSet;
use std::env;
use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::sync::{Mutex, PoisonError};

/// If it is `1`, every skip fails the test.
const REQUIRE_ALL: &str = "TRACE_REQUIRE_ALL";

/// Names of needs, separated by commas, that may be missing even so.
const MAY_SKIP: &str = "TRACE_MAY_SKIP";

/// Path of a file to which the line of each skip is appended.
const SKIPPED: &str = "TRACE_SKIPPED";

/// Declares the needs with their names.
macro_rules! needs {
    ($($(#[$documentation:meta])* $need:ident = $name:literal,)*) => {
        /// A program or feature that a test needs and a machine may lack.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Need {
            $($(#[$documentation])* $need,)*
        }

        impl Need {
            /// All needs, in the order of the table in `docs/testing.md`.
            pub const ALL: &[Self] = &[$(Self::$need,)*];

            /// Returns the name that lines, environment variables and the documentation use.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$need => $name,)*
                }
            }
        }
    };
}

needs! {
    /// The binary of the Codex CLI.
    Peer = "peer",
    /// Recordings in addition to those of the repository.
    Corpus = "corpus",
    /// Sessions of other agents, with the truth beside each.
    Imports = "imports",
    /// Sessions with what an audit of them has to find.
    Audits = "audits",
    /// `python3`, which runs the stand-in for a model provider and some attacks.
    Python = "python",
    /// A Python with the packages that validate exports or drive clients.
    PythonPackages = "python-packages",
    /// Node.js.
    Node = "node",
    /// Modules for Node.js.
    NodeModules = "node-modules",
    /// Chromium.
    Browser = "browser",
    /// `dot` of Graphviz.
    Graphviz = "graphviz",
    /// The terminal multiplexer `tmux`.
    Tmux = "tmux",
    /// The shells `dash`, `zsh` and `ksh`.
    Shells = "shells",
    /// Any other program that a test runs.
    Programs = "programs",
    /// Landlock, at least version 3.
    Sandbox = "sandbox",
    /// Landlock that limits signals.
    SignalScope = "signal-scope",
    /// The program `bwrap`.
    Bubblewrap = "bubblewrap",
    /// The right to create control groups.
    ControlGroups = "control-groups",
    /// The rights of root.
    Root = "root",
    /// The right to mount file systems.
    Mounts = "mounts",
    /// The right to create network namespaces.
    Networks = "networks",
    /// Another user who can run the test program.
    OtherUser = "other-user",
    /// A file system in memory.
    MemoryFolder = "memory-folder",
}

/// Reports that `what` is skipped because a need is missing. Each line is reported once per process.
///
/// # Panics
///
/// Panics if `TRACE_REQUIRE_ALL` is `1` and `TRACE_MAY_SKIP` does not name the need.
#[track_caller]
pub fn skip(need: Need, what: impl Display) {
    // The print macros would pass the line to the test harness, which hides it.
    static TOLD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let line = format!("SKIPPED ({}): {what}\n", need.name());
    let is_new = TOLD.lock().unwrap_or_else(PoisonError::into_inner).insert(line.clone());
    if is_new {
        std::io::stderr().write_all(line.as_bytes()).expect("standard error can be written");
        if let Some(path) = env::var_os(SKIPPED) {
            let file = OpenOptions::new().append(true).create(true).open(&path);
            // Write the line at once, so that lines of concurrent processes do not mix.
            let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
            written.unwrap_or_else(|error| panic!("{SKIPPED}: {}: {error}", path.display()));
        }
    }
    let is_required = env::var_os(REQUIRE_ALL).is_some_and(|value| value == "1");
    if let Err(problem) = judge(need, is_required, &env::var(MAY_SKIP).unwrap_or_default()) {
        panic!("{problem}: {what}");
    }
}

/// Returns an error if the need may not be missing.
fn judge(need: Need, is_required: bool, may_skip: &str) -> Result<(), String> {
    let mut names = may_skip.split(',').map(str::trim).filter(|name| !name.is_empty());
    if let Some(unknown) = names.clone().find(|name| Need::ALL.iter().all(|need| need.name() != *name)) {
        return Err(format!("{MAY_SKIP} names `{unknown}`, which no test needs"));
    }
    if is_required && !names.any(|name| name == need.name()) {
        return Err(format!("`{}` is missing, and {REQUIRE_ALL} is set", need.name()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::process::{Command, Output};

    use super::*;

    /// Set in the process that calls `skip`.
    const INSIDE: &str = "TRACE_TEST_SKIP";

    #[test]
    fn a_missing_need_is_judged_by_the_variables() {
        for (is_required, may_skip, expected) in [
            (false, "", Ok(())),
            (false, "corpus", Ok(())),
            (true, "corpus, peer", Ok(())),
            (true, "", Err("`peer` is missing, and TRACE_REQUIRE_ALL is set")),
            (true, "corpus", Err("`peer` is missing, and TRACE_REQUIRE_ALL is set")),
            (true, "peer,pear", Err("TRACE_MAY_SKIP names `pear`, which no test needs")),
            (false, "pear", Err("TRACE_MAY_SKIP names `pear`, which no test needs")),
        ] {
            assert_eq!(judge(Need::Peer, is_required, may_skip), expected.map_err(str::to_owned), "{may_skip}");
        }
    }

    /// Calls `skip` in a separate process, whose output the test harness captures.
    fn skipped(variables: &[(&str, &str)]) -> Output {
        let mut command = Command::new(env::current_exe().expect("a program"));
        command.args(["--exact", "skip::tests::a_skip_passes_the_harness"]).env(INSIDE, "1");
        for variable in [REQUIRE_ALL, MAY_SKIP, SKIPPED] {
            command.env_remove(variable);
        }
        command.envs(variables.iter().copied()).output().expect("it runs")
    }

    #[test]
    fn a_skip_passes_the_harness() {
        if env::var_os(INSIDE).is_some() {
            skip(Need::Peer, "nothing");
            skip(Need::Peer, "nothing");
            return;
        }
        let told = "SKIPPED (peer): nothing\n";
        let place = env::temp_dir().join(format!("trace-needs-{}", std::process::id()));
        let file = place.to_str().expect("text");
        let free = skipped(&[(SKIPPED, file)]);
        assert!(free.status.success());
        assert_eq!(String::from_utf8_lossy(&free.stderr), told);
        let again = skipped(&[(SKIPPED, file), (REQUIRE_ALL, "0")]);
        assert!(again.status.success());
        assert_eq!(std::fs::read_to_string(&place).expect("it is written"), told.repeat(2));
        std::fs::remove_file(&place).expect("removes");

        let required = skipped(&[(REQUIRE_ALL, "1")]);
        assert!(!required.status.success() && String::from_utf8_lossy(&required.stderr).starts_with(told));
        assert!(skipped(&[(REQUIRE_ALL, "1"), (MAY_SKIP, "corpus,peer")]).status.success());
        assert!(!skipped(&[(REQUIRE_ALL, "1"), (MAY_SKIP, "corpus")]).status.success());
    }

    #[test]
    fn the_documentation_lists_the_needs() {
        let path = crate::repository().join("docs/testing.md");
        let text = std::fs::read_to_string(path).expect("the document is there");
        let (_, table) = text.split_once("\n| need | not tested").expect("it has the table");
        let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
        let names = rows.map(|line| line.strip_prefix("| `")?.split_once("` |").map(|(name, _)| name));
        let documented: Vec<&str> = names.collect::<Option<_>>().expect("every row begins with a name");
        let declared: Vec<&str> = Need::ALL.iter().map(|need| need.name()).collect();
        assert_eq!(documented, declared);
        assert_eq!(declared.iter().collect::<BTreeSet<_>>().len(), declared.len(), "a name stands for one need");
    }
}
