// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ReviewDecision } from "./ReviewDecision";

/**
 * Answer to `applyPatchApproval`.
 */
export type ApplyPatchApprovalResponse = {
/**
 * The answer.
 */
decision: ReviewDecision, };
