//! The tool `view_image`, with which a model looks at a picture in a file.

use std::io::Read;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::item::{Item, ItemKind};
use crate::sandbox::Confinement;
use crate::settings::Settings;
use crate::tool::outcome::{describe, done, failed};
use crate::tool::regular;
use crate::tool::{
    CallDescription, CallOrder, Resource, Tool, ToolCall, ToolContext, ToolFamily, ToolInput, ToolOutcome,
};

/// Size of the largest picture in bytes.
pub const MAX_IMAGE_BYTES: u64 = 10 << 20;

/// Shows a picture to the model.
#[derive(Debug)]
pub struct ViewImage;

#[derive(Deserialize)]
struct Arguments {
    path: String,
}

impl Tool for ViewImage {
    fn family(&self) -> ToolFamily {
        ToolFamily::Files
    }

    fn specification(&self, _settings: &Settings) -> Option<Value> {
        Some(json!({
            "type": "function",
            "name": "view_image",
            "description": "Shows you a picture (PNG, JPEG, GIF or WebP) that is in a file.",
            "strict": false,
            "parameters": {
                "type": "object",
                "properties": { "path": { "type": "string", "description": "The file." } },
                "required": ["path"],
                "additionalProperties": false,
            },
        }))
    }

    fn is_called(&self, namespace: Option<&str>, name: &str) -> bool {
        namespace.is_none() && name == "view_image"
    }

    fn description(&self, call: &ToolCall) -> CallDescription {
        describe("view_image", call)
    }

    fn order(&self, _: &ToolCall) -> CallOrder {
        CallOrder::Reads(Resource::Files)
    }

    fn call(&self, context: ToolContext, call: ToolCall) -> BoxFuture<'static, ToolOutcome> {
        Box::pin(async move {
            let ToolInput::Arguments(arguments) = &call.input else { return failed("view_image takes JSON arguments") };
            let path = match serde_json::from_str::<Arguments>(arguments) {
                Ok(arguments) => context.settings.cwd.join(arguments.path),
                Err(error) => return failed(format!("failed to parse function arguments: {error}")),
            };
            let file = path.clone();
            let settings = &context.settings;
            let surroundings = context.agent.surroundings();
            let confinement = surroundings.confinement(&settings.sandbox, &settings.cwd);
            let url = tokio::task::spawn_blocking(move || data_url(&file, confinement.as_ref())).await;
            match url.unwrap_or_else(|error| Err(format!("the reader broke down: {error}"))) {
                Ok(url) => {
                    show(&context, call, path);
                    done(json!([{ "type": "input_image", "image_url": url }]))
                }
                Err(error) => failed(error),
            }
        })
    }
}

fn show(context: &ToolContext, call: ToolCall, path: PathBuf) {
    context.agent.show_item(&context.turn, Item { id: call.id, kind: ItemKind::ImageView { path } });
}

fn data_url(path: &Path, confinement: Option<&Confinement>) -> Result<String, String> {
    let shown = path.display();
    let failed = |error: std::io::Error| format!("cannot read {shown}: {error}");
    let Some(file) = regular::open(path, confinement).map_err(failed)? else {
        return Err(format!("cannot show {shown}: it is no regular file"));
    };
    let mut bytes = Vec::new();
    file.take(MAX_IMAGE_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_IMAGE_BYTES {
        return Err(format!("cannot show {shown}: it has more than {MAX_IMAGE_BYTES} bytes"));
    }
    let kind =
        media_type(&bytes).ok_or_else(|| format!("cannot show {shown}: it is no PNG, JPEG, GIF or WebP picture"))?;
    Ok(format!("data:{kind};base64,{}", STANDARD.encode(&bytes)))
}

/// Returns the media type of a picture from its first bytes. `None` if it is not a format that all models support.
#[must_use]
pub fn media_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn pictures_are_known_by_what_they_hold() {
        let folder = tempfile::tempdir().expect("a folder");
        let url = |bytes: &[u8]| {
            let path = folder.path().join("picture");
            std::fs::write(&path, bytes).expect("writes");
            data_url(&path, None)
        };
        assert_eq!(url(b"GIF89a").expect("a picture"), "data:image/gif;base64,R0lGODlh");
        assert!(url(b"\x89PNG\r\n\x1a\n").expect("a picture").starts_with("data:image/png;"));
        assert!(url(b"RIFF0000WEBPVP8 ").expect("a picture").starts_with("data:image/webp;"));
        assert!(url(b"\xff\xd8\xff\xe0").expect("a picture").starts_with("data:image/jpeg;"));
        assert!(url(b"root:x:0:0").expect_err("an error").ends_with("it is no PNG, JPEG, GIF or WebP picture"));
        assert!(data_url(folder.path(), None).expect_err("an error").ends_with("it is no regular file"));
        assert!(data_url(&folder.path().join("absent"), None).expect_err("an error").contains("No such file"));
        File::create(folder.path().join("large")).expect("a file").set_len(MAX_IMAGE_BYTES + 1).expect("a long file");
        assert!(
            data_url(&folder.path().join("large"), None)
                .expect_err("an error")
                .ends_with("it has more than 10485760 bytes")
        );
    }
}
