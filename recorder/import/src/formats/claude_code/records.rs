//! Lines of a transcript, as the versions from 1.0 to 2.1 write them.
//!
//! All fields are optional. A line with a field of another type than expected is read field by field, so that only that field
//! is lost.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;

use serde::de::{Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::summary;

/// Defines a struct of optional fields, and a function that reads it even if fields have unexpected types.
macro_rules! lenient {
    ($(#[$doc:meta])* struct $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty = $key:literal $(or $alias:literal)?,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Default, Deserialize)]
        #[serde(default)]
        pub(crate) struct $name<'a> {
            $($(#[$field_doc])* #[serde(borrow, rename = $key $(, alias = $alias)?)] pub(crate) $field: Option<$type>,)*
        }

        impl<'a> $name<'a> {
            /// Reads a JSON object. Returns `None` if the text is none.
            pub(crate) fn parse(text: &'a str) -> Option<Self> {
                if let Ok(parsed) = serde_json::from_str(text) {
                    return Some(parsed);
                }
                let fields: HashMap<Cow<'a, str>, &'a RawValue> = serde_json::from_str(text).ok()?;
                Some(Self {
                    $($field: fields.get($key)$(.or_else(|| fields.get($alias)))?.and_then(|raw| Lenient::read(raw)),)*
                })
            }
        }

        impl<'a> Lenient<'a> for $name<'a> {
            fn read(raw: &'a RawValue) -> Option<Self> {
                Self::parse(raw.get())
            }
        }
    };
}

/// The names of the members of an object that has none twice.
struct DistinctNames;

impl<'de> Deserialize<'de> for DistinctNames {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Once;
        impl<'de> Visitor<'de> for Once {
            type Value = DistinctNames;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut names = HashSet::new();
                while let Some((name, IgnoredAny)) = map.next_entry::<String, _>()? {
                    if !names.insert(name) {
                        return Err(A::Error::custom("a member stands in the object twice"));
                    }
                }
                Ok(DistinctNames)
            }
        }
        deserializer.deserialize_map(Once)
    }
}

/// A value that is read even if parts of it have unexpected types.
trait Lenient<'a>: Sized {
    /// Reads the value, or returns `None` if it is of another type.
    fn read(raw: &'a RawValue) -> Option<Self>;
}

macro_rules! plain {
    ($($type:ty),*) => {
        $(impl<'a> Lenient<'a> for $type {
            fn read(raw: &'a RawValue) -> Option<Self> {
                serde_json::from_str(raw.get()).ok()
            }
        })*
    };
}

plain!(Borrowed<'a>, Flag<'a>, Number<'a>, Texts<'a>, RawList<'a>, Blocks<'a>, &'a RawValue);

/// A text of a line.
pub(crate) type Text<'a> = Cow<'a, str>;

lenient! {
    /// The members of a line.
    struct Members {
        kind: Borrowed<'a> = "type",
        subtype: Borrowed<'a> = "subtype",
        uuid: Borrowed<'a> = "uuid",
        parent: Borrowed<'a> = "parentUuid",
        timestamp: Borrowed<'a> = "timestamp",
        session: Borrowed<'a> = "sessionId" or "session_id",
        agent: Borrowed<'a> = "agentId" or "agent_id",
        version: Borrowed<'a> = "version" or "claude_code_version",
        cwd: Borrowed<'a> = "cwd",
        is_sidechain: Flag<'a> = "isSidechain",
        is_meta: Flag<'a> = "isMeta",
        is_compact_summary: Flag<'a> = "isCompactSummary",
        prompt: Borrowed<'a> = "promptId",
        turn_position: &'a RawValue = "turnPosition",
        message: Message<'a> = "message",
        tool_use_result: &'a RawValue = "toolUseResult" or "tool_use_result",
        denial: Borrowed<'a> = "toolDenialKind",
        request_id: Borrowed<'a> = "requestId" or "request_id",
        request_ref: Borrowed<'a> = "requestRef",
        request_session: Borrowed<'a> = "requestSessionId",
        is_api_error: Flag<'a> = "isApiErrorMessage",
        error: &'a RawValue = "error",
        attachment: &'a RawValue = "attachment",
        rendered: &'a RawValue = "rendered",
        compact_metadata: CompactMetadata<'a> = "compactMetadata",
        summary: Borrowed<'a> = "summary",
        leaf: Borrowed<'a> = "leafUuid",
        operation: Borrowed<'a> = "operation",
        replacements: RawList<'a> = "replacements",
        custom_title: Borrowed<'a> = "customTitle",
        ai_title: Borrowed<'a> = "aiTitle",
        parent_tool: Borrowed<'a> = "parent_tool_use_id",
        is_error: Flag<'a> = "is_error",
        model: Borrowed<'a> = "model",
        id: Borrowed<'a> = "id",
        source: Borrowed<'a> = "querySource",
        shape_hash: Borrowed<'a> = "shapeHash",
        shape: &'a RawValue = "shape",
        params: &'a RawValue = "params",
        base: Borrowed<'a> = "base",
        keep: Number<'a> = "keep",
        tail: Texts<'a> = "tail",
        hash: Borrowed<'a> = "hash",
    }
}

/// Divides the members of a line into those that lines of a conversation have, and those of other lines, which are stored only where
/// there are some. A session has many lines, and most are of a conversation.
macro_rules! divide {
    ({ $($field:ident: $type:ty,)* } rarely { $($rare:ident: $rare_type:ty,)* }) => {
        /// A line.
        #[derive(Debug)]
        pub(crate) struct Line<'a> {
            $(pub(crate) $field: Option<$type>,)*
            rare: Option<Box<Rare<'a>>>,
        }

        /// Members that few lines have. A [`Line`] dereferences to them.
        #[derive(Debug)]
        pub(crate) struct Rare<'a> {
            $(pub(crate) $rare: Option<$rare_type>,)*
        }

        static NONE_RARE: Rare<'static> = Rare { $($rare: None,)* };

        impl<'a> From<Members<'a>> for Line<'a> {
            fn from(members: Members<'a>) -> Self {
                let has_rare = $(members.$rare.is_some())||*;
                let rare = if has_rare { Some(Box::new(Rare { $($rare: members.$rare,)* })) } else { None };
                Self { $($field: members.$field,)* rare }
            }
        }
    };
}

divide! {
    {
        kind: Borrowed<'a>,
        uuid: Borrowed<'a>,
        parent: Borrowed<'a>,
        timestamp: Borrowed<'a>,
        session: Borrowed<'a>,
        agent: Borrowed<'a>,
        version: Borrowed<'a>,
        cwd: Borrowed<'a>,
        is_sidechain: Flag<'a>,
        is_meta: Flag<'a>,
        is_compact_summary: Flag<'a>,
        is_api_error: Flag<'a>,
        is_error: Flag<'a>,
        prompt: Borrowed<'a>,
        message: Message<'a>,
        tool_use_result: &'a RawValue,
        request_id: Borrowed<'a>,
        request_ref: Borrowed<'a>,
    } rarely {
        subtype: Borrowed<'a>,
        turn_position: &'a RawValue,
        denial: Borrowed<'a>,
        request_session: Borrowed<'a>,
        error: &'a RawValue,
        attachment: &'a RawValue,
        rendered: &'a RawValue,
        compact_metadata: CompactMetadata<'a>,
        summary: Borrowed<'a>,
        leaf: Borrowed<'a>,
        operation: Borrowed<'a>,
        replacements: RawList<'a>,
        custom_title: Borrowed<'a>,
        ai_title: Borrowed<'a>,
        parent_tool: Borrowed<'a>,
        model: Borrowed<'a>,
        id: Borrowed<'a>,
        source: Borrowed<'a>,
        shape_hash: Borrowed<'a>,
        shape: &'a RawValue,
        params: &'a RawValue,
        base: Borrowed<'a>,
        keep: Number<'a>,
        tail: Texts<'a>,
        hash: Borrowed<'a>,
    }
}

impl<'a> std::ops::Deref for Line<'a> {
    type Target = Rare<'a>;

    fn deref(&self) -> &Rare<'a> {
        self.rare.as_deref().unwrap_or(&NONE_RARE)
    }
}

lenient! {
    /// A message of the Messages API.
    struct Message {
        id: Borrowed<'a> = "id",
        role: Borrowed<'a> = "role",
        model: Borrowed<'a> = "model",
        content: Blocks<'a> = "content",
        stop_reason: Borrowed<'a> = "stop_reason",
        usage: Usage<'a> = "usage",
    }
}

lenient! {
    /// The tokens of a message.
    struct Usage {
        input: Number<'a> = "input_tokens",
        output: Number<'a> = "output_tokens",
        cache_read: Number<'a> = "cache_read_input_tokens",
        cache_write: Number<'a> = "cache_creation_input_tokens",
        cache_writes: CacheWrites<'a> = "cache_creation",
        details: UsageDetails<'a> = "output_tokens_details",
        speed: Borrowed<'a> = "speed",
        iterations: &'a RawValue = "iterations",
    }
}

lenient! {
    /// The tokens that were written to a cache, by how long they stay there.
    struct CacheWrites {
        minutes: Number<'a> = "ephemeral_5m_input_tokens",
        hour: Number<'a> = "ephemeral_1h_input_tokens",
    }
}

lenient! {
    /// A model call within a message, such as one of an advisor.
    struct Iteration {
        kind: Borrowed<'a> = "type",
        model: Borrowed<'a> = "model",
    }
}

lenient! {
    /// What the output of a message consists of.
    struct UsageDetails {
        thinking: Number<'a> = "thinking_tokens",
    }
}

lenient! {
    /// A block of a message.
    struct Block {
        kind: Borrowed<'a> = "type",
        text: Borrowed<'a> = "text",
        thinking: Borrowed<'a> = "thinking",
        signature: Borrowed<'a> = "signature",
        data: Borrowed<'a> = "data",
        id: Borrowed<'a> = "id",
        name: Borrowed<'a> = "name",
        input: &'a RawValue = "input",
        tool_use_id: Borrowed<'a> = "tool_use_id",
        content: &'a RawValue = "content",
        is_error: Flag<'a> = "is_error",
    }
}

lenient! {
    /// What an `attachment` line carries.
    struct Attachment {
        kind: Borrowed<'a> = "type",
        prompt: Blocks<'a> = "prompt",
        content: Borrowed<'a> = "content",
        added_lines: Texts<'a> = "addedLines",
    }
}

lenient! {
    /// The structured result of a tool.
    struct ToolUseResult {
        agent: Borrowed<'a> = "agentId",
        status: Borrowed<'a> = "status",
        interrupted: Flag<'a> = "interrupted",
    }
}

lenient! {
    /// What an `agent-*.meta.json` file says of a child.
    struct AgentMeta {
        agent_type: Borrowed<'a> = "agentType",
        description: Borrowed<'a> = "description",
        tool_use: Borrowed<'a> = "toolUseId",
    }
}

lenient! {
    /// The input of a call that matters beyond its text.
    struct CallInput {
        command: Borrowed<'a> = "command",
        prompt: Borrowed<'a> = "prompt",
        description: Borrowed<'a> = "description",
        subagent_type: Borrowed<'a> = "subagent_type",
    }
}

lenient! {
    /// What an `api_error` line says.
    struct ApiError {
        message: Borrowed<'a> = "message",
        status: Number<'a> = "status",
        request_id: Borrowed<'a> = "requestId" or "requestID",
        formatted: Borrowed<'a> = "formatted",
    }
}

lenient! {
    /// What the provider answers to a request that it refuses.
    struct ApiErrorBody {
        error: ApiErrorWords<'a> = "error",
    }
}

lenient! {
    /// Type and message of an error.
    struct ApiErrorWords {
        kind: Borrowed<'a> = "type",
        message: Borrowed<'a> = "message",
    }
}

lenient! {
    /// What a `compact_boundary` line says.
    struct CompactMetadata {
        preserved: Preserved<'a> = "preservedMessages",
        segment: Segment<'a> = "preservedSegment",
    }
}

lenient! {
    /// The first and the last of the lines that stay behind a compaction.
    struct Segment {
        head: Borrowed<'a> = "headUuid",
        tail: Borrowed<'a> = "tailUuid",
    }
}

lenient! {
    /// What the model sees in place of the result of a call.
    struct Replacement {
        call: Borrowed<'a> = "toolUseId",
        text: Borrowed<'a> = "replacement",
    }
}

lenient! {
    /// Messages that stay behind a compaction.
    struct Preserved {
        ids: Texts<'a> = "uuids",
    }
}

lenient! {
    /// System prompt and tools of requests.
    struct Shape {
        system: RawList<'a> = "system",
        tools: RawList<'a> = "tools",
    }
}

/// A text that is borrowed from the line unless it has escapes.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub(crate) struct Borrowed<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'a> Borrowed<'a> {
    /// Returns the text.
    pub(crate) fn into_inner(self) -> Cow<'a, str> {
        self.0
    }
}

impl std::ops::Deref for Borrowed<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// A flag.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub(crate) struct Flag<'a>(bool, #[serde(skip)] std::marker::PhantomData<&'a ()>);

impl Flag<'_> {
    /// Returns whether a flag is there and set.
    pub(crate) fn is_set(flag: &Option<Self>) -> bool {
        flag.as_ref().is_some_and(|flag| flag.0)
    }
}

/// A number that is not negative.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub(crate) struct Number<'a>(u64, #[serde(skip)] std::marker::PhantomData<&'a ()>);

impl Number<'_> {
    /// Returns the number, or 0 if there is none.
    pub(crate) fn or_zero(number: &Option<Self>) -> u64 {
        number.as_ref().map_or(0, |number| number.0)
    }
}

/// A list of texts.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub(crate) struct Texts<'a>(#[serde(borrow)] pub(crate) Vec<Text<'a>>);

/// A list of JSON values.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub(crate) struct RawList<'a>(#[serde(borrow)] pub(crate) Vec<&'a RawValue>);

/// The content of a message.
#[derive(Debug, Clone)]
pub(crate) enum Blocks<'a> {
    /// One text.
    Text(Cow<'a, str>),
    /// A list of blocks.
    List(Vec<&'a RawValue>),
}

impl<'de: 'a, 'a> Deserialize<'de> for Blocks<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Blocks<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a text or a list of blocks")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Blocks::Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Blocks::Text(Cow::Owned(text.to_owned())))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut blocks = Vec::new();
                while let Some(block) = list.next_element()? {
                    blocks.push(block);
                }
                Ok(Blocks::List(blocks))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// A block with its text, if it is not the text of a whole message.
pub(crate) type Part<'a> = (Block<'a>, Option<&'a RawValue>);

impl<'a> Blocks<'a> {
    /// Returns the blocks, in order. A content that is one text is one block.
    pub(crate) fn into_parts(self) -> Vec<Part<'a>> {
        match self {
            Self::Text(text) => {
                let kind = Some(Borrowed("text".into()));
                vec![(Block { kind, text: Some(Borrowed(text)), ..Block::default() }, None)]
            }
            Self::List(list) => {
                list.into_iter().map(|raw| (Block::parse(raw.get()).unwrap_or_default(), Some(raw))).collect()
            }
        }
    }
}

impl<'a> Line<'a> {
    /// Reads a JSON object. Returns `None` if the text is none, or if it has one of the members above twice: the program writes none
    /// twice, so that is two lines that became one.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        if let Ok(members) = serde_json::from_str::<Members<'_>>(text) {
            return Some(Self::from(members));
        }
        serde_json::from_str::<DistinctNames>(text).ok()?;
        Members::parse(text).map(Self::from)
    }
}

impl Line<'_> {
    /// Returns the type of the line, or an empty text.
    pub(crate) fn kind(&self) -> &str {
        self.kind.as_deref().unwrap_or_default()
    }

    /// Returns when the line was written, in milliseconds since the Unix epoch.
    pub(crate) fn at(&self) -> Option<i64> {
        crate::time::millis(self.timestamp.as_deref()?)
    }

    /// Returns the ids of the lines that stay behind a compaction.
    pub(crate) fn preserved(&self) -> Vec<Text<'_>> {
        let preserved = self.compact_metadata.as_ref().and_then(|metadata| metadata.preserved.as_ref());
        let ids = preserved.and_then(|preserved| preserved.ids.as_ref());
        ids.map(|ids| ids.0.clone()).unwrap_or_default()
    }

    /// Returns the first and the last of the lines that stay behind a compaction, if it names no others.
    pub(crate) fn preserved_segment(&self) -> Option<(&str, &str)> {
        let segment = self.compact_metadata.as_ref()?.segment.as_ref()?;
        Some((segment.head.as_deref()?, segment.tail.as_deref()?))
    }

    /// Returns whether the line stands in the place of an answer, but is not the model's.
    pub(crate) fn is_synthetic(&self) -> bool {
        Flag::is_set(&self.is_api_error)
            || self.message.as_ref().and_then(|message| message.model.as_deref()) == Some("<synthetic>")
    }
}

/// Returns the tokens as the Responses API counts them: those of the cache are part of the input.
pub(crate) fn tokens(usage: &Usage<'_>) -> summary::Usage {
    let read = Number::or_zero(&usage.cache_read);
    let by_age = usage
        .cache_writes
        .as_ref()
        .map_or(0, |writes| Number::or_zero(&writes.minutes).saturating_add(Number::or_zero(&writes.hour)));
    let write = if by_age > 0 { by_age } else { Number::or_zero(&usage.cache_write) };
    let thinking = usage.details.as_ref().map_or(0, |details| Number::or_zero(&details.thinking));
    summary::Usage {
        input: Number::or_zero(&usage.input).saturating_add(read).saturating_add(write),
        cached_input: read,
        cache_write_input: write,
        output: Number::or_zero(&usage.output),
        reasoning_output: thinking,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_of_another_type_costs_only_that_field() {
        let line =
            Line::parse(r#"{"type":"user","uuid":7,"message":{"role":"user","content":"Hi","usage":3},"isMeta":"x"}"#)
                .expect("an object");
        assert_eq!((line.kind(), line.uuid.is_none(), Flag::is_set(&line.is_meta)), ("user", true, false));
        let message = line.message.expect("a message");
        assert!(matches!(message.content, Some(Blocks::Text(text)) if text == "Hi"));
        assert!(Line::parse("[1]").is_none() && Line::parse("{").is_none());
    }

    #[test]
    fn two_lines_that_became_one_are_no_line() {
        assert!(Line::parse(r#"{"type":"attachment","uuid":"1","type":"assistant"}"#).is_none());
        assert!(Line::parse(r#"{"type":"attachment","uuid":7,"uuid":"1"}"#).is_none());
        let line = Line::parse(r#"{"type":"assistant","message":{"model":"a","model":"b","content":"Hi"}}"#);
        let message = line.and_then(|line| line.message).expect("a member of a message may stand there twice");
        assert!(matches!(message.content, Some(Blocks::Text(text)) if text == "Hi"));
    }
}
