// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ModelRerouteReason } from "./ModelRerouteReason";

/**
 * Params of the notification `model/rerouted`.
 */
export type ModelReroutedNotification = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * Id of the turn.
 */
turnId: string,
/**
 * The requested model.
 */
fromModel: string,
/**
 * Why the other model answers.
 */
reason: ModelRerouteReason,
/**
 * The model that answers.
 */
toModel: string, };
