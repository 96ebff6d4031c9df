//! Guesses what a command does, for a short display: reads a file, lists a folder, searches, or something else.
//!
//! No decision of the program depends on the guess, but users decide based on it. So a command is only shown as reading,
//! listing or searching if no part of it can do anything else.

use std::path::{Path, PathBuf};

use crate::item::CommandAction;
use crate::tool::line::{self, Connector, Expansion, SimpleCommand};

/// Most actions that are shown for one command.
pub const MAX_ACTIONS: usize = 16;

/// Length of the longest command that is parsed, in bytes.
pub const MAX_ACTION_BYTES: usize = 4096;

/// Returns the likely actions of a shell line that runs in a folder. The list is never empty.
pub fn actions(line: &str, cwd: &Path) -> Vec<CommandAction> {
    known(line, cwd).unwrap_or_else(|| vec![CommandAction::Unknown { command: line.to_owned() }])
}

fn known(line: &str, cwd: &Path) -> Option<Vec<CommandAction>> {
    if line.len() > MAX_ACTION_BYTES {
        return None;
    }
    let mut cwd = cwd.to_owned();
    let mut found = Vec::new();
    for command in &line::parse(line)? {
        if command.joint == Connector::Pipe && is_filter(command) {
            continue;
        }
        if let [name, folder] = &command.words[..]
            && name == "cd"
        {
            cwd.push(folder);
            continue;
        }
        found.push(action(command, &cwd)?);
    }
    (!found.is_empty() && found.len() <= MAX_ACTIONS).then_some(found)
}

/// Returns whether a command only filters its input, whatever its arguments are: `sort` and `uniq` can write files, `awk`,
/// `sed` and pagers can start programs.
fn is_filter(command: &SimpleCommand) -> bool {
    let rest = &command.words[1..];
    let has_options_only = |with_value: &[&str]| operands(rest, with_value).is_empty();
    match command.words[0].as_str() {
        "wc" | "cut" | "tr" | "nl" | "cat" => true,
        "head" | "tail" => has_options_only(&["-n", "-c"]),
        "sort" => rest.iter().all(|word| is_cluster_of(word, "bdfghinrsuV")),
        "uniq" => rest.iter().all(|word| is_cluster_of(word, "cdiu")),
        "sed" => matches!(rest, [quiet, script] if quiet == "-n" && is_line_range(script)),
        _ => false,
    }
}

/// Returns whether a word is a cluster of some of these short options.
fn is_cluster_of(word: &str, options: &str) -> bool {
    word.strip_prefix('-').is_some_and(|cluster| !cluster.is_empty() && cluster.chars().all(|c| options.contains(c)))
}

/// Programs that an option, a configuration file or a variable can make do more than their usual work. An expanded word may
/// be such an option.
const CAN_DO_MORE: [&str; 4] = ["find", "rg", "sed", "tree"];

fn action(command: &SimpleCommand, cwd: &Path) -> Option<CommandAction> {
    let source = command.source.clone();
    let (name, rest) = command.words.split_first()?;
    if command.expansion == Expansion::Some && CAN_DO_MORE.contains(&name.as_str()) {
        return None;
    }
    let first = |operands: Vec<&str>| operands.first().map(|&path| path.to_owned());
    let has = |forbidden: &[&str]| rest.iter().any(|word| forbidden.iter().any(|begin| word.starts_with(begin)));
    match name.as_str() {
        "cat" | "nl" => read(source, &operands(rest, &[]), cwd),
        "head" | "tail" => read(source, &operands(rest, &["-n", "-c"]), cwd),
        "sed" if rest.first().is_some_and(|word| word == "-n") => match &rest[1..] {
            [script, file] if is_line_range(script) && !file.starts_with('-') => read(source, &[file], cwd),
            _ => None,
        },
        "ls" | "du" => {
            Some(CommandAction::ListFiles { command: source, path: first(operands(rest, &["-I", "-L", "--depth"])) })
        }
        "tree" if !has(&["-o", "-R", "--output"]) => {
            Some(CommandAction::ListFiles { command: source, path: first(operands(rest, &["-I", "-L", "-P"])) })
        }
        "find" if !has(&WRITING_FIND) => {
            let path = rest.first().filter(|word| !word.starts_with(['-', '(', '!'])).cloned();
            let query = rest
                .windows(2)
                .find(|pair| ["-name", "-iname", "-path", "-regex"].contains(&pair[0].as_str()))
                .map(|pair| pair[1].clone());
            Some(match query {
                Some(query) => CommandAction::Search { command: source, query: Some(query), path },
                None => CommandAction::ListFiles { command: source, path },
            })
        }
        "rg" if starts_programs(rest) => None,
        "rg" if rest.iter().any(|word| word == "--files") => {
            Some(CommandAction::ListFiles { command: source, path: first(operands(rest, &["-g", "-t", "--glob"])) })
        }
        "rg" | "grep" | "egrep" | "fgrep" => Some(search(source, rest)),
        // `git` runs programs that the repository's configuration names; `less`, `bat` and `ack` run programs that their
        // settings name.
        _ => None,
    }
}

/// Prefixes of the options of `find` that start programs, delete or write.
pub(crate) const WRITING_FIND: [&str; 5] = ["-exec", "-ok", "-delete", "-fls", "-fprint"];

/// Returns whether arguments make `rg` start a program for each file.
pub(crate) fn starts_programs(words: &[String]) -> bool {
    let is_cluster_with_z = |word: &String| {
        word.strip_prefix('-').is_some_and(|options| !options.starts_with('-') && options.contains('z'))
    };
    let begins = ["--pre", "--hostname-bin", "--search-zip"];
    words.iter().any(|word| begins.iter().any(|begin| word.starts_with(begin)) || is_cluster_with_z(word))
}

fn read(command: String, operands: &[&str], cwd: &Path) -> Option<CommandAction> {
    let [file] = operands else { return None };
    let path: PathBuf = cwd.join(file);
    let name = path.file_name()?.to_string_lossy().into_owned();
    Some(CommandAction::Read { command, name, path })
}

fn search(command: String, words: &[String]) -> CommandAction {
    const WITH_VALUE: [&str; 14] =
        ["-A", "-B", "-C", "-m", "-g", "-t", "-T", "-f", "--glob", "--type", "-d", "-D", "--max-count", "--context"];
    let pattern = words.windows(2).find(|pair| pair[0] == "-e" || pair[0] == "--regexp").map(|pair| pair[1].clone());
    let mut with_value = WITH_VALUE.to_vec();
    with_value.extend(["-e", "--regexp"]);
    let mut operands = operands(words, &with_value).into_iter().map(str::to_owned);
    let query = pattern.or_else(|| operands.next());
    CommandAction::Search { command, query, path: operands.next() }
}

/// Returns the words that are not options. Values of the options in `with_value` are skipped.
fn operands<'a>(words: &'a [String], with_value: &[&str]) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut words = words.iter();
    let mut only_operands = false;
    while let Some(word) = words.next() {
        if only_operands || word == "-" || !word.starts_with('-') {
            found.push(word.as_str());
        } else if word == "--" {
            only_operands = true;
        } else if with_value.contains(&word.as_str()) {
            words.next();
        }
    }
    found
}

/// Returns whether a script of `sed -n` only prints lines by number: `3p`, `1,20p`, `5,$p`.
pub(crate) fn is_line_range(script: &str) -> bool {
    let Some(range) = script.strip_suffix('p') else { return false };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match range.split_once(',') {
        Some((from, to)) => is_number(from) && (is_number(to) || to == "$"),
        None => is_number(range),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str) -> Vec<String> {
        actions(line, Path::new("/work"))
            .into_iter()
            .map(|action| match action {
                CommandAction::Read { command, name, path } => format!("read {name} {} <{command}>", path.display()),
                CommandAction::ListFiles { command, path } => format!("list {path:?} <{command}>"),
                CommandAction::Search { command, query, path } => format!("search {query:?} {path:?} <{command}>"),
                CommandAction::Unknown { command } => format!("unknown <{command}>"),
            })
            .collect()
    }

    #[test]
    fn lines_are_told_by_what_they_do() {
        let lines = [
            "cat a.txt",
            "cat src/a.txt | head -1",
            "sed -n '1,20p' a.rs",
            "sed -i s/a/b/ a.rs",
            "head -n 5 a.txt",
            "tail -20 /etc/hosts",
            "ls",
            "ls -la src",
            "find . -name '*.rs'",
            "find src -type f",
            "find . -delete",
            "rg --files src",
            "rg -n 'a b' src",
            "grep -rn -A 3 foo .",
            "grep -e x y",
            "cd src && cat lib.rs",
            "git grep x",
            "git status",
            "echo hi",
            "cat a.txt; rm b",
            "cat $(x)",
            "rg x 2>/dev/null | wc -l",
            "cat a b",
        ];
        let table: Vec<String> = lines.iter().map(|line| shown(line).join(" + ")).collect();
        insta::assert_snapshot!(table.join("\n"), @r#"
        read a.txt /work/a.txt <cat a.txt>
        read a.txt /work/src/a.txt <cat src/a.txt>
        read a.rs /work/a.rs <sed -n '1,20p' a.rs>
        unknown <sed -i s/a/b/ a.rs>
        read a.txt /work/a.txt <head -n 5 a.txt>
        read hosts /etc/hosts <tail -20 /etc/hosts>
        list None <ls>
        list Some("src") <ls -la src>
        search Some("*.rs") Some(".") <find . -name '*.rs'>
        list Some("src") <find src -type f>
        unknown <find . -delete>
        list Some("src") <rg --files src>
        search Some("a b") Some("src") <rg -n 'a b' src>
        search Some("foo") Some(".") <grep -rn -A 3 foo .>
        search Some("x") Some("y") <grep -e x y>
        read lib.rs /work/src/lib.rs <cat lib.rs>
        unknown <git grep x>
        unknown <git status>
        unknown <echo hi>
        unknown <cat a.txt; rm b>
        unknown <cat $(x)>
        search Some("x") None <rg x 2>/dev/null>
        unknown <cat a b>
        "#);
    }

    #[test]
    fn what_does_more_than_reading_is_not_said_to_read() {
        for line in [
            "cat x # look\nrm -rf ~",
            "cat x\nrm -rf ~",
            "cat x\rrm -rf ~",
            "cat <<EOF\n$(id)\nEOF",
            "cat <<'EOF' | sh\nid\nEOF",
            "cat $'a\\x60id\\x60'",
            "cat `id`",
            "cat \"`id`\"",
            "cat <(id)",
            "cat x > y",
            "cat x &",
            "cat x & rm y",
            "cat x || rm y",
            "LESSOPEN='|id %s' less x",
            "PAGER=id git grep x",
            "env cat x",
            "command cat x",
            "git -c core.pager=id log",
            "git -c core.fsmonitor=id ls-files",
            "git grep -Oid x",
            "git grep x",
            "git ls-files",
            "find . -exec id {} +",
            "find . -execdir id ;",
            "find . -okdir id ;",
            "find . -fprintf x y",
            "find . -fls x",
            "find . -delete",
            "find $X",
            "find *",
            "rg --pre id x",
            "rg --pre=id x",
            "rg --hostname-bin=id x",
            "rg -nz x",
            "rg --search-zip x",
            "rg x *",
            "sed -n 'w file' x",
            "sed -n '1e id' x",
            "sed -n 1p -i x",
            "sed 's/a/b/e' x",
            "cat x | sed 's/a/b/w y'",
            "cat x | awk 'BEGIN { system(\"id\") }'",
            "awk 'BEGIN { system(\"id\") }' x",
            "cat x | sort -o y",
            "cat x | sort --compress-program=id",
            "cat x | sort -T y",
            "cat x | uniq - y",
            "cat x | xargs rm",
            "cat x | less",
            "cat x | tee y",
            "cat x | sh",
            "tar --to-command=id -xf x",
            "tar tf x -I id",
            "xargs -a x id",
            "less x",
            "more x",
            "man -P id ls",
            "bat --pager=id x",
            "ack --pager=id x",
            "ag --pager=id x",
            "tree -o x",
            "alias cat=rm; cat x",
            "cat() { rm x; }; cat x",
            "function cat { rm x; }",
            "./cat x",
            "c\u{430}t x",
            "cat\u{a0}x",
            "cat {x,y}",
            "!cat",
        ] {
            let found = actions(line, Path::new("/work"));
            let is_unknown =
                |action: &CommandAction| matches!(action, CommandAction::Unknown { command } if command == line);
            assert!(matches!(&found[..], [action] if is_unknown(action)), "{line:?} is said to be {found:?}");
        }
    }

    #[test]
    fn limits_hold() {
        let many = vec!["cat a"; MAX_ACTIONS].join(";");
        assert_eq!(shown(&many).len(), MAX_ACTIONS);
        assert_eq!(shown(&format!("{many};cat a")).len(), 1);
        assert_eq!(shown(&format!("cat {}", "a".repeat(MAX_ACTION_BYTES))).len(), 1);
    }
}
