//! Finds the folders that a folder of code leads to: by symlinks, and by files in which Python lists further folders.
//!
//! A user can link a package in a protected folder to a project (`npm link`, `pip install -e`). If commands can write
//! to the project, they determine the code that is loaded from the protected folder.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Most entries of one folder that are checked. Further ones are not found, as docs/security.md says.
pub(super) const MAX_ENTRIES: usize = 16 * 1024;

/// Most bytes of a file with folder names that are read.
const MAX_FILE_BYTES: u64 = 64 * 1024;

/// Returns the symlinks in a folder of code and in its folders of scopes (`@scope`) and programs (`.bin`), and the
/// folders that files in it list (`*.pth`, `*.egg-link`).
pub(super) fn leading_out(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = MAX_ENTRIES;
    look(folder, &mut left, &mut found, Depth::Folder);
    found
}

/// Returns the symlinks that are directly in a folder.
pub(super) fn links_of(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().take(MAX_ENTRIES).flatten();
    entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink())).map(|entry| entry.path()).collect()
}

/// Returns the package folders of a virtual environment, which is given by the folder that contains its `pyvenv.cfg`.
pub(super) fn packages_of_environment(environment: &Path) -> Vec<PathBuf> {
    match environment.join("pyvenv.cfg").is_file() {
        true => site_packages(environment),
        false => Vec::new(),
    }
}

/// Returns the folders of packages and programs below a folder that packages are installed into.
pub(super) fn packages_below(base: &Path) -> Vec<PathBuf> {
    let others = ["bin", "lib/node_modules", "node_modules"].map(|name| base.join(name));
    site_packages(base).into_iter().chain(others.into_iter().filter(|folder| folder.is_dir())).collect()
}

fn site_packages(base: &Path) -> Vec<PathBuf> {
    let libraries = ["lib", "lib64"].map(|name| base.join(name));
    let versions = libraries.iter().flat_map(|library| fs::read_dir(library).into_iter().flatten().flatten());
    let packages =
        versions.flat_map(|version| ["site-packages", "dist-packages"].map(|name| version.path().join(name)));
    packages.filter(|packages| packages.is_dir()).collect()
}

/// Returns the values in the user's configuration of npm: folders of packages, programs and caches.
pub(super) fn values_of_npm(home: &Path) -> Vec<String> {
    values_of(&home.join(".npmrc"), |_, _| true)
}

/// Keys of Git whose values are programs, or files that name programs. Other keys name repositories, which may be
/// writable.
const GIT_KEYS: &[&str] = &[
    "askpass",
    "clean",
    "cmd",
    "command",
    "driver",
    "editor",
    "external",
    "fsmonitor",
    "gitproxy",
    "helper",
    "hookspath",
    "pager",
    "path",
    "process",
    "program",
    "smudge",
    "sshcommand",
    "textconv",
];

/// Returns the files that the user's configuration of Git includes, and the programs that it runs.
pub(super) fn values_of_git(home: &Path) -> Vec<String> {
    let files = [".gitconfig", ".config/git/config"].map(|name| home.join(name));
    let is_meant =
        |key: &str, value: &str| GIT_KEYS.contains(&key.to_ascii_lowercase().as_str()) || value.contains('!');
    files.iter().flat_map(|file| values_of(file, is_meant)).collect()
}

fn values_of(file: &Path, is_meant: impl Fn(&str, &str) -> bool) -> Vec<String> {
    let text = beginning(file);
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with([';', '#']));
    let settings = lines.filter_map(|line| line.split_once('=')).map(|(key, value)| (key.trim(), value.trim()));
    settings.filter(|(key, value)| is_meant(key, value)).map(|(_, value)| value.to_owned()).collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Folder,
    Scope,
}

fn look(folder: &Path, left: &mut usize, found: &mut Vec<PathBuf>, depth: Depth) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Some(less) = left.checked_sub(1) else { return };
        *left = less;
        let (path, name) = (entry.path(), entry.file_name());
        let Ok(kind) = entry.file_type() else { continue };
        let name = name.to_string_lossy();
        if kind.is_symlink() {
            found.push(path);
        } else if kind.is_dir() && depth == Depth::Folder && (name.starts_with('@') || name == ".bin") {
            look(&path, left, found, Depth::Scope);
        } else if kind.is_file() && (name.ends_with(".pth") || name.ends_with(".egg-link")) {
            found.extend(folders_in(&path, folder));
        } else if kind.is_file() && name.starts_with("__editable__") && name.ends_with(".py") {
            found.extend(quoted_paths_in(&path));
        } else if kind.is_dir() && depth == Depth::Folder && name.ends_with(".dist-info") {
            // A package that was copied from a folder does not load code from there.
            let origin = path.join("direct_url.json");
            found.extend(quoted_paths_in(&origin).into_iter().filter(|_| beginning(&origin).contains("\"editable\"")));
        }
    }
}

/// Returns the beginning of a file; empty if it cannot be read.
fn beginning(file: &Path) -> String {
    let mut text = Vec::new();
    // A file that cannot be read is not loaded either.
    if file.is_file() {
        let _ = fs::File::open(file).and_then(|file| file.take(MAX_FILE_BYTES).read_to_end(&mut text));
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// Returns the absolute paths between quotes in a file, also from file URLs. They are the modules of a package that was
/// installed in editable mode, and its origin.
fn quoted_paths_in(file: &Path) -> Vec<PathBuf> {
    quoted_paths(&beginning(file))
}

fn quoted_paths(text: &str) -> Vec<PathBuf> {
    let quoted = text.split(['"', '\'']).map(|part| part.strip_prefix("file://").unwrap_or(part));
    quoted.filter(|part| part.starts_with('/') && !part.contains('\n')).map(PathBuf::from).collect()
}

/// Returns the folders that the lines of a file name. Lines that Python executes have them in quotes.
fn folders_in(file: &Path, beside: &Path) -> Vec<PathBuf> {
    let text = beginning(file);
    let is_code = |line: &str| line.starts_with("import ") || line.starts_with("import\t");
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.flat_map(|line| if is_code(line) { quoted_paths(line) } else { vec![beside.join(line)] }).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_and_named_folders_are_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        for name in ["@scope", ".bin", "plain/deep"] {
            fs::create_dir_all(at(name)).expect("a folder");
        }
        for link in ["package", "@scope/package", ".bin/program", "plain/deep/not-looked-at"] {
            symlink("/elsewhere", at(link)).expect("a link");
        }
        fs::write(at("__editable__.pth"), "# a comment\nimport os; x = '/of/code'\n/project/src\nbeside\n")
            .expect("writes");
        fs::write(at("docs.egg-link"), "/docs\n.").expect("writes");
        fs::write(at("__editable___x_finder.py"), "MAPPING = {'x': '/finder/x'}\n").expect("writes");
        fs::create_dir(at("x-1.dist-info")).expect("a folder");
        fs::write(at("x-1.dist-info/direct_url.json"), r#"{"dir_info":{"editable":true},"url":"file:///direct"}"#)
            .expect("writes");
        let mut found = leading_out(folder.path());
        found.sort();
        let mut expected = [
            at(".bin/program"),
            at("@scope/package"),
            at("package"),
            "/of/code".into(),
            "/project/src".into(),
            at("beside"),
            "/docs".into(),
            at("."),
            "/finder/x".into(),
            "/direct".into(),
        ];
        expected.sort();
        assert_eq!(found, expected);
        assert!(leading_out(&at("missing")).is_empty());
    }

    #[test]
    fn the_entries_are_bounded() {
        let folder = tempfile::tempdir().expect("a folder");
        for number in 0..MAX_ENTRIES + 8 {
            symlink("/elsewhere", folder.path().join(number.to_string())).expect("a link");
        }
        assert_eq!(leading_out(folder.path()).len(), MAX_ENTRIES);
    }

    #[test]
    fn packages_of_a_virtual_environment_are_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let packages = folder.path().join("lib/python3.12/site-packages");
        fs::create_dir_all(&packages).expect("a folder");
        assert!(packages_of_environment(folder.path()).is_empty());
        fs::write(folder.path().join("pyvenv.cfg"), "").expect("writes");
        assert_eq!(packages_of_environment(folder.path()), [packages]);
    }

    #[test]
    fn packages_below_a_folder_to_install_into_are_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        for name in ["lib/python3.12/site-packages", "lib64/python3.12/site-packages", "lib/node_modules", "bin", "src"]
        {
            fs::create_dir_all(at(name)).expect("a folder");
        }
        let expected =
            ["lib/python3.12/site-packages", "lib64/python3.12/site-packages", "bin", "lib/node_modules"].map(at);
        assert_eq!(packages_below(folder.path()), expected);
    }

    #[test]
    fn what_npm_and_git_are_told_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(values_of_npm(folder.path()).is_empty() && values_of_git(folder.path()).is_empty());
        fs::write(folder.path().join(".npmrc"), "; x=/a\n#x=/b\nprefix = ~/global\ncache=/c\nloglevel\n")
            .expect("writes");
        assert_eq!(values_of_npm(folder.path()), ["~/global", "/c"]);
        let git = "[include]\n\tpath = ~/more\n[safe]\n\tdirectory = /project\n[alias]\n\tx = !/y/z\n[core]\n\thooksPath=/h\n";
        fs::write(folder.path().join(".gitconfig"), git).expect("writes");
        assert_eq!(values_of_git(folder.path()), ["~/more", "!/y/z", "/h"]);
    }
}
