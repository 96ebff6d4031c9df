// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AdditionalPermissionProfile } from "./AdditionalPermissionProfile";
import type { CommandAction } from "./CommandAction";
import type { CommandExecutionApprovalDecision } from "./CommandExecutionApprovalDecision";
import type { CommandExecutionApprovalKind } from "./CommandExecutionApprovalKind";
import type { NetworkApprovalContext } from "./NetworkApprovalContext";
import type { NetworkPolicyAmendment } from "./NetworkPolicyAmendment";

/**
 * Params of the request to the client `item/commandExecution/requestApproval`.
 */
export type CommandExecutionRequestApprovalParams = {
/**
 * The thread.
 */
threadId: string,
/**
 * The turn.
 */
turnId: string,
/**
 * The item.
 */
itemId: string,
/**
 * When it began, in Unix milliseconds.
 */
startedAtMs: number,
/**
 * What the command wants beyond its sandbox.
 */
additionalPermissions?: AdditionalPermissionProfile | null,
/**
 * Tells apart several requests about one item.
 */
approvalId?: string | null,
/**
 * The answers on offer; others are taken too.
 */
availableDecisions?: Array<CommandExecutionApprovalDecision> | null,
/**
 * The command, as a line for a shell.
 */
command?: string | null,
/**
 * What the parts of the command do, as far as it can be told.
 */
commandActions?: Array<CommandAction> | null,
/**
 * The working directory.
 */
cwd?: string | null,
/**
 * The environment; the server's machine if nothing is said.
 */
environmentId?: string | null,
/**
 * What kind it is.
 */
kind?: CommandExecutionApprovalKind | null,
/**
 * The connection that is to be approved, if it is about one.
 */
networkApprovalContext?: NetworkApprovalContext | null,
/**
 * The words that commands might begin with to be allowed from now on.
 */
proposedExecpolicyAmendment?: Array<string> | null,
/**
 * Rules that might be made from now on.
 */
proposedNetworkPolicyAmendments?: Array<NetworkPolicyAmendment> | null,
/**
 * Why.
 */
reason?: string | null,
/**
 * What the command may do if it is accepted, in words of the server. This server's own field.
 */
rights?: string | null, };
