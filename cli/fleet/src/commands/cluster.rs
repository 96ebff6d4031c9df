//! `trace fleet scheduler` and `trace fleet executor`, and the options with which other commands name a cluster.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use trace_fleet::query::DEFAULT_MEMORY_BYTES;
use trace_fleet::workers::Workers;

use crate::failure::{Ending, Failure};

/// Shortest time after which a silent executor is lost, in seconds: a busy one asks every 5 seconds.
const MIN_EXECUTOR_TIMEOUT: u64 = 7;

/// The secret of a cluster
#[derive(Debug, Args)]
pub(crate) struct TokenArg {
    /// File with the token that the parts of the cluster share [default: the variable TRACE_FLEET_TOKEN]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

/// The cluster that does the work
#[derive(Debug, Args)]
pub(crate) struct ClusterArgs {
    /// Let the executors of this scheduler do the work, such as http://127.0.0.1:50050
    #[arg(long, value_name = "URL")]
    cluster: Option<String>,
    #[command(flatten)]
    token: TokenArg,
    /// Setting of the engine of the cluster
    #[arg(long, value_name = "NAME=VALUE", requires = "cluster", value_parser = parse_setting)]
    cluster_set: Vec<(String, String)>,
}

/// Starts the scheduler of a cluster
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trace fleet scheduler
  trace fleet scheduler --listen 0.0.0.0:50050 --token-file token

It runs until Ctrl-C. Whoever reaches it and knows the token can read and write what the executors can, and connections are not \
encrypted: docs/fleet/cluster.md says in which network it must stay. Other machines are let in only with a token; without \
one, all users of this machine are.

Exit codes: 0 interrupted; 1 it failed; 2 wrong usage.")]
pub(crate) struct SchedulerArgs {
    /// Address and port for clients and executors
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:50050")]
    listen: SocketAddr,
    #[command(flatten)]
    token: TokenArg,
    /// An executor that is silent for so long is lost, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(MIN_EXECUTOR_TIMEOUT..=3600))]
    executor_timeout: u64,
}

/// Starts an executor of a cluster
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trace fleet executor --scheduler http://127.0.0.1:50050
  trace fleet executor --scheduler http://scheduler:50050 --listen 0.0.0.0:50051 --token-file token --slots 8

It runs until Ctrl-C. It reads sessions and lakes with its own credentials, from the same variables as the other commands. \
Sessions and lakes that are paths must be in a file system that all executors and the client share.

Exit codes: 0 interrupted; 1 it failed; 2 wrong usage.")]
pub(crate) struct ExecutorArgs {
    /// URL of the scheduler
    #[arg(long, value_name = "URL")]
    scheduler: String,
    /// Address and port for those who fetch its results; port 0 is any free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Name or address under which others reach it [default: the address from which it calls the scheduler]
    #[arg(long, value_name = "HOST")]
    host: Option<String>,
    /// Tasks at the same time [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    slots: Option<u16>,
    /// Most memory for sorting, joining and grouping, in MiB; more goes to the work folder
    #[arg(long, value_name = "MIB", default_value_t = (DEFAULT_MEMORY_BYTES >> 20) as u64, value_parser = clap::value_parser!(u64).range(1..))]
    memory: u64,
    /// Folder for intermediate results [default: that of temporary files]
    #[arg(long, value_name = "FOLDER")]
    work_dir: Option<PathBuf>,
    #[command(flatten)]
    token: TokenArg,
    /// How long it waits for a scheduler that does not answer yet, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    wait: u64,
}

/// Parses `NAME=VALUE`.
fn parse_setting(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

impl ClusterArgs {
    /// Returns the cluster that does the work, or `None` if this process does it.
    pub(crate) fn open(&self) -> Result<Option<Arc<dyn Workers>>, Failure> {
        match &self.cluster {
            None => Ok(None),
            Some(url) => parts::open(url, &self.token, &self.cluster_set).map(Some),
        }
    }
}

pub(crate) fn scheduler(args: &SchedulerArgs) -> Result<Ending, Failure> {
    parts::scheduler(args)
}

pub(crate) fn executor(args: &ExecutorArgs) -> Result<Ending, Failure> {
    parts::executor(args)
}

/// The parts of a program that was built without them.
#[cfg(not(feature = "cluster"))]
mod parts {
    use super::*;

    fn missing() -> Failure {
        Failure::usage("this trace-fleet was built without the cluster").with_hint(
            "cargo build --release --features cluster --manifest-path reducer/fleet/Cargo.toml makes one with it",
        )
    }

    pub(super) fn open(_: &str, _: &TokenArg, _: &[(String, String)]) -> Result<Arc<dyn Workers>, Failure> {
        Err(missing())
    }

    pub(super) fn scheduler(_: &SchedulerArgs) -> Result<Ending, Failure> {
        Err(missing())
    }

    pub(super) fn executor(_: &ExecutorArgs) -> Result<Ending, Failure> {
        Err(missing())
    }
}

#[cfg(feature = "cluster")]
mod parts {
    use std::fs::File;
    use std::io::Read as _;
    use std::time::Duration;

    use trace_fleet::cluster::{
        Cluster, Executor, ExecutorOptions, MAX_TOKEN_BYTES, Scheduler, SchedulerOptions, Token,
    };

    use super::*;
    use crate::commands::{runtime, stop_flag, stopped, store_options};
    use crate::terminal;

    /// Name of the variable with the token.
    const TOKEN: &str = "TRACE_FLEET_TOKEN";

    /// Most white space around the token in a file, in bytes.
    const MAX_SPACE_BYTES: usize = 64;

    fn token(argument: &TokenArg) -> Result<Option<Token>, Failure> {
        let (text, place) = match &argument.token_file {
            None => match std::env::var(TOKEN) {
                Ok(text) => (text, TOKEN.to_owned()),
                Err(_) => return Ok(None),
            },
            Some(path) => {
                let named = |error: std::io::Error| {
                    Failure::data(anyhow::Error::from(error).context(format!("{} cannot be read", path.display())))
                };
                let mut text = String::new();
                let file = File::open(path).map_err(named)?;
                file.take((MAX_TOKEN_BYTES + MAX_SPACE_BYTES) as u64).read_to_string(&mut text).map_err(named)?;
                (text, path.display().to_string())
            }
        };
        Token::parse(&text).map(Some).map_err(|error| Failure::usage(format!("{place} has no token: {error}")))
    }

    pub(super) fn open(
        url: &str,
        argument: &TokenArg,
        settings: &[(String, String)],
    ) -> Result<Arc<dyn Workers>, Failure> {
        Ok(Arc::new(Cluster::new(url, token(argument)?, settings.to_vec())?))
    }

    pub(super) fn scheduler(args: &SchedulerArgs) -> Result<Ending, Failure> {
        let options = SchedulerOptions {
            address: args.listen,
            token: token(&args.token)?,
            stores: store_options(),
            executor_timeout: Duration::from_secs(args.executor_timeout),
        };
        let stop = stop_flag()?;
        runtime()?.block_on(async {
            let mut scheduler = Scheduler::start(options).await?;
            terminal::print(&format!("scheduler on http://{}\n", scheduler.address())).map_err(Failure::data)?;
            tokio::select! {
                () = stopped(&stop) => {}
                ended = scheduler.ended() => ended?,
            }
            Ok(Ending::Done)
        })
    }

    pub(super) fn executor(args: &ExecutorArgs) -> Result<Ending, Failure> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let options = ExecutorOptions {
            scheduler: args.scheduler.clone(),
            address: args.listen,
            host: args.host.clone(),
            slots: args.slots.map_or(cores, usize::from),
            work_dir: args.work_dir.clone(),
            memory_bytes: usize::try_from(args.memory << 20).unwrap_or(usize::MAX),
            token: token(&args.token)?,
            stores: store_options(),
            wait: Duration::from_secs(args.wait),
        };
        let stop = stop_flag()?;
        runtime()?.block_on(async {
            let started = tokio::select! {
                () = stopped(&stop) => return Ok(Ending::Done),
                started = Executor::start(options) => started,
            };
            let mut executor = started?;
            terminal::print(&format!("executor on {}\n", executor.address())).map_err(Failure::data)?;
            tokio::select! {
                () = stopped(&stop) => {}
                ended = executor.ended() => ended?,
            }
            executor.stop().await;
            Ok(Ending::Done)
        })
    }
}
