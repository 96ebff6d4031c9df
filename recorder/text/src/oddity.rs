//! Single characters that are not shown as themselves.

use unicode_general_category::{GeneralCategory, get_general_category};

/// Most combining marks on one letter. Vietnamese has two, Hebrew with points and accents up to four.
pub const MAX_MARKS: usize = 4;

/// Why a character is not shown as itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Oddity {
    /// It ends a line.
    LineFeed,
    /// It is a tab.
    Tab,
    /// It is any other control character or a separator of lines or paragraphs.
    Control,
    /// It changes the order in which the characters around it are shown.
    Direction,
    /// It has no width, or its glyph is blank.
    Invisible,
    /// It is a space other than U+0020.
    Space,
    /// It looks like an ASCII character.
    LookAlike,
    /// It is one mark too many on a letter, or a mark on something that is not a letter.
    Mark,
    /// It has no standard meaning, so its glyph depends on the font.
    Unassigned,
    /// It is a sign that this crate uses for another character.
    Symbol,
}

/// Sign for a line feed within a line.
pub(crate) const LINE_FEED: char = '\u{23ce}';
/// Sign for a tab.
pub(crate) const TAB: char = '\u{2409}';
/// Sign for a carriage return.
pub(crate) const CARRIAGE_RETURN: char = '\u{240d}';
/// Sign for a space that would be invisible.
pub(crate) const SPACE: char = '\u{2420}';

/// Returns whether a character could affect more than its own place: control characters, and characters that reorder or
/// hide the text around them.
pub fn is_hostile(c: char) -> bool {
    c.is_control() || is_direction(c) || is_separator(c) || is_tag_or_format(c)
}

/// Returns why a character is never shown as itself, whatever its neighbours and its usage. `None` if that depends on
/// them.
pub(crate) fn always(c: char) -> Option<Oddity> {
    match c {
        '\n' => Some(Oddity::LineFeed),
        c if c.is_control() || is_separator(c) => Some(Oddity::Control),
        c if is_direction(c) => Some(Oddity::Direction),
        c if is_no_character(c) => Some(Oddity::Unassigned),
        _ => None,
    }
}

/// Returns whether a character is one of the signs that stand for other characters.
pub(crate) fn is_sign(c: char) -> bool {
    matches!(c, LINE_FEED | TAB | CARRIAGE_RETURN | SPACE)
}

/// Returns whether a character changes the order of the text around it.
fn is_direction(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns whether some programs take a character for the end of a line or paragraph.
fn is_separator(c: char) -> bool {
    matches!(c, '\u{2028}' | '\u{2029}')
}

/// Returns whether a character is a format character without a glyph that no modern script needs.
fn is_tag_or_format(c: char) -> bool {
    matches!(c, '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

fn is_no_character(c: char) -> bool {
    matches!(c, '\u{fdd0}'..='\u{fdef}') || u32::from(c) & 0xfffe == 0xfffe
}

/// Returns whether a character is invisible: the default ignorable code points of Unicode, and two with a blank glyph.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d159}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Returns whether a character selects one of several glyphs of the character before it.
pub(crate) fn is_variation_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Returns whether a mark crosses or encloses its letter, which makes it look like another letter.
pub(crate) fn is_overlay(c: char) -> bool {
    matches!(c, '\u{334}'..='\u{338}' | '\u{20d2}'..='\u{20d3}' | '\u{20d8}'..='\u{20da}' | '\u{20dd}'..='\u{20e0}' | '\u{20e2}'..='\u{20e8}' | '\u{20ea}'..='\u{20eb}')
}

pub(crate) fn is_mark(c: char) -> bool {
    use GeneralCategory::{EnclosingMark, NonspacingMark};
    matches!(get_general_category(c), NonspacingMark | EnclosingMark)
}

pub(crate) fn is_space(c: char) -> bool {
    get_general_category(c) == GeneralCategory::SpaceSeparator
}

/// Returns whether the glyph of a character depends on the font, because it is unassigned or for private use.
pub(crate) fn is_unassigned(c: char) -> bool {
    use GeneralCategory::{PrivateUse, Unassigned};
    matches!(get_general_category(c), PrivateUse | Unassigned)
}

/// Returns whether a character is an emoji or another symbol.
pub(crate) fn is_picture(c: char) -> bool {
    use GeneralCategory::{ModifierSymbol, OtherSymbol};
    let is_symbol = || matches!(get_general_category(c), OtherSymbol | ModifierSymbol);
    let is_other_emoji = matches!(c, '\u{203c}' | '\u{2049}' | '\u{2139}' | '\u{2194}'..='\u{21aa}' | '\u{25fb}'..='\u{25fe}' | '\u{3030}' | '\u{303d}');
    !c.is_ascii() && (is_other_emoji || is_symbol())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_is_hostile_and_what_is_read_is_not() {
        assert!("\u{1b}\r\u{7f}\u{9b}\u{202e}\u{2066}\u{feff}\u{e0041}".chars().all(is_hostile));
        assert!(!"a é שלום 🦀 \u{301} \u{fe0f}".chars().any(is_hostile));
    }

    #[test]
    fn every_ignorable_character_is_invisible() {
        // The tables of look-alikes drop the characters that Unicode calls ignorable.
        for c in (0..=0x0010_ffff).filter_map(char::from_u32) {
            let mut text = [0; 4];
            let is_ignorable = unicode_security::skeleton(c.encode_utf8(&mut text)).next().is_none();
            assert!(!is_ignorable || is_invisible(c), "{}", c.escape_unicode());
        }
    }
}
