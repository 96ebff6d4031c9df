// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";
import type { ApprovalsReviewer } from "./ApprovalsReviewer";
import type { AskForApproval } from "./AskForApproval";
import type { JsonValue } from "./JsonValue";
import type { Personality } from "./Personality";
import type { SandboxMode } from "./SandboxMode";
import type { ThreadResumeInitialTurnsPageParams } from "./ThreadResumeInitialTurnsPageParams";

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
 * A history to go on from instead of a stored one, as items of the model.
 */
history?: Array<JsonValue> | null,
/**
 * Asks for a page of turns with the answer.
 */
initialTurnsPage?: ThreadResumeInitialTurnsPageParams | null,
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
 * The tone of the model.
 */
personality?: Personality | null,
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
serviceTier?: string | null, };
