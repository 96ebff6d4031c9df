//! Finding files by a few letters of their path.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
#[cfg(feature = "schema")]
use ts_rs::TS;

/// What was found.
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
    /// What is searched for.
    pub query: String,
    /// The directories to search in.
    pub roots: Vec<String>,
    /// A name of the search; a new one by the same name ends the old one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancellation_token: Option<String>,
}

/// Result of `fuzzyFileSearch`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct FuzzyFileSearchResponse {
    /// What was found, the best first.
    pub files: Vec<FuzzyFileSearchResult>,
}

/// One find of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct FuzzyFileSearchResult {
    /// The name, without the directory.
    pub file_name: String,
    /// What was found.
    pub match_type: FuzzyFileSearchMatchType,
    /// The path.
    pub path: String,
    /// The directory that was searched.
    pub root: String,
    /// How well it matches.
    pub score: u32,
    /// The places of the characters that match.
    #[serde(default)]
    pub indices: Option<Vec<u32>>,
}

/// Params of `fuzzyFileSearch/sessionStart`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(rename_all = "camelCase")]
pub struct FuzzyFileSearchSessionStartParams {
    /// The directories to search in.
    pub roots: Vec<String>,
    /// The search session.
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
    /// The search session.
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
    /// What is searched for.
    pub query: String,
    /// The search session.
    pub session_id: String,
}

/// Result of `fuzzyFileSearch/sessionUpdate`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
pub struct FuzzyFileSearchSessionUpdateResponse {}
