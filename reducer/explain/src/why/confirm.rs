//! Decides which cuts removed a part of the text.
//!
//! Many outputs have cuts, and lines that begin or end alike are next to many of them. A cut in an output counts only
//! if the same command printed the whole text, and the remaining part has the same neighbours as the whole text. If it
//! is not known what was printed, as for messages and inherited items, a larger part of the text or both of its ends
//! must remain.

use std::collections::HashSet;

use trace_reducer::model::{SessionIdx, ToolIdx, Trace};

use super::answer::Form;
use super::cut::{self, Around, Demand};
use super::needle::{Needle, Sight};
use super::path::Occurrence;
use crate::object::Object;
use crate::texts::{Aspect, Calls, Place};

/// A command. It is identified by its terminal, because several calls may return the output of one terminal, or else by
/// its call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Command {
    Call(ToolIdx),
    Terminal(SessionIdx),
}

/// Returns the places that contain the text, without those where a cut removed a part of another text.
pub(super) fn confirmed(trace: &Trace, calls: &Calls, needle: &Needle, sights: &[(Place, Sight)]) -> Vec<Occurrence> {
    let mut around: HashSet<Around> = HashSet::new();
    let mut printed_whole: HashSet<Command> = HashSet::new();
    if sights.iter().any(|(_, sight)| matches!(sight, Sight::Cut(_))) {
        for (place, sight) in sights {
            let Sight::Whole(_, here) = sight else { continue };
            around.extend(here.iter().cloned());
            if let (Object::Tool(tool), Aspect::Printed) = (place.object, place.aspect) {
                printed_whole.insert(command(trace, tool));
            }
        }
    }
    let recorded = recorded(trace);
    let is_cut = |place: &Place, sight: &Sight| {
        let Sight::Cut(cuts) = sight else { return matches!(sight, Sight::Abridged) };
        let source = output_of(trace, calls, place).map(|tool| command(trace, tool));
        let demand = match source {
            Some(source) if printed_whole.contains(&source) => Demand::SameOutput,
            Some(source) if recorded.contains(&source) => return false,
            _ => Demand::More,
        };
        cuts.iter().any(|cut| cut.went_through(needle.text(), around.iter(), demand))
    };
    sights
        .iter()
        .filter_map(|(place, sight)| {
            let form = match sight {
                Sight::Whole(form, _) => *form,
                _ if is_cut(place, sight) => Form::Truncated,
                _ => return None,
            };
            Some(Occurrence { place: *place, form })
        })
        .collect()
}

/// Returns the tool call whose output, in the form for the model, is at a place.
fn output_of(trace: &Trace, calls: &Calls, place: &Place) -> Option<ToolIdx> {
    match place.object {
        Object::Item(item) if trace.items[item].kind.is_output() => calls.tool_of(trace, item),
        Object::Tool(tool) if place.aspect == Aspect::Result => Some(tool),
        _ => None,
    }
}

/// Returns the commands whose complete output is recorded.
fn recorded(trace: &Trace) -> HashSet<Command> {
    let is_whole = |tool: ToolIdx| {
        let operation = trace.tools[tool].operation?;
        let result = trace.operations[operation].result.as_ref()?;
        (!cut::has_mark(&result.stdout)).then_some(())
    };
    trace.tools.iter().filter(|(tool, _)| is_whole(*tool).is_some()).map(|(tool, _)| command(trace, tool)).collect()
}

fn command(trace: &Trace, tool: ToolIdx) -> Command {
    let operation = trace.tools[tool].operation;
    let terminal = operation.and_then(|operation| trace.operations[operation].session);
    terminal.map_or(Command::Call(tool), Command::Terminal)
}
