// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ApprovalsReviewer } from "./ApprovalsReviewer";
import type { AskForApproval } from "./AskForApproval";
import type { JsonValue } from "./JsonValue";
import type { Personality } from "./Personality";
import type { ReasoningSummary } from "./ReasoningSummary";
import type { SandboxPolicy } from "./SandboxPolicy";
import type { TurnToolOutput } from "./TurnToolOutput";
import type { UserInput } from "./UserInput";

/**
 * Params of `turn/start`.
 */
export type TurnStartParams = {
/**
 * The thread.
 */
threadId: string,
/**
 * What the user says.
 */
input: Array<UserInput>,
/**
 * When the user is asked.
 */
approvalPolicy?: AskForApproval | null,
/**
 * Who answers approval requests.
 */
approvalsReviewer?: ApprovalsReviewer | null,
/**
 * An id of the client's own for the message; it comes back in the item.
 */
clientUserMessageId?: string | null,
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
 * The model.
 */
model?: string | null,
/**
 * The schema that the answer has to follow.
 */
outputSchema?: JsonValue | null,
/**
 * The turn that made the client start this one.
 */
parentTurnId?: string | null,
/**
 * The tone of the model.
 */
personality?: Personality | null,
/**
 * The first turn of the chain that led to this one.
 */
rootTurnId?: string | null,
/**
 * What commands may touch.
 */
sandboxPolicy?: SandboxPolicy | null,
/**
 * The level of service.
 */
serviceTier?: string | null,
/**
 * The level of service of this turn alone.
 */
serviceTierForTurn?: string | null,
/**
 * How the model sums up what it thought.
 */
summary?: ReasoningSummary | null,
/**
 * The output of a tool, instead of a text.
 */
toolOutput?: TurnToolOutput | null,
/**
 * What made the client start the turn.
 */
turnTrigger?: string | null, };
