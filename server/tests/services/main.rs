//! The services beside threads, as clients see them: real files, real commands, and every result and notification held
//! against the peer's schema.

mod catalogs;
mod commands;
mod configuration;
mod files;
mod mcp;
mod planted;
mod searches;
mod support;
