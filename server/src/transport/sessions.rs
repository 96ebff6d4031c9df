//! Decides whether a bridge session may start if there are many.
//!
//! A session occupies a slot until it ends, even if its events are not read. The number of sessions is therefore
//! limited for each process, and also for each user or address, because a client could make each request with another
//! process. If a user or address has reached its limit, its oldest session without a stream ends to make room. In this
//! way, a client that creates a session and reads it at once finds room, no matter how many sessions other clients have
//! created without reading them.

use super::peer::Peer;

/// Most bridge sessions at the same time. They also count as connections, whose limit is higher.
pub const MAX_SESSIONS: usize = 2_048;

/// Most sessions of one process of this machine, or of one address elsewhere.
pub const MAX_SESSIONS_PER_PEER: usize = 512;

/// Most sessions of all processes of one user of this machine.
pub const MAX_SESSIONS_PER_OWNER: usize = MAX_SESSIONS / 2;

/// An existing session.
#[derive(Debug, Clone, Copy)]
pub(super) struct ExistingSession<'a> {
    /// The peer that created it.
    pub(super) peer: &'a Peer,
    /// Its position in the order of creation.
    pub(super) number: u64,
    /// Whether it has a stream.
    pub(super) is_read: bool,
}

/// Whether a session may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Admission {
    /// There is room.
    Free,
    /// There is room after this session without a stream has ended.
    InPlaceOf(u64),
    /// There is no room.
    Full,
}

/// Returns whether a peer may create a session in addition to the existing ones.
pub(super) fn admission<'a>(sessions: impl Iterator<Item = ExistingSession<'a>> + Clone, peer: &Peer) -> Admission {
    let of_peer = sessions.clone().filter(|session| session.peer == peer).count();
    if of_peer >= MAX_SESSIONS_PER_PEER {
        return Admission::Full;
    }
    let of_owner = sessions.clone().filter(|session| session.peer.owner == peer.owner);
    let room = if of_owner.clone().count() >= MAX_SESSIONS_PER_OWNER {
        oldest_unread(of_owner)
    } else if sessions.clone().count() >= MAX_SESSIONS {
        oldest_unread(sessions)
    } else {
        return Admission::Free;
    };
    room.map_or(Admission::Full, Admission::InPlaceOf)
}

fn oldest_unread<'a>(sessions: impl Iterator<Item = ExistingSession<'a>>) -> Option<u64> {
    sessions.filter(|session| !session.is_read).map(|session| session.number).min()
}

#[cfg(test)]
mod tests {
    use super::super::peer::Owner;
    use super::*;

    fn process(number: u32) -> Peer {
        Peer { process: Some((number, 0)), owner: Owner::User(7) }
    }

    fn sessions(peers: &[Peer], is_read: bool) -> impl Iterator<Item = ExistingSession<'_>> + Clone {
        (0..).zip(peers).map(move |(number, peer)| ExistingSession { peer, number, is_read })
    }

    #[test]
    fn one_process_has_a_limit_and_others_find_room() {
        let peers = vec![process(1); MAX_SESSIONS_PER_PEER];
        assert_eq!(admission(sessions(&peers, false), &process(1)), Admission::Full);
        assert_eq!(admission(sessions(&peers[1..], false), &process(1)), Admission::Free);
        assert_eq!(admission(sessions(&peers, true), &process(2)), Admission::Free);
    }

    #[test]
    fn sessions_without_a_stream_of_a_full_user_make_room() {
        let peers: Vec<Peer> = (0..).map(process).take(MAX_SESSIONS_PER_OWNER).collect();
        let another = process(u32::MAX);
        assert_eq!(admission(sessions(&peers, false), &another), Admission::InPlaceOf(0));
        assert_eq!(admission(sessions(&peers, true), &another), Admission::Full);
        let stranger = Peer { process: None, owner: Owner::at([192, 0, 2, 1].into()) };
        assert_eq!(
            admission(sessions(&peers, true), &stranger),
            Admission::Free,
            "users do not take each other's slots"
        );
    }

    #[test]
    fn many_owners_share_all_slots() {
        let owner = |number: usize| Peer { process: None, owner: Owner::User(u32::try_from(number).expect("small")) };
        let peers: Vec<Peer> = (0..MAX_SESSIONS).map(|number| owner(number / 8)).collect();
        assert_eq!(admission(sessions(&peers, false), &owner(MAX_SESSIONS)), Admission::InPlaceOf(0));
    }
}
