//! Which cuts went through the text.
//!
//! Lines that begin or end alike stand next to many cuts. A cut in an output counts only if the same command printed the whole
//! text, and what stands beside the part that is left stands there in the whole. Where it is not known what was printed, as
//! in messages and inherited items, more must be left of the text, or both of its ends.

use std::collections::HashSet;

use trace_reducer::model::{SessionIdx, ToolIdx, Trace};

use super::answer::Form;
use super::cut::{self, Around, Demand};
use super::needle::{Needle, Sight};
use super::path::Occurrence;
use crate::object::Object;
use crate::texts::{Aspect, Calls, Place};

/// A command: what a terminal printed may be brought by several calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Command {
    Call(ToolIdx),
    Terminal(SessionIdx),
}

/// Returns the places that hold the text, without those where a cut went through another one.
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

/// Returns the tool call whose output a place has, as the model got it.
fn output_of(trace: &Trace, calls: &Calls, place: &Place) -> Option<ToolIdx> {
    match place.object {
        Object::Item(item) if trace.items[item].kind.is_output() => calls.tool_of(trace, item),
        Object::Tool(tool) if place.aspect == Aspect::Result => Some(tool),
        _ => None,
    }
}

/// Returns the commands of which the recording has all that they printed.
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
