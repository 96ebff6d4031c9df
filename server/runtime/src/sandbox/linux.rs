//! Landlock for files; seccomp for the network and for what Landlock does not control.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, Scope, path_beneath_rules,
};
use rustix::fs::FileType;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};

use super::confinement::{Confinement, Devices};
use super::error::SandboxError;
use super::hidden;
use super::place;
use crate::settings::Network;

/// Devices that a confined command may write to because writing to them changes nothing.
pub(super) const OPEN_DEVICES: [&str; 6] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/// Folders of devices that a command may write to in the private `/dev` of bubblewrap: shared memory, which Python's
/// `multiprocessing` needs, and pseudo-terminals.
const PRIVATE_DEVICES: [&str; 2] = ["/dev/shm", "/dev/pts"];

/// The oldest Landlock version that controls all changes of files: before version 3, files could be truncated.
const NEEDED: ABI = ABI::V3;

/// The newest Landlock version that is requested where the kernel supports it.
const WANTED: ABI = ABI::V9;

/// Checks whether commands can be confined on this system.
///
/// # Errors
///
/// Returns an error that says what the system lacks.
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

/// Permanently confines the calling thread and the programs that it becomes or starts.
///
/// # Errors
///
/// Returns an error if the system lacks support or refuses a step. The thread may be partly confined then and should end.
pub(super) fn confine_self(confinement: &Confinement, devices: Devices) -> Result<(), SandboxError> {
    availability()?;
    restrict(confinement, devices)?;
    let modes = if confinement.writable.is_empty() { Modes::Kept } else { Modes::Free };
    for filter in [filter(confinement.network, modes)?, filter_of_hidden_flags()?] {
        seccompiler::apply_filter(&filter)
            .map_err(|error| SandboxError::Step { step: "seccomp", reason: error.to_string() })?;
    }
    Ok(())
}

/// Runs `work` in a thread that can write files only where commands may. If the system cannot confine a thread, `work` runs
/// unconfined: no command is confined on such a system either, so none gains anything by redirecting the work.
///
/// # Errors
///
/// Returns an error if the system refuses a step. `work` was not run then.
///
/// # Panics
///
/// Panics if `work` panics.
pub(crate) fn within<T: Send>(confinement: &Confinement, work: impl FnOnce() -> T + Send) -> Result<T, SandboxError> {
    if availability().is_err() {
        return Ok(work());
    }
    // Landlock rules apply to a thread for good, so `work` gets a thread of its own. Hidden places need no rules here: the
    // path was checked before, and only code of the server runs in the thread.
    let confinement = Confinement { hidden: Vec::new(), visible: Vec::new(), ..confinement.clone() };
    let confined = || restrict(&confinement, Devices::Shared).map(|()| work());
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("trace-confined".to_owned()).spawn_scoped(scope, confined);
        let thread = thread.map_err(|error| SandboxError::Step { step: "a thread", reason: error.to_string() })?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn restrict(confinement: &Confinement, devices: Devices) -> Result<(), SandboxError> {
    let mut reach = AccessRules::of(confinement)?;
    if devices == Devices::Private {
        reach.writable.extend(PRIVATE_DEVICES.iter().map(PathBuf::from));
    }
    restrict_files(confinement, &reach)
        .map_err(|error| SandboxError::Step { step: "Landlock", reason: error.to_string() })
}

fn restrict_files(confinement: &Confinement, reach: &AccessRules) -> Result<(), RulesetError> {
    let mut handled = AccessFs::from_write(WANTED);
    if confinement.network == Network::Open {
        // Named unix sockets count as network access to services of this machine, such as key agents and message buses.
        handled.remove(AccessFs::ResolveUnix);
    }
    if reach.hides_something {
        handled |= AccessFs::ReadFile;
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
    // A new device node gives access to its device, whichever folder it is in.
    let below = handled & !(AccessFs::MakeBlock | AccessFs::MakeChar);
    let open = reach.writable.iter().filter_map(|folder| rule(folder, below));
    let readable = reach.readable.iter().filter_map(|path| rule(path, handled & AccessFs::ReadFile));
    let terminal = std::io::stdin();
    let own_terminal = rustix::termios::isatty(&terminal) && reach.hides_something;
    let terminal = own_terminal.then(|| Ok::<_, RulesetError>(PathBeneath::new(terminal, AccessFs::ReadFile)));
    let ruleset = ruleset.create()?.add_rules(open)?.add_rules(readable)?.add_rules(terminal)?;
    ruleset.add_rules(path_beneath_rules(OPEN_DEVICES, handled))?.restrict_self()?;
    Ok(())
}

/// Returns the rule that allows access to a place. `None` if a symlink leads there or it was deleted.
fn rule(path: &Path, access: BitFlags<AccessFs>) -> Option<Result<PathBeneath<OwnedFd>, RulesetError>> {
    let file = place::open(path).ok()?;
    let kind = FileType::from_raw_mode(rustix::fs::fstat(&file).ok()?.st_mode);
    let access = if kind.is_dir() { access } else { access & AccessFs::from_file(WANTED) };
    // Reading a block device reads all files on it.
    let is_disk = kind == FileType::BlockDevice && !access.intersects(AccessFs::WriteFile);
    (!is_disk && !access.is_empty()).then(|| Ok(PathBeneath::new(file, access)))
}

/// Most entries beside hidden places that get a rule of their own for one command.
pub const MAX_BESIDE: usize = 8192;

/// Devices and folders of devices that stay readable when something is hidden, in addition to [`OPEN_DEVICES`]. Disks and
/// memory are not among them: they contain the content of all files.
const READABLE_DEVICES: [&str; 2] = ["/dev/shm", "/dev/mqueue"];

/// Places that get a rule. A rule cannot revoke access that a rule for a parent folder granted. So a folder that contains a
/// hidden place gets no rule, but each of its other entries does.
#[derive(Debug, Default)]
struct AccessRules {
    writable: Vec<PathBuf>,
    readable: Vec<PathBuf>,
    hides_something: bool,
}

impl AccessRules {
    fn of(confinement: &Confinement) -> Result<Self, SandboxError> {
        let mut hidden = hidden::within_reach(&confinement.hidden)?;
        // Entries that are created later in a folder without a rule are inaccessible.
        hidden.extend(confinement.hidden.iter().map(|place| place.path().to_owned()));
        let is_around = |folder: &Path| hidden.iter().any(|path| path.starts_with(folder));
        let (around, writable) = confinement.writable.iter().cloned().partition(|folder: &PathBuf| is_around(folder));
        let mut reach = Self { writable, readable: confinement.visible.clone(), hides_something: !hidden.is_empty() };
        if reach.hides_something {
            reach.allow_siblings(Path::new("/"), &around, &hidden)?;
        }
        Ok(reach)
    }

    /// Adds rules for all entries of a folder except hidden places. Folders that cannot be listed get none.
    fn allow_siblings(&mut self, folder: &Path, around: &[PathBuf], hidden: &[PathBuf]) -> Result<(), SandboxError> {
        let Ok(entries) = std::fs::read_dir(folder) else { return Ok(()) };
        for entry in entries.flatten() {
            let path = entry.path();
            if hidden.contains(&path) || entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                continue;
            }
            if hidden.iter().any(|inner| inner.starts_with(&path)) {
                self.allow_siblings(&path, around, hidden)?;
                continue;
            }
            if path == Path::new("/dev") {
                self.readable.extend(READABLE_DEVICES.iter().map(PathBuf::from));
            } else if around.iter().any(|open| path.starts_with(open)) {
                self.writable.push(path);
            } else {
                self.readable.push(path);
            }
            if self.writable.len() + self.readable.len() > MAX_BESIDE {
                return Err(SandboxError::TooManyBeside { folder: folder.to_owned(), most: MAX_BESIDE });
            }
        }
        Ok(())
    }
}

/// Whether commands may change modes, owners, times and attributes of files. Landlock lets every user change those of the
/// user's own files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Modes {
    Kept,
    /// A filter cannot see which file a call changes, and commands that write files need these calls.
    Free,
}

/// Inserts input into a terminal as if the user had typed it.
const TIOCSTI: u64 = 0x5412;

/// Does the same on the Linux console, among other functions.
const TIOCLINUX: u64 = 0x541c;

/// `ioctl` requests that change attributes of files, subvolumes and labels through a read-only descriptor: Landlock does
/// not control them, and the kernel requires only ownership.
const CHANGE_ATTRIBUTES: [u64; 22] = [
    // File attributes (`chattr`): 64-bit, 32-bit, and the form with a project id.
    0x4008_6602,
    0x4004_6602,
    0x401c_5820,
    // File versions: 64-bit, 32-bit, and the request number specific to ext4.
    0x4008_7602,
    0x4004_7602,
    0x4008_6604,
    // fs-verity; encryption policy; encryption keys (one request adds, two remove).
    0x4080_6685,
    0x800c_6613,
    0xc050_6617,
    0xc040_6618,
    0xc040_6619,
    // Migration of a file to extents (ext4).
    0x6609,
    // FAT attributes.
    0x4004_7211,
    // Btrfs subvolumes: create, snapshot (two forms), delete (two forms), flags, received (64-bit and 32-bit).
    0x5000_940e,
    0x5000_9418,
    0x5000_9401,
    0x5000_9417,
    0x5000_940f,
    0x5000_943f,
    0x4008_941a,
    0xc0c8_9425,
    0xc0c0_9425,
];

/// `fcntl` requests that take a lease (`F_SETLEASE`, `F_SETDELEG`). A process that can read a file could block others for
/// 45 seconds at a time, and non-blocking opens fail.
const TAKE_LEASES: [u64; 2] = [1024, 1040];

/// Socket families that can see or forge network packets of other processes.
const PACKETS: [libc::c_int; 2] = [libc::AF_PACKET, libc::AF_XDP];

/// Calls that change metadata, which Landlock does not control.
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
    // `setxattrat` and `removexattrat` of newer kernels. Their numbers are the same on all architectures.
    463,
    466,
];

/// Older calls with the same effect, which not every architecture has.
#[cfg(target_arch = "x86_64")]
const CHANGE_MODES_OF_OLD: &[i64] =
    &[libc::SYS_chmod, libc::SYS_chown, libc::SYS_lchown, libc::SYS_utime, libc::SYS_utimes, libc::SYS_futimesat];

#[cfg(not(target_arch = "x86_64"))]
const CHANGE_MODES_OF_OLD: &[i64] = &[];

/// Calls that reach other processes or other views of the system. Commands that work on files need none of them.
const REFUSED: &[i64] = &[
    // io_uring would bypass this filter.
    libc::SYS_io_uring_setup,
    // Access to memory and descriptors of other processes.
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    // Opens files by handle instead of by path.
    libc::SYS_open_by_handle_at,
    // Mounts and namespaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_setns,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    // `open_tree_attr` of newer kernels.
    467,
    // `file_setattr` of newer kernels, which does what `chattr` does.
    469,
    // Kernel internals.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    // Keyrings of the user.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
];

/// Flags that create namespaces. In a namespace of its own, a command would be root with access to less tested parts of the
/// kernel.
const NEW_NAMESPACES: [libc::c_int; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// The flag for time namespaces, which only `unshare` accepts.
const NEW_TIME: u64 = 0x80;

/// Calls whose numbers in the x32 ABI differ from the usual ones.
const OTHER_IN_X32: [(i64, i64); 5] = [
    (libc::SYS_ioctl, 514),
    (libc::SYS_ptrace, 521),
    (libc::SYS_kexec_load, 528),
    (libc::SYS_process_vm_readv, 539),
    (libc::SYS_process_vm_writev, 540),
];

/// Returns the filter for calls that do not concern files. With a closed network, a process can create sockets only for its
/// own children. Refused calls fail with `EPERM`.
fn filter(network: Network, modes: Modes) -> Result<BpfProgram, SandboxError> {
    let condition = |argument, length, operator, value| {
        let condition = SeccompCondition::new(argument, length, operator, value).map_err(no_filter)?;
        SeccompRule::new(vec![condition]).map_err(no_filter)
    };
    let has = |argument, bits: u64, value: u64| {
        condition(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(bits), value)
    };
    // The kernel uses only the lower 32 bits of a request.
    let request = |request| condition(1, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, request);
    let requests = [TIOCSTI, TIOCLINUX].into_iter().chain(CHANGE_ATTRIBUTES).map(request);
    let spaces: Vec<u64> = NEW_NAMESPACES.iter().map(|&flag| u64::from(flag.cast_unsigned())).collect();
    let new_spaces = spaces.iter().map(|&flag| has(0, flag, flag)).collect::<Result<Vec<_>, _>>()?;
    let mut new_spaces_here = new_spaces.clone();
    new_spaces_here.push(has(0, NEW_TIME, NEW_TIME)?);
    let mut refused: Vec<(i64, Vec<SeccompRule>)> = REFUSED.iter().map(|&call| (call, vec![])).collect();
    refused.extend([
        (libc::SYS_ioctl, requests.collect::<Result<_, _>>()?),
        (libc::SYS_clone, new_spaces),
        (libc::SYS_unshare, new_spaces_here),
    ]);
    refused.push((KEXEC_FILE_LOAD, vec![]));
    let other = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, 0).map_err(no_filter)?;
    let changed = SeccompCondition::new(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0).map_err(no_filter)?;
    let limits_of_others = SeccompRule::new(vec![other, changed]).map_err(no_filter)?;
    refused.push((libc::SYS_prlimit64, vec![limits_of_others]));
    let leases = TAKE_LEASES.map(request).into_iter().collect::<Result<_, _>>()?;
    refused.push((libc::SYS_fcntl, leases));
    if network == Network::Open {
        // With these socket families a root command could read what clients send to this server, tokens included, and forge
        // their messages.
        let of_family = |family: libc::c_int| {
            SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, family as u64).map_err(no_filter)
        };
        let of_kind = |kind: libc::c_int| {
            SeccompCondition::new(1, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(SOCKET_KINDS), kind as u64)
                .map_err(no_filter)
        };
        let mut sockets = Vec::new();
        for family in PACKETS {
            sockets.push(SeccompRule::new(vec![of_family(family)?]).map_err(no_filter)?);
        }
        for family in [libc::AF_INET, libc::AF_INET6] {
            for kind in [libc::SOCK_RAW, SOCK_PACKET] {
                let rule = SeccompRule::new(vec![of_family(family)?, of_kind(kind)?]).map_err(no_filter)?;
                sockets.push(rule);
            }
        }
        refused.push((libc::SYS_socket, sockets));
    } else {
        let only_unix = || condition(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, libc::AF_UNIX as u64);
        let with_address = condition(4, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?;
        // A connectionless socket can name another address in every message, where a filter cannot see it. A raw socket is
        // the same in this family.
        let without_connection = || -> Result<_, SandboxError> {
            let kind = |kind: libc::c_int| has(1, SOCKET_KINDS, kind as u64);
            Ok([kind(libc::SOCK_DGRAM)?, kind(libc::SOCK_RAW)?])
        };
        for call in [libc::SYS_socket, libc::SYS_socketpair] {
            let mut sockets = vec![only_unix()?];
            sockets.extend(without_connection()?);
            refused.push((call, sockets));
        }
        refused.extend([
            (libc::SYS_connect, vec![]),
            (libc::SYS_sendto, vec![with_address]),
            (libc::SYS_ptrace, vec![]),
        ]);
    }
    if modes == Modes::Kept {
        refused.extend(CHANGE_MODES.iter().chain(CHANGE_MODES_OF_OLD).map(|&call| (call, vec![])));
    }
    program(refused, libc::EPERM)
}

/// Bits of the socket type; the other bits are options.
const SOCKET_KINDS: u64 = 0xf;

/// Obsolete socket type that sees all packets.
const SOCK_PACKET: libc::c_int = 10;

#[cfg(target_arch = "x86_64")]
const KEXEC_FILE_LOAD: i64 = libc::SYS_kexec_file_load;

#[cfg(not(target_arch = "x86_64"))]
const KEXEC_FILE_LOAD: i64 = 294;

/// Returns a filter for `clone3`, whose flags a filter cannot see. It fails as on an old kernel, so that programs fall back
/// to `clone`.
fn filter_of_hidden_flags() -> Result<BpfProgram, SandboxError> {
    program(vec![(libc::SYS_clone3, vec![])], libc::ENOSYS)
}

fn program(refused: Vec<(i64, Vec<SeccompRule>)>, error: libc::c_int) -> Result<BpfProgram, SandboxError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for (call, conditions) in refused {
        if cfg!(target_arch = "x86_64") {
            // The same calls with the numbers of the x32 ABI.
            let other = OTHER_IN_X32.iter().find(|(usual, _)| *usual == call);
            let number = other.map_or(call, |(_, other)| *other);
            rules.insert(number | 0x4000_0000, conditions.clone());
        }
        rules.insert(call, conditions);
    }
    let architecture = TargetArch::try_from(std::env::consts::ARCH).map_err(no_filter)?;
    let refuse = SeccompAction::Errno(error.cast_unsigned());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, architecture).map_err(no_filter)?;
    BpfProgram::try_from(filter).map_err(no_filter)
}

#[expect(clippy::needless_pass_by_value, reason = "`map_err` passes errors by value")]
fn no_filter(error: seccompiler::BackendError) -> SandboxError {
    SandboxError::Unavailable { what: format!("cannot build the filter for system calls ({error})") }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn so_many_entries_beside_a_hidden_place_are_opened() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("a path");
        fs::create_dir(root.join("home")).expect("a folder");
        let mut confinement = Confinement::new(vec![root.clone()], Network::Closed);
        confinement.hidden = vec![hidden::HiddenPlace::new(&root.join("home"))];
        assert!(AccessRules::of(&confinement).is_ok());
        (0..=MAX_BESIDE).for_each(|number| drop(fs::File::create(root.join(number.to_string())).expect("a file")));
        let error = AccessRules::of(&confinement).expect_err("too many");
        assert!(
            matches!(&error, SandboxError::TooManyBeside { folder, most: MAX_BESIDE } if *folder == root),
            "{error}"
        );
    }
}
