//! The attempts. `docs/security.md` has the same rows.
//!
//! An attempt is a shell line that prints `ESCAPED` if it succeeds. Words in braces are placeholders for paths and numbers
//! of system calls. ` =then=> ` separates two commands. A system call with invalid arguments counts as successful if it
//! fails with any other error than that of the refusal.

use super::Attempt;
use super::Control::{Always, Never, Root};
use super::Needs::{Nothing, Perl, Python, Wrapper};
use super::Under::{Around, Both, Nested, ReadOnly, Workspace};

/// Perl code that reports whether a system call was let through.
macro_rules! call {
    ($call:literal) => {
        concat!("perl -e '$r = ", $call, "; print \"ESCAPED\\n\" if $r != -1 || !($!{EPERM} || $!{EACCES})'")
    };
}

macro_rules! attempts {
    ($($name:literal, $what:literal, $stops:expr, $under:ident, $needs:ident, $control:ident, $line:expr;)*) => {
        &[$(Attempt { name: $name, what: $what, stops: $stops, under: $under, needs: $needs, control: $control, line: $line }),*]
    };
}

pub(super) const ATTEMPTS: &[Attempt] = attempts![
    // Files.
    "write", "write a file outside by its path", "Landlock", Both, Nothing, Always,
        "echo x > {outside}/made && echo ESCAPED";
    "write-up", "write a file outside by `..`", "Landlock", Both, Nothing, Always,
        "echo x > ../outside/made && echo ESCAPED";
    "write-through-link", "write through a symbolic link that leads out", "Landlock", Both, Nothing, Always,
        "ln -s {outside} link; echo x > link/made && echo ESCAPED; echo x > ready-link/made && echo ESCAPED";
    "write-through-hard-link", "link a file outside into the workspace, then write", "Landlock", Both, Nothing, Always,
        "ln {outside}/kept hard && echo x >> hard && echo ESCAPED";
    "empty", "empty a file outside", "Landlock", Both, Nothing, Always, ": > {outside}/kept && echo ESCAPED";
    "delete", "delete a file outside", "Landlock", Both, Nothing, Always, "rm -f {outside}/kept && echo ESCAPED";
    "move-out", "rename a file of the workspace to outside", "Landlock", Both, Perl, Always,
        "echo x > inner; perl -e 'rename(\"inner\", \"{outside}/made\") and print \"ESCAPED\\n\"'";
    "move-in", "rename a file from outside into the workspace", "Landlock", Both, Perl, Always,
        "perl -e 'rename(\"{outside}/kept\", \"kept\") and print \"ESCAPED\\n\"'";
    "make-folder", "make a folder outside", "Landlock", Both, Nothing, Always, "mkdir {outside}/made && echo ESCAPED";
    "make-device", "make a device file in the workspace that opens a disk or memory", "Landlock, dropped capabilities", Both, Nothing, Root,
        "mknod device c 1 5 && echo ESCAPED";
    "home", "change a start-up file in the home folder", "Landlock", Both, Nothing, Always,
        "echo x >> ~/.profile && echo ESCAPED";
    "tmp", "write to `/tmp` while it is closed", "Landlock", Both, Nothing, Always,
        "touch /tmp/trace-escape-{server} && echo ESCAPED; rm -f /tmp/trace-escape-{server}";
    "shared-memory", "write to `/dev/shm`, which another process reads", "Landlock, bubblewrap (devices of its own)", Both, Nothing, Always,
        "touch /dev/shm/trace-escape-{server} =then=> test -e /dev/shm/trace-escape-{server} && echo ESCAPED; rm -f /dev/shm/trace-escape-{server}";
    "kernel-log", "write to a device", "Landlock", Both, Perl, Root,
        "perl -e 'open(F, \">>\", \"/dev/kmsg\") and print \"ESCAPED\\n\"'";
    "file-handle", "open a file by its number instead of a path", "seccomp, dropped capabilities", Both, Perl, Root,
        call!("syscall({open_by_handle_at}, -1, 0, 0)");
    "swap-above", "put a link in the place of a folder above the working folder, then write with the next command", NO_LINKS, Nested, Nothing, Always,
        "cd / && mv {open}/a {open}/was && ln -s {around} {open}/a =then=> echo x > {nested}/made; test -e {outside}/made && echo ESCAPED";
    "swap-above-relative", "the same by a link that is relative, and by the working folder itself", NO_LINKS, Nested, Nothing, Always,
        "cd / && mv {open}/a {open}/was && ln -s .. {open}/a =then=> echo x > made; test -e {outside}/made && echo ESCAPED";
    "swap-folder", "put a link in the place of the working folder, then write with the next command", NO_LINKS, Nested, Nothing, Always,
        "cd / && mv {nested} {open}/was && ln -s {outside} {nested} =then=> echo x > made; test -e {outside}/made && echo ESCAPED";
    "swap-anew", "make the folders above anew, with a link in the place of the working folder", NO_LINKS, Nested, Nothing, Always,
        "cd / && mv {open}/a {open}/was && mkdir {open}/a && ln -s {outside} {nested} =then=> rm -f {nested}/kept; test -e {outside}/kept || echo ESCAPED";
    "swap-and-back", "exchange a folder above for a link and back again and again, while other commands start", NO_LINKS, Nested, Perl, Always,
        SWAP_MEANWHILE;
    "git-hook-above", "exchange a folder above the working folder for one whose `.git` has another hook", "bubblewrap (a mount cannot be renamed)", Nested, Wrapper, Always,
        "cd / && mv {open}/a {open}/was; mkdir -p {nested}/.git/hooks; echo x > {nested}/.git/hooks/pre-commit && echo ESCAPED";
    "git-hook-later", "exchange a folder above, and leave the hook with the next command", "bubblewrap (a mount cannot be renamed)", Nested, Wrapper, Always,
        "cd / && mv {open}/a {open}/was && ln -s was {open}/a =then=> echo x > {nested}/.git/hooks/pre-commit && echo ESCAPED";
    "git-hook", "leave a hook in the workspace's `.git`", "bubblewrap (read-only mount)", Workspace, Wrapper, Always,
        "echo x > .git/hooks/pre-commit && echo ESCAPED";
    "git-swap", "put another folder in the place of `.git`", "bubblewrap (a mount cannot be renamed)", Workspace, Wrapper, Always,
        "mv .git was && mkdir .git && echo ESCAPED; rmdir .git; mv was .git";
    "trace-configuration", "change the workspace's `.trace`", "bubblewrap (read-only mount)", Workspace, Wrapper, Always,
        "touch .trace/config.toml && echo ESCAPED";
    "mode", "change the mode of a file", "seccomp", ReadOnly, Nothing, Always, "chmod 600 mine && echo ESCAPED";
    "owner", "change the owner of a file", "seccomp", ReadOnly, Nothing, Always, "chown $(id -u) mine && echo ESCAPED";
    "times", "change the times of a file", "seccomp", ReadOnly, Nothing, Always, "touch -d 2001-01-01 mine && echo ESCAPED";
    "attribute", "change extended attributes of a file", "seccomp", ReadOnly, Perl, Always,
        call!("syscall({setxattr}, $f = \"mine\", $k = \"user.x\", $v = \"x\", 1, 0)");
    "chattr", "change attributes, seals, encryption or subvolumes by requests to a file that is open for reading", "seccomp", Both, Perl, Always,
        CHATTR;
    "chattr-by-call", "change attributes of a file by a call of newer kernels", "seccomp", Both, Perl, Always,
        call!("syscall(469, -100, $f = \"mine\", $a = \"\", 0, 0)");
    // Hidden places: the server home, and a file with a token.
    "home-read", "read the configuration in the server's home, a stored thread, a log of its database", HIDDEN, Both, Nothing, Always,
        "cat {private}/config.toml {private}/sessions/2026/thread.jsonl {private}/state.sqlite-wal";
    "home-read-online", "the same with an open network", HIDDEN, Both, Nothing, Always, "cat {private}/config.toml";
    "home-read-all", "search the whole folder around it", HIDDEN, Both, Nothing, Always, "grep -rs the-secret {around}";
    "home-read-link", "read through a symbolic link", HIDDEN, Both, Nothing, Always,
        "cat link-to-home/config.toml; ln -s {private} more && cat more/config.toml; cd link-to-home && cat config.toml";
    "home-read-hard-link", "link a file of it into the workspace, then read", HIDDEN, Both, Nothing, Always,
        "ln {private}/config.toml hard && cat hard";
    "home-read-moved", "move a file of it into the workspace, then read", HIDDEN, Both, Nothing, Never,
        "mv {private}/config.toml moved && cat moved";
    "home-read-copy", "copy it by other programs", HIDDEN, Both, Nothing, Always,
        "cp -a {private} copy; cat copy/config.toml; tar -cf - -C {private} . 2>/dev/null | tar -xOf - ./config.toml; dd if={private}/config.toml status=none";
    "home-read-run", "run a file of it as a script", HIDDEN, Both, Nothing, Always, ". {private}/script; sh {private}/script";
    "home-read-proc", "read it by `/proc/self/root`, `/proc/PID/root` and `/proc/self/cwd`", HIDDEN, Both, Nothing, Always,
        "cat /proc/self/root{private}/config.toml /proc/{victim}/root{private}/config.toml; cd {private} && cat /proc/self/cwd/config.toml";
    "home-read-opened-path", "open it without the right to read, then open that for reading", HIDDEN, Both, Perl, Always,
        "perl -MFcntl -e 'sysopen(F, \"{private}/config.toml\", 010000000) and open(G, \"<\", \"/proc/self/fd/\" . fileno(F)) and print <G>'";
    "home-read-mapped", "map a file of it into memory", HIDDEN, Both, Python, Always,
        "python3 -c 'import mmap; f = open(\"{private}/config.toml\", \"rb\"); print(mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)[:])'";
    "home-read-disk", "read the disk that it lies on", "Landlock, bubblewrap (devices of its own)", Both, Perl, Never,
        "perl -e 'open(F, \"<\", $_) and print \"ESCAPED\\n\" for grep { -b } glob(\"/dev/* /dev/*/*\")'";
    "home-list", "list what is in it", "bubblewrap (an empty folder)", Both, Wrapper, Always,
        "test -n \"$(ls {private})\" && echo ESCAPED";
    "token-read", "read the file with the token of clients", HIDDEN, Both, Nothing, Always, "cat {token}; cat /proc/self/root{token}";
    "token-inherited", "read it by a descriptor that the server was started with", "the launcher closes all descriptors", Both, Nothing, Always,
        "cat <&8; cat /proc/self/fd/8";
    "home-in-open-folder", "read the home where it lies in an open folder", HIDDEN, Around, Nothing, Always,
        "cat {room}/b/home/config.toml ../b/home/config.toml link-above/home/config.toml";
    "home-in-open-folder-changed", "change it there: write, make, delete, rename", HIDDEN, Around, Nothing, Always,
        "{ echo x >> {room}/b/home/config.toml || rm {room}/b/home/config.toml || touch {room}/b/home/made || mv {room}/b/home/config.toml {room}/beside/ || mkdir {room}/b/home/sessions/made; } && echo ESCAPED";
    "home-in-open-folder-renamed", "rename it, or a folder above it, and read it then or with the next command", HIDDEN, Around, Nothing, Always,
        "cd /; mv {room}/b/home {room}/beside/home || mv {room}/b {room}/beside/b || mv {room}/b {room}/c; cat {room}/*/home/config.toml {room}/*/*/home/config.toml =then=> cat {room}/*/home/config.toml {room}/*/*/home/config.toml";
    "home-in-open-folder-exchanged", "put another folder, or a link, in its place", HIDDEN, Around, Nothing, Always,
        "cd /; mv {room}/b {room}/was; mkdir -p {room}/b/home && echo x > {room}/b/home/config.toml && echo ESCAPED; ln -sfn {room}/work {room}/b/home && echo ESCAPED";
    "home-in-open-folder-linked", "link a file of it to a place beside it", HIDDEN, Around, Nothing, Always,
        "ln {room}/b/home/config.toml {room}/beside/hard && cat {room}/beside/hard";
    // `/proc` and `/sys`.
    "proc-self-root", "write outside by `/proc/self/root`", "Landlock", Both, Nothing, Always,
        "echo x > /proc/self/root{outside}/made && echo ESCAPED";
    "proc-root", "write outside by `/proc/PID/root` of another process", "Landlock (also from looking)", Both, Nothing, Always,
        "echo x > /proc/{victim}/root{outside}/made && echo ESCAPED";
    "proc-cwd", "write to the working folder of another process by `/proc/PID/cwd`", "Landlock (also from looking)", Both, Nothing, Always,
        "echo x > /proc/{victim}/cwd/made && echo ESCAPED";
    "proc-fd", "write to an open file of another process by `/proc/PID/fd`", "Landlock (also from looking)", Both, Nothing, Always,
        "echo x >> /proc/{victim}/fd/0 && echo ESCAPED";
    "proc-mem", "write to the memory of another process by `/proc/PID/mem`", "Landlock", Both, Perl, Always,
        "perl -e 'open(F, \"+<\", \"/proc/{victim}/mem\") and print \"ESCAPED\\n\"'";
    "proc-environ", "read keys from the environment of another process", "Landlock; the server's own also by `PR_SET_DUMPABLE`", Both, Nothing, Always,
        "grep -q a-secret-of-the-victim /proc/{victim}/environ && echo ESCAPED";
    "proc-out-of-memory", "have another process killed first when memory runs out", "Landlock", Both, Nothing, Always,
        "echo 900 > /proc/{victim}/oom_score_adj && echo ESCAPED";
    "core-pattern", "change a setting of the kernel (`/proc/sys/kernel/core_pattern`)", "Landlock, dropped capabilities", Both, Perl, Root,
        "perl -e 'open(F, \"+<\", \"/proc/sys/kernel/core_pattern\") and print \"ESCAPED\\n\"'";
    "sysrq", "restart the machine by `/proc/sysrq-trigger`", "Landlock", Both, Perl, Never,
        "perl -e 'open(F, \">>\", \"/proc/sysrq-trigger\") and print \"ESCAPED\\n\"'";
    "cgroup", "move to another control group", "Landlock", Both, Perl, Root,
        "perl -e 'open(F, \">>\", $_) and print \"ESCAPED\\n\" for split \"\\n\", `find /sys/fs/cgroup -maxdepth 2 -name cgroup.procs`'";
    "other-processes", "see other processes", "bubblewrap (process namespace)", Both, Wrapper, Always,
        "test -d /proc/{victim} && echo ESCAPED";
    // Mounts and namespaces.
    "mount", "mount something", "seccomp, Landlock, dropped capabilities", Both, Perl, Root, call!("syscall({mount}, 0, 0, 0, 0, 0)");
    "mount-anew", "mount something by the newer calls", "seccomp, Landlock, dropped capabilities", Both, Perl, Root,
        call!("syscall({fsopen}, $type = \"tmpfs\", 0)");
    "unmount", "take away a mount that hides something", "seccomp, Landlock, dropped capabilities", Both, Perl, Root, call!("syscall({umount2}, 0, 0)");
    "chroot", "change the root folder", "seccomp, dropped capabilities", Both, Perl, Root, call!("(chroot(\"/\") ? 0 : -1)");
    "pivot-root", "swap the root mount", "seccomp, Landlock, dropped capabilities", Both, Perl, Root, call!("syscall({pivot_root}, 0, 0)");
    "unshare", "become root of a user namespace", "seccomp", Both, Perl, Root, call!("syscall({unshare}, 0x10000000)");
    "clone", "start a process in a user namespace", "seccomp", Both, Perl, Root,
        "perl -e '$r = syscall({clone}, 0x10000011, 0, 0, 0, 0); exit if $r == 0; print \"ESCAPED\\n\" if $r > 0'";
    "clone3", "the same by the call whose flags no filter sees", "seccomp (as if the kernel did not know it)", Both, Perl, Always,
        "perl -e '$r = syscall({clone3}, 0, 0); print \"ESCAPED\\n\" unless $!{ENOSYS}'";
    "setns", "enter a namespace", "seccomp, dropped capabilities", Both, Perl, Root,
        call!("(open(F, \"<\", \"/proc/self/ns/uts\") or exit) && syscall({setns}, fileno(F), 0)");
    // Sockets.
    "tcp", "connect to a port of this machine", "seccomp, Landlock", Both, Nothing, Always,
        "exec 3<>/dev/tcp/127.0.0.1/{tcp} && echo ESCAPED";
    "udp", "send a datagram to a port of this machine", "seccomp", Both, Perl, Always,
        "perl -MSocket -e 'socket(S, AF_INET, SOCK_DGRAM, 0) and send(S, \"x\", 0, sockaddr_in({udp}, inet_aton(\"127.0.0.1\"))) and print \"ESCAPED\\n\"'";
    "unix-socket", "connect to a socket of another process, such as that of Docker", "seccomp", Both, Perl, Always,
        "perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) and connect(S, sockaddr_un(\"{socket}\")) and print \"ESCAPED\\n\"'";
    "unix-datagram", "send a message with an address to such a socket", "seccomp", Both, Python, Always,
        "python3 -c 'import socket as s; s.socket(s.AF_UNIX, s.SOCK_DGRAM).sendmsg([b\"x\"], [], 0, \"{datagrams}\"); print(\"ESCAPED\")'";
    "unix-datagram-of-pair", "the same from one of a pair of sockets", "seccomp", Both, Python, Always,
        "python3 -c 'import socket as s; a, b = s.socketpair(s.AF_UNIX, s.SOCK_DGRAM); a.sendmsg([b\"x\"], [], 0, \"{datagrams}\"); print(\"ESCAPED\")'";
    "unix-raw", "the same from a socket that is called raw", "seccomp", Both, Python, Always,
        "python3 -c 'import socket as s; s.socket(s.AF_UNIX, s.SOCK_RAW).sendmsg([b\"x\"], [], 0, \"{datagrams}\"); print(\"ESCAPED\")'";
    "pair-of-sockets", "make a pair of sockets that are none of files", "seccomp", Both, Perl, Always,
        call!("(socketpair(A, B, 2, 1, 0) ? 0 : -1)");
    "wide-number", "make a socket by a number of which the kernel takes half", "seccomp", Both, Perl, Always,
        call!("syscall({socket_call}, 0x100000002, 1, 0)");
    "abstract-socket", "connect to a socket without a file", "seccomp, Landlock (Linux 6.12)", Both, Perl, Always,
        "perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) and connect(S, pack(\"Sa*\", AF_UNIX, \"\\0{abstract}\")) and print \"ESCAPED\\n\"'";
    "netlink", "talk to the kernel by netlink", "seccomp", Both, Perl, Always,
        "perl -e 'socket(S, 16, 3, 0) and print \"ESCAPED\\n\"'";
    "raw-socket", "make a raw socket", "seccomp", Both, Perl, Root, "perl -e 'socket(S, 2, 3, 1) and print \"ESCAPED\\n\"'";
    "packet-socket", "listen to all packets", "seccomp, dropped capabilities", Both, Perl, Root,
        "perl -e 'socket(S, 17, 3, 0) and print \"ESCAPED\\n\"'";
    "raw-socket-online", "make a raw socket with an open network", "seccomp, dropped capabilities", Both, Perl, Root,
        "perl -e 'socket(S, 2, 3, 6) and print \"ESCAPED\\n\"'";
    "packet-socket-online", "read what clients of the server send, with an open network", "seccomp, dropped capabilities", Both, Perl, Root,
        "perl -e 'socket(S, 17, 3, 768) and print \"ESCAPED\\n\"'";
    "lease", "make the server wait for a file by a lease", "seccomp", Both, Perl, Always,
        "perl -e 'open(F, \"<\", \"{outside}/kept\") and fcntl(F, 1024, 0) and print \"ESCAPED\\n\"'";
    "io-uring", "have calls done by io_uring, which no filter sees", "seccomp", Both, Perl, Root, call!("syscall({io_uring_setup}, 1, 0)");
    "x32", "make a socket by the numbers of another way of calling", "seccomp", Both, Perl, Never,
        "perl -e '$r = syscall(0x40000000 + {socket_call}, 2, 1, 0); print \"ESCAPED\\n\" if $r != -1'";
    "32-bit", "make calls as a program of 32 bits", "seccomp (ends the process)", Both, Python, Root, THIRTY_TWO_BITS;
    // Other processes.
    "ptrace", "take control of another process", "seccomp, Landlock", Both, Perl, Always,
        "perl -e '$r = syscall({ptrace}, 0x4206, {victim}, 0, 0); print \"ESCAPED\\n\" if $r != -1'";
    "foreign-memory", "write to the memory of another process by a call", "seccomp, Landlock", Both, Perl, Always,
        "perl -e '$r = syscall({process_vm_writev}, {victim}, 0, 0, 0, 0, 0); print \"ESCAPED\\n\" if $r != -1'";
    "foreign-descriptor", "take an open file of another process", "seccomp, Landlock", Both, Perl, Always,
        "perl -e '$p = syscall({pidfd_open}, {victim}, 0); $r = syscall({pidfd_getfd}, $p, 0, 0); print \"ESCAPED\\n\" if $p != -1 && $r != -1'";
    "kill", "end another process", "Landlock (Linux 6.12), bubblewrap", Both, Nothing, Always, "kill -0 {victim} && echo ESCAPED";
    "kill-server", "end the server", "Landlock (Linux 6.12), bubblewrap", Both, Nothing, Always, "kill -0 {server} && echo ESCAPED";
    "foreign-limits", "take resources from another process", "seccomp", Both, Perl, Always,
        "perl -e '$r = syscall({prlimit64}, {victim}, 4, $limits = pack(\"QQ\", 0, 0), 0); print \"ESCAPED\\n\" if $r != -1'";
    "foreign-priority", "slow another process down", "bubblewrap (process namespace)", Both, Wrapper, Always,
        "renice -n 19 -p {victim} && echo ESCAPED";
    "typing", "type into the terminal of the server", "seccomp", Both, Perl, Always,
        "perl -e 'ioctl(STDIN, 0x5412, my $key = \"x\"); print \"ESCAPED\\n\" unless $!{EPERM}'";
    "typing-wide", "the same by a number of which the kernel takes half", "seccomp", Both, Perl, Always,
        "perl -e 'syscall({ioctl}, 0, 0x100005412, $key = \"x\"); print \"ESCAPED\\n\" unless $!{EPERM}'";
    // The kernel.
    "typing-console", "type into the console, and read what is on it (`TIOCLINUX`)", "seccomp", Both, Perl, Always,
        "perl -e 'for (0x541c, 0x10000541c) { syscall({ioctl}, 0, $_, $key = \"\\3\"); print \"ESCAPED\\n\" unless $!{EPERM} }'";
    "typing-by-name", "type into terminals by their names", "seccomp", Both, Perl, Always,
        "perl -e 'for (glob(\"/dev/pts/* /dev/tty*\"), \"/dev/ptmx\", \"/dev/null\") { open(F, \"<\", $_) or next; ioctl(F, 0x5412, my $key = \"\\0\"); print \"ESCAPED\\n\" unless $!{EPERM} }'";
    "keys", "use keys that the kernel holds for the user", "seccomp", Both, Perl, Root, call!("syscall({keyctl}, 0, -4, 0)");
    "bpf", "load a program into the kernel", "seccomp, dropped capabilities", Both, Perl, Root, call!("syscall({bpf}, 0, 0, 0)");
    "perf", "watch the system by performance counters", "seccomp, dropped capabilities", Both, Perl, Root,
        call!("syscall({perf_event_open}, 0, 0, 0, 0, 0)");
    "userfaultfd", "stop the kernel in the middle of a copy", "seccomp", Both, Perl, Root, call!("syscall({userfaultfd}, 0)");
    "module", "load a kernel module", "seccomp, dropped capabilities", Both, Perl, Root, call!("syscall({finit_module}, -1, 0, 0)");
    "kexec", "load another kernel", "seccomp, dropped capabilities", Both, Perl, Never, call!("syscall({kexec_load}, 0, 0, 0, 0)");
    "reboot", "restart the machine", "seccomp, dropped capabilities", Both, Perl, Root, call!("syscall({reboot}, 0, 0, 0, 0)");
    // Inherited privileges.
    "new-privileges", "gain rights by a setuid program", "`no_new_privs`", Both, Nothing, Always,
        "grep -q '^NoNewPrivs:.*0' /proc/self/status && echo ESCAPED";
    "capabilities", "keep root's rights beyond files", "dropped capabilities", Both, Nothing, Root,
        "test $((0x$(sed -n 's/^CapEff:.//p' /proc/self/status) & 0xffffffffdb04)) -ne 0 && echo ESCAPED";
    "memory-program", "run a program that is no file, and write from it", "Landlock (holds for all programs)", Both, Perl, Always,
        "perl -e '$f = syscall({memfd_create}, $name = \"m\", 0); open(F, \">&=\", $f); open(B, \"<\", \"/bin/sh\"); local $/; syswrite F, <B>; exec {\"/proc/self/fd/$f\"} \"sh\", \"-c\", \"echo x > {outside}/made && echo ESCAPED\"'";
    "launcher-again", "run the launcher from inside with a policy that opens everything", "Landlock (rules only grow)", Both, Nothing, Always,
        "LD_PRELOAD= {launcher} sandbox-exec --policy '{open-policy}' -- /bin/sh -c 'echo x > {outside}/made && echo ESCAPED'";
    "inherited-descriptor", "write to a file that the server was started with", "the launcher closes all descriptors", Both, Nothing, Always,
        "{ echo x >&9; } 2>/dev/null && echo ESCAPED";
    "core-dump", "have memory written to a file or handed to a program", "limit of the process", Both, Nothing, Root,
        "ulimit -c unlimited && echo ESCAPED";
    "raise-limit", "raise the limit on processes", "limit of the process, dropped capabilities", Both, Nothing, Never,
        "ulimit -u unlimited && echo ESCAPED";
    "fork-bomb", "start processes without end", "limit of the process; root's own are not counted by the kernel", Both, Perl, Never, FORK_BOMB;
];

/// What keeps hidden places from being read.
const HIDDEN: &str = "Landlock, bubblewrap (an empty folder or file)";

/// What keeps symlinks from leading out of writable folders in a later command.
const NO_LINKS: &str = "folders are opened without following links; bubblewrap (a mount cannot be renamed)";

/// A background process replaces a folder while later commands write. It ends when it is told to, or after a timeout. With
/// bubblewrap it ends with its command, so the attempt is meaningful only without.
const SWAP_MEANWHILE: &str = "cd {open} && perl -e '
    exit if fork;
    open STDOUT, \">/dev/null\"; open STDERR, \">/dev/null\";
    $end = time + 20;
    until (-e \"stop\" || time > $end) {
        rename \"a\", \"was\"; symlink \"{around}\", \"a\"; select undef, undef, undef, 0.001;
        unlink \"a\"; rename \"was\", \"a\"; select undef, undef, undef, 0.001;
    }
    open F, \">\", \"stopped\"' =then=> for i in $(seq 300); do { echo x > {nested}/made; } 2>/dev/null; test -e {outside}/made && echo ESCAPED && break; done =then=> for i in $(seq 300); do { echo x > {nested}/made; } 2>/dev/null; test -e {outside}/made && echo ESCAPED && break; done =then=> for i in $(seq 300); do { echo x > {nested}/made; } 2>/dev/null; test -e {outside}/made && echo ESCAPED && break; done =then=> for i in $(seq 300); do { echo x > {nested}/made; } 2>/dev/null; test -e {outside}/made && echo ESCAPED && break; done =then=> for i in $(seq 300); do { echo x > {nested}/made; } 2>/dev/null; test -e {outside}/made && echo ESCAPED && break; done =then=> for i in $(seq 300); do { echo x > {nested}/made; } 2>/dev/null; test -e {outside}/made && echo ESCAPED && break; done =then=> cd {open} && touch stop && for i in $(seq 500); do test -e stopped && break; sleep 0.01; done";

/// `getpid` by the 32-bit system call interface.
const THIRTY_TWO_BITS: &str = "python3 -c '
import ctypes, mmap, os
if os.uname().machine == \"x86_64\":
    code = mmap.mmap(-1, 4096, prot=7)
    code.write(bytes([0x53, 0xb8, 20, 0, 0, 0, 0xcd, 0x80, 0x5b, 0xc3]))
    address = ctypes.addressof(ctypes.c_char.from_buffer(code))
    if ctypes.CFUNCTYPE(ctypes.c_int)(address)() == os.getpid(): print(\"ESCAPED\")
'";

/// All requests that the filter refuses. The first one is also tried as a number of which the kernel uses only the lower
/// half.
const CHATTR: &str = "perl -e '
    open F, \"<\", \"mine\";
    for (0x40086602, 0x140086602, 0x40046602, 0x401c5820, 0x40087602, 0x40047602, 0x40086604, 0x40806685, 0x800c6613,
         0x40047211, 0x5000940e, 0x50009418, 0x50009401, 0x50009417, 0x5000940f, 0x5000943f, 0x4008941a,
         0xc0506617, 0xc0406618, 0xc0406619, 0x6609, 0xc0c89425, 0xc0c09425) {
        syscall({ioctl}, fileno(F), $_, $nothing = \"\\0\" x 4096);
        print \"ESCAPED\\n\" unless $!{EPERM};
    }'";

/// Many more processes than the limit permits. The kernel does not count processes of root, so they run as another user.
const FORK_BOMB: &str = "bomb='
    $SIG{ALRM} = \"IGNORE\";
    while (@kids < 8000) { $kid = fork; last unless defined $kid; if (!$kid) { sleep 1000; exit } push @kids, $kid }
    print \"ESCAPED\\n\" if @kids == 8000 || !$!{EAGAIN};
    kill \"KILL\", @kids; wait for @kids'
if test $(id -u) = 0; then
    command -v setpriv > /dev/null && cd / && setpriv --reuid 65534 --regid 65534 --clear-groups perl -e \"$bomb\"
else
    perl -e \"$bomb\"
fi";
