// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * An absolute path.
 *
 * Decoding refuses a relative path, so that no handler has to check it.
 */
export type AbsolutePath = string;
