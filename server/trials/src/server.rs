//! Servers as processes: starting them, measuring their resources, and ending them.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use clap::ValueEnum;
use serde::Serialize;
use serde_json::Value;
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

/// Timeout for a server to listen.
const START_LIMIT: Duration = Duration::from_secs(60);

/// Timeout for a server to end after SIGTERM.
const END_LIMIT: Duration = Duration::from_secs(30);

/// Unit of processor time in `/proc`: always a hundredth of a second on Linux.
const TICKS_PER_SECOND: f64 = 100.0;

/// Environment variables by which a server gets its home.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Profile {
    /// `trace serve`: `TRACE_HOME`, and `TRACE_ROOT` for its bundles
    Trace,
    /// `codex app-server`: `CODEX_HOME`
    Codex,
}

/// A command that starts a server.
#[derive(Debug, Clone)]
pub struct ServerCommand {
    words: Vec<String>,
    profile: Profile,
}

impl ServerCommand {
    /// Parses a command in the syntax of a shell.
    ///
    /// # Errors
    ///
    /// Returns an error if quotes do not match, or if the command is empty.
    pub fn parse(text: &str, profile: Profile) -> anyhow::Result<Self> {
        let words = shlex::split(text).filter(|words| !words.is_empty());
        Ok(Self { words: words.with_context(|| format!("`{text}` is no command"))?, profile })
    }

    /// Returns the name of the program.
    #[must_use]
    pub fn name(&self) -> &str {
        Path::new(&self.words[0]).file_name().and_then(|name| name.to_str()).unwrap_or("server")
    }

    /// Returns the number of events of a bundle that the server recorded. The server's program reads a file, and any bundle of it.
    ///
    /// # Errors
    ///
    /// Returns an error if the program cannot read the bundle.
    pub async fn count_events(&self, bundle: &Path) -> anyhow::Result<usize> {
        let question = "SELECT count(*) AS events FROM events";
        let output = Command::new(&self.words[0]).args(["query", "--json"]).arg(bundle).arg(question).output().await?;
        let rows: Value = serde_json::from_slice(&output.stdout).with_context(|| {
            format!("{} has no events: {}", bundle.display(), String::from_utf8_lossy(&output.stderr))
        })?;
        let count = rows[0]["events"].as_u64().context("the program does not count")?;
        Ok(usize::try_from(count)?)
    }

    /// Returns whether the server records bundles.
    #[must_use]
    pub fn records(&self) -> bool {
        self.profile == Profile::Trace
    }

    /// Returns the command of the same server with recording switched off.
    #[must_use]
    pub fn without_recording(&self) -> Self {
        let words = self.words.iter().cloned().chain(["--no-trace".to_owned()]).collect();
        Self { words, profile: self.profile }
    }

    fn prepare(&self, home: &Home, listen: &str) -> anyhow::Result<Command> {
        let errors = fs::OpenOptions::new().create(true).append(true).open(home.path().join("server.stderr"))?;
        let mut command = Command::new(&self.words[0]);
        command
            .args(&self.words[1..])
            .args(["--listen", listen])
            .current_dir(home.work())
            .env("HOME", home.path())
            .env("CODEX_HOME", home.path())
            .stderr(errors)
            .kill_on_drop(true);
        if self.profile == Profile::Trace {
            command.env("TRACE_HOME", home.path()).env("TRACE_ROOT", home.bundles()).env("OPENAI_API_KEY", "none");
        }
        Ok(command)
    }

    /// Starts a server that listens on loopback, and waits until it accepts connections.
    ///
    /// # Errors
    ///
    /// Returns an error if the server ends, or does not listen in time.
    pub async fn listen(&self, home: &Home) -> anyhow::Result<Running> {
        // The port is released here and bound again by the server. Nothing else on this machine asks for one meanwhile.
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let url = format!("ws://127.0.0.1:{port}");
        let mut command = self.prepare(home, &url)?;
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().context("the server does not start")?;
        let began = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
            if let Some(status) = child.try_wait()? {
                bail!(
                    "the server ended before it listened: {status}; see {}",
                    home.path().join("server.stderr").display()
                );
            }
            ensure!(began.elapsed() < START_LIMIT, "the server does not listen on {url}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Ok(Running { child, url, start: began.elapsed() })
    }

    /// Starts a server that uses its standard streams.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be started.
    pub fn pipe(&self, home: &Home) -> anyhow::Result<Running> {
        let mut command = self.prepare(home, "stdio://")?;
        let child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().context("the server does not start")?;
        Ok(Running { child, url: String::new(), start: Duration::ZERO })
    }
}

/// The server home of a trial. It is deleted when it is dropped.
pub struct Home {
    folder: TempDir,
}

impl Home {
    /// Makes a home with a configuration that names the stand-in for a model.
    ///
    /// `provider` contains lines of TOML for the table of the provider.
    ///
    /// # Errors
    ///
    /// Returns an error if the files cannot be written.
    pub fn new(model_url: &str, provider: &str) -> anyhow::Result<Self> {
        let home = Self { folder: tempfile::Builder::new().prefix("trial-").tempdir()? };
        fs::create_dir(home.work())?;
        fs::create_dir(home.bundles())?;
        let config = format!(
            r#"model = "stand-in"
model_provider = "stand-in"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
suppress_unstable_features_warning = true
[model_providers.stand-in]
name = "stand-in"
base_url = "{model_url}"
wire_api = "responses"
supports_websockets = false
{provider}"#
        );
        fs::write(home.path().join("config.toml"), config)?;
        Ok(home)
    }

    /// Returns the path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the path of the folder in which agents work.
    #[must_use]
    pub fn work(&self) -> PathBuf {
        self.path().join("work")
    }

    /// Returns the path of the folder with the bundles.
    #[must_use]
    pub fn bundles(&self) -> PathBuf {
        self.path().join("bundles")
    }

    /// Returns the paths of the bundles, which are directories or files.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder cannot be read.
    pub fn recorded(&self) -> anyhow::Result<Vec<PathBuf>> {
        let entries =
            fs::read_dir(self.bundles())?.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<Vec<_>>>()?;
        // What is being written has a hidden name.
        let is_hidden = |path: &Path| path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
        let is_packed = |path: &Path| path.extension().is_some_and(|extension| extension == "trace") && path.is_file();
        let is_bundle = |path: &PathBuf| path.join("manifest.json").is_file() || is_packed(path) && !is_hidden(path);
        let mut bundles: Vec<PathBuf> = entries.into_iter().filter(is_bundle).collect();
        bundles.sort();
        Ok(bundles)
    }

    /// Keeps the folder on disk, and returns its path.
    #[must_use]
    pub fn keep(self) -> PathBuf {
        self.folder.keep()
    }
}

/// Memory of a process, in bytes.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Memory {
    /// Resident memory now.
    pub resident: u64,
    /// Greatest resident memory since the process started.
    pub peak: u64,
}

/// A running server. It is killed when this is dropped.
pub struct Running {
    /// Its process.
    pub child: Child,
    /// URL at which it listens. Empty if it uses its standard streams.
    pub url: String,
    /// Time until it listened.
    pub start: Duration,
}

impl Running {
    fn pid(&self) -> anyhow::Result<rustix::process::Pid> {
        let id = self.child.id().context("the server ended")?;
        rustix::process::Pid::from_raw(i32::try_from(id)?).context("the server has no process id")
    }

    /// Returns the memory of the process.
    ///
    /// # Errors
    ///
    /// Returns an error if the process has ended.
    pub fn memory(&self) -> anyhow::Result<Memory> {
        let id = self.child.id().context("the server ended")?;
        let status = fs::read_to_string(format!("/proc/{id}/status")).context("the server ended")?;
        let line = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok())
                .map_or(0, |kilobytes| kilobytes * 1024)
        };
        Ok(Memory { resident: line("VmRSS:"), peak: line("VmHWM:") })
    }

    /// Returns the processor time of the process, summed over all of its threads.
    ///
    /// # Errors
    ///
    /// Returns an error if the process has ended.
    pub fn processor_time(&self) -> anyhow::Result<Duration> {
        let id = self.child.id().context("the server ended")?;
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).context("the server ended")?;
        // The name of the program is in parentheses and may contain anything, so parse only the part after it.
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks = |field: usize| fields.get(field).and_then(|ticks| ticks.parse::<u64>().ok()).unwrap_or_default();
        Ok(Duration::from_secs_f64((ticks(11) + ticks(12)) as f64 / TICKS_PER_SECOND))
    }

    /// Kills the process with SIGKILL.
    ///
    /// # Errors
    ///
    /// Returns an error if the process has already ended.
    pub async fn kill(mut self) -> anyhow::Result<()> {
        rustix::process::kill_process(self.pid()?, rustix::process::Signal::KILL)?;
        self.child.wait().await?;
        Ok(())
    }

    /// Sends SIGTERM to the process, and waits until it has ended.
    ///
    /// # Errors
    ///
    /// Returns an error if the process does not end in time, or ends with a status other than 0.
    pub async fn end(mut self) -> anyhow::Result<()> {
        rustix::process::kill_process(self.pid()?, rustix::process::Signal::TERM)?;
        let status = tokio::time::timeout(END_LIMIT, self.child.wait()).await.context("the server does not end")??;
        ensure!(status.success(), "the server ended with {status}");
        Ok(())
    }
}

/// Raises the limit of open files of this process, and of every server that it starts, to the greatest allowed value.
pub fn allow_many_files() {
    let mut limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    limit.current = limit.maximum;
    // If this fails, the trial with many connections will report an error.
    let _refused = rustix::process::setrlimit(rustix::process::Resource::Nofile, limit);
}
