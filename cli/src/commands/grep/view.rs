//! Formats matches for people.

use trace_explain::grep::{Found, Line, LineKind, Span, TextHits};

use crate::ui::output::Paint;
use crate::ui::text;

/// How matches are shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// Whether a text is named once, above its lines.
    pub(super) has_heading: bool,
    /// Whether the name of the bundle is shown.
    pub(super) names_bundle: bool,
    /// Whether only the matching parts are shown.
    pub(super) only_matching: bool,
    /// Whether lines around the matches are shown.
    pub(super) has_context: bool,
    /// Whether line numbers are shown.
    pub(super) numbers_lines: bool,
    /// Most columns of a line.
    pub(super) max_columns: usize,
}

/// Formats the matches of one bundle.
pub(super) struct View<'a> {
    shape: &'a Shape,
    bundle: String,
    paint: Paint,
}

impl<'a> View<'a> {
    pub(super) fn new(shape: &'a Shape, bundle: &str, paint: Paint) -> Self {
        Self { shape, bundle: text::clean(bundle).into_owned(), paint }
    }

    /// Returns the line with the name of the bundle.
    pub(super) fn bundle(&self) -> String {
        let accent = self.paint.accent;
        format!("{accent}{}{accent:#}\n", self.bundle)
    }

    /// Returns the line with the number of matching lines.
    pub(super) fn count(&self, lines: u64) -> String {
        let accent = self.paint.accent;
        if self.shape.names_bundle {
            format!("{accent}{}{accent:#}:{lines}\n", self.bundle)
        } else {
            format!("{lines}\n")
        }
    }

    /// Returns the lines of all matches.
    pub(super) fn lines(&self, found: &Found) -> String {
        let mut out = String::new();
        if self.shape.has_heading && self.shape.names_bundle {
            out.push_str(&self.bundle());
        }
        for (index, hits) in found.texts.iter().enumerate() {
            if self.shape.has_heading {
                self.push_heading(&mut out, hits);
            } else if index > 0 && self.shape.has_context {
                out.push_str("--\n");
            }
            self.push_text(&mut out, hits);
            if self.shape.has_heading {
                out.push('\n');
            }
        }
        out
    }

    fn push_heading(&self, out: &mut String, hits: &TextHits) {
        let Paint { accent, dim, .. } = self.paint;
        let turn = hits.turn.map(|turn| format!(" turn {turn}")).unwrap_or_default();
        out.push_str(&format!(
            "{accent}{}{accent:#}{turn} {} {dim}{} seq {}{dim:#}\n",
            text::clean(&hits.agent_path),
            text::clean(&hits.object.short_name()),
            hits.aspect.as_str(),
            hits.seq,
        ));
    }

    fn push_text(&self, out: &mut String, hits: &TextHits) {
        let mut last = None;
        for line in &hits.lines {
            if self.shape.has_context && last.is_some_and(|last| line.line_number > last + 1) {
                out.push_str("--\n");
            }
            last = Some(line.line_number);
            if self.shape.only_matching {
                for span in &line.submatches {
                    self.push_prefix(out, hits, line);
                    let cut = Line { text: line.text[span.start..span.end].to_owned(), ..line.clone() };
                    let all = Span { start: 0, end: cut.text.len() };
                    self.push_line(out, &Line { submatches: vec![all], ..cut });
                }
            } else {
                self.push_prefix(out, hits, line);
                self.push_line(out, line);
            }
        }
    }

    fn push_prefix(&self, out: &mut String, hits: &TextHits, line: &Line) {
        let Paint { accent, good, .. } = self.paint;
        // As in grep: a colon on matching lines, a dash on context lines.
        let mark = if line.kind == LineKind::Match { ':' } else { '-' };
        if !self.shape.has_heading {
            if self.shape.names_bundle {
                out.push_str(&format!("{accent}{}{accent:#}{mark}", self.bundle));
            }
            let turn = hits.turn.map_or("-".to_owned(), |turn| turn.to_string());
            out.push_str(&format!(
                "{accent}{}{accent:#}{mark}{turn}{mark}{}{mark}{}{mark}",
                text::clean(&hits.agent_path),
                text::clean(&hits.object.short_name()),
                hits.seq
            ));
        }
        if self.shape.numbers_lines {
            out.push_str(&format!("{good}{}{good:#}{mark}", line.line_number));
        }
    }

    fn push_line(&self, out: &mut String, line: &Line) {
        let error = self.paint.error;
        let (from, to) = self.window(line);
        if from > 0 {
            out.push('…');
        }
        let mut at = from;
        for Span { start, end } in line.submatches.iter().copied() {
            let (start, end) = (start.clamp(at, to), end.clamp(at, to));
            out.push_str(&text::clean(&line.text[at..start]));
            if start < end {
                out.push_str(&format!("{error}{}{error:#}", text::clean(&line.text[start..end])));
            }
            at = end;
        }
        out.push_str(&text::clean(&line.text[at..to]));
        if to < line.text.len() {
            out.push('…');
        }
        out.push('\n');
    }

    /// Returns the range of a line that is shown: all of it, or the part around the first match if the line is too
    /// long.
    fn window(&self, line: &Line) -> (usize, usize) {
        let text = &line.text;
        let max = self.shape.max_columns;
        if text.len() <= max {
            return (0, text.len());
        }
        let first = line.submatches.first().map_or(0, |span| span.start);
        let wanted = first.saturating_sub(max / 4);
        let from = (0..=wanted).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let shown: usize = text[from..].chars().take(max).map(char::len_utf8).sum();
        (from, from + shown)
    }
}
