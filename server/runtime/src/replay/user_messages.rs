//! Finds the messages of the user in a request, and items that are not context of the program.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::turn::ASK_FOR_SUMMARY;

/// Types of items with which other programs send settings to the provider.
const NOTES: [&str; 2] = ["additional_tools", "compaction_trigger"];

/// Returns whether an item belongs to the conversation, and is not context that a program adds.
pub(super) fn is_said(item: &Value) -> bool {
    let role = item.get("role").and_then(Value::as_str);
    match item.get("type").and_then(Value::as_str) {
        Some("message") => role == Some("assistant") || (role == Some("user") && is_by_user(item)),
        Some("reasoning") => false,
        Some(kind) if NOTES.contains(&kind) => false,
        _ => true,
    }
}

/// Returns whether a message comes from the user, and is not a note of a program in the role of the user.
pub(super) fn is_by_user(item: &Value) -> bool {
    if item.get("type").and_then(Value::as_str) != Some("message")
        || item.get("role").and_then(Value::as_str) != Some("user")
    {
        return false;
    }
    let texts = texts(item);
    let first = texts.first().map(|text| text.trim()).unwrap_or_default();
    !first.starts_with("# AGENTS.md instructions") && !is_enclosed(first)
}

/// Returns the texts of a message.
pub(super) fn texts(item: &Value) -> Vec<&str> {
    match item.get("content") {
        // The short form for a single part.
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(parts)) => parts.iter().filter_map(|part| part.get("text")?.as_str()).collect(),
        _ => Vec::new(),
    }
}

/// Returns whether a text is enclosed in `<name>` and `</name>`, as notes of programs are.
fn is_enclosed(text: &str) -> bool {
    let Some((name, _)) = text.strip_prefix('<').and_then(|rest| rest.split_once('>')) else { return false };
    let is_name = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    is_name(name)
        && text.strip_suffix('>').and_then(|rest| rest.strip_suffix(name)).is_some_and(|rest| rest.ends_with("</"))
}

/// Returns the indexes of the messages of the user that a request has and earlier requests did not have.
pub(super) fn new_messages(earlier: &[Value], request: &Value) -> Vec<usize> {
    new_between_stops(earlier, request).concat()
}

/// Returns the indexes of the messages of the user that a request has and earlier requests did not have, divided at each
/// new note about an interrupted turn. The last group follows all such notes.
pub(super) fn new_between_stops(earlier: &[Value], request: &Value) -> Vec<Vec<usize>> {
    let counts = |item: &&Value| is_by_user(item) || is_stop(item);
    let key = |item: &Value| json!([item.get("content")]).to_string();
    let mut known: HashMap<String, usize> = HashMap::new();
    for earlier in earlier {
        let mut counted: HashMap<String, usize> = HashMap::new();
        for item in items(earlier).iter().filter(counts) {
            *counted.entry(key(item)).or_default() += 1;
        }
        for (key, count) in counted {
            let most = known.entry(key).or_default();
            *most = count.max(*most);
        }
    }
    // Without an earlier request only messages after the last item of the model are new.
    let begin = if earlier.is_empty() { carried(request) } else { 0 };
    let mut new = vec![Vec::new()];
    for (place, item) in items(request).iter().enumerate().skip(begin).filter(|(_, item)| counts(item)) {
        match known.get_mut(&key(item)) {
            Some(count) if *count > 0 => *count -= 1,
            _ if is_stop(item) => new.push(Vec::new()),
            _ if is_question(item) => {}
            _ => new.last_mut().expect("it has one from the beginning").push(place),
        }
    }
    new
}

/// Returns the number of items in a request that come from an earlier session: all up to the last one that is not a message
/// of the user.
pub(super) fn carried(request: &Value) -> usize {
    let is_earlier = |item: &Value| match item.get("type").and_then(Value::as_str) {
        Some("message") => item.get("role").is_some_and(|role| role == "assistant") || is_stop(item),
        Some(kind) => !NOTES.contains(&kind),
        None => false,
    };
    items(request).iter().rposition(is_earlier).map_or(0, |last| last + 1)
}

/// Returns whether an item is the runtime's request for a summary, which has the role of the user.
pub(super) fn is_question(item: &Value) -> bool {
    texts(item).first() == Some(&ASK_FOR_SUMMARY)
}

/// Returns whether a request asks for a summary with the text of the runtime.
pub(super) fn asks_for_summary(request: &Value) -> bool {
    items(request).last().is_some_and(is_question)
}

/// Returns whether an item is the note that a turn was interrupted.
fn is_stop(item: &Value) -> bool {
    texts(item).first().is_some_and(|text| text.starts_with("<turn_aborted>"))
}

/// Returns the items of a request.
pub(super) fn items(body: &Value) -> &[Value] {
    body.get("input").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(role: &str, text: &str) -> Value {
        json!({ "type": "message", "role": role, "content": [{ "type": "input_text", "text": text }] })
    }

    #[test]
    fn notes_of_programs_are_not_what_the_user_said() {
        for note in ["<turn_aborted>\nx\n</turn_aborted>", "<a_b>x</a_b>\n", "# AGENTS.md instructions for /x\n..."] {
            assert!(!is_by_user(&message("user", note)), "{note}");
        }
        for said in ["hello", "<b>x</b> is bold", "<>", "<a>", "", "<B>x</B>"] {
            assert!(is_by_user(&message("user", said)), "{said}");
        }
        assert!(!is_by_user(&message("assistant", "hello")));
    }

    #[test]
    fn what_is_said_twice_is_new_twice() {
        let body =
            |texts: &[&str]| json!({ "input": texts.iter().map(|text| message("user", text)).collect::<Vec<_>>() });
        let earlier = [body(&["go on", "a"])];
        assert_eq!(new_messages(&earlier, &body(&["go on", "a", "go on", "b"])), [2, 3]);
        assert_eq!(new_messages(&[], &body(&["a"])), [0]);
        assert!(new_messages(&earlier, &body(&["a"])).is_empty());
    }

    #[test]
    fn what_was_said_before_a_stop_stands_apart() {
        let stop = message("developer", "<turn_aborted>\nx\n</turn_aborted>");
        let said = |text: &str| message("user", text);
        let earlier = json!({ "input": [said("a"), stop] });
        let request = json!({ "input": [said("a"), stop, said("b"), said("c"), stop, stop, said("d")] });
        assert_eq!(new_between_stops(&[earlier], &request), [vec![2, 3], vec![], vec![6]]);
    }

    #[test]
    fn what_only_a_longer_history_had_is_not_new() {
        let body =
            |texts: &[&str]| json!({ "input": texts.iter().map(|text| message("user", text)).collect::<Vec<_>>() });
        assert_eq!(new_messages(&[body(&["a", "b"]), body(&["b"])], &body(&["a", "b", "c"])), [2]);
    }

    #[test]
    fn a_resumed_session_carries_what_it_had() {
        let request = |last: &[Value]| {
            let mut items =
                vec![json!({ "type": "additional_tools" }), message("user", "a"), message("assistant", "b")];
            items.extend_from_slice(last);
            json!({ "input": items })
        };
        let resumed = request(&[message("user", "c")]);
        assert_eq!((carried(&resumed), new_messages(&[], &resumed)), (3, vec![3]));
        let fresh = json!({ "input": [json!({ "type": "additional_tools" }), message("user", "a")] });
        assert_eq!((carried(&fresh), new_messages(&[], &fresh)), (0, vec![1]));
    }
}
