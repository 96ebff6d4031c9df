//! Reduces bundles to graphs.

use std::path::Path;

use serde_json::Value;
use trace_recorder::Bundle;
use trace_reducer::{Options, reduce, state_json};

/// Reduces a bundle strictly, by this program and, if `TRACE_PEER` is set, by the peer.
pub fn state(bundle: &Path) -> Value {
    let strict = Options { strict: true, ..Options::default() };
    let reduction = reduce(&Bundle::open(bundle).unwrap(), strict).unwrap();
    let mut text = Vec::new();
    state_json::write(&reduction, state_json::Style::Compact, &mut text).unwrap();
    let state: Value = serde_json::from_slice(&text).unwrap();
    if let Some(theirs) = trace_needs::state_by_peer(bundle) {
        let theirs: Value = serde_json::from_str(&theirs).unwrap();
        assert_eq!(state, theirs);
    }
    state
}
