//! The tools that only one agent has, and those that it may not use.

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
    /// Creates the tools of an agent. If one definition of a client's tool is invalid, none of the client's tools is offered.
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

    /// Returns the tools that only this agent has, without those of the client.
    pub fn own(&self) -> &[Arc<dyn Tool>] {
        &self.own
    }

    /// Returns the definitions of the client's tools, in the format of the protocol.
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
