// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * The part of a snippet that matches.
 */
export type ThreadSearchTextRange = {
/**
 * End of the match.
 */
end: number,
/**
 * Start of the match.
 */
start: number, };
