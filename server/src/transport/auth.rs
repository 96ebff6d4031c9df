//! Authorization over TCP: with one known token, or with signed tokens.
//!
//! A client sends its token once, when it connects. Tokens are compared in constant time. Invalid settings are errors
//! when the server starts, not when a client connects.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::secret_file::{self, DIGEST_PREFIX, SecretFileError};

/// Fewest bytes of a secret that signs tokens.
pub const MIN_SECRET_BYTES: usize = 32;

/// Default of `--ws-max-clock-skew-seconds`.
pub const DEFAULT_CLOCK_SKEW_SECONDS: u64 = 30;

/// Most bytes of a token that a client sends.
pub const MAX_TOKEN_BYTES: usize = 16 << 10;

/// How clients authenticate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthMode {
    /// `capability-token`: one fixed token.
    CapabilityToken,
    /// `signed-bearer-token`: tokens that expire, signed with a secret that the server knows.
    SignedBearerToken,
}

impl std::str::FromStr for AuthMode {
    type Err = AuthError;

    fn from_str(text: &str) -> Result<Self, AuthError> {
        match text {
            "capability-token" => Ok(Self::CapabilityToken),
            "signed-bearer-token" => Ok(Self::SignedBearerToken),
            _ => Err(AuthError::UnknownMode { mode: text.to_owned() }),
        }
    }
}

/// The command line options for tokens.
#[derive(Debug, Clone, Default)]
pub struct AuthOptions {
    /// `--ws-auth`.
    pub mode: Option<AuthMode>,
    /// `--ws-token-file`.
    pub token_file: Option<PathBuf>,
    /// `--ws-token-sha256`, in hexadecimal digits.
    pub token_sha256: Option<String>,
    /// `--ws-shared-secret-file`.
    pub shared_secret_file: Option<PathBuf>,
    /// `--ws-issuer`.
    pub issuer: Option<String>,
    /// `--ws-audience`.
    pub audience: Option<String>,
    /// `--ws-max-clock-skew-seconds`.
    pub max_clock_skew_seconds: Option<u64>,
}

/// The options for tokens are invalid.
#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    /// There is no such mode.
    #[error("unknown auth mode `{mode}`: expected capability-token or signed-bearer-token")]
    UnknownMode {
        /// The value of the option.
        mode: String,
    },
    /// An option requires another mode.
    #[error("{option} needs --ws-auth {mode}")]
    WithoutMode {
        /// The option.
        option: &'static str,
        /// The required mode.
        mode: &'static str,
    },
    /// Not exactly one of the token file and the digest was given.
    #[error("--ws-auth capability-token needs either --ws-token-file or --ws-token-sha256")]
    NotOneToken,
    /// The mode requires a secret.
    #[error("--ws-auth signed-bearer-token needs --ws-shared-secret-file")]
    NoSecret,
    /// The digest is invalid.
    #[error("--ws-token-sha256 is not a SHA-256 digest: expected 64 hexadecimal digits")]
    BadDigest,
    /// A file starts with the prefix of a digest, but contains no valid digest.
    #[error("{} starts with `sha256:`, but not with 64 hexadecimal digits after it", path.display())]
    BadDigestFile {
        /// The file.
        path: PathBuf,
    },
    /// A file holds no token or secret.
    #[error(transparent)]
    File(#[from] SecretFileError),
    /// A secret is too short.
    #[error("{} has {bytes} bytes, expected a secret of at least {MIN_SECRET_BYTES}", path.display())]
    ShortSecret {
        /// The file.
        path: PathBuf,
        /// Length of its content.
        bytes: usize,
    },
}

/// Decides which clients may connect.
#[derive(Clone)]
pub struct Auth(Arc<Rule>);

enum Rule {
    Capability { digest: [u8; 32] },
    Signed { key: Hmac<Sha256>, issuer: Option<String>, audience: Option<String>, skew: Duration },
}

/// A client may not connect. The error does not tell it why a token is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unauthorized {
    /// The client sent no token.
    #[error("a bearer token is required")]
    Missing,
    /// The token is invalid.
    #[error("the bearer token is not valid")]
    Invalid,
}

impl Auth {
    /// Creates the rule from the options. Returns `None` if no mode is set.
    ///
    /// # Errors
    ///
    /// Returns an error if an option does not belong to the mode, a file cannot be read, or a token or secret is
    /// invalid.
    pub fn from_options(options: &AuthOptions) -> Result<Option<Self>, AuthError> {
        let capability_options =
            [("--ws-token-file", options.token_file.is_some()), ("--ws-token-sha256", options.token_sha256.is_some())];
        let signed_options = [
            ("--ws-shared-secret-file", options.shared_secret_file.is_some()),
            ("--ws-issuer", options.issuer.is_some()),
            ("--ws-audience", options.audience.is_some()),
            ("--ws-max-clock-skew-seconds", options.max_clock_skew_seconds.is_some()),
        ];
        let none_of = |given: &[(&'static str, bool)], mode| match given.iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => Err(AuthError::WithoutMode { option, mode }),
            None => Ok(()),
        };
        if options.mode != Some(AuthMode::CapabilityToken) {
            none_of(&capability_options, "capability-token")?;
        }
        if options.mode != Some(AuthMode::SignedBearerToken) {
            none_of(&signed_options, "signed-bearer-token")?;
        }
        match options.mode {
            None => Ok(None),
            Some(AuthMode::CapabilityToken) => capability(options).map(Some),
            Some(AuthMode::SignedBearerToken) => signed(options).map(Some),
        }
    }

    /// Checks whether a request with these headers may connect now.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no token or the token is invalid.
    pub fn check(&self, headers: &HeaderMap, now: SystemTime) -> Result<(), Unauthorized> {
        self.check_token(bearer(headers)?, now)
    }

    /// Creates the rule that clients show this token.
    pub(super) fn of_token(token: &str) -> Self {
        Self(Arc::new(Rule::Capability { digest: Sha256::digest(token.as_bytes()).into() }))
    }

    /// Checks whether a client with this token may connect now.
    pub(super) fn check_token(&self, token: &str, now: SystemTime) -> Result<(), Unauthorized> {
        let is_valid = token.len() <= MAX_TOKEN_BYTES
            && match &*self.0 {
                Rule::Capability { digest } => bool::from(Sha256::digest(token.as_bytes()).ct_eq(digest)),
                Rule::Signed { key, issuer, audience, skew } => claims(token, key).is_some_and(|claims| {
                    claims.is_in_time(now, *skew)
                        && claims.is_from(issuer.as_deref())
                        && claims.is_for(audience.as_deref())
                }),
            };
        if is_valid { Ok(()) } else { Err(Unauthorized::Invalid) }
    }
}

impl std::fmt::Debug for Auth {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Auth").finish_non_exhaustive()
    }
}

fn capability(options: &AuthOptions) -> Result<Auth, AuthError> {
    let digest = match (&options.token_file, &options.token_sha256) {
        (Some(path), None) => {
            let token = secret_file::read_token_or_digest(path)?;
            match token.strip_prefix(DIGEST_PREFIX) {
                // With the digest in the file, the token itself need not be stored.
                Some(digest) => std::str::from_utf8(digest)
                    .ok()
                    .and_then(digest_from_hex)
                    .ok_or_else(|| AuthError::BadDigestFile { path: path.clone() })?,
                None => Sha256::digest(token).into(),
            }
        }
        (None, Some(digest)) => digest_from_hex(digest.trim()).ok_or(AuthError::BadDigest)?,
        (Some(_), Some(_)) | (None, None) => return Err(AuthError::NotOneToken),
    };
    Ok(Auth(Arc::new(Rule::Capability { digest })))
}

fn signed(options: &AuthOptions) -> Result<Auth, AuthError> {
    let path = options.shared_secret_file.as_ref().ok_or(AuthError::NoSecret)?;
    let secret = secret_file::read(path)?;
    if secret.len() < MIN_SECRET_BYTES {
        return Err(AuthError::ShortSecret { path: path.clone(), bytes: secret.len() });
    }
    let key = Hmac::new_from_slice(&secret).expect("a key may have any length");
    let skew = Duration::from_secs(options.max_clock_skew_seconds.unwrap_or(DEFAULT_CLOCK_SKEW_SECONDS));
    let (issuer, audience) = (options.issuer.clone(), options.audience.clone());
    Ok(Auth(Arc::new(Rule::Signed { key, issuer, audience, skew })))
}

fn digest_from_hex(text: &str) -> Option<[u8; 32]> {
    let mut digest = [0; 32];
    if text.len() != 2 * digest.len() || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    for (byte, start) in digest.iter_mut().zip((0..).step_by(2)) {
        *byte = u8::from_str_radix(&text[start..start + 2], 16).ok()?;
    }
    Some(digest)
}

/// Returns the token in the only `Authorization` header.
fn bearer(headers: &HeaderMap) -> Result<&str, Unauthorized> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let value = values.next().ok_or(Unauthorized::Missing)?;
    if values.next().is_some() {
        return Err(Unauthorized::Invalid);
    }
    let value = value.to_str().map_err(|_| Unauthorized::Invalid)?;
    match value.trim_start().split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") && !token.trim().is_empty() => Ok(token.trim()),
        _ => Err(Unauthorized::Missing),
    }
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    /// Extensions that the reader must understand. This server understands none.
    crit: Option<Value>,
}

#[derive(Deserialize)]
struct Claims {
    exp: f64,
    nbf: Option<f64>,
    iss: Option<String>,
    aud: Option<Audience>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Several(Vec<String>),
}

/// Returns the claims of a token if its signature is valid.
fn claims(token: &str, key: &Hmac<Sha256>) -> Option<Claims> {
    let (signed, signature) = token.rsplit_once('.')?;
    let (header, payload) = signed.split_once('.')?;
    let mut mac = key.clone();
    mac.update(signed.as_bytes());
    mac.verify_slice(&URL_SAFE_NO_PAD.decode(signature).ok()?).ok()?;
    let header: Header = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(header).ok()?).ok()?;
    if header.alg != "HS256" || header.crit.is_some() {
        return None;
    }
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).ok()?).ok()
}

impl Claims {
    fn is_in_time(&self, now: SystemTime, skew: Duration) -> bool {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let skew = skew.as_secs_f64();
        now < self.exp + skew && self.nbf.is_none_or(|not_before| not_before - skew <= now)
    }

    fn is_from(&self, issuer: Option<&str>) -> bool {
        issuer.is_none_or(|issuer| self.iss.as_deref() == Some(issuer))
    }

    fn is_for(&self, audience: Option<&str>) -> bool {
        audience.is_none_or(|audience| match &self.aud {
            None => false,
            Some(Audience::One(one)) => one == audience,
            Some(Audience::Several(several)) => several.iter().any(|one| one == audience),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const SECRET: &[u8; 32] = b"0123456789abcdef0123456789abcdef";
    const NOW_SECONDS: u64 = 2_000_000_000;

    fn now() -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(NOW_SECONDS)
    }

    fn file(content: &[u8]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), content).expect("written");
        file
    }

    fn token(header: &Value, claims: &Value, secret: &[u8]) -> String {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", part(header), part(claims));
        let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("a key");
        mac.update(signed.as_bytes());
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes()))
    }

    fn headers(values: &[&str]) -> HeaderMap {
        values.iter().map(|value| (AUTHORIZATION, value.parse().expect("a value"))).collect()
    }

    fn check(auth: &Auth, value: &str) -> Result<(), Unauthorized> {
        auth.check(&headers(&[value]), now())
    }

    fn options(mode: AuthMode) -> AuthOptions {
        AuthOptions { mode: Some(mode), ..AuthOptions::default() }
    }

    fn capability_of(token: &str) -> Auth {
        let digest = Sha256::digest(token).iter().map(|byte| format!("{byte:02X}")).collect();
        let options = AuthOptions { token_sha256: Some(digest), ..options(AuthMode::CapabilityToken) };
        Auth::from_options(&options).expect("good options").expect("a mode")
    }

    fn signed_with(change: impl FnOnce(&mut AuthOptions)) -> Auth {
        let secret = file(&[b"\n", SECRET.as_slice(), b" \n"].concat());
        let mut options =
            AuthOptions { shared_secret_file: Some(secret.path().into()), ..options(AuthMode::SignedBearerToken) };
        change(&mut options);
        Auth::from_options(&options).expect("good options").expect("a mode")
    }

    #[test]
    fn a_token_file_may_hold_the_digest_of_the_token_instead() {
        let of = |content: &[u8]| {
            let file = file(content);
            let options = AuthOptions { token_file: Some(file.path().into()), ..options(AuthMode::CapabilityToken) };
            Auth::from_options(&options)
        };
        let digest: String = Sha256::digest("secret-token").iter().map(|byte| format!("{byte:02x}")).collect();
        let auth = of(format!("sha256:{digest}\n").as_bytes()).expect("good options").expect("a mode");
        assert_eq!(check(&auth, "Bearer secret-token"), Ok(()));
        assert_eq!(check(&auth, &format!("Bearer sha256:{digest}")), Err(Unauthorized::Invalid));
        for broken in ["sha256:", "sha256:12", &format!("sha256:{digest}0")] {
            assert!(matches!(of(broken.as_bytes()), Err(AuthError::BadDigestFile { .. })), "{broken}");
        }
    }

    #[test]
    fn a_capability_token_is_compared_as_it_is() {
        let auth = capability_of("secret-token");
        let table = [
            ("Bearer secret-token", Ok(())),
            ("bEARER   secret-token  ", Ok(())),
            ("Bearer secret-tokeN", Err(Unauthorized::Invalid)),
            ("Bearer secret-token x", Err(Unauthorized::Invalid)),
            ("Bearer ", Err(Unauthorized::Missing)),
            ("secret-token", Err(Unauthorized::Missing)),
            ("Basic secret-token", Err(Unauthorized::Missing)),
        ];
        for (value, expected) in table {
            assert_eq!(check(&auth, value), expected, "{value}");
        }
        assert_eq!(auth.check(&HeaderMap::new(), now()), Err(Unauthorized::Missing));
        let long = "x".repeat(MAX_TOKEN_BYTES + 1);
        assert_eq!(check(&capability_of(&long), &format!("Bearer {long}")), Err(Unauthorized::Invalid));
        assert_eq!(check(&capability_of(&long[1..]), &format!("Bearer {}", &long[1..])), Ok(()));
        let twice = headers(&["Bearer secret-token", "Bearer secret-token"]);
        assert_eq!(auth.check(&twice, now()), Err(Unauthorized::Invalid));
    }

    #[test]
    fn a_token_file_is_trimmed() {
        let token_file = file(b"  secret-token\n");
        let options = AuthOptions { token_file: Some(token_file.path().into()), ..options(AuthMode::CapabilityToken) };
        let auth = Auth::from_options(&options).expect("good options").expect("a mode");
        assert_eq!(check(&auth, "Bearer secret-token"), Ok(()));
    }

    #[test]
    fn a_signed_token_is_checked_with_every_rule() {
        let hs256 = json!({"alg": "HS256", "typ": "JWT"});
        let good = json!({"exp": NOW_SECONDS + 300, "iss": "i", "aud": "a"});
        let with = |field: &str, value: Value| {
            let mut claims = good.clone();
            claims[field] = value;
            claims
        };
        let without = |field: &str| {
            let mut claims = good.clone();
            claims.as_object_mut().expect("an object").remove(field);
            claims
        };
        let auth = signed_with(|options| {
            options.issuer = Some("i".to_owned());
            options.audience = Some("a".to_owned());
        });
        let table = [
            (token(&hs256, &good, SECRET), true),
            (token(&hs256, &with("aud", json!(["b", "a"])), SECRET), true),
            (token(&hs256, &with("exp", json!(NOW_SECONDS - 29)), SECRET), true),
            (token(&hs256, &with("exp", json!(NOW_SECONDS - 30)), SECRET), false),
            (token(&hs256, &with("nbf", json!(NOW_SECONDS + 30)), SECRET), true),
            (token(&hs256, &with("nbf", json!(NOW_SECONDS + 31)), SECRET), false),
            (token(&hs256, &with("exp", json!("soon")), SECRET), false),
            (token(&hs256, &without("exp"), SECRET), false),
            (token(&hs256, &with("iss", json!("other")), SECRET), false),
            (token(&hs256, &without("iss"), SECRET), false),
            (token(&hs256, &with("aud", json!(["b"])), SECRET), false),
            (token(&hs256, &with("aud", json!(5)), SECRET), false),
            (token(&hs256, &without("aud"), SECRET), false),
            (token(&hs256, &good, &[b'x'; 32]), false),
            (token(&json!({"alg": "none"}), &good, SECRET), false),
            (token(&json!({"alg": "HS512"}), &good, SECRET), false),
            (token(&json!({"alg": "HS256", "crit": ["x"]}), &good, SECRET), false),
            (token(&hs256, &json!([]), SECRET), false),
            ("junk".to_owned(), false),
            ("a.b.c".to_owned(), false),
            ("..".to_owned(), false),
        ];
        for (token, is_valid) in table {
            assert_eq!(check(&auth, &format!("Bearer {token}")).is_ok(), is_valid, "{token}");
        }
        let unsigned = token(&hs256, &good, SECRET);
        let unsigned = unsigned.rsplit_once('.').expect("a signature").0;
        assert!(check(&auth, &format!("Bearer {unsigned}.")).is_err());
    }

    #[test]
    fn issuer_and_audience_matter_only_where_they_are_configured() {
        let auth = signed_with(|options| options.max_clock_skew_seconds = Some(0));
        let hs256 = json!({"alg": "HS256"});
        let expiring = |exp: u64| format!("Bearer {}", token(&hs256, &json!({ "exp": exp }), SECRET));
        assert_eq!(check(&auth, &expiring(NOW_SECONDS + 1)), Ok(()));
        assert_eq!(check(&auth, &expiring(NOW_SECONDS)), Err(Unauthorized::Invalid), "no skew");
    }

    #[test]
    fn invalid_options_are_refused() {
        let refused = |options: &AuthOptions| Auth::from_options(options).expect_err("refused").to_string();
        let with = |mode, change: fn(&mut AuthOptions)| {
            let mut options = AuthOptions { mode, ..AuthOptions::default() };
            change(&mut options);
            refused(&options)
        };
        let capability = Some(AuthMode::CapabilityToken);
        let signed = Some(AuthMode::SignedBearerToken);
        let needs_capability = " needs --ws-auth capability-token";
        let needs_signed = " needs --ws-auth signed-bearer-token";
        assert!(with(None, |options| options.token_sha256 = Some("x".into())).ends_with(needs_capability));
        assert!(with(signed, |options| options.token_file = Some("x".into())).ends_with(needs_capability));
        assert!(with(None, |options| options.issuer = Some("x".into())).ends_with(needs_signed));
        assert!(with(capability, |options| options.audience = Some("x".into())).ends_with(needs_signed));
        assert!(with(capability, |options| options.max_clock_skew_seconds = Some(1)).ends_with(needs_signed));
        let neither = with(capability, |_| {});
        let both = with(capability, |options| {
            options.token_file = Some("x".into());
            options.token_sha256 = Some("x".into());
        });
        assert_eq!(neither, both);
        assert!(matches!(Auth::from_options(&options(AuthMode::SignedBearerToken)), Err(AuthError::NoSecret)));
        for digest in ["", "abc", &"g".repeat(64), &"é".repeat(32)] {
            let options = AuthOptions { token_sha256: Some(digest.into()), ..options(AuthMode::CapabilityToken) };
            assert!(matches!(Auth::from_options(&options), Err(AuthError::BadDigest)), "{digest}");
        }
        assert!("token".parse::<AuthMode>().is_err());
        assert!(Auth::from_options(&AuthOptions::default()).expect("no options").is_none());
    }

    #[test]
    fn files_without_a_token_or_secret_are_refused() {
        let blank = file(b" \n");
        let options = AuthOptions { token_file: Some(blank.path().into()), ..options(AuthMode::CapabilityToken) };
        assert!(matches!(Auth::from_options(&options), Err(AuthError::File(SecretFileError::Empty { .. }))));

        let secret = |content: &[u8]| {
            let file = file(content);
            let options = AuthOptions {
                shared_secret_file: Some(file.path().into()),
                ..self::options(AuthMode::SignedBearerToken)
            };
            Auth::from_options(&options).expect_err("refused")
        };
        let short = secret(&[b"  ".as_slice(), &SECRET[1..], b"\n"].concat());
        assert!(matches!(short, AuthError::ShortSecret { bytes: 31, .. }), "{short}");
        let long = secret(&[b'x'; 65 << 10]);
        assert!(matches!(long, AuthError::File(SecretFileError::TooLong { .. })), "{long}");

        let options = AuthOptions { token_file: Some("/no/such/file".into()), ..options };
        assert!(matches!(Auth::from_options(&options), Err(AuthError::File(SecretFileError::Unreadable { .. }))));
    }
}
