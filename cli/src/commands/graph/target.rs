//! The output of `trace graph`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::format::Format;
use crate::commands::reduce::file_target;
use crate::ui::failure::Failure;
use crate::ui::output::{Terminal, json_stdout, stdout_failure};
use crate::ui::text::clean;

/// Where a picture is written to.
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

    /// Returns the extension of the output file.
    fn ending(&self) -> Option<&str> {
        match self {
            Self::Stdout => None,
            Self::File(path) => path.extension().and_then(|ending| ending.to_str()),
        }
    }

    /// Returns the format: the one that was asked for, the one of the file extension, or DOT.
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
                    Some(ending) => format!("no format has the extension .{}", clean(ending)),
                    None => "the file name has no extension".to_owned(),
                };
                Err(Failure::usage(message).with_hint("--format names it: dot, svg, png, mermaid or json"))
            }
        }
    }

    /// Refuses a format that the output cannot take. To be called before the bundle is read.
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

    /// Writes a picture. A file is replaced atomically.
    pub(super) fn write(&self, bytes: &[u8], format: Format) -> Result<(), Failure> {
        match self {
            Self::Stdout => {
                // On a terminal, control characters of the session must not be interpreted. Only JSON can contain any.
                let mut stdout = if format == Format::Json { json_stdout() } else { Box::new(io::stdout().lock()) };
                stdout.write_all(bytes).and_then(|()| stdout.flush()).map_err(stdout_failure)
            }
            Self::File(path) => file_target(path)?.write(|out| out.write_all(bytes)),
        }
    }
}
