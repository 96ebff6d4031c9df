//! What answers a question, and the session that a question is about.

use std::sync::Arc;

use trace_explain::Session;

use crate::answer::{Cursor, Redactor};
use crate::arguments::Arguments;
use crate::library::{Entry, LATEST, Library, Shelf};
use crate::problem::Problem;

/// What answers a question.
#[derive(Clone)]
pub(crate) struct Asked {
    pub(crate) library: Arc<dyn Library>,
    pub(crate) redactor: Redactor,
}

/// The session that a call is about, and the place at which its answer goes on.
pub(super) struct Subject<P> {
    pub(super) entry: Entry,
    pub(super) session: Arc<Session>,
    pub(super) cursors: Cursor,
    pub(super) place: Option<P>,
}

/// Opens the session that a call names, or the one that its cursor is of, which another may have followed since.
pub(super) fn subject<P: serde::de::DeserializeOwned>(
    asked: &Asked,
    tool: &str,
    arguments: Arguments<'_>,
) -> Result<Subject<P>, Problem> {
    let cursors = Cursor::of(tool, arguments.all());
    let shelf = Shelf::of(&*asked.library)?;
    let (entry, place) = match arguments.text("cursor")? {
        Some(cursor) => {
            let (session, place): (u64, P) = cursors.read(cursor)?;
            (shelf.with_key(session)?, Some(place))
        }
        None => (shelf.find(arguments.text("session")?.unwrap_or(LATEST))?, None),
    };
    let entry = entry.clone();
    let session = asked.library.open(&entry)?;
    Ok(Subject { entry, session, cursors, place })
}
