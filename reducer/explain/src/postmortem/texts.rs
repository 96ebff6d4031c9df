//! Texts that distinguish failures where the structure does not. Each source of texts has its own table.
//!
//! The texts are those of the agents and change between their versions, so the structure is always considered first.

use serde_json::Value;

use super::cause::{Cause, Place};
use super::verdict::{Category, Confidence};

/// Classification of a failed request to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ProviderFailure {
    pub(super) category: Category,
    pub(super) http_status: Option<u16>,
    pub(super) confidence: Confidence,
}

impl ProviderFailure {
    /// Returns the cause of a request that failed with this text.
    pub(super) fn cause(&self, place: Place, text: &str) -> Cause {
        let Self { category, http_status, confidence } = *self;
        Cause { http_status, confidence, ..Cause::new(category, place, text) }
    }
}

/// Beginning of the error text of an incomplete response, whether it was cut off or reports the failure itself.
const DISCONNECTED: &str = "stream disconnected before completion: ";

/// Texts after [`DISCONNECTED`] that mean that the stream was cut off.
const CUT: [&str; 8] = [
    "stream closed before response.completed",
    "idle timeout",
    "transport error",
    "error decoding response body",
    "network error",
    "connection closed",
    "connection reset",
    "error sending request",
];

/// Parts of error texts of requests, in lower case. The first match counts.
const REQUEST_ERRORS: [(&str, Category); 26] = [
    ("ran out of room in the model's context window", Category::ContextOverflow),
    ("context_length_exceeded", Category::ContextOverflow),
    ("context window", Category::ContextOverflow),
    ("maximum context length", Category::ContextOverflow),
    ("rate limit", Category::RateLimited),
    ("rate_limit", Category::RateLimited),
    ("too many requests", Category::RateLimited),
    ("usage limit", Category::RateLimited),
    ("quota exceeded", Category::RateLimited),
    ("insufficient_quota", Category::RateLimited),
    ("unauthorized", Category::AuthError),
    ("invalid api key", Category::AuthError),
    ("incorrect api key", Category::AuthError),
    ("authentication", Category::AuthError),
    ("incomplete response returned", Category::ModelError),
    ("invalid prompt", Category::ModelError),
    ("high demand", Category::ProviderError),
    ("unexpected status", Category::ProviderError),
    ("exceeded retry limit", Category::ProviderError),
    ("server error", Category::ProviderError),
    ("overloaded", Category::ProviderError),
    ("connection failed", Category::ProviderError),
    ("error sending request", Category::ProviderError),
    ("bad gateway", Category::ProviderError),
    ("the answer broke off", Category::StreamInterrupted),
    ("the provider was silent", Category::StreamInterrupted),
];

/// Names of `codex_error_info` with their categories. The name `other` has no meaning.
const ERROR_INFOS: [(&str, Category); 14] = [
    ("context_window_exceeded", Category::ContextOverflow),
    ("rate_limit_exceeded", Category::RateLimited),
    ("usage_limit_exceeded", Category::RateLimited),
    ("unauthorized", Category::AuthError),
    ("internal_server_error", Category::ProviderError),
    ("server_overloaded", Category::ProviderError),
    ("model_not_found", Category::ProviderError),
    ("bad_request", Category::ProviderError),
    ("http_connection_failed", Category::ProviderError),
    ("response_too_many_failed_attempts", Category::ProviderError),
    ("response_stream_connection_failed", Category::ProviderError),
    ("response_stream_disconnected", Category::StreamInterrupted),
    ("invalid_prompt", Category::ModelError),
    ("cyber_policy", Category::ModelError),
];

/// Beginnings of the errors that a tool call returns instead of an output, in lower case.
const TOOL_ERRORS: [(&str, Category); 11] = [
    ("unsupported call:", Category::ToolUnknown),
    ("unsupported custom tool call:", Category::ToolUnknown),
    ("unknown tool", Category::ToolUnknown),
    ("failed to parse function arguments", Category::ToolBadArguments),
    ("invalid arguments", Category::ToolBadArguments),
    ("apply_patch verification failed", Category::PatchFailed),
    // Claude Code.
    ("no such tool available:", Category::ToolUnknown),
    ("inputvalidationerror:", Category::ToolBadArguments),
    // Gemini CLI.
    ("params must have ", Category::ToolBadArguments),
    // opencode.
    ("the arguments provided to the tool are invalid: model tried to call unavailable tool", Category::ToolUnknown),
    ("model tried to call unavailable tool", Category::ToolUnknown),
];

/// What Claude Code puts before the errors of its own, in lower case.
const BEFORE_ERRORS: [&str; 2] = ["<tool_use_error>", "error: "];

/// What stands around the name in the first line of an error about a tool that does not exist, as Gemini CLI and others have it:
/// `Tool "x" not found.`
const NOT_FOUND: (&str, &str) = ("tool \"", "\" not found");

/// Part of the first line of an error of opencode about arguments.
const INVALID_ARGUMENTS: &str = " tool was called with invalid arguments: ";

/// Parts of errors that mean that the user, or a rule of the user, did not allow a call.
const DECLINED: [&str; 7] = [
    "reject command",
    "rejected by user",
    "user rejected",
    "declined by user",
    "user declined",
    "user cancelled mcp tool call",
    "approval denied",
];

/// Parts of errors and outputs that mean that a tool exceeded a time limit.
const TIMED_OUT: [&str; 4] = ["timed out", "timeout expired", "deadline exceeded", "time limit exceeded"];

/// How far a failed request got. The id of the response shows whether a response had begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// The provider refused the request or could not be reached.
    Refused,
    /// The response had begun.
    Begun,
}

/// Classifies the error of a request by the protocol's error information and by its text.
pub(super) fn request_failure(error: &str, info: Option<&Value>, reach: Reach) -> ProviderFailure {
    let (name, info_status) = info.map_or((None, None), read_error_info);
    let http_status = info_status.or_else(|| status_in(error));
    let by_status = http_status.and_then(category_of_status);
    let by_info = name.and_then(|name| look_up(&ERROR_INFOS, |known| known == name));
    let by_text = category_of_text(error);
    // A request that was refused with status 400 or 413 and an error text about the context was too large. With the
    // status of a server error, the same text proves nothing.
    let (category, confidence) = match (by_status, by_info, by_text) {
        (_, _, Some(Category::ContextOverflow)) if http_status.is_none_or(|status| matches!(status, 400 | 413)) => {
            (Category::ContextOverflow, Confidence::High)
        }
        (Some(category), ..) => (category, Confidence::High),
        (None, Some(category), _) => (category, Confidence::High),
        (None, None, Some(category)) => (category, Confidence::Medium),
        (None, None, None) if error.is_empty() => (Category::Unknown, Confidence::Low),
        // Unknown text: a provider error if the request was refused, a model error if the response had begun.
        (None, None, None) => match reach {
            Reach::Refused => (Category::ProviderError, Confidence::Low),
            Reach::Begun => (Category::ModelError, Confidence::Low),
        },
    };
    ProviderFailure { category, http_status, confidence }
}

/// Returns the name and the HTTP status of a `codex_error_info`, which is a string or an object with one member.
fn read_error_info(info: &Value) -> (Option<&str>, Option<u16>) {
    match info {
        Value::String(name) => (Some(name), None),
        Value::Object(members) => match members.iter().next() {
            Some((name, value)) => {
                let status = value.get("http_status_code").and_then(Value::as_u64);
                (Some(name), status.and_then(|status| u16::try_from(status).ok()))
            }
            None => (None, None),
        },
        _ => (None, None),
    }
}

fn category_of_status(status: u16) -> Option<Category> {
    Some(match status {
        401 | 403 => Category::AuthError,
        429 => Category::RateLimited,
        400..=599 => Category::ProviderError,
        _ => return None,
    })
}

fn category_of_text(error: &str) -> Option<Category> {
    if let Some(rest) = error.strip_prefix(DISCONNECTED) {
        let rest = rest.to_lowercase();
        let is_cut = rest.is_empty() || CUT.iter().any(|known| rest.contains(known));
        return Some(if is_cut { Category::StreamInterrupted } else { Category::ModelError });
    }
    let error = error.to_lowercase();
    look_up(&REQUEST_ERRORS, |known| error.contains(known))
}

/// Finds an HTTP status in a text: a number from 400 to 599 after the word `status` or `http`, or after the words `API Error`
/// with which Claude Code begins.
fn status_in(error: &str) -> Option<u16> {
    let mut words = error.split(|character: char| !character.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut is_announced = false;
    let mut last = "";
    words.find_map(|word| {
        let status = word.parse().ok().filter(|status| is_announced && (400..600).contains(status));
        is_announced = word.eq_ignore_ascii_case("status")
            || word.eq_ignore_ascii_case("http")
            || (word.eq_ignore_ascii_case("error") && last.eq_ignore_ascii_case("api"));
        last = word;
        status
    })
}

/// Classifies the error of a tool call by its text; `None` if the text is not known.
pub(super) fn tool_failure(error: &str) -> Option<Category> {
    let error = error.to_lowercase();
    let own = BEFORE_ERRORS.iter().fold(&*error, |text, before| text.strip_prefix(before).unwrap_or(text));
    if let Some(category) = look_up(&TOOL_ERRORS, |known| own.starts_with(known)) {
        return Some(category);
    }
    // The lines after the first may quote the input of the call.
    let first_line = own.lines().next().unwrap_or_default();
    let named = first_line.strip_prefix(NOT_FOUND.0).and_then(|rest| rest.split_once(NOT_FOUND.1));
    if named.is_some_and(|(name, _)| !name.is_empty()) {
        return Some(Category::ToolUnknown);
    }
    if first_line.contains(INVALID_ARGUMENTS) {
        return Some(Category::ToolBadArguments);
    }
    if DECLINED.iter().any(|known| first_line.contains(known)) {
        return Some(Category::ToolDeclined);
    }
    says_timed_out(&error).then_some(Category::ToolTimeout)
}

/// In the text that a model gets about a terminal: the label of the exit code, and the line after which the output
/// begins.
const TERMINAL_TEXTS: (&str, &str) = ("Process exited with code ", "Output:");

/// How the text that a model gets about a terminal begins.
const TERMINAL_BEGINNINGS: [&str; 2] = ["Chunk ID: ", "Wall time: "];

/// Returns the exit code from the text that a model gets about a terminal. It is above the output.
pub(crate) fn exit_code_in(told: &str) -> Option<i64> {
    let (exited, output) = TERMINAL_TEXTS;
    // The output of a program does not begin with these texts.
    if !TERMINAL_BEGINNINGS.iter().any(|known| told.starts_with(known)) {
        return None;
    }
    let head = told.lines().take_while(|line| *line != output);
    head.filter_map(|line| line.strip_prefix(exited)).find_map(|code| code.trim().parse().ok())
}

/// Returns the output of a terminal from the text that a model gets about it.
pub(super) fn terminal_text(told: &str) -> &str {
    let (exited, output) = TERMINAL_TEXTS;
    match told.split_once(&format!("\n{output}\n")) {
        Some((head, text)) if head.lines().any(|line| line.starts_with(exited)) => text,
        _ => told,
    }
}

/// Text before the message of an MCP server that returned a protocol error.
const MCP_ANSWER: &str = "mcp error: -";

/// Classifies the error of an MCP call by its text; `None` if the text is not known. Texts by the server itself are not
/// interpreted.
pub(super) fn mcp_failure(error: &str) -> Option<Category> {
    let error = error.to_lowercase();
    if error.contains(MCP_ANSWER) {
        return Some(Category::McpError);
    }
    if DECLINED.iter().any(|known| error.contains(known)) {
        return Some(Category::ToolDeclined);
    }
    says_timed_out(&error).then_some(Category::ToolTimeout)
}

/// Words that may stand before a command.
const BEFORE_COMMANDS: [&str; 8] = ["sudo", "env", "exec", "command", "time", "nice", "nohup", "then"];

/// Returns whether a command runs something with a time limit: the word `timeout` is in the place of a command.
pub(super) fn runs_with_limit(command: &[Box<str>]) -> bool {
    let is_limit = |word: &str| word.rsplit('/').next() == Some("timeout") || word == "gtimeout";
    if command.first().is_some_and(|program| is_limit(program)) {
        return true;
    }
    let script = command.last().map_or("", |last| last);
    let parts = script.split([';', '&', '|', '\n', '(', '{']);
    parts.into_iter().any(|part| {
        let is_before = |word: &&str| BEFORE_COMMANDS.contains(word) || word.starts_with('-') || is_assignment(word);
        part.split_whitespace().find(|word| !is_before(word)).is_some_and(is_limit)
    })
}

/// Returns whether a word sets a variable for the command after it.
fn is_assignment(word: &str) -> bool {
    let is_name = |name: &str| name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_');
    word.split_once('=').is_some_and(|(name, _)| !name.is_empty() && is_name(name))
}

/// Returns whether a text, in lower case, reports a time limit.
pub(super) fn says_timed_out(text: &str) -> bool {
    TIMED_OUT.iter().any(|known| text.contains(known))
}

fn look_up<const N: usize>(table: &[(&str, Category); N], fits: impl Fn(&str) -> bool) -> Option<Category> {
    table.iter().find(|(known, _)| fits(known)).map(|(_, category)| *category)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(error: &str) -> (Category, Option<u16>) {
        let failure = request_failure(error, None, Reach::Begun);
        (failure.category, failure.http_status)
    }

    #[test]
    fn errors_of_tools_are_told_apart_in_the_words_of_each_agent() {
        for (text, category) in [
            ("<tool_use_error>Error: No such tool available: Frobnicate</tool_use_error>", Some(Category::ToolUnknown)),
            ("<tool_use_error>Error: Tool \"frobnicate\" not found", Some(Category::ToolUnknown)),
            ("<tool_use_error>InputValidationError: Bash failed", Some(Category::ToolBadArguments)),
            ("Tool \"frobnicate\" not found. Did you mean one of: x", Some(Category::ToolUnknown)),
            ("params must have required property 'command'", Some(Category::ToolBadArguments)),
            ("The bash tool was called with invalid arguments: [", Some(Category::ToolBadArguments)),
            ("Model tried to call unavailable tool 'frobnicate'", Some(Category::ToolUnknown)),
            ("tool output not found", None),
            ("tool x not found", None),
            ("grep: Tool \"x\" not found", None),
            ("ok\nTool \"x\" not found", None),
        ] {
            assert_eq!(tool_failure(text), category, "{text}");
        }
    }

    #[test]
    fn errors_of_requests_are_told_apart_by_their_texts() {
        assert_eq!(
            of("We’re currently experiencing high demand, which may cause temporary errors."),
            (Category::ProviderError, None)
        );
        assert_eq!(
            of("unexpected status 503 Service Unavailable: overloaded, url: http://x/v1"),
            (Category::ProviderError, Some(503))
        );
        assert_eq!(of("exceeded retry limit, last status: 429 Too Many Requests"), (Category::RateLimited, Some(429)));
        assert_eq!(of("API Error: 529 {\"type\":\"error\"}"), (Category::ProviderError, Some(529)));
        assert_eq!(of("API Error: Connection error. 500 times"), (Category::ModelError, None));
        assert_eq!(of("rate limit exceeded: try again in 50ms."), (Category::RateLimited, None));
        assert_eq!(of("http 401 Unauthorized: Some(\"{}\")"), (Category::AuthError, Some(401)));
        assert_eq!(of("unexpected status 403 Forbidden: no"), (Category::AuthError, Some(403)));
        assert_eq!(
            of("Codex ran out of room in the model's context window. Start a new thread"),
            (Category::ContextOverflow, None)
        );
        assert_eq!(
            of("stream disconnected before completion: stream closed before response.completed"),
            (Category::StreamInterrupted, None)
        );
        assert_eq!(
            of("stream disconnected before completion: An error occurred while processing your request."),
            (Category::ModelError, None)
        );
        assert_eq!(of("Incomplete response returned, reason: max_output_tokens"), (Category::ModelError, None));
        assert_eq!(of("what"), (Category::ModelError, None));
        assert_eq!(request_failure("what", None, Reach::Refused).category, Category::ProviderError);
        assert_eq!(of(""), (Category::Unknown, None));
    }

    #[test]
    fn numbers_in_a_model_s_own_words_are_no_status() {
        assert_eq!(of("stream disconnected before completion: the 500 files could not be read").1, None);
    }

    #[test]
    fn what_the_protocol_says_comes_before_texts() {
        let info = json!({"http_connection_failed": {"http_status_code": 502}});
        let failure = request_failure("rate limit", Some(&info), Reach::Refused);
        assert_eq!((failure.category, failure.http_status), (Category::ProviderError, Some(502)));
        let of = |info: &str| request_failure("no", Some(&json!(info)), Reach::Begun).category;
        assert_eq!(of("context_window_exceeded"), Category::ContextOverflow);
        assert_eq!(of("other"), Category::ModelError);
    }

    #[test]
    fn errors_of_tools_are_told_apart_by_their_texts() {
        assert_eq!(tool_failure("unsupported call: nope"), Some(Category::ToolUnknown));
        assert_eq!(tool_failure("failed to parse function arguments: missing"), Some(Category::ToolBadArguments));
        assert_eq!(tool_failure("apply_patch verification failed: no such file"), Some(Category::PatchFailed));
        assert_eq!(
            tool_failure("exec_command failed: CreateProcess { message: \"Rejected(\\\"rejected by user\\\")\" }"),
            Some(Category::ToolDeclined)
        );
        assert_eq!(tool_failure("timed out awaiting tools/call after 1000ms"), Some(Category::ToolTimeout));
        assert_eq!(tool_failure("exit 3"), None);
        let never = "approval policy is Never; reject command: you cannot ask for escalated permissions";
        assert_eq!(tool_failure(never), Some(Category::ToolDeclined));
    }

    #[test]
    fn what_an_error_quotes_is_not_what_it_says() {
        let quoting =
            "apply_patch verification failed: Failed to find expected lines in f.txt:\nthe call was rejected by user";
        assert_eq!(tool_failure(quoting), Some(Category::PatchFailed));
        assert_eq!(tool_failure("it went wrong:\nrejected by user"), None);
        let server =
            "tool call failed for `calc/add`\n\nCaused by:\n    Mcp error: -32000: the user rejected it, timed out";
        assert_eq!(mcp_failure(server), Some(Category::McpError));
        assert_eq!(mcp_failure("user rejected MCP tool call"), Some(Category::ToolDeclined));
        assert_eq!(mcp_failure("timed out awaiting tools/call after 1s"), Some(Category::ToolTimeout));
        let overloaded = "unexpected status 503 Service Unavailable: the context window service is overloaded";
        assert_eq!(of(overloaded), (Category::ProviderError, Some(503)));
        let too_long = "unexpected status 400 Bad Request: context_length_exceeded";
        assert_eq!(of(too_long), (Category::ContextOverflow, Some(400)));
    }

    #[test]
    fn terminals_tell_exit_codes_above_their_output() {
        let told = "Chunk ID: d2b4bc\nWall time: 0.0 seconds\nProcess exited with code 3\nOutput:\nno\n";
        assert_eq!((exit_code_in(told), terminal_text(told)), (Some(3), "no\n"));
        assert_eq!(exit_code_in("Process exited with code 3\n"), None);
        let running =
            "Wall time: 0.0 seconds\nProcess running with session ID 7\nOutput:\nProcess exited with code 3\n";
        assert_eq!((exit_code_in(running), terminal_text(running)), (None, running));
    }

    #[test]
    fn a_time_limit_is_a_command_and_not_a_word() {
        let runs = |script: &str| runs_with_limit(&["/bin/bash".into(), "-lc".into(), script.into()]);
        for script in
            ["timeout 5 make", "cd x && timeout 5 make", "A=1 timeout 5 make", "sudo /usr/bin/timeout -k 1 5 make"]
        {
            assert!(runs(script), "{script}");
        }
        for script in ["grep -c timeout /etc/hosts; exit 124", "echo timeout", "run --timeout 5"] {
            assert!(!runs(script), "{script}");
        }
        assert!(runs_with_limit(&["timeout".into(), "5".into(), "make".into()]));
    }
}
