//! Finds the files that a command starts: what a name like `git` refers to when the command runs.
//!
//! A user accepts a name, but what runs is a file. [`programs`] finds the file as the shell would, so that the user is
//! warned of a program that was put first on the search path, or of a function with that name. Words other than the first
//! can be programs too (`env git`, `find -exec git`, `sh -c "git"`), and no list of such programs is complete, so
//! [`planted_words`] looks up every word. Both only inspect: a start-up file of the shell can still change the search path
//! or define a function.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

use crate::tool::line::{self, Connector, Expansion, SimpleCommand};

/// Most programs of one command that are looked up.
pub const MAX_PROGRAMS: usize = 16;

/// Most words of one command that are looked up. A command with more words is reported as such.
pub const MAX_WORDS: usize = 16 * 1024;

/// Length of the longest file name, in bytes.
const MAX_NAME_BYTES: usize = 255;

/// Most working folders that are distinguished while a line is followed.
const MAX_FOLDERS: usize = 8;

/// Where programs are looked up by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchPath {
    folders: Vec<PathBuf>,
    functions: Vec<String>,
}

impl SearchPath {
    /// Creates a search path from the variables that commands inherit: `PATH`, and the functions that `bash` imports from
    /// its environment.
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
    /// The name as written in the command.
    pub name: String,
    /// What the name refers to.
    pub is: ResolvedName,
}

/// What a name refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResolvedName {
    /// A builtin of the shell.
    Builtin,
    /// A function that the shell imports from its environment.
    Function,
    /// A file.
    File {
        /// Path of the file.
        path: PathBuf,
        /// Real path of the file, if the path has symlinks.
        real: Option<PathBuf>,
    },
    /// No file was found.
    Nothing,
}

/// Builtins of shells, which are not looked up.
const BUILTINS: [&str; 39] = [
    ".", ":", "[", "alias", "bg", "break", "builtin", "cd", "command", "continue", "echo", "eval", "exec", "exit",
    "export", "false", "fg", "getopts", "hash", "jobs", "kill", "popd", "printf", "pushd", "pwd", "read", "return",
    "set", "shift", "source", "test", "trap", "true", "type", "ulimit", "umask", "unalias", "unset", "wait",
];

/// Returns the distinct programs of a command: its first word, and those of the shell line, if there is one. If the line is
/// not simple, its programs are unknown and [`Programs::is_all`] is false.
pub fn programs(argv: &[String], line: Option<&str>, cwd: &Path, search: &SearchPath) -> Programs {
    let mut found = Programs { programs: Vec::new(), is_all: true };
    if let Some(name) = argv.first() {
        // A program that is started directly is never a shell builtin.
        found.add(name, file_of(name, cwd, search));
    }
    let Some(line) = line else { return found };
    let Some(commands) = line::parse(line) else {
        found.is_all = false;
        return found;
    };
    let operators = operators(line, &commands);
    let mut state = Folders::new(cwd);
    for (at, command) in commands.iter().enumerate() {
        let name = &command.words[0];
        let is_read = commands.get(at + 1).is_some_and(|next| next.joint == Connector::Pipe);
        let part = match (command.joint == Connector::Pipe, is_read) {
            (false, false) => Part::Whole,
            (true, false) => Part::Last,
            (_, true) => Part::Piped,
        };
        let folders = state.before(operators[at]);
        let meanings = match name {
            name if search.functions.contains(name) => vec![ResolvedName::Function],
            name if BUILTINS.contains(&name.as_str()) => vec![ResolvedName::Builtin],
            name if !name.contains('/') || Path::new(name).is_absolute() => vec![file_of(name, cwd, search)],
            name => match &folders {
                None => Vec::new(),
                Some(folders) => {
                    let all = || folders.iter().map(|folder| file_of(name, folder, search));
                    let there: Vec<ResolvedName> = all().filter(ResolvedName::is_there).collect();
                    if there.is_empty() { all().take(1).collect() } else { there }
                }
            },
        };
        // The folder is unknown, so the file is too.
        found.is_all &= !meanings.is_empty();
        for is in meanings {
            let is_known = found.programs.iter().any(|known| known.name == *name && known.is == is);
            if !is_known && argv.first() != Some(name) {
                found.add(name, is);
            }
        }
        state.run(operators[at], command, part, folders);
    }
    found
}

/// The operator before a command of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    /// The command runs regardless of the previous one, or is part of the same pipe.
    Always,
    /// `&&`
    AfterSuccess,
    /// `||`
    AfterFailure,
}

/// Position of a command in a pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The command is not part of a pipe.
    Whole,
    /// The command writes to a pipe and runs in a subshell.
    Piped,
    /// The command is the last of a pipe, which some shells run in the main shell.
    Last,
}

/// Returns the operator before each command of a simple line.
fn operators(line: &str, commands: &[SimpleCommand]) -> Vec<Operator> {
    let mut rest = line;
    let mut operators = Vec::with_capacity(commands.len());
    for command in commands {
        // Each source is a part of the line, and they follow each other.
        let at = rest.find(&command.source).unwrap_or(0);
        let (between, from) = rest.split_at(at);
        operators.push(match between {
            between if between.contains("&&") => Operator::AfterSuccess,
            between if between.contains("||") => Operator::AfterFailure,
            _ => Operator::Always,
        });
        rest = &from[command.source.len().min(from.len())..];
    }
    operators
}

/// The possible working folders after a command, by its success. `None` if they are unknown.
struct Folders {
    succeeded: Option<Vec<PathBuf>>,
    failed: Option<Vec<PathBuf>>,
}

impl Folders {
    fn new(cwd: &Path) -> Self {
        Self { succeeded: Some(vec![cwd.to_owned()]), failed: Some(Vec::new()) }
    }

    /// Returns the possible working folders of a command.
    fn before(&self, operator: Operator) -> Option<Vec<PathBuf>> {
        match operator {
            Operator::AfterSuccess => self.succeeded.clone(),
            Operator::AfterFailure => self.failed.clone(),
            Operator::Always => joined(self.succeeded.clone(), self.failed.clone()),
        }
    }

    /// Updates the folders after a command that runs in one of `folders`.
    fn run(&mut self, operator: Operator, command: &SimpleCommand, part: Part, folders: Option<Vec<PathBuf>>) {
        let (skipped_succeeded, skipped_failed) = match operator {
            Operator::AfterSuccess => (Some(Vec::new()), self.failed.take()),
            Operator::AfterFailure => (self.succeeded.take(), Some(Vec::new())),
            Operator::Always => (Some(Vec::new()), Some(Vec::new())),
        };
        let none = || Some(Vec::new());
        let (succeeded, failed) = match (&command.words[..], change(command)) {
            _ if part == Part::Piped => (folders.clone(), folders),
            (_, Change::Unknown) => (None, None),
            (_, Change::To(_)) if folders.is_none() => (None, None),
            (_, Change::To(folder)) => {
                let (moved, stayed) = moved(folders.iter().flatten(), folder);
                match part {
                    Part::Last => (joined(Some(moved), folders.clone()), folders),
                    _ => (Some(moved), Some(stayed)),
                }
            }
            ([name, ..], Change::None) if name == "true" || name == ":" => (folders, none()),
            ([name, ..], Change::None) if name == "false" => (none(), folders),
            _ => (folders.clone(), folders),
        };
        self.succeeded = joined(succeeded, skipped_succeeded);
        self.failed = joined(failed, skipped_failed);
    }
}

/// The effect of a command on the working folder.
enum Change<'a> {
    None,
    To(&'a str),
    /// The new folder is unknown.
    Unknown,
}

fn change(command: &SimpleCommand) -> Change<'_> {
    let mut words = command.words.iter().map(String::as_str).peekable();
    while words.peek().is_some_and(|word| ["command", "builtin", "exec"].contains(word)) {
        words.next();
    }
    let name = words.next().unwrap_or_default();
    match name {
        "cd" | "chdir" | "pushd" => {}
        "popd" | "eval" | "." | "source" => return Change::Unknown,
        _ => return Change::None,
    }
    let mut folders = words.skip_while(|word| matches!(*word, "-L" | "-P" | "-e" | "--"));
    match (folders.next(), folders.next()) {
        (Some(folder), None)
            if command.expansion == Expansion::None && !folder.starts_with(['-', '+', '~']) && !folder.is_empty() =>
        {
            Change::To(folder)
        }
        _ => Change::Unknown,
    }
}

/// Returns the folders after `cd`, and the folders that stay the same because the target does not exist.
fn moved<'a>(folders: impl Iterator<Item = &'a PathBuf>, to: &str) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let (mut moved, mut stayed) = (Vec::new(), Vec::new());
    for folder in folders {
        let next = folder.join(to);
        // By default shells resolve `..` by name, and with `-P` by real path.
        let by_names = next.components().fold(PathBuf::new(), |mut path, part| {
            match part {
                Component::ParentDir => {
                    path.pop();
                }
                Component::CurDir => {}
                part => path.push(part),
            }
            path
        });
        let places = [Some(by_names), next.canonicalize().ok().filter(|_| to.contains(".."))];
        let mut is_there = false;
        for place in places.into_iter().flatten().filter(|place| place.is_dir()) {
            is_there = true;
            if !moved.contains(&place) {
                moved.push(place);
            }
        }
        if !is_there {
            stayed.push(folder.clone());
        }
    }
    (moved, stayed)
}

fn joined(some: Option<Vec<PathBuf>>, others: Option<Vec<PathBuf>>) -> Option<Vec<PathBuf>> {
    let (mut all, others) = (some?, others?);
    for folder in others {
        if !all.contains(&folder) {
            all.push(folder);
        }
    }
    (all.len() <= MAX_FOLDERS).then_some(all)
}

/// Returns the programs among all words of a command that commands could have created or replaced, whatever the position of
/// the word. `is_open` tells whether commands may write to a path.
pub fn planted_words(
    argv: &[String],
    search: &SearchPath,
    cwd: &Path,
    is_open: impl Fn(&Path) -> bool,
) -> Vec<Program> {
    let mut names = BTreeSet::new();
    let mut has_more = false;
    for word in argv {
        let unquoted = word.replace(['"', '\'', '\\'], "");
        for text in [word.as_str(), &unquoted] {
            let is_between = |letter: char| letter.is_whitespace() || "\"'`;|&<>(){}[]$=,\\:".contains(letter);
            for name in std::iter::once(text).chain(text.split(is_between)) {
                let is_name = !name.is_empty() && name.len() <= MAX_NAME_BYTES && !name.contains('/');
                if is_name && names.len() < MAX_WORDS {
                    names.insert(name.to_owned());
                } else {
                    has_more |= is_name && !names.contains(name);
                }
            }
        }
    }
    // `.` and `source` read any file, even one that is not executable.
    let is_read = names.contains(".") || names.contains("source");
    let mut planted = Vec::new();
    for name in names {
        let is = match found_by(&name, cwd, search, is_program) {
            Some(path) => file(path),
            None => ResolvedName::Nothing,
        };
        let read = found_by(&name, cwd, search, Path::is_file).filter(|_| is_read).map(file);
        let meanings = std::iter::once(is).chain(read);
        planted
            .extend(meanings.filter(|is| is.is_planted(&is_open)).take(1).map(|is| Program { name: name.clone(), is }));
    }
    if has_more {
        planted.push(Program { name: format!("more than {MAX_WORDS} words"), is: ResolvedName::Nothing });
    }
    planted
}

/// The programs of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Programs {
    /// The programs that were found.
    pub programs: Vec<Program>,
    /// Whether these are all programs of the command.
    pub is_all: bool,
}

impl Programs {
    fn add(&mut self, name: &str, is: ResolvedName) {
        if self.programs.len() == MAX_PROGRAMS {
            self.is_all = false;
        } else {
            self.programs.push(Program { name: name.to_owned(), is });
        }
    }

    /// Returns the programs that a command could have created or replaced, or that a function replaces: those whose file,
    /// or a symlink to it, lies where `is_open` says that commands may write.
    pub fn planted(&self, is_open: impl Fn(&Path) -> bool) -> impl Iterator<Item = &Program> {
        self.programs.iter().filter(move |program| program.is.is_planted(&is_open))
    }
}

impl ResolvedName {
    fn is_planted(&self, is_open: impl Fn(&Path) -> bool) -> bool {
        match self {
            Self::Function => true,
            Self::File { path, real } => is_open(path) || real.as_deref().is_some_and(is_open),
            Self::Builtin | Self::Nothing => false,
        }
    }

    fn is_there(&self) -> bool {
        matches!(self, Self::File { path, .. } if path.exists())
    }
}

fn file_of(name: &str, cwd: &Path, search: &SearchPath) -> ResolvedName {
    if name.contains('/') {
        return file(cwd.join(name).components().filter(|part| *part != Component::CurDir).collect());
    }
    found_by(name, cwd, search, is_program).map_or(ResolvedName::Nothing, file)
}

/// Returns the first file with a name on the search path that `is_meant` accepts. Empty and relative entries are relative to
/// the working folder.
fn found_by(name: &str, cwd: &Path, search: &SearchPath, is_meant: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    search.folders.iter().map(|folder| cwd.join(folder).join(name)).find(|path| is_meant(path))
}

fn file(path: PathBuf) -> ResolvedName {
    let real = path.canonicalize().ok().filter(|real| *real != path);
    ResolvedName::File { path, real }
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

/// Describes a program for users.
pub fn describe(program: &Program) -> String {
    let name = trace_text::line(&program.name, trace_text::Usage::Command);
    match &program.is {
        ResolvedName::Builtin => format!("{name}: part of the shell"),
        ResolvedName::Function => format!("{name}: a FUNCTION of the shell, from its environment"),
        ResolvedName::Nothing => format!("{name}: not found"),
        ResolvedName::File { path, real } => {
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
        make("work/tool", 0o755);
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
            "cd missing; ./tool",
            "cd -P sub && ./tool",
            "cd -- sub && ./tool",
            "pushd sub && ./tool",
            "command cd sub && ./tool",
            "./tool && cd sub && ./tool",
            "true || cd sub; ./tool",
            "cd sub | true; ./tool",
            "true | cd sub; ./tool",
            "ls && cd sub; ./tool",
            "cd sub && cd .. && ./tool",
            "cd sub && cd - && ./tool",
            "cd sub || exit 1; ./tool",
            "cd $HOME && ./tool",
        ];
        let table: Vec<String> = lines.iter().map(|line| shown(line)).collect();
        insta::assert_snapshot!(table.join("\n"), @r#"
        git: ROOT/planted/git; ls: ROOT/system/ls | planted ["git"]
        vcs: ROOT/system/vcs, a link to ROOT/planted/git | planted ["vcs"]
        make: a FUNCTION of the shell, from its environment | planted ["make"]
        cd: part of the shell; ./tool: ROOT/work/sub/tool | planted []
        echo: part of the shell; nothing: not found | planted []
         | planted [] | not all
        git\u{430}: not found | planted []
        cd: part of the shell; ./tool: ROOT/work/tool | planted []
        cd: part of the shell; ./tool: ROOT/work/sub/tool | planted []
        cd: part of the shell; ./tool: ROOT/work/sub/tool | planted []
        pushd: part of the shell; ./tool: ROOT/work/sub/tool | planted []
        command: part of the shell; ./tool: ROOT/work/sub/tool | planted []
        ./tool: ROOT/work/tool; cd: part of the shell; ./tool: ROOT/work/sub/tool | planted []
        true: part of the shell; cd: part of the shell; ./tool: ROOT/work/tool | planted []
        cd: part of the shell; true: part of the shell; ./tool: ROOT/work/tool | planted []
        true: part of the shell; cd: part of the shell; ./tool: ROOT/work/sub/tool; ./tool: ROOT/work/tool | planted []
        ls: ROOT/system/ls; cd: part of the shell; ./tool: ROOT/work/sub/tool; ./tool: ROOT/work/tool | planted []
        cd: part of the shell; ./tool: ROOT/work/tool | planted []
        cd: part of the shell | planted [] | not all
        cd: part of the shell; exit: part of the shell; ./tool: ROOT/work/sub/tool | planted []
        cd: part of the shell | planted [] | not all
        "#);
    }

    #[test]
    fn a_planted_program_is_told_wherever_its_name_stands() {
        let root = tempfile::tempdir().expect("a folder");
        let root = root.path().canonicalize().expect("is there");
        for folder in ["planted", "system"] {
            std::fs::create_dir(root.join(folder)).expect("a folder");
            for name in ["git", "env"].into_iter().filter(|name| folder == "system" || *name == "git") {
                std::fs::write(root.join(folder).join(name), "").expect("writes");
                let mode = std::fs::Permissions::from_mode(0o755);
                std::fs::set_permissions(root.join(folder).join(name), mode).expect("a mode");
            }
        }
        let path = std::env::join_paths([root.join("planted"), root.join("system")]).expect("a path");
        let search = SearchPath::from_variables([("PATH".into(), path)]);
        let told = |line: &str| {
            let found = planted_words(&words(line), &search, &root, |path| path.starts_with(root.join("planted")));
            found.iter().map(describe).collect::<Vec<_>>().join("; ")
        };
        let expected = format!("git: {}/planted/git", root.display());
        for line in [
            "git status",
            "env git status",
            "timeout 5 git status",
            "exec git",
            "echo x | xargs git",
            "find . -exec git status {} +",
            "eval git status",
            ". git",
            "sh -c \"git status\"",
            "sh -c 'exec \"g\"i\\t'",
            "echo $(git)",
            "A=git; $A",
            "python3 -c \"import subprocess as s; s.run(['git'])\"",
        ] {
            assert_eq!(told(line), expected, "{line}");
        }
        for line in ["env status", "ls /planted/git", "echo legit", "cat .git/config", ""] {
            assert_eq!(told(line), "", "{line}");
        }
        std::fs::write(root.join("planted/rc"), "").expect("writes");
        assert_eq!(told(". rc"), format!("rc: {}/planted/rc", root.display()));
        assert_eq!(told("cat rc"), "");
        let many: String = (0..=MAX_WORDS).map(|number| format!("w{number} ")).collect();
        assert_eq!(told(&many), format!("more than {MAX_WORDS} words: not found"));
    }
}
