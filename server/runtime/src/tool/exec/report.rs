//! The output of command tools for the model.

use std::fmt::Write;
use std::time::Duration;

use uuid::Uuid;

use super::output::{BYTES_PER_TOKEN, HeadAndTail};

/// Default number of tokens of output for a model.
pub const DEFAULT_OUTPUT_TOKENS: usize = 10_000;

/// Most tokens of output for a model.
pub const MAX_OUTPUT_TOKENS: usize = 25_000;

/// How much output is kept between two reports: as much as a model may request, from either end.
pub(super) fn unread() -> HeadAndTail {
    HeadAndTail::new(MAX_OUTPUT_TOKENS * BYTES_PER_TOKEN, MAX_OUTPUT_TOKENS * BYTES_PER_TOKEN)
}

/// Progress of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress<'a> {
    /// The command still runs. The model can continue it by this id.
    Running(&'a str),
    /// The command exited with this code.
    Exited(i32),
}

/// Returns the report for tools that can continue a command.
pub(super) fn chunk(output: &HeadAndTail, tokens: Option<usize>, wall: Duration, progress: Progress<'_>) -> String {
    let id = Uuid::now_v7().simple().to_string();
    let mut text = format!("Chunk ID: {}\nWall time: {:.4} seconds\n", &id[id.len() - 6..], wall.as_secs_f64());
    let _ = match progress {
        Progress::Running(session) => writeln!(text, "Process running with session ID {session}"),
        Progress::Exited(code) => writeln!(text, "Process exited with code {code}"),
    };
    let _ = write!(text, "Original token count: {}\nOutput:\n", output.total_tokens());
    text.push_str(&bounded(output, tokens));
    text
}

/// Returns the report for tools that wait for the end of a command.
pub(super) fn whole(
    output: &HeadAndTail,
    tokens: Option<usize>,
    wall: Duration,
    code: i32,
    timeout: Option<Duration>,
) -> String {
    let mut text = format!("Exit code: {code}\nWall time: {:.1} seconds\n", wall.as_secs_f64());
    if let Some(timeout) = timeout {
        let _ = writeln!(text, "The command was stopped: it ran longer than {} ms", timeout.as_millis());
    }
    text.push_str("Output:\n");
    text.push_str(&bounded(output, tokens));
    text
}

fn bounded(output: &HeadAndTail, tokens: Option<usize>) -> String {
    let limit = tokens.unwrap_or(DEFAULT_OUTPUT_TOKENS).min(MAX_OUTPUT_TOKENS).saturating_mul(BYTES_PER_TOKEN);
    let excerpt = output.within(limit);
    match excerpt.left_out {
        0 => format!("{}{}", excerpt.head, excerpt.tail),
        left_out => format!(
            "[{} lines, {} tokens; the middle is cut out]\n{}\n[... {} tokens left out ...]\n{}",
            output.total_lines(),
            output.total_tokens(),
            excerpt.head,
            left_out.div_ceil(BYTES_PER_TOKEN as u64),
            excerpt.tail
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(text: &str) -> HeadAndTail {
        let mut kept = unread();
        kept.push(text);
        kept
    }

    /// Removes what differs from run to run.
    fn settled(report: &str) -> String {
        let (id, rest) = report.strip_prefix("Chunk ID: ").expect("the prefix").split_once('\n').expect("two parts");
        assert!(id.len() == 6 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
        rest.to_owned()
    }

    #[test]
    fn reports_say_how_far_a_command_is() {
        let wall = Duration::from_micros(300_700);
        let running = chunk(&kept("a\n"), None, wall, Progress::Running("58102"));
        assert_eq!(
            settled(&running),
            "Wall time: 0.3007 seconds\nProcess running with session ID 58102\nOriginal token count: 1\nOutput:\na\n"
        );
        let ended = chunk(&kept(""), None, wall, Progress::Exited(3));
        assert_eq!(
            settled(&ended),
            "Wall time: 0.3007 seconds\nProcess exited with code 3\nOriginal token count: 0\nOutput:\n"
        );
        let stopped = whole(&kept("x"), None, wall, 143, Some(Duration::from_millis(300)));
        assert_eq!(
            stopped,
            "Exit code: 143\nWall time: 0.3 seconds\nThe command was stopped: it ran longer than 300 ms\nOutput:\nx"
        );
    }

    #[test]
    fn long_output_is_cut_in_the_middle_to_the_tokens_asked_for() {
        let text = format!("first\n{}last\n", "0123456\n".repeat(20_000));
        let tokens = text.len().div_ceil(4);
        let report = bounded(&kept(&text), Some(10));
        let left_out = (text.len() - 40).div_ceil(4);
        let expected = format!(
            "[20002 lines, {tokens} tokens; the middle is cut out]\nfirst\n0123456\n012345\n[... {left_out} tokens left out ...]\n\n0123456\n01234"
        );
        assert!(report.starts_with(&expected[..60]) && report.ends_with("0123456\nlast\n"), "{report}");
        assert!(report.contains(&format!("\n[... {left_out} tokens left out ...]\n")), "{report}");
        for (asked, kept_tokens) in [(None, DEFAULT_OUTPUT_TOKENS), (Some(usize::MAX), MAX_OUTPUT_TOKENS)] {
            let length = bounded(&kept(&text), asked).len();
            assert!(length > kept_tokens * 4 && length < kept_tokens * 4 + 200, "{length}");
        }
    }
}
