//! Converts the input of users.

use std::path::PathBuf;

use serde_json::Value;
use trace_protocol::item::{ImageDetail, MediaSource, UserInput};
use trace_runtime::item::Input;

/// Most characters of text in one input, counted over all its parts.
pub(crate) const MAX_INPUT_CHARACTERS: usize = 1 << 20;

/// Returns how many characters of text an input has.
pub(crate) fn characters(input: &[UserInput]) -> usize {
    input
        .iter()
        .map(|part| match part {
            UserInput::Text { text, .. } => text.chars().count(),
            _ => 0,
        })
        .sum()
}

pub(crate) fn from_wire(input: &[UserInput]) -> Vec<Input> {
    input
        .iter()
        .map(|part| match part {
            UserInput::Text { text, text_elements } => Input::Text {
                text: text.clone(),
                elements: text_elements
                    .iter()
                    .map(|element| serde_json::to_value(element).unwrap_or(Value::Null))
                    .collect(),
            },
            UserInput::LocalImage { path, detail: closeness } => {
                Input::LocalImage { path: PathBuf::from(path), detail: detail(*closeness) }
            }
            UserInput::Image { source: MediaSource::Url { url }, detail: closeness } => {
                Input::Image { url: url.clone(), detail: detail(*closeness) }
            }
            UserInput::Skill { name, path } => Input::Skill { name: name.clone(), path: PathBuf::from(path) },
            UserInput::Mention { name, path } => Input::Mention { name: name.clone(), path: path.clone() },
            other => Input::Other(serde_json::to_value(other).unwrap_or(Value::Null)),
        })
        .collect()
}

/// Returns the word for the level of detail at which the model sees an image.
fn detail(detail: Option<ImageDetail>) -> Option<String> {
    Some(serde_json::to_value(detail?).ok()?.as_str()?.to_owned())
}
