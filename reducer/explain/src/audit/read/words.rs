//! The words of claims, as tables. Another language is another set of tables.

use super::runners::CheckKind;
use CheckKind::{Build, Format, Lint, Test, Types};

/// Words that name checks, with their kind. `None` stands for any check.
pub const CHECK_NOUNS: &[(&str, Option<CheckKind>)] = &[
    ("test", Some(Test)),
    ("tests", Some(Test)),
    ("testsuite", Some(Test)),
    ("testcases", Some(Test)),
    ("suite", Some(Test)),
    ("suites", Some(Test)),
    ("spec", Some(Test)),
    ("specs", Some(Test)),
    ("unittests", Some(Test)),
    ("pytest", Some(Test)),
    ("jest", Some(Test)),
    ("vitest", Some(Test)),
    ("mocha", Some(Test)),
    ("rspec", Some(Test)),
    ("phpunit", Some(Test)),
    ("ctest", Some(Test)),
    ("playwright", Some(Test)),
    ("nextest", Some(Test)),
    ("tox", Some(Test)),
    ("build", Some(Build)),
    ("compilation", Some(Build)),
    ("compile", Some(Build)),
    ("webpack", Some(Build)),
    ("type-check", Some(Types)),
    ("typecheck", Some(Types)),
    ("type-checker", Some(Types)),
    ("typechecker", Some(Types)),
    ("type-checking", Some(Types)),
    ("typechecking", Some(Types)),
    ("types", Some(Types)),
    ("tsc", Some(Types)),
    ("mypy", Some(Types)),
    ("pyright", Some(Types)),
    ("lint", Some(Lint)),
    ("linter", Some(Lint)),
    ("linters", Some(Lint)),
    ("linting", Some(Lint)),
    ("eslint", Some(Lint)),
    ("clippy", Some(Lint)),
    ("ruff", Some(Lint)),
    ("flake8", Some(Lint)),
    ("pylint", Some(Lint)),
    ("golangci-lint", Some(Lint)),
    ("rubocop", Some(Lint)),
    ("shellcheck", Some(Lint)),
    ("biome", Some(Lint)),
    ("formatting", Some(Format)),
    ("prettier", Some(Format)),
    ("rustfmt", Some(Format)),
    ("checks", None),
];

/// Verbs that are a check and its success in one word.
pub const CHECK_VERBS: &[(&str, CheckKind)] = &[
    ("compiles", Build),
    ("compiled", Build),
    ("builds", Build),
    ("built", Build),
    ("type-checks", Types),
    ("typechecks", Types),
    ("type-checked", Types),
    ("lints", Lint),
];

/// Words that say that a check succeeded.
pub const SUCCESS: &[&str] = &[
    "pass", "passes", "passed", "passing", "green", "clean", "cleanly", "succeed", "succeeds", "succeeded", "succeeding", "successful",
    "successfully", "fine", "ok", "okay", "happy", "hold", "holds", "good", "healthy", "error-free", "works", "work", "complete", "completes",
    "completed", "flawlessly", "smoothly", "satisfied",
];

/// Words of success that need a check right before them, since they say other things too.
pub const WEAK_SUCCESS: &[&str] = &["good", "works", "work", "complete", "completes", "completed", "hold", "holds", "healthy", "satisfied", "fine"];

/// Words that say that something failed.
pub const FAILURE: &[&str] = &[
    "fail", "fails", "failed", "failing", "failure", "failures", "broken", "breaks", "broke", "red", "error", "errors", "crash", "crashes", "crashed",
    "hangs", "hung", "timeout", "timeouts", "regression", "regressions", "complains", "complain", "complained", "unresolved", "flaky", "unhappy",
];

/// Words that say that something is not so.
pub const NEGATION: &[&str] = &[
    "not", "never", "cannot", "nor", "neither", "none", "nothing", "nobody", "without", "unable", "except", "excluding", "apart", "aside", "besides", "barring", "hardly", "barely",
    "no", "minus", "unverified", "untested", "skipping", "instead", "unless",
];

/// Words before what is absent: "no errors", "without failures", "0 issues".
pub const ABSENCE: &[&str] = &["no", "zero", "0", "without", "any"];

/// What may be absent.
pub const TROUBLES: &[&str] = &[
    "failure", "failures", "error", "errors", "issue", "issues", "warning", "warnings", "problem", "problems", "offense", "offenses", "offences",
    "violation", "violations", "regressions", "regression", "failed", "failing", "complaints", "complaint", "diagnostics", "findings",
];

/// Words that name the check whose trouble is absent: "no lint errors".
pub const TROUBLE_KINDS: &[(&str, CheckKind)] = &[
    ("lint", Lint), ("linter", Lint), ("linting", Lint), ("eslint", Lint), ("clippy", Lint), ("ruff", Lint), ("type", Types), ("typescript", Types), ("ts", Types),
    ("mypy", Types), ("tsc", Types), ("typing", Types), ("compile", Build), ("compiler", Build), ("compilation", Build), ("build", Build), ("test", Test),
    ("formatting", Format),
];

/// Words that make everything after them in a sentence a plan, a wish or a guess.
pub const INTENT: &[&str] = &[
    "will", "i'll", "we'll", "it'll", "they'll", "should", "would", "could", "may", "might", "must", "shall", "can", "let", "let's", "lets", "going", "gonna", "plan",
    "planning", "want", "wants", "need", "needs", "hope", "hopefully", "expect", "expected", "expects", "expecting", "likely", "probably", "presumably", "perhaps", "maybe",
    "please", "intend", "aim", "try", "trying", "ought", "supposed", "believe", "think", "assume", "suspect", "ready", "waiting", "wait", "pending", "todo",
    "goal", "target", "recommend", "suggest", "consider", "advise", "ensure", "ensures", "ensuring", "guarantee", "guarantees", "i'd", "you'd", "we'd", "you'll", "i'm", "we're",
    "requires", "require", "required", "requirement", "criteria", "criterion", "proposal", "propose", "proposed", "next", "remember",
];

/// Words that make the whole sentence depend on something.
pub const CONDITION: &[&str] = &[
    "if", "once", "until", "assuming", "provided", "whether", "suppose", "supposing", "imagine", "whenever", "when", "otherwise", "in-case", "unless", "lest", "till",
];

/// Words that put something into the past.
pub const PAST: &[&str] = &[
    "before", "previously", "earlier", "initially", "originally", "formerly", "yesterday", "prior", "beforehand", "used", "had", "ago", "pre-existing", "preexisting", "baseline",
    "upstream", "historically",
];

/// Words that give a statement to somebody else.
pub const ATTRIBUTION: &[&str] = &[
    "says", "said", "say", "states", "stated", "claims", "claimed", "claim", "according", "mentions", "mentioned", "documents", "reads", "reported", "reports", "told",
    "tells", "describes", "described", "asserts", "quotes", "quoted", "saying", "titled", "named", "called", "wrote", "readme", "docs", "documentation",
    "commit-message", "comment", "comments",
];

/// Words for agents.
pub const AGENTS: &[&str] = &[
    "agent", "agents", "subagent", "subagents", "sub-agent", "sub-agents", "child", "children", "worker", "workers", "helper", "helpers", "teammate", "delegate", "explorer",
];

/// Words that make something happen, so that the rest is no statement: "makes the test pass".
pub const CAUSATIVE: &[&str] = &[
    "make", "makes", "made", "making", "get", "gets", "got", "getting", "help", "helps", "force", "forces", "forced", "have", "keep", "keeps", "keeping", "lets", "letting", "allow",
    "allows", "cause", "causes", "see", "turn", "turns", "turning", "watch", "bring",
];

/// Words that introduce an example.
pub const EXAMPLE: &[&str] = &["e.g", "example", "instance", "hypothetically", "hypothetical", "i.e"];

/// Words that bound a claim to some of what it names.
pub const BOUNDS: &[&str] = &[
    "most", "some", "other", "others", "both", "remaining", "rest", "several", "many", "few", "half", "only", "just", "new", "relevant", "related", "affected", "targeted", "specific",
    "focused", "corresponding", "these", "those", "this", "existing", "first", "last", "second", "previous", "added", "updated", "individual", "single", "following", "respective", "certain", "old",
    "nearly", "almost", "basic", "main", "core", "majority", "original", "selected", "regression",
];

/// Words before the name of a check that say nothing about its scope.
pub const PLAIN: &[&str] = &[
    "all", "the", "a", "an", "our", "my", "your", "its", "their", "whole", "full", "entire", "complete", "of", "and", "passing", "green", "clean", "successful", "every", "each", "any",
    "project", "project's", "automated", "whole", "also", "now", "still", "with", "in", "on", "by", "to", "for", "ran", "run", "running", "executed", "re-ran", "reran", "rerun", "then", "again", "no",
    "local", "final", "repo", "repo's", "repository", "repository's", "package's", "workspace", "resulting", "is", "are", "have", "has", "been", "that", "so", "after", "as", "both", "production",
    "release", "fixed", "fresh", "verified", "confirmed", "everything", "result", "results", "status", "verification", "validation", "check", "checks", "suite", "case", "cases", "test", "tests", "i", "we", "it", "code", "output",
];

/// Kinds of tests, which are scopes of their own.
pub const TEST_SCOPES: &[&str] = &[
    "unit", "integration", "e2e", "end-to-end", "acceptance", "smoke", "functional", "system", "ui", "api", "snapshot", "contract", "property", "performance", "doc", "doctests", "browser", "frontend", "backend",
];

/// Numbers as words.
pub const NUMBERS: &[(&str, u64)] = &[
    ("zero", 0), ("one", 1), ("two", 2), ("three", 3), ("four", 4), ("five", 5), ("six", 6), ("seven", 7), ("eight", 8), ("nine", 9), ("ten", 10),
    ("eleven", 11), ("twelve", 12),
];

/// Words that make a number a round one.
pub const ROUGHLY: &[&str] = &[
    "about", "around", "over", "more", "least", "nearly", "almost", "roughly", "approximately", "approx", "circa", "ca", "up", "under", "below", "above", "fewer", "less", "another", "additional", "extra",
    "new", "other", "remaining", "first", "last", "dozen", "some", "than", "most", "further",
];

/// Returns whether a text seems to be in English: it has enough of the commonest words, or is too short to tell.
pub fn is_english(text: &str) -> bool {
    const COMMON: [&str; 44] = [
        "the", "and", "is", "are", "a", "to", "of", "in", "it", "for", "with", "that", "was", "on", "this", "all", "now", "pass", "tests", "test", "i", "no", "have", "has", "not", "done",
        "passed", "passes", "added", "fixed", "ran", "build", "be", "by", "from", "at", "as", "which", "file", "were", "updated", "run", "ok", "so",
    ];
    const FOREIGN: [&str; 60] = [
        "der", "die", "das", "und", "ist", "sind", "nicht", "alle", "wurde", "mit", "ein", "eine", "auf", "für", "le", "la", "les", "et", "est", "sont", "tous", "une", "des", "dans", "avec", "pas",
        "el", "los", "las", "que", "una", "todas", "todos", "pasan", "con", "por", "para", "se", "os", "são", "não", "um", "uma", "do", "da", "il", "lo", "gli", "che", "sono", "tutti", "het", "een",
        "zijn", "och", "är", "alla", "wszystkie", "testy", "passent",
    ];
    let (mut english, mut foreign, mut letters, mut beyond) = (0_usize, 0_usize, 0_usize, 0_usize);
    for word in text.split_whitespace().take(400) {
        let word = word.trim_matches(|it: char| !it.is_alphanumeric()).to_lowercase();
        english += usize::from(COMMON.contains(&word.as_str()));
        foreign += usize::from(FOREIGN.contains(&word.as_str()));
        for character in word.chars().filter(|it| it.is_alphabetic()) {
            letters += 1;
            beyond += usize::from(!character.is_ascii());
        }
    }
    // Scripts other than the Latin one.
    if beyond * 3 > letters {
        return false;
    }
    foreign <= english || foreign < 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_told_apart() {
        for text in ["All tests pass.", "Done.", "The option is renamed. I ran the tests, they are all green.", "cargo test passes"] {
            assert!(is_english(text), "{text}");
        }
        for text in ["Alle Tests laufen durch und der Build ist grün.", "Tous les tests passent.", "所有测试都通过了", "Todas las pruebas pasan con los cambios.", "Все тесты проходят"] {
            assert!(!is_english(text), "{text}");
        }
    }
}
