//! Traces of OpenTelemetry: spans of agents, requests to models and tools, as OTLP in JSON or protobuf.
//!
//! Instrumentations name the same things differently. There are three dialects: [OpenInference](openinference), the [semantic
//! conventions for generative AI](gen_ai), and the [exports](own) of this program. A session is a trace, or all traces of a
//! conversation.

mod calls;
mod dialect;
mod facts;
mod flat;
mod gen_ai;
mod history;
mod index;
mod json;
mod message;
mod openinference;
mod own;
mod plan;
mod protobuf;
mod source;
mod span;
mod tell;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::draft::Draft;
use crate::error::ImportError;
use crate::format::{Format, Homes, Knowledge, Known, SessionRef, Source};

use self::source::{Encoding, each_record};
use self::span::Span;

/// The format of OTLP as JSON.
pub(super) static JSON: Otel = Otel { name: "otel", encoding: Encoding::Json };

/// The format of OTLP as protobuf.
pub(super) static PROTOBUF: Otel = Otel { name: "otel-protobuf", encoding: Encoding::Protobuf };

/// Reads traces of OpenTelemetry in one encoding.
#[derive(Debug)]
pub(super) struct Otel {
    name: &'static str,
    encoding: Encoding,
}

impl Format for Otel {
    fn name(&self) -> &'static str {
        self.name
    }

    fn agent(&self) -> &'static str {
        "OpenTelemetry"
    }

    fn knowledge(&self) -> Knowledge {
        Knowledge {
            turn_ids: Known::Yes,
            request_ids: Known::Sometimes,
            request_start: Known::Yes,
            request_end: Known::Yes,
            request_body: Known::Sometimes,
            tool_times: Known::Sometimes,
            children: Known::Sometimes,
            failed_attempts: Known::Yes,
            usage: Known::Sometimes,
        }
    }

    fn recognizes(&self, source: &Source<'_>) -> bool {
        !source.is_dir
            && match self.encoding {
                Encoding::Json => source::is_json(source.head),
                Encoding::Protobuf => source::is_protobuf(source.head),
            }
    }

    fn sessions(&self, path: &Path) -> Result<Vec<SessionRef>, ImportError> {
        let groups = index::groups(path, self.encoding)?;
        if groups.len() == 1 {
            return Ok(vec![SessionRef::file(self.name, path)]);
        }
        let session = |group: index::Group| SessionRef { id: Some(group.id), ..SessionRef::file(self.name, path) };
        Ok(groups.into_iter().map(session).collect())
    }

    fn read(&self, session: &SessionRef, draft: &mut Draft) -> Result<(), ImportError> {
        let path = &session.path;
        let mut groups = index::groups(path, self.encoding)?;
        let group = match &session.id {
            Some(id) => groups
                .into_iter()
                .find(|group| group.id == *id)
                .ok_or_else(|| ImportError::NoSuchSession { path: path.clone(), id: id.clone() })?,
            None if groups.len() > 1 => {
                return Err(ImportError::SeveralSessions { path: path.clone(), count: groups.len() });
            }
            None => groups.pop().ok_or_else(|| ImportError::Empty {
                path: path.clone(),
                reason: "no span is of an agent or of a model",
            })?,
        };
        let spans = self.load(path, &group, draft)?;
        let plan = plan::plan(&spans);
        tell::tell(draft, &spans, &plan, &group.id);
        Ok(())
    }

    fn stores(&self, _: &Homes) -> Vec<PathBuf> {
        Vec::new()
    }
}

impl Otel {
    /// Reads the spans of a session in the order of their starts.
    fn load(&self, path: &Path, group: &index::Group, draft: &mut Draft) -> Result<Vec<Span>, ImportError> {
        let mut spans: Vec<Span> = Vec::new();
        let mut by_id: HashMap<(String, String), usize> = HashMap::new();
        let mut version = None;
        let is_wanted = |trace: &str| group.traces.contains(trace);
        each_record(path, self.encoding, draft, |place, bytes| {
            let before = spans.len();
            // A span that is exported again replaces the earlier one.
            let mut take = |span: Span| match by_id.get(&(span.trace.clone(), span.id.clone())) {
                Some(index) => spans[*index] = span,
                None => {
                    by_id.insert((span.trace.clone(), span.id.clone()), spans.len());
                    spans.push(span);
                }
            };
            let is_read = match self.encoding {
                Encoding::Json => {
                    json::each_span(bytes, place, is_wanted, &mut take).is_ok_and(|nameless| nameless == 0)
                }
                Encoding::Protobuf => {
                    protobuf::each_span(bytes, place, is_wanted, &mut take).is_ok_and(|nameless| nameless == 0)
                }
            };
            if version.is_none() && spans.len() > before {
                let resource = match self.encoding {
                    Encoding::Json => json::resource(bytes),
                    Encoding::Protobuf => protobuf::resource(bytes),
                };
                version = Some(resource.text("service.version").map(str::to_owned));
            }
            is_read
        })?;
        if let Some(version) = version.flatten() {
            draft.agent_version(&version);
        }
        spans.sort_by_key(Span::order);
        Ok(spans)
    }
}
