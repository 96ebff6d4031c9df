//! Interned strings: each id and name of a trace is stored once.

use std::fmt;
use std::hash::BuildHasher;
use std::ops::{Index, Range};

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::ids::{Handle, Symbol};

/// The strings of a trace.
///
/// All strings are in one buffer, and a table of handles finds them. A long session has hundreds of thousands of strings, and most lookups
/// of the table miss the caches of the processor, so an entry has 8 bytes: the handle, and half of the hash of its string, which tells
/// nearly all strings apart without a look at them and lets the table grow without hashing them again.
#[derive(Clone, Default)]
pub struct Symbols {
    text: String,
    ends: Vec<usize>,
    table: HashTable<(u32, Symbol)>,
}

impl Symbols {
    pub(crate) fn intern(&mut self, text: &str) -> Symbol {
        let hash = hash(text);
        let Self { text: all, ends, table } = self;
        let is_it = |known: &(u32, Symbol)| known.0 == hash && bytes(all, ends, known.1) == text.as_bytes();
        match table.entry(spread(hash), is_it, |known| spread(known.0)) {
            Entry::Occupied(known) => known.get().1,
            Entry::Vacant(place) => {
                let symbol = Symbol::from_index(ends.len());
                place.insert((hash, symbol));
                all.push_str(text);
                ends.push(all.len());
                symbol
            }
        }
    }

    /// Returns the symbol of a string, or `None` if the string is not interned.
    pub fn get(&self, text: &str) -> Option<Symbol> {
        let hash = hash(text);
        let is_it =
            |known: &(u32, Symbol)| known.0 == hash && bytes(&self.text, &self.ends, known.1) == text.as_bytes();
        self.table.find(spread(hash), is_it).map(|(_, symbol)| *symbol)
    }

    /// Returns the number of strings.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether no string is interned.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

fn hash(text: &str) -> u32 {
    // The seed is fixed so that equal runs behave equally. No output may depend on the hash.
    let hash = FixedState::with_seed(0x0074_7261_6365).hash_one(text);
    (hash ^ hash >> 32) as u32
}

/// Returns what the table takes for a hash: it wants all bits of it to differ.
fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn range(ends: &[usize], symbol: Symbol) -> Range<usize> {
    let index = symbol.index();
    let start = if index == 0 { 0 } else { ends[index - 1] };
    start..ends[index]
}

/// Returns the bytes of a string. In contrast to the string, nobody checks that they end between characters.
fn bytes<'a>(text: &'a str, ends: &[usize], symbol: Symbol) -> &'a [u8] {
    &text.as_bytes()[range(ends, symbol)]
}

impl Index<Symbol> for Symbols {
    type Output = str;

    fn index(&self, symbol: Symbol) -> &str {
        &self.text[range(&self.ends, symbol)]
    }
}

impl fmt::Debug for Symbols {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries((0..self.len()).map(|index| &self[Symbol::from_index(index)])).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_strings_are_one_symbol() {
        let mut symbols = Symbols::default();
        let words: Vec<String> = (0..1000).map(|n| format!("id-{}", n % 700)).collect();
        let interned: Vec<Symbol> = words.iter().map(|word| symbols.intern(word)).collect();
        assert_eq!(symbols.len(), 700);
        for (word, symbol) in words.iter().zip(&interned) {
            assert_eq!(&symbols[*symbol], word);
            assert_eq!(symbols.get(word), Some(*symbol));
        }
        assert_eq!(symbols.get("absent"), None);
        let empty = symbols.intern("");
        assert_eq!(&symbols[empty], "");
    }
}
