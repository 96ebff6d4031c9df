//! One file for each kind of finding, or for kinds that are decided together.

pub(super) mod action_not_done;
pub(super) mod admission;
pub(super) mod check_bypassed;
pub(super) mod child_failure_hidden;
pub(super) mod claims_of_checks;
pub(super) mod destructive_command;
pub(super) mod figures;
pub(super) mod hardcoded_result;
pub(super) mod injected_instruction;
pub(super) mod measurements;
pub(super) mod repeated_call;
pub(super) mod secret_exposed;
pub(super) mod seen;
pub(super) mod tests_weakened;
pub(super) mod unsupported_detail;
