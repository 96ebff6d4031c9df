//! Distinguishes the literal value of an assignment from other texts in its place, where the value may be any word.
//!
//! A value that looks like words is a secret only where nothing else can be meant: in an environment file, and as a string
//! under the name of a password. What plainly is no value is let go: references, placeholders, names, paths, code, prose.

use super::kind::Kind;
use super::names::{API_KEY, PASSWORD, SECRET, sensitive_name, words};
use super::phrases::is_spoken;
use super::plausible::{Form, MAX_VALUE_BYTES, is_digest, is_placeholder, is_plausible, is_wordlike};
use super::random::{distinct, is_generated, is_human, is_memorable, is_worded, words_percent};

/// Shortest value of an environment variable, whatever its letters.
const MIN_LITERAL_VALUE_BYTES: usize = 6;

/// Shortest value made of words between quotes or on a line of its own.
const MIN_SPELT_OUT_BYTES: usize = 8;

/// Words that are written in place of a value.
const NO_VALUES: &str = "\
    undefined unknown default disabled enabled required optional string number boolean object integer secret \
    password passwd passphrase credential credentials apikey hidden masked removed unset notset nothing missing \
    private public supersecretvalue somevalue some-value foobar foobarbaz varchar secretstr bytes buffer bearer \
    include inherit generic docker-registry opaque str text value token optional[str] lorem ipsum";

/// Words that say something about a password, as messages and rules of validation do.
const ABOUT_VALUES: &str = "\
    incorrect encrypted plaintext protected confirmed validation mismatch forbidden sensitive accepted rejected \
    verified unchanged generated provided supported unsupported together instead argument arguments parameter \
    parameters prompted prompting interactive interactively environment keychain keyring changeit nullable textfield \
    textinput function identifier unauthorized successful successfully anonymous authenticate authentication \
    authorization characters complexity different dictionary external internal expired invalid contains matching \
    obfuscated ciphertext undefined username keyword literal variable constant property attribute \
    parameterized";

/// Words that sentences have and passphrases do not.
const PROSE: &str = "\
    a an the is are was were be been has have had must should can cannot may will would not no to for of and or if \
    in on at by with from as this that it its you your my our we i please enter least required invalid wrong \
    incorrect password passwords passphrase token secret key field login confirm optional new old current reset \
    forgot change than too do does did use used using see when where which value string de la le el der die das und \
    et y";

/// Parts of a name that make it one of a message or an action.
const ACTIONS: &str = "\
    invalid wrong forgot forgotten reset change missing expired incorrect empty weak no bad require requires \
    required show hide confirm update enter toggle has is use error err validate create revoke label verify \
    unexpected";

/// What expressions begin with.
const ROOTS: &str = "\
    process os self this config settings env secrets vars args options opts import system deno bun ctx context \
    request req props state data var local module params user app inputs steps needs github values credentials auth \
    cfg conf";

/// Ends of the names of files.
const EXTENSIONS: &str = "\
    .pem .key .crt .cer .p12 .pfx .jks .json .yaml .yml .toml .txt .env .pub .gpg .asc .kdbx .conf .ini .sh .py .js \
    .ts .rs .go";

fn is_among(list: &str, word: &str) -> bool {
    list.split(' ').any(|listed| listed == word)
}

/// Returns whether a value that is assigned to the name of a secret is one.
pub(crate) fn is_secret(value: &str, name: &str, form: Form, kind: &Kind) -> bool {
    if value.len() > MAX_VALUE_BYTES || value.starts_with("-----") || value.ends_with(":::") {
        return false;
    }
    if form != Form::Bare
        && is_generated(value)
        && !stands_in(value)
        && !value.contains("://")
        && !is_digest(value)
        && !is_rooted_path(&value.to_lowercase())
        && !is_call(value)
        && !is_rule(&value.to_lowercase())
        && !is_character_class(value)
    {
        return !is_uuid_of_another(name, value);
    }
    // Under the name of a password, only a password is written like this.
    let is_chosen =
        matches!(kind.as_str(), "password" | "secret" | "credential") || name.to_ascii_lowercase().contains("secret");
    if is_chosen
        && (is_worded(value) || is_human(value) || is_memorable(value))
        && !names_an_action(name)
        && !stands_in(value)
    {
        return true;
    }
    if is_of_words(value, name, form, kind) {
        return true;
    }
    let lower = value.to_lowercase();
    let marks = ['$', '@', '#', '%', '&', '*', '!', '\\', '"', '\''];
    let is_code = || is_expression(value) && value.trim_matches(marks).split(['(', ')', '[', ']']).all(is_wordlike);
    let is_stand_in = || is_placeholder(value.trim_matches(['\\', '"', '\'']));
    if is_stand_in() || is_rule(&lower) || is_rooted_path(&lower) || is_code() {
        return false;
    }
    if is_plausible(value, form, kind) {
        // Code that passes on a value uses the name of the value.
        return form != Form::Bare || !names_a_secret(value);
    }
    match form {
        Form::Environment => is_literal(value, name) && !(is_wordlike(value) && names_an_action(name)),
        Form::Quoted => is_spelt_out(value, name, kind),
        Form::Line => !value.contains(['_', '.', ',']) && !has_hump(value) && is_spelt_out(value, name, kind),
        Form::Bare => false,
    }
}

/// Returns whether a value is a password of ordinary words under a name that can only be one of a password.
fn is_of_words(value: &str, name: &str, form: Form, kind: &Kind) -> bool {
    // Code without quotes, such as paths of names and subtractions of variables, has other punctuation or spaces.
    let is_capitalized = || value.split('.').all(|word| word.starts_with(|c: char| c.is_ascii_uppercase()));
    let is_written_so = form != Form::Bare
        || (value.contains('.') && is_capitalized())
        || !value.contains(['_', '.', '+', '*', '%', '^', '!', '=', '#', '~', ',']);
    is_written_so
        && is_spoken(value)
        && (*kind == PASSWORD || is_made_up(name))
        && !names_an_action(name)
        && !stands_in(value)
}

/// Subjects of secrets that people make up, unlike those that a service issues.
const MADE_UP: &[&str] = &["jwt", "session", "cookie", "hmac", "signing", "nextauth", "auth", "csrf", "encryption"];

/// Returns whether a name is one of a secret that somebody makes up.
fn is_made_up(name: &str) -> bool {
    let words = words(name);
    words.last().is_some_and(|last| matches!(last.as_str(), "secret" | "salt" | "pepper"))
        && words.iter().any(|word| MADE_UP.contains(&word.as_str()))
}

/// Returns whether a name asks for the identifier of something rather than for a secret.
fn is_uuid_of_another(name: &str, value: &str) -> bool {
    let is_identifier = words(name).last().is_some_and(|word| matches!(word.as_str(), "id" | "uuid" | "guid"))
        && sensitive_name(name).is_none();
    is_identifier && value.len() == 36 && value.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

/// Returns whether a value is a reference, a placeholder or code that is where a secret is to be filled in.
pub(crate) fn stands_in(value: &str) -> bool {
    let value = value.trim_matches(['\\', '"', '\'', ',', ';']);
    let wrapped = [
        ("${", "}"),
        ("$(", ")"),
        ("{{", "}}"),
        ("<%", "%>"),
        ("#{", "}"),
        ("<", ">"),
        ("%(", ")s"),
        ("%", "%"),
        ("$((", "))"),
    ]
    .iter()
    .any(|(open, close)| value.starts_with(open) && (value.ends_with(close) || open.len() > 1));
    // Markers of keys and certificates, and records of files of users, whose other fields are empty.
    if value.starts_with("-----") || value.ends_with(":::") {
        return true;
    }
    if value.is_empty() || wrapped || value.starts_with("[redacted:") {
        return true;
    }
    if is_generated(value) {
        // A random value can contain the text of a placeholder by chance.
        let lower = value.to_ascii_lowercase();
        return lower.contains("xxxx")
            || lower.contains("example")
            || lower.contains("your")
            || lower.contains("redacted")
            || lower.contains("****")
            || lower.contains("changeme")
            || lower.contains("placeholder")
            || lower.contains("abcdefgh");
    }
    is_placeholder(value)
        || (is_expression(value) && value.split(['(', ')', '[', ']', '"', '\'']).all(is_wordlike))
        || is_among(NO_VALUES, &value.to_lowercase())
}

/// Returns whether a value is none of the texts that are clearly no secrets.
fn is_literal(value: &str, name: &str) -> bool {
    let lower = value.to_lowercase();
    value.len() >= MIN_LITERAL_VALUE_BYTES
        && value.trim() == value
        && !value.contains(char::is_control)
        && distinct(value) >= 3
        && !is_among(NO_VALUES, &lower)
        && !is_placeholder(value)
        && !is_digest(value)
        && !is_expression(value)
        && !is_file(&lower)
        && !repeats_name(value, name)
        && !is_task(value)
        && !is_prose(&lower)
}

/// Returns whether a value is the name of something that is done to a secret: `password-reset`, `rotate_token`.
fn is_task(value: &str) -> bool {
    const DONE: &[&str] = &["rotate", "check", "refresh", "renew", "rotation", "policy", "service", "handler"];
    value.contains(['-', '_'])
        && value.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'-' | b'_'))
        && names_a_secret(value)
        && words(value).iter().any(|part| is_among(ACTIONS, part) || DONE.contains(&part.as_str()))
}

/// Returns whether a value of words is one that a password may have, and no label, name or rule.
fn is_spelt_out(value: &str, name: &str, kind: &Kind) -> bool {
    let parts = words(name);
    let is_password = *kind == PASSWORD;
    // A value under the bare name `secret` is often the name of a secret.
    let is_telling = is_password || ((*kind == SECRET || *kind == API_KEY) && parts.len() > 1);
    if !is_telling || value.len() < MIN_SPELT_OUT_BYTES || !is_literal(value, name) {
        return false;
    }
    let lower = value.to_lowercase();
    let is_about = is_among(ABOUT_VALUES, &lower)
        || names_an_action(name)
        || value.contains(['(', ')', '{', '}', '|', '<', '>', '\\'])
        || value.ends_with([':', '?', ',', ';'])
        || value.starts_with(['.', '#', '@', '?', ',', ';', ':', '-', '+']);
    if is_about || names_a_secret(value) || is_label(value) {
        return false;
    }
    // Labels in other scripts.
    if value.chars().all(|c| c.is_alphabetic() && !c.is_ascii()) {
        return false;
    }
    let has_mark = |c: char| !c.is_alphabetic() && !c.is_whitespace();
    let spaced = value.split_whitespace().count();
    if spaced > 1 {
        return is_password && (spaced > 2 || value.trim_end_matches(['.', '!', '…']).contains(has_mark));
    }
    let joined = value.split(['-', '_', '.', '/', ':']).count();
    let letters = value.chars().filter(|c| c.is_alphabetic()).count();
    let is_constant = !value.chars().any(char::is_lowercase);
    let is_plain = joined == 1 && (is_password || !(has_hump(value) || is_constant));
    letters > 3 && (is_plain || joined > 3 || !is_wordlike(value))
}

/// Returns whether a name is one of a message or an action.
fn names_an_action(name: &str) -> bool {
    words(name).iter().any(|part| is_among(ACTIONS, part))
}

/// Returns whether a value is written in the words of its own name, or is another name of a secret.
fn repeats_name(value: &str, name: &str) -> bool {
    let plain = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase();
    let (value_plain, name_plain) = (plain(value), plain(name));
    name_plain.ends_with(&value_plain)
        || (words(value).len() > 1 && is_wordlike(value) && sensitive_name(value).is_some())
}

/// Returns whether a value of several words has one of those for secrets.
fn names_a_secret(value: &str) -> bool {
    const WORDS: &[&str] = &[
        "password",
        "passwd",
        "pass",
        "pwd",
        "secret",
        "secrets",
        "token",
        "key",
        "credential",
        "credentials",
        "auth",
    ];
    let words = words(value);
    words.len() > 1 && words.iter().any(|word| WORDS.contains(&word.as_str()))
}

/// Returns whether a value is code or refers to what is elsewhere.
fn is_expression(value: &str) -> bool {
    let is_name_byte = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':' | b'-');
    let is_name = |text: &str| !text.is_empty() && text.as_bytes().iter().all(is_name_byte);
    if value.contains("://")
        || value.contains("::")
        || value.contains("->")
        || value.contains("=>")
        || value.contains("||")
    {
        return true;
    }
    if let Some(rest) = value.strip_prefix(['$', '{', '<', '(', '[', '%', '@', '#', '&', '*', '!', '`', '+', ',']) {
        let rest = rest.trim_start_matches(['{', '(', '<', '%', ' ', '\'', '"']);
        let rest = rest.trim_end_matches(['}', ')', '>', ']', '%', ' ', '+', ',', ';', '\'', '"']);
        if rest.is_empty() || (is_name(rest) && is_wordlike(rest)) {
            return true;
        }
    }
    // A call or an index, which may have been cut at its end.
    let name = value.bytes().take_while(is_name_byte).count();
    let rest = &value[name..];
    let is_code_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"_.,'\"()[]{}/- $&".contains(&byte);
    if name > 0
        && rest.starts_with(['(', '['])
        && rest.bytes().all(is_code_byte)
        && (rest.ends_with([')', ']', ';']) || !rest.contains([')', ']']))
    {
        return true;
    }
    let lower = value.to_ascii_lowercase();
    if lower.starts_with("arn:")
        || lower.starts_with("vault:")
        || lower.starts_with("env:")
        || lower.starts_with("ref:")
    {
        return true;
    }
    let is_path_of_names = is_name(value) && value.contains('.') && is_wordlike(value);
    is_path_of_names
        && value.split('.').enumerate().any(|(at, part)| {
            (at == 0 && is_among(ROOTS, &part.to_ascii_lowercase())) || sensitive_name(part).is_some()
        })
}

/// Returns whether a value begins with a name and then calls or indexes it, or follows a path of names.
pub(crate) fn is_call(value: &str) -> bool {
    let name = value
        .bytes()
        .take_while(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':' | b'?' | b'!' | b'&' | b'*' | b'$' | b'@')
        })
        .count();
    let rest = &value[name..];
    let is_name = is_wordlike(value[..name].trim_matches(['$', '&', '*', '@', '!', '?', ':']));
    name >= 3
        && is_name
        && words_percent(&value[..name]) >= 60
        && !(is_generated(value) && has_all_sorts(rest))
        && !rest.contains(['^', '~', '%', '#', '@'])
        && (rest.starts_with(['(', '[', '{', '<']) || rest.starts_with("->"))
}

/// Returns whether a text has digits and letters of both cases, as arguments of calls seldom have.
fn has_all_sorts(text: &str) -> bool {
    let has = |test: fn(&u8) -> bool| text.as_bytes().iter().any(test);
    has(u8::is_ascii_digit) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase) && words_percent(text) < 40
}

/// Returns whether a value has classes of characters as regular expressions have.
pub(crate) fn is_character_class(value: &str) -> bool {
    let has = |parts: &[&str]| parts.iter().any(|part| value.contains(part));
    has(&["\\w", "\\d", "\\s", "\\S", "[a-z", "[A-Z", "[0-9", "(?:"]) || (has(&["[^"]) && has(&["]+", "]*", "]{"]))
}

/// Returns whether a value in lower case is a list of rules that a value has to follow.
pub(crate) fn is_rule(lower: &str) -> bool {
    lower.contains('|') && lower.split('|').any(|rule| is_among(NO_VALUES, rule))
}

/// Returns whether a value in lower case is a path that begins at a place every system has.
pub(crate) fn is_rooted_path(lower: &str) -> bool {
    let drive = lower.as_bytes().get(1..3).is_some_and(|behind| behind == b":\\" || behind == b":/");
    let is_relative = ["./", "../", "~/"].iter().any(|root| lower.starts_with(root));
    let is_rooted = drive || ["/", "\\\\", "$home", "file:"].iter().any(|root| lower.starts_with(root));
    let is_words = || lower.split(['/', '\\', ' ']).all(|part| is_wordlike(part.trim_start_matches('.')));
    let is_plain = || lower.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"./_-~".contains(&byte));
    (is_relative && is_plain()) || (is_rooted && is_words())
}

/// Returns whether a value in lower case is the name of a file.
pub(crate) fn is_file(lower: &str) -> bool {
    EXTENSIONS.split(' ').any(|extension| lower.ends_with(extension))
}

/// Returns whether a value in lower case has the words of a sentence.
fn is_prose(lower: &str) -> bool {
    let mut words = lower.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    lower.contains(char::is_whitespace) && words.any(|word| is_among(PROSE, word))
}

/// Returns whether a value is written like a label: a capital, and then lower-case letters alone.
fn is_label(value: &str) -> bool {
    let mut letters = value.chars();
    let has_capital = letters.next().is_some_and(char::is_uppercase);
    has_capital && letters.all(|c| c.is_lowercase() || c.is_whitespace() || matches!(c, '.' | '…' | '!' | '*'))
}

/// Returns whether a capital comes after a lower-case letter.
fn has_hump(value: &str) -> bool {
    value.as_bytes().windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_in_an_environment_is_a_secret_whatever_its_letters() {
        for value in [
            "correcthorsebatterystaple",
            "hunterTwoDeluxe",
            "postgres",
            "correct horse battery staple",
            "pässwörtchen",
            "Swordfish",
            "blue-horse",
            "123456",
            "p%ssword&more",
            "(open)sesame",
            "first.second",
            "mysecretpassword",
        ] {
            assert!(is_secret(value, "DB_PASSWORD", Form::Environment, &PASSWORD), "{value}");
        }
        for value in [
            "",
            "abc",
            "12345",
            "$VALUE",
            "${VALUE}",
            "{{ value }}",
            "<value>",
            "%VALUE%",
            "changeme",
            "YOUR_PASSWORD",
            "undefined",
            "db_password",
            "DB_PASSWORD",
            "dbPassword",
            "password",
            "other_password",
            "GITHUB_TOKEN",
            "/run/secrets/db",
            "./secret.txt",
            "~/.pgpass",
            "C:\\keys\\db",
            "server.pem",
            "get_password()",
            "read(file",
            "process.env.DB",
            "settings.password",
            "Kind::Password",
            "vault://db/one",
            "{password",
            "xxxxxx",
            "%s%s%s",
            " + value + ",
            "the password of the database",
            "aaaaaa",
        ] {
            assert!(!is_secret(value, "DB_PASSWORD", Form::Environment, &PASSWORD), "{value}");
        }
    }

    #[test]
    fn a_string_under_the_name_of_a_password_is_one_unless_it_is_a_label_or_a_name() {
        for value in
            ["correcthorsebattery", "correct horse battery staple", "swordfish", "correct-horse-battery-staple"]
        {
            assert!(is_secret(value, "password", Form::Quoted, &PASSWORD), "{value}");
        }
        assert!(is_secret("swordfishlagoon", "client_secret", Form::Quoted, &SECRET));
        assert!(!is_secret("swordfishlagoon", "secret", Form::Quoted, &SECRET));
        for value in [
            "Passwort",
            "Mot de passe",
            "required|string",
            "incorrect",
            "userPassword",
            "login.password.label",
            "form-input",
            "Enter it again",
            "varchar(255)",
            "must have 8 characters",
        ] {
            assert!(!is_secret(value, "password", Form::Quoted, &PASSWORD), "{value}");
        }
        assert!(!is_secret("swordfish", "INVALID_PASSWORD", Form::Quoted, &PASSWORD));
        assert!(is_secret("swordfish", "password", Form::Line, &PASSWORD));
        assert!(!is_secret("userInput", "password", Form::Line, &PASSWORD));
    }
}
