//! Paths of the agents of a session.

use std::collections::HashMap;

use crate::thread::agent_path;

/// The paths that agents of a session have.
#[derive(Debug, Default)]
pub(crate) struct AgentPaths {
    /// For each path, the number behind the last one that was made of it.
    numbers: HashMap<String, usize>,
}

impl AgentPaths {
    /// Returns a path for a child with this name, with a number behind it if another agent has that path.
    pub(crate) fn add(&mut self, parent: &str, name: &str) -> String {
        let path = agent_path(parent, name);
        let mut number = self.numbers.get(&path).copied().unwrap_or(0);
        loop {
            number += 1;
            let made = if number == 1 { path.clone() } else { format!("{path}_{number}") };
            if number == 1 || !self.numbers.contains_key(&made) {
                self.numbers.insert(path, number);
                if number > 1 {
                    self.numbers.insert(made.clone(), 1);
                }
                return made;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_differ() {
        let mut paths = AgentPaths::default();
        let made = ["a", "a 2", "a", "a", "b"].map(|name| paths.add("/root", name));
        assert_eq!(made, ["/root/a", "/root/a_2", "/root/a_3", "/root/a_4", "/root/b"]);
    }
}
