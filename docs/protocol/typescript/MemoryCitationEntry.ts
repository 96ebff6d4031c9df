// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A place in the memory.
 */
export type MemoryCitationEntry = {
/**
 * The last line.
 */
lineEnd: number,
/**
 * The first line.
 */
lineStart: number,
/**
 * What it says there.
 */
note: string,
/**
 * The path.
 */
path: string, };
