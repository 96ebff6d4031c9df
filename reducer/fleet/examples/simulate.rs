//! Makes a lake of sessions that nobody recorded: rows in the tables and the layout of a lake, as many as are wanted, to measure
//! questions, planning and compaction at a size that no test can reduce.
//!
//! `cargo run --release --example simulate -- LAKE SESSIONS [--batch SESSIONS] [--days DAYS] [--first SESSION] [--log-only]`
//!
//! Sessions are spread evenly over the days up to 2026-11-24, over 40 teams of different sizes, 400 repositories, 8 models and the
//! versions of three agents. Ids are short, so that a laptop can hold many sessions. Each has two turns, three inference calls, three tool calls and, for a third of them, a failure. `--first`
//! is the number of the first session, so that a second call adds others, all on the last day. `--log-only` commits batches without
//! their files, which is enough to measure how long it takes to read the log and to plan.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Instant;

use arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Float64Array, Int64Array, Int64Builder, ListBuilder, RecordBatch, StringArray,
    TimestampMicrosecondArray,
};
use arrow::datatypes::{DataType, Field};
use rayon::prelude::*;
use trace_fleet::Store;
use trace_fleet::lake::data::{Encoded, Order, encode};
use trace_fleet::lake::record::Action;
use trace_fleet::lake::{Appended, Lake};
use trace_fleet::tables::{self, Column, Kind};

/// The last day, 2026-11-24.
const LAST_DAY: i32 = 20_781;

/// Batches that are made at the same time, and committed together.
const AT_ONCE: u64 = 4;

const DAY_MICROS: i64 = 24 * 3600 * 1_000_000;

const TEAMS: u64 = 40;
const CATEGORIES: [&str; 10] = [
    "tool_failed",
    "provider_error",
    "rate_limited",
    "wait_timeout",
    "model_error",
    "code_cell_failed",
    "tool_unknown",
    "stream_interrupted",
    "agent_never_finished",
    "interrupted_by_user",
];
const OUTCOMES: [&str; 8] = ["ok", "ok", "ok", "ok", "recovered", "degraded", "failed", "unfinished"];
const TOOLS: [&str; 12] = [
    "exec_command",
    "apply_patch",
    "read_file",
    "search",
    "web.fetch",
    "update_plan",
    "spawn_agent",
    "wait_agent",
    "write_stdin",
    "view_image",
    "github.issues",
    "jira.search",
];
const AGENTS: [&str; 3] = ["codex", "claude-code", "trace"];
const FINDINGS: [&str; 5] = ["false_success", "check_not_run", "tests_weakened", "commit_not_made", "secret_exposed"];
const WORDS: [&str; 16] = [
    "fix", "the", "test", "of", "parser", "add", "route", "for", "orders", "and", "remove", "old", "cache", "update",
    "docs", "please",
];

/// Returns a number that looks random and depends on nothing else.
fn mix(a: u64, b: u64) -> u64 {
    let mut x = a.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ b.wrapping_mul(0xd6e8_feb8_6659_fd93);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A row: the number of its session, and its own number in the session.
#[derive(Clone, Copy)]
struct Row {
    session: u64,
    number: u64,
}

struct Scale {
    sessions: u64,
    days: u64,
    first: u64,
}

impl Scale {
    fn day(&self, session: u64) -> i32 {
        let back = (self.sessions - 1).saturating_sub(session) * self.days / self.sessions;
        LAST_DAY - back as i32
    }

    /// Large teams have more sessions than small ones.
    fn team(session: u64) -> u64 {
        let (one, other) = (mix(session, 1) % TEAMS, mix(session, 2) % TEAMS);
        one.min(other)
    }

    fn text(&self, table: &str, column: &str, Row { session, number }: Row) -> Option<String> {
        let of = |salt: u64, many: u64| mix(session ^ (number << 40), salt) % many;
        // No two sessions have one number: multiplying by an odd number loses nothing.
        let own = (session as u32).wrapping_mul(0x9e37_79b1);
        let id = |salt: u64| Some(format!("{:08x}", mix(session, salt) as u32));
        let team = Self::team(session);
        let pick = |all: &[&str], salt: u64| Some(all[of(salt, all.len() as u64) as usize].to_owned());
        match column {
            "address" => Some(format!("s3://sessions/team=team-{team:02}/{own:08x}.trace")),
            "session_id" => Some(format!("{own:08x}-0000")),
            "team" => Some(format!("team-{team:02}")),
            "repository" => Some(format!("repository-{}", team * 10 + mix(session, 4) % 10)),
            "agent" => Some(AGENTS[(mix(session, 5) % 3) as usize].to_owned()),
            // A new version comes every week.
            "agent_version" => Some(format!("1.{}.0", (self.day(session) - LAST_DAY + 4000) / 7)),
            "model" => Some(format!("model-{}", mix(session, 6) % 8)),
            "thread_id" | "source_thread_id" | "target_thread_id" => id(7),
            "agent_path" | "source_agent_path" | "target_agent_path" => Some("/root".to_owned()),
            "turn_id" => id(8 + 100 * (number % 2)),
            "inference_call_id" | "tool_call_id" | "edge_id" | "response_id" | "object_id" | "payload_id" => {
                id(200 + number)
            }
            "status" => pick(&["completed", "completed", "completed", "failed"], 9),
            "outcome" if matches!(table, "inference_calls" | "tool_calls") => pick(
                &["completed", "completed", "completed", "completed", "completed", "completed", "failed", "cancelled"],
                10,
            ),
            "outcome" => pick(&OUTCOMES, 11),
            "category" if table == "failures" || of(12, 3) == 0 => pick(&CATEGORIES, 13),
            "signature" => Some(format!("{:016x}", mix(of(14, 3000), 15))),
            "message" => Some(format!(
                "exit code {} of a command that {} {}",
                of(16, 130),
                WORDS[of(17, 16) as usize],
                of(18, 100_000)
            )),
            "confidence" | "severity" => pick(&["low", "medium", "high"], 19),
            "verdict" if of(12, 3) == 0 => Some("A command failed, and the agent went on.".to_owned()),
            "kind" if table == "findings" => pick(&FINDINGS, 20),
            "kind" if table == "edges" => pick(&["spawn_agent", "send_message", "agent_result"], 21),
            "kind" | "tool" => pick(&TOOLS, 22),
            "code" => pick(&["payload_missing", "log_truncated", "session_unreadable"], 23),
            "provider" => Some("provider".to_owned()),
            "requester" => Some("model".to_owned()),
            "object_type" => Some("tool_call".to_owned()),
            "subject" | "first_prompt" => {
                let words = (0..8).map(|word| WORDS[of(30 + word, 16) as usize]);
                Some(words.collect::<Vec<_>>().join(" "))
            }
            "cwd" => Some(format!("/home/user-{}/work", mix(session, 24) % 500)),
            "fingerprint" => id(25),
            _ => None,
        }
    }

    fn integer(&self, column: &str, Row { session, number }: Row) -> Option<i64> {
        let of = |salt: u64, many: u64| (mix(session ^ (number << 40), salt) % many) as i64;
        Some(match column {
            "seq" | "last_seq" | "line" => 10 + number as i64 * 17 + of(40, 9),
            // Durations spread over four powers of ten.
            "duration_ms" => of(41, 100) * 10_i64.pow(of(42, 4) as u32),
            "input_tokens" => 2000 + of(43, 60_000),
            "cached_input_tokens" => of(44, 30_000),
            "output_tokens" => 50 + of(45, 3000),
            "tables_version" => i64::from(tables::TABLES_VERSION),
            "threads" => 1 + i64::from(of(46, 5) == 0),
            "turns" if number == 0 => 2,
            "inference_calls" | "tool_calls" => 3,
            "failures" => i64::from(session.is_multiple_of(3)),
            "findings" => i64::from(session.is_multiple_of(10)),
            "edges" => i64::from(session.is_multiple_of(4)),
            "errors" => 0,
            "exit_code" => i64::from(of(47, 8) == 0),
            "source_bytes" => 20_000 + of(48, 1_000_000),
            "http_status" | "signal" => return None,
            _ => i64::from(of(49, 12) == 0),
        })
    }

    fn column(&self, table: &str, column: Column, rows: &[Row]) -> ArrayRef {
        let name = column.name;
        let micros = |row: &Row| {
            let start = i64::from(self.day(row.session)) * DAY_MICROS;
            start + (mix(row.session, 50) % DAY_MICROS as u64) as i64 + row.number as i64 * 1_000_000
        };
        match column.kind {
            Kind::Text => Arc::new(rows.iter().map(|row| self.text(table, name, *row)).collect::<StringArray>()),
            Kind::Integer => Arc::new(rows.iter().map(|row| self.integer(name, *row)).collect::<Int64Array>()),
            Kind::Real => Arc::new(rows.iter().map(|_| None::<f64>).collect::<Float64Array>()),
            Kind::Truth => Arc::new(rows.iter().map(|_| Some(true)).collect::<BooleanArray>()),
            Kind::Day => Arc::new(rows.iter().map(|row| Some(self.day(row.session))).collect::<Date32Array>()),
            Kind::Time => {
                let times = rows.iter().map(|row| Some(micros(row))).collect::<TimestampMicrosecondArray>();
                Arc::new(times.with_timezone("UTC"))
            }
            Kind::Integers => {
                let field = Field::new("element", DataType::Int64, true);
                let mut lists = ListBuilder::new(Int64Builder::new()).with_field(field);
                for row in rows {
                    lists.append_value((0..32).map(|place| Some((mix(row.session % 5000, 60 + place) >> 33) as i64)));
                }
                Arc::new(lists.finish())
            }
        }
    }

    /// Makes the rows of sessions.
    fn batch(&self, first: u64, count: u64) -> anyhow::Result<Option<Encoded>> {
        let mut all = Vec::new();
        for table in tables::ALL.iter() {
            let rows_of = |session: u64| match table.name() {
                "turns" => 2,
                "inference_calls" | "tool_calls" => 3,
                "failures" => u64::from(session.is_multiple_of(3)),
                "findings" => u64::from(session.is_multiple_of(10)),
                "edges" => u64::from(session.is_multiple_of(4)),
                "diagnostics" => u64::from(session.is_multiple_of(20)),
                _ => 1,
            };
            let rows: Vec<Row> = (first..first + count)
                .flat_map(|session| (0..rows_of(session)).map(move |number| Row { session, number }))
                .collect();
            let columns = table.columns().into_iter().map(|column| self.column(table.name(), column, &rows)).collect();
            all.push((table.name(), vec![RecordBatch::try_new(tables::schema(*table), columns)?]));
        }
        Ok(encode(all, Order::Any)?)
    }
}

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1)?.parse::<u64>().ok()
    };
    let (Some(url), Some(sessions)) = (arguments.first(), arguments.get(1).and_then(|text| text.parse::<u64>().ok()))
    else {
        anyhow::bail!("simulate LAKE SESSIONS [--batch SESSIONS] [--days DAYS] [--first SESSION] [--log-only]")
    };
    let first = option("--first").unwrap_or(0);
    let days = if first > 0 { 1 } else { option("--days").unwrap_or(365) };
    let batch = option("--batch").unwrap_or(20_000).max(1);
    let is_log_only = arguments.iter().any(|argument| argument == "--log-only");
    let scale = Scale { sessions: first + sessions, days, first };
    let started = Instant::now();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let lake = runtime.block_on(Lake::open_or_create(Store::open(url, &[])?))?;
    let mut snapshot = runtime.block_on(lake.snapshot())?;
    let firsts: Vec<u64> = (scale.first..scale.sessions).step_by(batch as usize).collect();
    for together in firsts.chunks(AT_ONCE as usize) {
        let made: Vec<Option<Encoded>> = together
            .par_iter()
            .map(|first| scale.batch(*first, batch.min(scale.sessions - first)))
            .collect::<anyhow::Result<_>>()?;
        let made: Vec<Encoded> = made.into_iter().flatten().collect();
        if !is_log_only {
            for encoded in &made {
                runtime.block_on(lake.write_files(encoded))?;
            }
        }
        let add = made.into_iter().map(|encoded| encoded.batch).collect();
        match runtime.block_on(lake.append(&snapshot, Action::Ingest, add, Vec::new()))? {
            Appended::Done(newer) => snapshot = newer,
            Appended::Behind => anyhow::bail!("another writer is at work"),
        }
    }
    runtime.block_on(lake.project(&snapshot))?;
    let seconds = started.elapsed().as_secs_f64();
    writeln!(std::io::stdout(), "{sessions} sessions in {seconds:.1} s; the lake has {}", snapshot.sessions())?;
    Ok(())
}
