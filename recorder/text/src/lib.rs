//! Makes untrusted texts safe to show to people, in a terminal and in pictures.
//!
//! All code that shows a text of a session, a model or a stranger uses this crate, so that the rules are the same
//! everywhere. A shown text can do nothing to the terminal or to the text around it. Control characters, characters
//! that hide or reorder others, and characters that pass for other ones are written as escapes, and a line of a text
//! never becomes a line of the surrounding output.
//!
//! Text in any human language is left unchanged. The escapes depend on the [`Usage`]: in a command every character
//! matters, so unusual spaces and look-alikes of ASCII characters are escaped there too. In prose they are escaped only
//! within an ASCII word.
//!
//! This crate only produces texts. It knows nothing of terminals, colours or sessions.

mod block;
mod cut;
mod finding;
mod line;
mod look_alike;
mod oddity;
mod path;
mod scan;

pub use block::{Block, BlockLimits, LeftOut, Row, Span, block};
pub use cut::{cut, cut_middle};
pub use finding::{Findings, MAX_NAMED};
pub use line::{MAX_PREVIEW_BYTES_PER_COLUMN, line, preview, quoted};
pub use look_alike::look_alike;
pub use oddity::{MAX_MARKS, Oddity, is_hostile};
pub use path::path;
pub use scan::{MAX_WORD_CHARS, Usage};
