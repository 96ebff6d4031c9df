// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * One or several directories.
 */
export type ThreadListCwdFilter = string | Array<string>;
