//! `trace fleet` starts another program.

use crate::support::Place;

#[test]
fn without_the_program_the_hint_says_how_to_build_it() {
    let place = Place::new();
    let output = place.command(&["fleet", "status", "--lake", "lake"]).env("PATH", place.path("nowhere")).output();
    let output = output.expect("runs");
    assert_eq!(output.status.code(), Some(1));
    insta::assert_snapshot!(String::from_utf8_lossy(&output.stderr), @r"
    error: there is no program trace-fleet
    hint: `cargo build --release --manifest-path reducer/fleet/Cargo.toml` makes reducer/fleet/target/release/trace-fleet; put it beside trace or on the PATH
    ");
}

#[test]
#[cfg(unix)]
fn the_program_on_the_path_gets_all_arguments_and_its_exit_code_is_passed_on() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    let program = place.path("bin/trace-fleet");
    std::fs::create_dir(place.path("bin")).expect("a folder");
    std::fs::write(&program, "#!/bin/sh\nfor word; do echo \"<$word>\"; done\nexit 7\n").expect("writes");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("makes it a program");
    let path = format!("{}:{}", place.path("bin").display(), std::env::var("PATH").unwrap_or_default());
    let arguments = ["fleet", "query", "--lake", "a lake", "--help", "-v", "--", "SELECT 1"];
    let output = place.command(&arguments).env("PATH", path).output().expect("runs");
    assert_eq!(output.status.code(), Some(7));
    insta::assert_snapshot!(String::from_utf8_lossy(&output.stdout), @r"
    <query>
    <--lake>
    <a lake>
    <--help>
    <-v>
    <-->
    <SELECT 1>
    ");
}
