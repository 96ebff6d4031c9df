//! The protocol as TypeScript: one file per type, and unions of messages, generated from the table of methods.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;

use crate::declare::SchemaSet;
use crate::envelope::{RequestId, TraceContext};
use crate::error::RpcError;
use crate::methods::{
    METHOD_SHAPES, METHODS, NOTIFICATION_SHAPES, NOTIFICATIONS, SERVER_REQUEST_SHAPES, SERVER_REQUESTS,
};
use crate::schema::experimental_fields;
use crate::shape::{Declarations, Shape};

/// First line of every file.
const HEADER: &str = "// Made by `trace schema --ts` from the server's types. Changes here are lost.\n";

/// Returns the TypeScript files of a part of the protocol, by their names in one directory.
///
/// `index.ts` exports all of them. `ClientRequest`, `ClientNotification`, `ServerNotification` and `ServerRequest` are
/// unions over the methods. `ClientResults` and `ServerResults` map a method to the type of its result.
#[must_use]
pub fn typescript(set: SchemaSet) -> BTreeMap<PathBuf, String> {
    let mut declarations = Declarations::new();
    for shape in [Shape::of::<RequestId>(), Shape::of::<TraceContext>(), Shape::of::<RpcError>()] {
        (shape.typescript)(&mut declarations);
    }
    let mut messages = Messages::default();
    for (info, (params, result)) in METHODS.iter().zip(METHOD_SHAPES) {
        if set.contains(info.stability) {
            (params.typescript)(&mut declarations);
            (result.typescript)(&mut declarations);
            messages.client_requests.push(format!(
                "{{ \"id\": RequestId, \"method\": \"{}\", \"params\"{}: {}, \"trace\"?: TraceContext | null }}",
                info.name,
                if info.params == "NoParams" { "?" } else { "" },
                info.params
            ));
            messages.client_results.push(format!("\"{}\": {}", info.name, info.result));
        }
    }
    for (info, params) in NOTIFICATIONS.iter().zip(NOTIFICATION_SHAPES) {
        if set.contains(info.stability) {
            (params.typescript)(&mut declarations);
            messages.server_notifications.push(format!(
                "{{ \"method\": \"{}\", \"params\": {}, \"emittedAtMs\"?: number }}",
                info.name, info.params
            ));
        }
    }
    for (info, (params, result)) in SERVER_REQUESTS.iter().zip(SERVER_REQUEST_SHAPES) {
        if set.contains(info.stability) {
            (params.typescript)(&mut declarations);
            (result.typescript)(&mut declarations);
            messages
                .server_requests
                .push(format!("{{ \"id\": RequestId, \"method\": \"{}\", \"params\": {} }}", info.name, info.params));
            messages.server_results.push(format!("\"{}\": {}", info.name, info.result));
        }
    }

    let mut types = declarations.types;
    if set == SchemaSet::Stable {
        for (name, fields) in experimental_fields() {
            if let Some((_, declaration)) = types.get_mut(name) {
                *declaration = without_fields(declaration, fields);
            }
        }
    }
    let unions = messages.into_declarations();
    let kept = reachable(&types, unions.values().map(String::as_str));
    types.retain(|name, _| kept.contains(name));
    types.extend(unions.into_iter().map(|(name, declaration)| (name.to_owned(), (String::new(), declaration))));

    let mut files: BTreeMap<PathBuf, String> =
        types.keys().map(|name| (PathBuf::from(format!("{name}.ts")), file(name, &types))).collect();
    let index = types.keys().fold(HEADER.to_owned(), |mut text, name| {
        writeln!(text, "export type {{ {name} }} from \"./{name}\";").expect("writing to a string cannot fail");
        text
    });
    files.insert(PathBuf::from("index.ts"), index);
    files
}

/// The members of the union types for messages.
#[derive(Default)]
struct Messages {
    client_requests: Vec<String>,
    client_results: Vec<String>,
    server_notifications: Vec<String>,
    server_requests: Vec<String>,
    server_results: Vec<String>,
}

impl Messages {
    /// Returns the declarations by name.
    fn into_declarations(self) -> BTreeMap<&'static str, String> {
        let union = |name: &str, members: &[String]| format!("type {name} =\n  | {};", members.join("\n  | "));
        let map = |name: &str, members: &[String]| format!("type {name} = {{\n  {},\n}};", members.join(",\n  "));
        BTreeMap::from([
            ("ClientNotification", "type ClientNotification = { \"method\": \"initialized\" };".to_owned()),
            ("ClientRequest", union("ClientRequest", &self.client_requests)),
            ("ClientResults", map("ClientResults", &self.client_results)),
            ("ErrorResponse", "type ErrorResponse = { \"id\": RequestId, \"error\": RpcError };".to_owned()),
            ("ServerNotification", union("ServerNotification", &self.server_notifications)),
            ("ServerRequest", union("ServerRequest", &self.server_requests)),
            ("ServerResults", map("ServerResults", &self.server_results)),
        ])
    }
}

/// Returns the file of a type: header, imports, declaration.
fn file(name: &str, types: &BTreeMap<String, (String, String)>) -> String {
    let (docs, declaration) = &types[name];
    let mut text = HEADER.to_owned();
    for import in names(declaration).into_iter().filter(|&import| import != name && types.contains_key(import)) {
        writeln!(text, "import type {{ {import} }} from \"./{import}\";").expect("writing to a string cannot fail");
    }
    writeln!(text).expect("writing to a string cannot fail");
    // The generated declarations have spaces at the ends of lines.
    for line in format!("{docs}export {declaration}").lines() {
        writeln!(text, "{}", line.trim_end()).expect("writing to a string cannot fail");
    }
    text
}

/// Returns the names of some types and of all types that they refer to, directly or indirectly.
fn reachable<'a>(
    types: &'a BTreeMap<String, (String, String)>,
    roots: impl Iterator<Item = &'a str>,
) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut waiting: Vec<&str> = roots.flat_map(names).collect();
    while let Some(name) = waiting.pop() {
        if let Some((_, declaration)) = types.get(name)
            && found.insert(name.to_owned())
        {
            waiting.extend(names(declaration));
        }
    }
    found
}

/// Returns the words of a declaration that may be types: those outside of comments and quotes.
fn names(declaration: &str) -> BTreeSet<&str> {
    pieces(declaration)
        .filter(|piece| matches!(piece.kind, PieceKind::Code))
        .flat_map(|piece| piece.text.split(|character: char| !character.is_alphanumeric() && character != '_'))
        .filter(|word| word.starts_with(|first: char| first.is_uppercase()))
        .collect()
}

/// Removes fields with their comments from the declaration of an object type. Objects inside of it, or joined to it by
/// `&`, are unchanged.
fn without_fields(declaration: &str, fields: &[&str]) -> String {
    let mut kept = String::with_capacity(declaration.len());
    let mut field = String::new();
    let mut depth = 0_usize;
    for piece in pieces(declaration) {
        if !matches!(piece.kind, PieceKind::Code) {
            if depth == 0 { &mut kept } else { &mut field }.push_str(piece.text);
            continue;
        }
        for character in piece.text.chars() {
            match character {
                '{' | '<' | '(' | '[' => depth += 1,
                '}' | '>' | ')' | ']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            // Depth one is the object itself. Anything deeper belongs to one of its fields.
            if depth == 0 {
                keep(&mut kept, &mut field, fields);
                kept.push(character);
            } else if depth == 1 && character == '{' && kept.ends_with("= ") {
                kept.push(character);
            } else {
                field.push(character);
                if depth == 1 && character == ',' {
                    keep(&mut kept, &mut field, fields);
                }
            }
        }
    }
    kept
}

/// Moves a field to the kept text, unless it is to be removed.
fn keep(kept: &mut String, field: &mut String, removed: &[&str]) {
    let name: String = pieces(field)
        .filter(|piece| !matches!(piece.kind, PieceKind::Comment))
        .flat_map(|piece| piece.text.chars())
        .skip_while(|character| character.is_whitespace())
        .take_while(|character| !matches!(character, ':' | '?'))
        .collect();
    if !removed.contains(&name.trim().trim_matches('"')) {
        kept.push_str(field);
    }
    field.clear();
}

enum PieceKind {
    Code,
    Comment,
    Quoted,
}

struct Piece<'a> {
    kind: PieceKind,
    text: &'a str,
}

/// Splits a declaration into comments, quoted names and the text between them.
fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (kind, end) = if rest.starts_with("/*") {
            (PieceKind::Comment, rest.find("*/").map_or(rest.len(), |end| end + 2))
        } else if let Some(quoted) = rest.strip_prefix('"') {
            (PieceKind::Quoted, quoted.find('"').map_or(rest.len(), |end| end + 2))
        } else {
            let end = rest.find('"').unwrap_or(rest.len()).min(rest.find("/*").unwrap_or(rest.len()));
            (PieceKind::Code, end)
        };
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some(Piece { kind, text: piece })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_goes_with_its_comment() {
        let declaration = "type A = { \n/**\n * One, {two}: three\n */\none: string, \n/**\n * Two.\n */\ntwo?: Array<{ x: B, y: C }> | null, \"th-ree\": { [key in string]: D }, };";
        assert_eq!(
            without_fields(declaration, &["two"]),
            "type A = { \n/**\n * One, {two}: three\n */\none: string, \"th-ree\": { [key in string]: D }, };"
        );
        assert_eq!(without_fields(declaration, &["x"]), declaration);
        let joined = "type A = { \n/**\n * One.\n */\none: { \n/**\n * Deep.\n */\ndeep: B, }, two: C, } & ({ \n/**\n * Or.\n */\nor: D, } | { \"tag\": \"x\" });";
        assert_eq!(without_fields(joined, &[]), joined);
        assert_eq!(without_fields(joined, &["two", "or"]), joined.replace(" two: C,", ""));
        assert_eq!(without_fields(declaration, &["one", "two", "th-ree"]), "type A = { };");
    }

    #[test]
    fn names_are_those_of_types() {
        let declaration = "type A = { \n/**\n * See Other.\n */\none: \"Word\" | B, two: Array<C_1>, };";
        assert_eq!(names(declaration), BTreeSet::from(["A", "Array", "B", "C_1"]));
    }

    #[test]
    fn files_import_what_they_use_and_nothing_is_missing() {
        for set in [SchemaSet::Stable, SchemaSet::Experimental] {
            let files = typescript(set);
            for (path, text) in &files {
                for line in text.lines().filter(|line| line.starts_with("import")) {
                    let name = line.split('"').nth(1).expect("it is there").trim_start_matches("./");
                    assert!(files.contains_key(&PathBuf::from(format!("{name}.ts"))), "{}: {line}", path.display());
                }
            }
        }
        let stable = typescript(SchemaSet::Stable);
        let all = typescript(SchemaSet::Experimental);
        let params = PathBuf::from("ThreadStartParams.ts");
        assert!(all[&params].contains("dynamicTools"));
        assert!(!stable[&params].contains("dynamicTools"), "{}", stable[&params]);
        assert!(stable[&params].contains("approvalPolicy"));
        assert!(!stable.contains_key(&PathBuf::from("TraceListParams.ts")));
    }
}
