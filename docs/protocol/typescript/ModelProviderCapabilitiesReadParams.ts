// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `modelProvider/capabilities/read`.
 */
export type ModelProviderCapabilitiesReadParams = Record<symbol, never>;
