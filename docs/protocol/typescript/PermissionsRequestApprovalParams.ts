// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { RequestPermissionProfile } from "./RequestPermissionProfile";

/**
 * Params of the request to the client `item/permissions/requestApproval`.
 */
export type PermissionsRequestApprovalParams = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * Id of the turn.
 */
turnId: string,
/**
 * Id of the item.
 */
itemId: string,
/**
 * Start time in Unix milliseconds.
 */
startedAtMs: number,
/**
 * The working directory.
 */
cwd: string,
/**
 * The requested permissions.
 */
permissions: RequestPermissionProfile,
/**
 * Id of the environment. Without it, the server's machine.
 */
environmentId?: string | null,
/**
 * Why the model asks for the permissions.
 */
reason?: string | null, };
