//! Reads and writes one message per line.

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

/// Most bytes of capacity that the buffer keeps between two lines.
const KEPT_BYTES: usize = 1 << 20;

/// Splits a stream of bytes into lines. Lines that are too long are skipped.
#[derive(Debug)]
pub(super) struct Lines<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    max_bytes: usize,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The line is incomplete.
    Reading,
    /// The line is too long. The rest of it is skipped.
    Skipping,
    /// The line was returned.
    Done,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(input: R, max_bytes: usize) -> Self {
        Self { input: BufReader::with_capacity(64 << 10, input), line: Vec::new(), max_bytes, state: State::Reading }
    }

    /// Returns the next line without its line break, or `None` at the end of the input. The call is cancel-safe.
    pub(super) async fn next(&mut self) -> std::io::Result<Option<&[u8]>> {
        if self.state == State::Done {
            self.start_line();
        }
        loop {
            let piece = self.input.fill_buf().await?;
            if piece.is_empty() {
                let has_text = self.state == State::Reading && !self.line.is_empty();
                self.state = State::Done;
                return Ok(has_text.then_some(&self.line));
            }
            let end = piece.iter().position(|byte| *byte == b'\n');
            let text = &piece[..end.unwrap_or(piece.len())];
            if self.state == State::Reading {
                if self.line.len() + text.len() > self.max_bytes {
                    tracing::warn!(max_bytes = self.max_bytes, "a line was dropped, because it is too long");
                    self.line = Vec::new();
                    self.state = State::Skipping;
                } else {
                    self.line.extend_from_slice(text);
                }
            }
            let taken = text.len() + usize::from(end.is_some());
            self.input.consume(taken);
            if end.is_some() {
                if self.state == State::Reading {
                    self.state = State::Done;
                    return Ok(Some(&self.line));
                }
                self.start_line();
            }
        }
    }

    fn start_line(&mut self) {
        self.line.clear();
        self.line.shrink_to(KEPT_BYTES);
        self.state = State::Reading;
    }
}

/// Appends a message to a buffer as one line.
///
/// JSON that was passed on unchanged may contain line breaks between its tokens, where a space means the same. Strings
/// in JSON contain no line breaks.
pub(super) fn push_line(buffer: &mut Vec<u8>, text: &str) {
    let start = buffer.len();
    buffer.extend_from_slice(text.as_bytes());
    if text.contains(['\n', '\r']) {
        for byte in &mut buffer[start..] {
            if matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    }
    buffer.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines(input: &[u8], max_bytes: usize) -> Vec<String> {
        let mut lines = Lines::new(input, max_bytes);
        let mut found = Vec::new();
        while let Some(line) = lines.next().await.expect("a slice can be read") {
            found.push(String::from_utf8_lossy(line).into_owned());
        }
        assert_eq!(lines.next().await.expect("the end stays"), None);
        found
    }

    #[tokio::test]
    async fn lines_are_read_one_by_one_even_without_a_final_line_break() {
        assert_eq!(lines(b"", 9).await, [""; 0]);
        assert_eq!(lines(b"\n", 9).await, [""]);
        assert_eq!(lines(b"a\nbc\n\nd", 9).await, ["a", "bc", "", "d"]);
        assert_eq!(lines(b"a\r\n", 9).await, ["a\r"], "white space of JSON stays");
    }

    #[tokio::test]
    async fn lines_that_are_too_long_are_skipped() {
        assert_eq!(lines(b"123\n1234\n12\n", 3).await, ["123", "12"]);
        assert_eq!(lines(b"1234", 3).await, [""; 0]);
        let long = [&b"a\n"[..], &vec![b'x'; 300 << 10], b"\nb\n"].concat();
        assert_eq!(lines(&long, 200 << 10).await, ["a", "b"]);
        assert_eq!(lines(&long, 300 << 10).await.len(), 3);
    }

    #[test]
    fn a_message_is_one_line() {
        let mut buffer = Vec::new();
        push_line(&mut buffer, "{}");
        push_line(&mut buffer, "{\"a\":\r\n1}");
        assert_eq!(buffer, b"{}\n{\"a\":  1}\n");
    }
}
