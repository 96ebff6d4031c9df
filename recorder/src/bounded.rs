//! A list of findings with a limit per code, because a bundle can consist of nothing but damage.

use std::collections::BTreeMap;
use std::fmt::{Debug, Display};

use crate::severity::{MAX_PER_CODE, Severity};

/// An item with a code. [`Bounded`] keeps a limited number of items of each code.
pub trait Coded: Display {
    /// What kind of finding it is. Reports list the codes in their order.
    type Code: Copy + Ord + Debug;

    /// Returns the code of the item.
    fn code(&self) -> Self::Code;
}

/// A code that has a severity.
pub trait Weighed {
    /// Returns the severity of the code.
    fn severity(self) -> Severity;
}

/// Declares an enum `Code` from a table of codes, in the order in which reports list them. A line is the doc comment of a
/// code, its identifier, its stable name and the severity of its findings. If the table begins with `areas Type;`, each line
/// ends with `in` and one of the areas of that type.
#[doc(hidden)]
#[macro_export]
macro_rules! codes {
    (areas $areas:ident; $($(#[$doc:meta])* $code:ident = $name:literal $severity:ident in $area:ident,)*) => {
        $crate::codes! { $($(#[$doc])* $code = $name $severity,)* }

        impl Code {
            /// Returns the area of the code.
            pub fn area(self) -> $areas {
                match self {
                    $(Self::$code => $areas::$area,)*
                }
            }
        }
    };
    ($($(#[$doc:meta])* $code:ident = $name:literal $severity:ident,)*) => {
        /// What a finding reports. The names are stable.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $($(#[$doc])* $code,)*
        }

        impl Code {
            /// All codes.
            pub const ALL: &'static [Self] = &[$(Self::$code),*];

            /// Returns the stable name of the code.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$code => $name,)*
                }
            }

            /// Returns the severity of findings with this code.
            pub fn severity(self) -> $crate::Severity {
                match self {
                    $(Self::$code => $crate::Severity::$severity,)*
                }
            }
        }

        impl std::fmt::Display for Code {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl $crate::bounded::Weighed for Code {
            fn severity(self) -> $crate::Severity {
                self.severity()
            }
        }

        #[cfg(test)]
        #[test]
        fn names_of_codes_are_unique_and_in_snake_case() {
            let names: std::collections::BTreeSet<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
            assert_eq!(names.len(), Code::ALL.len());
            assert!(names.iter().all(|name| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')));
        }
    };
}

/// The first [`MAX_PER_CODE`] items of each code, and the number of all items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bounded<T: Coded> {
    kept: Vec<T>,
    counts: BTreeMap<T::Code, u64>,
}

impl<T: Coded> Default for Bounded<T> {
    fn default() -> Self {
        Self { kept: Vec::new(), counts: BTreeMap::new() }
    }
}

impl<T: Coded> Bounded<T> {
    /// Counts `item`, and keeps it unless [`MAX_PER_CODE`] items of its code were kept already.
    pub fn push(&mut self, item: T) {
        self.insert(self.kept.len(), item);
    }

    /// Counts `item` like [`push`](Self::push), and keeps it at position `at` of the kept items. Returns whether it was kept.
    pub fn insert(&mut self, at: usize, item: T) -> bool {
        let count = self.counts.entry(item.code()).or_default();
        *count += 1;
        let is_kept = *count <= MAX_PER_CODE as u64;
        if is_kept {
            tracing::debug!(%item, "found");
            self.kept.insert(at, item);
        }
        is_kept
    }

    /// Iterates over the kept items, in the order in which they were pushed.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.kept.iter()
    }

    /// Returns the number of items of a code, kept or not.
    pub fn count(&self, code: T::Code) -> u64 {
        self.counts.get(&code).copied().unwrap_or(0)
    }

    /// Returns the number of all items, kept or not.
    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Returns the number of items, kept or not, of the codes for which `is_wanted` returns true.
    pub fn count_where(&self, mut is_wanted: impl FnMut(T::Code) -> bool) -> u64 {
        self.counts.iter().filter(|(code, _)| is_wanted(**code)).map(|(_, count)| count).sum()
    }

    /// Returns the codes of which not all items were kept, with the number of items that were not.
    pub fn left_out(&self) -> impl Iterator<Item = (T::Code, u64)> + '_ {
        self.counts.iter().filter_map(|(code, count)| {
            let left = count.saturating_sub(MAX_PER_CODE as u64);
            (left > 0).then_some((*code, left))
        })
    }

    /// Returns whether no item was pushed.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }
}

impl<T: Coded> Bounded<T>
where
    T::Code: Weighed,
{
    /// Returns the number of items of a severity, kept or not.
    pub fn count_of(&self, severity: Severity) -> u64 {
        self.count_where(|code| code.severity() == severity)
    }

    /// Returns the number of items of at least this severity, kept or not.
    pub fn count_at_least(&self, severity: Severity) -> u64 {
        self.count_where(|code| code.severity() >= severity)
    }
}

impl<'a, T: Coded> IntoIterator for &'a Bounded<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Coded for u64 {
        type Code = Severity;

        fn code(&self) -> Severity {
            [Severity::Note, Severity::Warning, Severity::Error][*self as usize % 3]
        }
    }

    impl Weighed for Severity {
        fn severity(self) -> Severity {
            self
        }
    }

    #[test]
    fn all_are_counted_and_some_are_kept() {
        let mut found = Bounded::default();
        assert!(found.is_empty());
        (0..1000_u64).for_each(|number| found.push(number));
        let expected: Vec<u64> = (0..3 * MAX_PER_CODE as u64).collect();
        assert_eq!(found.iter().copied().collect::<Vec<_>>(), expected, "the first of each code, in order");
        assert_eq!((found.total(), found.count(Severity::Note), found.count_of(Severity::Error)), (1000, 334, 333));
        assert_eq!(found.count_at_least(Severity::Warning), 666);
        let left = [(Severity::Note, 234), (Severity::Warning, 233), (Severity::Error, 233)];
        assert_eq!(found.left_out().collect::<Vec<_>>(), left);
        assert!(!found.is_empty());
    }

    #[test]
    fn items_are_inserted_where_they_belong() {
        let mut found = Bounded::default();
        (0..MAX_PER_CODE as u64).for_each(|number| found.push(3 * number));
        assert!(found.insert(1, 1) && !found.insert(0, 0));
        assert_eq!(found.iter().copied().take(3).collect::<Vec<_>>(), [0, 1, 3]);
        assert_eq!(found.total(), MAX_PER_CODE as u64 + 2);
    }
}
