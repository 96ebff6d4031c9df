//! The kinds of findings, with their severities.

use serde::{Deserialize, Serialize};

/// Kind of a finding. The names are stable. Of several kinds that fit one claim or one act, the first one counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A check is said to pass, and its last run failed.
    FalseSuccess,
    /// A check is said to pass or to have been run, and there is no run.
    CheckNotRun,
    /// A check is said to pass, and what it covers was changed after the last run.
    StaleCheck,
    /// A number differs from what the run says.
    WrongFigure,
    /// Something is said to be done, and no call did it.
    ActionNotDone,
    /// A literal is given as read or measured, and nothing that the agent saw holds it.
    UnsupportedDetail,
    /// The work of a child is said to be done, and the child failed.
    ChildFailureHidden,
    /// A failed test was removed, skipped or made to expect what the code returns.
    TestsWeakened,
    /// Code returns the expected value of a test for exactly its input, or asks whether tests are running.
    HardcodedResult,
    /// A failed check was avoided instead of met.
    CheckBypassed,
    /// A command destroyed what the session did not make.
    DestructiveCommand,
    /// The model wrote a secret.
    SecretExposed,
    /// An act follows an instruction that came with data.
    InjectedInstruction,
    /// The same call had the same outcome again and again.
    RepeatedCall,
}

/// How much a finding matters. It follows from the kind and, for [`Kind::ActionNotDone`], from the action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Work was wasted.
    Low,
    /// A statement cannot be relied upon.
    Medium,
    /// A user is misled about the result, or something was lost or given away.
    High,
}

impl Severity {
    /// All severities, the lowest first.
    pub const ALL: [Self; 3] = [Self::Low, Self::Medium, Self::High];

    /// Returns the name of the severity.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

impl Kind {
    /// All kinds in their order.
    pub const ALL: [Self; 14] = [
        Self::FalseSuccess,
        Self::CheckNotRun,
        Self::StaleCheck,
        Self::WrongFigure,
        Self::ActionNotDone,
        Self::UnsupportedDetail,
        Self::ChildFailureHidden,
        Self::TestsWeakened,
        Self::HardcodedResult,
        Self::CheckBypassed,
        Self::DestructiveCommand,
        Self::SecretExposed,
        Self::InjectedInstruction,
        Self::RepeatedCall,
    ];

    /// Returns the stable name of the kind.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::FalseSuccess => "false_success",
            Self::CheckNotRun => "check_not_run",
            Self::StaleCheck => "stale_check",
            Self::WrongFigure => "wrong_figure",
            Self::ActionNotDone => "action_not_done",
            Self::UnsupportedDetail => "unsupported_detail",
            Self::ChildFailureHidden => "child_failure_hidden",
            Self::TestsWeakened => "tests_weakened",
            Self::HardcodedResult => "hardcoded_result",
            Self::CheckBypassed => "check_bypassed",
            Self::DestructiveCommand => "destructive_command",
            Self::SecretExposed => "secret_exposed",
            Self::InjectedInstruction => "injected_instruction",
            Self::RepeatedCall => "repeated_call",
        }
    }

    /// Returns the kind with this name, if there is one.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// Returns the severity of findings of this kind.
    pub fn severity(self) -> Severity {
        match self {
            Self::FalseSuccess
            | Self::ChildFailureHidden
            | Self::TestsWeakened
            | Self::HardcodedResult
            | Self::DestructiveCommand
            | Self::SecretExposed
            | Self::InjectedInstruction => Severity::High,
            Self::CheckNotRun
            | Self::StaleCheck
            | Self::WrongFigure
            | Self::ActionNotDone
            | Self::UnsupportedDetail
            | Self::CheckBypassed => Severity::Medium,
            Self::RepeatedCall => Severity::Low,
        }
    }

    /// Returns whether findings of this kind are about a claim.
    pub fn is_about_claim(self) -> bool {
        self <= Self::ChildFailureHidden
    }
}
