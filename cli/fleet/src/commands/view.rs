//! `trace fleet view`: shows a lake, or a session of it, as a page.

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use tokio::sync::Notify;
use trace_fleet_page::{Board, PAGE_LIMITS, router, source};
use trace_serve::{Server, Token};

use super::{open_lake_at, query, runtime, show, store_options};
use crate::failure::{Ending, Failure};
use crate::terminal;

const AFTER_HELP: &str = "\
Examples:
  trace fleet view --lake lake --open                          show a lake in the browser
  trace fleet view --lake s3://bucket/lake --prices prices.toml   with money instead of tokens
  trace fleet view s3://bucket/sessions/1.trace                show one session, as `trace view` does

The page of a lake shows failures, costs and sessions over time, groups of them, and the sessions behind each point of a chart. A \
session opens on its own page. The page is served on the loopback interface, to those who have its address, until Ctrl-C; it changes \
nothing. The address is the first line on stdout. Each answer has few rows, however large the lake is.

With the address of a session, arguments after it go to `trace view`, whose exit code this one has. What lies in object storage is \
read by ranges.

Exit codes: 0 done; 1 there is no lake or session, or the page could not be served; 2 wrong usage.";

/// Shows a lake, or a session of it, as a page in the browser
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ViewArgs {
    /// The lake: a path or a URL
    #[arg(long, value_name = "URL", env = "TRACE_LAKE", hide_env_values = true, required_unless_present = "address")]
    lake: Option<String>,
    /// A table of prices, for money instead of tokens; docs/costs.md describes it
    #[arg(long, value_name = "FILE", conflicts_with = "address")]
    prices: Option<PathBuf>,
    /// Open the page in the browser
    #[arg(long)]
    open: bool,
    /// The port to serve on [default: any free one]
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// Address of a session, to show it instead of the lake
    address: Option<String>,
    /// With an address: arguments of `trace view`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<OsString>,
}

pub(crate) fn run(args: &ViewArgs) -> Result<Ending, Failure> {
    match (&args.address, &args.lake) {
        (Some(address), _) => {
            let port = args.port.map(|port| ["--port".into(), port.to_string().into()]);
            let open = args.open.then(|| "--open".into());
            let rest: Vec<OsString> =
                open.into_iter().chain(port.into_iter().flatten()).chain(args.rest.clone()).collect();
            show::run("view", address, &rest)
        }
        (None, Some(lake)) => serve(args, lake),
        (None, None) => {
            Err(Failure::usage("there is neither a lake nor the address of a session").with_hint("--lake URL"))
        }
    }
}

fn serve(args: &ViewArgs, lake: &str) -> Result<Ending, Failure> {
    let prices = args.prices.as_ref().map(query::prices).transpose()?;
    let failed = |error: io::Error| Failure::data(anyhow::Error::from(error).context("cannot serve the page"));
    let runtime = runtime()?;
    let ended = Arc::new(Notify::new());
    let interrupted = Arc::clone(&ended);
    // A connection that a browser keeps open does not delay the end.
    ctrlc::set_handler(move || interrupted.notify_one()).map_err(Failure::data)?;
    let served = runtime.block_on(async {
        let lake = open_lake_at(lake).await?;
        let board = Arc::new(Board::open(lake, prices, PAGE_LIMITS).await?);
        let sessions = source(Arc::clone(&board), store_options(), runtime.handle().clone());
        let token = Token::random().map_err(failed)?;
        let server = Server::bind_fleet(router(board), sessions, args.port.unwrap_or(0), token).await;
        let server = server.map_err(|error| match args.port {
            Some(_) => {
                failed(error).with_hint("another program may use the port; without --port, any free one is taken")
            }
            None => failed(error),
        })?;
        let url = server.url();
        terminal::print(&format!("{url}\n")).map_err(failed)?;
        if io::stdout().is_terminal() {
            terminal::say("Ctrl-C ends it");
        }
        if args.open {
            open::that_detached(&url).map_err(|error| {
                Failure::data(anyhow::Error::from(error).context("cannot open a browser"))
                    .with_hint("open the address yourself")
            })?;
        }
        let end = async move { ended.notified().await };
        server.run(end).await.map_err(failed)
    });
    // A question that is not answered yet has nobody who waits for it.
    runtime.shutdown_background();
    served.map(|()| Ending::Done)
}
