//! Tells from what a confined command left whether the sandbox stood in its way.
//!
//! Nobody else says it: a refused call is an error like others to the program that made it, and how it puts that is its own
//! affair. So this is a guess, good enough to ask a person and for nothing else.

use crate::settings::Network;

/// What programs say when a call was refused, in lower case: Landlock, the filter, mounts of bubblewrap.
const REFUSED: [&str; 3] = ["permission denied", "operation not permitted", "read-only file system"];

/// What programs say when they find no network.
const NO_NETWORK: [&str; 7] = [
    "name resolution",
    "could not resolve",
    "name or service not known",
    "getaddrinfo",
    "network is unreachable",
    "eai_again",
    "dns error",
];

/// Codes of shells for what is no program, or none that may be run. No sandbox does that.
const NO_PROGRAM: [i32; 2] = [126, 127];

/// Tells whether a command that ended with a code seems to have failed because it was confined.
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
