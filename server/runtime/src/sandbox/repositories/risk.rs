//! One thing in a repository that makes Git run a program or use another place.

use std::borrow::Cow;
use std::ffi::OsString;

use serde::{Deserialize, Serialize};

use super::files::FileState;

/// A risk. Two risks are equal if nothing about them changed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Risk {
    /// An entry of a configuration.
    Entry { file: Cow<'static, str>, id: String },
    /// A program in the folder of hooks.
    Hook { name: OsString, state: FileState },
    /// A file or folder of the repository with an unusual type or content.
    Odd(Cow<'static, str>),
    /// A symlink in the repository, and its target.
    Link { path: OsString, led: OsString },
    /// A file of the repository with a second hard link.
    Shared { path: OsString, inode: u64 },
    /// A file with the URL of another repository.
    Address { path: OsString, state: FileState },
    /// The repository has too many files to be examined.
    Crowd,
}
