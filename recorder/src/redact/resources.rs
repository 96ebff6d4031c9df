//! Secrets in resources of infrastructure code whose type says that they are secrets, as code and as plans have them:
//! `resource "aws_ssm_parameter" "token" { .. value = "..." -> "..." }`.

use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

use super::found::{Evidence, Found};
use super::literal::is_secret;
use super::names::{SECRET, sensitive_name};
use super::plausible::Form;

/// Longest resource that is looked at.
const MAX_RESOURCE_BYTES: usize = 4000;

/// Parts of the types of resources that are secrets.
const TYPES: &[&str] = &[
    "secret",
    "password",
    "passphrase",
    "credential",
    "token",
    "key_vault",
    "vault_",
    "api_key",
    "access_key",
    "private_key",
    "ssm_parameter",
    "parameter_store",
    "sensitive",
    "user_login",
];

/// Parts of the types of resources that only say how secrets are kept, or who may use them.
const OTHERS: &[&str] =
    &["policy", "rotation", "auth_backend", "mount", "iam_", "access_policy", "role", "_version_id"];

/// Attributes that hold the secret of a resource.
const VALUES: &[&str] = &[
    "value",
    "insecure_value",
    "value_wo",
    "secret_value",
    "secret",
    "secret_string",
    "secret_string_wo",
    "secret_data",
    "secret_data_wo",
    "plaintext",
    "plaintext_value",
    "plain_text",
    "plain_value",
    "payload",
    "content",
    "contents",
    "text",
    "result",
    "bcrypt_hash",
    "data_json",
    "string_value",
    "key",
    "token",
];

/// Attributes whose members are secrets whatever they are called.
const GROUPS: &[&str] = &[
    "data",
    "data_json",
    "secret_string",
    "secrets",
    "string_data",
    "binary_data",
    "secret_map",
    "credentials",
    "value",
];

/// How a resource begins: in code, in a plan, in a Pulumi program.
static RESOURCE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"\b(?:resource|data)[ ]+\\*"(\w{3,80})\\*"[ ]+\\*"([^"\\\n]{1,80})\\*"[ ]*\{"#));

/// An attribute with a string, and the string that a plan puts in its place; or the beginning of a group.
static ATTRIBUTE: LazyLock<Regex> = LazyLock::new(|| {
    let string = r#"\\*"((?:[^"\\\n]|\\.){3,}?)\\*""#;
    pattern(&format!(
        r#"(?m)^[ \t]*(?:[~+-]|-/\+|\+/-)?[ \t]*\\*"?([\w./-]+)\\*"?[ \t]*[=:][ \t]*(?:{string}(?:[ \t]*->[ \t]*{string})?|(?:null|\([a-z ]+\))[ \t]*->[ \t]*{string}|[\w(]*[ \t]*(\{{))"#
    ))
});

/// The string that a plan puts in the place of another, or a member that is with others on a line.
static MEMBER: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"[{,][ ]*\\*"?([\w./-]+)\\*"?[ \t]*[=:][ \t]*\\*"((?:[^"\\\n]|\\.){3,}?)\\*""#));

fn pattern(pattern: &str) -> Regex {
    RegexBuilder::new(pattern).unicode(false).build().expect("the built-in patterns are tested")
}

/// What resources begin with.
pub(crate) const TRIGGERS: &[&str] = &["resource \"", "resource \\\""];

/// Finds the secrets of resources.
pub(crate) fn find(text: &str, found: &mut Vec<Found>) {
    let bytes = text.as_bytes();
    if memchr::memmem::find(bytes, b"resource ").is_none() {
        return;
    }
    for captures in RESOURCE.captures_iter(bytes) {
        let (Some(whole), Some(kind), Some(label)) = (captures.get(0), captures.get(1), captures.get(2)) else {
            continue;
        };
        let (Some(kind), Some(label)) = (text.get(kind.range()), text.get(label.range())) else { continue };
        let has = |parts: &[&str]| parts.iter().any(|part| kind.contains(part));
        if !has(TYPES) || has(OTHERS) {
            continue;
        }
        let body = body(bytes, whole.end());
        // Parameters may be settings as well.
        let is_sure = !kind.contains("parameter")
            || memchr::memmem::find(&bytes[body.clone()], b"SecureString").is_some()
            || memchr::memmem::find(&bytes[body.clone()], b"insecure_value").is_some()
            || sensitive_name(label).is_some();
        if is_sure {
            attributes(text, body, found);
        }
    }
}

/// Returns where a resource goes to its closing bracket.
fn body(bytes: &[u8], from: usize) -> Range<usize> {
    let rest = &bytes[from..bytes.len().min(from + MAX_RESOURCE_BYTES)];
    let mut depth = 1_usize;
    let end = rest.iter().position(|byte| {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    from..from + end.unwrap_or(rest.len())
}

fn attributes(text: &str, body: Range<usize>, found: &mut Vec<Found>) {
    let bytes = &text.as_bytes()[..body.end];
    let mut group_end = body.start;
    let mut push = |value: Range<usize>| {
        if let Some(written) = text.get(value.clone())
            && is_secret(written, "SECRET_VALUE", Form::Environment, &SECRET)
        {
            found.push(Found::new(value, SECRET, Evidence::Context));
        }
    };
    let mut at = body.start;
    while let Some(captures) = ATTRIBUTE.captures_at(bytes, at) {
        let (Some(whole), Some(name)) = (captures.get(0), captures.get(1)) else { break };
        at = whole.end();
        let name = std::str::from_utf8(name.as_bytes()).unwrap_or_default();
        if captures.get(5).is_some() {
            if GROUPS.contains(&name) && whole.end() > group_end {
                let group = self::body(bytes, whole.end());
                group_end = group.end;
                for member in MEMBER.captures_iter(&bytes[whole.end() - 1..group.end]) {
                    if let Some(value) = member.get(2) {
                        push(whole.end() - 1 + value.start()..whole.end() - 1 + value.end());
                    }
                }
            }
            continue;
        }
        if VALUES.contains(&name) || whole.start() < group_end {
            (2..=4).filter_map(|group| captures.get(group)).for_each(|value| push(value.range()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::found::values_found;

    fn values(text: &str) -> Vec<&str> {
        values_found(text, |found| find(text, found))
    }

    #[test]
    fn values_of_secrets_are_found_in_code_and_in_plans() {
        for (text, expected) in [
            (
                "  ~ resource \"aws_ssm_parameter\" \"token\" {\n        id   = \"/notify/token\"\n      ~ insecure_value = \"one-old-value7\" -> \"one-new-value7\"\n    }\n",
                vec!["one-old-value7", "one-new-value7"],
            ),
            (
                "resource \"azurerm_key_vault_secret\" \"db\" {\n  name  = \"db-main\"\n  value = \"meadow-copper-engine\"\n}\n",
                vec!["meadow-copper-engine"],
            ),
            (
                "resource \"kubernetes_secret\" \"x\" {\n  metadata {\n    name = \"basic-auth-7\"\n  }\n  data = {\n    anything = \"P4ssw0rdx\"\n  }\n}\n",
                vec!["P4ssw0rdx"],
            ),
            (
                "resource \"vault_generic_secret\" \"x\" {\n  path = \"secret/a1\"\n  data_json = jsonencode({ one = \"staplehorse\", two = \"horsestaple\" })\n}\n",
                vec!["staplehorse", "horsestaple"],
            ),
            ("resource \"aws_ssm_parameter\" \"level\" {\n  type = \"String\"\n  value = \"info-level\"\n}\n", vec![]),
            ("resource \"aws_secretsmanager_secret_rotation\" \"x\" {\n  value = \"thirty-days\"\n}\n", vec![]),
            (
                "resource \"github_actions_secret\" \"x\" {\n  value = var.token\n  secret_name = \"DEPLOY\"\n}\n",
                vec![],
            ),
        ] {
            assert_eq!(values(text), expected, "{text}");
        }
    }
}
