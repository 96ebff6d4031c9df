//! Plots: scripts of sessions with the findings that they must lead to, as text.
//!
//! A file of plots has sections that begin with `== name`. `family:` says for all that follow what they are planted for.
//! `kits:` names the languages, each of which gives a session, and `times:` the number of sessions of each. Every other line
//! is a step, `[AGENT> ]VERB [NAME]: TEXT`, with lines of its own below it, indented by two spaces:
//!
//! | step | what happens |
//! |---|---|
//! | `user: TEXT` | the user writes to the root agent |
//! | `run r: COMMAND` | a command; below it its output. `\| tail -n 3` at its end takes effect |
//! | `cell r: COMMAND` | the same in a code cell |
//! | `background r: COMMAND`, `poll q: r` | a command in the background, and a look at its end |
//! | `repeat 4 c: COMMAND` | the same call four times; `repeat-mcp` with a tool of an MCP server |
//! | `refuse r: COMMAND` | the user declines a command |
//! | `patch p: FILE`, `add p: FILE` | a patch; below it its lines. `refuse-patch` does not apply, `decline-patch` is declined |
//! | `mcp c: SERVER/TOOL JSON` | a tool of an MCP server; below it its answer |
//! | `think: TEXT`, `say: TEXT` | goes with the next calls; `answer: TEXT` ends the turn |
//! | `spawn a: TASK`, `fork a: TASK`, `follow a: TASK`, `stop a` | children; `wait` and `end-wait` around what they do |
//! | `fail: ERROR` | the turn of the agent fails |
//! | `compact: SUMMARY` | the history of the agent is compacted |
//!
//! Options of a call begin with `!`: `exit N` (`fail` is the code of the language), `shows TEXT` (what the model sees of the
//! output), `varies TEXT` (what differs each time), `between COMMAND` (what stands between the repetitions).
//!
//! `find KIND AGENT: CLAIM` is an expected finding, with `= NAME RELATION` for its evidence, and `may` one that is
//! accepted. A `?` behind the name of an evidence: it may be missing. `claims: supported N` is the smallest number of
//! claims that are supported.

use serde::Serialize;

use super::Family;
use super::truth::Kind;
use super::words::Words;

const FILES: [&str; 3] =
    [include_str!("plots/checks.txt"), include_str!("plots/answers.txt"), include_str!("plots/acts.txt")];

/// A plot, not yet told for any language.
#[derive(Debug, Clone)]
pub(super) struct Plot {
    pub(super) family: Family,
    pub(super) name: &'static str,
    pub(super) kits: Vec<&'static str>,
    pub(super) times: usize,
    lines: Vec<&'static str>,
}

/// A step of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Step {
    /// Name of the agent.
    pub agent: String,
    /// What happens.
    pub verb: String,
    /// Name of the step, or of the agent that it is about.
    pub name: String,
    /// The text behind the colon.
    pub text: String,
    /// The lines below it.
    pub lines: Vec<String>,
    /// Exit code.
    pub exit: i32,
    /// What the model sees of the output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shows: Option<String>,
    /// What differs in the output each time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub varies: Option<String>,
    /// A command between the repetitions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub between: Option<String>,
    /// Number of repetitions.
    pub times: usize,
}

/// An expected finding, by the names of the plot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Find {
    /// Accepted kinds.
    pub kinds: Vec<Kind>,
    /// Name of the agent.
    pub agent: String,
    /// The sentence, if it is a claim.
    pub claim: Option<String>,
    /// Names of the steps that are the evidence, with their relations.
    pub evidence: Vec<(String, String)>,
    /// Whether the finding may also be missing.
    pub optional: bool,
}

/// A plot, told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Script {
    /// What happens, in order.
    pub steps: Vec<Step>,
    /// The expected findings.
    pub finds: Vec<Find>,
    /// Smallest number of supported claims.
    pub supported: usize,
}

/// Returns all plots of the test bed.
pub(super) fn all() -> Vec<Plot> {
    read(&FILES)
}

/// Returns the plots of the samples in the repository.
pub(super) fn samples() -> Vec<Plot> {
    read(&[include_str!("plots/samples.txt")])
}

fn read(files: &[&'static str]) -> Vec<Plot> {
    let mut plots: Vec<Plot> = Vec::new();
    for file in files {
        let mut family = Family::Honest(Kind::FalseSuccess);
        for line in file.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if let Some(name) = line.strip_prefix("family: ") {
                family = Kind::named(name).map_or(Family::Honest(Kind::FalseSuccess), Family::Planted);
            } else if let Some(name) = line.strip_prefix("== ") {
                plots.push(Plot { family, name, kits: Vec::new(), times: 1, lines: Vec::new() });
                continue;
            }
            let Some(plot) = plots.last_mut() else { continue };
            if let Some(kits) = line.strip_prefix("kits: ") {
                plot.kits = kits.split(' ').collect();
            } else if let Some(times) = line.strip_prefix("times: ") {
                plot.times = times.parse().expect("times is a number");
            } else if let Some(kind) = line.strip_prefix("about: ") {
                plot.family = Family::Honest(Kind::named(kind).expect("about names a kind"));
            } else if !line.starts_with("family: ") {
                plot.lines.push(line);
            }
        }
    }
    plots
}

impl Plot {
    /// Tells the plot with these values.
    pub(super) fn told(&self, words: &Words) -> Script {
        let mut script = Script { steps: Vec::new(), finds: Vec::new(), supported: 0 };
        for line in &self.lines {
            match line.strip_prefix("  ") {
                Some(more) => script.continued(more, words),
                None => script.begun(line, words),
            }
        }
        script
    }
}

impl Script {
    fn begun(&mut self, line: &str, words: &Words) {
        let (head, text) = line.split_once(':').map_or((line, ""), |(head, text)| (head, text.trim_start()));
        let text = words.text(text);
        if head == "claims" {
            self.supported = text.strip_prefix("supported ").and_then(|n| n.parse().ok()).expect("supported N");
            return;
        }
        let (agent, head) = head.split_once("> ").unwrap_or(("root", head));
        let mut head = head.split(' ');
        let verb = head.next().unwrap_or_default();
        if matches!(verb, "find" | "may") {
            let kinds = head.next().unwrap_or_default().split('|');
            self.finds.push(Find {
                kinds: kinds.map(|name| Kind::named(name).unwrap_or_else(|| panic!("no kind {name}"))).collect(),
                agent: head.next().unwrap_or("root").to_owned(),
                claim: (!text.is_empty()).then_some(text),
                evidence: Vec::new(),
                optional: verb == "may",
            });
            return;
        }
        let mut name = head.next().unwrap_or_default();
        let times = name.parse().unwrap_or(1);
        if times > 1 {
            name = head.next().unwrap_or_default();
        }
        self.steps.push(Step {
            agent: agent.to_owned(),
            verb: verb.to_owned(),
            name: name.to_owned(),
            text,
            lines: Vec::new(),
            exit: 0,
            shows: None,
            varies: None,
            between: None,
            times,
        });
    }

    fn continued(&mut self, more: &str, words: &Words) {
        if let Some(evidence) = more.strip_prefix("= ") {
            let (name, relation) = evidence.split_once(' ').expect("evidence has a relation");
            let find = self.finds.last_mut().expect("evidence belongs to a finding");
            find.evidence.push((name.to_owned(), relation.to_owned()));
            return;
        }
        let step = self.steps.last_mut().expect("a line continues a step");
        let Some(option) = more.strip_prefix("! ") else {
            step.lines.extend(words.lines(more));
            return;
        };
        let (option, value) = option.split_once(' ').expect("an option has a value");
        let value = words.text(value);
        match option {
            "exit" if value == "fail" => step.exit = words.failure_code(),
            "exit" => step.exit = value.parse().expect("an exit code is a number"),
            "shows" => step.shows = Some(value),
            "varies" => step.varies = Some(value),
            "between" => step.between = Some(value),
            _ => panic!("no option {option}"),
        }
    }
}

impl Step {
    /// Returns the output of the command as it came out of its pipe.
    pub(super) fn output(&self) -> String {
        let mut lines: &[String] = &self.lines;
        if let Some((_, count)) = self.text.rsplit_once("| tail -n ") {
            let count: usize = count.parse().expect("tail has a number");
            lines = &lines[lines.len().saturating_sub(count)..];
        }
        lines.iter().map(|line| format!("{line}\n")).collect()
    }
}
