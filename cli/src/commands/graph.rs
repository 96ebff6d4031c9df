//! `trace graph`: draws a session.

mod format;
mod target;

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use trace_viz::diagram::{DEFAULT_MAX_NODES, Diagram, DiagramError, Options, Rule, View};

use self::format::{Format, Layout};
use self::target::Target;
use crate::argument::BundleArg;
use crate::session;
use crate::ui::failure::{Ending, Failure};
use crate::ui::output::Terminal;
use crate::ui::text::clean;

const AFTER_HELP: &str = "\
Examples:
  trace graph traces/trace-1 -o agents.svg               what agents handed to each other
  trace graph traces/trace-1 | dot -Tpng > agents.png    the same, drawn by Graphviz
  trace graph traces/trace-1 --view causal -o why.svg    from the first failed turn back to its root cause
  trace graph traces/trace-1 --view turns --thread /root -o turns.png
  trace graph traces/trace-1 --view calls --turn 01a2f3 --format mermaid
  trace graph traces/trace-1 --max-nodes 200 --collapse none -o all.svg
  trace graph traces/trace-1 --format json | jq '.diagram.nodes[] | select(.mark == \"failed\")'

Views: agents (the agents, their outcomes, and what they handed to each other), turns (turns of each agent with their \
tool calls), calls (requests to models, the tool calls that they asked for, and the requests that read the outputs), \
causal (the path from the symptom of one turn back to its root cause; of the turn or thread that is named, or else of \
the first turn that needs attention).

A picture never has more nodes than --max-nodes. Nodes that do not fit are folded; nodes without trouble are folded \
before failed ones and the path to them. Folded nodes and the caption count what was folded. --collapse folds even if \
there is room: siblings (at least 9 children of one agent that look alike and had no trouble), tools (at least 3 \
successful calls of one tool in a row), depth=N (agents without trouble below depth N), none (nothing).

Formats: dot, svg, png, mermaid, json. --format names the format; without it, the extension of -o does (.dot, .gv, \
.svg, .png, .mmd, .mermaid, .json); without both, it is dot. SVG and PNG are laid out by Graphviz if its `dot` is \
installed, and otherwise by trace itself; --layout own needs no other program. --format json writes one object, \
described by docs/schema/graph.schema.json; docs/graph.md has the details.

Exit codes: 0 drawn; 1 not a bundle or unreadable, no turn needs attention (--view causal), or the output could not be \
written; 2 wrong usage, or no such thread or turn; 3 an internal error.";

/// Draws a session: agents, turns, calls, or why it failed
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct GraphArgs {
    #[command(flatten)]
    bundle: BundleArg,
    /// The view: agents, turns, calls or causal
    #[arg(long, value_name = "VIEW", default_value = View::Agents.as_str(), hide_possible_values = true)]
    #[arg(value_parser = views())]
    view: View,
    /// The output format: dot, svg, png, mermaid or json [default: by the extension of -o, or dot]
    #[arg(short, long, value_name = "FORMAT", hide_possible_values = true)]
    format: Option<Format>,
    /// The layout engine of SVG and PNG: graphviz or own [default: Graphviz if it is installed]
    #[arg(long, value_name = "WHO", hide_possible_values = true)]
    layout: Option<Layout>,
    /// The output file; - is stdout [default: stdout]
    #[arg(short, long, value_name = "FILE|-")]
    output: Option<PathBuf>,
    /// Show only this agent, given by its path or thread id; with --view agents, also all agents below it
    #[arg(long, visible_alias = "agent", value_name = "PATH")]
    thread: Option<String>,
    /// Show only this turn, given by its id or the beginning or end of its id; not with --view agents
    #[arg(long, value_name = "ID")]
    turn: Option<String>,
    /// Most nodes of the picture
    #[arg(long, value_name = "N", default_value_t = DEFAULT_MAX_NODES, value_parser = max_nodes)]
    max_nodes: usize,
    /// What to fold even if there is room: siblings, tools, depth=N, or none [default: siblings,tools]
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = rule)]
    collapse: Vec<Collapse>,
}

/// Returns the parser of `--view`, which knows the names of all views.
fn views() -> impl TypedValueParser<Value = View> {
    let names = View::ALL.iter().map(|view| view.as_str());
    PossibleValuesParser::new(names)
        .try_map(|name| View::ALL.iter().copied().find(|view| view.as_str() == name).ok_or("there is no such view"))
}

/// A value of `--collapse`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Collapse {
    Rule(Rule),
    None,
}

fn rule(text: &str) -> Result<Collapse, String> {
    let unknown = || "the values are siblings, tools, depth=N and none".to_owned();
    Ok(match text {
        "siblings" => Collapse::Rule(Rule::Siblings),
        "tools" => Collapse::Rule(Rule::Tools),
        "none" => Collapse::None,
        _ => {
            let depth = text.strip_prefix("depth=").ok_or_else(unknown)?;
            let depth = depth.parse().map_err(|_| format!("{depth:?} is not a number of agents"))?;
            Collapse::Rule(Rule::Depth(depth))
        }
    })
}

fn max_nodes(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("a picture has at least 1 node".to_owned()),
        Ok(max_nodes) => Ok(max_nodes),
        Err(_) => Err("expected a whole number".to_owned()),
    }
}

pub(crate) fn run(args: &GraphArgs, terminal: &Terminal) -> Result<Ending, Failure> {
    let options = options(args)?;
    let target = Target::new(args.output.as_deref());
    let format = target.format(args.format)?;
    target.check(format, terminal)?;
    let session = session::open(&args.bundle.path())?;
    let diagram = Diagram::new(&session, &options).map_err(failure)?;
    let bytes = format.write(&diagram, &args.bundle.path(), args.layout, terminal)?;
    target.write(&bytes, format)?;
    // The process is about to end. Freeing millions of objects one by one would only delay that.
    std::mem::forget(session);
    Ok(Ending::Done)
}

fn options(args: &GraphArgs) -> Result<Options, Failure> {
    let mut options = Options::new(args.view);
    options.thread.clone_from(&args.thread);
    options.turn.clone_from(&args.turn);
    options.max_nodes = args.max_nodes;
    if !args.collapse.is_empty() {
        if args.collapse.len() > 1 && args.collapse.contains(&Collapse::None) {
            return Err(Failure::usage("--collapse none cannot be combined with other values"));
        }
        let rules = args.collapse.iter().filter_map(|collapse| match collapse {
            Collapse::Rule(rule) => Some(*rule),
            Collapse::None => None,
        });
        options.collapse = rules.collect();
    }
    Ok(options)
}

fn failure(error: DiagramError) -> Failure {
    let hint = match &error {
        DiagramError::NoThread { .. } => "`trace show` lists the threads with their paths",
        DiagramError::NoTurn { .. } | DiagramError::ManyTurns { .. } | DiagramError::OtherThread { .. } => {
            "`trace postmortem --all` lists the turns with their ids"
        }
        DiagramError::NoTurnsInView => "--view turns and --view calls take --turn",
        DiagramError::NothingWrong { .. } | DiagramError::TurnIsFine { .. } => {
            "`trace postmortem --all` lists the outcome of each turn; --view agents draws the whole session"
        }
    };
    match error {
        DiagramError::NothingWrong { .. } | DiagramError::TurnIsFine { .. } => Failure::data(error).with_hint(hint),
        error => Failure::usage(clean(&error.to_string())).with_hint(hint),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_and_the_documentation_describe_every_view() {
        let document = include_str!("../../../docs/graph.md");
        for view in View::ALL {
            let name = view.as_str();
            assert!(AFTER_HELP.contains(&format!("{name} (")), "the help describes {name}");
            assert!(document.contains(&format!("\n| `{name}` |")), "docs/graph.md has a row for {name}");
        }
    }
}
