//! Texts and payloads of objects, for a reader of the page.

use serde::Serialize;
use serde_json::Value;
use trace_explain::label::command_line;
use trace_explain::texts::{Aspect, Texts};
use trace_explain::{Object, Session};

use super::structure::{Number, Numbers, Structure};

/// Most bytes of text of a body. Longer bodies are truncated.
pub const MAX_BODY_BYTES: usize = 4 << 20;

/// Most bytes of a payload. Longer payloads are truncated.
pub const MAX_PAYLOAD_BYTES: usize = 16 << 20;

/// Shortest text of base64 characters that counts as ciphertext.
const MIN_CIPHERTEXT_BYTES: usize = 16;

/// How a text is to be displayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// Prose, or the output of a program.
    Text,
    /// A JSON document.
    Json,
    /// Source code.
    Code,
    /// Not a text of the session, but a remark of this program in its place.
    Note,
}

/// A text of an object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Block {
    /// Heading of the text: which text of the object it is. Empty if it needs no heading.
    pub name: &'static str,
    /// How the text is to be displayed.
    pub form: Form,
    /// The text, or its beginning.
    pub text: String,
    /// Bytes that were left out at the end.
    pub omitted: u64,
}

/// The texts of an object.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Body {
    /// The texts, in the order in which they are displayed.
    pub blocks: Vec<Block>,
}

impl Body {
    /// Returns the length of all texts in bytes.
    pub fn bytes(&self) -> usize {
        self.blocks.iter().map(|block| block.text.len()).sum()
    }

    /// Truncates the texts to `max_bytes` in all.
    pub fn cut(&mut self, max_bytes: usize) {
        let mut left = max_bytes;
        for block in &mut self.blocks {
            let (kept, omitted) = beginning(&block.text, left);
            left -= kept.len();
            block.omitted += omitted;
            block.text.truncate(block.text.len() - omitted as usize);
        }
    }
}

/// A payload as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PayloadText {
    /// The payload, or its beginning. Invalid UTF-8 is replaced by U+FFFD.
    pub text: String,
    /// Bytes that were left out at the end.
    pub omitted: u64,
}

/// Why an object cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    /// No object has this number.
    #[error("the session has no object with the number {number}")]
    Unknown {
        /// The number.
        number: u32,
    },
    /// The object is not a payload.
    #[error("the object with the number {number} is not a payload")]
    NotAPayload {
        /// The number of the object.
        number: u32,
    },
    /// The payload cannot be read.
    #[error(transparent)]
    Unreadable(#[from] trace_explain::PayloadProblem),
}

/// The bodies and payloads of a session, by the numbers that its page uses.
#[derive(Debug)]
pub struct BodySource<'s> {
    session: &'s Session,
    numbers: Numbers,
    texts: Texts<'s>,
}

impl<'s> BodySource<'s> {
    /// Prepares a source for the bodies of a session.
    pub fn new(session: &'s Session) -> Self {
        Self::with(session, Numbers::new(session.trace()))
    }

    /// Prepares a source for the bodies of a session whose page has this structure.
    pub fn of(session: &'s Session, structure: &Structure) -> Self {
        Self::with(session, structure.numbers())
    }

    fn with(session: &'s Session, numbers: Numbers) -> Self {
        Self { session, numbers, texts: Texts::new(session) }
    }

    /// Returns the object with a number.
    ///
    /// # Errors
    ///
    /// Returns an error if no object has this number.
    pub fn object(&self, number: Number) -> Result<Object, BodyError> {
        self.numbers.object(number).ok_or(BodyError::Unknown { number: number.0 })
    }

    /// Returns the number of an object.
    pub fn number(&self, object: Object) -> Number {
        self.numbers.of(object)
    }

    /// Returns all texts of the session, for a search.
    pub fn texts(&self) -> &Texts<'s> {
        &self.texts
    }

    /// Returns the bodies of some objects in their order, each truncated to `max_bytes` of text.
    pub fn bodies(&self, objects: &[Object], max_bytes: usize) -> Vec<Body> {
        self.texts.of(objects, |object, texts| self.body(object, texts, max_bytes))
    }

    fn body(&self, object: Object, texts: Vec<(Aspect, String)>, max_bytes: usize) -> Body {
        let trace = self.session.trace();
        let mut body = Body::default();
        let mut left = max_bytes;
        let mut push = |name: &'static str, form: Form, text: &str| {
            let (text, omitted) = beginning(text, left);
            left -= text.len();
            body.blocks.push(Block { name, form, text: text.to_owned(), omitted });
        };
        if let Object::Inference(inference) = object
            && let Some(error) = &trace.inferences[inference].error
        {
            push("error", Form::Text, error);
        }
        if let Object::CompactionRequest(request) = object
            && let Some(error) = &trace.compaction_requests[request].error
        {
            push("error", Form::Text, error);
        }
        // The texts of a command are its single words, and the last of them is what a shell runs. A list of words says
        // little, so they are joined to one command line.
        let mut seen: Vec<(Aspect, String)> = Vec::new();
        for (aspect, text) in texts {
            // Repeated texts are shown once, but repeated words of a command belong to it.
            let is_word = aspect == Aspect::Request;
            if !is_word && (text.is_empty() || seen.iter().any(|(_, known)| *known == text)) {
                continue;
            }
            match aspect {
                Aspect::Encoded if is_ciphertext(&text) => {
                    push(name_of(aspect), Form::Note, &format!("{} bytes that only the provider can read", text.len()));
                    continue;
                }
                _ => seen.push((aspect, text)),
            }
        }
        let mut words = Vec::new();
        for (aspect, text) in &seen {
            match (object, aspect) {
                (Object::Tool(_) | Object::Operation(_), Aspect::Request) => words.push(text.as_str()),
                _ => push(name_of(*aspect), form_of(*aspect, text), text),
            }
        }
        if !words.is_empty() {
            push(name_of(Aspect::Request), Form::Code, &command_line(words.iter().copied()));
        }
        if let Object::Item(item) = object {
            for part in trace.items[item].parts.iter() {
                if let trace_reducer::model::Part::PayloadRef { label, .. } = part {
                    push("", Form::Note, &format!("{label}: only the payload has it"));
                }
            }
        }
        body
    }

    /// Returns a payload, truncated to `max_bytes`.
    ///
    /// # Errors
    ///
    /// Returns an error if the number is not the number of a payload, or if the file of the payload cannot be read.
    pub fn payload(&self, number: Number, max_bytes: usize) -> Result<PayloadText, BodyError> {
        let Object::Payload(payload) = self.object(number)? else {
            return Err(BodyError::NotAPayload { number: number.0 });
        };
        let bytes = self.session.read_payload(self.session.trace().payloads[payload].id)?;
        let kept = &bytes[..bytes.len().min(max_bytes)];
        // Do not cut within a character.
        let kept = match std::str::from_utf8(kept) {
            Err(error) if error.error_len().is_none() => &kept[..error.valid_up_to()],
            _ => kept,
        };
        Ok(PayloadText { text: String::from_utf8_lossy(kept).into_owned(), omitted: (bytes.len() - kept.len()) as u64 })
    }
}

/// Returns the beginning of a text, and how many bytes it leaves out.
fn beginning(text: &str, max_bytes: usize) -> (&str, u64) {
    let end = (0..=max_bytes.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    let kept = &text[..end];
    (kept, (text.len() - kept.len()) as u64)
}

fn name_of(aspect: Aspect) -> &'static str {
    match aspect {
        Aspect::Text | Aspect::Message => "",
        Aspect::Arguments => "input",
        Aspect::Request => "command",
        Aspect::Printed => "output",
        Aspect::Encoded => "encrypted",
        other => other.as_str(),
    }
}

fn form_of(aspect: Aspect, text: &str) -> Form {
    match aspect {
        Aspect::Code | Aspect::Source => Form::Code,
        Aspect::Text | Aspect::Summary | Aspect::Message | Aspect::Instructions => Form::Text,
        _ if is_json(text) => Form::Json,
        _ => Form::Text,
    }
}

fn is_json(text: &str) -> bool {
    let looks_like_it = text.trim_start().starts_with(['{', '[']);
    looks_like_it && serde_json::from_str::<Value>(text).is_ok()
}

/// Returns whether a text that the provider calls encrypted really looks like ciphertext.
fn is_ciphertext(text: &str) -> bool {
    let is_base64 = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '-' | '_' | '=');
    text.len() >= MIN_CIPHERTEXT_BYTES && text.chars().all(is_base64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(beginning("aé", 2), ("a", 2));
        assert_eq!(beginning("aé", 3), ("aé", 0));
        assert_eq!(beginning("", 0), ("", 0));
    }

    #[test]
    fn documents_are_told_from_texts() {
        assert_eq!(form_of(Aspect::Arguments, r#"{"cmd":["ls"]}"#), Form::Json);
        assert_eq!(form_of(Aspect::Printed, "[not JSON"), Form::Text);
        assert_eq!(form_of(Aspect::Text, "{}"), Form::Text);
        assert_eq!(form_of(Aspect::Source, "text(1)"), Form::Code);
    }

    #[test]
    fn what_is_called_encrypted_is_shown_if_it_is_readable() {
        assert!(is_ciphertext("gAAAAABoq0Zx4c9vQm2l"));
        assert!(!is_ciphertext("look at the lamp"));
    }

    #[test]
    fn calls_show_what_they_took_and_gave() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("bundle");
        trace_samples::scenes::one_agent(&path).expect("a sample");
        let session = Session::open(&path).expect("a bundle");
        let source = BodySource::new(&session);
        let first = session.trace().tools.handles().next().map(Object::Tool).expect("a call");
        let body = source.bodies(&[first], MAX_BODY_BYTES).remove(0);
        let named = |name| body.blocks.iter().find(|block| block.name == name).map(|block| block.text.as_str());
        assert!(named("command").expect("a command").contains("git log --oneline -3"), "{body:?}");
        assert!(named("output").expect("an output").contains("Count wicks from one"), "{body:?}");
        let cut = source.bodies(&[first], 10).remove(0);
        assert_eq!(cut.bytes(), 10);
        assert!(cut.blocks.iter().map(|block| block.omitted).sum::<u64>() > 0);
        let payloads: Vec<Number> =
            session.objects().filter(|it| matches!(it, Object::Payload(_))).map(|it| source.number(it)).collect();
        let payload = source.payload(payloads[0], 4).expect("a payload");
        assert_eq!(payload.text.len(), 4);
        assert!(payload.omitted > 0);
        assert!(matches!(source.payload(source.number(first), 4), Err(BodyError::NotAPayload { .. })));
        assert!(matches!(source.payload(Number(u32::MAX), 4), Err(BodyError::Unknown { .. })));
    }
}
