//! The challenge of a server that wants a token: the header `WWW-Authenticate`.

/// What a challenge says about the login.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Challenge {
    /// Address of the metadata of the protected resource.
    pub(super) resource_metadata: Option<String>,
    /// Scopes that are needed, as the server writes them.
    pub(super) scope: Option<String>,
    /// The code of an error, such as `insufficient_scope`.
    pub(super) error: Option<String>,
}

/// Most bytes of a header that are read.
const MAX_HEADER_BYTES: usize = 8 * 1024;

/// Reads the parameters of the first `Bearer` challenge. Whatever is not valid is left out.
pub(super) fn read(headers: &[&str]) -> Challenge {
    let bearer = headers.iter().filter(|header| header.len() <= MAX_HEADER_BYTES).find_map(|header| bearer(header));
    let parameters = bearer.map(parameters).unwrap_or_default();
    let find = |wanted: &str| {
        let found = parameters.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted));
        found.map(|(_, value)| value.clone()).filter(|value| !value.is_empty())
    };
    Challenge { resource_metadata: find("resource_metadata"), scope: find("scope"), error: find("error") }
}

/// Returns what follows the scheme `Bearer`. The word must stand outside of quotes.
fn bearer(header: &str) -> Option<&str> {
    const SCHEME: &str = "bearer";
    let (mut is_quoted, mut is_escaped, mut is_start) = (false, false, true);
    for (at, letter) in header.char_indices() {
        if !is_quoted && is_start && header.get(at..at + SCHEME.len()).is_some_and(|it| it.eq_ignore_ascii_case(SCHEME))
        {
            let rest = &header[at + SCHEME.len()..];
            if rest.is_empty() || rest.starts_with([' ', '\t', ',']) {
                return Some(rest);
            }
        }
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            _ => {}
        }
        is_start = !is_quoted && (letter == ',' || letter.is_ascii_whitespace());
    }
    None
}

/// Reads `name=value` and `name="value"`, separated by commas, until something else comes.
fn parameters(mut rest: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        let Some((name, after)) = rest.split_once('=') else { return found };
        let name = name.trim();
        if name.is_empty() || name.contains(|letter: char| letter.is_whitespace() || letter == '"' || letter == ',') {
            return found;
        }
        let after = after.trim_start();
        let (value, left) = match after.strip_prefix('"') {
            Some(quoted) => match unquoted(quoted) {
                Some(read) => read,
                None => return found,
            },
            None => {
                let end = after.find([',', ' ', '\t']).unwrap_or(after.len());
                (after[..end].to_owned(), &after[end..])
            }
        };
        found.push((name.to_owned(), value));
        rest = left;
    }
}

/// Returns the value of a quoted text and what follows it.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => value.push(letters.next()?.1),
            other => value.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn challenges_of_all_forms_are_read() {
        let full = r#"Bearer realm="a, \"Bearer scope=x\"", resource_metadata="https://a/.well-known/x", scope="read write", error="invalid_token""#;
        let url = Some("https://a/.well-known/x".to_owned());
        let (scope, error) = (Some("read write".to_owned()), Some("invalid_token".to_owned()));
        assert_eq!(read(&[full]), Challenge { resource_metadata: url, scope, error });
        for (header, scope) in [
            ("bearer scope=read", Some("read")),
            (r#"Basic realm="Bearer scope=no", Bearer scope="yes""#, Some("yes")),
            ("Bearer", None),
            ("Bearer scope", None),
            (r#"Bearer scope="open"#, None),
            (r#"Bearer scope="""#, None),
            ("Bearerscope=read", None),
            ("Basic x", None),
            ("", None),
        ] {
            assert_eq!(read(&[header]).scope.as_deref(), scope, "{header}");
        }
        assert_eq!(read(&["Basic x", "Bearer scope=b"]).scope.as_deref(), Some("b"));
        assert_eq!(read(&[&format!("Bearer scope=\"{}\"", "x".repeat(MAX_HEADER_BYTES))]), Challenge::default());
    }

    proptest! {
        #[test]
        fn any_header_is_read_without_a_panic(header in "(Bearer )?[a-zé=\", \\\\]{0,40}") {
            read(&[&header]);
        }
    }
}
