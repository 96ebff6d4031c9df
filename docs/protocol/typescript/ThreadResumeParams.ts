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
 * What the model is told first, instead of the usual.
 */
baseInstructions?: string | null,
/**
 * Settings for this thread only, by their dotted keys.
 */
config?: { [key in string]: JsonValue } | null,
/**
 * The working directory.
 */
cwd?: string | null,
/**
 * What the model is told besides, from the developer.
 */
developerInstructions?: string | null,
/**
 * Whether the turns stay out of the answer.
 */
excludeTurns?: boolean | null,
/**
 * The model.
 */
model?: string | null,
/**
 * The model provider.
 */
modelProvider?: string | null,
/**
 * The tone of the model.
 */
personality?: Personality | null,
/**
 * What commands of the model may touch.
 */
sandbox?: SandboxMode | null,
/**
 * The level of service.
 */
serviceTier?: string | null, };
