//! Landlock for files, seccomp for the network and for what Landlock does not see.

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

/// Files that a confined command may write to, since that changes nothing.
pub(super) const OPEN_DEVICES: [&str; 6] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/// Folders of devices that a command may write to where bubblewrap made them for it alone: shared memory, which
/// `multiprocessing` of Python needs, and terminals that it makes.
const PRIVATE_DEVICES: [&str; 2] = ["/dev/shm", "/dev/pts"];

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
    // What is read here was judged before, and nobody but the server runs in this thread.
    let confinement = Confinement { hidden: Vec::new(), visible: Vec::new(), ..confinement.clone() };
    let confined = || restrict(&confinement, Devices::Shared).map(|()| work());
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("trace-confined".to_owned()).spawn_scoped(scope, confined);
        let thread = thread.map_err(|error| SandboxError::Step { step: "a thread", reason: error.to_string() })?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn restrict(confinement: &Confinement, devices: Devices) -> Result<(), SandboxError> {
    let mut reach = Reach::of(confinement)?;
    if devices == Devices::Private {
        reach.writable.extend(PRIVATE_DEVICES.iter().map(PathBuf::from));
    }
    restrict_files(confinement, &reach)
        .map_err(|error| SandboxError::Step { step: "Landlock", reason: error.to_string() })
}

fn restrict_files(confinement: &Confinement, reach: &Reach) -> Result<(), RulesetError> {
    let mut handled = AccessFs::from_write(WANTED);
    if confinement.network == Network::Open {
        // Sockets with a name are a network of this machine: agents for keys, buses.
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
    // A device that is made anew is a way to what lies behind it, whatever folder it is in.
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

/// Returns the rule that opens a place, unless a link leads there or it has gone.
fn rule(path: &Path, access: BitFlags<AccessFs>) -> Option<Result<PathBeneath<OwnedFd>, RulesetError>> {
    let file = place::open(path).ok()?;
    let kind = FileType::from_raw_mode(rustix::fs::fstat(&file).ok()?.st_mode);
    let access = if kind.is_dir() { access } else { access & AccessFs::from_file(WANTED) };
    // A disk has all files that are on it.
    let is_disk = kind == FileType::BlockDevice && !access.intersects(AccessFs::WriteFile);
    (!is_disk && !access.is_empty()).then(|| Ok(PathBeneath::new(file, access)))
}

/// Most entries beside hidden places that are opened one by one for a command.
pub const MAX_BESIDE: usize = 8192;

/// Devices and folders of devices that can be read where something is hidden, beside [`OPEN_DEVICES`]. Disks and memory have
/// the content of all files.
const READABLE_DEVICES: [&str; 2] = ["/dev/shm", "/dev/mqueue"];

/// The places that rules open. Rules cannot take back what they opened further up, so a folder with something hidden below it
/// is not opened itself, but what lies in it, entry by entry.
#[derive(Debug, Default)]
struct Reach {
    writable: Vec<PathBuf>,
    readable: Vec<PathBuf>,
    hides_something: bool,
}

impl Reach {
    fn of(confinement: &Confinement) -> Result<Self, SandboxError> {
        let mut hidden = hidden::within_reach(&confinement.hidden)?;
        // What is made later in a folder that is not opened stays closed.
        hidden.extend(confinement.hidden.iter().map(|place| place.path().to_owned()));
        let is_around = |folder: &Path| hidden.iter().any(|path| path.starts_with(folder));
        let (around, writable) = confinement.writable.iter().cloned().partition(|folder: &PathBuf| is_around(folder));
        let mut reach = Self { writable, readable: confinement.visible.clone(), hides_something: !hidden.is_empty() };
        if reach.hides_something {
            reach.open_beside(Path::new("/"), &around, &hidden)?;
        }
        Ok(reach)
    }

    /// Opens what is in a folder but for hidden places. What cannot be listed stays closed.
    fn open_beside(&mut self, folder: &Path, around: &[PathBuf], hidden: &[PathBuf]) -> Result<(), SandboxError> {
        let Ok(entries) = std::fs::read_dir(folder) else { return Ok(()) };
        for entry in entries.flatten() {
            let path = entry.path();
            if hidden.contains(&path) || entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                continue;
            }
            if hidden.iter().any(|inner| inner.starts_with(&path)) {
                self.open_beside(&path, around, hidden)?;
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

/// Requests that change attributes of files, subvolumes and labels through a descriptor that is open for reading: Landlock sees
/// none of them, and for the owner the kernel asks for nothing more.
const CHANGE_ATTRIBUTES: [u64; 22] = [
    // Attributes (`chattr`), of 64 and 32 bits, and in the form with a project.
    0x4008_6602,
    0x4004_6602,
    0x401c_5820,
    // Versions, of 64 and 32 bits, also by the number that ext4 has of its own.
    0x4008_7602,
    0x4004_7602,
    0x4008_6604,
    // Seals (fs-verity), encryption, its keys (added, removed in two ways).
    0x4080_6685,
    0x800c_6613,
    0xc050_6617,
    0xc040_6618,
    0xc040_6619,
    // Another way of keeping the blocks of a file, of ext4.
    0x6609,
    // Attributes of FAT.
    0x4004_7211,
    // Subvolumes of Btrfs: made, copied (two forms), taken away (two forms), changed, called received (of 64 and 32 bits).
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

/// Requests by which whoever can read a file makes others wait for it (`F_SETLEASE`, `F_SETDELEG`): for 45 seconds each time, and who
/// does not wait is refused.
const TAKE_LEASES: [u64; 2] = [1024, 1040];

/// Families of sockets that see or forge what other processes send over the network.
const PACKETS: [libc::c_int; 2] = [libc::AF_PACKET, libc::AF_XDP];

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
    // Of newer kernels, with the same numbers everywhere: `setxattrat`, `removexattrat`.
    463,
    466,
];

/// The same in calls of old that not every system has.
#[cfg(target_arch = "x86_64")]
const CHANGE_MODES_OF_OLD: &[i64] =
    &[libc::SYS_chmod, libc::SYS_chown, libc::SYS_lchown, libc::SYS_utime, libc::SYS_utimes, libc::SYS_futimesat];

#[cfg(not(target_arch = "x86_64"))]
const CHANGE_MODES_OF_OLD: &[i64] = &[];

/// Calls that no command needs which works on files, and that lead to other processes, or to other views of the system.
const REFUSED: &[i64] = &[
    // It would do what is refused without being asked.
    libc::SYS_io_uring_setup,
    // Memory and descriptors of other processes.
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    // Files by numbers instead of names.
    libc::SYS_open_by_handle_at,
    // Other views of files and of the system.
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
    // Of newer kernels: `open_tree_attr`.
    467,
    // What `chattr` does, by a call of newer kernels: `file_setattr`.
    469,
    // The kernel itself.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    // Keys of the user.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
];

/// What makes namespaces: with one of their own, commands would be root among things that nobody looks after.
const NEW_NAMESPACES: [libc::c_int; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// The same for clocks, which only `unshare` knows by a flag.
const NEW_TIME: u64 = 0x80;

/// Numbers of calls of the x32 way of calling that are others.
const OTHER_IN_X32: [(i64, i64); 5] = [
    (libc::SYS_ioctl, 514),
    (libc::SYS_ptrace, 521),
    (libc::SYS_kexec_load, 528),
    (libc::SYS_process_vm_readv, 539),
    (libc::SYS_process_vm_writev, 540),
];

/// Returns a filter that keeps a process from everything that no file is; with a closed network it leaves it sockets to its
/// own children only. Calls that it refuses fail with `EPERM`.
fn filter(network: Network, modes: Modes) -> Result<BpfProgram, SandboxError> {
    let condition = |argument, length, operator, value| {
        let condition = SeccompCondition::new(argument, length, operator, value).map_err(no_filter)?;
        SeccompRule::new(vec![condition]).map_err(no_filter)
    };
    let has = |argument, bits: u64, value: u64| {
        condition(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(bits), value)
    };
    // The kernel takes no more of it than 32 bits.
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
        // With these a command of root reads what clients of this server send, tokens included, and writes in their names.
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
        // What has no connection can name another addressee with every message, where a filter does not see it. A raw socket
        // is the same here.
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

/// The bits that say what kind of socket is wanted; others are options.
const SOCKET_KINDS: u64 = 0xf;

/// A kind of socket of old that sees all packets.
const SOCK_PACKET: libc::c_int = 10;

#[cfg(target_arch = "x86_64")]
const KEXEC_FILE_LOAD: i64 = libc::SYS_kexec_file_load;

#[cfg(not(target_arch = "x86_64"))]
const KEXEC_FILE_LOAD: i64 = 294;

/// Returns a filter for the call whose flags a filter does not see. Programs take it that the kernel is too old for it, and
/// use the older one.
fn filter_of_hidden_flags() -> Result<BpfProgram, SandboxError> {
    program(vec![(libc::SYS_clone3, vec![])], libc::ENOSYS)
}

fn program(refused: Vec<(i64, Vec<SeccompRule>)>, error: libc::c_int) -> Result<BpfProgram, SandboxError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for (call, conditions) in refused {
        if cfg!(target_arch = "x86_64") {
            // The same calls by the numbers of the x32 way of calling.
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

#[expect(clippy::needless_pass_by_value, reason = "the form in which results hand errors over")]
fn no_filter(error: seccompiler::BackendError) -> SandboxError {
    SandboxError::Unavailable { what: format!("no filter for system calls ({error})") }
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
        assert!(Reach::of(&confinement).is_ok());
        (0..=MAX_BESIDE).for_each(|number| drop(fs::File::create(root.join(number.to_string())).expect("a file")));
        let error = Reach::of(&confinement).expect_err("too many");
        assert!(
            matches!(&error, SandboxError::TooManyBeside { folder, most: MAX_BESIDE } if *folder == root),
            "{error}"
        );
    }
}
