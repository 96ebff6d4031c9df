//! The folders in which agents work, for servers that may know them.
#![expect(deprecated, reason = "servers of the protocol versions before 2026 ask for folders")]

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use reqwest::Url;
use rmcp::model::Root;

/// Most folders that a server gets.
pub const MAX_ROOTS: usize = 64;

/// The folders of one tree of agents.
#[derive(Debug, Default)]
pub(crate) struct Roots(Mutex<Vec<PathBuf>>);

impl Roots {
    pub(crate) fn new(folders: Vec<PathBuf>) -> Self {
        Self(Mutex::new(folders))
    }

    /// Sets the folders. Returns whether they are others.
    pub(crate) fn set(&self, folders: Vec<PathBuf>) -> bool {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_other = *held != folders;
        *held = folders;
        is_other
    }

    /// Returns the folders in the form of the protocol. A folder whose path is not absolute is left out.
    pub(crate) fn listed(&self) -> Vec<Root> {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let listed = held.iter().filter_map(|folder| {
            let name = folder.file_name().map_or_else(|| "/".into(), |name| name.to_string_lossy().into_owned());
            Some(Root::new(Url::from_file_path(folder).ok()?).with_name(name))
        });
        listed.take(MAX_ROOTS).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_become_addresses() {
        let roots = Roots::new(vec!["/home/me/a b".into(), "relative".into(), "/".into()]);
        let shown: Vec<_> = roots.listed().into_iter().map(|root| (root.uri, root.name.unwrap_or_default())).collect();
        let shown: Vec<_> = shown.iter().map(|(uri, name)| (uri.as_str(), name.as_str())).collect();
        assert_eq!(shown, [("file:///home/me/a%20b", "a b"), ("file:///", "/")]);
        assert!(roots.set(vec!["/b".into()]) && !roots.set(vec!["/b".into()]));
    }
}
