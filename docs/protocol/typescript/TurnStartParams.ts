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
 * Id of the thread.
 */
threadId: string,
/**
 * Input of the user.
 */
input: Array<UserInput>,
/**
 * When the user is asked for approval.
 */
approvalPolicy?: AskForApproval | null,
/**
 * Who answers approval requests.
 */
approvalsReviewer?: ApprovalsReviewer | null,
/**
 * Id of the message, chosen by the client. The user message item contains it.
 */
clientUserMessageId?: string | null,
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
 * Name of the model.
 */
model?: string | null,
/**
 * JSON schema that the answer must follow.
 */
outputSchema?: JsonValue | null,
/**
 * Id of the turn because of which the client starts this one.
 */
parentTurnId?: string | null,
/**
 * Personality of the model.
 */
personality?: Personality | null,
/**
 * Id of the first turn in the chain that led to this one.
 */
rootTurnId?: string | null,
/**
 * Sandbox policy for commands.
 */
sandboxPolicy?: SandboxPolicy | null,
/**
 * Service tier of the model provider.
 */
serviceTier?: string | null,
/**
 * Service tier of this turn only.
 */
serviceTierForTurn?: string | null,
/**
 * How the model summarizes its reasoning.
 */
summary?: ReasoningSummary | null,
/**
 * Output of a tool, instead of a text.
 */
toolOutput?: TurnToolOutput | null,
/**
 * Why the client starts the turn.
 */
turnTrigger?: string | null, };
