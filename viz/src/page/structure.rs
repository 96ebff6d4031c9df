//! The structure of a session: every object with its number, and the relations between objects.
//!
//! It contains no bodies, so its size is proportional to that of the graph. `assets/README.md` describes its members.

mod build;
mod changes;

use serde::Serialize;
use serde_json::Value;
use trace_explain::Object;
use trace_explain::object::TYPE_NAMES;
use trace_recorder::format::ImportNote;
use trace_reducer::model::{
    CellIdx, CompactionIdx, CompactionRequestIdx, EdgeIdx, Handle, InferenceIdx, ItemIdx, OperationIdx, PayloadIdx,
    SessionIdx, ThreadIdx, ToolIdx, Trace, TurnIdx,
};

use super::columns::{
    Attached, Bars, Edges, Inferences, Items, Lane, Links, Lost, Objects, Threads, Tools, Totals, Transcript, Turns,
    Uses,
};
use super::strings::Strings;

pub use changes::Changes;

/// Version of the structure.
const FORMAT: u32 = 1;

/// Number of an object on a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Number(pub u32);

/// Whether a session is still recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorder {
    /// A recorder is at work, so what has no end still runs.
    AtWork,
    /// No recorder is at work, so what has no end was cut off.
    Gone,
}

/// A session as its page sees it. It serializes to the JSON that the page reads.
#[derive(Debug, Serialize)]
pub struct Structure {
    #[serde(skip)]
    numbers: Numbers,
    format: u32,
    session: About,
    strings: Strings,
    types: Vec<Type>,
    objects: Objects,
    outcomes: [&'static str; 5],
    threads: Threads,
    order: Vec<i64>,
    turns: Turns,
    items: Items,
    inferences: Inferences,
    tools: Tools,
    edges: Edges,
    lost: Vec<Lost>,
    works: Vec<&'static str>,
    bars: Bars,
    lanes: Vec<Lane>,
    relations: Vec<&'static str>,
    links: Links,
    uses: Uses,
    transcripts: Vec<Transcript>,
    attached: Attached,
    verdicts: Vec<Value>,
    /// Findings of an audit. `None` if the session is too large to audit it beside.
    findings: Option<Vec<Value>>,
    /// What of the session these findings follow from.
    #[serde(skip)]
    audited: AuditedState,
    diagnostics: Vec<Finding>,
    #[serde(skip_serializing_if = "Option::is_none")]
    imported: Option<Imported>,
    totals: Totals,
}

impl Structure {
    /// Returns the name that the page displays.
    pub fn name(&self) -> &str {
        &self.session.name
    }

    /// Returns the numbers of the objects.
    pub(super) fn numbers(&self) -> Numbers {
        self.numbers
    }
}

/// What has to change before a session that is followed is audited again: an audit of every state would cost more than the rest of
/// the structure, and a turn that has not ended leaves most claims open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct AuditedState {
    turns_ended: usize,
    has_ended: bool,
    recorder: Recorder,
}

impl AuditedState {
    fn of(trace: &Trace, recorder: Recorder) -> Self {
        let turns_ended = trace.turns.values().filter(|turn| turn.execution.ended.is_some()).count();
        Self { turns_ended, has_ended: trace.ended.is_some() || trace.recording_complete, recorder }
    }
}

/// Facts about the session as a whole.
#[derive(Debug, Serialize)]
struct About {
    name: String,
    rollout_id: String,
    trace_id: String,
    status: &'static str,
    schema_version: u32,
    recording_complete: bool,
    started_at_unix_ms: i64,
    wall_ms: u64,
    clock_set_back_ms: u64,
}

/// Where an imported session comes from, and what its files do not tell.
#[derive(Debug, Serialize)]
struct Imported {
    format: String,
    agent_version: Option<String>,
    files: Vec<String>,
    notes: Vec<ImportNote>,
    /// Per object: index of its file, and the number of its line.
    file: Vec<i64>,
    line: Vec<i64>,
}

/// A type of objects, with the range of their numbers.
#[derive(Debug, Serialize)]
struct Type {
    name: &'static str,
    first: u32,
    count: u32,
}

/// A diagnostic of the reduction.
#[derive(Debug, Serialize)]
struct Finding {
    code: String,
    message: String,
    seq: Option<u64>,
}

/// Fewest numbers that a type of a session has that is still written.
const MIN_ROOM: u32 = 256;

/// The numbering of objects: types in the order of `state.json`, and the objects of a type in the order of the event
/// log. Between the types there may be room for objects of a session that is still written, so that the numbers of all
/// others stay as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Numbers {
    firsts: [u32; TYPE_NAMES.len()],
    counts: [u32; TYPE_NAMES.len()],
}

impl Numbers {
    pub(super) fn new(trace: &Trace) -> Self {
        Self::with_room(counts(trace), |count| count)
    }

    /// Returns the numbering of a session that is still written. It continues the one before as long as there is room.
    pub(super) fn following(trace: &Trace, before: Option<&Self>) -> Self {
        let counts = counts(trace);
        let before = before.map(|before| Self { counts, ..*before }).filter(Self::has_room);
        before.unwrap_or_else(|| Self::with_room(counts, |count| (2 * count).next_power_of_two().max(MIN_ROOM)))
    }

    fn with_room(counts: [u32; TYPE_NAMES.len()], room: impl Fn(u32) -> u32) -> Self {
        let mut firsts = [0; TYPE_NAMES.len()];
        for place in 1..firsts.len() {
            firsts[place] = firsts[place - 1] + room(counts[place - 1]);
        }
        Self { firsts, counts }
    }

    /// Returns whether the objects of each type end before the next type begins. Nothing comes after the last type.
    fn has_room(&self) -> bool {
        (1..self.firsts.len()).all(|place| self.firsts[place - 1] + self.counts[place - 1] <= self.firsts[place])
    }

    /// Returns whether objects have the same numbers in another state of the session.
    fn continues(&self, before: &Self) -> bool {
        self.firsts == before.firsts && self.counts.iter().zip(&before.counts).all(|(now, before)| now >= before)
    }

    /// Returns the number of an object.
    pub(super) fn of(&self, object: Object) -> Number {
        let (place, index) = match object {
            Object::Thread(it) => (0, it.index()),
            Object::Turn(it) => (1, it.index()),
            Object::Item(it) => (2, it.index()),
            Object::Inference(it) => (3, it.index()),
            Object::Cell(it) => (4, it.index()),
            Object::Tool(it) => (5, it.index()),
            Object::Session(it) => (6, it.index()),
            Object::Operation(it) => (7, it.index()),
            Object::Compaction(it) => (8, it.index()),
            Object::CompactionRequest(it) => (9, it.index()),
            Object::Edge(it) => (10, it.index()),
            Object::Payload(it) => (11, it.index()),
        };
        Number(self.firsts[place] + index as u32)
    }

    /// Returns the first number of an object's type.
    fn of_first(&self, object: Object) -> Number {
        let number = self.of(object);
        let place = self.firsts.partition_point(|first| *first <= number.0).saturating_sub(1);
        Number(self.firsts[place])
    }

    /// Returns the object with a number.
    pub(super) fn object(&self, number: Number) -> Option<Object> {
        let place = self.firsts.partition_point(|first| *first <= number.0).checked_sub(1)?;
        let index = number.0 - self.firsts[place];
        if index >= self.counts[place] {
            return None;
        }
        let index = index as usize;
        Some(match place {
            0 => Object::Thread(ThreadIdx::from_index(index)),
            1 => Object::Turn(TurnIdx::from_index(index)),
            2 => Object::Item(ItemIdx::from_index(index)),
            3 => Object::Inference(InferenceIdx::from_index(index)),
            4 => Object::Cell(CellIdx::from_index(index)),
            5 => Object::Tool(ToolIdx::from_index(index)),
            6 => Object::Session(SessionIdx::from_index(index)),
            7 => Object::Operation(OperationIdx::from_index(index)),
            8 => Object::Compaction(CompactionIdx::from_index(index)),
            9 => Object::CompactionRequest(CompactionRequestIdx::from_index(index)),
            10 => Object::Edge(EdgeIdx::from_index(index)),
            11 => Object::Payload(PayloadIdx::from_index(index)),
            _ => return None,
        })
    }

    /// Returns the numbers of all objects.
    pub(super) fn all(&self) -> impl Iterator<Item = Number> + use<> {
        let ranges = self.firsts.into_iter().zip(self.counts);
        ranges.flat_map(|(first, count)| (first..first + count).map(Number))
    }

    fn types(&self) -> Vec<Type> {
        let ranges = self.firsts.into_iter().zip(self.counts);
        TYPE_NAMES.into_iter().zip(ranges).map(|(name, (first, count))| Type { name, first, count }).collect()
    }
}

/// Returns the number of objects of each type.
fn counts(trace: &Trace) -> [u32; TYPE_NAMES.len()] {
    [
        trace.threads.len(),
        trace.turns.len(),
        trace.items.len(),
        trace.inferences.len(),
        trace.cells.len(),
        trace.tools.len(),
        trace.sessions.len(),
        trace.operations.len(),
        trace.compactions.len(),
        trace.compaction_requests.len(),
        trace.edges.len(),
        trace.payloads.len(),
    ]
    .map(|count| u32::try_from(count).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use trace_explain::Session;

    use super::*;

    fn sample() -> (tempfile::TempDir, Session) {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("bundle");
        trace_samples::scenes::three_children(&path).expect("a sample");
        let session = Session::open(&path).expect("a bundle");
        (directory, session)
    }

    #[test]
    fn numbers_and_objects_are_one_to_one() {
        let (_directory, session) = sample();
        let numbers = Numbers::new(session.trace());
        let objects: Vec<Object> = numbers.all().filter_map(|number| numbers.object(number)).collect();
        assert_eq!(objects.len(), numbers.all().count());
        assert!(numbers.all().zip(&objects).all(|(number, object)| numbers.of(*object) == number));
        assert_eq!(numbers.object(Number(numbers.all().count() as u32)), None);
        assert!(session.objects().all(|object| objects.contains(&object)));
    }

    #[test]
    fn sessions_in_which_many_wait_have_one_structure() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("bundle");
        let setup = trace_samples::Setup {
            seed: 1,
            started_at_unix_ms: 1_772_443_800_000,
            schema: trace_recorder::format::SchemaVersion::CURRENT,
            cwd: "/home/dev".to_owned(),
            model: "example".to_owned(),
            provider: "example".to_owned(),
            texts: trace_samples::texts::Texts::short(),
        };
        let child = |name: &str| trace_samples::Child {
            task_name: name.to_owned(),
            nickname: name.to_owned(),
            model: None,
            task: "Do it.".to_owned(),
        };
        let (mut session, root) = trace_samples::Session::create(&path, setup).expect("creates");
        session.prompt(root, "Do it.").expect("prompts");
        let parents = session.spawn(root, &["a", "b", "c", "d"].map(child)).expect("spawns");
        for parent in &parents {
            session.spawn(*parent, &[child("e")]).expect("spawns");
        }
        for parent in parents {
            let wait = session.begin_wait(parent, 60_000).expect("waits");
            session.end_wait(wait).expect("waited");
        }
        session.end().expect("ends");
        let session = Session::open(&path).expect("a bundle");
        let bytes = || serde_json::to_string(&Structure::new(&session, "many")).expect("serializes");
        let first = bytes();
        let value: Value = serde_json::from_str(&first).expect("JSON");
        let relations = value["relations"].as_array().expect("relations");
        let waited = relations.iter().position(|relation| relation == "waited_on").expect("a relation");
        let links = value["links"]["relation"].as_array().expect("links");
        assert_eq!(links.iter().filter(|relation| **relation == waited).count(), 4);
        for _ in 0..8 {
            assert!(bytes() == first, "equal sessions have equal structures");
        }
    }

    #[test]
    fn columns_have_a_row_for_every_object() {
        let (_directory, session) = sample();
        let structure = serde_json::to_value(Structure::new(&session, "three-children")).expect("serializes");
        let trace = session.trace();
        let rows = |table: &str| {
            let columns = structure[table].as_object().expect("a table").values();
            let lengths: std::collections::BTreeSet<usize> =
                columns.map(|column| column.as_array().expect("a column").len()).collect();
            lengths.into_iter().collect::<Vec<_>>()
        };
        assert_eq!(rows("threads"), [trace.threads.len()]);
        assert_eq!(rows("turns"), [trace.turns.len()]);
        assert_eq!(rows("items"), [trace.items.len()]);
        assert_eq!(rows("inferences"), [trace.inferences.len()]);
        assert_eq!(rows("tools"), [trace.tools.len()]);
        assert_eq!(rows("edges"), [trace.edges.len()]);
        // Payloads have only two of the columns.
        let all = Numbers::new(trace).all().count();
        assert_eq!(rows("objects"), [all - trace.payloads.len(), all]);
        assert_eq!(structure["order"].as_array().map(Vec::len), Some(trace.threads.len()));
        assert_eq!(structure["verdicts"].as_array().map(Vec::len), Some(trace.turns.len()));
        for single in ["bars", "links", "uses", "attached"] {
            assert_eq!(rows(single).len(), 1, "{single}");
        }
        let root_causes = structure["verdicts"].as_array().expect("verdicts").iter();
        let numbered = root_causes.filter(|verdict| verdict["root_cause"]["n"].is_number()).count();
        assert!(numbered > 0, "the sample has failures");
    }

    #[test]
    fn findings_name_the_numbers_of_their_objects() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("bundle");
        trace_samples::scenes::untrue(&path).expect("a sample");
        let session = Session::open(&path).expect("a bundle");
        let structure = serde_json::to_value(Structure::new(&session, "untrue")).expect("serializes");
        let findings = structure["findings"].as_array().expect("findings");
        assert_eq!(findings.len(), 14);
        let numbers = Numbers::new(session.trace());
        for finding in findings {
            let evidence = finding["evidence"].as_array().expect("a list").iter();
            for place in evidence.chain(finding["claim"].is_object().then_some(&finding["claim"])) {
                let name = serde_json::from_value(place["object"].clone()).expect("a reference");
                let number = session.find(&name).map(|object| numbers.of(object).0);
                assert!(number.is_some() && place["n"].as_u64() == number.map(u64::from), "{place}");
            }
        }
    }

    #[test]
    fn a_session_that_is_too_large_has_no_list_of_findings() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("bundle");
        let shape = trace_samples::bench::Shape::fleet(50, 44);
        trace_samples::bench::generate(&path, &shape).expect("a sample");
        let session = Session::open(&path).expect("a bundle");
        assert!(session.trace().tools.len() > trace_explain::audit::MAX_CALLS_BESIDE);
        let structure = serde_json::to_value(Structure::new(&session, "fleet")).expect("serializes");
        assert_eq!(structure["findings"], Value::Null);
    }

    #[test]
    fn a_session_that_is_followed_is_audited_when_a_turn_has_ended() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("bundle");
        trace_samples::scenes::untrue(&path).expect("a sample");
        let log = path.join("trace.jsonl");
        let lines: Vec<String> =
            std::fs::read_to_string(&log).expect("a log").lines().map(|line| format!("{line}\n")).collect();
        // States behind which a turn has ended, and one in the middle of the next turn.
        let ends: Vec<usize> =
            (0..lines.len()).filter(|at| lines[*at].contains("\"codex_turn_ended\"")).map(|at| at + 1).collect();
        let state = |count: usize| {
            std::fs::write(&log, lines[..count].concat()).expect("writes");
            Session::open(&path).expect("a bundle")
        };
        let findings = |structure: &Structure| structure.findings.clone().expect("findings");
        let first = Structure::following(&state(ends[0]), "untrue", Recorder::AtWork);
        let known = findings(&first);
        // What the audit would say of the state in the middle of a turn is not asked.
        let marked = Structure { findings: Some(vec![Value::from("kept")]), ..first };
        let (second, _) = marked.next(&state(ends[0] + 2), Recorder::AtWork);
        assert_eq!(findings(&second), ["kept"]);
        let (third, changes) = second.next(&state(ends[1]), Recorder::AtWork);
        assert!(findings(&third).len() > known.len(), "another turn has ended");
        let changes = serde_json::to_value(changes.expect("changes")).expect("serializes");
        assert_eq!(changes["findings"].as_array().map(Vec::len), Some(findings(&third).len()));
    }

    /// The scripts of the page depend on every one of these columns.
    #[test]
    fn a_structure_to_the_letter() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("bundle");
        trace_samples::scenes::one_agent(&path).expect("a sample");
        let session = Session::open(&path).expect("a bundle");
        let structure = serde_json::to_value(Structure::new(&session, "one-agent")).expect("serializes");
        let members = structure.as_object().expect("members").iter();
        let lines: Vec<String> = members
            .map(|(name, value)| match value.as_object() {
                Some(columns) => columns
                    .iter()
                    .map(|(column, cells)| format!("{name}.{column}: {cells}"))
                    .collect::<Vec<_>>()
                    .join("\n"),
                None => format!("{name}: {value}"),
            })
            .collect();
        insta::assert_snapshot!(lines.join("\n"));
    }
}
