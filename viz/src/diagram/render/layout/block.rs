//! Rectangles, and texts at a place.

/// A rectangle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Rect {
    pub(crate) x: i64,
    pub(crate) y: i64,
    pub(crate) width: i64,
    pub(crate) height: i64,
}

impl Rect {
    pub(crate) fn right(self) -> i64 {
        self.x + self.width
    }

    pub(crate) fn bottom(self) -> i64 {
        self.y + self.height
    }

    pub(crate) fn overlaps(self, other: Self) -> bool {
        self.x < other.right() && other.x < self.right() && self.y < other.bottom() && other.y < self.bottom()
    }
}

/// Lines of text and their place.
#[derive(Debug, Clone, Default)]
pub(crate) struct Block {
    pub(crate) lines: Vec<String>,
    pub(crate) place: Rect,
}
