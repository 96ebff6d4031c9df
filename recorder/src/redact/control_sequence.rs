//! Control sequences of terminals: raw ones, and those that a language or a program has escaped.

/// Returns whether a text ends in a control sequence, real (`ESC [ 32 m`) or escaped (`\x1b[32m`).
pub(super) fn ends_sequence(before: &[u8]) -> bool {
    let [rest @ .., b'A'..=b'Z' | b'a'..=b'z'] = before else { return false };
    let parameters = rest.iter().rev().take(20).take_while(|byte| matches!(byte, b'0'..=b'9' | b';' | b'?')).count();
    let Some(rest) = rest[..rest.len() - parameters].strip_suffix(b"[") else { return false };
    [&b"\x1b"[..], b"u001b", b"x1b", b"u001B", b"x1B", b"033", b"\\e", b"\\E", b"^["]
        .iter()
        .any(|start| rest.ends_with(start))
}
