//! What the page of a lake asks its server: sums by day, groups, and short lists of sessions. No answer is longer than a limit,
//! however large the lake is.
//!
//! [`router`] has the routes below `/data/` of the page's server, and [`source`] finds and opens the session of an address.

mod board;
mod filters;
mod groups;
mod range;
mod routes;
mod rows;
mod series;
mod sessions;

pub use board::{Board, BoardError, MAX_AT_ONCE, MAX_WAITING, PAGE_LIMITS};
pub use filters::{Filters, FiltersError, MAX_VALUE_BYTES};
pub use groups::{By, MAX_GROUPS};
pub use range::{DEFAULT_DAYS, MAX_POINTS};
pub use routes::{MAX_VALUES, router};
pub use series::{MAX_CELLS, MAX_SERIES};
pub use sessions::{MAX_LISTED, MAX_OFFSET, source};
