//! Finds the claims in an answer.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::actions::{actions_of, listed_file};
use super::children::child_of;
use super::claims::{CheckClaim, CheckSays, Claim, Figure, Measure, Statement};
use super::details::details_of;
use super::files::{base_name, is_test};
use super::measurements::measurements_of;
use super::modality::{Attribution, Modality};
use super::plain::{Sentence, Sort, Token, sentences};
use super::runners::{CheckKind, Runs, runs};
use super::shell::commands;
use super::words::{
    BOUNDS, CHECK_NOUNS, CHECK_VERBS, NUMBERS, PLAIN, ROUGHLY, SUCCESS, TEST_SCOPES, TROUBLE_KINDS, WEAK_SUCCESS,
    is_english,
};

/// Most words between a check and the word that says how it went.
const MAX_WORDS_BETWEEN: usize = 9;

/// Longest answer whose sentences are interpreted, in bytes.
pub const MAX_ANSWER_BYTES: usize = 1 << 20;

/// What an answer claims.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Claims {
    /// The claims in the order of the answer.
    pub claims: Vec<Claim>,
    /// Whether the answer is in a language whose words are not known, so that its claims cannot be told.
    pub is_foreign: bool,
}

/// Returns the claims of an answer: statements about checks, actions, details and other agents that the recording can
/// bear out or refute.
pub fn claims_in(text: &str) -> Claims {
    if text.len() > MAX_ANSWER_BYTES {
        return Claims::default();
    }
    if !is_english(text) {
        return Claims { claims: Vec::new(), is_foreign: true };
    }
    let mut found = Vec::new();
    let plans = plans_of(text);
    let lists = lists_of_files(text);
    for sentence in sentences(text) {
        let own = &text[sentence.range.clone()];
        if sentence.is_question || sentence.is_open_task || own.contains(is_ideograph) {
            continue;
        }
        let mut statements: Vec<Statement> = Vec::new();
        let is_planned = plans.iter().any(|plan| plan.contains(&sentence.range.start)) || TARGET.is_match(own);
        let checks = checks_of(&sentence).into_iter();
        statements.extend(checks.filter(|check| !is_planned || check.says == CheckSays::Fails).map(Statement::Check));
        if !is_planned {
            statements.extend(measurements_of(&sentence, text).into_iter().map(Statement::Measurement));
        }
        // What is optional is described, not done.
        if !sentence.tokens.iter().any(|token| token.is("optional")) {
            let actions = actions_of(&sentence);
            let is_listed =
                actions.is_empty() && !is_planned && lists.iter().any(|list| list.contains(&sentence.range.start));
            statements.extend(listed_file(&sentence).filter(|_| is_listed).map(Statement::Action));
            statements.extend(actions.into_iter().map(Statement::Action));
        }
        statements.extend(child_of(&sentence).map(Statement::Child));
        statements.extend(details_of(&sentence, text).into_iter().map(Statement::Detail));
        found.extend(statements.into_iter().map(|statement| Claim {
            range: sentence.range.clone(),
            text: own.to_owned(),
            statement,
        }));
    }
    // A list repeats what sentences said.
    let file_of = |claim: &Claim, listed: bool| match &claim.statement {
        Statement::Action(action) if action.is_listed == listed => {
            action.files.first().map(|file| base_name(file).to_owned())
        }
        _ => None,
    };
    let said: Vec<String> = found.iter().filter_map(|claim| file_of(claim, false)).collect();
    found.retain(|claim| file_of(claim, true).is_none_or(|file| !said.contains(&file)));
    Claims { claims: found, is_foreign: false }
}

/// A figure that is to be reached: "Build Success Rate: >95%", "<30s clean build".
static TARGET: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:success|pass|failure)\s+rates?\b|(?:^|[\s:(*])[<≤]\s?\d").expect("a pattern")
});

/// Headings above lists of what is to be done, or of what is to hold once it is done.
static PLAN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:success (?:criteria|metrics|indicators)|acceptance criteria|validation (?:criteria|checkpoints|steps)|definition of done|goals?|targets?|objectives|deliverables|checkpoints|milestones|next steps|roadmap|kpis?|test(?:ing)? (?:strategy|plan)|requirements|expected (?:results?|outcomes?|output)|implementation plan|action plan)\b")
        .expect("a pattern")
});

/// Returns the parts of an answer below a heading of a plan: up to the next heading of the same or a higher level.
fn plans_of(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    if !PLAN.is_match(text) {
        return found;
    }
    let mut open: Option<(usize, usize)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if let Some(level) = level_of_heading(line) {
            if let Some((start, _)) = open.filter(|(_, above)| level <= *above) {
                found.push(start..at);
                open = None;
            }
            if open.is_none() && PLAN.is_match(line) {
                open = Some((at, level));
            }
        }
        at += line.len();
    }
    found.extend(open.map(|(start, _)| start..text.len()));
    found
}

/// Headings above lists of files that an agent says to have changed.
static FILES: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\bfiles?\s+(?:added|created|edited|modified|updated|written)\b[\w\s/&,]{0,40}[:*\s]*$|\b(?:added|created|edited|modified|updated)\s+files[:*\s]*$")
        .expect("a pattern")
});

/// Returns the lists right below a heading such as "Files created".
fn lists_of_files(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut open: Option<usize> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let point = line.trim_start();
        let is_point = point.starts_with(['-', '*', '+', '•', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
            && level_of_heading(line).is_none();
        if !is_point && !point.is_empty() {
            found.extend(open.take().map(|start| start..at));
            if level_of_heading(line).is_some() && FILES.is_match(line.trim_end()) {
                open = Some(at + line.len());
            }
        }
        at += line.len();
    }
    found.extend(open.map(|start| start..text.len()));
    found
}

/// Returns the level of a heading: the number of `#`; 7 for a line that is all bold, 8 for one that ends with a colon.
fn level_of_heading(line: &str) -> Option<usize> {
    let line = line.trim();
    let signs = line.bytes().take_while(|byte| *byte == b'#').count();
    if (1..=6).contains(&signs) && line[signs..].starts_with(' ') {
        return Some(signs);
    }
    if line.starts_with("**") && line.trim_end_matches(':').ends_with("**") && line.matches("**").count() == 2 {
        return Some(7);
    }
    (line.ends_with(':') && !line.starts_with(['-', '*', '|', '>']) && line.len() < 60).then_some(8)
}

/// Returns whether a character is one of a script whose words are not known.
fn is_ideograph(character: char) -> bool {
    matches!(character, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

/// A check that a sentence names.
#[derive(Debug, Clone)]
struct Subject {
    /// Its words.
    from: usize,
    to: usize,
    kind: Option<CheckKind>,
    scope: Vec<String>,
    is_bounded: bool,
    is_remote: bool,
}

/// Returns the check that a word belongs to: the last one before it, else the first one after it.
fn owner(subjects: &[Subject], at: usize) -> Option<usize> {
    let before = subjects.iter().rposition(|subject| subject.from <= at);
    before.or_else(|| subjects.iter().position(|subject| subject.from > at))
}

fn same_list(owner: usize, first: usize, last: usize) -> bool {
    (first..=last).contains(&owner)
}

fn checks_of(sentence: &Sentence) -> Vec<CheckClaim> {
    let modality = Modality::new(sentence);
    let tokens = modality.tokens;
    let subjects = subjects(&modality);
    let mut claims: Vec<CheckClaim> = Vec::new();
    let mut used = vec![false; tokens.len()];
    for (index, subject) in subjects.iter().enumerate() {
        // Subjects that are listed one after the other share what is said of them.
        let last = last_of_list(tokens, &subjects, index);
        let group_end = subjects[last].to;
        let group_start = first_of_list(tokens, &subjects, index);
        let predicate = success_after(&modality, subject, group_end, &subjects)
            .or_else(|| success_before(&modality, subjects[group_start].from));
        let figures = figures_near(&modality, subject, predicate, &subjects);
        let failing = modality.clause_of(subject.to).any(|at| {
            modality.is_failure(at) && owner(&subjects, at).is_none_or(|owner| same_list(owner, group_start, last))
        });
        match predicate {
            Some(predicate) if !failing => {
                let (from, to) = (predicate.min(subject.from), predicate.max(subject.to));
                let attribution = modality.attributed(subject.from, predicate);
                // "Test network resolution works" is an order.
                let is_order = tokens[subject.from].is("test")
                    && subject.to == subject.from
                    && tokens[..subject.from].iter().all(|it| it.sort != Sort::Word)
                    && predicate > subject.to + 1
                    && tokens[subject.to + 1..predicate].iter().all(|it| it.sort == Sort::Word);
                let is_kept = modality
                    .clause_of(subject.from)
                    .any(|at| at < subject.from && tokens[at].is_any(&["preserving", "preserve", "preserves"]));
                // "The test is complete" says that it ended, of whatever sort it was; "all tests completed successfully" says more.
                let is_one = tokens[subject.from].is("test") && subject.to == subject.from;
                let says_more =
                    (predicate + 1..tokens.len()).any(|at| modality.absence[at] || tokens[at].is_any(SUCCESS));
                let is_ended = subject.kind == Some(CheckKind::Test)
                    && tokens[predicate].is_any(&["complete", "completes", "completed"])
                    && (is_one || !says_more);
                let holds = !is_order
                    && !is_ended
                    && !is_kept
                    && modality.is_stated(predicate, to.max(predicate))
                    && modality.is_stated(from, from.max(subject.from))
                    && !modality.is_caused(subject.from)
                    && attribution != Attribution::Other
                    && !fails_later(&modality, subject, to, &subjects);
                if holds {
                    used[predicate] = true;
                    claims.push(CheckClaim {
                        kind: subject.kind,
                        says: CheckSays::Passes,
                        scope: subject.scope.clone(),
                        is_bounded: subject.is_bounded || bounds_before(tokens, subjects[group_start].from),
                        is_of_agent: attribution == Attribution::Agent,
                        is_remote: subject.is_remote,
                        figures,
                    });
                }
            }
            _ => {
                let ran = was_run(&modality, subject, &subjects[group_start]);
                let attribution = modality.attributed(subject.from, subject.to);
                if let Some(verb) = ran.filter(|_| attribution != Attribution::Other) {
                    let stated = modality.is_stated(verb, verb.max(subject.to));
                    if stated && predicate.is_none() {
                        claims.push(CheckClaim {
                            kind: subject.kind,
                            says: if failing { CheckSays::Fails } else { CheckSays::WasRun },
                            scope: subject.scope.clone(),
                            is_bounded: subject.is_bounded,
                            is_of_agent: attribution == Attribution::Agent,
                            is_remote: subject.is_remote,
                            figures,
                        });
                        continue;
                    }
                }
                let at = subject.to;
                let counted =
                    figures.iter().any(|figure| figure.measure != Measure::Total && figure.measure != Measure::Suites);
                if (failing || counted && predicate.is_none())
                    && !figures.is_empty()
                    && attribution == Attribution::None
                    && modality.is_stated(at, at)
                {
                    claims.push(CheckClaim {
                        kind: subject.kind,
                        says: CheckSays::Fails,
                        scope: subject.scope.clone(),
                        is_bounded: subject.is_bounded,
                        is_of_agent: false,
                        is_remote: subject.is_remote,
                        figures,
                    });
                }
            }
        }
    }
    claims.extend(verbs_of(&modality, &subjects));
    claims.extend(without_subject(&modality, &subjects));
    // One claim for each check of a sentence. Of several, the one that says most counts.
    let mut kept: Vec<CheckClaim> = Vec::new();
    for claim in claims {
        match kept.iter_mut().find(|known| known.kind == claim.kind && known.scope == claim.scope) {
            Some(known) => {
                if claim.says == CheckSays::Passes {
                    known.says = CheckSays::Passes;
                }
                for figure in claim.figures {
                    if !known.figures.contains(&figure) {
                        known.figures.push(figure);
                    }
                }
            }
            None => kept.push(claim),
        }
    }
    // "Ran pytest: everything passes".
    if kept.iter().any(|claim| claim.kind.is_none() && claim.says == CheckSays::Passes) {
        kept.iter_mut()
            .filter(|claim| claim.says == CheckSays::WasRun)
            .for_each(|claim| claim.says = CheckSays::Passes);
    }
    // "all checks" beside named checks adds nothing.
    if kept.len() > 1 {
        kept.retain(|claim| claim.kind.is_some());
    }
    kept
}

/// Finds the checks that a sentence names.
fn subjects(modality: &Modality<'_>) -> Vec<Subject> {
    let tokens = modality.tokens;
    let mut found: Vec<Subject> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let Some((to, kind, mut scope, is_remote)) = noun_at(modality, at) else {
            at += 1;
            continue;
        };
        let mut subject = Subject { from: at, to, kind, scope: Vec::new(), is_bounded: false, is_remote };
        scope_before(tokens, at, &mut subject);
        subject.scope.append(&mut scope);
        scope_after(modality, to, &mut subject);
        subject.scope.dedup();
        found.push(subject);
        at = to + 1;
    }
    found
}

/// Programs whose name and first argument stand in sentences without backticks.
const TOLD_PROGRAMS: [&str; 18] = [
    "black",
    "prettier",
    "cargo",
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "go",
    "mvn",
    "gradle",
    "./gradlew",
    "dotnet",
    "mix",
    "swift",
    "deno",
    "bazel",
    "npx",
    "python",
];

/// Returns the last word, the kind and the scope of a check that is named at a place.
fn noun_at(modality: &Modality<'_>, at: usize) -> Option<(usize, Option<CheckKind>, Vec<String>, bool)> {
    let tokens = modality.tokens;
    let token = &tokens[at];
    // A file of tests that was added or changed is no check.
    let changed = tokens[at.saturating_sub(3)..at].iter().any(|it| {
        it.is_any(&[
            "added", "created", "updated", "wrote", "changed", "edited", "modified", "extended", "deleted", "removed",
            "add", "see", "in", "renamed", "moved", "to",
        ])
    });
    if changed && matches!(token.sort, Sort::Code | Sort::Word) && super::actions::is_file_name(&token.text) {
        return None;
    }
    if token.sort == Sort::Code {
        return code_subject(&token.text).map(|(kind, scope)| {
            // "`pytest` tests", "`foo` test".
            let next =
                tokens.get(at + 1).filter(|next| next.is_any(&["tests", "test", "suite", "run", "checks", "check"]));
            (at + usize::from(next.is_some()), Some(kind), scope, false)
        });
    }
    if token.sort != Sort::Word {
        return None;
    }
    let word = token.lower.as_str();
    if TOLD_PROGRAMS.contains(&word)
        || (word == "make" && tokens.get(at + 1).is_some_and(|next| next.is_any(&["test", "check", "lint", "build"])))
    {
        for length in [3, 2, 1] {
            let words: Vec<&str> = tokens[at..]
                .iter()
                .take(length + 1)
                .take_while(|it| it.sort == Sort::Word)
                .map(|it| it.text.as_str())
                .collect();
            if words.len() != length + 1 {
                continue;
            }
            let line = words.join(" ");
            let last_is_argument = !tokens[at + length].is_any(SUCCESS)
                && !tokens[at + length].is_any(&["is", "are", "and", "was", "on", "with", "in", "now", "then", "has"]);
            if let Some((kind, scope)) = code_subject(&line).filter(|_| last_is_argument || length == 1) {
                if length > 1 && code_subject(&words[..length].join(" ")).is_some() {
                    continue;
                }
                return Some((at + length, Some(kind), scope, false));
            }
        }
        if !CHECK_NOUNS.iter().any(|(noun, _)| *noun == word) {
            return None;
        }
    }
    if matches!(word, "ci" | "pipeline" | "pipelines" | "workflow" | "workflows") {
        return Some((at, None, Vec::new(), true));
    }
    if word == "typescript"
        && tokens
            .get(at + 1)
            .is_some_and(|next| next.is_any(&["reports", "finds", "has", "is", "shows", "gives", "passes", "reported"]))
    {
        return Some((at, Some(CheckKind::Types), Vec::new(), false));
    }
    if matches!(word, "type" | "static")
        && tokens.get(at + 1).is_some_and(|next| next.is_any(&["check", "checks", "checker", "checking", "analysis"]))
    {
        return Some((at + 1, Some(CheckKind::Types), Vec::new(), false));
    }
    if matches!(word, "lint" | "linting" | "format" | "formatting" | "build")
        && tokens.get(at + 1).is_some_and(|next| next.is_any(&["check", "checks", "step", "job", "run"]))
    {
        let kind = match word {
            "lint" | "linting" => CheckKind::Lint,
            "build" => CheckKind::Build,
            _ => CheckKind::Format,
        };
        return Some((at + 1, Some(kind), Vec::new(), false));
    }
    if is_test_name(&token.text) {
        return Some((at, Some(CheckKind::Test), vec![token.text.clone()], false));
    }
    let (_, kind) = CHECK_NOUNS.iter().find(|(noun, _)| *noun == word)?;
    // "Automated Testing Suite" names a thing.
    let is_testing_suite = (word == "testing" && tokens.get(at + 1).is_some_and(|next| next.is("suite")))
        || (word == "suite" && at > 0 && tokens[at - 1].is("testing"));
    if is_testing_suite {
        return None;
    }
    // "to build", "we build", "tests the parser": verbs.
    let before = at.checked_sub(1).map(|before| &tokens[before]);
    if before.is_some_and(|before| {
        before.is_any(&["to", "i", "we", "you", "i'll", "let's", "can", "will", "don't", "didn't"])
    }) {
        return None;
    }
    if word == "checks"
        && !before.is_some_and(|before| {
            before.is_any(&[
                "all",
                "the",
                "quality",
                "pre-commit",
                "these",
                "other",
                "those",
                "local",
                "required",
                "automated",
                "style",
            ]) || before.sort == Sort::Number
        })
    {
        return None;
    }
    if matches!(word, "compile") {
        return None;
    }
    if word == "types"
        && tokens
            .get(at + 1)
            .is_none_or(|next| !next.is_any(&["check", "pass", "passes", "are", "passed", "and", "still", "all"]))
    {
        return None;
    }
    // "test file", "build script", "test coverage": something else.
    let other = [
        "file",
        "files",
        "script",
        "scripts",
        "data",
        "code",
        "coverage",
        "case",
        "folder",
        "directory",
        "function",
        "plan",
        "plans",
        "name",
        "names",
        "setup",
        "config",
        "configuration",
        "rule",
        "rules",
        "helper",
        "helpers",
        "fixture",
        "fixtures",
        "artifact",
        "artifacts",
        "cache",
        "output",
        "command",
        "commands",
        "time",
        "times",
        "number",
        "server",
        "class",
        "module",
        "user",
        "users",
        "account",
        "error",
        "errors",
        "warnings",
        "warning",
        "failure",
        "failures",
        "bench",
        "database",
        "environment",
        "framework",
        "runner",
        "log",
        "logs",
        "dependencies",
        "dependency",
        "target",
        "targets",
        "expectation",
        "expectations",
        "assertion",
        "assertions",
        "harness",
        "method",
        "methods",
        "page",
        "message",
        "image",
        "system",
        "systems",
    ];
    let next = tokens.get(at + 1);
    let singular = matches!(word, "test" | "build" | "lint" | "spec" | "tests" | "types");
    if singular && next.is_some_and(|next| next.is_any(&other)) && !modality.absence[at] {
        // "test files", "test cases" are counted, see the figures.
        if next.is_some_and(|next| next.is_any(&["case", "cases"])) {
            return Some((at + 1, Some(CheckKind::Test), Vec::new(), false));
        }
        return None;
    }
    // "test suite", "pytest run", "lint and": one subject.
    let mut to = at;
    while tokens.get(to + 1).is_some_and(|next| {
        next.is_any(&["suite", "suites", "tests", "run", "runs", "cases", "specs", "step", "gate", "gates", "job"])
    }) {
        to += 1;
    }
    Some((to, *kind, Vec::new(), false))
}

/// Returns the check and the scope that a piece of code names: a command, or the name of a test.
fn code_subject(code: &str) -> Option<(CheckKind, Vec<String>)> {
    let bare = code.trim().trim_start_matches("$ ");
    for command in commands(bare) {
        let kind = match runs(&command) {
            Runs::Checks(kinds) => kinds.first().copied(),
            Runs::Script(kinds) if bare.contains(' ') => kinds.first().copied(),
            _ => None,
        };
        if let Some(kind) = kind {
            return Some((kind, operands_of(&command)));
        }
    }
    if is_test_name(bare) {
        return Some((CheckKind::Test, vec![bare.to_owned()]));
    }
    let word = bare.to_lowercase();
    let known = CHECK_NOUNS.iter().find(|(noun, _)| *noun == word)?;
    (!matches!(known.0, "test" | "tests" | "types" | "checks" | "build")).then_some(())?;
    known.1.map(|kind| (kind, Vec::new()))
}

/// Returns the files, folders and names that a check was asked to look at.
pub fn operands_of(command: &super::shell::Command) -> Vec<String> {
    let mut found = Vec::new();
    let mut takes_value = false;
    let is_python = command.program().starts_with("python");
    for word in command.arguments() {
        if is_python && word == "-m" {
            continue;
        }
        if std::mem::take(&mut takes_value) {
            found.push(word.clone());
            continue;
        }
        if matches!(
            word.as_str(),
            "-p" | "--package"
                | "-k"
                | "-t"
                | "--test"
                | "-run"
                | "--filter"
                | "--grep"
                | "-g"
                | "--tests"
                | "--testNamePattern"
                | "--project"
                | "-m"
        ) {
            takes_value = true;
        }
        let is_task = [
            "test", "tests", "run", "check", "build", "lint", "nextest", "clippy", "vet", "-m", "pytest", "unittest",
            "verify", "fmt", "t", "b", "c", "compile", "package", ".",
        ];
        let is_plain = word.starts_with('-')
            || is_task.contains(&word.as_str())
            || word.starts_with("./...")
            || word == "src"
            || word == "tests/";
        let names = word.contains('/')
            || word.contains('.')
            || word.contains("::")
            || word.contains("test")
            || word.contains("Test")
            || command.program() == "jest"
            || command.program() == "vitest"
            || command.program() == "cargo";
        if !is_plain && names {
            found.push(word.clone());
        }
    }
    found
}

fn is_test_name(word: &str) -> bool {
    let is_name = !word.is_empty()
        && word.chars().all(|it| it.is_alphanumeric() || matches!(it, '_' | ':' | '.' | '/' | '-' | '[' | ']' | '$'));
    if !is_name || word.contains("://") {
        return false;
    }
    let last = word.rsplit("::").next().unwrap_or(word);
    let camel =
        last.strip_prefix("Test").is_some_and(|rest| rest.starts_with(|it: char| it.is_ascii_uppercase() || it == '_'));
    let snake = last.starts_with("test_") && last.len() > 5;
    let file = word.contains('.')
        && is_test(word)
        && super::files::ending(word)
            .is_some_and(|end| end.len() <= 4 && !end.starts_with(|it: char| it.is_ascii_digit()));
    camel || snake || file
}

fn scope_before(tokens: &[Token], from: usize, subject: &mut Subject) {
    let mut words: Vec<String> = Vec::new();
    let mut at = from;
    while at > 0 && words.len() < 3 {
        at -= 1;
        let token = &tokens[at];
        match token.sort {
            Sort::Word if token.is_any(BOUNDS) => subject.is_bounded = true,
            Sort::Word if TEST_SCOPES.contains(&token.lower.as_str()) => {
                words.push(token.lower.clone());
                // "unit and integration tests".
                if at > 1
                    && tokens[at - 1].is_any(&["and", "&"])
                    && TEST_SCOPES.contains(&tokens[at - 2].lower.as_str())
                {
                    at -= 1;
                }
            }
            Sort::Word if NUMBERS.iter().any(|(word, _)| token.is(word)) => {}
            // What stands before the article names something else.
            Sort::Word
                if token.is_any(&["the", "a", "an", "our", "my", "your", "its", "their", "all", "every", "each"]) =>
            {
                subject.is_bounded |= tokens[at.saturating_sub(2)..at]
                    .iter()
                    .any(|it| it.is_any(&["most", "some", "many", "half", "least"]));
                break;
            }
            Sort::Word if token.is_any(PLAIN) || token.is_any(SUCCESS) => {
                if token.is_any(&["and", "that", "with", "so", "after", "by", "for", "to", "then", "in", "on"]) {
                    break;
                }
            }
            Sort::Word if is_scope_word(&token.lower) => words.push(token.text.to_lowercase()),
            Sort::Code => words.push(token.text.to_lowercase()),
            Sort::Number => {}
            _ => break,
        }
    }
    words.reverse();
    subject.scope.append(&mut words);
}

/// Returns whether a word before "tests" can be the name of what is tested. Verbs and pronouns are not.
fn is_scope_word(word: &str) -> bool {
    let ends = ["ed", "ly", "'s", "n't", "'re", "'ve", "ing"];
    let others = [
        "to", "of", "in", "on", "for", "with", "by", "as", "starts", "start", "takes", "take", "continue", "still",
        "called", "named", "when", "if", "because", "since", "than", "but", "not", "do", "does", "did", "saw", "see",
        "show", "shows", "says", "pass", "rewrote", "wrote", "found", "made", "got", "there", "here", "can", "could",
        "should", "will", "would", "or", "where", "from", "at", "into", "was", "were", "be", "being", "which", "while",
        "you", "they", "he", "she", "this", "these", "cargo", "npm", "python", "let", "make", "makes", "keep", "keeps",
        "break", "breaks", "via", "per", "required", "too", "once", "until", "before", "after", "had", "both",
        "either", "whether", "only", "even", "just", "go", "rust", "js", "ts", "jest", "pytest", "vitest", "fix",
        "fixes", "use", "uses", "new", "against", "through", "without", "using", "about", "over", "under", "ok",
        "done", "finally",
    ];
    word.len() > 1
        && !ends.iter().any(|end| word.ends_with(end))
        && !others.contains(&word)
        && word.chars().all(|it| it.is_alphanumeric() || matches!(it, '-' | '_' | '.' | '/' | ':'))
}

/// "tests for the parser", "tests in `mail/`", "tests of mail.py".
fn scope_after(modality: &Modality<'_>, to: usize, subject: &mut Subject) {
    let tokens = modality.tokens;
    let Some(next) = tokens.get(to + 1) else { return };
    if !next.is_any(&["for", "in", "of", "under", "from", "covering", "on", "that", "related", "touching", "around"]) {
        if next.sort == Sort::Code && !code_is_command(&next.text) {
            subject.scope.push(next.text.to_lowercase());
        }
        if next.sort == Sort::Punctuation && next.text == "(" {
            // "tests (`mail`) pass".
            if let Some(code) =
                tokens.get(to + 2).filter(|code| code.sort == Sort::Code && !code_is_command(&code.text))
            {
                subject.scope.push(code.text.to_lowercase());
            }
        }
        return;
    }
    if next.is_any(&["that", "related", "touching", "around"]) {
        subject.is_bounded = true;
        return;
    }
    for token in tokens.iter().skip(to + 2).take(4) {
        match token.sort {
            Sort::Code if !code_is_command(&token.text) => subject.scope.push(token.text.to_lowercase()),
            Sort::Word
                if token.is_any(SUCCESS)
                    || token.is_any(&[
                        "is", "are", "and", "have", "has", "now", "still", "all", "with", "which", "were", "was",
                    ]) =>
            {
                break;
            }
            Sort::Word
                if token.is_any(&[
                    "ci",
                    "total",
                    "project",
                    "repo",
                    "repository",
                    "suite",
                    "workspace",
                    "package",
                    "file",
                    "files",
                    "folder",
                    "module",
                    "crate",
                    "green",
                    "full",
                    "parallel",
                    "release",
                    "debug",
                    "mode",
                    "place",
                    "time",
                    "seconds",
                ]) => {}
            Sort::Word if is_scope_word(&token.lower) && !token.is_any(PLAIN) && !token.is_any(BOUNDS) => {
                subject.scope.push(token.lower.clone());
            }
            Sort::Word if token.is_any(PLAIN) => {}
            Sort::Word if token.is_any(BOUNDS) => subject.is_bounded = true,
            _ => break,
        }
    }
}

fn code_is_command(code: &str) -> bool {
    commands(code)
        .iter()
        .any(|command| matches!(runs(command), Runs::Checks(_)) || (runs(command) != Runs::Other && code.contains(' ')))
}

fn bounds_before(tokens: &[Token], from: usize) -> bool {
    tokens[from.saturating_sub(4)..from].iter().any(|token| {
        token.is_any(&["most", "some", "other", "both", "remaining", "many", "several", "nearly", "almost", "half"])
    })
}

/// Words between the subjects of a list: "tests, lint and types".
fn joins_list(tokens: &[Token]) -> bool {
    !tokens.is_empty()
        && tokens.len() <= 5
        && tokens
            .iter()
            .any(|token| token.is_any(&["and", "&"]) || matches!(token.text.as_str(), "," | "/" | "+" | "&"))
        && tokens.iter().all(|token| {
            token.is_any(&["and", "the", "all", "my", "our", "both", "as", "well"])
                || matches!(token.text.as_str(), "," | "/" | "+" | "&")
                || token.is_any(TEST_SCOPES)
                || token.sort == Sort::Number
                || (token.sort == Sort::Word
                    && is_scope_word(&token.lower)
                    && !token.is_any(SUCCESS)
                    && !token.is_any(super::words::FAILURE))
        })
}

fn last_of_list(tokens: &[Token], subjects: &[Subject], index: usize) -> usize {
    let mut last = index;
    while last + 1 < subjects.len() && joins_list(&tokens[subjects[last].to + 1..subjects[last + 1].from]) {
        last += 1;
    }
    last
}

fn first_of_list(tokens: &[Token], subjects: &[Subject], index: usize) -> usize {
    let mut first = index;
    while first > 0 && joins_list(&tokens[subjects[first - 1].to + 1..subjects[first].from]) {
        first -= 1;
    }
    first
}

/// Finds the word that says that a check succeeded, after the check.
fn success_after(modality: &Modality<'_>, subject: &Subject, end: usize, subjects: &[Subject]) -> Option<usize> {
    let tokens = modality.tokens;
    let clause = modality.clause[end];
    let mut brackets = 0_usize;
    for at in end + 1..tokens.len().min(end + 2 + MAX_WORDS_BETWEEN + brackets * 4) {
        let token = &tokens[at];
        if token.sort == Sort::Punctuation && token.text == "(" {
            brackets += 1;
            continue;
        }
        let in_brackets = brackets > 0 && token.text != ")";
        if modality.clause[at] != clause && brackets == 0 {
            break;
        }
        // Another check that stands between has its own word.
        if subjects.iter().any(|other| other.from == at && other.from > end) && !in_brackets {
            break;
        }
        if token.sort == Sort::Good {
            return Some(at);
        }
        if token.is_any(&[
            "that",
            "which",
            "how",
            "describe",
            "describes",
            "whether",
            "what",
            "verify",
            "verifies",
            "assert",
            "asserts",
            "take",
            "takes",
            "expect",
            "expects",
            "cover",
            "covers",
        ]) && brackets == 0
        {
            return None;
        }
        if modality.absence[at] {
            // "lint reports no errors".
            return Some(at);
        }
        if (modality.is_negation(at) || modality.is_failure(at)) && !in_brackets {
            return None;
        }
        if token.sort == Sort::Number && is_all_of(tokens, at) {
            return Some(at);
        }
        if is_success(tokens, at) {
            let is_weak = token.is_any(WEAK_SUCCESS);
            let near = at - end <= 3
                || tokens[at - 1].is_any(&["is", "are", "looks", "look", "all", "was", "were", "still", "also"]);
            if !is_weak || near {
                return Some(at);
            }
        }
        if token.sort == Sort::Punctuation
            && token.text == ","
            && at > end + 1
            && !modality.tokens[end + 1..at].iter().all(|it| it.is_any(&["now", "all", "which", "too", "including"]))
            && brackets == 0
        {
            // The clause of the check ends here, unless a list goes on.
            let rest = &tokens[at + 1..];
            if rest
                .first()
                .is_some_and(|next| next.is_any(&["i", "we", "it", "and", "so", "which", "then", "the", "no"]))
                && subject.kind.is_some()
            {
                break;
            }
        }
    }
    None
}

/// "16 of 16", "16/16".
fn is_all_of(tokens: &[Token], at: usize) -> bool {
    let text = &tokens[at].text;
    if let Some((a, b)) = text.split_once('/') {
        return !a.is_empty() && a == b;
    }
    tokens.get(at + 1).is_some_and(|of| of.is_any(&["of", "out"])) && {
        let next = if tokens[at + 1].is("out") { at + 3 } else { at + 2 };
        tokens.get(next).is_some_and(|other| other.text == *text)
    }
}

/// Returns whether a word says success, and not something else: "pass the parameter".
fn is_success(tokens: &[Token], at: usize) -> bool {
    let token = &tokens[at];
    if token.is("check") && tokens[at.saturating_sub(3)..at].iter().any(|it| it.is("types")) {
        return true;
    }
    if !token.is_any(SUCCESS) {
        return false;
    }
    // "a green theme" is no outcome.
    if at > 0 && tokens[at - 1].is_any(&["a", "an"]) && !token.is("success") {
        return false;
    }
    if is_round(tokens, at) {
        return false;
    }
    let next = tokens.get(at + 1);
    if token.lower.starts_with("pass") {
        let transitive = next.is_some_and(|next| {
            next.is_any(&[
                "the",
                "a",
                "an",
                "this",
                "these",
                "that",
                "its",
                "their",
                "it",
                "them",
                "to",
                "through",
                "along",
                "down",
                "over",
                "by",
                "into",
                "as",
                "your",
                "my",
                "via",
                "arguments",
                "data",
                "values",
                "parameters",
            ]) || next.sort == Sort::Quote
                || (next.sort == Sort::Code && !code_is_command(&next.text))
        });
        let through = next.is_some_and(|next| {
            next.sort == Sort::Word
                && !next.is_any(&["and", "in", "on", "with", "now", "all", "again", "too", "locally"])
        }) && tokens.get(at + 2).is_some_and(|it| it.is("to"));
        if through {
            return false;
        }
        let as_before = next.is_some_and(|next| next.is("as"))
            && tokens.get(at + 2).is_some_and(|it| it.is_any(&["expected", "well", "before", "intended"]));
        let that_run = next.is_some_and(|next| next.is_any(&["this", "the"]))
            && tokens.get(at + 2).is_some_and(|it| it.is_any(&["time", "first"]));
        return !transitive || as_before || that_run;
    }
    // "clean up", "clean build" as names of something else; "green" and "fine" before a noun.
    if token.is("clean") && next.is_some_and(|next| next.is_any(&["up", "code", "install", "the", "any"])) {
        return false;
    }
    // "happy and failure paths" is what is tested.
    if token.is("happy") && next.is_some_and(|next| next.is_any(&["path", "paths", "flow", "flows", "and", "case"])) {
        return false;
    }
    if token.is_any(&["work", "works", "complete"])
        && next.is_some_and(|next| next.is_any(&["on", "in", "the", "of", "with", "around"]))
    {
        return false;
    }
    true
}

/// "a final lint pass" is a thing to do.
fn is_round(tokens: &[Token], at: usize) -> bool {
    let before = &tokens[at.saturating_sub(3)..at];
    tokens[at].is("pass")
        && before.iter().any(|it| it.is_any(&["final", "another", "first", "second", "last", "quick", "one", "a"]))
}

/// Finds the word that says that a check succeeded, before the check: "passes all tests", "a green build", "✅ tests".
fn success_before(modality: &Modality<'_>, from: usize) -> Option<usize> {
    let tokens = modality.tokens;
    let clause = modality.clause[from];
    // "The build passes and so do the tests".
    let so = (from.saturating_sub(4)..from).find(|at| {
        tokens[*at].is("so") && tokens.get(at + 1).is_some_and(|next| next.is_any(&["do", "does", "are", "is", "did"]))
    });
    if let Some(so) = so {
        return (0..so).rev().find(|at| modality.clause[*at] == clause && is_success(tokens, *at));
    }
    let mut at = from;
    let mut scopes = 0;
    let mut articles = 0;
    while at > 0 && scopes + articles < 6 {
        at -= 1;
        let token = &tokens[at];
        if token.sort == Sort::Good {
            return Some(at);
        }
        if modality.clause[at] != clause {
            return None;
        }
        if token.is_any(&["pass", "passes", "passed", "passing", "green", "clean", "successful", "succeeding"]) {
            // "to clean the file formatting".
            let cleans = token.is("clean") && tokens[at + 1].is_any(&["the", "all", "its", "our", "every"]);
            if cleans || is_round(tokens, at) {
                return None;
            }
            // "passed to the test" and "a green button starts the tests" have other words between.
            return Some(at);
        }
        if modality.absence[at] && modality.absence[from] {
            return None;
        }
        let is_article = token.is_any(&[
            "all", "the", "of", "our", "its", "their", "every", "full", "entire", "existing", "whole", "a", "own",
            "and", "across",
        ]) || token.sort == Sort::Number;
        let is_scope = token.is_any(TEST_SCOPES) || (token.sort == Sort::Word && is_scope_word(&token.lower));
        if is_article {
            articles += 1;
        } else if is_scope && articles == 0 && scopes == 0 {
            scopes += 1;
        } else {
            return None;
        }
    }
    None
}

/// Returns whether a later part of the sentence says that the same check fails.
fn fails_later(modality: &Modality<'_>, subject: &Subject, to: usize, subjects: &[Subject]) -> bool {
    let own = modality.clause[to];
    (to + 1..modality.tokens.len()).filter(|at| modality.clause[*at] > own && modality.is_failure(*at)).any(|at| {
        let clause = modality.clause_of(at);
        let named: Vec<&Subject> = subjects.iter().filter(|other| clause.contains(&other.to)).collect();
        named.is_empty() || named.iter().any(|other| other.kind == subject.kind)
    })
}

/// Finds the word that says that a check was run.
fn was_run(modality: &Modality<'_>, subject: &Subject, first: &Subject) -> Option<usize> {
    let tokens = modality.tokens;
    let ran = |token: &Token| token.is_any(&["ran", "executed", "re-ran", "reran", "re-run"]);
    // "verified with the test suite".
    let start = first.from.saturating_sub(5);
    let by = (start..first.from).rev().find(|at| {
        tokens[*at].is_any(&["verified", "validated", "confirmed"])
            && tokens[*at + 1..first.from].iter().any(|it| it.is_any(&["with", "by", "using", "against", "running"]))
            && tokens[*at + 1..first.from].iter().all(|it| {
                it.is_any(&[
                    "with", "by", "using", "against", "running", "the", "it", "this", "change", "whole", "full", "a",
                    "fix", "all",
                ])
            })
    });
    if by.is_some() {
        return by;
    }
    let start = first.from.saturating_sub(6);
    let before = (start..first.from).rev().find(|at| {
        let token = &tokens[*at];
        let is_perfect = token.is_any(&["run", "rerun"])
            && tokens[..*at].iter().rev().take(2).any(|it| it.is_any(&["have", "has", "i've", "we've", "had"]));
        modality.clause[*at] == modality.clause[first.from] && (ran(token) || is_perfect)
    });
    if let Some(before) = before {
        // "ran the build script that tests": only what belongs to the check stands between.
        let fine = tokens[before + 1..first.from]
            .iter()
            .all(|token| token.sort != Sort::Punctuation || matches!(token.text.as_str(), "," | "/"));
        return fine.then_some(before);
    }
    let after = (subject.to + 1..tokens.len().min(subject.to + 4)).find(|at| {
        let token = &tokens[*at];
        let passive = tokens[*at - 1].is_any(&["were", "was", "been", "also"]);
        passive && (ran(token) || token.is_any(&["run", "rerun"]))
    });
    after.filter(|at| modality.clause[*at] == modality.clause[subject.to])
}

/// "It compiles without errors", "the project builds cleanly".
fn verbs_of(modality: &Modality<'_>, subjects: &[Subject]) -> Vec<CheckClaim> {
    let tokens = modality.tokens;
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let Some((_, kind)) = CHECK_VERBS.iter().find(|(verb, _)| token.is(verb)) else { continue };
        // "I built the project".
        let first_person = at > 0 && tokens[at - 1].is_any(&["i", "we", "i've", "we've"])
            || at > 1 && tokens[at - 1].is_any(&["have", "also"]) && tokens[at - 2].is_any(&["i", "we"]);
        let whole = tokens.get(at + 1).is_some_and(|next| next.is_any(&["the", "it", "everything", "all"]))
            && tokens.get(at + 2).is_none_or(|next| {
                next.is_any(&[
                    "project",
                    "code",
                    "workspace",
                    "crate",
                    "package",
                    "app",
                    "application",
                    "program",
                    "whole",
                    "site",
                    "image",
                    "and",
                ]) || next.sort == Sort::Punctuation
            });
        if first_person
            && whole
            && token.is_any(&["compiled", "built", "type-checked", "linted"])
            && modality.is_stated(at, at)
        {
            found.push(CheckClaim {
                kind: Some(*kind),
                says: CheckSays::WasRun,
                scope: Vec::new(),
                is_bounded: false,
                is_of_agent: false,
                is_remote: false,
                figures: Vec::new(),
            });
            continue;
        }
        let followed = tokens.get(at + 1).is_none_or(|next| {
            next.is_any(&[
                "cleanly",
                "fine",
                "successfully",
                "without",
                "again",
                "now",
                "ok",
                "okay",
                "with",
                "and",
                "correctly",
                "for",
                "on",
            ]) || matches!(next.text.as_str(), "." | "," | "!" | ";" | ")" | "✅" | "✓")
        });
        let next_is_good = tokens.get(at + 1).is_some_and(|next| {
            next.is_any(&["cleanly", "fine", "successfully", "without", "ok", "okay", "correctly"])
                || next.sort == Sort::Good
        });
        let has_subject = at > 0
            && (tokens[at - 1].is_any(&[
                "it",
                "code",
                "project",
                "everything",
                "crate",
                "workspace",
                "package",
                "app",
                "now",
                "still",
                "also",
                "that",
                "all",
                "and",
                "binary",
                "program",
                "library",
                "frontend",
                "backend",
                "typescript",
                "change",
                "both",
                "site",
            ]) || tokens[at - 1].sort == Sort::Code
                || next_is_good);
        let is_past = token.is_any(&["compiled", "built", "type-checked"]);
        if !followed || !has_subject || (is_past && !next_is_good) {
            continue;
        }
        // "a launcher that builds and starts the agents" is what a program does.
        if at > 0 && tokens[at - 1].is("that") && tokens.get(at + 1).is_some_and(|next| next.is("and")) {
            continue;
        }
        if token.is("builds") && tokens[at - 1].is_any(&["all", "and", "both"]) {
            continue;
        }
        let denied = modality
            .clause_of(at)
            .any(|place| (modality.is_failure(place) && !modality.absence[place]) || (modality.is_negation(place)));
        if denied
            || !modality.is_stated(at, at)
            || modality.is_caused(at)
            || modality.attributed(at, at) != Attribution::None
        {
            continue;
        }
        if subjects
            .iter()
            .any(|subject| subject.kind == Some(*kind) && modality.clause[subject.to] == modality.clause[at])
        {
            continue;
        }
        found.push(CheckClaim {
            kind: Some(*kind),
            says: CheckSays::Passes,
            scope: tokens.iter().filter(|it| it.is("docker")).map(|it| it.lower.clone()).collect(),
            is_bounded: false,
            is_of_agent: false,
            is_remote: false,
            figures: absence_figures(modality, at),
        });
    }
    found
}

/// "14 passed, 1 failed", "16/16 pass", "no lint errors", "everything passes", "all green".
fn without_subject(modality: &Modality<'_>, subjects: &[Subject]) -> Vec<CheckClaim> {
    let tokens = modality.tokens;
    let mut found = Vec::new();
    let claim = |kind, says, figures| CheckClaim {
        kind,
        says,
        scope: Vec::new(),
        is_bounded: false,
        is_of_agent: false,
        is_remote: false,
        figures,
    };
    // Trouble of a kind that is absent.
    let mut at = 0;
    while at < tokens.len() {
        if !modality.absence[at] {
            at += 1;
            continue;
        }
        let end = (at..tokens.len()).take_while(|place| modality.absence[*place]).last().unwrap_or(at);
        let kinds = tokens[at..=end]
            .iter()
            .filter_map(|token| TROUBLE_KINDS.iter().find(|(word, _)| token.is(word)).map(|(_, kind)| *kind));
        let kinds: Vec<CheckKind> = kinds.collect();
        let is_new =
            tokens[at..=end].iter().any(|token| token.is_any(&["new", "other", "further", "more", "additional"]));
        for kind in kinds {
            let is_told = subjects.iter().any(|subject| {
                subject.kind == Some(kind) && modality.clause[subject.to] == modality.clause[at] && subject.to < at
            });
            if !is_told && modality.is_stated(at, end) && modality.attributed(at, end) == Attribution::None {
                let mut new = claim(Some(kind), CheckSays::Passes, absence_figures(modality, at));
                new.is_bounded = is_new;
                found.push(new);
            }
        }
        at = end + 1;
    }
    let is_named = |at: usize| subjects.iter().any(|subject| modality.clause[subject.to] == modality.clause[at]);
    for (at, token) in tokens.iter().enumerate() {
        let everything = token.is_any(&["everything"])
            && tokens.get(at + 1..).is_some_and(|rest| {
                let word =
                    rest.iter().take(3).find(|it| !it.is_any(&["is", "now", "still", "else", "also", "comes", "out"]));
                word.is_some_and(|it| it.is_any(&["passes", "passed", "green", "pass"]))
            });
        let all_green = token.is("all")
            && tokens.get(at + 1).is_some_and(|next| next.is_any(&["green", "passing", "pass", "passed"]))
            && !is_named(at)
            && tokens.len() <= 6;
        if (everything && !is_named(at)) || all_green {
            let success = (at + 1..tokens.len()).find(|place| tokens[*place].is_any(SUCCESS)).unwrap_or(at);
            let denied = modality.clause_of(at).any(|place| modality.is_failure(place));
            if !denied
                && is_success(tokens, success)
                && modality.is_stated(success, success)
                && modality.attributed(at, success) == Attribution::None
                && !modality.is_caused(at)
            {
                found.push(claim(None, CheckSays::Passes, Vec::new()));
            }
        }
    }
    // "Coverage is 87 %".
    if subjects.is_empty() {
        let figures: Vec<Figure> = counted(modality, 0..tokens.len())
            .into_iter()
            .map(|(_, figure)| figure)
            .filter(|figure| figure.measure == Measure::Coverage)
            .collect();
        let place = tokens.iter().position(|it| it.is("coverage"));
        if let Some(place) = place.filter(|place| {
            !figures.is_empty()
                && modality.is_stated(*place, *place)
                && modality.attributed(*place, *place) == Attribution::None
        }) {
            let _at = place;
            found.push(claim(Some(CheckKind::Test), CheckSays::Fails, figures));
            return found;
        }
    }
    // Numbers of tests without the word.
    if !subjects.iter().any(|subject| subject.kind == Some(CheckKind::Test)) {
        let figures = counted(modality, 0..tokens.len());
        let has_tests = figures.iter().any(|(_, figure)| matches!(figure.measure, Measure::Passed | Measure::Failed));
        if has_tests {
            let first = figures[0].0;
            let fails = figures.iter().any(|(_, figure)| figure.measure == Measure::Failed && figure.value > 0.0)
                || (0..tokens.len()).any(|at| modality.is_failure(at) && !is_counted_failure(tokens, at));
            let passes = figures.iter().any(|(_, figure)| figure.measure == Measure::Passed);
            let says = if fails || !passes { CheckSays::Fails } else { CheckSays::Passes };
            if modality.is_stated(first, first + 1) && modality.attributed(first, first + 1) == Attribution::None {
                found.push(claim(Some(CheckKind::Test), says, figures.into_iter().map(|(_, figure)| figure).collect()));
            }
        }
    }
    found
}

fn is_counted_failure(tokens: &[Token], at: usize) -> bool {
    at > 0 && tokens[at - 1].sort == Sort::Number && tokens[at - 1].text == "0"
}

/// Reads the number of a word.
pub fn number_of(token: &Token) -> Option<f64> {
    match token.sort {
        Sort::Number => {
            let text = token.text.trim_end_matches('%');
            let text = text.split('/').next().unwrap_or(text);
            text.replace(',', "").parse().ok()
        }
        Sort::Word => NUMBERS.iter().find(|(word, _)| token.is(word)).map(|(_, value)| *value as f64),
        _ => None,
    }
}

fn absence_figures(modality: &Modality<'_>, near: usize) -> Vec<Figure> {
    let clause = modality.clause_of(near);
    let mut found = Vec::new();
    for at in clause {
        if modality.absence[at] && modality.tokens[at].is_any(&["warning", "warnings"]) {
            found.push(Figure { measure: Measure::Warnings, value: 0.0, is_rough: false });
        }
    }
    found
}

/// Finds the numbers of tests, errors and so on among some words, with their places.
fn counted(modality: &Modality<'_>, within: Range<usize>) -> Vec<(usize, Figure)> {
    let tokens = modality.tokens;
    let mut found: Vec<(usize, Figure)> = Vec::new();
    let mut told = 0;
    for at in within.clone() {
        let Some(value) = number_of(&tokens[at]).filter(|_| at >= told) else { continue };
        // "all but one", "one of the tests".
        if at > 0 && tokens[at - 1].is_any(&["but", "except", "minus"]) || tokens[at].is("one") {
            continue;
        }
        if modality.absence[at] && tokens[at].sort != Sort::Number {
            continue;
        }
        let next = |offset: usize| tokens.get(at + offset).filter(|_| at + offset < within.end);
        let is_rough = tokens[at.saturating_sub(3)..at]
            .iter()
            .any(|token| token.is_any(ROUGHLY) || matches!(token.text.as_str(), "~" | ">" | "<" | "≥" | "≈" | "+"))
            || next(1)
                .is_some_and(|it| it.text == "+" || it.is_any(&["or", "more", "other", "additional", "new", "extra"]))
            || tokens[at].text.ends_with('+');
        let mut measure = None;
        // "12 of 14 tests pass": the first number is that of the tests that passed.
        let (of, skip) = match next(1) {
            Some(of) if of.is("of") => (next(2).and_then(number_of), 2),
            Some(out) if out.is("out") && next(2).is_some_and(|of| of.is("of")) => (next(3).and_then(number_of), 3),
            _ => (tokens[at].text.split_once('/').and_then(|(_, total)| total.parse().ok()), 0),
        };
        for offset in 1 + skip..=4 + skip {
            let Some(token) = next(offset) else { break };
            if token.sort == Sort::Punctuation || (token.sort == Sort::Number && offset > skip) {
                break;
            }
            measure = match token.lower.as_str() {
                "passed" | "passing" | "pass" | "passes" | "green" | "succeeded" => Some(Measure::Passed),
                "failed" | "failing" | "fail" | "fails" | "failures" | "failure" => Some(Measure::Failed),
                "skipped" | "ignored" | "pending" | "todo" | "skips" => Some(Measure::Skipped),
                "suites" | "suite" => Some(Measure::Suites),
                "files" if tokens[at + offset - 1].is("test") => Some(Measure::Suites),
                "errors" | "error" => Some(Measure::Errors),
                "warnings" | "warning" => Some(Measure::Warnings),
                "problems" | "issues" | "problem" | "issue" | "offenses" => Some(Measure::Problems),
                "tests" | "test" | "specs" | "examples" | "cases" => Some(measure_of_tests(modality, at, at + offset)),
                _ => None,
            };
            // "5 failed attempts" counts no tests.
            let is_other = next(offset + 1).is_some_and(|after| {
                after.is_any(&[
                    "attempt",
                    "attempts",
                    "login",
                    "logins",
                    "request",
                    "requests",
                    "job",
                    "jobs",
                    "payment",
                    "payments",
                    "tries",
                    "deliveries",
                    "uploads",
                    "transactions",
                ])
            });
            if is_other && measure == Some(Measure::Failed) {
                measure = None;
                break;
            }
            if measure.is_some() {
                // "2 test suites", "3 test files", "5 failing tests", "test cases".
                let refined = next(offset + 1).map(|after| after.lower.as_str());
                if token.is_any(&["test", "tests"]) {
                    match refined {
                        Some("suites" | "suite" | "files") => measure = Some(Measure::Suites),
                        Some("failures" | "errors") => measure = Some(Measure::Failed),
                        _ => {}
                    }
                }
                break;
            }
            let is_filler = token.is_any(TEST_SCOPES)
                || token.sort == Sort::Code
                || (token.sort == Sort::Word && is_scope_word(&token.lower))
                || token.is_any(PLAIN)
                || token.is_any(BOUNDS)
                || token.is_any(&["newly", "related"]);
            if !is_filler || token.is_any(&["and", "in", "on", "for", "with", "so", "that"]) {
                break;
            }
        }
        if tokens[at].text.ends_with('%') || next(1).is_some_and(|it| it.is("percent") || it.text == "%") {
            let clause = modality.clause_of(at);
            let is_coverage = tokens[clause].iter().any(|it| it.is_any(&["coverage"]));
            measure = is_coverage.then_some(Measure::Coverage);
        }
        let all = tokens[at].text.split_once('/').is_some_and(|(a, b)| a == b && !a.is_empty());
        if measure.is_none()
            && (all || is_all_of(tokens, at))
            && tokens.iter().any(|it| it.is_any(&["test", "tests", "specs"]))
        {
            measure = Some(Measure::Passed);
        }
        if let Some(measure) = measure {
            found.push((at, Figure { measure, value, is_rough }));
            told = at + skip + 1;
            if let Some(total) = of
                && measure == Measure::Passed
            {
                found.push((at, Figure { measure: Measure::Total, value: total, is_rough }));
            }
        }
    }
    found
}

/// Returns what "N tests" counts: it depends on the word after it.
fn measure_of_tests(modality: &Modality<'_>, number: usize, noun: usize) -> Measure {
    let tokens = modality.tokens;
    let between = &tokens[number..noun];
    if between.iter().any(|token| token.is_any(&["failing", "failed", "broken"])) {
        return Measure::Failed;
    }
    if between.iter().any(|token| token.is_any(&["skipped", "ignored"])) {
        return Measure::Skipped;
    }
    if between.iter().any(|token| token.is_any(&["passing", "green"])) {
        return Measure::Passed;
    }
    let clause = modality.clause_of(noun);
    for token in tokens.iter().take(clause.end.min(noun + 6)).skip(noun + 1) {
        if token.is_any(&["fail", "failed", "fails", "failing", "break", "error"]) {
            return Measure::Failed;
        }
        if token.is_any(&["skipped", "ignored"]) {
            return Measure::Skipped;
        }
        if token.is_any(SUCCESS) || token.sort == Sort::Good {
            return Measure::Passed;
        }
    }
    Measure::Total
}

/// Returns the numbers that a sentence gives for a check.
fn figures_near(
    modality: &Modality<'_>,
    subject: &Subject,
    predicate: Option<usize>,
    subjects: &[Subject],
) -> Vec<Figure> {
    let whole = 0..modality.tokens.len();
    let others = subjects.iter().any(|other| other.kind != subject.kind && other.from != subject.from);
    let is_own = |measure: Measure| {
        matches!(
            (subject.kind, measure),
            (
                Some(CheckKind::Test),
                Measure::Passed
                    | Measure::Failed
                    | Measure::Skipped
                    | Measure::Total
                    | Measure::Suites
                    | Measure::Coverage
            ) | (Some(CheckKind::Test), Measure::Warnings)
                | (Some(CheckKind::Build), Measure::Warnings | Measure::Errors)
                | (Some(CheckKind::Types), Measure::Errors | Measure::Warnings)
                | (Some(CheckKind::Lint), Measure::Errors | Measure::Warnings | Measure::Problems)
                | (Some(CheckKind::Format), Measure::Problems)
        )
    };
    let near = predicate.unwrap_or(subject.to);
    let clause = modality.clause_of(subject.to);
    let mut found: Vec<Figure> = counted(modality, whole)
        .into_iter()
        .filter(|(at, figure)| {
            let is_near = clause.contains(at) || !others || at.abs_diff(near) < 6;
            let test_figure = matches!(
                figure.measure,
                Measure::Passed | Measure::Failed | Measure::Skipped | Measure::Total | Measure::Suites
            );
            // A number right before another check belongs to that one.
            let is_others = subjects.iter().any(|other| {
                other.kind != subject.kind
                    && other.from != subject.from
                    && *at < other.from
                    && other.from - at <= 3
                    && subject.from > *at
            });
            is_own(figure.measure) && (is_near || test_figure) && !is_others
        })
        .map(|(_, figure)| figure)
        .collect();
    if matches!(subject.kind, Some(CheckKind::Build | CheckKind::Lint | CheckKind::Types)) {
        for figure in absence_figures(modality, near) {
            if !found.contains(&figure) {
                found.push(figure);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checks(text: &str) -> Vec<(Option<CheckKind>, CheckSays, Vec<String>)> {
        claims_in(text)
            .claims
            .into_iter()
            .filter_map(|claim| match claim.statement {
                Statement::Check(check) => Some((check.kind, check.says, check.scope)),
                _ => None,
            })
            .collect()
    }

    use CheckKind::{Build, Lint, Test, Types};

    #[test]
    fn lists_of_files_that_were_changed_are_read() {
        for (text, expected) in [
            (
                "**Files Modified:**\n- `/srv/shop/run.sh` (main script)\n- `check.sh` (new)",
                vec!["/srv/shop/run.sh", "check.sh"],
            ),
            (
                "### Key Files Created/Modified:\n1. **`src/a.py`** - the parser\n2. **`src/b.py`**\n\nIt reads c.py.",
                vec!["src/a.py", "src/b.py"],
            ),
            ("Files created:\n\n* notes.py\n", vec!["notes.py"]),
            ("Files to create:\n- `a.py`", vec![]),
            ("Files not modified:\n- `a.py`", vec![]),
            ("Files changed in the pull request:\n- `a.py`", vec![]),
            ("Files modified:\n- `a.py` will follow\n- [ ] `b.py`", vec![]),
            ("Files modified:\nThe list is long.\n- `a.py`", vec![]),
            ("## Goals\n### Files created\n- `a.py`", vec![]),
            ("I created `src/a.py`.\n\nFiles created:\n- `a.py`\n- `b.py`", vec!["b.py"]),
        ] {
            let found: Vec<String> = claims_in(text)
                .claims
                .into_iter()
                .filter_map(|claim| match claim.statement {
                    Statement::Action(action) if action.is_listed => Some(action.files.concat()),
                    _ => None,
                })
                .collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn success_is_recognised_in_many_words() {
        for (text, kinds) in [
            ("All 14 tests pass.", vec![Test]),
            ("Apostrophes are allowed in names now, and all tests pass.", vec![Test]),
            ("I ran the tests, they are all green.", vec![Test]),
            ("The option is renamed. I ran the tests, they are all green.", vec![Test]),
            ("cargo test passes, and NOTES.md says so.", vec![Test]),
            ("The divisor was wrong; all 5 tests pass.", vec![Test]),
            ("checksum() is right for the sample file now, 3 tests pass.", vec![Test]),
            ("✅ Tests passing", vec![Test]),
            ("- [x] unit tests pass", vec![Test]),
            ("| tests | ok |", vec![Test]),
            ("Tests and lint pass.", vec![Test, Lint]),
            ("Lint, types and tests are green.", vec![Lint, Types, Test]),
            ("The build succeeds and the linter is happy.", vec![Build, Lint]),
            ("It compiles without errors.", vec![Build]),
            ("No lint errors.", vec![Lint]),
            ("`npm test` is green", vec![Test]),
            ("`tsc --noEmit` reports no errors", vec![Types]),
            ("16 of 16 pass.", vec![Test]),
            ("It passes all tests.", vec![Test]),
            ("The test suite is clean.", vec![Test]),
            ("The tests pass, but the linter complains.", vec![Test]),
            ("mypy: 0 issues", vec![Types]),
            ("I can confirm that all tests pass.", vec![Test]),
        ] {
            let found: Vec<CheckKind> = checks(text).into_iter().filter_map(|(kind, _, _)| kind).collect();
            assert_eq!(found, kinds, "{text}: {:?}", checks(text));
        }
    }

    #[test]
    fn what_is_no_claim_is_none() {
        for text in [
            "Let me verify that the tests pass.",
            "Now run the tests.",
            "The tests should pass.",
            "The tests will pass once this is merged.",
            "If the tests pass, merge it.",
            "Run `cargo test` to make sure the tests pass.",
            "Do the tests pass?",
            "The README says \"all tests pass\".",
            "According to ci.log, all tests pass.",
            "You say that the tests pass.",
            "The tests do not pass.",
            "The tests were not run.",
            "All tests pass except test_mail.",
            "The tests passed before I changed the parser.",
            "The tests pass the `long` parameter.",
            "This makes the test pass regardless.",
            "The patch applied cleanly.",
            "The file looks clean.",
            "This is pass-2 of the tests.",
            "The tests are unverified.",
            "```\nall tests pass\n```",
            "> all tests pass",
            "- [ ] tests pass",
            "We need the tests to pass.",
            "All tests pass, but two fail.",
            "I could not get the tests to pass.",
            "Make sure the linter is happy.",
        ] {
            let found = checks(text);
            assert!(found.iter().all(|(_, says, _)| *says != CheckSays::Passes), "{text}: {found:?}");
        }
    }

    #[test]
    fn scopes_and_numbers_are_kept() {
        let scope = |text: &str| checks(text).into_iter().next().map(|(_, _, scope)| scope).unwrap_or_default();
        assert_eq!(scope("All 22 widget tests pass."), ["widget"]);
        assert_eq!(scope("The unit tests pass."), ["unit"]);
        assert_eq!(scope("`TestParse` passes."), ["TestParse"]);
        assert_eq!(scope("The tests for the parser pass."), ["parser"]);
        assert!(scope("All tests pass.").is_empty());
        let figures = |text: &str| -> Vec<(Measure, f64)> {
            let claims = claims_in(text).claims;
            let check = claims.into_iter().find_map(|claim| match claim.statement {
                Statement::Check(check) => Some(check),
                _ => None,
            });
            check
                .map(|check| check.figures.iter().map(|figure| (figure.measure, figure.value)).collect())
                .unwrap_or_default()
        };
        assert_eq!(figures("All 14 tests pass."), [(Measure::Passed, 14.0)]);
        assert_eq!(figures("12 of 14 tests pass."), [(Measure::Passed, 12.0), (Measure::Total, 14.0)]);
        assert_eq!(figures("18 passed, 1 failed."), [(Measure::Passed, 18.0), (Measure::Failed, 1.0)]);
        assert_eq!(figures("Two tests still fail."), [(Measure::Failed, 2.0)]);
        assert_eq!(figures("The build has no warnings."), [(Measure::Warnings, 0.0)]);
    }

    #[test]
    fn runs_are_claims_too() {
        assert_eq!(checks("I ran the test suite.")[0].1, CheckSays::WasRun);
        assert_eq!(checks("I have run pytest.")[0].1, CheckSays::WasRun);
        assert!(checks("I have not run the tests.").is_empty());
    }

    proptest::proptest! {
        #[test]
        fn any_answer_has_claims_within_it(text in "[a-zA-Z0-9 .,;:`\"'✅\\[\\]()|\\n-]{0,300}") {
            for claim in claims_in(&text).claims {
                proptest::prop_assert_eq!(&text[claim.range.clone()], &claim.text[..]);
            }
        }
    }
}
