//! What shells offer for arguments: paths, and the ids of the sessions of this user.
//!
//! A completion runs while somebody types, so it reads no session. It lists the files of the stores, takes what the cache has
//! of them, and opens a few new files at most. Nothing is written. What is offered goes into a command line, so ids with other
//! characters than those of ids are left out.

use std::cmp::Reverse;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::Path;

use clap_complete::engine::{PathCompleter, ValueCompleter as _};
use clap_complete::env::{self, EnvCompleter, Shells};
use clap_complete::{CompleteEnv, CompletionCandidate};
use trace_import::{SessionRef, Summary};

use crate::named::LAST;
use crate::ui::text;
use crate::{cache, foreign};

/// Variable by which the script of a shell asks for candidates. It has the name of the shell.
pub(crate) const VARIABLE: &str = "TRACE_COMPLETE";

/// The shells whose scripts ask for candidates.
pub(crate) const SHELLS: Shells<'static> = Shells(&[&Bash, &env::Zsh, &env::Fish]);

/// Files without an entry in the cache that are opened.
const NEW_FILES: usize = 64;

/// Sessions that are offered as long as nothing is typed. All that begin with the typed text are offered.
const FIRST_SESSIONS: usize = 30;

/// Most columns of the description of a session.
const DESCRIPTION_COLUMNS: usize = 60;

/// Answers the script of a shell if it asks for candidates. Returns whether it did.
///
/// # Errors
///
/// Returns an error if the shell is not known, or stdout cannot be written to.
pub(crate) fn answer(command: impl Fn() -> clap::Command) -> clap::error::Result<bool> {
    let folder = std::env::current_dir().ok();
    CompleteEnv::with_factory(command).var(VARIABLE).shells(SHELLS).try_complete(std::env::args_os(), folder.as_deref())
}

/// Bash inserts a candidate as it is, so a path with a space or a `$` would be another command line. Such paths are left out if
/// sessions are offered, and left to Bash otherwise, which completes and quotes paths itself if there are no candidates.
struct Bash;

impl EnvCompleter for Bash {
    fn name(&self) -> &'static str {
        env::Bash.name()
    }

    fn is(&self, name: &str) -> bool {
        env::Bash.is(name)
    }

    fn write_registration(
        &self,
        var: &str,
        name: &str,
        bin: &str,
        completer: &str,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut script = Vec::new();
        env::Bash.write_registration(var, name, bin, completer, &mut script)?;
        let script = String::from_utf8_lossy(&script).replace("-o bashdefault", "-o bashdefault -o default");
        out.write_all(script.replace(r#"-- "${words[@]}" \"#, r#"-- "${words[@]}" 2> /dev/null \"#).as_bytes())
    }

    fn write_complete(
        &self,
        command: &mut clap::Command,
        mut words: Vec<OsString>,
        folder: Option<&Path>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let variable = |name: &str| std::env::var(name).ok();
        let mut index: usize =
            variable("_CLAP_COMPLETE_INDEX").and_then(|index| index.parse().ok()).unwrap_or_default();
        // Bash takes the @ of @last for a word of its own, and has it in the next word as well.
        let starts_with_at = |word: &OsString| word.as_encoded_bytes().starts_with(b"@");
        if index > 0
            && words.get(index - 1).is_some_and(|word| word == "@")
            && words.get(index).is_some_and(starts_with_at)
        {
            index -= 1;
            words.remove(index);
        }
        let found = clap_complete::engine::complete(command, words, index, folder)?;
        let values: Vec<_> = found.iter().map(|found| found.get_value().to_string_lossy().into_owned()).collect();
        let (literal, others): (Vec<_>, Vec<_>) = values.into_iter().partition(|value| is_literal_in_bash(value));
        // Bash offers paths alone if nothing is offered here, so sessions must not give way to a path with a space.
        let is_session = |value: &String| *value == LAST || !Path::new(value).exists();
        if others.is_empty() || literal.iter().any(is_session) {
            let separator = variable("_CLAP_IFS").unwrap_or_else(|| "\n".to_owned());
            out.write_all(literal.join(&separator).as_bytes())?;
        }
        Ok(())
    }
}

fn is_literal_in_bash(text: &str) -> bool {
    let is_literal = |letter: char| letter.is_alphanumeric() || "-_./@:=+,%~#".contains(letter);
    text.chars().all(is_literal) && !text.starts_with('#')
}

/// Offers paths, `@last`, and the ids of sessions. Behind a store and `#`, the ids of the store are offered.
pub(crate) fn offer_sessions(typed: &OsStr) -> Vec<CompletionCandidate> {
    let text = typed.to_string_lossy();
    if let Some((store, id)) = text.rsplit_once(foreign::OF_STORE) {
        let stored = cache::load().find_quickly(Path::new(store), NEW_FILES);
        let argument = |session: &SessionRef| Some(format!("{store}{}{}", foreign::OF_STORE, session.id.as_deref()?));
        let fits =
            |session: &&SessionRef| session.id.as_deref().is_some_and(|own| own.starts_with(id) && is_plain(own));
        return stored.iter().filter(fits).filter_map(argument).map(CompletionCandidate::new).collect();
    }
    let paths = PathCompleter::any().complete(typed);
    let is_path = text.contains(std::path::is_separator) || text.starts_with(['.', '~', '-']);
    if is_path {
        return paths;
    }
    let last = Some(CompletionCandidate::new(LAST).help(Some("the session that was written last".into())));
    let last = last.filter(|_| LAST.starts_with(&*text));
    last.into_iter().chain(sessions(&text, |_| true)).chain(paths).collect()
}

/// Offers the ids of sessions that are in stores of several.
pub(crate) fn offer_stored(typed: &OsStr) -> Vec<CompletionCandidate> {
    sessions(&typed.to_string_lossy(), |session| session.id.is_some())
}

/// Offers the sessions of this user whose id begins with what was typed, newest first.
fn sessions(typed: &str, is_wanted: impl Fn(&SessionRef) -> bool) -> Vec<CompletionCandidate> {
    if !typed.is_empty() && !is_plain(typed) {
        return Vec::new();
    }
    let mut catalog = cache::load();
    let stores = foreign::stores();
    let all: Vec<SessionRef> = stores.iter().flat_map(|store| catalog.find_quickly(store, NEW_FILES)).collect();
    let mut found: Vec<(String, &SessionRef, Option<Summary>)> = all
        .iter()
        .filter(|session| is_wanted(session))
        .filter_map(|session| {
            let summary = catalog.remembered(session);
            let id = id(session, summary.as_ref()).filter(|id| id.starts_with(typed) && is_plain(id))?;
            Some((id, session, summary))
        })
        .collect();
    // Sessions without a summary are new.
    found.sort_by_key(|(id, _, summary)| {
        let started = summary.as_ref().and_then(|summary| summary.started_at);
        (summary.is_some(), Reverse(started), id.clone())
    });
    found.dedup_by(|one, other| one.0 == other.0);
    if typed.is_empty() {
        found.truncate(FIRST_SESSIONS);
    }
    let candidate = |(id, session, summary): (String, &SessionRef, Option<Summary>)| {
        CompletionCandidate::new(id).help(Some(describe(session, summary.as_ref()).into()))
    };
    found.into_iter().map(candidate).collect()
}

/// Returns the id by which a session can be named.
fn id(session: &SessionRef, summary: Option<&Summary>) -> Option<String> {
    let known = summary.map(|summary| summary.id.clone()).filter(|id| !id.is_empty());
    let in_name = || {
        let stem = session.path.file_name()?.to_str()?.split('.').next()?;
        Some(stem.get(stem.len().saturating_sub(UUID_CHARS)..)?.to_owned())
    };
    session.id.clone().or(known).or_else(in_name)
}

/// Characters of the ids at the ends of file names.
const UUID_CHARS: usize = 36;

fn describe(session: &SessionRef, summary: Option<&Summary>) -> String {
    let agent = trace_import::format(session.format).map_or(session.format, trace_import::Format::agent);
    let Some(summary) = summary else { return agent.to_owned() };
    let started = summary.started_at.map(text::short_moment).unwrap_or_default();
    let folder = summary.cwd.as_deref().and_then(|cwd| Path::new(cwd).file_name()?.to_str());
    let about = summary.title.as_deref().or(folder).unwrap_or_default();
    text::preview(format!("{agent} {started} {about}").trim_end(), DESCRIPTION_COLUMNS)
}

/// Returns whether a text means the same in every shell, quoted or not.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
        && !text.starts_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_ids_are_offered() {
        assert!(is_plain("01a20517-0d54") && is_plain("ses_1.2"));
        for text in ["$(id)", "a;b", "a b", "`a`", "a\nb", "-o", "a'b", "é"] {
            assert!(!is_plain(text), "{text}");
        }
    }

    #[test]
    fn bash_gets_no_candidate_that_it_would_interpret() {
        assert!(
            is_literal_in_bash("~/a-b/c_d.jsonl")
                && is_literal_in_bash("opencode.db#ses_1")
                && is_literal_in_bash("@last")
        );
        for text in ["a b", "$(id)", "a;b", "`a`", "a&b", "a'b", "a\nb", "#a", "a*", "a>b"] {
            assert!(!is_literal_in_bash(text), "{text}");
        }
    }

    #[test]
    fn a_session_without_a_summary_is_named_by_its_file() {
        let named = |file: &str| id(&SessionRef::file("codex", Path::new(file)), None);
        let uuid = "01a20517-0d54-7e41-a528-ca5c72628276";
        assert_eq!(named(&format!("rollout-2026-11-22T21-08-46-{uuid}.jsonl.zst")).as_deref(), Some(uuid));
        assert_eq!(named("short.jsonl").as_deref(), Some("short"));
    }
}
