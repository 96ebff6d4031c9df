//! Limits of payloads. They bound the memory that a payload can take while it is read.

/// Deepest nesting of arrays and objects that a payload may have, as `serde_json` limits it.
pub const MAX_DEPTH: usize = 127;

/// Most values (arrays, objects and scalars) of one item, or of the members of another payload that are read. The context
/// of a model has no room for an item with more, since each value takes at least a token.
pub const MAX_VALUES: usize = 1 << 18;

/// Most items in a list of items. The context of a model has no room for more.
pub const MAX_ITEMS: usize = 1 << 17;
