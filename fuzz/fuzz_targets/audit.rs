//! Sentences, command lines and outputs, as an audit reads them.
//!
//! The input is split at the first zero byte: a command line or nothing, then an answer and an output. The laws: nothing
//! panics, a claim is a part of its answer, and every run has a command of the line.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trace_explain::audit::{claims_in, judge};

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let (script, rest) = text.split_once('\0').unwrap_or(("", &text));
    for claim in claims_in(rest).claims {
        assert_eq!(&rest[claim.range.clone()], claim.text);
    }
    let code = data.first().map(|byte| i64::from(*byte % 3));
    for run in judge(script, rest, code) {
        assert!(!run.command.is_empty());
    }
});
