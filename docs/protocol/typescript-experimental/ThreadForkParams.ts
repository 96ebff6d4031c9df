// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";
import type { ApprovalsReviewer } from "./ApprovalsReviewer";
import type { AskForApproval } from "./AskForApproval";
import type { JsonValue } from "./JsonValue";
import type { SandboxMode } from "./SandboxMode";

/**
 * Params of `thread/fork`.
 */
export type ThreadForkParams = {
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
 * Whether the new thread is attached to the old one.
 */
attachToSource?: boolean | null,
/**
 * Base instructions for the model, which replace the default ones.
 */
baseInstructions?: string | null,
/**
 * Id of the first turn that is not copied.
 */
beforeTurnId?: string | null,
/**
 * Settings for this thread only, by dotted key.
 */
config?: { [key in string]: JsonValue } | null,
/**
 * The working directory.
 */
cwd?: string | null,
/**
 * Whether the goal of the copy waits until a turn is started.
 */
deferGoalContinuation?: boolean | null,
/**
 * Developer instructions for the model, in addition to the base instructions.
 */
developerInstructions?: string | null,
/**
 * Whether the thread is never stored in a file.
 */
ephemeral?: boolean | null,
/**
 * Whether the response leaves out the turns.
 */
excludeTurns?: boolean | null,
/**
 * Used by the peer's prompt prediction.
 */
experimentalDisablePredictionMcp?: boolean | null,
/**
 * Used by the peer's prompt prediction.
 */
experimentalPredictionMode?: boolean | null,
/**
 * Id of the last turn that is copied. All turns are copied if it is absent.
 */
lastTurnId?: string | null,
/**
 * Name of the model.
 */
model?: string | null,
/**
 * Id of the model provider.
 */
modelProvider?: string | null,
/**
 * Path of the thread's file, instead of its id.
 */
path?: string | null,
/**
 * Id of the permission profile. It cannot be combined with a sandbox.
 */
permissions?: string | null,
/**
 * Directories that form the workspace.
 */
runtimeWorkspaceRoots?: Array<AbsolutePath> | null,
/**
 * Sandbox mode for commands of the model.
 */
sandbox?: SandboxMode | null,
/**
 * Service tier of the model provider.
 */
serviceTier?: string | null,
/**
 * Purpose of the thread in the words of the client.
 */
threadSource?: string | null, };
