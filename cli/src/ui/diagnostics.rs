//! Formats diagnostics of a reduction for people.

use anstyle::Style;
use trace_reducer::{Diagnostic, Diagnostics, Severity};

use crate::ui::output::Paint;
use crate::ui::text;

/// Most columns of the message of a diagnostic. A message can quote long texts of the bundle.
const MAX_MESSAGE_COLUMNS: usize = 400;

/// Formats a diagnostic as one line.
pub(crate) fn line(diagnostic: &Diagnostic, paint: Paint) -> String {
    let plain = text::preview(&diagnostic.to_string(), MAX_MESSAGE_COLUMNS);
    let severity = diagnostic.severity().as_str();
    let style = style_of(diagnostic.severity(), paint);
    match plain.strip_prefix(severity) {
        Some(rest) => format!("{style}{severity}{style:#}{rest}"),
        None => plain,
    }
}

/// Returns the number of diagnostics with exactly this severity.
pub(crate) fn count_of(diagnostics: &Diagnostics, severity: Severity) -> u64 {
    let above = match severity {
        Severity::Note => diagnostics.count_at_least(Severity::Warning),
        Severity::Warning => diagnostics.count_at_least(Severity::Error),
        Severity::Error => 0,
    };
    diagnostics.count_at_least(severity) - above
}

fn style_of(severity: Severity, paint: Paint) -> Style {
    match severity {
        Severity::Error => paint.bad,
        Severity::Warning => paint.odd,
        Severity::Note => paint.accent,
    }
}
