//! The bearer token of a connection: it is renewed before it ends, and by one process at a time.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::Url;
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::challenge::{self, Challenge};
use super::error::OAuthError;
use super::grant::{grant, now_ms};
use super::scopes;
use super::store::{Credentials, Key, LOCK_TIMEOUT, Lock, Store};

/// A token is renewed when a third of its life is left, and not earlier than this before its end.
pub const REFRESH_AHEAD_MAX: Duration = Duration::from_secs(60);

/// Pause between two attempts to store a token that could not be stored.
const SAVE_RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// Least time between two renewals of a token, whatever its life.
pub const MIN_REFRESH_INTERVAL: Duration = Duration::from_secs(1);

/// The bearer token of one server. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Tokens(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    store: Store,
    key: Key,
    server: Url,
    state: Arc<Mutex<State>>,
    /// Why the user has to log in again.
    needed: OnceLock<OAuthError>,
    /// Is cancelled when the user has to log in again.
    ended: CancellationToken,
}

#[derive(Debug, Default)]
struct State {
    credentials: Option<Credentials>,
    /// When this process asked for a new token last, also in vain.
    tried: Option<Instant>,
}

impl Tokens {
    pub(super) fn new(store: Store, key: Key, server: Url) -> Self {
        let (state, ended) = (Arc::default(), CancellationToken::new());
        Self(Arc::new(Shared { store, key, server, state, needed: OnceLock::new(), ended }))
    }

    /// Returns the token for the next request, and renews it first if it is due. `None` if nobody has logged in.
    pub(crate) async fn bearer(&self) -> Result<Option<String>, OAuthError> {
        let mut state = self.state().await;
        if let Some(error) = self.login_needed() {
            return Err(error.clone());
        }
        if state.credentials.is_none() {
            state.credentials = self.0.stored().await?;
        }
        let Some(credentials) = &state.credentials else { return Ok(None) };
        if credentials.is_due(now_ms()) {
            state = self.renewed(state, None).await?;
        }
        Ok(state.credentials.as_ref().map(|credentials| credentials.access_token.clone()))
    }

    /// Returns another token after the server has refused one. `None` if there is none.
    pub(crate) async fn after_refusal(&self, token: &str) -> Result<Option<String>, OAuthError> {
        let mut state = self.state().await;
        if let Some(error) = self.login_needed() {
            return Err(error.clone());
        }
        let newer = |state: &State| {
            let held = state.credentials.as_ref().map(|credentials| credentials.access_token.clone());
            held.filter(|held| held != token)
        };
        if newer(&state).is_none() {
            state = self.renewed(state, Some(token.to_owned())).await?;
        }
        Ok(newer(&state))
    }

    async fn state(&self) -> OwnedMutexGuard<State> {
        Arc::clone(&self.0.state).lock_owned().await
    }

    /// Renews the token in a task of its own. The caller may be dropped at any time, for example by a time limit, and a
    /// refresh token that the authorization server has replaced by then would be lost.
    async fn renewed(
        &self,
        mut state: OwnedMutexGuard<State>,
        refused: Option<String>,
    ) -> Result<OwnedMutexGuard<State>, OAuthError> {
        let shared = Arc::clone(&self.0);
        let renewal = tokio::spawn(async move {
            shared.renew(&mut state, refused.as_deref()).await?;
            Ok(state)
        });
        renewal.await.map_err(|error| OAuthError::Store { message: error.to_string() })?
    }

    /// Returns the error for a request that needs more scopes than the login has, with the challenge of the server. `None` if the
    /// challenge says something else.
    pub(crate) async fn scope_error(&self, challenge: &str) -> Option<OAuthError> {
        let challenge = scope_challenge(challenge)?;
        let state = self.state().await;
        let held = state.credentials.as_ref().map(|credentials| credentials.scopes.as_slice()).unwrap_or_default();
        Some(OAuthError::Scope { message: scopes::missing(&self.0.key.server, held, challenge.scope.as_deref()) })
    }

    /// Returns why the user has to log in again; `None` as long as the login is of use.
    pub(crate) fn login_needed(&self) -> Option<&OAuthError> {
        self.0.needed.get()
    }

    /// Waits until the user has to log in again.
    pub(crate) async fn ended(&self) {
        self.0.ended.cancelled().await;
    }
}

/// Returns the error for a request that needs more scopes than a configured token has. `None` if the challenge says something else.
pub(crate) fn token_scope_error(challenge: &str) -> Option<OAuthError> {
    let challenge = scope_challenge(challenge)?;
    Some(OAuthError::Scope { message: scopes::missing_of_token(challenge.scope.as_deref()) })
}

/// Reads a challenge. `None` if it is not about scopes.
fn scope_challenge(challenge: &str) -> Option<Challenge> {
    let challenge = challenge::read(&[challenge]);
    (challenge.error.as_deref() == Some("insufficient_scope")).then_some(challenge)
}

impl Shared {
    /// Does something with the folder of tokens, on a thread that may block.
    async fn with_store<T: Send + 'static>(
        &self,
        act: impl FnOnce(&Store, &Key) -> Result<T, OAuthError> + Send + 'static,
    ) -> Result<T, OAuthError> {
        let (store, key) = (self.store.clone(), self.key.clone());
        let done = tokio::task::spawn_blocking(move || act(&store, &key)).await;
        done.map_err(|error| OAuthError::Store { message: error.to_string() })?
    }

    async fn stored(&self) -> Result<Option<Credentials>, OAuthError> {
        self.with_store(Store::load).await
    }

    /// Waits for the right to change the stored credentials, at most for `limit`. Whoever has it is the only process that sends the
    /// refresh token, which may be valid only once. Returns the latest credentials with it. Those that could not be written before are
    /// written now.
    async fn lock(&self, limit: Duration) -> Result<(Lock, Option<Credentials>), OAuthError> {
        self.with_store(move |store, key| {
            let mut lock = store.lock(key, limit)?;
            lock.save_kept();
            let latest = lock.load()?;
            Ok((lock, latest))
        })
        .await
    }

    /// Stores renewed credentials. They are used even if they cannot be stored, because the old ones are not valid any more. Then this
    /// process keeps the lock, and tries to store them until it can.
    async fn save(&self, mut lock: Lock, credentials: Credentials) {
        let saved = tokio::task::spawn_blocking(move || lock.save_or_keep(credentials)).await;
        let saved = saved.unwrap_or_else(|error| Err(OAuthError::Store { message: error.to_string() }));
        let Err(error) = saved else { return };
        tracing::warn!(server = %self.key.server, %error, "a renewed token is not stored yet");
        let (store, key) = (self.store.clone(), self.key.clone());
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(SAVE_RETRY_INTERVAL).await;
                let (store, key) = (store.clone(), key.clone());
                // Somebody in this process may use the lock at this moment.
                let again = move || store.lock(&key, Duration::ZERO).is_ok_and(|mut lock| lock.save_kept());
                if tokio::task::spawn_blocking(again).await.unwrap_or(true) {
                    return;
                }
            }
        });
    }

    /// Renews the token, or takes one that another process has stored meanwhile. `refused` is a token that the server
    /// does not accept any more.
    async fn renew(&self, state: &mut State, refused: Option<&str>) -> Result<(), OAuthError> {
        if state.tried.is_some_and(|tried| tried.elapsed() < MIN_REFRESH_INTERVAL) {
            return Ok(());
        }
        // A token that is still valid does not wait for a renewal by another process.
        let held = state.credentials.as_ref();
        let can_wait =
            held.is_some_and(|held| refused != Some(held.access_token.as_str()) && !held.has_ended(now_ms()));
        let (mut lock, latest) = match self.lock(if can_wait { Duration::ZERO } else { LOCK_TIMEOUT }).await {
            Err(OAuthError::Locked { .. }) if can_wait => {
                state.tried = Some(Instant::now());
                return Ok(());
            }
            taken => taken?,
        };
        let Some(stored) = latest else {
            return Err(self.needed(state, "nobody is logged in any more".to_owned()));
        };
        let now = now_ms();
        let is_refused = refused == Some(stored.access_token.as_str());
        let least = i64::try_from(MIN_REFRESH_INTERVAL.as_millis()).unwrap_or(i64::MAX);
        let age = now.saturating_sub(stored.obtained_at_ms);
        let is_new = (0..least).contains(&age);
        if !is_refused && (!stored.is_due(now) || is_new) {
            state.credentials = Some(stored);
            return Ok(());
        }
        if is_refused && is_new {
            // A server that refuses a token that is just made would refuse the next one as well.
            state.credentials = Some(stored);
            return Ok(());
        }
        let Some(refresh_token) = stored.refresh_token.clone() else {
            let is_over = is_refused || stored.has_ended(now);
            state.credentials = Some(stored);
            return match is_over {
                true => Err(self.needed(state, "its token has ended, and there is none to renew it".to_owned())),
                false => Ok(()),
            };
        };
        let Ok(endpoint) = Url::parse(&stored.token_endpoint) else {
            return Err(self.needed(state, "its token endpoint is not an address".to_owned()));
        };
        state.tried = Some(Instant::now());
        let fields = vec![
            ("grant_type", "refresh_token"),
            ("refresh_token", refresh_token.as_str()),
            ("resource", stored.resource.as_str()),
        ];
        let secrets = [refresh_token.as_str(), stored.access_token.as_str()];
        match grant(&endpoint, &stored.client, fields, &secrets).await {
            Ok(granted) => {
                let mut renewed = stored.clone();
                granted.take_over(&mut renewed);
                state.credentials = Some(renewed.clone());
                self.save(lock, renewed).await;
                Ok(())
            }
            Err(error) if is_final(&error) => {
                // Nobody can use these tokens any more.
                let _ = tokio::task::spawn_blocking(move || lock.remove()).await;
                Err(self.needed(state, error.to_string()))
            }
            Err(error) => {
                let can_be_used = !is_refused && !stored.has_ended(now);
                state.credentials = Some(stored);
                if can_be_used {
                    tracing::warn!(server = %self.key.server, %error, "the token is not renewed yet");
                    return Ok(());
                }
                Err(error)
            }
        }
    }

    fn needed(&self, state: &mut State, why: String) -> OAuthError {
        let error = OAuthError::LoginNeeded { server: self.key.server.clone(), why };
        tracing::warn!(server = %self.key.server, url = %super::reach::shown(&self.server), "{error}");
        state.credentials = None;
        let _ = self.needed.set(error.clone());
        self.ended.cancel();
        error
    }
}

/// Returns whether an authorization server will never renew this token. Only an error code of OAuth says that: an answer
/// without one, whatever its HTTP status, may be the answer of a proxy or a captive portal.
fn is_final(error: &OAuthError) -> bool {
    const FINAL: [&str; 4] = ["invalid_grant", "invalid_client", "unauthorized_client", "access_denied"];
    match error {
        OAuthError::Answer { code: Some(code), .. } => FINAL.contains(&code.as_str()),
        _ => false,
    }
}

impl Credentials {
    /// Returns whether the token has to be renewed: a third of its life is left, or a minute.
    fn is_due(&self, now_ms: i64) -> bool {
        let Some(ends) = self.expires_at_ms else { return false };
        let life = ends.saturating_sub(self.obtained_at_ms);
        let most = i64::try_from(REFRESH_AHEAD_MAX.as_millis()).unwrap_or(i64::MAX);
        ends.saturating_sub(now_ms) <= (life / 3).min(most)
    }

    fn has_ended(&self, now_ms: i64) -> bool {
        self.expires_at_ms.is_some_and(|ends| ends <= now_ms)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use tempfile::TempDir;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;
    use tokio::time::{sleep, timeout};

    use super::super::store::tests::credentials;
    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(60);

    /// An answer that renews a token.
    const RENEWED: &str = r#"{"access_token":"token-2","refresh_token":"refresh-2","expires_in":3600}"#;

    /// A login whose token is due, and its token endpoint.
    struct World {
        endpoint: TcpListener,
        _home: TempDir,
        store: Store,
        key: Key,
        tokens: Tokens,
    }

    impl World {
        async fn new() -> Self {
            let endpoint = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            let home = tempfile::tempdir().expect("a folder");
            let store = Store::new(home.path().join("mcp-oauth"));
            let server = Url::parse("https://a/mcp").expect("an address");
            let key = Key::new("docs", &server);
            let mut due = credentials("token-1", now_ms() - 10_000, Some(5_000));
            due.token_endpoint = format!("http://{}/token", endpoint.local_addr().expect("an address"));
            due.client.secret = Some("client-secret".to_owned());
            store.lock(&key, Duration::ZERO).expect("a lock").save(&due).expect("it is stored");
            let tokens = Tokens::new(store.clone(), key.clone(), server);
            Self { endpoint, _home: home, store, key, tokens }
        }

        /// Takes one request for a token, does something meanwhile, and answers. Returns the request.
        async fn answer(&self, status: u16, body: &str, meanwhile: impl AsyncFnOnce()) -> String {
            let (mut connection, _) = self.endpoint.accept().await.expect("a connection");
            let (mut request, mut buffer) = (String::new(), [0; 1024]);
            while !request.ends_with("client_secret=client-secret") {
                let count = connection.read(&mut buffer).await.expect("a request");
                request.push_str(std::str::from_utf8(&buffer[..count]).expect("ASCII"));
            }
            meanwhile().await;
            let head = format!("HTTP/1.1 {status} Answer\r\ncontent-length: {}\r\nconnection: close", body.len());
            connection.write_all(format!("{head}\r\n\r\n{body}").as_bytes()).await.expect("an answer");
            request
        }

        fn stored(&self) -> Option<String> {
            self.store.load(&self.key).expect("a file").and_then(|stored| stored.refresh_token)
        }

        fn file(&self) -> PathBuf {
            let mut entries = fs::read_dir(self.store.folder()).expect("a folder").flatten().map(|entry| entry.path());
            entries.find(|path| path.extension().is_some_and(|it| it == "json")).expect("a file")
        }
    }

    #[tokio::test]
    async fn a_renewal_goes_on_after_whoever_asked_for_it_has_gone() {
        let world = World::new().await;
        let tokens = world.tokens.clone();
        let asked = tokio::spawn(async move { tokens.bearer().await });
        let gone = async || {
            asked.abort();
            assert!(asked.await.expect_err("it was dropped").is_cancelled());
        };
        world.answer(200, RENEWED, gone).await;
        let saved = async {
            while world.stored().as_deref() != Some("refresh-2") {
                sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(TIMEOUT, saved).await.expect("the new refresh token is stored");
        assert_eq!(world.tokens.bearer().await, Ok(Some("token-2".to_owned())));
    }

    #[tokio::test]
    async fn credentials_that_could_not_be_stored_are_gone_on_from_and_stored_later() {
        let world = World::new().await;
        let (path, before) = (world.file(), fs::read(world.file()).expect("a file"));
        // A folder in its place makes it impossible to replace the file.
        let spoil = async || {
            fs::remove_file(&path).expect("the file system works");
            fs::create_dir(&path).expect("the file system works");
        };
        let (bearer, _) = tokio::join!(world.tokens.bearer(), world.answer(200, RENEWED, spoil));
        assert_eq!(bearer, Ok(Some("token-2".to_owned())));
        // Other connections of this process use the new token at once.
        let other =
            Tokens::new(world.store.clone(), world.key.clone(), Url::parse("https://a/mcp").expect("an address"));
        assert_eq!(other.bearer().await, Ok(Some("token-2".to_owned())));
        let lock = fs::File::open(path.with_extension("lock")).expect("it is there");
        assert!(lock.try_lock().is_err(), "another process would send the old refresh token");
        fs::remove_dir(&path).expect("the file system works");
        fs::write(&path, before).expect("the file system works");
        let written = async {
            while lock.try_lock().is_err() {
                sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(TIMEOUT, written).await.expect("the lock is given back");
        let in_file = fs::read_to_string(&path).expect("a file");
        assert!(in_file.contains("refresh-2"), "{in_file}");
    }

    #[tokio::test]
    async fn a_lock_that_another_process_keeps_is_not_waited_for_with_a_valid_token() {
        let world = World::new().await;
        let mut held = world.store.load(&world.key).expect("a file").expect("a login");
        // It is due, and valid for half a minute more.
        (held.obtained_at_ms, held.expires_at_ms) = (now_ms() - 90_000, Some(now_ms() + 30_000));
        world.store.lock(&world.key, Duration::ZERO).expect("a lock").save(&held).expect("it is stored");
        let lock = fs::File::open(world.file().with_extension("lock")).expect("it is there");
        lock.try_lock().expect("nobody else has it");
        let bearer = timeout(LOCK_TIMEOUT / 2, world.tokens.bearer()).await.expect("nobody waits");
        assert_eq!(bearer, Ok(Some("token-1".to_owned())));
        lock.unlock().expect("it was locked");
        world.tokens.state().await.tried = None;
        let (bearer, request) = tokio::join!(world.tokens.bearer(), world.answer(200, RENEWED, async || {}));
        assert_eq!(bearer, Ok(Some("token-2".to_owned())));
        assert!(request.contains("refresh_token=refresh-token-1"), "{request}");
    }

    #[tokio::test]
    async fn only_an_error_code_ends_a_login() {
        let is_final = [
            (403, "<html>Accept the conditions of this network</html>", false),
            (400, "", false),
            (200, r#"{"error":"server_error","error_description":"client-secret refresh-token-1"}"#, false),
            (503, r#"{"error":"temporarily_unavailable"}"#, false),
            (400, r#"{"error":"invalid_grant"}"#, true),
        ];
        for (status, body, expected) in is_final {
            let world = World::new().await;
            let (bearer, _) = tokio::join!(world.tokens.bearer(), world.answer(status, body, async || {}));
            let error = bearer.expect_err("there is no token").to_string();
            assert!(!error.contains("client-secret") && !error.contains("refresh-token-1"), "{error}");
            assert_eq!(world.tokens.login_needed().is_some(), expected, "{error}");
            assert_eq!(world.stored().is_none(), expected, "{error}");
        }
    }

    #[test]
    fn a_token_is_due_when_a_third_of_its_life_or_a_minute_is_left() {
        let due = |life: i64, age: i64| credentials("a", 1000, Some(life)).is_due(1000 + age);
        assert_eq!((due(6000, 3999), due(6000, 4000)), (false, true));
        assert_eq!((due(3_600_000, 3_539_999), due(3_600_000, 3_540_000)), (false, true));
        assert!(due(6000, 9000) && !credentials("a", 0, None).is_due(i64::MAX));
        assert!(credentials("a", 0, Some(5)).has_ended(5) && !credentials("a", 0, None).has_ended(i64::MAX));
    }
}
