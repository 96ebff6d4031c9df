//! Finds statements that something was done: files changed, commits made, packages installed.

use super::claims::{Action, ActionClaim};
use super::files::{base_name, ending};
use super::modality::{Attribution, Modality};
use super::plain::{Sentence, Sort, Token};

/// Verbs in the past, with what they do to a file that follows.
const VERBS: &[(&str, Action)] = &[
    ("added", Action::Change),
    ("created", Action::Change),
    ("wrote", Action::Change),
    ("written", Action::Change),
    ("updated", Action::Change),
    ("changed", Action::Change),
    ("modified", Action::Change),
    ("edited", Action::Change),
    ("renamed", Action::Change),
    ("moved", Action::Change),
    ("replaced", Action::Change),
    ("extended", Action::Change),
    ("adjusted", Action::Change),
    ("rewrote", Action::Change),
    ("rewritten", Action::Change),
    ("patched", Action::Change),
    ("refactored", Action::Change),
    ("appended", Action::Change),
    ("bumped", Action::Change),
    ("introduced", Action::Change),
    ("fixed", Action::Change),
    ("corrected", Action::Change),
    ("documented", Action::Change),
    ("deleted", Action::Delete),
    ("removed", Action::Delete),
    ("committed", Action::Commit),
    ("pushed", Action::Push),
    ("published", Action::Publish),
    ("released", Action::Publish),
    ("deployed", Action::Deploy),
    ("installed", Action::Install),
    ("opened", Action::PullRequest),
    ("submitted", Action::PullRequest),
    ("filed", Action::PullRequest),
    ("raised", Action::PullRequest),
];

/// Endings of files that sentences name.
const ENDINGS: &[&str] = &[
    "py",
    "rs",
    "js",
    "ts",
    "tsx",
    "jsx",
    "mjs",
    "cjs",
    "json",
    "toml",
    "yaml",
    "yml",
    "md",
    "txt",
    "html",
    "css",
    "scss",
    "go",
    "java",
    "kt",
    "kts",
    "rb",
    "php",
    "c",
    "h",
    "cc",
    "cpp",
    "hpp",
    "cs",
    "swift",
    "sh",
    "sql",
    "lock",
    "cfg",
    "ini",
    "env",
    "xml",
    "gradle",
    "vue",
    "svelte",
    "ex",
    "exs",
    "erl",
    "hs",
    "ml",
    "scala",
    "lua",
    "pl",
    "dart",
    "zig",
    "proto",
    "tf",
    "csv",
    "rst",
    "ipynb",
    "mod",
    "sum",
    "bat",
    "ps1",
    "svg",
    "conf",
    "properties",
    "graphql",
    "mdx",
    "less",
    "log",
    "pyi",
    "m",
    "mm",
    "clj",
    "jsonl",
    "tmpl",
    "snap",
    "service",
    "nix",
];

/// Files without an ending.
const NAMED_FILES: &[&str] = &[
    "Dockerfile",
    "Makefile",
    "Justfile",
    "LICENSE",
    "CHANGELOG",
    "README",
    "Gemfile",
    "Procfile",
    ".gitignore",
    ".env",
    ".dockerignore",
    "CODEOWNERS",
    "Jenkinsfile",
];

/// Returns whether a word or a piece of code is the name of one file.
pub fn is_file_name(text: &str) -> bool {
    if text.is_empty()
        || text.len() > 200
        || text.contains(['*', '?', '<', '>', '{', '(', ' ', '$', '|', '=', ','])
        || text.contains("://")
        || text.ends_with('/')
    {
        return false;
    }
    let name = base_name(text);
    if NAMED_FILES.contains(&name) {
        return true;
    }
    let plain = name.chars().all(|it| it.is_alphanumeric() || matches!(it, '.' | '_' | '-' | '+' | '@' | '[' | ']'));
    plain
        && ending(text).is_some_and(|end| ENDINGS.contains(&end.as_str()))
        && ![
            "Node.js",
            "Vue.js",
            "Next.js",
            "Express.js",
            "Three.js",
            "D3.js",
            "node.js",
            "next.js",
            "vue.js",
            "Nuxt.js",
            "Socket.io",
        ]
        .contains(&text)
}

/// Returns the name of the file that a word is, without a line number.
fn file_of(token: &Token) -> Option<String> {
    if !matches!(token.sort, Sort::Word | Sort::Code) {
        return None;
    }
    let text = token.text.split_once(':').map_or(token.text.as_str(), |(path, line)| {
        if line.starts_with(|it: char| it.is_ascii_digit()) { path } else { token.text.as_str() }
    });
    is_file_name(text).then(|| text.to_owned())
}

/// Returns what a sentence says was done.
pub fn actions_of(sentence: &Sentence) -> Vec<ActionClaim> {
    let modality = Modality::new(sentence);
    let tokens = modality.tokens;
    let mut found: Vec<ActionClaim> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let Some((_, action)) = VERBS.iter().find(|(verb, _)| token.is(verb)) else { continue };
        let clause = modality.clause_of(at);
        let own = &tokens[clause.clone()];
        let hedged = own.iter().any(|it| {
            it.is_any(&[
                "already",
                "unchanged",
                "previously",
                "earlier",
                "originally",
                "instead",
                "yesterday",
                "automatically",
                "was-not",
                "upstream",
                "only",
                "who",
                "user",
                "you",
                "your",
                "recently",
                "later",
                "manually",
            ])
        });
        let denied = clause.clone().any(|place| modality.is_negation(place) && place < at)
            || clause
                .clone()
                .any(|place| modality.is_failure(place) && place + 3 > at && place < at + 3 && !token.is("fixed"));
        if hedged || denied || !modality.is_stated(at, at) || modality.attributed(at, at) != Attribution::None {
            continue;
        }
        let Some(voice) = voice_of(&modality, at) else { continue };
        found.extend(claims_of(&modality, at, *action, voice));
    }
    // "README.md: updated", "New file: `a.sql`", "The pull request is open", "A regression test is included".
    if found.is_empty() && modality.is_stated(tokens.len().saturating_sub(1), tokens.len().saturating_sub(1)) {
        found.extend(short_form(tokens));
    }
    found.dedup();
    found
}

/// Returns what a point of a list of files that were changed says, which begins with the file: "- `src/a.py` (new)".
pub fn listed_file(sentence: &Sentence) -> Option<ActionClaim> {
    let is_other = sentence.tokens.iter().any(|token| {
        token.is_any(&[
            "existing",
            "needs",
            "no",
            "not",
            "optional",
            "planned",
            "should",
            "suggested",
            "todo",
            "unchanged",
            "will",
            "would",
        ])
    });
    let first = sentence.tokens.iter().find(|token| matches!(token.sort, Sort::Word | Sort::Code | Sort::Number))?;
    let file = file_of(first).filter(|_| !is_other)?;
    Some(ActionClaim { action: Action::Change, files: vec![file], is_listed: true })
}

fn short_form(tokens: &[Token]) -> Vec<ActionClaim> {
    let words: Vec<&Token> = tokens.iter().filter(|it| it.sort != Sort::Punctuation || it.text == ":").collect();
    match words.as_slice() {
        [file, colon, verb]
            if colon.text == ":"
                && verb.is_any(&["updated", "added", "created", "changed", "new", "deleted", "removed"]) =>
        {
            let action = if verb.is_any(&["deleted", "removed"]) { Action::Delete } else { Action::Change };
            file_of(file).map(|file| ActionClaim { action, files: vec![file], is_listed: false }).into_iter().collect()
        }
        [new, word, colon, file] if new.is("new") && word.is("file") && colon.text == ":" => file_of(file)
            .map(|file| ActionClaim { action: Action::Change, files: vec![file], is_listed: false })
            .into_iter()
            .collect(),
        [.., pull, request, is, open]
            if pull.is("pull")
                && request.is("request")
                && is.is_any(&["is", "was"])
                && open.is_any(&["open", "up", "opened"]) =>
        {
            vec![ActionClaim { action: Action::PullRequest, files: Vec::new(), is_listed: false }]
        }
        [.., test, is, verb]
            if test.is_any(&["test", "tests"])
                && is.is_any(&["is", "was", "are", "were"])
                && verb.is_any(&["included", "added", "written"]) =>
        {
            vec![ActionClaim { action: Action::AddTest, files: Vec::new(), is_listed: false }]
        }
        _ => Vec::new(),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Voice {
    /// "I added", "Added", "and added".
    Active,
    /// "is added", "has been added".
    Passive,
}

fn voice_of(modality: &Modality<'_>, at: usize) -> Option<Voice> {
    let tokens = modality.tokens;
    let clause = modality.clause_of(at);
    let before: Vec<&Token> = tokens[clause.start..at]
        .iter()
        .filter(|it| {
            !it.is_any(&[
                "also",
                "then",
                "now",
                "just",
                "successfully",
                "have",
                "has",
                "i've",
                "we've",
                "both",
                "finally",
                "been",
                "simply",
            ]) || it.is_any(&["been", "i've", "we've", "have", "has"])
        })
        .collect();
    let Some(last) = before.last() else { return Some(Voice::Active) };
    if last.is_any(&["been", "is", "are", "was", "were", "being"]) {
        return (!last.is("being")).then_some(Voice::Passive);
    }
    if last.is_any(&["i", "we", "i've", "we've"]) {
        return Some(Voice::Active);
    }
    if last.is_any(&["have", "has"]) {
        let subject = before.len().checked_sub(2).map(|index| before[index]);
        return subject.is_some_and(|subject| subject.is_any(&["i", "we"])).then_some(Voice::Active);
    }
    let listed = last.text == ";" || last.is("and") || last.text == "," || last.text == ":" || last.text == "(";
    if listed {
        // "..., and added X": the one who acts is named before, if at all.
        let others = before.iter().any(|it| it.is_any(&["that", "which", "who", "commit", "pr", "version", "release"]));
        return (!others).then_some(Voice::Active);
    }
    (last.sort == Sort::Good || matches!(last.text.as_str(), "-" | "|")).then_some(Voice::Active)
}

fn claims_of(modality: &Modality<'_>, at: usize, action: Action, voice: Voice) -> Vec<ActionClaim> {
    let tokens = modality.tokens;
    let clause = modality.clause_of(at);
    let verb = &tokens[at];
    let after = &tokens[at + 1..clause.end];
    let has = |words: &[&str]| {
        after.iter().take(6).any(|it| matches!(it.sort, Sort::Word | Sort::Code) && words.contains(&it.lower.as_str()))
    };
    let one = |action: Action| vec![ActionClaim { action, files: Vec::new(), is_listed: false }];
    match action {
        Action::Commit => {
            let other = after
                .first()
                .is_some_and(|it| it.is_any(&["to", "code", "files", "by", "version", "history", "suicide"]))
                && !has(&["git", "repo", "repository", "branch", "main", "master"]);
            return if other { Vec::new() } else { one(Action::Commit) };
        }
        Action::Push => {
            let fits = after.is_empty()
                || after.first().is_some_and(|it| it.sort == Sort::Punctuation || it.is_any(&["and", "it", "them"]))
                || has(&[
                    "origin",
                    "remote",
                    "main",
                    "master",
                    "branch",
                    "github",
                    "gitlab",
                    "commit",
                    "commits",
                    "changes",
                    "tag",
                    "tags",
                    "upstream",
                    "fork",
                    "image",
                    "repository",
                    "repo",
                ]);
            let other = after.first().is_some_and(|it| it.is_any(&["back", "down", "up", "out", "forward", "further"]));
            return if fits && !other { one(Action::Push) } else { Vec::new() };
        }
        Action::PullRequest => return if names_request(after) { one(Action::PullRequest) } else { Vec::new() },
        Action::Publish => {
            let fits = after.is_empty()
                || has(&[
                    "package",
                    "version",
                    "npm",
                    "crates.io",
                    "pypi",
                    "release",
                    "crate",
                    "image",
                    "to",
                    "it",
                    "registry",
                    "as",
                ])
                || voice == Voice::Passive;
            let fits = fits && (!verb.is("released") || has(&["version", "package", "release"]));
            return if fits { one(Action::Publish) } else { Vec::new() };
        }
        Action::Deploy => return one(Action::Deploy),
        Action::Install => {
            // "X is installed" may be a state that was there before: only a failed attempt refutes it.
            let subject = tokens[clause.start..at].iter().rev().find(|it| {
                matches!(it.sort, Sort::Word | Sort::Code)
                    && !it.is_any(&["is", "are", "now", "was", "were", "been", "has", "have", "all", "both"])
            });
            let files = if voice == Voice::Passive {
                subject.map(|it| it.text.clone()).into_iter().collect()
            } else {
                Vec::new()
            };
            return vec![ActionClaim { action: Action::Install, files, is_listed: false }];
        }
        Action::Change | Action::Delete | Action::AddTest => {}
    }
    let mut found = Vec::new();
    if voice == Voice::Active && verb.is_any(&["created", "made"]) && names_request(after) {
        return one(Action::PullRequest);
    }
    if voice == Voice::Active && verb.is_any(&["created"]) && after.iter().take(3).any(|it| it.is("commit")) {
        return one(Action::Commit);
    }
    if voice == Voice::Active && verb.is_any(&["added", "wrote", "created"]) && adds_tests(after) {
        found.push(ActionClaim { action: Action::AddTest, files: Vec::new(), is_listed: false });
    }
    let files = if voice == Voice::Active {
        files_after(tokens, at, clause.end)
    } else {
        files_before(tokens, clause.start, at)
    };
    if files.is_empty() {
        return found;
    }
    let is_delete = action == Action::Delete && (voice == Voice::Passive || directly_after(tokens, at));
    let is_rename = verb.is_any(&["renamed", "moved"]);
    if action == Action::Delete && !is_delete && !after.iter().any(|it| it.is_any(&["from", "in"])) {
        return found;
    }
    let action = if is_delete { Action::Delete } else { Action::Change };
    let files: Vec<String> = if is_rename { files.into_iter().take(1).collect() } else { files };
    found.extend(files.into_iter().map(|file| ActionClaim { action, files: vec![file], is_listed: false }));
    found
}

fn names_request(after: &[Token]) -> bool {
    after.iter().take(5).enumerate().any(|(index, it)| {
        it.is_any(&["pr", "mr"])
            || (it.is_any(&["pull", "merge"]) && after.get(index + 1).is_some_and(|next| next.is("request")))
    })
}

/// "a regression test", "two unit tests", "tests for the parser".
fn adds_tests(after: &[Token]) -> bool {
    for (index, token) in after.iter().take(6).enumerate() {
        if token.is_any(&["test", "tests", "testcase", "testcases"]) {
            let next = after.get(index + 1);
            return next.is_none_or(|next| {
                !next.is_any(&[
                    "file",
                    "script",
                    "data",
                    "config",
                    "setup",
                    "command",
                    "runner",
                    "helper",
                    "helpers",
                    "fixture",
                    "fixtures",
                    "target",
                    "job",
                    "step",
                    "utility",
                    "utils",
                    "dependency",
                    "id",
                    "ids",
                    "plan",
                    "page",
                ]) && next.sort != Sort::Quote
            });
        }
        let fine = token.sort == Sort::Number
            || token.is_any(&[
                "a",
                "an",
                "the",
                "new",
                "regression",
                "unit",
                "integration",
                "more",
                "some",
                "two",
                "three",
                "four",
                "five",
                "several",
                "few",
                "missing",
                "comprehensive",
                "additional",
                "simple",
                "failing",
                "corresponding",
                "end-to-end",
                "e2e",
                "focused",
                "small",
                "dedicated",
                "parser",
                "further",
                "another",
                "one",
                "basic",
            ]);
        if !fine {
            return false;
        }
    }
    false
}

fn directly_after(tokens: &[Token], at: usize) -> bool {
    tokens[at + 1..]
        .iter()
        .find(|it| {
            !it.is_any(&[
                "the",
                "file",
                "files",
                "old",
                "unused",
                "obsolete",
                "stale",
                "now",
                "temporary",
                "both",
                "dead",
                "empty",
                "legacy",
            ])
        })
        .is_some_and(|it| file_of(it).is_some())
}

fn files_after(tokens: &[Token], at: usize, end: usize) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut takes = true;
    let mut last_file: Option<usize> = None;
    for index in at + 1..end {
        let token = &tokens[index];
        if token.is_any(&[
            "that",
            "which",
            "because",
            "so",
            "where",
            "when",
            "since",
            "to-be",
            "using",
            "via",
            "like",
            "as",
            "based",
            "matching",
            "mirroring",
            "following",
            "similar",
            "used",
            "called",
        ]) || token.is_any(&["is", "are", "was", "were", "now", "will", "passes", "pass"])
        {
            break;
        }
        if index > at + 1 && VERBS.iter().any(|(verb, _)| token.is(verb)) {
            break;
        }
        if token.is_any(&["of", "for", "from", "with", "by", "about", "against", "between"]) {
            takes = token.is("from") && tokens[at].is("removed");
        } else if token.is_any(&["in", "into", "inside", "to", "at", "under", "within"]) {
            let noun = &tokens[index - 1];
            let points = token.is("to")
                && noun.is_any(&[
                    "reference",
                    "references",
                    "link",
                    "links",
                    "pointer",
                    "path",
                    "import",
                    "redirect",
                    "pointing",
                    "call",
                    "calls",
                    "access",
                    "similar",
                    "equal",
                    "identical",
                    "compared",
                    "according",
                    "relative",
                    "next",
                    "due",
                    "according",
                ]);
            takes = !points;
            // "added a.json to .gitignore": only the second was changed.
            if token.is("to") && tokens[at].is_any(&["added", "appended"]) && last_file == Some(index - 1) {
                found.pop();
            }
        } else if let Some(file) = file_of(token)
            && takes
        {
            found.push(file);
            last_file = Some(index);
        }
    }
    found
}

fn files_before(tokens: &[Token], start: usize, at: usize) -> Vec<String> {
    // The subject of the passive stands right before the auxiliary.
    let mut index = at;
    while index > start
        && tokens[index - 1].is_any(&["been", "is", "are", "was", "were", "has", "have", "now", "also", "both", "all"])
    {
        index -= 1;
    }
    let mut found = Vec::new();
    while index > start {
        index -= 1;
        match file_of(&tokens[index]) {
            Some(file) => found.push(file),
            None if tokens[index].is("and") || tokens[index].text == "," => {}
            None => break,
        }
    }
    // "the parser in a.py was changed" is about the parser: the file is a place, which is as good.
    let named = index > start && tokens[index].is_any(&["by", "from", "than", "like", "of", "for"]);
    if named { Vec::new() } else { found.into_iter().rev().collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::read::plain::sentences;

    fn actions(text: &str) -> Vec<(Action, Vec<String>)> {
        sentences(text).iter().flat_map(actions_of).map(|claim| (claim.action, claim.files)).collect()
    }

    #[test]
    fn actions_are_found() {
        let file = |name: &str| vec![name.to_owned()];
        for (text, expected) in [
            (
                "package.json is at 1.5.0, and I added an entry to CHANGELOG.md.",
                vec![(Action::Change, file("CHANGELOG.md"))],
            ),
            ("I've updated `src/a.rs`.", vec![(Action::Change, file("src/a.rs"))]),
            (
                "Created src/b.ts and c.json.",
                vec![(Action::Change, file("src/b.ts")), (Action::Change, file("c.json"))],
            ),
            ("config.yml has been updated.", vec![(Action::Change, file("config.yml"))]),
            ("I deleted old.py.", vec![(Action::Delete, file("old.py"))]),
            ("Removed the import from main.py.", vec![(Action::Change, file("main.py"))]),
            ("I added a regression test.", vec![(Action::AddTest, vec![])]),
            ("Committed.", vec![(Action::Commit, vec![])]),
            ("package-lock.json is committed.", vec![(Action::Commit, vec![])]),
            ("I pushed the branch to origin.", vec![(Action::Push, vec![])]),
            ("I opened a pull request.", vec![(Action::PullRequest, vec![])]),
            ("I installed the dependencies.", vec![(Action::Install, vec![])]),
            ("Added config.json to .gitignore.", vec![(Action::Change, file(".gitignore"))]),
        ] {
            assert_eq!(actions(text), expected, "{text}");
        }
    }

    #[test]
    fn other_statements_are_no_actions() {
        for text in [
            "I would have added an entry to CHANGELOG.md.",
            "CHANGELOG.md is unchanged.",
            "The entry was already added to CHANGELOG.md.",
            "You could add it to a.py.",
            "I have not updated a.py.",
            "The commit added a.py.",
            "I added a reference to a.py.",
            "Let me know if a.py should be updated.",
            "I read a.py.",
            "The changes are in docs/.",
            "Nothing was committed.",
        ] {
            assert_eq!(actions(text), [], "{text}");
        }
    }
}
