//! Every recorded session of every agent becomes a bundle of which the Codex CLI makes the graph that this program makes.

#![expect(clippy::print_stderr, reason = "the count is for people")]

use crate::imported;
use std::path::{Path, PathBuf};

fn folders(of: &Path) -> Vec<PathBuf> {
    let entries = of.read_dir().expect("lists").map(|entry| entry.expect("an entry").path());
    let mut found: Vec<_> = entries.filter(|path| path.is_dir()).collect();
    found.sort();
    found
}

#[test]
fn the_peer_makes_the_same_graph_of_every_imported_session() {
    let Some(imports) = trace_needs::imports("the Codex CLI does not judge every imported session") else { return };
    let (mut count, mut agents) = (0, 0);
    for agent in folders(&imports) {
        agents += 1;
        for folder in folders(&agent) {
            let sessions = trace_import::sessions(&folder).expect("searches");
            assert!(!sessions.is_empty(), "{} has no session", folder.display());
            for session in &sessions {
                // Compares the graphs.
                imported::state(session);
            }
            count += sessions.len();
        }
    }
    assert!(agents >= 13 && count >= 98, "{count} sessions of {agents} agents");
    eprintln!("{count} sessions of {agents} agents have the graph of the Codex CLI");
}
