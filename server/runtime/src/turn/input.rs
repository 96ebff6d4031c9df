//! Converts input of a user to the format of the Responses API.

use std::io::Read;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::item::Input;
use crate::tool::regular;

/// Size of the largest picture that is read from a file.
pub(crate) const MAX_IMAGE_BYTES: u64 = 20 << 20;

/// Returns the parts of a message. Pictures are read from files; a picture that cannot be read becomes a text that says so.
pub(crate) async fn parts(inputs: &[Input]) -> Vec<Value> {
    let mut parts = Vec::with_capacity(inputs.len());
    for input in inputs {
        parts.push(match input {
            Input::Text { text, .. } => text_part(text),
            Input::Image { url, detail } => image_part(url, detail.as_deref()),
            Input::LocalImage { path, detail } => match read_image(path).await {
                Ok(url) => image_part(&url, detail.as_deref()),
                Err(reason) => text_part(&format!("The picture {} cannot be read: {reason}", path.display())),
            },
            Input::Skill { name, path } => text_part(&format!("The skill `{name}`: {}", path.display())),
            Input::Mention { name, path } => text_part(&format!("`{name}` is {path}")),
            Input::Other(value) => {
                let kind = value.get("type").and_then(Value::as_str).unwrap_or("unknown");
                text_part(&format!("Something of the type `{kind}`, which cannot be shown here."))
            }
        });
    }
    parts
}

fn text_part(text: &str) -> Value {
    json!({ "type": "input_text", "text": text })
}

fn image_part(url: &str, detail: Option<&str>) -> Value {
    match detail {
        Some(detail) => json!({ "type": "input_image", "image_url": url, "detail": detail }),
        None => json!({ "type": "input_image", "image_url": url }),
    }
}

/// Reads a picture as a `data:` URL.
async fn read_image(path: &Path) -> Result<String, String> {
    let path = path.to_owned();
    let read = tokio::task::spawn_blocking(move || read_image_file(&path));
    read.await.unwrap_or_else(|error| Err(error.to_string()))
}

fn read_image_file(path: &Path) -> Result<String, String> {
    let told = |error: std::io::Error| error.to_string();
    let file = regular::open(path, None).map_err(told)?.ok_or("it is no file")?;
    let mut bytes = Vec::new();
    file.take(MAX_IMAGE_BYTES + 1).read_to_end(&mut bytes).map_err(told)?;
    if bytes.len() as u64 > MAX_IMAGE_BYTES {
        return Err(format!("it is larger than {} MiB", MAX_IMAGE_BYTES >> 20));
    }
    let kind = image_type(&bytes).ok_or("it is no PNG, JPEG, GIF or WebP")?;
    Ok(format!("data:{kind};base64,{}", STANDARD.encode(&bytes)))
}

fn image_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that fails says where")]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn image(path: PathBuf) -> Vec<Input> {
        vec![Input::LocalImage { path, detail: Some("high".to_owned()) }]
    }

    #[tokio::test]
    async fn pictures_are_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.gif");
        std::fs::write(&path, b"GIF89a").unwrap();
        let url = "data:image/gif;base64,R0lGODlh";
        assert_eq!(parts(&image(path)).await, [json!({"type": "input_image", "image_url": url, "detail": "high"})]);
    }

    #[tokio::test]
    async fn what_is_no_picture_says_so() {
        let directory = tempfile::tempdir().unwrap();
        let text = directory.path().join("a.txt");
        std::fs::write(&text, b"secret").unwrap();
        let big = directory.path().join("big.png");
        std::fs::File::create(&big).unwrap().set_len(MAX_IMAGE_BYTES + 1).unwrap();
        for (path, reason) in [
            (directory.path().join("absent.png"), "cannot be read"),
            (directory.path().to_owned(), "no file"),
            (text, "no PNG"),
            (big, "larger than 20 MiB"),
        ] {
            let said = parts(&image(path)).await[0]["text"].as_str().unwrap().to_owned();
            assert!(said.contains(reason) && !said.contains("secret"), "{said}");
        }
    }

    #[tokio::test]
    async fn mentions_become_texts() {
        let inputs = [
            Input::Text { text: "a".to_owned(), elements: Vec::new() },
            Input::Image { url: "https://example.org/a.png".to_owned(), detail: None },
            Input::Skill { name: "deploy".to_owned(), path: PathBuf::from("/s/SKILL.md") },
            Input::Mention { name: "issue".to_owned(), path: "app://issue".to_owned() },
            Input::Other(json!({"type": "audio"})),
        ];
        assert_eq!(
            parts(&inputs).await,
            [
                json!({"type": "input_text", "text": "a"}),
                json!({"type": "input_image", "image_url": "https://example.org/a.png"}),
                json!({"type": "input_text", "text": "The skill `deploy`: /s/SKILL.md"}),
                json!({"type": "input_text", "text": "`issue` is app://issue"}),
                json!({"type": "input_text", "text": "Something of the type `audio`, which cannot be shown here."}),
            ]
        );
    }
}
