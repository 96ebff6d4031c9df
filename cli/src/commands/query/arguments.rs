//! Splits the arguments into bundles and the query.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use trace_query::{MAX_SQL_BYTES, named};

use crate::ui::failure::Failure;
use crate::ui::text;

/// The arguments of a query.
#[derive(Debug)]
pub(super) struct Arguments {
    pub(super) bundles: Vec<PathBuf>,
    /// The text of the query; `None` if there is no query.
    pub(super) sql: Option<String>,
}

/// Where the text of a query comes from.
#[derive(Debug, PartialEq, Eq)]
enum Written {
    Here(String),
    Named(String),
    InFile(PathBuf),
    OnStdin,
}

const USAGE: &str = "trace query BUNDLE... \"SELECT ...\", or @NAME, @FILE or - instead of SQL; --tables and --queries list \
                     what there is";

/// Splits the arguments: bundles first, the query last. The query is optional if `is_kept`, which means that the
/// database is kept.
///
/// # Errors
///
/// Returns an error if there is no bundle or no query, or if the query is in a file that cannot be read.
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

/// Returns where the text of a query is; `None` if the argument is not a query.
fn written(argument: &OsString, is_path: bool) -> Option<Written> {
    let text = argument.to_str()?;
    if let Some(name) = text.strip_prefix('@') {
        let is_file = name.contains(['/', '\\']) || name.ends_with(".sql");
        return Some(if is_file { Written::InFile(name.into()) } else { Written::Named(name.to_owned()) });
    }
    if text == "-" {
        return Some(Written::OnStdin);
    }
    // A statement has more than one word. A path can contain spaces too, but then it exists.
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

/// Returns the failure for an unknown name of a query.
pub(super) fn unknown(name: &str) -> Failure {
    let like: Vec<String> =
        named::all().iter().filter(|query| is_like(query.name, name)).map(|query| format!("@{}", query.name)).collect();
    let hint = if like.is_empty() {
        "`trace query --queries` lists them; a file name ends in .sql or contains a /".to_owned()
    } else {
        format!("did you mean {}? `trace query --queries` lists all names", like.join(", "))
    };
    Failure::usage(format!("no query is named @{}", text::clean(name))).with_hint(hint)
}

/// Returns whether two names have a word in common.
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
