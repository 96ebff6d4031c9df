//! Whether the words of a sentence state something, or only plan, wish, quote or deny it.

use super::plain::{Sentence, Sort, Token};
use super::words::{
    ABSENCE, AGENTS, ATTRIBUTION, CAUSATIVE, CONDITION, EXAMPLE, FAILURE, INTENT, NEGATION, PAST, TROUBLES,
};

/// Words that begin a clause with its own statement.
const TURNS: [&str; 8] = ["but", "however", "although", "though", "while", "whereas", "yet", "because"];

/// Verbs that, at the beginning of a clause, ask somebody to do something.
const IMPERATIVES: [&str; 45] = [
    "verify",
    "check",
    "confirm",
    "validate",
    "ensure",
    "run",
    "rerun",
    "re-run",
    "see",
    "test",
    "try",
    "watch",
    "make",
    "make-sure",
    "let",
    "use",
    "add",
    "create",
    "update",
    "fix",
    "commit",
    "push",
    "open",
    "install",
    "delete",
    "remove",
    "verifying",
    "checking",
    "confirming",
    "validating",
    "running",
    "making",
    "testing",
    "adding",
    "creating",
    "updating",
    "fixing",
    "installing",
    "building",
    "waiting",
    "re-running",
    "rerunning",
    "write",
    "writing",
    "deploy",
];

/// A sentence with the places of its turns.
#[derive(Debug)]
pub struct Modality<'s> {
    /// The words.
    pub tokens: &'s [Token],
    /// For each word, whether it is part of a phrase such as "no errors", which denies trouble.
    pub absence: Vec<bool>,
    /// For each word, the number of its clause.
    pub clause: Vec<usize>,
}

impl<'s> Modality<'s> {
    /// Looks at a sentence.
    pub fn new(sentence: &'s Sentence) -> Self {
        let tokens = &sentence.tokens[..];
        let mut absence = vec![false; tokens.len()];
        for from in 0..tokens.len() {
            if let Some(to) = absence_at(tokens, from) {
                absence[from..=to].iter_mut().for_each(|flag| *flag = true);
            }
        }
        let mut clause = Vec::with_capacity(tokens.len());
        let mut number = 0;
        for token in tokens {
            let is_mark = token.sort == Sort::Punctuation && matches!(token.text.as_str(), ";" | "-" | "(" | ")");
            if is_mark || token.is_any(&TURNS) {
                number += 1;
            }
            clause.push(number);
        }
        Self { tokens, absence, clause }
    }

    /// Returns the words of the clause that a word is in, as a range.
    pub fn clause_of(&self, at: usize) -> std::ops::Range<usize> {
        let number = self.clause[at];
        let from = self.clause.partition_point(|clause| *clause < number);
        let to = self.clause.partition_point(|clause| *clause <= number);
        from..to
    }

    /// Returns whether a word says that something failed.
    pub fn is_failure(&self, at: usize) -> bool {
        let token = &self.tokens[at];
        if token.sort == Sort::Bad {
            return true;
        }
        if !token.is_any(FAILURE) || self.absence[at] {
            return false;
        }
        let next = self.tokens.get(at + 1);
        // "I fixed the lint error".
        let mended = self.tokens[at.saturating_sub(5)..at].iter().any(|it| {
            it.is_any(&[
                "fixed",
                "resolved",
                "corrected",
                "repaired",
                "addressed",
                "solved",
                "fixes",
                "cured",
                "handled",
            ])
        });
        if mended
            && token.is_any(&[
                "error",
                "errors",
                "failure",
                "failures",
                "crash",
                "regression",
                "regressions",
                "timeout",
                "timeouts",
            ])
        {
            return false;
        }
        // "a regression test", "the error message", "failure handling".
        let names_other = ["test", "tests", "suite"];
        if token.is_any(&["regression", "regressions"]) && next.is_some_and(|next| next.is_any(&names_other)) {
            return false;
        }
        let parts = [
            "handling",
            "message",
            "messages",
            "case",
            "cases",
            "path",
            "paths",
            "handler",
            "handlers",
            "type",
            "types",
            "page",
            "code",
            "codes",
            "text",
            "texts",
            "mode",
            "modes",
            "state",
            "reporting",
            "boundary",
        ];
        if token.is_any(&["error", "errors", "failure", "timeout", "crash"])
            && next.is_some_and(|next| next.is_any(&parts))
        {
            return false;
        }
        // "the failing tests pass now".
        let was = token.is_any(&["failing", "failed", "broken", "flaky", "red"]);
        let end = self.clause_of(at).end;
        let passes = self.tokens[at..end]
            .iter()
            .take(5)
            .any(|it| it.is_any(&["pass", "passes", "green", "succeed", "succeeds", "fixed"]));
        let counted = at > 0 && self.tokens[at - 1].sort == Sort::Number;
        !(was
            && passes
            && !counted
            && next.is_some_and(|next| {
                next.is_any(&["test", "tests", "spec", "specs", "build", "check", "checks", "ones", "case", "cases"])
            }))
    }

    /// Returns whether a word denies something.
    pub fn is_negation(&self, at: usize) -> bool {
        let token = &self.tokens[at];
        let denies = token.is_any(NEGATION) || (token.sort == Sort::Word && token.lower.ends_with("n't"));
        denies && !self.absence[at]
    }

    /// Returns whether what stands at `from..=to` is stated as a fact.
    pub fn is_stated(&self, from: usize, to: usize) -> bool {
        let tokens = self.tokens;
        let own = self.clause_of(to);
        // What was said before a turn counts for the clause before it. An opening bracket is no turn for it.
        let begin = own.start;
        for at in 0..tokens.len() {
            let token = &tokens[at];
            let is_before = at < from.max(to);
            if at >= begin && is_before && token.is_any(INTENT) && !self.is_confirmation(at) {
                return false;
            }
            if token.is_any(CONDITION) {
                let follows = at > to && at <= to + 2 && !self.has_comma(to, at);
                // At the beginning it governs the whole sentence, elsewhere only up to the next comma or colon.
                let leads = self.tokens[..at]
                    .iter()
                    .all(|it| it.sort != Sort::Word || it.is_any(&["but", "and", "then", "as", "only", "even", "so"]));
                let near =
                    !self.has_comma(at, to.max(at)) && !self.tokens[at..to.max(at)].iter().any(|it| it.text == ":");
                if is_before && (leads || near) || follows {
                    return false;
                }
            }
            if is_before
                && at >= begin
                && token.is_any(&["how", "what", "why"])
                && tokens.get(at + 1).is_none_or(|it| it.text != ":")
            {
                return false;
            }
            if is_example(tokens, at) {
                return false;
            }
            if own.contains(&at) && token.is_any(PAST) && !self.is_fine_past(at, to) {
                return false;
            }
            if self.is_negation(at) && own.contains(&at) && (is_before || at <= to + 3) {
                return false;
            }
            let excepts = token.is_any(&["except", "excluding", "apart", "aside", "barring"]);
            if at > to && excepts {
                return false;
            }
        }
        // "To make sure that the tests pass, I added ...".
        if tokens.first().is_some_and(|it| it.is("to")) && !self.has_comma(0, from) {
            return false;
        }
        // "to pass", "to be green"; "continue to pass" states it.
        if from > 1 && tokens[from - 1].is("to") && tokens[from - 2].is_any(&["continue", "continues", "continued"]) {
            return true;
        }
        if let Some(first) = from.max(1).checked_sub(1).map(|before| &tokens[before.min(tokens.len() - 1)])
            && from > 0
            && (first.is("to") || (first.is("be") && from > 1 && tokens[from - 2].is("to")))
        {
            return false;
        }
        let first = tokens[own.clone()].iter().position(|token| {
            token.sort == Sort::Word && !token.is_any(&["and", "then", "also", "but", "now", "first", "so", "next"])
        });
        if let Some(first) = first.map(|first| own.start + first)
            && first < to
            && (!tokens[first].is_any(&["test", "tests", "testing", "building", "check"])
                || tokens
                    .get(first + 1)
                    .is_some_and(|next| next.is_any(&["the", "it", "this", "that", "whether", "if", "all"])))
            && tokens[first].is_any(&IMPERATIVES)
            && tokens.get(first + 1).is_none_or(|next| {
                next.text != ":" && !next.is_any(&["passes", "passed", "is", "succeeded", "succeeds", "was", "pass"])
            })
        {
            return false;
        }
        true
    }

    fn has_comma(&self, from: usize, to: usize) -> bool {
        self.tokens[from..to].iter().any(|token| token.text == ",")
    }

    /// "I can confirm", "happy to report".
    fn is_confirmation(&self, at: usize) -> bool {
        self.tokens.get(at + 1).is_some_and(|next| next.is_any(&["confirm", "report", "now", "see"]))
            && self.tokens.get(at + 2).is_some_and(|next| next.is_any(&["that", "all", "the", "confirm", "report"]))
    }

    /// "had" and "used" put only some verbs into the past; "before" after a comma or in "as before" does not.
    fn is_fine_past(&self, at: usize, to: usize) -> bool {
        let token = &self.tokens[at];
        match token.lower.as_str() {
            "had" => {
                !self.tokens.get(at + 1).is_some_and(|next| next.is_any(&["passed", "been", "succeeded", "run", "all"]))
            }
            "used" => !self.tokens.get(at + 1).is_some_and(|next| next.is("to")),
            "before" => {
                at > to
                    && self
                        .tokens
                        .get(at + 1)
                        .is_some_and(|next| next.is_any(&["and", "after", "pushing", "committing"]))
                    && self.tokens.get(at + 2).is_some_and(|next| next.is("after"))
            }
            "previously" | "formerly" | "originally" | "initially" => self
                .tokens
                .get(at + 1)
                .is_some_and(|next| next.is_any(&["failing", "failed", "broken", "flaky", "red", "skipped"])),
            "start" => !at.checked_sub(1).is_some_and(|before| self.tokens[before].is("the")),
            "week" | "month" => !at.checked_sub(1).is_some_and(|before| self.tokens[before].is("last")),
            "pre-existing" | "preexisting" | "upstream" | "baseline" => at > to,
            _ => false,
        }
    }

    /// Returns to whom the sentence gives what it says before `at` or right after `to`: nobody, an agent or another
    /// source.
    pub fn attributed(&self, at: usize, to: usize) -> Attribution {
        let tokens = self.tokens;
        let says = tokens.iter().enumerate().any(|(place, token)| {
            let is_near = place < at || place <= to + 2;
            let is_first_person = place > 0 && tokens[place - 1].is_any(&["i", "we", "i've", "we've"]);
            is_near && token.is_any(ATTRIBUTION) && !is_first_person && !self.is_tool_report(place)
        });
        if !says {
            return Attribution::None;
        }
        if tokens.iter().any(|token| token.is_any(AGENTS) || token.lower.starts_with("/root/")) {
            Attribution::Agent
        } else {
            Attribution::Other
        }
    }

    /// "pytest reports", "the linter says": what a check says is no quotation.
    fn is_tool_report(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1).map(|before| &self.tokens[before]) else { return false };
        let is_verb = self.tokens[at].is_any(&["says", "reports", "reported", "said", "states", "reads"]);
        let is_check = |word: &str| super::words::CHECK_NOUNS.iter().any(|(noun, _)| *noun == word);
        is_verb
            && (is_check(&before.lower)
                || before.sort == Sort::Code
                || before.is_any(&["cargo", "npm", "typescript", "it", "run", "output", "summary", "make"]))
    }

    /// Returns whether something makes the subject that begins at `from` do something: "makes the tests pass".
    pub fn is_caused(&self, from: usize) -> bool {
        let start = self.clause_of(from).start.max(from.saturating_sub(3));
        self.tokens[start..from].iter().any(|token| token.is_any(CAUSATIVE))
    }
}

/// Returns whether a word introduces an example: "for example", "for instance", "e.g.".
pub(super) fn is_example(tokens: &[Token], at: usize) -> bool {
    let token = &tokens[at];
    let needs_for = token.is_any(&["example", "instance"]);
    token.is_any(EXAMPLE) && (!needs_for || at == 0 || tokens[at - 1].is("for"))
}

/// To whom a sentence gives what it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attribution {
    /// To nobody: it is said by the author.
    None,
    /// To another agent.
    Agent,
    /// To a document, a person or the like.
    Other,
}

/// Returns the last word of a phrase such as "no lint errors or warnings" that begins at `from`.
fn absence_at(tokens: &[Token], from: usize) -> Option<usize> {
    let first = &tokens[from];
    let is_zero = first.sort == Sort::Number && first.text == "0";
    let is_word = first.is_any(ABSENCE) && !first.is("any");
    let is_free = first.is("free") && tokens.get(from + 1).is_some_and(|next| next.is("of"));
    // "nothing to complain about".
    if first.is("nothing") && tokens.get(from + 1).is_some_and(|next| next.is("to")) {
        let verb = tokens.get(from + 2).is_some_and(|verb| {
            verb.is_any(&["complain", "report", "flag", "fix", "object", "criticise", "criticize"])
        });
        return verb.then_some(from + 2);
    }
    if !is_zero && !is_word && !is_free {
        return None;
    }
    let mut end = None;
    let mut gap = 0;
    for (at, token) in tokens.iter().enumerate().skip(from + 1) {
        if token.is_any(TROUBLES) {
            end = Some(at);
            gap = 0;
        } else if end.is_some() && token.is_any(&["tests", "test", "checks", "cases"]) && gap == 0 {
            end = Some(at);
        } else if (token.sort == Sort::Punctuation && !(end.is_some() && token.text == "/"))
            || (end.is_some()
                && !token.is_any(&["or", "and", "nor", "no", "lint", "type", "test", "compiler", "build"]))
        {
            break;
        } else {
            gap += 1;
            if gap > 3 || token.is_any(&["longer", "idea", "one", "way"]) {
                break;
            }
        }
    }
    end
}
