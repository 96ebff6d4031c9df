//! Which tool calls of a model are which spans of tools.
//!
//! Spans of tools often lack the id by which the model knows the call. They are matched by it, or else by name and arguments, or
//! else by name alone; the earliest call without a span comes first.

use std::collections::{HashMap, HashSet};

use super::facts::Part;
use super::message::What;
use super::plan::{Plan, ThreadPlan};
use super::span::Span;

/// A call that a model made.
#[derive(Debug)]
pub(super) struct Planned {
    /// The model's id of the call. Empty if the file has none.
    pub(super) native: String,
    /// The id of the call in the session.
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: String,
    /// Whether a span shows how the tool ran.
    pub(super) has_span: bool,
    /// The span of the request that the model answered.
    model: usize,
}

/// The calls of one thread.
#[derive(Debug, Default)]
pub(super) struct Calls {
    pub(super) list: Vec<Planned>,
    /// The calls that a model's answer has, in their order.
    pub(super) of_model: HashMap<usize, Vec<usize>>,
    /// The call of a tool's span.
    pub(super) of_tool: HashMap<usize, usize>,
}

/// Returns arguments in a form in which equal ones have equal texts.
pub(super) fn canonical(arguments: &str) -> String {
    let value: Result<serde_json::Value, _> = serde_json::from_str(arguments);
    value.map_or_else(|_| arguments.to_owned(), |value| value.to_string())
}

/// Finds the calls of a thread. `taken` has the ids of the calls of the session.
pub(super) fn calls(spans: &[Span], plan: &Plan, thread: &ThreadPlan, taken: &mut HashSet<String>) -> Calls {
    let mut calls = Calls::default();
    let mut steps: Vec<usize> = thread.turns.iter().flat_map(|turn| turn.steps.iter().copied()).collect();
    steps.sort_unstable();
    for step in &steps {
        if plan.nodes[*step].part == Part::Model {
            calls.add(spans, plan, *step, taken);
        }
    }
    let mut open: HashMap<String, Vec<usize>> = HashMap::new();
    let mut by_id: HashMap<String, Vec<usize>> = HashMap::new();
    for (index, call) in calls.list.iter().enumerate().rev() {
        open.entry(call.name.clone()).or_default().push(index);
        by_id.entry(call.native.clone()).or_default().push(index);
    }
    for step in steps {
        if plan.nodes[step].part == Part::Tool {
            let tool = plan.nodes[step].dialect.tool(&spans[step]);
            let named = tool.call_id.and_then(|id| calls.first(by_id.get_mut(id), step, |_| true));
            let found = named.or_else(|| {
                if tool.call_id.is_some() {
                    return None;
                }
                let name = tool_name(tool.name, &open);
                let arguments = tool.arguments.as_deref().map(canonical);
                let list = open.get_mut(&name)?;
                let alike = |call: &Planned| arguments.as_deref() == Some(&canonical(&call.arguments));
                calls.first(Some(list), step, alike).or_else(|| calls.first(open.get_mut(&name), step, |_| true))
            });
            if let Some(found) = found {
                calls.list[found].has_span = true;
                calls.of_tool.insert(step, found);
            }
        }
    }
    calls
}

/// Returns the name by which a model called a tool. A span of a change of agents has a text of its own.
fn tool_name(name: &str, open: &HashMap<String, Vec<usize>>) -> String {
    let Some(agent) = name.strip_prefix("handoff to ") else { return name.to_owned() };
    let agent: String =
        agent.chars().map(|char| if char.is_alphanumeric() { char.to_ascii_lowercase() } else { '_' }).collect();
    let usual = format!("transfer_to_{agent}");
    if open.contains_key(&usual) {
        return usual;
    }
    let other =
        open.iter().filter(|(name, list)| !list.is_empty() && (name.contains("handoff") || name.contains("transfer")));
    other.map(|(name, _)| name.clone()).min().unwrap_or_else(|| name.to_owned())
}

impl Calls {
    fn add(&mut self, spans: &[Span], plan: &Plan, model: usize, taken: &mut HashSet<String>) {
        for said in plan.nodes[model].dialect.output(&spans[model]) {
            let What::Call { call_id, name, arguments } = said.what else { continue };
            let number = self.of_model.get(&model).map_or(0, Vec::len);
            let made = format!("{}:{number}", spans[model].id);
            let id = if call_id.is_empty() || taken.contains(&*call_id) { made } else { call_id.clone().into_owned() };
            taken.insert(id.clone());
            self.of_model.entry(model).or_default().push(self.list.len());
            self.list.push(Planned {
                native: call_id.into_owned(),
                id,
                name: name.into_owned(),
                arguments: arguments.into_owned(),
                has_span: false,
                model,
            });
        }
    }

    /// Takes the first call without a span out of a list whose last element is its first call. The model must have been asked
    /// before the tool ran.
    fn first(&self, list: Option<&mut Vec<usize>>, step: usize, is_wanted: impl Fn(&Planned) -> bool) -> Option<usize> {
        let list = list?;
        while list.last().is_some_and(|last| self.list[*last].has_span) {
            list.pop();
        }
        let is_wanted = |call: &Planned| !call.has_span && call.model < step && is_wanted(call);
        let at = list.iter().rev().take(MAX_COMPARED).position(|call| is_wanted(&self.list[*call]))?;
        Some(list.remove(list.len() - 1 - at))
    }
}

/// Calls of one name without a span that are compared with a span. In a session in which few spans have their calls, comparing all
/// would take time that grows with the square of their number.
const MAX_COMPARED: usize = 64;
