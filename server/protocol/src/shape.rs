//! Describes a Rust type to the two generators, of JSON schemas and of TypeScript declarations.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use ts_rs::{TS, TypeVisitor};

#[cfg(test)]
use {crate::common::from_raw, serde_json::Value, serde_json::value::RawValue};

/// Functions that describe a type in other languages.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    /// Adds the type to a JSON schema and returns a reference to it.
    pub(crate) json: fn(&mut SchemaGenerator) -> Schema,
    /// Adds the type and all types in it to a set of TypeScript declarations.
    pub(crate) typescript: fn(&mut Declarations),
    /// Reads a value of the type and serializes it again.
    #[cfg(test)]
    pub(crate) rewrite: fn(&RawValue) -> Result<Value, serde_json::Error>,
}

impl Shape {
    /// Returns the shape of a type.
    pub(crate) const fn of<T: JsonSchema + TS + Serialize + DeserializeOwned + 'static>() -> Self {
        Self {
            json: |generator| generator.subschema_for::<T>(),
            typescript: |declarations| declarations.visit::<T>(),
            #[cfg(test)]
            rewrite: |raw| serde_json::to_value(from_raw::<T>(raw)?),
        }
    }
}

/// TypeScript declarations by the names of the types.
pub(crate) struct Declarations {
    config: ts_rs::Config,
    /// For each type, its doc comment (possibly empty) and its declaration.
    pub(crate) types: BTreeMap<String, (String, String)>,
}

impl Declarations {
    /// Returns an empty set. Integers become `number`, since TypeScript reads integers in JSON as numbers.
    pub(crate) fn new() -> Self {
        Self { config: ts_rs::Config::new().with_large_int("number"), types: BTreeMap::new() }
    }
}

impl TypeVisitor for Declarations {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        // A type without a file of its own, such as a list, reports the dependencies of its parts but not the parts
        // themselves. Visiting its dependencies would skip the check below, and would not end for a JSON value.
        if T::output_path().is_none() {
            return T::visit_generics(self);
        }
        let name = T::ident(&self.config);
        if !self.types.contains_key(&name) {
            let declaration = T::decl(&self.config);
            self.types.insert(name, (T::docs().unwrap_or_default(), declaration));
            T::visit_dependencies(self);
        }
    }
}
