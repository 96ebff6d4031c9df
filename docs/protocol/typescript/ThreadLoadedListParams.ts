// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `thread/loaded/list`.
 */
export type ThreadLoadedListParams = {
/**
 * Where to go on: the cursor that a page before gave.
 */
cursor?: string | null,
/**
 * The most that a page holds.
 */
limit?: number | null, };
