//! The files of a page that is served without any data: a document, its script and its style sheet.

use std::sync::OnceLock;

use super::link::{Module, link};

/// Includes the files of a folder with their names.
macro_rules! modules {
    ($folder:literal: $($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!($folder, $name)))),*]
    };
}

pub(crate) use modules;

/// What the files of a page are made from.
pub(crate) struct Parts {
    /// The HTML document.
    pub(crate) document: &'static str,
    /// The module that starts the page.
    pub(crate) entry: &'static str,
    /// The modules of the page's own folder.
    pub(crate) own: &'static [Module],
    /// The modules that it has in common with other pages, a list for each of those.
    pub(crate) shared: &'static [&'static [Module]],
    /// The style sheets, in their order.
    pub(crate) styles: &'static [&'static str],
}

/// The files of a page. The script and the style sheet are put together when they are first requested.
pub(crate) struct Files {
    parts: Parts,
    script: OnceLock<String>,
    style: OnceLock<String>,
}

impl Files {
    pub(crate) const fn new(parts: Parts) -> Self {
        Self { parts, script: OnceLock::new(), style: OnceLock::new() }
    }

    /// Returns the HTML document.
    pub(crate) fn document(&self) -> &'static str {
        self.parts.document
    }

    /// Returns the modules as one script. It is no module: browsers send an `Origin` with requests for modules, and servers
    /// refuse those.
    pub(crate) fn script(&self) -> &str {
        self.script.get_or_init(|| {
            let modules: Vec<Module> = self.modules().copied().collect();
            link(&modules, self.parts.entry).expect("a test checks that the modules of the page can be linked")
        })
    }

    /// Returns the style sheet.
    pub(crate) fn style(&self) -> &str {
        self.style.get_or_init(|| self.parts.styles.concat())
    }

    fn modules(&self) -> impl Iterator<Item = &'static Module> {
        self.parts.own.iter().chain(self.parts.shared.iter().copied().flatten())
    }
}

#[cfg(test)]
impl Files {
    /// Checks the files of the page `name` whose own modules are in `folder`: every module of the folder is listed, every listed
    /// one is imported, and the document requests the two other files and has nothing that its content security policy refuses.
    pub(crate) fn check(&self, folder: &str, name: &str) {
        use std::collections::BTreeSet;

        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let files: BTreeSet<String> = std::fs::read_dir(folder)
            .expect("lists")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .filter(|name| name.ends_with(".js"))
            .collect();
        let listed: BTreeSet<String> = self.parts.own.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(files, listed);
        for (name, _) in self.modules() {
            let module = format!("module_{} = ", name.replace('.', "_"));
            assert!(self.script().contains(&module), "no module imports {name}");
        }
        let document = self.document();
        for request in [format!("src=\"{name}.js\""), format!("href=\"{name}.css\"")] {
            assert!(document.contains(&request), "{request}");
        }
        for inline in ["<style", " style=", " on"] {
            assert!(!document.contains(inline), "{inline}");
        }
    }
}
