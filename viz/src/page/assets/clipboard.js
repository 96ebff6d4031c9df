/** Copies text to the clipboard, also in a page that was opened as a file and may not use the clipboard API. */

import { announce } from "./announce.js";
import { element } from "./dom.js";

/**
 * Copies a text and tells the reader whether it worked.
 *
 * @param {string} text
 * @param {string} what what was copied, for the reader
 * @returns {Promise<boolean>}
 */
export async function copy(text, what) {
  const done = (await byClipboard(text)) || byCommand(text);
  announce(done ? `Copied ${what}.` : `${what} could not be copied: the browser does not allow it.`);
  return done;
}

async function byClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** Copies with the older method, for browsers that offer no clipboard API here. */
function byCommand(text) {
  const holder = element("textarea", { class: "off-screen", "aria-hidden": "true", tabindex: "-1", readonly: true });
  holder.value = text;
  const focused = document.activeElement;
  document.body.append(holder);
  holder.select();
  let done = false;
  try {
    done = document.execCommand("copy");
  } catch {
    done = false;
  }
  holder.remove();
  focused?.focus?.({ preventScroll: true });
  return done;
}
