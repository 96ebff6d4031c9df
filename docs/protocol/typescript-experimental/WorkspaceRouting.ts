// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AccountRoutingOverride } from "./AccountRoutingOverride";

/**
 * Where the requests of a workspace go.
 */
export type WorkspaceRouting = {
/**
 * Where the requests of the account go against the usual choice.
 */
accountRoutingOverride: AccountRoutingOverride,
/**
 * The address of the service.
 */
backendOrigin: string,
/**
 * The id of the account.
 */
chatgptAccountId: string, };
