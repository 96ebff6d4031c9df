//! `trace view`: shows a session as a page.

use std::ffi::OsStr;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use trace_explain::Session;
use trace_serve::{Newer, Server, Token};
use trace_viz::page::{BodySource, EmbedLimits, Embedded, Structure, document};

use crate::address::failure_of;
use crate::argument::BundleArg;
use crate::commands::reduce::{Target, file_target};
use crate::session::{self, Watched};
use crate::ui::amount;
use crate::ui::failure::{Ending, Failure};
use crate::ui::output::Terminal;

const AFTER_HELP: &str = "\
Examples:
  trace view traces/trace-1 --open             show a session in the browser
  trace view traces/trace-1 -o session.html    one file to keep or to share
  trace view traces/trace-1 -o all.html --embed 500M

The page shows the session as a timeline, the tree of agents, the transcript of each agent as its model saw it, every \
object with its causes and effects, and why turns failed. Press ? in the page for its keys.

Without -o, the page is served on the loopback interface at an address that cannot be guessed, until Ctrl-C. The \
address is the first line on stdout. Texts and payloads are read when they are opened. A session that is still written \
is followed: the page shows what is new as it happens, and what you selected, filtered and unfolded stays. With -o, the page is one file \
that needs no network. It contains texts and payloads up to --embed, beginning with those of failures; a text that is \
left out is marked.

Both contain everything that the session saw. `trace redact` makes a copy without secrets that can be shared.

Exit codes: 0 done; 1 not a bundle, unreadable, or the page could not be written or served; 2 wrong usage; 3 an internal error.";

/// Shows a session as a page in the browser
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ViewArgs {
    #[command(flatten)]
    bundle: BundleArg,
    /// Write the page to a file instead of serving it
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Open the page in the browser
    #[arg(long)]
    open: bool,
    /// With -o: most bytes of texts and payloads in the file [default: 16MiB]
    #[arg(long, value_name = "SIZE", value_parser = amount::parse_size, requires = "output")]
    embed: Option<u64>,
    /// Without -o: the port to serve on [default: any free one]
    #[arg(long, value_name = "PORT", conflicts_with = "output")]
    port: Option<u16>,
}

pub(crate) fn run(args: &ViewArgs, terminal: &Terminal) -> Result<Ending, Failure> {
    let target = args.output.as_deref().map(target).transpose()?;
    let Some(target) = &target else {
        let Watched { session, newer } = session::open_to_watch(&args.bundle.path())?;
        let name = name_of(&args.bundle.path(), &session);
        return serve(args, session, newer, &name, terminal);
    };
    let session = session::open(&args.bundle.path())?;
    let name = name_of(&args.bundle.path(), &session);
    write(args, target, &session, &name, terminal)?;
    // The process is about to end. Freeing millions of objects one by one would only delay that.
    std::mem::forget(session);
    Ok(Ending::Done)
}

/// Returns the title of the page: the name of the bundle.
fn name_of(bundle: &Path, session: &Session) -> String {
    let named = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    // A path such as `.` has no file name, so it is resolved first.
    named(bundle)
        .or_else(|| named(&bundle.canonicalize().ok()?))
        .unwrap_or_else(|| session.trace().text(session.trace().rollout_id).to_owned())
}

/// Returns how the output file is written.
fn target(output: &Path) -> Result<Target, Failure> {
    if output == Path::new("-") { Ok(Target::Stdout) } else { file_target(output) }
}

fn write(args: &ViewArgs, target: &Target, session: &Session, name: &str, terminal: &Terminal) -> Result<(), Failure> {
    let limits = match args.embed {
        Some(bytes) => EmbedLimits::of_bytes(usize::try_from(bytes).unwrap_or(usize::MAX)),
        None => EmbedLimits::DEFAULT,
    };
    // Of a long session, both take a while.
    let (structure, embedded) =
        rayon::join(|| Structure::new(session, name), || Embedded::new(session, &BodySource::new(session), limits));
    if let Some(failure) = failure_of(session.bundle()) {
        return Err(failure);
    }
    target.write(|out| {
        let mut out = BufWriter::new(out);
        document::write_file(&structure, &embedded, &mut out)?;
        out.flush()
    })?;
    let left_out = embedded.left_out();
    if left_out > 0 {
        let left_out = crate::ui::text::number(left_out as u64);
        let note = format!(
            "{left_out} texts and payloads are not in the file: too large for it, or unreadable; without -o the page has all it can read"
        );
        let _ = std::io::stderr().write_all(terminal.note_line(&note).as_bytes());
    }
    if let (true, Target::Replace(path)) = (args.open, target) {
        open(path.as_os_str())?;
    }
    // The process is about to end, and freeing the objects of a long session takes a while.
    std::mem::forget((structure, embedded));
    Ok(())
}

fn serve(
    args: &ViewArgs,
    session: Session,
    newer: Option<Newer>,
    name: &str,
    terminal: &Terminal,
) -> Result<Ending, Failure> {
    let (end, ended) = tokio::sync::oneshot::channel();
    let mut end = Some(end);
    let interrupted = move || {
        if let Some(end) = end.take() {
            let _ = end.send(());
        }
    };
    ctrlc::set_handler(interrupted).map_err(Failure::internal)?;
    let failed = |error: std::io::Error| Failure::data(error).context("cannot serve the page");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_io().build().map_err(failed)?;
    runtime.block_on(async {
        let token = Token::random().map_err(failed)?;
        let server = Server::bind(session, newer, name, args.port.unwrap_or(0), token).await.map_err(|error| {
            let failure = failed(error);
            match args.port {
                Some(_) => failure.with_hint("another program may use the port; without --port, any free one is taken"),
                None => failure,
            }
        })?;
        let url = server.url();
        terminal.print(&format!("{url}\n"))?;
        if terminal.is_terminal() {
            let _ = std::io::stderr().write_all(terminal.note_line("Ctrl-C ends it").as_bytes());
        }
        if args.open {
            open(OsStr::new(&url))?;
        }
        let interrupted = async {
            let _ = ended.await;
        };
        server.run(interrupted).await.map_err(failed)
    })?;
    Ok(Ending::Done)
}

fn open(what: &OsStr) -> Result<(), Failure> {
    open::that_detached(what).map_err(|error| {
        Failure::data(error).context("cannot open a browser").with_hint("open the address or the file yourself")
    })
}
