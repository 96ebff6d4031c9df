//! Writes a picture in its output format.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use clap::ValueEnum;
use serde::Serialize;
use trace_viz::diagram::Diagram;
use trace_viz::diagram::render::{self, Fonts, Graphviz, GraphvizError, PngError};

use crate::ui::failure::Failure;
use crate::ui::output::Terminal;
use crate::ui::text::clean;

/// The output format of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    Dot,
    Svg,
    Png,
    Mermaid,
    Json,
}

/// The layout engine of an SVG or PNG.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Layout {
    Graphviz,
    Own,
}

/// Longest time that Graphviz may run.
const GRAPHVIZ_TIME: Duration = Duration::from_secs(30);

/// The object of `--format json`.
#[derive(Debug, Serialize)]
struct Answer<'a> {
    format: u32,
    bundle: String,
    diagram: &'a Diagram,
}

impl Format {
    /// Returns a picture in its output format.
    pub(super) fn write(
        self,
        diagram: &Diagram,
        bundle: &Path,
        layout: Option<Layout>,
        terminal: &Terminal,
    ) -> Result<Vec<u8>, Failure> {
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
            Self::Svg => svg(diagram, layout, terminal).map(String::into_bytes),
            Self::Png => {
                let svg = svg(diagram, layout, terminal)?;
                render::png(&svg, Fonts::Machine).map_err(|error| match error {
                    PngError::TooLarge { .. } => Failure::data(error)
                        .with_hint("--format svg has no such limit; a smaller --max-nodes makes a smaller picture"),
                    error => Failure::internal(error),
                })
            }
        }
    }
}

/// Draws a picture as SVG, with Graphviz or without it. If no layout was chosen, a failure of Graphviz is not an error:
/// trace then draws the picture itself.
fn svg(diagram: &Diagram, layout: Option<Layout>, terminal: &Terminal) -> Result<String, Failure> {
    if layout == Some(Layout::Own) {
        return Ok(render::svg(diagram));
    }
    let graphviz = Graphviz { program: Path::new("dot"), time_limit: GRAPHVIZ_TIME };
    let error = match render::svg_by_graphviz(diagram, graphviz) {
        Ok(svg) => return Ok(svg),
        Err(error) => error,
    };
    let is_missing =
        matches!(&error, GraphvizError::CannotRun { source, .. } if source.kind() == io::ErrorKind::NotFound);
    if layout == Some(Layout::Graphviz) {
        let hint = if is_missing {
            "Graphviz is not installed; --layout own draws without it"
        } else {
            "--layout own draws without Graphviz"
        };
        return Err(Failure::data(error).with_hint(hint));
    }
    if !is_missing {
        let note = format!("drawn without Graphviz: {}", clean(&error.to_string()));
        let _ = io::stderr().write_all(terminal.note_line(&note).as_bytes());
    }
    Ok(render::svg(diagram))
}
