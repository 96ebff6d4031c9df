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
 * The thread.
 */
threadId: string,
/**
 * When the user is asked.
 */
approvalPolicy?: AskForApproval | null,
/**
 * Who answers approval requests.
 */
approvalsReviewer?: ApprovalsReviewer | null,
/**
 * The mode of working together.
 */
collaborationMode?: CollaborationMode | null,
/**
 * The working directory.
 */
cwd?: string | null,
/**
 * The plugins that the thread does without.
 */
disabledPluginIds?: Array<string> | null,
/**
 * How hard the model thinks.
 */
effort?: string | null,
/**
 * Where commands run.
 */
environments?: Array<TurnEnvironmentParams> | null,
/**
 * The model.
 */
model?: string | null,
/**
 * When the model starts agents by itself.
 */
multiAgentMode?: MultiAgentMode | null,
/**
 * The permission profile; not together with a sandbox.
 */
permissions?: string | null,
/**
 * The tone of the model.
 */
personality?: Personality | null,
/**
 * What commands may touch.
 */
sandboxPolicy?: SandboxPolicy | null,
/**
 * The level of service.
 */
serviceTier?: string | null,
/**
 * How the model sums up what it thought.
 */
summary?: ReasoningSummary | null, };
