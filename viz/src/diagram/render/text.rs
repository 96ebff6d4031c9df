//! Texts of a diagram made fit for where they go: first cleaned and shortened, then escaped for a language.
//!
//! Every text is untrusted. Cleaning takes out what could reorder, hide or break anything around it; what is left may
//! still hold the quotes and brackets of any language, which escaping takes care of. Escaping loses nothing: what reads
//! the language gets the cleaned text back.

use std::fmt::Write;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use trace_explain::ObjectRef;
use unicode_width::UnicodeWidthChar;

/// Most columns of a line of a label. What is longer ends in `…`; the tooltip has more of it.
pub const MAX_LINE_COLUMNS: usize = 60;

/// Most lines of a label.
pub const MAX_LABEL_LINES: usize = 8;

/// Most columns of a line of a tooltip.
pub const MAX_TOOLTIP_COLUMNS: usize = 160;

/// Most lines of a tooltip.
pub const MAX_TOOLTIP_LINES: usize = 16;

/// Most columns of a title or of a note.
pub const MAX_NOTE_COLUMNS: usize = 200;

/// Most bytes of an object's id in a permalink. Longer ones get none: a link that is cut leads nowhere.
pub const MAX_LINK_BYTES: usize = 1000;

/// Says whether a character may do more than take up room: control characters, those that reorder or hide what stands
/// around them, and those that no XML document may hold.
fn is_hostile(c: char) -> bool {
    c.is_control()
        || (u32::from(c) & 0xfffe) == 0xfffe
        || matches!(
            c,
            '\u{61c}'
                | '\u{200b}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{fdd0}'..='\u{fdef}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

fn push_clean(text: &mut String, c: char) {
    if c.is_whitespace() {
        text.push(' ');
    } else if is_hostile(c) {
        write!(text, "{}", c.escape_unicode()).expect("writes to memory");
    } else {
        text.push(c);
    }
}

/// Returns the beginning of a text as one clean line of at most so many columns. Runs of white space become one space,
/// hostile characters become `\u{..}`, and what is cut off becomes `…`.
pub(crate) fn line(text: &str, max_columns: usize) -> String {
    let mut line = String::new();
    let mut columns = 0;
    // Any number of marks that take no column can follow a character.
    let max_bytes = max_columns.saturating_mul(8);
    // Where the line must end if `…` is to follow.
    let mut cut_at = 0;
    for c in text.trim_start().chars() {
        if c.is_whitespace() && line.ends_with(' ') {
            continue;
        }
        let start = line.len();
        push_clean(&mut line, c);
        let width: usize = line[start..].chars().map(|c| c.width().unwrap_or(0)).sum();
        columns += width;
        if columns > max_columns || line.len() > max_bytes {
            line.truncate(cut_at);
            let trimmed = line.trim_end().len();
            line.truncate(trimmed);
            line.push('…');
            return line;
        }
        if columns < max_columns {
            cut_at = line.len();
        }
    }
    let trimmed = line.trim_end().len();
    line.truncate(trimmed);
    line
}

/// Returns the lines of a text, clean, at most so many of so many columns. Empty lines are left out.
pub(crate) fn lines<'a>(texts: impl IntoIterator<Item = &'a str>, max_lines: usize, max_columns: usize) -> Vec<String> {
    let parts = texts.into_iter().flat_map(str::lines);
    let mut lines = parts.map(|part| line(part, max_columns)).filter(|line| !line.is_empty());
    let mut kept: Vec<String> = lines.by_ref().take(max_lines).collect();
    // Looking one line further is enough to know that there is more; the rest is not read.
    if lines.next().is_some()
        && let Some(last) = kept.last_mut()
        && !last.ends_with('…')
    {
        last.push_str(" …");
    }
    kept
}

/// Returns the lines of a label. Each text of it is one line, whatever it holds.
pub(crate) fn label(texts: &[String]) -> Vec<String> {
    let lines = texts.iter().map(|text| line(text, MAX_LINE_COLUMNS)).filter(|line| !line.is_empty());
    lines.take(MAX_LABEL_LINES).collect()
}

/// Returns the lines of a tooltip.
pub(crate) fn tooltip(text: &str) -> Vec<String> {
    lines([text], MAX_TOOLTIP_LINES, MAX_TOOLTIP_COLUMNS)
}

/// What a permalink keeps as it is: what a fragment may hold, without what any language around it could take for its own.
const LINK: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b':').remove(b'/');

/// Returns the permalink of an object: `#TYPE:ID`, percent-encoded. Null if its id is too long for one.
pub fn permalink(object: &ObjectRef) -> Option<String> {
    let name = object.to_string();
    (name.len() <= MAX_LINK_BYTES).then(|| format!("#{}", utf8_percent_encode(&name, LINK)))
}

/// Pushes clean text into a quoted string of DOT that Graphviz takes apart further: labels, tooltips, links.
///
/// Graphviz reads such a string three times: for its end, for backslash escapes, and for the entities of HTML.
pub(crate) fn push_dot(escaped: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '"' => escaped.push_str("\\\""),
            '\\' => escaped.push_str("\\\\"),
            '&' => escaped.push_str("&amp;"),
            c => escaped.push(c),
        }
    }
}

/// Returns text for XML, within an element or within an attribute.
pub(crate) fn xml(text: &str) -> String {
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

/// Pushes clean text into a quoted string of Mermaid.
///
/// Mermaid searches its whole text for comments, directives and entities before it parses it, and takes labels for
/// Markdown and HTML after that. So all that is not a letter, a digit or harmless becomes an entity.
pub(crate) fn push_mermaid(escaped: &mut String, text: &str) {
    // Before the first word, a dot or a dash could make a list of the label.
    let mut has_begun = false;
    for c in text.chars() {
        let is_harmless = match c {
            // Mermaid stands `ﬂ°` and `¶ß` for the ends of an entity while it works.
            'ﬂ' | '°' | '¶' | 'ß' => false,
            ' ' | ',' | '/' | '?' | '!' => true,
            '.' | '-' => has_begun,
            c => c.is_ascii_alphanumeric() || !c.is_ascii(),
        };
        has_begun |= c.is_alphabetic();
        if is_harmless {
            escaped.push(c);
        } else {
            write!(escaped, "#{};", u32::from(c)).expect("writes to memory");
        }
    }
}
