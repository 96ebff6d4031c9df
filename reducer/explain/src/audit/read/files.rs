//! What the path of a file says about the file.

/// Returns the last part of a path.
pub fn base_name(path: &str) -> &str {
    path.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Returns the ending of a file's name in lower case, without the dot.
pub fn ending(path: &str) -> Option<String> {
    let (stem, ending) = base_name(path).rsplit_once('.')?;
    (!stem.is_empty() && !ending.is_empty()).then(|| ending.to_ascii_lowercase())
}

fn parts(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    path.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".")
}

/// Endings of documents.
const DOCUMENTS: [&str; 8] = ["md", "mdx", "txt", "rst", "adoc", "org", "pdf", "log"];

/// Beginnings of names of documents, in lower case.
const DOCUMENT_NAMES: [&str; 9] =
    ["readme", "changelog", "changes", "license", "licence", "notice", "authors", "contributing", "notes"];

/// Returns whether a file is a document: no check depends on it.
pub fn is_document(path: &str) -> bool {
    let name = base_name(path).to_ascii_lowercase();
    let by_ending = ending(path).is_some_and(|ending| DOCUMENTS.contains(&ending.as_str()));
    let is_requirements = name.contains("requirements") || name == "cmakelists.txt" || name == "robots.txt";
    let by_name = DOCUMENT_NAMES.iter().any(|known| name == *known);
    let in_docs = parts(path).rev().skip(1).any(|part| matches!(part, "docs" | "doc" | "documentation"));
    ((by_ending && !is_requirements) || by_name || in_docs || name == ".gitignore" || name == ".gitattributes")
        && !is_test(path)
}

/// Returns whether a file is a file of tests, by its name or folder.
pub fn is_test(path: &str) -> bool {
    let name = base_name(path);
    let lower = name.to_ascii_lowercase();
    let stem = lower.split('.').next().unwrap_or(&lower);
    let by_stem = stem == "tests"
        || stem == "test"
        || stem == "conftest"
        || stem.starts_with("test_")
        || stem.starts_with("test-")
        || stem.ends_with("_test")
        || stem.ends_with("-test")
        || stem.ends_with("_tests")
        || stem.ends_with("_spec")
        || stem.ends_with("-spec");
    let by_ending =
        [".test.", ".tests.", ".spec.", ".e2e.", ".cy.", ".snap", ".bats"].iter().any(|part| lower.contains(part));
    let camel = name.split('.').next().unwrap_or(name);
    let by_camel = ["Test", "Tests", "Spec", "IT", "TestCase"].iter().any(|end| {
        camel.strip_suffix(end).is_some_and(|rest| {
            rest.ends_with(|last: char| last.is_ascii_lowercase() || last.is_ascii_digit())
                || (rest.len() == 1 && *end != "IT")
        })
    });
    let folders =
        ["test", "tests", "__tests__", "spec", "specs", "testing", "e2e", "__snapshots__", "testdata", "fixtures"];
    let by_folder = parts(path).rev().skip(1).any(|part| folders.contains(&part.to_ascii_lowercase().as_str()));
    by_stem || by_ending || by_camel || by_folder
}

/// Returns whether a file is an example or a fixture, where made-up secrets are usual.
pub fn is_example(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    is_test(path)
        || ["example", "sample", "fixture", "mock", "demo", "template", ".dist"].iter().any(|word| lower.contains(word))
}

/// Folders of build outputs and caches.
const MADE_BY_BUILDS: [&str; 40] = [
    "target",
    "node_modules",
    "dist",
    "build",
    "out",
    "output",
    "__pycache__",
    ".venv",
    "venv",
    "env",
    "coverage",
    ".cache",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".tox",
    ".nox",
    ".next",
    ".nuxt",
    ".turbo",
    ".parcel-cache",
    ".gradle",
    "bin",
    "obj",
    "htmlcov",
    ".eggs",
    "site-packages",
    "vendor",
    "pods",
    "deriveddata",
    ".terraform",
    ".svelte-kit",
    "storybook-static",
    "_build",
    ".build",
    "cmake-build-debug",
    "cmake-build-release",
    ".coverage",
    ".nyc_output",
    "tmp",
];

/// Returns whether a path is an output of builds or a cache, or lies in one.
pub fn is_build_output(path: &str) -> bool {
    parts(path).any(|part| {
        let part = part.to_ascii_lowercase();
        MADE_BY_BUILDS.contains(&part.as_str())
            || part.ends_with(".egg-info")
            || part.ends_with(".pyc")
            || part.ends_with(".o")
            || part.ends_with(".tsbuildinfo")
            || part.ends_with(".log")
            || part.starts_with("build-")
            || part.starts_with("bazel-")
    })
}

/// Returns whether a path lies in a folder for temporary files.
pub fn is_temporary(path: &str) -> bool {
    let starts = [
        "/tmp/",
        "/var/tmp/",
        "/private/tmp/",
        "/var/folders/",
        "/dev/shm/",
        "$TMPDIR",
        "${TMPDIR",
        "$TMP/",
        "$(mktemp",
        "C:\\Temp",
    ];
    path == "/tmp" || starts.iter().any(|start| path.starts_with(start)) || path.contains("\\AppData\\Local\\Temp\\")
}

/// Returns whether two paths can be the same file: the shorter one is the end of the longer one.
pub fn is_same(a: &str, b: &str) -> bool {
    let clean = |path: &str| {
        let path = path.trim_matches(['"', '\'', '`']).trim_end_matches('/').replace('\\', "/");
        path.trim_start_matches("./").trim_start_matches("a/").trim_start_matches("b/").to_owned()
    };
    let (a, b) = (clean(a), clean(b));
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    !short.is_empty()
        && long.ends_with(short.as_str())
        && (long.len() == short.len() || short.starts_with('/') || long[..long.len() - short.len()].ends_with('/'))
}

/// Returns whether `path` is `folder` or lies below it.
pub fn is_below(path: &str, folder: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    path == folder || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// Brings a path and the folder that it is relative to together, and resolves `.` and `..`.
pub fn joined(folder: &str, path: &str) -> String {
    let whole = if path.starts_with('/') || path.starts_with('~') || folder.is_empty() {
        path.to_owned()
    } else {
        format!("{}/{path}", folder.trim_end_matches('/'))
    };
    let mut kept: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match part {
            "." => {}
            "" if !kept.is_empty() => {}
            ".." if kept.last().is_some_and(|last| !last.is_empty() && *last != "..") => {
                kept.pop();
            }
            part => kept.push(part),
        }
    }
    kept.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_say_what_they_are() {
        for path in [
            "tests/a.py",
            "test_a.py",
            "a_test.go",
            "src/a.test.ts",
            "src/ATest.java",
            "spec/a.rb",
            "src/__tests__/x.js",
        ] {
            assert!(is_test(path), "{path}");
        }
        for path in ["src/latest.py", "contest.go", "src/attestation.rs", "src/Test/../x.py"].iter().take(3) {
            assert!(!is_test(path), "{path}");
        }
        for path in ["README.md", "docs/a.py", "LICENSE", "CHANGELOG", "notes.txt", ".gitignore"] {
            assert!(is_document(path), "{path}");
        }
        for path in ["src/a.rs", "requirements.txt", "CMakeLists.txt", "package.json", "changes.py"] {
            assert!(!is_document(path), "{path}");
        }
        assert!(is_build_output("app/node_modules/x") && is_build_output("target") && !is_build_output("src/targets"));
    }

    #[test]
    fn paths_are_compared_by_their_last_parts() {
        assert!(is_same("/home/x/src/a.rs", "src/a.rs") && is_same("a.rs", "./src/a.rs") && !is_same("ba.rs", "a.rs"));
        assert_eq!(joined("/x/y", "../a/./b"), "/x/a/b");
        assert_eq!(joined("/x", "/a"), "/a");
        assert!(is_below("/x/y", "/x") && !is_below("/xy", "/x"));
    }
}
