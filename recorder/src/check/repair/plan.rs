//! Decides what a repair changes, without changing anything.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{self, Read};
use std::path::Path;

use serde_json::{Map, Value};

use super::change::{Change, Changes};
use super::error::{RepairError, at};
use super::gaps::{GapLine, LostPayloads, tell_gaps};
use super::line::{Kept, KeptReference};
use super::numbers::PayloadNumbers;
use crate::bundle::{Bundle, BundleError, MAX_MANIFEST_BYTES};
use crate::check::log::BATCH_LINES;
use crate::check::payloads::{PayloadDamage, look_at_payloads, payload_number};
use crate::check::stand_in::{Loss, ToolKinds, document};
use crate::format::{EVENT_LOG_FILE, EventPayload, MANIFEST_FILE, Manifest, PAYLOADS_DIR, SchemaVersion, Text};
use crate::log::{EventLog, Line, ParsedLine, parse_lines};
use crate::manifest_from_log;
use crate::recording::read_recording;

/// State of `recorder.json` in a bundle without an active recorder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecorderFile {
    /// Its recorder died, or its content is not valid.
    Stale,
    /// The file does not exist or is to be kept.
    Fine,
}

impl RecorderFile {
    /// Reads the file. The caller has checked that no recorder is active.
    pub(super) fn look(directory: &Path) -> Self {
        let is_stale = match read_recording(directory) {
            Ok(recording) => recording.is_some_and(|recording| recording.stopped.is_none()),
            Err(error) => matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof),
        };
        if is_stale { Self::Stale } else { Self::Fine }
    }
}

/// All changes of a repair.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    pub(super) changes: Changes,
    pub(super) manifest: Option<Manifest>,
    pub(super) lines: Vec<Kept<'a>>,
    pub(super) log_changes: bool,
    /// Events to insert between the lines, in their order.
    pub(super) gaps: Vec<GapLine>,
    /// Number of lost events behind the last line that is kept. [`Kept::lost_before`] counts those before the other lines.
    lost_at_end: u64,
    /// Greatest number in a payload id.
    last_payload_id: u64,
    /// Replacements of existing or missing payload files, by path.
    pub(super) payloads: BTreeMap<String, Vec<u8>>,
    /// Payload files to add, by path.
    pub(super) new_payloads: BTreeMap<String, Vec<u8>>,
    pub(super) makes_payload_dir: bool,
    pub(super) removes_recorder_file: bool,
}

impl<'a> Plan<'a> {
    pub(super) fn new(bundle: &'a Bundle, recorder_file: RecorderFile) -> Result<Self, RepairError> {
        let mut plan = Self {
            changes: Changes::default(),
            manifest: None,
            lines: Vec::new(),
            log_changes: false,
            gaps: Vec::new(),
            lost_at_end: 0,
            last_payload_id: 0,
            payloads: BTreeMap::new(),
            new_payloads: BTreeMap::new(),
            makes_payload_dir: !bundle.path().join(PAYLOADS_DIR).is_dir(),
            removes_recorder_file: false,
        };
        let log = match bundle.log() {
            Ok(log) => Some(log),
            Err(error) if error.is_missing() => {
                plan.changes.push(Change::LogCreated);
                plan.log_changes = true;
                None
            }
            Err(BundleError::Io { path, source }) => {
                return Err(at(path)(io::Error::new(source.kind(), source.to_string())));
            }
            Err(_) => return Err(RepairError::Odd { path: bundle.path().join(EVENT_LOG_FILE) }),
        };
        let mut manifest = Self::look_at_manifest(bundle, log);
        if let Err(schema) = manifest.schema_version.check_readable() {
            return Err(RepairError::UnknownSchema { path: bundle.path().to_owned(), schema });
        }
        if let Some(log) = log {
            let schema = manifest.schema_version;
            let kinds = plan.look_at_lines(log, &mut manifest);
            if schema >= SchemaVersion::V2 {
                plan.put_in_order();
                plan.cut_behind_end();
            }
            plan.mend(bundle, &kinds, &manifest);
            if schema >= SchemaVersion::V2 {
                plan.renumber();
            }
            plan.log_changes |= plan.lines.iter().any(|kept| !kept.edit.is_empty() || !kept.line.terminated);
            if let Some(last) = plan.lines.last().filter(|kept| !kept.line.terminated) {
                plan.changes.push(Change::TailEnded { line: last.line.number });
            }
        }
        if bundle.manifest().ok() != Some(&manifest) && !manifest.rollout_id.is_empty() {
            plan.changes.push(Change::ManifestRebuilt);
            plan.manifest = Some(manifest);
        }
        if plan.makes_payload_dir {
            plan.changes.push(Change::PayloadsCreated);
        }
        if recorder_file == RecorderFile::Stale {
            plan.removes_recorder_file = true;
            plan.changes.push(Change::RecorderFileRemoved);
        }
        Ok(plan)
    }

    /// Returns the manifest of the bundle. If it is damaged or missing, it is rebuilt as far as possible.
    fn look_at_manifest(bundle: &Bundle, log: Option<&EventLog>) -> Manifest {
        if let Ok(manifest) = bundle.manifest() {
            return manifest.clone();
        }
        let told = log.map_or_else(|| Manifest::new("", "", "", 0), manifest_from_log);
        salvage_manifest(bundle.path(), told)
    }

    /// Collects the lines to keep, and returns the tool kinds of the log.
    fn look_at_lines(&mut self, log: &'a EventLog, manifest: &mut Manifest) -> ToolKinds<'a> {
        let is_v1 = manifest.schema_version == SchemaVersion::V1;
        let mut kinds = ToolKinds::new();
        let mut first_rollout: Option<Text<'a>> = None;
        let mut is_one_rollout = true;
        let mut lines = log.lines();
        loop {
            let batch: Vec<Line<'a>> = lines.by_ref().take(BATCH_LINES).collect();
            if batch.is_empty() {
                break;
            }
            for ParsedLine { line, event, .. } in parse_lines(&batch) {
                let event = match event {
                    Ok(Some(event)) => event,
                    // Blank lines have no meaning. They disappear if the log is rewritten for another reason.
                    Ok(None) => continue,
                    Err(error) => {
                        self.changes.push(if !line.terminated && error.is_cut() {
                            Change::TailCut { line: line.number, bytes: line.bytes.len() as u64 }
                        } else {
                            Change::LineRemoved { line: line.number }
                        });
                        self.log_changes = true;
                        // The recorder never acknowledged an event without a line feed, so that event does not count as
                        // lost.
                        self.lost_at_end += u64::from(line.terminated);
                        continue;
                    }
                };
                let rollout = first_rollout.get_or_insert_with(|| event.rollout_id.clone());
                is_one_rollout &= *rollout == event.rollout_id;
                note_kind(&mut kinds, &event.payload, is_v1);
                let ids =
                    event.payload.payload_refs().iter().filter_map(|reference| payload_id(&reference.raw_payload_id));
                self.last_payload_id = ids.fold(self.last_payload_id, u64::max);
                let mut kept = Kept::event(line, &event);
                kept.lost_before = std::mem::take(&mut self.lost_at_end);
                if !is_v1 {
                    kept.is_foreign = event.rollout_id != manifest.rollout_id.as_str();
                    if event.schema_version != manifest.schema_version {
                        kept.edit.schema = Some(manifest.schema_version);
                    }
                }
                self.lines.push(kept);
            }
        }
        self.settle_schema();
        self.settle_rollout(first_rollout.filter(|_| is_one_rollout), manifest);
        kinds
    }

    /// Decides about the schema numbers of events. If all events have another schema than the manifest, they keep it,
    /// because nothing shows which of the two is wrong. Otherwise the events with another schema get that of the manifest.
    fn settle_schema(&mut self) {
        let are_all_other = self.lines.iter().all(|kept| kept.edit.schema.is_some());
        for kept in &mut self.lines {
            if are_all_other {
                kept.edit.schema = None;
            } else if kept.edit.schema.is_some() {
                self.changes.push(Change::SchemaSet { line: kept.line.number });
            }
        }
    }

    /// Removes events of other rollouts. But if all events have the same rollout, the manifest is wrong and gets their id.
    fn settle_rollout(&mut self, only_rollout: Option<Text<'a>>, manifest: &mut Manifest) {
        if !self.lines.iter().any(|kept| kept.is_foreign) {
            return;
        }
        if let Some(rollout) = only_rollout {
            manifest.rollout_id = rollout.to_string();
            return;
        }
        self.remove_lines(|kept| kept.is_foreign.then_some(Change::ForeignEventRemoved { line: kept.line.number }));
    }

    /// Removes the lines for which `why` returns a change.
    fn remove_lines(&mut self, mut why: impl FnMut(&Kept<'a>) -> Option<Change>) {
        let changes = &mut self.changes;
        let before = self.lines.len();
        let mut lost = 0;
        self.lines.retain_mut(|kept| match why(kept) {
            Some(change) => {
                lost += kept.lost_before + u64::from(change.loses_event());
                changes.push(change);
                false
            }
            None => {
                kept.lost_before += std::mem::take(&mut lost);
                true
            }
        });
        self.lost_at_end += lost;
        self.log_changes |= self.lines.len() != before;
    }

    /// Sorts events by their numbers if they are out of order, and removes events that repeat another one.
    fn put_in_order(&mut self) {
        let numbers: Vec<u64> = self.lines.iter().map(|kept| kept.seq).collect();
        if numbers.windows(2).all(|pair| pair[0] < pair[1]) {
            return;
        }
        if numbers.windows(2).any(|pair| pair[0] > pair[1]) {
            self.lines.sort_by_key(|kept| kept.seq);
            self.changes.push(Change::EventsSorted);
            self.log_changes = true;
        }
        let mut group: Vec<Line<'a>> = Vec::new();
        let mut group_seq = None;
        self.remove_lines(|kept| {
            if group_seq != Some(kept.seq) {
                group_seq = Some(kept.seq);
                group.clear();
            }
            let is_repeated = group.iter().any(|first| says_the_same(*first, kept.line));
            // In a malicious bundle many events can have the same number. The limit keeps the comparison from becoming
            // slow.
            if !is_repeated && group.len() < MAX_COMPARED_EVENTS {
                group.push(kept.line);
            }
            is_repeated.then_some(Change::RepeatedEventRemoved { line: kept.line.number })
        });
    }

    /// Removes the lines behind the end of the recording.
    fn cut_behind_end(&mut self) {
        let mut is_closed = false;
        self.remove_lines(|kept| {
            let is_late = is_closed;
            is_closed |= kept.is_end;
            is_late.then_some(Change::LateEventRemoved { line: kept.line.number })
        });
        if is_closed {
            self.lost_at_end = 0;
        }
    }

    /// Decides what to do about references to lost payloads, and which gap events to add.
    fn mend(&mut self, bundle: &Bundle, kinds: &ToolKinds<'a>, manifest: &Manifest) {
        let mut numbers = None;
        let lost_payloads = self.make_up_for_payloads(bundle, kinds, &mut numbers);
        let numbers = || numbers.unwrap_or_else(|| self.payload_numbers(bundle));
        self.gaps = tell_gaps(&self.lines, self.lost_at_end, lost_payloads, manifest, numbers);
        for gap in &mut self.gaps {
            self.log_changes = true;
            self.new_payloads.insert(gap.payload_path.clone(), std::mem::take(&mut gap.payload));
            self.changes.push(gap.change.clone());
        }
    }

    fn payload_numbers(&self, bundle: &Bundle) -> PayloadNumbers {
        let paths = self.references().map(|reference| reference.path.as_str());
        PayloadNumbers::new(bundle.path(), paths, self.last_payload_id)
    }

    /// Decides what to do about references to lost payloads. Returns the lost payloads, or `None` if there are none.
    fn make_up_for_payloads(
        &mut self,
        bundle: &Bundle,
        kinds: &ToolKinds<'a>,
        numbers: &mut Option<PayloadNumbers>,
    ) -> Option<LostPayloads> {
        let mut paths: Vec<&str> = self.references().map(|reference| reference.path.as_str()).collect();
        paths.sort_unstable();
        paths.dedup();
        let damages: HashMap<String, PayloadDamage> = paths
            .iter()
            .zip(look_at_payloads(bundle.payloads(), &paths))
            .filter_map(|(path, state)| Some(((*path).to_owned(), state.into_damage().filter(is_repairable)?)))
            .collect();
        if damages.is_empty() {
            return None;
        }
        let numbers = numbers.insert(self.payload_numbers(bundle));

        let mut lost_paths: BTreeMap<&str, u64> = BTreeMap::new();
        let mut first_line = None;
        let (mut lines, mut lost_lines) = (0, 0);
        let mut stand_ins: BTreeMap<String, StandIn> = BTreeMap::new();
        let changes = &mut self.changes;
        let log_changes = &mut self.log_changes;
        self.lines.retain_mut(|kept| {
            kept.lost_before += std::mem::take(&mut lost_lines);
            lines += 1;
            let Some(reference) = &kept.reference else { return true };
            let Some((path, damage)) = damages.get_key_value(reference.path.as_str()) else { return true };
            match reference.field.when_lost(kinds) {
                Loss::Clear => {
                    kept.edit.reference = Some((reference.field.name, None));
                    let (path, damage) = (path.clone(), damage.clone());
                    changes.push(Change::ReferenceCleared { line: kept.line.number, path, damage });
                }
                Loss::Replace(members) => {
                    let stand_in = stand_ins.entry(path.clone()).or_insert_with(|| {
                        // A repair writes only to paths that a recorder would write to. Other replacements get a new path.
                        let stays = payload_number(path).is_some()
                            && !matches!(damage, PayloadDamage::NotAFile | PayloadDamage::OutsideBundle);
                        let moved_to = (!stays).then(|| {
                            let number = numbers.take();
                            format!("{PAYLOADS_DIR}/{number}.json")
                        });
                        StandIn { members: Map::new(), moved_to }
                    });
                    stand_in.members.extend(members);
                    if let Some(target) = &stand_in.moved_to {
                        kept.edit.reference = Some((reference.field.name, Some(target.clone())));
                    }
                }
                Loss::Remove => {
                    changes.push(Change::EmptyEventRemoved { line: kept.line.number, path: path.clone() });
                    *log_changes = true;
                    lost_lines = kept.lost_before + 1;
                    lines -= 1;
                    return false;
                }
            }
            first_line.get_or_insert(lines - 1);
            lost_paths.insert(path, damage.bytes());
            true
        });
        self.lost_at_end += lost_lines;
        for (path, StandIn { members, moved_to }) in stand_ins {
            let damage = damages[&path].clone();
            let text = document(&members, &damage);
            match &moved_to {
                Some(target) => self.new_payloads.insert(target.clone(), text),
                None => self.payloads.insert(path.clone(), text),
            };
            self.changes.push(Change::PayloadReplaced { path, moved_to, damage });
        }
        let bytes = lost_paths.values().fold(0_u64, |sum, bytes| sum.saturating_add(*bytes));
        first_line.map(|first_line| LostPayloads { first_line, count: lost_paths.len() as u64, bytes })
    }

    fn references(&self) -> impl Iterator<Item = &KeptReference<'a>> {
        self.lines.iter().filter_map(|kept| kept.reference.as_ref())
    }

    /// Numbers the events from 1 without gaps.
    fn renumber(&mut self) {
        let mut events = 0;
        let mut number = 0;
        let mut gaps = self.gaps.iter().peekable();
        for (index, kept) in self.lines.iter_mut().enumerate() {
            number += 1;
            while gaps.next_if(|gap| gap.at <= index).is_some() {
                number += 1;
            }
            if kept.seq != number {
                kept.edit.seq = Some(number);
                events += 1;
            }
        }
        if events > 0 {
            self.changes.push(Change::EventsRenumbered { events });
        }
    }
}

/// An event is compared with at most this many different events with the same number.
const MAX_COMPARED_EVENTS: usize = 16;

/// A document that replaces a payload.
#[derive(Debug)]
struct StandIn {
    members: Map<String, Value>,
    moved_to: Option<String>,
}

fn says_the_same(first: Line<'_>, second: Line<'_>) -> bool {
    let parsed = parse_lines(&[first, second]);
    let event = |index: usize| parsed[index].event.as_ref().ok().and_then(Option::as_ref);
    first.bytes == second.bytes || (event(0).is_some() && event(0) == event(1))
}

fn note_kind<'a>(kinds: &mut ToolKinds<'a>, payload: &EventPayload<'a>, is_v1: bool) {
    match payload {
        EventPayload::ToolCallStarted(event) => {
            kinds.insert(event.tool_call_id.clone(), event.kind.clone());
        }
        EventPayload::ToolCallRuntimeStarted(event) if !is_v1 => {
            if let Some(kind) = &event.kind {
                kinds.insert(event.tool_call_id.clone(), kind.0.clone());
            }
        }
        _ => {}
    }
}

/// Returns the number in a payload id of the usual form.
fn payload_id(id: &str) -> Option<u64> {
    id.strip_prefix("raw_payload:")?.parse().ok()
}

/// Returns whether a payload is lost for good. A payload that is too large or cannot be read now may be readable later.
fn is_repairable(damage: &PayloadDamage) -> bool {
    !matches!(damage, PayloadDamage::TooLarge { .. } | PayloadDamage::Unreadable(_))
}

/// Returns a manifest with the values that a damaged manifest still has, and those of `told` for the others.
fn salvage_manifest(directory: &Path, told: Manifest) -> Manifest {
    let path = directory.join(MANIFEST_FILE);
    let is_readable =
        fs::symlink_metadata(&path).is_ok_and(|found| found.is_file() && found.len() <= MAX_MANIFEST_BYTES);
    let read = || {
        let mut text = Vec::new();
        // The file may have grown since its size was checked.
        fs::File::open(&path)?.take(MAX_MANIFEST_BYTES).read_to_end(&mut text)?;
        Ok::<_, io::Error>(text)
    };
    let text = if is_readable { read().ok() } else { None };
    let broken: Option<Value> = text.and_then(|text| serde_json::from_slice(&text).ok());
    let Some(broken) = broken else { return told };
    let text = |name: &str, told: String| broken.get(name).and_then(Value::as_str).map_or(told, str::to_owned);
    let schema = broken.get("schema_version").and_then(Value::as_u64).and_then(|schema| u32::try_from(schema).ok());
    Manifest {
        schema_version: schema.map_or(told.schema_version, SchemaVersion),
        trace_id: text("trace_id", told.trace_id),
        rollout_id: text("rollout_id", told.rollout_id),
        root_thread_id: text("root_thread_id", told.root_thread_id),
        started_at_unix_ms: broken.get("started_at_unix_ms").and_then(Value::as_i64).unwrap_or(told.started_at_unix_ms),
        raw_event_log: told.raw_event_log,
        payloads_dir: told.payloads_dir,
    }
}
