//! How a picture is written.

use std::path::Path;

use clap::ValueEnum;
use serde::Serialize;
use trace_viz::diagram::{Diagram, render};

use super::target::Target;
use crate::failure::Failure;
use crate::text::clean;

/// How a picture is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    Dot,
    Svg,
    Png,
    Mermaid,
    Json,
}

/// The object of `--format json`.
#[derive(Debug, Serialize)]
struct Answer<'a> {
    format: u32,
    bundle: String,
    diagram: &'a Diagram,
}

impl Format {
    /// Returns the format that was asked for, that of the file's ending, or DOT.
    pub(super) fn choose(asked: Option<Self>, target: &Target) -> Result<Self, Failure> {
        let ending = target.ending().map(str::to_ascii_lowercase);
        match (asked, ending.as_deref()) {
            (Some(format), _) => Ok(format),
            (None, Some("dot" | "gv")) => Ok(Self::Dot),
            (None, Some("svg")) => Ok(Self::Svg),
            (None, Some("png")) => Ok(Self::Png),
            (None, Some("mmd" | "mermaid")) => Ok(Self::Mermaid),
            (None, Some("json")) => Ok(Self::Json),
            (None, None) if matches!(target, Target::Stdout) => Ok(Self::Dot),
            (None, ending) => {
                let message = match ending {
                    Some(ending) => format!("no format ends in .{}", clean(ending)),
                    None => "the name of the file does not tell the format".to_owned(),
                };
                Err(Failure::usage(message).with_hint("--format says it: dot, svg, png, mermaid or json"))
            }
        }
    }

    /// Writes a picture into memory.
    pub(super) fn write(self, diagram: &Diagram, bundle: &Path) -> Result<Vec<u8>, Failure> {
        match self {
            Self::Dot => Ok(render::dot(diagram).into_bytes()),
            Self::Mermaid => render::mermaid(diagram)
                .map(String::into_bytes)
                .map_err(|error| Failure::data(error).with_hint("a smaller --max-nodes makes a smaller picture")),
            Self::Json => {
                let bundle = bundle.to_string_lossy().into_owned();
                let answer = Answer { format: 1, bundle, diagram };
                let mut bytes = serde_json::to_vec_pretty(&answer).map_err(Failure::internal)?;
                bytes.push(b'\n');
                Ok(bytes)
            }
            Self::Svg | Self::Png => todo(),
        }
    }
}
fn todo() -> Result<Vec<u8>, Failure> {
    Err(Failure::usage("not yet"))
}
