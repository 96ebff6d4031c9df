use super::*;

#[test]
fn paths_are_found_where_people_write_them() {
    for (word, expected) in [
        ("/a/b", &["/a/b"][..]),
        ("/a b/c", &["/a b/c", "/a", "/cwd/b/c"]),
        ("--config=/a/b", &["/a/b"]),
        ("--dir=/a b", &["/a b", "/a"]),
        ("-I/a/b", &["/a/b"]),
        ("/a:/b,/c", &["/a:/b,/c", "/a", "/b", "/c"]),
        ("file:///a/b.mjs", &["///a/b.mjs"]),
        ("cd \"/a/b\" && exec './c/d'", &["/a/b", "/cwd/c/d"]),
        ("~/a", &["/home/a"]),
        ("$HOME/a ${HOME}/b ~", &["/home/a", "/home/b", "/home"]),
        ("../a", &["/cwd/../a"]),
        ("type=bind,source=/a", &["/a"]),
        ("@example/docs-server", &["/cwd/example/docs-server"]),
        ("https://example.org/a/b", &[]),
        ("serve", &[]),
        ("--port", &[]),
        ("", &[]),
    ] {
        let mut found: Vec<String> = paths_in(word, Path::new("/cwd"), Some(Path::new("/home")))
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        found.dedup();
        let expected: Vec<String> = expected.iter().map(|path| Path::new(path).display().to_string()).collect();
        for path in &expected {
            assert!(found.iter().any(|found| Path::new(found).starts_with(path)), "{word}: {found:?}");
        }
        assert!(
            found.iter().all(|found| expected.iter().any(|path| Path::new(found).starts_with(path))),
            "{word}: {found:?}"
        );
    }
}

#[test]
fn the_tables_are_sorted() {
    assert!(HOME_PLACES.is_sorted() && CODE_VARIABLES.is_sorted());
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
