// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";
import type { ActivePermissionProfile } from "./ActivePermissionProfile";
import type { ApprovalsReviewer } from "./ApprovalsReviewer";
import type { AskForApproval } from "./AskForApproval";
import type { MultiAgentMode } from "./MultiAgentMode";
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
 * The permission profile in force; `null` where a sandbox policy was chosen instead.
 */
activePermissionProfile?: ActivePermissionProfile | null,
/**
 * The plugins that the thread does without.
 */
disabledPluginIds?: Array<string> | null,
/**
 * The files that instructions were read from.
 */
instructionSources?: Array<string> | null,
/**
 * When the model starts agents by itself.
 */
multiAgentMode?: MultiAgentMode | null,
/**
 * How hard the model thinks.
 */
reasoningEffort?: string | null,
/**
 * The directories that count as the workspace.
 */
runtimeWorkspaceRoots?: Array<AbsolutePath> | null,
/**
 * The level of service.
 */
serviceTier?: string | null, };
