//! Sessions of other agents: what the importers make of their files, reduced by this program and by the Codex CLI. The tests are here, and not
//! beside the importers, because these know no graph.

mod atif;
mod bundle;
mod claude_code;
mod claude_code_traps;
mod codex;
mod codex_older;
mod damages;
mod damages_of_traces;
mod every_session;
mod gemini_cli;
mod imported;
mod opencode;
mod otel;
mod planted;
mod scripted;
mod seeds;
