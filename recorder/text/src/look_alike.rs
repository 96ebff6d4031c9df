//! Characters that look like ASCII characters.

use unicode_normalization::UnicodeNormalization;
use unicode_script::{Script, UnicodeScript};

/// Returns the ASCII text, one or a few characters, that a character looks like. `None` if there is none or the
/// character is ASCII itself. The tables are those of Unicode Technical Standard 39, plus the wide and small forms of
/// ASCII and the letters for formulas.
pub fn look_alike(c: char) -> Option<String> {
    if c.is_ascii() {
        return None;
    }
    let mut text = [0; 4];
    let text = &*c.encode_utf8(&mut text);
    let is_form = matches!(c, '\u{fe50}'..='\u{fe6f}' | '\u{ff01}'..='\u{ff5e}' | '\u{1d400}'..='\u{1d7ff}');
    let alike: String =
        if is_form { text.nfkc().collect() } else { unicode_security::skeleton(text).map(stroke).collect() };
    // An ellipsis, long dashes and ligatures are read as what they are.
    let is_ligature = c.is_alphabetic() && alike.chars().count() > 1;
    (alike.is_ascii() && !alike.is_empty() && !is_ligature && !matches!(c, '…' | '—' | '―')).then_some(alike)
}

/// Returns the sign of ASCII that a stroke looks like. The tables have some strokes in classes of their own, although they look like a
/// dash, a bar, a comma and quotes.
fn stroke(c: char) -> char {
    match c {
        '\u{30fc}' | '\u{23af}' => '-',
        '\u{4e28}' | '\u{2758}'..='\u{275a}' => '|',
        '\u{275b}' | '\u{275c}' => '\'',
        '\u{275d}' | '\u{275e}' => '"',
        '\u{2cf}' => ',',
        c => c,
    }
}

/// Returns whether a character is a part of a Korean letter, which stands alone only where no word is written.
pub(crate) fn is_jamo(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{11ff}' | '\u{3131}'..='\u{318e}' | '\u{a960}'..='\u{a97c}' | '\u{d7b0}'..='\u{d7fb}')
}

/// Returns whether a character belongs to a script with letters that look like Latin ones and with words that contain no
/// Latin letters. Right-to-left and East Asian scripts are excluded, since their words do not look like ASCII words.
pub(crate) fn is_of_other_alphabet(c: char) -> bool {
    let script = c.script();
    let is_common = matches!(script, Script::Latin | Script::Common | Script::Inherited | Script::Unknown);
    !is_common && !is_east_asian(c) && !is_right_to_left(c)
}

/// Returns whether a character is part of Chinese, Japanese or Korean text.
pub(crate) fn is_east_asian(c: char) -> bool {
    let is_letter =
        matches!(c.script(), Script::Han | Script::Hiragana | Script::Katakana | Script::Hangul | Script::Bopomofo);
    is_letter || matches!(c, '\u{3001}'..='\u{303f}' | '\u{30fb}'..='\u{30fc}')
}

/// Returns whether a character is written from right to left.
pub(crate) fn is_right_to_left(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
}

/// Returns the name of a character's script. `None` if the script is common to several or unknown.
pub(crate) fn script_name(c: char) -> Option<&'static str> {
    match c.script() {
        Script::Common | Script::Inherited | Script::Unknown => None,
        script => Some(script.full_name()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn look_alikes_are_known_by_their_ascii() {
        let alike: Vec<String> = "аеоіѕһԁΑο；／＆｜；⁄∕‐−’“ａ𝐫ⅰ‚\u{37e}ꓲ﹔"
            .chars()
            .map(|c| look_alike(c).unwrap_or_else(|| panic!("{c} has no look-alike")))
            .collect();
        insta::assert_snapshot!(alike.join(" "), @"a e o i s h d A o ; / & | ; / / - - ' '' a r i , ; l ;");
        assert_eq!("ー一─⎯丨ㅣ❘͵❛❞".chars().filter_map(look_alike).collect::<String>(), "----|||,'\"");
        assert!("éüñøßжЯщ漢字あいنس한글🦀…æœ".chars().all(|c| look_alike(c).is_none()));
    }
}
