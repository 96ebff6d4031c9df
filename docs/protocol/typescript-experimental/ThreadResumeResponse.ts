// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";
import type { ActivePermissionProfile } from "./ActivePermissionProfile";
import type { ApprovalsReviewer } from "./ApprovalsReviewer";
import type { AskForApproval } from "./AskForApproval";
import type { CollaborationMode } from "./CollaborationMode";
import type { MultiAgentMode } from "./MultiAgentMode";
import type { SandboxPolicy } from "./SandboxPolicy";
import type { Thread } from "./Thread";
import type { TurnsPage } from "./TurnsPage";

/**
 * Result of `thread/resume`.
 */
export type ThreadResumeResponse = {
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
 * The mode of working together.
 */
collaborationMode?: CollaborationMode | null,
/**
 * The plugins that the thread does without.
 */
disabledPluginIds?: Array<string> | null,
/**
 * The page of turns that was asked for.
 */
initialTurnsPage?: TurnsPage | null,
/**
 * The files that instructions were read from.
 */
instructionSources?: Array<string> | null,
/**
 * Where paging through the items begins, from now backwards.
 */
itemsBackwardsCursor?: string | null,
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
serviceTier?: string | null,
/**
 * Where paging through the turns begins, from now backwards.
 */
turnsBackwardsCursor?: string | null, };
