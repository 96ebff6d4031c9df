//! `trace mcp login`, `logout` and `list`: the user's logins at MCP servers that agents use.

use std::io::{BufRead as _, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use tokio::sync::mpsc;
use trace_mcp::oauth::{LoginOptions, OAuthError, PendingLogin, Registration};
use trace_mcp::{OAuth, ServerConfig, Transport};
use trace_server::config::Config;

use crate::serving::{self, ServingArgs};
use crate::ui::failure::{Ending, Failure};
use crate::ui::output::Terminal;
use crate::ui::text;

/// Longest time limit of a login, in seconds.
const MAX_LOGIN_SECONDS: u64 = 3600;

/// What a user does with MCP servers.
#[derive(Debug, Subcommand)]
pub(super) enum McpCommand {
    /// Logs in at an MCP server that agents use over HTTP, by OAuth
    Login(LoginArgs),
    /// Forgets the login at an MCP server
    Logout {
        /// The MCP server
        name: String,
        #[command(flatten)]
        place: PlaceArgs,
    },
    /// Lists the configured MCP servers, and where the user is logged in
    List {
        #[command(flatten)]
        place: PlaceArgs,
    },
}

/// How a user logs in.
#[derive(Debug, Args)]
pub(super) struct LoginArgs {
    /// The MCP server
    name: String,
    /// Print the address instead of opening a browser. The address at which the browser ends can be pasted
    #[arg(long, conflicts_with = "device")]
    no_browser: bool,
    /// Print a code to type on another device, instead of an address; the default without a display
    #[arg(long)]
    device: bool,
    /// The scopes to ask for, separated by commas [default: those of the configuration or of the MCP server]
    #[arg(long, value_name = "SCOPE,...", value_delimiter = ',')]
    scopes: Option<Vec<String>>,
    /// Time limit in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=MAX_LOGIN_SECONDS))]
    timeout: u64,
    #[command(flatten)]
    place: PlaceArgs,
}

/// Where the configuration and the logins are.
#[derive(Debug, Args)]
pub(super) struct PlaceArgs {
    /// The server home, with the configuration and the logins [default: $TRACE_HOME, or ~/.trace]
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,
    /// Set a key of the configuration for this run, as in `-c mcp_oauth_callback_port=4599`
    #[arg(short = 'c', long = "config", value_name = "KEY=VALUE")]
    config: Vec<String>,
}

pub(super) fn run(command: McpCommand, terminal: &Terminal) -> Result<Ending, Failure> {
    match command {
        McpCommand::Login(args) => login(&args),
        McpCommand::Logout { name, place } => logout(&name, &place),
        McpCommand::List { place } => list(&place, terminal),
    }
}

impl PlaceArgs {
    /// Returns the configuration, and the logins of the server home.
    fn read(&self) -> Result<(std::sync::Arc<Config>, OAuth), Failure> {
        let serving = ServingArgs::of_home(self.home.clone());
        let home = serving.home()?;
        let configuration = serving.configuration(&home, &self.config)?;
        Ok((configuration.last_good(), OAuth::of_home(&home)))
    }
}

fn server<'a>(config: &'a Config, name: &str) -> Result<&'a ServerConfig, Failure> {
    let found = config.mcp_servers.iter().find(|server| server.name == name);
    found.ok_or_else(|| {
        let known: Vec<&str> = config.mcp_servers.iter().map(|server| server.name.as_str()).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        Failure::usage(format!("there is no MCP server `{name}`; there are: {known}"))
            .with_hint("MCP servers are described in config.toml: see docs/mcp.md")
    })
}

fn failure(error: OAuthError) -> Failure {
    match error {
        OAuthError::NoLogin { .. } | OAuthError::NoDeviceGrant { .. } => Failure::usage(error),
        _ => Failure::data(error),
    }
}

fn login(args: &LoginArgs) -> Result<Ending, Failure> {
    let (config, logins) = args.place.read()?;
    let server = server(&config, &args.name)?;
    let options = |device| LoginOptions {
        scopes: args.scopes.clone(),
        registration: Registration::Auto,
        callback: config.mcp_oauth_callback.clone(),
        device,
    };
    let runtime = serving::tokio_runtime()?;
    runtime.block_on(async {
        let may_browse = !args.no_browser && !args.device && has_display();
        let prefers_device = args.device || (!args.no_browser && !may_browse);
        let pending = match logins.begin(server, options(prefers_device)).await {
            // Without a display, a device grant is only the better choice.
            Err(OAuthError::NoDeviceGrant { .. }) if !args.device => logins.begin(server, options(false)).await,
            other => other,
        };
        let pending = pending.map_err(failure)?;
        let pasted = show(&pending, may_browse);
        pending.finish(Duration::from_secs(args.timeout), pasted).await.map_err(failure)
    })?;
    // A thread may still wait for a line on stdin.
    runtime.shutdown_background();
    print(&format!("logged in at {}\n", args.name))
}

/// Shows the user what to do. Returns the lines that the user pastes.
fn show(pending: &PendingLogin, may_browse: bool) -> Option<mpsc::Receiver<String>> {
    let url = pending.authorization_url();
    let mut text = match pending.device_code() {
        Some(code) if *url == code.verification_url => {
            format!("Open this address on any device:\n\n  {url}\n\nand type the code:\n\n  {}\n", code.user_code)
        }
        Some(code) => {
            format!("Open this address on any device, and compare the code:\n\n  {url}\n\n  {}\n", code.user_code)
        }
        None => format!("Open this address in a browser to log in:\n\n  {url}\n"),
    };
    let pasted = pending.device_code().is_none().then(|| {
        if !may_browse {
            text.push_str(
                "\nIf the browser is on another machine, it ends at an address that it cannot open. Paste that address here:\n",
            );
        }
        lines()
    });
    let _ = std::io::stderr().write_all(format!("{text}\n").as_bytes());
    if may_browse && let Err(error) = open::that_detached(url.as_str()) {
        let _ = writeln!(std::io::stderr(), "cannot open a browser: {error}; open the address yourself");
    }
    pasted
}

/// Reads lines of stdin on a thread of its own, which ends with the process.
fn lines() -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel(1);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok).filter(|line| !line.trim().is_empty()) {
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// Returns whether a browser can be shown on this machine.
fn has_display() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    cfg!(target_os = "macos") || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")
}

fn logout(name: &str, place: &PlaceArgs) -> Result<Ending, Failure> {
    let (config, logins) = place.read()?;
    let server = server(&config, name)?;
    let removed = serving::tokio_runtime()?.block_on(logins.logout(server)).map_err(failure)?;
    print(&if removed { format!("logged out of {name}\n") } else { format!("nobody was logged in at {name}\n") })
}

fn list(place: &PlaceArgs, terminal: &Terminal) -> Result<Ending, Failure> {
    let (config, logins) = place.read()?;
    if config.mcp_servers.is_empty() {
        return print("no MCP servers are configured\n");
    }
    let mut table = terminal.table(&["NAME", "SERVER", "LOGIN"]);
    for server in &config.mcp_servers {
        let (address, login) = match &server.transport {
            Transport::Process { command, .. } => (command.clone(), "none needed".to_owned()),
            Transport::Http { url, bearer_token_env_var, .. } => {
                let login = match (bearer_token_env_var, logins.stored(server)) {
                    (Some(variable), _) => format!("token in {variable}"),
                    (None, Err(error)) => error.to_string(),
                    (None, Ok(None)) => "not logged in".to_owned(),
                    (None, Ok(Some(stored))) => match stored.scopes.join(" ") {
                        scopes if scopes.is_empty() => format!("logged in at {}", stored.issuer),
                        scopes => format!("logged in at {}: {scopes}", stored.issuer),
                    },
                };
                (format!("{}{}", url.origin().ascii_serialization(), url.path()), login)
            }
        };
        // The issuer and the scopes are words of an authorization server.
        let login = text::clean(&login).into_owned();
        let login = if server.enabled { login } else { format!("{login}, disabled") };
        table.add_row([server.name.clone(), trace_text::preview(&address, trace_text::Usage::Command, 120), login]);
    }
    print(&format!("{table}\n"))
}

fn print(text: &str) -> Result<Ending, Failure> {
    std::io::stdout().write_all(text.as_bytes()).map_err(Failure::data)?;
    Ok(Ending::Done)
}
