// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of the request to the client `item/fileChange/requestApproval`.
 */
export type FileChangeRequestApprovalParams = {
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
 * A directory that the model wants to write to from now on.
 */
grantRoot?: string | null,
/**
 * Why the changes need an approval.
 */
reason?: string | null, };
