//! What one agent can do, beside what all can, and what it cannot.

use std::sync::Arc;

use serde_json::Value;

use crate::id::ThreadId;
use crate::options::RuntimeOptions;
use crate::tool::{Tool, ToolFamily, dynamic};

/// The tools that belong to one agent.
pub struct Toolbox {
    own: Vec<Arc<dyn Tool>>,
    /// The tools of `definitions`.
    client: Vec<Arc<dyn Tool>>,
    definitions: Vec<Value>,
    without: Vec<ToolFamily>,
}

impl Toolbox {
    /// Returns the tools of an agent. None of the client's tools is offered if one definition is wrong.
    pub(crate) fn new(
        thread: &ThreadId,
        own: Vec<Arc<dyn Tool>>,
        definitions: Vec<Value>,
        without: Vec<ToolFamily>,
    ) -> Self {
        let client = dynamic::tools(&definitions).unwrap_or_else(|error| {
            tracing::warn!(%thread, %error, "the client's tools are not offered");
            Vec::new()
        });
        Self { own, client, definitions, without }
    }

    /// Returns the tools that only this agent has, without the client's.
    pub fn own(&self) -> &[Arc<dyn Tool>] {
        &self.own
    }

    /// Returns the definitions of the client's tools, in the protocol's words.
    pub fn definitions(&self) -> &[Value] {
        &self.definitions
    }

    /// Returns the tool families that the agent may not use.
    pub fn without(&self) -> &[ToolFamily] {
        &self.without
    }

    /// Returns all tools that the agent may use, in the order in which a call looks for one: its own first, then the client's.
    pub(crate) fn all<'a>(&'a self, options: &'a RuntimeOptions) -> impl Iterator<Item = &'a Arc<dyn Tool>> {
        let all = options.first_tools.iter().chain(&self.own).chain(&self.client).chain(&options.tools);
        all.filter(|tool| !self.without.contains(&tool.family()))
    }
}
