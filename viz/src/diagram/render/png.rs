//! A picture as PNG, without any other program.
//!
//! Fonts of the machine are used where it has those that the picture asks for; otherwise letters come from the font that
//! is part of this program, so that there are letters everywhere.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{ImageHrefResolver, Options, Tree};

/// Most pixels of a side of a picture. Few programs show larger ones.
pub const MAX_PNG_SIDE: u32 = 16_000;

/// Most pixels of a picture, of which each takes four bytes of memory.
pub const MAX_PNG_PIXELS: u64 = 64_000_000;

/// Pixels for each unit of length, where the picture does not get too large by it.
pub const PNG_SCALE: u32 = 2;

/// A picture cannot be PNG.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// It would be too large.
    #[error("the picture has {width} x {height} pixels, more than {MAX_PNG_SIDE} to a side or {MAX_PNG_PIXELS} in all")]
    TooLarge {
        /// Its width.
        width: u32,
        /// Its height.
        height: u32,
    },
    /// What was given is no SVG.
    #[error("the picture cannot be read as SVG")]
    NotSvg {
        /// Why.
        source: resvg::usvg::Error,
    },
    /// The pixels cannot be written down.
    #[error("cannot encode the picture: {reason}")]
    CannotEncode {
        /// Why.
        reason: String,
    },
}

/// Which fonts a picture is drawn with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fonts {
    /// Those of the machine as well, which have more letters.
    Machine,
    /// That of this program alone, with which pictures are the same everywhere.
    Own,
}

/// Returns an SVG of this crate as PNG.
///
/// # Errors
/// If the picture would be too large, or is no SVG.
pub fn png(svg: &str, fonts: Fonts) -> Result<Vec<u8>, PngError> {
    let mut options = Options { font_family: "DejaVu Sans".to_owned(), ..Options::default() };
    // Pictures of this crate have no pictures in them: no file is read because of what one says.
    options.image_href_resolver =
        ImageHrefResolver { resolve_data: Box::new(|_, _, _| None), resolve_string: Box::new(|_, _| None) };
    let database = Arc::make_mut(&mut options.fontdb);
    if fonts == Fonts::Machine {
        database.load_system_fonts();
    }
    database.load_font_data(dejavu::sans::regular().to_vec());
    database.load_font_data(dejavu::sans::bold().to_vec());
    database.set_sans_serif_family("DejaVu Sans");
    let tree = Tree::from_str(svg, &options).map_err(|source| PngError::NotSvg { source })?;
    let size = tree.size().to_int_size();
    let (width, height) = (size.width(), size.height());
    let scale = if fits(width, height, PNG_SCALE) { PNG_SCALE } else { 1 };
    if !fits(width, height, scale) {
        return Err(PngError::TooLarge { width, height });
    }
    let too_large = || PngError::TooLarge { width, height };
    let mut pixels = Pixmap::new(width * scale, height * scale).ok_or_else(too_large)?;
    let scale = scale as f32;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| PngError::CannotEncode { reason: error.to_string() })
}

fn fits(width: u32, height: u32, scale: u32) -> bool {
    let (width, height) = (u64::from(width) * u64::from(scale), u64::from(height) * u64::from(scale));
    width.max(height) <= u64::from(MAX_PNG_SIDE) && width * height <= MAX_PNG_PIXELS
}
