// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * An action on the web.
 */
export type WebSearchAction = { "type": "search",
/**
 * The searched texts.
 */
queries?: Array<string> | null,
/**
 * The searched text.
 */
query?: string | null, } | { "type": "openPage",
/**
 * The URL.
 */
url?: string | null, } | { "type": "findInPage",
/**
 * The searched text.
 */
pattern?: string | null,
/**
 * The URL.
 */
url?: string | null, } | { "type": "other" };
