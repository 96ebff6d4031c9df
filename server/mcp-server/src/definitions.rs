//! The definitions of the tools, the prompt and the resources. A client puts the definitions of all tools into each of its
//! requests to a model, so they are short.

use std::sync::LazyLock;

use serde_json::{Map, Value};

/// Most bytes of the definitions of all tools as compact JSON: 2,000 tokens of four bytes.
pub const MAX_DEFINITION_BYTES: usize = 8_000;

/// What clients are told about the server when they connect.
pub(crate) const INSTRUCTIONS: &str = "Recorded sessions of coding agents. Asked why a session failed: `postmortem` (default: the \
latest session), or `sessions` with status=failed and then `postmortem` with its id. Asked whether what an agent said is true: \
`audit`. `overview` shows what happened and names the \
next tool. The latest session may be the one that you are in.";

/// Which tools are offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offer {
    /// The questions and the two tools that run agents.
    All,
    /// Only the tools that run agents.
    Agents,
    /// Only the questions.
    Questions,
}

impl Offer {
    /// Returns whether agents can be run.
    pub fn has_agents(self) -> bool {
        self != Self::Questions
    }

    /// Returns whether questions can be asked.
    pub fn has_questions(self) -> bool {
        self != Self::Agents
    }
}

/// Names of the two groups in the file.
const AGENTS: &str = "agents";
const QUESTIONS: &str = "questions";

static DEFINITIONS: LazyLock<Map<String, Value>> = LazyLock::new(|| {
    let definitions = serde_json::from_str(include_str!("definitions.json"));
    // A test reads every definition.
    definitions.unwrap_or_default()
});

fn group(name: &str) -> &'static [Value] {
    DEFINITIONS.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns the definitions of the offered tools.
pub fn tools(offer: Offer) -> Vec<&'static Value> {
    let questions = if offer.has_questions() { group(QUESTIONS) } else { &[] };
    let agents = if offer.has_agents() { group(AGENTS) } else { &[] };
    questions.iter().chain(agents).collect()
}

/// Returns the properties of the schema of an offered tool; `None` if there is no such tool.
pub(crate) fn properties(offer: Offer, tool: &str) -> Option<&'static Map<String, Value>> {
    let definition = tools(offer).into_iter().find(|definition| definition["name"] == tool)?;
    definition["inputSchema"]["properties"].as_object()
}

/// Returns whether a tool runs agents.
pub(crate) fn runs_agents(tool: &str) -> bool {
    group(AGENTS).iter().any(|definition| definition["name"] == tool)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definitions_take_few_tokens() {
        let bytes = |offer| serde_json::to_string(&tools(offer)).expect("is written").len();
        assert!(bytes(Offer::All) <= MAX_DEFINITION_BYTES, "{} bytes", bytes(Offer::All));
        assert!(bytes(Offer::Questions) < bytes(Offer::All) && bytes(Offer::Agents) < bytes(Offer::All));
    }

    #[test]
    fn every_tool_is_described() {
        assert_eq!(tools(Offer::Questions).len(), 8);
        assert_eq!(tools(Offer::Agents).len(), 2);
        for tool in tools(Offer::All) {
            let name = tool["name"].as_str().expect("a name");
            assert!(tool["description"].as_str().is_some_and(|text| text.len() > 40), "{name}");
            assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{name}");
            let properties = properties(Offer::All, name).expect("properties");
            for required in tool["inputSchema"]["required"].as_array().into_iter().flatten() {
                assert!(properties.contains_key(required.as_str().expect("a name")), "{name}: {required}");
            }
            assert_eq!(tool["annotations"]["readOnlyHint"] == true, !runs_agents(name), "{name}");
        }
        assert_eq!(properties(Offer::Agents, "grep"), None);
    }
}
