//! Sends requests to a served page as browsers and attackers do.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use serde_json::Value;
use tokio::sync::oneshot;
use trace_explain::Session;
use trace_serve::{MAX_BODIES, Newer, Server, Token};
use trace_viz::page::Recorder;

struct Page {
    address: SocketAddr,
    token: String,
    end: Option<oneshot::Sender<()>>,
    server: Option<std::thread::JoinHandle<()>>,
    /// The bundle that is served.
    _directory: Option<tempfile::TempDir>,
}

impl Page {
    fn serve() -> Self {
        Self::serve_newer(None)
    }

    fn serve_newer(newer: Option<Newer>) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("bundle");
        trace_samples::scenes::three_children(&path).expect("a sample");
        let session = Session::open(&path).expect("a bundle");
        let mut page = Self::serve_session(session, newer);
        page._directory = Some(directory);
        page
    }

    fn serve_session(session: Session, newer: Option<Newer>) -> Self {
        let (end, ended) = oneshot::channel();
        let (tell, told) = std::sync::mpsc::channel();
        let server = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().expect("a runtime");
            runtime.block_on(async {
                let token = Token::random().expect("random");
                let server = Server::bind(session, newer, "a <name>", 0, token).await.expect("binds");
                tell.send(server.url()).expect("waits");
                let ended = async {
                    let _ = ended.await;
                };
                server.run(ended).await.expect("serves");
            });
        });
        let url = told.recv().expect("an address");
        let rest = url.strip_prefix("http://").expect("an address");
        let (address, token) = rest.trim_end_matches('/').split_once('/').expect("a token");
        Self {
            address: address.parse().expect("an address"),
            token: token.to_owned(),
            end: Some(end),
            server: Some(server),
            _directory: None,
        }
    }

    /// Requests a path below the token. Returns the status, the headers in lower case, and the body.
    fn get(&self, path: &str) -> (u16, String, String) {
        self.ask("GET", &format!("/{}/{path}", self.token), &[("Host", &self.address.to_string())])
    }

    fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> (u16, String, String) {
        let mut stream = TcpStream::connect(self.address).expect("connects");
        let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str("\r\n");
        stream.write_all(request.as_bytes()).expect("asks");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        (status, head.to_lowercase(), body.to_owned())
    }

    fn json(&self, path: &str) -> Value {
        let (status, _, body) = self.get(path);
        assert_eq!(status, 200, "{path}: {body}");
        serde_json::from_str(&body).expect("JSON")
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.end.take().map(|end| end.send(()));
        let _ = self.server.take().map(std::thread::JoinHandle::join);
    }
}

#[test]
fn the_page_and_all_that_it_asks_for() {
    let page = Page::serve();
    let (status, head, body) = page.get("");
    assert_eq!(status, 200);
    assert!(head.contains("content-security-policy: default-src 'none'") && head.contains("frame-ancestors 'none'"));
    assert!(body.contains("<title>a &lt;name&gt;</title>") && !body.contains("id=\"structure\""));

    let structure = page.json("structure.json");
    assert_eq!(structure["session"]["name"], "a <name>");
    let of_type = |name: &str, what: &str| {
        let types = structure["types"].as_array().expect("types");
        let found = types.iter().find(|known| known["name"] == name).expect("a type");
        found[what].as_u64().expect("a number")
    };
    let (first, count) = (|name: &str| of_type(name, "first"), |name: &str| of_type(name, "count"));
    let tool = first("tool_call");
    let bodies = page.json(&format!("bodies.json?of={tool},{}", first("conversation_item")));
    assert_eq!(bodies.as_object().map(serde_json::Map::len), Some(2));
    assert!(!bodies[tool.to_string()]["blocks"].as_array().expect("blocks").is_empty());
    let payload = page.json(&format!("payload.json?of={}", first("raw_payload")));
    assert!(payload["text"].as_str().expect("a text").starts_with('{'));

    let found = page.json("search.json?text=WICKS&limit=2");
    let hits = found["hits"].as_array().expect("hits");
    assert_eq!((hits.len(), found["more"].as_bool()), (2, Some(true)));
    assert!(hits.iter().all(|hit| hit["match"] == "wicks"));
    // If several objects share a text, all are found: three inference calls that failed in the same way, and the
    // agents that were notified.
    let failed = page.json("search.json?text=answers%20503");
    let (first_call, calls) = (first("inference_call"), count("inference_call"));
    let is_call = |hit: &&Value| hit["n"].as_u64().is_some_and(|n| (first_call..first_call + calls).contains(&n));
    assert_eq!(failed["hits"].as_array().expect("hits").iter().filter(is_call).count(), 3);
    assert_eq!(page.json("search.json?text=nowhere%20at%20all")["hits"].as_array().map(Vec::len), Some(0));
}

#[test]
fn wrong_questions_are_told_so() {
    let page = Page::serve();
    let status = |path: &str| page.get(path).0;
    assert_eq!(status("bodies.json?of=x"), 400);
    assert_eq!(status("bodies.json"), 400);
    assert_eq!(status("bodies.json?of=4000000000"), 404);
    assert_eq!(status("payload.json?of=0"), 404);
    assert_eq!(status("payload.json?of=0,1"), 400);
    assert_eq!(status("search.json?text="), 400);
    assert_eq!(status("elsewhere"), 404);
    let all = |count: usize| format!("bodies.json?of={}", vec!["0"; count].join(","));
    assert_eq!((status(&all(MAX_BODIES)), status(&all(MAX_BODIES + 1))), (200, 400));
}

#[test]
fn only_those_who_know_the_address_get_in() {
    let page = Page::serve();
    let host = page.address.to_string();
    let path = format!("/{}/structure.json", page.token);
    assert_eq!(page.ask("GET", &path, &[("Host", &host)]).0, 200);
    assert_eq!(page.ask("GET", "/", &[("Host", &host)]).0, 404);
    let other = format!("/{}/structure.json", "0".repeat(page.token.len()));
    assert_eq!(page.ask("GET", &other, &[("Host", &host)]).0, 404);
    assert_eq!(page.ask("GET", "/structure.json", &[("Host", &host)]).0, 404);
    assert_eq!(page.ask("GET", &path, &[("Host", "evil.example")]).0, 403);
    assert_eq!(page.ask("GET", &path, &[("Host", &host), ("Origin", "http://evil.example")]).0, 403);
    assert_eq!(page.ask("POST", &path, &[("Host", &host), ("Content-Length", "0")]).0, 405);
    // The answer to the preflight request of another site's page grants nothing.
    let asked = page.ask("OPTIONS", &path, &[("Host", &host), ("Access-Control-Request-Method", "GET")]);
    assert_eq!(asked.0, 405);
    for (_, head, _) in [asked, page.get(""), page.get("elsewhere")] {
        assert!(!head.contains("access-control"), "{head}");
        for header in ["cache-control: no-store", "referrer-policy: no-referrer", "x-content-type-options: nosniff"] {
            assert!(head.contains(header), "{header} is not in {head}");
        }
    }
}

#[test]
fn it_listens_on_the_loopback_interface_alone() {
    let page = Page::serve();
    assert!(page.address.ip().is_loopback());
}

/// Returns a way to states that a test sends.
fn newer(grown: std::sync::mpsc::Receiver<Session>) -> Newer {
    Newer { look: Box::new(move || grown.try_recv().ok()), recorder: Box::new(|| Recorder::AtWork) }
}

/// Returns the value of a header of the response with the structure.
fn header(page: &Page, name: &str) -> String {
    let (status, head, _) = page.get("structure.json");
    assert_eq!(status, 200);
    let prefix = format!("{name}: ");
    head.lines().find_map(|line| line.strip_prefix(&prefix)).expect("the header").to_owned()
}

#[test]
fn a_page_gets_the_changes_of_a_session_that_grows() {
    let directory = tempfile::tempdir().expect("a directory");
    let bundle = directory.path().join("bundle");
    trace_samples::scenes::three_children(&bundle).expect("a sample");
    let log = std::fs::read_to_string(bundle.join("trace.jsonl")).expect("a log");
    let lines: Vec<&str> = log.split_inclusive('\n').collect();
    let state = |count: usize| {
        std::fs::write(bundle.join("trace.jsonl"), lines[..count].concat()).expect("writes");
        Session::open(&bundle).expect("a bundle")
    };
    let (grow, grown) = std::sync::mpsc::channel::<Session>();
    let page = Page::serve_session(state(lines.len() / 2), Some(newer(grown)));
    assert_eq!((header(&page, "trace-revision"), header(&page, "trace-state")), ("1".to_owned(), "0".to_owned()));
    let before = page.json("structure.json");
    grow.send(state(lines.len() / 2 + 20)).expect("waits");
    let told = page.json("changes.json?revision=1&since=0");
    assert_eq!((&told["state"], told["changes"].as_array().map(Vec::len)), (&Value::from(1), Some(1)));
    grow.send(state(lines.len())).expect("waits");
    assert_eq!(page.json("changes.json?revision=1&since=1")["state"], 2);
    // A page that is behind gets all that it lacks, and one that is loaded gets the newest state.
    let told = page.json("changes.json?revision=1&since=0");
    assert_eq!((&told["state"], told["changes"].as_array().map(Vec::len)), (&Value::from(2), Some(2)));
    let now = page.json("structure.json");
    let count = |structure: &Value| structure["items"]["role"].as_array().map_or(0, Vec::len);
    assert_eq!(told["changes"][1]["counts"][2], count(&now));
    assert!(count(&before) < count(&now));
    // Objects have kept their numbers.
    assert_eq!(page.get("bodies.json?of=1&revision=1").0, 200);
    assert_eq!((header(&page, "trace-revision"), header(&page, "trace-state")), ("1".to_owned(), "2".to_owned()));
}

#[test]
fn a_page_is_told_if_the_objects_have_other_numbers() {
    let (grow, grown) = std::sync::mpsc::channel::<Session>();
    let page = Page::serve_newer(Some(newer(grown)));
    let first = header(&page, "trace-revision");
    let directory = tempfile::tempdir().expect("a directory");
    trace_samples::scenes::one_agent(&directory.path().join("bundle")).expect("a sample");
    grow.send(Session::open(&directory.path().join("bundle")).expect("a bundle")).expect("waits");
    assert_eq!(page.json(&format!("changes.json?revision={first}&since=0"))["renumbered"], true);
    assert_eq!((first.as_str(), header(&page, "trace-revision").as_str()), ("1", "2"));
    for path in ["bodies.json?of=1&", "payload.json?of=1&", "search.json?text=a&"] {
        let (status, _, body) = page.get(&format!("{path}revision=1"));
        assert_eq!(status, 409, "{path}");
        assert!(body.contains("other numbers"), "{body}");
    }
    assert_eq!(page.get("search.json?text=a&revision=2").0, 200);
    assert_eq!(page.json("changes.json?revision=2&since=9")["renumbered"], true);
}

#[test]
fn a_session_that_cannot_grow_has_no_changes() {
    let page = Page::serve();
    let (_, head, _) = page.get("structure.json");
    assert!(!head.contains("trace-state"), "{head}");
    assert_eq!(page.json("changes.json?revision=1&since=0")["changes"].as_array().map(Vec::len), Some(0));
}
