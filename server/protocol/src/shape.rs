//! Describes a Rust type to the two generators: as a JSON schema and as TypeScript declarations.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use ts_rs::{TS, TypeVisitor};

#[cfg(test)]
use {crate::common::from_raw, serde_json::Value, serde_json::value::RawValue};

/// What a type looks like in other languages, without its name.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    /// Puts the type into a JSON schema and returns a reference to it.
    pub(crate) json: fn(&mut SchemaGenerator) -> Schema,
    /// Puts the type and all it consists of into a set of TypeScript declarations.
    pub(crate) typescript: fn(&mut Declarations),
    /// Reads a value of the type and writes it again.
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

/// TypeScript declarations by the name of the type.
pub(crate) struct Declarations {
    config: ts_rs::Config,
    /// The doc comment, possibly empty, and the declaration of each type.
    pub(crate) types: BTreeMap<String, (String, String)>,
}

impl Declarations {
    /// Returns an empty set. Integers become numbers: that is what JSON makes of them in TypeScript.
    pub(crate) fn new() -> Self {
        Self { config: ts_rs::Config::new().with_large_int("number"), types: BTreeMap::new() }
    }
}

impl TypeVisitor for Declarations {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        // What has no file of its own, such as a list, depends on what its parts depend on, but says nothing of the
        // parts themselves; going by its dependencies would pass by the check below, and never end for a JSON value.
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
