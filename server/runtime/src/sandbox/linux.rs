//! Landlock for files, seccomp for the network and for what Landlock does not see.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError,
    Scope, path_beneath_rules,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};

use super::confinement::Confinement;
use super::error::SandboxError;
use crate::settings::Network;

/// Files that a confined command may write to, since that changes nothing.
pub(super) const OPEN_DEVICES: [&str; 6] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/// The oldest rules that keep all changes of files out: older ones let files be emptied.
const NEEDED: ABI = ABI::V3;

/// The newest rules that are asked for where the system knows them.
const WANTED: ABI = ABI::V9;

/// Tells whether commands can be shut in here.
///
/// # Errors
///
/// Says what is missing.
pub fn availability() -> Result<(), SandboxError> {
    static MISSING: OnceLock<Option<String>> = OnceLock::new();
    let missing = MISSING.get_or_init(|| {
        let landlock = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_write(NEEDED))
            .and_then(Ruleset::create)
            .err()
            .map(|error| format!("the kernel lacks Landlock of version 3 or newer ({error})"));
        landlock.or_else(|| filter(Network::Closed, Modes::Kept).err().map(|error| error.to_string()))
    });
    match missing {
        None => Ok(()),
        Some(what) => Err(SandboxError::Unavailable { what: what.clone() }),
    }
}

/// Shuts the calling thread and what it becomes or starts in, for good.
///
/// # Errors
///
/// When the system cannot do it or refuses a step. The thread may then be shut in partly and should end.
pub fn confine_self(confinement: &Confinement) -> Result<(), SandboxError> {
    availability()?;
    restrict(confinement)?;
    let modes = if confinement.writable.is_empty() { Modes::Kept } else { Modes::Free };
    let filter = filter(confinement.network, modes)?;
    seccompiler::apply_filter(&filter)
        .map_err(|error| SandboxError::Step { step: "seccomp", reason: error.to_string() })
}

/// Does something that writes files only where commands may. Where the system cannot see to that, it is done all the same:
/// no command is confined there either, so none can lead the work elsewhere.
///
/// # Errors
///
/// When the system refuses a step. Nothing was done then.
///
/// # Panics
///
/// If the work does.
pub(crate) fn within<T: Send>(confinement: &Confinement, work: impl FnOnce() -> T + Send) -> Result<T, SandboxError> {
    if availability().is_err() {
        return Ok(work());
    }
    // Rules bind a thread for good, so it is one of its own.
    let confined = || restrict(confinement).map(|()| work());
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("trace-confined".to_owned()).spawn_scoped(scope, confined);
        let thread = thread.map_err(|error| SandboxError::Step { step: "a thread", reason: error.to_string() })?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn restrict(confinement: &Confinement) -> Result<(), SandboxError> {
    restrict_files(confinement).map_err(|error| SandboxError::Step { step: "Landlock", reason: error.to_string() })
}

fn restrict_files(confinement: &Confinement) -> Result<(), RulesetError> {
    let mut handled = AccessFs::from_write(WANTED);
    if confinement.network == Network::Open {
        // Sockets with a name are a network of this machine: agents for keys, buses.
        handled.remove(AccessFs::ResolveUnix);
    }
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_write(NEEDED))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(handled)?
        .scope(Scope::from_all(WANTED))?;
    if confinement.network == Network::Closed {
        ruleset = ruleset.handle_access(AccessNet::from_all(WANTED))?;
    }
    ruleset
        .create()?
        .add_rules(path_beneath_rules(&confinement.writable, handled))?
        .add_rules(path_beneath_rules(OPEN_DEVICES, handled))?
        .restrict_self()?;
    Ok(())
}

/// Whether modes, owners, times and attributes of files stay as they are. Landlock lets everybody change those of his files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Modes {
    Kept,
    /// Which files are meant a filter cannot see, and commands that write need to.
    Free,
}

/// Types something into a terminal as if its user did.
const TIOCSTI: u64 = 0x5412;

/// Does the same on the console, among other things.
const TIOCLINUX: u64 = 0x541c;

/// Calls that change what Landlock does not see.
const CHANGE_MODES: &[i64] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchmodat2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    // Of newer kernels, with the same numbers everywhere: `setxattrat`, `removexattrat`, `file_setattr`.
    463,
    466,
    469,
];

/// The same in calls of old that not every system has.
#[cfg(target_arch = "x86_64")]
const CHANGE_MODES_OF_OLD: &[i64] =
    &[libc::SYS_chmod, libc::SYS_chown, libc::SYS_lchown, libc::SYS_utime, libc::SYS_utimes, libc::SYS_futimesat];

#[cfg(not(target_arch = "x86_64"))]
const CHANGE_MODES_OF_OLD: &[i64] = &[];

/// Returns a filter that lets a process type into nobody's terminal; with a closed network it leaves it sockets to its own
/// children only. Calls that it refuses fail with `EPERM`.
fn filter(network: Network, modes: Modes) -> Result<BpfProgram, SandboxError> {
    let failed = |error: seccompiler::BackendError| SandboxError::Unavailable {
        what: format!("no filter for system calls ({error})"),
    };
    let condition = |argument, length, operator, value| {
        let condition = SeccompCondition::new(argument, length, operator, value).map_err(failed)?;
        SeccompRule::new(vec![condition]).map_err(failed)
    };
    let typing = |request| condition(1, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, request);
    let mut refused: Vec<(i64, Vec<SeccompRule>)> = vec![(libc::SYS_ioctl, vec![typing(TIOCSTI)?, typing(TIOCLINUX)?])];
    if network == Network::Closed {
        let only_unix = condition(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, libc::AF_UNIX as u64)?;
        let with_address = condition(4, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?;
        refused.extend([
            (libc::SYS_socket, vec![only_unix]),
            (libc::SYS_connect, vec![]),
            (libc::SYS_sendto, vec![with_address]),
            (libc::SYS_ptrace, vec![]),
        ]);
    }
    if network == Network::Closed || modes == Modes::Kept {
        // It would do what is refused without being asked.
        refused.push((libc::SYS_io_uring_setup, vec![]));
    }
    if modes == Modes::Kept {
        refused.extend(CHANGE_MODES.iter().chain(CHANGE_MODES_OF_OLD).map(|&call| (call, vec![])));
    }
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for (call, conditions) in refused {
        if cfg!(target_arch = "x86_64") {
            // The same calls by the numbers of the x32 way of calling, which are others for some.
            let number = match call {
                libc::SYS_ioctl => 514,
                libc::SYS_ptrace => 521,
                same => same,
            };
            rules.insert(number | 0x4000_0000, conditions.clone());
        }
        rules.insert(call, conditions);
    }
    let architecture = TargetArch::try_from(std::env::consts::ARCH).map_err(failed)?;
    let refuse = SeccompAction::Errno(libc::EPERM as u32);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, architecture).map_err(failed)?;
    BpfProgram::try_from(filter).map_err(failed)
}
