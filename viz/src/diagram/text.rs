//! Texts of diagrams: untrusted texts made harmless and short, numbers and times made readable.
//!
//! A label is a few lines that are part of the picture. A tooltip is what a viewer shows on request. Both are plain
//! text without control characters (except line feeds in tooltips) and without characters that reorder or hide the text
//! around them. The renderers escape them for their output languages.

pub(super) use trace_explain::words::{count, duration, number};
use trace_text::Usage;

/// Most columns of a line of a label.
pub const MAX_LABEL_COLUMNS: usize = 60;

/// Most columns of a line beside an arrow. Arrows are between boxes, where there is little room.
pub const MAX_ARROW_COLUMNS: usize = 40;

/// Most lines of a label.
pub const MAX_LABEL_LINES: usize = 8;

/// Most columns of a line of a tooltip.
pub const MAX_TOOLTIP_COLUMNS: usize = 400;

/// Most lines of a tooltip.
pub const MAX_TOOLTIP_LINES: usize = 24;

/// Returns the beginning of a text as one line of at most `max_columns` columns; see [`trace_text`]. The text beyond
/// the cut is not read.
pub(super) fn line(text: &str, max_columns: usize) -> String {
    trace_text::preview(text, Usage::Prose, max_columns)
}

/// Makes a label of lines, without the empty ones.
pub(super) fn label(lines: impl IntoIterator<Item = String>) -> Vec<String> {
    let lines = lines.into_iter().map(|text| line(&text, MAX_LABEL_COLUMNS));
    lines.filter(|line| !line.is_empty()).take(MAX_LABEL_LINES).collect()
}

/// Makes a tooltip of lines, without the empty ones.
pub(super) fn tooltip(lines: impl IntoIterator<Item = String>) -> String {
    let mut lines = lines.into_iter().map(|text| line(&text, MAX_TOOLTIP_COLUMNS)).filter(|line| !line.is_empty());
    let mut text: Vec<String> = lines.by_ref().take(MAX_TOOLTIP_LINES).collect();
    if lines.next().is_some() {
        text.push("…".to_owned());
    }
    text.join("\n")
}

/// Joins the parts of a line, without the empty ones.
pub(super) fn parts(parts: impl IntoIterator<Item = String>) -> String {
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(" · ")
}

/// Returns a time since the start of the session. Below a minute it has tenths of seconds.
pub(super) fn since_start(ms: u64) -> String {
    match ms {
        0..60_000 => format!("+{}.{} s", ms / 1000, ms % 1000 / 100),
        _ => format!("+{}", duration(ms)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_hold_nothing_that_acts() {
        let hostile = "a\u{1b}[31mred\u{7f}\r\n\tb\u{202e}c\u{e0041}\u{ffff}\u{fdd0}";
        assert_eq!(line(hostile, 80), r"a\u{1b}[31mred\u{7f} ⏎ b\u{202e}c\u{e0041}\u{ffff}\u{fdd0}");
        assert_eq!(line("<b>\"quoted\"</b> \\ שלום 🦀", 60), "<b>\"quoted\"</b> \\ שלום 🦀");
    }

    #[test]
    fn lines_fit() {
        assert_eq!(line("  two\n\n words  ", 20), "two ⏎ words");
        assert_eq!(line("0123456789", 10), "0123456789");
        assert_eq!(line("0123456789a", 10), "012345678…");
        assert_eq!(line("漢字漢字漢", 8), "漢字漢…");
        assert_eq!(line("\u{1b}\u{1b}\u{1b}", 10), r"\u{1b}…");
        assert!(line(&format!("a{}", "\u{301}".repeat(10_000)), 10).len() < 100);
    }

    #[test]
    fn labels_and_tooltips_have_limits() {
        let many = (0..100).map(|index| format!("{index}{}", "x".repeat(1000)));
        let label = label(many.clone());
        assert_eq!(label.len(), MAX_LABEL_LINES);
        assert!(label.iter().all(|line| line.chars().count() <= MAX_LABEL_COLUMNS));
        let tooltip = tooltip(many);
        assert_eq!(tooltip.lines().count(), MAX_TOOLTIP_LINES + 1);
        assert!(tooltip.lines().all(|line| line.chars().count() <= MAX_TOOLTIP_COLUMNS));
    }

    #[test]
    fn times_are_readable() {
        let since = [0, 50, 12_345, 59_999, 61_000, 3_660_000].map(since_start);
        assert_eq!(since, ["+0.0 s", "+0.0 s", "+12.3 s", "+59.9 s", "+1 min 01 s", "+1 h 01 min"]);
        assert_eq!((count(1, "turn"), count(1200, "turn")), ("1 turn".into(), "1,200 turns".into()));
    }
}
