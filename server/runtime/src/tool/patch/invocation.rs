//! Recognises patches in shell commands: `apply_patch <<'EOF' ...`.
//!
//! Models call a command of that name, which no system has. Such a command is treated as a call of the patch tool, so that
//! the user sees files and is asked about files.

use crate::tool::line::{self, Expansion};

/// Names of the command.
pub(crate) const NAMES: [&str; 2] = ["apply_patch", "applypatch"];

/// A patch in a shell command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// The folder that the command changes to first, as written.
    pub folder: Option<String>,
    /// Text of the patch.
    pub patch: String,
}

/// Returns the patch in the words of a command, which may run a shell.
pub fn find_in_words(words: &[String]) -> Option<Invocation> {
    match words {
        [name, patch] if NAMES.contains(&name.as_str()) => Some(Invocation { folder: None, patch: patch.clone() }),
        [shell, option, line] if is_shell(shell) && (option == "-c" || option == "-lc") => find_in_line(line),
        _ => None,
    }
}

fn is_shell(program: &str) -> bool {
    ["bash", "sh", "zsh"].contains(&program.rsplit('/').next().unwrap_or(program))
}

/// Returns the patch in a shell line that does nothing else, except that it may change the folder first.
pub fn find_in_line(line: &str) -> Option<Invocation> {
    let line = line.trim_start();
    let (folder, rest) = match line.strip_prefix("cd ").and_then(|_| line.split_once("&&")) {
        None => (None, line),
        Some((change, rest)) => match &line::parse(change)?[..] {
            [command] if command.words.len() == 2 && command.expansion == Expansion::None => {
                (Some(command.words[1].clone()), rest.trim_start())
            }
            _ => return None,
        },
    };
    let document =
        NAMES.iter().find_map(|name| rest.strip_prefix(name)?.trim_start_matches([' ', '\t']).strip_prefix("<<"));
    let patch = match document {
        Some(rest) => here_document(rest)?,
        None => {
            let commands = line::parse(rest)?;
            let [command] = &commands[..] else { return None };
            if command.expansion == Expansion::Some {
                return None;
            }
            let inner = find_in_words(&command.words)?;
            return Some(match (folder, inner.folder) {
                (Some(outer), Some(inner_folder)) => {
                    let folder = std::path::Path::new(&outer).join(inner_folder);
                    Invocation { folder: Some(folder.to_str()?.to_owned()), patch: inner.patch }
                }
                (outer, inner_folder) => Invocation { folder: outer.or(inner_folder), patch: inner.patch },
            });
        }
    };
    Some(Invocation { folder, patch })
}

/// Returns the text of a here-document, from its delimiter word on, if nothing follows it.
fn here_document(rest: &str) -> Option<String> {
    let (head, body) = rest.split_once('\n')?;
    let head = head.trim();
    let word = ['\'', '"'].iter().find_map(|&quote| head.strip_prefix(quote)?.strip_suffix(quote)).unwrap_or(head);
    if word.is_empty() || !word.chars().all(|character| character.is_ascii_alphanumeric() || character == '_') {
        return None;
    }
    let mut patch = String::new();
    let mut lines = body.split_inclusive('\n');
    for line in lines.by_ref() {
        if line.trim_end_matches(['\r', '\n']) == word {
            break;
        }
        patch.push_str(line);
    }
    lines.all(|line| line.trim().is_empty()).then_some(patch)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "*** Begin Patch\n*** Add File: a\n+it's $HOME\n*** End Patch\n";

    fn found(folder: Option<&str>) -> Option<Invocation> {
        Some(Invocation { folder: folder.map(str::to_owned), patch: PATCH.to_owned() })
    }

    #[test]
    fn patches_in_commands_are_found() {
        for (line, folder) in [
            (format!("apply_patch <<'EOF'\n{PATCH}EOF\n"), None),
            (format!("  apply_patch<<EOF\n{PATCH}EOF"), None),
            (format!("applypatch << \"PATCH_1\"\n{PATCH}PATCH_1\n\n"), None),
            (format!("apply_patch <<'EOF'\n{PATCH}"), None),
            (format!("cd sub && apply_patch <<'EOF'\n{PATCH}EOF\n"), Some("sub")),
            (format!("cd 'a b' &&\napply_patch <<'EOF'\n{PATCH}EOF\n"), Some("a b")),
            (format!("apply_patch '{}'", PATCH.replace('\'', "'\\''")), None),
            (
                format!("bash -lc '{}'", format!("cd x && apply_patch <<EOF\n{PATCH}EOF\n").replace('\'', "'\\''")),
                Some("x"),
            ),
            (
                format!(
                    "cd y && bash -c '{}'",
                    format!("cd x && apply_patch <<EOF\n{PATCH}EOF\n").replace('\'', "'\\''")
                ),
                Some("y/x"),
            ),
        ] {
            assert_eq!(find_in_line(&line), found(folder), "{line}");
        }
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        assert_eq!(find_in_words(&words(&["apply_patch", PATCH])), found(None));
        assert_eq!(
            find_in_words(&words(&["/bin/bash", "-lc", &format!("apply_patch <<'X'\n{PATCH}X\n")])),
            found(None)
        );
    }

    #[test]
    fn other_commands_are_left_alone() {
        for line in [
            format!("apply_patch <<'EOF'\n{PATCH}EOF\nrm -rf x\n"),
            format!("apply_patch <<'EOF' && rm x\n{PATCH}EOF\n"),
            format!("cd $X && apply_patch <<'EOF'\n{PATCH}EOF\n"),
            format!("rm x && apply_patch <<'EOF'\n{PATCH}EOF\n"),
            format!("cd a; rm b && apply_patch <<'EOF'\n{PATCH}EOF\n"),
            format!("cat <<'EOF'\n{PATCH}EOF\n"),
            "apply_patch".to_owned(),
            "apply_patch x y".to_owned(),
            "apply_patches 'x'".to_owned(),
            "echo apply_patch".to_owned(),
            "ls".to_owned(),
        ] {
            assert_eq!(find_in_line(&line), None, "{line}");
        }
    }
}
