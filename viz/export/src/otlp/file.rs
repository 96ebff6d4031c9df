//! OTLP in a file: one request as JSON per line, like the files of the collector's file exporter and receiver.

use std::io::{self, BufWriter, Write};

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::transform::common::tonic::ResourceAttributesWithSchema;
use opentelemetry_proto::transform::trace::tonic::group_spans_by_resource_and_scope;
use trace_explain::Session;

use super::batches::{batches, resource};
use super::content::Content;

/// Writes a session as OTLP JSON, one request per line.
///
/// # Errors
///
/// Returns an error if writing to `out` fails.
pub fn write(session: &Session, content: Content, out: &mut dyn Write) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    let resource = ResourceAttributesWithSchema::from(&resource());
    for batch in batches(session, content) {
        let resource_spans = group_spans_by_resource_and_scope(batch, &resource);
        serde_json::to_writer(&mut out, &ExportTraceServiceRequest { resource_spans })?;
        out.write_all(b"\n")?;
    }
    out.flush()
}
