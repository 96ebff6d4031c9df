//! A diagram as SVG by Graphviz, where that is installed.
//!
//! Which program to run is up to the caller. It gets the diagram on its standard input and has a limited time; what it
//! writes depends on its version and fonts, and on nothing else.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use super::super::Diagram;
use super::{dot::dot, style, text};

/// Most bytes of a picture that are taken from Graphviz.
pub const MAX_GRAPHVIZ_BYTES: u64 = 64 << 20;

/// Most bytes of what Graphviz says of an error.
pub const MAX_COMPLAINT_BYTES: u64 = 2000;

/// What a line begins with by which Graphviz tells of an error.
const LOST: &[u8] = b"Error:";

/// Time between two looks at whether Graphviz has ended.
const PAUSE: Duration = Duration::from_millis(2);

/// Graphviz, as it is to be run.
#[derive(Debug, Clone, Copy)]
pub struct Graphviz<'a> {
    /// Its program `dot`: a whole path, or a name that is looked for in PATH.
    pub program: &'a Path,
    /// Longest time that it may take.
    pub time_limit: Duration,
}

/// Graphviz made no picture.
#[derive(Debug, thiserror::Error)]
pub enum GraphvizError {
    /// It cannot be started.
    #[error("cannot run {}", program.display())]
    CannotRun {
        /// The program.
        program: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It failed.
    #[error("{} ended with {status}: {complaint:?}", program.display())]
    Failed {
        /// The program.
        program: PathBuf,
        /// How it ended.
        status: ExitStatus,
        /// The beginning of what it said.
        complaint: String,
    },
    /// It took too long.
    #[error("{} took longer than {time_limit:?}", program.display())]
    TooSlow {
        /// The program.
        program: PathBuf,
        /// The limit.
        time_limit: Duration,
    },
    /// The picture is too large.
    #[error("{} made a picture of more than {MAX_GRAPHVIZ_BYTES} bytes", program.display())]
    TooLarge {
        /// The program.
        program: PathBuf,
    },
    /// What it wrote is no picture.
    #[error("{} wrote something else than SVG", program.display())]
    NotSvg {
        /// The program.
        program: PathBuf,
    },
}

/// Returns a diagram as SVG, drawn by Graphviz.
///
/// # Errors
/// If Graphviz cannot be run, fails, takes too long, or writes too much or something else than SVG.
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
    // It looks for settings and pictures in its working folder, and so does the search for it where PATH has relative folders.
    command.arg("-Tsvg").current_dir("/").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let begin = Instant::now();
    let mut child = command.spawn().map_err(cannot_run)?;
    let mut stdin = child.stdin.take().expect("is piped");
    // A program that does not read all of it says why by its status.
    thread::spawn(move || stdin.write_all(dot.as_bytes()));
    let picture = read_aside(child.stdout.take().expect("is piped"), MAX_GRAPHVIZ_BYTES);
    let complaint = read_aside(child.stderr.take().expect("is piped"), MAX_COMPLAINT_BYTES);
    let written = picture.recv_timeout(graphviz.time_limit);
    // More than the limit is not read, and a program that has more to write would wait for ever.
    let is_too_large = written.as_ref().is_ok_and(|bytes| bytes.len() as u64 > MAX_GRAPHVIZ_BYTES);
    let ended = if is_too_large { None } else { end(&mut child, begin, graphviz.time_limit).map_err(cannot_run)? };
    let Some(status) = ended else {
        // Both fail only for a child that has ended meanwhile.
        let _ = child.kill();
        let _ = child.wait();
        return Err(if is_too_large {
            GraphvizError::TooLarge { program: program() }
        } else {
            GraphvizError::TooSlow { program: program(), time_limit: graphviz.time_limit }
        });
    };
    let said = complaint.recv_timeout(graphviz.time_limit.saturating_sub(begin.elapsed())).unwrap_or_default();
    // It also ends well when it lost an arrow on the way, and says so.
    let has_lost =
        said.starts_with(LOST) || said.windows(LOST.len() + 1).any(|part| part[0] == b'\n' && &part[1..] == LOST);
    if !status.success() || has_lost {
        let complaint = text::line(&String::from_utf8_lossy(&said), text::MAX_NOTE_COLUMNS);
        return Err(GraphvizError::Failed { program: program(), status, complaint });
    }
    written.map_err(|_| GraphvizError::TooSlow { program: program(), time_limit: graphviz.time_limit })
}

/// Reads at most one byte more than the limit, on a thread of its own. What follows is read and dropped, so that the
/// program does not wait for somebody to hear all of its complaints.
fn read_aside(mut stream: impl Read + Send + 'static, limit: u64) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read before an error is all that there is.
        let _ = stream.by_ref().take(limit + 1).read_to_end(&mut bytes);
        // Nobody waits any more if it took too long.
        let _ = sender.send(bytes);
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    });
    receiver
}

/// Waits for the end of a program. Null if it has not ended when its time is over.
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

/// Returns Graphviz's SVG as a document of its own: without what says which version wrote it and without the reference to
/// a document type elsewhere, with a name for those who do not see it, and with colours for the dark.
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
