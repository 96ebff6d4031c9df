//! Events of the client protocol that are of interest to a user.

use serde_json::Value;
use trace_recorder::payloads::PayloadFiles;

use super::happening::{Event, cut};

/// Size in bytes of the largest payload of a protocol event that is read. Messages to users have a few kilobytes.
pub const MAX_PROTOCOL_BYTES: usize = 1 << 20;

/// What an event of the client protocol reports.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) event: Event,
    /// Id of the turn in the event.
    pub(super) turn_id: Option<String>,
    pub(super) detail: Option<String>,
}

/// Reads an event of the client protocol. Returns `None` if it is of no interest to a user. An unreadable payload only
/// leaves out the details here; it is reported as damage elsewhere.
pub(super) fn read(event_type: &str, path: &str, payloads: &PayloadFiles) -> Option<Said> {
    let event = kind_of(event_type)?;
    let mut bytes = Vec::new();
    let readable = payloads.read(path, &mut bytes).is_ok() && bytes.len() <= MAX_PROTOCOL_BYTES;
    let value: Value = if readable { serde_json::from_slice(&bytes).unwrap_or(Value::Null) } else { Value::Null };
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    let command = || {
        let words: Vec<&str> = value.get("command")?.as_array()?.iter().filter_map(Value::as_str).collect();
        Some(words.join(" "))
    };
    let detail = match event {
        Event::ApprovalRequested => {
            let what = command().or_else(|| text("message").map(str::to_owned));
            let reason = text("reason").map(str::to_owned);
            let said: Vec<String> = [what, reason].into_iter().flatten().collect();
            (!said.is_empty()).then(|| said.join(": "))
        }
        Event::Interrupted => text("reason").map(str::to_owned),
        _ => text("message").or_else(|| text("reason")).map(str::to_owned),
    };
    Some(Said { event, turn_id: text("turn_id").map(str::to_owned), detail: detail.map(|detail| cut(&detail)) })
}

/// Returns the kind of happening for a type of event.
fn kind_of(event_type: &str) -> Option<Event> {
    match event_type {
        "error" | "stream_error" => Some(Event::Error),
        "warning" | "guardian_warning" => Some(Event::Warning),
        "turn_aborted" => Some(Event::Interrupted),
        "elicitation_request" | "request_user_input" | "request_permissions" => Some(Event::ApprovalRequested),
        other if other.ends_with("_approval_request") => Some(Event::ApprovalRequested),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matters_to_people_is_read() {
        let root = tempfile::tempdir().expect("a directory");
        let payloads = PayloadFiles::open(root.path()).expect("opens");
        let said = |event_type: &str, text: &str| {
            std::fs::write(root.path().join("1.json"), text).expect("writes");
            read(event_type, "1.json", &payloads).map(|said| (said.event, said.turn_id, said.detail))
        };
        let detail = |text: &str| Some(text.to_owned());
        assert_eq!(said("error", r#"{"message":"too many"}"#), Some((Event::Error, None, detail("too many"))));
        assert_eq!(
            said("exec_approval_request", r#"{"command":["rm","-r","x"],"reason":"outside","turn_id":"t"}"#),
            Some((Event::ApprovalRequested, detail("t"), detail("rm -r x: outside")))
        );
        assert_eq!(
            said("turn_aborted", r#"{"reason":"interrupted"}"#),
            Some((Event::Interrupted, None, detail("interrupted")))
        );
        assert_eq!(said("warning", "{"), Some((Event::Warning, None, None)));
        assert_eq!(said("turn_started", "{}"), None);
        let long = format!(r#"{{"message":"{}"}}"#, "x".repeat(MAX_PROTOCOL_BYTES));
        assert_eq!(said("error", &long), Some((Event::Error, None, None)));
    }
}
