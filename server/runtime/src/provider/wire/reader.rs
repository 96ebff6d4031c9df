//! What every wire's reader of answers does.

use std::collections::VecDeque;
use std::fmt;

use crate::provider::{ModelEvent, ProviderError};

/// Reads the events of one answer.
pub(super) trait Reader: Send + Sync + fmt::Debug {
    /// Reads an event and appends what it means to `heard`; `name` is what the stream calls it. What was heard before an
    /// error counts.
    ///
    /// # Errors
    ///
    /// When the event says that the answer failed, or is not what it must be.
    fn read(&mut self, name: Option<&str>, data: &str, heard: &mut VecDeque<ModelEvent>) -> Result<(), ProviderError>;

    /// Hears that nothing follows: appends the end of the answer to `heard` if everything but that was there.
    fn end(&mut self, heard: &mut VecDeque<ModelEvent>);

    /// Returns what ends an answer, for people.
    fn last_event(&self) -> &'static str;

    /// Returns the provider's id of the request.
    fn request_id(&self) -> Option<String>;
}
