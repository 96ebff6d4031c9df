//! Patterns of `grep`.

use regex::{Regex, RegexBuilder};

/// Size in bytes of the longest pattern.
pub const MAX_PATTERN_BYTES: usize = 64 << 10;

/// Most bytes of memory for a compiled pattern, and again for the cache of its search.
pub const MAX_COMPILED_BYTES: usize = 16 << 20;

/// Whether upper and lower case are distinguished.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CaseRule {
    /// They are.
    #[default]
    Exact,
    /// They are not.
    Ignored,
    /// They are if the pattern has an upper-case letter.
    Smart,
}

/// Syntax of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Syntax {
    /// A regular expression.
    #[default]
    Regex,
    /// Plain text.
    Fixed,
}

/// Why a pattern cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PatternError {
    /// The pattern is too long.
    #[error("the pattern has {bytes} bytes; at most {MAX_PATTERN_BYTES} are taken")]
    TooLong {
        /// Size of the pattern in bytes.
        bytes: usize,
    },
    /// The pattern matches line feeds, but lines are searched one by one.
    #[error("the pattern contains a line feed, but is matched line by line")]
    LineEnd,
    /// The pattern is not a regular expression, or takes too much memory.
    #[error("the pattern cannot be used as a regular expression: {reason}")]
    Regex {
        /// The reason, in one line.
        reason: String,
    },
}

impl From<regex::Error> for PatternError {
    fn from(error: regex::Error) -> Self {
        let message = error.to_string();
        // The other lines show the pattern with a marker.
        let last = message.lines().last().unwrap_or_default();
        Self::Regex { reason: last.trim_start_matches("error: ").to_owned() }
    }
}

/// A compiled pattern that lines are matched against.
#[derive(Debug, Clone)]
pub struct Matcher {
    regex: Regex,
}

impl Matcher {
    /// Compiles patterns. A line matches if one of them matches. See [`WholeWords`] for where matches may begin and
    /// end.
    ///
    /// # Errors
    ///
    /// Returns an error if a pattern is not a regular expression, or if all patterns together are too large.
    pub fn new(patterns: &[&str], syntax: Syntax, case: CaseRule, words: WholeWords) -> Result<Self, PatternError> {
        let bytes = patterns.iter().map(|pattern| pattern.len()).sum();
        if bytes > MAX_PATTERN_BYTES {
            return Err(PatternError::TooLong { bytes });
        }
        if patterns.iter().any(|pattern| pattern.contains('\n')) {
            return Err(PatternError::LineEnd);
        }
        let mut alternatives = Vec::with_capacity(patterns.len());
        for pattern in patterns {
            alternatives.push(match syntax {
                Syntax::Fixed => regex::escape(pattern),
                Syntax::Regex => {
                    // Compiled separately first, so that no pattern can close the group that it is put into.
                    builder(pattern).build()?;
                    // If the pattern ends with a comment of the extended syntax, only a line feed ends the comment. The
                    // line feed itself is ignored in that syntax.
                    if pattern.contains('#') && builder(&format!("(?:{pattern})")).build().is_err() {
                        format!("(?:{pattern}\n)")
                    } else {
                        format!("(?:{pattern})")
                    }
                }
            });
        }
        let any = alternatives.join("|");
        let whole = match words {
            WholeWords::Yes => format!(r"(?:\b{{start-half}}(?:{any})\b{{end-half}})"),
            WholeWords::AsLine => format!("^(?:{any})$"),
            WholeWords::No => any,
        };
        let ignores_case = match case {
            CaseRule::Exact => false,
            CaseRule::Ignored => true,
            CaseRule::Smart => !patterns.iter().any(|pattern| has_upper_case(pattern, syntax)),
        };
        let regex = builder(&whole).case_insensitive(ignores_case).build()?;
        Ok(Self { regex })
    }

    /// Returns whether a line matches.
    pub fn is_match(&self, line: &str) -> bool {
        self.regex.is_match(line)
    }

    /// Returns the byte ranges of the matches in a line. Empty matches are left out.
    pub fn find_all<'m>(&'m self, line: &'m str) -> impl Iterator<Item = (usize, usize)> + 'm {
        self.regex.find_iter(line).map(|found| (found.start(), found.end())).filter(|(start, end)| start < end)
    }
}

/// Whether a match must be a whole word or line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WholeWords {
    /// A match must be a whole word.
    Yes,
    /// A match must be a whole line.
    AsLine,
    /// A match may be part of a word.
    #[default]
    No,
}

fn builder(pattern: &str) -> RegexBuilder {
    let mut builder = RegexBuilder::new(pattern);
    builder.size_limit(MAX_COMPILED_BYTES).dfa_size_limit(MAX_COMPILED_BYTES);
    builder
}

/// Returns whether a pattern has an upper-case letter that is not the name of a class, such as `\W` or `\p{Lu}`.
fn has_upper_case(pattern: &str, syntax: Syntax) -> bool {
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        if syntax == Syntax::Regex && c == '\\' {
            if matches!(chars.next(), Some('p' | 'P')) && chars.peek() == Some(&'{') {
                chars.by_ref().find(|c| *c == '}');
            }
        } else if c.is_uppercase() {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matcher(pattern: &str, case: CaseRule, words: WholeWords) -> Matcher {
        Matcher::new(&[pattern], Syntax::Regex, case, words).expect("a pattern")
    }

    #[test]
    fn case_counts_as_it_is_asked_to() {
        let is_match =
            |pattern: &str, case: CaseRule, line: &str| matcher(pattern, case, WholeWords::No).is_match(line);
        assert!(!is_match("error", CaseRule::Exact, "ERROR"));
        assert!(is_match("Error", CaseRule::Ignored, "eRROR"));
        assert!(is_match("error", CaseRule::Smart, "ERROR"));
        assert!(!is_match("Error", CaseRule::Smart, "ERROR"));
        assert!(is_match(r"err\w\p{Ll}r", CaseRule::Smart, "ERRoOR"));
    }

    #[test]
    fn words_begin_and_end() {
        let words = matcher("foo|ba.", CaseRule::Exact, WholeWords::Yes);
        assert_eq!(words.find_all("foo foot bar").collect::<Vec<_>>(), [(0, 3), (9, 12)]);
        let lines = matcher("foo|ba.", CaseRule::Exact, WholeWords::AsLine);
        assert!(lines.is_match("bar") && !lines.is_match("foo bar") && !lines.is_match("foot"));
        let minus = matcher("-2", CaseRule::Exact, WholeWords::Yes);
        assert!(minus.is_match("a -2 b"), "like in ripgrep, a whole word may begin with a minus");
    }

    #[test]
    fn several_patterns_are_one() {
        let any = Matcher::new(&["a.c", "x"], Syntax::Fixed, CaseRule::Exact, WholeWords::No).expect("patterns");
        assert!(any.is_match("a.c") && any.is_match("x") && !any.is_match("abc"));
        let any = Matcher::new(&["(?x) a # b", "y"], Syntax::Regex, CaseRule::Exact, WholeWords::No);
        assert!(any.is_ok_and(|any| any.is_match("y") && any.is_match("a")));
    }

    #[test]
    fn hostile_patterns_are_refused() {
        let refused = |pattern: &str| {
            Matcher::new(&[pattern], Syntax::Regex, CaseRule::Exact, WholeWords::No).expect_err("refused").to_string()
        };
        assert!(refused(r"(?:\w{1000}){1000}").contains("size limit"));
        assert!(refused("a)(b").contains("unopened group"));
        assert!(refused("a\nb").contains("line feed"));
        let long = "x".repeat(MAX_PATTERN_BYTES + 1);
        assert!(refused(&long).contains("65537 bytes"));
        assert!(Matcher::new(&["x"], Syntax::Regex, CaseRule::Exact, WholeWords::No).is_ok());
    }
}
