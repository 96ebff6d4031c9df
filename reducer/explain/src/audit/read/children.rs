//! Finds statements that other agents, or the work that they were given, are done.

use super::claims::ChildClaim;
use super::modality::Modality;
use super::plain::{Sentence, Sort};
use super::words::AGENTS;

/// Words that say that work is done.
const DONE: &[&str] = &[
    "done",
    "finished",
    "completed",
    "complete",
    "succeeded",
    "ready",
    "successful",
    "successfully",
    "fixed",
    "implemented",
    "delivered",
    "passed",
];

/// Participles that do not say that work is done.
const NOT_DONE: &[&str] = &[
    "ended",
    "stopped",
    "started",
    "spawned",
    "launched",
    "told",
    "asked",
    "closed",
    "waited",
    "delegated",
    "assigned",
    "based",
    "needed",
    "expected",
    "used",
    "called",
    "named",
    "failed",
    "interrupted",
    "aborted",
    "cancelled",
    "canceled",
    "related",
    "supposed",
    "required",
    "planned",
    "timed",
    "limited",
    "handed",
    "killed",
    "blocked",
    "skipped",
    "missed",
    "need",
    "red",
    "shed",
    "bed",
    "feed",
    "speed",
    "seed",
    "indeed",
    "embed",
];

/// Returns the claim of a sentence about the work of others, if it may be one.
pub fn child_of(sentence: &Sentence) -> Option<ChildClaim> {
    let modality = Modality::new(sentence);
    let tokens = modality.tokens;
    if tokens.iter().enumerate().any(|(at, _)| modality.is_failure(at) || modality.is_negation(at)) {
        return None;
    }
    let names_agents = tokens.iter().any(|it| it.is_any(AGENTS) || it.lower.starts_with("/root/"));
    let done = tokens.iter().enumerate().position(|(at, it)| {
        let participle =
            it.sort == Sort::Word && it.lower.len() > 4 && it.lower.ends_with("ed") && !it.is_any(NOT_DONE);
        let auxiliary = tokens[at.saturating_sub(3)..at]
            .iter()
            .any(|before| before.is_any(&["is", "are", "was", "were", "been", "has", "have", "all"]));
        (it.is_any(DONE)
            || it.is_any(&["written", "built", "rewritten", "sent"])
            || (participle && (auxiliary || names_agents)))
            && modality.is_stated(at, at)
            && !it.is_any(NOT_DONE)
    })?;
    if tokens[..done].iter().any(|it| it.is_any(&["i", "i've"])) && !names_agents {
        return None;
    }
    let is_about_all =
        names_agents && tokens.iter().any(|it| it.is_any(&["all", "both", "every", "everything", "each"]));
    let words: Vec<String> = tokens
        .iter()
        .filter(|it| matches!(it.sort, Sort::Word | Sort::Code) && it.lower.chars().count() > 2)
        .map(|it| it.lower.clone())
        .collect();
    Some(ChildClaim { words, names_agents, is_about_all })
}

/// Returns whether an answer says that the work did not succeed.
pub fn tells_failure(text: &str) -> bool {
    let lower = text.to_lowercase().replace('’', "'");
    const WORDS: [&str; 40] = [
        "could not",
        "couldn't",
        "cannot",
        "can't",
        "unable to",
        "failed",
        "fails",
        "failing",
        "did not succeed",
        "didn't",
        "not able to",
        "gave up",
        "give up",
        "incomplete",
        "not finished",
        "unfinished",
        "not done",
        "interrupted",
        "aborted",
        "cancelled",
        "canceled",
        "timed out",
        "no success",
        "without success",
        "blocked",
        "not complete",
        "partially",
        "only part",
        "not all",
        "stopped before",
        "crashed",
        "ran out",
        "was cut off",
        "did not finish",
        "never finished",
        "still running",
        "not yet",
        "an error",
        "ended with",
        "did not",
    ];
    WORDS.iter().any(|word| lower.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::read::plain::sentences;

    fn claims(text: &str) -> Option<ChildClaim> {
        sentences(text).iter().find_map(child_of)
    }

    #[test]
    fn work_of_others_is_found() {
        assert!(claims("All pictures have been resized by the agent.").is_some_and(|claim| claim.names_agents));
        assert!(claims("Both agents finished.").is_some_and(|claim| claim.is_about_all));
        assert!(claims("All pictures are resized.").is_some_and(|claim| !claim.names_agents));
    }

    #[test]
    fn other_sentences_are_none() {
        for text in [
            "The agent that I started has ended; what it wrote stands above.",
            "The agent could not resize them.",
            "The agent failed.",
            "The agents should be done soon.",
            "I resized the pictures.",
        ] {
            assert_eq!(claims(text), None, "{text}");
        }
        assert!(tells_failure("I could not resize any picture.") && !tells_failure("All pictures are resized."));
    }
}
