//! The handle of a code cell.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::body::IntoBody;
use super::open_turn::OpenTurn;
use super::recorder::Payload;
use crate::format::event::{CodeCellEnded, CodeCellInitialResponse, CodeCellStarted};
use crate::format::{CellStatus, EventPayload, PayloadKind};

/// A code cell that starts.
#[derive(Debug, Clone, Copy)]
pub struct NewCell<'a> {
    /// Id of the cell in its thread's runtime.
    pub runtime_cell_id: &'a str,
    /// Id of the model's call that contains the code.
    pub model_visible_call_id: &'a str,
    /// The code.
    pub source_js: &'a str,
}

/// Records what happens in a code cell.
#[derive(Debug, Clone)]
pub struct CellTrace(Option<Arc<Inner>>);

#[derive(Debug)]
struct Inner {
    turn: Arc<OpenTurn>,
    runtime_cell_id: String,
    has_answered: AtomicBool,
    has_ended: AtomicBool,
}

impl CellTrace {
    /// Returns a handle that records nothing.
    pub fn disabled() -> Self {
        Self(None)
    }

    pub(crate) fn start(turn: Arc<OpenTurn>, cell: &NewCell<'_>) -> Self {
        let event = CodeCellStarted {
            runtime_cell_id: cell.runtime_cell_id.into(),
            model_visible_call_id: cell.model_visible_call_id.into(),
            source_js: cell.source_js.into(),
        };
        turn.record(&EventPayload::CodeCellStarted(event), None);
        Self(Some(Arc::new(Inner {
            turn,
            runtime_cell_id: cell.runtime_cell_id.to_owned(),
            has_answered: AtomicBool::new(false),
            has_ended: AtomicBool::new(false),
        })))
    }

    /// Records the first response of the cell. Only the first call has an effect. The cell may continue in the background.
    pub fn answer(&self, status: CellStatus, response: Option<impl IntoBody>) {
        let Some(inner) = self.0.as_deref().filter(|inner| !inner.has_answered.swap(true, Ordering::AcqRel)) else {
            return;
        };
        let payload = response.map(|response| inner.turn.payload(PayloadKind::ToolResult, response));
        let event = CodeCellInitialResponse {
            runtime_cell_id: inner.runtime_cell_id.as_str().into(),
            status,
            response_payload: payload.as_ref().map(Payload::reference),
        };
        inner.turn.record(&EventPayload::CodeCellInitialResponse(event), payload);
    }

    /// Records that the cell ended. Only the first call has an effect.
    pub fn end(&self, status: CellStatus, response: Option<impl IntoBody>) {
        let Some(inner) = self.0.as_deref().filter(|inner| !inner.has_ended.swap(true, Ordering::AcqRel)) else {
            return;
        };
        let payload = response.map(|response| inner.turn.payload(PayloadKind::ToolResult, response));
        let event = CodeCellEnded {
            runtime_cell_id: inner.runtime_cell_id.as_str().into(),
            status,
            response_payload: payload.as_ref().map(Payload::reference),
        };
        inner.turn.record(&EventPayload::CodeCellEnded(event), payload);
    }
}
