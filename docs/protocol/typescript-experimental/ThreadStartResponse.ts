// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";
import type { ActivePermissionProfile } from "./ActivePermissionProfile";
import type { ApprovalsReviewer } from "./ApprovalsReviewer";
import type { AskForApproval } from "./AskForApproval";
import type { MultiAgentMode } from "./MultiAgentMode";
import type { SandboxPolicy } from "./SandboxPolicy";
import type { Thread } from "./Thread";

/**
 * Result of `thread/start`.
 */
export type ThreadStartResponse = {
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
 * The active permission profile. `null` if a sandbox policy was chosen instead.
 */
activePermissionProfile?: ActivePermissionProfile | null,
/**
 * Ids of the plugins that are disabled for the thread.
 */
disabledPluginIds?: Array<string> | null,
/**
 * Files from which instructions were read.
 */
instructionSources?: Array<string> | null,
/**
 * When the model may spawn agents.
 */
multiAgentMode?: MultiAgentMode | null,
/**
 * Reasoning effort of the model.
 */
reasoningEffort?: string | null,
/**
 * Directories that form the workspace.
 */
runtimeWorkspaceRoots?: Array<AbsolutePath> | null,
/**
 * Service tier of the model provider.
 */
serviceTier?: string | null, };
