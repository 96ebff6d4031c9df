// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { FileChange } from "./FileChange";

/**
 * Params of the request to the client `applyPatchApproval`.
 */
export type ApplyPatchApprovalParams = {
/**
 * Id of the tool call that the model chose.
 */
callId: string,
/**
 * Id of the thread.
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
 * Why the patch needs an approval.
 */
reason?: string | null, };
