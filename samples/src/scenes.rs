//! The samples: small sessions that show what a recording contains.
//!
//! The agents work on an invented project, `lantern`.

use std::fs;
use std::io;
use std::path::Path;

use trace_recorder::format::{EVENT_LOG_FILE, PAYLOADS_DIR, SchemaVersion};

use crate::audit;
use crate::session::{Child, Command, Session, Setup};
use crate::texts::Texts;

/// A sample: the name of its directory, and the function that records it at a path.
pub type Scene = (&'static str, fn(&Path) -> io::Result<()>);

/// The samples that are directories.
pub const SCENES: [Scene; 3] = [("one-agent", one_agent), ("three-children", three_children), ("damaged", damaged)];

/// The samples that are packed, since they have some hundred files.
pub const PACKED_SCENES: [Scene; 2] = [("untrue", untrue), ("honest", honest)];

/// 2026-03-02, 09:30 UTC.
const MORNING_UNIX_MS: i64 = 1_772_443_800_000;

const HOUR_MS: i64 = 3_600_000;

fn setup(seed: u64, started_at_unix_ms: i64) -> Setup {
    Setup {
        seed,
        started_at_unix_ms,
        schema: SchemaVersion::CURRENT,
        cwd: "/home/dev/lantern".to_owned(),
        model: "example-large".to_owned(),
        provider: "example".to_owned(),
        texts: Texts::short(),
    }
}

/// One agent finds out why a test fails, and fixes it.
pub fn one_agent(path: &Path) -> io::Result<()> {
    let (mut session, root) = Session::create(path, setup(1, MORNING_UNIX_MS))?;
    session.prompt(root, "The tests fail since yesterday. Please find out why and fix it.")?;
    session.think(root, "The latest commits and the failing test should tell.");
    session.run(
        root,
        &[
            Command::new(
                "git log --oneline -3",
                "4c1f09a Count wicks from one\n9be2d77 Read wicks from the settings\n1a0c3e5 Release 0.3\n",
            )
            .takes(18),
            Command::new(
                "cargo test --quiet",
                "running 12 tests\n.....F......\n\nfailures:\n\n---- wick::tests::first_wick_is_lit ----\n\
                 assertion `left == right` failed\n  left: None\n right: Some(Wick { lit: true })\n\n\
                 test result: FAILED. 11 passed; 1 failed\n",
            )
            .exits(101)
            .takes(6_420),
        ],
    )?;
    session.run(
        root,
        &[Command::new(
            "sed -n '12,20p' src/wick.rs",
            "impl Lantern {\n    /// Returns the wick with this number; the first one is 1.\n    \
             pub fn wick(&self, number: usize) -> Option<&Wick> {\n        self.wicks.get(number)\n    }\n}\n",
        )
        .takes(9)],
    )?;
    session.think(root, "Numbers begin at 1 now, but the list still begins at 0.");
    session.run(
        root,
        &[Command::new("sed -i 's/self.wicks.get(number)/self.wicks.get(number.checked_sub(1)?)/' src/wick.rs", "")
            .takes(7)],
    )?;
    session.run(
        root,
        &[Command::new(
            "cargo test --quiet",
            "running 12 tests\n............\n\ntest result: ok. 12 passed; 0 failed\n",
        )
        .takes(8_150)],
    )?;
    session.answer(
        root,
        "Since `4c1f09a` wicks are numbered from 1, but `Lantern::wick` still took the number as an index. It now \
         subtracts one, and number 0 finds nothing. All 12 tests pass.",
    )?;
    session.end()
}

/// An agent with three children: one succeeds, one receives a note while it works, and one fails because the provider is
/// overloaded.
pub fn three_children(path: &Path) -> io::Result<()> {
    let (mut session, root) = Session::create(path, setup(2, MORNING_UNIX_MS + HOUR_MS))?;
    session.prompt(root, "Prepare release 0.4: changelog, documentation and a speed comparison with 0.3.")?;
    session.think(root, "Three tasks that do not depend on each other.");
    let children = session.spawn(
        root,
        &[
            child(
                "changelog",
                "Ada",
                None,
                "Write one sentence about 0.4 for the changelog, from the commits since v0.3.",
            ),
            child("docs", "Borges", Some("example-small"), "Check that every command in docs/ still works."),
            child("speed", "Curie", None, "Compare the speed of 0.4 with that of v0.3 on the large example."),
        ],
    )?;
    let &[changelog, docs, speed] = children.as_slice() else { unreachable!("three were asked for") };
    let wait = session.begin_wait(root, 60_000)?;
    session.run_together(&[
        (
            changelog,
            &[Command::new(
                "git log --oneline v0.3..",
                "7d20b11 Dim all wicks at once\n52fe8c0 Count wicks from one\n9be2d77 Read wicks from the settings\n",
            )
            .takes(22)],
        ),
        (
            docs,
            &[
                Command::new(
                    "rg -n '^\\$ lantern' docs",
                    "docs/start.md:8:$ lantern light 1\ndocs/start.md:15:$ lantern dim\n",
                )
                .takes(31),
                Command::new("cargo build --release --quiet", "").takes(21_300),
            ],
        ),
        (
            speed,
            &[Command::new("git worktree add ../lantern-0.3 v0.3", "HEAD is now at 1a0c3e5 Release 0.3\n").takes(240)],
        ),
    ])?;
    session
        .answer(changelog, "0.4 reads wicks from the settings, counts them from one, and dims all of them at once.")?;
    session.end_wait(wait)?;
    for _ in 0..3 {
        session.fail_request(speed, OVERLOADED)?;
        session.advance(4_000);
    }
    session.fail_turn(speed, OVERLOADED)?;
    session.send_message(root, docs, "Wicks are counted from one in 0.4: examples with number 0 are wrong now.")?;
    session.run(
        docs,
        &[
            Command::new("target/release/lantern light 1", "wick 1 is lit\n").takes(14),
            Command::new("target/release/lantern dim", "error: dim needs a wick or --all\n").exits(2).takes(11),
        ],
    )?;
    session.answer(docs, "One of two commands fails: `lantern dim` in docs/start.md needs `--all` since 7d20b11.")?;
    let wait = session.begin_wait(root, 60_000)?;
    session.end_wait(wait)?;
    session.answer(
        root,
        "The changelog has three entries. docs/start.md line 15 has to say `lantern dim --all`. There is no speed \
         comparison: the provider was overloaded, and the agent that should make it gave up after three attempts.",
    )?;
    session.end()
}

/// An agent waits for its child, which works on a second task when the process dies. The last line of the log is
/// incomplete, one payload is missing and one is cut.
pub fn damaged(path: &Path) -> io::Result<()> {
    let (mut session, root) = Session::create(path, setup(3, MORNING_UNIX_MS + 2 * HOUR_MS))?;
    session.prompt(root, "Find out how much memory `lantern light --all` needs, and whether that is new.")?;
    session.run(root, &[Command::new("ls examples", "large.toml\nsmall.toml\n").takes(8)])?;
    session.run(root, &[Command::new("wc -l examples/large.toml", "120004 examples/large.toml\n").takes(11)])?;
    let children = session.spawn(
        root,
        &[child(
            "measure",
            "Darwin",
            Some("example-small"),
            "Build lantern in release mode, and wait for what to measure.",
        )],
    )?;
    let &[measure] = children.as_slice() else { unreachable!("one was asked for") };
    let wait = session.begin_wait(root, 600_000)?;
    session.run(measure, &[Command::new("cargo build --release --quiet", "").takes(20_900)])?;
    session.answer(measure, "target/release/lantern is built.")?;
    session.end_wait(wait)?;
    session.follow_up(root, measure, "Measure the memory of `lantern light --all` on examples/large.toml.")?;
    let wait = session.begin_wait(root, 600_000)?;
    session.run_without_end(
        measure,
        &Command::new("/usr/bin/time -v target/release/lantern light --all examples/large.toml", ""),
    )?;
    drop((session, wait));

    let payload_of = |event: &str, nth: usize| -> io::Result<String> {
        let log = fs::read_to_string(path.join(EVENT_LOG_FILE))?;
        let tag = format!("\"type\":\"{event}\"");
        let line = log.lines().filter(|line| line.contains(&tag)).nth(nth);
        let number = line.and_then(|line| line.split_once("raw_payload:")?.1.split_once('"'));
        Ok(format!("{}.json", number.ok_or(io::ErrorKind::NotFound)?.0))
    };
    let payloads = path.join(PAYLOADS_DIR);
    fs::remove_file(payloads.join(payload_of("inference_completed", 1)?))?;
    cut(&payloads.join(payload_of("tool_call_runtime_ended", 0)?), |_| 0)?;
    cut(&path.join(EVENT_LOG_FILE), last_line)
}

const OVERLOADED: &str = "the provider answers 503: too many requests at the moment";

fn child(task_name: &str, nickname: &str, model: Option<&str>, task: &str) -> Child {
    Child {
        task_name: task_name.to_owned(),
        nickname: nickname.to_owned(),
        model: model.map(str::to_owned),
        task: task.to_owned(),
    }
}

/// Truncates a file to half of the bytes behind `start`.
fn cut(path: &Path, start: impl FnOnce(&[u8]) -> usize) -> io::Result<()> {
    let text = fs::read(path)?;
    let start = start(&text);
    fs::write(path, &text[..start.midpoint(text.len())])
}

fn last_line(text: &[u8]) -> usize {
    let before = text.strip_suffix(b"\n").unwrap_or(text);
    before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1)
}

/// An agent claims what is not so and does what it should not: one example of each kind of finding of `trace audit`.
pub fn untrue(path: &Path) -> io::Result<()> {
    audited("untrue", path)
}

/// As [`untrue`], but the agent does and says what it should.
pub fn honest(path: &Path) -> io::Result<()> {
    audited("honest", path)
}

fn audited(name: &str, path: &Path) -> io::Result<()> {
    let sample = audit::samples().into_iter().find(|sample| sample.name == name).expect("a sample of this name");
    sample.write(path).map(drop)
}
