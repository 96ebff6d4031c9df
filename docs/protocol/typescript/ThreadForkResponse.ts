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
 * When the user is asked.
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
 * The model.
 */
model: string,
/**
 * The model provider.
 */
modelProvider: string,
/**
 * What commands of the model may touch.
 */
sandbox: SandboxPolicy,
/**
 * The thread.
 */
thread: Thread,
/**
 * The plugins that the thread does without.
 */
disabledPluginIds?: Array<string> | null,
/**
 * The files that instructions were read from.
 */
instructionSources?: Array<string> | null,
/**
 * How hard the model thinks.
 */
reasoningEffort?: string | null,
/**
 * The level of service.
 */
serviceTier?: string | null, };
