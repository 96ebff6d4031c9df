// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { Account } from "./Account";
import type { WorkspaceRouting } from "./WorkspaceRouting";

/**
 * Result of `account/read`.
 */
export type GetAccountResponse = {
/**
 * Whether clients have to let the user log in first.
 */
requiresOpenaiAuth: boolean,
/**
 * The account; `null` where there is none.
 */
account?: Account | null,
/**
 * The id of the user.
 */
userId?: string | null,
/**
 * Where the requests of the workspace go.
 */
workspaceRouting?: WorkspaceRouting | null, };
