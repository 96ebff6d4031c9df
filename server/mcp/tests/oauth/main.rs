//! Logins at MCP servers, and the renewal of their tokens, with a double that keeps the rules of OAuth strictly.

mod double;

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout};
use trace_mcp::oauth::{CallbackAddress, LoginOptions, OAuth, OAuthError, PendingLogin, Registration};
use trace_mcp::{Details, LaunchPolicy, Remedy, ServerConfig, Servers, Startup, Variables};
use trace_runtime::sandbox::WritableFolderRegistry;
use trace_runtime::settings::SandboxPolicy;

use double::{Double, Rules, browse, get};

const TIMEOUT: Duration = Duration::from_secs(60);

/// Names the home of a process that is started by a test, and the address of its server.
const CHILD_VARIABLES: [&str; 2] = ["TRACE_TEST_OAUTH_HOME", "TRACE_TEST_OAUTH_URL"];

fn config(url: &str, more: &str) -> ServerConfig {
    let text = format!("url = '{url}'\nstartup_timeout_sec = 30\n{more}");
    ServerConfig::read("docs", &toml::Value::Table(text.parse().expect("TOML"))).expect("a server").server
}

/// A double, and a home in which logins at it are stored.
struct World {
    double: Double,
    home: TempDir,
    config: ServerConfig,
}

impl World {
    fn new(rules: Rules) -> Self {
        let double = Double::start(rules);
        let config = config(&double.url(), "");
        Self { double, home: tempfile::tempdir().expect("a folder"), config }
    }

    fn logins(&self) -> OAuth {
        OAuth::of_home(self.home.path())
    }

    async fn begin(&self) -> Result<PendingLogin, OAuthError> {
        self.logins().begin(&self.config, LoginOptions::default()).await
    }

    /// Logs in with a browser that agrees to everything.
    async fn login(&self) -> Result<(), OAuthError> {
        let pending = self.begin().await?;
        let address = pending.authorization_url().to_string();
        let browser = tokio::task::spawn_blocking(move || browse(&address));
        let finished = pending.finish(TIMEOUT, None).await;
        browser.await.expect("a browser");
        finished
    }

    fn servers(&self) -> Servers {
        servers(self.home.path(), self.config.clone())
    }

    /// Returns the files with tokens.
    fn files(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.logins().folder()).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|it| it == "json")).collect()
    }

    /// Asserts that a text contains nothing secret.
    fn keeps_secrets(&self, text: &str) {
        for secret in self.double.secrets() {
            assert!(!text.contains(&secret), "{secret} in {text}");
        }
    }
}

fn servers(home: &Path, config: ServerConfig) -> Servers {
    let launch = LaunchPolicy {
        home: home.to_owned(),
        cwd: home.to_owned(),
        sandbox: SandboxPolicy::FullAccess,
        folders: Arc::new(WritableFolderRegistry::new(None)),
    };
    Servers::start(vec![config], &Variables::default(), &launch, Vec::new())
}

async fn startup(servers: &Servers) -> Startup {
    timeout(TIMEOUT, servers.settled()).await.expect("it settles");
    servers.report(Details::Tools).await[0].startup.clone().expect("it is enabled")
}

/// Returns why a server cannot be used.
async fn failure(servers: &Servers) -> (Remedy, String) {
    match startup(servers).await {
        Startup::Failed(failure) => (failure.need, failure.message),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_user_logs_in_and_the_server_can_be_used() {
    let world = World::new(Rules::default());
    let before = world.servers();
    let (need, message) = failure(&before).await;
    assert_eq!(need, Remedy::Login);
    assert!(message.contains("log in with `trace mcp login docs`"), "{message}");

    let pending = world.begin().await.expect("a login");
    let shown = format!("{pending:?}");
    let address = pending.authorization_url().to_string();
    let redirect = pending.authorization_url().query_pairs().find(|(name, _)| name == "redirect_uri");
    let redirect = redirect.expect("an address").1.into_owned();
    let browser = tokio::task::spawn_blocking(move || browse(&address));
    pending.finish(TIMEOUT, None).await.expect("a login");
    let (status, end) = browser.await.expect("a browser");
    assert_eq!(status, 200);
    // The address is of no use any more, also with the right code and state.
    assert_eq!(get(&end).0, 0, "somebody listens at {redirect}");
    world.keeps_secrets(&shown);

    let stored = world.logins().stored(&world.config).expect("a folder").expect("a login");
    assert_eq!((stored.issuer.as_str(), stored.is_renewable), (world.double.base.as_str(), true));
    assert_eq!(stored.scopes, ["read", "write"]);
    let files = world.files();
    assert_eq!(files.len(), 1);
    for path in [&files[0], &files[0].with_extension("lock")] {
        let mode = std::fs::metadata(path).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", path.display());
    }
    before.logged_in("docs");
    timeout(TIMEOUT, async {
        while !matches!(startup(&before).await, Startup::Ready) {
            sleep(Duration::from_millis(5)).await;
        }
    })
    .await
    .expect("it connects");
    let reports = before.report(Details::Tools).await;
    assert!(reports[0].is_logged_in && reports[0].tools.len() == 1, "{reports:?}");
    world.keeps_secrets(&format!("{reports:?} {before:?}"));
    assert_eq!(before.call_tool("docs", "hello", None, None).await.expect("a result")["content"][0]["text"], "hello");
    before.shutdown().await;

    assert_eq!(world.logins().logout(&world.config).await, Ok(true));
    assert_eq!((world.logins().logout(&world.config).await, world.files().len()), (Ok(false), 0));
}

#[tokio::test]
async fn tokens_are_renewed_before_they_end_and_rotated() {
    let world = World::new(Rules { life: Duration::from_secs(3), ..Rules::default() });
    world.login().await.expect("a login");
    let servers = world.servers();
    assert_eq!(startup(&servers).await, Startup::Ready);
    let (begun, mut calls) = (Instant::now(), 0);
    while begun.elapsed() < Duration::from_secs(7) {
        servers.call_tool("docs", "hello", None, None).await.expect("a result");
        calls += 1;
        sleep(Duration::from_millis(20)).await;
    }
    let refreshes = world.double.count("POST /token refresh_token");
    // Each token lives for 3 s and is renewed after 2 s, whatever the number of calls.
    let most = usize::try_from(begun.elapsed().as_secs() / 2).expect("a number") + 2;
    assert!((1..=most).contains(&refreshes), "{refreshes} renewals for {calls} calls");
    assert_eq!(world.double.count("POST /token authorization_code"), 1);
    servers.shutdown().await;
}

#[tokio::test]
async fn a_token_is_not_renewed_more_than_once_a_second() {
    let world = World::new(Rules { life: Duration::from_millis(300), ..Rules::default() });
    world.login().await.expect("a login");
    let servers = world.servers();
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_millis(2500) {
        // Most calls are refused, since the token has ended.
        let _ = servers.call_tool("docs", "hello", None, None).await;
        sleep(Duration::from_millis(10)).await;
    }
    let (refreshes, seconds) = (world.double.count("POST /token refresh_token"), begun.elapsed().as_secs());
    assert!(refreshes as u64 <= seconds + 2, "{refreshes} renewals in {seconds} s");
    servers.shutdown().await;
}

#[tokio::test]
async fn a_token_that_the_server_refuses_is_renewed_and_the_request_repeated() {
    let world = World::new(Rules::default());
    world.login().await.expect("a login");
    let servers = world.servers();
    assert_eq!(startup(&servers).await, Startup::Ready);
    sleep(Duration::from_millis(1100)).await;
    world.double.forget_access();
    servers.call_tool("docs", "hello", None, None).await.expect("a result");
    assert_eq!(world.double.count("POST /token refresh_token"), 1);
    servers.shutdown().await;
}

#[tokio::test]
async fn a_refused_renewal_asks_the_user_to_log_in() {
    let world = World::new(Rules { life: Duration::from_millis(1500), ..Rules::default() });
    world.login().await.expect("a login");
    let servers = world.servers();
    assert_eq!(startup(&servers).await, Startup::Ready);
    world.double.change(|rules| rules.refuses_refresh = true);
    let before = world.double.count("POST /token refresh_token");
    sleep(Duration::from_millis(1600)).await;
    let error = servers.call_tool("docs", "hello", None, None).await.expect_err("no token").to_string();
    assert!(error.contains("log in again with `trace mcp login docs`"), "{error}");
    let told = timeout(TIMEOUT, async {
        loop {
            if let Startup::Failed(failure) = startup(&servers).await {
                return failure;
            }
            sleep(Duration::from_millis(5)).await;
        }
    });
    let told = told.await.expect("the status says so");
    assert_eq!(told.need, Remedy::Login);
    world.keeps_secrets(&format!("{error} {told:?}"));
    let refreshes = world.double.count("POST /token refresh_token");
    assert_eq!(refreshes, before + 1, "a refused token is sent again");
    assert!(world.files().is_empty(), "tokens that are of no use are kept");
    // Another login is enough.
    world.double.change(|rules| *rules = Rules::default());
    world.login().await.expect("a login");
    servers.logged_in("docs");
    timeout(TIMEOUT, async {
        while servers.call_tool("docs", "hello", None, None).await.is_err() {
            sleep(Duration::from_millis(5)).await;
        }
    })
    .await
    .expect("it can be used again");
    servers.shutdown().await;
}

#[tokio::test]
async fn without_registration_a_client_id_is_needed() {
    let mut world = World::new(Rules { registers: false, ..Rules::default() });
    let error = world.begin().await.expect_err("nobody knows this program").to_string();
    assert!(error.contains("has no `registration_endpoint`") && error.contains("`oauth.client_id`"), "{error}");
    world.config = config(&world.double.url(), "oauth = { client_id = 'by-hand' }");
    world.login().await.expect("a login");
    let stored = std::fs::read_to_string(&world.files()[0]).expect("a file");
    assert!(stored.contains("by-hand"), "another client id is used for renewals");
}

#[tokio::test]
async fn a_login_that_lacks_a_scope_says_how_to_get_it() {
    let challenge = "Bearer error=\"insufficient_scope\", scope=\"admin read\", error_description=\"x\"";
    let world = World::new(Rules { refuses_calls: Some(challenge), ..Rules::default() });
    world.login().await.expect("a login");
    let servers = world.servers();
    let call = async || servers.call_tool("docs", "hello", None, None).await;
    let error = call().await.expect_err("it is refused").to_string();
    let how = "log in again with `trace mcp login docs --scopes read,write,admin`";
    assert!(error.contains("asks for the scope `admin read`") && error.contains(how), "{error}");
    assert_eq!(world.double.count("POST /token refresh_token"), 0, "another token has no more scopes");
    world.double.change(|rules| rules.refuses_calls = None);
    call().await.expect("other calls go on");
    // A refusal for another reason is told as it is.
    world.double.change(|rules| rules.refuses_calls = Some("Bearer error=\"blocked\""));
    let error = call().await.expect_err("it is refused").to_string();
    assert!(!error.contains("trace mcp login") && error.contains("blocked"), "{error}");
    servers.shutdown().await;

    world.double.change(|rules| *rules = Rules { scope: "read write admin", ..Rules::default() });
    let scopes = Some(["read", "write", "admin"].map(str::to_owned).to_vec());
    let options = LoginOptions { scopes, ..LoginOptions::default() };
    let pending = world.logins().begin(&world.config, options).await.expect("a login");
    let address = pending.authorization_url().to_string();
    let browser = tokio::task::spawn_blocking(move || browse(&address));
    pending.finish(TIMEOUT, None).await.expect("a login");
    browser.await.expect("a browser");
    let stored = world.logins().stored(&world.config).expect("a folder").expect("a login");
    assert_eq!(stored.scopes, ["read", "write", "admin"]);
}

#[tokio::test]
async fn a_document_describes_this_program() {
    let document = || LoginOptions { registration: Registration::Document, ..LoginOptions::default() };
    let mut world = World::new(Rules { registers: false, reads_client_documents: true, ..Rules::default() });
    let error = world.logins().begin(&world.config, document()).await.expect_err("there is none").to_string();
    assert!(error.contains("`oauth.client_id` is not the https:// address"), "{error}");
    world.config = config(&world.double.url(), "oauth = { client_id = 'https://a.example/trace.json' }");
    let pending = world.logins().begin(&world.config, document()).await.expect("a login");
    let id = pending.authorization_url().query_pairs().find(|(name, _)| name == "client_id").expect("an id").1;
    assert_eq!(id, "https://a.example/trace.json");
    assert_eq!(world.double.count("POST /register"), 0);
    world.double.change(|rules| rules.reads_client_documents = false);
    let error = world.logins().begin(&world.config, document()).await.expect_err("it reads none").to_string();
    assert!(error.contains("it does not read client id metadata documents"), "{error}");
}

#[tokio::test]
async fn a_second_login_on_a_fixed_port_is_refused() {
    let world = World::new(Rules::default());
    let first = world.begin().await.expect("a login");
    let redirect =
        first.authorization_url().query_pairs().find(|(name, _)| name == "redirect_uri").expect("an address").1;
    let port = reqwest::Url::parse(&redirect).expect("an address").port();
    let options = || LoginOptions { callback: CallbackAddress { port, url: None }, ..LoginOptions::default() };
    let error = world.logins().begin(&world.config, options()).await.expect_err("the port is taken").to_string();
    assert!(error.contains("perhaps by a login that still waits for its user"), "{error}");
    drop(first);
    world.logins().begin(&world.config, options()).await.expect("the port is free again");
}

/// Tries to log in. Returns the error, after checking that nothing is stored and no token was asked for.
async fn refused(world: &World) -> String {
    let error = world.login().await.expect_err("it must not work").to_string();
    world.keeps_secrets(&error);
    assert!(world.files().is_empty(), "{error}");
    error
}

#[tokio::test]
async fn answers_that_are_not_those_to_this_login_are_refused() {
    let other = "https://evil.example.org".to_owned();
    for (rules, expected) in [
        (Rules { denies: Some("access_denied"), ..Rules::default() }, "answered access_denied: no thanks"),
        (Rules { returned_issuer: Some(other), ..Rules::default() }, "the answer comes from https://evil.example.org"),
    ] {
        let world = World::new(rules);
        let error = refused(&world).await;
        assert!(error.contains(expected), "{error}");
        assert_eq!(world.double.count("POST /token authorization_code"), 0, "{expected}");
    }
}

#[tokio::test]
async fn an_answer_with_another_state_does_not_end_the_login() {
    for denies in [None, Some("access_denied")] {
        let world = World::new(Rules { state: Some("guessed".to_owned()), denies, ..Rules::default() });
        let pending = world.begin().await.expect("a login");
        let address = pending.authorization_url().to_string();
        let login = tokio::spawn(pending.finish(TIMEOUT, None));
        let guessed = address.clone();
        let (status, _) = tokio::task::spawn_blocking(move || browse(&guessed)).await.expect("a browser");
        assert_eq!((status, world.double.count("POST /token authorization_code")), (400, 0));
        world.double.change(|rules| *rules = Rules::default());
        let (status, _) = tokio::task::spawn_blocking(move || browse(&address)).await.expect("a browser");
        assert_eq!((status, login.await.expect("it ends")), (200, Ok(())));
    }
}

#[tokio::test]
async fn a_code_is_of_use_only_once() {
    let world = World::new(Rules { codes_are_used: true, ..Rules::default() });
    let error = refused(&world).await;
    assert!(error.contains("/token answered 400: invalid_grant: [left out] is not valid"), "{error}");
    assert_eq!(world.double.count("POST /token authorization_code"), 1);
}

#[tokio::test]
async fn metadata_that_breaks_a_rule_is_refused() {
    let elsewhere = Double::start(Rules::default());
    let metadata = format!("{}/.well-known/oauth-protected-resource/mcp", elsewhere.base);
    for (rules, expected) in [
        (
            Rules { issuer: Some("https://evil.example.org".to_owned()), ..Rules::default() },
            "its issuer is https://evil.example.org, not http://127.0.0.1",
        ),
        (Rules { resource_metadata: Some(metadata), ..Rules::default() }, "it is on another host than the MCP server"),
        (
            Rules { authorization_server: Some("http://auth.example.org".to_owned()), ..Rules::default() },
            "it must begin with https://",
        ),
        (Rules { pkce: serde_json::json!(["plain"]), ..Rules::default() }, "it does not say that it supports PKCE"),
        (Rules { pkce: serde_json::Value::Null, ..Rules::default() }, "it does not say that it supports PKCE"),
        (
            Rules { registered_redirect: Some("http://192.0.2.7/callback".to_owned()), ..Rules::default() },
            "its redirect address is not http://127.0.0.1",
        ),
    ] {
        let world = World::new(rules);
        let error = world.begin().await.expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}");
        assert_eq!(world.double.count("GET /authorize"), 0);
    }
    assert_eq!(elsewhere.seen(), [""; 0], "another host was asked");
    // An authorization server may be another host than the MCP server; its own metadata says who it is.
    let world = World::new(Rules { authorization_server: Some(elsewhere.base.clone()), ..Rules::default() });
    let pending = world.begin().await.expect("a login");
    assert!(pending.authorization_url().as_str().starts_with(&elsewhere.base));
}

#[tokio::test]
async fn tokens_are_not_asked_for_at_an_address_that_an_answer_redirects_to() {
    let elsewhere = Double::start(Rules::default());
    let redirect = Some(format!("{}/token", elsewhere.base));
    let world = World::new(Rules { token_redirect: redirect, ..Rules::default() });
    let error = refused(&world).await;
    assert!(error.contains("it redirects to another address (307"), "{error}");
    assert_eq!(elsewhere.seen(), [""; 0]);
    for (url, why) in
        [("http://192.0.2.7:1234/callback", "must begin with https://"), ("not an address", "not an address")]
    {
        let error = CallbackAddress::parse(url).expect_err(url).to_string();
        assert!(error.contains(why), "{error}");
    }
}

#[tokio::test]
async fn a_user_pastes_the_address_at_which_the_browser_ended() {
    let world = World::new(Rules::default());
    let browse_only = |address: &str| get(address).1.expect("a redirect");
    for (change, works) in [(("", ""), true), (("/callback/", "/elsewhere/"), false), (("state=", "state=x"), false)] {
        let pending = world.begin().await.expect("a login");
        let address = browse_only(pending.authorization_url().as_str()).replacen(change.0, change.1, 1);
        let (paste, pasted) = mpsc::channel(1);
        paste.send(format!("  {address}\n")).await.expect("room");
        let finished = pending.finish(TIMEOUT, Some(pasted)).await;
        assert_eq!(finished.is_ok(), works, "{finished:?}");
    }
    let (_paste, pasted) = mpsc::channel(1);
    let pending = world.begin().await.expect("a login");
    let finished = pending.finish(Duration::from_millis(1), Some(pasted)).await;
    assert_eq!(finished, Err(OAuthError::TooLong { seconds: 0 }));
}

#[tokio::test]
async fn a_user_types_a_code_on_another_device() {
    let device = || LoginOptions { device: true, ..LoginOptions::default() };
    let world = World::new(Rules { device_waits: Some(2), ..Rules::default() });
    let pending = world.logins().begin(&world.config, device()).await.expect("a login");
    let code = pending.device_code().expect("a code").clone();
    assert_eq!((code.user_code.as_str(), code.verification_url.path()), ("ABCD-EFGH", "/activate"));
    assert_eq!(pending.authorization_url().query(), Some("user_code=ABCD-EFGH"));
    world.keeps_secrets(&format!("{pending:?}"));
    pending.finish(TIMEOUT, None).await.expect("a login");
    assert_eq!(world.double.count("POST /token urn:ietf:params:oauth:grant-type:device_code"), 3);
    let servers = world.servers();
    assert_eq!(startup(&servers).await, Startup::Ready);
    servers.shutdown().await;

    let world = World::new(Rules { device_waits: Some(0), denies: Some("access_denied"), ..Rules::default() });
    let pending = world.logins().begin(&world.config, device()).await.expect("a login");
    let error = pending.finish(TIMEOUT, None).await.expect_err("the user declined").to_string();
    assert!(error.contains("access_denied"), "{error}");
    world.keeps_secrets(&error);

    let world = World::new(Rules::default());
    let error = world.logins().begin(&world.config, device()).await.expect_err("there is none").to_string();
    assert!(error.contains("has no login for devices"), "{error}");
}

#[tokio::test]
async fn servers_without_logins_say_so() {
    let home = tempfile::tempdir().expect("a folder");
    let logins = OAuth::of_home(home.path());
    for (more, why) in [
        ("bearer_token_env_var = 'TOKEN'", "has its token from the variable TOKEN"),
        ("http_headers = { authorization = 'x' }", "has an `Authorization` header"),
    ] {
        let config = config("http://127.0.0.1:9/mcp", more);
        let error = logins.begin(&config, LoginOptions::default()).await.expect_err(why).to_string();
        assert!(error.contains(why), "{error}");
    }
    let config = config("http://mcp.example.org/mcp", "");
    let error = logins.begin(&config, LoginOptions::default()).await.expect_err("no encryption").to_string();
    assert!(error.contains("it must begin with https://"), "{error}");
}

/// A process that a test starts: it connects to the server once. In any other run, it does nothing.
#[tokio::test]
async fn the_other_process_of_a_test() {
    let [home, url] = CHILD_VARIABLES.map(std::env::var_os);
    let (Some(home), Some(url)) = (home, url) else { return };
    let servers = servers(Path::new(&home), config(url.to_str().expect("text"), ""));
    assert_eq!(startup(&servers).await, Startup::Ready);
    servers.call_tool("docs", "hello", None, None).await.expect("a result");
    servers.shutdown().await;
}

#[tokio::test]
async fn of_processes_that_renew_at_once_one_wins_and_no_token_is_lost() {
    let world = World::new(Rules { life: Duration::from_millis(10), ..Rules::default() });
    world.login().await.expect("a login");
    world.double.change(|rules| rules.life = Duration::from_secs(3600));
    sleep(Duration::from_millis(1100)).await;
    let program = std::env::current_exe().expect("this program");
    let children: Vec<_> = (0..4)
        .map(|_| {
            Command::new(&program)
                .args(["--exact", "the_other_process_of_a_test"])
                .envs(CHILD_VARIABLES.into_iter().zip([world.home.path().to_str().expect("text"), &world.double.url()]))
                .output_in_background()
        })
        .collect();
    for child in children {
        let output = tokio::task::spawn_blocking(move || child.wait_with_output()).await.expect("a thread");
        let output = output.expect("it ends");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    assert_eq!(world.double.count("POST /token refresh_token"), 1);
    let servers = world.servers();
    assert_eq!(startup(&servers).await, Startup::Ready);
    servers.shutdown().await;
}

trait InBackground {
    /// Starts a program whose output is kept.
    fn output_in_background(&mut self) -> std::process::Child;
}

impl InBackground for Command {
    fn output_in_background(&mut self) -> std::process::Child {
        self.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().expect("it starts")
    }
}
