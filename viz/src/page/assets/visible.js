/**
 * Makes deceptive texts visible: characters that act, that have no glyph, or that pass for others are shown as escapes.
 * The rules are those of the crate `trace-text`; `tests/page/visible.json` has the cases on which both must agree.
 */

import { LOOK_ALIKES } from "./look_alikes.js";

/** Longest word that is judged as a whole, in characters. */
const MAX_WORD_CHARS = 256;

/** Most combining marks on one letter. */
const MAX_MARKS = 4;

/** Signs for some control characters within a line. */
const SIGNS = new Map([["\n", "\u23ce"], ["\r", "\u240d"], ["\t", "\u2409"]]);

/** Texts that need no check: nearly every text consists only of these characters. */
const PLAIN = /^[\n -~]*$/;
const PLAIN_PROSE = /^[\n\t -~]*$/;
const LETTER = /[\p{Alphabetic}\p{Nd}\p{Nl}\p{No}]/u;
const MARK = /[\p{Mn}\p{Me}]/u;
const DIRECTION = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
const INVISIBLE = /[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d159}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/u;
const OVERLAY = /[\u0334-\u0338\u20d2\u20d3\u20d8-\u20da\u20dd-\u20e0\u20e2-\u20e8\u20ea\u20eb]/u;
const SYMBOL = /[\p{So}\p{Sk}\u203c\u2049\u2139\u2194-\u21aa\u25fb-\u25fe\u3030\u303d]/u;
const UNASSIGNED = /[\p{Co}\p{Cn}]/u;
const EAST_ASIAN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\u3001-\u303f\u30fb\u30fc]/u;
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const INDIC = /[\u0900-\u0dff\u1000-\u109f\u1780-\u18af\ua8e0-\ua8ff]/u;
const SHARED_SCRIPT = /[\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}\p{Script=Unknown}]/u;
const WIDE = /[\uff01-\uff5e]/u;
const FORM = /[\ufe50-\ufe6f\uff01-\uff5e\u{1d400}-\u{1d7ff}]/u;
const FORMULA = /[\u2100-\u218b\u{1d400}-\u{1d7ff}]/u;
const BOX = /[\u2500-\u257f]/u;
const LARGE_PICTURE = /[\u2600-\u2757\u275f-\u27bf\u{1f000}-\u{1ffff}]/u;
const JAMO = /[\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\ud7b0-\ud7fb]/u;

/** What stands for something that is no text. */
const OBJECT = "\ufffc";

const alike = new Map();
for (const [ascii, points] of Object.entries(LOOK_ALIKES)) {
  for (const point of points.split(" ")) alike.set(Number.parseInt(point, 16), ascii);
}

/** Returns the ASCII text that a character looks like, or an empty text. */
function lookAlike(char) {
  if (char <= "\x7f") return "";
  if (!FORM.test(char)) return alike.get(char.codePointAt(0)) ?? "";
  const form = char.normalize("NFKC");
  return /^[\0-\x7f]+$/.test(form) && !(LETTER.test(char) && form.length > 1) ? form : "";
}

/** Returns facts about the word that begins at a place, and its end. */
function wordAt(chars, at) {
  let hasAsciiLetter = false;
  let isAsciiAlike = true;
  let end = at;
  for (; end < chars.length && end - at < MAX_WORD_CHARS; end += 1) {
    const char = chars[end];
    const isInvisible = INVISIBLE.test(char);
    if (!LETTER.test(char) && !MARK.test(char) && !isInvisible) break;
    hasAsciiLetter ||= /[A-Za-z]/.test(char);
    isAsciiAlike &&= char <= "\x7f" || isInvisible || lookAlike(char) !== "";
  }
  return { hasAsciiLetter, isAsciiAlike, end };
}

/**
 * Returns the parts of a text: `[isEscape, shown]`. Line feeds are kept, because the caller shows several lines; {@link
 * visibleLine} is for one line.
 *
 * @param {string} text
 * @param {boolean} isCommand whether the text is executed, so that every character matters
 * @returns {[boolean, string][]}
 */
export function visibleParts(text, isCommand) {
  if ((isCommand ? PLAIN : PLAIN_PROSE).test(text)) return text === "" ? [] : [[false, text]];
  const chars = [...text];
  const parts = [];
  let before = "";
  let marks = 0;
  let word = { hasAsciiLetter: false, isAsciiAlike: true, end: 0 };
  chars.forEach((char, at) => {
    if (at >= word.end && LETTER.test(char)) word = wordAt(chars, at);
    if (MARK.test(char) && !INVISIBLE.test(char)) marks += 1;
    else marks = 0;
    const isOdd = char !== "\n" && isOddChar({ char, at, chars, before, marks, word, isCommand });
    before = isOdd || char === "\n" ? "" : char;
    const shown = isOdd ? escapeOf(char) : char;
    const last = parts.at(-1);
    if (last?.[0] === isOdd) last[1] += shown;
    else parts.push([isOdd, shown]);
  });
  return parts;
}

/**
 * Returns a text as one line.
 *
 * @param {string} text
 * @param {boolean} isCommand
 * @returns {string}
 */
export function visibleLine(text, isCommand) {
  const shown = visibleParts(text, isCommand).map(([, part]) => part).join("");
  return shown.replaceAll("\n", SIGNS.get("\n")).replaceAll("\t", " ");
}

function escapeOf(char) {
  return SIGNS.get(char) ?? `\\u{${char.codePointAt(0).toString(16)}}`;
}

function isOddChar(scene) {
  const { char, marks, before, at, chars, isCommand } = scene;
  if (char >= " " && char <= "~") return false;
  if (char === "\t") return isCommand;
  const point = char.codePointAt(0);
  if (point < 0xa0 || point === 0x2028 || point === 0x2029 || DIRECTION.test(char)) return true;
  if ((point >= 0xfdd0 && point <= 0xfdef) || (point & 0xfffe) === 0xfffe || (point >= 0xd800 && point <= 0xdfff)) return true;
  if (INVISIBLE.test(char)) return !belongs(char, before, chars[at + 1]);
  if (MARK.test(char)) {
    const isKeycap = char === "\u20e3" && /[\ufe0f0-9]/.test(before);
    const hasLetter = before !== "" && (before > "\x7f" || /[A-Za-z0-9]/.test(before));
    return !isKeycap && (marks > MAX_MARKS || !hasLetter || (isCommand && OVERLAY.test(char)));
  }
  if (isCommand && (/[\u23ce\u2409\u240d\u2420]/.test(char) || /\p{Zs}/u.test(char) || UNASSIGNED.test(char) || char === OBJECT)) return true;
  return deceives(scene);
}

/** Says whether a character without a glyph has a legitimate use at its place. */
function belongs(char, before, after = "") {
  if (before === "") return false;
  const isPicture = (it) => SYMBOL.test(it) && it > "\x7f";
  const isJoining = (it) => /\p{Alphabetic}/u.test(it) && !EAST_ASIAN.test(it) && (RIGHT_TO_LEFT.test(it) || INDIC.test(it));
  if (char === "\ufe0e" || char === "\ufe0f") return isPicture(before) || (/[0-9#*]/.test(before) && after === "\u20e3");
  if (/[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/u.test(char)) return /\p{Script=Han}/u.test(before);
  if (char === "\u200d") {
    const joinsPictures = (isPicture(before) || before === "\ufe0f") && isPicture(after);
    return joinsPictures || ((isJoining(before) || MARK.test(before)) && isJoining(after));
  }
  return char === "\u200c" && (isJoining(before) || (MARK.test(before) && INDIC.test(before))) && isJoining(after);
}

/** Says whether a character passes for an ASCII character at its place. */
function deceives({ char, at, chars, before, word, isCommand }) {
  const isLetter = LETTER.test(char);
  const isRightToLeft = RIGHT_TO_LEFT.test(char);
  const isEastAsian = EAST_ASIAN.test(char);
  if (isLetter && !SHARED_SCRIPT.test(char) && !isEastAsian && !isRightToLeft) {
    return isCommand ? word.hasAsciiLetter || word.isAsciiAlike : word.hasAsciiLetter && lookAlike(char) !== "";
  }
  const isBeside = (kind) => kind.test(before) || kind.test(chars[at + 1] ?? "");
  if (isCommand && word.hasAsciiLetter && JAMO.test(char) && !isBeside(EAST_ASIAN)) return true;
  if (isRightToLeft) {
    const isAtHome = isLetter ? !word.hasAsciiLetter : isBeside(RIGHT_TO_LEFT);
    return isCommand && !isAtHome && lookAlike(char) !== "";
  }
  if (SYMBOL.test(char) && !isCommand) return false;
  if (isEastAsian || WIDE.test(char)) {
    let next = at + 1;
    while (chars[next] === " ") next += 1;
    const isAtHome = (before !== "" && (EAST_ASIAN.test(before) || WIDE.test(before))) || EAST_ASIAN.test(chars[next] ?? "");
    return !isAtHome && (isCommand || word.hasAsciiLetter) && lookAlike(char) !== "";
  }
  if (isLetter) return ((isCommand && word.isAsciiAlike) || (FORMULA.test(char) && word.hasAsciiLetter)) && lookAlike(char) !== "";
  const isLargePicture = LARGE_PICTURE.test(char) && SYMBOL.test(char);
  return isCommand && !isLargePicture && !isDrawn(char, before, chars[at + 1]) && lookAlike(char) !== "";
}

/**
 * Says whether the neighbours of a sign make clear what it is: a part of a drawing next to another part, or a
 * multiplication sign that is not within a word.
 */
function isDrawn(char, before, after = "") {
  if (char === "\u00d7") return /^[ 0-9]$/.test(before) && /^[ 0-9]$/.test(after);
  return BOX.test(char) && (BOX.test(before) || BOX.test(after));
}
