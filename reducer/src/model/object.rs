//! Any object of the graph, by handle.

use super::ids::{
    CellIdx, CompactionIdx, CompactionRequestIdx, EdgeIdx, InferenceIdx, ItemIdx, OperationIdx, PayloadIdx, SessionIdx,
    ThreadIdx, ToolIdx, TurnIdx,
};

/// Any object of the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Object {
    /// A thread.
    Thread(ThreadIdx),
    /// A turn.
    Turn(TurnIdx),
    /// A conversation item.
    Item(ItemIdx),
    /// An inference call.
    Inference(InferenceIdx),
    /// A code cell.
    Cell(CellIdx),
    /// A tool call.
    Tool(ToolIdx),
    /// A terminal.
    Session(SessionIdx),
    /// A terminal operation.
    Operation(OperationIdx),
    /// A compaction.
    Compaction(CompactionIdx),
    /// A request for a compaction.
    CompactionRequest(CompactionRequestIdx),
    /// An interaction edge.
    Edge(EdgeIdx),
    /// A payload.
    Payload(PayloadIdx),
}

impl Object {
    /// Returns the name of the object's type: the name of its map in `state.json`, in the singular.
    pub fn type_name(self) -> &'static str {
        match self {
            Self::Thread(_) => "thread",
            Self::Turn(_) => "codex_turn",
            Self::Item(_) => "conversation_item",
            Self::Inference(_) => "inference_call",
            Self::Cell(_) => "code_cell",
            Self::Tool(_) => "tool_call",
            Self::Session(_) => "terminal_session",
            Self::Operation(_) => "terminal_operation",
            Self::Compaction(_) => "compaction",
            Self::CompactionRequest(_) => "compaction_request",
            Self::Edge(_) => "interaction_edge",
            Self::Payload(_) => "raw_payload",
        }
    }
}
