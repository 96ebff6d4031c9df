//! Who may begin a session of the bridge when many have.
//!
//! A session takes a place until somebody ends it, also while nobody reads it. So each process has a share, each user or
//! address too, since a client that makes every request with a process of its own would count as many; and when a share of
//! the latter kind is used up, the oldest session that nobody reads makes room. Whoever begins a session and reads it at once
//! finds room in this way, however many others only begin theirs.

use super::peer::Peer;

/// Most sessions of the bridge at a time. They are connections, of which there may be more.
pub const MAX_SESSIONS: usize = 2_048;

/// Most sessions of one process of this machine, or of one address elsewhere.
pub const MAX_SESSIONS_PER_PEER: usize = 512;

/// Most sessions of all processes of one user of this machine.
pub const MAX_SESSIONS_PER_OWNER: usize = MAX_SESSIONS / 2;

/// A session that there is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seat<'a> {
    /// Who began it.
    pub(super) peer: &'a Peer,
    /// Its place in the order of beginnings.
    pub(super) number: u64,
    /// Whether somebody reads its events.
    pub(super) is_read: bool,
}

/// What becomes of somebody who wants to begin a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Admission {
    /// There is room.
    Free,
    /// There is room when this session, which nobody reads, has ended.
    InPlaceOf(u64),
    /// There is no room.
    Full,
}

/// Says whether a peer may begin a session beside those that there are.
pub(super) fn admission<'a>(seats: impl Iterator<Item = Seat<'a>> + Clone, peer: &Peer) -> Admission {
    let of_peer = seats.clone().filter(|seat| seat.peer == peer).count();
    if of_peer >= MAX_SESSIONS_PER_PEER {
        return Admission::Full;
    }
    let of_owner = seats.clone().filter(|seat| seat.peer.owner == peer.owner);
    let room = if of_owner.clone().count() >= MAX_SESSIONS_PER_OWNER {
        oldest_unread(of_owner)
    } else if seats.clone().count() >= MAX_SESSIONS {
        oldest_unread(seats)
    } else {
        return Admission::Free;
    };
    room.map_or(Admission::Full, Admission::InPlaceOf)
}

fn oldest_unread<'a>(seats: impl Iterator<Item = Seat<'a>>) -> Option<u64> {
    seats.filter(|seat| !seat.is_read).map(|seat| seat.number).min()
}

#[cfg(test)]
mod tests {
    use super::super::peer::Owner;
    use super::*;

    fn process(number: u32) -> Peer {
        Peer { process: Some((number, 0)), owner: Owner::User(7) }
    }

    fn seats(peers: &[Peer], is_read: bool) -> impl Iterator<Item = Seat<'_>> + Clone {
        (0..).zip(peers).map(move |(number, peer)| Seat { peer, number, is_read })
    }

    #[test]
    fn one_process_has_its_share_and_others_find_room() {
        let peers = vec![process(1); MAX_SESSIONS_PER_PEER];
        assert_eq!(admission(seats(&peers, false), &process(1)), Admission::Full);
        assert_eq!(admission(seats(&peers[1..], false), &process(1)), Admission::Free);
        assert_eq!(admission(seats(&peers, true), &process(2)), Admission::Free);
    }

    #[test]
    fn who_begins_sessions_with_many_processes_makes_room_for_others_unless_all_are_read() {
        let peers: Vec<Peer> = (0..).map(process).take(MAX_SESSIONS_PER_OWNER).collect();
        let another = process(u32::MAX);
        assert_eq!(admission(seats(&peers, false), &another), Admission::InPlaceOf(0));
        assert_eq!(admission(seats(&peers, true), &another), Admission::Full);
        let stranger = Peer { process: None, owner: Owner::at([192, 0, 2, 1].into()) };
        assert_eq!(admission(seats(&peers, true), &stranger), Admission::Free, "users do not take each other's room");
    }

    #[test]
    fn many_owners_share_what_there_is() {
        let owner = |number: usize| Peer { process: None, owner: Owner::User(u32::try_from(number).expect("small")) };
        let peers: Vec<Peer> = (0..MAX_SESSIONS).map(|number| owner(number / 8)).collect();
        assert_eq!(admission(seats(&peers, false), &owner(MAX_SESSIONS)), Admission::InPlaceOf(0));
    }
}
