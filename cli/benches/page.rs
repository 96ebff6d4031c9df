//! How fast pages are: the time until they can be used, and frames while they are scrolled and zoomed.
//!
//! `cargo bench -p trace-cli --bench page` makes a session of 501 agents with 20,000 tool calls and one of 800 steps, and prints
//! what a real browser took for their pages. It needs what `tests/browser` needs.

#[path = "../tests/browser/stage.rs"]
mod stage;

use trace_samples::bench::{Burden, Shape, generate};

use self::stage::{Scene, run};

const FLEET: Scene = ("501 agents, 20,000 calls", |path| generate(path, &Shape::fleet(500, 40)));

const LONG: Scene = ("800 steps", |path| generate(path, &Shape { burden: Burden::Light, ..Shape::steps(800) }));

#[expect(clippy::print_stdout, reason = "figures are printed")]
fn main() {
    if let Some(figures) = run("measure.mjs", &[FLEET, LONG]) {
        print!("{figures}");
    }
}
