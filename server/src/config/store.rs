//! Reads and changes the user's configuration file.

use std::fs;
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use toml_edit::DocumentMut;

use super::edit::{self, Edit};
use super::effective::{self, Config};
use super::error::ConfigError;
use super::keys::Keys;
use super::layer::{self, Layer, LayerName, Override};

/// Name of the file in the server home.
pub const CONFIG_FILE_NAME: &str = "config.toml";
/// Most bytes of a configuration file.
pub const MAX_CONFIG_BYTES: u64 = 1024 * 1024;

/// The configuration of a server: a file that may change, and the overrides of the command line.
///
/// All methods that touch the file block on disk I/O.
#[derive(Debug)]
pub struct ConfigStore {
    home: Arc<Path>,
    file: PathBuf,
    reads_file: bool,
    /// The layers above the file, the lowest first.
    above: Vec<Layer>,
    last: Mutex<Last>,
}

/// What a configuration is made of.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'a> {
    /// Whether `config.toml` is read.
    pub reads_file: bool,
    /// A profile: the file `NAME.config.toml` beside `config.toml`, whose settings replace those of `config.toml`.
    pub profile: Option<&'a str>,
    /// Settings that replace all others.
    pub overrides: &'a [Override],
}

/// The result of the last read without an error.
#[derive(Debug)]
struct Last {
    text: String,
    config: Arc<Config>,
}

/// The result of a change.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    /// The version of the file after the change.
    pub version: String,
    /// The file.
    pub file: PathBuf,
    /// Why the change has no effect, if a higher layer overrides it.
    pub overridden: Option<Overridden>,
}

/// A change without effect, because a higher layer overrides it.
#[derive(Debug, Clone, PartialEq)]
pub struct Overridden {
    /// The key.
    pub key: String,
    /// The higher layer.
    pub layer: LayerName,
    /// The version of that layer.
    pub version: String,
    /// The effective value.
    pub value: Value,
}

impl ConfigStore {
    /// Reads `config.toml` in the folder `home`, and applies the overrides. The path of `home` must be absolute; the
    /// folder need not exist.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read, or if the file or an override is invalid. A server should not start
    /// in that case: it would ignore the user's settings, among them limits of what agents may do.
    pub fn open(home: &Path, overrides: &[Override]) -> Result<Self, ConfigError> {
        Self::open_sources(home, Sources { reads_file: true, profile: None, overrides })
    }

    /// Reads the files in the folder `home` that `sources` names, and applies its overrides. A profile is read once.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`open`](Self::open). A profile must exist, and its name has only letters, digits, `-` and
    /// `_`.
    pub fn open_sources(home: &Path, sources: Sources<'_>) -> Result<Self, ConfigError> {
        let home: Arc<Path> = home.into();
        let file = home.join(CONFIG_FILE_NAME);
        let mut above: Vec<Layer> = sources.profile.map(|name| profile(&home, name)).transpose()?.into_iter().collect();
        let flags = layer::table_of_overrides(sources.overrides)?;
        above.extend((!flags.is_empty()).then(|| Layer::flags(flags)));
        let text = if sources.reads_file { read(&file)? } else { String::new() };
        let config = Arc::new(parse(&text, &file, &above, &home)?);
        Ok(Self { home, file, reads_file: sources.reads_file, above, last: Mutex::new(Last { text, config }) })
    }

    /// Returns the folder of the configuration file.
    #[must_use]
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Returns the path of the configuration file, which need not exist.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Returns the configuration of the last read without an error.
    #[must_use]
    pub fn last_good(&self) -> Arc<Config> {
        Arc::clone(&self.lock().config)
    }

    /// Returns the current configuration. It reads the file again, because users change it while the server runs.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read or is invalid. [`Self::last_good`] still has the configuration
    /// before.
    pub fn current(&self) -> Result<Arc<Config>, ConfigError> {
        let mut last = self.lock();
        self.refresh(&mut last)?;
        Ok(Arc::clone(&last.config))
    }

    /// Applies edits to the user's file: either all of them, or none.
    ///
    /// # Errors
    ///
    /// Returns an error if the version of the file is not `expected`, if its path is not `file`, or if the changed
    /// configuration would be invalid.
    pub fn write(&self, edits: &[Edit], expected: Option<&str>, file: Option<&Path>) -> Result<Written, ConfigError> {
        if let Some(path) = file
            && path != self.file
        {
            return Err(ConfigError::OtherFile { path: path.to_owned(), user: self.file.clone() });
        }
        let mut last = self.lock();
        let text = read(&self.file)?;
        let found = layer::version_of(text.as_bytes());
        if let Some(expected) = expected
            && expected != found
        {
            return Err(ConfigError::Conflict { expected: expected.to_owned(), found });
        }
        let mut document = text.parse::<DocumentMut>().map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            at(&self.file, &text, start, error.message())
        })?;
        for edit in edits {
            edit::apply(&mut document, edit)?;
        }
        let new = document.to_string();
        if new.len() as u64 > MAX_CONFIG_BYTES {
            let bytes = new.len() as u64;
            return Err(ConfigError::TooLarge { path: self.file.clone(), bytes, limit: MAX_CONFIG_BYTES });
        }
        let config = Arc::new(parse(&new, &self.file, &self.above, &self.home)?);
        if new != text {
            replace(&self.file, &new)?;
        }
        let config = if self.reads_file { config } else { Arc::clone(&last.config) };
        let written = Written {
            version: layer::version_of(new.as_bytes()),
            file: self.file.clone(),
            overridden: edits.iter().find_map(|edit| overridden(&config, edit)),
        };
        *last = Last { text: new, config };
        Ok(written)
    }

    fn refresh(&self, last: &mut Last) -> Result<(), ConfigError> {
        if !self.reads_file {
            return Ok(());
        }
        let text = read(&self.file)?;
        if text != last.text {
            let config = Arc::new(parse(&text, &self.file, &self.above, &self.home)?);
            *last = Last { text, config };
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Last> {
        // The value behind the lock is replaced as a whole, so a panic cannot leave it half changed.
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns why an edit has no effect, if a higher layer overrides it.
fn overridden(config: &Config, edit: &Edit) -> Option<Overridden> {
    let key = layer::split_key(&edit.key).ok()?;
    let layer = config.layer_of(&key).filter(|layer| !effective::is_user(layer))?;
    Some(Overridden {
        key: edit.key.clone(),
        layer: layer.name.clone(),
        version: layer.version.clone(),
        value: config.value_at(&key).unwrap_or_default(),
    })
}

/// Reads a file. A missing file counts as empty.
fn read(path: &Path) -> Result<String, ConfigError> {
    let failed = |source| ConfigError::Read { path: path.to_owned(), source };
    let file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(String::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut text = String::new();
    // Reading one byte more than allowed detects a file that is too large, even if its metadata says that it is empty.
    file.take(MAX_CONFIG_BYTES + 1).read_to_string(&mut text).map_err(failed)?;
    if text.len() as u64 > MAX_CONFIG_BYTES {
        let bytes = fs::metadata(path).map_or(text.len() as u64, |metadata| metadata.len());
        return Err(ConfigError::TooLarge { path: path.to_owned(), bytes, limit: MAX_CONFIG_BYTES });
    }
    Ok(text)
}

/// Parses the text of the file and merges it with the layers above it.
fn parse(text: &str, file: &Path, above: &[Layer], home: &Arc<Path>) -> Result<Config, ConfigError> {
    let user = user_layer(text, file)?;
    Config::of_layers(std::iter::once(user).chain(above.iter().cloned()).collect(), Arc::clone(home))
}

/// Reads the layer of a profile.
fn profile(home: &Path, name: &str) -> Result<Layer, ConfigError> {
    if name.is_empty() || !name.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_')) {
        return Err(ConfigError::ProfileName { name: name.to_owned() });
    }
    let file = home.join(format!("{name}.{CONFIG_FILE_NAME}"));
    if let Err(source) = fs::metadata(&file) {
        return Err(ConfigError::Read { path: file, source });
    }
    user_layer(&read(&file)?, &file)
}

/// Parses the text of a file of the user.
fn user_layer(text: &str, file: &Path) -> Result<Layer, ConfigError> {
    let placed = |error: toml::de::Error| {
        at(file, text, error.span().map_or(0, |span| span.start), &effective::one_line(error.message()))
    };
    let table: toml::Table = toml::from_str(text).map_err(placed)?;
    // Parse the file alone first, so that an error has the line and the column.
    toml::from_str::<Keys>(text).map_err(placed)?;
    let name = LayerName::User { file: file.to_owned() };
    Ok(Layer { name, table, version: layer::version_of(text.as_bytes()) })
}

/// Returns an error with the line and the column of a byte offset.
fn at(path: &Path, text: &str, byte: usize, message: &str) -> ConfigError {
    let before = text.get(..byte).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    ConfigError::File { path: path.to_owned(), line, column, message: message.to_owned() }
}

/// Replaces a file atomically, so that no reader ever sees a part of it.
fn replace(path: &Path, text: &str) -> Result<(), ConfigError> {
    // A symlink stays, and its target is replaced.
    let is_link = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
    let target = if is_link { fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()) } else { path.to_owned() };
    let failed = |source| ConfigError::Write { path: target.clone(), source };
    let folder = target.parent().unwrap_or(Path::new("/"));
    crate::private::create_folders(folder).map_err(failed)?;
    // The temporary file is readable only by its owner, because a configuration may hold tokens.
    let mut temporary = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    temporary.write_all(text.as_bytes()).map_err(failed)?;
    // The target of a symlink keeps its permissions, because its owner has chosen them.
    if is_link && let Ok(metadata) = fs::metadata(&target) {
        temporary.as_file().set_permissions(metadata.permissions()).map_err(failed)?;
    }
    temporary.as_file().sync_all().map_err(failed)?;
    temporary.persist(&target).map_err(|error| failed(error.error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::edit::Merge;
    use super::*;

    fn edit(key: &str, value: Value) -> Edit {
        Edit { key: key.into(), value, merge: Merge::Replace }
    }

    fn store(text: &str, overrides: &[&str]) -> (tempfile::TempDir, Result<ConfigStore, ConfigError>) {
        let home = tempfile::tempdir().expect("a folder");
        if !text.is_empty() {
            fs::write(home.path().join(CONFIG_FILE_NAME), text).expect("the file system works");
        }
        let overrides = overrides.iter().map(|text| Override::parse(text).expect("an override")).collect::<Vec<_>>();
        let store = ConfigStore::open(home.path(), &overrides);
        (home, store)
    }

    #[test]
    fn an_invalid_file_is_reported_with_its_place() {
        for (text, line, column, part) in [
            ("model = 'x'\nmodel_provider = \n", 2, 18, "string"),
            ("model = 'é' # é\n  model_context_window = 'x'", 2, 26, "expected u64"),
            ("sandbox_mode = 'open'", 1, 16, "unknown variant `open`"),
            ("[agents]\nmax_threads = -1", 2, 15, "expected u32"),
        ] {
            let (home, store) = store(text, &[]);
            let Err(ConfigError::File { path, line: found_line, column: found_column, message }) = store else {
                panic!("{text}")
            };
            assert_eq!(path, home.path().join(CONFIG_FILE_NAME));
            assert_eq!((found_line, found_column), (line, column), "{message}");
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn a_file_that_is_too_deep_is_refused() {
        let keys = format!("{} = 1", vec!["a"; 200_000].join("."));
        let tables = format!("[{}]", vec!["a"; 200_000].join("."));
        let arrays = format!("a = {}{}", "[".repeat(200_000), "]".repeat(200_000));
        for text in [keys, tables, arrays] {
            let (_home, store) = store(&text, &[]);
            assert!(matches!(store, Err(ConfigError::File { .. })));
        }
    }

    #[test]
    fn a_missing_folder_is_an_empty_configuration_until_something_is_written() {
        let home = tempfile::tempdir().expect("a folder");
        let folder = home.path().join("not/yet");
        let store = ConfigStore::open(&folder, &[]).expect("a configuration");
        assert_eq!(store.current().expect("a configuration").model, effective::DEFAULT_MODEL);
        let written = store.write(&[edit("model", json!("m"))], None, None).expect("a change that is possible");
        assert_eq!(written.file, folder.join(CONFIG_FILE_NAME));
        assert_eq!(fs::read_to_string(&written.file).expect("the file system works"), "model = \"m\"\n");
        assert_eq!(store.current().expect("a configuration").model, "m");
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(&written.file).expect("the file system works").permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_profile_is_between_the_file_and_the_overrides() {
        let home = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| fs::write(home.path().join(name), text).expect("the file system works");
        write(CONFIG_FILE_NAME, "model = 'file'\nservice_tier = 'file'\n[agents]\nmax_depth = 1");
        write("work.config.toml", "model = 'profile'\nservice_tier = 'profile'");
        let overrides = [Override::parse("model=flag").expect("an override")];
        let open = |reads_file, profile| {
            ConfigStore::open_sources(home.path(), Sources { reads_file, profile, overrides: &overrides })
        };
        let read = |reads_file, profile| {
            let config = open(reads_file, profile).expect("a configuration").current().expect("a configuration");
            (config.model.clone(), config.service_tier.clone(), config.agents.max_depth)
        };
        let tier = |text: &str| Some(text.to_owned());
        let default = effective::MAX_AGENT_DEPTH_DEFAULT;
        assert_eq!(read(true, None), ("flag".to_owned(), tier("file"), 1));
        assert_eq!(read(true, Some("work")), ("flag".to_owned(), tier("profile"), 1));
        assert_eq!(read(false, Some("work")), ("flag".to_owned(), tier("profile"), default));
        assert_eq!(read(false, None), ("flag".to_owned(), None, default));
        assert!(matches!(open(true, Some("nobody")), Err(ConfigError::Read { .. })));
        for name in ["", "../work", "a.b"] {
            assert!(matches!(open(true, Some(name)), Err(ConfigError::ProfileName { .. })), "{name}");
        }
        write("broken.config.toml", "\nmodel = 3");
        let Err(ConfigError::File { path, line, .. }) = open(true, Some("broken")) else { panic!() };
        assert_eq!((path, line), (home.path().join("broken.config.toml"), 2));
    }

    #[test]
    fn changes_of_the_file_are_seen_and_invalid_ones_are_not_used() {
        let (_home, store) = store("model = 'a'", &[]);
        let store = store.expect("a configuration");
        fs::write(store.file(), "model = 'b'").expect("the file system works");
        assert_eq!(store.current().expect("a configuration").model, "b");
        fs::write(store.file(), "model = ").expect("the file system works");
        assert!(store.current().is_err());
        assert_eq!(store.last_good().model, "b");
        assert!(store.write(&[edit("model", json!("c"))], None, None).is_err());
        assert_eq!(fs::read_to_string(store.file()).expect("the file system works"), "model = ");
    }

    #[test]
    fn all_edits_or_none_are_applied() {
        let (_home, store) = store("# keep\nmodel = 'a'\n", &[]);
        let store = store.expect("a configuration");
        let refused = store.write(&[edit("model", json!("b")), edit("approval_policy", json!("nix"))], None, None);
        assert!(matches!(refused, Err(ConfigError::File { .. })), "{refused:?}");
        let refused = store.write(&[edit("model_provider", json!("nobody"))], None, None);
        assert!(matches!(refused, Err(ConfigError::Invalid { .. })), "{refused:?}");
        assert_eq!(fs::read_to_string(store.file()).expect("the file system works"), "# keep\nmodel = 'a'\n");
        store
            .write(&[edit("model", json!("b")), edit("approval_policy", json!("never"))], None, None)
            .expect("a change that is possible");
        assert_eq!(
            fs::read_to_string(store.file()).expect("the file system works"),
            "# keep\nmodel = \"b\"\napproval_policy = \"never\"\n"
        );
    }

    #[test]
    fn a_write_needs_the_current_version() {
        let (home, store) = store("model = 'a'\n", &[]);
        let store = store.expect("a configuration");
        let first = store.write(&[], None, None).expect("a change that is possible").version;
        let second = store
            .write(&[edit("model", json!("b"))], Some(&first), Some(store.file()))
            .expect("a change that is possible")
            .version;
        assert_ne!(first, second);
        let Err(ConfigError::Conflict { expected, found }) = store.write(&[], Some(&first), None) else { panic!() };
        assert_eq!((expected, found), (first, second));
        let other = home.path().join("other.toml");
        assert!(matches!(store.write(&[], None, Some(&other)), Err(ConfigError::OtherFile { .. })));
    }

    #[test]
    fn a_change_below_an_override_is_reported() {
        let (_home, store) = store("", &["model=flag"]);
        let store = store.expect("a configuration");
        let written = store.write(&[edit("model", json!("file"))], None, None).expect("a change that is possible");
        let overridden = written.overridden.expect("it is overridden");
        assert_eq!((overridden.layer, overridden.value), (LayerName::Flags, json!("flag")));
        assert_eq!(store.current().expect("a configuration").model, "flag");
        assert_eq!(
            store.write(&[edit("service_tier", json!("x"))], None, None).expect("a change that is possible").overridden,
            None
        );
    }

    #[test]
    fn a_symlink_and_the_mode_of_the_file_stay() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let home = tempfile::tempdir().expect("a folder");
        let real = home.path().join("real.toml");
        fs::write(&real, "model = 'a'\n").expect("the file system works");
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).expect("the file system works");
        symlink(&real, home.path().join(CONFIG_FILE_NAME)).expect("the file system works");
        let store = ConfigStore::open(home.path(), &[]).expect("a configuration");
        store.write(&[edit("model", json!("b"))], None, None).expect("a change that is possible");
        assert!(fs::symlink_metadata(store.file()).expect("the file system works").is_symlink());
        assert_eq!(fs::read_to_string(&real).expect("the file system works"), "model = \"b\"\n");
        assert_eq!(fs::metadata(&real).expect("the file system works").permissions().mode() & 0o777, 0o640);
    }

    #[test]
    fn a_file_has_a_largest_size() {
        let comment = "#".repeat(usize::try_from(MAX_CONFIG_BYTES).expect("it is there"));
        let (_home, full) = store(&comment, &[]);
        full.expect("a configuration").write(&[edit("model", json!("a"))], None, None).expect_err("it is refused");
        let (_home, over) = store(&format!("{comment}#"), &[]);
        assert!(matches!(over, Err(ConfigError::TooLarge { .. })));
    }
}
