//! Decides which requests are answered.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderName};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};

use crate::token::Token;

/// Headers of every response. No other site may embed the page, nothing may cache it or guess its type, and no link may
/// reveal its address.
const HEADERS: [(HeaderName, &str); 6] = [
    (header::CACHE_CONTROL, "no-store"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

#[derive(Debug)]
struct Guard {
    /// The values of the `Host` header that are accepted.
    hosts: [String; 2],
}

impl Guard {
    fn new(address: SocketAddr) -> Arc<Self> {
        let port = address.port();
        Arc::new(Self { hosts: [format!("127.0.0.1:{port}"), format!("localhost:{port}")] })
    }
}

/// Wraps routes so that only requests with an accepted host reach them, and those of `closed` only with the token as a bearer
/// token. What is open has no secret: the page of a token that is in the fragment of its address, which is in no request.
pub(crate) fn guarded_by_bearer(open: Router, closed: Router, address: SocketAddr, token: &Token) -> Router {
    let known = token.clone();
    let closed = closed.route_layer(axum::middleware::from_fn(move |request: Request, next: Next| {
        let known = known.clone();
        async move {
            if bearer(request.headers()).is_some_and(|token| known.is(token)) {
                return next.run(request).await;
            }
            let why = "this needs the token of the server; open the address that was printed\n";
            (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer")], why).into_response()
        }
    }));
    open.merge(closed).layer(from_fn_with_state(Guard::new(address), check))
}

/// Returns the bearer token of a request, if it has exactly one.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok()?.strip_prefix("Bearer "),
        _ => None,
    }
}

/// Wraps routes so that only requests with the token and an accepted host reach them.
pub(crate) fn guarded(routes: Router, address: SocketAddr, token: &Token) -> Router {
    let known = token.clone();
    let by_token = routes.layer(axum::middleware::from_fn(move |request: Request, next: Next| {
        let known = known.clone();
        async move {
            let first = request.uri().path().split('/').nth(1).unwrap_or_default();
            if known.is(first) { next.run(request).await } else { StatusCode::NOT_FOUND.into_response() }
        }
    }));
    by_token.layer(from_fn_with_state(Guard::new(address), check))
}

async fn check(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let mut answer = match refusal(&guard, request.headers()) {
        Some(why) => (StatusCode::FORBIDDEN, why).into_response(),
        None => next.run(request).await,
    };
    for (name, value) in HEADERS {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    answer
}

/// Returns the reason if a request is refused, and `None` if it is accepted.
fn refusal(guard: &Guard, headers: &HeaderMap) -> Option<&'static str> {
    let one = |name: HeaderName| {
        let mut values = headers.get_all(name).iter();
        match (values.next(), values.next()) {
            (None, _) => Ok(None),
            (Some(value), None) => value.to_str().map(Some).map_err(|_| ()),
            (Some(_), Some(_)) => Err(()),
        }
    };
    let is_us = |host: &str| guard.hosts.iter().any(|known| known.eq_ignore_ascii_case(host));
    match one(header::HOST) {
        Ok(Some(host)) if is_us(host) => {}
        _ => return Some("the page is served to the loopback interface alone; use the address that was printed\n"),
    }
    match one(header::ORIGIN) {
        Ok(None) => None,
        Ok(Some(origin)) if origin.strip_prefix("http://").is_some_and(is_us) => None,
        _ => Some("the page is served to itself alone\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(headers: &[(HeaderName, &str)]) -> bool {
        let guard = Guard { hosts: ["127.0.0.1:8000".to_owned(), "localhost:8000".to_owned()] };
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name, HeaderValue::from_str(value).expect("a value"));
        }
        refusal(&guard, &map).is_some()
    }

    #[test]
    fn only_the_loopback_interface_is_a_host() {
        assert!(!refused(&[(header::HOST, "127.0.0.1:8000")]));
        assert!(!refused(&[(header::HOST, "LOCALHOST:8000")]));
        assert!(refused(&[]));
        assert!(refused(&[(header::HOST, "127.0.0.1")]));
        assert!(refused(&[(header::HOST, "evil.example:8000")]));
        assert!(refused(&[(header::HOST, "127.0.0.1:8000"), (header::HOST, "127.0.0.1:8000")]));
        assert!(refused(&[(header::HOST, "127.0.0.1:8000.evil.example")]));
    }

    #[test]
    fn a_request_has_one_bearer_token() {
        let of = |values: &[&str]| {
            let mut map = HeaderMap::new();
            for value in values {
                map.append(header::AUTHORIZATION, HeaderValue::from_str(value).expect("a value"));
            }
            bearer(&map).map(str::to_owned)
        };
        assert_eq!(of(&["Bearer abc"]).as_deref(), Some("abc"));
        for others in [&[][..], &["Basic abc"], &["abc"], &["Bearer abc", "Bearer abc"]] {
            assert_eq!(of(others), None, "{others:?}");
        }
    }

    #[test]
    fn other_origins_are_refused() {
        let host = (header::HOST, "127.0.0.1:8000");
        assert!(!refused(&[host.clone(), (header::ORIGIN, "http://127.0.0.1:8000")]));
        assert!(refused(&[host.clone(), (header::ORIGIN, "null")]));
        assert!(refused(&[host.clone(), (header::ORIGIN, "https://127.0.0.1:8000")]));
        assert!(refused(&[host, (header::ORIGIN, "http://evil.example")]));
    }
}
