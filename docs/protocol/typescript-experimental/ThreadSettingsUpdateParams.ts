// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ApprovalsReviewer } from "./ApprovalsReviewer";
import type { AskForApproval } from "./AskForApproval";
import type { CollaborationMode } from "./CollaborationMode";
import type { MultiAgentMode } from "./MultiAgentMode";
import type { Personality } from "./Personality";
import type { ReasoningSummary } from "./ReasoningSummary";
import type { SandboxPolicy } from "./SandboxPolicy";
import type { TurnEnvironmentParams } from "./TurnEnvironmentParams";

/**
 * Params of `thread/settings/update`.
 */
export type ThreadSettingsUpdateParams = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * When the user is asked for approval.
 */
approvalPolicy?: AskForApproval | null,
/**
 * Who answers approval requests.
 */
approvalsReviewer?: ApprovalsReviewer | null,
/**
 * The collaboration mode.
 */
collaborationMode?: CollaborationMode | null,
/**
 * The working directory.
 */
cwd?: string | null,
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
environments?: Array<TurnEnvironmentParams> | null,
/**
 * Name of the model.
 */
model?: string | null,
/**
 * When the model may spawn agents.
 */
multiAgentMode?: MultiAgentMode | null,
/**
 * Id of the permission profile. It cannot be combined with a sandbox.
 */
permissions?: string | null,
/**
 * Personality of the model.
 */
personality?: Personality | null,
/**
 * Sandbox policy for commands.
 */
sandboxPolicy?: SandboxPolicy | null,
/**
 * Service tier of the model provider.
 */
serviceTier?: string | null,
/**
 * How the model summarizes its reasoning.
 */
summary?: ReasoningSummary | null, };
