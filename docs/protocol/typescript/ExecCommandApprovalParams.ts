// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ParsedCommand } from "./ParsedCommand";

/**
 * Params of the request to the client `execCommandApproval`.
 */
export type ExecCommandApprovalParams = {
/**
 * The id of the model's call.
 */
callId: string,
/**
 * The program and its arguments.
 */
command: Array<string>,
/**
 * The thread.
 */
conversationId: string,
/**
 * The working directory.
 */
cwd: string,
/**
 * What the parts of the command do, as far as it can be told.
 */
parsedCmd: Array<ParsedCommand>,
/**
 * Tells apart several requests about one item.
 */
approvalId?: string | null,
/**
 * Why.
 */
reason?: string | null, };
