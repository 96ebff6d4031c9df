//! Where a picture goes.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::format::Format;
use crate::commands::reduce::file_target;
use crate::ui::failure::Failure;
use crate::ui::output::{Terminal, json_stdout, stdout_failure};
use crate::ui::text::clean;

/// Where a picture goes.
#[derive(Debug)]
pub(super) enum Target {
    Stdout,
    File(PathBuf),
}

impl Target {
    pub(super) fn new(output: Option<&Path>) -> Self {
        match output {
            None => Self::Stdout,
            Some(path) if path == Path::new("-") => Self::Stdout,
            Some(path) => Self::File(path.to_owned()),
        }
    }

    /// Returns what the name of the file ends with.
    fn ending(&self) -> Option<&str> {
        match self {
            Self::Stdout => None,
            Self::File(path) => path.extension().and_then(|ending| ending.to_str()),
        }
    }

    /// Returns the format that was asked for, that of the file's ending, or DOT.
    pub(super) fn format(&self, asked: Option<Format>) -> Result<Format, Failure> {
        let ending = self.ending().map(str::to_ascii_lowercase);
        match (asked, ending.as_deref()) {
            (Some(format), _) => Ok(format),
            (None, Some("dot" | "gv")) => Ok(Format::Dot),
            (None, Some("svg")) => Ok(Format::Svg),
            (None, Some("png")) => Ok(Format::Png),
            (None, Some("mmd" | "mermaid")) => Ok(Format::Mermaid),
            (None, Some("json")) => Ok(Format::Json),
            (None, None) if matches!(self, Self::Stdout) => Ok(Format::Dot),
            (None, ending) => {
                let message = match ending {
                    Some(ending) => format!("no format ends in .{}", clean(ending)),
                    None => "the name of the file does not tell the format".to_owned(),
                };
                Err(Failure::usage(message).with_hint("--format says it: dot, svg, png, mermaid or json"))
            }
        }
    }

    /// Refuses what cannot be written there, before anything is read.
    pub(super) fn check(&self, format: Format, terminal: &Terminal) -> Result<(), Failure> {
        match self {
            Self::Stdout if format == Format::Png && terminal.is_terminal() => {
                let hint = "-o FILE.png writes it to a file";
                Err(Failure::usage("a terminal cannot show a PNG").with_hint(hint))
            }
            Self::File(path) if path.is_dir() => {
                Err(Failure::usage(format!("{} is a directory; -o takes a file", path.display())))
            }
            Self::File(path) => file_target(path).map(drop),
            Self::Stdout => Ok(()),
        }
    }

    /// Writes a picture. A file is replaced in one step.
    pub(super) fn write(&self, bytes: &[u8], format: Format) -> Result<(), Failure> {
        match self {
            Self::Stdout => {
                // On a terminal, JSON must not bring control characters of the session; all other texts have none.
                let mut stdout = if format == Format::Json { json_stdout() } else { Box::new(io::stdout().lock()) };
                stdout.write_all(bytes).and_then(|()| stdout.flush()).map_err(stdout_failure)
            }
            Self::File(path) => file_target(path)?.write(|out| out.write_all(bytes)),
        }
    }
}
