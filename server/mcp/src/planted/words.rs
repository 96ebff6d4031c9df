//! Finds the paths in the arguments of a command line, as people usually write them.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// Characters between paths in an argument.
const BETWEEN: &[char] =
    &[' ', '\t', '\n', '"', '\'', '`', ',', ';', ':', '=', '|', '&', '<', '>', '(', ')', '[', ']', '@', '!', '%', '+'];

/// Characters between the words of a line for a shell. Other characters may be part of a pattern.
const BETWEEN_WORDS: &[char] = &[' ', '\t', '\n', '"', '\'', '`', ';', ':', '=', '|', '&', '<', '>', '(', ')'];

/// Characters that a shell expands.
const PATTERN_SIGNS: &[char] = &['*', '?', '[', '{', '$'];

/// Longest name of a file in bytes.
const MAX_NAME_BYTES: usize = 255;

/// Most folders against which the relative paths of one argument are resolved. Each of them may be the target of a
/// `cd`.
pub(super) const MAX_BASES: usize = 32;

/// The folders that relative paths are resolved against.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bases<'a> {
    /// The working folder of the program.
    pub(super) cwd: &'a Path,
    /// The folder that `~` and `$HOME` stand for.
    pub(super) user_home: Option<&'a Path>,
}

/// Returns the paths that an argument names: alone, after `=`, `:` and similar characters, after an option, as a file
/// URL, or in a line for a shell. If a line changes the folder, its paths are resolved against each possible folder.
pub(super) fn paths_in(word: &str, bases: Bases<'_>) -> Vec<PathBuf> {
    let mut paths = paths_from(word, bases);
    let others = [unquoted(word), decoded(word)];
    paths.extend(others.iter().filter(|other| *other != word).flat_map(|other| paths_from(other, bases)));
    if changes_folder(word) {
        let mut folders: Vec<PathBuf> = bases.user_home.map(Path::to_owned).into_iter().collect();
        folders.extend(paths.iter().cloned());
        folders.truncate(MAX_BASES);
        for folder in folders {
            paths.extend(paths_from(word, Bases { cwd: &folder, ..bases }));
            // A bare word can be a folder after `cd`, and a file after a program.
            let bare = tokens(word).filter(|token| !token.contains('/') && !token.starts_with('-'));
            paths.extend(bare.map(|token| folder.join(token)).filter(|path| path.symlink_metadata().is_ok()));
        }
    }
    paths
}

/// Returns the paths in a text that begin with the path of a folder, written out or with `~` or `$HOME`, with and
/// without the quotes and backslashes of a shell.
pub(super) fn mentions(text: &str, folder: &Path, user_home: Option<&Path>) -> Vec<PathBuf> {
    let Some(folder) = folder.to_str().filter(|folder| *folder != "/") else { return Vec::new() };
    let mut unquoted = unquoted(text);
    if let Some(home) = user_home.and_then(Path::to_str) {
        unquoted = unquoted.replace("${HOME}", home).replace("$HOME", home).replace("~/", &format!("{home}/"));
    }
    let mut found = Vec::new();
    for text in [text, &unquoted] {
        for (at, _) in text.match_indices(folder) {
            let rest = &text[at + folder.len()..];
            let is_part = |letter: char| letter.is_alphanumeric() || "/._-".contains(letter);
            let begins = !text[..at].ends_with(is_part);
            if !begins || !(rest.is_empty() || rest.starts_with('/') || !rest.starts_with(is_part)) {
                continue;
            }
            let end =
                rest.find(|letter: char| letter.is_whitespace() || BETWEEN.contains(&letter)).unwrap_or(rest.len());
            found.push(PathBuf::from(format!("{folder}{}", &rest[..end])));
        }
    }
    found
}

/// Returns the words that could be names of programs: those without `/`, with and without the quotes and backslashes of
/// a shell.
pub(super) fn names_in(word: &str) -> BTreeSet<String> {
    let unquoted = unquoted(word);
    let names = tokens(word).chain(tokens(&unquoted)).chain([word]);
    let is_name = |name: &&str| !name.is_empty() && !name.contains('/') && !name.starts_with('-');
    names.filter(is_name).filter(|name| name.len() <= MAX_NAME_BYTES).map(str::to_owned).collect()
}

/// Returns whether a shell could expand a pattern to a folder, to a path inside it, or to a folder that contains it.
/// Each special character counts as a match of any text.
pub(super) fn may_lead_to(pattern: &Path, folder: &Path) -> bool {
    let names = |path: &Path| path.iter().skip(1).map(|name| name.to_string_lossy().into_owned()).collect::<Vec<_>>();
    if !pattern.is_absolute() {
        return false;
    }
    let mut has_signs = false;
    for (at, (pattern, name)) in names(pattern).iter().zip(names(folder)).enumerate() {
        let Some(first) = pattern.find(PATTERN_SIGNS) else {
            if *pattern != name {
                return false;
            }
            continue;
        };
        has_signs |= at > 0;
        let (begin, rest) = pattern.split_at(first);
        // Braces can contain several components.
        if rest.starts_with('{') || rest.starts_with("**") || rest.starts_with('$') {
            return has_signs && name.starts_with(begin);
        }
        let end = &rest[rest.rfind(['*', '?', ']', '}', '$', '[', '{']).map_or(0, |last| last + 1)..];
        if !name.starts_with(begin) || !name.ends_with(end) {
            return false;
        }
    }
    has_signs
}

/// Returns a path without `.`. `..` is kept, since it must be resolved after symlinks.
pub(super) fn plain(path: &Path) -> PathBuf {
    path.components().filter(|component| !matches!(component, Component::CurDir)).collect()
}

/// Returns a text without the quotes and backslashes of a shell.
fn unquoted(text: &str) -> String {
    text.replace(['"', '\'', '\\'], "")
}

/// Returns a text with a file URL, with its percent-encoding decoded.
fn decoded(text: &str) -> String {
    if !text.contains("file:") {
        return text.to_owned();
    }
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let code = part.get(..2).and_then(|code| u8::from_str_radix(code, 16).ok());
        bytes.extend(code);
        bytes.extend(match code {
            Some(_) => &part.as_bytes()[2..],
            None => part.as_bytes(),
        });
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns whether an argument is a line for a shell that changes the folder.
fn changes_folder(word: &str) -> bool {
    let mut tokens = word.split(|letter: char| letter.is_whitespace() || BETWEEN.contains(&letter));
    tokens.any(|token| ["cd", "pushd", "chdir", "-C"].contains(&token))
}

fn tokens(word: &str) -> impl Iterator<Item = &str> {
    let is_address = |text: &str| text.contains("://") && !text.contains("file://");
    let words = word.split([' ', '\t', '\n']).filter(move |part| !is_address(part));
    words.flat_map(|part| part.split(BETWEEN)).filter(|token| !token.is_empty())
}

fn paths_from(word: &str, Bases { cwd, user_home }: Bases<'_>) -> Vec<PathBuf> {
    let of_home = |rest: &str| user_home.map(|home| home.join(rest.trim_start_matches('/')));
    let named = |token: &str| -> Option<PathBuf> {
        for home in ["~/", "$HOME/", "${HOME}/"] {
            if let Some(rest) = token.strip_prefix(home) {
                return of_home(rest);
            }
        }
        if token == "~" || token == "$HOME" || token == "${HOME}" {
            return of_home("");
        }
        if token.starts_with('/') {
            return Some(PathBuf::from(token));
        }
        if token.starts_with('-') {
            return token.find('/').map(|at| PathBuf::from(&token[at..]));
        }
        // A word without `/` names a file in the folder only if such a file exists.
        let path = plain(&cwd.join(token));
        (token.contains('/') || path.symlink_metadata().is_ok()).then_some(path)
    };
    let mut paths = Vec::new();
    // A path can contain characters that usually separate paths.
    let whole = [Some(word), word.split_once('=').map(|(_, value)| value)];
    paths.extend(whole.into_iter().flatten().filter(|text| text.starts_with(['/', '~'])).filter_map(named));
    paths.extend(tokens(word).filter_map(named));
    paths.extend(word.split(BETWEEN_WORDS).filter(|part| part.contains('[') && part.contains('/')).filter_map(named));
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_where_people_write_them() {
        for (word, expected) in [
            ("/a/b", &["/a/b"][..]),
            ("/a b/c", &["/a b/c", "/a", "/cwd/b/c"]),
            ("--config=/a/b", &["/a/b"]),
            ("--dir=/a b", &["/a b", "/a"]),
            ("-I/a/b", &["/a/b"]),
            ("/a:/b,/c", &["/a:/b,/c", "/a", "/b", "/c"]),
            ("file:///a/b.mjs", &["///a/b.mjs"]),
            ("file:///a/%62.mjs", &["///a/", "///a/b.mjs"]),
            ("test \"/a/b\" && exec './c/d'", &["/a/b", "/cwd/c/d"]),
            ("cd && node ../x/y", &["/cwd/../x/y", "/home/../x/y"]),
            ("cd /a; exec ./b/c", &["/a", "/cwd/b/c", "/home/b/c", "/a/b/c", "/cwd/b/c/b/c"]),
            ("make -C /a b/c", &["/a", "/cwd/b/c", "/home/b/c", "/a/b/c", "/cwd/b/c/b/c"]),
            ("~/a", &["/home/a"]),
            ("$HOME/a ${HOME}/b ~", &["/home/a", "/home/b", "/home"]),
            ("../a", &["/cwd/../a"]),
            ("type=bind,source=/a", &["/a"]),
            ("@example/docs-server", &["/cwd/example/docs-server"]),
            ("https://example.org/a/b", &[]),
            ("serve", &[]),
            ("--port", &[]),
            ("", &[]),
        ] {
            let bases = Bases { cwd: Path::new("/cwd"), user_home: Some(Path::new("/home")) };
            let found = paths_in(word, bases);
            let expected: Vec<&Path> = expected.iter().map(Path::new).collect();
            for path in &expected {
                assert!(found.iter().any(|found| found.starts_with(path)), "{word}: {path:?} is not in {found:?}");
            }
            let is_expected = |found: &PathBuf| expected.iter().any(|path| found.starts_with(path));
            assert!(found.iter().all(is_expected), "{word}: {found:?}");
        }
    }

    #[test]
    fn patterns_lead_where_a_shell_could_take_them() {
        let open = Path::new("/base/work");
        for pattern in [
            "/base/w*/s.sh",
            "/base/*/s.sh",
            "/base/?ork",
            "/base/wor?",
            "/base/{work",
            "/base/{x/y",
            "/base/wor[k]/s.sh",
            "/base/$NAME/s.sh",
            "/base/**/s.sh",
            "/base/$",
        ] {
            assert!(may_lead_to(Path::new(pattern), open), "{pattern}");
        }
        for pattern in
            ["/base/work/s.sh", "/base/x*/s.sh", "/base/*.js", "/other/*/x", "/base/work2/*", "base/*", "/*", "/**"]
        {
            assert!(!may_lead_to(Path::new(pattern), open), "{pattern}");
        }
        assert!(may_lead_to(Path::new("/base/*"), Path::new("/base/work/deep")));
        let bases = Bases { cwd: Path::new("/cwd"), user_home: None };
        assert!(paths_in("sh /base/wor[k]/s.sh", bases).contains(&"/base/wor[k]/s.sh".into()));
    }

    #[test]
    fn names_of_programs_are_found_in_a_word() {
        let names = |word: &str| names_in(word).into_iter().collect::<Vec<_>>().join(" ");
        assert_eq!(names("docs-server"), "docs-server");
        let found = names_in("exec \"do\"cs --x; a|b /c/d @e/f");
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["a", "b", "cs", "do", "docs", "exec"]);
        assert_eq!(names("--option"), "");
    }

    #[test]
    fn bare_words_are_files_where_such_are() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("server.js"), "").expect("writes");
        std::os::unix::fs::symlink("/nowhere", folder.path().join("link")).expect("a link");
        let found = |word: &str| paths_in(word, Bases { cwd: folder.path(), user_home: None });
        assert_eq!(found("server.js"), [folder.path().join("server.js")]);
        assert_eq!(found("link"), [folder.path().join("link")]);
        assert!(found("other.js").is_empty());
    }

    #[test]
    fn paths_of_folders_are_found_whatever_is_in_their_names() {
        let found = |text: &str, folder: &str| {
            let paths = mentions(text, Path::new(folder), Some(Path::new("/home/me")));
            paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(found("exec sh \"/a/my project/s.sh\"", "/a/my project")[0], "/a/my project/s.sh");
        assert_eq!(found("exec sh /a/my\\ project/s.sh", "/a/my project"), ["/a/my project/s.sh"]);
        assert_eq!(found("/safe:/a/c++", "/a/c++")[0], "/a/c++");
        assert_eq!(found("sh \"$HOME\"/work/s.sh", "/home/me/work"), ["/home/me/work/s.sh"]);
        assert_eq!(found("sh ~/work", "/home/me/work"), ["/home/me/work"]);
        for text in ["https://example.org//a/b", "src//a/b.txt", "/a/bc", "/x/a/b", ""] {
            assert!(found(text, "/a/b").is_empty(), "{text}");
        }
    }

    #[test]
    fn folders_to_read_from_are_bounded() {
        let line = (0..2 * MAX_BASES).map(|number| format!("cd d/{number};")).collect::<String>();
        let found = paths_in(&line, Bases { cwd: Path::new("/cwd"), user_home: None });
        assert_eq!(found.len(), 2 * MAX_BASES * (MAX_BASES + 1));
    }
}
