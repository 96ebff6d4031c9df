//! Unique names of agents for people. In some sessions several agents have the same path.

use std::collections::HashMap;

/// Number of last characters of a thread id that are shown. The first ones encode the time, and agents have them in
/// common.
const ID_CHARS: usize = 8;

/// The id of an agent's thread, its path and its nickname.
pub(super) type Agent<'a> = (&'a str, &'a str, Option<&'a str>);

/// Returns the paths of agents. If several agents have the same path, the nickname or the end of the thread id is
/// appended.
pub(super) fn distinct(agents: &[Agent<'_>]) -> Vec<String> {
    let (mut paths, mut nicknames) = (HashMap::new(), HashMap::new());
    for (_, path, nickname) in agents {
        *paths.entry(*path).or_insert(0u32) += 1;
        *nicknames.entry((*path, *nickname)).or_insert(0u32) += 1;
    }
    let name = |(id, path, nickname): &Agent<'_>| match nickname {
        _ if paths.get(path) == Some(&1) => (*path).to_owned(),
        Some(name) if nicknames.get(&(*path, *nickname)) == Some(&1) => format!("{path} ({name})"),
        _ => {
            let skip = id.chars().count().saturating_sub(ID_CHARS);
            format!("{path} ({})", id.chars().skip(skip).collect::<String>())
        }
    };
    agents.iter().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_of_one_path_are_told_apart() {
        let agents = [
            ("t-0", "/root", None),
            ("01a1ffd7-0001", "/root/a", Some("Ada")),
            ("01a1ffd7-0002", "/root/a", Some("Bob")),
            ("01a1ffd7-0003", "/root/a", None),
            ("t-4", "/root/b", Some("Cyd")),
        ];
        assert_eq!(distinct(&agents), ["/root", "/root/a (Ada)", "/root/a (Bob)", "/root/a (fd7-0003)", "/root/b"]);
    }
}
