// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `modelProvider/list`.
 */
export type ModelProviderListParams = Record<symbol, never>;
