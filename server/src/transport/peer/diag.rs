//! Finds the socket at the other end of a TCP connection, if it is on this machine.
//!
//! The kernel is asked for the one socket with these two addresses (`NETLINK_SOCK_DIAG`). The cost does not depend on
//! the number of sockets. If a container forbids that, the tables in `/proc/net` are searched instead.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use rustix::io::Errno;
use rustix::net::netlink::{self, SocketAddrNetlink};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};

/// A socket of a client on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PeerSocket {
    /// The user who created it.
    pub(super) uid: u32,
    /// Its inode number, which `/proc/PID/fd` shows. Zero if no process holds the socket any more.
    pub(super) inode: u64,
}

/// Finds the socket that has the address `peer` and is connected to `local`. Returns `None` if the network namespace of
/// this process has no such socket.
///
/// # Errors
///
/// Returns an error if the system does not provide the information.
pub(super) fn find(peer: SocketAddr, local: SocketAddr) -> io::Result<Option<PeerSocket>> {
    let (peer, local) = (canonical(peer), canonical(local));
    ask_kernel(peer, local).or_else(|error| {
        tracing::debug!(%error, "cannot ask the kernel for a socket; reading its tables");
        search_tables(peer, local)
    })
}

/// Converts an IPv4-mapped IPv6 address to an IPv4 address.
fn canonical(address: SocketAddr) -> SocketAddr {
    match address.ip().to_canonical() {
        ip @ IpAddr::V4(_) => SocketAddr::new(ip, address.port()),
        IpAddr::V6(_) => address,
    }
}

/// Type of messages about sockets of one address family (`linux/sock_diag.h`).
const SOCK_DIAG_BY_FAMILY: u16 = 20;
/// Type of error messages (`linux/netlink.h`).
const NLMSG_ERROR: u16 = 2;
/// Flag of requests (`linux/netlink.h`).
const NLM_F_REQUEST: u16 = 1;
const PROTOCOL_TCP: u8 = 6;
/// State of a listening socket (`net/tcp_states.h`). The kernel returns such a socket if it finds no connection.
const STATE_LISTEN: u8 = 10;

/// Bytes of the header of a message.
const HEADER_BYTES: usize = 16;
/// Bytes of `inet_diag_sockid`: ports, addresses, interface, cookie.
const ID_BYTES: usize = 48;
/// Bytes of a request: the header and `inet_diag_req_v2`.
const REQUEST_BYTES: usize = HEADER_BYTES + 8 + ID_BYTES;
/// Offsets in an answer (`inet_diag_msg`).
const ANSWER_STATE: usize = HEADER_BYTES + 1;
const ANSWER_ID: usize = HEADER_BYTES + 4;
const ANSWER_UID: usize = ANSWER_ID + ID_BYTES + 12;
const ANSWER_INODE: usize = ANSWER_UID + 4;
/// Bytes of the ports and addresses, at the beginning of an id.
const ADDRESSES_BYTES: usize = 36;

fn ask_kernel(peer: SocketAddr, local: SocketAddr) -> io::Result<Option<PeerSocket>> {
    let socket = rustix::net::socket_with(
        AddressFamily::NETLINK,
        SocketType::DGRAM,
        SocketFlags::CLOEXEC,
        Some(netlink::SOCK_DIAG),
    )?;
    let id = id(peer, local);
    rustix::net::sendto(&socket, &request(peer, &id), SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
    let mut answer = [0; 1_024];
    // The answer is available as soon as the request was sent.
    let (bytes, _) = rustix::net::recv(&socket, &mut answer, RecvFlags::DONTWAIT)?;
    read_answer(&answer[..bytes], &id)
}

fn id(peer: SocketAddr, local: SocketAddr) -> [u8; ID_BYTES] {
    let mut id = [0; ID_BYTES];
    id[0..2].copy_from_slice(&peer.port().to_be_bytes());
    id[2..4].copy_from_slice(&local.port().to_be_bytes());
    for (address, place) in [(peer.ip(), 4), (local.ip(), 20)] {
        match address {
            IpAddr::V4(address) => id[place..place + 4].copy_from_slice(&address.octets()),
            IpAddr::V6(address) => id[place..place + 16].copy_from_slice(&address.octets()),
        }
    }
    let interface = match peer {
        SocketAddr::V4(_) => 0,
        SocketAddr::V6(address) => address.scope_id(),
    };
    id[36..40].copy_from_slice(&interface.to_ne_bytes());
    // Match any cookie.
    id[40..48].fill(0xff);
    id
}

/// Returns the addresses of an IPv4 id as IPv4-mapped IPv6 addresses.
fn mapped(id: &[u8; ID_BYTES]) -> Vec<u8> {
    let octets = |place: usize| [id[place], id[place + 1], id[place + 2], id[place + 3]];
    let mapped = |place: usize| Ipv4Addr::from(octets(place)).to_ipv6_mapped().octets();
    [&id[..4], &mapped(4), &mapped(20)].concat()
}

fn request(peer: SocketAddr, id: &[u8; ID_BYTES]) -> [u8; REQUEST_BYTES] {
    let mut request = [0; REQUEST_BYTES];
    request[0..4].copy_from_slice(&(REQUEST_BYTES as u32).to_ne_bytes());
    request[4..6].copy_from_slice(&SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    request[6..8].copy_from_slice(&NLM_F_REQUEST.to_ne_bytes());
    let family = if peer.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    request[16] = u8::try_from(family.as_raw()).expect("a small number");
    request[17] = PROTOCOL_TCP;
    // Match any state.
    request[20..24].fill(0xff);
    request[24..].copy_from_slice(id);
    request
}

fn read_answer(answer: &[u8], id: &[u8; ID_BYTES]) -> io::Result<Option<PeerSocket>> {
    let word =
        |place: usize| answer.get(place..place + 4).and_then(|bytes| Some(u32::from_ne_bytes(bytes.try_into().ok()?)));
    let broken = || io::Error::from(io::ErrorKind::InvalidData);
    let kind =
        answer.get(4..6).and_then(|bytes| Some(u16::from_ne_bytes(bytes.try_into().ok()?))).ok_or_else(broken)?;
    match kind {
        NLMSG_ERROR => match word(HEADER_BYTES).ok_or_else(broken)?.cast_signed() {
            code if code == -Errno::NOENT.raw_os_error() => Ok(None),
            code => Err(io::Error::from_raw_os_error(-code)),
        },
        SOCK_DIAG_BY_FAMILY => {
            let (Some(uid), Some(inode)) = (word(ANSWER_UID), word(ANSWER_INODE)) else { return Err(broken()) };
            // An IPv6 socket with an IPv4 connection has IPv4-mapped addresses.
            let spellings = [id[..ADDRESSES_BYTES].to_vec(), mapped(id)];
            let is_asked_for = spellings.iter().any(|spelling| answer[ANSWER_ID..].starts_with(spelling));
            let socket = PeerSocket { uid, inode: inode.into() };
            Ok((is_asked_for && answer[ANSWER_STATE] != STATE_LISTEN).then_some(socket))
        }
        _ => Err(broken()),
    }
}

fn search_tables(peer: SocketAddr, local: SocketAddr) -> io::Result<Option<PeerSocket>> {
    let tables = if peer.is_ipv4() { &["/proc/net/tcp", "/proc/net/tcp6"][..] } else { &["/proc/net/tcp6"][..] };
    let mut read_any = false;
    for table in tables {
        let Ok(text) = std::fs::read_to_string(table) else { continue };
        read_any = true;
        if let Some(socket) = search_table(&text, peer, local) {
            return Ok(Some(socket));
        }
    }
    if read_any { Ok(None) } else { Err(io::Error::other("/proc/net/tcp cannot be read")) }
}

fn search_table(text: &str, peer: SocketAddr, local: SocketAddr) -> Option<PeerSocket> {
    let is_at = |spelled: &str, address| spellings(address).iter().any(|spelling| spelling == spelled);
    text.lines().skip(1).find_map(|line| {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let is_wanted = is_at(fields.next()?, peer) && is_at(fields.next()?, local);
        if !is_wanted {
            return None;
        }
        let uid = fields.nth(4)?.parse().ok()?;
        let inode = fields.nth(1)?.parse().ok()?;
        Some(PeerSocket { uid, inode })
    })
}

/// Returns an address as the tables in `/proc/net` spell it: hexadecimal words in the byte order of the machine.
fn spellings(address: SocketAddr) -> Vec<String> {
    let spelled = |octets: &[u8]| {
        let words = octets.chunks(4).map(|word| u32::from_ne_bytes(word.try_into().expect("four octets")));
        let words: String = words.map(|word| format!("{word:08X}")).collect();
        format!("{words}:{:04X}", address.port())
    };
    match address.ip() {
        IpAddr::V4(ip) => vec![spelled(&ip.octets()), spelled(&ip.to_ipv6_mapped().octets())],
        IpAddr::V6(ip) => vec![spelled(&ip.octets())],
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    fn inode(stream: &TcpStream) -> u64 {
        use std::os::fd::AsRawFd as _;

        std::fs::metadata(format!("/proc/self/fd/{}", stream.as_raw_fd())).expect("it is open").ino()
    }

    #[test]
    fn both_lookups_find_the_socket_for_every_address_form() {
        for (listen, connect) in
            [("127.0.0.1:0", "127.0.0.1"), ("[::1]:0", "::1"), ("[::]:0", "127.0.0.1"), ("[::]:0", "::ffff:127.0.0.1")]
        {
            let listener = TcpListener::bind(listen).expect("an address");
            let port = listener.local_addr().expect("an address").port();
            let ip: IpAddr = connect.parse().expect("an address");
            let client = TcpStream::connect((ip, port)).expect("the listener accepts");
            let (server, peer) = listener.accept().expect("a client");
            let local = server.local_addr().expect("an address");
            let expected = PeerSocket { uid: rustix::process::geteuid().as_raw(), inode: inode(&client) };
            let (peer, local) = (canonical(peer), canonical(local));
            assert_eq!(find(peer, local).expect("an answer"), Some(expected), "{listen} {connect}");
            assert_eq!(search_tables(peer, local).expect("an answer"), Some(expected), "{listen} {connect}");

            // A socket that listens on the address is not the client's.
            let (other, server) = (SocketAddr::new(peer.ip(), 1), SocketAddr::new(local.ip(), port));
            assert_eq!(find(other, server).expect("an answer"), None);
            let elsewhere = SocketAddr::new(local.ip(), 9);
            assert_eq!(find(local, elsewhere).expect("an answer"), None, "the listener, asked for as a client");
        }
    }

    #[test]
    fn a_socket_without_holder_has_no_inode() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("an address");
        let client = TcpStream::connect(listener.local_addr().expect("an address")).expect("the listener accepts");
        let (server, peer) = listener.accept().expect("a client");
        drop(client);
        let found = find(peer, server.local_addr().expect("an address")).expect("an answer");
        assert!(found.is_none_or(|socket| socket.inode == 0), "{found:?}");
    }

    #[test]
    fn broken_answers_are_errors() {
        let id = [0; ID_BYTES];
        for bytes in 0..ANSWER_INODE + 4 {
            let mut answer = vec![0; bytes];
            if bytes >= 6 {
                answer[4..6].copy_from_slice(&SOCK_DIAG_BY_FAMILY.to_ne_bytes());
            }
            assert!(read_answer(&answer, &id).is_err(), "{bytes}");
        }
    }
}
