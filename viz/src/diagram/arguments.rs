//! Finds fields in the arguments of a call. A trace keeps only the beginning of the arguments, so the JSON may end
//! anywhere.

/// Returns the first field with this name whose value is a string, up to the point where the JSON ends. Fields of inner
/// objects count too.
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
    // The text may end within an escape, which is not valid JSON.
    whole.or_else(|| Some(text.replace("\\n", " ").replace('\\', "")))
}

/// Returns the first field with this name whose value is a whole number. `None` if the JSON may end within the number.
pub(super) fn number_field(json: &str, name: &str) -> Option<u64> {
    let value = value_of(json, name)?;
    let end = value.find(|c: char| !c.is_ascii_digit())?;
    value[..end].parse().ok()
}

/// Returns the text after the name of a field and its colon.
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
