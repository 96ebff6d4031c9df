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
