//! Sessions, messages and parts, as opencode writes them in all layouts.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::summary::Usage;
use crate::text::Text;

/// Latest time that is taken for one: the end of the year 9999.
const MAX_MILLIS: f64 = 253_402_300_799_999.0;

/// What a session is.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct SessionInfo {
    /// Its id, such as `ses_dfadb9d5cffeqW0Wu7CWHLUkLX`.
    pub(crate) id: String,
    /// The session whose agent started it.
    pub(crate) parent: Option<String>,
    /// The directory in which the agent works.
    pub(crate) directory: Option<String>,
    /// Its name.
    pub(crate) title: Option<String>,
    /// Version of the program.
    pub(crate) version: Option<String>,
    /// When it was made. Messages that are older are copies of those of another session.
    pub(crate) created: Option<i64>,
    /// The first message that was undone.
    pub(crate) reverted_from: Option<String>,
}

#[derive(Debug, Deserialize)]
struct SessionJson<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow, rename = "parentID")]
    parent: Option<Text<'a>>,
    #[serde(borrow)]
    directory: Option<Text<'a>>,
    #[serde(borrow)]
    title: Option<Text<'a>>,
    #[serde(borrow)]
    version: Option<Text<'a>>,
    #[serde(default)]
    time: Times,
    #[serde(borrow)]
    revert: Option<Revert<'a>>,
}

#[derive(Debug, Deserialize)]
struct Revert<'a> {
    #[serde(borrow, rename = "messageID")]
    message: Option<Text<'a>>,
}

impl SessionInfo {
    /// Reads the JSON of a session. Returns `None` if it has no id.
    pub(crate) fn parse(json: &str) -> Option<Self> {
        let json: SessionJson<'_> = serde_json::from_str(json).ok()?;
        let text = |text: Option<Text<'_>>| text.map(|text| text.0.into_owned());
        Some(Self {
            id: json.id.0.into_owned(),
            parent: text(json.parent),
            directory: text(json.directory),
            title: text(json.title),
            version: text(json.version),
            created: millis(json.time.created),
            reverted_from: text(json.revert.and_then(|revert| revert.message)),
        })
    }
}

/// Returns the message from which on a session was undone, from the JSON of `session.revert`.
pub(crate) fn reverted_from(json: &str) -> Option<String> {
    let revert: Revert<'_> = serde_json::from_str(json).ok()?;
    revert.message.map(|message| message.0.into_owned())
}

/// A message: a prompt, or what one request to a model became.
#[derive(Debug, Deserialize)]
pub(crate) struct Message<'a> {
    #[serde(borrow)]
    pub(crate) role: Text<'a>,
    /// The prompt that an answer belongs to.
    #[serde(borrow, rename = "parentID")]
    pub(crate) parent: Option<Text<'a>>,
    #[serde(default)]
    pub(crate) time: Times,
    #[serde(borrow, rename = "modelID")]
    pub(crate) model: Option<Text<'a>>,
    #[serde(borrow, rename = "providerID")]
    pub(crate) provider: Option<Text<'a>>,
    pub(crate) tokens: Option<Tokens>,
    /// Why the model stopped, such as `stop` or `tool-calls`. Answers that failed have none.
    #[serde(borrow)]
    pub(crate) finish: Option<Text<'a>>,
    #[serde(borrow)]
    pub(crate) error: Option<ErrorInfo<'a>>,
    /// `true` for a summary of the history. Prompts have an object here.
    #[serde(borrow)]
    summary: Option<&'a RawValue>,
}

impl Message<'_> {
    /// Returns whether it is a summary that replaces the history.
    pub(crate) fn is_summary(&self) -> bool {
        self.summary.is_some_and(|summary| summary.get() == "true")
    }

    /// Returns whether the user stopped the answer.
    pub(crate) fn is_aborted(&self) -> bool {
        self.error.as_ref().is_some_and(|error| error.name.as_deref() == Some("MessageAbortedError"))
    }

    /// Returns the tokens of the request, or `None` if the file has none.
    pub(crate) fn usage(&self) -> Option<Usage> {
        self.tokens.as_ref().map(Tokens::usage).filter(|usage| *usage != Usage::default())
    }
}

/// Times in milliseconds since the Unix epoch.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Times {
    created: Option<f64>,
    completed: Option<f64>,
    start: Option<f64>,
    end: Option<f64>,
}

impl Times {
    pub(crate) fn created(&self) -> Option<i64> {
        millis(self.created)
    }

    pub(crate) fn completed(&self) -> Option<i64> {
        millis(self.completed)
    }

    pub(crate) fn start(&self) -> Option<i64> {
        millis(self.start)
    }

    pub(crate) fn end(&self) -> Option<i64> {
        millis(self.end)
    }
}

fn millis(number: Option<f64>) -> Option<i64> {
    number.filter(|number| (0.0..=MAX_MILLIS).contains(number)).map(|number| number as i64)
}

/// Tokens of one request. Those from a cache are not part of `input`, and thoughts are not part of `output`.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Tokens {
    total: Option<f64>,
    input: Option<f64>,
    output: Option<f64>,
    reasoning: Option<f64>,
    cache: Cache,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct Cache {
    read: Option<f64>,
    write: Option<f64>,
}

impl Tokens {
    fn usage(&self) -> Usage {
        // A number that is negative or none becomes 0.
        let count = |number: Option<f64>| number.unwrap_or_default() as u64;
        let (read, write) = (count(self.cache.read), count(self.cache.write));
        let input = count(self.input).saturating_add(read).saturating_add(write);
        let (output, reasoning) = (count(self.output), count(self.reasoning));
        // A total that is reached without the thoughts says that they are part of the output.
        let has_thoughts = self.total.is_some_and(|total| total as u64 == input.saturating_add(output));
        let output = if has_thoughts { output } else { output.saturating_add(reasoning) };
        Usage { input, cached_input: read, cache_write_input: write, output, reasoning_output: reasoning.min(output) }
    }
}

/// Why an answer failed.
#[derive(Debug, Deserialize)]
pub(crate) struct ErrorInfo<'a> {
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    data: Option<ErrorData<'a>>,
}

#[derive(Debug, Deserialize)]
struct ErrorData<'a> {
    #[serde(borrow)]
    message: Option<Text<'a>>,
    #[serde(rename = "statusCode")]
    status: Option<f64>,
}

impl ErrorInfo<'_> {
    /// Returns the message for people, with the HTTP status in front of it.
    pub(crate) fn text(&self) -> String {
        let data = self.data.as_ref();
        let name = self.name.as_deref().unwrap_or("error");
        let message = data.and_then(|data| data.message.as_deref()).filter(|text| !text.is_empty()).unwrap_or(name);
        match data.and_then(|data| data.status) {
            Some(status) => format!("HTTP {}: {message}", status as u64),
            None => message.to_owned(),
        }
    }
}

/// A part of a message.
#[derive(Debug, Deserialize)]
pub(crate) struct Part<'a> {
    #[serde(borrow, rename = "type")]
    pub(crate) kind: Text<'a>,
    #[serde(borrow)]
    pub(crate) text: Option<Text<'a>>,
    /// Whether only the user sees the text.
    pub(crate) ignored: Option<bool>,
    #[serde(borrow)]
    pub(crate) metadata: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) tool: Option<Text<'a>>,
    #[serde(borrow, rename = "callID")]
    pub(crate) call: Option<Text<'a>>,
    #[serde(borrow)]
    pub(crate) state: Option<ToolState<'a>>,
}

/// How far a tool call is.
#[derive(Debug, Deserialize)]
pub(crate) struct ToolState<'a> {
    #[serde(borrow)]
    pub(crate) status: Text<'a>,
    #[serde(borrow)]
    pub(crate) input: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) output: Option<Text<'a>>,
    #[serde(borrow)]
    pub(crate) error: Option<Text<'a>>,
    #[serde(borrow)]
    pub(crate) metadata: Option<&'a RawValue>,
    #[serde(default)]
    pub(crate) time: Times,
}

/// What the tools of opencode say about a call.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ToolMetadata<'a> {
    /// Exit code of a command, or `null` if it did not end by itself.
    pub(crate) exit: Option<i32>,
    /// The session of a child.
    #[serde(borrow, rename = "sessionId")]
    pub(crate) session: Option<Text<'a>>,
}

impl<'a> ToolMetadata<'a> {
    /// Reads the metadata of a call. Other tools have members of other types, which count as none.
    pub(crate) fn parse(raw: Option<&'a RawValue>) -> Self {
        raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
    }
}

/// Arguments that some tools have.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ToolInput<'a> {
    /// The command of `bash`.
    #[serde(borrow)]
    pub(crate) command: Option<Text<'a>>,
    /// The tool that does not exist, of `invalid`.
    #[serde(borrow)]
    pub(crate) tool: Option<Text<'a>>,
    /// What `task` is about.
    #[serde(borrow)]
    pub(crate) description: Option<Text<'a>>,
    /// The task of a child.
    #[serde(borrow)]
    pub(crate) prompt: Option<Text<'a>>,
    /// The kind of the child.
    #[serde(borrow, rename = "subagent_type")]
    pub(crate) role: Option<Text<'a>>,
}

impl<'a> ToolInput<'a> {
    /// Reads the arguments of a call. Arguments of another form count as none.
    pub(crate) fn parse(raw: Option<&'a RawValue>) -> Self {
        raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
    }
}

/// Providers' proofs of thoughts, in the metadata of a part.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ThoughtMetadata<'a> {
    #[serde(borrow)]
    anthropic: Option<Proof<'a>>,
    #[serde(borrow)]
    openai: Option<Proof<'a>>,
}

#[derive(Debug, Deserialize)]
struct Proof<'a> {
    #[serde(borrow)]
    signature: Option<Text<'a>>,
    #[serde(borrow, rename = "reasoningEncryptedContent")]
    encrypted: Option<Text<'a>>,
}

/// Returns the thought that only the provider reads, or its signature.
pub(crate) fn proof(metadata: Option<&RawValue>) -> Option<String> {
    let metadata: ThoughtMetadata<'_> = serde_json::from_str(metadata?.get()).ok()?;
    let proof = metadata.anthropic.or(metadata.openai)?;
    proof.signature.or(proof.encrypted).map(|text| text.0.into_owned()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(json: &str) -> Usage {
        let tokens: Tokens = serde_json::from_str(json).expect("is JSON");
        tokens.usage()
    }

    #[test]
    fn input_includes_caches_and_output_includes_thoughts() {
        let cache = r#""cache":{"read":3820,"write":7}"#;
        let expected = Usage { input: 7648, cached_input: 3820, cache_write_input: 7, output: 15, reasoning_output: 0 };
        assert_eq!(usage(&format!(r#"{{"total":7663,"input":3821,"output":15,"reasoning":0,{cache}}}"#)), expected);
        // Without a total, and with one that counts the thoughts apart, they are added.
        let with_thoughts = Usage { output: 20, reasoning_output: 5, ..expected };
        assert_eq!(usage(&format!(r#"{{"input":3821,"output":15,"reasoning":5,{cache}}}"#)), with_thoughts);
        assert_eq!(
            usage(&format!(r#"{{"total":7668,"input":3821,"output":15,"reasoning":5,{cache}}}"#)),
            with_thoughts
        );
        let included = Usage { reasoning_output: 5, ..expected };
        assert_eq!(usage(&format!(r#"{{"total":7663,"input":3821,"output":15,"reasoning":5,{cache}}}"#)), included);
        assert_eq!(usage(r#"{"input":-3,"output":null}"#), Usage::default());
    }

    #[test]
    fn errors_name_their_status() {
        let text = |json: &str| serde_json::from_str::<ErrorInfo<'_>>(json).expect("is JSON").text();
        assert_eq!(text(r#"{"name":"APIError","data":{"message":"bad","statusCode":400}}"#), "HTTP 400: bad");
        assert_eq!(text(r#"{"name":"MessageAbortedError","data":{"message":"Aborted"}}"#), "Aborted");
        assert_eq!(text(r#"{"name":"UnknownError"}"#), "UnknownError");
    }
}
