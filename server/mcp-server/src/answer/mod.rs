//! Answers of limited size.
//!
//! A model pays for each byte of an answer, and clients cut or refuse long ones. So an answer has at most
//! [`MAX_ANSWER_BYTES`], counted over the JSON of the whole result. It is made of *rows*; what does not fit comes with the
//! next call, which a [`Cursor`] begins where this one ended.

mod cursor;
mod page;

pub use cursor::{Cursor, MAX_CURSOR_CHARS};
pub use page::{MAX_ANSWER_BYTES, MAX_TEXT_CHARS, Page, Redactor};
