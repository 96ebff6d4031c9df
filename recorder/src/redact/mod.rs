//! Redaction: a copy of a bundle without its secrets.
//!
//! Two passes. The first finds secrets, in every string of every payload and event, through JSON in strings and base64. The
//! second replaces each of them, wherever in the bundle and however it is written, by `[redacted:kind:hash]`. Everything
//! else stays as it is, to the byte. Equal texts are changed equally, so that the copy reduces to a graph of the same shape.
//!
//! Redaction is best effort: a secret that neither its shape nor its context marks is kept. `docs/redaction.md`
//! describes what redaction cannot do.

mod addresses;
mod assignments;
mod blobs;
mod blocks;
mod bundle;
mod calls;
mod commands;
mod configuration;
mod connection;
mod contexts;
mod control_sequence;
mod edit;
mod embedded;
mod examine;
mod formats;
mod found;
mod grammar;
mod grammars;
mod headers;
mod hexdump;
mod kind;
mod known;
mod lists;
mod literal;
mod marks;
mod memory;
mod names;
mod outputs;
mod phrases;
mod placeholder;
mod plausible;
mod private_key;
mod providers;
mod quotes;
mod random;
mod report;
mod resources;
mod rules;
mod search;
mod sentences;
mod shell;
mod siblings;
mod streams;
mod strings;
mod structure;
mod surroundings;
mod tables;
mod triggers;
mod view;
mod wallets;

pub use blobs::MAX_BASE64_BYTES;
pub use bundle::{RedactError, redact, redact_json, refuse_links, scan};
pub use examine::MAX_NESTING;
pub use kind::{Kind, MAX_KIND_BYTES};
pub use known::MAX_SECRETS;
pub use placeholder::Placeholder;
pub use plausible::MIN_SPREAD_BYTES;
pub use private_key::MAX_PRIVATE_KEY_BYTES;
pub use report::{MAX_PLACES, Place, Report, SecretReport, Unreadable};
pub use rules::{MAX_LITERAL_BYTES, MAX_PATTERN_BYTES, MIN_LITERAL_BYTES, RuleError, Rules};
pub use streams::MAX_STREAM_BYTES;
pub use surroundings::MAX_DECODED_BYTES;
