//! Reads the `use` lines and the paths in the code of all packages, and fails if files of a package import each other in a
//! circle; and reads the manifests, and fails if a package, or one of its tests or examples, depends on a package above it.
//!
//! Files in a circle cannot be read, moved or tested without each other. A path in code, such as `crate::a::f()` or
//! `child::f()`, counts as an import. An import of a re-exported name counts as an import of the file that defines the
//! name, and a re-export itself does not count. Test code is ignored.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;

/// The sources of all packages of the workspace.
const PACKAGES: [&str; 20] = [
    "recorder/src",
    "recorder/import/src",
    "reducer/src",
    "reducer/explain/src",
    "reducer/query/src",
    "reducer/fleet/src",
    "viz/src",
    "viz/export/src",
    "viz/serve/src",
    "viz/fleet/src",
    "recorder/text/src",
    "server/src",
    "server/protocol/src",
    "server/runtime/src",
    "server/mcp/src",
    "server/mcp-server/src",
    "server/relay/src",
    "server/trials/src",
    "cli/src",
    "cli/fleet/src",
];

/// The packages with their folders, from the bottom up.
const ORDER: [(&str, &str); 23] = [
    ("trace-text", "recorder/text"),
    ("trace-needs", "samples/needs"),
    ("trace-recorder", "recorder"),
    ("trace-samples", SAMPLES),
    ("trace-import", "recorder/import"),
    ("trace-reducer", "reducer"),
    ("trace-explain", "reducer/explain"),
    ("trace-query", "reducer/query"),
    ("trace-fleet", "reducer/fleet"),
    ("trace-viz", "viz"),
    ("trace-serve", "viz/serve"),
    ("trace-fleet-page", "viz/fleet"),
    ("trace-export", "viz/export"),
    ("trace-protocol", "server/protocol"),
    ("trace-runtime", "server/runtime"),
    ("trace-mcp", "server/mcp"),
    ("trace-relay", "server/relay"),
    ("trace-server", "server"),
    ("trace-mcp-server", "server/mcp-server"),
    ("trace-trials", "server/trials"),
    ("trace-cli", "cli"),
    ("trace-fleet-cli", "cli/fleet"),
    ("trace-fuzz", "fuzz"),
];

/// The folder of the samples. The library is made with the recorder alone, and its tests and benchmarks try all libraries.
const SAMPLES: &str = "samples";

/// The folders at the top of the repository with the parts of the program, from the bottom up. The others are for tests.
const LEVELS: [&str; 5] = ["recorder", "reducer", "viz", "server", "cli"];

/// Deepest chain of re-exports that is followed.
const MAX_REEXPORTS: usize = 8;

type Module = Vec<String>;

/// The modules of one package that have files, by their paths from the root of the package.
#[derive(Default)]
struct Package {
    files: BTreeMap<Module, PathBuf>,
    imports: BTreeMap<Module, Vec<Import>>,
}

/// One name that a file imports.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Import {
    /// The whole path, from the root of the package. The last part is the name, or `*`.
    path: Vec<String>,
    /// The name under which the file knows it.
    alias: String,
    is_reexport: bool,
}

impl Package {
    fn read(root: &Path) -> Self {
        let mut package = Self::default();
        package.read_folder(root, &[]);
        let texts: Vec<(Module, String)> = package
            .files
            .iter()
            .map(|(module, path)| (module.clone(), code(&fs::read_to_string(path).expect("it can be read"))))
            .collect();
        for (module, text) in texts {
            let imports = imports(&text, &module, |path| package.files.contains_key(path));
            package.imports.insert(module, imports);
        }
        package
    }

    fn read_folder(&mut self, folder: &Path, above: &[String]) {
        for entry in fs::read_dir(folder).expect("it can be listed").map(|entry| entry.expect("an entry").path()) {
            let name = entry.file_stem().and_then(|name| name.to_str()).expect("a name").to_owned();
            if entry.is_dir() {
                let below: Vec<String> = above.iter().cloned().chain([name]).collect();
                self.read_folder(&entry, &below);
            } else if entry.extension().is_some_and(|extension| extension == "rs") {
                let is_root = above.is_empty() && matches!(name.as_str(), "lib" | "main");
                let own = (name != "mod" && !is_root).then_some(name);
                self.files.insert(above.iter().cloned().chain(own).collect(), entry);
            }
        }
    }

    /// Returns the file that defines an imported name.
    fn definer(&self, path: &[String]) -> Option<Module> {
        let mut path = path.to_vec();
        for _ in 0..MAX_REEXPORTS {
            // The longest prefix of the path that is a file.
            let module = (0..=path.len()).rev().map(|end| &path[..end]).find(|part| self.files.contains_key(*part))?;
            let Some(name) = path.get(module.len()) else { return Some(module.to_vec()) };
            let exported = self.imports.get(module).into_iter().flatten();
            match exported.clone().find(|import| import.is_reexport && import.alias == *name) {
                Some(import) => path.clone_from(&import.path),
                None => return Some(module.to_vec()),
            }
        }
        None
    }

    /// Returns the circles, each as the paths of its files.
    fn circles(&self) -> Vec<BTreeSet<&Path>> {
        let numbers: BTreeMap<&Module, u32> = self.files.keys().zip(0..).collect();
        let modules: Vec<&Module> = self.files.keys().collect();
        let mut graph = DiGraphMap::<u32, ()>::new();
        for (module, imports) in &self.imports {
            for import in imports.iter().filter(|import| !import.is_reexport) {
                if let Some(to) = self.definer(&import.path).filter(|to| to != module) {
                    graph.add_edge(numbers[module], numbers[&to], ());
                }
            }
        }
        let path = |number: u32| self.files[modules[number as usize]].as_path();
        let circles = tarjan_scc(&graph).into_iter().filter(|component| component.len() > 1);
        circles.map(|component| component.into_iter().map(path).collect()).collect()
    }
}

/// Returns the code of a file without comments, texts and tests.
fn code(text: &str) -> String {
    without_tests(&without_texts(text))
}

/// Removes comments, and the contents of string and character literals.
fn without_texts(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_in_name = code.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let length = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            'r' if !is_in_name && rest[1..].trim_start_matches('#').starts_with('"') => {
                let marks = rest[1..].len() - rest[1..].trim_start_matches('#').len();
                let end = format!("\"{}", "#".repeat(marks));
                let start = marks + 2;
                rest[start..].find(&end).map_or(rest.len(), |at| start + at + end.len())
            }
            '"' => closing_quote(rest, '"'),
            // A lifetime is no literal.
            '\'' if rest.starts_with("'\\") || rest.chars().nth(2) == Some('\'') => closing_quote(rest, '\''),
            _ => {
                code.push(first);
                rest = &rest[first.len_utf8()..];
                continue;
            }
        };
        if first != '/' {
            code.push_str("\"\"");
        }
        rest = &rest[length..];
    }
    code
}

/// Returns the length of a literal that begins with this quote.
fn closing_quote(text: &str, quote: char) -> usize {
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        if c == '\\' {
            chars.next();
        } else if c == quote {
            return at + 1;
        }
    }
    text.len()
}

/// Removes the items that are compiled for tests only.
fn without_tests(code: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut kept = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(at) = rest.find(MARK) {
        kept.push_str(&rest[..at]);
        rest = &rest[at + MARK.len()..];
        let mut depth = 0;
        let end = rest.find(|c| {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            depth == 0 && matches!(c, ';' | '}')
        });
        rest = end.map_or("", |end| &rest[end + 1..]);
    }
    kept + rest
}

/// Lists the paths in code, such as `crate::a::b` or `child::b`.
fn paths_in_code(code: &str) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    let is_in_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = code;
    let mut follows_path = false;
    while let Some(start) = rest.find(is_in_name) {
        follows_path |= rest[..start].ends_with(['.', '$']) || rest[..start].ends_with("::");
        rest = &rest[start..];
        let mut path = Vec::new();
        loop {
            let end = rest.find(|c| !is_in_name(c)).unwrap_or(rest.len());
            path.push(rest[..end].to_owned());
            rest = &rest[end..];
            match rest.strip_prefix("::").filter(|rest| rest.starts_with(is_in_name)) {
                Some(next) => rest = next,
                None => break,
            }
        }
        if path.len() > 1 && !follows_path {
            paths.push(path);
        }
        follows_path = false;
    }
    paths
}

/// Reads the imports of a file that begin in the package itself.
fn imports(text: &str, module: &[String], is_module: impl Fn(&[String]) -> bool) -> Vec<Import> {
    let mut found = Vec::new();
    let mut code = String::new();
    let mut rest = text;
    while let Some(line_end) = rest.find('\n') {
        let line = &rest[..line_end];
        let import = line.strip_prefix("pub use ").map(|tree| (tree, true));
        let import = import.or_else(|| line.strip_prefix("pub(crate) use ").map(|tree| (tree, true)));
        let import = import.or_else(|| line.strip_prefix("pub(super) use ").map(|tree| (tree, true)));
        let import = import.or_else(|| line.strip_prefix("use ").map(|tree| (tree, false)));
        if let Some((begin, is_reexport)) = import
            && let Some(end) = rest.find(';')
        {
            let start = line.len() - begin.len();
            let mut paths = Vec::new();
            expand(&rest[start..end], &[], &mut paths);
            for (path, alias) in paths {
                if let Some(path) = from_root(&path, module, &is_module) {
                    found.push(Import { path, alias, is_reexport });
                }
            }
            rest = rest[end + 1..].trim_start_matches('\n');
            continue;
        }
        code.push_str(&rest[..=line_end]);
        rest = &rest[line_end + 1..];
    }
    for path in paths_in_code(&code) {
        if let Some(path) = from_root(&path, module, &is_module) {
            found.push(Import { alias: path.last().cloned().unwrap_or_default(), path, is_reexport: false });
        }
    }
    found
}

/// Lists the paths of a tree such as `a::{b, c::{d, e as f}}`, each with the name that it gets.
fn expand(tree: &str, above: &[String], paths: &mut Vec<(Vec<String>, String)>) {
    let tree = tree.trim();
    let split = |text: &str| text.split("::").map(|part| part.trim().to_owned()).collect::<Vec<_>>();
    match tree.find('{') {
        Some(brace) => {
            let prefix = tree[..brace].trim().trim_end_matches("::");
            let below: Vec<String> = above
                .iter()
                .cloned()
                .chain((!prefix.is_empty()).then(|| split(prefix)).into_iter().flatten())
                .collect();
            let inner = tree[brace + 1..].trim_end().strip_suffix('}').expect("a tree ends with a brace");
            let (mut depth, mut start) = (0, 0);
            for (at, character) in inner.char_indices().chain([(inner.len(), ',')]) {
                match character {
                    '{' => depth += 1,
                    '}' => depth -= 1,
                    ',' if depth == 0 => {
                        if !inner[start..at].trim().is_empty() {
                            expand(&inner[start..at], &below, paths);
                        }
                        start = at + 1;
                    }
                    _ => {}
                }
            }
        }
        None if !tree.is_empty() => {
            let (name, alias) = tree.split_once(" as ").unwrap_or((tree, ""));
            let mut path: Vec<String> = above.iter().cloned().chain(split(name)).collect();
            if path.last().is_some_and(|last| last == "self") {
                path.pop();
            }
            let own = path.last().cloned().unwrap_or_default();
            paths.push((path, if alias.is_empty() { own } else { alias.trim().to_owned() }));
        }
        None => {}
    }
}

/// Resolves `crate`, `self`, `super` and modules of the file itself. Returns `None` for a path of another package.
fn from_root(path: &[String], module: &[String], is_module: impl Fn(&[String]) -> bool) -> Option<Vec<String>> {
    let (first, rest) = path.split_first()?;
    match first.as_str() {
        "crate" => Some(rest.to_vec()),
        "self" => Some(module.iter().chain(rest).cloned().collect()),
        "super" => {
            let supers = path.iter().take_while(|part| *part == "super").count();
            let base = &module[..module.len().checked_sub(supers)?];
            Some(base.iter().chain(&path[supers..]).cloned().collect())
        }
        _ => {
            let below: Vec<String> = module.iter().chain([first]).cloned().collect();
            is_module(&below).then(|| module.iter().chain(path).cloned().collect())
        }
    }
}

#[test]
fn files_of_a_package_import_each_other_in_no_circle() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = Vec::new();
    for name in PACKAGES {
        let package = Package::read(&root.join(name));
        assert!(package.imports.values().any(|imports| !imports.is_empty()) || package.files.len() < 3, "{name}");
        for circle in package.circles() {
            let names = circle.iter().map(|path| path.strip_prefix(&root).expect("inside").display().to_string());
            found.push(names.collect::<Vec<_>>());
        }
    }
    assert!(found.is_empty(), "these files import each other in circles: {found:#?}");
}

/// Returns the packages of the repository that a manifest depends on, with the headings of their tables.
fn dependencies(manifest: &str) -> Vec<(&str, &str)> {
    let mut table = "";
    let mut found = Vec::new();
    for line in manifest.lines() {
        match line.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            Some(heading) => table = heading,
            // A list of versions for the packages of a workspace is not a dependency.
            None if table.ends_with("dependencies") && table != "workspace.dependencies" => {
                let name = line.split(['=', ' ', '.']).next().unwrap_or_default();
                found.extend(name.starts_with("trace-").then_some((table, name)));
            }
            None => {}
        }
    }
    found
}

/// Returns the place of a package's folder at the top of the repository. Packages for tests may use all others, and are used by all.
fn level(folder: &str) -> Option<usize> {
    LEVELS.iter().position(|level| folder.split('/').next() == Some(level))
}

#[test]
fn packages_and_their_tests_depend_on_none_above_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the root of the repository");
    let place = |name: &str| ORDER.iter().position(|(known, _)| *known == name);
    let mut up = Vec::new();
    let mut count = 0;
    for (own, (name, folder)) in ORDER.iter().enumerate() {
        let manifest = fs::read_to_string(root.join(folder).join("Cargo.toml")).expect("a manifest");
        for (table, dependency) in dependencies(&manifest) {
            let place = place(dependency).unwrap_or_else(|| panic!("{dependency} is missing in `ORDER`"));
            count += 1;
            let is_exempt = *folder == SAMPLES && table == "dev-dependencies";
            // A package may build itself with other features for its tests.
            let is_up = place > own || level(folder).is_some_and(|own| level(ORDER[place].1) > Some(own));
            if is_up && !is_exempt {
                up.push(format!("{name} depends on {dependency} ([{table}])"));
            }
        }
    }
    assert!(count > 60, "{count} dependencies were found");
    assert_eq!(up, Vec::<String>::new());
}

#[test]
fn trees_of_names_are_listed() {
    let list = |tree: &str| {
        let mut paths = Vec::new();
        expand(tree, &[], &mut paths);
        paths.into_iter().map(|(path, alias)| format!("{} {alias}", path.join("::"))).collect::<Vec<_>>()
    };
    assert_eq!(
        list("crate::{a::{self, B}, c as d,\n    e::*,\n}"),
        ["crate::a a", "crate::a::B B", "crate::c d", "crate::e::* *"]
    );
    assert_eq!(list("super::x"), ["super::x x"]);
}

#[test]
fn a_circle_is_found_through_a_reexport() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("writes");
    };
    write("lib.rs", "mod a;\nmod b;\n");
    write("a.rs", "use crate::b::Name;\n");
    write("b/mod.rs", "mod c;\npub use c::Name;\n");
    write("b/c.rs", "use crate::a::Other;\n#[cfg(test)]\nmod tests {\nuse super::*;\n}\n");
    let package = Package::read(folder.path());
    let circles = package.circles();
    let names: Vec<_> = circles.iter().flatten().map(|path| path.file_name().expect("a name")).collect();
    assert_eq!(names, ["a.rs", "c.rs"]);
    write("a.rs", "#[cfg(test)]\nuse crate::b::Name;\n");
    assert!(Package::read(folder.path()).circles().is_empty());
}

#[test]
fn a_circle_is_found_through_paths_in_code() {
    let text = r##"
use std::fmt;
/// Not [`crate::comment::a`].
fn f<'a>(x: &'a str) -> crate::one::Type {
    let c = ('"', '\'', "crate::text::b", r#"crate::"raw"::c"#); // crate::comment::d
    x.child::<u8>(); child::call(super::two::g(), other::h); Vec::<crate::three::T>::new()
}
#[cfg(test)]
fn only_in_tests() { crate::tests::t(); }
fn last() { self::four::x }
"##;
    let is_module = |path: &[String]| path.last().is_some_and(|name| name == "child");
    let found = imports(&code(text), &["a".to_owned()], is_module);
    let paths: Vec<_> = found.iter().map(|import| import.path.join("::")).collect();
    assert_eq!(paths, ["one::Type", "a::child::call", "two::g", "three::T", "a::four::x"]);
}
