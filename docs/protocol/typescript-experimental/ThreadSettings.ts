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
 * The settings that the next turn of a thread begins with.
 */
export type ThreadSettings = {
/**
 * When the user is asked.
 */
approvalPolicy: AskForApproval,
/**
 * Who answers approval requests.
 */
approvalsReviewer: ApprovalsReviewer,
/**
 * The mode of working together.
 */
collaborationMode: CollaborationMode,
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
 * What commands may touch.
 */
sandboxPolicy: SandboxPolicy,
/**
 * The permission profile in force; `null` where a sandbox policy was chosen instead.
 */
activePermissionProfile?: ActivePermissionProfile | null,
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
environments?: Array<ThreadEnvironment> | null,
/**
 * When the model starts agents by itself.
 */
multiAgentMode?: MultiAgentMode | null,
/**
 * The tone of the model.
 */
personality?: Personality | null,
/**
 * The level of service.
 */
serviceTier?: string | null,
/**
 * How the model sums up what it thought.
 */
summary?: ReasoningSummary | null, };
