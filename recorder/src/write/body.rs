//! What a caller hands over as the body of a payload.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde::Serialize;

const PANICKED: &str = "its serialization panicked";

/// A payload body on its way to its file: one JSON document.
pub struct Body(Form);

enum Form {
    Owned(Vec<u8>),
    Shared(Arc<[u8]>),
    Later { bytes: usize, serialize: Box<dyn FnOnce() -> Result<Vec<u8>, String> + Send> },
    Failed(String),
}

impl Body {
    /// Returns the size of the document, or what was said about it beforehand.
    pub(crate) fn bytes(&self) -> usize {
        match &self.0 {
            Form::Owned(text) => text.len(),
            Form::Shared(text) => text.len(),
            Form::Later { bytes, .. } => *bytes,
            Form::Failed(_) => 0,
        }
    }

    /// Makes the document, if that was not done yet.
    ///
    /// # Errors
    ///
    /// Returns why the value has no JSON form.
    pub(crate) fn into_text(self) -> Result<Text, String> {
        match self.0 {
            Form::Owned(text) => Ok(Text::Owned(text)),
            Form::Shared(text) => Ok(Text::Shared(text)),
            Form::Later { serialize, .. } => {
                catch_unwind(AssertUnwindSafe(serialize)).unwrap_or_else(|_| Err(PANICKED.to_owned())).map(Text::Owned)
            }
            Form::Failed(reason) => Err(reason),
        }
    }

    /// Returns the document if it is there already.
    pub(crate) fn into_text_at_once(self) -> Option<Text> {
        match self.0 {
            Form::Owned(text) => Some(Text::Owned(text)),
            Form::Shared(text) => Some(Text::Shared(text)),
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

/// The bytes of a document.
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

/// Something that can be recorded as a payload. A disabled handle never asks for the body.
pub trait IntoBody {
    /// Makes the body.
    fn into_body(self) -> Body;
}

impl IntoBody for Body {
    fn into_body(self) -> Body {
        self
    }
}

/// A value that is serialized at once, on the thread of the caller. For small values.
#[derive(Debug, Clone, Copy)]
pub struct Json<'a, T: ?Sized>(pub &'a T);

impl<T: Serialize + ?Sized> IntoBody for Json<'_, T> {
    fn into_body(self) -> Body {
        // A value's own code may panic, and must not take the session with it.
        match catch_unwind(AssertUnwindSafe(|| serde_json::to_vec(self.0))) {
            Ok(Ok(text)) => Body::owned(text),
            Ok(Err(error)) => Body(Form::Failed(error.to_string())),
            Err(_) => Body(Form::Failed(PANICKED.to_owned())),
        }
    }
}

/// A JSON document that the caller has as bytes already, such as the request that it sends to a model provider. Nothing
/// looks at the bytes: whoever hands over something else makes a bundle that does not reduce.
#[derive(Debug, Clone)]
pub struct RawJson(pub Vec<u8>);

impl IntoBody for RawJson {
    fn into_body(self) -> Body {
        Body::owned(self.0)
    }
}

/// A JSON document that the caller shares, as [`RawJson`] otherwise. Nothing is copied on the caller's thread.
#[derive(Debug, Clone)]
pub struct SharedJson(pub Arc<[u8]>);

impl IntoBody for SharedJson {
    fn into_body(self) -> Body {
        Body(Form::Shared(self.0))
    }
}

/// A value that the writer's thread serializes. For large values that the caller can give away.
#[derive(Debug, Clone)]
pub struct Later<T> {
    /// The value.
    pub value: T,
    /// About how many bytes of JSON it is; the queue counts with them. What is told too small is never dropped.
    pub bytes: usize,
}

impl<T: Serialize + Send + 'static> IntoBody for Later<T> {
    fn into_body(self) -> Body {
        let serialize = move || serde_json::to_vec(&self.value).map_err(|error| error.to_string());
        Body(Form::Later { bytes: self.bytes, serialize: Box::new(serialize) })
    }
}

/// No body, where there may be one.
pub const NO_BODY: Option<RawJson> = None;
