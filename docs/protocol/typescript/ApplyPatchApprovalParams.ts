// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { FileChange } from "./FileChange";

/**
 * Params of the request to the client `applyPatchApproval`.
 */
export type ApplyPatchApprovalParams = {
/**
 * The id of the model's call.
 */
callId: string,
/**
 * The thread.
 */
conversationId: string,
/**
 * The changes, by path.
 */
fileChanges: { [key in string]: FileChange },
/**
 * A directory that the model wants to write to from now on.
 */
grantRoot?: string | null,
/**
 * Why.
 */
reason?: string | null, };
