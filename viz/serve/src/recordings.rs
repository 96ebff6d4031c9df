//! The recordings that a web client can open, each with a thread that owns its session.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Response};
use trace_explain::Session;

use crate::keeper::{Keeper, Newer};
use crate::routes::Asked;

/// Most recordings that are kept in memory. The one that was asked for longest ago is given up first.
pub const MAX_KEPT_RECORDINGS: usize = 4;

/// Most characters of the id of a thread.
pub(crate) const MAX_ID_CHARS: usize = 64;

/// A recording that was opened.
pub struct Opened {
    /// The session.
    pub session: Session,
    /// Looks for a newer state of a session that is still written.
    pub newer: Option<Newer>,
    /// The name that its page displays.
    pub name: String,
}

/// Returns the bundle of a thread, if it was recorded.
pub type Locate = dyn Fn(&str) -> Option<PathBuf> + Send + Sync;

/// Opens a bundle. The error is a text for people.
pub type OpenRecording = dyn Fn(&Path) -> Result<Opened, String> + Send + Sync;

/// Finds and opens recordings. Both functions read files.
pub struct RecordingSource {
    /// Returns the bundle of a thread, if it was recorded.
    pub locate: Box<Locate>,
    /// Opens a bundle. The error is a text for people.
    pub open: Box<OpenRecording>,
}

/// The recordings of a server. Clones share them.
#[derive(Clone)]
pub(crate) struct Recordings(Arc<Shared>);

struct Shared {
    source: RecordingSource,
    max_id_chars: usize,
    /// Those in memory, the one that was asked for last at the end.
    kept: Mutex<Vec<KeptRecording>>,
}

struct KeptRecording {
    thread: String,
    bundle: PathBuf,
    keeper: Keeper,
}

/// Why there is no keeper for a recording.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotKept {
    #[error("there is no such recording, or it has been deleted")]
    NotRecorded,
    #[error("the recording cannot be opened: {0}")]
    Unreadable(String),
    #[error("no thread can be started")]
    Thread(#[source] std::io::Error),
}

impl Recordings {
    /// Makes recordings with ids of at most `max_id_chars` characters.
    pub(crate) fn new(source: RecordingSource, max_id_chars: usize) -> Self {
        Self(Arc::new(Shared { source, max_id_chars, kept: Mutex::default() }))
    }

    /// Returns the keeper of a thread's recording. A page that is loaded gets the newest bundle of the thread; requests of
    /// a page that is open get the one that it was loaded with.
    fn keeper(&self, thread: &str, is_loading: bool) -> Result<Keeper, NotKept> {
        let Shared { source, kept, .. } = &*self.0;
        // One recording is opened at a time. Two pages that ask for the same one do not open it twice.
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.iter().position(|known| known.thread == thread).map(|place| kept.remove(place));
        let known = match known {
            Some(known) if !is_loading => Some(known),
            Some(known) => (source.locate)(thread).is_some_and(|bundle| bundle == known.bundle).then_some(known),
            None => None,
        };
        let recording = match known {
            Some(known) => known,
            None => {
                let bundle = (source.locate)(thread).ok_or(NotKept::NotRecorded)?;
                let Opened { session, newer, name } = (source.open)(&bundle).map_err(NotKept::Unreadable)?;
                let keeper = Keeper::start(session, &name, newer).map_err(NotKept::Thread)?;
                KeptRecording { thread: thread.to_owned(), bundle, keeper }
            }
        };
        let keeper = recording.keeper.clone();
        if kept.len() >= MAX_KEPT_RECORDINGS {
            kept.remove(0);
        }
        kept.push(recording);
        Ok(keeper)
    }
}

impl FromRequestParts<Recordings> for Asked {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, recordings: &Recordings) -> Result<Self, Response> {
        let not_found = |why: &str| (StatusCode::NOT_FOUND, format!("{why}\n")).into_response();
        let params = RawPathParams::from_request_parts(parts, &()).await.map_err(|_| not_found("no such recording"))?;
        let thread = params.iter().find(|(name, _)| *name == "thread").map(|(_, thread)| thread.to_owned());
        let is_id = |thread: &String| is_id(thread, recordings.0.max_id_chars);
        let thread = thread.filter(is_id).ok_or_else(|| not_found("this is not the id of a recording"))?;
        let is_loading = parts.uri.path().ends_with("/structure.json");
        let recordings = recordings.clone();
        let found = tokio::task::spawn_blocking(move || recordings.keeper(&thread, is_loading)).await;
        let broken = |why: String| (StatusCode::INTERNAL_SERVER_ERROR, format!("{why}\n")).into_response();
        match found {
            Ok(Ok(keeper)) => Ok(Self(keeper)),
            Ok(Err(why @ NotKept::NotRecorded)) => Err(not_found(&why.to_string())),
            Ok(Err(why)) => Err(broken(why.to_string())),
            Err(error) => Err(broken(error.to_string())),
        }
    }
}

fn is_id(text: &str, max_chars: usize) -> bool {
    (1..=max_chars).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn few_recordings_are_kept_and_a_page_gets_the_newest_bundle() {
        let folder = tempfile::tempdir().expect("a folder");
        let bundle = folder.path().join("bundle");
        trace_samples::scenes::one_agent(&bundle).expect("a sample");
        let (opened, resumed) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (count, again) = (Arc::clone(&opened), Arc::clone(&resumed));
        let recordings = Recordings::new(
            RecordingSource {
                locate: Box::new(move |thread| {
                    (thread != "nobody").then(|| PathBuf::from(format!("{thread}-{}", again.load(Ordering::SeqCst))))
                }),
                open: Box::new(move |_| {
                    count.fetch_add(1, Ordering::SeqCst);
                    let session = Session::open(&bundle).map_err(|error| error.to_string())?;
                    Ok(Opened { session, newer: None, name: "a session".to_owned() })
                }),
            },
            MAX_ID_CHARS,
        );
        let opened = || opened.load(Ordering::SeqCst);
        recordings.keeper("a", true).expect("kept");
        recordings.keeper("a", true).expect("kept");
        recordings.keeper("a", false).expect("kept");
        assert_eq!(opened(), 1);
        resumed.store(1, Ordering::SeqCst);
        recordings.keeper("a", false).expect("kept");
        assert_eq!(opened(), 1, "an open page stays with its bundle");
        recordings.keeper("a", true).expect("kept");
        assert_eq!(opened(), 2, "a page that is loaded gets the newest");
        for thread in ["b", "c", "d", "e"] {
            recordings.keeper(thread, true).expect("kept");
        }
        assert_eq!(recordings.0.kept.lock().expect("not poisoned").len(), MAX_KEPT_RECORDINGS);
        recordings.keeper("a", false).expect("opened again");
        assert_eq!(opened(), 7);
        assert!(matches!(recordings.keeper("nobody", true), Err(NotKept::NotRecorded)));
    }

    #[test]
    fn an_id_is_no_path() {
        assert!(is_id("01a20318-87a5-7cf2-837d-ab52196df384", MAX_ID_CHARS));
        for other in ["", "..", "a/b", "a%2fb", "a b", &"a".repeat(MAX_ID_CHARS + 1)] {
            assert!(!is_id(other, MAX_ID_CHARS), "{other}");
        }
    }
}
