//! Fuzzy search for files by their paths.

mod ranking;
mod service;
mod walk;

pub use ranking::{MAX_MATCHES, MAX_QUERY_CHARS};
pub use service::{SEARCHES_AT_ONCE, SESSIONS_PER_CONNECTION, SearchService};
pub use walk::MAX_SEARCHED_FILES;
