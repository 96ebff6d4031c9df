// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `config/read`.
 */
export type ConfigReadParams = {
/**
 * The directory whose settings count.
 */
cwd?: string | null,
/**
 * Whether the places that settings come from are wanted too.
 */
includeLayers?: boolean | null, };
