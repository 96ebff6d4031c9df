//! Runs agents.
