//! `why`: where a text came from, how it travelled, and what followed.

use serde_json::{Value, json};
use trace_explain::object::ObjectRef;
use trace_explain::why::{Followed, Hop, Needle, SeenBy, object_text, why};
use trace_explain::words;

use super::asked::{Asked, Subject, subject};
use super::filling::{Filling, Place, end};
use super::row::{number, object, text};
use crate::answer::Page;
use crate::arguments::Arguments;
use crate::problem::Problem;

const NARROW: &str = "a longer text, which fewer places have";

pub(super) fn answer(asked: &Asked, arguments: Arguments<'_>) -> Result<Value, Problem> {
    arguments.required("session")?;
    let name = arguments.text("object")?.map(|name| {
        name.parse::<ObjectRef>().map_err(|error| Problem::new(error).with_hint("answers name objects in this form"))
    });
    let name = name.transpose()?;
    let needle = match (arguments.text("text")?, &name) {
        (Some(text), None) => Some(Needle::new(text).map_err(Problem::new)?),
        (None, Some(_)) => None,
        _ => return Err(Problem::new("`why` needs either `text` or `object`")),
    };
    let subject: Subject<Place> = subject(asked, "why", arguments)?;
    let session = &*subject.session;
    let needle = match (needle, &name) {
        (Some(needle), _) => needle,
        (None, Some(name)) => {
            let of_object = object_text(session, name).map_err(|error| {
                Problem::new(error).with_hint("postmortem, grep and why name objects; threads and turns have no text")
            })?;
            Needle::new(&of_object).map_err(Problem::new)?
        }
        (None, None) => return Err(Problem::new("`why` needs either `text` or `object`")),
    };
    let answer = why(session, &needle);
    let mut page = Page::new(&asked.redactor);
    page.head("session", json!(subject.entry.id), |id| format!("session {}", id.as_str().unwrap_or_default()));
    page.head("text", json!(answer.text), |text| format!("text: {}", text.as_str().unwrap_or_default()));
    let origin = answer.origin.as_ref().map_or(Value::Null, |origin| {
        json!({
            "kind": origin.kind.as_str(),
            "object": origin.object.to_string(),
            "agent": origin.agent_path,
            "seq": origin.seq,
        })
    });
    page.head("origin", origin, |origin| match origin {
        Value::Null => "origin: nowhere. No model saw this text, and no tool took or printed it".to_owned(),
        _ => format!("origin: {} of {}, {}", text(origin, "kind"), text(origin, "agent"), text(origin, "object")),
    });
    let counts = json!({
        "path": answer.path.len(),
        "seen_by": answer.seen_by.len(),
        "followed_by": answer.followed_by.len(),
        "unread_payloads": answer.unread_payloads,
    });
    page.head("counts", counts, |counts| {
        let unread = match number(counts, "unread_payloads") {
            0 => String::new(),
            unread => format!("; {} could not be searched", words::count(unread, "payload")),
        };
        let seen = words::count(number(counts, "seen_by"), "inference call");
        format!("seen by {seen}, followed by {}{unread}", words::count(number(counts, "followed_by"), "tool call"))
    });
    let mut filling = Filling::new(&mut page, subject.place);
    let id = |hop: &&Hop| (hop.object.to_string(), hop.seq, hop.way.as_str());
    filling.list("path", &answer.path, id, |hop| hop_row(hop), hop_line);
    filling.list("followed_by", &answer.followed_by, |it| it.tool_call_id.clone(), |it| followed(it), followed_line);
    filling.list("seen_by", &answer.seen_by, |it| it.inference_call_id.clone(), |it| seen(it), seen_line);
    let next = filling.next()?;
    Ok(end(page, &subject, next, NARROW))
}

fn hop_row(hop: &Hop) -> Value {
    json!({
        "agent": hop.agent_path,
        "way": hop.way.as_str(),
        "form": hop.form.as_str(),
        "object": hop.object.to_string(),
        "seq": hop.seq,
    })
}

fn hop_line(row: &Value) -> String {
    format!("{} {} {} (seq {})", text(row, "agent"), text(row, "way"), text(row, "object"), number(row, "seq"))
}

fn followed(followed: &Followed) -> Value {
    object([
        ("tool", json!(followed.tool)),
        ("object", json!(ObjectRef { kind: "tool_call".to_owned(), id: followed.tool_call_id.clone() }.to_string())),
        ("agent", json!(followed.agent_path)),
        ("seq", json!(followed.seq)),
    ])
}

fn followed_line(row: &Value) -> String {
    format!("then {} called {} {}", text(row, "agent"), text(row, "tool"), text(row, "object"))
}

fn seen(seen: &SeenBy) -> Value {
    json!({"inference_call": seen.inference_call_id, "form": seen.form.as_str(), "seq": seen.seq})
}

fn seen_line(row: &Value) -> String {
    format!("seen by {} (seq {})", text(row, "inference_call"), number(row, "seq"))
}
