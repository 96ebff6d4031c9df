//! What a command seems to do, for a short display: read a file, list a folder, search, or something else.
//!
//! A guess for people. Nothing is decided by it.

use std::path::{Path, PathBuf};

use crate::item::CommandAction;
use crate::tool::line::{self, Joint, SimpleCommand};

/// Most actions that are told of one command.
pub const MAX_ACTIONS: usize = 16;

/// Longest command that is looked at, in bytes.
pub const MAX_ACTION_BYTES: usize = 4096;

/// Returns what a shell line that runs in a folder seems to do. Never empty.
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
        if command.joint == Joint::Pipe && is_filter(command) {
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

/// Tells whether a command only shapes what comes through it.
fn is_filter(command: &SimpleCommand) -> bool {
    match command.words[0].as_str() {
        "wc" | "sort" | "uniq" | "cut" | "tr" | "column" | "nl" | "cat" | "less" | "more" | "awk" => true,
        "head" | "tail" => operands(&command.words[1..], &["-n", "-c"]).is_empty(),
        "sed" => {
            operands(&command.words[1..], &["-e"]).len() <= 1
                && !command.words.iter().any(|word| word.starts_with("-i"))
        }
        _ => false,
    }
}

fn action(command: &SimpleCommand, cwd: &Path) -> Option<CommandAction> {
    let source = command.source.clone();
    let (name, rest) = command.words.split_first()?;
    let first = |operands: Vec<&str>| operands.first().map(|&path| path.to_owned());
    match name.as_str() {
        "cat" | "bat" | "less" | "more" | "nl" => read(source, &operands(rest, &[]), cwd),
        "head" | "tail" => read(source, &operands(rest, &["-n", "-c"]), cwd),
        "sed" if rest.first().is_some_and(|word| word == "-n") => match &operands(&rest[1..], &[])[..] {
            [script, file] if is_line_range(script) => read(source, &[file], cwd),
            _ => None,
        },
        "ls" | "tree" | "du" | "eza" | "exa" => {
            Some(CommandAction::ListFiles { command: source, path: first(operands(rest, &["-I", "-L", "--depth"])) })
        }
        "find"
            if !rest.iter().any(|word| ["-exec", "-execdir", "-ok", "-okdir", "-delete"].contains(&word.as_str())) =>
        {
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
        "rg" if rest.iter().any(|word| word == "--files") => {
            Some(CommandAction::ListFiles { command: source, path: first(operands(rest, &["-g", "-t", "--glob"])) })
        }
        "rg" | "grep" | "egrep" | "fgrep" | "ag" | "ack" => Some(search(source, rest)),
        "git" => match rest.split_first() {
            Some((sub, rest)) if sub == "grep" => Some(search(source, rest)),
            Some((sub, rest)) if sub == "ls-files" => {
                Some(CommandAction::ListFiles { command: source, path: first(operands(rest, &[])) })
            }
            _ => None,
        },
        _ => None,
    }
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

/// Returns the words that are no options, leaving out the values of some.
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

/// Tells whether a script of `sed -n` only prints lines by their numbers: `3p`, `1,20p`, `5,$p`.
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
        search Some("x") None <git grep x>
        unknown <git status>
        unknown <echo hi>
        unknown <cat a.txt; rm b>
        unknown <cat $(x)>
        search Some("x") None <rg x 2>/dev/null>
        unknown <cat a b>
        "#);
    }

    #[test]
    fn limits_hold() {
        let many = vec!["cat a"; MAX_ACTIONS].join(";");
        assert_eq!(shown(&many).len(), MAX_ACTIONS);
        assert_eq!(shown(&format!("{many};cat a")).len(), 1);
        assert_eq!(shown(&format!("cat {}", "a".repeat(MAX_ACTION_BYTES))).len(), 1);
    }
}
