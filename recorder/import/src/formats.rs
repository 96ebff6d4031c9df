//! The formats of agents, one module each.

mod atif;
mod claude_code;
mod codex;
mod gemini_cli;
mod opencode;
mod otel;

use crate::format::Format;

/// All formats. The first one that recognizes a file reads it.
pub static FORMATS: &[&dyn Format] = &[
    &codex::Codex,
    &claude_code::ClaudeCode,
    &claude_code::ClaudeCodeStream,
    &gemini_cli::GeminiCli,
    &opencode::OpencodeDatabase,
    &opencode::OpencodeExport,
    &opencode::OpencodeStorage,
    &otel::JSON,
    &otel::PROTOBUF,
    &atif::Atif,
];
