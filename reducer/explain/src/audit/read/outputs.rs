//! What the outputs of checks say: a table of summaries, one row per form.
//!
//! Only a summary counts. Names of tests, messages of tests and other lines that a program prints say nothing of the
//! outcome.

use std::sync::LazyLock;

use regex::{Captures, Regex, RegexSet};
use serde::Serialize;

use super::runners::CheckKind;

/// Largest part of an output that is searched for summaries, in bytes. Of a longer one, the end is searched, where
/// summaries are.
pub const MAX_OUTPUT_BYTES: usize = 8 << 20;

/// Numbers that a check gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Counts {
    /// Tests that passed.
    pub passed: Option<u64>,
    /// Tests that failed, with those that ended with an error.
    pub failed: Option<u64>,
    /// Tests that were skipped or ignored.
    pub skipped: Option<u64>,
    /// All tests.
    pub total: Option<u64>,
    /// Suites or files of tests.
    pub suites: Option<u64>,
    /// Errors of a build, type checker or linter.
    pub errors: Option<u64>,
    /// Warnings.
    pub warnings: Option<u64>,
    /// Problems of a linter, errors and warnings together.
    pub problems: Option<u64>,
    /// Tests in documentation, which some runners count apart from the others.
    pub documented: Option<u64>,
}

fn sum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.saturating_add(b)),
        (a, b) => a.or(b),
    }
}

impl Counts {
    /// Adds the numbers of another part of the same run.
    pub(crate) fn add(&mut self, other: &Self) {
        self.passed = sum(self.passed, other.passed);
        self.failed = sum(self.failed, other.failed);
        self.skipped = sum(self.skipped, other.skipped);
        self.total = sum(self.total, other.total);
        self.suites = sum(self.suites, other.suites);
        self.errors = sum(self.errors, other.errors);
        self.warnings = sum(self.warnings, other.warnings);
        self.problems = sum(self.problems, other.problems);
        self.documented = sum(self.documented, other.documented);
    }

    /// Returns these numbers, and those of `other` where one is missing.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            passed: self.passed.or(other.passed),
            failed: self.failed.or(other.failed),
            skipped: self.skipped.or(other.skipped),
            total: self.total.or(other.total),
            suites: self.suites.or(other.suites),
            errors: self.errors.or(other.errors),
            warnings: self.warnings.or(other.warnings),
            problems: self.problems.or(other.problems),
            documented: self.documented.or(other.documented),
        }
    }

    /// Returns all numbers.
    pub fn all(&self) -> impl Iterator<Item = u64> {
        [self.passed, self.failed, self.skipped, self.total, self.suites, self.errors, self.warnings, self.problems]
            .into_iter()
            .flatten()
    }

    /// Returns the number of tests that ran, if it is known.
    pub fn ran(&self) -> Option<u64> {
        match (self.passed, self.failed, self.total) {
            (None, _, Some(total)) => Some(total.saturating_sub(self.skipped.unwrap_or(0))),
            (None, None, None) => None,
            (None, Some(failed), None) => (failed > 0).then_some(failed),
            (passed, failed, _) => Some(passed.unwrap_or(0) + failed.unwrap_or(0)),
        }
    }
}

/// What one summary says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Says {
    /// The check passed.
    Passed,
    /// The check failed.
    Failed,
    /// No test ran.
    NoTests,
    /// It has numbers only.
    Nothing,
}

/// One summary in an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Name of the form, such as `cargo test`.
    pub form: &'static str,
    /// What it is about.
    pub kind: CheckKind,
    /// Its verdict.
    pub says: Says,
    /// Its numbers.
    pub counts: Counts,
    /// Offset in the output.
    pub at: usize,
    /// Whether summaries of this form belong together, as those of the packages of one run.
    pub adds_up: bool,
    /// Place of the form in the table: two forms of one name are two forms.
    pub(crate) row: usize,
}

/// How the words of a summary are read.
#[derive(Debug, Clone, Copy)]
enum Reading {
    /// Groups named `passed`, `failed`, `errors`, `skipped`, `total`, ... are numbers; failures decide.
    Numbers,
    /// `3 failed, 2 passed, 1 skipped` in the group `list`.
    List,
    /// The text itself says it.
    Fixed(Says),
    /// The group `word` says it: one of these words means success.
    Word(&'static [&'static str]),
    /// Groups `errors`, `warnings` and `problems` of a linter or compiler; errors and problems decide.
    Errors,
}

struct Form {
    name: &'static str,
    kind: CheckKind,
    pattern: &'static str,
    reading: Reading,
    adds_up: bool,
}

const fn form(name: &'static str, kind: CheckKind, pattern: &'static str, reading: Reading) -> Form {
    Form { name, kind, pattern, reading, adds_up: false }
}

const fn parts(name: &'static str, kind: CheckKind, pattern: &'static str, reading: Reading) -> Form {
    Form { name, kind, pattern, reading, adds_up: true }
}

use CheckKind::{Build, Format, Lint, Test, Types};
use Reading::{Errors, Fixed, List, Numbers, Word};

/// All forms of summaries.
static FORMS: &[Form] = &[
    // Python.
    form(
        "pytest",
        Test,
        r"(?m)^=*[ \t]*(?P<list>\d+ (?:passed|failed|errors?|skipped|xfailed|xpassed|deselected|warnings?|rerun|subtests passed)(?:, \d+ (?:passed|failed|errors?|skipped|xfailed|xpassed|deselected|warnings?|rerun|subtests passed))*) in \d[\d.]*s",
        List,
    ),
    form(
        "pytest",
        Test,
        r"(?m)^=*[ \t]*(?:no tests ran|\d+ deselected)(?:, \d+ \w+)* in \d[\d.]*s",
        Fixed(Says::NoTests),
    ),
    form("pytest", Test, r"(?m)^(?:=+ ERRORS =+$|INTERNALERROR>)", Fixed(Says::Failed)),
    form("pytest", Test, r"(?m)^ERROR: (?:not found|file or directory not found|usage):", Fixed(Says::NoTests)),
    form(
        "unittest",
        Test,
        r"(?m)^Ran (?P<total>\d+) tests? in [\d.]+s\s+(?P<word>OK|FAILED|NO TESTS RAN)(?: \((?:(?:failures=(?P<failed>\d+)|errors=(?P<errored>\d+)|skipped=(?P<skipped>\d+)|expected failures=\d+|unexpected successes=\d+)(?:, )?)*\))?",
        Word(&["OK"]),
    ),
    form("tox", Test, r"(?m)^  (?:congratulations :\)|evaluation failed :\()", Word(&["  congratulations :)"])),
    form(
        "nox",
        Test,
        r"(?m)^nox > (?:\* \S+: (?P<word>success|failed)|Session \S+ (?:was )?(?P<word2>successful|failed))",
        Word(&["success", "successful"]),
    ),
    form(
        "behave",
        Test,
        r"(?m)^(?P<passed>\d+) scenarios? passed, (?P<failed>\d+) failed, (?P<skipped>\d+) skipped",
        Numbers,
    ),
    // Rust.
    parts(
        "cargo test",
        Test,
        r"(?m)^test result: (?P<word>ok|FAILED)\. (?P<passed>\d+) passed; (?P<failed>\d+) failed; (?P<skipped>\d+) ignored; \d+ measured; \d+ filtered out",
        Word(&["ok"]),
    ),
    form(
        "cargo test",
        Test,
        r"(?m)^error: (?:test failed, to rerun|\d+ targets? failed:|could not compile|no test target named|no such command)",
        Fixed(Says::Failed),
    ),
    form(
        "nextest",
        Test,
        r"(?m)^\s*Summary \[\s*[\d.]+s\] (?:\d+/)?(?P<total>\d+) tests? run: (?P<passed>\d+) passed(?: \([^)]*\))?(?:, (?P<failed>\d+) failed)?(?:, (?P<timed>\d+) timed out)?(?:, (?P<skipped>\d+) skipped)?",
        Numbers,
    ),
    // Go.
    parts(
        "go test",
        Test,
        r"(?m)^(?P<word>ok|FAIL)[ \t]+(?:[\w.~-]+[./])*[\w.~-]+(?:[ \t]+(?:\(cached\)|[\d.]+s|\[(?:build|setup) failed\]))(?:[ \t]+coverage: .*)?$",
        Word(&["ok"]),
    ),
    form("go test", Test, r"(?m)^(?:FAIL|--- FAIL: \S+.*|panic: test timed out.*)$", Fixed(Says::Failed)),
    form("go test", Test, r"(?m)^PASS$", Fixed(Says::Passed)),
    form(
        "go test",
        Test,
        r"(?m)^(?:\?[ \t]+\S+[ \t]+\[no test files\]|ok[ \t]+\S+[ \t]+\S+ \[no tests to run\]|testing: warning: no tests to run)",
        Fixed(Says::NoTests),
    ),
    parts(
        "gotestsum",
        Test,
        r"(?m)^DONE (?P<total>\d+) tests?(?:, (?P<skipped>\d+) skipped)?(?:, (?P<failed>\d+) failures?)? in",
        Numbers,
    ),
    form("ginkgo", Test, r"(?m)^(?:SUCCESS|FAIL)! -- (?P<passed>\d+) Passed \| (?P<failed>\d+) Failed", Numbers),
    // JavaScript.
    form(
        "jest",
        Test,
        r"(?m)^Tests:[ \t]+(?P<list>(?:\d+ (?:failed|passed|skipped|todo|pending|total|risky|incomplete|warnings?|deprecated)(?:, )?)+)",
        List,
    ),
    form(
        "jest suites",
        Test,
        r"(?m)^Test Suites:[ \t]+(?P<list>(?:\d+ (?:failed|passed|skipped|total|of \d+ total)(?:, )?)+)",
        List,
    ),
    form("jest", Test, r"(?m)^(?:No tests found|No tests found, exiting with code \d)", Fixed(Says::NoTests)),
    form(
        "vitest",
        Test,
        r"(?m)^[ \t]*Tests[ \t]+(?P<list>\d+ (?:failed|passed|skipped|todo|expected fail)(?:[ \t]*\|[ \t]*\d+ (?:failed|passed|skipped|todo|expected fail))*)[ \t]*\(\d+\)",
        List,
    ),
    form(
        "vitest suites",
        Test,
        r"(?m)^[ \t]*Test Files[ \t]+(?P<list>\d+ (?:failed|passed|skipped)(?:[ \t]*\|[ \t]*\d+ (?:failed|passed|skipped))*)[ \t]*\(\d+\)",
        List,
    ),
    form("vitest", Test, r"(?m)^[ \t]*(?:No test files found|Tests[ \t]+no tests)", Fixed(Says::NoTests)),
    form(
        "mocha",
        Test,
        r"(?m)^[ \t]*(?P<passed>\d+) passing(?: \([^)]*\))?(?:\s*^[ \t]*(?P<skipped>\d+) pending)?(?:\s*^[ \t]*(?P<failed>\d+) failing)?",
        Numbers,
    ),
    form("mocha", Test, r"(?m)^[ \t]*(?P<failed>\d+) failing$", Numbers),
    form("ava", Test, r"(?m)^[ \t]*(?:[✔✓][ \t]+)?(?P<passed>\d+) tests? passed$", Numbers),
    form("ava", Test, r"(?m)^[ \t]*(?:[✖✘][ \t]+)?(?P<failed>\d+) tests? failed$", Numbers),
    form("playwright", Test, r"(?m)^[ \t]+(?P<failed>\d+) failed$", Numbers),
    form("playwright", Test, r"(?m)^[ \t]+(?P<passed>\d+) passed \([\d.]+\w+\)$", Numbers),
    form(
        "node --test",
        Test,
        r"(?m)^[#ℹ] pass (?P<passed>\d+)\s+[#ℹ] fail (?P<failed>\d+)(?:\s+[#ℹ] cancelled \d+)?(?:\s+[#ℹ] skipped (?P<skipped>\d+))?",
        Numbers,
    ),
    form("tap", Test, r"(?m)^# failed (?P<failed>\d+)(?: of (?P<total>\d+))? tests?", Numbers),
    form("tap", Test, r"(?m)^not ok \d+(?: - | )?(?:[^#\n]|#[^ \n]| #(?: ?)[^TtSs \n])*$", Fixed(Says::Failed)),
    form("tap", Test, r"(?m)^ok \d+ ", Fixed(Says::Passed)),
    form("prove", Test, r"(?m)^Result: (?P<word>PASS|FAIL|NOTESTS)$", Word(&["PASS"])),
    form("prove", Test, r"(?m)^Files=(?P<suites>\d+), Tests=(?P<total>\d+),", Fixed(Says::Nothing)),
    form(
        "deno test",
        Test,
        r"(?m)^(?P<word>ok|FAILED) \| (?P<passed>\d+) passed(?: \([^)]*\))? \| (?P<failed>\d+) failed(?: \([^)]*\))?(?: \| (?P<skipped>\d+) ignored)?",
        Word(&["ok"]),
    ),
    form(
        "bun test",
        Test,
        r"(?m)^[ \t]*(?P<passed>\d+) pass\n(?:[ \t]*(?P<skipped>\d+) skip\n)?(?:[ \t]*\d+ todo\n)?[ \t]*(?P<failed>\d+) fail$",
        Numbers,
    ),
    form(
        "cypress",
        Test,
        r"(?m)^[ \t]*[✔✖]?[ \t]+(?:(?P<word>All specs passed!)|\d+ of \d+ failed \(\d+%\))",
        Word(&["All specs passed!"]),
    ),
    form("karma", Test, r"(?m)Executed (?P<total>\d+) of \d+ (?:\((?P<failed>\d+) FAILED\)|SUCCESS)", Numbers),
    form(
        "jasmine",
        Test,
        r"(?m)^(?P<total>\d+) specs?, (?P<failed>\d+) failures?(?:, (?P<skipped>\d+) pending specs?)?",
        Numbers,
    ),
    // JVM.
    parts(
        "maven",
        Test,
        r"(?m)^(?:\[(?:INFO|WARNING|ERROR)\] )?Tests run: (?P<total>\d+), Failures: (?P<failed>\d+), Errors: (?P<errored>\d+)(?:, Skipped: (?P<skipped>\d+))?\s*$",
        Numbers,
    ),
    form("maven build", Build, r"(?m)^(?:\[(?:INFO|ERROR)\] )?BUILD (?P<word>SUCCESS|FAILURE)\s*$", Word(&["SUCCESS"])),
    form(
        "gradle",
        Test,
        r"(?m)^(?P<total>\d+) tests? completed, (?P<failed>\d+) failed(?:, (?P<skipped>\d+) skipped)?",
        Numbers,
    ),
    form("gradle build", Build, r"(?m)^BUILD (?P<word>SUCCESSFUL|FAILED) in", Word(&["SUCCESSFUL"])),
    form(
        "sbt",
        Test,
        r"(?m)^(?:\[\w+\] )?Tests: succeeded (?P<passed>\d+), failed (?P<failed>\d+), canceled \d+, ignored (?P<skipped>\d+)",
        Numbers,
    ),
    form(
        "sbt",
        Test,
        r"(?m)^(?:\[\w+\] )?(?:Passed|Failed): Total (?P<total>\d+), Failed (?P<failed>\d+), Errors (?P<errored>\d+), Passed (?P<passed>\d+)",
        Numbers,
    ),
    form("lein", Test, r"(?m)^(?P<failed>\d+) failures, (?P<errored>\d+) errors\.$", Numbers),
    // C and C++.
    form("ctest", Test, r"(?m)^\d+% tests passed, (?P<failed>\d+) tests? failed out of (?P<total>\d+)", Numbers),
    form("ctest", Test, r"(?m)^No tests were found!!!", Fixed(Says::NoTests)),
    form("googletest", Test, r"(?m)^\[  PASSED  \] (?P<passed>\d+) tests?\.", Numbers),
    form("googletest", Test, r"(?m)^\[  FAILED  \] (?P<failed>\d+) tests?, listed below", Numbers),
    form("catch2", Test, r"(?m)^All tests passed \(\d+ assertions? in (?P<passed>\d+) test cases?\)", Numbers),
    form(
        "catch2",
        Test,
        r"(?m)^test cases:[ \t]+(?P<total>\d+)[ \t]*\|(?:[ \t]*(?P<passed>\d+) passed[ \t]*\|)?[ \t]*(?P<failed>\d+) failed",
        Numbers,
    ),
    form(
        "meson",
        Test,
        r"(?m)^Ok:[ \t]+(?P<passed>\d+)\s+(?:Expected Fail:[ \t]+\d+\s+)?Fail:[ \t]+(?P<failed>\d+)",
        Numbers,
    ),
    form(
        "automake",
        Test,
        r"(?m)^# TOTAL:\s+(?P<total>\d+)\s+# PASS:\s+(?P<passed>\d+)\s+# SKIP:\s+(?P<skipped>\d+)\s+# XFAIL:\s+\d+\s+# FAIL:\s+(?P<failed>\d+)",
        Numbers,
    ),
    form(
        "bazel",
        Test,
        r"(?m)^Executed \d+ out of (?P<total>\d+) tests?: (?P<list>(?:(?:all |\d+ )?(?:tests? )?(?:pass(?:es)?|fails?(?: locally| remotely)?|fails? to build|were skipped|was skipped)[^.,\n]*(?:, | and )?)+)\.?",
        Word(&["bazel"]),
    ),
    // .NET, Ruby, PHP, Swift, Elixir, Dart.
    parts(
        "dotnet test",
        Test,
        r"(?m)^\s*(?:Passed|Failed|Skipped)![ \t]+-[ \t]+Failed:[ \t]+(?P<failed>\d+), Passed:[ \t]+(?P<passed>\d+), Skipped:[ \t]+(?P<skipped>\d+), Total:[ \t]+(?P<total>\d+)",
        Numbers,
    ),
    form(
        "dotnet test",
        Test,
        r"(?m)^Test summary: total: (?P<total>\d+), failed: (?P<failed>\d+), succeeded: (?P<passed>\d+), skipped: (?P<skipped>\d+)",
        Numbers,
    ),
    form(
        "vstest",
        Test,
        r"(?m)^Total tests: (?P<total>\d+)\s+(?:Passed: (?P<passed>\d+))?(?:\s+Failed: (?P<failed>\d+))?(?:\s+Skipped: (?P<skipped>\d+))?",
        Numbers,
    ),
    form(
        "dotnet build",
        Build,
        r"(?m)^Build (?P<word>succeeded|FAILED)\.?(?:\s+(?P<warnings>\d+) Warning\(s\)\s+(?P<errors>\d+) Error\(s\))?",
        Word(&["succeeded"]),
    ),
    form(
        "rspec",
        Test,
        r"(?m)^(?P<total>\d+) examples?, (?P<failed>\d+) failures?(?:, (?P<skipped>\d+) pending)?(?:, (?P<errored>\d+) errors? occurred outside of examples)?",
        Numbers,
    ),
    form(
        "minitest",
        Test,
        r"(?m)^(?P<total>\d+) (?:runs|tests), \d+ assertions, (?P<failed>\d+) failures, (?P<errored>\d+) errors(?:, \d+ pendings, \d+ omissions, \d+ notifications)?(?:, (?P<skipped>\d+) skips)?",
        Numbers,
    ),
    form(
        "cucumber",
        Test,
        r"(?m)^\d+ scenarios? \((?P<list>(?:\d+ (?:passed|failed|undefined|skipped|pending)(?:, )?)+)\)",
        List,
    ),
    form("phpunit", Test, r"(?m)^OK(?:, but[^(]*)? \((?P<passed>\d+) tests?, \d+ assertions?\)", Numbers),
    form(
        "phpunit",
        Test,
        r"(?m)^Tests: (?P<total>\d+), Assertions: \d+(?:, Errors: (?P<errored>\d+))?(?:, Failures: (?P<failed>\d+))?(?:, Warnings: \d+)?(?:, Deprecations: \d+)?(?:, Skipped: (?P<skipped>\d+))?",
        Numbers,
    ),
    form("phpunit", Test, r"(?m)^No tests executed!", Fixed(Says::NoTests)),
    form(
        "swift test",
        Test,
        r"(?m)^[ \t]*Executed (?P<total>\d+) tests?, with (?:\d+ tests? skipped and )?(?P<failed>\d+) failures?",
        Numbers,
    ),
    form(
        "swift testing",
        Test,
        r"(?m)Test run with (?P<total>\d+) tests?(?: in \d+ suites?)? (?P<word>passed|failed) after",
        Word(&["passed"]),
    ),
    form("xcodebuild", Build, r"(?m)^\*\* (?:BUILD|TEST) (?P<word>SUCCEEDED|FAILED) \*\*", Word(&["SUCCEEDED"])),
    form(
        "mix test",
        Test,
        r"(?m)^(?:(?P<docs>\d+) doctests?, )?(?:\d+ (?:properties|property), )*(?P<total>\d+) tests?, (?P<failed>\d+) failures?(?:, \d+ excluded)?(?:, (?P<skipped>\d+) skipped)?",
        Numbers,
    ),
    form(
        "dart test",
        Test,
        r"(?m)(?:^|\r)\d\d:\d\d \+(?P<passed>\d+)(?: ~(?P<skipped>\d+))?(?: -(?P<failed>\d+))?: (?:All tests passed!|Some tests failed\.)",
        Numbers,
    ),
    form("zig test", Test, r"(?m)^All (?P<passed>\d+) tests? passed\.", Numbers),
    form("zig test", Test, r"(?m)^(?P<passed>\d+) passed; (?P<skipped>\d+) skipped; (?P<failed>\d+) failed\.", Numbers),
    form(
        "busted",
        Test,
        r"(?m)^(?P<passed>\d+) successes / (?P<failed>\d+) failures? / (?P<errored>\d+) errors? / (?P<skipped>\d+) pending",
        Numbers,
    ),
    form("eunit", Test, r"(?m)^[ \t]*(?:All )?(?P<passed>\d+) tests passed\.$", Numbers),
    form(
        "eunit",
        Test,
        r"(?m)^[ \t]*Failed: (?P<failed>\d+)\.[ \t]+Skipped: (?P<skipped>\d+)\.[ \t]+Passed: (?P<passed>\d+)\.",
        Numbers,
    ),
    form("tasty", Test, r"(?m)^All (?P<passed>\d+) tests passed \(", Numbers),
    form("tasty", Test, r"(?m)^(?P<failed>\d+) out of (?P<total>\d+) tests failed \(", Numbers),
    // Hooks.
    parts(
        "hook",
        Lint,
        r"(?m)^(?P<hook>[\w()@:/-][\w()@:/ .-]*?)\.{3,}(?:\([^)]*\))?(?P<word>Passed|Failed)$",
        Word(&["Passed"]),
    ),
    form(
        "husky",
        Lint,
        r"(?m)^husky - (?:pre-commit|pre-push|commit-msg) (?:hook|script) (?:exited with|failed) (?:code|\(code)",
        Fixed(Says::Failed),
    ),
    form("lint-staged", Lint, r"(?m)^lint-staged: \S+ found (?P<errors>\d+) errors?", Errors),
    // Builds.
    form("cargo build", Build, r"(?m)^[ \t]*Finished (?:`?\w[\w-]*`? profile|\w+ \[)", Fixed(Says::Passed)),
    form(
        "cargo build",
        Build,
        r"(?m)^error(?:\[E\d+\])?: (?:could not compile|aborting due to|linking with)",
        Fixed(Says::Failed),
    ),
    form("rustc", Build, r"(?m)^error\[E\d+\]", Fixed(Says::Failed)),
    form(
        "cargo warnings",
        Build,
        r"(?m)^warning: `[^`]+` \([^)]*\) generated (?P<warnings>\d+) warnings?",
        Fixed(Says::Nothing),
    ),
    form("vite", Build, r"(?m)^(?:[✓✔] )?built in \d", Fixed(Says::Passed)),
    form("vite", Build, r"(?m)^(?:error during build:|Build failed (?:in|with))", Fixed(Says::Failed)),
    form(
        "webpack",
        Build,
        r"(?m)^(?:webpack [\d.]+ )?compiled (?:successfully|with (?:(?P<errors>\d+) errors?(?: and )?)?(?:(?P<warnings>\d+) warnings?)?)",
        Errors,
    ),
    form(
        "next",
        Build,
        r"(?m)^(?:[ ✓⚠]*)?Compiled (?P<word>successfully|with warnings)",
        Word(&["successfully", "with warnings"]),
    ),
    form(
        "next",
        Build,
        r"(?m)^(?:Failed to compile\.?|> Build error occurred|Build failed because of webpack errors)",
        Fixed(Says::Failed),
    ),
    form(
        "make",
        Build,
        r"(?m)^g?make(?:\[\d+\])?: \*\*\* .*(?:Error \d+|No rule to make target|Stop\.)",
        Fixed(Says::Failed),
    ),
    form(
        "compiler",
        Build,
        r"(?m)^\S+\.(?:c|cc|cpp|cxx|h|hpp|java|kt|swift|cs|m|mm|zig|hs|scala)[:(]\d+(?:[:,]\d+)?\)?: (?:fatal )?error\b",
        Fixed(Says::Failed),
    ),
    form("go build", Build, r"(?m)^(?:\./)?[\w./-]+\.go:\d+:\d+: \S", Fixed(Says::Failed)),
    form("ninja", Build, r"(?m)^ninja: (?:build stopped|error)", Fixed(Says::Failed)),
    form("ninja", Build, r"(?m)^ninja: no work to do\.", Fixed(Says::Passed)),
    form("docker build", Build, r"(?m)^(?:ERROR: failed to (?:solve|build)|failed to solve:)", Fixed(Says::Failed)),
    form("docker build", Build, r"(?m)^(?:#\d+ naming to |Successfully (?:built|tagged) )", Fixed(Says::Passed)),
    form("esbuild", Build, r"(?m)^(?P<errors>\d+) errors?$", Errors),
    // Type checkers.
    parts("tsc lines", Types, r"(?m)(?:^|: )error TS\d+:", Fixed(Says::Failed)),
    form(
        "tsc",
        Types,
        r"(?m)^Found (?P<errors>\d+) errors?(?: in (?:\d+ files|the same file.*|\S+:\d+))?\.?[ \t]*(?:Watching for file changes\.)?$",
        Errors,
    ),
    form("mypy", Types, r"(?m)^Found (?P<errors>\d+) errors? in \d+ files?", Errors),
    form("mypy", Types, r"(?m)^Success: no issues found", Fixed(Says::Passed)),
    form(
        "pyright",
        Types,
        r"(?m)^(?P<errors>\d+) errors?, (?P<warnings>\d+) warnings?(?:, \d+ (?:notes?|informations?))?",
        Errors,
    ),
    form("flow", Types, r"(?m)^(?:No errors!|Found 0 errors)", Fixed(Says::Passed)),
    form(
        "svelte-check",
        Types,
        r"(?m)^svelte-check found (?P<errors>\d+) errors?(?: and (?P<warnings>\d+) warnings?)?",
        Errors,
    ),
    form("ty", Types, r"(?m)^Found (?P<errors>\d+) diagnostics?$", Errors),
    form("dart analyze", Types, r"(?m)^No issues found!", Fixed(Says::Passed)),
    form("phpstan", Types, r"(?m)^ *\[(?P<word>OK|ERROR)\] (?:No errors|Found (?P<errors>\d+) errors?)", Word(&["OK"])),
    form("go vet", Types, r"(?m)^vet: ", Fixed(Says::Failed)),
    // Linters.
    form(
        "eslint",
        Lint,
        r"(?m)^[✖×x] (?P<problems>\d+) problems? \((?P<errors>\d+) errors?, (?P<warnings>\d+) warnings?",
        Errors,
    ),
    form("ruff", Lint, r"(?m)^All checks passed!", Fixed(Says::Passed)),
    form("ruff", Lint, r"(?m)^Found (?P<problems>\d+) errors?(?: \(\d+ fixed, (?P<errors>\d+) remaining\))?\.", Errors),
    form("flake8", Lint, r"(?m)^\S+\.pyi?:\d+:\d+: [A-Z]+\d+ ", Fixed(Says::Failed)),
    form("pylint", Lint, r"(?m)^Your code has been rated at (?P<score>-?[\d.]+)/10", Fixed(Says::Nothing)),
    form("clippy", Lint, r"(?m)^(?:error|warning)(?:\[[^\]]*\])?: .*\n +--> ", Fixed(Says::Nothing)),
    form(
        "clippy",
        Lint,
        r"(?m)^error: could not compile `[^`]+`(?: \([^)]*\))? due to (?:(?P<errors>\d+) )?(?:previous )?errors?",
        Fixed(Says::Failed),
    ),
    form("golangci-lint", Lint, r"(?m)^(?P<problems>\d+) issues?[.:]", Errors),
    form("biome", Lint, r"(?m)^Found (?P<errors>\d+) errors?\.$", Errors),
    form(
        "biome",
        Lint,
        r"(?m)^Checked \d+ files? in [\d.]+\w+\. (?:No fixes applied|Fixed \d+ files?)\.",
        Fixed(Says::Passed),
    ),
    form("oxlint", Lint, r"(?m)^Found (?P<warnings>\d+) warnings? and (?P<errors>\d+) errors?\.", Errors),
    form("shellcheck", Lint, r"(?m)^In \S+ line \d+:$", Fixed(Says::Failed)),
    form("rubocop", Lint, r"(?m)^\d+ files? inspected, (?:no offenses|(?P<problems>\d+) offenses?) ", Errors),
    form("rubocop", Lint, r"(?m)^\d+ files? inspected, no offenses detected", Fixed(Says::Passed)),
    form("swiftlint", Lint, r"(?m)^Done linting! Found (?P<problems>\d+) violations?, (?P<errors>\d+) serious", Errors),
    form("next lint", Lint, r"(?m)^✔ No ESLint warnings or errors", Fixed(Says::Passed)),
    // Formatters.
    form("prettier", Format, r"(?m)^All matched files use Prettier code style!", Fixed(Says::Passed)),
    form("prettier", Format, r"(?m)^(?:\[warn\] )?Code style issues (?:were )?found in", Fixed(Says::Failed)),
    form("black", Format, r"(?m)^(?P<problems>\d+) files? would be reformatted", Errors),
    form("black", Format, r"(?m)^\d+ files? (?:would be left unchanged|already formatted)", Fixed(Says::Passed)),
    form("cargo fmt", Format, r"(?m)^Diff in ", Fixed(Says::Failed)),
];

static PATTERNS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    FORMS.iter().map(|form| Regex::new(form.pattern).expect("the pattern of a form compiles")).collect()
});

/// All patterns as one, so that one pass over an output tells which of them are worth a search of their own.
static ANY_PATTERN: LazyLock<RegexSet> =
    LazyLock::new(|| RegexSet::new(FORMS.iter().map(|form| form.pattern)).expect("the patterns of the forms compile"));

/// Takes the control sequences of terminals out of a text.
pub fn without_colours(text: &str) -> String {
    if !text.contains('\u{1b}') {
        return text.to_owned();
    }
    static SEQUENCES: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new("\u{1b}(?:\\[[0-9;?]*[ -/]*[@-~]|\\][^\u{7}\u{1b}]*(?:\u{7}|\u{1b}\\\\)?|[@-Z\\\\^_])")
            .expect("a pattern")
    });
    SEQUENCES.replace_all(text, "").into_owned()
}

/// Returns the summaries in an output, in the order in which they stand there.
pub fn summaries(output: &str) -> Vec<Summary> {
    let mut from = output.len().saturating_sub(MAX_OUTPUT_BYTES);
    while !output.is_char_boundary(from) {
        from += 1;
    }
    let text = without_colours(&output[from..]).replace("\r\n", "\n");
    let mut found = Vec::new();
    for row in ANY_PATTERN.matches(&text) {
        for captures in PATTERNS[row].captures_iter(&text) {
            found.push(Summary { row, ..read(&FORMS[row], &captures) });
        }
    }
    found.sort_by_key(|summary| summary.at);
    found
}

fn number(captures: &Captures<'_>, name: &str) -> Option<u64> {
    captures.name(name)?.as_str().parse().ok()
}

fn read(form: &Form, captures: &Captures<'_>) -> Summary {
    let whole = captures.get(0).expect("a match has a whole");
    let mut counts = Counts {
        passed: number(captures, "passed"),
        failed: sum(sum(number(captures, "failed"), number(captures, "errored")), number(captures, "timed")),
        skipped: number(captures, "skipped"),
        total: number(captures, "total"),
        suites: number(captures, "suites"),
        errors: number(captures, "errors"),
        warnings: number(captures, "warnings"),
        problems: number(captures, "problems"),
        documented: None,
    };
    let mut kind = form.kind;
    let says = match form.reading {
        Numbers => by_numbers(&counts),
        List => {
            let list = captures.name("list").map_or("", |list| list.as_str());
            counts = list_counts(list, form.name);
            let empty = counts.passed.unwrap_or(0) == 0
                && counts.failed.unwrap_or(0) == 0
                && !list.contains("xfailed")
                && !list.contains("xpassed");
            if form.name == "pytest" && empty {
                Says::NoTests
            } else if form.name.ends_with("suites") {
                by_suites(&counts)
            } else {
                by_numbers(&counts)
            }
        }
        Fixed(says) => says,
        Word(good) => {
            let word = captures.name("word").or_else(|| captures.name("word2")).map(|word| word.as_str());
            let is_good = match (form.name, word) {
                ("bazel", _) => {
                    let list = captures.name("list").map_or("", |list| list.as_str());
                    if let Some(total) = counts.total.filter(|_| !list.contains("fail")) {
                        counts.passed = Some(total);
                    }
                    !list.contains("fail")
                }
                (_, None) => good.contains(&whole.as_str()),
                (_, Some(word)) => good.contains(&word),
            };
            if form.name == "hook" {
                kind = kind_of_hook(captures.name("hook").map_or("", |hook| hook.as_str())).unwrap_or(kind);
            }
            if form.name == "unittest" {
                let bad = counts.failed.unwrap_or(0) + counts.skipped.unwrap_or(0);
                counts.passed = counts.total.map(|total| total.saturating_sub(bad));
                counts.failed.get_or_insert(0);
            }
            let ran = counts.passed.is_some() || counts.failed.is_some() || counts.total.is_some();
            let none = ran && counts.ran() == Some(0) && counts.skipped.unwrap_or(0) == 0;
            match (is_good, none) {
                (true, true) => Says::NoTests,
                (true, false) => Says::Passed,
                (false, _) if word == Some("NOTESTS") || word == Some("NO TESTS RAN") => Says::NoTests,
                (false, _) => Says::Failed,
            }
        }
        Errors => {
            if form.name == "ruff" && counts.errors == Some(0) {
                counts.problems = Some(0);
            }
            let decisive = match (counts.errors, counts.problems) {
                (Some(errors), _) => errors,
                (None, Some(problems)) => problems,
                (None, None) => 0,
            };
            if decisive > 0 { Says::Failed } else { Says::Passed }
        }
    };
    counts.documented = number(captures, "docs");
    if form.name == "tsc lines" {
        counts.errors = Some(1);
    }
    Summary { form: form.name, kind, says, counts, at: whole.start(), adds_up: form.adds_up, row: 0 }
}

fn by_numbers(counts: &Counts) -> Says {
    match counts.failed {
        Some(failed) if failed > 0 => Says::Failed,
        _ if counts.ran() == Some(0) => Says::NoTests,
        _ => Says::Passed,
    }
}

fn by_suites(counts: &Counts) -> Says {
    if counts.failed.unwrap_or(0) > 0 { Says::Failed } else { Says::Nothing }
}

/// Reads `1 failed, 2 passed, 1 skipped, 4 total`.
fn list_counts(list: &str, form: &str) -> Counts {
    let mut counts = Counts::default();
    for part in list.split([',', '|']) {
        let mut words = part.split_whitespace();
        let Some(number) = words.next().and_then(|word| word.parse::<u64>().ok()) else { continue };
        let number = Some(number);
        match words.next() {
            Some("passed") => counts.passed = number,
            Some("failed" | "error" | "errors" | "undefined") => counts.failed = sum(counts.failed, number),
            Some("skipped" | "todo" | "pending" | "ignored" | "incomplete") => {
                counts.skipped = sum(counts.skipped, number);
            }
            Some("total") => counts.total = number,
            Some("warning" | "warnings") => counts.warnings = number,
            _ => {}
        }
    }
    if form == "pytest" && counts.failed.is_none() && counts.passed.is_some() {
        counts.failed = Some(0);
    }
    if form.ends_with("suites") {
        let suites = counts.total.or_else(|| sum(sum(counts.passed, counts.failed), counts.skipped));
        counts = Counts { suites, failed: counts.failed, ..Counts::default() };
    }
    counts
}

/// Returns what a hook with this name checks.
fn kind_of_hook(name: &str) -> Option<CheckKind> {
    let name = name.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    if has(&["pytest", "unittest", "test"]) {
        Some(Test)
    } else if has(&["mypy", "pyright", "typecheck", "tsc", "type check"]) {
        Some(Types)
    } else if has(&["black", "prettier", "fmt", "format", "isort"]) {
        Some(Format)
    } else if has(&["build", "compile"]) {
        Some(Build)
    } else {
        None
    }
}

/// Names of tests that an output says have failed, at most [`MAX_FAILED_NAMES`].
pub fn failed_tests(output: &str) -> Vec<String> {
    static NAMES: LazyLock<Vec<Regex>> = LazyLock::new(|| {
        [
            r"(?m)^(?:FAILED|ERROR) ([^\s]+::[^\n]*?)(?: - .*)?$",
            r"(?m)^test (\S+) \.\.\. FAILED",
            r"(?m)^---- (\S+) stdout ----",
            r"(?m)^\s*--- FAIL: (\S+)",
            r"(?m)^\s*[●✕✗×✘] (?:[^\n›]* › )*([^\n›]+?)(?: \(\d+ ?m?s\))?$",
            r"(?m)^(?:FAIL|ERROR): (\w+) \([\w.]+\)",
            r"(?m)^\s*\d+\) ([^\n]{3,120})$",
            r"(?m)^not ok \d+ -? ?([^\n#]+)",
            r"(?m)^rspec (\S+)",
            r"(?m)^_{3,} (?:ERROR at \w+ of )?(\S.*?) _{3,}$",
            r"(?m)^\s*FAIL\s+(\S[^\n]*?)(?: \([\d.]+ ?m?s\))?$",
            r"(?m)^\[ERROR\]\s+([\w.]+)(?::\d+|\s+--)",
        ]
        .iter()
        .map(|pattern| Regex::new(pattern).expect("a pattern"))
        .collect()
    });
    let text = without_colours(output);
    let mut found: Vec<String> = Vec::new();
    for pattern in NAMES.iter() {
        for captures in pattern.captures_iter(&text) {
            let name = captures[1].trim();
            if found.len() < MAX_FAILED_NAMES && !found.iter().any(|known| known == name) {
                found.push(name.to_owned());
            }
        }
    }
    found
}

/// Most names of failed tests that are kept of one output.
pub const MAX_FAILED_NAMES: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    /// An output with its kind, verdict and two numbers.
    type Row = (&'static str, CheckKind, Says, Option<u64>, Option<u64>);

    /// Outputs, with the kind, the verdict and the numbers of tests that passed and failed, or of errors.
    const OUTPUTS: &[Row] = &[
        ("== 3 passed in 0.12s ==", Test, Says::Passed, Some(3), Some(0)),
        ("1 failed, 4 passed in 0.38s", Test, Says::Failed, Some(4), Some(1)),
        ("2 passed, 1 xfailed in 0.1s", Test, Says::Passed, Some(2), Some(0)),
        ("no tests ran in 0.01s", Test, Says::NoTests, None, None),
        ("Ran 5 tests in 0.1s\n\nOK", Test, Says::Passed, Some(5), Some(0)),
        ("Ran 5 tests in 0.1s\n\nFAILED (failures=1, errors=1)", Test, Says::Failed, Some(3), Some(2)),
        (
            "test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.03s",
            Test,
            Says::Passed,
            Some(2),
            Some(0),
        ),
        (
            "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.03s",
            Test,
            Says::NoTests,
            Some(0),
            Some(0),
        ),
        ("     Summary [   0.5s] 12 tests run: 11 passed, 1 failed, 2 skipped", Test, Says::Failed, Some(11), Some(1)),
        ("ok  \texample.com/a\t0.01s", Test, Says::Passed, None, None),
        ("FAIL\texample.com/a\t0.01s", Test, Says::Failed, None, None),
        ("?   \texample.com/a\t[no test files]", Test, Says::NoTests, None, None),
        ("Tests:       1 failed, 18 passed, 19 total", Test, Says::Failed, Some(18), Some(1)),
        ("      Tests  4 passed (4)", Test, Says::Passed, Some(4), None),
        ("  12 passing (31ms)\n  1 failing", Test, Says::Failed, None, Some(1)),
        ("# pass 5\n# fail 0", Test, Says::Passed, Some(5), Some(0)),
        ("ok | 5 passed | 0 failed (12ms)", Test, Says::Passed, Some(5), Some(0)),
        (" 8 pass\n 1 fail", Test, Says::Failed, Some(8), Some(1)),
        ("[INFO] Tests run: 7, Failures: 0, Errors: 0, Skipped: 1", Test, Says::Passed, None, Some(0)),
        ("9 tests completed, 2 failed", Test, Says::Failed, None, Some(2)),
        ("80% tests passed, 1 tests failed out of 5", Test, Says::Failed, None, Some(1)),
        ("Executed 3 out of 3 tests: 3 tests pass.", Test, Says::Passed, Some(3), None),
        (
            "Passed!  - Failed:     0, Passed:    11, Skipped:     0, Total:    11",
            Test,
            Says::Passed,
            Some(11),
            Some(0),
        ),
        ("10 examples, 1 failure", Test, Says::Failed, None, Some(1)),
        ("OK (6 tests, 12 assertions)", Test, Says::Passed, Some(6), None),
        ("Executed 4 tests, with 0 failures (0 unexpected)", Test, Says::Passed, None, Some(0)),
        ("1 doctest, 5 tests, 0 failures", Test, Says::Passed, None, Some(0)),
        ("ok 1 - a\nok 2 - b", Test, Says::Passed, None, None),
        ("pytest.................................Passed", Test, Says::Passed, None, None),
        ("BUILD SUCCESSFUL in 3s", Build, Says::Passed, None, None),
        ("    Finished `dev` profile [unoptimized] target(s) in 1s", Build, Says::Passed, None, None),
        ("✓ built in 812ms", Build, Says::Passed, None, None),
        ("src/a.ts(1,2): error TS2307: Cannot find module", Types, Says::Failed, None, None),
        ("Success: no issues found in 5 source files", Types, Says::Passed, None, None),
        ("✖ 3 problems (0 errors, 3 warnings)", Lint, Says::Passed, None, None),
        ("✖ 3 problems (1 error, 2 warnings)", Lint, Says::Failed, None, None),
        ("All checks passed!", Lint, Says::Passed, None, None),
        ("12 files inspected, no offenses detected", Lint, Says::Passed, None, None),
        ("All matched files use Prettier code style!", Format, Says::Passed, None, None),
    ];

    #[test]
    fn summaries_are_read() {
        for (output, kind, says, passed, failed) in OUTPUTS {
            let found = summaries(output);
            let own: Vec<&Summary> = found.iter().filter(|summary| summary.kind == *kind).collect();
            let last = own.last().unwrap_or_else(|| panic!("no summary of {kind:?} in {output:?}: {found:?}"));
            assert_eq!(last.says, *says, "{output}: {found:?}");
            assert_eq!((last.counts.passed, last.counts.failed), (*passed, *failed), "{output}");
        }
    }

    #[test]
    fn lines_of_programs_are_no_summaries() {
        for output in [
            "test_error_500 PASSED",
            "14 passed",
            "all good",
            "5 tests",
            "he said: 3 passed in total",
            "Tests are fine",
        ] {
            assert!(summaries(output).is_empty(), "{output}: {:?}", summaries(output));
        }
    }

    #[test]
    fn colours_do_not_matter() {
        assert_eq!(without_colours("\u{1b}[32m3 passed\u{1b}[0m"), "3 passed");
        assert_eq!(summaries("\u{1b}[32m\u{1b}[1m3 passed\u{1b}[0m\u{1b}[32m in 0.10s\u{1b}[0m").len(), 1);
    }

    #[test]
    fn names_of_failed_tests_are_found() {
        assert_eq!(failed_tests("FAILED tests/a.py::test_b - assert 1"), ["tests/a.py::test_b"]);
        assert_eq!(failed_tests("test a::b ... FAILED\ntest a::c ... ok"), ["a::b"]);
        assert_eq!(failed_tests("--- FAIL: TestX (0.00s)"), ["TestX"]);
        assert_eq!(failed_tests("  ● sums › adds"), ["adds"]);
    }
}
