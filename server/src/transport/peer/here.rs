//! Determines whether an address belongs to this machine.
//!
//! The kernel is asked where it would deliver a packet to the address (`NETLINK_ROUTE`). If that is forbidden, a socket
//! is bound to the address. The second way is less reliable: with `ip_nonlocal_bind`, a socket can be bound to any
//! address.

use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, SocketAddrV6, UdpSocket};

use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};

/// Returns whether an address belongs to this machine. The port is ignored. A link-local address also has to match the
/// interface (`scope_id`).
pub(super) fn is_here(address: SocketAddr) -> bool {
    match (address.ip().to_canonical(), address) {
        (ip, _) if ip.is_loopback() => true,
        (IpAddr::V6(ip), SocketAddr::V6(address)) if ip.is_unicast_link_local() => {
            match std::fs::read_to_string("/proc/net/if_inet6") {
                Ok(table) => has_on_link(&table, ip, address.scope_id()),
                Err(_) => can_bind(address.into()),
            }
        }
        (ip, _) => is_delivered_here(ip).unwrap_or_else(|error| {
            tracing::debug!(%error, "cannot ask the kernel for a route");
            can_bind((ip, 0).into())
        }),
    }
}

/// Returns whether a table of addresses contains the address on an interface, or on any interface if `interface` is 0.
/// Each line of the table starts with the address and the number of the interface, both hexadecimal.
fn has_on_link(table: &str, address: Ipv6Addr, interface: u32) -> bool {
    let wanted = format!("{:032x}", address.to_bits());
    table.lines().any(|line| {
        let mut words = line.split_ascii_whitespace();
        let is_wanted = words.next() == Some(wanted.as_str());
        let index = words.next().and_then(|index| u32::from_str_radix(index, 16).ok());
        is_wanted && (interface == 0 || index == Some(interface))
    })
}

fn can_bind(address: SocketAddr) -> bool {
    let address = match address {
        SocketAddr::V6(v6) => SocketAddrV6::new(*v6.ip(), 0, 0, v6.scope_id()).into(),
        SocketAddr::V4(v4) => SocketAddr::new((*v4.ip()).into(), 0),
    };
    match UdpSocket::bind(address) {
        Ok(_) => true,
        Err(error) => error.kind() != io::ErrorKind::AddrNotAvailable,
    }
}

/// Types of messages about routes: a request and its answer (`linux/rtnetlink.h`).
const RTM_GETROUTE: u16 = 26;
const RTM_NEWROUTE: u16 = 24;
/// Type of error messages (`linux/netlink.h`).
const NLMSG_ERROR: u16 = 2;
/// Flag of requests (`linux/netlink.h`).
const NLM_F_REQUEST: u16 = 1;
/// Attribute with the destination.
const RTA_DST: u16 = 1;
/// Type of a route to an address of this machine.
const RTN_LOCAL: u8 = 2;

/// Bytes of the header of a message.
const HEADER_BYTES: usize = 16;
/// Bytes of `rtmsg`, and the offset of the type of the route.
const ROUTE_BYTES: usize = 12;
const ROUTE_KIND: usize = HEADER_BYTES + 7;

fn is_delivered_here(address: IpAddr) -> io::Result<bool> {
    let socket = rustix::net::socket_with(AddressFamily::NETLINK, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    rustix::net::sendto(&socket, &request(address), SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
    let mut answer = [0; 1_024];
    // The answer is available as soon as the request was sent.
    let (bytes, _) = rustix::net::recv(&socket, &mut answer, RecvFlags::DONTWAIT)?;
    read_answer(&answer[..bytes])
}

fn request(address: IpAddr) -> Vec<u8> {
    let (family, octets) = match address {
        IpAddr::V4(address) => (AddressFamily::INET, address.octets().to_vec()),
        IpAddr::V6(address) => (AddressFamily::INET6, address.octets().to_vec()),
    };
    let small = |number: usize| u8::try_from(number).expect("an address is short");
    let mut route = [0; ROUTE_BYTES];
    route[0] = family.as_raw() as u8;
    route[1] = small(octets.len() * 8);
    let attribute = u16::from(small(4 + octets.len()));
    let length = HEADER_BYTES + ROUTE_BYTES + usize::from(attribute);
    let mut request = Vec::with_capacity(length);
    request.extend((length as u32).to_ne_bytes());
    request.extend(RTM_GETROUTE.to_ne_bytes());
    request.extend(NLM_F_REQUEST.to_ne_bytes());
    request.extend([0; 8]);
    request.extend(route);
    request.extend(attribute.to_ne_bytes());
    request.extend(RTA_DST.to_ne_bytes());
    request.extend(octets);
    request
}

fn read_answer(answer: &[u8]) -> io::Result<bool> {
    let broken = || io::Error::from(io::ErrorKind::InvalidData);
    let kind = answer.get(4..6).and_then(|bytes| Some(u16::from_ne_bytes(bytes.try_into().ok()?)));
    match kind.ok_or_else(broken)? {
        RTM_NEWROUTE => answer.get(ROUTE_KIND).map(|kind| *kind == RTN_LOCAL).ok_or_else(broken),
        NLMSG_ERROR => {
            let code = answer.get(HEADER_BYTES..HEADER_BYTES + 4).ok_or_else(broken)?;
            let code = -i32::from_ne_bytes(code.try_into().map_err(|_| broken())?);
            let nowhere = [Errno::NETUNREACH, Errno::HOSTUNREACH, Errno::ACCESS];
            match code {
                code if nowhere.iter().any(|errno| errno.raw_os_error() == code) => Ok(false),
                code if code > 0 => Err(io::Error::from_raw_os_error(code)),
                _ => Err(broken()),
            }
        }
        _ => Err(broken()),
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use trace_needs::{Need, skip};

    use super::*;

    fn at(address: &str) -> SocketAddr {
        address.parse().expect("an address")
    }

    #[test]
    fn loopback_is_this_machine_and_examples_are_not() {
        for (address, expected) in [
            ("127.0.0.1:1", true),
            ("127.9.9.9:1", true),
            ("[::1]:1", true),
            ("[::ffff:127.0.0.1]:1", true),
            ("192.0.2.7:1", false),
            ("[::ffff:192.0.2.7]:1", false),
            ("[2001:db8::7]:1", false),
            ("[fe80::dead:beef:7%1]:1", false),
        ] {
            assert_eq!(is_here(at(address)), expected, "{address}");
        }
    }

    #[test]
    fn a_link_local_address_needs_its_interface() {
        let table = "fe800000000000000000000000000007 02 40 20 80     eth0\n\
                     fe800000000000000000000000000008 1f 40 20 80     eth1\n";
        let has = |address: &str, interface| has_on_link(table, address.parse().expect("an address"), interface);
        assert!(has("fe80::7", 2) && has("fe80::8", 31) && has("fe80::7", 0));
        assert!(!has("fe80::7", 31) && !has("fe80::8", 2) && !has("fe80::9", 0));
    }

    #[test]
    fn broken_answers_are_errors() {
        for bytes in 0..=ROUTE_KIND {
            for kind in [RTM_NEWROUTE, NLMSG_ERROR, 7] {
                let mut answer = vec![0; bytes];
                if bytes >= 6 {
                    answer[4..6].copy_from_slice(&kind.to_ne_bytes());
                }
                assert!(read_answer(&answer).is_err(), "{bytes} {kind}");
            }
        }
    }

    const INSIDE: &str = "TRACE_TEST_NETWORK";

    /// Runs in its own network namespace, with an address that belongs to this machine only because of a route, with a
    /// link-local address, and with sockets that may be bound to any address.
    #[test]
    fn only_addresses_of_interfaces_and_routes_are_local() {
        if std::env::var_os(INSIDE).is_some() {
            assert!(can_bind(at("192.0.2.7:0")), "sockets may have any address");
            for (address, expected) in [
                ("192.0.2.7:1", false),
                ("10.7.7.7:1", true),
                ("10.7.7.8:1", false),
                ("10.8.1.2:1", true),
                ("[2001:db8::7]:1", true),
                ("[2001:db8::8]:1", false),
                ("[fe80::7%1]:1", true),
                ("[fe80::7%2]:1", false),
                ("[fe80::8%1]:1", false),
            ] {
                assert_eq!(is_here(at(address)), expected, "{address}");
            }
            return;
        }
        let set_up = "ip link set lo up && ip addr add 10.7.7.7/32 dev lo && ip route add local 10.8.0.0/16 dev lo && \
                      ip addr add 2001:db8::7/128 dev lo && ip addr add fe80::7/64 dev lo && \
                      echo 1 > /proc/sys/net/ipv4/ip_nonlocal_bind";
        let unshared = |line: &str| {
            let mut command = Command::new("unshare");
            command.args(["--net", "sh", "-c", line]);
            command
        };
        if !unshared(set_up).output().is_ok_and(|output| output.status.success()) {
            return skip(Need::Networks, "addresses of this machine: making a network takes root, `unshare` and `ip`");
        }
        let name = std::thread::current().name().expect("a test").to_owned();
        let line = format!("{set_up} && exec \"$0\" --exact {name} --nocapture");
        let status = unshared(&line).arg(std::env::current_exe().expect("a program")).env(INSIDE, "1").status();
        assert!(status.expect("it runs").success());
    }
}
