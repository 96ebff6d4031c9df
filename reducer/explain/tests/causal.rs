//! Compares the causal graph with the graph that it is made from.

mod bundles;

use trace_explain::{CausalGraph, Object, Relation};
use trace_reducer::model::{Origin, Producer};

#[test]
fn every_object_is_within_another() {
    let count = bundles::for_each(|path, session| {
        let graph = CausalGraph::new(session);
        for object in session.objects() {
            let is_within = || graph.causes(object).iter().any(|(_, link)| link.relation == Relation::Contains);
            match object {
                Object::Turn(_) | Object::Inference(_) | Object::Tool(_) | Object::Cell(_) | Object::Operation(_) => {
                    assert!(is_within(), "{}: {}", path.display(), session.name(object));
                }
                _ => {}
            }
        }
    });
    assert!(count > 200, "{count}");
}

#[test]
fn children_are_spawned_once() {
    let mut spawned = 0;
    bundles::for_each(|path, session| {
        let trace = session.trace();
        let graph = CausalGraph::new(session);
        for (index, thread) in trace.threads.iter() {
            let Origin::Spawned { parent_thread_id, .. } = thread.origin else { continue };
            if parent_thread_id == thread.id || trace.threads.values().all(|parent| parent.id != parent_thread_id) {
                continue;
            }
            let causes = graph.causes(Object::Thread(index));
            let spawns = causes.iter().filter(|(_, link)| link.relation == Relation::Spawned).count();
            assert_eq!(spawns, 1, "{}: {}", path.display(), session.agent_path(index));
            spawned += 1;
        }
    });
    assert!(spawned > 20, "{spawned}");
}

#[test]
fn no_tool_produces_an_item_of_another_thread() {
    let mut leaks = 0;
    bundles::for_each(|path, session| {
        let trace = session.trace();
        let graph = CausalGraph::new(session);
        for (index, item) in trace.items.iter() {
            for (cause, link) in graph.causes(Object::Item(index)) {
                if link.relation == Relation::ProducedBy {
                    assert_eq!(session.thread_of(cause), Some(item.thread), "{}", path.display());
                }
            }
            let producers = item.produced_by.iter().filter_map(|producer| match producer {
                Producer::Tool(tool) => Some(trace.tools[*tool].thread),
                _ => None,
            });
            leaks += producers.filter(|thread| *thread != item.thread).count();
        }
    });
    // The graph has such links, as `state.json` has them.
    assert!(leaks > 0);
}

#[test]
fn outputs_lead_to_the_request_that_read_them_first() {
    let mut observed = 0;
    bundles::for_each(|path, session| {
        let trace = session.trace();
        let graph = CausalGraph::new(session);
        for (index, item) in trace.items.iter().filter(|(_, item)| item.kind.is_output()) {
            let shows =
                |call: &trace_reducer::model::InferenceCall| trace.lists.get(call.request_items).contains(&index);
            let first = trace.inferences.iter().find(|(_, call)| shows(call)).map(|(inference, _)| inference);
            let effects = graph.effects(Object::Item(index));
            let readers = effects.iter().filter(|(_, link)| link.relation == Relation::Observed);
            let readers: Vec<Object> = readers.map(|(object, _)| *object).collect();
            assert_eq!(readers, first.map(Object::Inference).into_iter().collect::<Vec<_>>(), "{}", path.display());
            observed += usize::from(item.call_id.is_some() && first.is_some());
        }
    });
    assert!(observed > 30, "{observed}");
}
