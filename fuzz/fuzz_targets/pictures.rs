//! Reads any bytes as an event log. No diagram, page or export of the session may panic, and their promises must hold.
#![no_main]

mod bundle;

use libfuzzer_sys::fuzz_target;
use trace_export::{chrome, otlp, perfetto};
use trace_viz::diagram::{Diagram, Options, View, render};
use trace_viz::page::{BodySource, EmbedLimits, Embedded, Structure, document};

/// Limit on the nodes of a diagram. It is so small that many nodes are folded.
const MAX_NODES: usize = 6;

fuzz_target!(|data: &[u8]| {
    let session = bundle::session(data);
    for &view in View::ALL {
        for max_nodes in [MAX_NODES, usize::MAX] {
            let options = Options { max_nodes, ..Options::new(view) };
            let Ok(diagram) = Diagram::new(&session, &options) else { continue };
            assert!(diagram.nodes.len() <= max_nodes, "a diagram keeps to its limit");
            let ends = |edge: &trace_viz::diagram::Edge| edge.from.0.max(edge.to.0) as usize;
            assert!(diagram.edges.iter().all(|edge| ends(edge) < diagram.nodes.len()), "arrows have ends");
            render::dot(&diagram);
            render::svg(&diagram);
            let _ = render::mermaid(&diagram);
        }
    }
    let embedded = Embedded::new(&session, &BodySource::new(&session), EmbedLimits::DEFAULT);
    let mut page = Vec::new();
    document::write_file(&Structure::new(&session, "a session"), &embedded, &mut page).expect("writes");
    let scripts = page.windows(b"</script".len()).filter(|bytes| bytes.eq_ignore_ascii_case(b"</script")).count();
    assert_eq!(scripts, 3, "a page has its own scripts alone");
    let mut out = Vec::new();
    perfetto::write(&session, &mut out).expect("writes");
    out.clear();
    chrome::write(&session, &mut out).expect("writes");
    serde_json::from_slice::<serde_json::Value>(&out).expect("a Chrome trace is JSON");
    out.clear();
    otlp::write(&session, otlp::Content::LeftOut, &mut out).expect("writes");
    let lines = out.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.for_each(|line| {
        serde_json::from_slice::<serde_json::Value>(line).expect("a line of OTLP is JSON");
    });
});
