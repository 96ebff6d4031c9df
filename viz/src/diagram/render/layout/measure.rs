//! Widths of texts.

use skrifa::charmap::Charmap;
use skrifa::instance::{LocationRef, Size};
use skrifa::metrics::GlyphMetrics;
use skrifa::{FontRef, MetadataProvider};
use unicode_width::UnicodeWidthChar;

/// The font in which texts are measured. It is wide, so that texts in another font fit too.
pub(crate) struct Measure {
    regular: Face,
    bold: Face,
}

struct Face {
    letters: Charmap<'static>,
    /// Widths of the glyphs in units of the font. An em has `units_per_em` of them.
    advances: GlyphMetrics<'static>,
    units_per_em: f64,
}

impl Face {
    fn new(data: &'static [u8]) -> Self {
        let font = FontRef::new(data).expect("the font is part of the program");
        let units_per_em = f64::from(font.metrics(Size::unscaled(), LocationRef::default()).units_per_em);
        let advances = font.glyph_metrics(Size::unscaled(), LocationRef::default());
        Self { letters: font.charmap(), advances, units_per_em }
    }

    fn width(&self, text: &str, size: i64) -> i64 {
        let ems: f64 = text.chars().map(|c| self.ems(c)).sum();
        // Texts are at most a few hundred letters long, so the value fits.
        (ems * size as f64).ceil() as i64
    }

    fn ems(&self, c: char) -> f64 {
        let known = self.letters.map(c).and_then(|glyph| self.advances.advance_width(glyph));
        match known {
            Some(units) => f64::from(units) / self.units_per_em,
            // The letter comes from another font: assume a width, larger if it takes two columns in a terminal.
            None => match c.width() {
                Some(0) | None => 0.0,
                Some(1) => 0.7,
                Some(_) => 1.25,
            },
        }
    }
}

impl Measure {
    pub(crate) fn new() -> Self {
        Self { regular: Face::new(dejavu::sans::regular()), bold: Face::new(dejavu::sans::bold()) }
    }

    /// Returns the width of a line of regular letters of this size.
    pub(crate) fn width(&self, text: &str, size: i64) -> i64 {
        self.regular.width(text, size)
    }

    /// Returns the width of a line of bold letters of this size.
    pub(crate) fn bold_width(&self, text: &str, size: i64) -> i64 {
        self.bold.width(text, size)
    }
}
