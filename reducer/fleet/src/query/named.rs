//! The named questions.

use std::sync::LazyLock;

/// A named question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// Its name, without `@`.
    pub name: &'static str,
    /// What it answers.
    pub text: String,
    /// The SQL.
    pub sql: &'static str,
    /// Names of its parameters, without `$`.
    pub parameters: Vec<&'static str>,
}

static ALL: LazyLock<Vec<Named>> = LazyLock::new(|| parse(include_str!("../../queries.sql")));

/// Returns all named questions.
pub fn all() -> &'static [Named] {
    &ALL
}

/// Returns the question with this name, with or without `@`.
pub fn find(name: &str) -> Option<&'static Named> {
    let name = name.strip_prefix('@').unwrap_or(name);
    ALL.iter().find(|named| named.name == name)
}

fn parse(text: &'static str) -> Vec<Named> {
    let mut found = Vec::new();
    for part in text.split("\n-- @").skip(1) {
        let (name, rest) = part.split_once('\n').unwrap_or((part, ""));
        let sql_at = rest.lines().take_while(|line| line.starts_with("--")).map(|line| line.len() + 1).sum::<usize>();
        let text: Vec<&str> = rest[..sql_at].lines().map(|line| line.trim_start_matches("--").trim()).collect();
        let sql = rest[sql_at..].trim().trim_end_matches(';');
        found.push(Named { name: name.trim(), text: text.join(" "), sql, parameters: parameters(sql) });
    }
    found
}

/// Returns the names of the parameters of a statement, each once.
pub fn parameters(sql: &str) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for (at, _) in sql.match_indices('$') {
        let rest = &sql[at + 1..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let name = &rest[..end];
        if !name.is_empty() && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_question_has_a_name_a_text_and_one_statement() {
        assert!(all().len() >= 20, "{}", all().len());
        for named in all() {
            assert!(named.text.ends_with('.'), "{}: {}", named.name, named.text);
            assert!(named.sql.starts_with("SELECT") || named.sql.starts_with("WITH"), "{}", named.name);
            assert!(!named.sql.contains(';'), "{}", named.name);
            assert_eq!(all().iter().filter(|other| other.name == named.name).count(), 1, "{}", named.name);
        }
        assert_eq!(find("@worse").map(|named| named.parameters.clone()), Some(vec!["after", "before"]));
        assert_eq!(find("nothing"), None);
    }
}
