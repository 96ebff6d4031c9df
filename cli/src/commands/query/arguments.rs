//! Which arguments are bundles, and what the query is.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use trace_query::{MAX_SQL_BYTES, named};

use crate::ui::failure::Failure;
use crate::ui::text;

/// What the arguments say.
#[derive(Debug)]
pub(super) struct Arguments {
    pub(super) bundles: Vec<PathBuf>,
    /// The text of the query, if there is one.
    pub(super) sql: Option<String>,
}

/// Where the text of a query is.
#[derive(Debug, PartialEq, Eq)]
enum Written {
    Here(String),
    Named(String),
    InFile(PathBuf),
    OnStdin,
}

const USAGE: &str = "trace query BUNDLE... \"SELECT ...\", or @NAME, @FILE or - in its place; --tables and --queries list \
                     what there is";

/// Takes the arguments apart: bundles first, the query last. A query may be missing when the database is kept.
///
/// # Errors
///
/// Fails when there is no bundle or no query, or the query is in a file that cannot be read.
pub(super) fn split(arguments: &[OsString], is_kept: bool) -> Result<Arguments, Failure> {
    let (last, before) = arguments.split_last().ok_or_else(|| Failure::usage("no bundle is named").with_hint(USAGE))?;
    let Some(written) = written(last, Path::new(last).exists()) else {
        if is_kept {
            return Ok(Arguments { bundles: arguments.iter().map(PathBuf::from).collect(), sql: None });
        }
        let last = last.to_string_lossy();
        let message = if Path::new(&*last).exists() {
            "the query is missing".to_owned()
        } else {
            format!("{last} is neither a query nor a bundle")
        };
        return Err(Failure::usage(message).with_hint(USAGE));
    };
    if before.is_empty() {
        return Err(Failure::usage("no bundle is named").with_hint(USAGE));
    }
    Ok(Arguments { bundles: before.iter().map(PathBuf::from).collect(), sql: Some(read(written)?) })
}

/// Says where the text of a query is; `None` for an argument that is none.
fn written(argument: &OsString, is_path: bool) -> Option<Written> {
    let text = argument.to_str()?;
    if let Some(name) = text.strip_prefix('@') {
        let is_file = name.contains(['/', '\\']) || name.ends_with(".sql");
        return Some(if is_file { Written::InFile(name.into()) } else { Written::Named(name.to_owned()) });
    }
    if text == "-" {
        return Some(Written::OnStdin);
    }
    // SQL has more than one word. A path can have spaces too, but then it is there.
    let is_sql = !is_path && text.trim().contains(char::is_whitespace);
    is_sql.then(|| Written::Here(text.to_owned()))
}

fn read(written: Written) -> Result<String, Failure> {
    let read = |file: &mut dyn Read, name: String| {
        let mut sql = String::new();
        let read = file.take(MAX_SQL_BYTES as u64 + 1).read_to_string(&mut sql);
        read.map_err(|error| Failure::usage(format!("cannot read the query {name}: {error}"))).map(|_| sql)
    };
    match written {
        Written::Here(sql) => Ok(sql),
        Written::OnStdin => read(&mut io::stdin().lock(), "on stdin".to_owned()),
        Written::InFile(path) => {
            let name = format!("in {}", path.display());
            let mut file =
                File::open(&path).map_err(|error| Failure::usage(format!("cannot read the query {name}: {error}")))?;
            read(&mut file, name)
        }
        Written::Named(name) => named::find(&name).map(|query| query.sql.to_owned()).ok_or_else(|| unknown(&name)),
    }
}

/// Says that no query has a name.
pub(super) fn unknown(name: &str) -> Failure {
    let like: Vec<String> =
        named::all().iter().filter(|query| is_like(query.name, name)).map(|query| format!("@{}", query.name)).collect();
    let hint = if like.is_empty() {
        "`trace query --queries` lists them; the name of a file ends in .sql or has a /".to_owned()
    } else {
        format!("there is {}; `trace query --queries` lists them all", like.join(", "))
    };
    Failure::usage(format!("no query is named @{}", text::clean(name))).with_hint(hint)
}

/// Says whether two names share a word.
fn is_like(name: &str, other: &str) -> bool {
    let stem = |word: &str| word.trim_end_matches('s').to_lowercase();
    let words: Vec<String> = name.split('-').map(stem).collect();
    other.split(['-', '_']).map(stem).any(|word| word.len() > 2 && words.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_told_from_bundles() {
        let at = |text: &str, is_path| written(&OsString::from(text), is_path);
        assert_eq!(at("SELECT 1", false), Some(Written::Here("SELECT 1".into())));
        assert_eq!(at("traces/my session", true), None);
        assert_eq!(at("traces/nothing", false), None);
        assert_eq!(at("@failed-turns", false), Some(Written::Named("failed-turns".into())));
        assert_eq!(at("@mine.sql", false), Some(Written::InFile("mine.sql".into())));
        assert_eq!(at("@./mine", true), Some(Written::InFile("./mine".into())));
        assert_eq!(at("-", false), Some(Written::OnStdin));
    }

    #[test]
    fn names_that_are_meant_are_found() {
        assert!(is_like("failed-turns", "turn") && is_like("failed-turns", "failed_turn"));
        assert!(!is_like("failed-turns", "s"));
    }
}
