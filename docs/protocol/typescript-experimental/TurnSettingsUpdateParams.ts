// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ApprovalsReviewer } from "./ApprovalsReviewer";
import type { ReasoningSummary } from "./ReasoningSummary";
import type { TurnEnvironmentParams } from "./TurnEnvironmentParams";

/**
 * Params of `turn/settings/update`.
 */
export type TurnSettingsUpdateParams = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * Id of the turn.
 */
turnId: string,
/**
 * Who answers approval requests.
 */
approvalsReviewer?: ApprovalsReviewer | null,
/**
 * Reasoning effort of the model.
 */
effort?: string | null,
/**
 * Environments in which commands run.
 */
environments?: Array<TurnEnvironmentParams> | null,
/**
 * Name of the model.
 */
model?: string | null,
/**
 * Service tier of the model provider.
 */
serviceTier?: string | null,
/**
 * How the model summarizes its reasoning.
 */
summary?: ReasoningSummary | null, };
