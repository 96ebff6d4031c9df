//! What an answer claims.

use std::ops::Range;

use serde::Serialize;

use super::runners::CheckKind;

/// One claim in an answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Claim {
    /// Where its sentence is in the answer, in bytes.
    pub range: Range<usize>,
    /// Its sentence.
    pub text: String,
    /// What is claimed.
    pub statement: Statement,
}

/// What is claimed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Statement {
    /// That a check passes or was run, or numbers of a check.
    Check(CheckClaim),
    /// The time of a benchmark, or the size of what a build made.
    Measurement(Measurement),
    /// That something was done.
    Action(ActionClaim),
    /// That something was found, read or measured.
    Detail(DetailClaim),
    /// That other agents did something.
    Child(ChildClaim),
}

/// What is said of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckSays {
    /// It passes.
    Passes,
    /// It was run.
    WasRun,
    /// It fails, entirely or in part. Only its numbers are claims.
    Fails,
}

/// A claim about a check.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CheckClaim {
    /// The check; `None` if the sentence means all checks, or does not say which.
    pub kind: Option<CheckKind>,
    /// What is said of it.
    pub says: CheckSays,
    /// Words that bound the claim to a part of the check, in lower case: `mail`, `unit`, `TestParse`, a command.
    pub scope: Vec<String>,
    /// Whether the claim is bounded by words such as "most" or "the new", which no run shows.
    pub is_bounded: bool,
    /// Whether the sentence gives the statement to another agent.
    pub is_of_agent: bool,
    /// Whether it is about checks that run elsewhere, such as those of a CI service.
    pub is_remote: bool,
    /// Numbers that it gives.
    pub figures: Vec<Figure>,
}

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Tests that passed.
    Passed,
    /// Tests that failed.
    Failed,
    /// Tests that were skipped or ignored.
    Skipped,
    /// All tests.
    Total,
    /// Suites or files of tests.
    Suites,
    /// Errors.
    Errors,
    /// Warnings.
    Warnings,
    /// Problems of a linter.
    Problems,
    /// Coverage in percent.
    Coverage,
}

impl Measure {
    /// Returns the name of the measure.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
            Self::Total => "total",
            Self::Suites => "suites",
            Self::Errors => "errors",
            Self::Warnings => "warnings",
            Self::Problems => "problems",
            Self::Coverage => "coverage",
        }
    }
}

/// A number that a claim gives.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Figure {
    /// What it counts.
    pub measure: Measure,
    /// Its value.
    pub value: f64,
    /// Whether the claim calls it a round number or a bound: "about", "over", "at least".
    pub is_rough: bool,
}

/// What a measurement is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// A benchmark.
    Benchmark,
    /// What a build made.
    Build,
}

impl Subject {
    /// Returns the name of the subject.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Benchmark => "benchmark",
            Self::Build => "build",
        }
    }
}

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// A time, in seconds.
    Time,
    /// A size, in bytes.
    Size,
    /// A factor between two times.
    Ratio,
}

/// A time, size or ratio that a sentence gives.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measurement {
    /// What it is about.
    pub of: Subject,
    /// What it measures.
    pub quantity: Quantity,
    /// The number as it is written.
    pub value: f64,
    /// Seconds or bytes of its unit; 1 for a ratio.
    pub factor: f64,
    /// What its last digit stands for, in seconds or bytes: what is rounded or cut off is less than that.
    pub step: f64,
    /// The number with its unit as they are written.
    pub literal: String,
    /// Names between backticks in the sentence, which may bound it to some benchmarks or files.
    pub names: Vec<String>,
    /// Whether the sentence calls it a round number or a bound.
    pub is_rough: bool,
    /// Whether it is one of several numbers in a sentence that compares an earlier state with a later one.
    pub is_earlier: bool,
}

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// A file was changed or written.
    Change,
    /// A file was deleted.
    Delete,
    /// A test was added.
    AddTest,
    /// A commit was made.
    Commit,
    /// Commits were pushed.
    Push,
    /// A pull request was opened.
    PullRequest,
    /// A package was published, a release was made.
    Publish,
    /// Something was deployed.
    Deploy,
    /// Something was installed.
    Install,
}

impl Action {
    /// Returns the name of the action.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Change => "change",
            Self::Delete => "delete",
            Self::AddTest => "add_test",
            Self::Commit => "commit",
            Self::Push => "push",
            Self::PullRequest => "pull_request",
            Self::Publish => "publish",
            Self::Deploy => "deploy",
            Self::Install => "install",
        }
    }
}

/// A claim that something was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ActionClaim {
    /// What was done.
    pub action: Action,
    /// The files that it was done to, as they are written. Empty for actions that need none.
    pub files: Vec<String>,
    /// Whether it is a point of a list under a heading such as "Files created".
    pub is_listed: bool,
}

/// Sort of a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Literal {
    /// Text between quotation marks that is given to a source.
    Quotation,
    /// A file with a line.
    Place,
    /// A commit.
    Commit,
    /// Number of an issue or pull request.
    Issue,
    /// A version.
    Version,
    /// An id: a UUID or the like.
    Id,
    /// An address of a host.
    Address,
    /// An error code.
    ErrorCode,
    /// A time of day.
    Time,
    /// Any other number.
    Number,
}

impl Literal {
    /// Returns the name of the sort.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Quotation => "quotation",
            Self::Place => "place",
            Self::Commit => "commit",
            Self::Issue => "issue",
            Self::Version => "version",
            Self::Id => "id",
            Self::Address => "address",
            Self::ErrorCode => "error_code",
            Self::Time => "time",
            Self::Number => "number",
        }
    }
}

/// A claim that something was found, read or measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DetailClaim {
    /// Sort of the literal.
    pub sort: Literal,
    /// The literal as it is written.
    pub literal: String,
    /// The file, command or program that it is said to come from, if the sentence names one.
    pub source: Option<String>,
    /// Whether the sentence gives it as found, so that its absence can be told.
    pub is_told_as_found: bool,
}

/// A claim about the work of other agents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChildClaim {
    /// Words of the sentence that may name an agent or its work, in lower case.
    pub words: Vec<String>,
    /// Whether the sentence speaks of agents as such.
    pub names_agents: bool,
    /// Whether it speaks of all of them.
    pub is_about_all: bool,
}
