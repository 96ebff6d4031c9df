//! Tests the page of `trace view` and the web client of `trace serve --web` in headless Chromium.
//!
//! Each test records the bundles that it needs, has the real binary write their pages, and runs a script of
//! `viz/tests/browser`, which drives the browser and checks what it shows. The tests need `node`, Chromium
//! (`TRACE_CHROMIUM`, or `chromium` on the `PATH`), and a `node_modules` with playwright-core and axe-core
//! (`TRACE_NODE_MODULES`). `.ci/run` installs them. Without them, every test reports that it is skipped.

mod stage;

use trace_samples::bench::{Shape, generate};
use trace_samples::{hostile, scenes};

use self::stage::{Scene, run};

fn one_agent() -> Scene {
    Scene::recorded("one-agent", scenes::one_agent)
}

fn three_children() -> Scene {
    Scene::recorded("three-children", scenes::three_children)
}

fn damaged() -> Scene {
    Scene::recorded("damaged", scenes::damaged)
}

fn hostile() -> Scene {
    Scene::recorded("hostile", hostile::record)
}

/// A session of forty-one agents, whose children make eight calls each.
fn fleet() -> Scene {
    Scene::recorded("fleet", |path| generate(path, &Shape::fleet(40, 8)))
}

#[test]
fn pages_load_and_show_what_the_graph_has() {
    run("load.mjs", &[one_agent(), three_children(), damaged(), fleet()]);
}

#[test]
fn pages_of_real_sessions_show_what_their_graphs_have() {
    let recordings = trace_needs::recordings("pages").into_iter();
    run("corpus.mjs", &recordings.map(|recording| Scene::found(&recording.name, recording.bundle)).collect::<Vec<_>>());
}

#[test]
fn what_is_selected_is_selected_everywhere() {
    run("select.mjs", &[three_children()]);
}

#[test]
fn transcripts_and_objects_can_be_read() {
    run("transcript.mjs", &[three_children(), hostile()]);
    run("inspector.mjs", &[three_children()]);
}

#[test]
fn findings_of_an_audit_lead_to_their_places() {
    run("audit.mjs", &[Scene::recorded("untrue", scenes::untrue), Scene::recorded("honest", scenes::honest)]);
}

#[test]
fn searches_find_and_filters_leave_out() {
    run("search.mjs", &[three_children()]);
}

#[test]
fn the_keyboard_reaches_everything() {
    run("keyboard.mjs", &[three_children()]);
}

#[test]
fn everybody_can_read_the_page() {
    run("reading.mjs", &[three_children(), damaged()]);
}

#[test]
fn a_hostile_session_runs_nothing() {
    run("hostile.mjs", &[hostile()]);
}

#[test]
fn only_who_knows_the_token_is_served() {
    run("served.mjs", &[three_children()]);
}

#[test]
fn a_session_is_followed_while_it_is_written() {
    run("following.mjs", &[three_children(), fleet()]);
}

#[test]
fn agents_are_used_in_the_web_client() {
    run("web_work.mjs", &[]);
}

#[test]
fn everybody_can_use_the_web_client() {
    run("web_reading.mjs", &[]);
}

#[test]
fn the_web_client_withstands_attacks() {
    run("web_attacks.mjs", &[]);
}
