//! Ranks paths for a query.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use trace_protocol::RpcError;
use trace_protocol::search::{FuzzyFileSearchMatchType, FuzzyFileSearchResult};

use super::walk::{Found, Kind, Root};

/// Most files that a search returns.
pub const MAX_MATCHES: usize = 50;
/// Most characters of a query.
pub const MAX_QUERY_CHARS: usize = 1_000;

/// Keeps the best paths for a query.
pub(super) struct Ranking {
    pattern: Pattern,
    matcher: Matcher,
    /// The best candidates. The top of the heap is the worst of them.
    best: BinaryHeap<Reverse<Candidate>>,
    letters: Vec<char>,
}

/// A path that matches. The order of the fields makes the greatest candidate the best: by score, then by length
/// (shorter is better), then alphabetically.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    score: u32,
    length: Reverse<usize>,
    path: Reverse<Box<str>>,
    root: Reverse<usize>,
    is_folder: bool,
}

impl Ranking {
    /// Creates a ranking. The words of the query may match in any order.
    pub(super) fn new(query: &str) -> Self {
        Self {
            pattern: Pattern::new(query, CaseMatching::Smart, Normalization::Smart, AtomKind::Fuzzy),
            matcher: Matcher::new(Config::DEFAULT.match_paths()),
            best: BinaryHeap::new(),
            letters: Vec::new(),
        }
    }

    /// Adds a path if it is among the best.
    pub(super) fn consider(&mut self, found: &Found) {
        if self.pattern.atoms.is_empty() {
            return;
        }
        let Some(of_path) = self.score(&found.path) else { return };
        // Users mostly know the name of a file, so the score of the name is added to that of the path.
        let name = name_of(&found.path);
        let of_name = if name.len() == found.path.len() { Some(of_path) } else { self.score(name) };
        let candidate = Candidate {
            score: of_path.saturating_add(of_name.unwrap_or(0)),
            length: Reverse(found.path.len()),
            path: Reverse(found.path.clone()),
            root: Reverse(found.root),
            is_folder: found.kind == Kind::Folder,
        };
        if self.best.len() < MAX_MATCHES {
            self.best.push(Reverse(candidate));
        } else if let Some(mut worst) = self.best.peek_mut()
            && worst.0 < candidate
        {
            *worst = Reverse(candidate);
        }
    }

    /// Returns the best paths, the best one first.
    pub(super) fn finish(mut self, roots: &[Root]) -> Vec<FuzzyFileSearchResult> {
        let best = std::mem::take(&mut self.best).into_sorted_vec();
        best.into_iter()
            .map(|Reverse(candidate)| {
                let Candidate { score, path: Reverse(path), root: Reverse(root), is_folder, .. } = candidate;
                FuzzyFileSearchResult {
                    file_name: name_of(&path).to_owned(),
                    match_type: match is_folder {
                        true => FuzzyFileSearchMatchType::Directory,
                        false => FuzzyFileSearchMatchType::File,
                    },
                    indices: Some(self.indices(&path)),
                    path: path.into_string(),
                    root: roots[root].name.clone(),
                    score,
                }
            })
            .collect()
    }

    fn score(&mut self, text: &str) -> Option<u32> {
        self.pattern.score(Utf32Str::new(text, &mut self.letters), &mut self.matcher)
    }

    /// Returns the indices of the characters that match.
    fn indices(&mut self, path: &str) -> Vec<u32> {
        let mut indices = Vec::new();
        self.pattern.indices(Utf32Str::new(path, &mut self.letters), &mut self.matcher, &mut indices);
        indices.sort_unstable();
        indices.dedup();
        indices
    }
}

/// Returns an error if a query is too long.
pub(super) fn check(query: &str) -> Result<(), RpcError> {
    match query.chars().nth(MAX_QUERY_CHARS) {
        Some(_) => {
            Err(RpcError::invalid_request(format_args!("a query may have at most {MAX_QUERY_CHARS} characters")))
        }
        None => Ok(()),
    }
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranked(query: &str, paths: &[&str]) -> Vec<FuzzyFileSearchResult> {
        let roots = [Root { name: "r".into(), path: "/r".into() }];
        let mut ranking = Ranking::new(query);
        for path in paths {
            ranking.consider(&Found { root: 0, path: (*path).into(), kind: Kind::File });
        }
        ranking.finish(&roots)
    }

    fn paths(query: &str, paths: &[&str]) -> Vec<String> {
        ranked(query, paths).into_iter().map(|result| result.path).collect()
    }

    #[test]
    fn matches_in_names_count_more_than_in_folders() {
        assert_eq!(
            paths("main", &["main/other/file.rs", "src/main.rs", "unrelated"]),
            ["src/main.rs", "main/other/file.rs"]
        );
        assert_eq!(paths("a", &["deep/a", "a"]), ["a", "deep/a"]);
    }

    #[test]
    fn words_match_in_any_order_and_an_empty_query_matches_nothing() {
        assert_eq!(paths("rs main", &["src/main.rs"]), ["src/main.rs"]);
        assert!(paths("", &["a"]).is_empty());
        assert!(paths("  ", &["a"]).is_empty());
    }

    #[test]
    fn match_indices_are_in_characters() {
        let results = ranked("né", &["é/fine.rs", "ü/né.rs"]);
        assert_eq!(results[0].path, "ü/né.rs");
        assert_eq!(results[0].indices, Some(vec![2, 3]));
        assert_eq!(results[0].file_name, "né.rs");
    }

    #[test]
    fn only_the_best_are_kept() {
        let all = (0..MAX_MATCHES * 3).map(|number| format!("dir/x{number:04}y")).collect::<Vec<_>>();
        let mut all = all.iter().map(String::as_str).collect::<Vec<_>>();
        all.push("xy");
        let best = ranked("xy", &all);
        assert_eq!(best.len(), MAX_MATCHES);
        assert_eq!(best[0].path, "xy");
        assert!(best.is_sorted_by(|one, other| one.score >= other.score));
    }

    #[test]
    fn long_queries_are_refused() {
        assert!(check(&"é".repeat(MAX_QUERY_CHARS)).is_ok());
        assert!(check(&"é".repeat(MAX_QUERY_CHARS + 1)).is_err());
    }
}
