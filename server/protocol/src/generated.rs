//! The schemas and TypeScript types of `docs/protocol/`, embedded into the program.
//!
//! The test `schema` of this package writes them, and fails if they differ from the types.

#[rustfmt::skip]
mod files;

use crate::declare::SchemaSet;

/// Returns the JSON schema (draft 7) of a part of the protocol, as text with a final line feed.
///
/// `definitions` contains every type by its name, and `ClientRequest`, `ClientNotification`, `ServerNotification` and
/// `ServerRequest` with one alternative per method. The member `x-result` of a method refers to the type of its result.
#[must_use]
pub fn json_schema(set: SchemaSet) -> &'static str {
    match set {
        SchemaSet::Stable => include_str!("../../../docs/protocol/schema.stable.json"),
        SchemaSet::Experimental => include_str!("../../../docs/protocol/schema.experimental.json"),
    }
}

/// Returns the names and texts of the TypeScript files of a part of the protocol.
///
/// `index.ts` exports all of them. `ClientRequest`, `ClientNotification`, `ServerNotification` and `ServerRequest` are
/// unions over the methods. `ClientResults` and `ServerResults` map a method to the type of its result.
pub fn typescript(set: SchemaSet) -> impl Iterator<Item = (&'static str, &'static str)> {
    let experimental: &[(&str, &str)] = match set {
        SchemaSet::Stable => &[],
        SchemaSet::Experimental => files::EXPERIMENTAL,
    };
    // A type that differs with experimental fields is in both lists. The experimental version is used.
    let is_replaced = |name: &str| experimental.binary_search_by_key(&name, |file| file.0).is_ok();
    files::STABLE.iter().filter(move |file| !is_replaced(file.0)).chain(experimental).copied()
}
