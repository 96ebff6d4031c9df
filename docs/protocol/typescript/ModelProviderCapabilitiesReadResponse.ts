// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `modelProvider/capabilities/read`.
 */
export type ModelProviderCapabilitiesReadResponse = {
/**
 * Whether it can make pictures.
 */
imageGeneration: boolean,
/**
 * Whether it can search the web.
 */
webSearch: boolean, };
