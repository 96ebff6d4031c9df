//! The command line, and its help.

use clap::builder::Styles;
use clap::builder::styling::AnsiColor;
use clap::{Args, Parser, Subcommand};

use crate::commands::audit::AuditArgs;
use crate::commands::check::CheckArgs;
use crate::commands::completions::CompletionsArgs;
use crate::commands::context::ContextArgs;
use crate::commands::costs::CostsArgs;
use crate::commands::critical_path::CriticalPathArgs;
use crate::commands::demo::DemoArgs;
use crate::commands::diff::DiffArgs;
use crate::commands::exec::ExecArgs;
use crate::commands::export::ExportArgs;
use crate::commands::fleet::FleetArgs;
use crate::commands::graph::GraphArgs;
use crate::commands::grep::GrepArgs;
use crate::commands::import::ImportArgs;
use crate::commands::ls::LsArgs;
use crate::commands::man::ManArgs;
use crate::commands::mcp::McpArgs;
use crate::commands::pack::PackArgs;
use crate::commands::postmortem::PostmortemArgs;
use crate::commands::prune::PruneArgs;
use crate::commands::query::QueryArgs;
use crate::commands::redact::RedactArgs;
use crate::commands::reduce::ReduceArgs;
use crate::commands::relay::RelayArgs;
use crate::commands::replay::ReplayArgs;
use crate::commands::run::RunArgs;
use crate::commands::sandbox_exec::SandboxExecArgs;
use crate::commands::schema::SchemaArgs;
use crate::commands::serve::ServeArgs;
use crate::commands::show::ShowArgs;
use crate::commands::tail::TailArgs;
use crate::commands::timeline::TimelineArgs;
use crate::commands::unpack::UnpackArgs;
use crate::commands::view::ViewArgs;
use crate::commands::why::WhyArgs;
use crate::ui::output::ColorWhen;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

const AFTER_HELP: &str = "\
Examples:
  trace demo                       record and show a small session; needs no API key
  trace run PROMPT                 run one turn of an agent, and record it
  trace exec --json PROMPT         the same for programs, with the events of the Codex SDK
  trace serve --listen URL         serve agents to Codex clients, and record every session
  trace mcp                        answer questions of other agents about sessions, over MCP
  trace ls                         list your sessions, those of other agents included
  trace costs --by month,model     add up the tokens of all sessions of all agents
  trace show traces/trace-1        show what happened in a session
  trace tail traces                follow the newest session while it runs
  trace postmortem @last           find out why turns failed, across agents
  trace audit @last                hold what agents said and did against the evidence
  trace why B --text TEXT          find where a text came from, and what followed from it
  trace grep PATTERN traces        search what models saw and tools printed
  trace context B --last           show what the model saw in its last request
  trace timeline B                 show who did what when, and what it cost
  trace diff A B                   compare two sessions of the same task
  trace query B @slowest-tools     run SQL over sessions: a named query, or your own
  trace view B --open              open the session as a page in the browser
  trace graph B -o agents.svg      draw the session
  trace export B                   export it to ui.perfetto.dev, Chrome or OpenTelemetry
  trace import SESSION -o DIR      make a bundle of a session that another agent stored
  trace reduce traces              write state.json into every bundle below traces
  trace redact B -o COPY           copy a bundle without its secrets

Exit codes:
  0  success, also for a damaged bundle that could be reduced
  1  a bundle could not be read, was refused by --strict, has errors (check), or its output could not be written
  2  the command line is wrong
  3  an internal error: a bug in trace";

/// Runs coding agents, records their sessions, and explains them.
///
/// It works on the sessions that you already have, as Claude Code, the Codex CLI, Gemini CLI and opencode stored them:
/// `trace ls` lists them, and every command that reads a session takes one by its file, the beginning of its id, or @last.
///
/// A session leaves a bundle: a directory with manifest.json, trace.jsonl and payloads/, recorded by the Codex CLI
/// (with CODEX_ROLLOUT_TRACE_ROOT set) or in the same format, or one small file with the same content, NAME.trace, as
/// `trace` itself records and packs them. Every command reads both, also while they are recorded. `trace` lists
/// bundles, shows what happened in them, answers questions about them and reduces them to the graph in state.json. Only `check --repair`, `prune --delete` and `pack --delete-source` change what
/// was recorded.
#[derive(Debug, Parser)]
#[command(name = "trace", version, after_help = AFTER_HELP, styles = STYLES, max_term_width = 100)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options that every command has.
#[derive(Debug, Args)]
pub(crate) struct GlobalArgs {
    /// Use colours: auto (on a terminal, unless NO_COLOR is set), always or never
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_possible_values = true)]
    #[arg(hide_default_value = true, display_order = 900)]
    pub(crate) color: ColorWhen,
    /// Print progress messages to stderr; -vv prints more
    #[arg(short, long, global = true, action = clap::ArgAction::Count, display_order = 901)]
    pub(crate) verbose: u8,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(DemoArgs),
    Run(RunArgs),
    Exec(Box<ExecArgs>),
    Serve(Box<ServeArgs>),
    Mcp(McpArgs),
    Relay(RelayArgs),
    Replay(ReplayArgs),
    Ls(LsArgs),
    Costs(CostsArgs),
    Show(ShowArgs),
    Tail(TailArgs),
    Postmortem(PostmortemArgs),
    Audit(AuditArgs),
    Why(WhyArgs),
    Grep(GrepArgs),
    Context(ContextArgs),
    Timeline(TimelineArgs),
    CriticalPath(CriticalPathArgs),
    Diff(DiffArgs),
    Query(QueryArgs),
    Fleet(FleetArgs),
    View(ViewArgs),
    Graph(GraphArgs),
    Export(ExportArgs),
    Import(ImportArgs),
    Reduce(ReduceArgs),
    Check(CheckArgs),
    Pack(PackArgs),
    Unpack(UnpackArgs),
    Redact(RedactArgs),
    Prune(PruneArgs),
    Schema(SchemaArgs),
    #[command(hide = true)]
    SandboxExec(SandboxExecArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
