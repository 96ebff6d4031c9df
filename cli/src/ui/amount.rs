//! Parses ages and sizes.

use std::time::Duration;

const SIZE_FORMS: &str = "expected a size such as 500M, 2G or 1.5GiB";
const AGE_FORMS: &str = "expected an age such as 30d, 12h or 2w; a plain number is days";

/// Parses a number of bytes: `500M` is decimal, `500Mi` and `500MiB` are binary, and `500` is bytes.
pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    let (number, unit) = split(text).ok_or(SIZE_FORMS)?;
    let unit = unit.to_ascii_lowercase();
    let unit = unit.strip_suffix('b').unwrap_or(&unit);
    let (prefix, base) = match unit.strip_suffix('i') {
        Some(prefix) if !prefix.is_empty() => (prefix, 1024.0_f64),
        Some(_) => return Err(SIZE_FORMS.to_owned()),
        None => (unit, 1000.0),
    };
    let power = ["", "k", "m", "g", "t"].iter().position(|known| *known == prefix).ok_or(SIZE_FORMS)?;
    // The cast saturates. No disk has more than `u64::MAX` bytes.
    Ok((number * base.powi(power as i32)) as u64)
}

/// Parses an age: a number of days, or a number with `h`, `d` or `w`.
pub(crate) fn parse_age(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text).ok_or(AGE_FORMS)?;
    let hours = match unit {
        "h" => 1.0,
        "" | "d" => 24.0,
        "w" => 7.0 * 24.0,
        _ => return Err(AGE_FORMS.to_owned()),
    };
    Duration::try_from_secs_f64(number * hours * 3600.0).map_err(|_| AGE_FORMS.to_owned())
}

/// Splits a text into a leading number that is not negative, and the rest.
fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..end].parse().ok()?;
    Some((number, text[end..].trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (text, bytes) in [
            ("0", 0),
            ("500", 500),
            ("12B", 12),
            ("500M", 500_000_000),
            ("2G", 2_000_000_000),
            ("2 gb", 2_000_000_000),
            ("1.5GiB", 1_610_612_736),
            ("1Ki", 1024),
            (".5k", 500),
            ("99999999999999T", u64::MAX),
        ] {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
        for text in ["", "G", "-1", "1.2.3M", "1X", "1i", "1iB", "1e3", "NaN", "inf"] {
            parse_size(text).expect_err(text);
        }
    }

    #[test]
    fn ages() {
        let hour = Duration::from_secs(3600);
        for (text, age) in
            [("0", Duration::ZERO), ("30", 720 * hour), ("30d", 720 * hour), ("12h", 12 * hour), ("2w", 336 * hour)]
        {
            assert_eq!(parse_age(text), Ok(age), "{text}");
        }
        for text in ["", "d", "-1", "1y", "1 month", "99999999999999999999w"] {
            parse_age(text).expect_err(text);
        }
    }
}
