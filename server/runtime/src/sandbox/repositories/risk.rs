//! One thing in a repository that runs programs, or leads Git elsewhere.

use std::borrow::Cow;
use std::ffi::OsString;

use serde::{Deserialize, Serialize};

use super::files::FileState;

/// One thing that is a risk. Two are the same if nothing about them changed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Risk {
    /// An entry of a configuration.
    Entry { file: Cow<'static, str>, id: String },
    /// A program in the folder of hooks.
    Hook { name: OsString, state: FileState },
    /// A file or folder of the repository that is not what it is in any usual one.
    Odd(Cow<'static, str>),
    /// A symlink in the repository, and where it leads.
    Link { path: OsString, led: OsString },
    /// A file of the repository that has a second name.
    Shared { path: OsString, inode: u64 },
    /// A file with the address of another repository.
    Address { path: OsString, state: FileState },
    /// There is too much in it to be looked at.
    Crowd,
}
