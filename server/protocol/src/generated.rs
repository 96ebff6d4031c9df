//! The schemas and TypeScript types of `docs/protocol/`, embedded.
//!
//! They are written by the test `schema` of this package, which also fails when they differ from the types.

#[rustfmt::skip]
mod files;

use crate::declare::SchemaSet;

/// Returns the JSON schema (draft 7) of a part of the protocol, as text with a final line feed.
///
/// `definitions` holds every type by its name, and `ClientRequest`, `ClientNotification`, `ServerNotification` and
/// `ServerRequest` with one alternative per method. `x-result` beside a method refers to the type of its answer.
#[must_use]
pub fn json_schema(set: SchemaSet) -> &'static str {
    match set {
        SchemaSet::Stable => include_str!("../../../docs/protocol/schema.stable.json"),
        SchemaSet::Experimental => include_str!("../../../docs/protocol/schema.experimental.json"),
    }
}

/// Returns the TypeScript files of a part of the protocol: the name of each file and its text.
///
/// `index.ts` exports all of them. `ClientRequest`, `ClientNotification`, `ServerNotification` and `ServerRequest` are
/// unions over the methods; `ClientResults` and `ServerResults` map a method to the type of its answer.
pub fn typescript(set: SchemaSet) -> impl Iterator<Item = (&'static str, &'static str)> {
    let experimental: &[(&str, &str)] = match set {
        SchemaSet::Stable => &[],
        SchemaSet::Experimental => files::EXPERIMENTAL,
    };
    // A type that looks different with experimental fields is in both lists, and the experimental one counts.
    let is_replaced = |name: &str| experimental.binary_search_by_key(&name, |file| file.0).is_ok();
    files::STABLE.iter().filter(move |file| !is_replaced(file.0)).chain(experimental).copied()
}
