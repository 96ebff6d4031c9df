//! The sessions of all agents and the recorded bundles, with their summaries.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;
use jiff::tz::TimeZone;
use rayon::prelude::*;
use trace_explain::label::status_name;
use trace_explain::outcome::Outcome;
use trace_explain::prompt::first_prompt;
use trace_import::{Catalog, FORMATS, Format, Listed, SessionRef, Spent, Summary, Usage};
use trace_recorder::Bundle;
use trace_recorder::bundle::{find_bundles, is_bundle};
use trace_recorder::format::{EVENT_LOG_FILE, MANIFEST_FILE};
use trace_recorder::pack::is_packed;
use trace_reducer::model::{ExecutionStatus, RolloutStatus, Trace};
use trace_reducer::{Options, reduce};

use crate::named::{self, Named};
use crate::period::{self, Bound};
use crate::ui::failure::Failure;
use crate::{cache, foreign, recorded};

/// Name of the format of recorded bundles.
pub(crate) const OWN: &str = "trace";

/// Which sessions are wanted.
#[derive(Debug, Args)]
pub(crate) struct Wanted {
    /// Only sessions of this agent: claude-code, codex, gemini-cli, opencode, otel, or trace for recordings; repeatable
    #[arg(long, value_name = "AGENT")]
    pub(crate) source: Vec<String>,
    /// Only what happened since a day, a time, or for an age such as 7d or 12h
    #[arg(long, value_name = "WHEN", value_parser = period::parse)]
    pub(crate) since: Option<Bound>,
    /// Only sessions that worked in this folder, or below it
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
}

/// A session of any agent, or a recorded bundle.
#[derive(Debug)]
pub(crate) struct Stored {
    /// What names the session on the command line.
    pub(crate) path: PathBuf,
    /// Name of its format.
    pub(crate) format: &'static str,
    /// Name of the agent for people.
    pub(crate) agent: &'static str,
    /// Its summary, or why it cannot be read.
    pub(crate) summary: Result<Summary, String>,
}

impl Wanted {
    /// Returns an error if a source is no agent.
    ///
    /// # Errors
    ///
    /// Returns an error if no format has the name of a source.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let is_known =
            |name: &str| name == OWN || FORMATS.iter().any(|format| is_named(format.name(), format.agent(), name));
        match self.source.iter().find(|name| !is_known(name)) {
            None => Ok(()),
            Some(name) => Err(Failure::usage(format!("there is no agent `{name}`")).with_hint(format!(
                "one of {}, {OWN}",
                FORMATS.iter().map(|format| format.name()).collect::<Vec<_>>().join(", ")
            ))),
        }
    }

    /// Returns whether any option narrows the sessions.
    pub(crate) fn narrows(&self) -> bool {
        !self.source.is_empty() || self.since.is_some() || self.cwd.is_some()
    }

    fn has_source(&self, format: &str, agent: &str) -> bool {
        self.source.is_empty() || self.source.iter().any(|name| is_named(format, agent, name))
    }

    /// Returns whether a session is wanted. The time is that of its last event.
    pub(crate) fn fits(&self, session: &Stored, zone: &TimeZone) -> bool {
        let summary = session.summary.as_ref().ok();
        let is_recent = self.since.is_none_or(|since| {
            summary.and_then(|summary| summary.ended_at).is_some_and(|ended| ended >= since.start(zone))
        });
        let is_here = self.cwd.as_deref().is_none_or(|folder| {
            let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
            let real = folder.canonicalize().unwrap_or_else(|_| folder.clone());
            let cwd = summary.and_then(|summary| summary.cwd.as_deref()).map(Path::new);
            cwd.is_some_and(|cwd| cwd.starts_with(&folder) || cwd.starts_with(&real))
        });
        self.has_source(session.format, session.agent) && is_recent && is_here
    }
}

/// Returns whether a name stands for an agent: the name of its format, or the beginning of that in front of a hyphen.
fn is_named(format: &str, agent: &str, name: &str) -> bool {
    let rest = format.strip_prefix(name);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-')) || agent.eq_ignore_ascii_case(name)
}

/// Returns the sessions that the arguments name, or those of all agents of this user and what was recorded. A summary is taken
/// from the cache if no file of the session changed.
///
/// # Errors
///
/// Returns an error if an argument names nothing.
pub(crate) fn find(arguments: &[PathBuf], wanted: &Wanted) -> Result<Vec<Stored>, Failure> {
    wanted.check()?;
    let mut catalog = cache::load();
    let mut found = Vec::new();
    let mut recorded = Vec::new();
    if arguments.is_empty() {
        for store in stores(wanted) {
            found.extend(catalog.look(&store));
        }
        if wanted.has_source(OWN, OWN) {
            recorded = recorded::recordings();
        }
    }
    for argument in arguments {
        if is_bundle(argument) {
            recorded.push(argument.clone());
        } else if argument.exists() {
            let below = if argument.is_dir() { find_bundles(argument)? } else { Vec::new() };
            let sessions = if below.is_empty() { catalog.look(argument) } else { Vec::new() };
            if below.is_empty() && sessions.is_empty() {
                return Err(Failure::data(anyhow::anyhow!("no session is at or below {}", argument.display())));
            }
            recorded.extend(below);
            found.extend(sessions);
        } else {
            match named::find(argument)? {
                Some(Named::Imported(session)) => {
                    let summary = trace_import::summarize(&session).map_err(|error| error.to_string());
                    found.push(Listed { session, summary });
                }
                Some(Named::Bundle(bundle)) => recorded.push(bundle),
                None => {
                    let is_missing = || Failure::data(anyhow::anyhow!("{} is no session", argument.display()));
                    return Err(named::nothing(argument).unwrap_or_else(is_missing));
                }
            }
        }
    }
    let mut sessions: Vec<Stored> = found.into_iter().map(of_agent).collect();
    sessions.extend(recordings(recorded, &mut catalog));
    cache::save(catalog);
    let mut seen = BTreeSet::new();
    sessions.retain(|session| wanted.has_source(session.format, session.agent) && seen.insert(session.path.clone()));
    Ok(sessions)
}

/// Returns the stores of the wanted agents.
fn stores(wanted: &Wanted) -> BTreeSet<PathBuf> {
    let homes = foreign::homes();
    let is_wanted = |format: &&&dyn Format| wanted.has_source(format.name(), format.agent());
    FORMATS.iter().filter(is_wanted).flat_map(|format| format.stores(&homes)).collect()
}

fn of_agent(Listed { session, summary }: Listed) -> Stored {
    let SessionRef { format, .. } = session;
    let agent = trace_import::format(format).map_or(format, Format::agent);
    Stored { path: foreign::argument_of(&session), format, agent, summary }
}

/// Returns what recorded sessions are, in the order of their paths. A summary is taken from the catalog if no file of the session
/// changed.
pub(crate) fn recordings(paths: Vec<PathBuf>, catalog: &mut Catalog) -> Vec<Stored> {
    let known = &*catalog;
    let look = |path: PathBuf| {
        let files = if is_packed(&path) {
            vec![path.clone()]
        } else {
            vec![path.join(EVENT_LOG_FILE), path.join(MANIFEST_FILE)]
        };
        let fingerprint = Catalog::fingerprint(&files);
        let name = std::path::absolute(&path).ok().and_then(|path| path.to_str().map(str::to_owned));
        if let Some(summary) = name.as_deref().and_then(|name| known.kept(name, fingerprint)) {
            return (path, None, Ok(summary));
        }
        let summary = Bundle::open(&path).map_err(|error| error.to_string()).and_then(|bundle| summarize(&bundle));
        (path, name.map(|name| (name, fingerprint)), summary)
    };
    let looked: Vec<_> = paths.into_par_iter().map(look).collect();
    let mut found = Vec::with_capacity(looked.len());
    for (path, new, summary) in looked {
        if let (Some((name, fingerprint)), Ok(summary)) = (new, &summary) {
            catalog.keep(&name, fingerprint, summary);
        }
        found.push(Stored { path, format: OWN, agent: OWN, summary });
    }
    found
}

/// Summarizes a recorded session by its graph.
fn summarize(bundle: &Bundle) -> Result<Summary, String> {
    let trace = reduce(bundle, Options::default()).map_err(|error| error.to_string())?.trace;
    let is_claude = bundle.import().is_some_and(|import| import.format.starts_with("claude-code"));
    let root = trace.threads.values().find(|thread| thread.id == trace.root_thread_id);
    let mut summary = Summary {
        id: trace.text(trace.rollout_id).to_owned(),
        model: root.and_then(|root| root.default_model).map(|model| trace.text(model).to_owned()),
        started_at: Some(trace.started_at_unix_ms),
        ended_at: trace.last_event.map(|last| last.unix_ms),
        threads: trace.threads.values().count() as u64,
        turns: trace.turns.values().count() as u64,
        failed_turns: trace.turns.values().filter(|turn| turn.execution.status == ExecutionStatus::Failed).count()
            as u64,
        tool_calls: trace.tools.values().count() as u64,
        failed_tool_calls: trace.tools.values().filter(|call| Outcome::of_tool(&trace, call) == Outcome::Failed).count()
            as u64,
        outcome: Some(outcome(&trace).to_owned()),
        ..Summary::default()
    };
    if let Some(prompt) = first_prompt(&trace) {
        summary.prompted(prompt);
    }
    for call in trace.inferences.values() {
        let Some(usage) = &call.usage else { continue };
        let text = |symbol| trace.text(symbol);
        // The key is the one of the files from which an import was made.
        let key = call.response_id.map(|id| match call.upstream_request_id {
            request if is_claude => format!("{}:{}", text(id), request.map_or(summary.id.as_str(), text)),
            _ => text(id).to_owned(),
        });
        let model = text(call.model).to_owned();
        summary.model.get_or_insert_with(|| model.clone());
        summary.spent.push(Spent {
            at: Some(call.execution.ended.unwrap_or(call.execution.started).unix_ms),
            model,
            key,
            usage: Usage {
                input: usage.input_tokens,
                cached_input: usage.cached_input_tokens,
                cache_write_input: usage.cache_write_input_tokens,
                output: usage.output_tokens,
                reasoning_output: usage.reasoning_output_tokens,
            },
        });
    }
    Ok(summary)
}

/// Returns how a session ended: how the last turn of its root thread did, if the recording itself was completed.
fn outcome(trace: &Trace) -> &'static str {
    let root = trace.threads.iter().find(|(_, thread)| thread.id == trace.root_thread_id).map(|(root, _)| root);
    let turns = trace.turns.values().filter(|turn| Some(turn.thread) == root);
    match turns.max_by_key(|turn| turn.execution.started.seq) {
        Some(last) if trace.status == RolloutStatus::Completed => status_name(last.execution.status),
        _ => trace.status.as_str(),
    }
}
