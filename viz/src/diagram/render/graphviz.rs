//! A diagram as SVG that Graphviz lays out, if it is installed.
//!
//! The caller chooses the program to run. It reads the diagram from its standard input and is stopped after a time
//! limit. Its output depends only on its version and on the fonts of the machine.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use super::super::Diagram;
use super::{dot::dot, style, text};

/// Most bytes of a picture that are read from Graphviz.
pub const MAX_GRAPHVIZ_BYTES: u64 = 64 << 20;

/// Most bytes of the error output of Graphviz that are read.
pub const MAX_COMPLAINT_BYTES: u64 = 2000;

/// Beginning of the lines of the error output in which Graphviz reports an error.
const LOST: &[u8] = b"Error:";

/// Time between two checks whether Graphviz has ended.
const PAUSE: Duration = Duration::from_millis(2);

/// How to run Graphviz.
#[derive(Debug, Clone, Copy)]
pub struct Graphviz<'a> {
    /// Its program `dot`: an absolute path, or a name that is looked up in PATH.
    pub program: &'a Path,
    /// Most time that it may take.
    pub time_limit: Duration,
}

/// Why Graphviz made no picture.
#[derive(Debug, thiserror::Error)]
pub enum GraphvizError {
    /// The program could not be started, or its end could not be waited for.
    #[error("cannot run {}", program.display())]
    CannotRun {
        /// The program.
        program: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The program ended with a failure, or reported an error.
    #[error("{} ended with {status}: {complaint:?}", program.display())]
    Failed {
        /// The program.
        program: PathBuf,
        /// How the program ended.
        status: ExitStatus,
        /// The beginning of its error output.
        complaint: String,
    },
    /// The program took longer than the time limit.
    #[error("{} took longer than {time_limit:?}", program.display())]
    TooSlow {
        /// The program.
        program: PathBuf,
        /// The time limit.
        time_limit: Duration,
    },
    /// The picture has more than [`MAX_GRAPHVIZ_BYTES`] bytes.
    #[error("{} made a picture of more than {MAX_GRAPHVIZ_BYTES} bytes", program.display())]
    TooLarge {
        /// The program.
        program: PathBuf,
    },
    /// The output is not an SVG document.
    #[error("{} did not write SVG", program.display())]
    NotSvg {
        /// The program.
        program: PathBuf,
    },
}

/// Returns a diagram as SVG that Graphviz has laid out.
///
/// # Errors
///
/// Returns an error if Graphviz cannot be run, fails, takes too long, or writes too much or something other than SVG.
pub fn svg_by_graphviz(diagram: &Diagram, graphviz: Graphviz<'_>) -> Result<String, GraphvizError> {
    let program = graphviz.program.to_path_buf();
    let written = run(graphviz, dot(diagram))?;
    let dressed = String::from_utf8(written).ok().and_then(|svg| dress(diagram, &svg));
    dressed.ok_or(GraphvizError::NotSvg { program })
}

fn run(graphviz: Graphviz<'_>, dot: String) -> Result<Vec<u8>, GraphvizError> {
    let program = || graphviz.program.to_path_buf();
    let cannot_run = |source| GraphvizError::CannotRun { program: program(), source };
    let mut command = Command::new(graphviz.program);
    // Graphviz looks for settings and images in its working folder. A PATH with relative folders is searched from there
    // too.
    command.arg("-Tsvg").current_dir("/").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let begin = Instant::now();
    let mut child = command.spawn().map_err(cannot_run)?;
    let mut stdin = child.stdin.take().expect("the stream is piped");
    // An error here means that the program ended before it read everything. Its status says why.
    thread::spawn(move || stdin.write_all(dot.as_bytes()));
    let picture = read_aside(child.stdout.take().expect("the stream is piped"), MAX_GRAPHVIZ_BYTES);
    let complaint = read_aside(child.stderr.take().expect("the stream is piped"), MAX_COMPLAINT_BYTES);
    let written = picture.recv_timeout(graphviz.time_limit);
    // No more than the limit is read, so a program with more output would block for ever.
    let is_too_large = written.as_ref().is_ok_and(|bytes| bytes.len() as u64 > MAX_GRAPHVIZ_BYTES);
    let ended = if is_too_large { None } else { end(&mut child, begin, graphviz.time_limit).map_err(cannot_run)? };
    let Some(status) = ended else {
        // Both fail only if the child has ended in the meantime.
        let _ = child.kill();
        let _ = child.wait();
        return Err(if is_too_large {
            GraphvizError::TooLarge { program: program() }
        } else {
            GraphvizError::TooSlow { program: program(), time_limit: graphviz.time_limit }
        });
    };
    let said = complaint.recv_timeout(graphviz.time_limit.saturating_sub(begin.elapsed())).unwrap_or_default();
    // Graphviz exits with status 0 even if it lost an arrow. It only reports the error.
    let has_lost =
        said.starts_with(LOST) || said.windows(LOST.len() + 1).any(|part| part[0] == b'\n' && &part[1..] == LOST);
    if !status.success() || has_lost {
        let complaint = text::line(&String::from_utf8_lossy(&said), text::MAX_NOTE_COLUMNS);
        return Err(GraphvizError::Failed { program: program(), status, complaint });
    }
    written.map_err(|_| GraphvizError::TooSlow { program: program(), time_limit: graphviz.time_limit })
}

/// Reads a stream on a thread of its own, up to one byte more than the limit, so that the caller can tell that there is
/// more. The rest is read and dropped, because a program that cannot write its error output would block.
fn read_aside(mut stream: impl Read + Send + 'static, limit: u64) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // After an error, use the bytes that were read before it.
        let _ = stream.by_ref().take(limit + 1).read_to_end(&mut bytes);
        // Sending fails if the caller has given up because of the time limit.
        let _ = sender.send(bytes);
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    });
    receiver
}

/// Waits for the end of a program. `None` if it still runs when its time is over.
fn end(child: &mut Child, begin: Instant, time_limit: Duration) -> std::io::Result<Option<ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if begin.elapsed() >= time_limit {
            return Ok(None);
        }
        thread::sleep(PAUSE);
    }
}

/// Turns the output of Graphviz into a document of its own: removes the comment with the version and the reference to
/// an external document type, adds a name for screen readers, and adds colours for dark mode.
fn dress(diagram: &Diagram, svg: &str) -> Option<String> {
    let element = &svg[svg.find("<svg")?..];
    let end = element.find('>')?;
    let (attributes, rest) = (&element["<svg".len()..end], &element[end + 1..]);
    let name = text::xml(&text::line(&diagram.title, text::MAX_NOTE_COLUMNS));
    let sheet = style::dark_sheet();
    Some(format!(
        "<svg role=\"graphics-document document\" aria-label=\"{name}\"{attributes}>\n<style>{sheet}</style>{rest}"
    ))
}
