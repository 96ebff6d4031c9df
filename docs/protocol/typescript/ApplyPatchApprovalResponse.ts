// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ReviewDecision } from "./ReviewDecision";

/**
 * Response to `applyPatchApproval`.
 */
export type ApplyPatchApprovalResponse = {
/**
 * The decision.
 */
decision: ReviewDecision, };
