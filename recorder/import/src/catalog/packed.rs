//! Summaries as they are kept: the names of models once, and calls without names of members.

use serde::{Deserialize, Serialize};

use crate::summary::{Spent, Summary, Usage};

/// A summary in few bytes.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Packed {
    summary: Summary,
    models: Vec<String>,
    spent: Vec<Call>,
}

/// Time, model, key and tokens of a call.
type Call = (Option<i64>, usize, Option<String>, [u64; 5]);

impl Packed {
    pub(super) fn new(mut summary: Summary) -> Self {
        let mut models: Vec<String> = Vec::new();
        let pack = |Spent { at, model, key, usage }: Spent| {
            let known = models.iter().position(|known| *known == model);
            let index = known.unwrap_or_else(|| {
                models.push(model);
                models.len() - 1
            });
            let Usage { input, cached_input, cache_write_input, output, reasoning_output } = usage;
            (at, index, key, [input, cached_input, cache_write_input, output, reasoning_output])
        };
        let spent = std::mem::take(&mut summary.spent).into_iter().map(pack).collect();
        Self { summary, models, spent }
    }

    pub(super) fn unpack(&self) -> Summary {
        let unpack = |(at, model, key, tokens): &Call| {
            let [input, cached_input, cache_write_input, output, reasoning_output] = *tokens;
            Spent {
                at: *at,
                model: self.models.get(*model).cloned().unwrap_or_default(),
                key: key.clone(),
                usage: Usage { input, cached_input, cache_write_input, output, reasoning_output },
            }
        };
        Summary { spent: self.spent.iter().map(unpack).collect(), ..self.summary.clone() }
    }
}
