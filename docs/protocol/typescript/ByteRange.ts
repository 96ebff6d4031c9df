// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A range of bytes in a text, from `start` (inclusive) to `end` (exclusive).
 */
export type ByteRange = {
/**
 * End of the range.
 */
end: number,
/**
 * Start of the range.
 */
start: number, };
