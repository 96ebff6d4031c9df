//! Fuzzy search for files by a part of their path.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
#[cfg(feature = "schema")]
use ts_rs::TS;

/// Type of a search result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub enum FuzzyFileSearchMatchType {
    /// A file.
    File,
    /// A directory.
    Directory,
}

/// Params of `fuzzyFileSearch`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct FuzzyFileSearchParams {
    /// The searched text.
    pub query: String,
    /// Directories to search.
    pub roots: Vec<String>,
    /// Name of the search. A new search with the same name cancels the old one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancellation_token: Option<String>,
}

/// Result of `fuzzyFileSearch`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct FuzzyFileSearchResponse {
    /// The results, best first.
    pub files: Vec<FuzzyFileSearchResult>,
}

/// A result of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct FuzzyFileSearchResult {
    /// Name without the directory.
    pub file_name: String,
    /// Type of the result.
    pub match_type: FuzzyFileSearchMatchType,
    /// Path of the file or directory, relative to `root`.
    pub path: String,
    /// The searched directory that contains it.
    pub root: String,
    /// Score of the match. Higher is better.
    pub score: u32,
    /// Indexes of the characters of the path that match.
    #[serde(default)]
    pub indices: Option<Vec<u32>>,
}

/// Params of `fuzzyFileSearch/sessionStart`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct FuzzyFileSearchSessionStartParams {
    /// Directories to search.
    pub roots: Vec<String>,
    /// Id of the search session.
    pub session_id: String,
}

/// Result of `fuzzyFileSearch/sessionStart`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct FuzzyFileSearchSessionStartResponse {}

/// Params of `fuzzyFileSearch/sessionStop`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct FuzzyFileSearchSessionStopParams {
    /// Id of the search session.
    pub session_id: String,
}

/// Result of `fuzzyFileSearch/sessionStop`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct FuzzyFileSearchSessionStopResponse {}

/// Params of `fuzzyFileSearch/sessionUpdate`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct FuzzyFileSearchSessionUpdateParams {
    /// The searched text.
    pub query: String,
    /// Id of the search session.
    pub session_id: String,
}

/// Result of `fuzzyFileSearch/sessionUpdate`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct FuzzyFileSearchSessionUpdateResponse {}
