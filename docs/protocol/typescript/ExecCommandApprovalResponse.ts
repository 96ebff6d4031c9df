// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ReviewDecision } from "./ReviewDecision";

/**
 * Answer to `execCommandApproval`.
 */
export type ExecCommandApprovalResponse = {
/**
 * The answer.
 */
decision: ReviewDecision, };
