//! Limits the stored output of commands.

/// Most bytes of a command's output that a rollout stores.
pub const MAX_OUTPUT_BYTES: usize = 10_000;

/// Returns an output shortened to [`MAX_OUTPUT_BYTES`]: its beginning, a note about what is left out, and its end.
/// Returns `None` if the output is short enough.
pub(crate) fn capped(output: &str) -> Option<String> {
    if output.len() <= MAX_OUTPUT_BYTES {
        return None;
    }
    let (mut head, mut tail) = (MAX_OUTPUT_BYTES / 2 - 50, output.len() - (MAX_OUTPUT_BYTES / 2 - 50));
    while !output.is_char_boundary(head) {
        head -= 1;
    }
    while !output.is_char_boundary(tail) {
        tail += 1;
    }
    Some(format!("{}\n[... {} bytes left out ...]\n{}", &output[..head], tail - head, &output[tail..]))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that fails says where")]
mod tests {
    use super::*;

    #[test]
    fn a_short_output_stays() {
        assert_eq!(capped(&"x".repeat(MAX_OUTPUT_BYTES)), None);
    }

    #[test]
    fn a_long_output_keeps_both_ends() {
        for piece in ["x", "é", "🦀"] {
            let output = format!("first{}last", piece.repeat(MAX_OUTPUT_BYTES));
            let cut = capped(&output).unwrap();
            assert!(cut.len() <= MAX_OUTPUT_BYTES, "{}", cut.len());
            assert!(cut.starts_with("first") && cut.ends_with("last"));
            let said: usize = cut.split("[... ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
            let kept = cut.len() - format!("\n[... {said} bytes left out ...]\n").len();
            assert_eq!(said + kept, output.len());
        }
    }
}
