//! Guesses from the exit code and output of a confined command whether the sandbox refused something.
//!
//! There is no better source: for a program, a refused call is an ordinary error, and programs report errors in their own
//! way. The guess is only used to offer the user another run without the sandbox.

use crate::settings::Network;

/// Messages for refused calls in lower case: from Landlock, the seccomp filter, and read-only mounts of bubblewrap.
const REFUSED: [&str; 3] = ["permission denied", "operation not permitted", "read-only file system"];

/// Messages of programs without network access.
const NO_NETWORK: [&str; 7] = [
    "name resolution",
    "could not resolve",
    "name or service not known",
    "getaddrinfo",
    "network is unreachable",
    "eai_again",
    "dns error",
];

/// Exit codes of shells if a program is missing or not executable. The sandbox does not cause these.
const NO_PROGRAM: [i32; 2] = [126, 127];

/// Returns whether a command that exited with a code probably failed because it was confined.
pub(super) fn is_likely(network: Network, code: i32, output: &str) -> bool {
    if code == 0 || NO_PROGRAM.contains(&code) {
        return false;
    }
    let output = output.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| output.contains(word));
    says(&REFUSED) || network == Network::Closed && says(&NO_NETWORK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_told_from_other_failures() {
        for (code, output, expected) in [
            (1, "touch: cannot touch '/x': Permission denied", true),
            (1, "rm: cannot remove 'x': Read-only file system", true),
            (128, "PermissionError: [Errno 1] Operation not permitted", true),
            (6, "curl: (6) Could not resolve host: example.org", true),
            (0, "Permission denied", false),
            (126, "bash: ./x: Permission denied", false),
            (1, "test failed", false),
            (1, "", false),
        ] {
            assert_eq!(is_likely(Network::Closed, code, output), expected, "{output}");
        }
        assert!(!is_likely(Network::Open, 6, "curl: (6) Could not resolve host: example.org"));
    }
}
