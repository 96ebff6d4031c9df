//! Puts together what every command needs that runs agents: the server home, configuration, providers, tools and
//! recording.

use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use trace_recorder::write::{Form, TraceRoot, WriterOptions};
use trace_runtime::environment::CommandEnvironment;
use trace_runtime::provider::config::{KeySource, OPENAI_KEY_VARIABLE};
use trace_runtime::provider::scripted::Scripted;
use trace_runtime::provider::{Attestor, HttpProvider, Provider, TokenCommand, TokenSource};
use trace_runtime::replay::{PROVIDER_NAME, Replay};
use trace_runtime::runtime::RuntimeOptions;
use trace_runtime::sandbox::{
    self, Bubblewrap, ControlGroup, ControlGroups, HiddenPlace, Repositories, SandboxLauncher, Surroundings, UserGit,
    Watch, WritableFolderRegistry,
};
use trace_runtime::settings::SandboxPolicy;
use trace_runtime::tool::exec::program::SearchPath;
use trace_runtime::tool::{self, ToolOptions};
use trace_runtime::tree::{self, TreeLimits};
use trace_server::config::{Config, ConfigStore, Override, RecordingForm, Sources};
use trace_server::services::{Confined, Environment, ServiceOptions, Variables};
use trace_server::{ClientTokens, Server, ServerOptions};

use crate::ui::failure::Failure;
use crate::ui::output::Terminal;

/// Name of the server home in the user's home directory.
const HOME_FOLDER: &str = ".trace";
/// Folder of recorded sessions in the server home.
const TRACES_FOLDER: &str = "traces";

/// Folder in the server home that holds the state of repositories before the commands that run now.
const WATCHED_FOLDER: &str = "watched";

/// Options of commands that run agents.
#[derive(Debug, Args)]
pub(crate) struct ServingArgs {
    /// Set a key of the configuration for this run, as in `-c model=NAME` or `-c sandbox_mode=read-only`. The value is
    /// TOML, or a text if it is not valid TOML
    #[arg(short = 'c', long = "config", value_name = "KEY=VALUE")]
    config: Vec<String>,
    /// The model to use
    #[arg(short, long)]
    model: Option<String>,
    /// The provider of the model: `openai`, `scripted`, or one from the configuration
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// With the scripted provider: the script for messages that contain none
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// The server home, with threads and configuration [default: $TRACE_HOME, or ~/.trace]
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,
    /// The folder of recorded sessions [default: $TRACE_ROOT, or traces in the server home]
    #[arg(long, value_name = "DIR")]
    trace_root: Option<PathBuf>,
    /// Do not record sessions
    #[arg(long, conflicts_with = "trace_root")]
    no_trace: bool,
}

/// Returns the folder in which servers record by default, if it exists.
pub(crate) fn recorded_at_home() -> Option<PathBuf> {
    let home = ServingArgs::of_home(None).home().ok()?;
    Some(home.join(TRACES_FOLDER)).filter(|folder| folder.is_dir())
}

/// What a command adds to the options of its command line.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Preparation<'a> {
    /// A recording that the server plays.
    pub(crate) replay: Option<&'a Replay>,
    /// Files that commands cannot read.
    pub(crate) secret_files: &'a [PathBuf],
    /// Whether the user's `config.toml` is left out.
    pub(crate) ignores_user_config: bool,
    /// The profile of the configuration.
    pub(crate) profile: Option<&'a str>,
    /// More settings, as after `-c`; they replace those of the command line.
    pub(crate) config: &'a [String],
    /// Whether a command or a patch that is refused without a question is an item.
    pub(crate) shows_refusals: bool,
    /// The program that providers are told of. Such a program may also set `CODEX_API_KEY`, which takes precedence over
    /// `OPENAI_API_KEY`.
    pub(crate) originator: Option<&'a str>,
}

/// A server that was configured and not started yet.
pub(crate) struct Serving {
    /// The folder of recorded sessions; `None` if nothing is recorded.
    pub(crate) traces: Option<PathBuf>,
    options: ServerOptions,
}

impl ServingArgs {
    /// Returns arguments with this server home. If it is `None`, the environment names the home.
    pub(crate) fn of_home(home: Option<PathBuf>) -> Self {
        Self { config: Vec::new(), model: None, provider: None, script: None, home, trace_root: None, no_trace: false }
    }

    /// Returns arguments for a session that plays scripts and writes only below `home`.
    pub(crate) fn scripted(home: PathBuf) -> Self {
        let traces = home.join(TRACES_FOLDER);
        Self { provider: Some("scripted".to_owned()), trace_root: Some(traces), ..Self::of_home(Some(home)) }
    }

    /// Returns these options with those of a subcommand added. Options that take one value are those of the subcommand if
    /// both have them.
    pub(crate) fn with(self, later: Self) -> Self {
        Self {
            config: self.config.into_iter().chain(later.config).collect(),
            model: later.model.or(self.model),
            provider: later.provider.or(self.provider),
            script: later.script.or(self.script),
            home: later.home.or(self.home),
            trace_root: later.trace_root.or(self.trace_root),
            no_trace: later.no_trace || self.no_trace,
        }
    }

    /// Returns the server home.
    ///
    /// # Errors
    ///
    /// Returns an error if neither the arguments nor the environment name one.
    pub(crate) fn home(&self) -> Result<PathBuf, Failure> {
        let home = match &self.home {
            Some(home) => home.clone(),
            None => match variable("TRACE_HOME") {
                Some(home) => PathBuf::from(home),
                None => std::env::home_dir().map(|home| home.join(HOME_FOLDER)).ok_or_else(|| {
                    Failure::usage("the server home is not known").with_hint("set TRACE_HOME, or use --home DIR")
                })?,
            },
        };
        std::path::absolute(&home).map_err(|error| Failure::data(error).context("the server home has no path"))
    }

    /// Returns the folder in which a server with these arguments records, whether it is there or not. `None` if the arguments name
    /// none, so that the environment does.
    pub(crate) fn named_traces(&self) -> Option<PathBuf> {
        self.trace_root.clone().or_else(|| Some(self.home.as_ref()?.join(TRACES_FOLDER)))
    }

    /// Configures a server.
    ///
    /// # Errors
    ///
    /// Returns an error if the configuration is not valid.
    pub(crate) fn prepare(&self, cwd: &Path) -> Result<Serving, Failure> {
        self.prepare_with(cwd, &Preparation::default())
    }

    /// Configures a server with what a command adds.
    ///
    /// # Errors
    ///
    /// Returns an error if the configuration is not valid.
    pub(crate) fn prepare_with(&self, cwd: &Path, preparation: &Preparation<'_>) -> Result<Serving, Failure> {
        let Preparation { replay, secret_files, .. } = *preparation;
        if replay.is_some() && (self.model.is_some() || self.provider.is_some()) {
            return Err(Failure::usage("a replay uses the model and the provider of the recording")
                .with_hint("leave out --model and --provider"));
        }
        keep_secrets();
        let home = self.home()?;
        let traces = self.traces(&home)?;
        let mut overrides = self.overrides(preparation.config)?;
        if let Some(replay) = replay {
            let model = replay.settings().model.map(|model| format!("model={}", serde_json::Value::from(model)));
            for text in model.into_iter().chain([format!("model_provider=\"{PROVIDER_NAME}\"")]) {
                overrides.push(Override::parse(&text).map_err(Failure::usage)?);
            }
        }
        let sources = Sources {
            reads_file: !preparation.ignores_user_config,
            profile: preparation.profile,
            overrides: &overrides,
        };
        let configuration = ConfigStore::open_sources(&home, sources)
            .map_err(|error| Failure::usage(error).with_hint("see docs/configuration.md for its keys"))?;
        let config = configuration.last_good();
        let launcher = launcher(config.bubblewrap)?;
        let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        let startup_folders = std::env::home_dir().into_iter().chain(std::env::var_os("ZDOTDIR").map(PathBuf::from));
        let environment = Arc::new(CommandEnvironment::new(config.variables.clone(), names, startup_folders.collect()));
        // Symlinks are resolved before the first command of this server runs, which could change them.
        let tmpdir = sandbox::resolved_tmpdir(&std::env::temp_dir());
        let folders = Arc::new(WritableFolderRegistry::new(tmpdir.clone()));
        let surroundings = Surroundings {
            tmpdir,
            hidden: hidden_places(&home, traces.as_deref(), secret_files)?,
            // Finding the groups also ends commands that a killed server left running.
            groups: Arc::new(ControlGroups::find()),
            repositories: repositories(&home),
        };
        let tools = ToolOptions {
            shell: shell(),
            launcher: Some(launcher.clone()),
            surroundings: surroundings.clone(),
            search: SearchPath::from_variables(std::env::vars_os()),
            environment: Arc::clone(&environment),
            shows_refusals: preparation.shows_refusals,
            ..ToolOptions::default()
        };
        let mut limits = TreeLimits {
            max_threads: usize::try_from(config.agents.max_threads).unwrap_or(usize::MAX),
            max_depth: config.agents.max_depth,
        };
        if let Some(replay) = replay {
            // The replayed program may have had higher limits. A replay gets the higher ones, so that it does not fail
            // at them.
            limits = replay.limits(limits);
        }
        let mut tools = tool::standard(tools);
        tools.extend(tree::tools_with_roles(limits, config.roles.clone()));
        let first_tools = replay.map(|replay| replay.first_tools(&tools)).unwrap_or_default();
        let client_tokens = Arc::new(ClientTokens::default());
        let providers = self.providers(&config, preparation.originator, &client_tokens, &folders)?;
        let mut runtime = RuntimeOptions::new(providers, tools);
        if let Some(replay) = replay {
            runtime.providers.push(replay.provider());
            runtime.first_tools = first_tools;
            runtime.pace = Some(replay.pace());
        }
        let form = match config.recording {
            RecordingForm::Packed => Form::Packed,
            RecordingForm::Directory => Form::Directory,
        };
        let writing = WriterOptions { form, ..WriterOptions::default() };
        runtime.recording = traces.as_ref().map(|root| TraceRoot::new(root, writing));
        runtime.context_window = config.model_context_window;
        runtime.compact_at = config.auto_compact_token_limit;
        runtime.windows = config.windows();
        runtime.project_bytes = usize::try_from(config.project_doc_max_bytes).unwrap_or(usize::MAX);
        runtime.shell = shell();
        runtime.environment = environment;
        runtime.folders = Arc::clone(&folders);
        runtime.surroundings = surroundings.clone();
        let services = ServiceOptions {
            cwd: cwd.to_owned(),
            configuration: Arc::new(configuration),
            launcher: Some(Arc::new(move |command, policy, cwd, environment| {
                Ok(confined(&launcher, command, policy, cwd, (&folders, &surroundings), environment))
            })),
            variables: Variables::new(|name| std::env::var_os(name)),
            tokens: client_tokens,
        };
        let options = ServerOptions { home, runtime, traces: traces.clone(), services };
        Ok(Serving { traces, options })
    }

    /// Reads the configuration of a server home, with settings as after `-c`.
    ///
    /// # Errors
    ///
    /// Returns an error if the configuration is not valid.
    pub(crate) fn configuration(&self, home: &Path, more: &[String]) -> Result<ConfigStore, Failure> {
        ConfigStore::open(home, &self.overrides(more)?)
            .map_err(|error| Failure::usage(error).with_hint("see docs/configuration.md for its keys"))
    }

    fn overrides(&self, more: &[String]) -> Result<Vec<Override>, Failure> {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let model = self.model.iter().map(|model| format!("model={}", quoted(model)));
        let provider = self.provider.iter().map(|provider| format!("model_provider={}", quoted(provider)));
        let all = self.config.iter().cloned().chain(model).chain(provider).chain(more.iter().cloned());
        all.map(|text| Override::parse(&text).map_err(Failure::usage)).collect()
    }

    fn traces(&self, home: &Path) -> Result<Option<PathBuf>, Failure> {
        if self.no_trace {
            return Ok(None);
        }
        let root = self.trace_root.clone().or_else(|| variable("TRACE_ROOT").map(PathBuf::from));
        let root = root.unwrap_or_else(|| home.join(TRACES_FOLDER));
        let root = std::path::absolute(&root);
        root.map(Some).map_err(|error| Failure::data(error).context("the folder of recorded sessions has no path"))
    }

    /// Returns the built-in providers and those of the configuration.
    fn providers(
        &self,
        config: &Config,
        originator: Option<&str>,
        clients: &Arc<ClientTokens>,
        folders: &Arc<WritableFolderRegistry>,
    ) -> Result<Vec<Arc<dyn Provider>>, Failure> {
        let environment = |name: &str| {
            let other = (originator.is_some() && name == OPENAI_KEY_VARIABLE).then(|| variable("CODEX_API_KEY"));
            other.flatten().or_else(|| variable(name))
        };
        let scripted = match &self.script {
            None => Scripted::new(),
            Some(file) => {
                let text = std::fs::read_to_string(file)
                    .map_err(|error| Failure::data(error).context(format!("cannot read {}", file.display())))?;
                Scripted::from_file(&text)
                    .map_err(|error| Failure::data(error).context(format!("{} is not a script", file.display())))?
            }
        };
        let mut providers: Vec<Arc<dyn Provider>> = vec![Arc::new(scripted)];
        let base_url = variable("OPENAI_BASE_URL");
        for provider in config.network_providers(base_url.as_deref()).map_err(Failure::usage)? {
            let mut endpoint = provider.resolve(&environment).map_err(Failure::usage)?;
            if let Some(originator) = originator {
                endpoint = endpoint.with_originator(originator);
            }
            let tokens: Option<Arc<dyn TokenSource>> = match &provider.key {
                KeySource::Clients => Some(clients.source(&provider.id)),
                KeySource::Command { program, arguments } => {
                    let program = token_program(&provider.id, program)?;
                    Some(Arc::new(TokenCommand::new(program, arguments.clone(), Arc::clone(folders))))
                }
                KeySource::Nowhere | KeySource::Variable { .. } | KeySource::VariableIfSet { .. } => None,
            };
            let attestor: Arc<dyn Attestor> = Arc::clone(clients) as _;
            providers.push(Arc::new(HttpProvider::with_tokens(endpoint, tokens, Some(attestor))));
        }
        Ok(providers)
    }
}

impl Serving {
    /// Returns the configuration.
    pub(crate) fn config(&self) -> Arc<Config> {
        self.options.services.configuration.last_good()
    }

    /// Returns the path of the user's configuration file, which need not exist.
    pub(crate) fn config_file(&self) -> &Path {
        self.options.services.configuration.file()
    }

    /// Returns whether the configuration sets an approval policy.
    pub(crate) fn has_approval_policy(&self) -> bool {
        self.config().has_approval_policy()
    }

    /// Starts the server. Must be called inside a tokio runtime.
    ///
    /// # Errors
    ///
    /// Returns an error if the server home cannot be used.
    pub(crate) fn start(self) -> Result<Server, Failure> {
        keep_descendants();
        Server::start(self.options)
            .map_err(|error| Failure::data(error).with_hint("another folder can be used with --home DIR or TRACE_HOME"))
    }
}

/// Returns a tokio runtime for a server.
///
/// # Errors
///
/// Returns an error if the system provides no threads.
pub(crate) fn tokio_runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(Failure::internal)
}

/// Prints a note to stderr.
pub(crate) fn note(terminal: &Terminal, text: &str) {
    let _ = std::io::stderr().write_all(terminal.note_line(text).as_bytes());
}

/// Returns the value of an environment variable, if it is set and not empty.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Returns the path of a program that prints tokens. It is looked up before commands run, which could put another one of
/// its name somewhere.
fn token_program(provider: &str, program: &str) -> Result<PathBuf, Failure> {
    if program.starts_with('/') {
        return Ok(PathBuf::from(program));
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found =
        std::env::split_paths(&folders).filter(|folder| folder.is_absolute()).map(|folder| folder.join(program));
    found.into_iter().find(|path| path.is_file()).ok_or_else(|| {
        let message = format!("`model_providers.{provider}.auth_command` names `{program}`, which is not on the PATH");
        Failure::usage(message).with_hint("write its absolute path")
    })
}

/// Returns the shell that runs commands. It is bash if it is installed, since models write commands for bash.
fn shell() -> PathBuf {
    let known = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"].map(PathBuf::from);
    known.into_iter().find(|shell| shell.is_file()).unwrap_or_else(|| PathBuf::from("/bin/sh"))
}

/// Returns the launcher of sandboxed commands. It starts this program again as `trace sandbox-exec`.
fn launcher(bubblewrap: Bubblewrap) -> Result<SandboxLauncher, Failure> {
    let program = running_program()?;
    let bubblewrap = bubblewrap.find().map_err(|error| {
        Failure::data(error)
            .with_hint("install bubblewrap, or set `sandbox.bubblewrap` to `auto`; see docs/security.md")
    })?;
    let environment = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.to_string_lossy().into_owned())))
        .filter(|(name, _)| sandbox::is_for_loaders(name))
        .collect();
    Ok(SandboxLauncher { program, args: vec!["sandbox-exec".to_owned()], bubblewrap, environment })
}

/// Returns a path to the running program for processes that the server starts. The path stays valid if the program's
/// own file is replaced, which a command may be able to do.
fn running_program() -> Result<PathBuf, Failure> {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::IntoRawFd;

        use rustix::fs::{Mode, OFlags};

        // `O_PATH` is enough to run the program, and works if the user may execute but not read it.
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let program = rustix::fs::open("/proc/self/exe", flags, Mode::empty()).map_err(Failure::internal)?;
        // The descriptor stays open until the server ends. `O_CLOEXEC` closes it in a started process at its `exec`.
        Ok(PathBuf::from(format!("/proc/self/fd/{}", program.into_raw_fd())))
    }
    #[cfg(not(target_os = "linux"))]
    std::env::current_exe().map_err(Failure::internal)
}

/// Prevents other processes of the user, such as commands outside the sandbox, from reading the memory and environment
/// of this process, which hold keys. This also disables debuggers and core dumps.
fn keep_secrets() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};

        // If the system refuses, the process is as readable as before.
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}

/// Makes this process the subreaper of its descendants, so that an orphan of a command is still recognised as one when
/// it connects.
fn keep_descendants() {
    #[cfg(target_os = "linux")]
    if let Err(error) = trace_server::transport::keep_descendants() {
        tracing::warn!(%error, "processes that commands leave behind cannot be recognised");
    }
}

/// Kills all processes that commands left running, so that the next server does not meet them. To be called after the
/// server has ended.
pub(crate) fn end_descendants() {
    #[cfg(target_os = "linux")]
    {
        let left = trace_server::transport::end_descendants();
        if left > 0 {
            tracing::warn!(left, "processes that commands started could not be ended");
        }
    }
}

/// Returns the command line that runs a command under a sandbox policy.
fn confined(
    launcher: &SandboxLauncher,
    command: &[String],
    policy: &SandboxPolicy,
    cwd: &Path,
    (folders, surroundings): (&WritableFolderRegistry, &Surroundings),
    environment: &mut Environment,
) -> Confined {
    // A client starts each of these commands itself and names its folders, so symlinks are resolved for each command.
    let (cwd, policy) = folders.resolved_policy(cwd, policy);
    match surroundings.confinement(&policy, &cwd) {
        None => command.to_vec().into(),
        Some(mut confinement) => {
            let group = surroundings.groups.make(confinement.processes);
            confinement.group = group.as_ref().map(|group| group.path().to_owned());
            let watch = surroundings.repositories.watch(&mut confinement, launcher.closing());
            let launcher = with_environment(launcher, environment);
            let mut line = vec![launcher.program.to_string_lossy().into_owned()];
            line.extend(launcher.arguments(&confinement, command));
            Confined { line, then: Some(Box::new(move || end(group.as_deref(), watch))) }
        }
    }
}

/// Ends the processes that a command left behind, and quarantines what it left in repositories.
fn end(group: Option<&ControlGroup>, watch: Option<Watch>) {
    if let Some(group) = group {
        group.kill();
    }
    if let Some(mut watch) = watch {
        let report = watch.check();
        watch.end();
        if !report.is_empty() {
            tracing::warn!(report = report.in_one_line(), "what a command left in repositories");
        }
    }
}

/// Returns the repositories that commands can reach. Repositories that were watched by a killed server are checked
/// first.
fn repositories(home: &Path) -> Arc<Repositories> {
    let repositories = Repositories::new(user_git(), &home.join(WATCHED_FOLDER));
    let report = repositories.recover();
    if !report.is_empty() {
        let text = format!("a server was killed while a command ran. {}\n", report.in_words());
        tracing::info!(report = report.in_one_line(), "what a command of a killed server left in repositories");
        let _ = std::io::stderr().write_all(text.as_bytes());
    }
    Arc::new(repositories)
}

/// Returns the places in which the user's Git finds its configuration. Variables of the server may differ from those of
/// the user's shell, so they only add places.
fn user_git() -> UserGit {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let shared = named("XDG_CONFIG_HOME").map(|folder| folder.join("git/config"));
    let of_variables =
        shared.into_iter().chain(["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"].into_iter().filter_map(named));
    UserGit::usual(std::env::home_dir()).with(of_variables.filter(|path| path.is_absolute()))
}

/// Returns the launcher for a client's command. The variables that affect the dynamic loader are moved from the
/// command's environment to the launcher, so that they do not apply to the launcher itself.
fn with_environment(launcher: &SandboxLauncher, environment: &mut Environment) -> SandboxLauncher {
    let mut variables: BTreeMap<String, String> = launcher.environment.iter().cloned().collect();
    for (name, value) in environment.iter_mut().filter(|(name, _)| sandbox::is_for_loaders(name)) {
        match value.take() {
            Some(value) => variables.insert(name.clone(), value),
            None => variables.remove(name),
        };
    }
    environment.extend(launcher.environment.iter().map(|(name, _)| (name.clone(), None)));
    SandboxLauncher { environment: variables.into_iter().collect(), ..launcher.clone() }
}

/// Folders of the server home that are also hidden one by one. They stay hidden if a user works in one of them by
/// mistake.
const HOME_FOLDERS: [&str; 3] = [TRACES_FOLDER, "sessions", "archived_sessions"];

/// Returns the symlinks in the server home. Their targets belong to the home, such as a `config.toml` that is kept
/// elsewhere: a command that could write to it would decide what the next thread may do.
fn links_in(home: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(home).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink())).map(|entry| entry.path()).collect()
}

/// Returns the paths that commands cannot read: this server home, the default server home, recordings, and secret
/// files.
///
/// # Errors
///
/// Returns an error if the folders cannot be created. They must exist before the first command runs, since a command
/// could read a folder that is created or moved there later.
fn hidden_places(home: &Path, traces: Option<&Path>, secret_files: &[PathBuf]) -> Result<Vec<HiddenPlace>, Failure> {
    for folder in [Some(home), traces].into_iter().flatten() {
        if folder.parent().is_none() {
            let error =
                Failure::usage(format!("{} can be neither home nor the folder of recordings", folder.display()));
            return Err(error.with_hint("commands must not read these folders; name another one"));
        }
        let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(|error| Failure::data(error).context(format!("cannot make {}", folder.display())))?;
    }
    let usual = std::env::home_dir().map(|home| home.join(HOME_FOLDER));
    let mut folders = vec![home.to_owned()];
    folders.extend(HOME_FOLDERS.iter().map(|name| home.join(name)));
    folders.extend(usual.into_iter().chain(traces.map(Path::to_owned)));
    folders.extend(links_in(home));
    let files = secret_files.iter().map(|file| std::path::absolute(file).unwrap_or_else(|_| file.clone()));
    let mut places: Vec<HiddenPlace> = folders.into_iter().chain(files).map(|path| HiddenPlace::new(&path)).collect();
    places.sort_by(|one, other| one.path().cmp(other.path()));
    places.dedup_by(|one, other| one.path() == other.path());
    Ok(places)
}
