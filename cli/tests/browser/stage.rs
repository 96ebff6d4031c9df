//! What browser tests need: the tools, the bundles, and the pages that the real binary writes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Map, Value, json};
use tempfile::TempDir;

/// A bundle that is shown in the browser.
pub(crate) struct Scene {
    name: String,
    source: Source,
}

enum Source {
    /// A function that records it at a path.
    Recorded(fn(&Path) -> io::Result<()>),
    /// The path of an existing bundle.
    Found(PathBuf),
}

impl Scene {
    /// Returns a scene that is recorded for the test.
    pub(crate) fn recorded(name: &str, record: fn(&Path) -> io::Result<()>) -> Self {
        Self { name: name.to_owned(), source: Source::Recorded(record) }
    }

    /// Returns a scene with an existing bundle.
    pub(crate) fn found(name: &str, bundle: PathBuf) -> Self {
        Self { name: name.to_owned(), source: Source::Found(bundle) }
    }

    /// Returns the directory of its bundle.
    fn bundle(&self, place: &TempDir) -> PathBuf {
        match &self.source {
            Source::Found(bundle) => bundle.clone(),
            Source::Recorded(record) => {
                let bundle = place.path().join(&self.name);
                record(&bundle).expect("records");
                bundle
            }
        }
    }
}

/// The tools for browser tests, which may not be installed.
struct Tools {
    node: PathBuf,
    chromium: PathBuf,
    modules: PathBuf,
}

impl Tools {
    /// Finds the tools. If one is missing, it reports that `script` is skipped.
    fn find(script: &str) -> Option<Self> {
        let what = format!("{script} does not run in a browser");
        Some(Self {
            node: trace_needs::node(&what)?,
            chromium: trace_needs::browser(&what)?,
            modules: trace_needs::node_modules(&["playwright-core", "axe-core"], &what)?,
        })
    }
}

/// Records the scenes and has the binary write their pages. Returns the input of the scripts.
fn set_up(place: &TempDir, tools: &Tools, scenes: &[Scene]) -> Value {
    let trace = env!("CARGO_BIN_EXE_trace");
    let (mut bundles, mut files) = (Map::new(), Map::new());
    for scene in scenes {
        let name = &scene.name;
        let bundle = scene.bundle(place);
        let file = place.path().join(format!("{name}.html"));
        let made = Command::new(trace).arg("view").arg(&bundle).arg("-o").arg(&file).output().expect("runs");
        assert!(made.status.success(), "{name}: {}", String::from_utf8_lossy(&made.stderr));
        assert!(fs::metadata(&file).expect("a page").len() > 0);
        bundles.insert(name.clone(), json!(bundle));
        files.insert(name.clone(), json!(file));
    }
    json!({
        "trace": trace,
        "chromium": tools.chromium,
        "modules": tools.modules,
        "place": place.path(),
        "bundles": bundles,
        "files": files,
    })
}

/// Runs a script of `viz/tests/browser` on the pages of the scenes, and returns its output. Without the tools, it
/// reports that the test is skipped, and returns `None`.
pub(crate) fn run(script: &str, scenes: &[Scene]) -> Option<String> {
    let tools = Tools::find(script)?;
    let place = tempfile::tempdir().expect("a directory");
    let setup = set_up(&place, &tools, scenes);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../viz/tests/browser").join(script);
    let ran = Command::new(&tools.node)
        .arg("--test-reporter=spec")
        .arg(&script)
        .env("TRACE_BROWSER_TEST", setup.to_string())
        .env("TZ", "UTC")
        .env("NO_COLOR", "1")
        .output()
        .expect("runs node");
    let stdout = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{}:\n{stdout}\n{}", script.display(), String::from_utf8_lossy(&ran.stderr));
    Some(stdout)
}
