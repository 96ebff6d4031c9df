//! `trace why`: finds out where a text came from.

use std::io::Read;

use crate::argument::BundleArg;
use clap::Args;
use trace_explain::object::ObjectRef;
use trace_explain::why::{
    Form, Hop, Kind, MAX_NEEDLE_BYTES, Needle, NoText, Provenance, SeenBy, Way, object_text, why,
};

use crate::session;
use crate::ui::failure::{Ending, Failure};
use crate::ui::output::{INDENT, Paint, Terminal, push_table, row};
use crate::ui::text;

const AFTER_HELP: &str = "\
Examples:
  trace why traces/trace-1 --text 'the build is broken since 4f21'
  trace why traces/trace-1 --object tool_call:call_17
  trace why traces/trace-1 --object conversation_item:42 --json | jq .origin
  pbpaste | trace why traces/trace-1 --text -

White space and case matter. The text is also found inside a longer text, JSON-escaped inside another string (\\n, \
\\\", \\u00e9, strings in strings), and where an output was cut in the middle of it.

The origin is the first occurrence in the order of causes: a user's message, the output of a tool, the arguments of a \
tool call, a message to an agent, other output of a model, or instructions. An agent that repeats the text or inherits \
it from its parent is a step of the path. docs/provenance.md has the rules.

--json writes one object with text, object (if one was asked for), origin (null if the text was not found: kind, \
object, thread_id, agent_path, seq), path (object, thread_id, agent_path, seq, form, way), seen_by (inference_call_id, \
thread_id, seq, form), followed_by (tool_call_id, tool, inference_call_id, thread_id, agent_path, seq), and \
unread_payloads. Its schema is docs/schema/why.schema.json.

Exit codes: 0 answered, even if the text was not found; 1 not a bundle, unreadable, or an object without text; 2 wrong \
usage, or no such object; 3 an internal error.";

/// Shows where a text came from, how it travelled, and what followed from it
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct WhyArgs {
    #[command(flatten)]
    bundle: BundleArg,
    #[command(flatten)]
    subject: Subject,
    /// Write a JSON object, described below
    #[arg(long)]
    json: bool,
    /// Show all rows instead of the first ones
    #[arg(short, long)]
    all: bool,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct Subject {
    /// The text; - reads it from stdin, without a line feed at its end
    #[arg(short, long, allow_hyphen_values = true)]
    text: Option<String>,
    /// An object whose text is traced: TYPE:ID, with the names of state.json
    #[arg(short, long, value_name = "TYPE:ID")]
    object: Option<ObjectRef>,
}

/// Most rows of a list without `--all`.
const FIRST_ROWS: usize = 10;

/// Most columns of a text.
const TEXT_COLUMNS: usize = 200;

pub(crate) fn run(args: &WhyArgs, terminal: &Terminal) -> Result<Ending, Failure> {
    let text = match &args.subject.text {
        Some(text) if text == "-" => Some(read_stdin()?),
        text => text.clone(),
    };
    // The text is checked before the bundle is opened.
    let needle = text.map(|text| Needle::new(&text)).transpose().map_err(Failure::usage)?;
    let session = session::open(&args.bundle.path())?;
    let needle = match (needle, &args.subject.object) {
        (Some(needle), _) => needle,
        (None, Some(object)) => {
            let text = object_text(&session, object).map_err(no_text)?;
            Needle::new(&text).map_err(Failure::data)?
        }
        (None, None) => return Err(Failure::usage("neither --text nor --object is given")),
    };
    let mut answer = why(&session, &needle);
    if answer.origin.is_none() {
        // If the event log cannot be read, an empty answer would be wrong. This is an error instead.
        session.bundle().log().map_err(|error| Failure::data(anyhow::anyhow!("{error}")))?;
    }
    answer.object.clone_from(&args.subject.object);
    if args.json {
        terminal.print_json(&answer)?;
    } else {
        let rows = if args.all { usize::MAX } else { FIRST_ROWS };
        terminal.print(&render(&answer, rows, terminal))?;
    }
    // The process is about to end. Freeing millions of objects one by one would only delay that.
    std::mem::forget(session);
    Ok(Ending::Done)
}

fn no_text(error: NoText) -> Failure {
    let failure = match error {
        NoText::Unknown { .. } => Failure::usage(error),
        NoText::Empty { .. } => Failure::data(error),
    };
    failure.with_hint("`trace reduce` writes state.json, which has all objects with their ids")
}

fn read_stdin() -> Result<String, Failure> {
    let mut text = String::new();
    let limit = MAX_NEEDLE_BYTES as u64 + 1;
    std::io::stdin()
        .lock()
        .take(limit)
        .read_to_string(&mut text)
        .map_err(|error| Failure::data(error).context("cannot read the text from stdin"))?;
    // Programs usually end their output with a line feed, which is not part of the text.
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    Ok(text)
}

fn render(answer: &Provenance, rows: usize, terminal: &Terminal) -> String {
    let paint = terminal.paint();
    let mut out = String::new();
    let Paint { strong, accent, dim, .. } = paint;
    out.push_str(&format!("{strong}text{strong:#}    {}\n", text::preview(&answer.text, TEXT_COLUMNS)));
    if let Some(object) = &answer.object {
        out.push_str(&format!("{strong}of{strong:#}      {}\n", text::clean(&object.short_name())));
    }
    if answer.unread_payloads > 0 {
        let odd = paint.odd;
        let count = text::count(answer.unread_payloads, "payload");
        out.push_str(&format!("{odd}note{odd:#}    {count} could not be searched; the answer may be incomplete\n"));
    }
    let Some(origin) = &answer.origin else {
        out.push_str(match answer.unread_payloads {
            0 => "nowhere in the session: no model saw it, and no tool took or printed it\n",
            _ => "not found in what could be read\n",
        });
        return out;
    };
    let object = origin.object.short_name();
    out.push_str(&format!(
        "{strong}origin{strong:#}  {accent}{}{accent:#} of {}: {} {dim}seq {}{dim:#}\n",
        kind_words(origin.kind),
        text::clean(&origin.agent_path),
        text::clean(&object),
        origin.seq
    ));
    heading(&mut out, paint, "path");
    let mut table = terminal.list();
    for Hop { object, agent_path, seq, form, way, .. } in answer.path.iter().take(rows) {
        table.add_row(row(vec![
            text::clean(agent_path).as_ref().into(),
            way_words(*way).into(),
            form_words(*form).into(),
            format!("seq {seq}").into(),
            text::clean(&object.short_name()).as_ref().into(),
        ]));
    }
    push_table(&mut out, INDENT, table);
    push_rest(&mut out, answer.path.len(), rows);
    if answer.seen_by.is_empty() {
        out.push_str("no model saw it\n");
        return out;
    }
    heading(&mut out, paint, &format!("seen by {}", text::count(answer.seen_by.len() as u64, "inference call")));
    let mut table = terminal.list();
    for SeenBy { inference_call_id, seq, form, .. } in answer.seen_by.iter().take(rows) {
        table.add_row(row(vec![
            format!("seq {seq}").into(),
            form_words(*form).into(),
            text::clean(inference_call_id).as_ref().into(),
        ]));
    }
    push_table(&mut out, INDENT, table);
    push_rest(&mut out, answer.seen_by.len(), rows);
    if answer.followed_by.is_empty() {
        return out;
    }
    heading(&mut out, paint, &format!("followed by {}", text::count(answer.followed_by.len() as u64, "tool call")));
    let mut table = terminal.list();
    for followed in answer.followed_by.iter().take(rows) {
        table.add_row(row(vec![
            text::clean(&followed.agent_path).as_ref().into(),
            format!("seq {}", followed.seq).into(),
            text::clean(&followed.tool).as_ref().into(),
            text::clean(&followed.tool_call_id).as_ref().into(),
        ]));
    }
    push_table(&mut out, INDENT, table);
    push_rest(&mut out, answer.followed_by.len(), rows);
    out
}

fn heading(out: &mut String, paint: Paint, heading: &str) {
    let strong = paint.strong;
    out.push_str(&format!("{strong}{heading}{strong:#}\n"));
}

fn push_rest(out: &mut String, length: usize, rows: usize) {
    if length > rows {
        out.push_str(&format!("{INDENT}… and {} more; --all shows them\n", text::number((length - rows) as u64)));
    }
}

fn kind_words(kind: Kind) -> &'static str {
    match kind {
        Kind::UserInput => "user input",
        Kind::ToolOutput => "tool output",
        Kind::ToolArguments => "tool arguments",
        Kind::ModelOutput => "model output",
        Kind::AgentMessage => "agent message",
        Kind::Instructions => "instructions",
        Kind::Unknown => "unknown",
    }
}

fn form_words(form: Form) -> &'static str {
    match form {
        Form::Verbatim => "verbatim",
        Form::Within => "within",
        Form::JsonEscaped => "JSON-escaped",
        Form::Truncated => "truncated",
    }
}

fn way_words(way: Way) -> &'static str {
    match way {
        Way::User => "from the user",
        Way::Instructions => "instructed",
        Way::Said => "said",
        Way::Called => "called",
        Way::Returned => "returned",
        Way::Sent => "sent",
        Way::Received => "received",
        Way::Inherited => "inherited",
    }
}
