//! The page in a real browser: what `trace view` makes, shown by headless Chromium.
//!
//! Each test makes the bundles that it needs, has the real binary write their pages, and runs a script of
//! `viz/tests/browser`, which drives the browser and checks what it shows. Needed are `node`, Chromium (`TRACE_CHROMIUM`, or
//! `chromium` on the `PATH`), and a `node_modules` with playwright-core and axe-core (`TRACE_NODE_MODULES`). `.ci/run`
//! installs them. Without them, every test says that it is skipped.

mod stage;

use trace_samples::bench::{Shape, generate};
use trace_samples::{hostile, scenes};

use self::stage::{Scene, run};

const ONE_AGENT: Scene = ("one-agent", scenes::one_agent);
const THREE_CHILDREN: Scene = ("three-children", scenes::three_children);
const DAMAGED: Scene = ("damaged", scenes::damaged);
const HOSTILE: Scene = ("hostile", hostile::record);

/// Forty-one agents, the children with eight calls each.
const FLEET: Scene = ("fleet", |path| generate(path, &Shape::fleet(40, 8)));

#[test]
fn pages_load_and_show_what_the_graph_has() {
    run("load.mjs", &[ONE_AGENT, THREE_CHILDREN, DAMAGED, FLEET]);
}

#[test]
fn what_is_selected_is_selected_everywhere() {
    run("select.mjs", &[THREE_CHILDREN]);
}

#[test]
fn searches_find_and_filters_leave_out() {
    run("search.mjs", &[THREE_CHILDREN]);
}

#[test]
fn the_keyboard_reaches_everything() {
    run("keyboard.mjs", &[THREE_CHILDREN]);
}

#[test]
fn everybody_can_read_the_page() {
    run("reading.mjs", &[THREE_CHILDREN, DAMAGED]);
}

#[test]
fn a_hostile_session_runs_nothing() {
    run("hostile.mjs", &[HOSTILE]);
}

#[test]
fn only_who_knows_the_token_is_served() {
    run("served.mjs", &[THREE_CHILDREN]);
}
