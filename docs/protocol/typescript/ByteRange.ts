// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A range of bytes in a text: from `start` up to, but without, `end`.
 */
export type ByteRange = {
/**
 * Where it ends.
 */
end: number,
/**
 * Where it begins.
 */
start: number, };
