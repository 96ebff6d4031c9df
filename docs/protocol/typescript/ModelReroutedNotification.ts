// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ModelRerouteReason } from "./ModelRerouteReason";

/**
 * Params of the notification `model/rerouted`.
 */
export type ModelReroutedNotification = {
/**
 * The thread.
 */
threadId: string,
/**
 * The turn.
 */
turnId: string,
/**
 * The model that was asked.
 */
fromModel: string,
/**
 * Why.
 */
reason: ModelRerouteReason,
/**
 * The model that answers.
 */
toModel: string, };
