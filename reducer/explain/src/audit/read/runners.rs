//! Which programs run checks: a table, one row per program and sub-command.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::shell::Command;

/// Kind of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckKind {
    /// A run of tests.
    Test,
    /// A build.
    Build,
    /// A type checker.
    Types,
    /// A linter.
    Lint,
    /// A formatter that only looks.
    Format,
}

impl CheckKind {
    /// All kinds.
    pub const ALL: [Self; 5] = [Self::Test, Self::Build, Self::Types, Self::Lint, Self::Format];

    /// Returns the name of the kind.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Build => "build",
            Self::Types => "types",
            Self::Lint => "lint",
            Self::Format => "format",
        }
    }
}

/// One row of the table.
struct Runner {
    /// Names of the program, separated by `|`.
    program: &'static str,
    /// Sub-command: alternatives separated by `|`, `*` at the end stands for any rest; empty for none.
    task: &'static str,
    /// Options of which one must be there, separated by `|`; empty for none.
    option: &'static str,
    /// What it checks.
    kinds: &'static [CheckKind],
}

const fn row(program: &'static str, task: &'static str, option: &'static str, kinds: &'static [CheckKind]) -> Runner {
    Runner { program, task, option, kinds }
}

use CheckKind::{Build, Format, Lint, Test, Types};

/// Programs that run checks. The first row that fits counts.
static RUNNERS: [Runner; 121] = [
    // Python.
    row("pytest|py.test", "", "", &[Test]),
    row("tox", "", "", &[Test]),
    row("nox", "", "", &[Test]),
    row("nosetests|nose2", "", "", &[Test]),
    row("behave|robot", "", "", &[Test]),
    row("coverage", "run", "", &[Test]),
    row("trial|stestr|testr", "", "", &[Test]),
    row("manage.py", "test", "", &[Test]),
    row("hatch", "test", "", &[Test]),
    row("mypy|dmypy", "", "", &[Types]),
    row("pyright|basedpyright|pyre|pytype", "", "", &[Types]),
    row("ty", "check", "", &[Types]),
    row("ruff", "format", "--check|--diff", &[Format]),
    row("ruff", "check|.", "", &[Lint]),
    row("ruff", "", "", &[Lint]),
    row("flake8|pylint|pyflakes|pycodestyle|pydocstyle|bandit|vulture", "", "", &[Lint]),
    row("black|isort|yapf|autopep8", "", "--check|--diff|--check-only|-c", &[Format]),
    row("pre-commit|prek", "run", "", &[Lint]),
    // Rust.
    row("cargo", "test|t|nextest|llvm-cov|tarpaulin|miri|insta", "", &[Test, Build]),
    row("cargo", "clippy", "", &[Lint, Build]),
    row("cargo", "check|c", "", &[Build, Types]),
    row("cargo", "build|b|rustc|doc|bench|hack", "", &[Build]),
    row("cargo", "fmt", "--check", &[Format]),
    row("rustfmt", "", "--check", &[Format]),
    row("cargo-nextest|nextest", "", "", &[Test, Build]),
    row("cross", "test", "", &[Test, Build]),
    row("cross", "build", "", &[Build]),
    row("rustc", "", "", &[Build]),
    // Go.
    row("go", "test", "", &[Test, Build]),
    row("go", "build|install", "", &[Build]),
    row("go", "vet", "", &[Types, Lint]),
    row("gotestsum|ginkgo|richgo", "", "", &[Test, Build]),
    row("golangci-lint", "", "", &[Lint]),
    row("staticcheck|revive|golint", "", "", &[Lint]),
    row("gofmt|gofumpt|goimports", "", "-l|-d", &[Format]),
    // JavaScript and TypeScript.
    row("jest|mocha|ava|tap|tape|jasmine|karma|qunit|uvu|c8|nyc|wdio", "", "", &[Test]),
    row("vitest", "", "", &[Test]),
    row("playwright|cypress|testcafe", "test|run", "", &[Test]),
    row("node", "", "--test", &[Test]),
    row("deno", "test", "", &[Test]),
    row("deno", "lint", "", &[Lint]),
    row("deno", "check", "", &[Types]),
    row("deno", "fmt", "--check", &[Format]),
    row("bun", "test", "", &[Test]),
    row("react-scripts", "test", "", &[Test]),
    row("react-scripts", "build", "", &[Build]),
    row("ng", "test|e2e", "", &[Test]),
    row("ng", "build", "", &[Build]),
    row("ng", "lint", "", &[Lint]),
    row("nx|turbo|lerna|moon", "test*|e2e*", "", &[Test]),
    row("nx|turbo|lerna|moon", "build*", "", &[Build]),
    row("nx|turbo|lerna|moon", "lint*", "", &[Lint]),
    row("nx|turbo|lerna|moon", "type*", "", &[Types]),
    row("tsc|tsgo", "", "--noEmit", &[Types, Build]),
    row("tsc|tsgo|vue-tsc|svelte-check", "", "", &[Types, Build]),
    row("flow", "check", "", &[Types]),
    row("eslint|tslint|oxlint|xo|standard|jshint|stylelint|htmlhint|markdownlint|markdownlint-cli2", "", "", &[Lint]),
    row("biome", "format", "", &[Format]),
    row("biome", "", "", &[Lint]),
    row("next", "lint", "", &[Lint]),
    row("next|astro|nuxt|vite|remix|gatsby|parcel|svelte-kit", "build", "", &[Build]),
    row("webpack|rollup|esbuild|tsup|swc|babel|rspack|rsbuild|microbundle|ncc", "", "", &[Build]),
    row("prettier|dprint", "", "--check|-c|-l|--list-different|check", &[Format]),
    row("dprint", "check", "", &[Format]),
    row("lint-staged", "", "", &[Lint]),
    // JVM.
    row("mvn|mvnw|mvnd", "test|verify|package|install|integration-test|surefire:*|failsafe:*", "", &[Test, Build]),
    row("mvn|mvnw|mvnd", "compile|test-compile", "", &[Build]),
    row("mvn|mvnw|mvnd", "checkstyle:*|spotbugs:*|pmd:*", "", &[Lint]),
    row("mvn|mvnw|mvnd", "spotless:check", "", &[Format]),
    row("gradle|gradlew", "test*|check|build|*:test*|*:check|*:build|*Test|connectedAndroidTest", "", &[Test, Build]),
    row("gradle|gradlew", "assemble*|compile*|classes|jar|*:assemble*|*:compile*", "", &[Build]),
    row("gradle|gradlew", "lint*|detekt|checkstyle*|ktlintCheck|spotbugs*", "", &[Lint]),
    row("gradle|gradlew", "spotlessCheck", "", &[Format]),
    row("sbt", "test*|*/test*|*:test*", "", &[Test, Build]),
    row("sbt", "compile*|package*", "", &[Build]),
    row("lein|clj|clojure", "test|-M:test|-X:test", "", &[Test]),
    row("ktlint|detekt|checkstyle", "", "", &[Lint]),
    row("mill", "*.test*", "", &[Test, Build]),
    row("mill", "*.compile", "", &[Build]),
    row("javac|kotlinc|scalac", "", "", &[Build]),
    // C, C++ and others that make or cmake build.
    row("ctest", "", "", &[Test]),
    row("meson", "test", "", &[Test]),
    row("meson", "compile", "", &[Build]),
    row("ninja", "test|check", "", &[Test, Build]),
    row("ninja", "", "", &[Build]),
    row("cmake", "", "--build", &[Build]),
    row("gcc|g++|clang|clang++|cc|c++", "", "", &[Build]),
    row("clang-tidy|cppcheck|cpplint", "", "", &[Lint]),
    row("clang-format", "", "--dry-run|-n", &[Format]),
    row("bazel|bazelisk|blaze", "test|coverage", "", &[Test, Build]),
    row("bazel|bazelisk|blaze", "build", "", &[Build]),
    row("buck|buck2|pants|please|plz", "test", "", &[Test, Build]),
    row("buck|buck2|pants|please|plz", "build", "", &[Build]),
    row("buck|buck2|pants|please|plz", "lint", "", &[Lint]),
    row("zig", "test", "", &[Test, Build]),
    row("zig", "build", "", &[Build]),
    row("bats", "", "", &[Test]),
    row("prove", "", "", &[Test]),
    row("shellcheck", "", "", &[Lint]),
    row("shfmt", "", "-d|-l", &[Format]),
    // .NET, Ruby, PHP, Swift, Elixir, Dart, Haskell and others.
    row("dotnet", "test|vstest", "", &[Test, Build]),
    row("dotnet", "build|publish|msbuild", "", &[Build]),
    row("dotnet", "format", "--verify-no-changes", &[Format]),
    row("rspec|cucumber|minitest", "", "", &[Test]),
    row("rails|rake", "test*|spec*", "", &[Test]),
    row("rubocop|standardrb|reek|brakeman", "", "", &[Lint]),
    row("srb", "tc", "", &[Types]),
    row("phpunit|pest|paratest|codecept|behat", "", "", &[Test]),
    row("artisan", "test", "", &[Test]),
    row("phpstan|psalm", "", "", &[Types, Lint]),
    row("phpcs|php-cs-fixer", "", "", &[Lint]),
    row("swift|xcodebuild", "test", "", &[Test, Build]),
    row("swift|xcodebuild", "build", "", &[Build]),
    row("swiftlint", "", "", &[Lint]),
    row("mix", "test", "", &[Test, Build]),
    row("mix", "compile", "", &[Build]),
    row("mix", "credo|dialyzer", "", &[Lint]),
    row("mix", "format", "--check-formatted", &[Format]),
    row("dart|flutter", "test", "", &[Test]),
    row("dart|flutter", "analyze", "", &[Types, Lint]),
    row("flutter|cabal|stack|dune|nimble|rebar3|lake", "test|runtest|eunit|ct", "", &[Test, Build]),
];

/// Rows for programs whose tables would not fit above one another.
static MORE_RUNNERS: [Runner; 11] = [
    row("hardhat|forge|truffle|anchor|ape|brownie|scarb|snforge", "test", "", &[Test, Build]),
    row("hardhat|forge|truffle|anchor|ape|brownie|scarb", "compile|build", "", &[Build]),
    row("flutter|cabal|stack|dune|nimble|rebar3|lake", "build|compile", "", &[Build]),
    row("docker|podman|buildah", "build", "", &[Build]),
    row("docker", "buildx", "", &[Build]),
    row("docker-compose", "build", "", &[Build]),
    row("hlint|luacheck|yamllint|hadolint|actionlint|sqlfluff|ansible-lint|tflint|buf", "", "", &[Lint]),
    row("terraform|tofu", "validate", "", &[Lint]),
    row("terraform|tofu", "fmt", "-check", &[Format]),
    row("busted|luaunit", "", "", &[Test]),
    row("helm", "lint", "", &[Lint]),
];

/// The rows of both tables by program, in the order of the tables.
static ROWS: LazyLock<HashMap<&'static str, Vec<&'static Runner>>> = LazyLock::new(|| {
    let mut rows: HashMap<&str, Vec<&Runner>> = HashMap::new();
    for runner in RUNNERS.iter().chain(&MORE_RUNNERS) {
        for program in runner.program.split('|') {
            rows.entry(program).or_default().push(runner);
        }
    }
    rows
});

/// How sure it is what a command checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Runs {
    /// A program that is known to run these checks.
    Checks(Vec<CheckKind>),
    /// A script or task that may run checks. Its output shows which; its name is a hint.
    Script(Vec<CheckKind>),
    /// Something else.
    Other,
}

/// Programs that run tasks by name: `npm run lint`, `make test`, `just check`.
const TASK_RUNNERS: [&str; 18] = [
    "npm", "pnpm", "yarn", "bun", "make", "gmake", "just", "task", "mise", "rake", "invoke", "inv", "poe", "deno",
    "composer", "hatch", "rye", "moon",
];

/// Words of the names of tasks, with what such a task checks. The first that the name holds counts.
const TASK_WORDS: [(&str, &[CheckKind]); 22] = [
    ("typecheck", &[Types]),
    ("type-check", &[Types]),
    ("check-types", &[Types]),
    ("check:types", &[Types]),
    ("check_types", &[Types]),
    ("types", &[Types]),
    ("tsc", &[Types]),
    ("mypy", &[Types]),
    ("format:check", &[Format]),
    ("format-check", &[Format]),
    ("fmt-check", &[Format]),
    ("check-format", &[Format]),
    ("check:format", &[Format]),
    ("prettier:check", &[Format]),
    ("lint", &[Lint]),
    ("clippy", &[Lint]),
    ("test", &[Test]),
    ("spec", &[Test]),
    ("e2e", &[Test]),
    ("build", &[Build]),
    ("compile", &[Build]),
    ("bundle", &[Build]),
];

/// Returns what a command checks.
pub fn runs(command: &Command) -> Runs {
    let program = command.program();
    if program.is_empty() || asks_for_help(command) {
        return Runs::Other;
    }
    if let Some(kinds) = by_table(program, command.arguments()) {
        return Runs::Checks(kinds);
    }
    if is_python(program) {
        return python(command);
    }
    if program == "php" || program == "ruby" || program == "perl" {
        let rest: Vec<&String> = command.arguments().iter().skip_while(|word| word.starts_with('-')).collect();
        if let Some(first) = rest.first() {
            let name = first.rsplit('/').next().unwrap_or(first);
            let arguments: Vec<String> = rest[1..].iter().map(|word| (*word).clone()).collect();
            if let Some(kinds) = by_table(name, &arguments) {
                return Runs::Checks(kinds);
            }
            return Runs::Script(by_name(name));
        }
    }
    if TASK_RUNNERS.contains(&program) {
        return task(program, command);
    }
    let first = command.words.first().map_or("", String::as_str);
    if is_script_path(first) {
        return Runs::Script(by_name(program));
    }
    let interpreter =
        matches!(program, "sh" | "bash" | "zsh" | "dash" | "node" | "deno" | "bun" | "tsx" | "ts-node" | "go");
    if interpreter {
        let operand = command.operands().find(|word| *word != "run");
        let ends = |word: &&str| is_script_path(word) || word.contains('.');
        if let Some(script) = operand.filter(ends) {
            return Runs::Script(by_name(script.rsplit('/').next().unwrap_or(script)));
        }
    }
    if matches!(
        program,
        "docker" | "docker-compose" | "podman" | "act" | "earthly" | "dagger" | "git" | "tap" | "husky"
    ) {
        // Hooks print what the checks that they run print.
        let hooks = program != "git" || command.operands().next().is_some_and(|word| matches!(word, "commit" | "push"));
        if hooks {
            return Runs::Script(Vec::new());
        }
    }
    Runs::Other
}

fn asks_for_help(command: &Command) -> bool {
    let asks = [
        "--help",
        "-h",
        "--version",
        "-V",
        "--collect-only",
        "--co",
        "--list",
        "--list-tests",
        "--listTests",
        "--dry-run",
        "--showConfig",
        "--print-config",
        "--no-run",
    ];
    // `-n` and others have a meaning of their own in some runners, so only whole words count.
    let is_docker = command.program() == "docker" || command.program() == "clang-format";
    !is_docker
        && command.arguments().iter().any(|word| asks.contains(&word.as_str()))
        && !(command.program() == "tsc"
            && !command.has_flag("--help")
            && !command.has_flag("--version")
            && !command.has_flag("-h"))
}

fn by_table(program: &str, arguments: &[String]) -> Option<Vec<CheckKind>> {
    let program = program.strip_suffix(".exe").or_else(|| program.strip_suffix(".cmd")).unwrap_or(program);
    let program = program.strip_suffix(".bat").unwrap_or(program);
    let rows = ROWS.get(program)?;
    let found = rows.iter().find(|runner| has_task(runner, arguments) && has_option(runner, arguments))?;
    Some(found.kinds.to_vec())
}

/// Returns whether the first words that are no options hold the sub-command.
fn has_task(runner: &Runner, arguments: &[String]) -> bool {
    if runner.task.is_empty() {
        return true;
    }
    let is_many = matches!(
        runner.program,
        "mvn|mvnw|mvnd" | "gradle|gradlew" | "sbt" | "nx|turbo|lerna|moon" | "swift|xcodebuild"
    );
    let mut words = arguments.iter().map(String::as_str).filter(|word| {
        // `cargo +nightly test`, and options before the sub-command.
        !word.starts_with('+') && (!word.starts_with('-') || runner.task.split('|').any(|task| task == *word))
    });
    let fits = |word: &str| runner.task.split('|').any(|task| matches_pattern(task, word));
    if is_many {
        words.any(fits)
    } else {
        words.next().is_some_and(fits) || second_word(runner, arguments).is_some_and(fits)
    }
}

/// Returns the word after an option with a value that often stands before the sub-command.
fn second_word<'a>(runner: &Runner, arguments: &'a [String]) -> Option<&'a str> {
    let valued = ["--manifest-path", "-C", "--directory", "--prefix", "--project", "-f", "--cwd"];
    let is_valued = matches!(runner.program, "cargo" | "go" | "dotnet" | "mix");
    let at = arguments.iter().position(|word| valued.contains(&word.as_str()))?;
    if !is_valued || at != 0 {
        return None;
    }
    arguments.get(2).map(String::as_str)
}

fn matches_pattern(pattern: &str, word: &str) -> bool {
    let (starts, ends) = (pattern.starts_with('*'), pattern.ends_with('*'));
    let bare = pattern.trim_matches('*');
    match (starts, ends) {
        (true, true) => word.contains(bare),
        (true, false) => word.ends_with(bare),
        (false, true) => word.starts_with(bare),
        (false, false) => word == bare,
    }
}

fn has_option(runner: &Runner, arguments: &[String]) -> bool {
    runner.option.is_empty()
        || runner.option.split('|').any(|option| {
            arguments
                .iter()
                .any(|word| word == option || word.strip_prefix(option).is_some_and(|rest| rest.starts_with('=')))
        })
}

fn is_python(program: &str) -> bool {
    program == "py"
        || program.strip_prefix("python").is_some_and(|rest| rest.chars().all(|it| it.is_ascii_digit() || it == '.'))
}

fn python(command: &Command) -> Runs {
    let arguments = command.arguments();
    if let Some(at) = arguments.iter().position(|word| word == "-m") {
        let Some(module) = arguments.get(at + 1) else { return Runs::Other };
        let rest = arguments.get(at + 2..).unwrap_or_default();
        return match module.as_str() {
            "unittest" | "doctest" | "nose" | "nose2" | "pytest" | "twisted.trial" => Runs::Checks(vec![Test]),
            "build" => Runs::Checks(vec![Build]),
            "compileall" | "py_compile" => Runs::Checks(vec![Build]),
            module => by_table(module, rest).map_or(Runs::Other, Runs::Checks),
        };
    }
    let Some(script) = arguments.iter().find(|word| !word.starts_with('-')) else { return Runs::Other };
    let name = script.rsplit('/').next().unwrap_or(script);
    let at = arguments.iter().position(|word| word == script).unwrap_or(0);
    if let Some(kinds) = by_table(name, arguments.get(at + 1..).unwrap_or_default()) {
        return Runs::Checks(kinds);
    }
    if name.ends_with(".py") && !arguments.iter().any(|word| word == "-c") {
        return Runs::Script(by_name(name));
    }
    Runs::Other
}

fn task(program: &str, command: &Command) -> Runs {
    let names_first =
        !matches!(program, "npm" | "pnpm" | "yarn" | "bun" | "mise" | "deno" | "composer" | "hatch" | "rye" | "moon");
    let valued =
        ["-C", "-f", "--prefix", "--filter", "-F", "-w", "--workspace", "--cwd", "-j", "--directory", "--file"];
    let mut words: Vec<&str> = Vec::new();
    let mut skip = false;
    for word in command.arguments().iter().map(String::as_str).take_while(|word| *word != "--") {
        if std::mem::take(&mut skip) {
            continue;
        }
        if word.starts_with('-') {
            skip = valued.contains(&word);
        } else if crate::audit::read::shell::assignment(word).is_none() {
            words.push(word);
        }
    }
    if names_first {
        return match (program, words.first()) {
            ("make" | "gmake", None) => Runs::Script(vec![Build]),
            (_, None) => Runs::Script(Vec::new()),
            (_, Some(_)) => {
                let mut kinds: Vec<CheckKind> = words.iter().flat_map(|word| by_name(word)).collect();
                if matches!(program, "make" | "gmake") && words.contains(&"all") {
                    kinds.push(Build);
                }
                if matches!(program, "make" | "gmake") && words.contains(&"check") {
                    kinds.push(Test);
                }
                kinds.dedup();
                Runs::Script(kinds)
            }
        };
    }
    // `npm test`, `npm t`, `npm run test:unit`, `pnpm --filter x test`, `yarn lint`, `yarn workspace x test`.
    if matches!(program, "yarn") && words.first() == Some(&"workspace") {
        words.drain(..2.min(words.len()));
    }
    if matches!(program, "yarn" | "pnpm") && matches!(words.first(), Some(&"workspaces" | &"-r" | &"recursive")) {
        words.remove(0);
        if words.first() == Some(&"foreach") {
            words.remove(0);
        }
    }
    let explicit = matches!(words.first(), Some(&"run" | &"run-script" | &"task" | &"rum"));
    if explicit {
        words.remove(0);
    }
    let Some(name) = words.first().copied() else { return Runs::Other };
    if matches!(name, "test" | "t" | "tst") && matches!(program, "npm" | "pnpm" | "yarn" | "bun" | "composer") {
        return Runs::Checks(vec![Test]);
    }
    if explicit {
        return Runs::Script(by_name(name));
    }
    // Without `run`, yarn and pnpm run a script or a program of the project.
    if matches!(program, "yarn" | "pnpm" | "bun" | "composer") {
        let rest: Vec<String> = words[1..].iter().map(|word| (*word).to_owned()).collect();
        if let Some(kinds) = by_table(name, &rest) {
            return Runs::Checks(kinds);
        }
        let own = [
            "install", "i", "add", "remove", "up", "update", "upgrade", "why", "list", "ls", "init", "create",
            "publish", "info", "config", "cache", "link", "require", "outdated", "audit", "prune", "store", "import",
            "version",
        ];
        if !own.contains(&name) {
            return Runs::Script(by_name(name));
        }
    }
    Runs::Other
}

/// Returns what a script or a task with this name seems to check.
pub fn by_name(name: &str) -> Vec<CheckKind> {
    let name = name.to_ascii_lowercase();
    let found = TASK_WORDS.iter().find(|(word, _)| name.contains(word));
    found.map_or_else(Vec::new, |(_, kinds)| kinds.to_vec())
}

fn is_script_path(word: &str) -> bool {
    let ends = [".sh", ".bash", ".py", ".js", ".mjs", ".ts", ".rb", ".pl", ".ps1", ".bat", ".cmd"];
    word.starts_with("./")
        || word.starts_with("../")
        || ends.iter().any(|end| word.ends_with(end))
        || (word.contains('/') && !word.starts_with("/usr/") && !word.starts_with("/bin/") && !word.starts_with('-'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::read::shell::commands;

    fn of(script: &str) -> Runs {
        let all = commands(script);
        runs(all.iter().rev().find(|command| runs(command) != Runs::Other).unwrap_or(&all[0]))
    }

    #[test]
    fn each_row_of_the_table_is_found_by_itself() {
        for runner in RUNNERS.iter().chain(&MORE_RUNNERS) {
            for program in runner.program.split('|') {
                let task = runner.task.split('|').next().unwrap_or("").replace('*', "x");
                let option = runner.option.split('|').next().unwrap_or("");
                let words = [task, option.to_owned()];
                let arguments: Vec<String> = words.into_iter().filter(|word| !word.is_empty()).collect();
                assert!(by_table(program, &arguments).is_some(), "{program} {arguments:?}");
            }
        }
    }

    #[test]
    fn programs_are_recognised_through_others() {
        for (script, kinds) in [
            ("pytest -q", vec![Test]),
            ("python -m pytest tests", vec![Test]),
            ("python3.11 -m unittest", vec![Test]),
            ("python manage.py test", vec![Test]),
            ("cargo +nightly test --workspace", vec![Test, Build]),
            ("cd x && timeout 60 cargo nextest run", vec![Test, Build]),
            ("npx jest --ci", vec![Test]),
            ("npm test -- --watch=false", vec![Test]),
            ("uv run ruff check .", vec![Lint]),
            ("ruff format --check", vec![Format]),
            ("env A=1 npx tsc --noEmit -p .", vec![Types, Build]),
            ("./gradlew :app:test", vec![Test, Build]),
            ("mvn -q -B verify", vec![Test, Build]),
            ("pnpm exec eslint src", vec![Lint]),
            ("yarn eslint src", vec![Lint]),
            ("bundle exec rspec", vec![Test]),
            ("php artisan test", vec![Test]),
            ("vendor/bin/phpunit", vec![Test]),
            ("cargo fmt --all -- --check", vec![Format]),
            ("cargo --manifest-path a/Cargo.toml test", vec![Test, Build]),
            ("go vet ./...", vec![Types, Lint]),
            ("docker compose run --rm app pytest", vec![Test]),
        ] {
            assert_eq!(of(script), Runs::Checks(kinds), "{script}");
        }
    }

    #[test]
    fn scripts_have_hints_in_their_names() {
        for (script, kinds) in [
            ("make test", vec![Test]),
            ("make", vec![Build]),
            ("npm run typecheck", vec![Types]),
            ("npm run test:unit", vec![Test]),
            ("pnpm -r run build", vec![Build]),
            ("yarn lint", vec![Lint]),
            ("just ci", vec![]),
            ("./ci.sh", vec![]),
            ("bash scripts/run-tests.sh", vec![Test]),
            ("git commit -m x", vec![]),
        ] {
            assert_eq!(of(script), Runs::Script(kinds), "{script}");
        }
    }

    #[test]
    fn other_programs_check_nothing() {
        for script in [
            "ls",
            "cat pytest.ini",
            "grep -r 'cargo test' .",
            "cargo fmt",
            "black .",
            "pytest --help",
            "gofmt -w a.go",
            "echo pytest",
            "npm install",
            "which tsc",
            "git status",
            "cargo test --no-run",
            "prettier --write .",
        ] {
            assert_eq!(of(script), Runs::Other, "{script}");
        }
    }
}
