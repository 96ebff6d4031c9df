//! Landlock for files, seccomp for the network.

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
        landlock.or_else(|| network_filter().err().map(|error| error.to_string()))
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
    restrict_files(confinement).map_err(|error| SandboxError::Step { step: "Landlock", reason: error.to_string() })?;
    if confinement.network == Network::Closed {
        let filter = network_filter()?;
        seccompiler::apply_filter(&filter)
            .map_err(|error| SandboxError::Step { step: "seccomp", reason: error.to_string() })?;
    }
    Ok(())
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

/// Returns a filter that leaves a process sockets to its own children only. Calls that it refuses fail with `EPERM`.
fn network_filter() -> Result<BpfProgram, SandboxError> {
    let failed = |error: seccompiler::BackendError| SandboxError::Unavailable {
        what: format!("no filter for system calls ({error})"),
    };
    let condition = |argument, length, value| SeccompCondition::new(argument, length, SeccompCmpOp::Ne, value);
    let only_unix = condition(0, SeccompCmpArgLen::Dword, libc::AF_UNIX as u64).map_err(failed)?;
    let with_address = condition(4, SeccompCmpArgLen::Qword, 0).map_err(failed)?;
    let refused: [(i64, Vec<SeccompRule>); 5] = [
        (libc::SYS_socket, vec![SeccompRule::new(vec![only_unix]).map_err(failed)?]),
        (libc::SYS_connect, vec![]),
        (libc::SYS_sendto, vec![SeccompRule::new(vec![with_address]).map_err(failed)?]),
        // Both would do all of the above without being asked.
        (libc::SYS_io_uring_setup, vec![]),
        (libc::SYS_ptrace, vec![]),
    ];
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for (call, conditions) in refused {
        if cfg!(target_arch = "x86_64") {
            // The same calls by the numbers of the x32 way of calling.
            rules.insert(call | 0x4000_0000, conditions.clone());
        }
        rules.insert(call, conditions);
    }
    let architecture = TargetArch::try_from(std::env::consts::ARCH).map_err(failed)?;
    let refuse = SeccompAction::Errno(libc::EPERM as u32);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, architecture).map_err(failed)?;
    BpfProgram::try_from(filter).map_err(failed)
}
