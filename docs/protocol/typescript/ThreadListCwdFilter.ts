// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * One directory or several.
 */
export type ThreadListCwdFilter = string | Array<string>;
