//! Handles into the arenas of a trace.

use std::fmt;
use std::ops::{Index, IndexMut};

/// A handle that is an index into one arena.
pub trait Handle: Copy + Eq {
    /// Returns the handle of the object at `index`.
    fn from_index(index: usize) -> Self;
    /// Returns the index of the object.
    fn index(self) -> usize;
}

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
            pub struct $name(u32);

            impl Handle for $name {
                fn from_index(index: usize) -> Self {
                    Self(u32::try_from(index).expect("an arena holds fewer than 2^32 objects"))
                }

                fn index(self) -> usize {
                    self.0 as usize
                }
            }

            impl fmt::Debug for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    write!(f, "{}({})", stringify!($name), self.0)
                }
            }
        )*
    };
}

handles! {
    /// An interned string; resolves in [`Trace::symbols`](super::Trace::symbols).
    Symbol,
    /// A thread in [`Trace::threads`](super::Trace::threads).
    ThreadIdx,
    /// A turn in [`Trace::turns`](super::Trace::turns).
    TurnIdx,
    /// A conversation item in [`Trace::items`](super::Trace::items).
    ItemIdx,
    /// An inference call in [`Trace::inferences`](super::Trace::inferences).
    InferenceIdx,
    /// A code cell in [`Trace::cells`](super::Trace::cells).
    CellIdx,
    /// A tool call in [`Trace::tools`](super::Trace::tools).
    ToolIdx,
    /// A terminal session in [`Trace::sessions`](super::Trace::sessions).
    SessionIdx,
    /// A terminal operation in [`Trace::operations`](super::Trace::operations).
    OperationIdx,
    /// A compaction in [`Trace::compactions`](super::Trace::compactions).
    CompactionIdx,
    /// A compaction request in [`Trace::compaction_requests`](super::Trace::compaction_requests).
    CompactionRequestIdx,
    /// An interaction edge in [`Trace::edges`](super::Trace::edges).
    EdgeIdx,
    /// A payload reference in [`Trace::payloads`](super::Trace::payloads).
    PayloadIdx,
}

/// Objects of one type in the order in which the log introduced them. A handle is an index into the arena.
#[derive(Clone)]
pub struct Arena<I, T> {
    objects: Vec<T>,
    /// Handles of the objects that were added or borrowed mutably, in order and with repetitions. `None` unless
    /// [`watch`](Self::watch) was called.
    touched: Option<Vec<I>>,
}

impl<I: Handle, T> Arena<I, T> {
    pub(crate) const fn new() -> Self {
        Self { objects: Vec::new(), touched: None }
    }

    /// Starts to record which objects are touched.
    pub(crate) fn watch(&mut self) {
        self.touched.get_or_insert_default();
    }

    /// Returns the objects that were touched since the last call and clears the record. The result is empty unless
    /// [`watch`](Self::watch) was called.
    pub(crate) fn take_touched(&mut self) -> Vec<I> {
        self.touched.as_mut().map(std::mem::take).unwrap_or_default()
    }

    fn touch(&mut self, handle: I) {
        if let Some(touched) = &mut self.touched
            && touched.last() != Some(&handle)
        {
            touched.push(handle);
        }
    }

    pub(crate) fn push(&mut self, object: T) -> I {
        let handle = I::from_index(self.objects.len());
        self.objects.push(object);
        self.touch(handle);
        handle
    }

    /// Returns the number of objects.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Returns whether the arena is empty.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// Iterates over the objects in their order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (I, &T)> + DoubleEndedIterator {
        self.objects.iter().enumerate().map(|(index, object)| (I::from_index(index), object))
    }

    /// Iterates over the objects without their handles.
    pub fn values(&self) -> std::slice::Iter<'_, T> {
        self.objects.iter()
    }

    /// Iterates over the handles in their order.
    pub fn handles(&self) -> impl ExactSizeIterator<Item = I> + DoubleEndedIterator + use<I, T> {
        (0..self.objects.len()).map(I::from_index)
    }
}

impl<I: Handle, T> Index<I> for Arena<I, T> {
    type Output = T;

    fn index(&self, handle: I) -> &T {
        &self.objects[handle.index()]
    }
}

impl<I: Handle, T> IndexMut<I> for Arena<I, T> {
    fn index_mut(&mut self, handle: I) -> &mut T {
        self.touch(handle);
        &mut self.objects[handle.index()]
    }
}

impl<I: Handle, T> Default for Arena<I, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I: Handle + fmt::Debug, T: fmt::Debug> fmt::Debug for Arena<I, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}
