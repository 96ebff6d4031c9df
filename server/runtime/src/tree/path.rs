//! Paths of agents in a tree: `/root`, `/root/docs`, `/root/docs/links`.

use super::limits::MAX_NAME_BYTES;
use super::refused::Refused;

/// Path of the root agent.
pub const ROOT: &str = "/root";

/// Returns the path of a child with this name.
///
/// # Errors
///
/// Returns an error if the name is invalid.
pub(super) fn child(parent: &str, name: &str) -> Result<String, Refused> {
    check(name)?;
    Ok(format!("{parent}/{name}"))
}

/// Resolves an absolute path, or a path relative to the agent's own one.
///
/// # Errors
///
/// Returns an error if no agent can have such a path.
pub(super) fn resolve(own: &str, target: &str) -> Result<String, Refused> {
    if target == ROOT {
        return Ok(ROOT.to_owned());
    }
    let (base, below) = match target.strip_prefix("/root/") {
        Some(below) => (ROOT, below),
        None if target.starts_with('/') => return Err(Refused::NotBelowRoot { target: target.to_owned() }),
        None => (own, target),
    };
    below.split('/').try_for_each(check)?;
    Ok(format!("{base}/{below}"))
}

/// Returns whether a path is equal to `above` or below it.
pub(super) fn is_within(path: &str, above: &str) -> bool {
    path.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn check(name: &str) -> Result<(), Refused> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if name.is_empty() || name.len() > MAX_NAME_BYTES || !name.bytes().all(is_plain) {
        return Err(Refused::BadName { name: name.chars().take(MAX_NAME_BYTES).collect() });
    }
    if name == "root" { Err(Refused::ReservedName) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain() {
        assert_eq!(child(ROOT, "a_1").expect("it fits"), "/root/a_1");
        assert_eq!(child("/root/a", &"x".repeat(MAX_NAME_BYTES)).expect("it fits").len(), 8 + MAX_NAME_BYTES);
        for name in ["", "A", "a b", "a/b", "..", "ä", "a-b", &"x".repeat(MAX_NAME_BYTES + 1)] {
            assert!(matches!(child(ROOT, name), Err(Refused::BadName { .. })), "{name}");
        }
        assert!(matches!(child(ROOT, "root"), Err(Refused::ReservedName)));
    }

    #[test]
    fn targets_are_absolute_or_below_oneself() {
        for (own, target, expected) in [
            ("/root", "/root", "/root"),
            ("/root/a", "/root/b", "/root/b"),
            ("/root/a", "b", "/root/a/b"),
            ("/root", "a/b", "/root/a/b"),
        ] {
            assert_eq!(resolve(own, target).expect("it fits"), expected);
        }
        for target in ["", "/", "/other", "/root/", "a//b", "../a", "/rootless", "Bad Name"] {
            assert!(resolve("/root", target).is_err(), "{target}");
        }
        assert!(matches!(resolve("/root/a", "root"), Err(Refused::ReservedName)));
    }

    #[test]
    fn what_is_within_is_a_matter_of_whole_names() {
        assert!(is_within("/root/a", "/root/a") && is_within("/root/a/b", "/root/a"));
        assert!(!is_within("/root/ab", "/root/a") && !is_within("/root", "/root/a"));
    }
}
