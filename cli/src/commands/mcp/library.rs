//! The sessions that questions are about: recordings, and what agents of this user stored.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, Command};
use trace_explain::Session;
use trace_import::{Catalog, Format, Listed, SessionRef};
use trace_mcp_server::{Entry, Library, Problem, Rows, Summary};
use trace_recorder::bundle::{find_bundles, is_bundle_directory, read_manifest, read_packed_manifest};
use trace_recorder::format::{EVENT_LOG_FILE, MANIFEST_FILE, Manifest};
use trace_recorder::pack::{PackedBundle, is_packed};

use crate::stored::{self, OWN, Stored};
use crate::ui::failure::Failure;
use crate::{cache, foreign, period, recorded, session};

/// Longest time of a query, in seconds.
const QUERY_SECONDS: u64 = 30;

/// How long the process of a query may take beside the query itself: to read its sessions, and to end.
const QUERY_GRACE: Duration = Duration::from_secs(30);

/// Shortest time between two writes of the cache.
const SAVE_EVERY: Duration = Duration::from_secs(5);

/// Most bytes of a row of a query.
const MAX_ROW_BYTES: u64 = 8 << 20;

/// Most bytes of what a query says on stderr.
const MAX_ERROR_BYTES: u64 = 8 << 10;

/// The sessions of this user.
pub(super) struct Sessions {
    /// The folder of recordings; `None` if the environment names it.
    root: Option<PathBuf>,
    kept: Mutex<Kept>,
}

/// What is kept from one question to the next.
struct Kept {
    catalog: Catalog,
    /// Recordings by path. A manifest never changes.
    recorded: HashMap<PathBuf, Entry>,
    /// Summaries of the sessions of other agents, from the last list.
    stored: HashMap<PathBuf, Result<trace_import::Summary, String>>,
    /// When the catalog was written to the cache.
    saved: Option<Instant>,
    /// The session that was opened last. Most questions are about the one of the question before.
    opened: Option<Opened>,
}

struct Opened {
    path: PathBuf,
    fingerprint: u64,
    session: Arc<Session>,
}

impl Sessions {
    pub(super) fn new(root: Option<PathBuf>) -> Self {
        let kept = Kept {
            catalog: cache::load(),
            recorded: HashMap::new(),
            stored: HashMap::new(),
            saved: None,
            opened: None,
        };
        Self { root, kept: Mutex::new(kept) }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn root(&self) -> Option<PathBuf> {
        self.root.clone().or_else(|| recorded::root_from_environment("mcp").ok())
    }
}

impl Drop for Sessions {
    fn drop(&mut self) {
        cache::save(std::mem::take(&mut self.kept().catalog));
    }
}

impl Library for Sessions {
    fn entries(&self) -> Result<Vec<Entry>, Problem> {
        let bundles = match self.root() {
            Some(root) if root.is_dir() => find_bundles(&root).map_err(|error| told(&error.into()))?,
            _ => Vec::new(),
        };
        let mut kept = self.kept();
        let mut entries = Vec::with_capacity(bundles.len());
        for path in bundles {
            let path = std::path::absolute(&path).unwrap_or(path);
            let entry = kept.recorded.entry(path.clone()).or_insert_with(|| recorded_entry(&path));
            entries.push(entry.clone());
        }
        kept.stored.clear();
        for store in foreign::stores() {
            for listed in kept.catalog.look(&store) {
                let (entry, summary) = stored_entry(listed);
                kept.stored.insert(entry.path.clone(), summary);
                entries.push(entry);
            }
        }
        kept.save();
        Ok(entries)
    }

    fn summaries(&self, entries: &[Entry]) -> Vec<Summary> {
        let mut kept = self.kept();
        let recorded: Vec<PathBuf> =
            entries.iter().filter(|entry| entry.agent == OWN).map(|entry| entry.path.clone()).collect();
        let found = stored::recordings(recorded, &mut kept.catalog);
        kept.save();
        let mut found: HashMap<PathBuf, Result<trace_import::Summary, String>> =
            found.into_iter().map(|Stored { path, summary, .. }| (path, summary)).collect();
        let gone = || Err("it is gone".to_owned());
        let of = |entry: &Entry| {
            let found = found.remove(&entry.path).or_else(|| kept.stored.get(&entry.path).cloned());
            summary(found.unwrap_or_else(gone))
        };
        entries.iter().map(of).collect()
    }

    fn open(&self, entry: &Entry) -> Result<Arc<Session>, Problem> {
        // The files of other agents' sessions are many, so those are read anew each time.
        let fingerprint = (entry.agent == OWN).then(|| Catalog::fingerprint(&files(&entry.path)));
        let known = |opened: &&Opened| opened.path == entry.path && Some(opened.fingerprint) == fingerprint;
        if let Some(opened) = self.kept().opened.as_ref().filter(known) {
            return Ok(Arc::clone(&opened.session));
        }
        let session = Arc::new(session::open(&entry.path).map_err(|failure| told(&failure))?);
        if let Some(fingerprint) = fingerprint {
            let opened = Opened { path: entry.path.clone(), fingerprint, session: Arc::clone(&session) };
            // Freeing the one before takes a moment, so it happens after the lock is released.
            let before = self.kept().opened.replace(opened);
            drop(before);
        }
        Ok(session)
    }

    fn moment(&self, text: &str) -> Result<i64, Problem> {
        let bound = period::parse(text).map_err(|error| Problem::new(format!("`since`: {error}")))?;
        Ok(bound.start(&TimeZone::system()))
    }

    fn rows<'a>(&'a self, sql: &'a str, entries: &'a [Entry], limit: u64) -> Rows<'a> {
        Box::pin(rows(sql, entries, limit))
    }
}

impl Kept {
    /// Writes new summaries to the cache, but not after every few of them: the whole cache is one file.
    fn save(&mut self) {
        let is_due = self.saved.is_none_or(|saved| saved.elapsed() > SAVE_EVERY);
        if is_due && self.catalog.is_changed() {
            cache::save(std::mem::take(&mut self.catalog));
            self.catalog = cache::load();
            self.saved = Some(Instant::now());
        }
    }
}

/// Returns the files of a recording by whose sizes and times a change is seen.
fn files(path: &Path) -> Vec<PathBuf> {
    if is_bundle_directory(path) {
        vec![path.join(EVENT_LOG_FILE), path.join(MANIFEST_FILE)]
    } else {
        vec![path.to_owned()]
    }
}

fn recorded_entry(path: &Path) -> Entry {
    let manifest: Option<Manifest> = if is_packed(path) {
        PackedBundle::open(path).ok().and_then(|packed| read_packed_manifest(&packed).ok())
    } else {
        read_manifest(path).ok()
    };
    let name = path.file_stem().filter(|_| is_packed(path)).or_else(|| path.file_name());
    let name = name.unwrap_or_default().to_string_lossy().into_owned();
    let Some(manifest) = manifest else {
        return Entry { id: name, other_ids: Vec::new(), path: path.to_owned(), agent: OWN, started_unix_ms: None };
    };
    // The name of a folder that a recorder made has the ids in it, so other commands know the session by each of them.
    let (id, other) = match name.contains(&manifest.trace_id) {
        true => (manifest.trace_id, name),
        false => (name, manifest.trace_id),
    };
    Entry {
        id,
        other_ids: vec![manifest.root_thread_id, manifest.rollout_id, other],
        path: path.to_owned(),
        agent: OWN,
        started_unix_ms: Some(manifest.started_at_unix_ms),
    }
}

fn stored_entry(Listed { session, summary }: Listed) -> (Entry, Result<trace_import::Summary, String>) {
    let path = foreign::argument_of(&session);
    let SessionRef { format, .. } = session;
    let known = summary.as_ref().ok();
    let file = session.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let id = session.id.clone().or_else(|| known.map(|known| known.id.clone())).filter(|id| !id.is_empty());
    let entry = Entry {
        id: id.unwrap_or_else(|| file.clone()),
        other_ids: vec![file],
        path,
        agent: trace_import::format(format).map_or(format, Format::agent),
        started_unix_ms: known.and_then(|known| known.started_at),
    };
    (entry, summary)
}

fn summary(found: Result<trace_import::Summary, String>) -> Summary {
    let found = match found {
        Ok(found) => found,
        Err(problem) => return Summary { problem: Some(problem), ..Summary::default() },
    };
    let sum = |count: fn(&trace_import::Usage) -> u64| {
        found.spent.iter().fold(0, |sum: u64, spent| sum.saturating_add(count(&spent.usage)))
    };
    Summary {
        input_tokens: sum(|usage| usage.input),
        output_tokens: sum(|usage| usage.output),
        ended_unix_ms: found.ended_at,
        prompt: found.first_prompt.or(found.title),
        cwd: found.cwd,
        model: found.model,
        outcome: found.outcome,
        agents: found.threads,
        turns: found.turns,
        failed_turns: found.failed_turns,
        tool_calls: found.tool_calls,
        failed_tool_calls: found.failed_tool_calls,
        problem: None,
    }
}

pub(super) fn told(failure: &Failure) -> Problem {
    let problem = Problem::new(failure.message());
    match failure.hint() {
        Some(hint) => problem.with_hint(hint),
        None => problem,
    }
}

/// Runs a query in a process of its own, which `trace query` is. SQL is a stranger's text: its process has a limit of memory, and
/// can be ended within a step that the engine does not interrupt.
async fn rows(sql: &str, entries: &[Entry], limit: u64) -> Result<Vec<String>, Problem> {
    let internal = |error: std::io::Error| Problem::new(format!("the query cannot be started: {error}"));
    let mut command = Command::new(std::env::current_exe().map_err(internal)?);
    command.args(["query", "--jsonl", "--color", "never", "--limit", &limit.to_string()]);
    command.args(["--timeout", &QUERY_SECONDS.to_string()]);
    command.args(entries.iter().map(|entry| &entry.path)).arg("-");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().map_err(internal)?;
    let all = Duration::from_secs(QUERY_SECONDS) + QUERY_GRACE;
    let answer = tokio::time::timeout(all, answer_of(&mut child, sql)).await;
    answer.unwrap_or_else(|_| {
        Err(Problem::new("the query took too long").with_hint("name fewer sessions, or add a LIMIT"))
    })
}

async fn answer_of(child: &mut Child, sql: &str) -> Result<Vec<String>, Problem> {
    let failed = |error: std::io::Error| Problem::new(format!("the query cannot be read: {error}"));
    let (Some(mut input), Some(output), Some(said)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(Problem::new("the query cannot be read"));
    };
    let write = async {
        // A query that fails early does not read all of it.
        let _ = input.write_all(sql.as_bytes()).await;
        drop(input);
    };
    let errors = async {
        let (mut said, mut text) = (said, Vec::new());
        let _ = (&mut said).take(MAX_ERROR_BYTES).read_to_end(&mut text).await;
        // What is not read would make the process wait.
        let _ = tokio::io::copy(&mut said, &mut tokio::io::sink()).await;
        String::from_utf8_lossy(&text).into_owned()
    };
    let lines = async {
        let mut output = BufReader::new(output);
        let mut rows = Vec::new();
        loop {
            let mut line = Vec::new();
            if (&mut output).take(MAX_ROW_BYTES + 1).read_until(b'\n', &mut line).await? == 0 {
                return Ok(Ok(rows));
            }
            if line.len() as u64 > MAX_ROW_BYTES {
                let limit = MAX_ROW_BYTES >> 20;
                return Ok(Err(
                    Problem::new(format!("a row has more than {limit} MiB")).with_hint("select substr(text, 1, 80)")
                ));
            }
            rows.push(String::from_utf8_lossy(&line).trim_end().to_owned());
        }
    };
    let ((), said, rows) = tokio::join!(write, errors, lines);
    let rows = rows.map_err(failed)??;
    let status = child.wait().await.map_err(failed)?;
    if status.success() {
        return Ok(rows);
    }
    let said = said.trim().trim_start_matches("error: ");
    Err(Problem::new(if said.is_empty() { "the query failed" } else { said }))
}
