// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ApprovalsReviewer } from "./ApprovalsReviewer";
import type { ReasoningSummary } from "./ReasoningSummary";
import type { TurnEnvironmentParams } from "./TurnEnvironmentParams";

/**
 * Params of `turn/settings/update`.
 */
export type TurnSettingsUpdateParams = {
/**
 * The thread.
 */
threadId: string,
/**
 * The turn.
 */
turnId: string,
/**
 * Who answers approval requests.
 */
approvalsReviewer?: ApprovalsReviewer | null,
/**
 * How hard the model thinks.
 */
effort?: string | null,
/**
 * Where commands run.
 */
environments?: Array<TurnEnvironmentParams> | null,
/**
 * The model.
 */
model?: string | null,
/**
 * The level of service.
 */
serviceTier?: string | null,
/**
 * How the model sums up what it thought.
 */
summary?: ReasoningSummary | null, };
