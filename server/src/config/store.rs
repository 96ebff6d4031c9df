//! Reads the user's configuration file, and changes it.

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

/// Name of the file in the server's folder.
pub const CONFIG_FILE_NAME: &str = "config.toml";
/// The most bytes that a configuration may have.
pub const MAX_CONFIG_BYTES: u64 = 1024 * 1024;

/// The configuration of a server: a file that may change, and what lies over it.
///
/// All methods that touch the file block on the disk.
#[derive(Debug)]
pub struct ConfigStore {
    home: Arc<Path>,
    file: PathBuf,
    flags: Option<Layer>,
    last: Mutex<Last>,
}

/// What was read last.
#[derive(Debug)]
struct Last {
    text: String,
    config: Arc<Config>,
}

/// What became of a change.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    /// Version of the file now.
    pub version: String,
    /// The file.
    pub file: PathBuf,
    /// Why the change has no effect, if it has none.
    pub overridden: Option<Overridden>,
}

/// A change that has no effect because another layer lies over it.
#[derive(Debug, Clone, PartialEq)]
pub struct Overridden {
    /// The key.
    pub key: String,
    /// The layer.
    pub layer: LayerName,
    /// Its version.
    pub version: String,
    /// The value that counts.
    pub value: Value,
}

impl ConfigStore {
    /// Reads `config.toml` in a folder, whose path is absolute and which need not exist, and lays overrides over it.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or it or an override is wrong. A server should not start then: it would do what its
    /// user did not want, perhaps with fewer limits.
    pub fn open(home: &Path, overrides: &[Override]) -> Result<Self, ConfigError> {
        let home: Arc<Path> = home.into();
        let file = home.join(CONFIG_FILE_NAME);
        let flags = layer::table_of_overrides(overrides)?;
        let flags = (!flags.is_empty()).then(|| Layer::flags(flags));
        let text = read(&file)?;
        let config = Arc::new(parse(&text, &file, flags.as_ref(), &home)?);
        Ok(Self { home, file, flags, last: Mutex::new(Last { text, config }) })
    }

    /// Returns the folder of the user's file.
    #[must_use]
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Returns the user's file, which need not exist.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Returns the configuration as it was when it was last read without an error.
    #[must_use]
    pub fn last_good(&self) -> Arc<Config> {
        Arc::clone(&self.lock().config)
    }

    /// Returns the configuration as it is: people change the file while the server runs.
    ///
    /// # Errors
    ///
    /// The file cannot be read or is wrong now. [`Self::last_good`] still has what it said before.
    pub fn current(&self) -> Result<Arc<Config>, ConfigError> {
        let mut last = self.lock();
        self.refresh(&mut last)?;
        Ok(Arc::clone(&last.config))
    }

    /// Makes some changes in the user's file: all of them, or none.
    ///
    /// # Errors
    ///
    /// The file has another version than `expected`, is not `file`, or would make no configuration afterwards.
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
        let config = Arc::new(parse(&new, &self.file, self.flags.as_ref(), &self.home)?);
        if new != text {
            replace(&self.file, &new)?;
        }
        let written = Written {
            version: layer::version_of(new.as_bytes()),
            file: self.file.clone(),
            overridden: edits.iter().find_map(|edit| overridden(&config, edit)),
        };
        *last = Last { text: new, config };
        Ok(written)
    }

    fn refresh(&self, last: &mut Last) -> Result<(), ConfigError> {
        let text = read(&self.file)?;
        if text != last.text {
            let config = Arc::new(parse(&text, &self.file, self.flags.as_ref(), &self.home)?);
            *last = Last { text, config };
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Last> {
        // What is behind the lock is replaced as a whole, so a panic elsewhere cannot have left half of it.
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns why a change has no effect.
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

/// Returns the text of a file; a missing one is empty.
fn read(path: &Path) -> Result<String, ConfigError> {
    let failed = |source| ConfigError::Read { path: path.to_owned(), source };
    let file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(String::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut text = String::new();
    // One byte more than allowed tells that there is more, also of a file that says it has no size.
    file.take(MAX_CONFIG_BYTES + 1).read_to_string(&mut text).map_err(failed)?;
    if text.len() as u64 > MAX_CONFIG_BYTES {
        let bytes = fs::metadata(path).map_or(text.len() as u64, |metadata| metadata.len());
        return Err(ConfigError::TooLarge { path: path.to_owned(), bytes, limit: MAX_CONFIG_BYTES });
    }
    Ok(text)
}

/// Returns the configuration that a text makes.
fn parse(text: &str, file: &Path, flags: Option<&Layer>, home: &Arc<Path>) -> Result<Config, ConfigError> {
    let placed = |error: toml::de::Error| {
        at(file, text, error.span().map_or(0, |span| span.start), &effective::one_line(error.message()))
    };
    let table: toml::Table = toml::from_str(text).map_err(placed)?;
    // The file by itself, so that an error can say where in it.
    toml::from_str::<Keys>(text).map_err(placed)?;
    let user =
        Layer { name: LayerName::User { file: file.to_owned() }, table, version: layer::version_of(text.as_bytes()) };
    Config::of_layers(std::iter::once(user).chain(flags.cloned()).collect(), Arc::clone(home))
}

/// Returns an error with the line and the column of a byte.
fn at(path: &Path, text: &str, byte: usize, message: &str) -> ConfigError {
    let before = text.get(..byte).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    ConfigError::File { path: path.to_owned(), line, column, message: message.to_owned() }
}

/// Puts a text in the place of a file, so that nobody ever reads half of it.
fn replace(path: &Path, text: &str) -> Result<(), ConfigError> {
    // Behind a link is the file that its owner means.
    let is_link = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
    let target = if is_link { fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()) } else { path.to_owned() };
    let failed = |source| ConfigError::Write { path: target.clone(), source };
    let folder = target.parent().unwrap_or(Path::new("/"));
    crate::private::create_folders(folder).map_err(failed)?;
    // A new file can only be read by its owner: it may hold tokens.
    let mut temporary = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    temporary.write_all(text.as_bytes()).map_err(failed)?;
    // The owner of a file behind a link says who may read it.
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
    fn a_broken_file_says_where() {
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
    fn a_change_by_hand_is_seen_and_a_slip_does_not_count() {
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
    fn all_changes_or_none() {
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
    fn a_writer_must_have_seen_what_is_there() {
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
    fn a_change_below_an_override_says_so() {
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
    fn a_link_and_the_mode_of_the_file_stay() {
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
