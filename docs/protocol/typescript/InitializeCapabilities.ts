// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";

/**
 * What a client can do and wants.
 */
export type InitializeCapabilities = {
/**
 * Whether the client wants what is experimental.
 */
experimentalApi?: boolean | null,
/**
 * Whether the client starts logins at gateways itself.
 */
explicitGatewayOauth?: boolean | null,
/**
 * What the client can do beyond the protocol.
 */
extensions?: { [key in string]: JsonValue } | null,
/**
 * Whether the client shows forms of the provider's own kind.
 */
mcpServerOpenaiFormElicitation?: boolean | null,
/**
 * Notifications that the client does not want, by their exact names.
 */
optOutNotificationMethods?: Array<string> | null,
/**
 * Whether the client can prove what it is.
 */
requestAttestation?: boolean | null,
/**
 * Whether the client takes requests that only a human may answer.
 */
requiredHumanApproval?: boolean | null, };
