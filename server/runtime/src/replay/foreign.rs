//! Derives from requests what the Codex CLI does not record.
//!
//! - A compaction by a summary of the model: neither the request for the summary nor the new history is recorded. It shows
//!   because the next request lacks what the request before it contained.
//! - When agents read messages, in schema 1: a message was read by the first request that contains it.
//! - That a turn failed: schema 1 records it as completed, and a failed compaction by a summary leaves no request.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::session::{Exchange, ExchangeEnd, RecordedTurn, ReplayError, RequestKind};
use super::state::{ReplayState, RequestPlace};
use super::user_messages::{is_by_user, is_said, items, texts};

impl ReplayState {
    /// Returns the request of an agent before this one.
    fn previous(&self, place: RequestPlace) -> Option<&Exchange> {
        let turns = &self.session.tracks[place.track].turns[..=place.turn];
        turns.iter().enumerate().rev().find_map(|(at, turn)| {
            let count = if at == place.turn { place.exchange } else { turn.exchanges.len() };
            turn.exchanges[..count].last()
        })
    }

    /// Returns whether the history of an agent was replaced before this request, without a recorded compaction.
    pub(super) fn is_replaced(&self, place: RequestPlace) -> Result<bool, ReplayError> {
        let Some(exchange) = self.turn(place).exchanges.get(place.exchange).filter(|_| self.session.is_foreign) else {
            return Ok(false);
        };
        let Some(previous) = self.previous(place).filter(|previous| previous.seq >= self.from) else {
            return Ok(false);
        };
        let is_recorded = previous.kind == RequestKind::Compaction
            && matches!(previous.end, Some((_, ExchangeEnd::Completed { .. })));
        if is_recorded || exchange.kind == RequestKind::Compaction {
            return Ok(false);
        }
        let request = self.session.request(exchange)?;
        Ok(lacks(&request, items(&self.session.request(previous)?)) || lacks(&request, &self.answer_of(previous)?))
    }

    /// Returns the items of a complete answer.
    fn answer_of(&self, exchange: &Exchange) -> Result<Vec<Value>, ReplayError> {
        let Some((seq, ExchangeEnd::Completed { response })) = &exchange.end else { return Ok(Vec::new()) };
        let mut response = self.session.read(*seq, response)?;
        let items = response.get_mut("output_items").and_then(Value::as_array_mut).map(std::mem::take);
        Ok(items.unwrap_or_default())
    }

    /// Returns whether a call is in the recorded answer before it.
    pub(super) fn is_recorded_call(&self, exchange: &Exchange, call: &str) -> bool {
        let items = self.answer_of(exchange).unwrap_or_default();
        items.iter().any(|item| item.get("call_id").is_some_and(|id| id == call))
    }

    /// Returns the conversation in a request.
    pub(super) fn conversation(&self, place: RequestPlace) -> Result<Vec<Value>, ReplayError> {
        let request = self.session.request(self.exchange(place))?;
        Ok(items(&request).iter().filter(|item| is_said(item)).cloned().collect())
    }

    /// Returns the conversation that a compaction left. `None` if it is not recorded, or if this program decides what stays.
    pub(super) fn compacted(&self, place: RequestPlace) -> Result<Option<Vec<Value>>, ReplayError> {
        let Some((seq, payload)) = self.exchange(place).installed.as_ref().filter(|_| self.session.is_foreign) else {
            return Ok(None);
        };
        let checkpoint = self.session.read(*seq, payload)?;
        let history = checkpoint.get("replacement_history").and_then(Value::as_array);
        Ok(history.map(|items| items.iter().filter(|item| is_said(item)).cloned().collect()))
    }

    /// Returns the messages of agents that an agent read before this request. `None` if the recording has this itself.
    pub(super) fn mail_in_request(&self, place: RequestPlace) -> Result<Option<Vec<Value>>, ReplayError> {
        if self.session.knows_mail {
            return Ok(None);
        }
        let request = self.session.request(self.exchange(place))?;
        let earlier = self.previous(place).map(|previous| self.session.request(previous)).transpose()?;
        Ok(Some(new_mail(earlier.as_ref(), &request, &self.session.tracks[place.track].path)))
    }

    /// Drops the calls of an answer that was cut off, if the agent forgot them: the next request does not contain them.
    pub(super) fn drop_forgotten_calls(&self, place: RequestPlace, answer: &mut Value) -> Result<(), ReplayError> {
        if let Some(next) = self.next_exchange(place).filter(|_| self.session.is_foreign) {
            drop_unknown_calls(answer, &self.session.request(next)?);
        }
        Ok(())
    }

    /// Returns whether a turn failed after its last recorded answer, for a reason that is not recorded: the answer contains
    /// calls, so a request should follow.
    pub(super) fn fails_unrecorded(&self, turn: &RecordedTurn) -> bool {
        let Some(last) = turn.exchanges.last().filter(|_| self.session.is_foreign) else { return false };
        let is_call = |item: &Value| item.get("type").and_then(Value::as_str).is_some_and(|kind| CALLS.contains(&kind));
        self.answer_of(last).is_ok_and(|items| items.iter().any(is_call))
    }

    /// Returns whether a turn that counts as completed in the recording failed.
    pub(super) fn is_failed(&self, turn: &RecordedTurn) -> bool {
        let end = turn.exchanges.last().and_then(|exchange| exchange.end.as_ref());
        self.session.is_foreign && (matches!(end, Some((_, ExchangeEnd::Failed { .. }))) || self.fails_unrecorded(turn))
    }
}

const CALLS: [&str; 2] = ["function_call", "custom_tool_call"];

/// Returns what identifies an item that only a compaction removes from a history. `None` for other items.
fn key(item: &Value) -> Option<(&str, String)> {
    let text = |name: &str| item.get(name).and_then(Value::as_str).map(str::to_owned);
    let kind = item.get("type")?.as_str()?;
    let key = match kind {
        "message" if !is_by_user(item) && is_said(item) => {
            Some(texts(item).concat()).filter(|text| !text.trim().is_empty())?
        }
        "agent_message" => format!("{:?} {:?}", text("author"), item.get("content")),
        _ => text("call_id")?,
    };
    Some((kind, key))
}

/// Returns whether a request lacks something that the agent had said, called or read before.
fn lacks(request: &Value, earlier: &[Value]) -> bool {
    let kept: HashSet<_> = items(request).iter().filter_map(key).collect();
    earlier.iter().filter_map(key).any(|key| !kept.contains(&key))
}

/// Drops the calls of an answer that a request does not contain.
fn drop_unknown_calls(answer: &mut Value, request: &Value) {
    let known: HashSet<_> = items(request).iter().filter_map(|item| item.get("call_id")?.as_str()).collect();
    if let Some(items) = answer.get_mut("output_items").and_then(Value::as_array_mut) {
        items.retain(|item| item.get("call_id").and_then(Value::as_str).is_none_or(|id| known.contains(id)));
    }
}

/// Returns the messages to an agent that a request has and the request before it did not have.
fn new_mail(earlier: Option<&Value>, request: &Value, path: &str) -> Vec<Value> {
    let is_mail = |item: &&Value| {
        let is = |name: &str, value: &str| item.get(name).is_some_and(|it| it == value);
        is("type", "agent_message") && is("recipient", path)
    };
    let mut known: HashMap<Option<String>, usize> = HashMap::new();
    let key = |item: &Value| key(item).map(|(_, key)| key);
    for item in earlier.map(items).unwrap_or_default().iter().filter(is_mail) {
        *known.entry(key(item)).or_default() += 1;
    }
    let is_new = |item: &&Value| match known.get_mut(&key(item)) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    };
    items(request).iter().filter(is_mail).filter(is_new).cloned().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn body(items: &[Value]) -> Value {
        json!({ "input": items })
    }

    fn message(role: &str, text: &str) -> Value {
        json!({ "type": "message", "role": role, "content": [{ "type": "input_text", "text": text }] })
    }

    fn mail(to: &str, text: &str) -> Value {
        json!({ "type": "agent_message", "author": "/root", "recipient": to, "content": [{ "text": text }] })
    }

    #[test]
    fn a_history_that_lost_what_agents_said_or_called_was_replaced() {
        let call = json!({ "type": "function_call", "call_id": "c", "name": "x" });
        let output = json!({ "type": "function_call_output", "call_id": "c", "output": "y" });
        let earlier = body(&[message("user", "a"), message("assistant", "b"), call.clone(), output.clone()]);
        let longer = body(&[message("assistant", "b"), message("user", "c"), call, output]);
        assert!(!lacks(&longer, items(&earlier)), "a user's message is no sign");
        for lost in 0..4 {
            let mut rest = items(&earlier).to_vec();
            rest.remove(lost);
            rest.push(message("user", "a summary"));
            assert_eq!(lacks(&body(&rest), items(&earlier)), lost > 0, "{lost}");
        }
        assert!(lacks(&body(&[]), &[mail("/root/a", "x")]));
    }

    #[test]
    fn calls_that_an_agent_forgot_are_not_made() {
        let call = |id: &str| json!({ "type": "function_call", "call_id": id, "name": "x" });
        let mut answer = json!({ "output_items": [message("assistant", "a"), call("kept"), call("lost")] });
        drop_unknown_calls(&mut answer, &body(&[call("kept")]));
        assert_eq!(answer, json!({ "output_items": [message("assistant", "a"), call("kept")] }));
    }

    #[test]
    fn messages_are_read_by_the_first_request_that_has_them() {
        let (task, other) = (mail("/root/a", "task"), mail("/root/b", "task"));
        let first = body(&[other.clone(), task.clone()]);
        assert_eq!(new_mail(None, &first, "/root/a"), std::slice::from_ref(&task));
        let second = body(&[other, task.clone(), task.clone(), mail("/root/a", "more")]);
        assert_eq!(new_mail(Some(&first), &second, "/root/a"), [task, mail("/root/a", "more")]);
    }
}
