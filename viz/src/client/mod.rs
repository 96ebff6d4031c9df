//! The page of the web client: three files without any data of a session. The page gets everything over the app-server
//! protocol.
//!
//! Like the page of a session, it consists of plain ES modules, which are linked into one script. It has some modules in
//! common with that page. `assets/README.md` is for those who change it.

use std::sync::OnceLock;

use crate::page::link::{Module, link};

/// Includes files of `assets/` with their names.
macro_rules! own {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("assets/", $name)))),*]
    };
}

/// Includes files that the page of a session has, too.
macro_rules! shared {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../page/assets/", $name)))),*]
    };
}

const DOCUMENT: &str = include_str!("assets/index.html");

/// The module that starts the page.
const ENTRY: &str = "client.js";

const OWN: &[Module] = own![
    "agents.js",
    "approvals.js",
    "client.js",
    "composer.js",
    "connection.js",
    "conversation.js",
    "diff.js",
    "forms.js",
    "images.js",
    "items.js",
    "log.js",
    "markup.js",
    "notice.js",
    "requests.js",
    "session.js",
    "sidebar.js",
    "texts.js",
    "threads.js",
    "work.js",
];

const SHARED: &[Module] = shared!["dom.js", "look_alikes.js", "memory.js", "theme.js", "token.js", "visible.js"];

const STYLES: &[Module] =
    &[("colours.css", include_str!("../page/assets/colours.css")), ("client.css", include_str!("assets/client.css"))];

/// Returns the HTML document.
#[must_use]
pub fn document() -> &'static str {
    DOCUMENT
}

/// Returns the script, which the document requests as `client.js`. It is no module: browsers send an `Origin` with
/// requests for modules, and the server refuses those.
///
/// # Panics
///
/// Does not panic: a test links the modules.
pub fn script() -> &'static str {
    static SCRIPT: OnceLock<String> = OnceLock::new();
    SCRIPT.get_or_init(|| {
        let modules: Vec<Module> = OWN.iter().chain(SHARED).copied().collect();
        link(&modules, ENTRY).expect("a test checks that the modules of the page can be linked")
    })
}

/// Returns the style sheet, which the document requests as `client.css`.
pub fn style() -> &'static str {
    static STYLE: OnceLock<String> = OnceLock::new();
    STYLE.get_or_init(|| STYLES.iter().map(|(_, text)| *text).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_asset_is_in_the_page() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/client/assets");
        let files: BTreeSet<String> = std::fs::read_dir(folder)
            .expect("lists")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .filter(|name| name.ends_with(".js"))
            .collect();
        let listed: BTreeSet<String> = OWN.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(files, listed);
        for (name, _) in OWN.iter().chain(SHARED) {
            assert!(script().contains(&format!("module_{} = ", name.replace('.', "_"))), "no module imports {name}");
        }
    }

    #[test]
    fn the_page_is_three_files() {
        assert!(document().contains("src=\"client.js\"") && document().contains("href=\"client.css\""));
        // The content security policy of the page refuses everything inline.
        assert!(!document().contains("<style") && !document().contains(" style=") && !document().contains(" on"));
        assert!(style().contains("--ground"));
    }
}
