//! Which files a command starts: what a name like `git` stands for when it is run.
//!
//! People agree to a name, and what runs is a file. [`programs`] finds the file as the shell would, so that a program that was
//! put first on the search path, or a function that took the name, is seen before somebody agrees to it. It only looks: a
//! start-up file of the shell can still change the search path or make a function.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::tool::line;

/// Most programs of one command that are looked up.
pub const MAX_PROGRAMS: usize = 16;

/// Where programs are looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchPath {
    folders: Vec<PathBuf>,
    functions: Vec<String>,
}

impl SearchPath {
    /// Takes the variables that commands inherit: `PATH`, and the functions that `bash` takes from its environment.
    pub fn from_variables(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let mut search = Self::default();
        for (name, value) in variables {
            if name == "PATH" {
                search.folders = std::env::split_paths(&value).collect();
            } else if let Some(name) = name.to_str().and_then(|name| name.strip_prefix("BASH_FUNC_")) {
                search.functions.push(name.trim_end_matches("%%").trim_end_matches("()").to_owned());
            }
        }
        search
    }
}

/// A program that a command names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The name, as the command has it.
    pub name: String,
    /// What it stands for.
    pub is: Meaning,
}

/// What a name stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    /// A command of the shell itself.
    Builtin,
    /// A function that the shell takes from its environment.
    Function,
    /// A file.
    File {
        /// Where the name leads.
        path: PathBuf,
        /// The file itself, if links lead there.
        real: Option<PathBuf>,
    },
    /// Nothing that can be found.
    Nothing,
}

/// Commands that shells have themselves and do not look for.
const BUILTINS: [&str; 37] = [
    ".", ":", "[", "alias", "bg", "break", "builtin", "cd", "command", "continue", "echo", "eval", "exec", "exit",
    "export", "false", "fg", "getopts", "hash", "jobs", "kill", "printf", "pwd", "read", "return", "set", "shift",
    "source", "test", "trap", "true", "type", "ulimit", "umask", "unalias", "unset", "wait",
];

/// Returns the programs of a command, each once: the first word, and those of the line if it is a line for a shell. `None` in
/// place of the latter means that the line is not plain, so that its programs cannot be told from its words.
pub fn programs(argv: &[String], line: Option<&str>, cwd: &Path, search: &SearchPath) -> Programs {
    let mut found = Programs { programs: Vec::new(), is_all: true };
    if let Some(name) = argv.first() {
        // Whoever starts it knows no commands of a shell.
        found.add(name, file_of(name, cwd, search));
    }
    let Some(line) = line else { return found };
    let Some(commands) = line::parse(line) else {
        found.is_all = false;
        return found;
    };
    let mut cwd = cwd.to_owned();
    for command in &commands {
        let name = &command.words[0];
        if let [cd, folder] = &command.words[..]
            && cd == "cd"
        {
            cwd.push(folder);
        }
        let is_known = found.programs.iter().any(|known| known.name == *name);
        if is_known || argv.first() == Some(name) {
            continue;
        }
        let is = match name {
            name if search.functions.contains(name) => Meaning::Function,
            name if BUILTINS.contains(&name.as_str()) => Meaning::Builtin,
            name => file_of(name, &cwd, search),
        };
        found.add(name, is);
    }
    found
}

/// The programs of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Programs {
    /// Those that are known.
    pub programs: Vec<Program>,
    /// Whether these are all that the command names.
    pub is_all: bool,
}

impl Programs {
    fn add(&mut self, name: &str, is: Meaning) {
        if self.programs.len() == MAX_PROGRAMS {
            self.is_all = false;
        } else {
            self.programs.push(Program { name: name.to_owned(), is });
        }
    }

    /// Returns the programs that a command could have put where they are, or that a function replaces: those whose file, or a
    /// link to it, lies where `is_open` says that commands may write.
    pub fn planted(&self, is_open: impl Fn(&Path) -> bool) -> impl Iterator<Item = &Program> {
        self.programs.iter().filter(move |program| match &program.is {
            Meaning::Function => true,
            Meaning::File { path, real } => is_open(path) || real.as_deref().is_some_and(&is_open),
            Meaning::Builtin | Meaning::Nothing => false,
        })
    }
}

fn file_of(name: &str, cwd: &Path, search: &SearchPath) -> Meaning {
    let found = if name.contains('/') {
        Some(cwd.join(name))
    } else {
        // An empty entry, and a relative one, start in the working folder.
        search.folders.iter().map(|folder| cwd.join(folder).join(name)).find(|path| is_program(path))
    };
    match found {
        None => Meaning::Nothing,
        Some(path) => {
            let real = path.canonicalize().ok().filter(|real| *real != path);
            Meaning::File { path, real }
        }
    }
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;

    std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

/// Says what a program is, for people.
pub fn describe(program: &Program) -> String {
    let name = trace_text::line(&program.name, trace_text::Usage::Command);
    match &program.is {
        Meaning::Builtin => format!("{name}: part of the shell"),
        Meaning::Function => format!("{name}: a FUNCTION of the shell, from its environment"),
        Meaning::Nothing => format!("{name}: not found"),
        Meaning::File { path, real } => {
            let at = trace_text::path(path);
            let real = real.as_deref().map(|real| format!(", a link to {}", trace_text::path(real)));
            let is_same = path.as_os_str() == OsStr::new(&program.name);
            let name = if is_same { String::new() } else { format!("{name}: ") };
            format!("{name}{at}{}", real.unwrap_or_default())
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn words(line: &str) -> Vec<String> {
        ["/bin/bash", "-lc", line].map(str::to_owned).to_vec()
    }

    #[test]
    fn a_program_is_the_file_that_runs() {
        let root = tempfile::tempdir().expect("a folder");
        let root = root.path().canonicalize().expect("is there");
        for folder in ["planted", "system", "work/sub"] {
            std::fs::create_dir_all(root.join(folder)).expect("a folder");
        }
        let make = |name: &str, mode| {
            std::fs::write(root.join(name), "").expect("writes");
            std::fs::set_permissions(root.join(name), std::fs::Permissions::from_mode(mode)).expect("a mode");
        };
        make("planted/git", 0o755);
        make("planted/ls", 0o644);
        make("system/git", 0o755);
        make("system/ls", 0o755);
        make("work/sub/tool", 0o755);
        std::os::unix::fs::symlink(root.join("planted/git"), root.join("system/vcs")).expect("a link");
        let path = std::env::join_paths([root.join("planted"), root.join("system")]).expect("a path");
        let variables =
            [("PATH".into(), path), ("BASH_FUNC_make%%".into(), "() { :; }".into()), ("HOME".into(), "/".into())];
        let search = SearchPath::from_variables(variables);
        let shown = |line: &str| {
            let found = programs(&words(line), Some(line), &root.join("work"), &search);
            let is_open = |path: &Path| path.starts_with(root.join("planted"));
            let planted: Vec<&str> = found.planted(is_open).map(|program| program.name.as_str()).collect();
            let all: Vec<String> = found.programs[1..].iter().map(describe).collect();
            let all = all.join("; ").replace(&root.display().to_string(), "ROOT");
            format!("{all} | planted {planted:?}{}", if found.is_all { "" } else { " | not all" })
        };
        let lines = [
            "git status && ls",
            "vcs push",
            "make all",
            "cd sub && ./tool",
            "echo a | nothing",
            "echo $(git)",
            "git\u{430} x",
        ];
        let table: Vec<String> = lines.iter().map(|line| shown(line)).collect();
        insta::assert_snapshot!(table.join("\n"), @r#"
        git: ROOT/planted/git; ls: ROOT/system/ls | planted ["git"]
        vcs: ROOT/system/vcs, a link to ROOT/planted/git | planted ["vcs"]
        make: a FUNCTION of the shell, from its environment | planted ["make"]
        cd: part of the shell; ./tool: ROOT/work/sub/./tool | planted []
        echo: part of the shell; nothing: not found | planted []
         | planted [] | not all
        git\u{430}: not found | planted []
        "#);
    }
}
