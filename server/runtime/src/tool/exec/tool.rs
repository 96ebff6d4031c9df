//! The tools `exec_command`, which runs a command, and `shell`, its variant for earlier models.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::time::Instant;
use trace_recorder::write::ToolTrace;

use super::actions::actions;
use super::denial;
use super::process::{Launch, Process, Streams};
use super::program;
use super::report::{self, Progress};
use super::request::{ExecRequest, RequestedCommand, RequestedWait};
use super::session::{Basis, Cause, Ended, Leftovers, MAX_COMMANDS_AT_ONCE, NewSession, Session, Sessions};
use crate::approval::{self, Accepted, CommandRequest, GrantedRights, RequestedRights, Verdict};
use crate::event::Delta;
use crate::host::{CommandQuestion, Question};
use crate::id::ItemId;
use crate::item::{CommandItem, CommandSource, Item, ItemKind, WorkStatus};
use crate::open_item::OpenItem;
use crate::sandbox::{
    self, Confinement, MAX_FOLDERS, MAX_SEARCH, ReadOnlyEnforcement, SandboxLauncher, Unsearched, Watch,
};
use crate::settings::{SandboxPolicy, Settings};
use crate::tool::ask::{Approved, NotApproved, ask};
use crate::tool::options::ToolOptions;
use crate::tool::outcome::{describe, done, failed};
use crate::tool::patch::invocation::{self, Invocation};
use crate::tool::patch::tool::apply;
use crate::tool::{
    AfterCall, CallDescription, CallOrder, Resource, Tool, ToolCall, ToolContext, ToolFamily, ToolInput, ToolOutcome,
};

/// Most background commands of one agent. At the limit, no further command starts.
pub const MAX_BACKGROUND_COMMANDS: usize = 32;

/// The tools `exec_command` and `shell`.
#[derive(Debug)]
pub struct ExecTool {
    options: Arc<ToolOptions>,
}

impl ExecTool {
    /// Creates the tool.
    pub fn new(options: Arc<ToolOptions>) -> Self {
        Self { options }
    }
}

impl Tool for ExecTool {
    fn family(&self) -> ToolFamily {
        ToolFamily::Shell
    }

    fn specification(&self, settings: &Settings) -> Option<Value> {
        let mut properties = json!({
            "cmd": { "type": "string", "description": "The line that the shell runs." },
            "workdir": { "type": "string", "description": "Folder to run in; the working folder of the turn if left out." },
            "shell": { "type": "string", "description": "Path of the shell; the user's own if left out." },
            "login": { "type": "boolean", "description": "Whether the shell reads the user's start-up files (default: true)." },
            "tty": { "type": "boolean", "description": "Whether to run on a terminal, so that write_stdin can write to the command (default: false)." },
            "yield_time_ms": { "type": "number", "description": "How long to wait for the command, from 250 to 30000 (default: 10000). It runs on in the background after that." },
            "max_output_tokens": { "type": "number", "description": "How much of the output to return (default: 10000 tokens)." },
        });
        if is_restricted(&settings.sandbox) {
            let permissions = json!({
                "sandbox_permissions": { "type": "string", "enum": ["use_default", "require_escalated"], "description": "`require_escalated` runs the command outside of the sandbox, if the user agrees (default: use_default)." },
                "justification": { "type": "string", "description": "With `require_escalated`: a short question to the user why this has to be." },
                "prefix_rule": { "type": "array", "items": { "type": "string" }, "description": "With `require_escalated`: the first words of the command, if the user may agree to all commands that begin so." },
            });
            if let (Value::Object(all), Value::Object(permissions)) = (&mut properties, permissions) {
                all.extend(permissions);
            }
        }
        Some(json!({
            "type": "function",
            "name": "exec_command",
            "description": "Runs a shell command. Returns its output, or a session ID for write_stdin if it still runs when the waiting time is over.",
            "strict": false,
            "parameters": { "type": "object", "properties": properties, "required": ["cmd"], "additionalProperties": false },
        }))
    }

    fn is_called(&self, namespace: Option<&str>, name: &str) -> bool {
        namespace.is_none() && matches!(name, "exec_command" | "shell" | "shell_command")
    }

    fn description(&self, call: &ToolCall) -> CallDescription {
        describe("exec_command", call)
    }

    /// A command sees the patches of earlier calls, and later patches wait until it has ended or runs in the background.
    /// Commands wait for each other only if one of them is a patch.
    fn order(&self, call: &ToolCall) -> CallOrder {
        let (ToolInput::Arguments(input) | ToolInput::Text(input)) = &call.input;
        let is_patch = invocation::NAMES.iter().any(|name| input.contains(name));
        if is_patch { CallOrder::Changes(Resource::Files) } else { CallOrder::Reads(Resource::Files) }
    }

    fn call(&self, context: ToolContext, call: ToolCall) -> BoxFuture<'static, ToolOutcome> {
        let options = Arc::clone(&self.options);
        Box::pin(async move {
            let ToolInput::Arguments(arguments) = &call.input else {
                return failed(format!("{} takes JSON arguments", call.name));
            };
            let request = match call.name.as_str() {
                "exec_command" => ExecRequest::exec_command(arguments),
                _ => ExecRequest::shell(arguments),
            };
            match request {
                Ok(request) => exec(&options, &context, &call, request).await,
                Err(error) => failed(error),
            }
        })
    }
}

fn is_restricted(sandbox: &SandboxPolicy) -> bool {
    matches!(sandbox, SandboxPolicy::ReadOnly { .. } | SandboxPolicy::WorkspaceWrite { .. })
}

/// A command in its final form, independent of the variant of the tool.
struct Command {
    argv: Vec<String>,
    /// The line, if the command is a shell line.
    line: Option<String>,
    cwd: PathBuf,
}

async fn exec(options: &ToolOptions, context: &ToolContext, call: &ToolCall, request: ExecRequest) -> ToolOutcome {
    let turn_cwd = &context.settings.cwd;
    let cwd = request.workdir.as_ref().map_or_else(|| turn_cwd.clone(), |folder| turn_cwd.join(folder));
    if let Some(Invocation { folder, patch }) = find_patch(&request.command) {
        let cwd = folder.map_or_else(|| cwd.clone(), |folder| cwd.join(folder));
        return apply(options, context, &call.id, &patch, &cwd).await;
    }
    if !cwd.is_dir() {
        return failed(format!("cannot run in {}: there is no such folder", cwd.display()));
    }
    let running = context.agent.terminals().list();
    if running.len() >= MAX_BACKGROUND_COMMANDS {
        let ids: Vec<String> = running.into_iter().map(|terminal| terminal.process_id).collect();
        return failed(format!(
            "{MAX_BACKGROUND_COMMANDS} commands run in the background already (sessions {}); end some first",
            ids.join(", ")
        ));
    }
    let command = resolve(options, &request.command, cwd);
    let confinement = options.surroundings.confinement(&context.settings.sandbox, &context.settings.cwd);
    let sandbox_error = sandbox_error(options);
    let justification = request.justification.as_deref();
    let rights =
        if request.is_escalated { RequestedRights::Escalated { justification } } else { RequestedRights::Usual };
    let settings = &context.settings;
    let accepted = context.agent.extension::<Accepted>();
    let judge = |asked: CommandRequest<'_>| {
        let (policy, sandbox) = (settings.approval, &settings.sandbox);
        approval::judge_command(policy, sandbox, sandbox_error.as_deref(), asked, &accepted, &options.rules)
    };
    let judged = Judged { command: &command, rights, open: confinement.as_ref(), judge: &judge };
    let (verdict, planted) = judged.now(options);
    let item = item(&command);
    let (open, run) = match verdict {
        Verdict::Refuse { why } => {
            if options.shows_refusals {
                let declined = CommandItem { status: WorkStatus::Declined, ..item };
                context.agent.show_item(&context.turn, shown(call.id.clone(), &declined));
            }
            return failed(why);
        }
        Verdict::Run(run) => (None, run),
        Verdict::Ask { reason, then } => {
            let open = context.agent.start_item(&context.turn, shown(call.id.clone(), &item));
            let prefix = request.prefix_rule.as_deref();
            let open = match ask_for(options, context, &judged, open, &item, reason, then, prefix, planted).await {
                Ok(open) => open,
                Err(refusal) => {
                    return ToolOutcome {
                        output: json!(format!("exec_command failed: {}", refusal.why)),
                        success: false,
                        then: refusal.then,
                    };
                }
            };
            (Some(open), then)
        }
    };
    let attempt = Attempt {
        confinement: confinement.clone().filter(|_| run == GrantedRights::Confined),
        open,
        trace: context.trace.clone(),
    };
    let first = match start(options, context, call, &request, &command, attempt, item).await {
        Ran::Not(outcome) => return outcome,
        Ran::Done { text } => return done(text),
        Ran::Refused { text } => text,
    };
    let judge =
        |asked: CommandRequest<'_>| approval::judge_again(context.settings.approval, asked, &accepted, &options.rules);
    let judged = Judged { command: &command, rights, open: confinement.as_ref(), judge: &judge };
    again(options, context, call, &request, &judged, first).await
}

/// A command with its settings, for judging it when its programs are looked up.
struct Judged<'a> {
    command: &'a Command,
    rights: RequestedRights<'a>,
    /// Where commands may write.
    open: Option<&'a Confinement>,
    judge: &'a (dyn Fn(CommandRequest<'_>) -> Verdict + Send + Sync),
}

impl Judged<'_> {
    fn request<'a>(&'a self, planted: &'a [String]) -> CommandRequest<'a> {
        CommandRequest {
            argv: &self.command.argv,
            line: self.command.line.as_deref(),
            cwd: &self.command.cwd,
            rights: self.rights,
            planted,
        }
    }

    /// Looks up the programs, and returns the verdict with the programs that commands may have created or replaced.
    fn now(&self, options: &ToolOptions) -> (Verdict, Vec<String>) {
        let planted = planted(options, self.command, self.open);
        ((self.judge)(self.request(&planted)), planted)
    }
}

/// Runs a command that failed in the sandbox again without a sandbox, if the user agrees. The second run is a separate
/// item, because the first one was already shown as failed.
async fn again(
    options: &ToolOptions,
    context: &ToolContext,
    call: &ToolCall,
    request: &ExecRequest,
    judged: &Judged<'_>,
    first: String,
) -> ToolOutcome {
    // The first run may itself have created a program.
    let (verdict, planted) = judged.now(options);
    let command = judged.command;
    if context.cancelled.is_cancelled() || matches!(verdict, Verdict::Refuse { .. }) {
        return done(first);
    }
    let item = item(command);
    let mut open = context.agent.start_item(&context.turn, shown(ItemId::new(), &item));
    if let Verdict::Ask { reason, then } = verdict {
        let prefix = request.prefix_rule.as_deref();
        open = match ask_for(options, context, judged, open, &item, reason, then, prefix, planted).await {
            Ok(open) => open,
            Err(refusal) => {
                let why = refusal.why;
                let text = format!(
                    "{first}\n[It was not run again without the sandbox, which seems to have refused something: {why}]"
                );
                return ToolOutcome { output: json!(text), success: true, then: refusal.then };
            }
        };
    }
    // The recording of a call has room for one run of its command. The output of the second run is in the result of the
    // call.
    let attempt = Attempt { confinement: None, open: Some(open), trace: ToolTrace::disabled() };
    match start(options, context, call, request, command, attempt, item).await {
        Ran::Not(outcome) => outcome,
        Ran::Done { text } | Ran::Refused { text } => done(format!(
            "[The sandbox seems to have refused something, so it was run again without, as the user agreed.]\n{text}"
        )),
    }
}

/// Most questions about one command whose programs change while the user answers.
const MAX_QUESTIONS: usize = 4;

/// Asks the user whether a command may run, and remembers the answer. The item ends if the user declines. `told` are the
/// programs named in the question. If others were created or replaced when the user answers, the user is asked again.
#[expect(clippy::too_many_arguments, reason = "everything that a question about a command needs")]
async fn ask_for(
    options: &ToolOptions,
    context: &ToolContext,
    judged: &Judged<'_>,
    open: OpenItem,
    item: &CommandItem,
    mut reason: Option<String>,
    then: GrantedRights,
    prefix: Option<&[String]>,
    mut told: Vec<String>,
) -> Result<OpenItem, NotApproved> {
    for _ in 0..MAX_QUESTIONS {
        let agreed = {
            let asked = judged.request(&told);
            let question = Question::Command(CommandQuestion {
                turn: context.turn.clone(),
                item: open.id().clone(),
                command: item.command.clone(),
                cwd: item.cwd.clone(),
                reason: reason.clone(),
                rights: approval::rights_in_words(&context.settings.sandbox, then),
                actions: item.actions.clone(),
                proposed_prefix: approval::proposed_prefix(asked, prefix),
            });
            ask(context, question).await
        };
        match agreed {
            Ok(Approved::Once) => {}
            Ok(Approved::ForSession) => {
                let command = judged.command;
                context.agent.extension::<Accepted>().accept_command(&command.argv, &command.cwd, then);
            }
            Ok(Approved::Prefix(words)) => {
                if !options.rules.add(words, then) {
                    tracing::warn!(thread = %context.agent.id(), "a rule for commands was not taken: too broad, too long, or too many");
                }
            }
            Err(refusal) => {
                open.complete(ItemKind::Command(CommandItem { status: refusal.status, ..item.clone() }));
                return Err(refusal);
            }
        }
        if then == GrantedRights::Confined {
            return Ok(open);
        }
        // Other commands run while the user decides.
        let (verdict, planted) = judged.now(options);
        if planted.iter().all(|program| told.contains(program)) {
            return Ok(open);
        }
        match verdict {
            Verdict::Ask { reason: now, .. } => (reason, told) = (now, planted),
            // This command is not covered by earlier answers, because a program was created or replaced.
            Verdict::Run(_) | Verdict::Refuse { .. } => break,
        }
    }
    open.complete(ItemKind::Command(CommandItem { status: WorkStatus::Declined, ..item.clone() }));
    Err(NotApproved {
        why: "not run: its programs were replaced while people were asked about them".to_owned(),
        status: WorkStatus::Declined,
        then: AfterCall::Continue,
    })
}

fn find_patch(command: &RequestedCommand) -> Option<Invocation> {
    match command {
        RequestedCommand::Line { line, .. } => invocation::find_in_line(line),
        RequestedCommand::Words(words) => invocation::find_in_words(words),
    }
}

fn resolve(options: &ToolOptions, command: &RequestedCommand, cwd: PathBuf) -> Command {
    match command {
        RequestedCommand::Line { line, shell, login } => {
            let shell = shell.clone().unwrap_or_else(|| options.shell.to_string_lossy().into_owned());
            let option = if *login { "-lc" } else { "-c" };
            // How another program interprets the line is unknown.
            let is_users = Path::new(&shell) == options.shell && has_name_of_shell(&options.shell);
            let known = (is_users || is_shell(&shell)).then(|| line.clone());
            Command { argv: vec![shell, option.to_owned(), line.clone()], line: known, cwd }
        }
        RequestedCommand::Words(words) => {
            let line = match &words[..] {
                [shell, option, line] if is_shell(shell) && (option == "-c" || option == "-lc") => Some(line.clone()),
                // After quoting, the words are a simple line of one command.
                words => shlex::try_join(words.iter().map(String::as_str)).ok(),
            };
            Command { argv: words.clone(), line, cwd }
        }
    }
}

/// Names of shells that parse a simple line as [`line`](crate::tool::line) does. Others, such as fish, quote differently.
const SHELLS: [&str; 5] = ["bash", "sh", "zsh", "dash", "ksh"];

/// Returns whether a program is a shell of the system. A program of this name in another folder does not count.
fn is_shell(program: &str) -> bool {
    let name = ["/bin/", "/usr/bin/"].iter().find_map(|folder| program.strip_prefix(folder)).unwrap_or(program);
    SHELLS.contains(&name)
}

/// Returns whether the user's shell is one whose lines can be parsed.
fn has_name_of_shell(program: &Path) -> bool {
    program.file_name().and_then(|name| name.to_str()).is_some_and(|name| SHELLS.contains(&name))
}

/// Describes the programs of a command that commands may have created or replaced. Returns none if commands are not
/// confined: they could replace any program, so a warning would have no meaning.
fn planted(options: &ToolOptions, command: &Command, confinement: Option<&Confinement>) -> Vec<String> {
    let is_open = |path: &Path| confinement.is_some_and(|confinement| confinement.allows_writing(path));
    let programs = program::programs(&command.argv, command.line.as_deref(), &command.cwd, &options.search);
    // A first word that is a path names exactly that file, wherever it lies.
    let first = programs.planted(is_open).filter(|program| !program.name.contains('/')).cloned();
    let words = match confinement {
        Some(_) => program::planted_words(&command.argv, &options.search, &command.cwd, is_open),
        None => Vec::new(),
    };
    let mut told = Vec::new();
    for program in first.chain(words) {
        let program = program::describe(&program);
        if !told.contains(&program) {
            told.push(program);
        }
    }
    told
}

fn sandbox_error(options: &ToolOptions) -> Option<String> {
    match &options.launcher {
        None => Some("no launcher for sandboxed commands is set up".to_owned()),
        Some(_) => sandbox::availability().err().map(|error| error.to_string()),
    }
}

fn item(command: &Command) -> CommandItem {
    let shown = shlex::try_join(command.argv.iter().map(String::as_str)).unwrap_or_else(|_| command.argv.join(" "));
    CommandItem {
        actions: actions(command.line.as_deref().unwrap_or(&shown), &command.cwd),
        command: shown,
        cwd: command.cwd.clone(),
        source: CommandSource::Agent,
        process_id: None,
        output: None,
        exit_code: None,
        duration_ms: None,
        status: WorkStatus::InProgress,
    }
}

fn shown(id: ItemId, item: &CommandItem) -> Item {
    Item { id, kind: ItemKind::Command(item.clone()) }
}

/// Input of one run of a command.
struct Attempt {
    confinement: Option<Confinement>,
    /// The item, if it started before the run; otherwise it starts with the run.
    open: Option<OpenItem>,
    trace: ToolTrace,
}

/// Result of a run.
enum Ran {
    /// The command did not start.
    Not(ToolOutcome),
    /// The command ended or continues in the background.
    Done {
        /// The report for the model.
        text: String,
    },
    /// The command failed, and probably because the sandbox refused something.
    Refused {
        /// The report for the model.
        text: String,
    },
}

async fn start(
    options: &ToolOptions,
    context: &ToolContext,
    call: &ToolCall,
    request: &ExecRequest,
    command: &Command,
    attempt: Attempt,
    mut item: CommandItem,
) -> Ran {
    let Attempt { mut confinement, open, trace } = attempt;
    let agent = &context.agent;
    let sessions = agent.extension::<Sessions>();
    let Some(id) = sessions.reserve() else {
        if let Some(open) = open {
            item.status = WorkStatus::Failed;
            open.complete(ItemKind::Command(item));
        }
        return Ran::Not(failed(format!("{MAX_COMMANDS_AT_ONCE} commands run already; wait until some have ended")));
    };
    item.process_id = Some(id.to_string());
    item.source = CommandSource::SessionStart;
    let open = match open {
        None => agent.start_item(&context.turn, shown(call.id.clone(), &item)),
        Some(mut open) => {
            open.change(ItemKind::Command(item.clone()));
            open
        }
    };
    let group = match &mut confinement {
        Some(confinement) => {
            let group = options.surroundings.groups.make(confinement.processes);
            confinement.group = group.as_ref().map(|group| group.path().to_owned());
            group
        }
        None => None,
    };
    let (confinement, watch) = watched(options, confinement).await;
    let mut hidden_variables = options.hidden_variables.clone();
    let (program, arguments, pipe) = match (&confinement, &options.launcher) {
        (Some(confinement), Some(launcher)) => {
            hidden_variables.extend(launcher.environment.iter().map(|(name, _)| name.clone()));
            let words = options.environment.guarded(&command.argv, []);
            (launcher.program.clone(), launcher.arguments(confinement, &words), Streams::DetachedPipe)
        }
        _ => {
            let writable = agent.folders().writable(&context.settings.cwd, &context.settings.sandbox);
            let mut words = options.environment.guarded_outside(&command.argv, &writable);
            (PathBuf::from(words.remove(0)), words, Streams::Pipe)
        }
    };
    let closed = confinement.as_ref().and_then(|confinement| said_of_closed(confinement, watch.as_ref(), options));
    let begun = Instant::now();
    let launched = Process::start(Launch {
        program: &program,
        arguments: &arguments,
        cwd: &command.cwd,
        environment: &options.environment,
        hidden_variables: &hidden_variables,
        streams: if request.tty { Streams::Terminal } else { pipe },
    });
    let process = match launched {
        Ok(process) => process,
        Err(error) => {
            sessions.remove(id);
            if let Some(watch) = watch {
                watch.end();
            }
            return Ran::Not(not_started(open, item, &program, &error));
        }
    };
    let timeout = match request.wait {
        RequestedWait::Timeout(timeout) => Some(timeout),
        RequestedWait::Yield(_) => None,
    };
    let leftovers = if confinement.is_some() { Leftovers::End } else { Leftovers::Stay };
    let argv = command.argv.clone();
    let (turn, call) = (context.turn.clone(), call.id.clone());
    let settings = Arc::clone(&context.settings);
    let is_agreed = confinement.is_none() && is_restricted(&settings.sandbox);
    let basis = if is_agreed { Basis::Agreement } else { Basis::Policy };
    let new = NewSession { id, turn, call, argv, item, timeout, leftovers, settings, basis, watch, group };
    let session = Session::start(agent, new, process, open, trace);
    // If the caller is dropped before the command ends, this guard stops the command.
    let guard = StopWhenDropped(Some(&session));
    let yielded = async {
        match request.wait {
            RequestedWait::Yield(wait) => tokio::time::sleep(wait).await,
            RequestedWait::Timeout(_) => std::future::pending().await,
        }
    };
    let ended = tokio::select! {
        biased;
        ended = session.ended() => Some(ended),
        () = context.cancelled.cancelled() => {
            session.stop();
            Some(session.ended().await)
        }
        () = yielded => None,
    };
    guard.release();
    if ended.is_some() {
        sessions.remove(id);
    }
    let output = session.take_unread();
    let (wall, tokens) = (begun.elapsed(), request.max_output_tokens);
    let text = match (ended, request.wait) {
        (None, _) => {
            session.keep(agent);
            report::chunk(&output, tokens, wall, Progress::Running(&session.id()))
        }
        (Some(ended), RequestedWait::Yield(_)) => report::chunk(&output, tokens, wall, Progress::Exited(ended.code)),
        (Some(ended), RequestedWait::Timeout(timeout)) => {
            report::whole(&output, tokens, wall, ended.code, (ended.cause == Cause::Timeout).then_some(timeout))
        }
    };
    let text = match closed {
        None => text,
        Some(closed) => format!("{closed}\n{text}"),
    };
    let seems_refused = |confinement: &Confinement| {
        let output = output.within(usize::MAX);
        let has_failed = |ended: Ended| {
            ended.cause == Cause::Itself
                && [output.head, output.tail]
                    .iter()
                    .any(|part| denial::is_likely(confinement.network, ended.code, part))
        };
        ended.is_some_and(has_failed)
    };
    if confinement.as_ref().is_some_and(seems_refused) { Ran::Refused { text } } else { Ran::Done { text } }
}

/// Finds the repositories that a command may reach, and makes them read-only for it.
async fn watched(options: &ToolOptions, confinement: Option<Confinement>) -> (Option<Confinement>, Option<Watch>) {
    let Some(mut confinement) = confinement else { return (None, None) };
    let repositories = Arc::clone(&options.surroundings.repositories);
    let closing = closing(options);
    let work = tokio::task::spawn_blocking(move || {
        let watch = repositories.watch(&mut confinement, closing);
        (Some(confinement), watch)
    });
    work.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}

fn closing(options: &ToolOptions) -> ReadOnlyEnforcement {
    options.launcher.as_ref().map_or(ReadOnlyEnforcement::Nothing, SandboxLauncher::closing)
}

/// Reports the folders that a command should be able to write to and cannot.
fn said_of_closed(confinement: &Confinement, watch: Option<&Watch>, options: &ToolOptions) -> Option<String> {
    let is_wrapped = closing(options) == ReadOnlyEnforcement::Mounts;
    let mut said = Vec::new();
    if let Some(closed) = listed(&confinement.behind_links()) {
        tracing::warn!(closed, "folders that a link leads to are closed for writing");
        said.push(format!(
            "[Closed for writing: {closed}. A link leads there, which a command may have made. The user can name the folder that is meant by its own path.]"
        ));
    }
    said.extend(watch.and_then(|watch| said_of_unsearched(watch, is_wrapped)));
    let around = confinement.writable.iter().map(PathBuf::as_path).filter(|folder| confinement.hides_below(folder));
    if let Some(around) = listed(&around.collect::<Vec<_>>()).filter(|_| !is_wrapped) {
        said.push(format!(
            "[Nothing can be made or deleted directly in {around}, or in the folders on the way from there to the home of the server, which commands must not read; what is in folders beside it can be changed. The user can install bubblewrap, or move the home (TRACE_HOME).]"
        ));
    }
    (!said.is_empty()).then(|| said.join("\n"))
}

fn said_of_unsearched(watch: &Watch, is_wrapped: bool) -> Option<String> {
    let mut said = Vec::new();
    let seconds = MAX_SEARCH.as_secs();
    for (why, reason, help) in [
        (Unsearched::Unlistable, "It cannot be listed".to_owned(), "The user can give the right to list it back"),
        (
            Unsearched::TooMany,
            format!("There are more than {MAX_FOLDERS} folders in what is open"),
            "The user can open a smaller folder",
        ),
        (
            Unsearched::TooLong,
            format!("Looking through all folders takes longer than {seconds} seconds"),
            "The next command may get further; the user can open a smaller folder",
        ),
        (
            Unsearched::Unreadable,
            "A configuration of Git that counts there cannot be read".to_owned(),
            "The log of the server names it, and the user can make it readable",
        ),
    ] {
        let folders = watch.unsearched().iter().filter(|(_, known)| **known == why);
        let folders: Vec<&Path> = folders.map(|(path, _)| path.as_path()).collect();
        if let Some(folders) = listed(&folders) {
            said.push(format!(
                "[Closed for writing: {folders}. {reason}, and what Git runs could be hidden there. {help}.]"
            ));
        }
    }
    if !is_wrapped && !said.is_empty() {
        let shut: Vec<&Path> = watch.shut().iter().map(PathBuf::as_path).collect();
        let shut = listed(&shut).unwrap_or_default();
        said.push(format!("[Without bubblewrap folders are closed as a whole: {shut}. The user can install it.]"));
    }
    (!said.is_empty()).then(|| said.join("\n"))
}

/// Most folders that are listed in a note.
const MAX_LISTED: usize = 8;

fn listed(folders: &[&Path]) -> Option<String> {
    if folders.is_empty() {
        return None;
    }
    let names = folders.iter().take(MAX_LISTED).map(|folder| folder.display().to_string());
    let mut names: Vec<String> = names.collect();
    if folders.len() > MAX_LISTED {
        names.push(format!("and {} more", folders.len() - MAX_LISTED));
    }
    Some(names.join(", "))
}

fn not_started(mut open: OpenItem, mut item: CommandItem, program: &Path, error: &std::io::Error) -> ToolOutcome {
    let why = format!("cannot start {}: {error}\n", program.display());
    open.grow(Delta::Output(why.clone()));
    item.output = Some(why.clone());
    item.status = WorkStatus::Failed;
    item.process_id = None;
    open.complete(ItemKind::Command(item));
    failed(format!("exec_command failed: {why}"))
}

/// Stops a command when dropped, unless it was released.
struct StopWhenDropped<'a>(Option<&'a Arc<Session>>);

impl StopWhenDropped<'_> {
    fn release(mut self) {
        self.0 = None;
    }
}

impl Drop for StopWhenDropped<'_> {
    fn drop(&mut self) {
        if let Some(session) = self.0 {
            session.stop();
        }
    }
}
