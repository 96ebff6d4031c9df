//! What the strings of a JSON text are to each other: names and values in one object, lines in one array, pieces of one stream.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use super::blocks::is_plural;
use super::names::sensitive_name;
use super::strings::{JsonString, StringPlace, for_each_string};

/// Most strings that are pieces of streams in one document.
pub(crate) const MAX_PIECES: usize = 1 << 18;

/// Deepest nesting of objects and arrays whose members are held against each other.
const MAX_DEPTH: usize = 64;

/// What the key of a member says, as bits.
mod role {
    /// It names something.
    pub(super) const NAME: u16 = 1 << 0;
    /// It holds the value of what another one names.
    pub(super) const VALUE: u16 = 1 << 1;
    /// It holds a piece of a stream, whatever it is in.
    pub(super) const PIECE: u16 = 1 << 2;
    /// It holds a piece of a stream if something else says that its object is one.
    pub(super) const PIECE_IF_TOLD: u16 = 1 << 3;
    /// It tells one stream from another.
    pub(super) const ID: u16 = 1 << 4;
    /// It may say that its object is a piece of a stream.
    pub(super) const TELLS: u16 = 1 << 5;
    /// It is a secret number of a key in JSON, if `KEY_TYPE` is beside it.
    pub(super) const KEY_PART: u16 = 1 << 6;
    /// It says what sort of key its object is.
    pub(super) const KEY_TYPE: u16 = 1 << 7;
    /// It says what an object of Kubernetes is.
    pub(super) const KIND: u16 = 1 << 8;
    /// It names a key, beside which its value is.
    pub(super) const NAME_OF_KEY: u16 = 1 << 9;
}

/// Returns what a key says.
fn roles(key: &[u8]) -> u16 {
    match key {
        b"item_id" | b"itemId" | b"call_id" | b"callId" | b"id" | b"thread_id" | b"threadId" | b"process_id"
        | b"processId" | b"tool_call_id" | b"turn_id" | b"turnId" | b"session_id" | b"sessionId" | b"index"
        | b"output_index" | b"content_index" | b"summary_index" => role::ID,
        b"stream" | b"type" | b"method" => role::ID | role::TELLS,
        b"d" | b"p" | b"q" | b"dp" | b"dq" | b"qi" | b"k" => role::KEY_PART,
        b"kty" => role::KEY_TYPE,
        b"name" | b"key" | b"variable" | b"var" | b"Name" | b"Key" | b"ParameterKey" | b"parameter_key"
        | b"ParameterName" | b"OptionName" | b"field" | b"label" | b"setting" | b"option" | b"property"
        | b"Variable" | b"parameterKey" | b"varName" | b"envVar" | b"identifier" => role::NAME,
        b"delta" | b"chunk" | b"partial_json" | b"text_delta" | b"output_delta" | b"deltaBase64" | b"delta_base64"
        | b"chunk_base64" | b"output_chunk" | b"fragment" | b"chars" => role::PIECE,
        b"arguments" | b"output" | b"thinking" | b"bytes" | b"input" | b"message" | b"summary" => role::PIECE_IF_TOLD,
        b"keyName" | b"key_name" | b"KeyName" | b"keyId" | b"key_id" | b"KeyId" | b"secretName" | b"secret_name"
        | b"SecretName" | b"secretId" | b"secret_id" | b"tokenName" | b"token_name" | b"tokenId" | b"token_id"
        | b"credentialName" | b"credentialId" => role::NAME_OF_KEY,
        b"event" | b"channel" => role::TELLS,
        b"kind" => role::TELLS | role::KIND,
        b"val" | b"default" | b"Value" | b"ParameterValue" | b"parameter_value" | b"parameterValue"
        | b"OptionValue" | b"stringValue" | b"string_value" | b"secret" | b"plaintext" | b"defaultValue" => role::VALUE,
        b"value" | b"content" | b"data" | b"text" => role::VALUE | role::PIECE_IF_TOLD,
        _ => 0,
    }
}

/// Arrays whose strings are pieces of a stream.
const LISTS: &[&[u8]] = &[
    b"chunks",
    b"deltas",
    b"pieces",
    b"parts",
    b"fragments",
    b"segments",
    b"stream",
    b"output_chunks",
    b"stdout_chunks",
    b"stdoutChunks",
    b"outputChunks",
    b"writes",
];

/// Ends of the names of arrays, in lower-case letters, whose strings are lines.
const LINES: &[&[u8]] =
    &[b"lines", b"output", b"stdout", b"stderr", b"source", b"content", b"text", b"body", b"log", b"logs", b"script"];

/// Keys of the text of one part of a message.
const PART_KEYS: &[&[u8]] = &[b"text", b"content", b"data", b"value"];

/// Arrays that hold the names of the columns of a table whose rows are beside them.
const HEADINGS: &[&[u8]] = &[
    b"columns",
    b"fields",
    b"headers",
    b"header",
    b"names",
    b"keys",
    b"cols",
    b"schema",
    b"columnNames",
    b"column_names",
];

/// Keys of the names of users.
const USERS: &[&[u8]] = &[
    b"username",
    b"user",
    b"email",
    b"login",
    b"userName",
    b"client",
    b"account",
    b"user_name",
    b"userid",
    b"user_id",
    b"uid",
    b"mail",
    b"usr",
    b"Username",
    b"User",
    b"accountName",
    b"access_key_id",
    b"apiUser",
];

/// Most cells in the row of a table, and most rows of one table.
const MAX_CELLS: usize = 64;
const MAX_ROWS: usize = 4096;

/// What a string is by those beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Relation {
    /// The value of what has this name.
    ValueOf(Range<usize>),
    /// A key beside the name of a user, or a value beside what is the name of one by its own key.
    Credential,
    /// A password beside the name of a user.
    Password,
    /// A member of an object that is the value of this key.
    Under(Range<usize>),
    /// One of several under this name.
    OneOf(Range<usize>),
    /// A secret number of a key in JSON.
    KeyPart,
    /// A value of a secret of Kubernetes, under its own name.
    Kubernetes(Range<usize>),
    /// What a user answers when asked for a secret.
    Answer,
}

/// A piece of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) stream: u64,
    pub(crate) inner: Range<usize>,
}

/// Strings of one array that belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct List {
    pub(crate) items: Vec<Range<usize>>,
    pub(crate) sort: ListSort,
}

impl List {
    /// Returns the part of the text that the strings are in.
    pub(crate) fn region(&self) -> Option<Range<usize>> {
        Some(self.items.first()?.start..self.items.last()?.end)
    }

    /// Returns the list with its places counted from another one.
    pub(crate) fn moved(&self, from: usize) -> Self {
        Self { items: self.items.iter().map(|item| item.start - from..item.end - from).collect(), sort: self.sort }
    }
}

/// What the strings of an array are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ListSort {
    /// Pieces of one text.
    Parts(Joint),
    /// The program and the arguments of a command.
    Words,
}

/// What joins pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Joint {
    /// Nothing: what follows goes on in the middle of a word.
    Nothing,
    /// An end of a line.
    Line,
}

/// The strings of a text and what they are to each other.
#[derive(Debug, Default)]
pub(crate) struct Structure {
    pub(crate) strings: Vec<JsonString>,
    /// By where a string begins.
    pub(crate) relations: HashMap<usize, Relation>,
    pub(crate) pieces: Vec<Piece>,
    pub(crate) lists: Vec<List>,
}

/// An object or array that is open.
#[derive(Debug)]
struct Open {
    is_object: bool,
    /// The key that it is the value of.
    key: Option<Range<usize>>,
    /// Where its members begin among those of all that are open.
    first: usize,
    /// Number of commas between its members so far.
    commas: usize,
    /// Number of objects that are its elements so far.
    objects: usize,
    /// Texts of the objects of an array, and their names.
    parts: Vec<Range<usize>>,
    names: Vec<Range<usize>>,
    /// Rows of a table: arrays in an array, or in the arrays of an object.
    rows: Vec<Vec<Cell>>,
    /// Names of the columns of a table, which an object has beside its rows.
    headings: Vec<Cell>,
}

/// A string of a row, and in which column it is.
type Cell = (usize, Range<usize>);

/// A string in an object or array, with its key.
#[derive(Debug, Clone)]
struct Member {
    key: Option<Range<usize>>,
    roles: u16,
    value: Range<usize>,
    /// Which element of its array it is.
    index: usize,
}

/// Reads the strings of a text.
pub(crate) fn read(text: &[u8]) -> Structure {
    let mut reader = Reader {
        text,
        structure: Structure::default(),
        open: Vec::new(),
        deeper: 0,
        members: Vec::new(),
        data: Vec::new(),
        results: Vec::new(),
        arrays: 0,
    };
    let mut at = 0;
    let mut key: Option<Range<usize>> = None;
    for_each_string(text, |string| {
        let quote = string.inner.start - 1;
        reader.gap(at..quote, &mut key);
        at = string.inner.end + 1;
        match &string.place {
            StringPlace::Key => key = Some(string.inner.clone()),
            StringPlace::Value { key, .. } => {
                let roles = roles(&text[key.clone()]);
                reader.members.push(Member { key: Some(key.clone()), roles, value: string.inner.clone(), index: 0 });
            }
            StringPlace::Element { .. } => {
                let index = reader.open.last().map_or(0, |open| open.commas);
                reader.members.push(Member { key: None, roles: 0, value: string.inner.clone(), index });
            }
        }
        if !matches!(string.place, StringPlace::Key) {
            key = None;
        }
        reader.structure.strings.push(string);
    });
    reader.gap(at..text.len(), &mut key);
    while !reader.open.is_empty() {
        reader.close();
    }
    let mut structure = reader.structure;
    answers(text, &mut structure);
    structure
}

/// Longest end of a message that is read for a question, and longest answer.
const MAX_ASKED_BYTES: usize = 600;
const MAX_ANSWER_BYTES: usize = 400;

/// Finds the messages in which a user answers a question for a secret.
fn answers(text: &[u8], structure: &mut Structure) {
    let (mut is_user, mut is_assistant) = (false, false);
    let mut last: Option<Range<usize>> = None;
    for string in &structure.strings {
        let Some(key) = string.place.key() else { continue };
        let inner = string.inner.clone();
        match &text[key.clone()] {
            b"role" | b"author" | b"sender" | b"from" => {
                let role = &text[inner];
                is_user = matches!(role, b"user" | b"human" | b"User" | b"Human");
                is_assistant = matches!(role, b"assistant" | b"model" | b"ai" | b"bot" | b"Assistant");
            }
            b"text" | b"content" | b"message" | b"value" => {
                if is_assistant {
                    last = Some(inner);
                } else if is_user
                    && let Some(question) = last.take()
                    && inner.len() <= MAX_ANSWER_BYTES
                    && asks_for_secret(
                        &text[question.start.max(question.end.saturating_sub(MAX_ASKED_BYTES))..question.end],
                    )
                {
                    structure.relations.entry(inner.start).or_insert(Relation::Answer);
                }
            }
            _ => {}
        }
    }
}

/// Returns whether a message asks for a secret.
fn asks_for_secret(message: &[u8]) -> bool {
    const WORDS: &[&[u8]] = &[
        b"password",
        b"passwd",
        b"passphrase",
        b"passcode",
        b"secret",
        b"token",
        b"api key",
        b"apikey",
        b"api-key",
        b"access key",
        b"secret key",
        b"private key",
        b"license key",
        b"encryption key",
        b"signing key",
        b"credential",
        b"passwort",
        b"kennwort",
        b"contrase",
        b"senha",
        b"mot de passe",
        b"wachtwoord",
    ];
    const REQUESTS: &[&[u8]] = &[
        b"?",
        b"please",
        b"paste",
        b"provide",
        b"enter",
        b"share",
        b"send",
        b"tell me",
        b"give me",
        b"need",
        b"type ",
        b"bitte",
        b"por favor",
    ];
    let lower = message.to_ascii_lowercase();
    // Ends of sentences and of lines, which are escaped here.
    let is_end = |at: &usize| match lower[*at] {
        b'\\' | b'!' => true,
        b'.' => lower.get(at + 1) == Some(&b' '),
        _ => false,
    };
    let mut start = 0;
    (0..lower.len()).filter(is_end).chain([lower.len()]).any(|end| {
        let sentence = &lower[std::mem::replace(&mut start, end)..end];
        let has = |parts: &[&[u8]]| parts.iter().any(|part| memchr::memmem::find(sentence, part).is_some());
        has(WORDS) && has(REQUESTS)
    })
}

/// Most values that are held against the types around them.
const MAX_RESULTS: usize = 4096;

/// Returns whether a key holds the inputs or the outputs of a resource.
fn is_result(key: &[u8]) -> bool {
    matches!(
        key,
        b"result"
            | b"value"
            | b"secret"
            | b"secret_string"
            | b"secret_data"
            | b"plaintext"
            | b"hex"
            | b"b64_std"
            | b"content"
            | b"data"
            | b"output"
            | b"SecretString"
    )
}

struct Reader<'a> {
    text: &'a [u8],
    structure: Structure,
    open: Vec<Open>,
    /// How many are open beyond the deepest that is read.
    deeper: usize,
    members: Vec<Member>,
    /// Values below `data` of an object that is still open, by the depth of that object.
    data: Vec<(usize, Member)>,
    /// Where values are that the type of an object around them may tell to be secrets, by the depth of the object that they
    /// are in.
    results: Vec<(usize, usize)>,
    arrays: u64,
}

impl Reader<'_> {
    /// Follows the brackets between two strings.
    fn gap(&mut self, gap: Range<usize>, key: &mut Option<Range<usize>>) {
        if let Some(key) = key.as_ref()
            && let Some(number) = self.number(gap.clone())
        {
            let roles = roles(self.bytes(key));
            if roles & role::ID != 0 {
                self.members.push(Member { key: Some(key.clone()), roles, value: number, index: 0 });
            }
        }
        for byte in &self.text[gap] {
            match byte {
                b'{' | b'[' if self.open.len() < MAX_DEPTH => {
                    self.open.push(Open {
                        is_object: *byte == b'{',
                        key: key.take(),
                        first: self.members.len(),
                        commas: 0,
                        objects: 0,
                        parts: Vec::new(),
                        names: Vec::new(),
                        rows: Vec::new(),
                        headings: Vec::new(),
                    });
                }
                b'{' | b'[' => self.deeper += 1,
                b'}' | b']' if self.deeper > 0 => self.deeper -= 1,
                b'}' | b']' => self.close(),
                b',' => {
                    if let Some(open) = self.open.last_mut() {
                        open.commas += 1;
                    }
                }
                _ => {}
            }
        }
    }

    /// Returns where the number is that a gap after a key begins with.
    fn number(&self, gap: Range<usize>) -> Option<Range<usize>> {
        let bytes = &self.text[gap.clone()];
        let blanks = bytes.iter().take_while(|byte| matches!(byte, b':' | b' ' | b'"')).count();
        let digits = bytes[blanks..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        (digits > 0).then(|| gap.start + blanks..gap.start + blanks + digits)
    }

    fn close(&mut self) {
        let Some(open) = self.open.pop() else { return };
        if open.is_object
            && let Some(parent) = self.open.last_mut()
        {
            parent.objects += 1;
        }
        if open.is_object {
            self.typed(open.first);
        }
        let first = open.first.min(self.members.len());
        let says = self.members[first..].iter().fold(0, |says, member| says | member.roles);
        let is_silent = open.is_object && says == 0 && open.key.is_none();
        let is_plain =
            open.parts.is_empty() && open.names.is_empty() && open.rows.is_empty() && open.headings.is_empty();
        if is_plain && (is_silent || first == self.members.len()) {
            self.members.truncate(first);
            return;
        }
        let members = self.members.split_off(first);
        if open.is_object { self.object(&open, &members) } else { self.array(open, &members) }
    }

    /// Takes the values in the objects below one whose type is that of a secret: `"type": "random_password"`.
    fn typed(&mut self, first: usize) {
        let depth = self.open.len();
        let members = self.members.get(first..).unwrap_or_default();
        let kind = members.iter().find(|member| {
            let key = member.key.as_ref().map_or(&b""[..], |key| &self.text[key.clone()]);
            let value = &self.text[member.value.clone()];
            matches!(key, b"type" | b"Type" | b"resource_type" | b"resourceType")
                && value.iter().any(|byte| matches!(byte, b'_' | b':' | b'.' | b'-'))
                && sensitive(value)
        });
        if let Some(kind) = kind.map(|kind| kind.value.clone()) {
            for (_, start) in self.results.iter().filter(|(at, _)| *at > depth) {
                self.structure.relations.entry(*start).or_insert(Relation::ValueOf(kind.clone()));
            }
            self.results.retain(|(at, _)| *at <= depth);
        }
        // What is in this object is in the one around it, and no more in the next beside it.
        for (at, _) in self.results.iter_mut().rev().take_while(|(at, _)| *at > depth) {
            *at = depth;
        }
        let members = self.members.get(first..).unwrap_or_default();
        let results =
            members.iter().filter(|member| member.key.as_ref().is_some_and(|key| is_result(&self.text[key.clone()])));
        let results: Vec<(usize, usize)> = results.map(|member| (depth, member.value.start)).collect();
        if depth == 0 || self.results.len() + results.len() > MAX_RESULTS {
            self.results.clear();
        }
        self.results.extend(results);
    }

    fn bytes(&self, range: &Range<usize>) -> &[u8] {
        &self.text[range.clone()]
    }

    fn object(&mut self, open: &Open, members: &[Member]) {
        if !open.headings.is_empty() {
            self.table(&open.headings, &open.rows);
        }
        let named = members.iter().find(|member| member.roles & role::NAME != 0);
        let value = members.iter().find(|member| member.roles & role::VALUE != 0);
        if let (Some(named), Some(value)) = (named, value) {
            self.structure.relations.insert(value.value.start, Relation::ValueOf(named.value.clone()));
        } else if let Some(key) = open.key.as_ref().filter(|key| holds_secrets(self.bytes(key))) {
            for member in members {
                self.structure.relations.entry(member.value.start).or_insert(Relation::Under(key.clone()));
            }
        }
        let text = self.text;
        let named = |names: &[&[u8]]| {
            members.iter().find(|member| member.key.as_ref().is_some_and(|key| names.contains(&&text[key.clone()])))
        };
        if named(USERS).is_some() {
            if let Some(pass) = named(&[b"pass", b"pw", b"Pass", b"pswd", b"psw", b"Pw"]) {
                self.structure.relations.insert(pass.value.start, Relation::Password);
            }
            if let Some(key) = named(&[b"key", b"auth", b"code"]) {
                self.structure.relations.insert(key.value.start, Relation::Credential);
            }
        }
        // `"element": "Password textbox", "text": ...`: what is typed into a field.
        if let Some(field) = named(&[b"element", b"selector", b"target", b"locator", b"placeholder", b"xpath", b"css"])
            && let Some(typed) = named(&[b"text", b"value", b"input", b"keys", b"content"])
            && names_a_password(self.bytes(&field.value))
        {
            self.structure.relations.insert(typed.value.start, Relation::Password);
        }
        // `"keyName": "key1", "value": ...`: what it is is in the key.
        if members.iter().any(|member| member.roles & role::NAME_OF_KEY != 0)
            && let Some(value) = members.iter().find(|member| member.roles & role::VALUE != 0)
        {
            self.structure.relations.entry(value.value.start).or_insert(Relation::Credential);
        }
        if members.iter().any(|member| member.roles & role::KEY_TYPE != 0) {
            for part in members {
                if part.roles & role::KEY_PART != 0 {
                    self.structure.relations.insert(part.value.start, Relation::KeyPart);
                }
            }
        }
        let depth = self.open.len();
        let is_data = open.key.as_ref().is_some_and(|key| matches!(self.bytes(key), b"data" | b"stringData"));
        if is_data {
            self.data.extend(members.iter().map(|member| (depth, member.clone())));
        }
        let is_secret =
            members.iter().any(|member| member.roles & role::KIND != 0 && self.bytes(&member.value) == b"Secret");
        let below: Vec<Member> = {
            let first = self.data.iter().position(|(at, _)| *at > depth).unwrap_or(self.data.len());
            self.data.drain(first..).map(|(_, member)| member).collect()
        };
        if is_secret {
            for member in below {
                if let Some(key) = member.key {
                    self.structure.relations.entry(member.value.start).or_insert(Relation::Kubernetes(key));
                }
            }
        }
        let pieces = self.structure.pieces.len();
        self.pieces_of(open, members);
        if self.structure.pieces.len() == pieces {
            self.part_of_array(members);
        }
    }

    /// Tells the array that an object is in its text and its name.
    fn part_of_array(&mut self, members: &[Member]) {
        let is_part = |member: &&Member| {
            member.roles & (role::VALUE | role::PIECE_IF_TOLD) != 0
                && member.key.as_ref().is_some_and(|key| PART_KEYS.contains(&&self.text[key.clone()]))
        };
        let array = self.open.last_mut().filter(|parent| !parent.is_object);
        if let Some(array) = array.filter(|array| array.parts.len() < MAX_PIECES) {
            array.parts.extend(members.iter().find(is_part).map(|part| part.value.clone()));
            let name = members.iter().find(|member| member.roles & role::NAME != 0);
            array.names.extend(name.filter(|_| array.names.len() < MAX_CELLS).map(|name| name.value.clone()));
        }
    }

    /// Tells the cells of a table the names of their columns.
    fn table(&mut self, headings: &[Cell], rows: &[Vec<Cell>]) {
        let named = headings.iter().filter(|(_, heading)| sensitive(self.bytes(heading)));
        for (column, heading) in named.cloned().collect::<Vec<_>>() {
            for (_, cell) in rows.iter().flatten().filter(|(at, _)| *at == column) {
                self.structure.relations.insert(cell.start, Relation::ValueOf(heading.clone()));
            }
        }
    }

    fn pieces_of(&mut self, open: &Open, members: &[Member]) {
        const TELLING: &[&str] = &["delta", "chunk", "partial", "stdout", "stderr", "stream"];
        let is_delta = open.key.as_ref().is_some_and(|key| matches!(self.bytes(key), b"delta" | b"chunk"));
        let is_told = is_delta
            || members.iter().any(|member| {
                member.roles & role::TELLS != 0
                    && std::str::from_utf8(self.bytes(&member.value)).is_ok_and(|value| {
                        value.len() < 80 && TELLING.iter().any(|word| value.to_ascii_lowercase().contains(word))
                    })
            });
        for member in members {
            let is_piece = member.roles & role::PIECE != 0 || (is_told && member.roles & role::PIECE_IF_TOLD != 0);
            if !is_piece || self.structure.pieces.len() >= MAX_PIECES {
                continue;
            }
            let mut hasher = DefaultHasher::new();
            member.key.as_ref().map(|key| self.bytes(key)).hash(&mut hasher);
            is_delta.hash(&mut hasher);
            for id in members.iter().filter(|id| id.roles & role::ID != 0) {
                self.bytes(&id.value).hash(&mut hasher);
            }
            let stream = hasher.finish();
            self.structure.pieces.push(Piece { stream, inner: member.value.clone() });
        }
    }

    fn array(&mut self, open: Open, members: &[Member]) {
        self.arrays += 1;
        if let Some(key) = &open.key {
            for member in members {
                self.structure.relations.entry(member.value.start).or_insert(Relation::OneOf(key.clone()));
            }
        }
        self.rows(&open, members);
        // Objects of other sorts among them make it a list of things instead.
        if open.parts.len() > 1 && open.parts.len() == open.objects {
            self.structure.lists.push(List { items: open.parts, sort: ListSort::Parts(Joint::Nothing) });
        }
        let is_list = open.key.as_ref().is_some_and(|key| LISTS.contains(&self.bytes(key)));
        // A line of a recorded terminal: a time, `"o"`, and what was written.
        if let [first, second] = members
            && self.bytes(&first.value) == b"o"
        {
            self.structure.pieces.push(Piece { stream: u64::MAX, inner: second.value.clone() });
            return;
        }
        if members.len() < 2 {
            return;
        }
        // The lines of an output, a file or a cell.
        let is_of_lines = || {
            let is_named = open.key.as_ref().is_some_and(|key| {
                let key = self.bytes(key).to_ascii_lowercase();
                LINES.iter().any(|name| key.ends_with(name))
            });
            is_named || members[..members.len() - 1].iter().all(|member| self.bytes(&member.value).ends_with(b"\\n"))
        };
        let is_key =
            || members.iter().any(|member| memchr::memmem::find(self.bytes(&member.value), b"PRIVATE KEY").is_some());
        let sort = if is_list {
            ListSort::Parts(Joint::Nothing)
        } else if is_key() || is_of_lines() {
            ListSort::Parts(Joint::Line)
        } else {
            ListSort::Words
        };
        let is_kept =
            sort != ListSort::Words || members.iter().any(|member| self.bytes(&member.value).starts_with(b"-"));
        if is_kept && members.len() <= MAX_PIECES {
            let items = members.iter().map(|member| member.value.clone()).collect();
            self.structure.lists.push(List { items, sort });
        }
    }

    /// Keeps what a table is put together from: the rows in an array, or the names of its columns.
    fn rows(&mut self, open: &Open, members: &[Member]) {
        let cells = || -> Vec<Cell> {
            members.iter().take(MAX_CELLS).map(|member| (member.index, member.value.clone())).collect()
        };
        let is_heading = open.key.as_ref().is_some_and(|key| HEADINGS.contains(&self.bytes(key)));
        if let [first, rows @ ..] = open.rows.as_slice() {
            let is_pairs = open.rows.iter().all(|row| row.len() == 2);
            // Rows whose columns are named by the first of them. Among pairs the first of each is a name.
            let headings: Vec<Cell> = first.iter().filter(|(column, _)| *column > 0 || !is_pairs).cloned().collect();
            self.table(&headings, rows);
            if is_pairs {
                for row in &open.rows {
                    if sensitive(self.bytes(&row[0].1)) && !sensitive(self.bytes(&row[1].1)) {
                        self.structure.relations.insert(row[1].1.start, Relation::ValueOf(row[0].1.clone()));
                    }
                }
            }
        }
        let Some(parent) = self.open.last_mut() else { return };
        if !parent.is_object && !members.is_empty() && parent.rows.len() < MAX_ROWS {
            parent.rows.push(cells());
        } else if parent.is_object && is_heading {
            // The columns may be objects with names.
            let named = open.names.iter().cloned().enumerate();
            parent.headings = if members.is_empty() { named.collect() } else { cells() };
        } else if parent.is_object && !open.rows.is_empty() {
            parent.rows.extend(open.rows.iter().cloned());
        }
    }
}

/// Returns whether a name is one of a secret, or of several.
/// Longest description of a field of a form.
const MAX_FIELD_BYTES: usize = 120;

/// Returns whether the description of a field of a form says that it takes a password.
fn names_a_password(field: &[u8]) -> bool {
    let lower = field[..field.len().min(MAX_FIELD_BYTES)].to_ascii_lowercase();
    [b"password".as_slice(), b"passwd", b"passphrase", b"passcode"]
        .iter()
        .any(|word| memchr::memmem::find(&lower, word).is_some())
}

fn holds_secrets(name: &[u8]) -> bool {
    sensitive(name) || std::str::from_utf8(name).is_ok_and(is_plural)
}

fn sensitive(name: &[u8]) -> bool {
    std::str::from_utf8(name).is_ok_and(|name| sensitive_name(name).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_know_their_names_in_any_order() {
        for (text, value, name) in [
            (r#"{"name":"N","value":"V"}"#, "V", "N"),
            (r#"[{"value":"V","x":[1,{"a":"b"}],"name":"N"}]"#, "V", "N"),
            (r#"{"a":{"ParameterValue":"V","ParameterKey":"N"},"name":"other"}"#, "V", "N"),
        ] {
            let structure = read(text.as_bytes());
            let relations: Vec<_> = structure
                .relations
                .iter()
                .filter_map(|(at, relation)| match relation {
                    Relation::ValueOf(name) => Some((&text[*at..=*at], &text[name.clone()])),
                    _ => None,
                })
                .collect();
            assert_eq!(relations, [(value, name)], "{text}");
        }
    }

    #[test]
    fn pieces_are_counted() {
        let text = "{\"delta\":\"a\"}".repeat(MAX_PIECES + 2);
        assert_eq!(read(text.as_bytes()).pieces.len(), MAX_PIECES);
    }

    #[test]
    fn what_is_deeper_than_the_limit_is_passed_over_and_what_follows_is_read() {
        let named = |depth: usize| {
            let inner = r#"{"name":"N","value":"V"}"#;
            let text = format!("{}{inner}{}", "[".repeat(depth), "]".repeat(depth));
            let at = text.find("V\"").expect("it is there");
            let deep = read(text.as_bytes()).relations.contains_key(&at);
            let text = format!(r#"[{text},{{"value":"W","name":"N"}}]"#);
            let at = text.find("W\"").expect("it is there");
            (deep, read(text.as_bytes()).relations.contains_key(&at))
        };
        assert_eq!(named(MAX_DEPTH - 1), (true, true));
        assert_eq!(named(MAX_DEPTH), (false, true));
        assert_eq!(named(MAX_DEPTH * 3), (false, true));
    }

    #[test]
    fn members_know_the_object_and_the_column_that_they_are_in() {
        let named = |text: &str, value: &str| {
            let at = text.find(value).expect("it is there");
            match read(text.as_bytes()).relations.get(&at) {
                Some(Relation::ValueOf(name) | Relation::Under(name)) => text[name.clone()].to_owned(),
                other => format!("{other:?}"),
            }
        };
        for (text, name) in [
            (r#"{"client_secret": {"value": "V1", "x": 1}}"#, "client_secret"),
            (r#"{"columns": ["user", "password"], "rows": [["a", "V1"], ["b", null]]}"#, "password"),
            (r#"{"rows": [[1, "V1"]], "columns": [{"name": "id"}, {"name": "password"}]}"#, "password"),
            (r#"[["user", "password", "x"], ["a", "V1", "y"]]"#, "password"),
            (r#"[["user", "a"], ["password", "V1"]]"#, "password"),
        ] {
            assert_eq!(named(text, "V1"), name, "{text}");
        }
    }

    #[test]
    fn pieces_know_their_stream() {
        let streams = |text: &str| {
            let structure = read(text.as_bytes());
            let mut streams: Vec<(u64, String)> = Vec::new();
            for piece in structure.pieces {
                let written = &text[piece.inner];
                match streams.iter_mut().find(|(stream, _)| *stream == piece.stream) {
                    Some((_, joined)) => joined.push_str(written),
                    None => streams.push((piece.stream, written.to_owned())),
                }
            }
            let of_lists = structure.lists.iter().filter(|list| list.sort != ListSort::Words);
            let lists = of_lists.map(|list| list.items.iter().map(|item| &text[item.clone()]).collect());
            streams.into_iter().map(|(_, joined)| joined).chain(lists).collect::<Vec<String>>()
        };
        assert_eq!(
            streams(r#"[{"id":"1","delta":"ab"},{"id":"2","delta":"x"},{"id":"1","delta":"cd"}]"#),
            ["abcd", "x"]
        );
        assert_eq!(streams(r#"{"delta":{"content":"ab"}}{"delta":{"content":"cd"}}"#), ["abcd"]);
        assert_eq!(streams(r#"[{"type":"stdout","data":"ab"},{"type":"stdout","data":"cd"}]"#), ["abcd"]);
        assert_eq!(streams(r#"{"chunks":["ab","cd"],"deltas":["x","y"],"other":["1","2"]}"#), ["abcd", "xy"]);
        assert_eq!(streams("[0.5,\"o\",\"ab\"]\n[0.6,\"o\",\"cd\"]"), ["abcd"]);
    }
}
