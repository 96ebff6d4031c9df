//! `trace export`: converts a session for Perfetto, Chrome, OpenTelemetry or readers of ATIF.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use percent_encoding::percent_decode_str;
use trace_explain::Session;
use trace_export::otlp::{Collector, CollectorError, Content, SendError};
use trace_export::{atif, chrome, otlp, perfetto};
use trace_runtime::tls::Certificates;

use crate::argument::BundleArg;
use crate::commands::reduce::{Target, file_target};
use crate::foreign;
use crate::named::{self, Named};
use crate::ui::failure::{Ending, Failure};
use crate::ui::output::Terminal;
use crate::ui::text::{clean, count, number};
use crate::{bundles, session};

/// Variables with headers for a collector. The first one that is set is used.
const HEADER_VARIABLES: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"];

const AFTER_HELP: &str = "\
Examples:
  trace export traces/trace-1                             traces/trace-1.perfetto-trace, for ui.perfetto.dev
  trace export traces/trace-1 --format chrome -o t.json   for viewers that read no protobuf
  trace export traces/trace-1 --format otlp -o -          OTLP JSON, one request per line
  trace export traces/trace-1 --format otlp --endpoint http://localhost:4318
                                                          to an OpenTelemetry collector
  trace export traces/trace-1 --format atif               a trajectory in ATIF, the format of Harbor

perfetto and chrome have a track per agent, below the agent that spawned it; slices for turns, requests to models, \
tool calls and code; arrows for interactions between agents; and marks for losses and failures. They contain commands \
and the beginnings of inputs and messages, as a bundle does.

otlp has spans with the names of the semantic conventions for generative AI: invoke_agent, chat, execute_tool. Content \
is left out; --content adds messages and the arguments and results of tools, and cuts long ones. Ids are derived from \
those of the session, so that a second export replaces the spans of the first one. Spans are sent as protobuf to \
/v1/traces below the address. Headers in OTEL_EXPORTER_OTLP_HEADERS are sent too, and are not visible to other users; \
--header overrides them.

atif has the steps of each agent: messages, calls and results, tokens, and the trajectories of its children. It has all \
texts of the session. trace reads such files too.

docs/export.md describes the mapping.

Exit codes: 0 exported, damaged or not; 1 not a bundle or unreadable, its output could not be written, or the collector did \
not take it; 2 wrong usage; 3 an internal error.";

/// Writes a session as a trace for Perfetto, Chrome or OpenTelemetry, or in ATIF
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    bundle: BundleArg,
    /// The output format: perfetto, chrome, otlp or atif
    #[arg(short, long, value_name = "FORMAT", default_value = "perfetto", hide_possible_values = true)]
    format: Format,
    /// The output file; - is stdout [default: beside the bundle, with the extension of the format]
    #[arg(short, long, value_name = "FILE|-")]
    output: Option<PathBuf>,
    /// Send the session to an OpenTelemetry collector instead of writing a file
    #[arg(long, value_name = "URL", conflicts_with = "output")]
    endpoint: Option<String>,
    /// A header for the collector, such as its key; may be given several times
    #[arg(long = "header", value_name = "NAME=VALUE", requires = "endpoint")]
    headers: Vec<String>,
    /// Include messages, and arguments and results of tools, in OTLP
    #[arg(long)]
    content: bool,
}

/// The output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Perfetto,
    Chrome,
    Otlp,
    Atif,
}

impl Format {
    /// Returns the file extension of the format.
    fn ending(self) -> &'static str {
        match self {
            Self::Perfetto => "perfetto-trace",
            Self::Chrome => "chrome.json",
            Self::Otlp => "otlp.jsonl",
            Self::Atif => "atif.json",
        }
    }
}

pub(crate) fn run(args: &ExportArgs, terminal: &Terminal) -> Result<Ending, Failure> {
    let content = if args.content { Content::Included } else { Content::LeftOut };
    if args.format != Format::Otlp {
        let only = args.endpoint.as_ref().map(|_| "--endpoint").or(args.content.then_some("--content"));
        if let Some(only) = only {
            return Err(Failure::usage(format!("{only} needs --format otlp")));
        }
    }
    let collector = args.endpoint.as_deref().map(|endpoint| collector(endpoint, &args.headers)).transpose()?;
    let session = session::open(&args.bundle.path())?;
    match collector {
        Some(collector) => send(&collector, &session, content, terminal)?,
        None => write(args, &session, content, terminal)?,
    }
    // The process is about to end. Freeing millions of objects one by one would only delay that.
    std::mem::forget(session);
    Ok(Ending::Done)
}

fn collector(endpoint: &str, headers: &[String]) -> Result<Collector, Failure> {
    let pair = |header: &String| match header.split_once('=') {
        Some((name, value)) => Ok((name.trim().to_owned(), value.trim().to_owned())),
        // The text is not quoted in the message: without a name, all of it may be a secret.
        None => Err(Failure::usage("a header is NAME=VALUE")),
    };
    let mut all = headers_of_environment()?;
    all.extend(headers.iter().map(pair).collect::<Result<Vec<_>, _>>()?);
    Collector::new(endpoint, all).map_err(|error| {
        let failure = Failure::usage(&error);
        match error {
            CollectorError::Endpoint { .. } => {
                failure.with_hint("collectors listen on http://localhost:4318 by default")
            }
            CollectorError::Header { .. } => failure,
        }
    })
}

/// Returns the headers that the environment defines. The variable contains pairs `NAME=VALUE` with commas between them,
/// and the values are percent-encoded.
fn headers_of_environment() -> Result<Vec<(String, String)>, Failure> {
    let set = HEADER_VARIABLES.iter().find_map(|name| Some((*name, std::env::var_os(name)?)));
    let Some((variable, value)) = set else { return Ok(Vec::new()) };
    // The values may be secrets, so the message does not contain them.
    let wrong = || Failure::usage(format!("{variable} is not of the form NAME=VALUE,NAME=VALUE"));
    let value = value.into_string().map_err(|_| wrong())?;
    let pair = |header: &str| {
        let (name, value) = header.split_once('=').ok_or_else(wrong)?;
        let value = percent_decode_str(value.trim()).decode_utf8().map_err(|_| wrong())?;
        Ok((name.trim().to_owned(), value.into_owned()))
    };
    value.split(',').filter(|header| !header.trim().is_empty()).map(pair).collect()
}

fn send(collector: &Collector, session: &Session, content: Content, terminal: &Terminal) -> Result<(), Failure> {
    let tls = Certificates::for_scheme(collector.scheme()).client_config().map_err(|error| {
        Failure::data(error).with_hint("the certificates that this machine trusts are needed for https://")
    })?;
    let sent = collector.send(session, content, tls).map_err(|error| {
        let hint = match &error {
            SendError::NoAnswer { .. } => {
                "is a collector with an OTLP receiver for HTTP there? It listens on port 4318 by default, \
                 gRPC on 4317 is something else"
            }
            SendError::Refused { status: 401 | 403, .. } => "--header NAME=VALUE sends a key",
            SendError::Refused { status: 404 | 405, .. } => {
                "/v1/traces is added to the address; is what comes before it right?"
            }
            _ => "",
        };
        let failure = Failure::data(error);
        if hint.is_empty() { failure } else { failure.with_hint(hint) }
    })?;
    let what = format!("{} in {}", count(sent.spans, "span"), count(sent.requests, "request"));
    terminal.print(&format!("sent {what} to {}\n", clean(collector.endpoint())))?;
    if sent.rejected > 0 || sent.remark.is_some() {
        let remark = sent.remark.as_deref().unwrap_or("no reason given");
        let note = match sent.rejected {
            0 => format!("the collector says: {}", clean(remark)),
            rejected => format!("the collector did not keep {} of them: {}", number(rejected), clean(remark)),
        };
        let _ = io::stderr().write_all(terminal.note_line(&note).as_bytes());
    }
    Ok(())
}

fn write(args: &ExportArgs, session: &Session, content: Content, terminal: &Terminal) -> Result<(), Failure> {
    let write = |out: &mut dyn Write| {
        let mut out = BufWriter::with_capacity(1 << 16, out);
        match args.format {
            Format::Perfetto => perfetto::write(session, &mut out)?,
            Format::Chrome => chrome::write(session, &mut out)?,
            Format::Otlp => otlp::write(session, content, &mut out)?,
            Format::Atif => atif::write(session, &mut out)?,
        }
        out.flush()
    };
    if args.output.as_deref() == Some(Path::new("-")) {
        if args.format == Format::Perfetto && terminal.is_terminal() {
            return Err(Failure::usage("a Perfetto trace is binary, and stdout is a terminal")
                .with_hint("-o FILE writes it to a file"));
        }
        return Target::Stdout.write(write);
    }
    let path = match &args.output {
        Some(path) => path.clone(),
        None => default_output(&args.bundle.path(), args.format)?,
    };
    file_target(&path)?.write(write)?;
    let mut message = format!("wrote {}\n", clean(&path.to_string_lossy()));
    if args.format == Format::Perfetto {
        message.push_str("  open it in https://ui.perfetto.dev, which reads it in the browser and uploads nothing\n");
    }
    terminal.print(&message)
}

/// Returns the default output path: beside a bundle, and in the current folder for a session of another agent, with the extension of the
/// format.
fn default_output(bundle: &Path, format: Format) -> Result<PathBuf, Failure> {
    let bundle = match named::find(bundle)? {
        // Nothing is written into the folders of other agents.
        Some(Named::Imported(session)) => foreign::file_names(&[session]).concat().into(),
        Some(Named::Bundle(path)) => bundles::unpacked_path(&path),
        None => bundles::unpacked_path(bundle),
    };
    // A path such as `.` or `..` has no file name, so it is resolved first.
    let bundle = match bundle.file_name() {
        Some(_) => bundle,
        None => bundle
            .canonicalize()
            .map_err(|error| Failure::data(error).context(format!("cannot find {}", bundle.display())))?,
    };
    let mut name = bundle.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", format.ending()));
    Ok(bundle.with_file_name(name))
}
