// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ReviewDecision } from "./ReviewDecision";

/**
 * Response to `execCommandApproval`.
 */
export type ExecCommandApprovalResponse = {
/**
 * The decision.
 */
decision: ReviewDecision, };
