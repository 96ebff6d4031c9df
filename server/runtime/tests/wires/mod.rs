//! Chat Completions and the Messages API as services speak them, well and badly.

mod faults;
mod script;
mod sessions;
