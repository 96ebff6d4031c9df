/**
 * The token that a server's web client asks for. The address that the server prints has it in the fragment, which no
 * request contains. It is taken out of the address at once, so that it is not in a bookmark or a screenshot, and kept for
 * this tab.
 */

const NAME = "trace-web.token";
const FRAGMENT = "#token=";

/** The token, if the browser does not allow pages to store it. */
let kept = "";

/**
 * Takes the token out of the address, if it is there, and returns the token of this tab. Returns an empty text if there
 * is none, as in a page that needs none.
 *
 * @returns {string}
 */
export function takeToken() {
  if (location.hash.startsWith(FRAGMENT)) {
    keepToken(decoded(location.hash.slice(FRAGMENT.length)));
    history.replaceState(history.state, "", location.pathname + location.search);
  }
  return knownToken();
}

/**
 * Returns the token of this tab, or an empty text.
 *
 * @returns {string}
 */
export function knownToken() {
  try {
    return sessionStorage.getItem(NAME) ?? kept;
  } catch {
    return kept;
  }
}

/**
 * Keeps a token for this tab. An empty text forgets it.
 *
 * @param {string} token
 */
export function keepToken(token) {
  kept = token;
  try {
    if (token) sessionStorage.setItem(NAME, token);
    else sessionStorage.removeItem(NAME);
  } catch {
    // Without storage, the token is asked for again when the page is loaded again.
  }
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
