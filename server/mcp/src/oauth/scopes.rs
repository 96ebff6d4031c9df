//! What a user is told whose login lacks a scope.

use super::error::description;

/// Most characters of scopes in a command that users are told to run.
const MAX_COMMAND_SCOPE_CHARS: usize = 300;

/// Says that a login lacks scopes, and how to log in with them and those it has. `needed` is the text of the server.
pub(super) fn missing(server: &str, held: &[String], needed: Option<&str>) -> String {
    let needed: Vec<&str> = needed.unwrap_or_default().split_whitespace().collect();
    if needed.is_empty() {
        return format!(
            "the login at the MCP server {server} does not permit this, and the server does not say which scope is missing; log in with more \
             scopes: `trace mcp login {server} --scopes SCOPE,...`"
        );
    }
    let mut all: Vec<&str> = held.iter().map(String::as_str).collect();
    for scope in &needed {
        if !all.contains(scope) {
            all.push(scope);
        }
    }
    let list = all.join(",");
    // The scopes are the server's words, and a command is run as it is told.
    let can_be_told = all.iter().all(|scope| is_plain(scope)) && list.chars().count() <= MAX_COMMAND_SCOPE_CHARS;
    let how = match can_be_told {
        true => format!("`trace mcp login {server} --scopes {list}`"),
        false => format!("`trace mcp login {server} --scopes SCOPE,...`, with these scopes and those it has"),
    };
    let needed = description(&needed.join(" "), &[]);
    format!(
        "the login at the MCP server {server} does not permit this; the server asks for the scope `{needed}`: log in again with {how}"
    )
}

/// Says that a configured token lacks scopes. `needed` is the text of the server.
pub(super) fn missing_of_token(needed: Option<&str>) -> String {
    let needed = match needed.map(str::trim).filter(|needed| !needed.is_empty()) {
        Some(needed) => format!("asks for the scope `{}`", description(needed, &[])),
        None => "does not say which scope is missing".to_owned(),
    };
    format!("the token of the configuration does not permit this; the server {needed}")
}

/// Returns whether a scope can be a word of a command in any shell, and of a list with commas.
fn is_plain(scope: &str) -> bool {
    !scope.starts_with('-') && scope.chars().all(|letter| letter.is_ascii_alphanumeric() || ":/._-+@".contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_asks_for_the_scopes_that_are_there_and_those_that_are_missing() {
        let held = ["read".to_owned(), "https://a/files.read".to_owned()];
        let told = missing("docs", &held, Some("write read"));
        assert!(told.contains("asks for the scope `write read`"), "{told}");
        assert!(told.ends_with("`trace mcp login docs --scopes read,https://a/files.read,write`"), "{told}");
        assert!(missing("docs", &held, Some(" ")).contains("does not say which scope is missing"));
        assert!(missing_of_token(Some("write")).ends_with("asks for the scope `write`"));
        assert!(missing_of_token(None).ends_with("does not say which scope is missing"));
    }

    #[test]
    fn words_of_a_server_are_no_part_of_a_command_of_a_shell() {
        let long = "x".repeat(MAX_COMMAND_SCOPE_CHARS);
        for scope in ["a;reboot", "$(reboot)", "`reboot`", "a,b", "--home=/tmp", "*", "a\u{202e}b", "a'b", &long] {
            let told = missing("docs", &["read".to_owned()], Some(scope));
            assert!(told.contains("`trace mcp login docs --scopes SCOPE,...`"), "{told}");
        }
    }
}
