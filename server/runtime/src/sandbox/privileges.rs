//! What a confined command takes along from who started it: descriptors, capabilities, and how many processes there may be.

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

/// How readily the system ends a command instead of the server when memory runs out: from -1000 to 1000.
const OUT_OF_MEMORY_SCORE: &str = "500";

/// What root keeps: his hold on files and on users, which package managers need. All that reaches beyond files goes.
const KEPT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::NET_BIND_SERVICE);

/// Lets the program that this process becomes have the three standard streams and no other descriptor.
pub(super) fn keep_standard_streams_only() {
    close_fds::set_fds_cloexec(3, &[]);
}

/// Sees to it that the program that this process becomes ignores no signal because whoever started the server did (`nohup`, a shell that
/// starts it in the background): a command would not end when it is told to, and a shell cannot even set a trap for it.
///
/// What is ignored stays so across `exec`, what is caught does not. So signals are caught that were ignored, by a handler that is
/// of no further use.
pub(super) fn hear_all_signals() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    for signal in ignored_signals(&status).filter(|signal| !signal_hook::consts::FORBIDDEN.contains(signal)) {
        // Where it is refused, the command ignores it as it did before.
        let _ = signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)));
    }
}

/// Returns the signals that a process ignores, as `/proc/PID/status` says it: a hexadecimal number with a bit for each.
fn ignored_signals(status: &str) -> impl Iterator<Item = i32> {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    (1..=64).filter(move |signal| mask & (1 << (signal - 1)) != 0)
}

/// Returns a path to the running program for the one that this process becomes and those that it starts, whatever lies at the
/// program's own path.
pub(super) fn running_program() -> Option<String> {
    // Who may run a program may not always read it.
    let program = rustix::fs::open("/proc/self/exe", OFlags::PATH, Mode::empty()).ok()?;
    fcntl_setfd(&program, FdFlags::empty()).ok()?;
    Some(format!("/proc/self/fd/{}", program.into_raw_fd()))
}

/// Has the system end this process, and the program that it becomes, when the one that started it ends. What it starts itself is
/// not concerned; bubblewrap ends that.
pub(super) fn end_with_parent() {
    // Where it is refused, the next server looks at what the command left.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
}

/// Gives up what a command needs not, for good.
///
/// # Errors
///
/// When the system refuses a step.
pub(super) fn give_up(confinement: &Confinement) -> Result<(), SandboxError> {
    // It may be refused where files of the system are hidden; nothing else depends on it.
    let _ = std::fs::write("/proc/self/oom_score_adj", OUT_OF_MEMORY_SCORE);
    limit(Resource::Core, 0)?;
    limit(Resource::Nproc, tasks().saturating_add(confinement.processes.into()))?;
    mark::put_on(confinement.network)?;
    drop_capabilities().map_err(|error| SandboxError::Step { step: "dropping capabilities", reason: error.to_string() })
}

/// Returns how many processes and threads there are, whoever has them.
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
                // One that is newer than the kernel, or older than its name.
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
        // SIGHUP, SIGINT, SIGTERM and one of those with numbers only.
        let unheard = [1, 2, 15, 40];
        if std::env::var_os(INSIDE).is_some() {
            assert!(unheard.iter().all(|signal| ignored(&status()).contains(signal)), "{}", status());
            let started = || {
                let output = Command::new("cat").arg("/proc/self/status").output().expect("it starts");
                ignored(&String::from_utf8_lossy(&output.stdout))
            };
            assert!(unheard.iter().all(|signal| started().contains(signal)), "a program ignores them, too");
            hear_all_signals();
            // The C library keeps two signals for itself.
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
