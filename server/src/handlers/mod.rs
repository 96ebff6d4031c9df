//! Handlers of the requests about threads, one struct for each family of methods.
//!
//! Each struct has the parts of the server that its methods need, and the state that only they change. A handler takes decoded
//! params and returns the result. A handler whose response must have a defined place among the notifications of a thread takes
//! the responder instead and responds itself.

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
