//! A table of texts. Columns refer to texts by number, so each text is written once.

use std::collections::HashMap;

use serde::{Serialize, Serializer};
use trace_text::Usage;

/// A table of texts. The first one is empty.
#[derive(Debug)]
pub(super) struct Strings {
    all: Vec<Box<str>>,
    known: HashMap<Box<str>, u32>,
}

impl Strings {
    pub(super) fn new() -> Self {
        Self { all: vec!["".into()], known: HashMap::from([("".into(), 0)]) }
    }

    /// Returns the number of texts.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns the texts from a number on.
    pub(super) fn since(&self, number: usize) -> &[Box<str>] {
        self.all.get(number..).unwrap_or_default()
    }

    /// Returns the number of a text, and adds the text if it is new.
    pub(super) fn add(&mut self, text: &str) -> u32 {
        if let Some(number) = self.known.get(text) {
            return *number;
        }
        let number = u32::try_from(self.all.len()).unwrap_or(0);
        self.all.push(text.into());
        self.known.insert(text.into(), number);
        number
    }
}

impl Serialize for Strings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.all.serialize(serializer)
    }
}

/// Longest label, in columns of a terminal.
pub(super) const MAX_LABEL_CHARS: usize = 100;

/// Returns the beginning of a text as one line.
pub(super) fn line(text: &str) -> String {
    trace_text::preview(text, Usage::Prose, MAX_LABEL_CHARS)
}

/// Returns a command as one line. If the line is too long, its middle is left out and both ends are kept.
pub(super) fn command(text: &str) -> String {
    trace_text::preview(text.trim_end(), Usage::Command, MAX_LABEL_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_have_one_number() {
        let mut strings = Strings::new();
        assert_eq!((strings.add(""), strings.add("a"), strings.add("b"), strings.add("a")), (0, 1, 2, 1));
        assert_eq!(serde_json::to_string(&strings).expect("serializes"), r#"["","a","b"]"#);
    }

    #[test]
    fn labels_are_one_short_line() {
        assert_eq!(line(" two\n\n  lines\t"), "two ⏎ lines");
        let long = line(&"é".repeat(MAX_LABEL_CHARS + 1));
        assert_eq!(long.chars().count(), MAX_LABEL_CHARS);
        assert!(long.ends_with("é…"));
        assert_eq!(line(&"é".repeat(MAX_LABEL_CHARS)).chars().count(), MAX_LABEL_CHARS);
    }
}
