//! The report of a search of repositories, for users and models.

use trace_text::Usage;

/// Most findings in one report.
const MAX_TOLD: usize = 16;

/// The report of a search of repositories.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    aside: Vec<String>,
    failed: Vec<String>,
    unsearched: Vec<String>,
    unknown: Vec<String>,
}

/// Escapes a text for a terminal, because commands choose the names of files.
fn safe(text: &str) -> String {
    trace_text::line(text, Usage::Command).into_owned()
}

impl Report {
    /// Returns whether there are no findings.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of findings.
    pub(super) fn len(&self) -> usize {
        self.aside.len() + self.failed.len() + self.unsearched.len() + self.unknown.len()
    }

    /// Records that something was renamed or could not be.
    pub(super) fn took(&mut self, what: &str, done: Result<String, String>) {
        match done {
            Ok(done) => self.aside.push(safe(&format!("{what}; {done}"))),
            Err(error) => self.failed.push(safe(&format!("{what}; {error}"))),
        }
    }

    /// Records folders whose former content is not known.
    pub(super) fn unknown(&mut self, what: &str) {
        self.unknown.push(safe(what));
    }

    /// Records a folder that could not be searched.
    pub(super) fn could_not_search(&mut self, what: &str) {
        self.unsearched.push(safe(what));
    }

    pub(super) fn extend(&mut self, other: Self) {
        self.aside.extend(other.aside);
        self.failed.extend(other.failed);
        self.unsearched.extend(other.unsearched);
        self.unknown.extend(other.unknown);
    }

    /// Returns the report as lines of text, grouped by kind of finding under a heading line.
    #[must_use]
    pub fn in_words(&self) -> String {
        self.lines().join("\n")
    }

    /// Returns the report as one line, for logs.
    #[must_use]
    pub fn in_one_line(&self) -> String {
        self.lines().join(" | ")
    }

    fn lines(&self) -> Vec<String> {
        let parts = [
            (
                "Everything that would run programs when Git is used here was put aside after the command. The user can inspect it and rename it back.",
                &self.aside,
            ),
            (
                "Some of what would run programs when Git is used here could not be put aside: do not use Git there.",
                &self.failed,
            ),
            (
                "Not all folders could be searched for repositories: do not use Git in folders that the command made there.",
                &self.unsearched,
            ),
            (
                "The state of repositories before a command is not known: do not use Git there before you have checked what is new in `.git`.",
                &self.unknown,
            ),
        ];
        let mut lines = Vec::new();
        for (headline, findings) in parts.iter().filter(|(_, findings)| !findings.is_empty()) {
            lines.push((*headline).to_owned());
            lines.extend(findings.iter().take(MAX_TOLD).cloned());
            if findings.len() > MAX_TOLD {
                lines.push(format!("and {} more", findings.len() - MAX_TOLD));
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_says_put_aside_only_of_what_was() {
        let mut report = Report::default();
        assert!(report.is_empty() && report.in_words().is_empty());
        report.could_not_search("/w: it cannot be listed");
        let words = report.in_words();
        assert!(words.ends_with("made there.\n/w: it cannot be listed") && !words.contains("put aside"), "{words}");
        report.took("/w/.git: x", Err("no".to_owned()));
        assert!(report.in_words().contains("could not be put aside: do not use Git there.\n/w/.git: x; no\n"));
        (0..MAX_TOLD + 2).for_each(|number| report.took(&number.to_string(), Ok("done".to_owned())));
        let words = report.in_words();
        assert!(words.contains("was put aside") && words.contains("15; done\nand 2 more\n"), "{words}");
        assert_eq!(report.in_one_line().lines().count(), 1);
    }

    #[test]
    fn names_of_folders_do_nothing_on_a_terminal() {
        let name = "/w/\u{1b}]0;x\u{7}\r\n\u{202e}/ä";
        let mut report = Report::default();
        report.took(&format!("{name}: x"), Ok("done".to_owned()));
        report.took(&format!("{name}: x"), Err(name.to_owned()));
        report.could_not_search(name);
        report.unknown(name);
        let words = report.in_words();
        assert!(words.contains("/ä: x; done") && words.contains("\\u{1b}]0;x\\u{7}"), "{words}");
        assert!(!words.chars().any(|char| char.is_control() && char != '\n' || char == '\u{202e}'), "{words:?}");
        assert_eq!(words.lines().count(), 8, "{words}");
    }
}
