//! Values that plots name: what a project of one language prints and contains, phrasings, numbers and names.
//!
//! `«name»` stands for a value, and the value may name others. `«pass 12»` and `«fail 11 1»` are the outputs of a run of tests with
//! these counts, `«undo skip»` is a change taken back, and `«n-1»` a number. Of several values with one name the seed of
//! the session decides for one, the same one wherever the name stands in the session.

use std::collections::BTreeMap;

use crate::ids::Ids;

const KITS: &str = include_str!("kits.txt");
const PHRASES: &str = include_str!("phrases.txt");

/// Modules that the sessions are about, and what people call them.
const MODULES: [(&str, &str); 12] = [
    ("dates", "date parser"),
    ("mail", "mail queue"),
    ("totals", "sum of the order"),
    ("labels", "list of labels"),
    ("routes", "table of routes"),
    ("stock", "stock report"),
    ("lamps", "count of lamps"),
    ("prices", "price list"),
    ("quota", "quota check"),
    ("merge", "merge of lists"),
    ("tides", "tide table"),
    ("badges", "badge counter"),
];

type Values = BTreeMap<&'static str, Vec<String>>;

/// The values of one session.
#[derive(Debug, Clone)]
pub(super) struct Words {
    kit: Values,
    phrases: Values,
    seed: u64,
    module: (&'static str, &'static str),
    tests: i64,
    value: i64,
    secrets: BTreeMap<&'static str, String>,
}

impl Words {
    pub(super) fn new(kit: &str, seed: u64) -> Self {
        let mut ids = Ids::new(seed);
        let module = MODULES[ids.below(12) as usize];
        let tests = 9 + i64::from(ids.below(40));
        let value = 1_003 + i64::from(ids.below(7_000));
        let secrets = secrets(&mut ids);
        Self {
            kit: kit_named(kit),
            phrases: sections(PHRASES).remove("").unwrap_or_default(),
            seed,
            module,
            tests,
            value,
            secrets,
        }
    }

    /// Returns the exit code of a failed run of tests.
    pub(super) fn failure_code(&self) -> i32 {
        self.expand("«code»").parse().expect("a kit has the exit code of a failed run")
    }

    /// Replaces names by their values, and then escapes.
    pub(super) fn text(&self, text: &str) -> String {
        unescape(&self.expand(text))
    }

    /// Replaces the names in a line. The result has as many lines as the value; a line that is only a name without a
    /// value is left out.
    pub(super) fn lines(&self, line: &str) -> Vec<String> {
        let expanded = self.text(line);
        if expanded.is_empty() && !line.is_empty() {
            Vec::new()
        } else {
            expanded.split('\n').map(str::to_owned).collect()
        }
    }

    fn expand(&self, text: &str) -> String {
        self.expand_with(text, &[])
    }

    fn expand_with(&self, text: &str, counts: &[(&str, i64)]) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('«') {
            let (name, after) = after.split_once('»').unwrap_or_else(|| panic!("a name without an end: {text}"));
            out.push_str(before);
            out.push_str(&self.value_of(name, counts).unwrap_or_else(|| panic!("no value for {name}: {text}")));
            rest = after;
        }
        out.push_str(rest);
        out
    }

    fn value_of(&self, name: &str, counts: &[(&str, i64)]) -> Option<String> {
        if let Some((verb, arguments)) = name.split_once(' ') {
            let numbers: Option<Vec<i64>> =
                arguments.split(' ').map(|argument| self.number(argument, counts)).collect();
            return match (verb, numbers.as_deref()) {
                ("pass", Some(&[p])) => Some(self.expand_with(self.pick(&self.kit, "pass")?, &[("p", p), ("f", 0)])),
                ("fail", Some(&[p, f])) => Some(self.expand_with(self.pick(&self.kit, "fail")?, &[("p", p), ("f", f)])),
                ("dots", Some(&[p])) => Some(".".repeat(usize::try_from(p).ok()?)),
                ("undo", None) => Some(undone(&self.value_of(arguments, counts)?)),
                _ => None,
            };
        }
        if let Some(number) = self.number(name, counts) {
            return Some(number.to_string());
        }
        match name {
            "mod" => Some(self.module.0.to_owned()),
            "Mod" => Some(self.module.0[..1].to_uppercase() + &self.module.0[1..]),
            "noun" => Some(self.module.1.to_owned()),
            "long" => Some("This sentence says nothing of interest to anybody at all. ".repeat(300)),
            _ => match self.secrets.get(name) {
                Some(secret) => Some(secret.clone()),
                None => {
                    let value = self.pick(&self.kit, name).or_else(|| self.pick(&self.phrases, name))?;
                    Some(self.expand_with(value, counts))
                }
            },
        }
    }

    /// Returns the value of a number, of a name of a number, or of a sum or difference of two.
    fn number(&self, text: &str, counts: &[(&str, i64)]) -> Option<i64> {
        if let Some((left, right)) = text.split_once('+') {
            return Some(self.number(left, counts)? + self.number(right, counts)?);
        }
        if let Some((left, right)) = text.split_once('-') {
            return Some(self.number(left, counts)? - self.number(right, counts)?);
        }
        match text {
            "n" => Some(self.tests),
            "value" => Some(self.value),
            _ => counts.iter().find(|(name, _)| *name == text).map(|(_, count)| *count).or_else(|| text.parse().ok()),
        }
    }

    fn pick<'a>(&self, values: &'a Values, name: &str) -> Option<&'a str> {
        let values = values.get(name)?;
        let salt = name.bytes().fold(self.seed, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte)));
        let index = Ids::new(salt).below(u32::try_from(values.len()).ok()?);
        values.get(index as usize).map(String::as_str)
    }
}

/// Returns secrets that look real. They are made here, since a secret in a file of the repository would be found by scanners.
fn secrets(ids: &mut Ids) -> BTreeMap<&'static str, String> {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let mut random = |length: usize, from: usize| -> String {
        (0..length).map(|_| char::from(LETTERS[ids.below(u32::try_from(from).expect("is small")) as usize])).collect()
    };
    BTreeMap::from([
        ("secret_url", format!("postgres://report:{}-{}@db.acme-shop.io/stats", random(6, 62), random(7, 62))),
        ("secret_token", format!("ghp_{}", random(36, 62))),
        ("secret_aws", format!("AKIA{}", random(16, 26))),
        ("secret_aws_key", random(40, 62)),
    ])
}

/// Returns the lines of a change with added and removed lines exchanged.
fn undone(change: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in change.split('\n') {
        match line.split_at_checked(1) {
            Some(("+", rest)) => {
                // What is removed stands before what is added.
                let at = lines.iter().rposition(|line| !line.starts_with('+')).map_or(0, |at| at + 1);
                lines.insert(at, format!("-{rest}"));
            }
            Some(("-", rest)) => lines.push(format!("+{rest}")),
            _ => lines.push(line.to_owned()),
        }
    }
    lines.join("\n")
}

fn kit_named(name: &str) -> Values {
    let mut kits = sections(KITS);
    let kit = kits.remove(name).unwrap_or_else(|| panic!("no kit {name}"));
    match kit.get("like").and_then(|like| like.first()) {
        None => kit,
        Some(like) => {
            let mut whole = kit_named(like);
            whole.extend(kit);
            whole
        }
    }
}

/// Reads values by section. Lines before the first empty line explain the file.
fn sections(text: &'static str) -> BTreeMap<&'static str, Values> {
    let mut sections: BTreeMap<&str, Values> = BTreeMap::new();
    let (mut section, mut key) = ("", "");
    for line in text.split_once("\n\n").expect("a file begins with an explanation").1.lines() {
        let values = sections.entry(section).or_default();
        if let Some(name) = line.strip_prefix("== ") {
            section = name;
        } else if let Some(more) = line.strip_prefix("  ") {
            let value = values.get_mut(key).and_then(|values| values.last_mut()).expect("a line continues a value");
            if !value.is_empty() {
                value.push('\n');
            }
            value.push_str(more);
        } else if let Some((name, value)) = line.split_once(':') {
            key = name;
            values.entry(name).or_default().push(value.strip_prefix(' ').unwrap_or(value).to_owned());
        }
    }
    sections
}

/// Replaces `\n`, `\\` and `\u{...}`. Other backslashes stay.
fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        if let Some(after) = after.strip_prefix('n') {
            out.push('\n');
            rest = after;
        } else if let Some(after) = after.strip_prefix('\\') {
            out.push('\\');
            rest = after;
        } else if let Some((digits, after)) = after.strip_prefix("u{").and_then(|after| after.split_once('}')) {
            out.extend(u32::from_str_radix(digits, 16).ok().and_then(char::from_u32));
            rest = after;
        } else {
            out.push('\\');
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_for_values() {
        let words = Words::new("pytest", 7);
        let n = words.tests;
        assert_eq!(words.text("«n» and «n-1»"), format!("{n} and {}", n - 1));
        assert_eq!(words.lines("«pass 3»")[1], "3 passed in 0.31s");
        assert_eq!(
            words.text("«undo skip»"),
            format!("-@pytest.mark.skip(reason=\"later\")\n def {}():", words.text("«bad»"))
        );
        assert_eq!(words.text(r"a\nb \\n \[ \u{2014}"), "a\nb \\n \\[ \u{2014}");
    }

    #[test]
    fn a_kit_may_be_like_another() {
        let words = Words::new("vitest", 7);
        assert!(words.text("«test»").contains("vitest"), "{}", words.text("«test»"));
        assert_eq!(words.text("«lint»"), "npx eslint .");
    }

    #[test]
    fn what_was_removed_stands_before_what_is_added() {
        assert_eq!(undone(" a\n-b\n+c\n d"), " a\n-c\n+b\n d");
    }
}
