//! How fast pages are: the time until they can be used, and frames while they are scrolled and zoomed, and while the session
//! grows.
//!
//! `cargo bench -p trace-cli --bench page` makes a session of 501 agents with 20,000 tool calls and one of 800 steps, and prints
//! what a real browser took for their pages; `-- BUNDLE...` measures other bundles instead. It needs what `tests/browser` needs.

#[path = "../tests/browser/stage.rs"]
mod stage;

use std::env;
use std::path::Path;

use trace_samples::bench::{Burden, Shape, generate};

use self::stage::{Scene, run};

#[expect(clippy::print_stdout, reason = "figures are printed")]
fn main() {
    // Cargo itself adds options.
    let mut scenes: Vec<Scene> = env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with("--"))
        .map(|bundle| Scene::found(&bundle.replace('/', " "), Path::new(&bundle).to_owned()))
        .collect();
    if scenes.is_empty() {
        scenes.push(Scene::recorded("501 agents, 20,000 calls", |path| generate(path, &Shape::fleet(500, 40))));
        let long = |path: &Path| generate(path, &Shape { burden: Burden::Light, ..Shape::steps(800) });
        scenes.push(Scene::recorded("800 steps", long));
    }
    for script in ["measure.mjs", "measure_live.mjs"] {
        if let Some(figures) = run(script, &scenes) {
            print!("{figures}");
        }
    }
}
