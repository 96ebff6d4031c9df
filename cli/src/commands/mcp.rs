//! `trace mcp`: a server for clients of the Model Context Protocol.

mod host;
mod library;
mod login;

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use trace_mcp_server::answer::Redactor;
use trace_mcp_server::{Address, HttpServer, Profile, Service, serve_stdio};
use trace_recorder::redact::Rules;
use trace_server::transport::{Auth, AuthMode, AuthOptions};

use self::host::InProcess;
use self::library::Sessions;
use self::login::McpCommand;
use crate::serving::{self, ServingArgs};
use crate::signals::Signals;
use crate::ui::failure::{Ending, Failure};
use crate::ui::output::Terminal;

const AFTER_HELP: &str = "\
Examples:
  trace mcp                                    serve one client on stdin and stdout, as agents start it
  claude mcp add trace -- trace mcp --only questions
                                               add it to Claude Code; docs/mcp-server.md has other agents
  trace mcp --listen http://127.0.0.1:8766/mcp --token-file TOKEN
                                               listen for HTTP clients that send the token in TOKEN
  trace mcp login tickets                      log in at the MCP server `tickets` of config.toml, for agents that use it
  trace mcp list                               list the MCP servers of config.toml, with logins

The tools sessions, overview, postmortem, why, grep, context and query answer questions about recorded sessions, and about \
those that other agents stored. They change nothing. Each answer has at most 8,000 bytes and goes on with a cursor. The tools \
codex and codex-reply run agents, which are recorded; -c, --model, --provider, --script and --no-trace are for them. \
docs/mcp-server.md describes all of it.

Exit codes: 0 the client has gone, the server was shut down, or a subcommand is done; 1 the address cannot be listened on, \
the token cannot be read, stdin cannot be read, or a login failed; 2 wrong usage; 3 an internal error.";

/// Longest time that blocked threads may delay the end.
const END_TIMEOUT: Duration = Duration::from_millis(200);

/// Answers questions about sessions, and runs agents, over the Model Context Protocol
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP, args_conflicts_with_subcommands = true)]
pub(crate) struct McpArgs {
    #[command(subcommand)]
    command: Option<McpCommand>,
    /// Listen for HTTP clients at this address of the loopback interface, such as http://127.0.0.1:8766/mcp; with port 0, at
    /// any free port
    #[arg(long, value_name = "URL", requires = "token_file")]
    listen: Option<Address>,
    /// The file with the token that HTTP clients have to send, or with `sha256:` followed by its SHA-256 in hexadecimal
    #[arg(long, value_name = "FILE", requires = "listen")]
    token_file: Option<PathBuf>,
    /// Offer only these tools: agents or questions
    #[arg(long, value_name = "TOOLS", hide_possible_values = true)]
    only: Option<Only>,
    /// Take secrets out of the answers to questions; the default over HTTP
    #[arg(long, overrides_with = "no_redact")]
    redact: bool,
    /// Leave answers as they were recorded; the default on stdin and stdout
    #[arg(long, overrides_with = "redact")]
    no_redact: bool,
    /// Send codex/event notifications to every client (codex), or only to those that ask for them
    #[arg(long, value_name = "CLIENTS", hide_possible_values = true)]
    profile: Option<ProfileArgument>,
    #[command(flatten)]
    serving: ServingArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Only {
    Agents,
    Questions,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ProfileArgument {
    Codex,
    Standard,
}

pub(crate) fn run(args: McpArgs, terminal: &Terminal) -> Result<Ending, Failure> {
    if let Some(command) = args.command {
        return login::run(command, terminal);
    }
    let McpArgs { command: _, listen, token_file, only, redact, no_redact, profile, serving } = args;
    let auth = token_file.as_ref().map(|file| token(file)).transpose()?;
    let redacts = redact || (listen.is_some() && !no_redact);
    let redactor = if redacts { Redactor::with(Rules::default()) } else { Redactor::NONE };
    let library = Arc::new(Sessions::new(serving.named_traces()));
    let host = Arc::new(InProcess::new(serving, token_file.into_iter().collect()));
    let mut service = Service::new(library, redactor, env!("CARGO_PKG_VERSION"));
    if only != Some(Only::Questions) {
        let profile = match profile {
            Some(ProfileArgument::Codex) => Profile::Codex,
            Some(ProfileArgument::Standard) | None => Profile::Standard,
        };
        let agents: Arc<InProcess> = Arc::clone(&host);
        service = service.with_agents(agents, profile);
    }
    if only == Some(Only::Agents) {
        service = service.without_questions();
    }
    let service = Arc::new(service);
    let runtime = serving::tokio_runtime()?;
    let served = runtime.block_on(async {
        let mut signals = Signals::catch()?;
        let served = match (listen, auth) {
            (Some(address), Some(auth)) => {
                let server = HttpServer::bind(service, &address, auth).await;
                let server =
                    server.map_err(|error| Failure::data(error).context("the address cannot be listened on"))?;
                // The program that started the server reads the port from this text if it asked for a free one.
                let _ = std::io::stderr().write_all(format!("trace mcp: {}\n", server.url()).as_bytes());
                let stopped = async move {
                    let _ = signals.next().await;
                };
                server.run(stopped).await;
                Ok(())
            }
            _ => {
                tokio::select! {
                    served = serve_stdio(service, tokio::io::stdin(), tokio::io::stdout()) => served,
                    _ = signals.next() => Ok(()),
                }
            }
        };
        host.end().await;
        served.map_err(|error| Failure::data(error).context("the client cannot be read"))
    });
    // A thread that is still blocked, such as by reading standard input, must not delay the end.
    runtime.shutdown_timeout(END_TIMEOUT);
    host.end_descendants();
    served.map(|()| Ending::Done)
}

/// Returns the rule for the token in a file.
fn token(file: &std::path::Path) -> Result<Auth, Failure> {
    let options = AuthOptions {
        mode: Some(AuthMode::CapabilityToken),
        token_file: Some(file.to_owned()),
        ..AuthOptions::default()
    };
    let hint = "`(umask 077; openssl rand -hex 32 > FILE)` writes a token to a file that only you can read";
    let auth = Auth::from_options(&options).map_err(|error| Failure::data(error).with_hint(hint))?;
    auth.ok_or_else(|| Failure::internal(anyhow::anyhow!("there is no rule for the token")))
}
