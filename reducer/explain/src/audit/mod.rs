//! Holds what agents said and did against what the recording shows.

pub mod kind;
pub mod read;
pub mod report;

pub use kind::{Kind, Severity};
pub use read::checks::{CheckRun, Outcome, judge};
pub use read::claims::{Claim, Statement};
pub use read::runners::CheckKind;
pub use read::sentences::{Claims, claims_in};
