// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `modelProvider/capabilities/read`.
 */
export type ModelProviderCapabilitiesReadResponse = {
/**
 * Whether the provider can generate images.
 */
imageGeneration: boolean,
/**
 * Whether the provider can search the web.
 */
webSearch: boolean, };
