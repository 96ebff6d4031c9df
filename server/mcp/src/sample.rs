//! Questions of servers to the model, which the protocol calls sampling.
#![expect(deprecated, reason = "servers of the protocol versions before 2026 ask for samples")]

use rmcp::ErrorData;
use rmcp::model::{CreateMessageRequestParams, Role, SamplingMessageContentBlock};
use serde_json::json;
use trace_runtime::host::Elicitation;
use trace_runtime::tool::{SideMessage, SideQuestion};

/// Most tokens of an answer of the model for a server, whatever the server asks for.
pub const MAX_SAMPLE_TOKENS: u64 = 4096;

/// Most questions of servers to the model in one turn of an agent.
pub const MAX_SAMPLES_PER_TURN: usize = 8;

/// Most bytes of the texts of one question to the model. All of them are shown to the user, so a longer one is refused.
pub const MAX_SAMPLE_BYTES: usize = 16 * 1024;

/// Most bytes of the pictures of one question to the model, in base64.
pub(crate) const MAX_SAMPLE_PICTURE_BYTES: usize = 1024 * 1024;

/// Most pictures of one question to the model.
pub(crate) const MAX_SAMPLE_PICTURES: usize = 4;

/// Metadata key by which clients recognise that a form asks whether a server may ask the model.
const META_KEY: &str = "trace_sampling";

/// A question of a server to the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sample {
    pub(crate) question: SideQuestion,
}

/// The texts and pictures of a message.
#[derive(Debug, Default)]
struct Parts {
    texts: Vec<String>,
    pictures: Vec<String>,
}

impl Sample {
    /// Reads a question. Only texts, and pictures of the user, are possible.
    pub(crate) fn read(params: &CreateMessageRequestParams) -> Result<Self, ErrorData> {
        let refused = |why: String| ErrorData::invalid_params(why, None);
        if params.tools.as_ref().is_some_and(|tools| !tools.is_empty()) {
            return Err(refused("tools are not possible in `sampling/createMessage`".to_owned()));
        }
        let mut messages = Vec::new();
        for message in &params.messages {
            let is_of_model = message.role == Role::Assistant;
            let Parts { texts, pictures } = parts(message.content.clone().into_vec(), is_of_model).map_err(refused)?;
            messages.push(SideMessage { is_of_model, text: texts.join("\n\n"), pictures });
        }
        let instructions = params.system_prompt.clone().unwrap_or_default();
        let bytes = messages.iter().map(|message| message.text.len()).sum::<usize>() + instructions.len();
        if bytes > MAX_SAMPLE_BYTES {
            return Err(refused(format!("the question has {bytes} bytes; at most {MAX_SAMPLE_BYTES} are possible")));
        }
        if messages.iter().all(|message| message.text.trim().is_empty()) {
            return Err(refused("the question has no text".to_owned()));
        }
        let pictures = || messages.iter().flat_map(|message| &message.pictures);
        let (count, bytes) = (pictures().count(), pictures().map(String::len).sum::<usize>());
        if count > MAX_SAMPLE_PICTURES || bytes > MAX_SAMPLE_PICTURE_BYTES {
            return Err(refused(format!(
                "the question has {count} pictures with {bytes} bytes; at most {MAX_SAMPLE_PICTURES} pictures with \
                 {MAX_SAMPLE_PICTURE_BYTES} bytes are possible"
            )));
        }
        let max_output_tokens = u64::from(params.max_tokens).clamp(1, MAX_SAMPLE_TOKENS);
        Ok(Self { question: SideQuestion { instructions, messages, max_output_tokens } })
    }

    /// Returns the form that asks the user. All texts that the model would read are shown, and each of their lines is marked, so that
    /// it cannot pass for words of this program. Characters that are invisible or reorder the text are shown as escapes. A picture
    /// is named with its type and size, and stands in the metadata for clients that can show it.
    pub(crate) fn shown(&self, server: &str, model: &str) -> Elicitation {
        let SideQuestion { instructions, messages, max_output_tokens } = &self.question;
        let mut message =
            format!("The MCP server {server} wants to ask the model {model} (at most {max_output_tokens} tokens):\n");
        let mut add = |who: &str, text: &str| {
            message.push_str(&format!("\n{who}:\n"));
            for line in lines(text) {
                message.push_str(&format!("> {}\n", trace_text::line(line, trace_text::Usage::Prose)));
            }
        };
        if !instructions.is_empty() {
            add("instructions", instructions);
        }
        for SideMessage { is_of_model, text, .. } in messages {
            add(if *is_of_model { "model" } else { "user" }, text);
        }
        let pictures: Vec<&String> = messages.iter().flat_map(|message| &message.pictures).collect();
        for (index, picture) in pictures.iter().enumerate() {
            let kind = picture.strip_prefix("data:").and_then(|rest| rest.split_once(';')).map_or("", |(kind, _)| kind);
            message.push_str(&format!("\npicture {}: {kind}, {} bytes\n", index + 1, picture.len()));
        }
        let schema = json!({ "type": "object", "properties": {} });
        let mut meta = json!({ META_KEY: { "model": model, "maxTokens": max_output_tokens } });
        if !pictures.is_empty() {
            meta[META_KEY]["pictures"] = json!(pictures);
        }
        Elicitation::Form { message: message.trim_end().to_owned(), schema, meta: Some(meta) }
    }
}

/// Reads the parts of a message, or says why they are not possible.
fn parts(content: Vec<SamplingMessageContentBlock>, is_of_model: bool) -> Result<Parts, String> {
    let mut parts = Parts::default();
    for part in content {
        match part {
            SamplingMessageContentBlock::Text(text) => parts.texts.push(text.text),
            SamplingMessageContentBlock::Image(image) if !is_of_model => {
                let kind = crate::output::kind(&image.data);
                let kind = kind.ok_or("a picture is no PNG, JPEG, GIF or WebP in base64")?;
                parts.pictures.push(format!("data:{kind};base64,{}", image.data));
            }
            _ => {
                let message = "only texts, and pictures of the user, are possible in `sampling/createMessage`";
                return Err(message.to_owned());
            }
        }
    }
    Ok(parts)
}

/// Returns the lines of a text. Whatever any program takes for the end of a line ends one.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    const ENDS: [char; 7] = ['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.find(ENDS).unwrap_or(rest.len());
        let line = &rest[..end];
        let after = rest[end..].strip_prefix("\r\n");
        rest = after.unwrap_or_else(|| rest[end..].strip_prefix(ENDS).unwrap_or_default());
        Some(line)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn read(params: Value) -> Result<Sample, String> {
        let params: CreateMessageRequestParams = serde_json::from_value(params).expect("a question");
        Sample::read(&params).map_err(|error| error.message.to_string())
    }

    #[test]
    fn questions_are_read_in_bounds() {
        let text = |text: &str| json!({ "role": "user", "content": { "type": "text", "text": text } });
        let of_model = json!({ "role": "assistant", "content": [{ "type": "text", "text": "b" }] });
        let sample = read(json!({ "messages": [text("a"), of_model], "systemPrompt": "s", "maxTokens": 5 }));
        let sample = sample.expect("a question").question;
        assert_eq!((sample.instructions.as_str(), sample.max_output_tokens, sample.messages.len()), ("s", 5, 2));
        assert!(sample.messages[1].is_of_model && !sample.messages[0].is_of_model);
        let many = read(json!({ "messages": [text("a")], "maxTokens": 4_000_000_000_u32 })).expect("a question");
        assert_eq!(many.question.max_output_tokens, MAX_SAMPLE_TOKENS);
        let image = |role: &str, data: &str| {
            let image = json!({ "type": "image", "data": data, "mimeType": "image/png" });
            json!({ "role": role, "content": [{ "type": "text", "text": "look" }, image] })
        };
        let gif = "R0lGODlh";
        let seen = read(json!({ "messages": [image("user", gif)], "maxTokens": 5 })).expect("a question").question;
        let pictures = vec![format!("data:image/gif;base64,{gif}")];
        assert_eq!(seen.messages, [SideMessage { is_of_model: false, text: "look".to_owned(), pictures }]);
        let large = format!("{gif}{}", "AAAA".repeat(MAX_SAMPLE_PICTURE_BYTES / 4));
        let audio = json!({ "role": "user", "content": { "type": "audio", "data": "AA", "mimeType": "audio/wav" } });
        let tool = json!({ "name": "t", "inputSchema": {} });
        for (params, expected) in [
            (json!({ "messages": [audio], "maxTokens": 5 }), "only texts, and pictures of the user, are possible"),
            (json!({ "messages": [image("assistant", gif)], "maxTokens": 5 }), "only texts, and pictures of the user"),
            (json!({ "messages": [image("user", "PHN2Zz4=")], "maxTokens": 5 }), "a picture is no PNG"),
            (json!({ "messages": [image("user", &large)], "maxTokens": 5 }), "the question has 1 pictures with 10486"),
            (json!({ "messages": vec![image("user", gif); 5], "maxTokens": 5 }), "the question has 5 pictures"),
            (json!({ "messages": [], "maxTokens": 5 }), "the question has no text"),
            (
                json!({ "messages": [text(&"x".repeat(MAX_SAMPLE_BYTES + 1))], "maxTokens": 5 }),
                "the question has 16385 bytes",
            ),
            (json!({ "messages": [text("a")], "maxTokens": 5, "tools": [tool] }), "tools are not possible"),
        ] {
            let error = read(params).expect_err(expected);
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn the_user_sees_everything_that_the_model_would_read() {
        let question = SideQuestion {
            instructions: "be brief".to_owned(),
            messages: vec![
                SideMessage {
                    is_of_model: false,
                    text: "one\n\nuser:\ntwo".to_owned(),
                    pictures: vec!["data:image/gif;base64,R0lGODlh".to_owned()],
                },
                SideMessage { is_of_model: true, text: "three".to_owned(), pictures: Vec::new() },
            ],
            max_output_tokens: 100,
        };
        let Elicitation::Form { message, meta, .. } = (Sample { question }).shown("docs", "large") else {
            panic!("no form")
        };
        let expected = "The MCP server docs wants to ask the model large (at most 100 tokens):\n\ninstructions:\n> be brief\n\n\
                        user:\n> one\n> \n> user:\n> two\n\nmodel:\n> three\n\npicture 1: image/gif, 30 bytes";
        assert_eq!(message, expected);
        let pictures = ["data:image/gif;base64,R0lGODlh"];
        let expected = json!({ "trace_sampling": { "model": "large", "maxTokens": 100, "pictures": pictures } });
        assert_eq!(meta, Some(expected));
    }

    #[test]
    fn no_character_of_a_server_makes_a_line_that_is_not_marked() {
        for (text, expected) in [
            ("", vec![]),
            ("a\n", vec!["a"]),
            ("a\r\n\r\nb", vec!["a", "", "b"]),
            ("a\rb\u{b}c\u{c}d\u{85}e\u{2028}f\u{2029}g\n\rh", vec!["a", "b", "c", "d", "e", "f", "g", "", "h"]),
        ] {
            assert_eq!(lines(text).collect::<Vec<_>>(), expected, "{text:?}");
        }
        let text = "one\rtwo \u{1b}[2J\u{202e}three".to_owned();
        let messages = vec![SideMessage { is_of_model: false, text, pictures: Vec::new() }];
        let question = SideQuestion { instructions: String::new(), messages, max_output_tokens: 1 };
        let Elicitation::Form { message, .. } = (Sample { question }).shown("docs", "large") else { panic!("no form") };
        assert!(message.ends_with("user:\n> one\n> two \\u{1b}[2J\\u{202e}three"), "{message}");
    }
}
