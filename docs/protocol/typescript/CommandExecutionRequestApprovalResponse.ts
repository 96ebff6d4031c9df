// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { CommandExecutionApprovalDecision } from "./CommandExecutionApprovalDecision";

/**
 * Response to `item/commandExecution/requestApproval`.
 */
export type CommandExecutionRequestApprovalResponse = {
/**
 * The decision.
 */
decision: CommandExecutionApprovalDecision, };
