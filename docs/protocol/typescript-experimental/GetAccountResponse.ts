// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { Account } from "./Account";
import type { WorkspaceRouting } from "./WorkspaceRouting";

/**
 * Result of `account/read`.
 */
export type GetAccountResponse = {
/**
 * Whether the user must log in before using the server.
 */
requiresOpenaiAuth: boolean,
/**
 * The account. `null` if there is none.
 */
account?: Account | null,
/**
 * Id of the user.
 */
userId?: string | null,
/**
 * Routing of the workspace's requests.
 */
workspaceRouting?: WorkspaceRouting | null, };
