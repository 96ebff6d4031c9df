//! Regular expressions over what models saw and tools printed.
//!
//! Each distinct text is searched once, at the place that had it first, however many requests and threads repeat it.
//! Lines are matched one by one, as `grep` and its kin do. The engine takes time linear in the text whatever the pattern
//! is, and patterns that would need too much memory are refused.

mod matcher;
mod record;
mod search;

pub use matcher::{CaseRule, MAX_COMPILED_BYTES, MAX_PATTERN_BYTES, Matcher, PatternError, Syntax, WholeWords};
pub use record::{LineRecord, Record, Submatch, records};
pub use search::{Detail, Found, Line, LineKind, MAX_SUBMATCHES, Selection, Span, TextHits, grep};
