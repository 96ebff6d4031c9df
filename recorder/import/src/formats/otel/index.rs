//! Which sessions a file of spans has.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::draft::Draft;
use crate::error::ImportError;

use super::source::{Encoding, each_record};
use super::{json, protobuf};

/// Attributes that name the session that a span belongs to.
const SESSIONS: [&str; 3] = ["session.id", "langfuse.session.id", "traceloop.association.properties.session_id"];

/// The attribute that names the conversation that a span belongs to.
const CONVERSATION: &str = "gen_ai.conversation.id";

/// Beginnings of the names of attributes that only spans of agents have.
const OURS: [&str; 5] = ["gen_ai.", "openinference.", "llm.", "traceloop.", "rollout."];

/// The traces of one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    /// The id that the spans name, or that of the first trace.
    pub(super) id: String,
    pub(super) traces: HashSet<String>,
}

#[derive(Debug)]
struct TraceState {
    id: String,
    start: u64,
    /// The index of another trace of the same session, or of this one.
    joined: usize,
    is_ours: bool,
    session: Option<String>,
    conversation: Option<String>,
}

#[derive(Debug, Default)]
struct Index {
    traces: Vec<TraceState>,
    by_id: HashMap<String, usize>,
    /// The first trace with an id of a session or of a conversation.
    by_name: HashMap<String, usize>,
}

/// Returns the sessions of a file in the order of their beginnings.
///
/// # Errors
///
/// Returns an error if the file cannot be read.
pub(super) fn groups(path: &Path, encoding: Encoding) -> Result<Vec<Group>, ImportError> {
    let mut index = Index::default();
    // What is damaged is noted when the session is read.
    let mut draft = Draft::for_summary("");
    each_record(path, encoding, &mut draft, |place, bytes| match encoding {
        Encoding::Json => json::each_light(bytes, |span| {
            let Some(trace) = span.trace() else { return };
            let is_ours = span.names().any(is_ours);
            index.add(&trace, span.start(), is_ours, |name| span.text(name));
        })
        .is_ok(),
        Encoding::Protobuf => protobuf::each_span(
            bytes,
            place,
            |_| true,
            |span| {
                let is_ours = OURS.iter().any(|prefix| span.attributes.has_below(prefix));
                index.add(&span.trace, span.start, is_ours, |name| span.text(name).map(str::to_owned));
            },
        )
        .is_ok(),
    })?;
    Ok(index.into_groups())
}

fn is_ours(name: &str) -> bool {
    OURS.iter().any(|prefix| name.starts_with(prefix))
}

impl Index {
    fn add(&mut self, id: &str, start: Option<u64>, is_ours: bool, text: impl Fn(&str) -> Option<String>) {
        let start = start.unwrap_or(u64::MAX);
        let trace = match self.by_id.get(id) {
            Some(trace) => *trace,
            None => {
                let trace = self.traces.len();
                self.by_id.insert(id.to_owned(), trace);
                let (session, conversation) = (None, None);
                let state = TraceState { id: id.to_owned(), start, joined: trace, is_ours, session, conversation };
                self.traces.push(state);
                trace
            }
        };
        let session = SESSIONS.iter().find_map(|name| text(name));
        let conversation = text(CONVERSATION);
        for name in [("session", &session), ("conversation", &conversation)] {
            let (kind, Some(name)) = name else { continue };
            let other = *self.by_name.entry(format!("{kind}:{name}")).or_insert(trace);
            self.join(trace, other);
        }
        let state = &mut self.traces[trace];
        state.is_ours |= is_ours;
        let is_earlier = start < state.start;
        state.start = state.start.min(start);
        for (held, new) in [(&mut state.session, session), (&mut state.conversation, conversation)] {
            if new.is_some() && (is_earlier || held.is_none()) {
                *held = new;
            }
        }
    }

    /// Returns the trace that stands for all that are joined with a trace.
    fn first(&mut self, mut trace: usize) -> usize {
        while self.traces[trace].joined != trace {
            let next = self.traces[trace].joined;
            self.traces[trace].joined = self.traces[next].joined;
            trace = next;
        }
        trace
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.first(one), self.first(other));
        self.traces[one.max(other)].joined = one.min(other);
    }

    fn into_groups(mut self) -> Vec<Group> {
        let mut groups: HashMap<usize, Vec<usize>> = HashMap::new();
        for trace in 0..self.traces.len() {
            groups.entry(self.first(trace)).or_default().push(trace);
        }
        let mut found = Vec::new();
        for mut members in groups.into_values() {
            if !members.iter().any(|trace| self.traces[*trace].is_ours) {
                continue;
            }
            members.sort_by_key(|trace| (self.traces[*trace].start, *trace));
            let mut states = members.iter().map(|trace| &self.traces[*trace]);
            let first = &self.traces[members[0]];
            let session = states.clone().find_map(|state| state.session.clone());
            let id = session.or_else(|| states.find_map(|state| state.conversation.clone()));
            let id = id.unwrap_or_else(|| first.id.clone());
            let traces = members.iter().map(|trace| self.traces[*trace].id.clone()).collect();
            found.push((first.start, members[0], Group { id, traces }));
        }
        found.sort_by_key(|(start, first, _)| (*start, *first));
        found.into_iter().map(|(.., group)| group).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A span: its trace, its start, whether it is of an agent, and its attributes.
    type Shown<'a> = (&'a str, u64, bool, &'a [(&'a str, &'a str)]);

    fn groups(spans: &[Shown<'_>]) -> Vec<(String, usize)> {
        let mut index = Index::default();
        for (trace, start, is_ours, names) in spans {
            let text = |name: &str| Some(names.iter().find(|(other, _)| *other == name)?.1.to_owned());
            index.add(trace, Some(*start), *is_ours, text);
        }
        index.into_groups().into_iter().map(|group| (group.id, group.traces.len())).collect()
    }

    #[test]
    fn a_conversation_of_several_traces_is_one_session() {
        let spans: [Shown<'_>; 5] = [
            ("b", 20, true, &[("gen_ai.conversation.id", "c1")]),
            ("x", 5, false, &[]),
            ("a", 10, true, &[("gen_ai.conversation.id", "c1")]),
            ("d", 30, true, &[]),
            ("d", 29, false, &[]),
        ];
        assert_eq!(groups(&spans), [("c1".to_owned(), 2), ("d".to_owned(), 1)]);
    }

    #[test]
    fn the_id_of_a_session_goes_before_those_of_its_conversations() {
        let spans: [Shown<'_>; 3] = [
            ("a", 1, true, &[("gen_ai.conversation.id", "c1")]),
            ("a", 2, true, &[("gen_ai.conversation.id", "c2"), ("session.id", "s")]),
            ("b", 3, true, &[("gen_ai.conversation.id", "c2")]),
        ];
        assert_eq!(groups(&spans), [("s".to_owned(), 2)]);
    }
}
