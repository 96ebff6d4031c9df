//! The page of a lake: three files without any data. The page requests everything from the server that it came from.
//!
//! Like the page of a session, it consists of plain ES modules, which are linked into one script. It has some modules in
//! common with that page and with the web client. `assets/README.md` is for those who change it.

use crate::page::files::{Files, Parts, modules};

static FILES: Files = Files::new(Parts {
    document: include_str!("assets/index.html"),
    entry: "fleet.js",
    own: modules![
        "assets/":
        "ask.js",
        "chart.js",
        "days.js",
        "fleet.js",
        "groups.js",
        "narrow.js",
        "place.js",
        "sessions.js",
        "steps.js",
        "svg.js",
    ],
    shared: &[
        modules![
            "../page/assets/":
            "dom.js",
            "format.js",
            "look_alikes.js",
            "memory.js",
            "outcome.js",
            "theme.js",
            "token.js",
            "visible.js",
        ],
        modules!["../client/assets/": "texts.js"],
    ],
    styles: &[include_str!("../page/assets/colours.css"), include_str!("assets/fleet.css")],
});

/// The content security policy of the page: its own script, style sheet and data, and no text that becomes markup.
pub const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/// Returns the HTML document.
#[must_use]
pub fn document() -> &'static str {
    FILES.document()
}

/// Returns the script, which the document requests as `fleet.js`.
///
/// # Panics
///
/// Does not panic: a test links the modules.
pub fn script() -> &'static str {
    FILES.script()
}

/// Returns the style sheet, which the document requests as `fleet.css`.
pub fn style() -> &'static str {
    FILES.style()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_three_files_with_every_asset() {
        FILES.check("src/fleet/assets", "fleet");
        assert!(style().contains("--ground") && style().contains(".chart"));
    }
}
