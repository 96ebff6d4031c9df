//! Sessions that `opencode export` printed: one JSON object with `info` and `messages`.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use trace_recorder::format::import::Place;

use super::records::SessionInfo;
use super::store::{Loaded, Store, StoredMessage, StoredPart};
use crate::draft::Draft;
use crate::error::ImportError;
use crate::note::Code;
use crate::text::{Lines, Text, range, read_text};

/// Files of a folder that are searched for exports of children.
const MAX_FILES: usize = 10_000;

/// Returns whether a file with these first bytes is an export.
pub(crate) fn is_export(head: &[u8]) -> bool {
    let head = head.trim_ascii_start();
    let Some(inside) = head.strip_prefix(b"{") else { return false };
    let Some(after) = inside.trim_ascii_start().strip_prefix(b"\"info\"") else { return false };
    let Some(info) = after.trim_ascii_start().strip_prefix(b":") else { return false };
    let info = &info[..info.len().min(1 << 10)];
    memchr::memmem::find(info, b"\"ses_").is_some()
}

/// An export, and those of other sessions beside it.
pub(crate) struct Export {
    path: PathBuf,
    info: SessionInfo,
}

impl Export {
    /// Reads what the session of an export is.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read, or does not describe a session.
    pub(crate) fn open(path: &Path) -> Result<Self, ImportError> {
        let text = read_text(path)?;
        let mut read = Read::default();
        // Damage behind the description of the session does not matter here.
        let _ = read.text(&text);
        let empty =
            || ImportError::Empty { path: path.to_owned(), reason: "the description of the session is missing" };
        let info = read.info.and_then(|info| SessionInfo::parse(info.get())).ok_or_else(empty)?;
        Ok(Self { path: path.to_owned(), info })
    }

    /// Returns what the session is.
    pub(crate) fn info(&self) -> &SessionInfo {
        &self.info
    }

    /// Returns the export of another session in the same folder: its name has the session's id.
    pub(crate) fn beside(&self, id: &str) -> Option<PathBuf> {
        let folder = self.path.parent()?;
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let files = fs::read_dir(folder).ok()?.take(MAX_FILES).filter_map(Result::ok).map(|entry| entry.path());
        let is_named = |path: &PathBuf| {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            name.contains(id) && name.ends_with(".json")
        };
        files.filter(is_named).min()
    }
}

impl Store for Export {
    fn load(&mut self, id: &str, draft: &mut Draft) -> Result<Option<Loaded>, ImportError> {
        let path = if self.info.id == id { Some(self.path.clone()) } else { self.beside(id) };
        let Some(path) = path else { return Ok(None) };
        let text = read_text(&path)?;
        let loaded = loaded(text, &path, draft);
        Ok(loaded.filter(|loaded| loaded.info.id == id))
    }

    fn children(&mut self, _: &str) -> Result<Vec<String>, ImportError> {
        // Other exports of the folder may belong to other sessions. The calls name the children.
        Ok(Vec::new())
    }
}

fn loaded(text: String, path: &Path, draft: &mut Draft) -> Option<Loaded> {
    let mut read = Read::default();
    let outcome = read.text(&text);
    let info = SessionInfo::parse(read.info?.get())?;
    let source = draft.source(path);
    let mut loaded = Loaded::new(info, Place { source, line: 1 });
    let mut lines = Lines::new(&text);
    for raw in read.messages {
        let place = Place { source, line: lines.of(raw) };
        let Ok(message) = serde_json::from_str::<ExportedMessage<'_>>(raw.get()) else {
            draft.note(Code::DamagedLine, Some(place));
            continue;
        };
        let part = |raw: &&RawValue| {
            let id = serde_json::from_str::<Named<'_>>(raw.get()).ok().and_then(|named| named.id);
            let id = id.map(|id| id.0.into_owned()).unwrap_or_default();
            StoredPart { id, json: range(&text, raw), place: Place { source, line: lines.of(raw) } }
        };
        let id = serde_json::from_str::<Named<'_>>(message.info.get()).ok().and_then(|named| named.id);
        loaded.messages.push(StoredMessage {
            id: id.map(|id| id.0.into_owned()).unwrap_or_default(),
            json: range(&text, message.info),
            place,
            parts: message.parts.iter().map(part).collect(),
        });
    }
    if let Err(error) = outcome {
        let line = u32::try_from(error.line()).unwrap_or(u32::MAX);
        draft.note(Code::DamagedLine, Some(Place { source, line }));
    }
    loaded.text = text;
    Some(loaded)
}

#[derive(Deserialize)]
struct ExportedMessage<'a> {
    #[serde(borrow)]
    info: &'a RawValue,
    #[serde(borrow, default)]
    parts: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow)]
    id: Option<Text<'a>>,
}

/// What was read of an export. If the file is cut, the messages before the cut are here.
#[derive(Default)]
struct Read<'a> {
    info: Option<&'a RawValue>,
    messages: Vec<&'a RawValue>,
}

impl<'a> Read<'a> {
    fn text(&mut self, text: &'a str) -> serde_json::Result<()> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        self.deserialize(&mut deserializer)?;
        deserializer.end()
    }
}

impl<'a> DeserializeSeed<'a> for &mut Read<'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for &mut Read<'a> {
    type Value = ();

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("an exported session")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<Text<'a>>()? {
            match &*key {
                "info" => self.info = Some(map.next_value()?),
                "messages" => map.next_value_seed(Messages(&mut self.messages))?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

struct Messages<'v, 'a>(&'v mut Vec<&'a RawValue>);

impl<'a> DeserializeSeed<'a> for Messages<'_, 'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'a> Visitor<'a> for Messages<'_, 'a> {
    type Value = ();

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("messages")
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut seq: A) -> Result<(), A::Error> {
        while let Some(message) = seq.next_element()? {
            self.0.push(message);
        }
        Ok(())
    }
}
