//! Checks that nothing a server is started from lies where commands of agents can write.
//!
//! The check covers the program, its arguments, its variables, its working folder, and the places where package runners
//! and interpreters keep code. It runs right before a start. A path is refused if it leads through a folder in which a
//! command could have replaced something, or if it contains such a folder, since a program loads files beside it and
//! below it. The error says which key names the path. Folders that the user
//! [trusts](crate::config::ServerConfig::trusted_writable_folders) are exempt.
//!
//! The configuration is written by the user, so arguments are parsed as people usually write them. The check does not
//! find paths that a configuration hides on purpose.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use trace_runtime::environment::START_UP_FILES;

use crate::config::Program;
use crate::environment::Variables;
use crate::launch_folders::{LaunchFolders, OwnFolder};

use self::places::{ABOVE, CODE_VARIABLES, DATA_ENDINGS, HOME_PLACES, PROJECT_FILES, SOCKET_ENDINGS};
use self::words::{Bases, paths_in, plain};

/// Most scripts whose first lines name each other that are followed.
const MAX_SHEBANGS: usize = 4;

/// Bytes at the beginning of a program that are searched for its interpreter.
const SHEBANG_BYTES: u64 = 256;

/// How a server is started.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) program: PathBuf,
    pub(crate) environment: BTreeMap<OsString, OsString>,
    pub(crate) cwd: PathBuf,
    /// A hint for the user in case the server does not start.
    pub(crate) hint: Option<String>,
    pub(crate) folder: OwnFolder,
}

/// Why a server is not started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    /// A path lies where commands can write.
    #[error(
        "it is not started: {key} names {}, which commands of agents could have changed, since {} is writable for them; move it \
         elsewhere, list a folder that the server only works on in `mcp_servers.{server}.data_folders`, or one with code that you \
         trust in `mcp_servers.{server}.trusted_writable_folders` (docs/mcp.md)",
        path.display(), folder.display()
    )]
    Planted { server: String, key: String, path: PathBuf, folder: PathBuf },
    /// A folder of code contains a folder that commands can write to, or a symlink to one.
    #[error(
        "it is not started: {key} names {}, and it may load code of {} from there, which commands of agents could have changed, since that \
         is writable for them; list that folder in `mcp_servers.{server}.data_folders` if the server loads no code from it, or in \
         `mcp_servers.{server}.trusted_writable_folders` if you trust its content (docs/mcp.md)",
        path.display(), folder.display()
    )]
    Holds { server: String, key: String, path: PathBuf, folder: PathBuf },
    /// The server home itself lies where commands can write.
    #[error(
        "it is not started: the home folder {} of this program lies in {}, which is writable for commands of agents, so they could have \
         changed its configuration; use another home (`--home`, TRACE_HOME), work in another folder, or exclude {} \
         (`sandbox_workspace_write.exclude_slash_tmp`, `exclude_tmpdir_env_var`)",
        home.display(), folder.display(), folder.display()
    )]
    Home { home: PathBuf, folder: PathBuf },
    /// A relative path that cannot be resolved.
    #[error(
        "it is not started: {key} has the relative path `{path}`, and it starts in a folder of its own; write the absolute path, or set `cwd`"
    )]
    Relative { key: &'static str, path: String },
    /// The folder of the server cannot be created.
    #[error("it is not started: cannot create a folder for it in {}: {source}", home.display())]
    Folder { home: PathBuf, source: std::io::Error },
    /// The program does not exist.
    #[error("cannot start `{command}`: there is no such program{hint}")]
    NotFound { command: String, hint: String },
}

/// Checks everything that a server is started from, and returns how it is started.
pub(crate) fn plan(
    server: &str,
    program: &Program<'_>,
    variables: &Variables,
    launch_folders: &LaunchFolders,
) -> Result<Plan, Refusal> {
    let home = launch_folders.home.join(crate::launch_folders::FOLDER_NAME);
    let trusted: Vec<PathBuf> = program.trusted.iter().map(|folder| plain(&launch_folders.cwd.join(folder))).collect();
    let mut look = Look { server, launch_folders, trusted, data: Vec::new(), homes: Vec::new(), search: Vec::new() };
    if let Some(folder) = launch_folders.writable.on_the_way(&home, &look.trusted) {
        return Err(Refusal::Home { home: launch_folders.home.clone(), folder });
    }
    let folder = OwnFolder::new(&launch_folders.home, server)
        .map_err(|source| Refusal::Folder { home: launch_folders.home.clone(), source })?;
    look.places_above("the home folder of this program", &folder.cwd())?;
    let mut environment = variables.of_server(program.env_vars, program.env);
    environment.entry("HOME".into()).or_insert_with(|| folder.user_home().into());
    let user_home = environment.get(OsStr::new("HOME")).map(PathBuf::from);
    look.data = data_folders(program, launch_folders, user_home.as_deref());
    look.homes = user_home.iter().flat_map(|home| [Some(home.clone()), home.canonicalize().ok()]).flatten().collect();
    let cwd = match program.cwd {
        Some(own) => {
            let own = plain(&launch_folders.cwd.join(own));
            look.path("`cwd`", &own)?;
            look.inside("`cwd`", &own)?;
            look.projects("`cwd`", &own)?;
            look.places_above("`cwd`", &own)?;
            own
        }
        None => folder.cwd(),
    };
    // These variables name the working folder of this program, and the server runs in another one.
    for name in ["PWD", "OLDPWD"].into_iter().filter(|name| !program.env.contains_key(*name)) {
        if environment.remove(OsStr::new(name)).is_some() && name == "PWD" {
            environment.insert(name.into(), cwd.clone().into());
        }
    }
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
    // No code is run from this folder. If commands can write to it (`/tmp/runtime-me`), the variable is left out.
    let runtime = OsStr::new("XDG_RUNTIME_DIR");
    let is_asked_for =
        program.env.contains_key("XDG_RUNTIME_DIR") || program.env_vars.iter().any(|name| name == "XDG_RUNTIME_DIR");
    if !is_asked_for && environment.get(runtime).is_some_and(|folder| look.path("", Path::new(folder)).is_err()) {
        environment.remove(runtime);
    }
    let bases = Bases { cwd: &cwd, user_home: user_home.as_deref() };
    let path = environment.get(OsStr::new("PATH"));
    look.search = path.map(std::env::split_paths).into_iter().flatten().map(|folder| cwd.join(folder)).collect();
    look.variables(&environment, program, bases)?;
    let command = look.program(program, &cwd, dropped)?;
    look.args(program.args, bases)?;
    look.packages_of_the_user(program, bases)?;
    let hint = program.cwd.is_none().then(|| moved(program, &launch_folders.cwd)).flatten();
    Ok(Plan { program: command, environment, cwd, hint, folder })
}

/// What the paths of a start are checked against.
struct Look<'a> {
    server: &'a str,
    launch_folders: &'a LaunchFolders,
    trusted: Vec<PathBuf>,
    /// Folders with data, from which the server loads no code.
    data: Vec<PathBuf>,
    /// The user's home directory, as it is named and with symlinks resolved.
    homes: Vec<PathBuf>,
    /// The folders of the search path.
    search: Vec<PathBuf>,
}

impl Look<'_> {
    fn refusal(&self, key: &str, path: &Path, folder: PathBuf) -> Refusal {
        Refusal::Planted { server: self.server.to_owned(), key: key.to_owned(), path: path.to_owned(), folder }
    }

    /// Refuses a path that commands could have replaced.
    fn path(&self, key: &str, path: &Path) -> Result<(), Refusal> {
        match self.launch_folders.writable.on_the_way(path, &self.trusted) {
            Some(folder) => Err(self.refusal(key, path, folder)),
            None => Ok(()),
        }
    }

    /// Refuses a place that commands could have replaced, or in which they could have created something.
    fn place(&self, key: &str, place: &Path) -> Result<(), Refusal> {
        match self.launch_folders.writable.touching(place, &self.trusted) {
            Some(folder) => Err(self.refusal(key, place, folder)),
            None => Ok(()),
        }
    }

    /// Refuses a path if, in its folder or in a folder above it, there is a place where interpreters look for code and
    /// commands can write.
    fn places_above(&self, key: &str, path: &Path) -> Result<(), Refusal> {
        if self.launch_folders.writable.is_empty() {
            return Ok(());
        }
        // A virtual environment has symlinks to a Python elsewhere, and its own packages beside them.
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

    /// Refuses a folder of code if a symlink in it, or a file that lists folders, leads to a place that commands can
    /// write to.
    fn links_in(&self, key: &str, folder: &Path) -> Result<(), Refusal> {
        if self.launch_folders.writable.is_empty() {
            return Ok(());
        }
        links::leading_out(folder).iter().try_for_each(|path| self.path(key, path))
    }

    /// Refuses a folder of code if it contains a writable folder, or a symlink that leads to one. Folders with data are
    /// exempt.
    fn inside(&self, key: &str, folder: &Path) -> Result<(), Refusal> {
        // `/` contains every writable folder. No program is expected to load code from all of it.
        if self.launch_folders.writable.is_empty() || folder == Path::new("/") {
            return Ok(());
        }
        let passed: Vec<PathBuf> = self.trusted.iter().chain(&self.data).cloned().collect();
        let links = links::links_of(folder);
        let open = self.launch_folders.writable.touching(folder, &passed);
        match open.or_else(|| links.iter().find_map(|link| self.launch_folders.writable.on_the_way(link, &passed))) {
            Some(open) => {
                let (server, key) = (self.server.to_owned(), key.to_owned());
                Err(Refusal::Holds { server, key, path: folder.to_owned(), folder: open })
            }
            None => Ok(()),
        }
    }

    /// Returns whether a folder is the user's home directory or `/`. They contain projects that the server does not
    /// use, so writable folders in them are no reason to refuse a path.
    fn is_for_everything(&self, folder: &Path) -> bool {
        folder == Path::new("/") || self.homes.iter().any(|home| home == folder)
    }

    /// Refuses a path if code that its program may load is writable: the folder itself, or the folder and the project
    /// of a file. Programs in a folder of PATH are found by name and load nothing from beside them.
    fn code_at(&self, key: &str, path: &Path) -> Result<(), Refusal> {
        if self.launch_folders.writable.is_empty() {
            return Ok(());
        }
        // Runtimes look for code beside the target of a symlink.
        let real = path.canonicalize().ok().filter(|real| real != path);
        for path in [Some(path.to_owned()), real].into_iter().flatten() {
            let beside = if path.is_file() { path.parent() } else { Some(&*path).filter(|path| path.is_dir()) };
            let is_searched = |folder: &Path| path.is_file() && self.search.iter().any(|known| known == folder);
            if let Some(folder) = beside.filter(|folder| !self.is_for_everything(folder) && !is_searched(folder)) {
                self.inside(key, folder)?;
            }
            self.projects(key, &path)?;
        }
        Ok(())
    }

    /// Refuses a path if the projects that contain it have writable folders, since scripts, workspaces and imports can
    /// reach all of a project.
    fn projects(&self, key: &str, path: &Path) -> Result<(), Refusal> {
        let is_project = |folder: &&Path| PROJECT_FILES.iter().any(|name| folder.join(name).is_file());
        // Folders above the home directory are not projects of the user.
        let is_outside = |folder: &&Path| !self.homes.iter().any(|home| home.starts_with(folder));
        let folders = path.ancestors().filter(|folder| folder.parent().is_some()).filter(is_outside);
        folders.filter(is_project).try_for_each(|project| self.inside(key, project))
    }

    /// Refuses arguments that name something which commands could have replaced. Paths of data are exempt.
    fn args(&self, args: &[String], bases: Bases<'_>) -> Result<(), Refusal> {
        let mut before = "";
        for word in args {
            let is_data = |path: &Path| is_data(path, &self.data, &[before, word]);
            for path in paths_in(word, bases) {
                self.patterns("`args`", &path)?;
                if is_data(&path) {
                    continue;
                }
                self.path("`args`", &path)?;
                if !has_data_ending(&path) {
                    self.code_at("`args`", &path)?;
                }
                self.places_above("`args`", &path)?;
            }
            self.spelled_out("`args`", word, is_data, bases)?;
            // Arguments of programs such as `env`, and lines for a shell, can name further programs.
            for name in words::names_in(word) {
                if let Some(found) = self.find_program(&name) {
                    self.started("`args`", &found)?;
                }
            }
            before = word;
        }
        Ok(())
    }

    /// Refuses a path with wildcards or variables if a shell could expand it to a writable folder.
    fn patterns(&self, key: &str, path: &Path) -> Result<(), Refusal> {
        let is_passed =
            |folder: &PathBuf| self.trusted.iter().chain(&self.data).any(|passed| folder.starts_with(passed));
        let folders = self.launch_folders.writable.folders().iter().filter(|folder| !is_passed(folder));
        match folders.into_iter().find(|folder| words::may_lead_to(path, folder)) {
            Some(folder) => Err(self.refusal(key, path, folder.clone())),
            None => Ok(()),
        }
    }

    /// Refuses a text that contains the path of a writable folder anywhere, since names of folders may contain blanks,
    /// quotes and characters that separate words.
    fn spelled_out(
        &self,
        key: &str,
        text: &str,
        is_passed: impl Fn(&Path) -> bool,
        bases: Bases<'_>,
    ) -> Result<(), Refusal> {
        for folder in self.launch_folders.writable.folders() {
            for path in words::mentions(text, folder, bases.user_home) {
                if !is_passed(&path) {
                    self.path(key, &path)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the search path for programs. Writable folders of the server's own environment are left out; writable
    /// folders that are configured are refused.
    fn search_path(&self, path: &OsStr, program: &Program<'_>, dropped: &mut usize) -> Result<OsString, Refusal> {
        if self.launch_folders.writable.is_empty() {
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
        // The folders were joined before, so they can be joined again.
        Ok(std::env::join_paths(kept).unwrap_or_default())
    }

    fn variables(
        &self,
        environment: &BTreeMap<OsString, OsString>,
        program: &Program<'_>,
        bases: Bases<'_>,
    ) -> Result<(), Refusal> {
        for (name, value) in environment.iter().filter(|(name, _)| *name != "PATH") {
            let name = name.to_string_lossy();
            // It was set to the working folder, which has already been checked.
            if name == "PWD" && !program.env.contains_key("PWD") {
                continue;
            }
            let key = match program.env.contains_key(&*name) {
                true => format!("`env.{name}`"),
                false => format!("the variable {name}"),
            };
            let capitals = name.to_ascii_uppercase();
            let value = value.to_string_lossy();
            let is_code = name != "HOME" && CODE_VARIABLES.iter().any(|begin| capitals.starts_with(begin));
            // A program connects to a socket and loads no code from it, so the socket may lie anywhere.
            if !is_code && (value.starts_with("unix:") || SOCKET_ENDINGS.iter().any(|end| capitals.ends_with(end))) {
                continue;
            }
            let is_passed = |path: &Path| !is_code && is_data(path, &self.data, &[&capitals, &value]);
            for path in paths_in(&value, bases) {
                if is_code {
                    self.place(&key, &path)?;
                    self.packages_below(&key, &path)?;
                } else if !is_passed(&path) {
                    self.path(&key, &path)?;
                    if path.is_dir() && !self.is_for_everything(&path) {
                        self.inside(&key, &path)?;
                    }
                }
            }
            self.spelled_out(&key, &value, is_passed, bases)?;
        }
        Ok(())
    }

    /// Refuses symlinks in a folder of code, and in its folders of packages and programs if packages are installed into
    /// it.
    fn packages_below(&self, key: &str, base: &Path) -> Result<(), Refusal> {
        let below = links::packages_below(base);
        std::iter::once(base)
            .chain(below.iter().map(PathBuf::as_path))
            .try_for_each(|folder| self.links_in(key, folder))
    }

    /// Refuses places below the user's home directory in which package runners, interpreters and shells keep code.
    fn packages_of_the_user(&self, program: &Program<'_>, bases: Bases<'_>) -> Result<(), Refusal> {
        let key = "the variable HOME";
        let mut prefixes: Vec<PathBuf> =
            self.search.iter().filter_map(|folder| folder.parent()).map(Path::to_owned).collect();
        if let Some(home) = bases.user_home {
            for place in HOME_PLACES.iter().chain(&START_UP_FILES) {
                self.place(key, &home.join(place))?;
            }
            for link in links::links_of(home).iter().filter(|link| is_hidden(link)) {
                self.path(key, link)?;
            }
            self.packages_below(key, &home.join(".local"))?;
            for path in links::values_of_npm(home).iter().flat_map(|value| paths_in(value, bases)) {
                self.place("a line of ~/.npmrc", &path)?;
                prefixes.push(path);
            }
            for path in links::values_of_git(home).iter().flat_map(|value| paths_in(value, bases)) {
                self.path("a line of the user's configuration of Git", &path)?;
            }
        }
        // Packages that are shared by all users of a runner. One that is linked to a project counts only for a server
        // whose arguments name it.
        let words: Vec<&str> =
            std::iter::once(program.command).chain(program.args.iter().map(String::as_str)).collect();
        for prefix in prefixes {
            for link in links::leading_out(&prefix.join("lib/node_modules")) {
                let name = link.file_name().unwrap_or_default().to_string_lossy();
                if words.iter().any(|word| word.contains(&*name)) {
                    self.path("`args`", &link)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the program as an absolute path.
    fn program(&self, program: &Program<'_>, cwd: &Path, dropped: usize) -> Result<PathBuf, Refusal> {
        let command = Path::new(program.command);
        let found = if command.is_absolute() {
            command.to_owned()
        } else if program.command.contains('/') {
            if program.cwd.is_none() {
                return Err(Refusal::Relative { key: "`command`", path: program.command.to_owned() });
            }
            plain(&cwd.join(command))
        } else {
            self.find_program(program.command).ok_or_else(|| Refusal::NotFound {
                command: program.command.to_owned(),
                hint: match dropped {
                    0 => " in PATH".to_owned(),
                    _ => format!(
                        " in PATH, of which {dropped} folders were left out: commands of agents may write to them"
                    ),
                },
            })?
        };
        self.started("`command`", &found)?;
        Ok(found)
    }

    /// Refuses a program that commands could have replaced, its interpreter, and the code that they load.
    fn started(&self, key: &str, program: &Path) -> Result<(), Refusal> {
        if self.launch_folders.writable.is_empty() {
            return Ok(());
        }
        let mut next = Some(program.to_owned());
        for _ in 0..MAX_SHEBANGS {
            let Some(program) = next.take() else { break };
            self.path(key, &program)?;
            self.code_at(key, &program)?;
            self.places_above(key, &program)?;
            let named = interpreter(&program);
            let first_line = format!("the first line of {key}");
            for path in &named.paths {
                self.path(&first_line, path)?;
            }
            next = named.paths.into_iter().next();
            if let Some(found) = named.looked_up.and_then(|name| self.find_program(&name)) {
                self.path(&first_line, &found)?;
                next = Some(found);
            }
        }
        Ok(())
    }

    fn find_program(&self, name: &str) -> Option<PathBuf> {
        self.search.iter().map(|folder| folder.join(name)).find(|candidate| is_executable(candidate))
    }
}

/// Returns the folders with data as absolute paths.
fn data_folders(program: &Program<'_>, launch_folders: &LaunchFolders, user_home: Option<&Path>) -> Vec<PathBuf> {
    let whole = |folder: &PathBuf| match (folder.strip_prefix("~"), user_home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => plain(&launch_folders.cwd.join(folder)),
    };
    program.data.iter().map(whole).collect()
}

/// Returns whether a path is data: a folder with data or a folder inside it, a path inside it that does not exist yet,
/// or a file inside it of a type that is never executed. `words` are the argument with the path, and the one before it.
fn is_data(path: &Path, data: &[PathBuf], words: &[&str]) -> bool {
    let path = plain(path);
    let is_inside = data.iter().any(|folder| path.starts_with(folder)) && !path.iter().any(|part| part == "..");
    is_inside && (path.is_dir() || !path.exists() || has_data_ending(&path) || is_data_in_json(&path, words))
}

fn has_data_ending(path: &Path) -> bool {
    let has_ending = |ending: &OsStr| DATA_ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known));
    path.extension().is_some_and(has_ending)
}

/// Returns whether a JSON file is data. Runners and servers also keep settings in JSON files, which can name programs.
/// Such files have well-known names, or the argument says that they are settings.
fn is_data_in_json(path: &Path, words: &[&str]) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let is_json = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
    let says_settings = |text: &str| ["conf", "cfg", "setting"].iter().any(|part| text.contains(part));
    let is_known = name.starts_with('.')
        || ["package", "mcp"].iter().any(|part| name.contains(part))
        || ABOVE.contains(&name.as_str());
    let folder = path.parent().map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default();
    // The folder of the file may have any name, so it is removed before the search.
    let is_named = |word: &&str| *word == "-c" || says_settings(&word.replace(&folder, "").to_ascii_lowercase());
    is_json && !is_known && !says_settings(&name) && !words.iter().any(is_named)
}

/// Returns whether the last component of a path begins with a dot.
fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_bytes().starts_with(b"."))
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// The programs and paths in the first line of a script.
#[derive(Debug, Default, PartialEq, Eq)]
struct Interpreter {
    /// The interpreter and its arguments.
    paths: Vec<PathBuf>,
    /// The name that `env` looks up in PATH.
    looked_up: Option<String>,
}

fn interpreter(program: &Path) -> Interpreter {
    let mut begin = Vec::new();
    // Opening a named pipe would block.
    if is_executable(program)
        && let Ok(file) = File::open(program)
    {
        // A file that cannot be read is not a script that could be started.
        let _ = file.take(SHEBANG_BYTES).read_to_end(&mut begin);
    }
    let Some(line) = begin.strip_prefix(b"#!").and_then(|rest| rest.split(|byte| *byte == b'\n').next()) else {
        return Interpreter::default();
    };
    let words = || line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let paths = words().filter(|word| word.starts_with(b"/")).map(|word| PathBuf::from(OsStr::from_bytes(word)));
    let is_env = words().next().is_some_and(|word| word.ends_with(b"/env"));
    let mut names = words().skip(1).filter(|word| !word.starts_with(b"-") && !word.contains(&b'='));
    let looked_up = names.next().filter(|name| is_env && !name.contains(&b'/'));
    Interpreter { paths: paths.collect(), looked_up: looked_up.map(|name| String::from_utf8_lossy(name).into_owned()) }
}

/// Returns a hint if an argument names a file in the folder that earlier versions started servers in.
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
