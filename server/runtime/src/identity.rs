//! The identity of an agent, and its place in its tree.

use crate::id::ThreadId;

/// The place of a child agent in its tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lineage {
    /// Thread of its parent.
    pub parent: ThreadId,
    /// Thread of the root agent.
    pub root: ThreadId,
    /// Path in the tree, such as `/root/docs`.
    pub path: String,
    /// Number of its ancestors.
    pub depth: u32,
    /// Name for users.
    pub nickname: Option<String>,
    /// Name of its role.
    pub role: Option<String>,
}

/// The identity of an agent. It never changes.
#[derive(Debug)]
pub(crate) struct Identity {
    pub(crate) id: ThreadId,
    pub(crate) path: String,
    pub(crate) lineage: Option<Lineage>,
}

impl Identity {
    pub(crate) fn new(id: ThreadId, lineage: Option<Lineage>) -> Self {
        let path = lineage.as_ref().map_or_else(|| "/root".to_owned(), |lineage| lineage.path.clone());
        Self { id, path, lineage }
    }

    /// Returns the thread of the parent.
    pub(crate) fn parent(&self) -> Option<&ThreadId> {
        self.lineage.as_ref().map(|lineage| &lineage.parent)
    }

    /// Returns the thread of the root agent, which may be this one.
    pub(crate) fn root(&self) -> &ThreadId {
        self.lineage.as_ref().map_or(&self.id, |lineage| &lineage.root)
    }

    /// Returns the number of ancestors.
    pub(crate) fn depth(&self) -> u32 {
        self.lineage.as_ref().map_or(0, |lineage| lineage.depth)
    }

    /// Returns the identity under which reviews for the agent are recorded.
    pub(crate) fn of_review(&self) -> Self {
        let (parent, root, path) = (self.id.clone(), self.root().clone(), review_path(&self.path));
        let (depth, role) = (self.depth() + 1, Some("review".to_owned()));
        Self::new(ThreadId::new(), Some(Lineage { parent, root, path, depth, nickname: None, role }))
    }
}

/// Returns the path under which reviews for an agent are recorded.
pub(crate) fn review_path(path: &str) -> String {
    format!("{path}/review")
}
