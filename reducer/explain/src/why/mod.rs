//! Provenance: where a text first appeared, how it passed from agent to agent, and what followed from it.
//!
//! Every text of the session ([`Texts`]) is searched for the text that was asked for. The occurrences are sorted in the
//! order of causes: the first one is the origin, and the ways into and out of each agent are the path.
//! `docs/provenance.md` defines the terms.

mod answer;
mod confirm;
mod cut;
mod escapes;
mod forward;
mod kind;
mod needle;
mod object_text;
mod path;

pub use answer::{Followed, Form, Hop, Kind, Origin, Provenance, SeenBy, Way};
pub(crate) use kind::{attribute, by_user_role};
pub use needle::{MAX_NEEDLE_BYTES, Needle, NeedleError};
pub use object_text::{NoText, object_text};

use crate::session::Session;
use crate::texts::Texts;

/// Finds out where a text came from.
pub fn why(session: &Session, needle: &Needle) -> Provenance {
    let texts = Texts::new(session);
    let trace = session.trace();
    let calls = texts.calls();
    let sights = texts.collect(|place, text| Some((*place, needle.look(text, kind::strings_of(trace, calls, place))?)));
    let mut found = confirm::confirmed(trace, calls, needle, &sights);
    found.sort_by_key(|occurrence| (occurrence.place.birth, occurrence.form));
    let ways = path::Ways::new(session, &texts);
    let found = ways.complete(found);
    let origin = ways.origin(&found);
    let unread_payloads = texts.unread();
    let forward = forward::Forward::new(session, &texts, &found);
    Provenance {
        text: needle.text().to_owned(),
        object: None,
        path: ways.path(&found, origin.as_ref()),
        origin: origin.map(|origin| ways.describe(&origin)),
        seen_by: forward.seen_by(),
        followed_by: forward.followed_by(),
        unread_payloads,
    }
}
