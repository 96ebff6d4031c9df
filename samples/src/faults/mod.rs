//! A test bed for postmortems: sessions with one fault each, and what is true of them.
//!
//! [`all`] lists the sessions. Each can be recorded at a path, and says what a postmortem has to make of every turn: what
//! it came to, the category of the root cause, and the object that the cause is. A fault is planted into a session that
//! goes on around it: steps that work stand before and after, in the same thread and in others, so that a rule which only
//! looks for the last failure, the last success or a word in a text is wrong somewhere.
//!
//! What the sessions leave behind is what the Codex CLI leaves behind in such a case, event by event; a few leave what
//! another recorder may leave, without the events that the Codex CLI sends to its client. Texts on which nothing rests
//! are made up. Equal programs make equal bytes.
//!
//! The rule that a session tests stands beside it. What is left out: faults in compactions, in commands that are written
//! to, and two faults at once.

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

/// What a session is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// A fault of a category that nothing makes good. With [`Category::AgentFailed`], a chain of agents: the root cause
    /// lies deeper and has another category.
    Fault(Category),
    /// Nothing failed, whatever it looks like.
    Healthy,
    /// Something failed and was made good.
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

/// A session with a fault, or without one.
pub struct Planted {
    /// Its name, good for a directory.
    pub name: String,
    /// What it is for.
    pub family: Family,
    /// What happens in it, in one sentence.
    pub what: String,
    /// Schema of the bundle.
    pub schema: SchemaVersion,
    /// Whether the last line of the log is cut, so that the bundle is damaged on purpose.
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

    /// The same session as releases up to 0.164 record it.
    #[must_use]
    fn schema_1(self) -> Self {
        Self { schema: SchemaVersion::V1, ..self }
    }

    /// Records the session as a new bundle at `path`. Returns what is true of its turns, in the order in which they began.
    ///
    /// # Errors
    ///
    /// Returns an I/O error when something cannot be written.
    pub fn write(&self, path: &Path) -> io::Result<Vec<TurnTruth>> {
        (self.script)(Stage::open(path, &self.name, self.schema)?)
    }
}

/// What lies beside a planted session.
#[derive(Debug, Serialize)]
pub struct Truth<'a> {
    /// Name of the session.
    pub name: &'a str,
    /// Name of the family.
    pub category: &'static str,
    /// What happens in it.
    pub what: &'a str,
    /// What is true of its turns.
    pub turns: &'a [TurnTruth],
}

/// Returns every session of the test bed.
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
