//! The tools that every agent has.

use std::sync::Arc;

use super::Tool;
use super::exec::{ExecTool, WriteStdin};
use super::options::ToolOptions;
use super::patch::PatchTool;
use super::plan::UpdatePlan;
use super::user_input::RequestUserInput;
use super::view_image::ViewImage;

/// Returns the tools that every agent has: commands, patches, plans, questions to the user, pictures.
pub fn standard(options: ToolOptions) -> Vec<Arc<dyn Tool>> {
    let options = Arc::new(options);
    vec![
        Arc::new(ExecTool::new(Arc::clone(&options))),
        Arc::new(WriteStdin),
        Arc::new(PatchTool::new(options)),
        Arc::new(UpdatePlan),
        Arc::new(RequestUserInput),
        Arc::new(ViewImage),
    ]
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    /// Tools in the modules of this folder that not every agent has: those of clients.
    const NOT_STANDARD: &[&str] = &["DynamicTool"];

    /// Calls `visit` with the text of each source file below a folder.
    fn each_source(folder: &Path, visit: &mut impl FnMut(&str)) {
        for entry in fs::read_dir(folder).expect("lists") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                each_source(&path, visit);
            } else {
                visit(&fs::read_to_string(&path).expect("reads"));
            }
        }
    }

    #[test]
    fn no_tool_of_these_modules_is_forgotten() {
        let (list, _) = include_str!("standard.rs").split_once("mod tests").expect("the list stands before the tests");
        let mut found = 0;
        each_source(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tool"), &mut |source| {
            for line in source.lines().filter(|line| line.starts_with("impl")) {
                let Some((_, implementer)) = line.split_once("Tool for ") else { continue };
                let name = implementer.split([' ', '<']).next().expect("a name");
                found += 1;
                let is_listed = [")", "::", "("].iter().any(|end| list.contains(&format!("Arc::new({name}{end}")));
                assert!(
                    is_listed || NOT_STANDARD.contains(&name),
                    "`standard` does not list {name}, and it is none of NOT_STANDARD"
                );
            }
        });
        assert!(found >= 7, "{found} tools");
    }
}
