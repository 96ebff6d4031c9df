//! The texts of an import: items and payload files, as slices of shared buffers.

use trace_recorder::payloads::Slice;

/// Index of the buffer that holds whole files and the texts between items.
const WHOLE: u32 = 0;

/// The comma at the start of [`WHOLE`], for items that are not adjacent in a buffer.
const COMMA: Slice = Slice { buffer: WHOLE, bytes: 0..1 };

/// The JSON text of one item in a buffer of a [`Draft`](crate::Draft).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ItemText {
    buffer: u32,
    start: usize,
    end: usize,
}

impl ItemText {
    /// An item whose text is not kept.
    pub(crate) fn empty(buffer: u32) -> Self {
        Self { buffer, start: 0, end: 0 }
    }
}

/// A list of items as one request has it.
///
/// Items that were added to the draft one after the other are kept as one run of text. Copying the history of a thread with
/// thousands of items is therefore cheap, and so is a request for each of its prefixes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    runs: Vec<Slice>,
    len: usize,
}

impl History {
    /// Adds an item at the end.
    pub fn push(&mut self, item: ItemText) {
        self.len += 1;
        match self.runs.last_mut() {
            // The comma between the two is part of the buffer.
            Some(run) if run.buffer == item.buffer && run.bytes.end + 1 == item.start => run.bytes.end = item.end,
            _ => self.runs.push(Slice { buffer: item.buffer, bytes: item.start..item.end }),
        }
    }

    /// Removes the last item, which must be `item`.
    pub fn pop(&mut self, item: ItemText) {
        let Some(run) = self.runs.last_mut() else { return };
        self.len -= 1;
        debug_assert_eq!((run.buffer, run.bytes.end), (item.buffer, item.end), "the last item is removed");
        if run.bytes.start >= item.start {
            self.runs.pop();
        } else {
            // The comma before the item stays in the buffer.
            run.bytes.end = item.start - 1;
        }
    }

    /// Returns the number of items.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl FromIterator<ItemText> for History {
    fn from_iter<I: IntoIterator<Item = ItemText>>(items: I) -> Self {
        let mut history = Self::default();
        items.into_iter().for_each(|item| history.push(item));
        history
    }
}

/// The buffers of a draft.
#[derive(Debug)]
pub(crate) struct Buffers(Vec<Vec<u8>>);

impl Buffers {
    pub(crate) fn new() -> Self {
        Self(vec![b",".to_vec()])
    }

    /// Adds a buffer for the items of one thread and returns its index.
    pub(crate) fn add(&mut self) -> u32 {
        self.0.push(Vec::new());
        self.0.len() as u32 - 1
    }

    /// Appends the text of an item, which `write` writes, to a buffer.
    pub(crate) fn item(
        &mut self,
        buffer: u32,
        write: impl FnOnce(&mut Vec<u8>) -> serde_json::Result<()>,
    ) -> serde_json::Result<ItemText> {
        let bytes = &mut self.0[buffer as usize];
        let before = bytes.len();
        if before > 0 {
            bytes.push(b',');
        }
        let start = bytes.len();
        if let Err(error) = write(bytes) {
            bytes.truncate(before);
            return Err(error);
        }
        Ok(ItemText { buffer, start, end: bytes.len() })
    }

    /// Adds to `slices` the file of an item with a text in front of it and one behind it. The item is not copied.
    pub(crate) fn around(&mut self, before: &[u8], item: ItemText, after: &[u8], slices: &mut Vec<Slice>) {
        let item = Slice { buffer: item.buffer, bytes: item.start..item.end };
        slices.extend([self.whole(before), item, self.whole(after)]);
    }

    /// Appends a text that is a whole file, or a part of one.
    pub(crate) fn whole(&mut self, text: &[u8]) -> Slice {
        let bytes = &mut self.0[WHOLE as usize];
        let start = bytes.len();
        bytes.extend_from_slice(text);
        Slice { buffer: WHOLE, bytes: start..bytes.len() }
    }

    /// Adds to `slices` the file of a JSON object: the members of `head`, itself a JSON object, and behind them each list of items
    /// under its name.
    pub(crate) fn with_lists(&mut self, head: &[u8], lists: &[(&str, &History)], slices: &mut Vec<Slice>) {
        let mut text = head.strip_suffix(b"}").unwrap_or(b"{").to_vec();
        for (name, items) in lists {
            if text.last() != Some(&b'{') {
                text.push(b',');
            }
            text.push(b'"');
            text.extend_from_slice(name.as_bytes());
            text.extend_from_slice(b"\":[");
            slices.push(self.whole(&text));
            text.clear();
            for (index, run) in items.runs.iter().enumerate() {
                if index > 0 {
                    slices.push(COMMA);
                }
                slices.push(run.clone());
            }
            text.push(b']');
        }
        text.push(b'}');
        slices.push(self.whole(&text));
    }

    pub(crate) fn into_inner(self) -> Vec<Vec<u8>> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(buffers: &Buffers, slices: &[Slice]) -> String {
        let bytes = slices.iter().flat_map(|slice| &buffers.0[slice.buffer as usize][slice.bytes.clone()]);
        String::from_utf8(bytes.copied().collect()).expect("UTF-8")
    }

    fn with_lists(buffers: &mut Buffers, head: &[u8], lists: &[(&str, &History)]) -> Vec<Slice> {
        let mut slices = Vec::new();
        buffers.with_lists(head, lists, &mut slices);
        slices
    }

    #[test]
    fn neighbours_become_one_run() {
        let mut buffers = Buffers::new();
        let (one, other) = (buffers.add(), buffers.add());
        let mut item =
            |buffer, value: i32| buffers.item(buffer, |bytes| serde_json::to_writer(bytes, &value)).expect("writes");
        let (a, b, c, d) = (item(one, 1), item(one, 22), item(other, 3), item(one, 4));
        let history: History = [a, b, c, d].into_iter().collect();
        assert_eq!((history.len(), history.runs.len()), (4, 3));
        let file = with_lists(&mut buffers, br#"{"model":"m"}"#, &[("input", &history), ("more", &History::default())]);
        assert_eq!(text(&buffers, &file), r#"{"model":"m","input":[1,22,3,4],"more":[]}"#);
        let mut shorter = history.clone();
        [d, c, b].into_iter().for_each(|item| shorter.pop(item));
        assert_eq!(shorter, History::from_iter([a]));
        shorter.pop(a);
        assert_eq!(shorter, History::default());
        let file = with_lists(&mut buffers, b"{}", &[("input", &[d, a].into_iter().collect())]);
        assert_eq!(text(&buffers, &file), r#"{"input":[4,1]}"#);
    }

    #[test]
    fn an_item_is_a_part_of_several_files() {
        let mut buffers = Buffers::new();
        let buffer = buffers.add();
        let item = buffers.item(buffer, |bytes| serde_json::to_writer(bytes, &7)).expect("writes");
        let mut around = Vec::new();
        buffers.around(b"{\"a\":", item, b"}", &mut around);
        let files = [around, with_lists(&mut buffers, b"{}", &[("b", &History::from_iter([item]))])];
        assert_eq!(files.map(|file| text(&buffers, &file)), [r#"{"a":7}"#, r#"{"b":[7]}"#]);
    }

    #[test]
    fn an_item_that_cannot_be_written_leaves_nothing_behind() {
        let mut buffers = Buffers::new();
        let buffer = buffers.add();
        let broken = buffers.item(buffer, |bytes| {
            bytes.extend_from_slice(b"{\"half");
            Err(serde::ser::Error::custom("stopped"))
        });
        broken.expect_err("refused");
        let item = buffers.item(buffer, |bytes| serde_json::to_writer(bytes, &true)).expect("writes");
        assert_eq!((item.start, item.end), (0, 4));
    }
}
