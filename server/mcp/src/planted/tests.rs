use super::*;

#[test]
fn the_tables_are_sorted() {
    for table in [HOME_PLACES, CODE_VARIABLES, ABOVE] {
        assert!(table.is_sorted(), "{table:?}");
    }
}

#[test]
fn interpreters_are_read_from_the_first_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = |name: &str, text: &str, mode: u32| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("writes");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("can be set");
        interpreter(&path)
    };
    let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
    assert_eq!(script("a", "#!/usr/bin/env -S /a/b --c\necho /d\n", 0o755), paths(&["/usr/bin/env", "/a/b"]));
    assert_eq!(script("b", "#! /bin/sh", 0o755), paths(&["/bin/sh"]));
    assert_eq!(script("c", "echo /bin/sh", 0o755), paths(&[]));
    assert_eq!(script("d", "#!/bin/sh", 0o644), paths(&[]));
    assert_eq!(interpreter(&folder.path().join("missing")), paths(&[]));
}
