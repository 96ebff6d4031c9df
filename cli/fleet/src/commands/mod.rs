//! The subcommands, one per file, and what they share.

pub(crate) mod cluster;
pub(crate) mod compact;
pub(crate) mod fsck;
pub(crate) mod ingest;
pub(crate) mod push;
pub(crate) mod query;
pub(crate) mod read;
pub(crate) mod show;
pub(crate) mod status;
pub(crate) mod tables;
pub(crate) mod vacuum;
pub(crate) mod view;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use tokio::runtime::Runtime;
use trace_fleet::Store;
use trace_fleet::lake::{Lake, LakeError};
use trace_fleet::store::url_of;

use crate::failure::Failure;

/// Where the lake is.
#[derive(Debug, Args)]
pub(crate) struct LakeArg {
    /// The lake: a path or a URL
    #[arg(long, value_name = "URL", env = "TRACE_LAKE", hide_env_values = true)]
    pub(crate) lake: String,
}

/// Beginnings of the names of variables that configure stores.
const VARIABLES: [&str; 4] = ["AWS_", "AZURE_", "GOOGLE_", "TRACE_STORE_"];

/// How often it is looked whether the user interrupted the program.
const STOP_CHECK: Duration = Duration::from_millis(100);

/// Returns the options of stores from the environment, with the names that `object_store` gives them.
pub(crate) fn store_options() -> Vec<(String, String)> {
    options_of(std::env::vars())
}

/// Returns the options that variables set. An empty variable is one that is not set: files that start containers pass on
/// variables that way.
fn options_of(variables: impl Iterator<Item = (String, String)>) -> Vec<(String, String)> {
    let is_option =
        |(name, value): &(String, String)| !value.is_empty() && VARIABLES.iter().any(|start| name.starts_with(start));
    let variables = variables.filter(is_option);
    let name = |name: String| name.strip_prefix("TRACE_STORE_").unwrap_or(&name).to_ascii_lowercase();
    variables.map(|(variable, value)| (name(variable), value)).collect()
}

/// Starts the threads for requests and questions.
pub(crate) fn runtime() -> Result<Runtime, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.map_err(|error| Failure::data(anyhow::Error::from(error).context("no threads can be started")))
}

/// Opens the lake of the command line.
pub(crate) fn open_lake(argument: &LakeArg, runtime: &Runtime) -> Result<Lake, Failure> {
    runtime.block_on(open_lake_at(&argument.lake))
}

/// Opens the lake at a path or a URL. Where there is none, nothing is made, not even a folder.
pub(crate) async fn open_lake_at(text: &str) -> Result<Lake, Failure> {
    let url = url_of(text)?;
    if url.scheme() == "file" && url.to_file_path().is_ok_and(|path| !path.exists()) {
        return Err(LakeError::NoLake { url: url.to_string() }.into());
    }
    Ok(Lake::open(Store::open(text, &store_options())?).await?)
}

/// Returns a flag that Ctrl-C and a termination set. A second Ctrl-C ends the program at once.
pub(crate) fn stop_flag() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let handler = move || {
        if flag.swap(true, Ordering::Relaxed) {
            // What is committed is whole, so there is nothing to clean up.
            std::process::abort();
        }
    };
    ctrlc::set_handler(handler).map_err(Failure::data)?;
    Ok(stop)
}

/// Waits until the user interrupts the program.
pub(crate) async fn stopped(stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        tokio::time::sleep(STOP_CHECK).await;
    }
}

/// Parses a day, a time, or an age such as `7d` or `12h`, into milliseconds since the Unix epoch.
pub(crate) fn parse_since(text: &str) -> Result<i64, String> {
    const FORMS: &str =
        "expected a day such as 2026-11-22, a time such as 2026-11-22T08:00:00Z, or an age such as 7d or 12h";
    if let Ok(at) = text.parse::<jiff::Timestamp>() {
        return Ok(at.as_millisecond());
    }
    if let Ok(day) = text.parse::<jiff::civil::Date>() {
        let day = day.to_zoned(jiff::tz::TimeZone::UTC).map_err(|_| FORMS)?;
        return Ok(day.timestamp().as_millisecond());
    }
    let age = parse_age(text).ok_or(FORMS)?;
    Ok(jiff::Timestamp::now().as_millisecond().saturating_sub(age))
}

/// Parses an age such as `30m`, `12h` or `7d` into milliseconds.
pub(crate) fn parse_age(text: &str) -> Option<i64> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let unit_ms: i64 = match unit {
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        "w" => 7 * 86_400_000,
        _ => return None,
    };
    number.parse::<u32>().ok().and_then(|number| unit_ms.checked_mul(number.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_ages() {
        assert_eq!(parse_since("1970-01-02"), Ok(86_400_000));
        assert_eq!(parse_since("1970-01-01T00:00:01Z"), Ok(1000));
        assert_eq!(parse_age("90m"), Some(5_400_000));
        for text in ["", "7", "7y", "m", "yesterday", "-1d", "9999999999d"] {
            parse_since(text).expect_err(text);
        }
    }

    #[test]
    fn empty_variables_are_no_options() {
        let variables =
            [("AWS_REGION", "x"), ("AWS_ENDPOINT", ""), ("TRACE_STORE_AWS_ALLOW_HTTP", "true"), ("HOME", "/")];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let expected = [("aws_region", "x"), ("aws_allow_http", "true")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(options_of(variables.into_iter()), expected);
    }
}
