// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A path that starts at the root of the file system.
 *
 * Decoding refuses a relative one, so that no handler can forget to.
 */
export type AbsolutePath = string;
