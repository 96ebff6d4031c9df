//! Removes keys that the start-up files of a shell set, before the command begins.
//!
//! A login shell reads files such as `~/.profile`, in which users set keys. The files are still read, because they define
//! `PATH` and functions. Then the shell lists the names of all its variables, exported or not, removes those of keys, and
//! evaluates the command in the same process. If a variable cannot be removed (`readonly`), a new shell without it takes
//! its place.
//!
//! A shell without a command line, which reads a script, its standard input or a terminal, reads its files and removes
//! variables in the same way, and then becomes a shell that reads no such files. An interactive bash keeps its functions,
//! aliases, options and prompts; other shells keep what is exported.
//!
//! The command is embedded in the line that the shell is called with, because start-up files can change the arguments of
//! the shell (`set --`). The line stays a single line, so that messages of the shell give line numbers of the command.
//! Shells that a command itself starts are not handled, and neither are functions and traps of start-up files that set a
//! key later.

use std::path::Path;

/// Files in a home directory that shells read when they start.
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

/// A call of a shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ShellCall {
    kind: Kind,
    /// Index of the word after the options. The command line or the script follows, possibly after a word that ends the
    /// options.
    options: usize,
    /// Index of the command line or the script, or the number of words if there is neither.
    rest: usize,
    reads: Reads,
    /// Whether the shell reads start-up files of its user.
    pub(super) reads_files: bool,
}

/// Where a shell reads its commands from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reads {
    /// The argument of `-c`.
    Line,
    /// A script file.
    Script,
    /// Standard input, which may be a terminal.
    Input,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bash,
    Zsh,
    Other,
}

/// Exit code if start-up files keep the shell from removing keys, for example because they make it a restricted shell (`set
/// -r`). The command is not run then.
const NOT_GUARDED_EXIT_CODE: i32 = 126;

/// Names of variables as patterns for `case` of a shell. The first list with a match decides.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Kept.
    pub(super) given: Vec<String>,
    /// Removed.
    pub(super) excluded: Vec<String>,
    /// Kept.
    pub(super) passed: Vec<String>,
    /// Removed.
    pub(super) hidden: Vec<String>,
    /// Kept, although they look like keys.
    pub(super) harmless: Vec<String>,
    /// Removed.
    pub(super) keys: Vec<String>,
}

/// Parses the call of a shell. `None` if the words call another program, or `-c` has no argument.
pub(super) fn read(words: &[String]) -> Option<ShellCall> {
    let called = Path::new(words.first()?).file_name()?.to_str()?;
    let name = called.trim_start_matches('-');
    let kind = match name {
        "bash" => Kind::Bash,
        "zsh" => Kind::Zsh,
        "sh" | "dash" | "ksh" | "ksh93" | "mksh" | "ash" => Kind::Other,
        _ => return None,
    };
    // A shell whose name begins with a dash is a login shell.
    let (mut has_line, mut has_input, mut reads_files) = (false, false, kind == Kind::Zsh || name != called);
    let mut at = 1;
    let mut options = 1;
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
                has_input |= options.contains('s');
                reads_files |= options.contains(['l', 'i']);
                // `-lco NAME` uses the next word.
                at += usize::from(options.ends_with(['o', 'O']));
            }
            options if options.starts_with('+') => {}
            _ => break,
        }
        at += 1;
        options = at;
    }
    let (rest, options) = (at.min(words.len()), options.min(words.len()));
    let reads = match (has_line, has_input || rest == words.len()) {
        (true, _) if rest == words.len() => return None,
        (true, _) => Reads::Line,
        (false, true) => Reads::Input,
        (false, false) => Reads::Script,
    };
    // On a terminal these shells are interactive and read files of their user. Other shells read the file that `ENV` names,
    // and commands do not get that variable.
    reads_files |= reads == Reads::Input && matches!(name, "bash" | "ksh" | "ksh93" | "mksh");
    Some(ShellCall { kind, options, rest, reads, reads_files })
}

/// Returns the words with which the shell removes variables before it does its work.
pub(super) fn without_variables(words: &[String], shell: &ShellCall, names: &Names) -> Vec<String> {
    let program = &words[0];
    if shell.reads == Reads::Line {
        let (before, rest) = words.split_at(shell.rest);
        let mut guarded = before.to_vec();
        guarded.push(before_line(program, shell.kind, names, &rest[0]));
        // `$0` and the arguments of the shell.
        guarded.push(rest.get(1).unwrap_or(program).clone());
        guarded.extend(rest.iter().skip(2).cloned());
        return guarded;
    }
    // The shell reads its files as usual, but runs a command line that replaces it by a shell that reads none. On a
    // terminal a shell is interactive by default, but not with a command line.
    let options = &words[1..shell.options];
    let mut guarded = vec![program.clone()];
    guarded.extend(options.iter().filter_map(|word| without_letters(word, &['s'])));
    let is_told = options.iter().any(|word| has_letter(word, 'i'));
    let script = before_becoming(program, shell.kind, names);
    if shell.reads == Reads::Input && !is_told {
        let quoted = |text: &str| shlex::try_quote(text).map_or_else(|_| ":".to_owned(), std::borrow::Cow::into_owned);
        // The options are also arguments of the outer command line, so they are passed twice.
        let outer: Vec<String> = guarded[1..].iter().map(|word| quoted(word)).collect();
        let (program, outer, script) = (quoted(program), outer.join(" "), quoted(&script));
        guarded.truncate(1);
        guarded.extend(shell.kind.options_without_files().iter().map(|option| (*option).to_owned()));
        guarded.extend([
            "-c".to_owned(),
            format!(
                "if [ -t 0 ] && [ -t 2 ]; then exec {program} {outer} -i -c {script} \"$0\" -i \"$@\"; \
                 else exec {program} {outer} -c {script} \"$0\" \"$@\"; fi"
            ),
        ]);
    } else {
        guarded.extend(["-c".to_owned(), script]);
    }
    guarded.push(program.clone());
    guarded.extend(plain_options(options));
    guarded.extend_from_slice(&words[shell.options..]);
    guarded
}

/// Returns the words without the options that make a shell read files of its user.
pub(super) fn without_files(words: &[String]) -> Vec<String> {
    let Some(shell) = read(words) else { return words.to_vec() };
    let mut plain = vec![words[0].clone()];
    let files = match shell.reads {
        Reads::Line if shell.kind != Kind::Zsh => &[],
        _ => shell.kind.options_without_files(),
    };
    plain.extend(files.iter().map(|option| (*option).to_owned()));
    plain.extend(plain_options(&words[1..shell.options]));
    plain.extend_from_slice(&words[shell.options..]);
    plain
}

/// Returns the options without those that make a shell read files of its user. An interactive shell without a command line
/// stays interactive.
fn plain_options(options: &[String]) -> Vec<String> {
    let has_line = options.iter().any(|word| has_letter(word, 'c'));
    let letters: &[char] = if has_line { &['l', 'i'] } else { &['l'] };
    let mut plain = Vec::new();
    let mut options = options.iter();
    while let Some(option) = options.next() {
        match option.as_str() {
            "--login" => {}
            "--rcfile" | "--init-file" => drop(options.next()),
            "-o" | "+o" | "-O" | "+O" => plain.extend([Some(option), options.next()].into_iter().flatten().cloned()),
            _ => plain.extend(without_letters(option, letters)),
        }
    }
    plain
}

/// Returns whether a word is a cluster of short options that contains a letter.
fn has_letter(word: &str, letter: char) -> bool {
    word.starts_with('-') && !word.starts_with("--") && word.contains(letter)
}

/// Returns a cluster of short options without some letters, or `None` if no option is left. Other words are returned
/// unchanged.
fn without_letters(word: &str, letters: &[char]) -> Option<String> {
    if !word.starts_with('-') || word.starts_with("--") || word.len() == 1 {
        return Some(word.to_owned());
    }
    let word = word.replace(letters, "");
    (word != "-").then_some(word)
}

impl Kind {
    /// Returns the options with which a shell reads no files of its user.
    fn options_without_files(self) -> &'static [&'static str] {
        match self {
            Self::Bash => &["--noprofile", "--norc"],
            Self::Zsh => &["-f"],
            // These shells have no such options. The file for interactive ones is named by `ENV`.
            Self::Other => &[],
        }
    }

    /// Returns the shell expression with the options of `env` that remove the remaining variables.
    fn left(self) -> &'static str {
        match self {
            Self::Zsh => "${=__trace_left}",
            Self::Bash | Self::Other => "$__trace_left",
        }
    }
}

/// Commands that print the state which an interactive bash passes to its replacement, in addition to exported variables.
const INTERACTIVE_STATE: &str = "shopt -p; declare -p PS1 PS2 PROMPT_COMMAND PROMPT_DIRTRIM HISTCONTROL HISTIGNORE HISTSIZE \
     HISTFILESIZE HISTTIMEFORMAT HISTFILE 2>/dev/null; alias -p; complete -p; declare -f; \
     printf '%s\\n' '__trace_fd=${BASH_SOURCE[0]##*/}; eval \"exec $__trace_fd<&-\"; unset __trace_fd'";

/// Returns the command line that replaces `line`. It has no line feed, so that the lines of the command are counted from 1.
fn before_line(program: &str, kind: Kind, names: &Names, line: &str) -> String {
    let (removal, left) = (removal(kind, names), kind.left());
    let plain = if kind == Kind::Zsh { " -f" } else { "" };
    let (program, line) = (quoted_program(program), assigned(line));
    format!(
        "{line} {removal} \
         case $__trace_left in (?*) exec /usr/bin/env {left} {program}{plain} -c \"$__trace_line\" \"$0\" \"$@\"; \
         exit {NOT_GUARDED_EXIT_CODE} ;; esac; \
         case $__trace_ifs in (x*) IFS=${{__trace_ifs#x}} ;; esac; \
         unset __trace_name __trace_left __trace_ifs; eval \" $__trace_line\""
    )
}

/// Returns commands without a line feed that assign a text to the variable `__trace_line`.
fn assigned(text: &str) -> String {
    // Command substitution strips line feeds at the end. The full stop prevents this.
    let escaped = format!("{}.", text.replace('\\', "\\\\").replace('\n', "\\n"));
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
    if text.contains('\n') {
        format!("__trace_line=$(printf %b {}); __trace_line=${{__trace_line%.}};", quoted(&escaped))
    } else {
        format!("__trace_line={};", quoted(text))
    }
}

/// Returns the commands that replace a shell by one that reads no files of its user. The words of the new shell are the
/// arguments.
fn before_becoming(program: &str, kind: Kind, names: &Names) -> String {
    let (removal, left) = (removal(kind, names), kind.left());
    let program = quoted_program(program);
    let become_plain = match kind {
        Kind::Bash => format!(
            "case $- in (*i*) exec /usr/bin/env {left} {program} --noprofile --rcfile <({INTERACTIVE_STATE}) \"$@\" ;; esac; \
             exec /usr/bin/env {left} {program} --noprofile --norc \"$@\"; exit {NOT_GUARDED_EXIT_CODE}"
        ),
        Kind::Zsh => format!("exec /usr/bin/env {left} {program} -f \"$@\"; exit {NOT_GUARDED_EXIT_CODE}"),
        // Without the variable, some of these shells read a default file.
        Kind::Other => format!("exec /usr/bin/env {left} ENV= {program} \"$@\"; exit {NOT_GUARDED_EXIT_CODE}"),
    };
    format!("{removal} {become_plain}")
}

fn quoted_program(program: &str) -> String {
    shlex::try_quote(program).map_or_else(|_| "sh".to_owned(), std::borrow::Cow::into_owned)
}

/// Returns commands that remove variables. Those that cannot be removed are in `__trace_left` afterwards, as options of
/// `env`.
fn removal(kind: Kind, names: &Names) -> String {
    let list = match kind {
        Kind::Bash => "compgen -v".to_owned(),
        Kind::Zsh | Kind::Other => {
            // Parts of values that look like assignments give names of unset variables, whose removal has no effect.
            "set | command sed -n 's/^\\([A-Za-z_][A-Za-z0-9_]*\\)=.*/\\1/p'".to_owned()
        }
    };
    let keep = &":".to_owned();
    let unset = match kind {
        // In zsh `command` runs only external programs, and a failing `unset` ends the shell.
        Kind::Zsh => {
            "(builtin unset -v \"$__trace_name\") 2>/dev/null && builtin unset -v \"$__trace_name\" 2>/dev/null"
        }
        Kind::Bash | Kind::Other => "command unset -v \"$__trace_name\" 2>/dev/null",
    };
    let remove = format!("{unset} || __trace_left=\"$__trace_left -u $__trace_name\"");
    let branches = [
        (&names.given, keep),
        (&names.excluded, &remove),
        (&names.passed, keep),
        (&names.hidden, &remove),
        (&names.harmless, keep),
        (&names.keys, &remove),
    ];
    let branches: String = branches
        .iter()
        .filter(|(patterns, _)| !patterns.is_empty())
        .map(|(patterns, action)| format!("({}) {action} ;; ", patterns.join("|")))
        .collect();
    format!(
        "__trace_ifs=${{IFS+x}}${{IFS-}}; __trace_left=; unset IFS; \
         case $- in (*r*) exit {NOT_GUARDED_EXIT_CODE} ;; esac; \
         for __trace_name in $({list}); do case $__trace_name in {branches}esac; done;"
    )
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::process::Command;

    use trace_needs::{Need, skip};

    use super::super::names::{HARMLESS_NAMES, KEY_NAMES, NamePattern, STARTUP_NAMES, table};
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn calls_of_shells_are_read() {
        let call = |list: &[&str]| read(&words(list)).map(|shell| (shell.rest, shell.reads_files));
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
            (&["bash", "script"], Some((1, false))),
            (&["bash", "-l", "script", "-c"], Some((2, true))),
            (&["bash"], Some((1, true))),
            (&["sh"], Some((1, false))),
            (&["sh", "-i"], Some((2, true))),
            (&["ksh"], Some((1, true))),
            (&["-bash"], Some((1, true))),
            (&["bash", "-s", "x"], Some((2, true))),
            (&["zsh", "script"], Some((1, true))),
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
            (&["bash", "-l"], &["bash", "--noprofile", "--norc"]),
            (&["bash", "-li", "--rcfile", "f"], &["bash", "--noprofile", "--norc", "-i"]),
            (&["sh", "-l", "script", "-l"], &["sh", "script", "-l"]),
            (&["make", "-l"], &["make", "-l"]),
        ] {
            assert_eq!(without_files(&words(list)), words(expected), "{list:?}");
        }
    }

    /// Runs words with a home directory that contains a start-up file, and returns the output.
    fn run(list: &[&str], profile: &str, names: &Names) -> String {
        run_with_input(list, "", profile, names)
    }

    /// Does the same with text on standard input.
    fn run_with_input(list: &[&str], input: &str, profile: &str, names: &Names) -> String {
        let home = tempfile::tempdir().expect("a folder");
        for name in [".profile", ".bashrc", ".zshenv", ".zshrc", ".kshrc", ".mkshrc"] {
            std::fs::write(home.path().join(name), profile).expect("writes");
        }
        let list = words(list);
        let shell = read(&list).expect("a shell");
        run_at(home.path(), &without_variables(&list, &shell, names), input)
    }

    /// Runs the words unchanged.
    fn run_plainly(list: &[&str], profile: &str) -> String {
        let home = tempfile::tempdir().expect("a folder");
        for name in [".profile", ".zshenv"] {
            std::fs::write(home.path().join(name), profile).expect("writes");
        }
        run_at(home.path(), &words(list), "")
    }

    fn run_at(home: &Path, list: &[String], input: &str) -> String {
        let mut command = Command::new(&list[0]);
        command.args(&list[1..]).env_clear().env("HOME", home).env("PATH", "/usr/bin:/bin");
        std::fs::write(home.join("input"), input).expect("writes");
        let file = std::fs::File::open(home.join("input")).expect("is there");
        let output = command.stdin(file).output().expect("a shell");
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    }

    fn names() -> Names {
        let for_shell = |patterns: &[&str]| table(patterns).iter().filter_map(NamePattern::for_shell).collect();
        Names {
            hidden: for_shell(&STARTUP_NAMES),
            harmless: for_shell(HARMLESS_NAMES),
            keys: for_shell(KEY_NAMES),
            passed: for_shell(&["PASSED_TOKEN"]),
            given: for_shell(&["GIVEN_TOKEN"]),
            excluded: for_shell(&["EXCLUDED"]),
        }
    }

    fn shells() -> Vec<&'static str> {
        let known = ["/bin/bash", "/bin/sh", "/bin/dash", "/bin/zsh", "/bin/ksh"];
        let (there, missing): (Vec<_>, Vec<_>) = known.into_iter().partition(|shell| PathBuf::from(shell).exists());
        for shell in missing {
            skip(Need::Shells, format_args!("keys in the start-up files of {shell}"));
        }
        there
    }

    const KEYS: &str = "export A_TOKEN=hush-1\nB_SECRET=hush-2\nreadonly C_API_KEY=hush-3\nexport C_API_KEY\n\
                        export my_password=hush-4 EXCLUDED=hush-5 BASH_ENV=/hush-6 ENV=/hush-7\n\
                        export PASSED_TOKEN=yes GIVEN_TOKEN=yes PATH_TO=kept\n";

    #[test]
    fn nothing_of_a_key_is_left_in_a_shell_without_a_line() {
        let input = "env\nset\necho \"$A_TOKEN$B_SECRET$C_API_KEY$my_password$EXCLUDED/$1\"\n";
        for shell in &shells() {
            for options in [
                &["-l"][..],
                &["-i"],
                &["-li"],
                &["-l", "-i"],
                &[],
                &["-s"],
                &["-ls"],
                &["-l", "-o", "nounset"],
                &["-l", "-"],
            ] {
                let list = [&[*shell], options].concat();
                let reads_files = read(&words(&list)).is_some_and(|shell| shell.reads_files);
                if !reads_files {
                    continue;
                }
                let said = run_with_input(&list, input, KEYS, &names());
                assert!(!said.contains("hush-"), "{list:?}: {said}");
                // Without `-l`, most shells read only the file that `ENV` names.
                if options.iter().any(|option| option.contains(['l', 'i']))
                    && !(shell.ends_with("sh") && options == ["-i"])
                {
                    assert!(said.contains("PATH_TO=kept") && said.contains("PASSED_TOKEN=yes"), "{list:?}: {said}");
                    assert!(said.contains("GIVEN_TOKEN=yes"), "{list:?}: {said}");
                }
            }
            let said = run_with_input(&[shell, "-ls", "word"], "echo \"/$1/$#\"\nexit 3\n", KEYS, &names());
            assert!(said.contains("/word/1"), "{shell}: {said}");
        }
    }

    #[test]
    fn start_up_files_that_set_arguments_change_no_line() {
        for shell in shells() {
            let line = "echo \"shown\\n/$#\"\n\necho 'it''s \\\\ second'; echo $LINENO\n";
            let files = "set -- 'echo OTHER' rest\n";
            let said = run(&[shell, "-lc", line, "name"], files, &names());
            let plain = run_plainly(&[shell, "-lc", line, "name"], files);
            assert!(said == plain && said.contains("shown") && said.contains("second"), "{shell}: {said:?} {plain:?}");
        }
    }

    #[test]
    fn a_shell_that_its_start_up_files_restrict_runs_nothing() {
        for shell in shells().into_iter().filter(|shell| shell.ends_with("bash") || shell.ends_with("zsh")) {
            let restrict = if shell.ends_with("zsh") { "setopt restricted\n" } else { "set -r\n" };
            let said = run(&[shell, "-lc", "echo \"$A_TOKEN\"; echo ran"], &format!("{KEYS}{restrict}"), &names());
            assert!(!said.contains("hush-") && !said.contains("ran"), "{shell}: {said}");
        }
    }

    #[test]
    fn nothing_of_a_key_is_left_in_a_script_of_a_login_shell() {
        let folder = tempfile::tempdir().expect("a folder");
        let script = folder.path().join("script");
        std::fs::write(&script, "env; set; echo \"$A_TOKEN$C_API_KEY/$1/$#\"\n").expect("writes");
        for shell in shells() {
            let said = run(&[shell, "-l", script.to_str().expect("text"), "-l"], KEYS, &names());
            assert!(
                !said.contains("hush-") && said.contains("/-l/1") && said.contains("PATH_TO=kept"),
                "{shell}: {said}"
            );
        }
    }

    /// On a terminal a shell is interactive by default and reads its files.
    #[test]
    fn nothing_of_a_key_is_left_in_a_shell_on_a_terminal() {
        if !PathBuf::from("/usr/bin/script").exists() {
            return skip(Need::Programs, "keys in shells on a terminal, without /usr/bin/script");
        }
        for shell in shells() {
            for options in [&[][..], &["-l"]] {
                let list = words(&[&[shell], options].concat());
                let call = read(&list).expect("a shell");
                if !call.reads_files {
                    continue;
                }
                let guarded = without_variables(&list, &call, &names());
                let line = shlex::try_join(guarded.iter().map(String::as_str)).expect("text");
                let script = ["/usr/bin/script", "-qec", &line, "/dev/null"];
                let home = tempfile::tempdir().expect("a folder");
                for name in [".profile", ".bashrc", ".zshenv", ".zshrc", ".kshrc"] {
                    std::fs::write(home.path().join(name), KEYS).expect("writes");
                }
                std::fs::write(home.path().join("input"), "env; echo \"$-\"\nexit\n").expect("writes");
                let mut command = Command::new(script[0]);
                command.args(&script[1..]).env_clear().env("HOME", home.path()).env("PATH", "/usr/bin:/bin");
                command.env("SHELL", "/bin/sh").env("TERM", "dumb");
                let input = std::fs::File::open(home.path().join("input")).expect("is there");
                let output = command.stdin(input).output().expect("it starts");
                let said = String::from_utf8_lossy(&output.stdout).into_owned();
                assert!(!said.contains("hush-") && said.contains("PATH_TO=kept"), "{list:?}: {said}");
            }
        }
    }

    #[test]
    fn an_interactive_shell_keeps_what_its_files_made() {
        let profile =
            "export A_TOKEN=hush\nf() { echo called; }\nalias ll='echo listed'\nPS1='mine> '\nshopt -s globstar\n";
        let input = "f\nll\nshopt globstar\necho \"[$PS1]\"\nls -l /proc/$$/fd | grep -c pipe: \n";
        let said = run_with_input(&["/bin/bash", "-i"], input, profile, &names());
        for expected in ["called\n", "listed\n", "globstar       \ton", "[mine> ]"] {
            assert!(said.contains(expected), "{expected}: {said}");
        }
        assert!(!said.contains("hush"), "{said}");
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
            // ksh resets `IFS` before it runs its command line.
            let separator = if shell == "/bin/ksh" { " \t\n" } else { "," };
            assert_eq!(
                run(&[shell, "-lc", "f; echo \"$?/$#/$0/$IFS\""]),
                format!("called\n0/0/{shell}/{separator}\n"),
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
