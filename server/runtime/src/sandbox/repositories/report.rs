//! What a look at repositories gave, for people and models.

/// Most findings that are told after one command.
const MAX_TOLD: usize = 16;

/// What a look at repositories gave.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    aside: Vec<String>,
    failed: Vec<String>,
    unsearched: Vec<String>,
}

impl Report {
    /// Tells whether there is nothing to tell.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.aside.is_empty() && self.failed.is_empty() && self.unsearched.is_empty()
    }

    /// Takes note of what was put aside, or could not be.
    pub(super) fn took(&mut self, what: &str, done: Result<String, String>) {
        match done {
            Ok(done) => self.aside.push(format!("{what}; {done}")),
            Err(error) => self.failed.push(format!("{what}; {error}")),
        }
    }

    /// Takes note of a folder that could not be searched.
    pub(super) fn could_not_search(&mut self, what: String) {
        self.unsearched.push(what);
    }

    pub(super) fn extend(&mut self, other: Self) {
        self.aside.extend(other.aside);
        self.failed.extend(other.failed);
        self.unsearched.extend(other.unsearched);
    }

    /// Returns the report as lines of text, each kind of finding behind a line that says what it is.
    #[must_use]
    pub fn in_words(&self) -> String {
        self.lines().join("\n")
    }

    /// Returns the same as one line, for logs.
    #[must_use]
    pub fn in_one_line(&self) -> String {
        self.lines().join(" | ")
    }

    fn lines(&self) -> Vec<String> {
        let parts = [
            (
                "What would run programs for whoever uses Git here was put aside after the command. The user can look at it and rename it back.",
                &self.aside,
            ),
            (
                "What would run programs for whoever uses Git here could not be put aside: do not use Git there.",
                &self.failed,
            ),
            (
                "Repositories could not be looked for everywhere: do not use Git in folders that the command made there.",
                &self.unsearched,
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
        report.could_not_search("/w: it cannot be listed".to_owned());
        let words = report.in_words();
        assert!(words.ends_with("made there.\n/w: it cannot be listed") && !words.contains("put aside"), "{words}");
        report.took("/w/.git: x", Err("no".to_owned()));
        assert!(report.in_words().contains("could not be put aside: do not use Git there.\n/w/.git: x; no\n"));
        (0..MAX_TOLD + 2).for_each(|number| report.took(&number.to_string(), Ok("done".to_owned())));
        let words = report.in_words();
        assert!(words.contains("was put aside") && words.contains("15; done\nand 2 more\n"), "{words}");
        assert_eq!(report.in_one_line().lines().count(), 1);
    }
}
