//! The routes of the page of a lake, and of the pages of its sessions.
//!
//! | path | response | token |
//! |---|---|---|
//! | `/`, `/fleet.js`, `/fleet.css` | the page | no |
//! | `/data/...` | data, by whoever mounts the routes | yes |
//! | `/session/ID/` | the page of a session, without any data | no |
//! | `/session/ID/structure.json`, ... | its data, as of `trace view` | yes |
//!
//! The id of a session is its day, a hyphen and its address in hexadecimal digits ([`address_of`]).

use axum::Router;
use axum::body::Bytes;
use axum::extract::Request;
use axum::http::header;
use axum::response::{IntoResponse, Redirect};
use axum::routing::get;
use trace_viz::fleet;
use trace_viz::page::document;

use crate::recordings::{RecordingSource, Recordings};
use crate::routes;
use crate::web::{RECORDING_TITLE, file};

/// Longest address of a session whose page can be opened, in bytes.
pub const MAX_ADDRESS_BYTES: usize = 2048;

/// Characters of a day, `YYYY-MM-DD`.
const DAY_CHARS: usize = 10;

/// Most characters of the id of a session.
const MAX_ID_CHARS: usize = DAY_CHARS + 1 + 2 * MAX_ADDRESS_BYTES;

/// Path of the page of a session, without the slash at its end.
const SESSION: &str = "/session/{thread}";

pub(crate) struct Routes {
    /// Files without secrets.
    pub(crate) open: Router,
    /// What only a request with the token gets.
    pub(crate) closed: Router,
}

/// Returns the routes of the page of a lake.
pub(crate) fn routes(data: Router, source: RecordingSource) -> Routes {
    let shell = Bytes::from(document::served(RECORDING_TITLE));
    let page = || async {
        let policy = [(header::CONTENT_SECURITY_POLICY, fleet::POLICY)];
        (policy, file("text/html; charset=utf-8", fleet::document())).into_response()
    };
    let open = Router::new()
        .route("/", get(page))
        .route("/fleet.js", get(|| async { file("text/javascript; charset=utf-8", fleet::script()) }))
        .route("/fleet.css", get(|| async { file("text/css; charset=utf-8", fleet::style()) }))
        .route(
            SESSION,
            get(|request: Request| async move { Redirect::permanent(&format!("{}/", request.uri().path())) }),
        )
        .route(&format!("{SESSION}/"), get(move || async move { routes::document(shell) }));
    let closed = routes::data(SESSION).with_state(Recordings::new(source, MAX_ID_CHARS)).nest("/data", data);
    Routes { open, closed }
}

/// Returns the day, if the session has one, and the address of the session with an id: `YYYY-MM-DD-HEX`, or `-HEX`.
#[must_use]
pub fn address_of(id: &str) -> Option<(Option<String>, String)> {
    let (day, digits) = id.rsplit_once('-')?;
    let is_pair = |pair: &[u8]| pair.len() == 2 && pair.iter().all(u8::is_ascii_hexdigit);
    if digits.is_empty() || digits.len() > 2 * MAX_ADDRESS_BYTES || !digits.as_bytes().chunks(2).all(is_pair) {
        return None;
    }
    let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).ok();
    let address = (0..digits.len()).step_by(2).map(byte).collect::<Option<Vec<u8>>>()?;
    let day = (!day.is_empty()).then(|| day.to_owned());
    Some((day, String::from_utf8(address).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_day_and_an_address() {
        let of = |id: &str| address_of(id);
        assert_eq!(of("2026-03-02-2f61"), Some((Some("2026-03-02".to_owned()), "/a".to_owned())));
        assert_eq!(of("-c3a9"), Some((None, "é".to_owned())));
        for bad in [
            "",
            "-",
            "2f61",
            "2026-03-02-",
            "-2f6",
            "-2g",
            "-é",
            "-ff",
            &format!("-{}", "61".repeat(MAX_ADDRESS_BYTES + 1)),
        ] {
            assert_eq!(of(bad), None, "{bad}");
        }
        assert!(of(&format!("2026-03-02-{}", "61".repeat(MAX_ADDRESS_BYTES))).is_some());
    }
}
