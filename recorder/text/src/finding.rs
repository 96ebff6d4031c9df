//! Describes in words what is odd about a text.

use std::collections::BTreeMap;

use crate::look_alike::{is_right_to_left, look_alike, script_name};
use crate::oddity::Oddity;
use crate::scan::{Usage, scan};

/// Most characters of a kind that are listed.
pub const MAX_NAMED: usize = 5;

/// What is odd about a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// For each kind, the first characters and the total number.
    odd: BTreeMap<Oddity, (Vec<char>, usize)>,
    is_right_to_left: bool,
    /// Number of tabs at the beginning of a line. They are visible as indentation and hide nothing, so they need no
    /// note.
    indents: usize,
}

impl Findings {
    /// Examines a whole text.
    pub fn of(text: &str, usage: Usage) -> Self {
        let mut findings = Self::default();
        let mut is_indent = true;
        for seen in scan(text, usage) {
            is_indent = seen.c == '\n' || is_indent && seen.c == '\t';
            findings.indents += usize::from(is_indent && seen.c == '\t');
            findings.is_right_to_left |= is_right_to_left(seen.c);
            if let Some(oddity) = seen.oddity {
                let (named, count) = findings.odd.entry(oddity).or_default();
                *count += 1;
                if named.len() < MAX_NAMED && !named.contains(&seen.c) {
                    named.push(seen.c);
                }
            }
        }
        findings
    }

    /// Returns the number of characters of a kind.
    pub fn count(&self, oddity: Oddity) -> usize {
        self.odd.get(&oddity).map_or(0, |(_, count)| *count)
    }

    /// Returns a sentence for each kind of odd character. Line feeds get none, since they are shown as lines.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for (oddity, (named, count)) in &self.odd {
            let Some(what) = words(*oddity) else { continue };
            if *oddity == Oddity::Tab && *count == self.indents {
                continue;
            }
            let names: Vec<String> = named.iter().map(|c| name(*c, *oddity)).collect();
            let more = if *count > named.len() { format!(" ({count} in all)") } else { String::new() };
            notes.push(format!("contains {what}: {}{more}", names.join(", ")));
        }
        if self.is_right_to_left {
            let note = "contains text that is written from right to left: its parts may be shown in another order than they have";
            notes.push(note.to_owned());
        }
        notes
    }
}

fn words(oddity: Oddity) -> Option<&'static str> {
    Some(match oddity {
        Oddity::LineFeed | Oddity::Symbol => return None,
        Oddity::Tab => "tabs",
        Oddity::Control => "control characters",
        Oddity::Direction => "characters that change the direction of text",
        Oddity::Invisible => "invisible characters",
        Oddity::Space => "unusual spaces",
        Oddity::LookAlike => "look-alike characters",
        Oddity::Mark => "marks on what has none, or too many of them",
        Oddity::Unassigned => "characters without an agreed picture",
    })
}

fn name(c: char, oddity: Oddity) -> String {
    let code = format!("U+{:04X}", u32::from(c));
    let known = match c {
        '\t' => Some("tab"),
        '\r' => Some("carriage return"),
        '\u{8}' => Some("backspace"),
        '\u{1b}' => Some("escape"),
        '\u{a0}' => Some("no-break space"),
        '\u{ad}' => Some("soft hyphen"),
        '\u{200b}' => Some("zero width space"),
        '\u{200d}' => Some("zero width joiner"),
        '\u{202e}' => Some("right-to-left override"),
        '\u{3000}' => Some("ideographic space"),
        _ => None,
    };
    match (known, oddity) {
        (Some(known), _) => format!("{code} {known}"),
        (None, Oddity::LookAlike) => {
            // The tables map `|`, `I` and `1` to `l`.
            let alike = look_alike(c).map(|alike| if alike == "l" { "l, I, 1 or |".to_owned() } else { alike });
            let alike = alike.map(|alike| format!("looks like {alike}"));
            let what: Vec<String> = script_name(c).map(str::to_owned).into_iter().chain(alike).collect();
            format!("{code} ({})", what.join(", "))
        }
        _ => code,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabs_that_indent_need_no_note() {
        let notes = |text: &str| Findings::of(text, Usage::Command).notes();
        assert_eq!(notes("cat > Makefile <<'E'\nall:\n\techo x\n\t\techo y\nE"), Vec::<String>::new());
        assert_eq!(notes("ls\t\t; rm x"), ["contains tabs: U+0009 tab (2 in all)"]);
        assert_eq!(Findings::of("\ta\tb", Usage::Command).count(Oddity::Tab), 2);
    }
}
