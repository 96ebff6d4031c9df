// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";
import type { ActivePermissionProfile } from "./ActivePermissionProfile";
import type { ApprovalsReviewer } from "./ApprovalsReviewer";
import type { AskForApproval } from "./AskForApproval";
import type { CollaborationMode } from "./CollaborationMode";
import type { MultiAgentMode } from "./MultiAgentMode";
import type { Personality } from "./Personality";
import type { ReasoningSummary } from "./ReasoningSummary";
import type { SandboxPolicy } from "./SandboxPolicy";
import type { ThreadEnvironment } from "./ThreadEnvironment";

/**
 * The settings with which the next turn of a thread starts.
 */
export type ThreadSettings = {
/**
 * When the user is asked for approval.
 */
approvalPolicy: AskForApproval,
/**
 * Who answers approval requests.
 */
approvalsReviewer: ApprovalsReviewer,
/**
 * The collaboration mode.
 */
collaborationMode: CollaborationMode,
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
 * Sandbox policy for commands.
 */
sandboxPolicy: SandboxPolicy,
/**
 * The active permission profile. `null` if a sandbox policy was chosen instead.
 */
activePermissionProfile?: ActivePermissionProfile | null,
/**
 * Ids of the plugins that are disabled for the thread.
 */
disabledPluginIds?: Array<string> | null,
/**
 * Reasoning effort of the model.
 */
effort?: string | null,
/**
 * Environments in which commands run.
 */
environments?: Array<ThreadEnvironment> | null,
/**
 * When the model may spawn agents.
 */
multiAgentMode?: MultiAgentMode | null,
/**
 * Personality of the model.
 */
personality?: Personality | null,
/**
 * Service tier of the model provider.
 */
serviceTier?: string | null,
/**
 * How the model summarizes its reasoning.
 */
summary?: ReasoningSummary | null, };
