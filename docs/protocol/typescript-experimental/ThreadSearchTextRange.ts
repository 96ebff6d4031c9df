// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * The part of a snippet that matches.
 */
export type ThreadSearchTextRange = {
/**
 * Where it ends.
 */
end: number,
/**
 * Where it begins.
 */
start: number, };
