//! What a command may touch, and how that is enforced.
//!
//! A [`Confinement`] is a policy made concrete: which folders are open for writing, whether the network is reachable. A
//! command is confined by a launcher: a program of ours that shuts **itself** in ([`confine_self`]) and then becomes the
//! command ([`become_confined`]). Nothing is confined halfway: where the system cannot do it, [`availability`] says so, and
//! a launcher that fails starts nothing.
//!
//! On Linux, Landlock keeps writes inside the open folders and a seccomp filter keeps the network closed and keeps commands
//! from typing into the terminal of the server. Reading is never restricted. What Landlock cannot say is left out: a folder
//! inside an open one cannot be kept closed, so commands can write to a workspace's `.git`; and modes, owners, times and
//! attributes of files that are there can be changed everywhere by commands that may write anywhere. Commands that may write
//! nowhere cannot change those either.
//!
//! What the server itself writes for a model is bound in the same way ([`within`]): a path that leads into an open folder when
//! it is judged may lead out of it a moment later.

mod confinement;
mod error;
mod launcher;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
#[path = "elsewhere.rs"]
mod linux;

pub(crate) use confinement::real_path;
pub use confinement::{Confinement, is_inside};
pub use error::SandboxError;
pub use launcher::{SandboxLauncher, become_confined};
pub(crate) use linux::within;
pub use linux::{availability, confine_self};
