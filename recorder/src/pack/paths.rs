//! Rules for paths in a packed bundle. They are relative and never lead out of the bundle.

/// Longest path in a packed bundle.
pub const MAX_PATH_BYTES: usize = 4096;

/// Longest name of a file or directory. File systems have the same limit.
pub const MAX_NAME_BYTES: usize = 255;

/// Most names in a path: its directories and its own name.
pub const MAX_PATH_NAMES: usize = 32;

/// What is wrong with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PathProblem {
    /// The path or a name in it is empty, as in an absolute path.
    #[error("a name is empty")]
    EmptyName,
    /// A name is `.` or `..`.
    #[error("a name is `.` or `..`")]
    Dots,
    /// The path has a zero byte.
    #[error("it has a zero byte")]
    Zero,
    /// The path is longer than [`MAX_PATH_BYTES`] or has more than [`MAX_PATH_NAMES`] names, or a name is longer than
    /// [`MAX_NAME_BYTES`].
    #[error("it is too long")]
    TooLong,
    /// The path is not UTF-8, so no event can refer to it.
    #[error("it is not UTF-8")]
    NotText,
    /// The path occurs twice in the index, or is that of both a file and a directory.
    #[error("it occurs twice")]
    Twice,
    /// This system does not treat a name as that of a plain file.
    #[error("a name is not valid on this system")]
    NotPortable,
}

/// Checks that a packed bundle may contain a path.
pub(super) fn check(path: &str) -> Result<(), PathProblem> {
    if path.len() > MAX_PATH_BYTES {
        return Err(PathProblem::TooLong);
    }
    if path.split('/').nth(MAX_PATH_NAMES).is_some() {
        return Err(PathProblem::TooLong);
    }
    if path.contains('\0') {
        return Err(PathProblem::Zero);
    }
    path.split('/').try_for_each(|name| match name {
        "" => Err(PathProblem::EmptyName),
        "." | ".." => Err(PathProblem::Dots),
        name if name.len() > MAX_NAME_BYTES => Err(PathProblem::TooLong),
        _ => Ok(()),
    })
}

/// Checks that this system treats every name in a path as a plain name. A packed bundle may have names that are valid only
/// on other systems.
///
/// # Errors
///
/// Returns [`PathProblem::NotPortable`] if the path would name another file or none.
pub(super) fn check_here(path: &str) -> Result<(), PathProblem> {
    if cfg!(windows) && !path.split('/').all(is_windows_name) { Err(PathProblem::NotPortable) } else { Ok(()) }
}

/// Returns whether Windows treats a name as that of a plain file. The name must have no separators or streams, must not be
/// that of a device, and must not end with characters that Windows removes.
fn is_windows_name(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_uppercase();
    let is_numbered = |device: &str| {
        let rest = stem.strip_prefix(device).map(str::chars).map(Iterator::collect::<Vec<char>>);
        matches!(rest.as_deref(), Some(['0'..='9' | '¹' | '²' | '³']))
    };
    let is_device = matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$")
        || is_numbered("COM")
        || is_numbered("LPT");
    let has_others = name.contains(|c: char| c < ' ' || "\\:<>\"|?*".contains(c));
    !is_device && !has_others && !name.ends_with(['.', ' '])
}

/// Returns the parent directories of a path, the innermost first.
pub(super) fn parents(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(path.rsplit_once('/'), |(parent, _)| parent.rsplit_once('/')).map(|(parent, _)| parent)
}

/// Returns the path with its last number increased by one, as recorders number payloads. Returns `None` if there is no
/// number, or if it has leading zeros or is too large.
pub(super) fn successor(path: &str) -> Option<String> {
    let end = path.rfind(|c: char| c.is_ascii_digit())? + 1;
    let start = path[..end]
        .rfind(|c: char| !c.is_ascii_digit())
        .map_or(0, |at| at + path[at..].chars().next().map_or(1, char::len_utf8));
    let digits = &path[start..end];
    if digits.len() > 1 && digits.starts_with('0') {
        return None;
    }
    let number = digits.parse::<u64>().ok()?.checked_add(1)?;
    Some(format!("{}{number}{}", &path[..start], &path[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_relative_paths_pass() {
        let long = "n".repeat(256);
        let (wide, deep) = ("nnn/".repeat(1024) + "n", "n/".repeat(MAX_PATH_NAMES) + "n");
        for (path, problem) in [
            ("", PathProblem::EmptyName),
            ("/etc/passwd", PathProblem::EmptyName),
            ("a//b", PathProblem::EmptyName),
            ("a/", PathProblem::EmptyName),
            ("..", PathProblem::Dots),
            ("a/../../b", PathProblem::Dots),
            ("./a", PathProblem::Dots),
            ("a\0b", PathProblem::Zero),
            (&long, PathProblem::TooLong),
            (&wide, PathProblem::TooLong),
            (&deep, PathProblem::TooLong),
        ] {
            assert_eq!(check(path), Err(problem), "{path}");
        }
        for path in ["a", "payloads/1.json", "a/b/c", "...", ".hidden", "ü ä", "n\nn", &long[..255], &deep[2..]] {
            assert_eq!(check(path), Ok(()), "{path}");
        }
    }

    #[test]
    fn windows_takes_other_names_for_something_else() {
        for name in
            ["a\\b", "C:", "a:b", "con", "NUL.json", "Aux .x", "com1", "LPT9.txt", "lpt²", "a.", "a ", "a*", "\t"]
        {
            assert!(!is_windows_name(name), "{name}");
        }
        for name in ["a", "console", "com", "com10", "1.json", ".a", "a b", "ü"] {
            assert!(is_windows_name(name), "{name}");
        }
        assert_eq!(check_here("a/1.json"), Ok(()));
        assert_eq!(check_here("a/con").is_ok(), !cfg!(windows));
    }

    #[test]
    fn parents_are_found() {
        assert_eq!(parents("a/b/c").collect::<Vec<_>>(), ["a/b", "a"]);
        assert_eq!(parents("a").count(), 0);
    }

    #[test]
    fn numbers_go_on() {
        let next = |path| successor(path);
        assert_eq!(next("payloads/9.json").as_deref(), Some("payloads/10.json"));
        assert_eq!(next("7").as_deref(), Some("8"));
        assert_eq!(next("0").as_deref(), Some("1"));
        assert_eq!(next("ü1ü").as_deref(), Some("ü2ü"));
        assert_eq!(next("mp3/a").as_deref(), Some("mp4/a"));
        for path in ["", "a", "007", "99999999999999999999", "18446744073709551615"] {
            assert_eq!(next(path), None, "{path}");
        }
    }
}
