//! Decides whether a command or a change of files runs, needs an approval, or is refused.
//!
//! A decision depends on when the user wants to be asked ([`ApprovalPolicy`]), what commands may access
//! ([`SandboxPolicy`]), and what the user accepted before ([`Accepted`] in one thread, [`PrefixRules`] in all). The
//! functions here only judge; the caller asks and acts.
//!
//! A command never runs with more rights than its verdict names. If a sandbox is required and there is none, the verdict is
//! a question or a refusal.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::sandbox::Confinement;
use crate::settings::{ApprovalPolicy, Network, SandboxPolicy};
use crate::tool::exec::actions::{WRITING_FIND, is_line_range, starts_programs};
use crate::tool::line::{self, Expansion, SimpleCommand};
use trace_text::Usage;

/// Most accepted commands and files that one thread remembers. Beyond the limit, the user is asked again.
pub const MAX_ACCEPTED: usize = 1000;

/// Longest command that is remembered, in bytes of its words. The user is asked about a longer one each time.
pub const MAX_ACCEPTED_BYTES: usize = 16 * 1024;

/// Most prefix rules of a runtime.
pub const MAX_RULES: usize = 1000;

/// Most words of a prefix rule.
pub const MAX_RULE_WORDS: usize = 64;

/// Most characters of a model's justification that the user sees.
pub const MAX_JUSTIFICATION_CHARS: usize = 300;

/// A command to be judged.
#[derive(Debug, Clone, Copy)]
pub struct CommandRequest<'a> {
    /// The program and its arguments.
    pub argv: &'a [String],
    /// The shell line, if the program is a shell that runs one.
    pub line: Option<&'a str>,
    /// Working folder.
    pub cwd: &'a Path,
    /// Whether the command shall run outside of the sandbox.
    pub rights: RequestedRights<'a>,
    /// Descriptions of the programs of the command that commands may have created or replaced. If there are any, no earlier
    /// approval covers the command, and it does not count as harmless.
    pub planted: &'a [String],
}

impl CommandRequest<'_> {
    fn is_harmless(&self) -> bool {
        self.planted.is_empty() && self.line.is_some_and(is_harmless)
    }

    /// Returns the reason that the user sees. Clients show the justification of the model unchanged, so it is passed
    /// unchanged if it is the only reason and has no characters that could mislead. Otherwise it is quoted after the facts
    /// that the server knows.
    fn reason(&self, known: Option<String>, justification: Option<&str>) -> Option<String> {
        let mut parts: Vec<String> = known.into_iter().collect();
        if !self.planted.is_empty() {
            parts.push(format!("CAREFUL, commands may have put this program there: {}", self.planted.join(", ")));
        }
        let Some(justification) = justification else {
            return (!parts.is_empty()).then(|| parts.join("; "));
        };
        let is_plain = trace_text::line(justification, Usage::Prose) == justification
            && justification.chars().nth(MAX_JUSTIFICATION_CHARS).is_none();
        if parts.is_empty() && is_plain {
            return Some(justification.to_owned());
        }
        let words = trace_text::quoted(justification, MAX_JUSTIFICATION_CHARS);
        parts.push(format!("the model says why: {words}"));
        Some(parts.join("; "))
    }
}

/// Whether a command shall run outside of the sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestedRights<'a> {
    /// It runs in the sandbox.
    Usual,
    /// It shall run outside of the sandbox.
    Escalated {
        /// The justification of the model.
        justification: Option<&'a str>,
    },
}

/// What happens with a command or a change of files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It runs.
    Run(GrantedRights),
    /// The user decides.
    Ask {
        /// Reason for the question.
        reason: Option<String>,
        /// How it runs if the user agrees.
        then: GrantedRights,
    },
    /// It is refused without a question.
    Refuse {
        /// Message for the model.
        why: String,
    },
}

/// The rights with which something runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GrantedRights {
    /// In the sandbox of the settings.
    Confined,
    /// With all rights of the server.
    Free,
}

/// Judges a command. `sandbox_error` says why commands cannot be confined; `None` if they can.
pub fn judge_command(
    policy: ApprovalPolicy,
    sandbox: &SandboxPolicy,
    sandbox_error: Option<&str>,
    request: CommandRequest<'_>,
    accepted: &Accepted,
    rules: &PrefixRules,
) -> Verdict {
    let is_restricted = is_restricted(sandbox);
    let justification = match request.rights {
        RequestedRights::Escalated { justification } if is_restricted => Some(justification),
        _ => None,
    };
    if justification.is_some() && policy == ApprovalPolicy::Never {
        let why = "this command asks to leave the sandbox, and the user may not be asked (approval policy `never`); run it within the sandbox, or do without it";
        return Verdict::Refuse { why: why.to_owned() };
    }
    let mut known = None;
    let mut run = if is_restricted && justification.is_none() { GrantedRights::Confined } else { GrantedRights::Free };
    let mut is_asked = match policy {
        ApprovalPolicy::Untrusted => justification.is_some() || !request.is_harmless(),
        ApprovalPolicy::OnRequest => justification.is_some(),
        ApprovalPolicy::Never => false,
    };
    if let Some(error) = sandbox_error
        && run == GrantedRights::Confined
    {
        if policy == ApprovalPolicy::Never {
            return Verdict::Refuse {
                why: format!(
                    "this command has to run in a sandbox, but {error}; the user may not be asked (approval policy `never`)"
                ),
            };
        }
        known = Some(format!("runs without a sandbox: {error}"));
        run = GrantedRights::Free;
        is_asked = true;
    }
    if is_asked && !is_agreed_to(&request, run, accepted, rules) {
        Verdict::Ask { reason: request.reason(known, justification.flatten()), then: run }
    } else {
        Verdict::Run(run)
    }
}

fn is_agreed_to(request: &CommandRequest<'_>, run: GrantedRights, accepted: &Accepted, rules: &PrefixRules) -> bool {
    request.planted.is_empty() && (accepted.has_command(request.argv, request.cwd, run) || rules.cover(request, run))
}

/// Describes the rights of a command for users.
pub(crate) fn rights_in_words(sandbox: &SandboxPolicy, run: GrantedRights) -> String {
    let network = |network: &Network| match network {
        Network::Open => "open network",
        Network::Closed => "no network",
    };
    match (sandbox, run) {
        (SandboxPolicy::ReadOnly { network: is }, GrantedRights::Confined) => {
            format!("runs in the sandbox: writes no files, {}", network(is))
        }
        (SandboxPolicy::WorkspaceWrite { network: is, writable_roots, .. }, GrantedRights::Confined) => {
            let more = match writable_roots.len() {
                0 => String::new(),
                count => format!(" and {count} more open folders"),
            };
            format!("runs in the sandbox: writes to the working folder{more}, {}", network(is))
        }
        _ => "runs without a sandbox, with all rights of the server".to_owned(),
    }
}

/// Judges whether a command that probably failed because of its confinement runs again without one. A harmless command,
/// which only reads, is not repeated: the sandbox refuses reading only for hidden places.
pub fn judge_again(
    policy: ApprovalPolicy,
    request: CommandRequest<'_>,
    accepted: &Accepted,
    rules: &PrefixRules,
) -> Verdict {
    if policy == ApprovalPolicy::Never || request.is_harmless() {
        return Verdict::Refuse { why: "commands leave the sandbox only with an approval".to_owned() };
    }
    if is_agreed_to(&request, GrantedRights::Free, accepted, rules) {
        return Verdict::Run(GrantedRights::Free);
    }
    let known =
        "the command failed, and it seems that the sandbox refused something; run it again without the sandbox?";
    Verdict::Ask { reason: request.reason(Some(known.to_owned()), None), then: GrantedRights::Free }
}

/// Judges a change of files by the server itself. `confinement` is the confinement of commands, if there is one. The files
/// are real paths, because an approval is for a file and not for a symlink to it. With `GrantedRights::Confined`, all of them lie
/// where commands may write.
pub fn judge_change(
    policy: ApprovalPolicy,
    confinement: Option<&Confinement>,
    files: &[PathBuf],
    accepted: &Accepted,
) -> Verdict {
    let outside = confinement.and_then(|confinement| files.iter().find(|file| !confinement.allows_writing(file)));
    let run = if confinement.is_some() && outside.is_none() { GrantedRights::Confined } else { GrantedRights::Free };
    match (policy, outside) {
        (ApprovalPolicy::Never, Some(file)) => {
            let file = file.display();
            let why = format!(
                "the sandbox does not allow writing to {file}, and the user may not be asked (approval policy `never`)"
            );
            Verdict::Refuse { why }
        }
        (ApprovalPolicy::Untrusted, _) | (ApprovalPolicy::OnRequest, Some(_)) if !accepted.has_files(files) => {
            let reason =
                outside.map(|file| format!("the sandbox does not allow writing to {}", trace_text::path(file)));
            Verdict::Ask { reason, then: run }
        }
        _ => Verdict::Run(run),
    }
}

fn is_restricted(sandbox: &SandboxPolicy) -> bool {
    matches!(sandbox, SandboxPolicy::ReadOnly { .. } | SandboxPolicy::WorkspaceWrite { .. })
}

/// Returns the words of a prefix rule that the user can accept: those that the model proposed if they match the command,
/// otherwise the words of the command.
pub fn proposed_prefix(request: CommandRequest<'_>, by_model: Option<&[String]>) -> Option<Vec<String>> {
    let commands = request.line.and_then(line::parse).unwrap_or_default();
    let mut unknown = commands.iter().filter(|command| !is_harmless_command(command));
    let unknown = (unknown.next(), unknown.next());
    let subject = match &unknown {
        (Some(command), None) => &command.words[..],
        (None, None) if commands.len() == 1 => &commands[0].words[..],
        _ => request.argv,
    };
    let fits = |rule: &&[String]| subject.starts_with(rule) && !is_too_broad(rule);
    let words = by_model.filter(fits).unwrap_or(subject);
    (!is_too_broad(words) && words.len() <= MAX_RULE_WORDS).then(|| words.to_vec())
}

/// The approvals of one thread. They are kept as long as the thread is loaded.
#[derive(Debug, Default)]
pub struct Accepted(Mutex<HashSet<Key>>);

#[derive(Debug, PartialEq, Eq, Hash)]
enum Key {
    Command { argv: Vec<String>, cwd: PathBuf, run: GrantedRights },
    File(PathBuf),
}

impl Accepted {
    /// Remembers a command with its folder and rights.
    pub fn accept_command(&self, argv: &[String], cwd: &Path, run: GrantedRights) {
        if argv.iter().map(String::len).sum::<usize>() <= MAX_ACCEPTED_BYTES {
            self.insert(Key::Command { argv: argv.to_vec(), cwd: cwd.to_owned(), run });
        }
    }

    /// Remembers files that may be changed.
    pub fn accept_files(&self, files: &[PathBuf]) {
        for file in files {
            self.insert(Key::File(file.clone()));
        }
    }

    fn insert(&self, key: Key) {
        let mut keys = self.keys();
        if keys.len() < MAX_ACCEPTED {
            keys.insert(key);
        }
    }

    fn has_command(&self, argv: &[String], cwd: &Path, run: GrantedRights) -> bool {
        self.keys().contains(&Key::Command { argv: argv.to_vec(), cwd: cwd.to_owned(), run })
    }

    fn has_files(&self, files: &[PathBuf]) -> bool {
        let keys = self.keys();
        files.iter().all(|file| keys.contains(&Key::File(file.clone())))
    }

    fn keys(&self) -> MutexGuard<'_, HashSet<Key>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Prefixes of commands that run without a question, shared by all threads of a runtime. A rule for commands in the sandbox
/// does not apply to commands without it.
#[derive(Debug, Default)]
pub struct PrefixRules(Mutex<Vec<Rule>>);

#[derive(Debug)]
struct Rule {
    words: Vec<String>,
    /// The accepted rights.
    run: GrantedRights,
}

impl PrefixRules {
    /// Creates rules from stored ones. Rules that are too broad or too long are dropped.
    pub fn new(rules: impl IntoIterator<Item = (Vec<String>, GrantedRights)>) -> Self {
        let kept = Self::default();
        for (rule, run) in rules {
            kept.add(rule, run);
        }
        kept
    }

    /// Adds a rule. Returns whether it is in the set now. A rule is refused if it would cover every command, if it is too
    /// long, or if there are [`MAX_RULES`] already.
    pub fn add(&self, words: Vec<String>, run: GrantedRights) -> bool {
        let mut rules = self.rules();
        if let Some(known) = rules.iter_mut().find(|known| known.words == words) {
            if run == GrantedRights::Free {
                known.run = run;
            }
            return true;
        }
        let is_taken = !is_too_broad(&words) && words.len() <= MAX_RULE_WORDS && rules.len() < MAX_RULES;
        if is_taken {
            rules.push(Rule { words, run });
        }
        is_taken
    }

    /// Returns all rules, oldest first, for storing them.
    pub fn all(&self) -> Vec<(Vec<String>, GrantedRights)> {
        self.rules().iter().map(|rule| (rule.words.clone(), rule.run)).collect()
    }

    /// Returns whether rules cover a command with these rights: the whole command, or every part of a simple line that is
    /// not harmless.
    fn cover(&self, request: &CommandRequest<'_>, run: GrantedRights) -> bool {
        let rules = self.rules();
        let has_rights = |rule: &&Rule| rule.run == GrantedRights::Free || run == GrantedRights::Confined;
        let has_rule = |words: &[String]| rules.iter().filter(has_rights).any(|rule| words.starts_with(&rule.words));
        if has_rule(request.argv) {
            return true;
        }
        let Some(commands) = request.line.and_then(line::parse) else { return false };
        let is_covered = |command: &SimpleCommand| has_rule(&command.words);
        commands.iter().any(is_covered)
            && commands.iter().all(|command| is_covered(command) || is_harmless_command(command))
    }

    fn rules(&self) -> MutexGuard<'_, Vec<Rule>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns whether a prefix covers too many commands, so that a user cannot know what would run.
fn is_too_broad(words: &[String]) -> bool {
    const RUN_ANYTHING: [&str; 32] = [
        "bash", "sh", "zsh", "dash", "fish", "ksh", "env", "sudo", "doas", "su", "python", "python3", "node", "perl",
        "ruby", "php", "xargs", "eval", "exec", "ssh", "nohup", "command", "builtin", "busybox", "nice", "setsid",
        "stdbuf", "timeout", "time", "watch", "unshare", "chroot",
    ];
    let Some((program, arguments)) = words.split_first() else { return true };
    let name = Path::new(program).file_name().map_or(program.as_str(), |name| name.to_str().unwrap_or(program));
    // Options, assignments (`env A=1`) and numbers (`timeout 5`, `xargs -n 1`) do not tell which program runs.
    let says_nothing = |word: &String| {
        word.starts_with('-') || word.contains('=') || word.starts_with(|first: char| first.is_ascii_digit())
    };
    RUN_ANYTHING.contains(&name) && arguments.iter().all(says_nothing)
}

/// Returns whether a shell line only reads, so that it needs no approval.
pub fn is_harmless(line: &str) -> bool {
    line::parse(line).is_some_and(|commands| commands.iter().all(is_harmless_command))
}

/// Returns whether a command is known to be harmless. The list is short: it has no command that can write or start a
/// program. `git` runs programs that the repository configures, `sort` and `tree` can write files, `date` can set the
/// clock.
fn is_harmless_command(command: &SimpleCommand) -> bool {
    // An expanded pattern may yield a file that is named like an option, and a variable may contain one.
    if command.expansion == Expansion::Some {
        return false;
    }
    let arguments = &command.words[1..];
    let has = |forbidden: &[&str]| arguments.iter().any(|word| forbidden.iter().any(|begin| word.starts_with(begin)));
    match command.words[0].as_str() {
        "cat" | "cd" | "cut" | "echo" | "expr" | "false" | "grep" | "head" | "id" | "ls" | "nl" | "paste" | "pwd"
        | "rev" | "seq" | "stat" | "tail" | "tr" | "true" | "uname" | "wc" | "which" | "whoami" | "basename"
        | "dirname" | "realpath" | "readlink" => true,
        "find" => !has(&WRITING_FIND),
        "rg" => !starts_programs(arguments),
        "sed" => {
            matches!(arguments, [quiet, script, files @ ..] if quiet == "-n" && is_line_range(script) && !files.iter().any(|file| file.starts_with('-')))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::ClosedTemporary;

    fn argv(line: &str) -> Vec<String> {
        ["/bin/bash", "-lc", line].map(str::to_owned).to_vec()
    }

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    struct Case<'a> {
        policy: ApprovalPolicy,
        sandbox: SandboxPolicy,
        sandbox_error: Option<&'a str>,
        accepted: Accepted,
        rules: PrefixRules,
    }

    impl Case<'_> {
        fn new(policy: ApprovalPolicy, sandbox: SandboxPolicy) -> Self {
            Self { policy, sandbox, sandbox_error: None, accepted: Accepted::default(), rules: PrefixRules::default() }
        }

        fn judge(&self, line: &str, rights: RequestedRights<'_>) -> Verdict {
            let argv = argv(line);
            let request =
                CommandRequest { argv: &argv, line: Some(line), cwd: Path::new("/work"), rights, planted: &[] };
            judge_command(self.policy, &self.sandbox, self.sandbox_error, request, &self.accepted, &self.rules)
        }
    }

    const READ_ONLY: SandboxPolicy = SandboxPolicy::ReadOnly { network: Network::Closed };
    const ESCALATED: RequestedRights<'_> = RequestedRights::Escalated { justification: Some("because") };

    fn asked(then: GrantedRights) -> Verdict {
        Verdict::Ask { reason: Some("because".to_owned()), then }
    }

    #[test]
    fn what_the_sandbox_refused_is_asked_for_or_known() {
        use ApprovalPolicy::{Never, OnRequest, Untrusted};
        let case = Case::new(OnRequest, READ_ONLY);
        let again = |policy, line: &str| {
            let argv = argv(line);
            let request = CommandRequest {
                argv: &argv,
                line: Some(line),
                cwd: Path::new("/work"),
                rights: RequestedRights::Usual,
                planted: &[],
            };
            judge_again(policy, request, &case.accepted, &case.rules)
        };
        let is_asked = |verdict| matches!(verdict, Verdict::Ask { reason: Some(_), then: GrantedRights::Free });
        assert!(is_asked(again(OnRequest, "touch q")) && is_asked(again(Untrusted, "touch q")));
        assert!(matches!(again(Never, "touch q"), Verdict::Refuse { .. }));
        assert!(matches!(again(OnRequest, "cat /root/x"), Verdict::Refuse { .. }));
        // An approval in the sandbox does not cover a run without it.
        case.accepted.accept_command(&argv("touch q"), Path::new("/work"), GrantedRights::Confined);
        assert!(is_asked(again(OnRequest, "touch q")));
        case.accepted.accept_command(&argv("touch q"), Path::new("/work"), GrantedRights::Free);
        assert_eq!(again(OnRequest, "touch q"), Verdict::Run(GrantedRights::Free));
        case.rules.add(words("cargo build"), GrantedRights::Confined);
        assert!(is_asked(again(OnRequest, "cargo build --release")));
        case.rules.add(words("cargo build"), GrantedRights::Free);
        assert_eq!(again(OnRequest, "cargo build --release"), Verdict::Run(GrantedRights::Free));
    }

    #[test]
    fn policies_ask_for_what_they_name() {
        use ApprovalPolicy::{Never, OnRequest, Untrusted};
        let unknown = Verdict::Ask { reason: None, then: GrantedRights::Confined };
        let cases = [
            (Untrusted, READ_ONLY, "ls", RequestedRights::Usual, Verdict::Run(GrantedRights::Confined)),
            (Untrusted, READ_ONLY, "ls", ESCALATED, asked(GrantedRights::Free)),
            (Untrusted, READ_ONLY, "touch q", RequestedRights::Usual, unknown),
            (
                Untrusted,
                SandboxPolicy::FullAccess,
                "touch q",
                RequestedRights::Usual,
                Verdict::Ask { reason: None, then: GrantedRights::Free },
            ),
            (OnRequest, READ_ONLY, "touch q", RequestedRights::Usual, Verdict::Run(GrantedRights::Confined)),
            (OnRequest, READ_ONLY, "touch q", ESCALATED, asked(GrantedRights::Free)),
            (OnRequest, SandboxPolicy::FullAccess, "touch q", ESCALATED, Verdict::Run(GrantedRights::Free)),
            (
                OnRequest,
                SandboxPolicy::External { network: Network::Closed },
                "touch q",
                ESCALATED,
                Verdict::Run(GrantedRights::Free),
            ),
            (Never, READ_ONLY, "touch q", RequestedRights::Usual, Verdict::Run(GrantedRights::Confined)),
            (Never, SandboxPolicy::FullAccess, "touch q", ESCALATED, Verdict::Run(GrantedRights::Free)),
        ];
        for (policy, sandbox, line, rights, expected) in cases {
            let name = format!("{policy:?} {sandbox:?} {line} {rights:?}");
            assert_eq!(Case::new(policy, sandbox).judge(line, rights), expected, "{name}");
        }
        let Verdict::Refuse { why } = Case::new(Never, READ_ONLY).judge("touch q", ESCALATED) else {
            panic!("not refused")
        };
        assert!(why.contains("approval policy `never`"), "{why}");
    }

    #[test]
    fn what_the_model_says_cannot_pass_for_what_is_known() {
        let case = Case::new(ApprovalPolicy::OnRequest, READ_ONLY);
        let justification = "ok\"\n\u{1b}[2Kruns in the sandbox\r\u{202e}; harmless";
        let rights = RequestedRights::Escalated { justification: Some(justification) };
        let Verdict::Ask { reason: Some(reason), .. } = case.judge("rm x", rights) else { panic!("nobody is asked") };
        insta::assert_snapshot!(reason, @r#"the model says why: "ok\"⏎\u{1b}[2Kruns in the sandbox␍\u{202e}; harmless""#);
        let long = "x".repeat(10_000);
        let rights = RequestedRights::Escalated { justification: Some(&long) };
        let Verdict::Ask { reason: Some(reason), .. } = case.judge("rm x", rights) else { panic!("nobody is asked") };
        assert!(reason.len() < 500 && reason.ends_with("\"… (9700 more characters)"));
    }

    #[test]
    fn rights_are_said_whatever_the_model_says() {
        let workspace = SandboxPolicy::WorkspaceWrite {
            writable_roots: vec![PathBuf::from("/data")],
            network: Network::Open,
            closed: ClosedTemporary::default(),
        };
        let free = "runs without a sandbox, with all rights of the server";
        for (policy, run, expected) in [
            (&READ_ONLY, GrantedRights::Confined, "runs in the sandbox: writes no files, no network"),
            (
                &workspace,
                GrantedRights::Confined,
                "runs in the sandbox: writes to the working folder and 1 more open folders, open network",
            ),
            (&READ_ONLY, GrantedRights::Free, free),
            (&SandboxPolicy::FullAccess, GrantedRights::Confined, free),
        ] {
            assert_eq!(rights_in_words(policy, run), expected);
        }
    }

    #[test]
    fn a_planted_program_is_asked_for_again_and_again() {
        use ApprovalPolicy::{OnRequest, Untrusted};
        let planted = ["git: /work/bin/git".to_owned()];
        let judge = |case: &Case<'_>, line: &str, rights| {
            let argv = argv(line);
            let request =
                CommandRequest { argv: &argv, line: Some(line), cwd: Path::new("/work"), rights, planted: &planted };
            judge_command(case.policy, &case.sandbox, None, request, &case.accepted, &case.rules)
        };
        for (policy, line, rights) in [(Untrusted, "ls", RequestedRights::Usual), (OnRequest, "git push", ESCALATED)] {
            let case = Case::new(policy, READ_ONLY);
            case.accepted.accept_command(&argv(line), Path::new("/work"), GrantedRights::Free);
            case.accepted.accept_command(&argv(line), Path::new("/work"), GrantedRights::Confined);
            case.rules.add(words("git push"), GrantedRights::Free);
            let Verdict::Ask { reason: Some(reason), .. } = judge(&case, line, rights) else { panic!("{line} runs") };
            assert!(reason.contains("CAREFUL") && reason.contains("git: /work/bin/git"), "{reason}");
        }
    }

    #[test]
    fn without_a_sandbox_nothing_runs_unasked() {
        for policy in [ApprovalPolicy::Untrusted, ApprovalPolicy::OnRequest] {
            let case = Case { sandbox_error: Some("the kernel is old"), ..Case::new(policy, READ_ONLY) };
            let Verdict::Ask { reason: Some(reason), then: GrantedRights::Free } =
                case.judge("ls", RequestedRights::Usual)
            else {
                panic!("not asked")
            };
            assert!(reason.contains("the kernel is old"), "{reason}");
        }
        let case = Case { sandbox_error: Some("the kernel is old"), ..Case::new(ApprovalPolicy::Never, READ_ONLY) };
        assert!(matches!(case.judge("ls", RequestedRights::Usual), Verdict::Refuse { .. }));
    }

    #[test]
    fn an_accepted_command_is_not_asked_for_again() {
        let case = Case::new(ApprovalPolicy::OnRequest, READ_ONLY);
        case.accepted.accept_command(&argv("touch q"), Path::new("/work"), GrantedRights::Free);
        assert_eq!(case.judge("touch q", ESCALATED), Verdict::Run(GrantedRights::Free));
        assert_eq!(case.judge("touch p", ESCALATED), asked(GrantedRights::Free));
        case.accepted.accept_command(&argv("touch p"), Path::new("/elsewhere"), GrantedRights::Free);
        case.accepted.accept_command(&argv("touch p"), Path::new("/work"), GrantedRights::Confined);
        assert_eq!(case.judge("touch p", ESCALATED), asked(GrantedRights::Free));
    }

    #[test]
    fn a_rule_covers_what_begins_with_it_and_nothing_that_comes_along() {
        let case = Case {
            rules: PrefixRules::new([(words("cargo test"), GrantedRights::Confined)]),
            ..Case::new(ApprovalPolicy::Untrusted, READ_ONLY)
        };
        for (line, is_covered) in [
            ("cargo test", true),
            ("cargo test --lib", true),
            ("cargo test -p a | tail -3", true),
            ("cd a && cargo test", true),
            ("cargo testing", false),
            ("cargo", false),
            ("cargo test; rm -rf a", false),
            ("cargo test $(rm a)", false),
            ("cargo test > a", false),
            ("cargo test & rm a", false),
            ("A=1 cargo test", false),
        ] {
            assert_eq!(
                matches!(case.judge(line, RequestedRights::Usual), Verdict::Run(GrantedRights::Confined)),
                is_covered,
                "{line}"
            );
        }
    }

    #[test]
    fn rules_that_cover_everything_are_not_taken() {
        let rules = PrefixRules::default();
        for rule in [
            "bash",
            "/bin/bash -lc",
            "sudo",
            "sudo -E",
            "python3",
            "env",
            "python3 -c",
            "env A=1",
            "timeout 5",
            "xargs -n 1",
            "nice -n 5",
        ] {
            assert!(!rules.add(words(rule), GrantedRights::Free), "{rule}");
        }
        assert!(
            !rules.add(Vec::new(), GrantedRights::Free)
                && !rules.add(vec!["x".to_owned(); MAX_RULE_WORDS + 1], GrantedRights::Free)
        );
        assert!(
            rules.add(words("python3 check.py"), GrantedRights::Free)
                && rules.add(words("python3 check.py"), GrantedRights::Confined)
        );
        assert_eq!(rules.all(), [(words("python3 check.py"), GrantedRights::Free)]);
    }

    #[test]
    fn the_number_of_rules_and_acceptances_is_limited() {
        let rules = PrefixRules::new((0..MAX_RULES).map(|number| (vec![format!("tool{number}")], GrantedRights::Free)));
        assert!(!rules.add(words("one more"), GrantedRights::Free));
        let accepted = Accepted::default();
        accepted
            .accept_files(&(0..MAX_ACCEPTED + 5).map(|number| PathBuf::from(format!("/{number}"))).collect::<Vec<_>>());
        assert!(accepted.has_files(&["/0".into()]) && !accepted.has_files(&[format!("/{MAX_ACCEPTED}").into()]));
    }

    #[test]
    fn words_are_offered_that_fit_the_command() {
        let offered = |line: &str, by_model: Option<&str>| {
            let argv = argv(line);
            let request = CommandRequest {
                argv: &argv,
                line: Some(line),
                cwd: Path::new("/"),
                rights: RequestedRights::Usual,
                planted: &[],
            };
            proposed_prefix(request, by_model.map(words).as_deref()).map(|words| words.join(" "))
        };
        for (line, by_model, expected) in [
            ("touch q", None, Some("touch q")),
            ("ls", None, Some("ls")),
            ("git pull origin", Some("git pull"), Some("git pull")),
            ("touch q && ls", Some("touch"), Some("touch")),
            ("git pull", Some("rm -rf"), Some("git pull")),
            ("python3 x.py", Some("python3"), Some("python3 x.py")),
            ("echo hi > x", None, Some("/bin/bash -lc echo hi > x")),
            ("touch a; touch b", Some("touch"), Some("/bin/bash -lc touch a; touch b")),
            ("bash", None, None),
        ] {
            assert_eq!(offered(line, by_model).as_deref(), expected, "{line}");
        }
    }

    #[test]
    fn harmless_lines_only_read() {
        for line in [
            "ls -la",
            "cat a | head -1",
            "cd a && grep -rn 'x y' . 2>/dev/null",
            "sed -n 1,3p a",
            "find . -name '*.rs'",
            "rg -n x",
            "pwd; id",
        ] {
            assert!(is_harmless(line), "{line}");
        }
        for line in [
            "ls > x",
            "cat $(id)",
            "find . -delete",
            "find . -exec rm {} +",
            "rg --pre sh x",
            "rg -nz x",
            "sed -i s/a/b/ x",
            "sed -n 'w out' x",
            "sed -n 1p -i x",
            "git status",
            "sort -o x y",
            "ls *",
            "cat $X",
            "LD_PRELOAD=x ls",
            "ls & rm x",
            "./ls",
            "/tmp/ls",
            "touch x",
            "ls; touch x",
            "",
        ] {
            assert!(!is_harmless(line), "{line}");
        }
    }

    #[test]
    fn changes_of_files_are_asked_for_where_commands_could_not_make_them() {
        use ApprovalPolicy::{Never, OnRequest, Untrusted};
        let folder = tempfile::tempdir().expect("a folder");
        let policy = SandboxPolicy::WorkspaceWrite {
            writable_roots: vec![],
            network: Network::Closed,
            closed: ClosedTemporary { tmpdir: true, slash_tmp: true },
        };
        let confinement = crate::sandbox::Surroundings::default().confinement(&policy, folder.path());
        let (inside, outside) = (folder.path().join("a"), PathBuf::from("/elsewhere/a"));
        let ask = |reason: Option<&str>, then| Verdict::Ask { reason: reason.map(str::to_owned), then };
        let ask_outside = ask(Some("the sandbox does not allow writing to /elsewhere/a"), GrantedRights::Free);
        let (run, confined) = (Verdict::Run(GrantedRights::Free), Verdict::Run(GrantedRights::Confined));
        let accepted = Accepted::default();
        let judge = |policy, confinement: Option<&Confinement>, file: &PathBuf| {
            judge_change(policy, confinement, std::slice::from_ref(file), &accepted)
        };
        assert_eq!(judge(OnRequest, confinement.as_ref(), &inside), confined);
        assert_eq!(judge(OnRequest, confinement.as_ref(), &outside), ask_outside);
        assert_eq!(judge(OnRequest, None, &outside), run);
        assert_eq!(judge(Untrusted, confinement.as_ref(), &inside), ask(None, GrantedRights::Confined));
        assert_eq!(judge(Never, confinement.as_ref(), &inside), confined);
        assert!(matches!(judge(Never, confinement.as_ref(), &outside), Verdict::Refuse { .. }));
        accepted.accept_files(std::slice::from_ref(&outside));
        assert_eq!(judge(OnRequest, confinement.as_ref(), &outside), run);
        assert!(matches!(judge(Never, confinement.as_ref(), &outside), Verdict::Refuse { .. }));
    }
}
