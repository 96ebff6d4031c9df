//! The page of the web client: three files without any data of a session. The page gets everything over the app-server
//! protocol.
//!
//! Like the page of a session, it consists of plain ES modules, which are linked into one script. It has some modules in
//! common with that page. `assets/README.md` is for those who change it.

use crate::page::files::{Files, Parts, modules};

static FILES: Files = Files::new(Parts {
    document: include_str!("assets/index.html"),
    entry: "client.js",
    own: modules![
        "assets/":
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
    ],
    shared: &[modules![
        "../page/assets/":
        "dom.js",
        "look_alikes.js",
        "memory.js",
        "theme.js",
        "token.js",
        "visible.js",
    ]],
    styles: &[
        include_str!("../page/assets/colours.css"),
        include_str!("../page/assets/base.css"),
        include_str!("assets/client.css"),
    ],
});

/// Returns the HTML document.
#[must_use]
pub fn document() -> &'static str {
    FILES.document()
}

/// Returns the script, which the document requests as `client.js`.
///
/// # Panics
///
/// Does not panic: a test links the modules.
pub fn script() -> &'static str {
    FILES.script()
}

/// Returns the style sheet, which the document requests as `client.css`.
pub fn style() -> &'static str {
    FILES.style()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_three_files_with_every_asset() {
        FILES.check("src/client/assets", "client");
        assert!(style().contains("--ground"));
    }
}
