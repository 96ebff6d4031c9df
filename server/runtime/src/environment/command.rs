//! The environment of commands, derived from that of the server and the configuration.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::names::{HARMLESS_NAMES, KEY_NAMES, NamePattern, STARTUP_NAMES, table};
use super::startup;
use crate::sandbox::{WritableFolders, is_for_loaders};

/// Configured rules for the variables of commands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VariableRules {
    /// Names of variables from which providers and MCP servers read keys.
    pub keys: BTreeSet<String>,
    /// Whether commands inherit variables with names that look like those of keys ([`KEY_NAMES`]).
    pub inherit_key_names: bool,
    /// Further names that are not inherited.
    pub exclude: Vec<NamePattern>,
    /// Names that are inherited although they look like those of keys. Overrides everything except `exclude`.
    pub pass: Vec<NamePattern>,
    /// If not empty, only these names are inherited.
    pub include_only: Vec<NamePattern>,
    /// Which variables are inherited before the other rules apply.
    pub inherit: Inherit,
    /// Variables that commands get with these values.
    pub set: BTreeMap<String, String>,
}

/// Which variables commands inherit before names are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Inherit {
    /// All variables.
    #[default]
    All,
    /// Variables with the paths of programs and folders, the user, and the language.
    Core,
    /// None.
    None,
}

/// The names for `inherit = "core"`.
const CORE_NAMES: &[&str] =
    &["HOME", "LANG", "LC_*", "LOGNAME", "PATH", "SHELL", "TEMP", "TERM", "TMP", "TMPDIR", "TZ", "USER", "USERNAME"];

/// Decides which variables commands get. Created once per server.
#[derive(Debug, Clone)]
pub struct CommandEnvironment {
    rules: VariableRules,
    /// Names from `VariableRules::keys`, and names of start-up files.
    hidden: Vec<NamePattern>,
    /// Names that look like those of keys and are not.
    harmless: Vec<NamePattern>,
    /// Names that look like those of keys.
    keys: Vec<NamePattern>,
    removed: Vec<String>,
    /// Folders in which shells look for start-up files of their user.
    startup_folders: Vec<PathBuf>,
}

impl Default for CommandEnvironment {
    /// Returns the rules of a server without a configuration and with unknown environment.
    fn default() -> Self {
        Self::new(VariableRules::default(), [], Vec::new())
    }
}

impl CommandEnvironment {
    /// Returns the rules for a server whose environment has these names. `startup_folders` are the folders in which shells
    /// look for start-up files of their user: the home directory and the folder that `ZDOTDIR` names.
    ///
    /// Variables for loaders cannot be set, because the program that confines a command would be started with them.
    #[must_use]
    pub fn new(
        mut rules: VariableRules,
        names: impl IntoIterator<Item = String>,
        startup_folders: Vec<PathBuf>,
    ) -> Self {
        rules.set.retain(|name, _| !is_for_loaders(name));
        let mut hidden: Vec<NamePattern> = rules.keys.iter().filter_map(|name| NamePattern::new(name).ok()).collect();
        hidden.extend(table(&STARTUP_NAMES));
        let keys = if rules.inherit_key_names { Vec::new() } else { table(KEY_NAMES) };
        let harmless = table(HARMLESS_NAMES);
        let mut environment = Self { rules, hidden, harmless, keys, removed: Vec::new(), startup_folders };
        let removed: BTreeSet<String> = names.into_iter().filter(|name| !environment.inherits(name)).collect();
        environment.removed = removed.into_iter().collect();
        environment
    }

    /// Returns the names in the environment of the server that commands do not inherit.
    #[must_use]
    pub fn removed(&self) -> &[String] {
        &self.removed
    }

    /// Returns the variables that commands get in addition to the inherited ones.
    #[must_use]
    pub fn set(&self) -> &BTreeMap<String, String> {
        &self.rules.set
    }

    /// Returns whether commands must not have a variable with this name, whatever its source.
    #[must_use]
    pub fn hides(&self, name: &str) -> bool {
        let fits = |patterns: &[NamePattern]| patterns.iter().any(|pattern| pattern.fits(name));
        let is_key = || fits(&self.hidden) || fits(&self.keys) && !fits(&self.harmless);
        fits(&self.rules.exclude) || is_key() && !fits(&self.rules.pass)
    }

    fn inherits(&self, name: &str) -> bool {
        let fits = |patterns: &[NamePattern]| patterns.iter().any(|pattern| pattern.fits(name));
        let is_wanted = match self.rules.inherit {
            Inherit::All => true,
            Inherit::Core => fits(&table(CORE_NAMES)) || fits(&self.rules.pass),
            Inherit::None => fits(&self.rules.pass),
        };
        let is_included =
            self.rules.include_only.is_empty() || fits(&self.rules.include_only) || fits(&self.rules.pass);
        is_wanted && is_included && !self.hides(name)
    }

    /// Returns the words that run a command so that keys set by the start-up files of its shell are removed before the
    /// command begins. `given` are names that the request for the command sets.
    ///
    /// Words that do not start a shell are returned unchanged, and so are shells that read no start-up files and shells
    /// with an unknown language.
    #[must_use]
    pub fn guarded<'a>(&'a self, words: &[String], given: impl IntoIterator<Item = &'a str>) -> Vec<String> {
        let Some(shell) = startup::read(words).filter(|shell| shell.reads_files) else { return words.to_vec() };
        let for_shell =
            |patterns: &[NamePattern]| patterns.iter().filter_map(NamePattern::for_shell).collect::<Vec<_>>();
        let given = given.into_iter().chain(self.rules.set.keys().map(String::as_str));
        let given: Vec<NamePattern> = given.filter_map(|name| NamePattern::new(name).ok()).collect();
        startup::without_variables(
            words,
            &shell,
            &startup::Names {
                given: for_shell(&given),
                excluded: for_shell(&self.rules.exclude),
                passed: for_shell(&self.rules.pass),
                hidden: for_shell(&self.hidden),
                harmless: for_shell(&self.harmless),
                keys: for_shell(&self.keys),
            },
        )
    }

    /// Returns the words for a command that is not confined: [guarded](Self::guarded), and without the start-up files of
    /// its shell if commands could have written them.
    #[must_use]
    pub fn guarded_outside(&self, words: &[String], writable: &WritableFolders) -> Vec<String> {
        if self.startup_folders.iter().any(|folder| has_doubtful_files(folder, writable)) {
            startup::without_files(words)
        } else {
            self.guarded(words, [])
        }
    }
}

/// Returns whether commands could have written the start-up files in a folder.
fn has_doubtful_files(folder: &Path, writable: &WritableFolders) -> bool {
    startup::FILES.iter().any(|file| writable.on_the_way(&folder.join(file), &[]).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patterns(texts: &[&str]) -> Vec<NamePattern> {
        texts.iter().map(|text| NamePattern::new(text).expect("a pattern")).collect()
    }

    fn removed(rules: VariableRules) -> Vec<String> {
        let names = ["BASH_ENV", "GITHUB_TOKEN", "HOME", "LANG", "MINE", "MY_MODEL", "PATH", "SOME_SECRET"];
        CommandEnvironment::new(rules, names.map(str::to_owned), Vec::new()).removed().to_vec()
    }

    #[test]
    fn rules_say_what_is_inherited() {
        let rules = VariableRules::default();
        assert_eq!(removed(rules.clone()), ["BASH_ENV", "GITHUB_TOKEN", "SOME_SECRET"]);
        let keys = BTreeSet::from(["MY_MODEL".to_owned()]);
        let looks = VariableRules { keys: keys.clone(), inherit_key_names: true, ..rules.clone() };
        assert_eq!(removed(looks), ["BASH_ENV", "MY_MODEL"]);
        let passing = VariableRules { keys, pass: patterns(&["github_*", "my_model"]), ..rules.clone() };
        assert_eq!(removed(passing.clone()), ["BASH_ENV", "SOME_SECRET"]);
        let excluding = VariableRules { exclude: patterns(&["*TOKEN", "mi?e"]), ..passing };
        assert_eq!(removed(excluding), ["BASH_ENV", "GITHUB_TOKEN", "MINE", "SOME_SECRET"]);
        let only = VariableRules { include_only: patterns(&["PATH", "SOME_*"]), ..rules.clone() };
        assert_eq!(removed(only), ["BASH_ENV", "GITHUB_TOKEN", "HOME", "LANG", "MINE", "MY_MODEL", "SOME_SECRET"]);
        let core = VariableRules { inherit: Inherit::Core, pass: patterns(&["GITHUB_TOKEN"]), ..rules.clone() };
        assert_eq!(removed(core), ["BASH_ENV", "MINE", "MY_MODEL", "SOME_SECRET"]);
        assert_eq!(removed(VariableRules { inherit: Inherit::None, ..rules }).len(), 8);
    }

    #[test]
    fn doubtful_start_up_files_are_not_read_outside() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().canonicalize().expect("a path");
        let environment = CommandEnvironment::new(VariableRules::default(), [], vec![home.join("a"), home.join("b")]);
        let words = ["bash", "-lc", "true"].map(str::to_owned);
        for open in [home.clone(), home.join("a"), home.join("b")] {
            assert_eq!(environment.guarded_outside(&words, &WritableFolders::new([open]))[1], "-c");
        }
        assert_eq!(environment.guarded_outside(&words, &WritableFolders::new(["/nowhere".into()]))[1], "-lc");
    }
}
