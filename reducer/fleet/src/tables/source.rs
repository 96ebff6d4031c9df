//! The source of a session's rows: the session, and answers about it that several columns need.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use serde::{Deserialize, Serialize};
use trace_explain::Session;
use trace_explain::audit::{self, Audit};
use trace_explain::clock::Clock;
use trace_explain::family::Family;
use trace_explain::label::{tool_name, tool_subject};
use trace_explain::postmortem::{Postmortem, RootCause, TurnVerdict, postmortem};
use trace_reducer::model::{
    Handle, InferenceIdx, Part, TerminalRequest, ThreadIdx, ToolIdx, ToolKind, Trace, TurnIdx, Usage,
};

use super::common::{Common, day_of, hive_value};
use super::origin::{Origin, Unreadable};
use super::signature::signature;
use super::sketch::sketch;

/// Beginning and end of the working directory in the description of the environment that agents put before a prompt.
const CWD_TAGS: (&str, &str) = ("<cwd>", "</cwd>");

/// Most items of the root thread that are searched for the working directory.
const MAX_CWD_ITEMS: usize = 16;

/// Names that are given for all sessions of an ingest.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Given {
    /// Team of the sessions.
    pub team: Option<String>,
    /// Repository of the sessions.
    pub repository: Option<String>,
}

/// A session with its address, and what is computed once for its rows.
pub struct Source<'a> {
    common: Common,
    origin: Origin,
    answers: Result<Answers<'a>, Unreadable>,
}

/// Answers about a session.
pub(crate) struct Answers<'a> {
    pub(crate) session: &'a Session,
    pub(crate) trace: &'a Trace,
    pub(crate) clock: Clock,
    pub(crate) family: Family,
    pub(crate) postmortem: Postmortem,
    pub(crate) audit: Audit,
    pub(crate) failures: Vec<Failure>,
    pub(crate) cwd: Option<String>,
    verdicts: HashMap<String, usize>,
    models: HashMap<TurnIdx, InferenceIdx>,
    requested_by: Vec<Option<InferenceIdx>>,
    repeats: Vec<u32>,
    turns: Vec<TurnCounts>,
}

/// What a turn did.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TurnCounts {
    pub(crate) inference_calls: u32,
    pub(crate) tool_calls: u32,
    pub(crate) usage: Usage,
}

/// Something that failed and was not made good, with the turn that shows it first.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub(crate) cause: RootCause,
    pub(crate) outcome: &'static str,
    pub(crate) tool: Option<String>,
    pub(crate) signature: String,
    /// Turns whose verdict names the failure.
    pub(crate) turns: u64,
}

impl<'a> Source<'a> {
    /// Prepares the rows of a session.
    pub fn new(address: &str, given: &Given, origin: Origin, session: &'a Session) -> Self {
        let answers = Answers::new(session, origin.cwd.clone());
        let trace = session.trace();
        let import = session.bundle().import();
        let mut common = named(address, given);
        common.session_id = Some(trace.text(trace.trace_id).to_owned());
        common.agent = Some(import.map_or("trace", |record| record.format.as_str()).to_owned());
        common.agent_version = import.and_then(|record| record.agent_version.clone());
        common.model = model_of_session(trace);
        common.day = day_of(trace.started_at_unix_ms);
        if common.repository.is_none() {
            common.repository = answers.cwd.as_deref().and_then(last_folder);
        }
        Self { common, origin, answers: Ok(answers) }
    }

    /// Prepares the rows of a session that cannot be read.
    pub fn unreadable(address: &str, given: &Given, origin: Origin, why: Unreadable) -> Self {
        let mut common = named(address, given);
        // Without a start, the day on which the file was written is the best that is known.
        common.day = origin.modified_unix_ms.and_then(day_of);
        Self { common, origin, answers: Err(why) }
    }

    /// Returns what all rows have in common.
    pub fn common(&self) -> &Common {
        &self.common
    }

    /// Returns where the session came from.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Returns the session, or `None` if it cannot be read.
    pub fn session(&self) -> Option<&'a Session> {
        self.answers.as_ref().ok().map(|answers| answers.session)
    }

    /// Returns why the session cannot be read.
    pub(crate) fn problem(&self) -> Option<&Unreadable> {
        self.answers.as_ref().err()
    }

    /// Returns the answers, if the session could be read.
    pub(crate) fn known(&self) -> Option<&Answers<'a>> {
        self.answers.as_ref().ok()
    }

    /// Returns the answers. Only rows that come from the graph call it.
    pub(crate) fn answers(&self) -> &Answers<'a> {
        self.answers.as_ref().unwrap_or_else(|_| unreachable!("a session that cannot be read has no such rows"))
    }
}

/// Returns what the address and the options say of a session.
fn named(address: &str, given: &Given) -> Common {
    let of =
        |given: &Option<String>, name: &str| given.clone().or_else(|| hive_value(address, name).map(str::to_owned));
    Common {
        address: address.to_owned(),
        team: of(&given.team, "team"),
        repository: of(&given.repository, "repository"),
        ..Common::default()
    }
}

/// Returns the model of the last call of the root thread, or else of the last call of all, or else the one that the root
/// thread was configured with.
fn model_of_session(trace: &Trace) -> Option<String> {
    let calls = || trace.inferences.values();
    let of_root = calls().rfind(|call| trace.threads[call.thread].id == trace.root_thread_id);
    let called = of_root.or_else(|| calls().next_back()).map(|call| call.model);
    let configured = || trace.threads.values().find(|thread| thread.id == trace.root_thread_id)?.default_model;
    called.or_else(configured).map(|model| trace.text(model).to_owned())
}

/// Returns the last folder of a path of either kind of separator.
fn last_folder(cwd: &str) -> Option<String> {
    let last = cwd.rsplit(['/', '\\']).find(|name| !name.is_empty())?;
    Some(last.to_owned())
}

/// Returns the working directory of the root agent: the one that its environment names, or in which its first command ran.
fn cwd(trace: &Trace) -> Option<String> {
    let (root, thread) = trace.threads.iter().find(|(_, thread)| thread.id == trace.root_thread_id)?;
    let texts = thread.items.iter().take(MAX_CWD_ITEMS).flat_map(|item| trace.items[*item].parts.iter());
    let told = texts.filter_map(|part| match part {
        Part::Text(text) => {
            let (_, rest) = text.split_once(CWD_TAGS.0)?;
            rest.split_once(CWD_TAGS.1).map(|(cwd, _)| cwd.trim().to_owned())
        }
        _ => None,
    });
    let ran = trace.operations.values().filter(|operation| trace.tools[operation.tool].thread == root);
    let ran = ran.filter_map(|operation| match &operation.request {
        TerminalRequest::ExecCommand { cwd, .. } => Some(cwd.to_string()),
        TerminalRequest::WriteStdin { .. } => None,
    });
    told.chain(ran).find(|cwd| Path::new(cwd).components().next().is_some())
}

impl<'a> Answers<'a> {
    fn new(session: &'a Session, cwd_of_origin: Option<String>) -> Self {
        let trace = session.trace();
        let postmortem = postmortem(session);
        let verdicts = postmortem.turns.iter().enumerate().map(|(index, turn)| (turn.turn_id.clone(), index)).collect();
        let mut turns = vec![TurnCounts::default(); trace.turns.len()];
        let mut models = HashMap::new();
        let mut requested_by = vec![None; trace.tools.len()];
        for (index, call) in trace.inferences.iter() {
            let counts = &mut turns[call.turn.index()];
            counts.inference_calls += 1;
            add(&mut counts.usage, call.usage.unwrap_or_default());
            models.insert(call.turn, index);
            for tool in &call.tools_started {
                requested_by[tool.index()].get_or_insert(index);
            }
        }
        for tool in trace.tools.values() {
            if let Some(turn) = tool.turn {
                turns[turn.index()].tool_calls += 1;
            }
        }
        let failures = failures(session, &postmortem);
        Self {
            session,
            trace,
            clock: Clock::new(trace),
            family: Family::new(trace),
            audit: audit::audit(session, audit::Options::default()),
            failures,
            cwd: cwd_of_origin.or_else(|| cwd(trace)),
            postmortem,
            verdicts,
            models,
            requested_by,
            repeats: repeats(trace),
            turns,
        }
    }

    /// Returns the verdict on a turn.
    pub(crate) fn verdict(&self, turn: TurnIdx) -> Option<&TurnVerdict> {
        let index = self.verdicts.get(self.trace.text(self.trace.turns[turn].id))?;
        self.postmortem.turns.get(*index)
    }

    /// Returns what a turn did.
    pub(crate) fn counts(&self, turn: TurnIdx) -> TurnCounts {
        self.turns[turn.index()]
    }

    /// Returns the model of the last call of a turn.
    pub(crate) fn model_of_turn(&self, turn: TurnIdx) -> Option<&str> {
        let trace = self.trace;
        let called = self.models.get(&turn).map(|call| trace.inferences[*call].model);
        called.or(trace.threads[trace.turns[turn].thread].default_model).map(|model| trace.text(model))
    }

    /// Returns the model that made a tool call, or else the one of its turn.
    pub(crate) fn model_of_tool(&self, tool: ToolIdx) -> Option<&str> {
        let requested = self.requested_by[tool.index()].map(|call| self.trace.text(self.trace.inferences[call].model));
        requested.or_else(|| self.model_of_turn(self.trace.tools[tool].turn?))
    }

    /// Returns how many earlier calls of the thread had the same tool and the same subject.
    pub(crate) fn repeats(&self, tool: ToolIdx) -> u32 {
        self.repeats[tool.index()]
    }

    pub(crate) fn agent_path(&self, thread: ThreadIdx) -> &str {
        self.trace.text(self.trace.threads[thread].agent_path)
    }

    pub(crate) fn thread_id(&self, thread: ThreadIdx) -> &str {
        self.trace.text(self.trace.threads[thread].id)
    }

    pub(crate) fn turn_id(&self, turn: TurnIdx) -> &str {
        self.trace.text(self.trace.turns[turn].id)
    }

    /// Returns the tokens of all calls.
    pub(crate) fn usage(&self) -> Usage {
        let mut sum = Usage::default();
        for counts in &self.turns {
            add(&mut sum, counts.usage);
        }
        sum
    }

    /// Returns the sketch of what the session did: its failures, the tools in pairs as they followed each other, and the
    /// words of its first prompt.
    pub(crate) fn sketch(&self) -> Vec<i64> {
        let trace = self.trace;
        let mut features: HashSet<String> = HashSet::new();
        features.extend(self.failures.iter().map(|failure| format!("failure {}", failure.signature)));
        let mut last: HashMap<ThreadIdx, String> = HashMap::new();
        for call in trace.tools.values() {
            let name = tool_name(trace, call);
            let before = last.insert(call.thread, name.clone()).unwrap_or_default();
            features.insert(format!("tool {before} {name}"));
        }
        let prompt = trace_explain::prompt::first_prompt(trace).unwrap_or_default();
        let words: Vec<String> = prompt.split_whitespace().take(MAX_SKETCHED_WORDS).map(str::to_lowercase).collect();
        features.extend(words.windows(2).map(|pair| format!("words {} {}", pair[0], pair[1])));
        sketch(features.iter().map(String::as_str))
    }
}

/// Most words of the first prompt that count for the sketch.
const MAX_SKETCHED_WORDS: usize = 200;

fn add(sum: &mut Usage, usage: Usage) {
    sum.input_tokens = sum.input_tokens.saturating_add(usage.input_tokens);
    sum.cached_input_tokens = sum.cached_input_tokens.saturating_add(usage.cached_input_tokens);
    sum.cache_write_input_tokens = sum.cache_write_input_tokens.saturating_add(usage.cache_write_input_tokens);
    sum.output_tokens = sum.output_tokens.saturating_add(usage.output_tokens);
    sum.reasoning_output_tokens = sum.reasoning_output_tokens.saturating_add(usage.reasoning_output_tokens);
}

/// Returns for each tool call how many earlier ones of its thread had the same tool and the same subject. Calls that ask
/// whether something is done yet repeat by nature and count as 0.
fn repeats(trace: &Trace) -> Vec<u32> {
    let mut seen: HashMap<(ThreadIdx, String, String), u32> = HashMap::new();
    let count = |call: &trace_reducer::model::ToolCall| {
        if matches!(call.kind, ToolKind::WaitAgent | ToolKind::WriteStdin) {
            return 0;
        }
        let Some(subject) = tool_subject(trace, call) else { return 0 };
        let count = seen.entry((call.thread, tool_name(trace, call), subject)).or_default();
        *count += 1;
        *count - 1
    };
    trace.tools.values().map(count).collect()
}

/// Returns the failures of a session: each cause that a verdict names, once, in the order in which turns show them. A
/// failure of a child is in the verdicts of all agents above it.
fn failures(session: &Session, postmortem: &Postmortem) -> Vec<Failure> {
    let trace = session.trace();
    let mut found: Vec<Failure> = Vec::new();
    let mut by_object: HashMap<String, usize> = HashMap::new();
    for turn in &postmortem.turns {
        for cause in turn.root_cause.iter().chain(&turn.other_causes) {
            let key = format!("{} {}", cause.object, cause.category.as_str());
            if let Some(index) = by_object.get(&key) {
                found[*index].turns += 1;
                continue;
            }
            by_object.insert(key, found.len());
            let tool = match session.find(&cause.object) {
                Some(trace_explain::Object::Tool(tool)) => Some(tool_name(trace, &trace.tools[tool])),
                Some(trace_explain::Object::Operation(operation)) => {
                    Some(tool_name(trace, &trace.tools[trace.operations[operation].tool]))
                }
                _ => None,
            };
            found.push(Failure {
                signature: signature(cause.category.as_str(), tool.as_deref(), &cause.message),
                cause: cause.clone(),
                outcome: turn.outcome.as_str(),
                tool,
                turns: 1,
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_is_the_last_folder() {
        let cases =
            [("/home/me/repo/", Some("repo")), ("C:\\src\\app", Some("app")), ("/", None), ("repo", Some("repo"))];
        for (cwd, expected) in cases {
            assert_eq!(last_folder(cwd).as_deref(), expected, "{cwd}");
        }
    }

    #[test]
    fn given_names_go_before_folders() {
        let given = Given { team: Some("blue".to_owned()), repository: None };
        let common = named("s3://b/team=red/repository=r/x.trace", &given);
        assert_eq!((common.team.as_deref(), common.repository.as_deref()), (Some("blue"), Some("r")));
    }
}
