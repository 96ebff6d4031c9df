// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";
import type { ApprovalsReviewer } from "./ApprovalsReviewer";
import type { AskForApproval } from "./AskForApproval";
import type { SandboxPolicy } from "./SandboxPolicy";
import type { Thread } from "./Thread";

/**
 * Result of `thread/fork`.
 */
export type ThreadForkResponse = {
/**
 * When the user is asked for approval.
 */
approvalPolicy: AskForApproval,
/**
 * Who answers approval requests.
 */
approvalsReviewer: ApprovalsReviewer,
/**
 * The working directory.
 */
cwd: AbsolutePath,
/**
 * Name of the model.
 */
model: string,
/**
 * Id of the model provider.
 */
modelProvider: string,
/**
 * Sandbox policy for commands of the model.
 */
sandbox: SandboxPolicy,
/**
 * The thread.
 */
thread: Thread,
/**
 * Ids of the plugins that are disabled for the thread.
 */
disabledPluginIds?: Array<string> | null,
/**
 * Files from which instructions were read.
 */
instructionSources?: Array<string> | null,
/**
 * Reasoning effort of the model.
 */
reasoningEffort?: string | null,
/**
 * Service tier of the model provider.
 */
serviceTier?: string | null, };
