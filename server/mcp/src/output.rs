//! What a model gets of the answer of a tool: what it can read, in bounds, and in numbers what was left out.

use std::time::Duration;

use serde_json::{Value, json};
use trace_runtime::tool::exec::DEFAULT_OUTPUT_TOKENS;
use trace_runtime::tool::exec::output::{BYTES_PER_TOKEN, Kept};

/// Most bytes of text of one answer that a model gets.
pub const MAX_TEXT_BYTES: usize = DEFAULT_OUTPUT_TOKENS * BYTES_PER_TOKEN;

/// Most bytes of pictures of one answer that a model gets, as they are written in base64.
pub const MAX_IMAGE_BYTES: usize = 8 * 1024 * 1024;

/// Returns what a model gets of an answer: one text for structured content, and else a part for each part.
pub(crate) fn output(result: &Value, wall: Duration) -> Value {
    let head = format!("Wall time: {:.4} seconds\nOutput:", wall.as_secs_f64());
    let structured = result.get("structuredContent").filter(|structured| !structured.is_null());
    if let Some(structured) = structured {
        let mut room = MAX_TEXT_BYTES;
        return Value::String(format!("{head}\n{}", within(&structured.to_string(), &mut room)));
    }
    let mut parts = vec![text_part(&head)];
    let (mut room, mut image_room) = (MAX_TEXT_BYTES, MAX_IMAGE_BYTES);
    let content = result.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut rest = content.iter();
    while let Some(part) = rest.next() {
        match image(part) {
            Some((kind, data)) if data.len() <= image_room => {
                image_room -= data.len();
                parts.push(json!({ "type": "input_image", "image_url": format!("data:{kind};base64,{data}") }));
            }
            Some((kind, data)) => parts.push(text_part(&format!("[a picture left out: {kind}, {} bytes]", data.len()))),
            None if room > 0 => parts.push(text_part(&within(&text(part), &mut room))),
            None => {
                let left_out = 1 + rest.len();
                parts.push(text_part(&format!("[... {left_out} more parts left out ...]")));
                break;
            }
        }
    }
    Value::Array(parts)
}

/// Returns what a model gets in the place of an answer.
pub(crate) fn failure(message: &str, wall: Duration) -> Value {
    let head = format!("Wall time: {:.4} seconds\nOutput:", wall.as_secs_f64());
    json!([text_part(&head), text_part(message)])
}

/// Returns a text within the bounds of what a model gets of one answer.
pub(crate) fn bounded(text: &str) -> String {
    within(text, &mut { MAX_TEXT_BYTES })
}

fn text_part(text: &str) -> Value {
    json!({ "type": "input_text", "text": text })
}

/// Returns the picture that a part is: its kind and its bytes in base64.
fn image(part: &Value) -> Option<(&str, &str)> {
    let member = |name: &str| part.get(name).and_then(Value::as_str);
    (member("type")? == "image").then_some(())?;
    // What stands in an address must not end it.
    let is_plain = |kind: &&str| kind.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/+.-".contains(&byte));
    Some((member("mimeType").filter(is_plain).unwrap_or("image/png"), member("data")?))
}

/// Returns a part as text: a text as it is, everything else as JSON.
fn text(part: &Value) -> String {
    match (part["type"].as_str(), part["text"].as_str()) {
        (Some("text"), Some(text)) => text.to_owned(),
        _ => part.to_string(),
    }
}

/// Returns a text within what room there is, and takes what it needs. A text that does not fit loses its middle.
fn within(text: &str, room: &mut usize) -> String {
    let limit = *room;
    if text.len() <= limit {
        *room -= text.len();
        return text.to_owned();
    }
    *room = 0;
    let mut kept = Kept::new(limit, limit);
    kept.push(text);
    let excerpt = kept.within(limit);
    format!(
        "[{} lines, {} tokens; the middle is cut out]\n{}\n[... {} tokens left out ...]\n{}",
        kept.total_lines(),
        kept.total_tokens(),
        excerpt.head,
        excerpt.left_out.div_ceil(BYTES_PER_TOKEN as u64),
        excerpt.tail
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(content: &Value) -> Vec<String> {
        let output = output(&json!({ "content": content }), Duration::from_micros(5_040));
        let parts = output.as_array().expect("parts").iter();
        parts.map(|part| part["text"].as_str().or(part["image_url"].as_str()).expect("a part").to_owned()).collect()
    }

    #[test]
    fn parts_are_told_one_by_one() {
        let content = json!([
            { "type": "text", "text": "hello" },
            { "type": "image", "mimeType": "image/jpeg", "data": "AAAA" },
            { "type": "image", "mimeType": "image/png\",x", "data": "BBBB" },
            { "type": "resource_link", "uri": "a:b", "name": "n" },
        ]);
        let expected = [
            "Wall time: 0.0050 seconds\nOutput:",
            "hello",
            "data:image/jpeg;base64,AAAA",
            "data:image/png;base64,BBBB",
            "{\"type\":\"resource_link\",\"uri\":\"a:b\",\"name\":\"n\"}",
        ];
        let shown = shown(&content);
        // The order of members follows from how the whole program is built.
        assert_eq!(shown[..4], expected[..4]);
        assert_eq!(serde_json::from_str::<Value>(&shown[4]).expect("JSON"), content[3]);
    }

    #[test]
    fn structured_content_takes_the_place_of_parts() {
        let result = json!({ "content": [{ "type": "text", "text": "x" }], "structuredContent": { "a": 1 } });
        assert_eq!(output(&result, Duration::ZERO), json!("Wall time: 0.0000 seconds\nOutput:\n{\"a\":1}"));
        let result = json!({ "structuredContent": null });
        assert_eq!(output(&result, Duration::ZERO).as_array().map(Vec::len), Some(1));
    }

    #[test]
    fn what_is_left_out_is_told_in_numbers() {
        let long = "é\n".repeat(MAX_TEXT_BYTES / 2);
        let text = |text: &str| json!({ "type": "text", "text": text });
        let shown = shown(&json!([text("first"), text(&long), text("third"), text("fourth")]));
        assert_eq!(shown[1], "first");
        assert_eq!(shown[3], "[... 2 more parts left out ...]");
        let tokens = (long.len()).div_ceil(BYTES_PER_TOKEN);
        let head = format!("[{} lines, {tokens} tokens; the middle is cut out]\né\n", MAX_TEXT_BYTES / 2);
        assert!(shown[2].starts_with(&head) && shown[2].ends_with("é\n"), "{}", &shown[2][..80]);
        assert!(shown[2].contains(" tokens left out ...]\n") && shown[2].len() < MAX_TEXT_BYTES + 200);
        let big = "A".repeat(MAX_IMAGE_BYTES / 2 + 1);
        let image = json!({ "type": "image", "mimeType": "image/png", "data": big });
        let shown = self::shown(&json!([image, image]));
        assert!(shown[1].starts_with("data:image/png;base64,AAAA"));
        assert_eq!(shown[2], format!("[a picture left out: image/png, {} bytes]", big.len()));
    }
}
