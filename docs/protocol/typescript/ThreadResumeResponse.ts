// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";
import type { ApprovalsReviewer } from "./ApprovalsReviewer";
import type { AskForApproval } from "./AskForApproval";
import type { CollaborationMode } from "./CollaborationMode";
import type { SandboxPolicy } from "./SandboxPolicy";
import type { Thread } from "./Thread";

/**
 * Result of `thread/resume`.
 */
export type ThreadResumeResponse = {
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
 * The collaboration mode.
 */
collaborationMode?: CollaborationMode | null,
/**
 * Ids of the plugins that are disabled for the thread.
 */
disabledPluginIds?: Array<string> | null,
/**
 * Files from which instructions were read.
 */
instructionSources?: Array<string> | null,
/**
 * Cursor to list the items backwards from the newest.
 */
itemsBackwardsCursor?: string | null,
/**
 * Reasoning effort of the model.
 */
reasoningEffort?: string | null,
/**
 * Service tier of the model provider.
 */
serviceTier?: string | null,
/**
 * Cursor to list the turns backwards from the newest.
 */
turnsBackwardsCursor?: string | null, };
