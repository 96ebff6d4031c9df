// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AuthMode } from "./AuthMode";
import type { PlanType } from "./PlanType";

/**
 * Params of the notification `account/updated`.
 */
export type AccountUpdatedNotification = {
/**
 * How the client is known to its provider. `None` after a logout.
 */
authMode?: AuthMode | null,
/**
 * The subscription, if the client has named one.
 */
planType?: PlanType | null, };
