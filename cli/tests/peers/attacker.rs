//! The attempts of a command to become a client of the server that runs it.
//!
//! The test program is also the command, which runs [`attempt`]. Its environment says what it tries. It appends the
//! answers of the server to a file, one word per line.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketAddrV4, SocketFlags, SocketType,
};

use crate::client::{status, takeover, upgrade};

/// Environment variables with the orders for an attacker.
pub(crate) const VARIABLES: [&str; 7] = ["ATTACK", "STEP", "PORT", "SOCKET", "MADE", "RESULT", "TOKEN"];

/// How long the server may take to answer.
const TIMEOUT: Duration = Duration::from_secs(30);

pub(crate) struct Orders {
    attack: String,
    step: String,
    port: u16,
    socket: PathBuf,
    made: PathBuf,
    result: PathBuf,
    token: Option<String>,
}

impl Orders {
    /// Returns the orders in the environment; `None` if this process is not an attacker.
    pub(crate) fn read() -> Option<Self> {
        let read = |name: &str| std::env::var(name).ok();
        Some(Self {
            attack: read("ATTACK")?,
            step: read("STEP").unwrap_or_default(),
            port: read("PORT")?.parse().ok()?,
            socket: read("SOCKET")?.into(),
            made: read("MADE")?.into(),
            result: read("RESULT")?.into(),
            token: read("TOKEN"),
        })
    }

    fn payload(&self) -> Vec<u8> {
        takeover(&self.made, self.token.as_deref())
    }

    /// Connects to one of the addresses of the server, and sends all requests at once.
    fn hit(&self, place: Place) -> io::Result<Stream> {
        let mut stream = match place {
            Place::Tcp => Stream::Tcp(TcpStream::connect(("127.0.0.1", self.port))?),
            Place::Unix => Stream::Unix(UnixStream::connect(&self.socket)?),
        };
        stream.write_all(&self.payload())?;
        Ok(stream)
    }

    fn tell(&self, word: &str) {
        let mut file = File::options().create(true).append(true).open(&self.result).expect("the folder is open");
        file.write_all(format!("{word}\n").as_bytes()).expect("it takes a word");
    }

    /// Returns a command that runs this program again for another step.
    fn next(&self, step: &str) -> Command {
        let mut command = Command::new(std::env::current_exe().expect("a program"));
        command.args(["attacker", "--exact", "--nocapture"]).env("STEP", step);
        command
    }

    /// Waits until the result file is written, with a time limit.
    fn wait_for_result(&self) {
        let start = std::time::Instant::now();
        while std::fs::read(&self.result).map_or(true, |told| told.is_empty()) && start.elapsed() < TIMEOUT {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

#[derive(Clone, Copy)]
enum Place {
    Tcp,
    Unix,
}

enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    fn into_fd(self) -> OwnedFd {
        match self {
            Self::Tcp(stream) => stream.into(),
            Self::Unix(stream) => stream.into(),
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.set_read_timeout(Some(TIMEOUT)).and_then(|()| stream.read(buffer)),
            Self::Unix(stream) => stream.set_read_timeout(Some(TIMEOUT)).and_then(|()| stream.read(buffer)),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(buffer),
            Self::Unix(stream) => stream.write(buffer),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn told(outcome: io::Result<Stream>) -> String {
    match outcome {
        Ok(mut stream) => status(&mut stream),
        Err(error) => error.to_string().replace(' ', "-"),
    }
}

/// Executes the orders.
pub(crate) fn attempt(orders: &Orders) {
    let place = if orders.attack.ends_with("unix") { Place::Unix } else { Place::Tcp };
    let family = orders.attack.split('-').next().unwrap_or_default();
    match (family, orders.step.as_str()) {
        ("direct" | "token" | "unconfined" | "elsewhere", _) => orders.tell(&told(orders.hit(place))),
        ("child", "") => drop(orders.next("hit").status()),
        ("orphan", "") => {
            drop(orders.next("middle").status());
            orders.wait_for_result();
        }
        ("orphan", "middle") => drop(orders.next("alone").spawn()),
        ("orphan", _) => {
            let start = std::time::Instant::now();
            while is_child_of_attacker() {
                assert!(start.elapsed() < TIMEOUT, "its parent ends");
                std::thread::sleep(Duration::from_millis(1));
            }
            orders.tell(&told(orders.hit(place)));
        }
        ("session", "") => {
            // `setsid` starts a new session, and its child continues without it.
            let mut setsid = Command::new("setsid");
            setsid.arg("--fork").arg(std::env::current_exe().expect("a program"));
            setsid.args(["attacker", "--exact", "--nocapture"]).envs([("ATTACK", "direct"), ("STEP", "hit")]);
            assert!(setsid.status().is_ok_and(|status| status.success()));
            orders.wait_for_result();
        }
        ("child", _) => orders.tell(&told(orders.hit(place))),
        // The process that connected has exited when the server looks for it, or soon after. Another process has the
        // socket then.
        ("handed", "") => {
            drop(orders.next("connect").status());
            orders.wait_for_result();
        }
        ("handed", "connect") => {
            let stream = orders.hit(place).expect("the server listens");
            drop(orders.next("hold").stdin(Stdio::from(stream.into_fd())).spawn());
        }
        ("handed", _) => {
            // Both kinds of sockets can be read through stdin.
            let mut stream = io::stdin().lock();
            orders.tell(&status(&mut stream));
        }
        ("parked", _) => parked(orders, place),
        ("mapped", _) => {
            let mapped: SocketAddr = format!("[::ffff:127.0.0.1]:{}", orders.port).parse().expect("an address");
            orders.tell(&sent(orders, TcpStream::connect(mapped)));
        }
        ("source", _) => orders.tell(&sent(orders, from_another_address(orders.port))),
        ("hidden", _) => {
            let hidden = rustix::process::DumpableBehavior::NotDumpable;
            rustix::process::set_dumpable_behavior(hidden).expect("it may");
            orders.tell(&told(orders.hit(place)));
        }
        ("renamed", "") => {
            let mut renamed = orders.next("hit");
            renamed.env("ATTACK", "child").arg0("codex");
            drop(renamed.status());
        }
        ("user", "") => {
            let mut other = orders.next("hit");
            other.env("ATTACK", "child").uid(65_534);
            if other.status().is_err() {
                orders.tell("cannot");
            }
        }
        ("many", _) => {
            let streams: Vec<_> = (0..64).map(|_| orders.hit(place)).collect();
            let words: Vec<String> = streams.into_iter().map(told).collect();
            orders.tell(&words.join(","));
        }
        ("blind", _) => {
            drop(orders.hit(place));
            orders.tell("gone");
        }
        ("bridge", _) => {
            let post = "POST /bridge HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n";
            orders.tell(&asked(orders, post));
        }
        ("flood", _) => flood(orders),
        ("left", "") => {
            // It continues in a session of its own when its parent is killed.
            let mut setsid = Command::new("setsid");
            setsid.arg("--fork").arg(std::env::current_exe().expect("a program"));
            setsid.args(["attacker", "--exact", "--nocapture"]).env("STEP", "wait");
            setsid.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            assert!(setsid.status().is_ok_and(|status| status.success()));
            loop {
                std::thread::sleep(TIMEOUT);
            }
        }
        ("left", _) => {
            if orders.attack == "left-hidden" {
                let hidden = rustix::process::DumpableBehavior::NotDumpable;
                rustix::process::set_dumpable_behavior(hidden).expect("it may");
            }
            File::create(running_file(&orders.result)).expect("the folder is open");
            let start = std::time::Instant::now();
            while !stop_file(&orders.result).exists() && start.elapsed() < TIMEOUT {
                std::thread::sleep(Duration::from_millis(5));
            }
            orders.tell(&told(orders.hit(place)));
        }
        ("health", _) => orders.tell(&asked(orders, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")),
        ("proxy", _) => {
            let trace = std::env::var("TRACE").expect("the program");
            let mut proxy = Command::new(trace)
                .args(["serve", "proxy", "--sock"])
                .arg(&orders.socket)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .expect("it starts");
            let written = proxy.stdin.as_mut().expect("a pipe").write_all(&orders.payload());
            let read = status(proxy.stdout.as_mut().expect("a pipe"));
            drop((written, proxy.kill(), proxy.wait()));
            orders.tell(&read);
        }
        (other, step) => panic!("{other} {step}"),
    }
}

/// Number of connections that a flood keeps open, unless the limit of open files is lower.
pub(crate) const FLOOD: usize = 6_000;

/// Returns the file that ends a flood when it is created.
pub(crate) fn stop_file(result: &Path) -> PathBuf {
    result.with_extension("stop")
}

/// Returns the file that a waiting attacker creates when it is ready.
pub(crate) fn running_file(result: &Path) -> PathBuf {
    result.with_extension("running")
}

/// Opens very many connections, and replaces the oldest ones by new ones until the stop file exists. It reports the
/// number of connections when all are open, and again at the end.
fn flood(orders: &Orders) {
    const THREADS: usize = 4;
    let mut limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    limit.current = limit.maximum;
    let _refused = rustix::process::setrlimit(rustix::process::Resource::Nofile, limit);
    let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current.unwrap_or(u64::MAX);
    let at_once = FLOOD.min(usize::try_from(files).unwrap_or(usize::MAX).saturating_sub(100)) / THREADS;
    let (made, stop) = (std::sync::atomic::AtomicUsize::new(0), stop_file(&orders.result));
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let mut open = std::collections::VecDeque::new();
                while !stop.exists() {
                    if open.len() == at_once {
                        open.pop_front();
                    }
                    if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", orders.port)) {
                        let _cut = stream.write_all(&orders.payload());
                        open.push_back(stream);
                        made.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    }
                }
            });
        }
        let made = || made.load(std::sync::atomic::Ordering::Relaxed);
        while made() < at_once * THREADS && !stop.exists() {
            std::thread::sleep(Duration::from_millis(5));
        }
        orders.tell(&made().to_string());
        while !stop.exists() {
            std::thread::sleep(Duration::from_millis(5));
        }
        orders.tell(&made().to_string());
    });
}

fn is_child_of_attacker() -> bool {
    let parent = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get());
    let name = parent.and_then(|parent| std::fs::read_link(format!("/proc/{parent}/exe")).ok());
    name.is_some_and(|name| Some(name) == std::env::current_exe().ok())
}

fn sent(orders: &Orders, stream: io::Result<TcpStream>) -> String {
    told(stream.and_then(|stream| {
        let mut stream = Stream::Tcp(stream);
        stream.write_all(&orders.payload())?;
        Ok(stream)
    }))
}

fn asked(orders: &Orders, request: &str) -> String {
    told(TcpStream::connect(("127.0.0.1", orders.port)).and_then(|stream| {
        let mut stream = Stream::Tcp(stream);
        stream.write_all(request.as_bytes())?;
        Ok(stream)
    }))
}

fn from_another_address(port: u16) -> io::Result<TcpStream> {
    let socket = rustix::net::socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    rustix::net::bind(&socket, &SocketAddrV4::new([127, 0, 0, 2].into(), 0))?;
    rustix::net::connect(&socket, &SocketAddrV4::new([127, 0, 0, 1].into(), port))?;
    Ok(socket.into())
}

/// Sends the socket to itself in a message, so that no process holds it while the server looks for its owner.
fn parked(orders: &Orders, place: Place) {
    let flags = SocketFlags::CLOEXEC;
    let (one, other) = rustix::net::socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None).expect("a pair");
    let stream = match place {
        Place::Tcp => TcpStream::connect(("127.0.0.1", orders.port)).map(OwnedFd::from),
        Place::Unix => UnixStream::connect(&orders.socket).map(OwnedFd::from),
    }
    .expect("the server listens");
    let watched = stream.try_clone().expect("a copy");
    let mut writer = File::from(stream);
    writer.write_all(&orders.payload()).expect("the server reads");
    let stream = OwnedFd::from(writer);
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    let rights = [stream.as_fd()];
    assert!(ancillary.push(SendAncillaryMessage::ScmRights(&rights)));
    rustix::net::sendmsg(&one, &[io::IoSlice::new(b"x")], &mut ancillary, SendFlags::empty()).expect("it is sent");
    drop((stream, watched));
    // The server has finished its search before the socket is received again.
    std::thread::sleep(Duration::from_millis(300));
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = rustix::net::RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let mut buffers = [io::IoSliceMut::new(&mut byte)];
    rustix::net::recvmsg(&other, &mut buffers, &mut ancillary, rustix::net::RecvFlags::empty()).expect("it comes");
    for message in ancillary.drain() {
        if let rustix::net::RecvAncillaryMessage::ScmRights(descriptors) = message {
            for descriptor in descriptors {
                orders.tell(&status(&mut File::from(descriptor)));
            }
        }
    }
}

/// Sends a request to a server over a unix socket as a permitted client, and returns the status.
pub(crate) fn knock(socket: &Path) -> String {
    told(UnixStream::connect(socket).and_then(|stream| {
        let mut stream = Stream::Unix(stream);
        stream.write_all(upgrade(None).as_bytes())?;
        Ok(stream)
    }))
}
