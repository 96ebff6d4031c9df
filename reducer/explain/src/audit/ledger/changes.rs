//! Which files a command changes, as far as its words show.

use crate::audit::read::actions::is_file_name;
use crate::audit::read::runners::{Runs, runs};
use crate::audit::read::shell::Command;

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effect {
    /// It was written or changed.
    Write,
    /// It was deleted.
    Delete,
}

impl Effect {
    /// Returns the name of the effect.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Delete => "delete",
        }
    }
}

/// A change by one command of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandChange {
    /// Place of the command in its line.
    pub command: usize,
    /// The file as the command has it; `None` if any file of the folder may have changed.
    pub path: Option<String>,
    /// What happened to it.
    pub effect: Effect,
    /// The folder that the command ran in, relative to that of the line.
    pub folder: Option<String>,
}

/// Programs that only make the layout of code uniform.
const FORMATTERS: [&str; 14] = [
    "gofmt",
    "goimports",
    "gofumpt",
    "rustfmt",
    "prettier",
    "black",
    "isort",
    "yapf",
    "autopep8",
    "clang-format",
    "shfmt",
    "dprint",
    "ktlint",
    "google-java-format",
];

/// Returns whether a command only formats code, or lets a linter mend it.
pub fn is_formatter(command: &Command) -> bool {
    let first = command.operands().next().unwrap_or("");
    match command.program() {
        program if FORMATTERS.contains(&program) => true,
        "cargo" => matches!(first, "fmt" | "clippy"),
        "ruff" => first == "format" || command.has_flag("--fix"),
        "go" | "mix" | "deno" | "terraform" | "zig" | "dart" => matches!(first, "fmt" | "format"),
        "biome" | "eslint" | "stylelint" | "rubocop" => true,
        "npm" | "pnpm" | "yarn" | "make" | "just" => {
            command.operands().any(|word| word.contains("format") || word.contains("fmt") || word.contains("prettier"))
        }
        _ => false,
    }
}

/// Returns the changes that the commands of a line make.
pub fn changes_of(all: &[Command]) -> Vec<CommandChange> {
    let mut found = Vec::new();
    for (at, command) in all.iter().enumerate() {
        let mut add = |path: Option<&str>, effect: Effect| {
            let path = path.map(str::to_owned);
            found.push(CommandChange { command: at, path, effect, folder: command.folder.clone() });
        };
        for write in &command.writes {
            add(Some(&write.path), Effect::Write);
        }
        if !is_formatter(command) {
            by_program(command, &mut add);
        }
    }
    found
}

fn by_program(command: &Command, add: &mut dyn FnMut(Option<&str>, Effect)) {
    let operands: Vec<&str> = command.operands().collect();
    match command.program() {
        "sed" | "gsed"
            if command.arguments().iter().any(|word| {
                word.starts_with("-i")
                    || word.starts_with("--in-place")
                    || (word.starts_with('-') && !word.starts_with("--") && word.contains('i') && word.len() < 5)
            }) =>
        {
            let has_script = command.has_flag("-e")
                || command.has_flag("-f")
                || command.arguments().iter().any(|word| word.starts_with("-e"));
            let mut files = operands.iter().skip(usize::from(!has_script)).filter(|word| !word.is_empty());
            if has_script {
                files.by_ref().for_each(|word| {
                    if is_file_name(word)
                        || (word.contains('/')
                            && !word.starts_with("s/")
                            && !word.ends_with('/')
                            && !word.contains(' '))
                    {
                        add(Some(word), Effect::Write);
                    }
                });
            } else {
                files.for_each(|word| add(Some(word), Effect::Write));
            }
        }
        "perl" | "ruby"
            if command.arguments().iter().any(|word| word.starts_with('-') && word.contains('i') && word.len() < 6) =>
        {
            operands
                .iter()
                .filter(|word| is_file_name(word) || word.contains('/') && !word.starts_with("s/"))
                .for_each(|word| add(Some(word), Effect::Write));
        }
        "tee" | "touch" | "truncate" => operands.iter().for_each(|word| add(Some(word), Effect::Write)),
        "rm" | "unlink" | "rmdir" | "trash" => operands.iter().for_each(|word| add(Some(word), Effect::Delete)),
        "mv" => {
            if let Some((to, from)) = operands.split_last() {
                from.iter().for_each(|word| add(Some(word), Effect::Delete));
                add(Some(to), Effect::Write);
            }
        }
        "cp" | "install" | "ln" | "rsync" => {
            if let Some(to) = operands.last() {
                add(Some(to), Effect::Write);
            }
        }
        "dd" => {
            for word in command.arguments() {
                if let Some(path) = word.strip_prefix("of=") {
                    add(Some(path), Effect::Write);
                }
            }
        }
        "patch" => add(operands.first().copied(), Effect::Write),
        "apply_patch" | "applypatch" => {
            let patch = command.input.clone().or_else(|| command.arguments().first().cloned()).unwrap_or_default();
            for edit in super::edits::edits_of_patch(&patch) {
                let effect = if edit.kind == super::edits::EditKind::Delete { Effect::Delete } else { Effect::Write };
                add(Some(&edit.path), effect);
            }
        }
        "git" => git(command, &operands, add),
        "npm" | "pnpm" | "yarn" | "bun" => {
            let first = operands.first().copied().unwrap_or(if command.program() == "yarn" { "install" } else { "" });
            if matches!(first, "install" | "i" | "add" | "remove" | "uninstall" | "update" | "upgrade" | "up" | "rm")
                && !command.has_flag("-g")
                && !command.has_flag("--global")
            {
                add(None, Effect::Write);
            }
            if first == "version" {
                add(Some("package.json"), Effect::Write);
            }
        }
        "cargo" => {
            if matches!(operands.first(), Some(&"add" | &"remove" | &"fix" | &"update" | &"upgrade")) {
                add(None, Effect::Write);
            }
        }
        "jscodeshift" | "codemod" | "comby" | "sd" | "rename" | "fastmod" | "2to3" | "pyupgrade" => {
            add(None, Effect::Write);
        }
        "ast-grep" | "sg" if command.has_flag("-U") || command.has_flag("--update-all") => add(None, Effect::Write),
        "find" if command.arguments().iter().any(|word| word == "-delete") => add(None, Effect::Delete),
        "find" | "xargs"
            if command.arguments().iter().any(|word| word == "sed" || word == "perl")
                && command.arguments().iter().any(|word| word.starts_with("-i")) =>
        {
            add(None, Effect::Write);
        }
        "find" | "xargs" if command.arguments().iter().any(|word| word == "rm") => add(None, Effect::Delete),
        program
            if program.starts_with("python")
                || matches!(program, "node" | "ruby" | "perl" | "deno" | "bun" | "php") =>
        {
            let inline = command.input.clone().or_else(|| {
                let at = command
                    .arguments()
                    .iter()
                    .position(|word| matches!(word.as_str(), "-c" | "-e" | "--eval" | "-r"))?;
                command.arguments().get(at + 1).cloned()
            });
            if let Some(code) = inline {
                code_writes(&code, add);
            }
        }
        _ => {}
    }
}

fn git(command: &Command, operands: &[&str], add: &mut dyn FnMut(Option<&str>, Effect)) {
    let operands: Vec<&str> = {
        // `git -C folder status`.
        let skip = command.arguments().first().is_some_and(|word| word == "-C" || word == "-c");
        operands.iter().skip(usize::from(skip)).copied().collect()
    };
    let paths = |add: &mut dyn FnMut(Option<&str>, Effect), effect: Effect| {
        for word in operands.iter().skip(1) {
            add(Some(word), effect);
        }
    };
    let creates =
        command.has_flag("-b") || command.has_flag("-B") || command.has_flag("-c") || command.has_flag("--orphan");
    match operands.first().copied() {
        Some("rm") => paths(add, Effect::Delete),
        Some("mv") if operands.len() >= 3 => {
            add(Some(operands[operands.len() - 1]), Effect::Write);
            add(Some(operands[1]), Effect::Delete);
        }
        Some("checkout" | "restore") if command.arguments().iter().any(|word| word == "--") => {
            let at = command.arguments().iter().position(|word| word == "--").unwrap_or(0);
            for word in command.arguments().iter().skip(at + 1) {
                add(if word == "." { None } else { Some(word) }, Effect::Write);
            }
        }
        Some("restore") if !command.has_flag("--staged") => {
            for word in operands.iter().skip(1) {
                add(if *word == "." { None } else { Some(word) }, Effect::Write);
            }
        }
        Some("checkout") if !creates => match operands.get(1) {
            Some(word) if is_file_name(word) => add(Some(word), Effect::Write),
            _ => add(None, Effect::Write),
        },
        Some("apply") if command.has_flag("--check") || command.has_flag("--stat") => {}
        Some("reset") if !command.has_flag("--hard") && !command.has_flag("--merge") && !command.has_flag("--keep") => {
        }
        Some(
            "apply" | "am" | "reset" | "merge" | "rebase" | "pull" | "cherry-pick" | "revert" | "clean" | "switch",
        ) if !creates => add(None, Effect::Write),
        Some("stash") => {
            if matches!(operands.get(1), Some(&"pop" | &"apply")) {
                add(None, Effect::Write);
            }
        }
        _ => {}
    }
}

/// Finds the files that a piece of code writes.
fn code_writes(code: &str, add: &mut dyn FnMut(Option<&str>, Effect)) {
    const WRITES: [&str; 14] = [
        "write_text",
        "write_bytes",
        "writeFile",
        "appendFile",
        ".write(",
        "writelines",
        "shutil.",
        "os.rename",
        "os.replace",
        "File.write",
        "fs.rename",
        "json.dump(",
        "Deno.writeTextFile",
        "Bun.write",
    ];
    const DELETES: [&str; 6] = ["os.remove", "os.unlink", "unlink(", "rmtree", "rmSync", "unlinkSync"];
    let opens =
        ["'w'", "\"w\"", "'a'", "\"a\"", "'r+'", "\"r+\"", "'wb'", "\"wb\""].iter().any(|mode| code.contains(mode))
            && code.contains("open(");
    let writes = opens || WRITES.iter().any(|word| code.contains(word));
    let deletes = DELETES.iter().any(|word| code.contains(word));
    if !writes && !deletes {
        return;
    }
    let effect = if writes { Effect::Write } else { Effect::Delete };
    let mut any = false;
    for quoted in code.split(['"', '\'', '`']).skip(1).step_by(1) {
        if is_file_name(quoted) {
            any = true;
            add(Some(quoted), effect);
        }
    }
    if !any {
        add(None, effect);
    }
}

/// Programs that change no files but by redirection.
const READERS: [&str; 86] = [
    "ls",
    "cat",
    "head",
    "tail",
    "grep",
    "egrep",
    "fgrep",
    "rg",
    "ag",
    "find",
    "fd",
    "wc",
    "echo",
    "printf",
    "pwd",
    "which",
    "whereis",
    "type",
    "stat",
    "file",
    "diff",
    "cmp",
    "jq",
    "yq",
    "awk",
    "gawk",
    "sort",
    "uniq",
    "cut",
    "tr",
    "tree",
    "ps",
    "kill",
    "du",
    "df",
    "nl",
    "sed",
    "less",
    "more",
    "xxd",
    "od",
    "hexdump",
    "man",
    "true",
    "false",
    "sleep",
    "cd",
    "pushd",
    "popd",
    "date",
    "env",
    "export",
    "set",
    "test",
    "[",
    "uname",
    "whoami",
    "id",
    "hostname",
    "basename",
    "dirname",
    "realpath",
    "readlink",
    "column",
    "tac",
    "rev",
    "fold",
    "seq",
    "bat",
    "strings",
    "md5sum",
    "sha256sum",
    "sha1sum",
    "base64",
    "nproc",
    "free",
    "uptime",
    "top",
    "lsof",
    "netstat",
    "ss",
    "dig",
    "nslookup",
    "ping",
    "exit",
    "source",
];

/// Returns whether a command may have written files that its words do not show: generators, scripts, tasks.
pub fn may_write_anything(command: &Command) -> bool {
    let program = command.program();
    if program.is_empty() || READERS.contains(&program) {
        return false;
    }
    match program {
        "git" => {
            let first = command.operands().next().unwrap_or("");
            matches!(
                first,
                "apply"
                    | "checkout"
                    | "reset"
                    | "merge"
                    | "rebase"
                    | "stash"
                    | "am"
                    | "cherry-pick"
                    | "revert"
                    | "pull"
                    | "clone"
                    | "restore"
                    | "switch"
                    | "submodule"
                    | "worktree"
            )
        }
        "rm" | "mv" | "cp" | "tee" | "touch" | "mkdir" | "rmdir" | "chmod" | "chown" | "ln" | "apply_patch"
        | "truncate" | "unlink" => false,
        "curl" | "wget" => {
            command.arguments().iter().any(|word| word == "-o" || word == "-O" || word == "--output")
                || program == "wget"
        }
        "gh" | "glab" | "hub" => false,
        "cargo" => !matches!(
            command.operands().next(),
            Some("test" | "check" | "build" | "clippy" | "fmt" | "tree" | "metadata" | "nextest" | "doc" | "bench")
        ),
        "go" => !matches!(
            command.operands().next(),
            Some("test" | "build" | "vet" | "list" | "env" | "doc" | "fmt" | "version")
        ),
        "npm" | "pnpm" | "yarn" | "bun" => {
            !matches!(runs(command), Runs::Checks(_))
                && !matches!(
                    command.operands().next(),
                    Some("ls" | "list" | "view" | "info" | "outdated" | "why" | "audit" | "test")
                )
        }
        "python" | "python3" => !matches!(runs(command), Runs::Checks(_)),
        "xargs" => true,
        _ => !matches!(runs(command), Runs::Checks(_)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::read::shell::commands;

    fn changed(script: &str) -> Vec<(Option<String>, Effect)> {
        changes_of(&commands(script)).into_iter().map(|change| (change.path, change.effect)).collect()
    }

    #[test]
    fn commands_that_change_files_are_known() {
        let write = |path: &str| vec![(Some(path.to_owned()), Effect::Write)];
        let delete = |path: &str| vec![(Some(path.to_owned()), Effect::Delete)];
        for (script, expected) in [
            ("sed -i 's/1.4.0/1.5.0/' package.json", write("package.json")),
            ("sed -i.bak -e 's/a/b/' src/a.rs", write("src/a.rs")),
            ("echo x > a.txt", write("a.txt")),
            ("cat >> a.py <<'EOF'\nx\nEOF", write("a.py")),
            ("ls | tee out.json", write("out.json")),
            ("rm -f a.py", delete("a.py")),
            ("git rm tests/a.py", delete("tests/a.py")),
            ("cp a.py b.py", write("b.py")),
            ("git checkout -- src/a.rs", write("src/a.rs")),
            ("git stash pop", vec![(None, Effect::Write)]),
            ("npm install left-pad", vec![(None, Effect::Write)]),
            ("python - <<'E'\nopen('a.py','w').write('x')\nE", write("a.py")),
            ("perl -pi -e 's/a/b/' lib/a.pl", write("lib/a.pl")),
        ] {
            assert_eq!(changed(script), expected, "{script}");
        }
    }

    #[test]
    fn other_commands_change_nothing() {
        for script in [
            "gofmt -w a.go",
            "cargo fmt",
            "prettier --write .",
            "black .",
            "git commit -am x",
            "git status",
            "grep -r x .",
            "pytest 2>&1",
            "git checkout -b new",
            "sed -n 1,5p a.py",
            "git reset HEAD~1",
            "cargo test > /dev/null",
        ] {
            assert_eq!(changed(script), [], "{script}");
        }
    }

    #[test]
    fn generators_may_write_anything() {
        let may = |script: &str| commands(script).iter().any(may_write_anything);
        assert!(may("npm run generate") && may("./gen.sh") && may("make docs") && may("python gen.py"));
        assert!(!may("cat a | head") && !may("cargo test") && !may("git commit -m x") && !may("pytest"));
    }
}
