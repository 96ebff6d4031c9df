//! `context`: what the model saw in one request, item by item, or the whole text of one item.

use serde_json::{Value, json};
use trace_explain::Session;
use trace_explain::context::answer::{Item, Request};
use trace_explain::context::{self, Against, ContextError, Texts};
use trace_explain::words;
use trace_reducer::model::{InferenceIdx, ThreadIdx};
use trace_text::Usage;
use xxhash_rust::xxh3::xxh3_64;

use super::asked::{Asked, Subject, subject};
use super::filling::{Filling, Place, end};
use super::row::{number, object, share, text};
use crate::answer::Page;
use crate::arguments::Arguments;
use crate::problem::Problem;

/// Agents that an error names.
const NAMED_AGENTS: usize = 8;

/// Most sums by origin.
const SUMS: usize = 12;

/// Names the last request.
const LAST: &str = "last";

const NARROW: &str = "item=N for the whole text of one item";

/// Where an answer goes on: in the list of items, or behind a byte of the text of one. The number is that of the request, since
/// another one may be the last by now.
#[derive(serde::Serialize, serde::Deserialize)]
enum At {
    Items(u64, Place),
    Text(u64, usize),
}

pub(super) fn answer(asked: &Asked, arguments: Arguments<'_>) -> Result<Value, Problem> {
    arguments.required("session")?;
    let item = arguments.number("item", 0..=u64::MAX)?;
    let subject: Subject<At> = subject(asked, "context", arguments)?;
    let session = &*subject.session;
    let inference = match subject.place {
        Some(At::Items(key, _) | At::Text(key, _)) => with_key(session, key)?,
        None => find(session, arguments.text("agent")?, arguments.word("request")?.as_deref())?,
    };
    let key = key(session, inference);
    let request = context::request(session, inference, Texts::Whole, Against::Nothing);
    let mut page = Page::new(&asked.redactor);
    page.head("session", json!(subject.entry.id), |id| format!("session {}", id.as_str().unwrap_or_default()));
    page.head("request", request_head(&request), request_line);
    match (item, &subject.place) {
        (Some(index), place) => {
            let from = if let Some(At::Text(_, from)) = place { *from } else { 0 };
            let item = usize::try_from(index).ok().and_then(|index| request.items.get(index)).ok_or_else(|| {
                Problem::new(format!("the request has no item {index}"))
                    .with_hint(format!("it has {}, numbered from 0", words::count(request.items.len() as u64, "item")))
            })?;
            match whole(asked, &mut page, item, from)? {
                Some(next) => {
                    Ok(page.end_at(subject.cursors.write(&(subject.entry.key(), At::Text(key, next))), NARROW))
                }
                None => Ok(page.end()),
            }
        }
        (None, place) => {
            let begin = if let Some(At::Items(_, place)) = place { Some(*place) } else { None };
            if begin.is_none() {
                let sums: Vec<Value> = request.sums.iter().take(SUMS).map(sum).collect();
                page.head("sums", sums.into(), |_| String::new());
                if !request.missing.is_empty() {
                    page.head("missing", json!(request.missing), |_| String::new());
                }
            }
            let mut filling = Filling::new(&mut page, begin);
            filling.list("items", &request.items, |item| item.index, item_row, item_line);
            let next = filling.next()?.map(|place| At::Items(key, place));
            match next {
                Some(at) => Ok(page.end_at(subject.cursors.write(&(subject.entry.key(), at)), NARROW)),
                None => Ok(end(page, &subject, None, NARROW)),
            }
        }
    }
}

/// Adds as much of an item's text as fits, from a byte on. Returns the byte at which it goes on.
fn whole(asked: &Asked, page: &mut Page, item: &Item, from: usize) -> Result<Option<usize>, Problem> {
    let mut head = item_row(&item);
    head["text"] = Value::Null;
    let text = asked.redactor.redacted(json!(item.text));
    let text = text.as_str().unwrap_or_default();
    head["text_bytes"] = json!(text.len());
    if let Some(members) = head.as_object_mut() {
        members.retain(|_, value| !value.is_null());
    }
    page.head("item", head, |_| String::new());
    let rest = text.get(from..).ok_or_else(|| {
        Problem::new("the item has changed since the call that gave the cursor")
            .with_hint("repeat the call without `cursor`")
    })?;
    let shown = fitting(rest, page.room_for_text());
    page.whole_text("text", shown);
    let next = from + shown.len();
    Ok((next < text.len()).then_some(next))
}

/// Returns the beginning of a text that takes at most so many bytes as a string of JSON. It ends behind a line if it can.
fn fitting(text: &str, bytes: usize) -> &str {
    let mut taken = 0;
    let mut end = text.len();
    for (at, c) in text.char_indices() {
        taken += match c {
            '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
            c if c.is_control() && c.is_ascii() && c != '\u{7f}' => 6,
            c => c.len_utf8(),
        };
        if taken > bytes {
            end = at;
            break;
        }
    }
    let fits = &text[..end];
    match fits.rfind('\n') {
        Some(line) if end < text.len() && line > end / 2 => &fits[..=line],
        _ => fits,
    }
}

/// Finds the request that a call names.
fn find(session: &Session, agent: Option<&str>, request: Option<&str>) -> Result<InferenceIdx, Problem> {
    let trace = session.trace();
    let thread = agent.map(|agent| thread(session, agent)).transpose()?;
    let mut of_thread = trace.inferences.iter().filter(|(_, call)| thread.is_none_or(|thread| call.thread == thread));
    let none = || {
        Problem::new(match agent {
            Some(agent) => format!("{} sent no request to a model", trace_text::quoted(agent, 80)),
            None => "the session has no request to a model".to_owned(),
        })
    };
    match request.unwrap_or(LAST) {
        LAST => of_thread.next_back().map(|(inference, _)| inference).ok_or_else(none),
        number if number.bytes().all(|byte| byte.is_ascii_digit()) && !number.is_empty() => {
            // Without an agent, the number is one of the root's, whose thread began the session.
            let root = trace.threads.iter().find(|(_, thread)| thread.id == trace.root_thread_id).map(|(root, _)| root);
            let thread = thread.or(root);
            let calls: Vec<InferenceIdx> = trace
                .inferences
                .iter()
                .filter(|(_, call)| thread.is_none_or(|thread| call.thread == thread))
                .map(|(inference, _)| inference)
                .collect();
            let found = number.parse::<usize>().ok().and_then(|number| calls.get(number.checked_sub(1)?));
            found.copied().ok_or_else(|| match calls.len() {
                0 => none(),
                len => Problem::new(format!("there is no request {}", trace_text::cut(number, 20)))
                    .with_hint(format!("the agent has requests 1 to {len}")),
            })
        }
        id => context::find_inference(trace, id).map_err(|error| not_found(&error)),
    }
}

fn not_found(error: &ContextError) -> Problem {
    let problem = Problem::new(error);
    match error {
        ContextError::Unknown { suggestions, .. } | ContextError::Ambiguous { suggestions, .. } => {
            problem.with_hint(format!("`request` is a number, `{LAST}`, or an id such as {}", suggestions.join(", ")))
        }
        ContextError::NoRequest { .. } => problem,
    }
}

fn thread(session: &Session, agent: &str) -> Result<ThreadIdx, Problem> {
    let trace = session.trace();
    let is_it =
        |thread: &ThreadIdx| session.agent_path(*thread) == agent || trace.text(trace.threads[*thread].id) == agent;
    trace.threads.handles().find(is_it).ok_or_else(|| {
        let paths: Vec<&str> = trace.threads.handles().take(NAMED_AGENTS).map(|it| session.agent_path(it)).collect();
        Problem::new(format!("the session has no agent {}", trace_text::quoted(agent, 80)))
            .with_hint(format!("it has {}; `overview` lists all", paths.join(", ")))
    })
}

fn key(session: &Session, inference: InferenceIdx) -> u64 {
    let trace = session.trace();
    xxh3_64(trace.text(trace.inferences[inference].id).as_bytes())
}

fn with_key(session: &Session, wanted: u64) -> Result<InferenceIdx, Problem> {
    let found = session.trace().inferences.handles().find(|inference| key(session, *inference) == wanted);
    found.ok_or_else(|| {
        Problem::new("the request that the cursor is of is gone").with_hint("repeat the call without `cursor`")
    })
}

fn request_head(request: &Request) -> Value {
    let beside = request.beside.as_ref();
    object([
        ("inference_call", json!(request.inference_call_id)),
        ("agent", json!(request.agent_path)),
        ("turn", json!(request.turn_id)),
        ("seq", json!(request.seq)),
        ("number", json!(request.number)),
        ("of", json!(request.of)),
        ("model", json!(request.model)),
        ("status", json!(request.status)),
        ("error", json!(request.error)),
        ("tokens", json!(request.tokens)),
        ("items", json!(request.items.len())),
        ("tools", json!(beside.map(|beside| beside.tools.len()))),
        ("instructions_bytes", json!(beside.and_then(|beside| Some(beside.instructions.as_ref()?.bytes)))),
    ])
}

fn request_line(request: &Value) -> String {
    format!(
        "request {} of {} of {} to {}: {}, {}, {} tokens{}",
        number(request, "number"),
        number(request, "of"),
        text(request, "agent"),
        text(request, "model"),
        text(request, "status"),
        words::count(number(request, "items"), "item"),
        words::number(number(&request["tokens"], "input")),
        request["error"].as_str().map(|error| format!("; error: {error}")).unwrap_or_default(),
    )
}

fn sum(sum: &context::answer::Sum) -> Value {
    json!({"what": sum.what, "count": sum.count, "tokens": sum.tokens, "share": share(sum.share)})
}

fn item_row(item: &&Item) -> Value {
    object([
        ("index", json!(item.index)),
        ("kind", json!(item.kind)),
        ("role", json!(item.role)),
        ("name", json!(item.name)),
        ("origin", json!(item.origin.kind.as_str())),
        ("object", json!(item.origin.object.as_ref().map(ToString::to_string))),
        ("from_agent", json!(item.origin.agent_path)),
        ("item_id", json!(item.item_id)),
        ("since_request", json!(item.since.as_ref().map(|since| since.number))),
        ("tokens", json!(item.tokens)),
        ("share", json!(share(item.share))),
        ("text_bytes", json!(item.text_bytes)),
        ("text", json!(item.text)),
    ])
}

fn item_line(row: &Value) -> String {
    let percent = row["share"].as_f64().unwrap_or_default() * 100.0;
    format!(
        "{} {} {} {percent:.1} %: {}",
        number(row, "index"),
        text(row, "kind"),
        text(row, "origin"),
        trace_text::preview(text(row, "text"), Usage::Prose, 120),
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_part_of_a_text_fits(text in "\\PC{0,40}[\\x00-\\x7f\n]{0,200}", bytes in 8usize..200) {
            let part = fitting(&text, bytes);
            prop_assert!(text.starts_with(part));
            prop_assert!(!part.is_empty() || text.is_empty(), "each page goes on");
            prop_assert!(serde_json::to_string(part).expect("is written").len() - 2 <= bytes);
        }
    }

    #[test]
    fn a_part_ends_behind_a_line() {
        assert_eq!(fitting("one\ntwo\nthree", 12), "one\ntwo\n");
        assert_eq!(fitting("one\ntwo", 80), "one\ntwo");
        assert_eq!(fitting("a\nbbbbbbbbbbbb", 9), "a\nbbbbbb");
    }
}
