//! `trace ls`: lists the bundles below a folder without reducing them, and the sessions that other agents stored.

mod agents;

use std::cmp::Reverse;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;
use comfy_table::{Cell, CellAlignment, Color};
use jiff::tz::TimeZone;
use rayon::prelude::*;
use serde::Serialize;
use trace_recorder::BundleError;
use trace_recorder::activity::RUNNING_WITHIN;
use trace_recorder::activity::{Activity, activity};
use trace_recorder::bundle::{find_bundles, read_manifest, read_packed_manifest};
use trace_recorder::format::{EVENT_LOG_FILE, EventPayload, Manifest, PAYLOADS_DIR, SchemaVersion};
use trace_recorder::log::{EventLog, Line, parse_lines};
use trace_recorder::pack::{PackedBundle, PackedError, is_packed};
use trace_recorder::tail::{read_tail, read_tail_of_file};

use crate::commands::reduce::{Form, state_path};
use crate::recorded;
use crate::stored::{self, Wanted};
use crate::ui::failure::{Ending, Failure};
use crate::ui::output::{Terminal, push_table, row};
use crate::ui::text;

const AFTER_HELP: &str = "\
Examples:
  trace ls                         your recordings, and the sessions that agents stored for you
  trace ls traces
  trace ls ~/.claude/projects
  trace ls --cwd . --since 7d      what ran in this folder in the last week
  trace ls --source claude-code --source trace
  export TRACE_ROOT=traces; trace ls
  trace ls --json | jq -r '.[] | select(.status == \"failed\") | .bundle'

STATUS is how the session ended. If the log has no end, the status is `running` if a recorder holds the bundle or if the \
log of a directory was written to within the last minute, and `no end` otherwise, because the process died. STATE is \
`fresh` if the bundle has a state.json or state.compact.json that is newer than its log, and `stale` if it only has an \
older one. KIND is `packed` for a file and `growing` for a file that was not finished; state.json is beside such files.

Sessions of other agents are listed if no folder is given, or if the folder has no bundles: the newest 30, or --all. STATUS \
is how the last turn ended then. SESSION is the id, which every command takes in place of a path. Recordings stand among \
them as sessions of the agent `trace`; they name no folder.

--json writes an array of objects with bundle, packed, status (completed, failed, aborted, running, no_end, empty or \
unreadable), recording_complete, torn_tail, schema_version, trace_id, rollout_id, root_thread_id, started_at_unix_ms, \
log_bytes, log_modified_unix_ms (of a packed bundle, the time of the file), payload_files, state (fresh or stale) and \
problem. Sessions of other agents have session, format, agent, id, agent_version, title, cwd, model, status, \
started_at_unix_ms, ended_at_unix_ms, threads, turns, tool_calls, failed_tool_calls, input_tokens, cached_input_tokens, \
output_tokens and problem. Unknown values are null.

Exit codes: 0 listed, even if some cannot be read; 1 the folder cannot be listed; 2 wrong usage; 3 an internal error.";

/// Lists bundles, and sessions that other agents stored, newest first
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct LsArgs {
    /// The folder [default: $TRACE_ROOT, then $CODEX_ROLLOUT_TRACE_ROOT, then traces in the server home]
    root: Option<PathBuf>,
    /// List all sessions of other agents, not only the newest ones
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    wanted: Wanted,
    /// Write a JSON array, described below
    #[arg(long)]
    json: bool,
}

/// One bundle. An element of the array of `--json`.
#[derive(Debug, Serialize)]
struct Entry {
    bundle: String,
    /// Whether the bundle is a packed file.
    packed: bool,
    /// Whether it is a packed file that its recorder has not finished.
    #[serde(skip)]
    growing: bool,
    status: Status,
    /// Whether the recorder closed the log. `None` for schema 1, which does not record it.
    recording_complete: Option<bool>,
    /// Whether the last line of the log is incomplete.
    torn_tail: bool,
    schema_version: Option<SchemaVersion>,
    trace_id: Option<String>,
    rollout_id: Option<String>,
    root_thread_id: Option<String>,
    started_at_unix_ms: Option<i64>,
    log_bytes: Option<u64>,
    log_modified_unix_ms: Option<i64>,
    payload_files: u64,
    state: Option<State>,
    /// Why the bundle, or a part of it, cannot be read.
    problem: Option<String>,
}

/// The status of a session, as far as the end of its log shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Completed,
    Failed,
    Aborted,
    Running,
    NoEnd,
    Empty,
    Unreadable,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Fresh,
    Stale,
}

pub(crate) fn run(args: &LsArgs, terminal: &Terminal) -> Result<Ending, Failure> {
    // Without a folder, the sessions of other agents are enough, so it is no error if nothing was recorded.
    let (root, missing) = match &args.root {
        Some(root) => (Some(root.clone()), None),
        None => match recorded::root_from_environment("ls") {
            Ok(root) => (Some(root), None),
            Err(failure) => (None, Some(failure)),
        },
    };
    // A file has no bundles below it, but may be a store of sessions.
    let folder = root.as_deref().filter(|root| !root.is_file() || is_packed(root));
    let bundles = folder.map(find_bundles).transpose()?.unwrap_or_default();
    let mut entries: Vec<Entry> = bundles.par_iter().with_min_len(16).map(|bundle| look_at(bundle)).collect();
    entries.sort_by(|a, b| {
        let age = |entry: &Entry| Reverse(entry.started_at_unix_ms.or(entry.log_modified_unix_ms));
        age(a).cmp(&age(b)).then_with(|| a.bundle.cmp(&b.bundle))
    });
    args.wanted.check()?;
    let narrows = args.wanted.narrows();
    let mut found = match &args.root {
        None => stored::find(&[], &args.wanted)?,
        Some(root) if entries.is_empty() || narrows => {
            stored::find(std::slice::from_ref(root), &args.wanted).unwrap_or_default()
        }
        Some(_) => Vec::new(),
    };
    found.retain(|session| args.wanted.fits(session, &TimeZone::system()));
    if narrows {
        let fits = |entry: &Entry| found.iter().any(|session| session.path == Path::new(&entry.bundle));
        entries.retain(fits);
    }
    let has_agents = found.iter().any(|session| session.format != stored::OWN);
    // What agents stored and what was recorded stand in one table, by their times.
    let is_mixed = has_agents || narrows;
    let sessions = if is_mixed { agents::entries(found) } else { Vec::new() };
    if let Some(failure) = missing.filter(|_| sessions.is_empty() && !narrows) {
        return Err(failure);
    }
    if args.json {
        let sessions: Vec<_> = sessions.iter().filter(|session| !session.is_recorded()).collect();
        terminal.print_json(&Listed { bundles: &entries, sessions: &sessions })?;
        return Ok(Ending::Done);
    }
    let mut tables = Vec::new();
    if !entries.is_empty() && !is_mixed {
        tables.push(render(&entries, terminal));
    }
    if !sessions.is_empty() {
        tables.push(agents::render(&sessions, args.all, terminal));
    }
    if tables.is_empty() {
        let below = root.as_deref().map(|root| text::clean(&root.to_string_lossy()).into_owned());
        tables.push(match below {
            Some(root) if !narrows => format!("no bundles below {root}\n"),
            _ => "no sessions\n".to_owned(),
        });
    }
    terminal.print(&tables.join("\n"))?;
    Ok(Ending::Done)
}

/// What `--json` writes: one array of all.
struct Listed<'a> {
    bundles: &'a [Entry],
    sessions: &'a [&'a agents::Entry],
}

impl Serialize for Listed<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeSeq as _;
        let mut array = serializer.serialize_seq(Some(self.bundles.len() + self.sessions.len()))?;
        for bundle in self.bundles {
            array.serialize_element(bundle)?;
        }
        for session in self.sessions {
            array.serialize_element(session)?;
        }
        array.end()
    }
}

fn look_at(bundle: &Path) -> Entry {
    let is_packed = is_packed(bundle);
    let mut entry = Entry {
        bundle: bundle.to_string_lossy().into_owned(),
        packed: is_packed,
        growing: false,
        status: Status::Unreadable,
        recording_complete: None,
        torn_tail: false,
        schema_version: None,
        trace_id: None,
        rollout_id: None,
        root_thread_id: None,
        started_at_unix_ms: None,
        log_bytes: None,
        log_modified_unix_ms: None,
        payload_files: 0,
        state: None,
        problem: None,
    };
    if is_packed {
        match PackedBundle::open(bundle) {
            Ok(packed) => look_into(&packed, &mut entry),
            Err(error) => entry.note(&error.into()),
        }
        return entry;
    }
    entry.payload_files = fs::read_dir(bundle.join(PAYLOADS_DIR)).map_or(0, |files| files.count() as u64);
    entry.take_manifest(read_manifest(bundle));
    let path = bundle.join(EVENT_LOG_FILE);
    match read_end(&path) {
        Ok(tail) => entry.take_tail(tail, bundle),
        Err(error) => entry.note(&anyhow::Error::from(error).context(format!("cannot read {}", path.display()))),
    }
    entry
}

/// Reads the index, the manifest and the end of the log of a packed bundle. They are in one or two blocks.
fn look_into(packed: &PackedBundle, entry: &mut Entry) {
    let payloads = format!("{PAYLOADS_DIR}/");
    entry.growing = packed.is_growing();
    entry.payload_files = packed.files().filter(|file| file.path.starts_with(&payloads)).count() as u64;
    entry.take_manifest(read_packed_manifest(packed));
    let modified = fs::metadata(packed.path()).and_then(|metadata| metadata.modified()).ok();
    match read_end_in(packed, modified) {
        Ok(tail) => entry.take_tail(tail, packed.path()),
        Err(error) => entry.note(&error.into()),
    }
}

impl Entry {
    fn note(&mut self, problem: &anyhow::Error) {
        self.problem.get_or_insert_with(|| format!("{problem:#}"));
    }

    fn take_manifest(&mut self, manifest: Result<Manifest, BundleError>) {
        match manifest {
            Ok(manifest) => {
                self.schema_version = Some(manifest.schema_version);
                self.trace_id = Some(manifest.trace_id);
                self.rollout_id = Some(manifest.rollout_id);
                self.root_thread_id = Some(manifest.root_thread_id);
                self.started_at_unix_ms = Some(manifest.started_at_unix_ms);
            }
            Err(error) => self.note(&error.into()),
        }
    }

    fn take_tail(&mut self, tail: Tail, bundle: &Path) {
        self.log_bytes = Some(tail.log_bytes);
        self.log_modified_unix_ms = tail.modified.and_then(unix_ms);
        let states = Form::ALL.into_iter().filter_map(|form| fs::metadata(state_path(bundle, form)).ok());
        let newest = states.filter(fs::Metadata::is_file).map(|state| state.modified().ok()).max();
        self.state = newest.map(|state| if state >= tail.modified { State::Fresh } else { State::Stale });
        tail.describe(self);
    }
}

/// The end of a log.
struct Tail {
    log_bytes: u64,
    modified: Option<SystemTime>,
    /// The last bytes of the log. A line that began before them is left out.
    bytes: Vec<u8>,
}

fn read_end(path: &Path) -> std::io::Result<Tail> {
    let metadata = fs::metadata(path)?;
    // Opening a named pipe in place of the log would block for ever.
    if !metadata.is_file() {
        return Err(std::io::Error::other("not a plain file"));
    }
    let bytes = read_tail_of_file(path, metadata.len())?;
    Ok(Tail { log_bytes: metadata.len(), modified: metadata.modified().ok(), bytes })
}

fn read_end_in(packed: &PackedBundle, modified: Option<SystemTime>) -> Result<Tail, PackedError> {
    let log_bytes = packed.file(EVENT_LOG_FILE).map_or(0, |log| log.bytes);
    let bytes = read_tail(log_bytes, |wanted| packed.read_end(EVENT_LOG_FILE, wanted))?;
    Ok(Tail { log_bytes, modified, bytes })
}

impl Tail {
    fn describe(self, entry: &mut Entry) {
        let Self { log_bytes, modified, bytes } = self;
        let log = EventLog::from_bytes(bytes);
        let lines: Vec<Line<'_>> = log.lines().collect();
        let mut ended = None;
        let mut is_closed = false;
        for line in parse_lines(&lines) {
            match line.event {
                Ok(Some(event)) => match event.payload {
                    EventPayload::RolloutEnded(event) => ended = Some(event.status),
                    EventPayload::RecordingCompleted(_) => is_closed = true,
                    _ => {}
                },
                Ok(None) => {}
                // If the last line is longer than the tail, its beginning was not read, so it is not known whether it
                // is torn.
                Err(error) => entry.torn_tail = !line.line.terminated && error.is_cut(),
            }
        }
        let knows_closing = entry.schema_version.is_none_or(|schema| schema >= SchemaVersion::V2);
        entry.recording_complete = knows_closing.then_some(is_closed);
        let is_recent = modified.and_then(|time| time.elapsed().ok()).is_some_and(|age| age < RUNNING_WITHIN);
        entry.status = match ended {
            Some(trace_recorder::format::RolloutStatus::Completed) => Status::Completed,
            Some(trace_recorder::format::RolloutStatus::Failed) => Status::Failed,
            Some(_) => Status::Aborted,
            None if log_bytes == 0 => Status::Empty,
            None if is_recent && !entry.packed || is_recorded(Path::new(&entry.bundle)) => Status::Running,
            None => Status::NoEnd,
        };
    }
}

/// Returns whether a recorder holds the lock of a bundle.
fn is_recorded(bundle: &Path) -> bool {
    matches!(activity(bundle), Ok(Activity::Recorded))
}

fn unix_ms(time: SystemTime) -> Option<i64> {
    i64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
}

fn render(entries: &[Entry], terminal: &Terminal) -> String {
    let mut table = terminal.table(&["STARTED", "STATUS", "LOG", "PAYLOADS", "STATE", "KIND", "BUNDLE", ""]);
    for entry in entries {
        let (status, color) = match entry.status {
            Status::Completed => ("completed", None),
            Status::Failed => ("failed", Some(Color::DarkRed)),
            Status::Aborted => ("aborted", Some(Color::DarkYellow)),
            Status::Running => ("running", Some(Color::DarkCyan)),
            Status::NoEnd => ("no end", Some(Color::DarkYellow)),
            Status::Empty => ("empty", Some(Color::DarkYellow)),
            Status::Unreadable => ("unreadable", Some(Color::DarkRed)),
        };
        let status = Cell::new(status);
        let remark = match (&entry.problem, entry.torn_tail) {
            (Some(problem), _) => text::preview(problem, 100),
            (None, true) => "its last line is incomplete".to_owned(),
            (None, false) => String::new(),
        };
        table.add_row(row(vec![
            Cell::new(entry.started_at_unix_ms.map(text::short_moment).unwrap_or_default()),
            color.map_or(status.clone(), |color| status.fg(color)),
            Cell::new(entry.log_bytes.map(text::bytes).unwrap_or_default()).set_alignment(CellAlignment::Right),
            Cell::new(text::number(entry.payload_files)).set_alignment(CellAlignment::Right),
            Cell::new(match entry.state {
                Some(State::Fresh) => "fresh",
                Some(State::Stale) => "stale",
                None => "-",
            }),
            Cell::new(match (entry.growing, entry.packed) {
                (true, _) => "growing",
                (false, true) => "packed",
                (false, false) => "-",
            }),
            // The path is shown in full, so that it can be pasted after `trace show`.
            Cell::new(text::clean(&entry.bundle)),
            Cell::new(remark).fg(Color::DarkYellow),
        ]));
    }
    let mut text = String::new();
    push_table(&mut text, "", table);
    text
}
