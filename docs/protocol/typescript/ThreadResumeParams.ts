// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ApprovalsReviewer } from "./ApprovalsReviewer";
import type { AskForApproval } from "./AskForApproval";
import type { JsonValue } from "./JsonValue";
import type { Personality } from "./Personality";
import type { SandboxMode } from "./SandboxMode";

/**
 * Params of `thread/resume`.
 */
export type ThreadResumeParams = {
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
 * Base instructions for the model, which replace the default ones.
 */
baseInstructions?: string | null,
/**
 * Settings for this thread only, by dotted key.
 */
config?: { [key in string]: JsonValue } | null,
/**
 * The working directory.
 */
cwd?: string | null,
/**
 * Developer instructions for the model, in addition to the base instructions.
 */
developerInstructions?: string | null,
/**
 * Whether the response leaves out the turns.
 */
excludeTurns?: boolean | null,
/**
 * Name of the model.
 */
model?: string | null,
/**
 * Id of the model provider.
 */
modelProvider?: string | null,
/**
 * Personality of the model.
 */
personality?: Personality | null,
/**
 * Sandbox mode for commands of the model.
 */
sandbox?: SandboxMode | null,
/**
 * Service tier of the model provider.
 */
serviceTier?: string | null, };
