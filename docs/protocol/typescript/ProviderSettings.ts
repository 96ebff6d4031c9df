// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { GatewayAuth } from "./GatewayAuth";

/**
 * What a model provider is made of.
 */
export type ProviderSettings = { "type": "openai" } | { "type": "customGateway",
/**
 * How the server proves who it is.
 */
auth: GatewayAuth, } | { "type": "bedrock",
/**
 * The profile.
 */
profile?: string | null,
/**
 * The region.
 */
region?: string | null, } | { "type": "gcp",
/**
 * The file with the credentials.
 */
credentialFile?: string | null,
/**
 * The region.
 */
location?: string | null,
/**
 * The project at the provider.
 */
projectId?: string | null, };
