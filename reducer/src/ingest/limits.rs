//! Limits of payloads. They bound the memory that a payload can take while it is read.

/// Deepest nesting of arrays and objects that a payload may have, as `serde_json` limits it.
pub const MAX_DEPTH: usize = 127;

/// Most values (arrays, objects and scalars) of one item, or of the members of another payload that are read. An empty array
/// or object may count twice. The limit is for memory: an item with this many nested objects, the largest kind of value,
/// takes 450 MB while it is read.
pub const MAX_VALUES: usize = 1 << 20;

/// Most items in a list of items. The limit is for memory: a list with this many small calls takes 480 MB while it is read.
pub const MAX_ITEMS: usize = 1 << 20;
