// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * What was done on the web.
 */
export type WebSearchAction = { "type": "search",
/**
 * What was searched for.
 */
queries?: Array<string> | null,
/**
 * What is searched for.
 */
query?: string | null, } | { "type": "openPage",
/**
 * The address.
 */
url?: string | null, } | { "type": "findInPage",
/**
 * The pattern.
 */
pattern?: string | null,
/**
 * The address.
 */
url?: string | null, } | { "type": "other" };
