//! Searches the texts that models saw and tools printed with regular expressions.
//!
//! Each distinct text is searched once, at its first place, however many requests and threads repeat it. Lines are
//! matched one by one, as in `grep`. The time is linear in the text for every pattern, and patterns that would need too
//! much memory are refused.

mod matcher;
mod record;
mod search;

pub use matcher::{CaseRule, MAX_COMPILED_BYTES, MAX_PATTERN_BYTES, Matcher, PatternError, Syntax, WholeWords};
pub use record::{LineRecord, Record, Submatch, records};
pub use search::{Detail, Found, Line, LineKind, MAX_SUBMATCHES, Selection, Span, TextHits, grep};
