//! Times of benchmarks and sizes of builds: what outputs print, and what sentences say of them.
//!
//! The forms of outputs are a table with a row per form, as those of summaries are. A sentence has to name a benchmark or what
//! a build made, and to give a number with a unit of time or size, or a ratio ("2.3x faster").

use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde::Serialize;

use super::claims::{Measurement, Quantity, Subject};
use super::modality::{Attribution, Modality};
use super::outputs::{MAX_OUTPUT_BYTES, without_colours};
use super::plain::{Sentence, Sort};
use super::runners::{Runs, runs};
use super::shell::Command;
use super::words::ROUGHLY;

/// Most measurements that are read from one output. Outputs with more are tables that nobody quotes as a whole.
pub const MAX_MEASUREMENTS: usize = 400;

/// A number that an output gives for a benchmark or for what a build made.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measured {
    /// What it is about.
    pub of: Subject,
    /// What it measures.
    pub quantity: Quantity,
    /// Name of the benchmark or file; empty if the line has none.
    pub name: String,
    /// The number in seconds, bytes, or as a factor.
    pub value: f64,
    /// The number as it is printed, with its unit.
    pub text: String,
}

/// One form of a line with measurements. The groups `v`, `v2`, ... are numbers with the units `u`, `u2`, ..., `ratio` is a factor,
/// and `name` says what was measured.
struct Form {
    of: Subject,
    pattern: &'static str,
    /// Unit of the numbers that have none in the line: a text, or a pattern that finds it above the line.
    unit: Unit,
}

enum Unit {
    /// Behind the number.
    InLine,
    /// Always this one.
    Fixed(&'static str),
    /// The first group of the last match of this pattern above the line.
    Above(&'static str),
}

const fn bench(pattern: &'static str) -> Form {
    Form { of: Subject::Benchmark, pattern, unit: Unit::InLine }
}

const fn size(pattern: &'static str) -> Form {
    Form { of: Subject::Build, pattern, unit: Unit::InLine }
}

/// All forms of measurements.
static FORMS: &[Form] = &[
    // libtest: `test parse ... bench:       1,832 ns/iter (+/- 12)`
    bench(r"(?m)^test (?P<name>\S+)\s+\.\.\. bench:\s+(?P<v>[\d,.]+) (?P<u>ns)/iter"),
    // criterion: `parse/large    time:   [1.8291 µs 1.8324 µs 1.8360 µs]`
    bench(
        r"(?m)^(?P<name>\S[^\n]*?)?\s+time:\s+\[(?P<v>[\d.]+) (?P<u>[a-zµμ]+) (?P<v2>[\d.]+) (?P<u2>[a-zµμ]+) (?P<v3>[\d.]+) (?P<u3>[a-zµμ]+)\]",
    ),
    // divan: `├─ parse     1.2 µs        │ 3.4 µs        │ 1.3 µs        │ 1.31 µs       │ 100`
    bench(
        r"(?m)^[ │├╰─]+(?P<name>\w[\w:<>]*)\s+(?P<v>[\d.]+) (?P<u>ns|[µμ]s|ms|s)\s+│\s+(?P<v2>[\d.]+) (?P<u2>ns|[µμ]s|ms|s)\s+│\s+(?P<v3>[\d.]+) (?P<u3>ns|[µμ]s|ms|s)\s+│\s+(?P<v4>[\d.]+) (?P<u4>ns|[µμ]s|ms|s)",
    ),
    // go: `BenchmarkParse-8   	  654321	      1832 ns/op`
    bench(r"(?m)^(?P<name>Benchmark\S+)\s+\d+\s+(?P<v>[\d.]+) (?P<u>ns)/op"),
    // hyperfine
    bench(
        r"(?m)^(?:Benchmark #?\d+: (?P<name>[^\n]+)\n)?\s*Time \((?:mean ± σ|abs ≡)\):\s+(?P<v>[\d.]+) (?P<u>[µμm]?s)(?:\s+±\s+[\d.]+ [µμm]?s)?[^\n]*(?:\n\s*Range \(min … max\):\s+(?P<v2>[\d.]+) (?P<u2>[µμm]?s) …\s+(?P<v3>[\d.]+) (?P<u3>[µμm]?s))?",
    ),
    bench(r"(?m)^\s+(?P<ratio>[\d.]+)(?: ± [\d.]+)? times (?:faster|slower) than (?P<name>[^\n]+)$"),
    // timeit: `100000 loops, best of 5: 1.83 usec per loop`
    bench(r"(?m)^\d+ loops?, best of \d+: (?P<v>[\d.]+) (?P<u>nsec|usec|msec|sec) per loop"),
    // pytest-benchmark: `test_parse    1.2345 (1.0)    2.1 (1.0)    1.31 (1.0)    0.1 (1.0)    1.3 (1.0)`: min, max, mean, deviation, median
    Form {
        of: Subject::Benchmark,
        pattern: r"(?m)^(?P<name>test_\S+)[^\n]*?\s(?P<v>[\d,.]+) \([\d.]+\)\s+(?P<v2>[\d,.]+) \([\d.]+\)\s+(?P<v3>[\d,.]+) \([\d.]+\)\s+[\d,.]+ \([\d.]+\)\s+(?P<v4>[\d,.]+) \([\d.]+\)",
        unit: Unit::Above(r"\(time in (\w+)\)"),
    },
    // JMH: `Parse.large   avgt    5  1832.100 ± 12.300  ns/op`
    bench(
        r"(?m)^(?P<name>[\w.]+)\s+(?:\([^)]*\)\s+)?(?:avgt|sample|ss)\s+(?:\d+\s+)?(?P<v>[\d.]+)(?:\s+±\s*[\d.]+)?\s+(?P<u>ns|us|ms|s)/op",
    ),
    // BenchmarkDotNet and Deno: `| Parse  | 1.832 us | 0.012 us |`
    bench(r"(?m)^\|\s*(?P<name>[\w .:/()-]*[A-Za-z][\w .:/()-]*?)\s*\|\s*(?P<v>[\d,.]+) (?P<u>ns|[uµμ]s|ms|s)\s*\|"),
    // mitata and older Deno: `parse   1.83 µs/iter`
    bench(r"(?m)^(?P<name>[A-Za-z][^\n|]*?)\s+(?P<v>[\d,.]+) (?P<u>ns|[uµμ]s|ms|s)/iter"),
    // google benchmark: `BM_Parse/64        1832 ns         1830 ns       380000`
    bench(r"(?m)^(?P<name>[A-Za-z]\S*)\s+(?P<v>[\d.]+) (?P<u>ns|us|ms|s)\s+(?P<v2>[\d.]+) (?P<u2>ns|us|ms|s)\s+\d+\b"),
    // vitest bench: `   · parse   1,234.56  0.71  1.2  0.81  0.83  ...`: hz, min, max, mean, p75
    Form {
        of: Subject::Benchmark,
        pattern: r"(?m)^\s+· (?P<name>\S[^\n]*?)\s+[\d,.]+\s+(?P<v>[\d,.]+)\s+(?P<v2>[\d,.]+)\s+(?P<v3>[\d,.]+)\s+(?P<v4>[\d,.]+)\s",
        unit: Unit::Fixed("ms"),
    },
    bench(r"(?m)^\s+(?P<ratio>[\d.]+)x (?:faster|slower) than (?P<name>[^\n]+)$"),
    // Vite, Parcel: `dist/assets/index-abc.js   143.21 kB │ gzip: 46.10 kB`
    size(
        r"(?m)^(?P<name>\S+\.\w+)\s+(?P<v>[\d,.]+) (?P<u>[kKM]?i?B)\b(?:\s+[│|]\s+gzip:\s+(?P<v2>[\d,.]+) (?P<u2>[kKM]?i?B))?",
    ),
    // webpack: `asset main.js 1.21 MiB [emitted]`
    size(r"(?m)^\s*asset (?P<name>\S+) (?P<v>[\d.]+) (?P<u>bytes|KiB|MiB)\b"),
    // esbuild, Bun: `  dist/out.js  12.3kb`, `  index.js  12.34 KB  (entry point)`
    size(r"(?m)^\s+(?P<name>\S+\.\w+)\s+(?P<v>[\d.]+) ?(?P<u>bytes|[kKmM][bB]|b)\b"),
    // tsup: `ESM dist/index.js 12.34 KB`
    size(r"(?m)^(?:ESM|CJS|IIFE|DTS) (?P<name>\S+\.\w+)\s+(?P<v>[\d.]+) (?P<u>[KM]?B)\s*$"),
    // Next.js: `├ ○ /about    5.2 kB    87.3 kB`, `+ First Load JS shared by all   82.1 kB`
    size(
        r"(?m)^[ ├└┌]+(?:[○●ƒλ◐] )?(?P<name>/\S*)\s+(?:\([^)]*\)\s+)?(?P<v>[\d.]+) (?P<u>k?B|MB)\s+(?P<v2>[\d.]+) (?P<u2>k?B|MB)",
    ),
    size(r"(?m)^\+ (?P<name>First Load JS shared by all)\s+(?P<v>[\d.]+) (?P<u>k?B|MB)"),
    // Create React App: `  46.1 kB  build/static/js/main.js`
    size(r"(?m)^\s+(?P<v>[\d.]+) (?P<u>[kK]?B|MB)\s+(?:\([^)]*\)\s+)?(?P<name>\S+\.(?:js|css))\b"),
    // Angular: `main.js   | main   | 143.21 kB |   46.10 kB`
    size(
        r"(?m)^(?P<name>\S+\.(?:js|css)|)\s*\|\s*(?:[\w-]+|Initial total|)\s*\|\s*(?P<v>[\d.]+) (?P<u>k?B|MB|bytes)(?:\s*\|\s*(?P<v2>[\d.]+) (?P<u2>k?B|MB|bytes))?",
    ),
    // Arduino and PlatformIO: `Sketch uses 12345 bytes`, `Flash: [===  ]  34.5% (used 12345 bytes from 32256 bytes)`
    size(r"(?m)^(?P<name>Sketch) uses (?P<v>\d+) (?P<u>bytes)"),
    size(r"(?m)^(?P<name>RAM|Flash):\s+\[[= ]*\]\s+[\d.]+% \(used (?P<v>\d+) (?P<u>bytes)"),
];

/// The pattern of each form, with the pattern that finds its unit above the line.
static PATTERNS: LazyLock<Vec<(Regex, Option<Regex>)>> = LazyLock::new(|| {
    let compiled = |pattern| Regex::new(pattern).expect("the pattern of a form compiles");
    let above = |unit: &Unit| match unit {
        Unit::Above(pattern) => Some(compiled(pattern)),
        Unit::InLine | Unit::Fixed(_) => None,
    };
    FORMS.iter().map(|form| (compiled(form.pattern), above(&form.unit))).collect()
});

/// Units, with what they are of and how many seconds or bytes they have. `kB` is written for 1000 and for 1024 bytes.
const UNITS: &[(&str, Quantity, f64)] = &[
    ("ns", Quantity::Time, 1e-9),
    ("nsec", Quantity::Time, 1e-9),
    ("nanoseconds", Quantity::Time, 1e-9),
    ("µs", Quantity::Time, 1e-6),
    ("μs", Quantity::Time, 1e-6),
    ("us", Quantity::Time, 1e-6),
    ("usec", Quantity::Time, 1e-6),
    ("microseconds", Quantity::Time, 1e-6),
    ("ms", Quantity::Time, 1e-3),
    ("msec", Quantity::Time, 1e-3),
    ("milliseconds", Quantity::Time, 1e-3),
    ("s", Quantity::Time, 1.0),
    ("sec", Quantity::Time, 1.0),
    ("seconds", Quantity::Time, 1.0),
    ("b", Quantity::Size, 1.0),
    ("bytes", Quantity::Size, 1.0),
    ("kb", Quantity::Size, 1e3),
    ("kib", Quantity::Size, 1024.0),
    ("mb", Quantity::Size, 1e6),
    ("mib", Quantity::Size, 1_048_576.0),
];

fn unit(text: &str) -> Option<(Quantity, f64)> {
    let lower = text.to_lowercase();
    UNITS.iter().find(|(name, ..)| *name == lower).map(|(_, quantity, factor)| (*quantity, *factor))
}

fn number(text: &str) -> Option<f64> {
    text.trim_end_matches('.').replace(',', "").parse().ok()
}

/// Returns the measurements in an output, at most [`MAX_MEASUREMENTS`], in the order of the table of forms.
pub fn measured(output: &str) -> Vec<Measured> {
    let mut from = output.len().saturating_sub(MAX_OUTPUT_BYTES);
    while !output.is_char_boundary(from) {
        from += 1;
    }
    let text = without_colours(&output[from..]).replace("\r\n", "\n");
    let mut found = Vec::new();
    for (form, (pattern, above)) in FORMS.iter().zip(PATTERNS.iter()) {
        for captures in pattern.captures_iter(&text) {
            if found.len() >= MAX_MEASUREMENTS {
                return found;
            }
            read(form, above.as_ref(), &captures, &text, &mut found);
        }
    }
    found
}

fn read(form: &Form, above: Option<&Regex>, captures: &Captures<'_>, text: &str, found: &mut Vec<Measured>) {
    let group = |name: &str| captures.name(name).map(|group| group.as_str());
    let name = group("name").unwrap_or("").trim().to_owned();
    if let Some(ratio) = group("ratio") {
        let Some(value) = number(ratio) else { return };
        found.push(Measured { of: form.of, quantity: Quantity::Ratio, name, value, text: format!("{ratio} times") });
        return;
    }
    let start = captures.get(0).map_or(0, |whole| whole.start());
    let outside = match form.unit {
        Unit::Fixed(unit) => Some(unit.to_owned()),
        Unit::InLine | Unit::Above(_) => {
            above.and_then(|above| above.captures_iter(&text[..start]).last().map(|found| found[1].to_owned()))
        }
    };
    for (value, own) in [("v", "u"), ("v2", "u2"), ("v3", "u3"), ("v4", "u4")] {
        let Some(value) = group(value) else { continue };
        let Some(own) = group(own).or(outside.as_deref()) else { continue };
        let (Some(number), Some((quantity, factor))) = (number(value), unit(own)) else { continue };
        let text = format!("{value} {own}");
        found.push(Measured { of: form.of, quantity, name: name.clone(), value: number * factor, text });
    }
}

/// Programs that run benchmarks, with a part of one of their arguments that says so; empty if the program does nothing else.
const BENCHES: &[(&str, &str)] = &[
    ("hyperfine", ""),
    ("pytest", ""),
    ("cargo", "bench"),
    ("cargo", "criterion"),
    ("go", "-bench"),
    ("vitest", "bench"),
    ("deno", "bench"),
    ("npm", "bench"),
    ("pnpm", "bench"),
    ("yarn", "bench"),
    ("bun", "bench"),
    ("node", "bench"),
    ("tsx", "bench"),
    ("ts-node", "bench"),
    ("npx", "bench"),
    ("python", "bench"),
    ("python", "timeit"),
    ("python3", "bench"),
    ("python3", "timeit"),
    ("java", "bench"),
    ("gradle", "jmh"),
    ("gradlew", "jmh"),
    ("dotnet", "bench"),
    ("make", "bench"),
    ("just", "bench"),
    ("task", "bench"),
    ("mix", "bench"),
    ("bundle", "bench"),
    ("ruby", "bench"),
    ("zig", "bench"),
    ("platformio", "run"),
    ("pio", "run"),
    ("arduino-cli", "compile"),
];

/// Returns whether a command may print measurements of its own: a benchmark, a build, a task or a script. A reader of files
/// (`cat bench.log`) does not.
pub fn measures(command: &Command) -> bool {
    let program = command.program();
    let is_bench = BENCHES.iter().any(|(name, part)| {
        *name == program
            && (part.is_empty() || command.arguments().iter().any(|word| word.to_lowercase().contains(part)))
    });
    is_bench
        || runs(command) != Runs::Other && program != "git"
        // A program that is a benchmark by its name: `./target/release/bench_parse`.
        || command.words.first().is_some_and(|word| word.contains('/') && program.to_lowercase().contains("bench"))
}

/// Words that name a benchmark.
const BENCHMARK_WORDS: &[&str] = &["benchmark", "benchmarks", "bench", "microbenchmark", "criterion", "hyperfine"];

/// Words that name what a build made.
const BUILD_WORDS: &[&str] =
    &["bundle", "bundles", "gzip", "gzipped", "minified", "chunk", "chunks", "first-load", "sketch", "firmware"];

/// Words beside a figure that is no measurement, or that follows from several by arithmetic.
const OTHER_WORDS: &[&str] = &[
    "timeout",
    "timeouts",
    "limit",
    "limits",
    "budget",
    "budgets",
    "threshold",
    "target",
    "goal",
    "cap",
    "quota",
    "max",
    "maximum",
    "min",
    "minimum",
    "per-request",
    "under",
    "below",
    "above",
    "within",
    "memory",
    "heap",
    "ram",
    "payload",
    "image",
    "images",
    "sample",
    "samples",
    "warm-up",
    "warmup",
    "interval",
    "deadline",
    "sleep",
    "sleeps",
    "delay",
    "saves",
    "saved",
    "saving",
    "savings",
    "reduced",
    "reduces",
    "reduction",
    "shrinks",
    "shrank",
    "shrunk",
    "grew",
    "grows",
    "increase",
    "increased",
    "decrease",
    "decreased",
    "difference",
    "delta",
    "larger",
    "smaller",
    "bigger",
    "longer",
    "shorter",
    "less",
    "total",
    "altogether",
    "combined",
    "overall",
    "sum",
    "add",
    "adds",
    "added",
    "removed",
    "removes",
    "regression",
    "noise",
    "overhead",
    "variance",
    "deviation",
    "each",
    "estimated",
    "estimate",
    "expected",
    "expect",
    "theoretical",
    "typical",
    "typically",
    "usually",
    "example",
    "input",
    "inputs",
    "fixture",
    "rows",
    "log",
    "logs",
    "previous",
    "previously",
    "earlier",
    "old",
    "original",
    "originally",
    "baseline",
];

/// Words that give a number to a run before the last one.
const EARLIER_WORDS: &[&str] =
    &["from", "was", "were", "versus", "vs", "than", "against", "before", "down", "up", "compared"];

/// Verbs of the time that a whole run took, which no benchmark prints.
const WHOLE_RUN: &[&str] = &["finished", "finishes", "completed", "completes", "ran", "running", "suite"];

static FIGURES: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?P<value>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)[ \u{a0}]?(?:(?P<unit>ns|nsec|nanoseconds|[µμu]s|usec|microseconds|ms|msec|milliseconds|s|sec|seconds|bytes|[kK]i?[bB]|Mi?B|B)|(?P<times>x|×|times)[ -](?:faster|slower|quicker|speed-?ups?|as fast))\b",
    )
    .expect("a pattern")
});

/// Returns what a sentence says of times of benchmarks and sizes of builds. `text` is the answer.
pub fn measurements_of(sentence: &Sentence, text: &str) -> Vec<Measurement> {
    let mut found = Vec::new();
    let own = &text[sentence.range.clone()];
    // Most sentences have no number with a unit.
    if !own.bytes().any(|byte| byte.is_ascii_digit()) || !FIGURES.is_match(own) {
        return found;
    }
    let tokens = &sentence.tokens;
    let Some((place, subject)) = subject_of(sentence) else { return found };
    if tokens.iter().any(|token| token.is_any(OTHER_WORDS) || token.text == "±" || token.text.ends_with('%')) {
        return found;
    }
    let modality = Modality::new(sentence);
    for captures in FIGURES.captures_iter(own) {
        let whole = captures.get(0).expect("a match has a whole");
        let before = own[..whole.start()].chars().next_back();
        // A part of a name or range, or a number with a sign.
        if before.is_some_and(|it| {
            it.is_alphanumeric() || matches!(it, '.' | ',' | '_' | '/' | '-' | '–' | '±' | '+' | '$' | '#')
        }) {
            continue;
        }
        let start = sentence.range.start + whole.start();
        let Some(at) = tokens.iter().position(|token| token.range.contains(&start)) else { continue };
        if matches!(tokens[at].sort, Sort::Quote) {
            continue;
        }
        let stated = modality.is_stated(at.min(place), at.max(place));
        if !stated || modality.attributed(at.min(place), at.max(place)) == Attribution::Other {
            continue;
        }
        let Some(value) = number(&captures["value"]) else { continue };
        let (quantity, factor) = match captures.name("unit").and_then(|own| unit(own.as_str())) {
            Some(known) => known,
            None if captures.name("times").is_some() => (Quantity::Ratio, 1.0),
            None => continue,
        };
        let fits = match subject {
            Subject::Benchmark => quantity != Quantity::Size,
            Subject::Build => quantity == Quantity::Size,
        };
        let is_of_run =
            quantity == Quantity::Time && factor >= 1.0 && tokens.iter().any(|token| token.is_any(WHOLE_RUN));
        if !fits || is_of_run {
            continue;
        }
        let near = &tokens[at.saturating_sub(3)..at];
        let is_rough = near.iter().any(|token| {
            (token.is_any(ROUGHLY) && !token.is("new"))
                || matches!(token.text.as_str(), "~" | "≈" | "<" | ">" | "≤" | "≥")
        }) || matches!(before, Some('~' | '≈' | '<' | '>' | '≤' | '≥'))
            || tokens[at].text.starts_with('~');
        let figures = FIGURES.find_iter(own).count();
        let is_earlier = figures > 1
            && (tokens.iter().any(|token| token.is_any(EARLIER_WORDS))
                || own.contains(['→', '|'])
                || own.contains("->"));
        let names = tokens.iter().filter(|token| token.sort == Sort::Code);
        let names = names.map(|token| token.text.clone()).filter(|name| !FIGURES.is_match(name)).collect();
        let decimals = captures["value"].rsplit_once('.').map_or(0, |(_, decimals)| decimals.len());
        let step = factor * 10_f64.powi(-i32::try_from(decimals).unwrap_or(0));
        found.push(Measurement {
            of: subject,
            quantity,
            value,
            factor,
            step,
            literal: whole.as_str().to_owned(),
            names,
            is_rough,
            is_earlier,
        });
    }
    found
}

/// Returns the word that names a benchmark or what a build made.
fn subject_of(sentence: &Sentence) -> Option<(usize, Subject)> {
    let named = |words: &'static [&'static str]| sentence.tokens.iter().position(|token| token.is_any(words));
    let code = |part: &[&str]| {
        let is_it = |text: &str| part.iter().any(|part| text.contains(part));
        sentence.tokens.iter().position(|token| matches!(token.sort, Sort::Code | Sort::Word) && is_it(&token.lower))
    };
    let benchmark =
        named(BENCHMARK_WORDS).or_else(|| code(&["cargo bench", "go test -bench", "hyperfine", "bench_", "benchmark"]));
    if let Some(at) = benchmark {
        return Some((at, Subject::Benchmark));
    }
    let made = named(BUILD_WORDS).or_else(|| code(&["dist/", "build/static/"]));
    made.map(|at| (at, Subject::Build))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::read::plain::sentences;
    use crate::audit::read::shell::commands;

    /// An output with what it gives: the name, and the numbers in seconds, bytes or as factors.
    type Row = (&'static str, &'static str, &'static [f64]);

    /// One row for each form of the table, in its order.
    const OUTPUTS: &[Row] = &[
        ("test parse_large ... bench:       1,832 ns/iter (+/- 12)", "parse_large", &[1.832e-6]),
        (
            "parse/large             time:   [1.8291 µs 1.8324 µs 1.8360 µs]",
            "parse/large",
            &[1.8291e-6, 1.8324e-6, 1.8360e-6],
        ),
        (
            "├─ parse        1.2 µs        │ 3.4 µs        │ 1.3 µs        │ 1.31 µs       │ 100     │ 100",
            "parse",
            &[1.2e-6, 3.4e-6, 1.3e-6, 1.31e-6],
        ),
        ("BenchmarkParse-8   \t  654321\t      1832 ns/op\t     512 B/op", "BenchmarkParse-8", &[1.832e-6]),
        (
            "Benchmark 1: ./lamp big.txt\n  Time (mean ± σ):      12.3 ms ±   0.4 ms    [User: 10.1 ms, System: 2.0 ms]\n  Range (min … max):    11.9 ms …  13.2 ms    200 runs",
            "./lamp big.txt",
            &[12.3e-3, 11.9e-3, 13.2e-3],
        ),
        ("    2.31 ± 0.05 times faster than ./old big.txt", "./old big.txt", &[2.31]),
        ("200000 loops, best of 5: 1.83 usec per loop", "", &[1.83e-6]),
        (
            "--- benchmark: 1 tests ---\nName (time in us)   Min   Max   Mean   StdDev   Median\ntest_parse     1,201.5 (1.0)    2,100.0 (1.0)    1,310.2 (1.0)    40.1 (1.0)    1,300.0 (1.0)   9 (1.0)",
            "test_parse",
            &[1201.5e-6, 2100.0e-6, 1310.2e-6, 1300.0e-6],
        ),
        ("Parse.large   avgt    5  1832.100 ± 12.300  ns/op", "Parse.large", &[1832.1e-9]),
        ("| ParseLarge |  1.832 us | 0.0120 us | 0.0112 us |", "ParseLarge", &[1.832e-6]),
        ("parse large          1.83 µs/iter   1.85 µs", "parse large", &[1.83e-6]),
        ("BM_Parse/64        1832 ns         1830 ns       380000", "BM_Parse/64", &[1832e-9, 1830e-9]),
        (
            "   · parse large   1,234.56  0.7100  1.2000  0.8100  0.8300  1.1000  ±0.5%",
            "parse large",
            &[0.71e-3, 1.2e-3, 0.81e-3, 0.83e-3],
        ),
        ("    2.31x faster than parse small", "parse small", &[2.31]),
        ("dist/assets/index-abc.js   143.21 kB │ gzip: 46.10 kB", "dist/assets/index-abc.js", &[143_210.0, 46_100.0]),
        ("asset main.js 1.21 MiB [emitted] (name: main)", "main.js", &[1.21 * 1_048_576.0]),
        ("  dist/out.js  12.3kb", "dist/out.js", &[12_300.0]),
        ("ESM dist/index.mjs 12.34 KB", "dist/index.mjs", &[12_340.0]),
        ("├ ○ /about                 5.2 kB         87.3 kB", "/about", &[5_200.0, 87_300.0]),
        ("+ First Load JS shared by all            82.1 kB", "First Load JS shared by all", &[82_100.0]),
        ("  46.1 kB  build/static/js/main.3f2a.js", "build/static/js/main.3f2a.js", &[46_100.0]),
        (
            "main.js               | main          | 143.21 kB |                46.10 kB",
            "main.js",
            &[143_210.0, 46_100.0],
        ),
        ("Sketch uses 12345 bytes (38%) of program storage space.", "Sketch", &[12_345.0]),
        ("Flash: [===       ]  34.5% (used 12345 bytes from 32256 bytes)", "Flash", &[12_345.0]),
    ];

    #[test]
    fn every_form_has_a_row() {
        assert_eq!(OUTPUTS.len(), FORMS.len());
        for ((output, name, values), (pattern, _)) in OUTPUTS.iter().zip(PATTERNS.iter()) {
            assert!(pattern.is_match(output), "{output} is not of the form {pattern}");
            let found = measured(output);
            let own: Vec<f64> = found.iter().filter(|it| it.name == *name).map(|it| it.value).collect();
            for value in *values {
                assert!(own.iter().any(|it| (it - value).abs() < value * 1e-9), "{output}: no {value} in {found:?}");
            }
        }
    }

    #[test]
    fn other_lines_are_no_measurements() {
        for output in [
            "test result: ok. 3 passed; finished in 0.03s",
            "took 12 ms",
            "the bundle is 12 kB",
            "real 0m1.2s",
            "ok  \ta/b\t0.1s",
        ] {
            assert!(measured(output).is_empty(), "{output}: {:?}", measured(output));
        }
        let line = "BenchmarkParse-8   654321   1832 ns/op\n";
        assert_eq!(measured(&line.repeat(1000)).len(), MAX_MEASUREMENTS);
    }

    #[test]
    fn programs_that_measure_are_known() {
        let all = |script: &str| commands(script).iter().any(measures);
        for script in [
            "cargo bench",
            "go test -bench=. ./...",
            "hyperfine './lamp big.txt'",
            "python -m timeit -s x y",
            "npm run bench",
            "npx vite build",
            "npm run build",
            "./bench.sh",
            "./target/release/bench_parse",
            "make bench",
        ] {
            assert!(all(script), "{script}");
        }
        for script in ["cat bench.log", "grep ns/op bench.log", "git show HEAD:bench.txt", "ls -l dist"] {
            assert!(!all(script), "{script}");
        }
    }

    fn told(text: &str) -> Vec<(String, bool, bool)> {
        let found = sentences(text).iter().flat_map(|sentence| measurements_of(sentence, text)).collect::<Vec<_>>();
        found.into_iter().map(|it| (it.literal, it.is_rough, it.is_earlier)).collect()
    }

    #[test]
    fn sentences_give_measurements() {
        let plain = |literal: &str| vec![(literal.to_owned(), false, false)];
        for (text, literal) in [
            ("The benchmark takes 1.8 µs per iteration.", "1.8 µs"),
            ("The bundle is 182 kB.", "182 kB"),
            ("The benchmark `parse_large` now runs in **1,832 ns**.", "1,832 ns"),
            ("`cargo bench` reports 12.3 ms for the large file set.", "12.3 ms"),
            ("`dist/index.js` is 46.1 KiB.", "46.1 KiB"),
            ("| benchmark parse | 12.3 ms |", "12.3 ms"),
            ("By the benchmark it is 2.3x faster.", "2.3x faster"),
            ("By the benchmark, the new reader is 4.5x faster.", "4.5x faster"),
            ("The benchmark shows a 3 times faster parser.", "3 times faster"),
        ] {
            assert_eq!(told(text), plain(literal), "{text}");
        }
        assert_eq!(told("The benchmark takes about 1.8 µs."), [("1.8 µs".to_owned(), true, false)]);
        assert_eq!(told("The bundle is ~182 kB."), [("182 kB".to_owned(), true, false)]);
        let both = [("2.1 ms".to_owned(), false, true), ("1.4 ms".to_owned(), false, true)];
        assert_eq!(told("The benchmark went from 2.1 ms to 1.4 ms."), both);
    }

    #[test]
    fn sentences_without_measurements_give_none() {
        for text in [
            "The benchmark should take 1.8 µs.",
            "The request timeout of the benchmark is 30 s.",
            "Keep the bundle under 200 kB.",
            "The bundle shrank by 12 kB.",
            "The change saves 3 ms in the benchmark.",
            "The benchmark suite finished in 90 s.",
            "The bundle budget is 200 kB.",
            "The README says the benchmark takes 1.8 µs.",
            "If the benchmark takes 1.8 µs, merge it.",
            "The request takes 12 ms.",
            "The benchmark v1.2s is new.",
            "The bundle was 182 kB before the change.",
            "The benchmark takes 1.8 µs ± 0.1 µs.",
            "The benchmark improved by 12%, to 3 ms.",
        ] {
            assert_eq!(told(text), [], "{text}");
        }
    }
}
