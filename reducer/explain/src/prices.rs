//! Prices of tokens, from a table that the user maintains.
//!
//! The program contains no prices, because they change and differ between contracts. The table is TOML text:
//!
//! ```toml
//! currency = "USD"
//!
//! [[models]]
//! name = "example-*"            # a model, or a pattern in which `*` stands for any text
//! input = 1.25                  # per million tokens that the model read
//! cached_input = 0.125          # of these, read from a cache; `input` when it is left out
//! cache_write = 1.50            # of these, written to a cache; `input` when it is left out
//! output = 10                   # per million tokens that the model wrote, reasoning included
//! from = 2026-01-01             # the first day (UTC) on which the prices hold; always when it is left out
//! input_tokens_above = 200_000  # they hold for requests that are larger than this; for all when it is left out
//! ```
//!
//! If several entries fit a call, the one with the most exact name is used (a name before a pattern, then the pattern
//! with more letters), then the one with the latest `from`, then the one with the largest `input_tokens_above`.
//!
//! Prices are parsed as decimal numbers, and money is counted in integral units of 10⁻¹² of the currency, so that no
//! sum depends on the order of its terms.

use std::fmt;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use trace_reducer::model::Usage;

/// Most bytes of a price table.
pub const MAX_TABLE_BYTES: usize = 1 << 20;

/// Most digits behind the point of a price.
pub const MAX_DECIMALS: usize = 6;

/// Largest price per million tokens, in the currency's unit.
pub const MAX_PRICE: u64 = 1_000_000_000;

/// An amount of money, in units of 10⁻¹² of its currency. Additions saturate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Money(u128);

/// Number of units in one unit of the currency.
const UNITS: u128 = 1_000_000_000_000;

impl Money {
    /// The amount 0.
    pub const ZERO: Self = Self(0);

    /// Makes an amount from a number of units.
    pub fn from_units(units: u128) -> Self {
        Self(units)
    }

    /// Returns the amount as a number of units of 10⁻¹² of the currency.
    pub fn units(self) -> u128 {
        self.0
    }

    /// Returns the amount in units of the currency. The result may be rounded.
    pub fn to_f64(self) -> f64 {
        self.0 as f64 / UNITS as f64
    }

    /// Adds an amount.
    pub fn add(&mut self, other: Self) {
        self.0 = self.0.saturating_add(other.0);
    }
}

/// Writes the exact decimal number with as few digits as possible. With a precision, rounds half up to that many
/// decimals.
impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = f.precision().unwrap_or(12).min(12);
        let step = 10u128.pow(12 - decimals as u32);
        let rounded = self.0.saturating_add(step / 2) / step;
        let scale = 10u128.pow(decimals as u32);
        let (whole, part) = (rounded / scale, rounded % scale);
        if decimals == 0 {
            return write!(f, "{whole}");
        }
        let mut digits = format!("{part:0decimals$}");
        if f.precision().is_none() {
            digits.truncate(digits.trim_end_matches('0').len().max(2));
        }
        write!(f, "{whole}.{digits}")
    }
}

/// In JSON an amount is a string, because most readers of JSON round numbers.
impl Serialize for Money {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Money {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        decimal(&text, 12).map(Self).ok_or_else(|| serde::de::Error::custom(format!("{text:?} is not an amount")))
    }
}

/// Prices of models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prices {
    currency: String,
    entries: Vec<Entry>,
    text: String,
}

/// Prices per token of a model, or of the models that a pattern fits.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    name: String,
    input: Money,
    cached_input: Money,
    cache_write: Money,
    output: Money,
    from_unix_ms: Option<i64>,
    input_tokens_above: Option<u64>,
    line: usize,
}

/// Why a text is not a price table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PriceError {
    /// The text is too large.
    #[error("the price table has {bytes} bytes; at most {MAX_TABLE_BYTES} are read")]
    TooLarge {
        /// Size of the text in bytes.
        bytes: usize,
    },
    /// The text is not TOML.
    #[error("line {line}: {message}")]
    Syntax {
        /// Line of the error, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// A required value is missing.
    #[error("line {line}: {key} is missing")]
    Missing {
        /// Line of the table without the value, from 1.
        line: usize,
        /// Name of the value.
        key: &'static str,
    },
    /// A value has the wrong type or range.
    #[error("line {line}: {key} is {found}, and must be {expected}")]
    Invalid {
        /// Line of the value, from 1.
        line: usize,
        /// Name of the value.
        key: String,
        /// The text of the value, or its type if the text is long.
        found: String,
        /// Description of a valid value.
        expected: &'static str,
    },
    /// A key is not known.
    #[error("line {line}: {key} is none of {known}")]
    Unknown {
        /// Line of the value, from 1.
        line: usize,
        /// Name of the key.
        key: String,
        /// Names of the known keys.
        known: &'static str,
    },
    /// Two entries have prices for the same calls.
    #[error("line {line}: the entry of line {first} has the same name, date and size")]
    Repeated {
        /// Line of the second entry, from 1.
        line: usize,
        /// Line of the first entry, from 1.
        first: usize,
    },
}

const PRICE: &str = "a number that is not negative, with at most 6 digits behind the point and not above 1000000000";
const TEXT: &str = "a text that is not empty";
const DAY: &str = "a day such as 2026-01-01";
const TOKENS: &str = "a number of tokens";
const TOP_KEYS: &str = "currency, models";
const MODEL_KEYS: &str = "name, input, cached_input, cache_write, output, from, input_tokens_above";

impl Prices {
    /// Parses a table.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not TOML, or not a table of prices.
    pub fn parse(text: &str) -> Result<Self, PriceError> {
        if text.len() > MAX_TABLE_BYTES {
            return Err(PriceError::TooLarge { bytes: text.len() });
        }
        let reader = Reader { text, line_ends: text.match_indices('\n').map(|(end, _)| end).collect() };
        let table = DeTable::parse(text).map_err(|error| PriceError::Syntax {
            line: reader.line(error.span().map_or(0, |span| span.start)),
            message: error.message().to_owned(),
        })?;
        let table = table.get_ref();
        let mut currency = None;
        let mut entries: Vec<Entry> = Vec::new();
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "currency" => currency = Some(reader.text_value("currency", value)?.to_owned()),
                "models" => {
                    let models = value
                        .get_ref()
                        .as_array()
                        .ok_or_else(|| reader.invalid("models", value, "tables that begin with [[models]]"))?;
                    for model in models {
                        entries.push(reader.entry(model)?);
                    }
                }
                _ => return Err(reader.unknown(key.span().start, key.get_ref(), TOP_KEYS)),
            }
        }
        let currency = currency.ok_or(PriceError::Missing { line: 1, key: "currency" })?;
        let key = |entry: &Entry| (entry.name.clone(), entry.from_unix_ms, entry.input_tokens_above);
        entries.sort_by_cached_key(|entry| (key(entry), entry.line));
        for pair in entries.windows(2) {
            if let [first, second] = pair
                && key(first) == key(second)
            {
                return Err(PriceError::Repeated { line: second.line, first: first.line });
            }
        }
        Ok(Self { currency, entries, text: text.to_owned() })
    }

    /// Returns the text of the table, from which another process parses the same prices.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the currency.
    pub fn currency(&self) -> &str {
        &self.currency
    }

    /// Returns the prices of one model.
    pub fn of_model(&self, model: &str) -> ModelPrices<'_> {
        let mut entries: Vec<&Entry> = self.entries.iter().filter(|entry| matches(&entry.name, model)).collect();
        // The best entry comes first.
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.rank()));
        ModelPrices { entries }
    }
}

/// Prices of one model.
#[derive(Debug, Clone)]
pub struct ModelPrices<'p> {
    entries: Vec<&'p Entry>,
}

impl ModelPrices<'_> {
    /// Returns the cost of a call with this start and these token counts, or `None` if no entry fits.
    pub fn cost(&self, at_unix_ms: i64, usage: &Usage) -> Option<Money> {
        let fits = |entry: &&&Entry| {
            entry.from_unix_ms.is_none_or(|from| from <= at_unix_ms)
                && entry.input_tokens_above.is_none_or(|above| above < usage.input_tokens)
        };
        self.entries.iter().find(fits).map(|entry| entry.cost(usage))
    }
}

impl Entry {
    /// Returns how specific the entry is, to compare entries that fit: exact name, letters of the name, day, request
    /// size.
    fn rank(&self) -> (bool, usize, Option<i64>, Option<u64>) {
        let letters = self.name.chars().filter(|c| *c != '*').count();
        (!self.name.contains('*'), letters, self.from_unix_ms, self.input_tokens_above)
    }

    fn cost(&self, usage: &Usage) -> Money {
        // Cached tokens are part of the input tokens. A bundle may claim more of them than input tokens; then 0 others
        // are left.
        let plain =
            usage.input_tokens.saturating_sub(usage.cached_input_tokens).saturating_sub(usage.cache_write_input_tokens);
        let parts = [
            (plain, self.input),
            (usage.cached_input_tokens, self.cached_input),
            (usage.cache_write_input_tokens, self.cache_write),
            (usage.output_tokens, self.output),
        ];
        let mut cost = Money::ZERO;
        for (tokens, price) in parts {
            cost.add(Money(u128::from(tokens).saturating_mul(price.0)));
        }
        cost
    }
}

/// Returns whether a name fits a pattern in which `*` stands for any text. Takes at most time proportional to the
/// product of the two lengths.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut p, mut n) = (0, 0);
    // Index of the last star, and the end of the text that it stands for.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        if pattern.get(p) == Some(&b'*') {
            star = Some((p, n));
            p += 1;
        } else if pattern.get(p) == Some(&name[n]) {
            p += 1;
            n += 1;
        } else if let Some((at, end)) = star {
            star = Some((at, end + 1));
            p = at + 1;
            n = end + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

/// Parses a decimal number as a number of units of ten to the minus `decimals`.
fn decimal(text: &str, decimals: usize) -> Option<u128> {
    let text: String = text.chars().filter(|c| *c != '_').collect();
    let text = text.strip_prefix('+').unwrap_or(&text);
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let part = part.trim_end_matches('0');
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || part.len() > decimals || !is_number(whole) || !is_number(part) {
        return None;
    }
    format!("{whole}{part:0<decimals$}").parse().ok()
}

/// Parses values and finds the lines that they are on.
struct Reader<'t> {
    text: &'t str,
    /// Offsets of the line feeds.
    line_ends: Vec<usize>,
}

type Value<'i> = Spanned<DeValue<'i>>;

impl Reader<'_> {
    fn line(&self, offset: usize) -> usize {
        self.line_ends.partition_point(|end| *end < offset) + 1
    }

    fn invalid(&self, key: &str, value: &Value<'_>, expected: &'static str) -> PriceError {
        let found = self.text.get(value.span()).unwrap_or_default();
        let found = if found.contains('\n') || found.len() > 80 { value.get_ref().type_str() } else { found };
        PriceError::Invalid {
            line: self.line(value.span().start),
            key: key.to_owned(),
            found: found.to_owned(),
            expected,
        }
    }

    fn unknown(&self, offset: usize, key: &str, known: &'static str) -> PriceError {
        PriceError::Unknown { line: self.line(offset), key: key.to_owned(), known }
    }

    fn text_value<'v>(&self, key: &str, value: &'v Value<'_>) -> Result<&'v str, PriceError> {
        let text = value.get_ref().as_str().filter(|text| !text.is_empty());
        text.ok_or_else(|| self.invalid(key, value, TEXT))
    }

    fn entry(&self, value: &Value<'_>) -> Result<Entry, PriceError> {
        let table = value
            .get_ref()
            .as_table()
            .ok_or_else(|| self.invalid("models", value, "tables that begin with [[models]]"))?;
        let line = self.line(value.span().start);
        let (mut name, mut from_unix_ms, mut input_tokens_above) = (None, None, None);
        let (mut input, mut cached_input, mut cache_write, mut output) = (None, None, None, None);
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "name" => name = Some(self.text_value("name", value)?.to_owned()),
                "input" => input = Some(self.price("input", value)?),
                "cached_input" => cached_input = Some(self.price("cached_input", value)?),
                "cache_write" => cache_write = Some(self.price("cache_write", value)?),
                "output" => output = Some(self.price("output", value)?),
                "from" => from_unix_ms = Some(self.day("from", value)?),
                "input_tokens_above" => input_tokens_above = Some(self.tokens("input_tokens_above", value)?),
                _ => return Err(self.unknown(key.span().start, key.get_ref(), MODEL_KEYS)),
            }
        }
        let name = name.ok_or(PriceError::Missing { line, key: "name" })?;
        let input = input.ok_or(PriceError::Missing { line, key: "input" })?;
        let output = output.ok_or(PriceError::Missing { line, key: "output" })?;
        Ok(Entry {
            name,
            input,
            cached_input: cached_input.unwrap_or(input),
            cache_write: cache_write.unwrap_or(input),
            output,
            from_unix_ms,
            input_tokens_above,
            line,
        })
    }

    /// Parses a price per million tokens. The result is the price per token, which has six more decimals.
    fn price(&self, key: &str, value: &Value<'_>) -> Result<Money, PriceError> {
        let units = match value.get_ref() {
            DeValue::Float(number) => decimal(number.as_str(), MAX_DECIMALS),
            DeValue::Integer(number) if number.radix() == 10 => decimal(number.as_str(), MAX_DECIMALS),
            _ => None,
        };
        let most = u128::from(MAX_PRICE) * 10u128.pow(MAX_DECIMALS as u32);
        units.filter(|units| *units <= most).map(Money).ok_or_else(|| self.invalid(key, value, PRICE))
    }

    fn tokens(&self, key: &str, value: &Value<'_>) -> Result<u64, PriceError> {
        let number = value.get_ref().as_integer().filter(|number| number.radix() == 10);
        number.and_then(|number| number.as_str().parse().ok()).ok_or_else(|| self.invalid(key, value, TOKENS))
    }

    fn day(&self, key: &str, value: &Value<'_>) -> Result<i64, PriceError> {
        let day = value.get_ref().as_datetime().filter(|day| day.time.is_none() && day.offset.is_none());
        day.and_then(|day| day.date)
            .and_then(|day| Date::new(i16::try_from(day.year).ok()?, day.month as i8, day.day as i8).ok())
            .and_then(|day| day.to_zoned(TimeZone::UTC).ok())
            .map(|day| day.timestamp().as_millisecond())
            .ok_or_else(|| self.invalid(key, value, DAY))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = r#"
currency = "USD"

[[models]]
name = "large-*"
input = 1.25
cached_input = 0.125
cache_write = 1.5
output = 10

[[models]]
name = "large-2"
input = 2
output = 8.000001

[[models]]
name = "large-2"
input = 1
output = 4
from = 2026-01-01

[[models]]
name = "large-2"
input = 3
output = 12
from = 2026-01-01
input_tokens_above = 1_000
"#;

    /// 2025-12-31 23:59:59 UTC.
    const LAST_YEAR: i64 = 1_767_225_599_000;

    fn usage(input_tokens: u64, cached_input_tokens: u64, cache_write_input_tokens: u64, output_tokens: u64) -> Usage {
        Usage {
            input_tokens,
            cached_input_tokens,
            cache_write_input_tokens,
            output_tokens,
            reasoning_output_tokens: output_tokens,
        }
    }

    fn cost(model: &str, at: i64, usage: &Usage) -> Option<String> {
        let prices = Prices::parse(TABLE).expect("a table");
        prices.of_model(model).cost(at, usage).map(|money| money.to_string())
    }

    fn error(text: &str) -> String {
        Prices::parse(text).expect_err("not a table").to_string()
    }

    #[test]
    fn every_kind_of_token_has_its_price_and_reasoning_is_output() {
        let million = 1_000_000;
        assert_eq!(cost("large-1", 0, &usage(million, 0, 0, 0)).as_deref(), Some("1.25"));
        assert_eq!(cost("large-1", 0, &usage(million, million, 0, 0)).as_deref(), Some("0.125"));
        assert_eq!(cost("large-1", 0, &usage(million, 0, million, 0)).as_deref(), Some("1.50"));
        assert_eq!(cost("large-1", 0, &usage(0, 0, 0, million)).as_deref(), Some("10.00"));
        assert_eq!(cost("large-1", 0, &usage(1, 0, 0, 0)).as_deref(), Some("0.00000125"));
        // A bundle may claim more cached tokens than input tokens.
        assert_eq!(cost("large-1", 0, &usage(1, million, 0, 0)).as_deref(), Some("0.125"));
    }

    #[test]
    fn the_most_exact_entry_wins() {
        let million = usage(1000, 0, 0, 0);
        assert_eq!(cost("large-2", LAST_YEAR, &million).as_deref(), Some("0.002"));
        assert_eq!(cost("large-2", LAST_YEAR + 1000, &million).as_deref(), Some("0.001"));
        assert_eq!(cost("large-2", LAST_YEAR + 1000, &usage(1001, 0, 0, 0)).as_deref(), Some("0.003003"));
        assert_eq!(cost("large-2", LAST_YEAR, &usage(0, 0, 0, 1)).as_deref(), Some("0.000008000001"));
        assert_eq!(cost("small", LAST_YEAR, &million), None);
    }

    #[test]
    fn nothing_overflows() {
        let most = usage(u64::MAX, u64::MAX, u64::MAX, u64::MAX);
        assert!(cost("large-1", 0, &most).is_some());
        let mut sum = Money(u128::MAX);
        sum.add(Money(1));
        assert_eq!(sum, Money(u128::MAX));
        assert_eq!(format!("{:.2}", Money(u128::MAX)).split('.').count(), 2);
    }

    #[test]
    fn patterns() {
        for (pattern, name) in
            [("a", "a"), ("*", ""), ("*", "abc"), ("a*", "abc"), ("*c", "abc"), ("a*c*", "abcd"), ("*b*b*", "abab")]
        {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("a", "b"), ("a", "ab"), ("a*", "ba"), ("*b*b*", "aba"), ("", "a"), ("a*c", "abcd")] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn money_is_written_exactly_or_rounded() {
        let money = |text: &str| Money(decimal(text, 12).expect("a number"));
        assert_eq!(money("12.34").to_string(), "12.34");
        assert_eq!(money("12").to_string(), "12.00");
        assert_eq!(money("0.000000000001").to_string(), "0.000000000001");
        assert_eq!(format!("{:.2}", money("0.995")), "1.00");
        assert_eq!(format!("{:.4}", money("0.00005")), "0.0001");
        assert_eq!(format!("{:.0}", money("1.5")), "2");
        let text = serde_json::to_string(&money("1.5")).expect("serializes");
        assert_eq!(text, r#""1.50""#);
        assert_eq!(serde_json::from_str::<Money>(&text).expect("parses"), money("1.5"));
    }

    #[test]
    fn errors_say_where() {
        let model = "[[models]]\nname = \"a\"\ninput = 1\noutput = 1\n";
        assert_eq!(error("[[models]]\n"), "line 1: name is missing");
        assert_eq!(error(model), "line 1: currency is missing");
        let with = |line: &str| error(&format!("currency = \"EUR\"\n{model}{line}\n"));
        let price = format!("line 6: cached_input is -1, and must be {PRICE}");
        assert_eq!(with("cached_input = -1"), price);
        for bad in ["1.0000001", "nan", "inf", "1e3", "0x10", "\"1\"", "1000000001"] {
            assert!(with(&format!("cached_input = {bad}")).contains("line 6: cached_input is"), "{bad}");
        }
        assert_eq!(with("cache = 1"), format!("line 6: cache is none of {MODEL_KEYS}"));
        assert_eq!(with("from = 12:00:00"), format!("line 6: from is 12:00:00, and must be {DAY}"));
        assert_eq!(with("input_tokens_above = -1"), format!("line 6: input_tokens_above is -1, and must be {TOKENS}"));
        assert_eq!(with(model), "line 6: the entry of line 2 has the same name, date and size");
        assert_eq!(error("currency = \"\""), format!("line 1: currency is \"\", and must be {TEXT}"));
        assert_eq!(error("models = 3"), "line 1: models is 3, and must be tables that begin with [[models]]");
        assert!(error("currency = \"EUR\"\n[[models]\n").starts_with("line 2: "));
        assert_eq!(
            Prices::parse(&" ".repeat(MAX_TABLE_BYTES + 1)),
            Err(PriceError::TooLarge { bytes: MAX_TABLE_BYTES + 1 })
        );
    }
}
