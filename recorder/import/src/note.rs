//! Codes for what was rebuilt, what is missing and what was not understood.

use std::collections::BTreeMap;

use trace_recorder::format::ImportNote;
use trace_recorder::format::import::Place;

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $code:literal, $message:literal;)*) => {
        /// What a reader of an imported session should know. `docs/import.md` lists the codes.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $($(#[$doc])* $variant,)*
        }

        impl Code {
            /// All codes.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Returns the stable name of the code.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $code,)*
                }
            }

            /// Returns what the code means, as a sentence for people.
            pub fn message(self) -> &'static str {
                match self {
                    $(Self::$variant => $message,)*
                }
            }
        }
    };
}

codes! {
    /// Requests were put together from the history.
    RequestRebuilt = "request-rebuilt", "Requests are rebuilt from the history; the file does not hold them.";
    /// Requests were put together from parts in the file, and their hashes fit.
    RequestVerified = "request-verified", "Requests are rebuilt from their parts in the file, and their hashes match.";
    /// The hash of a rebuilt request differs from the recorded one.
    RequestMismatch = "request-mismatch", "A rebuilt request does not have the hash that the file gives.";
    /// A part of a request is neither in the file nor can it be rebuilt.
    RequestIncomplete = "request-incomplete", "A part of the request is not in the file.";
    /// The system prompt is unknown.
    NoSystemPrompt = "no-system-prompt", "The system prompt is not in the file.";
    /// The definitions of the tools are unknown.
    NoToolDefinitions = "no-tool-definitions", "The definitions of the tools are not in the file.";
    /// Requests have no start time.
    NoRequestStart = "no-request-start", "The file does not say when requests were sent.";
    /// Requests have no end time.
    NoRequestEnd = "no-request-end", "The file does not say when answers were complete.";
    /// Tool calls have no start time of their own.
    NoToolStart = "no-tool-start", "The file does not say when tools were started.";
    /// Tool calls have no end time of their own.
    NoToolEnd = "no-tool-end", "The file does not say when tools ended.";
    /// Failed attempts that were repeated left no trace.
    NoFailedAttempts = "no-failed-attempts", "Requests that failed and were repeated are not in the file.";
    /// The file has no ids of turns.
    TurnIdMade = "turn-id-made", "The file has no ids of turns; they are made from the number of the turn.";
    /// The end of a turn was concluded.
    TurnEndInferred = "turn-end-inferred", "The file does not mark the end of a turn; it is taken from the last record of the turn.";
    /// The end of a thread was concluded.
    SessionEndInferred = "session-end-inferred", "The file does not mark the end of the thread; none of its turns is open.";
    /// Nothing says how a turn ended.
    TurnEndUnknown = "turn-end-unknown", "Nothing in the file says how the turn ended.";
    /// A call whose outcome is unknown.
    OutcomeUnknown = "outcome-unknown", "Nothing in the file says how the call ended.";
    /// Token usage is unknown.
    NoUsage = "no-usage", "The token usage of a model call is not in the file.";
    /// The model is unknown.
    NoModel = "no-model", "The file does not name the model.";
    /// Ids of calls were made.
    CallIdMade = "call-id-made", "The file has no ids of tool calls; they are made from their places.";
    /// Two calls have the same id.
    CallIdRepeated = "call-id-repeated", "Several tool calls have the same id; the later ones have made ids, or are not linked with their items.";
    /// Ids of items were made.
    ItemIdMade = "item-id-made", "The file has no ids of items; they are made from their places.";
    /// Ids of threads were made.
    ThreadIdMade = "thread-id-made", "The agent's ids of threads are no UUIDs; UUIDs are made from them.";
    /// Records of a branch that the session left.
    DeadBranch = "dead-branch", "Records of a branch that the session left are shown, but no later request has them.";
    /// Records that repeat those of another session.
    CopiedRecord = "copied-record", "Records are copies of another thread's history; they are not counted again.";
    /// A child's file is missing.
    ChildMissing = "child-missing", "The file of a child is missing; only what its parent saw is known.";
    /// A child that no call of the parent leads to.
    ChildUnlinked = "child-unlinked", "No call of the parent leads to this child.";
    /// A child was matched with the call that spawned it by the text of its task.
    ChildByText = "child-by-text", "A child is matched with the call that spawned it by the text of its task.";
    /// The earlier part of a session is in another file that is missing.
    HistoryMissing = "history-missing", "An earlier part of the thread is in a file that is missing.";
    /// The answer of a child is shown as a message, too.
    AnswerAsMessage = "answer-as-message", "A parent got the answer of a child as the output of a call; it is also shown as a message between them.";
    /// A record of a type that the reader does not know.
    UnknownRecord = "unknown-record", "Records of unknown types are kept in the file, but have no place in the graph.";
    /// A text with half a surrogate pair.
    LoneSurrogate = "lone-surrogate", "A text has half of a surrogate pair, which is no character; U+FFFD takes its place.";
    /// A line that is not a record.
    DamagedLine = "damaged-line", "A line is damaged and left out.";
    /// A database that is damaged.
    DamagedStore = "damaged-store", "The database is damaged, so that messages or parts of them may be missing.";
    /// A line that is longer than the limit.
    LongLine = "long-line", "A line is longer than the limit and left out.";
    /// A file that is longer than the limit.
    LongFile = "long-file", "A file is longer than the limit, and the lines beyond it are left out.";
    /// Two events that must have been in another order by their times.
    ClockDisorder = "clock-disorder", "The times of threads contradict the order of cause and effect; the order is kept.";
}

/// The notes of one import.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    counts: BTreeMap<Code, (u64, Option<Place>)>,
    /// How often records of each unknown type came.
    kinds: BTreeMap<String, u64>,
}

/// Unknown types that a note names. A damaged file may have any number of them.
const MAX_KINDS: usize = 16;

/// Longest name of an unknown type that a note shows.
const MAX_KIND_CHARS: usize = 48;

impl Notes {
    pub(crate) fn add(&mut self, code: Code, place: Option<Place>) {
        let (count, first) = self.counts.entry(code).or_insert((0, place));
        *count += 1;
        if let (Some(earlier), Some(place)) = (*first, place) {
            *first = Some(earlier.min(place));
        }
    }

    /// Adds a record of a type that the reader does not know.
    pub(crate) fn add_unknown(&mut self, kind: &str, place: Place) {
        self.add(Code::UnknownRecord, Some(place));
        if let Some(count) = self.kinds.get_mut(kind) {
            *count += 1;
        } else if self.kinds.len() < MAX_KINDS {
            self.kinds.insert(kind.to_owned(), 1);
        }
    }

    /// Returns the sentence of a code. The one of unknown types names them.
    fn message(&self, code: Code) -> String {
        let message = code.message();
        if code != Code::UnknownRecord || self.kinds.is_empty() {
            return message.to_owned();
        }
        let shown = |(kind, count): (&String, &u64)| {
            let name: String = kind.chars().take(MAX_KIND_CHARS).collect();
            if name.is_empty() { format!("none ({count})") } else { format!("{name:?} ({count})") }
        };
        let mut kinds: Vec<_> = self.kinds.iter().map(shown).collect();
        let named: u64 = self.kinds.values().sum();
        let all = self.counts.get(&code).map_or(named, |(count, _)| *count);
        if all > named {
            kinds.push(format!("others ({})", all - named));
        }
        format!("{} The types: {}.", message, kinds.join(", "))
    }

    pub(crate) fn counts(&self) -> impl Iterator<Item = (Code, u64)> + '_ {
        self.counts.iter().map(|(code, (count, _))| (*code, *count))
    }

    pub(crate) fn into_notes(self) -> Vec<ImportNote> {
        let note = |(code, (count, first)): (&Code, &(u64, Option<Place>))| ImportNote {
            code: code.as_str().to_owned(),
            message: self.message(*code),
            count: *count,
            first: *first,
        };
        self.counts.iter().map(note).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_counts_and_names_the_first_place() {
        let mut notes = Notes::default();
        let place = |line| Some(Place { source: 0, line });
        notes.add(Code::DamagedLine, place(9));
        notes.add(Code::DamagedLine, place(4));
        notes.add(Code::NoSystemPrompt, None);
        let notes = notes.into_notes();
        let shown: Vec<_> = notes.iter().map(|note| (note.code.as_str(), note.count, note.first)).collect();
        assert_eq!(shown, [("no-system-prompt", 1, None), ("damaged-line", 2, place(4))]);
    }

    #[test]
    fn unknown_types_are_named_up_to_a_limit() {
        let mut notes = Notes::default();
        let place = Place { source: 0, line: 1 };
        notes.add_unknown("frame", place);
        notes.add_unknown("frame", place);
        let shown = |notes: Notes| notes.into_notes().pop().expect("a note");
        let note = shown(notes);
        assert_eq!(note.count, 2);
        assert!(note.message.ends_with("The types: \"frame\" (2)."), "{}", note.message);
        let mut notes = Notes::default();
        notes.add_unknown("", place);
        assert!(shown(notes).message.ends_with("The types: none (1)."));
        let mut notes = Notes::default();
        (0..MAX_KINDS + 5).for_each(|number| notes.add_unknown(&format!("{number:02}{}", "x".repeat(99)), place));
        let note = shown(notes);
        assert!(note.message.ends_with(", others (5)."), "{}", note.message);
        assert!(note.message.len() < 1500, "{}", note.message.len());
    }

    #[test]
    fn codes_are_unique() {
        let mut codes: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), Code::ALL.len());
    }
}
