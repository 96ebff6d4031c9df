// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A place in a memory file.
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
 * Content of the place.
 */
note: string,
/**
 * Path of the file.
 */
path: string, };
