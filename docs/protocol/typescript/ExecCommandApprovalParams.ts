// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ParsedCommand } from "./ParsedCommand";

/**
 * Params of the request to the client `execCommandApproval`.
 */
export type ExecCommandApprovalParams = {
/**
 * Id of the tool call that the model chose.
 */
callId: string,
/**
 * The program and its arguments.
 */
command: Array<string>,
/**
 * Id of the thread.
 */
conversationId: string,
/**
 * The working directory.
 */
cwd: string,
/**
 * What the parts of the command do, as far as the server can tell.
 */
parsedCmd: Array<ParsedCommand>,
/**
 * Distinguishes several requests about one item.
 */
approvalId?: string | null,
/**
 * Why the command needs an approval.
 */
reason?: string | null, };
