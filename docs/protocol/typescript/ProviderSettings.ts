// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { GatewayAuth } from "./GatewayAuth";

/**
 * Settings of a model provider.
 */
export type ProviderSettings = { "type": "openai" } | { "type": "customGateway",
/**
 * How the server authenticates.
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
 * File with the credentials.
 */
credentialFile?: string | null,
/**
 * The region.
 */
location?: string | null,
/**
 * Id of the project.
 */
projectId?: string | null, };
