// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Items of which large outputs are left out of a page.
 */
export type ThreadItemOutputDeferral = { };
