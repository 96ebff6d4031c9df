//! The arguments of a call, checked.

use serde_json::{Map, Value};

use crate::problem::Problem;

/// The arguments of a call of one tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arguments<'a> {
    tool: &'a str,
    given: &'a Map<String, Value>,
}

impl<'a> Arguments<'a> {
    /// Takes the arguments of a call. `known` are the properties of the tool's schema.
    ///
    /// # Errors
    ///
    /// Returns a problem that names an argument that the tool does not have.
    pub(crate) fn new(
        tool: &'a str,
        given: &'a Map<String, Value>,
        known: &Map<String, Value>,
    ) -> Result<Self, Problem> {
        match given.keys().find(|name| !known.contains_key(*name)) {
            None => Ok(Self { tool, given }),
            Some(unknown) => {
                let names: Vec<&str> = known.keys().map(String::as_str).collect();
                Err(Problem::new(format!("`{tool}` has no argument {}", trace_text::quoted(unknown, 60)))
                    .with_hint(format!("it takes {}", names.join(", "))))
            }
        }
    }

    /// Returns the name of the tool.
    pub(crate) fn tool(self) -> &'a str {
        self.tool
    }

    /// Returns all arguments.
    pub(crate) fn all(self) -> &'a Map<String, Value> {
        self.given
    }

    /// Returns a text. Null counts as missing.
    pub(crate) fn text(self, name: &str) -> Result<Option<&'a str>, Problem> {
        match self.given.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.wrong(name, "a text")),
        }
    }

    /// Returns a text that has to be there.
    pub(crate) fn required(self, name: &str) -> Result<&'a str, Problem> {
        self.text(name)?.ok_or_else(|| Problem::new(format!("`{}` needs the argument `{name}`", self.tool)))
    }

    /// Returns a text or a number as text.
    pub(crate) fn word(self, name: &str) -> Result<Option<String>, Problem> {
        match self.given.get(name) {
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            _ => Ok(self.text(name)?.map(str::to_owned)),
        }
    }

    /// Returns one of some words.
    pub(crate) fn one_of(self, name: &str, words: &[&str]) -> Result<Option<&'a str>, Problem> {
        match self.text(name)? {
            Some(word) if !words.contains(&word) => Err(self.wrong(name, &format!("one of {}", words.join(", ")))),
            word => Ok(word),
        }
    }

    /// Returns a whole number of a range.
    pub(crate) fn number(self, name: &str, range: std::ops::RangeInclusive<u64>) -> Result<Option<u64>, Problem> {
        match self.given.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => {
                // Clients of some models write every number as a float or as a text.
                let float = || value.as_f64().filter(|number| number.fract() == 0.0 && *number >= 0.0);
                let number = value.as_u64().or_else(|| float().map(|number| number as u64));
                let number = number.or_else(|| value.as_str()?.parse().ok()).filter(|number| range.contains(number));
                let expected = match *range.end() {
                    u64::MAX => format!("a whole number from {}", range.start()),
                    end => format!("a whole number from {} to {end}", range.start()),
                };
                number.map(Some).ok_or_else(|| self.wrong(name, &expected))
            }
        }
    }

    /// Returns whether something is asked for.
    pub(crate) fn flag(self, name: &str) -> Result<bool, Problem> {
        match self.given.get(name) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(self.wrong(name, "true or false")),
        }
    }

    fn wrong(self, name: &str, expected: &str) -> Problem {
        Problem::new(format!("`{name}` of `{}` has to be {expected}", self.tool))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_checked() {
        let given = json!({"pattern": "x", "limit": 5.0, "all": true, "none": null, "kind": "a", "many": "7"});
        let given = given.as_object().expect("an object");
        let known: Map<String, Value> = given.keys().map(|name| (name.clone(), Value::Null)).collect();
        let arguments = Arguments::new("grep", given, &known).expect("all are known");
        assert_eq!(arguments.required("pattern"), Ok("x"));
        assert_eq!(arguments.number("limit", 1..=50), Ok(Some(5)));
        assert_eq!(arguments.number("many", 1..=50), Ok(Some(7)));
        assert_eq!((arguments.flag("all"), arguments.flag("none")), (Ok(true), Ok(false)));
        assert_eq!(arguments.text("none"), Ok(None));
        let text = |problem: Problem| problem.text();
        assert_eq!(
            arguments.number("limit", 1..=4).map_err(text),
            Err("`limit` of `grep` has to be a whole number from 1 to 4".into())
        );
        assert_eq!(arguments.required("none").map_err(text), Err("`grep` needs the argument `none`".into()));
        assert_eq!(
            arguments.one_of("kind", &["b", "c"]).map_err(text),
            Err("`kind` of `grep` has to be one of b, c".into())
        );
        arguments.flag("pattern").expect_err("a text is no flag");
        arguments.text("limit").expect_err("a number is no text");
        let unknown = Arguments::new("grep", given, &Map::new()).expect_err("nothing is known");
        assert!(unknown.text().starts_with("`grep` has no argument \"pattern\""), "{}", unknown.text());
    }
}
