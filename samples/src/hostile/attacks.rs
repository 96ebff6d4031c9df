//! Hostile texts, which attack programs that show them without escaping.
//!
//! If one of them runs in a page, it sets `window.pwned`, opens a dialog, or sends a request to `attacker.invalid`, so that
//! a test can detect it.

/// Attacks for names: short, without `/` and NUL, so that they can also be in agent paths and file names.
pub const IN_NAMES: [&str; 20] = [
    "<svg onload=window.pwned=1>",
    "<img src=x onerror=window.pwned=1>",
    "\"><svg onload=alert(1)>",
    "' onmouseover='window.pwned=1' x='",
    "\" autofocus onfocus=\"window.pwned=1\" tabindex=\"0\" x=\"",
    "javascript:window.pwned=1",
    "<script>window.pwned=1<\\script>",
    "<!--",
    "]]>",
    "{{constructor.constructor('window.pwned=1')()}}",
    "${window.pwned=1}`+'\"\\",
    "#x&y=%22%3Csvg%20onload=window.pwned=1%3E",
    "\u{202e}gnp.exe\u{2066}\u{200b}",
    "\u{2028}\u{2029}window.pwned=1",
    "\u{1f469}\u{200d}\u{1f4bb}\u{1f1fa}\u{1f1f3}e\u{301}\u{fffd}\u{10ffff}",
    "\u{5e9}\u{5dc}\u{5d5}\u{5dd} \u{645}\u{631}\u{62d}\u{628}\u{627}",
    "\u{1b}[31m\u{1b}]0;pwned\u{7}\r\t\u{8}",
    "\\\" ]; evil [label=\"<b>\\N\\l\"];\n",
    "\"]\nend\nclick A href \"javascript:window.pwned=1\"\n%%{init: {}}%%;--",
    "=cmd|' C'!A1; DROP TABLE threads;--",
];

/// Values that replace some whole ids: names of properties that every JavaScript object has, and values that a program may
/// take for a missing value.
pub const WHOLE_IDS: [&str; 8] =
    ["__proto__", "constructor", "toString", "hasOwnProperty", "null", " ", "<plaintext>", "..%2f#?:&"];

/// Attacks for texts. They may have any length.
pub const IN_TEXTS: [&str; 24] = [
    "<script>window.pwned=1</script>",
    "</script><script>window.pwned=1</script>",
    "</ScRiPt ><img src=x onerror=window.pwned=1>",
    "</style></title></textarea></noscript></template><svg onload=window.pwned=1>",
    "\"><svg onload=window.pwned=1>",
    "'><img src=x onerror='window.pwned=1'>",
    "<iframe srcdoc=\"<script>parent.pwned=1</script>\"></iframe>",
    "<a href=\"javascript:window.pwned=1\">javascript:window.pwned=1</a>",
    "[a link](javascript:window.pwned=1) ![an image](http://attacker.invalid/markdown.png) <http://attacker.invalid/auto>",
    "<link rel=stylesheet href=http://attacker.invalid/x.css><style>@import 'http://attacker.invalid/y.css';</style>",
    "<img src=http://attacker.invalid/image.png><meta http-equiv=refresh content=\"0;url=http://attacker.invalid/\">",
    "<base href=http://attacker.invalid/><form action=http://attacker.invalid/><input name=x autofocus>",
    "<object data=http://attacker.invalid/o></object><embed src=http://attacker.invalid/e>",
    "background:url(http://attacker.invalid/background)}*{color:red",
    "<!-- <script> ]]> --!> <![CDATA[ <?xml ?>",
    "<math><mtext></p><style><!--</style><img title=\"--><svg onload=window.pwned=1>\">",
    "{{constructor.constructor('window.pwned=1')()}} ${window.pwned=1} <%= window.pwned=1 %>",
    "\u{2028}\u{2029}window.pwned=1;\u{0}\u{1}\u{7f}\u{85}\u{feff}",
    "\u{202e}\u{2067}txet desrever\u{2069}\u{202c} \u{200b}\u{ad}",
    "\u{5d4}\u{5e1}\u{5d5}\u{5db}\u{5df} \u{5e0}\u{5db}\u{5e9}\u{5dc} \u{627}\u{644}\u{639}\u{631}\u{628}\u{64a}\u{629}",
    "\u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467}\u{1f3fd}\u{1f1fa}\u{1f1f3} Z\u{351}\u{36b}\u{343}\u{36a}\u{302}\u{36b}",
    "\u{1b}[2J\u{1b}]8;;http://attacker.invalid\u{7}click\u{1b}]8;;\u{7}\r\u{8}\u{9b}31m",
    "\"]; evil [label=<<b>x</b>>, URL=\"javascript:window.pwned=1\"]; \\N \\l \\",
    "%%{init: {'securityLevel': 'loose'}}%%\nclick A call alert(1)\nend\n```\n---\n# heading\n| a | b |\n",
];

/// Size in bytes of a text that is too long to be shown completely.
pub const LONG_BYTES: usize = 10_000;

/// Returns a word of [`LONG_BYTES`] bytes without a place for a line break, with an attack at its end.
pub fn long_word() -> String {
    let attack = IN_TEXTS[1];
    let mut text = "W".repeat(LONG_BYTES - attack.len());
    text.push_str(attack);
    text
}

/// Returns all attacks for texts, one per line.
pub fn all_texts() -> String {
    IN_TEXTS.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_can_stand_in_paths() {
        for attack in IN_NAMES {
            assert!(!attack.contains(['/', '\0']) && attack.len() < 100, "{attack:?}");
        }
        assert_eq!(long_word().len(), LONG_BYTES);
    }
}
