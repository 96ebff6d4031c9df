// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `experimentalFeature/list`.
 */
export type ExperimentalFeatureListParams = {
/**
 * Id of the thread.
 */
threadId?: string | null,
/**
 * Cursor of the previous page (its `nextCursor`). Without it, the list starts at the beginning.
 */
cursor?: string | null,
/**
 * Most entries of a page.
 */
limit?: number | null, };
