//! The page in a real browser: what `trace view` makes, shown by headless Chromium.
//!
//! Each test makes the bundles that it needs, has the real binary write their pages, and runs a script of
//! `viz/tests/browser`, which drives the browser and checks what it shows. Needed are `node`, Chromium (`TRACE_CHROMIUM`, or
//! `chromium` on the `PATH`), and a `node_modules` with playwright-core and axe-core (`TRACE_NODE_MODULES`). `.ci/run`
//! installs them. Without them, every test says that it is skipped.

mod stage;

use trace_samples::scenes;

use self::stage::{Scene, run};

const THREE_CHILDREN: Scene = ("three-children", scenes::three_children);

#[test]
fn only_who_knows_the_token_is_served() {
    run("served.mjs", &[THREE_CHILDREN]);
}
