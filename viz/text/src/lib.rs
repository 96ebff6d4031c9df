//! Untrusted texts for people, in a terminal and in pictures.
//!
//! Everything that shows a text of a session, of a model or of a stranger takes it from here, so that there is one answer to
//! what a text may do to whoever reads it: nothing. Control characters, characters that hide or reorder others, and
//! characters that pass for other ones are written as escapes, and a line of a text never becomes a line of what is around it.
//!
//! Text of any language stays as it is. What is an escape depends on the [`Usage`]: in a command every character counts, so
//! unusual spaces and characters that look like ASCII are escapes there too; in prose they are left alone unless they stand
//! within an ASCII word.
//!
//! This crate only makes texts. It knows no terminal, no colours, and nothing of sessions.

mod block;
mod finding;
mod line;
mod look_alike;
mod oddity;
mod path;
mod scan;

pub use block::{Block, BlockLimits, LeftOut, Row, Span, block};
pub use finding::{Findings, MAX_NAMED};
pub use line::{MAX_PREVIEW_BYTES_PER_COLUMN, line, preview, quoted};
pub use look_alike::look_alike;
pub use oddity::{MAX_MARKS, Oddity, is_hostile};
pub use path::path;
pub use scan::{MAX_WORD_CHARS, Usage};
