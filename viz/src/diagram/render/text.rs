//! Prepares the texts of a diagram for output: they are first cleaned and shortened, then escaped for a language.
//!
//! Every text is untrusted. Cleaning removes what could reorder, hide or break the text around it. The result may still
//! contain quotes and brackets of any language, which escaping takes care of. Escaping loses nothing: a reader of the
//! language gets the cleaned text back.

use std::fmt::Write;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use trace_explain::ObjectRef;

use super::super::text;
pub(super) use super::super::text::line;

/// Most columns of a title or of a note.
pub const MAX_NOTE_COLUMNS: usize = 200;

/// Most bytes of an object's name in a permalink. An object with a longer name has no permalink, since a truncated link
/// would not work.
pub const MAX_LINK_BYTES: usize = 1000;

/// Returns the lines of a label. Each text becomes one line.
pub(super) fn label(texts: &[String]) -> Vec<String> {
    text::label(texts.iter().cloned())
}

/// Returns the lines of a tooltip.
pub(super) fn tooltip(text: &str) -> Vec<String> {
    text::tooltip(text.lines().map(str::to_owned)).lines().map(str::to_owned).collect()
}

/// The characters that a permalink does not encode: those that a URL fragment may contain, except those with a meaning
/// in one of the languages.
const LINK: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b':').remove(b'/');

/// Returns the permalink of an object: `#TYPE:ID`, percent-encoded. `None` if the name is longer than
/// [`MAX_LINK_BYTES`].
pub fn permalink(object: &ObjectRef) -> Option<String> {
    let name = object.to_string();
    (name.len() <= MAX_LINK_BYTES).then(|| format!("#{}", utf8_percent_encode(&name, LINK)))
}

/// Pushes cleaned text into a quoted string of DOT whose content Graphviz interprets: a label, a tooltip or a link.
///
/// Graphviz reads such a string three times: for its end, for backslash escapes, and for HTML entities.
pub(super) fn push_dot(escaped: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '"' => escaped.push_str("\\\""),
            '\\' => escaped.push_str("\\\\"),
            '&' => escaped.push_str("&amp;"),
            c => escaped.push(c),
        }
    }
}

/// Escapes text for an element or an attribute of XML.
pub(super) fn xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Pushes cleaned text into a quoted string of Mermaid.
///
/// Mermaid searches its whole input for comments, directives and entities before it parses it, and it reads labels as
/// Markdown and HTML after that. So everything except letters, digits and harmless punctuation becomes an entity.
pub(super) fn push_mermaid(escaped: &mut String, text: &str) {
    // In front of the first word, a dot or a dash could turn the label into a list.
    let mut has_begun = false;
    for c in text.chars() {
        let is_harmless = match c {
            // Mermaid itself uses `ﬂ°` and `¶ß` to mark the ends of an entity while it works.
            'ﬂ' | '°' | '¶' | 'ß' => false,
            ' ' | ',' | '/' | '?' | '!' => true,
            '.' | '-' => has_begun,
            c => c.is_ascii_alphanumeric() || !c.is_ascii(),
        };
        has_begun |= c.is_alphabetic();
        if is_harmless {
            escaped.push(c);
        } else {
            write!(escaped, "#{};", u32::from(c)).expect("writing to a string cannot fail");
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn dot(text: &str) -> String {
        let mut escaped = String::new();
        push_dot(&mut escaped, text);
        escaped
    }

    fn mermaid(text: &str) -> String {
        let mut escaped = String::new();
        push_mermaid(&mut escaped, text);
        escaped
    }

    /// Reads a quoted string as Graphviz does: first for its end, then for backslashes, then for entities.
    fn read_dot(escaped: &str) -> String {
        let mut text = String::new();
        let mut rest = escaped.chars();
        while let Some(c) = rest.next() {
            match c {
                '"' => panic!("{escaped:?} ends before its end"),
                '\\' => match rest.next() {
                    Some(escape @ ('"' | '\\')) => text.push(escape),
                    other => panic!("{escaped:?} has the unknown escape {other:?}"),
                },
                c => text.push(c),
            }
        }
        assert_eq!(text.matches('&').count(), text.matches("&amp;").count(), "{text:?} has other entities");
        text.replace("&amp;", "&")
    }

    /// Reads a label as Mermaid does: `#NUMBER;` is a character.
    fn read_mermaid(escaped: &str) -> String {
        let mut parts = escaped.split('#');
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (number, rest) = part.split_once(';').expect("an entity ends with a semicolon");
            text.push(number.parse().ok().and_then(char::from_u32).expect("a character"));
            text.push_str(rest);
        }
        text
    }

    #[test]
    fn dot_is_escaped() {
        assert_eq!(dot(r#"a "b" \N &lt; <c>"#), r#"a \"b\" \\N &amp;lt; <c>"#);
    }

    #[test]
    fn xml_is_escaped() {
        assert_eq!(xml("a \"b\" & <c> 'd' 🦀"), "a &quot;b&quot; &amp; &lt;c&gt; &#39;d&#39; 🦀");
    }

    #[test]
    fn mermaid_is_escaped() {
        assert_eq!(mermaid("1. \"a\"; end -- #35; 5.6"), "1#46; #34;a#34;#59; end -- #35;35#59; 5.6");
        assert_eq!(mermaid("fa:fa-car ﬂ°35¶ß"), "fa#58;fa-car #64258;#176;35#182;#223;");
    }

    #[test]
    fn permalinks_are_encoded() {
        let link = |id: &str| permalink(&ObjectRef { kind: "tool_call".to_owned(), id: id.to_owned() });
        assert_eq!(link("call_1").as_deref(), Some("#tool_call:call_1"));
        assert_eq!(link("a\"b <c>&d#e%f é\\").as_deref(), Some("#tool_call:a%22b%20%3Cc%3E%26d%23e%25f%20%C3%A9%5C"));
        assert_eq!(link(&"x".repeat(MAX_LINK_BYTES)), None);
    }

    proptest! {
        #[test]
        fn what_is_read_is_what_was_written(text in any::<String>()) {
            let text = line(&text, MAX_NOTE_COLUMNS);
            prop_assert_eq!(read_dot(&dot(&text)), text.clone());
            prop_assert_eq!(read_mermaid(&mermaid(&text)), text.clone());
            let document = format!("<a b=\"{0}\">{0}</a>", xml(&text));
            let document = resvg::usvg::roxmltree::Document::parse(&document).expect("is XML");
            let element = document.root_element();
            prop_assert_eq!(element.text().unwrap_or_default(), &text);
            prop_assert_eq!(element.attribute("b"), Some(&*text));
        }
    }
}
