//! What a command may touch, and how that is enforced.
//!
//! A [`Confinement`] is a policy made concrete: which folders are open for writing, whether the network is reachable. A
//! command is confined by a launcher: a program of ours that shuts **itself** in (`confine_self`) and then becomes the
//! command ([`become_confined`]). Nothing is confined halfway: where the system cannot do it, [`availability`] says so, and
//! a launcher that fails starts nothing.
//!
//! On Linux, Landlock keeps writes inside the open folders; a seccomp filter keeps the network closed, and away what reaches
//! beyond files: other processes, mounts, namespaces, the kernel. Root's capabilities, inherited descriptors and the number of
//! processes are limited before that. Everything can be read but the places that the server hides ([`HiddenPlace`]). What Landlock cannot say is left to bubblewrap where that
//! is used ([`Bubblewrap`]): a folder inside an open one stays closed (`.git`), and what a command leaves behind ends with it.
//! Modes, owners, times and attributes of files that are there can be changed by commands that may write anywhere; commands
//! that may write nowhere cannot change those either. `docs/security.md` lists attempts to get out, and what stops them.
//!
//! What the server itself writes for a model is bound in the same way (`within`): a path that leads into an open folder when
//! it is judged may lead out of it a moment later. For the same reason open folders are named by paths without links, which are
//! resolved when a person names the folder ([`OpenFolders`]); what a link leads to afterwards is closed.

mod bubblewrap;
mod confinement;
mod error;
mod folders;
mod git_file;
mod group;
mod hidden;
mod launcher;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
#[path = "elsewhere.rs"]
mod linux;
#[cfg(target_os = "linux")]
mod mark;
mod paths;
mod place;
#[cfg(target_os = "linux")]
mod privileges;
#[cfg(target_os = "linux")]
mod resource_limit;
#[cfg(not(target_os = "linux"))]
use linux as privileges;
mod repositories;
mod surroundings;
mod writable;

pub use bubblewrap::Bubblewrap;
pub use confinement::{Confinement, MAX_PROCESSES};
pub use error::SandboxError;
pub use folders::{MAX_OPEN_FOLDERS, OpenFolders, resolved_tmpdir};
pub use group::{ControlGroup, ControlGroups};
pub use hidden::HiddenPlace;
pub use launcher::{SandboxLauncher, become_confined, has_opened_network, is_for_loaders};
pub(crate) use linux::within;
pub use linux::{MAX_BESIDE, availability};
#[cfg(target_os = "linux")]
pub use mark::marked;
pub use paths::is_inside;
pub(crate) use paths::real_path;
pub(crate) use place::{Folder, Made};
pub use repositories::{
    Closing, MAX_CLOSED, MAX_FOLDERS, MAX_FOLDERS_AFTER, MAX_MADE, MAX_SEARCH, MAX_SEARCH_AFTER, Report, Repositories,
    Unsearched, UserGit, Watch,
};
pub use surroundings::Surroundings;
pub use writable::WritableFolders;
