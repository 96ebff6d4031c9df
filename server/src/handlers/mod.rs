//! What the methods of the protocol do, one file per family.
//!
//! The methods of a family are those of a struct that has the parts of the server that they need, and the state that only they
//! change. A handler takes decoded params and returns the result; the few whose answer has to stand at a certain point of a
//! thread's history answer by themselves.

mod archive;
mod configuration;
mod fork;
mod goals;
mod history;
mod list;
mod load;
mod overrides;
mod queue;
mod resume;
mod settings;
mod start;
mod terminals;
mod tools;
mod traces;
mod tree;
mod turns;

pub(crate) use archive::ArchiveHandlers;
pub(crate) use configuration::ThreadConfiguration;
pub(crate) use goals::GoalHandlers;
pub(crate) use history::HistoryHandlers;
pub(crate) use list::ListHandlers;
pub(crate) use queue::QueueHandlers;
pub(crate) use resume::ResumeHandlers;
pub(crate) use settings::SettingsHandlers;
pub(crate) use start::StartHandlers;
pub(crate) use terminals::TerminalHandlers;
pub(crate) use tools::ThreadTools;
pub(crate) use traces::TraceHandlers;
pub(crate) use turns::TurnHandlers;
