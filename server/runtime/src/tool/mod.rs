//! What an agent can do: the tools that a model is offered, and what they need.

mod agent;
mod ask;
mod call;
mod call_order;
pub mod dynamic;
pub mod exec;
mod interface;
pub mod line;
mod model;
mod options;
mod outcome;
pub mod patch;
pub mod plan;
pub(crate) mod regular;
mod standard;
pub mod user_input;
pub mod view_image;

pub use agent::ToolAgent;
pub use call::{AfterCall, CallDescription, ToolCall, ToolInput, ToolOutcome};
pub use call_order::{CallOrder, Resource};
pub use interface::{Tool, ToolContext, ToolFamily};
pub use model::{MAX_SIDE_ANSWER_BYTES, ModelAccess, SideAnswer, SideError, SideMessage, SideQuestion};
pub use options::ToolOptions;
pub use outcome::MAX_PREVIEW_CHARS;
pub use standard::standard;
