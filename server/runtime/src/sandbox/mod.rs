//! What a command may access, and how that is enforced.
//!
//! A [`Confinement`] is a policy applied to one command: which folders are writable, which places are hidden, and whether
//! the network is reachable. A launcher starts the command: a small program that confines **itself** (`confine_self`) and
//! then becomes the command ([`become_confined`]). A command is confined completely or not started: [`availability`]
//! returns an error where the system lacks support, and a launcher that fails to confine itself starts nothing.
//!
//! On Linux, Landlock limits writes to the writable folders. A seccomp filter closes the network and refuses system calls
//! that reach beyond files: other processes, mounts, namespaces, the kernel. Root's capabilities, inherited descriptors and
//! the number of processes are limited before that. Commands can read everything except the places that the server hides
//! ([`HiddenPlace`]). Bubblewrap, where it is used ([`Bubblewrap`]), adds what Landlock cannot express: a read-only folder
//! (`.git`) inside a writable one, and an end to all processes that a command leaves behind. Commands that may write to any
//! folder can change modes, owners, times and attributes of all files that the user owns; commands without a writable
//! folder cannot. `docs/security.md` lists escape attempts and what stops each of them.
//!
//! What the server itself writes for a model is limited in the same way (`within`), because a path that leads into a
//! writable folder when it is checked may lead out of it a moment later. For the same reason writable folders are named by
//! paths without symlinks. The symlinks are resolved when a user names the folder ([`WritableFolderRegistry`]); whatever a symlink
//! leads to later is not writable.

mod bubblewrap;
mod confinement;
mod error;
mod folder_registry;
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
mod writable_folders;

pub use bubblewrap::Bubblewrap;
pub use confinement::{Confinement, MAX_PROCESSES};
pub use error::SandboxError;
pub use folder_registry::{MAX_WRITABLE_FOLDERS, WritableFolderRegistry, resolved_tmpdir};
pub use group::{ControlGroup, ControlGroups};
pub use hidden::HiddenPlace;
pub use launcher::{SandboxLauncher, become_confined, has_opened_network, is_for_loaders};
pub(crate) use linux::within;
pub use linux::{MAX_BESIDE, availability};
#[cfg(target_os = "linux")]
pub use mark::marked;
pub use paths::is_inside;
pub(crate) use paths::real_path;
pub(crate) use place::{CreatedFolder, Folder};
pub use repositories::{
    MAX_CLOSED, MAX_FOLDERS, MAX_FOLDERS_AFTER, MAX_MADE, MAX_SEARCH, MAX_SEARCH_AFTER, ReadOnlyEnforcement, Report,
    Repositories, Unsearched, UserGit, Watch,
};
pub use surroundings::Surroundings;
pub use writable_folders::WritableFolders;
