//! Times every named question on a lake in one process: what a question takes without the start of a program. `compare.py` holds it
//! against DuckDB.
//!
//! `cargo run --release --example questions -- LAKE [REPEATS]` prints the name of each question and its shortest time in milliseconds.

use std::io::Write as _;
use std::time::Instant;

use trace_fleet::Store;
use trace_fleet::lake::Lake;
use trace_fleet::query::{Engine, Format, Limits, Question, named, write};

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(url) = arguments.first() else { anyhow::bail!("questions LAKE [REPEATS]") };
    let repeats: usize = arguments.get(1).map_or(Ok(5), |text| text.parse())?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let lake = runtime.block_on(Lake::open(Store::open(url, &[])?))?;
    let snapshot = runtime.block_on(lake.snapshot())?;
    let engine = Engine::new(&lake, &snapshot, None, Limits::default())?;
    let ask = |sql: &str, parameters: Vec<(String, String)>| {
        let question = Question { sql: sql.to_owned(), parameters, condition: None };
        runtime.block_on(engine.ask(&question))
    };
    let mut address = Vec::new();
    write(&ask("SELECT min(address) AS a FROM failures", Vec::new())?, Format::Csv, &mut address)?;
    let address = String::from_utf8(address)?.lines().nth(1).unwrap_or_default().to_owned();
    let mut out = std::io::stdout().lock();
    for named in named::all() {
        let mut best = f64::INFINITY;
        for _ in 0..repeats.max(1) {
            let value = |name: &str| if name == "address" { address.clone() } else { "none".to_owned() };
            let parameters = named.parameters.iter().map(|name| ((*name).to_owned(), value(name))).collect();
            let started = Instant::now();
            let answer = ask(&format!("@{}", named.name), parameters)?;
            write(&answer, Format::Csv, std::io::sink())?;
            best = best.min(started.elapsed().as_secs_f64() * 1000.0);
        }
        writeln!(out, "@{} {best:.3}", named.name)?;
    }
    Ok(())
}
