//! Who an agent is, and where it stands in its tree.

use crate::id::ThreadId;

/// Where an agent that another agent started stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lineage {
    /// The agent that started it.
    pub parent: ThreadId,
    /// The agent at the root of the tree.
    pub root: ThreadId,
    /// Its path, such as `/root/docs`.
    pub path: String,
    /// How many agents are above it.
    pub depth: u32,
    /// A name for people.
    pub nickname: Option<String>,
    /// What it is for.
    pub role: Option<String>,
}

/// Who an agent is. It never changes.
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

    /// Returns the agent that started this one.
    pub(crate) fn parent(&self) -> Option<&ThreadId> {
        self.lineage.as_ref().map(|lineage| &lineage.parent)
    }

    /// Returns the agent at the root of the tree; that may be this one.
    pub(crate) fn root(&self) -> &ThreadId {
        self.lineage.as_ref().map_or(&self.id, |lineage| &lineage.root)
    }

    /// Returns how many agents are above this one.
    pub(crate) fn depth(&self) -> u32 {
        self.lineage.as_ref().map_or(0, |lineage| lineage.depth)
    }

    /// Returns as whom a reviewer for the agent is recorded.
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
