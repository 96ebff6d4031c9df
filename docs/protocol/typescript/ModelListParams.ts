// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `model/list`.
 */
export type ModelListParams = {
/**
 * Where to go on: the cursor that a page before gave.
 */
cursor?: string | null,
/**
 * Whether hidden ones are wanted too.
 */
includeHidden?: boolean | null,
/**
 * The most that a page holds.
 */
limit?: number | null,
/**
 * The model provider.
 */
modelProvider?: string | null, };
