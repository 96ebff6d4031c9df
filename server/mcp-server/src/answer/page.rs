//! One page of an answer.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use trace_recorder::redact::{Rules, redact_json};
use trace_text::Usage;

/// Most bytes of an answer: of the JSON of the whole result of a call, its text and its data together.
pub const MAX_ANSWER_BYTES: usize = 8_000;

/// Most characters of a single text in an answer. `context` with `item` has whole texts, in pages.
pub const MAX_TEXT_CHARS: usize = 400;

/// Most characters of texts if a row does not fit onto an empty page otherwise.
const SHORT_TEXT_CHARS: usize = 60;

/// Most columns of a line of the text for clients that show no data.
const LINE_COLUMNS: usize = 240;

/// Bytes that are kept for what follows the rows: how to narrow the question, the cursor, and the line that tells of both.
const END_BYTES: usize = 900;

/// Bytes of a result around its text and its data.
const FRAME_BYTES: usize = r#"{"content":[{"type":"text","text":""}],"structuredContent":{},"isError":false}"#.len();

/// Takes secrets out of answers.
#[derive(Debug, Clone, Default)]
pub struct Redactor(Option<Arc<Rules>>);

impl Redactor {
    /// Leaves answers as they are.
    pub const NONE: Self = Self(None);

    /// Replaces what the rules of `trace redact` find.
    pub fn with(rules: Rules) -> Self {
        Self(Some(Arc::new(rules)))
    }

    /// Returns a value without its secrets. What a detector needs to know a secret by must be in the value itself.
    pub(crate) fn redacted(&self, value: Value) -> Value {
        let Some(rules) = &self.0 else { return value };
        let Ok(document) = serde_json::to_vec(&value) else { return value };
        // Redaction replaces texts of a document by other texts, so it stays JSON. If it did not, the value must not go out.
        serde_json::from_slice(&redact_json(&document, rules)).unwrap_or(Value::Null)
    }
}

/// An answer while rows are added.
#[derive(Debug)]
pub struct Page {
    redactor: Redactor,
    data: Map<String, Value>,
    data_bytes: usize,
    text: String,
    text_bytes: usize,
    rows: usize,
    limit: usize,
    is_full: bool,
}

impl Page {
    /// Begins an answer.
    pub fn new(redactor: &Redactor) -> Self {
        Self {
            redactor: redactor.clone(),
            data: Map::new(),
            data_bytes: 0,
            text: String::new(),
            text_bytes: 0,
            rows: 0,
            limit: usize::MAX,
            is_full: false,
        }
    }

    /// Sets the most rows of the page.
    pub fn limit_rows(&mut self, rows: usize) {
        self.limit = rows;
    }

    /// Adds a member that stands above all rows. `line` writes it as text; an empty line is left out. All such members together have to
    /// be small, since none is left out.
    pub fn head(&mut self, name: &'static str, value: Value, line: impl Fn(&Value) -> String) {
        let value = cut(self.redactor.redacted(value), MAX_TEXT_CHARS);
        let line = shown(&line(&value));
        self.put_line(&line);
        self.data_bytes += member_bytes(name, &value);
        self.data.insert(name.to_owned(), value);
    }

    /// Adds a row to a list. Returns `false` if it does not fit any more; it then begins the next page. A row that would not fit
    /// onto an empty page is shortened.
    pub fn row(&mut self, list: &'static str, value: Value, line: impl Fn(&Value) -> String) -> bool {
        if self.is_full || self.rows >= self.limit {
            self.is_full = true;
            return false;
        }
        let whole = self.redactor.redacted(value);
        for chars in [MAX_TEXT_CHARS, SHORT_TEXT_CHARS] {
            let value = cut(whole.clone(), chars);
            let line = shown(&line(&value));
            if self.bytes() + self.cost(list, &value, &line) + END_BYTES <= MAX_ANSWER_BYTES {
                self.data_bytes += self.cost(list, &value, "") - line_bytes("");
                self.put_line(&line);
                match self.data.get_mut(list) {
                    Some(Value::Array(rows)) => rows.push(value),
                    _ => drop(self.data.insert(list.to_owned(), Value::Array(vec![value]))),
                }
                self.rows += 1;
                return true;
            }
            if self.rows > 0 {
                break;
            }
        }
        self.is_full = true;
        false
    }

    /// Makes sure that a list is there, even without rows.
    pub fn list(&mut self, list: &'static str) {
        if !self.data.contains_key(list) {
            self.data_bytes += member_bytes(list, &json!([]));
            self.data.insert(list.to_owned(), json!([]));
        }
    }

    /// Adds a text that may be longer than others, at most [`room_for_text`](Self::room_for_text) bytes as JSON. It has no secrets any
    /// more.
    pub fn whole_text(&mut self, name: &'static str, text: &str) {
        self.put_line(text);
        let value = Value::from(text);
        self.data_bytes += member_bytes(name, &value);
        self.data.insert(name.to_owned(), value);
    }

    /// Adds a line of text that stands for no data.
    pub fn say(&mut self, line: &str) {
        self.put_line(line);
    }

    /// Returns how many more bytes of text fit, if a text stands once in the data and once in the text.
    pub fn room_for_text(&self) -> usize {
        MAX_ANSWER_BYTES.saturating_sub(self.bytes() + END_BYTES) / 2
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns whether a row did not fit.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// Ends an answer that is complete.
    pub fn end(self) -> Value {
        self.result()
    }

    /// Ends an answer that goes on at a cursor. `narrow` says which argument makes it smaller, with an example.
    pub fn end_at(mut self, cursor: String, narrow: &str) -> Value {
        self.put_line(&format!(
            "… more: call again with the same arguments and cursor={cursor}; or narrow it: {narrow}"
        ));
        self.data.insert("narrow".to_owned(), narrow.into());
        self.data.insert("cursor".to_owned(), cursor.into());
        self.result()
    }

    fn bytes(&self) -> usize {
        FRAME_BYTES + self.data_bytes + self.text_bytes
    }

    fn cost(&self, list: &'static str, value: &Value, line: &str) -> usize {
        let list = if self.data.contains_key(list) { 0 } else { member_bytes(list, &json!([])) };
        list + value_bytes(value) + 1 + line_bytes(line)
    }

    fn put_line(&mut self, line: &str) {
        if line.is_empty() {
            return;
        }
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(line);
        self.text_bytes += line_bytes(line);
    }

    fn result(self) -> Value {
        json!({
            "content": [{"type": "text", "text": self.text}],
            "structuredContent": self.data,
            "isError": false,
        })
    }
}

/// Returns lines as a model and a person may see them: without control characters, and none much longer than the others.
fn shown(lines: &str) -> String {
    let lines = lines.lines().map(|line| {
        let indent = line.len() - line.trim_start_matches(' ').len();
        format!("{}{}", &line[..indent], trace_text::preview(line, Usage::Prose, LINE_COLUMNS))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the bytes of a line in the JSON of the text, with the line feed in front of it.
fn line_bytes(line: &str) -> usize {
    r"\n".len() + value_bytes(&Value::from(line)) - r#""""#.len()
}

fn member_bytes(name: &str, value: &Value) -> usize {
    r#""":,"#.len() + name.len() + value_bytes(value)
}

fn value_bytes(value: &Value) -> usize {
    serde_json::to_string(value).map_or(MAX_ANSWER_BYTES, |text| text.len())
}

/// Cuts every text in a value.
fn cut(value: Value, chars: usize) -> Value {
    match value {
        Value::String(text) => match trace_text::cut(&text, chars) {
            Cow::Borrowed(_) => Value::String(text),
            Cow::Owned(cut) => Value::String(cut),
        },
        Value::Array(values) => values.into_iter().map(|value| cut(value, chars)).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(name, value)| (name, cut(value, chars))).collect::<Map<_, _>>().into()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn line(value: &Value) -> String {
        value.to_string()
    }

    fn size(result: &Value) -> usize {
        serde_json::to_string(result).expect("is written").len()
    }

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(cut(json!({"a": ["xyz", 1]}), 2), json!({"a": ["x…", 1]}));
    }

    proptest! {
        #[test]
        fn a_page_is_never_larger_than_it_may_be(
            rows in prop::collection::vec(prop::collection::vec(".{0,900}", 1..5), 0..60),
            cursor in "[a-z]{0,170}",
        ) {
            let mut page = Page::new(&Redactor::NONE);
            page.head("session", json!("trace-1"), line);
            let mut added = 0;
            for row in &rows {
                if !page.row("rows", json!(row), line) {
                    break;
                }
                added += 1;
            }
            prop_assert!(added > 0 || rows.is_empty(), "each page has a row");
            prop_assert_eq!(page.rows(), added);
            let result = page.end_at(cursor, "limit=1");
            prop_assert!(size(&result) <= MAX_ANSWER_BYTES, "{} bytes", size(&result));
            prop_assert_eq!(result["structuredContent"]["rows"].as_array().map_or(0, Vec::len), added);
        }
    }

    #[test]
    fn the_count_of_bytes_is_right() {
        let mut page = Page::new(&Redactor::NONE);
        page.head("n", json!("\u{7}\"é"), line);
        page.list("none");
        while page.row("rows", json!({"text": "\n\"ü", "n": page.rows()}), line) {}
        let counted = page.bytes();
        let written = size(&page.end());
        assert!(written <= counted && counted <= written + 8, "{written} bytes, {counted} counted");
    }

    #[test]
    fn secrets_are_taken_out_before_texts_are_cut() {
        let token = format!("ghp_{}", "a1B2".repeat(9));
        let mut page = Page::new(&Redactor::with(Rules::default()));
        let text = format!("{}{token} rest", "x ".repeat(MAX_TEXT_CHARS / 2 - 10));
        assert!(page.row("rows", json!({"text": text}), |value| value["text"].to_string()));
        let written = page.end().to_string();
        assert!(!written.contains("ghp_a1B2"), "{written}");
    }

    #[test]
    fn a_page_ends_at_its_limit_of_rows() {
        let mut page = Page::new(&Redactor::NONE);
        page.limit_rows(2);
        assert_eq!([1, 2, 3].map(|n| page.row("rows", json!(n), line)), [true, true, false]);
        assert!(page.is_full());
    }
}
