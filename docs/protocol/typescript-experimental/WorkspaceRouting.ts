// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AccountRoutingOverride } from "./AccountRoutingOverride";

/**
 * Routing of a workspace's requests.
 */
export type WorkspaceRouting = {
/**
 * The region to which requests are sent, if it is not the default.
 */
accountRoutingOverride: AccountRoutingOverride,
/**
 * Origin of the provider's service.
 */
backendOrigin: string,
/**
 * The id of the account.
 */
chatgptAccountId: string, };
