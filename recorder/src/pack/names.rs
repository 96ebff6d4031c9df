//! Finds files by their paths, and knows which paths are those of directories.
//!
//! A bundle of ten thousand steps has sixty thousand files, and a command looks up most of them once. So paths are hashed, and never
//! sorted. Nearly all of them are payloads with the names that recorders give them, and those are found by their numbers.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry as Slot;

use crate::format::PAYLOADS_DIR;

/// Most directories of a packed bundle, with and without files.
pub const MAX_DIRECTORIES: usize = 1 << 16;

/// Most bytes of the paths of all directories. A path of 4 KiB can be in 31 directories that no other file is in, so a small index
/// could have directories of 130 MB.
const MAX_DIRECTORY_BYTES: usize = 16 << 20;

/// Number from which on payloads are hashed. Recorders number payloads without gaps, so this is twice as many as a bundle may have,
/// and a larger number is not worth its place in a list.
const MAX_NUMBER: usize = 1 << 21;

/// Mark of a number that no entry has.
const NO_ENTRY: u32 = u32::MAX;

/// Why paths are refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NameProblem {
    /// The path is that of two files or directories.
    Twice(String),
    /// There are more than [`MAX_DIRECTORIES`].
    TooManyDirectories,
    /// The paths of directories have more than [`MAX_DIRECTORY_BYTES`].
    LongDirectories,
}

/// Something with a path.
pub(super) trait Named {
    /// Returns the path.
    fn path(&self) -> &str;
}

/// Paths of files and directories.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Numbers of the entries of payloads, by the numbers in their paths, see [`number_of`].
    payloads: Vec<u32>,
    /// Number of entries in `payloads`.
    numbered: usize,
    /// Numbers of the other entries, hashed by path.
    files: HashTable<u32>,
    /// Directories that were named or that have a file.
    directories: HashSet<Box<str>>,
    /// Bytes of the paths of all directories.
    directory_bytes: usize,
    state: RandomState,
}

/// Compares the directories and the number of files. The paths of files are in the entries of the index, which it compares too.
impl PartialEq for Names {
    fn eq(&self, other: &Self) -> bool {
        self.directories == other.directories && self.len() == other.len()
    }
}

impl Eq for Names {}

impl Names {
    /// Returns the number of entries whose paths are known.
    pub(super) fn len(&self) -> usize {
        self.numbered + self.files.len()
    }

    /// Adds directories without files.
    ///
    /// # Errors
    ///
    /// Returns an error if one is there twice, or if there are more than [`MAX_DIRECTORIES`].
    pub(super) fn add_directories(&mut self, directories: &[Box<str>]) -> Result<(), NameProblem> {
        let mut named = HashSet::with_capacity(directories.len());
        for directory in directories {
            if !named.insert(&**directory) {
                return Err(twice(directory));
            }
            self.add_directory(directory)?;
        }
        Ok(())
    }

    /// Adds the entries behind those that are known already, with their directories.
    ///
    /// # Errors
    ///
    /// Returns an error if a path is that of two files, or of a file and a directory, or if there are more than
    /// [`MAX_DIRECTORIES`].
    pub(super) fn add_files(&mut self, entries: &[impl Named]) -> Result<(), NameProblem> {
        let first = self.len();
        let mut before = "";
        for (number, entry) in entries.iter().enumerate().skip(first) {
            let path = entry.path();
            match number_of(path) {
                Some(payload) => {
                    if payload >= self.payloads.len() {
                        self.payloads.resize(payload + 1, NO_ENTRY);
                    }
                    if std::mem::replace(&mut self.payloads[payload], number as u32) != NO_ENTRY {
                        return Err(twice(path));
                    }
                    self.numbered += 1;
                }
                None => {
                    let is_same = |other: &u32| entries[*other as usize].path() == path;
                    let hash = |entry: &u32| self.state.hash_one(entries[*entry as usize].path());
                    match self.files.entry(self.state.hash_one(path), is_same, hash) {
                        Slot::Occupied(_) => return Err(twice(path)),
                        Slot::Vacant(slot) => slot.insert(number as u32),
                    };
                }
            }
            // Most files are in the directory of the file before them.
            let parent = parent(path);
            if parent != before {
                self.add_directory(parent)?;
                before = parent;
            }
        }
        // There are few directories, so those are looked for among the files and not the other way round.
        match self.directories.iter().find(|path| self.find(entries, path).is_some()) {
            Some(path) => Err(twice(path)),
            None => Ok(()),
        }
    }

    /// Adds a directory and those that it is in. Those of a known directory are known.
    fn add_directory(&mut self, mut path: &str) -> Result<(), NameProblem> {
        while !path.is_empty() && !self.directories.contains(path) {
            if self.directories.len() == MAX_DIRECTORIES {
                return Err(NameProblem::TooManyDirectories);
            }
            self.directory_bytes += path.len();
            if self.directory_bytes > MAX_DIRECTORY_BYTES {
                return Err(NameProblem::LongDirectories);
            }
            self.directories.insert(path.into());
            path = parent(path);
        }
        Ok(())
    }

    /// Returns the number of the entry with this path.
    pub(super) fn find(&self, entries: &[impl Named], path: &str) -> Option<usize> {
        if let Some(payload) = number_of(path) {
            return self.payloads.get(payload).filter(|entry| **entry != NO_ENTRY).map(|entry| *entry as usize);
        }
        let is_same = |entry: &u32| entries[*entry as usize].path() == path;
        self.files.find(self.state.hash_one(path), is_same).map(|entry| *entry as usize)
    }

    /// Returns whether a path is that of a directory.
    pub(super) fn is_directory(&self, path: &str) -> bool {
        self.directories.contains(path)
    }
}

/// Returns the number of a payload whose path has the form that recorders use, if it is below [`MAX_NUMBER`].
fn number_of(path: &str) -> Option<usize> {
    let digits = path.strip_prefix(PAYLOADS_DIR)?.strip_prefix('/')?.strip_suffix(".json")?.as_bytes();
    // Other spellings of a number are other paths.
    let is_plain =
        matches!(digits, [b'0'] | [b'1'..=b'9', ..]) && digits.len() <= 7 && digits.iter().all(u8::is_ascii_digit);
    if !is_plain {
        return None;
    }
    let number = digits.iter().fold(0, |number, digit| number * 10 + usize::from(digit - b'0'));
    (number < MAX_NUMBER).then_some(number)
}

/// Returns the path of the parent directory. Empty if that is the bundle itself.
fn parent(path: &str) -> &str {
    path.rfind('/').map_or("", |end| &path[..end])
}

fn twice(path: &str) -> NameProblem {
    NameProblem::Twice(path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Named for String {
        fn path(&self) -> &str {
            self
        }
    }

    fn entries(paths: &[&str]) -> Vec<String> {
        paths.iter().map(|path| (*path).to_owned()).collect()
    }

    #[test]
    fn payloads_are_found_whatever_their_names_are() {
        let numbers =
            ["0", "7", "07", "+7", "", "2097151", "2097152", "9999999", "99999999", "18446744073709551623", "x"];
        let all: Vec<String> = numbers.iter().map(|number| format!("payloads/{number}.json")).collect();
        let numbered: Vec<Option<usize>> = all.iter().map(|path| number_of(path)).collect();
        assert_eq!(numbered, [Some(0), Some(7), None, None, None, Some(MAX_NUMBER - 1), None, None, None, None, None]);
        for path in
            ["payloads/7", "payloads7.json", "7.json", "x/payloads/7.json", "payloads/7.json/", "payloads/7/7.json"]
        {
            assert_eq!(number_of(path), None, "{path}");
        }
        let mut names = Names::default();
        names.add_files(&all[..3]).expect("adds");
        names.add_files(&all).expect("adds the others");
        assert_eq!(names.len(), all.len());
        for (number, path) in all.iter().enumerate() {
            assert_eq!(names.find(&all, path), Some(number), "{path}");
        }
        assert_eq!(names.find(&all, "payloads/8.json").or(names.find(&all, "payloads/2097153.json")), None);
    }

    #[test]
    fn paths_are_found_and_belong_to_one_file_or_directory() {
        let all = entries(&["a", "b/c", "b/d/e", "b-/x", "b", "a/b"]);
        let mut names = Names::default();
        names.add_directories(&["empty/one".into()]).expect("adds");
        names.add_files(&all[..2]).expect("adds");
        names.add_files(&all[..4]).expect("adds the others");
        assert_eq!(names.len(), 4);
        let found = ["a", "b/c", "b/d/e", "b-/x", "b", "c"].map(|path| names.find(&all, path));
        assert_eq!(found, [Some(0), Some(1), Some(2), Some(3), None, None]);
        let directories = ["b", "b/d", "b-", "empty", "empty/one", "a", "b/c", "emp", ""];
        let are = directories.map(|path| names.is_directory(path));
        assert_eq!(are, [true, true, true, true, true, false, false, false, false]);
        names.add_files(&all[..5]).expect_err("b is a directory");
        let all = entries(&["a", "a/b"]);
        let mut names = Names::default();
        names.add_files(&all[..1]).expect("adds");
        names.add_files(&all).expect_err("a is a file");
        let deep: Vec<String> = (0..600).map(|number| format!("{number:0>128}/").repeat(31) + "f").collect();
        let deep = entries(&deep.iter().map(String::as_str).collect::<Vec<_>>());
        let enough = MAX_DIRECTORY_BYTES / (0..31).map(|depth| 129 * depth + 128).sum::<usize>();
        assert!(enough < 600);
        Names::default().add_files(&deep[..enough]).expect("as many bytes as there may be");
        Names::default().add_files(&deep[..=enough]).expect_err("too many bytes");
        Names::default().add_files(&entries(&["x", "y", "x"])).expect_err("x is there twice");
        let twice = ["payloads/7.json", "x", "payloads/7.json"];
        Names::default().add_files(&entries(&twice)).expect_err("the payload is there twice");
        Names::default().add_directories(&["x".into(), "x".into()]).expect_err("x is there twice");
    }
}
