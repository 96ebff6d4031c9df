//! What the start-up files of a shell bring back is taken away before its command begins.
//!
//! A login shell reads `~/.profile` and the like, where people set keys. The files are still read, because `PATH` and functions
//! come from them. Then the shell looks at the names of all its variables, exported or not, removes those of keys, and evaluates
//! the command in the same process. If a variable cannot be removed (`readonly`), a new shell without it takes its place.
//!
//! The command is handed over as an argument of its own, so that nothing has to be quoted and messages of the shell name the right
//! line. Shells that a command itself starts are out of reach.

use std::path::Path;

/// Files in a home folder that shells read when they start.
pub const FILES: [&str; 14] = [
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".inputrc",
    ".kshrc",
    ".login",
    ".mkshrc",
    ".profile",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zshenv",
    ".zshrc",
];

/// A shell that is called with a line to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ShellCall {
    kind: Kind,
    /// Place of the line among the words.
    line: usize,
    /// Whether it reads files of its user before it runs the line.
    pub(super) reads_files: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bash,
    Zsh,
    Other,
}

/// Names of variables, as patterns for `case` of a shell. A name counts where it fits first.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Kept, whatever the others say.
    pub(super) given: Vec<String>,
    /// Removed.
    pub(super) excluded: Vec<String>,
    /// Kept.
    pub(super) passed: Vec<String>,
    /// Removed.
    pub(super) hidden: Vec<String>,
}

/// Returns which shell these words call; `None` if they call something else, or no line is handed over.
pub(super) fn read(words: &[String]) -> Option<ShellCall> {
    let kind = match Path::new(words.first()?).file_name()?.to_str()?.trim_start_matches('-') {
        "bash" => Kind::Bash,
        "zsh" => Kind::Zsh,
        "sh" | "dash" | "ksh" | "mksh" | "ash" => Kind::Other,
        _ => return None,
    };
    let (mut has_line, mut reads_files) = (false, kind == Kind::Zsh);
    let mut at = 1;
    while let Some(word) = words.get(at) {
        match word.as_str() {
            "--" | "-" => {
                at += 1;
                break;
            }
            "--login" => reads_files = true,
            "--rcfile" | "--init-file" | "-o" | "+o" | "-O" | "+O" => at += 1,
            long if long.starts_with("--") => {}
            options if options.starts_with('-') => {
                has_line |= options.contains('c');
                reads_files |= options.contains(['l', 'i']);
                // `-lco NAME` takes the next word.
                at += usize::from(options.ends_with(['o', 'O']));
            }
            options if options.starts_with('+') => {}
            _ => break,
        }
        at += 1;
    }
    (has_line && at < words.len()).then_some(ShellCall { kind, line: at, reads_files })
}

/// Returns the words with which the shell removes variables before it runs its line.
pub(super) fn without_variables(words: &[String], shell: &ShellCall, names: &Names) -> Vec<String> {
    let (before, rest) = words.split_at(shell.line);
    let mut guarded = before.to_vec();
    guarded.push(script(&words[0], shell.kind, names));
    // The shell's `$0`, and the line as the first of its arguments.
    guarded.push(rest.get(1).unwrap_or(&words[0]).clone());
    guarded.push(rest[0].clone());
    guarded.extend(rest.iter().skip(2).cloned());
    guarded
}

/// Returns the words without the options that make a shell read files of its user.
pub(super) fn without_files(words: &[String]) -> Vec<String> {
    let Some(shell) = read(words) else { return words.to_vec() };
    let (options, rest) = words[1..].split_at(shell.line - 1);
    let mut plain = vec![words[0].clone()];
    plain.extend((shell.kind == Kind::Zsh).then(|| "-f".to_owned()));
    plain.extend(options.iter().filter(|word| *word != "--login").filter_map(|word| {
        let is_cluster = word.starts_with('-') && !word.starts_with("--") && word.len() > 1;
        let word = if is_cluster { word.replace(['l', 'i'], "") } else { word.clone() };
        (!is_cluster || word != "-").then_some(word)
    }));
    plain.extend_from_slice(rest);
    plain
}

/// Returns what the shell runs in place of the line, which is its first argument. It is one line, so that the lines of the command
/// are counted from 1.
fn script(program: &str, kind: Kind, names: &Names) -> String {
    let list = match kind {
        Kind::Bash => "compgen -v".to_owned(),
        Kind::Zsh | Kind::Other => {
            // Parts of values that look like assignments give names that are not set; to remove those does nothing.
            "set | command sed -n 's/^\\([A-Za-z_][A-Za-z0-9_]*\\)=.*/\\1/p'".to_owned()
        }
    };
    let keep = ":";
    let remove = "command unset -v \"$__trace_name\" 2>/dev/null || __trace_left=\"$__trace_left -u $__trace_name\"";
    let branches = [(&names.given, keep), (&names.excluded, remove), (&names.passed, keep), (&names.hidden, remove)];
    let branches: String = branches
        .iter()
        .filter(|(patterns, _)| !patterns.is_empty())
        .map(|(patterns, action)| format!("({}) {action} ;; ", patterns.join("|")))
        .collect();
    let (left, plain) = match kind {
        Kind::Zsh => ("${=__trace_left}", " -f"),
        Kind::Bash | Kind::Other => ("$__trace_left", ""),
    };
    let program = shlex::try_quote(program).map_or_else(|_| "sh".to_owned(), std::borrow::Cow::into_owned);
    format!(
        "__trace_line=$1; shift; __trace_ifs=${{IFS+x}}${{IFS-}}; __trace_left=; unset IFS; \
         for __trace_name in $({list}); do case $__trace_name in {branches}esac; done; \
         case $__trace_left in (?*) exec /usr/bin/env {left} {program}{plain} -c \"$__trace_line\" \"$0\" \"$@\" ;; esac; \
         case $__trace_ifs in (x*) IFS=${{__trace_ifs#x}} ;; esac; \
         unset __trace_name __trace_left __trace_ifs; eval \" $__trace_line\""
    )
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::process::Command;

    use super::super::names::{KEY_NAMES, NamePattern, STARTUP_NAMES, table};
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn calls_of_shells_are_read() {
        let call = |list: &[&str]| read(&words(list)).map(|shell| (shell.line, shell.reads_files));
        for (list, expected) in [
            (&["bash", "-c", "x"][..], Some((2, false))),
            (&["bash", "-lc", "x"], Some((2, true))),
            (&["/bin/sh", "-l", "-c", "x", "name"], Some((3, true))),
            (&["bash", "--login", "-c", "x"], Some((3, true))),
            (&["bash", "-c", "-l", "x"], Some((3, true))),
            (&["bash", "-o", "errexit", "-ic", "x"], Some((4, true))),
            (&["bash", "-lco", "errexit", "x"], Some((3, true))),
            (&["bash", "--rcfile", "f", "-c", "x"], Some((4, false))),
            (&["bash", "-lc", "--", "x"], Some((3, true))),
            (&["zsh", "-c", "x"], Some((2, true))),
            (&["bash", "script"], None),
            (&["bash", "-lc"], None),
            (&["fish", "-lc", "x"], None),
            (&["env", "bash", "-lc", "x"], None),
            (&[], None),
        ] {
            assert_eq!(call(list), expected, "{list:?}");
        }
        for (list, expected) in [
            (&["bash", "-lc", "x"][..], &["bash", "-c", "x"][..]),
            (&["bash", "-l", "--login", "-c", "x", "-l"], &["bash", "-c", "x", "-l"]),
            (&["zsh", "-lc", "x"], &["zsh", "-f", "-c", "x"]),
            (&["make", "-l"], &["make", "-l"]),
        ] {
            assert_eq!(without_files(&words(list)), words(expected), "{list:?}");
        }
    }

    /// Runs words in a home folder whose start-up file is given, and returns what they print.
    fn run(list: &[&str], profile: &str, names: &Names) -> String {
        let home = tempfile::tempdir().expect("a folder");
        for name in [".profile", ".zshenv"] {
            std::fs::write(home.path().join(name), profile).expect("writes");
        }
        let list = words(list);
        let shell = read(&list).expect("a shell");
        let guarded = without_variables(&list, &shell, names);
        let mut command = Command::new(&guarded[0]);
        command.args(&guarded[1..]).env_clear().env("HOME", home.path()).env("PATH", "/usr/bin:/bin");
        let output = command.output().expect("a shell");
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    }

    fn names() -> Names {
        let for_shell = |patterns: &[&str]| table(patterns).iter().filter_map(NamePattern::for_shell).collect();
        Names {
            hidden: [for_shell(KEY_NAMES), for_shell(&STARTUP_NAMES)].concat(),
            passed: for_shell(&["PASSED_TOKEN"]),
            given: for_shell(&["GIVEN_TOKEN"]),
            excluded: for_shell(&["EXCLUDED"]),
        }
    }

    fn shells() -> Vec<&'static str> {
        let known = ["/bin/bash", "/bin/sh", "/bin/dash", "/bin/zsh", "/bin/ksh"];
        known.into_iter().filter(|shell| PathBuf::from(shell).exists()).collect()
    }

    #[test]
    fn nothing_of_a_key_is_left_in_any_shell() {
        let profile = "export A_TOKEN=hush-1\nB_SECRET=hush-2\nreadonly C_API_KEY=hush-3\nexport C_API_KEY\n\
                       export my_password=hush-4 EXCLUDED=hush-5 BASH_ENV=/hush-6 ENV=/hush-7\n\
                       export D='x\nFAKE_TOKEN=y' PASSED_TOKEN=yes GIVEN_TOKEN=yes PATH_TO=kept\nIFS=,\nf() { echo called; }\n";
        for shell in shells() {
            let line = "env; set; echo \"$A_TOKEN$B_SECRET$C_API_KEY$my_password$EXCLUDED\"";
            let said = run(&[shell, "-lc", line], profile, &names());
            assert!(!said.contains("hush-"), "{shell}: {said}");
            assert!(said.contains("PASSED_TOKEN=yes") && said.contains("GIVEN_TOKEN=yes"), "{shell}: {said}");
            assert!(said.contains("PATH_TO=kept") && !said.contains("not found"), "{shell}: {said}");
        }
    }

    #[test]
    fn a_command_notices_nothing() {
        let profile = "export A_TOKEN=hush\nIFS=,\nf() { echo called; }\n";
        for shell in shells() {
            let run = |list: &[&str]| run(list, profile, &names());
            assert_eq!(
                run(&[shell, "-lc", "f; echo \"$?/$#/$0/$IFS\""]),
                format!("called\n0/0/{shell}/,\n"),
                "{shell}"
            );
            assert_eq!(run(&[shell, "-lc", "echo \"$0/$1/$#\"", "name", "a b", "c"]), "name/a b/2\n", "{shell}");
            assert_eq!(run(&[shell, "-lc", "# 'nothing\ncat <<E\n$HOME_\\\"\nE\nexit 3"]), "\\\"\n", "{shell}");
        }
        let said = run(&["/bin/bash", "-lc", "--", "-x"], profile, &names());
        assert_eq!(said, "/bin/bash: line 1: -x: command not found\n");
        let said = run(&["/bin/bash", "-lc", "true\nmissing-program"], profile, &names());
        assert_eq!(said, "/bin/bash: line 2: missing-program: command not found\n");
    }
}
