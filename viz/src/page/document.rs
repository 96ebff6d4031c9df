//! The HTML document of the page, in its two forms.

use std::fmt::Display;
use std::io::{self, BufWriter, Write};
use std::sync::OnceLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, Serializer};
use sha2::{Digest, Sha256};

use super::embedded::Embedded;
use super::link::{Module, link};
use super::structure::Structure;

/// Includes files of `assets/` with their names.
macro_rules! assets {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("assets/", $name)))),*]
    };
}

const TEMPLATE: &str = include_str!("assets/index.html");

/// The module that starts the page.
const ENTRY: &str = "main.js";

const MODULES: &[Module] = assets![
    "announce.js",
    "audit.js",
    "blocks.js",
    "bodies.js",
    "changes.js",
    "clipboard.js",
    "cut.js",
    "data.js",
    "describe.js",
    "dom.js",
    "filters.js",
    "format.js",
    "head.js",
    "heights.js",
    "inspector.js",
    "keys.js",
    "layout.js",
    "live.js",
    "look_alikes.js",
    "main.js",
    "markdown.js",
    "memory.js",
    "outcome.js",
    "panels.js",
    "permalink.js",
    "print.js",
    "reference.js",
    "route.js",
    "search.js",
    "search_labels.js",
    "steps.js",
    "store.js",
    "theme.js",
    "timeline.js",
    "timeline_arrows.js",
    "timeline_chosen.js",
    "timeline_colours.js",
    "timeline_fold.js",
    "timeline_hit.js",
    "timeline_input.js",
    "timeline_layout.js",
    "timeline_legend.js",
    "timeline_map.js",
    "timeline_paint.js",
    "timeline_rows.js",
    "timeline_scale.js",
    "timeline_words.js",
    "token.js",
    "transcript.js",
    "transcript_rows.js",
    "tree.js",
    "tree_rows.js",
    "verdicts.js",
    "virtual_list.js",
    "visible.js",
];

const STYLES: &[Module] = assets!["colours.css", "base.css", "page.css", "timeline.css"];

/// Writes the file form: a document that contains all of `structure` and `embedded`.
///
/// # Errors
///
/// Returns an error if writing to `out` fails.
pub fn write_file(structure: &Structure, embedded: &Embedded, out: &mut dyn Write) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    write(&mut out, structure.name(), &policy(Connections::None), |out| {
        write_data(out, "structure", structure)?;
        write_data(out, "bodies", embedded)
    })?;
    out.flush()
}

/// Returns the served form: a document that requests its data from the server that it came from.
pub fn served(name: &str) -> Vec<u8> {
    let mut document = Vec::new();
    // Writing to a vector cannot fail.
    let _ = write(&mut document, name, &policy(Connections::Own), |_| Ok(()));
    document
}

/// Returns the content security policy of the served form, for the header of the response.
pub fn served_policy() -> String {
    format!("{}; frame-ancestors 'none'", policy(Connections::Own))
}

/// Which connections a document may make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Connections {
    None,
    /// To the server that it came from.
    Own,
}

/// Returns the content security policy: only the document's own script and style are allowed.
fn policy(connections: Connections) -> String {
    let connect = match connections {
        Connections::None => "'none'",
        Connections::Own => "'self'",
    };
    format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; img-src data:; connect-src {connect}; base-uri 'none'; \
         form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
        hash(script()),
        hash(style())
    )
}

fn hash(text: &str) -> impl Display {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

fn script() -> &'static str {
    static SCRIPT: OnceLock<String> = OnceLock::new();
    SCRIPT.get_or_init(|| link(MODULES, ENTRY).expect("a test checks that the modules of the page can be linked"))
}

fn style() -> &'static str {
    static STYLE: OnceLock<String> = OnceLock::new();
    STYLE.get_or_init(|| STYLES.iter().map(|(_, text)| *text).collect())
}

fn write<W: Write>(
    out: &mut W,
    name: &str,
    policy: &str,
    data: impl FnOnce(&mut W) -> io::Result<()>,
) -> io::Result<()> {
    let mut data = Some(data);
    let mut rest = TEMPLATE;
    while let Some((before, after)) = rest.split_once("{{") {
        out.write_all(before.as_bytes())?;
        let (place, after) = after.split_once("}}").unwrap_or((after, ""));
        match place {
            "policy" => out.write_all(policy.as_bytes())?,
            "title" => out.write_all(escaped(name).as_bytes())?,
            "style" => out.write_all(style().as_bytes())?,
            "script" => out.write_all(script().as_bytes())?,
            _ => {
                if let Some(data) = data.take() {
                    data(out)?;
                }
            }
        }
        rest = after;
    }
    out.write_all(rest.as_bytes())
}

/// Escapes a text for the content of an element.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('\0', "\u{fffd}")
}

fn write_data<W: Write, T: Serialize>(out: &mut W, id: &str, value: &T) -> io::Result<()> {
    write!(out, "<script type=\"application/json\" id=\"{id}\">")?;
    value.serialize(&mut Serializer::with_formatter(&mut *out, InElement(CompactFormatter)))?;
    out.write_all(b"</script>\n")
}

/// Writes JSON that can be the content of a `script` element. Without `<`, nothing can end the element or start a
/// comment.
struct InElement(CompactFormatter);

impl Formatter for InElement {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut parts = fragment.split('<');
        if let Some(first) = parts.next() {
            self.0.write_string_fragment(writer, first)?;
        }
        for part in parts {
            writer.write_all(b"\\u003c")?;
            self.0.write_string_fragment(writer, part)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use trace_explain::Session;

    use super::*;
    use crate::page::{BodySource, EmbedLimits};

    fn page(limits: EmbedLimits) -> String {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("bundle");
        trace_samples::scenes::three_children(&path).expect("a sample");
        let session = Session::open(&path).expect("a bundle");
        let embedded = Embedded::new(&session, &BodySource::new(&session), limits);
        let mut page = Vec::new();
        write_file(&Structure::new(&session, "a </title> name"), &embedded, &mut page).expect("writes");
        String::from_utf8(page).expect("text")
    }

    #[test]
    fn every_asset_is_in_the_page() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/page/assets");
        let files: BTreeSet<String> = std::fs::read_dir(folder)
            .expect("lists")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .filter(|name| name.ends_with(".js") || name.ends_with(".css"))
            .collect();
        let listed: BTreeSet<String> = MODULES.iter().chain(STYLES).map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(files, listed);
        let linked = script();
        for (name, _) in MODULES {
            assert!(linked.contains(&format!("module_{} = ", name.replace('.', "_"))), "no module imports {name}");
        }
        assert!(!linked.contains("</script") && !linked.contains("<!--"), "the text would end the script element");
        assert!(!style().contains("</style"));
    }

    #[test]
    fn equal_sessions_make_equal_pages() {
        assert_eq!(page(EmbedLimits::DEFAULT), page(EmbedLimits::DEFAULT));
    }

    #[test]
    fn nothing_of_a_session_is_markup() {
        let page = page(EmbedLimits::DEFAULT);
        assert!(page.contains("<title>a &lt;/title&gt; name</title>"));
        assert_eq!(page.matches("</script>").count(), 3);
        let json = r#"{"a":"\u003c/script>\u003c!--"}"#;
        let mut written = Vec::new();
        let value = serde_json::json!({"a": "</script><!--"});
        value.serialize(&mut Serializer::with_formatter(&mut written, InElement(CompactFormatter))).expect("writes");
        assert_eq!(String::from_utf8(written).expect("text"), json);
    }

    #[test]
    fn what_does_not_fit_is_left_out() {
        let limits = EmbedLimits { bodies: 2000, body: 1000, payloads: 0, payload: 0 };
        let small = page(limits);
        let data = |page: &str| {
            let from = page.split_once("id=\"bodies\">").expect("bodies").1;
            let json = from.split_once("</script>").expect("an end").0.to_owned();
            serde_json::from_str::<serde_json::Value>(&json).expect("JSON")
        };
        let bodies = data(&small);
        let has_null = |of: &str| bodies[of].as_object().expect("a map").values().any(serde_json::Value::is_null);
        assert!(has_null("bodies") && has_null("payloads"));
        let whole = data(&page(EmbedLimits::DEFAULT));
        assert!(whole["bodies"].as_object().expect("a map").values().all(serde_json::Value::is_object));
    }

    #[test]
    fn policies_name_what_may_run() {
        assert!(served_policy().contains("connect-src 'self'"));
        assert!(policy(Connections::None).contains("connect-src 'none'"));
        for place in ["{{policy}}", "{{title}}", "{{style}}", "{{data}}", "{{script}}"] {
            assert_eq!(TEMPLATE.matches(place).count(), 1, "{place}");
        }
    }
}
