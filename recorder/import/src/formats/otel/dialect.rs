//! The dialects of spans: which one a span belongs to, and what the span says.

use super::facts::{Agent, Model, Part, Tool, Turn};
use super::message::Said;
use super::span::Span;
use super::{gen_ai, openinference, own};

/// How an instrumentation names what it tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Own,
    OpenInference,
    GenAi,
}

impl Dialect {
    /// Returns the dialect of a span and what the span is. A span of another program is none.
    pub(super) fn of(span: &Span) -> (Self, Part) {
        let own = own::part(span).map(|part| (Self::Own, part));
        let known = own.or_else(|| Some((Self::OpenInference, openinference::part(span)?)));
        known.unwrap_or_else(|| (Self::GenAi, gen_ai::part(span).unwrap_or(Part::Other)))
    }

    pub(super) fn agent(self, span: &Span) -> Agent<'_> {
        match self {
            Self::Own => own::agent(span),
            Self::OpenInference => openinference::agent(span),
            Self::GenAi => gen_ai::agent(span),
        }
    }

    pub(super) fn turn(self, span: &Span) -> Turn<'_> {
        match self {
            Self::Own => own::turn(span),
            Self::OpenInference | Self::GenAi => Turn::default(),
        }
    }

    pub(super) fn model(self, span: &Span) -> Model<'_> {
        match self {
            Self::Own => own::model(span),
            Self::OpenInference => openinference::model(span),
            Self::GenAi => gen_ai::model(span),
        }
    }

    pub(super) fn input(self, span: &Span) -> Option<Vec<Said<'_>>> {
        match self {
            Self::OpenInference => openinference::input(span),
            Self::Own | Self::GenAi => gen_ai::input(span),
        }
    }

    pub(super) fn output(self, span: &Span) -> Vec<Said<'_>> {
        match self {
            Self::OpenInference => openinference::output(span),
            Self::Own | Self::GenAi => gen_ai::output(span),
        }
    }

    pub(super) fn tool(self, span: &Span) -> Tool<'_> {
        match self {
            Self::Own => own::tool(span),
            Self::OpenInference => openinference::tool(span),
            Self::GenAi => gen_ai::tool(span),
        }
    }
}
