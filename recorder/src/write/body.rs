//! The content of a payload, as a caller passes it to the recorder.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde::Serialize;

const PANICKED: &str = "its serialization panicked";

/// The content of a payload on its way to its file: one JSON document.
pub struct Body(Form);

enum Form {
    Owned(Vec<u8>),
    Shared(Arc<[u8]>),
    Pieces { bytes: usize, pieces: Vec<Piece> },
    Later { bytes: usize, serialize: Box<dyn FnOnce() -> Result<Vec<u8>, String> + Send> },
    Failed(String),
}

impl Body {
    /// Returns the size of the document. If it is not serialized yet, returns the caller's estimate.
    pub(crate) fn bytes(&self) -> usize {
        match &self.0 {
            Form::Owned(text) => text.len(),
            Form::Shared(text) => text.len(),
            Form::Pieces { bytes, .. } | Form::Later { bytes, .. } => *bytes,
            Form::Failed(_) => 0,
        }
    }

    /// Returns the document as pieces if it has any, and as one text otherwise.
    ///
    /// # Errors
    ///
    /// Returns the reason why the value has no JSON form.
    pub(crate) fn into_pieces(self) -> Result<Pieces, String> {
        match self.0 {
            Form::Pieces { pieces, .. } => Ok(Pieces::Many(pieces)),
            form => Self(form).into_text().map(Pieces::One),
        }
    }

    /// Returns the document. Serializes it if necessary.
    ///
    /// # Errors
    ///
    /// Returns the reason why the value has no JSON form.
    pub(crate) fn into_text(self) -> Result<Text, String> {
        match self.0 {
            Form::Owned(text) => Ok(Text::Owned(text)),
            Form::Shared(text) => Ok(Text::Shared(text)),
            Form::Pieces { bytes, pieces } => Ok(Text::Owned(joined(bytes, &pieces))),
            Form::Later { serialize, .. } => {
                catch_unwind(AssertUnwindSafe(serialize)).unwrap_or_else(|_| Err(PANICKED.to_owned())).map(Text::Owned)
            }
            Form::Failed(reason) => Err(reason),
        }
    }

    /// Returns the document if it is serialized already.
    pub(crate) fn into_text_at_once(self) -> Option<Text> {
        match self.0 {
            Form::Owned(text) => Some(Text::Owned(text)),
            Form::Shared(text) => Some(Text::Shared(text)),
            Form::Pieces { bytes, pieces } => Some(Text::Owned(joined(bytes, &pieces))),
            Form::Later { .. } | Form::Failed(_) => None,
        }
    }

    pub(crate) fn owned(text: Vec<u8>) -> Self {
        Self(Form::Owned(text))
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body").field("bytes", &self.bytes()).finish_non_exhaustive()
    }
}

/// A document, as its writer needs it.
#[derive(Debug)]
pub(crate) enum Pieces {
    One(Text),
    Many(Vec<Piece>),
}

impl Pieces {
    /// Returns the size of the document.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::One(text) => text.as_ref().len(),
            Self::Many(pieces) => pieces.iter().map(|piece| piece.as_ref().len()).sum(),
        }
    }

    /// Returns how many runs of a growing bundle the document may need: a piece may be stored twice, by itself and anew.
    pub(crate) fn most_runs(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Many(pieces) => 2 * pieces.len() + 1,
        }
    }

    /// Returns the document as one text.
    pub(crate) fn into_text(self) -> Text {
        match self {
            Self::One(text) => text,
            Self::Many(pieces) => Text::Owned(joined(pieces.iter().map(|piece| piece.as_ref().len()).sum(), &pieces)),
        }
    }
}

/// The bytes of a document.
#[derive(Debug)]
pub(crate) enum Text {
    Owned(Vec<u8>),
    Shared(Arc<[u8]>),
}

impl AsRef<[u8]> for Text {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Owned(text) => text,
            Self::Shared(text) => text,
        }
    }
}

/// A value that can be recorded as the content of a payload. A disabled handle never calls [`into_body`](Self::into_body).
pub trait IntoBody {
    /// Converts the value to the content of a payload.
    fn into_body(self) -> Body;
}

impl IntoBody for Body {
    fn into_body(self) -> Body {
        self
    }
}

/// A value that is serialized immediately on the thread of the caller. Meant for small values.
#[derive(Debug, Clone, Copy)]
pub struct Json<'a, T: ?Sized>(pub &'a T);

impl<T: Serialize + ?Sized> IntoBody for Json<'_, T> {
    fn into_body(self) -> Body {
        // The `Serialize` code of a value may panic. That must not end the session.
        match catch_unwind(AssertUnwindSafe(|| serde_json::to_vec(self.0))) {
            Ok(Ok(text)) => Body::owned(text),
            Ok(Err(error)) => Body(Form::Failed(error.to_string())),
            Err(_) => Body(Form::Failed(PANICKED.to_owned())),
        }
    }
}

/// A JSON document that the caller has as bytes, such as the request that it sends to a model provider. The recorder does
/// not check the bytes. If they are not JSON, the bundle cannot be reduced.
#[derive(Debug, Clone)]
pub struct RawJson(pub Vec<u8>);

impl IntoBody for RawJson {
    fn into_body(self) -> Body {
        Body::owned(self.0)
    }
}

/// Like [`RawJson`], but the bytes are shared. Nothing is copied on the thread of the caller.
#[derive(Debug, Clone)]
pub struct SharedJson(pub Arc<[u8]>);

impl IntoBody for SharedJson {
    fn into_body(self) -> Body {
        Body(Form::Shared(self.0))
    }
}

/// A part of a JSON document.
#[derive(Debug, Clone)]
pub struct Piece {
    text: Arc<[u8]>,
    start: usize,
    is_shared: bool,
}

impl Piece {
    /// Returns the part of a text behind its first `start` bytes, for a text that later documents have as well, such as an item
    /// of a conversation. The part is empty if the text has no more bytes.
    pub fn shared(text: Arc<[u8]>, start: usize) -> Self {
        let start = start.min(text.len());
        Self { text, start, is_shared: true }
    }

    /// Returns a text that is made for one document, even if it equals that of another one.
    pub fn single(text: Arc<[u8]>) -> Self {
        Self { text, start: 0, is_shared: false }
    }

    /// Returns whether later documents may have the same text, not only an equal one.
    #[inline]
    pub(crate) fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Returns where the piece is in memory. While it is held, no other piece of at least one byte is there.
    #[inline]
    pub(crate) fn address(&self) -> usize {
        self.as_ref().as_ptr() as usize
    }
}

impl AsRef<[u8]> for Piece {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        &self.text[self.start..]
    }
}

/// Like [`SharedJson`], but the document consists of pieces. So a request that repeats a conversation costs its caller one
/// pointer per item, and costs a recorder that writes a growing bundle no more than what is new.
#[derive(Debug, Clone)]
pub struct JoinedJson(pub Vec<Piece>);

impl IntoBody for JoinedJson {
    fn into_body(self) -> Body {
        let bytes = self.0.iter().map(|piece| piece.as_ref().len()).sum();
        Body(Form::Pieces { bytes, pieces: self.0 })
    }
}

fn joined(bytes: usize, pieces: &[Piece]) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes);
    pieces.iter().for_each(|piece| text.extend_from_slice(piece.as_ref()));
    text
}

/// A value that the writer's thread serializes. Meant for large values that the caller can give away.
#[derive(Debug, Clone)]
pub struct Later<T> {
    /// The value to serialize.
    pub value: T,
    /// Estimated number of bytes of its JSON, which the limits of the queue use. If the estimate is at most
    /// [`SMALL_BODY_BYTES`](super::SMALL_BODY_BYTES), the value is dropped only when there is hardly room for events.
    pub bytes: usize,
}

impl<T: Serialize + Send + 'static> IntoBody for Later<T> {
    fn into_body(self) -> Body {
        let serialize = move || serde_json::to_vec(&self.value).map_err(|error| error.to_string());
        Body(Form::Later { bytes: self.bytes, serialize: Box::new(serialize) })
    }
}

/// No content, for calls with an optional payload.
pub const NO_BODY: Option<RawJson> = None;
