// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `config/read`.
 */
export type ConfigReadParams = {
/**
 * The directory whose project settings apply.
 */
cwd?: string | null,
/**
 * Whether the response contains the layers.
 */
includeLayers?: boolean | null, };
