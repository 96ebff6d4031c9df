//! Lines of a chat file, messages and tool calls.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::summary::Usage;
use crate::text::Text;

/// What a line of the patch log is, without the contents of messages.
#[derive(Debug, Deserialize)]
pub(crate) struct Line<'a> {
    #[serde(borrow, rename = "sessionId")]
    pub(crate) session: Option<Text<'a>>,
    #[serde(borrow, rename = "projectHash")]
    pub(crate) project: Option<Text<'a>>,
    #[serde(borrow, rename = "startTime")]
    pub(crate) start: Option<Text<'a>>,
    /// `main` or `subagent`.
    #[serde(borrow)]
    pub(crate) kind: Option<Text<'a>>,
    #[serde(borrow)]
    pub(crate) directories: Option<Vec<Text<'a>>>,
    /// Members of the session that change.
    #[serde(borrow, rename = "$set")]
    pub(crate) set: Option<Set<'a>>,
    /// The message from which on the history is dropped.
    #[serde(borrow, rename = "$rewindTo")]
    pub(crate) rewind: Option<Text<'a>>,
    /// Id of a message.
    #[serde(borrow)]
    pub(crate) id: Option<Text<'a>>,
    /// Type of a message.
    #[serde(borrow, rename = "type")]
    pub(crate) message: Option<Text<'a>>,
}

/// Members of a session that change.
#[derive(Debug, Deserialize)]
pub(crate) struct Set<'a> {
    /// The new history.
    #[serde(borrow)]
    pub(crate) messages: Option<Vec<&'a RawValue>>,
    /// The name of a session, or the result of a child.
    #[serde(borrow)]
    pub(crate) summary: Option<Text<'a>>,
}

/// A whole session in one JSON object, as older versions wrote it.
#[derive(Debug, Deserialize)]
pub(crate) struct WholeFile<'a> {
    #[serde(borrow, rename = "sessionId")]
    pub(crate) session: Text<'a>,
    #[serde(borrow, rename = "startTime")]
    pub(crate) start: Option<Text<'a>>,
    #[serde(borrow)]
    pub(crate) kind: Option<Text<'a>>,
    #[serde(borrow)]
    pub(crate) directories: Option<Vec<Text<'a>>>,
    #[serde(borrow, default)]
    pub(crate) messages: Vec<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) summary: Option<Text<'a>>,
}

/// A message.
#[derive(Debug, Deserialize)]
pub(crate) struct Message<'a> {
    #[serde(borrow, rename = "type")]
    pub(crate) kind: Option<Text<'a>>,
    #[serde(borrow)]
    pub(crate) timestamp: Option<Text<'a>>,
    #[serde(borrow)]
    pub(crate) content: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) thoughts: Option<Vec<Thought<'a>>>,
    pub(crate) tokens: Option<Tokens>,
    #[serde(borrow)]
    pub(crate) model: Option<Text<'a>>,
    #[serde(borrow, rename = "toolCalls")]
    pub(crate) calls: Option<Vec<&'a RawValue>>,
}

/// What the model thought, in short.
#[derive(Debug, Deserialize)]
pub(crate) struct Thought<'a> {
    #[serde(borrow)]
    subject: Option<Text<'a>>,
    #[serde(borrow)]
    description: Option<Text<'a>>,
}

impl Thought<'_> {
    /// Returns the text of the thought. It may be empty.
    pub(crate) fn text(&self) -> String {
        let given = |text: &Option<Text<'_>>| text.as_deref().filter(|text| !text.is_empty()).map(str::to_owned);
        match (given(&self.subject), given(&self.description)) {
            (Some(subject), Some(description)) => format!("{subject}\n\n{description}"),
            (subject, description) => subject.or(description).unwrap_or_default(),
        }
    }
}

/// Tokens of one request.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Tokens {
    input: Option<f64>,
    output: Option<f64>,
    cached: Option<f64>,
    thoughts: Option<f64>,
    tool: Option<f64>,
    total: Option<f64>,
}

impl Tokens {
    /// Returns the tokens as the Responses API counts them.
    ///
    /// `input` includes those from the cache. Gemini counts thoughts and the results of its own tools apart from the output
    /// and the input. The total tells whether it did: other servers speak the same protocol and include them.
    pub(crate) fn usage(&self) -> Usage {
        // A number that is negative or none becomes 0.
        let count = |number: Option<f64>| number.unwrap_or_default() as u64;
        let (input, output) = (count(self.input), count(self.output));
        let (thoughts, tool) = (count(self.thoughts), count(self.tool));
        let bare = input.saturating_add(output);
        let total = self.total.map_or(u64::MAX, |total| total as u64);
        let includes_tool = total < bare.saturating_add(tool);
        let input = if includes_tool { input } else { input.saturating_add(tool) };
        let includes_thoughts = total < input.saturating_add(output).saturating_add(thoughts);
        let output = if includes_thoughts { output } else { output.saturating_add(thoughts) };
        Usage {
            input,
            cached_input: count(self.cached).min(input),
            cache_write_input: 0,
            output,
            reasoning_output: thoughts.min(output),
        }
    }
}

/// A part of a content.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Part<'a> {
    #[serde(borrow)]
    pub(crate) text: Option<Text<'a>>,
    /// Whether the text is a thought.
    pub(crate) thought: Option<bool>,
    #[serde(borrow, rename = "functionCall")]
    pub(crate) call: Option<FunctionCall<'a>>,
    #[serde(borrow, rename = "functionResponse")]
    pub(crate) response: Option<FunctionResponse<'a>>,
}

/// A call in a content.
#[derive(Debug, Deserialize)]
pub(crate) struct FunctionCall<'a> {
    #[serde(borrow)]
    pub(crate) id: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(crate) name: Text<'a>,
    #[serde(borrow)]
    pub(crate) args: Option<&'a RawValue>,
}

/// The result of a call in a content.
#[derive(Debug, Deserialize)]
pub(crate) struct FunctionResponse<'a> {
    #[serde(borrow)]
    pub(crate) id: Option<Text<'a>>,
    #[serde(borrow)]
    pub(crate) response: Option<&'a RawValue>,
}

impl<'a> FunctionResponse<'a> {
    /// Returns what the model saw: the output or the error, or the whole answer if it has neither.
    pub(crate) fn text(&self) -> Cow<'a, str> {
        #[derive(Deserialize)]
        struct Known<'a> {
            #[serde(borrow)]
            output: Option<Text<'a>>,
            #[serde(borrow)]
            error: Option<Text<'a>>,
        }
        let Some(raw) = self.response else { return Cow::default() };
        let known: Option<Known<'a>> = serde_json::from_str(raw.get()).ok();
        known.and_then(|known| known.output.or(known.error)).map_or(Cow::Borrowed(raw.get()), |text| text.0)
    }
}

/// Returns the parts of a content, which is a text, a part or a list of both.
pub(crate) fn parts<'a>(content: Option<&'a RawValue>) -> Vec<Part<'a>> {
    fn one<'a>(raw: &'a RawValue) -> Option<Part<'a>> {
        if raw.get().starts_with('"') {
            return Some(Part { text: serde_json::from_str(raw.get()).ok(), ..Part::default() });
        }
        serde_json::from_str(raw.get()).ok()
    }
    let Some(content) = content else { return Vec::new() };
    if content.get().starts_with('[') {
        let list: Vec<&'a RawValue> = serde_json::from_str(content.get()).unwrap_or_default();
        return list.into_iter().filter_map(one).collect();
    }
    one(content).into_iter().collect()
}

/// Returns the text of a content, without thoughts.
pub(crate) fn text(parts: &[Part<'_>]) -> String {
    let spoken = parts.iter().filter(|part| part.thought != Some(true));
    spoken.filter_map(|part| part.text.as_deref()).collect()
}

/// A tool call of a message.
#[derive(Debug, Deserialize)]
pub(crate) struct ToolCall<'a> {
    #[serde(borrow)]
    pub(crate) id: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(crate) name: Text<'a>,
    #[serde(borrow)]
    pub(crate) args: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) result: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) status: Option<Text<'a>>,
    /// When it ended.
    #[serde(borrow)]
    pub(crate) timestamp: Option<Text<'a>>,
    /// The child that it started.
    #[serde(borrow, rename = "agentId")]
    pub(crate) agent: Option<Text<'a>>,
}

/// Arguments that some tools have.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ToolArguments<'a> {
    #[serde(borrow)]
    pub(crate) command: Option<Text<'a>>,
    #[serde(borrow)]
    pub(crate) agent_name: Option<Text<'a>>,
    #[serde(borrow)]
    pub(crate) prompt: Option<Text<'a>>,
}

impl<'a> ToolArguments<'a> {
    /// Reads the arguments of a call. Arguments of another form count as none.
    pub(crate) fn parse(raw: Option<&'a RawValue>) -> Self {
        raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(json: &str) -> (u64, u64, u64, u64) {
        let tokens: Tokens = serde_json::from_str(json).expect("is JSON");
        let usage = tokens.usage();
        (usage.input, usage.cached_input, usage.output, usage.reasoning_output)
    }

    #[test]
    fn the_total_tells_what_includes_what() {
        let included = r#"{"input":11849,"output":53,"cached":5924,"thoughts":3,"tool":0,"total":11902}"#;
        assert_eq!(usage(included), (11_849, 5_924, 53, 3));
        let apart = r#"{"input":100,"output":10,"cached":50,"thoughts":3,"tool":7,"total":120}"#;
        assert_eq!(usage(apart), (107, 50, 13, 3));
        assert_eq!(usage(r#"{"input":100,"output":10,"thoughts":3}"#), (100, 0, 13, 3));
        assert_eq!(usage(r#"{"input":-5,"output":null}"#), (0, 0, 0, 0));
    }

    #[test]
    fn a_content_is_a_text_a_part_or_a_list() {
        let texts = |json: &str| {
            let raw = RawValue::from_string(json.to_owned()).expect("JSON");
            text(&parts(Some(&raw)))
        };
        assert_eq!(texts(r#""one""#), "one");
        assert_eq!(texts(r#"{"text":"one"}"#), "one");
        assert_eq!(texts(r#"["one",{"text":"two"},{"text":"no","thought":true},{"inlineData":{}},3]"#), "onetwo");
        assert_eq!(texts("7"), "");
    }
}
