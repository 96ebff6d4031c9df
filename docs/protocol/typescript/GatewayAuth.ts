// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * How the server proves to a gateway who it is.
 */
export type GatewayAuth = { "mode": "none" } | { "mode": "environmentVariable",
/**
 * The name of the environment variable.
 */
envKey: string, } | { "mode": "externallyConfigured",
/**
 * The name of the environment variable.
 */
envKey?: string | null, };
