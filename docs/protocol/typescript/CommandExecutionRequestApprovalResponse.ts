// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { CommandExecutionApprovalDecision } from "./CommandExecutionApprovalDecision";

/**
 * Answer to `item/commandExecution/requestApproval`.
 */
export type CommandExecutionRequestApprovalResponse = {
/**
 * The answer.
 */
decision: CommandExecutionApprovalDecision, };
