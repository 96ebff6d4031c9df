//! `trace serve`: an app-server that records every session.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use trace_server::transport::{Auth, AuthMode, AuthOptions, BindError, Listen, Shutdown, bind, proxy, serve};

use crate::argument;
use crate::commands::replay::HowArgs;
use crate::remote::{Dialling, RemoteArgs};
use crate::serving::{self, Preparation, ServingArgs};
use crate::signals::Signals;
use crate::ui::failure::{Ending, Failure};

mod seal;
mod web;

use seal::SealCommand;
use web::WebArgs;

const AFTER_HELP: &str = "\
Examples:
  trace serve --listen ws://127.0.0.1:8765     listen for WebSocket clients
  codex --remote ws://127.0.0.1:8765           connect the Codex terminal client
  trace serve --listen ws://127.0.0.1:8765 --web --open   use it in the browser
  trace serve --listen unix://                 listen on a socket in the server home; `trace serve proxy` connects to it
  trace serve --remote wss://relay:4600 --device-token-file F    dial a relay, for clients elsewhere (docs/relay.md)
  trace serve seal add phone                   print a code with which `trace relay connect` seals its messages
  trace serve                                  serve one client on stdin and stdout, as SDKs start it
  trace serve --provider scripted              play scripts in the messages; needs no API key and no network

The server speaks version 2 of the Codex app-server protocol. Threads are stored in $TRACE_HOME (~/.trace), and every \
session is recorded as a bundle in $TRACE_ROOT (or traces in the server home), which all other commands read. Models \
are requested at OPENAI_BASE_URL with OPENAI_API_KEY, or as config.toml says. After the first SIGTERM, SIGHUP or \
Ctrl-C, running turns may complete; a second one ends them.

Exit codes: 0 shut down; 1 the server home cannot be used, or the address cannot be listened on; 2 wrong usage; 3 an \
internal error.";

/// Serves agents to clients, and records what they do
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP, args_conflicts_with_subcommands = true)]
pub(crate) struct ServeArgs {
    #[command(subcommand)]
    command: Option<ServeCommand>,
    /// The address for clients: stdio://, ws://IP:PORT, unix://PATH, unix://, or off
    #[arg(long, value_name = "URL")]
    listen: Option<String>,
    /// The same as --listen stdio://, the default
    #[arg(long, conflicts_with = "listen")]
    stdio: bool,
    /// Replay this recorded session: the output of the model and of tools comes from the bundle
    #[arg(long, value_name = "BUNDLE", add = argument::sessions())]
    replay: Option<PathBuf>,
    #[command(flatten)]
    how: HowArgs,
    /// The folder of threads whose clients name none [default: the current one; with --replay --tools live there is no
    /// default]
    #[arg(short = 'C', long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    #[command(flatten)]
    serving: ServingArgs,
    #[command(flatten)]
    auth: AuthArgs,
    #[command(flatten)]
    web: WebArgs,
    #[command(flatten)]
    remote: RemoteArgs,
}

#[derive(Debug, Subcommand)]
enum ServeCommand {
    /// Connects stdin and stdout to a server on a unix socket, byte for byte
    Proxy {
        /// The socket [default: that of `trace serve --listen unix://`]
        #[arg(long, value_name = "PATH")]
        sock: Option<PathBuf>,
        /// The server home [default: $TRACE_HOME, or ~/.trace]
        #[arg(long, value_name = "DIR")]
        home: Option<PathBuf>,
    },
    /// Manages the clients whose messages a relay cannot read
    Seal {
        #[command(subcommand)]
        command: SealCommand,
        /// The server home [default: $TRACE_HOME, or ~/.trace]
        #[arg(long, value_name = "DIR", global = true)]
        home: Option<PathBuf>,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum WsAuth {
    CapabilityToken,
    SignedBearerToken,
}

/// How WebSocket clients authenticate.
#[derive(Debug, Args)]
#[command(next_help_heading = "Who may connect to ws://")]
struct AuthArgs {
    /// How clients authenticate: capability-token or signed-bearer-token
    #[arg(long, value_name = "MODE", hide_possible_values = true)]
    ws_auth: Option<WsAuth>,
    /// The file with the capability token, or with `sha256:` followed by its SHA-256 in hexadecimal
    #[arg(long, value_name = "FILE")]
    ws_token_file: Option<PathBuf>,
    /// The SHA-256 of the capability token, in hexadecimal
    #[arg(long, value_name = "HEX")]
    ws_token_sha256: Option<String>,
    /// The file with the secret that signs bearer tokens (HS256)
    #[arg(long, value_name = "FILE")]
    ws_shared_secret_file: Option<PathBuf>,
    /// The issuer that a bearer token must name
    #[arg(long, value_name = "NAME")]
    ws_issuer: Option<String>,
    /// The audience that a bearer token must name
    #[arg(long, value_name = "NAME")]
    ws_audience: Option<String>,
    /// Allowed difference of the clocks, in seconds [default: 30]
    #[arg(long, value_name = "SECONDS")]
    ws_max_clock_skew_seconds: Option<u64>,
}

impl From<&AuthArgs> for AuthOptions {
    fn from(args: &AuthArgs) -> Self {
        Self {
            mode: args.ws_auth.map(|mode| match mode {
                WsAuth::CapabilityToken => AuthMode::CapabilityToken,
                WsAuth::SignedBearerToken => AuthMode::SignedBearerToken,
            }),
            token_file: args.ws_token_file.clone(),
            token_sha256: args.ws_token_sha256.clone(),
            shared_secret_file: args.ws_shared_secret_file.clone(),
            issuer: args.ws_issuer.clone(),
            audience: args.ws_audience.clone(),
            max_clock_skew_seconds: args.ws_max_clock_skew_seconds,
        }
    }
}

pub(crate) fn run(args: &ServeArgs) -> Result<Ending, Failure> {
    match &args.command {
        Some(ServeCommand::Proxy { sock, home }) => connect(sock.as_ref(), home.as_ref()),
        Some(ServeCommand::Seal { command, home }) => seal::run(command, home.as_ref()),
        None => listen(args),
    }
}

/// How long a server that is forced to end may take to drop its tasks, which kills the programs that it started.
const FORCED_TIMEOUT: Duration = Duration::from_millis(500);

fn listen(args: &ServeArgs) -> Result<Ending, Failure> {
    let cwd = working_folder(args)?;
    let home = args.serving.home()?;
    let default = if args.remote.is_set() && !args.stdio { "off" } else { "stdio://" };
    let place = Listen::parse(args.listen.as_deref().unwrap_or(default), &home).map_err(Failure::usage)?;
    let auth = Auth::from_options(&AuthOptions::from(&args.auth)).map_err(Failure::usage)?;
    let remote = args.remote.options(&home)?;
    let replay = args.replay.as_ref().map(|bundle| args.how.open(bundle, None)).transpose()?;
    if let Some(replay) = &replay {
        replay.work_in(&cwd);
    }
    if args.web.is_on() && !matches!(place, Listen::WebSocket(_)) {
        return Err(Failure::usage(BindError::WebWithoutTcp));
    }
    // The file with its token must exist before commands are kept from reading it.
    let web = args.web.access(auth.as_ref())?;
    let secret_files: Vec<PathBuf> =
        [&args.auth.ws_token_file, &args.auth.ws_shared_secret_file, args.web.token_file(), args.remote.secret_file()]
            .into_iter()
            .flatten()
            .cloned()
            .collect();
    let preparation = Preparation { replay: replay.as_ref(), secret_files: &secret_files, ..Preparation::default() };
    let serving = args.serving.prepare_with(&cwd, &preparation)?;
    let runtime = serving::tokio_runtime()?;
    let grace = runtime.block_on(async {
        // The signals are caught before the server can be reached. An early signal must not leave a socket or an
        // incomplete home behind.
        let shutdown = Shutdown::new();
        let signals = tokio::spawn(end_by(Signals::catch()?, shutdown.clone()));
        let mut bound = bind(&place, auth).await.map_err(Failure::data)?;
        let traces = serving.traces.clone();
        let server = serving.start()?;
        if let Some(web) = web {
            bound = bound.with_web(web.client(&server)).map_err(Failure::usage)?;
        }
        if let Some(banner) = bound.banner() {
            let mut text = format!("{banner}\n");
            if let Some(traces) = traces {
                text.push_str(&format!("  sessions are recorded in {}\n", traces.display()));
            }
            // The program that started the server reads the port from this text if it asked for a free one.
            let _ = std::io::stderr().write_all(text.as_bytes());
            if let (true, Some(url)) = (args.web.opens(), &banner.web) {
                web::open(url);
            }
        }
        let dialling = remote.map(|remote| Dialling::start(&remote, server.opener(), &shutdown)).transpose()?;
        serve(bound, server.opener(), &shutdown).await;
        if let Some(dialling) = dialling {
            dialling.end(&shutdown).await;
        }
        if let Some(replay) = &replay {
            replay.end();
        }
        let grace = tokio::select! {
            () = server.shutdown() => Duration::ZERO,
            () = shutdown.forced() => FORCED_TIMEOUT,
        };
        signals.abort();
        Ok::<_, Failure>(grace)
    })?;
    // A thread that is still blocked, such as by reading standard input, must not delay the end.
    runtime.shutdown_timeout(grace);
    serving::end_descendants();
    Ok(Ending::Done)
}

/// Returns the folder of threads whose clients name none.
fn working_folder(args: &ServeArgs) -> Result<PathBuf, Failure> {
    let cwd = match &args.cwd {
        Some(cwd) if !cwd.is_dir() => return Err(Failure::usage(format!("{} is not a folder", cwd.display()))),
        Some(cwd) => std::path::absolute(cwd),
        // Recorded commands are not trusted, so they run only in a folder that the user named. The user cannot be
        // asked, since stdin may belong to a client.
        None if args.replay.is_some() && args.how.runs_commands() => {
            let message = "--tools live runs the recorded commands, and -C does not name a folder for them";
            return Err(Failure::usage(message).with_hint("name it with -C DIR, or use --tools recorded"));
        }
        None => std::env::current_dir(),
    };
    cwd.map_err(|error| Failure::data(error).context("there is no working folder"))
}

/// Shuts the server down at the first signal, and ends it at once at the second.
async fn end_by(mut signals: Signals, shutdown: Shutdown) {
    loop {
        signals.next().await;
        shutdown.signal();
    }
}

fn connect(sock: Option<&PathBuf>, home: Option<&PathBuf>) -> Result<Ending, Failure> {
    let socket = match sock {
        Some(socket) => socket.clone(),
        None => {
            let home = ServingArgs::of_home(home.cloned()).home()?;
            match Listen::parse("unix://", &home).map_err(Failure::usage)? {
                Listen::Unix(socket) => socket,
                _ => return Err(Failure::usage("name the socket with --sock PATH")),
            }
        }
    };
    let runtime = serving::tokio_runtime()?;
    let connected = runtime.block_on(proxy(tokio::io::stdin(), tokio::io::stdout(), &socket));
    runtime.shutdown_background();
    connected.map_err(|error| {
        Failure::data(error).with_hint("`trace serve --listen unix://PATH` starts a server on a socket")
    })?;
    Ok(Ending::Done)
}
