//! Converts the result of a tool call for the model. Parts that a model can read are kept up to a limit, and the rest
//! is counted.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use trace_runtime::tool::exec::DEFAULT_OUTPUT_TOKENS;
use trace_runtime::tool::exec::output::{BYTES_PER_TOKEN, HeadAndTail};
use trace_runtime::tool::view_image::media_type;

/// Most bytes of text of one result that the model gets.
pub const MAX_TEXT_BYTES: usize = DEFAULT_OUTPUT_TOKENS * BYTES_PER_TOKEN;

/// Most bytes of images of one result that the model gets, in base64.
pub const MAX_IMAGE_BYTES: usize = 8 * 1024 * 1024;

/// Most parts of one result that the model gets.
pub const MAX_PARTS: usize = 256;

/// Most characters of the media type that a server names for an image.
const MAX_KIND_CHARS: usize = 60;

/// Converts a result. Structured content becomes one text; otherwise each part becomes a part.
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
    let mut rest = content.iter().filter(|part| !is_blank(part));
    while let Some(part) = rest.next() {
        match image(part) {
            _ if parts.len() > MAX_PARTS => {
                parts.push(left_out(1 + rest.count()));
                break;
            }
            Some((said, data)) if data.len() > image_room => {
                parts.push(text_part(&format!("[a picture left out: {said}, {} bytes]", data.len())));
            }
            Some((said, data)) => match kind(data) {
                Some(kind) => {
                    image_room -= data.len();
                    parts.push(json!({ "type": "input_image", "image_url": format!("data:{kind};base64,{data}") }));
                }
                None => {
                    parts.push(text_part(&format!(
                        "[a picture that cannot be shown: {said}, {} bytes, but no PNG, JPEG, GIF or WebP]",
                        data.len()
                    )));
                }
            },
            None if room > 0 => parts.push(text_part(&within(&text(part), &mut room))),
            None => {
                parts.push(left_out(1 + rest.count()));
                break;
            }
        }
    }
    Value::Array(parts)
}

/// Returns the output of a failed call.
pub(crate) fn failure(message: &str, wall: Duration) -> Value {
    let head = format!("Wall time: {:.4} seconds\nOutput:", wall.as_secs_f64());
    json!([text_part(&head), text_part(message)])
}

/// Cuts a text to the limit for one result.
pub(crate) fn bounded(text: &str) -> String {
    within(text, &mut { MAX_TEXT_BYTES })
}

fn text_part(text: &str) -> Value {
    json!({ "type": "input_text", "text": text })
}

fn left_out(parts: usize) -> Value {
    text_part(&format!("[... {parts} more parts left out ...]"))
}

/// Returns whether a part is empty. Some providers refuse empty parts.
fn is_blank(part: &Value) -> bool {
    part["type"] == "text" && part["text"].as_str().is_some_and(|text| text.trim().is_empty())
}

/// Returns the image in a part: the media type that the server names, and the bytes in base64.
fn image(part: &Value) -> Option<(String, &str)> {
    let member = |name: &str| part.get(name).and_then(Value::as_str);
    (member("type")? == "image").then_some(())?;
    let said = member("mimeType").unwrap_or("unknown").chars().filter(|letter| !letter.is_control());
    Some((said.take(MAX_KIND_CHARS).collect(), member("data")?))
}

/// Returns the real media type of an image, if models accept it. With any other image, the provider would refuse this
/// request and all later ones of the thread.
pub(crate) fn kind(data: &str) -> Option<&'static str> {
    media_type(&STANDARD.decode(data).ok()?)
}

/// Returns a part as text. A text stays as it is, and everything else is formatted as JSON.
fn text(part: &Value) -> String {
    match (part["type"].as_str(), part["text"].as_str()) {
        (Some("text"), Some(text)) => text.to_owned(),
        _ => part.to_string(),
    }
}

/// Cuts a text to the remaining `room`, and subtracts its length from it. A text that is too long loses its middle.
fn within(text: &str, room: &mut usize) -> String {
    let limit = *room;
    if text.len() <= limit {
        *room -= text.len();
        return text.to_owned();
    }
    *room = 0;
    let mut kept = HeadAndTail::new(limit, limit);
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
            { "type": "text", "text": " \n" },
            { "type": "image", "mimeType": "image/jpeg", "data": "R0lGODlh" },
            { "type": "image", "mimeType": "image/svg\n+xml", "data": "PHN2Zz4=" },
            { "type": "image", "data": "R0lGODlh\n" },
            { "type": "resource_link", "uri": "a:b", "name": "n" },
        ]);
        let expected = [
            "Wall time: 0.0050 seconds\nOutput:",
            "hello",
            "data:image/gif;base64,R0lGODlh",
            "[a picture that cannot be shown: image/svg+xml, 8 bytes, but no PNG, JPEG, GIF or WebP]",
            "[a picture that cannot be shown: unknown, 9 bytes, but no PNG, JPEG, GIF or WebP]",
            "{\"type\":\"resource_link\",\"uri\":\"a:b\",\"name\":\"n\"}",
        ];
        let shown = shown(&content);
        // The order of members depends on features of `serde_json` that other crates enable.
        assert_eq!(shown[..5], expected[..5]);
        assert_eq!(serde_json::from_str::<Value>(&shown[5]).expect("JSON"), content[5]);
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
        let big = "R0lGODlh".repeat(MAX_IMAGE_BYTES / 16 + 1);
        let image = json!({ "type": "image", "mimeType": "image/png", "data": big });
        let shown = self::shown(&json!([image, image]));
        assert!(shown[1].starts_with("data:image/gif;base64,R0lG"));
        assert_eq!(shown[2], format!("[a picture left out: image/png, {} bytes]", big.len()));
        let parts: Vec<Value> = (0..MAX_PARTS + 7).map(|number| text(&number.to_string())).collect();
        let shown = self::shown(&json!(parts));
        assert_eq!((shown.len(), shown[MAX_PARTS].as_str()), (MAX_PARTS + 2, "255"));
        assert_eq!(shown[MAX_PARTS + 1], "[... 7 more parts left out ...]");
    }
}
