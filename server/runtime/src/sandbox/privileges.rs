//! What a confined command inherits from the process that started it: descriptors, capabilities, and limits on processes.

use std::os::fd::IntoRawFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustix::fs::{Mode, OFlags};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Resource, Signal, set_parent_process_death_signal};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, remove_capability_from_bounding_set, set_capabilities,
};

use super::confinement::Confinement;
use super::error::SandboxError;
use super::mark;
use super::resource_limit::limit;

/// `oom_score_adj` of a command, between -1000 and 1000. It is positive so that the kernel kills the command before the
/// server when memory runs out.
const OUT_OF_MEMORY_SCORE: &str = "500";

/// Capabilities that root keeps: those over files and users, which package managers need. Root loses all capabilities that
/// reach beyond files.
const KEPT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::NET_BIND_SERVICE);

/// Closes all descriptors except the three standard streams when this process executes another program.
pub(super) fn keep_standard_streams_only() {
    close_fds::set_fds_cloexec(3, &[]);
}

/// Makes the executed program ignore no signal that the server ignores, for example because the server was started by
/// `nohup` or in the background of a shell. Such a command would not end when it is asked to, and a shell could not even
/// set a trap for the signal.
///
/// Ignored signals stay ignored across `exec`, handled signals do not. So this function installs a handler for each ignored
/// signal. The handler itself has no effect.
pub(super) fn unignore_signals() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    for signal in ignored_signals(&status).filter(|signal| !signal_hook::consts::FORBIDDEN.contains(signal)) {
        // If the handler is refused, the command ignores the signal as before.
        let _ = signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)));
    }
}

/// Returns the signals that a process ignores, from the hexadecimal bit mask in `/proc/PID/status`.
fn ignored_signals(status: &str) -> impl Iterator<Item = i32> {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    (1..=64).filter(move |signal| mask & (1 << (signal - 1)) != 0)
}

/// Returns a path to the running program that stays valid in the executed program and its children, even if the program's
/// own path is replaced.
pub(super) fn running_program() -> Option<String> {
    // A user may execute a program without being able to read it.
    let program = rustix::fs::open("/proc/self/exe", OFlags::PATH, Mode::empty()).ok()?;
    fcntl_setfd(&program, FdFlags::empty()).ok()?;
    Some(format!("/proc/self/fd/{}", program.into_raw_fd()))
}

/// Makes the kernel kill this process, and the program that it becomes, when its parent ends. Processes that the program
/// starts are not affected; bubblewrap ends those.
pub(super) fn end_with_parent() {
    // If this is refused, the next server handles what the command left behind.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
}

/// Permanently gives up privileges that a command does not need.
///
/// # Errors
///
/// Returns an error if the system refuses a step.
pub(super) fn drop_privileges(confinement: &Confinement) -> Result<(), SandboxError> {
    // The write may be refused where system files are hidden. Nothing else depends on it.
    let _ = std::fs::write("/proc/self/oom_score_adj", OUT_OF_MEMORY_SCORE);
    limit(Resource::Core, 0)?;
    limit(Resource::Nproc, tasks().saturating_add(confinement.processes.into()))?;
    mark::mark_self(confinement.network)?;
    drop_capabilities().map_err(|error| SandboxError::Step { step: "dropping capabilities", reason: error.to_string() })
}

/// Returns the number of processes and threads of all users.
fn tasks() -> u64 {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let tasks = load.split_whitespace().nth(3).and_then(|tasks| tasks.split_once('/'));
    tasks.and_then(|(_, all)| all.parse().ok()).unwrap_or(0)
}

fn drop_capabilities() -> rustix::io::Result<()> {
    let has = capabilities(None)?;
    if has.effective.contains(CapabilitySet::SETPCAP) {
        for capability in (CapabilitySet::all() - KEPT).iter() {
            match remove_capability_from_bounding_set(capability) {
                // The capability is newer than the kernel, or was removed from it.
                Ok(()) | Err(rustix::io::Errno::INVAL) => {}
                Err(error) => return Err(error),
            }
        }
    }
    let kept = |set: CapabilitySet| set & KEPT;
    set_capabilities(
        None,
        CapabilitySets {
            effective: kept(has.effective),
            permitted: kept(has.permitted),
            inheritable: CapabilitySet::empty(),
        },
    )
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_command_ignores_no_signal_that_whoever_started_the_server_ignored() {
        const INSIDE: &str = "TRACE_TEST_SIGNALS";
        let ignored = |status: &str| ignored_signals(status).collect::<Vec<_>>();
        let status = || std::fs::read_to_string("/proc/self/status").expect("reads");
        // SIGHUP, SIGINT, SIGTERM and one of the real-time signals.
        let unheard = [1, 2, 15, 40];
        if std::env::var_os(INSIDE).is_some() {
            assert!(unheard.iter().all(|signal| ignored(&status()).contains(signal)), "{}", status());
            let started = || {
                let output = Command::new("cat").arg("/proc/self/status").output().expect("it starts");
                ignored(&String::from_utf8_lossy(&output.stdout))
            };
            assert!(unheard.iter().all(|signal| started().contains(signal)), "a program ignores them, too");
            unignore_signals();
            // The C library reserves two signals.
            assert_eq!(started().into_iter().filter(|signal| ![32, 33].contains(signal)).collect::<Vec<_>>(), [0; 0]);
            return;
        }
        let name = std::thread::current().name().expect("a test").to_owned();
        let line = format!("trap '' 1 2 15 40; exec \"$0\" --exact {name} --nocapture");
        let mut inside = Command::new("sh");
        inside.args(["-c", &line]).arg(std::env::current_exe().expect("a program")).env(INSIDE, "1");
        assert!(inside.status().expect("it runs").success());
        assert_eq!(ignored("SigIgn:\tnothing"), [0; 0]);
    }
}
