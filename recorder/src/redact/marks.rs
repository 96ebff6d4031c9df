//! Finds out in one search which of the texts that detectors need are in a text: most texts have hardly any of them.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

/// A text that a detector needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Mark {
    Bearer,
    Authorization,
    Basic,
    Cookie,
    Fetch,
    User,
    Program,
    Attached,
    Login,
    Password,
    Closing,
    Block,
    Secret,
    Data,
    Here,
    Json,
    Insert,
    At,
    Slash,
    Structure,
}

/// The texts of each mark, in any case.
const TEXTS: &[(Mark, &[&str])] = &[
    (Mark::Bearer, &["bearer"]),
    (Mark::Authorization, &["authorization"]),
    (Mark::Basic, &["basic"]),
    (Mark::Cookie, &["cookie"]),
    (Mark::Fetch, &["curl", "wget", "http", "xh"]),
    (Mark::User, &["-u", "-a"]),
    (Mark::Program, &["sshpass", "docker", "redis-cli"]),
    (Mark::Attached, &["mysql", "mariadb", "openssl"]),
    (
        Mark::Login,
        &[
            "login",
            "log in",
            "sign in",
            "logged in",
            "credentials",
            "creds ",
            "passphrase",
            "passcode",
            "passwrod",
            "pasword",
            "passowrd",
            "paswword",
            "passwrd",
            "root pw",
            "contraseña",
            "senha",
            "passwort",
            "kennwort",
            "mot de passe",
            "wachtwoord",
            "heslo",
            "parola",
            "salasana",
            "adgangskode",
            "contrasenya",
            "пароль",
            "密码",
            "密碼",
            "パスワード",
            "secret",
            "token",
            "api key",
        ],
    ),
    (Mark::Password, &["password"]),
    (Mark::Closing, &["</"]),
    (Mark::Block, &[": |", ": >", ":\n", ": \n", ": !"]),
    (Mark::Secret, &["ecret"]),
    (Mark::Data, &["data:", "data\n"]),
    (Mark::Here, &["<<"]),
    (Mark::Json, &["\":", "[\""]),
    (Mark::Insert, &["insert"]),
    (Mark::At, &["@"]),
    (Mark::Slash, &[":/", ":\\/"]),
    (
        Mark::Structure,
        &[
            "\"secret\"",
            "\"kty\"",
            "keys",
            "codes\"",
            "passwords\"",
            "shares\"",
            "ookie\"",
            "columns\"",
            "headers\"",
            "rows\"",
            "oauth\"",
            "\"value\"",
            "\"-u\"",
            "\"-p\"",
            "\"--",
        ],
    ),
];

static SEARCH: LazyLock<(AhoCorasick, Vec<Mark>)> = LazyLock::new(|| {
    let texts = TEXTS.iter().flat_map(|(mark, texts)| texts.iter().map(move |text| (*text, *mark)));
    let (texts, marks): (Vec<&str>, Vec<Mark>) = texts.unzip();
    let automaton = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::DFA))
        .build(texts)
        .expect("some dozen short texts");
    (automaton, marks)
});

/// The marks that a text has.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Marks(u32);

impl Marks {
    /// Searches a text for all marks.
    pub(crate) fn of(text: &str) -> Self {
        let (automaton, marks) = &*SEARCH;
        let mut found = Self::default();
        for hit in automaton.find_overlapping_iter(text) {
            found.0 |= 1 << marks[hit.pattern().as_usize()] as u8;
        }
        found
    }

    /// Returns whether the text has a mark.
    pub(crate) fn has(self, mark: Mark) -> bool {
        self.0 & (1 << mark as u8) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_found_in_any_case() {
        let marks = Marks::of("Set-COOKIE: a=b\n</div>");
        assert!(marks.has(Mark::Cookie) && marks.has(Mark::Closing) && !marks.has(Mark::Bearer));
        for (mark, texts) in TEXTS {
            assert!(texts.iter().all(|text| Marks::of(text).has(*mark)), "{mark:?}");
        }
    }
}
