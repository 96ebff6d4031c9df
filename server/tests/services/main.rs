//! Tests of the services from a client's view: with real files and real commands. Every result and every notification
//! is validated with the schemas of the peer.

mod catalogs;
mod commands;
mod configuration;
mod files;
mod mcp;
mod planted;
mod searches;
mod support;
