// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * How the server authenticates at a gateway.
 */
export type GatewayAuth = { "mode": "none" } | { "mode": "environmentVariable",
/**
 * Name of the environment variable.
 */
envKey: string, } | { "mode": "externallyConfigured",
/**
 * Name of the environment variable.
 */
envKey?: string | null, };
