//! What changed in the structure of a session that is still written.
//!
//! A page that shows the session applies the changes to what it has, instead of loading everything again. The size of
//! the changes follows what happened, however long the session is. `assets/README.md` describes their members.
//!
//! Two structures are compared, so the changes are right whatever the reducer does: a structure with its changes applied
//! equals the next one. They are small because numbers of objects and texts stay the same from one structure to the next.

use std::collections::HashMap;
use std::hash::Hash;

use serde::Serialize;
use serde_json::{Map, Value, json};
use trace_explain::Session;

use super::{Numbers, Recorder, Structure};
use crate::page::columns::Transcript;
use crate::page::strings::Strings;

/// The changes from one structure to the next. They serialize to the JSON that the page reads.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct Changes(Value);

impl Structure {
    /// Makes the structure of a newer state of the session, with the changes that lead to it. There are no changes if
    /// objects have other numbers, because a type has no more room. A page then has to load the new structure.
    pub fn next(mut self, session: &Session, recorder: Recorder) -> (Self, Option<Changes>) {
        let numbers = Numbers::following(session.trace(), Some(&self.numbers));
        let is_continued = numbers.continues(&self.numbers);
        let known_strings = self.strings.len();
        let strings = if is_continued { std::mem::replace(&mut self.strings, Strings::new()) } else { Strings::new() };
        let name = std::mem::take(&mut self.session.name);
        let next = Self::with(session, &name, recorder, numbers, strings, is_continued.then_some(&self));
        let changes = if is_continued { next.changes_since(&self, known_strings) } else { None };
        (next, changes)
    }

    /// Compares with the structure before, whose table of strings had `known_strings`.
    fn changes_since(&self, before: &Self, known_strings: usize) -> Option<Changes> {
        let mut changes = Map::new();
        let mut put = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                changes.insert(name.to_owned(), value);
            }
        };
        put("session", Some(json!(self.session)));
        put("totals", Some(json!(self.totals)));
        put("counts", Some(json!(self.numbers.counts)));
        let strings = self.strings.since(known_strings);
        put("strings", (!strings.is_empty()).then(|| json!(strings)));
        put("objects", Some(Value::Array(self.changed_objects(before)?)));
        let tables = [
            ("threads", self.threads.columns(), before.threads.columns()),
            ("turns", self.turns.columns(), before.turns.columns()),
            ("items", self.items.columns(), before.items.columns()),
            ("inferences", self.inferences.columns(), before.inferences.columns()),
            ("edges", self.edges.columns(), before.edges.columns()),
        ];
        for (name, now, before) in tables {
            put(name, table(columns(&now, &before)));
        }
        let mut tools = columns(&self.tools.columns(), &before.tools.columns());
        tools.extend(column("exit_code", &self.tools.exit_code, &before.tools.exit_code));
        put("tools", table(tools));
        put("order", (self.order != before.order).then(|| json!(self.order)));
        let replaced = |now: &Value, before: &Value| (now != before).then(|| now.clone());
        put("lost", replaced(&json!(self.lost), &json!(before.lost)));
        put("findings", replaced(&json!(self.findings), &json!(before.findings)));
        put("diagnostics", replaced(&json!(self.diagnostics), &json!(before.diagnostics)));
        put("imported", replaced(&json!(self.imported), &json!(before.imported)));
        put("lanes", some(self.changed_lanes(before)));
        put("transcripts", some(self.changed_transcripts(before)));
        put("links", list(&rows(&self.links.columns()), &rows(&before.links.columns())));
        put("uses", list(&rows(&self.uses.columns()), &rows(&before.uses.columns())));
        put("attached", list(&rows(&self.attached.columns()), &rows(&before.attached.columns())));
        put("verdicts", column("", &self.verdicts, &before.verdicts).map(|(_, value)| value));
        Some(Changes(Value::Object(changes)))
    }

    /// Returns the changed columns of objects, by type. Returns `None` if an object has another id: then its number
    /// stands for something else.
    fn changed_objects(&self, before: &Self) -> Option<Vec<Value>> {
        let (mut at, mut at_before) = (0, 0);
        let mut types = Vec::new();
        for place in 0..self.numbers.counts.len() {
            let count = self.numbers.counts[place] as usize;
            let count_before = before.numbers.counts[place] as usize;
            let ids = &self.objects.id[at..at + count];
            let ids_before = &before.objects.id[at_before..at_before + count_before];
            if ids[..count_before] != *ids_before {
                return None;
            }
            let now = self.objects.columns();
            let before = before.objects.columns();
            let mut changed: Vec<_> = column("id", ids, ids_before).into_iter().collect();
            for ((name, now), (_, before)) in now.iter().zip(&before) {
                // Payloads have only some of the columns.
                let now = now.get(at..at + count).unwrap_or_default();
                let before = before.get(at_before..at_before + count_before).unwrap_or_default();
                changed.extend(column(name, now, before));
            }
            types.push(table(changed).unwrap_or(Value::Null));
            at += count;
            at_before += count_before;
        }
        Some(types)
    }

    /// Returns the changed lanes: `[thread, changes of its bars]`.
    fn changed_lanes(&self, before: &Self) -> Vec<Value> {
        let known: HashMap<i64, _> =
            before.lanes.iter().map(|lane| (lane.thread, lane.first..lane.first + lane.count)).collect();
        let (now, then) = (self.bars.columns(), before.bars.columns());
        let part = |columns: &[(&'static str, &[i64])], range: std::ops::Range<usize>| -> Vec<Vec<i64>> {
            range.map(|row| columns.iter().map(|(_, column)| column[row]).collect()).collect()
        };
        let changed = self.lanes.iter().filter_map(|lane| {
            let bars = part(&now, lane.first..lane.first + lane.count);
            let before = known.get(&lane.thread).map(|range| part(&then, range.clone()));
            let changed = list(&bars, before.as_deref().unwrap_or_default());
            changed.or_else(|| before.is_none().then(|| json!({}))).map(|changed| json!([lane.thread, changed]))
        });
        changed.collect()
    }

    /// Returns the changed transcripts: `[thread, changes of its items]`.
    fn changed_transcripts(&self, before: &Self) -> Vec<Value> {
        let known: HashMap<i64, &Transcript> = before.transcripts.iter().map(|one| (one.thread, one)).collect();
        let changed = self.transcripts.iter().filter_map(|transcript| {
            let items = rows(&transcript.columns());
            let before = known.get(&transcript.thread).map(|one| rows(&one.columns()));
            let changed = list(&items, before.as_deref().unwrap_or_default());
            changed.or_else(|| before.is_none().then(|| json!({}))).map(|changed| json!([transcript.thread, changed]))
        });
        changed.collect()
    }
}

fn some(list: Vec<Value>) -> Option<Value> {
    (!list.is_empty()).then_some(Value::Array(list))
}

fn table(columns: Vec<(&'static str, Value)>) -> Option<Value> {
    let columns: Map<String, Value> = columns.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    (!columns.is_empty()).then_some(Value::Object(columns))
}

/// Returns the columns that changed.
fn columns(now: &[(&'static str, &[i64])], before: &[(&'static str, &[i64])]) -> Vec<(&'static str, Value)> {
    now.iter().zip(before).filter_map(|((name, now), (_, before))| column(name, now, before)).collect()
}

/// Returns the changes of a column that only grows: `set`, places and values by turns, and `add`, the values at its end.
fn column<T: PartialEq + Serialize>(name: &'static str, now: &[T], before: &[T]) -> Option<(&'static str, Value)> {
    let mut set = Vec::new();
    for (place, (now, _)) in now.iter().zip(before).enumerate().filter(|(_, (now, before))| now != before) {
        set.extend([json!(place), json!(now)]);
    }
    let add = now.get(before.len()..).unwrap_or_default();
    if set.is_empty() && add.is_empty() {
        return None;
    }
    let mut changes = Map::new();
    if !set.is_empty() {
        changes.insert("set".to_owned(), Value::Array(set));
    }
    if !add.is_empty() {
        changes.insert("add".to_owned(), json!(add));
    }
    Some((name, Value::Object(changes)))
}

/// Returns the rows of a table.
fn rows(columns: &[(&'static str, &[i64])]) -> Vec<Vec<i64>> {
    let count = columns.first().map_or(0, |(_, column)| column.len());
    (0..count).map(|row| columns.iter().map(|(_, column)| column[row]).collect()).collect()
}

/// Returns the changes of a list of rows: `drop`, places of old rows that are gone, and `put`, places and values of new
/// rows. If rows have changed their order, `all` has all of them.
fn list<T: Eq + Hash + Serialize>(now: &[T], before: &[T]) -> Option<Value> {
    // Most lists only grow at their end.
    let same = now.iter().zip(before).take_while(|(now, before)| now == before).count();
    let (rest, rest_before) = (&now[same..], &before[same..]);
    if rest.is_empty() && rest_before.is_empty() {
        return None;
    }
    let mut left: HashMap<&T, usize> = HashMap::new();
    for row in rest {
        *left.entry(row).or_default() += 1;
    }
    let mut drop = Vec::new();
    let mut kept = Vec::new();
    for (place, row) in rest_before.iter().enumerate() {
        match left.get_mut(row) {
            Some(count) if *count > 0 => {
                *count -= 1;
                kept.push(row);
            }
            _ => drop.push(same + place),
        }
    }
    let mut put = Vec::new();
    let mut kept = kept.into_iter().peekable();
    for (place, row) in rest.iter().enumerate() {
        match kept.next_if(|kept| *kept == row) {
            Some(_) => {}
            None => put.push(json!([same + place, row])),
        }
    }
    if kept.next().is_some() {
        return Some(json!({ "all": now }));
    }
    let mut changes = Map::new();
    if !drop.is_empty() {
        changes.insert("drop".to_owned(), json!(drop));
    }
    if !put.is_empty() {
        changes.insert("put".to_owned(), Value::Array(put));
    }
    Some(Value::Object(changes))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;

    /// Applies changes as the page does.
    fn apply(structure: &mut Value, changes: &Value) {
        for name in ["session", "totals", "order", "lost", "findings", "diagnostics", "imported"] {
            if let Some(value) = changes.get(name) {
                structure[name] = value.clone();
            }
        }
        extend(&mut structure["strings"], &changes["strings"]);
        let mut offset = 0;
        for (place, of_type) in changes["objects"].as_array().expect("types").iter().enumerate() {
            let count = structure["types"][place]["count"].as_u64().expect("a count") as usize;
            for (name, changed) in of_type.as_object().into_iter().flatten() {
                let cells = structure["objects"][name].as_array_mut().expect("a column");
                let tail = cells.split_off(offset + count);
                let mut part = Value::Array(cells.split_off(offset));
                grow(&mut part, changed);
                cells.extend(part.as_array().cloned().into_iter().flatten());
                cells.extend(tail);
            }
            offset += changes["counts"][place].as_u64().expect("a count") as usize;
            structure["types"][place]["count"] = changes["counts"][place].clone();
        }
        for name in ["threads", "turns", "items", "inferences", "tools", "edges"] {
            for (column, changed) in changes[name].as_object().into_iter().flatten() {
                grow(&mut structure[name][column], changed);
            }
        }
        if let Some(changed) = changes.get("verdicts") {
            grow(&mut structure["verdicts"], changed);
        }
        for (name, columns) in [
            ("links", &["from", "to", "relation", "at"][..]),
            ("uses", &["object", "payload"]),
            ("attached", &["item", "tool"]),
        ] {
            let rows = patched(rows_of(&structure[name], columns), &changes[name]);
            set_rows(&mut structure[name], columns, &rows);
        }
        apply_lanes(structure, changes);
        apply_transcripts(structure, changes);
    }

    fn apply_lanes(structure: &mut Value, changes: &Value) {
        let columns = ["object", "work", "start", "end", "inside"];
        let all = rows_of(&structure["bars"], &columns);
        let range = |lane: &Value| {
            let first = lane["first"].as_u64().expect("a number") as usize;
            first..first + lane["count"].as_u64().expect("a number") as usize
        };
        let mut lanes: HashMap<i64, Vec<Value>> = structure["lanes"]
            .as_array()
            .expect("lanes")
            .iter()
            .map(|lane| (lane["thread"].as_i64().expect("a number"), all[range(lane)].to_vec()))
            .collect();
        for changed in changes["lanes"].as_array().into_iter().flatten() {
            let bars = lanes.entry(changed[0].as_i64().expect("a number")).or_default();
            *bars = patched(std::mem::take(bars), &changed[1]);
        }
        let (mut flat, mut made) = (Vec::new(), Vec::new());
        for thread in structure["order"].as_array().expect("the order") {
            let bars = &lanes[&thread.as_i64().expect("a number")];
            made.push(json!({ "thread": thread, "first": flat.len(), "count": bars.len() }));
            flat.extend(bars.iter().cloned());
        }
        set_rows(&mut structure["bars"], &columns, &flat);
        structure["lanes"] = Value::Array(made);
    }

    fn apply_transcripts(structure: &mut Value, changes: &Value) {
        let columns = ["items", "marks"];
        let mut known: HashMap<i64, Vec<Value>> = structure["transcripts"]
            .as_array()
            .expect("transcripts")
            .iter()
            .map(|one| (one["thread"].as_i64().expect("a number"), rows_of(one, &columns)))
            .collect();
        for changed in changes["transcripts"].as_array().into_iter().flatten() {
            let items = known.entry(changed[0].as_i64().expect("a number")).or_default();
            *items = patched(std::mem::take(items), &changed[1]);
        }
        let made = structure["order"].as_array().expect("the order").iter().map(|thread| {
            let mut one = json!({ "thread": thread });
            set_rows(&mut one, &columns, &known[&thread.as_i64().expect("a number")]);
            one
        });
        structure["transcripts"] = Value::Array(made.collect());
    }

    fn extend(list: &mut Value, more: &Value) {
        list.as_array_mut().expect("a list").extend(more.as_array().cloned().unwrap_or_default());
    }

    fn grow(column: &mut Value, changes: &Value) {
        let set = changes["set"].as_array().cloned().unwrap_or_default();
        for pair in set.chunks(2) {
            column[pair[0].as_u64().expect("a place") as usize] = pair[1].clone();
        }
        extend(column, &changes["add"]);
    }

    fn rows_of(table: &Value, columns: &[&str]) -> Vec<Value> {
        let count = table[columns[0]].as_array().expect("a column").len();
        (0..count).map(|row| columns.iter().map(|name| table[*name][row].clone()).collect()).collect()
    }

    fn set_rows(table: &mut Value, columns: &[&str], rows: &[Value]) {
        for (place, name) in columns.iter().enumerate() {
            table[*name] = rows.iter().map(|row| row[place].clone()).collect();
        }
    }

    fn patched(mut rows: Vec<Value>, changes: &Value) -> Vec<Value> {
        if let Some(all) = changes.get("all") {
            return all.as_array().expect("rows").clone();
        }
        for place in changes["drop"].as_array().into_iter().flatten().rev() {
            rows.remove(place.as_u64().expect("a place") as usize);
        }
        for put in changes["put"].as_array().into_iter().flatten() {
            rows.insert(put[0].as_u64().expect("a place") as usize, put[1].clone());
        }
        rows
    }

    /// Cuts the log of a bundle after some lines, and returns the sessions of all these states.
    fn states(bundle: &Path, every: usize) -> Vec<(tempfile::TempDir, Session)> {
        let log = std::fs::read_to_string(bundle.join("trace.jsonl")).expect("a log");
        let lines: Vec<&str> = log.split_inclusive('\n').collect();
        let cuts = (1..lines.len()).step_by(every).chain([lines.len()]);
        cuts.map(|cut| {
            let place = tempfile::tempdir().expect("a directory");
            for file in walk(bundle) {
                let to = place.path().join(file.strip_prefix(bundle).expect("below"));
                std::fs::create_dir_all(to.parent().expect("a parent")).expect("creates");
                std::fs::copy(&file, to).expect("copies");
            }
            std::fs::write(place.path().join("trace.jsonl"), lines[..cut].concat()).expect("writes");
            let session = Session::open(place.path()).expect("a bundle");
            (place, session)
        })
        .collect()
    }

    fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
        let entries = std::fs::read_dir(folder).expect("lists").map(|entry| entry.expect("an entry").path());
        entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
    }

    fn assert_changes_lead_to_the_next(bundle: &Path, every: usize) -> usize {
        let states = states(bundle, every);
        let mut structure = Structure::following(&states[0].1, "a session", Recorder::AtWork);
        let mut page = serde_json::to_value(&structure).expect("serializes");
        let mut renumbered = 0;
        for (_, session) in &states[1..] {
            // At the end, the recorder leaves.
            let recorder = if session.trace().recording_complete { Recorder::Gone } else { Recorder::AtWork };
            let (next, changes) = structure.next(session, recorder);
            let wanted = serde_json::to_value(&next).expect("serializes");
            match changes {
                Some(Changes(changes)) => apply(&mut page, &changes),
                None => {
                    renumbered += 1;
                    page = wanted.clone();
                }
            }
            for (name, value) in wanted.as_object().expect("members") {
                assert!(page[name] == *value, "{name}: {} instead of {value}", page[name]);
            }
            structure = next;
        }
        renumbered
    }

    #[test]
    fn a_structure_with_its_changes_is_the_next_one() {
        let place = tempfile::tempdir().expect("a directory");
        let path = |name: &str| place.path().join(name);
        trace_samples::scenes::one_agent(&path("one")).expect("a sample");
        trace_samples::scenes::three_children(&path("three")).expect("a sample");
        trace_samples::scenes::damaged(&path("damaged")).expect("a sample");
        trace_samples::hostile::record(&path("hostile")).expect("a sample");
        for (name, every) in [("one", 1), ("three", 3), ("damaged", 5), ("hostile", 7)] {
            assert_changes_lead_to_the_next(&path(name), every);
        }
    }

    #[test]
    fn numbers_change_only_if_there_is_no_more_room() {
        let place = tempfile::tempdir().expect("a directory");
        let bundle = place.path().join("fleet");
        trace_samples::bench::generate(&bundle, &trace_samples::bench::Shape::fleet(12, 8)).expect("a sample");
        let renumbered = assert_changes_lead_to_the_next(&bundle, 97);
        assert!((1..=3).contains(&renumbered), "{renumbered} times");
    }

    #[test]
    fn changes_are_as_small_as_what_happened() {
        let place = tempfile::tempdir().expect("a directory");
        let bundle = place.path().join("fleet");
        trace_samples::bench::generate(&bundle, &trace_samples::bench::Shape::fleet(12, 8)).expect("a sample");
        let log = std::fs::read_to_string(bundle.join("trace.jsonl")).expect("a log");
        let lines: Vec<&str> = log.split_inclusive('\n').collect();
        let at = |lines: &[&str]| {
            std::fs::write(bundle.join("trace.jsonl"), lines.concat()).expect("writes");
            Session::open(&bundle).expect("a bundle")
        };
        let structure = Structure::following(&at(&lines[..lines.len() / 2]), "fleet", Recorder::AtWork);
        let whole = serde_json::to_string(&structure).expect("serializes").len();
        let (_, changes) = structure.next(&at(&lines[..lines.len() / 2 + 5]), Recorder::AtWork);
        let changes = serde_json::to_string(&changes.expect("there is room")).expect("serializes").len();
        assert!(changes * 20 < whole, "{changes} of {whole} bytes");
    }

    proptest! {
        #[test]
        fn any_list_becomes_any_other(before in prop::collection::vec(0_u8..6, 0..12), now in prop::collection::vec(0_u8..6, 0..12)) {
            let values = |list: &[u8]| list.iter().map(|value| json!(value)).collect::<Vec<_>>();
            let changes = list(&now, &before).unwrap_or_default();
            prop_assert_eq!(patched(values(&before), &changes), values(&now));
        }
    }
}
