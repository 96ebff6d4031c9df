//! Fills a page with the lists of an answer about one session, from the place where the page before it ended.

use std::collections::HashMap;
use std::hash::Hash;

use serde_json::Value;
use xxhash_rust::xxh3::Xxh3Builder;

use super::asked::Subject;
use crate::answer::Page;
use crate::problem::Problem;

/// The last row of a page: the number of its list, and the key of the row.
pub(super) type Place = (usize, u64);

/// Fills a page.
pub(super) struct Filling<'p> {
    page: &'p mut Page,
    begin: Option<Place>,
    last: Option<Place>,
    list: usize,
    is_lost: bool,
}

impl<'p> Filling<'p> {
    pub(super) fn new(page: &'p mut Page, begin: Option<Place>) -> Self {
        Self { page, begin, last: begin, list: 0, is_lost: false }
    }

    /// Adds the rows of the next list. `id` is what tells a row from others of the list, in every reading of the session. `value`
    /// is only called for rows that may fit.
    pub(super) fn list<T, I: Hash>(
        &mut self,
        name: &'static str,
        rows: impl IntoIterator<Item = T>,
        id: impl Fn(&T) -> I,
        value: impl Fn(&T) -> Value,
        line: impl Fn(&Value) -> String,
    ) {
        let list = self.list;
        self.list += 1;
        let mut skipped = match self.begin {
            Some((begun, _)) if begun > list => return,
            Some((begun, key)) if begun == list => Some(key),
            Some(_) => None,
            None => {
                self.page.list(name);
                None
            }
        };
        // Rows with the same id are told apart by their order.
        let mut times: HashMap<u64, u64> = HashMap::new();
        for row in rows {
            if self.page.is_full() {
                return;
            }
            let id = hash(&id(&row));
            let times = times.entry(id).or_default();
            *times += 1;
            let key = hash(&(id, *times));
            if let Some(last) = skipped {
                if key == last {
                    skipped = None;
                }
                continue;
            }
            if self.page.row(name, value(&row), &line) {
                self.last = Some((list, key));
            }
        }
        self.is_lost |= skipped.is_some();
    }

    /// Returns the place at which the next page begins; `None` if everything fitted.
    pub(super) fn next(self) -> Result<Option<Place>, Problem> {
        if self.is_lost {
            return Err(Problem::new("the session has changed since the call that gave the cursor")
                .with_hint("repeat the call without `cursor`"));
        }
        Ok(self.last.filter(|_| self.page.is_full()))
    }
}

/// Ends an answer about one session.
pub(super) fn end<P>(page: Page, subject: &Subject<P>, next: Option<Place>, narrow: &str) -> Value {
    match next {
        Some(place) => page.end_at(subject.cursors.write(&(subject.entry.key(), place)), narrow),
        None => page.end(),
    }
}

/// Returns a hash that is the same in every process.
fn hash(value: &impl Hash) -> u64 {
    use std::hash::BuildHasher as _;

    Xxh3Builder::new().hash_one(value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::answer::Redactor;

    /// Reads an answer page by page, and returns all rows.
    fn pages(lists: &[Vec<String>; 2]) -> Vec<String> {
        let mut all = Vec::new();
        let mut begin = None;
        for _ in 0..1000 {
            let mut page = Page::new(&Redactor::NONE);
            page.limit_rows(3);
            let mut filling = Filling::new(&mut page, begin);
            for (name, rows) in ["first", "second"].into_iter().zip(lists) {
                filling.list(name, rows, |row| (*row).clone(), |row| json!(row), Value::to_string);
            }
            begin = filling.next().expect("nothing changes");
            let result = page.end();
            for name in ["first", "second"] {
                let rows = result["structuredContent"][name].as_array().cloned().unwrap_or_default();
                all.extend(rows.iter().map(|row| row.as_str().expect("a text").to_owned()));
            }
            if begin.is_none() {
                return all;
            }
        }
        panic!("the pages do not end");
    }

    proptest! {
        #[test]
        fn all_pages_together_have_each_row_once(
            first in prop::collection::vec("[ab]", 0..12),
            second in prop::collection::vec("[ab]", 0..12),
        ) {
            let all: Vec<String> = first.iter().chain(&second).cloned().collect();
            prop_assert_eq!(pages(&[first, second]), all);
        }
    }

    #[test]
    fn a_row_that_is_gone_is_told_of() {
        let mut page = Page::new(&Redactor::NONE);
        let mut filling = Filling::new(&mut page, Some((0, 7)));
        filling.list("rows", ["a"], |row| *row, |row| json!(row), Value::to_string);
        filling.next().expect_err("no row has this key");
    }
}
