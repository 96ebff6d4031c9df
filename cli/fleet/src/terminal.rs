//! Standard output and standard error, which only the program writes to.

use std::io::{self, Write};

use tracing_subscriber::filter::LevelFilter;

/// Prints a line to standard error.
pub(crate) fn say(line: &str) {
    // A closed standard error leaves nobody to tell.
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Prints a text to standard output. A closed pipe is no error: the reader has seen enough.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    ignore_closed(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Turns the error of a closed pipe into success.
pub(crate) fn ignore_closed(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Starts to show what the libraries have to say.
pub(crate) fn start_logging(verbose: u8) {
    let level = match verbose {
        0 => LevelFilter::ERROR,
        1 => LevelFilter::INFO,
        _ => LevelFilter::DEBUG,
    };
    let _ = tracing_subscriber::fmt().with_max_level(level).with_writer(io::stderr).without_time().try_init();
}

/// Returns a number with a space between thousands.
pub(crate) fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

/// Returns a number of bytes in a unit that people read.
pub(crate) fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut size = bytes as f64;
    let mut unit = 0;
    while size >= 1024.0 && unit + 1 < UNITS.len() {
        size /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes} B") } else { format!("{size:.1} {}", UNITS[unit]) }
}
