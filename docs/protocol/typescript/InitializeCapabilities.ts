// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";

/**
 * Capabilities and wishes of a client.
 */
export type InitializeCapabilities = {
/**
 * Whether the client uses experimental parts of the protocol.
 */
experimentalApi?: boolean | null,
/**
 * Whether the client itself starts logins at gateways.
 */
explicitGatewayOauth?: boolean | null,
/**
 * Capabilities of the client that the protocol does not define.
 */
extensions?: { [key in string]: JsonValue } | null,
/**
 * Whether the client shows the provider's own kind of forms.
 */
mcpServerOpenaiFormElicitation?: boolean | null,
/**
 * Exact names of notifications that the client does not want.
 */
optOutNotificationMethods?: Array<string> | null,
/**
 * Whether the client can prove its identity.
 */
requestAttestation?: boolean | null,
/**
 * Whether the client accepts requests that only a person may answer.
 */
requiredHumanApproval?: boolean | null, };
