//! Tokens that clients gave for providers, and attestations that only clients can make.
//!
//! A token stays in memory, with the connection that gave it, and ends with it. When a provider refuses a token, its client is
//! asked for another one: one question at a time per provider, whatever the number of turns. If the client has left, the next
//! one that gave a token is asked. A refusal holds for a while, so that turns fail at once instead of asking again.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::value::RawValue;
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, timeout};
use trace_protocol::approval::{
    AttestationGenerateParams, AttestationGenerateResponse, ChatgptAuthTokensRefreshParams,
    ChatgptAuthTokensRefreshReason, ChatgptAuthTokensRefreshResponse,
};
use trace_protocol::{RequestId, RpcError, ServerRequest};
use trace_runtime::provider::{Attestor, BearerToken, TokenError, TokenSource};

use crate::connection::{Connection, ConnectionId, Delivery, SerializedRequest};

/// How long a client may take to renew a token.
pub const RENEWAL_TIMEOUT: Duration = Duration::from_secs(10);
/// How long it holds that a client did not renew a token, unless a client logs in.
pub const REFUSAL_HOLDS: Duration = Duration::from_secs(60);
/// Most turns whose clients are remembered for attestations.
pub const MAX_STARTED_TURNS: usize = 1024;

/// Prefix of the ids of questions to clients. Ids of other questions begin with a digit.
const ID_PREFIX: &str = "token-";

/// The tokens that clients gave.
#[derive(Debug, Default)]
pub struct ClientTokens {
    state: Mutex<State>,
    /// Notified when a turn was started, because its first request may be faster.
    turn_started: Notify,
}

#[derive(Debug, Default)]
struct State {
    providers: HashMap<String, Given>,
    asked: HashMap<RequestId, Asked>,
    /// The clients that started the last turns.
    turns: VecDeque<(String, Arc<Connection>)>,
    /// Number of the last token.
    number: u64,
}

/// The tokens for one provider.
#[derive(Debug, Default)]
struct Given {
    /// The newest one is the last.
    tokens: Vec<(Arc<Connection>, BearerToken)>,
    /// Since when renewals are refused, and why.
    refused: Option<(Instant, TokenError)>,
    /// Held while a client is asked.
    renewing: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Debug)]
struct Asked {
    connection: ConnectionId,
    reply: oneshot::Sender<Result<Box<RawValue>, RpcError>>,
}

/// Why a question to a client has no answer.
#[derive(Debug)]
enum Unanswered {
    /// The client has left.
    Left,
    /// It refused, or did not answer in time.
    Refused(String),
}

impl ClientTokens {
    /// Takes a token of a client for a provider. It replaces an earlier one of the same client, and ends a refusal.
    pub(crate) fn give(&self, connection: &Arc<Connection>, provider: &str, token: String, account: String) {
        let mut state = self.lock();
        let token = state.token(token, account);
        let given = state.providers.entry(provider.to_owned()).or_default();
        given.refused = None;
        given.put(connection, token);
    }

    /// Forgets the tokens of a client.
    pub(crate) fn take_back(&self, connection: ConnectionId) {
        for given in self.lock().providers.values_mut() {
            let before = given.tokens.len();
            given.tokens.retain(|(owner, _)| owner.id() != connection);
            if given.tokens.len() < before {
                // The others were not asked.
                given.refused = None;
            }
        }
    }

    /// Forgets everything about a connection that has ended.
    pub(crate) fn closed(&self, connection: ConnectionId) {
        self.take_back(connection);
        let mut state = self.lock();
        state.turns.retain(|(_, client)| client.id() != connection);
        // Whoever waits for an answer learns that none will come.
        state.asked.retain(|_, asked| asked.connection != connection);
    }

    /// Takes a client's answer to a question. Returns whether it was one of these questions, put to this client.
    pub(crate) fn answered(
        &self,
        connection: ConnectionId,
        id: &RequestId,
        answer: Result<&RawValue, &RpcError>,
    ) -> bool {
        let mut state = self.lock();
        if state.asked.get(id).is_none_or(|asked| asked.connection != connection) {
            return false;
        }
        if let Some(asked) = state.asked.remove(id) {
            // The one who asked may have stopped waiting.
            let _ = asked.reply.send(answer.map(ToOwned::to_owned).map_err(Clone::clone));
        }
        true
    }

    /// Remembers which client started a turn.
    pub(crate) fn turn_started(&self, turn: &str, connection: &Arc<Connection>) {
        if !wants_attestation(connection) {
            return;
        }
        let mut state = self.lock();
        if state.turns.len() == MAX_STARTED_TURNS {
            state.turns.pop_front();
        }
        state.turns.push_back((turn.to_owned(), Arc::clone(connection)));
        drop(state);
        self.turn_started.notify_waiters();
    }

    /// Returns the tokens for a provider.
    #[must_use]
    pub fn source(self: &Arc<Self>, provider: &str) -> Arc<dyn TokenSource> {
        Arc::new(Source { tokens: Arc::clone(self), provider: provider.to_owned() })
    }

    /// Puts a question to a client, and waits for the answer.
    async fn ask(
        &self,
        connection: &Arc<Connection>,
        request: ServerRequest,
        patience: Duration,
    ) -> Result<Box<RawValue>, Unanswered> {
        let id = question_id().map_err(|error| Unanswered::Refused(format!("the question gets no id: {error}")))?;
        let text = SerializedRequest::new(id.clone(), &request)
            .map_err(|error| Unanswered::Refused(format!("the question cannot be written: {error}")))?;
        let (reply, answer) = oneshot::channel();
        self.lock().asked.insert(id.clone(), Asked { connection: connection.id(), reply });
        let _forget = Forget { tokens: self, id };
        if connection.request(&text) != Delivery::Sent {
            return Err(Unanswered::Left);
        }
        let answer = async {
            tokio::select! {
                answer = answer => answer.ok(),
                () = connection.ended() => None,
            }
        };
        match timeout(patience, answer).await {
            Err(_) => {
                Err(Unanswered::Refused(format!("the client did not answer within {} s", patience.as_secs_f64())))
            }
            Ok(None) => Err(Unanswered::Left),
            Ok(Some(Ok(result))) => Ok(result),
            // The message is the client's, and may say more than it should.
            Ok(Some(Err(error))) => Err(Unanswered::Refused(format!("the client refused (error {})", error.code))),
        }
    }

    fn current(&self, provider: &str) -> Result<BearerToken, TokenError> {
        let state = self.lock();
        let newest = state.providers.get(provider).and_then(Given::newest);
        newest.map(|(_, token)| token.clone()).ok_or_else(nobody)
    }

    async fn renew(&self, provider: &str, refused: u64) -> Result<BearerToken, TokenError> {
        let renewing = Arc::clone(&self.lock().providers.entry(provider.to_owned()).or_default().renewing);
        let _one = renewing.lock().await;
        loop {
            let (connection, account) = {
                let state = self.lock();
                let given = state.providers.get(provider).ok_or_else(nobody)?;
                let (connection, token) = given.newest().ok_or_else(nobody)?;
                if token.number() > refused {
                    return Ok(token.clone());
                }
                if let Some((at, error)) = &given.refused
                    && at.elapsed() < REFUSAL_HOLDS
                {
                    return Err(error.clone());
                }
                (Arc::clone(connection), token.account().map(str::to_owned))
            };
            let params = ChatgptAuthTokensRefreshParams {
                reason: ChatgptAuthTokensRefreshReason::Unauthorized,
                previous_account_id: account,
            };
            let error = match self.ask(&connection, params.into(), RENEWAL_TIMEOUT).await {
                Ok(answer) => match new_token(&answer) {
                    Some(answer) => {
                        let mut state = self.lock();
                        let token = state.token(answer.access_token.0, answer.chatgpt_account_id);
                        let given = state.providers.entry(provider.to_owned()).or_default();
                        given.refused = None;
                        given.put(&connection, token.clone());
                        return Ok(token);
                    }
                    // The answer may hold a token, so it is not repeated.
                    None => {
                        TokenError("the client's answer has no text `accessToken` and `chatgptAccountId`".to_owned())
                    }
                },
                Err(Unanswered::Left) => {
                    self.take_back(connection.id());
                    continue;
                }
                Err(Unanswered::Refused(why)) => TokenError(why),
            };
            if let Some(given) = self.lock().providers.get_mut(provider) {
                given.refused = Some((Instant::now(), error.clone()));
            }
            return Err(error);
        }
    }

    /// Returns the client that started a turn, as soon as it is known.
    async fn client_of(&self, turn: &str) -> Arc<Connection> {
        loop {
            let started = self.turn_started.notified();
            tokio::pin!(started);
            started.as_mut().enable();
            let found =
                self.lock().turns.iter().rfind(|(started, _)| started == turn).map(|(_, client)| Arc::clone(client));
            match found {
                Some(client) => return client,
                None => started.await,
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn token(&mut self, text: String, account: String) -> BearerToken {
        self.number += 1;
        BearerToken::new(text, Some(account).filter(|account| !account.is_empty()), self.number)
    }
}

impl Given {
    /// Returns the newest token whose client is connected. A client may have left while its login was on the way.
    fn newest(&self) -> Option<&(Arc<Connection>, BearerToken)> {
        self.tokens.iter().rfind(|(owner, _)| !owner.has_ended())
    }

    fn put(&mut self, connection: &Arc<Connection>, token: BearerToken) {
        self.tokens.retain(|(owner, _)| owner.id() != connection.id() && !owner.has_ended());
        if !connection.has_ended() {
            self.tokens.push((Arc::clone(connection), token));
        }
    }
}

/// Removes a question when nobody waits for its answer any more.
struct Forget<'a> {
    tokens: &'a ClientTokens,
    id: RequestId,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.tokens.lock().asked.remove(&self.id);
    }
}

/// Reads a client's answer; `None` if there is no token in it.
fn new_token(answer: &RawValue) -> Option<ChatgptAuthTokensRefreshResponse> {
    let answer: ChatgptAuthTokensRefreshResponse = serde_json::from_str(answer.get()).ok()?;
    (!answer.access_token.0.trim().is_empty()).then_some(answer)
}

fn nobody() -> TokenError {
    TokenError("no client that gave one with `account/login/start` is connected".to_owned())
}

fn wants_attestation(connection: &Connection) -> bool {
    connection.client().is_some_and(|client| client.attests)
}

/// Returns an id that a client that was not asked cannot guess.
fn question_id() -> Result<RequestId, getrandom::Error> {
    let mut random = [0; 16];
    getrandom::fill(&mut random)?;
    Ok(RequestId::String(format!("{ID_PREFIX}{:032x}", u128::from_ne_bytes(random))))
}

/// The tokens for one provider.
struct Source {
    tokens: Arc<ClientTokens>,
    provider: String,
}

impl TokenSource for Source {
    fn current(&self) -> BoxFuture<'_, Result<BearerToken, TokenError>> {
        std::future::ready(self.tokens.current(&self.provider)).boxed()
    }

    fn renew(&self, refused: u64) -> BoxFuture<'_, Result<BearerToken, TokenError>> {
        async move { self.tokens.renew(&self.provider, refused).await }.boxed()
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Source").field("provider", &self.provider).finish_non_exhaustive()
    }
}

impl Attestor for ClientTokens {
    fn attest(&self, root_turn: &str) -> BoxFuture<'_, Option<String>> {
        let turn = root_turn.to_owned();
        async move {
            let client = self.client_of(&turn).await;
            // The caller stops waiting earlier.
            let answer = self.ask(&client, AttestationGenerateParams {}.into(), RENEWAL_TIMEOUT).await.ok()?;
            serde_json::from_str::<AttestationGenerateResponse>(answer.get()).ok().map(|answer| answer.token)
        }
        .boxed()
    }
}
