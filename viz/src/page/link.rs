//! Links ES modules into one script.
//!
//! A document that must work without other files cannot import modules, because imports need addresses. So each module
//! becomes a function that returns the exports of the module, and the functions are called in the order of their
//! dependencies. Only import and export lines are rewritten. The modules write these lines in one form (see
//! `assets/README.md`).

use std::collections::HashMap;
use std::fmt::Write;

/// A module: its file name and its text.
pub(crate) type Module = (&'static str, &'static str);

/// Why modules cannot be linked. A test makes sure that those of the page can be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LinkError {
    /// An import does not have the form that this linker understands.
    #[error("{module}: the import {line:?} is not of the form `import {{ a, b }} from \"./c.js\";`")]
    Import {
        /// The module.
        module: &'static str,
        /// The first line of the import.
        line: String,
    },
    /// An export does not have the form that this linker understands.
    #[error("{module}: the export {line:?} is not a function, a class or a constant")]
    Export {
        /// The module.
        module: &'static str,
        /// The line.
        line: String,
    },
    /// A module imports one that does not exist.
    #[error("{module} imports {imported:?}, which does not exist")]
    Missing {
        /// The module.
        module: &'static str,
        /// The name of the missing module.
        imported: String,
    },
    /// Modules import each other in a cycle.
    #[error("{module} imports itself through other modules")]
    Circle {
        /// One module of the cycle.
        module: &'static str,
    },
}

/// A module after parsing.
struct Parsed {
    name: &'static str,
    /// Names of the files that it imports.
    imports: Vec<String>,
    exports: Vec<String>,
    text: String,
}

/// Returns one script that does what the module `entry` does.
pub(crate) fn link(modules: &[Module], entry: &str) -> Result<String, LinkError> {
    let parsed: Vec<Parsed> = modules.iter().map(|module| parse(*module)).collect::<Result<_, _>>()?;
    let by_name: HashMap<&str, &Parsed> = parsed.iter().map(|module| (module.name, module)).collect();
    let mut script = String::from("\"use strict\";\n");
    let mut places = HashMap::new();
    if let Some(entry) = by_name.get(entry) {
        place(entry, &by_name, &mut places, &mut script)?;
    }
    Ok(script)
}

/// How far a module has been linked. Meeting one that has begun and is not done means that there is a cycle.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Begun,
    Done,
}

fn place<'p>(
    module: &'p Parsed,
    by_name: &HashMap<&str, &'p Parsed>,
    places: &mut HashMap<&'static str, Place>,
    script: &mut String,
) -> Result<(), LinkError> {
    match places.get(module.name) {
        Some(Place::Done) => return Ok(()),
        Some(Place::Begun) => return Err(LinkError::Circle { module: module.name }),
        None => {}
    }
    places.insert(module.name, Place::Begun);
    for imported in &module.imports {
        let missing = || LinkError::Missing { module: module.name, imported: imported.clone() };
        place(by_name.get(imported.as_str()).copied().ok_or_else(missing)?, by_name, places, script)?;
    }
    places.insert(module.name, Place::Done);
    let _ = writeln!(script, "const {} = (() => {{", variable(module.name));
    script.push_str(&module.text);
    let _ = writeln!(script, "return {{ {} }};\n}})();", module.exports.join(", "));
    Ok(())
}

/// Returns the name of the variable for the exports of a module.
fn variable(file: &str) -> String {
    let name: String = file.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    format!("module_{name}")
}

fn parse((name, source): Module) -> Result<Parsed, LinkError> {
    let mut parsed = Parsed { name, imports: Vec::new(), exports: Vec::new(), text: String::new() };
    let mut lines = source.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("import ") {
            // A long list of names may span several lines.
            let mut import = line.to_owned();
            while !import.ends_with(';') {
                let Some(next) = lines.next() else { break };
                import.push_str(next);
            }
            let (names, file) =
                import_of(&import).ok_or_else(|| LinkError::Import { module: name, line: line.to_owned() })?;
            let _ = writeln!(parsed.text, "const {{{names}}} = {};", variable(&file));
            parsed.imports.push(file);
        } else if let Some(declaration) = line.strip_prefix("export ") {
            let exported =
                export_of(declaration).ok_or_else(|| LinkError::Export { module: name, line: line.to_owned() })?;
            parsed.exports.push(exported);
            let _ = writeln!(parsed.text, "{declaration}");
        } else {
            let _ = writeln!(parsed.text, "{line}");
        }
    }
    Ok(parsed)
}

/// Returns the names and the file of `import { names } from "./file";`. The file may be in another folder: names of files
/// are unique in a page.
fn import_of(import: &str) -> Option<(String, String)> {
    let rest = import.strip_prefix("import {")?;
    let (names, rest) = rest.split_once("} from \"")?;
    let path = rest.strip_suffix("\";")?;
    let (folder, file) = path.rsplit_once('/')?;
    if !folder.starts_with('.') {
        return None;
    }
    // `a as b` in an import is `a: b` in an object pattern.
    Some((names.replace(" as ", ": "), file.to_owned()))
}

/// Returns the name that a declaration defines.
fn export_of(declaration: &str) -> Option<String> {
    let kinds = ["function* ", "async function ", "function ", "class ", "const "];
    let rest = kinds.iter().find_map(|kind| declaration.strip_prefix(kind))?;
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).unwrap_or(rest.len());
    (end > 0).then(|| rest[..end].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_come_after_what_they_import() {
        let modules = [
            ("main.js", "import { a as b, c } from \"./other.js\";\nb(c);\n"),
            ("other.js", "export const c = 1;\nexport function a(x) {\n  return x;\n}\n"),
            ("unused.js", "export class Nobody {}\n"),
        ];
        let script = link(&modules, "main.js").expect("links");
        insta::assert_snapshot!(script, @r#"
        "use strict";
        const module_other_js = (() => {
        const c = 1;
        function a(x) {
          return x;
        }
        return { c, a };
        })();
        const module_main_js = (() => {
        const { a: b, c } = module_other_js;
        b(c);
        return {  };
        })();
        "#);
    }

    #[test]
    fn what_cannot_be_linked_is_told() {
        let error = |modules: &[Module]| link(modules, "a.js").expect_err("does not link").to_string();
        let circle = [("a.js", "import { b } from \"./b.js\";"), ("b.js", "import { a } from \"./a.js\";")];
        assert_eq!(error(&circle), "a.js imports itself through other modules");
        assert_eq!(error(&[("a.js", "import { b } from \"./b.js\";")]), "a.js imports \"b.js\", which does not exist");
        assert!(error(&[("a.js", "import b from \"./b.js\";")]).starts_with("a.js: the import"));
        assert!(error(&[("a.js", "export default 1;")]).starts_with("a.js: the export"));
    }

    #[test]
    fn long_imports_go_over_lines() {
        let modules = [
            ("a.js", "import {\n  b,\n  c,\n} from \"./b.js\";\n"),
            ("b.js", "export const b = 1;\nexport const c = 2;"),
        ];
        assert!(link(&modules, "a.js").expect("links").contains("const {  b,  c,} = module_b_js;"));
    }
}
