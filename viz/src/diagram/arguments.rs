//! Fields of the arguments of a call, of which a trace keeps the beginning: JSON that may break off anywhere.

/// Returns a field that is a string, as far as it is there. A field of an inner object counts too: what is looked for is in
/// the first place where a call has it.
pub(super) fn text_field(json: &str, name: &str) -> Option<String> {
    let value = value_of(json, name)?.strip_prefix('"')?;
    let mut end = value.len();
    let mut is_escaped = false;
    for (at, byte) in value.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => {
                end = at;
                break;
            }
            _ => {}
        }
    }
    let text = &value[..end];
    let whole = serde_json::from_str(&format!("\"{text}\"")).ok();
    // What breaks off may do so within an escape.
    whole.or_else(|| Some(text.replace("\\n", " ").replace('\\', "")))
}

/// Returns a field that is a whole number.
pub(super) fn number_field(json: &str, name: &str) -> Option<u64> {
    let value = value_of(json, name)?;
    let end = value.find(|c: char| !c.is_ascii_digit())?;
    value[..end].parse().ok()
}

/// Returns what follows the name of a field and its colon.
fn value_of<'a>(json: &'a str, name: &str) -> Option<&'a str> {
    let quoted = format!("\"{name}\"");
    let after = &json[json.find(&quoted)? + quoted.len()..];
    Some(after.trim_start().strip_prefix(':')?.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_whole_and_torn_objects() {
        let whole = r#"{"target": "docs", "message":"say \"hi\"\nthere", "timeout_ms":60000}"#;
        assert_eq!(text_field(whole, "message").as_deref(), Some("say \"hi\"\nthere"));
        assert_eq!(text_field(whole, "target").as_deref(), Some("docs"));
        assert_eq!(number_field(whole, "timeout_ms"), Some(60_000));
        assert_eq!(text_field(whole, "task_name"), None);
        assert_eq!(number_field(whole, "target"), None);
        let torn = r#"{"message":"say \"hi\\"#;
        for end in 0..=torn.len() {
            let _ = text_field(&torn[..end], "message");
        }
        assert_eq!(text_field(r#"{"message":"say \"hi\u00"#, "message").as_deref(), Some("say \"hiu00"));
    }
}
