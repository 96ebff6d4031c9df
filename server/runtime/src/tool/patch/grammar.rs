//! The format of patches that models write.
//!
//! ```text
//! *** Begin Patch
//! *** Add File: PATH            lines that begin with `+`
//! *** Delete File: PATH
//! *** Update File: PATH         then perhaps `*** Move to: PATH`, then hunks:
//! @@ LINE                       a line to go to first; the line may be missing
//!  kept   -removed   +added     each with its mark in front
//! *** End of File               the hunk ends where the file ends
//! *** End Patch
//! ```
//!
//! The parser is strict where a mistake would change the meaning: every line of a hunk needs its mark. It accepts common
//! mistakes of models: blank lines around the patch, an empty line for an unchanged empty line, and a first hunk without
//! `@@`.

use std::path::PathBuf;

/// Length of the longest patch, in bytes.
pub const MAX_PATCH_BYTES: usize = 4 << 20;

/// Most files that one patch may change.
pub const MAX_PATCH_FILES: usize = 1000;

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File: ";
const DELETE: &str = "*** Delete File: ";
const UPDATE: &str = "*** Update File: ";
const MOVE: &str = "*** Move to: ";
const END_OF_FILE: &str = "*** End of File";

/// What one patch does to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilePatch {
    /// Creates the file.
    Add {
        /// Path as written.
        path: PathBuf,
        /// Text of the new file.
        text: String,
    },
    /// Deletes the file.
    Delete {
        /// Path as written.
        path: PathBuf,
    },
    /// Changes the file.
    Update {
        /// Path as written.
        path: PathBuf,
        /// New path as written, if the file is moved.
        moved_to: Option<PathBuf>,
        /// The hunks in the order of the file.
        hunks: Vec<Hunk>,
    },
}

/// One change of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hunk {
    /// Lines to go to, one after the other, before the change is searched.
    pub anchors: Vec<String>,
    /// The lines before the change, without line ends.
    pub old: Vec<String>,
    /// The lines after the change, without line ends.
    pub new: Vec<String>,
    /// Unchanged lines, in order: index among the old lines and index among the new ones.
    pub kept: Vec<(usize, usize)>,
    /// Whether the old lines must be at the end of the file.
    pub place: Place,
}

impl Hunk {
    /// Appends an unchanged line.
    fn keep(&mut self, line: String) {
        self.kept.push((self.old.len(), self.new.len()));
        self.old.push(line.clone());
        self.new.push(line);
    }
}

/// Where a hunk must match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Place {
    /// Anywhere after the previous hunk.
    #[default]
    Anywhere,
    /// At the end of the file.
    EndOfFile,
}

/// Why a text is not a valid patch.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatchSyntaxError {
    /// The patch is too long.
    #[error("the patch has {bytes} bytes, more than {MAX_PATCH_BYTES}; split it")]
    TooLong {
        /// Length of the patch in bytes.
        bytes: usize,
    },
    /// The patch changes too many files.
    #[error("line {line}: the patch touches more than {MAX_PATCH_FILES} files; split it")]
    TooManyFiles {
        /// Line number.
        line: usize,
    },
    /// The patch does not begin with the begin line.
    #[error("line {line}: a patch begins with `{BEGIN}`")]
    NoBegin {
        /// Line number.
        line: usize,
    },
    /// The patch does not end with the end line.
    #[error("line {line}: the patch does not end with `{END}`")]
    NoEnd {
        /// Number of the last line.
        line: usize,
    },
    /// The patch has no changes.
    #[error("the patch changes no file; put `{ADD}PATH`, `{DELETE}PATH` or `{UPDATE}PATH` between begin and end")]
    Empty,
    /// A header has no path.
    #[error("line {line}: no path behind `{header}`")]
    NoPath {
        /// Line number.
        line: usize,
        /// The header before the path.
        header: &'static str,
    },
    /// A line is not a header of a file.
    #[error("line {line}: `{text}` begins no file; expected `{ADD}PATH`, `{DELETE}PATH` or `{UPDATE}PATH`")]
    NoHeader {
        /// Line number.
        line: usize,
        /// Beginning of the line.
        text: String,
    },
    /// A line of a new file has no mark.
    #[error("line {line}: `{text}` is no line of a new file; each begins with `+`")]
    NotAdded {
        /// Line number.
        line: usize,
        /// Beginning of the line.
        text: String,
    },
    /// A line of a hunk has no mark.
    #[error("line {line}: `{text}` is no line of a change; each begins with a blank, `-` or `+`")]
    NoMark {
        /// Line number.
        line: usize,
        /// Beginning of the line.
        text: String,
    },
    /// A hunk has no lines.
    #[error("line {line}: this change of {path} has no lines", path = path.display())]
    EmptyHunk {
        /// Number of its last line.
        line: usize,
        /// Path of the file.
        path: PathBuf,
    },
    /// A file is neither changed nor moved.
    #[error("line {line}: nothing changes in {path}", path = path.display())]
    EmptyUpdate {
        /// Number of the last line for the file.
        line: usize,
        /// Path of the file.
        path: PathBuf,
    },
}

/// Parses a patch.
///
/// # Errors
///
/// Returns an error with the line number if the text is not a valid patch.
pub fn parse(text: &str) -> Result<Vec<FilePatch>, PatchSyntaxError> {
    if text.len() > MAX_PATCH_BYTES {
        return Err(PatchSyntaxError::TooLong { bytes: text.len() });
    }
    let mut lines = Lines { lines: text.lines().collect(), at: 0 };
    while lines.peek().is_some_and(|line| line.trim().is_empty()) {
        lines.at += 1;
    }
    if lines.next().is_none_or(|line| line.trim() != BEGIN) {
        return Err(PatchSyntaxError::NoBegin { line: lines.at.max(1) });
    }
    let mut files = Vec::new();
    loop {
        let Some(line) = lines.next() else { return Err(PatchSyntaxError::NoEnd { line: lines.at }) };
        let header = line.trim();
        if header == END {
            break;
        }
        if files.len() == MAX_PATCH_FILES {
            return Err(PatchSyntaxError::TooManyFiles { line: lines.at });
        }
        if let Some(path) = header_path(header, ADD, lines.at)? {
            files.push(FilePatch::Add { path, text: lines.added()? });
        } else if let Some(path) = header_path(header, DELETE, lines.at)? {
            files.push(FilePatch::Delete { path });
        } else if let Some(path) = header_path(header, UPDATE, lines.at)? {
            files.push(lines.update(path)?);
        } else if !header.is_empty() {
            return Err(PatchSyntaxError::NoHeader { line: lines.at, text: beginning(line) });
        }
    }
    while let Some(line) = lines.next() {
        if !line.trim().is_empty() {
            return Err(PatchSyntaxError::NoEnd { line: lines.at });
        }
    }
    if files.is_empty() { Err(PatchSyntaxError::Empty) } else { Ok(files) }
}

fn header_path(line: &str, header: &'static str, number: usize) -> Result<Option<PathBuf>, PatchSyntaxError> {
    let Some(path) = line.strip_prefix(header.trim_end()) else { return Ok(None) };
    match path.trim() {
        "" => Err(PatchSyntaxError::NoPath { line: number, header: header.trim_end() }),
        path => Ok(Some(PathBuf::from(path))),
    }
}

fn beginning(line: &str) -> String {
    line.chars().take(80).collect()
}

struct Lines<'a> {
    lines: Vec<&'a str>,
    /// Number of lines read so far, which is also the number of the last one.
    at: usize,
}

impl<'a> Lines<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied()
    }

    fn next(&mut self) -> Option<&'a str> {
        let line = self.peek()?;
        self.at += 1;
        Some(line)
    }

    /// Returns whether the next line is a header. Marked lines of hunks never look like one.
    fn is_at_header(&self) -> bool {
        self.peek().is_none_or(|line| line.starts_with("*** ") && line.trim_end() != END_OF_FILE)
    }

    /// Returns the number of empty lines that follow.
    fn blank_lines(&self) -> usize {
        self.lines[self.at..].iter().take_while(|line| line.is_empty()).count()
    }

    fn added(&mut self) -> Result<String, PatchSyntaxError> {
        let mut text = String::new();
        while !self.is_at_header() {
            let line = self.next().expect("not at the end");
            let Some(line) = line.strip_prefix('+') else {
                return Err(PatchSyntaxError::NotAdded { line: self.at, text: beginning(line) });
            };
            text.push_str(line);
            text.push('\n');
        }
        Ok(text)
    }

    fn update(&mut self, path: PathBuf) -> Result<FilePatch, PatchSyntaxError> {
        let mut moved_to = None;
        if let Some(line) = self.peek()
            && let Some(target) = header_path(line.trim(), MOVE, self.at + 1)?
        {
            moved_to = Some(target);
            self.at += 1;
        }
        let mut hunks = Vec::new();
        while !self.is_at_header() {
            let blanks = self.blank_lines();
            self.at += blanks;
            if self.is_at_header() {
                break;
            }
            self.at -= blanks;
            hunks.push(self.hunk(&path)?);
        }
        if hunks.is_empty() && moved_to.is_none() {
            return Err(PatchSyntaxError::EmptyUpdate { line: self.at, path });
        }
        Ok(FilePatch::Update { path, moved_to, hunks })
    }

    fn hunk(&mut self, path: &std::path::Path) -> Result<Hunk, PatchSyntaxError> {
        let mut hunk = Hunk::default();
        while let Some(anchor) = self.peek().and_then(|line| line.strip_prefix("@@")) {
            self.at += 1;
            let anchor = anchor.strip_prefix(' ').unwrap_or(anchor);
            if !anchor.trim().is_empty() {
                hunk.anchors.push(anchor.to_owned());
            }
        }
        while !self.is_at_header() && !self.peek().is_some_and(|line| line.starts_with("@@")) {
            // Empty lines without a mark are unchanged empty lines, except directly before a header, where they are
            // ignored.
            let blanks = self.blank_lines();
            if blanks > 0 {
                self.at += blanks;
                if self.is_at_header() {
                    break;
                }
                (0..blanks).for_each(|_| hunk.keep(String::new()));
                continue;
            }
            let line = self.next().expect("not at the end");
            if line.trim_end() == END_OF_FILE {
                hunk.place = Place::EndOfFile;
                break;
            }
            match line.split_at_checked(1) {
                Some((" ", text)) => hunk.keep(text.to_owned()),
                Some(("-", text)) => hunk.old.push(text.to_owned()),
                Some(("+", text)) => hunk.new.push(text.to_owned()),
                _ => return Err(PatchSyntaxError::NoMark { line: self.at, text: beginning(line) }),
            }
        }
        if hunk.old.is_empty() && hunk.new.is_empty() {
            return Err(PatchSyntaxError::EmptyHunk { line: self.at, path: path.to_owned() });
        }
        Ok(hunk)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(lines: &[&str]) -> Vec<String> {
        lines.iter().map(|&line| line.to_owned()).collect()
    }

    #[test]
    fn every_kind_of_change_is_read() {
        let patch = "*** Begin Patch\n*** Add File: new.txt\n+one\n+\n*** Delete File: old.txt\n*** Update File: a.rs\n*** Move to: b.rs\n@@ fn main() {\n kept\n-gone\n+came\n@@\n\n+last\n*** End of File\n*** End Patch\n";
        let files = parse(patch).expect("is valid");
        assert_eq!(
            files,
            [
                FilePatch::Add { path: "new.txt".into(), text: "one\n\n".to_owned() },
                FilePatch::Delete { path: "old.txt".into() },
                FilePatch::Update {
                    path: "a.rs".into(),
                    moved_to: Some("b.rs".into()),
                    hunks: vec![
                        Hunk {
                            anchors: lines(&["fn main() {"]),
                            old: lines(&["kept", "gone"]),
                            new: lines(&["kept", "came"]),
                            kept: vec![(0, 0)],
                            place: Place::Anywhere
                        },
                        Hunk {
                            anchors: vec![],
                            old: lines(&[""]),
                            new: lines(&["", "last"]),
                            kept: vec![(0, 0)],
                            place: Place::EndOfFile
                        },
                    ],
                },
            ]
        );
    }

    #[test]
    fn slips_that_change_nothing_are_forgiven() {
        let files = parse(
            "\n\n  *** Begin Patch\n*** Update File:  a b.txt \n-x\n+y\n\n*** Delete File: z\n\n*** End Patch  \n\n",
        )
        .expect("is valid");
        assert_eq!(files.len(), 2);
        assert_eq!(
            files[0],
            FilePatch::Update {
                path: "a b.txt".into(),
                moved_to: None,
                hunks: vec![Hunk { old: lines(&["x"]), new: lines(&["y"]), ..Hunk::default() }]
            }
        );
        assert_eq!(
            parse("*** Begin Patch\n*** Add File: empty\n*** End Patch").expect("is valid"),
            [FilePatch::Add { path: "empty".into(), text: String::new() }]
        );
        assert_eq!(
            parse("*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** End Patch").expect("is valid"),
            [FilePatch::Update { path: "a".into(), moved_to: Some("b".into()), hunks: vec![] }]
        );
    }

    #[test]
    fn errors_name_the_line() {
        let body =
            |body: &str| parse(&format!("*** Begin Patch\n{body}*** End Patch\n")).expect_err("an error").to_string();
        let errors = [
            parse("").expect_err("an error").to_string(),
            parse("hello").expect_err("an error").to_string(),
            parse("*** Begin Patch\n*** Delete File: a\n").expect_err("an error").to_string(),
            parse("*** Begin Patch\n*** Delete File: a\n*** End Patch\nmore").expect_err("an error").to_string(),
            body(""),
            body("*** Foo: n.txt\n"),
            body("*** Add File: \n+x\n"),
            body("*** Add File: a\nx\n"),
            body("*** Update File: a\n"),
            body("*** Update File: a\n@@\nxyz\n"),
            body("*** Update File: a\n@@\n@@ x\n"),
            body("*** Update File: a\n@@\n"),
        ];
        insta::assert_snapshot!(errors.join("\n"), @r"
        line 1: a patch begins with `*** Begin Patch`
        line 1: a patch begins with `*** Begin Patch`
        line 2: the patch does not end with `*** End Patch`
        line 4: the patch does not end with `*** End Patch`
        the patch changes no file; put `*** Add File: PATH`, `*** Delete File: PATH` or `*** Update File: PATH` between begin and end
        line 2: `*** Foo: n.txt` begins no file; expected `*** Add File: PATH`, `*** Delete File: PATH` or `*** Update File: PATH`
        line 2: no path behind `*** Add File:`
        line 3: `x` is no line of a new file; each begins with `+`
        line 2: nothing changes in a
        line 4: `xyz` is no line of a change; each begins with a blank, `-` or `+`
        line 4: this change of a has no lines
        line 3: this change of a has no lines
        ");
    }

    #[test]
    fn limits_hold() {
        let many = |count: usize| format!("*** Begin Patch\n{}*** End Patch", "*** Delete File: a\n".repeat(count));
        assert_eq!(parse(&many(MAX_PATCH_FILES)).expect("is valid").len(), MAX_PATCH_FILES);
        assert_eq!(
            parse(&many(MAX_PATCH_FILES + 1)),
            Err(PatchSyntaxError::TooManyFiles { line: MAX_PATCH_FILES + 2 })
        );
        let bytes = MAX_PATCH_BYTES + 1;
        assert_eq!(parse(&"x".repeat(bytes)), Err(PatchSyntaxError::TooLong { bytes }));
    }

    proptest::proptest! {
        #[test]
        fn nothing_panics(text in "(\\*\\*\\* (Begin Patch|End Patch|Add File: a|Update File: b|Move to: c|Delete File: |End of File)\n|@@ ?x?\n|[ +-]?é?\n){0,12}") {
            let _ = parse(&text);
        }
    }
}
