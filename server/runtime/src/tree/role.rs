//! Roles: kinds of agents that a model can start, with their settings.

use serde_json::{Value, json};

use super::refused::Refused;
use crate::settings::Settings;

/// A kind of agent that a model can start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Role {
    /// Name of the role.
    pub name: String,
    /// What the role is for, as text for the model that starts the agent.
    pub description: String,
    /// Model of the agent; `None` for the model of its parent.
    pub model: Option<String>,
    /// Reasoning effort; `None` for that of its parent.
    pub effort: Option<String>,
    /// Instructions in addition to those of its parent.
    pub instructions: Option<String>,
}

impl Role {
    /// Returns the settings of an agent with this role, based on those of its parent.
    pub(super) fn apply(&self, parent: &Settings) -> Settings {
        let mut settings = parent.clone();
        if let Some(model) = &self.model {
            settings.model.clone_from(model);
        }
        if let Some(effort) = &self.effort {
            settings.effort = Some(effort.clone());
        }
        if let Some(instructions) = &self.instructions {
            let before = settings.developer_instructions.take();
            let all = before.into_iter().chain([instructions.clone()]).collect::<Vec<_>>();
            settings.developer_instructions = Some(all.join("\n\n"));
        }
        settings
    }
}

/// Finds a role by its name.
///
/// # Errors
///
/// Returns an error if there is no such role.
pub(super) fn find<'a>(roles: &'a [Role], name: &str) -> Result<&'a Role, Refused> {
    let known = || roles.iter().map(|role| role.name.as_str()).collect::<Vec<_>>().join(", ");
    roles.iter().find(|role| role.name == name).ok_or_else(|| Refused::NoSuchRole {
        name: name.to_owned(),
        known: if roles.is_empty() { "there are none".to_owned() } else { known() },
    })
}

/// Returns the schema of the argument that names a role. `None` if there are no roles.
pub(super) fn argument(roles: &[Role]) -> Option<Value> {
    if roles.is_empty() {
        return None;
    }
    let lines: Vec<String> = roles.iter().map(|role| format!("`{}`: {}", role.name, role.description)).collect();
    let names: Vec<&str> = roles.iter().map(|role| role.name.as_str()).collect();
    Some(json!({
        "type": "string",
        "enum": names,
        "description": format!("What the agent is for; without it, the same as you.\n{}", lines.join("\n")),
    }))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::settings::{ApprovalPolicy, Mode, SandboxPolicy};

    fn reviewer() -> Role {
        Role {
            name: "reviewer".to_owned(),
            description: "looks for mistakes".to_owned(),
            model: Some("large".to_owned()),
            effort: None,
            instructions: Some("Trust nothing.".to_owned()),
        }
    }

    #[test]
    fn a_role_brings_along_what_it_says_and_nothing_else() {
        let parent = Settings {
            model: "m".to_owned(),
            provider: "p".to_owned(),
            effort: Some("low".to_owned()),
            summary: None,
            service_tier: None,
            cwd: PathBuf::from("/"),
            approval: ApprovalPolicy::Never,
            approvals_reviewer: None,
            sandbox: SandboxPolicy::FullAccess,
            base_instructions: None,
            developer_instructions: Some("Be brief.".to_owned()),
            personality: None,
            mode: Mode::Default,
            mode_instructions: None,
        };
        let expected = Settings {
            model: "large".to_owned(),
            developer_instructions: Some("Be brief.\n\nTrust nothing.".to_owned()),
            ..parent.clone()
        };
        assert_eq!(reviewer().apply(&parent), expected);
    }

    #[test]
    fn roles_are_named_to_the_model() {
        assert_eq!(argument(&[]), None);
        let argument = argument(&[reviewer()]).expect("there is a role");
        assert_eq!(argument["enum"], json!(["reviewer"]));
        assert!(argument["description"].as_str().is_some_and(|text| text.contains("`reviewer`: looks for mistakes")));
        assert!(find(&[reviewer()], "reviewer").is_ok());
        let refused = find(&[reviewer()], "tester").expect_err("nobody described it").to_string();
        assert_eq!(refused, "there is no role `tester`; known: reviewer");
        assert!(find(&[], "tester").expect_err("nobody described it").to_string().contains("there are none"));
    }
}
