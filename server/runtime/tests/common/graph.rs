//! What readers make of a bundle.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use trace_recorder::Bundle;
use trace_reducer::{Options, reduce, state_json};

/// Reduces a bundle strictly, here and, if it is named, by the peer.
#[expect(clippy::print_stderr, reason = "what is skipped is said aloud")]
pub fn state(bundle: &Path) -> Value {
    let strict = Options { strict: true, ..Options::default() };
    let reduction = reduce(&Bundle::open(bundle).unwrap(), strict).unwrap();
    let mut text = Vec::new();
    state_json::write(&reduction, state_json::Style::Compact, &mut text).unwrap();
    let state: Value = serde_json::from_slice(&text).unwrap();
    match std::env::var_os("TRACE_PEER").map(PathBuf::from) {
        None => eprintln!("SKIPPED: TRACE_PEER names no peer; only our own reduction is checked"),
        Some(peer) => {
            let out = bundle.with_extension("state.json");
            let output =
                Command::new(peer).args(["debug", "trace-reduce"]).arg(bundle).arg("-o").arg(&out).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let theirs: Value = serde_json::from_slice(&std::fs::read(out).unwrap()).unwrap();
            assert_eq!(state, theirs);
        }
    }
    state
}
