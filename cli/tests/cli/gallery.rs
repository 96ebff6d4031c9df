//! Checks that the diagrams of the gallery are the output of the binary for the samples.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use trace_viz::diagram::View;

#[test]
fn diagrams_of_the_gallery_are_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let gallery = root.join("docs/gallery");
    let list = fs::read(gallery.join("graphs.json")).expect("a list of diagrams");
    let list: Vec<Value> = serde_json::from_slice(&list).expect("an array");
    for view in View::ALL {
        let is_it = |diagram: &Value| {
            // A picture without `--view` shows the agents.
            let arguments = diagram["arguments"].as_array().expect("arguments");
            let asked = arguments.iter().position(|argument| argument == "--view").map(|at| &arguments[at + 1]);
            asked.map_or(*view == View::Agents, |asked| asked == view.as_str())
        };
        assert!(list.iter().any(is_it), "docs/gallery/graphs.json has a picture of the view {}", view.as_str());
    }
    for diagram in list {
        let file = diagram["file"].as_str().expect("a name");
        let arguments = diagram["arguments"].as_array().expect("arguments").iter();
        let made = Command::new(env!("CARGO_BIN_EXE_trace"))
            .current_dir(&root)
            .arg("graph")
            .args(arguments.map(|argument| argument.as_str().expect("a text")))
            .args(["--layout", "own", "--format", "svg"])
            .output()
            .expect("runs");
        assert!(made.status.success(), "{file}: {}", String::from_utf8_lossy(&made.stderr));
        let kept = fs::read(gallery.join(file)).expect("a diagram");
        assert!(made.stdout == kept, "{file} is not what it was; `node docs/gallery/make.mjs` makes the gallery anew");
    }
}
