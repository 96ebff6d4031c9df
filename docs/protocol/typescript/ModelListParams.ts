// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `model/list`.
 */
export type ModelListParams = {
/**
 * Cursor of the previous page (its `nextCursor`). Without it, the list starts at the beginning.
 */
cursor?: string | null,
/**
 * Whether hidden models are listed too.
 */
includeHidden?: boolean | null,
/**
 * Most entries of a page.
 */
limit?: number | null,
/**
 * Id of the model provider.
 */
modelProvider?: string | null, };
