//! The tool `update_plan`, with which a model shows its plan.

use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::event::{EventKind, PlanStatus, PlanStep};
use crate::settings::Settings;
use crate::tool::outcome::{describe, done, failed};
use crate::tool::{
    CallDescription, CallOrder, Resource, Tool, ToolCall, ToolContext, ToolFamily, ToolInput, ToolOutcome,
};

/// Most steps of a plan.
pub const MAX_PLAN_STEPS: usize = 100;

/// Name of the tool.
pub const UPDATE_PLAN: &str = "update_plan";

/// The tool `update_plan`.
#[derive(Debug)]
pub struct UpdatePlan;

/// A plan of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Explanation of the model.
    pub explanation: Option<String>,
    /// The steps.
    pub steps: Vec<PlanStep>,
}

impl Plan {
    /// Reads the arguments of a call.
    ///
    /// # Errors
    ///
    /// Returns what the model is told if they are no plan, or if the plan is too long.
    pub fn read(arguments: &str) -> Result<Self, String> {
        let Arguments { explanation, plan } =
            serde_json::from_str(arguments).map_err(|error| format!("failed to parse function arguments: {error}"))?;
        if plan.len() > MAX_PLAN_STEPS {
            return Err(format!("the plan has {} steps, more than {MAX_PLAN_STEPS}; make it shorter", plan.len()));
        }
        let steps = plan.into_iter().map(|Step { step, status }| {
            let status = match status {
                Status::Pending => PlanStatus::Pending,
                Status::InProgress => PlanStatus::InProgress,
                Status::Completed => PlanStatus::Completed,
            };
            PlanStep { step, status }
        });
        Ok(Self { explanation, steps: steps.collect() })
    }
}

#[derive(Deserialize)]
struct Arguments {
    explanation: Option<String>,
    plan: Vec<Step>,
}

#[derive(Deserialize)]
struct Step {
    step: String,
    status: Status,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    InProgress,
    Completed,
}

impl Tool for UpdatePlan {
    fn family(&self) -> ToolFamily {
        ToolFamily::Plan
    }

    fn specification(&self, _settings: &Settings) -> Option<Value> {
        let step = json!({
            "type": "object",
            "properties": {
                "step": { "type": "string", "description": "What is to be done, in a few words." },
                "status": { "type": "string", "enum": ["pending", "in_progress", "completed"] },
            },
            "required": ["step", "status"],
            "additionalProperties": false,
        });
        Some(json!({
            "type": "function",
            "name": UPDATE_PLAN,
            "description": "Shows the user the steps of longer work and how far each is. Call it again whenever that changes; at most one step is in_progress.",
            "strict": false,
            "parameters": {
                "type": "object",
                "properties": {
                    "explanation": { "type": "string", "description": "Why the plan is as it is now; may be left out." },
                    "plan": { "type": "array", "items": step, "description": "All steps, in order." },
                },
                "required": ["plan"],
                "additionalProperties": false,
            },
        }))
    }

    fn is_called(&self, namespace: Option<&str>, name: &str) -> bool {
        namespace.is_none() && name == UPDATE_PLAN
    }

    fn description(&self, call: &ToolCall) -> CallDescription {
        describe(UPDATE_PLAN, call)
    }

    fn order(&self, _: &ToolCall) -> CallOrder {
        CallOrder::Changes(Resource::Plan)
    }

    fn call(&self, context: ToolContext, call: ToolCall) -> BoxFuture<'static, ToolOutcome> {
        Box::pin(async move {
            let ToolInput::Arguments(arguments) = &call.input else {
                return failed("update_plan takes JSON arguments");
            };
            let Plan { explanation, steps } = match Plan::read(arguments) {
                Ok(plan) => plan,
                Err(problem) => return failed(problem),
            };
            context.agent.event(EventKind::PlanChanged { turn: context.turn, explanation, steps });
            done("Plan updated")
        })
    }
}
