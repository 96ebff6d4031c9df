//! Interned strings: each id and name of a trace is stored once.

use std::fmt;
use std::hash::BuildHasher;
use std::ops::Index;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use super::ids::{Handle, Symbol};

/// The strings of a trace.
///
/// All strings are in one buffer, and a table of handles finds them.
#[derive(Clone, Default)]
pub struct Symbols {
    text: String,
    ends: Vec<usize>,
    /// Symbols with the hashes of their strings, so that a growing table need not look at the strings.
    table: HashTable<(u64, Symbol)>,
}

impl Symbols {
    pub(crate) fn intern(&mut self, text: &str) -> Symbol {
        let hash = hash(text);
        if let Some(found) = self.find(hash, text) {
            return found;
        }
        let symbol = Symbol::from_index(self.ends.len());
        self.text.push_str(text);
        self.ends.push(self.text.len());
        self.table.insert_unique(hash, (hash, symbol), |(hash, _)| *hash);
        symbol
    }

    /// Returns the symbol of a string, or `None` if the string is not interned.
    pub fn get(&self, text: &str) -> Option<Symbol> {
        self.find(hash(text), text)
    }

    fn find(&self, hash: u64, text: &str) -> Option<Symbol> {
        let is_it = |known: &(u64, Symbol)| known.0 == hash && slice(&self.text, &self.ends, known.1) == text;
        self.table.find(hash, is_it).map(|(_, symbol)| *symbol)
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

fn hash(text: &str) -> u64 {
    // The seed is fixed so that equal runs behave equally. No output may depend on the hash.
    FixedState::with_seed(0x0074_7261_6365).hash_one(text)
}

fn slice<'a>(text: &'a str, ends: &[usize], symbol: Symbol) -> &'a str {
    let index = symbol.index();
    let start = if index == 0 { 0 } else { ends[index - 1] };
    &text[start..ends[index]]
}

impl Index<Symbol> for Symbols {
    type Output = str;

    fn index(&self, symbol: Symbol) -> &str {
        slice(&self.text, &self.ends, symbol)
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
