// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ApprovalsReviewer } from "./ApprovalsReviewer";
import type { AskForApproval } from "./AskForApproval";
import type { JsonValue } from "./JsonValue";
import type { Personality } from "./Personality";
import type { SandboxMode } from "./SandboxMode";
import type { ThreadStartSource } from "./ThreadStartSource";

/**
 * Params of `thread/start`.
 */
export type ThreadStartParams = {
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
 * Whether the thread is never stored in a file.
 */
ephemeral?: boolean | null,
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
 * Name of the service that the client belongs to.
 */
serviceName?: string | null,
/**
 * Service tier of the model provider.
 */
serviceTier?: string | null,
/**
 * Why the client starts the thread.
 */
sessionStartSource?: ThreadStartSource | null,
/**
 * Purpose of the thread in the words of the client.
 */
threadSource?: string | null, };
