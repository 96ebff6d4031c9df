//! Nothing that a server is started from may lie where commands can write.
//!
//! The program, its words, its variables, its working folder and the places where runners and interpreters keep code are looked at
//! right before a start. A path that leads through a folder in which a command could have replaced something refuses the start and
//! says which key names it. Folders that a person [trusts](crate::config::ServerConfig::trusted_writable_folders) are passed over.
//!
//! The configuration is a person's own, so words are read as people write them: this is no defence against a configuration that
//! hides its paths.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};

use trace_runtime::environment::START_UP_FILES;

use crate::config::Program;
use crate::environment::Variables;
use crate::ground::{Ground, OwnFolder};

use self::places::{ABOVE, CODE_VARIABLES, DATA_ENDINGS, HOME_PLACES};
use self::words::{Bases, paths_in, plain};

/// Programs that name others by their first line, at most so many after another.
const MAX_SHEBANGS: usize = 4;

/// Bytes of a program that are looked at for its interpreter.
const SHEBANG_BYTES: u64 = 256;

/// How a server is started.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) program: PathBuf,
    pub(crate) environment: BTreeMap<OsString, OsString>,
    pub(crate) cwd: PathBuf,
    /// What people would have to know if it does not start.
    pub(crate) hint: Option<String>,
    pub(crate) folder: OwnFolder,
}

/// Why a server is not started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    /// Something lies where commands can write.
    #[error(
        "it is not started: {key} names {}, which commands of agents could have changed, since {} is open to them; move it \
         elsewhere, list a folder that the server only works on in `mcp_servers.{server}.data_folders`, or one with code that you \
         trust in `mcp_servers.{server}.trusted_writable_folders` (docs/mcp.md)",
        path.display(), folder.display()
    )]
    Planted { server: String, key: String, path: PathBuf, folder: PathBuf },
    /// There is no place to start it in.
    #[error(
        "it is not started: the home folder {} of this program lies in {}, which is open to commands of agents, so its configuration \
         could be theirs too; use another home (`--home`, TRACE_HOME), work in another folder, or close {} to commands \
         (`sandbox_workspace_write.exclude_slash_tmp`, `exclude_tmpdir_env_var`)",
        home.display(), folder.display(), folder.display()
    )]
    Home { home: PathBuf, folder: PathBuf },
    /// A relative path that could be anywhere.
    #[error(
        "it is not started: {key} has the relative path `{path}`, and it starts in a folder of its own; write the whole path, or set `cwd`"
    )]
    Relative { key: &'static str, path: String },
    /// No folder can be made.
    #[error("it is not started: no folder can be made for it in {}: {source}", home.display())]
    Folder { home: PathBuf, source: std::io::Error },
    /// There is no such program.
    #[error("cannot start `{command}`: there is no such program{hint}")]
    NotFound { command: String, hint: String },
}

/// Looks at everything that a server is started from and returns how it is started.
pub(crate) fn plan(
    server: &str,
    program: &Program<'_>,
    variables: &Variables,
    ground: &Ground,
) -> Result<Plan, Refusal> {
    let home = ground.home.join(crate::ground::FOLDER_NAME);
    let trusted: Vec<PathBuf> = program.trusted.iter().map(|folder| plain(&ground.cwd.join(folder))).collect();
    let look = Look { server, ground, trusted };
    if let Some(folder) = ground.writable.on_the_way(&home, &look.trusted) {
        return Err(Refusal::Home { home: ground.home.clone(), folder });
    }
    let folder =
        OwnFolder::new(&ground.home, server).map_err(|source| Refusal::Folder { home: ground.home.clone(), source })?;
    look.places_above("the home folder of this program", &folder.cwd())?;
    let cwd = match program.cwd {
        Some(own) => {
            let own = plain(&ground.cwd.join(own));
            look.path("`cwd`", &own)?;
            look.places_above("`cwd`", &own)?;
            own
        }
        None => folder.cwd(),
    };
    let mut environment = variables.of_server(program.env_vars, program.env);
    let mut dropped = 0;
    if let Some(path) = environment.get(OsStr::new("PATH")).cloned() {
        let kept = look.search_path(&path, program, &mut dropped)?;
        environment.insert("PATH".into(), kept);
    }
    for name in ["TMPDIR", "TMP", "TEMP"] {
        if !program.env.contains_key(name) {
            environment.insert(name.into(), folder.temporary().into());
        }
    }
    // Nothing is run from there, and where it is open (`/tmp/runtime-me`) a server does without.
    let runtime = OsStr::new("XDG_RUNTIME_DIR");
    let is_asked_for =
        program.env.contains_key("XDG_RUNTIME_DIR") || program.env_vars.iter().any(|name| name == "XDG_RUNTIME_DIR");
    if !is_asked_for && environment.get(runtime).is_some_and(|folder| look.path("", Path::new(folder)).is_err()) {
        environment.remove(runtime);
    }
    environment.entry("HOME".into()).or_insert_with(|| folder.user_home().into());
    let user_home = environment.get(OsStr::new("HOME")).map(PathBuf::from);
    let bases = Bases { cwd: &cwd, user_home: user_home.as_deref() };
    let data = data_folders(program, ground, user_home.as_deref());
    look.variables(&environment, program, &data, bases)?;
    let command = look.program(program, environment.get(OsStr::new("PATH")), &cwd, dropped)?;
    look.args(program.args, &data, bases)?;
    let hint = program.cwd.is_none().then(|| moved(program, &ground.cwd)).flatten();
    Ok(Plan { program: command, environment, cwd, hint, folder })
}

/// What a start is held against.
struct Look<'a> {
    server: &'a str,
    ground: &'a Ground,
    trusted: Vec<PathBuf>,
}

impl Look<'_> {
    fn refusal(&self, key: &str, path: &Path, folder: PathBuf) -> Refusal {
        Refusal::Planted { server: self.server.to_owned(), key: key.to_owned(), path: path.to_owned(), folder }
    }

    /// Refuses a path that commands could have replaced.
    fn path(&self, key: &str, path: &Path) -> Result<(), Refusal> {
        match self.ground.writable.on_the_way(path, &self.trusted) {
            Some(folder) => Err(self.refusal(key, path, folder)),
            None => Ok(()),
        }
    }

    /// Refuses a place that commands could have replaced, or in which they could have left something.
    fn place(&self, key: &str, place: &Path) -> Result<(), Refusal> {
        match self.ground.writable.touching(place, &self.trusted) {
            Some(folder) => Err(self.refusal(key, place, folder)),
            None => Ok(()),
        }
    }

    /// Refuses what lies at a path and above it, where interpreters look for code.
    fn places_above(&self, key: &str, path: &Path) -> Result<(), Refusal> {
        if self.ground.writable.is_empty() {
            return Ok(());
        }
        // A virtual environment has links to a Python elsewhere, and its own packages beside them.
        let real = path.canonicalize().ok().filter(|real| real != path);
        for above in path.ancestors().chain(real.iter().flat_map(|real| real.ancestors())) {
            for place in ABOVE {
                self.place(key, &above.join(place))?;
            }
            self.links_in(key, &above.join("node_modules"))?;
            for environment in [above.to_owned(), above.join(".venv")] {
                for packages in links::packages_of_environment(&environment) {
                    self.links_in(key, &packages)?;
                }
            }
        }
        Ok(())
    }

    /// Refuses a folder of code from which a link, or a file that names folders, leads to where commands can write.
    fn links_in(&self, key: &str, folder: &Path) -> Result<(), Refusal> {
        if self.ground.writable.is_empty() {
            return Ok(());
        }
        links::leading_out(folder).iter().try_for_each(|path| self.path(key, path))
    }

    /// Refuses words that name something which commands could have replaced. What names data is passed over.
    fn args(&self, args: &[String], data: &[PathBuf], bases: Bases<'_>) -> Result<(), Refusal> {
        for word in args {
            for path in paths_in(word, bases) {
                if is_data(&path, data) {
                    continue;
                }
                self.path("`args`", &path)?;
                self.places_above("`args`", &path)?;
            }
            self.spelled_out("`args`", word, data, bases)?;
        }
        Ok(())
    }

    /// Refuses a text in which the path of an open folder stands, whatever stands around it: names of folders may have blanks, quotes and
    /// signs in them that part words.
    fn spelled_out(&self, key: &str, text: &str, data: &[PathBuf], bases: Bases<'_>) -> Result<(), Refusal> {
        for folder in self.ground.writable.folders() {
            for path in words::mentions(text, folder, bases.user_home) {
                if !is_data(&path, data) {
                    self.path(key, &path)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the folders in which programs are looked for. Those of the server's own environment that are doubtful are left
    /// out; those that are configured are refused.
    fn search_path(&self, path: &OsStr, program: &Program<'_>, dropped: &mut usize) -> Result<OsString, Refusal> {
        if self.ground.writable.is_empty() {
            return Ok(path.to_owned());
        }
        let is_configured = program.env.contains_key("PATH");
        let mut kept = Vec::new();
        for folder in std::env::split_paths(path) {
            let checked = match folder.is_absolute() {
                true => self.path("`env.PATH`", &folder),
                false => Err(Refusal::Relative { key: "`env.PATH`", path: folder.display().to_string() }),
            };
            match checked {
                Ok(()) => kept.push(folder),
                Err(refusal) if is_configured => return Err(refusal),
                Err(_) => {
                    tracing::debug!(server = self.server, folder = %folder.display(), "a folder of PATH is left out");
                    *dropped += 1;
                }
            }
        }
        // Folders that were joined before can be joined again.
        Ok(std::env::join_paths(kept).unwrap_or_default())
    }

    fn variables(
        &self,
        environment: &BTreeMap<OsString, OsString>,
        program: &Program<'_>,
        data: &[PathBuf],
        bases: Bases<'_>,
    ) -> Result<(), Refusal> {
        for (name, value) in environment.iter().filter(|(name, _)| *name != "PATH") {
            let name = name.to_string_lossy();
            let key = match program.env.contains_key(&*name) {
                true => format!("`env.{name}`"),
                false => format!("the variable {name}"),
            };
            let capitals = name.to_ascii_uppercase();
            let is_code = name != "HOME" && CODE_VARIABLES.iter().any(|begin| capitals.starts_with(begin));
            let value = value.to_string_lossy();
            for path in paths_in(&value, bases) {
                if is_code {
                    self.place(&key, &path)?;
                    self.links_in(&key, &path)?;
                } else if !is_data(&path, data) && !is_socket(&path) {
                    self.path(&key, &path)?;
                }
            }
            self.spelled_out(&key, &value, if is_code { &[] } else { data }, bases)?;
        }
        let Some(home) = bases.user_home else { return Ok(()) };
        for place in HOME_PLACES.iter().chain(&START_UP_FILES) {
            self.place("the variable HOME", &home.join(place))?;
        }
        for version in std::fs::read_dir(home.join(".local/lib")).into_iter().flatten().flatten() {
            self.links_in("the variable HOME", &version.path().join("site-packages"))?;
        }
        Ok(())
    }

    /// Returns the program by its whole path.
    fn program(
        &self,
        program: &Program<'_>,
        path: Option<&OsString>,
        cwd: &Path,
        dropped: usize,
    ) -> Result<PathBuf, Refusal> {
        let command = Path::new(program.command);
        let found = if command.is_absolute() {
            command.to_owned()
        } else if program.command.contains('/') {
            if program.cwd.is_none() {
                return Err(Refusal::Relative { key: "`command`", path: program.command.to_owned() });
            }
            plain(&cwd.join(command))
        } else {
            let folders = path.map(std::env::split_paths).into_iter().flatten();
            let mut candidates = folders.map(|folder| cwd.join(folder).join(command));
            candidates.find(|candidate| is_executable(candidate)).ok_or_else(|| Refusal::NotFound {
                command: program.command.to_owned(),
                hint: match dropped {
                    0 => " in PATH".to_owned(),
                    _ => format!(
                        " in PATH, of which {dropped} folders were left out: commands of agents may write to them"
                    ),
                },
            })?
        };
        let mut next = Some(found.clone());
        for _ in 0..MAX_SHEBANGS {
            let Some(program) = next.take() else { break };
            self.path("`command`", &program)?;
            self.places_above("`command`", &program)?;
            let named = interpreter(&program);
            for path in &named {
                self.path("the first line of `command`", path)?;
            }
            next = named.into_iter().next();
        }
        Ok(found)
    }
}

/// Returns the folders with data by whole paths.
fn data_folders(program: &Program<'_>, ground: &Ground, user_home: Option<&Path>) -> Vec<PathBuf> {
    let whole = |folder: &PathBuf| match (folder.strip_prefix("~"), user_home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => plain(&ground.cwd.join(folder)),
    };
    program.data.iter().map(whole).collect()
}

/// Tells whether a path names data: a folder with data or one in it, something there that is not made yet, or a file of a kind that
/// is never run.
fn is_data(path: &Path, data: &[PathBuf]) -> bool {
    let path = plain(path);
    let is_inside = data.iter().any(|folder| path.starts_with(folder)) && !path.iter().any(|part| part == "..");
    let has_ending = |ending: &OsStr| DATA_ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known));
    is_inside && (path.is_dir() || !path.exists() || path.extension().is_some_and(has_ending))
}

fn is_socket(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.file_type().is_socket())
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// Returns the paths in the first line of a script: its interpreter, and what that is told.
fn interpreter(program: &Path) -> Vec<PathBuf> {
    let mut begin = Vec::new();
    // A pipe would hold whoever opens it.
    if is_executable(program)
        && let Ok(file) = File::open(program)
    {
        // What cannot be read is no script that could be started.
        let _ = file.take(SHEBANG_BYTES).read_to_end(&mut begin);
    }
    let Some(line) = begin.strip_prefix(b"#!").and_then(|rest| rest.split(|byte| *byte == b'\n').next()) else {
        return Vec::new();
    };
    let words = line.split(u8::is_ascii_whitespace).filter(|word| word.starts_with(b"/"));
    words.map(|word| PathBuf::from(OsStr::from_bytes(word))).collect()
}

/// Says that a word names something in the folder in which servers were started once.
fn moved(program: &Program<'_>, cwd: &Path) -> Option<String> {
    let is_there = |word: &&String| {
        let path = Path::new(word.as_str());
        !word.is_empty() && !word.starts_with('-') && path.is_relative() && cwd.join(path).is_file()
    };
    let word = program.args.iter().find(is_there)?;
    Some(format!(
        "it starts in a folder of its own, not in {}, where there is `{word}`; see `cwd` in docs/mcp.md",
        cwd.display()
    ))
}

mod links;
mod places;
#[cfg(test)]
mod tests;
mod words;
