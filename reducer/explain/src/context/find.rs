//! Finds the request or compaction that a user names.

use std::collections::{HashMap, HashSet};

use trace_reducer::model::{CompactionIdx, CompactionRequestIdx, InferenceIdx, Symbol, Trace};

/// Most ids in an error.
pub const MAX_SUGGESTIONS: usize = 5;

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ContextError {
    /// No object has this id or an id with this beginning.
    #[error("the session has no {what} {id}")]
    Unknown {
        /// Kind of object that was searched.
        what: &'static str,
        /// The id.
        id: String,
        /// Ids that are similar, or the first ones.
        suggestions: Vec<String>,
    },
    /// Several ids have this beginning.
    #[error("several {what} ids begin with {id}")]
    Ambiguous {
        /// Kind of object that was searched.
        what: &'static str,
        /// The beginning.
        id: String,
        /// Ids with this beginning.
        suggestions: Vec<String>,
    },
    /// The session or turn has no inference call.
    #[error("{what} has no request to a model")]
    NoRequest {
        /// The session or the turn.
        what: String,
    },
}

/// A compaction, or the requests for one that was never installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FoundCompaction {
    /// The compaction was installed.
    Installed(CompactionIdx),
    /// The compaction was only requested.
    Requested(Vec<CompactionRequestIdx>),
}

/// Finds an inference call by its id or the beginning of its id.
///
/// # Errors
///
/// Returns an error if no id or more than one id fits.
pub fn find_inference(trace: &Trace, id: &str) -> Result<InferenceIdx, ContextError> {
    let ids = trace.inferences.iter().map(|(inference, call)| (trace.text(call.id), inference));
    find("inference call", id, ids)
}

/// Finds a compaction by its id or the beginning of its id.
///
/// # Errors
///
/// Returns an error if no id or more than one id fits.
pub fn find_compaction(trace: &Trace, id: &str) -> Result<FoundCompaction, ContextError> {
    let installed = trace
        .compactions
        .iter()
        .map(|(compaction, known)| (trace.text(known.id), FoundCompaction::Installed(compaction)));
    let known: HashSet<Symbol> = trace.compactions.values().map(|compaction| compaction.id).collect();
    let mut requested: Vec<(&str, Vec<CompactionRequestIdx>)> = Vec::new();
    let mut places: HashMap<Symbol, usize> = HashMap::new();
    for (request, asked) in trace.compaction_requests.iter().filter(|(_, asked)| !known.contains(&asked.compaction_id))
    {
        let place = *places.entry(asked.compaction_id).or_insert_with(|| {
            requested.push((trace.text(asked.compaction_id), Vec::new()));
            requested.len() - 1
        });
        requested[place].1.push(request);
    }
    let requested = requested.into_iter().map(|(id, requests)| (id, FoundCompaction::Requested(requests)));
    find("compaction", id, installed.chain(requested))
}

/// Finds the last request of a turn. The turn is given by its id or the beginning of its id.
///
/// # Errors
///
/// Returns an error if there is no such turn, if several fit, or if the turn has no request.
pub fn last_of_turn(trace: &Trace, id: &str) -> Result<InferenceIdx, ContextError> {
    let turn = find("turn", id, trace.turns.iter().map(|(turn, known)| (trace.text(known.id), turn)))?;
    let mut calls = trace.inferences.iter();
    let last = calls.rfind(|(_, call)| call.turn == turn).map(|(inference, _)| inference);
    last.ok_or_else(|| ContextError::NoRequest { what: format!("turn {}", trace.text(trace.turns[turn].id)) })
}

/// Finds the last request of the session.
///
/// # Errors
///
/// Returns an error if the session has no request.
pub fn last_of_session(trace: &Trace) -> Result<InferenceIdx, ContextError> {
    let last = trace.inferences.handles().next_back();
    last.ok_or_else(|| ContextError::NoRequest { what: "the session".to_owned() })
}

fn find<'t, T: Clone>(
    what: &'static str,
    id: &str,
    known: impl Iterator<Item = (&'t str, T)>,
) -> Result<T, ContextError> {
    let known: Vec<(&str, T)> = known.collect();
    if let Some((_, found)) = known.iter().find(|(known, _)| *known == id) {
        return Ok(found.clone());
    }
    let begin: Vec<&(&str, T)> = known.iter().filter(|(known, _)| !id.is_empty() && known.starts_with(id)).collect();
    match begin[..] {
        [(_, found)] => Ok(found.clone()),
        [] => {
            let mut like: Vec<&str> = known.iter().map(|(known, _)| *known).collect();
            // Ids with the longest common beginning come first, and among equals those that are first in the log.
            like.sort_by_key(|known| {
                std::cmp::Reverse(known.bytes().zip(id.bytes()).take_while(|(a, b)| a == b).count())
            });
            let suggestions = like.into_iter().take(MAX_SUGGESTIONS).map(str::to_owned).collect();
            Err(ContextError::Unknown { what, id: id.to_owned(), suggestions })
        }
        _ => {
            let suggestions = begin.iter().take(MAX_SUGGESTIONS).map(|(known, _)| (*known).to_owned()).collect();
            Err(ContextError::Ambiguous { what, id: id.to_owned(), suggestions })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_found_by_their_beginnings() {
        let ids = ["call-1", "call-12", "other"];
        let find = |id: &str| find("call", id, ids.iter().zip(0..).map(|(id, index)| (*id, index)));
        assert_eq!(find("call-1"), Ok(0), "a complete id wins over longer ids");
        assert_eq!(find("o"), Ok(2));
        assert!(matches!(find("call"), Err(ContextError::Ambiguous { suggestions, .. }) if suggestions.len() == 2));
        let Err(ContextError::Unknown { suggestions, .. }) = find("call-9") else { panic!("there is no such call") };
        assert_eq!(suggestions, ["call-1", "call-12", "other"]);
        assert!(matches!(find(""), Err(ContextError::Unknown { .. })));
    }
}
