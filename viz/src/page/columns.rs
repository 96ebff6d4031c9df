//! The columns of the structure. `assets/README.md` describes each of them.

use serde::Serialize;

/// A column of numbers: objects, texts, times or counts. `-1` stands for a missing value.
pub(super) type Column = Vec<i64>;

/// Columns that all objects have.
#[derive(Debug, Default, Serialize)]
pub(super) struct Objects {
    pub(super) id: Vec<Option<String>>,
    pub(super) thread: Column,
    pub(super) turn: Column,
    pub(super) seq: Column,
    pub(super) start: Column,
    pub(super) end: Column,
    pub(super) outcome: Column,
    pub(super) label: Column,
}

/// More columns for threads.
#[derive(Debug, Default, Serialize)]
pub(super) struct Threads {
    pub(super) path: Column,
    pub(super) nickname: Column,
    pub(super) model: Column,
    pub(super) task: Column,
    pub(super) role: Column,
    pub(super) parent: Column,
    pub(super) depth: Column,
    pub(super) model_calls: Column,
    pub(super) failed_model_calls: Column,
    pub(super) tool_calls: Column,
    pub(super) failed_tool_calls: Column,
    pub(super) input_tokens: Column,
    pub(super) cached_tokens: Column,
    pub(super) output_tokens: Column,
    pub(super) all_model_calls: Column,
    pub(super) all_failed_model_calls: Column,
    pub(super) all_tool_calls: Column,
    pub(super) all_failed_tool_calls: Column,
    pub(super) all_input_tokens: Column,
    pub(super) all_cached_tokens: Column,
    pub(super) all_output_tokens: Column,
}

/// More columns for turns.
#[derive(Debug, Default, Serialize)]
pub(super) struct Turns {
    pub(super) verdict: Column,
    pub(super) must_end: Column,
}

/// More columns for items.
#[derive(Debug, Default, Serialize)]
pub(super) struct Items {
    pub(super) role: Column,
    pub(super) kind: Column,
    pub(super) channel: Column,
    pub(super) call_id: Column,
    pub(super) author: Column,
    pub(super) recipient: Column,
    pub(super) seen_by: Column,
    pub(super) producer: Column,
}

/// More columns for inference calls.
#[derive(Debug, Default, Serialize)]
pub(super) struct Inferences {
    pub(super) model: Column,
    pub(super) provider: Column,
    pub(super) input_tokens: Column,
    pub(super) cached_tokens: Column,
    pub(super) output_tokens: Column,
    pub(super) reasoning_tokens: Column,
    pub(super) error: Column,
}

/// More columns for tool calls.
#[derive(Debug, Default, Serialize)]
pub(super) struct Tools {
    pub(super) name: Column,
    pub(super) subject: Column,
    pub(super) exit_code: Vec<Option<i64>>,
    pub(super) cell: Column,
    pub(super) operation: Column,
}

/// More columns for interaction edges.
#[derive(Debug, Default, Serialize)]
pub(super) struct Edges {
    pub(super) kind: Column,
    pub(super) source: Column,
    pub(super) target: Column,
    pub(super) from: Column,
    pub(super) to: Column,
    pub(super) sent: Column,
    pub(super) received: Column,
    pub(super) text: Column,
}

/// A hand-over that never arrived.
#[derive(Debug, Serialize)]
pub(super) struct Lost {
    pub(super) kind: &'static str,
    pub(super) source: i64,
    pub(super) from: i64,
    pub(super) to: i64,
    pub(super) to_id: String,
    pub(super) sent: i64,
    pub(super) seq: u64,
    pub(super) text: String,
}

/// Bars of the timeline.
#[derive(Debug, Default, Serialize)]
pub(super) struct Bars {
    pub(super) object: Column,
    pub(super) work: Column,
    pub(super) start: Column,
    pub(super) end: Column,
    pub(super) inside: Column,
}

/// The bars of one thread.
#[derive(Debug, Serialize)]
pub(super) struct Lane {
    pub(super) thread: i64,
    pub(super) first: usize,
    pub(super) count: usize,
}

/// Edges of the causal graph.
#[derive(Debug, Default, Serialize)]
pub(super) struct Links {
    pub(super) from: Column,
    pub(super) to: Column,
    pub(super) relation: Column,
    pub(super) at: Column,
}

/// Which payloads belong to which objects.
#[derive(Debug, Default, Serialize)]
pub(super) struct Uses {
    pub(super) object: Column,
    pub(super) payload: Column,
}

/// The conversation of one thread.
#[derive(Debug, Serialize)]
pub(super) struct Transcript {
    pub(super) thread: i64,
    pub(super) items: Column,
    pub(super) marks: Column,
}

/// Which tool calls belong to which items.
#[derive(Debug, Default, Serialize)]
pub(super) struct Attached {
    pub(super) item: Column,
    pub(super) tool: Column,
}

/// Sums over the session.
#[derive(Debug, Serialize)]
pub(super) struct Totals {
    pub(super) threads: usize,
    pub(super) turns: u64,
    pub(super) model_calls: u64,
    pub(super) failed_model_calls: u64,
    pub(super) tool_calls: u64,
    pub(super) failed_tool_calls: u64,
    pub(super) compactions: usize,
    pub(super) input_tokens: u64,
    pub(super) cached_tokens: u64,
    pub(super) output_tokens: u64,
}

/// Lists the columns of numbers of tables with their names, as they are in the structure.
macro_rules! columns {
    ($($table:ident { $($column:ident),* $(,)? })*) => {
        $(impl $table {
            /// Returns the columns of numbers with their names.
            pub(super) fn columns(&self) -> Vec<(&'static str, &[i64])> {
                vec![$((stringify!($column), &self.$column[..])),*]
            }
        })*
    };
}

columns! {
    Objects { thread, turn, seq, start, end, outcome, label }
    Threads {
        path, nickname, model, task, role, parent, depth, model_calls, failed_model_calls, tool_calls,
        failed_tool_calls, input_tokens, cached_tokens, output_tokens, all_model_calls, all_failed_model_calls,
        all_tool_calls, all_failed_tool_calls, all_input_tokens, all_cached_tokens, all_output_tokens,
    }
    Turns { verdict, must_end }
    Items { role, kind, channel, call_id, author, recipient, seen_by, producer }
    Inferences { model, provider, input_tokens, cached_tokens, output_tokens, reasoning_tokens, error }
    Tools { name, subject, cell, operation }
    Edges { kind, source, target, from, to, sent, received, text }
    Bars { object, work, start, end, inside }
    Links { from, to, relation, at }
    Uses { object, payload }
    Attached { item, tool }
    Transcript { items, marks }
}
