//! What can be said on the command line, and the help that explains it.

use clap::builder::Styles;
use clap::builder::styling::AnsiColor;
use clap::{Args, Parser, Subcommand};

use crate::commands::check::CheckArgs;
use crate::commands::completions::CompletionsArgs;
use crate::commands::context::ContextArgs;
use crate::commands::critical_path::CriticalPathArgs;
use crate::commands::demo::DemoArgs;
use crate::commands::diff::DiffArgs;
use crate::commands::export::ExportArgs;
use crate::commands::graph::GraphArgs;
use crate::commands::grep::GrepArgs;
use crate::commands::ls::LsArgs;
use crate::commands::man::ManArgs;
use crate::commands::pack::PackArgs;
use crate::commands::postmortem::PostmortemArgs;
use crate::commands::prune::PruneArgs;
use crate::commands::query::QueryArgs;
use crate::commands::redact::RedactArgs;
use crate::commands::reduce::ReduceArgs;
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
  trace demo                       a session from prompt to pictures, without a key
  trace run PROMPT                 one turn of an agent, recorded
  trace serve --listen URL         agents for the clients of Codex, every session recorded
  trace ls traces                  what is there, newest first
  trace show traces/trace-1        what happened in one session
  trace tail traces                what happens in the newest one right now
  trace postmortem traces/trace-1  why turns failed, across agents
  trace why B --text TEXT          where a text came from, and what followed from it
  trace grep PATTERN traces        what models saw and tools printed
  trace context B --last           what the model saw in its last request
  trace timeline B                 who did what when, and what it cost
  trace diff A B                   where two sessions of one task part
  trace query B @slowest-tools     SQL over sessions, your own or one that has a name
  trace view B --open              all of it as a page in the browser
  trace graph B -o agents.svg      the session as a picture
  trace export B                   a timeline for ui.perfetto.dev; also Chrome and OpenTelemetry
  trace reduce traces              a state.json in every bundle below traces
  trace redact B -o COPY           a copy of a bundle without its secrets

Exit codes:
  0  done; a damaged bundle that could be reduced counts as done
  1  a bundle could not be read, was refused by --strict, has errors (check), or its output could not be written
  2  the command line is wrong
  3  an internal error: a bug in trace";

/// Runs coding agents, records their sessions, and explains them.
///
/// A session leaves a bundle: a directory with manifest.json, trace.jsonl and payloads/, recorded by the Codex CLI
/// (with CODEX_ROLLOUT_TRACE_ROOT set) or in the same format. `trace` lists bundles, shows what happened in them,
/// answers questions about them, reduces them to the graph in state.json and packs them into one small file each, which
/// every command reads as it reads a directory. Nothing changes what was recorded but `check --repair`, `prune --delete` and
/// `pack --delete-source`.
#[derive(Debug, Parser)]
#[command(name = "trace", version, after_help = AFTER_HELP, styles = STYLES, max_term_width = 100)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every command understands.
#[derive(Debug, Args)]
pub(crate) struct GlobalArgs {
    /// Use colours: auto (on a terminal, unless NO_COLOR is set), always or never
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_possible_values = true)]
    #[arg(hide_default_value = true, display_order = 900)]
    pub(crate) color: ColorWhen,
    /// Say on stderr what is being done; -vv says more
    #[arg(short, long, global = true, action = clap::ArgAction::Count, display_order = 901)]
    pub(crate) verbose: u8,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(DemoArgs),
    Run(RunArgs),
    Serve(ServeArgs),
    Replay(ReplayArgs),
    Ls(LsArgs),
    Show(ShowArgs),
    Tail(TailArgs),
    Postmortem(PostmortemArgs),
    Why(WhyArgs),
    Grep(GrepArgs),
    Context(ContextArgs),
    Timeline(TimelineArgs),
    CriticalPath(CriticalPathArgs),
    Diff(DiffArgs),
    Query(QueryArgs),
    View(ViewArgs),
    Graph(GraphArgs),
    Export(ExportArgs),
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
