use super::*;

#[test]
fn the_tables_are_sorted() {
    for table in [HOME_PLACES, CODE_VARIABLES, ABOVE, PROJECT_FILES, SOCKET_ENDINGS] {
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
    let names = |paths: &[&str], looked_up: Option<&str>| Interpreter {
        paths: paths.iter().map(PathBuf::from).collect(),
        looked_up: looked_up.map(str::to_owned),
    };
    assert_eq!(script("a", "#!/usr/bin/env -S /a/b --c\necho /d\n", 0o755), names(&["/usr/bin/env", "/a/b"], None));
    assert_eq!(script("b", "#! /bin/sh", 0o755), names(&["/bin/sh"], None));
    assert_eq!(script("c", "echo /bin/sh", 0o755), names(&[], None));
    assert_eq!(script("d", "#!/bin/sh", 0o644), names(&[], None));
    assert_eq!(script("e", "#!/usr/bin/env -S A=1 node --x\n", 0o755), names(&["/usr/bin/env"], Some("node")));
    assert_eq!(interpreter(&folder.path().join("missing")), Interpreter::default());
}

#[test]
fn files_of_json_are_data_unless_they_are_settings() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join("config").join(name);
    std::fs::create_dir(folder.path().join("config")).expect("a folder");
    for (name, words, expected) in [
        ("memory.json", &["MEMORY_FILE_PATH"][..], true),
        ("memory.json", &["--file", "{}"], true),
        ("memory.json", &["MCP_MEMORY_FILE"], true),
        ("k.json", &["GOOGLE_APPLICATION_CREDENTIALS"], true),
        ("notes.txt", &["--config"], true),
        ("package.json", &["--file"], false),
        ("tsconfig.json", &["--file"], false),
        ("mcp.json", &["--file"], false),
        ("any.json", &["--config", "{}"], false),
        ("any.json", &["--config={}"], false),
        ("any.json", &["-c", "{}"], false),
        ("any.json", &["SERVER_SETTINGS"], false),
        (".hidden.json", &["--file"], false),
        ("server.js", &["--file"], false),
        ("rules.yaml", &["--file"], false),
    ] {
        std::fs::write(at(name), "").expect("writes");
        let words: Vec<String> = words.iter().map(|word| word.replace("{}", &at(name).to_string_lossy())).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        assert_eq!(is_data(&at(name), &[folder.path().to_owned()], &words), expected, "{name} {words:?}");
    }
}
