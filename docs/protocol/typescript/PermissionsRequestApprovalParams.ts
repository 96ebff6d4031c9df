// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { RequestPermissionProfile } from "./RequestPermissionProfile";

/**
 * Params of the request to the client `item/permissions/requestApproval`.
 */
export type PermissionsRequestApprovalParams = {
/**
 * The thread.
 */
threadId: string,
/**
 * The turn.
 */
turnId: string,
/**
 * The item.
 */
itemId: string,
/**
 * When it began, in Unix milliseconds.
 */
startedAtMs: number,
/**
 * The working directory.
 */
cwd: string,
/**
 * What is asked for.
 */
permissions: RequestPermissionProfile,
/**
 * The environment; the server's machine if nothing is said.
 */
environmentId?: string | null,
/**
 * Why.
 */
reason?: string | null, };
