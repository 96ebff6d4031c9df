//! Detects incrementally whether a JSON object that arrives in pieces is complete.

/// Scans an object piece by piece.
#[derive(Debug, Default)]
pub(super) struct JsonEnd {
    depth: usize,
    has_begun: bool,
    is_in_text: bool,
    is_escaped: bool,
}

impl JsonEnd {
    /// Scans the next piece.
    pub(super) fn push(&mut self, piece: &str) {
        for byte in piece.bytes() {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' if self.is_in_text => self.is_escaped = true,
                b'"' => self.is_in_text = !self.is_in_text,
                _ if self.is_in_text => {}
                b'{' | b'[' => {
                    self.depth += 1;
                    self.has_begun = true;
                }
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
    }

    /// Returns whether all brackets and strings are closed.
    pub(super) fn is_whole(&self) -> bool {
        self.has_begun && self.depth == 0 && !self.is_in_text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_whole_when_it_is_closed() {
        for (text, is_whole) in [
            ("", false),
            ("{", false),
            ("{}", true),
            (r#"{"a":"}"#, false),
            (r#"{"a":"\"}"}"#, true),
            (r#"{"a":[{"b":1}]"#, false),
            (r#"{"a":[{"b":1}]}"#, true),
        ] {
            let mut end = JsonEnd::default();
            for letter in text.chars() {
                end.push(&letter.to_string());
            }
            assert_eq!(end.is_whole(), is_whole, "{text}");
        }
    }
}
