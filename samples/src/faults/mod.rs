//! Sessions with one planted fault each, and the verdicts that `trace postmortem` must give on them.
//!
//! [`all`] returns the sessions. Each can be recorded at a path, and has the expected verdict on every turn: the outcome,
//! the category of the root cause, and the object in which the cause lies. The session around a fault continues: steps
//! succeed before and after it, in the same thread and in others. So a simple rule, which only looks for the last failure,
//! the last success or a word in a text, is wrong in some session.
//!
//! The sessions are recorded event by event as the Codex CLI records such a case. A few are recorded as another recorder
//! may do it, without the events that the Codex CLI sends to its client. Texts that do not matter are invented. The same
//! version always writes the same bytes.
//!
//! A comment at each session names the rule that it tests. There are no sessions with faults in compactions, with faults in
//! commands that receive input, or with two faults at once.

mod agents;
mod healthy;
mod places;
mod recovered;
mod requests;
mod stage;
mod stops;
mod tasks;
mod tools;
pub mod truth;

use std::fmt;
use std::io;
use std::path::Path;

use serde::Serialize;
use trace_recorder::format::SchemaVersion;

use self::stage::Stage;
pub use self::truth::{Category, Outcome, RootCause, TurnTruth, Verdict};

/// The purpose of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// It has a fault of this category, from which it does not recover. With [`Category::AgentFailed`] it has a chain of
    /// agents, and the root cause is deeper in the chain and has another category.
    Fault(Category),
    /// Nothing failed, although it looks as if something had.
    Healthy,
    /// Something failed and was recovered.
    Recovered,
}

impl Family {
    /// Returns the name of the category, or `healthy` or `recovered`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fault(category) => category.name(),
            Self::Healthy => "healthy",
            Self::Recovered => "recovered",
        }
    }
}

type Script = Box<dyn Fn(Stage) -> io::Result<Vec<TurnTruth>> + Send + Sync>;

/// A session with or without a planted fault.
pub struct Planted {
    /// Its name, which is also valid as the name of a directory.
    pub name: String,
    /// Its purpose.
    pub family: Family,
    /// What happens in it, in one sentence.
    pub what: String,
    /// Schema of the bundle.
    pub schema: SchemaVersion,
    /// Whether the last line of the log is incomplete. The bundle is then damaged on purpose.
    pub is_torn: bool,
    script: Script,
}

impl fmt::Debug for Planted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, family, what, schema, is_torn, script: _ } = self;
        f.debug_struct("Planted")
            .field("name", name)
            .field("family", family)
            .field("what", what)
            .field("schema", schema)
            .field("is_torn", is_torn)
            .finish_non_exhaustive()
    }
}

impl Planted {
    fn new(
        family: Family,
        name: impl Into<String>,
        what: impl Into<String>,
        script: impl Fn(Stage) -> io::Result<Vec<TurnTruth>> + Send + Sync + 'static,
    ) -> Self {
        let (name, what) = (name.into(), what.into());
        Self { name, family, what, schema: SchemaVersion::CURRENT, is_torn: false, script: Box::new(script) }
    }

    /// Makes the session be recorded in schema 1, as releases up to 0.164 record it.
    #[must_use]
    fn schema_1(self) -> Self {
        Self { schema: SchemaVersion::V1, ..self }
    }

    /// Records the session as a new bundle at `path`. Returns the expected verdicts on its turns, in the order in which
    /// they started.
    ///
    /// # Errors
    ///
    /// Returns an I/O error if something cannot be written.
    pub fn write(&self, path: &Path) -> io::Result<Vec<TurnTruth>> {
        (self.script)(Stage::open(path, &self.name, self.schema)?)
    }
}

/// Content of the file `truth.json` beside a planted session.
#[derive(Debug, Serialize)]
pub struct Truth<'a> {
    /// Name of the session.
    pub name: &'a str,
    /// Name of its family.
    pub category: &'static str,
    /// What happens in it, in one sentence.
    pub what: &'a str,
    /// Expected verdicts on its turns.
    pub turns: &'a [TurnTruth],
}

/// Returns all sessions.
pub fn all() -> Vec<Planted> {
    let mut all = requests::all();
    all.extend(tools::all());
    all.extend(agents::all());
    all.extend(stops::all());
    all.extend(tasks::all());
    all.extend(recovered::all());
    all.extend(healthy::all());
    all
}
