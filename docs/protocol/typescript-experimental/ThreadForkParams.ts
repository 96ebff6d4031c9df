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
 * Whether the new thread belongs to the old one.
 */
attachToSource?: boolean | null,
/**
 * What the model is told first, instead of the usual.
 */
baseInstructions?: string | null,
/**
 * The first turn that is not copied.
 */
beforeTurnId?: string | null,
/**
 * Settings for this thread only, by their dotted keys.
 */
config?: { [key in string]: JsonValue } | null,
/**
 * The working directory.
 */
cwd?: string | null,
/**
 * Whether the goal of the copy waits until somebody starts a turn.
 */
deferGoalContinuation?: boolean | null,
/**
 * What the model is told besides, from the developer.
 */
developerInstructions?: string | null,
/**
 * Whether the thread is never stored.
 */
ephemeral?: boolean | null,
/**
 * Whether the turns stay out of the answer.
 */
excludeTurns?: boolean | null,
/**
 * For the peer's predictions of prompts.
 */
experimentalDisablePredictionMcp?: boolean | null,
/**
 * For the peer's predictions of prompts.
 */
experimentalPredictionMode?: boolean | null,
/**
 * The last turn that is copied; all of them if nothing is said.
 */
lastTurnId?: string | null,
/**
 * The model.
 */
model?: string | null,
/**
 * The model provider.
 */
modelProvider?: string | null,
/**
 * The file of the thread, instead of its id.
 */
path?: string | null,
/**
 * The permission profile; not together with a sandbox.
 */
permissions?: string | null,
/**
 * The directories that count as the workspace.
 */
runtimeWorkspaceRoots?: Array<AbsolutePath> | null,
/**
 * What commands of the model may touch.
 */
sandbox?: SandboxMode | null,
/**
 * The level of service.
 */
serviceTier?: string | null,
/**
 * What the client says the thread is for.
 */
threadSource?: string | null, };
