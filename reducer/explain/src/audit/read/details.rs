//! Finds literals that a sentence gives as found, read or measured.

use std::sync::LazyLock;

use regex::Regex;

use super::actions::is_file_name;
use super::claims::{DetailClaim, Literal};
use super::modality::{Modality, is_example};
use super::plain::{Sentence, Sort, Token};
use super::words::{CONDITION, INTENT};

/// Most plain numbers of a sentence that are looked at.
const MAX_NUMBERS: usize = 8;

/// Shortest quotation that is looked at, in characters.
const MIN_QUOTATION_CHARS: usize = 8;

/// Verbs by which a source is quoted.
const SOURCE_VERBS: &[&str] = &[
    "says",
    "said",
    "states",
    "stated",
    "reads",
    "shows",
    "showed",
    "reports",
    "reported",
    "contains",
    "prints",
    "printed",
    "logs",
    "logged",
    "returned",
    "returns",
    "outputs",
    "fails",
    "failed",
    "threw",
    "throws",
    "raised",
    "raises",
    "gives",
    "gave",
    "mentions",
    "mentioned",
    "describes",
    "complains",
    "complained",
    "has",
    "documents",
    "answers",
    "answered",
    "responded",
    "responds",
    "according",
];

/// Words of a sentence about what the author wrote or proposes.
const OWN_WORDS: &[&str] = &[
    "added",
    "changed",
    "renamed",
    "set",
    "replaced",
    "updated",
    "wrote",
    "created",
    "instead",
    "rename",
    "suggest",
    "propose",
    "now",
    "labelled",
    "labeled",
    "use",
    "enter",
    "search",
    "e.g",
    "write",
    "new",
    "bumped",
    "raised-to",
    "corrected",
    "committed",
    "fixed",
];

static PLACE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^([\w@./\\-]+\.[A-Za-z]\w{0,8}):(\d+)(?:[-–:]\d+)?$").expect("a pattern"));
static VERSION: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^v?\d+\.\d+(?:\.\d+)*(?:-[\w.]+)?$").expect("a pattern"));
static UUID: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$").expect("a pattern"));
static ADDRESS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?$").expect("a pattern"));
static TIME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?$").expect("a pattern"));
static STAMP: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?$").expect("a pattern"));
static INSTANCE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^[a-z]{1,5}-[0-9a-f]{8,}$").expect("a pattern"));
static ERROR_CODE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:E[A-Z]{4,}|E\d{3,4}|TS\d{4,5}|ORA-\d+|SC\d{4}|0x[0-9A-Fa-f]{8}|ERR_[A-Z0-9_]+|[A-Z]{2,}(?:[_-][A-Z0-9]+)*[_-]\d{2,}|SIG[A-Z]{3,})$")
        .expect("a pattern")
});

/// Returns the literals of a sentence.
pub fn details_of(sentence: &Sentence, text: &str) -> Vec<DetailClaim> {
    let modality = Modality::new(sentence);
    let tokens = modality.tokens;
    let stated = !(0..tokens.len()).any(|at| is_example(tokens, at))
        && !tokens.iter().any(|it| {
            it.is_any(&[
                "would",
                "should",
                "could",
                "might",
                "may",
                "propose",
                "suggest",
                "recommend",
                "will",
                "let's",
                "please",
                "try",
                "unless",
            ])
        })
        && !tokens.iter().any(|it| it.is_any(&["if"]));
    let own = tokens.iter().any(|it| it.is_any(OWN_WORDS));
    let source = source_of(tokens);
    let reports = tokens.iter().any(|it| {
        it.is_any(SOURCE_VERBS)
            || it.is_any(&[
                "found", "error", "is", "was", "are", "were", "exited", "code", "status", "saw", "at", "received",
                "got", "hit", "uses", "runs", "stopped", "started",
            ])
    });
    let mut found: Vec<DetailClaim> = Vec::new();
    let mut numbers = 0;
    let has = |words: &[&str]| tokens.iter().any(|it| it.is_any(words));
    let add = |found: &mut Vec<DetailClaim>, sort: Literal, literal: &str, told: bool| {
        if !found.iter().any(|known| known.literal == literal) {
            found.push(DetailClaim {
                sort,
                literal: literal.to_owned(),
                source: source.clone(),
                is_told_as_found: told && stated,
            });
        }
    };
    for (at, token) in tokens.iter().enumerate() {
        match token.sort {
            Sort::Quote | Sort::Code => {
                let is_code = token.sort == Sort::Code;
                if let Some((sort, told)) = shaped(token, tokens, at, &has).filter(|_| is_code) {
                    add(&mut found, sort, &token.text, told && !own && (reports || sort != Literal::Version));
                    continue;
                }
                let words = token.text.split_whitespace().count();
                let long = token.text.chars().count() >= MIN_QUOTATION_CHARS && words >= 2;
                if !long {
                    continue;
                }
                let quoted = quotes(tokens, at, is_code);
                if quoted {
                    let is_word_for_word = text.get(token.range.clone()).is_some();
                    let from_user = has(&["you", "your", "user", "user's", "task", "issue"]);
                    let command = is_code
                        && super::shell::commands(&token.text)
                            .iter()
                            .any(|it| super::runners::runs(it) != super::runners::Runs::Other);
                    add(
                        &mut found,
                        Literal::Quotation,
                        &token.text,
                        is_word_for_word && !own && !from_user && !command && !modality.is_negation_near(at),
                    );
                }
            }
            Sort::Word | Sort::Number => {
                if let Some((sort, told)) = shaped(token, tokens, at, &has) {
                    add(&mut found, sort, &token.text, told && !own && (reports || sort != Literal::Version));
                } else if token.sort == Sort::Number && numbers < MAX_NUMBERS && is_counted_number(token) {
                    numbers += 1;
                    add(&mut found, Literal::Number, &token.text, false);
                }
            }
            Sort::Good | Sort::Bad | Sort::Punctuation => {}
        }
    }
    found
}

impl Modality<'_> {
    /// Returns whether something near a word denies it.
    fn is_negation_near(&self, at: usize) -> bool {
        (at.saturating_sub(6)..at).any(|place| self.is_negation(place))
            || self.tokens[..at].iter().any(|it| {
                it.is_any(CONDITION)
                    || (it.is_any(INTENT) && !it.is_any(&["can", "expected", "required", "requires", "next", "may"]))
            })
    }
}

fn is_counted_number(token: &Token) -> bool {
    let digits = token.text.trim_end_matches('%');
    digits.replace(',', "").parse::<f64>().is_ok_and(|value| value >= 2.0)
}

/// Returns whether a quotation is given to a source.
fn quotes(tokens: &[Token], at: usize, is_code: bool) -> bool {
    let from = at.saturating_sub(if is_code { 3 } else { 7 });
    let before = &tokens[from..at];
    let verb = before.iter().rposition(|it| it.is_any(SOURCE_VERBS));
    let Some(verb) = verb else {
        // `"..." (worker.log)`, `the error is "..."`.
        let is_error = !is_code
            && before.iter().any(|it| it.is_any(&["error", "warning"]))
            && before.last().is_some_and(|it| it.is_any(&["is", "was"]) || it.text == ":");
        return is_error;
    };
    let verb_token = &before[verb];
    // Code after "returns" describes a program; only what a program printed is quoted.
    let text = &tokens[at].text;
    let prints = [
        "says", "said", "reads", "prints", "printed", "logs", "logged", "outputs", "shows", "showed", "reports",
        "reported", "has", "contains",
    ];
    if is_code && (!verb_token.is_any(&prints) || text.contains(['{', '(', '%', '<', '$'])) {
        return false;
    }
    // "settings.toml has `max = 12`".
    if is_code && verb_token.is("has") && verb > 0 && is_file_name(&before[verb - 1].text) {
        return true;
    }
    let needs_with = verb_token.is_any(&["fails", "failed", "complains", "complained", "has"]);
    if needs_with && !before[verb..].iter().any(|it| it.is_any(&["with", "line", "entry"]) || it.text == ":") {
        return false;
    }
    if verb_token.is("according") {
        return true;
    }
    // Between the verb and the quotation, only words that belong to it.
    let between = &before[verb + 1..];
    between.iter().all(|it| {
        it.is_any(&[
            "that",
            "the",
            "a",
            "an",
            "error",
            "with",
            "message",
            "line",
            "in",
            "there",
            "which",
            "entry",
            "of",
            "status",
            "warning",
            "following",
            "only",
            "to",
            "text",
        ]) || it.text == ":"
            || it.text == ","
    })
}

fn source_of(tokens: &[Token]) -> Option<String> {
    let names_file = |it: &&Token| {
        matches!(it.sort, Sort::Word | Sort::Code)
            && (is_file_name(&it.text) || (it.text.contains('/') && !it.text.contains(' ')))
    };
    if let Some(file) = tokens.iter().find(names_file) {
        return Some(file.text.clone());
    }
    tokens.iter().find(|it| it.sort == Sort::Code && it.text.len() < 80).map(|it| it.text.clone())
}

/// Returns the sort of a literal with a shape of its own, and whether it is told as found.
fn shaped(token: &Token, tokens: &[Token], at: usize, has: &dyn Fn(&[&str]) -> bool) -> Option<(Literal, bool)> {
    let text = token.text.as_str();
    if text.len() > 100 {
        return None;
    }
    let before = |count: usize| &tokens[at.saturating_sub(count)..at];
    if let Some(captures) = PLACE.captures(text) {
        return is_file_name(&captures[1]).then_some((Literal::Place, true));
    }
    if UUID.is_match(&token.lower) {
        return Some((Literal::Id, true));
    }
    if ADDRESS.is_match(text) {
        let general = [
            "127.",
            "0.0.0.0",
            "192.0.2.",
            "198.51.100.",
            "203.0.113.",
            "255.",
            "10.0.0.",
            "192.168.",
            "8.8.8.8",
            "1.1.1.1",
            "169.254.",
        ];
        return Some((Literal::Address, !general.iter().any(|start| text.starts_with(start))));
    }
    let is_hex = (7..=40).contains(&text.len()) && text.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'));
    if is_hex && text.bytes().any(|it| it.is_ascii_digit()) && text.bytes().any(|it| it.is_ascii_alphabetic()) {
        return Some((
            Literal::Commit,
            has(&[
                "commit",
                "commits",
                "sha",
                "revision",
                "head",
                "hash",
                "introduced",
                "merge",
                "bisect",
                "points",
                "blame",
            ]),
        ));
    }
    if let Some(number) = text.strip_prefix('#') {
        let is_number = !number.is_empty() && number.len() < 8 && number.bytes().all(|it| it.is_ascii_digit());
        let told = has(&["issue", "issues", "pr", "pull", "bug", "ticket"]);
        return is_number.then_some((Literal::Issue, told));
    }
    if VERSION.is_match(text) {
        let dots = text.matches('.').count();
        let named = before(2).iter().any(|it| it.is_any(&["version", "versions", "v"])) || text.starts_with('v');
        if dots >= 2 || named {
            return Some((
                Literal::Version,
                has(&[
                    "is",
                    "uses",
                    "has",
                    "installed",
                    "runs",
                    "reports",
                    "shows",
                    "found",
                    "was",
                    "at",
                    "pins",
                    "locked",
                    "requires",
                    "on",
                ]),
            ));
        }
        return None;
    }
    if STAMP.is_match(text) {
        return Some((Literal::Time, true));
    }
    if INSTANCE.is_match(text) && text.bytes().any(|it| it.is_ascii_digit()) {
        return Some((Literal::Id, true));
    }
    if TIME.is_match(text) && text.contains(':') {
        let told = before(2).iter().any(|it| it.is_any(&["at", "since", "from", "until", "between", "and", "to"]));
        return Some((Literal::Time, told));
    }
    // Names of standards and algorithms are general knowledge.
    let standards = ["EIP", "ERC", "BIP", "RFC", "ISO", "PEP", "IEEE", "UTF", "SHA", "AES", "RSA", "JSR", "ES", "HTTP"];
    let is_standard = text.split_once(['-', '_']).is_some_and(|(body, _)| standards.contains(&body));
    if !is_standard && ERROR_CODE.is_match(text) {
        let told = has(&[
            "returned", "returns", "fails", "failed", "got", "shows", "logs", "exited", "log", "reports", "reported",
            "logged", "received", "stopped", "crashed", "killed", "answers", "answered", "code", "with",
        ]);
        return Some((Literal::ErrorCode, told));
    }
    if token.sort == Sort::Number
        && (3..=3).contains(&text.len())
        && before(2).iter().any(|it| it.is_any(&["http", "status", "code"]))
    {
        let told = has(&[
            "returned",
            "returns",
            "fails",
            "failed",
            "got",
            "exited",
            "answers",
            "answered",
            "responds",
            "responded",
            "logged",
        ]);
        return Some((Literal::ErrorCode, told));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::read::plain::sentences;

    fn details(text: &str) -> Vec<(Literal, String, bool)> {
        sentences(text)
            .iter()
            .flat_map(|sentence| details_of(sentence, text))
            .map(|detail| (detail.sort, detail.literal, detail.is_told_as_found))
            .collect()
    }

    #[test]
    fn literals_are_found() {
        let one = |sort, literal: &str| vec![(sort, literal.to_owned(), true)];
        assert_eq!(
            details("worker.log says \"heap limit of 512 MB exceeded\"."),
            one(Literal::Quotation, "heap limit of 512 MB exceeded")
        );
        assert_eq!(details("The bug is in src/a.rs:42."), one(Literal::Place, "src/a.rs:42"));
        assert_eq!(details("It was introduced by commit 3f2a91c."), one(Literal::Commit, "3f2a91c"));
        assert_eq!(details("The issue is #4312."), one(Literal::Issue, "#4312"));
        assert_eq!(details("The installed version is 2.31.4."), one(Literal::Version, "2.31.4"));
        assert_eq!(details("The worker stopped at 10:07."), one(Literal::Time, "10:07"));
        assert_eq!(details("The request failed with ECONNRESET."), one(Literal::ErrorCode, "ECONNRESET"));
        assert_eq!(details("It connects to 10.3.7.21."), one(Literal::Address, "10.3.7.21"));
    }

    #[test]
    fn plain_numbers_and_proposals_are_not_told() {
        for text in [
            "75 % of the files are covered (30 of 40).",
            "You could pin version 1.2.3.",
            "For example, src/a.rs:10.",
            "I changed the message to \"no such file there\".",
            "If it fails with \"no such file\", retry.",
        ] {
            assert!(details(text).iter().all(|(_, _, told)| !told), "{text}: {:?}", details(text));
        }
    }
}
