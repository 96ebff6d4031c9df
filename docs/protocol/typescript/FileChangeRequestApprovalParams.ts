// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of the request to the client `item/fileChange/requestApproval`.
 */
export type FileChangeRequestApprovalParams = {
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
 * A directory that the model wants to write to from now on.
 */
grantRoot?: string | null,
/**
 * Why.
 */
reason?: string | null, };
