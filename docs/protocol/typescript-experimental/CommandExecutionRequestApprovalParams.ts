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
 * Id of the thread.
 */
threadId: string,
/**
 * Id of the turn.
 */
turnId: string,
/**
 * Id of the item.
 */
itemId: string,
/**
 * Start time in Unix milliseconds.
 */
startedAtMs: number,
/**
 * Permissions that the command requests beyond its sandbox.
 */
additionalPermissions?: AdditionalPermissionProfile | null,
/**
 * Distinguishes several requests about one item.
 */
approvalId?: string | null,
/**
 * Decisions that the server offers. It accepts others too.
 */
availableDecisions?: Array<CommandExecutionApprovalDecision> | null,
/**
 * The command as a shell command line.
 */
command?: string | null,
/**
 * What the parts of the command do, as far as the server can tell.
 */
commandActions?: Array<CommandAction> | null,
/**
 * The working directory.
 */
cwd?: string | null,
/**
 * Id of the environment. Without it, the server's machine.
 */
environmentId?: string | null,
/**
 * What the approval is about.
 */
kind?: CommandExecutionApprovalKind | null,
/**
 * The network connection that is to be approved, if there is one.
 */
networkApprovalContext?: NetworkApprovalContext | null,
/**
 * First words of the commands that a rule could allow from now on.
 */
proposedExecpolicyAmendment?: Array<string> | null,
/**
 * Rules about hosts that could be added.
 */
proposedNetworkPolicyAmendments?: Array<NetworkPolicyAmendment> | null,
/**
 * Why the command needs an approval.
 */
reason?: string | null,
/**
 * The effective permissions of the command if it is accepted, in words. An addition of this server.
 */
rights?: string | null, };
