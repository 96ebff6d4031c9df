//! Reads any bytes as an event log. No question about the session may panic, and the promises of the answers must hold.
#![no_main]

mod bundle;

use libfuzzer_sys::fuzz_target;
use trace_explain::CausalGraph;
use trace_explain::context::{self, Against, Texts};
use trace_explain::costs::Costs;
use trace_explain::critical_path::CriticalPath;
use trace_explain::diff::Diff;
use trace_explain::grep::{CaseRule, Matcher, Selection, Syntax, WholeWords, grep};
use trace_explain::postmortem::postmortem;
use trace_explain::timeline::Timeline;
use trace_explain::why::{Needle, why};

fuzz_target!(|data: &[u8]| {
    let session = bundle::session(data);
    let trace = session.trace();
    CausalGraph::new(&session);
    let verdicts = postmortem(&session);
    assert_eq!(verdicts.turns.len(), trace.turns.len());
    why(&session, &Needle::new("t").expect("a text"));
    let matcher = Matcher::new(&["."], Syntax::Regex, CaseRule::Smart, WholeWords::No).expect("a pattern");
    grep(&session, &matcher, &Selection::default());
    for (inference, _) in trace.inferences.iter() {
        context::request(&session, inference, Texts::Whole, Against::RequestBefore);
    }
    Costs::new(trace, None);
    Timeline::new(&session);
    CriticalPath::new(&session, None);
    Diff::new(&session, &session, None);
});
