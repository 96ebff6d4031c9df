//! `trace exec`: one turn without anybody to ask, with the command line, events and exit codes of `codex exec`.
//!
//! The TypeScript SDK of the Codex CLI starts this command once for each turn. It shares its core with `trace run`
//! ([`crate::turn`]).

mod events;
mod options;
mod printer;
mod stored;

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use trace_protocol::common::JsonObject;
use trace_protocol::item::UserInput;
use trace_protocol::settings::{AskForApproval, ReasoningSummary, SandboxMode};
use trace_protocol::thread::{ThreadForkParams, ThreadResumeParams, ThreadStartParams};
use trace_protocol::turn::{ReviewTarget, TurnStartParams, TurnStatus};
use trace_runtime::settings::{ApprovalPolicy, SandboxPolicy};
use trace_server::Server;
use trace_server::config::{self, Config, LayerName};

use self::events::EventMapper;
use self::options::ExecOptions;
use self::printer::Printer;
use self::stored::StoredThread;
use crate::prompt;
use crate::serving::{self, Preparation, Serving};
use crate::signals::{self, Caught, Signals};
use crate::turn::{Outcome, Session, Task, ThreadChoice};
use crate::ui::failure::{Ending, Failure, Kind};
use crate::ui::output::Terminal;
use crate::ui::text;

const AFTER_HELP: &str = "\
Examples:
  trace exec \"find out why the tests of the parser fail\"
  trace exec -s workspace-write --json \"fix them\"           events as JSON, one per line
  trace exec --output-schema schema.json -o answer.json < prompt.md
  trace exec resume --last \"now the other parser\"           go on with the newest thread of this folder
  trace exec fork ID \"try it the other way\"                 go on with a copy
  trace exec review --base main                            review the changes of this branch

It takes the command line of `codex exec` and prints its events, so the TypeScript SDK of the Codex CLI works with \
`codexPathOverride` set to this program. Nobody is asked for approvals: what needs one is refused. The last message of \
the agent goes to stdout, everything else to stderr; with --json, events go to stdout.

Exit codes: 0 the turn completed; 1 it failed or could not start, or Ctrl-C; 2 wrong usage; 3 an internal error. \
SIGTERM and SIGHUP end the program like any program that does not catch them, after its commands were ended.";

/// Name by which providers and stored threads know this command, unless the caller gives another one.
const ORIGINATOR: &str = "trace_exec";

/// Variable with which an SDK names itself.
const ORIGINATOR_VARIABLE: &str = "CODEX_INTERNAL_ORIGINATOR_OVERRIDE";

/// Key of the configuration with the folders that commands may write to.
const WRITABLE_ROOTS: &str = "sandbox_workspace_write.writable_roots";

/// Runs one turn without asking anybody, for scripts and for the Codex SDK
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ExecArgs {
    #[command(subcommand)]
    action: Option<Action>,
    /// The prompt; without it, or if it is -, it is read from stdin. Piped input is added to a prompt as a block
    /// `<stdin>`
    #[arg(value_name = "PROMPT")]
    prompt: Option<String>,
    #[command(flatten)]
    options: ExecOptions,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Go on with a stored thread
    Resume {
        /// Id or name of the thread
        #[arg(value_name = "THREAD")]
        thread: Option<String>,
        /// The prompt; without it, or if it is -, it is read from stdin
        #[arg(value_name = "PROMPT")]
        prompt: Option<String>,
        /// Take the newest thread of the working folder
        #[arg(long)]
        last: bool,
        /// With --last: take the newest thread of any folder
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        options: Box<ExecOptions>,
    },
    /// Go on with a copy of a stored thread
    Fork {
        /// Id or name of the thread
        #[arg(value_name = "THREAD")]
        thread: String,
        /// The prompt; without it the thread is copied, and no turn runs
        #[arg(value_name = "PROMPT")]
        prompt: Option<String>,
        #[command(flatten)]
        options: Box<ExecOptions>,
    },
    /// Review changes of the repository
    Review {
        /// What to review, in words; - reads it from stdin
        #[arg(value_name = "PROMPT", conflicts_with_all = ["uncommitted", "base", "commit"])]
        prompt: Option<String>,
        /// Review what is not committed
        #[arg(long)]
        uncommitted: bool,
        /// Review the changes of the current branch against this one
        #[arg(long, value_name = "BRANCH", conflicts_with = "uncommitted")]
        base: Option<String>,
        /// Review this commit
        #[arg(long, value_name = "SHA", conflicts_with_all = ["uncommitted", "base"])]
        commit: Option<String>,
        /// Title of the commit, for the reviewer
        #[arg(long, requires = "commit")]
        title: Option<String>,
        #[command(flatten)]
        options: Box<ExecOptions>,
    },
}

impl Action {
    fn options(&self) -> &ExecOptions {
        match self {
            Self::Resume { options, .. } | Self::Fork { options, .. } | Self::Review { options, .. } => options,
        }
    }
}

/// The thread that the command line asks for.
enum Which {
    New,
    Resumed(StoredThread),
    Copied(StoredThread),
}

/// What the agent is asked to do.
enum Work {
    Prompt(String),
    Review(ReviewTarget),
    /// Nothing: the thread is only copied.
    Nothing,
}

/// What one call of the command does.
struct Plan {
    which: Which,
    work: Work,
    options: ExecOptions,
    cwd: PathBuf,
    images: Vec<PathBuf>,
    schema: Option<Value>,
    originator: String,
}

pub(crate) fn run(args: ExecArgs, terminal: &Terminal) -> Result<Ending, Failure> {
    // Callers tell a wrong command line by exit code 2. Everything that it names and that is wrong itself has exit code 1.
    execute(args, terminal).map_err(|failure| match failure.kind() {
        Kind::Usage => failure.with_kind(Kind::Data),
        Kind::Data | Kind::Internal => failure,
    })
}

fn execute(args: ExecArgs, terminal: &Terminal) -> Result<Ending, Failure> {
    let plan = Plan::new(args)?;
    let originator = std::env::var(ORIGINATOR_VARIABLE).ok().filter(|name| !name.is_empty());
    let plan = Plan { originator: originator.unwrap_or_else(|| ORIGINATOR.to_owned()), ..plan };
    let preparation = Preparation {
        ignores_user_config: plan.options.ignore_user_config,
        profile: plan.options.profile.as_deref(),
        config: &plan.options.features(),
        shows_refusals: true,
        originator: Some(&plan.originator),
        ..Preparation::default()
    };
    let serving = plan.options.serving.prepare_with(&plan.cwd, &preparation)?;
    let config = serving.config();
    check_config(&plan, &config)?;
    let settings = ThreadSettings::new(&plan, &serving, &config);
    let mut printer = match plan.options.json {
        true => Printer::of_events(terminal, EventMapper::new(config.exec_shows_agents)),
        false => Printer::of_text(terminal),
    };
    let runtime = serving::tokio_runtime()?;
    let ended = runtime.block_on(async {
        let mut signals = Signals::catch()?;
        let server = serving.start()?;
        let mut caught = None;
        let worked = work(&server, &plan, &settings, &mut printer, (&mut signals, &mut caught)).await;
        // The shutdown ends running commands and checks what they left, even if an event cannot be printed.
        server.shutdown().await;
        Ok::<_, Failure>((worked, caught))
    });
    runtime.shutdown_background();
    serving::end_descendants();
    let (worked, caught) = ended?;
    match caught {
        Some(Caught::Interrupt) => return Ok(Ending::Failed(Kind::Data)),
        Some(caught) => {
            signals::end_by(caught);
            return Ok(Ending::Stopped(caught.exit_code()));
        }
        None => {}
    }
    finish(&plan, &worked?, &printer, terminal)
}

/// Runs the turn. Returns the id of the thread, and the outcome of the turn if there was one.
async fn work(
    server: &Server,
    plan: &Plan,
    settings: &ThreadSettings,
    printer: &mut Printer<'_>,
    signals: (&mut Signals, &mut Option<Caught>),
) -> Result<(String, Option<Outcome>), Failure> {
    let mut session = Session::connect(server, &plan.originator).await?;
    let choice = match &plan.which {
        Which::New => ThreadChoice::Start(Box::new(settings.start())),
        Which::Resumed(thread) => {
            ThreadChoice::Resume(Box::new(settings.resume(thread.find(&session.client, &plan.cwd).await?)))
        }
        Which::Copied(thread) => {
            ThreadChoice::Fork(Box::new(settings.fork(thread.find(&session.client, &plan.cwd).await?)))
        }
    };
    let thread = session.open(choice).await?;
    printer.thread(&thread)?;
    let task = match &plan.work {
        Work::Nothing => return Ok((thread, None)),
        Work::Review(target) => Task::Review(target.clone()),
        Work::Prompt(prompt) => Task::Input(Box::new(settings.turn(plan, prompt))),
    };
    let outcome = session.work(&thread, task, printer, signals).await?;
    Ok((thread, Some(outcome)))
}

/// Prints and writes what remains after the turn.
fn finish(
    plan: &Plan,
    (thread, outcome): &(String, Option<Outcome>),
    printer: &Printer<'_>,
    terminal: &Terminal,
) -> Result<Ending, Failure> {
    let message = printer.last_message();
    if let Some(file) = &plan.options.output_last_message {
        std::fs::write(file, message.unwrap_or_default())
            .map_err(|error| Failure::data(error).context(format!("cannot write {}", file.display())))?;
        if message.is_none() {
            serving::note(terminal, &format!("the agent said nothing, so {} is empty", file.display()));
        }
    }
    if !plan.options.json {
        print_message(message, terminal)?;
        serving::note(terminal, &format!("the thread is {thread}"));
    }
    match outcome.as_ref().and_then(|outcome| outcome.bundle.as_ref()) {
        Some(bundle) => serving::note(terminal, &format!("recorded in {}", bundle.display())),
        None if plan.options.ephemeral => serving::note(terminal, "neither stored nor recorded, for --ephemeral"),
        None => {}
    }
    match outcome {
        None => Ok(Ending::Done),
        Some(Outcome { status: TurnStatus::Completed, .. }) => Ok(Ending::Done),
        Some(outcome) => {
            let error = outcome.error.as_deref().unwrap_or("the turn did not complete");
            let _ = std::io::stderr().write_all(terminal.error_line(&text::clean(error)).as_bytes());
            Ok(Ending::Failed(Kind::Data))
        }
    }
}

/// Prints the last message of the agent to stdout. If a person sees both streams on one terminal, it is there already.
fn print_message(message: Option<&str>, terminal: &Terminal) -> Result<(), Failure> {
    match message {
        Some(_) if terminal.is_terminal() && std::io::stderr().is_terminal() => Ok(()),
        Some(message) if terminal.is_terminal() => {
            let lines: Vec<_> = message.split('\n').map(text::clean).collect();
            terminal.print(&format!("{}\n", lines.join("\n")))
        }
        Some(message) => terminal.print(&format!("{message}\n")),
        None => Ok(()),
    }
}

/// Refuses a configuration with which the turn would not do what the user wants, and prints its warnings.
fn check_config(plan: &Plan, config: &Config) -> Result<(), Failure> {
    if config.approval == ApprovalPolicy::Untrusted {
        let message = "`approval_policy` is `untrusted`, but nobody can be asked here";
        return Err(Failure::data(anyhow::anyhow!(message))
            .with_hint("remove it, or add -c approval_policy=never; commands run in the sandbox"));
    }
    if plan.options.strict_config && !config.warnings.is_empty() {
        return Err(Failure::data(anyhow::anyhow!("{}", config.warnings.join("; ")))
            .context("--strict-config refuses the configuration"));
    }
    for warning in &config.warnings {
        let _ = std::io::stderr().write_all(format!("warning: {}\n", text::clean(warning)).as_bytes());
    }
    if !plan.options.skip_git_repo_check
        && !plan.options.dangerously_bypass_approvals_and_sandbox
        && !is_in_repository(&plan.cwd)
        && !is_trusted(&plan.cwd, config)
    {
        let message = format!("{} is neither in a Git repository nor a trusted folder", plan.cwd.display());
        return Err(Failure::data(anyhow::anyhow!(message))
            .with_hint("--skip-git-repo-check runs the agent there nevertheless"));
    }
    Ok(())
}

/// Returns whether a folder is in a working tree of Git.
fn is_in_repository(folder: &Path) -> bool {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    folder.ancestors().any(|ancestor| ancestor.join(".git").exists())
}

/// Returns whether the configuration says that a folder is trusted, with the key of the Codex CLI.
fn is_trusted(folder: &Path, config: &Config) -> bool {
    let canonical = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let config = config.to_json();
    let projects = config.get("projects").and_then(Value::as_object);
    let level = |folder: &Path| {
        let project = projects?.get(folder.to_str()?)?;
        project.get("trust_level")?.as_str()
    };
    [folder, canonical.as_path()].into_iter().any(|folder| level(folder) == Some("trusted"))
}

impl Plan {
    /// Makes a plan of the command line. Reads stdin, if the prompt comes from there.
    fn new(args: ExecArgs) -> Result<Self, Failure> {
        let ExecArgs { action, prompt: outer_prompt, options } = args;
        // A person does not write a prompt for nothing. A program gets rid of the prompt first: the SDK breaks down if nobody
        // reads it.
        let folder = action.as_ref().and_then(|action| action.options().cd.as_deref()).or(options.cd.as_deref());
        if std::io::stdin().is_terminal() {
            check_folder(folder)?;
        }
        let (which, work, options) = match action {
            None => (Which::New, Work::Prompt(prompt::read(outer_prompt.as_deref())?), options),
            Some(Action::Resume { thread, prompt, last, all, options: later }) => {
                let options = options.with(*later);
                let (stored, prompt) = match (last, thread, prompt) {
                    // With --last, the first text is the prompt.
                    (true, Some(prompt), None) => (StoredThread::Last { anywhere: all }, Some(prompt)),
                    (true, None, prompt) => (StoredThread::Last { anywhere: all }, prompt),
                    (_, Some(thread), prompt) => (StoredThread::Named(thread), prompt),
                    (false, None, _) => {
                        let message = "no thread is named";
                        return Err(Failure::data(anyhow::anyhow!(message))
                            .with_hint("give its id, or --last for the newest thread of this folder"));
                    }
                };
                let prompt = prompt::read(prompt.or(outer_prompt).as_deref())?;
                if options.ephemeral {
                    let message = "a thread that is resumed is stored, so --ephemeral has no effect on it";
                    return Err(Failure::data(anyhow::anyhow!(message))
                        .with_hint("`trace exec fork THREAD --ephemeral` goes on with a copy that is not stored"));
                }
                (Which::Resumed(stored), Work::Prompt(prompt), options)
            }
            Some(Action::Fork { thread, prompt, options: later }) => {
                let options = options.with(*later);
                let work = match prompt.or(outer_prompt) {
                    Some(prompt) => Work::Prompt(prompt::read(Some(&prompt))?),
                    None => Work::Nothing,
                };
                (Which::Copied(StoredThread::Named(thread)), work, options)
            }
            Some(Action::Review { prompt, uncommitted, base, commit, title, options: later }) => {
                let options = options.with(*later);
                let target = match (uncommitted, base, commit, prompt.or(outer_prompt)) {
                    (true, ..) => ReviewTarget::UncommittedChanges,
                    (_, Some(branch), ..) => ReviewTarget::BaseBranch { branch },
                    (_, _, Some(sha), _) => ReviewTarget::Commit { sha, title },
                    (_, _, _, Some(prompt)) => ReviewTarget::Custom { instructions: prompt::read(Some(&prompt))? },
                    (false, None, None, None) => {
                        let message = "nothing to review is named";
                        return Err(Failure::data(anyhow::anyhow!(message)).with_hint(
                            "give --uncommitted, --base BRANCH, --commit SHA, or say in words what to review",
                        ));
                    }
                };
                (Which::New, Work::Review(target), options)
            }
        };
        check_folder(options.cd.as_deref())?;
        let cwd = match &options.cd {
            Some(cwd) => std::path::absolute(cwd),
            None => std::env::current_dir(),
        };
        let cwd = cwd.map_err(|error| Failure::data(error).context("there is no working folder"))?;
        let schema = options.output_schema.as_deref().map(read_schema).transpose()?;
        let images = options.image.iter().map(|image| existing_image(image)).collect::<Result<_, _>>()?;
        Ok(Self { which, work, options, cwd, images, schema, originator: ORIGINATOR.to_owned() })
    }
}

fn check_folder(folder: Option<&Path>) -> Result<(), Failure> {
    match folder {
        Some(folder) if !folder.is_dir() => Err(Failure::data(anyhow::anyhow!("{} is not a folder", folder.display()))),
        _ => Ok(()),
    }
}

fn read_schema(file: &Path) -> Result<Value, Failure> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| Failure::data(error).context(format!("cannot read the output schema {}", file.display())))?;
    serde_json::from_str(&text)
        .map_err(|error| Failure::data(error).context(format!("the output schema {} is not JSON", file.display())))
}

/// Returns the absolute path of an image. The provider could not read one that is missing, and the model would answer
/// without it.
fn existing_image(image: &Path) -> Result<PathBuf, Failure> {
    if !image.is_file() {
        return Err(Failure::data(anyhow::anyhow!("there is no image {}", image.display())));
    }
    std::path::absolute(image).map_err(|error| Failure::data(error).context("the image has no path"))
}

/// The settings of the thread and of the turn. Every call has its own, also for a thread that is resumed: what the command
/// line and its profile set replaces what is stored, and the sandbox is never wider than this call asks for.
struct ThreadSettings {
    cwd: String,
    sandbox: SandboxMode,
    config: Option<JsonObject>,
    is_ephemeral: bool,
    thread_source: Option<String>,
    model: Option<String>,
    provider: Option<String>,
    effort: Option<String>,
    summary: Option<ReasoningSummary>,
    service_tier: Option<String>,
    base_instructions: Option<String>,
    developer_instructions: Option<String>,
}

impl ThreadSettings {
    fn new(plan: &Plan, serving: &Serving, config: &Config) -> Self {
        let origins = config.origins();
        let is_set = |key: &str| origins.contains_key(key);
        // What `config.toml` says is the default of new threads, and holds for a stored one as it was.
        let is_set_for_this_call = |key: &str| {
            origins.get(key).is_some_and(|layer| match &layer.name {
                LayerName::Flags => true,
                LayerName::User { file } => file != serving.config_file(),
            })
        };
        let given = |key: &str, value: Option<&String>| value.filter(|_| is_set_for_this_call(key)).cloned();
        let configured = is_set("sandbox_mode").then_some(match config.sandbox_mode {
            config::SandboxMode::ReadOnly => SandboxMode::ReadOnly,
            config::SandboxMode::WorkspaceWrite => SandboxMode::WorkspaceWrite,
            config::SandboxMode::DangerFullAccess => SandboxMode::DangerFullAccess,
        });
        let summary = given("model_reasoning_summary", config.summary.as_ref());
        Self {
            cwd: plan.cwd.to_string_lossy().into_owned(),
            sandbox: plan.options.sandbox().or(configured).unwrap_or(SandboxMode::ReadOnly),
            config: writable_folders(&plan.options.add_dir, config),
            is_ephemeral: plan.options.ephemeral,
            thread_source: plan.options.thread_source.clone(),
            model: given("model", Some(&config.model)),
            provider: given("model_provider", Some(&config.provider)),
            effort: given("model_reasoning_effort", config.effort.as_ref()),
            summary: summary.and_then(|summary| serde_json::from_value(Value::from(summary)).ok()),
            service_tier: given("service_tier", config.service_tier.as_ref()),
            base_instructions: given("instructions", config.base_instructions.as_ref()),
            developer_instructions: given("developer_instructions", config.developer_instructions.as_ref()),
        }
    }

    fn start(&self) -> ThreadStartParams {
        ThreadStartParams {
            approval_policy: Some(AskForApproval::Never),
            cwd: Some(self.cwd.clone()),
            sandbox: Some(self.sandbox),
            config: self.config.clone(),
            ephemeral: self.is_ephemeral.then_some(true),
            thread_source: self.thread_source.clone(),
            ..ThreadStartParams::default()
        }
    }

    fn resume(&self, thread_id: String) -> ThreadResumeParams {
        ThreadResumeParams {
            thread_id,
            approval_policy: Some(AskForApproval::Never),
            cwd: Some(self.cwd.clone()),
            sandbox: Some(self.sandbox),
            config: self.config.clone(),
            exclude_turns: true,
            model: self.model.clone(),
            model_provider: self.provider.clone(),
            service_tier: self.service_tier.clone(),
            base_instructions: self.base_instructions.clone(),
            developer_instructions: self.developer_instructions.clone(),
            ..ThreadResumeParams::default()
        }
    }

    fn fork(&self, thread_id: String) -> ThreadForkParams {
        ThreadForkParams {
            thread_id,
            approval_policy: Some(AskForApproval::Never),
            cwd: Some(self.cwd.clone()),
            sandbox: Some(self.sandbox),
            config: self.config.clone(),
            ephemeral: self.is_ephemeral,
            exclude_turns: true,
            model: self.model.clone(),
            model_provider: self.provider.clone(),
            service_tier: self.service_tier.clone(),
            base_instructions: self.base_instructions.clone(),
            developer_instructions: self.developer_instructions.clone(),
            thread_source: self.thread_source.clone(),
            ..ThreadForkParams::default()
        }
    }

    fn turn(&self, plan: &Plan, prompt: &str) -> TurnStartParams {
        let images = plan
            .images
            .iter()
            .map(|image| UserInput::LocalImage { path: image.to_string_lossy().into_owned(), detail: None });
        let text = UserInput::Text { text: prompt.to_owned(), text_elements: Vec::new() };
        TurnStartParams {
            input: images.chain([text]).collect(),
            output_schema: plan.schema.clone(),
            effort: self.effort.clone(),
            summary: self.summary,
            cyber_access_program: plan.options.cyber_access_program.map(Into::into),
            ..TurnStartParams::default()
        }
    }
}

/// Returns the setting that adds folders to those that commands may write to.
fn writable_folders(more: &[PathBuf], config: &Config) -> Option<JsonObject> {
    if more.is_empty() {
        return None;
    }
    let mut folders = match config.sandbox(config::SandboxMode::WorkspaceWrite) {
        SandboxPolicy::WorkspaceWrite { writable_roots, .. } => writable_roots,
        _ => Vec::new(),
    };
    folders.extend(more.iter().map(|folder| std::path::absolute(folder).unwrap_or_else(|_| folder.clone())));
    let folders: Vec<_> = folders.iter().map(|folder| folder.to_string_lossy()).collect();
    Some(JsonObject::from_iter([(WRITABLE_ROOTS.to_owned(), json!(folders))]))
}
