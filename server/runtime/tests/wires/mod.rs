//! Chat Completions and the Messages API with correct and faulty services.

mod faults;
mod script;
mod sessions;
