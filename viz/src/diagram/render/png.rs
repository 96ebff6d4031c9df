//! A picture as PNG, made without any other program.
//!
//! Fonts of the machine are used if it has the ones that the picture asks for. Otherwise the font that is part of this
//! program is used, so that there is text on every machine.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{ImageHrefResolver, Options, Tree};

/// Most pixels of a side of a picture. Few programs show larger ones.
pub const MAX_PNG_SIDE: u32 = 16_000;

/// Most pixels of a picture. Each takes four bytes of memory.
pub const MAX_PNG_PIXELS: u64 = 64_000_000;

/// Pixels for each unit of length of the SVG, unless the picture gets too large.
pub const PNG_SCALE: u32 = 2;

/// Why a picture could not be written as PNG.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// It would have more pixels than the limits allow.
    #[error("the picture has {width} x {height} pixels, more than {MAX_PNG_SIDE} to a side or {MAX_PNG_PIXELS} in all")]
    TooLarge {
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
    },
    /// The input is not an SVG document.
    #[error("the picture cannot be read as SVG")]
    NotSvg {
        /// The error of the SVG reader.
        source: resvg::usvg::Error,
    },
    /// The pixels could not be encoded.
    #[error("cannot encode the picture: {reason}")]
    CannotEncode {
        /// The message of the encoder.
        reason: String,
    },
}

/// Which fonts a picture is drawn with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fonts {
    /// The fonts of the machine and that of this program. Together they have more characters than the latter alone.
    Machine,
    /// Only the font of this program, so that a picture has the same bytes on every machine.
    Own,
}

/// Returns an SVG of this crate as PNG.
///
/// # Errors
///
/// Returns an error if the picture would be too large, if the input is not SVG, or if the pixels cannot be encoded.
pub fn png(svg: &str, fonts: Fonts) -> Result<Vec<u8>, PngError> {
    let mut options = Options { font_family: "DejaVu Sans".to_owned(), ..Options::default() };
    // Pictures of this crate contain no images. Resolve none, so that no file is read because an SVG names it.
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
