//! The interface of the parsers for answers.

use std::collections::VecDeque;
use std::fmt;

use crate::provider::{ModelEvent, ProviderError};

/// Parses the events of one answer.
pub(super) trait Reader: Send + Sync + fmt::Debug {
    /// Parses an event and appends its meaning to `heard`. `name` is the event name in the stream. What was appended before
    /// an error remains valid.
    ///
    /// # Errors
    ///
    /// Returns an error if the event reports a failure or is malformed.
    fn read(&mut self, name: Option<&str>, data: &str, heard: &mut VecDeque<ModelEvent>) -> Result<(), ProviderError>;

    /// Handles the end of the stream: appends the end of the answer to `heard` if only the final event is missing.
    fn end(&mut self, heard: &mut VecDeque<ModelEvent>);

    /// Returns the name of the event that ends an answer, for messages.
    fn last_event(&self) -> &'static str;

    /// Returns the provider's id of the request.
    fn request_id(&self) -> Option<String>;
}
