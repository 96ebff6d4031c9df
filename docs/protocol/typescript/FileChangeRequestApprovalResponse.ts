// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { FileChangeApprovalDecision } from "./FileChangeApprovalDecision";

/**
 * Response to `item/fileChange/requestApproval`.
 */
export type FileChangeRequestApprovalResponse = {
/**
 * The decision.
 */
decision: FileChangeApprovalDecision, };
