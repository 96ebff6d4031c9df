//! The environment variables of servers.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::sync::Arc;

/// Variables that every server gets if they are set: paths of programs and folders, the language, and certificates. A
/// server gets any other variable only if it is configured, since environments often contain keys.
pub const INHERITED_VARIABLES: &[&str] = &[
    "CURL_CA_BUNDLE",
    "HOME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LOGNAME",
    "NODE_EXTRA_CA_CERTS",
    "PATH",
    "REQUESTS_CA_BUNDLE",
    "SHELL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_RUNTIME_DIR",
];

type Lookup = dyn Fn(&str) -> Option<OsString> + Send + Sync;

/// Looks up environment variables.
#[derive(Clone)]
pub struct Variables(Arc<Lookup>);

impl Variables {
    /// Creates it from a lookup function.
    pub fn new(lookup: impl Fn(&str) -> Option<OsString> + Send + Sync + 'static) -> Self {
        Self(Arc::new(lookup))
    }

    /// Returns a variable, if it is set and not empty.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<OsString> {
        (self.0)(name).filter(|value| !value.is_empty())
    }

    /// Returns the environment of a server: the inherited variables, those that are passed on, and those that are set.
    /// Later ones override earlier ones.
    #[must_use]
    pub fn of_server(&self, passed_on: &[String], set: &BTreeMap<String, String>) -> BTreeMap<OsString, OsString> {
        let inherited = INHERITED_VARIABLES.iter().copied().chain(passed_on.iter().map(String::as_str));
        let inherited = inherited.filter_map(|name| Some((OsString::from(name), self.get(name)?)));
        let set = set.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        inherited.chain(set).collect()
    }
}

impl Default for Variables {
    /// Returns an empty environment.
    fn default() -> Self {
        Self::new(|_| None)
    }
}

impl fmt::Debug for Variables {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Variables").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stay_here_unless_they_are_wanted() {
        let variables = Variables::new(|name| match name {
            "PATH" => Some("/bin".into()),
            "HOME" => Some("/home/a".into()),
            "LANG" => Some(OsString::new()),
            "API_KEY" | "OTHER_KEY" => Some("secret".into()),
            _ => None,
        });
        let set = BTreeMap::from([("HOME".to_owned(), "/srv".to_owned()), ("A".to_owned(), String::new())]);
        let environment = variables.of_server(&["API_KEY".to_owned(), "NOT_SET".to_owned()], &set);
        let shown: Vec<_> =
            environment.iter().map(|(name, value)| format!("{}={}", name.display(), value.display())).collect();
        assert_eq!(shown, ["A=", "API_KEY=secret", "HOME=/srv", "PATH=/bin"]);
    }

    #[test]
    fn the_list_is_sorted() {
        assert!(INHERITED_VARIABLES.is_sorted());
    }
}
