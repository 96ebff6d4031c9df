//! Reads command lines, outputs of checks and sentences. Nothing here knows a session.

pub mod actions;
pub mod addresses;
pub mod checks;
pub mod children;
pub mod claims;
pub mod details;
pub mod files;
pub mod measurements;
pub mod modality;
pub mod outputs;
pub mod plain;
pub mod runners;
pub mod sentences;
pub mod shell;
pub mod words;
