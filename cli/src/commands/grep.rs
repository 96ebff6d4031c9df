//! `trace grep`: searches what models saw and tools printed.

mod view;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{ArgAction, Args, ValueEnum};
use rayon::prelude::*;
use trace_explain::grep::{CaseRule, Detail, Found, Matcher, Record, Selection, Syntax, WholeWords, grep, records};
use trace_explain::why::Kind;

use self::view::{Shape, View};
use crate::argument::{self, StoredArg};
use crate::bundles;
use crate::recorded;
use crate::session;
use crate::ui::failed::Failed;
use crate::ui::failure::{Ending, Failure, Kind as FailureKind};
use crate::ui::output::{Terminal, json_stdout, stdout_failure};
use crate::ui::text;

const AFTER_HELP: &str = "\
Examples:
  trace grep 'panicked at' traces
  trace grep -i -C 2 timeout traces/trace-1 --thread /root/tests
  trace grep -F 'rm -rf' traces --kind tool-arguments
  trace grep -c warning traces
  trace grep --json 'error\\[E\\d+\\]' traces | jq -r 'select(.type == \"match\") | .text'

Each distinct text is searched once, line by line, at the place where it first appeared, however many requests and \
agents repeat it: messages, reasoning, instructions and descriptions of tools, arguments, code, and what tools printed \
and returned. A match is shown with the agent, its turn, the object, the seq of the first event that contains it, and \
the line number.

PATTERN is a regular expression in the syntax of Rust's regex crate, as in ripgrep: no look-around, no back-references.

--json writes one JSON object per line, with type match or context (bundle, kind, object, aspect, thread_id, \
agent_path, turn_id, turn, seq, line_number, text, submatches), end (bundle, matched_lines, matched_texts), and last \
summary (bundles, bundles_with_matches, matched_lines, unreadable, unread_payloads). The schema of a line is \
docs/schema/grep.schema.json.

Exit codes, like those of grep and ripgrep: 0 a line matched; 1 no line matched; 2 wrong usage, a bundle could not be \
read, or a payload could not be read and no line matched (with --quiet, a match takes precedence over these); 3 an \
internal error.";

/// Searches what models saw and tools printed for a regular expression
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct GrepArgs {
    /// The pattern; with -e, the first bundle
    #[arg(value_name = "PATTERN", required_unless_present = "patterns", allow_hyphen_values = false)]
    pattern: Option<String>,
    /// Bundles or sessions of other agents: paths, ids, @last; or folders with such below them [default: $TRACE_ROOT,
    /// then $CODEX_ROLLOUT_TRACE_ROOT, then traces in the server home]
    #[arg(value_name = "BUNDLE", add = argument::sessions())]
    bundles: Vec<PathBuf>,
    #[command(flatten)]
    stored: StoredArg,
    /// A pattern; may be given several times, and may begin with a dash
    #[arg(short = 'e', long = "regexp", value_name = "PATTERN", allow_hyphen_values = true)]
    patterns: Vec<String>,
    /// Ignore case
    #[arg(short, long, overrides_with_all = ["smart_case", "case_sensitive"])]
    ignore_case: bool,
    /// Ignore case unless the pattern has an upper-case letter
    #[arg(short = 'S', long, overrides_with_all = ["ignore_case", "case_sensitive"])]
    smart_case: bool,
    /// Match case; this is the default
    #[arg(short = 's', long, overrides_with_all = ["ignore_case", "smart_case"])]
    case_sensitive: bool,
    /// Take the pattern as a text, not as a regular expression
    #[arg(short = 'F', long)]
    fixed_strings: bool,
    /// Match only whole words
    #[arg(short, long, overrides_with = "line_regexp")]
    word_regexp: bool,
    /// Match only whole lines
    #[arg(short = 'x', long, overrides_with = "word_regexp")]
    line_regexp: bool,
    /// Print lines that do not match
    #[arg(short = 'v', long)]
    invert_match: bool,
    /// Print progress messages to stderr; the short form -v is --invert-match here
    // Replaces the global `--verbose`, whose short form `-v` would conflict. The value is stored where that of the
    // global option is.
    #[arg(long, action = ArgAction::Count)]
    verbose: u8,
    /// Print only the number of matching lines of each bundle with a match
    #[arg(short, long, conflicts_with_all = ["files_with_matches", "json"])]
    count: bool,
    /// Print only the paths of bundles with a match
    #[arg(short = 'l', long, conflicts_with = "json")]
    files_with_matches: bool,
    /// Print only the matching parts, each on a line
    #[arg(short, long, conflicts_with_all = ["json", "invert_match"])]
    only_matching: bool,
    /// Stop after this many matching lines of each bundle
    #[arg(short, long, value_name = "NUM")]
    max_count: Option<u64>,
    /// Print this many lines after each match
    #[arg(short = 'A', long, value_name = "NUM")]
    after_context: Option<usize>,
    /// Print this many lines before each match
    #[arg(short = 'B', long, value_name = "NUM")]
    before_context: Option<usize>,
    /// Print this many lines before and after each match
    #[arg(short = 'C', long, value_name = "NUM")]
    context: Option<usize>,
    /// Search only the agent with this path or thread id; may be given several times
    #[arg(short, long = "thread", value_name = "PATH")]
    threads: Vec<String>,
    /// Search only texts of this kind; may be given several times
    #[arg(short, long = "kind", value_name = "KIND")]
    kinds: Vec<KindArgument>,
    /// Name each text once, above its lines; this is the default on a terminal
    #[arg(long, overrides_with = "no_heading")]
    heading: bool,
    /// Name the text on each line; this is the default if stdout is not a terminal
    #[arg(long, overrides_with = "heading")]
    no_heading: bool,
    /// Most columns of a line that are shown; 0 shows all
    #[arg(short = 'M', long, value_name = "NUM", default_value_t = 400)]
    max_columns: usize,
    /// Number the lines; this is the default
    #[arg(short = 'n', long, overrides_with = "no_line_number")]
    line_number: bool,
    /// Do not number the lines
    #[arg(short = 'N', long, overrides_with = "line_number")]
    no_line_number: bool,
    /// Name the bundle even if there is only one
    #[arg(short = 'H', long)]
    with_filename: bool,
    /// Has no effect, since folders are always searched recursively
    #[arg(short = 'r', long)]
    recursive: bool,
    /// Has no effect, since everything is searched as text
    #[arg(short = 'a', long)]
    text: bool,
    /// Write JSON Lines, described below
    #[arg(long)]
    json: bool,
    /// Print nothing; only the exit code tells whether there is a match
    #[arg(short, long, action = ArgAction::SetTrue)]
    quiet: bool,
}

/// A value of `--kind`.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum KindArgument {
    #[value(alias = "user_input")]
    UserInput,
    #[value(alias = "tool_output")]
    ToolOutput,
    #[value(alias = "tool_arguments")]
    ToolArguments,
    #[value(alias = "model_output")]
    ModelOutput,
    #[value(alias = "agent_message")]
    AgentMessage,
    Instructions,
}

impl From<KindArgument> for Kind {
    fn from(argument: KindArgument) -> Self {
        match argument {
            KindArgument::UserInput => Self::UserInput,
            KindArgument::ToolOutput => Self::ToolOutput,
            KindArgument::ToolArguments => Self::ToolArguments,
            KindArgument::ModelOutput => Self::ModelOutput,
            KindArgument::AgentMessage => Self::AgentMessage,
            KindArgument::Instructions => Self::Instructions,
        }
    }
}

/// Number of bundles that are searched before their matches are printed.
const BUNDLES_AT_A_TIME: usize = 16;

/// Sums over all bundles.
#[derive(Debug, Default)]
struct Totals {
    bundles: u64,
    with_matches: u64,
    lines: u64,
    unreadable: u64,
    unread_payloads: u64,
}

pub(crate) fn run(args: &GrepArgs, terminal: &Terminal) -> Result<Ending, Failure> {
    let mut failed = Failed::new(terminal);
    match search(args, terminal, &mut failed) {
        // For errors, this command has another exit code than the other commands.
        Err(failure) if failure.kind() == FailureKind::Data && !failure.is_broken_pipe() => {
            failed.say(&failure, None);
            Ok(Ending::Incomplete)
        }
        ending => ending,
    }
}

fn search(args: &GrepArgs, terminal: &Terminal, failed: &mut Failed<'_>) -> Result<Ending, Failure> {
    let matcher = matcher(args)?;
    let selection = selection(args);
    let found = bundles::find(&arguments(args)?);
    found.failures.iter().for_each(|failure| failed.say(failure, None));
    let mut totals = Totals { unreadable: found.failures.len() as u64, ..Totals::default() };
    let shape = shape(args, terminal, found.is_one);
    for bundles in found.bundles.chunks(BUNDLES_AT_A_TIME) {
        let searched: Vec<_> = bundles.par_iter().map(|bundle| (bundle, look(bundle, &matcher, &selection))).collect();
        for (bundle, found) in searched {
            totals.bundles += 1;
            match found {
                Ok(found) => {
                    totals.lines += found.lines;
                    totals.unread_payloads += found.unread_payloads;
                    warn_of_unread(bundle, found.unread_payloads);
                    totals.with_matches += u64::from(found.lines > 0);
                    if !args.quiet {
                        write(args, &shape, bundle, &found, terminal)?;
                    }
                }
                Err(failure) => {
                    totals.unreadable += 1;
                    failed.say(&failure, Some(bundle));
                }
            }
        }
        if args.quiet && totals.lines > 0 {
            return Ok(Ending::Done);
        }
    }
    if args.json && !args.quiet {
        let Totals { bundles, with_matches, lines, unreadable, unread_payloads } = totals;
        write_records(std::iter::once(Record::Summary {
            bundles,
            bundles_with_matches: with_matches,
            matched_lines: lines,
            unreadable,
            unread_payloads,
        }))?;
    }
    Ok(match totals {
        Totals { unreadable: 1.., .. } => Ending::Incomplete,
        // The pattern may match in a payload that could not be read.
        Totals { lines: 0, unread_payloads: 1.., .. } => Ending::Incomplete,
        Totals { lines: 0, .. } => Ending::NothingFound,
        _ => Ending::Done,
    })
}

/// Warns that a search was incomplete. If there is a match elsewhere, this is not an error, since the rest of the
/// bundle was searched.
fn warn_of_unread(bundle: &Path, payloads: u64) {
    if payloads > 0 {
        let name = bundle.to_string_lossy();
        tracing::warn!("{}: {} could not be searched", text::clean(&name), text::count(payloads, "payload"));
    }
}

fn matcher(args: &GrepArgs) -> Result<Matcher, Failure> {
    let given = args.patterns.iter().map(String::as_str);
    let first = args.pattern.as_deref().filter(|_| args.patterns.is_empty());
    let patterns: Vec<&str> = given.chain(first).collect();
    let syntax = if args.fixed_strings { Syntax::Fixed } else { Syntax::Regex };
    let case = match (args.ignore_case, args.smart_case) {
        (true, _) => CaseRule::Ignored,
        (_, true) => CaseRule::Smart,
        _ => CaseRule::Exact,
    };
    let words = match (args.line_regexp, args.word_regexp) {
        (true, _) => WholeWords::AsLine,
        (_, true) => WholeWords::Yes,
        _ => WholeWords::No,
    };
    Matcher::new(&patterns, syntax, case, words).map_err(|error| {
        let failure = Failure::usage(error);
        if args.fixed_strings { failure } else { failure.with_hint("-F searches for the text as it is") }
    })
}

fn selection(args: &GrepArgs) -> Selection {
    let around = args.context.unwrap_or(0);
    let is_number = args.quiet || args.files_with_matches || args.count;
    Selection {
        threads: args.threads.clone(),
        kinds: args.kinds.iter().map(|kind| Kind::from(*kind)).collect(),
        inverted: args.invert_match,
        before: args.before_context.unwrap_or(around),
        after: args.after_context.unwrap_or(around),
        // One line is enough to know whether there is a match.
        max_lines: if args.quiet || args.files_with_matches { Some(1) } else { args.max_count },
        detail: if is_number { Detail::Number } else { Detail::Lines },
    }
}

fn arguments(args: &GrepArgs) -> Result<Vec<PathBuf>, Failure> {
    let first = args.pattern.as_ref().filter(|_| !args.patterns.is_empty()).map(PathBuf::from);
    let bundles: Vec<PathBuf> = first.into_iter().chain(args.bundles.iter().cloned()).collect();
    if bundles.is_empty() {
        args.stored.of(&[recorded::root_from_environment("grep PATTERN")?])
    } else {
        args.stored.of(&bundles)
    }
}

fn shape(args: &GrepArgs, terminal: &Terminal, is_one: bool) -> Shape {
    Shape {
        has_heading: args.heading || (!args.no_heading && terminal.is_terminal()),
        names_bundle: !is_one || args.with_filename,
        numbers_lines: !args.no_line_number,
        only_matching: args.only_matching,
        has_context: args.context.or(args.before_context).or(args.after_context).is_some_and(|lines| lines > 0),
        max_columns: if args.max_columns == 0 { usize::MAX } else { args.max_columns },
    }
}

fn look(bundle: &Path, matcher: &Matcher, selection: &Selection) -> Result<Found, Failure> {
    let session = session::open(bundle)?;
    Ok(grep(&session, matcher, selection))
}

fn write(args: &GrepArgs, shape: &Shape, bundle: &Path, found: &Found, terminal: &Terminal) -> Result<(), Failure> {
    let name = bundles::shown(bundle).to_string_lossy();
    if args.json {
        return write_records(records(&name, found));
    }
    if found.lines == 0 {
        return Ok(());
    }
    let view = View::new(shape, &name, terminal.paint());
    if args.files_with_matches {
        terminal.print(&view.bundle())
    } else if args.count {
        terminal.print(&view.count(found.lines))
    } else {
        terminal.print(&view.lines(found))
    }
}

fn write_records(records: impl Iterator<Item = Record>) -> Result<(), Failure> {
    let mut stdout = io::BufWriter::new(json_stdout());
    for record in records {
        let mut line = serde_json::to_vec(&record).map_err(Failure::internal)?;
        line.push(b'\n');
        stdout.write_all(&line).map_err(stdout_failure)?;
    }
    stdout.flush().map_err(stdout_failure)
}
