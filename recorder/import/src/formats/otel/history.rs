//! The items of a thread: which messages of a request its earlier requests had already.
//!
//! Spans repeat the whole history with each request and seldom have ids of items. An item of a request is the same as one of the
//! last request, or of its answer, if both say the same.

use std::collections::{HashMap, HashSet, VecDeque};

use sha2::{Digest, Sha256};
use trace_recorder::format::import::Place;

use crate::body::ItemText;
use crate::draft::{Draft, Lane};
use crate::item::{Item, Output};
use crate::note::Code;

use super::calls::{Planned, canonical};
use super::message::{Said, What};

/// Hash of what an item says.
type Hash = [u8; 16];

/// An item of the thread.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) text: ItemText,
    pub(super) id: String,
    /// Whether the thread did not have it before.
    pub(super) is_new: bool,
}

#[derive(Debug)]
struct Stored {
    hash: Hash,
    text: ItemText,
    id: String,
}

/// A call of a tool that the thread knows.
#[derive(Debug)]
struct KnownCall {
    /// The id of the call in the session.
    id: String,
    arguments: Hash,
    item: usize,
}

/// What the threads of a session share while they are told.
#[derive(Debug, Default)]
pub(super) struct Ids(HashSet<String>);

/// Where an item comes from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'a> {
    /// What ids of items are made from.
    pub(super) span: &'a str,
    pub(super) place: Place,
}

/// The items of one thread.
#[derive(Debug)]
pub(super) struct Items {
    lane: Lane,
    items: Vec<Stored>,
    /// The items of the last request, of its answer, and of what tools returned since.
    live: Vec<usize>,
    /// Calls by the model's ids of them.
    calls: HashMap<String, Vec<KnownCall>>,
    /// What is called under each id of the session. Under one id there is one call.
    contents: HashMap<String, Hash>,
}

impl Items {
    /// `planned` has the calls in the answers of the thread.
    pub(super) fn new(lane: Lane, planned: &[Planned]) -> Self {
        let contents =
            planned.iter().map(|call| (call.id.clone(), hash_of_call(&call.name, &call.arguments))).collect();
        Self { lane, items: Vec::new(), live: Vec::new(), calls: HashMap::new(), contents }
    }

    /// Adds the items of a request and returns them.
    pub(super) fn request(
        &mut self,
        draft: &mut Draft,
        said: Vec<Said<'_>>,
        source: Source<'_>,
        ids: &mut Ids,
    ) -> Vec<Known> {
        let mut positions: HashMap<Hash, VecDeque<usize>> = HashMap::new();
        for index in &self.live {
            positions.entry(self.items[*index].hash).or_default().push_back(*index);
        }
        let mut used = HashSet::new();
        let mut pairs = Pairs::default();
        let (mut known, mut live) = (Vec::with_capacity(said.len()), Vec::with_capacity(said.len()));
        for (number, mut said) in said.into_iter().enumerate() {
            let mut call = None;
            let mut same = None;
            match &mut said.what {
                What::Call { call_id, name, arguments } => {
                    let native = call_id.to_string();
                    let content = hash_of_call(name, arguments);
                    let arguments = hash_of(canonical(arguments).as_bytes());
                    let found = self.known_call(&native, arguments, &used);
                    same = found.map(|call| call.item);
                    let known = found.map(|call| call.id.clone());
                    let id = known.unwrap_or_else(|| self.id_of_call(&native, content, source.span, number));
                    pairs.called(&native, &id);
                    *call_id = id.clone().into();
                    call = Some((native, id, arguments));
                }
                What::Output { call_id, .. } => *call_id = pairs.answered(call_id, source.span, number).into(),
                _ => {}
            }
            let hash = hash_of_item(&said.what);
            let same = same.or_else(|| {
                let list = positions.get_mut(&hash)?;
                std::iter::from_fn(|| list.pop_front()).find(|index| !used.contains(index))
            });
            let index = match same {
                Some(index) => index,
                None => {
                    let index = self.add(draft, said, hash, &format!("{}:in:{number}", source.span), source.place, ids);
                    if let Some((native, id, arguments)) = call {
                        self.calls.entry(native).or_default().push(KnownCall { id, arguments, item: index });
                    }
                    index
                }
            };
            used.insert(index);
            live.push(index);
            known.push(self.known(index, same.is_none()));
        }
        self.live = live;
        known
    }

    /// Returns the id of a call that only a request shows.
    fn id_of_call(&mut self, native: &str, content: Hash, span: &str, number: usize) -> String {
        let is_free = self.contents.get(native).is_none_or(|known| *known == content);
        if native.is_empty() || !is_free {
            return made_call_id(span, number);
        }
        self.contents.insert(native.to_owned(), content);
        native.to_owned()
    }

    /// Adds the items of an answer and returns them. `call_ids` has the ids of its calls in the session.
    pub(super) fn answer(
        &mut self,
        draft: &mut Draft,
        said: Vec<Said<'_>>,
        call_ids: &[&str],
        source: Source<'_>,
        ids: &mut Ids,
    ) -> Vec<Known> {
        let mut known = Vec::with_capacity(said.len());
        let mut call_ids = call_ids.iter();
        for (number, mut said) in said.into_iter().enumerate() {
            let mut call = None;
            if let What::Call { call_id, arguments, .. } = &mut said.what
                && let Some(id) = call_ids.next()
            {
                let native = call_id.to_string();
                *call_id = (*id).to_owned().into();
                call = Some((native, (*id).to_owned(), hash_of(canonical(arguments).as_bytes())));
            }
            let hash = hash_of_item(&said.what);
            let index = self.add(draft, said, hash, &format!("{}:out:{number}", source.span), source.place, ids);
            if let Some((native, id, arguments)) = call {
                self.calls.entry(native).or_default().push(KnownCall { id, arguments, item: index });
            }
            self.live.push(index);
            known.push(self.known(index, true));
        }
        known
    }

    /// Adds the output of a tool before a request shows it.
    pub(super) fn output(
        &mut self,
        draft: &mut Draft,
        call_id: &str,
        output: Output<'_>,
        source: Source<'_>,
        ids: &mut Ids,
    ) -> Known {
        let said = Said::from(What::Output { call_id: call_id.to_owned().into(), output });
        let hash = hash_of_item(&said.what);
        let index = self.add(draft, said, hash, &format!("{}:result", source.span), source.place, ids);
        self.live.push(index);
        self.known(index, true)
    }

    fn known(&self, index: usize, is_new: bool) -> Known {
        let Stored { text, id, .. } = &self.items[index];
        Known { text: *text, id: id.clone(), is_new }
    }

    fn known_call(&self, native: &str, arguments: Hash, used: &HashSet<usize>) -> Option<&KnownCall> {
        let list = self.calls.get(native)?;
        let is_free = |call: &&KnownCall| !used.contains(&call.item);
        let alike = list.iter().rev().take(MAX_COMPARED).find(|call| call.arguments == arguments && is_free(call));
        // A call whose arguments look different is still the same: requests may leave out or reorder members.
        alike.or_else(|| list.iter().rev().take(MAX_COMPARED).find(is_free).filter(|_| !native.is_empty()))
    }

    fn add(&mut self, draft: &mut Draft, said: Said<'_>, hash: Hash, made: &str, place: Place, ids: &mut Ids) -> usize {
        // Some programs give all items the same id.
        let native = said.id.filter(|id| !id.is_empty() && !ids.0.contains(&**id));
        let id = match native {
            Some(id) => id.into_owned(),
            None => {
                draft.note(Code::ItemIdMade, Some(place));
                made.to_owned()
            }
        };
        ids.0.insert(id.clone());
        let text = draft.item(self.lane, &item(said.what, &id)).expect("an item is plain data");
        self.items.push(Stored { hash, text, id });
        self.items.len() - 1
    }
}

/// Calls of one id that are compared. Without a limit, a session whose calls all have the same id would take time that grows with
/// the square of their number.
const MAX_COMPARED: usize = 256;

/// Returns an id for a call whose id is missing, or is that of another call.
fn made_call_id(span: &str, number: usize) -> String {
    format!("{span}:in:{number}:call")
}

fn hash_of_call(name: &str, arguments: &str) -> Hash {
    hash_of(format!("{name}\0{}", canonical(arguments)).as_bytes())
}

/// Which outputs of a list belong to which of its calls, for calls whose ids repeat or are missing.
#[derive(Debug, Default)]
struct Pairs {
    /// The ids in the session of calls without an output, in their order, by the model's ids of the calls.
    open: HashMap<String, VecDeque<String>>,
}

impl Pairs {
    fn called(&mut self, native: &str, id: &str) {
        self.open.entry(native.to_owned()).or_default().push_back(id.to_owned());
    }

    fn answered(&mut self, native: &str, span: &str, number: usize) -> String {
        let call = self.open.get_mut(native).and_then(VecDeque::pop_front);
        call.unwrap_or_else(|| if native.is_empty() { made_call_id(span, number) } else { native.to_owned() })
    }
}

/// Returns the item with an id.
pub(super) fn item<'a>(what: What<'a>, id: &'a str) -> Item<'a> {
    let id = id.into();
    match what {
        What::Message { role, content } => Item::Message { id, role, content },
        What::Reasoning { summary, content, encrypted } => {
            Item::Reasoning { id, summary, content, encrypted_content: encrypted }
        }
        What::Call { call_id, name, arguments } => Item::FunctionCall { id, name, arguments, call_id },
        What::Output { call_id, output } => Item::FunctionCallOutput { id, call_id, output },
    }
}

fn hash_of_item(what: &What<'_>) -> Hash {
    let text = match what {
        What::Call { call_id, name, arguments } => {
            serde_json::to_vec(&("call", &**call_id, &**name, canonical(arguments)))
        }
        What::Reasoning { encrypted: Some(encrypted), .. } => serde_json::to_vec(&("thought", &**encrypted)),
        What::Reasoning { summary, content, .. } => serde_json::to_vec(&("thought", summary, content)),
        What::Message { role, content } => serde_json::to_vec(&("message", role, content)),
        What::Output { call_id, output } => serde_json::to_vec(&("output", &**call_id, output)),
    };
    hash_of(&text.expect("an item is plain data"))
}

fn hash_of(bytes: &[u8]) -> Hash {
    let mut hash = [0; 16];
    hash.copy_from_slice(&Sha256::digest(bytes)[..16]);
    hash
}
